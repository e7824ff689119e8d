//! Rows as CSV.
//!
//! A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, in some languages also with the same
//! characters in full width. Text that operators wrote freely
//! gets a `'` in front of these characters. All other cells are numbers, times, ids and signatures, which stay as
//! they are, so that signed values can be checked. NDJSON and JSON never change a text.

use crate::ledger::queries::audit::AuditRow;

/// A row of a table.
pub trait Record {
    /// Names of the columns.
    const HEADER: &'static [&'static str];

    /// One text for each column; empty for null.
    fn cells(&self) -> Vec<String>;
}

/// Lines of CSV. Writing to memory can't fail.
pub fn lines<R: AsRef<[u8]>>(records: impl IntoIterator<Item = impl IntoIterator<Item = R>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer
            .write_record(record)
            .expect("records of one table have the same columns");
    }
    writer.into_inner().expect("memory takes all that is written")
}

/// Free text that no spreadsheet runs as a formula.
pub fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

pub fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

impl Record for AuditRow {
    const HEADER: &'static [&'static str] = &[
        "who",
        "at",
        "action",
        "target",
        "before",
        "after",
        "reason",
        "request_id",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.who.clone(),
            self.at.clone(),
            self.action.clone(),
            self.target.clone(),
            self.before.to_string(),
            self.after.to_string(),
            harmless(&self.reason),
            harmless(&self.request_id),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = lines([["a", "b"], ["1,5", "say \"x\"\nnow"]]);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "a,b\n\"1,5\",\"say \"\"x\"\"\nnow\"\n"
        );
    }

    #[test]
    fn free_text_is_no_formula() {
        for text in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "＝1+1",
            "＋1",
            "－1",
            "＠SUM(A1)",
        ] {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        assert_eq!(harmless("launch = now"), "launch = now");
    }
}
