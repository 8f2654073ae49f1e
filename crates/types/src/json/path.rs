//! Path expressions, such as `$.name[0].*[last-1 to last]**.x`.

use super::node::{Node, member_place};
use super::parse::parse_name;
use std::collections::HashSet;

/// A step of a path, from a value to values in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    /// `.name`
    Member(Vec<u8>),
    /// `.*`
    AnyMember,
    /// `[n]`, `[last-n]`
    Cell(Cell),
    /// `[a to b]`
    Range(Cell, Cell),
    /// `[*]`
    AnyCell,
    /// `**`: the value itself and all values below it.
    Below,
}

/// An index of an array's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The index, counted from 0.
    pub index: u32,
    /// Whether the index is counted from the last element.
    pub from_end: bool,
}

impl Cell {
    /// Returns the element's place in an array of this length, or as the error the end of the array
    /// that the index is beyond.
    pub fn place(self, len: usize) -> Result<usize, usize> {
        let index = self.index as usize;
        match (self.from_end, index < len) {
            (true, true) => Ok(len - index - 1),
            (true, false) => Err(0),
            (false, true) => Ok(index),
            (false, false) => Err(len),
        }
    }
}

impl Leg {
    /// Returns the places of the elements that the step leads to in an array of this length.
    fn cells(&self, len: usize) -> std::ops::Range<usize> {
        let either = |place: Result<usize, usize>| place.unwrap_or_else(|end| end);
        match self {
            Leg::Cell(cell) => cell.place(len).map_or(0..0, |at| at..at + 1),
            Leg::Range(first, last) => {
                let end = last.place(len).map_or_else(|end| end, |at| at + 1);
                either(first.place(len))..end
            }
            Leg::AnyCell => 0..len,
            _ => 0..0,
        }
    }

    /// Reports whether the step leads from a value that is no array to the value itself, as the
    /// only element of one.
    pub fn means_itself(&self) -> bool {
        match self {
            Leg::Cell(_) | Leg::Range(..) => !self.cells(1).is_empty(),
            _ => false,
        }
    }

    fn may_mean_several(&self) -> bool {
        matches!(self, Leg::AnyMember | Leg::AnyCell | Leg::Below | Leg::Range(..))
    }
}

/// A path expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The steps from the root.
    pub legs: Vec<Leg>,
}

impl Path {
    /// Reads a path. The error is the byte where the text stops being a path (error 3143).
    pub fn parse(text: &[u8]) -> Result<Path, usize> {
        let mut reader = Reader { text, at: 0 };
        match reader.path() {
            Some(legs) => Ok(Path { legs }),
            None => Err(reader.at.min(text.len())),
        }
    }

    /// Reports whether the path can lead to several values of one document.
    pub fn may_mean_several(&self) -> bool {
        self.legs.iter().any(Leg::may_mean_several)
    }

    /// Returns the values that the path leads to, each once, in the order of the document.
    ///
    /// The path is followed step by step. If `**` is in the path, several ways may lead to one
    /// value, from which only one goes on. So the work is at most the document's size for each
    /// step.
    pub fn find<'n>(&self, root: &'n Node) -> Vec<&'n Node> {
        let mut found = vec![root];
        let mut is_below = false;
        for leg in &self.legs {
            let mut next = Vec::new();
            found.into_iter().for_each(|node| step(node, leg, &mut next));
            is_below |= *leg == Leg::Below;
            if is_below {
                let mut seen = HashSet::with_capacity(next.len());
                next.retain(|node| seen.insert(std::ptr::from_ref::<Node>(node)));
            }
            found = next;
        }
        found
    }

    /// Returns the values as [`Path::find`] does, each with its own path, which has no wildcards.
    /// Here a value that is no array is not an element of itself, as in JSON_SEARCH.
    pub fn places<'n>(&self, root: &'n Node) -> Vec<(Vec<u8>, &'n Node)> {
        let mut found = vec![(b"$".to_vec(), root)];
        for leg in &self.legs {
            let mut next = Vec::new();
            found.into_iter().for_each(|(at, node)| step_places(node, leg, &at, &mut next));
            let mut seen = HashSet::with_capacity(next.len());
            next.retain(|(_, node)| seen.insert(std::ptr::from_ref::<Node>(node)));
            found = next;
        }
        found
    }

    /// Returns the value that a path without wildcards leads to.
    pub fn find_one<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        self.legs.iter().try_fold(root, |node, leg| match (node, leg) {
            (Node::Object(_), Leg::Member(name)) => node.member(name),
            (Node::Array(elements), Leg::Cell(cell)) => elements.get(cell.place(elements.len()).ok()?),
            (node, leg) => leg.means_itself().then_some(node),
        })
    }

    /// Returns the value as [`Path::find_one`] does, to be changed.
    pub fn find_one_mut<'n>(&self, root: &'n mut Node) -> Option<&'n mut Node> {
        find_mut(root, &self.legs)
    }
}

