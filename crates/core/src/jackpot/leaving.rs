//! Money that operators take out of a jackpot: what waits for a second owner, and what each owner took in the last 24 hours
//! (docs/decisions/0065). Pure.

use crate::ids::Id;
use crate::wire::Field;
use crate::words;

/// For how long what an owner took alone counts, ms.
pub const DAY_MS: i64 = 86_400_000;
/// Most rows of [`Took`]: with a limit, an owner who takes more often needs a second one. The scripts read all of them.
pub const MAX_TOOK: usize = 1_000;

words! {
    /// Money that waits for a second owner, in place of the digest of an adjustment's record under the name
    /// `!held!<adjustment_id>` or `!held-out!<transfer_id>`.
    pub struct HeldRecord as "held" by '|' {
        /// Digest of the content, by which the service knows a repeat.
        pub digest: String,
        /// The owner who asked for it.
        pub owner: String,
        /// What leaves, minor units.
        pub amount: u64,
        /// The jackpot that a transfer goes to; `-` for outside.
        pub to: String,
        /// `tier,meter` of an adjustment; what the tiers held of a transfer.
        pub what: String,
    }
}

words! {
    /// What an owner took out without an approval, in the field `took` of the state.
    pub struct Took as "took" by ' ' each ';' {
        /// The owner.
        pub owner: String,
        /// When, ms of Redis' clock.
        pub at_ms: i64,
        /// Minor units.
        pub amount: u64,
    }
}

/// The rows of the field `took` after this one, as `lua/jackpot/two_owners.lua` works them out.
#[must_use]
pub fn took_after(rows: &str, now: Took) -> String {
    let mut rows = Vec::<Took>::read(rows).unwrap_or_default();
    rows.retain(|row| row.at_ms > now.at_ms - DAY_MS);
    if rows.len() >= MAX_TOOK {
        rows.remove(0);
    }
    rows.push(now);
    rows.text()
}

/// A request that takes money out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    Adjustment(Id),
    Transfer(Id),
}

impl Leaving {
    /// Its kind, in tables and answers.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Adjustment(_) => "adjustment",
            Self::Transfer(_) => "transfer",
        }
    }

    #[must_use]
    pub fn id(&self) -> &Id {
        let (Self::Adjustment(id) | Self::Transfer(id)) = self;
        id
    }

    /// The name of the record that it waits for a second owner. Its content is a [`HeldRecord`].
    #[must_use]
    pub fn held(&self) -> String {
        match self {
            Self::Adjustment(id) => format!("!held!{id}"),
            Self::Transfer(id) => format!("!held-out!{id}"),
        }
    }

    /// The name of the record that it was withdrawn. Its content is the owner who did that.
    #[must_use]
    pub fn withdrawn(&self) -> String {
        match self {
            Self::Adjustment(id) => format!("!withdrawn!{id}"),
            Self::Transfer(id) => format!("!withdrawn-out!{id}"),
        }
    }

    fn named(name: &str, adjustment: &str, transfer: &str) -> Option<Self> {
        let id = |prefix| Id::parse(name.strip_prefix(prefix)?).ok();
        id(adjustment)
            .map(Self::Adjustment)
            .or_else(|| id(transfer).map(Self::Transfer))
    }

    /// Of the name that [`held`](Self::held) gave.
    #[must_use]
    pub fn of_held(name: &str) -> Option<Self> {
        Self::named(name, "!held!", "!held-out!")
    }

    /// Of the name that [`withdrawn`](Self::withdrawn) gave.
    #[must_use]
    pub fn of_withdrawn(name: &str) -> Option<Self> {
        Self::named(name, "!withdrawn!", "!withdrawn-out!")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(at_ms: i64) -> Took {
        Took {
            owner: "anna".to_owned(),
            at_ms,
            amount: 5,
        }
    }

    #[test]
    fn a_row_counts_for_a_day_and_the_rows_are_bounded() {
        let rows = took_after("bob 1 900;anna 2 7;", took(DAY_MS + 1));
        assert_eq!(rows, format!("anna 2 7;anna {} 5;", DAY_MS + 1));
        let many = (0..2_000).fold(String::new(), |rows, at_ms| took_after(&rows, took(at_ms)));
        let many = Vec::<Took>::read(&many).expect("rows");
        assert_eq!((many.len(), many[0].at_ms), (MAX_TOOK, 1_000));
    }

    #[test]
    fn a_name_says_what_it_is_of() {
        let id = Id::parse("a-1").expect("an id");
        for of in [Leaving::Adjustment(id.clone()), Leaving::Transfer(id)] {
            assert_eq!(Leaving::of_held(&of.held()), Some(of.clone()));
            assert_eq!(Leaving::of_withdrawn(&of.withdrawn()), Some(of.clone()));
            assert_eq!(Leaving::of_held(&of.withdrawn()), None);
        }
    }
}
