//! What scripts reply after code and mark: declared once, read by name. `jackpot_core::wire` makes the function that writes
//! the values in Lua from the same declaration, and the reference.

use std::ops::Deref;

use jackpot_core::mark::Mark;
use jackpot_core::wire::declared::Events;
use jackpot_core::wire::{Field, FieldShape, Head, ReplyShape, lua};
use redis::Value;

use super::Marked;
use crate::store::Made;

/// The values of a reply that are not read yet.
#[derive(Debug, Clone)]
pub struct Values<'a>(std::slice::Iter<'a, Value>);

impl<'a> Values<'a> {
    /// All of them.
    pub fn new(values: &'a [Value]) -> Self {
        Self(values.iter())
    }

    /// Reads the next value, or the next values of a part; `None` when there is none, or one of another form.
    pub fn take<T: Part>(&mut self) -> Option<T> {
        T::take(self)
    }

    /// Reads all that are left, as one kind of part; `None` when one has another form.
    pub fn rest<T: Part>(&mut self) -> Option<Vec<T>> {
        let mut all = Vec::new();
        while !self.is_empty() {
            all.push(self.take()?);
        }
        Some(all)
    }

    /// Whether all are read.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    fn next<T: Field>(&mut self) -> Option<T> {
        match self.0.next()? {
            Value::Int(number) => T::read_integer(*number),
            Value::BulkString(bytes) => T::read(std::str::from_utf8(bytes).ok()?),
            Value::SimpleString(text) => T::read(text),
            _ => None,
        }
    }
}

/// The values of a reply, at its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// Progress of the stream when the script read them.
    pub mark: Mark,
    /// The values.
    pub values: T,
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.values
    }
}

impl<T> Marked for At<T> {
    fn mark(&self) -> Mark {
        self.mark
    }
}

/// Values in order: one field, or those of a declaration of [`reply!`](crate::reply).
pub trait Part: Sized {
    /// What a declaration is, for the reference.
    const DOC: &'static str = "";

    /// The fields, where this is named and documented so.
    fn fields(name: &'static str, doc: &'static str) -> Vec<FieldShape>;
    /// Reads them.
    fn take(values: &mut Values<'_>) -> Option<Self>;
}

impl<T: Field> Part for T {
    fn fields(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::new::<T>(name, doc)]
    }

    fn take(values: &mut Values<'_>) -> Option<Self> {
        values.next()
    }
}

/// A packed value, as the state has it: any bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed(pub Vec<u8>);

impl Part for Packed {
    fn fields(name: &'static str, doc: &'static str) -> Vec<FieldShape> {
        vec![FieldShape::text(name, doc, "packed")]
    }

    fn take(values: &mut Values<'_>) -> Option<Self> {
        match values.0.next()? {
            Value::BulkString(bytes) => Some(Self(bytes.clone())),
            _ => None,
        }
    }
}

