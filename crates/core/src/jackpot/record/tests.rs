use super::*;

#[test]
fn a_record_is_written_as_it_was_read() {
    for text in [
        "8812 1.3 Zk3f9a1B2c 18811+1,7+0",
        "1 1.1 f 1+1 p 1r,3r 1795232140598 p7 100 *",
        "1 1.1 f 1+1 p - 5 p7 100 -",
        "1 1.1 f 1+1 w - 1 grand 2 1 00aa",
        "1 1.1 f 1+1 n 1r",
    ] {
        assert_eq!(Record::parse(text).expect("readable").to_text(), text);
    }
}

#[test]
fn every_form_of_a_record_is_read() {
    let lost = Record::parse("8812 1.3 Zk3f9a1B2c 18811+1,7+0").expect("readable");
    assert_eq!(
        (lost.sequence, lost.epoch, lost.version, lost.contributions.len()),
        (8812, 1, 3, 2)
    );
    assert_eq!(lost.state, State::Lost);
    let pending = Record::parse("1 1.1 f 1+1 p 1r,3r 1795232140598 p7 100 *").expect("readable");
    assert!(
        matches!(pending.state, State::Pending { entered_ms: 1_795_232_140_598, ref sent, .. } if sent.client_seed.is_none())
    );
    assert_eq!(pending.refusals().iter().map(|r| r.rank).collect::<Vec<_>>(), [1, 3]);
    let paid = Record::parse("1 1.1 f 1+1 w - 1 grand 2 1 00aa").expect("readable");
    assert!(matches!(
        paid.state,
        State::Paid {
            payout: Payout {
                amount: 2,
                claim_order: 1,
                ..
            },
            ..
        }
    ));
    assert!(matches!(
        Record::parse("1 1.1 f 1+1 n 1r").expect("readable").state,
        State::Ended { .. }
    ));
}

#[test]
fn anything_else_is_refused() {
    for bad in [
        "",
        "1",
        "1 1.1 f",
        "1 1.1 f x",
        "1 1.1 f 1+1 z",
        "1 1.1 f 1+1 n",
        "1 1.1 f 1+1 n 1x",
        "1 1.1 f 1+1 w - 1 grand 2 1",
    ] {
        assert!(Record::parse(bad).is_err(), "{bad}");
    }
    assert!(Record::parse("1 1.1 f 1+1 n - more").is_err());
}

#[test]
fn the_fingerprint_tells_every_part() {
    let sent = |player: &str, stake: u64, seed: Option<&str>| {
        let client_seed = seed.map(|s| ClientSeed::parse(s).expect("a seed"));
        Sent {
            player: Id::parse(player).expect("an id"),
            stake: Minor::try_from(stake).expect("in range"),
            client_seed,
        }
        .fingerprint()
    };
    let all = [
        sent("p", 1, None),
        sent("q", 1, None),
        sent("p", 2, None),
        sent("p", 1, Some("-")),
        sent("p", 1, Some("s")),
    ];
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    assert_eq!(all[0].len(), 10);
}
