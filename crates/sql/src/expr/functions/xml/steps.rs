//! The steps of a path, each of which leads from nodes to other nodes.

use super::document::{Document, Kind};
use super::query::{Axis, Step};

/// A node that a path has reached, with its position among the nodes of its step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub node: usize,
    /// The position, counted from 1.
    pub position: usize,
    pub size: usize,
}

/// Numbers the nodes as places among each other.
pub(super) fn numbered(nodes: impl ExactSizeIterator<Item = usize>) -> Vec<Place> {
    let size = nodes.len();
    nodes.zip(1..).map(|(node, position)| Place { node, position, size }).collect()
}

/// Returns the places that a step without its predicates leads to from these nodes.
pub(super) fn follow(document: &Document<'_>, from: &[Place], step: &Step) -> Vec<Place> {
    let fits = |node: usize, kind: Kind| {
        let found = &document.nodes[node];
        let is_named = |name: &Vec<u8>| name == found.text;
        found.kind == kind && step.name.as_ref().is_none_or(is_named)
    };
    match step.axis {
        Axis::Stay => from.to_vec(),
        Axis::Itself => {
            from.iter().filter(|place| step.name.is_none() || fits(place.node, Kind::Tag)).copied().collect()
        }
        Axis::Child | Axis::Attribute => {
            let kind = if step.axis == Axis::Child { Kind::Tag } else { Kind::Attribute };
            children(document, from, &|node| fits(node, kind))
        }
        Axis::Descendant | Axis::DescendantOrSelf => {
            let with_self = step.axis == Axis::DescendantOrSelf;
            numbered(descendants(document, from, with_self, &|node| fits(node, Kind::Tag)).into_iter())
        }
        Axis::Parent => {
            let parents = from.iter().filter(|place| place.node != 0);
            let parents = parents.map(|place| document.nodes[place.node].parent);
            distinct(parents.filter(|node| fits(*node, Kind::Tag)))
        }
        Axis::Ancestor | Axis::AncestorOrSelf => {
            let with_self = step.axis == Axis::AncestorOrSelf;
            numbered(ancestors(document, from, with_self, &|node| fits(node, Kind::Tag)).into_iter())
        }
    }
}

/// Returns the nodes in the order of the document, each once.
pub(super) fn distinct(nodes: impl Iterator<Item = usize>) -> Vec<Place> {
    let mut nodes: Vec<usize> = nodes.collect();
    nodes.sort_unstable();
    nodes.dedup();
    numbered(nodes.into_iter())
}

/// Returns the nodes below a node. They end before the first node whose parent stands in front of
/// it.
fn below(document: &Document<'_>, node: usize) -> impl Iterator<Item = usize> {
    let rest = document.nodes[node + 1..].iter().zip(node + 1..);
    rest.take_while(move |(found, _)| found.parent >= node).map(|(_, at)| at)
}

/// Returns the children of each node, as places among each other. For several nodes it finds them
/// in one pass over the document, because a pass for each would visit nested elements again and
/// again.
fn children(document: &Document<'_>, from: &[Place], fits: &dyn Fn(usize) -> bool) -> Vec<Place> {
    if let [Place { node, .. }] = *from {
        let found = below(document, node).filter(|at| document.nodes[*at].parent == node && fits(*at));
        return numbered(found.collect::<Vec<_>>().into_iter());
    }
    let mut list_of: Vec<Option<usize>> = vec![None; document.nodes.len()];
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for place in from {
        list_of[place.node].get_or_insert_with(|| {
            lists.push(Vec::new());
            lists.len() - 1
        });
    }
    // Node 0, the document, is its own parent.
    for (at, node) in document.nodes.iter().enumerate().skip(1) {
        if let Some(list) = list_of[node.parent]
            && fits(at)
        {
            lists[list].push(at);
        }
    }
    let lists = from.iter().filter_map(|place| list_of[place.node]).map(|list| &lists[list]);
    lists.flat_map(|list| numbered(list.iter().copied())).collect()
}

/// Returns the ancestors of nodes in the order of the document, each once. A walk upwards ends
/// where another one has been, so that the walks of nested elements do not repeat each other.
fn ancestors(
    document: &Document<'_>,
    from: &[Place],
    with_self: bool,
    fits: &dyn Fn(usize) -> bool,
) -> Vec<usize> {
    let mut is_found = vec![false; document.nodes.len()];
    for place in from {
        let mut node = place.node;
        is_found[node] |= with_self;
        while node != 0 {
            node = document.nodes[node].parent;
            if std::mem::replace(&mut is_found[node], true) {
                break;
            }
        }
    }
    (0..document.nodes.len()).filter(|node| is_found[*node] && fits(*node)).collect()
}

fn descendants(
    document: &Document<'_>,
    from: &[Place],
    with_self: bool,
    fits: &dyn Fn(usize) -> bool,
) -> Vec<usize> {
    let mut is_below = vec![false; document.nodes.len()];
    let mut is_found = vec![false; document.nodes.len()];
    from.iter().for_each(|place| is_below[place.node] = true);
    for node in 0..document.nodes.len() {
        // Parents stand in front of their children.
        let of_parent = node > 0 && is_below[document.nodes[node].parent];
        is_found[node] = of_parent || with_self && is_below[node];
        is_below[node] |= of_parent;
    }
    (0..document.nodes.len()).filter(|node| is_found[*node] && fits(*node)).collect()
}
