//! Names in scopes: which declarations a name means where it stands, by each language's rules.

use crate::facts::model::{Branch, NameId, Origin, ScopeId, ScopeKind, SymbolFlags, SymbolId, SymbolKind};
use crate::facts::table::Id;
use crate::graph::builtins;
use crate::graph::few::Few;
use crate::graph::members::united;
use crate::graph::modules::Family;
use crate::graph::names::{Decl, Text, in_scope};
use crate::graph::queries::{Denoted, Query, Session};
use crate::view::{FileIdx, SymbolRef};

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub file: FileIdx,
    pub scope: ScopeId,
    /// For what was assigned before; `u32::MAX` after everything.
    pub line: u32,
}

/// Whether a name is looked up as a value or as a type; a file may hold both under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Value,
    Type,
}

/// What a name means.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    pub denoted: Few<Denoted>,
    /// Whether an import leads to it.
    pub imported: bool,
    /// Whether some declaration was found, even if it leads nowhere.
    pub declared: bool,
}

impl Session<'_, '_> {
    /// What a name means at a place. Declarations of the innermost scope that has any win;
    /// imports are followed to what they denote.
    pub fn meaning(&mut self, place: Place, name: NameId, space: Space) -> Meaning {
        let mut meaning = Meaning::default();
        let Some((scope, decls)) = self.declarations(place, name, space) else {
            if let Some(param) = self.type_param(place.file, place.scope, name) {
                return Meaning { denoted: Few::One(param), imported: false, declared: true };
            }
            let text = self.shared.names.text(place.file, name);
            match Family::of(self.shared.names.view.dialect(place.file)) {
                Family::Ecma => {
                    let global = self.denoted(Query::Global(place.file, text)).to_vec();
                    meaning.denoted = self.only_in_space(global, space).into();
                }
                // `from m import *`.
                Family::Python if !self.shared.names.file(place.file).stars().is_empty() => {
                    meaning.denoted = self.denoted(Query::Export(place.file, text));
                    (meaning.imported, meaning.declared) = (true, !meaning.denoted.is_empty());
                }
                Family::Python | Family::Java => {}
            }
            return meaning;
        };
        if space == Space::Type
            && let Some(param) = self.type_param_within(place.file, place.scope, scope, name)
        {
            return Meaning { denoted: Few::One(param), imported: false, declared: true };
        }
        meaning.declared = true;
        let reaching = self.reaching(place, scope, decls);
        let lists = reaching.iter().map(|decl| match *decl {
            Decl::Symbol(row) => {
                Few::One(Denoted::Symbol(SymbolRef { file: place.file, symbol: SymbolId::new(row as usize) }))
            }
            Decl::Param(row) => Few::One(Denoted::Param(place.file, row)),
            Decl::Binding(row) => {
                let binding = &self.shared.names.view.names_of(place.file).bindings[row as usize];
                // A function expression's own name, inside of it.
                Few::One(match binding.symbol {
                    Some(symbol) if binding.value.is_none() => Denoted::Symbol(SymbolRef { file: place.file, symbol }),
                    _ => Denoted::Binding(place.file, row),
                })
            }
            Decl::Import(row) => {
                meaning.imported = true;
                self.denoted(Query::Import(place.file, row))
            }
        });
        let denoted = united(lists);
        meaning.denoted = self.in_space(denoted, space);
        meaning
    }

    /// Solves `Global`: of ambient declarations in several files those that lie nearest. None for
    /// what the language or its runtimes bring.
    pub fn solve_global(&self, file: FileIdx, text: Text) -> Few<Denoted> {
        let view = self.shared.names.view;
        let known = self.shared.names.str(text);
        let found = self.shared.names.globals_named(text);
        let builtin =
            builtins::global(Family::Ecma, known).is_some() || builtins::named_type(Family::Ecma, known, &[]).is_some();
        if found.is_empty() || builtin {
            return Few::None;
        }
        let near = view.path(file).as_str();
        let shared = |at: &SymbolRef| {
            let path = view.path(at.file).as_str();
            path.split('/').zip(near.split('/')).take_while(|(one, other)| one == other).count()
        };
        let most = found.iter().map(shared).max();
        found.iter().filter(|at| Some(shared(at)) == most).map(|at| Denoted::Symbol(*at)).collect()
    }

