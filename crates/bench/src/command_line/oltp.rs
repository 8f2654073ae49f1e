//! The options of `bench oltp`.

use clap::builder::RangedU64ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::options::{
    choices, get, get_all_u32, get_u32, html_option, image, image_option, json_option, mode_options, modes,
    number, numbers, server_options, servers, size, size_option, switch, text,
};
use crate::instance::Doublewrite;
use crate::oltp::sysbench::SCRIPTS;
use crate::oltp::{Plan, Variation};

/// Returns the command with its options.
pub(super) fn command() -> Command {
    let seconds = RangedU64ValueParser::<u64>::new().range(4..);
    let page_sizes = ["4K", "8K", "16K", "32K", "64K"];
    Command::new("oltp")
        .about("sysbench's transactions: Slipstream, every peer on the machine, and servers that run already")
        .args(server_options())
        .arg(
            choices("script", SCRIPTS, "sysbench's scripts, separated by commas")
                .default_value("update_non_index"),
        )
        .arg(numbers("clients", "32", "Clients at once, separated by commas"))
        .args(mode_options())
        .arg(
            choices("binlog", ["on", "off"], "The binary log, or both separated by a comma")
                .default_value("on"),
        )
        .arg(choices(
            "doublewrite",
            Doublewrite::ALL.map(Doublewrite::name),
            "innodb_doublewrite; the peers take legacy and parallel as on [default: the server's own]",
        ))
        .arg(choices("page", page_sizes, "innodb_page_size, one or several [default: the server's own]"))
        .arg(
            size_option(
                "pool",
                "1G",
                "Buffer pool of every started server, one or several, in bytes or with K, M, G",
            )
            .value_delimiter(',')
            .action(ArgAction::Append),
        )
        .arg(size_option("redo", "2G", "Redo log of every started server"))
        .arg(image_option())
        .arg(switch("binlog-tax", "The binary log on and off, at 1 and 32 clients"))
        .arg(number("tables", "4", "Tables"))
        .arg(number("rows", "250000", "Rows of each table"))
        .arg(switch("fill", "Makes sysbench's tables anew on servers that run already, too"))
        .arg(
            Arg::new("seconds")
                .long("seconds")
                .value_name("N")
                .default_value("10")
                .value_parser(seconds)
                .help("How long each measurement takes"),
        )
        .arg(
            Arg::new("warmup")
                .long("warmup")
                .value_name("N")
                .default_value("3")
                .value_parser(clap::value_parser!(u64))
                .help("Seconds that each runs before it is measured"),
        )
        .arg(number("rounds", "1", "How often everything is measured; the table shows medians"))
        .arg(switch(
            "accounts",
            "Where the time of a transaction goes, from the time accounts that Slipstream keeps",
        ))
        .arg(number("seed", "1", "Makes the data and the loads"))
        .arg(json_option())
        .arg(html_option())
}

/// Reads the options.
pub(super) fn plan(matches: &ArgMatches) -> Result<Plan, clap::Error> {
    let (flavors, addresses) = servers(matches);
    let many = |name| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let mut clients = get_all_u32(matches, "clients");
    if matches.get_flag("binlog-tax") {
        clients = vec![1, 32];
    }
    Ok(Plan {
        size: size(matches),
        scripts: many("script").collect(),
        clients,
        modes: modes(matches),
        variations: variations(matches)?,
        redo_bytes: *matches.get_one::<u64>("redo").expect("has a default"),
        image: image(matches),
        flavors,
        addresses,
        fill_addresses: matches.get_flag("fill"),
        base: text(matches, "base").map(str::to_string),
        seconds: get(matches, "seconds"),
        warmup_seconds: get(matches, "warmup"),
        rounds: get_u32(matches, "rounds"),
        accounts: matches.get_flag("accounts"),
        seed: get(matches, "seed"),
    })
}

/// Returns every combination of the settings that servers are started with.
fn variations(matches: &ArgMatches) -> Result<Vec<Variation>, clap::Error> {
    let named = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let is_tax = matches.get_flag("binlog-tax");
    let binlog: Vec<bool> =
        if is_tax { vec![true, false] } else { named("binlog").map(|value| value == "on").collect() };
    let is = |name: &String| Doublewrite::ALL.into_iter().find(|one| one.name() == name);
    let mut doublewrites: Vec<Option<Doublewrite>> = named("doublewrite").map(is).collect();
    if doublewrites.is_empty() {
        doublewrites.push(None);
    }
    let mut pages = Vec::new();
    for page in named("page") {
        let kilobytes: u64 = page.trim_end_matches('K').parse().expect("one of the possible values");
        pages.push(Some(kilobytes << 10));
    }
    if pages.is_empty() {
        pages.push(None);
    }
    let mut all = Vec::new();
    for pool_bytes in matches.get_many::<u64>("pool").into_iter().flatten() {
        for page_bytes in &pages {
            for doublewrite in &doublewrites {
                for log_bin in &binlog {
                    let (log_bin, doublewrite) = (*log_bin, *doublewrite);
                    let (pool_bytes, page_bytes) = (*pool_bytes, *page_bytes);
                    all.push(Variation { log_bin, doublewrite, pool_bytes, page_bytes });
                }
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::words;
    use super::super::{Request, parse};
    use super::*;
    use crate::instance::Flavor;
    use crate::server::Mode;

    fn oltp(line: &str) -> Plan {
        match parse(words(line)) {
            Ok(Request::Oltp(plan, _)) => *plan,
            Ok(other) => panic!("{other:?}"),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_matrix_is_every_combination() {
        let plan = oltp(
            "oltp --script read_only,update_non_index --clients 1,32,256 --binlog on,off --doublewrite off,legacy \
             --pool 64M,1G --page 4K --durable --start slipstream,mysql",
        );
        assert_eq!((plan.scripts.len(), plan.clients.as_slice()), (2, &[1, 32, 256][..]));
        assert_eq!(plan.variations.len(), 8);
        assert!(plan.variations.iter().all(|one| one.page_bytes == Some(4096)));
        let legacy = plan.variations.iter().filter(|one| one.doublewrite == Some(Doublewrite::Legacy));
        assert_eq!(legacy.count(), 4);
        assert_eq!((plan.modes.as_slice(), plan.flavors.len()), (&[Mode::Durable][..], 2));
    }

    #[test]
    fn the_binary_logs_part_is_one_option() {
        let plan = oltp("oltp --binlog-tax");
        assert!(!plan.accounts && oltp("oltp --accounts").accounts);
        assert_eq!(plan.clients, [1, 32]);
        let binlog: Vec<bool> = plan.variations.iter().map(|one| one.log_bin).collect();
        assert_eq!((binlog.as_slice(), plan.modes.len()), (&[true, false][..], 2));
        assert_eq!(
            (plan.flavors.as_slice(), plan.scripts[0].as_str()),
            (&Flavor::ALL[..], "update_non_index")
        );
    }

    #[test]
    fn servers_that_run_already_are_not_joined_by_others() {
        let plan = oltp("oltp --server a=h:1,u,p --server b=/tmp/s --base b");
        assert_eq!((plan.addresses.len(), plan.flavors.len(), plan.base.as_deref()), (2, 0, Some("b")));
        assert_eq!(oltp("oltp --server a=h:1 --start slipstream").flavors, [Flavor::Slipstream]);
    }
}
