//! Linking: every reference of a view to its targets. Pure and parallel over files; each
//! file's link records the queries that it asked.

use rayon::prelude::*;

use crate::base::reads;
use crate::facts::model::{
    ExprId, ExprKind, FileFacts, NameId, RefKind, Reference, ScopeId, SymbolFlags, SymbolId, SymbolKind, TestBlockId,
};
use crate::graph::answers::Inputs;
use crate::graph::assemble::{assemble, guess_all};
use crate::graph::compiled::FileWords;
use crate::graph::confidence;
use crate::graph::edge::{Computed, Edge, EdgeKind, FileUse, Graph, Layer, Receiver, Strategy, Unproved};
use crate::graph::hashing::HashMap;
use crate::graph::memo::Memo;
use crate::graph::modules::Family;
use crate::graph::queries::{Denoted, Session, Shared};
use crate::graph::resolve::Targets;
use crate::graph::scope::{Place, Space};
use crate::graph::value::Value;
use crate::graph::{claimed, compiled, imports};
use crate::view::{FileIdx, SymbolRef, View};

/// Functions of Python's own that call nothing of their arguments but protocol methods.
const PROTOCOL_CALLS: [&str; 20] = [
    "bool",
    "callable",
    "cast",
    "delattr",
    "dir",
    "format",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "next",
    "print",
    "repr",
    "setattr",
    "str",
    "type",
];

/// A file is large that has more than this part of a thread's references.
const LARGE: usize = 32;

/// What linking one file gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileLink {
    pub edges: Vec<Edge>,
    pub unproved: Vec<Unproved>,
    /// Sorted and unique.
    pub computed: Vec<Computed>,
    pub uses: Vec<FileUse>,
    pub open_classes: Vec<SymbolRef>,
    pub handed_out: Vec<SymbolRef>,
    /// (method, member of another type that it is handed as), sorted and unique.
    pub stand_ins: Vec<(SymbolRef, SymbolRef)>,
    pub n_external: u32,
    /// Whether an import or call of it is blind.
    pub blind: bool,
}

impl FileLink {
    /// Whether it says the same of the file as a whole as another.
    pub fn is_alike(&self, other: &FileLink) -> bool {
        self.uses == other.uses
            && self.open_classes == other.open_classes
            && self.handed_out == other.handed_out
            && self.blind == other.blind
    }
}

/// Links every reference of `view` to its targets.
///
/// Edges come sorted by (from, line, to). References without a proved target stay in
/// `unproved`. Pure: equal views give equal graphs, on any number of threads. O(references)
/// queries, each answered once for all files unless it hangs on a cycle.
pub fn link(view: &View) -> Graph {
    let shared = Shared::of(view);
    let files = in_turn(view);
    let mut linked: Vec<(FileIdx, FileLink)> = claimed::each(files.len(), Memo::default, |memo, at| {
        let session = Session::with_memo(&shared, std::mem::take(memo));
        let (link, used) = link_with(session, view, files[at], None);
        *memo = used;
        (files[at], link)
    });
    linked.sort_unstable_by_key(|(file, _)| *file);
    let mut links: Vec<FileLink> = linked.into_iter().map(|(_, link)| link).collect();
    let compiled = take_words(view, &shared, &mut links);
    let uses: Vec<FileUse> = links.iter().flat_map(|link| link.uses.iter().copied()).collect();
    let guessed = guess_all(&shared, &uses, |file| &links[file.0 as usize]);
    let assemble = || Graph { compiled, ..assemble(view, links.iter(), &guessed) };
    rayon::join(|| shared.discard(), assemble).1
}

