//! A page is a range of one index: no sort, no scan of a table, whatever its statistics say.

use jackpot::jackpot::ledger::queries::entries::EntryFilters;
use jackpot::jackpot::ledger::queries::payouts::PayoutFilters;
use jackpot::jackpot::ledger::queries::postings::PostingFilters;
use jackpot::ledger::queries::audit::AuditFilters;
use jackpot::ledger::queries::scan::{Scan, Statement};
use jackpot::ledger::queries::{Between, Key};
use jackpot::sql::Kind;
use jackpot::subject::kinds::{COUPON, JACKPOT};
use jackpot_core::ids::Id;
use jackpot_core::jackpot::settlement::PayoutState;
use sqlx::Row;

use super::fixture::{Books, T0, books};
use crate::support::given::person;
use crate::support::prelude::*;

on_both_databases!(
    every_page_is_a_range_of_the_intended_index,
    every_page_of_a_source_is_a_range_of_the_intended_index,
);

async fn every_page_is_a_range_of_the_intended_index(db: LedgerDb) {
    let books = books(db).await;
    fill(&books).await;
    let id = |text: &str| Some(Id::parse(text).unwrap());
    let between = Between {
        from: Some(T0),
        to: Some(T0 + 9_000_000),
    };
    let any = PayoutFilters::default();
    let spring = PayoutFilters {
        jackpot_id: id("spring"),
        ..any.clone()
    };
    let grand = PayoutFilters {
        tier: id("grand"),
        ..any.clone()
    };
    let player = PayoutFilters {
        player_id: Some(person("p3")),
        ..any.clone()
    };
    let timed = PayoutFilters { between, ..any.clone() };
    let all = PayoutFilters {
        between,
        player_id: Some(person("p3")),
        tier: id("mini"),
        ..spring.clone()
    };
    let rare = PayoutFilters {
        min_amount: Some(99_999.try_into().unwrap()),
        ..any.clone()
    };
    let of_tier = PayoutFilters {
        tier: id("mini"),
        ..spring.clone()
    };
    let stranger = PayoutFilters {
        player_id: Some(person("nobody")),
        ..any.clone()
    };
    for (filters, index) in [
        (any, "payouts_by_time"),
        (timed, "payouts_by_time"),
        (rare, "payouts_by_time"),
        (spring, "payouts_by_jackpot"),
        (of_tier, "payouts_by_jackpot"),
        (grand, "payouts_by_tier"),
        (player, "payouts_by_player"),
        (stranger, "payouts_by_player"),
        (all, "payouts_by_player"),
    ] {
        uses(&books, &filters.scan(), index, index).await;
    }
    let entries = EntryFilters {
        player_id: Some(person("p3")),
        jackpot_id: id("spring"),
        source_id: None,
        only: None,
        between,
    };
    let table = "entries_20251121";
    let scan = entries.scan(table.to_owned()).unwrap();
    uses(
        &books,
        &scan,
        "sqlite_autoindex_entries_20251121_1",
        "entries_20251121_pkey",
    )
    .await;
    let postings = PostingFilters {
        jackpot_id: id("spring").unwrap(),
        source_id: None,
        between,
    };
    let after = Key([(T0 + 7).into(), 7.into(), 1.into()]);
    for after in [None, Some(&after)] {
        let said = is_range(&books, postings.events(after, 101), "events_moved", "events_moved").await;
        assert!(!said.contains("TEMP B-TREE") && !said.contains("SCAN"), "{said}");
    }
    let audit = AuditFilters {
        action: id("pause"),
        ..AuditFilters::default()
    };
    uses(&books, &audit.scan(), "audit_by_time", "audit_by_time").await;
    let audit = AuditFilters {
        subjects: vec![(JACKPOT, id("spring").unwrap())],
        ..audit
    };
    uses(&books, &audit.scan(), "audit_by_subject", "audit_by_subject").await;
    let of_coupon = AuditFilters {
        subjects: vec![(COUPON, id("coffee").unwrap())],
        ..AuditFilters::default()
    };
    uses(&books, &of_coupon.scan(), "audit_by_subject", "audit_by_subject").await;
}

async fn every_page_of_a_source_is_a_range_of_the_intended_index(db: LedgerDb) {
    let books = books(db).await;
    fill(&books).await;
    let id = |text: &str| Some(Id::parse(text).unwrap());
    let between = Between {
        from: Some(T0),
        to: Some(T0 + 9_000_000),
    };
    let of_player = PayoutFilters {
        source_id: id("s3"),
        player_id: Some(person("p3")),
        ..PayoutFilters::default()
    };
    let of_jackpot = PayoutFilters {
        jackpot_id: id("spring"),
        ..of_player.clone()
    };
    for (filters, index) in [
        (of_player, "source_payouts_by_source"),
        (of_jackpot, "source_payouts_by_jackpot"),
    ] {
        uses(&books, &filters.scan(), index, index).await;
    }
    let in_state = PayoutFilters {
        state: Some(PayoutState::Due),
        source_id: id("s3"),
        ..PayoutFilters::default()
    };
    let of_jackpot = PayoutFilters {
        jackpot_id: id("spring"),
        ..in_state.clone()
    };
    for (filters, index) in [
        (in_state, "payout_states_by_state"),
        (of_jackpot, "payout_states_by_jackpot"),
    ] {
        uses(&books, &filters.scan(), index, index).await;
    }
    let entries = EntryFilters {
        player_id: None,
        jackpot_id: id("spring"),
        source_id: id("s3"),
        only: None,
        between,
    };
    let scan = entries.scan("entries_20251121".to_owned()).unwrap();
    let (sqlite, postgres) = ("sqlite_autoindex_source_entries_1", "source_entries_pkey");
    uses(&books, &scan, sqlite, postgres).await;
    let postings = PostingFilters {
        jackpot_id: id("spring").unwrap(),
        source_id: id("s3"),
        between,
    };
    let (sqlite, postgres) = ("sqlite_autoindex_source_postings_1", "source_postings_pkey");
    let said = is_range(&books, postings.events(None, 101), sqlite, postgres).await;
    assert!(!said.contains("TEMP B-TREE") && !said.contains("SCAN"), "{said}");
}

