//! The ledger's own checks of an event, the same that the service makes before it writes one.

use crate::ledger::event::Event;
use crate::ledger::fold::{Fold, FoldError};

/// The books as the service keeps them.
pub(super) type Books = Fold;

/// Whether an event follows from those before it.
pub(super) fn follow(books: &mut Books, event: &Event) -> Result<(), FoldError> {
    books.apply(event)
}
