//! One declaration of each value that Rust and Lua exchange: its fields with names, types and meanings.
//!
//! [`record!`](crate::record) declares a text that Redis keeps: the Rust type, its reader and its writer. [`lua`] makes the
//! reader and the writer in Lua from the same declaration when the service starts, and [`page`] the reference. So no side can
//! differ. What scripts reply is declared in the same way, by
//! `jackpot_kernel::reply`.
//!
//! A record is fields between single spaces, or between another character. A record of several kinds begins with a
//! letter, which names the kind; or the letter stands after the fields that every kind has. A field can be a list.

pub mod declared;
pub mod event;
mod field;
pub mod lua;
pub mod packed;
pub mod page;
mod shape;

pub use field::{Field, Item, OrDash, Signed, Stands};
pub use shape::{EventShape, FieldShape, Head, KindShape, RecordShape, ReplyShape, unit_of};

/// The fields of a record that are not read yet.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    /// `None` when all are read.
    rest: Option<&'a str>,
    by: u8,
}

impl<'a> Words<'a> {
    /// All of them: what stands between single spaces.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::by(text, ' ')
    }

    /// All of them: what stands between this character, which is ASCII.
    #[must_use]
    pub fn by(text: &'a str, by: char) -> Self {
        assert!(by.is_ascii(), "records have ASCII between their fields");
        Self {
            rest: Some(text),
            by: by as u8,
        }
    }

    /// Reads the next field, or the next fields of a part; `None` when there is none, or one of another form.
    pub fn take<T: WordPart>(&mut self) -> Option<T> {
        T::take(self)
    }

    /// Reads the text of the next field, or a letter, which no field is.
    pub fn word(&mut self) -> Option<&'a str> {
        let text = self.rest?;
        let (bytes, mut at) = (text.as_bytes(), 0);
        // Most fields have a few bytes: this loop is faster than `str::split`.
        while at < bytes.len() {
            if bytes[at] == self.by {
                self.rest = Some(&text[at + 1..]);
                return Some(&text[..at]);
            }
            at += 1;
        }
        self.rest = None;
        Some(text)
    }

    /// Whether all are read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_none()
    }
}

/// A field of a record, or several fields that belong together ([`words!`](crate::words)).
pub trait WordPart: Sized {
    /// The fields. A part of one field is named and documented so.
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape>;
    /// Reads them.
    fn take(words: &mut Words<'_>) -> Option<Self>;
    /// Writes them, this character before each.
    fn put(&self, out: &mut String, by: char);
}

/// A record has no empty field.
impl<T: Field> WordPart for T {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::new::<T>(name, doc)]
    }

    fn take(words: &mut Words<'_>) -> Option<Self> {
        words.word().filter(|word| !word.is_empty()).and_then(T::read)
    }

    fn put(&self, out: &mut String, by: char) {
        out.push(by);
        self.write(out);
    }
}

