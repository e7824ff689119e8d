//! The answers of an upload that its client has not read yet.

use std::sync::{Arc, Weak};

use actix_web::web::Bytes;
use futures_util::Stream;
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use super::bulk::stopped;
use super::pace::{self, IDLE};
use jackpot_kernel::http::Problem;

/// Answers of whole calls that wait for the client to read them, some 64 KiB each: 8 MiB. A client that reads nothing
/// before it has sent everything can send some 40,000 lines.
const MAX_UNREAD: usize = 128;

/// The lines that answer a call, and the number of the first.
type NumberedAnswer = (u64, Bytes);

/// The client has gone, or has not read for too long.
#[derive(Debug)]
pub(super) struct Gone;

/// Takes the answers.
pub(super) struct Answers {
    sender: mpsc::Sender<NumberedAnswer>,
    // Weak, because the reader goes away with the body of the response.
    receiver: Weak<Mutex<mpsc::Receiver<NumberedAnswer>>>,
}

/// An empty queue of answers, and the response body that reads from it.
pub(super) fn channel() -> (Answers, impl Stream<Item = Result<Bytes, Problem>>) {
    let (sender, receiver) = mpsc::channel(MAX_UNREAD);
    let receiver = Arc::new(Mutex::new(receiver));
    let answers = Answers {
        sender,
        receiver: Arc::downgrade(&receiver),
    };
    let body = async_stream::stream! {
        loop {
            let next = receiver.lock().await.recv().await;
            let Some((_, text)) = next else { break };
            yield Ok(text);
        }
    };
    (answers, body)
}

impl Answers {
    /// Appends lines, once the client has read enough of the earlier ones.
    pub(super) async fn tell(&self, first_line: u64, text: Vec<u8>) -> Result<(), Gone> {
        match timeout(IDLE, self.sender.send((first_line, text.into()))).await {
            Ok(told) => told.map_err(|_| Gone),
            Err(_late) => {
                self.give_up();
                Err(Gone)
            }
        }
    }

    /// Waits until the client has read everything, because unread answers take memory.
    pub(super) async fn finish(&self) {
        loop {
            let free = self.sender.capacity();
            match timeout(IDLE, self.sender.reserve_many(MAX_UNREAD)).await {
                // All is read, or the client has gone.
                Ok(_) => return,
                Err(_late) if self.sender.capacity() > free => {}
                Err(_late) => return self.give_up(),
            }
        }
    }

    /// Returns when the client has gone.
    pub(super) async fn gone(&self) {
        self.sender.closed().await;
    }

    /// Drops unread answers. The client reads `stopped` in their place.
    fn give_up(&self) {
        let Some(receiver) = self.receiver.upgrade() else {
            return;
        };
        // The response holds it only while it waits for an answer; then there is none to drop.
        let Ok(mut receiver) = receiver.try_lock() else {
            return;
        };
        let mut first = None;
        while let Ok((line, _)) = receiver.try_recv() {
            first.get_or_insert(line);
        }
        drop(receiver);
        if let Some(line) = first {
            // There is room, because it was emptied.
            let _told = self.sender.try_send((line, stopped(line, pace::unread()).into()));
        }
    }
}
