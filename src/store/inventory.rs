//! The files of a store by what they are, and whether each is whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::dialect::Dialect;
use crate::base::id::{BlobId, Digest, Fingerprint, ShardKey};
use crate::store::manifest::Manifest;
use crate::store::objects::Store;
use crate::store::pack::{Pack, PackIndex, read_loose};

/// What a file of the store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    Loose,
    Pack,
    PackIndex,
    Manifest,
    /// What a compiler said; never made again from the rest.
    Compiler,
    /// On its way, or left by a process that was killed.
    Temporary,
    /// Made from the rest (hashed files, linked views): gone, it costs time only.
    Derived,
}

impl FileKind {
    /// The name in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            FileKind::Loose => "loose_shards",
            FileKind::Pack => "packs",
            FileKind::PackIndex => "pack_indexes",
            FileKind::Manifest => "manifests",
            FileKind::Compiler => "compilers",
            FileKind::Temporary => "temporary",
            FileKind::Derived => "derived",
        }
    }

    /// The kind of a file in a folder at the top of the store.
    fn of(folder: &str, path: &Path) -> Self {
        let is = |extension: &str| path.extension().is_some_and(|e| e == extension);
        match folder {
            "loose" => FileKind::Loose,
            "packs" if is("idx") => FileKind::PackIndex,
            "packs" => FileKind::Pack,
            "manifests" => FileKind::Manifest,
            "compilers" => FileKind::Compiler,
            "tmp" => FileKind::Temporary,
            _ => FileKind::Derived,
        }
    }
}

/// A file of the store.
#[derive(Clone, Debug)]
pub struct StoredFile {
    pub kind: FileKind,
    pub path: PathBuf,
    pub len_bytes: u64,
    /// When it was written or last marked as used.
    pub modified: SystemTime,
    /// Of a loose file: the shard that its name says.
    pub shard: Option<ShardName>,
}

/// A shard's key as file names have it: of the fingerprint the first half of its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardName {
    pub blob: BlobId,
    pub dialect: Dialect,
    pub fingerprint: [u8; 8],
}

impl ShardName {
    /// The name of a key.
    pub fn of(key: &ShardKey) -> Self {
        ShardName { blob: key.blob, dialect: key.dialect, fingerprint: short(&key.fingerprint) }
    }

    /// Reads the name of a loose file.
    fn of_path(path: &Path) -> Option<Self> {
        let mut parts = path.file_stem()?.to_str()?.splitn(3, '-');
        let blob = BlobId::from_hex(parts.next()?)?;
        let dialect = Dialect::parse(parts.next()?)?;
        let digits = parts.next().filter(|digits| digits.len() == 16)?;
        let fingerprint = u64::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(ShardName { blob, dialect, fingerprint })
    }
}

fn short(fingerprint: &Fingerprint) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = fingerprint.0.0;
    [a, b, c, d, e, f, g, h]
}

/// All files of a store, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    pub files: Vec<StoredFile>,
}

/// Folders of the store that are nobody's to sweep: what lies there is in use or a person's.
const APART: &[&str] = &["daemon", "remote"];

/// How deep folders of a store nest.
const MAX_DEPTH: usize = 8;

/// The folders that writing needs, and how many folders deep files lie in each.
const PLACES: [(&str, FileKind, usize); 12] = [
    ("compilers", FileKind::Compiler, 0),
    ("counters", FileKind::Derived, MAX_DEPTH),
    ("flat", FileKind::Derived, MAX_DEPTH),
    ("green", FileKind::Derived, MAX_DEPTH),
    ("loose", FileKind::Loose, 1),
    ("manifests", FileKind::Manifest, 0),
    ("packs", FileKind::Pack, 0),
    ("quarantine", FileKind::Derived, MAX_DEPTH),
    ("stat", FileKind::Derived, MAX_DEPTH),
    ("tmp", FileKind::Temporary, MAX_DEPTH),
    ("tokens", FileKind::Derived, MAX_DEPTH),
    ("trees", FileKind::Derived, MAX_DEPTH),
];

impl Inventory {
    /// Lists a store's files. What vanishes meanwhile is left out; no symlink is followed.
    pub fn take(dir: &Path) -> Self {
        let mut files = Vec::new();
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !APART.contains(&name.as_str()) {
                list(&name, &entry.path(), 0, &mut files);
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Inventory { files }
    }

    /// Lists the files of one kind that has a folder of its own.
    pub fn take_folder(dir: &Path, kind: FileKind) -> Vec<StoredFile> {
        let folder = match kind {
            FileKind::Loose => "loose",
            FileKind::Pack | FileKind::PackIndex => "packs",
            FileKind::Manifest => "manifests",
            FileKind::Compiler => "compilers",
            FileKind::Temporary => "tmp",
            FileKind::Derived => "stat",
        };
        let mut files = Vec::new();
        list(folder, &dir.join(folder), 0, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.retain(|file| file.kind == kind);
        files
    }

    /// The files of a kind.
    pub fn of(&self, kind: FileKind) -> impl Iterator<Item = &StoredFile> {
        self.files.iter().filter(move |file| file.kind == kind)
    }

    /// The bytes of all files.
    pub fn n_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.len_bytes).sum()
    }
}

