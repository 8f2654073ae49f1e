//! The command line of each flavor: the same settings, in the option names of each server.

use std::path::PathBuf;

use super::place::{Place, mysql_chroot};
use super::process::is_root;
use super::settings::{Doublewrite, Flavor, Settings, USER};

pub(super) fn mariadbd() -> Option<PathBuf> {
    in_path("mariadbd")
}

/// Returns the path of a program of this machine; `None` means that it is not there.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Returns the words that run the server program of this flavor, without its options.
pub(super) fn program(flavor: Flavor, settings: &Settings) -> Vec<String> {
    match flavor {
        Flavor::Slipstream => {
            vec![slipstream(settings), "serve".into()]
        }
        Flavor::MariaDb => {
            let binary = mariadbd().unwrap_or_else(|| "mariadbd".into());
            vec![binary.display().to_string(), "--no-defaults".into()]
        }
        Flavor::MySql => {
            in_chroot(&["/usr/sbin/mysqld", "--no-defaults", "--mysqlx=OFF", "--secure-file-priv=NULL"])
        }
    }
}

fn slipstream(settings: &Settings) -> String {
    let running = || std::env::current_exe().unwrap_or_else(|_| "slipstream".into());
    settings.slipstream.clone().unwrap_or_else(running).display().to_string()
}

/// Returns the command line of `slipstream attach` of a source on this machine, which is given as
/// its flavor and port, with a number of threads.
pub(super) fn attach(
    settings: &Settings,
    place: &Place,
    port: u16,
    ((flavor, source_port), threads): ((Flavor, u16), Option<u32>),
) -> Vec<String> {
    let scheme = if flavor == Flavor::MariaDb { "mariadb" } else { "mysql" };
    let address = format!("{scheme}://{USER}:{USER}@127.0.0.1:{source_port}/");
    let mut words = vec![slipstream(settings), "attach".into(), address];
    words.push(format!("--datadir={}", place.inside("data")));
    words.extend(threads.map(|threads| format!("--workers={threads}")));
    words.push("--".into());
    words.extend(where_it_runs(place, port));
    words.extend(options_that_matter(Flavor::Slipstream, settings));
    words
}

pub(super) fn in_chroot(words: &[&str]) -> Vec<String> {
    let mut command = vec!["chroot".to_string(), mysql_chroot().display().to_string()];
    command.extend(words.iter().map(|word| word.to_string()));
    command
}

/// Returns the whole command line of a server.
pub(super) fn server(flavor: Flavor, settings: &Settings, place: &Place, port: u16) -> Vec<String> {
    let mut words = program(flavor, settings);
    words.push(format!("--datadir={}", place.inside("data")));
    words.extend(where_it_runs(place, port));
    if flavor == Flavor::MariaDb {
        // MariaDB's server removes all temporary tables in this directory when it starts, so it
        // must share the directory with no other server.
        words.push(format!("--tmpdir={}", place.inside(".")));
    }
    if is_root() && flavor != Flavor::Slipstream {
        words.push("--user=root".to_string());
    }
    words.extend(options_that_matter(flavor, settings));
    words
}

/// Returns the options of a server's files and addresses, without its data directory.
fn where_it_runs(place: &Place, port: u16) -> [String; 5] {
    [
        format!("--socket={}", place.inside("mysqld.sock")),
        format!("--pid-file={}", place.inside("mysqld.pid")),
        format!("--log-error={}", place.inside("error.log")),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_string(),
    ]
}

