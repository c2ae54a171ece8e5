//! Compilers' answers: SCIP indexes taken as evidence, written, and held against the graph.

use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;

use ratlas::scip::index::{DEFINITION, Document, Encoding, Index, Occurrence, read, write};
use serde_json::Value;

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

fn run(scratch: &Scratch, arguments: &[&str]) -> Output {
    ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap()
}

fn ok(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = run(scratch, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    serde_json::from_str(&ok(scratch, arguments)).unwrap()
}

/// A marked word: its line (1-based), the word, its symbol, and whether it is the definition.
type Mark<'m> = (u32, &'m str, &'m str, bool);

/// An index of documents, each with its marks.
fn index(documents: &[(&str, &str, &[Mark])]) -> Index {
    let mut index = Index { tool: "hand 1".into(), ..Index::default() };
    for (path, text, marks) in documents {
        let mut document = Document { path: (*path).into(), encoding: Encoding::Utf8, ..Document::default() };
        for (line, word, symbol, defines) in *marks {
            let column = text.lines().nth(*line as usize - 1).unwrap().find(word).unwrap() as u32;
            let at = index.symbols.iter().position(|known| **known == **symbol).unwrap_or_else(|| {
                index.symbols.push(Arc::from(*symbol));
                index.symbols.len() - 1
            });
            document.occurrences.push(Occurrence {
                start: (line - 1, column),
                end: (line - 1, column + word.len() as u32),
                symbol: at as u32,
                roles: if *defines { DEFINITION } else { 0 },
            });
        }
        index.documents.push(document);
    }
    index
}

const BOX: &str =
    "class Box:\n    def open(self):\n        return 1\n\n\nclass Door:\n    def open(self):\n        return 2\n";
const USE: &str = "from box import Box, Door\n\n\ndef use(x):\n    return x.open()\n";
const OPEN: &str = "t p shop 1 `box.py`/Box#open().";

/// Two classes with a method of one name, and a call that only a compiler can place.
fn shop() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    scratch.write("box.py", BOX);
    scratch.write("use.py", USE);
    scratch.write("other.py", "def alone():\n    pass\n");
    scratch.commit("one");
    let index = index(&[
        ("box.py", BOX, &[(2, "open", OPEN, true)]),
        ("use.py", USE, &[(5, "open", OPEN, false)]),
        ("other.py", "def alone():\n    pass\n", &[(1, "alone", "t p shop 1 `other.py`/alone().", true)]),
    ]);
    let file = scratch.store().with_extension("scip");
    std::fs::write(&file, write(&index)).unwrap();
    (scratch, file)
}

fn edges_of_use(scratch: &Scratch) -> Vec<(String, String)> {
    let text = ok(scratch, &["export", "edges"]);
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows = rows.filter(|row| row["src_qualname"] == "use");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.map(|row| (text(&row["dst_qualname"]), text(&row["strategy"]))).collect()
}

#[test]
fn a_compilers_word_is_taken_while_what_it_saw_is_unchanged() {
    let (scratch, file) = shop();
    let file = file.to_str().unwrap();
    let before = edges_of_use(&scratch);
    assert!(before.iter().all(|(_, strategy)| strategy != "compiler"), "{before:?}");
    let report = json(&scratch, &["index", "--scip", file, "--format", "json"]);
    assert_eq!((&report["scip"][0]["documents"], &report["scip"][0]["tool"]), (&3.into(), &"hand 1".into()));
    let taken = edges_of_use(&scratch);
    assert_eq!(taken, [("Box.open".to_owned(), "compiler".to_owned())]);
    let status = ok(&scratch, &["status"]);
    assert!(status.contains("compiler: hand 1, believed for 3 of 3 files\n"), "{status}");
    let row = ok(&scratch, &["query", "callers", "Box.open"]);
    assert!(row.contains("use.py:5 use calls (1 compiler)"), "{row}");

    // A change of a file that is not imported leaves it; of one that is, ends it; undone, it is back.
    scratch.write("other.py", "def alone():\n    return 1\n");
    assert_eq!(edges_of_use(&scratch), taken);
    scratch.write("box.py", &BOX.replace("return 1", "return 3"));
    assert_eq!(edges_of_use(&scratch), before);
    scratch.write("box.py", BOX);
    assert_eq!(edges_of_use(&scratch), taken);
    // So does a change of the configuration that the compiler ran under.
    scratch.write("pyproject.toml", "[project]\nname = \"x\"\n");
    assert_eq!(edges_of_use(&scratch), before);
    std::fs::remove_file(scratch.root.join("pyproject.toml")).unwrap();
    assert_eq!(edges_of_use(&scratch), taken);
    ok(&scratch, &["index", "--drop-scip"]);
    assert_eq!(edges_of_use(&scratch), before);
}

