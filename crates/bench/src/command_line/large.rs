//! The options of `bench large`.

use clap::{ArgMatches, Command};

use super::options::{
    FLAVORS, choice, choices, flavors, get, get_u32, image, image_option, json_option, number, size_option,
    switch, text,
};
use crate::instance::Flavor;
use crate::large::{Plan, Shape};

/// Returns the command with its options.
pub(super) fn command() -> Command {
    Command::new("large")
        .about("One large transaction beside single-row commits: how long those wait, and its memory")
        .arg(choices("start", FLAVORS, "Servers to start [default: all that are found]"))
        .arg(choices("transaction", Shape::ALL.map(Shape::name), "What it does [default: each in turn]"))
        .arg(number("rows", "1000000", "Rows that it inserts or updates"))
        .arg(size_option("wide-bytes", "2G", "Bytes of the transaction `wide`, in bytes or with K, M, G"))
        .arg(choice("binlog", ["on", "off"], "The binary log").default_value("on"))
        .arg(switch("relaxed", "sync_binlog=0, innodb_flush_log_at_trx_commit=2; else 1 and 1"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(size_option("redo", "1G", "Capacity of every server's redo log, in bytes or with K, M, G"))
        .arg(image_option())
        .arg(number("rounds", "1", "How often everything is measured"))
        .arg(json_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let size = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    let named = |name: &String| Shape::ALL.into_iter().find(|shape| shape.name() == name);
    let shapes: Option<Vec<Shape>> =
        matches.get_many("transaction").map(|names| names.filter_map(named).collect());
    Plan {
        shapes: shapes.unwrap_or(Shape::ALL.to_vec()),
        rows: get(matches, "rows"),
        wide_bytes: size("wide-bytes"),
        log_bin: text(matches, "binlog") == Some("on"),
        durable: !matches.get_flag("relaxed"),
        pool_bytes: size("pool"),
        redo_bytes: size("redo"),
        image: image(matches),
        flavors: flavors(matches, "start", &Flavor::ALL),
        rounds: get_u32(matches, "rounds"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};
    use crate::large::Shape;

    #[test]
    fn its_options() {
        let line = "large --rows 5000 --start slipstream --transaction update,wide --wide-bytes 64M --relaxed --json f";
        let Ok(Request::Large(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.rows, plan.wide_bytes, plan.durable), (5000, 64 << 20, false));
        assert_eq!((plan.shapes, plan.flavors.len()), (vec![Shape::Update, Shape::Wide], 1));
        assert!(files.json.is_some());
    }
}
