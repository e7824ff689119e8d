//! Tests of the metrics.

use super::*;

#[test]
fn names_have_the_prefix_and_their_units() {
    let metrics = Metrics::new();
    let spring = metrics.jackpot("spring");
    spring.entries(EntryResult::Accepted, 2);
    spring.claim(ClaimResult::Retry);
    metrics.script("enter", ScriptResult::Ok, Duration::from_micros(50));
    metrics.request(&"/v1/jackpots/{id}".into(), "BREW", 405, Duration::from_millis(1));
    metrics.set_redis(true, 0.25);
    let text = metrics.encode().unwrap();
    for line in [
        "jackpot_entries_total{jackpot=\"spring\",result=\"accepted\"} 2",
        "jackpot_claims_total{jackpot=\"spring\",result=\"retry\"} 1",
        "jackpot_script_seconds_count{script=\"enter\",result=\"ok\"} 1",
        "jackpot_http_requests_total{route=\"/v1/jackpots/{id}\",method=\"other\",status=\"405\"} 1",
        "jackpot_redis_memory_ratio 0.25",
        "jackpot_redis_up 1",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}

#[test]
fn labels_of_jackpots_are_bounded() {
    let metrics = Metrics::new();
    for i in 0..MAX_LABELS + 5 {
        metrics.jackpot(&format!("j{i}")).redraws.inc();
    }
    let text = metrics.encode().unwrap();
    assert!(text.contains("jackpot_redraws_total{jackpot=\"other\"} 5"));
    assert!(!text.contains("j1003"));
}

#[test]
fn streams_are_counted_while_open_and_limited() {
    let metrics = Metrics::new();
    let first = metrics.open_stream(1).unwrap();
    assert!(metrics.open_stream(1).is_none());
    drop(first);
    assert!(metrics.open_stream(1).is_some());
    assert!(metrics.open_stream(0).is_none());
    let _public = metrics.open_public_stream(1).unwrap();
    assert!(metrics.open_public_stream(1).is_none());
    assert!(metrics.open_stream(1).is_some(), "each has a budget of its own");
}
