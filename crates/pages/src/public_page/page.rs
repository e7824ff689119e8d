//! The page of a jackpot, for players.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_api::fairness::{CycleBody, EpochBody};
use jackpot_api::jackpot::{MeterNow, WinnerItem};
use jackpot_core::currency::Currency;
use jackpot_core::jackpot::cycle::EndedBy;
use jackpot_core::jackpot::document::Tier;
use jackpot_ui::Words;
use jackpot_ui::frame::Frame;
use jackpot_ui::money::money;
use jackpot_ui::plot::{Plot, Point};
use jackpot_ui::time::time;
use jiff::Timestamp;
use maud::{Markup, html};

use super::reading::{Line, Reading, WinnerList, rules};
use super::shown::{self, Kind};
use super::{CHECK, DRAW, PAGE, Public, TICKER, check};
use jackpot_kernel::http::inside::Inside;

/// How often a page without scripts loads itself again, in seconds.
const AGAIN_S: u32 = 10;
/// Winners, epochs and cycles in the page. The script has the first number too.
const WINNERS: usize = 10;
const EPOCHS: usize = 10;
const CYCLES: usize = 10;

pub async fn get(id: Path<String>, request: HttpRequest, inside: Inside, public: Data<Public>) -> HttpResponse {
    shown::answer(&public, &inside, &request, &id, Kind::Page, page).await
}

fn page(public: &Public, words: Words, reading: &Reading) -> String {
    let name = &reading.definition().name;
    let head = html! { noscript { meta http-equiv="refresh" content=(AGAIN_S); } };
    let frame = Frame {
        scripts: &[&TICKER, &PAGE, &DRAW, &CHECK],
        head: Some(&head),
        listed: true,
        ..Frame::new(words, name, "public")
    };
    let content = html! {
        a.skip href="#content" { (words.t("skip")) }
        header { div.heading { h1 { (name) } (status(words, &reading.meter)) } }
        main id="content" tabindex="-1" {
            (pools(words, reading))
            (winners(words, reading))
            (how(words, reading))
            (history(words, reading))
            (check::section(public, words, reading))
            (epochs(words, reading))
            (cycles(words, reading))
        }
        footer.hint { (links(words, &reading.meter.jackpot_id)) }
    };
    frame.around(&content).into_string()
}

/// The script changes it by the texts that it brings.
fn status(words: Words, meter: &MeterNow) -> Markup {
    let text = |status: &str| words.t(&format!("public-status-{status}"));
    let status = meter.stopped.as_ref().map_or(meter.status.as_str(), |_| "stopped");
    let reason = meter.stopped.as_ref().map(|stopped| stopped.reason.as_str());
    let class = match status {
        "open" => "badge good",
        "paused" => "badge warn",
        "suspended" | "stopped" => "badge bad",
        _ => "badge",
    };
    html! {
        span class=(class) id="status" data-status=(status) data-open=(text("open")) data-paused=(text("paused"))
            data-suspended=(text("suspended")) data-closed=(text("closed")) data-stopped=(text("stopped")) { (text(status)) }
        span id="stopped-reason" role="status" hidden[reason.is_none()] { (reason.unwrap_or_default()) }
    }
}

/// The pools, which tickers keep up to date.
fn pools(words: Words, reading: &Reading) -> Markup {
    let (id, currency) = (&reading.meter.jackpot_id, reading.definition().currency);
    let many = reading.meter.meters.len() > 1;
    html! {
        section.pools aria-label=(words.t("public-pools")) {
            @for meter in &reading.meter.meters {
                @let label = words.tv("public-pool", [("tier", (&meter.tier).into())]);
                div.pool-of.many[many] {
                    h2.hint { (label) }
                    p.pool {
                        jackpot-ticker jackpot=(id) tier=(meter.tier) currency=(currency) digits=(currency.digits())
                            locale=(words.0.code()) label=(label) { (money(words.0, currency.amount(meter.pool))) }
                    }
                }
            }
        }
    }
}

