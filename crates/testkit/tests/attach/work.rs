//! A source at work while it is copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench::instance::Flavor;
use os::clock::sleep;
use os::random::{Rng, test_seed_or};
use protocol::client::Client;
use testkit::Server;
use testkit::work::{Lasting, Work, try_statement};

use crate::attaching::{Attaching, catch_up, shown};

/// The number of sessions that change rows at the same time.
const SESSIONS: u64 = 3;

const TABLES: u64 = 4;
const IDS: u64 = 6000;

/// Returns random statements: rows take each other's keys, move, come and go. Some are refused for
/// a duplicate key, which does no harm. Now and then a definition changes, and two tables swap
/// their names.
fn change(rng: &mut Rng, number: u64) -> Vec<String> {
    let (table, id, other) = (rng.below(TABLES), rng.below(IDS), rng.below(IDS));
    let (u, w) = (rng.below(2 * IDS), rng.below(50));
    // Definitions change seldom, because all of them are read twice and have to be the same.
    // Definitions do not show that two tables of one definition have swapped their names.
    let kind = match number % 400 {
        399 => rng.below(3),
        100 | 200 | 300 => 1,
        _ => rng.between(3, 76),
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
        // Rows of the table without a key are there several times, and one of them changes.
        60..63 => {
            format!("INSERT INTO d.k (id, w, x) VALUES ({w}, {u}, 'k'), ({w}, {u}, 'k'), ({w}, NULL, NULL)")
        }
        63..66 => format!("UPDATE d.k SET w = {u}, x = REPEAT('k', {w}) WHERE id = {w} LIMIT 1"),
        66..69 => format!("DELETE FROM d.k WHERE id = {w} LIMIT 2"),
        69 if u % 2 == 0 => "FLUSH BINARY LOGS".into(),
        69 | 70 => format!("INSERT IGNORE INTO d.h VALUES ({w}, {u})"),
        71..75 => format!("UPDATE d.h SET v = {u} WHERE id = {w}"),
        75 => format!("DELETE FROM d.h WHERE id = {w}"),
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

/// Starts sessions that change a source.
pub fn work_on(source: &Server, rng: &mut Rng) -> Work {
    let session = |number: u64| {
        let (mut session, mut rng) = (source.connect(), Rng::new(rng.u64()));
        move |ends: &AtomicBool| work(&mut rng, number, ends, |sql| try_statement(&mut session, sql))
    };
    Work::start((0..SESSIONS).map(session))
}

/// Starts sessions that change a source, and that come back whenever the source does.
pub fn work_through_kills(source: &Server, rng: &mut Rng) -> Work {
    let session = |number: u64| {
        let (mut session, mut rng) = (Lasting::new(source.connect_options()), Rng::new(rng.u64()));
        move |ends: &AtomicBool| work(&mut rng, number, ends, |sql| session.try_statement(sql, ends))
    };
    Work::start((0..SESSIONS).map(session))
}

/// Changes rows until it is told to end. Only the first of the sessions changes definitions too.
fn work(rng: &mut Rng, of_session: u64, ended: &AtomicBool, mut run: impl FnMut(&str)) {
    for number in 0.. {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let is_of_rows = of_session > 0 && number % 100 >= 99;
        for sql in change(rng, number + u64::from(is_of_rows)) {
            // CREATE TABLE ... SELECT may read a table that is being renamed, and sessions may be
            // in each other's way.
            run(&sql);
        }
    }
}

pub fn fill(source: &Server) {
    let mut session = source.connect();
    session.query("CREATE DATABASE d").expect("a schema can be made");
    let depth = if source.flavor() == Flavor::MariaDb {
        "max_recursive_iterations"
    } else {
        "cte_max_recursion_depth"
    };
    session.query(&format!("SET {depth} = 100000")).expect("it is a variable");
    session.query("CREATE TABLE d.k (id INT, w INT, x VARCHAR(50), KEY (w))").expect("a table can be made");
    let history = if source.flavor() == Flavor::MariaDb { "WITH SYSTEM VERSIONING" } else { "" };
    session
        .query(&format!("CREATE TABLE d.h (id INT PRIMARY KEY, v INT) {history}"))
        .expect("it can be made");
    for table in 0..TABLES {
        let create = format!(
            "CREATE TABLE d.t{table} (id INT PRIMARY KEY, u INT, v VARCHAR(10), w INT NOT NULL, x VARCHAR(600), \
             UNIQUE KEY by_u (u), UNIQUE KEY by_vw (v, w))"
        );
        session.query(&create).expect("a table can be made");
        // Each row of the table without a key is there at least as often as there are tables.
        let keyless = format!(
            "INSERT INTO d.k WITH RECURSIVE r AS (SELECT 0 n UNION ALL SELECT n + 1 FROM r WHERE n < {IDS}) \
             SELECT n % 50, n % 7, REPEAT('y', n % 50) FROM r"
        );
        session.query(&keyless).expect("rows can be inserted");
        let rows = format!(
            "INSERT INTO d.t{table} WITH RECURSIVE r AS (SELECT 0 n UNION ALL SELECT n + 1 FROM r WHERE n < {IDS}) \
             SELECT n, n, CONCAT('v', n), n, REPEAT('x', n % 600) FROM r WHERE n % 3"
        );
        session.query(&rows).expect("rows can be inserted");
    }
}

/// Makes a MySQL source wait again and again for replicas that do not answer, between the moment at
/// which a transaction is in its log and the one at which it is visible, until `ended`.
fn wait_for_nobody(mut session: Client, ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        for value in [0, 1] {
            let sql = format!("SET GLOBAL rpl_semi_sync_source_enabled = {value}");
            session.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        sleep(Duration::from_millis(150));
    }
}

/// Attaches like [`copied_whole`] to a source whose transactions are visible long after they are in
/// its log.
pub fn copied_whole_though_late(test: &str, source: &Server) {
    source.run("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
    source.run("SET GLOBAL rpl_semi_sync_source_timeout = 300");
    let ends = Arc::new(AtomicBool::new(false));
    let (session, ended) = (source.connect(), ends.clone());
    let waits = os::thread::spawn("waits", move || wait_for_nobody(session, &ended));
    copied_whole_and(test, source, 0, || {
        ends.store(true, Ordering::Relaxed);
        waits.join().expect("it ends");
        source.run("SET GLOBAL rpl_semi_sync_source_enabled = 0");
    });
}

/// Attaches to a source at work, with `kills` kills at random moments, and checks that the copy is
/// whole. One run in sixty with kills found a table that was never copied: MariaDB's list of tables
/// can lack one that is being renamed, and the copy ended when nothing on the list was left.
pub fn copied_whole(test: &str, source: &Server, kills: u64) {
    copied_whole_and(test, source, kills, || ());
}

fn copied_whole_and(test: &str, source: &Server, kills: u64, when_copied: impl FnOnce()) {
    let mut rng = Rng::new(test_seed_or(test, os::random::u64()));
    fill(source);
    let work = work_on(source, &mut rng);
    let mut replica = Attaching::new(source);
    for _ in 0..kills {
        replica.start();
        sleep(Duration::from_millis(rng.between(50, 2500)));
        replica.kill();
    }
    replica.start();
    let mut here = replica.wait();
    when_copied();
    drop(work);
    catch_up(source, &mut here);
    are_the_same(source, &mut here);
}

/// Checks that a replica has the tables and rows of its source.
pub fn are_the_same(source: &Server, here: &mut Client) {
    let mut there = source.connect();
    let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' ORDER BY 1";
    assert_eq!(shown(here, tables), shown(&mut there, tables));
    for row in shown(&mut there, tables) {
        let name = &row[0];
        // Definitions of a MariaDB source are shown in MySQL's words, so only the columns are
        // compared.
        let definition = match source.flavor() {
            Flavor::MariaDb => format!(
                "SELECT COLUMN_NAME, ORDINAL_POSITION FROM information_schema.COLUMNS WHERE TABLE_NAME = '{name}' ORDER BY 2"
            ),
            _ => format!("SHOW CREATE TABLE d.{name}"),
        };
        let order = if name == "k" { "id, w, x" } else { "id" };
        let rows = match name.as_str() {
            "h" if source.flavor() == Flavor::MariaDb => {
                "SELECT id, v, row_start, row_end FROM d.h FOR SYSTEM_TIME ALL ORDER BY id, row_end"
                    .to_owned()
            }
            _ => format!("SELECT * FROM d.{name} ORDER BY {order}"),
        };
        for sql in [definition, rows] {
            let (ours, theirs) = (shown(here, &sql), shown(&mut there, &sql));
            let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            assert!(ours == theirs, "{sql}: {} and {} rows, {differs:?}", ours.len(), theirs.len());
        }
        let checked = shown(here, &format!("CHECK TABLE d.{name}"));
        assert_eq!(checked[0][3], "OK", "{name}");
    }
}
