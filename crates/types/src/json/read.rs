//! The conversion of MySQL's binary form to a JSON tree.

use super::binary::*;
use super::node::Node;

/// Returns the tree of a document. `None` means that it is malformed. An empty document is `null`,
/// as in its text.
pub fn read_document(document: &[u8]) -> Option<Node> {
    match document.split_first() {
        Some((&kind, body)) => read_value(kind, body, &mut Limits { depth: 0, values: document.len() }),
        None => Some(Node::Null),
    }
}

pub(super) fn read_value(kind: u8, body: &[u8], limits: &mut Limits) -> Option<Node> {
    limits.values = limits.values.checked_sub(1)?;
    if limits.depth > MAX_DEPTH {
        return None;
    }
    Some(match kind {
        SMALL_OBJECT => read_object(body, 2, limits)?,
        LARGE_OBJECT => read_object(body, 4, limits)?,
        SMALL_ARRAY => read_array(body, 2, limits)?,
        LARGE_ARRAY => read_array(body, 4, limits)?,
        LITERAL => match *body.first()? {
            LITERAL_NULL => Node::Null,
            LITERAL_TRUE => Node::Bool(true),
            LITERAL_FALSE => Node::Bool(false),
            _ => return None,
        },
        INT16 => Node::Int(i64::from(unsigned(body, 0, 2)? as i16)),
        UINT16 => Node::UInt(unsigned(body, 0, 2)?),
        INT32 => Node::Int(i64::from(unsigned(body, 0, 4)? as i32)),
        UINT32 => Node::UInt(unsigned(body, 0, 4)?),
        INT64 => Node::Int(unsigned(body, 0, 8)? as i64),
        UINT64 => Node::UInt(unsigned(body, 0, 8)?),
        DOUBLE => Node::Double(f64::from_bits(unsigned(body, 0, 8)?)),
        STRING => Node::String(limits.charge(variable_length(body)?)?.to_vec()),
        OPAQUE => Node::Opaque(*body.first()?, limits.charge(variable_length(body.get(1..)?)?)?.to_vec()),
        _ => return None,
    })
}

fn read_array(body: &[u8], width: usize, limits: &mut Limits) -> Option<Node> {
    let container = Container::of(body, width, false)?;
    let mut elements = Vec::new();
    for i in 0..container.count {
        elements.push(container.read(i, limits)?);
    }
    Some(Node::Array(elements))
}

fn read_object(body: &[u8], width: usize, limits: &mut Limits) -> Option<Node> {
    let container = Container::of(body, width, true)?;
    let mut members = Vec::new();
    for i in 0..container.count {
        let key = limits.charge(container.key(i)?)?.to_vec();
        members.push((key, container.read(i, limits)?));
    }
    Some(Node::Object(members))
}

impl Container<'_> {
    fn read(&self, i: usize, limits: &mut Limits) -> Option<Node> {
        let (kind, value) = self.value(i)?;
        limits.depth += 1;
        let node = read_value(kind, value, limits)?;
        limits.depth -= 1;
        Some(node)
    }
}
