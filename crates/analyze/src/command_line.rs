//! The command line of `slipstream analyze`.

use std::ffi::OsString;
use std::path::PathBuf;

use bench::server::ByAddress;
use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use protocol::client::ConnectOptions;

use crate::schedule::{Costs, Model};

/// The request on the command line.
#[derive(Debug)]
pub struct Request {
    /// The log to read.
    pub what: What,
    /// The server that is asked for the tables' keys.
    pub keys_from: Option<ConnectOptions>,
    /// The largest number of transactions to read.
    pub limit: usize,
    /// The value of `binlog_transaction_dependency_history_size`, in keys.
    pub writesets: usize,
    /// The assumptions of the schedules.
    pub model: Model,
    /// True for a report in JSON, false for text.
    pub json: bool,
}

/// The place of the log.
#[derive(Debug)]
pub enum What {
    /// Files and directories.
    Paths(Vec<PathBuf>),
    /// A source, and the file and the offset where to begin.
    Source(Box<ConnectOptions>, Option<(String, u32)>),
}

fn number(name: &'static str, default: &'static str, least: u64, help: &'static str) -> Arg {
    let parser = RangedU64ValueParser::<u64>::new().range(least..=u64::from(u32::MAX));
    Arg::new(name).long(name).value_name("N").default_value(default).value_parser(parser).help(help)
}

fn address(name: &'static str, help: &'static str) -> Arg {
    let parse = |text: &str| format!("server={text}").parse::<ByAddress>().map(|server| server.options);
    Arg::new(name).long(name).value_name("HOST:PORT,USER,PASSWORD").value_parser(parse).help(help)
}

fn from(text: &str) -> Result<(String, u32), String> {
    match text.rsplit_once(':') {
        None => Ok((text.to_string(), 4)),
        Some((file, pos)) => {
            let pos = pos.parse().map_err(|_| format!("'{pos}' is no position"))?;
            Ok((file.to_string(), pos))
        }
    }
}

/// Returns the definition of the command line of `slipstream analyze`, also for manual pages and
/// completions.
pub fn command() -> Command {
    Command::new("slipstream analyze")
        .about(
            "What a binary log holds, and the speed-up that each policy of parallel apply would give with it, by simulation",
        )
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .action(ArgAction::Append)
                .value_parser(clap::value_parser!(PathBuf))
                .help("Binary or relay log files in their order, or a directory of them"),
        )
        .arg(address("source", "A server whose binary log is read, up to its present end; also /SOCKET,USER,PASSWORD"))
        .group(ArgGroup::new("log").args(["path", "source"]).required(true))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("FILE[:POSITION]")
                .value_parser(from)
                .conflicts_with("path")
                .help("Where to begin in the source's log [default: its first file]"),
        )
        .arg(address("keys-from", "A server with the same tables, which is asked for their keys [default: the source]"))
        .arg(number("limit", "4294967295", 1, "Read so many transactions"))
        .arg(number("transaction-cost", "1", 0, "What a transaction costs beside its rows"))
        .arg(number("row-cost", "1", 1, "What a row change costs"))
        .arg(number("window", "1024", 1, "By row: how many transactions are looked ahead"))
        .arg(number("writesets", "25000", 1, "binlog_transaction_dependency_history_size"))
        .arg(
            Arg::new("no-preserve-commit-order")
                .long("no-preserve-commit-order")
                .action(ArgAction::SetTrue)
                .help("replica_preserve_commit_order=OFF"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Prints JSON"))
}

/// Parses the words after `slipstream analyze`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream analyze")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    let get = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    Ok(Request {
        what: what(&matches),
        keys_from: matches.get_one("keys-from").cloned(),
        limit: get("limit") as usize,
        writesets: get("writesets") as usize,
        model: Model {
            costs: Costs { transaction: get("transaction-cost"), row: get("row-cost") },
            preserve_commit_order: !matches.get_flag("no-preserve-commit-order"),
            window: get("window") as usize,
        },
        json: matches.get_flag("json"),
    })
}

fn what(matches: &ArgMatches) -> What {
    match matches.get_one::<ConnectOptions>("source") {
        Some(source) => What::Source(Box::new(source.clone()), matches.get_one("from").cloned()),
        None => What::Paths(matches.get_many("path").into_iter().flatten().cloned().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn files_or_a_source() {
        let request = parse(words("a.000001 a.000002 --json")).unwrap();
        assert!(request.json && matches!(&request.what, What::Paths(paths) if paths.len() == 2));
        assert_eq!(request.model.costs, Costs { transaction: 1, row: 1 });
        let request =
            parse(words("--source db:3306,root,secret --from binlog.000003:157 --row-cost 2")).unwrap();
        let What::Source(options, Some(from)) = &request.what else { panic!("not a source") };
        assert_eq!((options.user.as_str(), from), ("root", &("binlog.000003".to_string(), 157)));
        assert_eq!(request.model.costs.row, 2);
        for wrong in ["", "a.000001 --source db:3306", "--source nowhere", "a --from b", "a --limit 0"] {
            assert!(parse(words(wrong)).is_err(), "{wrong}");
        }
    }
}
