//! The Lua part of a declaration: readers and writers, as the text of a file that is placed before a script.

use std::fmt::Write as _;

use super::{EventShape, FieldShape, Head, KindShape, RecordShape, ReplyShape};

/// Longest line that the Lua check allows.
const WIDTH: usize = 120;

/// The first lines of a generated file. `source`: the Rust file of the declaration.
#[must_use]
pub fn heading(source: &str) -> String {
    let mut lua = String::new();
    let how = "Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it docs::`.";
    comment(&mut lua, &format!("Generated from {source}. {how}"));
    lua
}

/// What a record is, and its kinds, as a comment.
fn about_record(shape: &RecordShape) -> String {
    let mut lua = String::from("--\n");
    comment(&mut lua, shape.doc);
    for kind in &shape.kinds {
        comment(
            &mut lua,
            &format!("  {}: {}", shape.form(Some(kind)), sentence(kind.doc)),
        );
    }
    if shape.kinds.is_empty() {
        comment(&mut lua, &format!("  {}", shape.form(None)));
    }
    lua
}

/// Reader of a record.
#[must_use]
pub fn record_reader(shape: &RecordShape) -> String {
    let mut lua = about_record(shape);
    read_record(&mut lua, shape);
    lua
}

fn read_record(lua: &mut String, shape: &RecordShape) {
    let name = shape.name;
    let _ = write!(
        lua,
        "\n-- Parses a record into a table with its `kind`, its `text`, and its fields as text; nil for no record, or one that no\n\
         -- script wrote.\nlocal function read_{name}(text)\n  local kind = text and string.sub(text, 1, 1)\n"
    );
    for kind in &shape.kinds {
        read_kind(lua, kind);
    }
    lua.push_str("  return nil\nend\n");
}

