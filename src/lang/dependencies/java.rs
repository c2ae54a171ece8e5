//! `pom.xml`, Gradle's build files, lockfiles and version catalogs. Packages are `group:artifact`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::lang::dependencies::Dependencies;

/// Reads a `pom.xml`: its dependencies, with properties put in; properties that nothing but
/// dependencies use are no part of the rest.
pub fn pom(text: &str) -> Option<Dependencies> {
    let text = without_comments(text);
    let mut out = Dependencies::default();
    let mut properties: BTreeMap<&str, &str> = BTreeMap::new();
    for block in blocks(&text, "properties") {
        let mut rest = block;
        while let Some((_, after)) = rest.split_once('<') {
            let (name, inner) = after.split_once('>')?;
            let end = format!("</{name}>");
            let Some((value, after)) = inner.split_once(end.as_str()) else { break };
            properties.insert(name, value.trim());
            rest = after;
        }
    }
    let mut rest = text.clone();
    for block in blocks(&text, "dependency") {
        let field = |name: &str| blocks(block, name).next().map(str::trim);
        let package = format!("{}:{}", field("groupId")?, field("artifactId")?);
        let mut said = block.split_whitespace().collect::<String>();
        for (name, value) in &properties {
            said = said.replace(&format!("${{{name}}}"), value);
        }
        out.say(&package, said);
        rest = rest.replacen(&format!("<dependency>{block}</dependency>"), "", 1);
    }
    for (name, value) in properties {
        if !rest.contains(&format!("${{{name}}}")) && text.contains(&format!("${{{name}}}")) {
            rest = rest.replacen(&format!("<{name}>{value}</{name}>"), "", 1);
        }
    }
    // Blanks between elements and lines say nothing.
    out.rest = rest.replace('<', " <").replace('>', "> ").split_whitespace().collect::<Vec<_>>().join(" ");
    Some(out)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

/// The texts between the tags of an element, in order.
fn blocks<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(start.as_str())?;
        let (block, after) = after.split_once(end.as_str())?;
        rest = after;
        Some(block)
    })
}

/// `group:artifact` and the rest of `group:artifact:version`.
fn coordinates(text: &str) -> Option<(String, &str)> {
    let mut parts = text.splitn(3, ':');
    let (group, artifact) = (parts.next()?, parts.next()?);
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    (is_name(group) && is_name(artifact)).then(|| (format!("{group}:{artifact}"), parts.next().unwrap_or("")))
}

/// Reads a Gradle build file: lines that name one package by its coordinates, all others the rest.
pub fn gradle(text: &str) -> Dependencies {
    let mut out = Dependencies::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let quote = line.find(['"', '\'']);
        let found = quote.and_then(|at| {
            let configuration = line[..at].trim_end().trim_end_matches('(').trim_end();
            let inner = &line[at + 1..];
            let end = inner.find(['"', '\''])?;
            let is_plain = configuration.chars().all(|c| c.is_ascii_alphanumeric()) && !configuration.is_empty();
            let tail = inner[end + 1..].trim();
            let (package, version) = coordinates(&inner[..end])?;
            (is_plain && matches!(tail, "" | ")") && !version.contains('$'))
                .then(|| (package, format!("{configuration} {version}")))
        });
        match found {
            Some((package, said)) => out.say(&package, said),
            None => out.rest.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// Reads a `gradle.lockfile`.
pub fn gradle_lock(text: &str) -> Dependencies {
    let mut out = Dependencies::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((package, version)) = coordinates(line.split('=').next().unwrap_or(line)) {
            out.say(&package, version);
        }
    }
    out
}

/// Reads a version catalog; its plugins and bundles are the rest.
pub fn catalog(text: &str) -> Option<Dependencies> {
    let mut table: Table = text.parse().ok()?;
    let mut out = Dependencies::default();
    let libraries = table.remove("libraries");
    let versions = table.remove("versions");
    let version_of = |name: &str| versions.as_ref().and_then(|v| v.get(name)).map(Value::to_string).unwrap_or_default();
    for row in libraries.as_ref().and_then(Value::as_table).into_iter().flat_map(Table::values) {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        if let Some((package, version)) = row.as_str().and_then(coordinates) {
            out.say(&package, version);
            continue;
        }
        let package = match text("module") {
            Some(module) => module.to_string(),
            None => format!("{}:{}", text("group")?, text("name")?),
        };
        let version = row.get("version");
        let said = match version.and_then(|v| v.get("ref")).and_then(Value::as_str) {
            Some(name) => version_of(name),
            None => version.map(Value::to_string).unwrap_or_default(),
        };
        out.say(&package, said);
    }
    // Plugins run with the build: their versions are the rest's.
    let plugins = table.get("plugins").map(Value::to_string).unwrap_or_default();
    let used = versions.as_ref().and_then(Value::as_table).into_iter().flatten();
    let used: Vec<String> =
        used.filter(|(name, _)| plugins.contains(&format!("\"{name}\""))).map(|(n, v)| format!("{n}={v}")).collect();
    out.rest = format!("{table}{}", used.join("\n"));
    Some(out)
}
