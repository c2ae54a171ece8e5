//! Facts of no file: rows in every table, drawn from numbers, that keep the model's promises.

use proptest::prelude::*;
use ratlas::base::dialect::Dialect;
use ratlas::facts::build::{FactsBuilder, NewSymbol};
use ratlas::facts::model::*;
use ratlas::facts::table::{Hash64, Id};

const N_LINES: u32 = 90;
const N_BYTES: u32 = 5_000;

/// Facts from up to 200 random steps of the builder.
pub fn any_facts() -> impl Strategy<Value = FileFacts> {
    let dialect = prop::sample::select(Dialect::ALL.to_vec());
    (dialect, prop::collection::vec(any::<u64>(), 0..200)).prop_map(|(dialect, steps)| facts_of(dialect, &steps))
}

/// Numbers drawn from one seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        // Knuth's multiplier; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    fn id<T: Id>(&mut self, len: usize) -> T {
        T::new(self.below(len))
    }
    fn maybe<T: Id>(&mut self, len: usize) -> Option<T> {
        (len > 0 && self.below(3) > 0).then(|| self.id(len))
    }
    fn lines(&mut self) -> (u32, u32) {
        let (a, b) = (self.below(91) as u32, self.below(91) as u32);
        (a.min(b), a.max(b))
    }
    fn place(&mut self) -> (u32, u32) {
        (self.below(92) as u32, self.below(5_001) as u32)
    }
}

/// Facts from the builder, a step a seed.
pub fn facts_of(dialect: Dialect, steps: &[u64]) -> FileFacts {
    let mut builder = FactsBuilder::new(dialect, N_LINES, N_BYTES);
    for seed in steps {
        step(&mut builder, &mut Draw(*seed));
    }
    let mut facts = builder.finish().0;
    let mut draw = Draw(steps.len() as u64);
    for symbol in &mut facts.symbols {
        symbol.body_hash = Hash64(u64::MAX - draw.below(1 << 30) as u64);
        symbol.flags = SymbolFlags(draw.below(1 << 20) as u32);
    }
    if steps.len() % 5 == 4 {
        let (start_line, end_line) = draw.lines();
        facts.status = Status::Partial;
        facts.status_reason = Some(NameId::new(0));
        facts.damage.push(Damage { start_line, end_line });
    }
    facts
}

