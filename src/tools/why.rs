//! `--why`: beneath each edge that a tool lists, the steps by which it was proved.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::atlas::Atlas;
use crate::graph::edge::Edge;
use crate::graph::trace::{Traced, Tracer};
use crate::graph::why::Step;
use crate::report::{json, sanitize};
use crate::tools::param::{Given, Param, ParamKind};
use crate::view::{FileIdx, View};

pub const WHY: Param =
    Param::new("why", ParamKind::Flag, "add how each edge was proved: imports, re-exports, types").unlisted();

/// How many sites of one row are explained.
const MAX_SITES: usize = 3;

/// Explains the edges of one atlas; files are linked again as they are asked about.
pub struct Explainer<'a> {
    tracer: Tracer<'a>,
    traced: RefCell<BTreeMap<FileIdx, Vec<Traced>>>,
}

impl<'a> Explainer<'a> {
    /// An explainer where `why` is given.
    pub fn asked(given: &Given, atlas: &'a Atlas) -> Option<Self> {
        let wanted = given.flag("why").unwrap_or(false);
        wanted.then(|| Explainer { tracer: Tracer::new(&atlas.view, &atlas.graph), traced: RefCell::default() })
    }

    /// The steps of an edge.
    pub fn steps(&self, edge: &Edge) -> Vec<Step> {
        let mut traced = self.traced.borrow_mut();
        let file = edge.from.file;
        let traced = traced.entry(file).or_insert_with(|| self.tracer.references(file));
        self.tracer.why(edge, traced)
    }

    /// The lines beneath a row of edges.
    pub fn lines(&self, edges: &[&Edge]) -> Vec<String> {
        let mut lines = Vec::new();
        for edge in edges.iter().take(MAX_SITES) {
            for step in self.steps(edge) {
                lines.push(format!("    {} {} ({})", step.rule, sanitize::line(&step.what, 200), self.place(&step)));
            }
        }
        if edges.len() > MAX_SITES {
            lines.push(format!("    … {} more sites", edges.len() - MAX_SITES));
        }
        lines
    }

    /// The steps of an edge in JSON.
    pub fn json(&self, edge: &Edge) -> Value {
        self.steps(edge)
            .iter()
            .map(|step| {
                json::object([
                    ("rule", step.rule.into()),
                    ("what", sanitize::line(&step.what, 200).into()),
                    ("file", self.path(step).into()),
                    ("line", step.line.into()),
                ])
            })
            .collect()
    }

    fn place(&self, step: &Step) -> String {
        format!("{}:{}", self.path(step), step.line)
    }

    fn path(&self, step: &Step) -> String {
        let view: &View = self.tracer.view;
        sanitize::line(view.file(step.file).path.as_str(), 400)
    }
}
