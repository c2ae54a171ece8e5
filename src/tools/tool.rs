//! What a tool must be, and the desk it is asked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::atlas::{Atlas, AtlasSource, StoreFigures};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;
use crate::extract::redact::Redactor;
use crate::facts::model::FileFacts;
use crate::git::log::{Log, Version};
use crate::impact::policy;
use crate::rank::files;
use crate::rank::ranking::Ranking;
use crate::report::text::{Composed, Headline, Shown};
use crate::report::{json, sanitize, text};
use crate::tools::meter;
use crate::tools::param::{Asker, Given, Param};
use crate::tools::ranked::Ranked;
use crate::view::{FileIdx, View};

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
    ranked: Mutex<Option<Arc<Ranked>>>,
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
    /// How long a client's question waits for the tree as it is now where there is one of before to
    /// answer from.
    pub freshness: Duration,
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
            freshness: Duration::from_secs(2),
            confidence_floor: 0.15,
            rank: files::Options::default(),
            impact: policy::Options::default(),
        }
    }
}

impl Desk {
    /// A desk that answers from `source`.
    pub fn new(source: Arc<dyn AtlasSource + Send + Sync>, options: Options) -> Self {
        Desk { source, options, last: Mutex::default(), ranked: Mutex::default() }
    }

    /// A desk that answers from the tree of the last answer, else from what is indexed already;
    /// marked stale where that is not all.
    pub fn stale(&self) -> Desk {
        let held = self.last().clone();
        Desk::new(Arc::new(Stale { source: Arc::clone(&self.source), held }), self.options.clone())
    }

    fn last(&self) -> MutexGuard<'_, Option<Arc<Atlas>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The atlas to answer from: the tree as it is now, or, where `fresh` is explicitly false,
    /// the one of the last answer if there was any. A client does not wait longer for it than
    /// `freshness` where there was one: it is answered from that, with the count of what is other.
    ///
    /// # Errors
    /// As [`AtlasSource::fresh`].
    pub fn atlas(&self, given: &Given) -> Result<Arc<Atlas>> {
        if let (Some(false), Some(atlas)) = (given.flag("fresh"), self.last().as_ref()) {
            return Ok(Arc::clone(atlas));
        }
        // Not held while the tree is looked at: who cannot wait asks for the last one meanwhile.
        let started = Instant::now();
        let held = self.last().clone().filter(|_| given.is_client && given.flag("fresh") != Some(true));
        let atlas = match &held {
            None => self.source.fresh()?,
            Some(held) => match self.fresh_within(self.options.freshness)? {
                Some(atlas) => atlas,
                None => {
                    self.source.count(&meter::Sums::from([("ratlas_freshness_timeouts_total".to_owned(), 1.0)]));
                    return self.source.held(held);
                }
            },
        };
        let mut last = self.last();
        if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &atlas)) {
            let mut sums = meter::Sums::from([("ratlas_generation_total".to_owned(), 1.0)]);
            meter::put_duration(&mut sums, "ratlas_refresh_seconds", "", started.elapsed());
            self.source.count(&sums);
        }
        *last = Some(Arc::clone(&atlas));
        Ok(atlas)
    }

    /// The tree as it is now, where it is had in time; the work on it goes on, and the next
    /// question finds it.
    fn fresh_within(&self, time: Duration) -> Result<Option<Arc<Atlas>>> {
        let (send, receive) = mpsc::channel();
        let source = Arc::clone(&self.source);
        std::thread::spawn(move || {
            // Nobody listens any more when it took too long.
            let _ = send.send(source.fresh());
        });
        match receive.recv_timeout(time) {
            Ok(atlas) => atlas.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Error::new(ErrorKind::CannotAnswer, "looking at the repository stopped this process's work"))
            }
        }
    }

    /// The ranking of an atlas; kept until another is asked for, whose unchanged files then cost
    /// nothing.
    pub fn ranked(&self, atlas: &Arc<Atlas>, options: &files::Options) -> Arc<Ranked> {
        let mut last = self.ranked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|last| last.is_of(atlas, options)) {
            return Arc::clone(known);
        }
        let ranked = Ranked::new(atlas, options, last.as_deref());
        Arc::clone(last.insert(Arc::new(ranked)))
    }

    /// What ranking for tasks needs of an atlas.
    pub fn ranking(&self, atlas: &Arc<Atlas>, options: &files::Options) -> Arc<Ranking> {
        Arc::clone(self.ranked(atlas, options).ranking(&*self.source))
    }
}

/// What of the tree an answer is to speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// All of it, as it is on disk.
    Fresh,
    /// What is held or indexed already: who asks cannot wait.
    Held,
}

/// Who answers questions: a desk of this process, or another process that has one.
pub trait Answers: Send + Sync {
    /// Answers a tool's question.
    ///
    /// # Errors
    /// `Usage` for arguments that do not fit, else as the tool.
    fn answer(&self, tool: &'static Tool, raw: &Map<String, Value>, asker: Asker, now: Now) -> Result<Rendered>;

    /// The tree as it is now, for who completes names.
    ///
    /// # Errors
    /// As [`AtlasSource::fresh`].
    fn atlas(&self) -> Result<Arc<Atlas>>;

    /// Whether there is a tree to answer from without a wait.
    fn is_warm(&self) -> bool;

    /// Makes ready for edits and processes to come, at leisure.
    fn prepare(&self);
}

impl Answers for Desk {
    fn answer(&self, tool: &'static Tool, raw: &Map<String, Value>, asker: Asker, now: Now) -> Result<Rendered> {
        let given = Given::read(tool.name, tool.params, raw, asker)?.within(self.source.root().as_deref());
        let answer = match now {
            Now::Fresh => meter::ask(self, tool, &given),
            Now::Held => meter::ask(&self.stale(), tool, &given),
        };
        Ok(answer?.rendered())
    }

