//! The functions that change a document at the end of one path without wildcards.

use super::node::{Node, member_place};
use super::path::{Leg, Path, find_mut};

/// Which values a change applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The change applies to values that exist and to those that do not.
    Set,
    /// The change applies only to values that do not exist.
    Insert,
    /// The change applies only to values that exist.
    Replace,
}

impl Node {
    /// Does JSON_SET, JSON_INSERT or JSON_REPLACE with one value.
    pub fn change(&mut self, path: &Path, value: Node, change: Change) {
        if let Some(found) = path.find_one_mut(self) {
            if change != Change::Insert {
                *found = value;
            }
            return;
        }
        let Some((last, above)) = path.legs.split_last() else { return };
        if change == Change::Replace {
            return;
        }
        match (find_mut(self, above), last) {
            (Some(Node::Object(members)), Leg::Member(name)) => {
                if let Err(at) = member_place(members, name) {
                    members.insert(at, (name.clone(), value));
                }
            }
            (Some(Node::Array(elements)), Leg::Cell(cell)) => {
                let at = cell.place(elements.len()).unwrap_or_else(|end| end);
                elements.insert(at, value);
            }
            // A value that is no array becomes an element of a new one.
            (Some(parent), Leg::Cell(cell)) => {
                let old = std::mem::replace(parent, Node::Null);
                *parent = Node::Array(if cell.from_end { vec![value, old] } else { vec![old, value] });
            }
            _ => {}
        }
    }

    /// Does JSON_REMOVE of one value.
    pub fn remove(&mut self, path: &Path) {
        self.remove_at(&path.legs);
    }

    fn remove_at(&mut self, legs: &[Leg]) {
        let Some((last, above)) = legs.split_last() else { return };
        match (find_mut(self, above), last) {
            (Some(Node::Object(members)), Leg::Member(name)) => {
                if let Ok(at) = member_place(members, name) {
                    members.remove(at);
                }
            }
            (Some(Node::Array(elements)), Leg::Cell(cell)) => {
                if let Ok(at) = cell.place(elements.len()) {
                    elements.remove(at);
                }
            }
            // A value that is no array is its own only element.
            (Some(_), last) if last.means_itself() => self.remove_at(above),
            _ => {}
        }
    }

    /// Does JSON_ARRAY_APPEND of one value. A value that is no array becomes one.
    pub fn append(&mut self, path: &Path, value: Node) {
        match path.find_one_mut(self) {
            Some(Node::Array(elements)) => elements.push(value),
            Some(found) => {
                let old = std::mem::replace(found, Node::Null);
                *found = Node::Array(vec![old, value]);
            }
            None => {}
        }
    }

    /// Does JSON_ARRAY_INSERT of one value.
    pub fn insert_element(&mut self, path: &Path, value: Node) {
        let Some((Leg::Cell(cell), above)) = path.legs.split_last() else { return };
        if let Some(Node::Array(elements)) = find_mut(self, above) {
            let at = cell.place(elements.len()).unwrap_or_else(|end| end);
            elements.insert(at, value);
        }
    }

    /// Does JSON_MERGE_PRESERVE of two documents. The recursion is as deep as the documents.
    pub fn merge_preserving(self, other: Node) -> Node {
        match (self, other) {
            (Node::Object(mut members), Node::Object(more)) => {
                for (name, value) in more {
                    match member_place(&members, &name) {
                        Ok(at) => {
                            let old = std::mem::replace(&mut members[at].1, Node::Null);
                            members[at].1 = old.merge_preserving(value);
                        }
                        Err(at) => members.insert(at, (name, value)),
                    }
                }
                Node::Object(members)
            }
            (one, other) => {
                let elements = |node: Node| match node {
                    Node::Array(elements) => elements,
                    node => vec![node],
                };
                let mut merged = elements(one);
                merged.append(&mut elements(other));
                Node::Array(merged)
            }
        }
    }

    /// Does JSON_MERGE_PATCH (RFC 7396): objects are merged member by member, nulls remove members,
    /// and other values replace them. The recursion is as deep as the patch.
    pub fn merge_patch(&mut self, patch: Node) {
        let Node::Object(changes) = patch else {
            *self = patch;
            return;
        };
        if !matches!(self, Node::Object(_)) {
            *self = Node::Object(Vec::new());
        }
        let Node::Object(members) = self else { return };
        for (name, change) in changes {
            match (member_place(members, &name), change) {
                (Ok(at), Node::Null) => drop(members.remove(at)),
                (Err(_), Node::Null) => {}
                (Ok(at), change) => members[at].1.merge_patch(change),
                (Err(at), change) => {
                    let mut value = Node::Null;
                    value.merge_patch(change);
                    members.insert(at, (name, value));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{parse_node, write_node_text};

    fn node(text: &str) -> Node {
        parse_node(text.as_bytes()).expect("is JSON")
    }

    fn path(text: &str) -> Path {
        Path::parse(text.as_bytes()).expect("a path")
    }

    fn text(node: &Node) -> String {
        let mut text = Vec::new();
        write_node_text(node, &mut text);
        String::from_utf8(text).expect("is text")
    }

    #[test]
    fn values_are_set_inserted_and_replaced() {
        let changed = |document: &str, at: &str, change: Change| {
            let mut document = node(document);
            document.change(&path(at), Node::Int(9), change);
            text(&document)
        };
        assert_eq!(changed("[1, 2]", "$[1]", Change::Set), "[1, 9]");
        assert_eq!(changed("[1, 2]", "$[7]", Change::Set), "[1, 2, 9]");
        assert_eq!(changed("[1, 2]", "$[last-7]", Change::Insert), "[9, 1, 2]");
        assert_eq!(changed("1", "$[0]", Change::Set), "9");
        assert_eq!(changed("1", "$[1]", Change::Set), "[1, 9]");
        assert_eq!(changed("1", "$[last-1]", Change::Set), "[9, 1]");
        assert_eq!(changed("{\"a\": 1}", "$.b", Change::Replace), "{\"a\": 1}");
        assert_eq!(changed("{\"a\": 1}", "$.b", Change::Insert), "{\"a\": 1, \"b\": 9}");
        assert_eq!(changed("{\"a\": 1}", "$.b.c", Change::Insert), "{\"a\": 1}");
        assert_eq!(changed("{\"a\": 1}", "$.a", Change::Insert), "{\"a\": 1}");
    }

    #[test]
    fn documents_are_merged() {
        let preserved = |a: &str, b: &str| text(&node(a).merge_preserving(node(b)));
        assert_eq!(preserved("1", "[2]"), "[1, 2]");
        assert_eq!(preserved("{\"a\": 1}", "{\"a\": 2, \"b\": 3}"), "{\"a\": [1, 2], \"b\": 3}");
        assert_eq!(preserved("{\"a\": 1}", "[]"), "[{\"a\": 1}]");
    }
}
