//! Measures which test files the functions of a clone reach, one function at a time: one JSON line
//! for each row of `RATLAS_TRUTH` (JSON lines with `file`, `start_line`, `def_line`, `symbol`).
//!
//! `RATLAS_BENCH_DIR=some/clone RATLAS_TRUTH=rows.jsonl cargo bench --bench reach`

use std::collections::BTreeMap;
use std::path::PathBuf;

use ratlas::atlas::{Atlas, AtlasSource};
use ratlas::facts::model::SymbolId;
use ratlas::facts::table::Id;
use ratlas::impact::decide::impact_of_each;
use ratlas::impact::policy::{Options, Policy};
use ratlas::session::{Session, SessionOptions};
use ratlas::view::SymbolRef;
use serde_json::{Value, json};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let (Some(folder), Some(truth)) = (std::env::var_os("RATLAS_BENCH_DIR"), std::env::var_os("RATLAS_TRUTH")) else {
        println!("{}", json!({ "bench": "reach", "skipped": "set RATLAS_BENCH_DIR and RATLAS_TRUTH" }));
        return;
    };
    let store = tempfile::tempdir().expect("a temporary folder");
    let options = SessionOptions { store: Some(store.path().to_path_buf()), jobs: 2, ..SessionOptions::default() };
    let session = Session::open(&PathBuf::from(folder), &options).expect("a repository");
    let atlas = session.fresh().expect("an index");
    let text = std::fs::read_to_string(truth).expect("rows");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let targets: Vec<Option<SymbolRef>> = rows.iter().map(|row| function_of(&atlas, row)).collect();
    let known: Vec<Vec<SymbolRef>> = targets.iter().flatten().map(|at| vec![*at]).collect();
    let policy = if std::env::var_os("RATLAS_PRECISE").is_some() { Policy::Precise } else { Policy::Safe };
    let mut answers = impact_of_each(&atlas, &known, &Options { policy, ..Options::default() }).into_iter();
    for (row, target) in rows.iter().zip(&targets) {
        let Some(answer) = target.and_then(|_| answers.next()) else {
            println!(
                "{}",
                json!({ "file": row["file"], "symbol": row["symbol"], "line": row["start_line"], "unknown": true })
            );
            continue;
        };
        let mut files: BTreeMap<&str, (usize, Value)> = BTreeMap::new();
        for (at, test) in answer.tests.iter().enumerate() {
            let via: Vec<Value> = test.via.iter().map(|s| json!([s.from, s.to, s.kind, s.file, s.line])).collect();
            files.entry(test.file.as_str()).or_insert((at, json!(via)));
        }
        let files: BTreeMap<&str, Value> =
            files.into_iter().map(|(path, (at, via))| (path, json!({ "rank": at, "via": via }))).collect();
        println!(
            "{}",
            json!({
                "file": row["file"], "symbol": row["symbol"], "line": row["start_line"],
                "verdict": answer.verdict.as_str(), "mode": answer.mode.as_str(), "selected": files,
                "causes": answer.causes.iter().map(|note| note.code).collect::<std::collections::BTreeSet<_>>(),
            })
        );
    }
}

/// The function that starts on a row's lines.
fn function_of(atlas: &Atlas, row: &Value) -> Option<SymbolRef> {
    let file = atlas.view.find(row["file"].as_str()?)?;
    let facts = atlas.view.facts(file);
    let lines = [row["start_line"].as_u64(), row["def_line"].as_u64()];
    let name = row["symbol"].as_str()?.rsplit('.').next()?;
    let starts = |at: &usize| lines.contains(&Some(u64::from(facts.symbols[*at].start_line)));
    let found: Vec<usize> = (1..facts.symbols.len()).filter(starts).collect();
    let named = found.iter().find(|at| facts.name(facts.symbols[**at].name) == name);
    let any = found.iter().find(|at| facts.symbols[**at].kind.is_function());
    named.or(any).map(|at| SymbolRef { file, symbol: SymbolId::new(*at) })
}
