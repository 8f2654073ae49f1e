//! `bench apply` and `bench demo`.

use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, Command};

use super::{
    FLAVORS, choice, choices, flavor, flavors, get, get_all_u32, get_u32, html_option, image, image_option,
    json_option, mode_options, modes, number, numbers, size, size_option, switch, text,
};
use crate::apply::Plan;
use crate::demo;
use crate::instance::Flavor;
use crate::sbtest::Workload;

/// The options of `bench apply`.
pub(super) fn command() -> Command {
    Command::new("apply")
        .about("How fast replicas apply what they have received: Slipstream and every peer on the machine")
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "250000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each load"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(
            choice(
                "workload",
                ["update_non_index", "update_index", "insert", "read_write"],
                "The transactions",
            )
            .default_value("update_non_index"),
        )
        .arg(image_option())
        .args(mode_options())
        .arg(
            numbers("workers", "0", "Worker threads of the replicas, separated by commas; 0 is none")
                .value_parser(RangedU64ValueParser::<u64>::new().range(..=1024)),
        )
        .arg(switch("not-logged", "log_replica_updates=OFF"))
        .arg(choice(
            "source",
            FLAVORS,
            "Source of the Slipstream replica [default: MySQL if found, else MariaDB, else Slipstream]",
        ))
        .arg(choices(
            "replicas",
            FLAVORS,
            "Which replicas, separated by commas [default: all that are found]",
        ))
        .arg(json_option())
        .arg(html_option())
}

/// The options of `bench demo`.
pub(super) fn demo_command() -> Command {
    Command::new("demo")
        .about("A source and a replica of Slipstream, a load, and what came of it")
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "100000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each of the two loads"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(switch("relaxed", "Do not sync every commit"))
}

/// Reads its options.
pub(super) fn plan(matches: &ArgMatches) -> Result<Plan, clap::Error> {
    let workload: Workload = text(matches, "workload")
        .unwrap_or_default()
        .parse()
        .map_err(|error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error))?;
    Ok(Plan {
        size: size(matches),
        transactions: get(matches, "transactions"),
        clients: get_u32(matches, "clients"),
        workload,
        modes: modes(matches),
        workers: get_all_u32(matches, "workers"),
        image: image(matches),
        logged: !matches.get_flag("not-logged"),
        pool_bytes: *matches.get_one::<u64>("pool").expect("has a default"),
        source: text(matches, "source").map(flavor),
        replicas: flavors(matches, "replicas", &Flavor::ALL),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
    })
}

/// Reads the options of `bench demo`.
pub(super) fn demo_plan(matches: &ArgMatches) -> demo::Plan {
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
    use std::path::PathBuf;

    use super::super::tests::words;
    use super::super::{Request, parse};
    use super::*;
    use crate::instance::RowImage;
    use crate::sbtest::Size;
    use crate::server::Mode;

    #[test]
    fn defaults_are_the_published_method() {
        let Ok(Request::Apply(plan, _)) = parse(words("apply")) else { panic!("not an apply") };
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
        let Ok(Request::Apply(plan, files)) = parse(words(line)) else { panic!("not an apply") };
        assert_eq!((plan.modes.as_slice(), plan.workload), (&[Mode::Durable][..], Workload::Insert));
        assert_eq!((plan.image, plan.logged, plan.pool_bytes), (RowImage::Full, false, 512 << 20));
        assert_eq!(
            (plan.source, plan.replicas),
            (Some(Flavor::MariaDb), vec![Flavor::Slipstream, Flavor::MySql])
        );
        assert_eq!(files.json, Some(PathBuf::from("out.json")));
    }
}
