//! Finding a command by its name among a program's commands, and saying which there are.

use std::process::ExitCode;

use crate::support::failure::Result;
use crate::support::workspace::Workspace;

/// A command as it is called and listed.
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// What may follow the name.
    pub arguments: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Runs it with the words behind its name.
    pub run: fn(&Workspace, &[String]) -> Result,
}

/// Runs the command that the program's first word names; `None` where there is none of that name.
pub fn run(commands: &[Command], words: &[String]) -> Option<ExitCode> {
    let command = words.first().and_then(|word| commands.iter().find(|command| command.name == word))?;
    Some(match Workspace::find().and_then(|workspace| (command.run)(&workspace, &words[1..])) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {}: {failure}", command.name);
            ExitCode::FAILURE
        }
    })
}

/// A line for each command.
pub fn list(commands: &[Command]) -> String {
    let line = |command: &Command| {
        let call = format!("{} {}", command.name, command.arguments);
        format!("  {call:<34} {}\n", command.purpose)
    };
    commands.iter().map(line).collect()
}
