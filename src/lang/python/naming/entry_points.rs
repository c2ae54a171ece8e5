//! What a distribution offers to others by name (<https://packaging.python.org/en/latest/specifications/entry-points/>).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::path::RepoPath;

/// `(group, module:name)` of every entry point that pyproject.toml and setup.cfg declare. Scripts
/// are none: they run in a process of their own.
pub fn entry_points(config: &BTreeMap<RepoPath, Arc<[u8]>>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (path, bytes) in config {
        let text = String::from_utf8_lossy(bytes);
        match path.file_name() {
            "pyproject.toml" => {
                let Ok(table) = text.parse::<toml::Table>() else { continue };
                let at = |keys: &[&str]| {
                    let (first, rest) = keys.split_first()?;
                    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))?.as_table().cloned()
                };
                let groups = [at(&["project", "entry-points"]), at(&["tool", "poetry", "plugins"])];
                for (group, points) in groups.into_iter().flatten().flatten() {
                    let points = points.as_table().cloned().unwrap_or_default();
                    out.extend(points.iter().filter_map(|(_, to)| Some((group.clone(), to.as_str()?.to_string()))));
                }
            }
            "setup.cfg" => {
                let mut group = String::new();
                let mut is_inside = false;
                for line in text.lines() {
                    if line.trim_start().starts_with('[') {
                        is_inside = line.trim() == "[options.entry_points]";
                    } else if is_inside && !line.starts_with([' ', '\t']) {
                        group = line.split('=').next().unwrap_or("").trim().to_string();
                    } else if let (true, Some((_, to))) = (is_inside, line.split_once('='))
                        && !group.ends_with("_scripts")
                    {
                        out.push((group.clone(), to.trim().to_string()));
                    }
                }
            }
            _ => {}
        }
    }
    out
}
