//! Messages to real brokers: order, repeats, failures, TLS and users.

use std::collections::BTreeSet;
use std::time::Duration;

use jackpot::broker::{Broker, Message, Read};
use jackpot::settings::{BrokerKind, Tls};

use crate::support::brokers::{Kept, TestKafka, TestNats, plain};
use crate::support::certificates::Certificates;
use crate::support::prelude::*;

const DEADLINE: Duration = Duration::from_secs(30);

fn message(id: usize, key: &str) -> Message {
    Message {
        id: format!("{key}:{id}"),
        key: key.to_owned(),
        content_type: "application/json",
        content: format!("{{\"n\":{id}}}").into(),
    }
}

fn messages(key: &str, ids: std::ops::Range<usize>) -> Vec<Message> {
    ids.map(|id| message(id, key)).collect()
}

fn as_kept(messages: &[Message]) -> Vec<Kept> {
    let text = |message: &Message| String::from_utf8(message.content.to_vec()).expect("text");
    messages
        .iter()
        .map(|one| Kept {
            id: one.id.clone(),
            key: one.key.clone(),
            content: text(one),
        })
        .collect()
}

#[tokio::test]
async fn nats_keeps_messages_in_order_and_a_repeat_once() {
    let nats = TestNats::start(&[]).await;
    nats.stream("events", "jackpot.>").await;
    let broker = Broker::new(plain(BrokerKind::Nats, nats.server()));
    let all = messages("jackpot:spring", 0..100);
    for part in [&all[..60], &all[40..]] {
        let sent = broker.send("jackpot.spring", part).await;
        assert_eq!((sent.count, sent.stopped.is_none()), (part.len(), true), "{sent:?}");
    }
    assert_eq!(nats.kept("events").await, as_kept(&all));
}

#[tokio::test]
async fn a_subject_that_no_stream_keeps_is_refused() {
    let nats = TestNats::start(&[]).await;
    let broker = Broker::new(plain(BrokerKind::Nats, nats.server()));
    let sent = broker.send("nowhere", &messages("k", 0..3)).await;
    let error = sent.stopped.expect("an error").to_string();
    assert_eq!(sent.count, 0);
    error.says("no stream found");
}

#[tokio::test]
async fn a_killed_nats_server_loses_nothing_that_was_sent() {
    let mut nats = TestNats::start(&[]).await;
    nats.stream("events", "jackpot.>").await;
    let broker = Broker::new(plain(BrokerKind::Nats, nats.server()));
    let all = messages("jackpot:spring", 0..200);
    let mut sent = 0;
    for end in [50, 100, 150, 200] {
        eventually(DEADLINE, "all of them are sent", async || {
            sent += broker.send("jackpot.spring", &all[sent..end]).await.count;
            (sent == end).then_some(())
        })
        .await;
        nats.kill9();
        let while_dead = broker.send("jackpot.spring", &all[..1]).await;
        assert!(while_dead.count == 0 && while_dead.stopped.is_some(), "{while_dead:?}");
        nats.restart().await;
    }
    assert_eq!(nats.kept("events").await, as_kept(&all));
}

#[tokio::test]
async fn users_tokens_and_certificates_are_checked() {
    let with_user = TestNats::start(&["--user", "u", "--pass", "p"]).await;
    let with_token = TestNats::start(&["--auth", "secret-token"]).await;
    for (nats, user, password, token, refused) in [
        (&with_user, "u", "p", "", false),
        (&with_user, "u", "wrong", "", true),
        (&with_user, "", "", "", true),
        (&with_token, "", "", "secret-token", false),
        (&with_token, "", "", "wrong", true),
    ] {
        let mut settings = plain(BrokerKind::Nats, nats.server());
        settings.user = user.to_owned();
        settings.password = password.to_owned();
        settings.token = token.to_owned();
        let sent = Broker::new(settings).send("nowhere", &messages("k", 0..1)).await;
        let error = sent.stopped.expect("no stream, or no entry").to_string();
        assert_eq!(!error.contains("no stream found"), refused, "{user} {token}: {error}");
        assert!(!error.contains("wrong") && !error.contains("secret-token"), "{error}");
    }
}

#[tokio::test]
async fn tls_checks_the_certificate_of_the_server() {
    let files = Certificates::new();
    let (cert, key) = (files.path("cert.pem"), files.path("key.pem"));
    let nats = TestNats::start(&["--tls", "--tlscert", &cert, "--tlskey", &key]).await;
    let mut settings = plain(BrokerKind::Nats, nats.server());
    settings.tls = Tls::On;
    let unknown = Broker::new(settings.clone())
        .send("nowhere", &messages("k", 0..1))
        .await;
    let error = unknown.stopped.expect("an unknown issuer").to_string();
    error.hides("no stream found");
    settings.ca_file = files.path("ca.pem");
    let known = Broker::new(settings.clone())
        .send("nowhere", &messages("k", 0..1))
        .await;
    known.stopped.expect("no stream").to_string().says("no stream found");
    settings.ca_file = "/no/such/file".to_owned();
    let missing = Broker::new(settings).send("nowhere", &messages("k", 0..1)).await;
    missing.stopped.expect("no file").to_string().says("/no/such/file");
}

