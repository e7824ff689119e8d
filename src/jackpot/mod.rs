//! Jackpots: definition, draw, play.
//!
//! Pure: `document` (the JSON), `definition` (checked), `odds`, `draw`, `epoch` (the periods of the draw), `split`, `record` (what Redis keeps of an
//! entry), `call_record` (what entries of one call share), `batch_record` and `segment` (what the record and the event of
//! a batch say), `derived` (ids that the service makes), `runs` (what entries add, computed), `steps` (what is to be done
//! next). With Redis: `scripts` (wrappers of `lua/jackpot/`), `view` and `known` (what this instance knows), `play` (an
//! entry's path), `entering` (entries that come together, one call), `taking` (its further steps), `batch` (many entries
//! of one request), `operate` (what operators do), `named` (rooms and coupons that a
//! definition names), `recovery`, `files` (definitions at start). `api` joins
//! them to HTTP.

pub mod api;
pub mod batch;
pub mod batch_record;
pub mod call_record;
pub mod definition;
pub mod derived;
pub mod document;
pub mod draw;
mod entering;
pub mod epoch;
pub mod error;
pub mod files;
pub mod kept;
pub mod known;
pub mod metrics;
pub mod named;
pub mod odds;
pub mod operate;
pub mod play;
mod problem;
pub mod record;
pub mod recovery;
pub mod runs;
pub mod scripts;
pub mod segment;
pub mod split;
pub mod steps;
mod taking;
pub mod view;
