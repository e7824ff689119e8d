//! The reference of a declaration, in Markdown.

use std::fmt::Write as _;

use super::{FieldShape, RecordShape};

/// A record, with a table for each kind.
#[must_use]
pub fn record(title: &str, shape: &RecordShape) -> String {
    let mut page = format!("## {title}\n\n{}\n", paragraph(shape.doc));
    for kind in shape.kinds {
        let _ = write!(page, "\n`{}`: {}\n\n", kind.form(), paragraph(kind.doc));
        page.push_str(&table(kind.fields));
    }
    page
}

/// A reply, as a table of its values in order.
#[must_use]
pub fn reply(title: &str, doc: &str, fields: &[FieldShape]) -> String {
    format!("## {title}\n\n{}\n\n{}", paragraph(doc), table(fields))
}

fn table(fields: &[FieldShape]) -> String {
    let mut table = String::from("| field | type | meaning |\n| --- | --- | --- |\n");
    for field in fields {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} |",
            field.name,
            kind(field),
            paragraph(field.doc)
        );
    }
    table
}

fn kind(field: &FieldShape) -> String {
    let unit = if field.name.ends_with("_ms") { ", ms" } else { "" };
    let empty = if field.reply.ends_with("or ''") {
        ", or empty"
    } else {
        ""
    };
    format!("{}{unit}{empty}", field.of)
}

pub(super) fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
