//! Declarations of events: the fields of each type once, with names, types, units and meanings. Pure.
//!
//! [`event_types!`](crate::event_types) declares the types of a stream, and [`event_fields!`](crate::event_fields) fields that
//! belong together. From them follow the typed reader in Rust, the function that appends the event in Lua
//! ([`lua`](super::lua)) and the reference of events, which a test compares with the committed page.

use std::ops::Deref;

use super::event::{Fields, Unreadable};
use super::{EventShape, Field, FieldShape, Item, OrDash, unit_of};
use crate::currency::Currency;
use crate::ids::{Id, PersonId};

/// A field of an event, or several fields that belong together.
pub trait EventPart: Sized {
    /// The fields. A part of one field is named and documented so.
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape>;
    /// Reads them.
    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable>;
}

/// Makes types of fields parts of events.
#[macro_export]
macro_rules! event_part {
    ($($type:ty),+ $(,)?) => { $(
        impl $crate::wire::declared::EventPart for $type {
            fn shapes(name: &'static str, doc: &'static str) -> Vec<$crate::wire::FieldShape> {
                vec![$crate::wire::FieldShape::new::<$type>(name, doc)]
            }

            fn read(
                fields: &$crate::wire::event::Fields<'_>,
                name: &'static str,
            ) -> Result<Self, $crate::wire::event::Unreadable> {
                fields.read(name, <$type as $crate::wire::Field>::read)
            }
        }
    )+ };
}

event_part!(u64, u32, i64, Id, PersonId, Currency, String, bool, OrDash<Id>);

/// Empty for none. A missing field is none too: events of an earlier version may lack it.
impl<T: Field> EventPart for Option<T> {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::new::<Self>(name, doc)]
    }

    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable> {
        match fields.0.get(name) {
            None | Some("") => Ok(None),
            Some(text) => T::read(text).map(Some).ok_or_else(|| fields.wrong(name)),
        }
    }
}

impl<T: Item> EventPart for Vec<T> {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::new::<Self>(name, doc)]
    }

    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable> {
        fields.read(name, <Self as Field>::read)
    }
}

impl<P: EventPart> EventPart for Box<P> {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        P::shapes(name, doc)
    }

    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable> {
        P::read(fields, name).map(Box::new)
    }
}

/// Fields that only some events of a type have: all of them or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Given<P>(pub Option<P>);

impl<P> Deref for Given<P> {
    type Target = Option<P>;

    fn deref(&self) -> &Option<P> {
        &self.0
    }
}

impl<P: EventPart> EventPart for Given<P> {
    fn shapes(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        P::shapes(name, doc)
    }

    fn read(fields: &Fields<'_>, name: &'static str) -> Result<Self, Unreadable> {
        let is_given = P::shapes(name, "")
            .iter()
            .any(|field| fields.0.get(field.name).is_some());
        Ok(Self(if is_given { Some(P::read(fields, name)?) } else { None }))
    }
}

/// Adds fields to those declared before. A name that is there is the same text, read in a second way. `field`: the name
/// in Rust; `when`: when an event has them, empty for always.
pub fn declare(all: &mut Vec<FieldShape>, added: Vec<FieldShape>, field: &str, when: &'static str) {
    let is_one = added.len() == 1;
    for mut shape in added {
        if is_one && shape.unit.is_empty() {
            shape.unit = unit_of(field);
        }
        if shape.when.is_empty() {
            shape.when = when;
        }
        if all.iter().all(|other| other.name != shape.name) {
            all.push(shape);
        }
    }
}

/// What [`event_types!`](crate::event_types) declares.
pub trait Events {
    /// What the stream is.
    const DOC: &'static str;

    /// The fields that every event has besides its number, time, history and type.
    fn common() -> Vec<FieldShape>;
    /// The types.
    fn shapes() -> Vec<EventShape>;
}

