//! The relay log: the events as the source sent them, in numbered files with an index, between the
//! receiver and the applier.
//!
//! In: the receiver's events, through one [`RelayWriter`]. Out: the same events, through one
//! [`RelayReader`]. Both work on whole blocks of a file. The end up to which the log may be read is
//! published under one mutex. The files are as mysqld writes them (the magic number, a format
//! description event of this server, then the source's events), so that `mysqlbinlog` reads them.
//!
//! A relay log never outlives the process that wrote it. The applied position is in the commit
//! record, so at a start every relay log is dropped and reception goes on from that position, as
//! mysqld does with `relay_log_recovery=ON`. For that reason nothing here is synced.

mod files;
mod head;
mod reader;
mod writer;

pub use files::{RelayLog, RelayLogConfig, RelayPosition};
pub use reader::{RelayError, RelayReader, Step};
pub use writer::RelayWriter;
