//! Measures `get_context` on commits of real clones: how many of the files and definitions that a
//! commit changed does the answer to its message name, within 1k to 8k tokens?
//!
//! `RATLAS_BENCH_TASKS=tasks.json RATLAS_BENCH_CLONES=dir [RATLAS_BENCH_MAPS=maps.json]
//! cargo bench --bench context`, where `tasks.py` and `repo_map.py` write the two files. Beside
//! ratlas it ranks by BM25 over the text of files (rendered as ratlas renders) and by a word search.
//! With `RATLAS_BENCH_TRIALS=trials.json` (an object of names and texts as in `ratlas.toml`) it asks
//! ratlas under each of those settings and nobody else; `RATLAS_BENCH_HALF=tune` takes the older
//! half. With `RATLAS_BENCH_SIGNALS=out.json` it writes the signals of each task's files for `tune.py`.

mod baseline;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::base::error::Result;
use ratlas::base::path::RepoPath;
use ratlas::config::{Config, Sources};
use ratlas::git::log::Log;
use ratlas::rank::order::{self, Hand};
use ratlas::rank::{question, surface};
use ratlas::session::{Session, SessionOptions};
use ratlas::tools::get_context;
use ratlas::tools::param::{Asker, Given};
use ratlas::tools::sheet::Ranked;
use ratlas::tools::tool::{Desk, Options};
use ratlas::view::View;
use serde_json::{Value, json};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BUDGETS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// How many files of a task the signals are written of: gold ones, and the best others.
const N_SIGNALS: usize = 150;

/// A tree of a session that stays.
struct Fixed {
    session: Arc<Session>,
    atlas: Arc<Atlas>,
}

impl AtlasSource for Fixed {
    fn fresh(&self) -> Result<Arc<Atlas>> {
        Ok(Arc::clone(&self.atlas))
    }
    fn at(&self, revision: &str) -> Result<Arc<Atlas>> {
        self.session.at(revision)
    }
    fn merge_base(&self, one: &str, other: &str) -> Result<String> {
        self.session.merge_base(one, other)
    }
    fn read(&self, atlas: &Atlas, path: &RepoPath) -> Result<Vec<u8>> {
        self.session.read(atlas, path)
    }
    fn log(&self, atlas: &Atlas) -> Result<Arc<Log>> {
        self.session.log(atlas)
    }
}

/// A task with its known answer.
pub struct Task {
    repository: String,
    half: String,
    parent: String,
    commit: String,
    text: String,
    /// Changed lines of each file, by path.
    gold: BTreeMap<String, Vec<(u32, u32)>>,
}

/// What an answer names: files, and definitions by file and first line.
#[derive(Default)]
pub struct Named {
    pub files: BTreeSet<String>,
    pub symbols: BTreeSet<(String, u32)>,
}

/// Sums of what answers name, and of recalls: files, definitions.
#[derive(Clone, Copy, Default)]
struct Sum {
    n: usize,
    n_named: usize,
    files: f64,
    symbols: f64,
    n_symbols: usize,
}

type Sums = BTreeMap<(String, String, usize), Sum>;

