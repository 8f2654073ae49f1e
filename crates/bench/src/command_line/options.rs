//! The options that several commands share: how they are declared, and how their values are read.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, ArgMatches};

use crate::instance::{Flavor, RowImage};
use crate::sbtest::Size;
use crate::server::{ByAddress, Mode};

/// The names of the flavors, as options take them.
pub const FLAVORS: [&str; 3] = ["slipstream", "mariadb", "mysql"];
/// The default value of `--image`.
const MINIMAL: &str = "minimal";

/// Returns an option that takes a number of at least 1.
pub fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    let parser = RangedU64ValueParser::<u64>::new().range(1..);
    Arg::new(name).long(name).value_name("N").default_value(default).value_parser(parser).help(help)
}

/// Returns an option without a value.
pub fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Returns an option that takes one of these words.
pub fn choice(name: &'static str, values: impl IntoIterator<Item = &'static str>, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_parser(PossibleValuesParser::new(values.into_iter().collect::<Vec<_>>()))
        .help(help)
}

/// Returns an option that takes several of these words, separated by commas.
pub fn choices(
    name: &'static str,
    values: impl IntoIterator<Item = &'static str>,
    help: &'static str,
) -> Arg {
    choice(name, values, help).value_delimiter(',').action(ArgAction::Append)
}

/// Returns an option that takes several numbers of at least 1, separated by commas.
pub fn numbers(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    number(name, default, help).value_delimiter(',').action(ArgAction::Append)
}

/// Returns an option that takes a size in bytes, in the notation of mysqld's options.
pub fn size_option(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("SIZE").default_value(default).value_parser(bytes).help(help)
}

/// Returns the option `--image`.
pub fn image_option() -> Arg {
    choice("image", [MINIMAL, "full"], "binlog_row_image").default_value(MINIMAL)
}

/// Returns an option that takes the name of a file.
pub fn file_option(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("FILE").value_parser(clap::value_parser!(PathBuf)).help(help)
}

/// Returns the option `--json`.
pub fn json_option() -> Arg {
    file_option("json", "Writes the report as JSON, too")
}

/// Returns the option `--html`.
pub fn html_option() -> Arg {
    file_option("html", "Writes the report as one HTML file with charts, too")
}

/// Returns the options `--relaxed` and `--durable`, which choose the durability of commits.
pub fn mode_options() -> [Arg; 2] {
    [
        switch("relaxed", "Only sync_binlog=0, innodb_flush_log_at_trx_commit=2"),
        switch("durable", "Only sync_binlog=1, innodb_flush_log_at_trx_commit=1"),
    ]
}

/// Returns the options that say which servers take part, and which of them the others are compared
/// with.
pub fn server_options() -> [Arg; 3] {
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

/// Parses a size in bytes of at least 32 MB, in the notation of mysqld's options.
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

/// Returns the value of an option that takes a number.
pub fn get(matches: &ArgMatches, name: &str) -> u64 {
    *matches.get_one::<u64>(name).expect("has a default")
}

/// Returns the value of an option that takes a number of tables or clients, which are counted in 32
/// bits.
pub fn get_u32(matches: &ArgMatches, name: &str) -> u32 {
    u32::try_from(get(matches, name)).unwrap_or(u32::MAX)
}

/// Returns the values of an option that takes several numbers.
pub fn get_all_u32(matches: &ArgMatches, name: &str) -> Vec<u32> {
    let all = matches.get_many::<u64>(name).into_iter().flatten();
    all.map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect()
}

/// Returns the number of tables and rows.
pub fn size(matches: &ArgMatches) -> Size {
    Size { tables: get_u32(matches, "tables"), rows: get(matches, "rows") }
}

/// Returns the flavor of this name.
pub fn flavor(name: &str) -> Flavor {
    let named = |flavor: &Flavor| flavor.to_string().eq_ignore_ascii_case(name);
    Flavor::ALL.into_iter().find(named).expect("one of the possible values")
}

/// Returns the flavors that an option names, or `default` if the option was not given.
pub fn flavors(matches: &ArgMatches, option: &str, default: &[Flavor]) -> Vec<Flavor> {
    let names = matches.get_many::<String>(option);
    names.map_or(default.to_vec(), |names| names.map(|name| flavor(name)).collect())
}

/// Returns the flavors to start, and the servers that run already.
pub fn servers(matches: &ArgMatches) -> (Vec<Flavor>, Vec<ByAddress>) {
    let addresses: Vec<ByAddress> = matches.get_many("server").into_iter().flatten().cloned().collect();
    let default: &[Flavor] = if addresses.is_empty() { &Flavor::ALL } else { &[] };
    (flavors(matches, "start", default), addresses)
}

/// Returns the durabilities that the options ask for.
pub fn modes(matches: &ArgMatches) -> Vec<Mode> {
    match (matches.get_flag("relaxed"), matches.get_flag("durable")) {
        (true, false) => vec![Mode::Relaxed],
        (false, true) => vec![Mode::Durable],
        _ => vec![Mode::Relaxed, Mode::Durable],
    }
}

/// Returns the values of an option that takes several words.
pub fn words<'a>(matches: &'a ArgMatches, name: &str) -> Vec<&'a str> {
    matches.get_many::<String>(name).into_iter().flatten().map(String::as_str).collect()
}

/// Returns the text of an option; `None` means that the option was not given.
pub fn text<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.get_one::<String>(name).map(String::as_str)
}

/// Returns the row image that `--image` names.
pub fn image(matches: &ArgMatches) -> RowImage {
    if text(matches, "image") == Some(MINIMAL) { RowImage::Minimal } else { RowImage::Full }
}
