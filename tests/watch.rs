//! `ratlas watch`: what is saved is said by kind, by events and by the clock; it ends cleanly.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::Value;

use crate::cli::{polyglot, ratlas};
use crate::git::Scratch;

struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(scratch: &Scratch, arguments: &[&str]) -> Self {
        let mut command = ratlas(&scratch.root, &scratch.store());
        command.arg("watch").args(arguments).env("RATLAS_WATCH_DEBOUNCE_MS", "30");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (to, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        Watch { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(20)).expect("a line in time")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The rows of changed files until one says `path`, with its row last.
    fn change(&self, path: &str) -> Value {
        loop {
            let event = self.json();
            assert_eq!(event["event"], "changed", "{event}");
            if let Some(row) = event["files"].as_array().unwrap().iter().find(|row| row["file"] == path) {
                return row.clone();
            }
        }
    }

    fn end(mut self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "it ends cleanly on {signal}");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn symbols(row: &Value) -> Vec<String> {
    let words = |changes: &Value| {
        changes.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(",")
    };
    let rows = row["symbols"].as_array().unwrap();
    rows.iter()
        .map(|symbol| format!("{} {}", symbol["qualname"].as_str().unwrap(), words(&symbol["changes"])))
        .collect()
}

/// Saves as editors do: whole or not at all, so that no look falls between.
fn save(scratch: &Scratch, path: &str, text: &str) {
    let aside = scratch.root.parent().unwrap().join("aside");
    std::fs::write(&aside, text).unwrap();
    std::fs::create_dir_all(scratch.root.join(path).parent().unwrap()).unwrap();
    std::fs::rename(aside, scratch.root.join(path)).unwrap();
}

#[test]
fn what_is_saved_is_said_by_kind() {
    for arguments in [&["--format", "json"][..], &["--format", "json", "--poll", "--poll-ms", "50"]] {
        let scratch = polyglot();
        scratch.write(".gitignore", "out/\n*.log\n").commit("ignores");
        let watch = Watch::start(&scratch, arguments);
        let first = watch.json();
        assert_eq!((&first["event"], &first["files"]), (&"watching".into(), &5.into()), "{first}");
        assert_eq!(first["polling"], arguments.len() > 2);
        save(&scratch, "out/built.py", "x = 1\n");
        save(&scratch, "noise.log", "ignored\n");
        save(&scratch, "web/price.ts", "export function formatPrice(cents: number): string { return `${cents}`; }\n");
        let row = watch.change("web/price.ts");
        assert_eq!((&row["change"], symbols(&row)), (&"modified".into(), vec!["formatPrice body".to_owned()]));
        // A folder that was not there, and in it one more.
        save(&scratch, "new/deep/er/n.py", "def fresh(a):\n    return a\n");
        let row = watch.change("new/deep/er/n.py");
        assert_eq!((&row["change"], symbols(&row)), (&"added".into(), vec!["fresh added".to_owned()]));
        save(&scratch, "new/deep/er/n.py", "def fresh(a, b):\n    '''Adds.'''\n    return a\n");
        assert_eq!(symbols(&watch.change("new/deep/er/n.py")), ["fresh signature,doc"]);
        std::fs::rename(scratch.root.join("new/deep/er/n.py"), scratch.root.join("new/m.py")).unwrap();
        let row = watch.change("new/m.py");
        assert!(row["change"] == "renamed" && row["from"] == "new/deep/er/n.py", "{row}");
        save(&scratch, "new/m.py", "def (((:\n");
        assert!(!watch.change("new/m.py")["damage"].as_array().unwrap().is_empty());
        std::fs::remove_dir_all(scratch.root.join("new")).unwrap();
        assert_eq!(watch.change("new/m.py")["change"], "removed");
        watch.end(if arguments.len() > 2 { "-INT" } else { "-TERM" });
    }
}

#[test]
fn people_read_lines() {
    let scratch = polyglot();
    let watch = Watch::start(&scratch, &[]);
    assert!(watch.line().starts_with("watching project: 5 files in "));
    save(
        &scratch,
        "tests/test_cart.py",
        "# nothing\nfrom shop.cart import total\n\n\ndef test_total():\n    assert total(2) == 2\n",
    );
    assert_eq!(watch.line(), "modified tests/test_cart.py: layout or comments only");
    watch.end("-TERM");
}
