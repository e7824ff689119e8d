use super::*;

#[test]
fn a_record_is_written_as_it_was_read() {
    for text in [
        "8812 1 3 Zk3f9a1B2c 18811+1,7+0",
        "1 1 1 f 1+1 p 1r,3r 1795232140598 p7 100 *",
        "1 1 1 f 1+1 p - 5 p7 100 -",
        "1 1 1 f 1+1 w - 1 grand 2 1 00aa",
        "1 1 1 f 1+1 n 1r",
    ] {
        assert_eq!(Record::parse(text).expect("readable").to_string(), text);
    }
}

#[test]
fn every_form_of_a_record_is_read() {
    let lost = Record::parse("8812 1 3 Zk3f9a1B2c 18811+1,7+0").expect("readable");
    assert_eq!(
        (lost.sequence, lost.epoch, lost.version, lost.contributions.len()),
        (8812, 1, 3, 2)
    );
    assert_eq!(lost.state, State::Lost);
    let pending = Record::parse("1 1 1 f 1+1 p 1r,3r 1795232140598 p7 100 *").expect("readable");
    assert!(
        matches!(pending.state, State::Pending { entered_ms: 1_795_232_140_598, ref sent, .. } if sent.client_seed.is_none())
    );
    assert_eq!(pending.refusals().iter().map(|r| r.rank).collect::<Vec<_>>(), [1, 3]);
    let paid = Record::parse("1 1 1 f 1+1 w - 1 grand 2 1 00aa").expect("readable");
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
        Record::parse("1 1 1 f 1+1 n 1r").expect("readable").state,
        State::Ended { .. }
    ));
}

#[test]
fn anything_else_is_refused() {
    for bad in [
        "",
        "1",
        "1 1 1 f",
        "1 1 1 f x",
        "1 1 1 f 1+1 z",
        "1 1 1 f 1+1 n",
        "1 1 1 f 1+1 n 1x",
        "1 1 1 f 1+1 w - 1 grand 2 1",
    ] {
        assert!(Record::parse(bad).is_err(), "{bad}");
    }
    assert!(Record::parse("1 1 1 f 1+1 n - more").is_err());
}

