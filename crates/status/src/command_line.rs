//! The command line of `slipstream status`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bench::address;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, Command};
use protocol::client::{Address, ConnectOptions};

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "SLIPSTREAM_PASSWORD";
/// The server that is looked at when no address is given.
const USUAL_ADDRESS: &str = "mysql://root@127.0.0.1:3306/";

/// The request on the command line.
#[derive(Debug)]
pub struct Request {
    /// The way to reach the server.
    pub server: ConnectOptions,
    /// The time between two looks; `None` for one look.
    pub every: Option<Duration>,
    /// The number of looks after which to end; `None` for no end.
    pub looks: Option<u64>,
    /// True for JSON, false for text.
    pub json: bool,
}

/// Returns the definition of the command line of `slipstream status`, also for manual pages and
/// completions.
pub fn command() -> Command {
    let number = || RangedU64ValueParser::<u64>::new().range(1..=86_400);
    Command::new("slipstream status")
        .about("Shows the state of a Slipstream or MySQL server; exits with 0 when all is well")
        .after_help(
            "The exit code is 1 when a replication channel has stopped or the server cannot be asked. \
             Rates are those since the last look, and at the first look those since the server's start. \
             The account needs REPLICATION CLIENT, and SELECT on performance_schema for the threads' time.",
        )
        .arg(
            Arg::new("server")
                .value_name("mysql://USER[:PASSWORD]@HOST[:PORT]/")
                .default_value(USUAL_ADDRESS)
                .help("The server"),
        )
        .arg(
            Arg::new("socket")
                .long("socket")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("The server's Unix socket, instead of the host and the port of the address"),
        )
        .arg(Arg::new("password-file").long("password-file").value_name("FILE").help(
            "The password is the first line of this file; else it is in the address, or in the \
             environment as SLIPSTREAM_PASSWORD",
        ))
        .arg(
            Arg::new("watch")
                .long("watch")
                .value_name("SECONDS")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("2")
                .value_parser(number())
                .help("Looks again and again, with so many seconds between two looks"),
        )
        .arg(
            Arg::new("looks")
                .long("looks")
                .value_name("N")
                .requires("watch")
                .value_parser(RangedU64ValueParser::<u64>::new().range(1..))
                .help("Ends after so many looks, with the exit code of the last one"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Prints JSON; with --watch an object on each line"),
        )
}

/// Parses the words that follow `slipstream status`.
///
/// # Errors
/// Returns an error that says what is wrong with the words, or the help that they ask for.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream status")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    let server = address::parse(matches.get_one::<String>("server").expect("it has a default"))?;
    let file = matches.get_one::<String>("password-file");
    let mut server = address::with_password(server, file.map(String::as_str), PASSWORD_VARIABLE)?;
    if let Some(socket) = matches.get_one::<PathBuf>("socket") {
        server.address = Address::Unix(socket.clone());
    }
    Ok(Request {
        server,
        every: matches.get_one::<u64>("watch").map(|&seconds| Duration::from_secs(seconds)),
        looks: matches.get_one::<u64>("looks").copied(),
        json: matches.get_flag("json"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, clap::Error> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn words_become_a_request() {
        command().debug_assert();
        let usual = parsed(&[]).unwrap();
        assert_eq!((usual.every, usual.looks, usual.json), (None, None, false));
        assert!(matches!(usual.server.address, Address::Tcp { port: 3306, .. }));
        let watch = parsed(&["mysql://a:b@h:1/", "--watch", "--json"]).unwrap();
        assert_eq!((watch.every, watch.json), (Some(Duration::from_secs(2)), true));
        assert_eq!((watch.server.user.as_str(), watch.server.password.as_str()), ("a", "b"));
        let seconds = parsed(&["--watch=5", "--looks=3", "--socket=/s"]).unwrap();
        assert_eq!((seconds.every, seconds.looks), (Some(Duration::from_secs(5)), Some(3)));
        assert!(matches!(seconds.server.address, Address::Unix(path) if path == *"/s"));
        for wrong in [&["h:3306"][..], &["--watch=0"], &["--looks=3"], &["--watch=x"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
