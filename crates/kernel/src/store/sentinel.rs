//! Redis Sentinel: which server is the primary now.
//!
//! Sentinels count configurations by epochs. A sentinel that was cut off names the former primary until it hears of the
//! next epoch. So all sentinels are asked, and the answer with the latest epoch counts. The server that it names must
//! call itself a primary: for a moment before its promotion it would answer reads with old data.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Client, Value};
use tokio::time::{Duration, Instant, timeout_at};

use super::checks::pairs;
use super::connection::{Limits, Link};
use super::error::Failure;

/// How long the other sentinels may take once one has answered. A frozen sentinel delays a look by at most this.
const OTHERS_WAIT: Duration = Duration::from_millis(100);
/// Shortest time between two looks, so that a thousand failing calls do not become a thousand looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The sentinels, and the primary that they name.
pub(super) struct Sentinels {
    name: String,
    sentinels: Vec<Arc<Link>>,
    /// A link with the primary's credentials, to no server: its siblings are links to one.
    template: Link,
    primary: ArcSwap<Primary>,
    /// When the last look ended.
    refreshing: tokio::sync::Mutex<Option<Instant>>,
}

/// The primary of one configuration.
#[derive(Default)]
pub(super) struct Primary {
    pub(super) link: Option<Arc<Link>>,
    named: Named,
}

/// What a sentinel says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Named {
    epoch: u64,
    host: String,
    port: u16,
}

/// The best of the sentinels' answers.
struct Best {
    named: Named,
    /// Whether every sentinel answered.
    by_all: bool,
}

impl Best {
    /// Whether it replaces what is known. An earlier epoch comes from sentinels that were cut off, or from a
    /// configuration made anew. Then all of them say so.
    fn replaces(&self, known: &Named) -> bool {
        self.named.epoch >= known.epoch || self.by_all
    }
}

impl Sentinels {
    /// Without a primary; [`Sentinels::refresh`] finds it. `template` has the primary's credentials, and `name` is its
    /// name in the sentinels' configuration.
    pub(super) fn new(sentinels: Vec<Client>, template: Client, name: String, limits: Limits) -> Self {
        let links = sentinels.into_iter().map(|client| Arc::new(Link::new(client, limits)));
        Self {
            name,
            sentinels: links.collect(),
            template: Link::new(template, limits),
            primary: ArcSwap::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn primary(&self) -> Arc<Primary> {
        self.primary.load_full()
    }

    /// Asks all sentinels at once. Does nothing if the primary has changed since the caller's `seen`, or was asked for
    /// just now.
    pub(super) async fn refresh(&self, seen: &Arc<Primary>) -> Result<(), Failure> {
        let mut last_look = self.refreshing.lock().await;
        let known = self.primary.load_full();
        let just_now = last_look.is_some_and(|at| at.elapsed() < BETWEEN_LOOKS);
        if !Arc::ptr_eq(&known, seen) || (just_now && known.link.is_some()) {
            return Ok(());
        }
        let found = self.best().await;
        *last_look = Some(Instant::now());
        let best = found?;
        if best.named == known.named || !best.replaces(&known.named) {
            return Ok(());
        }
        let named = best.named;
        let link = match &known.link {
            Some(link) if (&known.named.host, known.named.port) == (&named.host, named.port) => Arc::clone(link),
            _ => self.link_to(&named).await?,
        };
        if known.named.epoch > 0 {
            tracing::warn!(primary = %link.node(), epoch = named.epoch, "the sentinels name another configuration");
        }
        let link = Some(link);
        self.primary.store(Arc::new(Primary { link, named }));
        Ok(())
    }

    /// A link to the named server, unless it is a replica. A server that does not answer is taken: the sentinels have
    /// given up the one before it.
    async fn link_to(&self, named: &Named) -> Result<Arc<Link>, Failure> {
        let link = self.template.sibling(&named.host, named.port);
        let link = Arc::new(link.map_err(|source| self.template.failure(source))?);
        match link.send(&redis::cmd("ROLE")).await {
            Ok(Value::Array(role)) if role.first().is_some_and(is_replica) => {
                Err(self.unnamed(&format!("{}, which they name, is still a replica", link.node())))
            }
            _ => Ok(link),
        }
    }

    /// The answer with the latest epoch of all, or of those within [`OTHERS_WAIT`] of the first.
    async fn best(&self) -> Result<Best, Failure> {
        let mut answers: FuturesUnordered<_> = self.sentinels.iter().map(|link| self.ask(link)).collect();
        let (mut best, mut until, mut count): (Option<Named>, Option<Instant>, usize) = (None, None, 0);
        let mut failure = self.unnamed("no sentinel answers");
        loop {
            let next = match until {
                None => answers.next().await,
                Some(until) => timeout_at(until, answers.next()).await.ok().flatten(),
            };
            match next {
                Some(Ok(named)) => {
                    count += 1;
                    until = until.or_else(|| Some(Instant::now() + OTHERS_WAIT));
                    if best.as_ref().is_none_or(|best| named.epoch > best.epoch) {
                        best = Some(named);
                    }
                }
                Some(Err(one)) => failure = one,
                None => {
                    let by_all = count == self.sentinels.len();
                    return best.map(|named| Best { named, by_all }).ok_or(failure);
                }
            }
        }
    }

    async fn ask(&self, sentinel: &Link) -> Result<Named, Failure> {
        let mut question = redis::cmd("SENTINEL");
        question.arg("MASTER").arg(&self.name);
        let answer = sentinel.send(&question).await?;
        named(&pairs(&answer)).ok_or_else(|| self.unnamed(&format!("{} gives no address", sentinel.node())))
    }

    fn unnamed(&self, cause: &str) -> Failure {
        Failure::NoPrimary {
            name: self.name.as_str().into(),
            cause: cause.into(),
        }
    }
}

fn named(fields: &HashMap<String, String>) -> Option<Named> {
    Some(Named {
        epoch: fields.get("config-epoch")?.parse().ok()?,
        host: fields.get("ip")?.clone(),
        port: fields.get("port")?.parse().ok()?,
    })
}

fn is_replica(role: &Value) -> bool {
    matches!(role, Value::BulkString(text) if text == b"slave")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: u64, port: u16) -> Named {
        Named {
            epoch,
            host: "h".to_owned(),
            port,
        }
    }

    #[test]
    fn an_earlier_epoch_counts_only_when_all_sentinels_say_so() {
        let best = |named, by_all| Best { named, by_all };
        let known = at(7, 1);
        assert!(best(at(8, 2), false).replaces(&known));
        assert!(best(at(7, 1), false).replaces(&known));
        assert!(!best(at(6, 2), false).replaces(&known), "the others did not answer");
        assert!(best(at(0, 2), true).replaces(&known), "configured anew");
        assert!(best(at(0, 2), false).replaces(&Named::default()), "a start");
    }

    #[test]
    fn an_answer_without_an_address_names_nothing() {
        let fields = |fields: &[(&str, &str)]| {
            let fields = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            fields.collect::<HashMap<_, _>>()
        };
        let whole = fields(&[("ip", "h"), ("port", "7"), ("config-epoch", "3"), ("flags", "master")]);
        assert_eq!(named(&whole), Some(at(3, 7)));
        for missing in ["ip", "port", "config-epoch"] {
            let mut part = whole.clone();
            part.remove(missing);
            assert_eq!(named(&part), None, "{missing}");
        }
    }
}
