//! Tests of the tables of performance_schema about files and the waits for them, and of the views
//! of `sys` over them, beside a real MySQL.

use std::time::Duration;

use bench::instance::Settings;
use os::clock::{Stopwatch, sleep};
use protocol::client::Client;
use testkit::Server;
use testkit::lines::lines_of;
use testkit::server::{SOON, same_as_mysql};

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

fn answer(client: &mut Client, sql: &str) -> Vec<String> {
    let found = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    std::iter::once(sql.to_owned()).chain(lines_of(&found)).collect()
}

/// Whether counts and times go together, in all rows of a table of files.
const GO_TOGETHER: &str = "SELECT COUNT(*) FROM performance_schema.{table} WHERE \
     COUNT_STAR <> COUNT_READ + COUNT_WRITE + COUNT_MISC \
     OR SUM_TIMER_WAIT <> SUM_TIMER_READ + SUM_TIMER_WRITE + SUM_TIMER_MISC \
     OR MIN_TIMER_WRITE > AVG_TIMER_WRITE OR AVG_TIMER_WRITE > MAX_TIMER_WRITE \
     OR MAX_TIMER_WRITE > SUM_TIMER_WRITE OR (COUNT_WRITE > 0) <> (SUM_TIMER_WRITE > 0) \
     OR (COUNT_READ = 0 AND SUM_NUMBER_OF_BYTES_READ > 0)";

const OF_TABLES: &str = "SELECT SUBSTRING_INDEX(FILE_NAME, '/', -2), EVENT_NAME, OPEN_COUNT > 0 \
     FROM performance_schema.file_instances WHERE FILE_NAME LIKE '%/d/%' ORDER BY 1";

#[test]
fn files_are_those_of_mysql() {
    let test = "files_measured_like_mysql::files_are_those_of_mysql";
    same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for sql in [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100))",
            "CREATE TABLE d.gone (id INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (1, 'a'), (2, 'b')",
        ] {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        lines.extend(answer(&mut client, OF_TABLES));
        for sql in ["DROP TABLE d.gone", "RENAME TABLE d.t TO d.u", "SELECT * FROM d.u"] {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        lines.extend(answer(&mut client, OF_TABLES));
        for table in ["file_summary_by_instance", "file_summary_by_event_name"] {
            lines.extend(answer(&mut client, &GO_TOGETHER.replace("{table}", table)));
        }
        for sql in [
            "SELECT EVENT_NAME FROM performance_schema.file_summary_by_event_name",
            "SELECT EVENT_NAME, COUNT_STAR > 0, COUNT_WRITE > 0, SUM_NUMBER_OF_BYTES_WRITE > 0 \
             FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME REGEXP \
             'innodb_(data|log)_file|sql/(binlog|pid)$'",
            "SELECT SUBSTRING_INDEX(FILE_NAME, '/', -1), EVENT_NAME, COUNT_WRITE > 0 \
             FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME = 'wait/io/file/sql/binlog' \
             ORDER BY 1",
            "SELECT COUNT(*) = COUNT(DISTINCT OBJECT_INSTANCE_BEGIN) \
             FROM performance_schema.file_summary_by_instance",
            "SELECT count_write > 0, total_written > 0 FROM sys.x$io_global_by_file_by_bytes \
             WHERE file LIKE '%/d/u.ibd' AND file = CONCAT(@@datadir, 'd/u.ibd')",
            "SELECT COUNT(*) FROM sys.io_global_by_file_by_latency WHERE file = '@@datadir/d/u.ibd' COLLATE utf8mb4_0900_ai_ci",
            "SELECT event_name, total > 0, total_written > 0 FROM sys.x$io_global_by_wait_by_bytes \
             WHERE event_name = 'innodb/innodb_log_file'",
            "SELECT io_write_requests > 0, io_write > 0, io_misc_requests > 0 \
             FROM sys.x$schema_table_statistics WHERE table_schema = 'd' AND table_name = 'u'",
            "SELECT COUNT(*) > 0, MIN(total_latency) > 0 FROM sys.x$io_by_thread_by_latency",
            "SELECT events, total > 0, total_latency > 0 FROM sys.x$waits_global_by_latency \
             WHERE events = 'wait/io/file/innodb/innodb_data_file'",
            "SELECT SUM(w.COUNT_STAR = f.COUNT_STAR) >= COUNT(*) - 3 \
             FROM performance_schema.events_waits_summary_global_by_event_name w \
             JOIN performance_schema.file_summary_by_event_name f USING (EVENT_NAME)",
            "SELECT COUNT(*) = 1 FROM performance_schema.events_waits_summary_by_instance w \
             JOIN performance_schema.file_summary_by_instance f USING (OBJECT_INSTANCE_BEGIN) \
             WHERE f.FILE_NAME LIKE '%/d/u.ibd' AND w.COUNT_STAR > 0",
            "SELECT COUNT_STAR > 0, SUM_TIMER_WAIT > 0 \
             FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME = 'idle'",
            "SELECT w.COUNT_STAR > 0 FROM performance_schema.events_waits_summary_by_thread_by_event_name w \
             JOIN performance_schema.threads t USING (THREAD_ID) \
             WHERE t.PROCESSLIST_ID = CONNECTION_ID() AND w.EVENT_NAME = 'idle'",
            "SELECT THREAD_OS_ID > 0 FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
        ] {
            lines.extend(answer(&mut client, sql));
        }
        lines
    });
}

