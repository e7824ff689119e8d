use super::*;
use serde_json::{Value, json};

fn good() -> Value {
    json!({"id": "spring", "name": "Spring wheel", "currency": "KRW", "contribution": {"fixed": 1},
        "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0, "cap": null, "must_hit_by": null}],
        "odds": {"total": 1_000_000, "ranks": [
            {"rank": 1, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}},
            {"rank": 3, "weight": 50_000, "prize": {"fixed": {"tier": "grand", "amount": 10}}}]}})
}

fn broken(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = good();
    change(&mut value);
    let document = serde_json::from_value(value).expect("well formed");
    let fields = Definition::check(document)
        .expect_err("refused")
        .into_iter()
        .map(|v| v.field);
    fields.collect()
}

#[test]
fn the_example_of_the_contract_is_taken_and_kept_as_sent() {
    let document: Document = serde_json::from_value(good()).expect("well formed");
    let definition = Definition::check(document).expect("valid");
    assert_eq!(definition.last_attempt(), 16);
    assert_eq!(definition.money_prize(1).map(|p| p.kind), Some(MoneyKind::All));
    assert_eq!(definition.money_prize(2), None);
    let shown = serde_json::to_value(definition.document()).expect("JSON");
    for (field, value) in good().as_object().expect("an object") {
        assert_eq!(&shown[field], value, "{field}");
    }
}

#[test]
fn each_rule_names_its_field() {
    assert_eq!(broken(|v| v["name"] = json!("")), ["name"]);
    assert_eq!(broken(|v| v["max_redraws"] = json!(101)), ["max_redraws"]);
    let amount = |low: u64, high: u64| json!({"amount": {"low": low, "high": high}});
    assert_eq!(
        broken(|v| v["tiers"][0]["must_hit_by"] = amount(99, 200)),
        ["tiers[0].must_hit_by.amount.low"]
    );
    assert_eq!(broken(|v| v["tiers"][0]["cap"] = json!(0)), ["tiers[0].cap"]);
    assert_eq!(
        broken(|v| {
            v["tiers"][0]["cap"] = json!(5);
            v["tiers"][0]["seed"] = json!(6);
        }),
        [
            "tiers[0].seed",
            "tiers[0].min_payout",
            "odds.ranks[1].prize.fixed.amount"
        ]
    );
    assert_eq!(
        broken(|v| v["tiers"] = json!([v["tiers"][0], v["tiers"][0]])),
        ["tiers[1].tier", "tiers"]
    );
    assert_eq!(broken(|v| v["odds"]["total"] = json!(0)), ["odds.total"]);
    assert_eq!(
        broken(|v| v["odds"]["ranks"][0]["weight"] = json!(960_000)),
        ["odds.ranks"]
    );
    assert_eq!(
        broken(|v| v["odds"]["ranks"][0]["rank"] = json!(0)),
        ["odds.ranks[0].rank"]
    );
    assert_eq!(
        broken(|v| v["odds"]["ranks"][0]["rank"] = json!(3)),
        ["odds.ranks[1].rank"]
    );
    assert_eq!(
        broken(|v| v["odds"]["ranks"][1]["prize"]["fixed"]["amount"] = json!(0)),
        ["odds.ranks[1].prize.fixed.amount"]
    );
    assert_eq!(
        broken(|v| v["odds"]["ranks"][1]["prize"]["fixed"]["tier"] = json!("mini")),
        ["odds.ranks[1].prize.fixed.tier"]
    );
    let share = json!({"pool": {"tier": "grand", "take": {"share_ppm": 0}}});
    assert_eq!(
        broken(|v| v["odds"]["ranks"][0]["prize"] = share),
        ["odds.ranks[0].prize.pool.take.share_ppm"]
    );
}

