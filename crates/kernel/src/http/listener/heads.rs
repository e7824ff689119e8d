//! The heads of an HTTP/2 connection, counted before the framework decodes them: it sets no limit on the size of a decoded
//! head. So the limits of HTTP/1 hold here too, and a connection that exceeds them ends with an answer (431) to that
//! request. `GOAWAY` follows it, because the tables of both sides no longer match (RFC 9113, 4.3).

use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};

use super::hpack::{Counter, Stop};
use super::state::HEAD_BYTES;
use crate::http::request_id::RequestId;
use crate::http::{Problem, problem, request_id};

/// Largest head, as it is sent and as it is decoded with 32 bytes for each field (RFC 9113, 6.5.2).
const HEAD_LIMIT: usize = 32 * 1024;
const _: () = assert!(HEAD_LIMIT as u64 == HEAD_BYTES);
/// Most fields of a head, with the four that stand for the request line.
const FIELDS: usize = 96 + 4;
/// Most frames of a head: 32 KiB fit three, and each costs work even when it is empty.
const FRAMES: usize = 16;
/// What a client sends first (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
/// Largest frame: the framework announces no other.
const FRAME_BYTES: usize = 16_384;
const PRIORITY_BYTES: usize = 5;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x01;
const END_HEADERS: u8 = 0x04;
const PADDED: u8 = 0x08;
const PRIORITY: u8 = 0x20;

/// `SETTINGS_MAX_HEADER_LIST_SIZE` (RFC 9113, 6.5.2).
const MAX_HEADER_LIST_SIZE: u16 = 6;
const NO_ERROR: u32 = 0;
const PROTOCOL_ERROR: u32 = 1;

/// Why a connection must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The head of this stream exceeds a limit.
    TooLarge(u32),
    /// It is not HTTP/2.
    Malformed,
}

/// A frame with a part of a head.
#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    length: usize,
    payload: Vec<u8>,
}

/// A head that has begun.
#[derive(Debug, Default)]
struct Head {
    stream: u32,
    frames: usize,
    sent: usize,
    fields: usize,
    size: usize,
    /// The begin of a field that goes on in the next frame.
    rest: Vec<u8>,
}

/// What a client has sent of its heads.
#[derive(Debug)]
pub(super) struct Heads {
    skip: usize,
    frame_head: [u8; FRAME_HEAD_BYTES],
    frame_head_length: usize,
    frame: Option<Frame>,
    head: Option<Head>,
    counter: Counter,
    last_stream: u32,
}

impl Heads {
    pub(super) fn new() -> Self {
        Self {
            skip: PREFACE_BYTES,
            frame_head: [0; FRAME_HEAD_BYTES],
            frame_head_length: 0,
            frame: None,
            head: None,
            counter: Counter::new(),
            last_stream: 0,
        }
    }

    /// Takes the next bytes of the connection. Returns how many requests have come with them.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<u32, Refused> {
        let mut requests = 0;
        loop {
            self.skip -= cut(&mut bytes, self.skip).len();
            if let Some(frame) = &mut self.frame {
                let part = cut(&mut bytes, frame.length - frame.payload.len());
                frame.payload.extend_from_slice(part);
            }
            if let Some(frame) = self.frame.take_if(|frame| frame.payload.len() == frame.length) {
                requests += u32::from(self.part(&frame)?);
            }
            if bytes.is_empty() {
                return Ok(requests);
            }
            let (known, at) = (&mut self.frame_head, self.frame_head_length);
            let part = cut(&mut bytes, FRAME_HEAD_BYTES - at);
            known[at..at + part.len()].copy_from_slice(part);
            self.frame_head_length += part.len();
            if self.frame_head_length == FRAME_HEAD_BYTES {
                self.frame_head_length = 0;
                self.begin_frame()?;
            }
        }
    }

    fn begin_frame(&mut self) -> Result<(), Refused> {
        let [high, middle, low, kind, flags, stream @ ..] = self.frame_head;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        let stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
        let goes_on = self.head.as_ref().map(|head| head.stream);
        let is_next = match kind {
            CONTINUATION => goes_on == Some(stream),
            // A promise would be decoded like a head, and a client has none.
            PUSH_PROMISE => false,
            _ => goes_on.is_none(),
        };
        if !is_next || length > FRAME_BYTES {
            return Err(Refused::Malformed);
        }
        if matches!(kind, HEADERS | CONTINUATION) {
            self.frame = Some(Frame {
                kind,
                flags,
                stream,
                length,
                payload: Vec::with_capacity(length),
            });
        } else {
            self.skip = length;
        }
        Ok(())
    }

    /// Counts a part of a head. Returns whether a new request is whole.
    fn part(&mut self, frame: &Frame) -> Result<bool, Refused> {
        let mut head = self.head.take().unwrap_or_else(|| Head {
            stream: frame.stream,
            ..Head::default()
        });
        let fragment = frame.fragment().ok_or(Refused::Malformed)?;
        let too_large = Err(Refused::TooLarge(head.stream));
        head.frames += 1;
        head.sent += fragment.len();
        if head.frames > FRAMES || head.sent > HEAD_LIMIT {
            return too_large;
        }
        head.rest.extend_from_slice(fragment);
        let mut rest = head.rest.as_slice();
        while !rest.is_empty() {
            match self.counter.next(&mut rest) {
                Ok(Some(size)) => {
                    head.fields += 1;
                    head.size += size;
                }
                Ok(None) => {}
                Err(Stop::More) if frame.flags & END_HEADERS == 0 => break,
                Err(Stop::More | Stop::Malformed) => return Err(Refused::Malformed),
            }
            if head.fields > FIELDS || head.size > HEAD_LIMIT {
                return too_large;
            }
        }
        if frame.flags & END_HEADERS == 0 {
            head.rest = rest.to_vec();
            self.head = Some(head);
            return Ok(false);
        }
        // Otherwise these are the trailers of a request.
        let is_new = head.stream > self.last_stream;
        self.last_stream = self.last_stream.max(head.stream);
        Ok(is_new)
    }
}

