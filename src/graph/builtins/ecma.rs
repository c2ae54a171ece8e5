//! JavaScript's globals and the parts of its library, and of React's, that carry types through.

use crate::facts::model::LiteralKind;
use crate::graph::builtins::words::{self, Words};
use crate::graph::value::{Args, Name, Set, Value};

/// Members that builtin and widespread outside types have.
pub static COMMON: Words = Words::new(|| {
    words::split(
        "abort accept add addEventListener all allSettled append appendChild apply assign at bind blur \
    body bubbles call catch charAt charCodeAt children class className clear click clone close closest code concat \
    config contains content context create createElement current data delete description destroy detail disconnect \
    dispatch dispatchEvent done each emit enabled end endsWith entries error errors event every exec expect expires \
    extend fill filter finally find findIndex flat flatMap flush focus forEach format from get getAttribute \
    getElementById getItem getTime handle has hash header headers height hide host href html id includes index indexOf \
    info init input insertBefore isArray join json keys kind key label lastIndexOf length level limit listen load log \
    map match max message meta method min mock mode name next node normalize now ok on once open options output \
    padStart params parent parse path pathname pause pipe pop port post preventDefault process props protocol push \
    put query querySelector race raw read ready reason redirect reduce ref register reject remove \
    removeEventListener render replace replaceAll request reset resolve response result resume return reverse run \
    schema search select send set setAttribute setItem shift show size slice some sort splice split start startsWith \
    state status statusCode stop stringify style sub subscribe substring success tag target test text then throw title \
    toBe toEqual toFixed toJSON toLowerCase toString toUpperCase transform trim type unshift unsubscribe update url \
    use user value values version warn watch width write",
    )
});

/// The class of a literal.
pub fn literal_class(kind: LiteralKind) -> &'static str {
    match kind {
        LiteralKind::String | LiteralKind::Char | LiteralKind::Bytes => "string",
        LiteralKind::Int | LiteralKind::Long | LiteralKind::Float | LiteralKind::Double => "number",
        LiteralKind::BigInt => "bigint",
        LiteralKind::Bool => "boolean",
        LiteralKind::Regex => "RegExp",
        LiteralKind::Null | LiteralKind::Undefined | LiteralKind::Ellipsis => "null",
    }
}

fn arg(args: &[Set], at: usize) -> Set {
    args.get(at).cloned().unwrap_or_default()
}

/// Whether a name is a global of the language, of browsers, of Node or of test runners.
pub fn is_global(name: &str) -> bool {
    static GLOBALS: Words = Words::new(|| {
        words::split(
            "AbortController AbortSignal Array ArrayBuffer BigInt Blob Boolean Buffer CSS CustomEvent DOMException \
        DataView Date Deno Document Element Error EvalError Event EventSource EventTarget File FileReader Float32Array \
        Float64Array FormData Function HTMLElement Headers Infinity Int16Array Int32Array Int8Array IntersectionObserver \
        Intl Iterator JSON Map Math MessageChannel MutationObserver NaN Node Number Object Performance Promise Proxy \
        RangeError ReadableStream ReferenceError Reflect RegExp Request ResizeObserver Response Set SharedArrayBuffer \
        String Symbol SyntaxError TextDecoder TextEncoder TransformStream TypeError URIError URL URLSearchParams \
        Uint16Array Uint32Array Uint8Array WeakMap WeakRef WeakSet WebSocket Window Worker WritableStream XMLHttpRequest \
        __dirname __filename addEventListener after afterAll afterEach alert arguments atob before beforeAll beforeEach \
        btoa cancelAnimationFrame clearImmediate clearInterval clearTimeout console crypto decodeURIComponent describe \
        document encodeURIComponent escape eval expect exports fetch global globalThis history isFinite isNaN it jest \
        localStorage location matchMedia module navigator parseFloat parseInt performance process queueMicrotask require \
        requestAnimationFrame requestIdleCallback screen self sessionStorage setImmediate setInterval setTimeout \
        structuredClone suite test undefined unescape vi window",
        )
    });
    GLOBALS.has(name)
}

