//! The files that pages load. Their paths have a hash of the content, so they may be kept for ever.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::{Data, ServiceConfig};
use jackpot_ui::frame::ICON_FILE;
use jackpot_ui::{Asset, STYLE_FILE};

use super::problem::Problem;
use super::query::PathOf;

/// How long a browser may keep a file: a year, which is "for ever".
const KEPT: &str = "public, max-age=31536000, immutable";

type Files = Arc<[&'static Asset]>;

/// Serves these files, and those of every page.
pub(super) fn routes(config: &mut ServiceConfig, files: &[&'static Asset]) {
    let shared = [&STYLE_FILE, &ICON_FILE];
    let files: Files = shared.into_iter().chain(files.iter().copied()).collect();
    config
        .app_data(Data::new(files))
        .route("/assets/{file}", super::get().to(get));
}

async fn get(PathOf(file): PathOf<String>, files: Data<Files>) -> Result<HttpResponse, Problem> {
    let of_path = |asset: &&&'static Asset| asset.path().strip_prefix("/assets/") == Some(file.as_str());
    let asset = files.iter().find(of_path).ok_or_else(Problem::not_found)?;
    Ok(HttpResponse::Ok()
        .content_type(asset.media_type())
        .insert_header((CACHE_CONTROL, KEPT))
        .body(asset.content()))
}
