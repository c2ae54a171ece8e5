//! The model of a file's facts (FACTS.md §2–3): rows in flat tables, names interned per file.
//!
//! A file's facts depend on its bytes and dialect alone. Rows refer to each other by index.
//! Expressions and types are arenas whose operands lie in shared lists. Lines are 1-based and
//! inclusive, columns are 0-based bytes. The literal text of strings and numbers is never held,
//! except module- or path-shaped strings ([`ExprKind::Path`]) and test titles, both redacted.

use crate::base::dialect::Dialect;
use crate::cell_enum;
use crate::facts::table::{Cell, Hash64, Id};
use crate::id_type;
use crate::table;

id_type!(/** An interned name or short text. */ NameId);
id_type!(/** A row of `symbols`; 0 is `<module>`. */ SymbolId);
id_type!(/** A row of `scopes`; 0 is the module's. */ ScopeId);
id_type!(/** A row of `exprs`. */ ExprId);
id_type!(/** A row of `types`. */ TypeId);
id_type!(/** A row of `test_blocks`. */ TestBlockId);

cell_enum!(
    /// How extraction went.
    Status {
        /// The whole file parsed.
        Ok = "ok",
        /// There is damage; facts hold what lies outside of it.
        Partial = "partial",
        /// Nothing could be read (not text, work budget spent before the first symbol).
        Failed = "failed",
        /// Not parsed on purpose; `status_reason` says why.
        Skipped = "skipped",
    }
);

cell_enum!(
    /// What a symbol is.
    SymbolKind {
        /// The file itself; always row 0, qualname `<module>`.
        Module = "module",
        Class = "class",
        Interface = "interface",
        Enum = "enum",
        /// Java record, annotation type and TypeScript namespace have kinds of their own.
        Record = "record",
        Annotation = "annotation",
        Namespace = "namespace",
        /// A type alias.
        TypeAlias = "type",
        Function = "function",
        Method = "method",
        Constructor = "constructor",
        /// Accessors, and interface or object-type property members.
        Property = "property",
        Field = "field",
        /// A variable of the module or of a namespace (any of `const`, `let`, `x = 1`).
        Variable = "const",
        EnumMember = "enum_member",
        /// A call, construct or index signature of an object type.
        Signature = "signature",
    }
);

cell_enum!(
    /// Who may see a symbol. Python's leading underscore is `Private`, `__all__` is the linker's.
    Visibility {
        Public = "public",
        Protected = "protected",
        Package = "package",
        Private = "private",
    }
);

/// Flags of a symbol, a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolFlags(pub u32);

impl SymbolFlags {
    pub const ASYNC: Self = SymbolFlags(1);
    pub const GENERATOR: Self = SymbolFlags(1 << 1);
    pub const STATIC: Self = SymbolFlags(1 << 2);
    pub const ABSTRACT: Self = SymbolFlags(1 << 3);
    /// Named by an `export` of its own declaration (ECMAScript), or `public` at top level (Java).
    pub const EXPORTED: Self = SymbolFlags(1 << 4);
    pub const DEFAULT_EXPORT: Self = SymbolFlags(1 << 5);
    pub const GETTER: Self = SymbolFlags(1 << 6);
    pub const SETTER: Self = SymbolFlags(1 << 7);
    /// An overload signature without a body; the implementation stands apart.
    pub const OVERLOAD: Self = SymbolFlags(1 << 8);
    pub const OPTIONAL: Self = SymbolFlags(1 << 9);
    pub const READONLY: Self = SymbolFlags(1 << 10);
    /// `const`, `final`, `Final`.
    pub const CONST: Self = SymbolFlags(1 << 11);
    /// TypeScript `override`, Java `@Override`.
    pub const OVERRIDE: Self = SymbolFlags(1 << 12);
    /// TypeScript `declare`.
    pub const AMBIENT: Self = SymbolFlags(1 << 13);
    /// Defined inside a function body (nested functions and classes).
    pub const LOCAL: Self = SymbolFlags(1 << 14);
    /// A member of an object literal or of an anonymous class.
    pub const ANONYMOUS_OWNER: Self = SymbolFlags(1 << 15);
    /// Java varargs, so that arity is a minimum.
    pub const VARIADIC: Self = SymbolFlags(1 << 16);
    /// Java `native`/`default`, interface members that have a body.
    pub const DEFAULT_METHOD: Self = SymbolFlags(1 << 17);
    /// The last definition of this name is under a branch (see [`Branch`]).
    pub const CONDITIONAL: Self = SymbolFlags(1 << 18);
    /// A constructor parameter property, a record component, or a `__slots__` entry.
    pub const FROM_PARAMETER: Self = SymbolFlags(1 << 19);
    /// Its docstring holds examples that doctest runs (Python).
    pub const DOCTEST: Self = SymbolFlags(1 << 20);

