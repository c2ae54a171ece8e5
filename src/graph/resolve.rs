//! What one reference refers to, by which rule, and what is known when it refers to nothing.

use crate::facts::model::{ExprId, ExprKind, Reference, SymbolKind};
use crate::graph::edge::{Receiver, Strategy};
use crate::graph::generics::SELF;
use crate::graph::members::Outcome;
use crate::graph::modules::{Family, Target};
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::{Place, Space};
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

/// The targets of a reference.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Sorted, unique.
    pub symbols: Vec<SymbolRef>,
    pub strategy: Strategy,
    /// Of several targets exactly one is meant, and which is not known.
    pub ambiguous: bool,
    /// They are not what the callee names, but what a local name in its place holds.
    pub held: bool,
    /// Why there may be more, or none.
    pub missing: Option<Receiver>,
}

impl Targets {
    fn none(missing: Option<Receiver>) -> Self {
        Targets { symbols: Vec::new(), strategy: Strategy::Scope, ambiguous: false, held: false, missing }
    }
}

impl Session<'_, '_> {
    /// Resolves a chain in value or type space.
    pub fn resolve(&mut self, expr: ExprId, place: Place, space: Space) -> Targets {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(expr);
        match (row.kind, row.name, facts.operand(expr, 0)) {
            (ExprKind::Name, Some(_), _) => self.resolve_name(expr, place, space),
            (ExprKind::Attr, Some(_), Some(base)) => self.resolve_member(expr, base, place, space),
            (ExprKind::MethodRef, Some(name), _) => {
                let receivers = self.method_ref_receivers(expr, place);
                if facts.name(name) == "new" {
                    let classes = receivers.flat_map(|value| match value {
                        Value::Instance(class, _) => Set::one(Value::Class(*class)),
                        other => Set::one(other.clone()),
                    });
                    return self.of_values(&classes, Strategy::StaticMember);
                }
                let text = self.shared.names.text(place.file, name);
                self.members_of(&receivers, text, None, place, space)
            }
            (ExprKind::Call | ExprKind::New | ExprKind::Value | ExprKind::Cast | ExprKind::Index, _, Some(_)) => {
                let set = self.eval(expr, place);
                let mut targets = self.of_values(&set, Strategy::InferredType);
                targets.missing = None;
                targets
            }
            (ExprKind::TypeValue, ..) => match row.ty {
                Some(ty) => {
                    let denoted = self.type_denoted(ty, place);
                    symbols_of(&denoted, Strategy::Scope)
                }
                None => Targets::none(None),
            },
            _ => Targets::none(None),
        }
    }

    fn resolve_name(&mut self, expr: ExprId, place: Place, space: Space) -> Targets {
        let facts = self.shared.names.view.facts(place.file);
        let Some(name) = facts.expr(expr).name else { return Targets::none(None) };
        let text = facts.name(name);
        let family = Family::of(facts.dialect);
        let meaning = self.name_meaning(place, name, space);
        if meaning.denoted.is_empty() {
            let builtin = crate::graph::builtins::global(family, text).is_some()
                || crate::graph::builtins::named_type(family, text, &[]).is_some();
            return Targets::none(match (meaning.declared, builtin) {
                (true, _) if meaning.imported => Some(Receiver::Unknown),
                (true, _) => None,
                (false, true) => Some(Receiver::External),
                (false, false) => Some(Receiver::None),
            });
        }
        let strategy = if meaning.imported {
            Strategy::Import
        } else {
            let elsewhere = |d: &Denoted| matches!(d, Denoted::Symbol(at) if at.file != place.file);
            match meaning.denoted.iter().any(elsewhere) {
                true if family == Family::Java => Strategy::SamePackage,
                _ => Strategy::Scope,
            }
        };
        let mut targets = symbols_of(&meaning.denoted, strategy);
        if targets.symbols.is_empty() && meaning.denoted.iter().any(|d| matches!(d, Denoted::External(_))) {
            targets.missing = Some(Receiver::External);
        }
        targets
    }

