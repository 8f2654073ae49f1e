//! Running plans.

mod assign;
mod bounds;
mod counting;
mod delete;
mod distinct;
mod expressions;
mod group;
mod hash_join;
mod insert;
mod limit;
mod loops;
mod output;
mod placement;
mod reader;
mod row_update;
mod run;
mod select;
mod several;
mod sort;
mod spill;
mod subqueries;
mod target;
mod update;
mod versioned;

pub(crate) use assign::Strictness;
pub(crate) use bounds::Ranges;
pub(crate) use delete::{DeletePlan, bind_delete};
pub(crate) use expressions::{RowExpressions, compile};
pub(crate) use insert::{InsertPlan, bind_insert};
pub(crate) use placement::chosen_condition;
pub(crate) use run::{Changes, Run};
use run::{info, refuse_changes};
pub(crate) use select::run_query;
pub(crate) use several::{DeleteSeveralPlan, UpdateSeveralPlan, bind_delete_several, bind_update_several};
pub(crate) use subqueries::Subqueries;
pub(crate) use update::{UpdatePlan, bind_update};