    /// Whether every bit of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for SymbolFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        SymbolFlags(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for SymbolFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Cell for SymbolFlags {
    fn to_cell(self) -> u64 {
        u64::from(self.0)
    }
    fn from_cell(cell: u64) -> Option<Self> {
        u32::try_from(cell).ok().filter(|bits| *bits < 1 << 21).map(SymbolFlags)
    }
}

table!(
    /// A definition. Sorted by start (line, then column) with parents before children;
    /// row 0 is `<module>`.
    Symbol in "symbol" {
        kind: SymbolKind,
        /// The simple name (`<init>` for Java constructors, `default` for an anonymous default export).
        name: NameId,
        /// FACTS.md §2: dotted within the file, `#n` for later definitions of one name in one scope.
        qualname: NameId,
        /// The enclosing symbol; `None` only for the module.
        parent: Option<SymbolId>,
        /// The scope whose name table declares it. Members: the class's scope.
        declared_in: ScopeId,
        /// The scope that its body opens, if any.
        scope: Option<ScopeId>,
        visibility: Visibility,
        flags: SymbolFlags,
        /// Under which branch of its scope it is defined.
        branch: Branch,
        /// One line, layout squeezed, redacted: `def f(a: int) -> str`, `class A(B)`.
        signature: NameId,
        /// First line of the docstring or doc comment, redacted.
        doc: Option<NameId>,
        /// Return type of a function, aliased type of an alias, declared type of all else.
        ty: Option<TypeId>,
        start_line: u32,
        end_line: u32,
        name_line: u32,
        name_column: u32,
        /// Hashes over the tree, taken before redaction (FACTS.md §3); 0 where there is nothing.
        sig_hash: Hash64,
        body_hash: Hash64,
        doc_hash: Hash64,
        act_hash: Hash64,
    }
);

cell_enum!(
    /// What opens a scope.
    ScopeKind {
        Module = "module",
        Class = "class",
        Function = "function",
        Lambda = "lambda",
        /// ECMAScript and Java blocks, `for`, `catch`, `switch`; never Python's.
        Block = "block",
        /// Python comprehensions.
        Comprehension = "comprehension",
        /// An object literal: members are declared here.
        Object = "object",
        Namespace = "namespace",
        /// `declare module "x"` and `declare global`; `name` of the owner says which.
        Ambient = "ambient",
    }
);

table!(
    /// A scope of names. Parents come before children; row 0 is the module's.
    Scope in "scope" {
        kind: ScopeKind,
        parent: Option<ScopeId>,
        /// The nearest enclosing symbol (itself, for the scope of a function or class).
        owner: SymbolId,
        /// The nearest enclosing test block.
        test_block: Option<TestBlockId>,
        start_line: u32,
        end_line: u32,
    }
);

cell_enum!(
    /// How a parameter is passed.
    ParamKind {
        Positional = "positional",
        /// Python, before `/`.
        PositionalOnly = "positional_only",
        /// Python, after `*`.
        Keyword = "keyword",
        /// `*args`, `...rest`, Java varargs.
        Rest = "rest",
        /// `**kwargs`.
        KeywordRest = "keyword_rest",
        /// TypeScript's declared `this`.
        This = "this",
    }
);

table!(
    /// A parameter, in order within its scope (that of the function or lambda).
    Param in "param" {
        scope: ScopeId,
        /// `None` when destructured: bindings then start from [`ExprKind::Param`].
        name: Option<NameId>,
        kind: ParamKind,
        ty: Option<TypeId>,
        default: Option<ExprId>,
        /// Optional by `?` or by a default.
        optional: bool,
        line: u32,
        column: u32,
    }
);

