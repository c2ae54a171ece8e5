//! TypeScript and JavaScript: which edits change which hashes, and what hostile nesting does.

use ratlas::base::dialect::Dialect;
use ratlas::extract::extract;
use ratlas::facts::model::{FileFacts, Status};

fn facts(dialect: Dialect, source: &str) -> FileFacts {
    extract(dialect, source.as_bytes())
}

/// The qualnames (module apart) of which a hash differs, with the letters of those that do:
/// `s`ignature, `b`ody, `d`oc, `a`cting comments. Test blocks are named by their titles.
fn changed(dialect: Dialect, before: &str, after: &str) -> String {
    let (before, after) = (facts(dialect, before), facts(dialect, after));
    assert_eq!(before.status, Status::Ok);
    assert_eq!(after.status, Status::Ok);
    let mut out = Vec::new();
    for (old, new) in before.symbols.iter().zip(&after.symbols) {
        assert_eq!(before.name(old.qualname), after.name(new.qualname));
        let mut letters = String::new();
        for (letter, differs) in [
            ('s', old.sig_hash != new.sig_hash),
            ('b', old.body_hash != new.body_hash),
            ('d', old.doc_hash != new.doc_hash),
            ('a', old.act_hash != new.act_hash),
        ] {
            if differs {
                letters.push(letter);
            }
        }
        if !letters.is_empty() {
            out.push(format!("{}:{letters}", before.name(old.qualname)));
        }
    }
    for (old, new) in before.test_blocks.iter().zip(&after.test_blocks) {
        if old.body_hash != new.body_hash {
            out.push(format!("'{}'", before.text(old.title)));
        }
    }
    out.join(" ")
}

#[track_caller]
fn check(before: &str, after: &str, expected: &str) {
    assert_eq!(changed(Dialect::Tsx, before, after), expected);
    if !before.contains(": ") && !before.contains("interface") && !before.contains("enum") {
        assert_eq!(changed(Dialect::Js, before, after), expected);
    }
}

#[test]
fn layout_and_comments_change_nothing() {
    check("function f(a) { return a; }\n", "// new\nfunction f( a ) {\n  /* why */ return a;\n}\n", "");
    check("const x = { a() { return 1; } };", "const x = {\n  // one\n  a() { return 1; }\n};", "");
    check("it('t', () => { f(); });", "it('t', () => {\n  // now\n  f();\n});", "");
}

#[test]
fn return_on_a_line_of_its_own_is_another_body() {
    check("function f(x) { return x; }", "function f(x) { return\nx; }", "f:b");
}

