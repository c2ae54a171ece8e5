//! How sure an edge is, by the rule that found it: the precision that was measured per rule
//! against compilers (the table in `src/ARCHITECTURE.md`), rounded down by half a percent or less.
//! PRODUCT.md §3's figures were the starting values.

use crate::graph::edge::{Confidence, EdgeKind, Strategy};

/// What a candidate is worth when 1, 2, … share a name. Measured .53 .36 .33 .14 .16; no guess
/// passes one half, where answers begin to count as found.
const CANDIDATES: [u16; 4] = [4_900, 3_600, 3_300, 1_600];

/// The confidence of an edge that a rule proved, or judged likely.
///
/// An overloaded call of which more than one signature is left has an edge to each, in layer
/// `candidate`: its confidence is that of the method, all its signatures being one target.
pub fn of(strategy: Strategy, kind: EdgeKind) -> Confidence {
    let mentions = kind == EdgeKind::References;
    Confidence(match strategy {
        Strategy::Compiler => 10_000,
        Strategy::Import | Strategy::SamePackage | Strategy::Scope => 9_950,
        Strategy::SelfMember | Strategy::StaticMember if mentions => 9_900,
        Strategy::DeclaredType if mentions => 9_850,
        Strategy::SelfMember | Strategy::DeclaredType | Strategy::StaticMember => 9_950,
        // Among them what constants and fields hold, which a compiler does not call a reference.
        Strategy::InferredType if mentions => 8_500,
        Strategy::InferredType => 9_950,
        Strategy::Overload | Strategy::UniqueName => 9_500,
        // No compiler judges these.
        Strategy::Framework | Strategy::Override | Strategy::StandIn | Strategy::Twin => 9_000,
        Strategy::StringPath => 5_000,
        Strategy::Candidates => CANDIDATES[0],
    })
}

/// The confidence of each of `n` candidates of one name.
pub fn of_candidates(n: usize) -> Confidence {
    let last = CANDIDATES[CANDIDATES.len() - 1];
    Confidence(CANDIDATES.get(n.saturating_sub(1)).copied().unwrap_or(last))
}
