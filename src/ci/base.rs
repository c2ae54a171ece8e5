//! Against what a run is compared. When nothing can be said for sure, nothing is said, and all
//! tests run, with the reason.

use crate::ci::event::{Event, Trigger};

/// What is asked of a clone; `checkout` asks git.
pub trait History {
    /// The commit that is checked out.
    fn head(&self) -> String;
    /// The commit of a revision.
    fn resolve(&self, revision: &str) -> Option<String>;
    /// The parents of a commit that is here.
    fn parents(&self, commit: &str) -> Option<Vec<String>>;
    /// Whether a commit and its tree are here.
    fn has_tree(&self, commit: &str) -> bool;
    /// The best common ancestor, as far as history is here.
    fn merge_base(&self, one: &str, other: &str) -> Option<String>;
    /// Brings a commit with its tree; says whether it is here then.
    fn fetch(&self, commit: &str) -> bool;
    /// Brings a branch and more history; says whether anything came.
    fn deepen(&self, branch: Option<&str>, n_commits: u32) -> bool;
}

/// The two trees to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The base's commit; `None` when there is nothing to compare with.
    pub base: Option<String>,
    pub head: String,
    /// `given merge_ref merge_base merge_group green before none`.
    pub strategy: &'static str,
    /// Why there is no base, or none better.
    pub reason: String,
}

/// How deep a shallow clone is dug for a merge base, step by step.
const DEPTHS: [u32; 3] = [50, 250, 1250];

/// Decides on the base. `given` is a revision of the user's; `green` the last commit of the
/// branch whose run was green.
pub fn decide(event: &Event, given: Option<&str>, green: Option<&str>, history: &dyn History) -> Decision {
    let head = history.head();
    let found =
        |base: String, strategy| Decision { base: Some(base), head: head.clone(), strategy, reason: String::new() };
    let none = |reason: &str| Decision { base: None, head: head.clone(), strategy: "none", reason: reason.to_owned() };
    if let Some(given) = given {
        // From where the two lines part: what the base got meanwhile is no change of this side's.
        let base = history.resolve(given).or_else(|| history.fetch(given).then(|| given.to_owned()));
        return match base.and_then(|base| merge_base(history, &base, &head, None)) {
            Some(base) => found(base, "given"),
            None => none("the given base, or a merge base with it, is not in this clone"),
        };
    }
    match &event.trigger {
        Trigger::PullRequest { base, head: pull_head, .. } => {
            if let Some(parents) = history.parents(&head)
                && let [first, second] = &parents[..]
                && second == pull_head
            {
                return match here(history, first) {
                    true => found(first.clone(), "merge_ref"),
                    false => none("the merge ref's first parent is not in this clone: check out with fetch-depth: 2"),
                };
            }
            if head == *pull_head {
                return match merge_base(history, base, &head, event.branch.as_deref()) {
                    Some(base) => found(base, "merge_base"),
                    None => none("no merge base of the pull request is in this clone: check out with fetch-depth: 0"),
                };
            }
            none("what is checked out is neither the pull request's merge nor its head")
        }
        Trigger::MergeGroup { base } => match here(history, base) {
            true => found(base.clone(), "merge_group"),
            false => none("the merge group's base cannot be fetched"),
        },
        Trigger::Push { before, is_forced } => {
            // Only a commit on this line: another's green says nothing of what was undone here.
            if let Some(green) = green
                && here(history, green)
                && merge_base(history, green, &head, None).as_deref() == Some(green)
            {
                return found(green.to_owned(), "green");
            }
            if let Some(before) = before
                && here(history, before)
            {
                // Trees are compared, not histories: a forced push's base may lie on no line of it.
                let strategy = if *is_forced { "before_forced" } else { "before" };
                return found(before.clone(), strategy);
            }
            let default = event.default_branch.as_deref().filter(|default| event.branch.as_deref() != Some(*default));
            let tip = default.and_then(|default| {
                let name = format!("refs/remotes/origin/{default}");
                history
                    .resolve(&name)
                    .or_else(|| history.deepen(Some(default), DEPTHS[0]).then(|| history.resolve(&name))?)
            });
            match tip.and_then(|tip| merge_base(history, &tip, &head, default)) {
                Some(base) => found(base, "merge_base"),
                None if before.is_none() => none("a new branch without a merge base in this clone"),
                None => none("the commit before this push cannot be fetched"),
            }
        }
        Trigger::Tag => none("a tag is compared with nothing"),
        Trigger::Other(name) => none(&format!("{name} is compared with nothing")),
    }
}

/// Whether a commit's tree is here, or can be brought.
fn here(history: &dyn History, commit: &str) -> bool {
    history.has_tree(commit) || (history.fetch(commit) && history.has_tree(commit))
}

