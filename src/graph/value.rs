//! The values of the interpreter: what an expression may be, in small sorted sets.
//!
//! Most sets hold one value or none, and most names are those of rules: neither takes an allocation
//! or a counter that threads share.

use std::sync::Arc;

use crate::facts::model::{ExprId, ScopeId, SymbolId, TypeId};
pub use crate::graph::args::{Args, no_args};
use crate::graph::few::Few;
pub use crate::graph::name::Name;
use crate::view::{FileIdx, SymbolRef};

/// How many values a set holds at most; a larger one is unknown.
pub const MAX_VALUES: usize = 64;
/// How many values a pruned type argument holds at most.
const MAX_ARGUMENT: usize = 48;
/// How many of them keep type arguments of their own.
const MAX_NESTED: usize = 8;
/// How deep type arguments nest; deeper ones are left out. Keeps growing types finite.
pub const MAX_DEPTH: u32 = 3;

/// One thing that an expression may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// `None`, `null`, `undefined`.
    Null,
    /// A file as a module.
    Module(FileIdx),
    /// A folder as a Python namespace, or a Java package prefix.
    Namespace(Name),
    /// A class (interface, enum, …) itself.
    Class(SymbolRef),
    /// An instance of a class, with its type arguments.
    Instance(SymbolRef, Args),
    /// An instance of a class without a symbol (Java's anonymous classes), by its scope.
    Anonymous(FileIdx, ScopeId),
    /// A function, or a method taken from its class.
    Function(SymbolRef),
    /// A method taken from a receiver, for `self` types and type arguments.
    Bound(SymbolRef, Arc<Value>),
    /// A function expression without a symbol.
    Lambda(FileIdx, ExprId),
    /// An object literal, or a Python dict display.
    Object(FileIdx, ExprId),
    /// A structural type: object or function type, with the arguments of the type parameters of
    /// the symbol that it is read in (a generic alias), where they are known.
    Shape(FileIdx, TypeId, Scoped, Args),
    /// A type parameter: its owner and position among the owner's.
    TypeParam(SymbolRef, u32),
    /// What `super` is in a class: members start after it in the MRO of the receiver.
    Super(SymbolRef),
    /// A symbol with members assigned to it (`app.m = …`), a namespace, an enum-like constant.
    Symbol(SymbolRef),
    /// Something from outside: a module, function or class, by its dotted path.
    External(Name),
    /// An instance of an outside or builtin class, with its type arguments.
    ExternalInstance(Name, Args),
}

/// The symbol in whose scope a structural type is to be read.
pub type Scoped = SymbolId;

/// What an expression may be. The default knows nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set {
    values: Few<Value>,
    /// Whether it may be something that is not listed.
    pub open: bool,
}

impl Default for Set {
    fn default() -> Self {
        Set::unknown()
    }
}

impl Set {
    /// Anything.
    pub fn unknown() -> Self {
        Set { values: Few::None, open: true }
    }

    /// Nothing at all: no value ever comes here.
    pub fn never() -> Self {
        Set { values: Few::None, open: false }
    }

    /// Exactly one value.
    pub fn one(value: Value) -> Self {
        let value = if value.depth() > MAX_DEPTH { value.pruned(MAX_DEPTH) } else { value };
        Set { values: Few::One(value), open: false }
    }

    /// An instance of an outside class.
    pub fn external(name: impl Into<Name>, args: &[Set]) -> Self {
        Set::one(Value::ExternalInstance(name.into(), Args::from(args)))
    }

    /// The union of several sets; unknown when it grows beyond [`MAX_VALUES`].
    pub fn union(sets: impl IntoIterator<Item = Set>) -> Self {
        let mut sets = sets.into_iter();
        let Some(mut one) = sets.next() else { return Set::never() };
        let mut all: Vec<Value> = Vec::new();
        for set in sets {
            let open = one.open | set.open;
            if all.is_empty() && (set.values.is_empty() || *set.values == *one.values) {
                one.open = open;
            } else if all.is_empty() && one.values.is_empty() {
                one = Set { values: set.values, open };
            } else {
                if all.is_empty() {
                    all.extend(one.values.iter().cloned());
                }
                all.extend(set.values.iter().cloned());
                one.open = open;
            }
        }
        let open = one.open;
        if all.is_empty() {
            return one;
        }
        all.sort_unstable();
        all.dedup();
        if all.len() > MAX_VALUES {
            return Set::unknown();
        }
        Set { values: all.into(), open }
    }

