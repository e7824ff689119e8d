//! The options that name one subject: `--jackpot`, `--coupon`, `--room`.

use jackpot_core::ids::Id;

use crate::subject::kinds::{COUPONS, JACKPOTS, ROOMS};

/// The named subject, or all if none was named.
pub(super) struct Only(Option<(&'static str, Id)>);

impl Only {
    /// From the options, of which at most one is set.
    pub(super) fn of(jackpot: Option<&str>, coupon: Option<&str>, room: Option<&str>) -> Result<Self, String> {
        let options = [(JACKPOTS.what, jackpot), (COUPONS.what, coupon), (ROOMS.what, room)];
        for (kind, id) in options {
            if let Some(id) = id {
                let id = Id::parse(id).map_err(|error| format!("--{kind} {error}"))?;
                return Ok(Self(Some((kind, id))));
            }
        }
        Ok(Self(None))
    }

    /// Whether any subject of this kind is included.
    pub(super) fn takes(&self, kind: &str) -> bool {
        self.0.as_ref().is_none_or(|(of, _)| *of == kind)
    }

    /// Whether this subject is included.
    pub(super) fn has(&self, kind: &str, id: &str) -> bool {
        self.takes(kind) && self.id().is_none_or(|only| only.as_str() == id)
    }

    /// The named subject, with its kind.
    pub(super) fn one(&self) -> Option<(&'static str, &Id)> {
        self.0.as_ref().map(|(kind, id)| (*kind, id))
    }

    /// The named subject.
    pub(super) fn id(&self) -> Option<&Id> {
        self.0.as_ref().map(|(_, id)| id)
    }

    /// An error if the named subject does not exist.
    pub(super) fn found(&self, found: bool) -> Result<(), String> {
        match &self.0 {
            Some((kind, id)) if !found => Err(format!("the ledger has no event of {kind} '{id}'")),
            _ => Ok(()),
        }
    }
}