fn winners(words: Words, reading: &Reading) -> Markup {
    let list = match &reading.winners {
        WinnerList::Off => return html! {},
        WinnerList::Away => None,
        WinnerList::Shown(list) => Some(list),
    };
    let currency = reading.definition().currency;
    // How the script writes amounts.
    let zero = money(words.0, currency.amount(0));
    let (prefix, rest) = zero.split_once('0').unwrap_or_default();
    let suffix = rest.trim_start_matches(['.', '0']);
    let stream = format!("/v1/jackpots/{}/winners/stream", reading.meter.jackpot_id);
    html! {
        section.panel id="winners-part" {
            h2 { (words.t("public-winners")) }
            @match list {
                None => p.note.warn { (words.t("public-winners-away")) },
                Some(list) => {
                    p.empty id="winners-none" hidden[!list.is_empty()] { (words.t("jackpot-winners-none")) }
                    ul.winners id="winners" hidden[list.is_empty()] data-stream=(stream) data-prefix=(prefix) data-suffix=(suffix) data-digits=(currency.digits()) {
                        @for winner in list.iter().take(WINNERS) { (row(words, winner, currency)) }
                    }
                },
            }
        }
    }
}

fn row(words: Words, winner: &WinnerItem, currency: Currency) -> Markup {
    html! {
        li {
            span { b { (winner.player) } small { (time(&winner.at)) } }
            span.number { b { (money(words.0, currency.amount(winner.amount))) } small { (winner.tier) } }
        }
    }
}

/// The rules in words.
fn how(words: Words, reading: &Reading) -> Markup {
    let (definition, id) = (reading.definition(), &reading.meter.jackpot_id);
    let rules = rules(words, definition);
    let of_tier = |tier: &Tier| {
        html! {
            @if definition.tiers.len() > 1 { h3 { (words.tv("public-pool", [("tier", tier.tier.as_str().into())])) } }
            ul { @for sentence in rules.of_tier(tier) { li { (sentence) } } }
        }
    };
    html! {
        section.panel.stack {
            h2 { (words.t("rules")) }
            ul { @for sentence in rules.sentences() { li { (sentence) } } }
            div.scroll tabindex="0" role="region" aria-label=(words.t("rules-prizes")) { (rules.table()) }
            @for tier in &definition.tiers { (of_tier(tier)) }
            p { (rules.fairness(id)) " " a href="#check" { (words.t("check-title")) } }
            p.hint { (words.tv("rules-version", [("version", definition.version.into())])) }
        }
    }
}

fn history(words: Words, reading: &Reading) -> Markup {
    let lines = reading.history.iter().filter(|line| line.points.len() > 1);
    html! { @for line in lines { (plot(words, line, reading.definition().currency)) } }
}

fn plot(words: Words, line: &Line, currency: Currency) -> Markup {
    let label = words.tv("public-history", [("tier", (&line.tier).into())]);
    let plot = Plot {
        label: &label,
        points: &line.points,
        value: &|value| money(words.0, currency.amount(value)),
        time: &|at| moment(at, &line.points),
    };
    html! {
        figure.panel {
            figcaption { h2 { (label) } }
            div.scroll tabindex="0" role="region" aria-label=(label) { (plot.svg()) }
        }
    }
}

/// A time at the axis, in UTC: the hour of a short line, with its day on a long one.
fn moment(at_ms: i64, points: &[Point]) -> String {
    const DAY_MS: i64 = 86_400_000;
    let range = points.first().zip(points.last());
    let is_long = range.is_some_and(|(first, last)| last.at_ms - first.at_ms >= DAY_MS);
    let at = Timestamp::from_millisecond(at_ms).map_or(String::new(), |at| at.to_string());
    let (date, time) = at.split_once('T').unwrap_or_default();
    let (day, hour) = (date.get(5..).unwrap_or_default(), time.get(..5).unwrap_or_default());
    if is_long {
        format!("{day} {hour}")
    } else {
        hour.to_owned()
    }
}

