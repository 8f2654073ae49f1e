//! The changes of a document that a partial update logs (`binlog_row_value_options=PARTIAL_JSON`,
//! WL#2955).
//!
//! A difference is an operation, a path and, except for REMOVE, a value in binary form. Path and
//! value have their lengths in front, as packed integers of the client protocol.

use std::fmt;

use super::binary::unsigned;
use super::node::{Node, member_place};
use super::parse::parse_quoted;
use super::read::read_document;
use super::write::write_document;

const REPLACE: u8 = 0;
const INSERT: u8 = 1;
const REMOVE: u8 = 2;

/// The reason why differences cannot be applied to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDiffError {
    /// The bytes are not differences (`ER_CORRUPTED_JSON_DIFF`).
    Corrupted,
    /// The document does not have the values that the differences change
    /// (`ER_COULD_NOT_APPLY_JSON_DIFF`).
    DoesNotFit,
}

impl fmt::Display for JsonDiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonDiffError::Corrupted => "Corrupted JSON diff",
            JsonDiffError::DoesNotFit => "Could not apply JSON diff",
        })
    }
}

impl std::error::Error for JsonDiffError {}

/// Applies the differences, one after the other, to a binary document, and returns the new one.
pub fn apply_diffs(document: &[u8], mut diffs: &[u8]) -> Result<Vec<u8>, JsonDiffError> {
    let mut root = read_document(document).ok_or(JsonDiffError::DoesNotFit)?;
    while !diffs.is_empty() {
        let diff = Diff::take(&mut diffs).ok_or(JsonDiffError::Corrupted)?;
        diff.apply(&mut root).ok_or(JsonDiffError::DoesNotFit)?;
    }
    write_document(&root).ok_or(JsonDiffError::DoesNotFit)
}

/// A step of a path, from a value to one in it.
#[derive(Debug, PartialEq)]
enum Leg {
    Member(Vec<u8>),
    Cell(usize),
}

struct Diff {
    operation: u8,
    path: Vec<Leg>,
    /// The new value, or JSON's null for REMOVE.
    value: Node,
}

impl Diff {
    /// Takes the first difference off `bytes`.
    fn take(bytes: &mut &[u8]) -> Option<Diff> {
        let (&operation, rest) = bytes.split_first()?;
        *bytes = rest;
        let path = parse_path(take_with_length(bytes)?)?;
        let value = match operation {
            REPLACE | INSERT => read_document(take_with_length(bytes)?)?,
            REMOVE => Node::Null,
            _ => return None,
        };
        Some(Diff { operation, path, value })
    }

    fn apply(mut self, root: &mut Node) -> Option<()> {
        if self.operation == REPLACE {
            *self.path.iter().try_fold(root, step)? = self.value;
            return Some(());
        }
        let last = self.path.pop()?;
        let parent = self.path.iter().try_fold(root, step)?;
        match (self.operation, parent, last) {
            (INSERT, Node::Object(members), Leg::Member(name)) => {
                let at = member_place(members, &name).err()?;
                members.insert(at, (name, self.value));
            }
            // A place behind the end stands for the end.
            (INSERT, Node::Array(elements), Leg::Cell(at)) => {
                elements.insert(at.min(elements.len()), self.value);
            }
            (REMOVE, Node::Object(members), Leg::Member(name)) => {
                members.remove(member_place(members, &name).ok()?);
            }
            (REMOVE, Node::Array(elements), Leg::Cell(at)) if at < elements.len() => {
                elements.remove(at);
            }
            _ => return None,
        }
        Some(())
    }
}

fn step<'a>(node: &'a mut Node, leg: &Leg) -> Option<&'a mut Node> {
    match (node, leg) {
        (Node::Object(members), Leg::Member(name)) => {
            let at = member_place(members, name).ok()?;
            Some(&mut members[at].1)
        }
        (Node::Array(elements), Leg::Cell(at)) => elements.get_mut(*at),
        _ => None,
    }
}

/// Takes bytes that follow their length, a packed integer of the client protocol.
fn take_with_length<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=250 => 0,
        252 => 2,
        253 => 3,
        254 => 8,
        251 | 255 => return None,
    };
    let len = if width == 0 { u64::from(first) } else { unsigned(rest, 0, width)? };
    let rest = &rest[width..];
    let taken = rest.get(..usize::try_from(len).ok()?)?;
    *bytes = &rest[taken.len()..];
    Some(taken)
}

