//! The conversion of a JSON tree to MySQL's binary form.

use super::binary::*;
use super::node::Node;
use super::read::read_document;

/// Returns the document as it is when it is written anew, so that equal documents have equal bytes.
/// `None` if it is malformed.
pub fn normalized(document: &[u8]) -> Option<Vec<u8>> {
    write_document(&read_document(document)?)
}

/// Returns the binary document. `None` if it is larger than 4 GB, or has a member whose name is
/// longer than 65535 bytes.
pub fn write_document(root: &Node) -> Option<Vec<u8>> {
    let mut out = vec![0];
    out[0] = write_node(root, &mut out)?;
    Some(out)
}

/// Appends a node's value and returns its type.
fn write_node(node: &Node, out: &mut Vec<u8>) -> Option<u8> {
    match node {
        Node::Array(elements) => {
            let nodes: Vec<&Node> = elements.iter().collect();
            write_container(&[], &nodes, out)
        }
        Node::Object(members) => {
            let keys: Vec<&[u8]> = members.iter().map(|(key, _)| key.as_slice()).collect();
            let nodes: Vec<&Node> = members.iter().map(|(_, node)| node).collect();
            write_container(&keys, &nodes, out).map(|kind| kind - SMALL_ARRAY)
        }
        Node::String(text) => {
            write_length(text.len(), out);
            out.extend_from_slice(text);
            Some(STRING)
        }
        Node::Opaque(kind, bytes) => {
            out.push(*kind);
            write_length(bytes.len(), out);
            out.extend_from_slice(bytes);
            Some(OPAQUE)
        }
        Node::Double(n) => {
            out.extend_from_slice(&n.to_bits().to_le_bytes());
            Some(DOUBLE)
        }
        scalar => {
            let (kind, bits, width) = integer_form(scalar)?;
            out.extend_from_slice(&bits.to_le_bytes()[..width]);
            Some(kind)
        }
    }
}

/// Returns type, bits and width in bytes of literals and integers. `None` for other nodes.
fn integer_form(node: &Node) -> Option<(u8, u64, usize)> {
    Some(match node {
        Node::Null => (LITERAL, u64::from(LITERAL_NULL), 1),
        Node::Bool(true) => (LITERAL, u64::from(LITERAL_TRUE), 1),
        Node::Bool(false) => (LITERAL, u64::from(LITERAL_FALSE), 1),
        Node::Int(n) if i16::try_from(*n).is_ok() => (INT16, *n as u64, 2),
        Node::Int(n) if i32::try_from(*n).is_ok() => (INT32, *n as u64, 4),
        Node::Int(n) => (INT64, *n as u64, 8),
        Node::UInt(n) if u16::try_from(*n).is_ok() => (UINT16, *n, 2),
        Node::UInt(n) if u32::try_from(*n).is_ok() => (UINT32, *n, 4),
        Node::UInt(n) => (UINT64, *n, 8),
        Node::Double(_) | Node::String(_) | Node::Opaque(..) | Node::Array(_) | Node::Object(_) => {
            return None;
        }
    })
}

fn write_length(mut len: usize, out: &mut Vec<u8>) {
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
}

/// Writes the small form if everything is within 64 KB, otherwise the large one. Returns
/// SMALL_ARRAY or LARGE_ARRAY, which for an object the caller changes to the object types.
fn write_container(keys: &[&[u8]], nodes: &[&Node], out: &mut Vec<u8>) -> Option<u8> {
    if keys.iter().any(|key| key.len() > usize::from(u16::MAX)) {
        return None;
    }
    let start = out.len();
    if write_sized(keys, nodes, 2, out).is_some() {
        return Some(SMALL_ARRAY);
    }
    out.truncate(start);
    write_sized(keys, nodes, 4, out).map(|()| LARGE_ARRAY)
}

/// Writes the container with numbers of `width` bytes. Returns `None` if they are too small for it.
fn write_sized(keys: &[&[u8]], nodes: &[&Node], width: usize, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    let limit = if width == 2 { u64::from(u16::MAX) } else { u64::from(u32::MAX) };
    let put = |out: &mut Vec<u8>, at: usize, number: usize| {
        (number as u64 <= limit)
            .then(|| out[at..at + width].copy_from_slice(&(number as u64).to_le_bytes()[..width]))
    };
    let values_at = start + 2 * width + keys.len() * (width + 2);
    out.resize(values_at + nodes.len() * (1 + width), 0);
    put(out, start, nodes.len())?;
    for (i, key) in keys.iter().enumerate() {
        let entry = start + 2 * width + i * (width + 2);
        let offset = out.len() - start;
        put(out, entry, offset)?;
        out[entry + width..entry + width + 2].copy_from_slice(&(key.len() as u16).to_le_bytes());
        out.extend_from_slice(key);
    }
    for (i, node) in nodes.iter().enumerate() {
        let entry = values_at + i * (1 + width);
        match integer_form(node) {
            Some((kind, bits, len)) if len <= width => {
                out[entry] = kind;
                out[entry + 1..entry + 1 + width].copy_from_slice(&bits.to_le_bytes()[..width]);
            }
            _ => {
                let offset = out.len() - start;
                put(out, entry + 1, offset)?;
                out[entry] = write_node(node, out)?;
            }
        }
    }
    let size = out.len() - start;
    put(out, start + width, size)
}
