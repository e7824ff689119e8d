//! A route that parses an entry, checks the key and answers at once, with prepared bytes: no store, no draw.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{self, Bytes, Data};
use jackpot::durable_file::make_private_dir;
use jackpot::http::auth;
use jackpot::http::body::Body;
use jackpot::http::health::Readiness;
use jackpot::http::query::PathOf;
use jackpot::http::routes::{Pages, Routes};
use jackpot::jackpot::api::ApiDoc;
use jackpot::settings::Settings;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use utoipa::OpenApi;

use super::body::{self, EntryBody};
use crate::Outcome;

pub(super) async fn serve(settings: &Settings) -> Outcome {
    // No Redis runs beside it, so it uses every core.
    let mut settings = settings.clone();
    settings.http.workers = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = &settings;
    make_private_dir(&settings.data_dir)?;
    let answer = Bytes::from(serde_json::to_vec(&body::typical())?);
    let routes = Routes {
        mount: Arc::new(move |config| {
            config
                .app_data(Data::new(answer.clone()))
                .route("/v1/jackpots/{id}/entries", web::post().to(post));
        }),
        document: ApiDoc::openapi(),
        pages: Pages::default(),
    };
    let web = super::web(settings, &Arc::new(Metrics::new()), Arc::new(Readiness::default))?;
    super::until_signal(settings, web, routes).await
}

async fn post(_: auth::Play, _: PathOf<Id>, answer: Data<Bytes>, _: Body<EntryBody>) -> HttpResponse {
    HttpResponse::Created()
        .content_type("application/json")
        .body(Bytes::clone(&answer))
}
