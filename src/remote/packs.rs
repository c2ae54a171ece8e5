//! Which packs of a remote hold which keys: their indexes, from the store or fetched, and the
//! choice of the fewest packs.

use crate::base::error::Result;
use crate::base::id::ShardKey;
use crate::base::parallel::each;
use crate::remote::layout::Layout;
use crate::remote::published::PublishedPack;
use crate::remote::transfer::Transfer;
use crate::store::objects::Store;
use crate::store::pack::PackIndex;

/// How many requests run at once.
pub const AT_ONCE: usize = 8;

/// A pack with its index, as far as it could be had.
pub struct KnownPack<'p> {
    pub pack: &'p PublishedPack,
    pub index: Option<PackIndex>,
    /// Whether the pack lies in the store.
    pub is_here: bool,
}

/// The indexes of packs, in order. One that is not there, not of its digest or not of its pack's
/// size is `None`.
///
/// # Errors
/// `Remote`, when it is out of reach.
pub fn indexes<'p>(
    transfer: &Transfer<'_>,
    store: &Store,
    layout: &Layout,
    packs: &'p [PublishedPack],
) -> Result<Vec<KnownPack<'p>>> {
    let known = each(
        packs.len(),
        AT_ONCE,
        || (),
        |(), at| {
            let pack = &packs[at];
            if let Some(index) = store.pack_index(&pack.digest) {
                return Ok(KnownPack { pack, index: Some(index), is_here: true });
            }
            let name = Layout { namespace: pack.namespace.clone(), set: layout.set }.index(&pack.digest);
            let bytes = transfer.part(&name, 0..pack.index_len_bytes, &pack.index_digest)?;
            let index = bytes.and_then(|bytes| PackIndex::decode(&bytes)).filter(|index| {
                index.keys.len() as u64 == pack.n_rows && index.footer.bytes.end == pack.len_bytes && is_laid_out(index)
            });
            Ok(KnownPack { pack, index, is_here: false })
        },
    );
    known.into_iter().collect()
}

/// Whether groups and footer follow each other without a gap, so that parts are parts of the file.
fn is_laid_out(index: &PackIndex) -> bool {
    let mut end = 4;
    index.groups.iter().chain([&index.footer]).all(|part| {
        let follows = part.bytes.start == end && part.bytes.end > part.bytes.start;
        end = part.bytes.end;
        follows
    })
}

/// The rows of `wanted` (sorted keys) that each pack is to give: the pack with most first, each
/// key from one pack. Packs that give nothing have no rows.
pub fn assign(packs: &[KnownPack<'_>], wanted: &[ShardKey]) -> Vec<Vec<usize>> {
    let rows = |pack: &KnownPack<'_>, left: &[bool]| -> Vec<usize> {
        let keys = pack.index.iter().flat_map(|index| &index.keys).enumerate();
        keys.filter(|(_, key)| wanted.binary_search(key).is_ok_and(|at| left[at])).map(|(row, _)| row).collect()
    };
    let mut left = vec![true; wanted.len()];
    let mut order: Vec<usize> = (0..packs.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(rows(&packs[*at], &left).len()), *at));
    let mut assigned = vec![Vec::new(); packs.len()];
    for at in order {
        assigned[at] = rows(&packs[at], &left);
        let keys = packs[at].index.iter().flat_map(|index| assigned[at].iter().map(move |row| &index.keys[*row]));
        keys.for_each(|key| {
            if let Ok(at) = wanted.binary_search(key) {
                left[at] = false;
            }
        });
    }
    assigned
}
