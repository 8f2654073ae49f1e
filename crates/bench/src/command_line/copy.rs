//! The options of `bench copy`.

use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, Command};

use super::options::{
    choice, choices, flavor, get, get_u32, html_option, json_option, number, numbers, size, size_option,
    switch, text, words,
};
use crate::copy::{Method, Plan};
use crate::server::Mode;

/// Returns the command with its options.
pub(super) fn command() -> Command {
    let rates = RangedU64ValueParser::<u64>::new().range(0..);
    Command::new("copy")
        .about("Time to make a new replica of a MySQL or MariaDB source that works: attach, mydumper, CLONE, mariadb-backup")
        .arg(choice("source", ["mysql", "mariadb"], "The source [default: MySQL if found, else MariaDB]"))
        .arg(choices("ways", Method::ALL.map(Method::name), "Which ways, separated by commas [default: all that are found]"))
        .arg(number("tables", "4", "sysbench's tables at the source"))
        .arg(number("rows", "250000", "Rows in each table"))
        .arg(numbers("changes-per-second", "0,2000", "Transactions a second at the source meanwhile").value_parser(rates))
        .arg(number("clients", "4", "Clients that send them"))
        .arg(number("threads", "1", "Threads of each program [default: each program's own]").default_value(None::<&str>))
        .arg(number("lag-seconds", "60", "How long the lag is looked at after the last copied row"))
        .arg(switch("durable", "sync_binlog=1, innodb_flush_log_at_trx_commit=1 everywhere [default: 0 and 2]"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(number("rounds", "1", "How often everything is measured; the report has medians"))
        .arg(number("seed", "1", "Makes the rows and the load"))
        .arg(json_option())
        .arg(html_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let named = words(matches, "ways");
    let is_wanted = |method: &Method| named.is_empty() || named.contains(&method.name());
    let threads = matches.get_one::<u64>("threads");
    Plan {
        source: text(matches, "source").map(flavor),
        size: size(matches),
        methods: Method::ALL.into_iter().filter(is_wanted).collect(),
        changes_per_second: matches.get_many("changes-per-second").into_iter().flatten().copied().collect(),
        clients: get_u32(matches, "clients"),
        threads: threads.map(|threads| u32::try_from(*threads).unwrap_or(u32::MAX)),
        mode: if matches.get_flag("durable") { Mode::Durable } else { Mode::Relaxed },
        pool_bytes: *matches.get_one("pool").expect("has a default"),
        lag_seconds: get(matches, "lag-seconds"),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};
    use super::*;
    use crate::instance::Flavor;

    #[test]
    fn its_options() {
        let Ok(Request::Copy(plan, _)) = parse(words("copy")) else { panic!("not a copy") };
        assert_eq!((plan.methods.len(), plan.changes_per_second, plan.threads), (4, vec![0, 2000], None));
        let line = "copy --source mariadb --ways attach,dump --changes-per-second 5 --threads 3 --html f";
        let Ok(Request::Copy(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.source, plan.methods), (Some(Flavor::MariaDb), vec![Method::Attach, Method::Dump]));
        assert_eq!((plan.changes_per_second, plan.threads), (vec![5], Some(3)));
        assert!(files.html.is_some());
    }
}
