//! `lua/subject/restore_begin.lua`, `restore_records.lua` and `restore_end.lua` on a real Redis.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::event::Kind;
use jackpot::jackpot::scripts::{
    self, Begins, EPOCH_GAP, Part, RestoreBegun, RestoreEnded, RestoredState, Rotate, Rotated, ScriptError, Stamped,
};
use jackpot::ledger::events::Rebuilt;
use jackpot::store::keys::JackpotKeys;
use jackpot::subject::{self, TailWish};
use jackpot_api::jackpot::Status;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::cycle::{Cycles, GAP, Preparing, Renews};
use jackpot_core::jackpot::epoch::{Epoch, Opening};
use jackpot_core::mark::Mark;
use jackpot_core::wire::Field as _;
use jackpot_core::wire::declared::Given;

use crate::jackpot::by_hand;
use crate::jackpot::fixture::{JackpotFixture, definition, drawn, operator, tier};
use crate::jackpot::must_hit::{by_amount, cycles, open};
use crate::support::prelude::*;

const PATIENCE: Duration = Duration::from_secs(10);

type Hash = BTreeMap<String, String>;

/// A jackpot as its raw keys hold it, without the events.
#[derive(Debug, Clone, PartialEq)]
struct Raw {
    state: Hash,
    meters: Hash,
    pools: Hash,
    parts: BTreeMap<Part, Hash>,
}

fn keys(fixture: &JackpotFixture) -> JackpotKeys {
    JackpotKeys::new(&fixture.id)
}

async fn hash(fixture: &JackpotFixture, key: &str) -> Hash {
    fixture.raw(redis::cmd("HGETALL").arg(key)).await
}

async fn raw(fixture: &JackpotFixture) -> Raw {
    let keys = keys(fixture);
    let pending: Vec<(String, String)> = fixture
        .raw(redis::cmd("ZRANGE").arg(&keys.pending).arg(0).arg(-1).arg("WITHSCORES"))
        .await;
    let mut parts = BTreeMap::from([(Part::Pending, pending.into_iter().collect())]);
    for (part, key) in [
        (Part::Definitions, &keys.definitions),
        (Part::Epochs, &keys.epochs),
        (Part::SeenA, &keys.seen_a),
        (Part::SeenB, &keys.seen_b),
        (Part::Adjustments, &keys.adjustments),
    ] {
        parts.insert(part, hash(fixture, key).await);
    }
    let mut pools = Hash::new();
    for tier in tiers() {
        let pool: Option<String> = fixture.raw(redis::cmd("GET").arg(keys.pool(&tier))).await;
        pools.extend(pool.map(|pool| (format!("{tier}:pool"), pool)));
    }
    let held = fixture.state().await;
    let (meters, mut state): (Hash, Hash) = held.into_iter().partition(|(name, _)| name.contains(':'));
    // These fields are of the present Redis: a restore counts the age anew.
    state.retain(|field, _| !["gen_age", "gen_looked"].contains(&field.as_str()));
    Raw {
        state,
        meters,
        pools,
        parts,
    }
}

/// Every tier that a definition of these tests names.
fn tiers() -> BTreeSet<Id> {
    ["grand", "mini"].map(|name| Id::parse(name).expect("an id")).into()
}

fn restored(raw: &Raw) -> RestoredState {
    let field = |name: &str| raw.state[name].clone();
    let number = |name: &str| raw.state[name].parse::<u64>().expect("a number");
    let stamped = |version: &str| {
        let json = &raw.parts[&Part::Definitions][version];
        let definition = definition(serde_json::from_str(json).expect("JSON"));
        Stamped::new(version.parse().expect("a version"), &definition)
    };
    let meters = raw.meters.iter().chain(&raw.pools);
    RestoredState {
        used: Vec::new(),
        n: number("n"),
        restores: number("restores"),
        status: Status::parse(&field("status")).expect("a status"),
        in_force: stamped(&field("version")),
        waiting: Some(field("next"))
            .filter(|next| !next.is_empty())
            .map(|next| stamped(&next)),
        last_version: number("last_version"),
        currency: field("currency").parse().expect("a code"),
        sequence: number("seq"),
        claim_order: number("order"),
        epoch: number("epoch"),
        opening: Opening {
            commitment: field("commitment"),
            nonce: field("nonce"),
            secret_id: field("secret"),
        },
        generation: field("gen").chars().next().expect("a letter"),
        generation_start: number("gen_start"),
        generation_opened_ms: field("gen_opened").parse().expect("a time"),
        generation_version: number("gen_version"),
        retention_s: number("retention"),
        puts: field("puts"),
        meters: meters
            .map(|(name, value)| (name.clone(), value.parse().expect("a number")))
            .collect(),
        moved: match raw.state.get("moved").map(String::as_str) {
            None | Some("") => Vec::new(),
            Some(rows) => Vec::read(rows).expect("rows"),
        },
        cycles: Cycles::default(),
        written: raw.parts.iter().map(|(part, all)| (*part, all.len() as u64)).collect(),
    }
}

