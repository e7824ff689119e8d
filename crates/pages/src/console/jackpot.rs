//! One jackpot: its meters and their history, its definition and the waiting one, its winners, its epochs, and what an
//! operator can do with it.

use actix_web::HttpResponse;
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::fairness::{CycleBody, Fairness};
use jackpot_api::jackpot::{MeterHistory, Status};
use jackpot_api::payout::ListedPayout;
use jackpot_core::clock::parse_rfc3339;
use jackpot_core::jackpot::cycle::EndedBy;
use jackpot_ui::money::money;
use jackpot_ui::plot::{Plot, Point};
use jackpot_ui::time::time;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;

use super::define::{changes, parts, read};
use super::list::{heads, number_heads, status, wide};
use super::{Desk, Failure, Page, Section, action, jackpots, links};
use jackpot_api::jackpot::{Jackpot, MeterBody};
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::http::problem::ProblemBody;

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/jackpots/{id}", jackpot_kernel::http::get().to(show));
}

/// The steps of a meter's history.
const STEPS: [&str; 3] = ["minute", "hour", "day"];

/// Payouts of the page.
const PAYOUTS: &str = "10";

/// Pages of epochs and cycles that are read for the last ones: of cycles that a busy pool has in weeks.
const MAX_PAGES: usize = 50;
/// Epochs and cycles of the page.
const LAST: usize = 200;

async fn show(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let answer: Value = desk.get(&links::jackpot_api(&id)).await?;
    let jackpot: Jackpot = desk.parsed(&answer)?;
    let words = desk.words;
    let page = Page::new(Section::Jackpots, &jackpot.name)
        .under([jackpots::trail(&desk)])
        .beside(actions(&desk, &jackpot));
    let content = html! {
        p.row { (status(&desk, jackpot.status.as_str(), jackpot.stopped.as_ref())) span.id.muted { (jackpot.id) }
            span.muted { (words.tv("jackpot-version", [("version", jackpot.version.into())])) } }
        section.panel {
            h2 { (words.t("meters")) }
            div id="meters" data-live="2000" { (meters(&desk, &jackpot)) }
        }
        @if !desk.is_live { (histories(&desk, &jackpot).await) }
        (waiting(&desk, &answer, &jackpot))
        section.panel {
            h2 { (words.t("jackpot-winners")) }
            div id="winners" data-live="2000" { (payouts(&desk, &jackpot).await) }
        }
        @if !desk.is_live { (definition(&desk, &answer)) (epochs(&desk, &jackpot).await) }
    };
    Ok(desk.page(&page, &content))
}

/// What an operator can do with a jackpot now.
fn actions(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let at = |action: &str| format!("{}/{action}", links::jackpot(&jackpot.id));
    let is = |status: Status| jackpot.status == status;
    html! {
        div.row {
            @if desk.may_operate() && !is(Status::Closed) {
                @if is(Status::Open) { a.button href=(at("pause")) { (words.t("pause")) } }
                @if is(Status::Paused) || is(Status::Suspended) { a.button href=(at("resume")) { (words.t("resume")) } }
                a.button href=(at("define")) { (words.t("define")) }
                a.button href=(at("adjust")) { (words.t("adjust")) }
                a.button href=(at("rotate")) { (words.t("rotate")) }
                a.button.danger href=(at("close")) { (words.t("close")) }
            }
            @if desk.may_operate() && (is(Status::Paused) || is(Status::Closed)) { a.button href=(at("transfer")) { (words.t("transfer")) } }
            a.button href=(links::transfers(&jackpot.id)) { (words.t("transfers")) }
            a.button href=(links::held(&jackpot.id)) { (words.t("held")) }
        }
    }
}

fn meters(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let shown = |amount: i128| money(words.0, jackpot.currency.amount(amount));
    let is_moved = |moved: &Moved| jackpot.meters.iter().any(|meter| moved.1(meter) > 0);
    let moved: Vec<_> = MOVED.into_iter().filter(is_moved).collect();
    let table = html! { table {
        thead { tr {
            th scope="col" { (words.t("tier")) }
            (number_heads(words, &["pool", "reserve", "overflow", "contributed", "funded", "paid", "wins"]))
            @for (column, _) in &moved { th.number scope="col" { (words.t(column)) } }
        } }
        tbody { @for meter in &jackpot.meters { (meter_row(meter, &moved, &shown)) } }
    } };
    wide(&words.t("meters"), &table)
}

