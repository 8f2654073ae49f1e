//! Tests that information_schema has MySQL's tables: a real MySQL says which columns and types they
//! have, how names are compared in them, and which rows they have for the same objects.

use bench::instance::Settings;
use protocol::client::Client;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

/// The columns whose types MySQL shows in a way that no column can be declared: `float(12,0)` for
/// floats with fractions, `decimal(905,0)`, and `varchar(65535)` for LONGTEXT. SQL_MODE, TABLE_TYPE
/// and ROW_FORMAT have further members here, for what a MariaDB source has.
const SHOWN_OTHERWISE: &str = "column_name NOT IN ('SQL_MODE', 'TABLE_TYPE', 'ROW_FORMAT') \
     AND column_name NOT LIKE '%\\_RATE' AND column_name NOT LIKE 'AVG\\_COUNT%' \
     AND (table_name <> 'PROFILING' OR column_name NOT IN ('DURATION', 'CPU_USER', 'CPU_SYSTEM')) \
     AND column_type NOT IN ('varchar(65535)', 'longtext')";

/// The tables that are no views in MySQL, and whose statement has the types of their columns.
const NO_VIEWS: [&str; 32] = [
    "COLUMN_PRIVILEGES",
    "ENGINES",
    "INNODB_BUFFER_PAGE",
    "INNODB_BUFFER_PAGE_LRU",
    "INNODB_BUFFER_POOL_STATS",
    "INNODB_CACHED_INDEXES",
    "INNODB_CMP",
    "INNODB_CMPMEM",
    "INNODB_CMPMEM_RESET",
    "INNODB_CMP_PER_INDEX",
    "INNODB_CMP_PER_INDEX_RESET",
    "INNODB_CMP_RESET",
    "INNODB_FT_BEING_DELETED",
    "INNODB_FT_CONFIG",
    "INNODB_FT_DEFAULT_STOPWORD",
    "INNODB_FT_DELETED",
    "INNODB_FT_INDEX_CACHE",
    "INNODB_FT_INDEX_TABLE",
    "INNODB_INDEXES",
    "INNODB_METRICS",
    "INNODB_SESSION_TEMP_TABLESPACES",
    "INNODB_TABLES",
    "INNODB_TABLESPACES",
    "INNODB_TABLESTATS",
    "INNODB_TEMP_TABLE_INFO",
    "INNODB_TRX",
    "INNODB_VIRTUAL",
    "PLUGINS",
    "PROCESSLIST",
    "SCHEMA_PRIVILEGES",
    "TABLE_PRIVILEGES",
    "USER_PRIVILEGES",
];

#[test]
fn tables_and_columns_are_mysqls() {
    let test = "information_schema_like_mysql::tables_and_columns_are_mysqls";
    let lines = same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = rows(
            &mut client,
            "SELECT table_name, table_type, engine, version, row_format, table_collation \
             FROM information_schema.tables WHERE table_schema = 'information_schema' \
             ORDER BY BINARY table_name",
        );
        lines.extend(rows(
            &mut client,
            &format!(
                "SELECT table_name, column_name, ordinal_position, column_default, is_nullable, column_type, \
                 collation_name, column_key, extra, column_comment FROM information_schema.columns \
                 WHERE table_schema = 'information_schema' AND {SHOWN_OTHERWISE} \
                 ORDER BY BINARY table_name, ordinal_position"
            ),
        ));
        lines
    });
    assert!(lines.len() > 800, "{}", lines.len());
}

/// Every table can be read, and its statement is MySQL's where the table is no view there.
#[test]
fn tables_can_be_read_and_shown() {
    let test = "information_schema_like_mysql::tables_can_be_read_and_shown";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        let names = rows(
            &mut client,
            "SELECT table_name FROM information_schema.tables \
             WHERE table_schema = 'information_schema' ORDER BY BINARY table_name",
        );
        let mut lines = Vec::new();
        for name in names {
            let name = name.trim().trim_matches('\'');
            let counted = rows(&mut client, &format!("SELECT COUNT(*) >= 0 FROM information_schema.{name}"));
            lines.push(format!("{name} {counted:?}"));
            let shown = rows(&mut client, &format!("SHOW CREATE TABLE information_schema.{name}"));
            if NO_VIEWS.contains(&name) {
                lines.extend(shown);
            }
        }
        lines
    });
}

