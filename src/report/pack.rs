//! Packs ranked entries into a token budget: the most valuable lines per token (PRODUCT.md §7).
//!
//! An entry (a file) offers its path, then its lines from the best on, and beneath each line its
//! notes (docs, callers). So the four tiers of the contract are points on one way, and an entry
//! is left where the next line of another is worth more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::report::tokens;

/// What each kind of line adds, as a share of its entry's score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// The line of an entry's path.
    pub path: f64,
    /// How much more the lines of the best entries add than those of others: the power of an
    /// entry's score, of the best one's, that they are multiplied with.
    pub focus: f64,
    /// The most used line of an entry's public surface; the others fall with their place.
    pub surface: f64,
    /// The line that fits the task best.
    pub matches: f64,
    /// The doc beneath a line, as a share of the line.
    pub docs: f64,
    /// The line of who uses it, as a share of the line.
    pub callers: f64,
    /// The line of what it calls, as a share of the line.
    pub calls: f64,
}

impl Gains {
    /// For a map without a task: the surface alone. A guess, by how maps read.
    pub const MAP: Gains =
        Gains { path: 0.6, focus: 0.0, surface: 0.9, matches: 0.0, docs: 0.3, callers: 0.0, calls: 0.0 };
}

impl Default for Gains {
    /// For a task, by `bench/context` on every second task of the older half; `docs`, `callers` and `calls`,
    /// which it does not see the use of, are guesses.
    fn default() -> Self {
        Gains { path: 0.6, focus: 1.0, surface: 0.3, matches: 2.0, docs: 0.3, callers: 0.7, calls: 0.5 }
    }
}

/// Something that can be shown in part.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How valuable it is; at least 0.
    pub score: f64,
    /// The line that comes first, and without which no other is shown.
    pub head: String,
}

/// A line of an entry.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    /// What it adds, as a share of the entry's score.
    pub gain: f64,
    /// Lines that may be shown beneath it, each with what it adds.
    pub notes: Vec<(String, f64)>,
}

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The chosen lines in order, without line ends.
    pub lines: Vec<String>,
    /// How many entries are shown at all.
    pub n_entries: usize,
}

/// A thing that may be taken next. Orders as its kind and place, so that ties fall to rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Head {
        entry: usize,
    },
    /// `place` is the place among the entry's lines by value.
    Line {
        entry: usize,
        place: usize,
    },
    Note {
        entry: usize,
        line: usize,
        note: usize,
    },
}

/// An entry that is shown.
struct Opened {
    lines: Vec<Line>,
    /// Positions in `lines`, the most valuable first.
    by_value: Vec<usize>,
    is_shown: Vec<bool>,
    notes_shown: Vec<Vec<bool>>,
}

type Queue = BinaryHeap<(u64, Reverse<Step>, usize)>;

