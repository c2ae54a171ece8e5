//! Configuration: `ratlas.toml`, the user's file and the environment become the rooms' options.
//!
//! Strict: an unknown key is an error with a suggestion and its line. Order, first wins: flags,
//! environment, user file, repository file, defaults. What concerns trust is not the
//! repository's to decide: its file may place the store only inside of itself, and may add to
//! what is never indexed but not take away.

mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::dialect::LanguageName;
use crate::base::error::{Error, ErrorKind, Result};
use crate::impact::policy::{self, Policy};
use crate::index::select::{MAX_FILE_BYTES, SelectOptions};
use crate::rank::files;
use crate::report::pack::Gains;
use crate::tools::tool;

/// The name of the repository's file.
pub const FILE_NAME: &str = "ratlas.toml";

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Texts(Vec<String>),
    Integer(u64),
    Number(f64),
    /// Tables of `when` and `tests`, globs both.
    Map(Vec<policy::MapRule>),
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Texts,
    Languages,
    Policy,
    Map,
    Integer { min: u64, max: u64 },
    Number { max: f64 },
}

/// A key that acts.
struct Key {
    name: &'static str,
    kind: Kind,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

/// PRODUCT.md §10's pause of a watch.
const DEBOUNCE_MS: u64 = 300;

const TOKENS: Kind = Kind::Integer { min: 64, max: 1_000_000 };

/// Every key that acts, sorted by name.
const KEYS: &[Key] = &[
    key("budget.default_context_tokens", TOKENS),
    key("budget.default_map_tokens", TOKENS),
    key("budget.freshness_ms", Kind::Integer { min: 0, max: 600_000 }),
    key("budget.max_tokens", TOKENS),
    key("impact.always_run", Kind::Texts),
    key("impact.map", Kind::Map),
    key("impact.max_changed_files", Kind::Integer { min: 1, max: 1_000_000 }),
    key("impact.max_ratio", Kind::Number { max: 1.0 }),
    key("impact.never_run", Kind::Texts),
    key("impact.policy", Kind::Policy),
    key("impact.run_all", Kind::Texts),
    key("index.exclude", Kind::Texts),
    key("index.include", Kind::Texts),
    key("index.languages", Kind::Languages),
    key("index.max_file_bytes", Kind::Integer { min: 1, max: 100_000_000 }),
    key("index.source_roots", Kind::Texts),
    key("index.tests", Kind::Texts),
    key("privacy.never_index", Kind::Texts),
    key("privacy.redact_patterns", Kind::Texts),
    key("rank.alpha", Kind::Number { max: 1.0 }),
    key("rank.mix.churn", Kind::Number { max: 100.0 }),
    key("rank.mix.commits", Kind::Number { max: 100.0 }),
    key("rank.mix.definitions", Kind::Number { max: 100.0 }),
    key("rank.mix.dirty", Kind::Number { max: 100.0 }),
    key("rank.mix.importance", Kind::Number { max: 100.0 }),
    key("rank.mix.named", Kind::Number { max: 100.0 }),
    key("rank.mix.nearness", Kind::Number { max: 100.0 }),
    key("rank.mix.secondary", Kind::Number { max: 1.0 }),
    key("rank.mix.together", Kind::Number { max: 100.0 }),
    key("rank.mix.words", Kind::Number { max: 100.0 }),
    key("rank.pack.callers", Kind::Number { max: 100.0 }),
    key("rank.pack.calls", Kind::Number { max: 100.0 }),
    key("rank.pack.docs", Kind::Number { max: 100.0 }),
    key("rank.pack.focus", Kind::Number { max: 100.0 }),
    key("rank.pack.matches", Kind::Number { max: 100.0 }),
    key("rank.pack.path", Kind::Number { max: 100.0 }),
    key("rank.pack.surface", Kind::Number { max: 100.0 }),
    key("rank.reverse_edge_weight", Kind::Number { max: 100.0 }),
    key("rank.weights.calls", Kind::Number { max: 100.0 }),
    key("rank.weights.extends", Kind::Number { max: 100.0 }),
    key("rank.weights.imports", Kind::Number { max: 100.0 }),
    key("rank.weights.references", Kind::Number { max: 100.0 }),
    key("rank.weights.tests", Kind::Number { max: 100.0 }),
    key("remote.namespace", Kind::Text),
    key("remote.url", Kind::Text),
    key("required_version", Kind::Text),
    key("resolve.confidence_floor", Kind::Number { max: 1.0 }),
    key("resolve.scip", Kind::Texts),
    key("store.max_bytes", Kind::Integer { min: 0, max: 1 << 50 }),
    key("store.path", Kind::Text),
    key("trust.keys", Kind::Texts),
    key("watch.debounce_ms", Kind::Integer { min: 0, max: 60_000 }),
];

/// Sections of keys that only the user may set: naming them in a repository's file is refused.
const USER_SECTIONS: &[&str] = &["server", "trust", "credentials"];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// The repository's file.
    Repository,
    /// The file given by `--config`, in the place of the repository's.
    Given,
    /// The user's file.
    User,
    /// An environment variable.
    Environment(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Repository => f.write_str(FILE_NAME),
            Origin::Given => f.write_str("--config"),
            Origin::User => f.write_str("user file"),
            Origin::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// The values that are set, with their origins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    set: BTreeMap<&'static str, (Value, Origin)>,
}

/// The texts a configuration is read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The repository's file, or the one given in its place.
    pub repository: Option<String>,
    /// Whether `repository` was given by the user.
    pub given: bool,
    pub user: Option<String>,
    /// Variables by name; those that name no key are passed over.
    pub environment: Vec<(String, String)>,
}

