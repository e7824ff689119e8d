//! The Lua part of a declaration: readers and writers, as the text of a part of scripts. It is made when the service starts,
//! so it has no comments: what a declaration means is in the reference ([`page`](super::page)).

use std::fmt::Write as _;

use super::declared::Events;
use super::{EventShape, FieldShape, Head, KindShape, RecordShape, ReplyShape};

/// Reader of a record: parses it into a table with its `kind`, its `text`, and its fields as text; nil for no record, or one
/// that no script wrote.
#[must_use]
pub fn record_reader(shape: &RecordShape) -> String {
    let name = shape.name;
    let mut lua = format!("local function read_{name}(text)\n  local kind = text and string.sub(text, 1, 1)\n");
    for kind in &shape.kinds {
        let letter = kind.letter;
        let patterns = joined(&kind.fields, ") (", |field| field.pattern.to_owned());
        let names = joined(&kind.fields, ", ", |field| field.name.to_owned());
        let table = joined(&kind.fields, ", ", |field| format!("{0} = {0}", field.name));
        let _ = write!(
            lua,
            "  if kind == '{letter}' then\n    local {names} = string.match(text, '^{letter} ({patterns})$')\n    \
             return {} and {{ kind = kind, text = text, {table} }} or nil\n  end\n",
            kind.fields[0].name
        );
    }
    lua + "  return nil\nend\n"
}

/// Writers of a record: a function for each kind, which gets the fields in order and makes no table. What every kind has
/// at its beginning is made by a function of its own, and given to the others.
#[must_use]
pub fn record_writers(shape: &RecordShape) -> String {
    let mut lua = String::new();
    let (name, by, end) = (shape.name, shape.by, shape.end);
    let between = format!(" .. '{by}' .. ");
    let head: Vec<_> = shape.head.iter().map(|field| field.name).collect();
    let after = |text: String| {
        if end.is_empty() {
            text
        } else {
            format!("{text} .. '{end}'")
        }
    };
    if !head.is_empty() {
        let (function, text) = match shape.kinds.len() {
            0 => (format!("{name}_text"), after(head.join(&between))),
            _ => (format!("{name}_head"), head.join(&between)),
        };
        write_function(&mut lua, &function, &head, &text);
    }
    for kind in shape.kinds.iter().filter(|kind| !kind.letter.is_empty()) {
        let fields: Vec<_> = kind.fields.iter().map(|field| field.name).collect();
        let (begins, names) = if head.is_empty() {
            (format!("'{}{by}'", kind.letter), fields.clone())
        } else {
            let after_letter = if fields.is_empty() {
                end.to_owned()
            } else {
                by.to_string()
            };
            let begins = format!("head .. '{by}{}{after_letter}'", kind.letter);
            (begins, [&["head"], &fields[..]].concat())
        };
        let text = if fields.is_empty() {
            begins
        } else {
            after(format!("{begins} .. {}", fields.join(&between)))
        };
        write_function(&mut lua, &format!("{}_{name}", snake(kind.name)), &names, &text);
    }
    lua
}

fn write_function(lua: &mut String, name: &str, arguments: &[&str], text: &str) {
    let arguments = arguments.join(", ");
    let _ = writeln!(lua, "local function {name}({arguments})\n  return {text}\nend");
}

/// Writers of a record without kinds, and its reader.
#[must_use]
pub fn record_without_kinds(shape: &RecordShape) -> String {
    record_writers(shape) + &record_part_reader(shape, None)
}

/// Writer of a value in a list, and the pattern that finds each of them.
#[must_use]
pub fn record_list(shape: &RecordShape) -> String {
    let pattern = joined(&shape.head, &magic_free(shape.by), |field| {
        format!("({})", field.pattern)
    }) + shape.end;
    let name = shape.name.to_ascii_uppercase();
    record_writers(shape) + &format!("local {name} = '{pattern}'\n")
}

/// Reader of a record without kinds, or of the kind with this letter of a record that begins with fields: parses it into a
/// table with its fields as text; nil for every other text. The text of that beginning is `head`.
///
/// # Panics
///
/// When no kind has the letter.
#[must_use]
pub fn record_part_reader(shape: &RecordShape, letter: Option<&str>) -> String {
    let pattern = |field: &FieldShape| match field.pattern {
        "%S+" if shape.by != ' ' => format!("[^{}]+", shape.by),
        pattern => pattern.to_owned(),
    };
    let by = magic_free(shape.by);
    let groups = |fields: &[FieldShape]| joined(fields, &by, |field| format!("({})", pattern(field)));
    let of_letter = |kind: &&KindShape| Some(kind.letter) == letter;
    let (function, names, text) = match letter.map(|_| shape.kinds.iter().find(of_letter)) {
        None => (
            format!("read_{}", shape.name),
            field_names(&shape.head),
            groups(&shape.head),
        ),
        Some(kind) => {
            let kind = kind.expect("a kind has this letter");
            let (first, others) = shape.head.split_first().expect("the record begins with fields");
            let others: String = others.iter().map(|field| by.clone() + &pattern(field)).collect();
            let text = format!(
                "(({}){others}){by}{}{by}{}",
                pattern(first),
                kind.letter,
                groups(&kind.fields)
            );
            let names = [vec!["head", first.name], field_names(&kind.fields)].concat();
            (format!("read_{}_{}", snake(kind.name), shape.name), names, text)
        }
    };
    let table: Vec<_> = names.iter().map(|name| format!("{name} = {name}")).collect();
    format!(
        "local function {function}(text)\n  local {} = string.match(text, '^{text}$')\n  return {} and {{ {} }} or nil\nend\n",
        names.join(", "),
        names[0],
        table.join(", ")
    )
}

