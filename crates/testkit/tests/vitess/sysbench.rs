//! sysbench's tables in a sharded keyspace, and sysbench as a client of vtgate.

use std::process::{Command, Stdio};

use testkit::vitess::Cluster;

/// The sharded keyspace: sysbench's tables by the hash of their key.
pub const SHARDED: &str = r#"{"sharded": true, "vindexes": {"hashed": {"type": "xxhash"}}, "tables": {
    "sbtest1": {"column_vindexes": [{"column": "id", "name": "hashed"}]},
    "sbtest2": {"column_vindexes": [{"column": "id", "name": "hashed"}]}}}"#;

/// Returns sysbench with this command, as a client of vtgate. It goes on after the errors that
/// Vitess gives to statements in the moment of a switch: 1105, 1815, 1317; 1062 is sysbench's own,
/// because without transactions its clients insert each other's rows.
pub fn sysbench(cluster: &Cluster, command: &str, more: &[&str]) -> Command {
    let mut sysbench = Command::new("sysbench");
    sysbench
        .args(["oltp_read_write", "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-db=ks"])
        .args(["--mysql-user=app", "--tables=2", "--table-size=20000", "--threads=4", "--auto-inc=off"])
        .args(["--db-ps-mode=disable", "--skip-trx=on", "--mysql-ignore-errors=1062,1105,1815,1317"])
        .arg(format!("--mysql-port={}", cluster.gate_port()))
        .args(more)
        .arg(command)
        .stdin(Stdio::null());
    sysbench
}
