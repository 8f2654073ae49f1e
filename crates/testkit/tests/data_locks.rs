//! Tests that `performance_schema.data_locks` and `data_lock_waits` show what MySQL shows.

use bench::instance::{Flavor, Settings};
use testkit::{Server, available};

/// What one session runs, what another session then waits with (empty if nobody waits), and the
/// locks that are shown.
struct Scene {
    holds: &'static str,
    waits: &'static str,
    shown: &'static str,
}

const SHOWN: &str = "SELECT OBJECT_SCHEMA, OBJECT_NAME, IFNULL(INDEX_NAME, '-'), LOCK_TYPE, LOCK_MODE, LOCK_STATUS, IFNULL(LOCK_DATA, '-') \
     FROM performance_schema.data_locks ORDER BY LOCK_TYPE DESC, LOCK_STATUS, LOCK_MODE, LOCK_DATA";

const SCENES: &[Scene] = &[
    Scene {
        holds: "UPDATE d.t SET v = v + 1 WHERE id = 5",
        waits: "",
        shown: "d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,REC_NOT_GAP GRANTED 5",
    },
    Scene {
        holds: "SELECT * FROM d.t WHERE id = 5 FOR SHARE",
        waits: "",
        shown: "d t - TABLE IS GRANTED -; d t PRIMARY RECORD S,REC_NOT_GAP GRANTED 5",
    },
    Scene { holds: "SELECT * FROM d.t WHERE id = 5", waits: "", shown: "" },
    Scene {
        holds: "SELECT * FROM d.t WHERE id = 7 FOR UPDATE",
        waits: "",
        shown: "d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,GAP GRANTED 9",
    },
    Scene {
        holds: "SELECT * FROM d.t WHERE id = 100 FOR UPDATE",
        waits: "",
        shown: "d t - TABLE IX GRANTED -; d t PRIMARY RECORD X GRANTED supremum pseudo-record",
    },
    Scene {
        holds: "SELECT * FROM d.t WHERE id BETWEEN 2 AND 6 FOR UPDATE",
        waits: "",
        shown: "d t - TABLE IX GRANTED -; d t PRIMARY RECORD X GRANTED 5; d t PRIMARY RECORD X,GAP GRANTED 9",
    },
    Scene {
        holds: "SELECT * FROM d.t FOR UPDATE",
        waits: "",
        shown: "d t - TABLE IX GRANTED -; d t PRIMARY RECORD X GRANTED 1; d t PRIMARY RECORD X GRANTED 5; \
                d t PRIMARY RECORD X GRANTED 9; d t PRIMARY RECORD X GRANTED supremum pseudo-record",
    },
    Scene { holds: "INSERT INTO d.t VALUES (6, 60)", waits: "", shown: "d t - TABLE IX GRANTED -" },
    Scene {
        holds: "INSERT INTO d.t VALUES (6, 60)",
        waits: "SELECT * FROM d.t WHERE id = 6 FOR UPDATE",
        shown: "d t - TABLE IX GRANTED -; d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,REC_NOT_GAP GRANTED 6; \
                d t PRIMARY RECORD X,REC_NOT_GAP WAITING 6",
    },
    Scene {
        holds: "UPDATE d.t SET v = 0 WHERE id = 5",
        waits: "UPDATE d.t SET v = 1 WHERE id = 5",
        shown: "d t - TABLE IX GRANTED -; d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,REC_NOT_GAP GRANTED 5; \
                d t PRIMARY RECORD X,REC_NOT_GAP WAITING 5",
    },
    Scene {
        holds: "UPDATE d.t SET v = 0 WHERE id = 5",
        waits: "SELECT * FROM d.t WHERE id = 5 FOR SHARE",
        shown: "d t - TABLE IS GRANTED -; d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,REC_NOT_GAP GRANTED 5; \
                d t PRIMARY RECORD S,REC_NOT_GAP WAITING 5",
    },
    Scene {
        holds: "SELECT * FROM d.t WHERE id = 7 FOR UPDATE",
        waits: "INSERT INTO d.t VALUES (6, 60)",
        shown: "d t - TABLE IX GRANTED -; d t - TABLE IX GRANTED -; d t PRIMARY RECORD X,GAP GRANTED 9; \
                d t PRIMARY RECORD X,GAP,INSERT_INTENTION WAITING 9",
    },
    Scene {
        holds: "SELECT * FROM d.t WHERE id = 50 FOR UPDATE",
        waits: "INSERT INTO d.t VALUES (60, 60)",
        shown: "d t - TABLE IX GRANTED -; d t - TABLE IX GRANTED -; d t PRIMARY RECORD X GRANTED supremum pseudo-record; \
                d t PRIMARY RECORD X,INSERT_INTENTION WAITING supremum pseudo-record",
    },
    Scene {
        holds: "UPDATE d.s SET v = 0 WHERE a = 'x' AND b = -3",
        waits: "",
        shown: "d s - TABLE IX GRANTED -; d s PRIMARY RECORD X,REC_NOT_GAP GRANTED 'x', -3",
    },
];

