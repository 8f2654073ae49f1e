//! Tests that compare our binary log with that of a MySQL server that got the same statements,
//! event by event and byte for byte.

use bench::instance::{Flavor, Settings};
use binlog::event::event_type;
use os::random::{Rng, test_seed};
use testkit::binlog_events::{self, FileEvent};
use testkit::{Server, available};

const FLAVORS: [Flavor; 2] = [Flavor::MySql, Flavor::Slipstream];

/// Starts both servers and runs the statements on them.
fn both(statements: &[String]) -> [Server; 2] {
    FLAVORS.map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        let mut session = server.connect();
        for sql in statements {
            session.query(sql).unwrap_or_else(|error| panic!("{flavor}: {sql}: {error}"));
        }
        server
    })
}

const TYPES: &[&str] = &[
    "TINYINT",
    "TINYINT UNSIGNED",
    "SMALLINT",
    "SMALLINT UNSIGNED",
    "MEDIUMINT",
    "MEDIUMINT UNSIGNED",
    "INT",
    "INT UNSIGNED",
    "BIGINT",
    "BIGINT UNSIGNED",
    "FLOAT",
    "FLOAT UNSIGNED",
    "DOUBLE",
    "DECIMAL(20,6)",
    "DECIMAL(9,2) UNSIGNED",
    "BIT(11)",
    "YEAR",
    "DATE",
    "TIME",
    "TIME(3)",
    "DATETIME",
    "DATETIME(6)",
    "TIMESTAMP NULL",
    "TIMESTAMP(2) NULL",
    "CHAR(7)",
    "CHAR(200)",
    "VARCHAR(20)",
    "VARCHAR(300)",
    "BINARY(5)",
    "VARBINARY(700)",
    "TINYTEXT",
    "TEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "TINYBLOB",
    "BLOB",
    "MEDIUMBLOB",
    "LONGBLOB",
    "JSON",
    "ENUM('a', 'b', 'ccc')",
    "SET('x', 'y', 'zz')",
];

const COLLATIONS: &[&str] = &[
    "",
    "",
    " COLLATE utf8mb4_bin",
    " COLLATE latin1_swedish_ci",
    " COLLATE utf8mb4_general_ci",
    " COLLATE ascii_bin",
];

fn has_collation(ty: &str) -> bool {
    ["CHAR", "TEXT", "ENUM", "SET"].iter().any(|word| ty.contains(word))
}

