//! Two ways in which public code issues coupons: a key for each user and a counter, or a set of users and its size.
//! Each is a script call per request over the connection that all share. Neither remembers requests, numbers issues,
//! appends an event or feeds a ledger. Server, key check, body and length of the answer are the service's.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{self, Data};
use jackpot::coupon::code::Code;
use jackpot::durable_file::make_private_dir;
use jackpot::http::auth;
use jackpot::http::body::{Body, Described};
use jackpot::http::health::Readiness;
use jackpot::http::problem::Problem;
use jackpot::http::query::PathOf;
use jackpot::http::routes::{Pages, Routes};
use jackpot::jackpot::api::ApiDoc;
use jackpot::settings::Settings;
use jackpot::store::{Call, Script, Store};
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use serde::{Deserialize, Serialize};
use utoipa::OpenApi;
use utoipa::ToSchema;

use crate::Outcome;
use crate::json::STOCK;

/// KEYS counter, key of the user. ARGV stock, seconds that the user's key lives. It has its known holes: the counter
/// runs past the stock, and the user's key ends before the coupon.
const COUNTER: &str = "
if redis.call('EXISTS', KEYS[2]) == 1 then return -1 end
local n = redis.call('INCR', KEYS[1])
if n > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[2], n, 'EX', ARGV[2])
return n";

/// KEYS set of users. ARGV stock, seconds, user.
const SET: &str = "
if redis.call('SISMEMBER', KEYS[1], ARGV[3]) == 1 then return -1 end
local n = redis.call('SCARD', KEYS[1])
if n >= tonumber(ARGV[1]) then return 0 end
redis.call('SADD', KEYS[1], ARGV[3])
if n == 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return n + 1";

/// A day, as in public code.
const LIFETIME_S: u64 = 86_400;

/// One of the two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Counter,
    Set,
}

#[derive(Clone)]
struct Public {
    store: Store,
    script: Arc<Script>,
    way: Way,
}

/// What is sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Ask {
    #[schema(value_type = String)]
    request_id: Id,
    #[schema(value_type = String)]
    user_id: Id,
}

impl Described for Ask {}

/// What is answered.
#[derive(Debug, Serialize)]
struct Issued {
    result: &'static str,
    request_id: Id,
    user_id: Id,
    sequence: i64,
    code: String,
    issued_at: String,
}

pub(super) async fn serve(settings: &Settings, way: Way) -> Outcome {
    make_private_dir(&settings.data_dir)?;
    let store = Store::open(&settings.redis, &settings.data_dir).await?;
    let source = if way == Way::Counter { COUNTER } else { SET };
    let public = Public {
        store: store.clone(),
        script: Arc::new(Script::new("public", "", &[source])),
        way,
    };
    let routes = Routes {
        mount: Arc::new(move |config| {
            config
                .app_data(Data::new(public.clone()))
                .route("/v1/coupons/{id}/issues", web::post().to(post));
        }),
        document: ApiDoc::openapi(),
        pages: Pages::default(),
    };
    let web = super::web(settings, &Arc::new(Metrics::new()), Arc::new(Readiness::default))?;
    let served = super::until_signal(settings, web, routes).await;
    store.close().await;
    served
}

async fn post(
    _: auth::Play,
    PathOf(id): PathOf<Id>,
    public: Data<Public>,
    Body(ask): Body<Ask>,
) -> Result<HttpResponse, Problem> {
    let call = Call::new(&public.script).key(format!("pub:{{{id}}}"));
    let call = match public.way {
        Way::Counter => call
            .key(format!("pub:{{{id}}}:{}", ask.user_id))
            .arg(STOCK)
            .arg(LIFETIME_S),
        Way::Set => call.arg(STOCK).arg(LIFETIME_S).arg(ask.user_id.as_str()),
    };
    let unavailable = || Problem::store_unavailable("the store does not answer");
    let reply = public.store.call(&call).await.map_err(|_| unavailable())?;
    let redis::Value::Int(sequence @ 1..) = reply else {
        return Err(unavailable());
    };
    Ok(HttpResponse::Created().json(Issued {
        result: "issued",
        sequence,
        code: Code::random().map_err(|_| unavailable())?.to_string(),
        issued_at: jiff::Timestamp::now().to_string(),
        request_id: ask.request_id,
        user_id: ask.user_id,
    }))
}
