//! Values that scripts keep packed: several values in one field of a hash, as `MessagePack`, one after the other. The
//! first one is the number of the layout, so that a version of the service refuses a layout that it does not know.
//!
//! [`packed!`](crate::packed) declares a layout. Scripts read and write it by the functions that [`lua`] makes; they are
//! in a part that follows `lua/subject/packed.lua`. [`page`] makes the reference.

use std::fmt::Write as _;

use super::page::paragraph;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packs {
    /// An integer of at most 53 bits.
    Whole,
    /// An integer, or false for none. Only as the last field of a row.
    Optional,
    Text,
    /// A list of rows: texts, then integers.
    Rows(&'static [PackedField]),
}

/// A declared field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedField {
    /// Its name, in Lua and in the reference.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    pub packs: Packs,
}

/// A declared layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedShape {
    /// Its name in Lua: `read_<name>` and `write_<name>`. The field of the hash has it too.
    pub name: &'static str,
    /// The number of the layout. A change of any field needs another one.
    pub format: u32,
    /// What it is.
    pub doc: &'static str,
    /// Its fields: integers, then texts, then lists.
    pub fields: &'static [PackedField],
    /// The fields of the rows that follow: a name, then integers; empty for none.
    pub each: &'static [PackedField],
}

/// Place of the first field in the list that `unpacked` returns: after true and the format.
const FIRST: usize = 3;

impl PackedShape {
    /// Place of a field in the list that `unpacked` of `lua/subject/packed.lua` returns.
    #[must_use]
    pub fn place(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|one| one.name == field).map(|i| i + FIRST)
    }

    /// Place of the first row.
    #[must_use]
    pub fn first_row(&self) -> usize {
        self.fields.len() + FIRST
    }

    /// How many fields come before the first one that `is` does not hold for, from `from` on.
    fn run(&self, from: usize, is: fn(Packs) -> bool) -> usize {
        self.fields[from..].iter().take_while(|field| is(field.packs)).count()
    }
}

