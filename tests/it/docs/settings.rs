//! The reference of settings is made from `config/default.toml`.

use std::fmt::Write as _;
use std::fs;

use super::{cell, head, hold, top};
use crate::support::prelude::*;

/// A setting, or several that share a comment.
#[derive(Debug, PartialEq)]
struct Setting {
    section: String,
    name: String,
    default: String,
    comment: String,
}

/// Settings in their order. A comment belongs to the keys right below it; a blank line ends it.
fn parse(text: &str) -> Vec<Setting> {
    let (mut section, mut comment) = (String::new(), Vec::new());
    let mut comment_ended = true;
    let mut settings = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(words) = line.strip_prefix('#') {
            if comment_ended {
                comment.clear();
            }
            comment_ended = false;
            comment.push(words.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            comment.clear();
        } else if let Some((name, default)) = line.split_once('=') {
            comment_ended = true;
            settings.push(Setting {
                section: section.clone(),
                name: name.trim().to_owned(),
                default: default.trim().to_owned(),
                comment: comment.join(" "),
            });
        } else {
            comment.clear();
            comment_ended = true;
        }
    }
    settings
}

/// What a value is, by how it is written.
fn kind(default: &str) -> &'static str {
    match default.chars().next() {
        Some('"') => "text",
        Some('[') => "list of texts",
        Some('t' | 'f') => "true or false",
        _ if default.contains('.') => "number",
        _ => "integer",
    }
}

/// The unit, which is the last part of the name.
fn unit(name: &str) -> &'static str {
    let units = [
        ("_ms", "ms"),
        ("_s", "s"),
        ("_bytes", "bytes"),
        ("_mib", "MiB"),
        ("_pct", "%"),
        ("_days", "days"),
        ("_events", "events"),
    ];
    units
        .into_iter()
        .find(|(end, _)| name.ends_with(end))
        .map_or("", |(_, unit)| unit)
}

fn page(settings: &[Setting]) -> String {
    let mut page = head("Settings", "config/default.toml");
    page += "`config/default.toml` is compiled in. A file given with `--config`, or `config/<JACKPOT_ENV>.toml`, overrides it.\n\
             The environment overrides both: `JACKPOT__REDIS__MODE=cluster` sets `redis.mode`, and a list is separated by commas.\n\
             The service refuses unknown keys and variables.\n";
    let mut section = None;
    for setting in settings {
        if section != Some(&setting.section) {
            section = Some(&setting.section);
            let title = if setting.section.is_empty() {
                "Top level"
            } else {
                &setting.section
            };
            writeln!(
                page,
                "\n## {title}\n\n| setting | type | default | range | what it does |\n| --- | --- | --- | --- | --- |"
            )
            .expect("a text takes all");
        }
        let key = [setting.section.as_str(), &setting.name].join(".");
        let mut range = jackpot::settings::rule(key.trim_start_matches('.')).unwrap_or_default();
        if range.ends_with(" or ") {
            range += "empty";
        }
        let range = format!("{range} {}", unit(&setting.name));
        writeln!(
            page,
            "| `{}` | {} | `{}` | {} | {} |",
            setting.name,
            kind(&setting.default),
            setting.default,
            range.trim(),
            cell(&setting.comment)
        )
        .expect("a text takes all");
    }
    page
}

#[test]
fn the_page_of_settings_is_that_of_the_defaults() {
    let text = fs::read_to_string(top().join("config/default.toml")).expect("the defaults");
    let settings = parse(&text);
    assert!(settings.len() > 50, "{} settings", settings.len());
    for setting in &settings {
        assert!(!setting.comment.is_empty(), "{} has no comment", setting.name);
    }
    hold("settings.md", &page(&settings));
}

#[test]
fn a_setting_has_its_section_its_comment_and_its_range() {
    let text = "# Of the file.\n\n# Where.\ndir = \"./data\"\n\n# Of the part.\n[redis]\n# How long\n# each may take.\n\
                connect_timeout_ms = 5\nmax_memory_mib = 0\n";
    let settings = parse(text);
    let comments: Vec<&str> = settings.iter().map(|setting| setting.comment.as_str()).collect();
    assert_eq!(
        comments,
        ["Where.", "How long each may take.", "How long each may take."]
    );
    let page = page(&settings);
    let rows = [
        "## Top level",
        "| `dir` | text | `\"./data\"` |  | Where. |",
        "## redis",
        "| `connect_timeout_ms` | integer | `5` | 10 to 60000 ms | How long each may take. |",
        "| `max_memory_mib` | integer | `0` | 0 or 16 to 1048576 MiB | How long each may take. |",
    ];
    for row in rows {
        page.says(row);
    }
}
