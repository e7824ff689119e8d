//! One play of a way: a crowd asks at one instant, some of what was given comes back, and as many new users ask.

use std::collections::BTreeMap;
use std::future::{Future, pending, ready};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tokio::sync::{Barrier, Notify};
use tokio::task::JoinSet;

use super::super::SimulateError;
use super::{Approach, Wrongs};

/// The size of a play.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Size {
    /// Things that there are.
    pub limit: u64,
    /// Each asks once.
    pub users: u64,
    /// Connections that ask at the same time.
    #[serde(rename = "connections")]
    pub askers: u32,
}

/// Eight users at one thing.
pub const FEW: Size = Size {
    limit: 1,
    users: 8,
    askers: 8,
};

/// The answer to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// How many the user has got for it.
    Given(u64),
    Refused,
    /// It will never have one.
    Undecided,
}

/// One connection that asks.
pub trait Asker: Send + 'static {
    fn ask(&mut self, user: &str) -> impl Future<Output = Result<Answer, SimulateError>> + Send;
}

/// One way of giving out things.
pub trait Way {
    type Asker: Asker;

    fn approach(&self) -> Approach;

    /// The size of the staged play.
    fn staged(&self) -> Size {
        FEW
    }

    /// Puts the things there under a name of their own, and connects.
    fn open(
        &self,
        name: &str,
        size: Size,
        staged: bool,
    ) -> impl Future<Output = Result<Vec<Self::Asker>, SimulateError>>;

    /// What goes on while the crowd asks. The play ends with the crowd, or with an error here.
    fn meanwhile(&self, _name: &str, _size: Size, _staged: bool) -> impl Future<Output = Result<(), SimulateError>> {
        pending()
    }

    /// Removes what would stay after the comparison.
    fn clear(&self) -> impl Future<Output = Result<(), SimulateError>> {
        ready(Ok(()))
    }

    /// Lets things come back that these users have, and counts them.
    fn bring_back(
        &self,
        name: &str,
        has: &[String],
        askers: &mut [Self::Asker],
    ) -> impl Future<Output = Result<u64, SimulateError>>;
}

/// Where a staged play holds an asker: between what it reads and what it writes.
#[derive(Debug, Clone, Default)]
pub enum Hold {
    #[default]
    Nowhere,
    /// All read before anyone writes.
    Together(Arc<Barrier>),
    /// It has read, and goes on when the other one has its answer.
    First(Arc<Pair>),
    /// It begins when the first has read.
    Second(Arc<Pair>),
}

/// Two askers of a staged play.
#[derive(Debug, Default)]
pub struct Pair {
    has_read: Notify,
    has_answer: Notify,
}

impl Hold {
    pub async fn before(&self) {
        if let Self::Second(pair) = self {
            pair.has_read.notified().await;
        }
    }

    pub async fn between(&self) {
        match self {
            Self::Together(all) => {
                all.wait().await;
            }
            Self::First(pair) => {
                pair.has_read.notify_one();
                pair.has_answer.notified().await;
            }
            Self::Nowhere | Self::Second(_) => {}
        }
    }

    pub fn after(&self) {
        if let Self::Second(pair) = self {
            pair.has_answer.notify_one();
        }
    }
}

/// The result of a play.
#[derive(Debug)]
pub struct Played {
    pub wrongs: Wrongs,
    pub asks_per_s: f64,
}

pub async fn play<W: Way>(way: &W, name: &str, size: Size, staged: bool) -> Result<Played, SimulateError> {
    let askers = way.open(name, size, staged).await?;
    let (mut askers, answers, elapsed_s) = tokio::select! {
        raced = race(askers, size.users) => raced?,
        ended = way.meanwhile(name, size, staged) => return Err(never(ended)),
    };
    let units = |answer: &Answer| match answer {
        Answer::Given(units) => *units,
        Answer::Refused | Answer::Undecided => 0,
    };
    let given = answers.values().map(units).sum::<u64>();
    let undecided = answers.values().filter(|answer| **answer == Answer::Undecided).count() as u64;
    let twice = answers.values().map(|answer| units(answer).saturating_sub(1)).sum();
    let has = answers.into_iter().filter(|(_, answer)| units(answer) > 0);
    let has = has.map(|(user, _)| user).collect::<Vec<_>>();
    let back = way.bring_back(name, &has, &mut askers).await?;
    let late = (0..back).map(|number| format!("{name}-late-{number}"));
    let mut again = 0;
    if let Some(asker) = askers.first_mut() {
        for user in late {
            again += units(&asker.ask(&user).await?);
        }
    }
    let free = size.limit.saturating_sub(given - back);
    Ok(Played {
        wrongs: Wrongs {
            over: given.max(given - back + again).saturating_sub(size.limit),
            twice,
            lost: free.min(back).saturating_sub(again),
            undecided,
        },
        asks_per_s: count(size.users) / elapsed_s,
    })
}

