//! `slipstream attach` beside a real MySQL source: what it refuses, what it brings, and that a
//! source at work is copied whole through kills.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bench::instance::{Flavor, Port, RowImage, Settings};
use os::clock::{Stopwatch, sleep};
use os::random::{Rng, test_seed_or};
use protocol::client::{Client, ConnectOptions};
use testkit::Server;
use testkit::server::SOON;

/// A new replica, as `slipstream attach` runs it; its directory goes with its value.
struct Attaching {
    directory: PathBuf,
    address: String,
    port: Port,
    process: Option<Child>,
}

impl Attaching {
    fn new(source: &Server) -> Attaching {
        for sql in [
            "CREATE USER repl IDENTIFIED BY 'se''cret\\\\'",
            "GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT, SHOW VIEW, TRIGGER, EVENT, SHOW_ROUTINE ON *.* TO repl",
        ] {
            source.run(sql);
        }
        let directory = std::env::temp_dir().join(format!("slipstream-attach-{:016x}", os::random::u64()));
        std::fs::create_dir(&directory).expect("a directory can be made");
        Attaching {
            directory,
            address: format!("mysql://repl:se'cret%5C@127.0.0.1:{}/", source.port()),
            port: Port::reserve().unwrap_or_else(|error| panic!("{error}")),
            process: None,
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(testkit::binary::slipstream());
        command.arg("attach").arg(&self.address).arg("--datadir").arg(self.directory.join("data"));
        command.stdout(Stdio::null());
        command
    }

    fn start(&mut self) {
        let mut command = self.command();
        command.args(["--workers", "3", "--"]).arg(format!("--port={}", self.port.number()));
        command.arg(format!("--socket={}", self.directory.join("s.sock").display()));
        command.arg(format!("--log-error={}", self.directory.join("error.log").display()));
        self.process = Some(command.stderr(Stdio::null()).spawn().expect("the binary runs"));
    }

    fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
    }

