//! What lists share: filters in the address, a box for wide tables, the next page, badges.

use maud::{Markup, html};

use super::desk::Desk;
use super::form::{Field, Form, Kind};
use super::links;

/// The link to the next page of a list, with the filters of this one.
pub fn next_page(desk: &Desk, path: &str, filters: &[(&str, &str)], cursor: Option<&str>) -> Markup {
    html! {
        @if let Some(cursor) = cursor {
            @let filters: Vec<_> = filters.iter().copied().chain([("cursor", cursor)]).collect();
            nav.pages { a.button href=(links::with_query(path, &filters)) rel="next" { (desk.words.t("next-page")) } }
        }
    }
}

/// The status of a jackpot, coupon or room, by its word in the API.
pub fn status(desk: &Desk, status: &str) -> Markup {
    let class = match status {
        "open" => "badge good",
        "suspended" => "badge bad",
        "paused" | "holding" => "badge warn",
        _ => "badge",
    };
    let name = format!("status-{status}");
    html! { span class=(class) { @if desk.words.has(&name) { (desk.words.t(&name)) } @else { (status) } } }
}

/// A table that scrolls inside its box, also by keyboard.
pub fn wide(label: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (table) } }
}

/// A filter of a list: its name in the address, its label, how it is filled in.
pub type Filter<'a> = (&'a str, &'a str, Kind<'a>);

/// The form of a list's filters. It sends them in the address, so a list can be kept as a link.
pub fn filters(desk: &Desk, path: &str, filters: &[Filter<'_>]) -> Markup {
    let words = desk.words;
    let mut form = Form::default();
    for (name, ..) in filters {
        form.set(name, desk.query(name));
    }
    html! {
        form.panel.stack method="get" action=(path) role="search" {
            div.fields { @for (name, label, kind) in filters { (Field::new(name, label, *kind).optional().of(&form)) } }
            div.row { button.primary { (words.t("filter")) } a.button href=(path) { (words.t("filter-none")) } }
        }
    }
}
