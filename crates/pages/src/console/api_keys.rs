//! API keys: who may call, without any secret, and the commands that make and revoke them. The service makes none: a key is
//! shown once, on the machine where its file is.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::ServiceConfig;
use jackpot_core::clock::rfc3339;
use jackpot_core::signing::Jwks;
use jackpot_ui::time::time;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::list::{heads, wide};
use super::{Desk, Failure, Field, Form, Kind, Page, Section, commands};
use jackpot_kernel::keys::{Expiry, Key, KeyName, KnownKey, MAX_SUBJECTS, Role, Subject};

/// How early a key's end is worth a word.
const SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The fields of a wish.
const FIELDS: [&str; 6] = ["name", "role", "only", "expires", "codes", "owner"];

const ROLES: [Role; 4] = [Role::Play, Role::Read, Role::Operate, Role::Approve];

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/keys", jackpot_kernel::http::get().to(get));
}

/// The keys that the caller may see: all, or its own.
pub fn visible(desk: &Desk) -> Vec<Arc<KnownKey>> {
    let all = desk.console.keys.all();
    let own = desk.session.caller.name();
    let is_seen = |known: &&Arc<KnownKey>| !desk.is_bound() || known.key.name.as_str() == own;
    all.iter().filter(is_seen).cloned().collect()
}

/// Whether the key ends within two weeks.
pub fn ends_soon(key: &Key, now: Timestamp) -> bool {
    !key.is_over(now) && key.expires_at.is_some_and(|at| at <= now + SOON)
}

async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    let (form, made) = wish(&desk);
    let page = Page::new(Section::Keys, desk.words.t("keys")).of_form(&form);
    let content = html! {
        section.panel.stack {
            div id="keys" data-live="1000" { (table(&desk)) }
            @if desk.is_bound() { p.hint { (desk.words.t("keys-bound")) } }
        }
        @if desk.may_operate() { (new_key(&desk, &form, made.as_deref())) (revoking(&desk)) }
        (signing(&desk).await)
    };
    Ok(desk.page(&page, &content))
}

fn table(desk: &Desk) -> Markup {
    let now = Timestamp::now();
    let rows = html! { table {
        thead { tr {
            (heads(desk.words, &["key-name", "key-role", "key-owner", "key-only", "key-codes", "key-created", "key-expires"]))
        } }
        tbody { @for known in visible(desk) { (row(desk, &known.key, now)) } }
    } };
    wide(&desk.words.t("keys"), &rows)
}

fn row(desk: &Desk, key: &Key, now: Timestamp) -> Markup {
    let words = desk.words;
    let at = |at: Timestamp| time(&rfc3339(at.as_millisecond()));
    html! { tr {
        th.nowrap scope="row" { span.id { (key.name.as_str()) } @if key.name.as_str() == desk.session.caller.name() { " " span.badge { (words.t("key-yours")) } } }
        td { (key.role) }
        td.id { (key.owner()) }
        td { @match &key.only { Some(only) => span.id title=(only.in_full()) { (only) }, None => (words.t("key-all")) } }
        td { @if key.sees_codes() { (words.t("key-yes")) } @else { (words.t("key-no")) } }
        td { (at(key.created_at)) }
        td { @match key.expires_at {
            None => (words.t("key-never")),
            Some(end) => {
                (at(end)) " "
                @if key.is_over(now) { span.badge.bad { (words.t("key-over")) } }
                @else if ends_soon(key, now) { span.badge.warn { (words.t("key-soon")) } }
            }
        } }
    } }
}

/// The wish in the address, with what is wrong in it, and the command that makes the key.
fn wish(desk: &Desk) -> (Form, Option<String>) {
    let mut form = Form::default();
    for name in FIELDS {
        form.set(name, desk.query(name));
    }
    if FIELDS.iter().all(|name| form.get(name).is_empty()) {
        form.set("role", "play");
        return (form, None);
    }
    match parsed(desk, &form) {
        Ok(line) => (form, Some(line)),
        Err(wrong) => {
            for (name, why) in wrong {
                form.refuse(name, why);
            }
            (form, None)
        }
    }
}

