//! JSX's intrinsic elements: `<div>` is the member `div` of the `JSX.IntrinsicElements` that the
//! file's runtime declares, or that is declared for all files.

use crate::facts::model::{ExprId, ExprKind};
use crate::graph::edge::Strategy;
use crate::graph::modules::Target;
use crate::graph::queries::{Denoted, Query, Session};
use crate::graph::resolve::{Targets, symbols_of};
use crate::graph::scope::Place;
use crate::graph::value::Set;

impl Session<'_, '_> {
    /// What an intrinsic tag refers to: nothing where its elements are declared outside. `None`
    /// for tags that are names of the code.
    pub fn intrinsic_element(&mut self, tag: ExprId, place: Place) -> Option<Targets> {
        let facts = self.shared.names.view.facts(place.file);
        let row = facts.expr(tag);
        if row.kind != ExprKind::Opaque {
            return None;
        }
        let mut found = Vec::new();
        if let Some(name) = row.name {
            // `@jsxImportSource` in a comment of the file goes before its project's.
            let named = facts.operand(tag, 0).map(|path| facts.text(facts.expr(path).name));
            let text = self.shared.names.text(place.file, name);
            for value in self.intrinsic_elements(named, place).values() {
                found.extend(self.member(value, text, place.file).denoted);
            }
        }
        Some(symbols_of(&found, Strategy::DeclaredType))
    }

    /// `JSX.IntrinsicElements` as a type.
    fn intrinsic_elements(&mut self, named: Option<&str>, place: Place) -> Set {
        let view = self.shared.names.view;
        let (Some(namespace), Some(member)) =
            (self.shared.names.find("JSX"), self.shared.names.find("IntrinsicElements"))
        else {
            return Set::unknown();
        };
        let at = view.file(place.file);
        let source = named.or_else(|| self.shared.modules.jsx_source(view, place.file));
        let runtime = source.map(|source| {
            let module = format!("{}/jsx-runtime", source.trim_end_matches('/'));
            self.shared.modules.specifier(view, &at.path, at.dialect, 0, &module)
        });
        let mut spaces = match runtime {
            Some(Target::File(file)) => self.name_of_module(file, "JSX").to_vec(),
            Some(Target::External(_)) => return Set::unknown(),
            Some(Target::Namespace(_) | Target::Missing) | None => Vec::new(),
        };
        if spaces.is_empty() {
            spaces = self.denoted(Query::Global(place.file, namespace)).to_vec();
        }
        let mut sets = Vec::new();
        for space in &spaces {
            for elements in self.member_of_denoted(space, member, place) {
                if let Denoted::Symbol(at) = elements {
                    sets.push(self.symbol_type(at, &[]));
                }
            }
        }
        if sets.is_empty() { Set::unknown() } else { Set::union(sets) }
    }
}
