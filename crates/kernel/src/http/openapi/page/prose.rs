//! Texts of the description: paragraphs, with code between backticks.

use maud::{Markup, html};

use crate::http::Code;

/// Paragraphs.
pub(super) fn prose(text: &str) -> Markup {
    html! { @for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) { p { (short(paragraph)) } } }
}

/// A text within a line. A code of a problem leads to its explanation.
pub(super) fn short(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 0 { (part) }
            @else if Code::parse(part).is_some() { a href={ "#problem-" (part) } { code { (part) } } }
            @else { code { (part) } }
        }
    }
}

/// The same where a link may not be, such as in a summary.
pub(super) fn unlinked(text: &str) -> Markup {
    html! { @for (place, part) in text.split('`').enumerate() { @if place % 2 == 0 { (part) } @else { code { (part) } } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_marked_and_problems_are_linked() {
        assert_eq!(
            prose("a <b>\n\nSee `limit`, `not-found`.").into_string(),
            "<p>a &lt;b&gt;</p><p>See <code>limit</code>, \
             <a href=\"#problem-not-found\"><code>not-found</code></a>.</p>"
        );
        assert_eq!(unlinked("`not-found`").into_string(), "<code>not-found</code>");
    }
}
