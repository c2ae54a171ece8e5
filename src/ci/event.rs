//! What happened, as GitHub says it: variables of the environment and the file of the event.
//!
//! Every text of it may be a stranger's: ids are taken only where they look like ids, names are
//! kept as data and never become part of a command.

use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};

/// The largest event file that is read; GitHub caps them at 25 MB.
pub const MAX_BYTES: u64 = 32 << 20;

/// The label of a pull request that asks for all tests.
pub const ALL_LABEL: &str = "ratlas:all";

/// What started the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    PullRequest {
        number: u64,
        base: String,
        head: String,
        is_fork: bool,
    },
    MergeGroup {
        base: String,
    },
    Push {
        before: Option<String>,
        is_forced: bool,
    },
    Tag,
    /// A schedule, a dispatch, anything that compares with nothing.
    Other(String),
}

/// What is known of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub trigger: Trigger,
    /// The branch that is built, or that a pull request goes to; `None` when it is on none.
    pub branch: Option<String>,
    pub default_branch: Option<String>,
    /// Why selection is switched off for this run.
    pub off: Option<&'static str>,
}

impl Event {
    /// Reads the run from variables (by name) and the event's JSON. Outside of GitHub there is no
    /// event, which compares with nothing.
    ///
    /// # Errors
    /// `Usage` for an event that lacks what its kind must have.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>, event: &Value) -> Result<Self> {
        let name = variable("GITHUB_EVENT_NAME").unwrap_or_default();
        let git_ref = variable("GITHUB_REF").unwrap_or_default();
        let branch = git_ref.strip_prefix("refs/heads/").map(str::to_owned);
        let default_branch = event["repository"]["default_branch"].as_str().map(str::to_owned);
        let mut off = None;
        let trigger = match name.as_str() {
            "pull_request" | "pull_request_target" => {
                let pull = &event["pull_request"];
                let labels = pull["labels"].as_array().into_iter().flatten();
                if labels.filter_map(|label| label["name"].as_str()).any(|label| label == ALL_LABEL) {
                    off = Some("the label ratlas:all");
                }
                let repository = |side: &str| pull[side]["repo"]["full_name"].as_str().map(str::to_owned);
                Trigger::PullRequest {
                    number: pull["number"].as_u64().or(event["number"].as_u64()).ok_or_else(|| lacks("number"))?,
                    base: id(&pull["base"]["sha"]).ok_or_else(|| lacks("pull_request.base.sha"))?,
                    head: id(&pull["head"]["sha"]).ok_or_else(|| lacks("pull_request.head.sha"))?,
                    // The head's repository is null when it has been deleted: a stranger's too.
                    is_fork: repository("head").is_none() || repository("head") != repository("base"),
                }
            }
            "merge_group" => Trigger::MergeGroup {
                base: id(&event["merge_group"]["base_sha"]).ok_or_else(|| lacks("merge_group.base_sha"))?,
            },
            "push" if git_ref.starts_with("refs/tags/") => Trigger::Tag,
            "push" => Trigger::Push {
                before: id(&event["before"]).filter(|before| before.bytes().any(|byte| byte != b'0')),
                is_forced: event["forced"].as_bool().unwrap_or(false),
            },
            "" => Trigger::Other("no event".to_owned()),
            other => Trigger::Other(other.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()),
        };
        let to = variable("GITHUB_BASE_REF").filter(|to| !to.is_empty());
        let branch = match trigger {
            Trigger::PullRequest { .. } => {
                to.or_else(|| event["pull_request"]["base"]["ref"].as_str().map(str::to_owned))
            }
            Trigger::MergeGroup { .. } => {
                event["merge_group"]["base_ref"].as_str().and_then(|r| r.strip_prefix("refs/heads/")).map(str::to_owned)
            }
            Trigger::Push { .. } | Trigger::Tag | Trigger::Other(_) => branch,
        };
        Ok(Event { trigger, branch, default_branch, off })
    }

    /// Whether this is a push to the default branch: what it makes may be trusted by others.
    pub fn is_trusted(&self) -> bool {
        matches!(self.trigger, Trigger::Push { .. }) && self.branch.is_some() && self.branch == self.default_branch
    }
}

fn id(value: &Value) -> Option<String> {
    let is_id = |text: &&str| matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    value.as_str().filter(is_id).map(str::to_lowercase)
}

fn lacks(what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("the event file has no `{what}`"))
        .hint("give the two commits: `ratlas ci --base REV --head REV`")
}

#[cfg(test)]
mod tests {
    use super::{Event, Trigger};
    use serde_json::{Value, json};

    fn read(name: &str, git_ref: &str, event: &Value) -> Event {
        let variable = |asked: &str| match asked {
            "GITHUB_EVENT_NAME" => Some(name.to_owned()),
            "GITHUB_REF" => Some(git_ref.to_owned()),
            _ => None,
        };
        Event::read(&variable, event).unwrap()
    }

    #[test]
    fn kinds_of_runs_are_told_apart() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let side = |sha: &str, repo: Value| json!({"sha": sha, "ref": "main", "repo": repo});
        let pull = json!({"number": 7, "pull_request": {
            "number": 7, "labels": [{"name": "ratlas:all"}],
            "base": side(&a, json!({"full_name": "o/r"})), "head": side(&b, Value::Null)}});
        let event = read("pull_request", "refs/pull/7/merge", &pull);
        assert_eq!(event.trigger, Trigger::PullRequest { number: 7, base: a.clone(), head: b, is_fork: true });
        assert_eq!((event.branch.as_deref(), event.off), (Some("main"), Some("the label ratlas:all")));
        assert!(!event.is_trusted());

        let push = json!({"before": a, "repository": {"default_branch": "main"}});
        let event = read("push", "refs/heads/main", &push);
        assert_eq!(event.trigger, Trigger::Push { before: Some(a), is_forced: false });
        assert!(event.is_trusted() && !read("push", "refs/heads/x", &push).is_trusted());
        let created = json!({"before": "0".repeat(40), "created": true});
        assert_eq!(read("push", "refs/heads/x", &created).trigger, Trigger::Push { before: None, is_forced: false });
        assert_eq!(read("push", "refs/tags/v1", &push).trigger, Trigger::Tag);
        assert_eq!(read("schedule", "refs/heads/main", &Value::Null).trigger, Trigger::Other("schedule".into()));
    }

    #[test]
    fn an_id_that_is_none_is_not_taken() {
        let push = json!({"before": "--upload-pack=touch /tmp/x"});
        assert_eq!(read("push", "refs/heads/x", &push).trigger, Trigger::Push { before: None, is_forced: false });
        let variable = |name: &str| (name == "GITHUB_EVENT_NAME").then(|| "merge_group".to_owned());
        assert!(Event::read(&variable, &Value::Null).is_err());
    }
}
