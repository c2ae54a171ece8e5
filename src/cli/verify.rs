//! `ratlas verify`: extracts files again and compares them with what the store gave. A pack that
//! gave something else is set aside, whatever else is in it.

use clap::Args;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::ShardKey;
use crate::cli::context::Context;
use crate::cli::output;
use crate::extract::extract_with;
use crate::facts::canonical;
use crate::report::sanitize;
use crate::tools::show;
use crate::view::FileIdx;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// How many files to extract again, or what share of them, spread evenly over the tree; 0 is all
    #[arg(long, value_name = "N|P%", default_value = "100", value_parser = Sample::parse)]
    sample: Sample,
    /// Extract every file again
    #[arg(long, conflicts_with = "sample")]
    all: bool,
}

/// How many files are extracted again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    Files(usize),
    Percent(f64),
}

impl Sample {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let wrong = || "is no number of files such as `100`, and no share such as `1%`".to_owned();
        match text.strip_suffix('%') {
            Some(share) => {
                share.trim().parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(Sample::Percent).ok_or_else(wrong)
            }
            None => text.parse().map(Sample::Files).map_err(|_| wrong()),
        }
    }

    /// The number of files of a tree of `n_files`; a share is one file at least.
    fn of(self, n_files: usize) -> usize {
        match self {
            Sample::Files(0) => n_files,
            Sample::Files(n) => n,
            Sample::Percent(share) => ((n_files as f64 * share / 100.0).ceil() as usize).max(1),
        }
    }
}

pub fn run(context: &Context, args: &VerifyArgs) -> Result<u8> {
    let session = context.session()?;
    let atlas = session.fresh()?;
    let n_files = atlas.view.files.len();
    let n = if args.all { n_files } else { args.sample.of(n_files) };
    let files = sample(n_files, n);
    let n_checked = files.len();
    let wrong = differing(&session, &atlas, files)?;
    if wrong.is_empty() {
        output::print(&format!("{} of {n_files}: equal\n", show::count(n_checked, "shard")))?;
        return Ok(0);
    }
    for file in &wrong {
        output::print(&format!("differs: {}\n", name(&atlas, *file)))?;
    }
    let keys: Vec<ShardKey> = wrong
        .iter()
        .map(|file| {
            let file = atlas.view.file(*file);
            let fingerprint = session.fingerprints()[&file.dialect];
            ShardKey { blob: file.blob, dialect: file.dialect, fingerprint }
        })
        .collect();
    for name in session.shards().quarantine(&keys)? {
        output::print(&format!("set aside: {name}\n"))?;
    }
    let what = format!("{} of {n_checked} not what their files give", show::count(wrong.len(), "shard"));
    Err(Error::new(ErrorKind::Integrity, what)
        .hint("run `ratlas verify --all`, and ask who wrote them: see docs/scale.md"))
}

/// A file's path, as it is printed.
pub fn name(atlas: &Atlas, file: FileIdx) -> String {
    sanitize::line(atlas.view.file(file).path.as_str(), 400)
}

/// Those of `files` whose facts are not those of their bytes, in order.
///
/// # Errors
/// As [`AtlasSource::read`].
pub fn differing(
    source: &dyn AtlasSource,
    atlas: &Atlas,
    files: impl IntoIterator<Item = FileIdx>,
) -> Result<Vec<FileIdx>> {
    let mut wrong = Vec::new();
    for at in files {
        let stored = atlas.view.file(at);
        let again = extract_with(stored.dialect, &source.read(atlas, &stored.path)?, source.redactor());
        if canonical::digest(&again) != canonical::digest(&stored.facts) {
            wrong.push(at);
        }
    }
    Ok(wrong)
}

/// At most `n` of `n_files`, spread evenly.
pub fn sample(n_files: usize, n: usize) -> Vec<FileIdx> {
    let n = n.min(n_files);
    (0..n).map(|at| FileIdx((at * n_files / n.max(1)) as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Sample, sample};

    #[test]
    fn samples_are_spread_and_unique() {
        let at = |n_files, n| sample(n_files, n).into_iter().map(|file| file.0).collect::<Vec<_>>();
        assert_eq!(at(10, 5), [0, 2, 4, 6, 8]);
        assert_eq!(at(3, 100), [0, 1, 2]);
        assert!(at(0, 7).is_empty());
    }

    #[test]
    fn numbers_and_shares_are_read() {
        let n = |text: &str| Sample::parse(text).map(|sample| sample.of(1_000));
        assert_eq!(n("100"), Ok(100));
        assert_eq!(n("0"), Ok(1_000));
        assert_eq!(n("1%"), Ok(10));
        assert_eq!(n("0.01%"), Ok(1));
        assert!(n("x").is_err() && n("101%").is_err() && n("-1%").is_err());
    }
}
