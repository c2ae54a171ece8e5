//! The checkout that a pipeline works in: its history as it is here, and `git fetch` for what a
//! shallow clone lacks. Git runs as a process of its own, with the pipeline's credentials.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::base::error::Result;
use crate::ci::base::History;
use crate::git::repo::Repo;
use crate::git::{history, line};

/// A clone on disk.
pub struct Checkout {
    root: PathBuf,
    head: String,
    /// Whether git may ask its remote.
    may_fetch: bool,
}

impl Checkout {
    /// The clone that `dir` lies in, at `head`.
    ///
    /// # Errors
    /// As [`Repo::open`]; `UnknownRevision` for the head.
    pub fn open(dir: &Path, head: &str, may_fetch: bool) -> Result<Self> {
        let repo = Repo::open(dir)?;
        let head = history::resolve(&repo, head)?;
        Ok(Checkout { root: repo.root().to_owned(), head, may_fetch })
    }

    /// Opened anew for each question: fetching changes what is there.
    fn repo(&self) -> Option<Repo> {
        Repo::open(&self.root).ok()
    }

    fn git_fetch(&self, arguments: &[&str]) -> bool {
        if !self.may_fetch {
            return false;
        }
        let mut command = Command::new("git");
        // A container's user need not own the checkout; what is fetched are objects only.
        command.arg("-c").arg(format!("safe.directory={}", self.root.display()));
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"]);
        command.args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]);
        command.args(arguments).current_dir(&self.root).env("GIT_TERMINAL_PROMPT", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// A branch's name that can be nothing else for git: no option, no other side of a refspec.
fn is_branch(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '+'])
        && !name.contains("..")
        && name.chars().all(|c| c.is_alphanumeric() || "-_./@#+".contains(c))
}

impl History for Checkout {
    fn head(&self) -> String {
        self.head.clone()
    }

    fn resolve(&self, revision: &str) -> Option<String> {
        history::resolve(&self.repo()?, revision).ok()
    }

    fn parents(&self, commit: &str) -> Option<Vec<String>> {
        line::parents(&self.repo()?, commit).ok()
    }

    fn has_tree(&self, commit: &str) -> bool {
        self.repo().is_some_and(|repo| line::has_tree(&repo, commit).unwrap_or(false))
    }

    fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        history::merge_base(&self.repo()?, one, other).ok()
    }

    fn fetch(&self, commit: &str) -> bool {
        let is_id = matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit());
        is_id && self.git_fetch(&["--depth=1", "origin", commit])
    }

    fn deepen(&self, branch: Option<&str>, n_commits: u32) -> bool {
        let Some(repo) = self.repo() else { return false };
        let is_shallow = line::is_shallow(&repo).unwrap_or(false);
        let branch = branch.filter(|branch| is_branch(branch));
        let refspec = branch.map(|branch| format!("+refs/heads/{branch}:refs/remotes/origin/{branch}"));
        let depth = format!("--deepen={n_commits}");
        let mut arguments: Vec<&str> = Vec::new();
        if is_shallow {
            arguments.push(&depth);
        }
        arguments.push("origin");
        arguments.extend(refspec.as_deref());
        // The checked-out commit too: its side has to grow as well.
        arguments.push(&self.head);
        let has_branch = refspec.is_some();
        (is_shallow || has_branch)
            && (self.git_fetch(&arguments) || (is_shallow && self.git_fetch(&[&depth, "origin"])))
    }
}

#[cfg(test)]
mod tests {
    use super::is_branch;

    #[test]
    fn branches_cannot_be_options_or_refspecs() {
        for name in ["main", "feat/a-b_c.d", "dependabot/npm/@x/y-1.2"] {
            assert!(is_branch(name), "{name}");
        }
        for name in ["", "--upload-pack=x", "a:b", "+a", "a..b", "a b", "a*"] {
            assert!(!is_branch(name), "{name}");
        }
    }
}
