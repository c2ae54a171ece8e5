//! Publishing: of a commit's tree, the shards that no published pack holds yet, then what is known
//! of the tree and the commit. Names are written once; what is there already is as good.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::dialect::Dialect;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{Digest, Fingerprint, ShardKey};
use crate::remote::backends::backend::Put;
use crate::remote::layout::{FingerprintSet, Layout, MARK, MARK_TEXT, Namespace};
use crate::remote::packs::{assign, indexes};
use crate::remote::published::{self, PublishedCommit, PublishedPack, PublishedTree};
use crate::remote::pull::{Nearest, Wanted, check_mark, nearest};
use crate::remote::signature::{Signer, Trust};
use crate::remote::transfer::Transfer;
use crate::store::objects::{MAX_PACK_ROWS, Store};
use crate::store::pack::PackIndex;
use crate::store::shard::{Form, Shard, encode};

/// Beyond so many packs of a tree its small ones are merged: each costs a reader two requests.
const MAX_PACKS: usize = 10;

/// A pack of which fewer rows are of use is written anew: its dead rows are fetched by everyone.
const MIN_LIVE_PERCENT: usize = 75;

/// A commit's tree, to be published.
#[derive(Clone, Debug)]
pub struct Publication<'a> {
    pub commit: &'a str,
    /// Git's id of the tree.
    pub tree: &'a str,
    /// The branch whose hint is to lead here.
    pub branch: Option<&'a str>,
    pub fingerprints: &'a BTreeMap<Dialect, Fingerprint>,
    pub set: FingerprintSet,
    /// The tree's shards, sorted, unique.
    pub keys: &'a [ShardKey],
    pub n_files: u64,
    pub n_indexed: u64,
    pub skipped: BTreeMap<String, u64>,
    /// The commit and its first parents, nearest first: where packs to build on are looked for.
    pub commits: &'a [String],
}

/// What was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Packs that were written, and the shards in them.
    pub n_packs: usize,
    pub n_shards: usize,
    /// Shards that published packs held.
    pub n_reused: usize,
    pub n_bytes: u64,
    /// Whether the tree's manifest was there already.
    pub was_there: bool,
}

/// Publishes a commit's tree in a namespace. `is_fresh` builds on no earlier pack.
///
/// # Errors
/// `Remote`; `Store`; `Integrity`, when the store lacks a shard of the tree.
pub fn push(
    transfer: &Transfer<'_>,
    store: &Store,
    publication: &Publication<'_>,
    namespace: &Namespace,
    trust: &Trust,
    signer: Option<&Signer>,
    is_fresh: bool,
) -> Result<Pushed> {
    let layout = Layout { namespace: namespace.clone(), set: publication.set };
    transfer.put_new(MARK, MARK_TEXT.as_bytes())?;
    check_mark(transfer)?;
    let mut packs = Vec::new();
    let mut covered = BTreeSet::new();
    if !is_fresh && let Some(base) = base(transfer, publication, namespace, trust)? {
        packs = kept(transfer, store, publication.keys, &base, &mut covered)?;
    }
    let rest: Vec<ShardKey> = publication.keys.iter().copied().filter(|key| !covered.contains(key)).collect();
    let mut pushed = Pushed {
        n_packs: 0,
        n_shards: rest.len(),
        n_reused: publication.keys.len() - rest.len(),
        n_bytes: 0,
        was_there: false,
    };
    for keys in rest.chunks(MAX_PACK_ROWS) {
        packs.push(put_pack(transfer, store, &layout, keys)?);
        pushed.n_packs += 1;
    }
    packs.sort();
    packs.dedup();
    let tree = PublishedTree {
        tree: publication.tree.to_owned(),
        fingerprints: publication.fingerprints.clone(),
        n_files: publication.n_files,
        n_indexed: publication.n_indexed,
        skipped: publication.skipped.clone(),
        packs,
    };
    let own = tree.encode(namespace);
    let name = layout.manifest(publication.tree);
    let (manifest, was_there) = match is_fresh {
        true => {
            transfer.put_over(&name, &own)?;
            (own, false)
        }
        false => match transfer.put_new(&name, &own)? {
            Put::Written => (own, false),
            // Another writer's: as good, as long as it is one.
            Put::WasThere => match transfer.small(&name, published::MAX_BYTES)? {
                Some(theirs) if PublishedTree::decode(&theirs, namespace).is_some() => (theirs, true),
                _ => {
                    let what = format!(
                        "the manifest of tree {:.12} in `{}` cannot be read",
                        publication.tree,
                        transfer.address()
                    );
                    return Err(Error::new(ErrorKind::Integrity, what).hint("`ratlas remote repack` writes it anew"));
                }
            },
        },
    };
    pushed.was_there = was_there;
    if let Some(signer) = signer {
        let signature = signer.sign(&manifest, &format!("ratlas tree {}", publication.tree))?;
        transfer.put_over(&layout.signature(publication.tree), &signature)?;
    }
    let commit = PublishedCommit {
        commit: publication.commit.to_owned(),
        tree: publication.tree.to_owned(),
        manifest: Digest::of(&manifest),
    };
    match is_fresh {
        true => transfer.put_over(&layout.commit(publication.commit), &commit.encode())?,
        false => drop(transfer.put_new(&layout.commit(publication.commit), &commit.encode())?),
    }
    if let Some(branch) = publication.branch {
        transfer.put_over(&layout.head(branch), &commit.encode())?;
    }
    transfer.put_over(
        &layout.latest(),
        &published::encode_latest(&publication.set.to_string(), env!("CARGO_PKG_VERSION")),
    )?;
    pushed.n_bytes = transfer.n_sent();
    Ok(pushed)
}

