//! Rooms in the ledger: what their events say, and what the events rebuild. Pure.
//!
//! [`event`]: an event as the scripts write it. [`books`]: a room at an event, each event checked against what was before
//! it. [`audit`]: what operators did. [`report`]: Redis beside the ledger. Tickets are not in the ledger.

pub mod audit;
pub mod books;
pub mod event;
pub mod report;