fn main() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(tasks), Some(clones)) = (variable("RATLAS_BENCH_TASKS"), variable("RATLAS_BENCH_CLONES")) else {
        println!("{}", json!({ "bench": "context", "skipped": "set RATLAS_BENCH_TASKS and RATLAS_BENCH_CLONES" }));
        return;
    };
    let read = |path: &str| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("a readable file")).expect("a JSON file")
    };
    let tasks = tasks_of(&read(&tasks));
    let maps = variable("RATLAS_BENCH_MAPS").map(|path| read(&path)).unwrap_or_default();
    let signals_to = variable("RATLAS_BENCH_SIGNALS");
    let halves: Vec<String> = variable("RATLAS_BENCH_HALF").map_or_else(|| vec!["held".into()], |half| vec![half]);
    let trials: Vec<(String, Options)> = match variable("RATLAS_BENCH_TRIALS") {
        None => vec![("ratlas".to_owned(), Options::default())],
        Some(path) => trials_of(&read(&path)),
    };
    let is_trial = variable("RATLAS_BENCH_TRIALS").is_some();
    let store = tempfile::tempdir().expect("a temporary folder");
    let mut sessions: BTreeMap<String, Arc<Session>> = BTreeMap::new();
    let mut sums = Sums::new();
    let mut signals = Vec::new();
    let mut known = HashMap::new();
    for task in tasks.iter().filter(|task| signals_to.is_some() || halves.contains(&task.half)) {
        let session = sessions.entry(task.repository.clone()).or_insert_with(|| {
            let options =
                SessionOptions { store: Some(store.path().join(&task.repository)), ..SessionOptions::default() };
            Arc::new(Session::open(&PathBuf::from(&clones).join(&task.repository), &options).expect("a clone"))
        });
        let Ok(atlas) = session.at(&task.parent) else { continue };
        let gold: Vec<&String> = task.gold.keys().filter(|path| atlas.view.find(path).is_some()).collect();
        if gold.is_empty() {
            continue;
        }
        let mut desk =
            Desk::new(Arc::new(Fixed { session: Arc::clone(session), atlas: Arc::clone(&atlas) }), Options::default());
        if signals_to.is_some() {
            signals.push(signals_of(&desk, &atlas, task));
            continue;
        }
        let symbols = changed_symbols(&atlas.view, task);
        let texts = if is_trial { Vec::new() } else { baseline::texts(session, &atlas, &mut known) };
        let by_words = if is_trial { Vec::new() } else { baseline::bm25(&atlas.view, &texts, &task.text) };
        let of_product: Vec<Ranked> =
            by_words.iter().filter(|ranked| !baseline::is_secondary(&atlas.view, ranked)).cloned().collect();
        let mut put = |method: &str, budget: usize, named: &Named| {
            for key in [String::new(), task.repository.clone()] {
                let sum = sums.entry((method.to_owned(), key, budget)).or_default();
                sum.n += 1;
                sum.n_named += named.files.len();
                let n = gold.iter().filter(|path| named.files.contains(path.as_str())).count();
                sum.files += n as f64 / gold.len() as f64;
                if !symbols.is_empty() {
                    sum.n_symbols += 1;
                    let n = symbols.iter().filter(|symbol| named.symbols.contains(symbol)).count();
                    sum.symbols += n as f64 / symbols.len() as f64;
                }
            }
        };
        for (name, options) in &trials {
            desk.options = options.clone();
            for budget in BUDGETS {
                let arguments = json!({ "task": task.text, "budget": budget });
                let raw = arguments.as_object().expect("because it is written as one");
                let given =
                    Given::read("get_context", get_context::TOOL.params, raw, Asker::Command).expect("arguments");
                let text = (get_context::TOOL.run)(&desk, &given).expect("an answer").text();
                put(name, budget, &named_in(&text));
            }
        }
        for budget in BUDGETS.into_iter().filter(|_| !is_trial) {
            for (method, ranked) in [("BM25", &by_words), ("BM25 without tests", &of_product)] {
                put(method, budget, &named_in(&baseline::map_of(&atlas, ranked, budget)));
            }
            put("word search", budget, &baseline::word_search(&atlas.view, &texts, &task.text, budget));
            if let Some(map) = maps[task.commit.as_str()][budget.to_string()].as_str() {
                put("aider", budget, &baseline::aider(&atlas.view, map));
            }
        }
        eprintln!("{} {}", task.repository, &task.commit[..10]);
    }
    if let Some(path) = signals_to {
        std::fs::write(path, Value::Array(signals).to_string()).expect("a writable file");
        return;
    }
    print(&sums);
}

fn trials_of(rows: &Value) -> Vec<(String, Options)> {
    let rows = rows.as_object().expect("names and texts").iter();
    rows.map(|(name, text)| {
        let repository = text.as_str().map(str::to_owned);
        let config = Config::read(&Sources { repository, ..Sources::default() }).expect("settings");
        (name.clone(), config.tools())
    })
    .collect()
}

fn tasks_of(rows: &Value) -> Vec<Task> {
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    let number = |value: &Value| value.as_u64().expect("a line") as u32;
    rows.as_array()
        .expect("a list of tasks")
        .iter()
        .map(|row| Task {
            repository: text(row, "repository"),
            half: text(row, "half"),
            parent: text(row, "parent"),
            commit: text(row, "commit"),
            text: text(row, "task"),
            gold: row["gold"]
                .as_object()
                .expect("files")
                .iter()
                .map(|(path, hunks)| {
                    let hunks = hunks.as_array().expect("ranges").iter();
                    (path.clone(), hunks.map(|hunk| (number(&hunk[0]), number(&hunk[1]))).collect())
                })
                .collect(),
        })
        .collect()
}