table!(
    /// A type parameter, with its bound and default.
    TypeParam in "type_param" {
        owner: SymbolId,
        name: NameId,
        bound: Option<TypeId>,
        default: Option<TypeId>,
    }
);

cell_enum!(
    /// How a class relates to a base.
    HeritageKind {
        Extends = "extends",
        Implements = "implements",
        /// Python `metaclass=`.
        Metaclass = "metaclass",
        /// Another Python keyword in the class header.
        KeywordBase = "keyword",
        /// Sealed `permits`.
        Permits = "permits",
    }
);

table!(
    /// A base of a class, in written order, with its type arguments in `ty`.
    Heritage in "heritage" {
        owner: SymbolId,
        kind: HeritageKind,
        ty: TypeId,
        line: u32,
        column: u32,
    }
);

table!(
    /// A decorator or annotation, in written order; `expr` keeps its arguments.
    Decorator in "decorator" {
        owner: SymbolId,
        /// The parameter it stands on (position), else `None` stored as 0.
        param: ParamPosition,
        expr: ExprId,
        line: u32,
    }
);

/// An optional position of a parameter, stored as position + 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParamPosition(pub Option<u32>);

impl Cell for ParamPosition {
    fn to_cell(self) -> u64 {
        self.0.map_or(0, |p| u64::from(p) + 1)
    }
    fn from_cell(cell: u64) -> Option<Self> {
        let cell = u32::try_from(cell).ok()?;
        Some(ParamPosition(cell.checked_sub(1)))
    }
}

cell_enum!(
    /// The shape of an expression; see [`FileFacts::expr`] for a matched view.
    ExprKind {
        /// `name`; also `this`, `super`, `self` as written.
        Name = "name",
        /// `operand0.name`; optional chaining is the same. `detail` 1: a bare `case NAME` of Java, which
        /// is a constant of operand 0's enum, else the name in scope.
        Attr = "attr",
        /// Operand 0 is the callee, the rest arguments (roles below).
        Call = "call",
        /// `new C(…)`: as `Call`. Java: `ty` is C with its type arguments; `scope` is the class
        /// scope of an anonymous body (whose supertype is C), an enum constant's body included.
        New = "new",
        /// `operand0[operand1]`.
        Index = "index",
        Await = "await",
        Yield = "yield",
        YieldFrom = "yield_from",
        /// `a if c else b`, `a or b`, `a ?? b`, `a && b`, `switch` expressions.
        Choice = "choice",
        /// `operand0` seen as `ty`: `as`, `satisfies`, `(T) x`, `cast(T, x)`, non-null `!` (no `ty`).
        /// `detail` 1: `satisfies`, which checks and gives context, but leaves the value its own type.
        Cast = "cast",
        /// A function value; `scope` is its scope, params and returns are found there. `detail` 1: an
        /// arrow function, whose `this` is that around it.
        Lambda = "lambda",
        /// A class expression or anonymous class: `symbol` where it has one (row in `symbols`).
        ClassValue = "class_value",
        /// An object literal or Python dict: operands are fields and spreads; `scope` when members have symbols.
        Object = "object",
        /// A list, tuple, set or array: operands are elements and spreads; `detail` is a [`SeqKind`].
        Seq = "seq",
        /// A comprehension: operand 0 is the element, `detail` a [`SeqKind`], `scope` its scope.
        Comprehension = "comprehension",
        /// A literal; `detail` is a [`LiteralKind`].
        Literal = "literal",
        /// A string shaped like a module or file path, or a name given to a call that takes names.
        Path = "path",
        /// The destructured parameter at position `detail` of the scope's function.
        Param = "param",
        /// Java `T::m`, `e::m`, `T::new`: operand 0 (or `ty`) is the qualifier, `name` the member (`new`).
        MethodRef = "method_ref",
        /// `import("x")`: `name` is the specifier when constant.
        DynamicImport = "dynamic_import",
        /// `<A b={c}/>`: operand 0 is the tag, the rest its props (keywords), spreads and children.
        Jsx = "jsx",
        /// An assignment used as a value, `await using`, sequence: operand 0 is the value.
        Value = "value",
        /// A comparison, arithmetic, `not`: operands are kept for their references; `detail` is
        /// [`LiteralKind`] + 1 of its value where the operator alone says it, else 0.
        Operator = "operator",
        /// Something without shape.
        Opaque = "opaque",
        /// A type used as a value: `int[].class`, `String.class`; `ty` says which.
        TypeValue = "type_value",
        /// A template or f-string: operands are its substitutions.
        Template = "template",
        /// `super` as a receiver or callee (Python `super()` is `Call(Name super)`).
        Super = "super",
        /// `this` as a receiver; `name` in Java's `Outer.this`.
        This = "this",
    }
);

