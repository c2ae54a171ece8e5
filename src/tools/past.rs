//! What the history says beside an answer: which commits touched a definition, who wrote and owns
//! changed files, and what usually changes with them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::atlas::{Atlas, AtlasSource};
use crate::base::error::Result;
use crate::base::halt;
use crate::base::path::RepoPath;
use crate::extract::extract;
use crate::facts::model::FileFacts;
use crate::git::log::Log;
use crate::git::owners::{self, Owners};
use crate::report::{json, sanitize};
use crate::tools::show;
use crate::tools::tool::Answer;
use crate::view::SymbolRef;

/// How many commits of a file are looked into for those that touched a definition.
const MAX_LOOKED: usize = 60;
/// How many are listed.
const MAX_LISTED: usize = 10;
/// How many authors, owners and neighbors a line names.
const MAX_NAMED: usize = 3;
/// A file that changed with another less often than this did so by chance.
const MIN_TOGETHER: usize = 3;
/// Commits of more files than this say nothing of what belongs together.
const MAX_TOGETHER_FILES: usize = 24;

/// Adds the commits that touched a definition, newest first: those after which its signature,
/// body or doc, or those of what it holds, are not what they were. Gives them as JSON.
///
/// # Errors
/// `Git`.
pub fn put_history(answer: &mut Answer, source: &dyn AtlasSource, atlas: &Atlas, at: SymbolRef) -> Result<Value> {
    let log = source.log(atlas)?;
    let file = atlas.view.file(at.file);
    let qualname = atlas.view.qualname(at);
    let of_file: Vec<_> = log.of_path(file.path.as_str()).take(MAX_LOOKED).collect();
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for change in &of_file {
        halt::check();
        let version = source.version(&change.commit, &file.path)?;
        let side = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| extract(file.dialect, bytes));
        let (before, after) = (side(&version.before), side(&version.after));
        let hashes = |facts: &Option<FileFacts>| facts.as_ref().map(|facts| hashes_of(facts, qualname));
        if hashes(&before).unwrap_or_default() == hashes(&after).unwrap_or_default() {
            continue;
        }
        let (date, author) = (date_of(change.seconds), sanitize::line(log.author(change), 60));
        let subject = sanitize::line(&change.subject, 100);
        lines.push(format!("    {} {date} {author}: {subject}", change.commit.get(..10).unwrap_or(&change.commit)));
        rows.push(json::object([
            ("commit", change.commit.clone().into()),
            ("date", date.into()),
            ("author", author.into()),
            ("subject", subject.into()),
        ]));
        if rows.len() == MAX_LISTED {
            break;
        }
    }
    answer.line(match rows.is_empty() {
        true => format!("  history: untouched in the file's last {}", show::count(of_file.len(), "commit")),
        false => "  history, newest first:".to_owned(),
    });
    lines.into_iter().for_each(|line| answer.line(line));
    Ok(rows.into())
}

/// The hashes of a definition and of all that it holds.
fn hashes_of(facts: &FileFacts, qualname: &str) -> Vec<(String, u64, u64, u64)> {
    let is_inner =
        |name: &str| name.strip_prefix(qualname).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let symbols = facts.symbols.iter().filter(|symbol| is_inner(facts.name(symbol.qualname)));
    symbols
        .map(|symbol| {
            let name = facts.name(symbol.qualname).to_owned();
            (name, symbol.sig_hash.0, symbol.body_hash.0, symbol.doc_hash.0)
        })
        .collect()
}

/// Adds what is known of the past of changed files; gives it as JSON, `None` where nothing is.
pub fn put_files(answer: &mut Answer, source: &dyn AtlasSource, atlas: &Atlas, paths: &[&str]) -> Option<Value> {
    let (lines, fields) = of_files(source, atlas, paths)?;
    lines.into_iter().for_each(|line| answer.line(line));
    Some(fields)
}