    fn resolve_member(&mut self, expr: ExprId, base: ExprId, place: Place, space: Space) -> Targets {
        let facts = self.shared.names.view.facts(place.file);
        let Some(name) = facts.expr(expr).name else { return Targets::none(None) };
        let text = self.shared.names.text(place.file, name);
        if space == Space::Type {
            let denoted = self.denoted_type(expr, place);
            if !denoted.is_empty() {
                let mut targets = symbols_of(&denoted, Strategy::Import);
                if targets.symbols.is_empty() {
                    targets.missing = Some(Receiver::External);
                }
                return targets;
            }
        }
        let receivers = self.eval(base, place);
        self.members_of(&receivers, text, Some(base), place, space)
    }

    /// The member `text` of every value of a set.
    fn members_of(
        &mut self,
        receivers: &Set,
        text: crate::graph::names::Text,
        base: Option<ExprId>,
        place: Place,
        space: Space,
    ) -> Targets {
        let mut denoted: Vec<Denoted> = Vec::new();
        let mut strategy = Strategy::InferredType;
        let mut worst = None;
        for value in receivers.values() {
            if *value == Value::Null {
                continue;
            }
            let member = self.member(value, text, place.file);
            match member.outcome {
                Outcome::Found => {
                    strategy = self.strategy_of(value, base, place);
                    denoted.extend(member.denoted);
                }
                Outcome::External => {
                    let of_project =
                        matches!(value, Value::Instance(..) | Value::Class(_) | Value::TypeParam(..) | Value::Super(_));
                    worst = worst.max(Some(if of_project && member.values.is_none() {
                        Receiver::PartlyExternal
                    } else {
                        Receiver::External
                    }));
                }
                Outcome::Missing => {
                    // A class that is known whole and has no such member contradicts a guess.
                    let is_python = Family::of(self.shared.names.view.dialect(place.file)) == Family::Python;
                    let is_known = matches!(value, Value::Instance(..) | Value::Class(_) | Value::TypeParam(..));
                    let receiver = if is_python && is_known { Receiver::PartlyExternal } else { Receiver::Unknown };
                    worst = worst.max(Some(receiver));
                }
                Outcome::Unknown => worst = Some(Receiver::Unknown),
            }
        }
        let denoted = self.in_space(denoted.into(), space);
        let mut targets = symbols_of(&denoted, strategy);
        targets.missing = match (targets.symbols.is_empty(), receivers.open) {
            (false, false) => None,
            // What came out of code outside is what went into it, if it is anything of the repository:
            // no name is evidence of that.
            (true, true) if worst == Some(Receiver::External) => Some(Receiver::PartlyExternal),
            (_, true) => Some(Receiver::Unknown),
            (true, false) if !denoted.is_empty() => None,
            (true, false) => worst.or(Some(Receiver::Unknown)),
        };
        targets
    }

    /// By which rule a member was found on a value.
    fn strategy_of(&mut self, value: &Value, base: Option<ExprId>, place: Place) -> Strategy {
        match value {
            Value::Module(_) | Value::Namespace(_) => Strategy::Import,
            Value::Class(_) | Value::Symbol(_) | Value::Object(..) => Strategy::StaticMember,
            Value::ExternalInstance(name, _) if &**name == "type" => Strategy::StaticMember,
            Value::Super(_) => Strategy::SelfMember,
            Value::TypeParam(_, SELF) => Strategy::SelfMember,
            _ => match base {
                Some(base) if self.is_declared(base, place) => Strategy::DeclaredType,
                _ => Strategy::InferredType,
            },
        }
    }

    /// Whether the type of a receiver is written down where its name is declared.
    fn is_declared(&mut self, base: ExprId, place: Place) -> bool {
        let view = self.shared.names.view;
        let denoted = self.denoted_by(base, place);
        denoted.iter().any(|d| match d {
            Denoted::Symbol(at) => view.symbol(*at).ty.is_some(),
            Denoted::Param(file, row) => view.facts(*file).params[*row as usize].ty.is_some(),
            Denoted::Binding(file, row) => view.facts(*file).bindings[*row as usize].ty.is_some(),
            _ => false,
        })
    }

    /// The symbols that values are.
    fn of_values(&mut self, set: &Set, strategy: Strategy) -> Targets {
        let denoted = self.callable_symbols(set);
        let mut targets = symbols_of(&denoted, strategy);
        if targets.symbols.is_empty() {
            let external = set.values().iter().any(Value::is_external);
            targets.missing = Some(if external { Receiver::External } else { Receiver::Unknown });
        }
        targets
    }

