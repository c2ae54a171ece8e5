//! Snapshots against git itself: the same files, the same blob ids.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use ratlas::base::error::ErrorKind;
use ratlas::git::history;
use ratlas::git::read::Reader;
use ratlas::git::repo::Repo;
use ratlas::git::snapshot::{EntryKind, Place, Snapshot, SnapshotOptions, Trouble, changed_paths};
use ratlas::git::stat::StatCache;

/// A repository in a temporary folder.
pub struct Scratch {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Scratch {
    pub fn new() -> Self {
        let scratch = Self::folder();
        scratch.git(&["init", "-q", "-b", "main", "--template="]);
        for (key, value) in
            [("core.autocrlf", "false"), ("core.excludesFile", "/dev/null"), ("commit.gpgsign", "false")]
        {
            scratch.git(&["config", key, value]);
        }
        scratch
    }

    pub fn folder() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        Scratch { _dir: dir, root }
    }

    /// A place for a store, beside the repository.
    pub fn store(&self) -> PathBuf {
        self.root.parent().unwrap().join("store")
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&git(&self.root, arguments)).into_owned()
    }

    pub fn write(&self, path: &str, text: &str) -> &Self {
        let full = self.root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
        self
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }
}

pub fn git(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null"]);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@b.c");
        command.env(format!("GIT_{role}_DATE"), "2001-01-01T00:00:00Z");
    }
    let output = command.args(arguments).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub fn snapshot_with(root: &Path, jobs: usize, cache: &mut StatCache) -> Snapshot {
    let repo = Repo::open(root).unwrap();
    Snapshot::worktree(&repo, &SnapshotOptions { jobs, is_private: &|_| false }, cache).unwrap()
}

fn snapshot(root: &Path) -> Snapshot {
    snapshot_with(root, 2, &mut StatCache::default())
}