fn step(builder: &mut FactsBuilder, draw: &mut Draw) {
    let text = draw.of(&["x", "größe", "a.b", "", "def f(a: int) -> str", "名前", "'\"\\\n"]);
    let text = format!("{text}{}", draw.below(9));
    let name = builder.intern(&text);
    let facts = builder.facts();
    let (n_names, n_symbols, n_scopes) = (facts.names.len(), facts.symbols.len(), facts.scopes.len());
    let (n_exprs, n_types) = (facts.exprs.len(), facts.types.len());
    let (start_line, end_line) = draw.lines();
    let (line, column) = draw.place();
    let expr: Option<ExprId> = draw.maybe(n_exprs);
    let ty: Option<TypeId> = draw.maybe(n_types);
    let scope: ScopeId = draw.id(n_scopes);
    let owner: SymbolId = draw.id(n_symbols);
    let maybe_name: Option<NameId> = draw.maybe(n_names);
    match draw.below(22) {
        0 => {
            builder.define(NewSymbol {
                kind: draw.of(SymbolKind::ALL),
                name: &text,
                prefix: draw.of(&["", "obj"]),
                segment: None,
                visibility: draw.of(Visibility::ALL),
                flags: SymbolFlags::default(),
                branch: draw.of(Branch::ALL),
                signature: &text,
                doc: Some(&text),
                ty,
                start_line,
                end_line,
                name_line: line,
                name_column: column,
            });
        }
        1 => {
            builder.open_scope(draw.of(ScopeKind::ALL), Some(owner), start_line, end_line);
        }
        2 => builder.close_scope(),
        3 => {
            let block = builder.open_test_block(draw.of(TestBlockKind::ALL), Some(&text), start_line, end_line);
            builder.test_block_mut(block).parametrized = draw.below(2) == 1;
        }
        4 => builder.close_test_block(),
        5..=8 => {
            let operands: Vec<Operand> = (0..if n_exprs == 0 { 0 } else { draw.below(4) })
                .map(|_| Operand { role: draw.of(Role::ALL), name: maybe_name, expr: draw.id(n_exprs) })
                .collect();
            let row = Expr {
                kind: draw.of(ExprKind::ALL),
                name: maybe_name,
                ty,
                scope: draw.maybe(n_scopes),
                symbol: draw.maybe(n_symbols),
                detail: draw.below(1 << 31) as u32 * 2 + 1,
                first: 0,
                len: 0,
            };
            builder.push_expr(row, &operands);
        }
        9..=10 => {
            let operands: Vec<TypeOperand> = (0..if n_types == 0 { 0 } else { draw.below(4) })
                .map(|_| TypeOperand { role: draw.of(TypeRole::ALL), name: maybe_name, ty: draw.id(n_types) })
                .collect();
            let kind = draw.of(TypeKind::ALL);
            let row =
                TypeRow { kind, expr, name: maybe_name, scope: draw.maybe(n_scopes), detail: 1, first: 0, len: 0 };
            builder.push_type(row, &operands);
        }
        11 => {
            let mut binding = builder.binding(draw.of(Origin::ALL), line, column);
            (binding.name, binding.target, binding.ty) = (maybe_name, expr, ty);
            (binding.value, binding.default) = (draw.maybe(n_exprs), draw.maybe(n_exprs));
            binding.symbol = draw.maybe(n_symbols);
            let step = Step { kind: draw.of(StepKind::ALL), name: maybe_name, detail: 7 };
            builder.bind(binding, &vec![step; draw.below(3)]);
        }
        12 => builder.param(Param {
            scope,
            name: maybe_name,
            kind: draw.of(ParamKind::ALL),
            ty,
            default: expr,
            optional: draw.below(2) == 1,
            line,
            column,
        }),
        13 => builder.type_param(TypeParam { owner, name, bound: ty, default: draw.maybe(n_types) }),
        14 => {
            if let Some(ty) = ty {
                builder.heritage(Heritage { owner, kind: draw.of(HeritageKind::ALL), ty, line, column });
            }
        }
        15 => {
            if let Some(expr) = expr {
                let param = ParamPosition((draw.below(2) == 1).then_some(3));
                builder.decorator(Decorator { owner, param, expr, line });
            }
        }
        16 => {
            if let Some(expr) = expr {
                builder.returns(Return { scope, kind: draw.of(ReturnKind::ALL), expr, line });
            }
        }
        17 => {
            if let Some(chain) = expr {
                let kind = draw.of(NarrowingKind::ALL);
                builder.narrowing(Narrowing { scope, kind, chain, ty, name: maybe_name, start_line, end_line });
            }
        }
        18 => builder.import(Import {
            scope,
            kind: draw.of(ImportKind::ALL),
            branch: draw.of(Branch::ALL),
            module: maybe_name,
            level: draw.below(4) as u32,
            name: draw.maybe(n_names),
            local: Some(name),
            type_only: draw.below(2) == 1,
            line,
            column,
            name_line: line,
            name_column: column,
        }),
        19 => builder.export(Export {
            scope,
            kind: draw.of(ExportKind::ALL),
            exported: maybe_name,
            local: draw.maybe(n_names),
            module: None,
            expr,
            symbol: draw.maybe(n_symbols),
            type_only: draw.below(2) == 1,
            line,
            column,
        }),
        20 => builder.package(&text, line),
        _ => {
            if let Some(expr) = expr {
                builder.reference(draw.of(RefKind::ALL), expr, line, column, start_line);
            }
        }
    }
}
