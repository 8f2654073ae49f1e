//! The columns of the matrix: one statement of each kind that both servers have, and the statements
//! that undo its effect.

use protocol::command as com;

/// What is sent to the server.
#[derive(Clone, Copy)]
pub enum Ask {
    /// A statement. `{victim}` and `{system}` stand for the numbers of connections.
    Query(&'static str),
    /// A command's code and its body.
    Command(u8, &'static [u8]),
}

/// A column of the matrix.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub ask: Ask,
    /// The statements that the kit's own user runs after the statement was allowed.
    pub undo: &'static [&'static str],
    /// The statements that the session itself runs after the statement was allowed.
    pub own_undo: &'static [&'static str],
    /// Set if the rows are compared.
    pub shows: bool,
    /// The number of Slipstream's error where MySQL carries the statement out: the statement is not
    /// supported, but its privileges are checked first.
    pub not_here: Option<u16>,
}

const fn q(text: &'static str) -> Case {
    Case { name: text, ask: Ask::Query(text), undo: &[], own_undo: &[], shows: false, not_here: None }
}

const fn command(name: &'static str, code: u8, body: &'static [u8]) -> Case {
    Case { ask: Ask::Command(code, body), ..q(name) }
}

impl Case {
    const fn undo(self, undo: &'static [&'static str]) -> Case {
        Case { undo, ..self }
    }

    const fn own_undo(self, own_undo: &'static [&'static str]) -> Case {
        Case { own_undo, ..self }
    }

    const fn shows(self) -> Case {
        Case { shows: true, ..self }
    }

    const fn not_here(self, code: u16) -> Case {
        Case { not_here: Some(code), ..self }
    }
}

/// The statements that make the objects. The rows of the matrix have privileges on schema `d` and
/// its table `t`.
pub const SCHEMA: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE DATABASE e",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY kv (v))",
    "CREATE TABLE d.u (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE e.t (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE e.p (id INT PRIMARY KEY)",
    "CREATE TABLE d.c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES e.p (id))",
    "INSERT INTO d.t VALUES (1, 1), (2, 2)",
    "INSERT INTO d.u VALUES (1, 1)",
    "INSERT INTO e.t VALUES (1, 1)",
    "INSERT INTO e.p VALUES (1)",
    "INSERT INTO d.c VALUES (1)",
    "CREATE USER victim",
    "CREATE USER other",
    "CREATE USER powerful",
    "GRANT SYSTEM_USER ON *.* TO powerful",
    "CREATE USER definer",
    "CREATE USER above",
    "GRANT EXECUTE ON d.* TO definer",
    "GRANT SYSTEM_USER ON *.* TO above",
    PROCEDURE,
    FUNCTION,
    ABOVE,
    ROOTS_VIEW,
    READERS_VIEW,
];

/// A view of another schema that reads with the rights of root, whoever reads it.
const ROOTS_VIEW: &str = "CREATE VIEW d.roots AS SELECT id, v FROM e.t";
const READERS_VIEW: &str = "CREATE SQL SECURITY INVOKER VIEW d.readers AS SELECT id, v FROM e.t";

const ABOVE: &str = "CREATE DEFINER = above PROCEDURE d.sp() SELECT 1";
const PROCEDURE: &str = "CREATE DEFINER = definer PROCEDURE d.p() SELECT 1";
const FUNCTION: &str = "CREATE DEFINER = definer FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1";

/// Returns all columns of the matrix.
pub fn cases() -> Vec<Case> {
    [
        ROWS,
        COLUMNS,
        DEFINITIONS,
        OBJECTS,
        VIEWS,
        SHOWN,
        VARIABLES,
        SERVER,
        NOT_HERE,
        COMPUTED,
        REPLICATION,
        ACCOUNTS,
        COMMANDS,
        LAST,
    ]
    .concat()
}

const ROWS_AGAIN: &[&str] = &["REPLACE INTO d.t VALUES (1, 1), (2, 2)", "DELETE FROM d.t WHERE id > 2"];

