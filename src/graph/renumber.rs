//! From the numbers of one view's files to those of the next, where files came or went: everything
//! that was found out keeps its meaning under other numbers.

use std::sync::Arc;

use crate::base::reads::Read;
use crate::graph::answers::{Inputs, Known};
use crate::graph::edge::{Computed, Edge, FileUse, Unproved};
use crate::graph::link::FileLink;
use crate::graph::members::Member;
use crate::graph::modules::Target;
use crate::graph::queries::{Answer, Base, Denoted, Query};
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef, View, ViewFile};

/// Inputs from this number on are no files: looks at tables of the whole view.
pub const FIRST_LOOKUP: u32 = 1 << 30;
/// What stands for a file that is gone.
pub const GONE: FileIdx = FileIdx(FIRST_LOOKUP - 1);

/// Where the files of one view are in another. Keeps the order of those that are in both.
pub struct Renumber {
    new: Vec<Option<FileIdx>>,
}

impl Renumber {
    /// Finds the files of one view in another, by path and dialect. O(files of both).
    pub fn new(from: &View, to: &View) -> Self {
        let mut rest = to.indices().zip(&to.files).peekable();
        let mut find = |was: &ViewFile| {
            while rest.next_if(|(_, now)| now.path < was.path).is_some() {}
            let (new, now) = rest.next_if(|(_, now)| now.path == was.path)?;
            (now.dialect == was.dialect).then_some(new)
        };
        Renumber { new: from.files.iter().map(&mut find).collect() }
    }

    /// Whether every file has the number that it had, and there are no others.
    pub fn is_idle(&self, n_files: usize) -> bool {
        self.new.len() == n_files && self.new.iter().zip(0..).all(|(new, old)| *new == Some(FileIdx(old)))
    }

    /// The number of a file; `None` when it is gone.
    pub fn file(&self, file: FileIdx) -> Option<FileIdx> {
        self.new[file.0 as usize]
    }

    /// A symbol; `None` when its file is gone.
    pub fn symbol(&self, at: SymbolRef) -> Option<SymbolRef> {
        Some(SymbolRef { file: self.file(at.file)?, ..at })
    }

    /// A query; `None` when it is about a file that is gone.
    pub fn query(&self, query: Query) -> Option<Query> {
        Some(match query {
            Query::Export(file, text) => Query::Export(self.file(file)?, text),
            Query::Global(file, text) => Query::Global(self.file(file)?, text),
            Query::Import(file, row) => Query::Import(self.file(file)?, row),
            Query::Symbol(at) => Query::Symbol(self.symbol(at)?),
            Query::Binding(file, row) => Query::Binding(self.file(file)?, row),
            Query::Param(file, row) => Query::Param(self.file(file)?, row),
            Query::Declared(file, row) => Query::Declared(self.file(file)?, row),
            Query::Filled(file, row) => Query::Filled(self.file(file)?, row),
            Query::Expected(file, call, position) => Query::Expected(self.file(file)?, call, position),
            Query::Returns(at) => Query::Returns(self.symbol(at)?),
            Query::Lambda(file, scope) => Query::Lambda(self.file(file)?, scope),
            Query::Alias(at) => Query::Alias(self.symbol(at)?),
            Query::Bases(at) => Query::Bases(self.symbol(at)?),
            Query::Mro(at) => Query::Mro(self.symbol(at)?),
            Query::This(at) => Query::This(self.symbol(at)?),
            Query::Member(at, text, from) => Query::Member(self.symbol(at)?, text, from),
            Query::Types(at) => Query::Types(self.symbol(at)?),
        })
    }

    /// Inputs; those that are gone become looks at [`GONE`].
    pub fn inputs(&self, inputs: Inputs) -> Inputs {
        let mut is_gone = false;
        let mut asked = inputs.asked;
        asked.retain_mut(|query| match self.query(*query) {
            Some(new) => {
                *query = new;
                true
            }
            None => {
                is_gone = true;
                false
            }
        });
        let mut reads = inputs.reads;
        for read in &mut reads {
            let input = read.input();
            if input >= FIRST_LOOKUP {
                continue;
            }
            let new = self.file(FileIdx(input)).unwrap_or(GONE).0;
            *read = read.at(new);
        }
        if is_gone {
            reads.push(Read::whole(GONE.0));
        }
        Inputs { asked, reads }
    }

    /// An answer; `None` when it names a file that is gone.
    pub fn known(&self, known: &Known) -> Option<Known> {
        let answer = match &known.answer {
            Answer::Values(set) => Answer::Values(self.set(set)?),
            Answer::Denoted(denoted) => {
                Answer::Denoted(denoted.iter().map(|d| self.denoted(d)).collect::<Option<_>>()?)
            }
            Answer::Bases(bases) => Answer::Bases(bases.iter().map(|base| self.base(base)).collect::<Option<_>>()?),
            Answer::Types(types) => Answer::Types(self.sets(types)?.into()),
            Answer::Member(member) => Answer::Member(Arc::new(Member {
                outcome: member.outcome,
                denoted: member.denoted.iter().map(|d| self.denoted(d)).collect::<Option<_>>()?,
                values: match &member.values {
                    Some(set) => Some(self.set(set)?),
                    None => None,
                },
            })),
        };
        Some(Known { answer, height: known.height })
    }

