//! The bytes of a connection: reads only as far as the allowance, replaces bare answers on their way out, and closes so
//! that the client can read the answer.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::net::{Shutdown, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::bare;
use super::heads::{self, Heads};
use super::state::{ConnectionState, Permit};
use super::worker::ConnectionSlot;
use crate::http::addresses::Connected;

/// A byte that no head may have.
const SPOILING: &[u8] = b"\0";

pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// An accepted connection, as the framework's dispatcher sees it.
pub(super) struct Connection {
    pub(super) state: Rc<ConnectionState>,
    /// Both exist until the end.
    stream: Option<Stream>,
    place: Option<ConnectionSlot>,
    instead: Option<Instead>,
    /// The requests of HTTP/2.
    heads: Option<Box<Heads>>,
    /// The settings of HTTP/2 are written.
    announced: bool,
    /// All output was written, up to the end of a frame.
    flushed: bool,
    /// The last frames of a refused connection of HTTP/2.
    farewell: Option<Vec<u8>>,
}

/// What is written in place of what the framework writes.
struct Instead {
    text: Vec<u8>,
    written: usize,
    /// Length of what the framework writes.
    stands_for: usize,
}

impl Connection {
    pub(super) fn new(stream: Stream, place: ConnectionSlot) -> Connection {
        Connection {
            state: Rc::clone(&place.state),
            heads: place.state.is_http2().then(|| Box::new(Heads::new())),
            stream: Some(stream),
            place: Some(place),
            instead: None,
            announced: false,
            flushed: false,
            farewell: None,
        }
    }

    pub(super) fn connected(&self) -> Option<&Connected> {
        self.place.as_ref()?.connected.as_ref()
    }

    fn write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Some(Stream::Plain(stream)) => Pin::new(stream).poll_write(cx, bytes),
            Some(Stream::Tls(stream)) => Pin::new(stream).poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Some(Stream::Plain(stream)) => Pin::new(stream).poll_read(cx, buffer),
            Some(Stream::Tls(stream)) => Pin::new(stream).poll_read(cx, buffer),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Writes `bytes`, with a bare answer at their end replaced.
    fn write_explained(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let instead = match self.instead.take() {
            Some(instead) => instead,
            None => match (bare::find(bytes), &self.place) {
                (None, _) | (_, None) => return self.write(cx, bytes),
                (Some(found), _) if found.at > 0 => return self.write(cx, &bytes[..found.at]),
                (Some(found), Some(place)) => Instead {
                    text: bare::replacement(&found, &self.state, &place.worker),
                    written: 0,
                    stands_for: bytes.len(),
                },
            },
        };
        self.write_instead(cx, instead)
    }

    /// Writes frames, with a limit added to the first settings.
    fn write_announced(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.announced {
            self.announced = true;
            self.instead = heads::announced(bytes).map(|text| Instead {
                text,
                written: 0,
                stands_for: bytes.len(),
            });
        }
        match self.instead.take() {
            Some(instead) => self.write_instead(cx, instead),
            None => self.write(cx, bytes),
        }
    }

    fn write_instead(&mut self, cx: &mut Context<'_>, mut instead: Instead) -> Poll<io::Result<usize>> {
        while let Some(rest) = instead.text.get(instead.written..).filter(|rest| !rest.is_empty()) {
            match self.write(cx, rest) {
                Poll::Ready(Ok(written)) if written > 0 => instead.written += written,
                Poll::Pending => {
                    self.instead = Some(instead);
                    return Poll::Pending;
                }
                ended @ Poll::Ready(_) => return ended,
            }
        }
        Poll::Ready(Ok(instead.stands_for))
    }

    /// Counts what was read. A refused connection reads no more.
    fn has_read(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.state.has_read(bytes.len());
        let Some(heads) = &mut self.heads else {
            return Ok(());
        };
        match heads.take(bytes) {
            Ok(requests) => self.state.requests_came(requests),
            Err(refused) => {
                let place = self.place.as_ref().filter(|_| self.flushed);
                self.farewell = place.map(|place| bare::farewell(refused, &self.state, &place.worker));
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        if self.state.is_killed() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.state.remember_task(cx);
        let before = buffer.filled().len();
        match this.state.permit() {
            Permit::UpTo(left) if left >= buffer.remaining() as u64 => {
                ready!(this.read(cx, buffer))?;
                this.has_read(&buffer.filled()[before..])?;
            }
            Permit::UpTo(left) => {
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                let mut part = ReadBuf::new(buffer.initialize_unfilled_to(left));
                ready!(this.read(cx, &mut part))?;
                this.has_read(part.filled())?;
                let read = part.filled().len();
                buffer.advance(read);
            }
            Permit::Wait => return Poll::Pending,
            Permit::Again => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Permit::Spoil => buffer.put_slice(SPOILING),
            Permit::End => {}
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.state.is_killed() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        this.flushed = false;
        let written = if this.state.is_http2() {
            this.write_announced(cx, bytes)
        } else {
            this.write_explained(cx, bytes)
        };
        this.state.has_written(written.is_ready());
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.stream {
            Some(Stream::Tls(stream)) => {
                let flushed = Pin::new(stream).poll_flush(cx);
                this.state.has_written(flushed.is_ready());
                ready!(flushed)?;
            }
            // The operating system has the bytes already.
            Some(Stream::Plain(_)) | None => {}
        }
        this.flushed = true;
        if this.state.has_flushed() {
            // Wakes the dispatcher, so that it notices the end of reading.
            cx.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.state.is_killed() {
            return Poll::Ready(Ok(()));
        }
        match &mut this.stream {
            Some(Stream::Plain(stream)) => Pin::new(stream).poll_shutdown(cx),
            Some(Stream::Tls(stream)) => Pin::new(stream).poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl Drop for Connection {
    /// If a connection is closed with unread bytes, the system resets it, and the client loses an answer that it has
    /// not read. Such a connection is kept for a moment, and its bytes are dropped.
    fn drop(&mut self) {
        let (Some(stream), Some(place)) = (self.stream.take(), self.place.take()) else {
            return;
        };
        let farewell = self.farewell.take();
        if farewell.is_none() && !self.state.leaves_unread() {
            return;
        }
        let stream = match stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => {
                let (stream, mut session) = stream.into_inner();
                let mut last = Vec::new();
                // If it can't be sent now, the end of the connection serves the same purpose.
                let _sent = session
                    .writer()
                    .write_all(&farewell.unwrap_or_default())
                    .inspect(|()| session.send_close_notify())
                    .and_then(|()| session.write_tls(&mut last))
                    .and_then(|_| stream.try_write(&last));
                stream
            }
        };
        if shutdown(&stream, Shutdown::Write).is_ok() {
            place.linger(stream);
        }
    }
}
