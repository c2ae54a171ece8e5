//! The grammar of SCIP symbols (`scip.proto`, message `Symbol`): the package of one, and the
//! writing of ours.

/// The parts of a global symbol before its descriptors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    pub manager: String,
    pub name: String,
    pub version: String,
}

/// What a descriptor names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    Namespace,
    Type,
    Term,
    Method,
}

/// Whether a symbol is known within its document only.
pub fn is_local(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// Whether a symbol is a constructor, by the names that indexers give them.
pub fn is_constructor(symbol: &str) -> bool {
    symbol.ends_with("`<constructor>`().") || symbol.contains("#`<init>`(") || symbol.ends_with("#__init__().")
}

/// The package of a global symbol; `None` for a local one and for text that is no symbol.
pub fn package(symbol: &str) -> Option<Package> {
    if is_local(symbol) {
        return None;
    }
    let mut rest = symbol;
    let mut part = || {
        let (part, after) = take_part(rest)?;
        rest = after;
        Some(if part == "." { String::new() } else { part })
    };
    let _scheme = part()?;
    let package = Package { manager: part()?, name: part()?, version: part()? };
    (!rest.is_empty()).then_some(package)
}

/// A part up to a single blank; two blanks are one of the part's own.
fn take_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(' ')?;
        part.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix(' ') {
            Some(after) => {
                part.push(' ');
                rest = after;
            }
            None => return Some((part, rest)),
        }
    }
}

/// Appends a descriptor. `disambiguator` tells methods of one name apart.
pub fn put_descriptor(out: &mut String, name: &str, suffix: Suffix, disambiguator: &str) {
    let is_simple = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-$".contains(&b));
    if is_simple {
        out.push_str(name);
    } else {
        out.push('`');
        out.push_str(&name.replace('`', "``"));
        out.push('`');
    }
    match suffix {
        Suffix::Namespace => out.push('/'),
        Suffix::Type => out.push('#'),
        Suffix::Term => out.push('.'),
        Suffix::Method => {
            out.push('(');
            out.push_str(disambiguator);
            out.push_str(").");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Suffix, package, put_descriptor};

    #[test]
    fn packages_are_read() {
        let found = package("scip-typescript npm @a/b 1.0.0 src/`x.ts`/f().").unwrap();
        assert_eq!((&*found.manager, &*found.name, &*found.version), ("npm", "@a/b", "1.0.0"));
        let found = package("s . a  b . x#").unwrap();
        assert_eq!((&*found.manager, &*found.name, &*found.version), ("", "a b", ""));
        for bad in ["local 3", "", "one two", "a b c d ", "a b c d"] {
            assert_eq!(package(bad), None, "{bad}");
        }
    }

    #[test]
    fn odd_names_are_quoted() {
        let mut text = String::new();
        put_descriptor(&mut text, "a.py", Suffix::Namespace, "");
        put_descriptor(&mut text, "C", Suffix::Type, "");
        put_descriptor(&mut text, "m`", Suffix::Method, "+1");
        assert_eq!(text, "`a.py`/C#`m```(+1).");
    }
}
