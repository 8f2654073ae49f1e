//! The general log and the slow query log: what clients send, and which of their statements took
//! long, in files, in tables of `mysql`, or in both (`log_output`).
//!
//! In: the commands of connections ([`note_command`]), and what sessions tell of statements
//! ([`sql::StatementLog`], which `statements` implements). Out: lines of two files
//! (`server::log_file`) and rows of `mysql.general_log` and `mysql.slow_log` (`table`).
//!
//! The audit log (`audit`) is told of the same commands and statements, and of connections. Its
//! lines are those of `audit_record`, and `server::audit_log` has its filters and its file.
//!
//! A log that cannot be written stops nobody: the error log says so. Passwords are in neither log,
//! except with `log_raw` in the general one.

mod audit;
mod audit_record;
mod entry;
mod general;
mod slow;
mod statements;
mod table;

pub use audit::{note_connection, note_page};
pub use general::{note_command, note_refused};
