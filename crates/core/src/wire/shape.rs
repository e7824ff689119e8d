//! Declarations as values: what the Lua files and the reference are made from.

use super::field::Field;

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
    /// Its letter, or word. Empty for the kind that has neither.
    pub letter: &'static str,
    /// Its name in Rust.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Its fields, in order.
    pub fields: Vec<FieldShape>,
}

/// A declared record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordShape {
    /// Its name in Lua: `read_<name>`.
    pub name: &'static str,
    /// What it is and where it is kept.
    pub doc: &'static str,
    /// The character between its fields.
    pub by: char,
    /// The character at its end, in a list.
    pub end: &'static str,
    /// The fields that every kind has before its letter.
    pub head: Vec<FieldShape>,
    /// Its kinds. A record without kinds has only its head.
    pub kinds: Vec<KindShape>,
}

impl RecordShape {
    /// The head, the letter of a kind and the names of its fields, as they follow each other.
    #[must_use]
    pub fn form(&self, kind: Option<&KindShape>) -> String {
        let names = |fields: &[FieldShape]| fields.iter().map(|field| field.name).collect::<Vec<_>>();
        let mut parts = names(&self.head);
        if let Some(kind) = kind {
            parts.extend(Some(kind.letter).filter(|letter| !letter.is_empty()));
            parts.extend(names(&kind.fields));
        }
        parts.join(&self.by.to_string()) + self.end
    }
}
