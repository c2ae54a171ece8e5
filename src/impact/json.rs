//! The answer as `ratlas.impact/1`: additive, sorted, byte-deterministic.

use serde_json::Value;

use crate::base::id::symbol_handle;
use crate::impact::answer::{Answer, Note, ViaStep, confidence};
use crate::report::json::{decimal, object};

/// The schema's name; readers accept unknown fields, so that it may grow.
pub const SCHEMA: &str = "ratlas.impact/1";

/// How many dependents are listed; the counts beside the list are of all.
pub const MAX_DEPENDENTS: usize = 200;

/// The answer as a JSON value.
pub fn value(answer: &Answer) -> Value {
    let direct: Vec<_> = answer.dependents.iter().filter(|d| d.distance == 1).collect();
    let transitive: Vec<_> = answer.dependents.iter().filter(|d| d.distance > 1).collect();
    let dependent = |d: &&crate::impact::answer::Dependent| {
        object([
            ("file", d.path.as_str().into()),
            ("qualname", d.qualname.as_str().into()),
            ("handle", symbol_handle(d.path.as_str(), &d.qualname).into()),
            ("kind", d.kind.into()),
            ("line", d.line.into()),
            ("distance", d.distance.into()),
            ("confidence", decimal(confidence(d.confidence))),
            ("change", if d.is_contract { "contract" } else { "behavior" }.into()),
        ])
    };
    let stats = &answer.stats;
    let ratio = |part: usize, whole: usize| decimal(if whole == 0 { 0.0 } else { part as f64 / whole as f64 });
    object([
        ("schema", SCHEMA.into()),
        ("repository", answer.repository.as_str().into()),
        ("question", answer.question.as_str().into()),
        ("base", answer.base.as_deref().into()),
        ("head", answer.head.as_deref().into()),
        ("policy", answer.policy.as_str().into()),
        ("mode", answer.mode.as_str().into()),
        ("verdict", answer.verdict.as_str().into()),
        ("causes", notes(&answer.causes)),
        ("reasons", notes(&answer.reasons)),
        ("tests", answer.tests.iter().map(test).collect()),
        (
            "packages",
            answer
                .packages
                .iter()
                .map(|p| {
                    object([
                        ("path", folder(p.path.as_str()).into()),
                        ("tests", p.n_tests.into()),
                        ("changed", p.is_changed.into()),
                    ])
                })
                .collect(),
        ),
        ("changed", object([("files", files(answer)), ("symbols", symbols(answer))])),
        (
            "dependents",
            object([
                ("n_direct", direct.len().into()),
                ("n_transitive", transitive.len().into()),
                ("direct", direct.iter().take(MAX_DEPENDENTS).map(dependent).collect()),
                ("transitive", transitive.iter().take(MAX_DEPENDENTS).map(dependent).collect()),
            ]),
        ),
        ("not_selected", (stats.n_tests - stats.n_selected_tests).into()),
        (
            "stats",
            object([
                ("tests", stats.n_tests.into()),
                ("selected_tests", stats.n_selected_tests.into()),
                ("test_files", stats.n_test_files.into()),
                ("selected_test_files", stats.n_selected_test_files.into()),
                ("share_tests", ratio(stats.n_selected_tests, stats.n_tests)),
                ("share_test_files", ratio(stats.n_selected_test_files, stats.n_test_files)),
                ("changed_files", stats.n_changed_files.into()),
                ("changed_symbols", stats.n_changed_symbols.into()),
            ]),
        ),
        ("warnings", notes(&answer.warnings)),
        (
            "shadow",
            match &answer.shadow {
                Some(shadow) => object([
                    ("mode", shadow.mode.as_str().into()),
                    ("tests", shadow.tests.iter().map(|id| Value::from(id.as_str())).collect()),
                ]),
                None => Value::Null,
            },
        ),
    ])
}

fn folder(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn notes(list: &[Note]) -> Value {
    list.iter()
        .map(|note| {
            object([
                ("code", note.code.into()),
                ("subject", note.subject.as_str().into()),
                ("message", note.sentence.as_str().into()),
            ])
        })
        .collect()
}

fn test(test: &crate::impact::answer::SelectedTest) -> Value {
    object([
        ("id", test.id.as_str().into()),
        ("file", test.file.as_str().into()),
        ("runner", test.runner.as_str().into()),
        ("package", folder(test.package.as_str()).into()),
        ("because", test.because.into()),
        ("confidence", decimal(confidence(test.confidence))),
        ("distance", test.distance.into()),
        ("via", test.via.iter().map(via).collect()),
    ])
}

fn via(step: &ViaStep) -> Value {
    object([
        ("from", step.from.as_str().into()),
        ("to", step.to.as_str().into()),
        ("kind", step.kind.into()),
        ("file", step.file.as_str().into()),
        ("line", if step.line == 0 { Value::Null } else { step.line.into() }),
    ])
}

fn files(answer: &Answer) -> Value {
    answer
        .files
        .iter()
        .map(|file| {
            object([
                ("path", file.path.as_str().into()),
                ("base_path", file.base_path.as_ref().map(|p| p.as_str()).into()),
                ("status", file.status.as_str().into()),
                ("decision", file.decision.into()),
            ])
        })
        .collect()
}

fn symbols(answer: &Answer) -> Value {
    answer
        .symbols
        .iter()
        .map(|symbol| {
            object([
                ("file", symbol.path.as_str().into()),
                ("qualname", symbol.qualname.as_str().into()),
                ("handle", symbol_handle(symbol.path.as_str(), &symbol.qualname).into()),
                ("kind", symbol.kind.into()),
                ("line", symbol.line.into()),
                ("changes", symbol.changes.names().into_iter().map(Value::from).collect()),
                ("contract", symbol.changes.is_contract().into()),
                ("because", symbol.because.into()),
            ])
        })
        .collect()
}
