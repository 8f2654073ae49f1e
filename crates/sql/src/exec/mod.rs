//! Runs bound plans.
//!
//! In: the plan of a statement and the [`Run`] that it runs in (its transaction and its context).
//! Out: the rows of a query, one at a time, or the [`Changes`] of a statement that changes rows.

mod assign;
mod bounds;
mod by_hash;
mod compiled;
mod counting;
mod cte;
mod delete;
mod distinct;
mod expressions;
mod filled_partitions;
mod gathered;
mod group;
mod hash_join;
mod image_filter;
mod insert;
mod intersection;
mod json_table;
mod kept;
mod keyed_rows;
mod known_subqueries;
mod limit;
mod load;
mod loops;
mod named_tables;
mod output;
mod partition_pruning;
mod partition_shares;
mod placement;
mod portion;
mod portions;
mod reader;
mod rollup;
mod row_update;
mod run;
mod select;
mod set_operations;
mod several;
mod sort;
mod spill;
mod stored_rows;
mod subqueries;
mod target;
mod triggers;
mod update;
mod versioned;
mod watches;
mod window;

pub(crate) use assign::{Strictness, to_column};
pub(crate) use bounds::Ranges;
pub(crate) use compiled::compile;
pub(crate) use delete::{DeletePlan, bind_delete};
pub(crate) use expressions::RowExpressions;
pub(crate) use filled_partitions::filled_partitions;
pub(crate) use insert::{InsertPlan, bind_insert};
pub(crate) use load::{Input, LoadPlan, bind_load, no_local_files};
pub(crate) use partition_pruning::used_partitions;
pub(crate) use run::{Changes, Run};
use run::{info, refuse_changes};
pub(crate) use select::run_query;
pub(crate) use several::{DeleteSeveralPlan, UpdateSeveralPlan, bind_delete_several, bind_update_several};
pub(crate) use stored_rows::{run_stored, stored_columns};
pub(crate) use subqueries::Subqueries;
pub(crate) use update::{UpdatePlan, bind_update};
