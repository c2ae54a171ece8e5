//! What a file's facts say of values that are handed on: decorated, given back, stored, held.

use crate::base::dialect::LanguageName;
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::graph::names::root_name;
use crate::impact::access::holders;
use crate::impact::code::refs_on;
use crate::impact::outside;
use crate::lang::java;
use crate::lang::testing::{decorators, last_name};

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

/// The decorators of a definition after which it may run without ever being named, as far as
/// their names tell: those not known to be plain. The code around the definition stands for it.
pub fn strange_decorators(facts: &FileFacts, symbol: SymbolId) -> impl Iterator<Item = &Decorator> {
    let is_java = facts.dialect.language() == LanguageName::Java;
    decorators(facts, symbol).filter(move |row| {
        let name = last_name(facts, row.expr);
        let is_plain = PLAIN_DECORATORS.contains(&name) || (is_java && java::tests::is_runner_annotation(name));
        !is_plain && !is_mark(facts, row.expr)
    })
}

/// Whether a decorator is one of pytest's marks, `@pytest.mark.slow` or `@mark.slow(…)`: a note for the
/// runner on the function that stays what it is.
pub fn is_mark(facts: &FileFacts, decorator: ExprId) -> bool {
    let row = facts.expr(decorator);
    let callee = if row.kind == ExprKind::Call { facts.operand(decorator, 0) } else { Some(decorator) };
    let Some(on) = callee.filter(|at| facts.expr(*at).kind == ExprKind::Attr).and_then(|at| facts.operand(at, 0))
    else {
        return false;
    };
    let root = facts.operand(on, 0).map_or("pytest", |root| facts.text(facts.expr(root).name));
    facts.text(facts.expr(on).name) == "mark" && root == "pytest"
}

/// Whether a function's code puts a definition into something that it has or was given
/// (`descriptor.value = function () {}`): who has that runs it by whatever name, once the code around
/// has run. What stands on `this` is a member, found by its name.
pub fn is_put_into(facts: &FileFacts, symbol: SymbolId) -> bool {
    facts.bindings.iter().filter(|binding| binding.symbol == Some(symbol)).any(|binding| {
        let root = binding.target.and_then(|target| root_name(facts, target));
        root.flatten().is_some_and(|root| facts.name(root) != "this")
    })
}

/// Whether a decorator of a definition stands on a line.
pub fn is_decorator_line(facts: &FileFacts, owner: SymbolId, line: u32) -> bool {
    decorators(facts, owner).any(|row| row.line == line)
}

/// The name that a decorator's method is called on: `app` of `@app.route("/")`.
pub fn receiver_of(facts: &FileFacts, decorator: ExprId) -> Option<&str> {
    let mut at = decorator;
    let mut has_member = false;
    loop {
        let row = facts.expr(at);
        match row.kind {
            ExprKind::Name => return has_member.then(|| facts.text(row.name)),
            ExprKind::Attr => has_member = true,
            ExprKind::Call => {}
            _ => return None,
        }
        at = facts.operand(at, 0).filter(|inner| *inner < at)?;
    }
}

/// Parts of names of decorators that put what they decorate where something outside finds it.
const REGISTERING: [&str; 32] = [
    "regist",
    "receiver",
    "connect",
    "listen",
    "subscri",
    "hook",
    "handl",
    "route",
    "event",
    "signal",
    "plugin",
    "task",
    "job",
    "cron",
    "schedul",
    "periodic",
    "dispatch",
    "implement",
    "adapt",
    "provid",
    "given",
    "when",
    "then",
    "step",
    "extension",
    "observ",
    "trigger",
    "expose",
    "export",
    "publish",
    "callback",
    "consum",
];

/// Whether a decorator from outside says by its name that it registers what it decorates.
pub fn registers(facts: &FileFacts, decorator: &Decorator) -> bool {
    let name = last_name(facts, decorator.expr).to_ascii_lowercase();
    REGISTERING.iter().any(|part| name.contains(part))
        || matches!(name.as_str(), "on" | "get" | "post" | "put" | "patch" | "delete" | "error")
        || name.starts_with("on_")
}

/// How many times the decorator on a line of a definition is called there: once for `@f`, twice
/// for `@f(x)`, whose result is called as well; 0 without a decorator.
pub fn decorator_calls(facts: &FileFacts, owner: SymbolId, line: u32) -> u32 {
    let is_call = |row: &Decorator| facts.expr(row.expr).kind == ExprKind::Call;
    decorators(facts, owner).filter(|row| row.line == line).map(|row| 1 + u32::from(is_call(row))).max().unwrap_or(0)
}

