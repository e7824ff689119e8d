//! The check of a draw: its form and what its script needs, in the page and as a file that works without a connection.

use std::sync::LazyLock;

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderValue};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jackpot_api::fairness::CycleBody;
use jackpot_api::jackpot::DefinitionOfVersion;
use jackpot_core::jackpot::document::Rank;
use jackpot_ui::rules::Rules;
use jackpot_ui::{STYLE, Words};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::reading::{Reading, rules};
use super::shown::{self, Kind};
use super::{CHECK, DRAW, Public};
use jackpot_kernel::http::inside::Inside;

/// Epochs in the page. The script asks for older ones.
const EPOCHS: usize = 50;
/// Cycles that a player can choose from in the page. An older one is pasted.
const CYCLES: usize = 50;

/// The texts of the script, and the values in each, which the script fills in.
const TEXTS: [(&str, &[&str]); 46] = [
    ("nothing", &[]),
    ("prize", &["rank", "prize"]),
    ("rank", &["rank"]),
    ("steps", &[]),
    ("seed-step", &["epoch"]),
    ("seed-about", &[]),
    ("seed", &[]),
    ("hash", &[]),
    ("commitment", &[]),
    ("seed-same", &[]),
    ("seed-other", &[]),
    ("draw-step", &[]),
    ("redraw-step", &["attempt"]),
    ("draw-about", &[]),
    ("message", &[]),
    ("hmac", &[]),
    ("rejected", &[]),
    ("word", &[]),
    ("bound", &[]),
    ("ticket", &[]),
    ("in-range", &["ticket", "from", "to", "prize"]),
    ("in-none", &["ticket"]),
    ("redraws", &["count"]),
    ("draws", &["prize"]),
    ("draws-nothing", &[]),
    ("right", &[]),
    ("redrawn", &["refused"]),
    ("spent", &["refused"]),
    ("wrong", &[]),
    ("forged", &[]),
    ("no-epoch", &[]),
    ("no-definition", &[]),
    ("unpublished", &["epoch", "opened", "expected"]),
    ("unpublished-closed", &["epoch", "at"]),
    ("unpublished-typed", &[]),
    ("cycle-seed-step", &["tier", "cycle"]),
    ("cycle-step-amount", &[]),
    ("cycle-step-time", &[]),
    ("cycle-about", &[]),
    ("cycle-index", &[]),
    ("cycle-amount", &[]),
    ("cycle-time", &[]),
    ("cycle-right", &["trigger"]),
    ("cycle-wrong", &["trigger", "shown"]),
    ("cycle-unpublished", &[]),
    ("cycle-unreadable", &[]),
];

/// Older definitions are at hand while all of them have at most so many ranks.
const MAX_RANKS: usize = 200;

const ENTRY: &str = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}(:[1-9][0-9]{0,4})?";
const CLIENT_SEED: &str = "[A-Za-z0-9._\\-]{1,64}";
const HASH: &str = "[0-9A-Fa-f]{64}";

/// The policy of the file: nothing but its own style and scripts, by their hashes.
static FILE_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (style, draw, check) = (hash(STYLE), hash(DRAW.content()), hash(CHECK.content()));
    format!("default-src 'none'; style-src {style}; script-src {draw} {check}; base-uri 'none'; form-action 'none'")
});

/// The file.
pub async fn get(id: Path<String>, request: HttpRequest, inside: Inside, public: Data<Public>) -> HttpResponse {
    let mut answer = shown::answer(&public, &inside, &request, &id, Kind::File, file).await;
    if answer.status().is_success() {
        let name = format!("attachment; filename=\"{id}-draws.html\"");
        for (header, text) in [(CONTENT_DISPOSITION, &name), (CONTENT_SECURITY_POLICY, &*FILE_POLICY)] {
            if let Ok(value) = HeaderValue::try_from(text) {
                answer.headers_mut().insert(header, value);
            }
        }
    }
    answer
}

