//! Pages for browsers, which call the API in this process: the operators' console, and what players see without a key.

pub mod console;
pub mod public_page;
