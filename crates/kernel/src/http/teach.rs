//! Finds every mistake of an input, and what to send instead. Only refused inputs come here.
//!
//! A type reads its input until the first mistake. So each mistake is replaced by the example's value from the
//! description of the type, and the rest is read again. The bounds come from the description as well.

use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use utoipa::ToSchema;

use super::objects::Objects;
use super::openapi;
use super::problem::FieldError;
use super::shape;
use crate::subject::kinds::KindName;

/// Most mistakes in an answer. More would not help.
const MAX_ERRORS: usize = 50;
/// Most bytes read again for one input. A large input gets fewer repairs.
const MAX_READ_AGAIN: usize = 4 * 1024 * 1024;
/// Most repairs of any input.
const LEAST_ROUNDS: usize = 4;

/// The body of a request. The description has its schema and an example under its name.
pub trait Described: DeserializeOwned + ToSchema {
    /// Fields that rules relate to one another. If one of them was not understood, these rules are not checked.
    const RELATED: &'static [&'static str] = &[];

    /// Bytes of the longest allowed body, if that may be more than `http.max_body_bytes`.
    const LONGEST: usize = 0;

    /// Whether its integers must be written as digits alone. A stake with a point shows that a game reckons in floats.
    const DIGITS_ALONE: bool = false;

    /// The subjects that the body names beside the path, such as a coupon as a prize. [`super::body::Body`] refuses one that a
    /// bound key may not name, before anything looks whether it exists.
    fn subjects(&self) -> Vec<(KindName, &Id)> {
        Vec::new()
    }

    /// The broken rules that this type can check alone. Called only when something else is wrong: the handler checks an
    /// input of the right shape.
    fn broken(self) -> Vec<Violation> {
        Vec::new()
    }
}

/// Declares the body of a request whose document is a type of another crate: [`Described`] is then for the crate that
/// takes the request. The description knows it by the document's name.
///
/// ```
/// use jackpot_kernel::http::body::Described;
/// use utoipa::ToSchema;
///
/// #[derive(Debug, serde::Deserialize, ToSchema)]
/// pub struct Glass {
///     full: bool,
/// }
///
/// jackpot_kernel::document!(GlassBody, Glass);
/// impl Described for GlassBody {}
///
/// assert_eq!(GlassBody::name(), "Glass");
/// assert!(serde_json::from_str::<GlassBody>(r#"{"full": true}"#).unwrap().0.full);
/// ```
#[macro_export]
macro_rules! document {
    ($body:ident, $document:ty) => {
        /// What a request brings.
        #[derive(Debug, serde::Deserialize)]
        #[serde(transparent)]
        pub(crate) struct $body(pub(crate) $document);

        impl utoipa::PartialSchema for $body {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                <$document as utoipa::PartialSchema>::schema()
            }
        }

        impl utoipa::ToSchema for $body {
            fn name() -> std::borrow::Cow<'static, str> {
                <$document as utoipa::ToSchema>::name()
            }

            fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
                <$document as utoipa::ToSchema>::schemas(schemas);
            }
        }
    };
}

/// All mistakes of a body: at least `first`, the reason of the refusal.
pub(super) fn all<T: Described>(bytes: &[u8], first: FieldError) -> Vec<FieldError> {
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else {
        return vec![first];
    };
    let (schema, example) = (Schema::named(&T::name()), openapi::example(&T::name()));
    let mut errors = Vec::new();
    // The value keeps the last of two equal keys, so this mistake is gone.
    if first.rule == shape::TWICE {
        errors.push(first.clone());
    }
    let mut put_right = Vec::new();
    for _ in 0..(MAX_READ_AGAIN / bytes.len().max(1)).clamp(LEAST_ROUNDS, MAX_ERRORS + 1) {
        match serde_path_to_error::deserialize::<_, T>(Objects(&value)) {
            Ok(body) => {
                add_broken(body, &put_right, &mut errors);
                break;
            }
            Err(error) => {
                let mistake = Mistake::of(error.path(), &error.inner().to_string());
                errors.push(mistake.taught(schema.as_ref()));
                if !mistake.put_right(&mut value, example) {
                    break;
                }
                put_right.push(mistake);
            }
        }
    }
    if errors.is_empty() {
        errors.push(first);
    }
    cut(errors)
}