#[cfg(unix)]
fn os(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// What git says that the worktree holds: path → blob.
fn git_says(root: &Path) -> BTreeMap<Vec<u8>, String> {
    let mut files = BTreeMap::new();
    let listed = git(root, &["ls-files", "-z", "-t", "-c", "-o", "--exclude-standard", "--deduplicate"]);
    let staged = git(root, &["ls-files", "-z", "-s"]);
    let staged: BTreeMap<&[u8], (&[u8], &[u8])> = staged
        .split(|b| *b == 0)
        .filter(|l| !l.is_empty())
        .map(|line| {
            let tab = line.iter().position(|b| *b == b'\t').unwrap();
            let mut fields = line[..tab].split(|b| *b == b' ');
            (&line[tab + 1..], (fields.next().unwrap(), fields.next().unwrap()))
        })
        .collect();
    for line in listed.split(|b| *b == 0).filter(|l| !l.is_empty()) {
        let (tag, path) = (line[0], &line[2..]);
        // A nested repository that is not tracked.
        if path.ends_with(b"/") {
            continue;
        }
        let full = root.join(os(path));
        let staged = staged.get(path);
        let metadata = full.symlink_metadata();
        let id = match &metadata {
            _ if staged.is_some_and(|(mode, _)| *mode == b"160000") => {
                String::from_utf8_lossy(staged.unwrap().1).into()
            }
            Err(_) if tag == b'S' => String::from_utf8_lossy(staged.unwrap().1).into(),
            Err(_) => continue,
            Ok(m) if m.is_dir() => continue,
            Ok(m) if m.is_symlink() => {
                let target = std::fs::read_link(&full).unwrap();
                ratlas::git::blob::sha1(target.as_os_str().as_encoded_bytes()).unwrap().to_string()
            }
            Ok(_) => {
                let output =
                    Command::new("git").current_dir(root).args(["hash-object", "--"]).arg(os(path)).output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
        };
        // A path beyond a symlink is not in the worktree.
        let beyond = Path::new(os(path)).ancestors().skip(1).any(|a| root.join(a).is_symlink() && a != Path::new(""));
        if !beyond {
            files.insert(path.to_vec(), id);
        }
    }
    files
}

/// The snapshot holds what git says, on any number of threads, with or without a stat cache,
/// and every entry reads back as the bytes of its id.
pub fn check(root: &Path) -> Snapshot {
    let expected = git_says(root);
    let mut cache = StatCache::default();
    let first = snapshot_with(root, 2, &mut cache);
    let found: BTreeMap<Vec<u8>, String> = first
        .entries
        .iter()
        .map(|e| (e.raw_path.as_deref().unwrap_or(e.path.as_str().as_bytes()).to_vec(), e.blob.to_string()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(snapshot_with(root, 1, &mut cache), first);
    assert_eq!(snapshot_with(root, 2, &mut StatCache::from_bytes(&cache.to_bytes())), first);

    let status = git(root, &["status", "--porcelain", "-z", "-uall", "--ignore-submodules=dirty"]);
    let changed = status.split(|b| *b == 0).any(|line| !line.is_empty() && !line.ends_with(b"/"));
    assert_eq!(first.entries.iter().any(|e| e.dirty) || !first.deleted.is_empty(), changed);

    let repo = Repo::open(root).unwrap();
    let mut reader = Reader::new(&repo);
    for entry in first.entries.iter().filter(|e| e.kind != EntryKind::Submodule) {
        let bytes = reader.read(entry).unwrap();
        if entry.blob.as_bytes().len() == 20 {
            assert_eq!(ratlas::git::blob::sha1(&bytes).unwrap(), entry.blob, "{}", entry.path);
        }
    }
    first
}

pub fn dirty(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.entries.iter().filter(|e| e.dirty).map(|e| e.path.as_str()).collect()
}

#[test]
fn worktree_is_tracked_and_untracked_but_not_ignored() {
    let scratch = Scratch::new();
    scratch.write("a.py", "a = 1\n").write("src/b.py", "b = 2\n").write(".gitignore", "*.log\nbuild/\n");
    scratch.write("build/kept.py", "k\n");
    scratch.git(&["add", "-f", "build/kept.py"]);
    scratch.commit("one");
    assert!(dirty(&check(&scratch.root)).is_empty());
    scratch.write("x.log", "ignored").write("build/out.py", "ignored").write("src/new.py", "n = 1\n");
    scratch.write("src/.gitignore", "secret.py\n").write("src/secret.py", "ignored\n");
    scratch.write(".git/info/exclude", "excluded.py\n").write("excluded.py", "ignored\n");
    let global = scratch.root.parent().unwrap().join("global");
    std::fs::write(&global, "everywhere.py\n").unwrap();
    scratch.git(&["config", "core.excludesFile", global.to_str().unwrap()]);
    scratch.write("everywhere.py", "ignored\n");
    assert_eq!(dirty(&check(&scratch.root)), ["src/.gitignore", "src/new.py"]);
}

#[test]
fn worktree_bytes_count_staged_or_not() {
    let scratch = Scratch::new();
    for name in ["staged.py", "unstaged.py", "both.py", "gone.py", "removed.py", "same.py"] {
        scratch.write(name, "x = 1\n");
    }
    scratch.commit("one");
    scratch.write("staged.py", "x = 2\n").write("both.py", "x = 2\n").write("added.py", "x = 3\n");
    scratch.git(&["add", "-A"]);
    scratch.write("unstaged.py", "x = 4\n").write("both.py", "x = 5\n").write("intent.py", "x = 6\n");
    scratch.git(&["add", "-N", "intent.py"]);
    scratch.git(&["rm", "-q", "removed.py"]);
    std::fs::remove_file(scratch.root.join("gone.py")).unwrap();
    let snapshot = check(&scratch.root);
    assert_eq!(dirty(&snapshot), ["added.py", "both.py", "intent.py", "staged.py", "unstaged.py"]);
    assert_eq!(snapshot.deleted.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["gone.py", "removed.py"]);
}

#[test]
fn edits_of_equal_size_are_seen_at_once() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 0\n");
    scratch.commit("one");
    let mut cache = StatCache::default();
    for n in 1..30 {
        scratch.write("a.py", &format!("x = {}\n", n % 10));
        if n % 3 == 0 {
            scratch.git(&["add", "a.py"]);
            scratch.write("a.py", &format!("x = {}\n", (n + 5) % 10));
        }
        let bytes = std::fs::read(scratch.root.join("a.py")).unwrap();
        let snapshot = snapshot_with(&scratch.root, 1, &mut cache);
        assert_eq!(snapshot.entries[0].blob, ratlas::git::blob::sha1(&bytes).unwrap(), "round {n}");
    }
}

#[test]
fn conversions_are_git_s_own() {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "*.py text\n*.bat text eol=crlf\n*.auto text=auto\n*.id ident\n*.bin -text\n*.u16 text working-tree-encoding=UTF-16LE\n");
    scratch.commit("attributes");
    let utf16: Vec<u8> = "h\u{e9}llo\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for round in 0..2 {
        scratch.write("a.py", &format!("x = {round}\r\ny = 2\r\n"));
        scratch.write("b.bat", &format!("echo {round}\r\n"));
        scratch.write("c.auto", &format!("one {round}\r\ntwo\n"));
        scratch.write("d.id", &format!("$Id: abc $ {round}\n"));
        scratch.write("e.bin", &format!("{round}\r\n"));
        std::fs::write(scratch.root.join("f.u16"), &utf16).unwrap();
        check(&scratch.root);
        if round == 0 {
            scratch.commit("files");
            assert!(dirty(&check(&scratch.root)).is_empty());
        }
    }
    scratch.git(&["config", "core.autocrlf", "true"]);
    scratch.write("plain.txt", "a\r\nb\r\n").write("mixed.txt", "a\r\nb\n");
    check(&scratch.root);
}

#[test]
fn filter_drivers_are_never_run() {
    let scratch = Scratch::new();
    let witness = scratch.root.parent().unwrap().join("ran");
    scratch.write("a.py", "x = 1\n").write("b.py", "x = 1\n").write(".gitattributes", "a.py filter=upper\n");
    scratch.commit("one");
    let command = format!("touch {}; tr a-z A-Z", witness.display());
    scratch.git(&["config", "filter.upper.clean", &command]);
    scratch.git(&["config", "filter.upper.required", "true"]);
    scratch.write("a.py", "x = 22\n").write("b.py", "x = 22\n");
    let snapshot = snapshot(&scratch.root);
    assert_eq!(snapshot.find("a.py").unwrap().trouble, Some(Trouble::Filter));
    assert_eq!(snapshot.find("b.py").unwrap().trouble, None);
    assert_eq!(dirty(&snapshot), ["a.py", "b.py"]);
    assert!(!witness.exists());
}

#[test]
fn private_files_are_never_opened() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").write("tracked.pem", "old").commit("one");
    scratch.write(".env", "KEY=1").write("tracked.pem", "other bytes");
    let repo = Repo::open(&scratch.root).unwrap();
    let is_private = |path: &str| path == ".env" || path.ends_with(".pem");
    let options = SnapshotOptions { jobs: 2, is_private: &is_private };
    let snapshot = Snapshot::worktree(&repo, &options, &mut StatCache::default()).unwrap();
    for path in [".env", "tracked.pem"] {
        let entry = snapshot.find(path).unwrap();
        assert_eq!((entry.trouble, entry.dirty), (Some(Trouble::Private), true));
        assert!(Reader::new(&repo).read(entry).is_err());
    }
}

