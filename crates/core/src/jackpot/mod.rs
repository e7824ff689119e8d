//! The pure part of jackpots.
//!
//! | file | what |
//! | --- | --- |
//! | [`document`], [`definition`] | a definition as JSON; checked |
//! | [`origin`] | a web origin as browsers send it |
//! | [`odds`], [`draw`], [`epoch`] | the odds table, the draw onto it, and the periods of its seeds |
//! | [`split`], [`added`] | what one entry adds to each tier; what each entry of a call added, computed |
//! | [`call`] | the entries of one call, as its event has them |
//! | [`expected_return`] | what a player gets back on average of each stake |
//! | [`record`], [`batch_record`] | Redis' record of an entry, alone or in a run; Redis' record of a batch |
//! | [`adjustment_record`] | Redis' record of an adjustment |
//! | [`derived`] | ids that the service derives |
//! | [`steps`] | the next step of an entry |

pub mod added;
pub mod adjustment_record;
pub mod batch_record;
pub mod call;
pub mod definition;
pub mod derived;
pub mod document;
pub mod draw;
pub mod epoch;
pub mod expected_return;
pub mod odds;
pub mod origin;
pub mod record;
pub mod split;
pub mod steps;
