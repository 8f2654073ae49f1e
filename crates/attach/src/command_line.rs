//! The command line of `slipstream attach`.

use std::ffi::OsString;
use std::path::PathBuf;

use bench::address;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, Command};
use protocol::client::ConnectOptions;

use crate::choice;
use crate::encryption::{self, Encryption};

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "SLIPSTREAM_SOURCE_PASSWORD";

/// The environment variable that may hold the password for `--replica`.
const REPLICA_PASSWORD_VARIABLE: &str = "SLIPSTREAM_PASSWORD";

/// The request on the command line.
#[derive(Debug)]
pub struct Plan {
    /// The way to reach the source.
    pub source: ConnectOptions,
    /// How the connections to the source are encrypted, which `source` says too.
    pub(crate) encryption: Encryption,
    /// The path of the new replica's data directory. It is empty when there is to be none.
    pub datadir: PathBuf,
    /// The way to reach a replica that runs already and is to be compared.
    pub replica: Option<ConnectOptions>,
    /// True when the rows are to be compared.
    pub verify: bool,
    /// True when what differs is to be copied again.
    pub repair: bool,
    /// The number of tables that are copied at the same time.
    pub workers: usize,
    /// True when only the checks are to be made.
    pub dry_run: bool,
    /// The replication filters of `--tables`, as options of the server.
    pub filters: Vec<String>,
    /// The options for the server, as `slipstream serve` takes them.
    pub serve: Vec<String>,
}

/// Returns the definition of the command line of `slipstream attach`, also for manual pages and
/// completions.
pub fn command() -> Command {
    Command::new("slipstream attach")
        .about("Makes a replica of a MySQL or MariaDB source that runs, and serves it")
        .arg(
            Arg::new("source")
                .value_name("mysql://USER[:PASSWORD]@HOST[:PORT]/")
                .required(true)
                .help("The source; its account needs SELECT, REPLICATION SLAVE and REPLICATION CLIENT"),
        )
        .arg(
            Arg::new("datadir")
                .long("datadir")
                .value_name("DIR")
                .required_unless_present("replica")
                .value_parser(clap::value_parser!(PathBuf))
                .help("The new replica's data directory: empty, or of an attachment that was interrupted"),
        )
        .arg(Arg::new("password-file").long("password-file").value_name("FILE").help(
            "The source's password is the first line of this file; else it is in the address, or in \
                       the environment as SLIPSTREAM_SOURCE_PASSWORD",
        ))
        .args(encryption::arguments())
        .arg(choice::argument())
        .arg(
            Arg::new("workers")
                .long("workers")
                .value_name("N")
                .default_value("2")
                .value_parser(RangedU64ValueParser::<u64>::new().range(1..=64))
                .help("So many tables are copied at once"),
        )
        .arg(
            Arg::new("verify")
                .long("verify")
                .action(ArgAction::SetTrue)
                .help("Compares all rows with the source's when they are here, table by table"),
        )
        .arg(
            Arg::new("repair")
                .long("repair")
                .action(ArgAction::SetTrue)
                .requires("verify")
                .help("Copies again what --verify has found to differ"),
        )
        .arg(
            Arg::new("replica")
                .long("replica")
                .value_name("mysql://USER[:PASSWORD]@HOST[:PORT]/")
                .requires("verify")
                .conflicts_with_all(["datadir", "dry-run"])
                .help("Compares this replica, which runs already, and makes none"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Makes the checks and nothing else"),
        )
        .arg(
            Arg::new("serve")
                .value_name("OPTION")
                .num_args(0..)
                .last(true)
                .help("Options for the server, as slipstream serve takes them"),
        )
}

/// Parses the words that follow `slipstream attach`.
///
/// # Errors
/// Returns an error that says what is wrong with the words, or the help that they ask for.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Plan, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream attach")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    let source = address::parse(matches.get_one::<String>("source").expect("it is required"))?;
    let file = matches.get_one::<String>("password-file");
    let source = address::with_password(source, file.map(String::as_str), PASSWORD_VARIABLE)?;
    let encryption = Encryption::of(&matches);
    let source = encryption.apply(source).map_err(|why| {
        let text = format!("ERROR 2026 (HY000): SSL connection error: {why}\n");
        clap::Error::raw(clap::error::ErrorKind::Io, text)
    })?;
    let serve = matches.get_many::<String>("serve").map(|words| words.cloned().collect());
    let replica = matches.get_one::<String>("replica").map(|text| address::parse(text)).transpose()?;
    let replica = replica
        .map(|replica| address::with_password(replica, None, REPLICA_PASSWORD_VARIABLE))
        .transpose()?;
    let filters = matches.get_many::<String>("tables").into_iter().flatten();
    let mut filters: Vec<String> = filters.cloned().collect();
    if !filters.is_empty() {
        filters.push(choice::ALL_SCHEMAS.to_owned());
    }
    Ok(Plan {
        source,
        encryption,
        datadir: matches.get_one::<PathBuf>("datadir").cloned().unwrap_or_default(),
        replica,
        verify: matches.get_flag("verify"),
        repair: matches.get_flag("repair"),
        workers: *matches.get_one::<u64>("workers").expect("it has a default") as usize,
        dry_run: matches.get_flag("dry-run"),
        filters,
        serve: serve.unwrap_or_default(),
    })
}
