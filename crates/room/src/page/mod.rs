//! The waiting page of a room: a site sends its users there until they are admitted.
//!
//! Pure: `claims` (of the page's tokens), `words`, `html` (with `page.js`). `sight` asks the room.
//! `stream` keeps an open page up to date, and `listeners` counts the streams. `api` joins them to HTTP. How a site
//! uses it: `docs/how-to/waiting-rooms.md`.

pub mod api;
pub mod claims;
pub mod html;
mod listeners;
mod sight;
mod stream;
pub mod words;
