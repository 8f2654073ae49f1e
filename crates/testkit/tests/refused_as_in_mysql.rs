//! Tests of what is refused, counted or left behind in the corners of the protocol and of
//! statements: the messages for commands that name nothing, long data that is too long, the session
//! after COM_RESET_CONNECTION, roles that were taken away, lists that are far too long. A real
//! MySQL gets the same commands and must answer the same.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use protocol::command as com;
use protocol::scalar::Scalar;
use testkit::answers::same_answers;
use testkit::server::same_as_mysql;

fn told<T>(answer: Result<T, ClientError>) -> String {
    match answer {
        Ok(_) => "done".to_owned(),
        Err(ClientError::Server(e)) => format!("{} {}", e.code, e.message),
        Err(e) => panic!("the connection was lost: {e}"),
    }
}

fn rows(client: &mut Client, text: &str) -> String {
    match client.query(text) {
        Ok(result) => {
            let cell = |cell: &Option<Vec<u8>>| match cell {
                Some(bytes) => bytes.escape_ascii().to_string(),
                None => "NULL".to_owned(),
            };
            result.rows.iter().flatten().map(cell).collect::<Vec<_>>().join("|")
        }
        Err(error) => told::<()>(Err(error)),
    }
}

#[test]
fn commands_that_name_nothing_have_mysqls_words() {
    const UNKNOWN: &[u8] = &[231, 3, 0, 0, 1, 0, 0, 0, 0];
    let commands: &[(&str, u8, &[u8])] = &[
        ("execute", com::STMT_EXECUTE, UNKNOWN),
        ("reset", com::STMT_RESET, UNKNOWN),
        ("fetch", com::STMT_FETCH, UNKNOWN),
        ("set option", com::SET_OPTION, &[5, 0]),
        ("set option of nothing", com::SET_OPTION, &[]),
        ("kill", com::PROCESS_KILL, &[255, 255, 255, 0]),
        ("clone", com::CLONE, &[]),
        ("no schema", com::INIT_DB, b""),
        ("two statements", com::STMT_PREPARE, b"COMMIT; SELECT 1"),
    ];
    same_as_mysql("commands_that_name_nothing", &Settings::default(), |server| {
        let ask = |(name, code, body): &(&str, u8, &[u8])| {
            format!("{name}: {}", told(server.connect().command(*code, body)))
        };
        let mut lines: Vec<String> = commands.iter().map(ask).collect();
        lines.push(told(server.connect().query("SELECT 1;  SELECT 2")));
        lines
    });
}

#[test]
fn long_data_that_is_refused_stays_so_until_the_statement_is_reset() {
    let answers = same_as_mysql("refused_long_data", &Settings::default(), |server| {
        server.run("SET GLOBAL max_allowed_packet = 65536");
        let mut client = server.connect();
        let statement = client.prepare("SELECT LENGTH(?)").expect("it can be prepared");
        let mut lines = Vec::new();
        let value = [Scalar::Bytes(b"short")];
        let reset =
            |client: &mut Client| told(client.command(com::STMT_RESET, &statement.id().to_le_bytes()));
        for part in [40_000, 40_000, 3] {
            client.send_long_data(&statement, 0, &vec![b'x'; part]).expect("it can be sent");
        }
        lines.push(told(client.execute(&statement, &value)));
        lines.push(told(client.execute(&statement, &value)));
        lines.push(reset(&mut client));
        lines.push(told(client.execute(&statement, &value)));
        client.send_long_data(&statement, 7, b"of no parameter").expect("it can be sent");
        lines.push(told(client.execute(&statement, &value)));
        lines.push(told(client.execute(&statement, &value)));
        lines.push(reset(&mut client));
        lines.push(told(client.execute(&statement, &value)));
        lines.push(rows(&mut client, "SELECT 1"));
        lines
    });
    assert!(answers[1].starts_with("1105"), "{answers:#?}");
}

#[test]
fn a_reset_connection_has_the_servers_character_set() {
    same_as_mysql("reset_connection", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for text in ["SET NAMES latin1", "SET @x = 1", "PREPARE s FROM 'SELECT 1'", "BEGIN"] {
            lines.push(told(client.query(text)));
        }
        lines.push(told(client.command(com::RESET_CONNECTION, &[])));
        for text in [
            "SELECT @@character_set_client, @@collation_connection, @@character_set_results, @x",
            "EXECUTE s",
        ] {
            lines.push(rows(&mut client, text));
        }
        lines
    });
}

#[test]
fn a_role_that_was_revoked_is_active_again_when_it_is_granted_again() {
    same_as_mysql("revoked_roles", &Settings::default(), |server| {
        let mut admin = server.connect();
        for text in [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT)",
            "CREATE USER u",
            "CREATE ROLE r, s",
            "GRANT r, s TO u",
            "GRANT SELECT ON d.* TO r",
        ] {
            admin.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        let mut client = Client::connect(&server.connect_options().user("u", "")).expect("u is let in");
        let mut lines = vec![told(client.query("SET ROLE ALL"))];
        for change in ["DO 1", "REVOKE r FROM u", "GRANT r TO u", "DROP ROLE s", "REVOKE r FROM u"] {
            admin.query(change).unwrap_or_else(|error| panic!("{change}: {error}"));
            let (role, read) =
                (rows(&mut client, "SELECT CURRENT_ROLE()"), client.query("SELECT * FROM d.t"));
            let code = |error: ClientError| match error {
                ClientError::Server(error) => error.code,
                error => panic!("{error}"),
            };
            lines.push(format!("{change}: {role}, {:?}", read.map(drop).map_err(code)));
        }
        lines
    });
}

