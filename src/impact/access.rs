//! How a line of code touches a name: reads it, writes it, writes through it, asks for its class.

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::impact::code::refs_on;
use crate::lang::testing::{decorator_names, last_name};

/// Whether a symbol runs only where its name is written: a property's setter.
pub fn is_setter(facts: &FileFacts, symbol: SymbolId) -> bool {
    let is_derived = facts.dialect.language() == LanguageName::Python
        && facts.symbol(symbol).kind.is_function()
        && decorator_names(facts, symbol).any(|name| name == "setter");
    is_derived || facts.symbol(symbol).flags.has(SymbolFlags::SETTER)
}

/// Whether a symbol is one of the functions behind an attribute.
pub fn is_accessor(facts: &FileFacts, symbol: SymbolId) -> bool {
    let row = facts.symbol(symbol);
    let is_derived = facts.dialect.language() == LanguageName::Python
        && row.kind.is_function()
        && decorator_names(facts, symbol).any(|name| matches!(name, "property" | "setter" | "getter" | "deleter"));
    is_derived || row.flags.has(SymbolFlags::GETTER) || row.flags.has(SymbolFlags::SETTER)
}

/// Members of a class that run where an attribute that holds its instance is written.
pub fn runs_on_write(member: &str) -> bool {
    matches!(member, "__set__" | "__delete__")
}

/// Whether a line of `owner`'s code writes `name`.
pub fn writes(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    mentions(facts, owner, line, name).any(|row| row.kind == RefKind::Write)
}

/// Whether every mention of `name` on a line of `owner`'s code is the receiver of an attribute
/// that is written (`x.name.other = value`): nothing of what it holds is called.
pub fn only_writes_through(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    let mut found = mentions(facts, owner, line, name).peekable();
    found.peek().is_some()
        && found.all(|row| {
            refs_on(facts, line).any(|other| {
                other.owner == owner
                    && other.kind == RefKind::Write
                    && facts.expr(other.expr).kind == ExprKind::Attr
                    && facts.operand(other.expr, 0) == Some(row.expr)
            })
        })
}

/// Whether every mention of a class on a line of `owner`'s code asks whether something is its
/// instance: none is made there.
pub fn only_asks_for_class(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    let mut found = mentions(facts, owner, line, name).peekable();
    found.peek().is_some()
        && found.all(|row| {
            let asking = |expr: ExprId| {
                holders(facts, expr).any(|holder| {
                    facts.expr(holder).kind == ExprKind::Call
                        && matches!(last_name(facts, holder), "isinstance" | "issubclass")
                })
            };
            matches!(row.kind, RefKind::Read | RefKind::Callback)
                && (asking(row.expr)
                    || holders(facts, row.expr).any(|seq| facts.expr(seq).kind == ExprKind::Seq && asking(seq)))
        })
}

/// Whether a mention of a class on a line of `owner`'s code is an argument of a call.
pub fn is_argument(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    refs_on(facts, line).filter(|row| row.owner == owner).any(|row| {
        let is_it = |expr: ExprId| match facts.expr(expr).kind {
            ExprKind::TypeValue => row.kind == RefKind::Type && last_name(facts, row.expr) == name,
            ExprKind::Name | ExprKind::Attr => expr == row.expr && last_name(facts, expr) == name,
            _ => false,
        };
        refs_on(facts, line)
            .filter(|call| call.owner == owner && matches!(call.kind, RefKind::Call | RefKind::New))
            .any(|call| facts.operands_of(call.expr).iter().skip(1).any(|o| is_it(o.expr)))
    })
}

/// Whether a line of `owner`'s code calls a subscript of what is named: `Kind[int]("x")` makes an
/// instance, though what is called has no name of its own.
pub fn calls_subscript(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    mentions(facts, owner, line, name).any(|row| {
        let callee = facts.operand(row.expr, 0).filter(|_| facts.expr(row.expr).kind == ExprKind::Call);
        callee.is_some_and(|callee| facts.expr(callee).kind == ExprKind::Index)
    })
}

