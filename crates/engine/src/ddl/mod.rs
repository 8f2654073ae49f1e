//! DDL: each statement is one commit record with its dictionary entries and its Query event.
//!
//! A statement goes through these steps in order: it takes exclusive metadata locks; it makes and
//! syncs new files and trees; it writes the commit record; it changes the dictionary tree and the
//! catalog; it waits until the log is durable; it removes or renames old files. A crash before the
//! record leaves files that no table has, and a crash after it leaves files that are still to be
//! removed or renamed. Recovery handles both.
//!
//! Ids of tables, indexes and spaces are used once. Before a space is made, a record with the
//! raised counters goes into the log ahead of the space's own records. So the number of a space
//! whose statement a crash cut off is never given out again.

mod alter;
mod build;
mod catch_up;
pub(crate) mod claims;
mod context;
mod copy;
mod dropped;
mod exchange;
mod foreign_key;
mod locks;
mod object;
pub(crate) mod online;
mod schema;
pub(crate) mod settings;
mod sort;
mod statement;
mod table;

pub(crate) use alter::{Alter, must_rebuild};
pub use context::{AlterStage, DdlContext, StageHook};
pub use copy::ConvertRow;
pub(crate) use copy::copy_rows;
pub(crate) use dropped::forget_dropped;
pub(crate) use exchange::Exchange;
pub use exchange::{AdmitRow, ChooseRow};
pub use object::ObjectName;
pub(crate) use object::change_objects;
pub(crate) use statement::Ddl;
pub use table::TableName;
