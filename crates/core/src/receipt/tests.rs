//! Tests of receipts and heads.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;
use crate::signing::{KeyPair, Seed};

/// A seed only for tests. Its signatures are pinned here, and were checked with another implementation.
fn key() -> KeyPair {
    KeyPair::of(&Seed::new([0x5f; 32]))
}

fn published() -> Jwks {
    Jwks::new([key().public().clone()])
}

fn id(text: &str) -> Id {
    Id::parse(text).expect("an id")
}

fn minor(amount: u64) -> Minor {
    amount.try_into().expect("an amount")
}

fn receipt() -> Receipt {
    UnsignedReceipt {
        payout_id: "spring:4".to_owned(),
        jackpot_id: id("spring"),
        entry_id: "round-8812-p7".to_owned(),
        player_id: PersonId::parse("p7").expect("an id"),
        tier: id("grand"),
        amount: minor(18_811),
        currency: Currency::parse("KRW").expect("a code"),
        claim_order: 4,
        pool_before: minor(crate::money::MAX_MINOR),
        pool_after: minor(0),
        paid_at_ms: 1_795_243_503_125,
        history: "9f1c0a44d2b7e633".to_owned(),
        n: 8812,
        i: 2,
    }
    .sign(&key())
}

fn head() -> Head {
    let chain = ChainHash::first(&id("spring"));
    Head::sign(
        id("spring"),
        "0c9a7c1e-2f0d-4d8e-9c1a-6f5b8a3d2e10",
        0,
        chain,
        1_795_243_503_000,
        &key(),
    )
}

/// The signed text equals the reference. Changing, dropping or adding any member breaks the signature.
fn assert_signed<T: Serialize + DeserializeOwned>(
    document: &T,
    text: &str,
    verify: impl Fn(&T) -> Result<(), VerifyError>,
) {
    let json = serde_json::to_value(document).expect("JSON");
    let members = json.as_object().expect("an object");
    let mut unsigned = json.clone();
    unsigned.as_object_mut().expect("an object").remove("signature");
    assert_eq!(text, serde_json_canonicalizer::to_string(&unsigned).expect("JSON"));
    assert_eq!(verify(document), Ok(()));
    for (name, value) in members {
        let mut other = json.clone();
        other[name] = match value {
            Value::Number(number) => (number.as_u64().expect("no fraction") ^ 1).into(),
            Value::String(text) => {
                let first = if text.starts_with('A') { "B" } else { "A" };
                format!("{first}{}", &text[1..]).into()
            }
            _ => panic!("{name} is neither number nor text"),
        };
        let other: T = serde_json::from_value(other).expect("of the same form");
        assert!(verify(&other).is_err(), "{name} can be changed");
        let mut less = json.clone();
        less.as_object_mut().expect("an object").remove(name);
        assert!(serde_json::from_value::<T>(less).is_err(), "{name} can be left out");
    }
    let mut more = json.clone();
    more["more"] = 1.into();
    assert!(serde_json::from_value::<T>(more).is_err());
}

#[test]
fn a_receipt_is_signed_whole() {
    let receipt = receipt();
    assert_eq!(
        receipt.signed_text(),
        r#"{"amount":18811,"claim_order":4,"currency":"KRW","entry_id":"round-8812-p7","event_id":"jackpot:spring:9f1c0a44d2b7e633:8812:2","history":"9f1c0a44d2b7e633","jackpot_id":"spring","key_id":"gKNg4hXH5uBm8LILTVjf7Gq_NU1EW2c3FZ4qDSqhsXU","paid_at":"2026-11-21T06:45:03.125Z","payout_id":"spring:4","player_id":"p7","pool_after":0,"pool_before":9007199254740991,"tier":"grand"}"#
    );
    assert_eq!(
        receipt.signature,
        "LZpL0Grv2X3aFCivn8J2YkJrWGVDsdjVWGF3GJIC85flucWF4BApR4VI2sWk2BOdiAW4psHuytQ9QmEK4nd2Ag"
    );
    assert_signed(&receipt, &receipt.signed_text(), |other| other.verify(&published()));
}

#[test]
fn a_head_is_signed_whole() {
    let head = head();
    assert_eq!(
        head.signature,
        "PTscYv0CDPmKxpHIWKm2F8bJ4Q7mPtOn06cclD-lkGx1FcZqRBJVpWKYm_1JGGUzzCr1bJgUZwCV0sf0GidTAQ"
    );
    assert_signed(&head, &head.signed_text(), |other| other.verify(&published()));
}

#[test]
fn the_members_are_those_of_the_contract() {
    let json = serde_json::to_value(receipt()).expect("JSON");
    let mut names: Vec<_> = json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let contract = "payout_id jackpot_id entry_id player_id tier amount currency claim_order pool_before pool_after \
                    paid_at history event_id key_id signature";
    let mut contract: Vec<_> = contract.split(' ').collect();
    names.sort_unstable();
    contract.sort_unstable();
    assert_eq!(names, contract);
}

#[test]
fn a_key_that_is_not_in_the_set_is_named() {
    let other = KeyPair::of(&Seed::new([0x5e; 32]));
    let set = Jwks::new([other.public().clone()]);
    let key_id = receipt().key_id;
    assert_eq!(receipt().verify(&set), Err(VerifyError::UnknownKey(key_id.clone())));
    assert_eq!(head().verify(&set), Err(VerifyError::UnknownKey(key_id)));
    // Signed with one key, under the id of another key in the set.
    let mut renamed = receipt();
    renamed.key_id = other.public().id().to_owned();
    assert!(matches!(renamed.verify(&set), Err(VerifyError::BadSignature(_))));
}
