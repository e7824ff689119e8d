//! Messages as they come in from a broker.

use bytes::Bytes;

use super::BrokerError;
use super::protocol::Source;

/// A message of a lane.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its number in the lane: the sequence of NATS, the offset of Kafka. They grow, and may have gaps.
    pub position: i64,
    /// Messages with the same key stay in order.
    pub key: Option<String>,
    /// The header `X-Room-Pass`.
    pub pass: Option<String>,
    /// When the broker or its client made it, in ms since 1970.
    pub at_ms: i64,
    pub content: Bytes,
    /// What is wrong with its headers: they can't be read, so it has neither key nor pass.
    pub wrong_headers: Option<&'static str>,
    /// Messages of the lane after this one, as the broker knew when it sent it.
    pub after: u64,
}

/// A lane that is open.
pub struct Opened {
    pub reader: Reader,
    /// The position was not there any more, or not yet.
    pub gap: Option<Gap>,
    /// Messages that the broker has from there on.
    pub waiting: u64,
}

/// What a lane has next.
pub enum Read {
    /// At least one, at most some hundred.
    Messages(Vec<Record>),
    /// None came for a moment, and so many wait at the broker.
    Waiting(u64),
}

/// Reading did not begin where it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The position that was asked for.
    pub wanted: i64,
    /// Where reading begins instead.
    pub begins: i64,
}

impl Gap {
    /// A position outside of what the broker has: `first` to `end`, which is where the next message will be.
    pub fn of(wanted: Option<i64>, first: i64, end: i64) -> Option<Self> {
        let wanted = wanted.filter(|wanted| !(first..=end).contains(wanted))?;
        Some(Self { wanted, begins: first })
    }
}

/// Reads one lane in order.
pub struct Reader(pub(super) Source);

impl Reader {
    /// After an error the lane has to be opened again.
    pub async fn next(&mut self) -> Result<Read, BrokerError> {
        self.0.next().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_missing_before_the_first_message_and_after_the_next() {
        assert_eq!(Gap::of(None, 5, 9), None);
        for there in 5..=9 {
            assert_eq!(Gap::of(Some(there), 5, 9), None);
        }
        for wanted in [4, 10] {
            assert_eq!(Gap::of(Some(wanted), 5, 9), Some(Gap { wanted, begins: 5 }));
        }
    }
}
