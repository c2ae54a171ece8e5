//! While a file does not parse, answers show what its committed version has in the damaged
//! ranges, marked; nothing else ever does.

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

fn ask(desk: &Desk, tool: &str, arguments: Value) -> (String, Value) {
    let tool = tools::named(tool).unwrap();
    let answer = desk.answer(tool, arguments.as_object().unwrap(), Asker::Command, Now::Fresh).unwrap();
    (answer.text, serde_json::from_str(&answer.json).unwrap())
}

fn retained(answer: &Value) -> Vec<&str> {
    answer["retained"].as_array().into_iter().flatten().map(|row| row["qualname"].as_str().unwrap()).collect()
}

/// A file of each language: first whole, then with its middle broken, and what is lost by it.
const FILES: &[(&str, &str, &str, &str)] = &[
    (
        "a.py",
        "def first():\n    return 1\n\n\ndef middle(value):\n    return second(value)\n\n\ndef last():\n    return 3\n",
        "def first():\n    return 1\n\n\ndef (((:\n    return second(value\n\n\ndef last():\n    return 3\n",
        "middle",
    ),
    (
        "b.ts",
        "export function first() {\n  return 1;\n}\n\nexport function middle(value: number) {\n  return value;\n}\n\nexport function last() {\n  return 3;\n}\n",
        "export function first() {\n  return 1;\n}\n\nexport function (((value: ] {\n  return value;\n}\n\nexport function last() {\n  return 3;\n}\n",
        "middle",
    ),
    (
        "C.java",
        "class C {\n  int first() { return 1; }\n\n  int middle(int value) {\n    return value;\n  }\n\n  int last() { return 3; }\n}\n",
        "class C {\n  int first() { return 1; }\n\n  int ((int value] {\n    return value;\n  }\n\n  int last() { return 3; }\n}\n",
        "C.middle",
    ),
];

#[test]
fn lost_symbols_are_shown_and_vanish_when_the_file_parses() {
    for (path, whole, broken, lost) in FILES {
        let scratch = Scratch::new();
        scratch.write(path, whole).commit("whole");
        let warm = desk(&scratch);
        let (_, before) = ask(&warm, "outline", json!({"qualname": path}));
        assert!(retained(&before).is_empty());
        scratch.write(path, broken);
        let (text, answer) = ask(&warm, "outline", json!({"qualname": path}));
        let shown: Vec<String> = retained(&answer).iter().map(|name| ratlas::view::names::plain(name)).collect();
        assert_eq!(shown, [*lost], "{text}");
        assert!(text.contains("retained: as committed"), "{text}");
        for tool in [("find_symbol", json!({"query": "middle"})), ("get_symbol", json!({"qualname": "middle"}))] {
            let (text, answer) = ask(&warm, tool.0, tool.1.clone());
            assert_eq!(retained(&answer).len(), 1, "{text}");
            assert_eq!((text, answer), ask(&desk(&scratch), tool.0, tool.1), "a cold process says the same");
        }
        let (text, answer) = ask(&warm, "get_symbol", json!({"qualname": answer["retained"][0]["handle"]}));
        assert!(text.contains("1 of 1 retained definition") && retained(&answer).len() == 1, "{text}");
        for tool in ["callers_of", "callees_of"] {
            let (text, answer) = ask(&warm, tool, json!({"qualname": "middle"}));
            assert_eq!((answer["verdict"].as_str(), retained(&answer).len()), (Some("unknown"), 1), "{text}");
            assert!(text.contains("verdict: unknown (") && text.contains("does not parse"), "{text}");
        }
        let (map, answer) = ask(&warm, "repo_map", json!({}));
        assert!(map.contains("does not parse; retained, as committed: "), "{map}");
        assert_eq!(retained(&answer).len(), 1);
        scratch.write(path, whole);
        let (text, answer) = ask(&warm, "outline", json!({"qualname": path}));
        assert!(retained(&answer).is_empty() && !text.contains("retained"), "{text}");
        assert_eq!(before["symbols"], answer["symbols"]);
    }
}

#[test]
fn what_was_deleted_outside_of_the_damage_is_gone() {
    let scratch = Scratch::new();
    let function = |name: &str| format!("def {name}():\n    return 1\n\n\n");
    let whole: String = ["one", "two", "three", "four", "five"].map(function).concat();
    scratch.write("a.py", &whole).commit("whole");
    let desk = desk(&scratch);
    // `two` is deleted, `four` is broken.
    let broken = whole.replace(&function("two"), "").replace("def four():", "def ((((:");
    scratch.write("a.py", &broken);
    let (text, answer) = ask(&desk, "outline", json!({"qualname": "a.py"}));
    let names = retained(&answer);
    assert!(names.contains(&"four") && !names.contains(&"two"), "{text}");
    scratch.commit("broken and all");
    let (_, answer) = ask(&desk, "outline", json!({"qualname": "a.py"}));
    assert!(retained(&answer).is_empty(), "what is committed broken retains nothing");
}

#[test]
fn retained_symbols_are_no_targets_of_links() {
    let scratch = Scratch::new();
    scratch.write("a.py", FILES[0].1).write("b.py", "from a import middle\n\n\ndef use():\n    return middle(1)\n");
    scratch.commit("whole");
    let desk = desk(&scratch);
    let (_, answer) = ask(&desk, "callees_of", json!({"qualname": "use"}));
    assert!(answer.to_string().contains("\"middle\""));
    scratch.write("a.py", FILES[0].2);
    let (_, answer) = ask(&desk, "callees_of", json!({"qualname": "use"}));
    assert!(!answer["callees"].to_string().contains("a.py"), "{answer}");
    assert!(answer.get("retained").is_none());
}