/// Returns the options that change what a server does, without those that say where it runs.
pub(super) fn options_that_matter(flavor: Flavor, settings: &Settings) -> Vec<String> {
    let on_off = |on: bool| if on { "ON" } else { "OFF" };
    let mut options = vec![
        format!("--server-id={}", settings.server_id),
        format!("--innodb-buffer-pool-size={}", settings.pool_bytes),
        format!("--innodb-flush-log-at-trx-commit={}", if settings.durable { 1 } else { 2 }),
        format!("--sync-binlog={}", u8::from(settings.durable)),
        // These are the defaults of MySQL 9.7. MariaDB's defaults of 200 and 2000 suit a single
        // spinning disk.
        "--innodb-io-capacity=10000".to_string(),
        "--innodb-io-capacity-max=20000".to_string(),
        "--binlog-format=ROW".to_string(),
        format!("--binlog-row-image={}", settings.row_image.name()),
        "--relay-log=relay".to_string(),
        if settings.log_bin { "--log-bin=binlog".to_string() } else { "--skip-log-bin".to_string() },
    ];
    options.extend(settings.doublewrite.map(|wanted| doublewrite(flavor, wanted)));
    options.extend(page_size(settings));
    let log_replica_updates = on_off(settings.log_bin && settings.log_replica_updates);
    match flavor {
        Flavor::Slipstream => {
            options.push(format!("--log-replica-updates={log_replica_updates}"));
            options.push(format!("--gtid-mode={}", on_off(settings.gtid)));
            options.push(format!("--enforce-gtid-consistency={}", on_off(settings.gtid)));
            options.push(format!("--innodb-redo-log-capacity={}", settings.redo_bytes));
            options.push(format!("--replica-parallel-workers={}", settings.replica_workers));
            if settings.replica_workers > 0 {
                options.push("--slipstream-parallel-adaptive=OFF".to_string());
            }
        }
        Flavor::MySql => {
            options.push(format!("--log-replica-updates={log_replica_updates}"));
            options.push(format!("--gtid-mode={}", on_off(settings.gtid)));
            options.push(format!("--enforce-gtid-consistency={}", on_off(settings.gtid)));
            options.push(format!("--innodb-redo-log-capacity={}", settings.redo_bytes));
            options.push(format!("--replica-parallel-workers={}", settings.replica_workers));
            options.push("--innodb-flush-method=O_DIRECT".to_string());
            options.push("--performance-schema=OFF".to_string());
            options.push("--max-connections=300".to_string());
        }
        Flavor::MariaDb => {
            if settings.log_bin && settings.log_replica_updates {
                options.push("--log-slave-updates".to_string());
            }
            options.push(format!("--innodb-log-file-size={}", settings.redo_bytes));
            options.push(format!("--slave-parallel-threads={}", settings.replica_workers));
            options.push("--innodb-flush-method=O_DIRECT".to_string());
            options.push("--performance-schema=OFF".to_string());
            options.push("--max-connections=300".to_string());
        }
    }
    if !settings.start_replica {
        let mariadb = flavor == Flavor::MariaDb;
        options.push(if mariadb { "--skip-slave-start" } else { "--skip-replica-start" }.to_string());
    }
    options.extend(settings.extra.iter().cloned());
    options
}

/// Returns the doublewrite option. MySQL and MariaDB get only ON and OFF.
fn doublewrite(flavor: Flavor, wanted: Doublewrite) -> String {
    let value = match wanted {
        Doublewrite::Legacy | Doublewrite::Parallel if flavor != Flavor::Slipstream => Doublewrite::On,
        _ => wanted,
    };
    format!("--innodb-doublewrite={}", value.name().to_uppercase())
}

/// Returns the option of the page size, which the server and the program that makes its data
/// directory both take. `None` means the server's default.
pub(super) fn page_size(settings: &Settings) -> Option<String> {
    settings.page_bytes.map(|bytes| format!("--innodb-page-size={bytes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_settings_in_each_servers_words() {
        let settings = Settings { durable: false, log_replica_updates: false, ..Settings::default() };
        for flavor in Flavor::ALL {
            let options = options_that_matter(flavor, &settings);
            assert!(options.contains(&"--innodb-flush-log-at-trx-commit=2".to_string()), "{flavor}");
            assert!(options.contains(&"--sync-binlog=0".to_string()), "{flavor}");
            assert!(!options.contains(&"--log-slave-updates".to_string()), "{flavor}");
            assert!(!options.contains(&"--log-replica-updates=ON".to_string()), "{flavor}");
        }
    }

    #[test]
    fn what_is_not_asked_for_is_not_set() {
        let says = |settings: &Settings, what: &str| {
            options_that_matter(Flavor::MySql, settings).iter().any(|option| option.starts_with(what))
        };
        let mut settings = Settings::default();
        assert!(!says(&settings, "--innodb-doublewrite") && !says(&settings, "--innodb-page-size"));
        (settings.doublewrite, settings.page_bytes) = (Some(Doublewrite::Off), Some(4096));
        assert!(says(&settings, "--innodb-doublewrite=OFF") && says(&settings, "--innodb-page-size=4096"));
    }

    #[test]
    fn only_slipstream_has_two_ways_to_write_twice() {
        let settings = Settings { doublewrite: Some(Doublewrite::Legacy), ..Settings::default() };
        for (flavor, option) in [
            (Flavor::Slipstream, "--innodb-doublewrite=LEGACY"),
            (Flavor::MariaDb, "--innodb-doublewrite=ON"),
            (Flavor::MySql, "--innodb-doublewrite=ON"),
        ] {
            assert!(options_that_matter(flavor, &settings).contains(&option.to_string()), "{flavor}");
        }
    }

    #[test]
    fn options_of_the_caller_come_last() {
        let settings = Settings { extra: vec!["--port=1".to_string()], ..Settings::default() };
        let options = options_that_matter(Flavor::MariaDb, &settings);
        assert_eq!(options.last().map(String::as_str), Some("--port=1"));
    }
}
