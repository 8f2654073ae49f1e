//! The command line of `slipstream attach`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, Command};
use protocol::client::ConnectOptions;

/// The environment variable that may hold the password.
const PASSWORD_VARIABLE: &str = "SLIPSTREAM_SOURCE_PASSWORD";

/// The request on the command line.
#[derive(Debug)]
pub struct Plan {
    /// The way to reach the source.
    pub source: ConnectOptions,
    /// The path of the new replica's data directory.
    pub datadir: PathBuf,
    /// The number of tables that are copied at the same time.
    pub workers: usize,
    /// True when only the checks are to be made.
    pub dry_run: bool,
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
                .value_parser(address)
                .help("The source; its account needs SELECT, REPLICATION SLAVE and REPLICATION CLIENT"),
        )
        .arg(
            Arg::new("datadir")
                .long("datadir")
                .value_name("DIR")
                .required(true)
                .value_parser(clap::value_parser!(PathBuf))
                .help("The new replica's data directory: empty, or of an attachment that was interrupted"),
        )
        .arg(Arg::new("password-file").long("password-file").value_name("FILE").help(
            "The source's password is the first line of this file; else it is in the address, or in \
                       the environment as SLIPSTREAM_SOURCE_PASSWORD",
        ))
        .arg(
            Arg::new("workers")
                .long("workers")
                .value_name("N")
                .default_value("2")
                .value_parser(RangedU64ValueParser::<u64>::new().range(1..=64))
                .help("So many tables are copied at once"),
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
    let mut source = matches.get_one::<ConnectOptions>("source").expect("it is required").clone();
    if let Some(file) = matches.get_one::<String>("password-file") {
        source.password = first_line(file)?;
    } else if source.password.is_empty()
        && let Ok(password) = std::env::var(PASSWORD_VARIABLE)
    {
        source.password = password;
    }
    let serve = matches.get_many::<String>("serve").map(|words| words.cloned().collect());
    Ok(Plan {
        source,
        datadir: matches.get_one::<PathBuf>("datadir").expect("it is required").clone(),
        workers: *matches.get_one::<u64>("workers").expect("it has a default") as usize,
        dry_run: matches.get_flag("dry-run"),
        serve: serve.unwrap_or_default(),
    })
}

fn first_line(file: &str) -> Result<String, clap::Error> {
    let read = os::disk::real().read(file.as_ref());
    let text = read.map_err(|error| {
        clap::Error::raw(clap::error::ErrorKind::Io, format!("--password-file {file}: {error}\n"))
    })?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned())
}

/// Parses an address of the form `mysql://user:password@host:port/`, or with `mariadb` in front. A
/// character of the user or the password may be written as `%` and two hexadecimal digits.
fn address(text: &str) -> Result<ConnectOptions, String> {
    let wrong = || format!("'{text}' is not mysql://user@host:port/");
    let rest = text.strip_prefix("mysql://").or_else(|| text.strip_prefix("mariadb://")).ok_or_else(wrong)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (account, place) = rest.rsplit_once('@').ok_or_else(wrong)?;
    let (user, password) = account.split_once(':').unwrap_or((account, ""));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
        None => (place, 3306),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if user.is_empty() || host.is_empty() || host.contains('/') {
        return Err(wrong());
    }
    let (user, password) = (decoded(user).ok_or_else(wrong)?, decoded(password).ok_or_else(wrong)?);
    Ok(ConnectOptions::tcp(host, port).user(user, password))
}

fn decoded(text: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::client::Address;

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| {
            let options = address(text).ok()?;
            let Address::Tcp { host, port } = options.address else { return None };
            Some((options.user, options.password, host, port))
        };
        let of = |user: &str, password: &str, host: &str, port| {
            Some((user.to_owned(), password.to_owned(), host.to_owned(), port))
        };
        assert_eq!(read("mysql://repl@db.example:3307/"), of("repl", "", "db.example", 3307));
        assert_eq!(read("mysql://repl:p%40ss%3a@db"), of("repl", "p@ss:", "db", 3306));
        assert_eq!(read("mysql://repl@[::1]:3306/"), of("repl", "", "::1", 3306));
        assert_eq!(read("mariadb://repl@db/"), of("repl", "", "db", 3306));
        for wrong in ["db:3306", "mysql://db:3306", "mysql://@db", "mysql://a@db:x", "mysql://a%4@db"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