    fn sets(&self, sets: &[Set]) -> Option<Vec<Set>> {
        sets.iter().map(|set| self.set(set)).collect()
    }

    fn set(&self, set: &Set) -> Option<Set> {
        let values = set.values().iter().map(|value| self.value(value).map(Set::one)).collect::<Option<Vec<Set>>>()?;
        let mut new = Set::union(values);
        new.open = set.open;
        Some(new)
    }

    fn value(&self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Null | Value::Namespace(_) | Value::External(_) => value.clone(),
            Value::Module(file) => Value::Module(self.file(*file)?),
            Value::Class(at) => Value::Class(self.symbol(*at)?),
            Value::Instance(at, args) => Value::Instance(self.symbol(*at)?, self.sets(args)?.into()),
            Value::Anonymous(file, scope) => Value::Anonymous(self.file(*file)?, *scope),
            Value::Function(at) => Value::Function(self.symbol(*at)?),
            Value::Bound(at, receiver) => Value::Bound(self.symbol(*at)?, Arc::new(self.value(receiver)?)),
            Value::Lambda(file, expr) => Value::Lambda(self.file(*file)?, *expr),
            Value::Object(file, expr) => Value::Object(self.file(*file)?, *expr),
            Value::Shape(file, ty, owner, args) => {
                Value::Shape(self.file(*file)?, *ty, *owner, self.sets(args)?.into())
            }
            Value::TypeParam(at, position) => Value::TypeParam(self.symbol(*at)?, *position),
            Value::Super(at) => Value::Super(self.symbol(*at)?),
            Value::Symbol(at) => Value::Symbol(self.symbol(*at)?),
            Value::ExternalInstance(name, args) => Value::ExternalInstance(name.clone(), self.sets(args)?.into()),
        })
    }

    fn denoted(&self, denoted: &Denoted) -> Option<Denoted> {
        Some(match denoted {
            Denoted::Namespace(_) | Denoted::External(_) => denoted.clone(),
            Denoted::Symbol(at) => Denoted::Symbol(self.symbol(*at)?),
            Denoted::Module(file) => Denoted::Module(self.file(*file)?),
            Denoted::Binding(file, row) => Denoted::Binding(self.file(*file)?, *row),
            Denoted::Export(file, row) => Denoted::Export(self.file(*file)?, *row),
            Denoted::Param(file, row) => Denoted::Param(self.file(*file)?, *row),
            Denoted::TypeParam(at, position) => Denoted::TypeParam(self.symbol(*at)?, *position),
        })
    }

    fn base(&self, base: &Base) -> Option<Base> {
        Some(match base {
            Base::Class(at, args) => Base::Class(self.symbol(*at)?, self.sets(args)?.into()),
            Base::External(name, args) => Base::External(name.clone(), self.sets(args)?.into()),
            Base::Unknown => Base::Unknown,
        })
    }

    /// What a specifier leads to; `None` when that is gone.
    pub fn target(&self, target: &Target) -> Option<Target> {
        Some(match target {
            Target::File(file) => Target::File(self.file(*file)?),
            Target::Namespace(_) | Target::External(_) | Target::Missing => target.clone(),
        })
    }

    /// A link; `None` when it leads to a file that is gone.
    pub fn link(&self, link: FileLink) -> Option<FileLink> {
        let edge = |edge: &Edge| Some(Edge { from: self.symbol(edge.from)?, to: self.symbol(edge.to)?, ..*edge });
        let unproved = |row: &Unproved| Some(Unproved { from: self.symbol(row.from)?, ..*row });
        let computed = |row: &Computed| {
            let of = match row.of {
                Some(of) => Some(self.symbol(of)?),
                None => None,
            };
            Some(Computed { of, from: self.symbol(row.from)?, ..*row })
        };
        let pair = |(at, of): &(SymbolRef, SymbolRef)| Some((self.symbol(*at)?, self.symbol(*of)?));
        let used = |used: &FileUse| Some(FileUse { from: self.file(used.from)?, to: self.file(used.to)?, ..*used });
        Some(FileLink {
            edges: link.edges.iter().map(edge).collect::<Option<_>>()?,
            unproved: link.unproved.iter().map(unproved).collect::<Option<_>>()?,
            computed: link.computed.iter().map(computed).collect::<Option<_>>()?,
            uses: link.uses.iter().map(used).collect::<Option<_>>()?,
            open_classes: link.open_classes.iter().map(|at| self.symbol(*at)).collect::<Option<_>>()?,
            handed_out: link.handed_out.iter().map(|at| self.symbol(*at)).collect::<Option<_>>()?,
            stand_ins: link.stand_ins.iter().map(pair).collect::<Option<_>>()?,
            ..link
        })
    }
}
