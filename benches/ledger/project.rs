//! Entries per second of the projector.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use jackpot::jackpot::known::Known;
use jackpot::jackpot::ledger::books::Books;
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::scripts::{self, Adjust, EnterEntry, EntryReply, Wanted};
use jackpot::jackpot::view::View;
use jackpot::ledger::projector::Projector;
use jackpot::operator::Operator;
use jackpot::subject::Subject;
use jackpot_api::jackpot::Status;
use jackpot_core::ids::{ClientSeed, Id, PersonId};
use jackpot_core::jackpot::definition::Definition;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::cpu::Cpu;
use super::fill::{self, FIRST_PLAYER};
use super::place::Place;
use super::report::Measured;
use crate::Outcome;

/// Concurrent calls of the enter script while the stream is filled.
const CALLS: usize = 8;
/// One of this many entries wins.
const ONE_WINS_OF: u64 = 1_000;
/// Seed of the random players, so that two runs do the same.
const SEED: u64 = 8_812;
/// Longest time of one measurement; a longer one means that something is broken.
const LIMIT: Duration = Duration::from_mins(2);

/// Measures all sizes on one database, with the index first: without it the daily table is dropped.
pub(crate) async fn all(
    directory: &Path,
    url: &str,
    rows: u64,
    rounds: usize,
    sizes: &[usize],
) -> Outcome<Vec<Measured>> {
    let place = Place::open(directory, url).await?;
    let begun = Instant::now();
    fill::entries(&place.ledger.sql, rows).await?;
    eprintln!(
        "{:?}: {rows} entries are there after {:.0?}",
        place.ledger.sql.kind(),
        begun.elapsed()
    );
    let mut results = Vec::new();
    for index in [true, false] {
        for size in sizes {
            let measured = one(&place, *size, index, rows, rounds).await?;
            eprintln!("{}", measured.line());
            results.push(measured);
        }
    }
    place.close().await;
    Ok(results)
}

/// Entries of one measurement: at least a second of work for the projector.
fn amount(size: usize, index: bool) -> usize {
    match (size, index) {
        (..16, _) => 12_000,
        (_, true) => 40_960,
        (..128, false) => 81_920,
        (_, false) => 245_760,
    }
}

/// How many jackpots the entries are of. Entries that come alone are those of many warm jackpots.
fn jackpots(size: usize) -> usize {
    if size == 1 { 100 } else { 1 }
}

/// Events of a jackpot that are drained together: one commit of the service, 200 ms of many jackpots.
fn at_once(size: usize) -> usize {
    if size == 1 { 20 } else { usize::MAX }
}

async fn one(place: &Place, size: usize, index: bool, rows: u64, rounds: usize) -> Outcome<Measured> {
    let ids = (0..jackpots(size)).map(|i| Id::parse(&format!("of-{size}-{index}-{i}")));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let mut projector = place.projector(&format!("of-{size}-{index}"), if index { 7 } else { 0 });
    let mut known = Vec::new();
    for id in &ids {
        open(place, id).await?;
        known.push(place.operate.views.registry.known(id));
    }
    drain(&mut projector, &known).await?;
    let mut rng = StdRng::seed_from_u64(SEED);
    let (each, mut took) = (amount(size, index) / size / ids.len(), Vec::new());
    let before = count(place).await?;
    for round in 0..rounds {
        let (mut time, mut cpu, mut left) = (Duration::ZERO, Cpu::default(), each);
        while left > 0 {
            let events = left.min(at_once(size));
            for id in &ids {
                let tag = format!("{id}-{round}-{left}");
                let player = &mut || rng.random_range(0..fill::players(rows));
                fill(place, id, &tag, events, size, player).await?;
            }
            left -= events;
            let (begun, before) = (Instant::now(), Cpu::now(&place.ledger.sql).await?);
            drain(&mut projector, &known).await?;
            if left == 0 {
                // The last rows of the index would be written within a second.
                projector.catch_up().await;
            }
            time += begun.elapsed();
            cpu += Cpu::now(&place.ledger.sql).await? - before;
        }
        took.push((time, cpu));
    }
    let rows_each = (count(place).await? - before) / i64::try_from(rounds)?;
    for id in &ids {
        check(place, id, u64::try_from(each * size * rounds)?).await?;
    }
    projector.finish().await;
    took.sort_by_key(|(time, _)| *time);
    let least = |of: fn(&Cpu) -> Duration| took.iter().map(|(_, cpu)| of(cpu)).min().unwrap_or_default();
    let events = each * ids.len();
    Ok(Measured {
        database: format!("{:?}", place.ledger.sql.kind()),
        index,
        size,
        entries: events * size,
        events,
        rows: usize::try_from(rows_each)? + if index { events * size } else { 0 },
        median: took[took.len() / 2].0,
        slowest: took[took.len() - 1].0,
        cpu: Cpu {
            service: least(|cpu| cpu.service),
            database: least(|cpu| cpu.database),
        },
    })
}

async fn drain(projector: &mut Projector<Jackpots>, known: &[Arc<Known>]) -> Outcome {
    let begun = Instant::now();
    while known.iter().any(|known| known.ledger_n() != Some(known.mark().n())) {
        projector.round().await?;
        if begun.elapsed() > LIMIT {
            return Err("the projector does not get on: see its log".into());
        }
    }
    Ok(())
}

