//! The pages of coupons.

use super::fixture::{Operator, Page, audited, between, bound_key, key};
use crate::coupon::http::support::{ask, create, hold, join, release, until};
use crate::support::local::LocalServer;
use crate::support::prelude::*;

const NEW: &str = "/console/new-coupon";
const DEFINED: [(&str, &str); 5] = [
    ("id", "coffee"),
    ("name", "A <free> coffee"),
    ("stock", "1,000"),
    ("per_user", "2"),
    ("starts_at", "2026-01-01T00:00"),
];

async fn coupon(service: &Service, id: &str) -> Value {
    service.get(&format!("/v1/coupons/{id}")).await.body
}

/// The fields of a form of a definition with one of them changed.
fn with<'f>(fields: &[(&'f str, &'f str)], name: &'f str, value: &'f str) -> Vec<(&'f str, &'f str)> {
    let others = fields.iter().copied().filter(|(of, _)| *of != name);
    others.chain([(name, value)]).collect()
}

fn is_wrong(page: &Page, fields: &[&str]) {
    page.is(422);
    for field in fields {
        assert!(
            page.html.contains(&format!("id=\"f-{field}-error\"")),
            "{field}: {}",
            page.html
        );
    }
}

#[tokio::test]
async fn a_coupon_is_defined_after_a_look_at_it() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    let empty = operator.page("/console/coupons").await;
    assert!(empty.text().contains("There is no coupon yet") && empty.html.contains(NEW));
    let preview = operator.submit(NEW, &DEFINED).await;
    preview.is(200);
    let text = preview.text();
    for part in ["Name A <free> coffee", "Stock 1,000", "Starts 2026-01-01 00:00:00 UTC"] {
        text.says(part);
    }
    assert_eq!(coupon(&service, "coffee").await["code"], "coupon-not-found");
    is_wrong(
        &operator.submit_on(&preview, NEW, &[("reason", " ")]).await,
        &["reason"],
    );
    assert_eq!(coupon(&service, "coffee").await["code"], "coupon-not-found");
    let done = operator.submit_on(&preview, NEW, &[("reason", "launch")]).await;
    assert_eq!(
        done.location(),
        "/console/coupons/coffee?done=done-coupon-new",
        "{}",
        done.text()
    );
    let defined = coupon(&service, "coffee").await;
    assert_has!(defined, {"name": "A <free> coffee", "stock": 1000, "per_user": 2,
        "starts_at": "2026-01-01T00:00:00.000Z"});
    let page = operator.page(done.leads_to()).await;
    assert!(page.text().contains("The coupon is defined.") && page.html.contains("A &lt;free&gt; coffee"));
    page.html.hides("<free>");
    // Sent again, it is refused and changes nothing.
    is_wrong(
        &operator.submit_on(&preview, NEW, &[("reason", "launch")]).await,
        &["id"],
    );
    assert_eq!(coupon(&service, "coffee").await["version"], 1);
    audited(&service, "coupon_id=coffee", "operator", "launch").await;
}

#[tokio::test]
async fn what_is_wrong_with_a_definition_is_beside_its_field_before_anything_is_shown() {
    let service = Service::start().await;
    let operator = Operator::sign_in(&service).await;
    for (field, value) in [
        ("id", "a b"),
        ("id", ""),
        ("name", ""),
        ("stock", "many"),
        ("stock", "9007199254740992"),
        ("per_user", "0"),
        ("per_user_window_s", "0"),
        ("starts_at", "soon"),
        ("ends_at", "2025-12-31T00:00"),
    ] {
        let page = operator.submit(NEW, &with(&DEFINED, field, value)).await;
        is_wrong(&page, &[field]);
        // What was written stays.
        assert!(
            page.html.contains("value=\"A &lt;free&gt; coffee\"") || field == "name",
            "{field}"
        );
    }
    create(&service, "taken", 1, &json!({})).await;
    is_wrong(&operator.submit(NEW, &with(&DEFINED, "id", "taken")).await, &["id"]);
    for _ in 0..2 {
        ask(&service, "taken", "r1", "u1").await;
    }
    let change = "/console/coupons/taken/change";
    let form = operator.page(change).await;
    is_wrong(
        &operator
            .submit_on(&form, change, &[("name", "x"), ("stock", "1"), ("per_user", "500")])
            .await,
        &["per_user"],
    );
    let same = operator
        .submit_on(
            &form,
            change,
            &[
                ("name", coupon(&service, "taken").await["name"].as_str().unwrap()),
                ("stock", "1"),
                ("per_user", "1"),
            ],
        )
        .await;
    same.says("These are the values of now.");
    // Only the script knows what is out.
    let below = [
        ("name", "x"),
        ("stock", "0"),
        ("per_user", "1"),
        ("confirmed", "yes"),
        ("reason", "less"),
    ];
    is_wrong(&operator.submit_on(&form, change, &below).await, &["stock"]);
    assert_eq!(coupon(&service, "taken").await["version"], 1);
}

