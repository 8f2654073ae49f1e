//! Names to columns: trees of `ast` become trees of `expr` and plans.
//!
//! A binder serves one statement. It finds the statement's tables in the catalog, gives every
//! column of every table a slot of the row, and collects the statement's subqueries, whose
//! arguments are the columns around them that they name (`outer`).

mod binder;
mod compared;
mod constants;
mod expr;
mod function;
mod joined;
mod locked;
mod logging;
mod outer;
mod place;
mod query;
mod scope;
mod self_read;
mod target;
mod texts;

use binder::NODE_BYTES;
pub(crate) use binder::{Binder, TableUse};
pub(crate) use constants::Constants;
pub(crate) use joined::{Join, JoinedTables, bind_joined, check_columns_to_change};
pub(crate) use locked::{LockedName, LockedNames};
pub(crate) use logging::LoggingNeeds;
pub(crate) use place::{Aggregates, Frame, Place};
pub(crate) use query::{bind_query, view_columns};
pub(crate) use scope::{ColumnAt, Scope, ScopeTable};
pub(crate) use target::{Target, bind_target};
