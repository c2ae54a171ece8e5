//! Counters of short-lived processes: lines appended to a small file of the store, summed on
//! reading. They are measurements, not part of the index: whatever is unreadable counts nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::store::objects::Store;

/// A longer log is folded into its sums.
const MAX_LOG_BYTES: u64 = 64 << 10;
/// Larger files are none of ours.
const MAX_READ_BYTES: u64 = 16 << 20;

/// Sums by the name of a series, labels included.
pub type Sums = BTreeMap<String, f64>;

impl Store {
    fn counters_dir(&self) -> PathBuf {
        self.dir().join("counters")
    }

    /// Adds to counters. One write of whole lines, so that processes do not mix theirs; a store
    /// that cannot be written counts nothing.
    pub fn count(&self, added: &Sums) {
        let text: String =
            added.iter().filter(|(name, _)| is_name(name)).map(|(name, n)| format!("{n} {name}\n")).collect();
        let log = self.counters_dir().join("log");
        let append = || {
            fs::create_dir_all(self.counters_dir())?;
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
            file.write_all(text.as_bytes())?;
            file.metadata().map(|metadata| metadata.len())
        };
        match append() {
            Ok(n_bytes) if n_bytes > MAX_LOG_BYTES => self.fold(&log),
            Ok(_) => {}
            Err(error) => tracing::debug!("cannot count: {error}"),
        }
    }

    /// The sums of all that was counted.
    pub fn counters(&self) -> Sums {
        let mut sums = Sums::new();
        for entry in fs::read_dir(self.counters_dir()).into_iter().flatten().flatten() {
            read_into(&entry.path(), &mut sums);
        }
        sums
    }

    /// Puts the sums of a log in its place: it is claimed by a name of its own, then replaced at
    /// once, so that nothing is counted twice or lost whenever a process ends.
    fn fold(&self, log: &Path) {
        let claimed = (0..1_000)
            .map(|n| self.counters_dir().join(format!("sums-{}-{n}", std::process::id())))
            .find(|path| !path.exists());
        let Some(claimed) = claimed.filter(|claimed| fs::rename(log, claimed).is_ok()) else { return };
        let mut sums = Sums::new();
        read_into(&claimed, &mut sums);
        let text: String = sums.iter().map(|(name, n)| format!("{n} {name}\n")).collect();
        if let Err(error) = self.write(&claimed, text.as_bytes()) {
            tracing::debug!("cannot fold counters: {error}");
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && !name.contains(char::is_whitespace) && !name.contains(char::is_control)
}

fn read_into(path: &Path, sums: &mut Sums) {
    if fs::metadata(path).map_or(true, |metadata| !metadata.is_file() || metadata.len() > MAX_READ_BYTES) {
        return;
    }
    let Ok(bytes) = fs::read(path) else { return };
    for line in String::from_utf8_lossy(&bytes).split_inclusive('\n') {
        // A line that was cut off has no end.
        let Some((number, name)) = line.strip_suffix('\n').and_then(|line| line.split_once(' ')) else { continue };
        if let (Ok(number), true) = (number.parse::<f64>(), is_name(name))
            && number.is_finite()
        {
            *sums.entry(name.to_owned()).or_default() += number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;
    use crate::store::objects::Store;

    #[test]
    fn counts_of_processes_add_up_and_folding_keeps_them() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert!(store.counters().is_empty());
        let one =
            Sums::from([("ratlas_queries_total{tool=\"repo_map\"}".to_owned(), 1.0), ("x_total".to_owned(), 0.5)]);
        for _ in 0..3_000 {
            store.count(&one);
        }
        assert_eq!(store.counters()["ratlas_queries_total{tool=\"repo_map\"}"], 3_000.0);
        let files: Vec<u64> = std::fs::read_dir(dir.path().join("counters"))
            .unwrap()
            .map(|e| e.unwrap().metadata().unwrap().len())
            .collect();
        assert!(files.len() > 1 && files.iter().sum::<u64>() < 100_000, "{files:?}");
    }

    #[test]
    fn what_is_no_count_counts_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.count(&Sums::from([("a b".to_owned(), 1.0), ("ok_total".to_owned(), 2.0)]));
        let log = dir.path().join("counters").join("log");
        let mut bytes = std::fs::read(&log).unwrap();
        bytes.extend(b"inf bad_total\nnonsense\n\xff 1\n7 cut_off_total");
        std::fs::write(&log, bytes).unwrap();
        assert_eq!(store.counters(), Sums::from([("ok_total".to_owned(), 2.0)]));
    }
}
