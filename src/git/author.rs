//! Writes a small repository with history: for the demonstration and for end-to-end tests.
//! Nothing here ever touches a repository of the user's.

use std::collections::BTreeMap;
use std::path::Path;

use gix::bstr::BString;
use gix::objs::tree::{Entry, EntryKind};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::path::RepoPath;

/// A commit to write: files that are new or other than before, and files that go away.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    pub message: &'a str,
    pub files: Vec<(RepoPath, &'a [u8])>,
    pub removed: Vec<RepoPath>,
}

/// The first commit's time; each later one comes a day after (seconds since 1970, UTC).
const FIRST_TIME: i64 = 1_704_110_400;
const DAY: i64 = 86_400;

/// Makes a repository in the empty folder `dir` with these commits, the last one checked out.
/// Equal commits give equal ids on any machine.
///
/// # Errors
/// `Git` and `Io`.
pub fn write_history(dir: &Path, commits: &[NewCommit<'_>]) -> Result<()> {
    // Neither the user's nor the system's configuration decides anything here.
    let options = gix::open::Options::isolated();
    let repo: gix::Repository = gix::ThreadSafeRepository::init_opts(
        dir,
        gix::create::Kind::WithWorktree,
        gix::create::Options::default(),
        options,
    )
    .map_err(|source| failed("make a repository").source(source))?
    .into();
    let mut files: BTreeMap<RepoPath, gix::ObjectId> = BTreeMap::new();
    let mut parent: Option<gix::ObjectId> = None;
    for (at, commit) in commits.iter().enumerate() {
        for (path, bytes) in &commit.files {
            let id = repo.write_blob(bytes).map_err(|source| failed("write a blob").source(source))?;
            files.insert(path.clone(), id.detach());
            write_file(dir, path, bytes)?;
        }
        for path in &commit.removed {
            files.remove(path);
            std::fs::remove_file(dir.join(path.as_str()))
                .map_err(|source| Error::new(ErrorKind::Io, format!("cannot remove `{path}`")).source(source))?;
        }
        let tree = write_tree(&repo, &files, "")?;
        let time = format!("{} +0000", FIRST_TIME + DAY * at as i64);
        let author = gix::actor::SignatureRef { name: "Ada".into(), email: "ada@example.com".into(), time: &time };
        let id = repo
            .commit_as(author, author, "HEAD", commit.message, tree, parent)
            .map_err(|source| failed("write a commit").source(source))?;
        parent = Some(id.detach());
        if at + 1 == commits.len() {
            let mut index = repo.index_from_tree(&tree).map_err(|source| failed("make an index").source(source))?;
            index
                .write(gix::index::write::Options::default())
                .map_err(|source| failed("write the index").source(source))?;
        }
    }
    Ok(())
}

fn failed(doing: &str) -> Error {
    Error::new(ErrorKind::Git, format!("cannot {doing}"))
}

fn write_file(dir: &Path, path: &RepoPath, bytes: &[u8]) -> Result<()> {
    let file = dir.join(path.as_str());
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, bytes));
    made.map_err(|source| Error::new(ErrorKind::Io, format!("cannot write `{path}`")).source(source))
}

/// Writes the tree of a folder (`""`, else ended by `/`) and of those in it.
fn write_tree(
    repo: &gix::Repository,
    files: &BTreeMap<RepoPath, gix::ObjectId>,
    folder: &str,
) -> Result<gix::ObjectId> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (path, id) in files {
        let Some(rest) = path.as_str().strip_prefix(folder) else { continue };
        match rest.split_once('/') {
            None => entries.push(Entry { mode: EntryKind::Blob.into(), filename: BString::from(rest), oid: *id }),
            Some((name, _)) if !seen.contains(&name) => {
                seen.push(name);
                let oid = write_tree(repo, files, &format!("{folder}{name}/"))?;
                entries.push(Entry { mode: EntryKind::Tree.into(), filename: BString::from(name), oid });
            }
            Some(_) => {}
        }
    }
    entries.sort();
    let tree = gix::objs::Tree { entries };
    repo.write_object(&tree).map(gix::Id::detach).map_err(|source| failed("write a tree").source(source))
}

#[cfg(test)]
mod tests {
    use super::{NewCommit, write_history};
    use crate::base::path::RepoPath;
    use crate::git::repo::Repo;
    use crate::git::snapshot::Snapshot;

    #[test]
    fn history_is_what_was_given() {
        let dir = tempfile::tempdir().unwrap();
        let path = |text| RepoPath::new(text).unwrap();
        let commits = [
            NewCommit {
                message: "one",
                files: vec![(path("a/x.py"), b"x = 1\n"), (path("a.py"), b""), (path("b.txt"), b"b")],
                removed: Vec::new(),
            },
            NewCommit { message: "two", files: vec![(path("a/x.py"), b"x = 2\n")], removed: vec![path("b.txt")] },
        ];
        write_history(dir.path(), &commits).unwrap();
        let repo = Repo::open(dir.path()).unwrap();
        let paths = |revision: &str| -> Vec<String> {
            Snapshot::at(&repo, revision).unwrap().entries.iter().map(|e| e.path.to_string()).collect()
        };
        assert_eq!(paths("HEAD~1"), ["a.py", "a/x.py", "b.txt"]);
        assert_eq!(paths("HEAD"), ["a.py", "a/x.py"]);
        let status =
            std::process::Command::new("git").args(["status", "--porcelain"]).current_dir(dir.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&status.stdout), "", "the worktree is clean to git itself");
    }
}
