//! The page around the plots.

use std::fmt::Write as _;

use jackpot_core::html::escape;
use plotters::style::RGBColor;

use super::plots::{self, Plot};
use crate::Verdict;
use crate::compare::Score;
use crate::finding::{self, Finding, Judged};
use crate::overview::Overview;

/// What reports need beside the stylesheet of all pages.
const STYLE: &str = include_str!("style.css");

/// The whole page.
pub fn html(overview: &Overview, plots: &[Plot], at: jiff::Timestamp) -> String {
    let body = [
        header(overview, at),
        verdict(&overview.findings),
        cards(overview),
        plotted(plots),
        checks(overview),
        compared(overview),
        details(overview),
    ]
    .concat();
    document(&title(overview), &body)
}

/// A report in one file, so the stylesheets are in it.
pub fn document(title: &str, main: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{}{STYLE}{}</style>\n</head>\n<body class=\"report\">\n<main>\n{main}</main>\n</body>\n</html>\n",
        jackpot_ui::STYLE,
        colours()
    )
}

/// Plots have their colours as attributes, which every style overrides.
fn colours() -> String {
    let rule = |(colour, name): &(RGBColor, &str)| {
        let colour = plots::attribute(*colour);
        format!(
            "svg [fill=\"{colour}\"] {{ fill: var(--{name}); }} svg [stroke=\"{colour}\"] {{ stroke: var(--{name}); }}\n"
        )
    };
    plots::COLOURS.iter().map(rule).collect()
}

/// By the kind of what was played.
fn title(overview: &Overview) -> String {
    format!("Simulation of a {}", overview.definition.0)
}

fn header(overview: &Overview, at: jiff::Timestamp) -> String {
    let machine = &overview.machine;
    let memory = machine
        .memory_mib
        .map_or_else(String::new, |mib| format!(", {} GiB", mib.div_ceil(1024)));
    let machine = format!(
        " · {}, {} cores{memory} · {} · jackpot {}",
        machine.processor, machine.cores, machine.system, machine.version
    );
    format!(
        "<header><h1>{}</h1><p class=\"muted\">{}{}</p></header>\n",
        title(overview),
        at.strftime("%Y-%m-%d %H:%M UTC"),
        escape(&machine)
    )
}

fn verdict(findings: &[Finding]) -> String {
    let held = findings
        .iter()
        .filter(|finding| matches!(finding.judged, Judged::Held(_)))
        .count();
    let (class, word, text) = match finding::verdict(findings) {
        Verdict::NoViolation => (
            "",
            "No violation",
            match findings.len() {
                all if all == held => format!("All {all} checks held."),
                all => format!("{held} of {all} checks held, {} could not be judged.", all - held),
            },
        ),
        Verdict::Violated { rule, detail } => (" bad", "Violated", format!("{rule}: {detail}")),
    };
    format!(
        "<section class=\"panel verdict{class}\"><strong>{word}</strong><span>{}</span></section>\n",
        escape(&text)
    )
}

fn cards(overview: &Overview) -> String {
    let cards = overview
        .cards
        .iter()
        .map(|(value, name)| format!("<div class=\"card\"><b>{value}</b><span>{name}</span></div>\n"))
        .collect::<Vec<_>>()
        .concat();
    format!("<div class=\"cards\">\n{cards}</div>\n")
}

/// The plots side by side.
pub fn plotted(plots: &[Plot]) -> String {
    let mut html = String::from("<div class=\"plots\">\n");
    for plot in plots {
        let legend = plot
            .legend
            .iter()
            .map(|(colour, text)| format!("<li><i style=\"background:{colour}\"></i>{}</li>", escape(text)))
            .collect::<Vec<_>>()
            .concat();
        let legend = if legend.is_empty() {
            legend
        } else {
            format!("<ul class=\"legend\">{legend}</ul>\n")
        };
        let class = if plot.wide { " wide" } else { "" };
        let _infallible = writeln!(
            html,
            "<section class=\"panel{class}\"><h2>{}</h2><p class=\"hint\">{}</p>\n{legend}{}</section>",
            escape(plot.title),
            escape(&plot.caption),
            plot.svg
        );
    }
    html.push_str("</div>\n");
    html
}

fn checks(overview: &Overview) -> String {
    let rows = overview
        .findings
        .iter()
        .map(|finding| {
            let (mark, class, seen) = match &finding.judged {
                Judged::Held(seen) => ("✓", "good", seen),
                Judged::Violated(seen) => ("✗", "bad", seen),
                Judged::NotChecked(seen) => ("–", "warn", seen),
            };
            format!(
                "<tr><td class=\"mark {class}\">{mark}</td><th scope=\"row\">{}</th><td>{}<div class=\"muted\">{}</div></td></tr>\n",
                finding.rule,
                escape(finding.demand),
                escape(seen)
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<section class=\"panel\"><h2>Checks</h2><p class=\"hint\">Judged from outside, from the answers and {} alone; – could not be judged.</p>\n\
         <table class=\"checks\">\n{rows}</table></section>\n",
        overview.shown
    )
}

/// The usual ways beside the service.
fn compared(overview: &Overview) -> String {
    let Some(comparison) = &overview.comparison else {
        return String::new();
    };
    let row = |score: &Score| {
        let class = match score.mark() {
            "✓" => "good",
            "✗" => "bad",
            _ => "warn",
        };
        format!(
            "<tr><td class=\"mark {class}\">{}</td><th scope=\"row\">{}</th><td>{}<div class=\"muted\">{}. Staged: {}.</div></td></tr>\n",
            score.mark(),
            escape(score.approach.name),
            escape(&score.words()),
            escape(score.approach.how),
            escape(score.approach.held)
        )
    };
    let rows = comparison.approaches.iter().map(row).collect::<String>();
    format!(
        "<section class=\"panel\"><h2>Beside the usual approaches</h2><p class=\"hint\">{}</p>\n\
         <table class=\"checks\">\n{rows}</table></section>\n",
        escape(&comparison.words())
    )
}

fn details(overview: &Overview) -> String {
    let pairs = |rows: &[(String, String)]| -> String {
        let rows = rows
            .iter()
            .map(|(name, value)| {
                format!(
                    "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                    escape(name),
                    escape(value)
                )
            })
            .collect::<Vec<_>>()
            .concat();
        format!("<table>\n{rows}</table>")
    };
    let notes = overview
        .remarks
        .iter()
        .map(|remark| format!("<li>{}</li>", escape(remark)))
        .collect::<Vec<_>>()
        .concat();
    let notes = if notes.is_empty() {
        notes
    } else {
        format!("<ul class=\"notes muted small\">{notes}</ul>")
    };
    let (what, definition) = &overview.definition;
    format!(
        "<section class=\"panel\"><h2>Numbers and parameters</h2><div class=\"columns\">{}{}</div>{notes}\n\
         <details><summary>Definition of the {what}</summary><pre>{}</pre></details></section>\n",
        pairs(&overview.rows),
        pairs(&overview.parameters),
        escape(&format!("{definition:#}"))
    )
}
