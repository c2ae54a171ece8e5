//! Node kinds of the Java grammar as a closed enum, looked up by the kind's number.
//!
//! Matching on a small enum costs a table read a node; the kind's name would cost a C string
//! comparison each time. ERROR nodes have a number beyond the table.

use std::sync::LazyLock;

use tree_sitter::Node;

macro_rules! kinds {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A kind of node, as far as the walk tells them apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum K { $(#[doc = $name] $variant,)+ /** Any other token or rule. */ Other, /** A damaged range. */ Error }
        const NAMES: &[(&str, K)] = &[$(($name, K::$variant)),+];
    };
}

kinds! {
    Program = "program",
    LineComment = "line_comment",
    BlockComment = "block_comment",
    PackageDeclaration = "package_declaration",
    ImportDeclaration = "import_declaration",
    ModuleDeclaration = "module_declaration",
    ModuleBody = "module_body",
    ProvidesDirective = "provides_module_directive",
    UsesDirective = "uses_module_directive",
    Asterisk = "asterisk",
    ScopedIdentifier = "scoped_identifier",
    Identifier = "identifier",
    UnderscorePattern = "underscore_pattern",
    ClassDeclaration = "class_declaration",
    InterfaceDeclaration = "interface_declaration",
    EnumDeclaration = "enum_declaration",
    RecordDeclaration = "record_declaration",
    AnnotationTypeDeclaration = "annotation_type_declaration",
    ClassBody = "class_body",
    InterfaceBody = "interface_body",
    EnumBody = "enum_body",
    EnumBodyDeclarations = "enum_body_declarations",
    AnnotationTypeBody = "annotation_type_body",
    EnumConstant = "enum_constant",
    MethodDeclaration = "method_declaration",
    ConstructorDeclaration = "constructor_declaration",
    CompactConstructorDeclaration = "compact_constructor_declaration",
    AnnotationTypeElementDeclaration = "annotation_type_element_declaration",
    FieldDeclaration = "field_declaration",
    ConstantDeclaration = "constant_declaration",
    StaticInitializer = "static_initializer",
    ConstructorBody = "constructor_body",
    ExplicitConstructorInvocation = "explicit_constructor_invocation",
    VariableDeclarator = "variable_declarator",
    FormalParameters = "formal_parameters",
    FormalParameter = "formal_parameter",
    SpreadParameter = "spread_parameter",
    ReceiverParameter = "receiver_parameter",
    InferredParameters = "inferred_parameters",
    TypeParameters = "type_parameters",
    TypeParameter = "type_parameter",
    TypeBound = "type_bound",
    TypeArguments = "type_arguments",
    TypeList = "type_list",
    Superclass = "superclass",
    SuperInterfaces = "super_interfaces",
    ExtendsInterfaces = "extends_interfaces",
    Permits = "permits",
    Throws = "throws",
    Modifiers = "modifiers",
    Annotation = "annotation",
    MarkerAnnotation = "marker_annotation",
    AnnotationArgumentList = "annotation_argument_list",
    ElementValuePair = "element_value_pair",
    ElementValueArrayInitializer = "element_value_array_initializer",
    TypeIdentifier = "type_identifier",
    ScopedTypeIdentifier = "scoped_type_identifier",
    GenericType = "generic_type",
    ArrayType = "array_type",
    AnnotatedType = "annotated_type",
    IntegralType = "integral_type",
    FloatingPointType = "floating_point_type",
    BooleanType = "boolean_type",
    VoidType = "void_type",
    Wildcard = "wildcard",
    Dimensions = "dimensions",
    DimensionsExpr = "dimensions_expr",
    Block = "block",
    LocalVariableDeclaration = "local_variable_declaration",
    ExpressionStatement = "expression_statement",
    IfStatement = "if_statement",
    WhileStatement = "while_statement",
    DoStatement = "do_statement",
    ForStatement = "for_statement",
    EnhancedForStatement = "enhanced_for_statement",
    LabeledStatement = "labeled_statement",
    AssertStatement = "assert_statement",
    ReturnStatement = "return_statement",
    ThrowStatement = "throw_statement",
    YieldStatement = "yield_statement",
    BreakStatement = "break_statement",
    ContinueStatement = "continue_statement",
    TryStatement = "try_statement",
    TryWithResourcesStatement = "try_with_resources_statement",
    ResourceSpecification = "resource_specification",
    Resource = "resource",
    CatchClause = "catch_clause",
    CatchFormalParameter = "catch_formal_parameter",
    CatchType = "catch_type",
    FinallyClause = "finally_clause",
    SynchronizedStatement = "synchronized_statement",
    SwitchExpression = "switch_expression",
    SwitchBlock = "switch_block",
    SwitchBlockStatementGroup = "switch_block_statement_group",
    SwitchRule = "switch_rule",
    SwitchLabel = "switch_label",
    Guard = "guard",
    Pattern = "pattern",
    TypePattern = "type_pattern",
    RecordPattern = "record_pattern",
    RecordPatternBody = "record_pattern_body",
    RecordPatternComponent = "record_pattern_component",
    ArgumentList = "argument_list",
    ArrayAccess = "array_access",
    ArrayCreationExpression = "array_creation_expression",
    ArrayInitializer = "array_initializer",
    AssignmentExpression = "assignment_expression",
    BinaryExpression = "binary_expression",
    CastExpression = "cast_expression",
    ClassLiteral = "class_literal",
    FieldAccess = "field_access",
    InstanceofExpression = "instanceof_expression",
    LambdaExpression = "lambda_expression",
    MethodInvocation = "method_invocation",
    MethodReference = "method_reference",
    ObjectCreationExpression = "object_creation_expression",
    ParenthesizedExpression = "parenthesized_expression",
    TemplateExpression = "template_expression",
    TernaryExpression = "ternary_expression",
    UnaryExpression = "unary_expression",
    UpdateExpression = "update_expression",
    StringLiteral = "string_literal",
    StringInterpolation = "string_interpolation",
    CharacterLiteral = "character_literal",
    DecimalInteger = "decimal_integer_literal",
    HexInteger = "hex_integer_literal",
    OctalInteger = "octal_integer_literal",
    BinaryInteger = "binary_integer_literal",
    DecimalFloat = "decimal_floating_point_literal",
    HexFloat = "hex_floating_point_literal",
    True = "true",
    False = "false",
    Null = "null_literal",
    This = "this",
    Super = "super",
    WordClass = "class",
    WordInterface = "interface",
    WordEnum = "enum",
    WordRecord = "record",
    WordAnnotation = "@interface",
    WordPublic = "public",
    WordProtected = "protected",
    WordPrivate = "private",
    WordStatic = "static",
    WordFinal = "final",
    WordAbstract = "abstract",
    WordDefault = "default",
    WordNative = "native",
    WordNew = "new",
    WordImplements = "implements",
    WordExtends = "extends",
    BraceOpen = "{",
    BraceClose = "}",
    BracketOpen = "[",
    Bang = "!",
    AndAnd = "&&",
    OrOr = "||",
    Plus = "+",
    Assign = "=",
}

macro_rules! fields {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A field of a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum F { $(#[doc = $name] $variant),+ }
        const FIELDS: &[&str] = &[$($name),+];
    };
}

fields! {
    Alternative = "alternative",
    Arguments = "arguments",
    Body = "body",
    Condition = "condition",
    Consequence = "consequence",
    Constructor = "constructor",
    Dimensions = "dimensions",
    Field = "field",
    Key = "key",
    Left = "left",
    Name = "name",
    Object = "object",
    Operand = "operand",
    Operator = "operator",
    Parameters = "parameters",
    Right = "right",
    Scope = "scope",
    TypeArguments = "type_arguments",
    Value = "value",
}

struct Table {
    kinds: Vec<K>,
    /// The grammar's number of each field, in the order of `F`.
    fields: Vec<u16>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let grammar: tree_sitter::Language = tree_sitter_java::LANGUAGE.into();
    let kinds = (0..grammar.node_kind_count())
        .map(|id| {
            let name = u16::try_from(id).ok().and_then(|id| grammar.node_kind_for_id(id)).unwrap_or("");
            NAMES.iter().find(|(n, _)| *n == name).map_or(K::Other, |(_, kind)| *kind)
        })
        .collect();
    let fields = FIELDS.iter().map(|name| grammar.field_id_for_name(name).map_or(0, |id| id.get())).collect();
    Table { kinds, fields }
});

/// The child in a field.
pub fn field(node: Node<'_>, field: F) -> Option<Node<'_>> {
    node.child_by_field_id(TABLE.fields[field as usize])
}

/// The kind of a node.
pub fn kind(node: Node<'_>) -> K {
    TABLE.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Error)
}

impl K {
    /// Whether it is a comment.
    pub fn is_comment(self) -> bool {
        matches!(self, K::LineComment | K::BlockComment)
    }

    /// Whether it is an annotation.
    pub fn is_annotation(self) -> bool {
        matches!(self, K::Annotation | K::MarkerAnnotation)
    }

    /// Whether it can stand where a type is asked for.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            K::TypeIdentifier
                | K::ScopedTypeIdentifier
                | K::GenericType
                | K::ArrayType
                | K::AnnotatedType
                | K::IntegralType
                | K::FloatingPointType
                | K::BooleanType
                | K::VoidType
        )
    }

    /// Whether it gives a value.
    pub fn is_expression(self) -> bool {
        matches!(
            self,
            K::Identifier
                | K::ArrayAccess
                | K::ArrayCreationExpression
                | K::ArrayInitializer
                | K::AssignmentExpression
                | K::BinaryExpression
                | K::CastExpression
                | K::ClassLiteral
                | K::FieldAccess
                | K::InstanceofExpression
                | K::LambdaExpression
                | K::MethodInvocation
                | K::MethodReference
                | K::ObjectCreationExpression
                | K::ParenthesizedExpression
                | K::TemplateExpression
                | K::TernaryExpression
                | K::UnaryExpression
                | K::UpdateExpression
                | K::SwitchExpression
                | K::ElementValueArrayInitializer
                | K::This
                | K::Super
        ) || self.is_literal()
    }

    /// Whether it is a literal.
    pub fn is_literal(self) -> bool {
        matches!(
            self,
            K::StringLiteral
                | K::CharacterLiteral
                | K::DecimalInteger
                | K::HexInteger
                | K::OctalInteger
                | K::BinaryInteger
                | K::DecimalFloat
                | K::HexFloat
                | K::True
                | K::False
                | K::Null
        )
    }
}