cell_enum!(
    /// The kind of a literal, as far as overload choice and inference need it.
    LiteralKind {
        String = "string",
        Bytes = "bytes",
        Int = "int",
        Long = "long",
        Float = "float",
        Double = "double",
        Char = "char",
        Bool = "bool",
        Null = "null",
        Undefined = "undefined",
        Regex = "regex",
        BigInt = "bigint",
        Ellipsis = "ellipsis",
    }
);

cell_enum!(
    /// The kind of a sequence.
    SeqKind {
        List = "list",
        Tuple = "tuple",
        Set = "set",
        Dict = "dict",
        Generator = "generator",
        Array = "array",
    }
);

table!(
    /// An expression. Operands are rows `first .. first + len` of `operands` and refer to
    /// earlier rows only (children before parents), so an arena is acyclic by construction.
    Expr in "expr" {
        kind: ExprKind,
        name: Option<NameId>,
        ty: Option<TypeId>,
        scope: Option<ScopeId>,
        symbol: Option<SymbolId>,
        /// [`LiteralKind`], [`SeqKind`] or a position, as the kind says.
        detail: u32,
        first: u32,
        len: u32,
    }
);

cell_enum!(
    /// What an operand is to its expression.
    Role {
        /// The receiver, callee, condition value, element: what the kind says by position.
        Value = "value",
        /// A keyword argument, object field, JSX prop, annotation element: named.
        Keyword = "keyword",
        /// `*x`, `...x`.
        Spread = "spread",
        /// `**x`.
        KeywordSpread = "keyword_spread",
        /// A field whose key is computed or a string: no name is kept.
        Computed = "computed",
        /// A method of an object literal (its symbol is in the object's scope).
        Method = "method",
        /// An explicit type argument of a call: `ty` is set on the operand's expression (`TypeValue`).
        TypeArgument = "type_argument",
        /// A JSX child.
        Child = "child",
    }
);

table!(
    /// An operand of an expression.
    Operand in "operand" {
        role: Role,
        name: Option<NameId>,
        expr: ExprId,
    }
);

cell_enum!(
    /// The shape of a type.
    TypeKind {
        /// `expr` names it (`Name` or `Attr` chain); operands are its arguments. `detail` 1: Java's `<>`.
        Named = "named",
        Union = "union",
        Intersection = "intersection",
        /// Operand 0 is the element.
        Array = "array",
        Tuple = "tuple",
        /// Last operand (role `Return`) is the result, the others are parameters.
        Func = "func",
        /// Members are operands with names; `scope` when they have symbols.
        Object = "object",
        /// `typeof expr`.
        Typeof = "typeof",
        Keyof = "keyof",
        /// `T["k"]`: operand 0 the object, `name` the key where it is a string literal type.
        IndexedAccess = "indexed_access",
        /// Operands: checked, extends, then, else.
        Conditional = "conditional",
        /// A literal type; `detail` is a [`LiteralKind`] and above it a tag ([`literal_detail`]).
        Literal = "literal",
        /// Java `? extends T` (`detail` 0), `? super T` (1), `?` (no operand).
        Wildcard = "wildcard",
        /// `x is T` (`name` is the parameter, `this` included), `asserts x is T` (`detail` 1).
        Predicate = "predicate",
        /// Mapped types: operand 0 is the value type.
        Mapped = "mapped",
        /// `import("x").T`: `name` is the specifier, `expr` the rest.
        Import = "import",
        /// `infer T`, `unique symbol`, template literal types, and what has no shape.
        Opaque = "opaque",
        /// `this` as a type, Python `Self`.
        This = "this",
        /// `readonly T`, `Annotated[T, …]`, `T?`, `...T`: operand 0 is T; `detail` 1 for optional.
        Wrapped = "wrapped",
    }
);