/// The files in the order in which they are linked: those that would keep a thread alone at the end
/// come first; the others as they lie, since neighbours ask for the same.
fn in_turn(view: &View) -> Vec<FileIdx> {
    let n_refs = |file: &FileIdx| view.facts(*file).refs.len();
    let all: usize = view.indices().map(|file| n_refs(&file)).sum();
    let large = all / (rayon::current_num_threads() * LARGE) + 1;
    let mut files: Vec<FileIdx> = view.indices().collect();
    files.sort_by_key(|file| std::cmp::Reverse(Some(n_refs(file)).filter(|n| *n >= large)));
    files
}

/// Links again the files for which a compiler's index is believed, by its words. Which ones those
/// are hangs on what files use, which linking them by themselves has found.
fn take_words(view: &View, shared: &Shared<'_>, links: &mut [FileLink]) -> Vec<(FileIdx, u32)> {
    if view.compilers.is_empty() {
        return Vec::new();
    }
    let uses: Vec<FileUse> = links.iter().flat_map(|link| link.uses.iter().copied()).collect();
    let believed = compiled::believed(view, &uses);
    let words = compiled::words(view, &believed);
    let again: Vec<(FileIdx, FileLink)> = believed
        .par_iter()
        .filter_map(|(file, _)| Some((*file, link_with(Session::new(shared), view, *file, Some(words.get(file)?)).0)))
        .collect();
    for (file, link) in again {
        links[file.0 as usize] = link;
    }
    believed
}

/// Links one file, and says what its link was computed from beside the file itself; `shared`
/// tracks its answers.
pub fn link_tracked<'v>(view: &'v View, shared: &Shared<'v>, file: FileIdx) -> (FileLink, Inputs) {
    let session = Session::new(shared);
    let ((link, mut inputs), mut reads) = reads::listen(file.0, || {
        let mut linker = Linker::new(session, view, file, None);
        linker.run();
        (linker.link, linker.session.take_inputs())
    });
    inputs.reads.append(&mut reads);
    (link, inputs.settle())
}

/// Links one file, by a compiler's words on its references where there are any. Asks queries
/// about other files, and links none of them.
fn link_with<'s, 'v>(
    session: Session<'s, 'v>,
    view: &'v View,
    file: FileIdx,
    words: Option<&'s FileWords>,
) -> (FileLink, Memo) {
    let mut linker = Linker::new(session, view, file, words);
    linker.run();
    (linker.link, linker.session.into_memo())
}

/// The link of one file as it grows.
pub struct Linker<'s, 'v> {
    pub session: Session<'s, 'v>,
    pub view: &'v View,
    pub file: FileIdx,
    pub link: FileLink,
    /// What a compiler says of its references.
    pub words: Option<&'s FileWords>,
    /// Whether lines tell references apart; else a chain over several lines is evaluated once.
    tells_lines: bool,
}

/// Where an edge comes from.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub from: SymbolRef,
    pub line: u32,
    pub test_block: Option<TestBlockId>,
    /// Whether it stands elsewhere than at the name by which `from` is declared: then it may lead
    /// back to `from` (a type that mentions itself).
    pub inside: bool,
}

impl<'s, 'v> Linker<'s, 'v> {
    /// Starts the link of a file.
    pub fn new(session: Session<'s, 'v>, view: &'v View, file: FileIdx, words: Option<&'s FileWords>) -> Self {
        let tells_lines = session.shared.names.file(file).tells_lines(view.facts(file));
        // About every second reference leads somewhere.
        let edges = Vec::with_capacity(view.facts(file).refs.len() / 2);
        Linker { session, view, file, link: FileLink { edges, ..FileLink::default() }, words, tells_lines }
    }
}

