//! Tests of a replica with several sources at once.

use bench::instance::{Flavor, Settings, USER};
use testkit::server::SOON;
use testkit::{Replica, Server};

fn follow(replica: &Server, source: &Server, channel: &str) {
    let by_gtid = match source.flavor() {
        Flavor::MariaDb => "MASTER_USE_GTID=slave_pos",
        _ => "SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1",
    };
    replica.run(&format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='{USER}', SOURCE_PASSWORD='{USER}', \
         SOURCE_CONNECT_RETRY=1, {by_gtid} FOR CHANNEL '{channel}'",
        source.port()
    ));
}

/// Makes a table of the source's own if `rows` begins at 0, and adds rows in transactions of their
/// own.
fn work(source: &Server, schema: &str, rows: std::ops::Range<u32>) {
    let mut client = source.connect();
    if rows.start == 0 {
        client.query(&format!("CREATE DATABASE {schema}")).unwrap();
        // With a filter of schemas, a statement without a default schema would not count.
        client.query(&format!("USE {schema}")).unwrap();
        client.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))").unwrap();
    }
    for id in rows {
        client.query(&format!("INSERT INTO {schema}.t VALUES ({id}, 'row {id}')")).unwrap();
        client.query(&format!("UPDATE {schema}.t SET v = 'new' WHERE id = {}", id / 2)).unwrap();
    }
}

/// Waits until the replica has the same rows in the table as the source.
fn catches_up(replica: &Server, source: &Server, schema: &str) {
    let query = format!("SELECT id, v FROM {schema}.t ORDER BY id");
    let wanted = source.rows(&query);
    let clock = os::clock::Stopwatch::start();
    let mut client = replica.connect();
    loop {
        if client.query(&query).is_ok_and(|result| result.rows.len() == wanted.len())
            && replica.rows(&query) == wanted
        {
            return;
        }
        assert!(
            clock.elapsed() < SOON,
            "{schema} is not there: {:?}\n{}",
            replica.rows("SHOW REPLICA STATUS"),
            replica.log_tail()
        );
        os::clock::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn of_mysql_and_mariadb_at_once() {
    let test = "replicate_channels::of_mysql_and_mariadb_at_once";
    if !testkit::available(test, &[Flavor::MySql, Flavor::MariaDb]) {
        return;
    }
    let settings = |server_id| Settings { server_id, durable: false, ..Settings::default() };
    let mysql = Server::start(Flavor::MySql, &settings(1));
    let mariadb = Server::start(Flavor::MariaDb, &settings(2));
    let mut replica = Replica::start(Flavor::Slipstream, &settings(3));
    follow(&replica, &mysql, "From MySQL");
    follow(&replica, &mariadb, "maria");
    replica.run("CHANGE REPLICATION FILTER REPLICATE_IGNORE_DB = (unwanted) FOR CHANNEL 'maria'");
    replica.run("START REPLICA");
    std::thread::scope(|scope| {
        scope.spawn(|| work(&mysql, "my", 0..60));
        scope.spawn(|| work(&mariadb, "maria", 0..60));
        scope.spawn(|| work(&mariadb, "unwanted", 0..2));
    });
    catches_up(&replica, &mysql, "my");
    catches_up(&replica, &mariadb, "maria");
    assert_eq!(replica.refuses("SELECT * FROM unwanted.t").0, 1049);

    // One channel stops and the other goes on. Both are exact after a crash.
    replica.run("STOP REPLICA FOR CHANNEL 'from mysql'");
    work(&mysql, "my", 60..80);
    work(&mariadb, "maria", 60..80);
    catches_up(&replica, &mariadb, "maria");
    assert_eq!(replica.rows("SELECT COUNT(*) FROM my.t"), ["60"]);
    replica.kill();
    replica.come_back();
    work(&mariadb, "maria", 80..90);
    catches_up(&replica, &mysql, "my");
    catches_up(&replica, &mariadb, "maria");

    let relayed = replica.rows("SHOW RELAYLOG EVENTS LIMIT 1 FOR CHANNEL 'maria'");
    assert!(relayed[0].starts_with("relay-maria.") && relayed[0].contains("\tFormat_desc\t"), "{relayed:?}");
    let states = replica.rows(
        "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_connection_status ORDER BY 1",
    );
    assert_eq!(states, ["from mysql\tON", "maria\tON"]);
    let names = replica.rows("SELECT Channel_name, Port FROM mysql.slave_master_info ORDER BY 1");
    assert_eq!(names, [format!("from mysql\t{}", mysql.port()), format!("maria\t{}", mariadb.port())]);
    let filters = "SELECT CHANNEL_NAME, FILTER_RULE FROM performance_schema.replication_applier_filters";
    assert_eq!(replica.rows(filters).len(), 0, "FOR CHANNEL does not outlive the server");
}

/// MySQL, if it is available, refuses the same statements in the same way.
#[test]
fn statements_about_channels() {
    let mut servers = vec![Server::start(Flavor::Slipstream, &Settings::default())];
    if testkit::available("replicate_channels::statements_about_channels", &[Flavor::MySql]) {
        servers.push(Server::start(Flavor::MySql, &Settings::default()));
    }
    for server in &servers {
        let refuses = |sql: &str, number: u16| {
            let (found, message) = server.refuses(sql);
            assert_eq!(found, number, "{}: {sql}: {message}", server.flavor());
        };
        for sql in
            ["START REPLICA", "STOP REPLICA", "RESET REPLICA", "SHOW REPLICA STATUS", "SHOW RELAYLOG EVENTS"]
        {
            refuses(&format!("{sql} FOR CHANNEL 'none'"), 3074);
        }
        let long = "x".repeat(65);
        refuses(&format!("CHANGE REPLICATION SOURCE TO SOURCE_HOST='h' FOR CHANNEL '{long}'"), 3076);
        for channel in ["Two", "one"] {
            server.run(&format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='h_{channel}' FOR CHANNEL '{channel}'"
            ));
        }
        refuses("CHANGE REPLICATION SOURCE TO SOURCE_PORT=1", 3079);
        server.run("CHANGE REPLICATION SOURCE TO SOURCE_PORT=7 FOR CHANNEL 'TWO'");
        let channels = "SELECT CHANNEL_NAME, HOST, PORT FROM performance_schema.replication_connection_configuration \
                        WHERE HOST <> '' ORDER BY 1";
        if server.flavor() == Flavor::Slipstream {
            assert_eq!(server.rows(channels), ["one\th_one\t3306", "two\th_Two\t7"]);
        }
        assert_eq!(server.rows("SHOW REPLICA STATUS FOR CHANNEL 'ONE'").len(), 1);
        server.run("RESET REPLICA ALL FOR CHANNEL 'one'");
        refuses("SHOW REPLICA STATUS FOR CHANNEL 'one'", 3074);
        server.run("CHANGE REPLICATION SOURCE TO SOURCE_HOST='again' FOR CHANNEL 'one'");
        server.run("RESET REPLICA ALL");
        refuses("SHOW REPLICA STATUS FOR CHANNEL 'two'", 3074);
    }
    let files = os::disk::real().list(&servers[0].datadir()).expect("a directory");
    let left: Vec<_> = files.iter().filter(|path| path.display().to_string().contains("-two")).collect();
    assert!(left.is_empty(), "{left:?}");
}
