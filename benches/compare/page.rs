//! One HTML page: the tables, and below them the plots.

use std::fmt::Write as _;

use crate::plot::Plot;

const STYLE: &str = "body{margin:0 auto;max-width:1180px;padding:32px 20px;background:#f6f8fa;color:#1f2937;font:15px/1.5 \
    system-ui,'Segoe UI','Liberation Sans',Helvetica,Arial,sans-serif}section{background:#fff;border:1px solid \
    #e4e8ed;border-radius:10px;padding:18px 20px;margin-top:16px;overflow-x:auto}h1{font-size:26px;margin:0}h2{font-size:16px;margin:0}\
    p{color:#6b7785;margin:4px 0 8px}table{border-collapse:collapse;font-size:14px;margin-top:8px}td,th{padding:5px 14px 5px 0;\
    border-top:1px solid #e4e8ed;text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}\
    svg{display:block;width:100%;height:auto}.legend i{display:inline-block;width:10px;height:10px;border-radius:3px;margin:0 6px 0 14px}";

/// `tables`: Markdown, whose tables and lines are used.
pub(crate) fn html(title: &str, tables: &str, plots: &[Plot]) -> String {
    let mut body = format!("<h1>{title}</h1>\n<section>\n{}</section>\n", markdown(tables));
    for plot in plots {
        let mut legend = String::new();
        for (name, colour) in &plot.legend {
            let _infallible = write!(legend, "<i style=\"background:{colour}\"></i>{}", escape(name));
        }
        let _infallible = writeln!(
            body,
            "<section><h2>{}</h2>\n<p class=\"legend\">{legend}</p>\n{}</section>",
            escape(&plot.title),
            plot.svg
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n{body}</body>\n</html>\n"
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