impl Linker<'_, '_> {
    /// Links the whole file.
    fn run(&mut self) {
        self.imports();
        self.references();
        self.computed_reads();
        self.destructured();
        self.declarations();
        self.flows();
        self.twins();
        let file = self.file;
        let used = self.link.edges.iter().map(|edge| edge.to.file).filter(|to| *to != file);
        self.link.uses.extend(used.map(|to| FileUse { from: file, to, type_only: false }));
        self.link.uses.extend(imports::conftest_uses(self.session.shared, self.view, file));
        // Sorted here, in parallel, they are sorted as a whole: files come in order. Mostly two differ
        // by where they begin.
        let begins = |edge: &Edge| (edge.from, edge.line);
        self.link.edges.sort_unstable_by(|a, b| begins(a).cmp(&begins(b)).then_with(|| a.cmp(b)));
        self.link.edges.dedup();
        self.link.computed.sort_unstable();
        self.link.computed.dedup();
        // `false` (run time) sorts before `true`: a run-time use wins over a type-only one.
        self.link.uses.sort_unstable();
        self.link.uses.dedup_by_key(|used| (used.from, used.to));
    }

    /// The facts of the file.
    pub fn facts(&self) -> &FileFacts {
        self.view.facts(self.file)
    }

    fn references(&mut self) {
        self.each_reference(|_, _, _| {});
    }

    /// Links every reference, and shows each with what is linked after it.
    pub fn each_reference(&mut self, mut seen: impl FnMut(usize, &Reference, &mut FileLink)) {
        let view = self.view;
        let facts = view.facts(self.file);
        // A decorator is applied by the definition under it, wherever its code runs.
        let decorated: HashMap<ExprId, SymbolId> = facts.decorators.iter().map(|d| (d.expr, d.owner)).collect();
        for (row, reference) in facts.refs.iter().enumerate() {
            self.session.refuel();
            let owner = match decorated.get(&reference.expr) {
                Some(owner) => *owner,
                None => self.named_owner(reference.owner),
            };
            let site = Site {
                from: SymbolRef { file: self.file, symbol: owner },
                line: reference.line,
                test_block: facts.scope(reference.scope).test_block,
                inside: {
                    let declared = facts.symbol(owner);
                    (declared.name_line, declared.name_column) != (reference.line, reference.column)
                },
            };
            let n_before = self.link.edges.len();
            self.by_word_or_facts(reference, site);
            self.run_around(reference, site, n_before);
            seen(row, reference, &mut self.link);
        }
    }

    /// Python evaluates a parameter's default where the function is defined, when that code runs:
    /// calls in it are calls of the code around as well.
    fn run_around(&mut self, reference: &Reference, site: Site, n_before: usize) {
        let facts = self.facts();
        if reference.kind != RefKind::Call || Family::of(facts.dialect) != Family::Python {
            return;
        }
        let around = facts.scope(reference.scope).owner;
        let is_default = around != site.from.symbol
            && facts.symbol(site.from.symbol).kind.is_function()
            && facts.symbol(site.from.symbol).declared_in == reference.scope;
        if is_default {
            let from = SymbolRef { file: self.file, symbol: around };
            let calls: Vec<Edge> = self.link.edges[n_before..].to_vec();
            self.link.edges.extend(calls.into_iter().map(|edge| Edge { from, ..edge }));
        }
    }

    /// What has a name of an owner of code: the type, for its call, construct and index signatures.
    fn named_owner(&self, owner: SymbolId) -> SymbolId {
        let symbol = self.facts().symbol(owner);
        match (symbol.kind, symbol.parent) {
            (SymbolKind::Signature, Some(parent)) => parent,
            _ => owner,
        }
    }