type Raced<A> = (Vec<A>, BTreeMap<String, Answer>, f64);

/// All askers begin at one instant. Each asks for one user after the other.
async fn race<A: Asker>(askers: Vec<A>, users: u64) -> Result<Raced<A>, SimulateError> {
    let barrier = Arc::new(Barrier::new(askers.len() + 1));
    let all = askers.len() as u64;
    let mut tasks = JoinSet::new();
    for (number, mut asker) in (0_u64..).zip(askers) {
        let barrier = Arc::clone(&barrier);
        tasks.spawn(async move {
            barrier.wait().await;
            let mut answers = Vec::new();
            let mut user = number;
            while user < users {
                let id = format!("u{user}");
                let answer = asker.ask(&id).await?;
                answers.push((id, answer));
                user += all;
            }
            Ok::<_, SimulateError>((asker, answers))
        });
    }
    barrier.wait().await;
    let started = Instant::now();
    let (mut askers, mut answers) = (Vec::new(), BTreeMap::new());
    while let Some(ended) = tasks.join_next().await {
        let (asker, of_asker) = ended??;
        askers.push(asker);
        answers.extend(of_asker);
    }
    Ok((askers, answers, started.elapsed().as_secs_f64().max(1e-9)))
}

fn never(ended: Result<(), SimulateError>) -> SimulateError {
    ended
        .err()
        .unwrap_or_else(|| SimulateError::Usage("what goes on beside a crowd has ended before it".to_owned()))
}

#[expect(clippy::cast_precision_loss, reason = "a rate to three digits")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A way with the answers that a test chose.
    struct Told {
        answers: Vec<Answer>,
        back: u64,
    }

    struct Reads(Arc<Mutex<Vec<Answer>>>);

    impl Asker for Reads {
        async fn ask(&mut self, _: &str) -> Result<Answer, SimulateError> {
            Ok(self.0.lock().unwrap().pop().unwrap_or(Answer::Refused))
        }
    }

    impl Way for Told {
        type Asker = Reads;

        fn approach(&self) -> Approach {
            Approach {
                name: "told",
                how: "",
                held: "",
                ours: false,
            }
        }

        async fn open(&self, _: &str, _: Size, _: bool) -> Result<Vec<Reads>, SimulateError> {
            let mut answers = self.answers.clone();
            answers.reverse();
            Ok(vec![Reads(Arc::new(Mutex::new(answers)))])
        }

        async fn bring_back(&self, _: &str, _: &[String], _: &mut [Reads]) -> Result<u64, SimulateError> {
            Ok(self.back)
        }
    }

    async fn wrongs(limit: u64, users: u64, answers: &[Answer], back: u64) -> Wrongs {
        let told = Told {
            answers: answers.to_vec(),
            back,
        };
        let size = Size {
            limit,
            users,
            askers: 1,
        };
        play(&told, "told", size, false).await.expect("it plays").wrongs
    }

    #[tokio::test]
    async fn each_wrong_is_counted_for_what_it_is() {
        use Answer::{Given, Refused, Undecided};
        let one = Given(1);
        let exact = wrongs(2, 3, &[one, one, Refused, one], 1).await;
        assert!(!exact.is_wrong(), "{exact:?}");
        let over = wrongs(1, 3, &[one, one, one], 1).await;
        assert_eq!((over.over, over.twice, over.lost, over.undecided), (2, 0, 0, 0));
        // What came back is given to nobody, though there is room for it.
        let lost = wrongs(2, 3, &[one, one, Refused, Refused], 1).await;
        assert_eq!((lost.over, lost.lost), (0, 1));
        let twice = wrongs(3, 2, &[Given(2), Undecided], 0).await;
        assert_eq!((twice.over, twice.twice, twice.undecided), (0, 1, 1));
    }
}
