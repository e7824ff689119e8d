//! The HTTP client of the tests.

use std::time::Duration;

/// Above every limit of the service itself: an answer that takes longer is a hang.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// A client that gives up on a hang. Built with TLS compiled in, it wants a provider chosen first, even for plain HTTP.
///
/// # Panics
/// When the client cannot be set up.
pub fn http_client() -> reqwest::Client {
    jackpot::tls::install_provider();
    reqwest::Client::builder()
        .timeout(ANSWER_DEADLINE)
        .build()
        .expect("the HTTP client starts")
}