fn objects(client: &mut Client) {
    for sql in [
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE parent (a INT PRIMARY KEY, b VARCHAR(20) DEFAULT 'x', c INT, KEY k (c, b(5)), \
         UNIQUE u (b)) COMMENT 'hi'",
        "CREATE TABLE child (x INT PRIMARY KEY AUTO_INCREMENT, y INT, v INT, z INT AS (v + 1), \
         w INT AS (v + 2) STORED, t TEXT, KEY zz (z), \
         CONSTRAINT fk1 FOREIGN KEY (y) REFERENCES parent (a) ON DELETE CASCADE ON UPDATE SET NULL, \
         CONSTRAINT fk2 FOREIGN KEY (y) REFERENCES parent (a))",
        "CREATE TABLE types (a TINYINT, b TINYINT UNSIGNED NOT NULL, c SMALLINT, d MEDIUMINT, e INT, \
         f BIGINT, g FLOAT, h DOUBLE, i DECIMAL(10, 2), j BIT(5), k YEAR, l DATE, m TIME, n TIME(3), \
         o DATETIME, p DATETIME(6), q TIMESTAMP, r TIMESTAMP(2), s CHAR(5), t CHAR(5) CHARSET latin1, \
         u VARCHAR(5) CHARSET latin1, v VARCHAR(300) CHARSET latin1, w VARCHAR(5), x BINARY(5), \
         y VARBINARY(5), z VARBINARY(500), aa TINYBLOB, ab BLOB, ac MEDIUMBLOB, ad LONGBLOB, ae TINYTEXT, \
         af TEXT, ag MEDIUMTEXT, ah LONGTEXT, ai ENUM('a', 'b'), aj SET('a', 'b'), ak JSON, al GEOMETRY, \
         am POINT NOT NULL, an VECTOR(3), ao CHAR(5) CHARSET utf8mb3, \
         ap VARCHAR(5) CHARSET latin1 COLLATE latin1_bin, aq ENUM('ab') CHARSET latin1, \
         ar BIGINT UNSIGNED NOT NULL, v1 INT AS (e + 1) VIRTUAL, v2 INT AS (e + c) VIRTUAL)",
        "CREATE VIEW totals AS SELECT a, SUM(c) s FROM parent JOIN child ON y = a GROUP BY a",
        "CREATE FUNCTION plus_one(i INT) RETURNS INT DETERMINISTIC RETURN i + 1",
        "CREATE VIEW more AS SELECT plus_one(s) FROM totals",
        "CREATE TABLE Child (a INT)",
    ] {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The rows about the same objects are MySQL's, but for numbers that are each server's own.
#[test]
fn rows_about_objects_are_mysqls() {
    let test = "information_schema_like_mysql::rows_about_objects_are_mysqls";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        objects(&mut client);
        let of_shop = "JOIN information_schema.innodb_tables t USING (table_id) WHERE t.name LIKE 'shop/%'";
        let queries = [
            "SELECT * FROM information_schema.schemata_extensions ORDER BY schema_name".to_owned(),
            "SELECT * FROM information_schema.tables_extensions WHERE table_schema = 'shop' ORDER BY 3".into(),
            "SELECT * FROM information_schema.columns_extensions WHERE table_schema = 'shop' ORDER BY 3, 4".into(),
            "SELECT * FROM information_schema.table_constraints_extensions WHERE constraint_schema = 'shop' \
             ORDER BY 4, 3"
                .into(),
            "SELECT * FROM information_schema.view_table_usage WHERE view_schema = 'shop' ORDER BY 3, 6".into(),
            "SELECT * FROM information_schema.view_routine_usage WHERE table_schema = 'shop'".into(),
            "SELECT * FROM information_schema.innodb_foreign ORDER BY 1".into(),
            "SELECT * FROM information_schema.innodb_foreign_cols ORDER BY 1, 4".into(),
            format!(
                "SELECT t.name, c.name, pos, mtype, prtype, len, has_default, default_value \
                 FROM information_schema.innodb_columns c {of_shop} ORDER BY BINARY t.name, pos"
            ),
            format!(
                "SELECT t.name, pos, base_pos FROM information_schema.innodb_virtual v {of_shop} ORDER BY BINARY t.name, 2, 3"
            ),
            "SELECT name, flag, n_cols, row_format, zip_page_size, space_type FROM \
             information_schema.innodb_tables WHERE name LIKE 'shop/%' ORDER BY BINARY name"
                .into(),
            format!(
                "SELECT t.name, i.name, type, n_fields, merge_threshold \
                 FROM information_schema.innodb_indexes i {of_shop} ORDER BY BINARY t.name, 2"
            ),
            "SELECT t.name, i.name, f.name, pos FROM information_schema.innodb_fields f \
             JOIN information_schema.innodb_indexes i USING (index_id) \
             JOIN information_schema.innodb_tables t USING (table_id) \
             WHERE t.name LIKE 'shop/%' ORDER BY BINARY t.name, 2, 4"
                .into(),
            "SELECT name, flag, row_format, page_size, space_type, encryption, state \
             FROM information_schema.innodb_tablespaces WHERE name LIKE 'shop/%' ORDER BY BINARY name"
                .into(),
            "SELECT b.name, path, f.file_name, f.file_type, f.tablespace_name, f.engine, f.status \
             FROM information_schema.innodb_tablespaces_brief b \
             JOIN information_schema.files f ON f.file_id = b.space WHERE b.name LIKE 'shop/%' ORDER BY BINARY b.name"
                .into(),
            "SELECT word, reserved FROM information_schema.keywords ORDER BY word".into(),
            "SELECT * FROM information_schema.st_units_of_measure ORDER BY unit_name".into(),
            "SELECT * FROM information_schema.st_spatial_reference_systems WHERE srs_id IN (0, 3857, 4326) \
             ORDER BY srs_id"
                .into(),
            "SELECT * FROM information_schema.resource_groups ORDER BY 1".into(),
            "SELECT * FROM information_schema.innodb_cmp".into(),
            "SELECT character_maximum_length, character_octet_length FROM information_schema.columns \
             WHERE table_schema = 'shop' ORDER BY table_name, ordinal_position"
                .into(),
        ];
        queries.iter().flat_map(|sql| rows(&mut client, sql)).collect()
    });
}

