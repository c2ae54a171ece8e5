//! Accesses to members by computed names: `getattr(x, name)`, `x[name]()`, `C.class.getMethod(name)`.
//!
//! They name nothing, so that they give no edge. What they may mean is kept beside the unproved
//! references, for impact to ask: any member of the receiver, where that is known. A string that
//! is given where names are expected, and names nothing that was found, is kept by its text.

use crate::facts::model::{
    ExprId, ExprKind, FileFacts, NameId, Origin, RefKind, Reference, Symbol, SymbolId, SymbolKind,
};
use crate::facts::table::Id;
use crate::graph::edge::Computed;
use crate::graph::generics::SELF;
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::scope::Place;
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// Which values of a receiver hold what is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Instances, classes and modules.
    Any,
    /// Classes and modules: a dictionary of an instance holds no methods.
    Namespaces,
}

/// Java's methods of `Class` that take the name of a member.
const JAVA_NAMED: [&str; 4] = ["getMethod", "getDeclaredMethod", "getField", "getDeclaredField"];
/// Those that give all members.
const JAVA_ALL: [&str; 4] = ["getMethods", "getDeclaredMethods", "getFields", "getDeclaredFields"];

impl Linker<'_, '_> {
    /// Notes a call that reads a member by a computed name.
    pub fn computed_call(&mut self, call: ExprId, site: Site, place: Place) {
        let view = self.view;
        let facts = view.facts(self.file);
        let Some(callee) = facts.operand(call, 0) else { return };
        let (kind, name) = (facts.expr(callee).kind, facts.text(facts.expr(callee).name));
        let argument = |at: usize| facts.operand(call, at);
        match Family::of(facts.dialect) {
            Family::Python => match name {
                "getattr" | "setattr" | "hasattr" | "delattr" if kind == ExprKind::Name => {
                    if let (Some(of), Some(key)) = (argument(1), argument(2).filter(|key| is_computed(facts, *key))) {
                        match self.listed_names(key, place) {
                            Some(names) => names.into_iter().for_each(|name| self.keep_named(name, site)),
                            None => self.computed(of, Holds::Any, site, place),
                        }
                    }
                }
                "getmembers" => argument(1).into_iter().for_each(|of| self.computed(of, Holds::Any, site, place)),
                "vars" if kind == ExprKind::Name => {
                    argument(1).into_iter().for_each(|of| self.computed(of, Holds::Namespaces, site, place));
                }
                "globals" if kind == ExprKind::Name => self.keep_computed(Some(SymbolId::new(0)), site),
                "methodcaller" | "attrgetter" if argument(1).is_some_and(|key| is_computed(facts, key)) => {
                    self.keep_computed(None, site);
                }
                _ => {}
            },
            Family::Ecma if kind == ExprKind::Index => {
                let of = facts.operand(callee, 0).filter(|_| is_computed_index(facts, callee));
                of.into_iter().for_each(|of| self.computed(of, Holds::Any, site, place));
            }
            Family::Ecma => {
                let on = facts.operand(callee, 0).map_or("", |on| facts.text(facts.expr(on).name));
                let of = match (on, name) {
                    ("Reflect", "get" | "has") => {
                        argument(1).filter(|_| argument(2).is_some_and(|k| is_computed(facts, k)))
                    }
                    ("Object", "keys" | "values" | "entries" | "getOwnPropertyNames") => argument(1),
                    _ => None,
                };
                let holds = if on == "Reflect" { Holds::Any } else { Holds::Namespaces };
                of.into_iter().for_each(|of| self.computed(of, holds, site, place));
            }
            Family::Java => {
                let is_computed = JAVA_ALL.contains(&name)
                    || (JAVA_NAMED.contains(&name) && argument(1).is_some_and(|key| is_computed(facts, key)));
                if is_computed && let Some(of) = facts.operand(callee, 0) {
                    self.computed_java(of, site, place);
                }
            }
        }
    }

    /// Notes the reads of members by computed names that are not called where they stand, and
    /// Python's dictionaries of classes and modules.
    pub fn computed_reads(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        let rows: Vec<ExprId> = match Family::of(facts.dialect) {
            Family::Ecma => {
                (0..facts.exprs.len()).map(ExprId::new).filter(|at| is_computed_index(facts, *at)).collect()
            }
            Family::Python | Family::Java => return,
        };
        if rows.is_empty() {
            return;
        }
        let mut refs: Vec<(ExprId, usize)> = facts.refs.iter().enumerate().map(|(at, row)| (row.expr, at)).collect();
        refs.sort_unstable();
        for index in rows {
            self.session.refuel();
            // Expressions have no place of their own: the reference behind it stands in the same
            // code, or the one before does where nothing follows.
            let behind = refs.partition_point(|(expr, _)| *expr <= index);
            let near = refs.get(behind).or(behind.checked_sub(1).and_then(|at| refs.get(at)));
            let (Some((_, near)), Some(of)) = (near, facts.operand(index, 0)) else { continue };
            let reference = &facts.refs[*near];
            let place = Place { file: self.file, scope: reference.scope, line: reference.line };
            let set = self.session.eval(of, place);
            let site = Site {
                from: SymbolRef { file: self.file, symbol: reference.owner },
                line: reference.line,
                test_block: facts.scope(reference.scope).test_block,
                inside: true,
            };
            if !set.is_unknown() {
                self.note_computed(&set, Holds::Any, site);
            }
        }
    }

