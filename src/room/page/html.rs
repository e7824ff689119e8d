//! The waiting page as HTML. Pure.
//!
//! Nothing comes from elsewhere: style and script are in the page, allowed only by their hashes.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::words::{Notice, Texts};
use crate::room::return_to::ReturnTo;
use jackpot_core::html::escape;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The header `Content-Security-Policy` of every page. `connect-src` is for the page's own events.
pub static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
});

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// What a page shows of its room, if it is known.
#[derive(Debug, Clone, Default)]
pub struct Sign {
    /// The room's name.
    pub name: Option<String>,
    /// Target of its link back.
    pub back: Option<ReturnTo>,
}

impl Sign {
    fn name(&self) -> String {
        let line = |name: &String| format!("<p class=\"room\">{}</p>\n", escape(name));
        self.name.as_ref().map(line).unwrap_or_default()
    }

    fn back(&self) -> String {
        let link = |back: &ReturnTo| {
            let (address, site) = (escape(back.as_str()), escape(&back.site()));
            format!("<p><a href=\"{address}\">Back to {site}</a></p>\n")
        };
        self.back.as_ref().map(link).unwrap_or_default()
    }
}

/// The page of a place in the queue. `leave`: target of its form. `refresh_s`: when it is loaded again without scripts.
pub fn line(texts: &Texts, sign: &Sign, leave: &str, refresh_s: u64) -> String {
    let Texts {
        title,
        heading,
        place,
        wait,
        note,
    } = texts;
    let (title, place, wait, note) = (escape(title), escape(place), escape(wait), escape(note));
    let leave = escape(leave);
    // Inside `noscript`, because a script cannot take back a refresh that the browser has read.
    let refresh = Refresh {
        seconds: refresh_s,
        address: "",
    };
    let refresh = format!("<noscript>{}</noscript>", refresh.html());
    let (name, back) = (sign.name(), sign.back());
    let main = format!(
        "{name}<h1 id=\"heading\">{heading}</h1>\n\
         <div role=\"status\" aria-live=\"polite\" aria-atomic=\"true\">\n\
         <dl>\n<dt>Your place in the line</dt>\n<dd id=\"place\">{place}</dd>\n\
         <dt>Estimated time</dt>\n<dd id=\"wait\">{wait}</dd>\n</dl>\n\
         <p id=\"note\">{note}</p>\n</div>\n\
         <p class=\"hint\">Keep this page open: it goes on by itself when it is your turn. Closed, it loses your place after a while.</p>\n\
         <form method=\"post\" action=\"{leave}\"><button>Leave the line</button></form>\n{back}"
    );
    // The script loads the page again after this time if no events arrive.
    let script = format!("<script data-refresh=\"{refresh_s}\">{SCRIPT}</script>\n");
    document(&title, &refresh, &main, &script)
}

/// When a page is loaded again.
#[derive(Debug, Clone, Copy)]
pub struct Refresh<'a> {
    /// Seconds after it was loaded.
    pub seconds: u64,
    /// The next address; empty: the same.
    pub address: &'a str,
}

impl Refresh<'_> {
    fn html(self) -> String {
        let Self { seconds, address } = self;
        let address = match address {
            "" => String::new(),
            address => format!(";url={}", escape(address)),
        };
        format!("<meta http-equiv=\"refresh\" content=\"{seconds}{address}\">")
    }
}

/// A page with a message.
pub fn notice(notice: Notice, sign: &Sign, refresh: Option<Refresh<'_>>) -> String {
    let (heading, text) = (notice.heading(), notice.text());
    let (name, back) = (sign.name(), sign.back());
    let main = format!("{name}<h1>{heading}</h1>\n<p role=\"status\">{text}</p>\n{back}");
    let head = refresh.map_or_else(String::new, Refresh::html);
    document(heading, &head, &main, "")
}

