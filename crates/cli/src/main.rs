//! The program `pilote`: reads the command line, composes the crates, prints.

mod args;
mod campaign_time;
mod commands;
mod environment;
mod exit;
mod failure;
mod libraries_command;
mod open_points;
mod place;
mod plan_command;
mod plan_page;
mod printer;
mod progress;
mod size_command;
mod size_error;
mod surroundings;
mod templates;

use std::process::{ExitCode, Termination as _};

use clap::Parser as _;
use pilote_text::Lang;

use crate::args::{Cli, Command, Model};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::{Printer, not_written, write_data, write_line};
use crate::surroundings::Surroundings;

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(exit) = guard() {
        return exit.report();
    }
    command_line().report()
}

fn command_line() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; everything else is a request that is wrong.
            let exit = if error.use_stderr() { Exit::Request } else { Exit::Holds };
            if let Err(lost) = error.print()
                && !error.use_stderr()
                && lost.kind() != std::io::ErrorKind::BrokenPipe
            {
                let failure = not_written(lost);
                write_line(&mut std::io::stderr(), failure.for_people().trim_end());
                return failure.exit;
            }
            if exit == Exit::Request && std::env::args_os().any(|argument| argument == "--json") {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
                let failure = Failure::request("arguments", anyhow::anyhow!(first));
                return answered(&failure, exit);
            }
            return exit;
        }
    };
    let json = cli.speech.json;
    match run(cli) {
        Ok(exit) => exit,
        Err(failure) => {
            write_line(&mut std::io::stderr(), failure.for_people().trim_end());
            if json { answered(&failure, failure.exit) } else { failure.exit }
        }
    }
}

/// Tells programs of a failure. Where even that cannot be written, its own status says so.
fn answered(failure: &Failure, exit: Exit) -> Exit {
    match write_data(&failure.for_programs()) {
        Ok(()) => exit,
        Err(lost) => {
            let lost = not_written(lost);
            write_line(&mut std::io::stderr(), lost.for_people().trim_end());
            lost.exit
        }
    }
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let surroundings = Surroundings::read()?;
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| surroundings.variable(name));
    let lang = Lang::choose(cli.speech.lang.as_deref(), locale)
        .map_err(|error| Failure::request("unknown-language", error))?;
    let printer = Printer::new(&cli.speech, lang, &surroundings);
    let exit = command(cli.command, &surroundings, &printer)?;
    printer.arrived()?;
    Ok(exit)
}

fn command(command: Command, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => commands::check::check(&args, surroundings, printer),
        Command::Demo(args) => commands::demo::demo(&args, surroundings, printer),
        Command::New(args) => commands::new::new(&args, surroundings, printer),
        Command::Run(args) => commands::run::run(&args, surroundings, printer),
        Command::Work(args) => commands::run::join(&args, surroundings, printer),
        Command::Verify(args) => commands::verify::verify(&args, surroundings, printer),
        Command::Follow(args) => commands::follow::follow(&args, surroundings, printer),
        Command::Stop(args) => commands::stop::stop(&args, surroundings, printer),
        Command::Status(args) => commands::status::status(&args, surroundings, printer),
        Command::Runs(args) => commands::runs::runs(&args, surroundings, printer),
        Command::Export(args) => commands::export::export(&args, surroundings, printer),
        Command::Close(args) => commands::close::close(&args, surroundings, printer),
        Command::Decide(args) => commands::decide::decide(&args, surroundings, printer),
        Command::Receipt(args) => commands::decide::receipt(&args, surroundings, printer),
        Command::Log(args) => commands::log::log(&args, surroundings, printer),
        Command::Compare(args) => commands::compare::compare(&args, surroundings, printer),
        Command::Report(args) => commands::report::report(&args, surroundings, printer),
        Command::Results(args) => commands::results::results(&args, surroundings, printer),
        Command::Retry(args) => commands::run::retry(&args, surroundings, printer),
        Command::Unlock(args) => commands::unlock::unlock(&args, surroundings, printer),
        Command::Sample(args) => commands::sample::sample(&args, surroundings, printer),
        Command::Size(args) => commands::sizing::size(&args, surroundings, printer),
        Command::Plan(args) => commands::sizing::plan(&args, surroundings, printer),
        Command::Libraries(args) => commands::sizing::libraries(&args, surroundings, printer),
        Command::WorkerCheck(args) => commands::worker_check::worker_check(&args, surroundings, printer),
        Command::Model(Model::Pull(args)) => commands::model::pull(&args, surroundings, printer),
    }
}

/// The hidden command under which children of the program run; it never returns to the ordinary ones.
#[cfg(unix)]
fn guard() -> Option<commands::guard::GuardExit> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != commands::GUARD {
        return None;
    }
    Some(commands::guard::guard(&arguments.collect::<Vec<_>>()))
}
