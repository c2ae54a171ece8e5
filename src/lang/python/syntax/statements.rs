//! Statements: blocks, branches, loops, assignments, returns, `__all__`.

use tree_sitter::Node;

use crate::facts::model::*;
use crate::facts::table::Id;
use crate::lang::node::{children, named_children};
use crate::lang::python::syntax::expressions::operand;
use crate::lang::python::syntax::grammar::{FIELDS, Kind, child, is_extra, kind, type_child};
use crate::lang::python::syntax::targets::Given;
use crate::lang::python::syntax::{Walk, text};

impl Walk<'_> {
    /// Reads the statements of a block, a module, or a damaged range.
    pub fn block(&mut self, block: Node<'_>) {
        let end = self.end_line(block);
        let outer = std::mem::replace(&mut self.s.block_end, end);
        for statement in named_children(block) {
            self.statement(statement);
        }
        self.s.block_end = outer;
    }

    fn block_in(&mut self, branch: Branch, block: Node<'_>) {
        let Walk { b, s, source, origin } = self;
        let (s, source, origin) = (&mut **s, *source, *origin);
        b.in_branch(branch, |b| Walk { b, s, source, origin }.block(block));
    }

    /// Reads one statement.
    pub fn statement(&mut self, node: Node<'_>) {
        match kind(node) {
            Kind::Comment | Kind::LineContinuation | Kind::Pass | Kind::Break | Kind::Continue | Kind::Token => {}
            Kind::Function | Kind::Class => self.definition(node, node, &[]),
            Kind::Decorated => self.decorated(node),
            _ => {
                self.deeper(|w| w.plain(node));
            }
        }
    }

    fn plain(&mut self, node: Node<'_>) {
        match kind(node) {
            Kind::ExpressionStatement => self.expression_statement(node),
            Kind::Assignment => {
                self.assignment(node, node);
            }
            Kind::AugmentedAssignment => {
                self.augmented(node);
            }
            Kind::If => self.if_statement(node),
            Kind::For => self.for_statement(node),
            Kind::While => self.while_statement(node),
            Kind::Try => self.try_statement(node),
            Kind::With => self.with_statement(node),
            Kind::Match => self.match_statement(node),
            Kind::Return => self.return_statement(node),
            Kind::Raise => self.raise_statement(node),
            Kind::Delete => {
                for part in named_children(node).filter(|part| !is_extra(*part)) {
                    self.bind_plain(part, Origin::Delete, None, None);
                }
            }
            Kind::Assert => self.assert_statement(node),
            Kind::Global => self.outer_names(node, Origin::Global),
            Kind::Nonlocal => self.outer_names(node, Origin::Nonlocal),
            Kind::Import => self.import_statement(node),
            Kind::ImportFrom | Kind::FutureImport => self.import_from(node),
            Kind::TypeAlias => self.type_alias(node),
            Kind::Block | Kind::Error | Kind::Module => self.block(node),
            Kind::Identifier | Kind::Parameters | Kind::ArgumentList => {
                for part in named_children(node) {
                    self.statement(part);
                }
            }
            _ => {
                self.read(node);
            }
        }
    }

    fn expression_statement(&mut self, node: Node<'_>) {
        for part in named_children(node) {
            match kind(part) {
                Kind::Comment | Kind::LineContinuation => {}
                Kind::String if node.named_child_count() == 1 => {}
                Kind::Assignment => {
                    self.assignment(part, node);
                }
                Kind::AugmentedAssignment => {
                    self.augmented(part);
                }
                Kind::Call => {
                    self.read(part);
                    self.changed_all(part);
                }
                _ => {
                    self.read(part);
                }
            }
        }
    }

    /// Reads `a = b = value`; gives the value.
    fn assignment(&mut self, node: Node<'_>, statement: Node<'_>) -> Option<ExprId> {
        let mut targets = Vec::new();
        let mut at = node;
        let mut type_node = None;
        let value_node = loop {
            targets.extend(child(at, FIELDS.left));
            type_node = type_node.or_else(|| type_child(at));
            match child(at, FIELDS.right) {
                Some(right) if kind(right) == Kind::Assignment => at = right,
                right => break right,
            }
        };
        let declared = type_node.map(|ty| self.ty(ty));
        let declared = declared.or_else(|| self.type_comment_after(node));
        let value = value_node.map(|value| match kind(value) {
            Kind::AugmentedAssignment => self.augmented(value),
            Kind::Subscript if self.is_type_value(value) => self.type_value(value),
            _ => self.read(value),
        });
        let origin = if value.is_some() { Origin::Assign } else { Origin::Declare };
        let given = Given { origin, value, ty: declared, type_node, statement: Some(statement), value_node };
        for target in targets {
            self.bind_target(target, &given, &mut Vec::new());
            if kind(target) == Kind::Identifier
                && let Some(value_node) = value_node
            {
                match &*self.text(target) {
                    "__all__" => self.all(value_node),
                    "__slots__" => self.slots(value_node),
                    _ => {}
                }
            }
        }
        value
    }

    /// Whether a subscript is a type: its base comes from `typing` and takes types.
    fn is_type_value(&self, node: Node<'_>) -> bool {
        child(node, FIELDS.value).is_some_and(|base| self.typing_name(base).is_some())
    }

    fn augmented(&mut self, node: Node<'_>) -> ExprId {
        let (Some(left), Some(right)) = (child(node, FIELDS.left), child(node, FIELDS.right)) else {
            return self.opaque(&[]);
        };
        let old = self.read(left);
        let added = match kind(right) {
            Kind::Assignment => match self.assignment(right, right) {
                Some(value) => value,
                None => self.opaque(&[]),
            },
            Kind::AugmentedAssignment => self.deeper(|w| w.augmented(right)).unwrap_or(old),
            _ => self.read(right),
        };
        let name = child(node, FIELDS.operator).map(|token| self.b.intern(token.kind().trim_end_matches('=')));
        let operands = [operand(Role::Value, old), operand(Role::Value, added)];
        let value = self.b.compound(ExprKind::Operator, name, &operands);
        match kind(left) {
            Kind::Identifier => {
                self.bind_plain(left, Origin::Augmented, Some(value), None);
                if self.text(left) == "__all__" {
                    self.all(right);
                }
            }
            Kind::Attribute => self.quiet_chain(left, value),
            _ => {}
        }
        value
    }

    /// `a.b += e`: the chain was read already; only the write is new.
    fn quiet_chain(&mut self, target: Node<'_>, value: ExprId) {
        let Some(attribute) = child(target, FIELDS.attribute) else { return };
        let chain = self.quietly(|w| w.read(target));
        self.refer(RefKind::Write, chain, attribute, target);
        let mut binding = self.b.binding(Origin::Augmented, self.line(attribute), self.column(attribute));
        binding.target = Some(chain);
        binding.value = Some(value);
        self.b.bind(binding, &[]);
    }

    /// The type in a `# type:` comment at the end of the line on which a node ends.
    pub fn type_comment_after(&mut self, node: Node<'_>) -> Option<TypeId> {
        if !self.s.has_type_comments {
            return None;
        }
        let rest = self.source.get(node.end_byte()..)?;
        let line = rest.split(|b| *b == b'\n').next()?;
        let line = std::str::from_utf8(line).ok()?;
        let skipped = line.trim_start_matches([' ', '\t', ',', ':', ')']);
        let inner = skipped.strip_prefix("# type:")?;
        let written = inner.split('#').next()?.trim();
        if written.starts_with("ignore") {
            return None;
        }
        let before = line.len() - inner.len() + (inner.len() - inner.trim_start().len());
        let end = node.end_position();
        let column = end.column as u32 + before as u32;
        let written = written.to_owned();
        self.comment_type(&written, self.origin.0 + end.row as u32, column)
    }

    fn if_statement(&mut self, node: Node<'_>) {
        let condition = child(node, FIELDS.condition);
        let then = child(node, FIELDS.consequence);
        let rest: Vec<Node<'_>> =
            named_children(node).filter(|part| matches!(kind(*part), Kind::Elif | Kind::Else)).collect();
        if let Some(condition) = condition {
            self.read(condition);
        }
        let checking = condition.and_then(|c| self.type_checking(c));
        let branch = if checking == Some(true) { Branch::TypeChecking } else { Branch::If };
        let block_end = self.s.block_end;
        let facts = match checking {
            Some(_) => Default::default(),
            None => condition.map(|c| self.tests(c)).unwrap_or_default(),
        };
        if let Some(then) = then {
            self.narrow(&facts.holds, (self.line(then), self.end_line(then)));
            self.block_in(branch, then);
        }
        if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            self.narrow(&facts.fails, (self.line(*first), self.end_line(*last)));
        }
        let after = (self.end_line(node) + 1, block_end);
        let then_ends = then.is_some_and(terminates);
        if then_ends {
            self.narrow(&facts.fails, after);
        } else if rest.len() == 1 && kind(rest[0]) == Kind::Else && child(rest[0], FIELDS.body).is_some_and(terminates)
        {
            self.narrow(&facts.holds, after);
        }
        for part in rest {
            match (kind(part), child(part, FIELDS.condition)) {
                (Kind::Elif, Some(condition)) => {
                    self.read(condition);
                    let facts = self.tests(condition);
                    if let Some(body) = child(part, FIELDS.consequence) {
                        self.narrow(&facts.holds, (self.line(body), self.end_line(body)));
                        self.block_in(Branch::Else, body);
                        if then_ends && terminates(body) {
                            self.narrow(&facts.fails, after);
                        }
                    }
                }
                _ => {
                    if let Some(body) = child(part, FIELDS.body) {
                        let branch = if checking == Some(false) { Branch::TypeChecking } else { Branch::Else };
                        self.block_in(branch, body);
                    }
                }
            }
        }
    }

    /// Whether a condition is `TYPE_CHECKING` (true) or its negation (false).
    fn type_checking(&self, condition: Node<'_>) -> Option<bool> {
        match kind(condition) {
            Kind::Identifier | Kind::Attribute => {
                let last = self.last_name(condition)?;
                (self.text(last) == "TYPE_CHECKING").then_some(true)
            }
            Kind::Not => self.type_checking(child(condition, FIELDS.argument)?).map(|known| !known),
            _ => None,
        }
    }

    fn for_statement(&mut self, node: Node<'_>) {
        let is_async = children(node).take(1).any(|token| token.kind() == "async");
        let right = child(node, FIELDS.right);
        let value = right.map(|right| self.read(right));
        let declared = right.and_then(|right| self.type_comment_after(right));
        if let Some(left) = child(node, FIELDS.left) {
            let origin = if is_async { Origin::AsyncFor } else { Origin::For };
            self.bind_plain(left, origin, value, declared);
        }
        if let Some(body) = child(node, FIELDS.body) {
            self.block_in(Branch::Other, body);
        }
        if let Some(body) = child(node, FIELDS.alternative).and_then(|other| child(other, FIELDS.body)) {
            self.block_in(Branch::Else, body);
        }
    }

    fn while_statement(&mut self, node: Node<'_>) {
        let facts = match child(node, FIELDS.condition) {
            Some(condition) => {
                self.read(condition);
                self.tests(condition)
            }
            None => Default::default(),
        };
        if let Some(body) = child(node, FIELDS.body) {
            self.narrow(&facts.holds, (self.line(body), self.end_line(body)));
            self.block_in(Branch::Other, body);
        }
        if let Some(body) = child(node, FIELDS.alternative).and_then(|other| child(other, FIELDS.body)) {
            self.block_in(Branch::Else, body);
        }
    }

    fn try_statement(&mut self, node: Node<'_>) {
        for part in named_children(node) {
            match kind(part) {
                Kind::Block => self.block_in(Branch::Try, part),
                Kind::Except => self.except_clause(part),
                Kind::Else => {
                    if let Some(body) = child(part, FIELDS.body) {
                        self.block_in(Branch::Try, body);
                    }
                }
                Kind::Finally => {
                    for body in named_children(part).filter(|body| kind(*body) == Kind::Block) {
                        self.block(body);
                    }
                }
                Kind::Error => self.block(part),
                _ => {}
            }
        }
    }

    fn except_clause(&mut self, node: Node<'_>) {
        let mut operands: Vec<Operand> = Vec::new();
        let mut target = child(node, FIELDS.alias);
        for part in named_children(node) {
            match kind(part) {
                Kind::Block => {
                    if let Some(target) = target {
                        let value = match &operands[..] {
                            [one] => Some(one.expr),
                            [] => None,
                            _ => Some(self.seq(SeqKind::Tuple, &operands)),
                        };
                        self.bind_plain(target, Origin::Except, value, None);
                    }
                    self.block_in(Branch::Except, part);
                }
                Kind::Comment | Kind::LineContinuation => {}
                Kind::AsPattern => {
                    if let Some(caught) = part.named_child(0) {
                        operands.push(operand(Role::Value, self.read(caught)));
                    }
                    target = child(part, FIELDS.alias).and_then(|alias| alias.named_child(0)).or(target);
                }
                _ if Some(part) == target => {}
                _ => operands.push(operand(Role::Value, self.read(part))),
            }
        }
    }

    fn with_statement(&mut self, node: Node<'_>) {
        let is_async = children(node).take(1).any(|token| token.kind() == "async");
        let origin = if is_async { Origin::AsyncWith } else { Origin::With };
        for clause in named_children(node).filter(|part| kind(*part) == Kind::WithClause) {
            let declared = self.type_comment_after(clause);
            for item in named_children(clause).filter(|part| kind(*part) == Kind::WithItem) {
                let Some(value) = child(item, FIELDS.value) else { continue };
                self.with_item(value, origin, declared);
            }
        }
        if let Some(body) = child(node, FIELDS.body) {
            self.block(body);
        }
    }

    fn with_item(&mut self, node: Node<'_>, origin: Origin, declared: Option<TypeId>) {
        match kind(node) {
            Kind::AsPattern => {
                let value = node.named_child(0).map(|value| self.read(value));
                if let Some(target) = child(node, FIELDS.alias).and_then(|alias| alias.named_child(0)) {
                    self.bind_plain(target, origin, value, declared);
                }
            }
            // `with (open(a) as f, open(b) as g):` may parse as a tuple.
            Kind::Tuple | Kind::Parenthesized if named_children(node).any(|part| kind(part) == Kind::AsPattern) => {
                for part in named_children(node) {
                    self.with_item(part, origin, declared);
                }
            }
            Kind::Comment | Kind::LineContinuation => {}
            _ => {
                self.read(node);
            }
        }
    }

    fn return_statement(&mut self, node: Node<'_>) {
        let Some(value) = named_children(node).find(|part| !is_extra(*part)) else { return };
        let expr = self.read(value);
        let line = self.line(node);
        if let Some(frame) = self.s.functions.last() {
            let scope = frame.scope;
            self.b.returns(Return { scope, kind: ReturnKind::Return, expr, line });
        }
    }

    fn raise_statement(&mut self, node: Node<'_>) {
        let mut first = None;
        for part in named_children(node).filter(|part| !is_extra(*part)) {
            let expr = self.read(part);
            first.get_or_insert(expr);
        }
        let line = self.line(node);
        if let (Some(expr), Some(frame)) = (first, self.s.functions.last()) {
            let scope = frame.scope;
            self.b.returns(Return { scope, kind: ReturnKind::Throw, expr, line });
        }
    }

    fn assert_statement(&mut self, node: Node<'_>) {
        let parts: Vec<Node<'_>> = named_children(node).filter(|part| !is_extra(*part)).collect();
        for part in &parts {
            self.read(*part);
        }
        if let Some(test) = parts.first() {
            let facts = self.tests(*test);
            self.narrow(&facts.holds, (self.line(node), self.s.block_end));
        }
    }

    fn outer_names(&mut self, node: Node<'_>, origin: Origin) {
        for part in named_children(node).filter(|part| kind(*part) == Kind::Identifier) {
            let name = self.name(part);
            if origin == Origin::Global
                && let Some(frame) = self.s.functions.last_mut()
            {
                frame.globals.push(name);
            }
            let mut binding = self.b.binding(origin, self.line(part), self.column(part));
            binding.name = Some(name);
            self.b.bind(binding, &[]);
        }
    }

    /// `type X[T] = …`.
    fn type_alias(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (child(node, FIELDS.left), child(node, FIELDS.right)) else { return };
        let inner = left.named_child(0).unwrap_or(left);
        let (name_node, params) = match kind(inner) {
            Kind::GenericType | Kind::Subscript => (inner.named_child(0).unwrap_or(inner), Some(inner)),
            _ => (inner, None),
        };
        if kind(name_node) != Kind::Identifier {
            self.read(node);
            return;
        }
        let signature = text::signature(&text::squeezed(node, self.source));
        let branch_flags = match self.b.branch() {
            Branch::Always => SymbolFlags::default(),
            _ => SymbolFlags::CONDITIONAL,
        };
        let symbol = self.define(SymbolKind::TypeAlias, name_node, node, branch_flags, &signature, None);
        let body = right.byte_range();
        let end = node.end_byte();
        self.b.extent(crate::facts::build::Extent {
            of: crate::facts::build::ExtentOf::Symbol(symbol),
            node: node.byte_range(),
            body,
            doc: end..end,
        });
        self.on_behalf(Some(symbol), |w| {
            if let Some(params) = params {
                let list: Vec<Node<'_>> = match kind(params) {
                    Kind::GenericType => params.named_child(1).into_iter().flat_map(named_children).collect(),
                    _ => named_children(params).skip(1).collect(),
                };
                for param in list {
                    w.type_parameter(symbol, param);
                }
            }
            let ty = w.ty(right);
            w.b.symbol_mut(symbol).ty = Some(ty);
        });
    }

    /// What `__all__` gets: names of strings, and other modules' `__all__`.
    fn all(&mut self, value: Node<'_>) {
        if self.b.scope().index() != 0 {
            return;
        }
        let mut rest = vec![value];
        while let Some(at) = rest.pop() {
            match kind(at) {
                Kind::List
                | Kind::Tuple
                | Kind::Set
                | Kind::Parenthesized
                | Kind::ExpressionList
                | Kind::Binary
                | Kind::ListSplat
                | Kind::ListSplatPattern => {
                    let parts: Vec<Node<'_>> = named_children(at).collect();
                    rest.extend(parts.into_iter().rev());
                }
                Kind::String => {
                    let content = text::content(at, self.source).filter(|c| text::is_identifier(c)).map(String::from);
                    let Some(content) = content else { continue };
                    let name = self.b.intern(&content);
                    self.export(ExportKind::All, at, Some(name), None);
                }
                Kind::Comment | Kind::LineContinuation => {}
                Kind::Identifier if self.text(at) == "__all__" => {}
                _ => {
                    let expr = self.quietly(|w| w.read(at));
                    self.export(ExportKind::AllFrom, at, None, Some(expr));
                }
            }
        }
    }

    fn export(&mut self, kind: ExportKind, at: Node<'_>, name: Option<NameId>, expr: Option<ExprId>) {
        let (line, column) = (self.line(at), self.column(at));
        let scope = self.b.scope();
        let row = Export {
            scope,
            kind,
            exported: name,
            local: name,
            module: None,
            expr,
            symbol: None,
            type_only: false,
            line,
            column,
        };
        self.b.export(row);
    }

    /// `__all__.extend(…)`, `__all__.append("x")`.
    fn changed_all(&mut self, call: Node<'_>) {
        let (Some(function), Some(arguments)) = (child(call, FIELDS.function), child(call, FIELDS.arguments)) else {
            return;
        };
        if kind(function) != Kind::Attribute {
            return;
        }
        let object = child(function, FIELDS.object).map(|object| self.text(object));
        if object.as_deref() != Some("__all__") {
            return;
        }
        let method = child(function, FIELDS.attribute).map(|name| self.text(name).into_owned());
        if matches!(method.as_deref(), Some("extend" | "append"))
            && let Some(given) = named_children(arguments).find(|part| !is_extra(*part))
        {
            self.all(given);
        }
    }
}

/// Whether control never leaves a block at its end.
pub fn terminates(block: Node<'_>) -> bool {
    let mut at = block;
    for _ in 0..64 {
        let mut last = None;
        for statement in named_children(at) {
            if !is_extra(statement) {
                last = Some(statement);
            }
        }
        match last {
            Some(last) if kind(last) == Kind::With => match child(last, FIELDS.body) {
                Some(body) => at = body,
                None => return false,
            },
            Some(last) => {
                return matches!(kind(last), Kind::Return | Kind::Raise | Kind::Continue | Kind::Break);
            }
            None => return false,
        }
    }
    false
}
