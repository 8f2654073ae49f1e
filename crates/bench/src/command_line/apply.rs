//! The options of `bench apply` and `bench demo`.

use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgMatches, Command};

use super::options::{
    FLAVORS, choice, choices, file_option, flavor, flavors, get, get_all_u32, get_u32, html_option,
    json_option, mode_options, modes, number, numbers, size, size_option, switch, text, words,
};
use crate::apply::{Format, Plan, Repository};
use crate::demo;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::{RandType, Workload};

/// The values of `--image`.
const IMAGES: [(&str, RowImage); 3] =
    [("full", RowImage::Full), ("minimal", RowImage::Minimal), ("noblob", RowImage::NoBlob)];

/// Returns the command `bench apply` with its options.
pub(super) fn command() -> Command {
    Command::new("apply")
        .about(
            "How fast replicas apply what they have received: Slipstream and every peer on the machine. Options that take several values \
             make a matrix: every combination is measured",
        )
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "250000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each load"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(size_option("pool", "1G", "Buffer pool of every server, in bytes or with K, M, G"))
        .arg(
            choice("rand-type", RandType::NAMES.map(|(name, _)| name), "Distribution of the changed rows")
                .default_value("special"),
        )
        .arg(switch("restart", "Start the replicas anew before each load, with what a start loads in their pools"))
        .args(matrix_options())
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
        .arg(file_option("keep-logs", "Copies the sources' binary logs into this directory, one below it for each").value_name("DIR"))
}

/// Returns the options that are varied. Each takes several values, separated by commas.
fn matrix_options() -> Vec<Arg> {
    let workers = RangedU64ValueParser::<u64>::new().range(..=1024);
    let delay = RangedU64ValueParser::<u64>::new().range(..=1_000_000);
    let mut options = vec![
        choices("workload", Workload::ALL.map(Workload::name), "The transactions").default_value("update_non_index"),
        choices("format", Format::NAMES, "binlog_format of the sources").default_value("row"),
        choices("image", IMAGES.map(|(name, _)| name), "binlog_row_image, where there are rows").default_value("minimal"),
        numbers(
            "commit-delay",
            "0",
            "For how many microseconds the sources gather commits: binlog_group_commit_sync_delay, MariaDB's binlog_commit_wait_usec",
        )
        .value_parser(delay),
        numbers("workers", "0", "Worker threads of the replicas; 0 is none").value_parser(workers),
        choices("log-replica-updates", ["on", "off"], "Whether the replicas log what they apply").default_value("on"),
        choices(
            "position",
            ["table", "file"],
            "Where the replicas keep their position, relay_log_info_repository; a server without that variable has a table only",
        )
        .default_value("table"),
    ];
    options.extend(mode_options());
    options
}

/// Returns the command `bench demo` with its options.
pub(super) fn demo_command() -> Command {
    Command::new("demo")
        .about(
            "A source and a replica of Slipstream, a load, what came of it, and new replicas of real servers",
        )
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "100000", "Rows of each table"))
        .arg(number("transactions", "200000", "Transactions of each of the two loads"))
        .arg(number("clients", "16", "Clients of the load"))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(switch("relaxed", "Do not sync every commit"))
}

/// Reads the options of `bench apply`.
pub(super) fn plan(matches: &ArgMatches) -> Plan {
    let workload = |name: &str| name.parse::<Workload>().expect("one of the possible values");
    let image = |name: &&str| IMAGES.iter().find(|(known, _)| known == name).map(|(_, image)| *image);
    let images: Vec<RowImage> = words(matches, "image").iter().filter_map(image).collect();
    let repository = |name: &str| if name == "file" { Repository::File } else { Repository::Table };
    Plan {
        size: size(matches),
        transactions: get(matches, "transactions"),
        clients: get_u32(matches, "clients"),
        rand_type: rand_type(matches),
        restarts: matches.get_flag("restart"),
        workloads: words(matches, "workload").into_iter().map(workload).collect(),
        formats: Format::all(&words(matches, "format"), &images),
        delays_us: get_all_u32(matches, "commit-delay"),
        modes: modes(matches),
        workers: get_all_u32(matches, "workers"),
        repositories: words(matches, "position").into_iter().map(repository).collect(),
        logged: words(matches, "log-replica-updates").into_iter().map(|word| word == "on").collect(),
        pool_bytes: *matches.get_one::<u64>("pool").expect("has a default"),
        source: text(matches, "source").map(flavor),
        replicas: flavors(matches, "replicas", &Flavor::ALL),
        rounds: get_u32(matches, "rounds"),
        seed: get(matches, "seed"),
        keep_logs: matches.get_one("keep-logs").cloned(),
    }
}

fn rand_type(matches: &ArgMatches) -> RandType {
    let named = text(matches, "rand-type");
    let known = RandType::NAMES.iter().find(|(name, _)| named == Some(*name));
    known.map_or(RandType::default(), |(_, rand_type)| *rand_type)
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
    use crate::sbtest::Size;
    use crate::server::Mode;

    #[test]
    fn defaults_are_the_published_method() {
        let Ok(Request::Apply(plan, _)) = parse(words("apply")) else { panic!("not an apply") };
        assert_eq!(plan.size, Size { tables: 4, rows: 250_000 });
        assert_eq!((plan.transactions, plan.clients, plan.pool_bytes), (200_000, 16, 1 << 30));
        assert_eq!(plan.modes, [Mode::Relaxed, Mode::Durable]);
        assert_eq!((plan.streams().len(), plan.settings().len()), (1, 2));
        let stream = plan.streams()[0];
        assert_eq!(
            (stream.workload, stream.format, stream.delay_us),
            (Workload::UpdateNonIndex, Format::Row(RowImage::Minimal), 0)
        );
        assert_eq!((plan.logged, plan.repositories), (vec![true], vec![Repository::Table]));
        assert_eq!(plan.replicas, Flavor::ALL);
    }

    #[test]
    fn choices() {
        let line = "apply --durable --workload insert --image full --source mariadb --replicas slipstream,mysql \
                    --pool 512M --log-replica-updates off --json out.json";
        let Ok(Request::Apply(plan, files)) = parse(words(line)) else { panic!("not an apply") };
        assert_eq!((plan.modes.as_slice(), plan.workloads), (&[Mode::Durable][..], vec![Workload::Insert]));
        assert_eq!((plan.logged, plan.pool_bytes), (vec![false], 512 << 20));
        assert_eq!(
            (plan.source, plan.replicas),
            (Some(Flavor::MariaDb), vec![Flavor::Slipstream, Flavor::MySql])
        );
        assert_eq!(files.json, Some(PathBuf::from("out.json")));
    }

    #[test]
    fn lists_make_a_matrix() {
        let line = "apply --workload update_non_index,read_write,mysqlslap --format row,statement --image full,minimal \
                    --commit-delay 0,1000 --workers 0,2,16 --log-replica-updates on,off --position table,file";
        let Ok(Request::Apply(plan, _)) = parse(words(line)) else { panic!("not an apply") };
        // There are three loads in three formats with two delays, and two modes, three numbers of
        // workers and two repositories.
        assert_eq!((plan.streams().len(), plan.settings().len()), (18, 12));
        assert_eq!(plan.logged, [true, false]);
    }
}
