//! Names of topics and subjects of brokers.

use super::BrokerKind;

/// Longest name of a topic or subject, in bytes: that of Kafka.
const MAX_BYTES: usize = 249;

impl BrokerKind {
    /// The rule that a name of a topic (Kafka) or subject (NATS) breaks.
    pub fn topic_rule(self, name: &str) -> Option<String> {
        match self {
            Self::Kafka if is_topic(name) => None,
            Self::Nats if is_subject(name) => None,
            Self::Kafka => Some(format!(
                "must have 1 to {MAX_BYTES} letters, digits, '.', '_' or '-', and not be . or .."
            )),
            Self::Nats => Some(format!(
                "must be words of printable ASCII without * and >, with a . between, in at most {MAX_BYTES} characters, and \
                 not begin with $"
            )),
        }
    }
}

fn is_topic(topic: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=MAX_BYTES).contains(&topic.len()) && topic.bytes().all(allowed);
    fits && topic != "." && topic != ".."
}

/// What begins with `$` is the server's own.
fn is_subject(subject: &str) -> bool {
    let is_word = |word: &str| {
        let allowed = |byte: u8| byte.is_ascii_graphic() && !b"*>".contains(&byte);
        !word.is_empty() && word.bytes().all(allowed)
    };
    subject.len() <= MAX_BYTES && !subject.starts_with('$') && subject.split('.').all(is_word)
}
