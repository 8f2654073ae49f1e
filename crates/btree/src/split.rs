//! Splits: making room in a leaf, and in its ancestors if they need it.

use std::cmp::Ordering;

use buffer::page::{self, PageType};
use buffer::{Held, Mtr, PageNo, slotted};

use crate::descend::Target;
use crate::error::Result;
use crate::leaf::{has_room, run_at};
use crate::root::{MAX_LEVELS, Root};

/// The part of the path to the leaf that is latched exclusively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The path from the lowest node that surely has room for another child.
    Narrow,
    /// The path from the root.
    Full,
}

/// The nodes from the topmost that may change down to the leaf, latched exclusively.
struct Path<'m> {
    root: &'m Root,
    mtr: Mtr<'m>,
    nodes: Vec<Held>,
    /// Pages that were allocated ahead, so that the changes cannot fail.
    spare: Vec<Held>,
}

/// The place where a node is cut.
struct Cut {
    /// The index of the first entry that goes to the right side.
    at: usize,
    /// The key that separates the sides: all keys on the left are below it, none on the right.
    separator: Vec<u8>,
    /// The run of inserts that goes on in the side that is empty, or at the beginning of the right
    /// side. 0 means that no run does.
    run: i16,
}

/// Makes room for an entry of `needed` bytes under `key`, by one split. If the entry still does
/// not fit, the caller calls again.
pub(crate) fn split(root: &Root, key: &[u8], needed: usize) -> Result<()> {
    let lock = root.pool().lock_structure(root.space())?;
    for scope in [Scope::Narrow, Scope::Full] {
        let mtr = Mtr::begin(root.pool(), &lock);
        let mut path = Path::latch(root, mtr, key, scope)?;
        let leaf = *path.nodes.last().expect("a path ends in a leaf");
        let bytes = path.mtr.page(leaf);
        let found = slotted::search(bytes, key);
        let fits = match found {
            // Another thread may have split the leaf before this one had the lock.
            Ok(index) => {
                let old = slotted::entry_bytes(key.len(), slotted::value(bytes, index).len());
                needed <= slotted::free_bytes(bytes) + old
            }
            Err(index) => has_room(bytes, index, needed),
        };
        if fits {
            return Ok(());
        }
        let cut = match found {
            Err(index) if run_at(bytes, index) != 0 => run_cut(bytes, index, key),
            // Any two entries fit a page, so a full page holds at least two.
            _ if slotted::count(bytes) < 2 => {
                return Err(root.damaged(path.mtr.no(leaf), "it is full with one entry"));
            }
            _ => middle_cut(bytes),
        };
        if path.allocate(&cut.separator)? {
            path.split_leaf(leaf, &cut);
            assert!(path.spare.is_empty(), "{} pages were allocated for nothing", path.spare.len());
            path.mtr.commit();
            return Ok(());
        }
    }
    Err(root.damaged(root.page(), "it cannot be split"))
}

