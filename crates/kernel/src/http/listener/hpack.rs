//! Counts what a compressed head of HTTP/2 (HPACK, RFC 7541) becomes, without making it: a byte can stand for 4 kB of a
//! field that was sent before. The counter has the sizes of the table of fields, and no texts.

use std::collections::VecDeque;

/// What the table counts for each field besides its texts (RFC 7541, 4.1).
const FIELD_BYTES: usize = 32;
/// Largest table: the framework announces no other.
const TABLE_BYTES: usize = 4_096;

/// Lengths of the names that need not be sent (appendix A), and of the values that some of them have.
const KNOWN_NAMES: [usize; 61] = [
    10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15, 15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14, 16, 13, 12, 6, 4,
    4, 6, 7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18, 19, 5, 7, 7, 11, 6, 10, 25, 17, 10, 4, 3, 16,
];
const KNOWN_VALUES: [usize; 16] = [0, 3, 4, 1, 11, 4, 5, 3, 3, 3, 3, 3, 3, 3, 0, 13];

/// Bits of a code of a character, and how many codes have so many (appendix B).
const CODES: [(u32, u64); 21] = [
    (5, 10),
    (6, 26),
    (7, 32),
    (8, 6),
    (10, 5),
    (11, 3),
    (12, 2),
    (13, 6),
    (14, 2),
    (15, 3),
    (19, 3),
    (20, 8),
    (21, 13),
    (22, 26),
    (23, 29),
    (24, 12),
    (25, 4),
    (26, 15),
    (27, 19),
    (28, 29),
    (30, 4),
];
/// Bits of a code, and the first 32 bits that begin a longer one: codes ascend with their length.
const ENDS: [(u32, u64); 21] = ends();
/// The end of a text has this code, and no text may have it.
const END_CODE: u64 = (1 << 30) - 1;

const fn ends() -> [(u32, u64); 21] {
    let mut ends = CODES;
    let (mut end, mut nth) = (0, 0);
    while nth < CODES.len() {
        end += CODES[nth].1 << (32 - CODES[nth].0);
        ends[nth].1 = end;
        nth += 1;
    }
    assert!(end == 1 << 32, "every text of bits is a code");
    ends
}

/// Why a field was not counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It goes on in the next frame.
    More,
    /// It is not HPACK.
    Malformed,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    name: usize,
    value: usize,
}

impl Field {
    fn size(self) -> usize {
        self.name + self.value + FIELD_BYTES
    }
}

/// The counter of one connection.
#[derive(Debug)]
pub(super) struct Counter {
    /// The newest first.
    table: VecDeque<Field>,
    size: usize,
    limit: usize,
}

impl Counter {
    pub(super) fn new() -> Self {
        Self {
            table: VecDeque::new(),
            size: 0,
            limit: TABLE_BYTES,
        }
    }

    /// Takes the next field off `block`. Returns its size as the table counts it, or `None` for a new size of the table.
    pub(super) fn next(&mut self, block: &mut &[u8]) -> Result<Option<usize>, Stop> {
        let mut rest = *block;
        let field = match rest.first().ok_or(Stop::More)? {
            0x80.. => {
                let index = integer(&mut rest, 7)?;
                Some(self.field(index)?)
            }
            0x40.. => {
                let field = self.literal(&mut rest, 6)?;
                self.insert(field);
                Some(field)
            }
            0x20.. => {
                let limit = integer(&mut rest, 5)?;
                if limit > TABLE_BYTES {
                    return Err(Stop::Malformed);
                }
                self.limit = limit;
                self.make_room(0);
                None
            }
            _ => Some(self.literal(&mut rest, 4)?),
        };
        *block = rest;
        Ok(field.map(Field::size))
    }

    /// Counts its texts once both are there.
    fn literal(&self, rest: &mut &[u8], bits: u32) -> Result<Field, Stop> {
        let index = integer(rest, bits)?;
        let name = if index == 0 { Some(text(rest)?) } else { None };
        let value = text(rest)?;
        Ok(Field {
            name: match name {
                Some(name) => name.length()?,
                None => self.field(index)?.name,
            },
            value: value.length()?,
        })
    }

    fn field(&self, index: usize) -> Result<Field, Stop> {
        let nth = index.checked_sub(1).ok_or(Stop::Malformed)?;
        match KNOWN_NAMES.get(nth) {
            Some(name) => Ok(Field {
                name: *name,
                value: KNOWN_VALUES.get(nth).copied().unwrap_or(0),
            }),
            None => self.table.get(nth - KNOWN_NAMES.len()).copied().ok_or(Stop::Malformed),
        }
    }

    /// A field that is larger than the table empties it (4.4).
    fn insert(&mut self, field: Field) {
        self.make_room(field.size());
        if field.size() <= self.limit {
            self.size += field.size();
            self.table.push_front(field);
        }
    }

    fn make_room(&mut self, bytes: usize) {
        while self.size + bytes > self.limit
            && let Some(oldest) = self.table.pop_back()
        {
            self.size -= oldest.size();
        }
    }
}

/// An integer whose first bits share their byte with others (5.1).
fn integer(rest: &mut &[u8], bits: u32) -> Result<usize, Stop> {
    let mask = (1 << bits) - 1;
    let mut value = usize::from(take(rest)?) & mask;
    if value < mask {
        return Ok(value);
    }
    // Five bytes hold any length that fits a frame.
    for shift in [0, 7, 14, 21, 28] {
        let byte = usize::from(take(rest)?);
        value += (byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Stop::Malformed)
}

fn take(rest: &mut &[u8]) -> Result<u8, Stop> {
    let (first, others) = rest.split_first().ok_or(Stop::More)?;
    *rest = others;
    Ok(*first)
}

/// A text as it was sent (5.2).
struct Text<'a> {
    is_coded: bool,
    bytes: &'a [u8],
}

