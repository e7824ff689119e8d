//! Connections to webhooks, each answer of which has an end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::Uri;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use tower_service::Service;

/// Bytes of one answer: interim answers, head, and what is read of the body. The client reads interim answers for as long as they
/// come, and gives its thread to nobody meanwhile.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
const READ_BYTES: usize = 8 * 1024;

/// Connects as `S` does. Each connection is [`Bounded`].
#[derive(Debug, Clone)]
pub(super) struct BoundedConnector<S>(pub S);

impl<S> Service<Uri> for BoundedConnector<S>
where
    S: Service<Uri, Future: Send + 'static>,
{
    type Response = Bounded<S::Response>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connected = self.0.call(to);
        Box::pin(connected.map(|connected| connected.map(Bounded::new)))
    }
}

/// A connection that reads a limited number of bytes after each write: a request is written, and then its answer is read.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    inner: T,
    left: usize,
}

impl<T> Bounded<T> {
    fn new(inner: T) -> Self {
        let left = MAX_ANSWER_BYTES;
        Self { inner, left }
    }
}

impl<T: Read + Unpin> Read for Bounded<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            let text = format!("the answer is longer than {} KiB", MAX_ANSWER_BYTES / 1024);
            return Poll::Ready(Err(io::Error::other(text)));
        }
        let length = READ_BYTES.min(self.left).min(into.remaining());
        let mut bytes = [0; READ_BYTES];
        let mut read = ReadBuf::new(&mut bytes[..length]);
        ready!(Pin::new(&mut self.inner).poll_read(context, read.unfilled()))?;
        self.left -= read.filled().len();
        into.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl<T: Write + Unpin> Write for Bounded<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.left = if written.is_ready() {
            MAX_ANSWER_BYTES
        } else {
            self.left
        };
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<T: Connection> Connection for Bounded<T> {
    fn connected(&self) -> Connected {
        self.inner.connected()
    }
}