/// The last names in an owner's code.
pub fn names(facts: &FileFacts, owner: SymbolId) -> impl Iterator<Item = &str> {
    facts.refs.iter().filter(move |row| row.owner == owner).map(|row| last_name(facts, row.expr))
}

/// What members an access by a computed name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    Any,
    /// Fields alone (`getDeclaredFields`).
    Fields,
    /// Those that are run by writing (`setattr`).
    Writes,
}

/// What members the accesses by computed names on a line of `owner`'s code may mean.
pub fn asks(facts: &FileFacts, owner: SymbolId, line: u32) -> Asks {
    let names = || refs_on(facts, line).filter(|row| row.owner == owner).map(|row| last_name(facts, row.expr));
    let all_of = |one: &[&str], others: &[&str]| {
        names().any(|name| one.contains(&name)) && !names().any(|name| others.contains(&name))
    };
    match facts.dialect.language() {
        LanguageName::Java
            if all_of(
                &["getField", "getDeclaredField", "getFields", "getDeclaredFields"],
                &["getMethod", "getDeclaredMethod", "getMethods", "getDeclaredMethods"],
            ) =>
        {
            Asks::Fields
        }
        LanguageName::Python
            if all_of(
                &["setattr", "delattr"],
                &["getattr", "hasattr", "getmembers", "vars", "globals", "methodcaller", "attrgetter", "__dict__"],
            ) =>
        {
            Asks::Writes
        }
        LanguageName::Java | LanguageName::Python | LanguageName::TypeScript | LanguageName::JavaScript => Asks::Any,
    }
}

/// Whether a line of `owner`'s code means the member of a class above by `super`, or of a class
/// that it names, whatever the instance is.
pub fn names_above(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    mentions(facts, owner, line, name).any(|row| {
        let mut root = row.expr;
        while let Some(inner) = facts.operand(root, 0).filter(|inner| *inner < root) {
            root = inner;
        }
        let row = facts.expr(root);
        row.kind == ExprKind::Super || facts.text(row.name) == "super"
    })
}

/// Whether every constructor that a line of a constructor's code calls is one above its own, by `super`.
pub fn calls_constructor_above(facts: &FileFacts, owner: SymbolId, line: u32) -> bool {
    let row = facts.symbol(owner);
    let is_making = row.kind == SymbolKind::Constructor || matches!(facts.name(row.name), "__init__" | "constructor");
    let is_call =
        |row: &&Reference| row.owner == owner && matches!(row.kind, RefKind::Call | RefKind::New | RefKind::Super);
    // What is handed to it is called by its own name.
    let mut calls = refs_on(facts, line).filter(is_call).peekable();
    is_making
        && calls.peek().is_some()
        && calls.all(|call| {
            let mut root = call.expr;
            while let Some(inner) = facts.operand(root, 0).filter(|inner| *inner < root) {
                root = inner;
            }
            let expr = facts.expr(root);
            expr.kind == ExprKind::Super || facts.text(expr.name) == "super"
        })
}

/// The references by a name on a line of `owner`'s code.
fn mentions<'f>(
    facts: &'f FileFacts,
    owner: SymbolId,
    line: u32,
    name: &'f str,
) -> impl Iterator<Item = &'f Reference> {
    refs_on(facts, line).filter(move |row| row.owner == owner && last_name(facts, row.expr) == name)
}

/// How many rows behind an expression are looked at for what holds it: a guess at the longest
/// list of arguments.
const MAX_BEHIND: usize = 256;

/// The expressions that have one as an operand other than the first. Operands are earlier rows.
pub fn holders(facts: &FileFacts, expr: ExprId) -> impl Iterator<Item = ExprId> {
    let end = facts.exprs.len().min(expr.index() + 1 + MAX_BEHIND);
    (expr.index() + 1..end).map(ExprId::new).filter(move |holder| {
        let operands = facts.operands_of(*holder);
        let is_list = matches!(facts.expr(*holder).kind, ExprKind::Seq | ExprKind::Object);
        operands.iter().skip(usize::from(!is_list)).any(|o| o.expr == expr)
    })
}
