//! Shards and the store: what is written is read, and what is damaged is a miss.

mod random_facts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use ratlas::base::dialect::Dialect;
use ratlas::base::error::ErrorKind;
use ratlas::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use ratlas::base::path::RepoPath;
use ratlas::facts::canonical;
use ratlas::facts::model::FileFacts;
use ratlas::facts::validate::validate;
use ratlas::store::manifest::{EntryState, Manifest, ManifestEntry};
use ratlas::store::objects::{MAX_LOOSE, Store};
use ratlas::store::pack::{Pack, PackIndex, read_loose};
use ratlas::store::shard::{self, Form, Shard};

use random_facts::{any_facts, facts_of};

fn key_of(n: u64, dialect: Dialect) -> ShardKey {
    let blob = BlobId::from_bytes(&Digest::of(&n.to_le_bytes()).0[..20]).unwrap();
    ShardKey { blob, dialect, fingerprint: Fingerprint(Digest::of(b"some extractor")) }
}

/// `n` shards with different facts, sorted by key.
pub fn shards(n: u64) -> Vec<Shard> {
    let mut shards: Vec<Shard> = (0..n)
        .map(|at| {
            let seeds: Vec<u64> = (0..at * 37 % 90)
                .map(|step| Digest::of_parts([&at.to_le_bytes()[..], &step.to_le_bytes()]).short())
                .collect();
            let facts = facts_of(Dialect::Ts, &seeds);
            (key_of(at, Dialect::Ts), Arc::new(facts))
        })
        .collect();
    shards.sort_by_key(|(key, _)| *key);
    shards
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store")).unwrap();
    (dir, store)
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

#[test]
fn a_few_shards_are_loose_and_many_are_a_pack() {
    for n in [1, MAX_LOOSE as u64, MAX_LOOSE as u64 + 1, 2_500] {
        let (_dir, store) = store();
        let shards = shards(n);
        let keys: Vec<ShardKey> = shards.iter().map(|(key, _)| *key).collect();
        assert!(store.contains_many(&keys).iter().all(|known| !known));
        store.put_many(shards.iter().rev().cloned().collect()).unwrap();
        let n_files = files_below(store.dir()).len();
        assert_eq!(n_files, if n as usize <= MAX_LOOSE { n as usize } else { 2 });
        for store in [&store, &Store::open(store.dir()).unwrap()] {
            assert!(store.contains_many(&keys).iter().all(|known| *known));
            let read = store.get_many(&keys);
            for ((_, written), read) in shards.iter().zip(read) {
                assert_eq!(Some(written), read.as_ref());
            }
        }
        assert!(store.size_bytes() > 0);
    }
}

#[test]
fn keys_come_back_in_the_order_asked_with_repeats_and_strangers() {
    let (_dir, store) = store();
    let shards = shards(300);
    store.put_many(shards.clone()).unwrap();
    let stranger = key_of(0, Dialect::Java);
    let asked = [shards[299].0, stranger, shards[0].0, shards[128].0, shards[299].0, shards[127].0];
    let read = store.get_many(&asked);
    assert_eq!(read[1], None);
    for (at, shard) in [(0, 299), (2, 0), (3, 128), (4, 299), (5, 127)] {
        assert_eq!(read[at].as_ref(), Some(&shards[shard].1), "position {at}");
    }
}

#[test]
fn a_second_process_sees_what_the_first_wrote() {
    let (_dir, reader) = store();
    let writer = Store::open(reader.dir()).unwrap();
    let shards = shards(40);
    writer.put_many(shards.clone()).unwrap();
    assert_eq!(reader.get_many(&[shards[7].0]), [Some(shards[7].1.clone())]);
}

#[test]
fn equal_shards_give_equal_bytes_in_any_order_of_arrival() {
    let (_one, one) = store();
    let (_other, other) = store();
    one.put_many(shards(60)).unwrap();
    other.put_many(shards(60).into_iter().rev().collect()).unwrap();
    let bytes = |store: &Store| -> Vec<(PathBuf, Vec<u8>)> {
        let relative = |file: &Path| file.strip_prefix(store.dir()).unwrap().to_owned();
        files_below(store.dir()).iter().map(|file| (relative(file), std::fs::read(file).unwrap())).collect()
    };
    assert_eq!(bytes(&one), bytes(&other));
}

#[test]
fn a_lost_index_is_made_anew_from_the_pack() {
    let (_dir, store) = store();
    let shards = shards(1_100);
    store.put_many(shards.clone()).unwrap();
    for file in files_below(store.dir()) {
        if file.extension().is_some_and(|e| e == "idx") {
            std::fs::remove_file(file).unwrap();
        }
    }
    let store = Store::open(store.dir()).unwrap();
    assert_eq!(store.get_many(&[shards[1_050].0]), [Some(shards[1_050].1.clone())]);
}

#[test]
fn a_damaged_pack_is_a_miss_until_its_shards_are_put_again() {
    let (_dir, store) = store();
    let shards = shards(40);
    let keys: Vec<ShardKey> = shards.iter().map(|(key, _)| *key).collect();
    store.put_many(shards.clone()).unwrap();
    let pack = files_below(store.dir()).into_iter().find(|f| f.extension().is_some_and(|e| e == "parquet")).unwrap();
    let mut bytes = std::fs::read(&pack).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x40;
    std::fs::write(&pack, bytes).unwrap();
    let store = Store::open(store.dir()).unwrap();
    assert!(store.get_many(&keys).iter().all(Option::is_none));
    store.put_many(shards[..3].to_vec()).unwrap();
    let read = store.get_many(&keys);
    assert_eq!(read.iter().flatten().count(), 3);
    assert_eq!(read[2].as_ref(), Some(&shards[2].1));
    store.put_many(shards.clone()).unwrap();
    assert!(Store::open(store.dir()).unwrap().get_many(&keys).iter().all(Option::is_some));
}

#[test]
fn a_torn_loose_file_is_a_miss_and_is_written_again() {
    let (_dir, store) = store();
    let shard = shards(2).remove(0);
    store.put_many(vec![shard.clone()]).unwrap();
    let file = files_below(store.dir()).remove(0);
    std::fs::write(&file, &std::fs::read(&file).unwrap()[..100]).unwrap();
    assert_eq!(store.get_many(&[shard.0]), [None]);
    store.put_many(vec![shard.clone()]).unwrap();
    assert_eq!(store.get_many(&[shard.0]), [Some(shard.1)]);
}

#[test]
fn a_shard_under_a_foreign_name_is_not_served() {
    let (_dir, store) = store();
    let shards = shards(2);
    store.put_many(vec![shards[0].clone()]).unwrap();
    let file = files_below(store.dir()).remove(0);
    let wrong = file.to_string_lossy().replace(&shards[0].0.blob.to_string()[2..], &shards[1].0.blob.to_string()[2..]);
    let wrong = wrong.replace(
        &format!("/{}", &shards[0].0.blob.to_string()[..2]),
        &format!("/{}", &shards[1].0.blob.to_string()[..2]),
    );
    std::fs::create_dir_all(Path::new(&wrong).parent().unwrap()).unwrap();
    std::fs::copy(&file, &wrong).unwrap();
    assert!(store.contains_many(&[shards[1].0])[0], "the file is in its place");
    assert_eq!(store.get_many(&[shards[1].0]), [None]);
}

#[test]
fn an_unusable_folder_is_named_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("store")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Store);
    assert!(error.to_string().contains("help: set `RATLAS_STORE`"), "{error}");
}

