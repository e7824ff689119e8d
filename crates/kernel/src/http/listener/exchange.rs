//! A request and its answer, as the connection sees them: in flight until the answer has ended. An answer that leaves
//! the body unread ends the connection.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::header::TRANSFER_ENCODING;
use actix_web::http::{ConnectionType, Version};
use actix_web::web::Bytes;
use futures_util::Stream;

use super::state::{ConnectionState, InFlight};

/// The state of a body in chunks.
#[derive(Default)]
struct Chunks {
    /// The whole body was read.
    ended: Cell<bool>,
    /// No reader is left.
    dropped: Cell<bool>,
}

/// A request in flight on its connection.
pub(in crate::http) struct Exchange {
    request: InFlight,
    chunks: Option<Rc<Chunks>>,
}

impl Exchange {
    /// Begins with the head of the request; `None` without a connection.
    pub(in crate::http) fn begin(request: &mut ServiceRequest) -> Option<Exchange> {
        let connection = Rc::clone(request.conn_data::<Rc<ConnectionState>>()?);
        let chunks = watch(request, &connection);
        Some(Exchange {
            request: connection.begin(),
            chunks,
        })
    }

    /// Whether the connection has more requests in flight than the limit.
    pub(in crate::http) fn is_crowded(&self) -> bool {
        self.request.0.is_crowded()
    }

    /// Keeps the request in flight until the answer has ended.
    pub(in crate::http) fn answer(self, mut answer: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
        if let Some(chunks) = &self.chunks
            && chunks.dropped.get()
            && !chunks.ended.get()
        {
            let head = answer.response_mut().head_mut();
            head.set_connection_type(ConnectionType::Close);
        }
        // A body with a size is sent as soon as it is known. The connection decides whether it stays open.
        let endless = matches!(answer.response().body().size(), BodySize::Stream);
        if endless && answer.request().version() < Version::HTTP_11 {
            // Such a client knows no chunks: the end of the connection ends the answer.
            let head = answer.response_mut().head_mut();
            head.no_chunking(true);
            head.set_connection_type(ConnectionType::Close);
        }
        if !endless && self.chunks.is_none() && !self.request.0.is_http2() {
            return answer;
        }
        answer.map_body(|_, body| Watched { body, _exchange: self }.boxed())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.chunks.as_ref().is_some_and(|chunks| !chunks.ended.get()) {
            self.request.0.end_after_answer();
        }
    }
}

/// Watches a body in chunks, which may have no end. The dispatcher handles a body with a size: if it was not read, the
/// dispatcher ends the connection.
fn watch(request: &mut ServiceRequest, connection: &Rc<ConnectionState>) -> Option<Rc<Chunks>> {
    if connection.is_http2() || !request.headers().contains_key(TRANSFER_ENCODING) {
        return None;
    }
    let chunks = Rc::new(Chunks::default());
    let body = WatchedBody {
        body: request.take_payload(),
        chunks: Rc::clone(&chunks),
        connection: Rc::clone(connection),
    };
    request.set_payload(Payload::Stream {
        payload: Box::pin(body),
    });
    Some(chunks)
}

struct WatchedBody {
    body: Payload,
    chunks: Rc<Chunks>,
    connection: Rc<ConnectionState>,
}

impl Stream for WatchedBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.body).poll_next(cx);
        match &next {
            Poll::Ready(None) => self.chunks.ended.set(true),
            Poll::Ready(Some(Err(_))) => self.connection.body_broke(),
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        next
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.chunks.dropped.set(true);
    }
}

/// The body of an answer, in flight until it has ended.
struct Watched {
    body: BoxBody,
    _exchange: Exchange,
}

impl MessageBody for Watched {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}
