//! What a file's link asked for, in a form that outlives the view: queries and answers with paths
//! in the place of indices, and the files whose facts it may have looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::id::Digest;
use crate::facts::table::Id;
use crate::graph::names::Names;
use crate::graph::queries::{Answer, Base, Denoted, Query};
use crate::graph::value::{Set, Value};
use crate::view::{FileIdx, SymbolRef};

/// A query that a file's link asked outside of any other.
#[derive(Clone, Debug)]
pub struct Asked {
    pub query: Query,
    /// The text of an exported name, which another view may number otherwise.
    pub text: Option<Arc<str>>,
    /// The digest of its answer.
    pub answer: Digest,
}

/// The record of one file's link.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Sorted by query.
    pub asked: Vec<Asked>,
    /// The files that those queries and answers mention. Code outside of queries can
    /// look only at these, as it has their indices from nowhere else.
    pub files: BTreeSet<FileIdx>,
}

impl Record {
    /// The record of queries with their answers.
    pub fn new(names: &Names<'_>, asked: &BTreeMap<Query, Answer>) -> Self {
        let mut record = Record::default();
        for (query, answer) in asked {
            let mut writer = Writer { names, files: &mut record.files, bytes: Vec::new() };
            writer.query(query);
            writer.bytes.clear();
            writer.answer(answer);
            let answer = Digest::of(&writer.bytes);
            let text = match query {
                Query::Export(_, text) | Query::Global(_, text) => Some(Arc::from(names.str(*text))),
                _ => None,
            };
            record.asked.push(Asked { query: *query, text, answer });
        }
        record
    }

    /// The digest of one answer: equal in two views exactly when the answers say the same.
    pub fn digest(names: &Names<'_>, answer: &Answer) -> Digest {
        let mut files = BTreeSet::new();
        let mut writer = Writer { names, files: &mut files, bytes: Vec::new() };
        writer.answer(answer);
        Digest::of(&writer.bytes)
    }
}

/// Writes answers down: each variant its own tag, each text with its length.
struct Writer<'n, 'v> {
    names: &'n Names<'v>,
    files: &'n mut BTreeSet<FileIdx>,
    bytes: Vec<u8>,
}

impl Writer<'_, '_> {
    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn file(&mut self, file: FileIdx) {
        self.files.insert(file);
        let view = self.names.view;
        self.text(view.file(file).path.as_str());
    }

    fn symbol(&mut self, at: SymbolRef) {
        self.file(at.file);
        self.number(at.symbol.index());
    }

    fn query(&mut self, query: &Query) {
        match query {
            Query::Export(file, _)
            | Query::Global(file, _)
            | Query::Import(file, _)
            | Query::Binding(file, _)
            | Query::Param(file, _)
            | Query::Lambda(file, _) => self.file(*file),
            Query::Symbol(at)
            | Query::Returns(at)
            | Query::Alias(at)
            | Query::Bases(at)
            | Query::Mro(at)
            | Query::This(at) => self.symbol(*at),
        }
    }

    fn answer(&mut self, answer: &Answer) {
        match answer {
            Answer::Values(set) => {
                self.tag(0);
                self.set(set);
            }
            Answer::Denoted(denoted) => {
                self.tag(1);
                self.number(denoted.len());
                denoted.iter().for_each(|d| self.denoted(d));
            }
            Answer::Bases(bases) => {
                self.tag(2);
                self.number(bases.len());
                bases.iter().for_each(|base| self.base(base));
            }
        }
    }

    fn sets(&mut self, sets: &[Set]) {
        self.number(sets.len());
        sets.iter().for_each(|set| self.set(set));
    }

    fn set(&mut self, set: &Set) {
        self.tag(u8::from(set.open));
        self.number(set.values().len());
        set.values().iter().for_each(|value| self.value(value));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(0),
            Value::Module(file) => {
                self.tag(1);
                self.file(*file);
            }
            Value::Namespace(name) => {
                self.tag(2);
                self.text(name);
            }
            Value::Class(at) => {
                self.tag(3);
                self.symbol(*at);
            }
            Value::Instance(at, args) => {
                self.tag(4);
                self.symbol(*at);
                self.sets(args);
            }
            Value::Anonymous(file, scope) => {
                self.tag(5);
                self.file(*file);
                self.number(scope.index());
            }
            Value::Function(at) => {
                self.tag(6);
                self.symbol(*at);
            }
            Value::Bound(at, receiver) => {
                self.tag(7);
                self.symbol(*at);
                self.value(receiver);
            }
            Value::Lambda(file, expr) => {
                self.tag(8);
                self.file(*file);
                self.number(expr.index());
            }
            Value::Object(file, expr) => {
                self.tag(9);
                self.file(*file);
                self.number(expr.index());
            }
            Value::Shape(file, ty, owner, args) => {
                self.tag(10);
                self.file(*file);
                self.number(ty.index());
                self.number(owner.index());
                self.sets(args);
            }
            Value::TypeParam(at, position) => {
                self.tag(11);
                self.symbol(*at);
                self.number(*position as usize);
            }
            Value::Super(at) => {
                self.tag(12);
                self.symbol(*at);
            }
            Value::Symbol(at) => {
                self.tag(13);
                self.symbol(*at);
            }
            Value::External(name) => {
                self.tag(14);
                self.text(name);
            }
            Value::ExternalInstance(name, args) => {
                self.tag(15);
                self.text(name);
                self.sets(args);
            }
        }
    }

    fn denoted(&mut self, denoted: &Denoted) {
        match denoted {
            Denoted::Symbol(at) => {
                self.tag(0);
                self.symbol(*at);
            }
            Denoted::Module(file) => {
                self.tag(1);
                self.file(*file);
            }
            Denoted::Namespace(name) => {
                self.tag(2);
                self.text(name);
            }
            Denoted::External(name) => {
                self.tag(3);
                self.text(name);
            }
            Denoted::Binding(file, row) => {
                self.tag(4);
                self.file(*file);
                self.number(*row as usize);
            }
            Denoted::Export(file, row) => {
                self.tag(5);
                self.file(*file);
                self.number(*row as usize);
            }
            Denoted::Param(file, row) => {
                self.tag(6);
                self.file(*file);
                self.number(*row as usize);
            }
            Denoted::TypeParam(at, position) => {
                self.tag(7);
                self.symbol(*at);
                self.number(*position as usize);
            }
        }
    }

    fn base(&mut self, base: &Base) {
        match base {
            Base::Class(at, args) => {
                self.tag(0);
                self.symbol(*at);
                self.sets(args);
            }
            Base::External(name, args) => {
                self.tag(1);
                self.text(name);
                self.sets(args);
            }
            Base::Unknown => self.tag(2),
        }
    }
}
