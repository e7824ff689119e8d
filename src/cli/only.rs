//! The options that name one subject: `--jackpot`, `--coupon`, `--room`.

use jackpot_core::ids::Id;

use crate::stream::kinds::Streams;

/// The named subject, or all if none was named.
pub(super) struct Only(Option<(Streams, Id)>);

impl Only {
    /// From the options, of which at most one is set.
    pub(super) fn of(jackpot: Option<&str>, coupon: Option<&str>, room: Option<&str>) -> Result<Self, String> {
        let options = [
            (Streams::Jackpots, jackpot),
            (Streams::Coupons, coupon),
            (Streams::Rooms, room),
        ];
        for (streams, id) in options {
            if let Some(id) = id {
                let id = Id::parse(id).map_err(|error| format!("--{} {error}", streams.tables().what))?;
                return Ok(Self(Some((streams, id))));
            }
        }
        Ok(Self(None))
    }

    /// Whether any subject of this kind is included.
    pub(super) fn takes(&self, streams: Streams) -> bool {
        self.0.as_ref().is_none_or(|(of, _)| *of == streams)
    }

    /// Whether this subject is included.
    pub(super) fn has(&self, streams: Streams, id: &str) -> bool {
        self.takes(streams) && self.id().is_none_or(|only| only.as_str() == id)
    }

    /// The named subject, with its kind.
    pub(super) fn one(&self) -> Option<(Streams, &Id)> {
        self.0.as_ref().map(|(streams, id)| (*streams, id))
    }

    /// The named subject.
    pub(super) fn id(&self) -> Option<&Id> {
        self.0.as_ref().map(|(_, id)| id)
    }

    /// An error if the named subject does not exist.
    pub(super) fn found(&self, found: bool) -> Result<(), String> {
        match &self.0 {
            Some((streams, id)) if !found => {
                Err(format!("the ledger has no event of {} '{id}'", streams.tables().what))
            }
            _ => Ok(()),
        }
    }
}
