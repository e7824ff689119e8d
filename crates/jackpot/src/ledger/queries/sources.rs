//! What the ledger has of the sources of a jackpot, for lists and by itself.

use std::collections::HashMap;

use jackpot_api::ledger::{SourceMeter, SourceMeters};
use jackpot_core::ids::Id;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

use crate::ledger::projector::ALL_TIERS;
use crate::ledger::queries::Queries;
use jackpot_kernel::ledger::queries::scan::Statement;
use jackpot_kernel::ledger::queries::{LedgerError, Value};

/// What the rows of a page are asked for, by their ids.
pub(super) type Listed<T> = HashMap<String, T>;

/// Most values of one statement.
const AT_ONCE: usize = 500;

/// The rows of a table whose column has one of these texts.
pub(super) async fn matching(
    reader: &AnyPool,
    table: &str,
    select: &str,
    column: &str,
    of: &[String],
) -> Result<Vec<AnyRow>, LedgerError> {
    let mut rows = Vec::new();
    for some in of.chunks(AT_ONCE) {
        let places = (1..=some.len()).map(|place| format!("${place}")).collect::<Vec<_>>();
        let statement = Statement {
            text: format!("SELECT {select} FROM {table} WHERE {column} IN ({})", places.join(", ")),
            values: some.iter().map(|text| Value::Text(text.clone())).collect(),
        };
        rows.extend(statement.query().fetch_all(reader).await?);
    }
    Ok(rows)
}

impl Queries {
    /// What a source of a jackpot has brought and won, up to the ledger's last event.
    pub async fn source_meters(&self, jackpot: &Id, source: &Id) -> Result<SourceMeters, LedgerError> {
        let text = "SELECT tier, entries, contributed, contributed_micro, paid, payouts FROM source_meters \
                    WHERE jackpot_id = $1 AND source_id = $2 ORDER BY tier";
        let rows = sqlx::query(text).bind(jackpot.to_string()).bind(source.to_string());
        let rows = self.sql.reading(rows.fetch_all(self.sql.reader())).await?;
        let mut found = SourceMeters {
            source_id: source.to_string(),
            entries: 0,
            meters: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let tier: String = row.try_get("tier")?;
            if tier == ALL_TIERS {
                found.entries = row.try_get("entries")?;
                continue;
            }
            found.meters.push(SourceMeter {
                tier,
                contributed: row.try_get("contributed")?,
                contributed_micro: row.try_get("contributed_micro")?,
                paid: row.try_get("paid")?,
                payouts: row.try_get("payouts")?,
            });
        }
        Ok(found)
    }
}
