//! What operators did.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::ServiceConfig;
use jackpot_kernel::http::openapi::AUDITED;
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde_json::Value;

use super::list::{Listing, heads, wide};
use super::{Desk, Failure, Kind, Page, Section};
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::ledger::queries::audit::AuditRow;

/// Values of one action that its row shows; the whole is behind a button.
const MAX_SHOWN: usize = 12;
/// Characters of a value in a row.
const MAX_CHARS: usize = 120;

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/audit", jackpot_kernel::http::get().to(list));
}

async fn list(desk: Desk) -> Result<HttpResponse, Failure> {
    let any = (String::new(), desk.words.t("audit-any"));
    let actions = AUDITED
        .iter()
        .map(|action| ((*action).to_owned(), action_name(&desk, action)));
    let actions: Vec<_> = [any].into_iter().chain(actions).collect();
    let filters = [
        ("who", "audit-who", Kind::Text),
        ("action", "audit-action", Kind::Choice(&actions)),
        ("jackpot_id", "jackpot-id", Kind::Text),
        ("coupon_id", "coupon-id", Kind::Text),
        ("room_id", "room-id", Kind::Text),
        ("from", "from-utc", Kind::Time),
        ("to", "to-utc", Kind::Time),
    ];
    let listing = Listing {
        page: "/console/audit",
        api: "audit",
        filters: &filters,
    };
    let found = listing.read::<AuditRow>(&desk).await?;
    let page = Page::new(Section::Audit, desk.words.t("audit"))
        .beside(listing.files(&desk))
        .of_form(&found.form);
    let content = html! {
        (listing.filters(&desk, &found))
        @if let Some(list) = &found.list {
            section.panel { div id="audit" data-live=[desk.live()] { (table(&desk, &listing, list)) } }
            (listing.pages(&desk, list))
        }
    };
    Ok(desk.page(&page, &content))
}

fn action_name(desk: &Desk, action: &str) -> String {
    let name = format!("audit-{action}");
    desk.words.t_or(&name, action)
}

fn table(desk: &Desk, listing: &Listing<'_>, list: &PageBody<AuditRow>) -> Markup {
    let words = desk.words;
    if list.items.is_empty() && list.next_cursor.is_none() {
        let text = if listing.is_filtered(desk) {
            "list-no-fit"
        } else {
            "audit-none"
        };
        return html! { div.empty { p { (words.t(text)) } } };
    }
    let rows = html! { table {
        thead { tr {
            (heads(words, &["audit-at", "audit-who", "audit-action", "audit-target", "audit-change", "action-reason"]))
        } }
        tbody { @for row in &list.items { tr {
            td { (time(&row.at)) }
            td.id { (row.who) }
            th.nowrap scope="row" { (action_name(desk, &row.action)) }
            td.id { (row.target) }
            td.stack-small.text.anywhere { (change(desk, row)) }
            td { @if row.reason.is_empty() { span.muted { (words.t("audit-no-reason")) } } @else { (row.reason) } }
        } } }
    } };
    wide(&words.t("audit"), &rows)
}

/// What an action changed: each value before and after, and all of it for who opens it.
fn change(desk: &Desk, row: &AuditRow) -> Markup {
    let words = desk.words;
    let is_new = row.before.is_null() && row.after.is_object();
    let changes = if is_new {
        Vec::new()
    } else {
        changes(&row.before, &row.after)
    };
    let whole = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    html! {
        @if is_new { p { (words.t("audit-new")) } }
        ul.plain { @for (name, before, after) in changes.iter().take(MAX_SHOWN) {
            li {
                @if !name.is_empty() { span.muted.mono { (name.strip_prefix("definition.").unwrap_or(name)) } " " }
                @if let Some(before) = before { (short(before)) " → " }
                @match after { Some(after) => strong { (short(after)) }, None => em { (words.t("audit-gone")) } }
            }
        } }
        @if changes.len() > MAX_SHOWN { p.hint { (words.tv("list-more", [("count", (changes.len() - MAX_SHOWN).into())])) } }
        details {
            summary { (words.t("audit-whole")) }
            dl.stack-small {
                dt { (words.t("action-before")) } dd { pre tabindex="0" { (whole(&row.before)) } }
                dt { (words.t("action-after")) } dd { pre tabindex="0" { (whole(&row.after)) } }
                dt { (words.t("failure-request-id")) } dd.id { (row.request_id) }
            }
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

type Changed = (String, Option<String>, Option<String>);

/// The values that differ, by their path: what each was and is.
fn changes(before: &Value, after: &Value) -> Vec<Changed> {
    let (mut was, mut is) = (BTreeMap::new(), BTreeMap::new());
    flatten(String::new(), before, &mut was);
    flatten(String::new(), after, &mut is);
    let names: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).cloned().collect();
    let changed = names.into_iter().map(|name| {
        let (before, after) = (was.get(&name).cloned(), is.get(&name).cloned());
        (name, before, after)
    });
    changed.filter(|(_, before, after)| before != after).collect()
}

/// `tiers[0].min_payout`, as in the errors of the API.
fn flatten(path: String, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                flatten(path, value, into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                flatten(format!("{path}[{index}]"), value, into);
            }
        }
        Value::Null if path.is_empty() => {}
        Value::String(text) => {
            into.insert(path, text.clone());
        }
        other => {
            into.insert(path, other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use jackpot_ui::language::Language;
    use serde_json::json;

    use super::*;

    fn shown(before: &Value, after: &Value) -> Vec<String> {
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let all = changes(before, after).into_iter();
        all.map(|(name, before, after)| format!("{name}: {} > {}", text(before), text(after)))
            .collect()
    }

    #[test]
    fn every_action_has_a_name_in_each_language() {
        for words in Language::ALL.map(Language::words) {
            let nameless: Vec<_> = AUDITED
                .iter()
                .filter(|action| !words.has(&format!("audit-{action}")))
                .collect();
            assert!(nameless.is_empty(), "{nameless:?}");
        }
    }

    #[test]
    fn a_change_names_only_what_differs() {
        assert_eq!(shown(&json!("open"), &json!("paused")), [": open > paused"]);
        let before = json!({"version": 1, "definition": {"name": "a", "tiers": [{"cap": null}, {"cap": 5}]}});
        let after = json!({"version": 2, "definition": {"name": "a", "tiers": [{"cap": 7}]}});
        assert_eq!(
            shown(&before, &after),
            [
                "definition.tiers[0].cap: null > 7",
                "definition.tiers[1].cap: 5 > -",
                "version: 1 > 2"
            ]
        );
        assert_eq!(shown(&Value::Null, &json!({"a": 1})), ["a: - > 1"]);
        assert!(shown(&before, &before).is_empty());
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        assert_eq!(short("é"), "é");
        assert_eq!(short(&"é".repeat(121)).chars().count(), 121);
    }
}
