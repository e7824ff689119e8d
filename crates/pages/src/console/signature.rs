//! The check of a document that the ledger signed: with the public keys of `/v1/keys`, as anyone can do it.

use jackpot_core::signing::{Jwks, VerifyError};
use maud::{Markup, html};

use super::Desk;

/// A signed document, as its page shows the check.
pub struct Signed<'a> {
    pub key_id: &'a str,
    pub signature: &'a str,
    /// What the signature covers.
    pub text: &'a str,
    /// Where the document is as JSON.
    pub json: &'a str,
}

impl Signed<'_> {
    /// The result of `verify`, with which key, and what is needed to repeat it.
    pub async fn checked(&self, desk: &Desk, verify: impl Fn(&Jwks) -> Result<(), VerifyError>) -> Markup {
        let words = desk.words;
        let keys: Result<Jwks, _> = desk.ask("/v1/keys").await;
        html! {
            section.panel.stack {
                h2 { (words.t("signature")) }
                @match &keys {
                    Err(problem) => p.note.warn role="alert" { (words.t("signature-unknown")) " " (problem.detail) },
                    Ok(keys) => @match verify(keys) {
                        Ok(()) => p.note.good {
                            strong { (words.t("signature-valid")) } " "
                            @if keys.keys().first().is_some_and(|first| first.id() == self.key_id) { (words.t("signature-by-current")) }
                            @else { (words.t("signature-by-earlier")) }
                        },
                        Err(error) => p.note.bad role="alert" { strong { (words.t("signature-wrong")) } " " (error) },
                    },
                }
                dl.facts {
                    dt { (words.t("signature-key")) } dd { code { (self.key_id) } " · " a href="/v1/keys" { (words.t("signature-keys")) } }
                    dt { (words.t("signature")) } dd { code { (self.signature) } }
                }
                details { summary { (words.t("signature-text")) } p.hint { (words.t("signature-text-hint")) } pre tabindex="0" { (self.text) } }
                div.row { a.button href=(self.json) { (words.t("as-json")) } }
            }
        }
    }
}
