//! What lists share: filters in the address, a box for wide tables, the next page, badges.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use jackpot_ui::Words;
use maud::{Markup, html};
use serde::de::DeserializeOwned;

use super::{Desk, Failure, Field, Form, Kind, Page, Section, links};
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::subject::emergency::Stopped;

/// Rows of a page.
pub const ROWS: &str = "50";

/// The link to the next page of a list without filters.
pub fn next_page(desk: &Desk, path: &str, cursor: Option<&str>) -> Markup {
    html! {
        @if let Some(cursor) = cursor {
            nav.pages { a.button href=(links::with_query(path, &[("cursor", cursor)])) rel="next" { (desk.words.t("next-page")) } }
        }
    }
}

/// The page of all jackpots, coupons or rooms, with the way to a new one. `one`: `jackpot`, `coupon` or `room`.
pub async fn all<T: DeserializeOwned>(
    desk: &Desk,
    section: Section,
    one: &str,
    table: impl FnOnce(&PageBody<T>) -> Markup,
) -> Result<HttpResponse, Failure> {
    let (words, name) = (desk.words, format!("{one}s"));
    let query = [("limit", ROWS), ("cursor", desk.query("cursor"))];
    let list: PageBody<T> = desk.get(&links::with_query(&format!("/v1/{name}"), &query)).await?;
    let new = || html! { a.button.primary href=(format!("/console/new-{one}")) { (words.t(&format!("{one}-new"))) } };
    let page = Page::new(section, words.t(&name)).beside(desk.may_operate().then(new));
    let content = html! {
        section.panel { div id=(name) data-live="2000" { (table(&list)) } }
        (next_page(desk, &format!("/console/{name}"), list.next_cursor.as_deref()))
    };
    Ok(desk.page(&page, &content))
}

/// The way to all rows of a list of the API as files.
pub fn files(desk: &Desk, path: &str) -> Markup {
    html! {
        div.row {
            a.button href=(format!("/console/files/csv/{path}")) { (desk.words.t("download-csv")) }
            a.button href=(format!("/console/files/ndjson/{path}")) { (desk.words.t("download-ndjson")) }
        }
    }
}

/// The status of a jackpot, coupon or room, by its word in the API. While everything is stopped, that and the reason.
pub fn status(desk: &Desk, status: &str, stopped: Option<&Stopped>) -> Markup {
    if let Some(Stopped { reason, .. }) = stopped {
        return html! { span.badge.bad { (desk.words.t("emergency-stopped")) } " " span { (reason) } };
    }
    let class = match status {
        "open" => "badge good",
        "suspended" => "badge bad",
        "paused" | "holding" => "badge warn",
        _ => "badge",
    };
    let name = format!("status-{status}");
    html! { span class=(class) { (desk.words.t_or(&name, status)) } }
}

/// Heads of columns, by the names of their texts.
pub fn heads(words: Words, names: &[&str]) -> Markup {
    html! { @for name in names { th scope="col" { (words.t(name)) } } }
}

/// The same of columns with numbers.
pub fn number_heads(words: Words, names: &[&str]) -> Markup {
    html! { @for name in names { th.number scope="col" { (words.t(name)) } } }
}

/// A table that scrolls inside its box, also by keyboard.
pub fn wide(label: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (table) } }
}

/// A filter of a list: its name in the address, the name of its label, how it is filled in.
pub type Filter<'a> = (&'a str, &'a str, Kind<'a>);

/// The form of a list's filters. It sends them in the address, so a list can be kept as a link.
pub fn filters(desk: &Desk, path: &str, filters: &[Filter<'_>]) -> Markup {
    filters_of(desk, path, filters, &filter_form(desk, filters))
}

/// The filters as they are in the address.
fn filter_form(desk: &Desk, filters: &[Filter<'_>]) -> Form {
    let mut form = Form::default();
    for (name, _, kind) in filters {
        let value = desk.query(name).trim();
        // A link may have a time as the API has it.
        let value = match kind {
            Kind::Time => value.strip_suffix('Z').unwrap_or(value),
            _ => value,
        };
        form.set(name, value);
    }
    form
}

fn filters_of(desk: &Desk, path: &str, filters: &[Filter<'_>], form: &Form) -> Markup {
    let words = desk.words;
    html! {
        (form.summary_under(words, "filter-refused"))
        form.panel.stack method="get" action=(path) role="search" {
            div.fields { @for (name, label, kind) in filters { (Field::new(name, &words.t(label), *kind).optional().of(form)) } }
            div.row { button.primary { (words.t("filter")) } a.button href=(path) { (words.t("filter-none")) } }
        }
    }
}

/// A time of a form, which is in UTC, as the API takes it.
fn rfc3339(time: &str) -> String {
    match (time.is_empty(), time.len()) {
        (true, _) => String::new(),
        // `2026-11-24T03:06`: a browser leaves out seconds that are 0.
        (_, 16) => format!("{time}:00Z"),
        _ if time.ends_with('Z') || time.contains('+') => time.to_owned(),
        _ => format!("{time}Z"),
    }
}

/// A list of the API as a page shows it: its filters in the address, a page of its rows, the next one, files of all rows.
pub struct Listing<'a> {
    /// Address of the page.
    pub page: &'a str,
    /// The list in the API, without `/v1/`.
    pub api: &'a str,
    pub filters: &'a [Filter<'a>],
}

/// What a list has for its filters.
pub struct Found<T> {
    /// The filters.
    pub form: Form,
    /// `None`: a filter is wrong.
    pub list: Option<PageBody<T>>,
}

impl Desk {
    /// How often the first page of a list is read anew, in ms; a later one stays as it is.
    pub fn live(&self) -> Option<&'static str> {
        self.query("cursor").is_empty().then_some("2000")
    }
}