table!(
    /// A type. Operands are rows `first .. first + len` of `type_operands`, earlier rows only.
    TypeRow in "type" {
        kind: TypeKind,
        expr: Option<ExprId>,
        name: Option<NameId>,
        scope: Option<ScopeId>,
        detail: u32,
        first: u32,
        len: u32,
    }
);

cell_enum!(
    /// What an operand is to its type.
    TypeRole {
        Argument = "argument",
        Param = "param",
        RestParam = "rest_param",
        Return = "return",
        Member = "member",
        OptionalMember = "optional_member",
        /// An index signature's value.
        Index = "index",
    }
);

table!(
    /// An operand of a type.
    TypeOperand in "type_operand" {
        role: TypeRole,
        name: Option<NameId>,
        ty: TypeId,
    }
);

cell_enum!(
    /// The branch a definition, binding or import stands in, as far as linking cares.
    Branch {
        /// Runs whenever its scope runs.
        Always = "always",
        /// `if TYPE_CHECKING:`, `import type`.
        TypeChecking = "type_checking",
        Try = "try",
        /// `except ImportError` and other handlers.
        Except = "except",
        If = "if",
        Else = "else",
        /// Loop bodies, `match`/`switch` arms.
        Other = "other",
    }
);

cell_enum!(
    /// How a name or chain got its value.
    Origin {
        /// `x = e`, `const x = e`, field initialisers.
        Assign = "=",
        /// A declaration without a value (`x: int`, `let x`, `private Foo foo;`).
        Declare = "declare",
        /// `+=` and the like.
        Augmented = "augmented",
        /// The element of an iterated source: `for x in e`, `for (const x of e)`, `for (T x : e)`.
        For = "for",
        AsyncFor = "async_for",
        /// `for (k in e)`: keys.
        ForIn = "for_in",
        With = "with",
        AsyncWith = "async_with",
        /// The instance of a caught type (`ty` or `value`).
        Except = "except",
        /// A comprehension's element.
        Comprehension = "comprehension",
        Walrus = "walrus",
        /// `match`/`case` captures, Java and TypeScript patterns; `ty` is the matched class.
        Pattern = "pattern",
        /// Java's try-with-resources.
        Resource = "resource",
        /// A destructured parameter: `value` is [`ExprKind::Param`].
        Parameter = "parameter",
        /// `global x`, `nonlocal x` in this scope: `name` belongs to the module or outer function.
        Global = "global",
        Nonlocal = "nonlocal",
        /// `del x`.
        Delete = "delete",
        /// `Object.assign(X, e)`: `target` gets the members of `value`.
        ObjectAssign = "object_assign",
        /// `Object.defineProperty(X, "m", …)`: as an assignment of `target`.
        DefineProperty = "define_property",
        /// `x = e` in ECMAScript and Java, where another row declares `x`: the name is looked up
        /// from `scope` and this row adds a value to it. Declarations with a value are `=`; in
        /// Python, where assigning declares, all are `=`.
        Reassign = "reassign",
    }
);

table!(
    /// An assignment to a name or property chain, in source order within the file. `scope` is
    /// where the name is declared when the row declares it (a `var` is hoisted to its function),
    /// else where the statement stands.
    Binding in "binding" {
        scope: ScopeId,
        origin: Origin,
        branch: Branch,
        /// The bound name; `None` when `target` is a chain.
        name: Option<NameId>,
        /// `self.x`, `this.x`, `exports.f`, `X.prototype.m`, `a.b.c`; of any origin that assigns.
        target: Option<ExprId>,
        value: Option<ExprId>,
        ty: Option<TypeId>,
        /// The symbol that this binding defines (module variables, fields, functions assigned to names).
        symbol: Option<SymbolId>,
        /// The way into `value` when unpacked or destructured: rows of `steps`, outermost first.
        first_step: u32,
        n_steps: u32,
        /// The default when destructured.
        default: Option<ExprId>,
        line: u32,
        column: u32,
    }
);

