//! `GET /v1/keys`: the public keys that check signatures.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::signing::PublicKey;
use jackpot_core::signing::{JwkSet, Jwks};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use utoipa::OpenApi;

use super::published::published;
use super::store::SigningKeys;
use crate::http::cached::Page;
use crate::sql::Sql;

/// How long a client may cache the answer. Every client has a new key after a minute.
const MAX_AGE_S: u32 = 60;
/// How long the ledger's keys are cached here. Anyone may send this request, so it must not cause a query each time.
const READ_EVERY: Duration = Duration::from_secs(1);
/// Longest wait for the database. After it, the answer contains only the keys known here.
const WAIT: Duration = Duration::from_secs(1);

/// State of the handler.
#[derive(Clone)]
pub struct Api {
    keys: Arc<SigningKeys>,
    sql: Sql,
    /// The ledger's keys as last read, and the time of the last try.
    last: Arc<Mutex<(Option<Instant>, Vec<PublicKey>)>>,
}

impl Api {
    /// Serves these keys and the keys of this ledger.
    pub fn new(keys: Arc<SigningKeys>, sql: Sql) -> Self {
        let last = Arc::default();
        Self { keys, sql, last }
    }

    /// The keys that sign here, and all keys that ever signed for this ledger, as far as the database can be read now.
    async fn all(&self) -> Jwks {
        let own = self.keys.public();
        // Held while reading, so that concurrent requests make one query.
        let mut last = self.last.lock().await;
        if last.0.is_none_or(|tried| tried.elapsed() >= READ_EVERY) {
            match timeout(WAIT, published(&self.sql)).await {
                Ok(Ok(keys)) => last.1 = keys,
                Ok(Err(error)) => tracing::warn!(%error, "public keys of the ledger not read"),
                Err(_late) => tracing::warn!("public keys of the ledger not read in time"),
            }
            last.0 = Some(Instant::now());
        }
        Jwks::new(own.into_iter().chain(last.1.iter().cloned()))
    }
}

/// The route, described.
#[derive(OpenApi)]
#[openapi(
    paths(get),
    tags((name = "ledger", description = "Payouts, postings, audit, reconciliation, and the keys that sign them"))
)]
pub struct ApiDoc;

/// Mounts the route.
pub fn routes(config: &mut ServiceConfig, api: &Api) {
    config
        .app_data(Data::new(api.clone()))
        .route("/v1/keys", crate::http::get().to(get));
}

/// The public keys of receipts and ledger heads: the current signing key first, then the earlier ones. Needs no key.
#[utoipa::path(get, path = "/v1/keys", operation_id = "get_keys", tag = "ledger",
    responses((status = 200, description = "A JWK Set (RFC 7517) of Ed25519 keys (RFC 8037)", body = JwkSet,
        headers(("Cache-Control" = String, description = "`public, max-age=60`"), ("ETag" = String, description = "Weak"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")))]
pub(crate) async fn get(request: HttpRequest, api: Data<Api>) -> HttpResponse {
    let text = serde_json::to_string(&api.all().await).expect("plain data is JSON");
    Page::new(text).answer(&request, "application/json", MAX_AGE_S)
}
