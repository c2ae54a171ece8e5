//! Text answers: one header line, then the body, together never above the token budget.

use crate::report::pack::count_line;
use crate::report::sanitize;
use crate::report::tokens;

/// The smallest budget that is accepted: below it not even the header line fits.
pub const MIN_BUDGET: usize = 64;

/// What the header line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// Repository, commit and dirty count, such as `flask@2fec0b2 +3 dirty`.
    pub view: String,
    /// Files still to be indexed when the answer was made; 0 is fresh.
    pub n_pending: usize,
    /// How many things of how many are shown, and what they are.
    pub shown: Option<Shown>,
    /// What the question was taken for.
    pub shape: Option<&'static str>,
}

/// `12 of 40 callers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub n: usize,
    pub total: usize,
    pub noun: &'static str,
}

impl Headline {
    /// The header line, without its line end; `usize::MAX` is no budget.
    pub fn line(&self, n_tokens: usize, budget: usize) -> String {
        let mut line = sanitize::line(&self.view, 80);
        match budget {
            usize::MAX => line.push_str(&format!(" | {n_tokens} tokens")),
            _ => line.push_str(&format!(" | {n_tokens}/{budget} tokens")),
        }
        match self.n_pending {
            0 => line.push_str(" | fresh"),
            n => line.push_str(&format!(" | stale: {n} pending")),
        }
        if let Some(Shown { n, total, noun }) = &self.shown {
            line.push_str(&format!(" | {n} of {total} {noun}"));
        }
        if let Some(shape) = self.shape {
            line.push_str(&format!(" | read as {shape}"));
        }
        line
    }

    /// The tokens to set aside for the header line under a budget.
    pub fn reserve(&self, budget: usize) -> usize {
        count_line(&self.line(budget, budget)) + 1
    }
}

/// A text with how many tokens it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    pub text: String,
    pub n_tokens: usize,
}

/// Puts the header line above `body` (lines without line ends) and keeps within `budget`.
///
/// Lines that do not fit are left out from the end, and a last line says how many. Blank body
/// lines are dropped. The number in the header is the exact count of the whole text, which ends
/// with a line end.
pub fn compose(headline: &Headline, body: &[String], budget: usize) -> Composed {
    let mut lines: Vec<&str> = body.iter().map(String::as_str).filter(|l| !l.trim().is_empty()).collect();
    // Exact: no token reaches over the end of a line that is not blank.
    let costs: Vec<usize> = lines.iter().map(|l| count_line(l)).collect();
    let reserve = headline.reserve(budget);
    let room = budget.saturating_sub(reserve);
    let mut notice = String::new();
    if costs.iter().sum::<usize>() > room {
        // The notice line takes up to 24 tokens.
        let mut left = room.saturating_sub(24);
        let mut n_kept = 0;
        for cost in &costs {
            if *cost > left {
                break;
            }
            left -= cost;
            n_kept += 1;
        }
        notice = format!("… {} more lines do not fit the budget; narrow the question", lines.len() - n_kept);
        lines.truncate(n_kept);
    }
    loop {
        let mut text = String::new();
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        let mut n_body: usize = costs[..lines.len()].iter().sum();
        if !notice.is_empty() && tokens::count(&notice) + 1 < room {
            text.push_str(&notice);
            text.push('\n');
            n_body += count_line(&notice);
        }
        let mut n_tokens = n_body + reserve;
        for _ in 0..4 {
            let exact = n_body + count_line(&headline.line(n_tokens, budget));
            if exact == n_tokens {
                break;
            }
            n_tokens = exact;
        }
        let whole = format!("{}\n{text}", headline.line(n_tokens, budget));
        let n_tokens = tokens::count(&whole);
        if n_tokens <= budget || lines.pop().is_none() {
            return Composed { text: whole, n_tokens };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Composed, Headline, Shown, compose};
    use crate::report::tokens;

    #[test]
    fn the_header_says_the_exact_count() {
        let headline = Headline {
            view: "flask@2fec0b2 +3 dirty".into(),
            n_pending: 0,
            shown: Some(Shown { n: 1, total: 2, noun: "callers" }),
            shape: None,
        };
        let Composed { text, n_tokens } = compose(&headline, &["src/a.py:3 f calls".into()], 4000);
        assert_eq!(n_tokens, tokens::count(&text));
        assert_eq!(
            text,
            format!("flask@2fec0b2 +3 dirty | {n_tokens}/4000 tokens | fresh | 1 of 2 callers\nsrc/a.py:3 f calls\n")
        );
    }

    #[test]
    fn no_budget_is_passed() {
        let body: Vec<String> = (0..400).map(|n| format!("src/folder_{n}/module.py:{n} some_function_{n}")).collect();
        for budget in [64, 65, 80, 100, 101, 500, 999, 1000, 1001, 4000] {
            let text = compose(&Headline::default(), &body, budget).text;
            assert!(tokens::count(&text) <= budget, "{budget}: {text}");
            assert!(text.contains("more lines do not fit"), "{budget}");
        }
    }
}
