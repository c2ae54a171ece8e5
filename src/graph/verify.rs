//! Which answers and links still hold after files have changed, found out from what they were
//! computed from, so that what comes to the same costs no more than looking.

use crate::base::reads::Read;
use crate::graph::answers::{Inputs, Known};
use crate::graph::hashing::HashMap;
use crate::graph::outline::FileChange;
use crate::graph::queries::{Answer, Base, Denoted, Query, Session, Shared};
use crate::graph::value::{Set, Value};
use crate::view::FileIdx;

/// Answers with a longer chain of queries below are computed anew, so that what the bound on open
/// queries cuts is cut alike.
const MAX_HEIGHT: u32 = 100;

/// The changed files and other inputs, with how they differ.
#[derive(Default)]
pub struct Changed {
    pub files: HashMap<FileIdx, FileChange>,
}

/// A suspected answer.
pub struct Suspect {
    pub known: Known,
    pub inputs: Inputs,
    /// Whether it has become another; `None` while that is not known.
    pub is_other: Option<bool>,
}

/// Answers that may have become others.
pub struct Verifier<'s, 'v> {
    shared: &'s Shared<'v>,
    changed: &'s Changed,
    suspects: HashMap<Query, Suspect>,
}

impl<'s, 'v> Verifier<'s, 'v> {
    /// Looks at answers that were taken out of the shared ones.
    pub fn new(shared: &'s Shared<'v>, changed: &'s Changed, suspects: HashMap<Query, Suspect>) -> Self {
        Verifier { shared, changed, suspects }
    }

    /// Whether something that was computed from some inputs may come out otherwise now.
    pub fn is_dirty(&mut self, inputs: &Inputs) -> bool {
        let change = |read: &Read| self.changed.files.get(&FileIdx(read.input()));
        let seen = inputs.reads.iter().any(|read| change(read).is_some_and(|change| change.shown.touches(*read)));
        // All are looked at, so that those that hold are there again for whoever asks.
        let mut is_dirty = seen;
        for query in &inputs.asked {
            is_dirty |= self.is_other(*query);
        }
        is_dirty
    }

    /// Whether a query has another answer now. One that holds is put back.
    fn is_other(&mut self, query: Query) -> bool {
        let (is_other, known) = match self.suspects.get(&query) {
            Some(suspect) => (suspect.is_other, suspect.known.clone()),
            None => return false,
        };
        if let Some(is_other) = is_other {
            return is_other;
        }
        if let Some(now) = self.shared.answers().get(&query) {
            let is_other = now.answer != known.answer || self.bears_rows(&now.answer);
            return self.settle(query, is_other);
        }
        // Met again while it is open, whoever meets it is computed anew.
        self.settle(query, true);
        let about = self.changed.files.get(&query.file());
        if about.is_some_and(|change| !change.keeps(query)) {
            return true;
        }
        let suspect = self.suspects.get_mut(&query).map(|suspect| std::mem::take(&mut suspect.inputs));
        let inputs = suspect.unwrap_or_default();
        let is_dirty = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.is_dirty(&inputs)) || about.is_some();
        let height = known.height + self.grown(&inputs);
        if !is_dirty && height <= MAX_HEIGHT {
            self.shared.answers().put(query, Known { height, ..known }, Some(inputs));
            return self.settle(query, false);
        }
        let answer = Session::new(self.shared).ask(query);
        let is_shared = self.shared.answers().get(&query).is_some();
        let is_other = !is_shared || answer != known.answer || self.bears_rows(&answer);
        self.settle(query, is_other)
    }

    /// By how much the longest chain of queries below may have grown.
    fn grown(&self, inputs: &Inputs) -> u32 {
        let grown = |asked: &Query| {
            let (now, before) = (self.shared.answers().get(asked)?, self.suspects.get(asked)?);
            Some(now.height.saturating_sub(before.known.height))
        };
        inputs.asked.iter().filter_map(grown).max().unwrap_or(0)
    }

    fn settle(&mut self, query: Query, is_other: bool) -> bool {
        if let Some(suspect) = self.suspects.get_mut(&query) {
            suspect.is_other = Some(is_other);
        }
        is_other
    }

    /// Whether an answer names rows of changed files whose content is not told by their number.
    fn bears_rows(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Values(set) => self.set_bears(set),
            Answer::Denoted(denoted) => self.denoted_bear(denoted),
            Answer::Member(member) => {
                self.denoted_bear(&member.denoted) || member.values.iter().any(|set| self.set_bears(set))
            }
            Answer::Types(types) => types.iter().any(|set| self.set_bears(set)),
            Answer::Bases(bases) => bases.iter().any(|base| match base {
                Base::Class(_, args) | Base::External(_, args) => args.iter().any(|set| self.set_bears(set)),
                Base::Unknown => false,
            }),
        }
    }

    fn denoted_bear(&self, denoted: &[Denoted]) -> bool {
        denoted.iter().any(|denoted| match denoted {
            Denoted::Binding(file, _) | Denoted::Export(file, _) | Denoted::Param(file, _) => self.is_changed(*file),
            Denoted::Symbol(_)
            | Denoted::Module(_)
            | Denoted::Namespace(_)
            | Denoted::External(_)
            | Denoted::TypeParam(..) => false,
        })
    }

    fn is_changed(&self, file: FileIdx) -> bool {
        self.changed.files.contains_key(&file)
    }

    fn set_bears(&self, set: &Set) -> bool {
        set.values().iter().any(|value| self.value_bears(value))
    }

    fn value_bears(&self, value: &Value) -> bool {
        match value {
            Value::Anonymous(file, _) | Value::Lambda(file, _) | Value::Object(file, _) => self.is_changed(*file),
            Value::Shape(file, _, _, args) => self.is_changed(*file) || args.iter().any(|set| self.set_bears(set)),
            Value::Instance(_, args) | Value::ExternalInstance(_, args) => args.iter().any(|set| self.set_bears(set)),
            Value::Bound(_, receiver) => self.value_bears(receiver),
            Value::Null
            | Value::Module(_)
            | Value::Namespace(_)
            | Value::Class(_)
            | Value::Function(_)
            | Value::TypeParam(..)
            | Value::Super(_)
            | Value::Symbol(_)
            | Value::External(_) => false,
        }
    }
}