#[cfg(unix)]
#[test]
fn symlinks_are_not_followed() {
    let scratch = Scratch::new();
    let outside = scratch.root.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("x.py"), "outside\n").unwrap();
    scratch.write("real/x.py", "inside\n").write("moved/x.py", "inside\n");
    std::os::unix::fs::symlink("real/x.py", scratch.root.join("link.py")).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.root.join("away")).unwrap();
    scratch.commit("one");
    std::os::unix::fs::symlink("nowhere", scratch.root.join("dangling")).unwrap();
    std::fs::remove_dir_all(scratch.root.join("moved")).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.root.join("moved")).unwrap();
    let snapshot = check(&scratch.root);
    assert_eq!(snapshot.find("link.py").unwrap().kind, EntryKind::Symlink);
    assert_eq!(snapshot.find("moved").unwrap().kind, EntryKind::Symlink);
    assert!(snapshot.find("moved/x.py").is_none() && snapshot.find("away/x.py").is_none());
    assert_eq!(snapshot.deleted.len(), 1);
}

#[cfg(unix)]
#[test]
fn kinds_change_with_the_disk() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.write("run.py", "x\n").write("file", "x\n").write("folder/a.py", "x\n").commit("one");
    std::fs::set_permissions(scratch.root.join("run.py"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(scratch.root.join("file")).unwrap();
    scratch.write("file/inner.py", "y\n");
    std::fs::remove_dir_all(scratch.root.join("folder")).unwrap();
    scratch.write("folder", "now a file\n");
    let pipe = scratch.root.join("pipe.py");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let snapshot = check(&scratch.root);
    assert_eq!(snapshot.find("run.py").unwrap().kind, EntryKind::Executable);
    assert_eq!(dirty(&snapshot), ["file/inner.py", "folder", "run.py"]);
}

#[test]
fn other_repositories_are_borders() {
    let library = Scratch::new();
    library.write("lib.py", "x\n").commit("lib");
    let scratch = Scratch::new();
    scratch.write("a.py", "x\n").commit("one");
    scratch.git(&["submodule", "--quiet", "add", library.root.to_str().unwrap(), "vendor/lib"]);
    scratch.commit("two");
    scratch.git(&["clone", "-q", library.root.to_str().unwrap(), "nested/clone"]);
    scratch.git(&["worktree", "add", "-q", "trees/other"]);
    scratch.write("trees/other/edited.py", "y\n").write("vendor/lib/edited.py", "y\n");
    let snapshot = check(&scratch.root);
    assert_eq!(snapshot.find("vendor/lib").unwrap().kind, EntryKind::Submodule);
    assert_eq!(snapshot.entries.iter().filter(|e| e.path.as_str().contains("lib.py")).count(), 0);

    let inside = check(&scratch.root.join("vendor/lib"));
    assert_eq!(dirty(&inside), ["edited.py"]);
    let linked = check(&scratch.root.join("trees/other"));
    assert_eq!(dirty(&linked), ["edited.py"]);
    let keys = [".", "trees/other", "vendor/lib"].map(|d| Repo::open(&scratch.root.join(d)).unwrap().key());
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[0], keys[2]);
}