impl Frame {
    /// The payload without padding and priority (RFC 9113, 6.2).
    fn fragment(&self) -> Option<&[u8]> {
        let mut fragment = self.payload.as_slice();
        if self.kind == CONTINUATION {
            return Some(fragment);
        }
        if self.flags & PADDED != 0 {
            let (padding, rest) = fragment.split_first()?;
            fragment = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if self.flags & PRIORITY != 0 {
            fragment = fragment.get(PRIORITY_BYTES..)?;
        }
        Some(fragment)
    }
}

/// Takes at most `length` bytes off the begin.
fn cut<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (part, rest) = bytes.split_at(length.min(bytes.len()));
    *bytes = rest;
    part
}

/// The first settings of the framework with the largest head, so that clients need not try; `None` if `bytes` do not
/// begin with settings.
pub(super) fn announced(bytes: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = bytes.split_first_chunk::<FRAME_HEAD_BYTES>()?;
    let [high, middle, low, SETTINGS, 0, stream @ ..] = *head else {
        return None;
    };
    let own = u32::from_be_bytes([0, high, middle, low]);
    let (settings, rest) = rest.split_at_checked(own as usize)?;
    let mut added = MAX_HEADER_LIST_SIZE.to_be_bytes().to_vec();
    added.extend(u32::try_from(HEAD_LIMIT).ok()?.to_be_bytes());
    let payload = [settings, &added].concat();
    Some([&frame(SETTINGS, 0, u32::from_be_bytes(stream), &payload), rest].concat())
}

