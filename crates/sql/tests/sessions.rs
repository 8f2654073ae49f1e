//! Tests of transactions, prepared statements and several sessions on one engine.

mod support;

use sql::{ColumnMeta, EndOfRows, OkInfo, ResultSink, SqlError};
use support::{TextSink, engine, outcome, rows, run, session};
use types::Value;

#[test]
fn the_statements_of_sysbench() {
    let engine = engine();
    let mut s = session(&engine);
    run(
        &mut s,
        "CREATE TABLE sbtest1(\n id INTEGER NOT NULL AUTO_INCREMENT,\n k INTEGER DEFAULT '0' NOT NULL,\n c CHAR(120) \
         DEFAULT '' NOT NULL,\n pad CHAR(60) DEFAULT '' NOT NULL,\n PRIMARY KEY (id)\n) /*! ENGINE = innodb */ ",
    );
    let values: Vec<String> = (1..=500).map(|i| format!("({}, 'c{}', 'pad{i}')", i % 50, i % 7)).collect();
    run(&mut s, &format!("INSERT INTO sbtest1(k, c, pad) VALUES{}", values.join(", ")));
    run(&mut s, "CREATE INDEX k_1 ON sbtest1(k)");
    let prepare = |s: &mut sql::Session, text: &str| s.prepare(text.as_bytes()).unwrap().id;
    let begin = prepare(&mut s, "BEGIN");
    let commit = prepare(&mut s, "COMMIT");
    let point = prepare(&mut s, "SELECT c FROM sbtest1 WHERE id=?");
    let sum = prepare(&mut s, "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?");
    let distinct = prepare(&mut s, "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c");
    let index_update = prepare(&mut s, "UPDATE sbtest1 SET k=k+1 WHERE id=?");
    let update = prepare(&mut s, "UPDATE sbtest1 SET c=? WHERE id=?");
    let delete = prepare(&mut s, "DELETE FROM sbtest1 WHERE id=?");
    let insert = prepare(&mut s, "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)");
    let mut execute = |id: u32, parameters: &[Value]| {
        let mut sink = TextSink::default();
        s.execute_prepared(id, parameters, &mut sink).unwrap();
        (sink.lines, sink.ok.affected_rows)
    };
    execute(begin, &[]);
    assert_eq!(execute(point, &[Value::Int(9)]).0, ["c2"]);
    assert_eq!(execute(sum, &[Value::Int(1), Value::Int(10)]).0, ["55"]);
    assert_eq!(execute(distinct, &[Value::Int(1), Value::Int(3)]).0, ["c1", "c2", "c3"]);
    assert_eq!(execute(index_update, &[Value::Int(9)]).1, 1);
    assert_eq!(execute(update, &[Value::text("new"), Value::Int(9)]).1, 1);
    assert_eq!(execute(delete, &[Value::Int(10)]).1, 1);
    assert_eq!(execute(insert, &[Value::Int(10), Value::Int(3), Value::text("c"), Value::text("p")]).1, 1);
    execute(commit, &[]);
    assert_eq!(rows(&mut s, "SELECT * FROM sbtest1 WHERE id IN (9, 10)"), ["9|10|new|pad9", "10|3|c|p"]);
    assert_eq!(
        rows(&mut s, "SELECT count(k) FROM sbtest1 WHERE k BETWEEN 1 AND 2 OR k BETWEEN 40 AND 41"),
        ["40"]
    );
    assert_eq!(
        rows(&mut s, "SELECT AVG(id) FROM (SELECT * FROM sbtest1 FORCE KEY (PRIMARY) LIMIT 3) t"),
        ["2.0000"]
    );
    assert_eq!(
        rows(&mut s, "SELECT id FROM sbtest1 WHERE k IN (3) ORDER BY id DESC LIMIT 2"),
        ["453", "403"]
    );
}

#[test]
fn long_chains_are_carried_out() {
    let engine = engine();
    let mut s = session(&engine);
    let unions = |count: usize| format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(count));
    assert_eq!(rows(&mut s, &unions(5_000)).len(), 5_001);
    let and = |count: usize| format!("SELECT 1{}", " AND 1".repeat(count));
    assert_eq!(rows(&mut s, &and(20_000)), ["1"]);
}

