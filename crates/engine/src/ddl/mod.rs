//! DDL: each statement is one commit record with its dictionary entries and its Query event.
//!
//! The order of a statement: exclusive metadata locks; new files and trees made and synced; the
//! commit record; the dictionary tree and the catalog; the log durable; old files removed or
//! renamed. A crash before the record leaves files that no table has, a crash after it files that
//! are still to be removed or renamed; recovery does either.
//!
//! Ids of tables, indexes and spaces are used once. Before a space is made, a record with the
//! raised counters goes into the log ahead of the space's own records, so that a space whose
//! statement a crash cut off gives its number to nobody.

mod alter;
mod build;
mod catch_up;
pub(crate) mod claims;
mod context;
mod copy;
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
pub(crate) use exchange::Exchange;
pub use exchange::{AdmitRow, ChooseRow};
pub use object::ObjectName;
pub(crate) use object::change_objects;
pub(crate) use statement::Ddl;
pub use table::TableName;
