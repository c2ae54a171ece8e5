//! Token counts. The only door to tiktoken; its vocabulary is loaded when first asked for.

/// The name of the tokenizer whose tokens are counted.
pub const TOKENIZER: &str = "cl100k_base";

/// The number of `cl100k_base` tokens of `text`, special tokens read as plain text.
///
/// For texts made of non-blank lines the count is the sum over its lines (each with its line
/// end): the vocabulary's pre-tokenizer never joins across a line end that follows a non-blank.
pub fn count(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton().count_ordinary(text)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_add_up_over_non_blank_lines() {
        let lines = ["src/a.py\n", "  10-12 def f(a: int) -> str:\n", "    \"doc\" …\n", "}\n", "  x\n"];
        let sum: usize = lines.iter().map(|l| count(l)).sum();
        assert_eq!(sum, count(&lines.concat()));
    }
}
