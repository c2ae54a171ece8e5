//! Node kinds and fields of the three grammars as small numbers, so that the walk compares
//! integers and never strings.

use std::sync::OnceLock;

use tree_sitter::{Language, Node};

use crate::base::dialect::Dialect;

macro_rules! kinds {
    ($($variant:ident = $text:literal $named:literal),+ $(,)?) => {
        /// What a node is, as far as the walk cares; `Other` is all else.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum K { Other, Error, $($variant),+ }
        impl K {
            fn of(name: &str, named: bool) -> K {
                match (name, named) {
                    $(($text, $named) => K::$variant,)+
                    ("ERROR", _) => K::Error,
                    _ => K::Other,
                }
            }
        }
    };
}

kinds!(
    Program = "program" true,
    Comment = "comment" true,
    HtmlComment = "html_comment" true,
    Identifier = "identifier" true,
    PropertyIdentifier = "property_identifier" true,
    PrivatePropertyIdentifier = "private_property_identifier" true,
    ShorthandProperty = "shorthand_property_identifier" true,
    ShorthandPattern = "shorthand_property_identifier_pattern" true,
    TypeIdentifier = "type_identifier" true,
    NestedIdentifier = "nested_identifier" true,
    NestedTypeIdentifier = "nested_type_identifier" true,
    ComputedName = "computed_property_name" true,
    String = "string" true,
    StringFragment = "string_fragment" true,
    EscapeSequence = "escape_sequence" true,
    TemplateString = "template_string" true,
    TemplateSubstitution = "template_substitution" true,
    Number = "number" true,
    Regex = "regex" true,
    True = "true" true,
    False = "false" true,
    Null = "null" true,
    Undefined = "undefined" true,
    This = "this" true,
    Super = "super" true,
    Import = "import" true,
    MetaProperty = "meta_property" true,
    // statements
    ExportStatement = "export_statement" true,
    ImportStatement = "import_statement" true,
    ImportAlias = "import_alias" true,
    ImportClause = "import_clause" true,
    ImportRequireClause = "import_require_clause" true,
    ImportSpecifier = "import_specifier" true,
    NamedImports = "named_imports" true,
    NamespaceImport = "namespace_import" true,
    NamespaceExport = "namespace_export" true,
    ExportClause = "export_clause" true,
    ExportSpecifier = "export_specifier" true,
    ExpressionStatement = "expression_statement" true,
    StatementBlock = "statement_block" true,
    LexicalDeclaration = "lexical_declaration" true,
    VariableDeclaration = "variable_declaration" true,
    UsingDeclaration = "using_declaration" true,
    VariableDeclarator = "variable_declarator" true,
    IfStatement = "if_statement" true,
    ElseClause = "else_clause" true,
    ForStatement = "for_statement" true,
    ForInStatement = "for_in_statement" true,
    WhileStatement = "while_statement" true,
    DoStatement = "do_statement" true,
    SwitchStatement = "switch_statement" true,
    SwitchBody = "switch_body" true,
    SwitchCase = "switch_case" true,
    SwitchDefault = "switch_default" true,
    TryStatement = "try_statement" true,
    CatchClause = "catch_clause" true,
    FinallyClause = "finally_clause" true,
    ReturnStatement = "return_statement" true,
    ThrowStatement = "throw_statement" true,
    BreakStatement = "break_statement" true,
    ContinueStatement = "continue_statement" true,
    LabeledStatement = "labeled_statement" true,
    WithStatement = "with_statement" true,
    EmptyStatement = "empty_statement" true,
    // definitions
    FunctionDeclaration = "function_declaration" true,
    GeneratorFunctionDeclaration = "generator_function_declaration" true,
    FunctionSignature = "function_signature" true,
    FunctionExpression = "function_expression" true,
    GeneratorFunction = "generator_function" true,
    ArrowFunction = "arrow_function" true,
    ClassDeclaration = "class_declaration" true,
    AbstractClassDeclaration = "abstract_class_declaration" true,
    Class = "class" true,
    ClassHeritage = "class_heritage" true,
    ExtendsClause = "extends_clause" true,
    ImplementsClause = "implements_clause" true,
    ExtendsTypeClause = "extends_type_clause" true,
    ClassBody = "class_body" true,
    MethodDefinition = "method_definition" true,
    PublicFieldDefinition = "public_field_definition" true,
    FieldDefinition = "field_definition" true,
    AbstractMethodSignature = "abstract_method_signature" true,
    MethodSignature = "method_signature" true,
    PropertySignature = "property_signature" true,
    CallSignature = "call_signature" true,
    ConstructSignature = "construct_signature" true,
    IndexSignature = "index_signature" true,
    ClassStaticBlock = "class_static_block" true,
    InterfaceDeclaration = "interface_declaration" true,
    TypeAliasDeclaration = "type_alias_declaration" true,
    EnumDeclaration = "enum_declaration" true,
    EnumAssignment = "enum_assignment" true,
    InternalModule = "internal_module" true,
    Module = "module" true,
    AmbientDeclaration = "ambient_declaration" true,
    Decorator = "decorator" true,
    AccessibilityModifier = "accessibility_modifier" true,
    OverrideModifier = "override_modifier" true,
    // patterns and parameters
    FormalParameters = "formal_parameters" true,
    RequiredParameter = "required_parameter" true,
    OptionalParameter = "optional_parameter" true,
    AssignmentPattern = "assignment_pattern" true,
    ObjectPattern = "object_pattern" true,
    ArrayPattern = "array_pattern" true,
    RestPattern = "rest_pattern" true,
    PairPattern = "pair_pattern" true,
    ObjectAssignmentPattern = "object_assignment_pattern" true,
    // expressions
    Object = "object" true,
    Pair = "pair" true,
    Array = "array" true,
    SpreadElement = "spread_element" true,
    Parenthesized = "parenthesized_expression" true,
    MemberExpression = "member_expression" true,
    SubscriptExpression = "subscript_expression" true,
    CallExpression = "call_expression" true,
    NewExpression = "new_expression" true,
    Arguments = "arguments" true,
    AssignmentExpression = "assignment_expression" true,
    AugmentedAssignment = "augmented_assignment_expression" true,
    UpdateExpression = "update_expression" true,
    BinaryExpression = "binary_expression" true,
    UnaryExpression = "unary_expression" true,
    TernaryExpression = "ternary_expression" true,
    SequenceExpression = "sequence_expression" true,
    AwaitExpression = "await_expression" true,
    YieldExpression = "yield_expression" true,
    AsExpression = "as_expression" true,
    SatisfiesExpression = "satisfies_expression" true,
    NonNullExpression = "non_null_expression" true,
    InstantiationExpression = "instantiation_expression" true,
    TypeAssertion = "type_assertion" true,
    // jsx
    JsxElement = "jsx_element" true,
    JsxSelfClosing = "jsx_self_closing_element" true,
    JsxOpening = "jsx_opening_element" true,
    JsxClosing = "jsx_closing_element" true,
    JsxAttribute = "jsx_attribute" true,
    JsxExpression = "jsx_expression" true,
    JsxText = "jsx_text" true,
    JsxNamespaceName = "jsx_namespace_name" true,
    HtmlCharacterReference = "html_character_reference" true,
    // types
    TypeAnnotation = "type_annotation" true,
    OptingTypeAnnotation = "opting_type_annotation" true,
    OmittingTypeAnnotation = "omitting_type_annotation" true,
    AddingTypeAnnotation = "adding_type_annotation" true,
    AssertsAnnotation = "asserts_annotation" true,
    Asserts = "asserts" true,
    TypePredicateAnnotation = "type_predicate_annotation" true,
    TypePredicate = "type_predicate" true,
    TypeParameters = "type_parameters" true,
    TypeParameter = "type_parameter" true,
    Constraint = "constraint" true,
    DefaultType = "default_type" true,
    TypeArguments = "type_arguments" true,
    PredefinedType = "predefined_type" true,
    GenericType = "generic_type" true,
    UnionType = "union_type" true,
    IntersectionType = "intersection_type" true,
    ArrayType = "array_type" true,
    TupleType = "tuple_type" true,
    ParenthesizedType = "parenthesized_type" true,
    FunctionType = "function_type" true,
    ConstructorType = "constructor_type" true,
    ObjectType = "object_type" true,
    TypeQuery = "type_query" true,
    IndexTypeQuery = "index_type_query" true,
    LookupType = "lookup_type" true,
    ConditionalType = "conditional_type" true,
    LiteralType = "literal_type" true,
    ReadonlyType = "readonly_type" true,
    OptionalType = "optional_type" true,
    RestType = "rest_type" true,
    InferType = "infer_type" true,
    ThisType = "this_type" true,
    MappedTypeClause = "mapped_type_clause" true,
    TemplateLiteralType = "template_literal_type" true,
    TemplateType = "template_type" true,
    // tokens
    TClass = "class" false,
    TAsync = "async" false,
    TAwait = "await" false,
    TStatic = "static" false,
    TGet = "get" false,
    TSet = "set" false,
    TStar = "*" false,
    TQuestion = "?" false,
    TExport = "export" false,
    TDefault = "default" false,
    TAbstract = "abstract" false,
    TReadonly = "readonly" false,
    TDeclare = "declare" false,
    TConst = "const" false,
    TVar = "var" false,
    TType = "type" false,
    TTypeof = "typeof" false,
    TEquals = "=" false,
    TAs = "as" false,
    TNamespace = "namespace" false,
    TGlobal = "global" false,
    TModule = "module" false,
    TOf = "of" false,
    TIn = "in" false,
    TInstanceof = "instanceof" false,
    TNot = "!" false,
    TStrictEq = "===" false,
    TEq = "==" false,
    TStrictNe = "!==" false,
    TNe = "!=" false,
    TAnd = "&&" false,
    TOr = "||" false,
    TNullish = "??" false,
    TDelete = "delete" false,
    TComma = "," false,
    TUsing = "using" false,
);

