//! Instances: this one, its Redis and its database, and the others that SQL knows.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::ServiceConfig;
use jackpot_core::clock::rfc3339;
use jackpot_ui::Words;
use jackpot_ui::money::grouped;
use jackpot_ui::time::time;
use jiff::Timestamp;
use maud::{Markup, html};
use tokio::time::Instant;

use super::list::{heads, number_heads, wide};
use super::{Desk, Failure, Page, Section};
use jackpot_kernel::settings::{Durability, RedisMode};
use jackpot_kernel::single_flight::{Read, SingleFlight};
use jackpot_kernel::sql::{About, Holder};
use jackpot_kernel::store::Node;

/// Largest age of what the page shows of Redis and SQL, for all who look.
const AGE: Duration = Duration::from_secs(2);

pub fn routes(config: &mut ServiceConfig) {
    config.route("/console/instances", jackpot_kernel::http::get().to(get));
}

/// The last looks at Redis and SQL.
#[derive(Default)]
pub struct Looks {
    nodes: SingleFlight<Vec<Node>>,
    sql: SingleFlight<Result<(About, Vec<Holder>), String>>,
}

async fn get(desk: Desk) -> Result<HttpResponse, Failure> {
    if desk.is_bound() {
        return Err(Failure::new(desk.words, StatusCode::FORBIDDEN, "failure-bound"));
    }
    let page = Page::new(Section::Instances, desk.words.t("instances"));
    let content = html! {
        div.stack id="instances" data-live="2000" {
            div.panels { (this(&desk)) (sql(&desk).await) }
            (redis(&desk).await)
            (others(&desk).await)
        }
    };
    Ok(desk.page(&page, &content))
}

/// A time that passed, in its largest two units.
fn passed(words: Words, seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let parts = [
        ("days", days),
        ("hours", hours),
        ("minutes", minutes),
        ("seconds", seconds % 60),
    ];
    let from = parts.iter().position(|(_, count)| *count > 0).unwrap_or(3);
    let shown = parts[from..].iter().take(2).filter(|(_, count)| *count > 0);
    let text = |(unit, count): &(&str, u64)| words.tv(&format!("n-{unit}"), [("count", (*count).into())]);
    let all: Vec<_> = shown.map(text).collect();
    if all.is_empty() {
        words.tv("n-seconds", [("count", 0_u64.into())])
    } else {
        all.join(" ")
    }
}

/// Bytes as MiB, or KiB below one.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        more => format!("{} MiB", grouped((more >> 20).into())),
    }
}

fn this(desk: &Desk) -> Markup {
    let words = desk.words;
    let instance = &desk.console.instance;
    let up = Timestamp::now()
        .duration_since(instance.started)
        .as_secs()
        .unsigned_abs();
    html! {
        section.panel {
            h2 { (words.t("overview-instance")) }
            dl.facts {
                dt { (words.t("version")) } dd { "jackpot " (env!("CARGO_PKG_VERSION")) }
                dt { (words.t("instance-name")) } dd.id { (instance.name) }
                dt { (words.t("uptime")) } dd { (passed(words, up)) " · " (time(&rfc3339(instance.started.as_millisecond()))) }
                dt { (words.t("address")) } dd.id { (instance.listen) @if desk.console.takes_tls { " (TLS)" } }
                dt { (words.t("workers")) } dd { (instance.workers) }
                @if let Some(file) = &instance.settings_file { dt { (words.t("settings-file")) } dd.id { (file.display()) } }
            }
        }
    }
}

async fn sql(desk: &Desk) -> Markup {
    let words = desk.words;
    let look = looked(desk).await;
    let readiness = desk.readiness().await;
    let lag = readiness
        .value
        .as_ref()
        .ok()
        .and_then(|state| state.told.ledger.as_ref());
    html! {
        section.panel {
            h2 { (words.t("ledger")) }
            @if let Some(cause) = desk.console.sql.down() { p.note.bad role="alert" { (words.t("overview-ledger-down")) ": " (cause) } }
            dl.facts {
                @match &look.value {
                    Ok((about, _)) => {
                        dt { (words.t("version")) } dd { (about.version) }
                        dt { (words.t("size")) } dd { (size(about.size_bytes)) }
                    }
                    Err(error) => @if desk.console.sql.down().is_none() { dt { (words.t("version")) } dd.bad { (error) } }
                }
                @if let Some(ledger) = lag { dt { (words.t("overview-lag")) } dd { (words.tv("n-events", [("count", ledger.lag_events.into())])) } }
                dt { (words.t("ledger-id")) } dd.id { (desk.console.sql.ledger_id()) }
                @if let Some(store) = desk.console.sql.owner() { dt { (words.t("store-id")) } dd.id { (store) } }
            }
        }
    }
}

