//! Linking: many files in one text, the expectation under the reference.
//!
//! `//- path` starts a file (`//-config path` a configuration file). A comment line below a
//! reference says what the symbol at the caret leads to:
//! `# ^ def: b.py:3 import` (file, line of the target's name or its qualname, strategy),
//! `# ^ only: b.py:C.m` where the line leads to no other symbol of the caret's name, or
//! `# ^ none` for no edge from that line to a symbol of the caret's name. Below a method
//! `# ^ overrides: b.py:C.m` says what it overrides or stands in for; `# ^ overrides: none`, that
//! it does neither.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ratlas::base::dialect::Dialect;
use ratlas::base::id::BlobId;
use ratlas::base::path::RepoPath;
use ratlas::extract::extract;
use ratlas::graph::edge::{EdgeKind, Graph};
use ratlas::graph::link::link;
use ratlas::graph::relink::Linked;
use ratlas::view::{View, ViewFile};

/// What a comment expects of the line above it.
struct Expectation {
    file: String,
    line: u32,
    /// The text under the caret.
    word: String,
    /// `None` when no edge may leave.
    target: Option<(String, String, String)>,
    /// Whether nothing else of that name may be meant.
    alone: bool,
    /// Whether it is about what the method under the caret overrides.
    overrides: bool,
}

/// Splits a fixture into its files.
pub fn files_of(text: &str) -> Vec<(String, String, bool)> {
    let mut files: Vec<(String, String, bool)> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("//-config ") {
            files.push((path.trim().to_string(), String::new(), true));
        } else if let Some(path) = line.strip_prefix("//- ") {
            files.push((path.trim().to_string(), String::new(), false));
        } else if let Some((_, content, _)) = files.last_mut() {
            content.push_str(line);
            content.push('\n');
        }
    }
    files
}

/// A view of in-memory files.
pub fn view_of(files: &[(String, String, bool)]) -> View {
    let mut view = View::default();
    for (path, content, is_config) in files {
        let path = RepoPath::new(path).expect("because fixtures hold relative paths");
        if *is_config {
            view.config.insert(path, Arc::from(content.as_bytes()));
            continue;
        }
        let dialect = Dialect::of_file_name(path.file_name()).expect("because fixtures hold sources");
        view.files.push(ViewFile {
            facts: Arc::new(extract(dialect, content.as_bytes())).into(),
            blob: BlobId::from_bytes(&[0; 20]).expect("because 20 bytes are an id"),
            path,
            dialect,
            dirty: false,
        });
    }
    view.files.sort_by(|a, b| a.path.cmp(&b.path));
    view
}

fn expectations(files: &[(String, String, bool)]) -> Vec<Expectation> {
    let mut found = Vec::new();
    for (path, content, is_config) in files {
        if *is_config {
            continue;
        }
        let mut code = (0, "");
        for (at, line) in content.lines().enumerate() {
            let comment = line.trim_start().trim_start_matches(['#', '/', ' ']);
            let Some(rest) = comment.strip_prefix('^') else {
                code = (at as u32 + 1, line);
                continue;
            };
            let caret = line.find('^').expect("because the caret was just seen");
            let word: String = code.1.chars().skip(caret).take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(!word.is_empty(), "{path}:{}: the caret points at nothing", at + 1);
            let overrides = rest.trim().strip_prefix("overrides:");
            let only = rest.trim().strip_prefix("only:");
            let target = match overrides.unwrap_or(rest).trim() {
                "none" => None,
                text => {
                    let text = only.or(text.strip_prefix("def:")).or(overrides);
                    let text = text.expect("because it is `def:`, `only:`, `overrides:` or `none`").trim();
                    let (place, strategy) = text.split_once(' ').unwrap_or((text, ""));
                    let (file, target) = place.split_once(':').expect("because a target is file:line or file:qualname");
                    Some((file.to_string(), target.to_string(), strategy.trim().to_string()))
                }
            };
            let (alone, overrides) = (only.is_some(), overrides.is_some());
            found.push(Expectation { file: path.clone(), line: code.0, word, target, alone, overrides });
        }
    }
    found
}

