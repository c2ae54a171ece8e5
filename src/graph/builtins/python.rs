//! Python's builtins and the parts of its standard library that carry types through.

use crate::facts::model::LiteralKind;
use crate::graph::builtins::words::{self, Words};
use crate::graph::value::{Args, Name, Set, Value, no_args};

/// Members that builtin and widespread outside types have.
pub static COMMON: Words = Words::new(|| {
    words::split(
        "append add all any apply args as_dict as_view assert_called body capitalize clear close code \
    commit connect content copy count cursor data date day debug decode delete dict difference discard dump dumps \
    encode end endswith error exec execute exists exit extend fetchall fetchone fileno filter find flush format get \
    get_json getvalue group groups handle headers hour index info insert intersection is_dir is_file isalpha isdigit \
    items join json keys kwargs load loads log lower lstrip main map match message method mkdir mode month name next \
    normalize now open params parent parse path pop popitem post process put query raise_for_status read readline \
    readlines reduce remove rename render replace request reset resolve response result reverse root rsplit rstrip \
    run save search second seek send set setdefault setup shape shutdown size sort split splitlines start startswith \
    status status_code stop strftime strip sub submit sum text timestamp title today total type union update upper \
    url user value values view wait warning warn write writelines year",
    )
});

/// The class of a literal.
pub fn literal_class(kind: LiteralKind) -> &'static str {
    match kind {
        LiteralKind::String | LiteralKind::Char | LiteralKind::Regex => "str",
        LiteralKind::Bytes => "bytes",
        LiteralKind::Int | LiteralKind::Long | LiteralKind::BigInt => "int",
        LiteralKind::Float | LiteralKind::Double => "float",
        LiteralKind::Bool => "bool",
        LiteralKind::Null | LiteralKind::Undefined => "None",
        LiteralKind::Ellipsis => "ellipsis",
    }
}

fn arg(args: &[Set], at: usize) -> Set {
    args.get(at).cloned().unwrap_or_default()
}

/// Whether a name is a builtin.
pub fn is_global(name: &str) -> bool {
    static BUILTINS: Words = Words::new(|| {
        words::split(
            "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod \
        compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format \
        frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals \
        map max memoryview min next object oct open ord pow print property quit range repr reversed round set setattr \
        slice sorted staticmethod str sum super tuple type vars zip __import__ __name__ __file__ __doc__ __package__ \
        __spec__ __path__ __builtins__ __debug__ NotImplemented Ellipsis None True False WindowsError",
        )
    });
    BUILTINS.has(name)
        || (name.starts_with(char::is_uppercase)
            && ["Error", "Exception", "Warning", "Exit", "Iteration", "Interrupt", "Group"]
                .iter()
                .any(|end| name.ends_with(end)))
}

/// The values of a builtin or typing name.
pub fn named_type(path: &str, args: &[Set]) -> Option<Set> {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    let typing = matches!(
        module,
        "" | "typing"
            | "typing_extensions"
            | "t"
            | "collections.abc"
            | "collections"
            | "builtins"
            | "contextlib"
            | "asyncio"
            | "contextvars"
            | "queue"
    );
    if !typing {
        return None;
    }
    let class = match name {
        "Optional" => return Some(Set::union([arg(args, 0), Set::one(Value::Null)])),
        "Union" => return Some(Set::union(args.iter().cloned())),
        "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" => return Some(arg(args, 0)),
        "type" | "Type" => {
            return Some(arg(args, 0).flat_map(super::class_of));
        }
        "None" => return Some(Set::one(Value::Null)),
        "Any" | "object" | "Callable" | "TypeVar" | "Literal" | "Concatenate" | "LiteralString" => {
            return Some(Set::unknown());
        }
        "List" | "list" | "MutableSequence" | "Deque" | "deque" => "list",
        "Set" | "set" | "FrozenSet" | "frozenset" | "AbstractSet" | "MutableSet" => "set",
        "Dict" | "dict" | "DefaultDict" | "defaultdict" | "OrderedDict" | "Mapping" | "MutableMapping" | "Counter" => {
            "dict"
        }
        "Tuple" | "tuple" => "tuple",
        "Iterator" | "Iterable" | "Generator" | "Sequence" | "Collection" | "AsyncIterator" | "AsyncIterable"
        | "AsyncGenerator" | "KeysView" | "ValuesView" | "Container" | "Reversible" => "iter",
        "Awaitable" | "Coroutine" | "Future" | "Task" => {
            let last = args.last().cloned().unwrap_or_default();
            return Some(Set::external("Awaitable", &[last]));
        }
        "ContextManager" | "AbstractContextManager" | "AsyncContextManager" | "AbstractAsyncContextManager" => {
            "context"
        }
        "ContextVar" => "ContextVar",
        "Queue" | "LifoQueue" | "SimpleQueue" | "PriorityQueue" => "Queue",
        "str" | "int" | "float" | "bool" | "bytes" | "complex" | "bytearray" | "memoryview" => name,
        "Generic" | "Protocol" => return Some(Set::external(Name::of(name), args)),
        _ if module.is_empty() && is_global(name) => name,
        _ => return None,
    };
    Some(Set::external(Name::of(class), args))
}