#[test]
fn a_text_of_many_statements_is_read_once() {
    let engine = engine();
    let mut s = session(&engine);
    // Each of these texts would take minutes if every statement read all that follow it.
    let selects = "DO 1; ".repeat(60_000);
    run(&mut s, &selects);
    run(&mut s, "CREATE TABLE t (a INT, b VARCHAR(9))");
    run(&mut s, &"INSERT INTO t VALUES (1, 'x'); ".repeat(20_000));
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM t"), ["20000"]);
    // Comments after the last semicolon are no statement. An error further on is found only when it
    // is reached.
    run(&mut s, "DO 1; -- nothing\n /* nothing */ ");
    let answer = outcome(&mut s, "DELETE FROM t; SELECT 'open").join("");
    assert!(answer.starts_with("ERROR 1064"), "{answer}");
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM t"), ["0"]);
}

#[test]
fn a_transaction_is_seen_when_it_commits() {
    let engine = engine();
    let (mut a, mut b) = (session(&engine), session(&engine));
    run(&mut a, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&mut a, "BEGIN; INSERT INTO t VALUES (1, 1)");
    assert_eq!(rows(&mut a, "SELECT * FROM t"), ["1|1"]);
    assert!(rows(&mut b, "SELECT * FROM t").is_empty());
    run(&mut a, "SAVEPOINT s; INSERT INTO t VALUES (2, 2); ROLLBACK TO s; COMMIT");
    assert_eq!(rows(&mut b, "SELECT * FROM t"), ["1|1"]);
    run(&mut b, "SET autocommit = 0; UPDATE t SET v = 9");
    assert_eq!(rows(&mut a, "SELECT v FROM t"), ["1"]);
    run(&mut b, "SET autocommit = 1");
    assert_eq!(rows(&mut a, "SELECT v FROM t"), ["9"]);
}

#[test]
fn a_failed_statement_leaves_nothing_and_the_transaction_goes_on() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (id INT PRIMARY KEY)");
    run(&mut s, "BEGIN; INSERT INTO t VALUES (1)");
    let failed = outcome(&mut s, "INSERT INTO t VALUES (2), (1), (3)");
    assert_eq!(failed, ["ERROR 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'"]);
    run(&mut s, "INSERT INTO t VALUES (4); COMMIT");
    assert_eq!(rows(&mut s, "SELECT * FROM t"), ["1", "4"]);
}

#[test]
fn a_lock_is_waited_for_until_its_timeout() {
    let engine = engine();
    let (mut a, mut b) = (session(&engine), session(&engine));
    run(&mut a, "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
    run(&mut a, "BEGIN; SELECT * FROM t WHERE id = 1 FOR UPDATE");
    run(&mut b, "SET innodb_lock_wait_timeout = 1");
    assert!(outcome(&mut b, "UPDATE t SET v = 2")[0].starts_with("ERROR 1205"));
    assert_eq!(rows(&mut b, "SELECT v FROM t"), ["1"]);
    run(&mut a, "COMMIT");
    run(&mut b, "UPDATE t SET v = 2");
}

#[test]
fn prepared_plans_follow_the_table() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10)");
    let id = s.prepare(b"SELECT v FROM t WHERE id = ?").unwrap().id;
    let mut sink = TextSink::default();
    s.execute_prepared(id, &[Value::Int(1)], &mut sink).unwrap();
    run(&mut s, "ALTER TABLE t ADD COLUMN first INT DEFAULT 5 FIRST");
    let mut sink = TextSink::default();
    s.execute_prepared(id, &[Value::Int(1)], &mut sink).unwrap();
    assert_eq!(sink.lines, ["10"]);
    run(&mut s, "DROP TABLE t");
    let error = s.execute_prepared(id, &[Value::Int(1)], &mut TextSink::default()).unwrap_err();
    assert_eq!(error.code, 1146);
    assert_eq!(s.execute_prepared(99, &[], &mut TextSink::default()).unwrap_err().code, 1243);
}

