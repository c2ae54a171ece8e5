//! What each changed file means before its symbols are looked at, and data files that code names.

use globset::GlobSet;

use crate::base::path::RepoPath;
use crate::facts::delta::Changes;
use crate::impact::answer::{ChangedFile, Note};
use crate::impact::change::{Content, FileChange, FileStatus, TreeChange, is_damaged};
use crate::impact::decide::{Because, Draft, Ground, ReadBytes, globs};
use crate::impact::files::{FileClass, classify, same_meaning};
use crate::impact::policy::ReasonCode;
use crate::impact::reach::Seed;
use crate::impact::seeds::{Origin, names_file};
use crate::view::SkipReason;

impl Draft<'_> {
    /// Decides on every changed file what it means before its symbols are looked at.
    pub(super) fn judge_files(&mut self, change: &TreeChange, old: &Ground<'_>, new: &Ground<'_>, read: ReadBytes<'_>) {
        let run_all = globs(&self.options.run_all);
        for file in &change.files {
            let decision = self.judge_file(file, old, new, read, &run_all);
            self.answer.files.push(ChangedFile {
                path: file.path.clone(),
                base_path: file.base_path.clone(),
                status: file.status,
                decision,
            });
        }
        if self.options.max_changed_files.is_some_and(|max| change.files.len() > max) {
            self.answer.reasons.push(Note::reason(ReasonCode::TooManyFiles, change.files.len().to_string()));
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

    /// What names a changed data file starts a reach; one that nothing names selects the tests
    /// beside it.
    pub(super) fn data_origins(&mut self, old: &Ground<'_>, new: &Ground<'_>) -> Vec<Origin> {
        let mut found = Vec::new();
        for (path, status, is_data) in std::mem::take(&mut self.data) {
            let mut is_named = false;
            for (ground, is_head) in [(new, true), (old, false)] {
                if !is_head && status == FileStatus::Added {
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
            if is_data && !is_named {
                self.select_beside(&path, new);
            } else if !is_data && !is_named {
                self.n_ignored += 1;
            }
        }
        found
    }

    /// The tests in the nearest folder around a path that has any.
    pub(super) fn select_beside(&mut self, path: &RepoPath, new: &Ground<'_>) {
        let mut folder = path.parent();
        while let Some(at) = folder {
            let within: Vec<usize> = (0..new.tests.tests.len())
                .filter(|n| new.atlas.view.file(new.tests.tests[*n].file).path.is_within(&at))
                .collect();
            if !within.is_empty() {
                within.into_iter().for_each(|n| self.select(n, Because::Data, None));
                return;
            }
            folder = at.parent();
        }
    }
}

fn skip_reason(file: &FileChange) -> Option<SkipReason> {
    [file.head, file.base].into_iter().flatten().find_map(|content| match content {
        Content::Other(reason) => Some(reason),
        Content::Code(_) => None,
    })
}