/// Names of schemas and tables are compared with their case, names of columns and indexes without.
#[test]
fn names_are_compared_as_in_mysql() {
    let test = "information_schema_like_mysql::names_are_compared_as_in_mysql";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        objects(&mut client);
        let queries = [
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'SHOP'",
            "SELECT table_name FROM information_schema.tables WHERE table_name = 'child'",
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' AND table_name LIKE 'c%'",
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'Shop'",
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'shop' \
             AND table_name = 'parent' AND column_name = 'A'",
            "SELECT index_name FROM information_schema.statistics WHERE table_schema = 'shop' AND index_name = 'U'",
            "SELECT constraint_name FROM information_schema.table_constraints WHERE table_schema = 'shop' \
             AND constraint_name = 'FK1'",
            "SELECT routine_name FROM information_schema.routines WHERE routine_name = 'PLUS_ONE'",
            "SELECT view_name FROM information_schema.view_table_usage WHERE table_name = 'Child'",
            "SELECT engine FROM information_schema.engines WHERE engine = 'innodb'",
            "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'shop' \
             AND table_name IN ('CHILD', 'Child') ORDER BY 1",
        ];
        queries.iter().map(|sql| format!("{sql}: {:?}", rows(&mut client, sql))).collect()
    });
}

/// Moments of the dictionary are shown in the session's time zone, as TIMESTAMPs are.
#[test]
fn moments_are_in_the_sessions_time_zone() {
    let test = "information_schema_like_mysql::moments_are_in_the_sessions_time_zone";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        objects(&mut client);
        let hours = "SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), create_time) FROM information_schema.tables \
                     WHERE table_schema = 'shop' AND table_name = 'parent'";
        let routine = "SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), created) FROM information_schema.routines \
                       WHERE routine_schema = 'shop'";
        let mut lines = Vec::new();
        for zone in ["+00:00", "+05:30", "-03:00"] {
            client.query(&format!("SET time_zone = '{zone}'")).unwrap();
            lines.extend([hours, routine].map(|sql| format!("{zone} {:?}", rows(&mut client, sql))));
        }
        lines
    });
}