/// Returns the value that steps without wildcards lead to.
pub(super) fn find_mut<'n>(root: &'n mut Node, legs: &[Leg]) -> Option<&'n mut Node> {
    legs.iter().try_fold(root, |node, leg| match (node, leg) {
        (Node::Object(members), Leg::Member(name)) => {
            let at = member_place(members, name).ok()?;
            Some(&mut members[at].1)
        }
        (Node::Array(elements), Leg::Cell(cell)) => {
            let at = cell.place(elements.len()).ok()?;
            elements.get_mut(at)
        }
        (node, leg) => leg.means_itself().then_some(node),
    })
}

/// Appends the values that one step leads to.
fn step<'n>(node: &'n Node, leg: &Leg, next: &mut Vec<&'n Node>) {
    match (leg, node) {
        (Leg::Member(name), Node::Object(_)) => next.extend(node.member(name)),
        (Leg::AnyMember, Node::Object(members)) => next.extend(members.iter().map(|(_, value)| value)),
        (Leg::Below, node) => below(node, next),
        (_, Node::Array(elements)) => {
            next.extend(elements.get(leg.cells(elements.len())).into_iter().flatten());
        }
        _ if leg.means_itself() => next.push(node),
        _ => {}
    }
}

/// Appends the value and all values below it. The recursion is as deep as the document.
fn below<'n>(node: &'n Node, next: &mut Vec<&'n Node>) {
    next.push(node);
    match node {
        Node::Array(elements) => elements.iter().for_each(|element| below(element, next)),
        Node::Object(members) => members.iter().for_each(|(_, value)| below(value, next)),
        _ => {}
    }
}

/// Appends the values as [`step`] does, with their paths.
fn step_places<'n>(node: &'n Node, leg: &Leg, at: &[u8], next: &mut Vec<(Vec<u8>, &'n Node)>) {
    match (leg, node) {
        (Leg::Member(name), Node::Object(_)) => {
            next.extend(node.member(name).map(|value| (with_leg(at, leg), value)));
        }
        (Leg::AnyMember, Node::Object(members)) => {
            next.extend(
                members.iter().map(|(name, value)| (with_leg(at, &Leg::Member(name.clone())), value)),
            );
        }
        (Leg::Below, node) => places_below(node, at, next),
        (_, Node::Array(elements)) => {
            next.extend(leg.cells(elements.len()).map(|index| (with_cell(at, index), &elements[index])));
        }
        _ => {}
    }
}

/// Appends the values as [`below`] does, with their paths.
fn places_below<'n>(node: &'n Node, at: &[u8], next: &mut Vec<(Vec<u8>, &'n Node)>) {
    next.push((at.to_vec(), node));
    match node {
        Node::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                places_below(element, &with_cell(at, index), next);
            }
        }
        Node::Object(members) => {
            for (name, value) in members {
                places_below(value, &with_leg(at, &Leg::Member(name.clone())), next);
            }
        }
        _ => {}
    }
}

