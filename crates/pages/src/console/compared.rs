//! Redis beside the ledger: all subjects, and one of them with each value, and what to do where they disagree.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, ServiceConfig};
use jackpot_core::currency::Currency;
use jackpot_kernel::http::health::RefusedSubject;
use jackpot_kernel::subject::Reason;
use jackpot_ui::Words;
use jackpot_ui::money::{grouped, money};
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::list::{self, heads, number_heads, status, wide};
use super::shared::Told;
use super::{Desk, Failure, Kind, Page, Section, commands, links};
use jackpot_kernel::http::problem::ProblemBody;
use jackpot_kernel::ledger::queries::reconciliation::Last;
use jackpot_kernel::ledger::reconcile::report::{StateRow, Term};
use jackpot_kernel::subject::emergency::Stopped;
use jackpot_kernel::subject::kinds::{self, JACKPOT, KindName};

/// Rows of the list. Those that disagree come first.
const MAX_ROWS: usize = 200;

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/console/ledger", jackpot_kernel::http::get().to(all))
        .route("/console/ledger/{kind}/{id}", jackpot_kernel::http::get().to(one));
}

/// The last comparison of a subject.
#[derive(Debug)]
pub struct Compared {
    pub kind: KindName,
    pub id: String,
    pub last: Last,
}

impl Compared {
    pub fn is_wrong(&self) -> bool {
        self.last.clean == Some(false)
    }

    fn of(kind: KindName, row: &Value) -> Option<Self> {
        let id = row.get(kind.id_field())?.as_str()?.to_owned();
        let last = Last::deserialize(row).ok()?;
        Some(Self { kind, id, last })
    }
}

