//! Tests of `binlog_group_commit_sync_delay`: commits gather before the log is synced once for all
//! of them.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::Server;

const CLIENTS: u64 = 4;
const COMMITS: u64 = 25;

fn syncs(server: &Server) -> u64 {
    let row = server.rows("SHOW GLOBAL STATUS LIKE 'Innodb_os_log_fsyncs'").remove(0);
    row.rsplit('\t').next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Lets several clients commit one transaction after the other, and returns how often the log was
/// synced meanwhile.
fn syncs_of_a_load(server: &Server) -> u64 {
    let before = syncs(server);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let options = server.connect_options();
            os::thread::spawn("client", move || {
                let mut session = Client::connect(&options).expect("connects");
                for at in 0..COMMITS {
                    session.query(&format!("INSERT INTO d.t VALUES ({client}, {at})")).expect("inserts");
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().expect("commits"));
    syncs(server) - before
}

/// A delay of a second, which is long for a machine, ends as soon as the set count of commits has
/// gathered. Each group has a commit of every client, and one sync.
#[test]
fn a_sync_serves_as_many_commits_as_have_gathered() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (client INT, at INT, PRIMARY KEY (client, at))");
    server.run(&format!("SET GLOBAL binlog_group_commit_sync_no_delay_count = {CLIENTS}"));
    server.run("SET GLOBAL binlog_group_commit_sync_delay = 1000000");
    let syncs = syncs_of_a_load(&server);
    // There are at most two syncs for each group: the second one is for commits that the thread of
    // the first one did not see written yet. The server makes some more by itself.
    assert!(syncs <= COMMITS * 2 + 10, "{syncs} syncs for {COMMITS} groups of {CLIENTS} commits");
    // A commit that is alone continues when the delay is over. The delay changes while the server
    // runs.
    let mut session = server.connect();
    let mut delayed = |delay_us: u64| {
        server.run(&format!("SET GLOBAL binlog_group_commit_sync_delay = {delay_us}"));
        let count = "SELECT SUM(COUNT_ENTERED) FROM performance_schema.thread_times WHERE STATE = 'group_commit_delay'";
        let before = server.rows(count);
        session.query(&format!("INSERT INTO d.t VALUES (100, {delay_us})")).expect("inserts");
        server.rows(count) != before
    };
    assert!(delayed(1000), "no commit waits");
    assert!(!delayed(0), "a commit waits for nothing");
}