#[test]
fn odds_by_stake_need_a_largest_stake_that_fits_the_total() {
    let scaled = |per_stake: u64, max_stake: Value| {
        move |v: &mut Value| {
            v["odds"] = json!({"total": 1000, "per_stake": per_stake, "ranks": [
                {"rank": 1, "weight": 9, "prize": {"pool": {"tier": "grand", "take": "all"}}}]});
            v["max_stake"] = max_stake;
        }
    };
    assert_eq!(broken(scaled(0, json!(1000))), ["odds.per_stake"]);
    assert_eq!(broken(scaled(10, Value::Null)), ["max_stake"]);
    assert_eq!(broken(scaled(10, json!(9))), ["max_stake"]);
    assert_eq!(broken(scaled(10, json!(1120))), ["odds.ranks"]);
    let mut value = good();
    scaled(10, json!(1119))(&mut value);
    let definition = Definition::check(serde_json::from_value(value).expect("well formed")).expect("valid");
    let stake = |stake| definition.refuses_stake(Minor::try_from(stake).expect("in range"), false);
    assert_eq!(
        stake(9).as_deref(),
        Some("must be at least 10, the jackpot's odds.per_stake")
    );
    assert_eq!(stake(10), None);
}

#[test]
fn sources_are_checked_one_by_one() {
    let of = |source: Value| broken(|v| v["sources"] = json!({"s": source}));
    assert_eq!(
        of(json!({"contribution": {"fixed": 0}})),
        ["sources.s.contribution.fixed"]
    );
    assert_eq!(of(json!({"draw": "external"})), ["sources.s.keys"]);
    assert_eq!(of(json!({"keys": []})), ["sources.s.keys"]);
    assert_eq!(
        of(json!({"keys": ["a", "a:b", "a"]})),
        ["sources.s.keys[1]", "sources.s.keys[2]"]
    );
    let keys = (0..=MAX_SOURCE_KEYS).map(|i| format!("k{i}")).collect::<Vec<_>>();
    assert_eq!(of(json!({"keys": keys})), ["sources.s.keys"]);
    let many = (0..=MAX_SOURCES)
        .map(|i| (format!("s{i}"), json!({})))
        .collect::<serde_json::Map<_, _>>();
    assert_eq!(broken(|v| v["sources"] = Value::Object(many)), ["sources"]);
    let rate = json!({"lobby": {}, "slot": {"contribution": {"rate_ppm": 5}}});
    assert_eq!(
        broken(|v| {
            v["sources"] = rate.clone();
            v["min_stake"] = json!(0);
        }),
        ["min_stake"]
    );
    for wrong in [
        json!({"a:b": {}}),
        json!({"s": {"draw": "coin"}}),
        json!({"s": {"more": 1}}),
    ] {
        let mut value = good();
        value["sources"] = wrong;
        assert!(serde_json::from_value::<Document>(value).is_err());
    }
}

#[test]
fn the_smallest_stake_is_1_where_a_contribution_that_can_be_used_is_a_rate() {
    let least = |own: Value, sources: Value| {
        let mut value = good();
        (value["contribution"], value["sources"]) = (own, sources);
        serde_json::from_value::<Document>(value)
            .expect("well formed")
            .min_stake()
            .get()
    };
    let (fixed, rate) = (json!({"fixed": 1}), json!({"rate_ppm": 5}));
    let own = |contribution: &Value| json!({"s": {"contribution": contribution}});
    assert_eq!(least(fixed.clone(), json!({})), 0);
    assert_eq!(least(fixed.clone(), json!({"s": {}})), 0);
    assert_eq!(least(fixed.clone(), own(&rate)), 1);
    assert_eq!(least(rate.clone(), json!({"s": {}})), 1);
    assert_eq!(least(rate.clone(), own(&fixed)), 0, "nobody uses the jackpot's");
    assert_eq!(least(rate, json!({"s": {"contribution": {"fixed": 2}}, "t": {}})), 1);
}

