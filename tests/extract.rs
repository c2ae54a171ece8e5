//! Extraction against goldens: `fixtures/extract/<lang>/x.py` with `x.facts` beside it.
//!
//! `RATLAS_UPDATE=1 cargo test extract` rewrites the goldens; the difference is then read by a
//! person. Each fixture is also cut at every line and fed broken.

use std::fs;
use std::path::{Path, PathBuf};

use ratlas::base::dialect::Dialect;
use ratlas::extract::extract;
use ratlas::facts::dump::dump;
use ratlas::facts::model::{FileFacts, Status};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/extract");
    let mut files = Vec::new();
    for folder in fs::read_dir(root).expect("fixtures/extract").flatten() {
        for file in fs::read_dir(folder.path()).expect("a language's folder").flatten() {
            if Dialect::of_file_name(&file.file_name().to_string_lossy()).is_some() {
                files.push(file.path());
            }
        }
    }
    files.sort();
    files
}

fn facts_of(path: &Path, source: &[u8]) -> FileFacts {
    let name = path.file_name().expect("a file").to_string_lossy();
    extract(Dialect::of_file_name(&name).expect("an indexed name"), source)
}

#[test]
fn facts_match_their_goldens() {
    let mut wrong = Vec::new();
    for path in fixtures() {
        let source = fs::read(&path).expect("fixture");
        let found = dump(&facts_of(&path, &source));
        let golden = path.with_file_name(format!("{}.facts", path.file_name().expect("a file").to_string_lossy()));
        if std::env::var_os("RATLAS_UPDATE").is_some() {
            fs::write(&golden, &found).expect("golden is writable");
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if expected != found {
            let first = expected.lines().zip(found.lines()).find(|(e, f)| e != f);
            wrong.push(format!("{}: first difference {first:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_language_has_its_dozen() {
    let fixtures = fixtures();
    for folder in ["python", "typescript", "javascript", "java"] {
        let n = fixtures.iter().filter(|p| p.parent().is_some_and(|d| d.ends_with(folder))).count();
        assert!(n >= 12, "{folder} has {n} fixtures");
    }
}

#[test]
fn a_file_cut_at_any_line_gives_what_lies_before_the_cut() {
    for path in fixtures() {
        let source = fs::read(&path).expect("fixture");
        let whole = facts_of(&path, &source);
        let mut at = 0;
        for (n, part) in source.split_inclusive(|b| *b == b'\n').enumerate() {
            at += part.len();
            let cut = facts_of(&path, &source[..at]);
            assert!(
                matches!(cut.status, Status::Ok | Status::Partial),
                "{} cut at {}: {:?}",
                path.display(),
                n + 1,
                cut.status
            );
            assert_eq!(cut.status == Status::Ok, cut.damage.is_empty(), "{} cut at {}", path.display(), n + 1);
            for row in cut.refs.iter() {
                assert!(row.line <= cut.n_lines + 1, "{} cut at {}", path.display(), n + 1);
            }
            if cut.status == Status::Ok && whole.status == Status::Ok {
                let n_cut = cut.symbols.len();
                let n_before = whole.symbols.iter().filter(|s| s.end_line <= (n + 1) as u32 && s.name_line > 0).count();
                assert!(
                    n_cut >= n_before,
                    "{} cut at {}: {n_cut} symbols, {n_before} end before",
                    path.display(),
                    n + 1
                );
            }
        }
    }
}