#[test]
fn merged_is_fresh_with_a_compilers_word_too() {
    let (scratch, file) = shop();
    ok(&scratch, &["index", "--scip", file.to_str().unwrap()]);
    scratch.write("other.py", "from use import use\n\n\ndef alone():\n    return use(3)\n");
    let grown = ok(&scratch, &["export", "edges", "--unproved", "--jobs", "1"]);
    // The same word beside an empty store: nothing of what was parsed before is needed.
    let fresh = scratch.store().with_extension("fresh");
    std::fs::create_dir_all(fresh.join("compilers")).unwrap();
    for entry in std::fs::read_dir(scratch.store().join("compilers")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, fresh.join("compilers").join(path.file_name().unwrap())).unwrap();
    }
    let arguments = ["export", "edges", "--unproved", "--jobs", "2"];
    let output = ratlas(&scratch.root, &fresh).args(arguments).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), grown);
    assert!(grown.contains("\"strategy\":\"compiler\""));
}

#[test]
fn the_configuration_may_name_an_index() {
    let (scratch, file) = shop();
    std::fs::copy(&file, scratch.root.join("index.scip")).unwrap();
    let before = edges_of_use(&scratch);
    scratch.write("ratlas.toml", "[resolve]\nscip = [\"index.scip\"]\n");
    let after = edges_of_use(&scratch);
    assert_ne!(before, after);
    assert_eq!(after[0].1, "compiler");
    scratch.write("ratlas.toml", "[resolve]\nscip = [\"gone.scip\"]\n");
    ok(&scratch, &["index", "--drop-scip"]);
    let output = run(&scratch, &["query", "callers", "Box.open"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("linked without"));
    scratch.write("ratlas.toml", "[resolve]\nscip = [\"../x.scip\"]\n");
    let output = run(&scratch, &["status"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("leads out of the repository"));
}

#[test]
fn an_index_of_other_bytes_is_not_taken() {
    let (scratch, file) = shop();
    scratch.write("box.py", &format!("# moved down\n{BOX}"));
    let report = json(&scratch, &["index", "--scip", file.to_str().unwrap(), "--format", "json"]);
    assert_eq!(report["scip"][0]["misfits"], serde_json::json!(["box.py"]), "{report}");
    for (name, bytes) in [("text.scip", &b"hello, this is text"[..]), ("zeros.scip", &[0; 64]), ("empty.scip", b"")] {
        let path = scratch.store().with_file_name(name);
        std::fs::write(&path, bytes).unwrap();
        let output = run(&scratch, &["index", "--scip", path.to_str().unwrap()]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains("no SCIP index") && stderr.contains("\nhelp: "), "{stderr}");
    }
}

#[test]
fn what_is_exported_is_what_the_graph_proves() {
    let scratch = polyglot();
    scratch.write(
        "web/cart.ts",
        "import { formatPrice as fmt } from \"./price\";\nexport class Cart {\n  total = 1; /* é */ show() { return fmt(this.total); }\n}\nexport const make = () => new Cart().show();\n",
    );
    let file = scratch.store().with_extension("scip");
    let path = file.to_str().unwrap();
    ok(&scratch, &["export", "scip", "-o", path]);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(run(&scratch, &["export", "scip", "--jobs", "1"]).stdout, bytes, "the same at any number of threads");
    let index = read(&bytes).unwrap();
    assert!(index.documents.is_sorted_by(|a, b| a.path < b.path));
    let unique: std::collections::BTreeSet<_> = index.symbols.iter().collect();
    assert_eq!(unique.len(), index.symbols.len());
    assert!(
        index.symbols.iter().any(|symbol| &**symbol == "ratlas . . . web/`cart.ts`/Cart#show()."),
        "{:?}",
        index.symbols
    );
    let compared = json(&scratch, &["compare", "scip", path, "--format", "json"]);
    for finding in ["contradictions", "misses", "outside"] {
        assert_eq!(compared[finding]["total"], 0, "{finding}: {compared}");
    }
    let matched: u64 = compared["kinds"].as_array().unwrap().iter().map(|kind| kind["matched"].as_u64().unwrap()).sum();
    assert!(matched >= 6, "{compared}");
    assert_eq!(run(&scratch, &["export", "scip", "--format", "parquet"]).status.code(), Some(2));
}

#[test]
fn a_comparison_says_contradiction_miss_and_extra() {
    let (scratch, file) = shop();
    scratch.write("use.py", "from box import Box, Door\n\n\ndef use(x):\n    return Door().open() + x.open()\n");
    let text = std::fs::read_to_string(scratch.root.join("use.py")).unwrap();
    let made = index(&[
        ("box.py", BOX, &[(2, "open", OPEN, true)]),
        ("use.py", &text, &[(5, "open", OPEN, false), (4, "use", "t p shop 1 `use.py`/use().", true)]),
    ]);
    std::fs::write(&file, write(&made)).unwrap();
    let compared = json(&scratch, &["compare", "scip", file.to_str().unwrap(), "--format", "json"]);
    let rows = compared["contradictions"]["shown"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["graph"][0]["qualname"]), (1, &"Door.open".into()), "{compared}");
    assert_eq!(rows[0]["compiler"][0]["qualname"], "Box.open");
    assert!(compared["extras"]["total"].as_u64().unwrap() > 0, "{compared}");
    assert_eq!(run(&scratch, &["compare", "scip", file.to_str().unwrap(), "--check"]).status.code(), Some(1));
}

#[test]
fn words_and_edges_are_held_against_each_other() {
    let scratch = Scratch::new();
    scratch.write("shop/cart.py", "def total(price):\n    return price\n");
    scratch.write("shop/order.py", "from shop.cart import total\n\n\ndef place():\n    return total(2)\n");
    scratch.write(
        "shop/page.py",
        "from shop.cart import total as sum_up\n\n# the total is shown\n\n\ndef page(thing):\n    \"\"\"Shows the total.\"\"\"\n    thing.total()\n    return sum_up(3)\n",
    );
    let data = json(&scratch, &["compare", "text", "shop.cart.total", "--format", "json"]);
    let causes = &data["text_only"]["by_cause"];
    assert_eq!((&causes["comment"], &causes["string"]), (&1.into(), &1.into()), "{data}");
    assert_eq!((&causes["unproved"], &causes["definition"]), (&1.into(), &1.into()), "{data}");
    assert_eq!(data["graph_only"]["total"], 1, "the call under another name: {data}");
    assert_eq!(data["graph_only"]["shown"][0]["line"], 9);
    let matched: Vec<(&str, u64)> = data["matched"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["file"].as_str().unwrap(), row["line"].as_u64().unwrap()))
        .collect();
    assert!(matched.contains(&("shop/page.py", 1)) && matched.contains(&("shop/order.py", 5)), "{data}");
    let text = ok(&scratch, &["compare", "text", "shop.cart.total"]);
    assert!(text.contains("graph only: 1\n") && text.contains("shop/page.py:3 comment"), "{text}");
}

