//! Bulk issues: one answer line for each line, in order, whatever the lines hold; and the same when repeated.

use std::fmt::Write;

use super::support::{create, hold, release, send, send_in_pieces, service_and_redis, until};
use crate::support::prelude::*;

const NDJSON: [(&str, &str); 1] = [("content-type", "application/x-ndjson")];

async fn upload(service: &Service, id: &str, body: String) -> Vec<Value> {
    let path = format!("/v1/coupons/{id}/bulk-issues");
    let (status, headers, text) = send(service, Method::POST, &path, &NDJSON, body).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    assert_eq!(headers["content-type"], "application/x-ndjson");
    parsed(&text)
}

fn parsed(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn wish(request: &str, user: &str) -> String {
    format!("{}\n", json!({"request_id": request, "user_id": user}))
}

fn column<'a>(lines: &'a [Value], field: &str) -> Vec<&'a Value> {
    lines.iter().map(|line| &line[field]).collect()
}

#[tokio::test]
async fn every_line_is_answered_by_its_number_and_a_bad_one_stops_nobody() {
    let service = Service::start().await;
    create(&service, "list", 3, &json!({})).await;
    let body = [
        &wish("r1", "u1"),
        "nonsense\n",
        "\n",
        &wish("r2", "u1"),
        &wish("r:3", "u3"),
        &format!("{{\"request_id\":\"{}\"}}\n", "x".repeat(2_000)),
        &wish("r1", "u4"),
        &wish("r1", "u1"),
        &wish("r5", "u5"),
        &wish("r6", "u6"),
        wish("r7", "u7").trim_end(),
    ]
    .concat();
    let lines = upload(&service, "list", body.clone()).await;
    assert_eq!(
        column(&lines, "line"),
        [1, 2, 4, 5, 6, 7, 8, 9, 10, 11]
            .iter()
            .map(|n| json!(n))
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
    let results = column(&lines, "result")
        .iter()
        .map(|r| r.as_str().expect("a result"))
        .collect::<Vec<_>>();
    assert_eq!(
        results,
        [
            "issued",
            "refused",
            "already-issued",
            "refused",
            "refused",
            "refused",
            "issued",
            "issued",
            "issued",
            "out-of-stock"
        ]
    );
    let codes = lines
        .iter()
        .filter(|line| line["result"] == "refused")
        .map(|line| line["code"].as_str().expect("a code"));
    assert_eq!(
        codes.collect::<Vec<_>>(),
        [
            "invalid-json",
            "invalid-request",
            "invalid-request",
            "request-id-reused"
        ]
    );
    assert_eq!(lines[3]["errors"][0]["field"], "request_id");
    assert_eq!(lines[2]["issue"]["request_id"], "r1");
    assert_has!(lines[6], {"sequence": lines[0]["sequence"], "code": lines[0]["code"]}, "a repeat in the same list");
    assert_eq!(lines[6]["replayed"], true, "{}", lines[6]);
    let mut again = upload(&service, "list", body).await;
    for (line, first) in again.iter_mut().zip(&lines) {
        let was = line.as_object_mut().expect("a line").remove("replayed").is_some();
        assert_eq!(was, first["result"] != "refused", "{line}");
        if first["replayed"] == true {
            line["replayed"] = json!(true);
        }
    }
    assert_eq!(again, lines, "the same list again answers the same");
    assert_eq!(service.get("/v1/coupons/list").await.body["issued"], 3);
}

#[tokio::test]
async fn a_long_list_that_comes_in_pieces_goes_on_where_it_ended() {
    const USERS: usize = 3_000;
    let service = Service::start().await;
    create(&service, "long", USERS as u64, &json!({})).await;
    let text = (0..USERS).fold(String::new(), |mut text, i| {
        write!(text, "{}", wish(&format!("r{i}"), &format!("u{i}"))).expect("a string takes it");
        text
    });
    let half = text.len() / 2;
    let first = upload(&service, "long", text[..half].to_owned()).await;
    let (cut, whole) = first.split_last().expect("lines");
    assert_eq!(cut["result"], "refused", "the line that was cut: {cut}");
    let path = "/v1/coupons/long/bulk-issues";
    let all = parsed(&send_in_pieces(&service, path, &NDJSON, text.as_bytes().chunks(977)).await);
    assert_eq!(all.len(), USERS);
    for (line, first) in all.iter().zip(whole) {
        assert_has!(line, {"code": first["code"], "replayed": true}, "what was decided is answered as before");
    }
    let sequences = all
        .iter()
        .map(|line| line["sequence"].as_u64().expect("issued"))
        .collect::<Vec<_>>();
    assert_eq!(sequences, (1..=USERS as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_list_joins_the_queue_behind_those_who_are_in_it() {
    let (service, redis) = service_and_redis(&[]).await;
    create(&service, "behind", 9, &json!({})).await;
    hold(&redis, "behind").await;
    super::support::join(&service, "behind", "q1", "u1").await;
    let body = [wish("b1", "u2"), wish("b2", "u3")].concat();
    let lines = upload(&service, "behind", body.clone()).await;
    assert_eq!(column(&lines, "position"), [&json!(2), &json!(3)]);
    release(&redis, "behind").await;
    until(&service, "behind", "b2", "issued").await;
    let lines = upload(&service, "behind", body).await;
    assert_eq!(column(&lines, "sequence"), [&json!(2), &json!(3)]);
}

#[tokio::test]
async fn what_is_no_list_is_refused_before_it_is_read_and_one_too_long_is_stopped() {
    let service = Service::start_with(&[("JACKPOT__COUPONS__MAX_BULK_BYTES", "1024")]).await;
    create(&service, "limits", 100, &json!({})).await;
    for (id, headers, status, code) in [
        (
            "limits",
            [("content-type", "application/json")],
            415,
            "unsupported-media-type",
        ),
        ("none", NDJSON, 404, "coupon-not-found"),
    ] {
        let path = format!("/v1/coupons/{id}/bulk-issues");
        let (got, _, text) = send(&service, Method::POST, &path, &headers, wish("r", "u")).await;
        assert_eq!(got.as_u16(), status, "{text}");
        text.says(code);
    }
    let path = "/v1/coupons/limits/bulk-issues";
    let coded = [NDJSON[0], ("content-encoding", "gzip")];
    let (got, _, text) = send(&service, Method::POST, path, &coded, wish("r", "u")).await;
    assert_eq!(got, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{text}");
    let marked = format!("\u{feff}{}", wish("r", "u"));
    assert_eq!(upload(&service, "limits", marked).await[0]["result"], "issued");
    let long = (0..50)
        .map(|i| wish(&format!("r{i}"), &format!("u{i}")))
        .collect::<String>();
    let (status, _, text) = send(&service, Method::POST, path, &NDJSON, long.clone()).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{text}");
    // The service does not know the length of this body before it has read it.
    let lines = parsed(&send_in_pieces(&service, path, &NDJSON, long.as_bytes().chunks(100)).await);
    let (last, issued) = lines.split_last().expect("lines");
    assert_has!(last, {"result": "stopped", "code": "too-large"});
    assert_eq!(last["line"], issued.len() + 1);
    assert!(
        issued.len() >= 20 && issued.iter().all(|line| line["result"] == "issued"),
        "{lines:?}"
    );
}
