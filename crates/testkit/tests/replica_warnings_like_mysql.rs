//! Tests that statements about replication warn as in MySQL.

use bench::instance::Settings;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

#[test]
fn statements_about_replication_warn() {
    let test = "replica_warnings_like_mysql::statements_about_replication_warn";
    let lines = same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        let change = "CHANGE REPLICATION SOURCE TO";
        for sql in [
            "STOP REPLICA".to_owned(),
            // Nobody listens there, so that the receiver tries again and again.
            format!(
                "{change} SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'u', SOURCE_PASSWORD = 'p'"
            ),
            format!("{change} SOURCE_PORT = 1, SOURCE_HEARTBEAT_PERIOD = 0.0001"),
            format!("{change} SOURCE_HEARTBEAT_PERIOD = 100000"),
            format!("{change} SOURCE_HEARTBEAT_PERIOD = 4294968"),
            format!("{change} SOURCE_HEARTBEAT_PERIOD = 1"),
            format!("{change} SOURCE_PASSWORD = 'q', SOURCE_HEARTBEAT_PERIOD = 100000"),
            "SET GLOBAL replica_net_timeout = 100".to_owned(),
            "SET GLOBAL replica_net_timeout = 1000".to_owned(),
            format!("{change} SOURCE_HEARTBEAT_PERIOD = 5"),
            "SET GLOBAL replica_net_timeout = 5".to_owned(),
            "SET GLOBAL replica_net_timeout = 4".to_owned(),
            "SET PERSIST_ONLY replica_net_timeout = 3".to_owned(),
            "SET PERSIST replica_net_timeout = 3".to_owned(),
            "RESET PERSIST replica_net_timeout".to_owned(),
            format!("{change} SOURCE_DELAY = 0"),
            "START REPLICA SQL_THREAD".to_owned(),
            "START REPLICA SQL_THREAD".to_owned(),
            "START REPLICA".to_owned(),
            "START REPLICA".to_owned(),
            "STOP REPLICA SQL_THREAD".to_owned(),
            "STOP REPLICA SQL_THREAD".to_owned(),
            "STOP REPLICA".to_owned(),
            "STOP REPLICA".to_owned(),
            "RESET REPLICA ALL".to_owned(),
        ] {
            let done = client.query(&sql).map(|done| done.ok.warnings);
            lines.push(format!("{sql}: {done:?}"));
            lines.extend(rows(&mut client, "SHOW WARNINGS"));
        }
        lines
    });
    for code in ["1703", "1704", "1759", "1760", "3083", "3084"] {
        assert!(lines.iter().any(|line| line.contains(&format!("\t{code}\t"))), "{code}: {lines:?}");
    }
}
