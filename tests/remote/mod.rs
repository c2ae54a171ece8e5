//! Remotes: one suite for every backend, what is pushed comes back, and what goes wrong on the
//! wire never becomes an answer.

#[cfg(feature = "cloud")]
mod bucket;
mod end;
mod faults;
mod server;

use std::collections::BTreeMap;
use std::time::Duration;

use ratlas::base::error::ErrorKind;
use ratlas::base::id::{Digest, ShardKey};
use ratlas::remote::backends::backend::{Access, Backend, Found, Put};
use ratlas::remote::backends::open;
use ratlas::remote::layout::{FingerprintSet, Layout, Namespace};
use ratlas::remote::pull::{Pulled, Wanted, pull};
use ratlas::remote::push::{Publication, Pushed, push};
use ratlas::remote::signature::{Signer, Trust};
use ratlas::remote::transfer::{Patience, Transfer};
use ratlas::store::objects::Store;
use ratlas::store::shard::Shard;

use crate::store::shards;
use server::Server;

/// Tries that cost a test no time.
const HASTY: Patience = Patience { n_tries: 3, first_pause: Duration::from_millis(1) };

fn backend(address: &str) -> Box<dyn Backend> {
    let access = Access { patience: Duration::from_secs(5), ..Access::default() };
    open(address, &access).unwrap()
}

/// What every backend must do. `can_list` where it can be kept in order, too.
fn suite(backend: &dyn Backend, can_list: bool) {
    let read = |name: &str, range: std::ops::Range<u64>| {
        let mut bytes = Vec::new();
        backend.read(name, range, &mut bytes).map(|found| (found, String::from_utf8(bytes).unwrap()))
    };
    assert_eq!(backend.put_new("v1/main/a/one", b"0123456789"), Ok(Put::Written));
    assert_eq!(backend.put_new("v1/main/a/one", b"other"), Ok(Put::WasThere));
    assert_eq!(read("v1/main/a/one", 0..100), Ok((Found::Yes, "0123456789".into())));
    assert_eq!(read("v1/main/a/one", 3..6), Ok((Found::Yes, "345".into())));
    assert_eq!(read("v1/main/a/one", 8..50), Ok((Found::Yes, "89".into())));
    assert_eq!(read("v1/main/a/one", 10..11), Ok((Found::Yes, String::new())));
    assert_eq!(read("v1/main/a/two", 0..1), Ok((Found::No, String::new())));
    assert_eq!(read("v1/main/a/one/below", 0..1).unwrap().0, Found::No);
    backend.put_over("v1/main/heads/x", b"1").unwrap();
    backend.put_over("v1/main/heads/x", b"22").unwrap();
    assert_eq!(read("v1/main/heads/x", 0..9), Ok((Found::Yes, "22".into())));
    if !can_list {
        assert!(!backend.list("v1/main").unwrap_err().is_passing);
        return;
    }
    let names: Vec<String> = backend.list("v1/main").unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(names, ["v1/main/a/one", "v1/main/heads/x"]);
    assert_eq!(backend.list("v1/nothing"), Ok(Vec::new()));
    backend.remove("v1/main/a/one").unwrap();
    backend.remove("v1/main/a/one").unwrap();
    assert_eq!(read("v1/main/a/one", 0..1).unwrap().0, Found::No);
}

#[test]
fn every_backend_keeps_the_same_promises() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a b");
    suite(&*backend(folder.to_str().unwrap()), true);
    let url = format!("file://{}", dir.path().join("c%20d").display());
    suite(&*backend(&url), true);
    assert!(dir.path().join("c d").is_dir());
    let served = dir.path().join("served");
    std::fs::create_dir(&served).unwrap();
    let server = Server::start(&served, None);
    suite(&*backend(&server.address), false);
}

#[test]
fn a_token_is_sent_where_one_is_set() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), Some("s3cret"));
    let fault = backend(&server.address).put_new("a", b"1").unwrap_err();
    assert!(!fault.is_passing && fault.what.contains("401"), "{fault:?}");
    let access = Access { token: Some("s3cret".to_owned()), ..Access::default() };
    assert_eq!(open(&server.address, &access).unwrap().put_new("a", b"1"), Ok(Put::Written));
}