fn file(public: &Public, words: Words, reading: &Reading) -> String {
    let title = words.tv("check-file-title", [("name", (&reading.definition().name).into())]);
    let page = html! {
        (DOCTYPE)
        html lang=(words.0.code()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(*FILE_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body.public {
                main {
                    h1 { (title) }
                    p { (words.t("check-file-about")) }
                    p.hint { (words.t("check-external")) }
                    (form(words, reading))
                    (cycle_form(words, reading, usize::MAX))
                    (data(public, words, reading, usize::MAX, usize::MAX))
                }
                script { (PreEscaped(DRAW.content())) }
                script { (PreEscaped(CHECK.content())) }
            }
        }
    };
    page.into_string()
}

/// The section of the page.
pub fn section(public: &Public, words: Words, reading: &Reading) -> Markup {
    let file = format!("/j/{}/check.html", reading.meter.jackpot_id);
    html! {
        section.panel.stack id="check" {
            h2 { (words.t("check-title")) }
            p { (words.t("check-about")) }
            p.hint { (words.t("check-external")) }
            (form(words, reading))
            p { a href=(file) download { (words.t("check-download")) } " " span.hint { (words.t("check-download-about")) } }
            (cycle_form(words, reading, CYCLES))
            (data(public, words, reading, EPOCHS, CYCLES))
        }
    }
}

fn form(words: Words, reading: &Reading) -> Markup {
    let rules = rules(words, reading.definition());
    let revealed = reading.epochs.iter().rev().find(|epoch| epoch.seed.is_some());
    let epoch = revealed.or(reading.epochs.last()).map(|epoch| epoch.epoch);
    html! {
        noscript { p.note.warn { (words.t("check-no-script")) } }
        p.note.warn id="check-insecure" hidden { (words.t("check-insecure")) }
        form.stack id="check-form" hidden {
            div.fields {
                (field(words, "entry", &html! { input id="check-entry" name="entry" required pattern=(ENTRY) maxlength="70" autocomplete="off" spellcheck="false" aria-describedby="check-entry-hint"; }))
                (field(words, "client-seed", &html! { input id="check-client-seed" name="client_seed" pattern=(CLIENT_SEED) autocomplete="off" spellcheck="false" aria-describedby="check-client-seed-hint"; }))
                (field(words, "epoch", &html! { input id="check-epoch" name="epoch" type="number" min="1" required value=[epoch] list="check-epochs" aria-describedby="check-epoch-hint"; }))
                (field(words, "version", &html! { input id="check-version" name="version" type="number" min="1" required value=(reading.definition().version) aria-describedby="check-version-hint"; }))
                (field(words, "told", &html! { select id="check-told" name="told" aria-describedby="check-told-hint" { (outcomes(&rules)) } }))
                (field(words, "stake", &html! { input id="check-stake" name="stake" type="number" min="0" value="0" aria-describedby="check-stake-hint"; }))
            }
            datalist id="check-epochs" { @for epoch in reading.epochs.iter().rev() { option value=(epoch.epoch) { (epoch.opened_at) } } }
            details {
                summary { (words.t("check-by-hand")) }
                div.fields {
                    (field(words, "seed", &html! { input id="check-seed" name="seed" pattern=(HASH) autocomplete="off" spellcheck="false" aria-describedby="check-seed-hint"; }))
                    (field(words, "commitment", &html! { input id="check-commitment" name="commitment" pattern=(HASH) autocomplete="off" spellcheck="false" aria-describedby="check-commitment-hint"; }))
                }
            }
            button.primary { (words.t("check-do")) }
        }
        div.stack id="check-result" hidden {}
        details {
            summary { (words.t("check-how")) }
            ol.steps { @for step in 1..=5 { li { (words.t(&format!("check-how-{step}"))) } } }
        }
    }
}

/// The check of a cycle, where a pool has or had a must-hit rule. Newest first; those with a seed can be recomputed.
fn cycle_form(words: Words, reading: &Reading, most: usize) -> Markup {
    if reading.cycles.is_empty() {
        return html! {};
    }
    let last = last(&reading.cycles, most);
    let chosen = last.iter().rposition(|cycle| cycle.seed.is_some());
    let named = |cycle: &CycleBody| {
        words.tv(
            "public-cycle",
            [("tier", (&cycle.tier).into()), ("cycle", cycle.cycle.into())],
        )
    };
    html! {
        h3 { (words.t("check-cycle-title")) }
        p { (words.t("check-cycle-hint-form")) }
        form.stack id="check-cycle-form" hidden {
            div.fields {
                (field(words, "cycle", &html! { select id="check-cycle" name="cycle" aria-describedby="check-cycle-hint" {
                    @for (place, cycle) in last.iter().enumerate().rev() { option value=(place) selected[Some(place) == chosen] { (named(cycle)) } }
                } }))
            }
            details {
                summary { (words.t("check-cycle-by-hand")) }
                (field(words, "pasted", &html! { textarea id="check-pasted" name="pasted" rows="4" autocomplete="off" spellcheck="false" aria-describedby="check-pasted-hint" {} }))
            }
            button.primary { (words.t("check-cycle-do")) }
        }
        div.stack id="check-cycle-result" hidden {}
    }
}

/// The last so many.
fn last<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn field(words: Words, name: &str, input: &Markup) -> Markup {
    let id = format!("check-{name}");
    html! {
        div.field id=(format!("{id}-field")) {
            label for=(id) { (words.t(&id)) }
            (input)
            p.hint id=(format!("{id}-hint")) { (words.t(&format!("{id}-hint"))) }
        }
    }
}

/// What the game may have said.
fn outcomes(rules: &Rules<'_>) -> Markup {
    let mut ranks: Vec<&Rank> = rules.definition.odds.ranks.iter().collect();
    ranks.sort_by_key(|rank| rank.rank);
    html! {
        option value="" { (rules.words.t("check-told-none")) }
        option value="0" { (rules.words.t("check-nothing")) }
        @for rank in ranks { option value=(rank.rank) { (rank_in_words(rules, rank)) } }
    }
}

fn rank_in_words(rules: &Rules<'_>, rank: &Rank) -> String {
    let values = [
        ("rank", u64::from(rank.rank).into()),
        ("prize", rules.prize(&rank.prize).into()),
    ];
    rules.words.tv("check-prize", values)
}

/// What the script needs, as data, which no policy takes for a script.
fn data(public: &Public, words: Words, reading: &Reading, epochs: usize, cycles: usize) -> Markup {
    let (mut definitions, mut ranks) = (Vec::new(), 0);
    for definition in &reading.definitions {
        ranks += definition.odds.ranks.len();
        if definitions.is_empty() || ranks <= MAX_RANKS {
            definitions.push(of_definition(words, definition));
        }
    }
    let text = |(name, values): &(&str, &[&'static str])| {
        let template = words.template(&format!("check-{name}"), values);
        ((*name).to_owned(), Value::from(template))
    };
    let data = json!({
        "jackpot": reading.meter.jackpot_id,
        "api": format!("/v1/jackpots/{}", reading.meter.jackpot_id),
        "epoch_s": public.epoch.as_secs(),
        "definitions": definitions,
        "epochs": last(&reading.epochs, epochs),
        "cycles": last(&reading.cycles, cycles),
        "texts": TEXTS.iter().map(text).collect::<Map<_, _>>(),
    });
    // No text in it can end the element.
    let json = data.to_string().replace('<', "\\u003c");
    html! { script id="check-data" type="application/json" { (PreEscaped(json)) } }
}

/// The odds with prizes in words.
fn of_definition(words: Words, definition: &DefinitionOfVersion) -> Value {
    let rules = rules(words, definition);
    let mut odds = json!(definition.odds);
    odds["per_stake"] = json!(definition.odds.per_stake);
    for (place, rank) in definition.odds.ranks.iter().enumerate() {
        odds["ranks"][place]["prize"] = rules.prize(&rank.prize).into();
    }
    json!({"version": definition.version, "max_redraws": definition.max_redraws, "odds": odds})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_an_element_of_the_file() {
        for (text, end) in [
            (STYLE, "</style"),
            (DRAW.content(), "</script"),
            (CHECK.content(), "</script"),
        ] {
            assert!(!text.contains(end) && !text.contains("<!--"));
        }
    }

    #[test]
    fn the_script_has_every_text_that_it_uses() {
        let used = CHECK.content().split("text(").skip(1).filter_map(|rest| {
            let name = rest.split_once('"')?;
            name.0
                .is_empty()
                .then(|| name.1.split_once('"').map(|(name, _)| name))
                .flatten()
        });
        let mut count = 0;
        for name in used {
            assert!(TEXTS.iter().any(|(of, _)| *of == name), "{name}");
            count += 1;
        }
        assert!(count > 25, "{count}");
    }
}