fn with_cell(at: &[u8], index: usize) -> Vec<u8> {
    with_leg(at, &Leg::Cell(Cell { index: index as u32, from_end: false }))
}

/// Returns a path with one more step.
fn with_leg(at: &[u8], leg: &Leg) -> Vec<u8> {
    let mut path = at.to_vec();
    write_leg(leg, &mut path);
    path
}

/// Appends a step as MySQL writes it. A name that is no identifier is put in quotation marks.
pub fn write_leg(leg: &Leg, out: &mut Vec<u8>) {
    match leg {
        Leg::Member(name) => {
            out.push(b'.');
            match is_identifier(name) {
                true => out.extend_from_slice(name),
                false => super::text::write_string(name, out),
            }
        }
        Leg::Cell(cell) => {
            let from = if cell.from_end { "last-" } else { "" };
            out.extend_from_slice(format!("[{from}{}]", cell.index).as_bytes());
        }
        Leg::AnyMember => out.extend_from_slice(b".*"),
        Leg::AnyCell => out.extend_from_slice(b"[*]"),
        Leg::Below => out.extend_from_slice(b"**"),
        Leg::Range(first, last) => {
            let shown = |cell: &Cell| match cell.from_end {
                true => format!("last-{}", cell.index),
                false => cell.index.to_string(),
            };
            out.extend_from_slice(format!("[{} to {}]", shown(first), shown(last)).as_bytes());
        }
    }
}

/// Reports whether a name needs no quotation marks, because it is an identifier of ECMAScript.
fn is_identifier(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return false };
    let begins = |c: char| c.is_alphabetic() || matches!(c, '$' | '_');
    let goes_on = |c: char| {
        begins(c) || c.is_alphanumeric() || matches!(c, '\u{200c}' | '\u{200d}' | '\u{203f}'..='\u{2040}')
    };
    let mut characters = name.chars();
    characters.next().is_some_and(begins) && characters.all(goes_on)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Takes the next byte, whatever it is.
    fn pop(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn path(&mut self) -> Option<Vec<Leg>> {
        let mut legs = Vec::new();
        self.skip_spaces();
        (self.pop()? == b'$').then_some(())?;
        self.skip_spaces();
        while let Some(next) = self.peek() {
            legs.push(match next {
                b'.' => self.member()?,
                b'[' => self.cell()?,
                b'*' => self.below()?,
                _ => return None,
            });
            self.skip_spaces();
        }
        (legs.last() != Some(&Leg::Below)).then_some(legs)
    }

    fn below(&mut self) -> Option<Leg> {
        self.at += 1;
        (self.pop()? == b'*').then_some(())?;
        (self.peek()? != b'*').then_some(Leg::Below)
    }

    fn member(&mut self) -> Option<Leg> {
        self.at += 1;
        self.skip_spaces();
        if self.peek()? == b'*' {
            self.at += 1;
            return Some(Leg::AnyMember);
        }
        let rest = &self.text[self.at..];
        if rest[0] == b'"' {
            let written = &rest[..end_of_quoted(rest)];
            self.at += written.len();
            return parse_name(written).map(Leg::Member);
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'.' | b'[' | b'*');
        let written = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        self.at += written.len();
        let name = parse_name(&[b"\"", written, b"\""].concat())?;
        is_identifier(&name).then_some(Leg::Member(name))
    }

    fn cell(&mut self) -> Option<Leg> {
        self.at += 1;
        self.skip_spaces();
        let leg = if self.peek()? == b'*' {
            self.at += 1;
            Leg::AnyCell
        } else {
            let first = self.index()?;
            self.skip_spaces();
            self.peek()?;
            match self.range_follows() {
                true => {
                    self.at += 3;
                    self.skip_spaces();
                    let last = self.index()?;
                    let is_empty = first.from_end == last.from_end
                        && match first.from_end {
                            true => first.index < last.index,
                            false => first.index > last.index,
                        };
                    (!is_empty).then_some(Leg::Range(first, last))?
                }
                false => Leg::Cell(first),
            }
        };
        self.skip_spaces();
        (self.pop()? == b']').then_some(leg)
    }

    /// Reports whether `to` with spaces around it follows.
    fn range_follows(&self) -> bool {
        let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        self.text[self.at..].starts_with(b"to")
            && is_space(self.text.get(self.at - 1))
            && is_space(self.text.get(self.at + 2))
            && self.at + 3 < self.text.len()
    }

    fn index(&mut self) -> Option<Cell> {
        let from_end = self.text[self.at..].starts_with(b"last");
        if from_end {
            self.at += 4;
            self.skip_spaces();
            if self.peek() != Some(b'-') {
                return Some(Cell { index: 0, from_end });
            }
            self.at += 1;
            self.skip_spaces();
        }
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let index = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        self.at += digits;
        Some(Cell { index, from_end })
    }
}

