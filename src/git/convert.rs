//! The worktree's bytes as git would store them: line ends, `ident`, `working-tree-encoding`.
//!
//! External filter drivers are never run; a path under one is told apart.

use std::collections::BTreeSet;

use gix::bstr::{BStr, BString};
use gix::filter::plumbing::Pipeline;
use gix::filter::plumbing::pipeline::CrlfRoundTripCheck;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::prelude::FindExt;

use crate::base::error::{Error, ErrorKind, Result};

/// Converts files of one worktree; one a thread.
pub(crate) struct Converter {
    pipeline: Pipeline,
    attributes: gix::worktree::Stack,
    index: gix::worktree::IndexPersistedOrInMemory,
    filter_attribute: gix::attrs::search::Outcome,
    /// Names of filters that have a command to clean with.
    drivers: BTreeSet<BString>,
}

/// What becomes of a file's bytes.
pub(crate) enum Stored {
    /// These bytes, converted or not.
    Bytes(Vec<u8>),
    /// Only an external filter driver could tell; the bytes are as on disk.
    Filter(Vec<u8>),
}

impl Converter {
    pub fn new(repo: &gix::Repository) -> Result<Self> {
        let broken = |source| {
            Error::new(ErrorKind::Git, "cannot read git's attributes and conversions")
                .hint("`git config --list --show-origin` shows where a value comes from")
                .source(source)
        };
        let (pipeline, index) = repo.filter_pipeline(None).map_err(broken)?;
        let (mut pipeline, attributes) = pipeline.into_parts();
        let options = pipeline.options_mut();
        options.drivers.clear();
        options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        let config = repo.config_snapshot();
        let drivers = config
            .plumbing()
            .sections_by_name("filter")
            .into_iter()
            .flatten()
            .filter(|section| section.value("clean").is_some() || section.value("process").is_some())
            .filter_map(|section| section.header().subsection_name().map(ToOwned::to_owned))
            .collect();
        let mut filter_attribute = gix::attrs::search::Outcome::default();
        filter_attribute.initialize_with_selection(&Default::default(), ["filter"]);
        Ok(Converter { pipeline, attributes, index, filter_attribute, drivers })
    }

    /// Gives the bytes that git would store for `bytes` at `path`.
    ///
    /// # Errors
    /// `Git` when they cannot be converted (a wrong `working-tree-encoding`).
    pub fn convert(&mut self, repo: &gix::Repository, path: &BStr, bytes: Vec<u8>) -> Result<Stored> {
        let broken = || Error::new(ErrorKind::Git, format!("cannot convert `{path}` to what git stores"));
        let at = self
            .attributes
            .at_entry(path, Some(gix::index::entry::Mode::FILE), &repo.objects)
            .map_err(|source| broken().source(source))?;
        if !self.drivers.is_empty() {
            self.filter_attribute.reset();
            at.matching_attributes(&mut self.filter_attribute);
            let is_driven = self.filter_attribute.iter_selected().any(|found| match found.assignment.state {
                gix::attrs::StateRef::Value(name) => self.drivers.contains(name.as_bstr()),
                _ => false,
            });
            if is_driven {
                return Ok(Stored::Filter(bytes));
            }
        }
        let Ok(on_disk) = gix::path::from_bstr(path) else { return Ok(Stored::Bytes(bytes)) };
        let index = &self.index;
        let outcome = self.pipeline.convert_to_git(
            bytes.as_slice(),
            &on_disk,
            &mut |_, attributes| {
                at.matching_attributes(attributes);
            },
            &mut |buffer| {
                let Some(entry) = index.entry_by_path(path) else { return Ok(None) };
                Ok(repo.objects.find_blob(&entry.id, buffer).ok().map(|_| ()))
            },
        );
        let converted = match outcome.map_err(|source| broken().source(source))? {
            ToGitOutcome::Unchanged(_) => None,
            ToGitOutcome::Buffer(converted) => Some(converted.to_vec()),
            ToGitOutcome::Process(_) => None,
        };
        Ok(Stored::Bytes(converted.unwrap_or(bytes)))
    }
}
