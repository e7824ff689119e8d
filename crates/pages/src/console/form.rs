//! Forms: fields with their labels, hints and errors. A field has the name that the API has for it, so an error of the API
//! is shown beside its field.

use jackpot_ui::Words;
use maud::{Markup, html};

use jackpot_kernel::http::problem::ProblemBody;

/// The fields that an operator sent, and what is wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Form {
    values: Vec<(String, String)>,
    wrong: Vec<(String, String)>,
    problem: Option<String>,
}

impl Form {
    pub fn of(values: Vec<(String, String)>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }

    /// The value of a field without the spaces around it; empty without the field.
    pub fn get(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(of, _)| of == name);
        found.map_or("", |(_, value)| value.trim())
    }

    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(of, _)| of == name)
    }

    /// Sets a field, in place of the value that it has.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.values.retain(|(of, _)| of != name);
        self.values.push((name.to_owned(), value.into()));
    }

    /// Removes the fields whose names begin so.
    pub fn remove_all(&mut self, prefix: &str) {
        self.values.retain(|(of, _)| !of.starts_with(prefix));
    }

    /// Every field, in the order in which it was sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Says that a field is wrong.
    pub fn refuse(&mut self, name: &str, rule: impl Into<String>) {
        self.wrong.push((name.to_owned(), rule.into()));
    }

    /// Says that the whole is wrong.
    pub fn refuse_all(&mut self, rule: impl Into<String>) {
        self.problem = Some(rule.into());
    }

    pub fn is_refused(&self) -> bool {
        !self.wrong.is_empty() || self.problem.is_some()
    }

    /// Takes the errors of the API. `name_of` turns a field of the API into one of this form.
    pub fn refused_by(&mut self, problem: &ProblemBody, name_of: impl Fn(&str) -> String) {
        for wrong in &problem.errors {
            self.refuse(&name_of(&wrong.field), wrong.rule.clone());
        }
        // Without a field of the form, only the sentence can say it.
        let is_beside = |(name, _): &(String, String)| self.has(name);
        if self.wrong.is_empty() || !self.wrong.iter().all(is_beside) {
            self.problem = Some(problem.detail.clone());
        }
    }

    /// What is wrong with a field.
    pub fn error(&self, name: &str) -> Option<&str> {
        let found = self.wrong.iter().find(|(of, _)| of == name);
        found.map(|(_, rule)| rule.as_str())
    }

    /// At the top of a refused form: how many fields are wrong, with links to them, and what concerns no field.
    pub fn summary(&self, words: Words) -> Markup {
        self.summary_under(words, "form-refused")
    }

    /// The same under another heading, for a form that changes nothing.
    pub fn summary_under(&self, words: Words, heading: &str) -> Markup {
        html! {
            @if self.is_refused() {
                div.note.bad role="alert" tabindex="-1" id="errors" {
                    p { strong { (words.t(heading)) } }
                    @if let Some(problem) = &self.problem { p { (problem) } }
                    ul { @for (name, rule) in self.wrong.iter().filter(|(name, _)| self.has(name)) {
                        li { a href=(format!("#f-{name}")) { (rule) } }
                    } }
                }
            }
        }
    }

    /// The fields that this form brings to its next step.
    pub fn carried(&self, but: &[&str]) -> Markup {
        html! {
            @for (name, value) in self.iter().filter(|(name, _)| !but.contains(name)) {
                input type="hidden" name=(name) value=(value);
            }
        }
    }
}

/// How a field is filled in.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    Text,
    /// Digits, with a keyboard for them.
    Number,
    /// An amount in the unit of the currency.
    Amount,
    Password,
    /// A time, in UTC.
    Time,
    Date,
    Lines,
    Check,
    /// Values and their texts.
    Choice(&'a [(String, String)]),
}

#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub hint: Option<&'a str>,
    pub kind: Kind<'a>,
    pub required: bool,
}

impl<'a> Field<'a> {
    pub fn new(name: &'a str, label: &'a str, kind: Kind<'a>) -> Self {
        Self {
            name,
            label,
            hint: None,
            kind,
            required: true,
        }
    }

    pub fn hint(self, hint: &'a str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    pub fn optional(self) -> Self {
        Self {
            required: false,
            ..self
        }
    }

    /// The field with its value and what is wrong with it.
    pub fn of(&self, form: &Form) -> Markup {
        let id = format!("f-{}", self.name);
        let error = form.error(self.name);
        let hint_id = self.hint.map(|_| format!("{id}-hint"));
        let error_id = error.map(|_| format!("{id}-error"));
        let about = [hint_id.as_deref(), error_id.as_deref()];
        let about: Vec<_> = about.into_iter().flatten().collect();
        let about = (!about.is_empty()).then(|| about.join(" "));
        html! {
            div.field.wrong[error.is_some()] {
                @if !matches!(self.kind, Kind::Check) { label for=(id) { (self.label) } }
                @if let Some(hint) = self.hint { p.hint id=[hint_id.as_deref()] { (hint) } }
                @if let Some(error) = error { p.error id=[error_id.as_deref()] { (error) } }
                (self.input(&id, form, about.as_deref()))
            }
        }
    }

