//! "0 callers" is said to be complete only where nothing may call: one table of sources, each with
//! what is asked for and why the answer is a lower bound (nothing: it is complete).

use serde_json::json;

use crate::tools::{ask, desk};

/// A source's path and text.
type Sources = &'static [(&'static str, &'static str)];

const TYPESCRIPT: Sources = &[
    (
        "a.ts",
        "export interface Runner { run(): void; label?: string }\n\
         export interface Both { run(): void; walk(): void }\n\
         export function go(all: Map<string, Runner>) { all.get('x')!.run(); }\n\
         export function two(b: Both) { b.walk(); }\n\
         export const inline = (o: { tick(): void }) => o.tick();\n",
    ),
    (
        "b.ts",
        "import { EventEmitter } from 'events';\n\
         import { Component } from 'ui';\n\
         class Fits { run() {} other() {} static run2() {} }\n\
         class Lacks { walk() {} }\n\
         class Hidden { private run() {} }\n\
         class Ticks { tick() {} }\n\
         class View extends Component { render() { return null; } }\n\
         class Own { render() { return null; } }\n\
         const spread = { ...other, walk() {} };\n",
    ),
];
const PYTHON: Sources = &[(
    "a.py",
    "from typing import Protocol\nimport threading\n\n\
     class Saver(Protocol):\n    def save(self): ...\n\n\
     class Plain:\n    def load(self): ...\n\n\
     class Disk:\n    def save(self): ...\n    def load(self): ...\n\n\
     class Work(threading.Thread):\n    def run(self): ...\n    def __own(self): ...\n\n\
     class Mixin:\n    def handle(self): ...\n\n\
     class Server(Mixin, threading.Thread): ...\n\n\
     def f(saver: Saver, plain: Plain):\n    saver.save()\n    plain.load()\n",
)];
const JAVA: Sources = &[(
    "x/A.java",
    "package x;\nimport java.util.*;\nimport org.ext.Base;\n\
     interface Op { int apply(int a); }\n\
     class A implements Runnable, Comparator<String> {\n  public void run() {}\n  void own() {}\n  public int compare(String a, String b) { return 0; }\n}\n\
     class B extends Base { public void handle() {} private void hidden() {} static void still() {} }\n\
     class C { int twice(int a) { return 2 * a; } void m(List<String> l) {\n\
       go(new Op() { public int apply(int a) { return inner(a); } int inner(int a) { return a; } int unused() { return 1; } });\n\
       l.sort(new Comparator<String>() { public int compare(String a, String b) { return 1; } int unasked() { return 1; } });\n  }\n\
       static int go(Op op) { return op.apply(1); } }\n\
     class D implements java.io.Serializable { void own() {} }\n",
)];

#[test]
fn a_complete_answer_has_nothing_that_may_call() {
    let cases: [(Sources, &str, &[&str]); 23] = [
        (TYPESCRIPT, "Fits.run", &["structural_types"]),
        (TYPESCRIPT, "Fits.other", &[]),
        (TYPESCRIPT, "Fits.run2", &[]),
        (TYPESCRIPT, "Lacks.walk", &[]),
        (TYPESCRIPT, "Hidden.run", &[]),
        (TYPESCRIPT, "Ticks.tick", &["structural_types"]),
        (TYPESCRIPT, "View.render", &["outside_bases"]),
        (TYPESCRIPT, "Own.render", &[]),
        (TYPESCRIPT, "spread.walk", &["structural_types"]),
        (PYTHON, "Disk.save", &["structural_types"]),
        (PYTHON, "Disk.load", &[]),
        (PYTHON, "Work.run", &["outside_bases"]),
        (PYTHON, "Work.__own", &[]),
        (PYTHON, "Mixin.handle", &["outside_bases"]),
        (JAVA, "A.run", &["outside_bases"]),
        (JAVA, "A.own", &[]),
        (JAVA, "A.compare", &["outside_bases"]),
        (JAVA, "B.handle", &["outside_bases"]),
        (JAVA, "B.hidden", &[]),
        (JAVA, "B.still", &[]),
        (JAVA, "C.m(List).compare(String,String)", &["outside_bases"]),
        (JAVA, "C.m(List).unasked()", &[]),
        (JAVA, "D.own", &[]),
    ];
    for (sources, name, causes) in cases {
        let data = ask(&desk(sources), "callers_of", json!({"qualname": name})).json();
        let found: Vec<&str> =
            data["causes"].as_array().unwrap().iter().map(|cause| cause["code"].as_str().unwrap()).collect();
        assert_eq!(found, causes, "{name}: {data}");
        assert_eq!(data["verdict"], if causes.is_empty() { "complete" } else { "lower_bound" }, "{name}");
    }
}

/// Where the value is seen to flow, the calls through the type are callers, by dispatch.
#[test]
fn what_is_handed_as_another_type_has_the_callers_of_that_type() {
    let desk = desk(&[(
        "a.ts",
        "interface Runner { run(): void }\n\
         function go(r: Runner) { r.run(); }\n\
         class Foo { run() {} }\n\
         function main() { go(new Foo()); }\n",
    )]);
    let data = ask(&desk, "callers_of", json!({"qualname": "Foo.run"})).json();
    assert_eq!(data["callers"][0]["qualname"], "go", "{data}");
    assert_eq!(data["callers"][0]["dispatched"], true, "{data}");
}

/// Who makes an instance of a class that inherits its constructor calls that one.
#[test]
fn an_inherited_constructor_is_called_by_the_names_of_the_classes_below() {
    let desk = desk(&[
        (
            "a.py",
            "class Base:\n    def __init__(self): ...\n\nclass Child(Base): ...\n\nclass Own(Base):\n    def __init__(self): ...\n\ndef make():\n    return Child()\n\ndef other():\n    return Own()\n",
        ),
        ("b.ts", "class Up { constructor() {} }\nclass Down extends Up {}\nfunction make2() { return new Down(); }\n"),
    ]);
    let data = ask(&desk, "callers_of", json!({"qualname": "Base.__init__"})).json();
    let callers: Vec<&str> =
        data["callers"].as_array().unwrap().iter().map(|row| row["qualname"].as_str().unwrap()).collect();
    assert_eq!(callers, ["make"], "{data}");
    let data = ask(&desk, "callers_of", json!({"qualname": "Up.constructor"})).json();
    assert_eq!(data["callers"][0]["qualname"], "make2", "{data}");
}