/// The values of a global type.
pub fn named_type(path: &str, args: &[Set]) -> Option<Set> {
    Some(match path {
        "any" | "unknown" | "object" | "Function" | "Object" => Set::unknown(),
        "never" => Set::never(),
        "void" | "undefined" | "null" => Set::one(Value::Null),
        "string" | "number" | "boolean" | "bigint" | "symbol" | "RegExp" | "Date" | "Error" => {
            Set::external(Name::of(path), &[])
        }
        "Array" | "ReadonlyArray" | "ArrayLike" => Set::external("Array", args),
        "Iterable"
        | "Iterator"
        | "IterableIterator"
        | "AsyncIterable"
        | "AsyncIterator"
        | "Generator"
        | "AsyncGenerator"
        | "AsyncIterableIterator" => Set::external("iter", args),
        "Promise" | "PromiseLike" => Set::external("Promise", args),
        "Map" | "ReadonlyMap" | "WeakMap" => Set::external("Map", args),
        "Set" | "ReadonlySet" | "WeakSet" => Set::external("Set", args),
        "Record" => Set::external("Record", args),
        "Partial" | "Required" | "Readonly" | "NonNullable" | "Awaited" | "Omit" | "Pick" | "Exclude" | "Extract"
        | "NoInfer" => arg(args, 0),
        "ReturnType" | "InstanceType" | "Parameters" | "ConstructorParameters" => Set::unknown(),
        _ if is_global(path) => Set::external(Name::of(path), args),
        _ => return None,
    })
}

/// The type of a plain property.
pub fn property(class: &str, args: &[Set], name: &str) -> Option<Set> {
    Some(match (class, name) {
        ("Array" | "string", "length") | ("Map" | "Set", "size") => Set::external("number", &[]),
        ("Record", _) => arg(args, 1),
        _ => return None,
    })
}

/// What calling a global or a well-known wrapper gives.
pub fn call(path: &str, args: &[Set]) -> Option<Set> {
    let first = || arg(args, 0);
    Some(match path {
        "Object.freeze"
        | "Object.seal"
        | "Object.create"
        | "Object.assign"
        | "structuredClone"
        | "Object.setPrototypeOf"
        | "Object.defineProperties" => first(),
        "Promise.resolve" => Set::external(
            "Promise",
            &[first().flat_map(|value| super::awaited(crate::graph::modules::Family::Ecma, value))],
        ),
        "Array.from" => Set::external("Array", &[elements(&first())]),
        "Array.of" => Set::external("Array", &[Set::union(args.iter().cloned())]),
        "Object.values" => Set::external("Array", &[values_of(&first())]),
        "Object.entries" => {
            Set::external("Array", &[Set::external("tuple", &[Set::external("string", &[]), values_of(&first())])])
        }
        "Object.keys" => Set::external("Array", &[Set::external("string", &[])]),
        "Promise.all" | "Promise.allSettled" => {
            let awaited = first().flat_map(|value| match value {
                Value::ExternalInstance(name, parts) if &**name == "tuple" => {
                    let parts: Vec<Set> = parts.iter().map(unpromised).collect();
                    Set::external("tuple", &parts)
                }
                other => {
                    Set::external("Array", &[unpromised(&super::element(crate::graph::modules::Family::Ecma, other))])
                }
            });
            Set::external("Promise", &[awaited])
        }
        "Promise.race" | "Promise.any" => Set::external("Promise", &[unpromised(&elements(&first()))]),
        "JSON.parse" => Set::unknown(),
        "String" | "JSON.stringify" => Set::external("string", &[]),
        "Number" | "parseInt" | "parseFloat" => Set::external("number", &[]),
        "Boolean" => Set::external("boolean", &[]),
        "Map" | "WeakMap" => Set::external("Map", &pair_of(&first())),
        "Set" | "WeakSet" => Set::external("Set", &[elements(&first())]),
        "Array" => Set::external("Array", &[Set::unknown()]),
        "RegExp" | "Date" | "Error" | "TypeError" | "RangeError" | "URL" => Set::external(Name::of(path), &[]),
        _ => match path.rsplit('.').next().unwrap_or(path) {
            "memo" | "forwardRef" | "observer" | "useCallback" | "markRaw" | "shallowReactive" | "reactive"
            | "readonly" => first(),
            "useMemo" => return None,
            _ => return None,
        },
    })
}

fn elements(set: &Set) -> Set {
    if set.is_unknown() {
        return Set::unknown();
    }
    set.flat_map(|value| super::element(crate::graph::modules::Family::Ecma, value))
}