#[test]
fn text_statements_are_cached_and_follow_settings() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE SCHEMA other; CREATE TABLE t (v INT); INSERT INTO t VALUES (1)");
    run(&mut s, "CREATE TABLE other.t (v INT); INSERT INTO other.t VALUES (2)");
    for _ in 0..3 {
        assert_eq!(rows(&mut s, "SELECT v FROM t"), ["1"]);
    }
    run(&mut s, "USE other");
    assert_eq!(rows(&mut s, "SELECT v FROM t"), ["2"]);
}

#[test]
fn generated_values() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    assert_eq!(run(&mut s, "INSERT INTO t (v) VALUES (1), (2)").ok.last_insert_id, 1);
    assert_eq!(run(&mut s, "INSERT INTO t VALUES (0, 3), (NULL, 4)").ok.last_insert_id, 3);
    assert_eq!(run(&mut s, "INSERT INTO t VALUES (10, 5)").ok.last_insert_id, 10);
    assert_eq!(rows(&mut s, "SELECT LAST_INSERT_ID()"), ["3"]);
    assert_eq!(run(&mut s, "INSERT INTO t (v) VALUES (6)").ok.last_insert_id, 11);
    assert_eq!(rows(&mut s, "SELECT LAST_INSERT_ID()"), ["11"]);
    run(&mut s, "SET auto_increment_increment = 10, auto_increment_offset = 3");
    assert_eq!(run(&mut s, "INSERT INTO t (v) VALUES (7), (8)").ok.last_insert_id % 10, 3);
    let ids = rows(&mut s, "SELECT id FROM t WHERE v IN (7, 8)");
    assert!(ids.iter().all(|id| id.ends_with('3')) && ids.len() == 2, "{ids:?}");
}

#[test]
fn nesting_ends_with_an_error_before_the_stack_does() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    for (open, close) in
        [("ABS(", ")"), ("IF(1,", ",2)"), ("-(", ")"), ("(SELECT ", ")"), ("CASE WHEN 1 THEN ", " END")]
    {
        let mut refused = false;
        for depth in [10, 100, 200, 240, 400, 20_000] {
            let text = format!("SELECT {}a{} FROM t", open.repeat(depth), close.repeat(depth));
            let answer = outcome(&mut s, &text).join("");
            refused |= answer.starts_with("ERROR 1436");
            assert!(answer.starts_with("ERROR 1436") || !refused, "{open} {depth}: {answer}");
        }
        assert!(refused, "{open} nests without end");
    }
}

#[test]
fn text_in_the_clients_character_set() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a VARCHAR(10)); SET NAMES latin1");
    let mut sink = TextSink::default();
    s.execute(b"INSERT INTO t VALUES ('caf\xe9')", &mut sink).unwrap();
    run(&mut s, "SET NAMES utf8mb4");
    assert_eq!(rows(&mut s, "SELECT a, HEX(a) FROM t"), ["café|636166C3A9"]);
}

#[test]
fn a_correlated_in_or_exists_reads_an_index() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a INT); CREATE TABLE u (id INT PRIMARY KEY, b INT, c INT, KEY (b))");
    run(
        &mut s,
        "INSERT INTO t VALUES (1), (2), (NULL); INSERT INTO u VALUES (1, 1, 1), (2, 2, NULL), (3, NULL, 3)",
    );
    let exists = "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.b = t.a)";
    assert_eq!(rows(&mut s, exists), ["1", "2"]);
    let found = "SELECT a, a IN (SELECT b FROM u WHERE c = a) FROM t";
    assert_eq!(rows(&mut s, found), ["1|1", "2|0", "NULL|0"]);
    let plan = rows(&mut s, &format!("EXPLAIN FORMAT=TRADITIONAL {found}"));
    assert!(plan.iter().any(|row| row.contains("SUBQUERY|u") && row.contains("|b|")), "{plan:?}");
    // EXISTS in WHERE becomes a semi-join.
    let plan = rows(&mut s, &format!("EXPLAIN FORMAT=TRADITIONAL {exists}"));
    assert!(plan.iter().any(|row| row.starts_with("1|SIMPLE|u|") && row.contains("FirstMatch")), "{plan:?}");
}

