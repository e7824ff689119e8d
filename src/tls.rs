//! The one TLS implementation of the process.

/// Chooses ring for all TLS of this process; when something chose before, that one serves.
pub fn install_provider() {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was chosen before");
    }
}