impl<'m> Path<'m> {
    /// Latches the part of the path to the key's leaf that the scope says.
    fn latch(root: &'m Root, mut mtr: Mtr<'m>, key: &[u8], scope: Scope) -> Result<Path<'m>> {
        let mut no = root.page();
        let mut held = mtr.latch(no)?;
        let mut level = root.check_node(no, mtr.page(held), None)?;
        let mut nodes = vec![held];
        if level as usize >= MAX_LEVELS {
            return Err(root.damaged(no, format!("its level is {level}")));
        }
        while level > 0 {
            let node = mtr.page(held);
            no = slotted::child(node, Target::Of(key).child_index(node));
            held = mtr.latch(no)?;
            level = root.check_node(no, mtr.page(held), Some(level - 1))?;
            nodes.push(held);
            // A separator is rarely longer than the key that asks for it. Where it is, the narrow
            // scope fails and the full one follows.
            let room = slotted::entry_bytes(key.len() + 32, size_of::<PageNo>());
            if scope == Scope::Narrow && level > 0 && slotted::free_bytes(mtr.page(held)) >= room {
                nodes = mtr.release_before(held);
                held = nodes[0];
            }
        }
        Ok(Path { root, mtr, nodes, spare: Vec::new() })
    }

    /// Allocates the pages that inserting `separator` above the leaf will take. Returns false when
    /// the path does not reach high enough.
    fn allocate(&mut self, separator: &[u8]) -> Result<bool> {
        let (mut pages, mut rises) = (1, separator.len());
        let mut above = self.nodes.len() - 1;
        loop {
            if above == 0 {
                if self.mtr.no(self.nodes[0]) != self.root.page() {
                    return Ok(false);
                }
                // The root's content first moves to a page of its own.
                pages += 1;
                break;
            }
            above -= 1;
            let node = self.mtr.page(self.nodes[above]);
            if fits_child(node, rises) {
                break;
            }
            pages += 1;
            rises = slotted::key(node, inner_cut(node)).len();
        }
        assert!(self.spare.is_empty(), "pages are allocated once for a split");
        self.mtr.make_room(pages)?;
        for _ in 0..pages {
            let page = self.mtr.alloc()?;
            self.spare.push(page);
        }
        Ok(true)
    }

    fn take_spare(&mut self) -> Held {
        self.spare.pop().expect("allocate counted the pages")
    }

    fn split_leaf(&mut self, leaf: Held, cut: &Cut) {
        assert_eq!(page::level(self.mtr.page(leaf)), 0, "only a leaf has rows to cut");
        let (leaf, depth) = if self.nodes.len() == 1 { self.grow() } else { (leaf, self.nodes.len() - 1) };
        let right = self.move_right(leaf, cut, 0);
        self.mtr.truncate_from(leaf, &cut.separator);
        if cut.run != 0 {
            let heir = if cut.at == 0 { leaf } else { right };
            slotted::set_run(self.mtr.page_mut(heir), cut.run);
        }
        let right = self.mtr.no(right);
        assert_ne!(right, self.mtr.no(leaf), "both sides of a split have a page");
        self.insert_above(depth, &cut.separator, right);
    }

    /// Moves the root's content to a new page, which becomes the root's only child. Returns that
    /// page and its place in the path.
    fn grow(&mut self) -> (Held, usize) {
        let (root, child) = (self.nodes[0], self.take_spare());
        let content = self.mtr.page(root).to_vec();
        let level = page::level(&content);
        let bytes = self.mtr.format(child, PageType::Index, level);
        slotted::append_all(bytes, &content, 0);
        slotted::copy_run(bytes, &content);
        assert_eq!(slotted::count(bytes), slotted::count(&content), "the child has all that the root had");
        let child_no = self.mtr.no(child);
        let bytes = self.mtr.format(root, PageType::Index, level + 1);
        slotted::insert(bytes, 0, &[], &child_no.to_le_bytes());
        assert_eq!(slotted::count(bytes), 1, "the root has the one child");
        self.nodes.insert(1, child);
        (child, 1)
    }

    /// Copies the entries from the cut on to a new page, and returns that page.
    fn move_right(&mut self, node: Held, cut: &Cut, level: u8) -> Held {
        let right = self.take_spare();
        let content = self.mtr.page(node).to_vec();
        assert!(cut.at <= slotted::count(&content), "a node is cut within its entries");
        assert!(level == 0 || cut.at > 0, "an inner node keeps its first child");
        let bytes = self.mtr.format(right, PageType::Index, level);
        if level > 0 {
            // The first child's key rises to the node above. Below it the key is empty.
            slotted::insert(bytes, 0, &[], slotted::value(&content, cut.at));
        }
        slotted::append_all(bytes, &content, cut.at + usize::from(level > 0));
        // Where few entries fit a page, a run of inserts grows across several pages, so the new
        // page takes it over.
        slotted::take_run(bytes, &content, cut.at);
        assert_eq!(
            slotted::count(bytes),
            slotted::count(&content) - cut.at,
            "what is cut off is on the new page"
        );
        right
    }

    /// Inserts `child`, the new right neighbour of the node at `depth` of the path, into the node
    /// above.
    fn insert_above(&mut self, depth: usize, separator: &[u8], child: PageNo) {
        assert!(depth > 0, "a node that is split has one above it");
        let mut above = depth - 1;
        if fits_child(self.mtr.page(self.nodes[above]), separator.len()) {
            self.mtr.insert_child(self.nodes[above], separator, child);
            return;
        }
        if above == 0 {
            above = self.grow().1;
        }
        let node = self.nodes[above];
        let content = self.mtr.page(node);
        let (level, at) = (page::level(content), inner_cut(content));
        let cut = Cut { at, separator: slotted::key(content, at).to_vec(), run: 0 };
        assert!(level > 0, "what has children is no leaf");
        let right = self.move_right(node, &cut, level);
        self.mtr.truncate_from(node, &cut.separator);
        let right_no = self.mtr.no(right);
        self.insert_above(above, &cut.separator, right_no);
        let side = if separator < &cut.separator[..] { node } else { right };
        self.mtr.insert_child(side, separator, child);
    }
}

