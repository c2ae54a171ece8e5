//! The codes of impact answers in words, for `ratlas explain`: what each is, and what to do.

/// Code, what it is, what follows: reasons for all, reasons for none, causes of a lower bound,
/// warnings.
pub const PAGES: &[(&str, &str, &str)] = &[
    (
        "select_off",
        "selection is switched off",
        "`RATLAS_SELECT=off` is set, so all tests are selected. Take it away to select by the change.",
    ),
    (
        "shadow",
        "all tests run, the selection is told beside",
        "`--shadow` adds what would have been selected (`shadow` in JSON); `--judge JUNIT.XML` says what it would\nhave missed. So a team learns whether to trust selection before it acts on it.",
    ),
    (
        "base_unresolvable",
        "the base of the comparison is not in this clone",
        "A shallow clone, a typo, or no common ancestor. Fetch more (`git fetch --deepen=100`, `fetch-depth: 0` in\na workflow); `--on-unknown error` fails with exit code 3 in place of selecting all.",
    ),
    (
        "file_gone",
        "a named file is not in the tree",
        "`--files-from` gives names only, and who used a deleted file is known from a base. Use `--diff` for\ndeletions.",
    ),
    (
        "no_tests_known",
        "code changed in a language of which no test is recognized here",
        "Its runner, or the place of its tests, is none that ratlas knows; to say that nothing breaks would be a guess.\nIf there are none, `[impact] max_ratio` or the pipeline decides; else tell us the runner.",
    ),
    (
        "ratlas_config",
        "the rules of selection changed",
        "A change cannot soften its own gate: a changed ratlas.toml selects all, and rules are read from the base.",
    ),
    (
        "lockfile",
        "resolved dependencies changed and cannot be compared by package",
        "npm, pnpm, yarn, uv, Poetry, PDM, pip and Gradle files are compared by package; other formats, and\ndifferences in anything but packages, select all.",
    ),
    (
        "package",
        "a changed package that every test may depend on",
        "Runners and compilers (pytest, jest, vitest, typescript …) carry all tests; of a package that no file\nimports (a plugin) nothing tells whom it reaches. Tools that only judge code (linters) select nothing.",
    ),
    (
        "build_file",
        "a build file changed",
        "What it does to tests is not known. White space and metadata of manifests are no change, and changed\npackages of a manifest reach their importers alone.",
    ),
    (
        "runner_config",
        "the configuration of a test runner changed",
        "It decides which tests there are and how they run.",
    ),
    (
        "ci_config",
        "the pipeline that runs the tests changed",
        "The run itself is what is to be tested then. Workflows that name no test and nothing that may run some\n(publishing, labels) count as tooling.",
    ),
    (
        "unknown_language",
        "a source of a language that is not indexed changed",
        "Nothing is known of who uses it. A `[[impact.map]]` with `when` and `tests` says which tests stand for it.",
    ),
    (
        "skipped_source",
        "a source that is not indexed changed",
        "Too large, generated, binary, or a symlink that may lead to code: `ratlas status` says which and why.",
    ),
    (
        "unreadable",
        "a changed source cannot be read in one of the trees",
        "A partial clone (`--filter=blob:none`) lacks old versions, and ratlas never fetches. `git diff A...B > /dev/null`\nmakes git fetch just those that a comparison needs; a file of the tree on disk may lack permission.",
    ),
    (
        "private_file",
        "a private file changed, which is never opened",
        "`.env*`, keys, `secrets/`: what it holds is not looked at, so all tests are selected.",
    ),
    ("submodule", "a submodule points elsewhere", "The files of a submodule are another repository's."),
    (
        "parse_failure",
        "a changed file does not parse",
        "A file that parsed in the base and does not now selects all; one that parsed in neither selects the tests\nthat import it, as a lower bound.",
    ),
    ("run_all_rule", "a rule of `[impact] run_all` matches", "The globs are in the base's ratlas.toml."),
    (
        "too_many_files",
        "more files changed than `[impact] max_changed_files`",
        "One full run is cheaper than a long selection.",
    ),
    ("ratio_reached", "more is selected than `[impact] max_ratio`", "One full run is cheaper than a large selection."),
    ("nothing_changed", "the two trees are equal", "There is nothing to run."),
    (
        "documentation_only",
        "only documentation and tooling changed",
        "Prose, and files of linters, editors and the forge, that no code names.",
    ),
    (
        "layout_only",
        "only layout and comments changed",
        "Comments that act (`# type: ignore`, `@jest-environment` …) count as changes, others do not.",
    ),
    ("no_effect", "nothing that code or tests can see changed", "Layout, metadata of manifests, documents."),
    (
        "no_test_reaches",
        "no test reaches what changed",
        "As a reason: none reaches or imports it. As a warning: none reaches the symbol, so the tests that import\nits file are selected.",
    ),
    (
        "policy_precise",
        "unproved links are not followed",
        "`--policy precise` follows proved and likely links only; `safe` follows all.",
    ),
    (
        "outside_decorator",
        "what a decorator from outside does is taken for granted",
        "`@lib.command` is taken to give the function back under its own name. Where more tests hang on that than a\nfew, which are selected, it is said. If it registers the function somewhere that runs it, name the tests in\n`[[impact.map]]`.",
    ),
    (
        "computed_member",
        "code reads members by computed names of what is not known",
        "`getattr(x, name)` or `x[name]()`, where neither is known, may run what changed. A type on `x` tells which\nmembers are meant; of tests that only such code leads to a few are selected, and more are not.",
    ),
    (
        "kept_value",
        "what is handed to a register is taken to be kept there",
        "A call whose name says that it stores (`append`, `add_…`) is taken not to run what it is given.",
    ),
    (
        "unnamed_data",
        "a data file that nothing names changed",
        "No string of the code ends in its name, and neither tests nor code lie in its folder or in those around\nit. If tests read it, say which in `[[impact.map]]`.",
    ),
    (
        "skipped_test",
        "a test file was not read",
        "It is too large, generated or unreadable, and may use what changed: run it.",
    ),
    ("damaged_test", "a test file does not parse whole", "Tests in its damaged lines are not seen."),
    (
        "coverage_unknown_test",
        "the coverage names tests that are none here",
        "Renamed or deleted since, or named in a way that is not known: ids of pytest (`a.py::C::t|run`), dotted names,\n`pkg.Class#method`, files, titles, and any of them with `_` for what is no letter.",
    ),
    (
        "coverage_unknown_file",
        "the coverage names files that are none here",
        "A path counts when it ends in a file's path, or a file's path ends in it, and no second file fits as well.",
    ),
    (
        "coverage_not_trusted",
        "`--trust-coverage` leaves no test out here",
        "It does so only where nothing but bodies of functions changed, in files that were measured: code that runs at\nimport is seen with whichever test imports it first.",
    ),
    (
        "trusted_coverage",
        "tests are left out since coverage did not see them run the change",
        "`--trust-coverage` was given. `--why-not TEST` names them (`not_measured`); without it coverage only adds.",
    ),
    (
        "computed_import",
        "a file is loaded by a computed name",
        "A changed file that no test imports may be what a computed import loads; the tests that import the code\nwith such an import are selected.",
    ),
];

#[cfg(test)]
mod tests {
    use super::PAGES;
    use crate::impact::policy::ReasonCode;
    use crate::impact::step::Guess;

    /// Codes of notes that are written where they arise.
    const NOTES: [&str; 12] = [
        "no_effect",
        "no_test_reaches",
        "nothing_changed",
        "documentation_only",
        "layout_only",
        "policy_precise",
        "unnamed_data",
        "computed_import",
        "coverage_unknown_test",
        "coverage_unknown_file",
        "coverage_not_trusted",
        "trusted_coverage",
    ];

    #[test]
    fn every_code_has_its_page() {
        let codes =
            ReasonCode::ALL.map(ReasonCode::as_str).into_iter().chain(Guess::ALL.map(Guess::as_str)).chain(NOTES);
        for code in codes {
            assert!(PAGES.iter().any(|(known, ..)| *known == code), "`{code}` has no page");
        }
        let mut names: Vec<&str> = PAGES.iter().map(|(code, ..)| *code).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PAGES.len());
    }
}
