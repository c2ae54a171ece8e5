//! What the link of one file has found out outside of any query, where answers are final: names,
//! members and calls that the file mentions again and again. Emptied before the next file.

use std::sync::Arc;

use crate::facts::model::{ExprId, NameId};
use crate::graph::few::Few;
use crate::graph::hashing::HashMap;
use crate::graph::members::Member;
use crate::graph::names::Text;
use crate::graph::queries::{Denoted, Session};
use crate::graph::scope::{Meaning, Place, Space};
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

/// Methods that a callee may mean, their receivers, and the value from outside where it is one.
pub type Callees = (Few<SymbolRef>, Few<Value>, Option<Set>);

/// The tables. A value depends on its key and the view only.
#[derive(Default)]
pub struct Memo {
    pub expressions: Expressions,
    meanings: HashMap<(Place, NameId, Space), Meaning>,
    values: HashMap<(Place, NameId), Set>,
    members: HashMap<(SymbolRef, Text, usize), Member>,
    java_members: HashMap<(SymbolRef, Text, Space), Few<Denoted>>,
    callees: HashMap<(Place, ExprId), Arc<Callees>>,
    named_callees: HashMap<(Place, NameId), Arc<Callees>>,
    overloads: HashMap<(Place, ExprId), Few<SymbolRef>>,
}

impl Memo {
    /// Empties the tables, and keeps their room for the next file.
    pub fn clear(&mut self) {
        emptied(&mut self.expressions);
        emptied(&mut self.meanings);
        emptied(&mut self.values);
        emptied(&mut self.members);
        emptied(&mut self.java_members);
        emptied(&mut self.callees);
        emptied(&mut self.named_callees);
        emptied(&mut self.overloads);
    }
}

/// The most room that a table keeps for the next file: beyond it the entries of a small file lie
/// scattered over more memory than is near.
const MAX_ROOM: usize = 2_048;

fn emptied<K: Eq + std::hash::Hash, V>(table: &mut HashMap<K, V>) {
    table.clear();
    table.shrink_to(MAX_ROOM);
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
    remembered_meaning in meanings: (Place, NameId, Space) => Meaning;
    /// What a name may be at a place, told alike.
    remembered_value in values: (Place, NameId) => Set;
    /// What a class has under a name, from a position of its MRO on.
    remembered_member in members: (SymbolRef, Text, usize) => Member;
    /// The fields or member types of a Java class and its ancestors.
    remembered_java_members in java_members: (SymbolRef, Text, Space) => Few<Denoted>;
    /// The methods that a Java callee may mean.
    remembered_callees in callees: (Place, ExprId) => Arc<Callees>;
    /// The methods that a Java callee's name without a receiver may mean.
    remembered_named_callees in named_callees: (Place, NameId) => Arc<Callees>;
    /// The overloads that a Java call binds to.
    remembered_overloads in overloads: (Place, ExprId) => Few<SymbolRef>;
}
