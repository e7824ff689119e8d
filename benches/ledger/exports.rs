//! The running service: its memory while it streams a list, the time of a page, and the query plans.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use jackpot::jackpot::ledger::queries::payouts::PayoutFilters;
use jackpot::ledger::queries::scan::Statement;
use jackpot::sql::{Kind, Sql};
use jackpot_core::ids::Id;
use reqwest::Client;
use serde_json::Value;
use sqlx::Row;

use super::report::Read;
use super::{fill, place};
use crate::Outcome;
use crate::process::{Process, product, status_kib};

/// Number of pages at each end, whose median counts.
const PAGES: usize = 21;
const MIB: u64 = 1024;
/// The promise: an export of any length makes the process grow by less than this.
const MOST_GROWTH_KIB: u64 = 50 * MIB;
/// Lists whose pages are measured, with the rows of the pages that lead to the end. In the last list most rows that are
/// looked at are another tier's.
const LISTS: [(&str, &str, u32); 5] = [
    ("all", "", 1000),
    ("one jackpot", "&jackpot_id=before", 1000),
    ("tier with nearly all rows", "&tier=grand", 1000),
    ("tier with one row of 1,000", "&tier=rare", 100),
    (
        "one jackpot, tier with one row of 1,000",
        "&jackpot_id=before&tier=rare",
        1000,
    ),
];

pub(crate) async fn measure(directory: &Path, url: &str, payouts: u64) -> Outcome<Read> {
    let settings = place::settings(directory, url)?;
    let sql = Sql::open(&settings.ledger, &settings.data_dir).await?;
    fill::payouts(&sql, payouts).await?;
    let database = format!("{:?}", sql.kind());
    let plans = plans(&sql).await?;
    sql.close().await;
    eprintln!("{database}: {payouts} payouts are there");
    let service = Service::start(directory, settings.http.listen).await?;
    let mut read = Read {
        database,
        exports: Vec::new(),
        pages: Vec::new(),
        plans,
    };
    // Pages come first, so that the pool's connections and their caches exist before memory is measured.
    for (name, filter, step) in LISTS {
        let (first, last) = service.pages(filter, step).await?;
        read.pages.push((name.to_owned(), first, last));
    }
    for media_type in ["text/csv", "application/x-ndjson"] {
        let export = service.export(media_type, payouts).await?;
        eprintln!("{export:?}");
        read.exports.push(export);
    }
    if let Some((name, .., grown)) = read.exports.iter().find(|(.., grown)| *grown > MOST_GROWTH_KIB) {
        return Err(format!("{name} grew the process by {grown} KiB").into());
    }
    Ok(read)
}

/// The release build, on its own port.
struct Service {
    process: Process,
    base: String,
    key: String,
    client: Client,
}

impl Service {
    async fn start(directory: &Path, address: SocketAddr) -> Outcome<Self> {
        let mut process = Process::start(product(), directory)?;
        // The TLS parts of the client need a provider, whether TLS is used or not.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (base, client) = (format!("http://{address}"), Client::builder().build()?);
        let ready = async || {
            let answer = client.get(format!("{base}/readyz")).send().await;
            answer.is_ok_and(|answer| answer.status().is_success())
        };
        process.until(ready).await?;
        Ok(Self {
            key: process.operator_key()?,
            process,
            base,
            client,
        })
    }

    async fn page(&self, query: &str) -> Outcome<(Duration, Value)> {
        let begun = Instant::now();
        let answer = self.client.get(format!("{}/v1/payouts{query}", self.base));
        let answer = answer.bearer_auth(&self.key).send().await?.error_for_status()?;
        let body = answer.bytes().await?;
        Ok((begun.elapsed(), serde_json::from_slice(&body)?))
    }

    /// Medians of the first pages, and of the last pages of the list, which its cursors lead to.
    async fn pages(&self, filter: &str, step: u32) -> Outcome<(Duration, Duration)> {
        let (mut times, mut cursors) = (Vec::new(), vec![String::new()]);
        loop {
            let after = cursors.last().map(String::as_str).unwrap_or_default();
            let (_, body) = self.page(&format!("?limit={step}{filter}{after}")).await?;
            let Some(next) = body["next_cursor"].as_str() else {
                break;
            };
            cursors.push(format!("&cursor={next}"));
        }
        let (first, last) = (&cursors[..1], &cursors[cursors.len() - 1..]);
        for at in [first, last] {
            let mut took = Vec::new();
            for _ in 0..PAGES {
                took.push(self.page(&format!("?limit=100{filter}{}", at[0])).await?.0);
            }
            took.sort();
            times.push(took[PAGES / 2]);
        }
        Ok((times[0], times[1]))
    }

    /// Reads the whole list and keeps nothing of it.
    async fn export(&self, media_type: &str, payouts: u64) -> Outcome<(String, u64, f64, u64, u64)> {
        let before = status_kib(self.process.id(), "VmRSS")?;
        let begun = Instant::now();
        let request = self
            .client
            .get(format!("{}/v1/payouts", self.base))
            .header("Accept", media_type);
        let mut answer = request.bearer_auth(&self.key).send().await?.error_for_status()?;
        let (mut lines, mut highest) = (0, before);
        while let Some(bytes) = answer.chunk().await? {
            lines += bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
            highest = highest.max(status_kib(self.process.id(), "VmRSS")?);
        }
        // This is the maximum over the life of the process, and counts if it is higher than before. The samples show it
        // by export.
        highest = highest.max(status_kib(self.process.id(), "VmHWM")?);
        let rows = lines - u64::from(media_type == "text/csv");
        if rows != payouts {
            return Err(format!("{rows} rows came, {payouts} are there").into());
        }
        let seconds = begun.elapsed().as_secs_f64();
        Ok((media_type.to_owned(), rows, seconds, before, highest - before))
    }
}

/// The databases' plans of a page after a row in the middle.
async fn plans(sql: &Sql) -> Outcome<Vec<(String, String)>> {
    let any = PayoutFilters::default();
    let tier = PayoutFilters {
        tier: Some(Id::parse("rare")?),
        ..any.clone()
    };
    let both = PayoutFilters {
        jackpot_id: Some(Id::parse("before")?),
        ..tier.clone()
    };
    let mut plans = Vec::new();
    for (name, filters) in [("all", any), ("of a tier", tier), ("of a jackpot and a tier", both)] {
        let statement = filters.scan().rows(101);
        let (explain, column) = match sql.kind() {
            Kind::Sqlite => ("EXPLAIN QUERY PLAN", "detail"),
            Kind::Postgres => ("EXPLAIN (COSTS OFF)", "QUERY PLAN"),
        };
        let text = format!("{explain} {}", statement.text);
        let rows = Statement { text, ..statement }.query().fetch_all(sql.reader()).await?;
        let lines: Result<Vec<String>, _> = rows.iter().map(|row| row.try_get(column)).collect();
        plans.push((name.to_owned(), lines?.join("\n")));
    }
    Ok(plans)
}
