//! Targets of assignments: bindings of names and chains, and the variables and fields that
//! they define.

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, NewSymbol};
use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::node::named_children;
use crate::lang::python::syntax::defs::visibility;
use crate::lang::python::syntax::expressions::operand;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind};
use crate::lang::python::syntax::{Walk, text};

/// What a target is given.
#[derive(Clone)]
pub struct Given<'t> {
    pub origin: Origin,
    pub value: Option<ExprId>,
    pub ty: Option<TypeId>,
    /// The written type, for signatures.
    pub type_node: Option<Node<'t>>,
    /// The statement, and the value in it, for the hashes of what it defines.
    pub statement: Option<Node<'t>>,
    pub value_node: Option<Node<'t>>,
}

impl Walk<'_> {
    /// Binds a target that comes from no assignment statement.
    pub fn bind_plain(&mut self, target: Node<'_>, origin: Origin, value: Option<ExprId>, ty: Option<TypeId>) {
        let given = Given { origin, value, ty, type_node: None, statement: None, value_node: None };
        self.bind_target(target, &given, &mut Vec::new());
    }

    /// Binds a target: a name, a chain, or a pattern of them; `steps` lead into the value.
    pub fn bind_target(&mut self, target: Node<'_>, given: &Given<'_>, steps: &mut Vec<Step>) {
        match kind(target) {
            Kind::Identifier => self.bind_name(target, given, steps),
            Kind::Attribute => self.bind_chain(target, given, steps),
            Kind::Parenthesized | Kind::AsPatternTarget => {
                if let Some(inner) = named_children(target).find(|part| !is_extra(*part)) {
                    self.deeper(|w| w.bind_target(inner, given, steps));
                }
            }
            Kind::TuplePattern
            | Kind::ListPattern
            | Kind::PatternList
            | Kind::Tuple
            | Kind::List
            | Kind::ExpressionList => {
                let parts: Vec<Node<'_>> = named_children(target).filter(|part| !is_extra(*part)).collect();
                for (at, part) in parts.into_iter().enumerate() {
                    let (step, inner) = match kind(part) {
                        Kind::ListSplat | Kind::ListSplatPattern => match part.named_child(0) {
                            Some(inner) => (StepKind::Rest, inner),
                            None => continue,
                        },
                        _ => (StepKind::Position, part),
                    };
                    steps.push(Step { kind: step, name: None, detail: at as u32 });
                    self.deeper(|w| w.bind_target(inner, given, steps));
                    steps.pop();
                }
            }
            _ => {
                self.read(target);
            }
        }
    }

    fn bind_name(&mut self, target: Node<'_>, given: &Given<'_>, steps: &[Step]) {
        let name = self.name(target);
        let scope = self.b.scope();
        let mut symbol = None;
        match self.b.facts().scope(scope).kind {
            ScopeKind::Module | ScopeKind::Class => symbol = self.variable(target, name, given),
            _ => {
                let module = (ScopeId::new(0), name);
                let is_global = self.s.functions.last().is_some_and(|f| f.globals.contains(&name));
                if is_global {
                    symbol = self.s.defined.get(&module).copied().filter(|id| self.is_variable(*id));
                }
                if is_global || matches!(given.origin, Origin::Augmented | Origin::Delete) {
                    let expr = self.b.leaf(ExprKind::Name, Some(name), 0);
                    self.refer(RefKind::Write, expr, target, target);
                }
            }
        }
        let mut binding = self.b.binding(given.origin, self.line(target), self.column(target));
        binding.name = Some(name);
        binding.value = given.value;
        binding.ty = given.ty;
        binding.symbol = symbol;
        self.b.bind(binding, steps);
    }

    fn is_variable(&self, id: SymbolId) -> bool {
        matches!(
            self.b.facts().symbol(id).kind,
            SymbolKind::Variable | SymbolKind::Field | SymbolKind::EnumMember | SymbolKind::TypeAlias
        )
    }

    /// The variable or class field that an assignment in a module or class defines, or has
    /// defined before; `None` when the name was defined as something else.
    fn variable(&mut self, target: Node<'_>, name: NameId, given: &Given<'_>) -> Option<SymbolId> {
        let scope = self.b.scope();
        let is_class = self.b.facts().scope(scope).kind == ScopeKind::Class;
        if let Some(known) = self.s.defined.get(&(scope, name)) {
            let known = *known;
            if matches!(given.origin, Origin::Augmented | Origin::Delete) {
                let expr = self.b.leaf(ExprKind::Name, Some(name), 0);
                self.refer(RefKind::Write, expr, target, target);
            }
            return self.is_variable(known).then_some(known);
        }
        if given.origin == Origin::Except {
            return None;
        }
        if matches!(given.origin, Origin::Augmented | Origin::Delete) {
            let expr = self.b.leaf(ExprKind::Name, Some(name), 0);
            self.refer(RefKind::Write, expr, target, target);
            return None;
        }
        let written = self.text(target).into_owned();
        let is_member = is_class
            && self.s.classes.last().is_some_and(|c| c.is_enum)
            && given.origin == Origin::Assign
            && given.type_node.is_none()
            && !written.starts_with('_');
        let kind = match (is_class, is_member) {
            (_, true) => SymbolKind::EnumMember,
            (true, false) => SymbolKind::Field,
            (false, false) => SymbolKind::Variable,
        };
        let signature = self.variable_signature(&written, given.type_node);
        let mut flags = SymbolFlags::default();
        if self.b.branch() != Branch::Always {
            flags |= SymbolFlags::CONDITIONAL;
        }
        if !self.s.functions.is_empty() {
            flags |= SymbolFlags::LOCAL;
        }
        let whole = given.statement.unwrap_or(target);
        let symbol = self.define(kind, target, whole, flags, &signature, None);
        self.b.symbol_mut(symbol).ty = given.ty;
        if let Some(statement) = given.statement {
            let node = statement.byte_range();
            let body = given.value_node.map_or(node.end..node.end, |value| value.byte_range());
            let of = if is_class { ExtentOf::Member(symbol) } else { ExtentOf::Symbol(symbol) };
            self.b.extent(Extent { of, doc: node.end..node.end, node, body });
        }
        Some(symbol)
    }

    fn variable_signature(&self, written: &str, ty: Option<Node<'_>>) -> String {
        match ty {
            Some(ty) => text::signature(&format!("{written}: {}", text::squeezed(ty, self.source))),
            None => written.to_owned(),
        }
    }

    /// `self.x = …`, `a.b.c = …`.
    fn bind_chain(&mut self, target: Node<'_>, given: &Given<'_>, steps: &[Step]) {
        let (Some(object), Some(attribute)) = (child(target, FIELDS.object), child(target, FIELDS.attribute)) else {
            return;
        };
        let receiver = self.receiver_class(object);
        let object = self.read(object);
        let name = self.name(attribute);
        let chain = self.b.compound(ExprKind::Attr, Some(name), &[operand(Role::Value, object)]);
        let defined = match receiver {
            Some(class) if !matches!(given.origin, Origin::Augmented | Origin::Delete) => {
                self.own_field(class, attribute, name, given)
            }
            Some(class) => Field::Known(self.s.defined.get(&(self.s.classes[class].scope, name)).copied()),
            None => Field::Known(None),
        };
        self.refer(RefKind::Write, chain, attribute, target);
        let mut binding = self.b.binding(given.origin, self.line(attribute), self.column(attribute));
        binding.target = Some(chain);
        binding.value = given.value;
        binding.ty = given.ty;
        binding.symbol = match defined {
            Field::New(id) => Some(id),
            Field::Known(known) => known.filter(|id| self.is_variable(*id)),
        };
        self.b.bind(binding, steps);
    }

    /// The class (position in `classes`) whose instance or self a name is: the first parameter
    /// of the method around, unless a nearer function has a parameter of that name.
    fn receiver_class(&self, object: Node<'_>) -> Option<usize> {
        if kind(object) != Kind::Identifier {
            return None;
        }
        let text = self.text(object);
        let n_outside = self.s.classes.last().map_or(0, |class| class.n_functions);
        for frame in self.s.functions[n_outside.min(self.s.functions.len())..].iter().rev() {
            if let Some((receiver, class)) = frame.receiver
                && self.b.facts().name(receiver) == text
            {
                return Some(class);
            }
            if frame.params.iter().any(|name| self.b.facts().name(*name) == text) {
                return None;
            }
        }
        None
    }

    fn own_field(&mut self, class: usize, attribute: Node<'_>, name: NameId, given: &Given<'_>) -> Field {
        let frame = &self.s.classes[class];
        let (owner, scope) = (frame.symbol, frame.scope);
        if let Some(known) = self.s.defined.get(&(scope, name)) {
            return Field::Known(Some(*known));
        }
        if frame.declared.contains(&name) {
            return Field::Known(None);
        }
        let written = self.text(attribute).into_owned();
        let signature = self.variable_signature(&written, given.type_node);
        let whole = given.statement.unwrap_or(attribute);
        let new = NewSymbol {
            kind: SymbolKind::Field,
            name: &written,
            prefix: "",
            segment: None,
            visibility: visibility(&written),
            flags: if self.s.classes[class].n_functions > 0 { SymbolFlags::LOCAL } else { SymbolFlags::default() },
            branch: self.b.branch(),
            signature: &signature,
            doc: None,
            ty: given.ty,
            start_line: self.line(whole),
            end_line: self.end_line(whole),
            name_line: self.line(attribute),
            name_column: self.column(attribute),
        };
        let symbol = self.b.define_under(owner, scope, new);
        self.s.defined.insert((scope, name), symbol);
        Field::New(symbol)
    }

    /// `(x := e)` binds in the nearest scope that is no comprehension's.
    pub fn bind_walrus(&mut self, target: Node<'_>, value: ExprId) {
        let mut scope = self.b.scope();
        while self.b.facts().scope(scope).kind == ScopeKind::Comprehension {
            let Some(parent) = self.b.facts().scope(scope).parent else { break };
            scope = parent;
        }
        if self.s.quiet {
            return;
        }
        let Walk { b, s, source, origin } = self;
        let (s, source, origin) = (&mut **s, *source, *origin);
        b.within_scope(scope, |b| {
            let mut inner = Walk { b, s, source, origin };
            inner.bind_plain(target, Origin::Walrus, Some(value), None);
        });
    }

    /// `__slots__ = ("a", "b")`: each entry is a field.
    pub fn slots(&mut self, value: Node<'_>) {
        let Some((owner, scope)) = self.s.classes.last().map(|class| (class.symbol, class.scope)) else { return };
        if self.b.scope() != scope {
            return;
        }
        let mut rest = vec![value];
        while let Some(at) = rest.pop() {
            match kind(at) {
                Kind::Tuple | Kind::List | Kind::Set | Kind::Parenthesized | Kind::ExpressionList => {
                    let parts: Vec<Node<'_>> = named_children(at).collect();
                    rest.extend(parts.into_iter().rev());
                }
                Kind::String => {
                    let content = text::content(at, self.source).filter(|c| text::is_identifier(c) && *c != "__dict__");
                    let Some(written) = content.map(String::from) else { continue };
                    let name = self.b.intern(&written);
                    if self.s.defined.contains_key(&(scope, name)) {
                        continue;
                    }
                    let new = NewSymbol {
                        kind: SymbolKind::Field,
                        name: &written,
                        prefix: "",
                        segment: None,
                        visibility: visibility(&written),
                        flags: SymbolFlags::FROM_PARAMETER,
                        branch: self.b.branch(),
                        signature: &written,
                        doc: None,
                        ty: None,
                        start_line: self.line(at),
                        end_line: self.end_line(at),
                        name_line: self.line(at),
                        name_column: self.column(at) + 1,
                    };
                    let symbol = self.b.define_under(owner, scope, new);
                    self.s.defined.insert((scope, name), symbol);
                }
                _ => {}
            }
        }
    }
}

/// What an attribute of the receiver is.
enum Field {
    /// Defined by this assignment.
    New(SymbolId),
    /// Defined elsewhere, or by something that is no assignment.
    Known(Option<SymbolId>),
}
