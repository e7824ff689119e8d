//! In place of the protocols, in a program that was built without them. The settings refuse connections then, so nothing
//! comes here; if it did, every try would fail.

use std::future::{Ready, ready};

use super::{BrokerError, Message, Opened, Read, Sent};
use jackpot_kernel::built;
use jackpot_kernel::settings::Connection;

/// Why every try fails.
#[derive(Debug)]
pub(super) struct Protocol(String);

impl Protocol {
    pub(super) fn new(_: Connection) -> Self {
        Self(built::BROKERS.absent().to_string())
    }

    pub(super) fn send(&self, _: &str, _: &[Message]) -> Ready<Sent> {
        ready(Sent {
            count: 0,
            stopped: Some(BrokerError::new(&self.0)),
        })
    }

    pub(super) fn lanes(&self, _: &str) -> Ready<Result<Vec<String>, BrokerError>> {
        ready(Err(BrokerError::new(&self.0)))
    }

    pub(super) fn read(&self, _: &str, _: &str, _: Option<i64>, _: bool) -> Ready<Result<Opened, BrokerError>> {
        ready(Err(BrokerError::new(&self.0)))
    }
}

/// None is ever opened.
pub(super) enum Source {}

impl Source {
    pub(super) fn next(&mut self) -> Ready<Result<Read, BrokerError>> {
        match *self {}
    }
}
