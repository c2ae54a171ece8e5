//! Repository-relative paths: always `/`, never absolute, never climbing.

use std::fmt;
use std::sync::Arc;

/// A path inside the repository, with `/` between its parts; the root itself is `""`.
///
/// Bytes that are not UTF-8 are decoded lossily by whoever makes one (and recorded there).
/// Ordered by bytes, as git orders names. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Arc<str>);

impl RepoPath {
    /// The repository's root.
    pub fn root() -> Self {
        RepoPath(Arc::from(""))
    }

    /// Takes a path as git writes it; `None` when it is absolute, has an empty, `.` or `..`
    /// part, a NUL, or a backslash-separated drive prefix.
    pub fn new(path: &str) -> Option<Self> {
        if path.is_empty() {
            return Some(Self::root());
        }
        let ok = !path.contains('\0') && path.split('/').all(|p| !p.is_empty() && p != "." && p != "..");
        ok.then(|| RepoPath(Arc::from(path)))
    }

    /// Joins `relative` (which may hold `.` and `..`) to this folder; `None` when the result
    /// climbs out of the root or `relative` is absolute.
    pub fn join(&self, relative: &str) -> Option<Self> {
        if relative.starts_with('/') || relative.contains('\0') {
            return None;
        }
        let mut parts: Vec<&str> = self.0.split('/').filter(|p| !p.is_empty()).collect();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                name => parts.push(name),
            }
        }
        Some(RepoPath(Arc::from(parts.join("/"))))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part, `""` for the root.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or("")
    }

    /// The file name up to its last dot (`a.test.ts` gives `a.test`); a leading dot is kept.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        }
    }

    /// What follows the last dot of the file name, `""` where there is none.
    pub fn extension(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(at) if at > 0 => &name[at + 1..],
            _ => "",
        }
    }

    /// The folder that holds it; the root for a top-level name; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        Some(match self.0.rfind('/') {
            Some(at) => RepoPath(Arc::from(&self.0[..at])),
            None => Self::root(),
        })
    }

    /// Whether this path is `folder` or lies in it.
    pub fn is_within(&self, folder: &RepoPath) -> bool {
        folder.0.is_empty()
            || self.0 == folder.0
            || (self.0.len() > folder.0.len()
                && self.0.starts_with(&*folder.0)
                && self.0.as_bytes()[folder.0.len()] == b'/')
    }

    /// The rest of this path below `folder`, when it lies in it.
    pub fn strip(&self, folder: &RepoPath) -> Option<&str> {
        if !self.is_within(folder) {
            return None;
        }
        let rest = &self.0[folder.0.len()..];
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::RepoPath;

    #[test]
    fn join_never_climbs_out_of_the_root() {
        let src = RepoPath::new("src/a").unwrap();
        assert_eq!(src.join("../b.ts").unwrap().as_str(), "src/b.ts");
        assert_eq!(src.join("../..").unwrap(), RepoPath::root());
        assert!(src.join("../../..").is_none());
        assert!(src.join("/etc/passwd").is_none());
    }

    #[test]
    fn hostile_paths_are_refused() {
        for bad in ["/a", "a//b", "../a", "a/..", "a/./b", "a\0b"] {
            assert!(RepoPath::new(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn within_respects_part_borders() {
        let folder = RepoPath::new("src/app").unwrap();
        assert!(RepoPath::new("src/app/x.py").unwrap().is_within(&folder));
        assert!(!RepoPath::new("src/apple.py").unwrap().is_within(&folder));
    }
}
