//! Words of names, docs and questions: split at case changes, brought to a stem, hashed.

use std::collections::BTreeSet;

/// A stem's hash: FNV-1a, 64 bits, so that equal words are equal on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Words that say nothing of code: articles, pronouns, and what people write in any request.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "don", "each",
    "etc", "for", "from", "had", "has", "have", "having", "how", "i", "if", "in", "instead", "into", "is", "it", "its",
    "just", "like", "make", "makes", "may", "me", "more", "most", "my", "need", "no", "not", "now", "of", "on", "only",
    "or", "other", "our", "out", "over", "please", "s", "same", "should", "so", "some", "such", "t", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "use", "used",
    "uses", "using", "very", "via", "want", "was", "we", "were", "what", "when", "where", "whether", "which", "while",
    "who", "why", "will", "with", "without", "would", "you", "your",
];

/// Words of requests that seldom name code, though they can: they count less in a question.
const WEAK_WORDS: &[&str] = &[
    "add",
    "added",
    "allow",
    "bug",
    "change",
    "changed",
    "code",
    "correct",
    "correctly",
    "ensure",
    "error",
    "feat",
    "feature",
    "file",
    "fix",
    "fixed",
    "fixes",
    "function",
    "handle",
    "handling",
    "implement",
    "improve",
    "issue",
    "method",
    "new",
    "perf",
    "refactor",
    "refactoring",
    "remove",
    "removed",
    "rename",
    "simplify",
    "support",
    "test",
    "tests",
    "type",
    "types",
    "update",
    "value",
    "work",
    "working",
    "works",
    "wrong",
];

/// Long forms and the short ones that code writes for them, as stems; sorted.
const SHORT_FORMS: &[(&str, &str)] = &[
    ("argu", "arg"),
    ("argument", "arg"),
    ("asynchronou", "async"),
    ("asynchronous", "async"),
    ("attribut", "attr"),
    ("attribute", "attr"),
    ("authentic", "auth"),
    ("authoriz", "auth"),
    ("config", "conf"),
    ("configur", "conf"),
    ("context", "ctx"),
    ("databas", "db"),
    ("database", "db"),
    ("definit", "def"),
    ("delet", "del"),
    ("descript", "desc"),
    ("destin", "dest"),
    ("develop", "dev"),
    ("directori", "dir"),
    ("docu", "doc"),
    ("elem", "el"),
    ("element", "el"),
    ("environ", "env"),
    ("execut", "exec"),
    ("express", "expr"),
    ("implement", "impl"),
    ("inform", "info"),
    ("initial", "init"),
    ("initializ", "init"),
    ("instanc", "inst"),
    ("instance", "inst"),
    ("iterat", "iter"),
    ("languag", "lang"),
    ("maximum", "max"),
    ("messag", "msg"),
    ("minimum", "min"),
    ("numb", "num"),
    ("number", "num"),
    ("object", "obj"),
    ("option", "opt"),
    ("packag", "pkg"),
    ("package", "pkg"),
    ("paramet", "param"),
    ("previou", "prev"),
    ("properti", "prop"),
    ("referenc", "ref"),
    ("reference", "ref"),
    ("regexp", "regex"),
    ("request", "req"),
    ("respons", "resp"),
    ("response", "resp"),
    ("sourc", "src"),
    ("source", "src"),
    ("specific", "spec"),
    ("synchronous", "sync"),
    ("temp", "tmp"),
    ("temporari", "tmp"),
    ("utiliti", "util"),
    ("variabl", "var"),
    ("variable", "var"),
];

