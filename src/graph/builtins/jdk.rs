//! Java's own library: its common types, what they extend, and what their methods take and give.
//!
//! `jdk.txt` is printed by `bench/jdk/JdkTable.java` from the JDK itself. A line with `c`
//! (class), `f` (final class), `i` (interface) or `l` (one that a lambda gives) starts a type: its name, the number of its type
//! parameters, its bases. `=T A B` are static fields of another type than their own. A row of
//! methods has the parameters, or only their number where they tell nothing, the result, and the
//! names; `!` marks the one method that a lambda gives, `^` a static one, `*` a variadic one.
//! `#n` is a type parameter of the class, `%n` of the method, `?` says nothing.

use std::sync::OnceLock;

use crate::graph::hashing::{HashMap, HashSet};
use crate::graph::name::Name;

/// A type as the table writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Any,
    /// A type parameter of the class.
    Own(usize),
    /// A type parameter of the method.
    Var(usize),
    Array(Box<Ty>),
    Named(&'static str, Vec<Ty>),
}

/// What a method takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Params {
    Count(usize),
    Types(Vec<Ty>),
}

/// A method, or several overloads that do not differ in what is kept of them.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: &'static str,
    pub is_static: bool,
    pub is_variadic: bool,
    pub params: Params,
    pub result: Ty,
}

impl Method {
    /// The number of its parameters.
    pub fn n_params(&self) -> usize {
        match &self.params {
            Params::Count(n) => *n,
            Params::Types(types) => types.len(),
        }
    }

    /// Whether so many arguments may be given.
    pub fn takes(&self, n_args: usize) -> bool {
        let n = self.n_params();
        n == n_args || (self.is_variadic && n_args + 1 >= n)
    }

    /// The type of an argument; an element of the last one when variadic and spread out.
    pub fn param(&self, at: usize, n_args: usize) -> Option<&Ty> {
        let Params::Types(types) = &self.params else { return None };
        let spread = self.is_variadic && at + 1 >= types.len();
        match types.get(at).or(if self.is_variadic { types.last() } else { None })? {
            Ty::Array(element) if spread && (n_args != types.len() || at + 1 > types.len()) => Some(element),
            ty => Some(ty),
        }
    }
}

/// A type of the library.
#[derive(Debug, Default)]
pub struct Class {
    name: &'static str,
    /// Whether a lambda can be given for it.
    is_functional: bool,
    pub is_final: bool,
    pub n_params: usize,
    pub bases: Vec<Ty>,
    /// The names of all that it extends, itself included, sorted.
    ancestors: Vec<&'static str>,
    /// The names of the methods of all those.
    names: HashSet<&'static str>,
    /// Sorted by name.
    methods: Vec<Method>,
    fields: Vec<(&'static str, Ty)>,
    /// The method that a lambda gives, by its row.
    single: Option<Method>,
}

impl Class {
    /// The methods of a name that the type declares itself.
    pub fn methods(&self, name: &str) -> &[Method] {
        let start = self.methods.partition_point(|m| m.name < name);
        let end = self.methods.partition_point(|m| m.name <= name);
        &self.methods[start..end]
    }

    /// Whether the type or one that it extends declares a method of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The type of a static field, where it is another than the class.
    pub fn field(&self, name: &str) -> Option<&Ty> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, ty)| ty)
    }
}

/// The library's type of a simple name.
pub fn class(name: &str) -> Option<&'static Class> {
    static TABLE: OnceLock<HashMap<&'static str, Class>> = OnceLock::new();
    TABLE.get_or_init(|| with_ancestors(read(include_str!("jdk.txt")))).get(name)
}

/// A simple name as the library's, where it is one of the library's or of the language's own types.
pub fn name_of(name: &str) -> Name {
    match (class(name), crate::graph::builtins::java::primitive(name)) {
        (Some(class), _) => Name::Known(class.name),
        (None, Some(primitive)) => Name::Known(primitive),
        (None, None) => Name::of(name),
    }
}

