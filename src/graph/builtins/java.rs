//! Java's library as far as it carries types through: collections, optionals, streams.

use crate::facts::model::LiteralKind;
use crate::graph::builtins::jdk;
use crate::graph::builtins::words::{self, Words};
use crate::graph::java_library::{is_library_path, simple};
use crate::graph::value::{Args, Name, Set, Value};

/// Members that the library's and widespread outside types have.
pub static COMMON: Words = Words::new(|| {
    words::split(
        "accept add addAll addFirst addLast and andThen append apply as asList build builder call cast charAt \
    clear close collect compare compute computeIfAbsent contains containsKey copy count create delete describe empty \
    endsWith entrySet equals execute exists filter find findFirst first flatMap flush forEach format get getAnnotation \
    getBytes getClass getContent getData getDescription getId getInstance getKey getMessage getMethod getName getParent \
    getPath getProperty getSize getStatus getType getUrl getValue getValues group hasNext hashCode ifPresent indexOf \
    init initialize insert intValue invoke isEmpty isInstance isPresent iterator join key keySet last length limit \
    list load lock longValue map mapToObj match matches merge name newInstance next of offer open or orElse \
    orElseThrow parse peek poll pop print println process push put putAll read readLine reduce remove removeIf replace \
    request reset resolve run save send set setName setValue setType size skip sort sorted split start startsWith \
    stop stream submit substring sum supplier take test toArray toBuilder toList toLowerCase toMap toString \
    toUpperCase trim type update valueOf values visit wait with write",
    )
});

/// The class of a literal.
pub fn literal_class(kind: LiteralKind) -> &'static str {
    match kind {
        LiteralKind::String | LiteralKind::Bytes | LiteralKind::Regex => "String",
        LiteralKind::Int => "int",
        LiteralKind::Long | LiteralKind::BigInt => "long",
        LiteralKind::Float => "float",
        LiteralKind::Double => "double",
        LiteralKind::Char => "char",
        LiteralKind::Bool => "boolean",
        LiteralKind::Null | LiteralKind::Undefined | LiteralKind::Ellipsis => "null",
    }
}

/// A primitive type, as the language names it.
pub fn primitive(name: &str) -> Option<&'static str> {
    ["int", "boolean", "long", "double", "float", "char", "byte", "short"].into_iter().find(|known| *known == name)
}

fn arg(args: &[Set], at: usize) -> Set {
    args.get(at).cloned().unwrap_or_default()
}

/// Whether a simple name is of `java.lang`.
pub fn is_global(name: &str) -> bool {
    static LANG: Words = Words::new(|| {
        words::split(
            "Appendable AssertionError AutoCloseable Boolean Byte CharSequence Character Class ClassLoader Cloneable \
        Comparable Deprecated Double Enum Error Exception Float FunctionalInterface Integer InterruptedException Iterable \
        Long Math Module Number Object Override Package Process ProcessBuilder Readable Record Runnable Runtime \
        SafeVarargs Short StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder SuppressWarnings \
        System Thread ThreadGroup ThreadLocal Throwable Void",
        )
    });
    LANG.has(name) || (name.starts_with(char::is_uppercase) && (name.ends_with("Exception") || name.ends_with("Error")))
}

/// The values of an outside type: its simple name with its arguments.
pub fn named_type(path: &str, args: &[Set]) -> Option<Set> {
    let name = simple(path);
    Some(match name {
        "void" => Set::one(Value::Null),
        "var" => return None,
        // Types of other libraries keep their packages: they are not the JDK's of that name.
        _ if name.len() < path.len() && !is_library_path(path) => Set::external(Name::of(path), args),
        _ => Set::external(jdk::name_of(name), args),
    })
}

/// The type of a field of a library type.
pub fn property(class: &str, name: &str) -> Option<Set> {
    (class == "Array" && name == "length").then(|| Set::external("int", &[]))
}

/// The only type argument of what is outside.
fn element(set: &Set) -> Set {
    set.flat_map(|value| match value {
        Value::ExternalInstance(_, args) if args.len() == 1 => arg(args, 0),
        _ => Set::unknown(),
    })
}

