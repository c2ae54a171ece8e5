//! What a file's facts say of how its code comes to run: at import, with its class, by name only.

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::edge::EdgeKind;
use crate::lang::testing::{decorators, last_name};

/// Expressions nested deeper are taken to run something.
const MAX_DEPTH: u32 = 64;

/// When a member of a class runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberUse {
    /// Only where code names it.
    Named,
    /// Also where only its class is named: constructors, protocol methods, what a base class
    /// outside of the repository calls.
    WithClass,
    /// When a class is made below its own: `__init_subclass__` and a metaclass's methods.
    WhenSubclassed,
}

/// When a member of a class runs. `is_open`: an ancestor of the class is outside of the repository.
pub fn member_use(facts: &FileFacts, member: SymbolId, is_open: bool) -> MemberUse {
    let symbol = facts.symbol(member);
    let name = facts.name(symbol.name);
    let language = facts.dialect.language();
    if symbol.kind == SymbolKind::Constructor {
        return MemberUse::WithClass;
    }
    if symbol.kind.is_class() {
        return MemberUse::Named;
    }
    let is_protocol = match language {
        LanguageName::Python => {
            if matches!(name, "__init_subclass__" | "__set_name__" | "__prepare__" | "__class_getitem__") {
                return MemberUse::WhenSubclassed;
            }
            name.len() > 4 && name.starts_with("__") && name.ends_with("__")
        }
        LanguageName::TypeScript | LanguageName::JavaScript => {
            matches!(name, "constructor" | "toString" | "toJSON" | "valueOf" | "then") || name.starts_with('[')
        }
        LanguageName::Java => {
            matches!(name, "toString" | "equals" | "hashCode" | "finalize" | "clone" | "readObject" | "writeObject")
                || matches!(name, "readResolve" | "writeReplace" | "close")
        }
    };
    let is_private = match language {
        // A double underscore is mangled, so that nothing outside can call it.
        LanguageName::Python => name.starts_with("__") && !name.ends_with("__"),
        _ => symbol.visibility == Visibility::Private,
    };
    let is_field = matches!(symbol.kind, SymbolKind::Field | SymbolKind::EnumMember);
    if is_protocol || (is_open && !is_private) || (is_field && initializer_runs(facts, member)) {
        MemberUse::WithClass
    } else {
        MemberUse::Named
    }
}

/// A function that Python's import system itself calls: a module's `__getattr__`, `__dir__`.
pub fn is_module_hook(facts: &FileFacts, symbol: SymbolId) -> bool {
    facts.dialect.language() == LanguageName::Python
        && facts.symbol(symbol).kind == SymbolKind::Function
        && matches!(facts.name(facts.symbol(symbol).name), "__getattr__" | "__dir__")
}

/// Decorators after which a function is still only run where it is named.
const PLAIN_DECORATORS: [&str; 44] = [
    "abstractmethod",
    "abstractproperty",
    "asynccontextmanager",
    "cache",
    "cached_property",
    "classmethod",
    "contextmanager",
    "dataclass",
    "deleter",
    "deprecated",
    "final",
    "fixture",
    "getter",
    "lru_cache",
    "no_type_check",
    "overload",
    "override",
    "parametrize",
    "patch",
    "property",
    "runtime_checkable",
    "setter",
    "singledispatch",
    "skip",
    "skipif",
    "staticmethod",
    "total_ordering",
    "usefixtures",
    "wraps",
    "xfail",
    // Java's own and the usual static analysis ones: no framework acts on them.
    "Override",
    "Deprecated",
    "SuppressWarnings",
    "FunctionalInterface",
    "SafeVarargs",
    "Nullable",
    "NonNull",
    "Nonnull",
    "NotNull",
    "VisibleForTesting",
    "CheckReturnValue",
    "CanIgnoreReturnValue",
    "Generated",
    "Test",
];

/// Whether a definition is given away where it is defined, so that it may run without ever being
/// named: a decorator that is not known to be plain. The code around it then stands for it.
pub fn is_handed_on(facts: &FileFacts, symbol: SymbolId) -> bool {
    decorators(facts, symbol).any(|row| !PLAIN_DECORATORS.contains(&last_name(facts, row.expr)))
}