/// Checks every expectation of a fixture; gives what failed.
fn check(text: &str) -> Vec<String> {
    let files = files_of(text);
    let view = view_of(&files);
    let graph = link(&view);
    let expectations = expectations(&files);
    assert!(!expectations.is_empty(), "a fixture expects something");
    let mut failures = Vec::new();
    for expected in expectations {
        let leaving: Vec<_> = graph
            .edges
            .iter()
            .filter(|e| view.file(e.from.file).path.as_str() == expected.file && e.line == expected.line)
            .filter(|e| (e.kind == EdgeKind::Overrides) == expected.overrides)
            .filter(|e| !expected.overrides || view.facts(e.from.file).name(view.symbol(e.from).name) == expected.word)
            .collect();
        let shown = || {
            let rows: Vec<String> = leaving.iter().map(|e| show(&view, e)).collect();
            format!("{}:{} `{}`: edges are [{}]", expected.file, expected.line, expected.word, rows.join(", "))
        };
        match &expected.target {
            None => {
                let wrong = leaving.iter().any(|e| {
                    let facts = view.facts(e.to.file);
                    facts.name(view.symbol(e.to).name) == expected.word
                });
                if wrong {
                    failures.push(format!("{} but none is expected", shown()));
                }
            }
            Some((file, target, strategy)) => {
                let hit = leaving.iter().any(|e| {
                    let symbol = view.symbol(e.to);
                    view.file(e.to.file).path.as_str() == file
                        && (symbol.name_line.to_string() == *target || view.qualname(e.to) == target)
                        && (strategy.is_empty() || e.strategy.as_str() == strategy)
                });
                let others = leaving.iter().any(|e| {
                    let facts = view.facts(e.to.file);
                    facts.name(view.symbol(e.to).name) == expected.word && view.qualname(e.to) != target
                });
                if !hit || (expected.alone && others) {
                    let form = if expected.alone { "only " } else { "" };
                    failures.push(format!("{} but {form}{file}:{target} {strategy} is expected", shown()));
                }
            }
        }
    }
    failures
}

fn show(view: &View, edge: &ratlas::graph::edge::Edge) -> String {
    format!(
        "{} {}:{} {}",
        edge.kind.as_str(),
        view.file(edge.to.file).path,
        view.qualname(edge.to),
        edge.strategy.as_str()
    )
}

#[test]
fn fixtures_link_as_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let mut failures = Vec::new();
    let mut n_fixtures = 0;
    for folder in std::fs::read_dir(root).unwrap() {
        for fixture in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = fixture.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            n_fixtures += 1;
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            failures.extend(check(&text).into_iter().map(|failure| format!("{name}: {failure}")));
        }
    }
    assert!(n_fixtures > 0);
    failures.sort();
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

/// Every fixture with each of its lines taken out in turn (every fifth of the longer ones): what
/// keeps its link has the link that it would get anew, and so when the line is back.
#[test]
fn links_kept_by_recorded_queries_are_those_of_linking_all() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let (mut n_files, mut n_linked) = (0, 0);
    for folder in std::fs::read_dir(root).unwrap() {
        for fixture in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = fixture.unwrap().path();
            let files = files_of(&std::fs::read_to_string(&path).unwrap());
            let whole = Arc::new(view_of(&files));
            let all = link(&whole);
            let mut linked = Linked::new(Arc::clone(&whole));
            assert_eq!(*linked.graph, all, "{}: recording changes nothing", path.display());
            for (at, (name, content, _)) in files.iter().enumerate() {
                let n_lines = content.lines().count();
                for cut in (0..n_lines).step_by(if n_lines > 40 { 5 } else { 1 }) {
                    let mut edited = files.clone();
                    let lines = content.lines().enumerate().filter(|(line, _)| *line != cut);
                    edited[at].1 = lines.map(|(_, line)| format!("{line}\n")).collect();
                    let view = Arc::new(view_of(&edited));
                    linked = linked.next(Arc::clone(&view));
                    assert_eq!(*linked.graph, link(&view), "{}: without line {cut} of {name}", path.display());
                    n_files += view.files.len();
                    n_linked += linked.n_linked;
                    linked = linked.next(Arc::clone(&whole));
                    assert_eq!(*linked.graph, all, "{}: with line {cut} of {name} again", path.display());
                }
            }
        }
    }
    assert!(n_linked * 2 < n_files, "{n_linked} of {n_files} files were linked anew");
}