/// A made-up history of one tree a commit, and a remote to publish it on.
struct World {
    dir: tempfile::TempDir,
    shards: BTreeMap<ShardKey, Shard>,
}

fn id(n: u64) -> String {
    Digest::of(&n.to_le_bytes()).to_string()[..40].to_owned()
}

fn set() -> FingerprintSet {
    FingerprintSet::of([])
}

impl World {
    fn new(n: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("remote")).unwrap();
        World { dir, shards: shards(n).into_iter().map(|shard| (shard.0, shard)).collect() }
    }

    fn remote(&self) -> std::path::PathBuf {
        self.dir.path().join("remote")
    }

    fn store(&self, name: &str) -> Store {
        Store::open(&self.dir.path().join(name)).unwrap()
    }

    /// A store of all shards.
    fn full_store(&self) -> Store {
        let store = self.store("full");
        store.put_many(self.shards.values().cloned().collect()).unwrap();
        store
    }

    fn keys(&self, range: std::ops::Range<usize>) -> Vec<ShardKey> {
        self.shards.keys().copied().skip(range.start).take(range.len()).collect()
    }

    fn push(&self, backend: &dyn Backend, n_commit: u64, keys: &[ShardKey], how: &How) -> Pushed {
        let commits: Vec<String> = (0..=n_commit).rev().map(id).collect();
        let tree = id(n_commit + 1_000);
        let publication = Publication {
            commit: &commits[0],
            tree: &tree,
            branch: Some("main"),
            fingerprints: &BTreeMap::new(),
            set: set(),
            keys,
            n_files: keys.len() as u64,
            n_indexed: keys.len() as u64,
            skipped: BTreeMap::new(),
            commits: &commits,
        };
        let transfer = Transfer::new(backend, HASTY);
        let namespace = Namespace::parse(how.namespace).unwrap();
        let signer = how.signer.as_ref();
        push(&transfer, &self.full_store(), &publication, &namespace, &Trust::default(), signer, false).unwrap()
    }

    fn pull(
        &self,
        backend: &dyn Backend,
        store: &Store,
        head: u64,
        keys: &[ShardKey],
        how: &How,
    ) -> ratlas::base::error::Result<Pulled> {
        let commits: Vec<String> = (0..=head).rev().map(id).collect();
        let readers: Vec<Namespace> = how.readers.iter().map(|name| Namespace::parse(name).unwrap()).collect();
        let stored = store.contains_many(keys);
        let missing: Vec<ShardKey> = keys.iter().zip(stored).filter(|(_, is)| !is).map(|(key, _)| *key).collect();
        let branches = ["main".to_owned()];
        let wanted = Wanted { commits: &commits, branches: &branches, set: set(), readers: &readers, keys: &missing };
        pull(&Transfer::new(backend, HASTY), store, &wanted, &how.trust, &|_, _| ())
    }

    /// Asserts that a store gives of these keys the right facts or none; says how many it gives.
    fn check(&self, store: &Store, keys: &[ShardKey]) -> usize {
        let read = store.get_many(keys);
        for (key, facts) in keys.iter().zip(&read) {
            assert!(facts.is_none() || facts.as_ref() == Some(&self.shards[key].1), "wrong facts for {key:?}");
        }
        read.iter().flatten().count()
    }
}

struct How {
    namespace: &'static str,
    readers: &'static [&'static str],
    trust: Trust,
    signer: Option<Signer>,
}

impl Default for How {
    fn default() -> Self {
        How { namespace: "main", readers: &["main"], trust: Trust::default(), signer: None }
    }
}

