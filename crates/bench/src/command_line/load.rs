//! The options of `bench load`.

use clap::{ArgMatches, Command};

use super::options::{
    FLAVORS, choice, choices, flavors, get, get_u32, json_option, number, size_option, switch, text,
};
use crate::instance::Flavor;
use crate::load::{Plan, Way};

/// Returns the command with its options.
pub(super) fn command() -> Command {
    Command::new("load")
        .about("How fast the rows of a dump are taken: INSERT statements of many rows, and LOAD DATA")
        .arg(choices("servers", FLAVORS, "Servers to start [default: all that are found]"))
        .arg(choices("ways", Way::ALL.map(Way::name), "How the rows come [default: each in turn]"))
        .arg(number("rows", "500000", "Rows to load"))
        .arg(
            clap::Arg::new("indexes")
                .long("indexes")
                .value_name("N")
                .default_value("1")
                .value_parser(clap::value_parser!(u32).range(0..=3))
                .help("Secondary indexes of the table, 0 to 3"),
        )
        .arg(number("statement-kb", "1024", "KB of an INSERT statement"))
        .arg(choice("binlog", ["on", "off"], "The binary log").default_value("on"))
        .arg(switch("relaxed", "sync_binlog=0, innodb_flush_log_at_trx_commit=2; else 1 and 1"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(size_option("redo", "1G", "Capacity of every server's redo log, in bytes or with K, M, G"))
        .arg(number("rounds", "3", "How often everything is measured"))
        .arg(number("seed", "1", "Seed of the rows"))
        .arg(json_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let size = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    let named = |name: &String| Way::ALL.into_iter().find(|way| way.name() == name);
    let ways: Option<Vec<Way>> = matches.get_many("ways").map(|names| names.filter_map(named).collect());
    Plan {
        ways: ways.unwrap_or(Way::ALL.to_vec()),
        rows: get(matches, "rows"),
        indexes: *matches.get_one("indexes").expect("has a default"),
        statement_bytes: get(matches, "statement-kb") << 10,
        log_bin: text(matches, "binlog") == Some("on"),
        durable: !matches.get_flag("relaxed"),
        pool_bytes: size("pool"),
        redo_bytes: size("redo"),
        flavors: flavors(matches, "servers", &Flavor::ALL),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};
    use super::*;

    #[test]
    fn its_options() {
        let line = "load --servers slipstream,mysql --ways load-data --indexes 3 --relaxed --json f";
        let Ok(Request::Load(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.ways, plan.indexes, plan.durable), (vec![Way::LoadData], 3, false));
        assert_eq!((plan.rows, plan.statement_bytes, plan.flavors.len()), (500_000, 1 << 20, 2));
        assert!(files.json.is_some());
        assert!(parse(words("load --indexes 4")).is_err());
    }
}
