//! Building a tree from sorted entries, bottom up.
//!
//! The pages are not logged. Their allocation is, under a claim (see `buffer::claim`) unless the
//! tree's space belongs to the build alone. Most pages are fresh: they are put together in memory
//! and written straight to the file, an extent at a time. [`SortedBuild::finish`] leaves the rest
//! in the pool. The engine has the space flushed and synced ([`make_durable`]) before it logs the
//! commit that names the tree, so a crash before that leaves pages that only the claim names. No
//! older record can be replayed on the pages, since they carry the LSN of their allocation.

use buffer::page::{self, PageType};
use buffer::{Extent, PageId, PageNo, Pool, RecordLsn, SpaceId, slotted};

use crate::error::{Result, TreeError};
use crate::pages::free_pages;
use crate::root::MAX_LEVELS;
use crate::split::shortest_separator;
use crate::tree::Tree;

/// One part in this many of each page stays free, whatever the fill factor.
const LEAST_RESERVE: usize = 16;

/// The size of the first extent in bytes. Each extent is twice as long as the one before, up to
/// `LARGEST_EXTENT_BYTES`.
const FIRST_EXTENT_BYTES: usize = 64 << 10;
const LARGEST_EXTENT_BYTES: usize = 4 << 20;

/// The options of a sorted build.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// The percentage of each page to fill, 10 to 100 (`innodb_fill_factor`). A sixteenth stays
    /// free even at 100, as InnoDB leaves it in clustered indexes.
    pub fill_factor: u8,
    /// The index whose claim takes the pages. `None` in a space that is dropped if the build fails.
    pub claim: Option<u32>,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions { fill_factor: 100, claim: None }
    }
}

/// A node that is being filled.
struct Open {
    page: Vec<u8>,
    /// The smallest key that its subtree may hold; empty for the first node of a level.
    low: Vec<u8>,
}

/// Pages that the space has handed out, which are used one after the other.
struct OpenExtent {
    extent: Extent,
    used: usize,
    /// The content of the used pages, if they are fresh.
    content: Vec<u8>,
}

/// A sorted build under way: call [`SortedBuild::push`] for every entry in order, then
/// [`SortedBuild::finish`].
pub struct SortedBuild {
    tree: Tree,
    claim: Option<u32>,
    reserve_bytes: usize,
    /// The open node of each level, leaves first.
    levels: Vec<Open>,
    extent: Option<OpenExtent>,
    next_extent_pages: usize,
    last_key: Option<Vec<u8>>,
}

impl SortedBuild {
    /// Begins to fill `tree`, which is empty and used by nobody else.
    ///
    /// # Errors
    /// Returns [`TreeError::NotEmpty`] when the tree has entries, and I/O errors.
    pub fn new(tree: &Tree, options: BuildOptions) -> Result<SortedBuild> {
        if !tree.is_empty()? {
            return Err(TreeError::NotEmpty);
        }
        let page_size = tree.pool().page_size();
        let wanted_free = page_size * usize::from(100 - options.fill_factor.clamp(10, 100)) / 100;
        let mut build = SortedBuild {
            tree: tree.clone(),
            claim: options.claim,
            reserve_bytes: wanted_free.max(page_size / LEAST_RESERVE),
            levels: Vec::new(),
            extent: None,
            next_extent_pages: (FIRST_EXTENT_BYTES / page_size).max(1),
            last_key: None,
        };
        build.open_level();
        Ok(build)
    }

    fn open_level(&mut self) {
        let mut page = vec![0; self.tree.pool().page_size()];
        self.begin_page(&mut page, self.levels.len());
        self.levels.push(Open { page, low: Vec::new() });
        assert!(self.levels.len() <= MAX_LEVELS, "a tree of {} levels", self.levels.len());
    }

    /// Makes a page an empty node. Its page number is known only when it is full.
    fn begin_page(&self, page: &mut [u8], level: usize) {
        page::format(page, PageId::new(self.tree.space(), 0), PageType::Index, level as u8);
        slotted::init(page);
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns [`TreeError::NotSorted`] when the key is not above the last one, an error for a key
    /// or entry that is too long, and I/O errors.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.last_key.as_deref().is_some_and(|last| last >= key) {
            return Err(TreeError::NotSorted);
        }
        if key.len() > self.tree.max_key_len() {
            return Err(TreeError::KeyTooLong { len: key.len(), max: self.tree.max_key_len() });
        }
        if key.len() + value.len() > self.tree.max_entry_len() {
            let (len, max) = (key.len() + value.len(), self.tree.max_entry_len());
            return Err(TreeError::EntryTooLong { len, max });
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
        // An inner node with one child would be of no use. Two children always fit.
        slotted::count(page) < 2 && needed <= slotted::free_bytes(page)
            || needed + self.reserve_bytes <= slotted::free_bytes(page)
    }

