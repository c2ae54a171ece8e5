//! `ratlas verify`: extracts files again and compares them with what the store gave.

use clap::Args;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::Context;
use crate::cli::output;
use crate::extract::extract_with;
use crate::facts::canonical;
use crate::report::sanitize;
use crate::tools::show;
use crate::view::FileIdx;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// How many files to extract again, spread evenly over the tree; 0 is all
    #[arg(long, value_name = "N", default_value_t = 100)]
    sample: usize,
}

pub fn run(context: &Context, args: &VerifyArgs) -> Result<u8> {
    let session = context.session()?;
    let atlas = session.fresh()?;
    let files = sample(atlas.view.files.len(), args.sample);
    let n_checked = files.len();
    let wrong = differing(&session, &atlas, files)?;
    if wrong.is_empty() {
        output::print(&format!("{} of {}: equal\n", show::count(n_checked, "shard"), atlas.view.files.len()))?;
        return Ok(0);
    }
    for path in &wrong {
        output::print(&format!("differs: {path}\n"))?;
    }
    let what = format!("{} of {n_checked} not what their files give", show::count(wrong.len(), "shard"));
    Err(Error::new(ErrorKind::Integrity, what).hint("run `ratlas index --full` to extract everything again"))
}

/// The paths among `files` whose facts are not those of their bytes, sorted.
///
/// # Errors
/// As [`AtlasSource::read`].
pub fn differing(
    source: &dyn AtlasSource,
    atlas: &Atlas,
    files: impl IntoIterator<Item = FileIdx>,
) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for file in files {
        let stored = atlas.view.file(file);
        let again = extract_with(stored.dialect, &source.read(atlas, &stored.path)?, source.redactor());
        if canonical::digest(&again) != canonical::digest(&stored.facts) {
            wrong.push(sanitize::line(stored.path.as_str(), 400));
        }
    }
    Ok(wrong)
}

/// At most `n` of `n_files`, spread evenly; all for 0.
pub fn sample(n_files: usize, n: usize) -> Vec<FileIdx> {
    let n = if n == 0 { n_files } else { n.min(n_files) };
    (0..n).map(|at| FileIdx((at * n_files / n.max(1)) as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn samples_are_spread_and_unique() {
        let at = |n_files, n| sample(n_files, n).into_iter().map(|file| file.0).collect::<Vec<_>>();
        assert_eq!(at(10, 5), [0, 2, 4, 6, 8]);
        assert_eq!(at(3, 100), [0, 1, 2]);
        assert_eq!(at(3, 0), [0, 1, 2]);
        assert!(at(0, 7).is_empty());
    }
}
