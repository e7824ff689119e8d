//! The waiting page of a room: where a site sends its users until they are let in.
//!
//! Pure: `claims` (what the tokens of the page say), `words`, `html` (with `page.css`
//! and `page.js`). `sight` asks the room; `stream` keeps an open page up to date, `listeners` counts them; `api` joins them to HTTP. How a site uses
//! it: `docs/how-to/waiting-rooms.md`.

pub mod api;
pub mod claims;
pub mod html;
mod listeners;
mod sight;
mod stream;
pub mod words;