/// Each file of each fixture taken out, put under another name, and put back:
/// what keeps its link has the link that it would get anew.
#[test]
fn links_kept_when_files_come_and_go_are_those_of_linking_all() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let (mut n_files, mut n_linked) = (0, 0);
    for folder in std::fs::read_dir(root).unwrap() {
        for fixture in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let fixture = fixture.unwrap().path();
            let files = files_of(&std::fs::read_to_string(&fixture).unwrap());
            // Small views are linked as from nothing when a file goes: others make it large enough.
            let filler = (0..16).map(|at| (format!("zz/filler{at}.py"), format!("FILLER = {at}\n"), false));
            let files: Vec<(String, String, bool)> = files.into_iter().chain(filler).collect();
            let whole = Arc::new(view_of(&files));
            let all = link(&whole);
            let mut linked = Linked::new(Arc::clone(&whole));
            for at in 0..whole.files.len() {
                let (mut without, mut renamed) = ((*whole).clone(), (*whole).clone());
                let path = without.files.remove(at).path;
                renamed.files[at].path = RepoPath::new(&format!("a{path}")).unwrap();
                renamed.files.sort_by(|a, b| a.path.cmp(&b.path));
                for edited in [without, renamed] {
                    let view = Arc::new(edited);
                    linked = linked.next(Arc::clone(&view));
                    assert!(*linked.graph == link(&view), "{}: without {path}", fixture.display());
                    n_files += view.files.len();
                    n_linked += linked.n_linked;
                    linked = linked.next(Arc::clone(&whole));
                    assert!(*linked.graph == all, "{}: with {path} again", fixture.display());
                }
            }
        }
    }
    assert!(n_linked * 2 < n_files, "{n_linked} of {n_files} files were linked anew");
}

/// All fixtures in one view, each in a folder of its own.
fn everything() -> View {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let mut all: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for folder in std::fs::read_dir(root).unwrap() {
        for fixture in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = fixture.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            for (file, content, is_config) in files_of(&std::fs::read_to_string(&path).unwrap()) {
                all.insert(format!("{name}/{file}"), (content, is_config));
            }
        }
    }
    let files: Vec<(String, String, bool)> =
        all.into_iter().map(|(path, (text, config))| (path, text, config)).collect();
    view_of(&files)
}

#[test]
fn any_number_of_threads_gives_one_graph() {
    let view = everything();
    let on = |threads: usize| -> Graph {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| link(&view))
    };
    let one = on(1);
    assert!(!one.edges.is_empty());
    for _ in 0..3 {
        assert_eq!(one, on(2));
        assert_eq!(one, on(4));
    }
}

/// The words of a text, by where they start and end.
fn words_of(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Files of fixtures with words taken out and put in the place of others: names, types, bases,
/// defaults and parameters change where symbols keep their rows. Every `RATLAS_WORDS`-th word (61st).
#[test]
fn links_kept_when_words_change_are_those_of_linking_all() {
    let step: usize = std::env::var("RATLAS_WORDS").ok().and_then(|step| step.parse().ok()).unwrap_or(61);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/link");
    let (mut n_files, mut n_linked, mut turn) = (0, 0, 0);
    let mut fixtures: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap().map(|fixture| fixture.unwrap().path()))
        .collect();
    fixtures.sort();
    for path in fixtures {
        let files = files_of(&std::fs::read_to_string(&path).unwrap());
        let whole = Arc::new(view_of(&files));
        let all = link(&whole);
        let mut linked = Linked::new(Arc::clone(&whole));
        for (at, (name, content, _)) in files.iter().enumerate() {
            let words = words_of(content);
            for (nth, (start, end)) in words.iter().enumerate() {
                turn += 1;
                if turn % step > 0 {
                    continue;
                }
                let other = words[(nth * 31 + turn) % words.len()];
                for word in ["", &content[other.0..other.1], "anew, int"] {
                    let mut edited = files.clone();
                    edited[at].1.replace_range(start..end, word);
                    let view = Arc::new(view_of(&edited));
                    linked = linked.next(Arc::clone(&view));
                    let what = format!("{}: `{word}` for word {nth} of {name}", path.display());
                    assert!(*linked.graph == link(&view), "{what}");
                    n_files += view.files.len();
                    n_linked += linked.n_linked;
                    linked = linked.next(Arc::clone(&whole));
                    assert!(*linked.graph == all, "{what}, and back");
                }
            }
        }
    }
    assert!(n_linked * 2 < n_files, "{n_linked} of {n_files} files were linked anew");
}

