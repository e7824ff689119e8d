//! The fields of a definition. Each has the name that the API has for it, so that an error of the API is beside its field.
//! Amounts are written in the unit of the currency, shares in percent.

use jackpot_core::jackpot::definition::MAX_RANKS;
use jackpot_core::jackpot::document::{
    Contribution, Document, DrawnBy, Prize, Rank, ReverseBy, Source, Take, Tier, Winners,
};
use jackpot_core::jackpot::settlement::Settlement;
use jackpot_core::money::{Minor, Ppm};
use jackpot_ui::Words;
use jackpot_ui::money::{percent, plain};
use maud::{Markup, html};

use super::ROW;
use crate::console::form::choices;
use crate::console::{Field, Form, Kind};

/// Values of the prize's kind.
pub const PRIZES: [&str; 4] = ["all", "share", "fixed", "coupon"];
/// Values of the contribution's kind.
pub const CONTRIBUTIONS: [&str; 2] = ["fixed", "rate"];
/// Values of the contribution's kind of a source: the jackpot's, or one of its own.
pub const SOURCE_CONTRIBUTIONS: [&str; 3] = ["jackpot", "fixed", "rate"];
/// Values of the winners' list.
pub const WINNERS: [&str; 3] = ["masked", "full", "off"];

/// Puts a definition into a form.
pub fn fill(form: &mut Form, document: &Document) {
    let amount = |amount: Minor| plain(u64::from(amount), document.currency);
    let maybe = |found: Option<Minor>| found.map(amount).unwrap_or_default();
    form.set("id", document.id.as_str());
    form.set("name", &document.name);
    form.set("currency", document.currency.as_str());
    let (kind, value) = match document.contribution {
        Contribution::Fixed(fixed) => (CONTRIBUTIONS[0], amount(fixed)),
        Contribution::RatePpm(rate) => (CONTRIBUTIONS[1], percent(rate.get())),
    };
    form.set("contribution.kind", kind);
    form.set("contribution", value);
    for (index, tier) in document.tiers.iter().enumerate() {
        fill_tier(form, index, tier, &amount);
    }
    form.set("odds.total", document.odds.total.to_string());
    form.set("odds.per_stake", maybe(document.odds.per_stake));
    for (index, rank) in document.odds.ranks.iter().enumerate() {
        fill_rank(form, index, rank, &amount);
    }
    form.set("max_redraws", document.max_redraws.to_string());
    form.set("min_stake", maybe(document.min_stake));
    form.set("max_stake", maybe(document.max_stake));
    form.set("public_meter", document.public_meter.to_string());
    form.set("winners", winners(document.winners));
    form.set("settlement", document.settlement.as_str());
    form.set("approval_above", maybe(document.approval_above));
    form.set("reverse_within_s", document.reverse_within_s.to_string());
    form.set("reverse_by", document.reverse_by.as_str());
    form.set("origins", document.origins.join("\n"));
    form.set("room", document.room.as_ref().map_or("", |room| room.as_str()));
    for (index, (id, source)) in document.sources.iter().enumerate() {
        fill_source(form, index, id.as_str(), source, &amount);
    }
}

fn fill_source(form: &mut Form, index: usize, id: &str, source: &Source, amount: &dyn Fn(Minor) -> String) {
    let mut set = |name: &str, value: String| form.set(&source_field(index, name), value);
    let (kind, value) = match source.contribution {
        None => (SOURCE_CONTRIBUTIONS[0], String::new()),
        Some(Contribution::Fixed(fixed)) => (SOURCE_CONTRIBUTIONS[1], amount(fixed)),
        Some(Contribution::RatePpm(rate)) => (SOURCE_CONTRIBUTIONS[2], percent(rate.get())),
    };
    set("source_id", id.to_owned());
    set("contribution.kind", kind.to_owned());
    set("contribution", value);
    set("draw", source.draw.as_str().to_owned());
    set("keys", source.keys.as_deref().unwrap_or_default().join("\n"));
}

