//! Which string literals are kept: those shaped like a class name, a package or a file, and names
//! given to calls and annotations that take names. All other literal text is dropped.

/// Longer strings are no names of anything.
const MAX_LEN: usize = 200;

/// The text of a string that is shaped like a qualified class or package name
/// (`com.acme.Foo`, `com.acme.app`) or like a file (`/a/b.json`, `classpath:app.xml`).
pub fn path_shaped(text: &str) -> bool {
    if text.len() < 3 || text.len() > MAX_LEN || text.contains("://") {
        return false;
    }
    is_qualified_name(text) || is_file(text)
}

/// Whether a string given where a name is expected is a name: an identifier, `Type#method`
/// with an optional parameter list, or anything [`path_shaped`].
pub fn name_shaped(text: &str) -> bool {
    if text.is_empty() || text.len() > MAX_LEN {
        return false;
    }
    let (head, tail) = text.split_once('#').unwrap_or((text, ""));
    let tail = tail.split('(').next().unwrap_or("");
    let dotted = |t: &str| t.split(['.', '$']).all(is_identifier);
    path_shaped(text) || ((head.is_empty() || dotted(head)) && (tail.is_empty() || is_identifier(tail)) && text != "#")
}

/// Dotted identifiers: a capitalized last part after a lower-case first one, or at least three
/// lower-case parts.
fn is_qualified_name(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '$']).collect();
    if parts.len() < 2 || !parts.iter().all(|p| is_identifier(p)) {
        return false;
    }
    let lower = parts[0].starts_with(|c: char| c.is_ascii_lowercase());
    lower && (parts.len() >= 3 || parts[parts.len() - 1].starts_with(|c: char| c.is_ascii_uppercase()))
}

/// A file: plain path characters and a short extension that starts with a letter.
fn is_file(text: &str) -> bool {
    let rest = text.strip_prefix("classpath*:").or_else(|| text.strip_prefix("classpath:")).unwrap_or(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '*' | '$' | '@');
    if rest.is_empty() || !rest.chars().all(plain) {
        return false;
    }
    let name = rest.rsplit('/').next().unwrap_or("");
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    !stem.is_empty()
        && (2..=10).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_lowercase())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether strings given to a method of this name are names of classes, members or resources.
pub fn takes_names(method: &str) -> bool {
    matches!(
        method,
        "forName"
            | "loadClass"
            | "findClass"
            | "getResource"
            | "getResources"
            | "getResourceAsStream"
            | "getSystemResource"
            | "getSystemResourceAsStream"
            | "getMethod"
            | "getDeclaredMethod"
            | "getField"
            | "getDeclaredField"
            | "findVirtual"
            | "findStatic"
            | "findSpecial"
            | "findVarHandle"
            | "newUpdater"
    )
}

/// Whether strings among the elements of an annotation of this name are names.
pub fn annotation_takes_names(annotation: &str) -> bool {
    matches!(
        annotation,
        "MethodSource"
            | "FieldSource"
            | "CsvFileSource"
            | "EnumSource"
            | "EnabledIf"
            | "DisabledIf"
            | "Sql"
            | "ContextConfiguration"
            | "ImportResource"
            | "PropertySource"
            | "TestPropertySource"
            | "ComponentScan"
            | "DependsOn"
            | "Qualifier"
            | "Named"
            | "Resource"
            | "Bean"
            | "Parameters"
            | "FileParameters"
            | "DataProvider"
            | "Test"
    )
}

#[cfg(test)]
mod tests {
    use super::{name_shaped, path_shaped};

    #[test]
    fn class_names_and_files_are_kept_and_prose_is_not() {
        for kept in ["com.acme.Foo", "java.util.Map$Entry", "org.acme.app", "/data/a.json", "classpath:app-ctx.xml"] {
            assert!(path_shaped(kept), "{kept}");
        }
        for dropped in
            ["hello", "a.b", "https://acme.org/x.json", "Hello. World", "1.2.3", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY", ""]
        {
            assert!(!path_shaped(dropped), "{dropped}");
        }
    }

    #[test]
    fn method_sources_are_names() {
        for kept in ["arguments", "com.acme.Foo#cases", "#cases", "com.acme.Foo#cases(int)"] {
            assert!(name_shaped(kept), "{kept}");
        }
        for dropped in ["two words", "", "#", "a=b"] {
            assert!(!name_shaped(dropped), "{dropped}");
        }
    }
}