/// A meter that few jackpots have: its name, and its amount.
type Moved = (&'static str, fn(&MeterBody) -> u64);

/// The meters of reversals, transfers and voids.
const MOVED: [Moved; 4] = [
    ("reversed", |meter| meter.reversed),
    ("term-transfers_in", |meter| meter.transferred_in),
    ("term-transfers_out", |meter| meter.transferred_out),
    ("term-voided", |meter| meter.voided),
];

fn meter_row(meter: &MeterBody, moved: &[Moved], shown: &dyn Fn(i128) -> String) -> Markup {
    let plus = |amount: u64| shown(i128::from(amount));
    html! {
        tr {
            th.id scope="row" { (meter.tier) }
            td.number { strong { (plus(meter.pool)) } }
            td.number { (plus(meter.reserve)) }
            td.number { (plus(meter.overflow)) }
            td.number { (plus(meter.contributed)) }
            td.number { (shown(i128::from(meter.funded))) }
            td.number { (plus(meter.paid)) }
            td.number { (meter.wins) }
            @for (_, amount) in moved { td.number { (plus(amount(meter))) } }
        }
    }
}

/// A plot of each tier's pool.
async fn histories(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let wanted = desk.query("step");
    let step = STEPS.into_iter().find(|step| *step == wanted).unwrap_or(STEPS[0]);
    let mut plots = Vec::new();
    for meter in &jackpot.meters {
        plots.push((meter, history(desk, jackpot, meter, step).await));
    }
    html! {
        ul.tabs id="history" { @for of in STEPS { li {
            a href=(format!("{}?step={of}#history", links::jackpot(&jackpot.id))) aria-current=[(of == step).then_some("true")] { (desk.words.t(&format!("jackpot-history-{of}"))) }
        } } }
        div.panels { @for (meter, plot) in plots {
            figure.panel { figcaption { h2 { (desk.words.tv("jackpot-history", [("tier", meter.tier.as_str().into())])) } } (plot) }
        } }
    }
}

async fn history(desk: &Desk, jackpot: &Jackpot, meter: &MeterBody, step: &str) -> Markup {
    let words = desk.words;
    let path = format!("{}/meter/history", links::jackpot_api(&jackpot.id));
    let path = links::with_query(&path, &[("tier", &meter.tier), ("step", step)]);
    let history: MeterHistory = match desk.ask(&path).await {
        Ok(history) => history,
        Err(problem) => {
            return html! { p.note.warn { (words.tv("jackpot-history-away", [("detail", (&problem.detail).into())])) } };
        }
    };
    let points: Vec<_> = history
        .points
        .iter()
        .map(|point| Point {
            at_ms: parse_rfc3339(&point.at).unwrap_or_default(),
            value: point.pool.unsigned_abs(),
        })
        .collect();
    Plot {
        label: &words.tv("jackpot-history", [("tier", meter.tier.as_str().into())]),
        points: &points,
        value: &|value| money(words.0, jackpot.currency.amount(value)),
        time: &|at| moment(at, step),
    }
    .svg()
}

/// A time at the axis, in UTC.
fn moment(at_ms: i64, step: &str) -> String {
    let at = Timestamp::from_millisecond(at_ms)
        .map(|at| at.to_string())
        .unwrap_or_default();
    let (date, time) = at.split_once('T').unwrap_or((&at, ""));
    match step {
        "minute" => time.get(..5).unwrap_or_default().to_owned(),
        "hour" => format!(
            "{} {}",
            date.get(5..).unwrap_or_default(),
            time.get(..5).unwrap_or_default()
        ),
        _ => date.to_owned(),
    }
}

/// The definition that waits, beside the one in force.
fn waiting(desk: &Desk, answer: &Value, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let waiting = jackpot.pending.as_ref().and_then(|_| read::of_answer(answer));
    let in_force = read::in_force(answer);
    html! {
        @if let (Some(waiting), Some(in_force)) = (waiting, in_force) {
            section.panel.stack {
                h2 { span.badge.warn { (words.t("jackpot-waiting")) } }
                p { (words.t("jackpot-waiting-text")) }
                (action::changes(desk, &changes(words, &parts::of(words, in_force.document()), &parts::of(words, waiting.document()))))
            }
        }
    }
}

fn definition(desk: &Desk, answer: &Value) -> Markup {
    html! {
        @if let Some(in_force) = read::in_force(answer) {
            section.panel {
                h2 { (desk.words.t("jackpot-definition")) }
                dl.facts { @for (what, text) in parts::of(desk.words, in_force.document()) { dt { (what) } dd { (text) } } }
            }
        }
    }
}

async fn payouts(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let path = links::with_query("/v1/payouts", &[("jackpot_id", &jackpot.id), ("limit", PAYOUTS)]);
    let list: PageBody<ListedPayout> = match desk.ask(&path).await {
        Ok(list) => list,
        Err(problem) => return html! { p.note.warn { (problem.detail) } },
    };
    if list.items.is_empty() {
        return html! { p.empty { (words.t("jackpot-winners-none")) } };
    }
    let table = html! { table {
        thead { tr { (heads(words, &["when", "player", "tier"])) (number_heads(words, &["amount"])) } }
        tbody { @for payout in list.items.iter().map(|listed| &listed.receipt) { tr {
            td.nowrap { a href=(links::payout(&payout.payout_id)) { (time(&payout.paid_at)) } }
            td { (payout.player_id) }
            td.id { (payout.tier) }
            td.number { strong { (money(words.0, jackpot.currency.amount(payout.amount.get()))) } }
        } } }
    } };
    wide(&words.t("jackpot-winners"), &table)
}

/// The last epochs and cycles, oldest first.
async fn last_fairness(desk: &Desk, jackpot: &Jackpot) -> Result<Fairness, ProblemBody> {
    let path = format!("{}/fairness", links::jackpot_api(&jackpot.id));
    let (mut last, mut cursor) = (Fairness::default(), None);
    for _ in 0..MAX_PAGES {
        let page: Fairness = match cursor {
            None => desk.ask(&path).await?,
            Some(cursor) => desk.ask(&format!("{path}?cursor={cursor}")).await?,
        };
        last.epochs.extend(page.epochs);
        last.cycles.extend(page.cycles);
        last.epochs.drain(..last.epochs.len().saturating_sub(LAST));
        last.cycles.drain(..last.cycles.len().saturating_sub(LAST));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(last)
}

async fn epochs(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let fairness = match last_fairness(desk, jackpot).await {
        Ok(fairness) => fairness,
        Err(problem) => return html! { p.note.warn { (problem.detail) } },
    };
    let table = html! { table {
        thead { tr { (number_heads(words, &["jackpot-epoch"])) (heads(words, &["jackpot-opened", "jackpot-closed", "jackpot-commitment", "jackpot-seed"])) } }
        tbody { @for epoch in fairness.epochs.iter().rev() { tr {
            td.number { (epoch.epoch) }
            td { (time(&epoch.opened_at)) }
            td { @if let Some(at) = &epoch.closed_at { (time(at)) } @else { (words.t("nothing")) } }
            td.mono { (epoch.commitment) }
            td.mono { @if let Some(seed) = &epoch.seed { (seed) } @else { (words.t("nothing")) } }
        } } }
    } };
    html! {
        section.panel { h2 { (words.t("jackpot-epochs")) } (wide(&words.t("jackpot-epochs"), &table)) }
        @if !fairness.cycles.is_empty() { (cycles(desk, jackpot, &fairness.cycles)) }
    }
}

/// The last cycles of tiers with a must-hit rule, newest first.
fn cycles(desk: &Desk, jackpot: &Jackpot, cycles: &[CycleBody]) -> Markup {
    let words = desk.words;
    let amount = |amount: u64| money(words.0, jackpot.currency.amount(amount));
    let ended = |by: EndedBy| words.t(&format!("public-cycle-{}", by.as_str()));
    let table = html! { table {
        thead { tr { (heads(words, &["tier"])) (number_heads(words, &["jackpot-cycle", "version"])) (heads(words, &["cycle-began", "cycle-amount", "cycle-from", "cycle-deadline", "cycle-ended", "jackpot-cycle-by", "cycle-trigger", "jackpot-commitment", "jackpot-seed"])) } }
        tbody { @for cycle in cycles.iter().rev() { tr {
            td.id { (cycle.tier) }
            td.number { (cycle.cycle) }
            td.number { @if let Some(version) = cycle.version { (version) } @else { (words.t("nothing")) } }
            td { (time(&cycle.began_at)) }
            td.nowrap { @if let Some((low, high)) = cycle.low.zip(cycle.high) { (amount(low)) " – " (amount(high)) } @else { (words.t("nothing")) } }
            td { @if let Some(at) = &cycle.from_at { (time(at)) } @else { (words.t("nothing")) } }
            td { @if let Some(at) = &cycle.deadline_at { (time(at)) } @else { (words.t("nothing")) } }
            td { @if let Some(at) = &cycle.ended_at { (time(at)) } @else { (words.t("public-cycle-open")) } }
            td { @if let Some(by) = cycle.ended_by { (ended(by)) } @else { (words.t("nothing")) } }
            td.nowrap {
                @if let Some(trigger) = cycle.trigger_amount { (amount(trigger)) " " }
                @if let Some(at) = &cycle.trigger_at { (time(at)) }
                @if cycle.seed.is_none() { (words.t("nothing")) }
            }
            td.mono { (cycle.commitment) }
            td.mono { @if let Some(seed) = &cycle.seed { (seed) } @else { (words.t("nothing")) } }
        } } }
    } };
    html! { section.panel id="cycles" { h2 { (words.t("public-cycles")) } (wide(&words.t("public-cycles"), &table)) } }
}
