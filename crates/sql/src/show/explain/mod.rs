//! EXPLAIN: shows the plan that would run, as a table or as a tree.

mod blocks;
mod expression;
mod operation;
mod table;
mod text;

pub(crate) use blocks::Part;
pub(crate) use operation::{Operation, of_query};
pub(crate) use table::explain_rows;
pub(crate) use text::{json, tree};
