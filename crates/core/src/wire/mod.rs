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

/// How a declared reply begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// With this code and the mark. The function in Lua is `<name>_reply`.
    Code(&'static str),
    /// With one of these codes, which the caller of the function gives it, and the mark.
    Codes(&'static str),
    /// It is a part of a reply, which goes on with these values. The function in Lua is `append_<name>`.
    Part,
}

/// A declared reply, or a part of replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyShape {
    /// Its name in Lua.
    pub name: &'static str,
    /// The scripts that make it.
    pub scripts: &'static str,
    pub head: Head,
    /// What it says.
    pub doc: &'static str,
    /// Its values, in order.
    pub fields: Vec<FieldShape>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindShape {
    /// Its letter.
    pub letter: &'static str,
    /// Its name in Rust.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Its fields, in order.
    pub fields: Vec<FieldShape>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordShape {
    /// Its name in Lua: `read_<name>`.
    pub name: &'static str,
    /// What it is and where it is kept.
    pub doc: &'static str,
    /// Its kinds.
    pub kinds: Vec<KindShape>,
}

/// The fields of a record that are not read yet.
#[derive(Debug, Clone)]
pub struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    /// All of them: what stands between single spaces.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self(text.split(' '))
    }

    /// Reads the next field, or the next fields of a part; `None` when there is none, or one of another form.
    pub fn take<T: WordPart>(&mut self) -> Option<T> {
        T::take(self)
    }

    /// Reads a letter, which no field is.
    pub fn letter(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// Whether all are read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.clone().next().is_none()
    }
}

/// A field of a record, or several fields that belong together ([`words!`](crate::words)).
pub trait WordPart: Sized {
    /// The fields. A part of one field is named and documented so.
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape>;
    /// Reads them.
    fn take(words: &mut Words<'_>) -> Option<Self>;
    /// Writes them, a space before each.
    fn put(&self, out: &mut String);
}

/// A record has no empty field.
impl<T: Field> WordPart for T {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::new::<T>(name, doc)]
    }

    fn take(words: &mut Words<'_>) -> Option<Self> {
        words.0.next().filter(|word| !word.is_empty()).and_then(T::read)
    }

    fn put(&self, out: &mut String) {
        out.push(' ');
        self.write(out);
    }
}

