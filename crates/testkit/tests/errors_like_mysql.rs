//! Tests that performance_schema counts the errors and warnings of statements as MySQL does.

use bench::instance::Settings;
use protocol::client::{Client, ConnectOptions};
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

const SHOWN: &str = "error_number, error_name, sql_state, sum_error_raised, sum_error_handled, \
                     ABS(TIMESTAMPDIFF(MINUTE, first_seen, NOW())) < 60, last_seen >= first_seen";

/// Returns what there was of errors in one of the tables.
fn seen(server: &Server, table: &str, of: &str) -> Vec<String> {
    server.rows(&format!(
        "SELECT {SHOWN} FROM performance_schema.events_errors_summary_{table}_by_error WHERE {of} \
         AND (sum_error_raised > 0 OR sum_error_handled > 0) ORDER BY error_number"
    ))
}

#[test]
fn errors_are_counted_where_they_are_raised_and_handled() {
    let test = "errors_like_mysql::errors_are_counted_where_they_are_raised_and_handled";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (a INT PRIMARY KEY)");
        for (name, body) in [
            ("h", "DECLARE CONTINUE HANDLER FOR 1062 BEGIN END; INSERT INTO d.t VALUES (1)"),
            ("w", "DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN END; SELECT CAST('x' AS SIGNED)"),
            ("s", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x', MYSQL_ERRNO = 1234"),
            ("s2", "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'x', MYSQL_ERRNO = 1235"),
            ("s3", "DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL; INSERT INTO d.t VALUES (1)"),
            ("s4", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x', MYSQL_ERRNO = 60123"),
            ("n", "DECLARE x INT; SELECT a INTO x FROM d.t WHERE a = 99"),
        ] {
            server.run(&format!("CREATE PROCEDURE d.{name}() BEGIN {body}; END"));
        }
        server.run("CREATE USER amy IDENTIFIED BY 'p'");
        server.run("GRANT ALL ON *.* TO amy");
        let options = ConnectOptions { user: "amy".into(), password: "p".into(), ..server.connect_options() };
        let mut amy = Client::connect(&options).expect("a session");
        amy.query("USE d").expect("it is there");
        let mut lines = Vec::new();
        for sql in [
            "SELECT * FROM nosuch",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (1)",
            "INSERT IGNORE INTO t VALUES (1)",
            "SELECT CAST('x' AS SIGNED)",
            "DROP TABLE IF EXISTS nosuch",
            "SELECT 1/0",
            "SELECT nonsense nonsense nonsense",
            "PREPARE s FROM 'SELECT * FROM nosuch'",
            "CALL h()",
            "CALL w()",
            "CALL s()",
            "CALL s2()",
            "CALL s3()",
            "CALL s4()",
            "CALL n()",
        ] {
            lines.push(match amy.query(sql) {
                Ok(_) => sql.to_owned(),
                Err(error) => format!("{sql}: {error}"),
            });
            rows(&mut amy, "SELECT 1");
        }
        // Errors of the connection that looks are none of amy's.
        for table in ["by_user", "by_account"] {
            lines.extend(seen(server, table, "user = 'amy'"));
        }
        let of_thread = "thread_id = (SELECT thread_id FROM performance_schema.threads \
                         WHERE processlist_user = 'amy')";
        lines.extend(seen(server, "by_thread", of_thread));
        for table in ["by_thread", "by_account", "by_user"] {
            server.run(&format!("TRUNCATE performance_schema.events_errors_summary_{table}_by_error"));
            lines.push(format!("{table} is empty"));
            lines.extend(seen(server, "by_thread", of_thread));
            lines.extend(seen(server, "by_account", "user = 'amy'"));
            lines.extend(seen(server, "by_user", "user = 'amy'"));
            lines.extend(seen(server, "global", "error_number IN (1062, 1234, 1146)"));
        }
        server.run("TRUNCATE performance_schema.events_errors_summary_global_by_error");
        server.run("UPDATE performance_schema.setup_instruments SET enabled = 'NO' WHERE name = 'error'");
        amy.query("SELECT * FROM nosuch").expect_err("no table");
        rows(&mut amy, "SELECT 1");
        lines.extend(seen(server, "by_user", "user = 'amy'"));
        lines.extend(seen(server, "global", "error_number = 1146"));
        lines
    });
    assert!(lines.iter().any(|line| line.starts_with("1062\tER_DUP_ENTRY\t23000\t3\t2")), "{lines:?}");
}

#[test]
fn errors_have_mysqls_names() {
    let test = "errors_like_mysql::errors_have_mysqls_names";
    let lines = same_as_mysql(test, &measuring(), |server: &Server| {
        server.rows(
            "SELECT error_number, error_name, sql_state \
             FROM performance_schema.events_errors_summary_by_thread_by_error \
             WHERE thread_id = PS_CURRENT_THREAD_ID() ORDER BY error_number",
        )
    });
    assert!(lines.len() > 1900, "{}", lines.len());
}
