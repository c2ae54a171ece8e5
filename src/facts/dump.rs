//! Facts as text, one line a fact: what goldens, `doctor` and replay differences show.
//!
//! Expressions and types are written inline. The text is for people and comparison; it is never
//! read back.

use std::fmt::Write;

use crate::facts::model::*;
use crate::facts::table::Id;

/// Nesting at which an expression or type is cut with `…`: goldens stay readable, and a hostile
/// arena costs no more than its size times this.
const MAX_DEPTH: u32 = 24;

/// Writes all facts of a file, sorted as they are stored: a head line, then symbols with what
/// belongs to them, scopes, bindings, returns, narrowings, imports, exports, references,
/// test blocks, damage.
pub fn dump(facts: &FileFacts) -> String {
    let mut out = String::new();
    let dump = Dump { facts };
    dump.head(&mut out);
    for at in 0..facts.symbols.len() {
        dump.symbol(&mut out, SymbolId::new(at));
    }
    for at in 0..facts.scopes.len() {
        dump.scope(&mut out, ScopeId::new(at));
    }
    for binding in &facts.bindings {
        dump.binding(&mut out, binding);
    }
    for row in &facts.returns {
        line(
            &mut out,
            format_args!("{} s{} {} @{}", row.kind.as_str(), row.scope.index(), dump.expr(row.expr), row.line),
        );
    }
    for row in &facts.narrowings {
        dump.narrowing(&mut out, row);
    }
    for row in &facts.imports {
        dump.import(&mut out, row);
    }
    for row in &facts.exports {
        dump.export(&mut out, row);
    }
    for row in &facts.refs {
        let first = if row.start_line == row.line { String::new() } else { format!(" from {}", row.start_line) };
        let owner = dump.qualname(row.owner);
        let scope = row.scope.index();
        line(
            &mut out,
            format_args!(
                "ref {} {} by {owner} s{scope} @{}:{}{first}",
                row.kind.as_str(),
                dump.expr(row.expr),
                row.line,
                row.column
            ),
        );
    }
    for (at, row) in facts.test_blocks.iter().enumerate() {
        dump.test_block(&mut out, at, row);
    }
    for row in &facts.damage {
        line(&mut out, format_args!("damage @{}-{}", row.start_line, row.end_line));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("because writing to a string cannot fail");
}

struct Dump<'f> {
    facts: &'f FileFacts,
}

