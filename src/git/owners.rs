//! CODEOWNERS: who answers for a path. Text only; the last line that fits decides.

/// Where forges look for the file, the first found counts.
pub const PLACES: [&str; 4] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/// The rules of a file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    rules: Vec<(String, Vec<String>)>,
}

impl Owners {
    /// Reads a file's text. Comments, section headings and lines without an owner's form are
    /// kept as what they are: a pattern without owners says that nobody owns it.
    pub fn read(text: &str) -> Self {
        let rules = text
            .lines()
            .map(|line| line.split(" #").next().unwrap_or(line).trim())
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '[', '^']))
            .filter_map(|line| {
                let mut parts = line.split_whitespace();
                let pattern = parts.next()?.to_owned();
                Some((pattern, parts.map(str::to_owned).collect()))
            })
            .collect();
        Owners { rules }
    }

    /// The owners of a path; empty when nobody is named.
    pub fn of(&self, path: &str) -> &[String] {
        self.rules.iter().rev().find(|(pattern, _)| fits(pattern, path)).map_or(&[], |(_, owners)| owners)
    }
}

/// As in a `.gitignore`: a leading or inner `/` anchors, a trailing one is a folder, `**` is any
/// number of folders. A pattern that fits a folder fits what lies in it, unless it ends in `/*`.
fn fits(pattern: &str, path: &str) -> bool {
    let is_folder = pattern.ends_with('/');
    let pattern = pattern.trim_end_matches('/');
    let is_anchored = pattern.contains('/');
    let parts: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    let starts = if is_anchored { 1 } else { names.len() };
    let is_shallow = pattern.ends_with("/*");
    (0..starts).any(|start| {
        (start + 1..=names.len()).any(|end| {
            let is_whole = end == names.len();
            (is_whole || !is_shallow) && !(is_whole && is_folder) && parts_fit(&parts, &names[start..end])
        })
    })
}

fn parts_fit(parts: &[&str], names: &[&str]) -> bool {
    // Which beginnings of `names` the parts so far fit: at most one step a name, so no blow-up.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for part in parts {
        let mut next = vec![false; names.len() + 1];
        if *part == "**" {
            let mut any = false;
            for (at, is_reached) in reached.iter().enumerate() {
                any |= is_reached;
                next[at] = any;
            }
        } else {
            for (at, name) in names.iter().enumerate() {
                next[at + 1] = reached[at] && name_fits(part.as_bytes(), name.as_bytes());
            }
        }
        reached = next;
    }
    reached[names.len()]
}

fn name_fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from, mut star, mut kept) = (0, 0, None, 0);
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some(at);
                kept = from;
                at += 1;
            }
            Some(c) if *c == b'?' || *c == name[from] => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some(star) => {
                    at = star + 1;
                    kept += 1;
                    from = kept;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::Owners;

    #[test]
    fn the_last_line_that_fits_decides() {
        let owners = Owners::read(
            "# all\n* @all\n*.ts @web @ux # both\n/build/ @ops\napps/ @apps\ndocs/* @docs\n/src/**/gen @gen\n/src/free\n",
        );
        for (path, expected) in [
            ("a.py", "@all"),
            ("x/a.ts", "@web @ux"),
            ("build/x/y.sh", "@ops"),
            ("x/build/y.sh", "@all"),
            ("x/apps/y.py", "@apps"),
            ("docs/a.md", "@docs"),
            ("docs/x/a.md", "@all"),
            ("src/a/b/gen/c.py", "@gen"),
            ("src/gen/c.py", "@gen"),
            ("src/free/c.py", ""),
        ] {
            assert_eq!(owners.of(path).join(" "), expected, "{path}");
        }
    }
}
