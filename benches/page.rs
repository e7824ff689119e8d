//! One HTML page: the tables, and below them the plots. It is a report like those of `jackpot simulate`.

use std::fmt::Write as _;

use jackpot_core::html::escape;
use jackpot_simulate::report::plots::Plot;
use jackpot_simulate::report::{document, plotted};

/// What it needs beside the style of reports: numbers in columns, and plots that are as wide as on a desk.
const STYLE: &str =
    "<style>td:not(:first-child), th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; }
.scroll svg { min-width: 760px; }</style>";

/// `tables`: Markdown, whose tables and lines are used.
pub(crate) fn html(title: &str, tables: &str, plots: &[Plot]) -> String {
    let tables = scrolls("Tables", &markdown(tables));
    let plots = plots.iter().map(|plot| Plot {
        svg: scrolls(plot.title, &plot.svg),
        legend: plot.legend.clone(),
        caption: plot.caption.clone(),
        ..*plot
    });
    let plots = plotted(&plots.collect::<Vec<_>>());
    let main = format!("{STYLE}<h1>{title}</h1>\n<section class=\"panel\">{tables}</section>\n{plots}");
    document(title, &main)
}

fn scrolls(name: &str, html: &str) -> String {
    let name = escape(name);
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">{html}</div>")
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