#[test]
fn what_is_published_comes_back_and_only_what_is_new_travels() {
    let world = World::new(2_600);
    let server = Server::start(&world.remote(), None);
    let backend = backend(&server.address);
    let how = How::default();
    let first = world.push(&*backend, 0, &world.keys(0..2_500), &how);
    assert_eq!((first.n_packs, first.n_shards, first.n_reused), (1, 2_500, 0));
    let again = world.push(&*backend, 0, &world.keys(0..2_500), &how);
    assert_eq!((again.n_packs, again.n_reused, again.was_there), (0, 2_500, true));
    let second = world.push(&*backend, 1, &world.keys(50..2_550), &how);
    assert_eq!((second.n_packs, second.n_shards, second.n_reused), (1, 50, 2_450));

    let store = world.store("laptop");
    // Two commits further than anything published.
    let pulled = world.pull(&*backend, &store, 3, &world.keys(60..2_560), &how).unwrap();
    assert_eq!((pulled.n_behind, pulled.n_packs, pulled.n_left), (Some(2), 2, 10), "{pulled:?}");
    assert_eq!(world.check(&store, &world.keys(60..2_550)), 2_490);
    let nothing = world.pull(&*backend, &store, 1, &world.keys(50..2_550), &how).unwrap();
    assert_eq!((nothing.n_shards, nothing.n_bytes), (0, 0), "all is here");

    let n_before = server.n_bytes();
    let third = world.push(&*backend, 2, &world.keys(80..2_580), &how);
    let pulled = world.pull(&*backend, &store, 2, &world.keys(80..2_580), &how).unwrap();
    assert_eq!((third.n_shards, pulled.n_shards, pulled.n_left), (30, 30, 0));
    let n_moved = server.n_bytes() - n_before;
    assert!(n_moved < first.n_bytes / 5, "{n_moved} of {}", first.n_bytes);
}

#[test]
fn of_a_large_pack_only_the_groups_that_are_needed_travel() {
    let world = World::new(4_000);
    let server = Server::start(&world.remote(), None);
    let backend = backend(&server.address);
    let how = How::default();
    let pushed = world.push(&*backend, 0, &world.keys(0..4_000), &how);
    let store = world.store("laptop");
    let keys = world.keys(1_200..1_220);
    let pulled = world.pull(&*backend, &store, 0, &keys, &how).unwrap();
    assert_eq!((pulled.n_shards, pulled.n_left), (20, 0));
    assert_eq!(world.check(&store, &keys), 20);
    assert!(pulled.n_bytes < pushed.n_bytes / 2, "{} of {}", pulled.n_bytes, pushed.n_bytes);
}

#[test]
fn many_small_packs_are_merged_as_commits_come() {
    let world = World::new(300);
    let folder = world.remote();
    let backend = backend(folder.to_str().unwrap());
    let how = How::default();
    world.push(&*backend, 0, &world.keys(0..200), &how);
    for n in 1..15 {
        world.push(&*backend, n, &world.keys(0..200 + n as usize * 3), &how);
    }
    let store = world.store("laptop");
    let pulled = world.pull(&*backend, &store, 14, &world.keys(0..242), &how).unwrap();
    assert!(pulled.n_packs <= 11 && pulled.n_left == 0, "{pulled:?}");
    assert_eq!(world.check(&store, &world.keys(0..242)), 242);
}

#[test]
fn nobody_believes_another_pull_request() {
    let world = World::new(40);
    let folder = world.remote();
    let backend = backend(folder.to_str().unwrap());
    let keys = world.keys(0..40);
    world.push(&*backend, 0, &keys, &How { namespace: "pr-7", ..How::default() });
    let theirs =
        world.pull(&*backend, &world.store("a"), 0, &keys, &How { readers: &["pr-8", "main"], ..How::default() });
    let theirs = theirs.unwrap();
    assert_eq!((theirs.commit, theirs.n_left), (None, 40));
    let own = How { readers: &["pr-7", "main"], ..How::default() };
    assert_eq!(world.pull(&*backend, &world.store("b"), 0, &keys, &own).unwrap().n_left, 0);
}