/// Calls that take a function and give it, or one like it, back without running or keeping it.
const WRAPPERS: [&str; 16] = [
    "update_wrapper",
    "wraps",
    "cast",
    "partial",
    "partialmethod",
    "lru_cache",
    "cache",
    "staticmethod",
    "classmethod",
    "property",
    "contextmanager",
    "asynccontextmanager",
    "iscoroutinefunction",
    "isinstance",
    "callable",
    "signature",
];

/// Whether a function that is only mentioned on a line of the function around it is given back
/// there, not run: returned, or passed through a wrapper.
pub fn is_given_back(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    refs_on(facts, line).filter(|row| row.owner == owner && last_name(facts, row.expr) == name).all(|row| {
        matches!(row.kind, RefKind::Read | RefKind::Callback)
            && facts.expr(row.expr).kind == ExprKind::Name
            && !is_kept(facts, row.expr)
    })
}

/// Whether a decorator's function may keep what it decorates (a registry), or run it at once:
/// then what it decorates may run without being named. `n_calls`: as [`decorator_calls`]; the
/// decorated function is a parameter of the function itself, or of those that it gives back.
///
/// Every mention of such a parameter must be a call of it, an attribute of it, a wrapper around
/// it, or its return. Parameters are no references; their mentions are found among the
/// expressions of the function's lines.
pub fn keeps_argument(facts: &FileFacts, function: SymbolId, n_calls: u32) -> bool {
    match taken(facts, function, n_calls) {
        Some(mentions) => mentions.into_iter().any(|mention| mention != Taken::Plain),
        None => true,
    }
}

/// Whether a decorator's function keeps what it decorates in the object that it is a method of,
/// and neither runs it nor hands it elsewhere.
pub fn keeps_in_self(facts: &FileFacts, function: SymbolId, n_calls: u32) -> bool {
    let is_method = facts.symbol(function).parent.is_some_and(|p| facts.symbol(p).kind.is_class());
    let mentions = taken(facts, function, n_calls).filter(|_| is_method);
    mentions.is_some_and(|list| list.into_iter().all(|mention| matches!(mention, Taken::Plain | Taken::BySelf)))
}

/// What a function does with a mention of what it takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// Calls it, reads an attribute, wraps it, gives it back.
    Plain,
    /// Gives it to a method of its own object, or puts it into a field of it.
    BySelf,
    Elsewhere,
}

/// The mentions of what a decorator's function takes; `None` when it takes nothing by name.
fn taken(facts: &FileFacts, function: SymbolId, n_calls: u32) -> Option<Vec<Taken>> {
    let mut takers = vec![function];
    for _ in 1..n_calls {
        takers = (function.index() + 1..facts.symbols.len())
            .map(SymbolId::new)
            .filter(|id| {
                let row = facts.symbol(*id);
                row.kind.is_function() && row.parent.is_some_and(|p| takers.contains(&p))
            })
            .collect();
    }
    let names: Vec<&str> = takers
        .iter()
        .filter_map(|id| facts.symbol(*id).scope)
        .flat_map(|scope| facts.params_of(scope))
        .filter(|param| !matches!(param.kind, ParamKind::Rest | ParamKind::KeywordRest))
        .filter_map(|param| Some(facts.name(param.name?)))
        .filter(|name| !matches!(*name, "self" | "cls"))
        .collect();
    if names.is_empty() {
        return None;
    }
    let range = expressions_of(facts, function);
    let mentions: Vec<ExprId> = range
        .clone()
        .map(ExprId::new)
        .filter(|id| facts.expr(*id).kind == ExprKind::Name && names.contains(&facts.text(facts.expr(*id).name)))
        .collect();
    // What a function that is given back does with it, it does when that is called by its name.
    let given_back: Vec<std::ops::Range<usize>> = (function.index() + 1..facts.symbols.len())
        .map(SymbolId::new)
        .take_while(|id| facts.symbol(*id).start_line <= facts.symbol(function).end_line)
        .filter(|id| {
            let row = facts.symbol(*id);
            row.kind.is_function() && row.parent.is_some_and(|p| takers.contains(&p) && is_given_back_by(facts, p, *id))
        })
        .map(|id| expressions_of(facts, id))
        .collect();
    let judge = |id: ExprId| {
        if facts.returns.iter().any(|row| row.expr == id) || given_back.iter().any(|range| range.contains(&id.index()))
        {
            return Taken::Plain;
        }
        let mut best = Taken::Elsewhere;
        for holder in range.clone().skip_while(|at| *at <= id.index()).map(ExprId::new) {
            let Some(position) = facts.operands_of(holder).iter().position(|o| o.expr == id) else { continue };
            match facts.expr(holder).kind {
                ExprKind::Call | ExprKind::New if position == 0 => return Taken::Plain,
                ExprKind::Call | ExprKind::New if WRAPPERS.contains(&last_name(facts, holder)) => return Taken::Plain,
                ExprKind::Call if is_on_self(facts, holder) => best = Taken::BySelf,
                ExprKind::Attr | ExprKind::Await | ExprKind::Operator => return Taken::Plain,
                _ => {}
            }
        }
        let mut writes = facts.bindings.iter().filter(|b| b.value == Some(id)).filter_map(|b| b.target);
        if writes.any(|target| is_on_self(facts, target)) {
            best = Taken::BySelf;
        }
        best
    };
    Some(mentions.into_iter().map(judge).collect())
}

