//! SCIP indexes, the exchange form of compilers' answers: bytes to an index and back (`index`,
//! over `wire`), the grammar of its symbols (`symbol`), and an index placed on the files of a
//! tree (`program`), which linking takes as its surest evidence. Knows no view and no graph.

pub mod index;
pub mod program;
pub mod symbol;
pub mod wire;
