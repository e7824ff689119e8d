//! A list of values as one argument of a script, `MessagePack`: it costs Redis a third of an argument for each value.

use redis::{RedisWrite, ToRedisArgs};
use rmp::encode::{write_array_len, write_bool, write_str, write_str_len, write_uint};

/// A list that is being written. The script reads it with `unpack_sent` of `lua/subject/sent.lua`.
#[derive(Debug, Default)]
pub struct List {
    values: u32,
    bytes: Vec<u8>,
}

impl List {
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            values: 0,
            bytes: Vec::with_capacity(bytes),
        }
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.values += 1;
        write_str(&mut self.bytes, text).expect("a vector takes every write");
        self
    }

    /// A text of any bytes.
    pub fn raw(&mut self, text: &[u8]) -> &mut Self {
        self.values += 1;
        let length = u32::try_from(text.len()).expect("a value of Redis has at most 512 MiB");
        write_str_len(&mut self.bytes, length).expect("a vector takes every write");
        self.bytes.extend_from_slice(text);
        self
    }

    /// An integer below 2^53, which is exact in Lua.
    pub fn whole(&mut self, whole: u64) -> &mut Self {
        self.values += 1;
        write_uint(&mut self.bytes, whole).expect("a vector takes every write");
        self
    }

    pub fn count(&mut self, count: usize) -> &mut Self {
        self.whole(count as u64)
    }
}

/// Most values that stand one after the other. The stack of a script holds some 8,000.
const MAX_IN_SEQUENCE: u32 = 1_000;
/// Bytes of the longest head of an array, and of its first value.
const HEAD: usize = 6;

impl ToRedisArgs for List {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        if self.values <= MAX_IN_SEQUENCE {
            out.write_arg(&self.bytes);
            return;
        }
        let mut packed = Vec::with_capacity(self.bytes.len() + HEAD);
        write_array_len(&mut packed, self.values + 1).expect("a vector takes every write");
        write_bool(&mut packed, true).expect("a vector takes every write");
        packed.extend_from_slice(&self.bytes);
        out.write_arg(&packed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_stand_one_after_the_other_and_integers_are_integers() {
        let mut list = List::default();
        list.count(3).text("ab").whole(1 << 52).raw(&[0xff]);
        let packed = list.to_redis_args().remove(0);
        assert_eq!(
            packed,
            [3, 0xa2, b'a', b'b', 0xcf, 0, 0x10, 0, 0, 0, 0, 0, 0, 0xa1, 0xff]
        );
    }

    #[test]
    fn many_values_are_an_array_that_begins_with_true() {
        let mut list = List::default();
        for _ in 0..=MAX_IN_SEQUENCE {
            list.count(7);
        }
        let packed = list.to_redis_args().remove(0);
        assert_eq!((&packed[..5], packed.len()), (&[0xdc, 0x03, 0xea, 0xc3, 7][..], 1005));
    }
}
