//! The ledger's side of a batch: its event has the same effect as the events of its entries one by one.

use std::collections::BTreeMap;

use jackpot::jackpot::ledger::books::Books;
use jackpot::jackpot::ledger::event::{Claim, ClaimResult, Entered, Event, Kind};
use jackpot::jackpot::ledger::fold::Fold;
use jackpot::jackpot::ledger::postings;
use jackpot::jackpot::ledger::projector::{JackpotTables, Jackpots};
use jackpot::ledger::events::FoldError;
use jackpot::ledger::projector::batch::{self, Cursor, Raw, Start, With};
use jackpot::signing::SigningKeys;
use jackpot_core::chain::ChainHash;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::record::{Record, Sent, State};

use crate::jackpot::batch::oracle::{batched, play_singly};
use crate::jackpot::fixture::{JackpotFixture, rank, sent, tier};
use crate::support::fixture::Fields;
use crate::support::prelude::*;

type Batch = batch::Batch<Jackpots>;

/// Two tiers, fractions, a cap that is reached, a seed; most entries draw a prize, and many are refused at first.
pub fn eventful(cap: u64) -> Value {
    json!({"contribution": {"rate_ppm": 150_001}, "max_redraws": 3,
        "tiers": [tier("grand", 700_000, &json!({"min_payout": 40, "seed": 20, "reserve_ppm": 100_000, "cap": cap})),
                  tier("mini", 300_000, &json!({"reserve_ppm": 333_333}))],
        "odds": {"total": 12, "ranks": [
            rank(1, &json!({"pool": {"tier": "grand", "take": "all"}})),
            rank(2, &json!({"pool": {"tier": "mini", "take": {"share_ppm": 333_333}}})),
            {"rank": 3, "weight": 2, "prize": {"fixed": {"tier": "mini", "amount": 700}}},
            rank(4, &json!({"fixed": {"tier": "mini", "amount": 3}}))]}})
}

/// Entries with a few stakes, from the least on.
pub fn entries(count: u64) -> Vec<Sent> {
    (0..count)
        .map(|i| sent(&format!("p{}", i % 7), i % 5 * 37 + 1))
        .collect()
}

/// Plays these entries one by one on a jackpot. Returns its events, and the same with the entries as one batch.
async fn both(definition: &Value, waiting: Option<&Value>, sent: &[Sent], forced: &[(usize, u32)]) -> [Vec<Fields>; 2] {
    let fixture = JackpotFixture::with(definition).await;
    fixture.fund("first", 30).await;
    fixture.take("before", 9).await;
    fixture.finish("before", 0).await;
    if let Some(waiting) = waiting {
        fixture.define(waiting).await;
    }
    play_singly(&fixture, "b1", sent, &forced.iter().copied().collect()).await;
    fixture.operate.checkpoint(&fixture.id).await.expect("done");
    let singles = fixture.stream().await;
    let batch = batched(&singles, "b1");
    [singles, batch]
}

fn events(fields: &[Fields]) -> Vec<Event> {
    fields
        .iter()
        .map(|fields| Event::parse(&fields.into()).expect("readable"))
        .collect()
}

fn folded(events: &[Event]) -> Fold {
    let mut fold = Fold::default();
    for event in events {
        fold.apply(event).expect("follows");
    }
    fold
}

/// All entries by sequence, with the definition of each.
fn taken(events: &[Event]) -> BTreeMap<u64, (Entered, u64)> {
    let calls = events.iter().filter_map(|event| match &event.kind {
        Kind::Enter(enter) => Some(&enter.call),
        _ => None,
    });
    let mut all = BTreeMap::new();
    for call in calls {
        for (place, entry) in call.entries.iter().enumerate() {
            all.insert(call.first + place as u64, (entry.clone(), call.version_of(place)));
        }
    }
    all
}

