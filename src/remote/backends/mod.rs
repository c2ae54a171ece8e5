//! What a remote must be able to do, the ones there are, and which one an address names.

pub mod backend;
#[cfg(feature = "cloud")]
pub mod bucket;
#[cfg(feature = "cloud")]
pub mod bucket_client;
pub mod folder;
pub mod http;

use crate::base::error::{Error, ErrorKind, Result};
use crate::remote::backends::backend::{Access, Backend};

/// The backend of an address: a folder, `file://`, `http://` or `https://`.
///
/// # Errors
/// `Usage` for a scheme that this binary does not speak, or an address that is none; `Config` for
/// a token or certificates that cannot be read, or a token that would travel unencrypted.
pub fn open(address: &str, access: &Access) -> Result<Box<dyn Backend>> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Ok(Box::new(folder::Folder::new(std::path::Path::new(address))));
    };
    match scheme {
        "file" => Ok(Box::new(folder::Folder::of_url(rest)?)),
        "http" | "https" => Ok(Box::new(http::Http::new(address, access)?)),
        #[cfg(feature = "cloud")]
        "s3" | "gs" | "az" => Ok(Box::new(bucket::Bucket::open(address, access, std::env::vars_os())?)),
        #[cfg(not(feature = "cloud"))]
        "s3" | "gs" | "az" => {
            Err(Error::new(ErrorKind::Usage, format!("this build has no cloud: `{}`", shown(address)))
                .hint("build with `cargo install --path . --features cloud`, or give the bucket's https:// address"))
        }
        _ => Err(Error::new(ErrorKind::Usage, format!("`{scheme}://` is no scheme of a remote"))
            .hint("give a folder, or an address that begins with file://, http://, https://, s3://, gs:// or az://")),
    }
}

/// An address as it may be printed: user, password and query left out.
pub fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{path}").trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{open, shown};
    use crate::remote::backends::backend::Access;

    #[test]
    fn addresses_are_printed_without_secrets() {
        assert_eq!(shown("https://u:p@h.example/a/b?sig=1"), "https://h.example/a/b");
        assert_eq!(shown("/srv/maps"), "/srv/maps");
    }

    #[test]
    fn schemes_that_are_not_spoken_are_refused_in_words() {
        let error = open("ftp://h/x", &Access::default()).err().unwrap().to_string();
        assert!(error.contains("`ftp://` is no scheme"), "{error}");
        #[cfg(not(feature = "cloud"))]
        for address in ["s3://b/x", "gs://b/x", "az://b/x"] {
            let error = open(address, &Access::default()).err().unwrap();
            assert!(error.to_string().contains("this build has no cloud"), "{error}");
            assert!(error.hint.unwrap().contains("--features cloud"));
        }
    }
}