#[cfg(unix)]
#[test]
fn odd_names_stay_apart() {
    let scratch = Scratch::new();
    for name in
        ["with space.py", "quo\"te.py", "new\nline.py", "tab\t.py", "h\u{e9}.py", "Case.py", "case.py", "-dash.py"]
    {
        scratch.write(name, &format!("{name}\n"));
    }
    for (byte, text) in [(0xe9_u8, "one"), (0xe8, "two")] {
        std::fs::write(scratch.root.join(os(&[b'n', byte, b'.', b'p', b'y'])), text).unwrap();
    }
    check(&scratch.root);
    scratch.commit("one");
    let snapshot = check(&scratch.root);
    assert!(dirty(&snapshot).is_empty());
    let lossy: Vec<_> = snapshot.entries.iter().filter(|e| e.raw_path.is_some()).collect();
    assert_eq!(lossy.len(), 2);
    assert_ne!(lossy[0].path, lossy[1].path);
}

#[test]
fn head_may_be_unborn_or_detached() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x\n");
    let unborn = check(&scratch.root);
    assert_eq!((unborn.commit.as_deref(), dirty(&unborn)), (None, vec!["a.py"]));
    let one = scratch.commit("one");
    scratch.write("b.py", "y\n").commit("two");
    scratch.git(&["checkout", "-q", "--detach", &one]);
    let detached = check(&scratch.root);
    assert_eq!(detached.commit, Some(one));
    assert!(dirty(&detached).is_empty());
}

