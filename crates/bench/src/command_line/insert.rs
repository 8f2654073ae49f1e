//! The options of `bench insert`.

use clap::{ArgMatches, Command};

use super::options::{
    choice, choices, get, get_u32, html_option, image, image_option, json_option, mode_options, modes,
    number, server_options, servers, size_option, text,
};
use crate::insert::Plan;
use crate::insert::statement::Lookup;
use crate::insert::step::Step;
use crate::server::Mode;

const STEPS: [&str; 7] = ["l.i0", "l.x", "l.i1", "l.i2", "q100", "q500", "q1000"];

/// Returns the command with its options.
pub(super) fn command() -> Command {
    Command::new("insert")
        .about("The Insert Benchmark: Slipstream, every peer on the machine, and servers that run already")
        .args(server_options())
        .arg(number("rows", "4000000", "Rows that l.i0 loads, over all clients"))
        .arg(number("l1-rows", "1000000", "Rows that l.i1 inserts and deletes, 50 a statement"))
        .arg(number("l2-rows", "250000", "Rows that l.i2 inserts and deletes, 5 a statement"))
        .arg(number("clients", "1", "Clients, each with a table of its own"))
        .arg(choices("steps", STEPS, "The steps, separated by commas [default: all]"))
        .arg(number("query-seconds", "30", "How long each query step takes"))
        .arg(choice("queries", ["ranges", "points"], "What the query steps look up").default_value("ranges"))
        .arg(number("data-bytes", "10", "Bytes of the column data, at most 4000"))
        .args(mode_options())
        .arg(choice("binlog", ["on", "off"], "The binary log").default_value("on"))
        .arg(size_option("pool", "512M", "Buffer pool of every started server, in bytes or with K, M, G"))
        .arg(size_option("redo", "2G", "Redo log of every started server"))
        .arg(image_option())
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(number("seed", "1", "Makes the values"))
        .arg(json_option())
        .arg(html_option())
}

/// Reads the options. Relaxed commits are the default, as in the benchmark's own runs.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let (flavors, addresses) = servers(matches);
    let named: Vec<&String> = matches.get_many("steps").into_iter().flatten().collect();
    let asked = |step: &Step| named.is_empty() || named.contains(&&step.name());
    let any_mode = matches.get_flag("relaxed") || matches.get_flag("durable");
    Plan {
        rows: get(matches, "rows"),
        l1_rows: get(matches, "l1-rows"),
        l2_rows: get(matches, "l2-rows"),
        clients: get_u32(matches, "clients"),
        steps: Step::ALL.into_iter().filter(asked).collect(),
        query_seconds: get(matches, "query-seconds"),
        lookup: if text(matches, "queries") == Some("points") { Lookup::Points } else { Lookup::Ranges },
        data_bytes: get(matches, "data-bytes").min(4000) as usize,
        modes: if any_mode { modes(matches) } else { vec![Mode::Relaxed] },
        log_bin: text(matches, "binlog") == Some("on"),
        pool_bytes: *matches.get_one("pool").expect("has a default"),
        redo_bytes: *matches.get_one("redo").expect("has a default"),
        image: image(matches),
        flavors,
        addresses,
        base: text(matches, "base").map(str::to_string),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};
    use super::*;

    fn insert(line: &str) -> Plan {
        match parse(words(line)) {
            Ok(Request::Insert(plan, _)) => *plan,
            Ok(other) => panic!("{other:?}"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn the_steps_have_an_order() {
        assert_eq!(insert("insert").steps, Step::ALL);
        let plan =
            insert("insert --steps q100,l.i0 --durable --relaxed --rows 9 --queries points --binlog off");
        assert_eq!(plan.steps, [Step::L0, Step::Query(100)]);
        assert_eq!((plan.modes.len(), plan.rows, plan.lookup, plan.log_bin), (2, 9, Lookup::Points, false));
    }

    #[test]
    fn commits_are_relaxed_unless_asked_for() {
        assert_eq!(insert("insert").modes, [Mode::Relaxed]);
        assert_eq!(insert("insert --durable").modes, [Mode::Durable]);
    }
}