/// Statements about rows.
const ROWS: &[Case] = &[
    q("SELECT 1"),
    q("SELECT * FROM d.t"),
    q("SELECT 1 FROM d.t"),
    q("SELECT COUNT(*) FROM d.t"),
    q("SELECT v FROM d.t WHERE id = 1"),
    q("SELECT nope FROM d.t"),
    q("SELECT * FROM e.t"),
    q("SELECT * FROM d.nope"),
    q("SELECT * FROM nope.nope"),
    q("SELECT d.t.id FROM d.t JOIN d.u ON d.t.id = d.u.id"),
    q("SELECT * FROM d.u WHERE id IN (SELECT id FROM d.t)"),
    q("SELECT * FROM (SELECT * FROM d.t) AS x"),
    q("SELECT * FROM d.t FOR UPDATE"),
    q("SELECT * FROM d.t FOR SHARE"),
    q("SELECT * FROM d.t LOCK IN SHARE MODE"),
    q("SELECT (SELECT MAX(id) FROM d.t)"),
    q("DO (SELECT MAX(id) FROM d.t)"),
    q("SET @x = (SELECT MAX(id) FROM d.t)"),
    q("INSERT INTO d.t VALUES (3, 3)").undo(ROWS_AGAIN),
    q("INSERT INTO d.t (id) VALUES (3)").undo(ROWS_AGAIN),
    q("INSERT INTO d.t SET id = 3").undo(ROWS_AGAIN),
    q("INSERT INTO d.nope VALUES (3, 3)"),
    q("INSERT INTO d.t SELECT id + 10, v FROM d.u").undo(ROWS_AGAIN),
    q("INSERT INTO d.u SELECT id + 10, v FROM d.t").undo(&["DELETE FROM d.u WHERE id > 1"]),
    q("INSERT IGNORE INTO d.t VALUES (1, 3)").undo(ROWS_AGAIN),
    q("INSERT INTO d.t VALUES (1, 3) ON DUPLICATE KEY UPDATE v = 4").undo(ROWS_AGAIN),
    q("INSERT INTO d.t VALUES (1, 3) ON DUPLICATE KEY UPDATE v = v + 1").undo(ROWS_AGAIN),
    q("INSERT INTO d.t VALUES (1, 3) ON DUPLICATE KEY UPDATE v = VALUES(v)").undo(ROWS_AGAIN),
    q("REPLACE INTO d.t VALUES (1, 3)").undo(ROWS_AGAIN),
    q("REPLACE INTO d.nope VALUES (1, 3)"),
    q("UPDATE d.t SET v = 5").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = v + 1").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = 5 WHERE id = 1").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = 5 ORDER BY id LIMIT 1").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = (SELECT MAX(v) FROM d.u)").undo(ROWS_AGAIN),
    q("UPDATE d.nope SET v = 5"),
    q("DELETE FROM d.t").undo(ROWS_AGAIN),
    q("DELETE FROM d.t WHERE id = 1").undo(ROWS_AGAIN),
    q("DELETE FROM d.t ORDER BY id LIMIT 1").undo(ROWS_AGAIN),
    q("DELETE FROM d.t WHERE id IN (SELECT id FROM d.u)").undo(ROWS_AGAIN),
    q("DELETE FROM d.nope"),
    q("INSERT INTO d.c VALUES (9)"),
    q("UPDATE d.c SET id = 9"),
    q("DELETE FROM e.p"),
    q("EXPLAIN SELECT * FROM d.t"),
    q("EXPLAIN UPDATE d.t SET v = 5"),
    q("EXPLAIN DELETE FROM d.t"),
    q("EXPLAIN INSERT INTO d.t VALUES (3, 3)"),
    q("PREPARE p FROM 'SELECT * FROM d.t'"),
    q("PREPARE p FROM 'INSERT INTO d.t VALUES (3, 3)'"),
    q("PREPARE p FROM 'UPDATE d.t SET v = 5'"),
    q("PREPARE p FROM 'DROP TABLE d.nope'"),
    q("LOCK TABLES d.t READ").own_undo(&["UNLOCK TABLES"]),
    q("LOCK TABLES d.t WRITE").own_undo(&["UNLOCK TABLES"]),
    q("LOCK TABLES d.nope READ"),
    q("LOCK TABLES d.t READ, e.t WRITE").own_undo(&["UNLOCK TABLES"]),
    q("USE d"),
    q("USE e"),
    q("USE nope"),
    q("USE mysql"),
    q("USE information_schema"),
    q("USE performance_schema"),
    q("SHOW TABLES FROM performance_schema"),
    q("SHOW TABLES FROM information_schema"),
    q("XA RECOVER"),
    q("BEGIN").own_undo(&["ROLLBACK"]),
];

/// Statements for which privileges on some columns are enough.
const COLUMNS: &[Case] = &[
    q("SELECT id FROM d.t"),
    q("SELECT v FROM d.t"),
    q("SELECT id, v FROM d.t"),
    q("SELECT id FROM d.t WHERE v = 1"),
    q("SELECT id FROM d.t ORDER BY v"),
    q("SELECT MAX(id) FROM d.t GROUP BY v"),
    q("SELECT id FROM d.t FOR UPDATE"),
    q("SELECT 1 FROM d.u JOIN d.t USING (id)"),
    q("SELECT 1 FROM d.u NATURAL JOIN d.t"),
    q("SELECT x.id FROM (SELECT id FROM d.t) AS x"),
    q("SELECT @x := id FROM d.t LIMIT 1"),
    q("INSERT INTO d.t (id, v) VALUES (3, 3)").undo(ROWS_AGAIN),
    q("INSERT INTO d.t () VALUES ()"),
    q("INSERT INTO d.t (v) VALUES (3)"),
    q("INSERT INTO d.t (id) VALUES (1) ON DUPLICATE KEY UPDATE v = 1").undo(ROWS_AGAIN),
    q("INSERT INTO d.t (id) VALUES (1) ON DUPLICATE KEY UPDATE v = v + 1").undo(ROWS_AGAIN),
    q("INSERT INTO d.t (id) VALUES (1) ON DUPLICATE KEY UPDATE id = 1"),
    q("INSERT INTO d.t (id) SELECT id FROM d.t WHERE id < 0"),
    q("REPLACE INTO d.t (id) VALUES (3)").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = v + 1").undo(ROWS_AGAIN),
    q("UPDATE d.t SET v = id").undo(ROWS_AGAIN),
    q("UPDATE d.t SET id = 1 WHERE id = 1"),
    q("UPDATE d.t SET v = 2 ORDER BY id LIMIT 1").undo(ROWS_AGAIN),
    q("DELETE FROM d.t WHERE v = 99"),
    q("CREATE TABLE e.n (id INT, FOREIGN KEY (id) REFERENCES d.t (id))").undo(&["DROP TABLE e.n"]),
    q("SHOW COLUMNS FROM d.t").shows(),
    q("SHOW FULL COLUMNS FROM d.t").shows(),
    q("SHOW COLUMNS FROM d.t LIKE 'v'").shows(),
    q("DESCRIBE d.t").shows(),
    q("DESCRIBE d.t v").shows(),
    q("EXPLAIN SELECT id FROM d.t"),
    q("SELECT column_name, privileges FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 't' \
       ORDER BY 1")
    .shows(),
    q("SELECT index_name, seq_in_index, column_name FROM information_schema.statistics WHERE table_schema = 'd' AND \
       table_name = 't' ORDER BY 1, 2")
    .shows(),
    q("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd' ORDER BY 1").shows(),
    q("SELECT grantee, table_name, column_name, privilege_type, is_grantable FROM \
       information_schema.column_privileges WHERE grantee LIKE '\\'row%' AND table_schema = 'd' ORDER BY 3, 4")
    .shows(),
    command("COM_STMT_PREPARE SELECT id FROM d.t", com::STMT_PREPARE, b"SELECT id FROM d.t"),
    command("COM_STMT_PREPARE INSERT id", com::STMT_PREPARE, b"INSERT INTO d.t (id) VALUES (?)"),
];

