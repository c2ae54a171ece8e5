//! Java overloads: which of several methods a call binds to (JLS 15.12.2), in three phases
//! (subtyping, boxing, variable arity), then by the most specific.
//!
//! What is not known of an argument's type decides nothing: candidates that differ there stay.

use crate::facts::model::{ExprId, ParamKind, SymbolFlags, SymbolKind, Visibility};
use crate::graph::few::Few;
use crate::graph::java_library::{field_of_outside, library_class};
use crate::graph::java_subtypes::Fit;
use crate::graph::members::signature_of;
use crate::graph::modules::Family;
use crate::graph::modules::java_package;
use crate::graph::queries::{Base, Query, Session};
use crate::graph::scope::Place;
use crate::graph::value::{Args, Set, Value};
use crate::view::SymbolRef;

/// A candidate with the types of its parameters.
#[derive(Clone, Debug)]
struct Candidate {
    at: SymbolRef,
    params: Args,
    variadic: bool,
}

impl Candidate {
    /// The type of an argument, the last parameter spread out or not.
    fn param(&self, at: usize, spread: bool) -> Set {
        if spread && at + 1 >= self.params.len() {
            return self.params.last().map_or_else(Set::unknown, element_of);
        }
        self.params.get(at).cloned().unwrap_or_default()
    }
}

/// The phases of applicability, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Strict,
    Loose,
    Variable,
}

impl Session<'_, '_> {
    /// Of overloads those that a call binds to; several when what is known does not decide.
    ///
    /// `candidates` are always those that the call itself names.
    pub fn pick_overload(&mut self, candidates: &[SymbolRef], expr: ExprId, place: Place) -> Few<SymbolRef> {
        self.remembered_overloads((place, expr), |session| session.pick(candidates, expr, place).into())
    }

    /// As `pick_overload`. Types are asked for only where the number of arguments leaves a choice.
    fn pick(&mut self, candidates: &[SymbolRef], expr: ExprId, place: Place) -> Vec<SymbolRef> {
        let n_args = self.n_java_args(expr, place);
        let may = candidates.iter().copied();
        let may: Vec<SymbolRef> = may.filter(|at| self.takes(*at, n_args) && self.is_accessible(*at, place)).collect();
        // An ancestor from outside may have the overload that fits.
        let outside = candidates.first().is_some_and(|at| self.may_be_outside(*at));
        if may.len() < 2 && !outside {
            return may;
        }
        let args: Vec<Set> = self.java_args(expr, place).iter().map(constant_types).collect();
        let args = args.as_slice();
        let may: Vec<Candidate> = may.into_iter().map(|at| self.candidate(at)).collect();
        for phase in [Phase::Strict, Phase::Loose, Phase::Variable] {
            let applicable: Vec<Candidate> =
                may.iter().filter(|c| self.is_applicable(c, args, phase, place)).cloned().collect();
            if !applicable.is_empty() {
                return self.most_specific(&applicable, args, phase == Phase::Variable, place);
            }
        }
        if outside {
            return Vec::new();
        }
        // Nothing fits: a type was misjudged, and only the number of arguments is sure.
        let exact: Vec<SymbolRef> = may.iter().filter(|c| c.params.len() == args.len()).map(|c| c.at).collect();
        if exact.is_empty() { may.into_iter().map(|c| c.at).collect() } else { exact }
    }

    /// Whether a method can be given so many arguments.
    fn takes(&self, at: SymbolRef, n_args: usize) -> bool {
        let n_params = self.n_params(at);
        let symbol = self.shared.names.view.symbol(at);
        n_params == n_args || (symbol.flags.has(SymbolFlags::VARIADIC) && n_args + 1 >= n_params)
    }

    /// The number of a method's parameters.
    fn n_params(&self, at: SymbolRef) -> usize {
        let counted = self.shared.names.n_params(at);
        counted.unwrap_or_else(|| parameter_names(self.shared.names.view.qualname(at)).count())
    }

    /// Whether code at a place may call a method (JLS 6.6); protected ones are taken to be.
    fn is_accessible(&self, at: SymbolRef, place: Place) -> bool {
        let view = self.shared.names.view;
        at.file == place.file
            || match view.symbol(at).visibility {
                Visibility::Public | Visibility::Protected => true,
                Visibility::Package => java_package(view, at.file) == java_package(view, place.file),
                Visibility::Private => false,
            }
    }

    /// Whether an outside ancestor of a method's class has, or may have, one of its name.
    fn may_be_outside(&mut self, at: SymbolRef) -> bool {
        let view = self.shared.names.view;
        let symbol = view.symbol(at);
        let Some(parent) = symbol.parent.filter(|_| symbol.kind != SymbolKind::Constructor) else { return false };
        let name = view.declared(at).name(symbol.name);
        let mro = self.bases(Query::Mro(SymbolRef { symbol: parent, ..at }));
        mro.iter().any(|base| match base {
            Base::External(class, _) => library_class(class).is_none() || self.library_has(class, name),
            Base::Unknown => true,
            Base::Class(..) => false,
        })
    }

    /// The types of a method's parameters.
    pub fn param_types(&mut self, at: SymbolRef) -> Args {
        self.types(Query::Types(at))
    }

    /// Solves `Types`.
    pub fn solve_types(&mut self, at: SymbolRef) -> Args {
        let facts = self.shared.names.view.facts(at.file);
        if Family::of(facts.dialect) == Family::Ecma {
            return self.default_types(at);
        }
        let Some(scope) = facts.symbol(at.symbol).scope else {
            return (0..self.n_params(at)).map(|_| Set::unknown()).collect();
        };
        let place = Place { file: at.file, scope, line: u32::MAX };
        let types = facts.params_of(scope).iter().filter(|p| p.kind != ParamKind::This).map(|p| p.ty);
        types.map(|ty| ty.map_or_else(Set::unknown, |ty| self.type_value(ty, place))).collect()
    }

