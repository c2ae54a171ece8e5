//! What the tree hashes see and what they do not (FACTS.md §3), on pairs of sources.

use ratlas::base::dialect::Dialect;
use ratlas::extract::extract;
use ratlas::facts::model::Symbol;

/// The symbol of that qualname, `<module>` included.
fn symbol(source: &str, qualname: &str) -> Symbol {
    let facts = extract(Dialect::Py, source.as_bytes());
    let found = facts.symbols.iter().find(|s| facts.name(s.qualname) == qualname);
    found.unwrap_or_else(|| panic!("no `{qualname}` in:\n{source}")).clone()
}

/// Which of (signature, body, doc, acting comments) differ between two sources, as letters.
fn changed(before: &str, after: &str, qualname: &str) -> String {
    let (before, after) = (symbol(before, qualname), symbol(after, qualname));
    let pairs = [
        ('s', before.sig_hash, after.sig_hash),
        ('b', before.body_hash, after.body_hash),
        ('d', before.doc_hash, after.doc_hash),
        ('a', before.act_hash, after.act_hash),
    ];
    pairs.into_iter().filter(|(_, a, b)| a != b).map(|(letter, _, _)| letter).collect()
}

#[track_caller]
fn check(before: &str, after: &str, expected: &[(&str, &str)]) {
    for (qualname, letters) in expected {
        assert_eq!(changed(before, after, qualname), *letters, "`{qualname}` in\n{before}\n→\n{after}");
    }
}

#[test]
fn layout_and_comments_change_nothing() {
    check(
        "def f(a, b):\n    x = g(a, b)\n    return x\n",
        "\n\ndef f(a,\n      b):  # why\n\n      # here\n      x = g(a,  # first\n            b)\n      return \\\n        x\n",
        &[("f", ""), ("<module>", "")],
    );
}

#[test]
fn a_dedent_changes_the_body() {
    check(
        "def f(a):\n    if a:\n        one()\n        two()\n",
        "def f(a):\n    if a:\n        one()\n    two()\n",
        &[("f", "b"), ("<module>", "")],
    );
    check("if a:\n    one()\n    two()\n", "if a:\n    one()\ntwo()\n", &[("<module>", "b")]);
    check(
        "if a:\n    def f(): pass\n    two()\n",
        "if a:\n    def f(): pass\ntwo()\n",
        &[("<module>", "b"), ("f", "")],
    );
}

#[test]
fn every_part_of_a_string_counts() {
    check("def f():\n    return 'a\\tb'\n", "def f():\n    return 'a\\tc'\n", &[("f", "b")]);
    check("def f():\n    return 'a\\tb'\n", "def f():\n    return 'a\\nb'\n", &[("f", "b")]);
    check("def f():\n    return 'a b'\n", "def f():\n    return 'a  b'\n", &[("f", "b")]);
    check("def f():\n    return f'a {x} b'\n", "def f():\n    return f'a {x} c'\n", &[("f", "b")]);
    check("def f():\n    return f'a {x} b'\n", "def f():\n    return f'a {y} b'\n", &[("f", "b")]);
    check("def f():\n    return f'{x!r}'\n", "def f():\n    return f'{x!s}'\n", &[("f", "b")]);
    check("def f():\n    return f'{x:>3}'\n", "def f():\n    return f'{x:>4}'\n", &[("f", "b")]);
    check("def f():\n    return b'a'\n", "def f():\n    return 'a'\n", &[("f", "b")]);
}

#[test]
fn operators_and_keywords_without_text_of_their_own_count() {
    check("def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a > b\n", &[("f", "b")]);
    check("def f(a):\n    return a\n", "def f(a):\n    yield a\n", &[("f", "b")]);
    check("def f(): pass\n", "async def f(): pass\n", &[("f", "s")]);
    check("def f(*a): pass\n", "def f(**a): pass\n", &[("f", "s")]);
}

#[test]
fn parts_of_a_definition_are_told_apart() {
    let base = "@deco\ndef f(a):\n    \"Says.\"\n    return a\n";
    check(base, "@deco\ndef f(a=1):\n    \"Says.\"\n    return a\n", &[("f", "s")]);
    check(base, "@other\ndef f(a):\n    \"Says.\"\n    return a\n", &[("f", "s"), ("<module>", "")]);
    check(base, "def f(a):\n    \"Says.\"\n    return a\n", &[("f", "s"), ("<module>", "")]);
    check(base, "@deco\ndef f(a):\n    \"Says more.\"\n    return a\n", &[("f", "d")]);
    check(base, "@deco\ndef f(a):\n    return a\n", &[("f", "d")]);
    check(base, "@deco\ndef f(a):\n    \"Says.\"\n    return a + 1\n", &[("f", "b")]);
    check(base, "@deco\ndef f(a):\n    \"Says.\"\n    return a  # type: ignore\n", &[("f", "a")]);
    check(base, "@deco\ndef f(a):\n    \"Says.\"\n    return a  # said\n", &[("f", "")]);
}

#[test]
fn a_module_is_its_own_code_and_doc() {
    let base = "\"Doc.\"\nimport os\n\ndef f():\n    return 1\n\nrun(f)\n";
    check(base, "\"More.\"\nimport os\n\ndef f():\n    return 1\n\nrun(f)\n", &[("<module>", "d"), ("f", "")]);
    check(base, "\"Doc.\"\nimport os\n\ndef f():\n    return 2\n\nrun(f)\n", &[("<module>", ""), ("f", "b")]);
    check(base, "\"Doc.\"\nimport os\n\ndef f():\n    return 1\n\nrun(f, 1)\n", &[("<module>", "b"), ("f", "")]);
    check(base, "\"Doc.\"\nimport os\nimport sys\n\ndef f():\n    return 1\n\nrun(f)\n", &[("<module>", "")]);
    check(
        base,
        "\"Doc.\"\nimport os\n\ndef g():\n    pass\n\nx = 1\n\ndef f():\n    return 1\n\nrun(f)\n",
        &[("<module>", ""), ("f", "")],
    );
    check("x = 1\ny = 2\n", "x = 1\ny = 3\n", &[("<module>", ""), ("x", ""), ("y", "b")]);
    check("def f(): pass\n", "def f(): pass\ndef g(): pass\n", &[("<module>", ""), ("f", "")]);
}

#[test]
fn a_class_does_not_change_with_its_methods_and_does_with_its_fields() {
    let base = "class A:\n    x = 1\n    def m(self):\n        return 1\n";
    check(base, "class A:\n    x = 1\n    def m(self):\n        return 2\n", &[("A", ""), ("A.m", "b"), ("A.x", "")]);
    check(base, "class A:\n    x = 2\n    def m(self):\n        return 1\n", &[("A", "b"), ("A.m", ""), ("A.x", "b")]);
    check(
        "class A:\n    def m(self): pass\n",
        "class A:\n    def m(self): pass\n    def n(self): pass\n",
        &[("A", ""), ("A.m", "")],
    );
    check(base, "class A(B):\n    x = 1\n    def m(self):\n        return 1\n", &[("A", "s"), ("A.m", "")]);
}

#[test]
fn values_bound_together_change_together() {
    check("a = b = 1\n", "a = b = 2\n", &[("a", "b"), ("b", "b")]);
    check("a, b = f(1)\n", "a, b = f(2)\n", &[("a", "b"), ("b", "b")]);
    check("f = lambda x: x\n", "f = lambda x: x + 1\n", &[("f", "b"), ("<module>", "")]);
}
