//! Who vouches for a manifest: minisign's ed25519 signatures. Which keys are trusted, and with
//! that whether a signature is required, is the user's or the command line's to say.

use std::io::Cursor;
use std::path::Path;

use minisign::{PublicKey, SecretKey, SignatureBox};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::guard::guarded;

/// The largest signature that is read; they are some 300 bytes.
pub const MAX_BYTES: u64 = 4096;

/// The keys that are trusted. Where there are any, what none of them signed is not used.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    keys: Vec<PublicKey>,
}

impl Trust {
    /// Reads public keys as `minisign` prints them (`RW…`, 56 characters).
    ///
    /// # Errors
    /// `Config` for a text that is no key.
    pub fn of(keys: &[String]) -> Result<Self> {
        let keys: Result<Vec<PublicKey>> = keys
            .iter()
            .map(|text| {
                PublicKey::from_base64(text.trim()).map_err(|cause| {
                    Error::new(ErrorKind::Config, "a trusted key is no minisign public key")
                        .hint("give the second line of minisign.pub, which begins with RW")
                        .source(cause.to_string())
                })
            })
            .collect();
        Ok(Trust { keys: keys? })
    }

    /// Whether what is not signed is refused.
    pub fn is_required(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether a trusted key signed these bytes.
    pub fn holds(&self, bytes: &[u8], signature: &[u8]) -> bool {
        let text = std::str::from_utf8(signature).ok().filter(|text| text.len() as u64 <= MAX_BYTES && is_whole(text));
        let Some(signature) = text.and_then(|text| SignatureBox::from_string(text).ok()) else { return false };
        // The library panics on some torn signatures; what is left of such after the look at its
        // form is a signature that does not hold.
        guarded(|| {
            let holds = |key| minisign::verify(key, &signature, Cursor::new(bytes), true, false, false).is_ok();
            self.keys.iter().any(holds)
        })
        .unwrap_or(false)
    }
}

/// Whether a text has the four lines of a signature, with all of both signatures: 74 and 64 bytes
/// in base64 (<https://jedisct1.github.io/minisign/#signature-format>).
fn is_whole(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    matches!(lines[..], [_, signature, _, global] if signature.len() == 100 && global.len() == 88)
}

/// A key to sign with.
pub struct Signer {
    key: SecretKey,
}

impl Signer {
    /// Reads a secret key file; an encrypted one is opened with `password`.
    ///
    /// # Errors
    /// `Config` for a file that is no secret key, or one that does not open.
    pub fn from_file(file: &Path, password: Option<String>) -> Result<Self> {
        let wrong = |cause: String| {
            Error::new(ErrorKind::Config, format!("cannot use the secret key `{}`", file.display()))
                .hint("`minisign -G` makes one; RATLAS_SIGN_PASSWORD holds the password of an encrypted one")
                .source(cause)
        };
        let text = std::fs::read_to_string(file).map_err(|cause| wrong(cause.to_string()))?;
        let boxed = minisign::SecretKeyBox::from_string(&text).map_err(|cause| wrong(cause.to_string()))?;
        // Never asks on a terminal: without a password, a key that needs one is refused.
        let key = match password {
            Some(password) => boxed.into_secret_key(Some(password)),
            None => boxed.into_unencrypted_secret_key(),
        };
        Ok(Signer { key: key.map_err(|cause| wrong(cause.to_string()))? })
    }

    /// The signature of bytes, as minisign's own file.
    ///
    /// # Errors
    /// `Config`, when the key cannot sign.
    pub fn sign(&self, bytes: &[u8], comment: &str) -> Result<Vec<u8>> {
        let signed = minisign::sign(None, &self.key, Cursor::new(bytes), Some(comment), Some("ratlas manifest"));
        let signed = signed.map_err(|cause| Error::new(ErrorKind::Config, "cannot sign").source(cause.to_string()))?;
        Ok(signed.to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{Signer, Trust};

    #[test]
    fn only_a_trusted_key_on_the_very_bytes_holds() {
        let own = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let other = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let trust = Trust::of(&[own.pk.to_base64()]).unwrap();
        let signature = Signer { key: own.sk }.sign(b"manifest", "tree x").unwrap();
        assert!(trust.is_required() && trust.holds(b"manifest", &signature));
        assert!(!trust.holds(b"manifesT", &signature));
        assert!(!Trust::of(&[other.pk.to_base64()]).unwrap().holds(b"manifest", &signature));
        assert!(!trust.holds(b"manifest", b"") && !trust.holds(b"manifest", &[0xff; 64]));
        for at in 0..signature.len() {
            let mut torn = signature.clone();
            torn.truncate(at);
            assert!(!trust.holds(b"manifest", &torn) || at + 1 >= signature.len(), "cut at {at}");
        }
        assert!(Trust::of(&["nonsense".to_owned()]).is_err());
    }
}