/// All claims that were made, in order, without the ends of entries.
fn claims(events: &[Event]) -> Vec<Claim> {
    let one = |event: &Event| match &event.kind {
        Kind::Enter(enter) => enter.claims.clone(),
        Kind::Claim { claim, .. } => vec![claim.clone()],
        _ => Vec::new(),
    };
    let mut all: Vec<_> = events.iter().flat_map(one).collect();
    all.retain(|claim| claim.result != ClaimResult::Ended);
    all
}

/// The books without what differs between one event and several.
fn comparable(books: &Books) -> Books {
    let mut books = books.clone();
    (books.n, books.at_ms) = (0, 0);
    // A batch keeps records only of itself and of its winners.
    (books.records, books.older_records) = Default::default();
    books.pending.values_mut().for_each(|pending| pending.entered_ms = 0);
    books
}

fn assert_same([singles, batch]: &[Vec<Fields>; 2]) {
    let (singles, batch) = (events(singles), events(batch));
    assert_eq!(taken(&singles), taken(&batch));
    assert_eq!(claims(&singles), claims(&batch));
    let (one_by_one, at_once) = (folded(&singles), folded(&batch));
    assert_eq!(comparable(&one_by_one.books), comparable(&at_once.books));
    let timeless = |(id, text): (&String, &String)| {
        let mut record = Record::parse(text).expect("readable");
        if let State::Pending { entered_ms, .. } = &mut record.state {
            *entered_ms = 0;
        }
        (id.clone(), record)
    };
    let with_prize = one_by_one.seen.iter().map(timeless);
    let with_prize = with_prize.filter(|(id, record)| id == "before" || record.state != State::Lost);
    let (own, winners): (Vec<_>, Vec<_>) = at_once.seen.iter().partition(|(id, _)| id.ends_with(':'));
    assert_eq!(
        with_prize.collect::<BTreeMap<_, _>>(),
        winners.into_iter().map(timeless).collect()
    );
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].0, "b1:");
}

fn of_batch(fields: &[Fields]) -> Vec<&Fields> {
    fields.iter().filter(|fields| fields.contains_key("batch")).collect()
}

#[tokio::test]
async fn a_batch_is_folded_like_its_entries_one_by_one() {
    let both = both(&eventful(300), None, &entries(120), &[]).await;
    assert_same(&both);
    let own = of_batch(&both[1]);
    assert_eq!(own.len(), 1);
    let results: Vec<_> = own[0]["claims"]
        .split(';')
        .filter_map(|claim| claim.split(',').nth(3))
        .collect();
    for result in ["paid", "retry", "none"] {
        assert!(results.contains(&result), "{result}: {results:?}");
    }
    assert!(own[0]["runs"].matches(';').count() > 10, "{own:?}");
}

#[tokio::test]
async fn a_batch_of_one_tier_is_folded_like_its_entries() {
    let one = json!({"contribution": {"fixed": 3}, "odds": {"total": 5, "ranks": [
        rank(1, &json!({"pool": {"tier": "grand", "take": "all"}}))]}});
    assert_same(&both(&one, None, &entries(200), &[]).await);
}

#[tokio::test]
async fn an_entry_whose_last_attempt_is_refused_ends_with_it() {
    let refuses = |max_redraws: u32| {
        json!({"max_redraws": max_redraws, "odds": {"total": 1, "ranks": [
            rank(1, &json!({"fixed": {"tier": "grand", "amount": 1_000_000}}))]}})
    };
    for (max_redraws, last) in [(0, "2,0,0,none;"), (2, "2,2,0,none;")] {
        let both = both(&refuses(max_redraws), None, &entries(3), &[]).await;
        assert_same(&both);
        assert!(of_batch(&both[1])[0]["claims"].contains(last), "{both:?}");
    }
}

