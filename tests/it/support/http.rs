//! The HTTP client of the tests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Above every limit of the service itself: an answer that takes longer is a hang.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// A client that gives up on a hang.
///
/// # Panics
/// When the client cannot be set up.
pub fn http_client() -> reqwest::Client {
    client(None)
}

/// The same for another client, at this address, such as 127.0.0.2.
///
/// # Panics
/// When the client cannot be set up.
pub fn http_client_at(address: IpAddr) -> reqwest::Client {
    client(Some(address))
}

fn client(address: Option<IpAddr>) -> reqwest::Client {
    client_builder()
        .timeout(ANSWER_DEADLINE)
        .local_address(address)
        .build()
        .expect("the HTTP client starts")
}

/// A client for plain HTTP. TLS is compiled into it, so it gets settings that trust nobody: by default each client would
/// read the certificates of the system, some 140 files.
pub fn client_builder() -> reqwest::ClientBuilder {
    // As the program does at its start: parts of it run in the test's process too.
    jackpot::tls::install_provider();
    let nobody = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder().tls_backend_preconfigured(nobody)
}
