//! A remote in a bucket: `s3://bucket/folder`, `gs://bucket/folder`, `az://container/folder`.
//! Credentials, regions and endpoints come from the variables of the clouds' own tools (`AWS_*`,
//! `GOOGLE_*`, `AZURE_*`). The only door to object_store.

use std::ffi::OsString;
use std::future::Future;
use std::io::Write;
use std::ops::Range;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use object_store::{PutPayload, RetryConfig};

use crate::base::error::{Error, ErrorKind, Result};
use crate::remote::backends::backend::{Access, Backend, Fault, Found, Listed, Outcome, Put};
use crate::remote::backends::bucket_client::{Connector, with_status};
use crate::remote::backends::http::agent;
use crate::remote::backends::shown;
use crate::report::sanitize;

/// The bytes of one request: a transfer that breaks off goes on at the last of them.
const STEP: u64 = 8 << 20;

/// A folder of a bucket.
pub struct Bucket {
    store: Box<dyn ObjectStore>,
    /// Scheme, bucket and folder.
    address: String,
    /// Empty, or parts that are parted by `/`.
    folder: String,
    /// The variables that hold its credentials, for messages.
    credentials: &'static str,
}

impl Bucket {
    /// The bucket of an address, reached as `variables` say.
    ///
    /// # Errors
    /// `Usage` for an address that is none; `Config` for variables that do not fit, and for
    /// certificates that cannot be read.
    pub fn open(
        address: &str,
        access: &Access,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self> {
        let wrong = || {
            Error::new(ErrorKind::Usage, format!("`{}` names no bucket", shown(address)))
                .hint("write s3://bucket/folder, gs://bucket/folder or az://container/folder")
        };
        let (scheme, rest) = address.split_once("://").ok_or_else(wrong)?;
        let (bucket, folder) = rest.trim_end_matches('/').split_once('/').unwrap_or((rest.trim_end_matches('/'), ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if bucket.is_empty() || !bucket.chars().all(is_name) || folder.contains(['?', '#']) {
            return Err(wrong());
        }
        let variables = variables.into_iter().filter_map(|(name, value)| {
            Some((name.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?))
        });
        let connector = Connector(agent(access, 0)?);
        // Trying again is `Transfer`'s.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let (store, credentials): (object_store::Result<Box<dyn ObjectStore>>, _) = match scheme {
            "s3" => {
                let mut builder = AmazonS3Builder::new();
                for (name, value) in variables.filter(|(name, _)| name.starts_with("aws_")) {
                    builder = name.parse().map(|key| builder.clone().with_config(key, value)).unwrap_or(builder);
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(connector);
                // One plain request a file, which every server of this kind takes.
                let store = builder.with_disable_bulk_delete(true).build().map(|store| Box::new(store) as _);
                (store, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            }
            "gs" => {
                let mut builder = GoogleCloudStorageBuilder::new();
                for (name, value) in variables.filter(|(name, _)| name.starts_with("google_")) {
                    builder = name.parse().map(|key| builder.clone().with_config(key, value)).unwrap_or(builder);
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(connector);
                (builder.build().map(|store| Box::new(store) as _), "GOOGLE_APPLICATION_CREDENTIALS")
            }
            "az" => {
                let mut builder = MicrosoftAzureBuilder::new();
                for (name, value) in variables.filter(|(name, _)| name.starts_with("azure_")) {
                    builder = name.parse().map(|key| builder.clone().with_config(key, value)).unwrap_or(builder);
                }
                let builder = builder.with_container_name(bucket).with_retry(retry).with_http_connector(connector);
                let names = "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY";
                (builder.build().map(|store| Box::new(store) as _), names)
            }
            _ => return Err(wrong()),
        };
        let store = store.map_err(|cause| {
            let what = format!("cannot reach the bucket `{}`: {}", shown(address), plain(&cause));
            Error::new(ErrorKind::Config, what).hint(format!("set {credentials}"))
        })?;
        let folder = folder.trim_matches('/').to_owned();
        let address = format!("{scheme}://{bucket}/{folder}").trim_end_matches('/').to_owned();
        Ok(Bucket { store, address, folder, credentials })
    }

    fn path(&self, name: &str) -> Path {
        match self.folder.is_empty() {
            true => Path::from(name),
            false => Path::from(format!("{}/{name}", self.folder)),
        }
    }

    fn fault(&self, refused: &Refused) -> Fault {
        let what = plain(&refused.error);
        match refused.error {
            StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                Fault::lasting(format!("{what} (are {} set and right?)", self.credentials))
            }
            StoreError::Generic { .. } => match refused.status {
                Some(408 | 425 | 429 | 500..) | None => Fault::passing(what),
                Some(_) => Fault::lasting(what),
            },
            _ => Fault::lasting(what),
        }
    }

    fn put(&self, name: &str, bytes: &[u8], mode: PutMode) -> std::result::Result<(), Refused> {
        let options = PutOptions { mode, ..PutOptions::default() };
        let payload = PutPayload::from(bytes.to_vec());
        wait(self.store.put_opts(&self.path(name), payload, options)).map(drop)
    }
}

impl Backend for Bucket {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn read(&self, name: &str, range: Range<u64>, sink: &mut dyn Write) -> Outcome<Found> {
        let path = self.path(name);
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start.saturating_add(STEP));
            let options = GetOptions { range: Some(GetRange::Bounded(start..end)), ..GetOptions::default() };
            let piece = wait(async { self.store.get_opts(&path, options).await?.bytes().await });
            let bytes = match piece {
                Ok(bytes) => bytes,
                Err(Refused { error: StoreError::NotFound { .. }, .. }) => return Ok(Found::No),
                // The file ends before the range.
                Err(Refused { status: Some(416), .. }) => return Ok(Found::Yes),
                Err(refused) => return Err(self.fault(&refused)),
            };
            sink.write_all(&bytes).map_err(Fault::lasting)?;
            if (bytes.len() as u64) < end - start {
                return Ok(Found::Yes);
            }
            start = end;
        }
        Ok(Found::Yes)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Outcome<Put> {
        // Asking first saves the body.
        if self.read(name, 0..1, &mut std::io::sink())? == Found::Yes {
            return Ok(Put::WasThere);
        }
        match self.put(name, bytes, PutMode::Create) {
            Ok(()) => Ok(Put::Written),
            Err(Refused { error: StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }, .. }) => {
                Ok(Put::WasThere)
            }
            Err(refused) => Err(self.fault(&refused)),
        }
    }

    fn put_over(&self, name: &str, bytes: &[u8]) -> Outcome<()> {
        self.put(name, bytes, PutMode::Overwrite).map_err(|error| self.fault(&error))
    }

    fn list(&self, folder: &str) -> Outcome<Vec<Listed>> {
        let mut listed = Vec::new();
        let mut todo = vec![self.path(folder)];
        while let Some(folder) = todo.pop() {
            let found = wait(self.store.list_with_delimiter(Some(&folder))).map_err(|error| self.fault(&error))?;
            todo.extend(found.common_prefixes);
            for object in found.objects {
                let name = object.location.as_ref().strip_prefix(&self.folder).unwrap_or_default();
                let changed = u64::try_from(object.last_modified.timestamp()).unwrap_or_default();
                let name = name.trim_start_matches('/').to_owned();
                listed.push(Listed { name, len_bytes: object.size, changed_seconds: changed });
            }
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    fn remove(&self, name: &str) -> Outcome<()> {
        match wait(self.store.delete(&self.path(name))) {
            Err(Refused { error: StoreError::NotFound { .. }, .. }) | Ok(()) => Ok(()),
            Err(refused) => Err(self.fault(&refused)),
        }
    }
}

/// Why a request came to nothing.
struct Refused {
    error: StoreError,
    /// The server's status, where there was an answer.
    status: Option<u16>,
}

/// Waits for a request on this thread, which is the caller's to block.
fn wait<T>(request: impl Future<Output = object_store::Result<T>>) -> std::result::Result<T, Refused> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let (outcome, status) = with_status(|| match runtime {
        Ok(runtime) => runtime.block_on(request),
        Err(cause) => Err(StoreError::Generic { store: "bucket", source: Box::new(cause) }),
    });
    outcome.map_err(|error| Refused { error, status })
}

/// An error in one line: parts of it are the server's words.
fn plain(error: &StoreError) -> String {
    sanitize::line(&error.to_string(), 300)
}

#[cfg(test)]
mod tests {
    use super::Bucket;
    use crate::remote::backends::backend::{Access, Backend};

    fn open(address: &str) -> crate::base::error::Result<Bucket> {
        let variables = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_REGION", "x")];
        Bucket::open(address, &Access::default(), variables.map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn addresses_name_a_bucket_and_a_folder() {
        for (address, shown) in [("s3://b", "s3://b"), ("s3://b/a/b/", "s3://b/a/b"), ("gs://b/x", "gs://b/x")] {
            assert_eq!(open(address).unwrap().address(), shown);
        }
        for address in ["s3://", "s3:///x", "s3://b?x=1", "s3://u:p@b/x", "s3://b/x?y"] {
            assert!(open(address).is_err_and(|error| error.what.contains("names no bucket")), "{address}");
        }
        let error = open("az://c/x").err().unwrap();
        assert!(error.hint.unwrap().contains("AZURE_STORAGE_ACCOUNT_NAME"), "the account is unknown");
    }
}
