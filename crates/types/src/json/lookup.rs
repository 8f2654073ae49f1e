//! Queries on a document in binary form that do not need a tree of the whole document.

use super::binary::*;
use super::node::Node;
use super::path::{Leg, Path};
use super::read::{read_document, read_value};
use std::cmp::Ordering;

/// Returns the value that a path without wildcards leads to in a document. The outer `None` means
/// that the document is malformed. Only the value and the way to it are read.
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

/// Reports whether a document is an array or an object.
pub fn is_container(document: &[u8]) -> bool {
    document.first().is_some_and(|kind| *kind <= LARGE_ARRAY)
}

/// Reports whether a document is the number 0, of whatever kind.
pub fn is_zero(document: &[u8]) -> bool {
    let is_number = |kind: u8| !matches!(kind, SMALL_OBJECT..=LITERAL | STRING);
    document.first().is_some_and(|&kind| is_number(kind))
        && read_document(document).is_some_and(|node| node.compare(&Node::Int(0)) == Ordering::Equal)
}

impl Container<'_> {
    /// Returns the place of an object's member. The outer `None` means that the object is
    /// malformed.
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
}