    /// Those of a space alone.
    fn only_in_space(&self, mut denoted: Vec<Denoted>, space: Space) -> Vec<Denoted> {
        use crate::facts::model::SymbolKind::{Interface, Namespace, TypeAlias};
        denoted.retain(|d| match d {
            Denoted::Symbol(at) => {
                let kind = self.shared.names.view.symbol(*at).kind;
                match space {
                    Space::Value => !matches!(kind, Interface | TypeAlias),
                    Space::Type => kind.is_class() || matches!(kind, TypeAlias | Namespace),
                }
            }
            _ => true,
        });
        denoted
    }

    /// Of symbols that share a name, keeps those of the wanted space where there are any.
    pub fn in_space(&self, denoted: Few<Denoted>, space: Space) -> Few<Denoted> {
        if denoted.len() < 2 {
            return denoted;
        }
        let is_type_only = |d: &Denoted| match d {
            Denoted::Symbol(at) => is_type_only(self.shared.names.view.symbol(*at).kind),
            _ => false,
        };
        let is_type = |d: &Denoted| match d {
            Denoted::Symbol(at) => {
                let kind = self.shared.names.view.symbol(*at).kind;
                kind.is_class() || kind == crate::facts::model::SymbolKind::TypeAlias
            }
            _ => false,
        };
        match space {
            Space::Value if denoted.iter().any(|d| !is_type_only(d)) => {
                denoted.iter().filter(|d| !is_type_only(d)).cloned().collect()
            }
            Space::Type if denoted.iter().any(is_type) => denoted.iter().filter(|d| is_type(d)).cloned().collect(),
            Space::Value | Space::Type => denoted,
        }
    }

    /// The scope that declares a name as seen from a place, with its declarations.
    fn declarations(&self, place: Place, name: NameId, space: Space) -> Option<(ScopeId, Few<Decl>)> {
        let view = self.shared.names.view;
        let facts = view.names_of(place.file);
        let table = self.shared.names.file(place.file);
        let family = Family::of(facts.dialect);
        let named = table.decls_of(name);
        if named.is_empty() {
            return None;
        }
        let mut at = Some(place.scope);
        let mut innermost = true;
        while let Some(scope) = at {
            let row = facts.scope(scope);
            if row.kind == ScopeKind::Function {
                // Its parameters are among the names.
                view.declared(SymbolRef { file: place.file, symbol: row.owner });
            }
            let visible = match (family, row.kind) {
                // A class body's names are seen by the body itself, not by its methods.
                (Family::Python, ScopeKind::Class) => innermost,
                // Of an enum the members above are seen by their bare names.
                (Family::Ecma, ScopeKind::Class) => facts.symbol(row.owner).kind == SymbolKind::Enum,
                (Family::Ecma, ScopeKind::Object) => false,
                // Members are looked up along the classes around, not in the scope.
                (Family::Java, ScopeKind::Class) => space == Space::Type,
                _ => true,
            };
            innermost &= family == Family::Python && row.kind == ScopeKind::Comprehension;
            if visible {
                // `type Error = …` names no value: `new Error()` is the runtime's all the same.
                let is_hidden = |is_type: bool| {
                    is_type && space == Space::Value && builtins::global(family, facts.name(name)).is_some()
                };
                let is_meant = |decl: &Decl| match (family, row.kind, decl) {
                    (Family::Ecma, _, Decl::Symbol(row))
                        if is_hidden(is_type_only(facts.symbols[*row as usize].kind)) =>
                    {
                        false
                    }
                    (Family::Ecma, _, Decl::Import(row)) if is_hidden(facts.imports[*row as usize].type_only) => false,
                    (Family::Python, ScopeKind::Class, _) => self.is_bound_in_class(place, *decl),
                    (Family::Python, ..) => true,
                    (_, _, Decl::Param(_)) if space == Space::Type => false,
                    (Family::Java, ScopeKind::Class, Decl::Symbol(row)) => facts.symbols[*row as usize].kind.is_class(),
                    (Family::Java, ScopeKind::Class, _) => false,
                    _ => true,
                };
                let decls: Few<Decl> = in_scope(named, scope).filter(is_meant).collect();
                let origin = |decl: &Decl| match decl {
                    Decl::Binding(row) => Some(facts.bindings[*row as usize].origin),
                    _ => None,
                };
                if decls.iter().any(|d| origin(d) == Some(Origin::Global)) {
                    at = Some(ScopeId::new(0)).filter(|module| *module != scope);
                    continue;
                }
                if !decls.is_empty() && !decls.iter().any(|d| origin(d) == Some(Origin::Nonlocal)) {
                    return Some((scope, decls));
                }
            }
            at = row.parent;
        }
        None
    }

