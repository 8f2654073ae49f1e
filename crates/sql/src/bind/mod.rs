//! Binding: the names in a statement are resolved to columns, and trees of `ast` become trees of
//! `expr` and plans.
//!
//! A binder serves one statement. It finds the statement's tables in the catalog, gives every
//! column of every table a slot of the row, and collects the statement's subqueries. The arguments
//! of a subquery are the columns of the queries around it that it names (`outer`).
//!
//! The modules, from the lowest layer up: `scope` and `place` say which columns may be named where.
//! `binder` holds what is known of the statement; the groups of `state`, `new_row`, `locked`,
//! `logging`, `self_read`, `common_tables`, `subqueries` and `windows` are parts of it. `expr` and
//! `function` bind expressions. `query` binds whole queries from `query/select`, FROM
//! (`query/from`, `query/cte`, `query/view`) and the other clauses. `target` and `joined` bind the
//! tables that UPDATE and DELETE change.
//!
//! The binder is the state that these share. Its methods are those of that state, and the two
//! recursions through which the modules reach one another: `expr` for expressions and `from` for
//! FROM. What needs only a part of the state is a function of that part.

mod binder;
mod changed_view;
mod common_tables;
mod compared;
mod constants;
mod expr;
mod function;
mod joined;
mod locked;
mod logging;
mod new_row;
mod outer;
mod place;
mod query;
mod scope;
mod searched;
mod self_read;
mod state;
mod subqueries;
mod table_use;
mod target;
mod text_arguments;
mod texts;
mod windows;
mod zero_dates;

pub(crate) use binder::Binder;
use binder::NODE_BYTES;
pub(crate) use changed_view::{ChangedView, Names, ViewCheck, Wanted, no_delete_from_join, several_tables};
pub(crate) use constants::Constants;
pub(crate) use expr::{array_outside_of_index, element_type};
pub(crate) use function::is_built_in;
pub(crate) use joined::{Join, JoinedTables, ToChange, bind_joined, check_columns_to_change};
pub(crate) use locked::{LockedName, LockedNames};
pub(crate) use logging::LoggingNeeds;
pub(crate) use new_row::{Inserted, RowAlias, WantedColumns};
pub(crate) use place::{Aggregates, Frame, Place};
pub(crate) use query::portion::{bound_of_portion, edge_compared, edges_of};
pub(crate) use query::view::{view_columns, view_plan};
pub(crate) use query::{bind_query, end_hints};
pub(crate) use scope::{ColumnAt, Scope, ScopeTable};
pub(crate) use self_read::Changed;
pub(crate) use table_use::{Opening, TableUse};
pub(crate) use target::{Target, bind_target, is_join_view};
