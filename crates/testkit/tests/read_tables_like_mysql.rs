//! Tests that a table which a transaction has read keeps its definition until the transaction ends,
//! also where several threads have shared its rows, compared with MySQL.

use bench::instance::Settings;
use protocol::client::Client;
use testkit::Server;
use testkit::answers::shown;
use testkit::server::same_as_mysql;

/// Queries of one table that is large enough to be shared by threads.
const QUERIES: &[&str] = &[
    "SELECT SUM(v), COUNT(*) FROM t",
    "SELECT SUM(v) FROM t WHERE v > 1",
    "SELECT v, COUNT(*), MAX(id) FROM t GROUP BY v ORDER BY v",
    "SELECT COUNT(DISTINCT w) FROM t",
    "SELECT id, w FROM t WHERE v <> 3 ORDER BY w DESC, id LIMIT 3",
    "SELECT w, COUNT(*) FROM t WHERE w < 90 GROUP BY w HAVING COUNT(*) > 300 ORDER BY w LIMIT 4",
    "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.w",
];

fn answer(client: &mut Client, sql: &str) -> String {
    client.query(sql).map_or_else(|error| error.to_string(), |result| shown(&result))
}

#[test]
fn a_table_that_was_read_waits_with_its_changes() {
    let test = "read_tables_like_mysql::a_table_that_was_read_waits_with_its_changes";
    let lines = same_as_mysql(test, &Settings::default(), |server: &Server| {
        let (mut reader, mut other) = (server.connect(), server.connect());
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, w INT NOT NULL, KEY (w))",
            "SET cte_max_recursion_depth = 100000",
            "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 40000) \
             SELECT n, n % 7, n % 101 FROM r",
        ] {
            reader.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        answer(&mut other, "USE d");
        // A statement about the definition waits so long for those who read the table.
        answer(&mut other, "SET lock_wait_timeout = 1");
        let mut lines = Vec::new();
        for query in QUERIES {
            answer(&mut reader, "BEGIN");
            lines.push(format!("{query}: {}", answer(&mut reader, query)));
            lines.push(answer(&mut other, "ALTER TABLE t ADD COLUMN x INT, ALGORITHM = COPY"));
            lines.push(format!("again: {}", answer(&mut reader, query)));
            answer(&mut reader, "COMMIT");
        }
        lines
    });
    assert_eq!(lines.iter().filter(|line| line.contains("1205")).count(), QUERIES.len(), "{lines:?}");
}
