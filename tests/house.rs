//! The house rules that a machine can check, read from the tables of `src/ARCHITECTURE.md`:
//! no upward or sideways import, no circle, no dependency named outside its doors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Dependencies that any room may name.
const ANYWHERE: &[&str] = &["serde", "serde_json", "tracing"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of the table below a heading: trimmed cells, head and rule left out.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    text.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect())
        .collect()
}

/// Every source file with its room and its code: comments and unit tests left out.
fn sources() -> Vec<(String, String, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("src is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let src = root().join("src");
    let mut files = Vec::new();
    walk(&src, &mut files);
    files.sort();
    files
        .iter()
        .filter(|path| path.file_name().is_some_and(|n| n != "build.rs") || path.parent() != Some(src.as_path()))
        .map(|path| {
            let name = path.strip_prefix(&src).expect("below src").to_string_lossy().replace('\\', "/");
            let room = name.split('/').next().expect("a part").trim_end_matches(".rs").to_string();
            let text = fs::read_to_string(path).expect("source is text");
            let code: String = text
                .lines()
                .take_while(|line| line.trim() != "#[cfg(test)]")
                .filter(|line| !line.trim_start().starts_with("//"))
                .map(|line| format!("{line}\n"))
                .collect();
            (name, room, code)
        })
        .collect()
}

/// The identifiers that follow `prefix` in the code (`crate::` gives the rooms it imports).
fn names_after<'c>(code: &'c str, prefix: &str) -> BTreeSet<&'c str> {
    code.match_indices(prefix)
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$'))
        .map(|(at, _)| {
            let rest = &code[at + prefix.len()..];
            &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]
        })
        .filter(|name| !name.is_empty())
        .collect()
}

fn floors() -> BTreeMap<String, u32> {
    let text = fs::read_to_string(root().join("src/ARCHITECTURE.md")).expect("src/ARCHITECTURE.md");
    table(&text, "## Floors")
        .into_iter()
        .map(|row| (row[1].clone(), row[0].parse().expect("a floor is a number")))
        .collect()
}

#[test]
fn rooms_import_only_rooms_below_them() {
    let floors = floors();
    let mut wrong = Vec::new();
    for (name, room, code) in sources() {
        let Some(floor) = floors.get(&room) else {
            wrong.push(format!("{name}: room `{room}` has no row in the floor table"));
            continue;
        };
        assert!(!code.contains("use crate::{"), "{name}: import from the module that defines, one `use` a room");
        for import in names_after(&code, "crate::").into_iter().chain(names_after(&code, "ratlas::")) {
            // Macros are exported at the crate's root by the room `facts`.
            let import =
                if matches!(import, "table" | "cell_enum" | "id_type" | "for_each_table") { "facts" } else { import };
            match floors.get(import) {
                None => wrong.push(format!("{name}: `{import}` is no room of the floor table")),
                Some(below) if import != room && below >= floor => {
                    wrong.push(format!("{name} (floor {floor}) imports `{import}` (floor {below})"));
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_of_the_table_exists() {
    for room in floors().keys() {
        let src = root().join("src");
        assert!(
            src.join(format!("{room}.rs")).is_file() || src.join(room).join("mod.rs").is_file(),
            "no room `{room}`"
        );
    }
}

#[test]
fn dependencies_are_named_only_behind_their_doors() {
    let text = fs::read_to_string(root().join("src/ARCHITECTURE.md")).expect("src/ARCHITECTURE.md");
    let doors: BTreeMap<String, BTreeSet<String>> = table(&text, "## Doors")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].split(", ").map(str::to_string).collect()))
        .collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let dependencies: Vec<String> = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" ="))
        .map(|(name, _)| name.replace('-', "_"))
        .collect();
    assert!(dependencies.len() > 10, "the list of dependencies was not found");
    let mut wrong = Vec::new();
    for dependency in dependencies.iter().filter(|d| !ANYWHERE.contains(&d.as_str())) {
        let Some(rooms) = doors.get(dependency) else {
            wrong.push(format!("dependency `{dependency}` has no row in the table of doors"));
            continue;
        };
        for (name, room, code) in sources() {
            let named = code
                .match_indices(&format!("{dependency}::"))
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            if named && !rooms.contains(&room) {
                wrong.push(format!("{name} names `{dependency}`, whose doors are {rooms:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_enough_to_have_one_idea() {
    let large: Vec<String> = sources()
        .iter()
        .map(|(name, _, _)| (name, fs::read_to_string(root().join("src").join(name)).expect("source").lines().count()))
        .filter(|(name, n_lines)| *n_lines > 900 && name.as_str() != "facts/model.rs")
        .map(|(name, n_lines)| format!("{name}: {n_lines} lines"))
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n"));
}
