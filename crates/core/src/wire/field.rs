//! The types of fields: how each is read and written, alone and in a list.

use super::Words;
use crate::currency::Currency;
use crate::ids::{Id, PersonId};
use crate::money::Minor;

/// The type of a field: its text in Redis.
pub trait Field: Sized {
    /// The name of the type in the reference.
    const TYPE: &'static str;
    /// Lua pattern of its text.
    const PATTERN: &'static str;
    /// How a value in Lua becomes one of a reply: `%s` stands for the value.
    const REPLY: &'static str = "%s";

    /// Reads its text.
    fn read(text: &str) -> Option<Self>;
    /// Writes its text.
    fn write(&self, out: &mut String);

    fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Reads an integer of a reply.
    fn read_integer(number: i64) -> Option<Self> {
        Self::read(&number.to_string())
    }
}

fn begins_with_digit(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

macro_rules! integer {
    ($type:ty) => {
        impl Field for $type {
            const TYPE: &'static str = "integer";
            const PATTERN: &'static str = "%d+";

            fn read(text: &str) -> Option<Self> {
                // The parser would take a sign; after a first digit it takes only digits.
                begins_with_digit(text).then(|| text.parse().ok())?
            }

            fn write(&self, out: &mut String) {
                out.push_str(itoa::Buffer::new().format(*self));
            }

            fn read_integer(number: i64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    };
}

/// An integer that can be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed(pub i64);

impl Field for Signed {
    const TYPE: &'static str = "integer, signed";
    const PATTERN: &'static str = "%-?%d+";

    fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        begins_with_digit(digits).then(|| text.parse().ok().map(Self))?
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

integer!(u64);
integer!(u32);
integer!(i64);

/// Minor units, at most 2^53 - 1.
impl Field for Minor {
    const TYPE: &'static str = "minor units";
    const PATTERN: &'static str = "%d+";

    fn read(text: &str) -> Option<Self> {
        Self::try_from(u64::read(text)?).ok()
    }

    fn write(&self, out: &mut String) {
        self.get().write(out);
    }
}

macro_rules! parsed {
    ($type:ty: $name:literal $pattern:literal) => {
        impl Field for $type {
            const TYPE: &'static str = $name;
            const PATTERN: &'static str = $pattern;

            fn read(text: &str) -> Option<Self> {
                Self::parse(text).ok()
            }

            fn write(&self, out: &mut String) {
                out.push_str(self.as_str());
            }
        }
    };
}

parsed!(Id: "id" "%S+");
parsed!(PersonId: "id of a player or user" "%S+");
parsed!(Currency: "currency" "%w+");

impl Field for String {
    const TYPE: &'static str = "text";
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn write(&self, out: &mut String) {
        out.push_str(self);
    }
}

/// 1 or 0.
impl Field for bool {
    const TYPE: &'static str = "1 or 0";
    const PATTERN: &'static str = "[01]";
    const REPLY: &'static str = "%s and 1 or 0";

    fn read(text: &str) -> Option<Self> {
        match text {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        out.push(if *self { '1' } else { '0' });
    }
}

/// Empty for none. Only in replies: a record has no empty field.
impl<T: Field> Field for Option<T> {
    const TYPE: &'static str = T::TYPE;
    const PATTERN: &'static str = "%S*";
    const REPLY: &'static str = "%s or ''";

    fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            Some(None)
        } else {
            T::read(text).map(Some)
        }
    }

    fn write(&self, out: &mut String) {
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read_integer(number: i64) -> Option<Self> {
        T::read_integer(number).map(Some)
    }
}

/// A field that is `-` for none, where an empty text can't stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrDash<T>(pub Option<T>);

impl<T: Field> Field for OrDash<T> {
    const TYPE: &'static str = T::TYPE;
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        if text == "-" {
            Some(Self(None))
        } else {
            T::read(text).map(|value| Self(Some(value)))
        }
    }

    fn write(&self, out: &mut String) {
        match &self.0 {
            Some(value) => value.write(out),
            None => out.push('-'),
        }
    }
}

/// Where the character of a list stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Between two elements.
    Between(char),
    /// After each element. A list without elements is empty.
    After(char),
}

/// An element of a list within a field.
pub trait Item: Field {
    /// What separates the elements.
    const LIST: Stands;
    /// Whether a list can have none. It is `-` then; empty is read as such a list too.
    const CAN_BE_NONE: bool;
    /// The name of the list in the reference.
    const LIST_TYPE: &'static str;
}

impl Item for u64 {
    const LIST: Stands = Stands::Between(',');
    const CAN_BE_NONE: bool = true;
    const LIST_TYPE: &'static str = "integers with commas, `-` for none";
}

impl Item for Minor {
    const LIST: Stands = Stands::Between(',');
    const CAN_BE_NONE: bool = true;
    const LIST_TYPE: &'static str = "minor units with commas, `-` for none";
}

impl<T: Item> Field for Vec<T> {
    const TYPE: &'static str = T::LIST_TYPE;
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        let (text, by) = match T::LIST {
            Stands::Between(_) if T::CAN_BE_NONE && matches!(text, "" | "-") => return Some(Self::new()),
            Stands::After(_) if text.is_empty() => return Some(Self::new()),
            Stands::Between(by) => (text, by),
            Stands::After(by) => (text.strip_suffix(by)?, by),
        };
        let (mut all, mut items) = (Self::new(), Words::by(text, by));
        while let Some(item) = items.word() {
            all.push(T::read(item)?);
        }
        Some(all)
    }

    fn write(&self, out: &mut String) {
        if let (Stands::Between(_), true) = (T::LIST, self.is_empty()) {
            out.push('-');
        }
        for (i, item) in self.iter().enumerate() {
            match T::LIST {
                Stands::Between(by) if i > 0 => out.push(by),
                _ => {}
            }
            item.write(out);
            if let Stands::After(by) = T::LIST {
                out.push(by);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Field>(text: &str) -> Option<T> {
        T::read(text)
    }

    #[test]
    fn a_field_reads_what_it_writes() {
        let mut out = String::new();
        7_u64.write(&mut out);
        true.write(&mut out);
        Some(5_i64).write(&mut out);
        None::<i64>.write(&mut out);
        assert_eq!(out, "715");
        assert_eq!(read("7"), Some(7_u64));
        assert_eq!(read("1"), Some(true));
        assert_eq!(read("5"), Some(Some(5_i64)));
        assert_eq!(read(""), Some(None::<i64>));
    }

    #[test]
    fn a_field_refuses_what_no_script_writes() {
        for text in ["", "-1", "+1", "1.0", "x", "18446744073709551616"] {
            assert_eq!(read::<u64>(text), None, "{text}");
        }
        assert_eq!(read::<i64>("9223372036854775808"), None);
        assert_eq!(read::<bool>("2"), None);
        assert_eq!(read::<Option<u64>>("x"), None);
        assert_eq!(u64::read_integer(-1), None);
    }
}