/// Calls `each` with every word of `text` in order: split at what is no letter or digit and at
/// changes of case, in lower case, not stemmed. `word` is a buffer that is reused.
pub fn each_word(text: &str, word: &mut String, mut each: impl FnMut(&str)) {
    word.clear();
    if text.is_ascii() {
        return each_ascii_word(text, word, each);
    }
    let mut chars = text.chars().peekable();
    let mut previous: Option<char> = None;
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            if !word.is_empty() {
                each(word);
                word.clear();
            }
            previous = None;
            continue;
        }
        let starts = c.is_uppercase()
            && previous.is_some_and(|p| {
                p.is_lowercase()
                    || p.is_numeric()
                    || (p.is_uppercase() && chars.peek().is_some_and(|n| n.is_lowercase()))
            });
        if starts && !word.is_empty() {
            each(word);
            word.clear();
        }
        word.extend(c.to_lowercase());
        previous = Some(c);
    }
    if !word.is_empty() {
        each(word);
        word.clear();
    }
}

/// [`each_word`] of a text of ASCII alone, where a character is a byte.
fn each_ascii_word(text: &str, word: &mut String, mut each: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut put = |start: usize, end: usize| {
        if start < end {
            word.clear();
            word.push_str(&text[start..end]);
            word.make_ascii_lowercase();
            each(word);
        }
    };
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            put(start, at);
            start = at + 1;
        } else if byte.is_ascii_uppercase() && at > start {
            let is_hump =
                !bytes[at - 1].is_ascii_uppercase() || bytes.get(at + 1).is_some_and(|next| next.is_ascii_lowercase());
            if is_hump {
                put(start, at);
                start = at;
            }
        }
    }
    put(start, bytes.len());
    word.clear();
}

/// Calls `each` with the term of every word of `text`, in order.
pub fn each_term(text: &str, word: &mut String, mut each: impl FnMut(Term)) {
    each_word(text, word, |word| each(term_of(word)));
}

/// The terms of a text, in order.
pub fn terms(text: &str) -> Vec<Term> {
    let mut found = Vec::new();
    each_term(text, &mut String::new(), |term| found.push(term));
    found
}

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub term: Term,
    /// How much it counts: 1, less for words that any request has.
    pub weight: f64,
    /// The first byte of the word in lower case: words of one term begin alike.
    pub first: u8,
}

/// The terms of a question: unique, sorted, without stop words.
pub fn query_terms(question: &str) -> Vec<Asked> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    each_word(question, &mut String::new(), |word| {
        let n_chars = word.chars().count();
        if STOP_WORDS.contains(&word) || n_chars < 2 || (n_chars < 4 && word.chars().all(char::is_numeric)) {
            return;
        }
        let term = term_of(word);
        if seen.insert(term) {
            let weight = if WEAK_WORDS.contains(&word) { 0.35 } else { 1.0 };
            found.push(Asked { term, weight, first: word.bytes().next().unwrap_or_default() });
        }
    });
    found.sort_by_key(|asked| asked.term);
    found
}

/// The term of one word in lower case.
pub fn term_of(word: &str) -> Term {
    let mut buffer = [0u8; MAX_STEMMED];
    if word.len() > MAX_STEMMED || !word.is_ascii() {
        return Term(fnv(word.as_bytes()));
    }
    buffer[..word.len()].copy_from_slice(word.as_bytes());
    let n = stem(&mut buffer, word.len());
    let stem = &buffer[..n];
    let short = SHORT_FORMS.binary_search_by(|(long, _)| long.as_bytes().cmp(stem)).ok().map(|at| SHORT_FORMS[at].1);
    Term(fnv(short.map_or(stem, str::as_bytes)))
}

/// Longer words are no words; they are taken as they are.
const MAX_STEMMED: usize = 32;

/// Endings that come off, longest first, with the fewest bytes that must remain.
const ENDINGS: &[(&str, usize)] = &[
    ("ations", 3),
    ("ation", 3),
    ("ating", 3),
    ("ated", 3),
    ("ates", 4),
    ("ings", 3),
    ("ment", 4),
    ("able", 4),
    ("ible", 4),
    ("ate", 3),
    ("ing", 3),
    ("ion", 4),
    ("ers", 4),
    ("ed", 3),
    ("er", 4),
    ("ly", 4),
];