fn unpromised(set: &Set) -> Set {
    set.flat_map(|value| super::awaited(crate::graph::modules::Family::Ecma, value))
}

fn values_of(set: &Set) -> Set {
    set.flat_map(|value| match value {
        Value::ExternalInstance(..) => super::element_at(crate::graph::modules::Family::Ecma, value),
        _ => Set::unknown(),
    })
}

fn pair_of(set: &Set) -> [Set; 2] {
    let entries = elements(set);
    let part = |at| entries.flat_map(|value| super::part(crate::graph::modules::Family::Ecma, value, at));
    [part(0), part(1)]
}

/// What calling a method of a builtin gives.
pub fn call_method(
    class: &str,
    method: &str,
    own: &[Set],
    args: &[Set],
    by_lambda: &mut dyn FnMut(usize) -> Set,
) -> Option<Set> {
    let same = || Set::one(Value::ExternalInstance(Name::of(class), Args::from(own)));
    let element = || arg(own, 0);
    Some(match (class, method) {
        ("Array" | "tuple", _) => {
            let element = if class == "tuple" { Set::union(own.iter().cloned()) } else { element() };
            let list = |set: Set| Set::external("Array", &[set]);
            match method {
                "find" | "pop" | "shift" | "at" | "findLast" => Set::union([element, Set::one(Value::Null)]),
                "filter" | "slice" | "concat" | "reverse" | "sort" | "splice" | "toSorted" | "toReversed" | "flat"
                | "fill" | "with" => list(element),
                "map" => list(by_lambda(0)),
                "flatMap" => {
                    let inner = by_lambda(0);
                    list(elements(&inner))
                }
                "reduce" | "reduceRight" => Set::union([by_lambda(0), arg(args, 1)]),
                "forEach" => Set::one(Value::Null),
                "join" => Set::external("string", &[]),
                "values" => Set::external("iter", &[element]),
                "entries" => Set::external("iter", &[Set::external("tuple", &[Set::external("number", &[]), element])]),
                "includes" | "some" | "every" => Set::external("boolean", &[]),
                "push" | "unshift" | "indexOf" | "findIndex" => Set::external("number", &[]),
                _ => return None,
            }
        }
        ("Map", "get") => Set::union([arg(own, 1), Set::one(Value::Null)]),
        ("Map" | "Set", "set" | "add") => same(),
        ("Map", "values") => Set::external("iter", &[arg(own, 1)]),
        ("Map", "entries") => Set::external("iter", &[Set::external("tuple", &[arg(own, 0), arg(own, 1)])]),
        ("Map" | "Set", "keys") | ("Set", "values") => Set::external("iter", &[element()]),
        ("Map" | "Set", "has" | "delete") => Set::external("boolean", &[]),
        ("Promise", "then") => {
            let given = by_lambda(0);
            Set::external("Promise", &[unpromised(&given)])
        }
        ("Promise", "catch" | "finally") => same(),
        ("iter", "next") => Set::unknown(),
        ("string", "split" | "match") => Set::external("Array", &[Set::external("string", &[])]),
        ("string", "length" | "indexOf" | "charCodeAt" | "lastIndexOf") => Set::external("number", &[]),
        ("string", "includes" | "startsWith" | "endsWith") => Set::external("boolean", &[]),
        ("string", _) => Set::external("string", &[]),
        _ => return None,
    })
}

/// Parameter `position` of a callback given to a builtin's method.
pub fn callback_param(class: &str, method: &str, own: &[Set], position: usize) -> Option<Set> {
    let number = || Set::external("number", &[]);
    Some(match (class, method, position) {
        ("Array" | "iter", "reduce" | "reduceRight", 1) => arg(own, 0),
        ("Array" | "iter", "reduce" | "reduceRight", _) => Set::unknown(),
        ("Array", "sort" | "toSorted", 0 | 1) => arg(own, 0),
        ("tuple", "map" | "forEach" | "filter" | "find" | "some" | "every" | "flatMap", 0) => {
            Set::union(own.iter().cloned())
        }
        ("Array" | "Set" | "iter", _, 0) => arg(own, 0),
        ("Array", _, 1) => number(),
        ("Map", "forEach", 0) => arg(own, 1),
        ("Map", "forEach", 1) => arg(own, 0),
        ("Promise", "then", 0) => arg(own, 0),
        _ => return None,
    })
}