/// The list's word in the API.
pub fn winners(winners: Winners) -> &'static str {
    match winners {
        Winners::Off => "off",
        Winners::Masked => "masked",
        Winners::Full => "full",
    }
}

fn fill_tier(form: &mut Form, index: usize, tier: &Tier, amount: &dyn Fn(Minor) -> String) {
    let mut set = |name: &str, value: String| form.set(&tier_field(index, name), value);
    set("tier", tier.tier.to_string());
    set("share_ppm", percent(tier.share_ppm.get()));
    set("min_payout", amount(tier.min_payout));
    set("seed", amount(tier.seed));
    set("reserve_ppm", percent(tier.reserve_ppm.get()));
    set("cap", tier.cap.map(amount).unwrap_or_default());
    let rule = tier.must_hit_by.as_ref();
    let by_amount = rule.and_then(|rule| rule.amount);
    let (low, high) = by_amount
        .map(|by| (amount(by.low), amount(by.high)))
        .unwrap_or_default();
    set("must_hit_by.amount.low", low);
    set("must_hit_by.amount.high", high);
    let by_time = rule.and_then(|rule| rule.time);
    let by_time = by_time.map(|by| (by.after_s.to_string(), by.within_s.to_string()));
    let (after, within) = by_time.unwrap_or_default();
    set("must_hit_by.time.after_s", after);
    set("must_hit_by.time.within_s", within);
    let by_day = rule.and_then(|rule| rule.daily.clone());
    let (at, zone) = by_day.map(|by| (by.at, by.zone)).unwrap_or_default();
    set("must_hit_by.daily.at", at);
    set("must_hit_by.daily.zone", zone);
}

fn fill_rank(form: &mut Form, index: usize, rank: &Rank, amount: &dyn Fn(Minor) -> String) {
    let share = |share: Ppm| percent(share.get());
    let (kind, tier, value, coupon) = match &rank.prize {
        Prize::Pool(pool) => match pool.take {
            Take::All => ("all", pool.tier.as_str(), String::new(), ""),
            Take::SharePpm(ppm) => ("share", pool.tier.as_str(), share(ppm), ""),
        },
        Prize::Fixed(fixed) => ("fixed", fixed.tier.as_str(), amount(fixed.amount), ""),
        Prize::Coupon(coupon) => ("coupon", "", String::new(), coupon.coupon_id.as_str()),
    };
    let mut set = |name: &str, value: String| form.set(&rank_field(index, name), value);
    set("rank", rank.rank.to_string());
    set("weight", rank.weight.to_string());
    set("prize", kind.to_owned());
    set("tier", tier.to_owned());
    set("value", value);
    set("coupon_id", coupon.to_owned());
}

pub fn tier_field(index: usize, name: &str) -> String {
    format!("tiers[{index}].{name}")
}

pub fn rank_field(index: usize, name: &str) -> String {
    format!("odds.ranks[{index}].{name}")
}

pub fn source_field(index: usize, name: &str) -> String {
    format!("sources[{index}].{name}")
}

/// The number of rows in a form.
pub fn tiers(form: &Form) -> usize {
    rows(form, |index| tier_field(index, "tier"))
}

pub fn ranks(form: &Form) -> usize {
    rows(form, |index| rank_field(index, "rank"))
}

pub fn sources(form: &Form) -> usize {
    rows(form, |index| source_field(index, "source_id"))
}

fn rows(form: &Form, name: impl Fn(usize) -> String) -> usize {
    (0..MAX_RANKS).take_while(|index| form.has(&name(*index))).count()
}

const TIER_FIELDS: [&str; 12] = [
    "tier",
    "share_ppm",
    "min_payout",
    "seed",
    "reserve_ppm",
    "cap",
    "must_hit_by.amount.low",
    "must_hit_by.amount.high",
    "must_hit_by.time.after_s",
    "must_hit_by.time.within_s",
    "must_hit_by.daily.at",
    "must_hit_by.daily.zone",
];
const RANK_FIELDS: [&str; 6] = ["rank", "weight", "prize", "tier", "value", "coupon_id"];