fn fits_child(node: &[u8], key_len: usize) -> bool {
    slotted::entry_bytes(key_len, size_of::<PageNo>()) <= slotted::free_bytes(node)
}

/// Cuts the leaf at `index`, which a run of inserts has reached, so that the run's further inserts
/// fill a page of their own. `key` is the next insert. When the run goes up, it goes to the end of
/// the left side (or to the beginning of an empty right side). When the run goes down, it goes to
/// the beginning of the right side (or of an empty left side).
fn run_cut(leaf: &[u8], index: usize, key: &[u8]) -> Cut {
    let (run, entries) = (run_at(leaf, index), slotted::count(leaf));
    let goes_left = if run > 0 { index < entries } else { index == 0 };
    if goes_left {
        // When a run goes up, the left side keeps it.
        let run = if run > 0 { 0 } else { run };
        Cut { at: index, separator: shortest_separator(key, slotted::key(leaf, index)), run }
    } else {
        Cut { at: index, separator: shortest_separator(slotted::key(leaf, index - 1), key), run }
    }
}

/// Cuts a leaf where both sides take about the same number of bytes.
fn middle_cut(leaf: &[u8]) -> Cut {
    let at = half_of(leaf);
    Cut { at, separator: shortest_separator(slotted::key(leaf, at - 1), slotted::key(leaf, at)), run: 0 }
}

/// Returns where an inner node is cut. At least one entry stays, and at least one goes to the
/// right.
fn inner_cut(node: &[u8]) -> usize {
    half_of(node)
}

fn half_of(node: &[u8]) -> usize {
    let entries = slotted::count(node);
    let (half, mut bytes) = (slotted::used_bytes(node) / 2, 0);
    let first_over = (0..entries).find(|&index| {
        bytes += slotted::entry_bytes(slotted::key(node, index).len(), slotted::value(node, index).len());
        bytes > half
    });
    first_over.unwrap_or(entries).clamp(1, (entries - 1).max(1))
}

/// Returns the shortest prefix of `right` that is above `left`.
pub(crate) fn shortest_separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    debug_assert_eq!(left.cmp(right), Ordering::Less);
    let shared = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    right[..shared + 1].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_short_and_separate() {
        for (left, right, expected) in [
            (&b"abc"[..], &b"abd"[..], &b"abd"[..]),
            (b"ab", b"abc", b"abc"),
            (b"apple", b"banana", b"b"),
            (b"", b"\0\0", b"\0"),
        ] {
            assert_eq!(shortest_separator(left, right), expected);
        }
    }
}
