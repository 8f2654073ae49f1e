//! Relay log: the events as the source sent them, in numbered files with an index, between the
//! receiver and the applier.
//!
//! In: events of the receiver, through one [`RelayWriter`]. Out: the same events, through one
//! [`RelayReader`]. Both work on whole blocks of a file; the end that may be read is published
//! under one mutex. Files are as mysqld writes them (magic number, a format description event of
//! ours, then what came from the source), so that `mysqlbinlog` reads them.
//!
//! Relay logs never outlive the process that wrote them: the applied position travels in the commit
//! record, so at a start every relay log is dropped and reception goes on from there (what mysqld
//! does with `relay_log_recovery=ON`). Nothing here is synced for that reason.

mod files;
mod head;
mod reader;
mod writer;

pub use files::{RelayLog, RelayLogConfig, RelayPosition};
pub use reader::{RelayError, RelayReader, Step};
pub use writer::RelayWriter;