#[test]
fn bytes_are_those_of_the_file_and_sums_can_be_set_to_zero() {
    let test = "files_measured_like_mysql::bytes_are_those_of_the_file_and_sums_can_be_set_to_zero";
    same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(1000))");
        let number = |client: &mut Client, sql: &str| -> u64 {
            let found = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            found.cell(0, 0).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{sql}: a number"))
        };
        let written = "SELECT SUM(SUM_NUMBER_OF_BYTES_WRITE) FROM performance_schema.file_summary_by_instance \
                       WHERE EVENT_NAME = 'wait/io/file/sql/binlog' \
                       AND FILE_NAME LIKE CONCAT('%/', @file) COLLATE utf8mb4_0900_ai_ci";
        for id in 0..20 {
            server.run(&format!("INSERT INTO d.t VALUES ({id}, REPEAT('x', {id}))"));
        }
        // The file was made when the server started. It is written behind the commits.
        let end = server.position();
        client.query(&format!("SET @file = '{}'", end.file)).expect("a variable can be set");
        let clock = Stopwatch::start();
        while number(&mut client, written) < end.offset {
            assert!(clock.elapsed() < SOON, "{} bytes and {end}", number(&mut client, written));
            sleep(Duration::from_millis(10));
        }
        // The mark in the file's head that it is in use is a byte that may be written once more.
        let again = number(&mut client, written) - end.offset;
        assert!(again <= 1, "{again} bytes more than the log has");
        let mut lines = vec!["as many bytes as the log has".to_owned()];
        let kind = "SELECT COUNT_WRITE FROM performance_schema.file_summary_by_event_name \
                    WHERE EVENT_NAME = 'wait/io/file/sql/binlog'";
        let before = number(&mut client, kind);
        client.query("TRUNCATE performance_schema.file_summary_by_instance").expect("it can be emptied");
        lines.push(format!("bytes of the file: {}", number(&mut client, written)));
        lines.push(format!("some writes were counted: {}", before > 0));
        server.run("INSERT INTO d.t VALUES (100, 'x')");
        while number(&mut client, written) == 0 {
            assert!(clock.elapsed() < 2 * SOON, "no bytes are counted");
            sleep(Duration::from_millis(10));
        }
        client.query("TRUNCATE performance_schema.file_summary_by_event_name").expect("it can be emptied");
        lines.push(format!("writes of the kind: {}", number(&mut client, kind)));
        lines
    });
}

#[test]
fn waits_are_those_of_their_account() {
    let test = "files_measured_like_mysql::waits_are_those_of_their_account";
    same_as_mysql(test, &measuring(), |server: &Server| {
        let mut client = server.connect();
        server.run("CREATE USER one IDENTIFIED BY '', two IDENTIFIED BY ''");
        server.run("GRANT ALL ON *.* TO one");
        let mut lines = Vec::new();
        let idle = |table: &str, name: &str| {
            let of = format!("performance_schema.events_waits_summary_by_{table}_by_event_name");
            format!(
                "SELECT {name}, EVENT_NAME, COUNT_STAR > 2, SUM_TIMER_WAIT > 0 FROM {of} \
                     WHERE EVENT_NAME = 'idle' AND COUNT_STAR > 0 AND {name} NOT LIKE 'root%' ORDER BY {name}"
            )
        };
        let seen = |client: &mut Client, lines: &mut Vec<String>| {
            lines.extend(answer(client, &idle("account", "CONCAT(USER, '@', HOST)")));
            lines.extend(answer(client, &idle("user", "USER")));
            lines.extend(answer(client, &idle("host", "HOST")));
            lines.extend(answer(
                client,
                "SELECT USER FROM performance_schema.events_waits_summary_by_user_by_event_name \
                 WHERE EVENT_NAME = 'wait/io/file/sql/binlog' AND COUNT_STAR > 0 AND USER = 'two'",
            ));
        };
        let mut others: Vec<Client> = ["one", "two"]
            .map(|user| Client::connect(&server.connect_options().user(user, "")).expect("an account"))
            .into();
        for other in &mut others {
            (0..5).for_each(|_| drop(other.query("SELECT 1").expect("an answer")));
        }
        seen(&mut client, &mut lines);
        // What sessions have waited stays when they have ended.
        drop(others);
        let open = "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_USER IN ('one', 'two')";
        let clock = Stopwatch::start();
        while answer(&mut client, open)[1] != "0" {
            assert!(clock.elapsed() < SOON, "the connections do not end");
            sleep(Duration::from_millis(10));
        }
        seen(&mut client, &mut lines);
        // What is emptied by account still counts for users and hosts, and what is emptied by user
        // for hosts.
        for table in ["account", "user", "host"] {
            let emptied =
                format!("TRUNCATE performance_schema.events_waits_summary_by_{table}_by_event_name");
            client.query(&emptied).expect("it can be emptied");
            let left = |table: &str, name: &str| {
                let of = format!("performance_schema.events_waits_summary_by_{table}_by_event_name");
                format!(
                    "SELECT {name} FROM {of} WHERE EVENT_NAME = 'idle' AND COUNT_STAR > 4 AND {name} NOT LIKE 'root%' ORDER BY {name}"
                )
            };
            lines.push(emptied);
            lines.extend(answer(&mut client, &left("account", "CONCAT(USER, '@', HOST)")));
            lines.extend(answer(&mut client, &left("user", "USER")));
            lines.extend(answer(&mut client, &left("host", "HOST")));
        }
        lines
    });
}