/// At most [`MAX_ERRORS`], each field once.
pub(super) fn cut(mut errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = std::collections::BTreeSet::new();
    errors.retain(|error| seen.insert((error.field.clone(), error.rule.clone())));
    if errors.len() > MAX_ERRORS {
        errors.truncate(MAX_ERRORS);
        let rule = format!("more fields are wrong: only the first {MAX_ERRORS} mistakes are listed");
        errors.push(FieldError::new("", rule));
    }
    errors
}

/// The rules that the rest breaks, if no repaired value is involved.
fn add_broken<T: Described>(body: T, put_right: &[Mistake], errors: &mut Vec<FieldError>) {
    let touched = put_right
        .iter()
        .filter(|mistake| !matches!(mistake.kind, MistakeKind::Unknown))
        .map(Mistake::top)
        .collect::<Vec<_>>();
    let related = touched.iter().any(|top| T::RELATED.contains(&top.as_str()));
    for violation in body.broken() {
        let top = top_of(&violation.field);
        let concerned = touched.iter().any(|other| other == top) || (related && T::RELATED.contains(&top));
        if !concerned {
            errors.push(violation.into());
        }
    }
}

fn top_of(field: &str) -> &str {
    field.split(['.', '[']).next().unwrap_or_default()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Place(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MistakeKind {
    Missing,
    Unknown,
    Wrong,
}

/// A mistake and its place.
#[derive(Debug, Clone)]
struct Mistake {
    steps: Vec<Step>,
    kind: MistakeKind,
    error: FieldError,
    /// The rule in our words, not in the parser's.
    ours: bool,
}

impl Mistake {
    fn of(path: &Path, message: &str) -> Self {
        let error = shape::field_error(path, message);
        let mut steps = Vec::new();
        for segment in path {
            match segment {
                Segment::Seq { index } => steps.push(Step::Place(*index)),
                Segment::Map { key } => steps.push(Step::Name(key.clone())),
                Segment::Enum { variant } => steps.push(Step::Name(variant.clone())),
                Segment::Unknown => {}
            }
        }
        let (kind, name) = match shape::named(message) {
            Some((shape::MISSING, name)) => (MistakeKind::Missing, Some(name)),
            Some((shape::UNKNOWN, name)) => (MistakeKind::Unknown, Some(name)),
            _ => (MistakeKind::Wrong, None),
        };
        if let Some(name) = name
            && steps.last() != Some(&Step::Name(name.to_owned()))
        {
            steps.push(Step::Name(name.to_owned()));
        }
        let ours = message.starts_with("must ");
        Self {
            steps,
            kind,
            error,
            ours,
        }
    }

    fn top(&self) -> String {
        match self.steps.first() {
            Some(Step::Name(name)) => name.clone(),
            _ => String::new(),
        }
    }

    /// The error with the allowed values, from the description.
    fn taught(&self, schema: Option<&Schema>) -> FieldError {
        let mut error = self.error.clone();
        let found = schema.and_then(|schema| match self.kind {
            MistakeKind::Unknown => {
                let parent = schema.at(&self.steps[..self.steps.len().saturating_sub(1)])?;
                let names = parent.fields();
                (!names.is_empty()).then(|| format!("{}; known are {}", shape::UNKNOWN, names.join(", ")))
            }
            MistakeKind::Missing => Some(format!("{}: {}", shape::MISSING, schema.at(&self.steps)?.phrase()?)),
            MistakeKind::Wrong if self.ours => None,
            MistakeKind::Wrong => Some(format!("must be {}", schema.at(&self.steps)?.phrase()?)),
        });
        if let Some(rule) = found {
            error.rule = shape::cut(&rule);
        }
        error
    }

    /// Repairs the value so that reading continues after this mistake. Returns whether that was possible.
    fn put_right(&self, value: &mut Value, example: Option<&Value>) -> bool {
        let Some((last, before)) = self.steps.split_last() else {
            return false;
        };
        if self.kind == MistakeKind::Unknown {
            let parent = find_mut(value, before).and_then(Value::as_object_mut);
            return parent.is_some_and(|parent| matches!(last, Step::Name(name) if parent.remove(name).is_some()));
        }
        // The nearest value in the example, from the field itself outwards.
        for depth in (1..=self.steps.len()).rev() {
            let steps = &self.steps[..depth];
            let Some(good) = example.and_then(|example| find(example, steps)) else {
                continue;
            };
            let target = match find_mut(value, steps) {
                Some(target) => target,
                None => match (find_mut(value, &steps[..depth - 1]), steps.last()) {
                    (Some(Value::Object(parent)), Some(Step::Name(name))) => {
                        parent.entry(name.clone()).or_insert(Value::Null)
                    }
                    _ => continue,
                },
            };
            if target != good {
                *target = good.clone();
                return true;
            }
        }
        // An optional field that the example does not have.
        match (find_mut(value, before), last) {
            (Some(Value::Object(parent)), Step::Name(name)) => parent.remove(name).is_some(),
            _ => false,
        }
    }
}

fn find_mut<'a>(value: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Name(name) => value.as_object_mut()?.get_mut(name),
        Step::Place(place) => value.as_array_mut()?.get_mut(*place),
    })
}

