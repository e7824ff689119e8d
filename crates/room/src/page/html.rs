//! The waiting page as HTML. Pure.
//!
//! Style and script are files of the service. Their addresses are relative, so that the page works behind a proxy that
//! serves it under another path.

use jackpot_ui::frame::Frame;
use jackpot_ui::{Asset, Words};
use maud::{Markup, html};

use super::words::{Notice, Texts};
use crate::return_to::ReturnTo;

/// The script. The page works without it.
pub static SCRIPT: Asset = Asset::new("wait", "js", include_str!("page.js"));

/// The header `Content-Security-Policy` of every page.
pub const POLICY: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// From `/rooms/{id}/wait` to the root of the service.
pub const ROOT: &str = "../..";
/// The same from `/rooms/{id}/wait/leave`.
pub const ROOT_OF_LEAVE: &str = "../../..";

/// What a page shows of its room, if it is known.
#[derive(Debug, Clone, Default)]
pub struct Sign {
    /// The room's name.
    pub name: Option<String>,
    /// Target of its link back.
    pub back: Option<ReturnTo>,
    /// Why everything is stopped, while it is.
    pub stopped: Option<String>,
}

impl Sign {
    fn head(&self, words: Words) -> Markup {
        html! {
            @if let Some(name) = &self.name { p class="room" { (name) } }
            @if let Some(reason) = &self.stopped { p.note.bad { (words.tv("emergency-reason", [("reason", reason.as_str().into())])) } }
        }
    }

    fn back(&self, words: Words) -> Markup {
        html! { @if let Some(back) = &self.back {
            p { a href=(back.as_str()) { (words.tv("wait-back", [("site", back.site().into())])) } }
        } }
    }
}

/// The page of a place in the queue. `leave`: target of its form. `refresh_s`: when it is loaded again without scripts.
pub fn line(words: Words, texts: &Texts, sign: &Sign, leave: &str, refresh_s: u64) -> String {
    // Inside `noscript`, because a script cannot take back a refresh that the browser has read.
    let refresh = Refresh {
        seconds: refresh_s,
        address: "",
    };
    let head = html! { noscript { (refresh.html()) } };
    // The script loads the page again after this time if no events arrive.
    let content = html! {
        main data-refresh=(refresh_s) {
            (sign.head(words))
            h1 id="heading" { (texts.heading) }
            div role="status" aria-live="polite" aria-atomic="true" {
                dl.place {
                    dt { (words.t("wait-place")) }
                    dd.now id="place" { (texts.place) }
                    dt { (words.t("wait-time")) }
                    dd id="wait" { (texts.wait) }
                }
                p id="note" { (texts.note) }
            }
            p.hint { (words.t("wait-open")) }
            form method="post" action=(leave) { button { (words.t("wait-leave")) } }
            (sign.back(words))
        }
    };
    document(words, &texts.title, ROOT, &[&SCRIPT], &head, &content)
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
    fn html(self) -> Markup {
        let Self { seconds, address } = self;
        let content = match address {
            "" => seconds.to_string(),
            address => format!("{seconds};url={address}"),
        };
        html! { meta http-equiv="refresh" content=(content); }
    }
}

/// A page with a message. `root`: from its address to the root of the service.
pub fn notice(words: Words, root: &str, notice: Notice, sign: &Sign, refresh: Option<Refresh<'_>>) -> String {
    let heading = notice.heading(words);
    let head = html! { @if let Some(refresh) = refresh { (refresh.html()) } };
    let content = html! {
        main {
            (sign.head(words))
            h1 { (heading) }
            p role="status" { (notice.text(words)) }
            (sign.back(words))
        }
    };
    document(words, &heading, root, &[], &head, &content)
}

fn document(words: Words, title: &str, root: &str, scripts: &[&Asset], head: &Markup, content: &Markup) -> String {
    let frame = Frame {
        scripts,
        head: Some(head),
        ..Frame::new(words, title, "single")
    };
    frame.around_at(root, content).into_string()
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;
    use crate::page::words::{Motion, ShownPosition};
    use crate::scripts::End;

    const EN: Words = Words(Language::En);

    fn sign() -> Sign {
        Sign {
            name: Some("Spring & <lobby>".to_owned()),
            back: Some(ReturnTo::parse("https://shop.example/p?a='1'&b=\"2\"").unwrap()),
            stopped: None,
        }
    }

    fn waiting() -> String {
        let line = ShownPosition {
            position: 7,
            eta_s: Some(200),
            motion: Motion::Moves,
        };
        super::line(EN, &line.texts(EN), &sign(), "/rooms/lobby/wait/leave?place=a.b&x=<", 3)
    }

    /// The one text between two others.
    fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
        let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before} in {page}"));
        rest.split_once(after).unwrap_or_else(|| panic!("{after} in {page}")).0
    }

    #[test]
    fn a_place_is_shown_and_the_page_comes_again_without_scripts() {
        let page = waiting();
        assert_eq!(between(&page, "id=\"place\">", "</dd>"), "7");
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
            EN,
            &ShownPosition {
                position: 1,
                eta_s: None,
                motion: Motion::Moves,
            }
            .texts(EN),
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
            .texts(EN),
        )
        .unwrap();
        let page = waiting();
        for id in texts.as_object().unwrap().keys() {
            // The title is that of the document.
            let count = usize::from(id != "title");
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), count, "{id}");
        }
    }

    #[test]
    fn only_what_the_policy_allows_is_in_the_page() {
        let page = waiting();
        assert!(!POLICY.contains("unsafe") && !page.contains("<style"));
        // No handler or style in an attribute, no script in the page, nothing from elsewhere.
        let script = between(&page, "<script", "</script>");
        assert_eq!(script, format!(" src=\"../..{}\" defer>", SCRIPT.path()));
        assert_eq!(page.matches("<script").count(), 1);
        for wrong in [
            " on",
            " style=",
            " src=\"h",
            " src=\"/",
            "<link rel=\"stylesheet\" href=\"h",
        ] {
            let inside = |part: &str| {
                part.split('>')
                    .next()
                    .is_some_and(|tag| format!("<{tag}").contains(wrong))
            };
            assert!(!page.split('<').skip(1).any(inside), "{wrong}");
        }
    }

    #[test]
    fn a_page_says_its_language_and_finds_its_files_from_where_it_is() {
        let page = notice(Language::Ko.words(), ROOT_OF_LEAVE, Notice::Closed, &sign(), None);
        assert!(
            page.contains("<html lang=\"ko\">") && page.contains("지금은 줄을 설 수 없습니다"),
            "{page}"
        );
        assert!(
            page.contains("href=\"../../../assets/style-") && page.contains("shop.example(으)로"),
            "{page}"
        );
    }

    #[test]
    fn a_notice_shows_the_way_back_and_comes_again_only_where_that_helps() {
        let page = notice(EN, ROOT, Notice::Ended(End::Abandoned), &sign(), None);
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
            let page = notice(EN, ROOT, Notice::Unavailable, &Sign::default(), Some(refresh));
            assert!(!page.contains("<noscript"));
            between(&page, "<meta http-equiv=\"refresh\" content=\"", "\"").to_owned()
        };
        assert_eq!(again(""), "5");
        assert_eq!(again("../wait?place=a.b&\"x"), "5;url=../wait?place=a.b&amp;&quot;x");
        let page = notice(EN, ROOT, Notice::Unavailable, &Sign::default(), None);
        assert!(!page.contains("<a "));
    }
}