#[test]
fn an_entry_names_a_source_and_only_an_external_one_brings_ranks() {
    let mut value = good();
    value["sources"] = json!({"lobby": {}, "slot": {"draw": "external", "keys": ["game-1"]}});
    value["max_redraws"] = json!(1);
    let checked = |value: &Value| Definition::check(serde_json::from_value(value.clone()).expect("well formed"));
    let definition = checked(&value).expect("valid");
    let refused = |source: Option<&str>, ranks: Option<&[u32]>| {
        let ranks = ranks.map(|ranks| Ranks::new(ranks.to_vec()).expect("ranks"));
        definition
            .refuses(Minor::ONE, source, ranks.as_ref())
            .map(|broken| broken.field)
    };
    assert_eq!(refused(None, None).as_deref(), Some("source_id"));
    assert_eq!(refused(Some("attic"), None).as_deref(), Some("source_id"));
    assert_eq!(refused(Some("lobby"), None), None);
    assert_eq!(refused(Some("lobby"), Some(&[1])).as_deref(), Some("ranks"));
    for wrong in [None, Some(&[99][..]), Some(&[1, 3, 0])] {
        assert_eq!(refused(Some("slot"), wrong).as_deref(), Some("ranks"), "{wrong:?}");
    }
    for right in [&[0][..], &[1], &[3, 0], &[3, 1]] {
        assert_eq!(refused(Some("slot"), Some(right)), None, "{right:?}");
    }
    assert!(definition.forbids(Some("slot"), "game-2") && !definition.forbids(Some("slot"), "game-1"));
    assert!(!definition.forbids(Some("lobby"), "game-2"));
    value["sources"] = json!({});
    let none = checked(&value).expect("valid");
    assert_eq!(none.refuses(Minor::ONE, Some("anything"), None), None);
    let ranks = Ranks::new(vec![1]).expect("ranks");
    assert!(none.refuses(Minor::ONE, None, Some(&ranks)).is_some());
}

#[test]
fn origins_are_checked_one_by_one() {
    assert_eq!(broken(|v| v["origins"] = json!(["*"])), ["origins[0]"]);
    let good = "https://games.example";
    assert_eq!(
        broken(|v| v["origins"] = json!([good, "x", good])),
        ["origins[1]", "origins[2]"]
    );
    let many: Vec<_> = (0..=MAX_ORIGINS).map(|i| format!("http://h{i}.example")).collect();
    assert_eq!(broken(|v| v["origins"] = json!(many)), ["origins"]);
}

#[test]
fn what_is_as_by_default_is_stored_as_before_there_was_a_field_for_it() {
    let stored = |change: &dyn Fn(&mut Value)| {
        let mut value = good();
        change(&mut value);
        let document = serde_json::from_value(value).expect("well formed");
        let definition = Definition::check(document).expect("valid");
        serde_json::to_value(definition.document()).expect("JSON")
    };
    let by_default = stored(&|v| {
        v["odds"]["per_stake"] = Value::Null;
        v["sources"] = json!({});
        v["origins"] = json!([]);
        v["winners"] = json!("masked");
    });
    assert_eq!(by_default, stored(&|_| {}));
    assert_eq!(
        (&by_default["origins"], &by_default["winners"]),
        (&Value::Null, &Value::Null)
    );
    let other = stored(&|v| {
        v["origins"] = json!(["http://localhost:3000"]);
        v["winners"] = json!("full");
    });
    assert_eq!(other["origins"], json!(["http://localhost:3000"]));
    assert_eq!(other["winners"], "full");
}

#[test]
fn a_definition_that_was_taken_before_it_was_refused_is_read_all_the_same() {
    let mut value = good();
    value["contribution"] = json!({"rate_ppm": 0});
    value["tiers"][0]["cap"] = json!(5);
    let document: Document = serde_json::from_value(value).expect("well formed");
    let fields = Definition::check(document.clone()).expect_err("refused");
    let fields = fields.iter().map(|v| v.field.as_str()).collect::<Vec<_>>();
    let expected = [
        "contribution.rate_ppm",
        "tiers[0].min_payout",
        "odds.ranks[1].prize.fixed.amount",
    ];
    assert_eq!(fields, expected);
    let stored = Definition::stored(document).expect("readable");
    assert_eq!(stored.refuses_stake(Minor::ONE, false), None);
    let rule = stored.refuses_stake(Minor::ZERO, false).expect("refused");
    assert_eq!(rule, "must be at least 1, the jackpot's min_stake");
}

