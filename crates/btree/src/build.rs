//! Building a tree from sorted entries, bottom up.
//!
//! The pages are not logged, their allocation is. [`SortedBuild::finish`] has all of them on disk before it returns; the engine logs the commit that names the
//! tree after that. A crash before leaves pages that nothing names. No older record can be replayed on them: they carry the LSN of their allocation.

use std::collections::VecDeque;

use buffer::page::{self, PageType};
use buffer::{PageId, PageNo, RecordLsn, slotted};

use crate::error::{Result, TreeError};
use crate::split::shortest_separator;
use crate::tree::Tree;
use crate::validate::alloc_unlogged;

/// One part in this many of each page stays free.
const FILL_RESERVE: usize = 16;

/// A node being filled.
struct Open {
    page: Vec<u8>,
    /// The smallest key that its subtree may hold; empty for the first node of a level.
    low: Vec<u8>,
}

/// A sorted build under way: [`SortedBuild::push`] every entry in order, then [`SortedBuild::finish`].
pub struct SortedBuild<'t> {
    tree: &'t Tree,
    /// One open node a level, leaves first.
    levels: Vec<Open>,
    spare: VecDeque<(PageNo, RecordLsn)>,
    last_key: Option<Vec<u8>>,
}

impl<'t> SortedBuild<'t> {
    /// Begins to fill `tree`, which is empty and used by nobody else.
    ///
    /// # Errors
    /// [`TreeError::NotEmpty`]; an I/O error.
    pub fn new(tree: &'t Tree) -> Result<SortedBuild<'t>> {
        if !tree.is_empty()? {
            return Err(TreeError::NotEmpty);
        }
        let mut build = SortedBuild { tree, levels: Vec::new(), spare: VecDeque::new(), last_key: None };
        build.open_level();
        Ok(build)
    }

    fn open_level(&mut self) {
        let page = self.empty_page(self.levels.len() as u8);
        self.levels.push(Open { page, low: Vec::new() });
    }

    fn empty_page(&self, level: u8) -> Vec<u8> {
        let mut bytes = vec![0; self.tree.pool().page_size()];
        page::format(&mut bytes, PageId::new(self.tree.space(), 0), PageType::Index, level);
        slotted::init(&mut bytes);
        bytes
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`TreeError::NotSorted`] when the key is not above the last one; entries too long; an I/O error.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.last_key.as_deref().is_some_and(|last| last >= key) {
            return Err(TreeError::NotSorted);
        }
        if key.len() > self.tree.max_key_len() {
            return Err(TreeError::KeyTooLong { len: key.len(), max: self.tree.max_key_len() });
        }
        if key.len() + value.len() > self.tree.max_entry_len() {
            return Err(TreeError::EntryTooLong {
                len: key.len() + value.len(),
                max: self.tree.max_entry_len(),
            });
        }
        if !self.has_room(0, slotted::entry_bytes(key.len(), value.len())) {
            let last = self.last_key.as_deref().unwrap_or_default();
            let separator = shortest_separator(last, key);
            self.close(0, separator)?;
        }
        append(&mut self.levels[0].page, key, value);
        match &mut self.last_key {
            Some(last) => {
                last.clear();
                last.extend_from_slice(key);
            }
            none => *none = Some(key.to_vec()),
        }
        Ok(())
    }

    fn has_room(&self, level: usize, needed: usize) -> bool {
        let page = &self.levels[level].page;
        // An inner node with one child would be no use; two always fit.
        slotted::count(page) < 2 && needed <= slotted::free_bytes(page)
            || needed + page.len() / FILL_RESERVE <= slotted::free_bytes(page)
    }

    /// Writes the level's open node to a page of its own, and opens the next, which begins at `low`.
    fn close(&mut self, level: usize, low: Vec<u8>) -> Result<()> {
        let next = Open { page: self.empty_page(level as u8), low };
        let full = std::mem::replace(&mut self.levels[level], next);
        self.write(level, full)
    }

    fn write(&mut self, level: usize, node: Open) -> Result<()> {
        let (no, lsn) = self.take_spare()?;
        let mut guard = self.tree.pool().write(PageId::new(self.tree.space(), no))?;
        put_content(guard.bytes_mut(), &node.page);
        guard.changed(lsn);
        drop(guard);
        self.add_child(level + 1, node.low, no)
    }

    fn add_child(&mut self, level: usize, mut low: Vec<u8>, child: PageNo) -> Result<()> {
        if level == self.levels.len() {
            self.open_level();
        }
        if !self.has_room(level, slotted::entry_bytes(low.len(), size_of::<PageNo>())) {
            self.close(level, low.clone())?;
        }
        if slotted::count(&self.levels[level].page) == 0 {
            low.clear();
        }
        append(&mut self.levels[level].page, &low, &child.to_le_bytes());
        Ok(())
    }

    fn take_spare(&mut self) -> Result<(PageNo, RecordLsn)> {
        if self.spare.is_empty() {
            let pool = self.tree.pool();
            let (pages, lsn) =
                alloc_unlogged(pool, self.tree.space(), pool.pages_at_once(), PageType::Index)?;
            self.spare.extend(pages.into_iter().map(|no| (no, lsn)));
        }
        Ok(self.spare.pop_front().expect("filled just now"))
    }

    /// Writes what is left, puts the top into the root page, and returns when all of the tree is on disk.
    ///
    /// # Errors
    /// An I/O error.
    pub fn finish(mut self) -> Result<()> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            let empty = Open { page: Vec::new(), low: Vec::new() };
            let node = std::mem::replace(&mut self.levels[level], empty);
            self.write(level, node)?;
            level += 1;
        }
        let pool = self.tree.pool();
        let mut root = pool.write(PageId::new(self.tree.space(), self.tree.root_page()))?;
        put_content(root.bytes_mut(), &self.levels[level].page);
        root.changed(RecordLsn::UNLOGGED);
        drop(root);
        let unused: Vec<PageNo> = self.spare.iter().map(|&(no, _)| no).collect();
        self.tree.free_pages(&unused)?;
        Ok(pool.flush_space(self.tree.space())?)
    }
}

/// Copies type, level and content, leaving the page's identity and LSN.
fn put_content(to: &mut [u8], from: &[u8]) {
    page::reformat(to, PageType::Index, page::level(from));
    slotted::init(to);
    slotted::append_all(to, from, 0);
}

fn append(page: &mut [u8], key: &[u8], value: &[u8]) {
    let at = slotted::count(page);
    slotted::insert(page, at, key, value);
}

impl Tree {
    /// Fills an empty tree, which nobody else uses, from entries in key order. All of it is on disk when this returns.
    ///
    /// # Errors
    /// [`TreeError::NotEmpty`]; [`TreeError::NotSorted`]; entries too long; an I/O error.
    pub fn build_sorted<K, V>(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let mut build = SortedBuild::new(self)?;
        entries.into_iter().try_for_each(|(key, value)| build.push(key.as_ref(), value.as_ref()))?;
        build.finish()
    }
}
