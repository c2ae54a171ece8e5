//! Whether facts keep every promise of the model, so that readers may index without checks.
//!
//! Facts from the builder do by construction; facts decoded from stored bytes are hostile
//! until they pass. Ids are in range, parents and operands point to earlier rows, the two
//! arenas hold no cycle, lines and columns lie within the file, tables are in their order.

use crate::facts::model::*;
use crate::facts::table::Id;

/// Whether `facts` keep every promise of the model. O(rows).
pub fn validate(facts: &FileFacts) -> bool {
    let check = Check { facts, last_line: facts.n_lines.saturating_add(1), last_column: facts.n_bytes };
    check.header()
        && check.symbols_and_scopes()
        && check.owned_rows()
        && check.arenas()
        && check.code()
        && check.doors()
        && check.ranges()
}

/// The facts under check, with the bounds of their places.
struct Check<'f> {
    facts: &'f FileFacts,
    last_line: u32,
    last_column: u32,
}

fn below<T: Id>(id: T, len: usize) -> bool {
    id.index() < len
}

fn below_if<T: Id>(id: Option<T>, len: usize) -> bool {
    id.is_none_or(|id| below(id, len))
}

/// Whether the spans (first, length) follow each other without gap in a list of `total` rows,
/// empty ones at 0: as the builder lays them, and as the store takes for granted.
fn spans(mut all: impl Iterator<Item = (u32, u32)>, total: usize) -> bool {
    let mut next = 0_u32;
    let in_order = all.all(|(first, len)| {
        let fits = first == if len == 0 { 0 } else { next };
        next = next.saturating_add(len);
        fits
    });
    in_order && next as usize == total
}

fn sorted_by<T, K: PartialOrd>(rows: &[T], key: impl Fn(&T) -> K) -> bool {
    rows.windows(2).all(|pair| key(&pair[0]) <= key(&pair[1]))
}

