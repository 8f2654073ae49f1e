//! Tests of CLONE LOCAL DATA DIRECTORY: each clone of a busy server is started, is sound, and is
//! what a replay of the source's binary log leaves; errors are MySQL's; a failed clone leaves
//! nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use os::random::{Rng, test_seed};
use protocol::client::Client;
use testkit::server::same_as_mysql;
use testkit::work::{Work, try_statement};
use testkit::{Replica, Server};

const TABLES: u64 = 6;

/// Starts sessions that change rows and definitions at random.
fn work_on(source: &Server, seed: u64, sessions: u64) -> Work {
    let session = |number: u64| {
        let (mut session, mut rng) = (source.connect(), Rng::new(seed ^ number));
        move |ends: &AtomicBool| {
            while !ends.load(Ordering::Relaxed) {
                match number {
                    0 => try_statement(&mut session, &definition(&mut rng)),
                    1 => xa(&mut session, &mut rng),
                    _ => try_statement(&mut session, &rows(&mut rng)),
                }
            }
        }
    };
    Work::start((0..sessions).map(session))
}

/// Runs an XA transaction, which stays prepared for a while.
fn xa(session: &mut Client, rng: &mut Rng) {
    let (xid, id) = (rng.below(1_000_000), rng.below(100));
    let rows = if rng.below(10) == 0 { 3000 } else { 3 };
    let end = if rng.below(3) == 0 { "ROLLBACK" } else { "COMMIT" };
    let insert = format!(
        "REPLACE INTO d.x_a (id, k, c) WITH RECURSIVE r AS (SELECT 0 n UNION ALL SELECT n + 1 FROM r WHERE n < {rows}) \
         SELECT {id} + n, {xid}, REPEAT('xa', 700) FROM r"
    );
    let words = ["START", "END", "PREPARE"].map(|word| format!("XA {word} '{xid}'"));
    let [start, stop, prepare] = words;
    for sql in ["SET cte_max_recursion_depth = 10000".to_owned(), start, insert, stop, prepare] {
        session.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    os::clock::sleep(std::time::Duration::from_millis(rng.below(30)));
    session.query(&format!("XA {end} '{xid}'")).expect("it is prepared");
}

/// Returns a random statement about rows.
fn rows(rng: &mut Rng) -> String {
    let (table, id, n) = (rng.below(TABLES), rng.below(3000), rng.below(1000));
    match rng.below(40) {
        0..20 => format!(
            "INSERT INTO d.t{table} (id, k, c) VALUES ({id}, {n}, REPEAT('{n}', {n})) ON DUPLICATE KEY UPDATE k = {n}"
        ),
        20..28 => format!(
            "UPDATE d.t{table} SET k = k + 1, c = REPEAT('y', {n}) WHERE id BETWEEN {id} AND {id} + 5"
        ),
        28..36 => format!("DELETE FROM d.t{table} WHERE id BETWEEN {id} AND {id} + 3"),
        36..38 => format!("UPDATE d.t{table} SET c = REPEAT('long', 20000) WHERE id = {id}"),
        38 => format!("UPDATE d.t{table} SET k = {n} WHERE k < {n}"),
        _ => format!(
            "INSERT IGNORE INTO d.t{table} (id, k, c) SELECT id + 3000 * {}, k, REPEAT('spill', 400) FROM d.t{}",
            rng.between(1, 4),
            rng.below(TABLES)
        ),
    }
}

/// Returns a random statement about definitions.
fn definition(rng: &mut Rng) -> String {
    let (table, other) = (rng.below(TABLES), rng.below(TABLES));
    match rng.below(10) {
        0 => format!("DROP TABLE d.t{table}"),
        1..4 => create(table),
        4 => format!("TRUNCATE TABLE d.t{table}"),
        5 => format!("RENAME TABLE d.t{table} TO d.x, d.t{other} TO d.t{table}, d.x TO d.t{other}"),
        6 => format!("ALTER TABLE d.t{table} ADD INDEX more (c(20), k)"),
        7 => format!("ALTER TABLE d.t{table} DROP INDEX more"),
        8 => format!("ALTER TABLE d.t{table} ENGINE=InnoDB"),
        _ => format!("CREATE TABLE d.n{other} SELECT * FROM d.t{table}; "),
    }
}

fn create(table: u64) -> String {
    format!("CREATE TABLE d.t{table} (id INT PRIMARY KEY, k INT NOT NULL, c MEDIUMTEXT, KEY k (k))")
}

/// Returns the definitions and rows of all tables, and checks that each table is sound.
fn picture(server: &Server) -> Vec<String> {
    let mut session = server.connect();
    let text = |session: &mut Client, sql: &str| {
        let result = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let cell = |cell: &Option<Vec<u8>>| format!("{:?}", cell.as_deref().map(String::from_utf8_lossy));
        let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join("\t");
        result.rows.iter().map(row).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for table in
        server.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd' ORDER BY 1")
    {
        let checked = server.rows(&format!("CHECK TABLE d.{table}"));
        assert!(checked.iter().all(|row| row.ends_with("\tOK")), "{checked:?}");
        all.extend(text(&mut session, &format!("SHOW CREATE TABLE d.{table}")));
        // A table of CREATE TABLE ... SELECT has no key, and so no order.
        let rows: BTreeSet<String> =
            text(&mut session, &format!("SELECT id, k, MD5(c), LENGTH(c) FROM d.{table}"))
                .into_iter()
                .collect();
        all.extend(rows);
    }
    all
}

/// Makes the server's data directory a clone of the source, and starts it.
fn become_clone(server: &mut Server, source: &Server) {
    if server.is_running() {
        server.shut_down();
    }
    let datadir = server.datadir();
    std::fs::remove_dir_all(&datadir).expect("the old data is removed");
    source.run(&format!("CLONE LOCAL DATA DIRECTORY = '{}'", datadir.display()));
    server.come_back();
}

#[test]
fn each_clone_of_a_busy_server_is_a_replay_of_its_log() {
    let seed = test_seed("each_clone_of_a_busy_server_is_a_replay_of_its_log");
    let settings = Settings { pool_bytes: 16 << 20, redo_bytes: 8 << 20, ..Settings::default() };
    let source = Server::start(Flavor::Slipstream, &settings);
    let mut clone = Server::start(Flavor::Slipstream, &Settings { server_id: 2, ..settings.clone() });
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 3, ..settings });
    source.run("CREATE DATABASE d");
    (0..TABLES).for_each(|table| drop(source.run(&create(table))));
    source.run("CREATE TABLE d.x_a (id INT PRIMARY KEY, k INT NOT NULL, c MEDIUMTEXT, KEY k (k))");
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    replica.stop_thread(Thread::Sql);
    let work = work_on(&source, seed, 5);
    for round in 0..6 {
        become_clone(&mut clone, &source);
        let status = source.run("SELECT * FROM performance_schema.clone_status");
        let shown = |name| status.text(0, name).unwrap_or_default();
        assert_eq!((shown("STATE").as_str(), shown("ERROR_NO").as_str()), ("Completed", "0"));
        let gtids = shown("GTID_EXECUTED");
        assert_eq!(clone.rows("SELECT @@GLOBAL.gtid_executed"), std::slice::from_ref(&gtids));
        assert_eq!(clone.rows("SELECT @@GLOBAL.gtid_purged"), std::slice::from_ref(&gtids));
        assert_ne!(clone.rows("SELECT @@server_uuid"), source.rows("SELECT @@server_uuid"));
        // The place in the binary log is where these GTIDs end.
        let (file, pos) = (shown("BINLOG_FILE"), shown("BINLOG_POSITION"));
        let until = match round % 2 {
            0 => format!("SQL_AFTER_GTIDS = '{gtids}'"),
            _ => format!("SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {pos}"),
        };
        replica.run(&format!("START REPLICA SQL_THREAD UNTIL {until}"));
        replica.wait_until("at the clone", |status| status.sql_running == "No");
        assert_eq!(
            replica.rows("SELECT @@GLOBAL.gtid_executed"),
            std::slice::from_ref(&gtids),
            "until {until}"
        );
        let (ours, theirs) = (picture(&clone), picture(&replica));
        println!("round {round}: {} lines at {gtids}, prepared: {:?}", ours.len(), clone.rows("XA RECOVER"));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "round {round}, {gtids}");
        }
        assert_eq!(ours.len(), theirs.len());
        clone.run("CREATE TABLE d.of_the_clone (id INT)");
    }
    drop(work);
}