#[tokio::test]
async fn a_definition_that_comes_into_force_within_a_batch_splits_its_event() {
    let mut other = eventful(50);
    other["contribution"] = json!({"rate_ppm": 300_007});
    other["tiers"][1]["share_ppm"] = json!(0);
    let minor = tier("minor", 300_000, &json!({}));
    other["tiers"].as_array_mut().expect("tiers").push(minor);
    other["odds"]["ranks"][3]["prize"]["fixed"]["tier"] = json!("minor");
    let both = both(&eventful(300), Some(&other), &entries(120), &[]).await;
    assert_same(&both);
    let own = of_batch(&both[1]);
    assert_eq!(own.len(), 1);
    let split: usize = own[0]["split"].parse().expect("an index");
    assert!((2..120).contains(&split));
    assert_has!(*own[0], {"version": "1", "applied": "2"});
    let runs: Vec<_> = own[0]["runs"].split_inclusive(';').collect();
    let tiers = |index: &str| {
        let run = runs.iter().find(|run| run.starts_with(index)).expect("a run");
        run.split('/').count()
    };
    assert_eq!((tiers("1:"), tiers(&format!("{split}:"))), (2, 3));

    let at = both[1].len() - 2;
    let change = |field: &str, value: String| {
        let mut fields = both[1][at].clone();
        assert!(fields.insert(field.to_owned(), value).is_some(), "{field}");
        Event::parse(&(&fields).into()).expect_err("unreadable").field
    };
    assert_eq!(change("split", String::new()), "amounts");
    // The entry between has a stake that the first definition's amounts lack, or adds something else by them.
    let moved = change("split", (split + 1).to_string());
    assert!(["amounts", "runs"].contains(&moved), "{moved}");
    assert_eq!(change("split", "x".to_owned()), "split");
    assert_eq!(change("applied", String::new()), "applied");
    let first = own[0]["amounts"].split('|').next().expect("amounts").to_owned();
    assert_eq!(change("amounts", first), "amounts");
}

#[tokio::test]
async fn what_is_not_for_money_stays_pending() {
    let both = both(&eventful(300), None, &entries(20), &[(4, 9), (11, 9)]).await;
    assert_same(&both);
    let books = folded(&events(&both[1])).books;
    let pending: Vec<_> = books
        .pending
        .iter()
        .map(|(sequence, entry)| (*sequence, &*entry.entry_id))
        .collect();
    assert_eq!(pending, [(5, "b1:4"), (12, "b1:11")]);
}

/// Why the books refuse this event.
fn refused(mut books: Books, event: &Event) -> String {
    let error: FoldError = books.apply(event).expect_err("refused");
    error.to_string()
}

#[tokio::test]
async fn claims_out_of_order_are_refused() {
    let [_, fields] = both(&eventful(300), None, &entries(60), &[]).await;
    let at = fields
        .iter()
        .position(|fields| fields.contains_key("batch"))
        .expect("a batch");
    let books = folded(&events(&fields[..at])).books;
    let claims: Vec<&str> = fields[at]["claims"].split_inclusive(';').collect();
    let change = |field: &str, value: String| {
        let mut fields = fields[at].clone();
        fields.insert(field.to_owned(), value);
        refused(books.clone(), &Event::parse(&(&fields).into()).expect("readable"))
    };
    let find = |result: &str| {
        claims
            .iter()
            .position(|claim| claim.contains(result))
            .expect("such a claim")
    };
    let (paid, none, retry) = (find(",paid,"), find(",none;"), find(",retry,"));
    let with = |at: usize, more: &str| {
        let mut claims = claims.clone();
        claims.insert(at, more);
        claims.concat()
    };
    let behind = "goes on after its last claim";
    change("claims", with(paid + 1, claims[paid])).says(behind); // twice paid
    change("claims", with(none + 1, claims[none])).says(behind); // a claim after the end
    change("claims", with(retry, claims[retry])).says(behind); // an attempt twice
    let open = claims[..none].concat() + &claims[none + 1..].concat();
    change("claims", open).says("left in the middle of its attempts");
    let first = claims[0].split(',').next().expect("a sequence");
    let begins = "begins with another claim than that of attempt 0";
    change("claims", format!("{first},0,0,none;")).says(begins);
    change("claims", format!("{first},1,1,retry,grand,0;")).says(begins);
    let mut order: Vec<&str> = claims[paid].split(',').collect();
    order[6] = "99";
    assert!(change("claims", claims[..paid].concat() + &order.join(",")).contains("claim order"));
    let record = format!("9{}", fields[at]["record"]);
    change("record", record).says("the record of its batch");
}