#[test]
fn a_proof_is_told_step_by_step() {
    let scratch = Scratch::new();
    scratch.write(
        "lib/shape.ts",
        "export class Shape { area(): number { return 1; } }\nexport function total(): number { return 2; }\n",
    );
    scratch.write("lib/index.ts", "export * from './shape';\nexport { total as sumAll } from './shape';\n");
    scratch.write(
        "use.ts",
        "import { Shape, sumAll } from './lib';\nexport function go(shape: Shape) {\n  const other = new Shape();\n  return shape.area() + other.area() + sumAll();\n}\n",
    );
    scratch.write("a.py", "class A:\n    def run(self):\n        return 1\n\n\ndef make() -> A:\n    return A()\n");
    scratch.write("b.py", "from a import make\n\n\ndef go():\n    made = make()\n    return made.run()\n");
    scratch.commit("one");
    let text = ok(&scratch, &["query", "callers", "total", "--why"]);
    for line in [
        "    import `sumAll` of `./lib` (use.ts:1)\n",
        "    re-export `sumAll` (there `total`) of `./shape` (lib/index.ts:2)\n",
        "    definition `total` (lib/shape.ts:2)\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let text = ok(&scratch, &["query", "refs", "Shape.area", "--why"]);
    for line in [
        "`shape` is a `Shape`",
        "parameter `shape` is declared with its type (use.ts:2)",
        "`other` is assigned `Shape(…)` (use.ts:3)",
        "`area` is a member of `Shape` (lib/shape.ts:1)",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let data = json(&scratch, &["query", "callees", "b.go", "--why", "--format", "json"]);
    let run = data["callees"].as_array().unwrap().iter().find(|row| row["qualname"] == "A.run").unwrap();
    let rules: Vec<&str> =
        run["sites"][0]["why"].as_array().unwrap().iter().map(|step| step["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["receiver", "type", "type", "member", "definition"], "{run}");
    assert!(run.to_string().contains("`make` is declared to return it"), "{run}");
    assert!(!ok(&scratch, &["query", "callers", "total"]).contains("definition `total`"));
}
