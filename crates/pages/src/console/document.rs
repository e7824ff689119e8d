//! Definitions of coupons and rooms as forms: their fields, what a PUT would change, the PUT. It is conditional, so that
//! nobody overwrites what another operator changed meanwhile.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use jackpot_core::ids::Id;
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::action::{self, Action, Change};
use super::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, links};
use jackpot_kernel::http::problem::ProblemBody;

/// The field of a new thing's id.
pub const ID: &str = "id";
/// The field of the version that the operator saw.
const VERSION: &str = "version";
/// The version that no definition has. A PUT on condition of it is checked like any other and changes nothing.
const NEVER: &str = "\"0\"";

/// A field of a definition.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// In the API and in the form.
    pub name: &'static str,
    pub shape: Shape,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Text,
    /// A text or null.
    MaybeText,
    Number,
    /// A number or null.
    MaybeNumber,
    /// A time or null.
    MaybeTime,
    /// Texts, a line each.
    Lines,
}

/// Things that have a definition, and the part of it that a form asks for.
#[derive(Debug, Clone, Copy)]
pub struct Thing {
    pub section: Section,
    /// Begins the names of its texts, such as `coupon`. Its plural is in the paths of the console and of the API.
    pub name: &'static str,
    /// Every field of the definition.
    pub fields: &'static [Spec],
    /// The fields of the form.
    pub asked: &'static [Spec],
    /// Names the action in its texts: `new`, `change`.
    pub verb: &'static str,
    /// What a PUT means: the definition before, if there is one, and after.
    pub effects: fn(Words, Option<&Value>, &Value) -> Vec<String>,
}

impl Spec {
    pub const fn new(name: &'static str, shape: Shape) -> Self {
        Self { name, shape }
    }

    /// The value of the form. What is no value of this shape goes to the API as it is, which says what is wrong.
    fn value(self, form: &Form) -> Value {
        let text = form.get(self.name);
        match self.shape {
            Shape::Text => text.into(),
            Shape::Lines => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            _ if text.is_empty() => Value::Null,
            Shape::MaybeText => text.into(),
            Shape::Number | Shape::MaybeNumber => {
                let digits = text.replace([',', ' '], "");
                digits.parse::<u64>().map_or_else(|_| text.into(), Value::from)
            }
            Shape::MaybeTime => rfc3339(text).into(),
        }
    }