    /// Resolves the callee of a call: functions as such, classes by their constructors, local
    /// names by what they hold.
    pub fn resolve_call(&mut self, reference: &Reference, place: Place) -> Targets {
        let facts = self.shared.names.view.facts(place.file);
        let family = Family::of(facts.dialect);
        let row = facts.expr(reference.expr);
        let callee = match row.kind {
            ExprKind::Call | ExprKind::New => facts.operand(reference.expr, 0),
            _ => Some(reference.expr),
        };
        let Some(callee) = callee else { return Targets::none(None) };
        if family == Family::Java && matches!(row.kind, ExprKind::Call | ExprKind::New) {
            return self.resolve_java_call(reference.expr, callee, place);
        }
        let callee_row = facts.expr(callee);
        let text = facts.text(callee_row.name);
        if callee_row.kind == ExprKind::Super
            || (family == Family::Ecma && callee_row.kind == ExprKind::Name && text == "super")
        {
            return self.super_constructor(place);
        }
        let mut targets = self.resolve(callee, place, Space::Value);
        if targets.symbols.is_empty() && callee_row.kind == ExprKind::Name && targets.missing.is_none() {
            // A local name: what it holds is called.
            let set = self.eval(callee, place);
            targets = self.of_values(&set, Strategy::InferredType);
            targets.missing = None;
            targets.held = family != Family::Java;
        }
        // What a call or a subscript gave has no name either.
        targets.held |= family == Family::Python && !matches!(callee_row.kind, ExprKind::Name | ExprKind::Attr);
        targets
    }

    fn super_constructor(&mut self, place: Place) -> Targets {
        let Some(class) = self.class_around(place.file, place.scope) else { return Targets::none(None) };
        let bases = self.bases(Query::Bases(class));
        let mut symbols = Vec::new();
        let mut external = false;
        for base in bases.iter() {
            match base {
                Base::Class(at, _)
                    if self.shared.names.view.symbol(*at).kind == crate::facts::model::SymbolKind::Class =>
                {
                    // The base is what is named, even where it inherits its constructor.
                    symbols.push(*at);
                }
                Base::Class(..) => {}
                Base::External(..) | Base::Unknown => external = true,
            }
        }
        symbols.sort_unstable();
        let missing = (symbols.is_empty() && external).then_some(Receiver::External);
        Targets { symbols, strategy: Strategy::SelfMember, ambiguous: false, held: false, missing }
    }

    fn resolve_java_call(&mut self, call: ExprId, callee: ExprId, place: Place) -> Targets {
        let facts = self.shared.names.view.facts(place.file);
        if facts.expr(call).kind == ExprKind::New {
            let made = self.java_made(call, place);
            let mut symbols = Vec::new();
            let mut implicit = false;
            for value in made.values() {
                if let Value::Instance(class, _) = value {
                    let constructors = self.constructors(*class);
                    // An enum constant of an enum without constructors names nothing.
                    let of_enum = self.shared.names.view.symbol(*class).kind == SymbolKind::Enum;
                    implicit |= constructors.is_empty() && of_enum;
                    if constructors.is_empty() && !of_enum {
                        symbols.push(*class);
                    }
                    symbols.extend(constructors);
                }
            }
            if symbols.is_empty() && implicit {
                return Targets::none(None);
            }
            if symbols.is_empty() {
                let external = made.values().iter().any(Value::is_external);
                return Targets::none(Some(if external { Receiver::External } else { Receiver::Unknown }));
            }
            let targets = self.overloads(&symbols, call, place, Strategy::Import, made.values().len());
            // A record's canonical constructor need not be written.
            let view = self.shared.names.view;
            let records: Vec<SymbolRef> = made
                .values()
                .iter()
                .filter_map(|value| if let Value::Instance(class, _) = value { Some(*class) } else { None })
                .filter(|class| view.symbol(*class).kind == SymbolKind::Record)
                .collect();
            if targets.symbols.is_empty() && !records.is_empty() {
                return Targets {
                    symbols: records,
                    strategy: Strategy::Import,
                    ambiguous: false,
                    held: false,
                    missing: None,
                };
            }
            return targets;
        }
        let callees = self.java_callees(callee, place);
        let (methods, receivers, outside) = &*callees;
        if methods.is_empty() {
            if facts.expr(callee).kind == ExprKind::Super {
                return self.super_constructor(place);
            }
            if let Some(outside) = outside {
                let receiver = if outside.open { Receiver::PartlyExternal } else { Receiver::External };
                return Targets::none(Some(receiver));
            }
            let receiver = match (facts.expr(callee).kind, facts.operand(callee, 0)) {
                (ExprKind::Attr, Some(base)) => {
                    let name = facts.expr(callee).name;
                    let receivers = self.eval(base, place);
                    match name.map(|name| self.shared.names.text(place.file, name)) {
                        Some(text) => self.members_of(&receivers, text, Some(base), place, Space::Value).missing,
                        None => None,
                    }
                }
                (ExprKind::Name, _) => Some(Receiver::None),
                _ => None,
            };
            return Targets::none(receiver);
        }
        let strategy = match (facts.expr(callee).kind, facts.operand(callee, 0), receivers.first()) {
            (ExprKind::Attr, Some(base), Some(value)) => self.strategy_of(value, Some(base), place),
            (_, _, Some(_)) => Strategy::SelfMember,
            (ExprKind::Name, ..) => Strategy::Import,
            _ => Strategy::SelfMember,
        };
        self.overloads(methods, call, place, strategy, receivers.len())
    }