#[test]
fn what_no_trusted_key_signed_is_not_used() {
    let world = World::new(30);
    let folder = world.remote();
    let backend = backend(folder.to_str().unwrap());
    let keys = world.keys(0..30);
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let file = world.dir.path().join("key");
    std::fs::write(&file, pair.sk.to_box(None).unwrap().into_string()).unwrap();
    let trusting = || How { trust: Trust::of(&[pair.pk.to_base64()]).unwrap(), ..How::default() };
    world.push(&*backend, 0, &keys, &How::default());
    let unsigned = world.pull(&*backend, &world.store("a"), 0, &keys, &trusting()).unwrap();
    assert_eq!((unsigned.commit, unsigned.n_left), (None, 30));
    assert!(unsigned.warnings[0].contains("not signed"), "{:?}", unsigned.warnings);
    let signer = Some(Signer::from_file(&file, None).unwrap());
    world.push(&*backend, 0, &keys, &How { signer, ..How::default() });
    let signed = world.pull(&*backend, &world.store("b"), 0, &keys, &trusting()).unwrap();
    assert!(signed.is_signed && signed.n_left == 0, "{signed:?}");
    // A signature of another manifest says nothing.
    let layout = Layout { namespace: Namespace::main(), set: set() };
    let name = folder.join(layout.signature(&id(1_000)));
    let torn = std::fs::read_to_string(&name).unwrap().replace("tree", "tred");
    std::fs::write(&name, torn).unwrap();
    assert_eq!(world.pull(&*backend, &world.store("c"), 0, &keys, &trusting()).unwrap().n_left, 30);
}

#[test]
fn another_extractors_facts_and_no_remote_are_said_in_words() {
    let world = World::new(20);
    let folder = world.remote();
    let backend = backend(folder.to_str().unwrap());
    let keys = world.keys(0..20);
    let none = world.pull(&*backend, &world.store("a"), 0, &keys, &How::default()).unwrap_err();
    assert_eq!(none.kind, ErrorKind::Remote);
    assert!(none.to_string().contains("is no ratlas remote"), "{none}");
    world.push(&*backend, 0, &keys, &How::default());
    let other = Layout { namespace: Namespace::main(), set: set() };
    std::fs::rename(folder.join("v1/main/commits"), folder.join("v1/main/gone")).unwrap();
    std::fs::remove_file(folder.join(other.head("main"))).unwrap();
    let latest = ratlas::remote::published::encode_latest("00112233aabbccdd", "9.9.9");
    std::fs::write(folder.join(other.latest()), latest).unwrap();
    let pulled = world.pull(&*backend, &world.store("b"), 0, &keys, &How::default()).unwrap();
    let own = set().to_string();
    assert!(pulled.warnings[0].contains("facts for 00112233aabbccdd (ratlas 9.9.9)"), "{:?}", pulled.warnings);
    assert!(pulled.warnings[0].contains(&own));
    let away = open("http://127.0.0.1:9", &Access { patience: Duration::from_secs(2), ..Access::default() }).unwrap();
    assert_eq!(world.pull(&*away, &world.store("c"), 0, &keys, &How::default()).unwrap_err().kind, ErrorKind::Remote);
}

#[test]
fn clearing_takes_two_runs_and_keeps_what_heads_lead_to() {
    use ratlas::remote::upkeep::{Cleared, Keep, clear};
    let world = World::new(120);
    let folder = world.remote();
    let backend = backend(folder.to_str().unwrap());
    let how = How::default();
    world.push(&*backend, 0, &world.keys(0..40), &how);
    world.push(&*backend, 1, &world.keys(40..80), &how);
    world.push(&*backend, 2, &world.keys(80..120), &how);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let clear_at = |seconds: u64, n_days: u64| {
        let tagged = [id(0)];
        let keep = Keep { commits: &tagged, n_days, grace_seconds: 86_400, now_seconds: now + seconds };
        clear(&Transfer::new(&*backend, HASTY), &Namespace::main(), &keep).unwrap()
    };
    assert_eq!(clear_at(0, 30), Cleared { n_kept: 14, ..Cleared::default() }, "all is young");
    // Commit 1: itself, its manifest, its pack and the pack's index.
    let marked = clear_at(40 * 86_400, 30);
    assert_eq!((marked.n_marked, marked.n_removed), (4, 0));
    assert_eq!(clear_at(40 * 86_400 + 60, 30).n_removed, 0, "not before a day has passed");
    let removed = clear_at(42 * 86_400, 30);
    assert_eq!((removed.n_marked, removed.n_removed), (0, 4));
    for (head, keys) in [(0, 0..40), (2, 80..120)] {
        let store = world.store(&format!("laptop-{head}"));
        assert_eq!(world.pull(&*backend, &store, head, &world.keys(keys), &how).unwrap().n_left, 0);
    }
}
