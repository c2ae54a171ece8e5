//! What a tool must be, and the desk it is asked at.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource, StoreFigures};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::impact::policy;
use crate::rank::files;
use crate::report::text::{Headline, Shown};
use crate::report::{json, sanitize, text};
use crate::tools::param::{Given, Param};

/// A tool: the same thing over MCP and as a command.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub params: &'static [Param],
    /// How it answers over MCP; commands print either form.
    pub form: Form,
    pub run: fn(&Desk, &Given) -> Result<Answer>,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines under a token budget.
    Text,
    /// JSON, as structured content and the same as text.
    Data,
}

/// What tools need beside their arguments.
pub struct Desk {
    pub source: Arc<dyn AtlasSource + Send + Sync>,
    pub options: Options,
    last: Mutex<Option<Arc<Atlas>>>,
}

/// The options of the bay, from `ratlas.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The budget of a map that names none.
    pub default_map_tokens: usize,
    /// The budget of a context that names none.
    pub default_context_tokens: usize,
    /// The highest budget, and the ceiling of every other text answer.
    pub max_tokens: usize,
    /// Edges below it are left out of answers.
    pub confidence_floor: f64,
    pub rank: files::Options,
    /// Policy and rules of `impact_of`.
    pub impact: policy::Options,
}

impl Default for Options {
    /// PRODUCT.md §10's values.
    fn default() -> Self {
        Options {
            default_map_tokens: 2_000,
            default_context_tokens: 4_000,
            max_tokens: 16_000,
            confidence_floor: 0.15,
            rank: files::Options::default(),
            impact: policy::Options::default(),
        }
    }
}

impl Desk {
    /// A desk that answers from `source`.
    pub fn new(source: Arc<dyn AtlasSource + Send + Sync>, options: Options) -> Self {
        Desk { source, options, last: Mutex::new(None) }
    }

    /// A desk that answers from what is indexed already, marked stale where that is not all.
    pub fn stale(&self) -> Desk {
        Desk::new(Arc::new(Stale(Arc::clone(&self.source))), self.options.clone())
    }

    /// The atlas to answer from: the tree as it is now, or, where `fresh` is explicitly false,
    /// the one of the last answer if there was any.
    ///
    /// # Errors
    /// As [`AtlasSource::fresh`].
    pub fn atlas(&self, given: &Given) -> Result<Arc<Atlas>> {
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let (Some(false), Some(atlas)) = (given.flag("fresh"), last.as_ref()) {
            return Ok(Arc::clone(atlas));
        }
        let atlas = self.source.fresh()?;
        *last = Some(Arc::clone(&atlas));
        Ok(atlas)
    }
}

/// A source whose tree of now is what of it is indexed.
struct Stale(Arc<dyn AtlasSource + Send + Sync>);

impl AtlasSource for Stale {
    fn fresh(&self) -> Result<Arc<Atlas>> {
        self.0.indexed()
    }

    fn root(&self) -> Option<std::path::PathBuf> {
        self.0.root()
    }

    fn at(&self, revision: &str) -> Result<Arc<Atlas>> {
        let what = format!("`{}` waits for the index that is being made", sanitize::line(revision, 80));
        Err(Error::new(ErrorKind::CannotAnswer, what).hint("ask again in a while: the work goes on"))
    }

    fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        self.0.merge_base(one, other)
    }

    fn read(&self, atlas: &Atlas, path: &RepoPath) -> Result<Vec<u8>> {
        self.0.read(atlas, path)
    }

    fn store(&self) -> Option<StoreFigures> {
        self.0.store()
    }
}

/// An answer in both forms.
#[derive(Clone, Debug)]
pub struct Answer {
    pub headline: Headline,
    /// The ceiling of the text form, in tokens.
    pub budget: usize,
    /// The text below the header line, without line ends.
    pub lines: Vec<String>,
    /// The fields of the JSON form, below its header fields.
    pub data: Vec<(&'static str, Value)>,
}

impl Answer {
    /// An answer from `atlas` with nothing in it yet.
    pub fn new(atlas: &Atlas, budget: usize) -> Self {
        let header = &atlas.header;
        let mut view = header.repository.clone();
        if let Some(commit) = &header.commit {
            view.push('@');
            view.push_str(commit.get(..10).unwrap_or(commit));
        }
        if header.n_dirty > 0 {
            view.push_str(&format!(" +{} dirty", header.n_dirty));
        }
        let headline = Headline { view, n_pending: header.n_pending, shown: None };
        Answer { headline, budget, lines: Vec::new(), data: Vec::new() }
    }

    /// Sets "n of total" of the header line.
    pub fn shown(&mut self, n: usize, total: usize, noun: &'static str) {
        self.headline.shown = Some(Shown { n, total, noun });
    }

    /// Adds a line of text, already sanitized.
    pub fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a field of the JSON form.
    pub fn field(&mut self, name: &'static str, value: impl Into<Value>) {
        self.data.push((name, value.into()));
    }

    /// The text form: header line and body within the budget, ended by a line end.
    pub fn text(&self) -> String {
        text::compose(&self.headline, &self.lines, self.budget)
    }

    /// The JSON form: view, stale flag, counts, then the fields.
    pub fn json(&self) -> Value {
        let mut whole = json::object([
            ("view", self.headline.view.clone().into()),
            ("stale", (self.headline.n_pending > 0).into()),
            ("pending", self.headline.n_pending.into()),
        ]);
        if let Value::Object(fields) = &mut whole {
            if let Some(shown) = &self.headline.shown {
                fields.insert("shown".to_owned(), shown.n.into());
                fields.insert("total".to_owned(), shown.total.into());
            }
            for (name, value) in &self.data {
                fields.insert((*name).to_owned(), value.clone());
            }
        }
        whole
    }
}
