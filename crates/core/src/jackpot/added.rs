//! Computes what each entry of a call added to each tier: from the amounts by stake, and from the tiers at the beginning
//! of each run. Pure.
//!
//! A run lies between two paid claims: within it only contributions change the meters. So neither events nor records
//! have an entry's contribution if it follows from the beginning of its run (`lua/jackpot/entering.lua`). An event of
//! 10,000 entries has as many amounts as there are stakes, and one more run than there are paid claims.

use std::collections::{BTreeSet, HashMap};

use super::definition::Definition;
use super::document::Contribution;
use super::record::Contributed;
use super::split::{Micro, TierAmount, split};
use crate::ids::Id;
use crate::money::Minor;
use crate::wire::{Field, Item, OrDash, Stands};
use crate::words;

/// Millionths of a unit, as the meters count them.
const MICRO: u32 = 1_000_000;

words! {
    /// What an entry of a stake adds.
    pub struct AmountRow as "amount_row" by '=' each ';' {
        /// The stake, or `*` if entries of every stake add the same. For a source with a contribution of its own: `@source`
        /// after it.
        pub stake: OfStake,
        /// One for each tier.
        pub amounts: Vec<TierAmount>,
    }
}

/// Which entries a row of amounts is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OfStake {
    /// Of this stake; `None` for every stake.
    pub stake: Option<Minor>,
    /// Of this source, which has a contribution of its own; `None` for all that contribute as the jackpot says.
    pub source: Option<Id>,
}

impl Field for OfStake {
    const TYPE: &'static str = "minor units, or `*`; then `@source` for a source's own contribution";
    const PATTERN: &'static str = "[%w*@._-]+";

    fn read(text: &str) -> Option<Self> {
        let (stake, source) = match text.split_once('@') {
            Some((stake, source)) => (stake, Some(Id::read(source)?)),
            None => (text, None),
        };
        let stake = match stake {
            "*" => None,
            stake => Some(Minor::read(stake)?),
        };
        Some(Self { stake, source })
    }

    fn write(&self, out: &mut String) {
        match self.stake {
            Some(stake) => stake.write(out),
            None => out.push('*'),
        }
        if let Some(source) = &self.source {
            out.push('@');
            source.write(out);
        }
    }
}

impl Item for OfStake {
    const LIST: Stands = Stands::Between(',');
    const CAN_BE_NONE: bool = true;
    const LIST_TYPE: &'static str =
        "list with commas, `-` for none: minor units, or `*`; then `@source` for a source's own contribution";
}

/// What an entry adds to each tier under one definition, by stake and source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// With the jackpot's contribution, if an entry uses it.
    own: Option<ByStake>,
    /// Of the sources that have contributions of their own.
    sources: Vec<(Id, ByStake)>,
}

/// What an entry adds with one contribution.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ByStake {
    /// The same whatever the stake: the contribution is fixed.
    Every(Vec<TierAmount>),
    /// For each stake, in the order of stakes: mostly one, so a hash would cost more.
    Each(Vec<(Minor, Vec<TierAmount>)>),
}