#[test]
fn text_between_escapes_counts() {
    check(r#"function f() { return "a\nb c"; }"#, r#"function f() { return "a\nb  c"; }"#, "f:b");
    check(r#"function f() { return "a\nb"; }"#, r#"function f() { return "a\tb"; }"#, "f:b");
    check("function f() { return 'a'; }", "function f() { return \"a\"; }", "f:b");
}

#[test]
fn template_text_counts() {
    check("function f(x) { return `a ${x} b`; }", "function f(x) { return `a ${x}  b`; }", "f:b");
    check("function f(x) { return `a ${x} b`; }", "function f(x) { return `a ${ x } b`; }", "");
    check("function f(x) { return `a`; }", "function f(x) { return `a `; }", "f:b");
}

#[test]
fn jsx_text_counts() {
    check("function f() { return <p>one two</p>; }", "function f() { return <p>one  two</p>; }", "f:b");
    check("function f() { return <p a='1' />; }", "function f() { return <p\n a='1' />; }", "");
}

#[test]
fn an_import_more_is_no_other_module() {
    check("import a from 'a';\nf(a);", "import a, { b } from 'a';\nimport 'c';\nf(a);", "");
    check("f(a);\nexport * from 'x';", "f(a);\nexport * from 'y';", "");
    check("f(a);", "f(b);", "<module>:b");
}

#[test]
fn regex_flags_count() {
    check("function f() { return /a/; }", "function f() { return /a/g; }", "f:b");
    check("function f() { return /a b/; }", "function f() { return /a  b/; }", "f:b");
}

#[test]
fn a_nested_definition_is_not_its_owners_body() {
    check("class C { m() { return 1; } n() {} }", "class C { m() { return 2; } n() {} }", "C.m:b");
    check(
        "function f() { function g() { return 1; } return g; }",
        "function f() { function g() { return 2; } return g; }",
        "f.g:b",
    );
    check("export const f = () => { return 1; };", "export const f = () => { return 2; };", "f:b");
    check("const o = { m() { return 1; }, n: 1 };", "const o = { m() { return 2; }, n: 1 };", "o.m:b");
    check("const f = wrap(function g() { return 1; });", "const f = wrap(function g() { return 2; });", "f.g:b");
}

#[test]
fn the_head_is_the_signature() {
    check("function f(a) {}", "function f(a, b) {}", "f:s");
    check("function f(a) {}", "async function f(a) {}", "f:s");
    check("const f = (a) => a;", "const f = (a = 1) => a;", "f:s");
    check("class C extends A {}", "class C extends B {}", "C:s");
    check("function f(): A {}", "function f(): B {}", "f:s");
    check("class C { @one m(): void {} }", "class C { @two m(): void {} }", "C.m:s");
    check("class C { static x = 1; }", "class C { x = 1; }", "C.x:s");
}

#[test]
fn members_of_a_contract_change_their_owner_too() {
    check("interface I { a: string; b: A }", "interface I { a: number; b: A }", "I:s I.a:s");
    check("enum E { A = 1, B }", "enum E { A = 2, B }", "E:b E.A:b");
    check("const o = { a: { n: 1 } };", "const o = { a: { n: 2 } };", "o:b o.a:b o.a.n:b");
    check(
        "class C { constructor(private a: A) {} }",
        "class C { constructor(public a: A) {} }",
        "C.constructor:s C.a:s",
    );
}

#[test]
fn acting_comments_act_where_they_stand() {
    check("function f() { return 1; }", "function f() {\n  // @ts-expect-error\n  return 1; }", "f:a");
    check("function f() { return 1; }", "function f() {\n  /* istanbul ignore next */\n  return 1; }", "f:a");
    check("let a = 1;", "/** @jest-environment jsdom */\nlet a = 1;", "<module>:a");
    check("let a = 1;\n", "// @ts-nocheck\nlet a = 1;\n", "<module>:a");
    check("let a = 1;", "/** Documents. */\nlet a = 1;", "");
}

#[test]
fn a_test_block_changes_by_itself() {
    let before = "describe('d', () => { it('one', () => { f(1); }); it('two', () => {}); });";
    check(before, &before.replace("f(1)", "f(2)"), "'one'");
    check(before, &before.replace("'two', () => {}", "'two', () => { g(); }"), "'two'");
}

#[test]
fn deep_nesting_neither_overflows_nor_panics() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{a:", "}"), ("f(", ")"), ("!", ""), ("x => ", ""), ("a.b(c => ", ")")]
    {
        let source = format!("x = {}1{};", open.repeat(20_000), close.repeat(20_000));
        let found = facts(Dialect::Ts, &source);
        assert!(matches!(found.status, Status::Ok | Status::Partial));
    }
    for part in ["a + ", "a.b().", "a ? b : ", "if (a) ", "a?.[b] || "] {
        facts(Dialect::Js, &format!("{}a;", part.repeat(20_000)));
    }
    facts(Dialect::Ts, &format!("type T = {}A{};", "B<".repeat(10_000), ">".repeat(10_000)));
    facts(Dialect::Ts, &format!("type T = {}A;", "A | ".repeat(20_000)));
    facts(Dialect::Tsx, &format!("x = {}{};", "<a>".repeat(10_000), "</a>".repeat(10_000)));
    facts(Dialect::Ts, &"class A { m() { ".repeat(5_000));
    facts(Dialect::Ts, &"namespace A { ".repeat(5_000));
}

#[test]
fn no_literal_text_is_kept() {
    let source = r#"
const token = "sk_live_abcdefghijklmnopqrstuvwx";
const port = 54321, text = `some secret words`, re = /hidden[a-z]+/;
function f(a = "default words", b: "literal type words" = 987654) {}
type T = { "quoted key words": "typed words" };
enum E { A = "enum words" }
call("argument words", { key: "value words" });
it(`title ${x} words`, () => {});
"#;
    let found = facts(Dialect::Ts, source);
    for hidden in ["sk_live", "54321", "secret", "hidden", "words", "987654"] {
        assert!(!found.names.iter().any(|name| name.contains(hidden)), "{hidden} in {:?}", found.names);
    }
}

fn status(element: &str) -> Status {
    let source = format!("export const A = () => {element};\nexport function after() {{ return A & 1 && 2; }}\n");
    let facts = facts(Dialect::Tsx, &source);
    assert!(facts.symbols.iter().any(|symbol| facts.name(symbol.name) == "after"), "{element}");
    facts.status
}

#[test]
fn an_ampersand_in_text_and_attributes_of_jsx_is_text() {
    for element in [
        "<a href=\"x?a=1&b=2\">t</a>",
        "<a href='x&y'>t</a>",
        "<p>Q&A session</p>",
        "<p>A & B</p>",
        "<p>&copy 2020</p>",
        "<p>fish&</p>",
        "<p>a && b</p>",
        "<p>Q&A {x} R&D</p>",
        "<p>AT&T's {\"q\"}</p>",
        "<p><b>a</b> & <b>b</b></p>",
        "<p>&amp; &#38; A & B</p>",
    ] {
        assert_eq!(status(element), Status::Ok, "{element}");
    }
}

#[test]
fn damage_of_another_kind_stays_damage() {
    assert_eq!(status("f(a &, b)"), Status::Partial);
    assert_eq!(status("<p title=\"a & b\">A & B</p"), Status::Partial);
}