#[test]
fn only_money_and_odds_change_the_digest() {
    let digest = |change: &dyn Fn(&mut Value)| {
        let mut value = good();
        change(&mut value);
        Definition::check(serde_json::from_value(value).expect("well formed"))
            .expect("valid")
            .money_digest()
    };
    let as_is = digest(&|_| {});
    assert_eq!(as_is, digest(&|v| v["name"] = json!("other")));
    assert_eq!(as_is, digest(&|v| v["public_meter"] = json!(true)));
    assert_eq!(as_is, digest(&|v| v["room"] = json!("lobby")));
    assert_eq!(as_is, digest(&|v| v["min_stake"] = json!(7)));
    assert_eq!(as_is, digest(&|v| v["sources"] = json!({"lobby": {"keys": ["a"]}})));
    let source = |source: Value| digest(&|v| v["sources"] = json!({"slot": source}));
    let (fixed, external) = (
        json!({"contribution": {"fixed": 2}}),
        json!({"draw": "external", "keys": ["a"]}),
    );
    let digests = BTreeSet::from([as_is.clone(), source(fixed), source(external.clone())]);
    assert_eq!(digests.len(), 3);
    assert_eq!(source(external), source(json!({"draw": "external", "keys": ["b"]})));
    assert_eq!(as_is, digest(&|v| v["winners"] = json!("off")));
    assert_eq!(as_is, digest(&|v| v["origins"] = json!(["https://games.example"])));
    assert_ne!(as_is, digest(&|v| v["max_redraws"] = json!(3)));
    assert_ne!(
        as_is,
        digest(&|v| {
            v["odds"]["per_stake"] = json!(10);
            v["max_stake"] = json!(10);
        })
    );
    assert_ne!(as_is, digest(&|v| v["tiers"][0]["cap"] = json!(9_000_000)));
}
fn taken(change: impl FnOnce(&mut Value)) -> Definition {
    let mut value = good();
    change(&mut value);
    Definition::check(serde_json::from_value(value).expect("well formed")).expect("valid")
}

#[test]
fn what_is_at_a_limit_is_taken_and_what_is_beyond_it_is_not() {
    let stakes = |min: u64, max: u64| {
        move |v: &mut Value| {
            v["min_stake"] = json!(min);
            v["max_stake"] = json!(max);
        }
    };
    let definition = taken(stakes(7, 7));
    let stake = |stake| definition.refuses_stake(Minor::try_from(stake).expect("in range"), true);
    assert_eq!((stake(7), stake(6).is_some(), stake(8).is_some()), (None, true, true));
    assert_eq!(broken(stakes(8, 7)), ["min_stake"]);
    let capped = |cap: u64, seed: u64| {
        move |v: &mut Value| {
            v["tiers"][0]["cap"] = json!(cap);
            v["tiers"][0]["seed"] = json!(seed);
            v["odds"]["ranks"][1]["prize"]["fixed"]["amount"] = json!(100);
        }
    };
    taken(capped(100, 100));
    assert_eq!(
        broken(capped(99, 0)),
        ["tiers[0].min_payout", "odds.ranks[1].prize.fixed.amount"]
    );
    let many = |tiers: u64| {
        move |v: &mut Value| {
            let tier = |i| json!({"tier": if i == 0 { "grand".to_owned() } else { format!("t{i}") }, "share_ppm": 1, "min_payout": 1});
            v["tiers"] = (0..tiers).map(tier).collect();
        }
    };
    taken(many(MAX_TIERS as u64));
    assert_eq!(broken(many(MAX_TIERS as u64 + 1)), ["tiers"]);
    let ranks = |ranks: usize| {
        move |v: &mut Value| {
            let rank = |i| json!({"rank": i, "weight": 1, "prize": {"pool": {"tier": "grand", "take": "all"}}});
            v["odds"]["ranks"] = (1..=ranks).map(rank).collect();
        }
    };
    taken(ranks(MAX_RANKS));
    assert_eq!(broken(ranks(MAX_RANKS + 1)), ["odds.ranks"]);
    assert_eq!(
        taken(|v| v["max_redraws"] = json!(MAX_REDRAWS)).last_attempt(),
        MAX_REDRAWS
    );
    let origins = (0..MAX_ORIGINS).map(|i| format!("http://h{i}.example"));
    taken(|v| v["origins"] = origins.collect());
}

