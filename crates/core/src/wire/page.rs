//! The reference of a declaration, in Markdown.

use std::fmt::Write as _;

use super::{EventShape, FieldShape, Head, RecordShape, ReplyShape};

/// A record, with a table for each kind, or a value of several parts.
#[must_use]
pub fn record(title: &str, shape: &RecordShape) -> String {
    let mut page = format!("## {title}\n\n{}\n", paragraph(shape.doc));
    if !shape.head.is_empty() {
        let form = if shape.kinds.is_empty() {
            format!("`{}`", shape.form(None))
        } else {
            "Every kind begins with".to_owned()
        };
        let _ = write!(page, "\n{form}:\n\n{}", table(&shape.head));
    }
    for kind in &shape.kinds {
        let _ = write!(page, "\n`{}`: {}\n", shape.form(Some(kind)), paragraph(kind.doc));
        if !kind.fields.is_empty() {
            let _ = write!(page, "\n{}", table(&kind.fields));
        }
    }
    page
}

/// A reply, as a table of its values in order.
#[must_use]
pub fn reply(shape: &ReplyShape) -> String {
    let what = match shape.head {
        Head::Code(code) | Head::Codes(code) => format!("the reply `{code}`"),
        Head::Part => format!("`{}`", shape.name),
    };
    format!(
        "## {}: {what}\n\n{}\n\n{}",
        shape.scripts,
        paragraph(shape.doc),
        table(&shape.fields)
    )
}

/// An event, with its fields less `common`, which stand at the head of the page's part. What the declaration says after
/// an empty line stands after the table.
#[must_use]
pub fn event(subject: &str, shape: &EventShape) -> String {
    let paragraphs: Vec<_> = shape.doc.split("\n\n").map(paragraph).collect();
    let (first, rest) = paragraphs.split_first().expect("a declaration says what happened");
    let mut page = format!("### {subject} `{}`\n\n{first}\n\n{}", shape.kind, table(&shape.fields));
    for more in rest {
        let _ = write!(page, "\n{more}\n");
    }
    page
}

/// Fields, as a table.
#[must_use]
pub fn table(fields: &[FieldShape]) -> String {
    let mut table = String::from("| field | type | meaning |\n| --- | --- | --- |\n");
    for field in fields {
        let _ = writeln!(
            table,
            "| `{}` | {} | {}{} |",
            field.name,
            kind(field).replace('|', "\\|"),
            paragraph(field.doc).replace('|', "\\|"),
            when(field)
        );
    }
    table
}

fn kind(field: &FieldShape) -> String {
    let unit = match field.unit {
        "" => String::new(),
        unit => format!(", {unit}"),
    };
    let empty = if field.reply.ends_with("or ''") {
        ", or empty"
    } else {
        ""
    };
    format!("{}{unit}{empty}", field.of)
}

fn when(field: &FieldShape) -> String {
    match field.when {
        "" => String::new(),
        when => format!(" Only {when}."),
    }
}

pub(super) fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::KindShape;
    use super::*;

    fn shape(kinds: Vec<KindShape>) -> RecordShape {
        RecordShape {
            name: "place",
            doc: " A\n place.\n",
            by: ' ',
            end: "",
            head: vec![FieldShape::new::<Option<i64>>("at_ms", "When | since.")],
            kinds,
        }
    }

    #[test]
    fn a_record_has_a_table_for_what_all_begin_with_and_for_each_kind() {
        let at =
            "| field | type | meaning |\n| --- | --- | --- |\n| `at_ms` | integer, ms, or empty | When \\| since. |\n";
        assert_eq!(
            record("Place", &shape(Vec::new())),
            format!("## Place\n\nA place.\n\n`at_ms`:\n\n{at}")
        );
        let kind = |letter, fields| KindShape {
            letter,
            name: "Any",
            doc: "A kind.",
            fields,
        };
        let user = FieldShape::text("user", "Who.", "a name");
        let kinds = vec![kind("w", vec![user]), kind("n", Vec::new())];
        let user = "| field | type | meaning |\n| --- | --- | --- |\n| `user` | a name | Who. |\n";
        assert_eq!(
            record("Place", &shape(kinds)),
            format!(
                "## Place\n\nA place.\n\nEvery kind begins with:\n\n{at}\n`at_ms w user`: A kind.\n\n{user}\n`at_ms n`: A kind.\n"
            )
        );
    }

    #[test]
    fn an_event_says_after_its_table_what_stands_in_later_paragraphs() {
        let shape = EventShape {
            kind: "move",
            doc: "It\nmoved.\n\nMore of it.",
            fields: vec![FieldShape {
                when: "where it moved",
                ..FieldShape::text("to", "Where.", "a place")
            }],
        };
        let table =
            "| field | type | meaning |\n| --- | --- | --- |\n| `to` | a place | Where. Only where it moved. |\n";
        assert_eq!(
            event("Jackpot", &shape),
            format!("### Jackpot `move`\n\nIt moved.\n\n{table}\nMore of it.\n")
        );
        let reply_of = |head| ReplyShape {
            name: "view",
            scripts: "`view.lua`",
            head,
            doc: "What is.",
            fields: shape.fields.clone(),
        };
        for (head, what) in [
            (Head::Code("OK"), "the reply `OK`"),
            (Head::Codes("OK, NONE"), "the reply `OK, NONE`"),
            (Head::Part, "`view`"),
        ] {
            assert_eq!(
                reply(&reply_of(head)),
                format!("## `view.lua`: {what}\n\nWhat is.\n\n{table}")
            );
        }
    }
}
