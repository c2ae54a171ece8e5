//! `required_version`: which versions of ratlas a repository or a user wants.

use crate::base::error::{Error, ErrorKind, Result};

/// Holds a version against what is wanted: parts joined by commas, each `1.2` (that line),
/// `=1.2.3`, `>=1.2`, `>1.2`, `<=2`, or `<2`.
///
/// # Errors
/// `Config` where it does not fit, and for a text that is no such list.
pub fn check(wanted: &str, version: &str, place: &str) -> Result<()> {
    for part in wanted.split(',').map(str::trim) {
        let fits = fits(part, version).ok_or_else(|| {
            Error::new(ErrorKind::Config, format!("{place}: `{part}` of `required_version` is no version"))
                .hint("write it as `0.3`, `=0.3.1`, or `>=0.3, <0.5`")
        })?;
        if !fits {
            let what = format!("{place}: ratlas {wanted} is required, and this is {version}");
            return Err(Error::new(ErrorKind::Config, what)
                .hint("install that version, so that everybody's facts are the same"));
        }
    }
    Ok(())
}

fn fits(part: &str, version: &str) -> Option<bool> {
    let at = part.find(|c: char| c.is_ascii_digit())?;
    let (sign, number) = part.split_at(at);
    let wanted = numbers(number)?;
    let mut own = numbers(version.split(['-', '+']).next()?)?;
    if matches!(sign.trim(), "" | "=") {
        own.truncate(wanted.len());
        return Some(own == wanted);
    }
    let mut wanted = wanted;
    wanted.resize(own.len().max(wanted.len()), 0);
    own.resize(wanted.len(), 0);
    match sign.trim() {
        ">=" => Some(own >= wanted),
        ">" => Some(own > wanted),
        "<=" => Some(own <= wanted),
        "<" => Some(own < wanted),
        _ => None,
    }
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.trim().split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn versions_are_held_against_what_is_wanted() {
        for (wanted, is_right) in [
            ("0.3", true),
            ("0.3.1", true),
            ("=0.3.0", false),
            (">=0.3, <0.4", true),
            (">0.3.1", false),
            ("<1", true),
            ("0.30", false),
        ] {
            assert_eq!(check(wanted, "0.3.1", "ratlas.toml line 1").is_ok(), is_right, "{wanted}");
        }
        for no_version in ["", "x", "~>1", "1.x"] {
            assert!(check(no_version, "0.3.1", "p").unwrap_err().to_string().contains("no version"), "{no_version}");
        }
    }
}