    /// Whether code of a Python class body sees a declaration of the class's scope: it stands
    /// above, else the name is looked up outside; what methods assign to `self` is none.
    fn is_bound_in_class(&self, place: Place, decl: Decl) -> bool {
        let facts = self.shared.names.view.names_of(place.file);
        let line = match decl {
            Decl::Symbol(row) => {
                let at = SymbolRef { file: place.file, symbol: SymbolId::new(row as usize) };
                let symbol = facts.symbol(at.symbol);
                if symbol.flags.has(SymbolFlags::FROM_PARAMETER) || self.is_instance_field(at) {
                    return false;
                }
                symbol.end_line
            }
            Decl::Param(row) => facts.params[row as usize].line,
            Decl::Import(row) => facts.imports[row as usize].line,
            Decl::Binding(row) => facts.bindings[row as usize].line,
        };
        line < place.line
    }

    /// Where annotations and defaults in the header of a function are read: Python's stand
    /// outside of it, unless it has type parameters.
    pub fn header_place(&self, file: FileIdx, scope: ScopeId, line: u32) -> Place {
        let facts = self.shared.names.view.names_of(file);
        let row = facts.scope(scope);
        let is_generic = facts.type_params.binary_search_by_key(&row.owner, |p| p.owner).is_ok();
        match (Family::of(facts.dialect), row.kind, row.parent) {
            (Family::Python, ScopeKind::Function | ScopeKind::Lambda, Some(parent)) if !is_generic => {
                Place { file, scope: parent, line }
            }
            _ => Place { file, scope, line: u32::MAX },
        }
    }

