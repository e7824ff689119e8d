//! The HTTP client of the tests.

use std::net::IpAddr;
use std::time::Duration;

/// Above every limit of the service itself: an answer that takes longer is a hang.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// A client that gives up on a hang. It has TLS compiled in, and so needs a provider first, even for plain HTTP.
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
    jackpot::tls::install_provider();
    reqwest::Client::builder()
        .timeout(ANSWER_DEADLINE)
        .local_address(address)
        .build()
        .expect("the HTTP client starts")
}
