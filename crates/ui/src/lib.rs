//! What every page shares: one stylesheet, texts in English and Korean, numbers, money, times, plots, the rules of a
//! jackpot in words, and the frame of a page. Pure: it knows no request. The console, the public page, the waiting page and the reports of
//! `simulate` use it.

pub mod asset;
pub mod frame;
pub mod language;
pub mod money;
pub mod plot;
pub mod rules;
pub mod time;

pub use asset::Asset;
pub use language::{Language, Words};

/// The stylesheet of every page, with its tokens for colour, space and type at the top.
pub const STYLE: &str = include_str!("style.css");

/// The stylesheet as a file of the service.
pub static STYLE_FILE: Asset = Asset::new("style", "css", STYLE);