/// A jackpot of two tiers, the first with a reserve; 1.5 % of the stake, and rank 3 wins 7 units.
async fn open(place: &Place, id: &Id) -> Outcome {
    let document = json!({
        "id": id, "name": "measured", "currency": "KRW", "contribution": {"rate_ppm": 15_000},
        "tiers": [
            {"tier": "grand", "share_ppm": 700_000, "min_payout": 1, "seed": 0, "reserve_ppm": 100_000, "cap": null},
            {"tier": "mini", "share_ppm": 300_000, "min_payout": 1, "seed": 0, "reserve_ppm": 0, "cap": null}],
        "odds": {"total": 1_000, "ranks": [
            {"rank": 3, "weight": 1, "prize": {"fixed": {"tier": "grand", "amount": 7}}}]},
    });
    let definition = Definition::check(serde_json::from_value(document)?).map_err(|wrong| format!("{wrong:?}"))?;
    let by = Operator {
        who: "bench".to_owned(),
        owner: "bench".to_owned(),
        request_id: "bench".to_owned(),
    };
    let operate = &place.operate;
    operate.define(id, &definition, Wanted::Any, Status::Open, &by).await?;
    let fund = Adjust {
        adjustment_id: Id::parse("first")?,
        digest: "first".to_owned(),
        tier: Id::parse("grand")?,
        from: None,
        to: Some("pool"),
        amount: Minor::try_from(1_000_000)?,
        reason: "prizes".to_owned(),
        by,
    };
    operate.adjust(id, &fund).await?;
    operate.views.refresh(id).await?;
    Ok(())
}

/// Fills the stream through the enter script, as play does it.
async fn fill(
    place: &Place,
    id: &Id,
    tag: &str,
    events: usize,
    size: usize,
    player: &mut impl FnMut() -> u64,
) -> Outcome {
    let (known, view) = place.operate.views.view(id).await?;
    let mut number = 0;
    let blocks = (0..events).map(|_| {
        let entries = (0..size).map(|_| {
            number += 1;
            entry(tag, number, player())
        });
        entries.collect::<Result<Vec<_>, _>>()
    });
    let blocks = blocks.collect::<Outcome<Vec<_>>>()?;
    let calls = blocks.into_iter().map(|block| enter(place, &known, &view, block));
    let mut calls = stream::iter(calls).buffer_unordered(CALLS);
    while let Some(done) = calls.next().await {
        done?;
    }
    Ok(())
}

async fn enter(place: &Place, known: &Known, view: &View, block: Vec<EnterEntry>) -> Outcome {
    let entered = scripts::enter(&place.store, &known.keys, &known.fence(view), &view.definition, &block).await?;
    known.observe(entered.mark);
    // `Seen` comes from the repeat of a call whose answer was late.
    let taken = |reply: &EntryReply| matches!(reply, EntryReply::Taken(_) | EntryReply::Seen(_));
    if entered.replies.iter().all(taken) {
        Ok(())
    } else {
        Err(format!("an entry was not taken: {:?}", entered.refusal).into())
    }
}

/// An entry as long as what people send: a UUID, a name, a stake, and a seed from one of ten.
fn entry(tag: &str, number: u64, player: u64) -> Outcome<EnterEntry> {
    let seed = number
        .is_multiple_of(10)
        .then(|| ClientSeed::parse(&format!("seed-{number}")));
    Ok(EnterEntry {
        entry_id: format!("{tag}-{number:024}"),
        sent: Sent {
            client_seed: seed.transpose()?,
            ..Sent::of(
                PersonId::parse(&format!("p{}", FIRST_PLAYER + player))?,
                Minor::try_from(1_000)?,
            )
        },
        rank: if number.is_multiple_of(ONE_WINS_OF) { 3 } else { 0 },
    })
}

/// Number of rows of the record.
async fn count(place: &Place) -> Outcome<i64> {
    let text = "SELECT (SELECT count(*) FROM events WHERE id <> 'before') + (SELECT count(*) FROM payouts)";
    Ok(sqlx::query_scalar(text).fetch_one(place.ledger.sql.reader()).await?)
}

/// The ledger has all entries, and the same money as Redis.
async fn check(place: &Place, id: &Id, entries: u64) -> Outcome {
    let books: String = sqlx::query_scalar("SELECT books FROM streams WHERE kind = 'jackpot' AND id = $1")
        .bind(id.as_str())
        .fetch_one(place.ledger.sql.reader())
        .await?;
    let books: Books = serde_json::from_str(&books)?;
    let redis = place.operate.views.snapshot(id).await?;
    let same = redis.meters.iter().all(|meter| {
        let held = books.meters.get(&meter.tier).copied().unwrap_or_default();
        let pool = u64::try_from(held.pool);
        (pool, u64::try_from(held.paid)) == (Ok(meter.pool), Ok(meter.paid)) && held.difference_micro() == 0
    });
    if books.sequence == entries && same {
        Ok(())
    } else {
        Err(format!("the ledger of {id} differs from Redis").into())
    }
}
