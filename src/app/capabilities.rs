//! The capabilities of the service: one line each. The service and the commands use the same list.

use std::sync::OnceLock;

use crate::capability::{Capability, Ground, Registration};
use crate::ledger::kinds::Kinds;
use crate::ledger::projector::load::Load;
use crate::subject::kinds;
use crate::{coupon, jackpot, room};

/// Declares how the streams of each capability are read, and the function that makes all of them, in the order of the
/// list. A capability in parentheses is an argument of the constructor, so it must be in a line above.
macro_rules! built_in {
    ($($name:ident = $service:ty $(, uses($($used:ident),+))?;)+) => {
        const BUILT_IN: &[Load] = &[$(<$service>::LOAD),+];

        fn make_built_in(ground: &Ground) -> Vec<Box<dyn Capability>> {
            $(let $name = <$service>::new(ground $($(, &$used)+)?);)+
            vec![$(Box::new($name)),+]
        }
    };
}

built_in! {
    rooms = room::capability::Service;
    coupons = coupon::capability::Service;
    jackpots = jackpot::capability::Service, uses(coupons, rooms);
}

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

fn added() -> impl Iterator<Item = &'static Registration> {
    ADDED.get().into_iter().flatten()
}

/// How the streams of each are found and read, where nothing but the ledger and Redis is there. In the order in which
/// capabilities are shown: the built-in ones from the last line to the first.
pub fn loads() -> Vec<Load> {
    let built_in = BUILT_IN.iter().rev().copied();
    built_in.chain(added().map(|one| one.load)).collect()
}

/// Makes all of them, in the order in which they are shown.
pub fn make(ground: &Ground) -> Vec<Box<dyn Capability>> {
    let mut made = make_built_in(ground);
    made.reverse();
    made.extend(added().map(|one| (one.make)(ground)));
    made
}

/// Their kinds, for the ledger and the commands.
pub fn kinds_of(capabilities: &[Box<dyn Capability>]) -> Kinds {
    Kinds::new(capabilities.iter().map(|one| one.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_and_the_names_of_kinds_agree() {
        let names: Vec<_> = loads().iter().map(|load| load.name).collect();
        assert_eq!(names, kinds::all().collect::<Vec<_>>());
    }
}
