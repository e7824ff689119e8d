//! NATS with the streams of intake.

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use futures_util::future::join_all;

use super::{DEADLINE, environment};
use crate::support::brokers::{Kept, TestNats};
use crate::support::prelude::*;

/// A server that keeps requests, replies and dead letters on its disk.
pub struct Bus {
    pub nats: TestNats,
}

impl Bus {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// `extra` are further arguments of the server.
    pub async fn start_with(extra: &[&str]) -> Self {
        let nats = TestNats::start(extra).await;
        for name in ["requests", "replies", "dead"] {
            nats.stream(name, name).await;
        }
        Self { nats }
    }

    pub fn environment(&self) -> Vec<(String, String)> {
        environment("nats", &self.nats.server())
    }

    /// Sends requests in order, each with its key if it has one.
    pub async fn send(&self, all: impl IntoIterator<Item = (Option<String>, String)>) {
        send(&self.nats.client().await, all).await;
    }

    /// Waits until so many different replies and dead letters are there.
    pub async fn outcome(&self, count: usize) -> (Vec<Kept>, Vec<Kept>) {
        eventually(DEADLINE, &format!("{count} replies and dead letters"), async || {
            let both = (self.nats.kept("replies").await, self.nats.kept("dead").await);
            let different = super::by_id(&both.0).len() + super::by_id(&both.1).len();
            (different >= count).then_some(both)
        })
        .await
    }
}

/// Sends requests in order with this client, each with its key if it has one.
pub async fn send(client: &Context, all: impl IntoIterator<Item = (Option<String>, String)>) {
    let with_key = |(key, content): (Option<String>, String)| {
        let key = key.map(|key| ("Jackpot-Key", key));
        (content, Vec::from_iter(key))
    };
    send_with(client, all.into_iter().map(with_key)).await;
}

/// Sends messages in order with these headers. What was not acknowledged fails the test.
pub async fn send_with(client: &Context, all: impl IntoIterator<Item = (String, Vec<(&'static str, String)>)>) {
    let mut sent = Vec::new();
    for (content, own) in all {
        let mut headers = HeaderMap::new();
        for (name, value) in own {
            headers.insert(name, value);
        }
        let acknowledged = client.publish_with_headers("requests", headers, content.into()).await;
        sent.push(acknowledged.expect("it is sent"));
        if sent.len() == 500 {
            finish(std::mem::take(&mut sent)).await;
        }
    }
    finish(sent).await;
}

async fn finish(sent: Vec<async_nats::jetstream::context::PublishAckFuture>) {
    let acknowledged = join_all(sent.into_iter().map(std::future::IntoFuture::into_future)).await;
    for one in acknowledged {
        one.expect("it is on the disk");
    }
}