impl Dump<'_> {
    fn head(&self, out: &mut String) {
        let facts = self.facts;
        let reason = facts.status_reason.map_or(String::new(), |r| format!(" ({})", facts.name(r)));
        line(
            out,
            format_args!(
                "file {} {}{reason} {} lines {} bytes",
                facts.dialect,
                facts.status.as_str(),
                facts.n_lines,
                facts.n_bytes
            ),
        );
        for package in &facts.package {
            line(out, format_args!("package {} @{}", facts.name(package.name), package.line));
        }
    }

    fn qualname(&self, id: SymbolId) -> &str {
        self.facts.name(self.facts.symbol(id).qualname)
    }

    fn symbol(&self, out: &mut String, id: SymbolId) {
        let facts = self.facts;
        let row = facts.symbol(id);
        let mut text = format!("{} {}", row.kind.as_str(), facts.name(row.qualname));
        if row.kind != SymbolKind::Module {
            write!(text, " @{}-{} name {}:{}", row.start_line, row.end_line, row.name_line, row.name_column)
                .expect("because writing to a string cannot fail");
            write!(text, " in s{}", row.declared_in.index()).expect("because writing to a string cannot fail");
        }
        if let Some(scope) = row.scope {
            write!(text, " opens s{}", scope.index()).expect("because writing to a string cannot fail");
        }
        if row.visibility != Visibility::Public {
            write!(text, " {}", row.visibility.as_str()).expect("because writing to a string cannot fail");
        }
        for (flag, name) in FLAG_NAMES {
            if row.flags.has(*flag) {
                write!(text, " {name}").expect("because writing to a string cannot fail");
            }
        }
        if row.branch != Branch::Always {
            write!(text, " if:{}", row.branch.as_str()).expect("because writing to a string cannot fail");
        }
        if let Some(ty) = row.ty {
            write!(text, " : {}", self.ty(ty)).expect("because writing to a string cannot fail");
        }
        line(out, format_args!("{text}"));
        if !facts.name(row.signature).is_empty() {
            line(out, format_args!("  sig {}", facts.name(row.signature)));
        }
        if let Some(doc) = row.doc {
            line(out, format_args!("  doc {}", facts.name(doc)));
        }
        for type_param in facts.type_params.iter().filter(|t| t.owner == id) {
            let bound = type_param.bound.map_or(String::new(), |t| format!(" extends {}", self.ty(t)));
            let default = type_param.default.map_or(String::new(), |t| format!(" = {}", self.ty(t)));
            line(out, format_args!("  type_param {}{bound}{default}", facts.name(type_param.name)));
        }
        for base in facts.heritage.iter().filter(|h| h.owner == id) {
            line(out, format_args!("  {} {} @{}:{}", base.kind.as_str(), self.ty(base.ty), base.line, base.column));
        }
        for decorator in facts.decorators.iter().filter(|d| d.owner == id) {
            let param = decorator.param.0.map_or(String::new(), |p| format!("param {p} "));
            line(out, format_args!("  decorator {param}{} @{}", self.expr(decorator.expr), decorator.line));
        }
    }

    fn scope(&self, out: &mut String, id: ScopeId) {
        let facts = self.facts;
        let row = facts.scope(id);
        let parent = row.parent.map_or(String::new(), |p| format!(" in s{}", p.index()));
        let test = row.test_block.map_or(String::new(), |t| format!(" test t{}", t.index()));
        line(
            out,
            format_args!(
                "scope s{} {}{parent} of {}{test} @{}-{}",
                id.index(),
                row.kind.as_str(),
                self.qualname(row.owner),
                row.start_line,
                row.end_line
            ),
        );
        for (at, param) in facts.params_of(id).iter().enumerate() {
            let ty = param.ty.map_or(String::new(), |t| format!(": {}", self.ty(t)));
            let default = param.default.map_or(String::new(), |e| format!(" = {}", self.expr(e)));
            let optional = if param.optional { " optional" } else { "" };
            let name = param.name.map_or("{}", |n| facts.name(n));
            line(
                out,
                format_args!(
                    "  param {at} {name} {}{ty}{default}{optional} @{}:{}",
                    param.kind.as_str(),
                    param.line,
                    param.column
                ),
            );
        }
    }

    fn binding(&self, out: &mut String, row: &Binding) {
        let facts = self.facts;
        let mut text = format!("bind {} s{}", row.origin.as_str(), row.scope.index());
        if row.branch != Branch::Always {
            write!(text, " if:{}", row.branch.as_str()).expect("because writing to a string cannot fail");
        }
        if let Some(name) = row.name {
            write!(text, " {}", facts.name(name)).expect("because writing to a string cannot fail");
        }
        if let Some(target) = row.target {
            write!(text, " {}", self.expr(target)).expect("because writing to a string cannot fail");
        }
        if let Some(ty) = row.ty {
            write!(text, " : {}", self.ty(ty)).expect("because writing to a string cannot fail");
        }
        if let Some(value) = row.value {
            write!(text, " <- {}", self.expr(value)).expect("because writing to a string cannot fail");
        }
        for step in facts.steps_of(row) {
            match step.name {
                Some(name) => write!(text, " /{} {}", step.kind.as_str(), facts.name(name))
                    .expect("because writing to a string cannot fail"),
                None => write!(text, " /{} {}", step.kind.as_str(), step.detail)
                    .expect("because writing to a string cannot fail"),
            }
        }
        if let Some(default) = row.default {
            write!(text, " default {}", self.expr(default)).expect("because writing to a string cannot fail");
        }
        if let Some(symbol) = row.symbol {
            write!(text, " defines {}", self.qualname(symbol)).expect("because writing to a string cannot fail");
        }
        line(out, format_args!("{text} @{}:{}", row.line, row.column));
    }

    fn narrowing(&self, out: &mut String, row: &Narrowing) {
        let ty = row.ty.map_or(String::new(), |t| format!(" {}", self.ty(t)));
        let name = row.name.map_or(String::new(), |n| format!(" {}", self.facts.name(n)));
        let kind = row.kind.as_str();
        let scope = row.scope.index();
        line(
            out,
            format_args!(
                "narrow s{scope} {} {kind}{ty}{name} @{}-{}",
                self.expr(row.chain),
                row.start_line,
                row.end_line
            ),
        );
    }

    fn import(&self, out: &mut String, row: &Import) {
        let facts = self.facts;
        let mut text = format!("import {} s{}", row.kind.as_str(), row.scope.index());
        if row.branch != Branch::Always {
            write!(text, " if:{}", row.branch.as_str()).expect("because writing to a string cannot fail");
        }
        if row.type_only {
            text.push_str(" type");
        }
        text.push(' ');
        text.extend(std::iter::repeat_n('.', row.level as usize));
        text.push_str(row.module.map_or("?", |m| facts.name(m)));
        if let Some(name) = row.name {
            write!(text, " {}", facts.name(name)).expect("because writing to a string cannot fail");
        }
        if let Some(local) = row.local {
            write!(text, " as {}", facts.name(local)).expect("because writing to a string cannot fail");
        }
        line(out, format_args!("{text} @{}:{} name {}:{}", row.line, row.column, row.name_line, row.name_column));
    }

    fn export(&self, out: &mut String, row: &Export) {
        let facts = self.facts;
        let mut text = format!("export {} s{}", row.kind.as_str(), row.scope.index());
        if row.type_only {
            text.push_str(" type");
        }
        for (label, name) in [("", row.exported), ("local ", row.local), ("from ", row.module)] {
            if let Some(name) = name {
                write!(text, " {label}{}", facts.name(name)).expect("because writing to a string cannot fail");
            }
        }
        if let Some(expr) = row.expr {
            write!(text, " <- {}", self.expr(expr)).expect("because writing to a string cannot fail");
        }
        if let Some(symbol) = row.symbol {
            write!(text, " defines {}", self.qualname(symbol)).expect("because writing to a string cannot fail");
        }
        line(out, format_args!("{text} @{}:{}", row.line, row.column));
    }

    fn test_block(&self, out: &mut String, at: usize, row: &TestBlock) {
        let parent = row.parent.map_or(String::new(), |p| format!(" in t{}", p.index()));
        let title = row.title.map_or("?", |t| self.facts.name(t));
        let each = if row.parametrized { " parametrized" } else { "" };
        let skipped = if row.skipped { " skipped" } else { "" };
        let owner = self.qualname(row.owner);
        let kind = row.kind.as_str();
        line(
            out,
            format_args!(
                "test t{at} {kind}{parent} \"{title}\"{each}{skipped} of {owner} @{}-{}",
                row.start_line, row.end_line
            ),
        );
    }

    /// An expression as text.
    fn expr(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, id, 0);
        out
    }

    fn write_expr(&self, out: &mut String, id: ExprId, depth: u32) {
        if depth > MAX_DEPTH {
            out.push('…');
            return;
        }
        let facts = self.facts;
        let row = facts.expr(id);
        let operands = facts.operands_of(id);
        match row.kind {
            ExprKind::Name => out.push_str(facts.text(row.name)),
            ExprKind::Attr if operands.len() == 1 => {
                self.write_expr(out, operands[0].expr, depth + 1);
                out.push('.');
                out.push_str(facts.text(row.name));
                return;
            }
            ExprKind::Call | ExprKind::New if !operands.is_empty() => {
                if row.kind == ExprKind::New {
                    out.push_str("new ");
                }
                self.write_expr(out, operands[0].expr, depth + 1);
                self.write_operands(out, &operands[1..], depth);
            }
            ExprKind::Literal => {
                let kind = LiteralKind::ALL.get(row.detail as usize).map_or("?", |k| k.as_str());
                write!(out, "‹{kind}›").expect("because writing to a string cannot fail");
            }
            ExprKind::Path => {
                write!(out, "path'{}'", facts.text(row.name)).expect("because writing to a string cannot fail")
            }
            ExprKind::Seq | ExprKind::Comprehension => {
                let kind = SeqKind::ALL.get(row.detail as usize).map_or("?", |k| k.as_str());
                write!(out, "{}:{kind}", row.kind.as_str()).expect("because writing to a string cannot fail");
                self.write_operands(out, operands, depth);
            }
            ExprKind::Param => write!(out, "param#{}", row.detail).expect("because writing to a string cannot fail"),
            _ => {
                out.push_str(row.kind.as_str());
                if let Some(name) = row.name {
                    write!(out, "'{}'", facts.name(name)).expect("because writing to a string cannot fail");
                }
                if !operands.is_empty() {
                    self.write_operands(out, operands, depth);
                }
            }
        }
        if let Some(ty) = row.ty {
            out.push_str(" of ");
            self.write_type(out, ty, depth + 1);
        }
        if let Some(scope) = row.scope {
            write!(out, "‹s{}›", scope.index()).expect("because writing to a string cannot fail");
        }
        if let Some(symbol) = row.symbol {
            write!(out, "‹{}›", self.qualname(symbol)).expect("because writing to a string cannot fail");
        }
    }

    fn write_operands(&self, out: &mut String, operands: &[Operand], depth: u32) {
        out.push('(');
        for (n, operand) in operands.iter().enumerate() {
            if n > 0 {
                out.push_str(", ");
            }
            match operand.role {
                Role::Value => {}
                Role::Spread => out.push_str("..."),
                Role::KeywordSpread => out.push_str("**"),
                Role::Keyword => {}
                role => write!(out, "{} ", role.as_str()).expect("because writing to a string cannot fail"),
            }
            if let Some(name) = operand.name {
                write!(out, "{}=", self.facts.name(name)).expect("because writing to a string cannot fail");
            }
            self.write_expr(out, operand.expr, depth + 1);
        }
        out.push(')');
    }

    /// A type as text.
    fn ty(&self, id: TypeId) -> String {
        let mut out = String::new();
        self.write_type(&mut out, id, 0);
        out
    }

    fn write_type(&self, out: &mut String, id: TypeId, depth: u32) {
        if depth > MAX_DEPTH {
            out.push('…');
            return;
        }
        let facts = self.facts;
        let row = facts.type_row(id);
        let operands = facts.operands_of_type(id);
        if row.kind != TypeKind::Named {
            out.push_str(row.kind.as_str());
        }
        if row.kind == TypeKind::Literal {
            let kind = LiteralKind::ALL.get(literal_kind(row.detail) as usize).map_or("?", |k| k.as_str());
            match row.detail >> 8 {
                0 => write!(out, "‹{kind}›"),
                tag => write!(out, "‹{kind} {tag:04x}›"),
            }
            .expect("because writing to a string cannot fail");
        } else if row.detail > 0 {
            write!(out, "#{}", row.detail).expect("because writing to a string cannot fail");
        }
        if let Some(name) = row.name {
            write!(out, "'{}'", facts.name(name)).expect("because writing to a string cannot fail");
        }
        if let Some(expr) = row.expr {
            if row.kind != TypeKind::Named {
                out.push(' ');
            }
            self.write_expr(out, expr, depth + 1);
        }
        if let Some(scope) = row.scope {
            write!(out, "‹s{}›", scope.index()).expect("because writing to a string cannot fail");
        }
        if operands.is_empty() {
            return;
        }
        out.push('[');
        for (n, operand) in operands.iter().enumerate() {
            if n > 0 {
                out.push_str(", ");
            }
            if !matches!(operand.role, TypeRole::Argument | TypeRole::Member | TypeRole::Param) {
                write!(out, "{} ", operand.role.as_str()).expect("because writing to a string cannot fail");
            }
            if let Some(name) = operand.name {
                write!(out, "{}: ", facts.name(name)).expect("because writing to a string cannot fail");
            }
            self.write_type(out, operand.ty, depth + 1);
        }
        out.push(']');
    }
}

