//! `package.json` and the lockfiles of npm, yarn and pnpm.

use serde_json::{Map, Value};

use crate::lang::dependencies::{Dependencies, METADATA};

const SECTIONS: [&str; 4] = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/// Reads a `package.json`: its sections of dependencies, all else but metadata as the rest.
pub fn manifest(text: &str) -> Option<Dependencies> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let map = value.as_object_mut()?;
    let mut out = Dependencies::default();
    for section in SECTIONS {
        for (name, version) in map.shift_remove(section).as_ref().and_then(Value::as_object).into_iter().flatten() {
            out.say(name, version.as_str()?);
        }
    }
    METADATA.iter().for_each(|key| {
        map.shift_remove(*key);
    });
    out.rest = canonical(&value);
    Some(out)
}

/// Keys sorted, whatever the order in which they are written.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut rows: Vec<String> = map.iter().map(|(key, v)| format!("{key:?}:{}", canonical(v))).collect();
            rows.sort();
            format!("{{{}}}", rows.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        _ => value.to_string(),
    }
}

fn keys<'v>(value: &'v Value, sections: &'v [&str]) -> impl Iterator<Item = &'v String> {
    sections.iter().filter_map(|section| value.get(section)?.as_object()).flat_map(Map::keys)
}

/// Reads a `package-lock.json` of any version.
pub fn package_lock(text: &str) -> Option<Dependencies> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut out = Dependencies::default();
    if let Some(packages) = value.get("packages").and_then(Value::as_object) {
        for (place, row) in packages {
            let name = match place.rsplit_once("node_modules/") {
                Some((_, name)) => name,
                None => {
                    // The project, or one of its workspaces.
                    out.direct.extend(keys(row, &SECTIONS).cloned());
                    continue;
                }
            };
            out.say(name, format!("{place} {}", facts_of(row)));
            keys(row, &SECTIONS).for_each(|needed| out.need(needed, name));
        }
        return Some(out);
    }
    let mut stack: Vec<(&String, &Value)> = value.get("dependencies")?.as_object()?.iter().collect();
    while let Some((name, row)) = stack.pop() {
        out.say(name, facts_of(row));
        keys(row, &["requires"]).for_each(|needed| out.need(needed, name));
        stack.extend(row.get("dependencies").and_then(Value::as_object).into_iter().flatten());
    }
    Some(out)
}

fn facts_of(row: &Value) -> String {
    ["version", "resolved", "integrity", "link"]
        .iter()
        .filter_map(|key| row.get(key))
        .map(canonical)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The name in `name@range`, with quotes; of `@scope/name@npm:range` too.
fn name_of(spec: &str) -> &str {
    let spec = spec.trim().trim_matches(['"', '\'']);
    let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@').map_or(spec.len(), |(at, _)| at);
    &spec[..at]
}

/// Reads a `yarn.lock`, of the first or of later versions.
pub fn yarn(text: &str) -> Option<Dependencies> {
    let mut out = Dependencies::default();
    let mut names: Vec<String> = Vec::new();
    let mut is_needing = false;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let depth = line.len() - line.trim_start().len();
        let bare = line.trim();
        match depth {
            0 => {
                let header = bare.strip_suffix(':')?;
                names = match header {
                    "__metadata" => Vec::new(),
                    _ => header.trim_matches('"').split(',').map(|spec| name_of(spec).to_string()).collect(),
                };
                is_needing = false;
            }
            1..=2 => {
                is_needing = matches!(bare, "dependencies:" | "optionalDependencies:" | "peerDependencies:");
                if !is_needing {
                    names.iter().for_each(|name| out.say(name, bare));
                }
            }
            _ if is_needing => {
                let needed = match bare.strip_prefix('"') {
                    Some(rest) => rest.split('"').next().unwrap_or(rest),
                    None => bare.split([' ', ':']).next().unwrap_or(bare),
                };
                names.iter().for_each(|name| out.need(needed, name));
            }
            _ => names.iter().for_each(|name| out.say(name, bare)),
        }
    }
    Some(out)
}

/// Reads a `pnpm-lock.yaml`: as far as pnpm writes YAML, by its indentation.
pub fn pnpm(text: &str) -> Option<Dependencies> {
    let mut out = Dependencies::default();
    let mut stack: Vec<(usize, &str)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        if line.contains('\t') {
            return None;
        }
        let depth = line.len() - line.trim_start().len();
        while stack.last().is_some_and(|(known, _)| *known >= depth) {
            stack.pop();
        }
        let bare = line.trim();
        let (key, value) = match bare.strip_suffix(':') {
            Some(key) => (key, ""),
            None => bare.split_once(": ").unwrap_or((bare, "")),
        };
        stack.push((depth, key.trim_matches('\'')));
        let path: Vec<&str> = stack.iter().map(|(_, key)| *key).collect();
        let is_section = |key: &str| SECTIONS.contains(&key);
        match path.as_slice() {
            ["packages" | "snapshots", spec, section, needed, ..] if is_section(section) => {
                out.need(needed, package_of(spec));
            }
            ["packages" | "snapshots", spec, rest @ ..] => {
                // Of a key alone its version, in the key itself, is said.
                let name = package_of(spec);
                out.say(name, format!("{spec} {} {value}", rest.join(" ")));
            }
            ["importers", place, section, name, rest @ ..] if is_section(section) => {
                out.direct.insert((*name).to_string());
                if rest != ["specifier"] {
                    out.say(name, format!("{place} {value}"));
                }
            }
            [section, name, rest @ ..] if is_section(section) => {
                out.direct.insert((*name).to_string());
                if rest != ["specifier"] {
                    out.say(name, value);
                }
            }
            ["importers" | "specifiers" | "packages" | "snapshots", ..] => {}
            [section] if is_section(section) => {}
            _ => out.rest.push_str(&format!("{} {value}\n", path.join(" "))),
        }
    }
    Some(out)
}

/// The package of a key: `/@s/name@1.0.0(peer)`, `name@1.0.0`, `/name/1.0.0`.
fn package_of(spec: &str) -> &str {
    let spec = spec.strip_prefix('/').unwrap_or(spec);
    let spec = spec.split('(').next().unwrap_or(spec);
    let name = name_of(spec);
    if name.len() < spec.len() {
        return name;
    }
    let is_version = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    match spec.rsplit_once('/') {
        Some((name, version)) if is_version(version) => name,
        _ => spec,
    }
}
