//! The command line of `slipstream switchover`.

use std::ffi::OsString;
use std::time::Duration;

use bench::address;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, Command};
use protocol::client::ConnectOptions;

/// The environment variable that may hold the password of the servers' accounts.
const PASSWORD_VARIABLE: &str = "SLIPSTREAM_PASSWORD";
/// The environment variable that may hold the password of the replication account.
const REPLICATION_PASSWORD_VARIABLE: &str = "SLIPSTREAM_REPLICATION_PASSWORD";
/// The form of an address.
const ADDRESS: &str = "mysql://USER[:PASSWORD]@HOST[:PORT]/";

/// The request on the command line.
#[derive(Debug)]
pub struct Plan {
    /// The way to reach the old source.
    pub source: ConnectOptions,
    /// The way to reach the replica that takes its place.
    pub replica: ConnectOptions,
    /// The ways to reach further replicas, beside those that the old source tells of.
    pub others: Vec<ConnectOptions>,
    /// The host and the port at which replicas reach the new source. `None` means what it reports,
    /// or else its address on the command line.
    pub reached_at: Option<(String, u16)>,
    /// The account with which the old source replicates. `None` means the new source's own.
    pub replication_user: Option<String>,
    /// The password of that account.
    pub replication_password: String,
    /// How long the old source may refuse writes before everything is put back.
    pub timeout: Duration,
    /// The largest lag with which a switchover begins, in seconds.
    pub max_lag_s: u64,
    /// True when replicas that cannot be reached are left where they are.
    pub leave_unreached: bool,
    /// True when `read_only` is to be set for later starts too.
    pub persist: bool,
    /// True when only the checks are to be made.
    pub dry_run: bool,
}

/// Returns the definition of the command line of `slipstream switchover`, also for manual pages and
/// completions.
pub fn command() -> Command {
    let number = |least| RangedU64ValueParser::<u64>::new().range(least..=86_400);
    Command::new("slipstream switchover")
        .about("Hands a source's place over to one of its replicas while both work")
        .after_help(
            "Everything is checked before anything changes. Until the replica is promoted, a failure puts everything \
             back. The exit code is 0 when it is done, 1 when nothing has changed, and 3 when the replica was promoted \
             and something is left to be done, which is then named. The accounts need REPLICATION CLIENT, REPLICATION \
             SLAVE, REPLICATION_SLAVE_ADMIN, SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN and RELOAD.",
        )
        .arg(Arg::new("source").value_name(ADDRESS).required(true).help("The source that works now"))
        .arg(
            Arg::new("to")
                .long("to")
                .value_name(ADDRESS)
                .required(true)
                .help("The replica that takes its place; it follows the source by GTID"),
        )
        .arg(Arg::new("replica").long("replica").value_name(ADDRESS).action(ArgAction::Append).help(
            "A further replica, which will follow the new source; those that report their host \
                 (report_host) are found without it",
        ))
        .arg(Arg::new("reached-at").long("reached-at").value_name("HOST:PORT").help(
            "Where replicas reach the new source; else what it reports (report_host), or its address here",
        ))
        .arg(Arg::new("replication-user").long("replication-user").value_name("USER").help(
            "The account with which the old source will replicate; else the one with which the \
                 replica does",
        ))
        .arg(Arg::new("replication-password-file").long("replication-password-file").value_name("FILE").help(
            "Its password is the first line of this file; else it is in the environment as \
             SLIPSTREAM_REPLICATION_PASSWORD",
        ))
        .arg(Arg::new("password-file").long("password-file").value_name("FILE").help(
            "The password of the addresses that have none is the first line of this file; else it \
             is in the environment as SLIPSTREAM_PASSWORD",
        ))
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("SECONDS")
                .default_value("30")
                .value_parser(number(1))
                .help("How long writes may be refused before everything is put back"),
        )
        .arg(
            Arg::new("max-lag")
                .long("max-lag")
                .value_name("SECONDS")
                .default_value("10")
                .value_parser(number(0))
                .help("The largest lag of the replica with which the switchover begins"),
        )
        .arg(
            Arg::new("leave-unreached")
                .long("leave-unreached")
                .action(ArgAction::SetTrue)
                .help("Goes on where replicas of the source cannot be reached; they keep following it"),
        )
        .arg(
            Arg::new("persist")
                .long("persist")
                .action(ArgAction::SetTrue)
                .help("Sets read_only for later starts too (SET PERSIST)"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Checks, says what would be done, and changes nothing"),
        )
}

/// Parses the words that follow `slipstream switchover`.
///
/// # Errors
/// Returns an error that says what is wrong with the words, or the help that they ask for.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Plan, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream switchover")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let server = |address: &str| {
        let server = address::parse(address)?;
        // A password in an address counts for that server, whatever the file says.
        let file = text("password-file").filter(|_| server.password.is_empty());
        address::with_password(server, file, PASSWORD_VARIABLE)
    };
    let replication = ConnectOptions::tcp("", 0);
    let replication = address::with_password(
        replication,
        text("replication-password-file"),
        REPLICATION_PASSWORD_VARIABLE,
    )?;
    let others = matches.get_many::<String>("replica").unwrap_or_default();
    let seconds = |name: &str| *matches.get_one::<u64>(name).expect("it has a default");
    Ok(Plan {
        source: server(text("source").expect("it is required"))?,
        replica: server(text("to").expect("it is required"))?,
        others: others.map(|address| server(address)).collect::<Result<_, _>>()?,
        reached_at: text("reached-at").map(place).transpose()?,
        replication_user: text("replication-user").map(str::to_owned),
        replication_password: replication.password,
        timeout: Duration::from_secs(seconds("timeout")),
        max_lag_s: seconds("max-lag"),
        leave_unreached: matches.get_flag("leave-unreached"),
        persist: matches.get_flag("persist"),
        dry_run: matches.get_flag("dry-run"),
    })
}

/// Parses a host and a port.
fn place(text: &str) -> Result<(String, u16), clap::Error> {
    let parsed = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    match parsed {
        Some((host, port)) if !host.is_empty() && port != 0 => {
            Ok((host.trim_start_matches('[').trim_end_matches(']').to_owned(), port))
        }
        _ => Err(clap::Error::raw(
            clap::error::ErrorKind::ValueValidation,
            format!("--reached-at {text}: not of the form HOST:PORT\n"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::client::Address;

    fn parsed(words: &[&str]) -> Result<Plan, clap::Error> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn words_become_a_plan() {
        command().debug_assert();
        let plan = parsed(&["mysql://a:b@old/", "--to", "mysql://c:d@new:3307/"]).unwrap();
        assert!(matches!(&plan.source.address, Address::Tcp { host, port: 3306 } if host == "old"));
        assert_eq!((plan.replica.user.as_str(), plan.replica.password.as_str()), ("c", "d"));
        assert_eq!((plan.timeout, plan.max_lag_s, plan.dry_run), (Duration::from_secs(30), 10, false));
        let more =
            ["mysql://a@old/", "--to=mysql://a@new/", "--replica=mysql://a@x/", "--replica=mysql://a@y/"];
        let plan = parsed(&[&more[..], &["--reached-at=[::1]:3306", "--dry-run"]].concat()).unwrap();
        assert_eq!((plan.others.len(), plan.dry_run), (2, true));
        assert_eq!(plan.reached_at, Some(("::1".to_owned(), 3306)));
        for wrong in [&["mysql://a@old/"][..], &["old", "--to=new"], &more[1..]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
        assert!(parsed(&["mysql://a@old/", "--to=mysql://a@new/", "--reached-at=x"]).is_err());
    }
}
