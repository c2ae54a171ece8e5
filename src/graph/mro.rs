//! Bases of classes and the order in which members are looked up in them.

use crate::facts::model::HeritageKind;
use crate::graph::generics::{Env, substitute_all};
use crate::graph::modules::Family;
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Args, Set, Value, no_args};
use crate::view::SymbolRef;
use std::sync::Arc;

impl Session<'_, '_> {
    /// Solves `Bases`.
    pub fn solve_bases(&mut self, class: SymbolRef) -> Arc<[Base]> {
        let facts = self.shared.names.view.facts(class.file);
        // Bases are read outside of the class, its type parameters inside.
        let place = Place { line: crate::graph::java::HEADER, ..self.place_of(class) };
        let start = facts.heritage.partition_point(|h| h.owner < class.symbol);
        let mut bases = Vec::new();
        for heritage in facts.heritage[start..].iter().take_while(|h| h.owner == class.symbol) {
            if !matches!(heritage.kind, HeritageKind::Extends | HeritageKind::Implements) {
                continue;
            }
            let set = self.type_value(heritage.ty, place);
            let mut any = false;
            for value in set.values() {
                match value {
                    Value::Instance(base, args) if *base != class => {
                        bases.push(Base::Class(*base, args.clone()));
                        any = true;
                    }
                    Value::ExternalInstance(name, args) => {
                        bases.push(Base::External(name.clone(), args.clone()));
                        any = true;
                    }
                    _ => {}
                }
            }
            if !any {
                let expr = facts.type_row(heritage.ty).expr;
                let values = expr.map_or_else(Set::unknown, |expr| self.eval(expr, place));
                for value in values.values() {
                    let classes = match value {
                        Value::ExternalInstance(name, args) if &**name == "type" && args.len() == 1 => {
                            self.bounding_classes(&args[0])
                        }
                        other => Set::one(other.clone()),
                    };
                    let [value] = classes.values() else {
                        bases.push(Base::Unknown);
                        continue;
                    };
                    match value {
                        Value::Class(base) if *base != class => bases.push(Base::Class(*base, no_args())),
                        Value::External(name) | Value::ExternalInstance(name, _) => {
                            bases.push(Base::External(name.clone(), no_args()));
                        }
                        _ => bases.push(Base::Unknown),
                    }
                }
                if values.values().is_empty() {
                    bases.push(Base::Unknown);
                }
            }
        }
        bases.into()
    }

    /// Solves `Mro`: the class, then its ancestors; Python by C3, others depth first.
    pub fn solve_mro(&mut self, class: SymbolRef) -> Arc<[Base]> {
        let params = self.class_params(class);
        let own: Vec<Set> = params.iter().map(|(owner, at)| Set::one(Value::TypeParam(*owner, *at))).collect();
        let head = Base::Class(class, Args::from(own));
        let bases = self.bases(Query::Bases(class));
        let mut lines: Vec<Vec<Base>> = Vec::new();
        for base in bases.iter() {
            lines.push(match base {
                Base::Class(at, args) => {
                    let mut env = Env::default();
                    for (position, key) in self.class_params(*at).into_iter().enumerate() {
                        env.add(key, args.get(position).cloned().unwrap_or_default());
                    }
                    let mro = self.bases(Query::Mro(*at));
                    mro.iter().map(|b| in_terms_of(b, &env)).collect()
                }
                Base::External(..) | Base::Unknown => vec![base.clone()],
            });
        }
        let is_python = Family::of(self.shared.names.view.dialect(class.file)) == Family::Python;
        let merged = if is_python { c3(&lines, &bases) } else { None };
        let rest = merged.unwrap_or_else(|| lines.into_iter().flatten().collect());
        let mut mro = vec![head];
        for base in rest {
            if !mro.iter().any(|known| key_of(known) == key_of(&base)) {
                mro.push(base);
            }
        }
        mro.into()
    }
}

fn in_terms_of(base: &Base, env: &Env) -> Base {
    match base {
        Base::Class(at, args) => Base::Class(*at, substitute_all(args, env)),
        Base::External(name, args) => Base::External(name.clone(), substitute_all(args, env)),
        Base::Unknown => Base::Unknown,
    }
}

/// What tells bases apart: the class, whatever its arguments.
fn key_of(base: &Base) -> (Option<SymbolRef>, Option<&str>) {
    match base {
        Base::Class(at, _) => (Some(*at), None),
        Base::External(name, _) => (None, Some(name)),
        Base::Unknown => (None, None),
    }
}

/// C3 linearization of the bases' lines; `None` when there is none.
fn c3(lines: &[Vec<Base>], bases: &[Base]) -> Option<Vec<Base>> {
    let mut queues: Vec<std::collections::VecDeque<Base>> = lines.iter().map(|l| l.iter().cloned().collect()).collect();
    queues.push(bases.iter().cloned().collect());
    let mut merged = Vec::new();
    loop {
        queues.retain(|q| !q.is_empty());
        if queues.is_empty() {
            return Some(merged);
        }
        let candidate = queues.iter().find_map(|queue| {
            let head = queue.front()?;
            let key = key_of(head);
            let in_tail = queues.iter().any(|q| q.iter().skip(1).any(|b| key_of(b) == key));
            (!in_tail).then(|| head.clone())
        })?;
        for queue in &mut queues {
            if queue.front().is_some_and(|b| key_of(b) == key_of(&candidate)) {
                queue.pop_front();
            }
        }
        merged.push(candidate);
    }
}
