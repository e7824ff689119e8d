//! The waiting page from outside: its tokens, what it shows in every state, and a user who waits in a real browser.

mod browser;
mod events;
pub mod kit;
mod site;
mod states;
mod tokens;
