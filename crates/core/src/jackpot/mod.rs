//! What is pure of a jackpot.
//!
//! | file | what |
//! | --- | --- |
//! | [`document`], [`definition`] | a definition as JSON; checked |
//! | [`odds`], [`draw`], [`epoch`] | the odds table, the draw onto it, and the periods of its seeds |
//! | [`split`], [`added`] | what one entry adds to each tier; what each entry of a call added, computed |
//! | [`call`] | the entries of one call, as its event has them |
//! | [`record`], [`batch_record`] | what Redis keeps of an entry, alone or in a run; what it keeps of a batch |
//! | [`derived`] | ids that the service makes |
//! | [`steps`] | what is to be done next for an entry |

pub mod added;
pub mod batch_record;
pub mod call;
pub mod definition;
pub mod derived;
pub mod document;
pub mod draw;
pub mod epoch;
pub mod odds;
pub mod record;
pub mod split;
pub mod steps;