cell_enum!(
    /// One step of unpacking.
    StepKind {
        /// By position (`detail`).
        Position = "position",
        /// By key (`name`).
        Key = "key",
        /// `*rest`, `...rest` from position `detail`.
        Rest = "rest",
        /// Dict or Map items without a known key.
        Computed = "computed",
    }
);

table!(
    /// A step from a value to a part of it.
    Step in "step" {
        kind: StepKind,
        name: Option<NameId>,
        detail: u32,
    }
);

cell_enum!(
    /// How a function gives a value.
    ReturnKind {
        Return = "return",
        /// The body of an expression-bodied arrow or lambda.
        Expression = "expression",
        Yield = "yield",
        YieldFrom = "yield_from",
        Throw = "throw",
    }
);

table!(
    /// A value that a function or lambda gives back; `scope` is the function's own.
    Return in "return" {
        scope: ScopeId,
        kind: ReturnKind,
        expr: ExprId,
        line: u32,
    }
);

cell_enum!(
    /// What a test says of a chain.
    NarrowingKind {
        /// `isinstance`, `instanceof`, `case T x`.
        Instance = "instance",
        NotInstance = "not_instance",
        /// `is None`, `== null`, `!x`.
        Null = "null",
        NotNull = "not_null",
        /// `typeof x === "…"`, `callable(x)`: `name` says which.
        Typeof = "typeof",
        NotTypeof = "not_typeof",
        /// `x.kind === …`: `name` is the key, `ty` what it is compared with, where that is known.
        /// `"k" in x`: no `ty`.
        Discriminant = "discriminant",
        NotDiscriminant = "not_discriminant",
        /// `f(x)`, `x.f()`: `ty` is the `typeof` of the callee, whose declared result (`p is T`) says
        /// what `x` is.
        Guard = "guard",
        NotGuard = "not_guard",
    }
);

table!(
    /// A narrowing of a chain over a range of lines (inclusive), from tests, asserts, early returns.
    Narrowing in "narrowing" {
        scope: ScopeId,
        kind: NarrowingKind,
        chain: ExprId,
        ty: Option<TypeId>,
        name: Option<NameId>,
        start_line: u32,
        end_line: u32,
    }
);

cell_enum!(
    /// The form of an import.
    ImportKind {
        /// `import a.b` (`module`), `import a.b as c`, Java single-type import.
        Module = "module",
        /// `from m import n as l`, `import { n as l } from "m"`; `name` is the imported one.
        Named = "named",
        /// `import d from "m"`: `name` is `default`.
        Default = "default",
        /// `import * as ns from "m"`, `import ns = require("m")`.
        Namespace = "namespace",
        /// `from m import *`, Java `import p.*`.
        Star = "star",
        /// `import "m"`.
        SideEffect = "side_effect",
        /// `require("m")`; `local` where it is bound directly.
        Require = "require",
        /// `import("m")`, `importlib.import_module("m")`, `__import__`.
        Dynamic = "dynamic",
        /// Java `import static C.m`.
        Static = "static",
        /// Java `import static C.*`.
        StaticStar = "static_star",
        /// `import x = A.B` inside TypeScript.
        Alias = "alias",
        /// `typeof import("m")`, `import("m").T` in types, `/// <reference path>`.
        TypeQuery = "type_query",
    }
);

table!(
    /// An import, one row per bound name.
    Import in "import" {
        scope: ScopeId,
        kind: ImportKind,
        branch: Branch,
        /// The specifier as written, without leading dots of Python's relative form;
        /// `None` when computed (then the answer is blind) or for `from . import x`.
        module: Option<NameId>,
        /// Python's leading dots.
        level: u32,
        name: Option<NameId>,
        local: Option<NameId>,
        /// `import type`, `export type … from`.
        type_only: bool,
        line: u32,
        column: u32,
        /// Where the imported name stands (references to it).
        name_line: u32,
        name_column: u32,
    }
);

