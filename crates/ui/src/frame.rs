//! The frame of a page: what every page has around its content.

use maud::{DOCTYPE, Markup, html};

use crate::{Asset, Language, STYLE_FILE, Words};

/// A page without its content.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    pub language: Language,
    pub title: &'a str,
    /// For `body`: the layout in the stylesheet.
    pub class: &'a str,
    pub scripts: &'a [&'a Asset],
    /// Further elements of the head.
    pub head: Option<&'a Markup>,
    /// Whether search engines may list it.
    pub listed: bool,
}

impl<'a> Frame<'a> {
    /// Without scripts and for no search engine.
    #[must_use]
    pub fn new(words: Words, title: &'a str, class: &'a str) -> Self {
        Self {
            language: words.0,
            title,
            class,
            scripts: &[],
            head: None,
            listed: false,
        }
    }

    /// The whole page. Its scripts run when it has been read, so they change what is there.
    #[must_use]
    pub fn around(&self, content: &Markup) -> Markup {
        self.around_at("", content)
    }

    /// The same for a page that a proxy may serve under another path: `root` leads from it to the root of the service,
    /// such as `../..`.
    #[must_use]
    pub fn around_at(&self, root: &str, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang=(self.language.code()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    @if !self.listed { meta name="robots" content="noindex"; }
                    title { (self.title) }
                    link rel="stylesheet" href={ (root) (STYLE_FILE.path()) };
                    link rel="icon" href={ (root) (ICON_FILE.path()) } type="image/svg+xml";
                    @for script in self.scripts { script src={ (root) (script.path()) } defer {} }
                    @if let Some(head) = self.head { (head) }
                }
                body class=(self.class) { (content) }
            }
        }
    }
}

/// The icon of every page.
pub static ICON_FILE: Asset = Asset::new("icon", "svg", include_str!("icon.svg"));
