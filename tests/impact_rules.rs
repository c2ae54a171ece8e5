//! Rules of selection, forms of its answer, and the schema that they keep.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::impact::{answer, answer_with, selected};
use ratlas::impact::answer::{Answer, Mode};
use ratlas::impact::policy::{MapRule, Options};
use ratlas::impact::{forms, json, junit, text};

const SHOP: &str = "
//- shop.py
def price():
-|    return 1
+|    return 2
def other():
    return 3
//- db/schema.sql
-|create table a (b int);
+|create table a (b bigint);
//- tests/test_shop.py
from shop import price, other
def test_price():
    assert price()
def test_other():
    assert other()
//- tests/db/test_db.py
import subprocess
def test_schema():
    assert subprocess.run(['psql'])
";

fn with(options: Options) -> Answer {
    answer_with(SHOP, &options)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_string()).collect()
}

#[test]
fn rules_add_take_away_and_give_up() {
    // What leaves its process runs always, unless it is never to run.
    let plain = ["tests/db/test_db.py::test_schema", "tests/test_shop.py::test_price"];
    assert_eq!(selected(&with(Options::default())), plain);
    let never = Options { never_run: texts(&["tests/db/**"]), ..Options::default() };
    assert_eq!(selected(&with(never)), ["tests/test_shop.py::test_price"]);
    let always = Options { always_run: texts(&["tests/*.py"]), ..Options::default() };
    assert_eq!(selected(&with(always)).len(), 3);
    let rule = Options { run_all: texts(&["db/**"]), ..Options::default() };
    assert_eq!(selected(&with(rule)), ["all: run_all_rule"]);
    let files = Options { max_changed_files: Some(1), ..Options::default() };
    assert_eq!(selected(&with(files)), ["all: too_many_files"]);
    let ratio = Options { max_ratio: Some(0.5), ..Options::default() };
    assert_eq!(selected(&with(ratio)), ["all: ratio_reached"]);
}

#[test]
fn a_map_says_which_tests_stand_for_a_file() {
    let map = |when: &str| Options {
        map: vec![MapRule { when: texts(&[when]), tests: texts(&["tests/db/**"]) }],
        ..Options::default()
    };
    let hit = with(map("db/*.sql"));
    assert_eq!(selected(&hit), ["tests/db/test_db.py::test_schema", "tests/test_shop.py::test_price"]);
    let mapped = hit.tests.iter().find(|t| t.id.contains("test_schema")).unwrap();
    assert_eq!((mapped.because, mapped.via[0].kind, mapped.via[0].to.as_str()), ("mapped", "map", "db/schema.sql"));
    // A map for other files keeps it out, though it leaves its process.
    assert_eq!(selected(&with(map("web/**"))), ["tests/test_shop.py::test_price"]);
}

#[test]
fn a_shadow_runs_all_and_tells_the_selection() {
    let found = with(Options { is_shadow: true, ..Options::default() });
    assert_eq!(found.mode, Mode::All);
    assert_eq!(found.tests.len(), 3);
    let shadow = found.shadow.as_ref().unwrap();
    assert_eq!(shadow.tests, ["tests/db/test_db.py::test_schema", "tests/test_shop.py::test_price"]);
    let report = "<testsuite><testcase classname=\"tests.test_shop\" name=\"test_other\"><failure/></testcase>\
                  <testcase classname=\"tests.test_shop\" name=\"test_price\"><failure/></testcase>\
                  <testcase classname=\"x\" name=\"y\"><error/></testcase></testsuite>";
    let judgment = junit::judge(&found, report);
    assert_eq!(judgment.caught, BTreeSet::from(["tests/test_shop.py::test_price".to_string()]));
    assert_eq!(judgment.missed, BTreeSet::from(["tests/test_shop.py::test_other".to_string()]));
    assert_eq!(judgment.unknown, BTreeSet::from(["x y".to_string()]));
}

#[test]
fn what_is_left_out_says_why() {
    let found = answer(SHOP);
    let lines = text::why_not(&found, "tests/test_shop.py::test_other").unwrap();
    assert_eq!(
        lines,
        [
            "tests/test_shop.py::test_other: left out, it imports a changed file, and nothing that it runs leads to what changed there",
            "  imports shop.py"
        ]
    );
    assert!(text::why_not(&found, "tests/test_shop.py::test_price").is_none());
}

#[test]
fn forms_for_pipelines() {
    let found = answer(SHOP);
    let lines = forms::github(&found);
    assert_eq!(lines[0], "mode=selected");
    assert_eq!(lines[3], "tests=[\"tests/db/test_db.py::test_schema\",\"tests/test_shop.py::test_price\"]");
    assert_eq!(lines[4], "test_files=[\"tests/db/test_db.py\",\"tests/test_shop.py\"]");
    assert!(lines.iter().all(|line| !line.contains('\n')));
    let markdown = forms::markdown(&found).join("\n");
    assert!(markdown.starts_with("### base..head: 2 of 3 tests (67 %)\n"), "{markdown}");
    assert!(markdown.contains("| tests/test\\_shop.py::test\\_price | reached | 1 |"), "{markdown}");
}

