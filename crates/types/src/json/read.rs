//! MySQL's binary form to a JSON tree.

use super::binary::*;
use super::node::Node;
use super::path::{Leg, Path};
use std::cmp::Ordering;

/// The tree of a document; `None` if it is malformed. An empty document is `null`, as it shows.
pub fn read_document(document: &[u8]) -> Option<Node> {
    match document.split_first() {
        Some((&kind, body)) => read_value(kind, body, &mut Limits { depth: 0, values: document.len() }),
        None => Some(Node::Null),
    }
}

/// The value that a path without wildcards means in a document; the outer `None` is of a malformed
/// one. Only what the path means is read.
pub fn read_at(document: &[u8], path: &Path) -> Option<Option<Node>> {
    let limits = &mut Limits { depth: 0, values: document.len() };
    let Some((&kind, body)) = document.split_first() else {
        return Some(path.find_one(&Node::Null).cloned());
    };
    let (mut kind, mut body) = (kind, body);
    for leg in &path.legs {
        let (width, is_object) = match kind {
            SMALL_OBJECT | SMALL_ARRAY => (2, kind == SMALL_OBJECT),
            LARGE_OBJECT | LARGE_ARRAY => (4, kind == LARGE_OBJECT),
            _ => (0, true),
        };
        let container = if width > 0 { Some(Container::of(body, width, is_object)?) } else { None };
        let at = match (&container, leg) {
            (Some(object), Leg::Member(name)) if is_object => object.place(name)?,
            (Some(array), Leg::Cell(cell)) if !is_object => cell.place(array.count).ok(),
            (_, leg) if is_object && leg.means_itself() => continue,
            _ => None,
        };
        let (Some(container), Some(at)) = (container, at) else { return Some(None) };
        (kind, body) = container.value(at)?;
    }
    read_value(kind, body, limits).map(Some)
}

fn read_value(kind: u8, body: &[u8], limits: &mut Limits) -> Option<Node> {
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
    /// Where an object has a member; the outer `None` is of a malformed one.
    fn place(&self, name: &[u8]) -> Option<Option<usize>> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            let key = self.key(middle)?;
            match key.len().cmp(&name.len()).then_with(|| key.cmp(name)) {
                Ordering::Equal => return Some(Some(middle)),
                Ordering::Less => from = middle + 1,
                Ordering::Greater => to = middle,
            }
        }
        Some(None)
    }

    fn read(&self, i: usize, limits: &mut Limits) -> Option<Node> {
        let (kind, value) = self.value(i)?;
        limits.depth += 1;
        let node = read_value(kind, value, limits)?;
        limits.depth -= 1;
        Some(node)
    }
}

/// Whether a document is the number 0, of whatever kind.
pub fn is_zero(document: &[u8]) -> bool {
    let is_number = |kind: u8| !matches!(kind, SMALL_OBJECT..=LITERAL | STRING);
    document.first().is_some_and(|&kind| is_number(kind))
        && read_document(document).is_some_and(|node| node.compare(&Node::Int(0)) == Ordering::Equal)
}