/// The method that a lambda for a type gives: its own, or that of a base.
pub fn single(class: &'static Class) -> Option<&'static Method> {
    if !class.is_functional {
        return None;
    }
    class.single.as_ref().or_else(|| {
        class.bases.iter().find_map(|base| match base {
            Ty::Named(name, _) => self::class(name).and_then(single),
            _ => None,
        })
    })
}

/// Whether a type of the library is, or extends, another. `None` when either is not in the table.
pub fn extends(name: &str, other: &str) -> Option<bool> {
    if name == other {
        return Some(true);
    }
    let own = class(name)?;
    class(other)?;
    Some(other == "Object" || own.ancestors.binary_search(&other).is_ok())
}

/// Fills in what each type extends, over all bases.
fn with_ancestors(mut table: HashMap<&'static str, Class>) -> HashMap<&'static str, Class> {
    let names: Vec<&'static str> = table.keys().copied().collect();
    for name in names {
        let mut found = vec![name];
        let mut methods = HashSet::default();
        let mut is_whole = true;
        let mut at = 0;
        while let Some(next) = found.get(at) {
            let class = table.get(next);
            is_whole &= class.is_some();
            for base in class.map_or(&[][..], |class| &class.bases) {
                if let Ty::Named(base, _) = base
                    && !found.contains(base)
                {
                    found.push(base);
                }
            }
            // Behind a type that is not in the table nothing is known.
            methods.extend(class.filter(|_| is_whole).into_iter().flat_map(|class| &class.methods).map(|m| m.name));
            at += 1;
        }
        found.sort_unstable();
        if let Some(class) = table.get_mut(name) {
            class.ancestors = found;
            class.names = methods;
        }
    }
    table
}

fn read(text: &'static str) -> HashMap<&'static str, Class> {
    let mut table: HashMap<&'static str, Class> = HashMap::default();
    let mut current: Option<(&'static str, Class)> = None;
    for line in text.lines() {
        let mut words = line.split(' ');
        let head = words.next().unwrap_or("");
        if let "c" | "f" | "i" | "l" = head {
            table.extend(current.take().map(sorted));
            let name = words.next().unwrap_or("");
            let n_params = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let bases = words.filter(|w| !w.is_empty()).map(parse).collect();
            let (is_functional, is_final) = (head == "l", head == "f");
            current = Some((name, Class { name, is_functional, is_final, n_params, bases, ..Class::default() }));
            continue;
        }
        let Some((_, class)) = &mut current else { continue };
        if let Some(ty) = head.strip_prefix('=') {
            class.fields.extend(words.map(|name| (name, parse(ty))));
            continue;
        }
        let (params, rest) = match line.strip_prefix('(').and_then(|inner| inner.split_once(") ")) {
            Some((inner, rest)) => {
                (Params::Types(inner.split(' ').filter(|w| !w.is_empty()).map(parse).collect()), rest)
            }
            None => match line.split_once(' ') {
                Some((n, rest)) => (Params::Count(n.parse().unwrap_or(0)), rest),
                None => continue,
            },
        };
        let mut words = rest.split(' ');
        let result = parse(words.next().unwrap_or("?"));
        for word in words {
            let name = word.trim_end_matches(['!', '^', '*']);
            let method = Method {
                name,
                is_static: word.contains('^'),
                is_variadic: word.contains('*'),
                params: params.clone(),
                result: result.clone(),
            };
            if word.contains('!') {
                class.single = Some(method.clone());
            }
            class.methods.push(method);
        }
    }
    table.extend(current.take().map(sorted));
    table
}

fn sorted((name, mut class): (&'static str, Class)) -> (&'static str, Class) {
    class.methods.sort_by_key(|m| m.name);
    (name, class)
}

/// Reads one type; the table is our own, so what does not parse is `Any`.
fn parse(text: &'static str) -> Ty {
    if let Some(element) = text.strip_suffix("[]") {
        return Ty::Array(Box::new(parse(element)));
    }
    if let Some(at) = text.strip_prefix('#') {
        return at.parse().map_or(Ty::Any, Ty::Own);
    }
    if let Some(at) = text.strip_prefix('%') {
        return at.parse().map_or(Ty::Any, Ty::Var);
    }
    if text == "?" {
        return Ty::Any;
    }
    let Some((name, inner)) = text.split_once('<') else { return Ty::Named(text, Vec::new()) };
    let inner = inner.strip_suffix('>').unwrap_or(inner);
    let mut args = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                args.push(parse(&inner[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    args.push(parse(&inner[start..]));
    Ty::Named(name, args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_types_methods_and_bases() {
        let map = class("Map").expect("Map is in the table");
        assert_eq!(map.n_params, 2);
        let entries = &map.methods("entrySet")[0];
        assert_eq!(entries.result, parse("Set<Entry<#0,#1>>"));
        let function = class("UnaryOperator").and_then(single).expect("UnaryOperator has one method");
        assert_eq!((function.name, &function.result), ("apply", &Ty::Own(1)));
        assert_eq!(extends("ArrayList", "Collection"), Some(true));
        assert_eq!(extends("String", "Number"), Some(false));
        assert_eq!(extends("String", "NotOfTheLibrary"), None);
        let of = class("Stream").map_or(&[][..], |c| c.methods("of"));
        let variadic = of.iter().find(|m| m.is_variadic).expect("Stream.of takes any number");
        assert_eq!(variadic.param(2, 3), Some(&Ty::Var(0)));
    }
}