/// Runs statements and returns their errors, or that there was none.
fn outcomes(server: &Server, sqls: &[String]) -> Vec<String> {
    let mut session = server.connect();
    let outcome = |sql: &String| match session.query(sql) {
        Ok(_) => format!("{sql}: fine"),
        Err(error) => format!("{sql}: {error}"),
    };
    sqls.iter().map(outcome).collect()
}

#[test]
fn refusals_and_tables_are_mysqls() {
    let settings = Settings { extra: vec!["--performance-schema=ON".into()], ..Settings::default() };
    same_as_mysql("refusals_and_tables_are_mysqls", &settings, |server| {
        if server.flavor() == Flavor::MySql {
            server.run("INSTALL PLUGIN clone SONAME 'mysql_clone.so'");
        }
        let datadir = server.rows("SELECT @@datadir").remove(0);
        let clone = format!("{datadir}../clone of it");
        let sqls = [
            "CLONE LOCAL DATA DIRECTORY = 'rel/path'".to_owned(),
            "CLONE LOCAL DATA DIRECTORY ''".to_owned(),
            "CLONE LOCAL DATA DIRECTORY = '/tmp'".to_owned(),
            "CLONE LOCAL DATA DIRECTORY = '/dev/null/x'".to_owned(),
            "CLONE LOCAL DATA DIRECTORY".to_owned(),
            "CLONE LOCAL DATA DIRECTORY = /tmp/x".to_owned(),
            "CLONE LOCAL DIRECTORY = '/tmp/x'".to_owned(),
            "CLONE LOCAL".to_owned(),
            "CLONE".to_owned(),
            "PREPARE s FROM 'CLONE LOCAL DATA DIRECTORY = ''/tmp/x'''".to_owned(),
            format!("CLONE LOCAL DATA DIRECTORY = '{datadir}inside'"),
            format!("CLONE LOCAL DATA DIRECTORY = '{datadir}../data/inside'"),
            format!("CLONE LOCAL DATA DIRECTORY = '{datadir}'"),
            "CREATE TABLE IF NOT EXISTS mysql.of_clone (id INT)".to_owned(),
            "BEGIN".to_owned(),
            "INSERT INTO mysql.of_clone VALUES (1)".to_owned(),
            format!("CLONE LOCAL DATA DIRECTORY := '{clone}'"),
            "ROLLBACK".to_owned(),
            format!("CLONE LOCAL DATA DIRECTORY = '{clone}'"),
        ];
        let mut lines: Vec<String> = outcomes(server, &sqls);
        lines.extend(server.rows("SELECT * FROM mysql.of_clone"));
        lines.extend(server.rows(
            "SELECT ID, STATE, SOURCE, DESTINATION, ERROR_NO, ERROR_MESSAGE, BEGIN_TIME <= END_TIME FROM \
             performance_schema.clone_status",
        ));
        lines.extend(server.rows(
            "SELECT ID, STAGE, STATE, BEGIN_TIME <= END_TIME, THREADS, ESTIMATE = DATA, NETWORK, DATA_SPEED, \
             NETWORK_SPEED FROM performance_schema.clone_progress",
        ));
        lines.iter().map(|line| line.replace(&datadir, "DATADIR/")).collect()
    });
}

