//! What a target names: a path, `path::qualname`, a qualified name, its end, or a handle.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::atlas::Atlas;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::symbol_handle;
use crate::facts::model::{SymbolFlags, SymbolId};
use crate::facts::table::Id;
use crate::graph::edge::EdgeKind;
use crate::report::sanitize;
use crate::tools::{show, suggest};
use crate::view::names::{Known, plain};
use crate::view::{FileIdx, SymbolRef, View};

/// What was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    File(FileIdx),
    /// The definitions of one name in one file: more than one for overloads and branches. Sorted.
    Symbols(Vec<SymbolRef>),
}

/// How many candidates or suggestions an error lists.
pub const MAX_CANDIDATES: usize = 5;

/// Finds what `text` names in a view. `file` narrows names to a file (a path or the end of one).
///
/// Tried in this order, the first that finds anything decides: handle, path, `path::qualname`,
/// whole qualified name, the end of one, module path with qualified name (`pkg.module.Class.m`),
/// the end of a path. Parameter lists and `#n` may be left out. Names local to functions give
/// way to others. `Class.member` also finds what the class inherits.
///
/// # Errors
/// `UnknownTarget` with suggestions when nothing fits, and with the candidates when several do;
/// `CannotAnswer` for a file of the tree that is not indexed.
pub fn resolve(atlas: &Atlas, text: &str, file: Option<&str>) -> Result<Target> {
    let view = &*atlas.view;
    match in_view(view, text, file) {
        Err(error) if error.kind == ErrorKind::UnknownTarget => inherited(atlas, text, file).ok_or(error),
        found => found,
    }
}

/// `Class.member` where the member is a base's: the nearest one, bases in order.
fn inherited(atlas: &Atlas, text: &str, file: Option<&str>) -> Option<Target> {
    let view = &*atlas.view;
    let (class, member) = text.trim().rsplit_once('.').filter(|(class, _)| !class.is_empty())?;
    let Target::Symbols(classes) = in_view(view, class, file).ok()? else { return None };
    let mut level: Vec<SymbolRef> = classes;
    let mut seen: BTreeSet<SymbolRef> = level.iter().copied().collect();
    while !level.is_empty() {
        let mut bases = Vec::new();
        for at in &level {
            for edge in atlas.graph.edges_from(*at).iter().filter(|edge| edge.kind == EdgeKind::Extends) {
                if seen.insert(edge.to) {
                    bases.push(edge.to);
                }
            }
        }
        for base in &bases {
            let facts = view.facts(base.file);
            let members: Vec<SymbolRef> = (base.symbol.index() + 1..facts.symbols.len())
                .filter(|row| facts.symbols[*row].parent == Some(base.symbol))
                .filter(|row| facts.name(facts.symbols[*row].name) == member)
                .map(|row| SymbolRef { file: base.file, symbol: Id::new(row) })
                .collect();
            if !members.is_empty() {
                return Some(Target::Symbols(members));
            }
        }
        level = bases;
    }
    None
}

fn in_view(view: &View, text: &str, file: Option<&str>) -> Result<Target> {
    let text = text.trim();
    let text = text.strip_prefix("./").unwrap_or(text);
    if text.starts_with("sym_") && text.len() == 20 {
        return by_handle(view, text);
    }
    let within = match file {
        Some(file) => Some(find_file(view, file)?),
        None => None,
    };
    if within.is_none() {
        if let Some(found) = view.find(text.trim_end_matches('/')) {
            return Ok(Target::File(found));
        }
        if let Some((path, name)) = text.split_once("::") {
            let file = find_file(view, path)?;
            return by_name(view, name, Some(file));
        }
        not_indexed(view, text)?;
        if text.contains('/') {
            return find_file(view, text).map(Target::File);
        }
    }
    by_name(view, text, within)
}

/// The symbols that a target stands for: the file's `<module>` for a file.
pub fn symbols(target: &Target) -> Vec<SymbolRef> {
    match target {
        Target::File(file) => vec![SymbolRef { file: *file, symbol: SymbolId::new(0) }],
        Target::Symbols(symbols) => symbols.clone(),
    }
}

