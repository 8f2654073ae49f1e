//! Others read our binary log: mysqlbinlog of MySQL and of MariaDB, from the files and over the wire, as a
//! replica does.

use bench::instance::{Flavor, RowImage, Settings, USER, peers_dir};
use testkit::server::flavor_under_test;
use testkit::{Server, program, repertoire};

/// A server that has run the repertoire, and the paths of its binary log files.
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

/// What every reader must find in the events, as comments of `--verbose`.
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

/// The options of a reader that comes over the wire, as a replica does.
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
    // Over the wire it reads servers of its own make only.
    if server.flavor() == Flavor::MariaDb {
        tells_the_story(&program::succeed("mariadb-binlog", &remote(&server, &logs)));
    }
}

#[test]
fn mysqls_mysqlbinlog() {
    if !testkit::available("binlog_readers::mysqls_mysqlbinlog", &[Flavor::MySql]) {
        return;
    }
    let (server, logs) = written();
    let mut words = vec![peers_dir().join("mysql-chroot").display().to_string(), "mysqlbinlog".to_string()];
    words.extend(remote(&server, &logs));
    if server.flavor() != Flavor::MariaDb {
        words.push("--get-server-public-key".to_string());
    }
    tells_the_story(&program::succeed("chroot", &words));
}
