//! The options of `bench tpch`.

use clap::{Arg, ArgMatches, Command};

use super::options::{FLAVORS, choices, flavors, get, get_u32, json_option, number, numbers, size_option};
use crate::instance::Flavor;
use crate::tpch::Plan;

/// Returns the command with its options.
pub(super) fn command() -> Command {
    Command::new("tpch")
        .about("The 22 queries of TPC-H: how long each takes, and whether all servers answer the same")
        .arg(
            Arg::new("scale")
                .long("scale")
                .value_name("SCALE")
                .default_value("0.1")
                .value_parser(scale)
                .help("Scale of the tables: 1 has 6 million rows of lineitem"),
        )
        .arg(choices("servers", FLAVORS, "Servers to start [default: all that are found]"))
        .arg(numbers("queries", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22", "Queries to run"))
        .arg(number("rounds", "2", "How often each query is run"))
        .arg(number("timeout", "300", "Seconds after which a query is given up"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(
            Arg::new("memory-kb")
                .long("memory-kb")
                .value_name("N")
                .value_parser(clap::value_parser!(u64).range(1..1 << 40))
                .help(
                    "join_buffer_size, sort_buffer_size and tmp_table_size [default: the servers' defaults]",
                ),
        )
        .arg(number("seed", "1", "Seed of the rows"))
        .arg(json_option())
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "a scale is a number".to_owned())?;
    if (0.001..=100.0).contains(&scale) { Ok(scale) } else { Err("a scale is from 0.001 to 100".into()) }
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let size = |name: &str| *matches.get_one::<u64>(name).expect("has a default");
    let queries = matches.get_many::<u64>("queries").into_iter().flatten();
    Plan {
        scale: *matches.get_one("scale").expect("has a default"),
        queries: queries.filter_map(|number| usize::try_from(*number).ok()).collect(),
        rounds: get_u32(matches, "rounds"),
        most_seconds: get(matches, "timeout"),
        pool_bytes: size("pool"),
        memory_bytes: matches.get_one::<u64>("memory-kb").map(|kb| kb << 10),
        flavors: flavors(matches, "servers", &Flavor::ALL),
        seed: get(matches, "seed"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};

    #[test]
    fn its_options() {
        let line = "tpch --scale 0.5 --servers slipstream,mysql --queries 3,18 --memory-kb 1024 --json f";
        let Ok(Request::Tpch(plan, files)) = parse(words(line)) else { panic!("{line}") };
        assert_eq!((plan.scale, plan.queries, plan.memory_bytes), (0.5, vec![3, 18], Some(1 << 20)));
        assert_eq!(plan.flavors.len(), 2);
        assert!(files.json.is_some());
        assert!(parse(words("tpch --scale much")).is_err());
    }
}