/// A jackpot with wins, refusals that are pending, a definition that waits, adjustments and two generations.
async fn lived(fixture: &JackpotFixture) {
    fixture.fund("f", 5_000).await;
    fixture.take("win", 1).await;
    fixture.take("lost", 0).await;
    let (known, view) = fixture.fresh().await;
    let next = fixture.operate.views.opening(&fixture.id, 2).expect("an opening");
    let why = Rotate::Retention { retention_s: 0 };
    let rotated = scripts::rotate(&fixture.store, &known.keys, &known.fence(&view), &next, &why).await;
    assert_eq!(rotated.expect("a reply").1, Rotated::Opened(2));
    fixture.take("refused", 1).await;
    fixture.take("seven", 3).await;
    fixture.claim("refused", 1, 2).await;
    let two = [
        tier("grand", 900_000, &json!({"cap": 50, "min_payout": 100})),
        tier("mini", 100_000, &json!({})),
    ];
    fixture.define(&json!({"tiers": two})).await;
}

async fn begin(fixture: &JackpotFixture, token: &str, expected: Option<Mark>) -> RestoreBegun {
    let keys = keys(fixture);
    let all = scripts::restored_keys(&keys, &tiers());
    scripts::restore_begin(&fixture.store, all.iter().map(String::as_str), token, expected, None)
        .await
        .expect("a reply")
}

async fn write(fixture: &JackpotFixture, token: &str, raw: &Raw) -> bool {
    let mut mine = true;
    for (part, all) in raw.parts.iter().filter(|(_, all)| !all.is_empty()) {
        let pairs = all.clone().into_iter().collect::<Vec<_>>();
        let written = scripts::restore_records(&fixture.store, &keys(fixture), token, *part, &pairs).await;
        mine &= written.expect("a reply");
    }
    mine
}

async fn end(fixture: &JackpotFixture, token: &str, state: &RestoredState) -> RestoreEnded {
    end_with(fixture, token, state, &begins(fixture, state.epoch + EPOCH_GAP)).await
}

/// An epoch of this number, in a history that has the same number in its name.
fn begins(fixture: &JackpotFixture, epoch: u64) -> Begins {
    Begins {
        history: format!("{epoch:016x}"),
        epoch,
        opening: fixture.operate.views.opening(&fixture.id, epoch).expect("an opening"),
        prepared: String::new(),
    }
}

async fn end_with(fixture: &JackpotFixture, token: &str, state: &RestoredState, begins: &Begins) -> RestoreEnded {
    scripts::restore_end(
        &fixture.store,
        &keys(fixture),
        token,
        state,
        begins,
        &operator(),
        "a test",
    )
    .await
    .expect("a reply")
}

fn mark(restores: u64, n: u64) -> Mark {
    Mark::new(restores, n).expect("a mark")
}

/// The event of a restore of a jackpot of which Redis had lost everything.
fn restore_of(was: &Raw, begun: &Begins) -> Kind {
    Kind::Restore {
        rebuilt: Rebuilt {
            from_n: None,
            restores: 1,
            status: Status::Open,
        },
        records: was.parts.values().map(|all| all.len() as u64).sum(),
        closed: 2,
        epoch: begun.epoch,
        opening: begun.opening.clone(),
        ended_epoch: Given(None),
    }
}