    /// Notes a dictionary of a class or module: `C.__dict__`.
    pub fn computed_dictionary(&mut self, reference: &Reference, site: Site, place: Place) {
        let view = self.view;
        let facts = view.facts(self.file);
        let row = facts.expr(reference.expr);
        if row.kind == ExprKind::Attr && facts.text(row.name) == "__dict__" {
            let of = facts.operand(reference.expr, 0);
            of.into_iter().for_each(|of| self.computed(of, Holds::Namespaces, site, place));
        }
    }

    /// Keeps a string where a name is expected that nothing was found for.
    pub fn computed_string(&mut self, reference: &Reference, site: Site) {
        let view = self.view;
        let facts = view.facts(self.file);
        let row = facts.expr(reference.expr);
        let text = facts.text(row.name);
        let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name || reference.kind != RefKind::StringPath {
            return;
        }
        let context = self.session.shared.names.code(self.file).context(reference.expr);
        let callee =
            context.and_then(|(call, _)| facts.operand(call, 0)).map_or("", |c| facts.text(facts.expr(c).name));
        let is_parameter = match callee {
            "fixture" | "usefixtures" | "getfixturevalue" | "getfuncargvalue" => true,
            "parametrize" => context.is_some_and(|(_, position)| position <= 1),
            _ => false,
        };
        if is_parameter {
            return;
        }
        // What stands in a decorator is for what it decorates.
        let above =
            facts.decorators.iter().filter(|d| d.line <= site.line && facts.symbol(d.owner).name_line > site.line);
        let from = above.max_by_key(|d| d.line).map_or(site.from, |d| SymbolRef { symbol: d.owner, ..site.from });
        self.link.computed.push(Computed {
            of: None,
            name: row.name,
            from,
            line: site.line,
            test_block: site.test_block,
        });
    }

    /// Notes that a name is asked of a module that does not define it, where the module may answer
    /// all the same (`__getattr__`).
    pub fn ask_hook(&mut self, module: FileIdx, name: NameId, site: Site) {
        let facts = self.view.facts(module);
        let is_hook = |row: &Symbol| {
            row.kind == SymbolKind::Function
                && row.parent.is_some_and(|p| p.index() == 0)
                && facts.name(row.name) == "__getattr__"
        };
        if facts.symbols.iter().any(is_hook) {
            let of = Some(self.session.module_symbol(module));
            let (from, line, test_block) = (site.from, site.line, site.test_block);
            self.link.computed.push(Computed { of, name: Some(name), from, line, test_block });
        }
    }

    /// The same for an attribute that was not found.
    pub fn ask_hook_of(&mut self, reference: &Reference, name: NameId, site: Site) {
        let view = self.view;
        let facts = view.facts(self.file);
        if Family::of(facts.dialect) != Family::Python {
            return;
        }
        let chain = match facts.expr(reference.expr).kind {
            ExprKind::Call => facts.operand(reference.expr, 0),
            _ => Some(reference.expr),
        };
        let Some(chain) = chain.filter(|chain| facts.expr(*chain).kind == ExprKind::Attr) else { return };
        let Some(receiver) = facts.operand(chain, 0) else { return };
        let place = Place { file: self.file, scope: reference.scope, line: reference.line };
        for value in self.session.eval(receiver, place).values() {
            if let Value::Module(module) = value {
                self.ask_hook(*module, name, site);
            }
        }
    }

    fn computed(&mut self, of: ExprId, holds: Holds, site: Site, place: Place) {
        let set = self.session.eval(of, place);
        self.note_computed(&set, holds, site);
    }