/// Declares fields of records that belong together.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:path),+)])?
        $vis:vis struct $name:ident { $( $(#[doc = $field_doc:literal])+ $field_vis:vis $field:ident: $type:ty ),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $(#[derive($($derive),+)])?
        $vis struct $name { $( $(#[doc = $field_doc])+ $field_vis $field: $type ),+ }

        impl $crate::wire::WordPart for $name {
            fn shapes(_: &'static str, _: &'static str) -> Vec<$crate::wire::FieldShape> {
                let fields = [ $(
                    <$type as $crate::wire::WordPart>::shapes(stringify!($field), concat!($($field_doc, "\n"),+))
                ),+ ];
                fields.concat()
            }

            fn take(words: &mut $crate::wire::Words<'_>) -> Option<Self> {
                Some(Self { $( $field: words.take()? ),+ })
            }

            fn put(&self, out: &mut String) {
                $( $crate::wire::WordPart::put(&self.$field, out); )+
            }
        }
    };
}

/// Declares a record with several kinds. It is an enum; or a struct with an enum, and the fields that every kind has at
/// its end.
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
/// assert_eq!(Place::shape().kinds[0].fields[1].name, "user");
///
/// jackpot_core::record! {
///     /// A bet, in the hash `bets`.
///     pub struct Bet as "bet" {
///         /// What became of it.
///         pub state: pub enum State {
///             /// It won.
///             "w" Won {
///                 /// Minor units.
///                 amount: u64,
///             }
///             /// It lost.
///             "l" Lost(
///                 /// When, ms.
///                 at_ms: i64,
///             )
///         },
///         /// Whose it is.
///         pub user: Id,
///     }
/// }
///
/// let bet = Bet::parse("l 7 anna").unwrap();
/// assert_eq!((bet.to_string().as_str(), bet.state), ("l 7 anna", State::Lost(7)));
/// assert_eq!(Bet::shape().kinds[0].form(), "w amount user");
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
            #[must_use]
            pub fn shape() -> $crate::wire::RecordShape {
                $crate::wire::RecordShape {
                    name: $lua,
                    doc: concat!($($doc, "\n"),+),
                    kinds: vec![ $( $crate::wire::KindShape {
                        letter: $letter,
                        name: stringify!($kind),
                        doc: concat!($($kind_doc, "\n"),+),
                        fields: [ $(
                            <$type as $crate::wire::WordPart>::shapes(
                                stringify!($field),
                                concat!($($field_doc, "\n"),+),
                            )
                        ),+ ].concat(),
                    } ),+ ],
                }
            }

            fn read(text: &str) -> Option<Self> {
                let mut words = $crate::wire::Words::new(text);
                let read = match words.letter()? {
                    $( $letter => Self::$kind { $( $field: words.take()? ),+ }, )+
                    _ => return None,
                };
                words.is_empty().then_some(read)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut text = String::new();
                match self {
                    $(
                        Self::$kind { $($field),+ } => {
                            text.push_str($letter);
                            $( $crate::wire::WordPart::put($field, &mut text); )+
                        }
                    )+
                }
                f.write_str(&text)
            }
        }

        $crate::record!(@field $name, $lua);
    };
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident as $lua:literal {
            $(#[doc = $state_doc:literal])+
            $state_vis:vis $state:ident: $states_vis:vis enum $states:ident {
                $(
                    $(#[doc = $kind_doc:literal])+
                    $letter:literal $kind:ident
                    $( ( $( $(#[doc = $part_doc:literal])+ $part:ident: $part_type:ty ),+ $(,)? ) )?
                    $( { $( $(#[doc = $field_doc:literal])+ $field:ident: $type:ty ),+ $(,)? } )?
                )+
            },
            $( $(#[doc = $tail_doc:literal])+ $tail_vis:vis $tail:ident: $tail_type:ty ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $vis struct $name {
            $( $(#[doc = $tail_doc])+ $tail_vis $tail: $tail_type, )+
            $(#[doc = $state_doc])+
            $state_vis $state: $states,
        }

        $(#[doc = $state_doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $states_vis enum $states {
            $(
                $(#[doc = $kind_doc])+
                $kind
                $( ( $( $(#[doc = $part_doc])+ $part_type ),+ ) )?
                $( { $( $(#[doc = $field_doc])+ $field: $type ),+ } )?,
            )+
        }

        impl $name {
            /// The declaration.
            #[must_use]
            pub fn shape() -> $crate::wire::RecordShape {
                let tail = [ $(
                    <$tail_type as $crate::wire::WordPart>::shapes(stringify!($tail), concat!($($tail_doc, "\n"),+))
                ),+ ].concat();
                $crate::wire::RecordShape {
                    name: $lua,
                    doc: concat!($($doc, "\n"),+),
                    kinds: vec![ $( $crate::wire::KindShape {
                        letter: $letter,
                        name: stringify!($kind),
                        doc: concat!($($kind_doc, "\n"),+),
                        fields: [
                            $( $(
                                <$part_type as $crate::wire::WordPart>::shapes(
                                    stringify!($part),
                                    concat!($($part_doc, "\n"),+),
                                ),
                            )+ )?
                            $( $(
                                <$type as $crate::wire::WordPart>::shapes(
                                    stringify!($field),
                                    concat!($($field_doc, "\n"),+),
                                ),
                            )+ )?
                            tail.clone(),
                        ].concat(),
                    } ),+ ],
                }
            }

            fn read(text: &str) -> Option<Self> {
                let mut words = $crate::wire::Words::new(text);
                let $state = match words.letter()? {
                    $(
                        $letter => $states::$kind
                            $( ( $( words.take::<$part_type>()? ),+ ) )?
                            $( { $( $field: words.take()? ),+ } )?,
                    )+
                    _ => return None,
                };
                let read = Self { $( $tail: words.take()?, )+ $state };
                words.is_empty().then_some(read)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut text = String::new();
                match &self.$state {
                    $(
                        $states::$kind $( ( $($part),+ ) )? $( { $($field),+ } )? => {
                            text.push_str($letter);
                            $( $( $crate::wire::WordPart::put($part, &mut text); )+ )?
                            $( $( $crate::wire::WordPart::put($field, &mut text); )+ )?
                        }
                    )+
                }
                $( $crate::wire::WordPart::put(&self.$tail, &mut text); )+
                f.write_str(&text)
            }
        }

        $crate::record!(@field $name, $lua);
    };
    (@field $name:ident, $lua:literal) => {
        impl $name {
            /// Reads what a script wrote.
            pub fn parse(text: &str) -> Result<Self, $crate::unreadable::Unreadable> {
                Self::read(text).ok_or_else(|| $crate::unreadable::Unreadable::of(text))
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
    fn the_fields_of_a_record_are_taken_in_turn_and_none_is_empty() {
        let mut words = Words::new("i 7 anna");
        assert_eq!((words.letter(), words.take::<u64>()), (Some("i"), Some(7)));
        assert!(!words.is_empty());
        assert_eq!(words.take::<String>().as_deref(), Some("anna"));
        assert!(words.is_empty() && words.take::<String>().is_none());
        let mut words = Words::new("i  anna");
        assert!(words.letter().is_some() && words.take::<String>().is_none());
    }
}