/// Thousands of rows in each table, so that a database has a reason to choose.
async fn fill(books: &Books) {
    let numbers = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)";
    books.payouts("spring", 1, 20_000, T0).await;
    books.payouts("autumn", 1, 5_000, T0).await;
    let mut tx = books.sql.begin().await.unwrap();
    jackpot::sql::entry_days::ensure(&mut tx, "20251121").await.unwrap();
    tx.commit().await.unwrap();
    for insert in [
        format!(
            "INSERT INTO source_entries (jackpot_id, source_id, at_ms, sequence, player_id) {numbers} \
             SELECT 'spring', 's' || (i % 5), {T0} + i, i, 'p' || (i % 7) FROM c"
        ),
        format!(
            "INSERT INTO source_postings (jackpot_id, source_id, at_ms, n, moved) {numbers} \
             SELECT 'spring', 's' || (i % 5), {T0} + i, i, 'grand c-1' FROM c"
        ),
        format!(
            "INSERT INTO payout_states (payout_id, jackpot_id, n, first_state, paid_at_ms, claim_order, player_id, tier, amount, \
             currency, source_id, state, state_n, approved_by, approver, attempt, settlement_id, attempt_text, attempt_ms, \
             asked, voided_ms, void_key_id, void_signature) {numbers} SELECT 'x' || i, 'spring', i, 'due', {T0} + i, i, \
             'p' || (i % 7), 'grand', i, 'EUR', 's' || (i % 5), CASE WHEN i % 9 = 0 THEN 'due' ELSE 'settled' END, i, '', '', \
             '', '', '', 0, '', 0, '', '' FROM c"
        ),
        format!(
            "INSERT INTO source_payouts (payout_id, source_id, jackpot_id, paid_at_ms, claim_order, player_id, tier, amount) \
             {numbers} SELECT 'x' || i, 's' || (i % 5), 'spring', {T0} + i, i, 'p' || (i % 7), 'grand', i FROM c"
        ),
        format!(
            "INSERT INTO entries_20251121 (player_id, at_ms, jackpot_id, sequence, entry_id, stake, client_seed, n, \
             epoch, version, rank, settled) {numbers} \
             SELECT 'p' || (i % 7), {T0} + i, 'spring', i, 'e' || i, 1, '', i, 1, 1, 0, 1 FROM c"
        ),
        format!(
            "INSERT INTO events (kind, id, n, stream_id, at_ms, type, last_sequence, hash, moved, body) {numbers} \
             SELECT 'jackpot', 'spring', i, '', {T0} + i, 'enter', i, '', 'grand c-1,p1', '' FROM c"
        ),
        format!(
            "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) {numbers} \
             SELECT CASE WHEN i % 2 = 0 THEN 'spring' ELSE 'coupon:coffee' END, i, {T0} + i, 'o', 'adjust', 'spring', 'null', \
             'null', 'r', 'q' FROM c"
        ),
    ] {
        books.run(&insert).await;
    }
    // Nothing ever makes statistics for SQLite; PostgreSQL makes them on its own.
    if books.sql.kind() == Kind::Postgres {
        books.run("ANALYZE").await;
    }
}

pub async fn uses(books: &Books, scan: &Scan, sqlite: &str, postgres: &str) {
    for statement in [scan.rows(101), scan.boundary()] {
        let said = is_range(books, statement, sqlite, postgres).await;
        if books.sql.kind() == Kind::Sqlite {
            // With filters beside the index, the rows that pass them are put in order again.
            let sorts = said.contains("TEMP B-TREE");
            assert!(!sorts || !scan.filters.is_empty(), "{said}");
            said.hides(&format!("SCAN {}", scan.table));
        }
    }
}

/// Returns the statement and its plan.
async fn is_range(books: &Books, statement: Statement, sqlite: &str, postgres: &str) -> String {
    let text = statement.text.clone();
    let plan = plan(books, statement).await;
    let said = format!("{text}\n{plan}");
    match books.sql.kind() {
        Kind::Sqlite => assert!(
            plan.contains("SEARCH") && plan.contains(&format!("INDEX {sqlite} (")),
            "{said}"
        ),
        Kind::Postgres => {
            assert!(
                plan.contains("Index") && plan.contains(&format!(" using {postgres} on ")),
                "{said}"
            );
            assert!(plan.contains("Index Cond: ((ROW("), "{said}");
            for step in ["Sort", "Seq Scan", "Bitmap"] {
                assert!(!plan.contains(step), "{step}: {said}");
            }
        }
    }
    said
}

pub async fn plan(books: &Books, statement: Statement) -> String {
    let (explain, column) = match books.sql.kind() {
        Kind::Sqlite => ("EXPLAIN QUERY PLAN", "detail"),
        Kind::Postgres => ("EXPLAIN", "QUERY PLAN"),
    };
    let text = format!("{explain} {}", statement.text);
    let rows = Statement { text, ..statement }
        .query()
        .fetch_all(books.sql.reader())
        .await
        .unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(column)).collect();
    lines.join("\n")
}
