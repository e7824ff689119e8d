//! The pure part of jackpots.
//!
//! | file | what |
//! | --- | --- |
//! | [`document`], [`definition`] | a definition as JSON; checked |
//! | [`origin`] | a web origin as browsers send it |
//! | [`odds`], [`draw`], [`epoch`] | the odds table, the draw onto it, and the periods of its seeds |
//! | [`ranks`] | what the game of an external source drew |
//! | [`must_hit`], [`cycle`] | by when a pool must be hit; the cycles from one hit to the next, and their triggers |
//! | [`split`], [`added`] | what one entry adds to each tier; what each entry of a call added, computed |
//! | [`call`] | the entries of one call, as its event has them |
//! | [`expected_return`] | what a player gets back on average of each stake |
//! | [`record`], [`batch_record`] | Redis' record of an entry, alone or in a run; Redis' record of a batch |
//! | [`adjustment_record`] | Redis' record of an adjustment |
//! | [`reversal`] | Redis' record of a reversal, and of what a tier has outside the packed meters |
//! | [`settlement`] | states of payouts and the steps between them; the limit above which a payout waits |
//! | [`leaving`] | money that operators take out: what waits for a second owner, and what each took in a day |
//! | [`derived`] | ids that the service derives |
//! | [`steps`] | the next step of an entry |

pub mod added;
pub mod adjustment_record;
pub mod batch_record;
pub mod call;
pub mod cycle;
pub mod definition;
pub mod derived;
pub mod document;
pub mod draw;
pub mod epoch;
pub mod expected_return;
pub mod leaving;
pub mod must_hit;
pub mod odds;
pub mod origin;
pub mod ranks;
pub mod record;
pub mod reversal;
pub mod settlement;
pub mod split;
pub mod steps;
pub mod transfer;
