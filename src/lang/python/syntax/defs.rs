//! Definitions: functions and classes with decorators, parameters, type parameters, bases, docs.

use std::ops::Range;

use tree_sitter::Node;

use crate::facts::build::{Extent, ExtentOf, NewSymbol};
use crate::facts::model::*;
use crate::lang::node::{children, named_children};
use crate::lang::python::syntax::expressions::Use;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind, type_child};
use crate::lang::python::syntax::{ClassFrame, FunctionFrame, Walk, text};

/// A parameter before its scope is open.
pub struct NewParam {
    name: Option<NameId>,
    kind: ParamKind,
    ty: Option<TypeId>,
    default: Option<ExprId>,
    line: u32,
    column: u32,
}

/// The docstring of a body: the bytes of its statement and its first line.
struct Doc {
    range: Range<usize>,
    line: String,
    /// Whether doctest finds an example in it.
    has_examples: bool,
}

impl Walk<'_> {
    /// Reads the whole file.
    pub fn module(&mut self, root: Node<'_>) {
        if let Some(doc) = self.doc(root) {
            if doc.has_examples {
                self.b.module_flags(SymbolFlags::DOCTEST);
            }
            self.b.module_doc(doc.range, &doc.line);
        }
        self.block(root);
    }

    /// The docstring of a block or module, when its first statement is one.
    fn doc(&self, block: Node<'_>) -> Option<Doc> {
        let statement = named_children(block).find(|part| !is_extra(*part))?;
        if kind(statement) != Kind::ExpressionStatement || statement.named_child_count() != 1 {
            return None;
        }
        let mut string = statement.named_child(0)?;
        if kind(string) == Kind::ConcatenatedString {
            string = string.named_child(0)?;
        }
        if kind(string) != Kind::String {
            return None;
        }
        let content = text::content(string, self.source)?;
        // An example starts a line: <https://docs.python.org/3/library/doctest.html#how-are-docstring-examples-recognized>.
        let has_examples = content.lines().any(|line| line.trim_start().starts_with(">>> "));
        Some(Doc { range: statement.byte_range(), line: text::doc_line(content), has_examples })
    }

    /// Reads a decorated definition.
    pub fn decorated(&mut self, node: Node<'_>) {
        let decorators: Vec<Node<'_>> = named_children(node).filter(|part| kind(*part) == Kind::Decorator).collect();
        let Some(definition) = child(node, FIELDS.definition) else {
            for decorator in decorators {
                if let Some(expr) = named_children(decorator).find(|part| !is_extra(*part)) {
                    self.read(expr);
                }
            }
            return;
        };
        self.definition(definition, node, &decorators);
    }

    /// Reads a function or class; `whole` is the node with its decorators.
    pub fn definition(&mut self, node: Node<'_>, whole: Node<'_>, decorators: &[Node<'_>]) {
        self.deeper(|w| match kind(node) {
            Kind::Function => w.function(node, whole, decorators),
            Kind::Class => w.class(node, whole, decorators),
            _ => {}
        });
    }

    fn function(&mut self, node: Node<'_>, whole: Node<'_>, decorators: &[Node<'_>]) {
        let Some(name_node) = child(node, FIELDS.name).filter(|n| !n.is_missing()) else {
            return self.rest_of(node);
        };
        let name = self.text(name_node).into_owned();
        let body = child(node, FIELDS.body);
        let doc = body.and_then(|body| self.doc(body));
        let is_async = children(node).take(1).any(|token| token.kind() == "async");
        let scope_kind = self.b.facts().scope(self.b.scope()).kind;
        let in_class = scope_kind == ScopeKind::Class;
        let mut flags = self.place_flags();
        if is_async {
            flags |= SymbolFlags::ASYNC;
        }
        if doc.as_ref().is_some_and(|doc| doc.has_examples) {
            flags |= SymbolFlags::DOCTEST;
        }
        let signature = self.function_signature(node, &name, is_async);
        let kind = if in_class { SymbolKind::Method } else { SymbolKind::Function };
        let symbol = self.define(kind, name_node, whole, flags, &signature, doc.as_ref().map(|d| d.line.as_str()));
        self.extent_of(symbol, whole, body, doc);
        let params = self.on_behalf(Some(symbol), |w| {
            w.decorators(symbol, decorators);
            w.type_parameters(symbol, child(node, FIELDS.type_parameters));
            let mut params = child(node, FIELDS.parameters).map(|params| w.collect_params(params)).unwrap_or_default();
            let mut ty = child(node, FIELDS.return_type).map(|ty| w.ty(ty));
            if ty.is_none() && w.s.has_type_comments {
                ty = w.signature_comment(node, body, &mut params, in_class);
            }
            w.b.symbol_mut(symbol).ty = ty;
            params
        });
        let is_static = decorators.iter().any(|d| {
            let inner = named_children(*d).find(|part| !is_extra(*part));
            inner.is_some_and(|inner| self.text(inner) == "staticmethod")
        });
        let (start, end) = (self.line(node), self.end_line(node));
        let scope = self.b.open_scope(ScopeKind::Function, Some(symbol), start, end);
        let receiver = match params.first() {
            Some(NewParam { name: Some(first), kind: ParamKind::Positional | ParamKind::PositionalOnly, .. })
                if in_class && (!is_static || name == "__new__") =>
            {
                Some((*first, self.s.classes.len().saturating_sub(1)))
            }
            _ => None,
        };
        let names: Vec<NameId> = params.iter().skip(usize::from(receiver.is_some())).filter_map(|p| p.name).collect();
        self.add_params(scope, params);
        self.s.functions.push(FunctionFrame { scope, symbol, receiver, params: names, globals: Vec::new() });
        if let Some(body) = body {
            self.body(body);
        }
        self.s.functions.pop();
        self.b.close_scope();
    }

    fn class(&mut self, node: Node<'_>, whole: Node<'_>, decorators: &[Node<'_>]) {
        let Some(name_node) = child(node, FIELDS.name).filter(|n| !n.is_missing()) else {
            return self.rest_of(node);
        };
        let body = child(node, FIELDS.body);
        let doc = body.and_then(|body| self.doc(body));
        let bases = child(node, FIELDS.superclasses);
        let mut signature = format!("class {}", self.text(name_node));
        if let Some(params) = child(node, FIELDS.type_parameters) {
            signature.push_str(&text::squeezed(params, self.source));
        }
        if let Some(bases) = bases.filter(|bases| bases.named_child_count() > 0) {
            signature.push_str(&text::squeezed(bases, self.source));
        }
        let mut flags = self.place_flags();
        if doc.as_ref().is_some_and(|doc| doc.has_examples) {
            flags |= SymbolFlags::DOCTEST;
        }
        let doc_line = doc.as_ref().map(|d| d.line.as_str());
        let symbol = self.define(SymbolKind::Class, name_node, whole, flags, &text::signature(&signature), doc_line);
        self.extent_of(symbol, whole, body, doc);
        let is_enum = self.on_behalf(Some(symbol), |w| {
            w.decorators(symbol, decorators);
            w.type_parameters(symbol, child(node, FIELDS.type_parameters));
            bases.is_some_and(|bases| w.bases(symbol, bases))
        });
        if is_enum {
            self.b.symbol_mut(symbol).kind = SymbolKind::Enum;
        }
        let (start, end) = (self.line(node), self.end_line(node));
        let scope = self.b.open_scope(ScopeKind::Class, Some(symbol), start, end);
        let declared = body.map(|body| self.declared_names(body)).unwrap_or_default();
        let n_functions = self.s.functions.len();
        self.s.classes.push(ClassFrame { symbol, scope, declared, is_enum, n_functions });
        if let Some(body) = body {
            self.body(body);
        }
        self.s.classes.pop();
        self.b.close_scope();
    }

    /// Reads the body of a definition: nothing of what surrounds it applies inside.
    fn body(&mut self, body: Node<'_>) {
        let outer = self.b.set_branch(Branch::Always);
        self.on_behalf(None, |w| w.block(body));
        self.b.set_branch(outer);
    }

    /// Reads what a definition without a name holds.
    fn rest_of(&mut self, node: Node<'_>) {
        if let Some(body) = child(node, FIELDS.body) {
            self.block(body);
        }
    }

    fn place_flags(&self) -> SymbolFlags {
        let mut flags = SymbolFlags::default();
        if !self.s.functions.is_empty() {
            flags |= SymbolFlags::LOCAL;
        }
        if self.b.branch() != Branch::Always {
            flags |= SymbolFlags::CONDITIONAL;
        }
        flags
    }

    /// Defines a symbol named by `name_node` in the open scope.
    pub fn define(
        &mut self,
        kind: SymbolKind,
        name_node: Node<'_>,
        whole: Node<'_>,
        flags: SymbolFlags,
        signature: &str,
        doc: Option<&str>,
    ) -> SymbolId {
        let name = self.text(name_node).into_owned();
        let scope = self.b.scope();
        let id = self.b.intern(&name);
        let new = NewSymbol {
            kind,
            name: &name,
            prefix: "",
            segment: None,
            visibility: visibility(&name),
            flags,
            branch: self.b.branch(),
            signature,
            doc,
            ty: None,
            start_line: self.line(whole),
            end_line: self.end_line(whole),
            name_line: self.line(name_node),
            name_column: self.column(name_node),
        };
        let symbol = self.b.define(new);
        self.s.defined.entry((scope, id)).or_insert(symbol);
        symbol
    }

    fn extent_of(&mut self, symbol: SymbolId, whole: Node<'_>, body: Option<Node<'_>>, doc: Option<Doc>) {
        let node = whole.byte_range();
        let body = body.map_or(node.end..node.end, |body| body.byte_range());
        let doc = doc.map_or(node.end..node.end, |doc| doc.range);
        self.b.extent(Extent { of: ExtentOf::Symbol(symbol), node, body, doc });
    }

    fn decorators(&mut self, owner: SymbolId, decorators: &[Node<'_>]) {
        for node in decorators {
            if let Some(inner) = named_children(*node).find(|part| !is_extra(*part)) {
                let expr = self.expr(inner, Use::Decorator);
                let line = self.line(*node);
                self.b.decorator(Decorator { owner, param: ParamPosition(None), expr, line });
            }
        }
    }

    fn type_parameters(&mut self, owner: SymbolId, list: Option<Node<'_>>) {
        let Some(list) = list else { return };
        for node in named_children(list) {
            self.type_parameter(owner, node);
        }
    }

    /// One of `[T, U: Bound, *Ts, **P]`.
    pub fn type_parameter(&mut self, owner: SymbolId, node: Node<'_>) {
        let mut inner = node;
        while let (Kind::Type, Some(next)) = (kind(inner), inner.named_child(0)) {
            inner = next;
        }
        let parts: Vec<Node<'_>> = named_children(inner).filter(|part| !is_extra(*part)).collect();
        let (name_node, bound) = match (kind(inner), &parts[..]) {
            (Kind::ConstrainedType, [name, bound]) => (*name, Some(*bound)),
            (Kind::SplatType | Kind::ListSplat, [name]) => (*name, None),
            _ => (inner, None),
        };
        let bound = bound.map(|bound| self.ty(bound));
        let name = self.name(name_node);
        self.b.type_param(TypeParam { owner, name, bound, default: None });
    }

    /// Reads the bases of a class; says whether one of them makes it an enum.
    fn bases(&mut self, owner: SymbolId, list: Node<'_>) -> bool {
        let mut is_enum = false;
        for node in named_children(list) {
            if is_extra(node) {
                continue;
            }
            let (line, column) = (self.line(node), self.column(node));
            let (kind, ty) = match kind(node) {
                Kind::KeywordArgument => {
                    let (Some(name), Some(value)) = (child(node, FIELDS.name), child(node, FIELDS.value)) else {
                        continue;
                    };
                    let is_metaclass = self.text(name) == "metaclass";
                    let name = self.name(name);
                    match is_metaclass {
                        true => (HeritageKind::Metaclass, self.base(value, Use::Read)),
                        false => {
                            let expr = self.read(value);
                            (HeritageKind::KeywordBase, self.typeof_expr(expr, Some(name)))
                        }
                    }
                }
                Kind::ListSplat | Kind::DictSplat => {
                    let spread = self.element(node, Use::Read);
                    (HeritageKind::Extends, self.typeof_expr(spread.expr, None))
                }
                _ => {
                    if let Some(last) = self.last_name(node) {
                        let last = self.text(last);
                        is_enum |= last.ends_with("Enum") || last == "Flag" || last == "IntFlag";
                    }
                    (HeritageKind::Extends, self.base(node, Use::Extends))
                }
            };
            self.b.heritage(Heritage { owner, kind, ty, line, column });
        }
        is_enum
    }

    /// The type of a base: a chain, a chain with arguments, or whatever an expression gives.
    fn base(&mut self, node: Node<'_>, usage: Use) -> TypeId {
        match kind(node) {
            Kind::Identifier | Kind::Attribute => {
                let expr = self.expr(node, usage);
                self.named(expr, &[])
            }
            Kind::Subscript => {
                let mut parts = named_children(node).filter(|part| !is_extra(*part));
                let Some(base) = parts.next() else {
                    let expr = self.opaque(&[]);
                    return self.typeof_expr(expr, None);
                };
                let arguments: Vec<Node<'_>> = parts.collect();
                let expr = self.expr(base, usage);
                let mut operands = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    operands.push(TypeOperand { role: TypeRole::Argument, name: None, ty: self.ty(argument) });
                }
                self.named(expr, &operands)
            }
            _ => {
                let expr = self.expr(node, usage);
                self.typeof_expr(expr, None)
            }
        }
    }

    /// Names of the methods and plain assignments of a class body.
    fn declared_names(&mut self, body: Node<'_>) -> Vec<NameId> {
        let mut names = Vec::new();
        for statement in named_children(body) {
            let definition = match kind(statement) {
                Kind::Decorated => child(statement, FIELDS.definition),
                Kind::Function | Kind::Class => Some(statement),
                Kind::ExpressionStatement => {
                    let assignment = statement.named_child(0).filter(|a| kind(*a) == Kind::Assignment);
                    if let Some(left) = assignment.and_then(|a| child(a, FIELDS.left))
                        && kind(left) == Kind::Identifier
                    {
                        names.push(self.name(left));
                    }
                    None
                }
                _ => None,
            };
            if let Some(name) = definition.and_then(|d| child(d, FIELDS.name)) {
                names.push(self.name(name));
            }
        }
        names
    }

    /// Reads parameters in the scope around their function: names, types, defaults.
    pub fn collect_params(&mut self, list: Node<'_>) -> Vec<NewParam> {
        let mut params: Vec<NewParam> = Vec::with_capacity(list.named_child_count());
        let mut after_star = false;
        for node in named_children(list) {
            let mut name_node = node;
            let mut ty = None;
            let mut default = None;
            match kind(node) {
                Kind::KeywordSeparator => {
                    after_star = true;
                    continue;
                }
                Kind::PositionalSeparator => {
                    for param in &mut params {
                        param.kind = ParamKind::PositionalOnly;
                    }
                    continue;
                }
                Kind::Comment | Kind::LineContinuation | Kind::Error => continue,
                Kind::TypedParameter => {
                    let Some(inner) = named_children(node).find(|part| !is_extra(*part)) else { continue };
                    name_node = inner;
                    ty = type_child(node).map(|ty| self.ty(ty));
                }
                Kind::DefaultParameter | Kind::TypedDefaultParameter => {
                    let Some(inner) = child(node, FIELDS.name) else { continue };
                    name_node = inner;
                    ty = type_child(node).map(|ty| self.ty(ty));
                    default = child(node, FIELDS.value).map(|value| self.read(value));
                }
                _ => {}
            }
            let param_kind = match kind(name_node) {
                Kind::ListSplatPattern => {
                    after_star = true;
                    ParamKind::Rest
                }
                Kind::DictSplatPattern => ParamKind::KeywordRest,
                _ if after_star => ParamKind::Keyword,
                _ => ParamKind::Positional,
            };
            if matches!(param_kind, ParamKind::Rest | ParamKind::KeywordRest) {
                let Some(inner) = name_node.named_child(0) else { continue };
                name_node = inner;
            }
            if ty.is_none() {
                ty = self.type_comment_after(node);
            }
            let name = (kind(name_node) == Kind::Identifier).then(|| self.name(name_node));
            let (line, column) = (self.line(name_node), self.column(name_node));
            params.push(NewParam { name, kind: param_kind, ty, default, line, column });
        }
        params
    }

    /// Adds collected parameters to the scope of their function.
    pub fn add_params(&mut self, scope: ScopeId, params: Vec<NewParam>) {
        for NewParam { name, kind, ty, default, line, column } in params {
            let optional = default.is_some();
            self.b.param(Param { scope, name, kind, ty, default, optional, line, column });
        }
    }

    /// `# type: (int, str) -> bool` below a function's header.
    fn signature_comment(
        &mut self,
        node: Node<'_>,
        body: Option<Node<'_>>,
        params: &mut [NewParam],
        is_method: bool,
    ) -> Option<TypeId> {
        let comment = children(node)
            .chain(body.into_iter().flat_map(children).take(1))
            .find(|part| kind(*part) == Kind::Comment && self.text(*part).starts_with("# type:"))?;
        let text = self.text(comment).into_owned();
        let inner = text.strip_prefix("# type:")?;
        let (given, result) = inner.rsplit_once("->")?;
        let (line, column) = (self.line(comment) - 1, self.column(comment));
        let lead = |part: &str| (part.len() - part.trim_start().len()) as u32;
        let given_column = column + 7 + lead(given);
        let list = format!("[{}]", given.trim().strip_prefix('(')?.strip_suffix(')')?.replace('*', ""));
        let types = self.parsed(&list, line, given_column, |w, node| {
            named_children(node).map(|part| w.ty(part)).collect::<Vec<TypeId>>()
        });
        let types = types.unwrap_or_default();
        let skip = usize::from(is_method && types.len() + 1 == params.len());
        for (param, ty) in params.iter_mut().skip(skip).zip(types) {
            param.ty.get_or_insert(ty);
        }
        let result_column = column + 7 + given.len() as u32 + 2 + lead(result);
        self.comment_type(result.trim(), line, result_column)
    }

    fn function_signature(&self, node: Node<'_>, name: &str, is_async: bool) -> String {
        let mut line = format!("{}def {name}", if is_async { "async " } else { "" });
        if let Some(params) = child(node, FIELDS.type_parameters) {
            line.push_str(&text::squeezed(params, self.source));
        }
        line.push('(');
        let mut first = true;
        for param in child(node, FIELDS.parameters).into_iter().flat_map(named_children) {
            if is_extra(param) || kind(param) == Kind::Error {
                continue;
            }
            if !first {
                line.push_str(", ");
            }
            first = false;
            match kind(param) {
                Kind::DefaultParameter | Kind::TypedDefaultParameter => {
                    line.push_str(&child(param, FIELDS.name).map(|n| self.text(n).into_owned()).unwrap_or_default());
                    if let Some(ty) = type_child(param) {
                        line.push_str(": ");
                        line.push_str(&text::squeezed(ty, self.source));
                    }
                    line.push_str(" = …");
                }
                _ => line.push_str(&text::squeezed(param, self.source)),
            }
        }
        line.push(')');
        if let Some(ty) = child(node, FIELDS.return_type) {
            line.push_str(" -> ");
            line.push_str(&text::squeezed(ty, self.source));
        }
        text::signature(&line)
    }
}

/// A leading underscore is private, but for names with two on both sides.
pub fn visibility(name: &str) -> Visibility {
    let dunder = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !dunder { Visibility::Private } else { Visibility::Public }
}