/// Returns a random table. Its primary key, if it has one, consists of whole columns or of their
/// first characters.
fn random_table(rng: &mut Rng, name: &str) -> String {
    let mut parts = Vec::new();
    let mut may_be_key = Vec::new();
    for at in 0..rng.between(1, 14) {
        let ty = *rng.pick(TYPES);
        let collation = if has_collation(ty) { *rng.pick(COLLATIONS) } else { "" };
        let invisible = if at > 0 && rng.one_in(6) { " INVISIBLE" } else { "" };
        parts.push(format!("c{at} {ty}{collation}{invisible}"));
        match ty {
            _ if ty.contains("TEXT") || ty.contains("BLOB") => may_be_key.push(format!("c{at}(9)")),
            "VARCHAR(300)" | "CHAR(200)" if rng.one_in(2) => {
                may_be_key.push(format!("c{at}({})", rng.between(1, 50)))
            }
            "TIMESTAMP NULL" | "TIMESTAMP(2) NULL" | "JSON" => {}
            _ => may_be_key.push(format!("c{at}")),
        }
    }
    if !may_be_key.is_empty() && rng.one_in(2) {
        let key: Vec<String> = (0..rng.between(1, 3)).map(|_| rng.pick(&may_be_key).clone()).collect();
        let mut key: Vec<String> = key.into_iter().rev().collect();
        key.dedup_by_key(|part| part.split('(').next().unwrap_or_default().to_string());
        key.truncate(2);
        if key.len() < 2 || key[0].split('(').next() != key[1].split('(').next() {
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
    }
    format!("CREATE TABLE d.{name} ({})", parts.join(", "))
}

/// Returns the event's body without the table's id, which differs between servers.
fn without_table_id(event: &FileEvent) -> Vec<u8> {
    event.body()[6..].to_vec()
}

#[test]
fn table_maps_are_mysqls_with_minimal_and_with_full_metadata() {
    if !available("binlog_like_mysql::table_maps", &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed("table_maps"));
    let mut statements = vec!["CREATE DATABASE d".to_string(), "SET sql_mode = ''".to_string()];
    for number in 0..60 {
        statements.push(random_table(&mut rng, &format!("t{number}")));
        for metadata in ["MINIMAL", "FULL"] {
            statements.push(format!("SET GLOBAL binlog_row_metadata = {metadata}"));
            statements.push(format!("INSERT INTO d.t{number} () VALUES ()"));
            statements.push(format!("DELETE FROM d.t{number}"));
        }
    }
    let maps = both(&statements).map(|server| {
        let events = binlog_events::of(&server);
        let maps = events.iter().filter(|event| event.kind() == event_type::TABLE_MAP);
        maps.map(without_table_id).collect::<Vec<_>>()
    });
    assert_eq!(maps[0].len(), 240);
    let [theirs, ours] = maps;
    for (at, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        let table = &statements[2 + at / 4 * 7];
        assert_eq!(ours, theirs, "event {at}, {table}");
    }
    assert_eq!(ours.len(), theirs.len());
}

/// Statements under each format. Slipstream must warn of, refuse and log what MySQL does.
/// Statements that change no row are left out.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE u",
    "USE u",
    "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100), n DOUBLE)",
    "CREATE TABLE c (id INT PRIMARY KEY, u INT, UNIQUE KEY (u))",
    "CREATE TABLE s (id INT PRIMARY KEY, v VARCHAR(100))",
    "INSERT INTO s VALUES (1, 'x'), (2, 'y')",
    "SET time_zone = '+00:00', timestamp = 1700000000.123456",
    "SET binlog_format = STATEMENT",
    "INSERT INTO a (v) VALUES (UUID())",
    "INSERT INTO a (v) VALUES (USER())",
    "INSERT INTO a (v) VALUES (CURRENT_USER())",
    "INSERT INTO a (v) VALUES (VERSION())",
    "INSERT INTO a (v) VALUES (DATABASE())",
    "INSERT INTO a (v) VALUES (CONNECTION_ID())",
    "INSERT INTO a (v) VALUES (SYSDATE())",
    "INSERT INTO a (v) VALUES (NOW(6))",
    "INSERT INTO a (v) VALUES (ROW_COUNT())",
    "INSERT INTO a (v) VALUES (SLEEP(0))",
    "INSERT INTO a (n) VALUES (RAND(3))",
    "INSERT INTO a (n) VALUES (LAST_INSERT_ID())",
    "INSERT INTO a (n) VALUES (LAST_INSERT_ID(5))",
    "INSERT INTO a (v) VALUES (HEX(RANDOM_BYTES(3)))",
    "INSERT INTO a (v) VALUES (@@version)",
    "INSERT INTO a (v) VALUES (@@auto_increment_increment)",
    "INSERT INTO a (v) VALUES (@@GLOBAL.auto_increment_increment)",
    "INSERT INTO a (v) VALUES (@@autocommit)",
    "INSERT INTO a (v) VALUES (@@time_zone)",
    "INSERT INTO a (v) VALUES (@@collation_connection)",
    "INSERT INTO a (v) VALUES (@@timestamp)",
    "INSERT INTO a (v) VALUES (@@last_insert_id)",
    "INSERT INTO a (v) VALUES (@@server_id)",
    "INSERT INTO a (v) VALUES (@@unique_checks)",
    "SET @x = 5, @y = 'abc', @z = 1.5, @d = 1.5e0, @n = NULL, @neg = -3",
    "INSERT INTO a (v) VALUES (@x), (@y), (@z), (@d), (@n), (@neg), (@y), (@undefined)",
    "INSERT INTO a (v) SELECT v FROM s",
    "INSERT INTO a (id, v) SELECT id + 1000, v FROM s LIMIT 1",
    "INSERT IGNORE INTO c SELECT id, id FROM s",
    "REPLACE INTO c SELECT id, id FROM s",
    "INSERT INTO c SELECT id, id + 7 FROM s ON DUPLICATE KEY UPDATE u = u + 5",
    "INSERT INTO c VALUES (1, 1) ON DUPLICATE KEY UPDATE u = 5",
    "INSERT INTO a VALUES (1, 'q', 1) ON DUPLICATE KEY UPDATE v = 5",
    "UPDATE a SET v = 'z' LIMIT 1",
    "UPDATE a SET v = 'zz' ORDER BY id LIMIT 1",
    "DELETE FROM a LIMIT 1",
    "UPDATE IGNORE a SET v = 'y' WHERE id = 3",
    "DELETE FROM a WHERE id IN (SELECT id + 3 FROM s)",
    "INSERT INTO a (v) VALUES ((SELECT v FROM s LIMIT 1))",
    "INSERT INTO a (n) VALUES ('no number')",
    "BEGIN",
    "INSERT INTO a (v) VALUES ('q')",
    "UPDATE a SET v = 'r' WHERE v = 'q'",
    "SET binlog_format = ROW",
    "COMMIT",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "INSERT INTO a (v) VALUES ('q')",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET foreign_key_checks = 0, unique_checks = 0",
    "INSERT INTO a (v) VALUES ('q')",
    "SET foreign_key_checks = 1, unique_checks = 1",
    "SET sql_mode = ''",
    "INSERT INTO u.a (n, v) VALUES ('ab', 'é')",
    "PREPARE p FROM 'INSERT INTO a (v, n) VALUES (?, ?)'",
    "SET @p = \"it's \\\\ é\", @q = 3.25",
    "EXECUTE p USING @p, @q",
    "SET binlog_format = MIXED",
    "INSERT INTO a (v) VALUES (UUID())",
    "UPDATE a SET v = 'zzz' LIMIT 1",
    "BEGIN",
    "INSERT INTO a (v) VALUES ('mixed')",
    "INSERT INTO a (v) VALUES (RAND())",
    "INSERT INTO a (v) VALUES ('mixed again')",
    "COMMIT",
    "SET auto_increment_increment = 10, auto_increment_offset = 3",
    "INSERT INTO a (v) VALUES ('q'), ('r')",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "INSERT INTO a (v) VALUES ('rows')",
];