/// The type of a plain attribute.
pub fn property(class: &str, args: &[Set], name: &str) -> Option<Set> {
    match (class, name) {
        ("raised", "value" | "exception") => Some(arg(args, 0)),
        _ => None,
    }
}

/// Parameter of a callback given to a method of a builtin container.
pub fn callback_param(class: &str, method: &str, own: &[Set]) -> Option<Set> {
    match (class, method) {
        ("list", "sort") => Some(arg(own, 0)),
        _ => None,
    }
}

/// The argument (by position) whose elements a builtin gives parameter `position` of a function
/// that it is called with.
pub fn callback_source(path: &str, position: usize) -> Option<usize> {
    match path {
        "map" => Some(position + 1),
        "filter" => Some(1),
        "sorted" | "min" | "max" => Some(0),
        _ => None,
    }
}

/// What a context manager that expects one of `classes` to be raised holds.
fn raised(classes: &Set) -> Set {
    let classes = classes.flat_map(|value| match value {
        Value::ExternalInstance(name, args) if &**name == "tuple" => Set::union(args.iter().cloned()),
        other => Set::one(other.clone()),
    });
    let instances = classes.flat_map(|value| match value {
        Value::Class(class) => Set::one(Value::Instance(*class, no_args())),
        Value::External(path) => Set::external(path, &[]),
        _ => Set::unknown(),
    });
    Set::external("context", &[Set::external("raised", &[instances])])
}