/// A text without its first character, in constants.
#[doc(hidden)]
#[must_use]
pub const fn without_first(text: &'static str) -> &'static str {
    text.split_at(1).1
}

/// Declares fields of records that belong together.
///
/// With `by` they are one text: a record without kinds, or a value of several parts within a field. `list` names the
/// character between two of them in a list, which has at least one; `each` the character after each.
///
/// ```
/// use jackpot_core::wire::Field;
///
/// jackpot_core::words! {
///     /// A price of a thing.
///     pub struct Price as "price" by '+' list ',' {
///         /// Whose.
///         pub thing: String,
///         /// Minor units.
///         pub amount: u64,
///     }
/// }
///
/// let prices = Vec::<Price>::read("tea+3,milk+1").unwrap();
/// assert_eq!((prices[1].amount, prices.text().as_str()), (1, "tea+3,milk+1"));
/// assert_eq!(Price::shape().form(None), "thing+amount");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:path),+)])?
        $vis:vis struct $name:ident as $lua:literal by $by:literal $(list $list:literal)? $(each $each:literal)? {
            $( $(#[doc = $field_doc:literal])+ $field_vis:vis $field:ident: $type:ty ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $(#[derive($($derive),+)])?
        $vis struct $name { $( $(#[doc = $field_doc])+ $field_vis $field: $type ),+ }

        impl $name {
            /// The declaration.
            #[must_use]
            pub fn shape() -> $crate::wire::RecordShape {
                let fields = [ $(
                    <$type as $crate::wire::WordPart>::shapes(stringify!($field), concat!($($field_doc, "\n"),+))
                ),+ ];
                $crate::wire::RecordShape {
                    name: $lua,
                    doc: concat!($($doc, "\n"),+),
                    by: $by,
                    end: concat!($($each)?),
                    head: fields.concat(),
                    kinds: Vec::new(),
                }
            }

            /// Reads what was written.
            pub fn parse(text: &str) -> Result<Self, $crate::unreadable::Unreadable> {
                $crate::wire::Field::read(text).ok_or_else(|| $crate::unreadable::Unreadable::of(text))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::wire::Field::text(self))
            }
        }

        impl $crate::wire::Field for $name {
            const TYPE: &'static str = $crate::wire::without_first(concat!($($by, stringify!($field)),+));
            const PATTERN: &'static str = "%S+";

            fn read(text: &str) -> Option<Self> {
                let mut words = $crate::wire::Words::by(text, $by);
                let read = Self { $( $field: words.take()? ),+ };
                words.is_empty().then_some(read)
            }

            fn write(&self, out: &mut String) {
                let begins = out.len();
                $( $crate::wire::WordPart::put(&self.$field, out, $by); )+
                out.remove(begins);
            }
        }

        $( $crate::words!(@item $name, Between($list), concat!("`", $list, "`"), " between two"); )?
        $( $crate::words!(@item $name, After($each), concat!("`", $each, "`"), " after each"); )?
    };
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

            fn put(&self, out: &mut String, by: char) {
                $( $crate::wire::WordPart::put(&self.$field, out, by); )+
            }
        }
    };
    (@item $name:ident, $stands:ident($by:literal), $shown:expr, $where:literal) => {
        impl $crate::wire::Item for $name {
            const LIST: $crate::wire::Stands = $crate::wire::Stands::$stands($by);
            const CAN_BE_NONE: bool = false;
            const LIST_TYPE: &'static str = concat!("list of `", stringify!($name), "`, ", $shown, $where);
        }
    };
}

/// Declares a record with several kinds. It is an enum; a struct with an enum, and the fields that every kind has at its
/// end; or a struct with the fields that every kind has at its beginning, and an enum. The last form can have a kind
/// without a letter (`else`), another character between its fields (`by`), and a character after each in a list (`each`).
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
/// let shape = Bet::shape();
/// assert_eq!(shape.form(Some(&shape.kinds[0])), "w amount user");
///
/// jackpot_core::record! {
///     /// A step of a game.
///     pub struct Step as "step" by ',' each ';' {
///         /// From 1.
///         pub number: u64,
///     }
///     /// What happened.
///     pub what: pub enum What {
///         /// It gave points.
///         "points" Points {
///             /// How many.
///             points: u64,
///         }
///         /// It was skipped.
///         "skip" Skipped
///     } else Nothing: "Nothing happened."
/// }
///
/// use jackpot_core::wire::Field;
/// let steps = Vec::<Step>::read("1;2,points,30;3,skip;").unwrap();
/// assert_eq!((&steps[0].what, &steps[1].what), (&What::Nothing, &What::Points { points: 30 }));
/// assert_eq!(steps.text(), "1;2,points,30;3,skip;");
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
                    by: ' ',
                    end: "",
                    head: Vec::new(),
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
                let read = match words.word()? {
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
                            $( $crate::wire::WordPart::put($field, &mut text, ' '); )+
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
                    by: ' ',
                    end: "",
                    head: Vec::new(),
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
                let $state = match words.word()? {
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
                            $( $( $crate::wire::WordPart::put($part, &mut text, ' '); )+ )?
                            $( $( $crate::wire::WordPart::put($field, &mut text, ' '); )+ )?
                        }
                    )+
                }
                $( $crate::wire::WordPart::put(&self.$tail, &mut text, ' '); )+
                f.write_str(&text)
            }
        }

        $crate::record!(@field $name, $lua);
    };
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident as $lua:literal $(by $by:literal)? $(each $each:literal)? {
            $( $(#[doc = $head_doc:literal])+ $head_vis:vis $head:ident: $head_type:ty ),+ $(,)?
        }
        $(#[doc = $state_doc:literal])+
        $state_vis:vis $state:ident: $states_vis:vis enum $states:ident {
            $(
                $(#[doc = $kind_doc:literal])+
                $letter:literal $kind:ident
                $( { $( $(#[doc = $field_doc:literal])+ $field:ident: $type:ty ),+ $(,)? } )?
            )+
        }
        $(else $plain:ident: $plain_doc:literal)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $vis struct $name {
            $( $(#[doc = $head_doc])+ $head_vis $head: $head_type, )+
            $(#[doc = $state_doc])+
            $state_vis $state: $states,
        }

        $(#[doc = $state_doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $states_vis enum $states {
            $( #[doc = $plain_doc] $plain, )?
            $(
                $(#[doc = $kind_doc])+
                $kind $( { $( $(#[doc = $field_doc])+ $field: $type ),+ } )?,
            )+
        }

        impl $name {
            const BY: char = $crate::record!(@by $($by)?);

            /// The declaration.
            #[must_use]
            pub fn shape() -> $crate::wire::RecordShape {
                let mut kinds = Vec::new();
                $( kinds.push($crate::wire::KindShape {
                    letter: "",
                    name: stringify!($plain),
                    doc: $plain_doc,
                    fields: Vec::new(),
                }); )?
                kinds.extend([ $( {
                    let fields: Vec<Vec<$crate::wire::FieldShape>> = vec![ $( $(
                        <$type as $crate::wire::WordPart>::shapes(stringify!($field), concat!($($field_doc, "\n"),+))
                    ),+ )? ];
                    $crate::wire::KindShape {
                        letter: $letter,
                        name: stringify!($kind),
                        doc: concat!($($kind_doc, "\n"),+),
                        fields: fields.concat(),
                    }
                } ),+ ]);
                $crate::wire::RecordShape {
                    name: $lua,
                    doc: concat!($($doc, "\n"),+),
                    by: Self::BY,
                    end: concat!($($each)?),
                    head: [ $(
                        <$head_type as $crate::wire::WordPart>::shapes(stringify!($head), concat!($($head_doc, "\n"),+))
                    ),+ ].concat(),
                    kinds,
                }
            }

            fn read(text: &str) -> Option<Self> {
                let mut words = $crate::wire::Words::by(text, Self::BY);
                $( let $head = words.take()?; )+
                let $state = match words.word() {
                    $( None => $states::$plain, )?
                    $( Some($letter) => $states::$kind $( { $( $field: words.take()? ),+ } )?, )+
                    _ => return None,
                };
                words.is_empty().then_some(Self { $( $head, )+ $state })
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut text = String::new();
                $( $crate::wire::WordPart::put(&self.$head, &mut text, Self::BY); )+
                match &self.$state {
                    $( $states::$plain => {} )?
                    $( $states::$kind $( { $($field),+ } )? => {
                        text.push(Self::BY);
                        text.push_str($letter);
                        $( $( $crate::wire::WordPart::put($field, &mut text, Self::BY); )+ )?
                    } )+
                }
                f.write_str(&text[1..])
            }
        }

        $crate::record!(@field $name, $lua);
        $( $crate::words!(@item $name, After($each), concat!("`", $each, "`"), " after each"); )?
    };
    (@by) => {
        ' '
    };
    (@by $by:literal) => {
        $by
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

    #[test]
    fn the_fields_of_a_record_are_taken_in_turn_and_none_is_empty() {
        let mut words = Words::new("i 7 anna");
        assert_eq!((words.word(), words.take::<u64>()), (Some("i"), Some(7)));
        assert!(!words.is_empty());
        assert_eq!(words.take::<String>().as_deref(), Some("anna"));
        assert!(words.is_empty() && words.take::<String>().is_none());
        let mut words = Words::new("i  anna");
        assert!(words.word().is_some() && words.take::<String>().is_none());
    }
}