/// The flags by name, in order of their bits.
const FLAG_NAMES: &[(SymbolFlags, &str)] = &[
    (SymbolFlags::ASYNC, "async"),
    (SymbolFlags::GENERATOR, "generator"),
    (SymbolFlags::STATIC, "static"),
    (SymbolFlags::ABSTRACT, "abstract"),
    (SymbolFlags::EXPORTED, "exported"),
    (SymbolFlags::DEFAULT_EXPORT, "default_export"),
    (SymbolFlags::GETTER, "getter"),
    (SymbolFlags::SETTER, "setter"),
    (SymbolFlags::OVERLOAD, "overload"),
    (SymbolFlags::OPTIONAL, "optional"),
    (SymbolFlags::READONLY, "readonly"),
    (SymbolFlags::CONST, "const"),
    (SymbolFlags::OVERRIDE, "override"),
    (SymbolFlags::AMBIENT, "ambient"),
    (SymbolFlags::LOCAL, "local"),
    (SymbolFlags::ANONYMOUS_OWNER, "anonymous_owner"),
    (SymbolFlags::VARIADIC, "variadic"),
    (SymbolFlags::DEFAULT_METHOD, "default_method"),
    (SymbolFlags::CONDITIONAL, "conditional"),
    (SymbolFlags::FROM_PARAMETER, "from_parameter"),
    (SymbolFlags::DOCTEST, "doctest"),
];