/// The last comparison of every subject that the caller may see, those that disagree first.
pub async fn read(desk: &Desk) -> Result<Vec<Compared>, ProblemBody> {
    let lists: Map<String, Value> = desk.ask_also("/v1/reconciliation", StatusCode::CONFLICT).await?;
    let rows = |kind: KindName| {
        lists
            .get(kind.compared_as)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let mut all: Vec<_> = kinds::all()
        .flat_map(|kind| rows(kind).filter_map(move |row| Compared::of(kind, row)))
        .collect();
    all.sort_by_key(|one| !one.is_wrong());
    Ok(all)
}

pub fn kind_name(desk: &Desk, kind: &str) -> String {
    let name = format!("kind-{kind}");
    desk.words.t_or(&name, kind)
}

async fn all(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let told = desk.comparisons().await;
    let all = shown(words, &told)?;
    let page = Page::new(Section::Ledger, words.t("reconciliation"))
        .beside(html! { a.button href="/console/files/json/reconciliation" { (words.t("as-json")) } });
    let content = html! {
        p { (words.t("reconciliation-about")) }
        (list::filters(&desk, "/console/ledger", &[("id", "ledger-find", Kind::Text)]))
        section.panel { div id="compared" data-live="2000" { (table(&desk, all)) } }
    };
    Ok(desk.page(&page, &content))
}

fn shown(words: Words, told: &Told<Vec<Compared>>) -> Result<&Vec<Compared>, Failure> {
    let all = told.value.as_ref();
    all.map_err(|problem| Failure::of_api(words, problem.clone()))
}

fn table(desk: &Desk, all: &[Compared]) -> Markup {
    let words = desk.words;
    let part = desk.query("id").trim();
    let fits: Vec<_> = all.iter().filter(|one| one.id.contains(part)).collect();
    if fits.is_empty() {
        let text = if part.is_empty() {
            "reconciliation-none"
        } else {
            "list-no-fit"
        };
        return html! { div.empty { p { (words.t(text)) } } };
    }
    let rows = html! { table {
        thead { tr {
            (heads(words, &["subject", "verdict"]))
            (number_heads(words, &["event"]))
            (heads(words, &["checked-at"]))
            (number_heads(words, &["lag"]))
            (heads(words, &["see-also"]))
        } }
        tbody { @for one in fits.iter().take(MAX_ROWS) { (row(desk, one)) } }
    } };
    html! {
        (wide(&words.t("reconciliation"), &rows))
        @if fits.len() > MAX_ROWS { p.hint { (words.tv("list-more", [("count", (fits.len() - MAX_ROWS).into())])) } }
    }
}

fn row(desk: &Desk, one: &Compared) -> Markup {
    let here = links::compared(one.kind.as_str(), &one.id);
    html! { tr {
        th scope="row" { (kind_name(desk, one.kind.as_str())) " " a.id href=(here) { (one.id) } }
        td { (verdict(desk, &one.last)) }
        td.number { @if let Some(event) = one.last.event { (event) } @else { "–" } }
        td { @if let Some(at) = &one.last.checked_at { (time(at)) } @else { "–" } }
        td.number { @if let Some(lag) = one.last.lag { (grouped(lag.into())) } @else { "–" } }
        td { @if one.kind == JACKPOT { a href=(format!("{here}/postings")) { (desk.words.t("postings")) } } }
    } }
}

/// The result in a word.
fn verdict(desk: &Desk, last: &Last) -> Markup {
    let words = desk.words;
    html! {
        @match (&last.stopped, last.clean) {
            (Some(_), _) => span.badge.bad { (words.t("verdict-stopped")) },
            (None, Some(true)) => span.badge.good { (words.t("verdict-clean")) },
            (None, Some(false)) => span.badge.bad { (words.t("verdict-mismatch")) },
            (None, None) => span.badge { (words.t("verdict-none")) },
        }
    }
}

/// The pages of a subject's ledger.
pub fn tabs(desk: &Desk, kind: KindName, id: &str, current: &str) -> Markup {
    let here = links::compared(kind.as_str(), id);
    let pages = [("", "reconciliation"), ("/postings", "postings"), ("/head", "head")];
    html! {
        @if kind == JACKPOT {
            nav aria-label=(desk.words.t("ledger-pages")) { ul.tabs {
                @for (path, name) in pages {
                    li { a href=(format!("{here}{path}")) aria-current=[(path == current).then_some("page")] { (desk.words.t(name)) } }
                }
            } }
        }
    }
}

async fn one(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let (kind, id) = (path.0.as_str(), path.1.as_str());
    let told = desk.comparisons().await;
    let all = shown(words, &told)?;
    let found = all.iter().find(|one| one.kind.as_str() == kind && one.id == id);
    let one = found.ok_or_else(|| Failure::new(words, StatusCode::NOT_FOUND, "failure-no-page"))?;
    // Its state in Redis, which may be away.
    let api = format!("/v1/{}/{}", one.kind.plural, links::part(id));
    let now: Option<Value> = desk.ask(&api).await.ok();
    let now = Now {
        status: text(now.as_ref(), "status"),
        currency: text(now.as_ref(), "currency").parse().ok(),
        stopped: now.and_then(|mut now| serde_json::from_value(now.get_mut("stopped")?.take()).ok()?),
    };
    let readiness = desk.readiness().await;
    let refused = readiness.value.as_ref().ok();
    let refused = refused.and_then(|state| {
        state
            .refused()
            .iter()
            .find(|of| of.kind.as_str() == kind && of.id.as_str() == id)
    });
    let page = Page::new(Section::Ledger, format!("{} {id}", kind_name(&desk, kind)))
        .under([(words.t("nav-ledger"), "/console/ledger".to_owned())]);
    let content = html! {
        (tabs(&desk, one.kind, id, ""))
        div.stack id="state" data-live="2000" { (state(&desk, one, &now, refused)) }
        div.stack id="tiers" data-live="2000" { (tiers(&desk, one, &now)) }
        div id="rest" data-live="2000" { (rest(&desk, one)) }
        div id="answer" data-live="2000" { (answer(&desk, one, &now, refused)) }
    };
    Ok(desk.page(&page, &content))
}

/// What the API says of the subject now; empty while Redis is away.
struct Now {
    status: String,
    stopped: Option<Stopped>,
    currency: Option<Currency>,
}

fn text(value: Option<&Value>, name: &str) -> String {
    let found = value.and_then(|value| value.get(name)).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

fn state(desk: &Desk, one: &Compared, now: &Now, refused: Option<&RefusedSubject>) -> Markup {
    let words = desk.words;
    let last = &one.last;
    html! {
        p.row {
            @if !now.status.is_empty() { (status(desk, &now.status, now.stopped.as_ref())) }
            (verdict(desk, last))
            @if let Some(event) = last.event { span.muted { (words.tv("at-event", [("event", event.to_string().into())])) } }
            @if let Some(at) = &last.checked_at { span.muted { (time(at)) } }
            @if let Some(lag) = last.lag { span.muted { (words.t("lag")) ": " (words.tv("n-events", [("count", lag.into())])) } }
        }
        @if let Some(why) = &last.stopped { p.note.bad role="alert" { strong { (words.t("verdict-stopped")) } ": " (why) } }
        @if let Some(refused) = refused { p.note.bad role="alert" { strong { (reason(desk, refused.reason)) } ": " (why_refused(desk, refused)) } }
    }
}

/// Why a subject is refused, in a word.
pub fn reason(desk: &Desk, reason: Reason) -> String {
    desk.words.t(&format!("refused-{}", reason.as_str()))
}

/// Details of it; the page of a suspended subject shows them itself.
pub fn why_refused(desk: &Desk, refused: &RefusedSubject) -> String {
    match refused.reason {
        Reason::Suspended => desk.words.t("refused-suspended-text"),
        Reason::Lost | Reason::LedgerStopped | Reason::Backlog => refused.detail.clone(),
    }
}

/// Each term of each tier, from both sides.
fn tiers(desk: &Desk, one: &Compared, now: &Now) -> Markup {
    let words = desk.words;
    html! {
        @for tier in one.last.tiers.iter().flatten() {
            @let name = words.tv("tier-terms", [("tier", (&tier.tier).into())]);
            section.panel {
                h2 { (name) }
                @let rows = html! { table {
                    thead { (sides(desk, "term")) }
                    tbody { @for term in &tier.terms { (term_row(desk, term, now)) } }
                } };
                (wide(&name, &rows))
                @if tier.identity_holds { p.hint { (words.t("identity-holds")) } }
                @else { p.note.bad { (words.t("identity-broken")) } }
            }
        }
    }
}

fn sides(desk: &Desk, first: &str) -> Markup {
    let words = desk.words;
    html! { tr {
        th scope="col" { (words.t(first)) }
        th.number scope="col" { "Redis" }
        th.number scope="col" { (words.t("ledger")) }
        th scope="col" { span.hidden { (words.t("verdict")) } }
    } }
}

fn term_row(desk: &Desk, term: &Term, now: &Now) -> Markup {
    let shown = |value: i64| {
        if let (Some(currency), false) = (now.currency, term.term.ends_with("_micro")) {
            return money(desk.words.0, currency.amount(value));
        }
        let sign = if value < 0 { "−" } else { "" };
        format!("{sign}{}", grouped(value.unsigned_abs().into()))
    };
    let name = format!("term-{}", term.term);
    let name = desk.words.t_or(&name, &term.term);
    let agrees = term.redis == term.ledger;
    html! { tr.wrong[!agrees] {
        th scope="row" { (name) }
        td.number { (shown(term.redis)) }
        td.number { (shown(term.ledger)) }
        td { (differs(desk, agrees)) }
    } }
}

fn differs(desk: &Desk, agrees: bool) -> Markup {
    html! { @if !agrees { span.badge.bad { (desk.words.t("differs")) } } }
}

/// The rest of the state: what differs, and what agrees for who opens it.
fn rest(desk: &Desk, one: &Compared) -> Markup {
    let (same, other): (Vec<_>, Vec<_>) = one.last.state.iter().partition(|row| row.agrees);
    let title = desk.words.t("rest-of-state");
    let rows = |rows: &[&StateRow]| {
        let table = html! { table {
            thead { (sides(desk, "name")) }
            tbody { @for row in rows { tr.wrong[!row.agrees] {
                th.id scope="row" { (row.name) }
                td.number { (row.redis) }
                td.number { (row.ledger) }
                td { (differs(desk, row.agrees)) }
            } } }
        } };
        wide(&title, &table)
    };
    html! {
        @if !one.last.state.is_empty() {
            section.panel.stack {
                h2 { (title) }
                @if !other.is_empty() { (rows(&other)) }
                @if !same.is_empty() { details { summary { (desk.words.tv("n-agree", [("count", same.len().into())])) } (rows(&same)) } }
            }
        }
    }
}

/// What an operator does about it, in steps; nothing where nothing is wrong.
fn answer(desk: &Desk, one: &Compared, now: &Now, refused: Option<&RefusedSubject>) -> Markup {
    let words = desk.words;
    let is_stopped = one.last.stopped.is_some();
    if !one.is_wrong() && refused.is_none() && now.status != "suspended" {
        let text = if one.last.clean.is_none() {
            "answer-soon"
        } else {
            "answer-nothing"
        };
        return html! { p.muted { (words.t(text)) } };
    }
    let option = format!("--{}", one.kind);
    let audit = links::with_query("/console/audit", &[(&one.kind.id_field(), &one.id)]);
    let subject = if one.kind == JACKPOT {
        vec![one.id.as_str()]
    } else {
        vec![option.as_str(), one.id.as_str()]
    };
    html! {
        section.panel.stack {
            h2 { (words.t("answer")) }
            p { (words.t("answer-about")) }
            ol.steps {
                li { h3 { (words.t("answer-look")) } p { (words.t("answer-look-text")) } }
                li.stack-small {
                    h3 { (words.t("answer-cause")) }
                    p { (words.t("answer-cause-text")) " " a href=(audit) { (words.t("answer-cause-audit")) } }
                }
                @if is_stopped {
                    li.stack-small {
                        h3 { (words.t("answer-stuck")) }
                        p { (words.t("answer-stuck-text")) }
                        (commands::shown(desk, &[&["ledger", "show"], &subject[..]].concat()))
                        p { (words.t("answer-skip-text")) }
                        (commands::shown(desk, &[&["ledger", "skip"], &subject[..], &["--event", "N", "--reason", "…"]].concat()))
                    }
                }
                li.stack-small {
                    h3 { (words.t("answer-restore")) }
                    p { (words.t("answer-restore-text")) " " (words.t(commands::beside(desk))) }
                    (commands::shown(desk, &["restore", &option, &one.id]))
                }
                li.stack-small {
                    h3 { (words.t("answer-resume")) }
                    @if one.kind == JACKPOT {
                        p { (words.t("answer-resume-text")) }
                        @if desk.may_operate() && now.status != "open" && now.status != "closed" {
                            div.row { a.button.primary href=(format!("{}/resume", links::jackpot(&one.id))) { (words.t("resume")) } }
                        }
                    } @else { p { (words.t("answer-opens")) } }
                }
            }
        }
    }
}