    /// The value for the form.
    fn text(self, value: &Value) -> String {
        match value {
            Value::String(text) if self.shape == Shape::MaybeTime => local(text),
            Value::String(text) => text.clone(),
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// The value for a reader.
    fn shown(self, words: Words, value: &Value) -> String {
        match value {
            Value::String(text) if self.shape == Shape::MaybeTime => format!("{} UTC", local(text).replace('T', " ")),
            Value::Number(number) => number
                .as_u64()
                .map_or_else(|| number.to_string(), |number| grouped(number.into())),
            Value::Array(lines) if !lines.is_empty() => {
                lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            Value::Null | Value::Array(_) => words.t("value-none"),
            _ => self.text(value),
        }
    }

    fn kind(self) -> Kind<'static> {
        match self.shape {
            Shape::Text | Shape::MaybeText => Kind::Text,
            Shape::Number | Shape::MaybeNumber => Kind::Number,
            Shape::MaybeTime => Kind::Time,
            Shape::Lines => Kind::Lines,
        }
    }
}

/// `2026-12-01T00:00` of a form as RFC 3339.
fn rfc3339(text: &str) -> String {
    match text.len() {
        16 => format!("{text}:00Z"),
        17.. if !text.ends_with('Z') && !text.contains('+') => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

/// The reverse, for a time of the API.
fn local(text: &str) -> String {
    let text = text.strip_suffix('Z').unwrap_or(text);
    text.strip_suffix(".000").unwrap_or(text).to_owned()
}

impl Thing {
    fn label(&self, words: Words, spec: Spec) -> String {
        words.t(&self.text_of(spec))
    }

    fn text_of(&self, spec: Spec) -> String {
        format!("{}-{}", self.name, spec.name.replace('_', "-"))
    }

    fn api(&self, id: &str) -> String {
        format!("/v1/{}s/{}", self.name, links::part(id))
    }

    /// The list in the console.
    fn list(&self) -> String {
        format!("/console/{}s", self.name)
    }

    fn page_of(&self, id: &str) -> String {
        format!("{}/{}", self.list(), links::part(id))
    }

    /// The definition alone, of an answer of the API.
    fn document(&self, value: &Value) -> Map<String, Value> {
        let field = |spec: &Spec| (spec.name.to_owned(), value[spec.name].clone());
        self.fields.iter().map(field).collect()
    }

    /// The definition that the form asks for: what it does not ask for stays as it is.
    fn wanted(&self, current: Option<&Value>, form: &Form) -> Value {
        let mut wanted = current.map(|current| self.document(current)).unwrap_or_default();
        for spec in self.asked {
            wanted.insert(spec.name.to_owned(), spec.value(form));
        }
        wanted.into()
    }

    /// The definition as facts.
    pub fn facts(&self, words: Words, value: &Value) -> Markup {
        html! {
            dl.facts { @for spec in self.fields {
                dt { (self.label(words, *spec)) }
                dd { (spec.shown(words, &value[spec.name])) }
            } }
        }
    }

    /// The form of a new one, with these defaults.
    pub fn ask_new(&self, desk: &Desk, defaults: &[(&str, &str)]) -> HttpResponse {
        let mut form = Form::default();
        form.set(ID, desk.query(ID));
        for spec in self.asked {
            form.set(spec.name, "");
        }
        for (name, value) in defaults {
            form.set(name, *value);
        }
        self.ask(desk, None, &form)
    }

    /// The form of a change.
    pub async fn ask_change(&self, desk: &Desk, id: &str) -> Result<HttpResponse, Failure> {
        let current: Value = desk.get(&self.api(id)).await?;
        let mut form = Form::default();
        form.set(VERSION, current["version"].to_string());
        for spec in self.asked {
            form.set(spec.name, spec.text(&current[spec.name]));
        }
        Ok(self.ask(desk, Some(&current), &form))
    }

    fn ask(&self, desk: &Desk, current: Option<&Value>, form: &Form) -> HttpResponse {
        let words = desk.words;
        let back = current.map_or_else(|| self.list(), |current| self.page_of(id_of(current)));
        let page = self.page(desk, current);
        let about = format!("{}-{}-about", self.name, self.verb);
        let fields = html! {
            @if form.has(VERSION) { input type="hidden" name=(VERSION) value=(form.get(VERSION)); }
            @if words.has(&about) { p { (words.t(&about)) } }
            div.fields {
                @if current.is_none() {
                    (Field::new(ID, &words.t("field-id"), Kind::Text).hint(&words.t("field-id-hint")).of(form))
                }
                @for spec in self.asked { (self.field(words, *spec, form)) }
            }
        };
        action::ask(desk, page, form, &back, &fields)
    }

    fn field(&self, words: Words, spec: Spec, form: &Form) -> Markup {
        let (label, name) = (self.label(words, spec), format!("{}-hint", self.text_of(spec)));
        let hint = words.has(&name).then(|| words.t(&name));
        let field = Field {
            hint: hint.as_deref(),
            required: matches!(spec.shape, Shape::Text | Shape::Number),
            ..Field::new(spec.name, &label, spec.kind())
        };
        field.of(form)
    }

    fn page(&self, desk: &Desk, current: Option<&Value>) -> Page {
        let name = current.map(name_of).unwrap_or_default();
        let words = desk.words;
        let title = words.tv(&format!("{}-{}-title", self.name, self.verb), [("name", name.into())]);
        let list = (words.t(&format!("{}s", self.name)), self.list());
        let one = current.map(|current| (name_of(current).to_owned(), self.page_of(id_of(current))));
        Page::new(self.section, title).under([list].into_iter().chain(one).collect::<Vec<_>>())
    }

    /// Checks the form, shows what it changes, and changes it once the operator has confirmed that. `id`: none for a
    /// new one.
    pub async fn post(&self, posted: Posted, id: Option<&str>) -> Result<HttpResponse, Failure> {
        let Posted { desk, mut form } = posted;
        let current = match id {
            Some(id) => Some(desk.get::<Value>(&self.api(id)).await?),
            None => None,
        };
        let id = id.unwrap_or_else(|| form.get(ID)).to_owned();
        if current.is_none() && !is_free(&desk, &id, &self.api(&id), &mut form).await? {
            return Ok(self.ask(&desk, None, &form));
        }
        let wanted = self.wanted(current.as_ref(), &form);
        if action::is_confirmed(&form) && action::keep_reason(&desk, &mut form).await {
            let tag = format!("\"{}\"", form.get(VERSION));
            let (condition, tag) = match current {
                None => (IF_NONE_MATCH, "*"),
                Some(_) => (IF_MATCH, tag.as_str()),
            };
            match self.put(&desk, &id, condition, tag, &wanted).await {
                Ok(_) => {
                    return Ok(action::done(
                        &desk,
                        &self.page_of(&id),
                        &format!("done-{}-{}", self.name, self.verb),
                    ));
                }
                Err(problem) if problem.status == 412 => {}
                Err(problem) => {
                    form.refused_by(&problem, field_of);
                    return Ok(self.ask(&desk, current.as_ref(), &form));
                }
            }
        } else if let Err(problem) = self.put(&desk, &id, IF_MATCH, NEVER, &wanted).await
            && problem.status != 412
        {
            form.refused_by(&problem, field_of);
            return Ok(self.ask(&desk, current.as_ref(), &form));
        }
        Ok(self.preview(&desk, current.as_ref(), &wanted, &mut form))
    }

    async fn put(
        &self,
        desk: &Desk,
        id: &str,
        condition: HeaderName,
        tag: &str,
        wanted: &Value,
    ) -> Result<Value, ProblemBody> {
        desk.call_if(Method::PUT, &self.api(id), Some(wanted), condition, tag)
            .await
    }

    fn preview(&self, desk: &Desk, current: Option<&Value>, wanted: &Value, form: &mut Form) -> HttpResponse {
        let words = desk.words;
        let changes = self.changes(words, current, wanted);
        if let Some(current) = current {
            let version = current["version"].to_string();
            if changes.is_empty() {
                form.refuse_all(words.t("nothing-changes"));
                return self.ask(desk, Some(current), form);
            }
            if form.get(VERSION) != version {
                form.refuse_all(words.t("changed-meanwhile"));
                form.set(VERSION, version);
            }
        }
        let back = current.map_or_else(|| self.list(), |current| self.page_of(id_of(current)));
        let action = Action {
            page: self.page(desk, current),
            effects: &(self.effects)(words, current, wanted),
            changes: &changes,
            button: &words.t(&format!("{}-{}-do", self.name, self.verb)),
            is_final: false,
            back: &back,
        };
        action.page(desk, form)
    }

    /// The fields that differ.
    fn changes(&self, words: Words, current: Option<&Value>, wanted: &Value) -> Vec<Change> {
        let change = |spec: &Spec| {
            let before = current.map_or_else(String::new, |current| spec.shown(words, &current[spec.name]));
            let after = spec.shown(words, &wanted[spec.name]);
            (before != after).then(|| Change {
                what: self.label(words, *spec),
                before,
                after,
            })
        };
        self.asked.iter().filter_map(change).collect()
    }
}

/// Whether a new thing may have this id, which the API has at `path`. Says beside the field why not.
pub async fn is_free(desk: &Desk, id: &str, path: &str, form: &mut Form) -> Result<bool, Failure> {
    if Id::parse(id).is_err() {
        form.refuse(ID, desk.words.t("field-id-wrong"));
        return Ok(false);
    }
    match desk.ask::<Value>(path).await {
        // Its own repeat, or that of another operator.
        Ok(_) => {
            form.refuse(ID, desk.words.t("field-id-taken"));
            Ok(false)
        }
        Err(problem) if problem.status == 404 => Ok(true),
        Err(problem) => Err(Failure::of_api(desk.words, problem)),
    }
}

/// An item of a list is shown beside the field of the list.
fn field_of(name: &str) -> String {
    name.split(['[', '.']).next().unwrap_or(name).to_owned()
}

fn id_of(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_default()
}

/// What people call it.
pub fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_else(|| id_of(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_of_a_form_is_one_of_the_api_and_back() {
        for (form, api) in [
            ("2026-12-01T00:00", "2026-12-01T00:00:00Z"),
            ("2026-12-01T00:00:07", "2026-12-01T00:00:07Z"),
            ("2026-12-01T00:00:07.5", "2026-12-01T00:00:07.5Z"),
            ("2026-12-01T00:00:07Z", "2026-12-01T00:00:07Z"),
            ("2026-12-01T09:00:00+09:00", "2026-12-01T09:00:00+09:00"),
            ("soon", "soon"),
        ] {
            assert_eq!(rfc3339(form), api);
        }
        assert_eq!(local("2026-12-01T00:00:00.000Z"), "2026-12-01T00:00:00");
        assert_eq!(local("2026-12-01T00:00:00.120Z"), "2026-12-01T00:00:00.120");
    }

    #[test]
    fn values_go_to_the_api_in_their_shape_and_what_has_none_as_it_is() {
        for (shape, text, value) in [
            (Shape::Number, "1,200", json!(1200)),
            (Shape::Number, "many", json!("many")),
            (Shape::Number, "-1", json!("-1")),
            (Shape::MaybeNumber, "", json!(null)),
            (Shape::Text, "", json!("")),
            (Shape::MaybeText, "", json!(null)),
            (Shape::Lines, " a \n\n b", json!(["a", "b"])),
            (Shape::MaybeTime, "2026-12-01T00:00", json!("2026-12-01T00:00:00Z")),
        ] {
            let mut form = Form::default();
            form.set("x", text);
            assert_eq!(Spec::new("x", shape).value(&form), value, "{text}");
        }
    }
}