fn text<'a>(rest: &mut &'a [u8]) -> Result<Text<'a>, Stop> {
    let is_coded = *rest.first().ok_or(Stop::More)? >= 0x80;
    let length = integer(rest, 7)?;
    let (bytes, others) = rest.split_at_checked(length).ok_or(Stop::More)?;
    *rest = others;
    Ok(Text { is_coded, bytes })
}

impl Text<'_> {
    /// Its length when it is decoded.
    fn length(&self) -> Result<usize, Stop> {
        if !self.is_coded {
            return Ok(self.bytes.len());
        }
        let mut bytes = self.bytes.iter();
        let (mut held, mut bits, mut length) = (0_u64, 0_u32, 0);
        loop {
            while bits < 32
                && let Some(byte) = bytes.next()
            {
                held = held << 8 | u64::from(*byte);
                bits += 8;
            }
            // The text ends with ones, fewer than a byte.
            let ones = 32_u32.saturating_sub(bits);
            let next = ((held << ones | ((1 << ones) - 1)) >> bits.saturating_sub(32)) & 0xffff_ffff;
            let code = ENDS.iter().find(|(_, end)| next < *end).map_or(0, |(code, _)| *code);
            if code > bits {
                let is_padding = bits < 8 && held == (1 << bits) - 1;
                return if is_padding { Ok(length) } else { Err(Stop::Malformed) };
            }
            if next >> 2 == END_CODE {
                return Err(Stop::Malformed);
            }
            bits -= code;
            held &= (1 << bits) - 1;
            length += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of the fields of a block in hexadecimal digits.
    fn sizes(counter: &mut Counter, block: &str) -> Result<Vec<usize>, Stop> {
        let block = hex::decode(block.replace(' ', "")).unwrap();
        let (mut rest, mut sizes) = (block.as_slice(), Vec::new());
        while !rest.is_empty() {
            sizes.extend(counter.next(&mut rest)?);
        }
        Ok(sizes)
    }

    /// Sizes of fields that are written as in RFC 7541, appendix C.
    fn expected(fields: &[&str]) -> Vec<usize> {
        fields
            .iter()
            .map(|field| field.len() - ": ".len() + FIELD_BYTES)
            .collect()
    }

    #[test]
    fn the_known_fields_are_those_of_the_rfc() {
        let names = ":authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control content-disposition content-encoding content-language content-length content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate";
        assert!(names.split(' ').map(str::len).eq(KNOWN_NAMES));
    }

    /// RFC 7541, C.3 and C.4: the same three requests, plain and coded.
    #[test]
    fn requests_of_one_connection_are_counted_by_their_table() {
        let plain = [
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            "8286 84be 5808 6e6f 2d63 6163 6865",
            "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        ];
        let coded = [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ];
        for blocks in [plain, coded] {
            let mut counter = Counter::new();
            let first = [
                ":method: GET",
                ":scheme: http",
                ":path: /",
                ":authority: www.example.com",
            ];
            assert_eq!(sizes(&mut counter, blocks[0]), Ok(expected(&first)));
            assert_eq!(counter.size, 57);
            let second = [&first[..], &["cache-control: no-cache"]].concat();
            assert_eq!(sizes(&mut counter, blocks[1]), Ok(expected(&second)));
            assert_eq!(counter.size, 110);
            let third = [
                ":method: GET",
                ":scheme: https",
                ":path: /index.html",
                ":authority: www.example.com",
                "custom-key: custom-value",
            ];
            assert_eq!(sizes(&mut counter, blocks[2]), Ok(expected(&third)));
            assert_eq!(counter.size, 164);
        }
    }

    #[test]
    fn the_table_forgets_the_oldest_and_a_field_that_is_too_large_empties_it() {
        let mut counter = Counter::new();
        // `a: bb` twice.
        assert_eq!(sizes(&mut counter, "4001 6102 6262 4001 6102 6262"), Ok(vec![35, 35]));
        assert_eq!(counter.size, 70);
        // A table of 64 bytes has room for one, one of 0 for none.
        assert_eq!(sizes(&mut counter, "3f21 be"), Ok(vec![35]));
        assert_eq!(sizes(&mut counter, "bf"), Err(Stop::Malformed));
        assert_eq!(sizes(&mut counter, "20 be"), Err(Stop::Malformed));
        assert_eq!(sizes(&mut counter, "3fe11f 4001 6102 6262 be"), Ok(vec![35, 35]));
        let large = format!("4001 61 7f 91 1f {}", "62".repeat(127 + 0x11 + (0x1f << 7)));
        assert_eq!(sizes(&mut counter, &large), Ok(vec![1 + 4_112 + 32]));
        assert_eq!(counter.size, 0);
    }

    #[test]
    fn what_is_no_hpack_is_refused_and_what_is_not_whole_waits() {
        for malformed in [
            "80",
            "be",
            "3fe21f",
            "ffffffffffffff",
            // Padding of a whole byte, of zeros, and the code of the end.
            "000161 82 1fff",
            "000161 81 18",
            "000161 84 ffffffff",
        ] {
            assert_eq!(
                sizes(&mut Counter::new(), malformed),
                Err(Stop::Malformed),
                "{malformed}"
            );
        }
        let whole = "0088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf".replace(' ', "");
        for cut in (2..whole.len()).step_by(2) {
            assert_eq!(sizes(&mut Counter::new(), &whole[..cut]), Err(Stop::More), "{cut}");
        }
        assert_eq!(sizes(&mut Counter::new(), &whole), Ok(vec![10 + 12 + 32]));
    }
}