/// What is known of the past of changed files, as lines and as JSON; `None` where nothing is.
pub fn of_files(source: &dyn AtlasSource, atlas: &Atlas, paths: &[&str]) -> Option<(Vec<String>, Value)> {
    let log = source.log(atlas).ok()?;
    let (mut lines, mut fields) = (Vec::new(), serde_json::Map::new());
    let (n_commits, authors) = authors(&log, paths);
    if n_commits > 0 {
        let names: Vec<String> =
            authors.iter().take(MAX_NAMED).map(|(name, n)| format!("{} ({n})", sanitize::line(name, 60))).collect();
        let commits = show::count(n_commits, "commit");
        lines.push(format!(
            "history: {commits} of the last {} changed them; by {}",
            log.changes.len(),
            names.join(", ")
        ));
        fields.insert("commits".to_owned(), n_commits.into());
        let names: Vec<String> = authors.iter().take(MAX_NAMED).map(|(name, _)| sanitize::line(name, 60)).collect();
        fields.insert("authors".to_owned(), names.into());
    }
    let together = together(&log, paths);
    if !together.is_empty() {
        let names: Vec<String> = together
            .iter()
            .take(MAX_NAMED)
            .map(|(path, n, of)| format!("{} ({n} of {of} times)", sanitize::line(path, 200)))
            .collect();
        lines.push(format!("usually changed with them: {}", names.join(", ")));
        let rows: Vec<String> = together.iter().take(MAX_NAMED).map(|(path, ..)| sanitize::line(path, 400)).collect();
        fields.insert("together".to_owned(), rows.into());
    }
    let owned = owned(source, atlas, paths);
    if !owned.is_empty() {
        let names: Vec<String> = owned.iter().take(MAX_NAMED).map(|(owner, n)| format!("{owner} ({n})")).collect();
        lines.push(format!("owners: {}", names.join(", ")));
        fields.insert("owners".to_owned(), owned.into_iter().map(|(owner, _)| owner).collect::<Vec<_>>().into());
    }
    (!fields.is_empty()).then_some((lines, Value::Object(fields)))
}

/// How many commits changed any of the files, and their authors, the busiest first.
fn authors<'l>(log: &'l Log, paths: &[&str]) -> (usize, Vec<(&'l str, usize)>) {
    let wanted: BTreeSet<u32> = paths.iter().filter_map(|path| log.find(path)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut n_commits = 0;
    for change in log.changes.iter().filter(|change| change.paths.iter().any(|path| wanted.contains(path))) {
        n_commits += 1;
        *counts.entry(log.author(change)).or_default() += 1;
    }
    let mut authors: Vec<(&str, usize)> = counts.into_iter().collect();
    authors.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    (n_commits, authors)
}

/// Files outside of `paths` that changed in at least half of the commits that changed one of
/// them, with how often of how many; the likeliest first.
fn together<'l>(log: &'l Log, paths: &[&str]) -> Vec<(&'l str, usize, usize)> {
    let wanted: BTreeSet<u32> = paths.iter().filter_map(|path| log.find(path)).collect();
    let mut best: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for at in &wanted {
        let changes = log.changes.iter().filter(|change| change.paths.binary_search(at).is_ok());
        let changes: Vec<_> = changes.filter(|change| change.paths.len() <= MAX_TOGETHER_FILES).collect();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for other in changes.iter().flat_map(|change| &change.paths).filter(|other| !wanted.contains(other)) {
            *counts.entry(*other).or_default() += 1;
        }
        for (other, n) in counts.into_iter().filter(|(_, n)| *n >= MIN_TOGETHER && *n * 2 >= changes.len()) {
            let known = best.entry(other).or_default();
            if n > known.0 {
                *known = (n, changes.len());
            }
        }
    }
    let mut rows: Vec<(&str, usize, usize)> =
        best.into_iter().map(|(at, (n, of))| (log.paths[at as usize].as_str(), n, of)).collect();
    rows.sort_by(|one, other| (other.1 * one.2).cmp(&(one.1 * other.2)).then(one.0.cmp(other.0)));
    rows
}

/// The owners of files by CODEOWNERS, with how many each has; those of most first.
fn owned(source: &dyn AtlasSource, atlas: &Atlas, paths: &[&str]) -> Vec<(String, usize)> {
    let found = owners::PLACES
        .iter()
        .filter_map(|place| RepoPath::new(place))
        .find(|place| atlas.view.others.binary_search_by(|other| other.path.as_str().cmp(place.as_str())).is_ok());
    let Some(bytes) = found.and_then(|place| source.read(atlas, &place).ok()) else { return Vec::new() };
    let owners = Owners::read(&String::from_utf8_lossy(&bytes));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for owner in paths.iter().flat_map(|path| owners.of(path)) {
        *counts.entry(sanitize::line(owner, 80)).or_default() += 1;
    }
    let mut rows: Vec<(String, usize)> = counts.into_iter().collect();
    rows.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    rows
}

/// The day of a time in UTC, as `2026-04-08`; Howard Hinnant's `civil_from_days`.
fn date_of(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(date_of(0), "1970-01-01");
        assert_eq!(date_of(1_709_164_800), "2024-02-29");
        assert_eq!(date_of(1_775_710_000), "2026-04-09");
        assert_eq!(date_of(-1), "1969-12-31");
    }
}