/// Each of these lists once took a time that grew with the square of its length.
#[test]
fn lists_that_are_far_too_long_are_refused_or_taken_at_once() {
    const MANY: usize = 60_000;
    /// The number of keys. It is small because MySQL itself compares each key with all others.
    const MANY_KEYS: usize = 2_000;
    let list = |item: &dyn Fn(usize) -> String| (0..MANY).map(item).collect::<Vec<_>>().join(",");
    let keys = |item: &str| vec![item; MANY_KEYS].join(",");
    let texts = [
        format!("CREATE TABLE d.x ({})", list(&|at| format!("c{at} INT"))),
        format!("CREATE TABLE d.x (a INT, {})", keys("KEY (a)")),
        format!("ALTER TABLE d.t {}", list(&|at| format!("ADD c{at} INT"))),
        format!("ALTER TABLE d.t {}", keys("ADD KEY (a)")),
        format!("LOCK TABLES {}, d.t AS A1 READ", list(&|at| format!("d.t AS a{at} READ"))),
    ];
    same_as_mysql("far_too_long_lists", &Settings::default(), |server| {
        server.run("CREATE DATABASE d");
        server.run("CREATE TABLE d.t (a INT)");
        texts.iter().map(|text| told(server.connect().query(text))).collect()
    });
}

#[test]
fn read_only_is_0_or_1_and_of_alter_database_alone() {
    same_answers(
        "read_only_of_a_schema",
        &[
            "CREATE DATABASE d READ ONLY = 0",
            "CREATE DATABASE d",
            "ALTER DATABASE d READ ONLY 2",
            "ALTER DATABASE d READ ONLY '0'",
            "ALTER DATABASE d READ ONLY",
            "ALTER DATABASE d READ ONLY 0 COLLATE utf8mb4_bin",
            "SHOW CREATE DATABASE d",
        ],
    );
}

#[test]
fn rows_in_the_way_are_counted_and_read_as_in_mysql() {
    same_answers(
        "rows_in_the_way",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
            "CREATE TABLE two (a INT PRIMARY KEY, b INT UNIQUE)",
            "REPLACE INTO t VALUES (1, 1)",
            "REPLACE INTO t VALUES (1, 1)",
            "REPLACE INTO t VALUES (1, 2)",
            "REPLACE INTO t SELECT a, b FROM t",
            "REPLACE INTO two VALUES (1, 1)",
            "REPLACE INTO two VALUES (1, 1)",
            "REPLACE INTO two VALUES (1, 1), (1, 1), (2, 2)",
            "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = (SELECT MAX(b) FROM t)",
            "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = (SELECT MAX(b) FROM two)",
            "INSERT INTO t SELECT a, b FROM two ON DUPLICATE KEY UPDATE b = (SELECT MAX(t.b) FROM t)",
            "SELECT * FROM t",
            "SELECT * FROM two",
        ],
    );
}

#[test]
fn rows_that_a_constraint_refuses_are_no_records() {
    let answers = same_as_mysql("ignored_rows", &Settings::default(), |server| {
        let mut client = server.connect();
        for text in [
            "CREATE DATABASE d",
            "CREATE TABLE d.p (a INT PRIMARY KEY)",
            "INSERT INTO d.p VALUES (1)",
            "CREATE TABLE d.c (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES d.p (a), CHECK (a < 10))",
            "CREATE TABLE d.t (a INT PRIMARY KEY) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (10))",
        ] {
            client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        let info = |text: &str| match client.query(text) {
            Ok(result) => format!("{} {}", result.affected_rows(), result.ok.info),
            Err(error) => told::<()>(Err(error)),
        };
        [
            "INSERT IGNORE INTO d.c VALUES (1, 1), (2, 2), (20, 1), (1, 1), (3, NULL)",
            "INSERT IGNORE INTO d.c VALUES (20, 1), (21, 1)",
            "INSERT IGNORE INTO d.c VALUES (5, 7), (6, 7)",
            "INSERT IGNORE INTO d.c SELECT 5, 7 UNION ALL SELECT 6, 1",
            "INSERT IGNORE INTO d.t VALUES (5), (60), (5)",
        ]
        .map(info)
        .to_vec()
    });
    assert!(answers[0].contains("Records: 3  Duplicates: 1"), "{answers:#?}");
}

#[test]
fn a_statement_that_is_not_prepared_is_named_as_it_was_written() {
    same_as_mysql("not_prepared", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut lines = vec![told(client.query("PREPARE Known FROM 'SELECT 1'"))];
        for text in
            ["EXECUTE NoSuch", "EXECUTE `No Such` USING @a", "DEALLOCATE PREPARE NoSuch", "EXECUTE KNOWN"]
        {
            lines.push(told(client.query(text)));
        }
        lines
    });
}
