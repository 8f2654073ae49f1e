//! Tests of the tables of schema `mysql` that hold no accounts: a source that changes them does not
//! stop its replica, and the rows of the optimizer's statistics are named as in MySQL.

use testkit::answers::same_answers;
use testkit::following::beginning;
use testkit::server::flavor_under_test;
use testkit::{Flavor, Replica, RowImage, Server, Settings, available};

/// What administrators do at a source: they rotate and empty log tables, correct statistics by
/// hand, and name further sources.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY (v))",
    "INSERT INTO d.t VALUES (1, 1), (2, 1), (3, 2)",
    "ANALYZE TABLE d.t",
    "TRUNCATE TABLE mysql.slow_log",
    "TRUNCATE TABLE mysql.general_log",
    "CREATE TABLE mysql.slow_log_new LIKE mysql.slow_log",
    "RENAME TABLE mysql.slow_log TO mysql.slow_log_old, mysql.slow_log_new TO mysql.slow_log",
    "DROP TABLE mysql.slow_log_old",
    "ALTER TABLE mysql.general_log ENGINE = MyISAM",
    "UPDATE mysql.innodb_table_stats SET n_rows = 1000 WHERE database_name = 'd'",
    "UPDATE mysql.innodb_index_stats SET stat_value = 10 WHERE database_name = 'd' AND stat_name = 'n_diff_pfx01'",
    "BEGIN",
    "INSERT INTO d.t VALUES (4, 4)",
    "DELETE FROM mysql.innodb_index_stats WHERE database_name = 'd'",
    "INSERT INTO d.t VALUES (5, 5)",
    "UPDATE mysql.slave_master_info SET Host = 'elsewhere'",
    "COMMIT",
    "DELETE FROM mysql.innodb_table_stats WHERE database_name = 'd'",
    "INSERT INTO mysql.innodb_table_stats VALUES ('d', 't', NOW(), 3, 1, 1)",
    "INSERT INTO mysql.replication_asynchronous_connection_failover VALUES ('', 'other', 3306, '', 50, '')",
    "INSERT INTO mysql.ndb_binlog_index VALUES (4, 'f', 1, 1, 0, 0, 0, 1, 1, 1, 8, 'f')",
    "CREATE TABLESPACE ts ADD DATAFILE 'ts.ibd' ENGINE = InnoDB",
    "CREATE TABLE d.placed (id INT PRIMARY KEY) TABLESPACE = ts",
    "INSERT INTO d.placed VALUES (1)",
    "ALTER TABLESPACE ts RENAME TO us",
    "CREATE SPATIAL REFERENCE SYSTEM 990001 NAME 'own' DEFINITION 'GEOGCS[\"WGS 84\",\
     DATUM[\"World Geodetic System 1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],\
     PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.017453292519943278],AXIS[\"Lat\",NORTH],AXIS[\"Lon\",EAST]]'",
    "DROP SPATIAL REFERENCE SYSTEM 990001",
    "CREATE LIBRARY d.l LANGUAGE JAVASCRIPT AS 'export function f(n) {return n}'",
    "DROP LIBRARY d.l",
    "DROP TABLE d.placed",
    "DROP TABLESPACE us",
    "INSERT INTO d.t VALUES (6, 6)",
];

#[test]
fn a_source_that_changes_its_system_tables_is_followed() {
    if !available("system_tables::a_source_that_changes_its_system_tables_is_followed", &[Flavor::MySql]) {
        return;
    }
    for (format, row_image) in
        [("ROW", RowImage::Minimal), ("ROW", RowImage::Full), ("STATEMENT", RowImage::Full)]
    {
        let extra = vec![format!("--binlog-format={format}")];
        let source = Server::start(Flavor::MySql, &Settings { row_image, extra, ..Settings::default() });
        let replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
        replica.follow(source.flavor(), source.port(), &beginning(&source));
        let mut session = source.connect();
        for sql in STATEMENTS {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        replica.catch_up(&source);
        for asked in [
            "SELECT * FROM d.t ORDER BY id",
            "SELECT * FROM mysql.replication_asynchronous_connection_failover",
            "SELECT * FROM mysql.ndb_binlog_index",
            "SELECT COUNT(*) FROM mysql.slow_log",
            "SHOW COLUMNS FROM mysql.general_log",
            "SHOW COLUMNS FROM mysql.slow_log",
        ] {
            replica.equals_by(&source, asked);
        }
        let rows = replica.rows("SELECT n_rows FROM mysql.innodb_table_stats WHERE database_name = 'd'");
        assert_eq!(rows, ["6"], "the statistics are the replica's own ({format})");
    }
}

#[test]
fn statistics_of_indexes_are_named_as_mysql_names_them() {
    let answers = same_answers(
        "system_tables::statistics",
        &[
            "CREATE DATABASE stats_d",
            "USE stats_d",
            "CREATE TABLE p (a INT, b INT, c INT, d INT, PRIMARY KEY (b, a), KEY q (c, b), UNIQUE KEY u (d))",
            "INSERT INTO p VALUES (1, 1, 8, 1), (2, 1, 8, 2), (3, 2, 9, 3), (4, 2, 9, NULL)",
            "ANALYZE TABLE p",
            "SELECT index_name, stat_name, stat_value, sample_size, stat_description FROM mysql.innodb_index_stats \
             WHERE database_name = 'stats_d' ORDER BY 1, 2",
            "SELECT table_name, n_rows, clustered_index_size, sum_of_other_index_sizes \
             FROM mysql.innodb_table_stats WHERE database_name = 'stats_d'",
            "SELECT index_name, ROUND(stat_value * @@innodb_page_size / 1024) AS kb FROM mysql.innodb_index_stats \
             WHERE database_name = 'stats_d' AND stat_name = 'size' ORDER BY 1",
            "SELECT data_length, index_length FROM information_schema.tables WHERE table_schema = 'stats_d'",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("n_diff_pfx03")), "{answers:#?}");
}
