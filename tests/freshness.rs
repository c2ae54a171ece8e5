//! The freshness barrier: each answer states its tree, and whether it is the one on disk.

use std::sync::Arc;
use std::time::Duration;

use ratlas::session::{Session, SessionOptions};
use ratlas::tools;
use ratlas::tools::param::Asker;
use ratlas::tools::tool::{Answers, Desk, Now, Options};
use serde_json::{Value, json};

use crate::git::Scratch;

fn desk(scratch: &Scratch) -> Desk {
    desk_with(scratch, Duration::from_secs(60))
}

fn desk_with(scratch: &Scratch, freshness: Duration) -> Desk {
    let options = SessionOptions { store: Some(scratch.store()), jobs: 1, ..SessionOptions::default() };
    Desk::new(Arc::new(Session::open(&scratch.root, &options).unwrap()), Options { freshness, ..Options::default() })
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
fn a_client_waits_for_the_tree_of_now_no_longer_than_it_may() {
    let scratch = Scratch::new();
    scratch.write("a.py", "def old():\n    pass\n").commit("one");
    let desk = desk_with(&scratch, Duration::ZERO);
    // There is nothing to answer from yet: it waits.
    let first = symbols(&desk, "old", Now::Fresh).unwrap();
    assert_eq!((&first["stale"], &first["pending"]), (&false.into(), &0.into()));
    scratch.write("a.py", "def new():\n    pass\n");
    let stale = symbols(&desk, "old", Now::Fresh).unwrap();
    assert_eq!((&stale["stale"], &stale["pending"], &stale["tree"]), (&true.into(), &1.into(), &first["tree"]));
    // Who insists waits, and so does a command.
    let tool = tools::named("find_symbol").unwrap();
    for (raw, asker) in
        [(json!({"query": "new", "fresh": true}), Asker::Client), (json!({"query": "new"}), Asker::Command)]
    {
        let answer = desk.answer(tool, raw.as_object().unwrap(), asker, Now::Fresh).unwrap();
        let answer: Value = serde_json::from_str(&answer.json).unwrap();
        assert_eq!((&answer["stale"], &answer["total"]), (&false.into(), &1.into()), "{raw}");
        assert_ne!(answer["tree"], first["tree"]);
    }
}

#[test]
fn a_tree_has_one_name_wherever_it_lies() {
    let name = |extra: &str| {
        let scratch = Scratch::new();
        scratch.write("a.py", "def f():\n    pass\n").commit("one");
        if !extra.is_empty() {
            scratch.write("a.py", extra);
        }
        symbols(&desk(&scratch), "f", Now::Fresh).unwrap()["tree"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(""), name(""));
    assert_eq!(name("").len(), 16);
    assert_ne!(name(""), name("def f():\n    return 1\n"));
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