/// The whole page; the parts are HTML already.
fn document(title: &str, refresh: &str, main: &str, script: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title id=\"title\">{title}</title>\n{refresh}\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<main>\n{main}</main>\n{script}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::page::words::{Motion, ShownPosition};
    use crate::room::scripts::End;

    fn sign() -> Sign {
        Sign {
            name: Some("Spring & <lobby>".to_owned()),
            back: Some(ReturnTo::parse("https://shop.example/p?a='1'&b=\"2\"").unwrap()),
        }
    }

    fn waiting() -> String {
        let line = ShownPosition {
            position: 7,
            eta_s: Some(200),
            motion: Motion::Moves,
        };
        super::line(&line.texts(), &sign(), "/rooms/lobby/wait/leave?place=a.b&x=<", 3)
    }

    /// The one text between two others.
    fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
        let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before} in {page}"));
        rest.split_once(after).unwrap_or_else(|| panic!("{after} in {page}")).0
    }

    #[test]
    fn a_place_is_shown_and_the_page_comes_again_without_scripts() {
        let page = waiting();
        assert_eq!(between(&page, "<dd id=\"place\">", "</dd>"), "7");
        assert_eq!(between(&page, "<dd id=\"wait\">", "</dd>"), "about 4 minutes");
        let refresh = between(&page, "<noscript>", "</noscript>");
        assert_eq!(refresh, "<meta http-equiv=\"refresh\" content=\"3\">");
        assert_eq!(page.matches("http-equiv=\"refresh\"").count(), 1);
        let action = between(&page, "action=\"", "\"");
        assert_eq!(action, "/rooms/lobby/wait/leave?place=a.b&amp;x=&lt;");
    }

    #[test]
    fn the_room_is_named_and_the_link_back_is_the_rooms() {
        let page = waiting();
        assert_eq!(
            between(&page, "<p class=\"room\">", "</p>"),
            "Spring &amp; &lt;lobby&gt;"
        );
        assert_eq!(page.matches("<a href=\"https://shop.example/p?").count(), 1);
        let bare = super::line(
            &ShownPosition {
                position: 1,
                eta_s: None,
                motion: Motion::Moves,
            }
            .texts(),
            &Sign::default(),
            "",
            3,
        );
        assert!(!bare.contains("class=\"room\"") && !bare.contains("<a "));
    }

    #[test]
    fn every_text_has_its_element() {
        let texts = serde_json::to_value(
            ShownPosition {
                position: 1,
                eta_s: None,
                motion: Motion::Stands,
            }
            .texts(),
        )
        .unwrap();
        let page = waiting();
        for id in texts.as_object().unwrap().keys() {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn only_what_the_policy_allows_is_in_the_page() {
        let page = waiting();
        for (name, directive) in [("style", "style-src"), ("script", "script-src")] {
            let element = between(&page, &format!("<{name}"), &format!("</{name}>"));
            let (_, text) = element.split_once('>').unwrap();
            let allowed = format!("{directive} '{}'", hash(text));
            assert!(POLICY.contains(&allowed), "{allowed} in {}", *POLICY);
            assert_eq!(page.matches(&format!("<{name}")).count(), 1);
        }
        // No handler or style in an attribute, nothing from elsewhere.
        for wrong in [" on", " style=", " src=", "@import", "url("] {
            let markup = page.replace(STYLE, "").replace(SCRIPT, "");
            let inside = |part: &str| part.split('>').next().is_some_and(|tag| tag.contains(wrong));
            assert!(!markup.split('<').skip(1).any(inside), "{wrong}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }

    #[test]
    fn a_notice_shows_the_way_back_and_comes_again_only_where_that_helps() {
        let page = notice(Notice::Ended(End::Abandoned), &sign(), None);
        assert!(page.contains("<p class=\"room\">Spring &amp; &lt;lobby&gt;</p>"));
        assert!(page.contains("<h1>Your place was given up</h1>"));
        let link = between(&page, "<a href=\"", "</a>");
        assert_eq!(
            link,
            "https://shop.example/p?a=%271%27&amp;b=%222%22\">Back to shop.example"
        );
        assert!(!page.contains("http-equiv") && !page.contains("<script"));
        let again = |address| {
            let refresh = Refresh { seconds: 5, address };
            let page = notice(Notice::Unavailable, &Sign::default(), Some(refresh));
            assert!(!page.contains("<noscript"));
            between(&page, "<meta http-equiv=\"refresh\" content=\"", "\"").to_owned()
        };
        assert_eq!(again(""), "5");
        assert_eq!(again("../wait?place=a.b&\"x"), "5;url=../wait?place=a.b&amp;&quot;x");
        let page = notice(Notice::Unavailable, &Sign::default(), None);
        assert!(!page.contains("<a "));
    }
}