#[tokio::test]
async fn a_restored_jackpot_is_what_it_was() {
    let fixture = JackpotFixture::with(&json!({})).await;
    lived(&fixture).await;
    let was = raw(&fixture).await;
    assert!(
        was.state["next"] == "2" && was.parts.values().all(|all| !all.is_empty()),
        "{was:?}"
    );
    let n: u64 = was.state["n"].parse().expect("a number");
    fixture.raw::<()>(redis::cmd("DEL").arg(&keys(&fixture).state)).await;
    let lost = fixture.operate.views.snapshot(&fixture.id).await;
    assert!(matches!(lost, Err(PlayError::Script(ScriptError::Behind { .. }))));

    assert!(matches!(begin(&fixture, "one", None).await, RestoreBegun::Begun { .. }));
    assert!(
        write(&fixture, "one", &was).await && write(&fixture, "one", &was).await,
        "twice is as good"
    );
    let rechecked = fixture.operate.views.registry.recheck(&fixture.id).await;
    assert!(!rechecked.is_ok_and(|plays| plays));
    let begun = begins(&fixture, 2 + EPOCH_GAP);
    assert_eq!(
        end_with(&fixture, "one", &restored(&was), &begun).await,
        RestoreEnded::Done(mark(1, n + 1))
    );
    let after = (raw(&fixture).await, fixture.events().await);
    assert_eq!(
        end(&fixture, "one", &restored(&was)).await,
        RestoreEnded::Done(mark(1, n + 1))
    );
    assert_eq!(
        (raw(&fixture).await, fixture.events().await),
        after,
        "a repeat changes nothing"
    );

    let mut is = raw(&fixture).await;
    let changed = ["n", "restores", "restore_token"].map(|name| is.state.remove(name));
    assert_eq!(
        changed,
        [Some((n + 1).to_string()), Some("1".to_owned()), Some("one".to_owned())]
    );
    let mut expected = was.clone();
    expected
        .state
        .retain(|name, _| !["n", "restores"].contains(&name.as_str()));
    let new = [
        ("history", begun.history.clone()),
        ("epoch", begun.epoch.to_string()),
        ("commitment", begun.opening.commitment.clone()),
        ("nonce", begun.opening.nonce.clone()),
        ("secret", begun.opening.secret_id.clone()),
    ];
    expected.state.extend(new.map(|(name, value)| (name.to_owned(), value)));
    let events = fixture.events().await;
    // A restore opens no epoch again: the earlier one is closed.
    let epochs = expected.parts.get_mut(&Part::Epochs).expect("epochs");
    let mut closed = Epoch::parse(2, &epochs["2"]).expect("readable");
    assert_eq!(closed.closed_ms, None);
    closed.closed_ms = Some(events[0].at_ms);
    let opened = Epoch {
        epoch: begun.epoch,
        opening: begun.opening.clone(),
        opened_ms: events[0].at_ms,
        closed_ms: None,
    };
    epochs.insert("2".to_owned(), closed.to_text());
    epochs.insert(begun.epoch.to_string(), opened.to_text());
    assert_eq!(is, expected);
    let kind = restore_of(&was, &begun);
    assert_eq!(events[0].history, begun.history);
    assert_eq!(
        events.iter().map(|event| (event.n, &event.kind)).collect::<Vec<_>>(),
        [(n + 1, &kind)]
    );

    assert!(
        fixture.operate.views.view(&fixture.id).await.is_err(),
        "this instance saw events lost"
    );
    assert!(
        fixture
            .operate
            .views
            .registry
            .recheck(&fixture.id)
            .await
            .expect("a reply"),
        "and now a restore"
    );
    let again = fixture.enter(&[crate::jackpot::fixture::entry("win", 1)]).await;
    assert!(matches!(&again.replies[0], scripts::EntryReply::Seen(_)), "{again:?}");
    assert!(fixture.finish("refused", 2).await.done_now);
    assert_eq!(fixture.take("new", 0).await.sequence, 5);
}

