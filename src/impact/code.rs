//! What a file's facts say of how its code comes to run: at import, with its class, by name only.

use crate::base::dialect::{Dialect, LanguageName};
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::builtins::is_common_member;
use crate::graph::edge::EdgeKind;
use crate::graph::modules::Family;
use crate::impact::handing::{is_decorator_line, is_given_to_keeper, stored_at};
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

/// How far code outside of the repository may call a member of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// A base outside may call it.
    pub by_base: bool,
    /// An instance of the class is given to code outside.
    pub by_argument: bool,
}

/// When a member of a class runs. Fields run nothing; whose initializers do is a question of their change.
pub fn member_use(facts: &FileFacts, member: SymbolId, outside: Outside) -> MemberUse {
    let symbol = facts.symbol(member);
    let name = facts.name(symbol.name);
    let language = facts.dialect.language();
    if symbol.kind == SymbolKind::Constructor {
        return MemberUse::WithClass;
    }
    if symbol.kind.is_class() {
        return MemberUse::Named;
    }
    if matches!(symbol.kind, SymbolKind::Field | SymbolKind::EnumMember) && !outside.by_base {
        return MemberUse::Named;
    }
    if language == LanguageName::Python && matches!(name, "__init_subclass__" | "__prepare__") {
        return MemberUse::WhenSubclassed;
    }
    let is_private = match language {
        // A double underscore is mangled, so that nothing outside can call it.
        LanguageName::Python => name.starts_with("__") && !name.ends_with("__"),
        _ => symbol.visibility == Visibility::Private,
    };
    // Code outside calls what it is given by the names that it knows.
    let family = match language {
        LanguageName::Python => Family::Python,
        LanguageName::TypeScript | LanguageName::JavaScript => Family::Ecma,
        LanguageName::Java => Family::Java,
    };
    let is_argument = outside.by_argument && is_common_member(family, name);
    if is_protocol(facts, member) || is_argument || (outside.by_base && !is_private) {
        MemberUse::WithClass
    } else {
        MemberUse::Named
    }
}

/// Whether a member is one that each object may have, and that runs without being named.
pub fn is_protocol(facts: &FileFacts, member: SymbolId) -> bool {
    is_protocol_name(facts.dialect.language(), facts.name(facts.symbol(member).name))
}

/// Whether a name is that of a member that runs without being named.
pub fn is_protocol_name(language: LanguageName, name: &str) -> bool {
    match language {
        LanguageName::Python => name.len() > 4 && name.starts_with("__") && name.ends_with("__"),
        LanguageName::TypeScript | LanguageName::JavaScript => {
            matches!(name, "constructor" | "toString" | "toJSON" | "valueOf" | "then") || name.starts_with('[')
        }
        LanguageName::Java => matches!(
            name,
            "toString"
                | "equals"
                | "hashCode"
                | "finalize"
                | "clone"
                | "readObject"
                | "writeObject"
                | "readResolve"
                | "writeReplace"
                | "close"
        ),
    }
}

/// Whether a member of that name runs only where code operates on an instance, or hands it on to
/// code that does: not by making it, nor by asking for other members.
pub fn is_operated(language: LanguageName, name: &str) -> bool {
    let is_of_life = matches!(
        name,
        "__init__"
            | "__new__"
            | "__del__"
            | "__post_init__"
            | "__init_subclass__"
            | "__class_getitem__"
            | "__prepare__"
            | "__instancecheck__"
            | "__subclasscheck__"
            | "__getattr__"
            | "__getattribute__"
            | "__setattr__"
            | "__delattr__"
            | "__get__"
            | "__set__"
            | "__delete__"
            | "__set_name__"
            | "constructor"
            | "finalize"
    );
    let is_mangled = language == LanguageName::Python && name.starts_with("__") && !name.ends_with("__");
    !is_of_life && !is_mangled
}

