//! Accessors that destructuring runs: `const { port } = config` reads `config.port`.
//!
//! The names in a pattern are no references; what is taken out is known by its value. An accessor
//! is code that runs there, so that it gets an edge.

use crate::facts::model::{StepKind, SymbolFlags};
use crate::graph::edge::{EdgeKind, Layer, Strategy};
use crate::graph::link::{Linker, Site};
use crate::graph::modules::Family;
use crate::graph::queries::Denoted;
use crate::graph::scope::Place;
use crate::view::SymbolRef;

impl Linker<'_, '_> {
    /// Links the accessors that the patterns of a file run.
    pub fn destructured(&mut self) {
        let view = self.view;
        let facts = view.facts(self.file);
        if Family::of(facts.dialect) != Family::Ecma {
            return;
        }
        for binding in facts.bindings.iter().filter(|row| row.n_steps > 0) {
            let Some(step) = facts.steps_of(binding).first().filter(|step| step.kind == StepKind::Key) else {
                continue;
            };
            let (Some(name), Some(value)) = (step.name, binding.value) else { continue };
            self.session.refuel();
            let text = self.session.shared.names.text(self.file, name);
            let place = Place { file: self.file, scope: binding.scope, line: binding.line };
            let scope = facts.scope(binding.scope);
            let from = SymbolRef { file: self.file, symbol: scope.owner };
            let site = Site { from, line: binding.line, test_block: scope.test_block, inside: true };
            for of in self.session.eval(value, place).values() {
                for denoted in self.session.member(of, text, self.file).denoted {
                    let Denoted::Symbol(to) = denoted else { continue };
                    if view.symbol(to).flags.has(SymbolFlags::GETTER) {
                        self.edge(site, to, EdgeKind::References, Layer::Proved, Strategy::InferredType);
                    }
                }
            }
        }
    }
}