    fn overloads(
        &mut self,
        candidates: &[SymbolRef],
        call: ExprId,
        place: Place,
        strategy: Strategy,
        n_receivers: usize,
    ) -> Targets {
        let mut symbols = self.pick_overload(candidates, call, place).to_vec();
        if symbols.len() > 1 {
            symbols.sort_unstable();
            symbols.dedup();
        }
        if symbols.is_empty() {
            return Targets::none(Some(Receiver::Unknown));
        }
        // Each receiver may have a method of its own; one receiver means one of them.
        let ambiguous = symbols.len() > n_receivers.max(1);
        Targets {
            symbols,
            strategy: if ambiguous { Strategy::Overload } else { strategy },
            ambiguous,
            held: false,
            missing: None,
        }
    }

    /// Resolves a string shaped like a module path (`mock.patch("a.b.c")`, `jest.mock("./x")`).
    pub fn resolve_string(&mut self, expr: ExprId, place: Place) -> Vec<Denoted> {
        let view = self.shared.names.view;
        let at = view.file(place.file);
        let text = at.facts.text(at.facts.expr(expr).name).to_string();
        match Family::of(at.dialect) {
            Family::Ecma => match self.shared.modules.specifier(view, &at.path, at.dialect, 0, &text) {
                Target::File(file) => vec![Denoted::Module(file)],
                Target::Namespace(_) | Target::External(_) | Target::Missing => Vec::new(),
            },
            Family::Java => self.java_path(place.file, &text).into_iter().collect(),
            Family::Python => {
                let parts: Vec<&str> = text.split(['.', ':']).collect();
                for cut in (1..=parts.len()).rev() {
                    let module = parts[..cut].join(".");
                    let Target::File(file) = self.shared.modules.specifier(view, &at.path, at.dialect, 0, &module)
                    else {
                        continue;
                    };
                    let mut found = vec![Denoted::Module(file)];
                    for part in &parts[cut..] {
                        let Some(text) = self.shared.names.find(part) else { return Vec::new() };
                        let mut next = Vec::new();
                        for denoted in &found {
                            next.extend(self.member_of_denoted(denoted, text, place));
                        }
                        found = next;
                    }
                    return found;
                }
                Vec::new()
            }
        }
    }
}

/// The symbols of what is denoted, sorted and unique.
pub fn symbols_of(denoted: &[Denoted], strategy: Strategy) -> Targets {
    let mut symbols: Vec<SymbolRef> =
        denoted.iter().filter_map(|d| if let Denoted::Symbol(at) = d { Some(*at) } else { None }).collect();
    if symbols.len() > 1 {
        symbols.sort_unstable();
        symbols.dedup();
    }
    Targets { symbols, strategy, ambiguous: false, held: false, missing: None }
}
