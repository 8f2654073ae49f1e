//! Tests of a replica whose tables differ from the source's: a value that MySQL's own replica
//! converts is converted in the same way, and what it refuses is refused with its messages.

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Status, Thread};
use testkit::{Replica, Server};

/// The columns of the source's table and of the replica's, the value of `replica_type_conversions`,
/// and what the source does.
struct Case {
    source: &'static str,
    replica: &'static str,
    conversions: &'static str,
    changes: &'static [&'static str],
}

const fn case(
    source: &'static str,
    replica: &'static str,
    conversions: &'static str,
    changes: &'static [&'static str],
) -> Case {
    Case { source, replica, conversions, changes }
}

const NUMBERS: &[&str] = &[
    "INSERT INTO d.t VALUES (1, 0), (2, 100), (3, -100), (4, NULL), (5, 120)",
    "UPDATE d.t SET a = a + 1 WHERE id = 2",
    "DELETE FROM d.t WHERE id = 3",
];
const LARGE: &[&str] = &["INSERT INTO d.t VALUES (1, 70000), (2, -70000), (3, 200)"];
const FRACTIONS: &[&str] = &["INSERT INTO d.t VALUES (1, 1234.5678), (2, -0.5), (3, 99999.9999)"];
const TEXTS: &[&str] = &[
    "INSERT INTO d.t VALUES (1, 'short'), (2, ''), (3, NULL), (4, 'as long as it can be')",
    "UPDATE d.t SET a = CONCAT('x', a) WHERE id < 3",
];
const MORE: &[&str] = &[
    "INSERT INTO d.t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')",
    "UPDATE d.t SET a = a + 1 WHERE id = 2",
    "DELETE FROM d.t WHERE id = 3",
];

const CASES: &[Case] = &[
    case("a INT", "a BIGINT", "", NUMBERS),
    case("a INT", "a BIGINT", "ALL_LOSSY", NUMBERS),
    case("a INT", "a BIGINT", "ALL_NON_LOSSY", NUMBERS),
    case("a TINYINT", "a SMALLINT", "ALL_NON_LOSSY,ALL_SIGNED", NUMBERS),
    case("a INT", "a SMALLINT", "ALL_NON_LOSSY", LARGE),
    case("a INT", "a SMALLINT", "ALL_LOSSY", LARGE),
    case("a INT UNSIGNED", "a BIGINT", "ALL_NON_LOSSY", &["INSERT INTO d.t VALUES (1, 4294967295), (2, 1)"]),
    case(
        "a INT UNSIGNED",
        "a BIGINT",
        "ALL_NON_LOSSY,ALL_UNSIGNED",
        &["INSERT INTO d.t VALUES (1, 4294967295), (2, 1)"],
    ),
    case("a INT", "a INT UNSIGNED", "", &["INSERT INTO d.t VALUES (1, 7), (2, 2147483647)"]),
    case("a INT", "a VARCHAR(20)", "ALL_LOSSY,ALL_NON_LOSSY", NUMBERS),
    case("a DECIMAL(12,4)", "a DECIMAL(14,4)", "", FRACTIONS),
    case("a DECIMAL(12,4)", "a DECIMAL(14,6)", "ALL_NON_LOSSY", FRACTIONS),
    case("a DECIMAL(12,4)", "a DECIMAL(12,1)", "ALL_LOSSY", FRACTIONS),
    case("a DECIMAL(12,4)", "a DOUBLE", "ALL_LOSSY", FRACTIONS),
    case("a DOUBLE", "a DECIMAL(12,2)", "ALL_LOSSY", FRACTIONS),
    case("a FLOAT", "a DOUBLE", "ALL_NON_LOSSY", &["INSERT INTO d.t VALUES (1, 0.5), (2, -1.25)"]),
    case("a VARCHAR(20)", "a VARCHAR(40)", "", TEXTS),
    case("a VARCHAR(20)", "a VARCHAR(40)", "ALL_NON_LOSSY", TEXTS),
    case("a VARCHAR(30)", "a VARCHAR(10)", "ALL_NON_LOSSY", TEXTS),
    case("a VARCHAR(30)", "a VARCHAR(10)", "ALL_LOSSY", TEXTS),
    case("a CHAR(30)", "a VARCHAR(30)", "", TEXTS),
    case("a CHAR(30)", "a VARCHAR(30)", "ALL_NON_LOSSY", TEXTS),
    case("a VARCHAR(30)", "a TEXT", "ALL_NON_LOSSY", TEXTS),
    case("a TEXT", "a VARCHAR(100)", "", TEXTS),
    case("a TEXT", "a MEDIUMTEXT", "ALL_NON_LOSSY", TEXTS),
    case("a VARCHAR(30) CHARACTER SET latin1", "a VARCHAR(30)", "", TEXTS),
    case("a VARCHAR(30) CHARACTER SET latin1", "a VARCHAR(30)", "ALL_NON_LOSSY", TEXTS),
    case("a VARBINARY(30)", "a VARCHAR(30) CHARACTER SET latin1", "", TEXTS),
    case("a BIT(4)", "a BIT(9)", "ALL_NON_LOSSY", &["INSERT INTO d.t VALUES (1, b'1010'), (2, b'1')"]),
    case("a DATE", "a DATETIME", "ALL_LOSSY,ALL_NON_LOSSY", &["INSERT INTO d.t VALUES (1, '2026-01-02')"]),
    // One of the tables has more columns than the other.
    case("a INT, b VARCHAR(10)", "a INT", "", MORE),
    case("a INT, b VARCHAR(10)", "a INT, b VARCHAR(10), c INT DEFAULT 7, d VARCHAR(5)", "", MORE),
    case("a INT, b VARCHAR(10)", "a BIGINT, b VARCHAR(10), c INT DEFAULT 7", "ALL_NON_LOSSY", MORE),
];

