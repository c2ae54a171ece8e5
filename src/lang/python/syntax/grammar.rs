//! The node kinds and fields of the Python grammar, as numbers: matching by number is what
//! keeps the walk cheap (a kind's text costs a search for its end and a UTF-8 check).

use std::sync::LazyLock;

use tree_sitter::Node;

macro_rules! kinds {
    ($($variant:ident = $text:literal),+ $(,)?) => {
        /// The named node kinds that the walk tells apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { $($variant,)+ Error, Token, Other }
        const KINDS: &[(&str, Kind)] = &[$(($text, Kind::$variant)),+];
    };
}

kinds! {
    Module = "module",
    Block = "block",
    ExpressionStatement = "expression_statement",
    Assignment = "assignment",
    AugmentedAssignment = "augmented_assignment",
    Function = "function_definition",
    Class = "class_definition",
    Decorated = "decorated_definition",
    Decorator = "decorator",
    If = "if_statement",
    Elif = "elif_clause",
    Else = "else_clause",
    For = "for_statement",
    While = "while_statement",
    Try = "try_statement",
    Except = "except_clause",
    Finally = "finally_clause",
    With = "with_statement",
    WithClause = "with_clause",
    WithItem = "with_item",
    Match = "match_statement",
    Case = "case_clause",
    CasePattern = "case_pattern",
    ClassPattern = "class_pattern",
    KeywordPattern = "keyword_pattern",
    SplatPattern = "splat_pattern",
    UnionPattern = "union_pattern",
    DictPattern = "dict_pattern",
    AsPattern = "as_pattern",
    AsPatternTarget = "as_pattern_target",
    Return = "return_statement",
    Delete = "delete_statement",
    Raise = "raise_statement",
    Assert = "assert_statement",
    Global = "global_statement",
    Nonlocal = "nonlocal_statement",
    Import = "import_statement",
    ImportFrom = "import_from_statement",
    FutureImport = "future_import_statement",
    RelativeImport = "relative_import",
    ImportPrefix = "import_prefix",
    AliasedImport = "aliased_import",
    WildcardImport = "wildcard_import",
    TypeAlias = "type_alias_statement",
    Pass = "pass_statement",
    Break = "break_statement",
    Continue = "continue_statement",
    Identifier = "identifier",
    DottedName = "dotted_name",
    Attribute = "attribute",
    Call = "call",
    ArgumentList = "argument_list",
    KeywordArgument = "keyword_argument",
    Subscript = "subscript",
    Slice = "slice",
    Await = "await",
    Yield = "yield",
    Lambda = "lambda",
    Conditional = "conditional_expression",
    Boolean = "boolean_operator",
    Not = "not_operator",
    Comparison = "comparison_operator",
    Binary = "binary_operator",
    Unary = "unary_operator",
    Named = "named_expression",
    List = "list",
    Tuple = "tuple",
    Set = "set",
    Dictionary = "dictionary",
    Pair = "pair",
    ListComprehension = "list_comprehension",
    SetComprehension = "set_comprehension",
    DictComprehension = "dictionary_comprehension",
    Generator = "generator_expression",
    ForIn = "for_in_clause",
    IfClause = "if_clause",
    ListSplat = "list_splat",
    DictSplat = "dictionary_splat",
    ParenthesizedSplat = "parenthesized_list_splat",
    Parenthesized = "parenthesized_expression",
    ExpressionList = "expression_list",
    PatternList = "pattern_list",
    TuplePattern = "tuple_pattern",
    ListPattern = "list_pattern",
    ListSplatPattern = "list_splat_pattern",
    DictSplatPattern = "dictionary_splat_pattern",
    String = "string",
    StringStart = "string_start",
    StringContent = "string_content",
    StringEnd = "string_end",
    Interpolation = "interpolation",
    FormatSpecifier = "format_specifier",
    FormatExpression = "format_expression",
    ConcatenatedString = "concatenated_string",
    Integer = "integer",
    Float = "float",
    True = "true",
    False = "false",
    None = "none",
    Ellipsis = "ellipsis",
    Type = "type",
    GenericType = "generic_type",
    UnionType = "union_type",
    MemberType = "member_type",
    ConstrainedType = "constrained_type",
    SplatType = "splat_type",
    TypeParameters = "type_parameter",
    Parameters = "parameters",
    LambdaParameters = "lambda_parameters",
    TypedParameter = "typed_parameter",
    DefaultParameter = "default_parameter",
    TypedDefaultParameter = "typed_default_parameter",
    KeywordSeparator = "keyword_separator",
    PositionalSeparator = "positional_separator",
    Comment = "comment",
    LineContinuation = "line_continuation",
}

macro_rules! fields {
    ($($field:ident),+ $(,)?) => {
        /// The numbers of the grammar's fields.
        pub struct Fields { $(pub $field: u16),+ }
        impl Fields {
            fn new(grammar: &tree_sitter::Language) -> Self {
                Fields { $($field: grammar.field_id_for_name(stringify!($field)).map_or(0, |id| id.get())),+ }
            }
        }
    };
}

fields! {
    alias, alternative, arguments, attribute, body, condition, consequence, definition, expression, function,
    guard, left, module_name, name, object, operator, operators, parameters, return_type, right, subject,
    superclasses, type_parameters, value, argument, cause, key,
}

/// The field named `type`, whose name is a keyword here.
static TYPE_FIELD: LazyLock<u16> = LazyLock::new(|| {
    let grammar: tree_sitter::Language = tree_sitter_python::LANGUAGE.into();
    grammar.field_id_for_name("type").map_or(0, |id| id.get())
});

/// The numbers of the fields.
pub static FIELDS: LazyLock<Fields> = LazyLock::new(|| Fields::new(&tree_sitter_python::LANGUAGE.into()));

static TABLE: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let grammar: tree_sitter::Language = tree_sitter_python::LANGUAGE.into();
    (0..grammar.node_kind_count())
        .map(|id| {
            let id = id as u16;
            if !grammar.node_kind_is_named(id) {
                return Kind::Token;
            }
            let text = grammar.node_kind_for_id(id).unwrap_or("");
            KINDS.iter().find(|(name, _)| *name == text).map_or(Kind::Other, |(_, kind)| *kind)
        })
        .collect()
});

/// The kind of a node; ERROR nodes lie outside of the grammar's table (their id is 65535).
pub fn kind(node: Node<'_>) -> Kind {
    TABLE.get(usize::from(node.kind_id())).copied().unwrap_or(Kind::Error)
}

/// The child in the field of that number.
pub fn child(node: Node<'_>, field: u16) -> Option<Node<'_>> {
    if field == 0 { None } else { node.child_by_field_id(field) }
}

/// The child in the field `type`.
pub fn type_child(node: Node<'_>) -> Option<Node<'_>> {
    child(node, *TYPE_FIELD)
}

/// Whether a node is a comment or a line continuation.
pub fn is_extra(node: Node<'_>) -> bool {
    matches!(kind(node), Kind::Comment | Kind::LineContinuation)
}