/// How many files are linked anew for an edit of one of several.
fn n_linked_for(files: &[(&str, &str)], edited: (&str, &str)) -> usize {
    let owned = |files: &[(&str, &str)]| -> Vec<(String, String, bool)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned(), false)).collect()
    };
    let linked = Linked::new(Arc::new(view_of(&owned(files))));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, if *path == edited.0 { edited.1 } else { *text })).collect();
    let view = Arc::new(view_of(&owned(&files)));
    let linked = linked.next(Arc::clone(&view));
    assert!(*linked.graph == link(&view), "{edited:?}");
    linked.n_linked
}

/// Who uses what stands beside a changed signature keeps its link.
#[test]
fn a_changed_signature_is_a_matter_of_those_who_look_at_it() {
    let python = [
        (
            "m.py",
            "def f(a):\n    return a\n\n\ndef g(b: int = 1) -> str:\n    return str(b)\n\n\nclass C:\n    def go(self, n):\n        return n\n",
        ),
        ("uses_f.py", "from m import f\n\nf(1)\n"),
        ("uses_g.py", "from m import g\n\ng(2).upper()\n"),
        ("uses_c.py", "from m import C\n\nC().go(3)\n"),
        ("test_g.py", "import m\n\n\ndef test_g():\n    assert m.g(4)\n"),
    ];
    assert_eq!(n_linked_for(&python, ("m.py", &python[0].1.replace("f(a)", "f(a, more=None)"))), 2);
    assert_eq!(n_linked_for(&python, ("m.py", &python[0].1.replace("go(self, n)", "go(self, n, *rest)"))), 2);
    assert_eq!(n_linked_for(&python, ("m.py", &python[0].1.replace("b: int", "b: str"))), 3);
    let typescript = [
        (
            "m.ts",
            "export function f(a: number) { return a; }\nexport function g(b: string): string { return b; }\nexport class C {\n  go(n: number) { return n; }\n}\n",
        ),
        ("f.ts", "import { f } from \"./m\";\nf(1);\n"),
        ("g.ts", "import { g } from \"./m\";\ng(\"x\").trim();\n"),
        ("c.ts", "import { C } from \"./m\";\nnew C().go(3);\n"),
    ];
    let go = typescript[0].1.replace("n: number)", "n: number, more = 1)");
    assert_eq!(n_linked_for(&typescript, ("m.ts", &go)), 2);
    let java = [
        (
            "p/M.java",
            "package p;\npublic class M {\n  public static int f(int a) { return a; }\n  public static int f(String a) { return 1; }\n  public static M g(M m) { return m; }\n  public int go() { return 1; }\n}\n",
        ),
        ("p/F.java", "package p;\nclass F { int a = M.f(1); }\n"),
        ("p/G.java", "package p;\nclass G { M m = M.g(null); }\n"),
        ("p/Go.java", "package p;\nclass Go { int n(M m) { return m.go(); } }\n"),
    ];
    assert_eq!(n_linked_for(&java, ("p/M.java", &java[0].1.replace("g(M m)", "g(M m, int anew)"))), 2);
    assert_eq!(n_linked_for(&java, ("p/M.java", &java[0].1.replace("f(String a)", "f(String a, int anew)"))), 2);
}
