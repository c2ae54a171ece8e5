//! The harness of arms with a scripted agent: no model is asked, so that nothing is claimed of
//! savings; what is tested is that runs are made, counted and compared.
#![cfg(unix)]

use std::path::Path;

use ratlas::base::path::RepoPath;
use ratlas::git::author::{NewCommit, write_history};
use serde_json::Value;

use crate::cli::ratlas;

/// An agent of a dozen lines: it reads both files, or asks ratlas and reads one, and mends it.
const AGENT: &str = r#"
test -s "$RATLAS_BENCH_PROMPT" || exit 9
say() { echo "$1" >> "$RATLAS_BENCH_EVENTS"; }
if test "$RATLAS_BENCH_ARM" = tools; then
  test -n "$RATLAS_BENCH_SERVER" || exit 8
  say '{"event":"tool","name":"mcp__ratlas__get_context"}'
  say '{"event":"turn","input":500,"cached":100,"output":20,"context":500}'
else
  say '{"event":"tool","name":"grep"}'
  say '{"event":"read","file":"other.py"}'
  say '{"event":"turn","input":2000,"cached":0,"output":20,"context":2000}'
fi
say '{"event":"read","file":"./price.py"}'
say 'not an event'
if test "$RATLAS_BENCH_ARM" = map; then grep -q '<map>' "$RATLAS_BENCH_PROMPT" || exit 7; fi
printf 'def price():\n    return 2\n' > price.py
"#;

fn history(dir: &Path) {
    let path = |text| RepoPath::new(text).unwrap();
    let commits = [
        NewCommit {
            message: "start",
            files: vec![(path("price.py"), b"def price():\n    return 1\n"), (path("other.py"), b"x = 1\n")],
            removed: Vec::new(),
        },
        NewCommit {
            message: "mend",
            files: vec![(path("price.py"), b"def price():\n    return 2\n")],
            removed: Vec::new(),
        },
    ];
    write_history(dir, &commits).unwrap();
}

#[test]
fn arms_are_run_checked_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("repo")).unwrap();
    history(&at("repo"));
    std::fs::write(at("agent.sh"), AGENT).unwrap();
    let task = |name: &str, wanted: u32| {
        format!(
            "[[task]]\nname = \"{name}\"\nrepository = \"repo\"\nrevision = \"HEAD~1\"\nprompt = \"mend\"\ngold = \"HEAD\"\ncheck = [\"grep\", \"-q\", \"return {wanted}\", \"price.py\"]\n"
        )
    };
    let agent = at("agent.sh");
    let plan = format!(
        "[agent]\ncommand = [\"sh\", {:?}]\ntimeout_seconds = 60\n[prices]\ninput = 1.0\ncached_input = 0.1\noutput = 10.0\n{}{}",
        agent.display().to_string(),
        task("two", 2),
        task("three", 3)
    );
    std::fs::write(at("plan.toml"), plan).unwrap();
    let ask = |args: &[&str]| {
        let output = ratlas(dir.path(), &at("store")).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = ask(&["bench", "run", "plan.toml", "--out", "logs"]);
    assert!(text.starts_with("6 runs; "), "{text}");
    assert!(at("logs/two/tools/0/agent.log").is_file() && at("logs/three/none/0/events.jsonl").is_file());
    let report: Value = serde_json::from_str(&ask(&["bench", "report", "logs", "--format", "json"])).unwrap();
    let arm = |name: &str| report["all"][name]["figures"].clone();
    let (none, map, tools) = (arm("none"), arm("map"), arm("tools"));
    assert_eq!((&none["success"]["mean"], &map["success"]["mean"]), (&0.5.into(), &0.5.into()));
    assert_eq!((&none["adoption"]["mean"], &tools["adoption"]["mean"]), (&0.0.into(), &1.0.into()));
    assert_eq!((&none["read_precision"]["mean"], &tools["read_precision"]["mean"]), (&0.5.into(), &1.0.into()));
    assert_eq!(tools["input_tokens"]["difference"], -1500.0);
    assert_eq!(tools["dollars"]["mean"], 0.0006);
    assert_eq!(ask(&["bench", "report", "logs"]), text);
}

/// An agent that leaves something running, and in the arm `map` does not end itself.
const LEAVING: &str = r#"
( while :; do echo x >> "$0.beats"; sleep 0.02; done ) &
if test "$RATLAS_BENCH_ARM" = map; then wait; fi
until test -s "$0.beats"; do sleep 0.02; done
"#;

#[test]
fn what_an_agent_leaves_running_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("repo")).unwrap();
    history(&at("repo"));
    std::fs::write(at("agent.sh"), LEAVING).unwrap();
    let beats = || std::fs::metadata(at("agent.sh.beats")).map_or(0, |metadata| metadata.len());
    for (arm, is_timeout) in [("none", false), ("map", true)] {
        let plan = format!(
            "arms = [\"{arm}\"]\n[agent]\ncommand = [\"sh\", {:?}]\ntimeout_seconds = 1\n[[task]]\nname = \"two\"\nrepository = \"repo\"\nrevision = \"HEAD\"\nprompt = \"mend\"\ncheck = [\"true\"]\n",
            at("agent.sh").display().to_string(),
        );
        std::fs::write(at("plan.toml"), plan).unwrap();
        let output =
            ratlas(dir.path(), &at("store")).args(["bench", "run", "plan.toml", "--out", "logs"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result = std::fs::read_to_string(at(&format!("logs/two/{arm}/0/result.json"))).unwrap();
        let result: Value = serde_json::from_str(&result).unwrap();
        assert_eq!((&result["is_timeout"], &result["is_success"]), (&is_timeout.into(), &(!is_timeout).into()));
        let n = beats();
        assert!(n > 0);
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(beats(), n, "{arm}");
    }
}
