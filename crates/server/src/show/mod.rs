//! What a client is shown of the server: SHOW PROCESSLIST, SHOW STATUS, SHOW ENGINE INNODB STATUS,
//! and the tables of information_schema and performance_schema that are computed here.

pub mod innodb_monitor;
pub mod processlist;
pub mod result_table;
pub mod status;
pub mod virtual_tables;
