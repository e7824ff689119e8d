//! The one TLS implementation of the process.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

/// Chooses ring for all TLS of this process; when something chose before, that one serves.
pub fn install_provider() {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was chosen before");
    }
}

/// For clients of other servers: certificates as the system trusts them. Read once and shared: with its own copy, every
/// client would load them again.
pub fn client_config() -> Result<ClientConfig, rustls::Error> {
    static SHARED: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = SHARED.get() {
        return Ok(config.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)?
        .with_no_client_auth();
    Ok(SHARED.get_or_init(|| config).clone())
}
