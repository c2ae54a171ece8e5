//! Packs ranked entries into a token budget: the most valuable lines per token (PRODUCT.md §7).
//!
//! An entry (a file) offers four tiers: its path; its three best lines; all lines; all lines
//! with their docs. What is left at the end is filled line by line, best entries first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::report::tokens;

/// How many lines the second tier shows.
pub const N_BEST: usize = 3;

/// What each tier adds to an entry, as shares of its score. Guesses that keep a path cheap and
/// the best lines dear; a bench of found definitions per token would settle them.
const TIER_GAIN: [f64; 4] = [0.6, 2.4, 2.0, 1.2];

/// Something that can be shown in tiers.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How valuable it is; at least 0.
    pub score: f64,
    /// The line of the first tier.
    pub head: String,
    /// The lines of the other tiers, in the order they are shown.
    pub lines: Vec<Line>,
}

/// A line of an entry, with the doc line that the last tier adds.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    pub doc: Option<String>,
    /// The place among the entry's lines by value, 0 the best; unique.
    pub place: usize,
}

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The chosen lines in order, without line ends.
    pub lines: Vec<String>,
    /// How many entries are shown at all.
    pub n_entries: usize,
    /// How many lines of entries are shown, heads and docs apart.
    pub n_lines: usize,
}

/// How much of an entry is taken.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Taken {
    head: bool,
    n_lines: usize,
    n_docs: usize,
}

/// Chooses from `entries` (in order of rank) what fits into `budget` tokens.
///
/// The chosen lines keep the order of entries and of their lines. The sum of their tokens,
/// line ends included, never passes `budget`.
pub fn pack(entries: &[Entry], budget: usize) -> Packed {
    let costs: Vec<Costs> = affordable(entries, budget);
    let mut taken = vec![Taken::default(); costs.len()];
    let mut left = budget;
    let mut heap = BinaryHeap::new();
    for at in 0..costs.len() {
        offer(&mut heap, &entries[at], &costs[at], at, 0);
    }
    while let Some((_, Reverse(at), tier)) = heap.pop() {
        let target = tier_state(&entries[at], tier);
        let cost = costs[at].of(target) - costs[at].of(taken[at]);
        if cost > left {
            continue;
        }
        left -= cost;
        taken[at] = target;
        if tier < 3 {
            offer(&mut heap, &entries[at], &costs[at], at, tier + 1);
        }
    }
    fill(entries, &costs, &mut taken, left);
    let mut packed = Packed::default();
    for (entry, taken) in entries.iter().zip(&taken) {
        if !taken.head {
            continue;
        }
        packed.n_entries += 1;
        packed.lines.push(entry.head.clone());
        for line in &entry.lines {
            if line.place < taken.n_lines {
                packed.n_lines += 1;
                packed.lines.push(line.text.clone());
            }
            if line.place < taken.n_docs {
                packed.lines.extend(line.doc.clone());
            }
        }
    }
    packed
}

/// Running sums of an entry's costs, by place.
struct Costs {
    head: usize,
    lines: Vec<usize>,
    docs: Vec<usize>,
}

impl Costs {
    fn of(&self, taken: Taken) -> usize {
        if !taken.head {
            return 0;
        }
        self.head + self.lines[taken.n_lines] + self.docs[taken.n_docs]
    }
}

/// Costs of the first entries: as many as could be shown if each took its cheapest form.
fn affordable(entries: &[Entry], budget: usize) -> Vec<Costs> {
    // A head costs at least two tokens, so that more entries than half the budget never fit.
    entries.iter().take(budget / 2 + 1).map(costs).collect()
}

fn costs(entry: &Entry) -> Costs {
    let mut lines = vec![0; entry.lines.len()];
    let mut docs = vec![0; entry.lines.len()];
    for line in &entry.lines {
        lines[line.place] = count_line(&line.text);
        docs[line.place] = line.doc.as_deref().map_or(0, count_line);
    }
    let sums = |costs: Vec<usize>| {
        let mut sum = 0;
        std::iter::once(0)
            .chain(costs.into_iter().map(|cost| {
                sum += cost;
                sum
            }))
            .collect()
    };
    Costs { head: count_line(&entry.head), lines: sums(lines), docs: sums(docs) }
}