    fn connect(&self) -> Option<Client> {
        Client::connect(&ConnectOptions::unix(self.directory.join("s.sock"))).ok()
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&os::disk::real().read(&self.directory.join("error.log")).unwrap_or_default())
            .into_owned()
    }

    /// Waits until the copy is over.
    fn wait(&mut self) -> Client {
        let waited = Stopwatch::start();
        loop {
            if let Some(mut client) = self.connect() {
                let mode =
                    client.query("SELECT @@GLOBAL.replica_exec_mode").ok().and_then(|mode| mode.cell(0, 0));
                if mode.as_deref() == Some("STRICT") {
                    return client;
                }
            }
            let process = self.process.as_mut().expect("it runs");
            if let Some(status) = process.try_wait().expect("it is our process") {
                panic!("slipstream attach ended, {status}: {}", self.log());
            }
            assert!(waited.elapsed() < 3 * SOON, "the copy does not end: {}", self.log());
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Attaching {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.kill();
        }
        // It is below the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn source(test: &str, image: RowImage) -> Option<Server> {
    let settings = Settings { server_id: 1, row_image: image, ..Settings::default() };
    testkit::available(test, &[Flavor::MySql]).then(|| Server::start(Flavor::MySql, &settings))
}

fn shown(client: &mut Client, sql: &str) -> Vec<Vec<String>> {
    let cell = |cell: Option<Vec<u8>>| {
        cell.map_or("NULL".into(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
    rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect()
}

/// Waits until the new replica has what the source has now.
fn catch_up(source: &Server, client: &mut Client) {
    let executed = source.rows("SELECT @@GLOBAL.gtid_executed")[0].clone();
    let reached = format!("SELECT GTID_SUBSET('{executed}', @@GLOBAL.gtid_executed)");
    let waited = Stopwatch::start();
    while client.query(&reached).expect("it answers").cell(0, 0).as_deref() != Some("1") {
        let error = client.query("SHOW REPLICA STATUS").expect("it answers").text(0, "Last_SQL_Error");
        assert!(waited.elapsed() < SOON, "the replica does not catch up: {error:?}");
        sleep(Duration::from_millis(20));
    }
}

const EVERYTHING: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE kinds (id INT PRIMARY KEY AUTO_INCREMENT, i TINYINT, u BIGINT UNSIGNED, n DECIMAL(30,10), f FLOAT, \
     d DOUBLE, b BIT(10), y YEAR, dt DATE, t TIME(3), dtm DATETIME(6), ts TIMESTAMP(2) NULL, c CHAR(5), \
     l VARCHAR(50) CHARSET latin1, w VARCHAR(20) CHARSET utf16, g VARCHAR(20) CHARSET gbk, bin BINARY(4), \
     vb VARBINARY(20), tx TEXT, bl BLOB, e ENUM('a','b','c'), s SET('x','y'), j JSON, geo GEOMETRY, \
     v INT GENERATED ALWAYS AS (i + 1) VIRTUAL, st INT GENERATED ALWAYS AS (i * 2) STORED, \
     inv INT INVISIBLE DEFAULT 7, KEY (l), UNIQUE KEY (w))",
    "INSERT INTO kinds (i, u, n, f, d, b, y, dt, t, dtm, ts, c, l, w, g, bin, vb, tx, bl, e, s, j, geo) VALUES \
     (1, 18446744073709551615, -1234567890.0123456789, 0.1, 1e300, b'1000000001', 2024, '2024-02-29', '-10:00:00.5', \
     '2024-01-01 00:00:00.000001', '2024-01-01 00:00:00.25', 'é', 'é€ß', 'Ω😀', '汉字', x'0001', x'5c095c0a0027', \
     'a\\tb\\nc\\\\N', '\\0\\\\', 'b', 'x,y', '{\"a\": [1, 2.5, \"x\\\\ty\", null, true]}', ST_GeomFromText('POINT(1 2)', 4326))",
    "INSERT INTO kinds () VALUES ()",
    "INSERT INTO kinds (i, f, d, t, dtm, c, l, w, vb, tx, e, s, j) VALUES (-128, -3.4e38, 0, '838:59:59', \
     '9999-12-31 23:59:59.999999', '', '', '', '', '', 'a', '', '[]')",
    "SET cte_max_recursion_depth = 10000",
    "CREATE TABLE texts (a VARCHAR(20), b INT, c VARCHAR(100), PRIMARY KEY (a, b))",
    "INSERT INTO texts WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 4000) \
     SELECT CONCAT(IF(n % 2, 'ä', 'Z'), n DIV 7), n, REPEAT('z', n % 100) FROM r",
    "CREATE TABLE enums (e ENUM('c','a','b'), n INT, PRIMARY KEY (e, n))",
    "INSERT INTO enums VALUES ('a', 1), ('b', 2), ('c', 3)",
    "CREATE TABLE prefixes (a VARCHAR(50), b INT, PRIMARY KEY (a(3)))",
    "INSERT INTO prefixes VALUES ('abcdef', 1), ('abd', 2), ('ab', 3)",
    "CREATE TABLE parents (id INT PRIMARY KEY)",
    "CREATE TABLE children (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parents (id) ON DELETE CASCADE)",
    "INSERT INTO parents VALUES (1), (2)",
    "INSERT INTO children VALUES (1, 1), (2, 2)",
    "CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "INSERT INTO parts VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
    "CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50))",
    "CREATE TRIGGER t AFTER INSERT ON texts FOR EACH ROW INSERT INTO log (what) VALUES (NEW.a)",
    "CREATE VIEW counts AS SELECT a, COUNT(*) n FROM texts GROUP BY a",
    "CREATE VIEW counted AS SELECT MAX(n) FROM counts",
    "CREATE VIEW above AS SELECT * FROM counted",
    "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2",
    "CREATE PROCEDURE counting() SELECT COUNT(*) FROM texts",
    "CREATE EVENT later ON SCHEDULE AT '2090-01-01 00:00:00' DO INSERT INTO log (what) VALUES ('event')",
    "CREATE DATABASE `we``ird`",
    "CREATE TABLE `we``ird`.`t 1` (`a b` INT PRIMARY KEY, `ü` INT)",
    "INSERT INTO `we``ird`.`t 1` VALUES (1, 2)",
];

const COMPARED: &[&str] = &[
    "SELECT id, i, u, n, f, d, HEX(b), y, dt, t, dtm, ts, c, HEX(l), HEX(w), HEX(g), HEX(bin), HEX(vb), HEX(tx), HEX(bl), \
     e, s, j, ST_AsText(geo), v, st, inv FROM shop.kinds ORDER BY id",
    "SELECT * FROM shop.texts ORDER BY a, b",
    "SELECT * FROM shop.enums ORDER BY n",
    "SELECT * FROM shop.prefixes ORDER BY b",
    "SELECT * FROM shop.children ORDER BY id",
    "SELECT * FROM shop.parts ORDER BY id",
    "SELECT * FROM shop.log ORDER BY id",
    "SELECT * FROM shop.above",
    "SELECT shop.twice(21)",
    "SELECT * FROM `we``ird`.`t 1`",
    "SHOW CREATE TABLE shop.kinds",
    "SHOW CREATE TABLE shop.children",
    "SHOW CREATE TABLE shop.parts",
    "SHOW CREATE VIEW shop.above",
    "SHOW CREATE FUNCTION shop.twice",
    "SHOW CREATE PROCEDURE shop.counting",
    "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'",
];

#[test]
fn everything_of_a_source_is_there() {
    let Some(source) = source("everything_of_a_source_is_there", RowImage::Full) else { return };
    let mut there = source.connect();
    EVERYTHING.iter().for_each(|sql| drop(there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))));
    let mut replica = Attaching::new(&source);
    replica.start();
    let mut here = replica.wait();
    // It is a replica like any other.
    for sql in [
        "INSERT INTO texts VALUES ('new', 1, 'x')",
        "DELETE FROM parents WHERE id = 1",
        "DROP VIEW above",
        "CREATE VIEW above AS SELECT 1 AS one",
        "UPDATE kinds SET i = 5 WHERE id = 2",
    ] {
        there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    catch_up(&source, &mut here);
    // A session without a schema is shown all names in full.
    let mut there = source.connect();
    for sql in COMPARED {
        assert_eq!(shown(&mut here, sql), shown(&mut there, sql), "{sql}");
    }
    let event = "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = 'later'";
    assert_eq!(shown(&mut here, event)[0][0], "REPLICA_SIDE_DISABLED");
    assert!(shown(&mut here, "SHOW DATABASES LIKE 'slipstream%'").is_empty(), "nothing is left of the copy");
}

#[test]
fn checks_name_all_that_is_in_the_way() {
    let Some(source) = source("checks_name_all_that_is_in_the_way", RowImage::Minimal) else { return };
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.keyless (a INT)",
        "CREATE TABLE d.old (a INT PRIMARY KEY) ENGINE = MyISAM",
        "SET GLOBAL binlog_row_value_options = PARTIAL_JSON",
    ] {
        source.run(sql);
    }
    let replica = Attaching::new(&source);
    source.run("REVOKE REPLICATION SLAVE, SHOW VIEW ON *.* FROM repl");
    let done = replica.command().arg("--dry-run").output().expect("the binary runs");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{told}");
    for what in [
        "error: binlog_row_image is 'MINIMAL'",
        "error: binlog_row_value_options is 'PARTIAL_JSON'",
        "error: the account lacks REPLICATION SLAVE.",
        "error: d.keyless has no primary key.",
        "error: d.old is not of InnoDB",
        "note: views, triggers and events that the account may not read",
        "5 of the checks failed",
    ] {
        assert!(told.contains(what), "{what} is not in: {told}");
    }
    assert!(!replica.directory.join("data").exists(), "a dry run makes nothing");
}

/// Changes of a source that go on until the value is dropped.
struct Work {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

const TABLES: u64 = 4;
const IDS: u64 = 6000;

/// Rows that take each other's keys, move, come and go; some are refused for a duplicate key, which
/// is as good. Now and then a definition changes, and two tables change places.
fn change(rng: &mut Rng, number: u64) -> Vec<String> {
    let (table, id, other) = (rng.below(TABLES), rng.below(IDS), rng.below(IDS));
    let (u, w) = (rng.below(2 * IDS), rng.below(50));
    // Definitions change now and then: all of them are read twice, and have to be the same.
    // That two tables of one definition change places is not seen by their definitions.
    let kind = match number % 400 {
        399 => rng.below(3),
        100 | 200 | 300 => 1,
        _ => rng.between(3, 59),
    };
    let one = match kind {
        0 => format!("ALTER TABLE d.t{table} ADD c{number} INT NOT NULL DEFAULT 5"),
        1 => {
            return vec![format!(
                "RENAME TABLE d.t0 TO d.x, d.t{} TO d.t0, d.x TO d.t{}",
                TABLES - 1,
                TABLES - 1
            )];
        }
        2 => format!("CREATE TABLE d.n{number} (id INT PRIMARY KEY) SELECT id FROM d.t{table} LIMIT 50"),
        3..20 => format!("INSERT IGNORE INTO d.t{table} (id, u, v, w) VALUES ({id}, {u}, 'v{u}', {w})"),
        20..25 => format!("REPLACE INTO d.t{table} (id, u, v, w) VALUES ({id}, {u}, 'v{w}', {u})"),
        25..35 => format!("DELETE FROM d.t{table} WHERE id IN ({id}, {other})"),
        35..45 => format!("UPDATE IGNORE d.t{table} SET id = {other} WHERE id = {id}"),
        45..55 => {
            format!("UPDATE IGNORE d.t{table} SET v = 'v{w}', w = w + 1 WHERE u BETWEEN {u} AND {u} + 3")
        }
        _ => {
            return vec![
                "BEGIN".into(),
                format!(
                    "SELECT MAX(IF(id = {id}, u, NULL)), MAX(IF(id = {other}, u, NULL)) INTO @a, @b FROM d.t{table}"
                ),
                format!("UPDATE d.t{table} SET u = NULL WHERE id = {id}"),
                format!("UPDATE IGNORE d.t{table} SET u = @a WHERE id = {other}"),
                format!("UPDATE IGNORE d.t{table} SET u = @b WHERE id = {id}"),
                "COMMIT".into(),
            ];
        }
    };
    vec![one]
}

impl Work {
    fn start(source: &Server, seed: u64) -> Work {
        let (mut session, ends) = (source.connect(), Arc::new(AtomicBool::new(false)));
        let ended = ends.clone();
        let thread = os::thread::spawn("work", move || {
            let mut rng = Rng::new(seed);
            for number in 0.. {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                for sql in change(&mut rng, number) {
                    // CREATE TABLE ... SELECT may be of a table that is being renamed.
                    if let Err(error) = session.query(&sql) {
                        assert!(error.server_code().is_some(), "{sql}: {error}");
                    }
                }
            }
        });
        Work { ends, thread: Some(thread) }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the work went on to its end");
        }
    }
}

fn fill(source: &Server) {
    let mut session = source.connect();
    session.query("CREATE DATABASE d").expect("a schema can be made");
    session.query("SET cte_max_recursion_depth = 100000").expect("it is a variable");
    for table in 0..TABLES {
        let create = format!(
            "CREATE TABLE d.t{table} (id INT PRIMARY KEY, u INT, v VARCHAR(10), w INT NOT NULL, x VARCHAR(600), \
             UNIQUE KEY by_u (u), UNIQUE KEY by_vw (v, w))"
        );
        session.query(&create).expect("a table can be made");
        let rows = format!(
            "INSERT INTO d.t{table} WITH RECURSIVE r AS (SELECT 0 n UNION ALL SELECT n + 1 FROM r WHERE n < {IDS}) \
             SELECT n, n, CONCAT('v', n), n, REPEAT('x', n % 600) FROM r WHERE n % 3"
        );
        session.query(&rows).expect("rows can be inserted");
    }
}

/// Attaches to a source at work, with so many kills at random moments.
fn copied_whole(test: &str, kills: u64) {
    let mut rng = Rng::new(test_seed_or(test, os::random::u64()));
    let Some(source) = source(test, RowImage::Full) else { return };
    fill(&source);
    let work = Work::start(&source, rng.u64());
    let mut replica = Attaching::new(&source);
    for _ in 0..kills {
        replica.start();
        sleep(Duration::from_millis(rng.between(50, 2500)));
        replica.kill();
    }
    replica.start();
    let mut here = replica.wait();
    drop(work);
    catch_up(&source, &mut here);
    let mut there = source.connect();
    let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' ORDER BY 1";
    assert_eq!(shown(&mut here, tables), shown(&mut there, tables));
    for row in shown(&mut there, tables) {
        let name = &row[0];
        for sql in [format!("SHOW CREATE TABLE d.{name}"), format!("SELECT * FROM d.{name} ORDER BY id")] {
            let (ours, theirs) = (shown(&mut here, &sql), shown(&mut there, &sql));
            let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            assert!(ours == theirs, "{sql}: {} and {} rows, {differs:?}", ours.len(), theirs.len());
        }
        let checked = shown(&mut here, &format!("CHECK TABLE d.{name}"));
        assert_eq!(checked[0][3], "OK", "{name}");
    }
}

#[test]
fn a_source_at_work_is_copied_whole() {
    copied_whole("a_source_at_work_is_copied_whole", 0);
}

#[test]
fn an_attachment_goes_on_after_kills() {
    copied_whole("an_attachment_goes_on_after_kills", testkit::times("ATTACH_KILLS", 5));
}
