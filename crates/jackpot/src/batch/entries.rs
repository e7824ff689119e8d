//! Parses the entries of a batch from JSON directly into the text that fingerprint and event need, without an
//! allocation for each entry. Pure.

use std::borrow::Cow;
use std::fmt::{self, Write};

use jackpot_core::ids::{ClientSeed, Id, PersonId};
use jackpot_core::jackpot::ranks::Ranks;
use jackpot_core::jackpot::record::Sent;
use jackpot_core::money::Minor;
use jackpot_core::wire::Field;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Most entries of a batch. It bounds Redis' work in one call to some ten milliseconds.
pub const MAX_ENTRIES: usize = 10_000;

/// One to [`MAX_ENTRIES`] entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    /// What was sent with each, a line, in the form of [`Sent::to_text`], without a final line end.
    block: String,
    lines: Vec<Line>,
    min_stake: Minor,
    max_stake: Minor,
    /// Whether an entry names a source.
    name_sources: bool,
}

/// One line of the block. Byte offsets; a block is far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    from: u32,
    /// Without the line end.
    to: u32,
    stake: Minor,
    /// Length of the player id.
    player: u8,
    /// Length of the client seed; 0 for none.
    seed: u8,
    /// Length of the source's id; 0 for none.
    source: u8,
    /// Length of the ranks; 0 for none.
    ranks: u16,
}

impl Entries {
    /// The entries from requests; `None` for none or too many.
    pub fn of(all: &[Sent]) -> Option<Self> {
        let mut entries = Self::empty();
        for sent in all {
            let seed = sent.client_seed.as_ref().map(ClientSeed::as_str);
            let source = sent.source.as_ref().map(Id::as_str);
            entries.push(sent.player.as_str(), sent.stake, seed, source, sent.ranks.as_ref());
        }
        (1..=MAX_ENTRIES).contains(&all.len()).then_some(entries)
    }

    fn empty() -> Self {
        Self {
            block: String::new(),
            lines: Vec::new(),
            min_stake: Minor::MAX,
            max_stake: Minor::ZERO,
            name_sources: false,
        }
    }

    fn push(&mut self, player: &str, stake: Minor, seed: Option<&str>, source: Option<&str>, ranks: Option<&Ranks>) {
        let length = |text: &str| u8::try_from(text.len()).expect("an id has at most 128 characters");
        let offset = |at: usize| u32::try_from(at).expect("10,000 lines are far below 4 GiB");
        if !self.lines.is_empty() {
            self.block.push('\n');
        }
        let from = offset(self.block.len());
        self.block.push_str(player);
        // Writing to a string does not fail.
        let _ = write!(self.block, " {stake} ");
        self.block.push_str(seed.unwrap_or("*"));
        // No source stands for no ranks either: they are refused without an external one.
        if let Some(source) = source {
            self.block.push(' ');
            self.block.push_str(source);
        }
        let before = self.block.len();
        if let Some(ranks) = ranks {
            self.block.push(' ');
            ranks.write(&mut self.block);
        }
        let ranks = self.block.len().saturating_sub(before + 1);
        self.lines.push(Line {
            source: source.map_or(0, length),
            ranks: u16::try_from(ranks).expect("101 ranks have some 1,100 characters"),
            from,
            to: offset(self.block.len()),
            stake,
            player: length(player),
            seed: seed.map_or(0, length),
        });
        self.min_stake = self.min_stake.min(stake);
        self.max_stake = self.max_stake.max(stake);
        self.name_sources |= source.is_some();
    }

    /// Number of entries.
    #[expect(clippy::len_without_is_empty, reason = "a batch is never empty")]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The smallest stake.
    pub fn min_stake(&self) -> Minor {
        self.min_stake
    }

    /// The largest stake.
    pub fn max_stake(&self) -> Minor {
        self.max_stake
    }