/// A function that Python's import system itself calls: a module's `__getattr__`, `__dir__`.
pub fn is_module_hook(facts: &FileFacts, symbol: SymbolId) -> bool {
    facts.dialect.language() == LanguageName::Python
        && facts.symbol(symbol).kind == SymbolKind::Function
        && matches!(facts.name(facts.symbol(symbol).name), "__getattr__" | "__dir__")
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
/// A decorator is called by the code around the definition; a function that is given to a
/// constructor is kept there. What an export statement names runs nothing.
pub fn users_at(facts: &FileFacts, owner: SymbolId, line: u32, kind: EdgeKind, name: &str) -> Vec<SymbolId> {
    let symbol = facts.symbol(owner);
    let is_module = owner.index() == 0;
    let runs_at_import = kind == EdgeKind::Calls && facts.dialect.language() != LanguageName::Java;
    if runs_at_import && is_decorator_line(facts, owner, line) {
        return vec![owner, runner_of(facts, owner)];
    }
    if !is_module && !symbol.kind.is_class() {
        return vec![owner];
    }
    if is_module && is_main_only(facts, line) {
        return Vec::new();
    }
    if kind == EdgeKind::References {
        if is_module && facts.exports.iter().any(|row| row.line == line && row.symbol.is_none()) {
            return Vec::new();
        }
        if let Some(holder) = stored_at(facts, line, name).filter(|_| is_module) {
            return holder.into_iter().collect();
        }
        let holder = facts.symbols.iter().enumerate().skip(1).find(|(_, s)| {
            s.parent == Some(owner)
                && matches!(s.kind, SymbolKind::Variable | SymbolKind::Field)
                && (s.start_line..=s.end_line).contains(&line)
        });
        if let Some((at, _)) = holder {
            let id = SymbolId::new(at);
            if !initializer_runs(facts, id) || is_given_to_keeper(facts, owner, line, name) {
                return vec![id];
            }
        }
    }
    if symbol.kind.is_class() && runs_at_import { vec![owner, runner_of(facts, owner)] } else { vec![owner] }
}

/// Base classes of each language's own library, with those of their methods that the library
/// calls beside protocol methods. A class below them alone is called by no other code outside.
const KNOWN_BASES: [(&str, &str); 56] = [
    ("object", ""),
    ("dict", ""),
    ("list", ""),
    ("set", ""),
    ("frozenset", ""),
    ("tuple", ""),
    ("str", ""),
    ("bytes", ""),
    ("int", ""),
    ("float", ""),
    ("property", ""),
    ("Generic", ""),
    ("Protocol", ""),
    ("ABC", ""),
    ("NamedTuple", ""),
    ("TypedDict", ""),
    ("Enum", "_generate_next_value_ _missing_"),
    ("IntEnum", "_generate_next_value_ _missing_"),
    ("StrEnum", "_generate_next_value_ _missing_"),
    ("Flag", "_generate_next_value_ _missing_"),
    ("IntFlag", "_generate_next_value_ _missing_"),
    ("Exception", ""),
    ("BaseException", ""),
    ("OrderedDict", ""),
    ("defaultdict", ""),
    ("UserDict", ""),
    ("deque", ""),
    ("Mapping", "get keys items values"),
    ("MutableMapping", "get keys items values pop popitem clear update setdefault"),
    ("Sequence", "index count"),
    ("MutableSequence", "insert append extend pop remove reverse clear"),
    ("Set", "isdisjoint"),
    ("MutableSet", "add discard remove pop clear"),
    ("Iterator", "next hasNext remove forEachRemaining"),
    ("Iterable", "iterator forEach spliterator"),
    ("Callable", "call"),
    ("Hashable", ""),
    ("Sized", ""),
    ("Container", ""),
    ("Collection", ""),
    ("Serializable", ""),
    ("Cloneable", ""),
    ("Comparable", "compareTo"),
    ("Comparator", "compare"),
    ("Runnable", "run"),
    ("AutoCloseable", "close"),
    ("Closeable", "close"),
    ("RuntimeException", "getMessage"),
    ("Error", ""),
    ("Array", ""),
    ("Map", ""),
    ("WeakMap", ""),
    ("RandomAccess", ""),
    ("CharSequence", "length charAt subSequence"),
    ("Supplier", "get"),
    ("Function", "apply"),
];

/// Whether code outside may call a member because of a base of that name: unless the base is
/// known, and does not call it.
pub fn base_may_call(base: &str, member: &str) -> bool {
    match KNOWN_BASES.iter().find(|(name, _)| *name == base) {
        Some((_, called)) => called.split(' ').any(|name| name == member),
        None => !(base.ends_with("Error") || base.ends_with("Warning") || base.ends_with("Exception")),
    }
}

/// Whose code runs a definition's decorators, bases and class body: the nearest function around
/// it, else the module.
pub fn runner_of(facts: &FileFacts, owner: SymbolId) -> SymbolId {
    let mut at = facts.symbol(owner).parent;
    while let Some(id) = at.filter(|id| *id < owner) {
        if id.index() == 0 || facts.symbol(id).kind.is_function() {
            return id;
        }
        at = facts.symbol(id).parent.filter(|parent| *parent < id);
    }
    SymbolId::new(0)
}

/// Whether everything that names `name` on a line of `owner`'s code is a type.
pub fn is_type_use(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    let mut on_line = refs_on(facts, line)
        .filter(|row| row.owner == owner && last_name(facts, row.expr) == name)
        .map(|row| row.kind == RefKind::Type)
        .peekable();
    on_line.peek().is_some() && on_line.all(|is_type| is_type)
}

/// Whether a line of a module's code stands below `if __name__ == "__main__":`, so that it does not
/// run at import. Such a block is the last of its file, or definitions follow it and it does not count.
pub fn is_main_only(facts: &FileFacts, line: u32) -> bool {
    if facts.dialect != Dialect::Py {
        return false;
    }
    let is_guard = |row: &&Reference| {
        row.owner.index() == 0
            && facts.text(facts.expr(row.expr).name) == "__name__"
            && facts.exprs.iter().enumerate().skip(row.expr.index() + 1).any(|(at, holder)| {
                holder.kind == ExprKind::Operator
                    && facts.operands_of(ExprId::new(at)).iter().any(|o| o.expr == row.expr)
            })
    };
    let Some(guard) = facts.refs.iter().filter(is_guard).map(|row| row.line).max() else { return false };
    let module = Some(SymbolId::new(0));
    line > guard && !facts.symbols.iter().any(|s| s.parent == module && s.start_line > line)
}

/// Whether every mention of the field `name` on a line of `owner`'s code writes it. Where it is
/// named behind a receiver, a bare name of the same text is another thing.
pub fn is_only_written(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    let on_line: Vec<&Reference> =
        refs_on(facts, line).filter(|row| row.owner == owner && last_name(facts, row.expr) == name).collect();
    let is_member = |row: &&Reference| facts.expr(row.expr).kind == ExprKind::Attr;
    let has_member = on_line.iter().any(is_member);
    !on_line.is_empty()
        && on_line.iter().filter(|row| !has_member || is_member(row)).all(|row| row.kind == RefKind::Write)
}

/// Whether the imports of a line load nothing at run time.
pub fn is_type_only_import(facts: &FileFacts, line: u32) -> bool {
    let mut rows = facts
        .imports
        .iter()
        .filter(|row| row.line == line)
        .map(|row| row.type_only || row.branch == Branch::TypeChecking || row.kind == ImportKind::TypeQuery)
        .chain(facts.exports.iter().filter(|row| row.line == line && row.module.is_some()).map(|row| row.type_only))
        .peekable();
    rows.peek().is_some() && rows.all(|is_type| is_type)
}

/// The references of a line, in order. O(log n + k).
pub fn refs_on(facts: &FileFacts, line: u32) -> impl Iterator<Item = &Reference> {
    let start = facts.refs.partition_point(|row| row.line < line);
    facts.refs[start..].iter().take_while(move |row| row.line == line)
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
