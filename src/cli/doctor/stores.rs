//! Checks of Redis and the ledger: whether they answer, are set as they must be, belong together, and have one time.

use jiff::Timestamp;
use sqlx::{AssertSqlSafe, Row};

use super::finding::Finding;
use crate::ledger::pair;
use crate::settings::{RedisMode, Settings};
use crate::sql::{Kind, Sql, SqlError};
use crate::store::{Store, embedded_program};

/// Difference of two clocks that is worth a warning, ms. Each answer takes some ms itself.
const MAX_APART_MS: i64 = 1_000;

pub(super) async fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let store = redis(settings, &mut findings).await;
    let sql = ledger(settings, &mut findings).await;
    if let (Some(store), Some(sql)) = (&store, &sql) {
        findings.push(match pair::look(sql, &settings.data_dir, store).await {
            Ok(Some(id)) => Finding::ok("pair", format!("Redis is the store of this ledger ({id})")),
            Ok(None) => Finding::ok("pair", "the next start ties Redis and the ledger together"),
            Err(error) => Finding::fail("pair", error.to_string()),
        });
    }
    clocks(store.as_ref(), sql.as_ref(), &mut findings).await;
    if let Some(store) = store {
        store.close().await;
    }
    if let Some(sql) = sql {
        sql.close().await;
    }
    findings
}

async fn redis(settings: &Settings, findings: &mut Vec<Finding>) -> Option<Store> {
    const CHECK: &str = "redis";
    if settings.redis.mode == RedisMode::Embedded {
        match embedded_program(&settings.redis) {
            Ok(program) => findings.push(Finding::ok(
                CHECK,
                format!("the private server is {}", program.display()),
            )),
            Err(error) => findings.push(Finding::fail(CHECK, error.to_string())),
        }
        let socket = settings.data_dir.join("redis/redis.sock");
        match socket.try_exists() {
            Ok(true) => {}
            Ok(false) => {
                findings.push(Finding::ok(
                    CHECK,
                    "the private server does not run: the service starts it",
                ));
                return None;
            }
            Err(error) => {
                findings.push(Finding::fail(CHECK, format!("{}: {error}", socket.display())));
                return None;
            }
        }
    }
    match Store::beside(&settings.redis, &settings.data_dir).await {
        Ok(store) => {
            findings.push(memory(settings, &store));
            Some(store)
        }
        // Its socket stays when it was killed.
        Err(error) if settings.redis.mode == RedisMode::Embedded => {
            let text = format!("the private server does not answer: {error}");
            findings.push(Finding::warn(
                CHECK,
                text,
                "start the service: it starts the server, or adopts it",
            ));
            None
        }
        Err(error) => {
            findings.push(Finding::fail(CHECK, error.to_string()));
            None
        }
    }
}

fn memory(settings: &Settings, store: &Store) -> Finding {
    const CHECK: &str = "redis";
    let health = store.health();
    let (used, limit) = (health.memory_pct(), settings.redis.refuse_entries_above_memory_pct);
    match &health.cause {
        Some(cause) if !health.up || health.refuse_entries => Finding::fail(CHECK, cause.as_ref()),
        Some(cause) => Finding::warn(
            CHECK,
            cause.as_ref(),
            "its jackpots, coupons and rooms answer 503 until it is back",
        ),
        None if health.refuse_entries => {
            let text = format!("memory is at {used} % of its limit: new entries get 503 above {limit} %");
            Finding::fail(CHECK, text).advise("give Redis more memory, or lower fairness.retention_s")
        }
        None => Finding::ok(
            CHECK,
            format!("answers; its settings are as they must be; memory is at {used} % of its limit"),
        ),
    }
}

async fn ledger(settings: &Settings, findings: &mut Vec<Finding>) -> Option<Sql> {
    const CHECK: &str = "ledger";
    match Sql::open_to_read(&settings.ledger, &settings.data_dir).await {
        Ok(sql) => {
            let pools = match sql.kind() {
                Kind::Sqlite => String::new(),
                Kind::Postgres => format!(
                    "; each instance opens up to {} connections",
                    Sql::connections(&settings.ledger)
                ),
            };
            let text = format!("answers ({}); its schema is up to date{pools}", sql.ledger_id());
            findings.push(Finding::ok(CHECK, text));
            Some(sql)
        }
        Err(SqlError::Missing(place)) => {
            findings.push(Finding::ok(CHECK, format!("{place} is made at the first start")));
            None
        }
        Err(error @ SqlError::Older { .. }) => {
            findings.push(Finding::warn(
                CHECK,
                error.to_string(),
                "or start the service, which does the same",
            ));
            None
        }
        Err(error) => {
            findings.push(Finding::fail(CHECK, error.to_string()));
            None
        }
    }
}

/// Redis' clock decides when things happen; passes and keys end by this machine's.
async fn clocks(store: Option<&Store>, sql: Option<&Sql>, findings: &mut Vec<Finding>) {
    const CHECK: &str = "clocks";
    let mut others: Vec<(String, i64)> = Vec::new();
    if let Some(store) = store {
        others.extend(
            store
                .clocks()
                .await
                .into_iter()
                .map(|(node, ms)| (format!("Redis {node}"), ms)),
        );
    }
    let here = Timestamp::now().as_millisecond();
    if let Some(sql) = sql {
        match sql_clock(sql).await {
            Ok(ms) => others.push(("the ledger's database".to_owned(), ms)),
            Err(error) => findings.push(Finding::fail(CHECK, format!("the ledger's database: {error}"))),
        }
    }
    let mut apart = 0;
    for (name, ms) in &others {
        let by = ms - here;
        apart = apart.max(by.abs());
        if by.abs() > MAX_APART_MS {
            let side = if by > 0 { "ahead of" } else { "behind" };
            let text = format!("the clock of {name} is {} ms {side} this machine's", by.abs());
            findings.push(Finding::warn(
                CHECK,
                text,
                "synchronise all of them (chrony, systemd-timesyncd)",
            ));
        }
    }
    if !others.is_empty() && apart <= MAX_APART_MS {
        findings.push(Finding::ok(CHECK, format!("at most {apart} ms apart")));
    }
}

async fn sql_clock(sql: &Sql) -> Result<i64, sqlx::Error> {
    let text = format!("SELECT CAST({} AS BIGINT)", sql.now_ms());
    let row = sqlx::query(AssertSqlSafe(text)).fetch_one(sql.reader()).await?;
    row.try_get(0)
}