/// The merge base, digging for it where the clone is shallow.
fn merge_base(history: &dyn History, one: &str, other: &str, branch: Option<&str>) -> Option<String> {
    if !history.has_tree(one) {
        history.fetch(one);
    }
    let usable = |base: Option<String>| base.filter(|base| here(history, base));
    if let Some(base) = usable(history.merge_base(one, other)) {
        return Some(base);
    }
    for depth in DEPTHS {
        if !history.deepen(branch, depth) {
            return None;
        }
        if let Some(base) = usable(history.merge_base(one, other)) {
            return Some(base);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Decision, History, decide};
    use crate::ci::event::{Event, Trigger};
    use std::cell::RefCell;
    use std::collections::{BTreeMap, BTreeSet};

    /// A made-up clone: commits by name with their parents, and those that a remote has.
    #[derive(Default)]
    struct Made {
        head: &'static str,
        parents: BTreeMap<&'static str, Vec<&'static str>>,
        away: RefCell<BTreeSet<&'static str>>,
    }

    impl Made {
        fn ancestors(&self, of: &str) -> Vec<String> {
            let mut all = vec![of.to_owned()];
            let mut at = 0;
            while at < all.len() {
                if self.has_tree(&all[at]) {
                    let parents = self.parents.get(all[at].as_str()).into_iter().flatten();
                    all.extend(parents.map(|p| (*p).to_owned()));
                }
                at += 1;
            }
            all
        }
    }

    impl History for Made {
        fn head(&self) -> String {
            self.head.to_owned()
        }
        fn resolve(&self, revision: &str) -> Option<String> {
            let name = revision.rsplit('/').next()?;
            self.has_tree(name).then(|| name.to_owned())
        }
        fn parents(&self, commit: &str) -> Option<Vec<String>> {
            Some(self.parents.get(commit)?.iter().map(|p| (*p).to_owned()).collect())
        }
        fn has_tree(&self, commit: &str) -> bool {
            self.parents.contains_key(commit) && !self.away.borrow().contains(commit)
        }
        fn merge_base(&self, one: &str, other: &str) -> Option<String> {
            let others = self.ancestors(other);
            self.ancestors(one).into_iter().find(|c| self.has_tree(c) && others.contains(c))
        }
        fn fetch(&self, commit: &str) -> bool {
            self.away.borrow_mut().remove(commit);
            self.parents.contains_key(commit)
        }
        fn deepen(&self, _branch: Option<&str>, _n: u32) -> bool {
            let had = !self.away.borrow().is_empty();
            self.away.borrow_mut().clear();
            had
        }
    }

    fn made(head: &'static str, away: &[&'static str]) -> Made {
        // a - b - c (main), b - x - y (topic), m merges y into c.
        let parents = [
            ("a", vec![]),
            ("b", vec!["a"]),
            ("c", vec!["b"]),
            ("x", vec!["b"]),
            ("y", vec!["x"]),
            ("m", vec!["c", "y"]),
        ];
        Made { head, parents: parents.into(), away: RefCell::new(away.iter().copied().collect()) }
    }

    fn event(trigger: Trigger) -> Event {
        Event { trigger, branch: Some("main".into()), default_branch: Some("main".into()), off: None }
    }

    fn pull() -> Event {
        event(Trigger::PullRequest { number: 1, base: "c".into(), head: "y".into(), is_fork: false })
    }

    fn push(before: Option<&str>, is_forced: bool) -> Event {
        event(Trigger::Push { before: before.map(str::to_owned), is_forced })
    }

    fn said(decision: &Decision) -> (Option<&str>, &str) {
        (decision.base.as_deref(), decision.strategy)
    }

    #[test]
    fn a_merge_ref_is_compared_with_its_first_parent() {
        assert_eq!(said(&decide(&pull(), None, None, &made("m", &[]))), (Some("c"), "merge_ref"));
        assert_eq!(said(&decide(&pull(), None, None, &made("m", &["c"]))), (Some("c"), "merge_ref"), "fetched");
        assert_eq!(said(&decide(&pull(), None, None, &made("y", &["b", "a"]))), (Some("b"), "merge_base"), "deepened");
        let other = decide(&pull(), None, None, &made("c", &[]));
        assert_eq!(said(&other), (None, "none"));
        assert!(other.reason.contains("neither"), "{}", other.reason);
    }

    #[test]
    fn a_push_is_compared_with_the_last_green_commit_else_what_was_before() {
        let green = |green| decide(&push(Some("b"), false), None, green, &made("c", &[]));
        assert_eq!(said(&green(Some("a"))), (Some("a"), "green"), "a red run between hides nothing");
        assert_eq!(said(&green(Some("x"))), (Some("b"), "before"), "green elsewhere");
        assert_eq!(said(&green(None)), (Some("b"), "before"));
        assert_eq!(said(&decide(&push(Some("y"), true), None, None, &made("c", &[]))), (Some("y"), "before_forced"));
        let mut topic = push(None, false);
        topic.branch = Some("topic".into());
        let mut with_main = made("y", &[]);
        with_main.parents.insert("main", vec!["b"]);
        assert_eq!(said(&decide(&topic, None, None, &with_main)), (Some("b"), "merge_base"), "a new branch");
        assert_eq!(said(&decide(&push(Some("gone"), true), None, None, &made("c", &[]))), (None, "none"));
    }

    #[test]
    fn merge_groups_given_bases_and_runs_that_compare_with_nothing() {
        let group = event(Trigger::MergeGroup { base: "c".into() });
        assert_eq!(said(&decide(&group, None, None, &made("m", &["c"]))), (Some("c"), "merge_group"));
        assert_eq!(said(&decide(&pull(), Some("c"), None, &made("y", &[]))), (Some("b"), "given"));
        for trigger in [Trigger::Tag, Trigger::Other("schedule".into())] {
            assert_eq!(said(&decide(&event(trigger), None, Some("a"), &made("c", &[]))), (None, "none"));
        }
    }
}
