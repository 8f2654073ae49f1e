//! EXPLAIN: shows the plan that would run, as a table or as a tree, or for EXPLAIN ANALYZE the tree
//! that has run.

mod access;
mod blocks;
mod expression;
mod operation;
mod select;
mod statement;
mod table;
mod text;

pub(crate) use blocks::Part;
pub(crate) use statement::{Explained, Operations, operations};
pub(crate) use table::{PartitionsOf, UsedPartitions, explain_rows};
pub(crate) use text::{json, tree};