impl Check<'_> {
    fn name(&self, id: NameId) -> bool {
        below(id, self.facts.names.len())
    }
    fn name_if(&self, id: Option<NameId>) -> bool {
        below_if(id, self.facts.names.len())
    }
    fn symbol(&self, id: SymbolId) -> bool {
        below(id, self.facts.symbols.len())
    }
    fn symbol_if(&self, id: Option<SymbolId>) -> bool {
        below_if(id, self.facts.symbols.len())
    }
    fn scope(&self, id: ScopeId) -> bool {
        below(id, self.facts.scopes.len())
    }
    fn scope_if(&self, id: Option<ScopeId>) -> bool {
        below_if(id, self.facts.scopes.len())
    }
    fn expr(&self, id: ExprId) -> bool {
        below(id, self.facts.exprs.len())
    }
    fn expr_if(&self, id: Option<ExprId>) -> bool {
        below_if(id, self.facts.exprs.len())
    }
    fn ty(&self, id: TypeId) -> bool {
        below(id, self.facts.types.len())
    }
    fn ty_if(&self, id: Option<TypeId>) -> bool {
        below_if(id, self.facts.types.len())
    }
    fn block_if(&self, id: Option<TestBlockId>) -> bool {
        below_if(id, self.facts.test_blocks.len())
    }
    fn line(&self, line: u32) -> bool {
        line <= self.last_line
    }
    fn lines(&self, start: u32, end: u32) -> bool {
        start <= end && end <= self.last_line
    }
    fn place(&self, line: u32, column: u32) -> bool {
        line <= self.last_line && column <= self.last_column
    }

    fn header(&self) -> bool {
        self.name_if(self.facts.status_reason) && self.facts.package.len() <= 1
    }

    fn symbols_and_scopes(&self) -> bool {
        let FileFacts { symbols, scopes, test_blocks, .. } = self.facts;
        // Skipped and failed files may hold nothing at all; else row 0 is the module, alone without a parent.
        let module = match (symbols.first(), scopes.first()) {
            (None, None) => true,
            (Some(symbol), Some(scope)) => symbol.kind == SymbolKind::Module && scope.kind == ScopeKind::Module,
            _ => false,
        };
        module
            && symbols.iter().enumerate().all(|(at, s)| {
                s.parent.map_or(at == 0, |parent| below(parent, at))
                    && self.name(s.name)
                    && self.name(s.qualname)
                    && self.name(s.signature)
                    && self.name_if(s.doc)
                    && self.scope(s.declared_in)
                    && self.scope_if(s.scope)
                    && self.ty_if(s.ty)
                    && self.lines(s.start_line, s.end_line)
                    && self.place(s.name_line, s.name_column)
            })
            && scopes.iter().enumerate().all(|(at, s)| {
                s.parent.map_or(at == 0, |parent| below(parent, at))
                    && self.symbol(s.owner)
                    && self.block_if(s.test_block)
                    && self.lines(s.start_line, s.end_line)
            })
            && test_blocks.iter().enumerate().all(|(at, b)| {
                below_if(b.parent, at)
                    && self.name_if(b.title)
                    && self.scope_if(b.scope)
                    && self.symbol(b.owner)
                    && self.lines(b.start_line, b.end_line)
            })
    }

    fn owned_rows(&self) -> bool {
        let FileFacts { params, type_params, heritage, decorators, .. } = self.facts;
        sorted_by(params, |p| p.scope)
            && params.iter().all(|p| {
                self.scope(p.scope)
                    && self.name_if(p.name)
                    && self.ty_if(p.ty)
                    && self.expr_if(p.default)
                    && self.place(p.line, p.column)
            })
            && sorted_by(type_params, |t| t.owner)
            && type_params
                .iter()
                .all(|t| self.symbol(t.owner) && self.name(t.name) && self.ty_if(t.bound) && self.ty_if(t.default))
            && sorted_by(heritage, |h| h.owner)
            && heritage.iter().all(|h| self.symbol(h.owner) && self.ty(h.ty) && self.place(h.line, h.column))
            && sorted_by(decorators, |d| d.owner)
            && decorators.iter().all(|d| self.symbol(d.owner) && self.expr(d.expr) && self.line(d.line))
    }

    /// Operands point to earlier rows of their own arena; between the arenas there is an order
    /// in which every row comes after those it needs, so that no walk over them can circle.
    fn arenas(&self) -> bool {
        let FileFacts { exprs, operands, types, type_operands, .. } = self.facts;
        let in_order = spans(exprs.iter().map(|e| (e.first, e.len)), operands.len())
            && spans(types.iter().map(|t| (t.first, t.len)), type_operands.len());
        let shapes = in_order
            && exprs.iter().enumerate().all(|(at, e)| {
                operands[e.first as usize..(e.first + e.len) as usize].iter().all(|o| below(o.expr, at))
                    && self.name_if(e.name)
                    && self.ty_if(e.ty)
                    && self.scope_if(e.scope)
                    && self.symbol_if(e.symbol)
            })
            && types.iter().enumerate().all(|(at, t)| {
                type_operands[t.first as usize..(t.first + t.len) as usize].iter().all(|o| below(o.ty, at))
                    && self.name_if(t.name)
                    && self.expr_if(t.expr)
                    && self.scope_if(t.scope)
            })
            && operands.iter().all(|o| self.name_if(o.name) && self.expr(o.expr))
            && type_operands.iter().all(|o| self.name_if(o.name) && self.ty(o.ty));
        // The builder pushed both arenas in one order; whatever order works is found greedily.
        let (mut next_expr, mut next_type) = (0, 0);
        while shapes && (next_expr < exprs.len() || next_type < types.len()) {
            let before = (next_expr, next_type);
            while next_expr < exprs.len() && below_if(exprs[next_expr].ty, next_type) {
                next_expr += 1;
            }
            while next_type < types.len() && below_if(types[next_type].expr, next_expr) {
                next_type += 1;
            }
            if (next_expr, next_type) == before {
                return false;
            }
        }
        shapes
    }

    fn code(&self) -> bool {
        let FileFacts { bindings, steps, returns, narrowings, refs, .. } = self.facts;
        spans(bindings.iter().map(|b| (b.first_step, b.n_steps)), steps.len())
            && bindings.iter().all(|b| {
                self.scope(b.scope)
                    && self.name_if(b.name)
                    && self.expr_if(b.target)
                    && self.expr_if(b.value)
                    && self.ty_if(b.ty)
                    && self.symbol_if(b.symbol)
                    && self.expr_if(b.default)
                    && self.place(b.line, b.column)
            })
            && steps.iter().all(|s| self.name_if(s.name))
            && sorted_by(returns, |r| (r.scope, r.line))
            && returns.iter().all(|r| self.scope(r.scope) && self.expr(r.expr) && self.line(r.line))
            && narrowings.iter().all(|n| {
                self.scope(n.scope)
                    && self.expr(n.chain)
                    && self.ty_if(n.ty)
                    && self.name_if(n.name)
                    && self.lines(n.start_line, n.end_line)
            })
            && sorted_by(refs, |r| (r.line, r.column))
            && refs.iter().all(|r| {
                self.symbol(r.owner)
                    && self.scope(r.scope)
                    && self.expr(r.expr)
                    && self.place(r.line, r.column)
                    && self.line(r.start_line)
            })
    }

    fn doors(&self) -> bool {
        let FileFacts { imports, exports, .. } = self.facts;
        imports.iter().all(|i| {
            self.scope(i.scope)
                && self.name_if(i.module)
                && self.name_if(i.name)
                && self.name_if(i.local)
                && i.level <= self.last_column
                && self.place(i.line, i.column)
                && self.place(i.name_line, i.name_column)
        }) && exports.iter().all(|e| {
            self.scope(e.scope)
                && self.name_if(e.exported)
                && self.name_if(e.local)
                && self.name_if(e.module)
                && self.expr_if(e.expr)
                && self.symbol_if(e.symbol)
                && self.place(e.line, e.column)
        })
    }

    fn ranges(&self) -> bool {
        self.facts.damage.iter().all(|d| self.lines(d.start_line, d.end_line))
            && self.facts.package.iter().all(|p| self.name(p.name) && self.line(p.line))
    }
}