#[test]
fn manifests_are_kept_per_tree() {
    let (_dir, store) = store();
    let entry = ManifestEntry {
        path: RepoPath::new("src/a.py").unwrap(),
        blob: key_of(1, Dialect::Py).blob,
        state: EntryState::Skipped { reason: "minified".to_owned() },
    };
    let manifest = Manifest { entries: vec![entry] };
    store.put_manifest("4b825dc642cb6eb9a060e54bf8d69288fbee4904", &manifest).unwrap();
    store.put_manifest("../odd key", &Manifest::default()).unwrap();
    assert_eq!(store.get_manifest("4b825dc642cb6eb9a060e54bf8d69288fbee4904"), Some(manifest));
    assert_eq!(store.get_manifest("../odd key"), Some(Manifest::default()));
    assert_eq!(store.get_manifest("none"), None);
}

/// What extraction makes of every fixture keeps the model's promises and survives a pack: a
/// promise that real facts break would make their shards misses for ever.
#[test]
fn facts_of_every_fixture_survive_a_pack() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/extract");
    let mut shards: Vec<Shard> = Vec::new();
    for file in files_below(&fixtures) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(dialect) = Dialect::of_file_name(&name) else { continue };
        let source = std::fs::read(&file).unwrap();
        let facts = ratlas::extract::extract(dialect, &source);
        assert!(validate(&facts), "{name}");
        let blob = BlobId::from_bytes(&Digest::of(&source).0[..20]).unwrap();
        shards.push((ShardKey { blob, dialect, fingerprint: Fingerprint(Digest::of(b"x")) }, Arc::new(facts)));
    }
    assert!(shards.len() >= 24, "{} fixtures", shards.len());
    shards.sort_by_key(|(key, _)| *key);
    let read = read_all(&shard::encode(&shards, Form::Pack).unwrap());
    assert!(read.iter().eq(shards.iter().map(|(_, facts)| &**facts)));
}