/// In an example, every place of a list is like its first.
fn find<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Name(name) => value.as_object()?.get(name),
        Step::Place(place) => value.as_array().and_then(|all| all.get(*place).or(all.first())),
    })
}

/// A mistake in a parameter of the operation at this path, with the allowed values.
pub(super) fn parameter(path: &str, error: FieldError) -> FieldError {
    let schema = Schema::parameter(path, &error.field);
    let phrase = schema.and_then(Schema::phrase);
    let rule = match (error.rule.as_str(), phrase) {
        (shape::UNKNOWN, _) => match Schema::parameters(path) {
            names if names.is_empty() => format!("{}; this takes no parameters", shape::UNKNOWN),
            names => format!("{}; known are {}", shape::UNKNOWN, names.join(", ")),
        },
        (shape::MISSING, Some(phrase)) => format!("{}: {phrase}", shape::MISSING),
        (shape::TWICE, _) => shape::TWICE.to_owned(),
        (ours, _) if ours.starts_with("must be") && !ours.starts_with("must be an integer") => return error,
        (_, Some(phrase)) => format!("must be {phrase}"),
        _ => return error,
    };
    FieldError::new(error.field, shape::cut(&rule))
}

/// A value that a parameter of the operation at this path can have.
pub(super) fn example_of(path: &str, name: &str) -> String {
    match Schema::described(path, name).and_then(|parameter| parameter.get("example")) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "1".to_owned(),
    }
}

/// A schema of the description.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    value: &'static Value,
    document: &'static Value,
}

impl Schema {
    fn named(name: &str) -> Option<Self> {
        let document = openapi::document()?;
        let value = document["components"]["schemas"].get(name)?;
        Some(Self { value, document })
    }

    /// The schema of a parameter of the operations at this path. A name means the same in all of them.
    fn parameter(path: &str, name: &str) -> Option<Self> {
        let document = openapi::document()?;
        let value = Self::described(path, name)?.get("schema")?;
        Some(Self { value, document })
    }

