//! Tests of the forms that our binary log can take, while other servers read it.

use bench::instance::{Flavor, RowImage, Settings};
use bench::sbtest::Workload;
use binlog::Checksum;
use binlog::event::event_type;
use os::random::{Rng, test_seed};
use testkit::Server;
use testkit::background::Background;
use testkit::binlog_events;
use testkit::following::{By, Pair, SIZE};

const SOURCE: Flavor = Flavor::Slipstream;

/// Tests that `binlog_checksum` can change under load with a replica attached, and that after a
/// crash the source writes with the checksums of its file.
fn checksums_come_and_go(replica: Flavor) {
    let mut pair = Pair::start(SOURCE, replica, RowImage::Full, By::Gtid);
    pair.source.fill(SIZE, 1);
    for (round, checksum) in (0..).zip(["NONE", "CRC32", "NONE"]) {
        // The load ends before the replica has to catch up. A MySQL replica is many times slower
        // than the source, and its backlog would grow with each round.
        let load = Background::start(pair.source.connect_options(), Workload::ReadWrite, SIZE, 2, 7 + round);
        pair.source.run(&format!("SET GLOBAL binlog_checksum = {checksum}"));
        assert_eq!(pair.source.rows("SELECT @@GLOBAL.binlog_checksum"), [checksum]);
        load.stop();
        pair.replica.catch_up(&pair.source);
    }
    pair.load(Workload::ReadWrite, 50, 5);
    pair.source.kill();
    pair.source.come_back();
    pair.load(Workload::UpdateIndex, 50, 3);
    pair.is_equal();
    let events = binlog_events::of(&pair.source);
    for checksum in [Checksum::None, Checksum::Crc32] {
        let with = events.iter().filter(|e| e.kind() == event_type::GTID && e.checksum == checksum).count();
        assert!(with > 10, "{with} transactions with {checksum:?}");
    }
}

#[test]
fn checksums_come_and_go_before_mysql() {
    if testkit::available("source_formats::checksums_come_and_go_before_mysql", &[Flavor::MySql]) {
        checksums_come_and_go(Flavor::MySql);
    }
}

#[test]
fn checksums_come_and_go_before_slipstream() {
    checksums_come_and_go(Flavor::Slipstream);
}

/// Returns a random statement. Most depend on more than their text says.
fn random_statement(rng: &mut Rng) -> String {
    let (id, n) = (rng.between(1, 40), rng.between(0, 1000));
    match rng.below(11) {
        0 => format!("INSERT INTO f.t (v, at) VALUES ('row {n}', NOW(6)), (CONCAT('é', {n}), NOW(3))"),
        1 => format!("UPDATE f.t SET n = RAND() * {n} WHERE id = {id}"),
        2 => format!("SET @a = {n}, @b = 'text {n}', @c = {n}.25"),
        3 => "INSERT INTO f.t (v, n) VALUES (@b, @a + @c)".to_string(),
        4 => format!("DELETE FROM f.t WHERE id BETWEEN {id} AND {id} + 1"),
        5 => "INSERT INTO f.t (n, v) VALUES (LAST_INSERT_ID(), 'last id')".to_string(),
        6 => format!(
            "INSERT INTO f.t VALUES ({id}, 'known', {n}, NOW()) ON DUPLICATE KEY UPDATE v = CONCAT('again ', {n}), n = n + 1"
        ),
        7 => format!(
            "UPDATE f.t SET v = REPEAT('x', {n}), id = {} WHERE id = {id}",
            rng.between(1_000_000, 1_000_000_000)
        ),
        8 => format!("INSERT INTO f.keyless SELECT id, v FROM f.t WHERE id > {id}"),
        9 => format!("UPDATE f.keyless SET v = NULL WHERE id = {id}"),
        _ => format!("REPLACE INTO f.t (id, v, n) VALUES ({id}, UPPER('replaced'), {n})"),
    }
}

/// Runs a random load. Some of it is in transactions that are rolled back in part, some of it comes
/// from prepared statements.
fn random_load(server: &Server, formats: &[&str], rng: &mut Rng) {
    let mut session = server.connect();
    let mut run = |sql: &str| session.query(sql).map(drop).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("CREATE DATABASE f");
    run(
        "CREATE TABLE f.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(1000), n DOUBLE, at DATETIME(6), KEY by_v (v(20)))",
    );
    run("CREATE TABLE f.keyless (id INT, v VARCHAR(1000))");
    run("PREPARE p FROM 'INSERT INTO f.t (v, n) VALUES (CONCAT(?, @a), ?)'");
    for _ in 0..150 {
        run(&format!("SET binlog_format = {}", rng.pick(formats)));
        run(&format!("SET time_zone = '{}'", rng.pick(&["+00:00", "-03:30"])));
        run(&format!("SET auto_increment_increment = {}", rng.pick(&[1, 7])));
        if rng.one_in(3) {
            run("BEGIN");
            run(&random_statement(rng));
            run("SAVEPOINT here");
            for _ in 0..rng.below(4) {
                run(&random_statement(rng));
            }
            if rng.one_in(3) {
                run("ROLLBACK TO here");
            }
            run("SET @p = 'it''s \\\\ é'");
            run("EXECUTE p USING @p, @c");
            run(if rng.one_in(5) { "ROLLBACK" } else { "COMMIT" });
        } else {
            run(&random_statement(rng));
        }
    }
}

