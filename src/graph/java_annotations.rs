//! Java's annotations: the elements that an applied one sets.

use crate::facts::model::{ExprKind, Role};
use crate::graph::edge::{EdgeKind, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::queries::Denoted;
use crate::graph::scope::Place;
use crate::view::SymbolRef;

impl Linker<'_, '_> {
    /// Adds a reference to each element that an annotation sets; a value without a name is that
    /// of `value` (JLS 9.7.3).
    pub fn annotation_elements(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        if Family::of(facts.dialect) != Family::Java {
            return;
        }
        for decorator in &facts.decorators {
            let call = facts.expr(decorator.expr);
            let (ExprKind::Call, Some(callee)) = (call.kind, facts.operand(decorator.expr, 0)) else { continue };
            self.session.refuel();
            let scope = facts.symbol(decorator.owner).declared_in;
            let place = Place { file: self.file, scope, line: decorator.line };
            let from = SymbolRef { file: self.file, symbol: decorator.owner };
            let site = Site { from, line: decorator.line, test_block: None, inside: false };
            for denoted in self.session.denoted_type(callee, place) {
                let Denoted::Symbol(class) = denoted else { continue };
                for operand in facts.operands_of(decorator.expr).iter().skip(1) {
                    let text = match (operand.role, operand.name) {
                        (Role::Keyword, Some(name)) => Some(self.session.shared.names.text(self.file, name)),
                        _ => self.session.shared.names.find("value"),
                    };
                    let Some(text) = text else { continue };
                    for to in self.session.own_members(class, text) {
                        if view.symbol(to).kind.is_function() {
                            self.edge(site, to, EdgeKind::References, Layer::Proved, Strategy::DeclaredType);
                        }
                    }
                }
            }
        }
    }
}
