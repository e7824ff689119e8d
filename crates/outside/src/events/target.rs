//! Where a subscription's events go: a webhook, a topic of Kafka or a subject of NATS. Pure.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jackpot_api::subscription::Target;
use jackpot_core::violation::Violation;
use url::{Host, Url};

use super::address::is_public;
use jackpot_kernel::built::{self, Feature};
use jackpot_kernel::settings::BrokerKind;

/// Longest URL, in characters.
const MAX_URL_CHARS: usize = 2_048;

/// What this instance allows.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Webhooks with addresses that are not public.
    pub private: bool,
    /// The connections of its settings.
    pub connections: BTreeMap<String, BrokerKind>,
}

/// A checked target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Webhook(Url),
    /// A topic of Kafka, or a subject of NATS.
    Topic {
        connection: String,
        kind: BrokerKind,
        topic: String,
    },
}

impl Destination {
    /// Checks a target.
    /// Errors: the first rule that it breaks.
    pub fn check(target: &Target, allowed: &Allowed) -> Result<Self, Violation> {
        let destination = Self::read(target, allowed.private)?;
        if let Destination::Topic { connection, kind, .. } = &destination
            && allowed.connections.get(connection) != Some(kind)
        {
            let (field, protocol) = match kind {
                BrokerKind::Kafka => ("target.kafka.connection", "Kafka"),
                BrokerKind::Nats => ("target.nats.connection", "NATS"),
            };
            return Err(Violation::new(field, no_connection(protocol, built::BROKERS)));
        }
        Ok(destination)
    }

    /// Reads one that was checked when it was put.
    pub fn stored(target: &Target) -> Option<Self> {
        Self::read(target, true).ok()
    }

    fn read(target: &Target, allow_private: bool) -> Result<Self, Violation> {
        let topic = |field: &str, connection: &String, kind: BrokerKind, topic: &String| match kind.topic_rule(topic) {
            Some(rule) => Err(Violation::new(field, rule)),
            None => Ok(Destination::Topic {
                connection: connection.clone(),
                kind,
                topic: topic.clone(),
            }),
        };
        match target {
            Target::Webhook(webhook) => {
                let url = url_of(&webhook.url, allow_private);
                let url = url.map_err(|rule| Violation::new("target.webhook.url", rule))?;
                Ok(Destination::Webhook(url))
            }
            Target::Kafka(kafka) => topic("target.kafka.topic", &kafka.connection, BrokerKind::Kafka, &kafka.topic),
            Target::Nats(nats) => topic("target.nats.subject", &nats.connection, BrokerKind::Nats, &nats.subject),
        }
    }
}

fn no_connection(protocol: &str, brokers: Feature) -> String {
    match brokers.required() {
        Ok(()) => format!("must be the name of a connection to {protocol} in the settings (events.connections)"),
        Err(absent) => absent.to_string(),
    }
}

/// Whether the host of a URL is an address, and not a public one.
pub fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => !is_public(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => !is_public(IpAddr::V6(address)),
        Some(Host::Domain(_)) | None => false,
    }
}

/// The parser of URLs forgives much: it takes `http:///host` and drops line breaks. So the text is looked at first.
fn url_of(text: &str, allow_private: bool) -> Result<Url, String> {
    let begin = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let has_host = begin.is_some_and(|rest| !rest.starts_with(['/', '\\', '?', '#']) && !rest.is_empty());
    let is_plain = text.len() <= MAX_URL_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic());
    let url = Url::parse(text).ok().filter(|_| has_host && is_plain);
    let url = url.ok_or_else(|| {
        format!("must be http:// or https:// with a host, in at most {MAX_URL_CHARS} printable ASCII characters")
    })?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("must have no user, password or fragment: every request is signed".to_owned());
    }
    if url.port() == Some(0) {
        return Err("must have a port from 1 to 65535".to_owned());
    }
    if !allow_private && is_private(&url) {
        return Err(
            "must not be a private, local or otherwise special address, unless the setting events.allow_private_targets is on"
                .to_owned(),
        );
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use jackpot_api::subscription::{Kafka, Nats};

    use super::*;

    fn allowed() -> Allowed {
        let connections = [("log", BrokerKind::Kafka), ("bus", BrokerKind::Nats)];
        Allowed {
            private: false,
            connections: connections.map(|(name, kind)| (name.to_owned(), kind)).into(),
        }
    }

    fn kafka(connection: &str, topic: &str) -> Target {
        Target::Kafka(Kafka {
            connection: connection.to_owned(),
            topic: topic.to_owned(),
        })
    }

    fn nats(connection: &str, subject: &str) -> Target {
        Target::Nats(Nats {
            connection: connection.to_owned(),
            subject: subject.to_owned(),
        })
    }

    #[test]
    fn a_program_without_brokers_says_so() {
        let said = no_connection("Kafka", built::BROKERS.left_out());
        assert!(
            said.starts_with("this program was built without the feature brokers"),
            "{said}"
        );
    }

    #[test]
    fn a_topic_and_a_subject_belong_to_a_connection_of_their_kind() {
        for target in [kafka("log", "a.b_c-D9"), nats("bus", "a.b-c.d_e"), nats("bus", "one")] {
            assert!(Destination::check(&target, &allowed()).is_ok(), "{target:?}");
        }
        for (target, field) in [
            (kafka("bus", "events"), "target.kafka.connection"),
            (kafka("none", "events"), "target.kafka.connection"),
            (nats("log", "events"), "target.nats.connection"),
            (kafka("log", ""), "target.kafka.topic"),
            (kafka("log", ".."), "target.kafka.topic"),
            (kafka("log", "a b"), "target.kafka.topic"),
            (kafka("log", &"x".repeat(250)), "target.kafka.topic"),
            (nats("bus", ""), "target.nats.subject"),
            (nats("bus", "a..b"), "target.nats.subject"),
            (nats("bus", "a.*"), "target.nats.subject"),
            (nats("bus", "a.>"), "target.nats.subject"),
            (nats("bus", "a b"), "target.nats.subject"),
            (nats("bus", "$JS.API"), "target.nats.subject"),
        ] {
            let wrong = Destination::check(&target, &allowed()).expect_err("refused");
            assert_eq!(wrong.field, field, "{target:?}");
        }
    }

    #[test]
    fn one_of_the_three_is_named() {
        let read = |text: &str| serde_json::from_str::<Target>(text);
        assert_eq!(
            read(r#"{"nats":{"connection":"bus","subject":"s"}}"#).expect("right"),
            nats("bus", "s")
        );
        for wrong in [
            "{}",
            "null",
            r#"{"pigeon":{}}"#,
            r#"{"nats":{"connection":"bus"}}"#,
            r#"{"nats":{"connection":"bus","subject":"s","more":1}}"#,
            r#"{"webhook":{"url":"https://h/"},"nats":{"connection":"bus","subject":"s"}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
