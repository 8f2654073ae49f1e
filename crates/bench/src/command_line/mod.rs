//! The command line of `slipstream bench`: what its commands share; each command's own options are
//! in its module.

mod apply;
mod insert;
mod lag;
mod large;
mod oltp;
mod recovery;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::instance::{Flavor, RowImage};
use crate::sbtest::Size;
use crate::server::{ByAddress, Mode};

/// The names of the flavors, as options take them.
const FLAVORS: [&str; 3] = ["slipstream", "mariadb", "mysql"];
/// The default of `--image`.
const MINIMAL: &str = "minimal";

/// The files that a report goes to beside the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `--json`
    pub json: Option<PathBuf>,
    /// `--html`
    pub html: Option<PathBuf>,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Request {
    /// `bench apply`, and the files for its report.
    Apply(Box<crate::apply::Plan>, Files),
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
    /// `bench recovery`, and the files for its report.
    Recovery(Box<crate::recovery::Plan>, Files),
}

/// Reads the words after `slipstream bench`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream bench")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    match matches.subcommand() {
        Some(("apply", matches)) => Ok(Request::Apply(Box::new(apply::plan(matches)), files(matches))),
        Some(("demo", matches)) => Ok(Request::Demo(apply::demo_plan(matches))),
        Some(("lag", matches)) => Ok(Request::Lag(Box::new(lag::plan(matches)), files(matches))),
        Some(("oltp", matches)) => Ok(Request::Oltp(Box::new(oltp::plan(matches)?), files(matches))),
        Some(("insert", matches)) => Ok(Request::Insert(Box::new(insert::plan(matches)), files(matches))),
        Some(("large", matches)) => Ok(Request::Large(Box::new(large::plan(matches)), files(matches))),
        Some(("recovery", matches)) => {
            Ok(Request::Recovery(Box::new(recovery::plan(matches)), files(matches)))
        }
        _ => unreachable!("clap asks for a subcommand"),
    }
}

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    let parser = RangedU64ValueParser::<u64>::new().range(1..);
    Arg::new(name).long(name).value_name("N").default_value(default).value_parser(parser).help(help)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn choice(name: &'static str, values: impl IntoIterator<Item = &'static str>, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_parser(PossibleValuesParser::new(values.into_iter().collect::<Vec<_>>()))
        .help(help)
}

/// Several values of a choice, separated by commas.
fn choices(name: &'static str, values: impl IntoIterator<Item = &'static str>, help: &'static str) -> Arg {
    choice(name, values, help).value_delimiter(',').action(ArgAction::Append)
}

/// Several numbers, separated by commas.
fn numbers(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    number(name, default, help).value_delimiter(',').action(ArgAction::Append)
}

fn size_option(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("SIZE").default_value(default).value_parser(bytes).help(help)
}

fn image_option() -> Arg {
    choice("image", [MINIMAL, "full"], "binlog_row_image").default_value(MINIMAL)
}

fn file_option(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("FILE").value_parser(clap::value_parser!(PathBuf)).help(help)
}

fn json_option() -> Arg {
    file_option("json", "Writes the report as JSON, too")
}

fn html_option() -> Arg {
    file_option("html", "Writes the report as one HTML file with charts, too")
}

/// Which commits: `--relaxed`, `--durable`, or both.
fn mode_options() -> [Arg; 2] {
    [
        switch("relaxed", "Only sync_binlog=0, innodb_flush_log_at_trx_commit=2"),
        switch("durable", "Only sync_binlog=1, innodb_flush_log_at_trx_commit=1"),
    ]
}

/// Which servers, and which of them the others are compared with.
fn server_options() -> [Arg; 3] {
    [
        choices("start", FLAVORS, "Servers to start [default: all that are found, none with --server]"),
        Arg::new("server")
            .long("server")
            .value_name("NAME=HOST:PORT,USER,PASSWORD")
            .value_parser(|text: &str| text.parse::<ByAddress>())
            .action(ArgAction::Append)
            .help("A server that runs already, also NAME=/SOCKET,USER,PASSWORD; may be given several times"),
        Arg::new("base")
            .long("base")
            .value_name("NAME")
            .help("Ratios are relative to this server [default: the first]"),
    ]
}

/// The command line of `slipstream bench`, for manual pages and completions too.
pub fn command() -> Command {
    Command::new("slipstream bench")
        .about("The benchmark kit")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            apply::command(),
            apply::demo_command(),
            lag::command(),
            oltp::command(),
            insert::command(),
            large::command(),
            recovery::command(),
        ])
}

/// A size as mysqld's options take it.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1u64 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("'{text}' is no number of bytes"))?;
    number
        .checked_mul(factor)
        .filter(|size| *size >= 32 << 20)
        .ok_or_else(|| format!("'{text}' is not at least 32M"))
}

fn get(matches: &ArgMatches, name: &str) -> u64 {
    *matches.get_one::<u64>(name).expect("has a default")
}

/// Tables and clients are counted in 32 bits everywhere.
fn get_u32(matches: &ArgMatches, name: &str) -> u32 {
    u32::try_from(get(matches, name)).unwrap_or(u32::MAX)
}

fn get_all_u32(matches: &ArgMatches, name: &str) -> Vec<u32> {
    let all = matches.get_many::<u64>(name).into_iter().flatten();
    all.map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect()
}

fn size(matches: &ArgMatches) -> Size {
    Size { tables: get_u32(matches, "tables"), rows: get(matches, "rows") }
}

fn flavor(name: &str) -> Flavor {
    let named = |flavor: &Flavor| flavor.to_string().eq_ignore_ascii_case(name);
    Flavor::ALL.into_iter().find(named).expect("one of the possible values")
}

fn flavors(matches: &ArgMatches, option: &str, default: &[Flavor]) -> Vec<Flavor> {
    let names = matches.get_many::<String>(option);
    names.map_or(default.to_vec(), |names| names.map(|name| flavor(name)).collect())
}

/// The servers to start, and those that run already.
fn servers(matches: &ArgMatches) -> (Vec<Flavor>, Vec<ByAddress>) {
    let addresses: Vec<ByAddress> = matches.get_many("server").into_iter().flatten().cloned().collect();
    let default: &[Flavor] = if addresses.is_empty() { &Flavor::ALL } else { &[] };
    (flavors(matches, "start", default), addresses)
}

fn modes(matches: &ArgMatches) -> Vec<Mode> {
    match (matches.get_flag("relaxed"), matches.get_flag("durable")) {
        (true, false) => vec![Mode::Relaxed],
        (false, true) => vec![Mode::Durable],
        _ => vec![Mode::Relaxed, Mode::Durable],
    }
}

/// The values of an option that takes several.
fn words<'a>(matches: &'a ArgMatches, name: &str) -> Vec<&'a str> {
    matches.get_many::<String>(name).into_iter().flatten().map(String::as_str).collect()
}

fn text<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.get_one::<String>(name).map(String::as_str)
}

fn image(matches: &ArgMatches) -> RowImage {
    if text(matches, "image") == Some(MINIMAL) { RowImage::Minimal } else { RowImage::Full }
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
        ] {
            assert!(parse(words(line)).is_err(), "{line}");
        }
    }
}
