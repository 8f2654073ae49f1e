//! Merges: a sparse node joins a neighbour, an empty one is freed, and a root with one child left
//! loses a level.

use buffer::page::{self, PageType};
use buffer::{Held, Mtr, PageNo, slotted};

use crate::descend::Target;
use crate::error::Result;
use crate::tree::{SPARSE, Tree};

/// The most sixteenths of a page that a merged node may fill. If it were fuller, the next insert
/// would split it again.
const MERGED_FILL: usize = 13;

/// The nodes from the topmost that may change down to the sparse one, latched exclusively.
/// `indexes` has the index of each node's child in the path.
struct Path {
    nodes: Vec<Held>,
    indexes: Vec<usize>,
}

impl Tree {
    /// Merges the node of `level` that holds `key` with a neighbour, if the node is sparse and a
    /// neighbour has room. Frees the node if it is an empty leaf.
    pub(crate) fn merge(&self, key: &[u8], mut level: u8) -> Result<()> {
        let lock = self.pool().lock_structure(self.space())?;
        // A merge may leave the node above sparse. Each level is a mini-transaction of its own.
        loop {
            let mut mtr = Mtr::begin(self.pool(), &lock);
            let Some(path) = self.latch_to(&mut mtr, key, level)? else { return Ok(()) };
            if !self.merge_latched(mtr, &path)? {
                return Ok(());
            }
            level += 1;
        }
    }

    /// Latches the path to the node of `level` that holds `key`. Returns `None` when there is no
    /// node of that level below the root.
    fn latch_to(&self, mtr: &mut Mtr<'_>, key: &[u8], level: u8) -> Result<Option<Path>> {
        let mut held = mtr.latch(self.root_page())?;
        let mut at_level = self.check_node(self.root_page(), mtr.page(held), None)?;
        let mut path = Path { nodes: vec![held], indexes: Vec::new() };
        if at_level <= level {
            return Ok(None);
        }
        while at_level > level {
            let node = mtr.page(held);
            let index = Target::Of(key).child_index(node);
            let no = slotted::child(node, index);
            let survives = slotted::count(node) > 2;
            if survives && path.nodes.len() > 1 {
                // This node keeps at least two children whatever happens below, so nothing above it
                // changes.
                path = Path { nodes: mtr.release_before(held), indexes: Vec::new() };
            }
            path.indexes.push(index);
            let child = mtr.latch(no)?;
            at_level = self.check_node(no, mtr.page(child), Some(at_level - 1))?;
            path.nodes.push(child);
            held = child;
        }
        debug_assert_eq!(held, *path.nodes.last().expect("not empty"));
        Ok(Some(path))
    }

    /// Merges the last node of the path with a neighbour, or frees it. Returns whether it did one
    /// of these.
    fn merge_latched(&self, mut mtr: Mtr<'_>, path: &Path) -> Result<bool> {
        assert_eq!(
            path.indexes.len() + 1,
            path.nodes.len(),
            "each node but the last has a child in the path"
        );
        let depth = path.nodes.len() - 1;
        let (parent, node, index) = (path.nodes[depth - 1], path.nodes[depth], path.indexes[depth - 1]);
        if slotted::used_bytes(mtr.page(node)) >= mtr.page(node).len() / SPARSE {
            return Ok(false);
        }
        if slotted::count(mtr.page(parent)) == 1 {
            return self.free_lonely(mtr, path);
        }
        let neighbours =
            [index.checked_sub(1), Some(index + 1).filter(|&next| next < slotted::count(mtr.page(parent)))];
        for neighbour in neighbours.into_iter().flatten() {
            let level = page::level(mtr.page(node));
            let no = slotted::child(mtr.page(parent), neighbour);
            let held = mtr.latch(no)?;
            self.check_node(no, mtr.page(held), Some(level))?;
            let right_index = index.max(neighbour);
            assert!(right_index > 0, "the right one of two neighbours is not the first child");
            let (left, right) = if neighbour < index { (held, node) } else { (node, held) };
            if merged_bytes(&mtr, parent, left, right, right_index) <= mtr.page(left).len() / 16 * MERGED_FILL
            {
                mtr.prepare_free()?;
                merge_into(&mut mtr, parent, left, right, right_index);
                self.shrink_root(&mut mtr, parent, left);
                mtr.commit();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Frees an empty leaf that is its parent's only child, and with it those ancestors that have
    /// no other child. If the root has no other child, it becomes an empty leaf.
    fn free_lonely(&self, mut mtr: Mtr<'_>, path: &Path) -> Result<bool> {
        let depth = path.nodes.len() - 1;
        let node = mtr.page(path.nodes[depth]);
        if page::level(node) > 0 || slotted::count(node) > 0 {
            return Ok(false);
        }
        assert!(depth > 0, "the root is nobody's only child");
        mtr.prepare_free()?;
        let is_root = mtr.no(path.nodes[0]) == self.root_page();
        let lonely = |above: usize| slotted::count(mtr.page(path.nodes[above])) == 1;
        let keeps = (0..depth).rev().find(|&above| !lonely(above));
        if keeps.is_none() && !is_root {
            return Ok(false);
        }
        let first_freed = keeps.map_or(1, |keeps| keeps + 1);
        path.nodes[first_freed..].iter().for_each(|&held| mtr.free(held));
        match keeps {
            Some(keeps) => mtr.remove_child(path.nodes[keeps], path.indexes[keeps]),
            None => {
                mtr.format(path.nodes[0], PageType::Index, 0);
            }
        }
        mtr.commit();
        Ok(true)
    }

    /// Copies the content of `child` into `node`, if `node` is the root and has no other child. The
    /// tree then has one level less.
    fn shrink_root(&self, mtr: &mut Mtr<'_>, node: Held, child: Held) {
        if mtr.no(node) != self.root_page() || slotted::count(mtr.page(node)) != 1 {
            return;
        }
        let content = mtr.page(child).to_vec();
        let root = mtr.format(node, PageType::Index, page::level(&content));
        slotted::append_all(root, &content, 0);
        assert_eq!(slotted::count(root), slotted::count(&content), "the root has all that its child had");
        mtr.free(child);
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
