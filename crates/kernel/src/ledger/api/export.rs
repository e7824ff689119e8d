//! Streams a whole list in constant memory: pages by key, one ahead of the client.
//!
//! A file that ends too early must never look whole. After an error the transfer is broken off, and the client sees
//! that its last chunk is missing.

use std::time::Duration;

use actix_web::web::Bytes;
use futures_util::Stream;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::csv::{self, Record};
use super::format::Format;
use crate::http::auth::KeyEnd;
use crate::ledger::queries::scan::Page;
use crate::ledger::queries::{Key, LedgerError};
use crate::sql::is_unavailable;

/// Rows read by one statement: some hundred KB.
pub const CHUNK: u32 = 1000;

/// Chunks that wait for the client.
const CHUNKS_AHEAD: usize = 1;

/// Most tries of a page. A long file survives a database that is busy or away for some seconds; each try waits that
/// long.
const TRIES: usize = 4;

/// How long a client may take for a chunk before it loses its place to others.
const CLIENT_TIMEOUT: Duration = Duration::from_mins(1);

/// Why a transfer is broken off.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The ledger did not answer.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The client took nothing for a minute.
    #[error("the client reads nothing")]
    Stalled,
    /// The key was revoked or has expired.
    #[error("the key has expired or was revoked")]
    KeyEnded,
}

enum Piece {
    Rows(Bytes),
    Failed(LedgerError),
    End,
}

/// The state of an export: what was read, and how many rows may still come.
pub struct Export<T> {
    pub format: Format,
    pub page: Page<T>,
    /// `None`: all.
    pub left: Option<u32>,
}

impl<T: Record + Serialize + Send + Sync + 'static> Export<T> {
    /// The body. `read` reads the page after a position, with at most that many rows. The slot is free again when all
    /// is read, or the client or its key is gone.
    pub fn stream<F, R>(
        self,
        place: OwnedSemaphorePermit,
        key_end: KeyEnd,
        runtime: &Handle,
        read: R,
    ) -> impl Stream<Item = Result<Bytes, Broken>> + use<T, F, R>
    where
        R: Fn(Key, u32) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Page<T>, LedgerError>> + Send + 'static,
    {
        let (sender, mut pieces) = mpsc::channel(CHUNKS_AHEAD);
        runtime.spawn(async move {
            self.run(read, sender).await;
            drop(place);
        });
        async_stream::stream! {
            let mut ended = std::pin::pin!(key_end.wait());
            loop {
                let piece = tokio::select! {
                    biased;
                    () = &mut ended => {
                        yield Err(Broken::KeyEnded);
                        return;
                    }
                    piece = pieces.recv() => piece,
                };
                match piece {
                    Some(Piece::Rows(bytes)) => yield Ok(bytes),
                    Some(Piece::End) => return,
                    Some(Piece::Failed(error)) => {
                        tracing::error!(%error, "an export was aborted");
                        yield Err(Broken::Ledger(error));
                        return;
                    }
                    None => {
                        yield Err(Broken::Stalled);
                        return;
                    }
                }
            }
        }
    }

    async fn run<F>(mut self, read: impl Fn(Key, u32) -> F + Send + Sync, sender: mpsc::Sender<Piece>)
    where
        F: Future<Output = Result<Page<T>, LedgerError>> + Send + 'static,
    {
        let send = async |piece| {
            timeout(CLIENT_TIMEOUT, sender.send(piece))
                .await
                .is_ok_and(|sent| sent.is_ok())
        };
        if self.format == Format::Csv && !send(Piece::Rows(csv::lines([T::HEADER]).into())).await {
            return;
        }
        loop {
            let rows = self.written();
            if !rows.is_empty() && !send(Piece::Rows(rows.into())).await {
                return;
            }
            let Some((key, limit)) = self.next() else {
                send(Piece::End).await;
                return;
            };
            match again(&read, key, limit).await {
                Ok(page) => self.page = page,
                Err(error) => {
                    send(Piece::Failed(error)).await;
                    return;
                }
            }
        }
    }

    /// Takes the rows, and subtracts them from what is left.
    fn written(&mut self) -> Vec<u8> {
        let rows = std::mem::take(&mut self.page.items);
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        }
        match self.format {
            Format::Csv => csv::lines(rows.iter().map(Record::cells)),
            Format::Json | Format::Ndjson => rows.iter().flat_map(line).collect(),
        }
    }

    /// What to read next; `None` at the end.
    fn next(&mut self) -> Option<(Key, u32)> {
        let limit = self.left.map_or(CHUNK, |left| left.min(CHUNK));
        self.page.next.take().filter(|_| limit > 0).map(|key| (key, limit))
    }
}

/// Reads a page, and tries again when the database did not answer.
async fn again<T, F>(read: &impl Fn(Key, u32) -> F, key: Key, limit: u32) -> Result<Page<T>, LedgerError>
where
    F: Future<Output = Result<Page<T>, LedgerError>>,
{
    for _ in 1..TRIES {
        match read(key.clone(), limit).await {
            Err(LedgerError::Sql(error)) if is_unavailable(&error) => {
                tracing::debug!(%error, "a page of an export is read again");
            }
            other => return other,
        }
    }
    read(key, limit).await
}

fn line(row: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(row).expect("plain data is JSON");
    line.push(b'\n');
    line
}