impl Config {
    /// Reads all sources and lays them over each other.
    ///
    /// # Errors
    /// `Config` for text that is no TOML, an unknown key (with its line and the nearest key), a
    /// value of another type or out of bounds, a key that is not the repository's to set.
    pub fn read(sources: &Sources) -> Result<Self> {
        let mut config = Config::default();
        if let Some(text) = &sources.repository {
            let origin = if sources.given { Origin::Given } else { Origin::Repository };
            config.lay(text, &origin)?;
        }
        if let Some(text) = &sources.user {
            config.lay(text, &Origin::User)?;
        }
        for (name, text) in &sources.environment {
            config.lay_variable(name, text)?;
        }
        Ok(config)
    }

    fn lay(&mut self, text: &str, origin: &Origin) -> Result<()> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            Error::new(ErrorKind::Config, format!("{origin} line {line} is no TOML: {}", error.message()))
                .hint("`ratlas config show` lists the keys and their values")
        })?;
        let mut found = Vec::new();
        flatten(table.get_ref(), "", &mut found);
        for (name, span, value) in found {
            let line = line_of(text, span);
            let place = format!("{origin} line {line}");
            let section = name.split('.').next().unwrap_or(&name);
            if *origin == Origin::Repository && USER_SECTIONS.contains(&section) {
                return Err(Error::new(ErrorKind::Config, format!("{place}: `{name}` is not the repository's to set"))
                    .hint("set it in your own file, ~/.config/ratlas/config.toml"));
            }
            let key = find_key(&name, &place)?;
            let value = check(key, value, &place)?;
            self.put(key, value, origin, &place)?;
        }
        Ok(())
    }

    /// `RATLAS_STORE` is `store.path`; else `RATLAS_` and the key with `_` for `.`; lists are
    /// separated by commas.
    fn lay_variable(&mut self, name: &str, text: &str) -> Result<()> {
        let key = KEYS.iter().find(|key| {
            let long = format!("RATLAS_{}", key.name.replace('.', "_").to_uppercase());
            name == long || (name == "RATLAS_STORE" && key.name == "store.path")
        });
        let Some(key) = key.filter(|_| !text.is_empty()) else { return Ok(()) };
        let raw = match key.kind {
            Kind::Text | Kind::Policy | Kind::Map => Raw::Text(text.to_owned()),
            Kind::Texts | Kind::Languages => Raw::Texts(text.split(',').map(|item| item.trim().to_owned()).collect()),
            Kind::Integer { .. } | Kind::Number { .. } => {
                text.parse().map_or_else(|_| Raw::Text(text.to_owned()), Raw::Number)
            }
        };
        let value = check(key, raw, name)?;
        self.put(key, value, &Origin::Environment(name.to_owned()), name)
    }

    fn put(&mut self, key: &Key, mut value: Value, origin: &Origin, place: &str) -> Result<()> {
        if let ("store.path", Origin::Repository, Value::Text(path)) = (key.name, origin, &value) {
            let path = Path::new(path);
            if path.is_absolute() || path.components().any(|part| part.as_os_str() == "..") {
                let what = format!("{place}: `store.path` leads out of the repository");
                return Err(Error::new(ErrorKind::Config, what)
                    .hint("a repository may place the store only inside of itself; set RATLAS_STORE for elsewhere"));
            }
        }
        if key.name == "remote.namespace" && *origin == Origin::Repository {
            let what = format!("{place}: `remote.namespace` is not the repository's to set");
            return Err(Error::new(ErrorKind::Config, what)
                .hint("whose facts are believed is yours to say: ~/.config/ratlas/config.toml"));
        }
        if let ("required_version", Value::Text(wanted)) = (key.name, &value) {
            version::check(wanted, env!("CARGO_PKG_VERSION"), place)?;
        }
        if matches!(key.name, "index.source_roots" | "index.tests") && *origin != Origin::Repository {
            let what = format!("{place}: `{}` is the tree's own to say", key.name);
            return Err(Error::new(ErrorKind::Config, what)
                .hint("set it in the repository's ratlas.toml: links and tests are a function of the tree"));
        }
        if let ("resolve.scip", Origin::Repository, Value::Texts(paths)) = (key.name, origin, &value) {
            let leads_out = |path: &String| {
                let path = Path::new(path);
                path.is_absolute() || path.components().any(|part| part.as_os_str() == "..")
            };
            if paths.iter().any(leads_out) {
                let what = format!("{place}: `resolve.scip` leads out of the repository");
                return Err(Error::new(ErrorKind::Config, what)
                    .hint("a repository may name SCIP files inside of itself only; take others with `ratlas index --scip FILE`"));
            }
        }
        if let ("privacy.never_index" | "privacy.redact_patterns", Value::Texts(added)) = (key.name, &mut value)
            && let Some((Value::Texts(before), _)) = self.set.get(key.name)
        {
            let mut all = before.clone();
            all.append(added);
            *added = all;
        }
        self.set.insert(key.name, (value, origin.clone()));
        Ok(())
    }

    /// Every key with its value and origin, sorted by name.
    pub fn rows(&self) -> Vec<(&'static str, Value, Origin)> {
        KEYS.iter()
            .map(|key| match self.set.get(key.name) {
                Some((value, origin)) => (key.name, value.clone(), origin.clone()),
                None => (key.name, default_of(key.name), Origin::Default),
            })
            .collect()
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.set.get(name) {
            Some((Value::Number(n), _)) => Some(*n),
            Some((Value::Integer(n), _)) => Some(*n as f64),
            _ => None,
        }
    }

    fn integer(&self, name: &str) -> Option<u64> {
        match self.set.get(name) {
            Some((Value::Integer(n), _)) => Some(*n),
            _ => None,
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        match self.set.get(name) {
            Some((Value::Texts(texts), _)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    /// The folder of the store where one is set; relative to `root` when from its file.
    pub fn store_path(&self, root: &Path) -> Option<PathBuf> {
        match self.set.get("store.path") {
            Some((Value::Text(path), Origin::Repository)) => Some(root.join(path)),
            Some((Value::Text(path), _)) => Some(PathBuf::from(path)),
            _ => None,
        }
    }

    /// How long a watch waits for the disk to be quiet.
    pub fn debounce(&self) -> Duration {
        Duration::from_millis(self.integer("watch.debounce_ms").unwrap_or(DEBOUNCE_MS))
    }

    /// The size that `gc` keeps the store below; `None` for no cap.
    pub fn store_max_bytes(&self) -> Option<u64> {
        self.integer("store.max_bytes").filter(|max| *max > 0)
    }

    /// The address of the remote, and whether the repository's own file names it: then the user
    /// has to agree to it first.
    pub fn remote_url(&self) -> Option<(String, bool)> {
        match self.set.get("remote.url") {
            Some((Value::Text(url), origin)) if !url.is_empty() => Some((url.clone(), *origin == Origin::Repository)),
            _ => None,
        }
    }

    /// The namespace of a remote that is the user's own.
    pub fn remote_namespace(&self) -> Option<String> {
        match self.set.get("remote.namespace") {
            Some((Value::Text(name), _)) if !name.is_empty() => Some(name.clone()),
            _ => None,
        }
    }

    /// The minisign keys whose signature is required of a remote; none, when signatures are not.
    pub fn trusted_keys(&self) -> Vec<String> {
        self.texts("trust.keys")
    }

    /// SCIP files whose answers linking takes; relative ones lie below `root`.
    pub fn scip(&self, root: &Path) -> Vec<PathBuf> {
        self.texts("resolve.scip").iter().map(|path| root.join(path)).collect()
    }

    /// Patterns to redact beside the built-in ones.
    pub fn redact_patterns(&self) -> Vec<String> {
        self.texts("privacy.redact_patterns")
    }

    /// The options of selection.
    pub fn select(&self) -> SelectOptions {
        SelectOptions {
            include: self.texts("index.include"),
            exclude: self.texts("index.exclude"),
            languages: self.texts("index.languages").iter().filter_map(|name| language(name)).collect(),
            max_file_bytes: self.integer("index.max_file_bytes").unwrap_or(MAX_FILE_BYTES),
            never_index: self.texts("privacy.never_index"),
        }
    }

    /// The options of the tools, ranking included.
    pub fn tools(&self) -> tool::Options {
        let base = tool::Options::default();
        let tokens =
            |name: &str, default: usize| self.integer(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(default);
        let rank = files::Options::default();
        let floor = self.number("resolve.confidence_floor").unwrap_or(base.confidence_floor);
        tool::Options {
            default_map_tokens: tokens("budget.default_map_tokens", base.default_map_tokens),
            default_context_tokens: tokens("budget.default_context_tokens", base.default_context_tokens),
            max_tokens: tokens("budget.max_tokens", base.max_tokens),
            freshness: self.integer("budget.freshness_ms").map_or(base.freshness, Duration::from_millis),
            confidence_floor: floor,
            rank: files::Options {
                alpha: self.number("rank.alpha").unwrap_or(rank.alpha),
                extends: self.number("rank.weights.extends").unwrap_or(rank.extends),
                calls: self.number("rank.weights.calls").unwrap_or(rank.calls),
                references: self.number("rank.weights.references").unwrap_or(rank.references),
                imports: self.number("rank.weights.imports").unwrap_or(rank.imports),
                tests: self.number("rank.weights.tests").unwrap_or(rank.tests),
                reverse_edge_weight: self.number("rank.reverse_edge_weight").unwrap_or(rank.reverse_edge_weight),
                min_confidence: floor,
                mix: self.mix(rank.mix),
                pack: self.gains(rank.pack),
            },
            impact: self.impact(),
        }
    }

    fn mix(&self, base: files::Mix) -> files::Mix {
        let number = |name: &str, default: f64| self.number(&format!("rank.mix.{name}")).unwrap_or(default);
        files::Mix {
            churn: number("churn", base.churn),
            commits: number("commits", base.commits),
            definitions: number("definitions", base.definitions),
            dirty: number("dirty", base.dirty),
            importance: number("importance", base.importance),
            named: number("named", base.named),
            nearness: number("nearness", base.nearness),
            secondary: number("secondary", base.secondary),
            together: number("together", base.together),
            words: number("words", base.words),
        }
    }

    fn gains(&self, base: Gains) -> Gains {
        let number = |name: &str, default: f64| self.number(&format!("rank.pack.{name}")).unwrap_or(default);
        Gains {
            callers: number("callers", base.callers),
            calls: number("calls", base.calls),
            docs: number("docs", base.docs),
            focus: number("focus", base.focus),
            matches: number("matches", base.matches),
            path: number("path", base.path),
            surface: number("surface", base.surface),
        }
    }

    /// The rules of selection.
    pub fn impact(&self) -> policy::Options {
        policy::Options {
            policy: match self.set.get("impact.policy") {
                Some((Value::Text(name), _)) => Policy::parse(name).unwrap_or_default(),
                _ => Policy::default(),
            },
            run_all: self.texts("impact.run_all"),
            always_run: self.texts("impact.always_run"),
            map: match self.set.get("impact.map") {
                Some((Value::Map(rules), _)) => rules.clone(),
                _ => Vec::new(),
            },
            never_run: self.texts("impact.never_run"),
            max_changed_files: self.integer("impact.max_changed_files").and_then(|n| usize::try_from(n).ok()),
            max_ratio: self.number("impact.max_ratio"),
            ..policy::Options::default()
        }
    }
}

fn default_of(name: &str) -> Value {
    let tools = tool::Options::default();
    let rank = files::Options::default();
    match name {
        "budget.default_context_tokens" => Value::Integer(tools.default_context_tokens as u64),
        "budget.default_map_tokens" => Value::Integer(tools.default_map_tokens as u64),
        "budget.freshness_ms" => Value::Integer(tools.freshness.as_millis() as u64),
        "budget.max_tokens" => Value::Integer(tools.max_tokens as u64),
        "impact.max_changed_files" => Value::Integer(1_000_000),
        "impact.map" => Value::Map(Vec::new()),
        "impact.max_ratio" => Value::Number(1.0),
        "impact.policy" => Value::Text(Policy::default().as_str().to_owned()),
        "index.max_file_bytes" => Value::Integer(MAX_FILE_BYTES),
        "rank.alpha" => Value::Number(rank.alpha),
        "rank.mix.churn" => Value::Number(rank.mix.churn),
        "rank.mix.commits" => Value::Number(rank.mix.commits),
        "rank.mix.definitions" => Value::Number(rank.mix.definitions),
        "rank.mix.dirty" => Value::Number(rank.mix.dirty),
        "rank.mix.importance" => Value::Number(rank.mix.importance),
        "rank.mix.named" => Value::Number(rank.mix.named),
        "rank.mix.nearness" => Value::Number(rank.mix.nearness),
        "rank.mix.secondary" => Value::Number(rank.mix.secondary),
        "rank.mix.together" => Value::Number(rank.mix.together),
        "rank.mix.words" => Value::Number(rank.mix.words),
        "rank.pack.callers" => Value::Number(rank.pack.callers),
        "rank.pack.calls" => Value::Number(rank.pack.calls),
        "rank.pack.docs" => Value::Number(rank.pack.docs),
        "rank.pack.focus" => Value::Number(rank.pack.focus),
        "rank.pack.matches" => Value::Number(rank.pack.matches),
        "rank.pack.path" => Value::Number(rank.pack.path),
        "rank.pack.surface" => Value::Number(rank.pack.surface),
        "rank.reverse_edge_weight" => Value::Number(rank.reverse_edge_weight),
        "rank.weights.calls" => Value::Number(rank.calls),
        "rank.weights.extends" => Value::Number(rank.extends),
        "rank.weights.imports" => Value::Number(rank.imports),
        "rank.weights.references" => Value::Number(rank.references),
        "rank.weights.tests" => Value::Number(rank.tests),
        "resolve.confidence_floor" => Value::Number(tools.confidence_floor),
        "store.max_bytes" => Value::Integer(0),
        "watch.debounce_ms" => Value::Integer(DEBOUNCE_MS),
        "remote.namespace" | "remote.url" | "required_version" | "store.path" => Value::Text(String::new()),
        _ => Value::Texts(Vec::new()),
    }
}

fn language(name: &str) -> Option<LanguageName> {
    [LanguageName::Python, LanguageName::TypeScript, LanguageName::JavaScript, LanguageName::Java]
        .into_iter()
        .find(|language| language.as_str() == name)
}

/// A value as it was read, before it is held against its key.
enum Raw {
    Text(String),
    Texts(Vec<String>),
    Map(Vec<policy::MapRule>),
    Number(f64),
    Other,
}

fn flatten(table: &DeTable<'_>, prefix: &str, found: &mut Vec<(String, usize, Raw)>) {
    for (key, value) in table.iter() {
        let name = if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) if !KEYS.iter().any(|key| key.name == name) => {
                if inner.is_empty() && !KEYS.iter().any(|key| key.name.starts_with(&format!("{name}."))) {
                    found.push((name, key.span().start, Raw::Other));
                } else {
                    flatten(inner, &name, found);
                }
            }
            other => found.push((name, key.span().start, raw(other))),
        }
    }
    found.sort_by_key(|(_, start, _)| *start);
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).map_or(Raw::Other, |n| Raw::Number(n as f64)),
        DeValue::Float(n) => n.as_str().parse().map_or(Raw::Other, Raw::Number),
        DeValue::Array(items) => {
            let texts: Option<Vec<String>> =
                items.iter().map(Spanned::get_ref).map(|item| item.as_str().map(str::to_owned)).collect();
            let rules: Option<Vec<policy::MapRule>> = items.iter().map(|item| map_rule(item.get_ref())).collect();
            match (texts, rules) {
                (Some(texts), _) => Raw::Texts(texts),
                (None, Some(rules)) => Raw::Map(rules),
                (None, None) => Raw::Other,
            }
        }
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => Raw::Other,
    }
}