    /// Links a reference by the facts.
    pub fn reference(&mut self, reference: &Reference, site: Site) {
        let line = if self.tells_lines { reference.line } else { 1 };
        let place = Place { file: self.file, scope: reference.scope, line };
        match reference.kind {
            RefKind::Call | RefKind::New | RefKind::Super | RefKind::Decorator => {
                let targets = self.session.resolve_call(reference, place);
                // An annotation of Java is a type that is mentioned; nothing of it runs.
                let mentions = reference.kind == RefKind::Decorator && Family::of(self.facts().dialect) == Family::Java;
                if mentions || targets.held {
                    self.push(&targets, EdgeKind::References, site);
                } else {
                    self.calls(&targets, site);
                }
                if targets.missing == Some(Receiver::External) {
                    self.hand_out(reference.expr, place);
                }
                self.computed_call(reference.expr, site, place);
                self.keep_unproved(reference, &targets, site);
            }
            RefKind::Extends | RefKind::Implements => {
                let targets = self.session.resolve(reference.expr, place, Space::Type);
                self.push(&targets, EdgeKind::Extends, site);
                self.keep_unproved(reference, &targets, site);
            }
            RefKind::Type => {
                let targets = self.session.resolve(reference.expr, place, Space::Type);
                self.push(&targets, EdgeKind::References, site);
                self.keep_unproved(reference, &targets, site);
            }
            RefKind::Jsx => {
                let targets = match self.session.intrinsic_element(reference.expr, place) {
                    Some(targets) => targets,
                    None => self.session.resolve(reference.expr, place, Space::Value),
                };
                self.push(&targets, EdgeKind::References, site);
                self.keep_unproved(reference, &targets, site);
            }
            RefKind::Read | RefKind::Write | RefKind::Callback => {
                let mut targets = self.session.resolve(reference.expr, place, Space::Value);
                if reference.kind == RefKind::Write {
                    // The write that defines a field is no reference to it.
                    targets.symbols.retain(|to| {
                        let symbol = self.view.symbol(*to);
                        if *to == site.from {
                            return false;
                        }
                        to.file != self.file
                            || ((symbol.name_line, symbol.name_column) != (reference.line, reference.column)
                                && !self.fills_slot(*to, reference.line))
                    });
                }
                self.push(&targets, EdgeKind::References, site);
                self.keep_unproved(reference, &targets, site);
                self.computed_dictionary(reference, site, place);
            }
            RefKind::StringPath => {
                let n_before = self.link.edges.len();
                for denoted in self.session.resolve_string(reference.expr, place) {
                    let to = match denoted {
                        Denoted::Symbol(at) => at,
                        Denoted::Module(file) => self.session.module_symbol(file),
                        _ => continue,
                    };
                    self.edge(site, to, EdgeKind::References, Layer::Proved, Strategy::StringPath);
                }
                for to in self.session.named_by_string(reference.expr, place) {
                    self.edge(site, to, EdgeKind::References, Layer::Proved, Strategy::StringPath);
                }
                if self.link.edges.len() == n_before {
                    self.computed_string(reference, site);
                }
            }
        }
    }

    /// Whether a line is the first assignment of a field that `__slots__` names.
    fn fills_slot(&self, field: SymbolRef, line: u32) -> bool {
        let facts = self.view.facts(field.file);
        let is_slot = Family::of(facts.dialect) == Family::Python
            && facts.symbol(field.symbol).flags.has(SymbolFlags::FROM_PARAMETER);
        let mut rows = self.session.shared.names.file(field.file).bindings_of(field.symbol);
        is_slot && rows.next().is_some_and(|row| facts.bindings[row as usize].line == line)
    }

    /// Adds call edges: a class is called by its own constructor where it has one.
    pub fn calls(&mut self, targets: &Targets, site: Site) {
        if !targets.symbols.iter().any(|at| self.view.symbol(*at).kind.is_class()) {
            return self.push(targets, EdgeKind::Calls, site);
        }
        let mut called = targets.clone();
        called.symbols.clear();
        for at in &targets.symbols {
            let kind = self.view.symbol(*at).kind;
            // A record as such stands for its canonical constructor.
            if !kind.is_class() || kind == SymbolKind::Record {
                called.symbols.push(*at);
                continue;
            }
            // Of a class that inherits its constructor the class is what is named.
            let mut own = self.session.constructors(*at);
            own.retain(|c| c.file == at.file && self.view.symbol(*c).parent == Some(at.symbol));
            if own.is_empty() {
                called.symbols.push(*at);
            }
            called.symbols.extend(own);
        }
        self.push(&called, EdgeKind::Calls, site);
    }

