//! The options of `bench lag`.

use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, Command};

use super::options::{
    FLAVORS, choice, choices, flavor, flavors, get, get_all_u32, get_u32, html_option, json_option, number,
    numbers, size_option, switch, text, words,
};
use crate::instance::Flavor;
use crate::lag::{Plan, Scenario};
use crate::server::Mode;

/// Returns the command with its options.
pub(super) fn command() -> Command {
    let workers = RangedU64ValueParser::<u64>::new().range(..=1024);
    Command::new("lag")
        .about("Lag over time while replicas apply along, and how long their readers wait: Slipstream and every peer on the machine")
        .arg(choices("scenario", Scenario::ALL.map(Scenario::name), "What the source does").default_value("hot-row,large-transaction"))
        .arg(numbers("workers", "4", "Worker threads of the replicas; 0 is none").value_parser(workers))
        .arg(number("seconds", "20", "How long the load runs"))
        .arg(number("rate", "2000", "Transactions a second"))
        .arg(number("clients", "8", "Clients that send them"))
        .arg(number("rows", "100000", "Rows that the small transactions change"))
        .arg(number("large-rows", "1000000", "Rows of the large transaction"))
        .arg(switch("durable", "sync_binlog=1, innodb_flush_log_at_trx_commit=1 at both ends [default: 0 and 2]"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(number("seed", "1", "Makes the load"))
        .arg(choice("source", FLAVORS, "Source of the Slipstream replica [default: MySQL if found, else MariaDB, else Slipstream]"))
        .arg(choices("replicas", FLAVORS, "Which replicas, separated by commas [default: all that are found]"))
        .arg(json_option())
        .arg(html_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let named = words(matches, "scenario");
    Plan {
        scenarios: Scenario::ALL.into_iter().filter(|one| named.contains(&one.name())).collect(),
        workers: get_all_u32(matches, "workers"),
        mode: if matches.get_flag("durable") { Mode::Durable } else { Mode::Relaxed },
        seconds: get(matches, "seconds"),
        rate: get(matches, "rate"),
        clients: get_u32(matches, "clients"),
        rows: get(matches, "rows"),
        large_rows: get(matches, "large-rows"),
        pool_bytes: *matches.get_one("pool").expect("has a default"),
        source: text(matches, "source").map(flavor),
        replicas: flavors(matches, "replicas", &Flavor::ALL),
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
        let Ok(Request::Lag(plan, _)) = parse(words("lag")) else { panic!("not a lag") };
        assert_eq!((plan.scenarios.len(), plan.large_rows, plan.mode), (2, 1_000_000, Mode::Relaxed));
        let line = "lag --scenario hot-row --workers 0,16 --durable --html f";
        let Ok(Request::Lag(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.scenarios, plan.workers), (vec![Scenario::HotRow], vec![0, 16]));
        assert!(plan.mode == Mode::Durable && files.html.is_some());
    }
}
