//! The store: facts as shards, rows of Parquet files that are written once and named by content.
//!
//! `schema` says which columns a row has, `shard` turns facts into rows and back (`coding`,
//! `operands` and `names` say how numbers and names are written), `pack` finds rows in files of
//! many, `manifest` says which shards a tree is made of, `objects` puts and gets, `adopt` takes,
//! makes and sets aside whole packs. Whatever cannot be read back whole and right is a miss, never
//! an answer. `inventory` lists and checks a store's files, `sweep` takes away what nobody needs.
//! `compilers` keeps what compilers said beside them, `counters` what processes did. `table_file`
//! writes plain tables for exports. `flat` holds facts once more, quick to read, and `parts` is how
//! parts of such files are read.

pub mod adopt;
pub mod cells;
pub mod coding;
pub mod compilers;
pub mod counters;
pub mod flat;
pub mod inventory;
pub mod manifest;
pub mod names;
pub mod objects;
pub mod operands;
pub mod pack;
pub mod parts;
pub mod schema;
pub mod shard;
pub mod sweep;
pub mod table_file;
pub mod window;