cell_enum!(
    /// The form of an export.
    ExportKind {
        /// `export { local as exported }`, `export const exported`.
        Named = "named",
        /// `export default …`: `expr` or `local`.
        Default = "default",
        /// `export * from "m"`.
        Star = "star",
        /// `export * as exported from "m"`.
        Namespace = "namespace",
        /// `export { name as exported } from "m"`.
        Reexport = "reexport",
        /// `export = e`, `module.exports = e`.
        Assign = "assign",
        /// `exports.exported = e`, `module.exports.exported = e`.
        Member = "member",
        /// `__all__ = [exported, …]`; one row a name.
        All = "all",
        /// `__all__ += m.__all__`: `expr` is what is added.
        AllFrom = "all_from",
        /// `export as namespace X`.
        Global = "global",
    }
);

table!(
    /// An export, one row per exported name.
    Export in "export" {
        scope: ScopeId,
        kind: ExportKind,
        exported: Option<NameId>,
        /// The local name, or the name in `module` for re-exports.
        local: Option<NameId>,
        module: Option<NameId>,
        expr: Option<ExprId>,
        symbol: Option<SymbolId>,
        type_only: bool,
        line: u32,
        column: u32,
    }
);

cell_enum!(
    /// What a reference does with its target.
    RefKind {
        Call = "call",
        New = "new",
        /// Explicit `super(…)`, `super().m(…)` receivers, Java `super(…)`/`this(…)`.
        Super = "super",
        Extends = "extends",
        Implements = "implements",
        Decorator = "decorator",
        Type = "type",
        Read = "read",
        Write = "write",
        Jsx = "jsx",
        /// A function or method given as a value.
        Callback = "callback",
        StringPath = "string_path",
    }
);

table!(
    /// A use of a name or chain, in source order. Every part of a chain that could have a
    /// target of its own has a row (`a.b.c()` gives reads of `a` and `a.b`, and a call of `a.b.c`).
    Reference in "ref" {
        kind: RefKind,
        /// The symbol whose code it is (initialisers belong to the class or module).
        owner: SymbolId,
        /// In which scope `expr` is to be evaluated; its test block is the scope's.
        scope: ScopeId,
        /// The referenced chain itself (for calls: the whole `Call`/`New`, whose operand 0 is the callee).
        expr: ExprId,
        /// Where the last name of the chain stands.
        line: u32,
        column: u32,
        /// The first line of the whole expression, when another.
        start_line: u32,
    }
);

cell_enum!(
    /// What a test block is.
    TestBlockKind {
        Describe = "describe",
        Test = "test",
        /// `beforeEach` and the like: runs for every test of its parent.
        Hook = "hook",
    }
);

table!(
    /// A `describe`, `it`, `test`, `suite` or hook call with a function (FACTS.md §2).
    TestBlock in "test_block" {
        kind: TestBlockKind,
        parent: Option<TestBlockId>,
        /// The title where constant (redacted); `None` when computed.
        title: Option<NameId>,
        /// `it.each`, a loop around it, a computed title.
        parametrized: bool,
        /// `.skip`, `.todo`, `xit`.
        skipped: bool,
        /// The scope of its function.
        scope: Option<ScopeId>,
        owner: SymbolId,
        start_line: u32,
        end_line: u32,
        body_hash: Hash64,
    }
);

table!(
    /// A damaged range, lines inclusive.
    Damage in "damage" {
        start_line: u32,
        end_line: u32,
    }
);

table!(
    /// Java's package declaration or a name that the whole file carries; at most one.
    Package in "package" {
        name: NameId,
        line: u32,
    }
);

/// All that one file says alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub dialect: Dialect,
    pub status: Status,
    /// Why, where the status is not `ok`; a short stable code such as `syntax`, `too_large`.
    pub status_reason: Option<NameId>,
    pub n_lines: u32,
    pub n_bytes: u32,
    /// Interned texts, in order of first use; unique.
    pub names: Vec<Box<str>>,
    pub symbols: Vec<Symbol>,
    pub scopes: Vec<Scope>,
    pub params: Vec<Param>,
    pub type_params: Vec<TypeParam>,
    pub heritage: Vec<Heritage>,
    pub decorators: Vec<Decorator>,
    pub exprs: Vec<Expr>,
    pub operands: Vec<Operand>,
    pub types: Vec<TypeRow>,
    pub type_operands: Vec<TypeOperand>,
    pub bindings: Vec<Binding>,
    pub steps: Vec<Step>,
    pub returns: Vec<Return>,
    pub narrowings: Vec<Narrowing>,
    pub imports: Vec<Import>,
    pub exports: Vec<Export>,
    pub refs: Vec<Reference>,
    pub test_blocks: Vec<TestBlock>,
    pub damage: Vec<Damage>,
    pub package: Vec<Package>,
}