#[tokio::test]
async fn two_operators_do_not_overwrite_each_other() {
    let service = Service::start().await;
    create(&service, "both", 10, &json!({"name": "Both"})).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/coupons/both/change";
    let preview = operator
        .submit(path, &[("name", "Both"), ("stock", "20"), ("per_user", "1")])
        .await;
    preview.says("Stock 10 20");
    service
        .put("/v1/coupons/both", json!({"name": "Other", "stock": 15}))
        .await
        .is(200);
    let again = operator.submit_on(&preview, path, &[("reason", "more")]).await;
    again.is(422);
    let text = again.text();
    text.says("Someone changed it meanwhile");
    text.says("Stock 15 20");
    text.says("Name Other Both");
    assert_eq!(coupon(&service, "both").await["stock"], 15);
    let done = operator.submit_on(&again, path, &[("reason", "more")]).await;
    assert_eq!(
        done.location(),
        "/console/coupons/both?done=done-coupon-change",
        "{}",
        done.text()
    );
    let changed = coupon(&service, "both").await;
    assert_has!(changed, {"stock": 20, "version": 3});
    // A repeat of the last form changes nothing.
    operator.submit_on(&again, path, &[("reason", "more")]).await;
    assert_eq!(coupon(&service, "both").await["version"], 3);
}

/// A list for so many users, a line each.
fn users(count: usize) -> String {
    let line = |i| format!("{{\"request_id\":\"r{i}\",\"user_id\":\"u{i}\"}}\n");
    (1..=count).map(line).collect()
}

