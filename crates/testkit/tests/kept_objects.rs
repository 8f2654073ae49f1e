//! Tests of views, triggers, routines and events: they are stored, shown, dumped and replicated
//! further as real servers do it, and they run when they should.

use bench::instance::{Flavor, Settings, USER, peers_dir};
use protocol::client::ResultSet;
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;
use testkit::{Server, available, program, tool_available};

/// The tables and objects of a shop, one statement each. MySQL and MariaDB accept all of them.
const SHOP: &[&str] = &[
    "CREATE USER keeper",
    "GRANT ALL ON *.* TO keeper",
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2), seen DATETIME)",
    "CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100))",
    "CREATE TABLE sale (id INT PRIMARY KEY, item INT, amount INT, KEY (item))",
    "INSERT INTO item VALUES (1, 'lamp', 10.50, '2026-01-01'), (2, 'chair', 99, NULL)",
    "CREATE VIEW cheap AS select `item`.`id` AS `id`,`item`.`name` AS `name` from `item`",
    "CREATE VIEW later AS select `item`.`id` AS `id` from `item`",
    "ALTER VIEW later AS select `sale`.`id` AS `id`,`sale`.`item` AS `item` from `sale`",
    "CREATE OR REPLACE ALGORITHM=MERGE DEFINER=`keeper`@`%` SQL SECURITY INVOKER VIEW cheap AS \
     select `item`.`id` AS `id` from `item`",
    "CREATE DEFINER=`keeper`@`%` TRIGGER item_in BEFORE INSERT ON item FOR EACH ROW BEGIN \
     IF NEW.price < 0 THEN SET NEW.price = 0; END IF; \
     CASE WHEN NEW.name IS NULL THEN SET NEW.name = 'none; yet'; ELSE SET NEW.seen = NOW(); END CASE; END",
    "CREATE TRIGGER item_first BEFORE INSERT ON item FOR EACH ROW PRECEDES item_in SET @seen = NEW.id",
    "CREATE TRIGGER item_last BEFORE INSERT ON item FOR EACH ROW FOLLOWS item_in SET @last = NEW.id",
    "CREATE TRIGGER item_out AFTER DELETE ON item FOR EACH ROW INSERT INTO audit (what) VALUES (OLD.name)",
    "CREATE TRIGGER sale_new AFTER UPDATE ON sale FOR EACH ROW SET @changed = NEW.id",
    "CREATE TRIGGER gone AFTER INSERT ON audit FOR EACH ROW SET @a = 1",
    "DROP TRIGGER gone",
    "CREATE PROCEDURE restock (IN item_id INT, OUT total DECIMAL(10,2), INOUT note VARCHAR(20) CHARSET latin1) \
     MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT 'it''s filled' \
     BEGIN DECLARE done INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; \
     many: WHILE done < 3 DO SET done = done + 1; IF done = 2 THEN LEAVE many; END IF; END WHILE many; \
     REPEAT SET done = done - 1; UNTIL done <= 0 END REPEAT; SELECT SUM(price) INTO total FROM item; END",
    "CREATE PROCEDURE plain () SELECT 1",
    "ALTER PROCEDURE plain COMMENT 'other' SQL SECURITY INVOKER",
    "CREATE FUNCTION taxed (price DECIMAL(8,2), kind ENUM('a','b')) RETURNS DECIMAL(9,2) DETERMINISTIC NO SQL \
     RETURN price * CASE kind WHEN 'a' THEN 1.2 ELSE 1.1 END",
    "CREATE FUNCTION label (n INT UNSIGNED) RETURNS VARCHAR(30) CHARSET utf8mb4 DETERMINISTIC \
     READS SQL DATA RETURN CONCAT('n; ', n)",
    "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ENDS '2031-01-01 00:00:00' \
     ON COMPLETION PRESERVE DISABLE COMMENT 'cleans; up' DO BEGIN DELETE FROM audit; END",
    "CREATE EVENT once ON SCHEDULE AT '2035-05-05 05:05:05' + INTERVAL 1 HOUR DO SET @a = 1",
    "CREATE EVENT often ON SCHEDULE EVERY '1:30' HOUR_MINUTE STARTS '2030-01-01 00:00:00' DO SET @a = 1",
    "ALTER EVENT often RENAME TO seldom",
    "ALTER EVENT seldom ON SCHEDULE EVERY 2 WEEK STARTS '2030-02-02 02:02:02' DO SET @b = 2",
    "CREATE EVENT dropped ON SCHEDULE EVERY 1 DAY DO SET @a = 1",
    "DROP EVENT dropped",
    "RENAME TABLE sale TO sold",
    "ALTER TABLE sold RENAME TO sale",
    "RENAME TABLE later TO renamed_view",
    "CREATE DATABASE other",
    "CREATE PROCEDURE other.p () SELECT 1",
    "DROP DATABASE other",
    "INSERT INTO item VALUES (3, 'desk', -5, NULL)",
    "DELETE FROM item WHERE id = 1",
];

