//! What is pure of a jackpot.
//!
//! | file | what |
//! | --- | --- |
//! | [`document`], [`definition`] | a definition as JSON; checked |
//! | [`odds`], [`draw`], [`epoch`] | the odds table, the draw onto it, and the periods of its seeds |
//! | [`split`], [`runs`], [`segment`] | what one entry adds to each tier; what many entries add, computed |
//! | [`record`], [`call_record`], [`batch_record`] | what Redis keeps of an entry, of the entries of one call, of a batch |
//! | [`derived`] | ids that the service makes |
//! | [`steps`] | what is to be done next for an entry |

pub mod batch_record;
pub mod call_record;
pub mod definition;
pub mod derived;
pub mod document;
pub mod draw;
pub mod epoch;
pub mod odds;
pub mod record;
pub mod runs;
pub mod segment;
pub mod split;
pub mod steps;