/// Statements about objects that are no tables.
const OBJECTS: &[Case] = &[
    q("CALL d.p()").not_here(1235),
    q("CALL d.nope()"),
    q("CALL nope.nope()"),
    q("SELECT d.f()").not_here(1235),
    q("SELECT d.nope()"),
    q("SHOW CREATE PROCEDURE d.p"),
    q("SHOW CREATE PROCEDURE d.nope"),
    q("SHOW CREATE FUNCTION d.f"),
    q("SELECT routine_name, routine_definition IS NULL FROM information_schema.routines WHERE routine_schema = 'd' \
       ORDER BY 1")
    .shows(),
    q("SELECT specific_name FROM information_schema.parameters WHERE specific_schema = 'd' ORDER BY 1").shows(),
    q("CREATE PROCEDURE d.p() SELECT 1"),
    q("CREATE PROCEDURE IF NOT EXISTS d.p() SELECT 1"),
    q("CREATE PROCEDURE d.n() SELECT 1").undo(&["DROP PROCEDURE d.n"]),
    q("CREATE DEFINER = definer PROCEDURE d.n() SELECT 1").undo(&["DROP PROCEDURE d.n"]),
    q("CREATE DEFINER = above PROCEDURE d.n() SELECT 1").undo(&["DROP PROCEDURE d.n"]),
    q("CREATE DEFINER = nope PROCEDURE d.n() SELECT 1").undo(&["DROP PROCEDURE d.n"]),
    q("CREATE PROCEDURE nope.n() SELECT 1"),
    q("CREATE FUNCTION d.n() RETURNS INT DETERMINISTIC RETURN 1").undo(&["DROP FUNCTION d.n"]),
    q("CREATE FUNCTION d.n() RETURNS INT RETURN 1"),
    q("CREATE VIEW d.n AS SELECT 1 AS a").undo(&["DROP VIEW d.n"]),
    q("CREATE DEFINER = above VIEW d.n AS SELECT 1 AS a").undo(&["DROP VIEW d.n"]),
    q("CREATE DEFINER = nope VIEW d.n AS SELECT 1 AS a").undo(&["DROP VIEW d.n"]),
    q("CREATE VIEW d.n AS SELECT id FROM d.t").undo(&["DROP VIEW d.n"]),
    q("CREATE VIEW d.n AS SELECT * FROM e.t").undo(&["DROP VIEW d.n"]),
    q("CREATE VIEW d.n AS SELECT * FROM d.nope"),
    q("CREATE OR REPLACE VIEW d.t AS SELECT 1 AS a"),
    q("ALTER VIEW d.nope AS SELECT 1 AS a"),
    q("CREATE TRIGGER d.n BEFORE INSERT ON d.t FOR EACH ROW SET @a = 1").undo(&["DROP TRIGGER d.n"]),
    q("CREATE DEFINER = above TRIGGER d.n BEFORE INSERT ON d.t FOR EACH ROW SET @a = 1")
        .undo(&["DROP TRIGGER d.n"]),
    q("CREATE TRIGGER d.n BEFORE INSERT ON d.nope FOR EACH ROW SET @a = 1"),
    q("CREATE EVENT d.n ON SCHEDULE EVERY 1 DAY DO SELECT 1").undo(&["DROP EVENT d.n"]),
    q("CREATE DEFINER = definer EVENT d.n ON SCHEDULE EVERY 1 DAY DO SELECT 1").undo(&["DROP EVENT d.n"]),
    q("CREATE DEFINER = nope EVENT d.n ON SCHEDULE EVERY 1 DAY DO SELECT 1").undo(&["DROP EVENT d.n"]),
    q("ALTER EVENT d.nope COMMENT 'x'"),
    q("ALTER PROCEDURE d.p COMMENT 'x'"),
    q("ALTER PROCEDURE d.sp COMMENT 'x'"),
    q("ALTER PROCEDURE d.nope COMMENT 'x'"),
    q("ALTER FUNCTION d.f COMMENT 'x'"),
    q("GRANT EXECUTE ON PROCEDURE d.p TO other").undo(&["REVOKE EXECUTE ON PROCEDURE d.p FROM other"]),
    q("GRANT ALTER ROUTINE ON FUNCTION d.f TO other").undo(&["REVOKE ALTER ROUTINE ON FUNCTION d.f FROM other"]),
    q("GRANT EXECUTE ON PROCEDURE d.nope TO other"),
    q("GRANT SELECT (id) ON d.t TO other").undo(&["REVOKE SELECT (id) ON d.t FROM other"]),
    q("REVOKE EXECUTE ON PROCEDURE d.p FROM other"),
    q("REVOKE SELECT (id) ON d.t FROM other"),
    q("DROP PROCEDURE d.nope"),
];

