//! Compares `/metrics` with what mysqld_exporter makes of the same server over SQL: every series of
//! its default collectors is there with the same labels, and has the same value if it does not
//! move.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use bench::instance::{Flavor, Port, Settings, USER};
use bench::replication::StartFrom;
use testkit::http::{address_of, get, samples, wait_for};
use testkit::running::Running;
use testkit::{Replica, Server, tool_available};

const EXPORTER: &str = "prometheus-mysqld-exporter";

/// Series that the exporter's own session changes while it reads them.
const MOVED_BY_READING: [&str; 2] =
    ["mysql_global_status_threads_connected", "mysql_global_status_threads_running"];

fn exporter(server: &Server) -> (Running, SocketAddr, Port) {
    let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
    let address = SocketAddr::from(([127, 0, 0, 1], port.number()));
    let mut command = Command::new(EXPORTER);
    command.env("DATA_SOURCE_NAME", format!("{USER}:{USER}@(127.0.0.1:{})/", server.port()));
    command.arg(format!("--web.listen-address={address}"));
    (Running::start(&mut command), address, port)
}

/// Returns the series that the exporter has from the server. Those about itself are left out.
fn of_server(text: &str) -> BTreeMap<String, f64> {
    let mut series = samples(text);
    series.retain(|name, _| name.starts_with("mysql_") && !name.starts_with("mysql_exporter_"));
    series
}

#[test]
fn every_series_of_the_exporter_is_there() {
    if !tool_available("every_series_of_the_exporter_is_there", EXPORTER) {
        return;
    }
    let source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let mut settings = Settings { server_id: 2, ..Settings::default() };
    settings.extra.push("--http-address=127.0.0.1:0".to_owned());
    let replica = Replica::start(Flavor::Slipstream, &settings);
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    // A second channel cannot reach its source, and so has other states in its columns.
    replica.run("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.2', SOURCE_PORT = 1 FOR CHANNEL 'far'");
    replica.run("START REPLICA FOR CHANNEL 'far'");
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    replica.catch_up(&source);
    let address = address_of(&replica);
    let (_running, exporter, _port) = exporter(&replica);
    wait_for(exporter, "/metrics");

    let before = samples(&get(address, "/metrics").body);
    let theirs = of_server(&get(exporter, "/metrics").body);
    let after = samples(&get(address, "/metrics").body);
    let missing: Vec<&String> = theirs.keys().filter(|series| !after.contains_key(*series)).collect();
    assert!(missing.is_empty(), "/metrics lacks {missing:#?}");
    let wrong: Vec<String> = theirs
        .iter()
        .filter(|(series, _)| !MOVED_BY_READING.contains(&series.as_str()))
        .filter(|(series, value)| before[*series] == after[*series] && **value != after[*series])
        .map(|(series, value)| format!("{series}: {value}, and not {}", after[series]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let unmoved = theirs.keys().filter(|series| before[*series] == after[*series]).count();
    assert!(unmoved > 500, "only {unmoved} of {} series were compared", theirs.len());
    assert!(theirs.contains_key(
        "mysql_slave_status_slave_io_running{channel_name=\"far\",connection_name=\"\",master_host=\"127.0.0.2\",master_uuid=\"\"}"
    ));
}

/// The names of the metrics in the dashboard's queries.
fn names_in_dashboard() -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/grafana-dashboard.json");
    let bytes = os::disk::real().read(&file).expect("the dashboard");
    let text = String::from_utf8(bytes).expect("JSON in UTF-8");
    let queries = text.lines().filter(|line| line.trim_start().starts_with("\"expr\": "));
    let is_name = |word: &&str| ["slipstream_", "mysql_"].iter().any(|start| word.starts_with(start));
    let no_name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    queries.flat_map(|query| query.split(no_name).filter(is_name).map(str::to_owned)).collect()
}

#[test]
fn every_series_of_the_dashboard_is_there() {
    let settings = Settings { extra: vec!["--http-address=127.0.0.1:0".to_owned()], ..Settings::default() };
    let replica = Replica::start(Flavor::Slipstream, &settings);
    // A source does not have to exist for a channel to be shown; the lag is not known then.
    replica.run("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.2', SOURCE_PORT = 1");
    let shown = samples(&get(address_of(&replica), "/metrics").body);
    let mut names = names_in_dashboard();
    assert!(names.remove("slipstream_replica_lag_milliseconds") && names.len() > 15, "{names:?}");
    let is_there = |name: &str| shown.keys().any(|series| series.split('{').next() == Some(name));
    names.retain(|name| !is_there(name));
    assert!(names.is_empty(), "/metrics lacks {names:?}");
}