    /// The stake of the entry at position `i`, from 0.
    pub fn stake(&self, i: usize) -> Minor {
        self.lines[i].stake
    }

    /// The client seed of the entry at position `i`, from 0.
    pub fn seed(&self, i: usize) -> Option<&str> {
        let line = self.lines[i];
        let to = line.end_of_seed();
        (line.seed > 0).then(|| &self.block[to - usize::from(line.seed)..to])
    }

    /// The source of the entry at position `i`, from 0.
    pub fn source(&self, i: usize) -> Option<&str> {
        let line = self.lines[i];
        let to = line.end_of_source();
        (line.source > 0).then(|| &self.block[to - usize::from(line.source)..to])
    }

    /// What the game of the entry at position `i`, from 0, drew.
    pub fn ranks(&self, i: usize) -> Option<Ranks> {
        let line = self.lines[i];
        let to = line.to as usize;
        (line.ranks > 0).then(|| {
            let text = &self.block[to - usize::from(line.ranks)..to];
            Ranks::read(text).expect("a line was made of what was checked")
        })
    }

    /// Whether an entry names a source, or brings ranks.
    pub fn name_sources(&self) -> bool {
        self.name_sources
    }

    /// The player of the entry at position `i`, from 0.
    pub fn player(&self, i: usize) -> &str {
        let line = self.lines[i];
        let from = line.from as usize;
        &self.block[from..from + usize::from(line.player)]
    }

    /// The line of the entry at position `i`, from 0.
    pub fn line(&self, i: usize) -> &str {
        let line = self.lines[i];
        &self.block[line.from as usize..line.to as usize]
    }

    /// The request of the entry at position `i`, from 0.
    pub fn sent(&self, i: usize) -> Sent {
        Sent::parse(self.line(i)).expect("a line was made of what was checked")
    }

    /// The lines of all entries.
    pub fn block(&self) -> &str {
        &self.block
    }
}

impl Line {
    fn end_of_source(self) -> usize {
        self.to as usize - usize::from(self.ranks) - usize::from(self.ranks > 0)
    }

    fn end_of_seed(self) -> usize {
        self.end_of_source() - usize::from(self.source) - usize::from(self.source > 0)
    }
}

/// An entry in the body. It borrows its texts where the JSON has no escapes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryText<'a> {
    #[serde(borrow)]
    player_id: Player<'a>,
    stake: Minor,
    #[serde(borrow, default)]
    client_seed: Option<Seed<'a>>,
    #[serde(borrow, default)]
    source_id: Option<Source<'a>>,
    #[serde(default)]
    ranks: Option<Ranks>,
}

