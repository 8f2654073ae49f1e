//! Tests of the program under the name of MySQL's server, as tools start it that look for `mysqld`
//! in a directory: Vitess' mysqlctl first of all.

use std::path::{Path, PathBuf};
use std::process::Command;

use bench::instance::Port;
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ConnectOptions};
use testkit::program;
use testkit::running::Running;
use testkit::server::SOON;

/// A directory with `bin/mysqld`, which is the binary under test. Dropping it removes it.
struct Root(PathBuf);

impl Drop for Root {
    fn drop(&mut self) {
        // A directory that stays harms no other test.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

impl Root {
    fn new(name: &str) -> Root {
        let root = std::env::temp_dir().join(format!("slipstream-mysqld-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("bin")).expect("a directory");
        let link = root.join("bin/mysqld");
        std::os::unix::fs::symlink(testkit::binary::slipstream(), link).expect("a link");
        Root(root)
    }

    fn mysqld(&self) -> String {
        self.0.join("bin/mysqld").display().to_string()
    }

    /// Runs `mysqld` with these arguments, which must end by itself.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        program::run(&self.mysqld(), &arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
    }
}

/// Returns an option file with what tools that manage mysqld write: directories of their own, the
/// plugins of semi-synchronous replication, and options that may be unknown.
fn option_file(root: &Path, port: u16) -> String {
    let at = |name: &str| root.join(name).display().to_string();
    format!(
        "[mysqld]\ndatadir = {}\ninnodb_data_home_dir = {}\ninnodb_log_group_home_dir = {}\n\
         log-error = {}\nlog-bin = {}\nrelay-log = {}\npid-file = {}\nsocket = {}\nport = {port}\n\
         server-id = 100\nskip_replica_start\ngtid_mode = ON\nenforce_gtid_consistency\nmysqlx = 0\n\
         relay_log_recovery = 1\nmysql_native_password = ON\n\
         plugin-load = rpl_semi_sync_source=semisync_source.so;rpl_semi_sync_replica=semisync_replica.so\n\
         loose_rpl_semi_sync_source_timeout = 1000000000000000000\nloose_nothing_of_this_name = 1\n\
         super-read-only\nversion-announced = 8.4.6\n!include {}\n",
        at("data"),
        at("innodb/data"),
        at("innodb/logs"),
        at("error.log"),
        at("bin-logs/vt-bin"),
        at("relay-logs/vt-relay"),
        at("mysql.pid"),
        at("mysql.sock"),
        at("more.cnf"),
    )
}

#[test]
fn its_version_has_the_form_that_tools_parse() {
    let root = Root::new("version");
    let (succeeded, said) = root.run(&["--version"]);
    let begin = format!("{}  Ver 9.7.0-slipstream-", root.mysqld());
    assert!(succeeded && said.starts_with(&begin), "{said}");
    assert!(said.trim_end().ends_with(&format!("for Linux on {} (Slipstream)", std::env::consts::ARCH)));
    let (succeeded, said) = root.run(&["--no-defaults", "--version-announced=8.4.6", "--version"]);
    assert!(succeeded && said.starts_with(&format!("{}  Ver 8.4.6 for Linux on", root.mysqld())), "{said}");
}

#[test]
fn unknown_options_end_it_with_the_words_of_mysqld() {
    let root = Root::new("options");
    let (succeeded, said) = root.run(&["--no-defaults", "--nothing-of-this-name=1"]);
    assert!(!succeeded && said.contains("unknown variable 'nothing-of-this-name=1'"), "{said}");
    assert!(said.contains("[MY-010119] [Server] Aborting"), "{said}");
}

#[test]
fn it_serves_with_the_option_file_of_a_tool() {
    let root = Root::new("serves");
    let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
    for directory in ["innodb/data", "innodb/logs", "bin-logs", "relay-logs"] {
        std::fs::create_dir_all(root.0.join(directory)).expect("a directory");
    }
    let disk = os::disk::real();
    let file = root.0.join("my.cnf");
    disk.write_atomically(&file, option_file(&root.0, port.number()).as_bytes()).expect("an option file");
    disk.write_atomically(&root.0.join("more.cnf"), b"[mysqld]\nmax_connections = 99\n").expect("a file");
    let (defaults, basedir) =
        (format!("--defaults-file={}", file.display()), format!("--basedir={}", root.0.display()));
    let log =
        || String::from_utf8_lossy(&disk.read(&root.0.join("error.log")).unwrap_or_default()).into_owned();
    let (succeeded, said) = root.run(&[&defaults, &basedir, "--initialize-insecure"]);
    assert!(succeeded, "{said}\n{}", log());

    let has_log = |directory: &str| root.0.join(directory).join("#innodb_redo").is_dir();
    assert_eq!([has_log("innodb/logs"), has_log("data")], [true, false], "the log is where it should be");
    let _running = Running::start(Command::new(root.mysqld()).args([&defaults, &basedir]));
    let options = ConnectOptions::unix(root.0.join("mysql.sock")).user("root", "");
    let clock = Stopwatch::start();
    let mut client = loop {
        match Client::connect(&options) {
            Ok(client) => break client,
            Err(error) => assert!(clock.elapsed() < SOON, "{error}\n{}", log()),
        }
        sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(client.server_version(), "8.4.6");
    let shown = client
        .query("SELECT VERSION(), @@version, @@max_connections, @@super_read_only, @@gtid_mode, @@log_bin_basename")
        .expect("an answer");
    let seen: Vec<Option<String>> = (0..6).map(|column| shown.cell(0, column)).collect();
    let base = root.0.join("bin-logs/vt-bin").display().to_string();
    assert_eq!(seen, ["8.4.6", "8.4.6", "99", "1", "ON", &base].map(|text| Some(text.to_owned())));
    assert!(log().contains("unknown variable 'loose_nothing_of_this_name=1'"), "{}", log());
    client.query("SHUTDOWN").expect("an answer");
    let clock = Stopwatch::start();
    while disk.exists(&root.0.join("mysql.pid")).expect("a look") {
        assert!(clock.elapsed() < SOON, "{}", log());
        sleep(std::time::Duration::from_millis(20));
    }
}
