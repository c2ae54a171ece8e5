//! Fetching: the nearest published tree on the line of first parents, and of its packs what is
//! missing here. A remote that has nothing, or something else, costs no answer: what is not
//! fetched is extracted.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{Digest, ShardKey};
use crate::base::parallel::each;
use crate::remote::layout::{FingerprintSet, Layout, MARK, MARK_TEXT, Namespace};
use crate::remote::packs::{AT_ONCE, KnownPack, assign, indexes};
use crate::remote::published::{self, PublishedCommit, PublishedTree};
use crate::remote::signature::{self, Trust};
use crate::remote::transfer::Transfer;
use crate::store::objects::Store;
use crate::store::pack::read_fetched;
use crate::store::shard::{ROWS_PER_GROUP, Shard};

/// Fetching parts pays below this share of a pack: above it, the whole is about as fast, and kept
/// as it is. A guess.
const MAX_PARTS_PERCENT: u64 = 60;

/// What is asked of a remote.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// HEAD and its first parents, nearest first.
    pub commits: &'a [String],
    /// Branches whose hint is followed when no commit is known, likeliest first.
    pub branches: &'a [String],
    pub set: FingerprintSet,
    /// Whose facts are believed, own first.
    pub readers: &'a [Namespace],
    /// The keys that the tree needs and the store lacks, sorted.
    pub keys: &'a [ShardKey],
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// The commit whose tree was found, and how many commits it lies behind HEAD (`None` when
    /// a branch's hint led to it).
    pub commit: Option<String>,
    pub n_behind: Option<usize>,
    pub namespace: Option<Namespace>,
    pub is_signed: bool,
    pub n_packs: usize,
    pub n_shards: usize,
    /// Wanted keys that did not come.
    pub n_left: usize,
    /// Bytes that were received, all told.
    pub n_bytes: u64,
    /// What was passed over, and why.
    pub warnings: Vec<String>,
}

/// A published tree that may be used.
pub struct Nearest {
    pub layout: Layout,
    pub commit: PublishedCommit,
    pub n_behind: Option<usize>,
    pub tree: PublishedTree,
    pub is_signed: bool,
}

