//! A definition as a list of its parts in words, so that two can be compared line by line.

use jackpot_core::jackpot::document::{Contribution, Document, Prize, Take, Tier};
use jackpot_core::money::Minor;
use jackpot_ui::Words;
use jackpot_ui::money::{grouped, money, percent};

use super::fields;

/// What it is, and what it says.
pub type Part = (String, String);

/// The parts, in the order of the form.
pub fn of(words: Words, document: &Document) -> Vec<Part> {
    let amount = |amount: Minor| money(words.0, document.currency.amount(amount));
    let or_none = |found: Option<Minor>| found.map_or_else(|| words.t("none"), amount);
    let share = |ppm: u32| format!("{} %", percent(ppm));
    let contribution = |of: Contribution| match of {
        Contribution::Fixed(fixed) => words.tv("part-fixed", [("amount", amount(fixed).into())]),
        Contribution::RatePpm(rate) => words.tv("part-rate", [("share", share(rate.get()).into())]),
    };
    let mut parts = vec![
        (words.t("define-name"), document.name.clone()),
        (words.t("define-currency"), document.currency.to_string()),
        (words.t("define-contribution"), contribution(document.contribution)),
    ];
    for tier in &document.tiers {
        let what = |name: &str| format!("{} · {}", tier.tier, words.t(name));
        parts.extend([
            (what("define-share"), share(tier.share_ppm.get())),
            (what("define-min-payout"), amount(tier.min_payout)),
            (what("define-seed"), amount(tier.seed)),
            (what("define-reserve"), share(tier.reserve_ppm.get())),
            (what("define-cap"), or_none(tier.cap)),
            (what("define-must-hit"), must_hit(words, tier, &amount)),
        ]);
    }
    for rank in &document.odds.ranks {
        let what = words.tv("part-rank", [("rank", u64::from(rank.rank).into())]);
        let chance = [("weight", rank.weight.into()), ("total", document.odds.total.into())];
        let chance = words.tv("part-chance", chance);
        let prize = prize(words, &rank.prize, &amount, &share);
        parts.push((what, format!("{chance}: {prize}")));
    }
    let room = document.room.as_ref();
    parts.extend([
        (words.t("define-total"), grouped(u128::from(document.odds.total))),
        (words.t("define-per-stake"), or_none(document.odds.per_stake)),
        (words.t("define-redraws"), document.max_redraws.to_string()),
        (words.t("define-min-stake"), amount(document.min_stake())),
        (words.t("define-max-stake"), or_none(document.max_stake)),
        (
            words.t("define-room"),
            room.map_or_else(|| words.t("none"), ToString::to_string),
        ),
    ]);
    for (id, source) in &document.sources {
        let what = words.tv("part-source", [("source", id.as_str().into())]);
        let own = source.contribution.map(contribution);
        let contribution = own.unwrap_or_else(|| words.t("source-contribution-jackpot"));
        let draw = words.t(&format!("source-draw-{}", source.draw.as_str()));
        let keys = source
            .keys
            .as_ref()
            .map_or_else(|| words.t("source-keys-all"), |keys| keys.join(", "));
        parts.push((what, format!("{contribution} · {draw} · {keys}")));
    }
    let value = |of: &str, value: &str| words.t(&format!("{of}-{value}"));
    let public = if document.public_meter { "yes" } else { "no" };
    let origins = match document.origins.as_slice() {
        [] => words.t("none"),
        origins => origins.join(", "),
    };
    parts.extend([
        (words.t("define-reverse-within"), document.reverse_within_s.to_string()),
        (
            words.t("define-reverse-by"),
            value("reverse-by", document.reverse_by.as_str()),
        ),
        (words.t("define-public-meter"), words.t(public)),
        (
            words.t("define-winners"),
            value("winners", fields::winners(document.winners)),
        ),
        (
            words.t("define-settlement"),
            value("settlement", document.settlement.as_str()),
        ),
        (words.t("define-approval-above"), or_none(document.approval_above)),
        (words.t("define-origins"), origins),
    ]);
    parts
}

/// By when a pool must be hit, in words.
fn must_hit(words: Words, tier: &Tier, amount: &dyn Fn(Minor) -> String) -> String {
    let Some(rule) = &tier.must_hit_by else {
        return words.t("none");
    };
    let mut parts = Vec::new();
    if let Some(by) = &rule.amount {
        let of = [("low", amount(by.low).into()), ("high", amount(by.high).into())];
        parts.push(words.tv("part-must-hit-amount", of));
    }
    if let Some(by) = &rule.time {
        let of = [
            ("after", u64::from(by.after_s).into()),
            ("within", u64::from(by.within_s).into()),
        ];
        parts.push(words.tv("part-must-hit-time", of));
    }
    if let Some(by) = &rule.daily {
        let of = [("at", by.at.as_str().into()), ("zone", by.zone.as_str().into())];
        parts.push(words.tv("part-must-hit-daily", of));
    }
    parts.join(" · ")
}

pub fn prize(words: Words, prize: &Prize, amount: &dyn Fn(Minor) -> String, share: &dyn Fn(u32) -> String) -> String {
    match prize {
        Prize::Pool(pool) => match pool.take {
            Take::All => words.tv("part-all", [("tier", pool.tier.as_str().into())]),
            Take::SharePpm(ppm) => words.tv(
                "part-share",
                [("share", share(ppm.get()).into()), ("tier", pool.tier.as_str().into())],
            ),
        },
        Prize::Fixed(fixed) => words.tv(
            "part-amount",
            [
                ("amount", amount(fixed.amount).into()),
                ("tier", fixed.tier.as_str().into()),
            ],
        ),
        Prize::Coupon(coupon) => words.tv("part-coupon", [("coupon", coupon.coupon_id.as_str().into())]),
    }
}