/// Returns the number and message of the applier's error. The position at the end of the message is
/// left out.
fn error_of(replica: &Replica, status: &Status) -> (u32, String) {
    let mut message = status.sql_error.clone();
    if replica.flavor() == Flavor::MySql {
        // MySQL's coordinator only reports that a worker has stopped.
        let of_worker = "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker \
                         WHERE LAST_ERROR_NUMBER <> 0";
        message = replica.rows(of_worker).remove(0);
        // The message has the form "Worker 1 failed executing transaction '...' at source log ...,
        // end_log_pos 605; Column ...".
        message = message.split_once("; ").map_or(message.clone(), |(_, cause)| cause.to_string());
    }
    let place = message.find("; the event's").unwrap_or(message.len());
    (status.sql_errno, message[..place].to_string())
}

/// Runs the case and returns its outcome: an error, or the rows.
fn outcome(source: &Server, replica: &Replica, case: &Case) -> Result<Vec<String>, (u32, String)> {
    replica.run(&format!("SET GLOBAL replica_type_conversions = '{}'", case.conversions));
    replica.start_thread(Thread::Sql);
    let target = source.position();
    let status = replica.wait_until("applied or refused", |status| {
        status.sql_errno != 0 || status.applied.as_ref().is_some_and(|applied| *applied >= target)
    });
    match status.sql_errno {
        0 => Ok(replica.rows("SELECT * FROM d.t ORDER BY id")),
        _ => Err(error_of(replica, &status)),
    }
}

/// Makes the table anew, on one server only.
fn make(server: &Server, columns: &str) {
    let mut session = server.connect();
    let create = format!("CREATE TABLE d.t (id INT PRIMARY KEY, {columns})");
    for sql in ["SET sql_log_bin = 0", "DROP TABLE IF EXISTS d.t", &create] {
        session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
    }
}

fn as_mysql_does(image: bench::instance::RowImage) {
    let test = "replicate_differing::as_mysql_does";
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let settings =
        |server_id| Settings { server_id, row_image: image, durable: false, ..Settings::default() };
    let source = Server::start(Flavor::MySql, &settings(1));
    let replicas = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let replica = Replica::start(flavor, &settings(if flavor == Flavor::MySql { 2 } else { 3 }));
        replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
        replica
    });
    source.run("CREATE DATABASE d");
    let (mut converted, mut differences) = (0, Vec::new());
    for case in CASES {
        for replica in &replicas {
            replica.catch_up(&source);
            replica.stop_thread(Thread::Sql);
            make(replica, case.replica);
        }
        make(&source, case.source);
        for sql in case.changes {
            source.run(sql);
        }
        let [theirs, ours] = [0, 1].map(|at| outcome(&source, &replicas[at], case));
        if ours != theirs {
            let Case { source, replica, conversions, .. } = case;
            differences.push(format!(
                "{source} to {replica} with {conversions:?}:\n  ours   {ours:?}\n  MySQL's {theirs:?}"
            ));
        }
        converted += usize::from(ours.is_ok());
        for (replica, _) in replicas.iter().zip([&theirs, &ours]).filter(|(_, outcome)| outcome.is_err()) {
            // With a table like the source's, the replica goes on.
            make(replica, case.source);
            replica.start_thread(Thread::Sql);
            replica.catch_up(&source);
            replica.equals_by(&source, "SELECT * FROM d.t ORDER BY id");
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(converted > 15, "{converted} of the cases end with rows");
}

#[test]
fn full_images() {
    as_mysql_does(bench::instance::RowImage::Full);
}

#[test]
fn minimal_images() {
    as_mysql_does(bench::instance::RowImage::Minimal);
}