    fn described(path: &str, name: &str) -> Option<&'static Value> {
        Self::all_parameters(path).find(|one| one["name"] == name)
    }

    fn all_parameters(path: &str) -> impl Iterator<Item = &'static Value> {
        let item = openapi::document().and_then(|document| document["paths"].get(path)?.as_object());
        let operations = item.into_iter().flat_map(|item| item.values());
        operations
            .filter_map(|operation| operation.get("parameters")?.as_array())
            .flatten()
    }

    /// The names of the parameters that a query can have.
    fn parameters(path: &str) -> Vec<&'static str> {
        let in_query = Self::all_parameters(path).filter(|one| one["in"] == "query");
        in_query.filter_map(|one| one["name"].as_str()).collect()
    }

    fn of(self, value: &'static Value) -> Self {
        Self { value, ..self }.resolved()
    }

    fn resolved(self) -> Self {
        let reference = self.value.get("$ref").and_then(Value::as_str);
        let found = reference.and_then(|reference| self.document.pointer(reference.strip_prefix('#')?));
        Self {
            value: found.unwrap_or(self.value),
            ..self
        }
    }

    fn variants(self) -> impl Iterator<Item = Self> {
        let all = self.value.get("oneOf").and_then(Value::as_array);
        all.into_iter().flatten().map(move |one| self.of(one))
    }

    fn at(self, steps: &[Step]) -> Option<Self> {
        let schema = self.resolved();
        let Some((first, rest)) = steps.split_first() else {
            return Some(schema);
        };
        let inner = match first {
            Step::Name(name) => schema.value.get("properties").and_then(|all| all.get(name)),
            Step::Place(_) => schema.value.get("items"),
        };
        match inner {
            Some(inner) => schema.of(inner).at(rest),
            None => schema.variants().find_map(|variant| variant.at(steps)),
        }
    }

    fn fields(self) -> Vec<&'static str> {
        let properties = self.value.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn is_null(self) -> bool {
        self.value["type"] == "null"
    }

    fn is(self, kind: &str) -> bool {
        match &self.value["type"] {
            Value::String(only) => only == kind,
            Value::Array(kinds) => kinds.iter().any(|one| one == kind),
            _ => false,
        }
    }

    /// Its kind, for "must be …".
    pub(super) fn phrase(self) -> Option<String> {
        let schema = self.resolved();
        let variants = schema.variants().collect::<Vec<_>>();
        let (nulls, rest): (Vec<_>, Vec<_>) = variants.into_iter().partition(|one| one.is_null());
        let mut parts = Vec::new();
        if !nulls.is_empty() || schema.is("null") {
            parts.push("null".to_owned());
        }
        if rest.is_empty() {
            parts.push(schema.plain()?);
        }
        for one in rest {
            parts.push(one.phrase()?);
        }
        Some(parts.join(" or "))
    }

    fn plain(self) -> Option<String> {
        let value = self.value;
        let number = |key: &str| value.get(key).map(Value::to_string);
        if let Some(values) = value.get("enum").and_then(Value::as_array) {
            let values = values.iter().filter(|one| !one.is_null()).map(Value::to_string);
            let values = values.collect::<Vec<_>>();
            return Some(if values.len() == 1 {
                values.concat()
            } else {
                format!("one of {}", values.join(", "))
            });
        }
        let range = |what: &str, least: &str, most: &str| match (number(least), number(most)) {
            (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
            (Some(least), None) => format!("{what} from {least}"),
            (None, Some(most)) => format!("{what} up to {most}"),
            (None, None) => what.to_owned(),
        };
        Some(if self.is("integer") {
            range("an integer", "minimum", "maximum")
        } else if self.is("number") {
            range("a number", "minimum", "maximum")
        } else if self.is("boolean") {
            "true or false".to_owned()
        } else if self.is("array") {
            match (number("minItems"), number("maxItems")) {
                (None, None) => "an array".to_owned(),
                (least, most) => format!("an array of {} to {} items", least.as_deref().unwrap_or("0"), most?),
            }
        } else if self.is("string") {
            self.text()
        } else if self.is("object") {
            self.object()
        } else {
            return None;
        })
    }

    fn text(self) -> String {
        let value = self.value;
        let bound = |key: &str| value.get(key).map(Value::to_string);
        if let (Some(pattern), None) = (value["pattern"].as_str(), value.get("maxLength")) {
            let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
            return format!("a string that matches {pattern}");
        }
        match value["format"].as_str() {
            Some("date-time") => return "a time as in RFC 3339, such as 2026-12-01T00:00:00Z".to_owned(),
            Some("uri") => return "an absolute URL".to_owned(),
            _ => {}
        }
        match (bound("minLength"), bound("maxLength")) {
            (least, Some(most)) => format!("a string of {} to {most} characters", least.as_deref().unwrap_or("0")),
            _ => "a string".to_owned(),
        }
    }

    /// For a union whose variants differ by their only field name: shows one variant and names the others.
    fn object(self) -> String {
        let closed = self.value["additionalProperties"] == false && self.value.get("title").is_some();
        let only = self.value["required"].as_array().filter(|all| closed && all.len() == 1);
        let name = only.and_then(|all| all[0].as_str());
        let inner = name.and_then(|name| Some((name, self.of(self.value["properties"].get(name)?).phrase()?)));
        match inner {
            Some((name, inner)) => format!("{{\"{name}\": {inner}}}"),
            None => "an object".to_owned(),
        }
    }
}