    fn atlas(&self) -> Result<Arc<Atlas>> {
        self.atlas(&Given::default())
    }

    fn is_warm(&self) -> bool {
        self.last().is_some()
    }

    fn prepare(&self) {
        self.source.prepare();
    }
}

/// A source whose tree of now is what is held of it, else what is indexed.
struct Stale {
    source: Arc<dyn AtlasSource + Send + Sync>,
    held: Option<Arc<Atlas>>,
}

impl AtlasSource for Stale {
    fn fresh(&self) -> Result<Arc<Atlas>> {
        match &self.held {
            Some(held) => self.source.held(held),
            None => self.source.indexed(),
        }
    }

    fn root(&self) -> Option<std::path::PathBuf> {
        self.source.root()
    }

    fn at(&self, revision: &str) -> Result<Arc<Atlas>> {
        let what = format!("`{}` waits for the index that is being made", sanitize::line(revision, 80));
        Err(Error::new(ErrorKind::CannotAnswer, what).hint("ask again in a while: the work goes on"))
    }

    fn staged(&self) -> Result<Arc<Atlas>> {
        self.at("STAGED")
    }

    fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        self.source.merge_base(one, other)
    }

    fn read(&self, atlas: &Atlas, path: &RepoPath) -> Result<Vec<u8>> {
        self.source.read(atlas, path)
    }

    fn committed(&self, atlas: &Atlas, path: &RepoPath) -> Result<Option<Arc<FileFacts>>> {
        self.source.committed(atlas, path)
    }

    fn redactor(&self) -> &Redactor {
        self.source.redactor()
    }

    fn log(&self, atlas: &Atlas) -> Result<Arc<Log>> {
        self.source.log(atlas)
    }

    fn version(&self, commit: &str, path: &RepoPath) -> Result<Version> {
        self.source.version(commit, path)
    }

    fn count(&self, added: &BTreeMap<String, f64>) {
        self.source.count(added);
    }

    fn counters(&self) -> BTreeMap<String, f64> {
        self.source.counters()
    }

    fn store(&self) -> Option<StoreFigures> {
        self.source.store()
    }
}

/// An answer as it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text form, ended by a line end.
    pub text: String,
    /// The JSON form, on one line.
    pub json: String,
}

/// An answer in both forms.
#[derive(Clone, Debug)]
pub struct Answer {
    pub headline: Headline,
    /// The name of the tree, as in [`crate::atlas::Header`].
    pub tree: String,
    /// The ceiling of the text form, in tokens.
    pub budget: usize,
    /// The text below the header line, without line ends.
    pub lines: Vec<String>,
    /// The fields of the JSON form, below its header fields.
    pub data: Vec<(&'static str, Value)>,
    /// Bytes of the files that the answer names: what would be read in its place.
    pub n_bytes_instead: u64,
    /// Both forms, once they were asked for.
    composed: OnceLock<Composed>,
    compact: OnceLock<String>,
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
        let tree = header.tree.clone();
        let headline = Headline { view, n_pending: header.n_pending, shown: None, shape: None };
        Answer {
            headline,
            tree,
            budget,
            lines: Vec::new(),
            data: Vec::new(),
            n_bytes_instead: 0,
            composed: OnceLock::new(),
            compact: OnceLock::new(),
        }
    }

    /// Sets "n of total" of the header line.
    pub fn shown(&mut self, n: usize, total: usize, noun: &'static str) {
        self.headline.shown = Some(Shown { n, total, noun });
    }

    /// Adds a line of text, already sanitized.
    pub fn line(&mut self, line: impl Into<String>) {
        self.composed.take();
        self.lines.push(line.into());
    }

    /// Adds a field of the JSON form.
    pub fn field(&mut self, name: &'static str, value: impl Into<Value>) {
        self.compact.take();
        self.data.push((name, value.into()));
    }

    /// Says which files the answer names, each once.
    pub fn instead_of(&mut self, view: &View, files: impl IntoIterator<Item = FileIdx>) {
        let files: BTreeSet<FileIdx> = files.into_iter().collect();
        self.n_bytes_instead += files.iter().map(|file| u64::from(view.facts(*file).n_bytes)).sum::<u64>();
    }

    /// The text form: header line and body within the budget, ended by a line end.
    pub fn text(&self) -> String {
        self.composed().text.clone()
    }

    /// How many tokens the text form has.
    pub fn n_tokens(&self) -> usize {
        self.composed().n_tokens
    }

    fn composed(&self) -> &Composed {
        self.composed.get_or_init(|| text::compose(&self.headline, &self.lines, self.budget))
    }

    /// The JSON form on one line.
    pub fn compact(&self) -> &str {
        self.compact.get_or_init(|| json::compact(&self.json()))
    }

    /// Both forms as they are printed.
    pub fn rendered(&self) -> Rendered {
        Rendered { text: self.text(), json: self.compact().to_owned() }
    }

    /// The JSON form: view, stale flag, counts, then the fields.
    pub fn json(&self) -> Value {
        let mut whole = json::object([
            ("view", self.headline.view.clone().into()),
            ("stale", (self.headline.n_pending > 0).into()),
            ("pending", self.headline.n_pending.into()),
        ]);
        if let Value::Object(fields) = &mut whole {
            if !self.tree.is_empty() {
                fields.insert("tree".to_owned(), self.tree.clone().into());
            }
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
