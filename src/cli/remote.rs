//! What `pull`, `push` and `ci` share: which remote, how it is reached, whose facts are believed.

use std::path::PathBuf;

use clap::Args;

use crate::base::error::{Error, ErrorKind, Result};
use crate::cli::context::{Context, user_folder};
use crate::config::Config;
use crate::remote::backends::backend::{Access, Backend};
use crate::remote::backends::{open, shown};
use crate::remote::layout::Namespace;
use crate::remote::signature::Trust;

/// Which remote, and whether it is believed.
#[derive(Debug, Clone, Default, Args)]
pub struct RemoteArgs {
    /// The remote: a folder, file://, http://, https:// or a bucket (s3://, gs://, az://); `[remote] url` by default
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Your own namespace beside `main`: pr-<number> or dev-<name>
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// A minisign public key that must have signed what is used (repeatable)
    #[arg(long, value_name = "KEY")]
    pub trusted_key: Vec<String>,
    /// Agree, once and for all, to the remote that the repository's ratlas.toml names
    #[arg(long)]
    pub trust: bool,
}

/// How many commits of the line of first parents are looked for at a remote.
pub const MAX_COMMITS: usize = 256;

impl RemoteArgs {
    /// The address in force; `None` when none is set.
    ///
    /// # Errors
    /// `Remote` for one that only the repository's file names, as long as the user has not agreed.
    pub fn address(&self, config: &Config) -> Result<Option<String>> {
        if let Some(url) = &self.url {
            return Ok(Some(url.clone()));
        }
        let Some((url, is_repositorys)) = config.remote_url() else { return Ok(None) };
        if is_repositorys && self.trust {
            agree(&url)?;
        }
        if is_repositorys && !is_agreed(&url) {
            let what = format!("the repository names the remote `{}`, and you have not agreed to it", shown(&url));
            return Err(Error::new(ErrorKind::Remote, what)
                .hint("run `ratlas pull --trust` once to agree, or give the address on the command line"));
        }
        Ok(Some(url))
    }

    /// The remote's backend; never under `--offline`.
    ///
    /// # Errors
    /// `Remote` when there is none, none is agreed to, or the network is not to be used; else as
    /// [`open`].
    pub fn backend(&self, context: &Context, config: &Config) -> Result<Box<dyn Backend>> {
        let address = self.address(config)?.ok_or_else(|| {
            Error::new(ErrorKind::Remote, "no remote is set")
                .hint("give its address: `ratlas pull URL`, or set `[remote] url`")
        })?;
        if context.is_offline() {
            return Err(Error::new(ErrorKind::Remote, format!("offline: `{}` is not asked", shown(&address)))
                .hint("leave out `--offline` to use the remote"));
        }
        open(&address, &access()?)
    }

    /// The keys whose signature is required.
    ///
    /// # Errors
    /// `Config` for a text that is no key.
    pub fn keys(&self, config: &Config) -> Result<Trust> {
        let keys: Vec<String> = config.trusted_keys().into_iter().chain(self.trusted_key.iter().cloned()).collect();
        Trust::of(&keys)
    }

    /// The own namespace: as given, configured, or by the user's name.
    ///
    /// # Errors
    /// `Usage` for one that is none.
    pub fn own(&self, config: &Config) -> Result<Option<Namespace>> {
        match self.namespace.clone().or_else(|| config.remote_namespace()) {
            Some(name) => Namespace::parse(&name).map(Some),
            None => {
                let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
                Ok(user.and_then(|user| Namespace::of_person(&user)))
            }
        }
    }

    /// Whose facts are believed: one's own, then trusted CI's.
    ///
    /// # Errors
    /// As [`RemoteArgs::own`].
    pub fn readers(&self, config: &Config) -> Result<Vec<Namespace>> {
        let mut readers: Vec<Namespace> = self.own(config)?.into_iter().filter(|own| !own.is_main()).collect();
        readers.push(Namespace::main());
        Ok(readers)
    }
}

/// The branches whose hints are followed where no commit is known.
pub fn branches(own: Option<&str>) -> Vec<String> {
    let base = std::env::var("GITHUB_BASE_REF").ok().filter(|base| !base.is_empty());
    let mut branches: Vec<String> = Vec::new();
    for branch in own.map(str::to_owned).into_iter().chain(base).chain(["main".to_owned(), "master".to_owned()]) {
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    branches
}

/// Credentials and certificates from the environment.
fn access() -> Result<Access> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut access = Access { ca_bundle: variable("SSL_CERT_FILE").map(PathBuf::from), ..Access::default() };
    access.token = std::env::var("RATLAS_REMOTE_TOKEN").ok().filter(|token| !token.is_empty());
    if let Some(file) = variable("RATLAS_REMOTE_TOKEN_FILE").map(PathBuf::from) {
        let token = std::fs::read_to_string(&file).map_err(|cause| {
            Error::new(ErrorKind::Config, format!("cannot read the token in `{}`", file.display()))
                .hint("let RATLAS_REMOTE_TOKEN_FILE name a file that holds the token alone")
                .source(cause)
        })?;
        access.token = Some(token.trim().to_owned()).filter(|token| !token.is_empty());
    }
    Ok(access)
}

/// Where the addresses are kept that the user agreed to, one a line.
fn agreed_file() -> Option<PathBuf> {
    Some(user_folder()?.join("agreed-remotes"))
}

fn is_agreed(url: &str) -> bool {
    let agreed = agreed_file().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    agreed.lines().any(|line| line == url)
}

fn agree(url: &str) -> Result<()> {
    if is_agreed(url) || url.contains('\n') {
        return Ok(());
    }
    let failed = |cause: std::io::Error| {
        Error::new(ErrorKind::Config, "cannot remember that you agreed to the remote")
            .hint("give the address on the command line instead")
            .source(cause)
    };
    let file = agreed_file().ok_or_else(|| failed(std::io::Error::other("there is no home folder")))?;
    let mut agreed = std::fs::read_to_string(&file).unwrap_or_default();
    agreed.push_str(url);
    agreed.push('\n');
    let folder = file.parent().unwrap_or(&file);
    let write = || {
        std::fs::create_dir_all(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, agreed.as_bytes())?;
        temporary.persist(&file).map_err(|error| error.error)
    };
    write().map(drop).map_err(failed)
}

/// Bytes for people.
pub fn size(n_bytes: u64) -> String {
    match n_bytes {
        0..1_000 => format!("{n_bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", n_bytes as f64 / 1e3),
        _ => format!("{:.1} MB", n_bytes as f64 / 1e6),
    }
}