#[test]
fn a_subquery_of_a_subquery_compares_with_what_is_around_both() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a INT); CREATE TABLE u (b INT); INSERT INTO t VALUES (1), (2)");
    run(&mut s, "INSERT INTO u VALUES (2), (3)");
    // The inner IN has no outer arguments of its own: its operand is a column of the outermost
    // query.
    let query = "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t.a IN (SELECT b FROM u))";
    assert_eq!(rows(&mut s, query), ["2"]);
}

#[test]
fn a_prepared_subquery_has_its_parameters_and_the_tables_of_now() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a INT); CREATE TABLE u (b INT, c INT); INSERT INTO t VALUES (1), (2)");
    run(&mut s, "INSERT INTO u VALUES (1, 5), (2, 6), (2, 7)");
    run(&mut s, "PREPARE p FROM 'SELECT a, (SELECT COUNT(*) FROM u WHERE u.b = t.a AND u.c > ?) FROM t'");
    run(&mut s, "SET @least = 5");
    assert_eq!(rows(&mut s, "EXECUTE p USING @least"), ["1|0", "2|2"]);
    run(&mut s, "SET @least = 6; ALTER TABLE u ADD KEY (b)");
    assert_eq!(rows(&mut s, "EXECUTE p USING @least"), ["1|0", "2|1"]);
    run(&mut s, "ALTER TABLE u DROP COLUMN c");
    let answer = outcome(&mut s, "EXECUTE p USING @least").join("");
    assert_eq!(answer, "ERROR 1054 (42S22): Unknown column 'u.c' in 'where clause'");
}

#[test]
fn insert_select_locks_what_it_reads_as_the_isolation_level_says() {
    let engine = engine();
    let (mut a, mut b) = (session(&engine), session(&engine));
    run(&mut a, "CREATE TABLE t (id INT PRIMARY KEY, v INT); CREATE TABLE u (id INT PRIMARY KEY, v INT)");
    run(&mut a, "INSERT INTO t VALUES (1, 1), (2, 2)");
    run(&mut b, "SET innodb_lock_wait_timeout = 1");
    run(&mut a, "BEGIN; SELECT v FROM t WHERE id = 1");
    run(&mut b, "UPDATE t SET v = 7 WHERE id = 1");
    // The SELECT part reads what is committed now, not what the snapshot saw, and locks it.
    run(&mut a, "INSERT INTO u SELECT id, v FROM t WHERE id = 1");
    assert_eq!(rows(&mut a, "SELECT v FROM u"), ["7"]);
    assert!(outcome(&mut b, "UPDATE t SET v = 8 WHERE id = 1")[0].starts_with("ERROR 1205"));
    run(&mut b, "UPDATE t SET v = 8 WHERE id = 2");
    run(&mut a, "ROLLBACK; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    run(&mut a, "BEGIN; INSERT INTO u SELECT id, v FROM t WHERE id = 1");
    run(&mut b, "UPDATE t SET v = 9 WHERE id = 1");
    run(&mut a, "COMMIT");
    assert_eq!(rows(&mut a, "SELECT * FROM u"), ["1|7"]);
}

#[test]
fn a_new_foreign_key_counts_for_the_rows_that_are_there() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE p (id INT PRIMARY KEY, u INT UNIQUE); INSERT INTO p VALUES (1, 10)");
    run(
        &mut s,
        "CREATE TABLE c (id INT PRIMARY KEY, a INT, b INT); INSERT INTO c VALUES (1, 1, NULL), (2, NULL, 7)",
    );
    let number =
        |s: &mut sql::Session, text: &str| outcome(s, text).join("").split(' ').nth(1).map(str::to_owned);
    let refused = Some("1452".to_owned());
    run(&mut s, "ALTER TABLE c ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)");
    assert_eq!(number(&mut s, "ALTER TABLE c ADD FOREIGN KEY (b) REFERENCES p (id)"), refused);
    // The check holds whether ALTER copies the rows into a new table or leaves them. As in MySQL, a
    // new foreign key cannot take the name of one that the same statement drops.
    assert_eq!(
        number(&mut s, "ALTER TABLE c ADD x INT FIRST, ADD FOREIGN KEY (b) REFERENCES p (id)"),
        refused
    );
    let same_name = "ALTER TABLE c DROP FOREIGN KEY f, ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (u)";
    assert_eq!(number(&mut s, same_name), Some("1826".to_owned()));
    let other = "ALTER TABLE c DROP FOREIGN KEY f, ADD CONSTRAINT g FOREIGN KEY (a) REFERENCES p (u)";
    assert_eq!(number(&mut s, other), refused);
    assert_eq!(number(&mut s, "INSERT INTO c VALUES (3, 9, NULL)"), refused);
    run(&mut s, "SET foreign_key_checks = 0");
    run(&mut s, other);
    run(&mut s, "SET foreign_key_checks = 1; ALTER TABLE c RENAME TO d");
    assert_eq!(number(&mut s, "INSERT INTO d VALUES (3, 1, NULL)"), refused);
    run(&mut s, "INSERT INTO d VALUES (3, 10, NULL)");
}