fn list(folder: &str, dir: &Path, depth: usize, out: &mut Vec<StoredFile>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
        if metadata.is_dir() {
            if depth < MAX_DEPTH {
                list(folder, &path, depth + 1, out);
            }
            continue;
        }
        let kind = FileKind::of(folder, &path);
        let shard = (kind == FileKind::Loose).then(|| ShardName::of_path(&path)).flatten();
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        out.push(StoredFile { kind, path, len_bytes: metadata.len(), modified, shard });
    }
}

/// A file of the store that is not what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    pub kind: FileKind,
    pub path: PathBuf,
    /// What is wrong, in words.
    pub why: &'static str,
}

impl Damaged {
    /// Whether it stands where the store is to write.
    pub fn is_in_the_way(&self) -> bool {
        matches!(self.why, NO_FOLDER | NO_FILE)
    }
}

const NO_FOLDER: &str = "it is no folder";
const NO_FILE: &str = "it is no file";

/// How many files of each kind were looked at, and those that are not whole, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub n_checked: BTreeMap<FileKind, usize>,
    pub damaged: Vec<Damaged>,
}

impl Store {
    /// Reads every shard and manifest, and holds it against its digest, its schema and its name.
    ///
    /// A file that goes away meanwhile is nobody's fault. Reads the whole store.
    pub fn check(&self) -> Checked {
        let mut checked = Checked::default();
        for file in Inventory::take(self.dir()).files {
            let why = match file.kind {
                FileKind::Loose => wrong_loose(&file),
                FileKind::Pack => wrong_pack(&file.path),
                FileKind::PackIndex => wrong_index(&file.path),
                FileKind::Manifest => wrong_manifest(&file.path),
                FileKind::Compiler | FileKind::Temporary | FileKind::Derived => continue,
            };
            *checked.n_checked.entry(file.kind).or_default() += 1;
            if let Some(why) = why.filter(|_| file.path.exists()) {
                checked.damaged.push(Damaged { kind: file.kind, path: file.path, why });
            }
        }
        checked.damaged.extend(misplaced(self.dir()));
        checked.damaged.sort_by(|a, b| a.path.cmp(&b.path));
        checked
    }

    /// Removes damaged files; gives how many. What stands where a folder or a file should goes with
    /// all that lies in it.
    pub fn remove_damaged(&self, damaged: &[Damaged]) -> usize {
        let remove = |file: &&Damaged| match fs::symlink_metadata(&file.path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&file.path).is_ok(),
            _ => fs::remove_file(&file.path).is_ok(),
        };
        damaged.iter().filter(remove).count()
    }
}

/// Files where the store needs a folder, and folders where it needs files: nothing can be written
/// there before they are gone.
fn misplaced(dir: &Path) -> Vec<Damaged> {
    let mut found = Vec::new();
    for (name, kind, depth) in PLACES {
        let place = dir.join(name);
        match fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => folders_below(&place, kind, depth, &mut found),
            // A link that leads nowhere is in the way, too.
            _ if fs::symlink_metadata(&place).is_ok() => {
                found.push(Damaged { kind, path: place, why: NO_FOLDER });
            }
            _ => {}
        }
    }
    found
}

fn folders_below(dir: &Path, kind: FileKind, depth: usize, found: &mut Vec<Damaged>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match (is_folder, depth) {
            (true, 0) => found.push(Damaged { kind, path: entry.path(), why: NO_FILE }),
            (true, depth) if depth < MAX_DEPTH => folders_below(&entry.path(), kind, depth - 1, found),
            (false, depth) if kind == FileKind::Loose && depth > 0 => {
                found.push(Damaged { kind, path: entry.path(), why: NO_FOLDER });
            }
            _ => {}
        }
    }
}

fn wrong_loose(file: &StoredFile) -> Option<&'static str> {
    let bytes = fs::read(&file.path).ok()?;
    let Some(named) = file.shard else { return Some("its name is that of no shard") };
    match read_loose(&bytes) {
        None => Some("its row is not whole"),
        Some((key, _)) if ShardName::of(&key) == named => None,
        Some(_) => Some("it is another shard than its name says"),
    }
}

fn wrong_pack(path: &Path) -> Option<&'static str> {
    let bytes = fs::read(path).ok()?;
    let name = Digest::of(&bytes).to_string();
    if path.file_stem().is_none_or(|stem| stem.to_string_lossy() != name[..32]) {
        return Some("its bytes have another digest than its name says");
    }
    let Some(index) = PackIndex::of(&bytes) else { return Some("it is no pack of ours") };
    drop(bytes);
    let pack = Pack::open(path)?;
    if pack.keys() != index.keys {
        return Some("its index names other shards");
    }
    let mut first = 0;
    for (group, part) in index.groups.iter().enumerate() {
        let rows: Vec<usize> = (0..part.n_rows).collect();
        if pack.read(group, &rows).iter().any(Option::is_none) {
            return Some("a row is not whole");
        }
        first += part.n_rows;
    }
    (first != pack.n_rows()).then_some("rows are missing")
}

fn wrong_index(path: &Path) -> Option<&'static str> {
    let bytes = fs::read(path).ok()?;
    PackIndex::decode(&bytes).is_none().then_some("it is no index of a pack")
}

fn wrong_manifest(path: &Path) -> Option<&'static str> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8(text).ok();
    text.and_then(|text| Manifest::decode(&text)).is_none().then_some("it is not whole")
}