/// The queries whose rows are compared between a source and its replica.
const SHOWN: &[&str] = &[
    "SHOW CREATE VIEW shop.cheap",
    "SHOW CREATE VIEW shop.renamed_view",
    "SHOW CREATE PROCEDURE shop.restock",
    "SHOW CREATE PROCEDURE shop.plain",
    "SHOW CREATE FUNCTION shop.taxed",
    "SHOW CREATE FUNCTION shop.label",
    "SHOW FULL TABLES FROM shop",
    "SELECT * FROM shop.item ORDER BY id",
    "SELECT * FROM shop.audit ORDER BY id",
    "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' ORDER BY 1",
    "SELECT TABLE_NAME, CHECK_OPTION, IS_UPDATABLE, DEFINER, SECURITY_TYPE FROM information_schema.VIEWS \
     WHERE TABLE_SCHEMA = 'shop' ORDER BY 1",
    "SELECT TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_ORDER, ACTION_STATEMENT, ACTION_TIMING, \
     SQL_MODE, DEFINER, CHARACTER_SET_CLIENT, COLLATION_CONNECTION, DATABASE_COLLATION \
     FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop' ORDER BY 1",
    "SELECT ROUTINE_NAME, ROUTINE_TYPE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, \
     CHARACTER_SET_NAME, COLLATION_NAME, ROUTINE_DEFINITION, IS_DETERMINISTIC, SQL_DATA_ACCESS, SECURITY_TYPE, \
     SQL_MODE, ROUTINE_COMMENT, DEFINER, CREATED, LAST_ALTERED \
     FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'shop' ORDER BY 1",
    "SELECT SPECIFIC_NAME, ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, \
     CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, CHARACTER_SET_NAME, COLLATION_NAME, DTD_IDENTIFIER, \
     ROUTINE_TYPE FROM information_schema.PARAMETERS WHERE SPECIFIC_SCHEMA = 'shop' ORDER BY 1, 2",
    "SELECT EVENT_NAME, DEFINER, TIME_ZONE, EVENT_DEFINITION, EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE, INTERVAL_FIELD, \
     SQL_MODE, STARTS, ENDS, ON_COMPLETION, EVENT_COMMENT, ORIGINATOR FROM information_schema.EVENTS \
     WHERE EVENT_SCHEMA = 'shop' ORDER BY 1",
    "SELECT Db, Name FROM (SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name FROM information_schema.ROUTINES \
     WHERE ROUTINE_SCHEMA IN ('shop', 'other')) AS both_schemas ORDER BY 2",
];

/// Returns the row of SHOW CREATE TRIGGER without the time at which the trigger was made.
fn trigger(server: &Server, name: &str) -> String {
    let row = server.rows(&format!("SHOW CREATE TRIGGER shop.{name}")).join("\n");
    row.rsplit_once('\t').map_or(row.clone(), |(rest, _)| rest.to_owned())
}

const TRIGGERS: [&str; 5] = ["item_in", "item_first", "item_last", "item_out", "sale_new"];

