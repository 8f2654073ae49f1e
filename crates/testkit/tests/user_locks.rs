//! Tests of GET_LOCK() and the functions that belong to it, in several sessions, compared with
//! MySQL.

use bench::instance::{Flavor, RowImage, Settings};
use os::thread::JoinHandle;
use protocol::client::Client;
use protocol::command;
use std::time::Duration;
use testkit::Server;
use testkit::answers::{answer, answer_with_warnings, same_answers};
use testkit::following::{By, Pair};
use testkit::server::same_as_mysql;

const A_MOMENT: Duration = Duration::from_millis(20);

/// Runs a statement in another session while this one goes on. The thread returns the session and
/// its answer.
fn begin(mut session: Client, statement: &'static str) -> JoinHandle<(Client, String)> {
    os::thread::spawn("waits_for_a_lock", move || {
        let said = answer(&mut session, statement);
        (session, said)
    })
}

/// Runs a statement again and again until it has this answer.
fn until(asked: &mut Client, statement: &str, wanted: &str) {
    let wanted = format!("{statement}: {wanted}");
    while answer(asked, statement) != wanted {
        os::clock::sleep(A_MOMENT);
    }
}

/// Waits until another session runs this statement, which then waits for a lock that is taken.
fn until_it_runs(asked: &mut Client, statement: &str) {
    let running = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND INFO = '{}'",
        statement.replace('\'', "''")
    );
    until(asked, &running, "1");
}

#[test]
fn a_session_is_answered_as_by_mysql() {
    same_answers(
        "user_locks_of_a_session",
        &[
            "SELECT GET_LOCK('a', 0), GET_LOCK('A', 10), GET_LOCK('b', -1), GET_LOCK('c', NULL), GET_LOCK('d', 'x')",
            "SELECT IS_FREE_LOCK('a'), IS_FREE_LOCK('z'), IS_USED_LOCK('a') = CONNECTION_ID(), IS_USED_LOCK('z')",
            "SELECT RELEASE_LOCK('a'), RELEASE_LOCK('a'), RELEASE_LOCK('a'), RELEASE_LOCK('z')",
            "BEGIN",
            "COMMIT",
            "SELECT RELEASE_ALL_LOCKS(), RELEASE_ALL_LOCKS()",
            // Names of locks.
            "SELECT GET_LOCK(NULL, 0)",
            "SELECT GET_LOCK('', 0)",
            "SELECT RELEASE_LOCK(NULL)",
            "SELECT IS_FREE_LOCK('')",
            "SELECT IS_USED_LOCK(NULL)",
            "SELECT GET_LOCK(REPEAT('n', 64), 0), GET_LOCK(REPEAT('ä', 64), 0)",
            "SELECT GET_LOCK(REPEAT('n', 65), 0)",
            "SELECT GET_LOCK(REPEAT('n', 400), 0)",
            "SELECT RELEASE_LOCK(REPEAT('ä', 65))",
            "SELECT GET_LOCK('😀', 0)",
            "SELECT GET_LOCK('a😀b', 0)",
            "SELECT GET_LOCK(x'ff', 0)",
            "SELECT GET_LOCK(x'41ff0a7f', 0)",
            "SELECT GET_LOCK('ÄÖÉ', 0), IS_FREE_LOCK('äöé'), IS_FREE_LOCK('aoe'), IS_FREE_LOCK(_latin1 x'c4d6c9')",
            "SELECT GET_LOCK(' s', 0), IS_FREE_LOCK('s'), IS_FREE_LOCK(' s '), IS_FREE_LOCK(' s')",
            "SELECT GET_LOCK(17, 0), IS_FREE_LOCK('17'), GET_LOCK(x'41', 0), IS_FREE_LOCK('a')",
            "SELECT RELEASE_ALL_LOCKS()",
            // Numbers and values of arguments.
            "SELECT GET_LOCK('a')",
            "SELECT GET_LOCK('a', 0, 0)",
            "SELECT RELEASE_LOCK()",
            "SELECT RELEASE_ALL_LOCKS(1)",
            "SELECT IS_USED_LOCK()",
            "SELECT GET_LOCK('a', 1e30), GET_LOCK('a', 0.5), GET_LOCK('a', 18446744073709551615)",
            "SELECT RELEASE_ALL_LOCKS()",
            // The functions run once for each row, and not before the statement runs.
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))",
            "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'X')",
            "SELECT id, GET_LOCK(name, 0), GET_LOCK('same', 0) FROM t ORDER BY id",
            "SELECT id FROM t WHERE IS_FREE_LOCK(name) ORDER BY id",
            "SELECT id, RELEASE_LOCK(name), RELEASE_LOCK('same') FROM t ORDER BY id",
            "SELECT RELEASE_ALL_LOCKS()",
            "PREPARE p FROM 'SELECT GET_LOCK(?, ?), RELEASE_LOCK(?)'",
            "SET @name = 'p', @time = 0",
            "EXECUTE p USING @name, @time, @name",
            "EXECUTE p USING @name, @time, @name",
            "DO GET_LOCK('done', 0)",
            "SELECT RELEASE_LOCK('done')",
            // The types of the functions' results.
            "CREATE TABLE types SELECT GET_LOCK('a', 0) AS g, IS_FREE_LOCK('a') AS f, IS_USED_LOCK('a') AS u, RELEASE_LOCK('a') AS r, NULLIF(RELEASE_ALL_LOCKS(), 7) AS l",
            "SHOW CREATE TABLE types",
            "SELECT RELEASE_ALL_LOCKS()",
            // No definition may contain these functions.
            "CREATE TABLE g (a INT, b INT AS (GET_LOCK('a', 0)))",
            "CREATE TABLE g (a INT, b INT AS (IS_FREE_LOCK('a')))",
            "CREATE TABLE g (a INT, b INT AS (RELEASE_ALL_LOCKS()))",
            "CREATE TABLE g (a INT, CHECK (IS_USED_LOCK('a') > 0))",
            "CREATE TABLE g (a INT, CHECK (RELEASE_LOCK('a') > 0))",
            "CREATE TABLE g (a INT DEFAULT (GET_LOCK('a', 0)))",
            "CREATE TABLE g (a INT DEFAULT (IS_FREE_LOCK('a')))",
            "CREATE TABLE g (a INT DEFAULT (RELEASE_ALL_LOCKS()))",
            "CREATE TABLE g (a INT, KEY ((RELEASE_LOCK('a'))))",
            // A replica may compute something else for these statements.
            "SET SESSION binlog_format = 'STATEMENT'",
            "INSERT INTO t VALUES (4, GET_LOCK('a', 0))",
            "UPDATE t SET name = IS_USED_LOCK('z') WHERE id = 4",
            "DELETE FROM t WHERE id = 4 AND RELEASE_ALL_LOCKS() = 1",
        ],
    );
}

