//! Hashes of Java definitions: which edits change which part of which symbol (FACTS.md §3).

use ratlas::base::dialect::Dialect;
use ratlas::extract::extract;
use ratlas::facts::model::FileFacts;

fn facts(source: &str) -> FileFacts {
    extract(Dialect::Java, source.as_bytes())
}

/// `sig` and `body` for each symbol that the edit changes, by qualname, in order; `+` and `-` for
/// symbols only one side has.
fn changes(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (facts(before), facts(after));
    let mut found = Vec::new();
    for old in before.symbols.iter().skip(1) {
        let name = before.name(old.qualname);
        let Some(new) = after.symbols.iter().find(|s| after.name(s.qualname) == name) else {
            found.push(format!("- {name}"));
            continue;
        };
        if old.sig_hash != new.sig_hash {
            found.push(format!("sig {name}"));
        }
        if old.body_hash != new.body_hash {
            found.push(format!("body {name}"));
        }
        assert_eq!((old.doc_hash, old.act_hash), (new.doc_hash, new.act_hash), "Javadoc and comments do not act");
    }
    for new in after.symbols.iter().skip(1) {
        let name = after.name(new.qualname);
        if !before.symbols.iter().any(|s| before.name(s.qualname) == name) {
            found.push(format!("+ {name}"));
        }
    }
    found
}

#[test]
fn layout_and_comments_change_nothing() {
    let tight = "package p;class A{int x=1;void m(int a){if(a>0){b();}return;}}";
    let loose = "package p;\n/** Doc. */\nclass A {\n  // x\n  int x = 1; // NOSONAR\n\n  /** m */ void m( int a ) {\n    \
                 if (a > 0) { /* odd */ b(); }\n    return;\n  }\n}\n";
    assert_eq!(changes(tight, loose), Vec::<String>::new());
}

#[test]
fn text_between_escapes_and_in_text_blocks_counts() {
    let with = |literal: &str| format!("class A {{ String s = {literal}; void m() {{ f({literal}); }} }}");
    assert_eq!(changes(&with(r#""a\n b\n""#), &with(r#""a\n c\n""#)), ["body A.s", "body A.m()"]);
    assert_eq!(changes(&with("\"\"\"\n  a\n  \"\"\""), &with("\"\"\"\n   a\n  \"\"\"")), ["body A.s", "body A.m()"]);
    assert_eq!(changes(&with("'a'"), &with("'b'")), ["body A.s", "body A.m()"]);
    assert_eq!(changes(&with("\"//x\""), &with("\"//y\"")), ["body A.s", "body A.m()"]);
}

#[test]
fn structure_counts_where_leaves_are_equal() {
    let with = |body: &str| format!("class A {{ int m(int a, int b) {{ {body} }} }}");
    assert_eq!(changes(&with("if (x) { f(); } g();"), &with("if (x) { f(); g(); }")), ["body A.m(int,int)"]);
    assert_eq!(changes(&with("return a - (b - 1);"), &with("return (a - b) - 1;")), ["body A.m(int,int)"]);
    assert_eq!(
        changes(&with("if (x) if (y) f(); else g();"), &with("if (x) { if (y) f(); } else g();")),
        ["body A.m(int,int)"]
    );
}

#[test]
fn a_nested_definition_is_not_its_owners() {
    let with = |inner: &str| {
        format!(
            "class A {{ Runnable r = new Runnable() {{ public void run() {{ {inner} }} }}; \
             void m() {{ class L {{ void n() {{ {inner} }} }} call(new B() {{ void o() {{ {inner} }} }}); }} \
             enum E {{ X {{ void p() {{ {inner} }} }} }} }}"
        )
    };
    assert_eq!(
        changes(&with("f();"), &with("g();")),
        ["body A.run()", "body A.m().L.n()", "body A.m().o()", "body A.E.p()"]
    );
}

#[test]
fn signatures_and_bodies_are_apart() {
    let before = "@Old class A<T> extends B { private int x = 1; @P int m(int a) throws E { return a; } }";
    assert_eq!(changes(before, &before.replace("@Old", "@New")), ["sig A"]);
    assert_eq!(changes(before, &before.replace("extends B", "extends C")), ["sig A"]);
    assert_eq!(changes(before, &before.replace("private int x", "public int x")), ["sig A.x"]);
    assert_eq!(changes(before, &before.replace("x = 1", "x = 2")), ["body A.x"]);
    assert_eq!(changes(before, &before.replace("@P int", "@Q int")), ["sig A.m(int)"]);
    assert_eq!(changes(before, &before.replace("throws E", "throws F")), ["sig A.m(int)"]);
    assert_eq!(changes(before, &before.replace("return a", "return -a")), ["body A.m(int)"]);
    assert_eq!(changes(before, &before.replace("m(int a)", "m(long a)")), ["- A.m(int)", "+ A.m(long)"]);
}

#[test]
fn initializers_are_the_classs_body_and_components_its_signature() {
    let with = |n: u32| format!("class A {{ static {{ f({n}); }} {{ g({n}); }} enum E {{ X({n}), Y }} }}");
    assert_eq!(changes(&with(1), &with(2)), ["body A", "body A.E.X"]);
    let before = "record R(int x, String y) { R { f(); } }";
    let after = "record R(@N int x, String y) { R { f(); } }";
    assert_eq!(changes(before, after), ["sig R", "sig R.x"]);
}

#[test]
fn one_more_import_changes_no_definition() {
    let before = "package p; import a.B; class A { B b; }";
    assert_eq!(changes(before, &before.replace("import a.B;", "import a.B; import a.C;")), Vec::<String>::new());
}

#[test]
fn a_long_concatenation_neither_overflows_nor_loses_references() {
    let chain = |n: usize, last: &str| format!("class A {{ String s = {}{last}(); }}", "f() + \"x\" + ".repeat(n));
    let long = facts(&chain(20_000, "g"));
    assert_eq!(long.refs.len(), 1 + 20_001);
    let deep = format!("class A {{ int x = {}1{}; }}", "(".repeat(50_000), ")".repeat(50_000));
    let dotted = format!("class A {{ int x = a{}; }}", ".b()".repeat(50_000));
    for hostile in [deep, dotted] {
        assert_eq!(facts(&hostile).symbols.len(), 3);
    }
}
