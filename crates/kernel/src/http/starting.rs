//! The answers of an instance that is starting: it opens Redis and the ledger, and loads every jackpot, coupon and room.
//! `/healthz` says that it is alive, `/readyz` that it is not ready, and every other path that the store is not there yet:
//! a client repeats its request, as it does when Redis is away.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::Web;
use super::auth::AnyoneFiltered;
use super::health::{self, Readiness, ReadinessFn};
use super::problem::{FieldError, Problem};

/// Not ready, whatever is known of Redis and the ledger.
pub fn readiness() -> ReadinessFn {
    Arc::new(|| Readiness {
        causes: vec![FieldError::new("instance", "is starting")],
        ..Readiness::default()
    })
}

pub(super) async fn healthz() -> HttpResponse {
    last(health::healthz().await)
}

pub(super) async fn readyz(caller: Result<AnyoneFiltered, Problem>, web: Data<Web>) -> HttpResponse {
    last(health::readyz(caller, web).await)
}

/// The answer at every other path. It does not depend on the path, because most routes do not exist yet, nor on the key.
/// The argument only identifies the caller. Without it every key would count as wrong, and clients that wait for the start
/// would be refused as a flood.
pub(super) async fn refuse(_: Result<AnyoneFiltered, Problem>) -> HttpResponse {
    last(Problem::store_unavailable("the service is starting").into_response())
}

/// Ends the connection after this answer. Otherwise a request that is sent when the service becomes ready would find the
/// connection closed.
fn last(mut answer: HttpResponse) -> HttpResponse {
    answer
        .head_mut()
        .set_connection_type(actix_web::http::ConnectionType::Close);
    answer
}
