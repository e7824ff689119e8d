//! The texts of pages, one file per language. A page takes its language from `Accept-Language`.

use std::borrow::Cow;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::types::FluentNumber;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use jackpot_core::ids::Id;
use unic_langid::LanguageIdentifier;

use crate::money::grouped;

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    En,
    Ko,
}

const EN: &str = include_str!("../texts/en.ftl");
const KO: &str = include_str!("../texts/ko.ftl");

type Bundle = FluentBundle<FluentResource>;

static BUNDLES: LazyLock<[Bundle; 2]> = LazyLock::new(|| [bundle(Language::En, EN), bundle(Language::Ko, KO)]);

fn bundle(language: Language, text: &str) -> Bundle {
    let id: LanguageIdentifier = language.code().parse().expect("a code of a language");
    let mut bundle = FluentBundle::new_concurrent(vec![id]);
    let resource = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(_, errors)| {
        panic!("texts of {}: {errors:?}", language.code());
    });
    bundle.add_resource(resource).expect("each text has one name");
    // Marks around each value are for texts of mixed directions.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(|value, _| match value {
        FluentValue::Number(FluentNumber { value, .. }) => Some(whole(*value)),
        _ => None,
    }));
    bundle
}

/// A whole number with its thousands apart.
fn whole(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "counts are whole and below 2^53")]
    let value = value as i64;
    let sign = if value < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(u128::from(value.unsigned_abs())))
}

impl Language {
    pub const ALL: [Self; 2] = [Self::En, Self::Ko];

    /// For `lang` and `Content-Language`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ko => "ko",
        }
    }

    /// The first of a reader's languages that pages have, else English.
    pub fn among<'a>(ranked: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |tag: &str| {
            let primary = tag.split('-').next().unwrap_or_default();
            Self::ALL
                .into_iter()
                .find(|language| primary.eq_ignore_ascii_case(language.code()))
        };
        ranked.into_iter().find_map(known).unwrap_or_default()
    }

    #[must_use]
    pub const fn words(self) -> Words {
        Words(self)
    }
}

/// The texts of one language. The names of texts are those of the files in `texts/`; a test reads every use.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub Language);

impl Words {
    /// A text without values.
    #[must_use]
    pub fn t(self, name: &str) -> String {
        self.text(name, None)
    }

    /// A text with values, by their names in it.
    #[must_use]
    pub fn tv<const N: usize>(self, name: &str, values: [(&'static str, Value<'_>); N]) -> String {
        let args: FluentArgs<'_> = values.into_iter().map(|(name, Value(value))| (name, value)).collect();
        self.text(name, Some(&args))
    }

    /// A text for a script, which fills in the values: each is `{name}`.
    #[must_use]
    pub fn template(self, name: &str, values: &[&'static str]) -> String {
        let holes = values
            .iter()
            .map(|name| (*name, FluentValue::from(format!("{{{name}}}"))));
        self.text(name, Some(&holes.collect()))
    }

    fn text(self, name: &str, args: Option<&FluentArgs<'_>>) -> String {
        let bundle = &BUNDLES[self.0 as usize];
        let pattern = bundle.get_message(name).and_then(|message| message.value());
        let Some(pattern) = pattern else {
            debug_assert!(false, "no text '{name}'");
            return name.to_owned();
        };
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, args, &mut errors);
        debug_assert!(errors.is_empty(), "text '{name}': {errors:?}");
        text.into_owned()
    }

    /// Whether there is a text of this name.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        BUNDLES[self.0 as usize].has_message(name)
    }

    /// The text of this name; `other` where there is none.
    #[must_use]
    pub fn t_or(self, name: &str, other: &str) -> String {
        if self.has(name) { self.t(name) } else { other.to_owned() }
    }
}

/// A value in a text: a word as it is, or a count, which chooses plurals and is written with its thousands apart.
#[derive(Debug, Clone)]
pub struct Value<'a>(FluentValue<'a>);

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self(FluentValue::String(Cow::Borrowed(text)))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self(FluentValue::String(Cow::Borrowed(text)))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self(FluentValue::String(Cow::Owned(text)))
    }
}

impl<'a> From<&'a Id> for Value<'a> {
    fn from(id: &'a Id) -> Self {
        id.as_str().into()
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        u64::from(count).into()
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self(FluentValue::from(count))
    }
}

impl From<usize> for Value<'_> {
    fn from(count: usize) -> Self {
        Self(FluentValue::from(count))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The names of texts and the values in each.
    fn names(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::<String, BTreeSet<String>>::new();
        let mut current = String::new();
        for line in text.lines() {
            if let Some((name, _)) = line
                .split_once(" =")
                .filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                assert!(
                    found.insert(name.to_owned(), BTreeSet::new()).is_none(),
                    "{name} comes twice"
                );
                name.clone_into(&mut current);
            }
            for value in line.split('$').skip(1) {
                let value = value
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
                    .next()
                    .unwrap();
                found.get_mut(&current).unwrap().insert(value.to_owned());
            }
        }
        found
    }

    #[test]
    fn both_languages_have_the_same_texts_with_the_same_values() {
        let (en, ko) = (names(EN), names(KO));
        let lacks: Vec<_> = en.keys().filter(|name| !ko.contains_key(*name)).collect();
        let more: Vec<_> = ko.keys().filter(|name| !en.contains_key(*name)).collect();
        assert!(
            lacks.is_empty() && more.is_empty(),
            "Korean lacks {lacks:?}, English lacks {more:?}"
        );
        for (name, values) in &en {
            assert_eq!(values, &ko[name], "{name}");
        }
    }

    #[test]
    fn korean_texts_are_korean() {
        for line in KO.lines().filter(|line| line.contains(" = ")) {
            let (name, text) = line.split_once(" = ").unwrap();
            let english = EN.lines().any(|other| other == line);
            let words = text.chars().filter(char::is_ascii_alphabetic).count();
            // Names and units are the same in both.
            assert!(!english || words <= 12, "{name} is not translated: {text}");
        }
    }

    #[test]
    fn the_first_known_language_is_taken() {
        assert_eq!(Language::among(["fr", "ko-KR", "en"]), Language::Ko);
        assert_eq!(Language::among(["EN-us", "ko"]), Language::En);
        assert_eq!(Language::among(["fr", "*"]), Language::En);
        assert_eq!(Language::among([]), Language::En);
    }

    #[test]
    fn a_template_keeps_its_holes() {
        let template = Language::En.words().template("sign-out", &[]);
        assert_eq!(template, "Sign out");
        let template = Language::Ko.words().template("jackpot-version", &["version"]);
        assert!(template.contains("{version}"), "{template}");
    }

    #[test]
    fn counts_choose_plurals_and_are_grouped() {
        let en = Language::En.words();
        assert_eq!(en.tv("n-entries", [("count", 1_u64.into())]), "1 entry");
        assert_eq!(en.tv("n-entries", [("count", 18_811_u64.into())]), "18,811 entries");
        assert_eq!(
            Language::Ko.words().tv("n-entries", [("count", 18_811_u64.into())]),
            "참여 18,811건"
        );
    }
}