    /// The listed values, sorted.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.values.is_empty() && self.open
    }

    /// Whether nothing is listed (`Null` aside).
    pub fn is_bare(&self) -> bool {
        self.values.iter().all(|v| *v == Value::Null)
    }

    /// The same without `Null`.
    pub fn non_null(&self) -> Set {
        self.filter(|value| *value != Value::Null)
    }

    /// The values that pass.
    pub fn filter(&self, keep: impl Fn(&Value) -> bool) -> Set {
        if self.values.iter().all(&keep) {
            return self.clone();
        }
        Set { values: self.values.iter().filter(|v| keep(v)).cloned().collect(), open: self.open }
    }

    /// The union of what `f` gives for each value; an open set stays open.
    pub fn flat_map(&self, mut f: impl FnMut(&Value) -> Set) -> Set {
        let open = self.open.then(Set::unknown);
        Set::union(self.values.iter().map(&mut f).chain(open))
    }

    /// The same values, and perhaps others.
    pub fn or_unknown(mut self) -> Set {
        self.open = true;
        self
    }

    /// How deep type arguments nest in it.
    pub fn depth(&self) -> u32 {
        self.values.iter().map(Value::depth).max().unwrap_or(0)
    }

    /// The same as a type argument, with arguments of its own at most `left` deep.
    pub fn pruned(&self, left: u32) -> Set {
        if self.values.len() > MAX_ARGUMENT {
            return Set::unknown();
        }
        // Of many the classes alone: arguments in each would multiply.
        let left = if self.values.len() > MAX_NESTED { 0 } else { left };
        let mut values: Vec<Value> = self.values.iter().map(|value| value.clone().pruned(left)).collect();
        values.sort_unstable();
        values.dedup();
        Set { values: values.into(), open: self.open }
    }

    /// Whether pruning it as a type argument takes no value and no argument from it.
    pub fn is_neat(&self) -> bool {
        let is_short = self.values.len() <= MAX_NESTED || self.depth() == 0;
        self.values.len() <= MAX_ARGUMENT && is_short && self.values.iter().all(Value::is_neat)
    }

    /// Whether type parameters, or shapes that may hold some, are anywhere in it.
    pub fn mentions_param(&self) -> bool {
        self.values.iter().any(Value::mentions_param)
    }
}

impl Value {
    fn depth(&self) -> u32 {
        match self {
            Value::Instance(_, args) | Value::ExternalInstance(_, args) | Value::Shape(.., args) => args.depth(),
            Value::Bound(_, receiver) => receiver.depth() + 1,
            Value::Null
            | Value::Module(_)
            | Value::Namespace(_)
            | Value::Class(_)
            | Value::Anonymous(..)
            | Value::Function(_)
            | Value::Lambda(..)
            | Value::Object(..)
            | Value::TypeParam(..)
            | Value::Super(_)
            | Value::Symbol(_)
            | Value::External(_) => 0,
        }
    }

    fn is_neat(&self) -> bool {
        match self {
            Value::Instance(_, args) | Value::ExternalInstance(_, args) | Value::Shape(.., args) => args.is_neat(),
            Value::Bound(_, receiver) => receiver.is_neat(),
            _ => true,
        }
    }

    /// Whether type parameters, or shapes that may hold some, are anywhere in it.
    pub fn mentions_param(&self) -> bool {
        match self {
            Value::TypeParam(..) | Value::Shape(..) => true,
            Value::Instance(_, args) | Value::ExternalInstance(_, args) => args.mention_params(),
            Value::Bound(_, receiver) => receiver.mentions_param(),
            _ => false,
        }
    }

    /// The same with type arguments at most `left` deep.
    pub fn pruned(self, left: u32) -> Value {
        if self.depth() <= left && self.is_neat() {
            return self;
        }
        let cut = |args: Args| -> Args {
            if left == 0 {
                return no_args();
            }
            args.iter().map(|arg| arg.pruned(left - 1)).collect()
        };
        match self {
            Value::Instance(class, args) => Value::Instance(class, cut(args)),
            Value::ExternalInstance(name, args) => Value::ExternalInstance(name, cut(args)),
            Value::Shape(file, ty, owner, args) => Value::Shape(file, ty, owner, cut(args)),
            Value::Bound(at, receiver) => {
                Value::Bound(at, Arc::new((*receiver).clone().pruned(left.saturating_sub(1))))
            }
            other => other,
        }
    }

    /// Whether it is known to come from outside of the repository.
    pub fn is_external(&self) -> bool {
        matches!(self, Value::External(_) | Value::ExternalInstance(..))
    }
}
