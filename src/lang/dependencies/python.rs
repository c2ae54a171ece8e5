//! `requirements.txt`, `pyproject.toml`, and the lockfiles of uv, Poetry, PDM and Pipenv.

use serde_json::Value;
use toml::{Table, Value as Toml};

use crate::lang::dependencies::{Dependencies, METADATA};

/// A distribution's name as indexes compare it (<https://packaging.python.org/en/latest/specifications/name-normalization/>).
pub fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace(['.', '_'], "-")
}

/// The name at the start of a requirement, and what is said of it.
fn requirement(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let said: Vec<&str> = rest.split_whitespace().collect();
    name.starts_with(|c: char| c.is_ascii_alphanumeric()).then(|| (normalized(name), said.join(" ")))
}

/// Reads a requirements file; its options are the rest.
pub fn requirements(text: &str) -> Dependencies {
    let mut out = Dependencies::default();
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match requirement(line) {
            Some((name, said)) => out.say(&name, said),
            None => out.rest.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// Tools that judge code and run none of it.
const JUDGES: [&str; 14] = [
    "ruff",
    "mypy",
    "black",
    "isort",
    "pylint",
    "pyright",
    "basedpyright",
    "flake8",
    "codespell",
    "towncrier",
    "commitizen",
    "bumpversion",
    "semantic_release",
    "typos",
];

/// Reads a `pyproject.toml`; metadata and the settings of judging tools put aside.
pub fn pyproject(text: &str) -> Option<Dependencies> {
    let mut table: Table = text.parse().ok()?;
    let mut out = Dependencies::default();
    if let Some(Toml::Table(project)) = table.get_mut("project") {
        take_list(project.remove("dependencies"), &mut out)?;
        for (_, list) in take_table(project.remove("optional-dependencies")) {
            take_list(Some(list), &mut out)?;
        }
        METADATA.iter().for_each(|key| {
            project.remove(*key);
        });
    }
    for (_, list) in take_table(table.remove("dependency-groups")) {
        take_list(Some(list), &mut out)?;
    }
    if let Some(Toml::Table(tool)) = table.get_mut("tool") {
        JUDGES.iter().for_each(|name| {
            tool.remove(*name);
        });
        if let Some(Toml::Table(uv)) = tool.get_mut("uv") {
            for (name, place) in take_table(uv.remove("sources")) {
                out.say(&normalized(&name), place.to_string());
            }
        }
        if let Some(Toml::Table(poetry)) = tool.get_mut("poetry") {
            let groups = take_table(poetry.remove("group"));
            let own = ["dependencies", "dev-dependencies"].map(|key| poetry.remove(key));
            let grouped =
                groups.into_iter().map(|(_, mut group)| group.as_table_mut().and_then(|g| g.remove("dependencies")));
            for section in own.into_iter().chain(grouped) {
                for (name, value) in take_table(section) {
                    out.say(&normalized(&name), value.to_string());
                }
            }
            METADATA.iter().for_each(|key| {
                poetry.remove(*key);
            });
        }
        // The header of a table that is empty now says nothing.
        tool.retain(|_, value| value.as_table().is_none_or(|table| !table.is_empty()));
    }
    out.rest = table.to_string();
    Some(out)
}

fn take_table(value: Option<Toml>) -> Table {
    match value {
        Some(Toml::Table(table)) => table,
        _ => Table::new(),
    }
}

fn take_list(value: Option<Toml>, out: &mut Dependencies) -> Option<()> {
    for item in value.as_ref().and_then(Toml::as_array).into_iter().flatten() {
        match item {
            Toml::String(text) => {
                let (name, said) = requirement(text)?;
                out.say(&name, said);
            }
            // `{ include-group = "test" }`
            other => out.rest.push_str(&format!("{other}\n")),
        }
    }
    Some(())
}

/// Reads a lockfile of `[[package]]` tables: of uv, Poetry or PDM.
pub fn lock(text: &str) -> Option<Dependencies> {
    let table: Table = text.parse().ok()?;
    let mut out = Dependencies::default();
    for package in table.get("package")?.as_array()? {
        let package = package.as_table()?;
        let name = normalized(package.get("name")?.as_str()?);
        let needed: Vec<String> = match package.get("dependencies") {
            Some(Toml::Array(list)) => list
                .iter()
                .filter_map(|item| match item {
                    Toml::String(text) => requirement(text).map(|(name, _)| name),
                    other => other.get("name")?.as_str().map(normalized),
                })
                .collect(),
            Some(Toml::Table(map)) => map.keys().map(|name| normalized(name)).collect(),
            _ => Vec::new(),
        };
        let is_own = package
            .get("source")
            .is_some_and(|source| ["editable", "virtual", "directory"].iter().any(|key| source.get(key).is_some()));
        if is_own {
            out.direct.extend(needed);
            continue;
        }
        needed.iter().for_each(|needed| out.need(needed, &name));
        out.say(
            &name,
            package.get("version").map(Toml::to_string).unwrap_or_default()
                + &package.get("source").map(Toml::to_string).unwrap_or_default(),
        );
    }
    Some(out)
}

/// Reads a `Pipfile.lock`.
pub fn pipfile_lock(text: &str) -> Option<Dependencies> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut out = Dependencies::default();
    for section in ["default", "develop"] {
        for (name, row) in value.get(section).and_then(Value::as_object).into_iter().flatten() {
            out.say(
                &normalized(name),
                row.get("version").or_else(|| row.get("ref")).map(Value::to_string).unwrap_or_default(),
            );
        }
    }
    Some(out)
}
