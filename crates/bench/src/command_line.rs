//! The command line of `slipstream bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::apply::{self, Mode};
use crate::demo;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::{Size, Workload};

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Request {
    /// `bench apply`, and the file for its JSON.
    Apply(Box<apply::Plan>, Option<PathBuf>),
    /// `bench demo`.
    Demo(demo::Plan),
}

/// Reads the words after `slipstream bench`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let words = std::iter::once(OsString::from("slipstream bench")).chain(words);
    let matches = command().try_get_matches_from(words)?;
    match matches.subcommand() {
        Some(("apply", matches)) => {
            Ok(Request::Apply(Box::new(apply_plan(matches)?), matches.get_one::<PathBuf>("json").cloned()))
        }
        Some(("demo", matches)) => Ok(Request::Demo(demo_plan(matches))),
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

fn choice(name: &'static str, values: &'static [&'static str], help: &'static str) -> Arg {
    Arg::new(name).long(name).value_parser(PossibleValuesParser::new(values)).help(help)
}

fn command() -> Command {
    let flavors = &["slipstream", "mariadb", "mysql"];
    let apply = Command::new("apply")
        .about("How fast replicas apply what they have received: Slipstream and every peer on the machine")
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "250000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each load"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(
            Arg::new("pool")
                .long("pool")
                .value_name("SIZE")
                .default_value("1G")
                .value_parser(bytes)
                .help("Buffer pool of every server, in bytes or with K, M, G"),
        )
        .arg(
            choice(
                "workload",
                &["update_non_index", "update_index", "insert", "read_write"],
                "The transactions",
            )
            .default_value("update_non_index"),
        )
        .arg(choice("image", &["minimal", "full"], "binlog_row_image").default_value("minimal"))
        .arg(switch("relaxed", "Only sync_binlog=0, innodb_flush_log_at_trx_commit=2"))
        .arg(switch("durable", "Only sync_binlog=1, innodb_flush_log_at_trx_commit=1"))
        .arg(switch("not-logged", "log_replica_updates=OFF"))
        .arg(choice(
            "source",
            flavors,
            "Source of the Slipstream replica [default: MySQL if found, else MariaDB, else Slipstream]",
        ))
        .arg(
            choice("replicas", flavors, "Which replicas, separated by commas [default: all that are found]")
                .value_delimiter(',')
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("Writes the report as JSON, too"),
        );
    let demo = Command::new("demo")
        .about("A source and a replica of Slipstream, a load, and what came of it")
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "100000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each of the two loads"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(switch("relaxed", "Do not sync every commit"));
    Command::new("slipstream bench")
        .about("The benchmark kit")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([apply, demo])
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

fn size(matches: &ArgMatches) -> Size {
    Size { tables: get_u32(matches, "tables"), rows: get(matches, "rows") }
}

fn flavor(name: &str) -> Flavor {
    let named = |flavor: &Flavor| flavor.to_string().eq_ignore_ascii_case(name);
    Flavor::ALL.into_iter().find(named).expect("one of the possible values")
}

fn apply_plan(matches: &ArgMatches) -> Result<apply::Plan, clap::Error> {
    let modes = match (matches.get_flag("relaxed"), matches.get_flag("durable")) {
        (true, false) => vec![Mode::Relaxed],
        (false, true) => vec![Mode::Durable],
        _ => vec![Mode::Relaxed, Mode::Durable],
    };
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let workload: Workload = text("workload")
        .unwrap_or_default()
        .parse()
        .map_err(|error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error))?;
    let replicas = matches.get_many::<String>("replicas");
    Ok(apply::Plan {
        size: size(matches),
        transactions: get(matches, "transactions"),
        clients: get_u32(matches, "clients"),
        workload,
        modes,
        image: if text("image") == Some("full") { RowImage::Full } else { RowImage::Minimal },
        logged: !matches.get_flag("not-logged"),
        pool_bytes: *matches.get_one::<u64>("pool").expect("has a default"),
        source: text("source").map(flavor),
        replicas: replicas.map_or(Flavor::ALL.to_vec(), |names| names.map(|name| flavor(name)).collect()),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    })
}

fn demo_plan(matches: &ArgMatches) -> demo::Plan {
    demo::Plan {
        size: size(matches),
        transactions: get(matches, "transactions"),
        clients: get_u32(matches, "clients"),
        durable: !matches.get_flag("relaxed"),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn defaults_are_the_published_method() {
        let Ok(Request::Apply(plan, None)) = parse(words("apply")) else { panic!("not an apply") };
        assert_eq!(plan.size, Size { tables: 4, rows: 250_000 });
        assert_eq!((plan.transactions, plan.clients, plan.pool_bytes), (200_000, 16, 1 << 30));
        assert_eq!(plan.modes, [Mode::Relaxed, Mode::Durable]);
        assert_eq!(
            (plan.workload, plan.image, plan.logged),
            (Workload::UpdateNonIndex, RowImage::Minimal, true)
        );
        assert_eq!(plan.replicas, Flavor::ALL);
    }

    #[test]
    fn choices() {
        let line = "apply --durable --workload insert --image full --source mariadb --replicas slipstream,mysql \
                    --pool 512M --not-logged --json out.json";
        let Ok(Request::Apply(plan, Some(json))) = parse(words(line)) else { panic!("not an apply") };
        assert_eq!((plan.modes.as_slice(), plan.workload), (&[Mode::Durable][..], Workload::Insert));
        assert_eq!((plan.image, plan.logged, plan.pool_bytes), (RowImage::Full, false, 512 << 20));
        assert_eq!(
            (plan.source, plan.replicas),
            (Some(Flavor::MariaDb), vec![Flavor::Slipstream, Flavor::MySql])
        );
        assert_eq!(json, PathBuf::from("out.json"));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in
            ["", "fly", "apply --rows 0", "apply --pool 12", "apply --workload x", "demo --clients many"]
        {
            assert!(parse(words(line)).is_err(), "{line}");
        }
    }
}