/// How an entry finds what it adds.
#[derive(Debug, Clone, Copy)]
pub enum Adds<'a> {
    /// By what was sent.
    Sent(Minor, Option<&'a Id>),
    Row(&'a OfStake),
    /// All entries add the same.
    Same,
}

impl Amounts {
    /// `None` unless each contribution has one row for every stake, or one for each of several, and all have as many
    /// tiers.
    pub(super) fn of_rows(rows: Vec<AmountRow>) -> Option<Self> {
        let tiers = rows.first()?.amounts.len();
        if rows.iter().any(|row| row.amounts.len() != tiers) {
            return None;
        }
        let (mut own, mut sources) = (Vec::new(), Vec::<(Id, Vec<_>)>::new());
        for AmountRow { stake: of, amounts } in rows {
            let row = (of.stake, amounts);
            match of.source {
                None => own.push(row),
                Some(source) => match sources.iter_mut().find(|(id, _)| *id == source) {
                    Some((_, rows)) => rows.push(row),
                    None => sources.push((source, vec![row])),
                },
            }
        }
        let own = if own.is_empty() {
            None
        } else {
            Some(ByStake::of_rows(own)?)
        };
        let sources = sources
            .into_iter()
            .map(|(id, rows)| Some((id, ByStake::of_rows(rows)?)));
        let sources = sources.collect::<Option<_>>()?;
        Some(Self { own, sources })
    }

    /// What an entry of this stake and source adds.
    #[must_use]
    pub fn of(&self, stake: Minor, source: Option<&Id>) -> Option<&[TierAmount]> {
        let by_source = source.and_then(|source| self.of_source(source));
        match by_source.or(self.own.as_ref())? {
            ByStake::Every(amounts) => Some(amounts),
            by_stake @ ByStake::Each(_) => by_stake.of_stake(stake),
        }
    }

    fn find(&self, adds: Adds<'_>) -> Option<&[TierAmount]> {
        match adds {
            Adds::Sent(stake, source) => self.of(stake, source),
            Adds::Row(row) => {
                let by_stake = match &row.source {
                    Some(source) => self.of_source(source)?,
                    None => self.own.as_ref()?,
                };
                match (by_stake, row.stake) {
                    (ByStake::Every(amounts), None) => Some(amounts),
                    (by_stake, Some(stake)) => by_stake.of_stake(stake),
                    _ => None,
                }
            }
            Adds::Same => match (&self.own, &self.sources[..]) {
                (Some(only), []) | (None, [(_, only)]) => only.only(),
                _ => None,
            },
        }
    }

    fn of_source(&self, source: &Id) -> Option<&ByStake> {
        let found = self.sources.iter().find(|(id, _)| id == source)?;
        Some(&found.1)
    }

    /// Which entries it has rows for.
    #[must_use]
    pub fn rows(&self) -> BTreeSet<OfStake> {
        let own = self.own.iter().map(|by_stake| (None, by_stake));
        let sources = self.sources.iter().map(|(id, by_stake)| (Some(id), by_stake));
        let row = |source: Option<&Id>, stake| OfStake {
            stake,
            source: source.cloned(),
        };
        own.chain(sources)
            .flat_map(|(source, by_stake)| match by_stake {
                ByStake::Every(_) => vec![row(source, None)],
                ByStake::Each(rows) => rows.iter().map(|(stake, _)| row(source, Some(*stake))).collect(),
            })
            .collect()
    }
}

impl ByStake {
    fn of_rows(rows: Vec<(Option<Minor>, Vec<TierAmount>)>) -> Option<Self> {
        let mut each = Vec::with_capacity(rows.len());
        let only = rows.len() == 1;
        for (stake, amounts) in rows {
            let Some(stake) = stake else {
                return only.then_some(Self::Every(amounts));
            };
            each.push((stake, amounts));
        }
        each.sort_unstable_by_key(|(stake, _)| *stake);
        let is_twice = each.windows(2).any(|two| two[0].0 == two[1].0);
        (!is_twice).then_some(Self::Each(each))
    }

    fn of_stake(&self, stake: Minor) -> Option<&[TierAmount]> {
        match self {
            Self::Every(_) => None,
            Self::Each(each) => {
                let at = each.binary_search_by_key(&stake, |(stake, _)| *stake).ok()?;
                Some(&each[at].1)
            }
        }
    }

    fn only(&self) -> Option<&[TierAmount]> {
        match self {
            Self::Every(amounts) => Some(amounts),
            Self::Each(each) => match &each[..] {
                [(_, amounts)] => Some(amounts),
                _ => None,
            },
        }
    }
}

/// The amounts under one definition, each computed once: the writer of what [`Amounts`] reads.
#[derive(Debug)]
pub struct Splits<'a> {
    definition: &'a Definition,
    own: Numbers,
    /// Of the sources that have contributions of their own.
    sources: Vec<(&'a Id, Numbers)>,
    rows: Vec<Vec<TierAmount>>,
    keys: Vec<OfStake>,
    text: String,
}

/// The numbers of the rows with one contribution.
#[derive(Debug)]
struct Numbers {
    contribution: Contribution,
    of_stake: HashMap<Minor, usize>,
    last: Option<(Minor, usize)>,
}

impl<'a> Splits<'a> {
    #[must_use]
    pub fn new(definition: &'a Definition) -> Self {
        Self {
            definition,
            own: Numbers::new(definition.document().contribution),
            sources: Vec::new(),
            rows: Vec::new(),
            keys: Vec::new(),
            text: String::new(),
        }
    }

    /// The number of the row that an entry of this stake and source adds, from 0.
    pub fn of(&mut self, stake: Minor, source: Option<&str>) -> usize {
        let source = source.and_then(|source| self.definition.own_contribution(source));
        let place = source.map(|(id, contribution)| {
            let known = self.sources.iter().position(|(known, _)| *known == id);
            known.unwrap_or_else(|| {
                self.sources.push((id, Numbers::new(contribution)));
                self.sources.len() - 1
            })
        });
        let numbers = match place {
            None => &mut self.own,
            Some(place) => &mut self.sources[place].1,
        };
        if let Some(number) = numbers.known(stake) {
            return number;
        }
        let number = self.rows.len();
        numbers.add(stake, number);
        let row = AmountRow {
            stake: OfStake {
                stake: (!numbers.is_fixed()).then_some(stake),
                source: source.map(|(id, _)| id.clone()),
            },
            amounts: split(self.definition, numbers.contribution, stake),
        };
        let row = vec![row];
        row.write(&mut self.text);
        for row in row {
            self.keys.push(row.stake);
            self.rows.push(row.amounts);
        }
        number
    }

    /// The distinct amounts until now, in the order of their numbers.
    #[must_use]
    pub fn rows(&self) -> &[Vec<TierAmount>] {
        &self.rows
    }

    /// Which entries each of them is for.
    #[must_use]
    pub fn keys(&self) -> &[OfStake] {
        &self.keys
    }

    /// The text that an event has.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

impl Numbers {
    fn new(contribution: Contribution) -> Self {
        Self {
            contribution,
            of_stake: HashMap::new(),
            last: None,
        }
    }

    fn is_fixed(&self) -> bool {
        matches!(self.contribution, Contribution::Fixed(_))
    }

    /// The number of the row of this stake, if there is one.
    fn known(&mut self, stake: Minor) -> Option<usize> {
        match self.last {
            Some((last, number)) if last == stake || self.is_fixed() => Some(number),
            _ => {
                let number = *self.of_stake.get(&stake)?;
                self.last = Some((stake, number));
                Some(number)
            }
        }
    }

    fn add(&mut self, stake: Minor, number: usize) {
        self.of_stake.insert(stake, number);
        self.last = Some((stake, number));
    }
}

/// What determines the contributions of a call's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Under the definition of the first entry; and under the one that came into force within the call.
    pub amounts: Vec<Amounts>,
    /// Index of the first entry under the second definition, from 1.
    split: Option<u64>,
    runs: Vec<Run>,
}

words! {
    /// The beginning of a run: the first entry of a call, the one after each paid entry, and the first one under another
    /// definition.
    pub struct Run as "run" by ':' each ';' {
        /// Index of its first entry among the entries that the call took, from 1.
        pub index: u64,
        /// The tiers before that entry.
        pub tiers: Vec<RunTier>,
    }
}

words! {
    /// The part of a tier's state that contributions need.
    #[derive(Copy)]
    pub struct RunTier as "run_tier" by ',' list '/' {
        /// The pool.
        pub pool: Minor,
        /// Fraction not yet in the pool, millionths.
        pub pool_micro: Micro,
        /// Fraction of all contributions, millionths.
        pub contributed_micro: Micro,
        /// Its cap; `-` for none.
        pub cap: OrDash<Minor>,
    }
}

impl Added {
    /// Reads the fields of an event or of the record of a call. `split`: index of the first entry under the second
    /// definition. On an error, returns the name of the unreadable field.
    pub fn parse(amounts: &str, split: Option<u64>, runs: &str) -> Result<Self, &'static str> {
        let of_rows = |text| Amounts::of_rows(Vec::read(text)?);
        let amounts = amounts.split('|').map(of_rows).collect::<Option<Vec<_>>>();
        let amounts = amounts.filter(|amounts| amounts.len() == 1 + usize::from(split.is_some()));
        let runs = Vec::read(runs);
        Ok(Self::new(amounts.ok_or("amounts")?, split, runs.ok_or("runs")?))
    }

    /// Of values that were read.
    pub(super) fn new(amounts: Vec<Amounts>, split: Option<u64>, runs: Vec<Run>) -> Self {
        Self { amounts, split, runs }
    }

    /// What each of the taken entries added to each tier. On an error, returns the name of the field that does not fit.
    pub fn contributions<'e>(
        &self,
        entries: impl Iterator<Item = Adds<'e>>,
    ) -> Result<Vec<Vec<Contributed>>, &'static str> {
        let (mut runs, mut tiers) = (self.runs.iter().peekable(), Vec::new());
        let mut all = Vec::with_capacity(entries.size_hint().0);
        let mut amounts = &self.amounts[0];
        for (index, entry) in (1..).zip(entries) {
            let begins = runs.next_if(|run| run.index == index);
            if let Some(run) = begins {
                tiers.clone_from(&run.tiers);
            }
            if self.split == Some(index) {
                amounts = self.amounts.last().filter(|_| begins.is_some()).ok_or("runs")?;
            }
            let amounts = amounts.find(entry).ok_or("amounts")?;
            if tiers.len() != amounts.len() {
                return Err("runs");
            }
            let adds = tiers.iter_mut().zip(amounts).map(|(tier, amount)| tier.accrue(amount));
            all.push(adds.collect::<Option<Vec<_>>>().ok_or("runs")?);
        }
        match (runs.next(), self.split) {
            (Some(_), _) => Err("runs"),
            (None, Some(split)) if !(2..=all.len() as u64).contains(&split) => Err("split"),
            (None, _) => Ok(all),
        }
    }
}