fn batch_of(fields: &[Fields]) -> Batch {
    let id = folded_id(fields);
    let directory = tempfile::tempdir().expect("a directory");
    let keys = SigningKeys::load(&"5e".repeat(32), directory.path()).expect("a key");
    let key = keys.current();
    let cursor = Cursor {
        n: 0,
        hash: ChainHash::first(&id),
        stream_id: String::new(),
    };
    let raw: Vec<_> = fields
        .iter()
        .map(|fields| Raw {
            stream_id: format!("1-{}", fields["n"]),
            fields: fields.into(),
        })
        .collect();
    let start = Start {
        id: &id,
        cursor: &cursor,
        books: &Books::default(),
        tables: &JackpotTables::default(),
        with: With {
            key: &key,
            index_entries: true,
        },
    };
    Batch::build(&start, &raw)
}

fn folded_id(fields: &[Fields]) -> Id {
    let definition: Value = serde_json::from_str(&fields[0]["json"]).expect("JSON");
    Id::parse(definition["id"].as_str().expect("an id")).expect("an id")
}

#[tokio::test]
async fn a_batch_gives_the_rows_of_its_entries() {
    let [singles, batch] = both(&eventful(300), Some(&eventful(60)), &entries(90), &[(7, 9)]).await;
    let (singles, batch) = (batch_of(&singles), batch_of(&batch));
    assert!(singles.stop.is_none() && batch.stop.is_none(), "{:?}", batch.stop);
    let payout = |row: &jackpot::jackpot::ledger::projector::rows::PayoutRow| {
        let receipt = &row.receipt;
        let pools = (receipt.pool_before, receipt.amount, receipt.pool_after);
        let ids = (
            receipt.payout_id.clone(),
            receipt.entry_id.clone(),
            receipt.player_id.clone(),
        );
        (ids, pools, receipt.claim_order, row.sequence, row.rank)
    };
    let payouts = |batch: &Batch| batch.rows.payouts.iter().map(payout).collect::<Vec<_>>();
    // About 25 of 90, by chance.
    assert!(payouts(&singles).len() > 8);
    assert_eq!(payouts(&singles), payouts(&batch));
    // Played one by one, an entry that was refused at first gets its outcome in a separate row.
    let index = |batch: &Batch| {
        let rows = batch.rows.index.entries.iter();
        let mut rows: BTreeMap<_, _> = rows
            .map(|row| {
                (
                    row.sequence,
                    (row.entered.clone(), row.epoch, row.version, row.rank, row.settled),
                )
            })
            .collect();
        for settled in &batch.rows.index.settled {
            let row = rows.get_mut(&settled.sequence).expect("indexed");
            (row.3, row.4) = (settled.rank, true);
        }
        rows
    };
    assert_eq!(index(&singles), index(&batch));
    assert_eq!(batch.rows.index.settled.len(), 1, "only the entry before the batch");
    let accounts = |batch: &Batch| {
        let mut sums = BTreeMap::<_, i64>::new();
        for event in &batch.events {
            for posting in postings::parse(&event.moved).expect("postings") {
                *sums.entry((posting.tier, posting.account)).or_default() += posting.amount * 1_000_000 + posting.micro;
            }
        }
        // No posting of a batch has what went in and came out again within the batch.
        sums.retain(|_, sum| *sum != 0);
        sums
    };
    assert_eq!(accounts(&singles), accounts(&batch));
    let last: Vec<_> = batch.events.iter().map(|event| event.last_sequence).collect();
    assert!(last.is_sorted() && last.last() == Some(&91), "{last:?}");
}
