//! One HTML page: the tables, and below them the plots.

use std::fmt::Write as _;

use crate::plot::Plot;

/// What the page needs beside the stylesheet of all pages. Plots have their colours as attributes, which it overrides.
const STYLE: &str = "
:root { --ours: #0d8076; --theirs: #a0aab6; --amber: #d97706; --red: #c83030; --blue: #2e62c4; }
@media (prefers-color-scheme: dark) { :root { --ours: #4fc7b9; --theirs: #6b7683; --amber: #f0a63c; --red: #ff7d74; --blue: #7aa7ff; } }
body { padding: var(--gap-5) var(--gap-4); } main { max-width: 1180px; margin: 0 auto; } main > * + * { margin-top: var(--gap-4); }
td:not(:first-child), th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; min-width: 760px; height: auto; } svg text { font-family: inherit; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin: 0 6px 0 14px; }
";

/// The colours of the plots, by their names in the style.
const COLOURS: [(&str, &str); 8] = [
    ("#1F2937", "ink"),
    ("#6B7785", "muted"),
    ("#E8ECF0", "line"),
    ("#0D8076", "ours"),
    ("#A0AAB6", "theirs"),
    ("#2E62C4", "blue"),
    ("#D97706", "amber"),
    ("#C83030", "red"),
];

/// `tables`: Markdown, whose tables and lines are used.
pub(crate) fn html(title: &str, tables: &str, plots: &[Plot]) -> String {
    let mut body = format!(
        "<h1>{title}</h1>\n<section class=\"panel scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Tables\">\n{}</section>\n",
        markdown(tables)
    );
    for plot in plots {
        let mut legend = String::new();
        for (name, colour) in &plot.legend {
            let named = COLOURS.iter().find(|(known, _)| known.eq_ignore_ascii_case(colour));
            let colour = named.map_or_else(|| colour.clone(), |(_, name)| format!("var(--{name})"));
            let _infallible = write!(legend, "<i style=\"background:{colour}\"></i>{}", escape(name));
        }
        let _infallible = writeln!(
            body,
            "<section class=\"panel\"><h2>{}</h2>\n<p class=\"legend\">{legend}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div></section>",
            escape(&plot.title),
            escape(&plot.title),
            plot.svg
        );
    }
    let colours = COLOURS
        .iter()
        .map(|(colour, name)| {
            format!("svg [fill=\"{colour}\"] {{ fill: var(--{name}); }} svg [stroke=\"{colour}\"] {{ stroke: var(--{name}); }}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}{STYLE}{colours}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        jackpot_ui::STYLE
    )
}

fn markdown(text: &str) -> String {
    let (mut html, mut in_table) = (String::new(), false);
    for line in text.lines() {
        let row = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
        if in_table && row.is_none() {
            html.push_str("</table>\n");
            in_table = false;
        }
        match row {
            Some(row) if row.trim_start().starts_with("---") => {}
            Some(row) => {
                let name = if in_table { "td" } else { "th" };
                if !in_table {
                    html.push_str("<table>\n");
                    in_table = true;
                }
                html.push_str("<tr>");
                for cell in row.split('|') {
                    let text = escape(cell.trim()).replace("**", "");
                    let _infallible = write!(html, "<{name}>{text}</{name}>");
                }
                html.push_str("</tr>\n");
            }
            None if line.is_empty() => {}
            None => {
                let _infallible = writeln!(html, "<p>{}</p>", escape(line));
            }
        }
    }
    if in_table {
        html.push_str("</table>\n");
    }
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
