//! The definition of a subscription: where events go, which types, which subjects. Pure.

use std::collections::BTreeSet;

use jackpot_api::subscription::SubscriptionDocument;
use jackpot_core::ids::Id;
use jackpot_core::violation::Violation;

use super::target::{Allowed, Destination};
use jackpot_kernel::ledger::outgoing::STEP;
use jackpot_kernel::subject::kinds::KindName;

/// Everything, as a type or as a subject.
const ALL: &str = "*";
/// Ends a type that stands for all types that begin so.
const ALL_OF: &str = ".*";
/// Most types and subjects of a subscription.
const MAX_NAMES: usize = 100;

/// A checked definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    document: SubscriptionDocument,
    destination: Destination,
}

impl Definition {
    /// Checks a definition. `known`: the types that events can have.
    /// Errors: every rule that it breaks.
    pub fn check(
        document: SubscriptionDocument,
        known: &BTreeSet<&'static str>,
        allowed: &Allowed,
    ) -> Result<Self, Vec<Violation>> {
        let mut wrong = Vec::new();
        let destination = Destination::check(&document.target, allowed).map_err(|violation| wrong.push(violation));
        check_names("types", &document.types, &mut wrong);
        for (place, name) in document.types.iter().enumerate() {
            if !is_type(name, known) {
                let all: Vec<_> = known.iter().copied().collect();
                let rule = format!("must be *, one of {}, or the begin of one before .*", all.join(", "));
                wrong.push(Violation::new(format!("types[{place}]"), rule));
            }
        }
        check_names("subjects", &document.subjects, &mut wrong);
        for (place, name) in document.subjects.iter().enumerate() {
            let is_alone = document.subjects.len() == 1;
            if !(name == ALL && is_alone || subject_of(name).is_some()) {
                let rule = "must be a kind and an id, such as jackpot:spring, or * as the only one";
                wrong.push(Violation::new(format!("subjects[{place}]"), rule));
            }
        }
        match destination {
            Ok(destination) if wrong.is_empty() => Ok(Self { document, destination }),
            _ => Err(wrong),
        }
    }

    /// Reads one that was checked when it was put. Types of another version of the program are left as they are.
    pub fn stored(document: SubscriptionDocument) -> Option<Self> {
        let destination = Destination::stored(&document.target)?;
        Some(Self { document, destination })
    }

    pub fn document(&self) -> &SubscriptionDocument {
        &self.document
    }

    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// Whether it subscribes to a type.
    pub fn wants(&self, kind: &str) -> bool {
        self.document.types.iter().any(|name| matches(name, kind))
    }

    /// Whether it subscribes to a subject.
    pub fn has(&self, kind: KindName, id: &Id) -> bool {
        let is_it = |name: &String| name == ALL || subject_of(name).is_some_and(|(of, it)| of == kind && it == *id);
        self.document.subjects.iter().any(is_it)
    }

    /// Whether it subscribes to all subjects.
    pub fn has_all(&self) -> bool {
        self.document.subjects.iter().any(|name| name == ALL)
    }
}

