//! An interpreter of our composite action: its steps, run as a runner would, with a cache of folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

use super::expression::{Scope, holds, interpolate};

/// A run of the action.
pub struct Run<'r> {
    /// What is checked out.
    pub workspace: &'r Path,
    /// Where caches are kept between runs.
    pub caches: &'r Path,
    pub event_name: &'r str,
    pub event: &'r Value,
    pub git_ref: &'r str,
    pub inputs: &'r [(&'r str, &'r str)],
    /// Tells runs apart in keys of caches.
    pub id: u64,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Ran {
    pub is_ok: bool,
    pub outputs: BTreeMap<String, String>,
    pub summary: String,
    /// The report that the outputs name.
    pub report: String,
    pub log: String,
    /// Keys of caches that were saved.
    pub saved: Vec<String>,
}

pub fn action() -> Yaml {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml")).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

fn text(yaml: &Yaml) -> Option<String> {
    match yaml {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Integer(n) => Some(n.to_string()),
        Yaml::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

fn pairs(yaml: &Yaml) -> Vec<(String, String)> {
    let pairs = yaml.as_hash().into_iter().flatten();
    pairs.map(|(name, value)| (text(name).unwrap(), text(value).unwrap_or_default())).collect()
}

impl Run<'_> {
    pub fn start(&self) -> Ran {
        let action = action();
        let temporary = tempfile::tempdir().unwrap();
        let temp = temporary.path();
        let event = temp.join("event.json");
        fs::write(&event, self.event.to_string()).unwrap();
        let mut scope = Scope::new();
        for (name, input) in action["inputs"].as_hash().unwrap() {
            let name = text(name).unwrap();
            scope.insert(format!("inputs.{name}"), text(&input["default"]).unwrap_or_default());
        }
        for (name, value) in self.inputs {
            let before = scope.insert(format!("inputs.{name}"), (*value).to_owned());
            assert!(before.is_some(), "the action has no input `{name}`");
        }
        let mut set = |name: &str, value: &str| drop(scope.insert(name.to_owned(), value.to_owned()));
        set("github.action_path", env!("CARGO_MANIFEST_DIR"));
        set("github.run_id", &self.id.to_string());
        set("github.run_attempt", "1");
        set("github.job", "affected");
        set("runner.os", "Linux");
        set("runner.temp", temp.to_str().unwrap());

        let mut ran = Ran { is_ok: true, ..Ran::default() };
        for step in action["runs"]["steps"].as_vec().unwrap() {
            let condition = text(&step["if"]).unwrap_or_else(|| "success()".to_owned());
            let is_run = ran.is_ok && holds(&condition, &scope);
            let mut outputs = BTreeMap::new();
            if is_run {
                match text(&step["uses"]) {
                    Some(uses) => self.use_action(&uses, &step["with"], &scope, &mut ran),
                    None => outputs = self.run_step(step, &scope, temp, &event, &mut ran),
                }
            }
            if let Some(id) = text(&step["id"]) {
                let outcome = if !is_run {
                    "skipped"
                } else if ran.is_ok {
                    "success"
                } else {
                    "failure"
                };
                scope.insert(format!("steps.{id}.outcome"), outcome.to_owned());
                scope.extend(outputs.into_iter().map(|(name, value)| (format!("steps.{id}.outputs.{name}"), value)));
            }
        }
        for (name, output) in action["outputs"].as_hash().unwrap() {
            ran.outputs.insert(text(name).unwrap(), interpolate(&text(&output["value"]).unwrap(), &scope));
        }
        ran.report = ran.outputs.get("report-path").and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        ran.summary = fs::read_to_string(temp.join("summary")).unwrap_or_default();
        ran
    }

    fn use_action(&self, uses: &str, with: &Yaml, scope: &Scope, ran: &mut Ran) {
        let (name, sha) = uses.split_once('@').unwrap();
        assert!(sha.len() == 40 && sha.bytes().all(|b| b.is_ascii_hexdigit()), "`{uses}` is not pinned");
        let with: BTreeMap<String, String> =
            pairs(with).into_iter().map(|(name, value)| (name, interpolate(&value, scope))).collect();
        let path = PathBuf::from(&with["path"]);
        match name {
            "actions/cache/restore" => {
                let mut keys: Vec<(std::time::SystemTime, String)> = fs::read_dir(self.caches)
                    .unwrap()
                    .flatten()
                    .map(|e| (e.metadata().unwrap().modified().unwrap(), e.file_name().into_string().unwrap()))
                    .filter(|(_, key)| *key == with["key"] || key.starts_with(with["restore-keys"].trim()))
                    .collect();
                keys.sort();
                if let Some((_, key)) = keys.last() {
                    copy(&self.caches.join(key), &path);
                }
            }
            "actions/cache/save" => {
                assert!(path.is_dir(), "nothing to save");
                copy(&path, &self.caches.join(&with["key"]));
                ran.saved.push(with["key"].clone());
            }
            _ => panic!("the interpreter knows no `{uses}`"),
        }
    }

    fn run_step(
        &self,
        step: &Yaml,
        scope: &Scope,
        temp: &Path,
        event: &Path,
        ran: &mut Ran,
    ) -> BTreeMap<String, String> {
        let script = text(&step["run"]).unwrap();
        assert!(!script.contains("${{"), "a text of others' becomes part of a script: {script}");
        assert_eq!(text(&step["shell"]).as_deref(), Some("bash"));
        let file = temp.join("script.sh");
        fs::write(&file, script).unwrap();
        let output = temp.join("output");
        fs::write(&output, "").unwrap();
        let folder = text(&step["working-directory"]).map_or_else(String::new, |folder| interpolate(&folder, scope));
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("RATLAS_") || name.starts_with("GITHUB_") {
                command.env_remove(&*name);
            }
        }
        command.current_dir(self.workspace.join(folder));
        for (name, value) in pairs(&step["env"]) {
            command.env(name, interpolate(&value, scope));
        }
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_NAME", self.event_name).env("GITHUB_REF", self.git_ref);
        command.env("GITHUB_EVENT_PATH", event).env("GITHUB_OUTPUT", &output);
        command.env("GITHUB_PATH", temp.join("path")).env("GITHUB_STEP_SUMMARY", temp.join("summary"));
        command.env("RUNNER_TEMP", temp).env("XDG_CONFIG_HOME", temp.join("no-config"));
        let base = self.event["pull_request"]["base"]["ref"].as_str().unwrap_or_default();
        command.env("GITHUB_BASE_REF", base);
        let done = command.output().unwrap();
        ran.is_ok = done.status.success();
        ran.log.push_str(&String::from_utf8_lossy(&done.stdout));
        ran.log.push_str(&String::from_utf8_lossy(&done.stderr));
        read_outputs(&fs::read_to_string(&output).unwrap())
    }
}

/// Reads a file of outputs as the runner does: `name=value`, or `name<<end` and lines up to `end`.
fn read_outputs(text: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((name, end)) = line.split_once("<<") {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        } else if let Some((name, value)) = line.split_once('=') {
            outputs.insert(name.to_owned(), value.to_owned());
        }
    }
    outputs
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