const SOURCE_FIELDS: [&str; 5] = ["source_id", "contribution.kind", "contribution", "draw", "keys"];

/// Adds or removes a row: `add-tier`, `add-rank`, `add-source`, `remove-tier-2`, `remove-rank-0`.
pub fn change_rows(form: &mut Form, wish: &str) {
    match wish {
        "add-tier" => add(form, tiers(form), tier_field, &TIER_FIELDS),
        "add-source" => add(form, sources(form), source_field, &SOURCE_FIELDS),
        "add-rank" => {
            let next = ranks(form);
            let highest = (0..next)
                .filter_map(|index| form.get(&rank_field(index, "rank")).parse::<u32>().ok())
                .max();
            add(form, next, rank_field, &RANK_FIELDS);
            form.set(
                &rank_field(next, "rank"),
                highest.map_or(1, |rank| rank.saturating_add(1)).to_string(),
            );
            form.set(&rank_field(next, "prize"), PRIZES[0]);
            form.set(&rank_field(next, "tier"), form.get(&tier_field(0, "tier")).to_owned());
        }
        _ => {
            let number = |prefix: &str| wish.strip_prefix(prefix)?.parse().ok();
            if let Some(row) = number("remove-tier-") {
                remove(form, row, tiers(form), tier_field, &TIER_FIELDS);
            } else if let Some(row) = number("remove-rank-") {
                remove(form, row, ranks(form), rank_field, &RANK_FIELDS);
            } else if let Some(row) = number("remove-source-") {
                remove(form, row, sources(form), source_field, &SOURCE_FIELDS);
            }
        }
    }
}

type Name = fn(usize, &str) -> String;

fn add(form: &mut Form, index: usize, name: Name, fields: &[&str]) {
    for field in fields {
        form.set(&name(index, field), "");
    }
}

/// Removes a row; those after it move up.
fn remove(form: &mut Form, row: usize, rows: usize, name: Name, fields: &[&str]) {
    for index in row..rows {
        for field in fields {
            let next = name(index + 1, field);
            if index + 1 < rows {
                let value = form.get(&next).to_owned();
                form.set(&name(index, field), value);
            } else {
                form.remove_all(&name(index, field));
            }
        }
    }
}

/// The field of the form for a field of the API.
pub fn name_of(form: &Form, field: &str) -> String {
    if form.has(field) {
        return field.to_owned();
    }
    // A part of a prize.
    if let Some((row, part)) = field.split_once(".prize.") {
        let last = part.rsplit('.').next().unwrap_or_default();
        let own = match last {
            "tier" | "coupon_id" => last,
            "amount" | "share_ppm" => "value",
            _ => "prize",
        };
        return format!("{row}.{own}");
    }
    if let Some(of_source) = field
        .strip_prefix("sources.")
        .and_then(|rest| name_of_source(form, rest))
    {
        return of_source;
    }
    // A list, or a part of a value that is one field here.
    let parent = field.split(['.', '[']).next().unwrap_or_default();
    match parent {
        "tiers" => tier_field(0, "share_ppm"),
        "odds" => "odds.total".to_owned(),
        parent => parent.to_owned(),
    }
}

/// The field of a source for what the API names `id.field`; an id may have dots.
fn name_of_source(form: &Form, rest: &str) -> Option<String> {
    let is_of = |index: &usize| {
        let id = form.get(&source_field(*index, "source_id"));
        rest.strip_prefix(id).is_some_and(|field| field.starts_with('.'))
    };
    let index = (0..sources(form)).find(is_of)?;
    let field = &rest[form.get(&source_field(index, "source_id")).len() + 1..];
    let own = field.split(['.', '[']).next().filter(|own| SOURCE_FIELDS.contains(own));
    Some(source_field(index, own.unwrap_or("source_id")))
}