fn count_line(line: &str) -> usize {
    tokens::count(&format!("{line}\n"))
}

fn tier_state(entry: &Entry, tier: usize) -> Taken {
    let n = entry.lines.len();
    match tier {
        0 => Taken { head: true, n_lines: 0, n_docs: 0 },
        1 => Taken { head: true, n_lines: n.min(N_BEST), n_docs: 0 },
        2 => Taken { head: true, n_lines: n, n_docs: 0 },
        _ => Taken { head: true, n_lines: n, n_docs: n },
    }
}

/// Puts an entry's next tier on the heap, by gain per token; a tier that adds nothing is passed over.
fn offer(heap: &mut BinaryHeap<(u64, Reverse<usize>, usize)>, entry: &Entry, costs: &Costs, at: usize, tier: usize) {
    for (next, gain) in TIER_GAIN.iter().enumerate().skip(tier) {
        let before = if next == 0 { Taken::default() } else { tier_state(entry, next - 1) };
        let cost = costs.of(tier_state(entry, next)) - costs.of(before);
        if cost > 0 {
            // Quantized, so that equal values tie on every machine and fall to rank.
            let density = entry.score * gain / cost as f64;
            heap.push(((density * 1e12) as u64, Reverse(at), next));
            return;
        }
    }
}

/// Spends what is left on single lines, then docs, then heads of entries not shown.
fn fill(entries: &[Entry], costs: &[Costs], taken: &mut [Taken], mut left: usize) {
    for round in 0..3 {
        for at in 0..costs.len() {
            loop {
                let mut next = taken[at];
                match round {
                    0 if next.head && next.n_lines < entries[at].lines.len() => next.n_lines += 1,
                    1 if next.head && next.n_docs < next.n_lines => next.n_docs += 1,
                    2 if !next.head => next.head = true,
                    2 if next.n_lines < entries[at].lines.len() => next.n_lines += 1,
                    _ => break,
                }
                let cost = costs[at].of(next) - costs[at].of(taken[at]);
                if cost > left {
                    break;
                }
                left -= cost;
                taken[at] = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Entry, Line, pack};
    use crate::report::tokens;

    fn entries(n: usize, n_lines: usize) -> Vec<Entry> {
        (0..n)
            .map(|at| Entry {
                score: 1.0 / (at + 1) as f64,
                head: format!("src/package/module_{at}.py"),
                lines: (0..n_lines)
                    .map(|line| Line {
                        text: format!("  {line}-{} def function_{line}(self, value: int) -> str", line + 4),
                        doc: Some(format!("    Gives the value number {line}.")),
                        place: (line * 7) % n_lines,
                    })
                    .collect(),
            })
            .collect()
    }

    fn n_tokens(lines: &[String]) -> usize {
        tokens::count(&lines.iter().map(|l| format!("{l}\n")).collect::<String>())
    }

    #[test]
    fn a_budget_is_well_used_when_there_is_matter() {
        for budget in [500, 2000, 4000] {
            let used = n_tokens(&pack(&entries(60, 13), budget).lines);
            assert!(used * 100 >= budget * 93 && used <= budget, "{used} of {budget}");
        }
    }

    #[test]
    fn the_best_entries_show_more() {
        let packed = pack(&entries(60, 13), 1500);
        assert_eq!(packed.lines[0], "src/package/module_0.py");
        let shown = |at: usize| {
            packed
                .lines
                .iter()
                .skip_while(|l| !l.ends_with(&format!("module_{at}.py")))
                .skip(1)
                .take_while(|l| l.starts_with(' '))
                .count()
        };
        assert!(shown(0) > shown(packed.n_entries - 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_budget_is_passed(budget in 0usize..3000, n in 0usize..40, n_lines in prop::sample::select(vec![0, 1, 2, 3, 5, 9, 13])) {
            prop_assert!(n_tokens(&pack(&entries(n, n_lines), budget).lines) <= budget);
        }
    }
}