    /// Of a scope's declarations of one name those whose value may arrive at the place: in the
    /// same scope the last certain one above it and what follows; from elsewhere the last
    /// certain one and what follows. Symbols stand for their bindings.
    fn reaching(&self, place: Place, scope: ScopeId, decls: Few<Decl>) -> Few<Decl> {
        let facts = self.shared.names.view.names_of(place.file);
        if let [only] = &*decls {
            let is_gone = matches!(only, Decl::Binding(row) if facts.bindings[*row as usize].origin == Origin::Delete);
            return if is_gone { Few::None } else { decls };
        }
        let family = Family::of(facts.dialect);
        let mut rows: Vec<(u32, bool, Decl)> = Vec::new();
        // `const x = require("m")` declares by its import; the constant is only its form.
        let imported: Vec<(u32, u32)> = match family {
            Family::Ecma => decls
                .iter()
                .filter_map(|d| if let Decl::Import(row) = d { Some(&facts.imports[*row as usize]) } else { None })
                .map(|import| (import.name_line, import.name_column))
                .collect(),
            Family::Python | Family::Java => Vec::new(),
        };
        let has_symbol = decls.iter().any(|d| matches!(d, Decl::Symbol(_)));
        let mut seen_implementation = false;
        for decl in &decls {
            let mut name_at = None;
            let (line, certain) = match *decl {
                Decl::Symbol(row) => {
                    let symbol = &facts.symbols[row as usize];
                    seen_implementation |= !symbol.flags.has(SymbolFlags::OVERLOAD);
                    name_at = Some((symbol.name_line, symbol.name_column));
                    (symbol.start_line, symbol.branch == Branch::Always)
                }
                Decl::Param(row) => (facts.params[row as usize].line, true),
                Decl::Import(row) => {
                    let import = &facts.imports[row as usize];
                    (import.line, import.branch == Branch::Always)
                }
                Decl::Binding(row) => {
                    let binding = &facts.bindings[row as usize];
                    if matches!(binding.origin, Origin::Delete) || (has_symbol && binding.symbol.is_some()) {
                        continue;
                    }
                    name_at = Some((binding.line, binding.column));
                    (binding.line, binding.branch == Branch::Always && binding.origin != Origin::Augmented)
                }
            };
            if !name_at.is_some_and(|at| imported.contains(&at)) {
                rows.push((line, certain, *decl));
            }
        }
        rows.sort_by_key(|(line, _, decl)| (*line, *decl));
        if seen_implementation {
            rows.retain(|(_, _, decl)| match decl {
                Decl::Symbol(row) => !facts.symbols[*row as usize].flags.has(SymbolFlags::OVERLOAD),
                _ => true,
            });
        }
        if rows.len() < 2 {
            return rows.into_iter().map(|(_, _, decl)| decl).collect();
        }
        // Java: of pattern variables of one name the last one above is meant.
        if family == Family::Java && place.line != u32::MAX {
            let above = rows.iter().rposition(|(line, ..)| *line <= place.line).unwrap_or(0);
            return Few::One(rows[above].2);
        }
        let same_function = self.function_scope(place.file, place.scope) == self.function_scope(place.file, scope);
        if same_function && family == Family::Python {
            let before: Vec<_> = rows.iter().copied().filter(|(line, ..)| *line < place.line).collect();
            if !before.is_empty() {
                rows = before;
            }
        }
        if family == Family::Python
            && let Some(last) = rows.iter().rposition(|(_, certain, _)| *certain)
        {
            rows.drain(..last);
        }
        rows.into_iter().map(|(_, _, decl)| decl).collect()
    }

    /// The nearest scope of a function, class, or module around a scope.
    pub fn function_scope(&self, file: FileIdx, scope: ScopeId) -> ScopeId {
        let facts = self.shared.names.view.names_of(file);
        let mut at = scope;
        loop {
            let row = facts.scope(at);
            match (row.kind, row.parent) {
                (ScopeKind::Block | ScopeKind::Comprehension | ScopeKind::Object, Some(parent)) => at = parent,
                _ => return at,
            }
        }
    }

    /// A type parameter of one of the symbols around a scope.
    fn type_param(&self, file: FileIdx, scope: ScopeId, name: NameId) -> Option<Denoted> {
        self.type_param_within(file, scope, ScopeId::new(0), name)
    }

    /// As `type_param`, of symbols whose scope lies within `outer`.
    fn type_param_within(&self, file: FileIdx, scope: ScopeId, outer: ScopeId, name: NameId) -> Option<Denoted> {
        let facts = self.shared.names.view.names_of(file);
        let mut at = Some(scope);
        while let Some(id) = at {
            let row = facts.scope(id);
            let start = facts.type_params.partition_point(|p| p.owner < row.owner);
            let owned = facts.type_params[start..].iter().take_while(|p| p.owner == row.owner);
            for (position, param) in owned.enumerate() {
                if param.name == name {
                    return Some(Denoted::TypeParam(SymbolRef { file, symbol: row.owner }, position as u32));
                }
            }
            if id == outer {
                return None;
            }
            at = row.parent;
        }
        None
    }

    /// The nearest class around a scope.
    pub fn class_around(&self, file: FileIdx, scope: ScopeId) -> Option<SymbolRef> {
        let facts = self.shared.names.view.names_of(file);
        let mut at = Some(scope);
        while let Some(id) = at {
            let row = facts.scope(id);
            if row.kind == ScopeKind::Class {
                return Some(SymbolRef { file, symbol: row.owner });
            }
            at = row.parent;
        }
        None
    }
}

/// Whether a symbol of ECMAScript is a type and no value.
fn is_type_only(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Interface | SymbolKind::TypeAlias)
}