/// Brings a word to a stem in place and gives its length: plurals, endings of verbs and of nouns
/// made of verbs, doubled consonants, a last `e`. Coarse, but the same for code and question.
fn stem(word: &mut [u8; MAX_STEMMED], mut n: usize) -> usize {
    if n < 4 || word[..n].iter().any(u8::is_ascii_digit) {
        return n;
    }
    if word[..n].ends_with(b"ies") && n > 4 {
        n -= 2;
        word[n - 1] = b'y';
    } else if word[..n].ends_with(b"sses")
        || word[..n].ends_with(b"shes")
        || word[..n].ends_with(b"ches")
        || word[..n].ends_with(b"xes")
    {
        n -= 2;
    } else if word[n - 1] == b's' && !matches!(word[n - 2], b's' | b'u' | b'i') {
        n -= 1;
    }
    // "renderers" is "renderer" is "render": two rounds are enough for what people write.
    for _ in 0..2 {
        let Some((ending, _)) =
            ENDINGS.iter().find(|(ending, rest)| word[..n].ends_with(ending.as_bytes()) && n - ending.len() >= *rest)
        else {
            break;
        };
        n -= ending.len();
        let last = word[n - 1];
        if n > 3 && last == word[n - 2] && !matches!(last, b'l' | b's' | b'a' | b'e' | b'i' | b'o' | b'u') {
            n -= 1;
        }
    }
    if n > 3 && word[n - 1] == b'e' {
        n -= 1;
    }
    // "cookies" may be of "cookie" or of "cooky": both are one.
    if n > 3 && word[n - 1] == b'y' {
        word[n - 1] = b'i';
    }
    n
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::{each_word, query_terms, term_of, terms};

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, &mut String::new(), |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn names_split_at_case_and_underscore() {
        assert_eq!(words("getHTTPResponse_codes2"), ["get", "http", "response", "codes2"]);
        assert_eq!(words("src/url_rules.py"), ["src", "url", "rules", "py"]);
        assert_eq!(words("größeÄndern"), ["größe", "ändern"]);
        for text in ["", "_", "aB", "ABCd", "a1B2", "HTTPServer2Go", "x__Y", "A", "AB", "aBC", "Ab-cD9e"] {
            // The blank beyond ASCII takes the other way, and splits nothing else.
            let other = words(&format!("{text} \u{a0}"));
            assert_eq!(words(text), other, "{text}");
        }
    }

    #[test]
    fn short_forms_are_sorted_and_final() {
        assert!(super::SHORT_FORMS.is_sorted_by(|one, other| one.0 < other.0));
        for (long, short) in super::SHORT_FORMS {
            assert_eq!(long.as_bytes()[0], short.as_bytes()[0], "words of one term begin alike");
            assert!(super::SHORT_FORMS.iter().all(|(long, _)| long != short), "{short}");
        }
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        for forms in [
            &["escape", "escaping", "escaped", "escapes"][..],
            &["validate", "validation", "validating", "validates"],
            &["serialize", "serialization", "serializer", "serializing"],
            &["parse", "parser", "parsing"],
            &["map", "mapping", "mapped", "maps"],
            &["class", "classes"],
            &["property", "properties", "prop"],
            &["cookie", "cookies"],
            &["query", "queries"],
            &["renderer", "render", "rendering"],
            &["parameter", "param", "params"],
            &["configuration", "config", "configure"],
        ] {
            let found: Vec<_> = forms.iter().map(|form| term_of(form)).collect();
            assert!(found.iter().all(|term| *term == found[0]), "{forms:?}");
        }
        assert_ne!(term_of("class"), term_of("clas"));
        assert_ne!(term_of("import"), term_of("impl"));
    }

    #[test]
    fn questions_lose_their_stop_words() {
        let asked = query_terms("where is the request context pushed?");
        assert_eq!(asked.len(), 3);
        assert!(asked.iter().any(|asked| asked.term == terms("push")[0]));
        assert!(query_terms("fix it").iter().all(|asked| asked.weight < 1.0));
    }
}