macro_rules! fields {
    ($($field:ident = $text:literal),+ $(,)?) => {
        /// The fields' numbers in one grammar; 0 where it has no such field.
        #[derive(Clone, Copy, Debug)]
        pub struct Fields { $(pub $field: u16),+ }
        impl Fields {
            fn of(language: &Language) -> Self {
                Fields { $($field: language.field_id_for_name($text).map_or(0, |id| id.get())),+ }
            }
        }
    };
}

fields!(
    alias = "alias",
    alternative = "alternative",
    arguments = "arguments",
    body = "body",
    condition = "condition",
    consequence = "consequence",
    constraint = "constraint",
    constructor = "constructor",
    declaration = "declaration",
    finalizer = "finalizer",
    function = "function",
    handler = "handler",
    index = "index",
    index_type = "index_type",
    key = "key",
    left = "left",
    module = "module",
    name = "name",
    object = "object",
    open_tag = "open_tag",
    operator = "operator",
    parameter = "parameter",
    parameters = "parameters",
    pattern = "pattern",
    property = "property",
    return_type = "return_type",
    right = "right",
    source = "source",
    type_ = "type",
    type_arguments = "type_arguments",
    type_parameters = "type_parameters",
    value = "value",
);

/// One grammar's numbers.
#[derive(Debug)]
pub struct Grammar {
    kinds: Vec<K>,
    /// Its fields.
    pub fields: Fields,
}

impl Grammar {
    fn new(language: Language) -> Self {
        let kinds = (0..language.node_kind_count())
            .map(|id| {
                let id = id as u16;
                K::of(language.node_kind_for_id(id).unwrap_or_default(), language.node_kind_is_named(id))
            })
            .collect();
        Grammar { kinds, fields: Fields::of(&language) }
    }

    /// The grammar that reads a dialect.
    pub fn of(dialect: Dialect) -> &'static Grammar {
        static TS: OnceLock<Grammar> = OnceLock::new();
        static TSX: OnceLock<Grammar> = OnceLock::new();
        static JS: OnceLock<Grammar> = OnceLock::new();
        let (cell, language) = match dialect {
            Dialect::Tsx => (&TSX, tree_sitter_typescript::LANGUAGE_TSX),
            Dialect::Js | Dialect::Jsx => (&JS, tree_sitter_javascript::LANGUAGE),
            _ => (&TS, tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
        };
        cell.get_or_init(|| Grammar::new(language.into()))
    }

    /// The kind of a node. ERROR has a number beyond the table (LIMITS).
    pub fn kind(&self, node: Node<'_>) -> K {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Error)
    }
}