#[tokio::test]
async fn while_a_jackpot_is_restored_every_other_script_says_so() {
    let fixture = JackpotFixture::with(&json!({})).await;
    lived(&fixture).await;
    let (known, view) = fixture.fresh().await;
    let was = raw(&fixture).await;
    assert!(matches!(
        begin(&fixture, "one", Some(known.mark())).await,
        RestoreBegun::Begun { .. }
    ));
    let before = fixture.dump().await;
    let (store, keys, fence) = (&fixture.store, &known.keys, known.fence(&view));
    let (tiers, prize) = (
        view.definition.tiers(),
        view.definition.money_prize(3).expect("a prize"),
    );
    let why = Rotate::Retention { retention_s: 0 };
    let tail = TailWish {
        after: None,
        max_events: 1,
        max_bytes: 1,
        trim_before: None,
    };
    let entry = [crate::jackpot::fixture::entry("new", 0)];
    let said = [
        scripts::enter(store, keys, &fence, &view.definition, &entry)
            .await
            .err(),
        scripts::claim(store, keys, &fence, tiers, drawn("refused", 2, 3), prize)
            .await
            .err(),
        scripts::finish(store, keys, &fence, tiers, "refused", 2).await.err(),
        scripts::adjust(store, keys, &fence, tiers, &crate::jackpot::fixture::funding("g", 1))
            .await
            .err(),
        scripts::rotate(store, keys, &fence, &Opening::default(), &why)
            .await
            .err(),
        scripts::checkpoint(store, keys, &fence, tiers).await.err(),
        scripts::snapshot(store, keys, known.mark()).await.err(),
        scripts::lookup(store, keys, known.mark(), "win").await.err(),
        scripts::pending(store, keys, known.mark(), 0, 0, 1).await.err(),
        subject::tail(store, keys.stream(), known.mark(), &tail).await.err(),
    ];
    for (call, error) in said.iter().enumerate() {
        assert!(matches!(error, Some(ScriptError::Restoring)), "call {call}: {error:?}");
    }
    for stopped in [
        fixture
            .operate
            .set_status(&fixture.id, Status::Closed, "a test".to_owned(), &operator())
            .await,
        crate::jackpot::fixture::put(&fixture, &json!({}), scripts::Wanted::Any)
            .await
            .map(|_| ()),
    ] {
        assert!(
            matches!(stopped, Err(PlayError::Script(ScriptError::Restoring))),
            "{stopped:?}"
        );
    }
    assert_eq!(fixture.dump().await, before);
    assert!(!known.is_lost(), "nothing is lost");
    assert!(write(&fixture, "one", &was).await);
    assert!(matches!(
        end(&fixture, "one", &restored(&was)).await,
        RestoreEnded::Done(_)
    ));
    assert_eq!(fixture.take("new", 0).await.sequence, 5);
}

#[tokio::test]
async fn a_restore_starts_only_on_the_redis_that_was_seen_and_the_newest_goes_on() {
    let fixture = JackpotFixture::with(&json!({})).await;
    lived(&fixture).await;
    let was = raw(&fixture).await;
    let here = fixture.snapshot().await.mark;
    let before = fixture.dump().await;
    for seen in [None, Some(mark(0, here.n() - 1)), Some(mark(1, here.n()))] {
        assert_eq!(begin(&fixture, "one", seen).await, RestoreBegun::Changed(here));
    }
    assert!(!write(&fixture, "one", &was).await, "nothing was begun");
    assert_eq!(end(&fixture, "one", &restored(&was)).await, RestoreEnded::Other);
    assert_eq!(fixture.dump().await, before);

    assert!(matches!(
        begin(&fixture, "one", Some(here)).await,
        RestoreBegun::Begun { .. }
    ));
    assert!(write(&fixture, "one", &was).await);
    assert!(
        matches!(begin(&fixture, "two", None).await, RestoreBegun::Begun { .. }),
        "it takes over"
    );
    let before = fixture.dump().await;
    assert!(!write(&fixture, "one", &was).await);
    assert_eq!(end(&fixture, "one", &restored(&was)).await, RestoreEnded::Other);
    assert_eq!(end(&fixture, "two", &restored(&was)).await, RestoreEnded::Incomplete);
    assert_eq!(fixture.dump().await, before);
    assert!(write(&fixture, "two", &was).await);
    assert_eq!(
        end(&fixture, "two", &restored(&was)).await,
        RestoreEnded::Done(mark(1, here.n() + 1))
    );
    let from = fixture
        .events()
        .await
        .into_iter()
        .map(|event| event.kind)
        .collect::<Vec<_>>();
    assert!(
        matches!(&from[..], [Kind::Restore { rebuilt, .. }] if rebuilt.from_n == Some(here.n())),
        "{from:?}"
    );
}

#[tokio::test]
async fn a_damaged_state_can_be_restored_and_no_restore_is_counted_twice() {
    let fixture = JackpotFixture::with(&json!({})).await;
    lived(&fixture).await;
    let was = raw(&fixture).await;
    let n: u64 = was.state["n"].parse().expect("a number");
    let state = keys(&fixture).state;
    fixture
        .raw::<()>(redis::cmd("HSET").arg(&state).arg("restores").arg(6))
        .await;
    fixture.raw::<()>(&mut by_hand::set(&state, "seq", "rubbish")).await;
    assert!(fixture.operate.views.snapshot(&fixture.id).await.is_err());
    let seen = begin(&fixture, "one", None).await;
    assert_eq!(seen, RestoreBegun::Changed(mark(6, n)));
    assert!(matches!(
        begin(&fixture, "one", Some(mark(6, n))).await,
        RestoreBegun::Begun { .. }
    ));
    assert!(write(&fixture, "one", &was).await);
    let done = end(&fixture, "one", &restored(&was)).await;
    assert_eq!(
        done,
        RestoreEnded::Done(mark(7, n + 1)),
        "Redis knew of more than the ledger"
    );
}