/// A table of `when` and `tests`, each a text or a list of texts, and nothing else.
fn map_rule(value: &DeValue<'_>) -> Option<policy::MapRule> {
    let DeValue::Table(table) = value else { return None };
    let list = |name: &str| -> Option<Vec<String>> {
        match raw(table.get(name)?.get_ref()) {
            Raw::Text(text) => Some(vec![text]),
            Raw::Texts(texts) => Some(texts),
            Raw::Map(_) | Raw::Number(_) | Raw::Other => None,
        }
    };
    let rule = policy::MapRule { when: list("when")?, tests: list("tests")? };
    (table.len() == 2).then_some(rule)
}

fn check(key: &Key, raw: Raw, place: &str) -> Result<Value> {
    let (expected, value) = match (key.kind, raw) {
        (Kind::Text, Raw::Text(text)) => ("", Some(Value::Text(text))),
        (Kind::Text, _) => ("a text", None),
        (Kind::Texts, Raw::Texts(texts)) => {
            globs_parse(key, &texts, place)?;
            ("", Some(Value::Texts(texts)))
        }
        (Kind::Map, Raw::Map(rules)) => {
            for rule in &rules {
                globs_parse(key, &rule.when, place)?;
                globs_parse(key, &rule.tests, place)?;
            }
            ("", Some(Value::Map(rules)))
        }
        // An empty list is one of either kind.
        (Kind::Map, Raw::Texts(texts)) if texts.is_empty() => ("", Some(Value::Map(Vec::new()))),
        (Kind::Map, _) => ("a list of tables with `when` and `tests`", None),
        (Kind::Texts, _) => ("a list of texts", None),
        (Kind::Languages, Raw::Texts(texts)) if texts.iter().all(|name| language(name).is_some()) => {
            ("", Some(Value::Texts(texts)))
        }
        (Kind::Policy, Raw::Text(text)) if Policy::parse(&text).is_some() => ("", Some(Value::Text(text))),
        (Kind::Policy, _) => ("one of `safe`, `precise`, `file`", None),
        (Kind::Languages, _) => ("a list of `python`, `typescript`, `javascript`, `java`", None),
        (Kind::Integer { min, max }, Raw::Number(n)) if n.fract() == 0.0 && n >= min as f64 && n <= max as f64 => {
            ("", Some(Value::Integer(n as u64)))
        }
        (Kind::Integer { min, max }, _) => {
            let what = format!("{place}: `{}` is no whole number from {min} to {max}", key.name);
            return Err(Error::new(ErrorKind::Config, what).hint("`ratlas config show` prints the value in force"));
        }
        (Kind::Number { max }, Raw::Number(n)) if (0.0..=max).contains(&n) => ("", Some(Value::Number(n))),
        (Kind::Number { max }, _) => {
            let what = format!("{place}: `{}` is no number from 0 to {max}", key.name);
            return Err(Error::new(ErrorKind::Config, what).hint("`ratlas config show` prints the value in force"));
        }
    };
    value.ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("{place}: `{}` is not {expected}", key.name))
            .hint("`ratlas config show` prints the value in force")
    })
}