/// Finds an indexed file by its path or by the end of it.
///
/// # Errors
/// `UnknownTarget` when none or several fit, `CannotAnswer` when it is not indexed.
pub fn find_file(view: &View, path: &str) -> Result<FileIdx> {
    let path = path.trim().trim_start_matches("./");
    if let Some(found) = view.find(path) {
        return Ok(found);
    }
    not_indexed(view, path)?;
    let found = files_ending(view, path);
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(suggest::unknown_file(view, path)),
        several => {
            let shown: Vec<String> = several
                .iter()
                .take(MAX_CANDIDATES)
                .map(|file| format!("`{}`", sanitize::line(view.file(*file).path.as_str(), 200)))
                .collect();
            let what = format!("`{}` names {} files", sanitize::line(path, 200), several.len());
            Err(Error::new(ErrorKind::UnknownTarget, what).hint(format!("give the whole path: {}", shown.join(", "))))
        }
    }
}

fn files_ending(view: &View, path: &str) -> Vec<FileIdx> {
    if path.is_empty() {
        return Vec::new();
    }
    view.indices()
        .filter(|file| {
            view.file(*file).path.as_str().strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
        .collect()
}

/// Refuses a file of the tree that has no facts.
fn not_indexed(view: &View, path: &str) -> Result<()> {
    let Ok(at) = view.others.binary_search_by(|other| other.path.as_str().cmp(path)) else { return Ok(()) };
    let reason = view.others[at].reason.as_str();
    Err(Error::new(ErrorKind::CannotAnswer, format!("`{}` is not indexed: {reason}", sanitize::line(path, 200)))
        .hint("`ratlas status` lists what is skipped, and why"))
}

fn by_handle(view: &View, handle: &str) -> Result<Target> {
    let found = view.with_handle(handle).into_par_iter().find_map_first(|file| {
        let facts = view.facts(file);
        let path = view.file(file).path.as_str();
        let row = facts.symbols.iter().position(|s| symbol_handle(path, facts.name(s.qualname)) == handle)?;
        Some((file, row))
    });
    match found {
        Some((file, 0)) => return Ok(Target::File(file)),
        Some((file, row)) => return Ok(Target::Symbols(vec![SymbolRef { file, symbol: Id::new(row) }])),
        None => {}
    }
    Err(Error::new(ErrorKind::UnknownTarget, format!("no symbol has the handle `{handle}` in this tree"))
        .hint("handles name a path and a qualified name; find it again with `ratlas query symbol NAME`"))
}

fn by_name(view: &View, name: &str, within: Option<FileIdx>) -> Result<Target> {
    let name = name.trim();
    if let (Some(file), "" | "<module>") = (within, name) {
        return Ok(Target::File(file));
    }
    let mut groups = matches(view, name, within, |qualname, name| qualname == name);
    if groups.is_empty() {
        groups = matches(view, name, within, |qualname, name| {
            qualname.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
        });
    }
    if groups.is_empty() && within.is_none() {
        if let Some(target) = by_module_path(view, name)? {
            return Ok(target);
        }
        if let [file] = files_ending(view, name).as_slice() {
            return Ok(Target::File(*file));
        }
    }
    one_of(view, name, groups).unwrap_or_else(|| Err(suggest::unknown_symbol(view, name, within)))
}

type Groups = BTreeMap<(FileIdx, String), Vec<SymbolRef>>;

/// The matching symbols, grouped by file and plain qualified name.
fn matches(view: &View, name: &str, within: Option<FileIdx>, fits: fn(&str, &str) -> bool) -> Groups {
    // A name with a parameter list or a number is meant literally.
    let literal = name.contains('(') || name.contains('#');
    let simple = plain(name.rsplit('.').next().unwrap_or(name));
    let of_file = |file: FileIdx| {
        let facts = view.facts(file);
        let may_hold = literal || facts.names.iter().any(|known| **known == *simple);
        let symbols = if may_hold { &facts.symbols[..] } else { &[] };
        symbols.iter().enumerate().skip(1).filter_map(move |(row, symbol)| {
            let qualname = facts.name(symbol.qualname);
            let compared = if literal { qualname.to_owned() } else { plain(qualname) };
            fits(&compared, name).then(|| ((file, plain(qualname)), SymbolRef { file, symbol: Id::new(row) }))
        })
    };
    let of_row = |at: SymbolRef| {
        let qualname = plain(view.qualname(at));
        fits(&qualname, name).then_some(((at.file, qualname), at))
    };
    let rows = if within.is_none() { view.names().ending(name) } else { None };
    let found: Vec<((FileIdx, String), SymbolRef)> = match (within, rows) {
        (Some(file), _) => of_file(file).collect(),
        (None, Some(rows)) => rows.into_iter().filter_map(of_row).collect(),
        // A large repository has millions of names; each file is looked into by itself.
        (None, None) => view.naming(name, Known::End).into_par_iter().flat_map_iter(of_file).collect(),
    };
    let mut groups = Groups::new();
    for (name, at) in found {
        groups.entry(name).or_default().push(at);
    }
    let local = |symbols: &[SymbolRef]| symbols.iter().all(|at| view.symbol(*at).flags.has(SymbolFlags::LOCAL));
    if groups.values().any(|symbols| !local(symbols)) {
        groups.retain(|_, symbols| !local(symbols));
    }
    groups
}

/// `pkg.module.Class.m`: the longest beginning that is a file, the rest its qualified name.
fn by_module_path(view: &View, name: &str) -> Result<Option<Target>> {
    let parts: Vec<&str> = name.split('.').collect();
    if parts.len() < 2 || parts.iter().any(|part| part.is_empty()) {
        return Ok(None);
    }
    for n_module in (1..=parts.len()).rev() {
        let module = parts[..n_module].join("/");
        let rest = parts[n_module..].join(".");
        let files: Vec<FileIdx> =
            view.indices().filter(|file| is_module(view.file(*file).path.as_str(), &module)).collect();
        if files.is_empty() {
            continue;
        }
        if rest.is_empty() {
            if let [file] = files.as_slice() {
                return Ok(Some(Target::File(*file)));
            }
            continue;
        }
        let mut groups = Groups::new();
        for file in files {
            groups.extend(matches(view, &rest, Some(file), |qualname, name| qualname == name));
        }
        if let Some(found) = one_of(view, name, groups) {
            return found.map(Some);
        }
    }
    // Java: the class is the file, and its name stands in both.
    let Some((module, _)) = name.rsplit_once('.') else { return Ok(None) };
    let groups: Groups = view
        .indices()
        .filter(|file| is_module(view.file(*file).path.as_str(), &module.replace('.', "/")))
        .flat_map(|file| {
            let class = module.rsplit('.').next().unwrap_or(module);
            let qualname = format!("{class}{}", &name[module.len()..]);
            matches(view, &qualname, Some(file), |qualname, name| qualname == name)
        })
        .collect();
    one_of(view, name, groups).transpose()
}

/// Whether a path is the file of a module path: its end without extension, `__init__` or `index`.
fn is_module(path: &str, module: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let stem = stem.strip_suffix("/__init__").or_else(|| stem.strip_suffix("/index")).unwrap_or(stem);
    stem.strip_suffix(module).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The one group there is; an error with the candidates where there are several; `None` for none.
fn one_of(view: &View, name: &str, groups: Groups) -> Option<Result<Target>> {
    if groups.len() > 1 {
        let shown: Vec<String> = groups
            .values()
            .take(MAX_CANDIDATES)
            .map(|symbols| {
                let at = symbols[0];
                format!(
                    "`{}::{}` (line {})",
                    show::path(view, at),
                    show::qualname(view, at),
                    view.symbol(at).start_line
                )
            })
            .collect();
        let more = groups.len().saturating_sub(MAX_CANDIDATES);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let what = format!("`{}` names {} symbols", sanitize::line(name, 200), groups.len());
        let hint = format!("name one of {}{more}", shown.join(", "));
        return Some(Err(Error::new(ErrorKind::UnknownTarget, what).hint(hint)));
    }
    groups.into_values().next().map(|symbols| Ok(Target::Symbols(symbols)))
}

#[cfg(test)]
mod tests {
    use super::is_module;

    #[test]
    fn modules_are_ends_of_paths() {
        assert!(is_module("src/flask/app.py", "flask/app"));
        assert!(is_module("src/flask/__init__.py", "flask"));
        assert!(!is_module("src/myflask/app.py", "flask/app"));
    }
}
