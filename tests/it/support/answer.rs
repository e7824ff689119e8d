//! What a service answered, and checks of it. A check that fails shows the whole answer.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::process::Output;

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

/// What the service answered.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body as JSON; `Null` when it is none.
    pub body: Value,
    /// The body as it came.
    pub text: String,
    /// The path that was asked.
    path: String,
}

impl Answer {
    /// Reads an answer to its end.
    ///
    /// # Errors
    /// When the connection ends before.
    pub async fn read(response: Response) -> reqwest::Result<Self> {
        let (status, headers) = (response.status(), response.headers().clone());
        let path = response.url().path().to_owned();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        assert_times(&body);
        Ok(Self {
            status,
            headers,
            body,
            text,
            path,
        })
    }

    /// It has this status. Returns its body.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{self}");
        &self.body
    }

    /// It says that the request is done. Returns its body.
    #[track_caller]
    pub fn done(&self) -> &Value {
        assert!(self.status.is_success(), "{self}");
        &self.body
    }

    /// It is a problem with this status and code. Returns its body.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> &Value {
        let found = (self.status.as_u16(), &self.body["code"]);
        assert_eq!(found, (status, &code.into()), "{self}");
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self}");
        &self.body
    }

    /// It refuses this field of the request. Returns the message.
    #[track_caller]
    pub fn invalid(&self, field: &str) -> &str {
        let error = &self.refused(422, "invalid-request")["errors"][0];
        assert_eq!(error["field"], field, "{self}");
        error["message"].as_str().unwrap_or_default()
    }

    /// Whether it says that the request was answered before.
    pub fn is_replay(&self) -> bool {
        self.headers
            .get("idempotency-replayed")
            .is_some_and(|value| value == "true")
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.path, self.status, self.text)
    }
}

/// Every time in an answer has three decimals, so that such texts sort by time.
fn assert_times(body: &Value) {
    match body {
        Value::Object(members) => members.values().for_each(assert_times),
        Value::Array(items) => items.iter().for_each(assert_times),
        Value::String(text) => {
            let is_time = text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok();
            let has_three = text
                .rsplit_once('.')
                .is_some_and(|(_, decimals)| decimals.len() == "125Z".len());
            assert!(!is_time || has_three, "a time without three decimals: {text}");
        }
        _ => {}
    }
}

/// These fields of an object are so, whatever its other fields are. A field that it has not is `null`.
macro_rules! assert_has {
    ($found:expr, $fields:tt $(, $($why:tt)+)?) => {
        $crate::support::answer::has(&$found, &serde_json::json!($fields), || String::new() $(+ &format!($($why)+))?)
    };
}
pub(crate) use assert_has;

/// An answer has this status, and its body these fields.
macro_rules! assert_answer {
    ($answer:expr, $status:expr, $fields:tt $(, $($why:tt)+)?) => {{
        let answer = &$answer;
        answer.is($status);
        $crate::support::answer::assert_has!(answer.body, $fields $(, $($why)+)?);
    }};
}
pub(crate) use assert_answer;

/// For [`assert_has`].
#[track_caller]
pub fn has(found: &impl Serialize, fields: &Value, why: impl Fn() -> String) {
    let found = json!(found);
    for (name, value) in fields.as_object().expect("fields by their names") {
        assert_eq!(&found[name], value, "{name} of {found} {}", why());
    }
}

/// What says something in words.
pub trait Says {
    fn words(&self) -> Cow<'_, str>;

    /// It says this.
    #[track_caller]
    fn says(&self, part: &str) {
        let words = self.words();
        assert!(words.contains(part), "it does not say {part:?}: {words}");
    }

    /// It does not say this.
    #[track_caller]
    fn hides(&self, part: &str) {
        let words = self.words();
        assert!(!words.contains(part), "it says {part:?}: {words}");
    }
}

impl Says for str {
    fn words(&self) -> Cow<'_, str> {
        self.into()
    }
}

impl Says for String {
    fn words(&self) -> Cow<'_, str> {
        self.into()
    }
}

impl Says for Value {
    #[track_caller]
    fn words(&self) -> Cow<'_, str> {
        self.as_str().unwrap_or_else(|| panic!("no text: {self}")).into()
    }
}

impl Says for Answer {
    fn words(&self) -> Cow<'_, str> {
        (&self.text).into()
    }
}

/// Its standard output, then its errors.
impl Says for Output {
    fn words(&self) -> Cow<'_, str> {
        let all = [&self.stdout[..], &self.stderr].concat();
        String::from_utf8_lossy(&all).into_owned().into()
    }
}

/// How a command of the program ended.
pub trait Ended {
    /// It did what it should. Returns itself.
    fn done(&self) -> &Self;
}

impl Ended for Output {
    #[track_caller]
    fn done(&self) -> &Self {
        assert!(self.status.success(), "{} {}", self.status, self.words());
        self
    }
}
