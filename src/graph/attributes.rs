//! The values of members: what a name on a receiver evaluates to, methods bound, type
//! parameters filled from the receiver.

use crate::facts::model::SymbolKind;
use crate::graph::generics::substitute;
use crate::graph::members::Outcome;
use crate::graph::modules::Family;
use crate::graph::names::Text;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::value::{Name, Set, Value};
use crate::view::{FileIdx, SymbolRef};
impl Session<'_, '_> {
    /// The value of a name on every value of a set.
    pub fn attribute(&mut self, receivers: &Set, text: Text, from: FileIdx) -> Set {
        receivers.non_null().flat_map(|value| {
            let member = self.member(value, text, from);
            if let Some(values) = member.values {
                return values;
            }
            match member.outcome {
                Outcome::Found => {
                    let sets: Vec<Set> = member.denoted.iter().map(|d| self.value_on(d, value)).collect();
                    Set::union(sets)
                }
                Outcome::External => {
                    let name = self.shared.names.str(text);
                    Set::one(Value::External(Name::from(format!("?.{name}"))))
                }
                Outcome::Missing | Outcome::Unknown => Set::unknown(),
            }
        })
    }

    /// The value of a member that was found on a receiver.
    pub fn value_on(&mut self, denoted: &Denoted, receiver: &Value) -> Set {
        let Denoted::Symbol(at) = denoted else { return self.denoted_value(denoted) };
        let symbol = self.shared.names.view.symbol(*at);
        let owner = symbol.parent.map(|parent| SymbolRef { file: at.file, symbol: parent });
        let receivers = match receiver {
            Value::Super(class) => Value::TypeParam(*class, crate::graph::generics::SELF),
            other => other.clone(),
        };
        match symbol.kind {
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor => self.method_on(*at, &receivers),
            SymbolKind::Property | SymbolKind::Field | SymbolKind::Variable | SymbolKind::EnumMember => {
                let values = self.values(Query::Symbol(*at));
                let Some(owner) = owner else { return values };
                let values = if values.mentions_param() {
                    let env = self.env_of_any(&receivers, owner);
                    substitute(&values, &env)
                } else {
                    values
                };
                let is_python = Family::of(self.shared.names.view.dialect(at.file)) == Family::Python;
                let on_instance = matches!(receivers, Value::Instance(..) | Value::TypeParam(..));
                if is_python && on_instance && !self.is_only_assigned(*at) {
                    return self.through_descriptor(values, &receivers);
                }
                values
            }
            _ => self.values(Query::Symbol(*at)),
        }
    }
}
