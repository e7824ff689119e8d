//! The report of a day: its figures as tables, of one jackpot also the days before it as plots. It can be printed.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::ServiceConfig;
use jackpot_core::currency::Currency;
use jackpot_core::day;
use jackpot_ui::Words;
use jackpot_ui::money::money;
use jackpot_ui::plot::{Plot, Point};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use maud::{Markup, html};
use serde::Deserialize;

use super::list::{number_heads, wide};
use super::{Desk, Failure, Field, Form, Kind, Page, Section, links};
use jackpot_kernel::http::problem::ProblemBody;

const PATH: &str = "/console/reports";
/// Jackpots of a page; the files have all.
const MAX_SHOWN: usize = 100;
/// Days of the plots.
const PLOTTED: i32 = 14;

pub fn routes(config: &mut ServiceConfig) {
    config.route(PATH, jackpot_kernel::http::get().to(show));
}

#[derive(Debug, Deserialize)]
struct Report {
    date: String,
    complete: bool,
    rows: Vec<Row>,
}

/// A row of either kind: a number that its kind does not have is 0. One struct, because a tagged enum cannot read `stakes`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    row: String,
    jackpot_id: String,
    tier: String,
    /// Of the row of a tier.
    currency: Option<Currency>,
    opening: i64,
    contributed: i64,
    reversed: i64,
    funded: i64,
    transferred_in: i64,
    transferred_out: i64,
    voided: i64,
    paid: i64,
    payouts: i64,
    wins: i64,
    closing: i64,
    source_id: Option<String>,
    entries: i64,
    stakes: i128,
}

impl Row {
    fn is_tier(&self) -> bool {
        self.row == "tier"
    }
}

/// The rows of a jackpot.
#[derive(Debug, Default)]
struct Figures {
    jackpot_id: String,
    tiers: Vec<Row>,
    sources: Vec<Row>,
}