    /// Adds an edge to each target.
    pub fn push(&mut self, targets: &Targets, kind: EdgeKind, site: Site) {
        let several = targets.ambiguous && targets.symbols.len() > 1;
        let layer = if several { Layer::Candidate } else { Layer::Proved };
        for to in &targets.symbols {
            self.edge(site, *to, kind, layer, targets.strategy);
        }
    }

    /// Adds an edge. Calls and references lead back to their owner where they stand inside of it;
    /// its own declaration is no reference to it.
    pub fn edge(&mut self, site: Site, to: SymbolRef, kind: EdgeKind, layer: Layer, strategy: Strategy) {
        let by_declaration = kind != EdgeKind::References || !site.inside;
        if site.from == to && kind != EdgeKind::Calls && by_declaration {
            return;
        }
        self.link.edges.push(Edge {
            from: site.from,
            line: site.line,
            to,
            kind,
            layer,
            strategy,
            confidence: confidence::of(strategy, kind),
            test_block: site.test_block,
        });
    }

    /// Notes the classes whose instances a call gives to outside code.
    fn hand_out(&mut self, call: ExprId, place: Place) {
        let view = self.view;
        let facts = view.facts(self.file);
        let is_call = matches!(facts.expr(call).kind, ExprKind::Call | ExprKind::New);
        let callee = facts.operand(call, 0).map_or("", |callee| facts.text(facts.expr(callee).name));
        if !is_call || PROTOCOL_CALLS.contains(&callee) || Family::of(facts.dialect) == Family::Java {
            return;
        }
        for operand in facts.operands_of(call).iter().skip(1) {
            for value in self.session.eval(operand.expr, place).values() {
                if let Value::Instance(class, _) = value {
                    self.link.handed_out.push(*class);
                }
            }
        }
    }

    fn keep_unproved(&mut self, reference: &Reference, targets: &Targets, site: Site) {
        let Some(receiver) = targets.missing else { return };
        if receiver == Receiver::External {
            self.link.n_external += 1;
            return;
        }
        let Some(name) = self.last_name(reference.expr) else { return };
        let is_call = matches!(reference.kind, RefKind::Call | RefKind::New | RefKind::Super | RefKind::Decorator);
        let arity = if is_call { self.arity(reference.expr) } else { None };
        self.ask_hook_of(reference, name, site);
        self.link.unproved.push(Unproved {
            from: site.from,
            line: site.line,
            name,
            kind: reference.kind,
            receiver,
            arity,
            test_block: site.test_block,
        });
    }

    /// The last name of a chain, or of a call's callee.
    fn last_name(&self, expr: ExprId) -> Option<NameId> {
        let facts = self.facts();
        let row = facts.expr(expr);
        match row.kind {
            ExprKind::Call | ExprKind::New => {
                let callee = facts.operand(expr, 0)?;
                facts.expr(callee).name
            }
            ExprKind::Name | ExprKind::Attr | ExprKind::MethodRef => row.name,
            _ => None,
        }
    }

    fn arity(&self, expr: ExprId) -> Option<u32> {
        use crate::facts::model::Role;
        let facts = self.facts();
        if !matches!(facts.expr(expr).kind, ExprKind::Call | ExprKind::New) {
            return None;
        }
        let operands = facts.operands_of(expr);
        let spread = operands.iter().any(|o| matches!(o.role, Role::Spread | Role::KeywordSpread));
        (!spread).then(|| operands.iter().skip(1).filter(|o| o.role != Role::TypeArgument).count() as u32)
    }

    /// The owner of a scope as an edge's source.
    pub fn site_of_scope(&self, scope: ScopeId, line: u32) -> Site {
        let row = self.facts().scope(scope);
        let from = SymbolRef { file: self.file, symbol: row.owner };
        Site { from, line, test_block: row.test_block, inside: false }
    }
}