#[test]
fn conflicts_are_one_path_with_the_bytes_on_disk() {
    let scratch = Scratch::new();
    scratch.write("a.py", "x = 1\n").commit("base");
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("a.py", "x = 2\n").commit("side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("a.py", "x = 3\n").commit("main");
    let merge = Command::new("git").current_dir(&scratch.root).args(["merge", "-q", "side"]).output().unwrap();
    assert!(!merge.status.success());
    assert_eq!(dirty(&check(&scratch.root)), ["a.py"]);
}

#[test]
fn sparse_checkout_keeps_what_it_left_out() {
    for cone in [["--no-cone", "--no-sparse-index"], ["--cone", "--sparse-index"]] {
        let scratch = Scratch::new();
        for path in ["a.py", "in/b.py", "out/c.py", "out/deep/d.py"] {
            scratch.write(path, path);
        }
        scratch.commit("one");
        scratch.git(&["sparse-checkout", "set", cone[0], cone[1], "in"]);
        let snapshot = check(&scratch.root);
        assert_eq!(snapshot.find("out/deep/d.py").unwrap().place, Place::Object, "{cone:?}");
        assert!(dirty(&snapshot).is_empty() && snapshot.deleted.is_empty());
        scratch.write("out/new.py", "untracked\n").write("in/b.py", "edited\n");
        assert_eq!(dirty(&check(&scratch.root)), ["in/b.py", "out/new.py"]);
    }
}

#[test]
fn sha256_repositories_have_long_ids() {
    let scratch = Scratch::folder();
    scratch.git(&["init", "-q", "--object-format=sha256", "--template="]);
    scratch.write("a.py", "x\n").commit("one");
    scratch.write("b.py", "y\n");
    let snapshot = check(&scratch.root);
    assert!(snapshot.entries.iter().all(|e| e.blob.as_bytes().len() == 32));
}

#[test]
fn bare_repositories_show_head() {
    let scratch = Scratch::new();
    let commit = scratch.write("src/a.py", "x\n").commit("one");
    let bare = scratch.root.parent().unwrap().join("bare.git");
    scratch.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let snapshot = snapshot(&bare);
    assert_eq!(snapshot.commit, Some(commit.clone()));
    let repo = Repo::open(&bare).unwrap();
    assert_eq!(snapshot.entries, Snapshot::at(&repo, "HEAD").unwrap().entries);
    assert_eq!(Reader::new(&repo).read(&snapshot.entries[0]).unwrap(), b"x\n");
}

#[test]
fn folder_without_git_honors_ignore_files() {
    let scratch = Scratch::folder();
    scratch.write("a.py", "x = 1\n").write(".gitignore", "out/\n*.tmp\n").write("out/b.py", "no\n");
    scratch.write("sub/c.tmp", "no\n").write("sub/.hidden.py", "yes\n");
    std::fs::create_dir_all(scratch.root.join("nested/.git")).unwrap();
    scratch.write("nested/d.py", "another repository\n");
    let snapshot = snapshot(&scratch.root);
    let paths: Vec<_> = snapshot.entries.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, [".gitignore", "a.py", "sub/.hidden.py"]);
    assert_eq!(snapshot.entries[1].blob, ratlas::git::blob::sha1(b"x = 1\n").unwrap());
    let repo = Repo::open(&scratch.root).unwrap();
    assert_eq!(history::resolve(&repo, "HEAD").unwrap_err().kind, ErrorKind::NotARepository);
}

#[test]
fn home_root_and_missing_folders_are_refused() {
    for dir in [Path::new("/"), Path::new("/no/such/folder")] {
        assert_eq!(Repo::open(dir).err().unwrap().kind, ErrorKind::NotARepository);
    }
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|h| h.is_dir()) {
        assert_eq!(Repo::open(&home).err().unwrap().kind, ErrorKind::NotARepository);
    }
}

#[test]
fn revisions_resolve_and_meet() {
    let scratch = Scratch::new();
    let base = scratch.write("a.py", "1\n").write("b.py", "1\n").commit("base");
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("a.py", "2\n").commit("side");
    scratch.git(&["tag", "-a", "-m", "t", "v1"]);
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("c.py", "3\n");
    std::fs::remove_file(scratch.root.join("b.py")).unwrap();
    scratch.commit("main");
    let repo = Repo::open(&scratch.root).unwrap();
    assert_eq!(history::merge_base(&repo, "main", "v1").unwrap(), base);
    assert_eq!(history::resolve(&repo, "HEAD~1").unwrap(), base);
    let unknown = history::resolve(&repo, "nonesuch").unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::UnknownRevision);
    assert!(unknown.hint.is_some());
    let changes = changed_paths(&Snapshot::at(&repo, "v1").unwrap(), &Snapshot::at(&repo, "main").unwrap());
    let changes: Vec<_> = changes.iter().map(|c| (c.path.as_str(), c.old.is_some(), c.new.is_some())).collect();
    assert_eq!(changes, [("a.py", true, true), ("b.py", true, false), ("c.py", false, true)]);
}