    /// Gives the level's open node a page of its own, and begins the next node, whose lowest key is
    /// `low`.
    fn close(&mut self, level: usize, low: Vec<u8>) -> Result<()> {
        let node = &mut self.levels[level];
        assert!(slotted::count(&node.page) > 0, "an empty node is not closed");
        assert!(low > node.low, "the nodes of level {level} follow each other by key");
        let mut page = std::mem::take(&mut node.page);
        let low = std::mem::replace(&mut node.low, low);
        self.put_page(level, &page, low)?;
        self.begin_page(&mut page, level);
        self.levels[level].page = page;
        Ok(())
    }

    /// Puts a node on the next page, and the page's number into the level above.
    fn put_page(&mut self, level: usize, node: &[u8], low: Vec<u8>) -> Result<()> {
        if self.extent.as_ref().is_none_or(|open| open.used == open.extent.pages.len()) {
            self.next_extent()?;
        }
        let open = self.extent.as_mut().expect("taken just now");
        let no = open.extent.pages[open.used];
        open.used += 1;
        assert_eq!(page::level(node) as usize, level, "a node is put under the level above its own");
        if open.extent.fresh {
            let at = open.content.len();
            open.content.extend_from_slice(node);
            assert_eq!(at, (open.used - 1) * node.len(), "fresh pages are filled in order");
            page::place(&mut open.content[at..], PageId::new(self.tree.space(), no), open.extent.lsn.end);
        } else {
            let mut guard = self.tree.pool().write(PageId::new(self.tree.space(), no))?;
            put_content(guard.bytes_mut(), node);
            guard.changed(open.extent.lsn);
        }
        self.add_child(level + 1, low, no)
    }

    fn next_extent(&mut self) -> Result<()> {
        let content = self.write_extent()?;
        let pool = self.tree.pool();
        let extent = pool.take_extent(self.tree.space(), self.next_extent_pages, self.claim)?;
        if extent.fresh {
            let most = LARGEST_EXTENT_BYTES / pool.page_size();
            self.next_extent_pages = (2 * self.next_extent_pages).min(most);
        }
        self.extent = Some(OpenExtent { extent, used: 0, content });
        Ok(())
    }

    /// Writes the part of the open extent that is in memory, and returns the emptied buffer.
    fn write_extent(&mut self) -> Result<Vec<u8>> {
        let Some(open) = &mut self.extent else { return Ok(Vec::new()) };
        if !open.content.is_empty() {
            self.tree.pool().write_fresh(self.tree.space(), open.extent.pages[0], &mut open.content)?;
            open.content.clear();
        }
        Ok(std::mem::take(&mut open.content))
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
        assert_eq!(
            low.is_empty(),
            slotted::count(&self.levels[level].page) == 0,
            "a node's first child, and no other, has no key"
        );
        append(&mut self.levels[level].page, &low, &child.to_le_bytes());
        Ok(())
    }

    /// Writes the open nodes and puts the topmost one into the root page. The tree can then be
    /// used, and [`make_durable`] makes it durable.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn finish(mut self) -> Result<()> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            let (page, low) = {
                let node = &mut self.levels[level];
                (std::mem::take(&mut node.page), std::mem::take(&mut node.low))
            };
            self.put_page(level, &page, low)?;
            level += 1;
        }
        self.write_extent()?;
        let (pool, space) = (self.tree.pool(), self.tree.space());
        let mut root = pool.write(PageId::new(space, self.tree.root_page()))?;
        put_content(root.bytes_mut(), &self.levels[level].page);
        root.changed(RecordLsn::UNLOGGED);
        drop(root);
        let Some(open) = &self.extent else { return Ok(()) };
        assert!(open.content.is_empty(), "the last extent is written");
        let unused = &open.extent.pages[open.used..];
        match self.claim {
            Some(index_id) => {
                pool.free_claimed_pages(space, index_id, unused.len())?;
            }
            None => free_pages(pool, space, unused)?,
        }
        Ok(())
    }
}

/// Makes all pages of a space durable, those of sorted builds and all others.
///
/// # Errors
/// Returns I/O errors.
pub fn make_durable(pool: &Pool, space: SpaceId) -> Result<()> {
    pool.flush_space(space)?;
    Ok(pool.sync_space(space)?)
}

/// Copies type, level and content. The page's identity and LSN stay.
fn put_content(to: &mut [u8], from: &[u8]) {
    page::reformat(to, PageType::Index, page::level(from));
    slotted::init(to);
    slotted::append_all(to, from, 0);
}

fn append(page: &mut [u8], key: &[u8], value: &[u8]) {
    let at = slotted::count(page);
    slotted::insert(page, at, key, value);
}

/// Fills an empty tree, which nobody else uses, from entries in key order. The whole tree is
/// durable when this returns.
///
/// # Errors
/// Returns [`TreeError::NotEmpty`] when the tree has entries, [`TreeError::NotSorted`] when the
/// keys do not ascend, an error for a key or entry that is too long, and I/O errors.
pub fn build_sorted<K, V>(
    tree: &Tree,
    options: BuildOptions,
    entries: impl IntoIterator<Item = (K, V)>,
) -> Result<()>
where
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    let mut build = SortedBuild::new(tree, options)?;
    entries.into_iter().try_for_each(|(key, value)| build.push(key.as_ref(), value.as_ref()))?;
    build.finish()?;
    make_durable(tree.pool(), tree.space())
}
