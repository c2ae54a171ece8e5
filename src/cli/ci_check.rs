//! Before an answer gates a merge: the shards it stands on are extracted afresh and compared.
//! A cache or a remote that was tampered with is found here, as far as the answer's chains go.

use std::collections::BTreeSet;

use crate::atlas::AtlasSource;
use crate::base::error::Result;
use crate::base::id::ShardKey;
use crate::extract::extract_with;
use crate::facts::canonical;
use crate::impact::answer::{Answer, Mode};
use crate::session::Session;

/// Extracts again what the change touches and what lies on the chains of the answer, in each of
/// the revisions, as far as the clone has its bytes; sets aside what differs, and says how much.
///
/// # Errors
/// As [`AtlasSource::at`]; `Store`, when what is wrong cannot be set aside.
pub fn rederive(session: &Session, answer: &Answer, revisions: &[&str]) -> Result<usize> {
    if answer.mode == Mode::All {
        // Nothing is left out on anybody's word.
        return Ok(0);
    }
    let paths = paths(answer);
    let mut wrong: Vec<ShardKey> = Vec::new();
    for revision in revisions {
        let atlas = session.at(revision)?;
        for path in &paths {
            let Some(at) = atlas.view.find(path) else { continue };
            let file = atlas.view.file(at);
            // A blobless clone lacks the base's bytes: what it compares with came from the cache.
            let Ok(bytes) = session.read(&atlas, &file.path) else { continue };
            let again = extract_with(file.dialect, &bytes, session.redactor());
            if canonical::digest(&again) != canonical::digest(&file.facts) {
                let fingerprint = session.fingerprints()[&file.dialect];
                wrong.push(ShardKey { blob: file.blob, dialect: file.dialect, fingerprint });
            }
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    if !wrong.is_empty() {
        session.shards().quarantine(&wrong)?;
    }
    Ok(wrong.len())
}

/// The files of the change, of the selected tests, and of every step between.
fn paths(answer: &Answer) -> BTreeSet<&str> {
    let changed = answer.files.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.base_path));
    let tests = answer.tests.iter().map(|test| &test.file);
    let dependents = answer.dependents.iter().map(|dependent| &dependent.path);
    let steps = answer.tests.iter().flat_map(|test| test.via.iter().map(|step| step.file.as_str()));
    changed.chain(tests).chain(dependents).map(|path| path.as_str()).chain(steps).collect()
}