const WAITS: &str = "SELECT r.LOCK_DATA, r.LOCK_MODE, r.LOCK_STATUS, b.LOCK_STATUS, \
     r.ENGINE_TRANSACTION_ID = w.REQUESTING_ENGINE_TRANSACTION_ID, b.ENGINE_TRANSACTION_ID = w.BLOCKING_ENGINE_TRANSACTION_ID, \
     rt.PROCESSLIST_ID, bt.PROCESSLIST_ID \
     FROM performance_schema.data_lock_waits w \
     JOIN performance_schema.data_locks r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID \
     JOIN performance_schema.data_locks b ON b.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID \
     JOIN performance_schema.threads rt ON rt.THREAD_ID = w.REQUESTING_THREAD_ID \
     JOIN performance_schema.threads bt ON bt.THREAD_ID = w.BLOCKING_THREAD_ID";

fn shown(server: &Server) -> String {
    server.rows(SHOWN).iter().map(|row| row.replace('\t', " ")).collect::<Vec<_>>().join("; ")
}

/// Plays a scene. Returns the locks that were shown and, if a session waits, the rows about the
/// wait with the ids of both sessions.
fn play(server: &Server, scene: &Scene) -> (String, Option<(Vec<String>, String)>) {
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    let id = |client: &mut protocol::client::Client| {
        let row = client.query("SELECT CONNECTION_ID()").expect("it has one").rows.remove(0);
        String::from_utf8(row[0].clone().expect("a number")).expect("digits")
    };
    let ids = format!("{}\t{}", id(&mut waiter), id(&mut holder));
    holder.query("BEGIN").expect("a transaction");
    holder.query(scene.holds).expect("nobody is in the way");
    if scene.waits.is_empty() {
        let seen = shown(server);
        holder.query("ROLLBACK").expect("it ends");
        return (seen, None);
    }
    let sql = scene.waits;
    waiter.query("BEGIN").expect("a transaction");
    let waiting = os::thread::spawn("waiter", move || {
        waiter.query(sql).expect("it gets the lock");
        waiter.query("ROLLBACK").expect("it ends");
    });
    while server.rows("SELECT 1 FROM performance_schema.data_lock_waits").is_empty() {
        os::thread::yield_now();
    }
    let (seen, waits) = (shown(server), server.rows(WAITS));
    holder.query("ROLLBACK").expect("it ends");
    waiting.join().expect("no panic");
    (seen, Some((waits, ids)))
}

fn shows_what_mysql_shows(flavor: Flavor) {
    let extra = vec!["--performance-schema=ON".to_string()];
    let server = Server::start(flavor, &Settings { extra, ..Settings::default() });
    let mut client = server.connect();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE d.s (a VARCHAR(10), b INT, v INT, PRIMARY KEY (a, b))",
        "INSERT INTO d.t VALUES (1, 10), (5, 50), (9, 90)",
        "INSERT INTO d.s VALUES ('x', -3, 1), ('y', 4, 2)",
    ] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for scene in SCENES {
        let (seen, waits) = play(&server, scene);
        assert_eq!(seen, scene.shown, "{flavor}: {} / {}", scene.holds, scene.waits);
        let Some((waits, ids)) = waits else { continue };
        let [wait] = &waits[..] else { panic!("{flavor}: {} / {}: {waits:?}", scene.holds, scene.waits) };
        // MySQL names the thread that made the lock known. If a row was being inserted, that is the
        // thread that waits.
        let of_holder = if flavor == Flavor::MySql && scene.holds.starts_with("INSERT") {
            wait.starts_with("6\tX,REC_NOT_GAP\tWAITING\tGRANTED\t1\t1\t")
        } else {
            wait.ends_with(&format!("WAITING\tGRANTED\t1\t1\t{ids}"))
        };
        assert!(of_holder, "{flavor}: {wait}, of {ids}");
    }
    assert_eq!(server.rows(SHOWN), Vec::<String>::new(), "everybody has ended");
}

#[test]
fn slipstream_shows_its_locks() {
    shows_what_mysql_shows(Flavor::Slipstream);
}

#[test]
fn mysql_shows_the_same() {
    if available("mysql_shows_the_same", &[Flavor::MySql]) {
        shows_what_mysql_shows(Flavor::MySql);
    }
}
