//! The conversion of a binary document to the text that `SELECT` shows.

use super::binary::*;
use super::node::Node;
use super::opaque::{Scalar, scalar_of};
use crate::{TypeCode, number};

/// Appends a document's text as `SELECT` shows it. A document that is not well-formed shows as
/// `null` from the place where it breaks off. An empty document is `null` (the value of a JSON
/// column that was added without a default).
pub fn write_text(document: &[u8], out: &mut Vec<u8>) {
    let written = match document.split_first() {
        // A well-formed document has fewer values than bytes. A document whose offsets share or
        // repeat values ends here.
        Some((&kind, body)) => write_value(kind, body, &mut Limits { depth: 0, values: document.len() }, out),
        None => None,
    };
    if written.is_none() {
        out.extend_from_slice(b"null");
    }
}

/// Returns an upper limit of the length in bytes of the document's text, without making it. A
/// control character takes six bytes in the text. A value in its container's table takes between
/// two and three times its bytes there, but its first byte, the type, counts as a control character
/// here.
pub fn most_text_bytes(document: &[u8]) -> usize {
    const BROKEN_OFF: usize = "null".len();
    let low = document.iter().filter(|byte| **byte < 0x20).count();
    BROKEN_OFF + 2 * document.len() + 5 * low
}

/// Appends a tree's text as [`write_text`] writes it. The recursion is as deep as the tree.
pub fn write_node_text(node: &Node, out: &mut Vec<u8>) {
    write_tree(node, None, out);
}

/// Appends a tree's text as JSON_PRETTY writes it: each value on a line of its own, with two spaces
/// for each level.
pub fn write_pretty(node: &Node, out: &mut Vec<u8>) {
    write_tree(node, Some(0), out);
}

/// Appends the text that JSON_UNQUOTE makes of the tree: a string has no quotation marks and
/// escapes.
pub fn write_unquoted(node: &Node, out: &mut Vec<u8>) {
    match node {
        Node::String(text) => out.extend_from_slice(text),
        node => {
            let start = out.len();
            write_node_text(node, out);
            if matches!(node, Node::Opaque(..)) && out[start] == b'"' {
                out.pop();
                out.remove(start);
            }
        }
    }
}

/// Appends a text as a JSON string.
pub fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    write_string(text, out);
}

/// Appends a tree's text. `level` is the number of levels by which lines are indented. `None` means
/// that everything is on one line.
fn write_tree(node: &Node, level: Option<usize>, out: &mut Vec<u8>) {
    let inner = level.map(|level| level + 1);
    let line = |level: Option<usize>, out: &mut Vec<u8>| {
        if let Some(level) = level {
            out.push(b'\n');
            out.resize(out.len() + 2 * level, b' ');
        }
    };
    let separate = |i: usize, out: &mut Vec<u8>| {
        if i > 0 {
            out.extend_from_slice(if level.is_some() { b"," } else { b", " });
        }
        line(inner, out);
    };
    match node {
        Node::Array(elements) => {
            out.push(b'[');
            for (i, element) in elements.iter().enumerate() {
                separate(i, out);
                write_tree(element, inner, out);
            }
            line(level.filter(|_| !elements.is_empty()), out);
            out.push(b']');
        }
        Node::Object(members) => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                separate(i, out);
                write_string(name, out);
                out.extend_from_slice(b": ");
                write_tree(value, inner, out);
            }
            line(level.filter(|_| !members.is_empty()), out);
            out.push(b'}');
        }
        Node::Null => out.extend_from_slice(b"null"),
        Node::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Node::Int(n) => number::write_i64(*n, out),
        Node::UInt(n) => number::write_u64(*n, out),
        Node::Double(n) => write_double(*n, out),
        Node::String(text) => write_string(text, out),
        Node::Opaque(code, bytes) => {
            if write_opaque(*code, bytes, out).is_none() {
                out.extend_from_slice(b"null");
            }
        }
    }
}