/// A rule of selection that matches nothing because it is misspelled would be a hole in the gate.
fn globs_parse(key: &Key, patterns: &[String], place: &str) -> Result<()> {
    let bad = patterns
        .iter()
        .find(|pattern| !policy::is_glob(pattern))
        .filter(|_| key.name.starts_with("impact.") || key.name == "index.tests");
    match bad {
        Some(pattern) => {
            Err(Error::new(ErrorKind::Config, format!("{place}: `{pattern}` of `{}` is no glob", key.name))
                .hint("globs are like `tests/db/**` or `*.{sql,json}`"))
        }
        None => Ok(()),
    }
}

fn find_key(name: &str, place: &str) -> Result<&'static Key> {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let nearness = |key: &&Key| {
        let own = key.name.rsplit('.').next().unwrap_or(key.name);
        (strsim::jaro_winkler(name, key.name).max(strsim::jaro_winkler(last, own)) * 1e6) as u64
    };
    let error = Error::new(ErrorKind::Config, format!("{place}: unknown key `{name}`"));
    Err(match KEYS.iter().max_by_key(|key| nearness(key)).filter(|key| nearness(key) > 820_000) {
        Some(near) => error.hint(format!("did you mean `{}`?", near.name)),
        None => error.hint("`ratlas config show` lists the keys"),
    })
}

