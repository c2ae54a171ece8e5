//! Hash tables for lookups only: nothing iterates over one where order is seen. Seeded anew in
//! each process, so that names chosen by a hostile repository cannot make them slow.

/// A map keyed by names, queries, ids.
pub type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// A set of the same.
pub type HashSet<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;