/// The part of JSON Schema that ours is written in.
fn violations(value: &Value, schema: &Value, at: &str, out: &mut Vec<String>) {
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let fits = choices.iter().any(|choice| {
            let mut found = Vec::new();
            violations(value, choice, at, &mut found);
            found.is_empty()
        });
        if !fits {
            out.push(format!("{at}: fits none"));
        }
        return;
    }
    let is_kind = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        other => panic!("type {other:?} at {at}"),
    };
    if !is_kind {
        out.push(format!("{at}: is {value}"));
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array)
        && !names.contains(value)
    {
        out.push(format!("{at}: {value} is not listed"));
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            out.push(format!("{at}: no `{name}`"));
        }
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema.get("properties").and_then(Value::as_object)) {
        for (name, field) in fields {
            match known.get(name) {
                Some(schema) => violations(field, schema, &format!("{at}.{name}"), out),
                // Additive for readers; what we print is all described.
                None => out.push(format!("{at}: `{name}` is not described")),
            }
        }
    }
    for item in value.as_array().into_iter().flatten() {
        violations(item, &schema["items"], &format!("{at}[]"), out);
    }
}

#[test]
fn answers_keep_their_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/impact/answer.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(schema["title"], json::SCHEMA);
    let shadow = Options { is_shadow: true, ..Options::default() };
    let all = Options { run_all: texts(&["**"]), ..Options::default() };
    for options in [Options::default(), shadow, all] {
        let mut found = Vec::new();
        violations(&json::value(&with(options)), &schema, "answer", &mut found);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// The files of the selected tests, sorted; as [`selected`] where there is no selection.
fn files(source: &str) -> Vec<String> {
    let found = answer(source);
    match found.mode {
        Mode::Selected => {
            let files: std::collections::BTreeSet<String> = found.tests.iter().map(|t| t.file.to_string()).collect();
            files.into_iter().collect()
        }
        Mode::All | Mode::None => selected(&found),
    }
}

#[test]
fn a_build_file_of_one_package_selects_it_and_what_depends_on_it() {
    let source = r#"
//- package.json
{ "name": "root", "workspaces": ["packages/*"], "devDependencies": { "jest": "1" } }
//- packages/core/package.json
-|{ "name": "@x/core", "main": "index.js" }
+|{ "name": "@x/core", "main": "index.js", "type": "module" }
//- packages/core/index.js
export const a = 1;
//- packages/core/core.test.js
test("core", () => {});
//- packages/named/package.json
{ "name": "@x/named", "dependencies": { "@x/core": "*" } }
//- packages/named/named.test.js
test("named", () => {});
//- packages/further/package.json
{ "name": "@x/further", "dependencies": { "@x/named": "*" } }
//- packages/further/further.test.js
test("further", () => {});
//- packages/imports/package.json
{ "name": "@x/imports" }
//- packages/imports/imports.test.js
import { a } from "../core/index.js";
test("imports", () => a);
//- packages/apart/package.json
{ "name": "@x/apart-core" }
//- packages/apart/apart.test.js
test("apart", () => {});
"#;
    let expected = ["core/core", "further/further", "imports/imports", "named/named"];
    assert_eq!(files(source), expected.map(|name| format!("packages/{name}.test.js")));
    // The same of a runner's configuration; the root's, and what builds or feeds others, select all.
    let config = |path: &str| {
        let plain = source.replace("-|{ \"name\": \"@x/core\", \"main\": \"index.js\" }\n", "").replace("+|{", "{");
        files(&format!("{plain}//- {path}\n-|module.exports = {{}};\n+|module.exports = {{ bail: 1 }};\n"))
    };
    assert_eq!(config("packages/core/jest.config.js").len(), 4);
    assert_eq!(config("jest.config.js"), ["all: runner_config"]);
    assert_eq!(files(&source.replace("packages/", "fixtures/")), ["all: build_file"]);
}

#[test]
fn a_module_of_maven_is_known_by_its_artifact() {
    let source = "
//- pom.xml
<project><artifactId>all</artifactId><modules><module>one</module><module>two</module><module>three</module></modules></project>
//- one/pom.xml
<project><parent><artifactId>all</artifactId></parent><artifactId>first</artifactId>
-|<build><plugins/></build></project>
+|<build><plugins><plugin/></plugins></build></project>
//- one/src/test/java/p/OneTest.java
package p;
import org.junit.jupiter.api.Test;
class OneTest { @Test void one() {} }
//- two/pom.xml
<project><artifactId>second</artifactId><dependencies><dependency><artifactId>first</artifactId></dependency></dependencies></project>
//- two/src/test/java/q/TwoTest.java
package q;
import org.junit.jupiter.api.Test;
class TwoTest { @Test void two() {} }
//- three/pom.xml
<project><artifactId>third</artifactId></project>
//- three/src/test/java/r/ThreeTest.java
package r;
import org.junit.jupiter.api.Test;
class ThreeTest { @Test void three() {} }
";
    assert_eq!(files(source), ["one/src/test/java/p/OneTest.java", "two/src/test/java/q/TwoTest.java"]);
}
