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
