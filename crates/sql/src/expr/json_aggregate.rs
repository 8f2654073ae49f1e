//! JSON_ARRAYAGG and JSON_OBJECTAGG, which make one document of a group's rows.

use super::functions::json::{made, name_of, scalar_of};
use super::{Context, Expr};
use crate::error::Result;
use crate::memory::{Charge, allocated, growth};
use types::Value;
use types::json::Node;

/// The elements or members of a group so far.
#[derive(Debug)]
pub(super) enum JsonParts {
    Array(Vec<Node>),
    Object(Vec<(Vec<u8>, Node)>),
}

impl JsonParts {
    /// Takes in a row.
    ///
    /// # Errors
    /// Returns 3158 for a member whose name is NULL, 3144 for one whose name is bytes, the errors
    /// of the arguments, and those of charging memory.
    pub fn add(
        &mut self,
        args: &[Expr],
        row: &[Value],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        match self {
            JsonParts::Array(elements) => {
                let node = scalar_of(&*args[0].eval(row, ctx)?, &args[0], ctx)?;
                charge.add(allocated(node.heap_bytes()))?;
                growth::push(elements, node, charge)
            }
            JsonParts::Object(members) => {
                let name = name_of(&*args[0].eval(row, ctx)?, &args[0])?;
                let node = scalar_of(&*args[1].eval(row, ctx)?, &args[1], ctx)?;
                charge.add(allocated(name.len()) + allocated(node.heap_bytes()))?;
                growth::push(members, (name, node), charge)
            }
        }
    }

    /// Returns the document, or NULL where the group has no rows.
    pub fn finish(self, ctx: &Context<'_>) -> Result<Value> {
        let is_empty = match &self {
            JsonParts::Array(elements) => elements.is_empty(),
            JsonParts::Object(members) => members.is_empty(),
        };
        if is_empty {
            return Ok(Value::Null);
        }
        let node = match self {
            JsonParts::Array(elements) => Node::Array(elements),
            JsonParts::Object(members) => Node::object(members),
        };
        made(&node, ctx)
    }
}
