//! The reference of settings is made from `config/default.toml`.

use std::fs;

use super::{cell, head, hold, top};

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
            page += &format!(
                "\n## {title}\n\n| setting | type | default | range | what it does |\n| --- | --- | --- | --- | --- |\n"
            );
        }
        let key = [setting.section.as_str(), &setting.name].join(".");
        let rule = jackpot::settings::rule(key.trim_start_matches('.')).unwrap_or_default();
        let range = format!("{} {}", rule.replace(" or  ", " or empty "), unit(&setting.name));
        page += &format!(
            "| `{}` | {} | `{}` | {} | {} |\n",
            setting.name,
            kind(&setting.default),
            setting.default,
            range.trim(),
            cell(&setting.comment)
        );
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
    let text = "# Of the file.\n\n# First\n# line. 0 or 16 to 300. 0: none.\n[part]\n# How long. 10 to 60000, and more.\na_ms = 5\nb_ms = 6\n";
    let settings = parse(text);
    assert_eq!(settings.len(), 2);
    assert_eq!(settings[0].section, "part");
    assert_eq!(settings[1].comment, "How long. 10 to 60000, and more.");
    assert_eq!(range(&settings[0].comment).as_deref(), Some("10 to 60000"));
    assert_eq!(
        range("First line. 0 or 16 to 300. 0: none.").as_deref(),
        Some("0, 16 to 300")
    );
    assert_eq!(range("goes to 5 of them"), None);
    assert!(page(&settings).contains("| `b_ms` | integer | `6` | 10 to 60000 ms | How long. 10 to 60000, and more. |"));
}