fn random_loads_arrive(replica: Flavor) {
    for (formats, has_rows) in
        [(&["STATEMENT"][..], false), (&["MIXED"], true), (&["ROW", "MIXED", "STATEMENT"], true)]
    {
        let mut pair = Pair::start(SOURCE, replica, RowImage::Minimal, By::Gtid);
        let mut rng = Rng::new(test_seed("random_loads_arrive"));
        random_load(&pair.source, formats, &mut rng);
        if formats == ["MIXED"] {
            // The random load may have no unsafe statement, so one is added.
            let mut session = pair.source.connect();
            for sql in ["SET binlog_format = MIXED", "UPDATE f.t SET v = UUID()"] {
                session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
        // Recovery must restore what was there.
        pair.source.kill();
        pair.source.come_back();
        pair.source.run("CREATE TABLE f.after_the_crash (id INT PRIMARY KEY)");
        pair.replica.catch_up(&pair.source);
        for table in ["f.t ORDER BY id", "f.keyless ORDER BY id, v"] {
            pair.replica.equals_by(&pair.source, &format!("SELECT * FROM {table}"));
        }
        let rows = binlog_events::of(&pair.source)
            .iter()
            .filter(|event| event.kind() == event_type::TABLE_MAP)
            .count();
        assert_eq!(rows > 0, has_rows, "{formats:?}: {rows} table maps");
    }
}

#[test]
fn random_loads_in_each_format_arrive_at_mysql() {
    if testkit::available("source_formats::random_loads_in_each_format_arrive_at_mysql", &[Flavor::MySql]) {
        random_loads_arrive(Flavor::MySql);
    }
}

#[test]
fn random_loads_in_each_format_arrive_at_slipstream() {
    random_loads_arrive(Flavor::Slipstream);
}

/// With `binlog_ignore_db`, rows and statements of the ignored schemas are not in the binary log,
/// and a transaction without any others has no GTID.
#[test]
fn schemas_that_are_not_logged() {
    let settings = Settings {
        extra: vec!["--binlog-ignore-db=quiet".into(), "--binlog-ignore-db=silent".into()],
        ..Settings::default()
    };
    let mut server = Server::start(SOURCE, &settings);
    let mut session = server.connect();
    for sql in [
        "CREATE DATABASE quiet",
        "CREATE DATABASE loud",
        "CREATE TABLE loud.t (id INT PRIMARY KEY)",
        "USE quiet",
        "CREATE TABLE q (id INT PRIMARY KEY)",
        "INSERT INTO q VALUES (1)",
        "INSERT INTO loud.t VALUES (1)",
        "BEGIN",
        "INSERT INTO q VALUES (2)",
        "INSERT INTO loud.t VALUES (2)",
        "INSERT INTO q VALUES (3)",
        "COMMIT",
        // In this transaction, the rows that are not logged come after those that are.
        "BEGIN",
        "INSERT INTO loud.t VALUES (5)",
        "INSERT INTO q VALUES (4)",
        "COMMIT",
        "SET binlog_format = STATEMENT",
        "INSERT INTO loud.t VALUES (3)",
        "USE loud",
        "INSERT INTO t VALUES (4)",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let status = server.rows("SHOW BINARY LOG STATUS");
    let fields: Vec<&str> = status[0].split('\t').collect();
    assert_eq!(fields[2..4], ["", "quiet,silent"]);
    assert!(
        fields[4].ends_with(":1-6"),
        "CREATE twice, three transactions with rows, one statement: {}",
        fields[4]
    );
    let kinds: Vec<u8> = binlog_events::of(&server).iter().map(|event| event.kind()).collect();
    let count = |kind| kinds.iter().filter(|found| **found == kind).count();
    assert_eq!((count(event_type::TABLE_MAP), count(event_type::WRITE_ROWS)), (3, 3));
    server.kill();
    server.come_back();
    assert_eq!(server.rows("SELECT COUNT(*) FROM quiet.q"), ["4"]);
    assert_eq!(server.rows("SELECT COUNT(*) FROM loud.t"), ["5"]);
}
