//! The options of `bench recovery`.

use clap::{ArgMatches, Command};

use super::options::{
    FLAVORS, choice, choices, flavors, get, get_u32, image, image_option, json_option, number, size,
    size_option, text,
};
use crate::instance::Flavor;
use crate::recovery::Plan;

/// Returns the command with its options.
pub(super) fn command() -> Command {
    Command::new("recovery")
        .about("Recovery after kill -9 under load: Slipstream and every peer on the machine")
        .arg(choices("start", FLAVORS, "Servers to start [default: all that are found]"))
        .arg(
            clap::Arg::new("base")
                .long("base")
                .value_name("NAME")
                .help("Ratios are relative to this server [default: the first]"),
        )
        .arg(number("redo-mb", "1024", "MB of redo log behind the last checkpoint when a server is killed"))
        .arg(number("clients", "16", "Clients that make them"))
        .arg(choice("binlog", ["on", "off"], "The binary log").default_value("on"))
        .arg(size_option("pool", "2G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(image_option())
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "250000", "Rows of each table"))
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(number("seed", "1", "Makes the data and the load"))
        .arg(json_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    Plan {
        size: size(matches),
        redo_bytes: get(matches, "redo-mb").saturating_mul(1 << 20),
        clients: get_u32(matches, "clients"),
        log_bin: text(matches, "binlog") == Some("on"),
        pool_bytes: *matches.get_one("pool").expect("has a default"),
        image: image(matches),
        flavors: flavors(matches, "start", &Flavor::ALL),
        base: text(matches, "base").map(str::to_string),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};

    #[test]
    fn its_options() {
        let line = "recovery --redo-mb 100 --start slipstream,mariadb --binlog off --base mariadb --json f";
        let Ok(Request::Recovery(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.redo_bytes, plan.log_bin, plan.flavors.len()), (100 << 20, false, 2));
        assert!(plan.base.as_deref() == Some("mariadb") && files.json.is_some());
    }
}