/// The last frames of a refused connection.
pub(super) fn farewell(refused: Refused, problem: &Problem, id: &RequestId) -> Vec<u8> {
    match refused {
        Refused::Malformed => frame(GOAWAY, 0, 0, &[[0; 4], PROTOCOL_ERROR.to_be_bytes()].concat()),
        Refused::TooLarge(stream) => {
            let body = serde_json::to_string(&problem.body()).unwrap_or_default();
            let (name, status) = (request_id::HEADER, problem.code.status());
            let head = [
                (":status", status.as_str()),
                (CONTENT_TYPE.as_str(), problem::CONTENT_TYPE),
                (CONTENT_LENGTH.as_str(), &body.len().to_string()),
                (name.as_str(), id.as_str()),
            ];
            let head: Vec<u8> = head.iter().flat_map(|(name, value)| literal(name, value)).collect();
            [
                frame(HEADERS, END_HEADERS, stream, &head),
                frame(DATA, END_STREAM, stream, body.as_bytes()),
                frame(GOAWAY, 0, 0, &[stream.to_be_bytes(), NO_ERROR.to_be_bytes()].concat()),
            ]
            .concat()
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field with short texts that no table keeps (RFC 7541, 6.2.2).
fn literal(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap_or_default()], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection after its preface.
    fn heads() -> Heads {
        let mut heads = Heads::new();
        assert_eq!(heads.take(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Ok(0));
        assert_eq!(heads.take(&frame(SETTINGS, 0, 0, &[])), Ok(0));
        heads
    }

    /// A field that the table keeps, of `size` bytes as it counts.
    fn kept(size: usize) -> Vec<u8> {
        let value = size - 32 - 1;
        let low = u8::try_from((value - 127) % 128).unwrap() | 0x80;
        let high = u8::try_from((value - 127) / 128).unwrap();
        [&[0x40, 1, b'a', 0x7f, low, high], vec![b'b'; value].as_slice()].concat()
    }

    #[test]
    fn requests_are_counted_once_whatever_surrounds_them() {
        let request = frame(HEADERS, END_HEADERS, 1, &[0x82, 0x87, 0x84]);
        let padded = [&[3, 0, 0, 0, 0, 9][..], &[0x82], &[0; 3]].concat();
        let all = [
            request,
            frame(8, 0, 0, &[0, 0, 0, 1]),
            frame(HEADERS, END_STREAM | PADDED | PRIORITY, 3, &padded),
            frame(CONTINUATION, 0, 3, &[0x87]),
            frame(CONTINUATION, END_HEADERS, 3, &[0x84]),
            frame(DATA, 0, 1, b"hello"),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x84]),
        ]
        .concat();
        assert_eq!(heads().take(&all), Ok(2));
        let mut heads = heads();
        assert_eq!(all.iter().map(|byte| heads.take(&[*byte]).unwrap()).sum::<u32>(), 2);
    }

    #[test]
    fn a_head_is_bounded_by_what_it_becomes() {
        let mut heads = heads();
        assert_eq!(heads.take(&frame(HEADERS, END_HEADERS, 1, &kept(4_096))), Ok(1));
        // Eight times 4,096 bytes, each a byte on the wire.
        assert_eq!(heads.take(&frame(HEADERS, END_HEADERS, 3, &[0xbe; 8])), Ok(1));
        let nine = frame(HEADERS, END_HEADERS, 5, &[0xbe; 9]);
        assert_eq!(heads.take(&nine), Err(Refused::TooLarge(5)));
    }

    #[test]
    fn a_head_is_bounded_by_fields_bytes_and_frames() {
        let most = frame(HEADERS, END_HEADERS, 1, &[0x82; FIELDS]);
        assert_eq!(heads().take(&most), Ok(1));
        let more = frame(HEADERS, 0, 1, &[0x82; FIELDS + 1]);
        assert_eq!(heads().take(&more), Err(Refused::TooLarge(1)), "before it ends");
        // New sizes of the table are no fields.
        let sizes = frame(HEADERS, 0, 1, &[0x20; FRAME_BYTES]);
        let more = frame(CONTINUATION, 0, 1, &[0x20; FRAME_BYTES]);
        let one = frame(CONTINUATION, 0, 1, &[0x20]);
        assert_eq!(heads().take(&[&sizes[..], &more].concat()), Ok(0));
        let over = [&sizes[..], &more, &one].concat();
        assert_eq!(heads().take(&over), Err(Refused::TooLarge(1)));
        let empty = frame(CONTINUATION, 0, 1, &[]).repeat(FRAMES);
        let begun = frame(HEADERS, 0, 1, &[0x82]);
        assert_eq!(heads().take(&[begun, empty].concat()), Err(Refused::TooLarge(1)));
    }

    #[test]
    fn what_is_no_order_of_frames_is_refused() {
        let begun = frame(HEADERS, 0, 1, &[0x82]);
        for (what, bytes) in [
            ("another frame", [&begun[..], &frame(SETTINGS, 0, 0, &[])].concat()),
            ("another stream", [&begun[..], &frame(CONTINUATION, 0, 3, &[])].concat()),
            ("no begin", frame(CONTINUATION, END_HEADERS, 1, &[])),
            ("a promise", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82])),
            ("a frame that is too long", frame(DATA, 0, 1, &vec![0; FRAME_BYTES + 1])),
            ("padding alone", frame(HEADERS, END_HEADERS | PADDED, 1, &[1])),
            ("no priority", frame(HEADERS, END_HEADERS | PRIORITY, 1, &[0; 4])),
            ("half a field", frame(HEADERS, END_HEADERS, 1, &[0x40])),
        ] {
            assert_eq!(heads().take(&bytes), Err(Refused::Malformed), "{what}");
        }
    }

    #[test]
    fn settings_announce_the_largest_head() {
        let framework = frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]);
        let told = announced(&[&framework[..], b"rest"].concat()).unwrap();
        let both = [0, 4, 0, 1, 0, 0, 0, 6, 0, 0, 0x80, 0];
        assert_eq!(told, [&frame(SETTINGS, 0, 0, &both)[..], b"rest"].concat());
        assert_eq!(announced(&frame(SETTINGS, 1, 0, &[])), None);
        assert_eq!(announced(&framework[..10]), None);
    }
}