    fn computed_java(&mut self, of: ExprId, site: Site, place: Place) {
        let view = self.view;
        let facts = view.facts(self.file);
        let on = facts.operand(of, 0).filter(|_| facts.expr(of).kind == ExprKind::Call);
        let is_own = on.is_some_and(|callee| facts.text(facts.expr(callee).name) == "getClass");
        if let (true, Some(callee)) = (is_own, on) {
            // `x.getClass()` is a class of what `x` is, `getClass()` alone one of its own.
            match facts.operand(callee, 0).filter(|_| facts.expr(callee).kind == ExprKind::Attr) {
                Some(of) => self.computed(of, Holds::Any, site, place),
                None => {
                    let around = facts.symbol(site.from.symbol).parent;
                    self.keep_computed(around.filter(|class| facts.symbol(*class).kind.is_class()), site);
                }
            }
            return;
        }
        let set = self.session.eval(of, place);
        let mut classes: Vec<Set> = Vec::new();
        for value in set.values() {
            if let Value::ExternalInstance(_, args) = value {
                classes.extend(args.iter().cloned());
            }
        }
        let classes = if classes.is_empty() { Set::unknown() } else { Set::union(classes) };
        self.note_computed(&classes, Holds::Any, site);
    }

    fn note_computed(&mut self, set: &Set, holds: Holds, site: Site) {
        for value in set.values() {
            let of = match value {
                Value::Class(at) | Value::Symbol(at) => Some(*at),
                Value::Module(file) => Some(self.session.module_symbol(*file)),
                Value::Instance(at, _) | Value::Super(at) | Value::TypeParam(at, SELF) => {
                    Some(*at).filter(|_| holds == Holds::Any)
                }
                Value::Null
                | Value::Namespace(_)
                | Value::Anonymous(..)
                | Value::Function(_)
                | Value::Bound(..)
                | Value::Lambda(..)
                | Value::Object(..)
                | Value::Shape(..)
                | Value::TypeParam(..)
                | Value::External(_)
                | Value::ExternalInstance(..) => None,
            };
            if of.is_some() {
                self.push_computed(of, site);
            }
        }
        if set.is_unknown() && holds == Holds::Any {
            self.keep_computed(None, site);
        }
    }

    /// The names that `f.__name__` may be where a loop takes `f` from a list of functions that stands
    /// there, each under its own name; `None` for any other key.
    fn listed_names(&mut self, key: ExprId, place: Place) -> Option<Vec<NameId>> {
        let view = self.view;
        let facts = view.facts(self.file);
        let row = facts.expr(key);
        let of = facts.operand(key, 0).filter(|_| row.kind == ExprKind::Attr && facts.text(row.name) == "__name__")?;
        let name = facts.expr(of).name.filter(|_| facts.expr(of).kind == ExprKind::Name)?;
        if facts.params_of(place.scope).iter().any(|param| param.name == Some(name)) {
            return None;
        }
        let mut names = Vec::new();
        let mut bindings = facts.bindings.iter().filter(|b| b.scope == place.scope && b.name == Some(name)).peekable();
        bindings.peek()?;
        for binding in bindings {
            let list = binding.value.filter(|_| binding.origin == Origin::For && binding.n_steps == 0)?;
            if facts.expr(list).kind != ExprKind::Seq {
                return None;
            }
            for item in facts.operands_of(list) {
                let expr = facts.expr(item.expr);
                let name = expr.name.filter(|_| matches!(expr.kind, ExprKind::Attr | ExprKind::Name))?;
                let set = self.session.eval(item.expr, place);
                let is_own = |value: &Value| match value {
                    Value::Function(at) | Value::Bound(at, _) => {
                        let other = view.facts(at.file);
                        other.name(other.symbol(at.symbol).name) == facts.name(name)
                    }
                    _ => false,
                };
                if set.is_unknown() || !set.values().iter().all(is_own) {
                    return None;
                }
                names.push(name);
            }
        }
        Some(names)
    }

    /// Keeps an access by a name that no string says.
    fn keep_named(&mut self, name: NameId, site: Site) {
        let Site { from, line, test_block, .. } = site;
        self.link.computed.push(Computed { of: None, name: Some(name), from, line, test_block });
    }

    /// Keeps an access to a symbol of this file, or to what is not known.
    fn keep_computed(&mut self, of: Option<SymbolId>, site: Site) {
        self.push_computed(of.map(|symbol| SymbolRef { file: self.file, symbol }), site);
    }

    fn push_computed(&mut self, of: Option<SymbolRef>, site: Site) {
        let Site { from, line, test_block, .. } = site;
        self.link.computed.push(Computed { of, name: None, from, line, test_block });
    }
}

/// Whether a name is made when the code runs; literals that are not kept are no names of members.
fn is_computed(facts: &FileFacts, key: ExprId) -> bool {
    !matches!(facts.expr(key).kind, ExprKind::Path | ExprKind::Literal)
}

/// Whether an expression takes an element by a computed key: `x[name]`.
fn is_computed_index(facts: &FileFacts, at: ExprId) -> bool {
    facts.expr(at).kind == ExprKind::Index && facts.operand(at, 1).is_some_and(|key| is_computed(facts, key))
}