impl Listing<'_> {
    /// The rows. What is wrong with a filter is said beside it.
    pub async fn read<T: DeserializeOwned>(&self, desk: &Desk) -> Result<Found<T>, Failure> {
        let mut form = filter_form(desk, self.filters);
        let path = self.of_api(desk, &[("limit", ROWS), ("cursor", desk.query("cursor"))]);
        let list = match desk.ask(&format!("/v1/{path}")).await {
            Ok(list) => Some(list),
            Err(problem) if problem.status == StatusCode::UNPROCESSABLE_ENTITY.as_u16() => {
                form.refused_by(&problem, str::to_owned);
                None
            }
            Err(problem) => return Err(Failure::of_api(desk.words, problem)),
        };
        Ok(Found { form, list })
    }

    /// The list in the API, with its filters.
    fn of_api(&self, desk: &Desk, more: &[(&str, &str)]) -> String {
        let value = |(name, _, kind): &Filter<'_>| match kind {
            Kind::Time => rfc3339(desk.query(name).trim()),
            _ => desk.query(name).trim().to_owned(),
        };
        let values: Vec<_> = self.filters.iter().map(|filter| (filter.0, value(filter))).collect();
        let values = values.iter().map(|(name, value)| (*name, value.as_str()));
        links::with_query(self.api, &values.chain(more.iter().copied()).collect::<Vec<_>>())
    }

    /// The form of its filters.
    pub fn filters<T>(&self, desk: &Desk, found: &Found<T>) -> Markup {
        filters_of(desk, self.page, self.filters, &found.form)
    }

    /// Whether any filter is set.
    pub fn is_filtered(&self, desk: &Desk) -> bool {
        self.filters
            .iter()
            .any(|(name, ..)| !desk.query(name).trim().is_empty())
    }

    /// All of its rows as files, with the same filters.
    pub fn files(&self, desk: &Desk) -> Markup {
        files(desk, &self.of_api(desk, &[]))
    }

    /// The way to the first and to the next page.
    pub fn pages<T>(&self, desk: &Desk, list: &PageBody<T>) -> Markup {
        let words = desk.words;
        let filters: Vec<_> = self
            .filters
            .iter()
            .map(|(name, ..)| (*name, desk.query(name)))
            .collect();
        let next = list.next_cursor.as_deref();
        let next = next.map(|cursor| [&filters[..], &[("cursor", cursor)]].concat());
        let is_first = desk.query("cursor").is_empty();
        html! {
            @if list.items.is_empty() && next.is_some() { p.note { (words.t("list-looked")) } }
            @if !is_first || next.is_some() {
                nav.pages aria-label=(words.t("pages")) {
                    @if !is_first { a.button href=(links::with_query(self.page, &filters)) { (words.t("first-page")) } }
                    @if let Some(next) = next { a.button href=(links::with_query(self.page, &next)) rel="next" { (words.t("next-page")) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_form_are_utc() {
        for (time, sent) in [
            ("", ""),
            ("2026-11-24T03:06", "2026-11-24T03:06:00Z"),
            ("2026-11-24T03:06:49", "2026-11-24T03:06:49Z"),
            ("2026-11-24T03:06:49.5", "2026-11-24T03:06:49.5Z"),
            ("2026-11-24T03:06:49Z", "2026-11-24T03:06:49Z"),
            ("2026-11-24T12:06:49+09:00", "2026-11-24T12:06:49+09:00"),
            ("soon", "soonZ"),
        ] {
            assert_eq!(rfc3339(time), sent, "{time}");
        }
    }
}