/// Statements that remove privileges on routines with the routine. They come after all statements
/// that need these privileges.
const LAST: &[Case] = &[
    q("DROP PROCEDURE d.sp").undo(&[ABOVE]),
    q("DROP FUNCTION d.f").undo(&[FUNCTION]),
    q("DROP PROCEDURE d.p").undo(&[PROCEDURE]),
];

/// Statements about definitions.
const DEFINITIONS: &[Case] = &[
    q("CREATE DATABASE f").undo(&["DROP DATABASE f"]),
    q("CREATE DATABASE IF NOT EXISTS d"),
    q("CREATE DATABASE d"),
    q("ALTER DATABASE d CHARACTER SET utf8mb4"),
    q("ALTER DATABASE nope CHARACTER SET utf8mb4"),
    q("DROP DATABASE nope"),
    q("DROP DATABASE IF EXISTS nope"),
    q("DROP DATABASE d").undo(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY kv (v))",
        "CREATE TABLE d.u (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE d.c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES e.p (id))",
        "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "INSERT INTO d.u VALUES (1, 1)",
        "INSERT INTO d.c VALUES (1)",
        PROCEDURE,
        FUNCTION,
        ABOVE,
        ROOTS_VIEW,
        READERS_VIEW,
    ]),
    q("CREATE TABLE d.n (id INT)").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE IF NOT EXISTS d.t (id INT)"),
    q("CREATE TABLE d.t (id INT)"),
    q("CREATE TABLE nope.n (id INT)"),
    q("CREATE TABLE d.n LIKE d.t").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE d.n LIKE e.t").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE d.n LIKE d.nope"),
    q("CREATE TABLE d.n SELECT * FROM d.t").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE d.n SELECT 1 AS x").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE d.n (id INT, FOREIGN KEY (id) REFERENCES d.t (id))").undo(&["DROP TABLE d.n"]),
    q("CREATE TABLE d.n (id INT, FOREIGN KEY (id) REFERENCES e.t (id))").undo(&["DROP TABLE d.n"]),
    q("ALTER TABLE d.u ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES d.t (id)")
        .undo(&["ALTER TABLE d.u DROP FOREIGN KEY fk"]),
    q("CREATE TEMPORARY TABLE d.n (id INT)").own_undo(&["DROP TEMPORARY TABLE d.n"]).not_here(1235),
    q("ALTER TABLE d.t ADD n INT").undo(&["ALTER TABLE d.t DROP COLUMN n"]),
    q("ALTER TABLE d.t COMMENT 'x'").undo(&["ALTER TABLE d.t COMMENT ''"]),
    q("ALTER TABLE d.t ADD KEY n (v, id)").undo(&["ALTER TABLE d.t DROP KEY n"]),
    q("ALTER TABLE d.t RENAME d.n").undo(&["RENAME TABLE d.n TO d.t"]),
    q("ALTER TABLE d.t RENAME e.n").undo(&["RENAME TABLE e.n TO d.t"]),
    q("ALTER TABLE d.nope ADD n INT"),
    q("RENAME TABLE d.t TO d.n").undo(&["RENAME TABLE d.n TO d.t"]),
    q("RENAME TABLE d.t TO e.n").undo(&["RENAME TABLE e.n TO d.t"]),
    q("RENAME TABLE d.nope TO d.n"),
    q("TRUNCATE TABLE d.u").undo(&["INSERT INTO d.u VALUES (1, 1)"]),
    q("TRUNCATE TABLE d.t").undo(ROWS_AGAIN),
    q("TRUNCATE TABLE d.nope"),
    q("CREATE INDEX n ON d.t (v, id)").undo(&["DROP INDEX n ON d.t"]),
    q("CREATE INDEX n ON d.nope (v, id)"),
    q("DROP INDEX kv ON d.t").undo(&["CREATE INDEX kv ON d.t (v)"]),
    q("DROP INDEX nope ON d.t"),
    q("DROP INDEX nope ON d.nope"),
    q("DROP TABLE d.u")
        .undo(&["CREATE TABLE d.u (id INT PRIMARY KEY, v INT)", "INSERT INTO d.u VALUES (1, 1)"]),
    q("DROP TABLE d.nope"),
    q("DROP TABLE IF EXISTS d.nope"),
    q("DROP VIEW d.nope"),
    q("DROP VIEW IF EXISTS d.nope"),
    q("DROP TRIGGER IF EXISTS d.nope"),
    q("DROP PROCEDURE IF EXISTS d.nope"),
    q("DROP FUNCTION IF EXISTS d.nope"),
    q("DROP EVENT IF EXISTS d.nope"),
    q("CHECK TABLE d.t"),
    q("CHECK TABLE d.nope"),
    q("CHECKSUM TABLE d.t"),
    q("CHECKSUM TABLE d.nope"),
    q("ANALYZE TABLE d.t"),
    q("OPTIMIZE TABLE d.t"),
    q("REPAIR TABLE d.t"),
    q("ANALYZE TABLE d.nope"),
];

