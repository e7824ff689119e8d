//! The options that name one subject: `--jackpot`, `--coupon`, `--room` and those of every further kind.

use std::marker::PhantomData;

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use jackpot_core::ids::Id;

use crate::subject::kinds::{self, KindName};

/// How a command asks for a subject.
pub(super) trait Asks {
    /// The group of the options. At most one of it is given.
    const GROUP: &'static str;
    /// Whether one must be given.
    const REQUIRED: bool;

    /// The option of a kind, without its place.
    fn option(kind: KindName) -> Arg;
}

/// The options of a command, as they were given.
pub(super) struct Options<A> {
    given: Option<(KindName, String)>,
    asks: PhantomData<A>,
}

/// An argument `--kind ID`.
pub(super) fn flag(kind: KindName) -> Arg {
    Arg::new(kind.as_str()).long(kind.as_str()).value_name("ID")
}

impl<A: Asks> Args for Options<A> {
    fn augment_args(command: Command) -> Command {
        let group = ArgGroup::new(A::GROUP).required(A::REQUIRED).multiple(false);
        let group = group.args(kinds::all().map(KindName::as_str));
        command.args(kinds::all().map(A::option)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<A: Asks> FromArgMatches for Options<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |kind: KindName| Some((kind, matches.get_one::<String>(kind.as_str())?.clone()));
        Ok(Self {
            given: kinds::all().find_map(given),
            asks: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The named subject, or all if none was named.
pub(super) struct Only(Option<(KindName, Id)>);

impl Only {
    pub(super) const ALL: Self = Self(None);

    /// From the options.
    pub(super) fn of<A>(options: &Options<A>) -> Result<Self, String> {
        let Some((kind, id)) = &options.given else {
            return Ok(Self::ALL);
        };
        let id = Id::parse(id).map_err(|error| format!("--{kind} {error}"))?;
        Ok(Self(Some((*kind, id))))
    }

    /// Whether any subject of this kind is included.
    pub(super) fn takes(&self, kind: KindName) -> bool {
        self.0.as_ref().is_none_or(|(of, _)| *of == kind)
    }

    /// Whether this subject is included.
    pub(super) fn has(&self, kind: KindName, id: &str) -> bool {
        self.takes(kind) && self.id().is_none_or(|only| only.as_str() == id)
    }

    /// The named subject, with its kind.
    pub(super) fn one(&self) -> Option<(KindName, &Id)> {
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