/// Returns the length of a name in quotation marks, both included, or that of the whole text when
/// the second one is missing.
fn end_of_quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_node;

    #[test]
    fn places_of_errors_are_mysqls() {
        for (text, at) in [
            ("", 0),
            ("a", 1),
            ("$.", 2),
            ("$..a", 2),
            ("$.a b", 4),
            ("$**", 3),
            ("$***.a", 3),
            ("$**.**", 6),
            ("$.\"a", 4),
            ("$.1a", 4),
            ("$[1", 3),
            ("$[]", 2),
            ("$[-1]", 2),
            ("$[last+1]", 7),
            ("$[2 to 1]", 8),
            ("$[last-1 to last-2]", 18),
            ("$[0to1]", 4),
            ("$[0 to]", 5),
            ("$[99999999999]", 2),
            ("$.a-b", 5),
            ("$.a ,", 4),
        ] {
            assert_eq!(Path::parse(text.as_bytes()), Err(at), "{text}");
        }
    }

    #[test]
    fn values_are_found_once_and_in_order() {
        let root = parse_node(br#"{"a": {"b": [1, 2, {"a": 5}]}, "c": [[7]]}"#).expect("is JSON");
        let found = |path: &str| {
            let path = Path::parse(path.as_bytes()).expect("a path");
            let texts = path.find(&root).into_iter().map(|node| {
                let mut text = Vec::new();
                super::super::write_node_text(node, &mut text);
                String::from_utf8(text).expect("is text")
            });
            texts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found("$.a.b[last]"), r#"{"a": 5}"#);
        assert_eq!(found("$.a.b[1 to last]"), r#"2 {"a": 5}"#);
        assert_eq!(found("$.a.b[last-9 to 1]"), "1 2");
        assert_eq!(found("$.a.b[*]"), r#"1 2 {"a": 5}"#);
        assert_eq!(found("$**.a"), r#"{"b": [1, 2, {"a": 5}]} 5"#);
        assert_eq!(found("$.c**[0]"), "[7] 7");
        assert_eq!(found("$.a.b[0][0][last]"), "1");
        assert_eq!(found("$.a.b[0][1]"), "");
        assert_eq!(found(" $ . c [ 0 ] "), "[7]");
    }

    #[test]
    fn many_wildcards_over_a_deep_document_cost_no_more_than_its_size_each() {
        let text = format!("{}1{}", "[".repeat(90), "]".repeat(90));
        let root = parse_node(text.as_bytes()).expect("is JSON");
        let path = Path::parse(format!("${}", "**[0]".repeat(40)).as_bytes()).expect("a path");
        // These are the last 51 of the 91 values: each step goes at least one level deeper, but the
        // number is its own element.
        assert_eq!(path.find(&root).len(), 51);
        assert_eq!(path.places(&root).len(), 51);
        let first = Path::parse(b"$[0]").expect("a path");
        assert!(first.find(&Node::Int(1)).len() == 1 && first.places(&Node::Int(1)).is_empty());
    }
}
