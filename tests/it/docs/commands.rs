//! The reference of commands is made from what the command line parses.

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use jackpot::cli::Cli;
use std::fmt::Write as _;

use super::{cell, head, hold};
use crate::support::prelude::*;

/// How an argument is written.
fn usage(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values = names
        .iter()
        .map(|name| format!("<{name}>"))
        .collect::<Vec<_>>()
        .join(" ");
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    match argument.get_long() {
        Some(long) if takes_value => format!("--{long} {values}"),
        Some(long) => format!("--{long}"),
        None => values,
    }
}

/// The default of an argument.
fn default(argument: &Arg) -> String {
    let values = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned());
    let values = values.collect::<Vec<_>>().join(" ");
    let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
    match (argument.is_required_set(), is_flag, values.as_str()) {
        (true, ..) => "required".to_owned(),
        (_, true, _) | (_, _, "") => String::new(),
        (.., values) => format!("`{values}`"),
    }
}

/// A help text with its last full stop, which the parser takes away.
fn sentence(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    if text.is_empty() || text.ends_with('.') {
        text
    } else {
        text + "."
    }
}

/// The purpose of an argument, and its values when they are few.
fn about(argument: &Arg) -> String {
    let mut text = sentence(argument.get_long_help().or(argument.get_help()));
    let possible = argument.get_possible_values();
    let names: Vec<&str> = possible.iter().map(clap::builder::PossibleValue::get_name).collect();
    let is_flag = !matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    if !names.is_empty() && !is_flag {
        write!(text, " One of: {}.", names.join(", ")).expect("a text takes all");
    }
    cell(&text)
}

fn describe(command: &Command, path: &str, page: &mut String) {
    let about = sentence(command.get_long_about().or(command.get_about()));
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str()))
        .collect();
    let subcommands: Vec<&Command> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
    writeln!(page, "\n## {path}\n\n{}", cell(&about).replace('<', "\\<")).expect("a text takes all");
    if !arguments.is_empty() {
        *page += "\n| argument | default | what it does |\n| --- | --- | --- |\n";
    }
    for argument in arguments {
        let (usage, default) = (usage(argument), default(argument));
        writeln!(page, "| `{usage}` | {default} | {} |", self::about(argument)).expect("a text takes all");
    }
    // Also what the program prints at the end of `--help`.
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if let Some(lines) = examples.strip_prefix("Examples:\n") {
        let lines = lines.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        writeln!(page, "\n```sh\n{lines}\n```").expect("a text takes all");
    }
    for subcommand in subcommands {
        describe(subcommand, &format!("{path} {}", subcommand.get_name()), page);
    }
}

#[test]
fn the_page_of_commands_is_that_of_the_command_line() {
    let mut command = Cli::command();
    command.build();
    let mut page = head("Commands", "the command line that src/cli parses");
    page += "A command writes its result to standard output, and all else to standard error.\n\
             It exits with 0 after success, with 1 after a failure, and with 2 when the command line is wrong.\n\
             Commands take the settings of the service: `--config`, and `JACKPOT__SECTION__KEY` in the environment.\n";
    for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help") {
        describe(subcommand, &format!("jackpot {}", subcommand.get_name()), &mut page);
    }
    page.says("| `--only <KIND:ID>` |");
    hold("commands.md", &page);
}
