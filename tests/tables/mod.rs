//! Packs and exports as DuckDB and Polars read them. The engines come from PyPI: `.ci/run` installs
//! them (`tests/tables/run`) and names that Python in `RATLAS_PYTHON`; without them these tests say so and pass.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

/// A Python that has both engines; `None`, said on stderr, where there is none.
///
/// Panics where `RATLAS_PYTHON` names one that has them not: whoever names one means it.
fn python() -> Option<String> {
    let named = std::env::var("RATLAS_PYTHON").ok().filter(|python| !python.is_empty());
    let python = named.clone().unwrap_or_else(|| "python3".to_owned());
    let has_both =
        Command::new(&python).args(["-c", "import duckdb, polars"]).output().is_ok_and(|o| o.status.success());
    assert!(has_both || named.is_none(), "RATLAS_PYTHON names `{python}`, which has not both of duckdb and polars");
    if !has_both {
        eprintln!(
            "skipped: `{python}` has not both of duckdb and polars (`pip install duckdb polars`; or run tests/tables/run)"
        );
    }
    has_both.then_some(python)
}

fn queries(python: &str, arguments: &[&Path]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/queries.py");
    let output = Command::new(python).arg("-I").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = ratlas(&scratch.root, &scratch.store()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of an export, as JSON.
fn rows(scratch: &Scratch, table: &str) -> Vec<Value> {
    run(scratch, &["export", table]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn engines_read_packs() {
    let Some(python) = python() else { return };
    let scratch = polyglot();
    run(&scratch, &["pack", "--all"]);
    let packs = scratch.store().join("packs");
    let found = queries(&python, &[Path::new("packs"), &packs]);
    let dialects = serde_json::json!([["java", 1], ["py", 3], ["ts", 1]]);
    assert_eq!((&found["duckdb"]["files"], &found["polars"]["files"]), (&dialects, &dialects), "{found}");
    // Symbols as the command line exports them: which, of what kind, on which line.
    let symbols = rows(&scratch, "symbols");
    let mut expected: Vec<(String, u64)> = symbols
        .iter()
        .filter(|row| row["qualname"] != "<module>")
        .map(|row| (row["qualname"].as_str().unwrap().to_owned(), row["start_line"].as_u64().unwrap()))
        .collect();
    expected.sort();
    assert!(expected.len() > 5);
    let expected = serde_json::to_value(expected).unwrap();
    assert_eq!((&found["duckdb"]["symbols"], &found["polars"]["symbols"]), (&expected, &expected), "{found}");
}

#[test]
fn engines_read_the_export() {
    let Some(python) = python() else { return };
    let scratch = polyglot();
    let maps = scratch.root.parent().unwrap().join("maps");
    run(&scratch, &["export", "--layout", "hive", maps.to_str().unwrap()]);
    let found = queries(&python, &[Path::new("hive"), &maps]);
    let edges = rows(&scratch, "edges");
    let calls = edges.iter().filter(|row| row["kind"] == "calls").count();
    assert!(calls > 2, "{edges:?}");
    assert_eq!((&found["duckdb"]["calls"], &found["polars"]["calls"]), (&calls.into(), &calls.into()), "{found}");
    // Joined by id over two tables: who calls `total`.
    let callers = serde_json::json!([["project", "place"], ["project", "Cart.add_item"], ["project", "test_total"]]);
    let mut callers: Vec<Value> = callers.as_array().unwrap().clone();
    callers.sort_by_key(Value::to_string);
    let callers = Value::from(callers);
    assert_eq!((&found["duckdb"]["callers"], &found["polars"]["callers"]), (&callers, &callers), "{found}");
    let tables = ["edges", "files", "references", "symbols"];
    for table in tables {
        assert_eq!(found["duckdb"]["rows"][table], found["polars"]["rows"][table]);
        assert!(found["duckdb"]["metadata"][table].as_array().unwrap().contains(&"ratlas.schema".into()), "{found}");
    }
}
