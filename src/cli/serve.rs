//! `ratlas serve`: the tools for a client, over the Model Context Protocol on stdio.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::base::error::Result;
use crate::cli::context::Context;
use crate::git::repo::Repo;
use crate::mcp::{self, Place};
use crate::tools::tool::Desk;

#[derive(Debug, Args)]
pub struct ServeArgs {}

pub fn run(context: Context, _args: &ServeArgs) -> Result<u8> {
    let place = place(&context);
    let open = move |dir: &Path| {
        let session = context.session_at(dir)?;
        let options = context.config_at(session.repo().root())?.tools();
        Ok(Desk::new(Arc::new(session), options))
    };
    mcp::serve(place, Arc::new(open))?;
    Ok(0)
}

/// `RATLAS_PATIENCE_MS`, for clients that give up sooner than most.
fn patience() -> Duration {
    let given = std::env::var("RATLAS_PATIENCE_MS").ok().and_then(|text| text.parse().ok());
    given.map_or(mcp::PATIENCE, Duration::from_millis)
}

/// `-C`, else the working directory where it lies in a git repository, else the client's to say.
fn place(context: &Context) -> Place {
    let dir: PathBuf = context.dir().to_owned();
    let is_known = context.is_dir_given() || Repo::open(&dir).is_ok_and(|repo| repo.has_git());
    Place { known: is_known.then(|| dir.clone()), fallback: dir, patience: patience() }
}
