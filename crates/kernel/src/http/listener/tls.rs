//! Certificate and key of the listener: read from two PEM files, and again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::validity::Validity;
use crate::durable_file::Stamp;
use crate::secret_file::{self, Readers, SecretFileError};

/// HTTP/2, as TLS names it.
pub(super) const H2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";

/// How often to look at the files. A new pair is in use after this and the time to read it.
const POLL: Duration = Duration::from_millis(500);

/// Largest of the files, in bytes: a chain has some KiB.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The settings that name the files.
const CERT_SETTING: &str = "http.tls_cert_file";
const KEY_SETTING: &str = "http.tls_key_file";

/// What is wrong with the certificate or key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read, or too many users may read it.
    #[error("setting {setting}: {source}")]
    File {
        /// The setting that names the file.
        setting: &'static str,
        source: SecretFileError,
    },
    /// The content of a file can't be used.
    #[error("setting {setting}: {}: {reason}", path.display())]
    Content {
        /// The setting that names the file.
        setting: &'static str,
        path: PathBuf,
        /// The mistake, and what to do.
        reason: String,
    },
    /// TLS can't be set up at all.
    #[error("TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// The pair in use.
#[derive(Debug)]
pub(in crate::http) struct Certificates {
    cert: PathBuf,
    key: PathBuf,
    current: ArcSwap<CertifiedKey>,
}

impl Certificates {
    /// Reads the pair.
    ///
    /// # Errors
    /// What is wrong with the pair. At the start there is no earlier one to keep.
    pub(in crate::http) fn open(cert: &Path, key: &Path) -> Result<Arc<Certificates>, TlsError> {
        let pair = read_pair(cert, key, Timestamp::now())?;
        Ok(Arc::new(Certificates {
            cert: cert.to_owned(),
            key: key.to_owned(),
            current: ArcSwap::from_pointee(pair),
        }))
    }

    /// TLS 1.2 and 1.3 with HTTP/2 and HTTP/1.1. Each handshake uses the current pair.
    ///
    /// # Errors
    /// Never in practice: the versions fit the provider.
    pub(in crate::http) fn config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, TlsError> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![H2.to_vec(), HTTP_1_1.to_vec()];
        // Tickets let clients resume on any thread, and the service keeps nothing for them.
        config.ticketer = ring::Ticketer::new()?;
        Ok(Arc::new(config))
    }

    /// When the certificate in use ends.
    pub(in crate::http) fn ends(&self) -> Option<Timestamp> {
        let pair = self.current.load();
        Some(Validity::of(pair.end_entity_cert().ok()?).ok()?.not_after)
    }

    /// Follows the files while it is polled. A broken or half-written pair leaves the earlier one in use.
    pub(in crate::http) async fn follow(self: Arc<Self>) {
        let mut seen = self.stamps().await;
        let mut said = String::new();
        let mut ticks = tokio::time::interval(POLL);
        // The files may have changed between `open` and the first stamps.
        let mut first = true;
        loop {
            ticks.tick().await;
            let now = self.stamps().await;
            if now == seen && !first {
                continue;
            }
            let this = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || this.reload(Timestamp::now())).await {
                Ok(Ok(changed)) => {
                    (seen, first) = (now, false);
                    said.clear();
                    if changed {
                        tracing::info!(cert = %self.cert.display(), "TLS certificate read");
                    }
                }
                // Tries again until the pair is right, and logs it once: while one file is written, the other does not
                // fit.
                Ok(Err(error)) => {
                    let text = error.to_string();
                    if text != said {
                        tracing::error!(error = %text, "TLS certificate not read; the earlier one stays in use");
                        said = text;
                    }
                }
                Err(error) => tracing::error!(%error, "reading the TLS certificate panicked"),
            }
        }
    }

    async fn stamps(&self) -> [Option<Stamp>; 2] {
        [Stamp::of(&self.cert).await, Stamp::of(&self.key).await]
    }

    /// Whether it is another pair.
    fn reload(&self, now: Timestamp) -> Result<bool, TlsError> {
        let pair = read_pair(&self.cert, &self.key, now)?;
        let changed = self.current.load().cert != pair.cert;
        self.current.store(Arc::new(pair));
        Ok(changed)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

fn read_pair(cert: &Path, key: &Path, now: Timestamp) -> Result<CertifiedKey, TlsError> {
    let wrong_cert = |reason: String| TlsError::Content {
        setting: CERT_SETTING,
        path: cert.to_owned(),
        reason,
    };
    let wrong_key = |reason: String| TlsError::Content {
        setting: KEY_SETTING,
        path: key.to_owned(),
        reason,
    };
    let text = read(CERT_SETTING, cert, Readers::Everyone)?;
    let chain = CertificateDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong_cert(format!("is no PEM file with certificates: {error}")))?;
    let Some(first) = chain.first() else {
        return Err(wrong_cert(
            "has no certificate in PEM form (BEGIN CERTIFICATE)".to_owned(),
        ));
    };
    Validity::of(first)
        .and_then(|validity| validity.check(now))
        .map_err(wrong_cert)?;
    let text = read(KEY_SETTING, key, Readers::Group)?;
    let secret = PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|error| wrong_key(format!("has no private key in PEM form (BEGIN PRIVATE KEY): {error}")))?;
    let secret = ring::sign::any_supported_type(&secret).map_err(|error| {
        wrong_key(format!(
            "has a key that TLS can't use: {error}; use RSA, ECDSA or Ed25519"
        ))
    })?;
    let pair = CertifiedKey::new(chain, secret);
    match pair.keys_match() {
        Ok(()) => Ok(pair),
        Err(rustls::Error::InconsistentKeys(_)) => Err(wrong_key(format!(
            "the key does not match the certificate in {}: put both files of the same pair in place",
            cert.display()
        ))),
        Err(error) => Err(wrong_cert(format!("is no certificate that TLS can use: {error}"))),
    }
}

fn read(setting: &'static str, path: &Path, readers: Readers) -> Result<Zeroizing<String>, TlsError> {
    secret_file::read(path, readers, MAX_FILE_BYTES).map_err(|source| TlsError::File { setting, source })
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
