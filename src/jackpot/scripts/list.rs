//! A list of values as one argument of a script, `MessagePack`: it costs Redis a third of an argument for each value.

use redis::{RedisWrite, ToRedisArgs};
use rmp::encode::{write_array_len, write_str, write_uint};

/// A list that is being written. The script reads it with `cmsgpack.unpack`.
#[derive(Debug, Default)]
pub(super) struct List {
    values: u32,
    bytes: Vec<u8>,
}

impl List {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            values: 0,
            bytes: Vec::with_capacity(bytes),
        }
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.values += 1;
        write_str(&mut self.bytes, text).expect("a vector takes every write");
        self
    }

    /// An integer below 2^53, which is exact in Lua.
    pub(super) fn whole(&mut self, whole: u64) -> &mut Self {
        self.values += 1;
        write_uint(&mut self.bytes, whole).expect("a vector takes every write");
        self
    }

    pub(super) fn count(&mut self, count: usize) -> &mut Self {
        self.whole(count as u64)
    }
}

/// Bytes of the longest head of an array.
const HEAD: usize = 5;

impl ToRedisArgs for List {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        let mut packed = Vec::with_capacity(self.bytes.len() + HEAD);
        write_array_len(&mut packed, self.values).expect("a vector takes every write");
        packed.extend_from_slice(&self.bytes);
        out.write_arg(&packed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_counts_the_values_and_integers_are_integers() {
        let mut list = List::default();
        list.count(3).text("ab").whole(1 << 52);
        let packed = list.to_redis_args().remove(0);
        assert_eq!(packed, [0x93, 3, 0xa2, b'a', b'b', 0xcf, 0, 0x10, 0, 0, 0, 0, 0, 0]);
    }
}