/// The command `jackpot key new`, with arguments that are checked as it checks them.
fn parsed(desk: &Desk, form: &Form) -> Result<String, Vec<(&'static str, String)>> {
    let words = desk.words;
    let mut wrong = Vec::new();
    if let Err(why) = form.get("name").parse::<KeyName>() {
        wrong.push(("name", why));
    } else if desk
        .console
        .keys
        .all()
        .iter()
        .any(|known| known.key.name.as_str() == form.get("name"))
    {
        wrong.push(("name", words.t("key-name-taken")));
    }
    if !ROLES.iter().any(|role| role.to_string() == form.get("role")) {
        wrong.push(("role", words.t("key-role-wrong")));
    }
    let only: Vec<_> = form.get("only").split_whitespace().collect();
    let subjects: Result<Vec<Subject>, String> = only.iter().map(|text| text.parse()).collect();
    match subjects {
        Err(why) => wrong.push(("only", why)),
        Ok(all) if all.len() > MAX_SUBJECTS => {
            wrong.push(("only", words.tv("key-only-many", [("most", MAX_SUBJECTS.into())])));
        }
        Ok(_) => {}
    }
    let expires = form.get("expires");
    if !expires.is_empty()
        && let Err(why) = expires.parse::<Expiry>().and_then(|end| end.at(Timestamp::now()))
    {
        wrong.push(("expires", why));
    }
    let owner = form.get("owner");
    if !owner.is_empty()
        && let Err(why) = owner.parse::<KeyName>()
    {
        wrong.push(("owner", why));
    }
    let codes = form.get("codes") == "true";
    if codes && form.get("role") != "read" {
        wrong.push(("codes", words.t("key-codes-read")));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut arguments = vec!["key", "new", "--role", form.get("role"), "--name", form.get("name")];
    arguments.extend(only.iter().flat_map(|subject| ["--only", subject]));
    if !expires.is_empty() {
        arguments.extend(["--expires", expires]);
    }
    if codes {
        arguments.push("--codes");
    }
    if !owner.is_empty() {
        arguments.extend(["--owner", owner]);
    }
    Ok(commands::line(desk, &arguments))
}

fn new_key(desk: &Desk, form: &Form, made: Option<&str>) -> Markup {
    let words = desk.words;
    let roles = ROLES.map(|role| (role.to_string(), words.t(&format!("role-{role}"))));
    let [name_hint, owner_hint, only_hint, expires_hint] =
        ["key-name-hint", "key-owner-hint", "key-only-hint", "key-expires-hint"].map(|name| words.t(name));
    html! {
        section.panel.stack id="new" {
            h2 { (words.t("key-new")) }
            p { (words.t("key-new-about")) }
            (form.summary_under(words, "key-refused"))
            form.stack method="get" action="/console/keys#new" {
                div.fields {
                    (Field::new("name", &words.t("key-name"), Kind::Text).hint(&name_hint).of(form))
                    (Field::new("owner", &words.t("key-owner"), Kind::Text).hint(&owner_hint).optional().of(form))
                    (Field::new("expires", &words.t("key-expires"), Kind::Text).hint(&expires_hint).optional().of(form))
                }
                (Field::new("role", &words.t("key-role"), Kind::Choice(&roles)).of(form))
                (Field::new("only", &words.t("key-only"), Kind::Lines).hint(&only_hint).optional().of(form))
                (Field::new("codes", &words.t("key-codes-field"), Kind::Check).optional().of(form))
                div.row { button.primary { (words.t("key-command")) } }
            }
            @if let Some(line) = made {
                p { (words.t("key-new-run")) }
                pre tabindex="0" { code { (line) } }
                p.hint { (words.t("key-new-live")) }
            }
        }
    }
}

fn revoking(desk: &Desk) -> Markup {
    let words = desk.words;
    html! {
        section.panel.stack {
            h2 { (words.t("key-revoke")) }
            p { (words.t("key-revoke-about")) }
            details {
                summary { (words.t("key-revoke-commands")) }
                div.stack-small { @for known in visible(desk) { (commands::shown(desk, &["key", "revoke", known.key.name.as_str()])) } }
            }
        }
    }
}

/// The keys that sign receipts: their public halves.
async fn signing(desk: &Desk) -> Markup {
    let words = desk.words;
    let keys: Result<Jwks, _> = desk.ask("/v1/keys").await;
    html! {
        section.panel.stack {
            h2 { (words.t("signing-keys")) }
            p { (words.t("signing-keys-about")) " " a href="/v1/keys" { code { "/v1/keys" } } }
            @match &keys {
                Ok(keys) => ul.plain { @for (index, key) in keys.keys().iter().enumerate() {
                    li { code { (key.id()) } @if index == 0 { " " span.badge.good { (words.t("signing-now")) } } }
                } },
                Err(problem) => p.note.warn { (problem.detail) },
            }
            @if desk.may_operate() && !desk.is_bound() {
                p { (words.t("signing-rotate")) }
                (commands::shown(desk, &["key", "rotate-signing"]))
            }
        }
    }
}