#[tokio::test]
async fn a_list_of_users_gets_units_and_each_line_without_one_is_named() {
    let service = Service::start().await;
    create(&service, "many", 3, &json!({"name": "Many"})).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/coupons/many/bulk";
    let form = operator.page(path).await;
    form.says("3 units remain");
    let list = format!("{}{}\n<nothing>\n", users(4), r#"{"request_id":"r9","user_id":"u1"}"#);
    for (reason, file, field) in [("", list.as_str(), "reason"), ("launch", "", "list")] {
        let name = if file.is_empty() { "" } else { "users.ndjson" };
        let refused = operator
            .upload(&form, path, &[("reason", reason)], ("list", name, file), &[])
            .await;
        is_wrong(&refused, &[field]);
    }
    assert_eq!(coupon(&service, "many").await["issued"], 0);
    for issued in [3, 0] {
        let page = operator
            .upload(
                &form,
                path,
                &[("reason", "launch")],
                ("list", "users.ndjson", &list),
                &[],
            )
            .await;
        page.is(200);
        let text = page.text();
        for part in [
            format!("6 lines decided, {issued} issued now.").as_str(),
            if issued > 0 { "3 issued" } else { "3 issued before" },
            "1 out of stock",
            "1 the user has one",
            "1 refused",
            "6 — refused",
        ] {
            text.says(part);
        }
        page.html.says("/console/coupons/many/issues/r4");
        assert_eq!(coupon(&service, "many").await["issued"], 3, "a repeat issues nothing");
    }
    let audit = service.get("/v1/audit?coupon_id=many&action=bulk-issue").await.body;
    let rows = audit["items"].as_array().expect("rows");
    let said: Vec<_> = rows
        .iter()
        .map(|row| (&row["who"], &row["target"], &row["reason"], &row["before"]))
        .collect();
    let row = |issued| {
        (
            json!("operator"),
            json!("coupon:many"),
            json!("launch"),
            json!({"issued": issued}),
        )
    };
    let expected = [row(3), row(0)];
    let expected: Vec<_> = expected
        .iter()
        .map(|(who, target, reason, before)| (who, target, reason, before))
        .collect();
    assert_eq!(said, expected, "{audit}");
}

#[tokio::test]
async fn a_script_is_told_how_far_an_upload_is() {
    let service = Service::start().await;
    create(&service, "long", 100_000, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/coupons/long/bulk";
    let form = operator.page(path).await;
    // More than a browser may send before any of it is read.
    let list = users(20_000);
    let accept = [("accept", "application/x-ndjson")];
    let told = operator
        .upload(
            &form,
            path,
            &[("reason", "launch")],
            ("list", "users.ndjson", &list),
            &accept,
        )
        .await;
    told.is(200);
    let lines: Vec<Value> = told
        .html
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let end = lines.last().expect("a line");
    assert_eq!(end["text"], "20,000 lines decided, 20,000 issued now.");
    end["html"].says("20,000 lines decided");
    assert!(
        lines[..lines.len() - 1]
            .iter()
            .all(|line| line["html"].is_null() && line["text"].is_string())
    );
    assert_eq!(coupon(&service, "long").await["issued"], 20_000);
}

#[tokio::test]
async fn an_upload_of_another_site_or_key_issues_nothing() {
    let service = Service::start().await;
    create(&service, "safe", 9, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    let path = "/console/coupons/safe/bulk";
    let file = ("list", "users.ndjson", "{\"request_id\":\"r1\",\"user_id\":\"u1\"}\n");
    let own = operator.page(path).await;
    let other = reader.page(path).await;
    let reason = [("reason", "forged")];
    let refused = [
        operator.upload(&other, path, &reason, file, &[]).await,
        operator
            .upload(&own, path, &reason, file, &[("sec-fetch-site", "cross-site")])
            .await,
        operator
            .upload(&own, path, &reason, file, &[("origin", "https://evil.example")])
            .await,
    ];
    for page in refused {
        page.is(403);
    }
    let page = reader.upload(&other, path, &reason, file, &[]).await;
    page.is(422);
    page.says("this needs a key with the role operate");
    assert_eq!(coupon(&service, "safe").await["issued"], 0);
}

#[tokio::test]
async fn issues_are_listed_in_order_found_by_id_and_downloaded() {
    let service = Service::start().await;
    create(&service, "rows", 100, &json!({"name": "Rows"})).await;
    let operator = Operator::sign_in(&service).await;
    let path = "/console/coupons/rows/issues";
    operator.page(path).await.says("No unit has been issued yet.");
    let form = operator.page("/console/coupons/rows/bulk").await;
    let list = users(60);
    operator
        .upload(
            &form,
            "/console/coupons/rows/bulk",
            &[("reason", "x")],
            ("list", "l", &list),
            &[],
        )
        .await;
    let first = eventually(PATIENCE, "the ledger has them all", async || {
        let all = service.get("/v1/coupons/rows/issues?limit=1000").await.body["items"].take();
        if all.as_array()?.len() < 60 {
            return None;
        }
        Some(operator.page(path).await)
    })
    .await;
    let rows = |page: &Page| page.html.matches("<th scope=\"row\">").count();
    assert_eq!(rows(&first), 50);
    let next = between(&first.html, "class=\"button\" href=\"", "\" rel=\"next\"");
    let next = next.rsplit("href=\"").next().unwrap().replace("&amp;", "&");
    let second = operator.page(&next).await;
    assert_eq!(rows(&second), 10);
    assert!(second.html.contains("issues/r51\"") && !second.html.contains("rel=\"next\""));
    let found = operator.get(&format!("{path}?request_id=r7")).await;
    assert_eq!(
        (found.status, found.location()),
        (StatusCode::SEE_OTHER, "/console/coupons/rows/issues/r7")
    );
    operator
        .page(found.location())
        .await
        .says("Result issued User u7 Number 7");
    let missing = operator.get(&format!("{path}?request_id=<no>")).await;
    missing.is(404);
    assert!(missing.html.contains("f-request_id-error") && missing.html.contains("value=\"&lt;no&gt;\""));
    for (format, kind) in [("csv", "text/csv"), ("ndjson", "application/x-ndjson")] {
        let address = format!("/console/files/{format}/coupons/rows/issues");
        first.html.says(&address);
        let file = operator.page(&address).await;
        let name = format!("attachment; filename=\"issues.{format}\"");
        assert_eq!(file.headers["content-disposition"].to_str().unwrap(), name);
        assert!(file.headers["content-type"].to_str().unwrap().starts_with(kind));
        assert_eq!(file.html.matches("u60").count(), 1, "{format}");
    }
}

#[tokio::test]
async fn a_unit_is_voided_once_after_a_look_and_for_a_reason() {
    let service = Service::start().await;
    create(&service, "back", 5, &json!({})).await;
    ask(&service, "back", "r1", "u1").await;
    let operator = Operator::sign_in(&service).await;
    let issue = "/console/coupons/back/issues/r1";
    operator.page(issue).await.html.says(&format!("{issue}/void"));
    let path = format!("{issue}/void");
    let preview = operator.page(&path).await;
    let text = preview.text();
    text.says("Remaining 4 5");
    text.says("This can't be taken back.");
    is_wrong(
        &operator.submit_on(&preview, &path, &[("reason", "")]).await,
        &["reason"],
    );
    assert_eq!(coupon(&service, "back").await["voided"], 0);
    for _ in 0..2 {
        let done = operator.submit_on(&preview, &path, &[("reason", "a mistake")]).await;
        assert_eq!(done.location(), format!("{issue}?done=done-void"), "{}", done.text());
    }
    assert_eq!(coupon(&service, "back").await["voided"], 1);
    audited(&service, "coupon_id=back", "operator", "a mistake").await;
    let page = operator.page(issue).await;
    assert!(
        page.text().contains("Result voided") && !page.html.contains("/void\""),
        "{}",
        page.html
    );
    ask(&service, "back", "r2", "u2").await;
    ask(&service, "back", "r3", "u2").await;
    operator
        .submit("/console/coupons/back/issues/r3/void", &[("reason", "x")])
        .await
        .is(422);
}

/// The records of the users of the coupon `poison`.
const USERS: &str = "cp:{poison}:users";

/// Makes dead letters `q0`, `q1`, … of the coupon `poison`: the records of these users can't be read.
async fn poison(redis: &LocalServer, service: &Service, users: &[&str]) {
    hold(redis, "poison").await;
    for (i, user) in users.iter().enumerate() {
        join(service, "poison", &format!("q{i}"), user).await;
    }
    let mut connection = redis.connection().await;
    for user in users {
        let mut set = redis::cmd("HSET");
        set.arg(USERS).arg(user).arg("broken");
        set.exec_async(&mut connection).await.expect("HSET");
    }
    release(redis, "poison").await;
    for i in 0..users.len() {
        until(service, "poison", &format!("q{i}"), "dead").await;
    }
}

#[tokio::test]
async fn the_overview_counts_dead_letters() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "poison", 9, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    operator.overview("Nothing needs attention.").await;
    poison(&redis, &service, &["bad", "worse"]).await;
    let page = operator.overview("poison · Dead letters: 2").await;
    page.hides("Nothing needs attention.");
}

#[tokio::test]
async fn dead_letters_say_why_and_go_back_into_the_queue() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "poison", 9, &json!({"name": "Poison"})).await;
    let operator = Operator::sign_in(&service).await;
    let list = "/console/coupons/poison/dead-letters";
    assert!(operator.page(list).await.text().contains("There is no dead letter."));
    poison(&redis, &service, &["bad", "worse", "worst"]).await;
    let page = operator.page(list).await;
    assert_eq!(
        page.text().matches("Taken 3 times without an answer").count(),
        3,
        "{}",
        page.text()
    );
    let mut repaired = redis::cmd("DEL");
    repaired.arg(USERS);
    repaired.exec_async(&mut redis.connection().await).await.expect("DEL");
    // One of them.
    let one = "/console/coupons/poison/redrive?only=q1";
    let preview = operator.page(one).await;
    assert!(preview.text().contains("Redrive 1 request of Poison") && !preview.html.contains("q0"));
    is_wrong(&operator.submit_on(&preview, one, &[("reason", "")]).await, &["reason"]);
    let done = operator.submit_on(&preview, one, &[("reason", "repaired")]).await;
    assert_eq!(
        done.location(),
        "/console/coupons/poison/issues/q1?done=done-redrive",
        "{}",
        done.text()
    );
    until(&service, "poison", "q1", "issued").await;
    audited(&service, "coupon_id=poison", "operator", "repaired").await;
    // All that are shown; a repeat tells the same and changes nothing.
    let all = "/console/coupons/poison/redrive";
    let preview = operator.page(all).await;
    assert!(preview.html.contains("q0") && preview.html.contains("q2") && !preview.html.contains("q1"));
    for _ in 0..2 {
        let token = between(&preview.html, "name=\"form_token\" value=\"", "\"").to_owned();
        let fields = [
            ("form_token", token.as_str()),
            ("request_id", "q0"),
            ("request_id", "q2"),
            ("confirmed", "yes"),
            ("reason", "repaired"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let done = operator.send(all, fields, &[]).await;
        assert_eq!(done.location(), format!("{list}?done=done-redrive"), "{}", done.text());
    }
    for request in ["q0", "q2"] {
        until(&service, "poison", request, "issued").await;
    }
    assert_eq!(coupon(&service, "poison").await["issued"], 3);
}

#[tokio::test]
async fn a_reader_sees_all_and_does_nothing_and_a_bound_key_sees_its_own() {
    let service = Service::start().await;
    create(&service, "mine", 5, &json!({"name": "Mine"})).await;
    create(&service, "other", 5, &json!({"name": "Other"})).await;
    ask(&service, "mine", "r1", "u1").await;
    let reader = Operator::sign_in_with(&service, &key(&service, "read").await).await;
    for path in [
        "/console/coupons",
        "/console/coupons/mine",
        "/console/coupons/mine/issues/r1",
    ] {
        let page = reader.page(path).await;
        for action in ["new-coupon", "/change", "/void", "/bulk"] {
            assert!(!page.html.contains(&format!("{action}\"")), "{action} on {path}");
        }
    }
    for (path, fields) in [
        (NEW, &DEFINED[..]),
        (
            "/console/coupons/mine/change",
            &[("name", "x"), ("stock", "9"), ("per_user", "1")][..],
        ),
        ("/console/coupons/mine/issues/r1/void", &[("reason", "x")][..]),
    ] {
        let refused = reader
            .submit(path, &[fields, &[("confirmed", "yes"), ("reason", "curious")]].concat())
            .await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{path}: {}",
            refused.text()
        );
    }
    assert_eq!(coupon(&service, "mine").await["version"], 1);
    assert_eq!(coupon(&service, "mine").await["voided"], 0);
    let bound = Operator::sign_in_with(&service, &bound_key(&service, "operate", "coupon:mine").await).await;
    let list = bound.page("/console/coupons").await;
    assert!(list.text().contains("Mine") && !list.text().contains("Other"));
    bound.get("/console/coupons/other").await.is(403);
    bound
        .submit("/console/coupons/mine/issues/r1/void", &[("reason", "mine to void")])
        .await
        .is(303);
}

#[tokio::test]
async fn what_is_not_there_is_a_page_that_says_so() {
    let service = Service::start().await;
    create(&service, "here", 1, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    for path in [
        "/console/coupons/gone",
        "/console/coupons/gone/change",
        "/console/coupons/gone/issues",
        "/console/coupons/gone/dead-letters",
        "/console/coupons/gone/bulk",
        "/console/coupons/here/issues/gone",
        "/console/coupons/here/issues/gone/void",
        "/console/files/xml/coupons/here/issues",
    ] {
        let page = operator.get(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}: {}", page.text());
        assert!(page.html.contains("<h1>"), "{path}");
    }
    let page = operator.get("/console/coupons/%3Cb%3E").await;
    page.is(422);
    page.html.hides("<b>");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_say_when_the_database_fails() {
    let ledger = LedgerDb::postgres().await;
    let service = Service::start_with(&[ledger.environment()]).await;
    create(&service, "books", 1, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    let sql = ledger.open().await;
    let away = sqlx::query("ALTER TABLE coupon_issues RENAME TO gone");
    sql.execute(away).await.expect("the table is away");
    for path in [
        "/console/coupons/books/issues",
        "/console/files/csv/coupons/books/issues",
    ] {
        let page = operator.get(path).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", page.text());
        assert!(page.html.contains("role=\"alert\""), "{path}");
    }
    // What needs no ledger is shown.
    operator.page("/console/coupons/books").await;
    sql.close().await;
}

#[tokio::test]
async fn heavy_pages_say_when_redis_is_away() {
    let mut redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[]).await;
    create(&service, "away", 1, &json!({})).await;
    let operator = Operator::sign_in(&service).await;
    redis.kill9();
    for path in [
        "/console/coupons",
        "/console/coupons/away",
        "/console/coupons/away/change",
    ] {
        let page = operator.get(path).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", page.text());
        assert!(page.html.contains("role=\"alert\""), "{path}");
    }
    service.call(Method::GET, "/healthz", None).await.is(200);
}
