//! Makes the rows of a coupon's events. Pure.

use super::Coupons;
use crate::code::Code;
use crate::ledger::audit;
use crate::ledger::carried::CarriedCoupon;
use crate::ledger::event::{Event, Kind, Line, Unit, What};
use crate::ledger::report::{Side, compare};
use crate::metadata::Asker;
use crate::record::{Record, Redemption};
use jackpot_kernel::ledger::projector::batch::{self, Raw, Stop};

type Batch = batch::Batch<Coupons>;
type Start<'a> = batch::Start<'a, Coupons>;

/// A unit that was issued.
#[derive(Debug)]
pub struct IssueRow {
    /// Number of the issue.
    pub sequence: u64,
    /// Id of the request.
    pub request: String,
    /// And the metadata of the request.
    pub user: Asker,
    pub code: Code,
    /// When it was issued, ms.
    pub at_ms: i64,
    /// Event that issued it.
    pub n: u64,
}

/// A unit that was taken back.
#[derive(Debug)]
pub struct VoidRow {
    pub unit: Unit,
    /// When it was voided, ms.
    pub at_ms: i64,
    /// Event that voided it.
    pub n: u64,
}

/// A unit that its user has used.
#[derive(Debug)]
pub struct RedemptionRow {
    pub unit: Unit,
    pub redemption: Redemption,
    /// Event that redeemed it.
    pub n: u64,
}

/// What a batch of a coupon's events writes, beside the rows of all kinds.
#[derive(Debug, Default)]
pub struct Rows {
    /// Units that were issued.
    pub issues: Vec<IssueRow>,
    /// Units that were taken back, issued in this batch or earlier.
    pub voids: Vec<VoidRow>,
    /// Units that were used, issued in this batch or earlier.
    pub redemptions: Vec<RedemptionRow>,
}

/// Reads an event, applies it, and adds its rows.
pub(super) fn take(batch: &mut Batch, start: &Start<'_>, raw: &Raw) -> Result<(), Stop> {
    let event = Event::parse(&raw.fields)?;
    let (n, at_ms) = (event.n, event.at_ms);
    let operated = !matches!(
        event.kind,
        Kind::Issue { .. } | Kind::Serve { .. } | Kind::Redeem { .. } | Kind::Checkpoint(_)
    );
    let before = operated.then(|| batch.books.clone());
    batch.books.apply(&event)?;
    if let Some(before) = before {
        let action = audit::action(start.id, &event, &raw.fields, &before, &batch.books);
        batch.actions.extend(action.map(|action| (n, at_ms, action)));
    }
    match event.kind {
        Kind::Define(define) => batch.define(define.version, n, at_ms, define.put.json),
        Kind::Issue { lines, .. } | Kind::Serve { lines, .. } => {
            let issued = lines.into_iter().filter_map(|line| issue(n, at_ms, line));
            batch.rows.issues.extend(issued);
        }
        Kind::Void { unit, .. } => batch.rows.voids.push(VoidRow { unit, at_ms, n }),
        Kind::Redeem {
            unit,
            redemption,
            reference,
        } => batch.rows.redemptions.push(RedemptionRow {
            unit,
            redemption: Redemption {
                redeemed_ms: at_ms,
                redemption,
                reference,
            },
            n,
        }),
        Kind::Checkpoint(redis) => {
            batch.report = Some((n, at_ms, compare(&Side::from(&redis), &batch.books)));
        }
        Kind::Skipped(skipped) => carried(batch, n, at_ms, skipped.carried),
        Kind::Redrive { .. }
        | Kind::Status(_)
        | Kind::Emergency(_)
        | Kind::Retention { .. }
        | Kind::Restore { .. }
        | Kind::Retire { .. } => {}
    }
    Ok(())
}

/// Adds the rows of a skipped event.
fn carried(batch: &mut Batch, n: u64, at_ms: i64, carried: CarriedCoupon) {
    for (request, text) in &carried.records {
        let Ok(Record { user, state }) = Record::parse(text) else {
            continue;
        };
        let Some(issue) = state.unit() else { continue };
        batch.rows.issues.push(IssueRow {
            sequence: issue.sequence,
            request: request.clone(),
            user,
            code: issue.code,
            at_ms: issue.at_ms,
            n,
        });
    }
    batch.rows.issues.sort_by_key(|row| row.sequence);
    batch
        .rows
        .voids
        .extend(carried.voids().map(|unit| VoidRow { unit, at_ms, n }));
    let redeemed = carried.redemptions();
    let redeemed = redeemed.map(|(unit, redemption)| RedemptionRow { unit, redemption, n });
    batch.rows.redemptions.extend(redeemed);
    for (version, json) in carried.definitions {
        batch.define(version, n, at_ms, json);
    }
}

fn issue(n: u64, at_ms: i64, line: Line) -> Option<IssueRow> {
    let What::Issued { sequence, code } = line.what else {
        return None;
    };
    Some(IssueRow {
        sequence,
        request: line.request,
        user: line.user,
        code,
        at_ms,
        n,
    })
}
