//! Each command ends its `--help` with examples that the command line takes, and a shell can complete it.

use clap::{Command, CommandFactory as _};
use jackpot::cli::Cli;

use crate::support::prelude::*;

/// The commands without subcommands, with their names.
fn leaves(command: &Command, path: &str, found: &mut Vec<(String, String)>) {
    let subcommands: Vec<_> = command
        .get_subcommands()
        .filter(|one| one.get_name() != "help")
        .collect();
    for one in &subcommands {
        leaves(one, &format!("{path} {}", one.get_name()), found);
    }
    if subcommands.is_empty() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        found.push((path.to_owned(), help));
    }
}

/// The words of an example up to a pipe or a redirection, without variables before it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            '|' | '>' if !quoted => break,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().expect("it begins with one").push(letter),
        }
    }
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.skip_while(|word| word != "jackpot").collect()
}

#[test]
fn every_command_has_examples_that_it_takes() {
    let mut command = Cli::command();
    command.build();
    let mut all = Vec::new();
    leaves(&command, "jackpot", &mut all);
    assert!(all.len() > 10, "{all:?}");
    for (name, help) in all {
        let lines = help.strip_prefix("Examples:\n");
        let lines = lines.unwrap_or_else(|| panic!("{name} has no examples: {help}"));
        for line in lines.lines() {
            let words = words(line);
            assert!(words.join(" ").starts_with(&name), "{name}: {line}");
            let parsed = Cli::command().try_get_matches_from(&words);
            assert!(
                parsed.is_ok(),
                "{line}: {:?}",
                parsed.err().map(|error| error.to_string())
            );
        }
    }
}

#[test]
fn shells_get_their_completions() {
    let data = Service::directory();
    for (shell, part) in [
        ("bash", "complete -F _jackpot"),
        ("zsh", "#compdef jackpot"),
        ("fish", "complete -c jackpot"),
    ] {
        let output = Service::command_in(data.path(), &[], &["completions", shell]);
        output.done();
        assert!(output.words().contains(part), "{shell}");
    }
    let output = Service::command_in(data.path(), &[], &["completions", "no-shell"]);
    assert_eq!(output.status.code(), Some(2));
}