/// Views, which read with the rights of their definers or of the accounts that read them.
const VIEWS: &[Case] = &[
    q("SELECT * FROM d.roots").shows(),
    q("SELECT id FROM d.roots").shows(),
    q("SELECT COUNT(*) FROM d.roots").shows(),
    q("SELECT roots.v FROM d.roots JOIN d.t USING (id)").shows(),
    q("SELECT (SELECT MAX(v) FROM d.roots) FROM d.t").shows(),
    q("SELECT * FROM d.readers").shows(),
    q("SELECT id FROM d.readers").shows(),
    q("EXPLAIN FORMAT = TRADITIONAL SELECT * FROM d.roots"),
    q("EXPLAIN FORMAT = TRADITIONAL SELECT * FROM d.readers"),
    q("SHOW COLUMNS FROM d.roots").shows(),
    q("SHOW COLUMNS FROM d.readers").shows(),
    q("SHOW CREATE VIEW d.roots"),
    q("SHOW CREATE VIEW d.readers"),
    q("SHOW CREATE TABLE d.roots"),
    q("CREATE VIEW d.n AS SELECT * FROM d.roots").undo(&["DROP VIEW d.n"]),
    q("CREATE VIEW d.n AS SELECT id FROM d.readers").undo(&["DROP VIEW d.n"]),
    q("DROP VIEW d.roots").undo(&[ROOTS_VIEW]),
    q("GRANT SELECT ON d.roots TO other").undo(&["REVOKE SELECT ON d.roots FROM other"]),
];

/// Statements that show what the account may see.
const SHOWN: &[Case] = &[
    q("SHOW DATABASES LIKE '_'").shows(),
    q("SHOW DATABASES LIKE 'mysql'").shows(),
    q("SHOW TABLES FROM d").shows(),
    q("SHOW TABLES FROM e").shows(),
    q("SHOW TABLES FROM nope"),
    q("SHOW TABLES FROM mysql LIKE 'user'").shows(),
    q("SHOW TABLE STATUS FROM d"),
    q("SHOW COLUMNS FROM d.t"),
    q("SHOW FULL COLUMNS FROM d.t"),
    q("SHOW COLUMNS FROM d.nope"),
    q("DESCRIBE d.t"),
    q("SHOW INDEX FROM d.t"),
    q("SHOW INDEX FROM d.nope"),
    q("SHOW CREATE TABLE d.t"),
    q("SHOW CREATE TABLE d.nope"),
    q("SHOW CREATE DATABASE d"),
    q("SHOW CREATE DATABASE nope"),
    q("SHOW TRIGGERS FROM d"),
    q("SHOW TRIGGERS FROM nope"),
    q("SHOW EVENTS FROM d"),
    q("SHOW OPEN TABLES FROM d"),
    q("SHOW PROCEDURE STATUS LIKE 'nope'"),
    q("SHOW FUNCTION STATUS LIKE 'nope'"),
    q("SHOW VARIABLES LIKE 'port'"),
    q("SHOW STATUS LIKE 'Questions'"),
    q("SHOW WARNINGS"),
    q("SHOW ENGINES"),
    q("SHOW PLUGINS"),
    q("SHOW PRIVILEGES"),
    q("SHOW COLLATION LIKE 'utf8mb4_bin'"),
    q("SHOW ENGINE INNODB STATUS"),
    q("SHOW ENGINE INNODB MUTEX"),
    q("SHOW ENGINE nope STATUS"),
    q("SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('d', 'e', 'mysql') ORDER BY 1").shows(),
    q("SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('d', 'e') ORDER BY 1, 2").shows(),
    q("SELECT table_schema, table_name, column_name FROM information_schema.columns WHERE table_schema IN ('d', 'e') ORDER BY 1, 2, 3").shows(),
    q("SELECT table_schema, table_name, index_name FROM information_schema.statistics WHERE table_schema IN ('d', 'e') ORDER BY 1, 2, 3").shows(),
    q("SELECT table_schema, table_name, column_name FROM information_schema.key_column_usage WHERE table_schema IN ('d', 'e') ORDER BY 1, 2").shows(),
    q("SELECT table_schema, table_name FROM information_schema.table_constraints WHERE table_schema IN ('d', 'e') ORDER BY 1, 2").shows(),
    q("SELECT user FROM information_schema.processlist WHERE user IN ('victim', 'powerful') ORDER BY 1").shows(),
    q("SELECT DISTINCT grantee FROM information_schema.user_privileges WHERE grantee LIKE '\\'victim%'").shows(),
    q("SELECT COUNT(*) FROM information_schema.nope"),
    q("SELECT COUNT(*) FROM performance_schema.threads"),
    q("SELECT COUNT(*) FROM performance_schema.data_locks"),
    q("SELECT COUNT(*) FROM performance_schema.data_lock_waits"),
    q("SELECT COUNT(*) FROM performance_schema.processlist"),
    q("SELECT COUNT(*) FROM performance_schema.global_variables"),
    q("SELECT COUNT(*) FROM performance_schema.session_variables"),
    q("SELECT COUNT(*) FROM performance_schema.global_status"),
    q("SELECT COUNT(*) FROM performance_schema.session_status"),
    q("SELECT COUNT(*) FROM performance_schema.replication_connection_configuration"),
    q("SELECT COUNT(*) FROM performance_schema.replication_applier_status"),
    q("SELECT COUNT(*) FROM performance_schema.nope"),
    q("SELECT COUNT(*) FROM mysql.user"),
    q("SELECT COUNT(*) FROM mysql.nope"),
    q("SHOW PROCESSLIST"),
    q("SHOW GRANTS"),
    q("SHOW GRANTS FOR other"),
    q("SHOW GRANTS FOR CURRENT_USER"),
    q("SHOW GRANTS FOR nope"),
    q("SHOW CREATE USER other"),
    q("SHOW CREATE USER CURRENT_USER"),
    q("SHOW CREATE USER nope"),
    q("SHOW PROFILES"),
];

