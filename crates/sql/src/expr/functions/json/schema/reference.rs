//! Follows `$ref`, which stands for a schema elsewhere in the same document.

use super::location::value_at;
use crate::error::{Result, SqlError};
use crate::expr::documents::too_deep;
use std::collections::HashMap;
use types::json::{MAX_DEPTH, Node};

/// Returns the schema that a value is or refers to. `None` means that it requires nothing. The
/// references of `root` have been checked, so that following them ends.
pub(super) fn resolved<'n>(root: &'n Node, value: &'n Node) -> Option<&'n Node> {
    let mut value = value;
    while matches!(value, Node::Object(_)) {
        match value.member(b"$ref") {
            None => return Some(value),
            Some(reference) => value = target(root, reference)?,
        }
    }
    None
}

fn target<'n>(root: &'n Node, reference: &Node) -> Option<&'n Node> {
    match reference {
        Node::String(written) => value_at(root, written.strip_prefix(b"#")?),
        _ => None,
    }
}

/// Refuses schemas whose references lead to another document or in a circle.
///
/// # Errors
/// Returns 1235 for a reference to another document. Returns 3157 for a circle, and for a schema
/// that is nested too deeply when its references are followed.
pub(super) fn check(root: &Node) -> Result<()> {
    Walk { root, depths: HashMap::new() }.depth(root, 0).map(|_| ())
}

/// A walk through a schema and along its references.
struct Walk<'n> {
    root: &'n Node,
    /// The depths of the values that were visited, by their addresses. `None` stands for a value
    /// that the walk is within.
    depths: HashMap<*const Node, Option<usize>>,
}

impl<'n> Walk<'n> {
    /// Returns the number of levels below a value, with references followed. `above` is the number
    /// of levels on the way to the value.
    fn depth(&mut self, value: &'n Node, above: usize) -> Result<usize> {
        if value.is_scalar() {
            return Ok(0);
        }
        match self.depths.get(&std::ptr::from_ref(value)) {
            Some(Some(known)) if above + known <= MAX_DEPTH => return Ok(*known),
            Some(_) => return Err(too_deep()),
            None if above > MAX_DEPTH => return Err(too_deep()),
            None => {}
        }
        self.depths.insert(value, None);
        let mut deepest = 0;
        match value {
            Node::Array(elements) => {
                for element in elements {
                    deepest = deepest.max(self.depth(element, above + 1)?);
                }
            }
            Node::Object(members) => {
                for (name, member) in members {
                    deepest = deepest.max(self.member(name, member, above + 1)?);
                }
            }
            _ => {}
        }
        self.depths.insert(value, Some(deepest + 1));
        Ok(deepest + 1)
    }

    fn member(&mut self, name: &[u8], member: &'n Node, above: usize) -> Result<usize> {
        match member {
            Node::String(written) if name == b"$ref" && !written.is_empty() => {
                if !written.starts_with(b"#") {
                    return Err(SqlError::not_supported("references in JSON Schema"));
                }
                target(self.root, member).map_or(Ok(0), |target| self.depth(target, above))
            }
            member => self.depth(member, above),
        }
    }
}