/// Writers of a record: a function for each kind, which gets the fields in order and makes no table. What every kind has
/// at its beginning is made by a function of its own, and given to the others.
#[must_use]
pub fn record_writers(shape: &RecordShape) -> String {
    let mut lua = about_record(shape);
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

/// `text`: operands with ` .. ` between them.
fn write_function(lua: &mut String, name: &str, arguments: &[&str], text: &str) {
    let is_long = "  return ".len() + text.len() > WIDTH;
    let text = if is_long {
        text.replace(" .. ", "\n    .. ")
    } else {
        text.to_owned()
    };
    let one_line = format!("local function {name}({})", arguments.join(", "));
    let begins = if one_line.len() > WIDTH {
        format!("local function {name}(\n  {}\n)", arguments.join(",\n  "))
    } else {
        one_line
    };
    let _ = write!(lua, "\n{begins}\n  return {text}\nend\n");
}

/// Writers of a record without kinds, and its reader.
#[must_use]
pub fn record_without_kinds(shape: &RecordShape) -> String {
    record_writers(shape) + &read_function(shape, None)
}

/// Writer of a value in a list, and the pattern that finds each of them.
#[must_use]
pub fn record_list(shape: &RecordShape) -> String {
    let groups: Vec<_> = shape.head.iter().map(|field| format!("({})", field.pattern)).collect();
    let pattern = groups.join(&magic_free(shape.by)) + shape.end;
    let name = shape.name.to_ascii_uppercase();
    record_writers(shape) + &format!("\n-- Finds each of a list.\nlocal {name} = '{pattern}'\n")
}

/// Reader of a record without kinds, or of the kind with this letter of a record that begins with fields. The text of that
/// beginning is `head`.
///
/// # Panics
///
/// When no kind has the letter.
#[must_use]
pub fn record_part_reader(shape: &RecordShape, letter: Option<&str>) -> String {
    about_record(shape) + &read_function(shape, letter)
}

fn read_function(shape: &RecordShape, letter: Option<&str>) -> String {
    let mut lua = String::new();
    let of_letter = |letter| {
        let mut kinds = shape.kinds.iter();
        kinds
            .find(|kind| kind.letter == letter)
            .expect("a kind has this letter")
    };
    let kind = letter.map(of_letter);
    let pattern = |field: &FieldShape| match field.pattern {
        "%S+" if shape.by != ' ' => format!("[^{}]+", shape.by),
        pattern => pattern.to_owned(),
    };
    let by = magic_free(shape.by);
    let group = |field: &FieldShape| format!("({})", pattern(field));
    let groups = |fields: &[FieldShape]| fields.iter().map(group).collect::<Vec<_>>().join(&by);
    let (function, names, text) = match kind {
        None => (format!("read_{}", shape.name), Vec::new(), groups(&shape.head)),
        Some(kind) => {
            let (first, others) = shape.head.split_first().expect("the record begins with fields");
            let others = others
                .iter()
                .map(|field| by.clone() + &pattern(field))
                .collect::<String>();
            let text = format!(
                "({}{others}){by}{}{by}{}",
                group(first),
                kind.letter,
                groups(&kind.fields)
            );
            let function = format!("read_{}_{}", snake(kind.name), shape.name);
            (function, vec!["head", first.name], text)
        }
    };
    let fields = kind.map_or(&shape.head, |kind| &kind.fields);
    let names: Vec<_> = names.into_iter().chain(fields.iter().map(|field| field.name)).collect();
    // A list of locals is not wrapped, so many values go through a table.
    let list = format!("  local {} =", names.join(", "));
    let is_long = list.len() > WIDTH;
    let (left, right) = if is_long {
        (
            "  local found =".to_owned(),
            format!("{{ string.match(text, '^{text}$') }}"),
        )
    } else {
        (list, format!("string.match(text, '^{text}$')"))
    };
    let value = |at: usize| {
        if is_long {
            format!("found[{}]", at + 1)
        } else {
            names[at].to_owned()
        }
    };
    let between = if left.len() + right.len() < WIDTH {
        " "
    } else {
        "\n    "
    };
    let _ = write!(
        lua,
        "\n-- Parses it into a table with its fields as text; nil for every other text.\nlocal function {function}(text)\n\
         {left}{between}{right}\n  if not {} then\n    return nil\n  end\n  return {{\n",
        value(0)
    );
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(lua, "    {name} = {},", value(at));
    }
    lua.push_str("  }\nend\n");
    lua
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
#[must_use]
pub fn record(shape: &RecordShape) -> String {
    let mut lua = record_reader(shape);
    let name = shape.name;
    let _ = write!(
        lua,
        "\nlocal function write_{name}({name})\n  local kind = {name}.kind\n"
    );
    // Scripts write records after their first write, where nothing may fail. So the last kind is not looked for.
    let (last, others) = shape.kinds.split_last().expect("a record has a kind");
    for kind in others {
        let _ = writeln!(
            lua,
            "  if kind == '{}' then\n    {}\n  end",
            kind.letter,
            write_kind(name, kind)
        );
    }
    let _ = write!(lua, "  {}\nend\n", write_kind(name, last));
    lua
}

fn read_kind(lua: &mut String, kind: &KindShape) {
    let names: Vec<_> = kind.fields.iter().map(|field| field.name).collect();
    let patterns = kind.fields.iter().map(|field| field.pattern).collect::<Vec<_>>();
    let patterns = patterns.join(") (");
    let letter = kind.letter;
    let left = format!("    local {} =", names.join(", "));
    let right = format!("string.match(text, '^{letter} ({patterns})$')");
    let between = if left.len() + 1 + right.len() <= WIDTH {
        " "
    } else {
        "\n      "
    };
    let _ = write!(
        lua,
        "  if kind == '{letter}' then\n{left}{between}{right}\n    if not {} then\n      return nil\n    end\n    return {{\n",
        names[0]
    );
    for field in ["kind", "text"].into_iter().chain(names) {
        let _ = writeln!(lua, "      {field} = {field},");
    }
    lua.push_str("    }\n  end\n");
}

/// The statement that returns the text of a kind.
fn write_kind(name: &str, kind: &KindShape) -> String {
    let fields = kind.fields.iter().map(|field| format!("{name}.{}", field.name));
    let fields = fields.collect::<Vec<_>>().join(" .. ' ' .. ");
    format!("return '{} ' .. {fields}", kind.letter)
}

/// A function that makes a reply, or goes on with one, from the values of a table by their names.
#[must_use]
pub fn reply(shape: &ReplyShape) -> String {
    let mut lua = String::from("\n");
    let (name, fields) = (shape.name, &shape.fields);
    comment(&mut lua, shape.doc);
    let value = |field: &FieldShape| field.reply.replace("%s", &format!("values.{}", field.name));
    let begins = match shape.head {
        Head::Code(code) => Some(("", format!("'{code}'"))),
        Head::Codes(_) => Some(("code, ", "code".to_owned())),
        Head::Part => None,
    };
    if let Some((argument, code)) = begins {
        let _ = write!(
            lua,
            "local function {name}_reply({argument}mark_text, values)\n  return {{\n    {code},\n    mark_text,\n"
        );
        for field in fields {
            let _ = writeln!(lua, "    {},", value(field));
        }
        lua.push_str("  }\nend\n");
        return lua;
    }
    let _ = writeln!(
        lua,
        "local function append_{name}(reply, values)\n  local length = #reply"
    );
    for (i, field) in fields.iter().enumerate() {
        let _ = writeln!(lua, "  reply[length + {}] = {}", i + 1, value(field));
    }
    lua.push_str("end\n");
    lua
}

/// A list of the names of fields.
#[must_use]
pub fn names(name: &str, doc: &str, fields: &[FieldShape]) -> String {
    let mut lua = String::from("\n");
    comment(&mut lua, doc);
    let _ = writeln!(lua, "local {name} = {{");
    for field in fields {
        let _ = writeln!(lua, "  '{}',", field.name);
    }
    lua.push_str("}\n");
    lua
}

/// The function that appends an event, from the texts of a table by their names. `common`: the fields that every event of
/// the stream has besides `n`, `at`, `type` and `history`.
#[must_use]
pub fn event(shape: &EventShape, common: &[FieldShape]) -> String {
    let kind = shape.kind;
    let mut lua = String::from("--\n");
    comment(
        &mut lua,
        &format!(
            "Part of a script. Appends the event `{kind}`: {}",
            first_paragraph(shape.doc)
        ),
    );
    comment(&mut lua, "`values` has a text for each field:");
    let all = || shape.fields.iter().chain(common);
    for field in all() {
        comment(&mut lua, &format!("  {}: {}", field.name, about(field)));
    }
    let _ = write!(lua, "\nlocal function append_{kind}(key, state, at, values)\n");
    let always = all().filter(|field| field.when.is_empty()).map(|field| field.name);
    let sometimes: Vec<_> = all()
        .filter(|field| !field.when.is_empty())
        .map(|field| field.name)
        .collect();
    lua.push_str("  local id, n = next_event(state)\n  local at_text = num(at)\n  local text = ");
    let field = |name: &str, value: &str| {
        format!(
            "'{}'\n    .. (sizes[#{value}] or size(#{value}))\n    .. {value}",
            sized(name)
        )
    };
    let mut parts = vec![
        format!("'{}{}'", sized("type"), sized(kind)),
        field("n", "n"),
        field("at", "at_text"),
        field("history", "state.history"),
    ];
    parts.extend(always.map(|name| field(name, &format!("values.{name}"))));
    let _ = writeln!(lua, "{}", parts.join("\n    .. "));
    for name in &sometimes {
        let _ = write!(
            lua,
            "  if values.{name} then\n    text = text .. {}\n  end\n",
            field(name, &format!("values.{name}")).replace("\n    ", " ")
        );
    }
    lua.push_str("  redis.call('XADD', key, id, 'e', text)\nend\n");
    lua
}

/// A text as it is in an event.
fn sized(text: &str) -> String {
    format!("{}:{text}", text.len())
}

/// Type, unit and meaning of a field.
fn about(field: &FieldShape) -> String {
    let when = if field.when.is_empty() {
        String::new()
    } else {
        format!(" Only {}.", field.when)
    };
    format!("{}{when}", sentence(field.doc))
}

/// The text up to an empty line.
fn first_paragraph(doc: &str) -> String {
    let paragraph = doc.lines().take_while(|line| !line.trim().is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}

/// The first sentence of a comment, on one line.
fn sentence(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Comment lines.
pub(super) fn comment(lua: &mut String, text: &str) {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let margin = if indent > 1 { " ".repeat(indent) } else { String::new() };
    let mut line = format!("-- {margin}");
    let empty = line.len();
    for word in text.split_whitespace() {
        if line.len() > empty && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(lua, "{line}");
            line = format!("-- {margin}{margin}");
            line.push_str(word);
            continue;
        }
        if line.len() > empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(lua, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_comment_is_broken_within_the_width() {
        let mut lua = String::new();
        comment(&mut lua, &"word ".repeat(60));
        assert!(
            lua.lines().count() == 3 && lua.lines().all(|line| line.len() <= WIDTH),
            "{lua}"
        );
        assert!(lua.lines().all(|line| line.starts_with("-- word")));
    }

    #[test]
    fn a_line_is_broken_only_where_it_is_longer_than_the_width() {
        let function = |text: &str, arguments: &[&str]| {
            let mut lua = String::new();
            write_function(&mut lua, "f", arguments, text);
            lua
        };
        // `  return ` has 9 characters.
        let fits = format!("{} .. b", "a".repeat(WIDTH - 9 - 5));
        assert_eq!(
            function(&fits, &["a"]),
            format!("\nlocal function f(a)\n  return {fits}\nend\n")
        );
        let longer = format!("a{fits}");
        let broken = longer.replace(" .. ", "\n    .. ");
        assert_eq!(
            function(&longer, &["a"]),
            format!("\nlocal function f(a)\n  return {broken}\nend\n")
        );
        // `local function f(, b)` has 21.
        let fits = "a".repeat(WIDTH - 21);
        assert!(function("1", &[&fits, "b"]).contains(&format!("f({fits}, b)\n")));
        let longer = format!("a{fits}");
        assert!(function("1", &[&longer, "b"]).contains(&format!("f(\n  {longer},\n  b\n)\n")));
        let comment_of = |words: &[&str]| {
            let mut lua = String::new();
            comment(&mut lua, &words.join(" "));
            lua
        };
        let fits = "a".repeat(WIDTH - 3 - 2);
        assert_eq!(comment_of(&[&fits, "b"]), format!("-- {fits} b\n"));
        assert_eq!(comment_of(&[&fits, "bc"]), format!("-- {fits}\n-- bc\n"));
        assert_eq!(comment_of(&["", "", &fits, "b"]), format!("--   {fits}\n--     b\n"));
    }
}