#[test]
fn a_share_of_the_largest_pool_is_at_least_what_is_paid() {
    let takes = |share: u32, weight: u64, cap: u64| {
        move |v: &mut Value| {
            v["tiers"][0]["cap"] = json!(cap);
            v["odds"]["ranks"] = json!([
                {"rank": 1, "weight": weight, "prize": {"pool": {"tier": "grand", "take": {"share_ppm": share}}}}]);
        }
    };
    taken(takes(100_000, 1, 1_000));
    assert_eq!(
        broken(takes(99_999, 1, 1_000)),
        ["odds.ranks[0].prize.pool.take.share_ppm"]
    );
    taken(takes(99_999, 0, 1_000));
    assert_eq!(broken(takes(1, 1, 99)), ["tiers[0].min_payout"]);
    let kind = |share| taken(takes(share, 1, 1_000)).money_prize(1).map(|prize| prize.kind);
    assert_eq!(kind(1_000_000), Some(MoneyKind::All));
    assert_eq!(
        kind(500_000),
        Some(MoneyKind::Share(Ppm::try_from(500_000).expect("a share")))
    );
}

#[test]
fn a_contribution_that_adds_nothing_is_refused() {
    assert_eq!(
        broken(|v| v["contribution"] = json!({"fixed": 0})),
        ["contribution.fixed"]
    );
    assert_eq!(broken(|v| v["tiers"][0]["share_ppm"] = json!(0)), ["tiers"]);
    let rate = |max_stake: u64| {
        move |v: &mut Value| {
            v["contribution"] = json!({"rate_ppm": 1});
            v["tiers"][0]["share_ppm"] = json!(1_000);
            v["max_stake"] = json!(max_stake);
        }
    };
    taken(rate(1_000));
    assert_eq!(broken(rate(999)), ["contribution.rate_ppm"]);
}

#[test]
fn a_source_has_its_contribution_and_its_keys() {
    let definition = taken(|v| {
        v["room"] = json!("lobby");
        v["odds"]["ranks"][0]["prize"] = json!({"coupon": {"coupon_id": "spa"}});
        v["sources"] = json!({"a": {"keys": ["k1"]}, "b": {"keys": ["k1", "k2"], "contribution": {"fixed": 5}}});
    });
    let fixed = |amount| Contribution::Fixed(Minor::try_from(amount).expect("in range"));
    for (source, own, of) in [
        (Some("a"), None, fixed(1)),
        (Some("b"), Some(fixed(5)), fixed(5)),
        (Some("c"), None, fixed(1)),
        (None, None, fixed(1)),
    ] {
        let found = source.and_then(|source| definition.own_contribution(source));
        assert_eq!(found.map(|(_, contribution)| contribution), own, "{source:?}");
        assert_eq!(definition.contribution_of(source), of, "{source:?}");
    }
    let all = |key| definition.forbids_all(key);
    assert_eq!((all("k1"), all("k2"), all("k3")), (false, false, true));
    assert!(!taken(|_| {}).forbids_all("k3"), "without sources every key may");
    assert_eq!(definition.coupon_prize(1).map(Id::as_str), Some("spa"));
    assert_eq!((definition.coupon_prize(3), definition.money_prize(1)), (None, None));
    assert_eq!(definition.room().map(Id::as_str), Some("lobby"));
}
