//! What the link of one file has found out outside of any query, where answers are final: names,
//! members and calls that the file mentions again and again. Emptied before the next file.

use std::sync::Arc;

use crate::facts::model::{ExprId, NameId};
use crate::graph::hashing::HashMap;
use crate::graph::members::Member;
use crate::graph::names::Text;
use crate::graph::queries::{Denoted, Session};
use crate::graph::scope::{Meaning, Place, Space};
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

/// Methods that a callee may mean, their receivers, and the value from outside where it is one.
pub type Callees = (Vec<SymbolRef>, Vec<Value>, Option<Set>);

/// The tables. A value depends on its key and the view only.
#[derive(Default)]
pub struct Memo {
    pub expressions: Expressions,
    meanings: HashMap<(Place, NameId, Space), Arc<Meaning>>,
    members: HashMap<(SymbolRef, Text, usize), Arc<Member>>,
    java_members: HashMap<(SymbolRef, Text, Space), Arc<[Denoted]>>,
    callees: HashMap<(Place, ExprId), Arc<Callees>>,
    overloads: HashMap<(Place, ExprId), Arc<[SymbolRef]>>,
}

impl Memo {
    /// Empties the tables, and keeps their room for the next file.
    pub fn clear(&mut self) {
        self.expressions.clear();
        self.meanings.clear();
        self.members.clear();
        self.java_members.clear();
        self.callees.clear();
        self.overloads.clear();
    }
}

/// What expressions are, by where they stand.
pub type Expressions = HashMap<(Place, ExprId), Set>;

/// Gives each table a lookup that computes and keeps what it does not hold, where keeping is sound.
macro_rules! remembered {
    ($($(#[$doc:meta])* $lookup:ident in $table:ident: $key:ty => $value:ty;)*) => {
        impl Session<'_, '_> {
            $($(#[$doc])*
            pub fn $lookup(&mut self, key: $key, compute: impl FnOnce(&mut Self) -> $value) -> $value {
                if let Some(known) = self.memo().and_then(|memo| memo.$table.get(&key)) {
                    return known.clone();
                }
                let value = compute(self);
                if let Some(memo) = self.memo() {
                    memo.$table.insert(key, value.clone());
                }
                value
            })*
        }
    };
}

remembered! {
    /// What a name means at a place, its line told only as far as it matters.
    remembered_meaning in meanings: (Place, NameId, Space) => Arc<Meaning>;
    /// What a class has under a name, from a position of its MRO on.
    remembered_member in members: (SymbolRef, Text, usize) => Arc<Member>;
    /// The fields or member types of a Java class and its ancestors.
    remembered_java_members in java_members: (SymbolRef, Text, Space) => Arc<[Denoted]>;
    /// The methods that a Java callee may mean.
    remembered_callees in callees: (Place, ExprId) => Arc<Callees>;
    /// The overloads that a Java call binds to.
    remembered_overloads in overloads: (Place, ExprId) => Arc<[SymbolRef]>;
}