/// Fetches what is wanted into the store. `progress` is told bytes done and bytes planned.
///
/// # Errors
/// `Remote`, when it is out of reach or no remote of this format; `Store`.
pub fn pull(
    transfer: &Transfer<'_>,
    store: &Store,
    wanted: &Wanted<'_>,
    trust: &Trust,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Pulled> {
    let mut pulled = Pulled { n_left: wanted.keys.len(), ..Pulled::default() };
    if wanted.keys.is_empty() {
        return Ok(pulled);
    }
    check_mark(transfer)?;
    let Some(nearest) = nearest(transfer, wanted, trust, &mut pulled.warnings)? else {
        pulled.warnings.extend(other_facts(transfer, wanted)?);
        pulled.n_bytes = transfer.n_received();
        return Ok(pulled);
    };
    pulled.commit = Some(nearest.commit.commit.clone());
    pulled.n_behind = nearest.n_behind;
    pulled.namespace = Some(nearest.layout.namespace.clone());
    pulled.is_signed = nearest.is_signed;
    let packs = indexes(transfer, store, &nearest.layout, &nearest.tree.packs)?;
    for pack in packs.iter().filter(|pack| pack.index.is_none()) {
        pulled
            .warnings
            .push(format!("pack {:.16} was passed over: its index is missing or wrong", hex(&pack.pack.digest)));
    }
    // A pack that lies here gives nothing new: what is wanted of it is damaged.
    let away: Vec<KnownPack<'_>> = packs.into_iter().filter(|pack| !pack.is_here).collect();
    let assigned = assign(&away, wanted.keys);
    let tasks: Vec<(&KnownPack<'_>, &[usize])> =
        away.iter().zip(&assigned).filter(|(_, rows)| !rows.is_empty()).map(|(pack, rows)| (pack, &rows[..])).collect();
    let plans: Vec<Plan> = tasks.iter().map(|(pack, rows)| plan(pack, rows)).collect();
    let n_planned: u64 = plans.iter().map(Plan::n_bytes).sum();
    let n_done = AtomicU64::new(0);
    let results = each(
        tasks.len(),
        AT_ONCE,
        || (),
        |(), at| {
            let (pack, rows) = tasks[at];
            let fetched = fetch(transfer, store, &nearest.layout, pack, rows, &plans[at]);
            let done = n_done.fetch_add(plans[at].n_bytes(), Ordering::Relaxed) + plans[at].n_bytes();
            progress(done, n_planned);
            fetched
        },
    );
    let mut failed = None;
    for ((pack, _), result) in tasks.iter().zip(results) {
        match result {
            Ok(0) => pulled.warnings.push(format!(
                "pack {:.16} was passed over: it is missing or not what its name says",
                hex(&pack.pack.digest)
            )),
            Ok(n) => {
                pulled.n_packs += 1;
                pulled.n_shards += n;
            }
            Err(error) => failed = Some(error),
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let are_here = store.contains_many(wanted.keys);
    pulled.n_left = are_here.into_iter().filter(|is_here| !is_here).count();
    pulled.n_bytes = transfer.n_received();
    Ok(pulled)
}

fn hex(digest: &Digest) -> String {
    digest.to_string()
}

/// Whether this is a remote of our format.
///
/// # Errors
/// `Remote`, when it is none or out of reach.
pub fn check_mark(transfer: &Transfer<'_>) -> Result<()> {
    let wrong = |what: &str| {
        Error::new(ErrorKind::Remote, format!("`{}` {what}", transfer.address()))
            .hint("check the address; `ratlas push URL` makes a remote")
    };
    match transfer.small(MARK, published::MAX_BYTES)? {
        Some(bytes) if bytes == MARK_TEXT.as_bytes() => Ok(()),
        Some(_) => Err(wrong("is no remote of format 1")),
        None => Err(wrong("is no ratlas remote")),
    }
}

/// The nearest published tree that may be used; what was passed over goes into `warnings`.
///
/// # Errors
/// `Remote`, when it is out of reach.
pub fn nearest(
    transfer: &Transfer<'_>,
    wanted: &Wanted<'_>,
    trust: &Trust,
    warnings: &mut Vec<String>,
) -> Result<Option<Nearest>> {
    let layouts: Vec<Layout> =
        wanted.readers.iter().map(|namespace| Layout { namespace: namespace.clone(), set: wanted.set }).collect();
    let probes: Vec<(usize, &Layout)> =
        (0..wanted.commits.len()).flat_map(|at| layouts.iter().map(move |layout| (at, layout))).collect();
    // Eight at a time, in order: the nearest is nearly always among the first.
    for probes in probes.chunks(AT_ONCE) {
        let found = each(
            probes.len(),
            AT_ONCE,
            || (),
            |(), at| {
                let (behind, layout) = probes[at];
                transfer.small(&layout.commit(&wanted.commits[behind]), published::MAX_BYTES)
            },
        );
        for ((behind, layout), bytes) in probes.iter().zip(found) {
            let Some(bytes) = bytes? else { continue };
            let commit = PublishedCommit::decode(&bytes).filter(|c| c.commit == wanted.commits[*behind]);
            if let Some(commit) = commit
                && let Some(nearest) = open(transfer, layout, commit, Some(*behind), trust, warnings)?
            {
                return Ok(Some(nearest));
            }
        }
    }
    for (branch, layout) in wanted.branches.iter().flat_map(|branch| layouts.iter().map(move |l| (branch, l))) {
        let hint = transfer.small(&layout.head(branch), published::MAX_BYTES)?;
        if let Some(commit) = hint.and_then(|bytes| PublishedCommit::decode(&bytes))
            && let Some(nearest) = open(transfer, layout, commit, None, trust, warnings)?
        {
            return Ok(Some(nearest));
        }
    }
    Ok(None)
}

/// Reads and checks the manifest that a commit names.
fn open(
    transfer: &Transfer<'_>,
    layout: &Layout,
    commit: PublishedCommit,
    n_behind: Option<usize>,
    trust: &Trust,
    warnings: &mut Vec<String>,
) -> Result<Option<Nearest>> {
    let mut pass = |why: &str| {
        warnings.push(format!("commit {:.12} was passed over: {why}", commit.commit));
        Ok(None)
    };
    let Some(bytes) = transfer.small(&layout.manifest(&commit.tree), published::MAX_BYTES)? else {
        return pass("its manifest is missing");
    };
    if Digest::of(&bytes) != commit.manifest {
        return pass("its manifest is not the one it names");
    }
    if trust.is_required() {
        let signature = transfer.small(&layout.signature(&commit.tree), signature::MAX_BYTES)?;
        match signature {
            None => return pass("its manifest is not signed"),
            Some(signature) if !trust.holds(&bytes, &signature) => {
                return pass("its manifest is not signed by a key that you trust");
            }
            Some(_) => {}
        }
    }
    match PublishedTree::decode(&bytes, &layout.namespace).filter(|tree| tree.tree == commit.tree) {
        Some(tree) => {
            Ok(Some(Nearest { layout: layout.clone(), commit, n_behind, tree, is_signed: trust.is_required() }))
        }
        None => pass("its manifest cannot be read"),
    }
}

/// Says when a remote holds the facts of another extractor only.
fn other_facts(transfer: &Transfer<'_>, wanted: &Wanted<'_>) -> Result<Option<String>> {
    for namespace in wanted.readers {
        let layout = Layout { namespace: namespace.clone(), set: wanted.set };
        let latest = transfer.small(&layout.latest(), published::MAX_BYTES)?;
        let Some((set, version)) = latest.and_then(|bytes| published::decode_latest(&bytes)) else { continue };
        if set != wanted.set.to_string() {
            return Ok(Some(format!(
                "the remote has facts for {set} (ratlas {version}), this ratlas {} makes {}; `required_version` in \
                 ratlas.toml keeps both on one version",
                env!("CARGO_PKG_VERSION"),
                wanted.set
            )));
        }
    }
    Ok(Some("the remote has no tree of this history".to_owned()))
}

/// How the rows of a pack are fetched.
enum Plan {
    Whole(u64),
    /// Groups with the wanted rows in each, and the footer's range.
    Parts {
        groups: BTreeMap<usize, Vec<usize>>,
        n_bytes: u64,
    },
}

impl Plan {
    fn n_bytes(&self) -> u64 {
        match self {
            Plan::Whole(n_bytes) | Plan::Parts { n_bytes, .. } => *n_bytes,
        }
    }
}

fn plan(pack: &KnownPack<'_>, rows: &[usize]) -> Plan {
    let whole = Plan::Whole(pack.pack.len_bytes);
    let Some(index) = &pack.index else { return whole };
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in rows {
        groups.entry(row / ROWS_PER_GROUP).or_default().push(row % ROWS_PER_GROUP);
    }
    let len = |range: &Range<u64>| range.end - range.start;
    let n_bytes = groups.keys().map(|group| len(&index.groups[*group].bytes)).sum::<u64>() + len(&index.footer.bytes);
    match n_bytes * 100 < pack.pack.len_bytes * MAX_PARTS_PERCENT {
        true => Plan::Parts { groups, n_bytes },
        false => whole,
    }
}

/// Fetches rows of a pack into the store; gives how many came.
fn fetch(
    transfer: &Transfer<'_>,
    store: &Store,
    layout: &Layout,
    pack: &KnownPack<'_>,
    rows: &[usize],
    plan: &Plan,
) -> Result<usize> {
    let name = Layout { namespace: pack.pack.namespace.clone(), set: layout.set }.pack(&pack.pack.digest);
    let Some(index) = &pack.index else { return Ok(0) };
    match plan {
        Plan::Whole(len_bytes) => {
            let folder = store.dir().join("tmp");
            let Some(file) = transfer.whole(&name, *len_bytes, &pack.pack.digest, &folder)? else { return Ok(0) };
            Ok(if store.adopt_pack(&pack.pack.digest, &file, index)? { rows.len() } else { 0 })
        }
        Plan::Parts { groups, .. } => {
            let Some(footer) = transfer.part(&name, index.footer.bytes.clone(), &index.footer.digest)? else {
                return Ok(0);
            };
            let mut n_rows = 0;
            for (group, rows) in groups {
                let part = &index.groups[*group];
                let Some(bytes) = transfer.part(&name, part.bytes.clone(), &part.digest)? else { continue };
                let shards: Vec<Shard> =
                    read_fetched(index, &footer, *group, bytes, rows).into_iter().flatten().collect();
                n_rows += shards.len();
                store.put_many(shards)?;
            }
            Ok(n_rows)
        }
    }
}
