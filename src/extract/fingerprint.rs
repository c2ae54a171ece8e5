//! Which extractor this is: the fingerprint of a dialect, part of every shard's key.
//!
//! The build script hashes the sources that shape a language's facts; here the dialect and the
//! redaction rules that the user added come in.

use crate::base::dialect::{Dialect, LanguageName};
use crate::base::id::{Digest, Fingerprint};

/// The fingerprint of a dialect under the built-in redaction rules.
pub fn fingerprint(dialect: Dialect) -> Fingerprint {
    fingerprint_with(dialect, &[])
}

/// The fingerprint of a dialect under the built-in redaction rules and `redact_patterns`.
///
/// The patterns' order counts, since the first that matches names what was taken out.
pub fn fingerprint_with(dialect: Dialect, redact_patterns: &[String]) -> Fingerprint {
    let tokens = match dialect.language() {
        LanguageName::Python => env!("RATLAS_TOKENS_PYTHON"),
        LanguageName::TypeScript | LanguageName::JavaScript => env!("RATLAS_TOKENS_TYPESCRIPT"),
        LanguageName::Java => env!("RATLAS_TOKENS_JAVA"),
    };
    let parts = [tokens.as_bytes(), dialect.as_str().as_bytes()];
    Fingerprint(Digest::of_parts(parts.into_iter().chain(redact_patterns.iter().map(|p| p.as_bytes()))))
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, fingerprint_with};
    use crate::base::dialect::Dialect;
    use std::collections::BTreeSet;

    #[test]
    fn each_dialect_and_each_rule_has_its_own() {
        let mut seen: BTreeSet<_> = Dialect::ALL.into_iter().map(fingerprint).collect();
        for patterns in [&["a"][..], &["b"], &["a", "b"], &["b", "a"], &["ab"]] {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            seen.insert(fingerprint_with(Dialect::Py, &patterns));
        }
        assert_eq!(seen.len(), Dialect::ALL.len() + 5);
        assert_eq!(fingerprint_with(Dialect::Py, &[]), fingerprint(Dialect::Py));
    }
}
