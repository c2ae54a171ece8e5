//! Values that are handed where a type is wanted that their own does not name: TypeScript's
//! structural types, Python's protocols and stand-ins. Calls through the type may run their methods.

use crate::facts::model::{
    ExprId, ExprKind, FileFacts, Role, ScopeKind, SymbolFlags, SymbolId, SymbolKind, Visibility,
};
use crate::graph::builtins;
use crate::graph::link::Linker;
use crate::graph::members::Outcome;
use crate::graph::modules::Family;
use crate::graph::names::Text;
use crate::graph::operands::Wanted;
use crate::graph::queries::{Base, Denoted, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::SymbolRef;

/// How deep literals are looked into.
const MAX_DEPTH: u32 = 8;

/// What is declared where a value goes.
#[derive(Clone, Copy)]
enum Goal<'a> {
    /// A type.
    Type(&'a Set),
    /// What functions declare for an operand of a call, their type parameters open.
    Operand(&'a [Wanted], ExprId),
}

impl Linker<'_, '_> {
    /// Notes which methods stand in for which members: by each argument, value of a binding,
    /// default and result that is no subtype of what is declared where it goes.
    pub fn flows(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        if Family::of(facts.dialect) == Family::Java {
            return;
        }
        for reference in &facts.refs {
            let row = facts.expr(reference.expr);
            if !matches!(row.kind, ExprKind::Call | ExprKind::New) {
                continue;
            }
            for (at, operand) in facts.operands_of(reference.expr).iter().enumerate().skip(1) {
                if !matches!(operand.role, Role::Value | Role::Keyword) || !may_hand(facts, operand.expr) {
                    continue;
                }
                self.session.refuel();
                let place = Place { file: self.file, scope: reference.scope, line: reference.line };
                let wanted = self.session.wanted_operand(reference.expr, at, place);
                let is_cast = facts.expr(operand.expr).kind == ExprKind::Cast;
                if (is_cast || wanted.iter().any(Wanted::is_told)) && self.hands(operand.expr, place, 0) {
                    self.flow(operand.expr, Goal::Operand(&wanted, reference.expr), place, 0);
                }
            }
        }
        for binding in &facts.bindings {
            if let Some(value) = binding.value.filter(|_| binding.n_steps == 0) {
                self.flow_where_expected(value, Place { file: self.file, scope: binding.scope, line: binding.line });
            }
        }
        for returned in &facts.returns {
            let place = Place { file: self.file, scope: returned.scope, line: returned.line };
            self.flow_where_expected(returned.expr, place);
        }
        for param in &facts.params {
            let (Some(ty), Some(default)) = (param.ty, param.default) else { continue };
            let place = self.session.header_place(self.file, param.scope, param.line);
            self.session.refuel();
            if may_hand(facts, default) && self.hands(default, place, 0) {
                let wanted = self.session.type_value(ty, place);
                self.flow(default, Goal::Type(&wanted), place, 0);
            }
        }
        self.link.stand_ins.sort_unstable();
        self.link.stand_ins.dedup();
    }

    fn flow_where_expected(&mut self, value: ExprId, place: Place) {
        self.session.refuel();
        // A cast says itself what its operand is handed as.
        let is_cast = self.facts().expr(value).kind == ExprKind::Cast;
        let may_flow = may_hand(self.facts(), value) && (is_cast || self.session.may_expect(self.file, value));
        if may_flow && self.hands(value, place, 0) {
            let wanted = self.session.expected(self.file, value, 0);
            self.flow(value, Goal::Type(&wanted), place, 0);
        }
    }

    /// Whether an expression is, or holds as a literal, something with methods.
    fn hands(&mut self, expr: ExprId, place: Place, depth: u32) -> bool {
        let facts = self.view.facts(self.file);
        let row = facts.expr(expr);
        if depth > MAX_DEPTH {
            return false;
        }
        match row.kind {
            ExprKind::Object if Family::of(facts.dialect) == Family::Ecma => {
                row.scope.is_some() || facts.operands_of(expr).iter().any(|o| self.hands(o.expr, place, depth + 1))
            }
            ExprKind::Seq | ExprKind::Choice | ExprKind::Value | ExprKind::Cast => {
                facts.operands_of(expr).iter().any(|o| self.hands(o.expr, place, depth + 1))
            }
            _ if may_hand(facts, expr) => self.session.eval(expr, place).values().iter().any(has_methods),
            _ => false,
        }
    }

    /// The types of a goal, of whose type parameters those are filled that are no arguments of
    /// another type: by them alone members are told.
    fn heads(&mut self, goal: Goal<'_>, place: Place) -> Set {
        match goal {
            Goal::Type(set) => set.clone(),
            Goal::Operand(wanted, call) => {
                Set::union(wanted.iter().map(|wanted| self.session.heads_wanted(wanted, call, place)))
            }
        }
    }

    /// The types of a goal, all their type parameters filled.
    fn filled(&mut self, goal: Goal<'_>, place: Place) -> Set {
        match goal {
            Goal::Type(set) => set.clone(),
            Goal::Operand(wanted, call) => {
                Set::union(wanted.iter().map(|wanted| self.session.filled_wanted(wanted, call, place)))
            }
        }
    }

    /// Follows what an expression hands to where a goal is declared.
    fn flow(&mut self, expr: ExprId, goal: Goal<'_>, place: Place, depth: u32) {
        let facts = self.view.facts(self.file);
        let family = Family::of(facts.dialect);
        let row = facts.expr(expr);
        let is_told = match goal {
            Goal::Type(set) => !set.is_bare(),
            Goal::Operand(wanted, _) => wanted.iter().any(Wanted::is_told),
        };
        if depth > MAX_DEPTH || (!is_told && row.kind != ExprKind::Cast) {
            return;
        }
        match row.kind {
            ExprKind::Seq => {
                let wanted = self.filled(goal, place);
                for (at, operand) in facts.operands_of(expr).iter().enumerate() {
                    if operand.role != Role::Spread && may_hand(facts, operand.expr) {
                        let part = wanted.flat_map(|value| builtins::part(family, value, at));
                        self.flow(operand.expr, Goal::Type(&part), place, depth + 1);
                    }
                }
            }
            ExprKind::Choice | ExprKind::Value => {
                for operand in facts.operands_of(expr) {
                    self.flow(operand.expr, goal, place, depth + 1);
                }
            }
            ExprKind::Cast => {
                let (Some(inner), Some(ty)) = (facts.operand(expr, 0), row.ty) else { return };
                let cast = self.session.type_value(ty, place);
                self.flow(inner, Goal::Type(&cast), place, depth + 1);
            }
            ExprKind::Object if family == Family::Ecma => {
                if row.scope.is_some() {
                    let wanted = self.heads(goal, place);
                    self.hand(&Value::Object(self.file, expr), &wanted);
                }
                let mut wanted = None;
                for operand in facts.operands_of(expr) {
                    let (Some(name), Role::Keyword) = (operand.name, operand.role) else { continue };
                    if may_hand(facts, operand.expr) && self.hands(operand.expr, place, depth) {
                        let wanted = wanted.get_or_insert_with(|| self.filled(goal, place));
                        let text = self.session.shared.names.text(self.file, name);
                        let part = self.session.attribute(wanted, text, self.file);
                        self.flow(operand.expr, Goal::Type(&part), place, depth + 1);
                    }
                }
            }
            _ if may_hand(facts, expr) => {
                let set = self.session.eval(expr, place);
                // What may be something else too was perhaps told apart by a test that is not seen.
                let values: Vec<&Value> = set.values().iter().filter(|value| **value != Value::Null).collect();
                if family == Family::Python && (set.open || values.len() > 1) {
                    return;
                }
                let values = values.into_iter().filter(|value| has_methods(value));
                let mut values = values.peekable();
                if values.peek().is_some() {
                    let wanted = self.heads(goal, place);
                    values.for_each(|value| self.hand(value, &wanted));
                }
            }
            _ => {}
        }
    }

    /// Notes the methods of a value that stand in for members of what is wanted.
    fn hand(&mut self, value: &Value, wanted: &Set) {
        let bounds = self.session.bounded(wanted);
        if bounds.values().iter().any(|want| self.session.is_kind_of(value, want)) {
            return;
        }
        for want in bounds.values() {
            match want {
                Value::Instance(..) | Value::Shape(..) => {
                    let pairs = self.session.stand_ins(value, want);
                    self.link.stand_ins.extend(pairs);
                }
                // A type that is imported from outside; builtin ones are told apart by their bare names.
                Value::ExternalInstance(name, _) if name.contains('.') && !name.contains('#') => {
                    if let Value::Instance(class, _) = value {
                        self.link.handed_out.push(*class);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether an expression's form allows that it is, or holds, something with methods.
fn may_hand(facts: &FileFacts, expr: ExprId) -> bool {
    matches!(
        facts.expr(expr).kind,
        ExprKind::New
            | ExprKind::Call
            | ExprKind::Name
            | ExprKind::This
            | ExprKind::Attr
            | ExprKind::Object
            | ExprKind::Seq
            | ExprKind::Choice
            | ExprKind::Value
            | ExprKind::Cast
            | ExprKind::Await
            | ExprKind::Index
    )
}

fn has_methods(value: &Value) -> bool {
    matches!(value, Value::Instance(..) | Value::Object(..) | Value::Shape(..) | Value::TypeParam(..))
}

impl Session<'_, '_> {
    /// The same with bounds in place of type parameters.
    fn bounded(&mut self, set: &Set) -> Set {
        if !set.values().iter().any(|value| matches!(value, Value::TypeParam(..))) {
            return set.clone();
        }
        set.flat_map(|value| match value {
            Value::TypeParam(owner, at) => self.bound_of(*owner, *at),
            other => Set::one(other.clone()),
        })
    }

    /// Whether a value is of a wanted type by name.
    fn is_kind_of(&mut self, value: &Value, want: &Value) -> bool {
        match (value, want) {
            (Value::TypeParam(owner, at), _) => {
                let bound = self.bound_of(*owner, *at);
                bound.values().is_empty() || bound.values().iter().any(|value| self.is_kind_of(value, want))
            }
            (Value::Instance(class, _), Value::Instance(wanted, _)) => {
                let mro = self.bases(Query::Mro(*class));
                class == wanted || mro.iter().any(|base| matches!(base, Base::Class(at, _) if at == wanted))
            }
            (Value::Instance(class, _), Value::ExternalInstance(wanted, _)) => {
                let mro = self.bases(Query::Mro(*class));
                mro.iter().any(|base| matches!(base, Base::External(name, _) if name == wanted))
            }
            (Value::Shape(file, ty, ..), Value::Shape(other, wanted, ..)) => (file, ty) == (other, wanted),
            _ => false,
        }
    }

    /// (method of a value, member of a type that it stands in for); none where the value lacks
    /// a member that the type must have.
    fn stand_ins(&mut self, value: &Value, want: &Value) -> Vec<(SymbolRef, SymbolRef)> {
        let view = self.shared.names.view;
        let mut pairs = Vec::new();
        let (members, is_checked) = self.members_wanted(want);
        for (text, member) in members {
            let is_optional = view.symbol(member).flags.has(SymbolFlags::OPTIONAL);
            let found = self.member(value, text, member.file);
            match found.outcome {
                Outcome::Found => {}
                Outcome::Missing if is_checked && !is_optional => return Vec::new(),
                Outcome::Missing | Outcome::External | Outcome::Unknown => continue,
            }
            for denoted in &found.denoted {
                let Denoted::Symbol(at) = denoted else { continue };
                let symbol = view.symbol(*at);
                let is_run = symbol.kind.is_function()
                    || symbol.kind == SymbolKind::Property && symbol.flags.has(SymbolFlags::GETTER);
                let is_member = matches!(self.declared_in_kind(*at), ScopeKind::Class | ScopeKind::Object);
                if is_run && is_member && *at != member {
                    pairs.push((*at, member));
                }
            }
        }
        pairs
    }

    /// The members that a type declares, by name, and whether a checker asks for all of them; none
    /// for a class whose private members nothing else can have.
    fn members_wanted(&mut self, want: &Value) -> (Vec<(Text, SymbolRef)>, bool) {
        let view = self.shared.names.view;
        let owners: Vec<SymbolRef> = match want {
            Value::Instance(class, _) => {
                let mro = self.bases(Query::Mro(*class));
                let classes = mro.iter().filter_map(|base| match base {
                    Base::Class(at, _) => Some(*at),
                    Base::External(..) | Base::Unknown => None,
                });
                classes.collect()
            }
            Value::Shape(file, _, owner, _) => vec![SymbolRef { file: *file, symbol: *owner }],
            _ => Vec::new(),
        };
        let mut is_checked = true;
        let mut members: Vec<(Text, SymbolRef)> = Vec::new();
        for owner in owners {
            let facts = view.facts(owner.file);
            let scope = match want {
                Value::Shape(_, ty, ..) => facts.type_row(*ty).scope,
                _ => facts.symbol(owner.symbol).scope,
            };
            let is_ecma = Family::of(facts.dialect) == Family::Ecma;
            let children: Vec<SymbolId> = self.shared.names.file(owner.file).children(owner.symbol).collect();
            for symbol in children.into_iter().filter(|row| Some(facts.symbol(*row).declared_in) == scope) {
                let row = facts.symbol(symbol);
                let is_named = !row.flags.has(SymbolFlags::ANONYMOUS_OWNER);
                if is_ecma && is_named && row.visibility != Visibility::Public {
                    return (Vec::new(), false);
                }
                let is_static = row.flags.has(SymbolFlags::STATIC);
                let is_member = row.kind.is_function() || matches!(row.kind, SymbolKind::Property | SymbolKind::Field);
                let text = self.shared.names.text(owner.file, row.name);
                let is_known = members.iter().any(|(known, _)| *known == text);
                if is_member && !is_static && row.kind != SymbolKind::Constructor && !is_known {
                    members.push((text, SymbolRef { symbol, ..owner }));
                }
            }
            // Python checks nothing as it runs: what stands in for a class need not be whole.
            is_checked &= is_ecma || facts.symbol(owner.symbol).kind == SymbolKind::Interface;
        }
        let is_python = matches!(want, Value::Instance(class, _)
            if Family::of(view.dialect(class.file)) == Family::Python);
        if is_python {
            is_checked = self.is_protocol_class(want);
            members.retain(|(text, _)| !matches!(self.shared.names.str(*text), "__init__" | "__new__"));
        }
        (members, is_checked)
    }

    /// Whether a Python class is a protocol.
    fn is_protocol_class(&mut self, value: &Value) -> bool {
        let Value::Instance(class, _) = value else { return false };
        let bases = self.bases(Query::Bases(*class));
        bases.iter().any(|base| matches!(base, Base::External(name, _) if name.rsplit('.').next() == Some("Protocol")))
    }
}