/// Several sessions create the same table at once with IF NOT EXISTS, and none of them gets an
/// error.
#[test]
fn create_table_if_not_exists_fails_for_no_session() {
    const ROUNDS: usize = 60;
    let engine = engine();
    let mut first = session(&engine);
    for round in 0..ROUNDS {
        let text = format!("CREATE TABLE IF NOT EXISTS t{round} (id INT PRIMARY KEY, v INT, KEY (v))");
        let barrier = std::sync::Barrier::new(3);
        let said: Vec<Vec<String>> = std::thread::scope(|scope| {
            let sessions: Vec<_> = (0..3)
                .map(|_| {
                    let (mut s, text, barrier) = (session(&engine), &text, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        outcome(&mut s, text)
                    })
                })
                .collect();
            sessions.into_iter().map(|session| session.join().expect("no panic")).collect()
        });
        assert_eq!(said.concat(), Vec::<String>::new(), "round {round}");
        run(&mut first, &format!("DROP TABLE t{round}"));
    }
}

/// A sink that passes rows on and runs `then` once, when the first row comes.
struct AtFirstRow<F: FnMut()> {
    then: Option<F>,
    sink: TextSink,
    descriptions: usize,
}

impl<F: FnMut()> ResultSink for AtFirstRow<F> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        self.descriptions += 1;
        self.sink.columns(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        if let Some(mut then) = self.then.take() {
            then();
        }
        self.sink.row(row)
    }

    fn end_rows(&mut self, end: EndOfRows) -> Result<(), SqlError> {
        self.sink.end_rows(end)
    }

    fn ok(&mut self, info: &mut OkInfo) -> Result<(), SqlError> {
        self.sink.ok(info)
    }
}

#[test]
fn no_table_of_a_query_changes_between_its_first_row_and_its_last() {
    let engine = engine();
    let (mut reader, mut definer) = (session(&engine), session(&engine));
    run(&mut reader, "CREATE TABLE a (n INT); CREATE TABLE b (n INT)");
    run(&mut reader, "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (3)");
    run(&mut definer, "SET lock_wait_timeout = 1");
    let mut answer = Vec::new();
    let mut sink = AtFirstRow {
        then: Some(|| answer = outcome(&mut definer, "ALTER TABLE b ADD COLUMN m INT FIRST")),
        sink: TextSink::default(),
        descriptions: 0,
    };
    reader.execute(b"SELECT n FROM a UNION ALL SELECT n FROM b", &mut sink).unwrap();
    assert_eq!((sink.descriptions, &sink.sink.lines[..]), (1, &["1", "2", "3"].map(String::from)[..]));
    assert_eq!(answer, ["ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction"]);
    assert_eq!(outcome(&mut definer, "ALTER TABLE b ADD COLUMN m INT FIRST"), Vec::<String>::new());
}
