//! The freshness barrier: each answer states its tree, and whether it is the one on disk.

use std::sync::Arc;

use ratlas::session::{Session, SessionOptions};
use ratlas::tools;
use ratlas::tools::param::Asker;
use ratlas::tools::tool::{Answers, Desk, Now, Options};
use serde_json::{Value, json};

use crate::git::Scratch;

fn desk(scratch: &Scratch) -> Desk {
    let options = SessionOptions { store: Some(scratch.store()), jobs: 1, ..SessionOptions::default() };
    Desk::new(Arc::new(Session::open(&scratch.root, &options).unwrap()), Options::default())
}

fn symbols(desk: &Desk, query: &str, now: Now) -> Result<Value, String> {
    let tool = tools::named("find_symbol").unwrap();
    let raw = json!({"query": query});
    let answer = desk.answer(tool, raw.as_object().unwrap(), Asker::Client, now).map_err(|error| error.to_string())?;
    Ok(serde_json::from_str(&answer.json).unwrap())
}

#[test]
fn who_cannot_wait_gets_the_tree_of_before_and_how_much_is_other() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def old():\n    pass\n").write("b.py", "def same():\n    pass\n").commit("one");
    let desk = desk(&scratch);
    assert!(!desk.is_warm());
    let fresh = symbols(&desk, "old", Now::Fresh).unwrap();
    assert_eq!((&fresh["stale"], &fresh["pending"]), (&false.into(), &0.into()));
    assert!(desk.is_warm());
    // Nothing changed: held or not, it is exact.
    assert_eq!(symbols(&desk, "old", Now::Held).unwrap(), fresh);
    scratch.write("a.py", "def new():\n    pass\n").write("c.py", "def third():\n    pass\n");
    std::fs::remove_file(scratch.root.join("b.py")).unwrap();
    let held = symbols(&desk, "old", Now::Held).unwrap();
    assert_eq!((&held["stale"], &held["pending"]), (&true.into(), &3.into()), "{held}");
    assert_eq!(held["symbols"], fresh["symbols"]);
    let now = symbols(&desk, "new", Now::Fresh).unwrap();
    assert_eq!((&now["stale"], &now["pending"], &now["total"]), (&false.into(), &0.into(), &1.into()));
    assert!(symbols(&desk, "old", Now::Fresh).is_err());
}

#[test]
fn a_cold_process_that_cannot_wait_answers_from_what_is_indexed() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def known():\n    pass\n").commit("one");
    symbols(&desk(&scratch), "known", Now::Fresh).unwrap();
    scratch.write("b.py", "def not_yet():\n    pass\n");
    let held = symbols(&desk(&scratch), "known", Now::Held).unwrap();
    assert_eq!((&held["stale"], &held["pending"]), (&true.into(), &1.into()), "{held}");
}
