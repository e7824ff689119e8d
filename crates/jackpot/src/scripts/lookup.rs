//! `lua/jackpot/lookup.lua`.

use jackpot_core::jackpot::call::Call as EntryCall;
use jackpot_core::jackpot::record::{Record, Sent, State};
use jackpot_core::jackpot::reversal::ReversalRecord;
use jackpot_core::mark::Mark;

use jackpot_kernel::reply;
use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store};

use super::{LOOKUP, ScriptError, run};

/// A found entry.
#[derive(Debug)]
pub struct Found {
    pub mark: Mark,
    /// Number of the entry within the jackpot.
    pub sequence: u64,
    /// Its record; `None` for an entry of a batch that drew no prize, when its event is no longer in the stream.
    pub record: Option<Record>,
    /// The request; `None` when its event is no longer in the stream.
    pub sent: Option<Sent>,
    /// When it was taken, ms of Redis' clock; `None` when its event is no longer in the stream.
    pub at_ms: Option<i64>,
    /// Its reversal.
    pub reversal: Option<ReversalRecord>,
}

reply! {
    /// `ok`: an entry. The fields of its event follow (`Call::FIELDS`), all nil when the stream has been trimmed past it.
    pub(super) struct Looked {
        /// Its record; empty for an entry of a batch that drew no prize.
        record: Option<String>,
        /// Its sequence.
        sequence: u64,
        /// The record of its reversal; empty for none.
        reversal: Option<String>,
        /// When its event happened, ms; empty when the stream has been trimmed past it.
        at_ms: Option<i64>,
    }
}

/// Looks an entry up; `None` when there is no record of it.
pub async fn lookup(
    store: &Store,
    keys: &JackpotKeys,
    known: Mark,
    entry_id: &str,
) -> Result<Option<Found>, ScriptError> {
    let fixed = [&keys.state, &keys.seen_a, &keys.seen_b, &keys.events];
    let call = fixed
        .into_iter()
        .fold(Call::new(&LOOKUP), Call::key)
        .arg(known.packed())
        .arg(entry_id);
    let reply = run(store, &LOOKUP, call, known).await?;
    match reply.code() {
        "missing" => return Ok(None),
        "ok" => {}
        _ => return Err(reply.unexpected()),
    }
    let mut values = reply.values();
    let Looked {
        record,
        sequence,
        reversal,
        at_ms,
    } = values.take().ok_or_else(|| reply.unexpected())?;
    let record = record.map(|text| Record::parse_whole(&text)).transpose()?;
    let mut found = Found {
        mark: reply.mark(),
        sequence,
        record,
        sent: None,
        at_ms,
        reversal: reversal.map(|text| ReversalRecord::parse(&text)).transpose()?,
    };
    if let Some(State::Pending { sent, .. }) = found.record.as_ref().map(|record| &record.state) {
        found.sent = Some(sent.clone());
        return Ok(Some(found));
    }
    let fields = reply.texts().split_off(4);
    if fields.iter().any(Option::is_some) {
        let field = |name: &str| {
            let place = EntryCall::FIELDS.iter().position(|field| field.name == name)?;
            fields.get(place)?.as_deref()
        };
        let call = EntryCall::parse(field).map_err(|_| reply.unexpected())?;
        let entry = call.entry(sequence).filter(|(_, entry)| entry.entry_id == entry_id);
        let (place, entry) = entry.ok_or_else(|| reply.unexpected())?;
        found.sent = Some(entry.sent.clone());
        if found.record.is_none() {
            found.record = Some(call.record_of(place));
        }
    }
    Ok(Some(found))
}