#[test]
fn sessions_wait_for_each_other_as_in_mysql() {
    same_as_mysql("user_locks_between_sessions", &Settings::default(), |server: &Server| {
        let (mut one, mut two) = (server.connect(), server.connect());
        let mut said = Vec::new();
        said.push(answer(&mut one, "SELECT GET_LOCK('a', 0), GET_LOCK('a', 0), GET_LOCK('k', 0)"));
        for statement in [
            "SELECT GET_LOCK('A', 0), GET_LOCK('b', 0), IS_FREE_LOCK('a'), RELEASE_LOCK('a')",
            "SELECT IS_USED_LOCK('a') = CONNECTION_ID(), IS_USED_LOCK('a') IS NULL, RELEASE_ALL_LOCKS()",
            "SELECT GET_LOCK('a', 1)",
        ] {
            said.push(answer(&mut two, statement));
        }
        // The lock is handed over once it was released as often as it was taken.
        const WAIT: &str = "SELECT GET_LOCK('a', -1), GET_LOCK('a', 0)";
        let waits = begin(two, WAIT);
        until_it_runs(&mut one, WAIT);
        said.push(answer(&mut one, "SELECT RELEASE_LOCK('a'), IS_USED_LOCK('a') = CONNECTION_ID()"));
        said.push(answer(&mut one, "SELECT RELEASE_LOCK('a')"));
        let (two, answered) = waits.join().expect("is answered");
        said.push(answered);
        said.push(answer(&mut one, "SELECT IS_FREE_LOCK('a'), RELEASE_LOCK('a')"));
        // In a deadlock, the session that closes the circle gets an error, and the other one goes
        // on. There is no deadlock without a wait.
        const CIRCLE: &str = "SELECT GET_LOCK('k', 1000)";
        let waits = begin(two, CIRCLE);
        until_it_runs(&mut one, CIRCLE);
        said.push(answer(&mut one, "SELECT GET_LOCK('a', 0)"));
        // The other session may not have begun to wait yet.
        loop {
            let answered = answer(&mut one, "SELECT GET_LOCK('a', 1)");
            if !answered.ends_with(": 0") {
                said.push(answered);
                break;
            }
        }
        said.push(answer(&mut one, "SELECT RELEASE_LOCK('k')"));
        let (two, answered) = waits.join().expect("is answered");
        said.push(answered);
        // KILL and a time limit end a wait.
        said.push(answer(&mut one, "SELECT GET_LOCK('b', 0)"));
        const KILLED: &str = "SELECT GET_LOCK('b', -1)";
        let id = two.connection_id();
        let waits = begin(two, KILLED);
        until_it_runs(&mut one, KILLED);
        while !waits.is_finished() {
            one.query(&format!("KILL QUERY {id}")).expect("the session is there");
            os::clock::sleep(A_MOMENT);
        }
        let (mut two, answered) = waits.join().expect("is answered");
        said.push(answered);
        said.push(answer(&mut two, "SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('b', -1)"));
        said.push(answer_with_warnings(&mut two, "DO GET_LOCK('b', 0)"));
        said.push(answer(&mut two, "SELECT RELEASE_ALL_LOCKS()"));
        said
    });
}

