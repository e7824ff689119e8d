//! The state of a jackpot that this instance expects in Redis, because its last call left it there.
//!
//! For that state this instance does the work of `enter` itself ([`Expected::advance`]), and sends the writes. Redis makes
//! them if the state is still the same (`lua/jackpot/enter_expected.lua`), which takes it half the time of `enter`. If
//! another instance, a winner or an operator changed the state meanwhile, Redis writes nothing, and the entries go to
//! `enter`. So what is expected decides how fast an entry is taken, and never how (docs/decisions/0044).

mod advance;
mod meters;

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::scripts::{EnterEntry, Entered, EntryReply, ExpectedCall};
use super::view::View;

use advance::Advance;
pub use advance::Expected;

/// Most calls after a miss for which nothing is expected. Many misses mean that others play the same jackpot.
const MAX_PAUSE: u32 = 64;

/// What is expected of one jackpot. One call at a time uses it.
#[derive(Debug, Default)]
pub struct Expectation(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    expected: Option<Box<Expected>>,
    /// Whether a call that uses it is under way.
    is_lent: bool,
    /// Misses in a row.
    misses: u32,
    /// Calls of `enter` until it is asked for the state again.
    pause: u32,
}

/// A call that uses what is expected. After its end nothing is expected, unless it was a [`hit`](Self::hit).
#[derive(Debug)]
pub struct Lent<'a> {
    lease: Lease<'a>,
    replies: Vec<EntryReply>,
    next: Box<Expected>,
}

/// Ends with the call, however that ends.
#[derive(Debug)]
struct Lease<'a>(&'a Expectation);

impl Expectation {
    /// Lends what is expected to a call of these entries; `None` when only `enter` can take them.
    pub fn lend(&self, view: &View, entries: &[EnterEntry]) -> Option<(Lent<'_>, ExpectedCall)> {
        let expected = self.lock().expected.take()?;
        let Advance { call, replies, next } = expected.advance(view, entries)?;
        self.lock().is_lent = true;
        let lent = Lent {
            lease: Lease(self),
            replies,
            next: Box::new(next),
        };
        Some((lent, call))
    }

    /// Whether this call of `enter` is to tell the state that it leaves.
    pub fn asks(&self) -> bool {
        let mut state = self.lock();
        if state.pause > 0 {
            state.pause -= 1;
            return false;
        }
        !state.is_lent
    }

    /// Expects what `enter` told.
    pub fn tell(&self, expected: Expected) {
        let mut state = self.lock();
        if !state.is_lent {
            state.expected = Some(Box::new(expected));
        }
    }

    /// Expects nothing.
    pub fn forget(&self) {
        self.lock().expected = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// The state was as expected, and is the next one now.
    pub fn hit(self) -> Entered {
        let Self { lease, replies, next } = self;
        let mark = next.mark();
        let mut state = lease.0.lock();
        state.expected = Some(next);
        state.misses = 0;
        drop(state);
        Entered {
            mark,
            replies,
            refusal: None,
            told: None,
        }
    }

    /// The state was another one. One miss is chance: a claim, say. After several in a row, nothing is expected for a while.
    pub fn missed(self) {
        let mut state = self.lease.0.lock();
        state.misses = state.misses.saturating_add(1);
        state.pause = match state.misses {
            1 => 0,
            misses => 1_u32.checked_shl(misses).unwrap_or(MAX_PAUSE).min(MAX_PAUSE),
        };
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.0.lock().is_lent = false;
    }
}