/// The published tree to build on: the namespace's own nearest, else trusted CI's.
fn base(
    transfer: &Transfer<'_>,
    publication: &Publication<'_>,
    namespace: &Namespace,
    trust: &Trust,
) -> Result<Option<Nearest>> {
    let mut readers = vec![namespace.clone()];
    if !namespace.is_main() {
        readers.push(Namespace::main());
    }
    let branches: Vec<String> = publication.branch.map(str::to_owned).into_iter().collect();
    let wanted = Wanted {
        commits: publication.commits,
        branches: &branches,
        set: publication.set,
        readers: &readers,
        keys: &[],
    };
    let mut passed_over = Vec::new();
    let found = nearest(transfer, &wanted, trust, &mut passed_over)?;
    passed_over.iter().for_each(|why| tracing::info!("{why}"));
    Ok(found)
}

/// The packs of an earlier tree that are worth keeping; the keys they hold go into `covered`.
fn kept(
    transfer: &Transfer<'_>,
    store: &Store,
    keys: &[ShardKey],
    base: &Nearest,
    covered: &mut BTreeSet<ShardKey>,
) -> Result<Vec<PublishedPack>> {
    let known = indexes(transfer, store, &base.layout, &base.tree.packs)?;
    let mut useful: Vec<(usize, PublishedPack, Vec<ShardKey>)> = known
        .iter()
        .zip(assign(&known, keys))
        .filter_map(|(known, rows)| {
            let index = known.index.as_ref()?;
            let is_live = !rows.is_empty() && rows.len() * 100 >= index.keys.len() * MIN_LIVE_PERCENT;
            let keys = rows.iter().map(|row| index.keys[*row]).collect();
            is_live.then(|| (rows.len(), known.pack.clone(), keys))
        })
        .collect();
    // Largest first: the small ones are what is merged.
    useful.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    if useful.len() >= MAX_PACKS {
        useful.truncate(MAX_PACKS / 2);
    }
    covered.extend(useful.iter().flat_map(|(_, _, keys)| keys.iter().copied()));
    Ok(useful.into_iter().map(|(_, pack, _)| pack).collect())
}

/// Writes a pack of the shards of `keys` and its index.
fn put_pack(transfer: &Transfer<'_>, store: &Store, layout: &Layout, keys: &[ShardKey]) -> Result<PublishedPack> {
    let facts = store.get_many(keys);
    let shards: Vec<Shard> = keys.iter().zip(facts).filter_map(|(key, facts)| Some((*key, facts?))).collect();
    let broken = |what: &str| Error::new(ErrorKind::Integrity, what).hint("run `ratlas index --full`, then push again");
    if shards.len() != keys.len() {
        return Err(broken("the store lacks shards of the tree"));
    }
    let bytes = encode(&shards, Form::Published)?;
    let digest = Digest::of(&bytes);
    let index = PackIndex::of(&bytes).ok_or_else(|| broken("a pack that was made cannot be read"))?.encode();
    // The index first: a pack never stands without it.
    transfer.put_new(&layout.index(&digest), &index)?;
    transfer.put_new(&layout.pack(&digest), &bytes)?;
    Ok(PublishedPack {
        digest,
        len_bytes: bytes.len() as u64,
        n_rows: keys.len() as u64,
        index_digest: Digest::of(&index),
        index_len_bytes: index.len() as u64,
        namespace: layout.namespace.clone(),
    })
}