/// The name of a figure, and its value in the row of a tier.
type Figure = (&'static str, fn(&Row) -> i64);

/// What is plotted of a tier.
const PLOTS: [Figure; 3] = [
    ("report-closing", |row| row.closing),
    ("report-contributed", |row| row.contributed),
    ("report-paid", |row| row.paid),
];

impl Report {
    fn by_jackpot(self) -> Vec<Figures> {
        let mut all: Vec<Figures> = Vec::new();
        for row in self.rows {
            if all.last().is_none_or(|last| last.jackpot_id != row.jackpot_id) {
                all.push(Figures {
                    jackpot_id: row.jackpot_id.clone(),
                    ..Figures::default()
                });
            }
            let last = all.last_mut().expect("one was just added");
            if row.is_tier() {
                last.tiers.push(row);
            } else {
                last.sources.push(row);
            }
        }
        all
    }
}

async fn read(desk: &Desk, date: &str, jackpot: &str) -> Result<Report, ProblemBody> {
    desk.ask(&links::with_query(
        "/v1/reports/daily",
        &[("date", date), ("jackpot_id", jackpot)],
    ))
    .await
}

async fn show(desk: Desk) -> Result<HttpResponse, Failure> {
    let jackpot = desk.query("jackpot_id").trim();
    let today = desk.console.days.date_of(Timestamp::now().as_millisecond());
    // Without a date: the last day that is over.
    let date = match desk.query("date").trim() {
        "" => today.yesterday().unwrap_or(today).to_string(),
        date => date.to_owned(),
    };
    let mut form = Form::default();
    form.set("date", &date);
    form.set("jackpot_id", jackpot);
    let report = match read(&desk, &date, jackpot).await {
        Ok(report) => Some(report),
        Err(problem) if problem.status == StatusCode::UNPROCESSABLE_ENTITY.as_u16() => {
            form.refused_by(&problem, str::to_owned);
            None
        }
        Err(problem) => return Err(Failure::of_api(desk.words, problem)),
    };
    let page = Page::new(Section::Reports, desk.words.t("report-title"))
        .of_form(&form)
        .beside(report.as_ref().map(|report| files(&desk, &report.date, jackpot)));
    let day = day::date(&date);
    let plots = match (&report, day) {
        (Some(report), Some(day)) if !jackpot.is_empty() => plots(&desk, jackpot, report, day).await,
        _ => html! {},
    };
    let content = html! {
        div.no-print { (chosen(&desk, &form)) }
        @if let Some(report) = report {
            (heading(&desk, &report, day, today))
            (plots)
            (tables(&desk, &report.by_jackpot()))
        }
    };
    Ok(desk.page(&page, &content))
}

fn chosen(desk: &Desk, form: &Form) -> Markup {
    let words = desk.words;
    let (date, jackpot) = (words.t("report-date"), words.t("jackpot-id"));
    html! {
        (form.summary_under(words, "filter-refused"))
        form.panel.stack method="get" action=(PATH) role="search" {
            div.fields {
                (Field::new("date", &date, Kind::Date).of(form))
                (Field::new("jackpot_id", &jackpot, Kind::Text).optional().of(form))
            }
            div.row { button.primary { (words.t("report-show")) } a.button href=(PATH) { (words.t("filter-none")) } }
        }
    }
}

fn files(desk: &Desk, date: &str, jackpot: &str) -> Markup {
    let path = links::with_query("reports/daily", &[("date", date), ("jackpot_id", jackpot)]);
    html! { div.row.no-print {
        a.button href=(format!("/console/files/csv/{path}")) { (desk.words.t("download-csv")) }
        a.button href=(format!("/console/files/ndjson/{path}")) { (desk.words.t("download-ndjson")) }
    } }
}

/// The day, whether it is whole, and the ways to the days beside it.
fn heading(desk: &Desk, report: &Report, day: Option<Date>, today: Date) -> Markup {
    let words = desk.words;
    let (class, text) = if report.complete {
        ("badge good", "report-complete")
    } else {
        ("badge warn", "report-incomplete")
    };
    let link = |date: Date| {
        let date = date.to_string();
        links::with_query(
            PATH,
            &[("date", &date), ("jackpot_id", desk.query("jackpot_id").trim())],
        )
    };
    let before = day.and_then(|day| day.yesterday().ok());
    let after = day.and_then(|day| day.tomorrow().ok()).filter(|day| *day <= today);
    html! {
        div.row {
            h2 { time datetime=(report.date) { (report.date) } }
            span class=(class) { (words.t(text)) }
        }
        @if !report.complete { p.hint { (words.t("report-incomplete-hint")) } }
        nav.pages.no-print aria-label=(words.t("report-days")) {
            @if let Some(day) = before { a.button href=(link(day)) rel="prev" { (words.t("report-before")) } }
            @if let Some(day) = after { a.button href=(link(day)) rel="next" { (words.t("report-after")) } }
        }
    }
}

fn tables(desk: &Desk, all: &[Figures]) -> Markup {
    if all.is_empty() {
        return html! { div.empty { p { (desk.words.t("report-none")) } } };
    }
    html! {
        @for of in all.iter().take(MAX_SHOWN) {
            section.panel.stack-small {
                h2 { a.id href=(links::jackpot(&of.jackpot_id)) { (of.jackpot_id) } }
                (tiers(desk, of))
                (sources(desk, of))
            }
        }
        @if all.len() > MAX_SHOWN { p.hint { (desk.words.tv("list-more", [("count", (all.len() - MAX_SHOWN).into())])) } }
    }
}

fn tiers(desk: &Desk, of: &Figures) -> Markup {
    let words = desk.words;
    let columns: [Figure; 9] = [
        ("report-opening", |row| row.opening),
        ("report-contributed", |row| row.contributed),
        ("report-reversed", |row| row.reversed),
        ("report-funded", |row| row.funded),
        ("report-transferred-in", |row| row.transferred_in),
        ("report-transferred-out", |row| row.transferred_out),
        ("report-voided", |row| row.voided),
        ("report-paid", |row| row.paid),
        ("report-closing", |row| row.closing),
    ];
    let rows = html! { table {
        thead { tr {
            th scope="col" { (words.t("tier")) }
            @for (name, _) in columns { th.number scope="col" { (words.t(name)) } }
            (number_heads(words, &["payouts", "report-wins"]))
        } }
        tbody { @for row in &of.tiers { tr {
            th.nowrap scope="row" { (row.tier) }
            @for (_, value) in columns { td.number { (amount(words, row.currency, value(row))) } }
            td.number { (row.payouts) }
            td.number { (row.wins) }
        } } }
    } };
    wide(&words.tv("report-tiers", [("jackpot", (&of.jackpot_id).into())]), &rows)
}

/// An amount; in minor units where no row says of which currency.
fn amount(words: Words, currency: Option<Currency>, minor: impl Into<i128>) -> String {
    let minor = minor.into();
    currency.map_or_else(|| minor.to_string(), |currency| money(words.0, currency.amount(minor)))
}

fn sources(desk: &Desk, of: &Figures) -> Markup {
    let words = desk.words;
    let currency = of.tiers.first().and_then(|row| row.currency);
    let amount = |value: i128| amount(words, currency, value);
    let rows = html! { table {
        thead { tr {
            th scope="col" { (words.t("source-id")) }
            th.number scope="col" { (words.t("entries")) }
            (number_heads(words, &["report-stakes", "report-contributed", "report-reversed", "report-paid"]))
            th.number scope="col" { (words.t("payouts")) }
        } }
        tbody { @for row in &of.sources { tr {
            th.nowrap scope="row" { @match &row.source_id { Some(id) => (id), None => em { (words.t("report-no-source")) } } }
            td.number { (row.entries) }
            td.number { (amount(row.stakes)) }
            @for value in [row.contributed, row.reversed, row.paid] { td.number { (amount(value.into())) } }
            td.number { (row.payouts) }
        } } }
    } };
    wide(
        &words.tv("report-sources", [("jackpot", (&of.jackpot_id).into())]),
        &rows,
    )
}

/// A plot of each figure of each tier, over the days up to the one shown.
async fn plots(desk: &Desk, jackpot: &str, report: &Report, day: Date) -> Markup {
    let mut days = Vec::new();
    for back in (1..PLOTTED).rev() {
        let Ok(before) = day.checked_sub(back.days()) else {
            continue;
        };
        if let Ok(report) = read(desk, &before.to_string(), jackpot).await
            && !report.rows.is_empty()
        {
            days.push((before, report));
        }
    }
    let tiers = report.rows.iter().filter(|row| row.is_tier());
    html! { div.panels { @for row in tiers { @for (name, value) in PLOTS {
        @let earlier = days.iter().map(|(day, report)| (*day, report));
        (plot(desk, row, name, value, &earlier.chain([(day, report)]).collect::<Vec<_>>()))
    } } } }
}

fn plot(desk: &Desk, row: &Row, name: &str, value: fn(&Row) -> i64, days: &[(Date, &Report)]) -> Markup {
    let words = desk.words;
    let label = words.tv(
        "report-plot",
        [("tier", (&row.tier).into()), ("what", words.t(name).into())],
    );
    let of = |report: &Report| {
        let tiers = report.rows.iter().filter(|one| one.is_tier() && one.tier == row.tier);
        tiers.map(value).sum::<i64>()
    };
    // Days are plotted as those of UTC: only their distance counts.
    let points = days.iter().filter_map(|(day, report)| {
        let at = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Some(Point {
            at_ms: at.as_millisecond(),
            value: of(report).max(0).unsigned_abs(),
        })
    });
    let points: Vec<_> = points.collect();
    let shown = Plot {
        label: &label,
        points: &points,
        value: &|value| amount(words, row.currency, value),
        time: &|at| {
            Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| at.strftime("%m-%d").to_string())
        },
    };
    html! { figure.panel { figcaption { h2 { (label) } } (shown.svg()) } }
}
