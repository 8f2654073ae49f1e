//! The tables of `mysql` that hold no accounts, with MySQL 9.7's columns.
//!
//! A source's statements and rows are applied to them as to any table, because loading time zones
//! or help texts is logged. Time zones take effect (`sql::time_zone`); the other tables are only
//! kept for clients that read them.
//! Failover between sources (`replication_asynchronous_connection_failover`) is not there: what its
//! tables hold has no effect.

use crate::internal::session::InternalSession;

const ENGINE: &str = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC";
const CHANGED: &str = "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";

/// The name, the columns and the comment of each table.
const TABLES: &[(&str, &str, &str)] = &[
    (
        "time_zone",
        "Time_zone_id INT UNSIGNED NOT NULL AUTO_INCREMENT, Use_leap_seconds ENUM('Y','N') CHARACTER SET utf8mb3 \
         COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', PRIMARY KEY (Time_zone_id)",
        "Time zones",
    ),
    (
        "time_zone_name",
        "Name CHAR(64) NOT NULL, Time_zone_id INT UNSIGNED NOT NULL, PRIMARY KEY (Name)",
        "Time zone names",
    ),
    (
        "time_zone_transition",
        "Time_zone_id INT UNSIGNED NOT NULL, Transition_time BIGINT NOT NULL, Transition_type_id INT UNSIGNED NOT \
         NULL, PRIMARY KEY (Time_zone_id, Transition_time)",
        "Time zone transitions",
    ),
    (
        "time_zone_transition_type",
        "Time_zone_id INT UNSIGNED NOT NULL, Transition_type_id INT UNSIGNED NOT NULL, Offset INT NOT NULL DEFAULT \
         '0', Is_DST TINYINT UNSIGNED NOT NULL DEFAULT '0', Abbreviation CHAR(8) NOT NULL DEFAULT '', \
         PRIMARY KEY (Time_zone_id, Transition_type_id)",
        "Time zone transition types",
    ),
    (
        "time_zone_leap_second",
        "Transition_time BIGINT NOT NULL, Correction INT NOT NULL, PRIMARY KEY (Transition_time)",
        "Leap seconds information for time zones",
    ),
    (
        "help_topic",
        "help_topic_id INT UNSIGNED NOT NULL, name CHAR(64) NOT NULL, help_category_id SMALLINT UNSIGNED NOT NULL, \
         description TEXT NOT NULL, example TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (help_topic_id), \
         UNIQUE KEY name (name)",
        "help topics",
    ),
    (
        "help_category",
        "help_category_id SMALLINT UNSIGNED NOT NULL, name CHAR(64) NOT NULL, parent_category_id SMALLINT UNSIGNED \
         DEFAULT NULL, url TEXT NOT NULL, PRIMARY KEY (help_category_id), UNIQUE KEY name (name)",
        "help categories",
    ),
    (
        "help_relation",
        "help_topic_id INT UNSIGNED NOT NULL, help_keyword_id INT UNSIGNED NOT NULL, \
         PRIMARY KEY (help_keyword_id, help_topic_id)",
        "keyword-topic relation",
    ),
    (
        "help_keyword",
        "help_keyword_id INT UNSIGNED NOT NULL, name CHAR(64) NOT NULL, PRIMARY KEY (help_keyword_id), \
         UNIQUE KEY name (name)",
        "help keywords",
    ),
    (
        "servers",
        "Server_name CHAR(64) NOT NULL DEFAULT '', Host CHAR(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT \
         NULL DEFAULT '', Db CHAR(64) NOT NULL DEFAULT '', Username CHAR(64) NOT NULL DEFAULT '', \
         Password CHAR(64) NOT NULL DEFAULT '', Port INT NOT NULL DEFAULT '0', Socket CHAR(64) NOT NULL DEFAULT '', \
         Wrapper CHAR(64) NOT NULL DEFAULT '', Owner CHAR(64) NOT NULL DEFAULT '', PRIMARY KEY (Server_name)",
        "MySQL Foreign Servers table",
    ),
    (
        "func",
        "name CHAR(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '', ret TINYINT NOT NULL DEFAULT '0', \
         dl CHAR(128) COLLATE utf8mb3_bin NOT NULL DEFAULT '', type ENUM('function','aggregate') CHARACTER SET utf8mb3 \
         COLLATE utf8mb3_general_ci NOT NULL, PRIMARY KEY (name)",
        "User defined functions",
    ),
    (
        "plugin",
        "name VARCHAR(64) NOT NULL DEFAULT '', dl VARCHAR(128) NOT NULL DEFAULT '', PRIMARY KEY (name)",
        "MySQL plugins",
    ),
    (
        "ndb_binlog_index",
        "Position BIGINT UNSIGNED NOT NULL, File VARCHAR(255) CHARACTER SET latin1 NOT NULL, epoch BIGINT UNSIGNED NOT NULL, inserts INT \
         UNSIGNED NOT NULL, updates INT UNSIGNED NOT NULL, deletes INT UNSIGNED NOT NULL, schemaops INT UNSIGNED NOT \
         NULL, orig_server_id INT UNSIGNED NOT NULL, orig_epoch BIGINT UNSIGNED NOT NULL, gci INT UNSIGNED NOT NULL, \
         next_position BIGINT UNSIGNED NOT NULL, next_file VARCHAR(255) CHARACTER SET latin1 NOT \
         NULL, \
         PRIMARY KEY (epoch, orig_server_id, orig_epoch)",
        "",
    ),
    (
        "replication_asynchronous_connection_failover",
        "Channel_name CHAR(64) NOT NULL, Host CHAR(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL, \
         Port INT UNSIGNED NOT NULL, Network_namespace CHAR(64) NOT NULL, Weight TINYINT UNSIGNED NOT NULL, \
         Managed_name CHAR(64) NOT NULL DEFAULT '', \
         PRIMARY KEY (Channel_name, Host, Port, Network_namespace, Managed_name), \
         KEY Channel_name (Channel_name, Managed_name)",
        "The source configuration details",
    ),
    (
        "replication_asynchronous_connection_failover_managed",
        "Channel_name CHAR(64) NOT NULL, Managed_name CHAR(64) NOT NULL DEFAULT '', Managed_type CHAR(64) NOT NULL \
         DEFAULT '', Configuration JSON DEFAULT NULL, PRIMARY KEY (Channel_name, Managed_name)",
        "The managed source configuration details",
    ),
    (
        "component",
        "component_id INT UNSIGNED NOT NULL AUTO_INCREMENT, component_group_id INT UNSIGNED NOT NULL, \
         component_urn TEXT NOT NULL, PRIMARY KEY (component_id)",
        "Components",
    ),
];