/// What calling a static method gives, by `Class.method`.
pub fn call(path: &str, args: &[Set]) -> Option<Set> {
    let mut parts = path.rsplit('.');
    let method = parts.next()?;
    let class = parts.next()?;
    Some(match (class, method) {
        ("List" | "Set" | "Arrays" | "Stream" | "Collections", "of" | "asList" | "singletonList" | "copyOf") => {
            let class = if class == "Arrays" || class == "Collections" { "List" } else { class };
            Set::external(jdk::name_of(class), &[Set::union(args.iter().cloned())])
        }
        ("Optional", "of" | "ofNullable") => Set::external("Optional", &[arg(args, 0)]),
        ("Objects", "requireNonNull" | "requireNonNullElse") => arg(args, 0),
        ("String", "valueOf" | "format" | "join") => Set::external("String", &[]),
        ("CompletableFuture", "completedFuture") => Set::external("CompletableFuture", &[arg(args, 0)]),
        // Well-known wrappers: what is given comes back.
        (_, "checkNotNull" | "requireNonNull" | "verifyNotNull" | "spy" | "verify") => arg(args, 0),
        ("Iterables" | "Iterators", "getOnlyElement" | "getFirst" | "getLast" | "getNext") => element(&arg(args, 0)),
        // …or an instance of the class that is named.
        (_, "assertThrows" | "assertThrowsExactly" | "mock" | "createMock" | "createNiceMock") => {
            element(&arg(args, 0))
        }
        // What a mocking library wraps a mock in answers as the mock does.
        (_, "when") if class.ends_with(')') => arg(args, 0),
        // Factories are named after what they do, and give what they belong to.
        (_, "valueOf" | "getInstance" | "newInstance" | "of" | "copyOf") if class.starts_with(char::is_uppercase) => {
            let owner = path.rsplit_once('.').map_or(class, |(owner, _)| owner);
            let elements = Set::union(args.iter().cloned());
            let args = if class.ends_with("Map") { args.to_vec() } else { vec![elements] };
            named_type(owner, if matches!(method, "of") { &args } else { &[] })?
        }
        (_, "parseInt") => Set::external("int", &[]),
        (_, "parseLong") => Set::external("long", &[]),
        (_, "parseDouble") => Set::external("double", &[]),
        _ => return None,
    })
}

/// What calling a method of a library type gives.
pub fn call_method(
    class: &str,
    method: &str,
    own: &[Set],
    args: &[Set],
    by_lambda: &mut dyn FnMut(usize) -> Set,
) -> Option<Set> {
    let element = || arg(own, 0);
    let is_map = class.ends_with("Map");
    let is_other_library = class.contains('.');
    Some(match method {
        "get" | "getOrDefault" | "remove" | "put" | "computeIfAbsent" | "putIfAbsent" | "merge" if is_map => {
            if method == "computeIfAbsent" { Set::union([arg(own, 1), by_lambda(1)]) } else { arg(own, 1) }
        }
        "values" if is_map => Set::external("Collection", &[arg(own, 1)]),
        "keySet" if is_map => Set::external("Set", &[arg(own, 0)]),
        "entrySet" if is_map => Set::external("Set", &[Set::external("Entry", &[arg(own, 0), arg(own, 1)])]),
        "getKey" if class == "Entry" => arg(own, 0),
        "getValue" if class == "Entry" => arg(own, 1),
        "get" | "next" | "orElseThrow" | "join" | "call" | "getFirst" | "getLast" | "poll" | "peek" | "pop"
        | "element" | "first" | "last" | "removeFirst" | "removeLast" | "pollFirst" | "pollLast" | "take"
        | "previous"
            if !own.is_empty() =>
        {
            element()
        }
        "verify" | "when" if is_other_library && args.len() <= 2 => arg(args, 0),
        "orElse" | "orElseGet" => Set::union([element(), arg(args, 0)]),
        "stream" | "parallelStream" => Set::external("Stream", &[element()]),
        "iterator" | "listIterator" => Set::external("Iterator", &[element()]),
        "filter" | "sorted" | "distinct" | "limit" | "skip" | "peek" | "subList" | "or" => {
            Set::one(Value::ExternalInstance(jdk::name_of(class), Args::from(own)))
        }
        "map" | "thenApply" | "mapToObj" => Set::external(jdk::name_of(class), &[by_lambda(0)]),
        "flatMap" | "thenCompose" => by_lambda(0),
        "findFirst" | "findAny" | "max" | "min" | "reduce" if class == "Stream" => {
            Set::external("Optional", &[element()])
        }
        "toList" if class == "Stream" => Set::external("List", &[element()]),
        "length" | "size" | "indexOf" | "hashCode" | "intValue" => Set::external("int", &[]),
        "isEmpty" | "contains" | "containsKey" | "equals" | "isPresent" | "hasNext" => Set::external("boolean", &[]),
        "toString" | "substring" | "trim" | "toLowerCase" | "toUpperCase" | "replace" | "getName" | "getSimpleName" => {
            Set::external("String", &[])
        }
        "append" | "insert" if class.starts_with("String") => Set::external(jdk::name_of(class), &[]),
        _ => return None,
    })
}

/// Parameter `position` of a lambda given to a library type's method.
pub fn callback_param(class: &str, method: &str, own: &[Set], position: usize) -> Option<Set> {
    if class.ends_with("Map") {
        return Some(match (method, position) {
            ("forEach" | "compute" | "computeIfPresent" | "replaceAll", at) => arg(own, at),
            ("computeIfAbsent", 0) => arg(own, 0),
            _ => return None,
        });
    }
    (!own.is_empty() && (position == 0 || matches!(method, "sort" | "sorted" | "reduce" | "max" | "min")))
        .then(|| arg(own, 0))
}