/// All fields. `kept_tiers`: so many tiers can't be removed.
pub fn form(words: Words, form: &Form, is_new: bool, kept_tiers: usize) -> Markup {
    let field = |name: &str, label: &str, kind: Kind<'_>| Field::new(name, &words.t(label), kind).of(form);
    let hinted = |name: &str, label: &str, hint: &str, kind: Kind<'_>| {
        Field::new(name, &words.t(label), kind)
            .hint(&words.t(hint))
            .optional()
            .of(form)
    };
    let contributions = choices(words, "contribution", &CONTRIBUTIONS);
    html! {
        fieldset.panel.stack { legend { (words.t("define-head")) }
            div.fields {
                @if is_new { (field("id", "define-id", Kind::Text)) } @else if let Some(error) = form.error("id") { p.error id="f-id" { (error) } }
                (field("name", "define-name", Kind::Text))
                (field("currency", "define-currency", Kind::Text))
            }
            div.fields {
                (field("contribution.kind", "define-contribution-kind", Kind::Choice(&contributions)))
                (field("contribution", "define-contribution", Kind::Amount))
            }
        }
        fieldset.panel.stack { legend { (words.t("define-tiers")) }
            p.hint { (words.t("define-tiers-hint")) }
            @for index in 0..tiers(form) { (tier(words, form, index, index >= kept_tiers && tiers(form) > 1)) }
            button name=(ROW) value="add-tier" { (words.t("define-add-tier")) }
        }
        fieldset.panel.stack { legend { (words.t("define-odds")) }
            p.hint { (words.t("define-odds-hint")) }
            div.fields {
                (field("odds.total", "define-total", Kind::Number))
                (hinted("odds.per_stake", "define-per-stake", "define-per-stake-hint", Kind::Amount))
                (field("max_redraws", "define-redraws", Kind::Number))
            }
            @for index in 0..ranks(form) { (rank(words, form, index)) }
            button name=(ROW) value="add-rank" { (words.t("define-add-rank")) }
        }
        fieldset.panel.stack { legend { (words.t("define-entries")) }
            div.fields {
                (hinted("min_stake", "define-min-stake", "define-min-stake-hint", Kind::Amount))
                (hinted("max_stake", "define-max-stake", "define-max-stake-hint", Kind::Amount))
                (hinted("room", "define-room", "define-room-hint", Kind::Text))
                (field("reverse_within_s", "define-reverse-within", Kind::Number))
                (field("reverse_by", "define-reverse-by", Kind::Choice(&choices(words, "reverse-by", &ReverseBy::NAMES))))
            }
        }
        fieldset.panel.stack { legend { (words.t("define-settlements")) }
            div.fields {
                (field("settlement", "define-settlement", Kind::Choice(&choices(words, "settlement", &Settlement::NAMES))))
                (hinted("approval_above", "define-approval-above", "define-approval-above-hint", Kind::Amount))
            }
        }
        fieldset.panel.stack { legend { (words.t("define-sources")) }
            p.hint { (words.t("define-sources-hint")) }
            @for index in 0..sources(form) { (source(words, form, index)) }
            button name=(ROW) value="add-source" { (words.t("define-add-source")) }
        }
        fieldset.panel.stack { legend { (words.t("define-public")) }
            (field("public_meter", "define-public-meter", Kind::Check))
            div.fields {
                (field("winners", "define-winners", Kind::Choice(&choices(words, "winners", &WINNERS))))
                (hinted("origins", "define-origins", "define-origins-hint", Kind::Lines))
            }
        }
    }
}