/// The tables of `log_output=TABLE`, whose engine is CSV in MySQL as well: name, columns and
/// comment.
const LOGS: &[(&str, &str, &str)] = &[
    (
        "general_log",
        "event_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), user_host \
         MEDIUMTEXT NOT NULL, thread_id BIGINT UNSIGNED NOT NULL, server_id INT UNSIGNED NOT NULL, command_type \
         VARCHAR(64) NOT NULL, argument MEDIUMBLOB NOT NULL",
        "General log",
    ),
    (
        "slow_log",
        "start_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), user_host \
         MEDIUMTEXT NOT NULL, query_time TIME(6) NOT NULL, lock_time TIME(6) NOT NULL, rows_sent INT NOT NULL, \
         rows_examined INT NOT NULL, db VARCHAR(512) NOT NULL, last_insert_id INT NOT NULL, insert_id INT NOT NULL, \
         server_id INT UNSIGNED NOT NULL, sql_text MEDIUMBLOB NOT NULL, thread_id BIGINT UNSIGNED NOT NULL",
        "Slow log",
    ),
];

/// Creates the tables that do not exist yet.
pub fn create(session: &mut InternalSession) -> sql::Result<()> {
    for (name, columns, comment) in LOGS {
        session.run(&format!(
            "CREATE TABLE IF NOT EXISTS mysql.{name} ({columns}) ENGINE=CSV DEFAULT CHARSET=utf8mb3 \
             COMMENT='{comment}'"
        ))?;
    }
    for (name, columns, comment) in TABLES {
        session.run(&format!(
            "CREATE TABLE IF NOT EXISTS mysql.{name} ({columns}) {ENGINE} COMMENT='{comment}'"
        ))?;
    }
    create_costs(session)
}

/// Creates the tables of the optimizer's costs. As in MySQL, a NULL in them means the default cost.
fn create_costs(session: &mut InternalSession) -> sql::Result<()> {
    let rest = format!(
        "cost_value FLOAT DEFAULT NULL, last_update {CHANGED}, comment VARCHAR(1024) DEFAULT NULL, \
         default_value FLOAT GENERATED ALWAYS AS"
    );
    session.run(&format!(
        "CREATE TABLE IF NOT EXISTS mysql.server_cost (cost_name VARCHAR(64) NOT NULL, {rest} \
         (CASE cost_name WHEN 'disk_temptable_create_cost' THEN 20.0 WHEN 'disk_temptable_row_cost' THEN 0.5 \
         WHEN 'key_compare_cost' THEN 0.05 WHEN 'memory_temptable_create_cost' THEN 1.0 \
         WHEN 'memory_temptable_row_cost' THEN 0.1 WHEN 'row_evaluate_cost' THEN 0.1 ELSE NULL END) VIRTUAL, \
         PRIMARY KEY (cost_name)) {ENGINE}"
    ))?;
    session.run(&format!(
        "CREATE TABLE IF NOT EXISTS mysql.engine_cost (engine_name VARCHAR(64) NOT NULL, device_type INT NOT NULL, \
         cost_name VARCHAR(64) NOT NULL, {rest} (CASE cost_name WHEN 'io_block_read_cost' THEN 1.0 \
         WHEN 'memory_block_read_cost' THEN 0.25 ELSE NULL END) VIRTUAL, \
         PRIMARY KEY (cost_name, engine_name, device_type)) {ENGINE}"
    ))?;
    session.run(
        "INSERT IGNORE INTO mysql.server_cost (cost_name) VALUES ('disk_temptable_create_cost'), \
         ('disk_temptable_row_cost'), ('key_compare_cost'), ('memory_temptable_create_cost'), \
         ('memory_temptable_row_cost'), ('row_evaluate_cost')",
    )?;
    session.run(
        "INSERT IGNORE INTO mysql.engine_cost (engine_name, device_type, cost_name) VALUES \
         ('default', 0, 'io_block_read_cost'), ('default', 0, 'memory_block_read_cost')",
    )
}