#[tokio::test]
async fn kafka_keeps_the_messages_of_a_key_in_order_in_one_partition() {
    let kafka = TestKafka::start().await;
    kafka.topic("events", 3);
    let broker = Broker::new(plain(BrokerKind::Kafka, kafka.server()));
    let keys = ["jackpot:a", "jackpot:b", "coupon:c", "room:d"];
    for part in [0..50, 50..100] {
        // Of all keys by turns, as subjects go out.
        let all: Vec<_> = keys.iter().flat_map(|key| messages(key, part.clone())).collect();
        let sent = broker.send("events", &all).await;
        assert_eq!((sent.count, sent.stopped.is_none()), (all.len(), true), "{sent:?}");
    }
    let kept = kafka.kept("events", 3).await;
    for key in keys {
        let ids: Vec<_> = messages(key, 0..100).into_iter().map(|one| one.id).collect();
        let found: Vec<_> = kept.iter().filter(|(_, one)| one.key == key).collect();
        let partitions: BTreeSet<_> = found.iter().map(|(partition, _)| *partition).collect();
        assert_eq!(partitions.len(), 1, "{key}");
        assert_eq!(
            found.iter().map(|(_, one)| one.id.as_str()).collect::<Vec<_>>(),
            ids,
            "{key}"
        );
    }
}

#[tokio::test]
async fn a_topic_that_is_missing_is_named_and_found_when_it_is_made() {
    let kafka = TestKafka::start().await;
    let broker = Broker::new(plain(BrokerKind::Kafka, kafka.server()));
    let one = messages("k", 0..1);
    let missing = broker.send("later", &one).await;
    missing.stopped.expect("no topic").to_string().says("later");
    kafka.topic("later", 1);
    let sent = broker.send("later", &one).await;
    assert_eq!((sent.count, sent.stopped.is_none()), (1, true), "{sent:?}");
}

#[tokio::test]
async fn a_broker_that_is_away_is_an_error_and_not_a_wait_for_ever() {
    let server = format!("127.0.0.1:{}", crate::support::free_port());
    for kind in [BrokerKind::Nats, BrokerKind::Kafka] {
        let sent = Broker::new(plain(kind, server.clone()))
            .send("events", &messages("k", 0..1))
            .await;
        assert!(sent.count == 0 && sent.stopped.is_some(), "{sent:?}");
    }
}

/// The figures of lag come from the broker, also of a message that does not get through.
#[tokio::test]
async fn a_lane_says_how_many_messages_wait() {
    let (nats, kafka) = (TestNats::start(&[]).await, TestKafka::start().await);
    nats.stream("events", "events").await;
    kafka.topic("events", 1);
    for (kind, server) in [(BrokerKind::Nats, nats.server()), (BrokerKind::Kafka, kafka.server())] {
        let broker = Broker::new(plain(kind, server));
        // One by one: the Kafka of the tests says the end of a partition by its batches.
        for message in messages("k", 0..5) {
            let sent = broker.send("events", &[message]).await;
            assert!(sent.stopped.is_none(), "{sent:?}");
        }
        let mut opened = broker.read("events", "0", None, false).await.expect("a lane");
        assert_eq!(opened.waiting, 5);
        let mut came = 0;
        let waiting = loop {
            match opened.reader.next().await.expect("messages") {
                Read::Messages(records) => came += records.len(),
                Read::Waiting(count) => break count,
            }
        };
        assert_eq!((came, waiting), (5, 0));
        if kind == BrokerKind::Nats {
            nats.publish_raw("events", b"NATS/1.0 404 No\r\n\r\n", "{}").await;
            eventually(DEADLINE, "the lane ends", async || match opened.reader.next().await {
                Ok(Read::Waiting(count)) => (count > 1).then_some(()),
                Ok(Read::Messages(records)) => panic!("{records:?}"),
                // The client takes the status for an answer of the server.
                Err(_) => Some(()),
            })
            .await;
            let mut again = broker.read("events", "0", Some(6), true).await.expect("a lane");
            assert_eq!(again.waiting, 1);
            let Ok(Read::Messages(records)) = again.reader.next().await else {
                panic!("the message was read by itself");
            };
            assert_eq!((records.len(), records[0].position, records[0].after), (1, 6, 0));
        }
    }
}
