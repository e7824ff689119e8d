//! Rust and Lua read and write the same records of requests.

use jackpot::coupon::code::Code;
use jackpot::coupon::metadata::{Asker, Metadata};
use jackpot::coupon::record::{Issue, Record, Redemption, State, Take};
use jackpot::coupon::redemption::Reference;
use jackpot::coupon::scripts::LUA;
use jackpot_core::ids::{Id, PersonId};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::coupon::fixture::CouponFixture;
use crate::support::prelude::*;

/// Records that are compared: many of each kind.
const RECORDS: usize = 400;

/// Reads each argument and writes it again; '' for what is no record.
const AGAIN: &str = "
local out = {}
for i, text in ipairs(ARGV) do
  local r = read_request(text)
  local kind, written = r and r.kind, ''
  if kind == 'i' then
    written = issued_request(r.sequence, r.at_ms, r.code, r.user)
  elseif kind == 'v' then
    written = voided_request(r.sequence, r.at_ms, r.code, r.voided_ms, r.user)
  elseif kind == 'r' then
    written = redeemed_request(r.sequence, r.at_ms, r.code, r.redeemed_ms, r.redemption, r.reference, r.user)
  elseif kind == 'a' then
    written = already_issued_request(r.at_ms, r.first, r.user)
  elseif kind == 'o' then
    written = out_of_stock_request(r.at_ms, r.user)
  elseif kind == 'n' then
    written = not_open_request(r.at_ms, r.user)
  elseif kind == 'c' then
    written = closed_request(r.at_ms, r.user)
  elseif kind == 'q' then
    written = queued_request(r.arrival, r.attempts, r.take, r.at_ms, r.user)
  elseif kind == 'd' then
    written = dead_request(r.arrival, r.attempts, r.at_ms, r.user)
  end
  out[i] = written
end
return out
";

/// What Lua makes of these texts.
async fn again(texts: &[String]) -> Vec<String> {
    let source = [LUA.text("read_request"), LUA.text("write_request"), AGAIN];
    let fixture = CouponFixture::with(&json!({})).await;
    let mut call = redis::cmd("EVAL");
    fixture.raw(call.arg(source.join("\n")).arg(0).arg(texts)).await
}

fn any_state() -> impl Strategy<Value = State> {
    let number = 0..=9_007_199_254_740_991_u64;
    let ms = 0..=9_007_199_254_740_991_i64;
    let issue = (number.clone(), ms.clone(), any::<[u8; 10]>()).prop_map(|(sequence, at_ms, code)| Issue {
        sequence,
        at_ms,
        code: Code::from_bytes(code),
    });
    let attempts = 0..=9_u32;
    prop_oneof![
        issue.clone().prop_map(State::Issued),
        (issue.clone(), ms.clone()).prop_map(|(issue, at_ms)| State::Voided(issue, at_ms)),
        (issue, ms.clone(), "[A-Za-z0-9._-]{1,9}", "[ -~가-힣]{1,40}").prop_filter_map(
            "an id",
            |(issue, redeemed_ms, redemption, reference)| {
                let used = Redemption {
                    redeemed_ms,
                    redemption: Id::parse(&redemption).ok()?,
                    reference: Reference::parse(&reference)?,
                };
                Some(State::Redeemed(issue, used))
            },
        ),
        (ms.clone(), "[!-~]{1,40}").prop_map(|(at_ms, first)| State::AlreadyIssued { at_ms, first }),
        ms.clone().prop_map(|at_ms| State::OutOfStock { at_ms }),
        ms.clone().prop_map(|at_ms| State::NotOpen { at_ms }),
        ms.clone().prop_map(|at_ms| State::Closed { at_ms }),
        (number.clone(), attempts.clone(), ms.clone()).prop_map(|(arrival, attempts, at_ms)| State::Queued {
            arrival,
            attempts,
            take: Take,
            at_ms,
        }),
        (number, attempts, ms).prop_map(|(arrival, attempts, at_ms)| State::Dead {
            arrival,
            attempts,
            at_ms,
        }),
    ]
}

#[tokio::test]
async fn what_one_side_writes_the_other_reads() {
    let texts = prop::collection::btree_map("[a-z가-힣/ ]{1,9}", "[ -~가-힣]{0,9}", 0..4);
    let any_record = (any_state(), "[a-zA-Z0-9][a-zA-Z0-9_.-]{0,30}", texts);
    let mut runner = TestRunner::deterministic();
    let records: Vec<_> = std::iter::repeat_with(|| {
        let (state, user, texts) = any_record.new_tree(&mut runner).expect("a record").current();
        let user = Asker {
            user: PersonId::parse(&user).expect("an id"),
            metadata: Metadata::try_from(texts).ok(),
        };
        Record { user, state }
    })
    .take(RECORDS)
    .collect();
    let texts: Vec<_> = records.iter().map(Record::to_string).collect();
    let written = again(&texts).await;
    assert_eq!(written, texts, "Lua reads what Rust writes, and writes the same");
    let read: Vec<_> = written
        .iter()
        .map(|text| Record::parse(text).expect("readable"))
        .collect();
    assert_eq!(read, records, "Rust reads what Lua writes");
}

#[tokio::test]
async fn neither_side_reads_anything_else() {
    let texts = [
        "",
        "i",
        "x 1 u",
        "o 1",
        "o x u",
        "o 1 u more",
        "o 1  u",
        "q 1 0 5 u",
        "? broken",
        "v 1 2 c 3",
    ];
    let texts: Vec<_> = texts.map(str::to_owned).into();
    assert!(again(&texts).await.iter().all(String::is_empty));
    assert!(texts.iter().all(|text| Record::parse(text).is_err()));
}
