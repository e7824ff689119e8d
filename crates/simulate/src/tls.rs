//! TLS of the run's clients.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

/// Trusts the certificates that the system trusts. Read once and shared: thousands of clients would each load them again.
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