struct Player<'a>(Cow<'a, str>);
struct Source<'a>(Cow<'a, str>);
struct Seed<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Player<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(Text)?;
        PersonId::check(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Source<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(Text)?;
        Id::check(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Seed<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_str(Text)?;
        ClientSeed::check(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Entries, A::Error> {
        let mut entries = Entries::empty();
        while let Some(entry) = access.next_element::<EntryText<'de>>()? {
            if entries.lines.len() == MAX_ENTRIES {
                return Err(wrong_count());
            }
            let seed = entry.client_seed.as_ref().map(|seed| seed.0.as_ref());
            let source = entry.source_id.as_ref().map(|source| source.0.as_ref());
            if source.is_none() && entry.ranks.is_some() {
                return Err(A::Error::custom(
                    "ranks need a source_id: only an external source draws itself",
                ));
            }
            entries.push(&entry.player_id.0, entry.stake, seed, source, entry.ranks.as_ref());
        }
        if entries.lines.is_empty() {
            return Err(wrong_count());
        }
        Ok(entries)
    }
}

fn wrong_count<E: Error>() -> E {
    E::custom(format_args!("must be 1 to {MAX_ENTRIES} entries"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_are_kept_as_the_lines_of_their_block() {
        let text = r#"[{"player_id":"p1","stake":0},{"stake":9007199254740991,"client_seed":"a-b","player_id":"\u0070\u0032"},
            {"player_id":"p3","stake":7,"client_seed":null}]"#;
        let entries: Entries = serde_json::from_str(text).expect("well formed");
        assert_eq!(entries.block(), "p1 0 *\np2 9007199254740991 a-b\np3 7 *");
        assert_eq!(
            (entries.player(1), entries.seed(1), entries.seed(2)),
            ("p2", Some("a-b"), None)
        );
        assert_eq!(
            (entries.stake(2).get(), entries.max_stake().get()),
            (7, jackpot_core::money::MAX_MINOR)
        );
        let sent = (0..3).map(|i| entries.sent(i)).collect::<Vec<_>>();
        assert_eq!(sent[1].to_text(), entries.line(1));
        assert_eq!(Entries::of(&sent), Some(entries));
    }

    #[test]
    fn one_to_ten_thousand_are_taken() {
        let many = |count| json!(vec![json!({"player_id": "p", "stake": 1}); count]);
        for (count, taken) in [(0, false), (1, true), (10_000, true), (10_001, false)] {
            assert_eq!(serde_json::from_value::<Entries>(many(count)).is_ok(), taken, "{count}");
        }
    }
    #[test]
    fn each_part_of_a_line_is_found_whatever_stands_beside_it() {
        let text = r#"[{"player_id":"p1","stake":5,"source_id":"slot","ranks":[1,2,0]},
            {"player_id":"p22","stake":3,"client_seed":"s-1","source_id":"\u0076ip"},
            {"player_id":"p3","stake":9,"client_seed":"x","source_id":"slot","ranks":[7]},
            {"player_id":"p4","stake":4}]"#;
        let entries: Entries = serde_json::from_str(text).expect("well formed");
        let lines = ["p1 5 * slot 1,2,0", "p22 3 s-1 vip", "p3 9 x slot 7", "p4 4 *"];
        assert_eq!(entries.block(), lines.join("\n"));
        assert_eq!((entries.len(), entries.name_sources()), (4, true));
        assert_eq!((entries.min_stake().get(), entries.max_stake().get()), (3, 9));
        let each = |i| {
            let ranks = entries.ranks(i).map(|ranks| ranks.all().to_vec());
            (entries.player(i), entries.seed(i), entries.source(i), ranks)
        };
        for (i, expected) in [
            ("p1", None, Some("slot"), Some(vec![1, 2, 0])),
            ("p22", Some("s-1"), Some("vip"), None),
            ("p3", Some("x"), Some("slot"), Some(vec![7])),
            ("p4", None, None, None),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!((each(i), entries.line(i)), (expected, lines[i]));
        }
        let sent = (0..4).map(|i| entries.sent(i)).collect::<Vec<_>>();
        assert_eq!(Entries::of(&sent), Some(entries));
        assert_eq!(
            Entries::of(&sent[3..]).map(|entries| entries.name_sources()),
            Some(false)
        );
        assert_eq!(Entries::of(&[]), None);
    }

    #[test]
    fn what_is_wrong_with_the_entries_is_said() {
        for (body, what) in [
            ("7", "expected an array"),
            ("[]", "must be 1 to 10000 entries"),
            (r#"[{"player_id":7,"stake":1}]"#, "expected a string"),
            (r#"[{"player_id":"a b","stake":1}]"#, "must match"),
            (
                r#"[{"player_id":"p","stake":1,"client_seed":"a b"}]"#,
                "must be null or match",
            ),
            (r#"[{"player_id":"p","stake":1,"source_id":"a b"}]"#, "must match"),
            (r#"[{"player_id":"p","stake":1,"ranks":[1]}]"#, "ranks need a source_id"),
        ] {
            let error = serde_json::from_str::<Entries>(body).expect_err(body).to_string();
            assert!(error.contains(what), "{body}: {error}");
        }
    }
}
