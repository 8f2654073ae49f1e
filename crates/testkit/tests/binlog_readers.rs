//! Tests that mysqlbinlog of MySQL and of MariaDB read our binary log, from the files and, as a
//! replica does, over the network.

use bench::instance::{Flavor, RowImage, Settings, USER, peers_dir};
use testkit::server::flavor_under_test;
use testkit::{Server, program, repertoire};

/// Starts a server that runs the repertoire, and returns it with the names of its binary log files.
fn written() -> (Server, Vec<String>) {
    let settings = Settings { row_image: RowImage::Minimal, ..Settings::default() };
    let server = Server::start(flavor_under_test(), &settings);
    repertoire::perform(&server);
    server.run("FLUSH BINARY LOGS");
    server.run("CREATE TABLE repertoire.after_the_flush (id INT PRIMARY KEY)");
    server.run("INSERT INTO repertoire.after_the_flush VALUES (4711)");
    let logs = server.rows("SHOW BINARY LOGS");
    assert!(logs.len() >= 2, "{logs:?}");
    let names = logs.iter().map(|row| row.split('\t').next().unwrap_or_default().to_string()).collect();
    (server, names)
}

/// Checks for what every reader must find in the events, as comments of `--verbose`.
fn tells_the_story(said: &str) {
    for part in [
        "CREATE TABLE repertoire.numbers",
        "### INSERT INTO `repertoire`.`items`",
        "### UPDATE `repertoire`.`texts`",
        "### DELETE FROM `repertoire`.`keyless`",
        "TRUNCATE TABLE repertoire.emptied",
        "###   @1=4711",
    ] {
        assert!(said.contains(part), "no {part:?} in:\n{}", said.chars().take(20_000).collect::<String>());
    }
    for part in ["ghost", "dropped"] {
        assert!(!said.contains(part), "{part:?} was rolled back, and is in the binary log");
    }
}

/// Returns the options of a reader that connects to the server, as a replica does.
fn remote(server: &Server, logs: &[String]) -> Vec<String> {
    let mut words: Vec<String> = vec![
        "--no-defaults".into(),
        "--read-from-remote-server".into(),
        "--verify-binlog-checksum".into(),
        "--verbose".into(),
        "--host=127.0.0.1".into(),
        format!("--port={}", server.port()),
        format!("--user={USER}"),
        format!("--password={USER}"),
    ];
    words.extend(logs.iter().cloned());
    words
}

fn local(server: &Server, logs: &[String]) -> Vec<String> {
    let mut words: Vec<String> =
        ["--no-defaults", "--verify-binlog-checksum", "--verbose"].map(String::from).into();
    words.extend(logs.iter().map(|log| server.datadir().join(log).display().to_string()));
    words
}

#[test]
fn mariadbs_mysqlbinlog() {
    if !testkit::tool_available("binlog_readers::mariadbs_mysqlbinlog", "mariadb-binlog") {
        return;
    }
    let (server, logs) = written();
    tells_the_story(&program::succeed("mariadb-binlog", &local(&server, &logs)));
    // Over the network MariaDB's reader looks at the first digit of the version, and does not know
    // MySQL's 8 and 9.
    if server.flavor() == Flavor::MariaDb {
        tells_the_story(&program::succeed("mariadb-binlog", &remote(&server, &logs)));
    }
}

/// Runs MySQL's mysqlbinlog over the network and returns its output.
fn mysqls(server: &Server, more: &[&str], logs: &[String]) -> String {
    let mut words = vec![peers_dir().join("mysql-chroot").display().to_string(), "mysqlbinlog".to_string()];
    let by_gtid = more.iter().any(|word| word.starts_with("--read-from-remote-source"));
    words.extend(
        remote(server, logs).into_iter().filter(|word| !by_gtid || word != "--read-from-remote-server"),
    );
    words.extend(more.iter().map(|word| word.to_string()));
    if server.flavor() != Flavor::MariaDb {
        words.push("--get-server-public-key".to_string());
    }
    program::succeed("chroot", &words)
}

#[test]
fn mysqls_mysqlbinlog() {
    if testkit::available("binlog_readers::mysqls_mysqlbinlog", &[Flavor::MySql]) {
        let (server, logs) = written();
        tells_the_story(&mysqls(&server, &[], &logs));
    }
}

/// mysqlbinlog asks by GTID, and the server leaves out the transactions that it excludes.
#[test]
fn mysqls_mysqlbinlog_by_gtid() {
    if !testkit::available("binlog_readers::mysqls_mysqlbinlog_by_gtid", &[Flavor::MySql]) {
        return;
    }
    let (server, logs) = written();
    let by_gtid = "--read-from-remote-source=BINLOG-DUMP-GTIDS";
    tells_the_story(&mysqls(&server, &[by_gtid, "--to-last-log"], &logs[..1]));
    let all = server.rows("SELECT @@global.gtid_executed")[0].replace('\n', "");
    let (uuid, last) = all.split_once(":1-").expect("one interval");
    let before_last: u64 = last.parse::<u64>().expect("a number") - 1;
    let excluded = format!("--exclude-gtids={uuid}:1-{before_last}");
    let said = mysqls(&server, &[by_gtid, "--to-last-log", &excluded], &logs[..1]);
    assert!(said.contains("###   @1=4711") && !said.contains("### UPDATE"), "{said}");
}

/// mysqlbinlog copies the files (`--raw`), and can read the copies.
#[test]
fn mysqls_mysqlbinlog_copies_files() {
    if !testkit::available("binlog_readers::mysqls_mysqlbinlog_copies_files", &[Flavor::MySql]) {
        return;
    }
    let (server, logs) = written();
    let chroot = peers_dir().join("mysql-chroot");
    let directory = format!("/tmp/copied-{}", server.port());
    let from_outside = chroot.join(&directory[1..]);
    let disk = os::disk::real();
    disk.create_dir_all(&from_outside).expect("makes a directory");
    mysqls(&server, &["--raw", &format!("--result-file={directory}/")], &logs);
    let mut words: Vec<String> =
        [chroot.to_str().expect("is text"), "mysqlbinlog", "--no-defaults", "--verbose"]
            .map(String::from)
            .into();
    words.extend(logs.iter().map(|log| format!("{directory}/{log}")));
    tells_the_story(&program::succeed("chroot", &words));
    disk.remove_dir_all(&from_outside).expect("is removed");
}