/// Whether the initializer of a variable or field runs code that could behave otherwise: calls,
/// `new`, comprehensions, attribute chains of calls. Lambdas and functions do not run.
pub fn initializer_runs(facts: &FileFacts, symbol: SymbolId) -> bool {
    facts.bindings.iter().filter(|b| b.symbol == Some(symbol)).filter_map(|b| b.value).any(|e| runs(facts, e, 0))
}

fn runs(facts: &FileFacts, expr: ExprId, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    match facts.expr(expr).kind {
        ExprKind::Call
        | ExprKind::New
        | ExprKind::Await
        | ExprKind::Yield
        | ExprKind::YieldFrom
        | ExprKind::Comprehension
        | ExprKind::DynamicImport
        | ExprKind::Opaque
        | ExprKind::Jsx => true,
        ExprKind::Lambda | ExprKind::MethodRef | ExprKind::ClassValue => false,
        ExprKind::Name
        | ExprKind::Attr
        | ExprKind::Index
        | ExprKind::Choice
        | ExprKind::Cast
        | ExprKind::Object
        | ExprKind::Seq
        | ExprKind::Literal
        | ExprKind::Path
        | ExprKind::Param
        | ExprKind::Value
        | ExprKind::Operator
        | ExprKind::TypeValue
        | ExprKind::Template
        | ExprKind::Super
        | ExprKind::This => facts.operands_of(expr).iter().any(|o| o.expr < expr && runs(facts, o.expr, depth + 1)),
    }
}

/// Which symbols a reference at a line of `owner`'s code stands for.
///
/// Code of a module or class that only reads, inside the initializer of a variable or field that
/// runs nothing, is seen by the readers of that variable alone. Code that runs counts for the
/// module or class; class-level calls of Python and ECMAScript run at import, so for the module too.
/// What an export statement names runs nothing.
pub fn users_at(facts: &FileFacts, owner: SymbolId, line: u32, kind: EdgeKind) -> Vec<SymbolId> {
    let symbol = facts.symbol(owner);
    let is_module = owner.index() == 0;
    if !is_module && !symbol.kind.is_class() {
        return vec![owner];
    }
    if kind == EdgeKind::References {
        if is_module && facts.exports.iter().any(|row| row.line == line && row.symbol.is_none()) {
            return Vec::new();
        }
        let holder = facts.symbols.iter().enumerate().skip(1).find(|(_, s)| {
            s.parent == Some(owner)
                && matches!(s.kind, SymbolKind::Variable | SymbolKind::Field)
                && (s.start_line..=s.end_line).contains(&line)
        });
        if let Some((at, _)) = holder {
            let id = SymbolId::new(at);
            if !initializer_runs(facts, id) {
                return vec![id];
            }
        }
    }
    let runs_at_import = kind == EdgeKind::Calls && facts.dialect.language() != LanguageName::Java;
    if symbol.kind.is_class() && runs_at_import { vec![owner, SymbolId::new(0)] } else { vec![owner] }
}

/// Whether a call with so many arguments can mean a function. Only where languages check it:
/// Java, and Python functions without decorators.
pub fn takes(facts: &FileFacts, symbol: SymbolId, arity: Option<u32>) -> bool {
    let Some(arity) = arity else { return true };
    let row = facts.symbol(symbol);
    let (Some(scope), true) = (row.scope, row.kind.is_function()) else { return true };
    let language = facts.dialect.language();
    let is_checked = match language {
        LanguageName::Java => true,
        LanguageName::Python => decorators(facts, symbol).next().is_none(),
        LanguageName::TypeScript | LanguageName::JavaScript => false,
    };
    if !is_checked {
        return true;
    }
    let params = facts.params_of(scope);
    let has_rest = params.iter().any(|p| matches!(p.kind, ParamKind::Rest | ParamKind::KeywordRest));
    if has_rest {
        return true;
    }
    let n_own =
        u32::from(language == LanguageName::Python && row.parent.is_some_and(|p| facts.symbol(p).kind.is_class()));
    let most = params.len() as u32;
    let least = params.iter().filter(|p| !p.optional && p.default.is_none()).count() as u32;
    // A method may be called on its class, with the receiver given.
    arity >= least.saturating_sub(n_own) && arity <= most
}