#[test]
fn locks_end_with_their_session_as_in_mysql() {
    const TAKE: &str = "SELECT GET_LOCK('a', 0), GET_LOCK('b', 0)";
    const ARE_FREE: &str = "SELECT IS_FREE_LOCK('a') + IS_FREE_LOCK('b')";
    same_as_mysql("user_locks_end", &Settings::default(), |server: &Server| {
        let (mut one, mut two) = (server.connect(), server.connect());
        server.run("CREATE USER u IDENTIFIED BY 'right'");
        let mut said = vec![answer(&mut one, TAKE)];
        one.command(command::RESET_CONNECTION, &[]).expect("it is reset");
        said.push(answer(&mut two, ARE_FREE));
        said.push(answer(&mut one, TAKE));
        one.change_user("u", "right", "").expect("it is let in");
        said.push(answer(&mut two, ARE_FREE));
        said.push(answer(&mut one, TAKE));
        const WAIT: &str = "SELECT GET_LOCK('a', -1)";
        let waits = begin(server.connect(), WAIT);
        until_it_runs(&mut two, WAIT);
        one.quit();
        let (waiter, answered) = waits.join().expect("is answered");
        said.push(answered);
        drop(waiter);
        until(&mut two, ARE_FREE, "2");
        // A session is killed, with its locks, while it waits.
        let mut three = server.connect();
        said.push(answer(&mut two, "SELECT GET_LOCK('c', 0)"));
        said.push(answer(&mut three, TAKE));
        let id = three.connection_id();
        let killed = os::thread::spawn("is_killed", move || three.query("SELECT GET_LOCK('c', -1)").is_err());
        until_it_runs(&mut two, "SELECT GET_LOCK('c', -1)");
        said.push(answer(&mut two, &format!("KILL {id}")).replace(&id.to_string(), "N"));
        said.push(format!("{}", killed.join().expect("it ends")));
        until(&mut two, ARE_FREE, "2");
        said.push(answer(&mut two, "SELECT RELEASE_ALL_LOCKS()"));
        said
    });
}

/// An applier repeats the statement without waiting for the lock that a session of its own server
/// has.
#[test]
fn an_applier_waits_for_no_lock() {
    let pair = Pair::start(Flavor::Slipstream, Flavor::Slipstream, RowImage::Full, By::Gtid);
    let mut session = pair.replica.connect();
    assert_eq!(answer(&mut session, "DO GET_LOCK('a', 0)"), "DO GET_LOCK('a', 0): ");
    pair.source.run("CREATE DATABASE l");
    pair.source.run("CREATE TABLE l.t (a INT)");
    let mut writer = pair.source.connect();
    writer.query("SET SESSION binlog_format = 'STATEMENT'").expect("it may");
    writer.query("INSERT INTO l.t VALUES (GET_LOCK('a', -1))").expect("it is free");
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT a FROM l.t"), ["1"]);
}
