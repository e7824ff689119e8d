//! An action of an operator, in steps: what to do, where there is something to fill in; then what it will change, with the
//! reason; then it is done, and the page that shows its effect says so. The form of each step carries the fields of the
//! step before, so that nothing is kept in between, and sending the last one twice is a repeat for the API.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use maud::{Markup, html};

use super::desk::FORM_TOKEN;
use super::list::{heads, number_heads};
use super::{Desk, Field, Form, Kind, Page};

/// The field of the last step.
const CONFIRMED: &str = "confirmed";

/// The field of the reason.
pub const REASON: &str = "reason";

/// A value that an action changes.
#[derive(Debug, Clone)]
pub struct Change {
    pub what: String,
    pub before: String,
    pub after: String,
}

/// The last step of an action, before it is done.
pub struct Action<'a> {
    pub page: Page,
    /// What it means, in sentences.
    pub effects: &'a [String],
    pub changes: &'a [Change],
    /// Text of the button.
    pub button: &'a str,
    /// Whether it can't be taken back.
    pub is_final: bool,
    /// Where "cancel" leads.
    pub back: &'a str,
}

/// Whether the operator has seen what the action changes.
pub fn is_confirmed(form: &Form) -> bool {
    form.get(CONFIRMED) == "yes"
}

/// Keeps the reason of an action whose call has none. A refusal is shown beside the field.
pub async fn keep_reason(desk: &Desk, form: &mut Form) -> bool {
    // The field may be missing.
    form.set(REASON, form.get(REASON).to_owned());
    let kept = desk.keep_reason(form.get(REASON)).await;
    kept.map_err(|problem| form.refused_by(&problem, str::to_owned)).is_ok()
}

impl Action<'_> {
    /// The step that shows what will change and asks for the reason.
    pub fn page(self, desk: &Desk, form: &Form) -> HttpResponse {
        self.page_asking(desk, form, None)
    }

    /// The same with one more field before the reason: its name, and how it is shown.
    pub fn page_asking(self, desk: &Desk, form: &Form, asked: Option<(&str, Markup)>) -> HttpResponse {
        let content = self.content(desk, form, asked);
        desk.page(&self.page.of_form(form), &content)
    }

    fn content(&self, desk: &Desk, form: &Form, asked: Option<(&str, Markup)>) -> Markup {
        let words = desk.words;
        let (asked_name, asked_field) = asked.unwrap_or_default();
        let (label, hint) = (words.t("action-reason"), words.t("action-reason-hint"));
        html! {
            (form.summary(words))
            section.panel.stack {
                h2 { (words.t("action-effect")) }
                @for effect in self.effects { p { (effect) } }
                @if self.is_final { p.note.warn { (words.t("action-final")) } }
                @if !self.changes.is_empty() { (changes(desk, self.changes)) }
            }
            form.panel.stack method="post" {
                (desk.form_token())
                (form.carried(&[CONFIRMED, REASON, FORM_TOKEN, asked_name]))
                input type="hidden" name=(CONFIRMED) value="yes";
                (asked_field)
                (Field::new(REASON, &label, Kind::Text).hint(&hint).of(form))
                div.row {
                    button class=(if self.is_final { "danger" } else { "primary" }) { (self.button) }
                    a.button href=(self.back) { (words.t("action-cancel")) }
                }
            }
        }
    }
}

/// The step before: what the operator fills in, and the ways on and back.
pub fn ask(desk: &Desk, page: Page, form: &Form, back: &str, fields: &Markup) -> HttpResponse {
    let words = desk.words;
    let content = html! {
        (form.summary(words))
        form.panel.stack method="post" {
            (desk.form_token())
            (fields)
            div.row { button.primary { (words.t("action-preview")) } a.button href=(back) { (words.t("action-cancel")) } }
        }
    };
    desk.page(&page.of_form(form), &content)
}

/// A table of what changes.
pub fn changes(desk: &Desk, changes: &[Change]) -> Markup {
    let words = desk.words;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.t("action-changes")) {
            table {
                thead { tr { (heads(words, &["action-what"])) (number_heads(words, &["action-before", "action-after"])) } }
                tbody { @for change in changes {
                    tr { th scope="row" { (change.what) } td.number { (change.before) } td.number { strong { (change.after) } } }
                } }
            }
        }
    }
}

/// The page that shows the effect. `done`: the text that says what was done. It is signed for this session and a minute,
/// so that no link makes a page say what was not done.
pub fn done(desk: &Desk, path: &str, done: &str) -> HttpResponse {
    let sign = if path.contains('?') { '&' } else { '?' };
    let path = format!("{path}{sign}done={}", desk.flash(done));
    HttpResponse::SeeOther().insert_header((LOCATION, path)).finish()
}
