//! Rows in PostgreSQL, by pgbench. An entry is one statement that inserts it and adds to the pool. An issue of a coupon
//! is a transaction that locks the coupon's row.

use std::path::Path;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::process::Command;

use crate::Outcome;
use crate::plan::Peers;
use crate::sample::{Load, float, latencies};

/// Number of connections that the issue names.
const CONNECTIONS: &str = "32";

const TABLES: &str = "DROP TABLE IF EXISTS entries, pools;
    CREATE TABLE entries (entry_id text PRIMARY KEY, player_id text NOT NULL, stake bigint NOT NULL);
    CREATE TABLE pools (jackpot_id text PRIMARY KEY, amount bigint NOT NULL);
    INSERT INTO pools VALUES ('bench-0', 0);";

/// One statement, so that the row is locked for one round trip less than in a transaction of two.
const ENTRY: &str = "\
\\set player random(1, 1000000)
WITH taken AS (
  INSERT INTO entries VALUES (gen_random_uuid()::text, 'p' || :player, 100) ON CONFLICT DO NOTHING RETURNING 1)
UPDATE pools SET amount = amount + 1 WHERE jackpot_id = 'bench-0' AND EXISTS (SELECT 1 FROM taken) RETURNING amount;
";

const COUPON_TABLES: &str = "DROP TABLE IF EXISTS issues, coupons;
    CREATE TABLE coupons (coupon_id text PRIMARY KEY, stock bigint NOT NULL);
    CREATE TABLE issues (coupon_id text, user_id text, code text NOT NULL, PRIMARY KEY (coupon_id, user_id));
    INSERT INTO coupons VALUES ('bench-0', 1000000000);";

/// The most common form: the lock is held over four round trips.
const ISSUE: &str = "\
BEGIN;
SELECT stock FROM coupons WHERE coupon_id = 'bench-0' FOR UPDATE;
INSERT INTO issues VALUES ('bench-0', gen_random_uuid()::text, gen_random_uuid()::text);
UPDATE coupons SET stock = stock - 1 WHERE coupon_id = 'bench-0';
COMMIT;
";

/// Entries for `time`, on new tables.
pub(crate) async fn entries(plan: &Peers, time: Duration) -> Outcome<Load> {
    run(plan, time, TABLES, ENTRY).await
}

/// Issues of a coupon for `time`, on new tables.
pub(crate) async fn issues(plan: &Peers, time: Duration) -> Outcome<Load> {
    run(plan, time, COUPON_TABLES, ISSUE).await
}

async fn run(plan: &Peers, time: Duration, tables: &'static str, transaction: &str) -> Outcome<Load> {
    let (Some(socket), Some(port)) = (&plan.postgres, plan.postgres_port) else {
        return Err("left out: no server was given".into());
    };
    let options = PgConnectOptions::new()
        .socket(socket)
        .port(port)
        .username("postgres")
        .database("postgres");
    let mut connection = PgConnection::connect_with(&options).await?;
    connection.execute(tables).await?;
    connection.close().await?;
    let directory = tempfile::Builder::new()
        .prefix("jb-")
        .tempdir_in(&plan.place.directory)?;
    let script = directory.path().join("transaction.sql");
    std::fs::write(&script, transaction)?;
    let output = Command::new(&plan.pgbench)
        .args([
            "--no-vacuum",
            "--protocol=prepared",
            "--jobs=2",
            "--log",
            "--log-prefix=load",
        ])
        .args(["--client", CONNECTIONS, "--username=postgres"])
        .arg(format!("--time={}", time.as_secs().max(1)))
        .arg("--host")
        .arg(socket)
        .arg(format!("--port={port}"))
        .arg("--file=transaction.sql")
        .arg("postgres")
        .current_dir(directory.path())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("pgbench: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let per_s = text
        .lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    let failed = || format!("pgbench: {text}{}", String::from_utf8_lossy(&output.stderr));
    let per_s: f64 = per_s.ok_or_else(failed)?.parse()?;
    let took = logged(directory.path())?;
    let elapsed = float(took.len()) / per_s;
    Ok(Load::of(took.len(), Duration::from_secs_f64(elapsed), &took))
}

fn logged(directory: &Path) -> Outcome<hdrhistogram::Histogram<u64>> {
    let mut took = latencies();
    for file in std::fs::read_dir(directory)? {
        let file = file?;
        if !file.file_name().to_string_lossy().starts_with("load.") {
            continue;
        }
        let text = std::fs::read_to_string(file.path())?;
        for line in text.lines() {
            let micros = line.split(' ').nth(2).ok_or("a line of pgbench's log")?;
            took.record(micros.parse()?)?;
        }
    }
    Ok(took)
}