/// Chooses from `entries` (in order of rank) what fits into `budget` tokens.
///
/// `lines_of` gives an entry's lines, in the order they are shown; it is asked for entries whose
/// path is taken. The chosen lines keep the order of entries and of their lines. The sum of their
/// tokens, line ends included, never passes `budget`. `path` is what the line of an entry's path
/// adds, as a share of its score.
pub fn pack(entries: &[Entry], path: f64, budget: usize, mut lines_of: impl FnMut(usize) -> Vec<Line>) -> Packed {
    let mut opened: Vec<Option<Opened>> = entries.iter().map(|_| None).collect();
    let mut left = budget;
    let mut queue = Queue::new();
    // A head costs at least two tokens, so that more entries than half the budget never fit.
    for (at, entry) in entries.iter().enumerate().take(budget / 2 + 1) {
        offer(&mut queue, Step::Head { entry: at }, entry.score * path, &entry.head);
    }
    while let Some((_, Reverse(step), cost)) = queue.pop() {
        let fits = cost <= left;
        if fits {
            left -= cost;
        }
        match step {
            Step::Head { entry } if fits => {
                let lines = lines_of(entry);
                let mut by_value: Vec<usize> = (0..lines.len()).collect();
                by_value.sort_by(|one, other| lines[*other].gain.total_cmp(&lines[*one].gain).then(one.cmp(other)));
                let notes_shown = lines.iter().map(|line| vec![false; line.notes.len()]).collect();
                let now = Opened { is_shown: vec![false; lines.len()], notes_shown, by_value, lines };
                offer_line(&mut queue, &entries[entry], entry, &now, 0);
                opened[entry] = Some(now);
            }
            Step::Head { .. } => {}
            Step::Line { entry, place } => {
                let Some(now) = &mut opened[entry] else { continue };
                let at = now.by_value[place];
                if fits {
                    now.is_shown[at] = true;
                    for (note, (text, gain)) in now.lines[at].notes.iter().enumerate() {
                        let step = Step::Note { entry, line: at, note };
                        offer(&mut queue, step, entries[entry].score * gain, text);
                    }
                }
                offer_line(&mut queue, &entries[entry], entry, now, place + 1);
            }
            Step::Note { entry, line, note } => {
                if let Some(now) = &mut opened[entry] {
                    now.notes_shown[line][note] = fits;
                }
            }
        }
    }
    let mut packed = Packed::default();
    for (entry, now) in entries.iter().zip(opened) {
        let Some(now) = now else { continue };
        packed.n_entries += 1;
        packed.lines.push(entry.head.clone());
        for (at, line) in now.lines.into_iter().enumerate().filter(|(at, _)| now.is_shown[*at]) {
            packed.lines.push(line.text);
            let shown = line.notes.into_iter().zip(&now.notes_shown[at]).filter(|(_, is_shown)| **is_shown);
            packed.lines.extend(shown.map(|((text, _), _)| text));
        }
    }
    packed
}

fn offer_line(queue: &mut Queue, entry: &Entry, at: usize, now: &Opened, place: usize) {
    if let Some(line) = now.by_value.get(place).map(|line| &now.lines[*line]) {
        offer(queue, Step::Line { entry: at, place }, entry.score * line.gain, &line.text);
    }
}

/// Puts a step into the queue by gain per token.
fn offer(queue: &mut Queue, step: Step, gain: f64, text: &str) {
    let cost = count_line(text);
    // Quantized, so that equal values tie on every machine and fall to rank.
    queue.push((((gain / cost.max(1) as f64) * 1e9) as u64, Reverse(step), cost));
}

/// The tokens of a line with its end.
pub fn count_line(line: &str) -> usize {
    tokens::count(&format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Entry, Line, Packed, pack};
    use crate::report::tokens;

    fn packed(n: usize, n_lines: usize, budget: usize) -> Packed {
        let entries: Vec<Entry> = (0..n)
            .map(|at| Entry { score: 1.0 / (at + 1) as f64, head: format!("src/package/module_{at}.py") })
            .collect();
        pack(&entries, 0.6, budget, |_| {
            (0..n_lines)
                .map(|line| Line {
                    text: format!("  {line}-{} def function_{line}(self, value: int) -> str", line + 4),
                    gain: 1.0 / (1.0 + ((line * 7) % n_lines) as f64),
                    notes: vec![(format!("    Gives the value number {line}."), 0.1)],
                })
                .collect()
        })
    }

    fn n_tokens(lines: &[String]) -> usize {
        tokens::count(&lines.iter().map(|l| format!("{l}\n")).collect::<String>())
    }

    #[test]
    fn a_budget_is_well_used_when_there_is_matter() {
        for budget in [500, 2000, 4000] {
            let used = n_tokens(&packed(60, 13, budget).lines);
            assert!(used * 100 >= budget * 97 && used <= budget, "{used} of {budget}");
        }
    }

    #[test]
    fn the_best_entries_show_more() {
        let packed = packed(60, 13, 1500);
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
            prop_assert!(n_tokens(&packed(n, n_lines.max(1), budget).lines) <= budget);
        }
    }
}
