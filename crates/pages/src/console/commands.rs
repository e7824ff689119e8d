//! Commands: what is done on the machine of the service, because it needs its files or stops it. A page shows the exact
//! command, and what it has done as soon as it is done.

use actix_web::HttpResponse;
use actix_web::web::ServiceConfig;
use jackpot_ui::time::time;
use maud::{Markup, html};

use super::list::status;
use super::{Desk, Failure, Field, Form, Kind, Page, Section, links};
use jackpot_api::jackpot::Jackpot;
use jackpot_kernel::http::page::PageBody;
use jackpot_kernel::http::problem::ProblemBody;
use jackpot_kernel::ledger::queries::audit::AuditRow;
use jackpot_kernel::settings::RedisMode;
use jackpot_kernel::sql;

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/commands", jackpot_kernel::http::get().to(get));
}

/// The text of a command of this program, with the settings of this instance, as a shell takes it.
pub fn line(desk: &Desk, arguments: &[&str]) -> String {
    // An export is verified anywhere.
    let is_offline = arguments.first() == Some(&"verify") && !arguments.contains(&"--ledger");
    let file = desk.console.instance.settings_file.as_ref().filter(|_| !is_offline);
    let file = file.map(|path| path.display().to_string());
    let config = file.iter().flat_map(|path| ["--config", path.as_str()]);
    let words = ["jackpot"].into_iter().chain(arguments.iter().copied()).chain(config);
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// A word that a POSIX shell reads as it is.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command on a page.
pub fn shown(desk: &Desk, arguments: &[&str]) -> Markup {
    html! { pre tabindex="0" { code { (line(desk, arguments)) } } }
}

/// The text that says whether the service must be stopped for a command that writes.
pub fn beside(desk: &Desk) -> &'static str {
    let is_alone = desk.console.instance.redis == RedisMode::Embedded || desk.console.sql.kind() == sql::Kind::Sqlite;
    if is_alone { "command-stop" } else { "command-beside" }
}

async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let id = desk.query("jackpot").trim();
    let page = Page::new(Section::Commands, words.t("commands"));
    let jackpot: Option<Jackpot> = match id {
        "" => None,
        id => Some(desk.get(&links::jackpot_api(id)).await?),
    };
    let content = html! {
        p { (words.t("commands-about")) }
        (chooser(&desk).await)
        @match &jackpot {
            Some(jackpot) => {
                div id="effect" data-live="2000" { (effect(&desk, jackpot).await) }
                (of_jackpot(&desk, jackpot))
            }
            None => div.empty { p { (words.t("commands-choose")) } },
        }
        (of_service(&desk))
    };
    Ok(desk.page(&page, &content))
}

/// The jackpot that the commands name.
async fn chooser(desk: &Desk) -> Markup {
    let mut form = Form::default();
    form.set("jackpot", desk.query("jackpot"));
    let told = desk.jackpots().await;
    let known = told
        .value
        .as_ref()
        .map(|list| list.items.as_slice())
        .unwrap_or_default();
    html! {
        form.panel.stack method="get" action="/console/commands" {
            (Field::new("jackpot", &desk.words.t("jackpot-id"), Kind::Text).of(&form))
            div.row { button.primary { (desk.words.t("commands-show")) }
                @for jackpot in known.iter().take(8) { a.id href=(links::with_query("/console/commands", &[("jackpot", &jackpot.id)])) { (jackpot.id) } }
            }
        }
    }
}

/// What a command has done: the state now, and the last restore.
async fn effect(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let words = desk.words;
    let path = links::with_query(
        "/v1/audit",
        &[("jackpot_id", &jackpot.id), ("action", "restore"), ("limit", "1")],
    );
    let last: Result<PageBody<AuditRow>, ProblemBody> = desk.ask(&path).await;
    html! {
        section.panel.stack-small {
            h2 { a href=(links::jackpot(&jackpot.id)) { (jackpot.name) } " " span.id.muted { (jackpot.id) } }
            dl.facts {
                dt { (words.t("status")) } dd { (status(desk, jackpot.status.as_str(), jackpot.stopped.as_ref())) }
                dt { (words.t("commands-restored")) }
                dd { @match last.as_ref().map(|list| list.items.first()) {
                    Ok(Some(row)) => { (time(&row.at)) " · " span.id { (row.who) } }
                    Ok(None) => (words.t("commands-never")),
                    Err(problem) => span.warn { (problem.detail) },
                } }
            }
            p.hint { (words.t("commands-live")) }
        }
    }
}

/// A command, what it does, and what changes.
fn command(desk: &Desk, name: &str, arguments: &[&str], when: Option<&str>, file: Option<&str>) -> Markup {
    let words = desk.words;
    html! {
        section.panel.stack-small {
            h2 { (words.t(&format!("command-{name}"))) }
            p { (words.t(&format!("command-{name}-does"))) }
            @if let Some(when) = when { p.note.warn { (words.t(when)) } }
            (shown(desk, arguments))
            p.hint { (words.t(&format!("command-{name}-effect"))) }
            @if let Some(file) = file { div.row { a.button href=(file) { (words.t("export")) } } }
        }
    }
}

fn of_jackpot(desk: &Desk, jackpot: &Jackpot) -> Markup {
    let id = jackpot.id.as_str();
    let file = format!("{id}.ndjson");
    let export = format!("/console/files/ndjson/jackpots/{}/ledger/export", links::part(id));
    html! {
        (command(desk, "export", &["export", id, "--output", &file], None, Some(&export)))
        (command(desk, "verify", &["verify", &file], None, None))
        (command(desk, "reconcile", &["reconcile", "--jackpot", id], None, None))
        @if desk.may_operate() { (command(desk, "restore", &["restore", "--jackpot", id], Some(beside(desk)), None)) }
    }
}

fn of_service(desk: &Desk) -> Markup {
    html! {
        @if desk.may_operate() && !desk.is_bound() {
            h2 { (desk.words.t("commands-service")) }
            (command(desk, "backup", &["backup", "/var/backups/jackpot/DATE"], None, None))
            (command(desk, "restore-all", &["restore"], Some(beside(desk)), None))
            (command(desk, "verify-ledger", &["verify", "--ledger"], None, None))
            (command(desk, "doctor", &["doctor"], None, None))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_word_as_it_is() {
        for (word, line) in [
            ("spring-2.b_c", "spring-2.b_c"),
            ("jackpot:spring", "jackpot:spring"),
            ("2027-01-31T00:00:00+09:00", "2027-01-31T00:00:00+09:00"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(rm -rf /)", "'$(rm -rf /)'"),
            ("it's", r"'it'\''s'"),
            ("a;b\nc", "'a;b\nc'"),
            ("…", "'…'"),
        ] {
            assert_eq!(quoted(word), line);
        }
    }
}
