//! `lua/jackpot/enter_expected.lua`.

use jackpot_core::jackpot::definition::Definition;
use redis::Value;

use jackpot_kernel::store::keys::JackpotKeys;
use jackpot_kernel::store::{Call, Store, StoreError};
use jackpot_kernel::subject::{EventText, List};

use super::{ENTER_EXPECTED, ScriptError, pools};

/// The arguments: what the state must be, and the writes for that state. Call the functions in their order here.
#[derive(Debug)]
pub struct ExpectedCall {
    list: List,
    is_second: bool,
}

/// Usual bytes of the terms, the meters and the event.
const USUAL_BYTES: usize = 2048;

impl ExpectedCall {
    /// `is_second`: whether the second generation of records is written.
    pub fn new(is_second: bool) -> Self {
        Self {
            list: List::with_capacity(USUAL_BYTES),
            is_second,
        }
    }

    /// The number of the last event, the digest of the packed terms, and the packed meters.
    pub fn expects(&mut self, n: u64, digest: &str, meters: &[u8]) {
        self.list.text(&n.to_string()).text(digest).raw(meters);
    }

    /// The event with its id in the stream.
    pub fn event(&mut self, id: &str, event: EventText) {
        let (before_time, after_time) = event.parts();
        self.list.text(id).text(&before_time).text(&after_time);
    }

    /// The state after it.
    pub fn leaves(&mut self, n: u64, meters: &[u8]) {
        self.list.text(&n.to_string()).raw(meters);
    }

    /// From this time of Redis' clock on, a tier may be due by its must-hit rule.
    pub fn due_from(&mut self, due_ms: Option<i64>) {
        let due_ms = due_ms.map_or_else(String::new, |due_ms| due_ms.to_string());
        self.list.text(&due_ms);
    }

    /// The pool of the next tier of the definition.
    pub fn pool(&mut self, before: u64, added: u64) {
        self.list.text(&before.to_string()).text(&added.to_string());
    }

    /// A record with its id.
    pub fn record(&mut self, id: &str, text: &str) {
        self.list.text(id).text(text);
    }
}

/// Makes the writes if the state is the expected one; says whether it was. Over the calling thread's own connection.
pub async fn enter_expected(
    store: &Store,
    keys: &JackpotKeys,
    definition: &Definition,
    call: &ExpectedCall,
) -> Result<bool, ScriptError> {
    let (now, before) = if call.is_second {
        (&keys.seen_b, &keys.seen_a)
    } else {
        (&keys.seen_a, &keys.seen_b)
    };
    let fixed = [&keys.state, now, before, &keys.events];
    let command = fixed.into_iter().fold(Call::new(&ENTER_EXPECTED), Call::key);
    let command = pools(keys, definition.tiers()).fold(command, Call::key);
    match store.call_here(&command.arg(&call.list)).await {
        Ok(Value::Int(1)) => Ok(true),
        // `enter` finds what is wrong with the keys, and has the codes for it.
        Ok(Value::Int(0)) | Err(StoreError::Script { .. }) => Ok(false),
        Ok(other) => Err(ScriptError::Reply {
            script: ENTER_EXPECTED.name(),
            reply: format!("{other:?}"),
        }),
        Err(error) => Err(error.into()),
    }
}