/// A character as itself in a Lua pattern.
fn magic_free(by: char) -> String {
    if "^$()%.[]*+-?".contains(by) {
        format!("%{by}")
    } else {
        by.to_string()
    }
}

/// A name in Rust as one in Lua.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Reader of a record, and a writer that gets a table as the reader returns it.
///
/// # Panics
///
/// When the record has no kind.
#[must_use]
pub fn record(shape: &RecordShape) -> String {
    let name = shape.name;
    let mut lua = record_reader(shape);
    let _ = writeln!(lua, "local function write_{name}({name})\n  local kind = {name}.kind");
    let text = |kind: &KindShape| {
        let fields = joined(&kind.fields, " .. ' ' .. ", |field| format!("{name}.{}", field.name));
        format!("return '{} ' .. {fields}", kind.letter)
    };
    // Scripts write records after their first write, where nothing may fail. So the last kind is not looked for.
    let (last, others) = shape.kinds.split_last().expect("a record has a kind");
    for kind in others {
        let _ = writeln!(lua, "  if kind == '{}' then {} end", kind.letter, text(kind));
    }
    let _ = writeln!(lua, "  {}\nend", text(last));
    lua
}

/// A function that makes a reply, or goes on with one, from the values of a table by their names.
#[must_use]
pub fn reply(shape: &ReplyShape) -> String {
    let name = shape.name;
    let value = |field: &FieldShape| field.reply.replace("%s", &format!("values.{}", field.name));
    let values = joined(&shape.fields, ", ", value);
    match shape.head {
        Head::Code(code) => {
            format!(
                "local function {name}_reply(mark_text, values)\n  return {{ '{code}', mark_text, {values} }}\nend\n"
            )
        }
        Head::Codes(_) => {
            format!(
                "local function {name}_reply(code, mark_text, values)\n  return {{ code, mark_text, {values} }}\nend\n"
            )
        }
        Head::Part => {
            let mut lua = format!("local function append_{name}(reply, values)\n  local length = #reply\n");
            for (i, field) in shape.fields.iter().enumerate() {
                let _ = writeln!(lua, "  reply[length + {}] = {}", i + 1, value(field));
            }
            lua + "end\n"
        }
    }
}

/// A list of the names of fields.
#[must_use]
pub fn names(name: &str, fields: &[FieldShape]) -> String {
    let names = joined(fields, ", ", |field| format!("'{}'", field.name));
    format!("local {name} = {{ {names} }}\n")
}

/// For each type of event of a stream `event/<type>`, and the function that appends it.
pub fn events<E: Events>() -> impl Iterator<Item = (String, String)> {
    let common = E::common();
    let shapes = E::shapes().into_iter();
    shapes.map(move |shape| (format!("event/{}", shape.kind), event(&shape, &common)))
}

/// The function `append_<type>(key, state, at, values)`, which gets the texts of the fields in a table by their names.
/// `common`: the fields that every event of the stream has besides `n`, `at`, `type` and `history`.
fn event(shape: &EventShape, common: &[FieldShape]) -> String {
    let kind = shape.kind;
    let all = || shape.fields.iter().chain(common);
    let field = |name: &str, value: &str| {
        let name = sized(name);
        format!(" .. '{name}' .. (sizes[#{value}] or size(#{value})) .. {value}")
    };
    let mut lua = format!(
        "local function append_{kind}(key, state, at, values)\n  local id, n = next_event(state)\n  local at_text = num(at)\n  \
         local text = '{}{}'{}{}{}",
        sized("type"),
        sized(kind),
        field("n", "n"),
        field("at", "at_text"),
        field("history", "state.history"),
    );
    for always in all().filter(|field| field.when.is_empty()) {
        lua += &field(always.name, &format!("values.{}", always.name));
    }
    lua.push('\n');
    for sometimes in all().filter(|field| !field.when.is_empty()) {
        let value = format!("values.{}", sometimes.name);
        let _ = writeln!(
            lua,
            "  if {value} then text = text{} end",
            field(sometimes.name, &value)
        );
    }
    lua + "  redis.call('XADD', key, id, 'e', text)\nend\n"
}

/// A text as it is in an event.
fn sized(text: &str) -> String {
    format!("{}:{text}", text.len())
}

fn field_names(fields: &[FieldShape]) -> Vec<&'static str> {
    fields.iter().map(|field| field.name).collect()
}

/// Something of each field, with this between two of them.
fn joined(fields: &[FieldShape], between: &str, of: impl Fn(&FieldShape) -> String) -> String {
    fields.iter().map(of).collect::<Vec<_>>().join(between)
}