impl RunTier {
    /// Adds an entry's contribution, as `accrue` of `lua/jackpot/tiers.lua` does; `None` beyond the limit of a pool.
    fn accrue(&mut self, amount: &TierAmount) -> Option<Contributed> {
        let micro = self.contributed_micro.0 + amount.pool.micro + amount.reserve.micro;
        let grown = amount.pool.units + amount.reserve.units + u64::from(micro / MICRO);
        self.contributed_micro = Micro(micro % MICRO);
        let micro = self.pool_micro.0 + amount.pool.micro;
        let whole = amount.pool.units + u64::from(micro / MICRO);
        self.pool_micro = Micro(micro % MICRO);
        let pool = self.pool.get();
        let room = self.cap.0.map_or(whole, |cap| cap.get().saturating_sub(pool));
        self.pool = Minor::try_from(pool + whole.min(room)).ok()?;
        Minor::try_from(grown).is_ok().then_some(Contributed {
            pool: self.pool.get(),
            amount: grown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::MAX_MINOR;

    fn added(added: &Added, stakes: &[u64]) -> Result<String, &'static str> {
        let stakes = stakes
            .iter()
            .map(|stake| Adds::Sent(Minor::try_from(*stake).expect("in range"), None));
        let one = |of: &Contributed| format!("{}+{}", of.pool, of.amount);
        let entry = |of: &Vec<Contributed>| of.iter().map(one).collect::<Vec<_>>().join(",");
        let all = added.contributions(stakes)?;
        Ok(all.iter().map(entry).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn pools_follow_from_run_to_run_with_carry_and_cap() {
        let amounts = "10=1,600000,0,500000/0,0,3,0;20=0,0,0,0/2,0,0,0;";
        let of = Added::parse(amounts, None, "1:5,500000,900000,7/0,0,0,-;4:0,0,0,7/9,0,0,-;").expect("readable");
        // Entry 1: 0.9 + 2.1 contributed make 3.0, of which 1 was whole; 0.5 + 1.6 in the pool make 2.1, to the cap.
        assert_eq!(
            added(&of, &[10, 20, 10, 10]),
            Ok("7+3,0+3 7+0,2+2 7+2,2+3 1+2,9+3".to_owned())
        );
    }

    #[test]
    fn a_fixed_contribution_is_the_same_for_every_stake() {
        let of = Added::parse("*=2,0,0,0;", None, "1:5,0,0,-;").expect("readable");
        assert_eq!(added(&of, &[10, 0, 99]), Ok("7+2 9+2 11+2".to_owned()));
        for wrong in [
            "*=2,0,0,0;*=2,0,0,0;",
            "*=2,0,0,0;10=2,0,0,0;",
            "10=2,0,0,0;*=2,0,0,0;",
            "*2,0,0,0;",
        ] {
            assert_eq!(Added::parse(wrong, None, "1:5,0,0,-;"), Err("amounts"), "{wrong}");
        }
    }

    #[test]
    fn a_source_may_have_a_contribution_of_its_own() {
        let amounts = "10=1,0,0,0;*@vip=5,0,0,0;10@slot=2,0,0,0;20@slot=4,0,0,0;";
        let of = Added::parse(amounts, None, "1:0,0,0,-;").expect("readable");
        let id = |text| Id::parse(text).expect("an id");
        let (vip, slot, lobby) = (id("vip"), id("slot"), id("lobby"));
        let stake = |stake| Minor::try_from(stake).expect("in range");
        let added = |entries: &[(u64, Option<&Id>)]| {
            let entries = entries.iter().map(|(of, source)| Adds::Sent(stake(*of), *source));
            of.contributions(entries)
                .map(|all| all.iter().map(|added| added[0].amount).collect::<Vec<_>>())
        };
        let each = [
            (10, None),
            (10, Some(&lobby)),
            (99, Some(&vip)),
            (10, Some(&slot)),
            (20, Some(&slot)),
        ];
        assert_eq!(added(&each), Ok(vec![1, 1, 5, 2, 4]));
        for nobodys in [(20, None), (20, Some(&lobby)), (30, Some(&slot))] {
            assert_eq!(added(&[nobodys]), Err("amounts"));
        }
        let rows = of.amounts[0].rows().iter().map(Field::text).collect::<Vec<_>>();
        assert_eq!(rows, ["*@vip", "10", "10@slot", "20@slot"]);
        for wrong in [
            "10=1,0,0,0;*@vip=5,0,0,0;*@vip=5,0,0,0;",
            "*@vip=5,0,0,0;10@vip=5,0,0,0;",
            "10@=1,0,0,0;",
        ] {
            assert_eq!(Added::parse(wrong, None, "1:0,0,0,-;"), Err("amounts"), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_for_sources_is_read_again() {
        let document = serde_json::json!({"id": "x", "name": "x", "currency": "EUR", "contribution": {"rate_ppm": 500_000},
            "tiers": [{"tier": "t", "share_ppm": 1_000_000, "min_payout": 1}], "odds": {"total": 1, "ranks": []},
            "sources": {"lobby": {}, "vip": {"contribution": {"fixed": 5}}, "slot": {"contribution": {"rate_ppm": 100_000}}}});
        let definition = Definition::check(serde_json::from_value(document).expect("well formed")).expect("valid");
        let mut splits = Splits::new(&definition);
        let stake = |stake| Minor::try_from(stake).expect("in range");
        let all = [
            (10, "lobby"),
            (20, "lobby"),
            (10, "vip"),
            (20, "vip"),
            (10, "slot"),
            (20, "slot"),
            (10, "lobby"),
        ];
        let numbers = all.map(|(of, source)| splits.of(stake(of), Some(source)));
        assert_eq!(numbers, [0, 1, 2, 2, 3, 4, 0]);
        let keys = splits.keys().iter().map(Field::text).collect::<Vec<_>>();
        assert_eq!(keys, ["10", "20", "*@vip", "10@slot", "20@slot"]);
        let rows = splits.rows().to_vec();
        let added = Added::parse(&splits.into_text(), None, "1:0,0,0,-;").expect("readable");
        for ((of, source), number) in all.into_iter().zip(numbers) {
            let source = Id::parse(source).expect("an id");
            assert_eq!(added.amounts[0].of(stake(of), Some(&source)), Some(&rows[number][..]));
        }
    }

    #[test]
    fn a_second_definition_has_amounts_and_tiers_of_its_own() {
        let (amounts, runs) = ("10=1,0,0,0;|10=2,0,0,0/3,0,0,0;", "1:5,0,0,-;3:0,0,0,-/8,0,0,-;");
        let of = Added::parse(amounts, Some(3), runs).expect("readable");
        assert_eq!(
            added(&of, &[10, 10, 10, 10]),
            Ok("6+1 7+1 2+2,11+3 4+2,14+3".to_owned())
        );
        assert_eq!(added(&of, &[10, 10]), Err("runs"), "no entry after the split");
        let alike = Added::parse("10=1,0,0,0;|10=2,0,0,0;", Some(2), "1:5,0,0,-;").expect("readable");
        assert_eq!(added(&alike, &[10, 10]), Err("runs"), "no run begins at the split");
        assert_eq!(added(&alike, &[10]), Err("split"), "no entry after the split");
        for (amounts, split) in [("10=1,0,0,0;", Some(2)), ("10=1,0,0,0;|10=1,0,0,0;", None)] {
            assert_eq!(Added::parse(amounts, split, "1:5,0,0,-;"), Err("amounts"), "{amounts}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let of = |runs| Added::parse("10=1,0,0,0;", None, runs).expect("readable");
        let two = of("1:5,0,0,-;2:1,0,0,-;");
        assert_eq!(added(&two, &[10, 10]), Ok("6+1 2+1".to_owned()));
        assert_eq!(added(&two, &[11, 10]), Err("amounts"), "a stake without amounts");
        assert_eq!(added(&two, &[10]), Err("runs"), "a run after the last entry");
        assert_eq!(added(&of("2:5,0,0,-;"), &[10, 10]), Err("runs"), "no run at the first");
        assert_eq!(added(&of("1:5,0,0,-;1:1,0,0,-;"), &[10]), Err("runs"), "out of order");
        assert_eq!(added(&of("1:5,0,0,-/5,0,0,-;"), &[10]), Err("runs"), "a tier too many");
        let full = Added::parse(&format!("10={MAX_MINOR},0,0,0;"), None, "1:1,0,0,-;").expect("readable");
        assert_eq!(added(&full, &[10]), Err("runs"), "more than a pool can hold");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        let (amounts, runs) = ("10=1,0,0,0;", "1:5,0,0,-;");
        for wrong in [
            "",
            "10=1,0,0,0",
            "10=1,0,0,0;10=1,0,0,0;",
            "10=1,0,0,0;20=1,0,0,0/1,0,0,0;",
            "10=1,1000000,0,0;",
            "10=1,0,0;",
            "10=1,0,0,0,0;",
            "10;",
            "9007199254740992=1,0,0,0;",
            "10=-1,0,0,0;",
        ] {
            assert_eq!(Added::parse(wrong, None, runs), Err("amounts"), "{wrong}");
        }
        for wrong in [
            "1;",
            "1:5,0,0;",
            "1:5,0,0,-,0;",
            "1:5,1000000,0,-;",
            "x:5,0,0,-;",
            "1:5,0,0,-",
        ] {
            assert_eq!(Added::parse(amounts, None, wrong), Err("runs"), "{wrong}");
        }
    }
}