/// Whether a function does no more with one that it defines than to give it back, perhaps wrapped.
fn is_given_back_by(facts: &FileFacts, maker: SymbolId, inner: SymbolId) -> bool {
    let name = facts.name(facts.symbol(inner).name);
    let mut lines = facts
        .refs
        .iter()
        .filter(|row| row.owner == maker && last_name(facts, row.expr) == name)
        .map(|row| row.line)
        .peekable();
    lines.peek().is_some()
        && lines.all(|line| is_given_back(facts, maker, line, name))
        && strange_decorators(facts, inner).all(|row| outside::only_wraps(facts, row))
}

/// The rows of expressions that stand on a function's lines, as a range that holds them all.
fn expressions_of(facts: &FileFacts, function: SymbolId) -> std::ops::Range<usize> {
    let row = facts.symbol(function);
    let (mut first, mut end) = (0, 0);
    let refs = facts.refs.iter().map(|r| (r.expr, r.start_line.min(r.line)));
    let returns = facts.returns.iter().map(|r| (r.expr, r.line));
    let values = facts.bindings.iter().filter_map(|b| Some((b.value?, b.line)));
    for (expr, line) in refs.chain(returns).chain(values) {
        if line < row.start_line {
            first = first.max(expr.index() + 1);
        } else if line <= row.end_line {
            end = end.max(expr.index() + 1);
        }
    }
    first.min(end)..end
}

/// The same, with what stands behind the last reference of a function: all up to the first of the
/// code below it, of which the range may hold some.
fn expressions_around(facts: &FileFacts, function: SymbolId) -> std::ops::Range<usize> {
    let range = expressions_of(facts, function);
    let end_line = facts.symbol(function).end_line;
    // Sorted by line, which is never before the first line of the same reference.
    let first = facts.refs.partition_point(|r| r.line <= end_line);
    let refs = facts.refs[first..].iter().filter(|r| r.start_line.min(r.line) > end_line);
    let below = refs.map(|r| root_of(facts, r.expr).index()).min();
    range.start..below.unwrap_or(facts.exprs.len()).max(range.end)
}

/// Whether a mention hands a value to an unknown call, or stores it.
fn is_kept(facts: &FileFacts, expr: ExprId) -> bool {
    let holds = |row: &Expr| {
        let operands = facts.operands.get(row.first as usize..(row.first + row.len) as usize).unwrap_or_default();
        operands.iter().position(|o| o.expr == expr)
    };
    let is_handed = facts.exprs.iter().enumerate().skip(expr.index() + 1).any(|(at, row)| {
        let Some(position) = holds(row).filter(|_| row.len > 0) else { return false };
        match row.kind {
            ExprKind::Call | ExprKind::New => position > 0 && !WRAPPERS.contains(&last_name(facts, ExprId::new(at))),
            ExprKind::Seq | ExprKind::Object | ExprKind::Index => true,
            _ => false,
        }
    });
    let is_stored =
        facts.bindings.iter().any(|row| row.value == Some(expr) && (row.target.is_some() || row.name.is_some()));
    is_handed || is_stored
}

/// Methods of collections that keep their arguments and run nothing of them.
const STORING: [&str; 10] =
    ["append", "appendleft", "add", "insert", "extend", "update", "setdefault", "push", "unshift", "set"];

