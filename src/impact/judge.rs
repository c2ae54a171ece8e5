//! What each changed file means before its symbols are looked at, and data files that code names.

use globset::GlobSet;

use crate::base::path::RepoPath;
use crate::facts::delta::Changes;
use crate::impact::answer::{ChangedFile, Note};
use crate::impact::change::{Content, FileChange, FileStatus, TreeChange, is_damaged};
use crate::impact::decide::{Because, Beside, Draft, Ground, ReadBytes, globs};
use crate::impact::dependency;
use crate::impact::files::{FileClass, classify, may_run_tests, same_meaning};
use crate::impact::packages;
use crate::impact::policy::ReasonCode;
use crate::impact::reach::Seed;
use crate::impact::seeds::{Origin, names_file};
use crate::impact::space::Bits;
use crate::lang::dependencies;
use crate::view::{FileIdx, SkipReason};

impl Draft<'_> {
    /// Decides on every changed file what it means before its symbols are looked at.
    pub(super) fn judge_files(&mut self, change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>, beside: &Beside<'_>) {
        let run_all = globs(&self.options.run_all);
        for file in &change.files {
            let decision = self.judge_file(file, old, new, beside.read, &run_all);
            self.answer.files.push(ChangedFile {
                path: file.path.clone(),
                base_path: file.base_path.clone(),
                status: file.status,
                decision,
            });
        }
        // An executable bit matters to who starts the file, and so names it.
        for path in &beside.modes {
            let decision = match run_all.is_match(path.as_str()) {
                true => {
                    self.answer.reasons.push(Note::reason(ReasonCode::RunAllRule, path.as_str()));
                    "run_all"
                }
                false => {
                    self.data.push((path.clone(), FileStatus::Modified, false));
                    "mode"
                }
            };
            let status = FileStatus::Modified;
            self.answer.files.push(ChangedFile { path: path.clone(), base_path: None, status, decision });
        }
        self.answer.files.sort_by(|a, b| a.path.cmp(&b.path));
        let n_changed = self.answer.files.len();
        if self.options.max_changed_files.is_some_and(|max| n_changed > max) {
            self.answer.reasons.push(Note::reason(ReasonCode::TooManyFiles, n_changed.to_string()));
        }
    }

    /// Decides on files of which only the names are known.
    pub(super) fn judge_names(&mut self, paths: &[RepoPath], ground: &Ground<'_>) {
        let view = &ground.atlas.view;
        let run_all = globs(&self.options.run_all);
        for path in paths {
            let code = view.find(path.as_str());
            let other = view.others.iter().find(|other| other.path == *path);
            let decision = if run_all.is_match(path.as_str()) {
                self.answer.reasons.push(Note::reason(ReasonCode::RunAllRule, path.as_str()));
                "run_all"
            } else if code.is_none() && other.is_none() {
                self.answer.reasons.push(Note::reason(ReasonCode::FileGone, path.as_str()));
                "run_all"
            } else {
                match (classify(path, other.filter(|_| code.is_none()).map(|o| o.reason)), code) {
                    (FileClass::RunAll(reason), _) => {
                        self.answer.reasons.push(Note::reason(reason, path.as_str()));
                        "run_all"
                    }
                    (FileClass::Code, Some(file)) => {
                        self.select_closure((true, file), None, ground, ground);
                        "file_reach"
                    }
                    (FileClass::Documentation, _) => {
                        self.data.push((path.clone(), FileStatus::Modified, false));
                        "documentation"
                    }
                    (FileClass::Data | FileClass::Code, _) => {
                        self.data.push((path.clone(), FileStatus::Modified, true));
                        "data"
                    }
                }
            };
            let status = FileStatus::Modified;
            self.answer.files.push(ChangedFile { path: path.clone(), base_path: None, status, decision });
        }
        if self.options.max_changed_files.is_some_and(|max| paths.len() > max) {
            self.answer.reasons.push(Note::reason(ReasonCode::TooManyFiles, paths.len().to_string()));
        }
    }

    pub(super) fn judge_file(
        &mut self,
        file: &FileChange,
        old: &Ground<'_>,
        new: &Ground<'_>,
        read: ReadBytes<'_>,
        run_all: &GlobSet,
    ) -> &'static str {
        let mut paths = vec![&file.path];
        paths.extend(&file.base_path);
        if paths.iter().any(|p| run_all.is_match(p.as_str())) {
            self.answer.reasons.push(Note::reason(ReasonCode::RunAllRule, file.path.as_str()));
            return "run_all";
        }
        let is_code = file.head_file().is_some() || file.base_file().is_some();
        let skip = skip_reason(file);
        let class = paths
            .iter()
            .map(|p| classify(p, if is_code && skip.is_none() { None } else { skip }))
            .find(|class| matches!(class, FileClass::RunAll(_)))
            .unwrap_or_else(|| classify(&file.path, if is_code && skip.is_none() { None } else { skip }));
        match class {
            FileClass::RunAll(code) => {
                if is_code && file.status == FileStatus::Modified && file.delta.is_empty() && !file.delta.is_damaged {
                    return "layout";
                }
                let base_path = file.base_path.as_ref().unwrap_or(&file.path);
                if !is_code
                    && file.status == FileStatus::Modified
                    && matches!((read(false, base_path), read(true, &file.path)), (Some(a), Some(b)) if same_meaning(&file.path, &a, &b))
                {
                    return "unchanged_meaning";
                }
                if !is_code && file.status == FileStatus::Modified && self.compare_packages(file, old, new, read) {
                    return "dependencies";
                }
                if code == ReasonCode::CiConfig {
                    let texts: Vec<Vec<u8>> =
                        [read(false, base_path), read(true, &file.path)].into_iter().flatten().collect();
                    if !texts.is_empty() && !texts.iter().any(|text| may_run_tests(text)) {
                        self.data.push((file.path.clone(), file.status, false));
                        return "documentation";
                    }
                }
                if code == ReasonCode::UnknownLanguage && self.is_mapped(&file.path) {
                    return "mapped";
                }
                let package = packages::package_of(&new.atlas.view, &file.path, code);
                if let Some(package) = package.filter(|_| file.status == FileStatus::Modified) {
                    self.select_package(&package, &file.path, new);
                    return "package";
                }
                self.answer.reasons.push(Note::reason(code, file.path.as_str()));
                "run_all"
            }
            FileClass::Documentation => {
                self.data.push((file.path.clone(), file.status, false));
                "documentation"
            }
            FileClass::Data => {
                self.data.push((file.path.clone(), file.status, true));
                "data"
            }
            FileClass::Code => self.judge_code(file, old, new),
        }
    }

    /// Whether a map of the rules says which tests a file stands for.
    fn is_mapped(&self, path: &RepoPath) -> bool {
        self.options.map.iter().any(|rule| globs(&rule.when).is_match(path.as_str()))
    }

    /// Compares a manifest or lockfile by package; whether its change reaches importers alone.
    fn compare_packages(&mut self, file: &FileChange, old: &Ground<'_>, new: &Ground<'_>, read: ReadBytes<'_>) -> bool {
        let base_path = file.base_path.as_ref().unwrap_or(&file.path);
        let (Some(before), Some(after)) = (read(false, base_path), read(true, &file.path)) else { return false };
        let Some(change) = dependencies::compare(&file.path, &before, &after) else { return false };
        let found = dependency::importers(&change, &[old.side(), new.side()]);
        for package in found.iter().flat_map(|importers| &importers.unknown) {
            self.answer.reasons.push(Note::reason(ReasonCode::Package, format!("{package} in {}", file.path)));
        }
        for (importers, ground, is_head) in [(&found[0], old, false), (&found[1], new, true)] {
            self.packages.extend(dependency::origins(ground.side(), &importers.files, is_head));
        }
        true
    }

    pub(super) fn judge_code(&mut self, file: &FileChange, old: &Ground<'_>, new: &Ground<'_>) -> &'static str {
        let was_damaged = is_damaged(&old.atlas.view, file.base);
        let now_damaged = is_damaged(&new.atlas.view, file.head);
        if now_damaged && !was_damaged {
            self.answer.reasons.push(Note::reason(ReasonCode::ParseFailure, file.path.as_str()));
            return "run_all";
        }
        if was_damaged || now_damaged {
            self.whole.extend(file.head_file().map(|f| (true, f)));
            self.whole.extend(file.base_file().map(|f| (false, f)));
            return "file_reach";
        }
        if file.delta.is_empty() && file.status == FileStatus::Modified { "layout" } else { "symbols" }
    }

    /// What imports a changed package or names a changed data file starts a reach; one that nothing names selects the tests
    /// beside it.
    pub(super) fn data_origins(&mut self, old: &Ground<'_>, new: &Ground<'_>) -> Vec<Origin> {
        let mut found = std::mem::take(&mut self.packages);
        for (path, status, is_data) in std::mem::take(&mut self.data) {
            let mut is_named = false;
            for (ground, is_head) in [(new, true), (old, false)] {
                // One tree alone is asked about once.
                if !is_head && (status == FileStatus::Added || std::ptr::eq(old, new)) {
                    continue;
                }
                for at in names_file(ground.side(), &path) {
                    is_named = true;
                    let seed = vec![Seed { node: ground.steps.space.symbol(at), is_contract: false }];
                    found.push(Origin {
                        head: if is_head { seed.clone() } else { Vec::new() },
                        base: if is_head { Vec::new() } else { seed },
                        symbol: Some(at),
                        is_head,
                        changes: Changes::BODY,
                        because: Some("names_file"),
                    });
                }
            }
            if is_data && !is_named && self.is_mapped(&path) {
                // The rules say which tests stand for it.
            } else if is_data && !is_named {
                self.select_beside(&path, new);
            } else if !is_data && !is_named {
                self.n_ignored += 1;
            }
        }
        found
    }

    /// The tests that may read a data file which nothing names: those of the nearest folder around
    /// it that holds tests, or code, whose importers they are then. The root of the repository is
    /// everybody's folder: there only what stands in it directly counts.
    fn select_beside(&mut self, path: &RepoPath, new: &Ground<'_>) {
        let view = &new.atlas.view;
        let placed = path_of_code(path);
        let mut folder = placed.parent();
        while let Some(at) = folder.filter(|at| !at.as_str().is_empty()) {
            let within: Vec<usize> = (0..new.tests.tests.len())
                .filter(|n| view.file(new.tests.tests[*n].file).path.is_within(&at))
                .collect();
            if !within.is_empty() {
                within.into_iter().for_each(|n| self.select(n, Because::Data, None));
                return;
            }
            let beside: Vec<FileIdx> =
                view.indices().filter(|idx| view.file(*idx).path.parent().as_ref() == Some(&at)).collect();
            let set = new.closure.tests_of_any(&beside);
            if !set.is_empty() {
                self.select_files(&set, Because::Data, new);
                return;
            }
            folder = at.parent();
        }
        let is_beside = |file: FileIdx| view.file(file).path.parent() == path.parent();
        let within: Vec<usize> = (0..new.tests.tests.len())
            .filter(|n| path.parent().is_some_and(|at| at.as_str().is_empty()) && is_beside(new.tests.tests[*n].file))
            .collect();
        if within.is_empty() {
            let sentence = "no code names it, and neither tests nor code lie beside it";
            self.answer.causes.push(Note::new("unnamed_data", path.as_str(), sentence));
        }
        within.into_iter().for_each(|n| self.select(n, Because::Data, None));
    }

    /// Selects the tests of some test files.
    fn select_files(&mut self, set: &Bits, because: Because, ground: &Ground<'_>) {
        for (at, test) in ground.tests.tests.iter().enumerate() {
            if ground.tests.files.binary_search(&test.file).is_ok_and(|bit| set.has(bit)) {
                self.select(at, because, None);
            }
        }
    }
}

/// Where the code lies that a file belongs to: Maven and Gradle keep resources of `src/X/java` in
/// `src/X/resources`, by package.
fn path_of_code(path: &RepoPath) -> RepoPath {
    let text = path.as_str();
    let is_resource = text.starts_with("src/") || text.contains("/src/");
    let moved = text.replacen("/resources/", "/java/", 1);
    RepoPath::new(&moved).filter(|_| is_resource).unwrap_or_else(|| path.clone())
}

fn skip_reason(file: &FileChange) -> Option<SkipReason> {
    [file.head, file.base].into_iter().flatten().find_map(|content| match content {
        Content::Other(reason) => Some(reason),
        Content::Code(_) => None,
    })
}