#[test]
fn clone_instance_is_refused_as_without_the_plugin() {
    let statements = [
        "",
        " FROM",
        " FROM r@h:1",
        " FROM r@h:1 IDENTIFIED BY 'x'",
        " FROM 'r'@'127.0.0.1':33611 IDENTIFIED BY 'x' DATA DIRECTORY = '/tmp/x' REQUIRE SSL",
        " FROM r:1 IDENTIFIED BY 'x' DATA DIRECTORY '/tmp/x' REQUIRE NO SSL",
        " FROM r@h:1 IDENTIFIED BY 'x' REQUIRE SSL DATA DIRECTORY '/tmp/x'",
        " FROM r@h:1 IDENTIFIED BY 'x' REQUIRE",
        " FROM r@h:1 IDENTIFIED BY x",
    ];
    let mut sqls: Vec<String> = statements.iter().map(|what| format!("CLONE INSTANCE{what}")).collect();
    sqls.push("PREPARE s FROM 'CLONE INSTANCE FROM r@h:1 IDENTIFIED BY ''x'''".to_owned());
    let test = "clone_instance_is_refused_as_without_the_plugin";
    same_as_mysql(test, &Settings::default(), |server| outcomes(server, &sqls));
}

#[test]
fn a_killed_clone_leaves_nothing() {
    let source = Server::start(Flavor::Slipstream, &Settings::default());
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, c LONGTEXT)");
    source.run("INSERT INTO d.t (c) VALUES (REPEAT('x', 2000000))");
    (0..7).for_each(|_| drop(source.run("INSERT INTO d.t (c) SELECT c FROM d.t")));
    let to = source.datadir().with_file_name("clone");
    let mut killed = 0;
    for _ in 0..10 {
        let mut session = source.connect();
        let id = session.query("SELECT CONNECTION_ID()").expect("asked").rows[0][0].clone();
        let id = String::from_utf8(id.expect("a number")).expect("a number");
        let sql = format!("CLONE LOCAL DATA DIRECTORY = '{}'", to.display());
        let cloning = os::thread::spawn("cloning", move || session.query(&sql).map(|_| ()));
        // The copy begins to be there, or has ended already.
        while !to.exists() && !cloning.is_finished() {
            os::thread::yield_now();
        }
        source.run(&format!("KILL QUERY {id}"));
        match cloning.join().expect("it ends well") {
            Ok(()) => std::fs::remove_dir_all(&to).expect("the clone is there"),
            Err(error) => {
                assert_eq!(error.server_code(), Some(1317), "{error}");
                assert!(!Path::new(&to).exists(), "the half copy is removed");
                let shown = source.rows("SELECT STATE, ERROR_NO FROM performance_schema.clone_status");
                assert_eq!(shown, ["Failed\t1317"]);
                killed += 1;
            }
        }
    }
    assert!(killed > 0, "no clone was killed in time");
}
