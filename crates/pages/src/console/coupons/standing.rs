//! What an operator does with a coupon as it is: pause, resume, close.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::coupon::Coupon;
use serde_json::{Value, json};

use super::{api, page_path};
use crate::console::action::{self, Action, Change, REASON};
use crate::console::{Desk, Failure, Form, Posted, form_routes};

pub fn routes(config: &mut ServiceConfig) {
    config.configure(form_routes(
        "/console/coupons/{id}/{verb:pause|resume|close}",
        get,
        post,
    ));
}

async fn get(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    page(&desk, &path, &Form::default()).await
}

async fn post(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (id, verb) = (&path.0, &path.1);
    let body = json!({ "reason": form.get(REASON) });
    let call = format!("{}/{verb}", api(id));
    match desk.call::<Value>(Method::POST, &call, Some(&body)).await {
        Ok(_) => Ok(action::done(&desk, &page_path(id), &format!("done-coupon-{verb}"))),
        Err(problem) => {
            form.refused_by(&problem, str::to_owned);
            page(&desk, &path, &form).await
        }
    }
}

async fn page(desk: &Desk, path: &(String, String), form: &Form) -> Result<HttpResponse, Failure> {
    let (id, verb) = (path.0.as_str(), path.1.as_str());
    let coupon: Coupon = desk.get(&api(id)).await?;
    let words = desk.words;
    let after = match verb {
        "pause" => "paused",
        "resume" => "open",
        _ => "closed",
    };
    let word = |status: &str| words.t(&format!("status-{status}"));
    let change = Change {
        what: words.t("status"),
        before: word(coupon.status.as_str()),
        after: word(after),
    };
    let action = Action {
        page: super::page(desk, &coupon, &format!("{verb}-title")),
        effects: &[words.t(&format!("coupon-{verb}-effect"))],
        changes: std::slice::from_ref(&change),
        button: &words.t(verb),
        is_final: verb == "close",
        back: &page_path(id),
    };
    Ok(action.page(desk, form))
}
