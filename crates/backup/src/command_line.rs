//! The command lines of `slipstream backup` and `slipstream restore`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bench::address;
use clap::builder::{RangedI64ValueParser, RangedU64ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use protocol::client::ConnectOptions;

use crate::location::Location;
use crate::log_plan::Point;

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "SLIPSTREAM_PASSWORD";

/// The request of `slipstream backup`.
#[derive(Debug)]
pub(crate) struct BackupPlan {
    /// The way to reach the server.
    pub server: ConnectOptions,
    /// The place of the backup.
    pub to: Location,
    /// Whether the binary log that came since the last run is added.
    pub incremental: bool,
    /// Whether the binary log is added as it comes, until the process is told to stop.
    pub follow: bool,
    /// How many full backups stay when another one is added to those of the place.
    pub keep_full: Option<usize>,
    /// The directory for the server's copy on its way to an object store.
    pub staging: Option<PathBuf>,
    /// The file with the key of an encrypted backup.
    pub key_file: Option<PathBuf>,
    /// The level of zstd; `None` leaves files as they are.
    pub compression: Option<i32>,
}

/// The request of `slipstream restore`.
#[derive(Debug)]
pub struct RestorePlan {
    /// The place of the backup.
    pub from: Location,
    /// The new data directory, absolute.
    pub datadir: PathBuf,
    /// The point up to which binary logs are applied; `None` applies all.
    pub until: Option<Point>,
    /// A directory with binary log files that are newer than those of the backup.
    pub binlogs: Option<PathBuf>,
    /// The file with the key of an encrypted backup.
    pub key_file: Option<PathBuf>,
}

/// Returns the definition of the command line of `slipstream backup`, also for manual pages and
/// completions.
pub fn backup_command() -> Command {
    Command::new("slipstream backup")
        .about("Makes a backup of a Slipstream server that runs on this machine")
        .arg(Arg::new("server").value_name("mysql://USER[:PASSWORD]@HOST[:PORT]/").required(true).help(
            "The server; the account needs BACKUP_ADMIN, SELECT on performance_schema, and REPLICATION SLAVE",
        ))
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("DIR|URL")
                .required(true)
                .value_parser(Location::parse)
                .help(
                    "The backup's place: a directory or file:///DIR, which the server makes for a \
                     new backup, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX, \
                     with credentials from the environment (AWS_ACCESS_KEY_ID, ...)",
                ),
        )
        .arg(
            Arg::new("incremental")
                .long("incremental")
                .action(ArgAction::SetTrue)
                .help("Adds the binary log that the server has written since the backup's last run"),
        )
        .arg(Arg::new("follow").long("follow").action(ArgAction::SetTrue).conflicts_with("incremental").help(
            "Adds the binary log as the server writes it, usually less than a second behind, until \
                     SIGTERM or SIGINT; makes a full backup first where there is none",
        ))
        .arg(
            Arg::new("keep-full")
                .long("keep-full")
                .value_name("N")
                .conflicts_with_all(["incremental", "follow"])
                .value_parser(RangedU64ValueParser::<usize>::new().range(1..))
                .help(
                    "Adds a full backup to those of the place, keeps the newest N of them, and \
                     removes the older ones with the binary log that none of the N needs",
                ),
        )
        .arg(
            Arg::new("staging")
                .long("staging")
                .value_name("DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .help(
                    "The directory in which the server makes its copy before an object store has \
                     it; the server's tmpdir if it is not given",
                ),
        )
        .arg(
            Arg::new("encrypt")
                .long("encrypt")
                .value_name("KEYFILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help(
                    "Encrypts all files with AES-256-GCM under the key in this file: 32 bytes, or \
                     64 hexadecimal digits",
                ),
        )
        .arg(
            Arg::new("compress")
                .long("compress")
                .value_name("LEVEL")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("3")
                .value_parser(RangedI64ValueParser::<i32>::new().range(1..=22))
                .help("Compresses the files with zstd"),
        )
        .arg(password_file())
}

/// Returns the definition of the command line of `slipstream restore`.
pub fn restore_command() -> Command {
    Command::new("slipstream restore")
        .about("Makes a data directory of a backup, and applies binary logs up to a point")
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("DIR|URL")
                .required(true)
                .value_parser(Location::parse)
                .help("The backup's place, as slipstream backup had it"),
        )
        .arg(
            Arg::new("datadir")
                .long("datadir")
                .value_name("DIR")
                .required(true)
                .value_parser(clap::value_parser!(PathBuf))
                .help("The data directory, which does not exist or is empty"),
        )
        .arg(Arg::new("until").long("until").value_name("GTIDS|TIME").help(
            "The point: a set of GTIDs, which is reached when all of them are executed, or a time \
             ('2026-11-28 10:00:00', local unless it ends with an offset or Z), which keeps the \
             transactions that were committed by then; without it all logs are applied",
        ))
        .arg(
            Arg::new("binlogs")
                .long("binlogs")
                .value_name("DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .help("A directory with the server's binary log files that came after the backup"),
        )
        .arg(
            Arg::new("decrypt")
                .long("decrypt")
                .value_name("KEYFILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("The file with the key of an encrypted backup"),
        )
}

fn password_file() -> Arg {
    Arg::new("password-file").long("password-file").value_name("FILE").help(
        "The password is the first line of this file; else it is in the address, or in the \
         environment as SLIPSTREAM_PASSWORD",
    )
}

fn absolute(path: &Path) -> Result<PathBuf, clap::Error> {
    std::path::absolute(path)
        .map_err(|error| clap::Error::raw(ErrorKind::Io, format!("{}: {error}\n", path.display())))
}

/// Parses the words that follow `slipstream backup`.
pub(crate) fn parse_backup(words: impl IntoIterator<Item = OsString>) -> Result<BackupPlan, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream backup")).chain(words);
    let matches = backup_command().try_get_matches_from(words)?;
    let server = address::parse(matches.get_one::<String>("server").expect("it is required"))?;
    let file = matches.get_one::<String>("password-file");
    Ok(BackupPlan {
        server: address::with_password(server, file.map(String::as_str), PASSWORD_VARIABLE)?,
        to: matches.get_one::<Location>("to").cloned().expect("it is required"),
        incremental: matches.get_flag("incremental"),
        follow: matches.get_flag("follow"),
        keep_full: matches.get_one::<usize>("keep-full").copied(),
        staging: matches.get_one::<PathBuf>("staging").map(|dir| absolute(dir)).transpose()?,
        key_file: matches.get_one::<PathBuf>("encrypt").cloned(),
        compression: matches.get_one::<i32>("compress").copied(),
    })
}

/// Parses the words that follow `slipstream restore`.
///
/// # Errors
/// Returns an error that says what is wrong with the words, or the help that they ask for.
pub fn parse_restore(words: impl IntoIterator<Item = OsString>) -> Result<RestorePlan, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream restore")).chain(words);
    let matches = restore_command().try_get_matches_from(words)?;
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let until = matches.get_one::<String>("until").map(|text| {
        Point::parse(text).ok_or_else(|| {
            let text = format!("--until: '{text}' is neither a set of GTIDs nor a time\n");
            clap::Error::raw(ErrorKind::ValueValidation, text)
        })
    });
    Ok(RestorePlan {
        from: matches.get_one::<Location>("from").cloned().expect("it is required"),
        datadir: absolute(&path("datadir").expect("it is required"))?,
        until: until.transpose()?,
        binlogs: path("binlogs"),
        key_file: path("decrypt"),
    })
}