/// Reads a path to one value: `$.name."any name"[3]`.
fn parse_path(text: &[u8]) -> Option<Vec<Leg>> {
    let mut rest = text.strip_prefix(b"$")?;
    let mut legs = Vec::new();
    while let Some((&first, behind)) = rest.split_first() {
        match first {
            b'.' if behind.first() == Some(&b'"') => {
                let (name, len) = parse_quoted(behind)?;
                legs.push(Leg::Member(name));
                rest = &behind[len..];
            }
            b'.' => {
                let len = behind.iter().position(|byte| matches!(byte, b'.' | b'[')).unwrap_or(behind.len());
                if len == 0 || behind[..len].contains(&b'*') {
                    return None;
                }
                legs.push(Leg::Member(behind[..len].to_vec()));
                rest = &behind[len..];
            }
            b'[' => {
                let len = behind.iter().position(|&byte| byte == b']')?;
                legs.push(Leg::Cell(std::str::from_utf8(&behind[..len]).ok()?.trim().parse().ok()?));
                rest = &behind[len + 1..];
            }
            _ => return None,
        }
    }
    Some(legs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{parse_text, write_text};

    fn diff(operation: u8, path: &str, value: &str) -> Vec<u8> {
        let mut out = vec![operation, path.len() as u8];
        out.extend_from_slice(path.as_bytes());
        if operation != REMOVE {
            let value = parse_text(value.as_bytes()).expect("is JSON");
            out.push(252);
            out.extend_from_slice(&(value.len() as u16).to_le_bytes());
            out.extend_from_slice(&value);
        }
        out
    }

    fn changed(document: &str, diffs: &[Vec<u8>]) -> Result<String, JsonDiffError> {
        let document = parse_text(document.as_bytes()).expect("is JSON");
        let mut text = Vec::new();
        write_text(&apply_diffs(&document, &diffs.concat())?, &mut text);
        Ok(String::from_utf8(text).expect("is text"))
    }

    #[test]
    fn values_are_replaced_inserted_and_removed() {
        let document = r#"{"a": 1, "b c": [1, {"x": null}, 3]}"#;
        let one = |operation, path, value| changed(document, &[diff(operation, path, value)]);
        assert_eq!(one(REPLACE, "$.a", "\"y\"").as_deref(), Ok(r#"{"a": "y", "b c": [1, {"x": null}, 3]}"#));
        assert_eq!(
            one(REPLACE, r#"$."b c"[1].x"#, "[]").as_deref(),
            Ok(r#"{"a": 1, "b c": [1, {"x": []}, 3]}"#)
        );
        assert_eq!(
            one(INSERT, "$.new", "1.5").as_deref(),
            Ok(r#"{"a": 1, "b c": [1, {"x": null}, 3], "new": 1.5}"#)
        );
        assert_eq!(
            one(INSERT, r#"$."b c"[1]"#, "9").as_deref(),
            Ok(r#"{"a": 1, "b c": [1, 9, {"x": null}, 3]}"#)
        );
        assert_eq!(
            one(INSERT, r#"$."b c"[99]"#, "9").as_deref(),
            Ok(r#"{"a": 1, "b c": [1, {"x": null}, 3, 9]}"#)
        );
        assert_eq!(one(REMOVE, r#"$."b c"[0]"#, "").as_deref(), Ok(r#"{"a": 1, "b c": [{"x": null}, 3]}"#));
        assert_eq!(one(REMOVE, r#"$."b c""#, "").as_deref(), Ok(r#"{"a": 1}"#));
        let two = [diff(REMOVE, "$.a", ""), diff(INSERT, "$.a", "{}")];
        assert_eq!(changed(document, &two).as_deref(), Ok(r#"{"a": {}, "b c": [1, {"x": null}, 3]}"#));
    }

    #[test]
    fn what_does_not_fit_or_is_no_difference_is_refused() {
        let document = r#"{"a": [1]}"#;
        for (operation, path) in [
            (REPLACE, "$.b"),
            (REPLACE, "$.a[1]"),
            (REPLACE, "$.a.b"),
            (INSERT, "$.a"),
            (INSERT, "$.a.b"),
            (INSERT, "$[0]"),
            (REMOVE, "$.a[1]"),
            (REMOVE, "$"),
        ] {
            let refused = changed(document, &[diff(operation, path, "1")]);
            assert_eq!(refused, Err(JsonDiffError::DoesNotFit), "{operation} {path}");
        }
        for path in ["", "a", "$.", "$.*", "$[x]", "$[1", "$.\"a", "$a"] {
            assert_eq!(changed(document, &[diff(REMOVE, path, "")]), Err(JsonDiffError::Corrupted), "{path}");
        }
        let whole = diff(REPLACE, "$.a[0]", "[1, 2, 3]");
        for len in 1..whole.len() {
            assert_eq!(changed(document, &[whole[..len].to_vec()]), Err(JsonDiffError::Corrupted), "{len}");
        }
    }
}