/// Writes the value of type `kind` at the start of `body`. Returns `None` if it is malformed; the
/// part before that place is written.
fn write_value(kind: u8, body: &[u8], limits: &mut Limits, out: &mut Vec<u8>) -> Option<()> {
    limits.values = limits.values.checked_sub(1)?;
    if limits.depth > MAX_DEPTH {
        return None;
    }
    match kind {
        SMALL_OBJECT => write_container(&Container::of(body, 2, true)?, limits, out)?,
        LARGE_OBJECT => write_container(&Container::of(body, 4, true)?, limits, out)?,
        SMALL_ARRAY => write_container(&Container::of(body, 2, false)?, limits, out)?,
        LARGE_ARRAY => write_container(&Container::of(body, 4, false)?, limits, out)?,
        LITERAL => out.extend_from_slice(match *body.first()? {
            LITERAL_NULL => b"null",
            LITERAL_TRUE => b"true",
            LITERAL_FALSE => b"false",
            _ => return None,
        }),
        INT16 => number::write_i64(i64::from(unsigned(body, 0, 2)? as i16), out),
        UINT16 => number::write_u64(unsigned(body, 0, 2)?, out),
        INT32 => number::write_i64(i64::from(unsigned(body, 0, 4)? as i32), out),
        UINT32 => number::write_u64(unsigned(body, 0, 4)?, out),
        INT64 => number::write_i64(unsigned(body, 0, 8)? as i64, out),
        UINT64 => number::write_u64(unsigned(body, 0, 8)?, out),
        DOUBLE => write_double(f64::from_bits(unsigned(body, 0, 8)?), out),
        STRING => write_string(limits.charge(variable_length(body)?)?, out),
        OPAQUE => {
            write_opaque(*body.first()?, limits.charge(variable_length(body.get(1..)?)?)?, out)?;
        }
        _ => return None,
    }
    Some(())
}

/// Appends a double, which always shows as one: `1.0`, not `1`.
fn write_double(value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    number::write_f64(value, out);
    if !out[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

fn write_container(container: &Container<'_>, limits: &mut Limits, out: &mut Vec<u8>) -> Option<()> {
    out.push(if container.is_object { b'{' } else { b'[' });
    for i in 0..container.count {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        if container.is_object {
            write_string(limits.charge(container.key(i)?)?, out);
            out.extend_from_slice(b": ");
        }
        let (kind, value) = container.value(i)?;
        limits.depth += 1;
        write_value(kind, value, limits, out)?;
        limits.depth -= 1;
    }
    out.push(if container.is_object { b'}' } else { b']' });
    Some(())
}

pub(super) fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Appends an SQL value inside of JSON: decimals as numbers, dates and times as strings, everything
/// else in base 64.
fn write_opaque(type_byte: u8, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let is_packed = matches!(
        TypeCode::from_u8(type_byte),
        Some(
            TypeCode::NewDecimal | TypeCode::Date | TypeCode::Datetime | TypeCode::Timestamp | TypeCode::Time
        )
    );
    match scalar_of(type_byte, bytes) {
        Some(Scalar::Decimal(value)) => out.extend_from_slice(value.to_string().as_bytes()),
        Some(scalar) => {
            out.push(b'"');
            match scalar {
                Scalar::Date(date, _) => date.write_text(out),
                Scalar::Time(time, _) => time.write_text(6, out),
                Scalar::DateTime(at, _) => at.write_text(6, out),
                Scalar::Decimal(_) => {}
            }
            out.push(b'"');
        }
        None if is_packed => return None,
        None => {
            out.push(b'"');
            write_opaque_unquoted(type_byte, bytes, out);
            out.push(b'"');
        }
    }
    Some(())
}

fn write_opaque_unquoted(type_byte: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("base64:type{type_byte}:").as_bytes());
    write_base64(bytes, out);
}

fn write_base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0u32, |n, i| n << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { digit } else { b'=' });
        }
    }
}