    fn candidate(&mut self, at: SymbolRef) -> Candidate {
        let variadic = self.shared.names.view.symbol(at).flags.has(SymbolFlags::VARIADIC);
        Candidate { at, params: self.param_types(at), variadic }
    }

    fn is_applicable(&mut self, candidate: &Candidate, args: &[Set], phase: Phase, place: Place) -> bool {
        let spread = phase == Phase::Variable;
        if spread && !candidate.variadic || !spread && candidate.params.len() != args.len() {
            return false;
        }
        args.iter().enumerate().all(|(at, arg)| match self.fit(arg, &candidate.param(at, spread), place) {
            Fit::No => false,
            Fit::Boxing => phase != Phase::Strict,
            Fit::Maybe | Fit::Yes => true,
        })
    }

    /// The candidates that no other beats.
    fn most_specific(&mut self, all: &[Candidate], args: &[Set], spread: bool, place: Place) -> Vec<SymbolRef> {
        let mut kept = Vec::new();
        for one in all {
            let beaten = all.iter().any(|other| {
                other.at != one.at
                    && self.is_as_specific(other, one, args, spread, place)
                    && (!self.is_as_specific(one, other, args, spread, place) || self.is_overridden_by(one, other))
            });
            if !beaten {
                kept.push(one.at);
            }
        }
        if kept.is_empty() { all.iter().map(|c| c.at).collect() } else { kept }
    }

    /// Whether every parameter of `one` is as narrow as that of `other`, as far as arguments
    /// are known where they differ.
    fn is_as_specific(&mut self, one: &Candidate, other: &Candidate, args: &[Set], spread: bool, place: Place) -> bool {
        let n = if spread { args.len().max(one.params.len()).max(other.params.len()) } else { args.len() };
        (0..n).all(|at| {
            let (mine, theirs) = (self.erased(&one.param(at, spread)), self.erased(&other.param(at, spread)));
            if mine == theirs {
                return true;
            }
            let arg = args.get(at).cloned().unwrap_or_else(Set::never);
            if arg.is_unknown() {
                return false;
            }
            let surely = |fit: Fit| matches!(fit, Fit::Yes);
            // A lambda decides between interfaces only by what it gives.
            if arg.values().iter().any(|v| matches!(v, Value::Lambda(..) | Value::Bound(..) | Value::Function(_))) {
                return surely(self.fit(&mine, &theirs, place)) || self.gives_more(&arg, &mine, &theirs);
            }
            if surely(self.fit(&mine, &theirs, place)) || mine == arg {
                return true;
            }
            // What surely fits wins over what may fit, unless that is the narrower of the two.
            surely(self.fit(&arg, &mine, place))
                && self.fit(&arg, &theirs, place) == Fit::Maybe
                && !surely(self.fit(&theirs, &mine, place))
        })
    }

    /// A parameter's type with type parameters as their bounds.
    fn erased(&mut self, set: &Set) -> Set {
        set.flat_map(|value| match value {
            Value::TypeParam(owner, at) => {
                let bound = self.bound_of(*owner, *at);
                if bound.is_bare() { Set::external("Object", &[]) } else { bound }
            }
            Value::ExternalInstance(name, args) if &**name == "Array" => {
                let element = args.first().map_or_else(Set::unknown, |element| self.erased(element));
                Set::external("Array", &[element])
            }
            other => Set::one(other.clone()),
        })
    }

    /// Whether a function without parameters, or a method reference, is for the interface that
    /// takes its result rather than for one that drops it (JLS 15.12.2.5).
    fn gives_more(&mut self, arg: &Set, mine: &Set, theirs: &Set) -> bool {
        let explicit = arg.values().iter().all(|v| self.lambda_arity(v).is_none_or(|n| n == 0));
        if !explicit {
            return false;
        }
        let mut result = |set: &Set| match set.values() {
            [value] => self.functional(&value.clone()).map(|shape| shape.result),
            _ => None,
        };
        let void = |set: &Set| set.values() == [Value::Null];
        matches!((result(mine), result(theirs)), (Some(mine), Some(theirs)) if !void(&mine) && void(&theirs))
    }

    /// Whether `other` stands in a class below that of `one`, so that it is run in its place.
    fn is_overridden_by(&mut self, one: &Candidate, other: &Candidate) -> bool {
        let view = self.shared.names.view;
        let parent = |at: SymbolRef| view.symbol(at).parent.map(|symbol| SymbolRef { symbol, ..at });
        let (Some(upper), Some(lower)) = (parent(one.at), parent(other.at)) else { return false };
        let mro = self.bases(Query::Mro(lower));
        upper != lower && mro.iter().any(|base| matches!(base, Base::Class(at, _) if *at == upper))
    }
}

/// Constants from outside as instances of their types.
pub fn constant_types(arg: &Set) -> Set {
    arg.flat_map(|value| match value {
        Value::External(path) => field_of_outside(path).unwrap_or_else(|| Set::one(value.clone())),
        other => Set::one(other.clone()),
    })
}

/// The elements of an array type.
fn element_of(set: &Set) -> Set {
    set.flat_map(|value| match value {
        Value::ExternalInstance(name, args) if &**name == "Array" => args.first().cloned().unwrap_or_default(),
        _ => Set::unknown(),
    })
}

/// The erased parameter types in a method's qualname.
pub fn parameter_names(qualname: &str) -> impl Iterator<Item = &str> + Clone {
    let inside = signature_of(qualname).split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
    inside.split(',').filter(move |_| !inside.is_empty())
}