/// What calling a builtin or a well-known wrapper gives.
pub fn call(path: &str, args: &[Set]) -> Option<Set> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let module_of = |modules: &[&str]| modules.contains(&path.rsplit_once('.').map_or("", |(module, _)| module));
    let first = || arg(args, 0);
    Some(match last {
        "list" | "sorted" if module_of(&[""]) => Set::external("list", &[elements(&first())]),
        "set" | "frozenset" if module_of(&[""]) => Set::external("set", &[elements(&first())]),
        "tuple" | "iter" | "reversed" | "filter" if module_of(&[""]) => {
            let from = if last == "filter" { arg(args, 1) } else { first() };
            Set::external("iter", &[elements(&from)])
        }
        "next" | "min" | "max" if module_of(&[""]) => elements(&first()),
        "enumerate" if module_of(&[""]) => {
            Set::external("iter", &[Set::external("tuple", &[Set::external("int", &[]), elements(&first())])])
        }
        "zip" if module_of(&[""]) => {
            let parts: Vec<Set> = args.iter().map(elements).collect();
            Set::external("iter", &[Set::external("tuple", &parts)])
        }
        "dict" if module_of(&[""]) => Set::external("dict", &[Set::unknown(), Set::unknown()]),
        "str" | "int" | "float" | "bool" | "bytes" | "len" | "repr" if module_of(&[""]) => Set::external(
            match last {
                "len" => Name::Known("int"),
                "repr" => Name::Known("str"),
                other => Name::of(other),
            },
            &[],
        ),
        "getattr" | "vars" | "eval" | "__import__" if module_of(&[""]) => Set::unknown(),
        "type" if module_of(&[""]) && args.len() == 1 => first().flat_map(super::class_of),
        "property" | "cached_property" if module_of(&["", "functools"]) => Set::external("property", &[first()]),
        "classmethod" | "staticmethod" if module_of(&[""]) => first(),
        "raises" if module_of(&["pytest"]) => raised(&first()),
        "replace" if module_of(&["dataclasses", "copy"]) => first(),
        "create_task" | "ensure_future" | "shield" | "wait_for" if module_of(&["asyncio"]) => first(),
        "run" if module_of(&["asyncio", "trio", "anyio"]) => {
            first().flat_map(|value| super::awaited(crate::graph::modules::Family::Python, value))
        }
        "copy" | "deepcopy" if module_of(&["copy"]) => first(),
        "partial" | "partialmethod" | "wraps" | "lru_cache" | "cache" | "update_wrapper" | "singledispatch"
            if module_of(&["functools"]) =>
        {
            first()
        }
        "cast" | "assert_type" if module_of(&["typing", "t", "typing_extensions"]) => arg(args, 1),
        "deque" if module_of(&["collections"]) => Set::external("list", &[elements(&first())]),
        "defaultdict" | "OrderedDict" if module_of(&["collections"]) => {
            Set::external("dict", &[Set::unknown(), Set::unknown()])
        }
        "chain" if module_of(&["itertools"]) => {
            Set::external("iter", &[Set::union(args.iter().map(elements).chain([Set::unknown()]))])
        }
        "islice" | "cycle" | "accumulate" | "takewhile" | "dropwhile" if module_of(&["itertools"]) => {
            let at = usize::from(last.ends_with("while"));
            Set::external("iter", &[elements(&arg(args, at))])
        }
        "from_iterable" if path == "itertools.chain.from_iterable" => {
            Set::external("iter", &[elements(&elements(&first()))])
        }
        "repeat" if module_of(&["itertools"]) => Set::external("iter", &[first()]),
        "zip_longest" | "product" if module_of(&["itertools"]) => {
            let parts: Vec<Set> = args.iter().map(elements).collect();
            Set::external("iter", &[Set::external("tuple", &parts)])
        }
        "groupby" if module_of(&["itertools"]) => {
            let group = Set::external("iter", &[elements(&first())]);
            Set::external("iter", &[Set::external("tuple", &[Set::unknown(), group])])
        }
        "closing" | "nullcontext" | "suppress" if module_of(&["contextlib"]) => Set::external("context", &[first()]),
        "gather" if module_of(&["asyncio"]) => Set::external("Awaitable", &[Set::unknown()]),
        "proxy" if module_of(&["weakref"]) => first(),
        "ref" if module_of(&["weakref"]) => Set::external("ref", &[first()]),
        _ => return None,
    })
}

fn elements(set: &Set) -> Set {
    set.flat_map(|value| super::element(crate::graph::modules::Family::Python, value))
}

/// What calling a method of a builtin container gives.
pub fn call_method(class: &str, method: &str, own: &[Set], args: &[Set]) -> Option<Set> {
    let element = || arg(own, 0);
    Some(match (class, method) {
        ("list", "pop") | ("set", "pop") => element(),
        ("list" | "set" | "dict", "copy") => Set::one(Value::ExternalInstance(Name::of(class), Args::from(own))),
        ("set", "union" | "intersection" | "difference") => {
            Set::one(Value::ExternalInstance(Name::of(class), Args::from(own)))
        }
        ("dict", "get" | "pop" | "setdefault") => match args.get(1) {
            Some(default) => Set::union([arg(own, 1), default.clone()]),
            None => Set::union([arg(own, 1), Set::one(Value::Null)]),
        },
        ("ContextVar", "get") => match args.first() {
            Some(default) => Set::union([element(), default.clone()]),
            None => element(),
        },
        ("Queue", "get" | "get_nowait") => element(),
        ("dict", "values") => Set::external("iter", &[arg(own, 1)]),
        ("dict", "keys") => Set::external("iter", &[arg(own, 0)]),
        ("dict", "items") => Set::external("iter", &[Set::external("tuple", &[arg(own, 0), arg(own, 1)])]),
        ("iter", "__next__" | "send") => element(),
        ("dict", "popitem") => Set::external("tuple", &[arg(own, 0), arg(own, 1)]),
        ("list" | "set" | "dict", "__iter__") => Set::external("iter", &[element()]),
        (_, "assertRaises" | "assertRaisesRegex" | "assertWarns") => raised(&arg(args, 0)),
        ("str", "split" | "splitlines" | "rsplit") => Set::external("list", &[Set::external("str", &[])]),
        ("str", "encode") => Set::external("bytes", &[]),
        ("bytes", "decode") => Set::external("str", &[]),
        ("str", "startswith" | "endswith" | "isdigit") => Set::external("bool", &[]),
        ("str", _) => Set::external("str", &[]),
        _ => return None,
    })
}
