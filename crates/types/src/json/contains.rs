//! Whether documents contain each other, and whether they have something in common.

use super::node::Node;
use std::cmp::Ordering;

/// A function that is called before each of the comparisons, of which there may be many. Its error
/// ends them.
pub type GoesOn<'g, E> = &'g dyn Fn() -> Result<(), E>;

/// Returns the elements of an array, or the value as the only one.
fn elements(node: &Node) -> &[Node] {
    match node {
        Node::Array(elements) => elements,
        node => std::slice::from_ref(node),
    }
}

/// Sorted scalars, which can be looked up.
struct Scalars<'n>(Vec<&'n Node>);

impl<'n> Scalars<'n> {
    fn of(elements: &'n [Node]) -> Scalars<'n> {
        let mut scalars: Vec<&Node> = elements.iter().filter(|element| element.is_scalar()).collect();
        scalars.sort_by(|a, b| a.compare(b));
        Scalars(scalars)
    }

    fn contains(&self, node: &Node) -> bool {
        self.0.binary_search_by(|element| element.compare(node)).is_ok()
    }
}

/// Does JSON_CONTAINS: an object contains a candidate if it contains the candidate's members, an
/// array if it contains the candidate's elements. The recursion is as deep as the documents.
pub fn contains<E>(document: &Node, candidate: &Node, goes_on: GoesOn<'_, E>) -> Result<bool, E> {
    goes_on()?;
    match (document, candidate) {
        (Node::Object(_), Node::Object(wanted)) => {
            for (name, value) in wanted {
                match document.member(name) {
                    Some(own) if contains(own, value, goes_on)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Node::Object(_), _) => Ok(false),
        (Node::Array(own), candidate) => {
            let scalars = Scalars::of(own);
            for wanted in elements(candidate) {
                goes_on()?;
                if wanted.is_scalar() && scalars.contains(wanted) {
                    continue;
                }
                let mut found = false;
                for element in own.iter().filter(|element| !element.is_scalar()) {
                    found = match wanted {
                        // An array is contained in one of the arrays, not in what those contain.
                        Node::Array(_) if !matches!(element, Node::Array(_)) => false,
                        wanted => contains(element, wanted, goes_on)?,
                    };
                    if found {
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (scalar, candidate) => Ok(scalar.compare(candidate) == Ordering::Equal),
    }
}

/// Does JSON_OVERLAPS: two objects have a member in common, or two arrays an element.
pub fn overlaps<E>(a: &Node, b: &Node, goes_on: GoesOn<'_, E>) -> Result<bool, E> {
    goes_on()?;
    if let (Node::Object(members), Node::Object(_)) = (a, b) {
        let is_common = |(name, value): &(Vec<u8>, Node)| {
            b.member(name).is_some_and(|other| other.compare(value) == Ordering::Equal)
        };
        return Ok(members.iter().any(is_common));
    }
    let mut sorted: Vec<&Node> = elements(a).iter().collect();
    sorted.sort_by(|a, b| a.compare(b));
    for element in elements(b) {
        goes_on()?;
        if sorted.binary_search_by(|other| other.compare(element)).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_node;

    fn ask(what: fn(&Node, &Node, GoesOn<'_, ()>) -> Result<bool, ()>, a: &str, b: &str) -> bool {
        let node = |text: &str| parse_node(text.as_bytes()).expect("is JSON");
        what(&node(a), &node(b), &|| Ok(())).expect("nothing ends it")
    }

    #[test]
    fn documents_contain_others() {
        for (a, b, contained) in [
            ("1", "1.0", true),
            ("[1, 2, [3, 4]]", "2", true),
            ("[1, 2, [3, 4]]", "3", true),
            ("[1, 2, [3, 4]]", "[[4]]", true),
            ("[1, [2, [3]]]", "[[3]]", true),
            ("[1]", "[1, 1]", true),
            ("1", "[1]", false),
            ("{\"a\": {\"b\": 1, \"c\": 2}}", "{\"a\": {\"c\": 2}}", true),
            ("[{\"a\": 1}]", "{\"a\": 1}", true),
            ("{\"a\": 1}", "1", false),
        ] {
            assert_eq!(ask(contains, a, b), contained, "{a} {b}");
        }
    }

    #[test]
    fn documents_overlap() {
        for (a, b, common) in [
            ("[1, 2]", "[2.0, 3]", true),
            ("[1, [2]]", "2", false),
            ("[1, [2]]", "[[2]]", true),
            ("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"c\": 3}", true),
            ("{\"a\": 1}", "{\"a\": 2}", false),
            ("[{\"a\": 1}]", "{\"a\": 1}", true),
            ("5", "[5]", true),
        ] {
            assert_eq!(ask(overlaps, a, b), common, "{a} {b}");
        }
    }
}