/// The innermost listed definitions around the changed lines.
fn changed_symbols(view: &View, task: &Task) -> BTreeSet<(String, u32)> {
    let mut found = BTreeSet::new();
    for (path, hunks) in &task.gold {
        let Some(file) = view.find(path) else { continue };
        let facts = view.facts(file);
        for (start, end) in hunks {
            let innermost = facts
                .symbols
                .iter()
                .skip(1)
                .filter(|symbol| surface::is_listed(symbol) && symbol.start_line <= *end && *start <= symbol.end_line)
                .min_by_key(|symbol| (symbol.end_line - symbol.start_line, symbol.start_line));
            found.extend(innermost.map(|symbol| (path.clone(), symbol.start_line)));
        }
    }
    found
}

/// Files and definitions of an answer's text: paths stand at the margin, definitions below them.
fn named_in(text: &str) -> Named {
    let mut named = Named::default();
    let mut file = String::new();
    for line in text.lines().skip(1) {
        match line.strip_prefix(' ') {
            None if !line.starts_with('…') => {
                file = line.to_owned();
                named.files.insert(file.clone());
            }
            None => {}
            Some(rest) => {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if let Ok(start) = digits.parse() {
                    named.symbols.insert((file.clone(), start));
                }
            }
        }
    }
    named
}

fn signals_of(desk: &Desk, atlas: &Arc<Atlas>, task: &Task) -> Value {
    let options = &desk.options.rank;
    let ranking = desk.ranking(atlas, options);
    let question = question::read(&task.text);
    let order = order::order(&atlas.view, &ranking, &question, &Hand::default(), options);
    let rows: Vec<Value> = order
        .files
        .iter()
        .enumerate()
        .filter_map(|(at, scored)| {
            let path = atlas.view.file(scored.file).path.as_str();
            let is_gold = task.gold.contains_key(path);
            let s = &scored.signals;
            (is_gold || at < N_SIGNALS).then(|| {
                json!([
                    is_gold,
                    s.words,
                    s.definitions,
                    s.nearness,
                    s.importance,
                    s.churn,
                    s.together,
                    s.commits,
                    s.secondary
                ])
            })
        })
        .collect();
    let n_gold = task.gold.keys().filter(|path| atlas.view.find(path).is_some()).count();
    json!({ "repository": task.repository, "half": task.half, "gold": n_gold, "files": rows })
}

fn print(sums: &Sums) {
    let first = ["ratlas", "BM25", "BM25 without tests", "word search", "aider"];
    let others: BTreeSet<&str> = sums.keys().map(|(method, ..)| method.as_str()).collect();
    let others = others.into_iter().filter(|method| !first.contains(method));
    let methods: Vec<&str> = first.into_iter().chain(others).collect();
    let repositories: BTreeSet<&String> = sums.keys().map(|(_, repository, _)| repository).collect();
    for repository in repositories {
        let heading = if repository.is_empty() { "all" } else { repository };
        println!("| {heading}: files / definitions (files named) | {} |", BUDGETS.map(|b| b.to_string()).join(" | "));
        println!("|---|---|---|---|---|");
        for method in &methods {
            let cells: Vec<String> = BUDGETS
                .iter()
                .filter_map(|budget| {
                    let sum = sums.get(&((*method).to_owned(), repository.clone(), *budget))?;
                    let share = |sum: f64, n: usize| 100.0 * sum / n.max(1) as f64;
                    let (files, symbols) = (share(sum.files, sum.n), share(sum.symbols, sum.n_symbols));
                    Some(format!("{files:.1} / {symbols:.1} ({})", sum.n_named / sum.n.max(1)))
                })
                .collect();
            let n = sums.get(&((*method).to_owned(), repository.clone(), BUDGETS[0])).map_or(0, |sum| sum.n);
            if n > 0 {
                println!("| {method} ({n} tasks) | {} |", cells.join(" | "));
            }
        }
        println!();
    }
}
