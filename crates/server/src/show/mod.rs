//! The answers to clients that look at the server: SHOW PROCESSLIST, SHOW STATUS, SHOW ENGINE
//! INNODB STATUS, SHOW PLUGINS, SHOW PRIVILEGES, and the computed tables of
//! information_schema and performance_schema.

pub mod absent_features;
pub mod innodb_monitor;
pub mod plugins;
pub mod privilege_list;
pub mod process_status;
pub mod processlist;
pub mod result_table;
pub mod status;
pub mod virtual_tables;