#[test]
fn churn_counts_commits_of_a_path() {
    let scratch = Scratch::new();
    scratch.write("a.py", "1\n").write("src/b.py", "1\n").commit("one");
    scratch.write("a.py", "2\n").commit("two");
    std::fs::remove_file(scratch.root.join("src/b.py")).unwrap();
    scratch.write("a.py", "3\n").commit("three");
    let counts = |root: &Path, max_commits| {
        let churn = history::churn(&Repo::open(root).unwrap(), "HEAD", max_commits).unwrap();
        churn.into_iter().map(|(path, churn)| (path.to_string(), churn.n_commits)).collect::<Vec<_>>()
    };
    let row = |path: &str, n: u32| (path.to_owned(), n);
    assert_eq!(counts(&scratch.root, 10), [row("a.py", 3), row("src/b.py", 2)]);
    assert_eq!(counts(&scratch.root, 1), [row("a.py", 1), row("src/b.py", 1)]);
    let url = format!("file://{}", scratch.root.display());
    scratch.git(&["clone", "-q", "--depth=2", &url, "shallow"]);
    assert_eq!(counts(&scratch.root.join("shallow"), 10), [row("a.py", 1), row("src/b.py", 1)]);
}

#[test]
fn shallow_clones_say_how_to_deepen() {
    let scratch = Scratch::new();
    let old = scratch.write("a.py", "1\n").commit("one");
    scratch.write("a.py", "2\n").commit("two");
    let url = format!("file://{}", scratch.root.display());
    scratch.git(&["clone", "-q", "--depth=1", &url, "shallow"]);
    let repo = Repo::open(&scratch.root.join("shallow")).unwrap();
    for error in [history::resolve(&repo, &old).unwrap_err(), history::merge_base(&repo, "HEAD", &old).unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::UnknownRevision);
        assert!(error.hint.unwrap().contains("git fetch --deepen"));
    }
}

#[test]
fn nothing_is_written_into_the_repository() {
    let scratch = Scratch::new();
    scratch.write("a.py", "1\n").commit("one");
    scratch.write("a.py", "2\n").write("b.py", "3\n");
    let list = |root: &Path| {
        let mut all = Vec::new();
        let mut stack = vec![root.to_owned()];
        while let Some(dir) = stack.pop() {
            for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    stack.push(entry.path());
                }
                all.push((entry.path(), metadata.modified().unwrap(), metadata.len()));
            }
        }
        all.sort();
        all
    };
    let before = list(&scratch.root);
    std::fs::write(scratch.root.join(".git/index.lock"), "").unwrap();
    snapshot(&scratch.root);
    std::fs::remove_file(scratch.root.join(".git/index.lock")).unwrap();
    let after = list(&scratch.root);
    let without_git = |list: &[(PathBuf, std::time::SystemTime, u64)]| {
        list.iter().filter(|(path, _, _)| !path.ends_with(".git")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(without_git(&before), without_git(&after));
}

/// Measures an unchanged tree beside `git status`: `RATLAS_BENCH_REPO=DIR cargo test --release noop -- --nocapture`.
#[test]
fn noop_snapshot_beside_git_status() {
    let Some(root) = std::env::var_os("RATLAS_BENCH_REPO").map(PathBuf::from) else { return };
    let mut cache = StatCache::default();
    snapshot_with(&root, 2, &mut cache);
    let best = |work: &mut dyn FnMut()| {
        let times = (0..15).map(|_| {
            let start = std::time::Instant::now();
            work();
            start.elapsed()
        });
        times.min().unwrap().as_secs_f64() * 1e3
    };
    let status = best(&mut || drop(git(&root, &["--no-optional-locks", "status", "--porcelain", "-z"])));
    let two = best(&mut || drop(snapshot_with(&root, 2, &mut cache)));
    let one = best(&mut || drop(snapshot_with(&root, 1, &mut cache)));
    println!(
        "{{\"bench\":\"noop\",\"git_status_ms\":{status:.1},\"jobs_2_ms\":{two:.1},\"jobs_1_ms\":{one:.1},\"ratio\":{:.2}}}",
        two / status
    );
}

/// Compares a clone with git, file by file: `RATLAS_BENCH_REPO=DIR cargo test clone`.
#[test]
fn a_real_clone_is_what_git_says() {
    if let Some(root) = std::env::var_os("RATLAS_BENCH_REPO") {
        check(Path::new(&root));
    }
}
