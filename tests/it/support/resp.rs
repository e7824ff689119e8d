//! Where a RESP frame ends: as much of the protocol as the proxy needs (RESP2, and RESP3 but for streamed types).

/// Length in bytes of the first complete frame in `bytes`; `None` when it is not complete yet.
pub fn frame_length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|window| window == b"\r\n")? + 2;
    let count = || std::str::from_utf8(&bytes[1..line - 2]).ok()?.parse::<i64>().ok();
    match bytes[0] {
        b'$' | b'=' | b'!' => {
            let end = usize::try_from(count()?).map_or(line, |length| line + length + 2);
            (bytes.len() >= end).then_some(end)
        }
        b'*' | b'~' | b'>' => elements(bytes, line, count()?),
        b'%' => elements(bytes, line, count()?.checked_mul(2)?),
        _ => Some(line),
    }
}

/// An error reply: Redis executed nothing, or says so.
pub fn is_error(frame: &[u8]) -> bool {
    matches!(frame.first(), Some(b'-' | b'!'))
}

/// A message that answers no command.
pub fn is_push(frame: &[u8]) -> bool {
    frame.first() == Some(&b'>')
}

/// A null array has the count -1, and no elements.
fn elements(bytes: &[u8], start: usize, count: i64) -> Option<usize> {
    let mut end = start;
    for _ in 0..count.max(0) {
        end += frame_length(bytes.get(end..)?)?;
    }
    Some(end)
}

#[test]
fn frames_end_where_the_protocol_says() {
    let whole: [&[u8]; 10] = [
        b"+OK\r\n",
        b"-ERR no\r\n",
        b":12\r\n",
        b"$3\r\na\r\n\r\n",
        b"$-1\r\n",
        b"*-1\r\n",
        b"*0\r\n",
        b"*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
        b"%1\r\n+k\r\n$1\r\nv\r\n",
        b">2\r\n+message\r\n+x\r\n",
    ];
    for frame in whole {
        assert_eq!(frame_length(frame), Some(frame.len()), "{}", frame.escape_ascii());
        let followed = [frame, b"+next\r\n"].concat();
        assert_eq!(
            frame_length(&followed),
            Some(frame.len()),
            "{} and another",
            frame.escape_ascii()
        );
        for end in 0..frame.len() {
            assert_eq!(
                frame_length(&frame[..end]),
                None,
                "the first {end} bytes of {}",
                frame.escape_ascii()
            );
        }
    }
}