/// The name of a field on the wire: its own, unless another one is given.
#[macro_export]
#[doc(hidden)]
macro_rules! event_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! event_when {
    () => {
        ""
    };
    ($when:literal) => {
        $when
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! event_shapes {
    ($type:ty, $name:expr, $doc:expr) => {
        <$type as $crate::wire::declared::EventPart>::shapes($name, $doc)
    };
    ($type:ty, $name:expr, $doc:expr, $text:literal) => {
        vec![$crate::wire::FieldShape::text($name, $doc, $text)]
    };
}

#[macro_export]
#[doc(hidden)]
macro_rules! event_read {
    ($type:ty, $fields:expr, $name:expr) => {
        <$type as $crate::wire::declared::EventPart>::read($fields, $name)?
    };
    ($type:ty, $fields:expr, $name:expr, $read:expr) => {
        $fields.read($name, $read)?
    };
}

/// Adds the declared fields to a list.
#[macro_export]
#[doc(hidden)]
macro_rules! event_declare {
    ($all:expr; $(
        $(#[doc = $doc:literal])+ $field:ident $(as $wire:literal)? $(if $when:literal)? : $type:ty $(= $text:literal $read:expr)?
    ),*) => { $(
        $crate::wire::declared::declare(
            $all,
            $crate::event_shapes!($type, $crate::event_name!($field $($wire)?), concat!($($doc, "\n"),+) $(, $text)?),
            stringify!($field),
            $crate::event_when!($($when)?),
        );
    )* };
}

/// Declares fields of an event that belong together.
///
/// A field has a name, and after `as` its name in the event, if that is another one. Its type is an `EventPart`, or
/// any type with the name of its form and a function that reads it. After `if` stands when an event has the field.
/// Fields after `unread` are written for people, and no reader needs them. `check` returns the name of a field that does
/// not fit the others.
///
/// ```
/// use jackpot_core::fields::EventFields;
/// use jackpot_core::wire::declared::EventPart;
/// use jackpot_core::wire::event::Fields;
///
/// jackpot_core::event_fields! {
///     /// A score.
///     pub struct Score {
///         /// Points at the end.
///         pub points: u64,
///         /// When it was reached, ms.
///         pub at_ms as "at": i64,
///     }
///     unread {
///         /// Who wrote it down.
///         who: String
///     }
///     check |score| (score.at_ms < 0).then_some("at")
/// }
///
/// // `pub struct Score { pub points: u64, pub at_ms: i64 }`, its fields on the wire, and its reader:
/// let names: Vec<_> = Score::shapes("", "").iter().map(|field| field.name).collect();
/// assert_eq!(names, ["points", "at", "who"]);
/// let event = |at: &'static str| EventFields::of_bytes([(&b"points"[..], &b"7"[..]), (b"at", at.as_bytes())]);
/// assert_eq!(Score::read(&Fields(&event("5")), ""), Ok(Score { points: 7, at_ms: 5 }));
/// assert_eq!(Score::read(&Fields(&event("-5")), "").unwrap_err().field, "at");
/// ```
#[macro_export]
macro_rules! event_fields {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:path),+)])?
        $vis:vis struct $name:ident $(<$of:ident>)? {
            $(
                $(#[doc = $field_doc:literal])+
                $field_vis:vis $field:ident $(as $wire:literal)? $(if $when:literal)? : $type:ty $(= $text:literal $read:expr)?
            ),* $(,)?
        }
        $(unread {
            $(
                $(#[doc = $more_doc:literal])+
                $more:ident $(as $more_wire:literal)? $(if $more_when:literal)? : $more_type:ty
            ),+ $(,)?
        })?
        $(check $check:expr)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $(#[derive($($derive),+)])?
        $vis struct $name $(<$of>)? {
            $( $(#[doc = $field_doc])+ $field_vis $field: $type, )*
        }

        impl $(<$of: $crate::wire::declared::EventPart>)? $crate::wire::declared::EventPart for $name $(<$of>)? {
            fn shapes(_: &'static str, _: &'static str) -> Vec<$crate::wire::FieldShape> {
                let mut all = Vec::new();
                $crate::event_declare!(&mut all; $(
                    $(#[doc = $field_doc])+ $field $(as $wire)? $(if $when)? : $type $(= $text $read)?
                ),*);
                $( $crate::event_declare!(&mut all; $(
                    $(#[doc = $more_doc])+ $more $(as $more_wire)? $(if $more_when)? : $more_type
                ),+); )?
                all
            }

            fn read(
                fields: &$crate::wire::event::Fields<'_>,
                _: &'static str,
            ) -> Result<Self, $crate::wire::event::Unreadable> {
                let _ = fields; // a part may have no field that is read
                let all = Self { $(
                    $field: $crate::event_read!($type, fields, $crate::event_name!($field $($wire)?) $(, $read)?),
                )* };
                $(
                    let check: fn(&Self) -> Option<&'static str> = $check;
                    if let Some(field) = check(&all) {
                        return Err(fields.wrong(field));
                    }
                )?
                Ok(all)
            }
        }
    };
}

/// Declares the types of events of a stream: an enum, its reader and its declaration. `with` names the fields that every
/// event has. A type has an `EventPart` in brackets, or fields as in [`event_fields!`](crate::event_fields).
///
/// ```
/// use jackpot_core::fields::EventFields;
/// use jackpot_core::wire::declared::Events;
/// use jackpot_core::wire::event::Fields;
///
/// jackpot_core::event_types! {
///     /// A game.
///     #[derive(Eq)]
///     enum Kind {
///         /// It began.
///         "begin" Begin {
///             /// How many play.
///             players: u64,
///             /// What they play for.
///             stake if "there is one": Option<u64>,
///         } unread {
///             /// Who asked for it.
///             who: String,
///         },
///         /// It ended after so many rounds.
///         "end" End {
///             /// Rounds.
///             rounds: u64,
///         },
///     }
/// }
///
/// // `enum Kind { Begin { players: u64, stake: Option<u64> }, End { rounds: u64 } }`, its types on the wire, and its reader:
/// let begin = &Kind::shapes()[0];
/// assert_eq!((begin.kind, begin.fields[1].name, begin.fields[1].when), ("begin", "stake", "there is one"));
/// let event = EventFields::of_bytes([(&b"type"[..], &b"begin"[..]), (b"players", b"3")]);
/// assert_eq!(Kind::read(&Fields(&event)), Ok(Kind::Begin { players: 3, stake: None }));
/// ```
#[macro_export]
macro_rules! event_types {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:path),+)])?
        $vis:vis enum $name:ident $(with $common:ident)? {
            $(
                $(#[doc = $kind_doc:literal])+
                $wire_type:literal $kind:ident
                $( ( $part:ty ) )?
                $( {
                    $(
                        $(#[doc = $field_doc:literal])+
                        $field:ident $(as $wire:literal)? $(if $when:literal)? : $type:ty $(= $text:literal $read:expr)?
                    ),+ $(,)?
                } )?
                $(unread {
                    $(
                        $(#[doc = $more_doc:literal])+
                        $more:ident $(as $more_wire:literal)? $(if $more_when:literal)? : $more_type:ty
                    ),+ $(,)?
                })?
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq)]
        $(#[derive($($derive),+)])?
        $vis enum $name {
            $(
                $(#[doc = $kind_doc])+
                $kind $( ( $part ) )? $( { $( $(#[doc = $field_doc])+ $field: $type ),+ } )?,
            )+
        }

        impl $crate::wire::declared::Events for $name {
            const DOC: &'static str = concat!($($doc, "\n"),+);

            fn common() -> Vec<$crate::wire::FieldShape> {
                let all: Vec<Vec<_>> = vec![ $( <$common as $crate::wire::declared::EventPart>::shapes("", "") )? ];
                all.concat()
            }

            fn shapes() -> Vec<$crate::wire::EventShape> {
                vec![ $( {
                    let mut all = Vec::new();
                    $( all.extend(<$part as $crate::wire::declared::EventPart>::shapes("", "")); )?
                    $( $crate::event_declare!(&mut all; $(
                        $(#[doc = $field_doc])+ $field $(as $wire)? $(if $when)? : $type $(= $text $read)?
                    ),+); )?
                    $( $crate::event_declare!(&mut all; $(
                        $(#[doc = $more_doc])+ $more $(as $more_wire)? $(if $more_when)? : $more_type
                    ),+); )?
                    $crate::wire::EventShape {
                        kind: $wire_type,
                        doc: concat!($($kind_doc, "\n"),+),
                        fields: all,
                    }
                } ),+ ]
            }
        }

        impl $name {
            /// Reads the fields of the event's type.
            fn read(
                fields: &$crate::wire::event::Fields<'_>,
            ) -> Result<Self, $crate::wire::event::Unreadable> {
                Ok(match fields.text("type")? {
                    $(
                        $wire_type => Self::$kind
                            $( ( $crate::event_read!($part, fields, "") ) )?
                            $( { $(
                                $field: $crate::event_read!($type, fields, $crate::event_name!($field $($wire)?) $(, $read)?)
                            ),+ } )?,
                    )+
                    _ => return Err(fields.wrong("type")),
                })
            }
        }
    };
}
