//! The waiting page from outside: its tokens, its states, and a user who waits in a real browser.

mod browser;
mod events;
pub mod site;
mod states;
pub mod support;
mod tokens;