async fn looked(desk: &Desk) -> Arc<Read<Result<(About, Vec<Holder>), String>>> {
    let sql = &desk.console.sql;
    if let Some(cause) = sql.down() {
        // It would take seconds to say so itself. The projector notices when it is back.
        let (begun, value) = (Instant::now(), Err(cause));
        return Arc::new(Read { begun, value });
    }
    let look = || async {
        let both = tokio::try_join!(sql.about(), sql.holders());
        both.map_err(|error| error.to_string())
    };
    desk.console
        .looks
        .sql
        .get(AGE, |last| last.begun.elapsed() < AGE, look)
        .await
}

async fn redis(desk: &Desk) -> Markup {
    let words = desk.words;
    let store = &desk.console.store;
    let nodes = &desk.console.looks.nodes;
    let nodes = nodes
        .get(AGE, |last| last.begun.elapsed() < AGE, || store.nodes())
        .await;
    let health = store.health();
    let mode = match desk.console.instance.redis {
        RedisMode::Embedded => "redis-embedded",
        RedisMode::Standalone => "redis-standalone",
        RedisMode::Sentinel => "redis-sentinel",
        RedisMode::Cluster => "redis-cluster",
    };
    let durability = match desk.console.instance.durability {
        Durability::Local => "durability-local",
        Durability::Replicated => "durability-replicated",
    };
    html! {
        section.panel.stack {
            h2 { "Redis" }
            @if let Some(cause) = &health.cause { p.note.bad role="alert" { (cause) } }
            dl.facts {
                dt { (words.t("redis-mode")) } dd { (words.t(mode)) }
                dt { (words.t("durability")) } dd { (words.t(durability)) }
                dt { (words.t("memory")) } dd { (words.tv("memory-of", [("percent", health.memory_pct().into()), ("limit", size(health.limit_bytes).into())])) }
            }
            (wide("Redis", &servers(words, &nodes.value)))
        }
    }
}

fn servers(words: Words, nodes: &[Node]) -> Markup {
    html! { table {
        thead { tr {
            (heads(words, &["server", "version", "redis-role"]))
            (number_heads(words, &["replicas", "memory"]))
            (heads(words, &["aof", "uptime"]))
        } }
        tbody { @for node in nodes { tr {
            th.id scope="row" { (node.name) }
            @match &node.trouble {
                Some(trouble) => td.bad colspan="6" { (trouble) },
                None => {
                    td { (node.version) }
                    td { (role(words, &node.role)) }
                    td.number { (node.replicas) }
                    td.number { (size(node.used_bytes)) @if node.limit_bytes > 0 { " / " (size(node.limit_bytes)) } }
                    td { (aof(words, node)) }
                    td { (passed(words, node.uptime_s)) }
                }
            }
        } } }
    } }
}

fn role(words: Words, role: &str) -> String {
    match role {
        "master" => words.t("redis-primary"),
        "slave" => words.t("redis-replica"),
        other => other.to_owned(),
    }
}

fn aof(words: Words, node: &Node) -> Markup {
    html! {
        @if !node.has_aof { span.badge.bad { (words.t("aof-off")) } }
        @else if node.is_aof_ok { span.badge.good { (words.t("aof-ok")) } }
        @else { span.badge.bad { (words.t("aof-failed")) } }
    }
}

/// The kind of a lease, and what of it: the group and topic of messages.
fn held(kind: &str) -> (&str, &str) {
    kind.split_once(':').unwrap_or((kind, ""))
}

/// The instances that read streams, by their leases.
async fn others(desk: &Desk) -> Markup {
    let words = desk.words;
    let look = looked(desk).await;
    let Ok((about, holders)) = &look.value else {
        return html! {};
    };
    html! {
        section.panel.stack {
            h2 { (words.t("holders")) }
            p.hint { (words.t("holders-about")) }
            @let rows = html! { table {
                thead { tr {
                    (heads(words, &["holder", "holder-holds", "holder-until"]))
                } }
                tbody { @for holder in holders { @let (kind, of) = held(&holder.kind); tr {
                    th.nowrap scope="row" { span.id { (holder.name) } @if holder.name == desk.console.instance.name { " " span.badge { (words.t("overview-instance")) } } }
                    td { (super::compared::kind_name(desk, kind)) @if !of.is_empty() { " " span.id { (of) } } }
                    td { (time(&rfc3339(holder.until_ms))) @if holder.until_ms < about.now_ms { " " span.badge.bad { (words.t("holder-gone")) } } }
                } } }
            } };
            @if holders.is_empty() { div.empty { p { (words.t("holders-none")) } } } @else { (wide(&words.t("holders"), &rows)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;

    #[test]
    fn a_time_has_its_two_largest_units() {
        let en = Language::En.words();
        for (seconds, text) in [
            (0, "0 seconds"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (3_661, "1 hour 1 minute"),
            (3_601, "1 hour"),
            (90_000, "1 day 1 hour"),
        ] {
            assert_eq!(passed(en, seconds), text);
        }
    }

    #[test]
    fn small_sizes_are_not_nothing() {
        assert_eq!(size(1), "1 KiB");
        assert_eq!(size(1 << 20), "1 MiB");
        assert_eq!(size(3_000 << 20), "3,000 MiB");
    }
}
