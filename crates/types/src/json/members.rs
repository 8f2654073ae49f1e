//! Objects that a program makes and reads itself: their members, and how they are merged (RFC
//! 7396).

use super::node::{Node, member_place};
use super::read::read_document;
use super::write::write_document;

/// The value of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// A binary document.
    Document(Vec<u8>),
    /// A string.
    Text(Vec<u8>),
    /// A whole number.
    Integer(i64),
}

/// Returns the binary document of an object with these members. `None` when one of their values is
/// not a well-formed document.
pub fn object(members: Vec<(&str, Member)>) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    for (name, value) in members {
        let value = match value {
            Member::Document(document) => read_document(&document)?,
            Member::Text(text) => Node::String(text),
            Member::Integer(number) => Node::Int(number),
        };
        put(&mut made, name.as_bytes(), value);
    }
    write_document(&Node::Object(made))
}

/// Reports whether a document is an object.
pub fn is_object(document: &[u8]) -> bool {
    matches!(read_document(document), Some(Node::Object(_)))
}

/// Returns the value of an object's member.
pub fn member(document: &[u8], name: &str) -> Option<Member> {
    let Node::Object(mut members) = read_document(document)? else { return None };
    let at = member_place(&members, name.as_bytes()).ok()?;
    Some(match members.swap_remove(at).1 {
        Node::String(text) => Member::Text(text),
        Node::Int(number) => Member::Integer(number),
        Node::UInt(number) => Member::Integer(i64::try_from(number).ok()?),
        other => Member::Document(write_document(&other)?),
    })
}

/// Merges the members of `patch` into an object: objects are merged in the same way, nulls remove
/// members, and other values replace them.
pub fn merge_patch(document: &[u8], patch: &[u8]) -> Option<Vec<u8>> {
    let mut merged = read_document(document)?;
    merged.merge_patch(read_document(patch)?);
    write_document(&merged)
}

fn put(members: &mut Vec<(Vec<u8>, Node)>, name: &[u8], value: Node) {
    match member_place(members, name) {
        Ok(at) => members[at].1 = value,
        Err(at) => members.insert(at, (name.to_vec(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse_text, write_text};
    use super::*;

    fn text(document: &[u8]) -> String {
        let mut out = Vec::new();
        write_text(document, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_are_put_and_found() {
        let inner = object(vec![("n", Member::Integer(-1))]).unwrap();
        let made =
            object(vec![("long", Member::Document(inner.clone())), ("t", Member::Text(b"x\"y".to_vec()))]);
        let made = made.unwrap();
        assert_eq!(text(&made), r#"{"t": "x\"y", "long": {"n": -1}}"#);
        assert_eq!(member(&made, "t"), Some(Member::Text(b"x\"y".to_vec())));
        assert_eq!(member(&made, "long"), Some(Member::Document(inner.clone())));
        assert_eq!(member(&inner, "n"), Some(Member::Integer(-1)));
        assert_eq!(member(&made, "none"), None);
        assert!(is_object(&made) && !is_object(&parse_text(b"[1]").unwrap()) && !is_object(b""));
    }

    #[test]
    fn patches_merge_as_mysqls_do() {
        let merged = |document: &str, patch: &str| {
            let parse = |text: &str| parse_text(text.as_bytes()).unwrap();
            text(&merge_patch(&parse(document), &parse(patch)).unwrap())
        };
        assert_eq!(merged(r#"{"a": 1}"#, r#"{"b": 2, "a": null, "c": null}"#), r#"{"b": 2}"#);
        assert_eq!(
            merged(r#"{"a": {"b": 1}}"#, r#"{"a": {"c": [null]}}"#),
            r#"{"a": {"b": 1, "c": [null]}}"#
        );
        assert_eq!(merged(r#"{"a": 1}"#, r#"{"a": {"b": null}}"#), r#"{"a": {}}"#);
        assert_eq!(merged("{}", r#"{"a": {"b": null, "c": 1}}"#), r#"{"a": {"c": 1}}"#);
    }
}