/// Every row that can be read from a pack's bytes, by way of an index made from those bytes.
fn read_all(bytes: &[u8]) -> Vec<FileFacts> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.parquet");
    std::fs::write(&path, bytes).unwrap();
    let Some(pack) = Pack::open(&path) else { return Vec::new() };
    let mut facts = Vec::new();
    for start in (0..pack.n_rows()).step_by(shard::ROWS_PER_GROUP) {
        let (group, first) = pack.group_of(start);
        let wanted: Vec<usize> = (0..shard::ROWS_PER_GROUP.min(pack.n_rows() - first)).collect();
        facts.extend(pack.read(group, &wanted).into_iter().flatten());
    }
    facts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn facts_survive_the_round_trip(facts in any_facts()) {
        prop_assert!(validate(&facts));
        let shard = (key_of(3, facts.dialect), Arc::new(facts));
        let loose = shard::encode(std::slice::from_ref(&shard), Form::Loose).unwrap();
        let (key, read) = read_loose(&loose).unwrap();
        prop_assert_eq!(key, shard.0);
        prop_assert_eq!(&read, &*shard.1);
        let pack = shard::encode(std::slice::from_ref(&shard), Form::Pack).unwrap();
        prop_assert_eq!(read_all(&pack), [read]);
    }

    /// Any damage to a pack or a loose file gives misses: never a panic, never other facts.
    #[test]
    fn damage_is_a_miss(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..=255), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        at_the_end in any::<bool>(),
    ) {
        static WHOLE: std::sync::OnceLock<(Vec<Vec<u8>>, Vec<Digest>)> = std::sync::OnceLock::new();
        let (files, digests) = WHOLE.get_or_init(|| {
            let shards = shards(30);
            let digests = shards.iter().map(|(_, facts)| canonical::digest(facts)).collect();
            let files = vec![
                shard::encode(&shards, Form::Pack).unwrap(),
                shard::encode(&shards[9..10], Form::Loose).unwrap(),
                PackIndex::of(&shard::encode(&shards, Form::Pack).unwrap()).unwrap().encode(),
            ];
            (files, digests)
        });
        for (nth, file) in files.iter().enumerate() {
            let mut bytes = file.clone();
            // The footer's structure is where a reader is most easily led astray.
            let from = if at_the_end { bytes.len() * 3 / 4 } else { 0 };
            for (index, flip) in &flips {
                let at = from + index.index(bytes.len() - from);
                bytes[at] ^= flip;
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            let read = match nth {
                0 => read_all(&bytes),
                1 => read_loose(&bytes).map(|(_, facts)| facts).into_iter().collect(),
                _ => {
                    prop_assert!(bytes == *file || PackIndex::decode(&bytes).is_none());
                    Vec::new()
                }
            };
            for facts in read {
                prop_assert!(digests.contains(&canonical::digest(&facts)));
            }
        }
    }
}
