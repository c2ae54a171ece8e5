//! The names of a file as one text, a name a line: a tenth smaller under zstd than lengths apart
//! from bytes, and `string_split(names, chr(10))` for whoever queries packs.

/// The text of names: each ends with a line feed; a line feed and a backslash within a name have a
/// backslash before them (`\n`, `\\`).
pub fn join(names: &[Box<str>]) -> String {
    let mut text = String::with_capacity(names.iter().map(|name| name.len() + 1).sum());
    for name in names {
        match name.contains(['\n', '\\']) {
            false => text.push_str(name),
            true => text.push_str(&name.replace('\\', "\\\\").replace('\n', "\\n")),
        }
        text.push('\n');
    }
    text
}

/// The names of a text; `None` for a text that is none of names.
pub fn split(text: &[u8]) -> Option<Vec<Box<str>>> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.is_empty() && !text.ends_with('\n') {
        return None;
    }
    text.split_terminator('\n').map(|line| if line.contains('\\') { plain(line) } else { Some(line.into()) }).collect()
}

fn plain(line: &str) -> Option<Box<str>> {
    let mut name = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        name.push(match letter {
            '\\' => match rest.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::{join, split};

    #[test]
    fn names_come_back_whatever_is_in_them() {
        for names in [vec![], vec![""], vec!["", ""], vec!["a", "b\nc", "\\n", "\\", "ü\r", "\\\n\\"]] {
            let names: Vec<Box<str>> = names.into_iter().map(Box::from).collect();
            assert_eq!(split(join(&names).as_bytes()), Some(names));
        }
        assert_eq!(join(&["a\\b".into(), "c".into()]), "a\\\\b\nc\n");
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["a", "a\nb", "\\\n", "\\x\n"] {
            assert_eq!(split(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(split(b"\xff\n"), None);
    }
}