/// Runs the statements and returns the outcome of each: its error, or its warnings.
fn outcomes(server: &Server) -> Vec<String> {
    let mut session = server.connect();
    let mut outcomes = Vec::new();
    for sql in STATEMENTS {
        outcomes.push(match session.query(sql) {
            Err(protocol::client::ClientError::Server(error)) => {
                format!("{sql}: {} {}", error.code, error.message)
            }
            Err(error) => panic!("{sql}: {error}"),
            Ok(_) => {
                let warnings = session.query("SHOW WARNINGS").expect("warnings").rows;
                let text = |cell: &Option<Vec<u8>>| {
                    String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
                };
                let lines: Vec<String> =
                    warnings.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect();
                format!("{sql}: {lines:?}")
            }
        });
    }
    outcomes
}

/// Returns the events of statements and rows without what differs between servers. DDL and the
/// events around transactions are left out.
fn told(server: &Server) -> Vec<String> {
    use binlog::Event;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut told = Vec::new();
    for event in binlog_events::of(server) {
        told.push(match event.decode().1 {
            Event::Query(query) if text(query.statement).starts_with("CREATE") => continue,
            Event::Query(query) if ["BEGIN", "COMMIT"].contains(&&*text(query.statement)) => continue,
            Event::Query(query) => {
                let status = query.status().expect("status variables");
                // Time zone and microseconds are left out: MySQL adds them if the statement asks
                // for the time, Slipstream always.
                let session = (status.flags2, status.sql_mode, status.auto_increment, status.charset);
                format!("{} [{}] {session:?}", text(query.statement), text(query.schema))
            }
            Event::Intvar(var) => format!("intvar {} {}", var.kind, var.value),
            Event::UserVar(var) => {
                let value = var.value.as_ref().map(|value| (value.kind, value.bytes, value.unsigned));
                format!("variable {} {value:?}", text(var.name))
            }
            Event::Rows(rows) => format!("{:?} of {} columns", rows.kind, rows.columns),
            _ => continue,
        });
    }
    told
}

#[test]
fn statements_are_logged_and_warned_about_as_mysql_does() {
    if !available("binlog_like_mysql::statements", &[Flavor::MySql]) {
        return;
    }
    let [theirs, ours] = FLAVORS.map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        let outcomes = outcomes(&server);
        let mut told = told(&server);
        let file =
            server.rows("SHOW BINARY LOG STATUS")[0].split('\t').next().unwrap_or_default().to_string();
        let shown = server.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
        let variables = shown.iter().filter(|row| row.contains("\tUser var\t"));
        told.extend(variables.filter_map(|row| row.split('\t').nth(5).map(str::to_string)));
        (outcomes, told)
    });
    for (ours, theirs) in ours.0.iter().zip(&theirs.0) {
        assert_eq!(ours, theirs);
    }
    for (at, (ours, theirs)) in ours.1.iter().zip(&theirs.1).enumerate() {
        assert_eq!(ours, theirs, "event {at}");
    }
    assert_eq!(ours.1.len(), theirs.1.len());
    assert!(ours.1.len() > 80, "{} events", ours.1.len());
}

/// A listed file that somebody has removed is shown as MySQL shows it, and can be purged.
#[test]
fn a_file_that_is_gone_is_listed_as_mysql_lists_it() {
    if !available("binlog_like_mysql::a_file_that_is_gone_is_listed_as_mysql_lists_it", &[Flavor::MySql]) {
        return;
    }
    let seen = FLAVORS.map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        for sql in ["FLUSH BINARY LOGS", "FLUSH BINARY LOGS"] {
            server.run(sql);
        }
        let first_two = |rows: Vec<String>| -> Vec<String> {
            rows.iter().map(|row| row.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
        };
        let names: Vec<String> = first_two(server.rows("SHOW BINARY LOGS"));
        let gone = names[names.len() - 2].split(' ').next().expect("a name").to_owned();
        let newest = names[names.len() - 1].split(' ').next().expect("a name").to_owned();
        std::fs::remove_file(server.datadir().join(&gone)).expect("it is ours");
        let listed = first_two(server.rows("SHOW BINARY LOGS"));
        let listed_gone =
            listed.iter().find(|row| row.starts_with(&gone)).map(|row| row[gone.len()..].to_owned());
        let refused = |error: protocol::client::ClientError| error.server_code();
        let shown =
            server.connect().query(&format!("SHOW BINLOG EVENTS IN '{gone}'")).map(|_| ()).map_err(refused);
        server.run(&format!("PURGE BINARY LOGS TO '{newest}'"));
        (listed_gone, shown, server.rows("SHOW BINARY LOGS").len())
    });
    assert_eq!(seen[1], seen[0], "ours, and MySQL's");
    assert_eq!(seen[0], (Some(" 0".to_owned()), Err(Some(29)), 1));
}