/// Whether a line's calls add to collections, by their names.
pub fn adds_to_collection(facts: &FileFacts, owner: SymbolId, line: u32) -> bool {
    let mut calls = refs_on(facts, line).filter(|row| row.owner == owner && row.kind == RefKind::Call).peekable();
    calls.peek().is_some() && calls.all(|call| STORING.contains(&last_name(facts, call.expr)))
}

/// The class whose instance keeps what a line of one of its methods mentions: it is an argument of
/// a call that adds to `self` or `this` (`self.add_command(f)`, `this.handlers.push(f)`), or of the
/// constructor above, from a constructor (`super().__init__(params=[f])`).
pub fn stored_in_self(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> Option<SymbolId> {
    let class = facts.symbol(owner).parent.filter(|p| facts.symbol(*p).kind.is_class())?;
    let is_making = matches!(facts.name(facts.symbol(owner).name), "__init__" | "constructor")
        || facts.symbol(owner).kind == SymbolKind::Constructor;
    let mut mentions = refs_on(facts, line)
        .filter(|row| row.owner == owner && last_name(facts, row.expr) == name)
        .filter(|row| matches!(row.kind, RefKind::Read | RefKind::Callback))
        .peekable();
    mentions.peek()?;
    let is_stored = mentions.all(|mention| {
        let list = holders(facts, mention.expr).find(|at| facts.expr(*at).kind == ExprKind::Seq);
        let is_argument = |call: ExprId| {
            let mut operands = facts.operands_of(call).iter().skip(1);
            operands.any(|o| o.expr == mention.expr || Some(o.expr) == list)
        };
        let mut calls = refs_on(facts, line).filter(|row| row.owner == owner && row.kind != RefKind::Read);
        calls.any(|call| {
            let callee = last_name(facts, call.expr);
            let is_storing = STORING.contains(&callee) || callee.starts_with("add_");
            is_argument(call.expr)
                && ((is_storing && is_on_self(facts, call.expr))
                    || (is_making && is_constructor_above(facts, call.expr))
                    || (is_making && STORING.contains(&callee) && is_given_above(facts, owner, call.expr)))
        })
    });
    is_stored.then_some(class)
}

/// Whether a call is one of the constructor above: `super().__init__(…)`, `super(…)`.
fn is_constructor_above(facts: &FileFacts, call: ExprId) -> bool {
    let root = root_of(facts, call);
    let is_super = facts.expr(root).kind == ExprKind::Super || facts.text(facts.expr(root).name) == "super";
    is_super && matches!(last_name(facts, call), "__init__" | "super" | "")
}

/// Whether the local list that a call adds to is only added to, and given to the constructor above.
fn is_given_above(facts: &FileFacts, owner: SymbolId, call: ExprId) -> bool {
    let root = root_of(facts, call);
    let list = facts.text(facts.expr(root).name);
    if facts.expr(root).kind != ExprKind::Name || list.is_empty() {
        return false;
    }
    let range = expressions_of(facts, owner);
    let mut n_given = 0;
    let is_only = range
        .clone()
        .map(ExprId::new)
        .filter(|id| facts.expr(*id).kind == ExprKind::Name && facts.text(facts.expr(*id).name) == list)
        .all(|id| {
            let is_added_to = range.clone().skip_while(|at| *at <= id.index()).map(ExprId::new).any(|holder| {
                facts.expr(holder).kind == ExprKind::Attr
                    && facts.operand(holder, 0) == Some(id)
                    && STORING.contains(&last_name(facts, holder))
            });
            let is_given = holders(facts, id).any(|holder| is_constructor_above(facts, holder));
            n_given += u32::from(is_given);
            is_added_to || is_given
        });
    is_only && n_given > 0
}

fn root_of(facts: &FileFacts, expr: ExprId) -> ExprId {
    let mut root = expr;
    while let Some(inner) = facts.operand(root, 0).filter(|inner| *inner < root) {
        root = inner;
    }
    root
}

fn is_on_self(facts: &FileFacts, chain: ExprId) -> bool {
    let row = facts.expr(root_of(facts, chain));
    row.kind == ExprKind::This || facts.text(row.name) == "self"
}

/// Where a mention in a module's code goes when it is put into a collection there: to the symbol
/// that the collection belongs to, or nowhere when it is that symbol itself. `None`: it is not.
pub fn stored_at(facts: &FileFacts, line: u32, name: &str) -> Option<Option<SymbolId>> {
    let call = refs_on(facts, line).find(|row| row.owner.index() == 0 && row.kind == RefKind::Call)?;
    if !STORING.contains(&last_name(facts, call.expr)) {
        return None;
    }
    let mut root = facts.operand(call.expr, 0)?;
    while let Some(inner) = facts.operand(root, 0).filter(|inner| *inner < root) {
        root = inner;
    }
    let root = facts.text(facts.expr(root).name);
    if root == name {
        return Some(None);
    }
    let holder = facts.symbols.iter().position(|s| {
        s.parent == Some(SymbolId::new(0)) && s.kind != SymbolKind::Module && facts.name(s.name) == root
    })?;
    Some(Some(SymbolId::new(holder)))
}

/// Whether a mention is an argument of what keeps it: of a constructor (`new C(f)`, or a call of a
/// capitalized name), or of a wrapper that gives back one like it (`partial(f, 1)`).
pub fn is_given_to_keeper(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    let mut mentions = refs_on(facts, line)
        .filter(|row| row.owner == owner && last_name(facts, row.expr) == name)
        .filter(|row| matches!(row.kind, RefKind::Read | RefKind::Callback))
        .peekable();
    mentions.peek().is_some()
        && mentions.all(|row| {
            facts.exprs.iter().enumerate().skip(row.expr.index() + 1).any(|(at, holder)| {
                let holder_id = ExprId::new(at);
                let is_operand = facts.operands_of(holder_id).iter().skip(1).any(|o| o.expr == row.expr);
                is_operand
                    && (holder.kind == ExprKind::New
                        || (holder.kind == ExprKind::Call
                            && (matches!(last_name(facts, holder_id), "partial" | "partialmethod")
                                || last_name(facts, holder_id).starts_with(|c: char| c.is_uppercase()))))
            })
        })
}

/// Whether an instance that a line of a function makes is never more there than what members are
/// asked of: it is not handed on, called, compared, iterated or given back.
pub fn only_receives(facts: &FileFacts, owner: SymbolId, line: u32, class: &str) -> bool {
    if !facts.symbol(owner).kind.is_function() {
        return false;
    }
    let is_receiver = |id: ExprId| {
        let near = facts.exprs.len().min(id.index() + 1 + MAX_NEAR);
        (id.index() + 1..near)
            .map(ExprId::new)
            .any(|at| facts.expr(at).kind == ExprKind::Attr && facts.operand(at, 0) == Some(id))
    };
    let range = expressions_around(facts, owner);
    let mut made = refs_on(facts, line)
        .filter(|row| row.owner == owner && last_name(facts, row.expr) == class)
        .filter(|row| matches!(row.kind, RefKind::Call | RefKind::New))
        .peekable();
    made.peek().is_some()
        && made.all(|row| {
            if is_receiver(row.expr) {
                return true;
            }
            let mut kept = facts.bindings.iter().filter(|b| b.value == Some(row.expr)).peekable();
            let is_kept = kept.peek().is_some() && holders_of(facts, row.expr).next().is_none();
            is_kept
                && kept.all(|b| {
                    let is_plain = matches!(b.origin, Origin::Assign | Origin::Declare | Origin::Reassign);
                    let is_local = b.symbol.is_none() && b.target.is_none() && b.n_steps == 0;
                    let Some(local) = b.name.filter(|_| is_plain && is_local) else { return false };
                    range.clone().map(ExprId::new).all(|id| {
                        let is_mention = facts.expr(id).kind == ExprKind::Name && facts.expr(id).name == Some(local);
                        !is_mention || is_receiver(id)
                    })
                })
        })
}

/// Whether a method hands on its own instance: mentions it otherwise than to ask for a member.
pub fn leaks_self(facts: &FileFacts, method: SymbolId) -> bool {
    let is_python = facts.dialect.language() == LanguageName::Python;
    let first = facts.symbol(method).scope.and_then(|scope| facts.params_of(scope).first()?.name);
    let range = expressions_around(facts, method);
    range.map(ExprId::new).any(|id| {
        let row = facts.expr(id);
        let is_self = match row.kind {
            ExprKind::This => true,
            ExprKind::Name => is_python && row.name.is_some() && row.name == first,
            _ => false,
        };
        let near = facts.exprs.len().min(id.index() + 1 + MAX_NEAR);
        is_self
            && !(id.index() + 1..near)
                .map(ExprId::new)
                .any(|at| facts.expr(at).kind == ExprKind::Attr && facts.operand(at, 0) == Some(id))
    })
}

/// A member is asked for in the rows right behind its receiver.
const MAX_NEAR: usize = 4;

/// The expressions that have one as an operand. Operands are earlier rows.
fn holders_of(facts: &FileFacts, expr: ExprId) -> impl Iterator<Item = ExprId> {
    let end = facts.exprs.len().min(expr.index() + 1 + MAX_FURTHER);
    (expr.index() + 1..end)
        .map(ExprId::new)
        .filter(move |holder| facts.operands_of(*holder).iter().any(|o| o.expr == expr))
}

/// Whether something that a line of `owner`'s code names or makes is used there without being named
/// further: as an operand or argument, iterated, entered, unpacked. What is only kept, under a name
/// or in a collection, is not; nor is that of which a member is read.
pub fn is_put_to_use(facts: &FileFacts, owner: SymbolId, line: u32, name: &str) -> bool {
    refs_on(facts, line)
        .filter(|row| row.owner == owner && last_name(facts, row.expr) == name)
        .any(|row| is_used_further(facts, row.expr))
}

fn is_used_further(facts: &FileFacts, expr: ExprId) -> bool {
    let mut at = expr;
    // Each step leads to a later row, so this ends.
    loop {
        let end = facts.exprs.len().min(at.index() + 1 + MAX_FURTHER);
        let next = (at.index() + 1..end).map(ExprId::new).find_map(|holder| {
            let position = facts.operands_of(holder).iter().position(|o| o.expr == at)?;
            Some((holder, position))
        });
        let Some((holder, position)) = next else { break };
        match facts.expr(holder).kind {
            _ if is_spread(facts, holder, position) => return true,
            ExprKind::Seq | ExprKind::Object | ExprKind::Choice | ExprKind::Cast | ExprKind::Value => at = holder,
            // The call that the name is the callee of makes what is asked about.
            ExprKind::Call | ExprKind::New if position == 0 && at == expr && is_plain(facts, expr) => at = holder,
            ExprKind::Attr | ExprKind::Lambda | ExprKind::MethodRef | ExprKind::ClassValue => return false,
            _ => return true,
        }
    }
    let is_use = |row: &Binding| {
        let is_kept = matches!(row.origin, Origin::Assign | Origin::Declare | Origin::Reassign | Origin::Walrus);
        row.value == Some(at) && (!is_kept || row.n_steps > 0)
    };
    facts.bindings.iter().any(is_use)
}

fn is_spread(facts: &FileFacts, holder: ExprId, position: usize) -> bool {
    facts.operands_of(holder).get(position).is_some_and(|o| matches!(o.role, Role::Spread | Role::KeywordSpread))
}

fn is_plain(facts: &FileFacts, expr: ExprId) -> bool {
    matches!(facts.expr(expr).kind, ExprKind::Name | ExprKind::Attr)
}

/// How many rows behind an expression are looked at for what it is part of: a guess at the longest
/// list of arguments.
const MAX_FURTHER: usize = 256;

/// What holds an instance of a class that is made on a line of `owner`'s code: the variable or
/// field that it is the value of, else `owner` itself.
pub fn holder_at(facts: &FileFacts, owner: SymbolId, line: u32, class: &str) -> SymbolId {
    let symbol = facts.symbol(owner);
    let is_of_code = owner.index() != 0 && !symbol.kind.is_class();
    let made = facts.bindings.iter().filter(|b| facts.scope(b.scope).owner == owner || is_of_code).find_map(|b| {
        let (holder, value) = (b.symbol?, b.value?);
        let row = facts.symbol(holder);
        let is_near = b.line <= line && line <= b.line.max(row.end_line.min(b.line + MAX_STATEMENT));
        let is_made =
            matches!(facts.expr(value).kind, ExprKind::Call | ExprKind::New | ExprKind::Name | ExprKind::Attr)
                && last_name(facts, value) == class;
        (is_near && is_made).then_some(holder)
    });
    if let Some(holder) = made {
        return holder;
    }
    if is_of_code {
        return owner;
    }
    let held = facts.symbols.iter().enumerate().skip(1).find(|(_, s)| {
        s.parent == Some(owner)
            && matches!(s.kind, SymbolKind::Variable | SymbolKind::Field)
            && (s.start_line..=s.end_line).contains(&line)
    });
    held.map_or(owner, |(at, _)| SymbolId::new(at))
}

/// Statements are taken to be at most this many lines long when a line is to be found in one.
const MAX_STATEMENT: u32 = 40;
