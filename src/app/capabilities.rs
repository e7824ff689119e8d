//! The capabilities of the service: one line each. The service and the commands use the same list.

use std::sync::OnceLock;

use crate::capability::{Capability, Ground, Registration};
use crate::ledger::kinds::Kinds;
use crate::ledger::projector::load::Load;
use crate::subject::kinds;
use crate::{coupon, jackpot, room};

/// In the order in which they are shown. A capability may use what those after it share.
const BUILT_IN: [Registration; 3] = [
    jackpot::capability::REGISTRATION,
    coupon::capability::REGISTRATION,
    room::capability::REGISTRATION,
];

/// Capabilities of a program that embeds this one.
static ADDED: OnceLock<Vec<Registration>> = OnceLock::new();

/// Adds capabilities that are not built in. The program does it once, before it parses anything.
///
/// # Panics
/// On a second call.
pub fn add(more: Vec<Registration>) {
    kinds::add(more.iter().map(|one| one.load.name).collect());
    assert!(ADDED.set(more).is_ok(), "capabilities are added once");
}

fn all() -> impl DoubleEndedIterator<Item = Registration> {
    BUILT_IN.into_iter().chain(ADDED.get().into_iter().flatten().copied())
}

/// How the streams of each are found and read, where nothing but the ledger and Redis is there.
#[must_use]
pub fn loads() -> Vec<Load> {
    all().map(|one| one.load).collect()
}

/// Makes all of them, in the order of the list.
#[must_use]
pub fn make(mut ground: Ground) -> Vec<Box<dyn Capability>> {
    // From the last to the first: what a capability uses is there by then.
    let mut made: Vec<_> = all().rev().map(|one| (one.make)(&mut ground)).collect();
    made.reverse();
    made
}

/// Their kinds, for the ledger and the commands.
#[must_use]
pub fn kinds_of(capabilities: &[Box<dyn Capability>]) -> Kinds {
    Kinds::new(capabilities.iter().map(|one| one.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_and_the_names_of_kinds_agree() {
        let names: Vec<_> = all().map(|one| one.load.name).collect();
        assert_eq!(names, kinds::all().collect::<Vec<_>>());
    }
}