/// Statements about system variables.
const VARIABLES: &[Case] = &[
    q("SET SESSION autocommit = 1"),
    q("SET SESSION sql_mode = DEFAULT"),
    q("SET SESSION sort_buffer_size = DEFAULT"),
    q("SET SESSION gtid_next = 'AUTOMATIC'"),
    q("SET SESSION gtid_next = 'AUTOMATIC:tag'").own_undo(&["SET SESSION gtid_next = 'AUTOMATIC'"]),
    q("SET SESSION gtid_next = '3E11FA47-71CA-11E1-9E33-C80AA9429562:1'")
        .own_undo(&["ROLLBACK", "SET SESSION gtid_next = 'AUTOMATIC'"]),
    q("SET SESSION gtid_next = '3E11FA47-71CA-11E1-9E33-C80AA9429562:tag:1'")
        .own_undo(&["ROLLBACK", "SET SESSION gtid_next = 'AUTOMATIC'"]),
    q("SET SESSION gtid_next = 'nope'"),
    q("SET SESSION sql_log_bin = 1"),
    q("SET SESSION sql_log_off = 0"),
    q("SET SESSION binlog_format = 'ROW'"),
    q("SET SESSION binlog_row_image = 'FULL'"),
    q("SET SESSION binlog_row_value_options = ''"),
    q("SET SESSION binlog_rows_query_log_events = 0"),
    q("SET SESSION binlog_transaction_compression = 0"),
    q("SET SESSION binlog_transaction_compression_level_zstd = 3"),
    q("SET SESSION bulk_insert_buffer_size = DEFAULT"),
    q("SET SESSION character_set_database = DEFAULT"),
    q("SET SESSION character_set_filesystem = DEFAULT"),
    q("SET SESSION innodb_strict_mode = 1"),
    q("SET SESSION max_error_count = DEFAULT"),
    q("SET SESSION min_examined_row_limit = DEFAULT"),
    q("SET SESSION select_into_buffer_size = DEFAULT"),
    q("SET SESSION select_into_disk_sync_delay = DEFAULT"),
    q("SET SESSION sql_require_primary_key = 0"),
    q("SET SESSION xa_detach_on_prepare = 1"),
    q("SET SESSION pseudo_replica_mode = 0"),
    q("SET SESSION pseudo_thread_id = CONNECTION_ID()"),
    q("SET SESSION max_allowed_packet = 65536"),
    q("SET SESSION net_buffer_length = 65536"),
    q("SET SESSION timestamp = DEFAULT"),
    q("SET SESSION transaction_isolation = DEFAULT"),
    q("SET SESSION foreign_key_checks = 1"),
    q("SET SESSION long_query_time = DEFAULT"),
    q("SET SESSION nope = 1"),
    q("SET SESSION port = 1"),
    q("SET SESSION max_connections = 1"),
    q("SET GLOBAL nope = 1"),
    q("SET GLOBAL port = 1"),
    q("SET GLOBAL max_connections = DEFAULT"),
    q("SET GLOBAL sort_buffer_size = DEFAULT"),
    q("SET GLOBAL read_only = 0"),
    q("SET GLOBAL super_read_only = 0"),
    q("SET GLOBAL gtid_purged = ''"),
    q("SET GLOBAL gtid_next = 'AUTOMATIC'"),
    q("SET GLOBAL sql_log_bin = 1"),
    q("SET GLOBAL binlog_format = 'ROW'"),
    q("SET GLOBAL replica_allow_higher_version_source = 1")
        .undo(&["SET GLOBAL replica_allow_higher_version_source = DEFAULT"]),
    q("SET GLOBAL offline_mode = 0"),
    q("SET PERSIST max_connections = 151").not_here(1235),
    q("SET PERSIST_ONLY max_connections = 151").not_here(1235),
    q("SET PERSIST_ONLY back_log = 151").not_here(1235),
    q("SET GLOBAL mandatory_roles = ''"),
    q("SET GLOBAL mandatory_roles = 'above'"),
    q("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
    q("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
    q("SET TRANSACTION READ WRITE"),
    q("SET NAMES utf8mb4"),
    q("SELECT @@global.max_connections"),
    q("SELECT @@session.sql_log_bin"),
];

/// Statements about the server.
const SERVER: &[Case] = &[
    q("FLUSH STATUS"),
    q("FLUSH TABLES"),
    q("FLUSH TABLES d.t"),
    q("FLUSH TABLES d.nope"),
    q("FLUSH TABLES WITH READ LOCK").own_undo(&["UNLOCK TABLES"]),
    q("FLUSH PRIVILEGES"),
    q("FLUSH USER_RESOURCES"),
    q("FLUSH OPTIMIZER_COSTS"),
    q("FLUSH LOGS"),
    q("FLUSH BINARY LOGS"),
    q("FLUSH ERROR LOGS"),
    q("FLUSH ENGINE LOGS"),
    q("FLUSH RELAY LOGS").not_here(1235),
    q("KILL 999999999"),
    q("KILL QUERY {victim}"),
    q("KILL QUERY {system}"),
    q("RESTART"),
];

/// Statements that are not supported. An account that may not run them gets the error about its
/// privilege.
const NOT_HERE: &[Case] = &[
    q("HANDLER d.nope OPEN"),
    q("HANDLER d.t OPEN AS h").own_undo(&["HANDLER h CLOSE"]),
    q("TABLE d.t"),
    q("UNINSTALL PLUGIN nope").not_here(1235),
    q("CREATE TABLESPACE ts ADD DATAFILE 'nope'").not_here(1235),
    q("DROP SERVER nope").not_here(1235),
    q("DROP RESOURCE GROUP nope").not_here(1235),
    q("CLONE LOCAL DATA DIRECTORY 'nope'").not_here(1525),
    q("CLONE INSTANCE FROM a@b:3306 IDENTIFIED BY 'nope'"),
    q("ALTER INSTANCE ROTATE BINLOG MASTER KEY").not_here(1235),
    q("START GROUP_REPLICATION").not_here(1235),
    q("BINLOG 'nope'"),
    q("SELECT 1 INTO OUTFILE '/nope/nope'"),
    q("SELECT 1 FROM d.t INTO OUTFILE '/nope/nope'"),
    q("LOAD DATA INFILE '/nope' INTO TABLE d.t"),
    q("LOAD DATA INFILE '/nope' REPLACE INTO TABLE d.t"),
    q("LOAD DATA LOCAL INFILE '/nope' INTO TABLE d.t"),
    q("WITH c AS (SELECT 1 AS a FROM d.t) SELECT * FROM c"),
    q("WITH c AS (SELECT 1 AS a) SELECT 1 FROM c JOIN d.t"),
    q("WITH c AS (SELECT 1 AS a FROM d.nope) SELECT * FROM c"),
    q("INSERT INTO d.t (id) WITH c AS (SELECT 9 AS a) SELECT * FROM c").undo(ROWS_AGAIN),
    q("CREATE TABLE d.n AS WITH c AS (SELECT 1 AS a) SELECT * FROM c").undo(&["DROP TABLE d.n"]),
    q("SELECT ROW_NUMBER() OVER () FROM d.t"),
    q("SELECT RANK() OVER w FROM d.u, d.t WINDOW w AS ()"),
    q("SELECT 1 FROM d.t INTERSECT SELECT 1 FROM d.u"),
    q("SELECT 1 FROM d.u EXCEPT SELECT 1 FROM d.t"),
    q("SELECT 1 FROM d.t, LATERAL (SELECT 2) AS x"),
    q("SELECT 1 FROM d.t LIMIT 1 INTO @x").not_here(1235),
    q("EXPLAIN FORMAT=JSON SELECT 1 FROM d.t"),
    q("EXPLAIN ANALYZE SELECT 1 FROM d.t"),
    q("EXPLAIN ANALYZE UPDATE d.t JOIN d.u SET d.t.v = 5"),
    q("UPDATE d.t, d.u SET d.t.v = 5").undo(ROWS_AGAIN).not_here(1235),
    q("UPDATE d.u JOIN d.t SET d.t.v = 5").undo(ROWS_AGAIN),
    q("DELETE d.t FROM d.t JOIN d.u").undo(ROWS_AGAIN),
    q("DELETE FROM d.t USING d.u JOIN d.t").undo(ROWS_AGAIN),
    q("PREPARE p FROM 'WITH c AS (SELECT 1 AS a FROM d.t) SELECT * FROM c'"),
    q("PREPARE p FROM 'LOAD DATA INFILE \"/nope\" INTO TABLE d.t'"),
    q("PREPARE p FROM 'HANDLER d.t OPEN'"),
    q("PREPARE p FROM 'CALL d.p()'"),
    q("PREPARE p FROM 'CALL d.nope()'"),
    q("PREPARE p FROM 'CALL nope.nope()'"),
    q("ALTER TABLE d.nope DISCARD TABLESPACE").not_here(1235),
    q("UNLOCK INSTANCE").not_here(1235),
    q("SET RESOURCE GROUP nope").not_here(1235),
    q("ALTER INSTANCE ENABLE INNODB REDO_LOG").not_here(1235),
    q("SET PERSIST_ONLY max_connections = 151").not_here(1235),
];

/// Statements that would change computed tables, which nobody may.
const COMPUTED: &[Case] = &[
    q("INSERT INTO performance_schema.threads VALUES (1)"),
    q("REPLACE INTO performance_schema.threads VALUES (1)"),
    q("DELETE FROM performance_schema.threads"),
    q("DELETE FROM performance_schema.nope"),
    q("TRUNCATE TABLE performance_schema.host_cache"),
    q("TRUNCATE TABLE performance_schema.threads"),
    q("DROP TABLE performance_schema.threads"),
    q("ALTER TABLE performance_schema.threads ADD x INT"),
    q("CREATE INDEX i ON performance_schema.threads (a)"),
    q("RENAME TABLE performance_schema.threads TO d.x"),
    q("CREATE TABLE performance_schema.n (id INT)"),
    q("CREATE VIEW performance_schema.n AS SELECT 1"),
    q("CREATE PROCEDURE performance_schema.n() SELECT 1"),
    q("DROP DATABASE performance_schema"),
    q("CREATE DATABASE performance_schema"),
    q("INSERT INTO information_schema.processlist VALUES (1)"),
    q("UPDATE information_schema.processlist SET id = 1"),
    q("DELETE FROM information_schema.processlist"),
    q("TRUNCATE TABLE information_schema.processlist"),
    q("DROP TABLE information_schema.processlist"),
    q("ALTER TABLE information_schema.processlist ADD x INT"),
    q("CREATE TABLE information_schema.n (id INT)"),
    q("DROP DATABASE information_schema"),
];

/// Statements about replication and the binary log.
const REPLICATION: &[Case] = &[
    q("SHOW REPLICA STATUS"),
    q("SHOW REPLICAS"),
    q("SHOW BINARY LOGS"),
    q("SHOW BINARY LOG STATUS"),
    q("SHOW BINLOG EVENTS LIMIT 1"),
    q("SHOW RELAYLOG EVENTS LIMIT 1"),
    q("PURGE BINARY LOGS TO 'nope'"),
    q("PURGE BINARY LOGS BEFORE '2000-01-01'"),
    q("RESET BINARY LOGS AND GTIDS TO 3000000000"),
    q("RESET REPLICA"),
    q("RESET REPLICA ALL FOR CHANNEL 'nope'"),
    q("CHANGE REPLICATION SOURCE TO SOURCE_PORT = 1").undo(&["RESET REPLICA ALL"]),
    q("CHANGE REPLICATION FILTER REPLICATE_DO_DB = ()"),
    q("START REPLICA"),
    q("START REPLICA FOR CHANNEL 'nope'"),
    q("STOP REPLICA"),
    q("STOP REPLICA FOR CHANNEL 'nope'"),
];

/// Statements about accounts.
const ACCOUNTS: &[Case] = &[
    q("CREATE USER fresh").undo(&["DROP USER fresh"]),
    q("CREATE USER IF NOT EXISTS other"),
    q("CREATE USER other"),
    q("ALTER USER other IDENTIFIED BY 'x'").undo(&["ALTER USER other IDENTIFIED BY ''"]),
    q("ALTER USER other ACCOUNT UNLOCK"),
    q("ALTER USER nope ACCOUNT UNLOCK"),
    q("ALTER USER IF EXISTS nope ACCOUNT UNLOCK"),
    q("ALTER USER powerful ACCOUNT UNLOCK"),
    q("ALTER USER USER() IDENTIFIED BY 'row'"),
    q("SET PASSWORD = 'row'"),
    q("SET PASSWORD FOR other = 'x'").undo(&["ALTER USER other IDENTIFIED BY ''"]),
    q("SET PASSWORD FOR powerful = ''"),
    q("SET PASSWORD FOR nope = 'x'"),
    q("RENAME USER other TO other2").undo(&["RENAME USER other2 TO other"]),
    q("RENAME USER powerful TO powerful2").undo(&["RENAME USER powerful2 TO powerful"]),
    q("RENAME USER nope TO nope2"),
    q("DROP USER other").undo(&["CREATE USER other"]),
    q("DROP USER powerful").undo(&["CREATE USER powerful", "GRANT SYSTEM_USER ON *.* TO powerful"]),
    q("DROP USER nope"),
    // Routines name this account as their definer.
    q("RENAME USER definer TO definer2").undo(&["RENAME USER definer2 TO definer"]),
    q("CREATE USER IF NOT EXISTS definer"),
    q("ALTER USER definer ACCOUNT UNLOCK"),
    q("DROP USER IF EXISTS nope"),
    q("GRANT SELECT ON e.* TO other").undo(&["REVOKE SELECT ON e.* FROM other"]),
    q("GRANT SELECT ON e.* TO powerful").undo(&["REVOKE SELECT ON e.* FROM powerful"]),
    q("GRANT SELECT ON d.t TO other").undo(&["REVOKE SELECT ON d.t FROM other"]),
    q("GRANT RELOAD ON *.* TO other").undo(&["REVOKE RELOAD ON *.* FROM other"]),
    q("REVOKE SELECT ON e.* FROM other"),
    q("CREATE ROLE fresh").undo(&["DROP ROLE fresh"]),
    q("DROP ROLE nope"),
    q("SET ROLE NONE").own_undo(&["SET ROLE DEFAULT"]),
];

/// Commands of the protocol that are no queries.
const COMMANDS: &[Case] = &[
    command("COM_INIT_DB d", com::INIT_DB, b"d"),
    command("COM_STATISTICS", com::STATISTICS, b""),
    command("COM_PING", com::PING, b""),
    command("COM_DEBUG", com::DEBUG, b""),
    command("COM_STMT_PREPARE SELECT * FROM d.t", com::STMT_PREPARE, b"SELECT * FROM d.t"),
    command("COM_STMT_PREPARE DELETE FROM d.t", com::STMT_PREPARE, b"DELETE FROM d.t"),
    command("COM_STMT_PREPARE SHOW BINARY LOGS", com::STMT_PREPARE, b"SHOW BINARY LOGS"),
    command("COM_FIELD_LIST of no schema", com::FIELD_LIST, b"t\0"),
    command("COM_SET_OPTION", com::SET_OPTION, b"\x01\0"),
    command("COM_BINLOG_DUMP", com::BINLOG_DUMP, b"\x04\0\0\0\0\0\x09\0\0\0nope"),
    command(
        "COM_BINLOG_DUMP_GTID",
        com::BINLOG_DUMP_GTID,
        b"\0\0\x09\0\0\0\x04\0\0\0nope\x04\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0",
    ),
    command("COM_REGISTER_SLAVE", com::REGISTER_SLAVE, b"\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
];
