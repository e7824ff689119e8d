//! One declaration of each value that Rust and Lua exchange: its fields with names, types and meanings.
//!
//! [`record!`](crate::record) declares a text that Redis keeps: the Rust type, its reader and its writer. [`lua`] makes the
//! reader and the writer in Lua from the same declaration, and [`page`] the reference. A test compares both with the
//! committed files, so that no side can differ. What scripts reply is declared in the same way, by
//! `crate::subject::reply` of the service.
//!
//! A record is fields between single spaces. A record of several kinds begins with a letter, which names the kind.

pub mod lua;
pub mod packed;
pub mod page;

use crate::ids::Id;

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

    /// Reads an integer of a reply.
    fn read_integer(number: i64) -> Option<Self> {
        Self::read(&number.to_string())
    }
}

macro_rules! integer {
    ($type:ty) => {
        impl Field for $type {
            const TYPE: &'static str = "integer";
            const PATTERN: &'static str = "%d+";

            fn read(text: &str) -> Option<Self> {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| text.parse().ok())?
            }

            fn write(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }

            fn read_integer(number: i64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    };
}

integer!(u64);
integer!(u32);
integer!(i64);

impl Field for Id {
    const TYPE: &'static str = "id";
    const PATTERN: &'static str = "%S+";

    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

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

/// A declared field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldShape {
    /// Its name in Lua and the reference.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// [`Field::TYPE`].
    pub of: &'static str,
    /// [`Field::PATTERN`].
    pub pattern: &'static str,
    /// [`Field::REPLY`].
    pub reply: &'static str,
    /// Unit, if any.
    pub unit: &'static str,
    /// When an event has it; empty for always.
    pub when: &'static str,
}

impl FieldShape {
    /// Declares a field of type `T`.
    #[must_use]
    pub const fn new<T: Field>(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            of: T::TYPE,
            pattern: T::PATTERN,
            reply: T::REPLY,
            unit: unit_of(name),
            when: "",
        }
    }

    /// Declares a field whose text has a form of its own. `of` names the form.
    #[must_use]
    pub const fn text(name: &'static str, doc: &'static str, of: &'static str) -> Self {
        Self {
            of,
            ..Self::new::<String>(name, doc)
        }
    }
}

/// The unit at the end of a field's name in Rust.
#[must_use]
pub const fn unit_of(name: &str) -> &'static str {
    match name.as_bytes() {
        [.., b'_', b'm', b's'] => "ms",
        [.., b'_', b's'] => "s",
        _ => "",
    }
}

/// A declared event. Its fields are names and texts in a Redis stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventShape {
    /// The value of its field `type`.
    pub kind: &'static str,
    /// What happened.
    pub doc: &'static str,
    /// Its fields, less those of every event.
    pub fields: Vec<FieldShape>,
}

/// A kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindShape {
    /// Its letter.
    pub letter: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Its fields, in order.
    pub fields: &'static [FieldShape],
}

impl KindShape {
    /// Its letter and the names of its fields, as they follow each other.
    #[must_use]
    pub fn form(&self) -> String {
        let names = self.fields.iter().map(|field| field.name);
        [self.letter].into_iter().chain(names).collect::<Vec<_>>().join(" ")
    }
}

/// A declared record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordShape {
    /// Its name in Lua: `read_<name>` and `write_<name>`.
    pub name: &'static str,
    /// What it is and where it is kept.
    pub doc: &'static str,
    /// Its kinds.
    pub kinds: &'static [KindShape],
}

/// The fields of a record after its letter; `None` for another number of them.
#[must_use]
pub fn split<const N: usize>(text: &str) -> Option<[&str; N]> {
    let mut parts = text.split(' ');
    let mut fields = [""; N];
    for field in &mut fields {
        *field = parts.next()?;
    }
    parts.next().is_none().then_some(fields)
}

/// Declares a record with several kinds.
///
/// ```
/// use jackpot_core::ids::Id;
///
/// jackpot_core::record! {
///     /// A place, in the hash `places`.
///     pub enum Place as "place" {
///         /// It waits.
///         "w" Waiting {
///             /// When it was made, ms.
///             joined_ms: i64,
///             /// Who waits.
///             user: Id,
///         }
///     }
/// }
///
/// let place = Place::parse("w 7 anna").unwrap();
/// assert_eq!(place.to_string(), "w 7 anna");
/// assert!(Place::parse("w 7").is_err() && Place::parse("x 7 anna").is_err());
/// assert_eq!(Place::SHAPE.kinds[0].fields[1].name, "user");
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $name:ident as $lua:literal {
            $(
                $(#[doc = $kind_doc:literal])+
                $letter:literal $kind:ident { $( $(#[doc = $field_doc:literal])+ $field:ident: $type:ty ),+ $(,)? }
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $vis enum $name {
            $(
                $(#[doc = $kind_doc])+
                $kind { $( $(#[doc = $field_doc])+ $field: $type ),+ },
            )+
        }

        impl $name {
            /// The declaration.
            pub const SHAPE: $crate::wire::RecordShape = $crate::wire::RecordShape {
                name: $lua,
                doc: concat!($($doc, "\n"),+),
                kinds: &[$(
                    $crate::wire::KindShape {
                        letter: $letter,
                        doc: concat!($($kind_doc, "\n"),+),
                        fields: &[$(
                            $crate::wire::FieldShape::new::<$type>(
                                stringify!($field),
                                concat!($($field_doc, "\n"),+),
                            )
                        ),+],
                    }
                ),+],
            };

            /// Reads what a script wrote.
            pub fn parse(text: &str) -> Result<Self, $crate::unreadable::Unreadable> {
                Self::read(text).ok_or_else(|| $crate::unreadable::Unreadable::of(text))
            }

            fn read(text: &str) -> Option<Self> {
                let (letter, rest) = text.split_once(' ')?;
                match letter {
                    $(
                        $letter => {
                            let [$($field),+] = $crate::wire::split(rest)?;
                            Some(Self::$kind { $( $field: <$type as $crate::wire::Field>::read($field)? ),+ })
                        }
                    )+
                    _ => None,
                }
            }
        }

        impl $crate::wire::Field for $name {
            const TYPE: &'static str = concat!("record of a ", $lua);
            const PATTERN: &'static str = ".+";

            fn read(text: &str) -> Option<Self> {
                Self::read(text)
            }

            fn write(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut text = String::new();
                match self {
                    $(
                        Self::$kind { $($field),+ } => {
                            text.push_str($letter);
                            $(
                                text.push(' ');
                                $crate::wire::Field::write($field, &mut text);
                            )+
                        }
                    )+
                }
                f.write_str(&text)
            }
        }
    };
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

    #[test]
    fn the_number_of_fields_is_exact() {
        assert_eq!(split::<2>("a b"), Some(["a", "b"]));
        assert_eq!(split::<2>("a"), None);
        assert_eq!(split::<2>("a b c"), None);
        assert_eq!(split::<2>("a "), Some(["a", ""]));
    }
}