/// The 1-based line of a byte.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::{Config, Origin, Sources, Value};

    fn repository(text: &str) -> Result<Config, String> {
        let sources = Sources { repository: Some(text.to_owned()), ..Sources::default() };
        Config::read(&sources).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest() {
        let error = repository("[budget]\nmax_tokens = 900\n\n[index]\nexlude = [\"a\"]\n").unwrap_err();
        assert_eq!(
            error,
            "error[RAT003]: ratlas.toml line 5: unknown key `index.exlude`\nhelp: did you mean `index.exclude`?"
        );
    }

    #[test]
    fn what_is_the_users_is_refused_from_the_repository() {
        let error = repository("[trust]\nkeys = [\"RW\"]\n").unwrap_err();
        assert!(error.contains("`trust.keys` is not the repository's to set"), "{error}");
        for path in ["/tmp/x", "../x"] {
            assert!(repository(&format!("[store]\npath = \"{path}\"")).unwrap_err().contains("leads out"));
        }
        assert!(repository("[store]\npath = \".ratlas\"").is_ok());
    }

    #[test]
    fn values_are_held_against_their_type() {
        for bad in [
            "[index]\nexclude = \"a\"",
            "[rank]\nalpha = 1.5",
            "[budget]\nmax_tokens = -1",
            "[index]\nlanguages = [\"go\"]",
        ] {
            assert!(repository(bad).unwrap_err().starts_with("error[RAT003]: ratlas.toml line 2"), "{bad}");
        }
        assert!(repository("[index\n").unwrap_err().contains("line 1 is no TOML"));
    }

    #[test]
    fn the_environment_wins_over_the_user_over_the_repository() {
        let config = Config::read(&Sources {
            repository: Some(
                "[budget]\nmax_tokens = 900\ndefault_map_tokens = 700\n[privacy]\nnever_index = [\"a\"]".into(),
            ),
            user: Some("[budget]\nmax_tokens = 800\ndefault_map_tokens = 600\n[privacy]\nnever_index = [\"b\"]".into()),
            environment: vec![("RATLAS_BUDGET_MAX_TOKENS".into(), "1000".into()), ("RATLAS_LOG".into(), "x".into())],
            given: false,
        })
        .unwrap();
        assert_eq!(config.tools().max_tokens, 1000);
        assert_eq!(config.tools().default_map_tokens, 600);
        assert_eq!(config.select().never_index, ["a", "b"]);
        let row = config.rows().into_iter().find(|(name, _, _)| *name == "budget.max_tokens").unwrap();
        assert_eq!(
            row,
            ("budget.max_tokens", Value::Integer(1000), Origin::Environment("RATLAS_BUDGET_MAX_TOKENS".into()))
        );
    }
}