#[test]
fn the_fingerprint_tells_every_part() {
    let sent = |player: &str, stake: u64, seed: Option<&str>| {
        let client_seed = seed.map(|s| ClientSeed::parse(s).expect("a seed"));
        let player = PersonId::parse(player).expect("an id");
        Sent {
            client_seed,
            ..Sent::of(player, Minor::try_from(stake).expect("in range"))
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

#[test]
fn source_and_ranks_stand_after_what_was_there_before_them() {
    for text in ["p7 100 *", "p7 100 s vip", "p7 100 * slot-9 1,2,0", "p7 0 - a 0"] {
        let sent = Sent::parse(text).expect("readable");
        assert_eq!(sent.to_text(), text);
    }
    let sent = Sent::parse("p7 100 * slot-9 1,2,0").expect("readable");
    assert_eq!(sent.source.as_ref().map(Id::as_str), Some("slot-9"));
    assert_eq!(sent.ranks.as_ref().map(Ranks::all), Some(&[1, 2, 0][..]));
    let pending = "1 1 1 f 1+1 p 1r 1795232140598 p7 100 * slot-9 1,2,0";
    assert_eq!(Record::parse(pending).expect("readable").to_string(), pending);
    for wrong in [
        "p7 100",
        "p7 100 * a:b",
        "p7 100 * vip x",
        "p7 100 * vip 1,",
        "p7 100 * vip 1 2",
        "p7 100 * vip -",
    ] {
        assert_eq!(Sent::parse(wrong), None, "{wrong}");
    }
    let prints = ["p7 100 *", "p7 100 * vip", "p7 100 * vip 1", "p7 100 * vip 1,0"].map(fingerprint);
    assert_eq!(
        prints.iter().collect::<std::collections::BTreeSet<_>>().len(),
        prints.len()
    );
}

#[test]
fn entries_of_sources_in_a_run_name_their_rows() {
    let call = "40|2|3|-|100,100@vip,*@slot,100@vip|100=1,0,0,0;100@vip=5,0,0,0;*@slot=2,0,0,0;|1:10,0,0,-;";
    let pool = |place| {
        let record = Record::parse_whole(&format!(":c {place} fp {call}")).expect("readable");
        record.contributions[0]
    };
    assert_eq!([1, 2, 3, 4].map(|place| pool(place).amount), [1, 5, 2, 5]);
    assert_eq!(pool(4).pool, 23);
    let other = call.replace("100@vip,*@slot", "100@vap,*@slot");
    assert!(Record::parse_whole(&format!(":c 2 fp {other}")).is_err());
}

const CALL: &str = "40|2|3|2,5|10,20,10,10,20,20|10=1,500000,0,0/0,0,2,0;20=3,0,0,0/0,0,0,0;|\
                    1:100,0,0,-/7,0,0,50;3:0,0,500000,-/7,0,0,50;";

fn in_run(place: &str) -> Option<String> {
    let record = Record::parse_whole(&format!(":c {place} fp {CALL}"));
    record.ok().map(|record| record.to_string())
}

#[test]
fn an_entry_of_a_run_is_found_by_its_place() {
    assert_eq!(in_run("1").as_deref(), Some("40 2 3 fp 101+1,7+2"));
    assert_eq!(in_run("3").as_deref(), Some("41 2 3 fp 103+2,7+2"));
    assert_eq!(in_run("4").as_deref(), Some("42 2 3 fp 1+2,7+2"));
    assert_eq!(in_run("6").as_deref(), Some("43 2 3 fp 4+3,7+0"));
}

#[test]
fn entries_of_a_run_that_add_the_same_need_no_stakes() {
    for amounts in ["10=1,0,0,0;", "*=1,0,0,0;"] {
        let record = Record::parse_whole(&format!(":c 3 fp 40|2|3|-|-|{amounts}|1:5,0,0,-;"));
        assert_eq!(record.expect(amounts).to_string(), "42 2 3 fp 8+1");
    }
    assert!(Record::parse_whole(":c 3 fp 40|2|3|-|-|10=1,0,0,0;20=2,0,0,0;|1:5,0,0,-;").is_err());
    assert!(Record::parse_whole(":c 3 fp 40|2|3|-|10,20|10=1,0,0,0;20=2,0,0,0;|1:5,0,0,-;").is_err());
}

#[test]
fn a_place_that_was_not_taken_or_does_not_exist_is_unreadable() {
    for place in ["0", "2", "5", "7", "x", ""] {
        assert_eq!(in_run(place), None, "{place}");
    }
}

#[test]
fn a_record_of_a_run_that_is_lost_or_cut_is_unreadable() {
    let text = format!(":c 3 fp {CALL}");
    let whole = Record::parse_whole(&text).expect("readable");
    // Everything that place 3 depends on ends with the first run.
    let needed = text.find("3:0,0,").expect("a second run") + 2;
    for end in 0..text.len() {
        let Ok(cut) = Record::parse_whole(&text[..end]) else {
            continue;
        };
        assert_eq!(cut, whole, "{}", &text[..end]);
        assert!(end >= needed || text[..end].ends_with("50;"), "{}", &text[..end]);
    }
    assert!(Record::parse_whole(":c 3 fp ").is_err());
    assert!(Record::parse_whole("c 3 fp 1").is_err());
}

#[test]
fn what_an_entry_won_and_what_refused_it_are_told() {
    for (state, is_won, paid, refusals) in [
        ("", false, None, 0),
        (" p 1r,3o 5 p7 100 *", false, None, 2),
        (" n 1r", false, None, 1),
        (" c 1a,2n 3 spa 7 c-1", true, None, 2),
        (" w 2r 1 grand 9 6 00aa", true, Some((1, 9, 6)), 1),
        (" h grand 8 5 00aa 4 time 77", true, Some((0, 8, 5)), 0),
        (" h grand 8 5 00aa 4 amount 77", true, Some((0, 8, 5)), 0),
    ] {
        let text = format!("1 1 1 f 1+1{state}");
        let record = Record::parse(&text).expect(state);
        assert_eq!(record.to_string(), text);
        assert_eq!(
            (record.state.is_won(), record.refusals().len()),
            (is_won, refusals),
            "{state}"
        );
        let found = record.state.payout();
        assert!(
            found
                .iter()
                .all(|found| (found.tier.as_str(), &*found.history) == ("grand", "00aa")),
            "{state}"
        );
        let found = found.map(|found| (found.rank, found.amount, found.claim_order));
        assert_eq!(found, paid, "{state}");
    }
    assert!(Record::parse("1 1 1 f 1+1 h grand 8 5 00aa 4 luck 77").is_err());
}

#[test]
fn every_reason_has_a_name_and_a_letter() {
    let names = ["retry", "out-of-stock", "already-issued", "not-open"];
    for (name, letter) in names.into_iter().zip(["r", "o", "a", "n"]) {
        let reason = Reason::read(name).expect("a reason");
        assert_eq!(reason.text(), name);
        let refusal = Refusal { rank: 12, reason };
        assert_eq!(refusal.text(), format!("12{letter}"));
        assert_eq!(Refusal::read(&refusal.text()), Some(refusal));
    }
    for wrong in ["", "r", "12", "12x", "x12r", "12é"] {
        assert_eq!(Refusal::read(wrong), None, "{wrong}");
    }
    assert_eq!(Reason::read("late"), None);
    assert_eq!(CallField::of("c").as_str(), ":c");
    let sent = Sent::parse("p7 100 * vip").expect("readable");
    assert_eq!(sent.source_text(), Some("vip"));
    assert_eq!(Sent::parse("p7 100 *").and_then(|sent| sent.source), None);
}
