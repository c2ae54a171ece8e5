//! What is to be run: a TOML file of an agent, prices and tasks.
//!
//! The agent's command runs in a fresh checkout of the task's revision, with these variables:
//! `RATLAS_BENCH_PROMPT` (a file with the task's words, and the map in the arm `map`),
//! `RATLAS_BENCH_ARM` (`none`, `map`, `tools`), `RATLAS_BENCH_EVENTS` (the file to append events to),
//! and in the arm `tools` `RATLAS_BENCH_SERVER` (the server's command as a JSON list).
//!
//! Events are lines of JSON: `{"event":"turn","input":N,"cached":N,"output":N,"context":N}` a request
//! to a model (all tokens of its input, those of it that were cached, its output, and what the
//! conversation holds after it), `{"event":"tool","name":"…"}` a call, `{"event":"read","file":"…"}`
//! a file that was read. Other lines are kept and count nothing.

use serde::Deserialize;

use crate::base::error::{Error, ErrorKind, Result};

/// The file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub agent: Agent,
    #[serde(default)]
    pub prices: Prices,
    /// How often each task is run in each arm.
    #[serde(default = "once")]
    pub repeats: usize,
    #[serde(default = "Arm::all")]
    pub arms: Vec<Arm>,
    #[serde(rename = "task")]
    pub tasks: Vec<Task>,
}

/// What is asked to work.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The program and its arguments; a relative program is looked up as the system does.
    pub command: Vec<String>,
    /// After how many seconds it is stopped, and the run counts as failed.
    #[serde(default = "half_an_hour")]
    pub timeout_seconds: u64,
}

/// Dollars a million tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Prices {
    pub input: f64,
    pub cached_input: f64,
    pub output: f64,
}

/// What the agent has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Arm {
    /// Its own tools.
    None,
    /// The map of the repository in its prompt.
    Map,
    /// The server.
    Tools,
}

impl Arm {
    fn all() -> Vec<Arm> {
        vec![Arm::None, Arm::Map, Arm::Tools]
    }

    /// The name in plans and outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Arm::None => "none",
            Arm::Map => "map",
            Arm::Tools => "tools",
        }
    }
}

/// A task with its check.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Letters, digits, `-` and `_`: it names the folder of the logs.
    pub name: String,
    /// The clone, relative to the plan's folder.
    pub repository: String,
    /// The commit to start from.
    pub revision: String,
    pub prompt: String,
    /// The command that exits with 0 when the task is done, run in the checkout.
    pub check: Vec<String>,
    /// The commit whose changes are the right answer; what was read is held against its files.
    pub gold: Option<String>,
}

fn once() -> usize {
    1
}

fn half_an_hour() -> u64 {
    1_800
}

/// Reads a plan.
///
/// # Errors
/// `Config` for text that is no plan.
pub fn read(text: &str) -> Result<Plan> {
    let wrong =
        |what: String| Error::new(ErrorKind::Config, what).hint("`ratlas bench run --help` says what a plan holds");
    let plan: Plan = toml::from_str(text).map_err(|error| wrong(format!("the plan is none: {}", error.message())))?;
    if plan.agent.command.is_empty() || plan.tasks.is_empty() || plan.repeats == 0 || plan.arms.is_empty() {
        return Err(wrong("the plan has nothing to run: it needs `agent.command`, a `[[task]]`, an arm".to_owned()));
    }
    let mut names: Vec<&str> = plan.tasks.iter().map(|task| task.name.as_str()).collect();
    names.sort_unstable();
    let is_plain = |name: &&str| {
        !name.is_empty()
            && name.len() <= 80
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if let Some(name) = names.iter().find(|name| !is_plain(name)) {
        return Err(wrong(format!("`{}` cannot name a task", name.escape_default())));
    }
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(wrong("two tasks of the plan have one name".to_owned()));
    }
    if let Some(task) = plan.tasks.iter().find(|task| task.check.is_empty() || task.revision.starts_with('-')) {
        return Err(wrong(format!("the task `{}` needs a `check` and a `revision`", task.name)));
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::{Arm, read};

    const PLAN: &str = "[agent]\ncommand = [\"agent\"]\n[[task]]\nname = \"a\"\nrepository = \".\"\nrevision = \"HEAD\"\nprompt = \"do\"\ncheck = [\"true\"]\n";

    #[test]
    fn plans_are_strict() {
        let plan = read(PLAN).unwrap();
        assert_eq!((plan.repeats, plan.arms), (1, vec![Arm::None, Arm::Map, Arm::Tools]));
        for wrong in [
            PLAN.replace("prompt", "promt"),
            PLAN.replace("[\"agent\"]", "[]"),
            PLAN.replace("\"a\"", "\"../a\""),
            PLAN.replace("[\"true\"]", "[]"),
            "nonsense".to_owned(),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
