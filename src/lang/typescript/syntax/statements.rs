//! Statements: blocks and their scopes, control flow, variables. Definitions, modules and
//! expressions have files of their own.

use tree_sitter::Node;

use crate::facts::build::FactsBuilder;
use crate::facts::model::*;
use crate::lang::node::{children, column, end_line, named_children, start_line};
use crate::lang::typescript::syntax::Definition;
use crate::lang::typescript::syntax::expressions::Use;
use crate::lang::typescript::syntax::kinds::K;
use crate::lang::typescript::syntax::modules::Required;
use crate::lang::typescript::syntax::signature::signature;
use crate::lang::typescript::syntax::{Walk, narrowing::Holds};

/// How many cases of a `switch` narrow what it is on.
const MAX_CASES: usize = 200;

impl Walk<'_> {
    /// Reads the statements that stand directly in `node`, from child `from` on, with the doc
    /// comment before each; an ERROR node among them is read as if it were not there.
    pub(super) fn statements(&mut self, b: &mut FactsBuilder, node: Node<'_>, from: usize) {
        if self.k(node) == K::Error {
            return self.damaged(b, node);
        }
        let mut comment: Option<std::ops::Range<usize>> = None;
        let end = end_line(node);
        for child in children(node).skip(from) {
            match self.k(child) {
                K::Comment => comment = Some(child.byte_range()),
                K::Error => {
                    comment = None;
                    if b.nested(|b| self.damaged(b, child)).is_none() {
                        return;
                    }
                }
                _ if child.is_named() => {
                    self.doc = comment.take();
                    self.statement(b, child);
                    self.doc = None;
                    if self.k(child) == K::IfStatement {
                        self.narrow_after(b, child, end);
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads one statement.
    pub(super) fn statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        b.nested(|b| self.statement_here(b, node));
    }

    fn statement_here(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        match self.k(node) {
            K::ImportStatement => self.import_statement(b, node),
            K::ExportStatement => self.export_statement(b, node),
            K::ImportAlias => {
                self.import_alias(b, node);
            }
            K::ExpressionStatement => self.expression_statement(b, node),
            K::LexicalDeclaration | K::VariableDeclaration | K::UsingDeclaration => {
                self.variables(b, node, node, SymbolFlags::default());
            }
            K::FunctionDeclaration | K::GeneratorFunctionDeclaration | K::FunctionSignature => {
                self.function_declaration(b, node, node, SymbolFlags::default());
            }
            K::ClassDeclaration | K::AbstractClassDeclaration => {
                self.class_declaration(b, node, node, SymbolFlags::default());
            }
            K::InterfaceDeclaration => {
                self.interface_declaration(b, node, node, SymbolFlags::default());
            }
            K::TypeAliasDeclaration => {
                self.type_alias(b, node, node, SymbolFlags::default());
            }
            K::EnumDeclaration => {
                self.enum_declaration(b, node, node, SymbolFlags::default());
            }
            K::InternalModule | K::Module => {
                self.namespace(b, node, node, SymbolFlags::default());
            }
            K::AmbientDeclaration => self.ambient(b, node, node, SymbolFlags::default()),
            K::StatementBlock => self.block(b, node),
            K::IfStatement => self.if_statement(b, node),
            K::ForInStatement => self.for_in(b, node),
            K::ForStatement | K::WhileStatement | K::DoStatement => self.loop_statement(b, node),
            K::SwitchStatement => self.switch(b, node),
            K::TryStatement => self.try_statement(b, node),
            K::ReturnStatement => self.returned(b, node, ReturnKind::Return),
            K::ThrowStatement => self.returned(b, node, ReturnKind::Throw),
            K::LabeledStatement | K::WithStatement => {
                for child in named_children(node) {
                    match self.k(child) {
                        K::Parenthesized => {
                            self.expression(b, child, Use::Read);
                        }
                        _ if Some(child) == self.field(node, self.f.body) => self.statement(b, child),
                        _ => {}
                    }
                }
            }
            K::BreakStatement | K::ContinueStatement | K::EmptyStatement | K::Comment | K::HtmlComment => {}
            K::Error => self.damaged(b, node),
            // What is left of a broken statement, and expressions where a statement may stand.
            _ => self.fragment(b, node),
        }
    }

    /// Reads what stands loose in an ERROR node: expressions as such, members as statements.
    fn fragment(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        match self.k(node) {
            K::Other
            | K::PropertyIdentifier
            | K::StringFragment
            | K::FormalParameters
            | K::TypeAnnotation
            | K::TypeParameters
            | K::TypeArguments
            | K::StatementBlock
            | K::ClassBody
            | K::ImportClause
            | K::ExportClause => {
                for child in named_children(node) {
                    self.statement(b, child);
                }
            }
            K::CallExpression | K::NewExpression | K::MemberExpression | K::AssignmentExpression => {
                self.expression(b, node, Use::Read);
            }
            _ => {}
        }
    }

    /// Reads a block in a scope of its own where it declares something.
    pub(super) fn block(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let declares = named_children(node).any(|child| {
            matches!(
                self.k(child),
                K::LexicalDeclaration
                    | K::UsingDeclaration
                    | K::FunctionDeclaration
                    | K::ClassDeclaration
                    | K::InterfaceDeclaration
                    | K::TypeAliasDeclaration
                    | K::EnumDeclaration
            )
        });
        if declares {
            b.open_scope(ScopeKind::Block, None, start_line(node), end_line(node));
            self.statements(b, node, 0);
            b.close_scope();
        } else {
            self.statements(b, node, 0);
        }
    }

    fn expression_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let doc = self.doc.take();
        for child in named_children(node) {
            match self.k(child) {
                K::AssignmentExpression => {
                    self.doc = doc.clone();
                    self.assignment(b, child, node, true);
                }
                K::InternalModule => {
                    self.doc = doc.clone();
                    self.namespace(b, child, node, SymbolFlags::default());
                }
                K::CallExpression => {
                    self.call(b, child, node.byte_range());
                }
                K::Comment => {}
                _ => {
                    self.expression(b, child, Use::Read);
                }
            }
        }
    }

    /// Reads `const`, `let`, `var` and `using`; `outer` is the whole statement (with `export`).
    /// Gives the names it declares, with their symbols, for an `export` around it.
    pub(super) fn variables(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        outer: Node<'_>,
        flags: SymbolFlags,
    ) -> Vec<(NameId, Option<SymbolId>)> {
        let mut flags = flags;
        let mut keyword = "var";
        for child in children(node) {
            match self.k(child) {
                K::TConst => {
                    flags |= SymbolFlags::CONST;
                    keyword = "const";
                }
                K::VariableDeclarator => break,
                K::TVar => keyword = "var",
                _ if keyword == "var" => keyword = if self.text(child) == "let" { "let" } else { "var" },
                _ => {}
            }
        }
        let origin = if self.k(node) == K::UsingDeclaration { Origin::With } else { Origin::Assign };
        let n_declarators = self.of_kind(node, K::VariableDeclarator).count();
        let mut names = Vec::new();
        let doc = self.doc.take();
        for declarator in self.of_kind(node, K::VariableDeclarator) {
            self.doc = doc.clone();
            let whole = if n_declarators == 1 { outer } else { declarator };
            self.declarator(b, declarator, whole, (flags, keyword, origin), &mut names);
        }
        names
    }

    fn declarator(
        &mut self,
        b: &mut FactsBuilder,
        node: Node<'_>,
        whole: Node<'_>,
        (flags, keyword, origin): (SymbolFlags, &str, Origin),
        names: &mut Vec<(NameId, Option<SymbolId>)>,
    ) {
        let Some(name_node) = self.field(node, self.f.name) else { return };
        let value_node = self.field(node, self.f.value);
        let type_node = self.field(node, self.f.type_);
        let doc = self.doc.clone();
        let scope = if keyword == "var" { self.var_scope } else { b.scope() };
        if self.k(name_node) != K::Identifier {
            let ty = type_node.and_then(|t| self.annotation(b, t));
            let required = value_node.and_then(|v| self.required_module(v));
            if let (Some(Required { module, member: Some(member) }), Some(at)) = (&required, value_node) {
                // What is taken of the member is no name of the module's.
                self.import_row(b, ImportKind::Require, Some(module), Some(member), None, at, at);
            }
            let value = value_node.map(|v| self.expression(b, v, Use::Read));
            let place = super::patterns::Place { scope, origin, ty, required, flags, whole, declares: true };
            let declared = self.bind_pattern(b, name_node, value, &place);
            names.extend(declared);
            return;
        }
        let name = self.text(name_node);
        let name_id = b.intern(&name);
        let exported = flags.has(SymbolFlags::EXPORTED);
        let function = value_node.filter(|v| self.is_function(*v)).map(|v| self.bare(v));
        let class = value_node.map(|v| self.bare(v)).filter(|v| self.k(*v) == K::Class);
        let at_top = self.depth_in_functions == 0 && self.declares_variables(b, scope);
        let mut symbol = None;
        let mut value = None;
        let declared_in = scope;
        if let Some(function) = function {
            let head = self.function_head(&format!("{keyword} {name} = "), function);
            let visibility = self.own_visibility(exported);
            let mut flags = flags;
            flags |= self.function_flags(function);
            let parent = b.owner();
            let defined = self.define_under(
                b,
                parent,
                declared_in,
                Definition {
                    kind: SymbolKind::Function,
                    name: &name,
                    prefix: "",
                    flags,
                    visibility,
                    signature: &head,
                    node: whole,
                    name_node,
                },
            );
            self.extent(b, defined, whole.byte_range(), self.field(function, self.f.body));
            symbol = Some(defined);
            let ty = type_node.and_then(|t| self.annotation_of(b, t, symbol));
            let ty = ty.or_else(|| self.documented_type(b, doc.as_ref()));
            let lambda = self.function_value(b, function, Some(defined));
            self.push_binding(b, (scope, origin), name_id, Some(lambda), ty, symbol, name_node);
            names.push((name_id, symbol));
            return;
        }
        if let Some(class) = class {
            let defined = self.class_value_named(b, class, &name, whole, name_node, flags);
            symbol = Some(defined);
            value = Some(super::assignments::class_expr(b, defined));
        } else if at_top {
            let head = self.variable_head(keyword, node, type_node);
            let visibility = self.own_visibility(exported);
            let parent = b.owner();
            let defined = self.define_under(
                b,
                parent,
                declared_in,
                Definition {
                    kind: SymbolKind::Variable,
                    name: &name,
                    prefix: "",
                    flags,
                    visibility,
                    signature: &head,
                    node: whole,
                    name_node,
                },
            );
            self.extent(b, defined, whole.byte_range(), value_node);
            symbol = Some(defined);
        }
        let ty = type_node.and_then(|t| self.annotation_of(b, t, symbol));
        let ty = ty.or_else(|| self.documented_type(b, doc.as_ref()));
        if let Some(defined) = symbol.filter(|_| class.is_none()) {
            b.symbol_mut(defined).ty = ty;
        }
        if class.is_none()
            && let Some(value_node) = value_node
        {
            if let Some(required) = self.required_module(value_node) {
                self.import_row(
                    b,
                    ImportKind::Require,
                    Some(&required.module),
                    required.member.as_deref(),
                    Some(&name),
                    value_node,
                    name_node,
                );
            }
            value = Some(self.initializer(b, value_node, symbol, if symbol.is_some() { "" } else { &name }));
        }
        let origin = if value.is_none() { Origin::Declare } else { origin };
        self.push_binding(b, (scope, origin), name_id, value, ty, symbol, name_node);
        names.push((name_id, symbol));
    }

    /// Whether variables of a scope are symbols: the module's and a namespace's, not a block's.
    fn declares_variables(&self, b: &FactsBuilder, scope: ScopeId) -> bool {
        let mut at = Some(scope);
        // Blocks of the module's own code are looked through.
        while let Some(scope) = at {
            let row = b.facts().scope(scope);
            match row.kind {
                ScopeKind::Module | ScopeKind::Namespace | ScopeKind::Ambient => return true,
                ScopeKind::Block => at = row.parent,
                _ => return false,
            }
        }
        false
    }

    /// Reads an initializer: what it defines belongs to `holder`, or stands under `prefix`.
    pub(super) fn initializer(
        &mut self,
        b: &mut FactsBuilder,
        value: Node<'_>,
        holder: Option<SymbolId>,
        prefix: &str,
    ) -> ExprId {
        let outer_holder = self.holder;
        if holder.is_some() {
            self.holder = holder;
        }
        let outer_prefix = std::mem::replace(&mut self.prefix, prefix.to_owned());
        let anonymous = std::mem::replace(&mut self.anonymous, false);
        let expr = self.expression(b, value, Use::Read);
        self.holder = outer_holder;
        self.prefix = outer_prefix;
        self.anonymous = anonymous;
        expr
    }

    fn variable_head(&self, keyword: &str, declarator: Node<'_>, type_node: Option<Node<'_>>) -> String {
        let name = self.field(declarator, self.f.name).map(|n| self.text(n)).unwrap_or_default();
        let ty = type_node.and_then(|t| self.source.get(t.byte_range())).map(signature).unwrap_or_default();
        format!("{keyword} {name}{ty}")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn push_binding(
        &self,
        b: &mut FactsBuilder,
        (scope, origin): (ScopeId, Origin),
        name: NameId,
        value: Option<ExprId>,
        ty: Option<TypeId>,
        symbol: Option<SymbolId>,
        at: Node<'_>,
    ) {
        let mut binding = b.binding(origin, start_line(at), column(at));
        binding.scope = scope;
        binding.name = Some(name);
        binding.value = value;
        binding.ty = ty;
        binding.symbol = symbol;
        b.bind(binding, &[]);
    }

    fn returned(&mut self, b: &mut FactsBuilder, node: Node<'_>, kind: ReturnKind) {
        let Some(value) = self.first(node) else { return };
        let expr = self.expression(b, value, Use::Callback);
        let scope = self.var_scope;
        b.returns(Return { scope, kind, expr, line: start_line(node) });
    }

    fn if_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let condition = self.field(node, self.f.condition);
        if let Some(condition) = condition {
            self.expression(b, condition, Use::Read);
        }
        let consequence = self.field(node, self.f.consequence);
        let alternative = self.field(node, self.f.alternative);
        if let (Some(condition), Some(consequence)) = (condition, consequence) {
            self.narrow(b, condition, Holds::True, (start_line(consequence), end_line(consequence)));
            if let Some(alternative) = alternative {
                self.narrow(b, condition, Holds::False, (start_line(alternative), end_line(alternative)));
            }
        }
        let outer = b.branch();
        if let Some(consequence) = consequence {
            b.set_branch(Branch::If);
            self.statement(b, consequence);
        }
        if let Some(alternative) = alternative {
            b.set_branch(Branch::Else);
            for child in named_children(alternative) {
                self.statement(b, child);
            }
        }
        b.set_branch(outer);
    }

    fn in_loop(&mut self, b: &mut FactsBuilder, body: Option<Node<'_>>) {
        let Some(body) = body else { return };
        let outer = b.set_branch(Branch::Other);
        self.loops += 1;
        self.statement(b, body);
        self.loops -= 1;
        b.set_branch(outer);
    }

    fn for_in(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let value = self.field(node, self.f.right).map(|right| self.expression(b, right, Use::Read));
        b.open_scope(ScopeKind::Block, None, start_line(node), end_line(node));
        let mut origin = Origin::For;
        let mut declares = false;
        let mut var = false;
        for child in children(node) {
            match self.k(child) {
                K::TAwait => origin = Origin::AsyncFor,
                K::TIn => origin = Origin::ForIn,
                K::TConst | K::TUsing => declares = true,
                K::TVar => (declares, var) = (true, true),
                K::Other if !child.is_named() && self.text(child) == "let" => declares = true,
                K::StatementBlock => break,
                _ => {}
            }
        }
        if let Some(left) = self.field(node, self.f.left) {
            let scope = if var { self.var_scope } else { b.scope() };
            let flags = SymbolFlags::default();
            let place =
                super::patterns::Place { scope, origin, ty: None, required: None, flags, whole: node, declares };
            if !declares && matches!(self.k(left), K::MemberExpression | K::SubscriptExpression) {
                self.expression(b, left, Use::Write);
            } else {
                self.bind_pattern(b, left, value, &place);
            }
        }
        self.in_loop(b, self.field(node, self.f.body));
        b.close_scope();
    }

    fn loop_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let body = self.field(node, self.f.body);
        b.open_scope(ScopeKind::Block, None, start_line(node), end_line(node));
        for child in named_children(node).filter(|child| Some(*child) != body) {
            match self.k(child) {
                K::LexicalDeclaration | K::VariableDeclaration | K::ExpressionStatement => {
                    // What a loop's head declares is no constant of the module.
                    self.depth_in_functions += 1;
                    self.statement(b, child);
                    self.depth_in_functions -= 1;
                }
                K::EmptyStatement | K::Comment => {}
                _ => {
                    self.expression(b, child, Use::Read);
                }
            }
        }
        if let (K::WhileStatement, Some(condition), Some(body)) =
            (self.k(node), self.field(node, self.f.condition), body)
        {
            self.narrow(b, condition, Holds::True, (start_line(body), end_line(body)));
        }
        self.in_loop(b, body);
        b.close_scope();
    }

    fn switch(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let value_node = self.field(node, self.f.value);
        if let Some(value) = value_node {
            self.expression(b, value, Use::Read);
        }
        let Some(body) = self.field(node, self.f.body) else { return };
        b.open_scope(ScopeKind::Block, None, start_line(body), end_line(body));
        let outer = b.set_branch(Branch::Other);
        // The values of this case and of those that fall through to it, and of all before.
        let mut values = Vec::new();
        let mut before = Vec::new();
        for case in named_children(body) {
            let value = self.field(case, self.f.value);
            if let Some(value) = value {
                self.expression(b, value, Use::Read);
                values.push(value);
                before.push(value);
            }
            let lines = (start_line(case), end_line(case));
            let has_body = named_children(case).any(|child| Some(child) != value && self.k(child) != K::Comment);
            match (value_node, self.k(case)) {
                (Some(on), K::SwitchCase) if has_body && before.len() <= MAX_CASES => {
                    self.narrow_case(b, on, &values, Holds::True, lines);
                }
                (Some(on), K::SwitchDefault) if values.is_empty() && before.len() <= MAX_CASES => {
                    self.narrow_case(b, on, &before, Holds::False, lines);
                }
                _ => {}
            }
            let mut last = None;
            for child in named_children(case).filter(|child| Some(*child) != value) {
                self.statement(b, child);
                last = Some(child);
            }
            if last.is_some_and(|last| self.leaves(last)) {
                values.clear();
            }
        }
        b.set_branch(outer);
        b.close_scope();
    }

    fn try_statement(&mut self, b: &mut FactsBuilder, node: Node<'_>) {
        let outer = b.set_branch(Branch::Try);
        if let Some(body) = self.field(node, self.f.body) {
            self.statement(b, body);
        }
        b.set_branch(Branch::Except);
        if let Some(handler) = self.field(node, self.f.handler) {
            b.open_scope(ScopeKind::Block, None, start_line(handler), end_line(handler));
            if let Some(parameter) = self.field(handler, self.f.parameter) {
                let ty = self.field(handler, self.f.type_).and_then(|t| self.annotation(b, t));
                let scope = b.scope();
                let place = super::patterns::Place {
                    scope,
                    origin: Origin::Except,
                    ty,
                    required: None,
                    flags: SymbolFlags::default(),
                    whole: handler,
                    declares: true,
                };
                self.bind_pattern(b, parameter, None, &place);
            }
            if let Some(body) = self.field(handler, self.f.body) {
                self.statements(b, body, 0);
            }
            b.close_scope();
        }
        b.set_branch(outer);
        if let Some(body) = self.field(node, self.f.finalizer).and_then(|f| self.field(f, self.f.body)) {
            self.statement(b, body);
        }
    }
}