fn tier(words: Words, form: &Form, index: usize, may_go: bool) -> Markup {
    let name = |field: &str| tier_field(index, field);
    let field = |of: &str, label: &str, kind: Kind<'_>| Field::new(&name(of), &words.t(label), kind).of(form);
    let optional = |of: &str, label: &str| Field::new(&name(of), &words.t(label), Kind::Amount).optional().of(form);
    let rule = |of: &str, label: &str, kind: Kind<'_>| {
        let name = name(&format!("must_hit_by.{of}"));
        Field::new(&name, &words.t(label), kind).optional().of(form)
    };
    html! {
        fieldset { legend { (words.tv("define-tier", [("number", (index + 1).into())])) }
            div.fields {
                (field("tier", "define-tier-name", Kind::Text))
                (field("share_ppm", "define-share", Kind::Amount))
                (field("min_payout", "define-min-payout", Kind::Amount))
                (optional("seed", "define-seed"))
                (optional("reserve_ppm", "define-reserve"))
                (optional("cap", "define-cap"))
            }
            p.hint { (words.t("define-must-hit-hint")) }
            div.fields {
                (rule("amount.low", "define-must-hit-low", Kind::Amount))
                (rule("amount.high", "define-must-hit-high", Kind::Amount))
                (rule("time.after_s", "define-must-hit-after", Kind::Number))
                (rule("time.within_s", "define-must-hit-within", Kind::Number))
                (rule("daily.at", "define-must-hit-at", Kind::Text))
                (rule("daily.zone", "define-must-hit-zone", Kind::Text))
            }
            @if may_go { p { button.plain name=(ROW) value=(format!("remove-tier-{index}")) { (words.tv("define-remove-tier", [("number", (index + 1).into())])) } } }
        }
    }
}

fn source(words: Words, form: &Form, index: usize) -> Markup {
    let name = |field: &str| source_field(index, field);
    let field = |of: &str, label: &str, kind: Kind<'_>| Field::new(&name(of), &words.t(label), kind).of(form);
    let optional =
        |of: &str, label: &str, kind: Kind<'_>| Field::new(&name(of), &words.t(label), kind).optional().of(form);
    let contributions = choices(words, "source-contribution", &SOURCE_CONTRIBUTIONS);
    html! {
        fieldset { legend { (words.tv("define-source", [("number", (index + 1).into())])) }
            div.fields {
                (field("source_id", "source-id", Kind::Text))
                (field("contribution.kind", "define-contribution-kind", Kind::Choice(&contributions)))
                (optional("contribution", "define-contribution", Kind::Amount))
                (field("draw", "define-source-draw", Kind::Choice(&choices(words, "source-draw", &DrawnBy::NAMES))))
                (optional("keys", "define-source-keys", Kind::Lines))
            }
            p { button.plain name=(ROW) value=(format!("remove-source-{index}")) { (words.tv("define-remove-source", [("number", (index + 1).into())])) } }
        }
    }
}

fn rank(words: Words, form: &Form, index: usize) -> Markup {
    let name = |field: &str| rank_field(index, field);
    let field = |of: &str, label: &str, kind: Kind<'_>| Field::new(&name(of), &words.t(label), kind).of(form);
    let optional =
        |of: &str, label: &str, kind: Kind<'_>| Field::new(&name(of), &words.t(label), kind).optional().of(form);
    let prizes = choices(words, "prize", &PRIZES);
    let tiers = (0..tiers(form)).map(|tier| form.get(&tier_field(tier, "tier")));
    let tiers: Vec<_> = tiers.map(|tier| (tier.to_owned(), tier.to_owned())).collect();
    html! {
        fieldset { legend { (words.tv("define-rank", [("number", (index + 1).into())])) }
            div.fields {
                (field("rank", "define-rank-number", Kind::Number))
                (field("weight", "define-weight", Kind::Number))
                (field("prize", "define-prize", Kind::Choice(&prizes)))
                (optional("tier", "define-prize-tier", Kind::Choice(&tiers)))
                (optional("value", "define-prize-value", Kind::Amount))
                (optional("coupon_id", "define-prize-coupon", Kind::Text))
            }
            p { button.plain name=(ROW) value=(format!("remove-rank-{index}")) { (words.tv("define-remove-rank", [("number", (index + 1).into())])) } }
        }
    }
}