#[cfg(test)]
mod tests {
    use super::validate;
    use crate::base::dialect::Dialect;
    use crate::facts::build::FactsBuilder;
    use crate::facts::model::*;
    use crate::facts::table::Id;

    fn facts() -> FileFacts {
        let mut builder = FactsBuilder::new(Dialect::Ts, 3, 60);
        let name = builder.intern("x");
        let leaf = builder.leaf(ExprKind::Name, Some(name), 0);
        let ty = builder.push_type(
            TypeRow { kind: TypeKind::Typeof, expr: Some(leaf), name: None, scope: None, detail: 0, first: 0, len: 0 },
            &[],
        );
        let cast = Expr {
            kind: ExprKind::Cast,
            name: None,
            ty: Some(ty),
            scope: None,
            symbol: None,
            detail: 0,
            first: 0,
            len: 0,
        };
        let cast = builder.push_expr(cast, &[Operand { role: Role::Value, name: None, expr: leaf }]);
        builder.reference(RefKind::Read, cast, 2, 4, 2);
        builder.finish().0
    }

    #[test]
    fn what_the_builder_makes_is_valid() {
        assert!(validate(&facts()));
        assert!(validate(&FileFacts::empty(Dialect::Java)));
    }

    #[test]
    fn broken_promises_are_refused() {
        let breaks: [fn(&mut FileFacts); 8] = [
            |f| f.refs[0].expr = ExprId::new(2),
            |f| f.refs[0].line = 5,
            |f| f.operands[0].expr = ExprId::new(1),
            |f| f.exprs[1].len = 2,
            |f| f.exprs[1].first = u32::MAX,
            |f| f.symbols[0].doc = Some(NameId::new(99)),
            |f| f.scopes[0].parent = Some(ScopeId::new(0)),
            // `typeof` of the cast whose type it is: in range, but a circle.
            |f| f.types[0].expr = Some(ExprId::new(1)),
        ];
        for (at, break_it) in breaks.into_iter().enumerate() {
            let mut facts = facts();
            break_it(&mut facts);
            assert!(!validate(&facts), "break {at}");
        }
    }
}
