//! The pure part of Jackpot: text and numbers in, text and numbers out. No I/O, no clock, no randomness, no HTTP, no
//! Redis, no SQL.
//!
//! The service writes with this code and `jackpot verify` reads with it. `jackpot simulate` and the black-box checks
//! draw with code of their own, so that a mistake here shows as a difference.
//!
//! | where | what |
//! | --- | --- |
//! | [`ids`], [`money`], [`text`], [`violation`], [`clock`] | input of clients, parsed once; times at the edge |
//! | [`currency`] | money: a currency with its decimals by ISO 4217, and an amount of it |
//! | [`day`] | days that begin at a time of day in a time zone |
//! | [`html`] | escaped HTML |
//! | [`secret`] | the secret of every draw, in memory |
//! | [`jackpot`] | definition, odds, draw, split, contributions, records, the next step of an entry |
//! | [`mark`], [`fields`], [`chain`] | the position in a stream; the fields of its events; their hash chain |
//! | [`signing`], [`receipt`] | Ed25519 keys; signed receipts and heads |
//! | [`unreadable`] | a record in Redis that no script wrote |
//! | [`wire`] | one declaration of each value that Rust and Lua exchange |

pub mod chain;
pub mod clock;
pub mod currency;
pub mod day;
pub mod fields;
pub mod html;
pub mod ids;
pub mod jackpot;
pub mod mark;
pub mod money;
pub mod names;
pub mod receipt;
pub mod secret;
pub mod signing;
pub mod text;
pub mod unreadable;
pub mod violation;
pub mod wire;