    fn input(&self, id: &str, form: &Form, about: Option<&str>) -> Markup {
        let (name, value) = (self.name, form.get(self.name));
        let invalid = form.error(name).map(|_| "true");
        let plain = |kind: &str, mode: Option<&str>, complete: &str| {
            html! { input id=(id) name=(name) type=(kind) value=(value) required[self.required] inputmode=[mode] autocomplete=(complete)
            aria-describedby=[about] aria-invalid=[invalid]; }
        };
        match self.kind {
            Kind::Text => plain("text", None, "off"),
            Kind::Number => plain("text", Some("numeric"), "off"),
            Kind::Amount => plain("text", Some("decimal"), "off"),
            Kind::Password => plain("password", None, "current-password"),
            // Seconds and below are times too.
            Kind::Time => {
                html! { input id=(id) name=(name) type="datetime-local" step="any" value=(value) required[self.required]
                autocomplete="off" aria-describedby=[about] aria-invalid=[invalid]; }
            }
            Kind::Date => html! {
                input id=(id) name=(name) type="date" value=(value) required[self.required]
                autocomplete="off" aria-describedby=[about] aria-invalid=[invalid];
            },
            Kind::Lines => html! {
                textarea id=(id) name=(name) required[self.required] aria-describedby=[about] aria-invalid=[invalid] { (value) }
            },
            Kind::Check => html! {
                label.check for=(id) {
                    input id=(id) name=(name) type="checkbox" value="true" checked[value == "true"] aria-describedby=[about];
                    (self.label)
                }
            },
            Kind::Choice(choices) => html! {
                select id=(id) name=(name) aria-describedby=[about] aria-invalid=[invalid] {
                    @for (of, text) in choices { option value=(of) selected[of == value] { (text) } }
                }
            },
        }
    }
}

/// Values of a field, with the texts `{of}-{value}`.
pub fn choices(words: Words, of: &str, values: &[&str]) -> Vec<(String, String)> {
    let text = |value: &&str| ((*value).to_owned(), words.t(&format!("{of}-{value}")));
    values.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;
    use jackpot_kernel::http::code::Code;
    use jackpot_kernel::http::problem::FieldError;

    fn form() -> Form {
        Form::of(vec![
            ("tier".to_owned(), " grand ".to_owned()),
            ("amount".to_owned(), "<5>".to_owned()),
        ])
    }

    #[test]
    fn an_error_of_the_api_is_beside_its_field() {
        let mut form = form();
        let problem = ProblemBody {
            kind: String::new(),
            status: 422,
            code: Code::InvalidRequest,
            title: String::new(),
            detail: "amount: must not be 0".to_owned(),
            errors: vec![FieldError {
                field: "amount".to_owned(),
                rule: "must not be 0".to_owned(),
            }],
        };
        form.refused_by(&problem, str::to_owned);
        let field = Field::new("amount", "Amount", Kind::Amount)
            .hint("In €")
            .of(&form)
            .into_string();
        assert!(
            field.contains("<p class=\"error\" id=\"f-amount-error\">must not be 0</p>"),
            "{field}"
        );
        assert!(
            field.contains("aria-describedby=\"f-amount-hint f-amount-error\" aria-invalid=\"true\""),
            "{field}"
        );
        assert!(field.contains("value=\"&lt;5&gt;\""), "{field}");
        let summary = form.summary(Language::En.words()).into_string();
        assert!(
            summary.contains("href=\"#f-amount\"") && !summary.contains("amount: must"),
            "{summary}"
        );
    }

    #[test]
    fn an_error_without_a_field_is_a_sentence() {
        let mut form = form();
        let problem = ProblemBody {
            kind: String::new(),
            status: 409,
            code: Code::JackpotClosed,
            title: String::new(),
            detail: "the jackpot is closed".to_owned(),
            errors: Vec::new(),
        };
        form.refused_by(&problem, str::to_owned);
        assert!(
            form.summary(Language::En.words())
                .into_string()
                .contains("the jackpot is closed")
        );
        assert_eq!(form.get("tier"), "grand");
    }

    #[test]
    fn what_is_carried_is_escaped() {
        let carried = form().carried(&["tier"]).into_string();
        assert_eq!(carried, "<input type=\"hidden\" name=\"amount\" value=\"&lt;5&gt;\">");
    }
}