/// Replies of a script, or of several. A file of Lua needs the functions that make them by this name.
pub type Declared = (&'static str, Vec<ReplyShape>);

/// The Lua of a capability that follows from its declarations, by the names under which its files need it: of records as
/// given, of events and of replies.
pub fn made<E: Events>(
    records: impl IntoIterator<Item = (&'static str, String)>,
    replies: impl IntoIterator<Item = Declared>,
) -> Made {
    let records = records.into_iter().map(|(name, text)| (name.to_owned(), text));
    records.chain(lua::events::<E>()).chain(of_replies(replies)).collect()
}

/// The functions that make replies.
pub(super) fn of_replies(replies: impl IntoIterator<Item = Declared>) -> impl Iterator<Item = (String, String)> {
    let text = |replies: Vec<ReplyShape>| replies.iter().map(lua::reply).collect();
    replies
        .into_iter()
        .map(move |(name, replies)| (name.to_owned(), text(replies)))
}

/// The declaration of a reply with this code. `name`: its name in Lua; `scripts`: the scripts that make it.
pub fn reply<T: Part>(scripts: &'static str, name: &'static str, code: &'static str) -> ReplyShape {
    ReplyShape {
        name,
        scripts,
        head: Head::Code(code),
        doc: T::DOC,
        fields: T::fields("", ""),
    }
}

/// The declaration of a reply with one of these codes.
pub fn reply_any<T: Part>(scripts: &'static str, name: &'static str, codes: &'static str) -> ReplyShape {
    ReplyShape {
        head: Head::Codes(codes),
        ..reply::<T>(scripts, name, "")
    }
}

/// The declaration of a part of replies.
pub fn reply_part<T: Part>(scripts: &'static str, name: &'static str) -> ReplyShape {
    ReplyShape {
        head: Head::Part,
        ..reply::<T>(scripts, name, "")
    }
}

/// Declares values of a reply. A field may be a [`Field`], or another declaration, whose fields follow at its place.
///
/// ```
/// use jackpot_kernel::subject::{Part, Values};
/// use redis::Value;
///
/// jackpot_kernel::reply! {
///     /// `ok`: it was taken.
///     struct Done {
///         /// Its number, from 1.
///         sequence: u64,
///         /// Its record.
///         record: String,
///     }
/// }
///
/// // `struct Done { sequence: u64, record: String }`, its declaration for Lua and the reference, and its reader:
/// assert_eq!(Done::fields("", "")[0].doc.trim(), "Its number, from 1.");
/// let values = [Value::Int(7), Value::BulkString(b"w 5".to_vec())];
/// let done = Done { sequence: 7, record: "w 5".to_owned() };
/// assert_eq!(Values::new(&values).take(), Some(done));
/// ```
#[macro_export]
macro_rules! reply {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:path),+)])?
        $vis:vis struct $name:ident {
            $( $(#[doc = $field_doc:literal])+ $field_vis:vis $field:ident: $type:ty ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        $(#[derive($($derive),+)])?
        $vis struct $name {
            $( $(#[doc = $field_doc])+ $field_vis $field: $type, )+
        }

        impl $crate::subject::Part for $name {
            const DOC: &'static str = concat!($($doc, "\n"),+);

            fn fields(_: &'static str, _: &'static str) -> Vec<jackpot_core::wire::FieldShape> {
                let mut fields = Vec::new();
                $(
                    fields.extend(<$type as $crate::subject::Part>::fields(
                        stringify!($field),
                        concat!($($field_doc, "\n"),+),
                    ));
                )+
                fields
            }

            fn take(values: &mut $crate::subject::Values<'_>) -> Option<Self> {
                Some(Self { $( $field: values.take()? ),+ })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::reply! {
        /// Two numbers.
        #[derive(Copy, Default)]
        struct Inner {
            /// The first.
            first: u64,
            /// The second, where there is one.
            second: Option<u64>,
        }
    }

    crate::reply! {
        /// A text and two numbers.
        struct Outer {
            /// A text.
            name: String,
            /// The numbers.
            inner: Inner,
            /// Whether.
            is_last: bool,
        }
    }

    #[test]
    fn values_are_read_in_the_declared_order() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let all = [text("a"), Value::Int(1), text(""), Value::Int(1), text("left")];
        let mut values = Values::new(&all);
        let inner = Inner { first: 1, second: None };
        let outer = Outer {
            name: "a".to_owned(),
            inner,
            is_last: true,
        };
        assert_eq!(values.take(), Some(outer));
        assert!(!values.is_empty());
        assert_eq!(values.take(), Some("left".to_owned()));
        assert!(values.is_empty() && values.take::<String>().is_none());
        for wrong in [Value::Nil, Value::Int(-1), text("x")] {
            assert_eq!(Values::new(&[wrong, Value::Int(1)]).take::<Inner>(), None);
        }
        let names = Outer::fields("", "").iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(names, ["name", "first", "second", "is_last"]);
    }
}
