//! The command line of `slipstream bench`. Each command has a module for its own options; `options`
//! has those that several commands share.

mod apply;
mod copy;
mod insert;
mod lag;
mod large;
mod load;
mod oltp;
mod options;
mod recovery;
mod tpch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Command};

/// The files that a report is written to in addition to the terminal. `None` means that the file is
/// not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The file of `--json`.
    pub json: Option<PathBuf>,
    /// The file of `--html`.
    pub html: Option<PathBuf>,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Request {
    /// `bench apply`, and the files for its report.
    Apply(Box<crate::apply::Plan>, Files),
    /// `bench copy`, and the files for its report.
    Copy(Box<crate::copy::Plan>, Files),
    /// `bench demo`.
    Demo(crate::demo::Plan),
    /// `bench lag`, and the files for its report.
    Lag(Box<crate::lag::Plan>, Files),
    /// `bench oltp`, and the files for its report.
    Oltp(Box<crate::oltp::Plan>, Files),
    /// `bench insert`, and the files for its report.
    Insert(Box<crate::insert::Plan>, Files),
    /// `bench large`, and the files for its report.
    Large(Box<crate::large::Plan>, Files),
    /// `bench load`, and the files for its report.
    Load(Box<crate::load::Plan>, Files),
    /// `bench recovery`, and the files for its report.
    Recovery(Box<crate::recovery::Plan>, Files),
    /// `bench tpch`, and the files for its report.
    Tpch(Box<crate::tpch::Plan>, Files),
}

/// Parses the words after `slipstream bench`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream bench")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    match matches.subcommand() {
        Some(("apply", matches)) => Ok(Request::Apply(Box::new(apply::plan(matches)), files(matches))),
        Some(("copy", matches)) => Ok(Request::Copy(Box::new(copy::plan(matches)), files(matches))),
        Some(("demo", matches)) => Ok(Request::Demo(apply::demo_plan(matches))),
        Some(("lag", matches)) => Ok(Request::Lag(Box::new(lag::plan(matches)), files(matches))),
        Some(("oltp", matches)) => Ok(Request::Oltp(Box::new(oltp::plan(matches)?), files(matches))),
        Some(("insert", matches)) => Ok(Request::Insert(Box::new(insert::plan(matches)), files(matches))),
        Some(("large", matches)) => Ok(Request::Large(Box::new(large::plan(matches)), files(matches))),
        Some(("load", matches)) => Ok(Request::Load(Box::new(load::plan(matches)), files(matches))),
        Some(("recovery", matches)) => {
            Ok(Request::Recovery(Box::new(recovery::plan(matches)), files(matches)))
        }
        Some(("tpch", matches)) => Ok(Request::Tpch(Box::new(tpch::plan(matches)), files(matches))),
        _ => unreachable!("clap asks for a subcommand"),
    }
}

/// Returns the command line of `slipstream bench`, which manual pages and completions are made from
/// as well.
pub fn command() -> Command {
    Command::new("slipstream bench")
        .about("The benchmark kit")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            apply::command(),
            apply::demo_command(),
            lag::command(),
            copy::command(),
            oltp::command(),
            insert::command(),
            large::command(),
            load::command(),
            recovery::command(),
            tpch::command(),
        ])
}

fn files(matches: &ArgMatches) -> Files {
    let file = |name| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
    Files { json: file("json"), html: file("html") }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "fly",
            "apply --rows 0",
            "apply --pool 12",
            "apply --workload x",
            "demo --clients many",
            "oltp --script fly",
            "oltp --seconds 1",
            "oltp --server nowhere",
            "insert --steps l.i3",
            "large --transaction huge",
            "recovery --redo-mb 0",
            "copy --source slipstream",
        ] {
            assert!(parse(words(line)).is_err(), "{line}");
        }
    }
}