fn epochs(words: Words, reading: &Reading) -> Markup {
    html! {
        section.panel.stack {
            h2 { (words.t("public-epochs")) }
            p { (words.t("public-epochs-about")) }
            @if reading.epochs.is_empty() { p.note.warn { (words.t("public-epochs-away")) } }
            @for epoch in reading.epochs.iter().rev().take(EPOCHS) { (one_epoch(words, epoch)) }
        }
    }
}

fn one_epoch(words: Words, epoch: &EpochBody) -> Markup {
    let state = match (&epoch.closed_at, &epoch.seed) {
        (None, _) => "public-epoch-open",
        (Some(_), None) => "public-epoch-closed",
        (Some(_), Some(_)) => "public-epoch-published",
    };
    html! {
        details {
            summary { (words.tv("public-epoch", [("epoch", epoch.epoch.into())])) " · " (words.t(state)) }
            dl.facts {
                dt { (words.t("jackpot-opened")) } dd { (time(&epoch.opened_at)) }
                @if let Some(at) = &epoch.closed_at { dt { (words.t("jackpot-closed")) } dd { (time(at)) } }
                dt { (words.t("jackpot-commitment")) } dd.mono { (epoch.commitment) }
                @if let Some(seed) = &epoch.seed { dt { (words.t("jackpot-seed")) } dd.mono { (seed) } }
            }
        }
    }
}

/// The last cycles, of jackpots with a must-hit rule.
fn cycles(words: Words, reading: &Reading) -> Markup {
    if reading.cycles.is_empty() {
        return html! {};
    }
    let currency = reading.definition().currency;
    html! {
        section.panel.stack id="cycles" {
            h2 { (words.t("public-cycles")) }
            p { (words.t("public-cycles-about")) }
            @for cycle in reading.cycles.iter().rev().take(CYCLES) { (one_cycle(words, cycle, currency)) }
        }
    }
}

fn one_cycle(words: Words, cycle: &CycleBody, currency: Currency) -> Markup {
    let state = format!("public-cycle-{}", cycle.ended_by.map_or("open", EndedBy::as_str));
    let named = [("tier", (&cycle.tier).into()), ("cycle", cycle.cycle.into())];
    let amount = |amount: u64| money(words.0, currency.amount(amount));
    html! {
        details {
            summary { (words.tv("public-cycle", named)) " · " (words.t(&state)) }
            dl.facts {
                dt { (words.t("cycle-began")) } dd { (time(&cycle.began_at)) }
                @if let Some((low, high)) = cycle.low.zip(cycle.high) {
                    dt { (words.t("cycle-amount")) } dd { (amount(low)) " – " (amount(high)) }
                }
                @if let Some(at) = &cycle.from_at { dt { (words.t("cycle-from")) } dd { (time(at)) } }
                @if let Some(at) = &cycle.deadline_at { dt { (words.t("cycle-deadline")) } dd { (time(at)) } }
                @if let Some(at) = &cycle.ended_at { dt { (words.t("cycle-ended")) } dd { (time(at)) } }
                @if let Some(trigger) = cycle.trigger_amount { dt { (words.t("cycle-trigger-amount")) } dd { (amount(trigger)) } }
                @if let Some(at) = &cycle.trigger_at { dt { (words.t("cycle-trigger-at")) } dd { (time(at)) } }
                dt { (words.t("jackpot-commitment")) } dd.mono { (cycle.commitment) }
                @if let Some(seed) = &cycle.seed { dt { (words.t("jackpot-seed")) } dd.mono { (seed) } }
            }
        }
    }
}

fn links(words: Words, id: &str) -> Markup {
    html! {
        p { (words.t("public-live")) }
        p.row {
            a href=(format!("/v1/jackpots/{id}/fairness")) { (words.t("public-all-epochs")) }
            a href="/v1/keys" { (words.t("public-keys")) }
            a href="/docs" { (words.t("public-docs")) }
        }
    }
}