#[tokio::test]
async fn an_epoch_that_a_restore_opens_is_above_all_others_and_its_second_has_passed() {
    let fixture = JackpotFixture::with(&json!({})).await;
    lived(&fixture).await;
    let was = raw(&fixture).await;
    let state = restored(&was);
    let RestoreBegun::Begun { at_ms } = begin(&fixture, "one", Some(fixture.snapshot().await.mark)).await else {
        panic!("begun")
    };
    assert!(write(&fixture, "one", &was).await);
    let before = fixture.dump().await;
    for too_low in [1, 2, 3, 1 + EPOCH_GAP] {
        let (keys, begins, by) = (keys(&fixture), begins(&fixture, too_low), operator());
        let refused = scripts::restore_end(&fixture.store, &keys, "one", &state, &begins, &by, "a test").await;
        assert!(refused.is_err(), "{too_low}");
    }
    let second = u64::try_from(at_ms).expect("a time") / 1_000;
    let ahead = end_with(&fixture, "one", &state, &begins(&fixture, second + 60)).await;
    assert!(
        matches!(ahead, RestoreEnded::Early(ms) if (59_000..=61_000).contains(&ms)),
        "{ahead:?}"
    );
    assert_eq!(fixture.dump().await, before, "nothing was written");
    let begun = begins(&fixture, second);
    let done = eventually(PATIENCE, "the second passes", async || {
        match end_with(&fixture, "one", &state, &begun).await {
            RestoreEnded::Early(ms) => {
                assert!(ms <= 1_000, "{ms}");
                None
            }
            other => Some(other),
        }
    })
    .await;
    assert!(matches!(done, RestoreEnded::Done(_)), "{done:?}");
    assert!(fixture.events().await[0].at_ms / 1_000 > at_ms / 1_000);
    assert_eq!(fixture.snapshot().await.epoch, second);
}

/// Otherwise a second restore of the same ledger within that second would begin a cycle with the same number.
#[tokio::test]
async fn the_second_that_numbers_a_cycle_of_a_restore_has_passed() {
    let mut change = by_amount(50, 100);
    change["tiers"][0]["cap"] = json!(200);
    let fixture = JackpotFixture::with(&change).await;
    fixture.take("a", 0).await;
    let was = raw(&fixture).await;
    let state = RestoredState {
        cycles: cycles(&fixture).await,
        ..restored(&was)
    };
    let RestoreBegun::Begun { at_ms } = begin(&fixture, "one", Some(fixture.snapshot().await.mark)).await else {
        panic!("begun")
    };
    assert!(write(&fixture, "one", &was).await);
    let now = at_ms / 1_000;
    let begun = |second: u64| Begins {
        prepared: state.cycles.prepared(&Preparing {
            jackpot: &fixture.id,
            secrets: &fixture.operate.views.secrets,
            nonce: [7; 16],
            renews: Some(Renews::AtLeast { second }),
            following: 1,
            now,
        }),
        ..begins(&fixture, state.epoch + EPOCH_GAP)
    };
    let before = fixture.dump().await;
    let ahead = u64::try_from(now).expect("a second") + 60;
    let early = end_with(&fixture, "one", &state, &begun(ahead)).await;
    assert!(
        matches!(early, RestoreEnded::Early(ms) if (59_000..=61_000).contains(&ms)),
        "{early:?}"
    );
    assert_eq!(fixture.dump().await, before, "nothing was written");
    let done = end_with(&fixture, "one", &state, &begun(0)).await;
    assert!(matches!(done, RestoreEnded::Done(_)), "{done:?}");
    let begun = open(&fixture).await;
    assert_eq!(begun.cycle, GAP, "a number that nobody has seen");
    let cap = begun.pins.0.and_then(|pins| pins.cap.0);
    assert_eq!((cap, begun.low.0, begun.high.0), (Some(200), Some(50), Some(100)));
}