/// Calls `$each!(field)` for every table of [`FileFacts`], in stored order.
#[macro_export]
macro_rules! for_each_table {
    ($each:ident) => {
        $each!(symbols);
        $each!(scopes);
        $each!(params);
        $each!(type_params);
        $each!(heritage);
        $each!(decorators);
        $each!(exprs);
        $each!(operands);
        $each!(types);
        $each!(type_operands);
        $each!(bindings);
        $each!(steps);
        $each!(returns);
        $each!(narrowings);
        $each!(imports);
        $each!(exports);
        $each!(refs);
        $each!(test_blocks);
        $each!(damage);
        $each!(package);
    };
}

/// The detail of a literal type: its kind, and 16 bits of a hash of what is written. They tell the
/// members of a discriminated union apart and give no literal back.
pub fn literal_detail(kind: LiteralKind, text: &str) -> u32 {
    // FNV-1a, folded.
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let tag = (hash ^ (hash >> 16)) & 0xffff;
    kind as u32 | (tag.max(1) << 8)
}

/// The kind in the detail of a literal type.
pub fn literal_kind(detail: u32) -> u32 {
    detail & 0xff
}

impl ImportKind {
    /// Whether it brings in all names of its module.
    pub fn is_star(self) -> bool {
        matches!(self, ImportKind::Star | ImportKind::StaticStar)
    }
}

impl SymbolKind {
    /// Whether it is a type with members: class, interface, enum, record, annotation.
    pub fn is_class(self) -> bool {
        matches!(
            self,
            SymbolKind::Class | SymbolKind::Interface | SymbolKind::Enum | SymbolKind::Record | SymbolKind::Annotation
        )
    }

    /// Whether it is called: function, method, constructor.
    pub fn is_function(self) -> bool {
        matches!(self, SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor)
    }
}

impl FileFacts {
    /// The text of an interned name.
    pub fn name(&self, id: NameId) -> &str {
        &self.names[id.index()]
    }

    /// The text of an optional name, `""` for none.
    pub fn text(&self, id: Option<NameId>) -> &str {
        id.map_or("", |id| self.name(id))
    }

    /// The row of an expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    /// The operands of an expression, in written order.
    pub fn operands_of(&self, id: ExprId) -> &[Operand] {
        let row = self.expr(id);
        &self.operands[row.first as usize..(row.first + row.len) as usize]
    }

    /// Operand `at` of an expression.
    pub fn operand(&self, id: ExprId, at: usize) -> Option<ExprId> {
        self.operands_of(id).get(at).map(|o| o.expr)
    }

    /// The row of a type.
    pub fn type_row(&self, id: TypeId) -> &TypeRow {
        &self.types[id.index()]
    }

    /// The operands of a type, in written order.
    pub fn operands_of_type(&self, id: TypeId) -> &[TypeOperand] {
        let row = self.type_row(id);
        &self.type_operands[row.first as usize..(row.first + row.len) as usize]
    }

    /// The row of a symbol.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// The row of a scope.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.index()]
    }

    /// The steps by which a binding takes its part of the value.
    pub fn steps_of(&self, binding: &Binding) -> &[Step] {
        &self.steps[binding.first_step as usize..(binding.first_step + binding.n_steps) as usize]
    }

    /// The parameters of a function's or lambda's scope, in order. O(log n + k).
    pub fn params_of(&self, scope: ScopeId) -> &[Param] {
        let start = self.params.partition_point(|p| p.scope < scope);
        let end = self.params.partition_point(|p| p.scope <= scope);
        &self.params[start..end]
    }
}
