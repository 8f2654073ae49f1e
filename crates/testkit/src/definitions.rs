//! A client that changes definitions. After a crash it checks that each of its statements has taken
//! effect completely or not at all, and that acknowledged statements have taken effect.
//!
//! The statements form a cycle. After each of them the schema has a different shape, which tells
//! how far the client has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use protocol::client::{Client, ClientError, ConnectOptions};

use crate::server::Server;

const ROWS: usize = 300;

/// What the schema looks like. The first part is the table with its name and its numbers of rows,
/// columns and secondary indexes; `None` means that there is no table. The second part lists the
/// triggers with their tables and positions, and the procedure with the length of its comment.
type Shape = (Option<(&'static str, usize, usize, usize)>, String);

/// The length of the procedure's comment in bytes, which is too long for one entry on a page of the
/// dictionary.
const COMMENT_BYTES: usize = 4_000;

/// Returns a statement of the cycle, and the shape that it leaves behind.
fn step(number: u64) -> (String, Shape) {
    let insert = || {
        let rows: Vec<String> =
            (0..ROWS).map(|id| format!("({id}, {}, 'value {}')", id % 7, id % 50)).collect();
        format!("INSERT INTO shape.one VALUES {}", rows.join(", "))
    };
    let trigger = |name: &str, place: &str| {
        format!("CREATE TRIGGER shape.{name} BEFORE INSERT ON shape.one FOR EACH ROW {place} SET @{name} = 1")
    };
    let (sql, table, objects) = match number % 13 {
        1 => (
            "CREATE TABLE shape.one (id INT PRIMARY KEY, k INT, v VARCHAR(100))".to_string(),
            Some(("one", 0, 3, 0)),
            "",
        ),
        2 => (insert(), Some(("one", ROWS, 3, 0)), ""),
        3 => (
            "ALTER TABLE shape.one ADD INDEX k (k), ADD INDEX v (v), ADD UNIQUE INDEX vk (v, id)".to_string(),
            Some(("one", ROWS, 3, 3)),
            "",
        ),
        4 => (trigger("a", ""), Some(("one", ROWS, 3, 3)), "a:one:1"),
        5 => (trigger("b", "PRECEDES a"), Some(("one", ROWS, 3, 3)), "a:one:2 b:one:1"),
        6 => (
            "ALTER TABLE shape.one ADD COLUMN extra INT NOT NULL DEFAULT 7".to_string(),
            Some(("one", ROWS, 4, 3)),
            "a:one:2 b:one:1",
        ),
        7 => ("ALTER TABLE shape.one DROP INDEX k".to_string(), Some(("one", ROWS, 4, 2)), "a:one:2 b:one:1"),
        8 => (
            "RENAME TABLE shape.one TO shape.other".to_string(),
            Some(("other", ROWS, 4, 2)),
            "a:other:2 b:other:1",
        ),
        9 => ("DROP TRIGGER shape.b".to_string(), Some(("other", ROWS, 4, 2)), "a:other:1"),
        10 => ("TRUNCATE TABLE shape.other".to_string(), Some(("other", 0, 4, 2)), "a:other:1"),
        11 => (
            format!("CREATE PROCEDURE shape.p () COMMENT '{}' SELECT 1", "c".repeat(COMMENT_BYTES)),
            Some(("other", 0, 4, 2)),
            "a:other:1 p:4000",
        ),
        12 => ("DROP TABLE shape.other".to_string(), None, "p:4000"),
        _ => ("DROP PROCEDURE shape.p".to_string(), None, ""),
    };
    (sql, (table, objects.to_string()))
}

/// What the client remembers. It outlives the server's crashes.
#[derive(Default)]
pub struct Definitions {
    /// The number of acknowledged statements. The client's thread writes it, and it is read after
    /// the thread has ended.
    acknowledged: Arc<AtomicU64>,
}

/// The running client.
pub struct Changing {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Changing {
    /// Stops the client, and waits for its end.
    pub fn end(self) {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("the client does not panic");
    }
}

impl Definitions {
    /// Makes the schema.
    pub fn create(server: &Server) -> Definitions {
        server.run("CREATE DATABASE shape");
        Definitions::default()
    }

    /// Goes on with the cycle, and adds and drops indexes of sysbench's first table, until the
    /// client is stopped or the server is gone.
    pub fn work(&self, server: &Server) -> Changing {
        let stop = Arc::new(AtomicBool::new(false));
        let (options, acknowledged, stopped) =
            (server.connect_options(), Arc::clone(&self.acknowledged), Arc::clone(&stop));
        let thread = os::thread::spawn("definitions", move || {
            // An error should mean that the server is gone. The check after the restart finds out
            // whether anything else was wrong.
            let _ = change_until_stopped(&options, &stopped, &acknowledged);
        });
        Changing { stop, thread }
    }

    /// Checks how far the cycle has come and that all tables are sound. The client goes on from
    /// there. It returns the number of statements that have taken effect.
    pub fn check(&self, server: &Server) -> u64 {
        let known = self.acknowledged.load(Ordering::Acquire);
        let found = (shape(server), objects(server));
        // The crash may have come between the next statement and its answer.
        let at = [known, known + 1].into_iter().find(|&number| step(number).1 == found);
        let Some(at) = at else {
            let expected = [step(known), step(known + 1)].map(|(_, shape)| shape);
            panic!("after {known} statements the table is {found:?}, not one of {expected:?}");
        };
        self.acknowledged.store(at, Ordering::Release);
        let built = server.rows(
            "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'sbtest' \
             AND table_name = 'sbtest1' AND index_name LIKE 'built%'",
        );
        assert!(["0", "2"].contains(&built[0].as_str()), "an ALTER TABLE is there in part: {built:?}");
        let tables = "SELECT table_schema, table_name FROM information_schema.tables \
                      WHERE table_schema IN ('shape', 'sbtest', 'ledger')";
        for table in server.rows(tables) {
            let name = table.replace('\t', ".");
            let checked = server.rows(&format!("CHECK TABLE {name}"));
            assert_eq!(checked, [format!("{name}\tcheck\tstatus\tOK")]);
        }
        at
    }
}

fn objects(server: &Server) -> String {
    let triggers = server.rows(
        "SELECT CONCAT(trigger_name, ':', event_object_table, ':', action_order) AS found \
         FROM information_schema.triggers WHERE trigger_schema = 'shape' ORDER BY 1",
    );
    let procedures = server.rows(
        "SELECT CONCAT(routine_name, ':', LENGTH(routine_comment)) AS found FROM information_schema.routines \
         WHERE routine_schema = 'shape'",
    );
    [triggers, procedures].concat().join(" ")
}

fn shape(server: &Server) -> Option<(&'static str, usize, usize, usize)> {
    let tables = server.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'shape'");
    let name = match tables.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => return None,
        ["one"] => "one",
        ["other"] => "other",
        _ => panic!("tables of the circle: {tables:?}"),
    };
    let number = |sql: &str| -> usize { server.rows(sql)[0].parse().expect("a number") };
    let rows = number(&format!("SELECT COUNT(*) FROM shape.{name}"));
    let columns = number("SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'shape'");
    let indexes = number(
        "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'shape' AND \
         index_name <> 'PRIMARY'",
    );
    Some((name, rows, columns, indexes))
}

fn change_until_stopped(
    options: &ConnectOptions,
    stop: &AtomicBool,
    acknowledged: &AtomicU64,
) -> Result<(), ClientError> {
    let mut session = Client::connect(options)?;
    let has_indexes = "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'sbtest' AND \
                       table_name = 'sbtest1' AND index_name = 'built_c'";
    while !stop.load(Ordering::Acquire) {
        let number = acknowledged.load(Ordering::Acquire) + 1;
        session.query_discard(&step(number).0)?;
        acknowledged.store(number, Ordering::Release);
        if number.is_multiple_of(4) {
            let is_there = session.query(has_indexes)?.rows[0][0].as_deref() != Some(&b"0"[..]);
            let alter = match is_there {
                true => "DROP INDEX built_c, DROP INDEX built_pad",
                false => "ADD INDEX built_c (c), ADD INDEX built_pad (pad, k)",
            };
            // Under load the statement may be refused. The timeout is short, so that the load is
            // not held up.
            session.query_discard("SET lock_wait_timeout = 1")?;
            match session.query_discard(&format!("ALTER TABLE sbtest.sbtest1 {alter}")) {
                Err(ClientError::Server(error)) if error.code == 1205 || error.code == 1213 => {}
                done => {
                    done?;
                }
            }
        }
    }
    Ok(())
}