fn run_all(server: &Server, statements: &[&str]) {
    let mut client = server.connect();
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn carries(source: Flavor, disabled: &str) {
    let pair = Pair::start_with(source, flavor_under_test(), &Settings::default(), By::Gtid);
    run_all(&pair.source, SHOP);
    pair.replica.catch_up(&pair.source);
    for sql in SHOWN {
        // MariaDB's types have a display width, and MariaDB counts the bytes of an ENUM's members
        // in its own way.
        let sql = match source {
            Flavor::MariaDb => sql.replace("CHARACTER_OCTET_LENGTH, ", "").replace("DTD_IDENTIFIER, ", ""),
            _ => sql.to_string(),
        };
        pair.replica.equals_by(&pair.source, &sql);
    }
    for name in TRIGGERS {
        assert_eq!(trigger(&pair.replica, name), trigger(&pair.source, name));
    }
    // The source's events run on the source only.
    let statuses = "SELECT DISTINCT STATUS FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'";
    assert_eq!(pair.replica.rows(statuses), [disabled]);
    run_all(&pair.source, &["USE shop", "DROP TABLE sale", "DROP VIEW cheap", "DROP FUNCTION label"]);
    pair.replica.catch_up(&pair.source);
    let left =
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop' ORDER BY 1";
    pair.replica.equals_by(&pair.source, left);
    pair.replica.equals_by(&pair.source, "SHOW FULL TABLES FROM shop");
    run_all(&pair.source, &["DROP DATABASE shop"]);
    pair.replica.catch_up(&pair.source);
    assert!(pair.replica.rows(left).is_empty());
}

#[test]
fn behind_mysql() {
    if available("kept_objects::behind_mysql", &[Flavor::MySql]) {
        carries(Flavor::MySql, "REPLICA_SIDE_DISABLED");
    }
}

#[test]
fn behind_mariadb() {
    if available("kept_objects::behind_mariadb", &[Flavor::MariaDb]) {
        carries(Flavor::MariaDb, "SLAVESIDE_DISABLED");
    }
}

/// Tests that a real server behind Slipstream makes the objects that clients have made here, and
/// has the rows that triggers have changed here.
fn feeds(replica: Flavor) {
    let pair = Pair::start_with(Flavor::Slipstream, replica, &Settings::default(), By::Position);
    run_all(&pair.source, SHOP);
    pair.replica.catch_up(&pair.source);
    for sql in SHOWN.iter().filter(|sql| replica == Flavor::MySql || !sql.contains("SELECT")) {
        pair.replica.equals_by(&pair.source, sql);
    }
    if replica == Flavor::MySql {
        for name in TRIGGERS {
            assert_eq!(trigger(&pair.replica, name), trigger(&pair.source, name));
        }
    }
}

#[test]
fn before_mysql() {
    if available("kept_objects::before_mysql", &[Flavor::MySql]) {
        feeds(Flavor::MySql);
    }
}

/// Statements that must be answered as MySQL answers them: with the same error number and message,
/// or the same notes.
const ANSWERED: &[&str] = &[
    "CREATE TRIGGER ITEM_IN AFTER DELETE ON item FOR EACH ROW SET @a = 1",
    "CREATE TRIGGER IF NOT EXISTS item_in AFTER DELETE ON item FOR EACH ROW SET @a = 1",
    "CREATE TRIGGER x AFTER DELETE ON cheap FOR EACH ROW SET @a = 1",
    "CREATE TRIGGER x AFTER DELETE ON nope FOR EACH ROW SET @a = 1",
    "CREATE TRIGGER x BEFORE INSERT ON item FOR EACH ROW FOLLOWS nope SET @a = 1",
    "CREATE TRIGGER mysql.x BEFORE INSERT ON shop.item FOR EACH ROW SET @a = 1",
    "DROP TRIGGER nope",
    "DROP TRIGGER IF EXISTS nope",
    "DROP TRIGGER n.nope",
    "CREATE PROCEDURE PLAIN () SELECT 1",
    "CREATE PROCEDURE IF NOT EXISTS plain () SELECT 1",
    "CREATE FUNCTION taxed () RETURNS INT DETERMINISTIC RETURN 1",
    "DROP PROCEDURE nope",
    "DROP PROCEDURE IF EXISTS nope",
    "DROP FUNCTION nope",
    "ALTER PROCEDURE nope COMMENT 'x'",
    "ALTER EVENT nope ENABLE",
    "CREATE EVENT once ON SCHEDULE EVERY 1 DAY DO SET @a = 1",
    "CREATE EVENT IF NOT EXISTS once ON SCHEDULE EVERY 1 DAY DO SET @a = 1",
    "DROP EVENT nope",
    "DROP EVENT IF EXISTS nope",
    "CREATE EVENT past ON SCHEDULE AT '2001-01-01 00:00:00' DO SET @a = 1",
    "CREATE EVENT x ON SCHEDULE EVERY 1 DAY STARTS '2005-01-01' ENDS '2004-01-01' DO SET @a = 1",
    "CREATE EVENT x ON SCHEDULE EVERY 0 DAY DO SET @a = 1",
    "CREATE VIEW item AS SELECT 1",
    "CREATE VIEW cheap AS SELECT 1",
    "CREATE VIEW IF NOT EXISTS cheap AS SELECT 1",
    "CREATE OR REPLACE VIEW item AS SELECT 1",
    "CREATE TABLE cheap (a INT)",
    "CREATE TABLE IF NOT EXISTS cheap (a INT)",
    "DROP VIEW item",
    "DROP VIEW nope",
    "DROP VIEW IF EXISTS nope",
    "DROP VIEW IF EXISTS item",
    "DROP VIEW cheap, nope",
    "DROP TABLE cheap",
    "TRUNCATE cheap",
    "ALTER TABLE cheap ADD c INT",
    "CREATE INDEX i ON cheap (id)",
    "ALTER VIEW item AS SELECT 1",
    "ALTER VIEW nope AS SELECT 1",
    "RENAME TABLE item TO elsewhere.item",
    "RENAME TABLE cheap TO elsewhere.cheap",
    "SHOW CREATE VIEW item",
    "SHOW CREATE VIEW nope",
    "SHOW CREATE TRIGGER nope",
    "SHOW CREATE PROCEDURE nope",
    "SHOW CREATE FUNCTION nope",
    "SHOW CREATE EVENT nope",
    "CALL nope()",
    "CREATE VIEW n.v AS SELECT 1",
    "CREATE PROCEDURE n.p () SELECT 1",
    "DROP VIEW n.v",
    "DROP PROCEDURE n.p",
    "CREATE PROCEDURE p () BEGIN SELECT 1",
    "CREATE OR REPLACE PROCEDURE p () SELECT 1",
    "SHOW CREATE EVENT once",
    "SHOW CREATE EVENT seldom",
    "SHOW CREATE EVENT nightly",
    "SHOW EVENTS",
];

fn shown(answer: &ResultSet) -> String {
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_string(), |text| String::from_utf8_lossy(text).into_owned())
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join(", ");
    answer.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

fn answers(flavor: Flavor) -> Vec<String> {
    let server = Server::start(flavor, &Settings::default());
    let upto =
        SHOP.iter().position(|sql| sql.starts_with("INSERT INTO item VALUES (3")).expect("it is there");
    run_all(&server, &SHOP[..upto]);
    run_all(&server, &["CREATE DATABASE elsewhere"]);
    let mut client = server.connect();
    client.query("USE shop").expect("it was made");
    let mut told = Vec::new();
    for sql in ANSWERED {
        match client.query(sql) {
            Ok(answer) => told.push(format!("{sql}: {}", shown(&answer))),
            Err(error) => told.push(format!("{sql}: {error}")),
        }
        if sql.starts_with("SHOW") {
            continue;
        }
        let notes = client.query("SHOW WARNINGS").expect("it always works");
        told.push(format!("{sql}: {}", shown(&notes)));
    }
    told
}

#[test]
fn errors_and_notes_are_mysqls() {
    if available("kept_objects::errors_and_notes_are_mysqls", &[Flavor::MySql]) {
        let (ours, mysqls) = (answers(flavor_under_test()), answers(Flavor::MySql));
        let differing: Vec<String> = ours
            .iter()
            .zip(&mysqls)
            .filter(|(ours, mysqls)| ours != mysqls)
            .map(|(ours, mysqls)| format!("\nours:    {ours}\nmysql's: {mysqls}"))
            .collect();
        assert!(differing.is_empty(), "{}", differing.join("\n"));
    }
}

#[test]
fn objects_are_run_by_what_runs_them() {
    let server = Server::under_test();
    let upto =
        SHOP.iter().position(|sql| sql.starts_with("INSERT INTO item VALUES (3")).expect("it is there");
    run_all(&server, &SHOP[..upto]);
    server.run("INSERT INTO shop.item VALUES (9, 'x', -1, NULL)");
    let row = "SELECT price, seen IS NULL FROM shop.item WHERE id = 9";
    assert_eq!(server.rows(row), ["0.00\t0"], "the trigger has set both");
    server.run("REPLACE INTO shop.item VALUES (9, 'y', 1, NULL)");
    server.run("DELETE FROM shop.item WHERE id = 1");
    assert_eq!(server.rows("SELECT what FROM shop.audit ORDER BY id"), ["x", "lamp"]);
    assert_eq!(server.rows("CALL shop.plain()"), ["1"]);
    assert_eq!(server.rows("SELECT shop.taxed(1, 'a'), shop.label(7)"), ["1.20\tn; 7"]);
    // A prepared statement notices a new trigger.
    let mut client = server.connect();
    client.query("PREPARE s FROM 'INSERT INTO shop.audit (what) VALUES (1)'").expect("it is a statement");
    client.query("EXECUTE s").expect("there is no trigger yet");
    server.run("CREATE TRIGGER shop.late BEFORE INSERT ON shop.audit FOR EACH ROW SET NEW.what = 'late'");
    client.query("EXECUTE s").expect("the trigger is run");
    server.run("DROP TRIGGER shop.late");
    client.query("EXECUTE s").expect("the trigger is gone");
    let last = "SELECT what FROM shop.audit WHERE id > 2 ORDER BY id";
    assert_eq!(server.rows(last), ["1", "late", "1"]);
}

/// Dumps a server under test with the program of a real server, and loads the dump into another
/// server under test, whose dump must be the same.
fn dump_and_reload(dump_program: &str, before: &[String], flags: &[&str]) {
    let server = Server::under_test();
    let upto =
        SHOP.iter().position(|sql| sql.starts_with("INSERT INTO item VALUES (3")).expect("it is there");
    run_all(&server, &SHOP[..upto]);
    let connection = |server: &Server| {
        [
            "--no-defaults".to_string(),
            "--host=127.0.0.1".to_string(),
            format!("--port={}", server.port()),
            format!("--user={USER}"),
            format!("--password={USER}"),
        ]
    };
    let dump_of = |server: &Server| {
        let mut words: Vec<String> = before.to_vec();
        words.extend(connection(server));
        words.extend(flags.iter().map(|flag| flag.to_string()));
        words.extend(
            ["--routines", "--events", "--triggers", "--skip-dump-date", "--databases", "shop"]
                .map(str::to_string),
        );
        program::succeed(dump_program, &words)
    };
    let dump = dump_of(&server);
    for word in
        ["TRIGGER `item_in`", "PROCEDURE `restock`", "FUNCTION `taxed`", "EVENT `once`", "VIEW `cheap`"]
    {
        assert!(dump.contains(word), "{word} is not in the dump");
    }
    let copy = Server::under_test();
    let name = format!("slipstream-dump-{}-{}.sql", std::process::id(), copy.port());
    let path = std::env::temp_dir().join(name);
    os::disk::real().write_atomically(&path, dump.as_ref()).expect("there is room");
    let mut words: Vec<String> = connection(&copy).to_vec();
    words.push("--skip-ssl".to_string());
    words.push(format!("--execute=source {}", path.display()));
    program::succeed("mariadb", &words);
    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(dump_of(&copy), dump);
}

#[test]
fn mariadbs_dump_is_loaded_and_dumped_again() {
    if tool_available("kept_objects::mariadbs_dump_is_loaded_and_dumped_again", "mariadb-dump") {
        dump_and_reload("mariadb-dump", &[], &["--skip-ssl"]);
    }
}

#[test]
fn mysqls_dump_is_loaded_and_dumped_again() {
    if available("kept_objects::mysqls_dump_is_loaded_and_dumped_again", &[Flavor::MySql]) {
        let chroot = peers_dir().join("mysql-chroot").display().to_string();
        dump_and_reload("chroot", &[chroot, "mysqldump".to_string()], &["--set-gtid-purged=OFF"]);
    }
}
