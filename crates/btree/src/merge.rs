//! Merges: a sparse node joins a neighbour, an empty one is freed, and a root with one child left
//! loses a level.

use buffer::page::{self, PageType};
use buffer::{Held, Mtr, PageNo, slotted};

use crate::descend::Target;
use crate::error::Result;
use crate::leaf::SPARSE;
use crate::root::{MAX_LEVELS, Root};

/// The most sixteenths of a page that a merged node may fill. If it were fuller, the next insert
/// would split it again.
const MERGED_FILL: usize = 13;

/// The nodes from the topmost that may change down to the sparse one, latched exclusively.
struct Path<'m> {
    root: &'m Root,
    mtr: Mtr<'m>,
    nodes: Vec<Held>,
    /// For each node but the last one, the index of its child in the path.
    indexes: Vec<usize>,
}

/// Merges the leaf that holds `key` with a neighbour, if the leaf is sparse and a neighbour has
/// room, and then those nodes above that have become sparse by it. Frees the leaf if it is empty
/// and its parent's only child.
pub(crate) fn merge(root: &Root, key: &[u8]) -> Result<()> {
    let lock = root.pool().lock_structure(root.space())?;
    // A merge may leave the node above sparse. Each level is a mini-transaction of its own.
    for level in 0..MAX_LEVELS as u8 {
        let mtr = Mtr::begin(root.pool(), &lock);
        let Some(path) = Path::latch(root, mtr, key, level)? else { break };
        if !path.merge()? {
            break;
        }
    }
    Ok(())
}

impl<'m> Path<'m> {
    /// Latches the path to the node of `level` that holds `key`. Returns `None` when there is no
    /// node of that level below the root.
    fn latch(root: &'m Root, mut mtr: Mtr<'m>, key: &[u8], level: u8) -> Result<Option<Path<'m>>> {
        let mut held = mtr.latch(root.page())?;
        let mut at_level = root.check_node(root.page(), mtr.page(held), None)?;
        let (mut nodes, mut indexes) = (vec![held], Vec::new());
        if at_level <= level {
            return Ok(None);
        }
        while at_level > level {
            let node = mtr.page(held);
            let index = Target::Of(key).child_index(node);
            let no = slotted::child(node, index);
            let survives = slotted::count(node) > 2;
            if survives && nodes.len() > 1 {
                // This node keeps at least two children whatever happens below, so nothing above it
                // changes.
                (nodes, indexes) = (mtr.release_before(held), Vec::new());
            }
            indexes.push(index);
            let child = mtr.latch(no)?;
            at_level = root.check_node(no, mtr.page(child), Some(at_level - 1))?;
            nodes.push(child);
            held = child;
        }
        debug_assert_eq!(held, *nodes.last().expect("not empty"));
        Ok(Some(Path { root, mtr, nodes, indexes }))
    }

    /// Merges the last node of the path with a neighbour, or frees it. Returns whether it did one
    /// of these.
    fn merge(mut self) -> Result<bool> {
        assert_eq!(
            self.indexes.len() + 1,
            self.nodes.len(),
            "each node but the last has a child in the path"
        );
        let depth = self.nodes.len() - 1;
        let (parent, node, index) = (self.nodes[depth - 1], self.nodes[depth], self.indexes[depth - 1]);
        if slotted::used_bytes(self.mtr.page(node)) >= self.mtr.page(node).len() / SPARSE {
            return Ok(false);
        }
        if slotted::count(self.mtr.page(parent)) == 1 {
            return self.free_lonely();
        }
        let neighbours = [
            index.checked_sub(1),
            Some(index + 1).filter(|&next| next < slotted::count(self.mtr.page(parent))),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            let level = page::level(self.mtr.page(node));
            let no = slotted::child(self.mtr.page(parent), neighbour);
            let held = self.mtr.latch(no)?;
            self.root.check_node(no, self.mtr.page(held), Some(level))?;
            let right_index = index.max(neighbour);
            assert!(right_index > 0, "the right one of two neighbours is not the first child");
            let (left, right) = if neighbour < index { (held, node) } else { (node, held) };
            if merged_bytes(&self.mtr, parent, left, right, right_index)
                <= self.mtr.page(left).len() / 16 * MERGED_FILL
            {
                self.mtr.prepare_free()?;
                merge_into(&mut self.mtr, parent, left, right, right_index);
                self.shrink_root(parent, left);
                self.mtr.commit();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Frees an empty leaf that is its parent's only child, and with it those ancestors that have
    /// no other child. If the root has no other child, it becomes an empty leaf.
    fn free_lonely(mut self) -> Result<bool> {
        let depth = self.nodes.len() - 1;
        let node = self.mtr.page(self.nodes[depth]);
        if page::level(node) > 0 || slotted::count(node) > 0 {
            return Ok(false);
        }
        assert!(depth > 0, "the root is nobody's only child");
        self.mtr.prepare_free()?;
        let is_root = self.mtr.no(self.nodes[0]) == self.root.page();
        let lonely = |above: usize| slotted::count(self.mtr.page(self.nodes[above])) == 1;
        let keeps = (0..depth).rev().find(|&above| !lonely(above));
        if keeps.is_none() && !is_root {
            return Ok(false);
        }
        let first_freed = keeps.map_or(1, |keeps| keeps + 1);
        self.nodes[first_freed..].iter().for_each(|&held| self.mtr.free(held));
        match keeps {
            Some(keeps) => self.mtr.remove_child(self.nodes[keeps], self.indexes[keeps]),
            None => {
                self.mtr.format(self.nodes[0], PageType::Index, 0);
            }
        }
        self.mtr.commit();
        Ok(true)
    }

    /// Copies the content of `child` into `node`, if `node` is the root and has no other child. The
    /// tree then has one level less.
    fn shrink_root(&mut self, node: Held, child: Held) {
        if self.mtr.no(node) != self.root.page() || slotted::count(self.mtr.page(node)) != 1 {
            return;
        }
        let content = self.mtr.page(child).to_vec();
        let root = self.mtr.format(node, PageType::Index, page::level(&content));
        slotted::append_all(root, &content, 0);
        assert_eq!(slotted::count(root), slotted::count(&content), "the root has all that its child had");
        self.mtr.free(child);
    }
}

/// Returns the number of bytes that the entries of both nodes will take on one page.
fn merged_bytes(mtr: &Mtr<'_>, parent: Held, left: Held, right: Held, right_index: usize) -> usize {
    let separator = slotted::key(mtr.page(parent), right_index).len();
    let rises = if page::level(mtr.page(right)) > 0 { separator } else { 0 };
    slotted::used_bytes(mtr.page(left)) + slotted::used_bytes(mtr.page(right)) + rises
}

fn merge_into(mtr: &mut Mtr<'_>, parent: Held, left: Held, right: Held, right_index: usize) {
    let (content, separator) =
        (mtr.page(right).to_vec(), slotted::key(mtr.page(parent), right_index).to_vec());
    let is_inner = page::level(&content) > 0;
    let bytes = mtr.page_mut(left);
    let entries = slotted::count(bytes) + slotted::count(&content);
    if is_inner {
        // Between the two nodes' entries, the right node's first child gets back the key that rose
        // when the nodes were split.
        let child: PageNo = slotted::child(&content, 0);
        let at = slotted::count(bytes);
        slotted::insert(bytes, at, &separator, &child.to_le_bytes());
    }
    slotted::append_all(bytes, &content, usize::from(is_inner));
    assert_eq!(slotted::count(bytes), entries, "the left page has the entries of both");
    mtr.log_image(left);
    mtr.free(right);
    mtr.remove_child(parent, right_index);
}