/// The types that events can have, given those of each kind.
pub fn known_types<'a>(kinds: impl Iterator<Item = &'a [&'static str]>) -> BTreeSet<&'static str> {
    kinds.flatten().copied().chain([STEP]).collect()
}

/// The subject that a text such as `jackpot:spring` names.
pub fn subject_of(name: &str) -> Option<(KindName, Id)> {
    let (kind, id) = name.split_once(':')?;
    Some((KindName::parse(kind)?, Id::parse(id).ok()?))
}

fn check_names(field: &str, names: &[String], wrong: &mut Vec<Violation>) {
    if !(1..=MAX_NAMES).contains(&names.len()) {
        wrong.push(Violation::new(field, format!("must have 1 to {MAX_NAMES} of them")));
    }
    let mut seen = BTreeSet::new();
    for (place, name) in names.iter().enumerate() {
        if !seen.insert(name) {
            wrong.push(Violation::new(format!("{field}[{place}]"), "stands twice"));
        }
    }
}

fn is_type(name: &str, known: &BTreeSet<&'static str>) -> bool {
    known.iter().any(|kind| matches(name, kind))
}

/// `payout.*` matches what begins with `payout.`; the part before `.*` has no `*`.
fn matches(name: &str, kind: &str) -> bool {
    if name == ALL {
        return true;
    }
    match name.strip_suffix(ALL_OF) {
        Some(begin) => kind
            .strip_prefix(begin)
            .is_some_and(|rest| !begin.is_empty() && rest.starts_with('.')),
        None => name == kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_api::subscription::{Begin, Target, Webhook};

    fn allowed(private: bool) -> Allowed {
        Allowed {
            private,
            ..Allowed::default()
        }
    }

    fn document(url: &str, types: &[&str], subjects: &[&str]) -> SubscriptionDocument {
        SubscriptionDocument {
            target: Target::Webhook(Webhook { url: url.to_owned() }),
            types: types.iter().map(|&name| name.to_owned()).collect(),
            subjects: subjects.iter().map(|&name| name.to_owned()).collect(),
            from: Begin::Now,
        }
    }

    fn known() -> BTreeSet<&'static str> {
        let types: &[&str] = &["payout.created", "entry.taken"];
        known_types([types].into_iter())
    }

    fn fields(document: SubscriptionDocument, allow_private: bool) -> Vec<String> {
        let wrong = Definition::check(document, &known(), &allowed(allow_private)).expect_err("refused");
        wrong.into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn a_definition_says_what_it_wants() {
        let checked = |types: &[&str], subjects: &[&str]| {
            Definition::check(
                document("https://hooks.example/a?b=c", types, subjects),
                &known(),
                &allowed(false),
            )
            .expect("right")
        };
        let some = checked(&["payout.*", "stream.step"], &["jackpot:spring", "room:spring"]);
        assert!(some.wants("payout.created") && some.wants("payout.due") && some.wants("stream.step"));
        assert!(!some.wants("entry.taken") && !some.wants("payouts.x") && !some.wants("payout"));
        let spring = Id::parse("spring").expect("an id");
        let has = |name: &str| some.has(KindName::parse(name).expect("a kind"), &spring);
        assert!(has("jackpot") && has("room") && !has("coupon") && !some.has_all());
        let all = checked(&["*"], &["*"]);
        assert!(all.wants("entry.taken") && all.has_all());
        assert!(all.has(KindName::parse("coupon").expect("a kind"), &spring));
    }

    #[test]
    fn whatever_is_wrong_is_named() {
        for url in [
            "",
            "nonsense",
            "/hook",
            "ftp://127.0.0.1/",
            "http://",
            "http:///hook",
            "http:/hook",
            "http:\\\\h",
            "http://h:99999/",
            "http://h:0/",
            "http://u:p@h/",
            "http://h/#x",
            "http://h/\n",
            "javascript:alert(1)",
        ] {
            assert_eq!(
                fields(document(url, &["*"], &["*"]), true),
                ["target.webhook.url"],
                "{url}"
            );
        }
        for (types, at) in [
            (&["payout.gone"][..], "types[0]"),
            (&["nothing.*"], "types[0]"),
            (&["payout.created", ""], "types[1]"),
            (&["*.created"], "types[0]"),
            (&[".*"], "types[0]"),
            (&["payout*"], "types[0]"),
            (&["*", "*"], "types[1]"),
            (&[], "types"),
        ] {
            assert_eq!(fields(document("http://h/", types, &["*"]), true), [at], "{types:?}");
        }
        for (subjects, at) in [
            (&["spring"][..], "subjects[0]"),
            (&["pigeon:x"], "subjects[0]"),
            (&["jackpot:"], "subjects[0]"),
            (&["jackpot:a:b"], "subjects[0]"),
            (&["jackpot:a", "*"], "subjects[1]"),
            (&[], "subjects"),
        ] {
            assert_eq!(
                fields(document("http://h/", &["*"], subjects), true),
                [at],
                "{subjects:?}"
            );
        }
    }

    #[test]
    fn a_private_address_is_seen_in_any_form() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "169.254.169.254",
            "[fe80::1]",
        ] {
            let url = format!("http://{host}:8080/");
            assert_eq!(
                fields(document(&url, &["*"], &["*"]), false),
                ["target.webhook.url"],
                "{host}"
            );
            assert!(Definition::check(document(&url, &["*"], &["*"]), &known(), &allowed(true)).is_ok());
        }
        for host in ["1.1.1.1", "[2606:4700:4700::1111]", "hooks.example"] {
            let url = format!("http://{host}/");
            assert!(
                Definition::check(document(&url, &["*"], &["*"]), &known(), &allowed(false)).is_ok(),
                "{host}"
            );
        }
    }
}