/// Declares a layout.
///
/// ```
/// use jackpot_core::wire::packed::Packs::{Text, Whole};
///
/// jackpot_core::packed! {
///     /// What a shelf holds, in the field `shelf` of its state.
///     pub SHELF as "shelf", format 1 {
///         /// How long it is.
///         length: Whole,
///         /// Where it is.
///         place: Text,
///     } each {
///         /// A box on it.
///         name: Text,
///         /// How many things are in it.
///         things: Whole,
///     }
/// }
///
/// assert_eq!((SHELF.place("place"), SHELF.first_row()), (Some(4), 5));
/// ```
#[macro_export]
macro_rules! packed {
    (
        $(#[doc = $doc:literal])+
        $vis:vis $name:ident as $lua:literal, format $format:literal {
            $( $(#[doc = $field_doc:literal])+ $field:ident: $packs:expr ),+ $(,)?
        } $( each {
            $( $(#[doc = $row_doc:literal])+ $row:ident: $row_packs:expr ),+ $(,)?
        } )?
    ) => {
        $(#[doc = $doc])+
        $vis const $name: $crate::wire::packed::PackedShape = $crate::wire::packed::PackedShape {
            name: $lua,
            format: $format,
            doc: concat!($($doc, "\n"),+),
            fields: &[$(
                $crate::wire::packed::PackedField {
                    name: stringify!($field),
                    doc: concat!($($field_doc, "\n"),+),
                    packs: $packs,
                }
            ),+],
            each: &[$($(
                $crate::wire::packed::PackedField {
                    name: stringify!($row),
                    doc: concat!($($row_doc, "\n"),+),
                    packs: $row_packs,
                }
            ),+)?],
        };
    };
}

/// Reader and writer of a layout, as the text of a part of scripts.
///
/// # Panics
/// When its fields are not in their order.
#[must_use]
pub fn lua(shape: &PackedShape) -> String {
    let (name, constant) = (shape.name, shape.name.to_uppercase());
    let mut lua = format!("local {constant}_FORMAT = {}\n", shape.format);
    if shape.each.is_empty() {
        read_table(&mut lua, shape, &constant);
    } else {
        read_list(&mut lua, shape, &constant);
    }
    let _ = writeln!(
        lua,
        "local function write_{name}(values{}",
        if shape.each.is_empty() { ")" } else { ", list)" }
    );
    if shape.each.is_empty() {
        let _ = writeln!(lua, "  return cmsgpack.pack(\n    {constant}_FORMAT,");
        let last = shape.fields.len() - 1;
        for (i, field) in shape.fields.iter().enumerate() {
            let _ = writeln!(lua, "    values.{}{}", field.name, if i == last { "" } else { "," });
        }
        lua.push_str("  )\nend\n");
        return lua;
    }
    for (i, field) in shape.fields.iter().enumerate() {
        let _ = writeln!(lua, "  list[{}] = values.{}", FIRST + i, field.name);
    }
    lua.push_str("  return cmsgpack.pack(unpack(list, 2))\nend\n");
    lua
}

/// The reader of a layout without rows: a table by name. It keeps what it has read, because such a value rarely changes.
fn read_table(lua: &mut String, shape: &PackedShape, constant: &str) {
    let name = shape.name;
    let whole = shape.run(0, |packs| packs == Packs::Whole);
    let texts = shape.run(whole, |packs| packs == Packs::Text);
    let lists = shape.run(whole + texts, |packs| matches!(packs, Packs::Rows(_)));
    assert_eq!(
        whole + texts + lists,
        shape.fields.len(),
        "integers, then texts, then lists"
    );
    let (first_text, first_list) = (FIRST + whole, FIRST + whole + texts);
    let end = first_list + lists - 1;
    let _ = writeln!(
        lua,
        "local function check_{name}(list)\n  check_whole(list, {FIRST}, {})",
        first_text - 1
    );
    let _ = writeln!(lua, "  check_texts(list, {first_text}, {})", first_list - 1);
    for (i, field) in shape.fields[whole + texts..].iter().enumerate() {
        let Packs::Rows(row) = field.packs else { continue };
        let first = 1 + row.iter().take_while(|field| field.packs == Packs::Text).count();
        let last = match row.last().map(|field| field.packs) {
            Some(Packs::Optional) => format!("row[{0}] and {0} or {1}", row.len(), row.len() - 1),
            _ => row.len().to_string(),
        };
        let at = first_list + i;
        let _ = writeln!(lua, "  for _, row in ipairs(list[{at}]) do");
        let _ = writeln!(
            lua,
            "    check_texts(row, 1, {})\n    check_whole(row, {first}, {last})\n  end",
            first - 1
        );
    }
    let _ = write!(
        lua,
        "end\nlocal function unpack_{name}(text)\n  local list = unpacked(text, {constant}_FORMAT, '{name}')\n  \
         must(#list == {end} and pcall(check_{name}, list) or nil, 'JP_DAMAGED {name}')\n  return {{\n"
    );
    for (i, field) in shape.fields.iter().enumerate() {
        let _ = writeln!(lua, "    {} = list[{}],", field.name, FIRST + i);
    }
    // What texts hold that were read: each is unpacked once. A value that is set hides the one of the text, which nobody
    // changes.
    let _ = write!(
        lua,
        "  }}\nend\nlocal kept_{name}, count_{name} = {{}}, 0\nlocal function read_{name}(text)\n  local of_text = \
         kept_{name}[text]\n  if not of_text then\n    of_text = {{ __index = unpack_{name}(text) }}\n    \
         if count_{name} == MAX_KEPT then\n      kept_{name}, count_{name} = {{}}, 0\n    end\n    \
         kept_{name}[text], count_{name} = of_text, count_{name} + 1\n  end\n  return setmetatable({{}}, of_text)\nend\n"
    );
}

/// The reader of a layout with rows: the list with the fields, then the rows; the list of a subject without rows; and a reader
/// of the row at a place of the list, which ends the script with the error `what` if it is damaged.
fn read_list(lua: &mut String, shape: &PackedShape, constant: &str) {
    let name = shape.name;
    let all_whole = |fields: &[PackedField]| fields.iter().all(|field| field.packs == Packs::Whole);
    let named = shape.each[0].packs == Packs::Text && all_whole(&shape.each[1..]);
    assert!(
        all_whole(shape.fields) && named,
        "integers, then rows of a name and integers"
    );
    let (first, width) = (shape.first_row(), shape.each.len());
    // The place of the first row in the list, and the fields of a row.
    let fields: Vec<_> = shape.each.iter().map(|field| format!("'{}'", field.name)).collect();
    let _ = writeln!(
        lua,
        "local {constant}_FIRST, {constant}_WIDTH = {first}, {width}\nlocal {constant}_FIELDS = {{ {} }}",
        fields.join(", ")
    );
    let zeros = ", 0".repeat(shape.fields.len());
    let _ = write!(
        lua,
        "local function new_{name}()\n  return {{ true, {constant}_FORMAT{zeros} }}\nend\nlocal function read_{name}(text)\n  \
         local list = unpacked(text, {constant}_FORMAT, '{name}')\n  local is_whole = pcall(check_whole, list, {FIRST}, {})\n  \
         must(is_whole and (#list - {}) % {width} == 0 or nil, 'JP_DAMAGED {name}')\n  return list\nend\n",
        first - 1,
        first - 1
    );
    let _ = write!(
        lua,
        "local function {name}_row(list, at, what)\n  must(pcall(check_whole, list, at + 1, at + {}) or nil, what)\n  return {{\n",
        width - 1
    );
    for (i, field) in shape.each.iter().enumerate() {
        let plus = if i == 0 { String::new() } else { format!(" + {i}") };
        let _ = writeln!(lua, "    {} = list[at{plus}],", field.name);
    }
    lua.push_str("  }\nend\n");
}

/// The reference of a layout, in Markdown.
#[must_use]
pub fn page(title: &str, shape: &PackedShape) -> String {
    let mut page = format!(
        "## {title}\n\n{}\n\nFormat {}, then:\n\n",
        paragraph(shape.doc),
        shape.format
    );
    page.push_str(&table(shape.fields));
    for field in shape.fields {
        if let Packs::Rows(row) = field.packs {
            let _ = write!(page, "\nA row of `{}`:\n\n{}", field.name, table(row));
        }
    }
    if !shape.each.is_empty() {
        let _ = write!(page, "\nThen, again and again:\n\n{}", table(shape.each));
    }
    page
}

fn table(fields: &[PackedField]) -> String {
    let mut table = String::from("| value | type | meaning |\n| --- | --- | --- |\n");
    for field in fields {
        let kind = match field.packs {
            Packs::Whole => "integer",
            Packs::Optional => "integer, or false",
            Packs::Text => "text",
            Packs::Rows(_) => "list of rows",
        };
        let _ = writeln!(table, "| `{}` | {kind} | {} |", field.name, paragraph(field.doc));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::Packs::{Optional, Rows, Text, Whole};
    use super::*;

    crate::packed! {
        /// A thing.
        THING as "thing", format 7 {
            /// One.
            one: Whole,
            /// Two.
            two: Text,
            /// Three.
            three: Rows(&[
                PackedField { name: "name", doc: "A name.", packs: Text },
                PackedField { name: "cap", doc: "A cap.", packs: Optional },
            ]),
        }
    }

    #[test]
    fn places_in_lua_are_those_of_the_declaration() {
        assert_eq!(
            (THING.place("one"), THING.place("three"), THING.place("x")),
            (Some(3), Some(5), None)
        );
        let lua = lua(&THING);
        for line in [
            "local THING_FORMAT = 7",
            "check_whole(list, 3, 3)",
            "check_texts(list, 4, 4)",
            "for _, row in ipairs(list[5]) do",
            "check_whole(row, 2, row[2] and 2 or 1)",
            "must(#list == 5 and pcall(check_thing, list) or nil, 'JP_DAMAGED thing')",
            "three = list[5],",
            "values.three\n",
        ] {
            assert!(lua.contains(line), "{line} is missing:\n{lua}");
        }
    }

    #[test]
    fn the_page_names_every_value_and_its_type() {
        let page = page("A thing", &THING);
        for row in [
            "| `one` | integer | One. |",
            "| `cap` | integer, or false | A cap. |",
            "Format 7",
        ] {
            assert!(page.contains(row), "{row} is missing:\n{page}");
        }
    }
}
