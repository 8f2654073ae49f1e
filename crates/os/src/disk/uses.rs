//! How often and how long the files of the real disk were read, written and otherwise used.
//!
//! Every open file has the [`FileUse`] of its path, which all handles of the path share. It lives
//! as long as the path does: it takes part in renamings, and when the file is removed, what was
//! counted goes to the sums of the files of its kind that are gone. What a path's kind is, a
//! program says once (see [`name_kinds`]).
//!
//! An operation costs two readings of the tick counter and three additions to memory that only
//! users of the same file share. The system call between them takes a hundred times as long.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::clock;

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// The file is opened, synced, cut, removed or renamed, or its length is asked for.
    Misc,
}

const OPERATIONS: usize = 3;

/// The most paths that are kept. Beyond it, a file counts as gone when it is closed.
const MOST_PATHS: usize = 10_000;

/// Figures of one operation. All accesses are relaxed: each figure stands for itself, and a reader
/// may see one of them an operation older than another.
#[derive(Debug)]
struct Counter {
    count: AtomicU64,
    sum_ticks: AtomicU64,
    min_ticks: AtomicU64,
    max_ticks: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    const fn new() -> Counter {
        Counter {
            count: AtomicU64::new(0),
            sum_ticks: AtomicU64::new(0),
            min_ticks: AtomicU64::new(u64::MAX),
            max_ticks: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    fn clear(&self) {
        for counter in [&self.count, &self.sum_ticks, &self.max_ticks, &self.bytes] {
            counter.store(0, Ordering::Relaxed);
        }
        self.min_ticks.store(u64::MAX, Ordering::Relaxed);
    }

    fn times(&self) -> Times {
        let ns = |ticks: &AtomicU64| clock::ticks_to_ns(ticks.load(Ordering::Relaxed));
        let count = self.count.load(Ordering::Relaxed);
        Times {
            count,
            sum_ns: ns(&self.sum_ticks),
            min_ns: if count == 0 { 0 } else { ns(&self.min_ticks) },
            max_ns: ns(&self.max_ticks),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// What was counted of one file.
#[derive(Debug)]
pub(super) struct FileUse {
    of: [Counter; OPERATIONS],
    /// How often the file was opened. It is never set to zero.
    opens: AtomicU64,
    /// The number of open handles. It is changed under the registry's lock only.
    handles: AtomicUsize,
}

impl FileUse {
    fn new() -> FileUse {
        FileUse {
            of: [const { Counter::new() }; OPERATIONS],
            opens: AtomicU64::new(0),
            handles: AtomicUsize::new(0),
        }
    }

    /// Counts an operation that began at this tick and ends now.
    #[inline]
    pub(super) fn note(&self, operation: Operation, bytes: usize, since_ticks: u64) {
        let ticks = clock::ticks().saturating_sub(since_ticks);
        let counter = &self.of[operation as usize];
        counter.count.fetch_add(1, Ordering::Relaxed);
        counter.sum_ticks.fetch_add(ticks, Ordering::Relaxed);
        if operation != Operation::Misc {
            counter.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        if ticks < counter.min_ticks.load(Ordering::Relaxed) {
            counter.min_ticks.fetch_min(ticks, Ordering::Relaxed);
        }
        if ticks > counter.max_ticks.load(Ordering::Relaxed) {
            counter.max_ticks.fetch_max(ticks, Ordering::Relaxed);
        }
    }

    fn sums(&self) -> Sums {
        let [read, write, misc] = &self.of;
        let (opens, handles) =
            (self.opens.load(Ordering::Relaxed), self.handles.load(Ordering::Relaxed) as u64);
        Sums { read: read.times(), write: write.times(), misc: misc.times(), opens, handles }
    }
}

/// A handle's part in the use of a file. The handle is closed when it is dropped.
#[derive(Debug)]
pub(super) struct Handle(Arc<FileUse>);

impl std::ops::Deref for Handle {
    type Target = FileUse;

    #[inline]
    fn deref(&self) -> &FileUse {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        REGISTRY.lock().close(&self.0);
    }
}

/// Figures of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// How often it was done.
    pub count: u64,
    /// The time that it took altogether, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest time, in nanoseconds; 0 if it was never done.
    pub min_ns: u64,
    /// The longest time, in nanoseconds.
    pub max_ns: u64,
    /// The bytes that were read or written.
    pub bytes: u64,
}

impl Times {
    /// Adds the figures of other files, or of another operation.
    pub fn add(&mut self, other: &Times) {
        self.min_ns = match (self.count, other.count) {
            (0, _) => other.min_ns,
            (_, 0) => self.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.bytes += other.bytes;
    }
}

/// Figures of all operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Figures of reads.
    pub read: Times,
    /// Figures of writes.
    pub write: Times,
    /// Figures of all other operations.
    pub misc: Times,
    /// How often files were opened, whenever the other figures were set to zero.
    pub opens: u64,
    /// The number of open handles.
    pub handles: u64,
}

impl Sums {
    /// Adds the figures of other files.
    pub fn add(&mut self, other: &Sums) {
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.misc.add(&other.misc);
        self.opens += other.opens;
        self.handles += other.handles;
    }

    /// Returns the figures of all operations together.
    pub fn all(&self) -> Times {
        let mut all = self.read;
        all.add(&self.write);
        all.add(&self.misc);
        all
    }
}

/// A file and what was done with it.
#[derive(Debug, Clone)]
pub struct UsedFile {
    /// The path as the program has opened it.
    pub path: PathBuf,
    /// The kind of the path.
    pub kind: &'static str,
    /// A number that tells the file from all others.
    pub instance: usize,
    /// What was done.
    pub sums: Sums,
}

#[derive(Default)]
struct Registry {
    by_path: Option<HashMap<PathBuf, Arc<FileUse>>>,
    /// The files that have no name any more and are still open, with their last paths.
    nameless: Vec<(PathBuf, Arc<FileUse>)>,
    /// What was done with files that are gone, by kind.
    gone: BTreeMap<&'static str, Sums>,
}

/// All files. The mutex is a leaf in every lock order: nothing else is locked while it is held.
static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { by_path: None, nameless: Vec::new(), gone: BTreeMap::new() });

/// Says what kind a path is of.
type KindOf = Box<dyn Fn(&Path) -> &'static str + Send + Sync>;

/// See [`name_kinds`].
static KINDS: OnceLock<KindOf> = OnceLock::new();

/// Sets the function that says of which kind a path is. It must touch no file. It is set once,
/// before files are removed. Without it all files are of the kind "".
pub fn name_kinds(kind: impl Fn(&Path) -> &'static str + Send + Sync + 'static) {
    // A process that starts a second server keeps the first function.
    let _ = KINDS.set(Box::new(kind));
}

fn kind_of(path: &Path) -> &'static str {
    KINDS.get().map_or("", |kind| kind(path))
}

impl Registry {
    fn paths(&mut self) -> &mut HashMap<PathBuf, Arc<FileUse>> {
        self.by_path.get_or_insert_default()
    }

    fn close(&mut self, file: &Arc<FileUse>) {
        let others = file.handles.load(Ordering::Relaxed) - 1;
        file.handles.store(others, Ordering::Relaxed);
        if others > 0 {
            return;
        }
        if let Some(at) = self.nameless.iter().position(|(_, open)| Arc::ptr_eq(open, file)) {
            let (path, file) = self.nameless.swap_remove(at);
            self.bury(&path, &file);
        } else if self.paths().len() > MOST_PATHS {
            let found = self.paths().iter().find(|(_, one)| Arc::ptr_eq(one, file));
            if let Some(path) = found.map(|(path, _)| path.clone()) {
                self.remove(&path);
            }
        }
    }

    fn bury(&mut self, path: &Path, file: &FileUse) {
        self.gone.entry(kind_of(path)).or_default().add(&file.sums());
    }

    /// Takes the name from what was counted under it.
    fn remove(&mut self, path: &Path) {
        let Some(file) = self.paths().remove(path) else { return };
        match file.handles.load(Ordering::Relaxed) {
            0 => self.bury(path, &file),
            _ => self.nameless.push((path.to_owned(), file)),
        }
    }
}

/// Counts the opening of a file, which began at this tick.
pub(super) fn opened(path: &Path, since_ticks: u64) -> Handle {
    let mut registry = REGISTRY.lock();
    let file = match registry.paths().get(path) {
        Some(file) => file.clone(),
        None => registry.paths().entry(path.to_owned()).or_insert(Arc::new(FileUse::new())).clone(),
    };
    file.handles.store(file.handles.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    file.opens.fetch_add(1, Ordering::Relaxed);
    drop(registry);
    file.note(Operation::Misc, 0, since_ticks);
    Handle(file)
}

/// Notes that the name was removed from the disk, which began at this tick.
pub(super) fn removed(path: &Path, since_ticks: u64) {
    let mut registry = REGISTRY.lock();
    if let Some(file) = registry.paths().get(path) {
        file.note(Operation::Misc, 0, since_ticks);
    }
    registry.remove(path);
}

/// Notes that a directory was removed with everything in it.
pub(super) fn removed_dir(dir: &Path) {
    let mut registry = REGISTRY.lock();
    let inside: Vec<PathBuf> =
        registry.paths().keys().filter(|path| path.starts_with(dir)).cloned().collect();
    inside.iter().for_each(|path| registry.remove(path));
}

/// Notes that a file or a directory was renamed, which began at this tick.
pub(super) fn renamed(from: &Path, to: &Path, since_ticks: u64) {
    let mut registry = REGISTRY.lock();
    registry.remove(to);
    if let Some(file) = registry.paths().remove(from) {
        file.note(Operation::Misc, 0, since_ticks);
        registry.paths().insert(to.to_owned(), file);
        return;
    }
    let inside: Vec<PathBuf> =
        registry.paths().keys().filter(|path| path.starts_with(from)).cloned().collect();
    for path in inside {
        let (Some(file), Ok(rest)) = (registry.paths().remove(&path), path.strip_prefix(from)) else {
            continue;
        };
        registry.paths().insert(to.join(rest), file);
    }
}

/// Returns all files that were opened and have a name, in the order of their paths.
pub fn files() -> Vec<UsedFile> {
    let used = |path: &PathBuf, file: &Arc<FileUse>| UsedFile {
        path: path.clone(),
        kind: kind_of(path),
        instance: Arc::as_ptr(file).addr(),
        sums: file.sums(),
    };
    let mut registry = REGISTRY.lock();
    let mut files: Vec<UsedFile> = registry.paths().iter().map(|(path, file)| used(path, file)).collect();
    drop(registry);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// Returns what was done with all files, by kind, those that are gone among them.
pub fn kinds() -> BTreeMap<&'static str, Sums> {
    let mut registry = REGISTRY.lock();
    let mut kinds = registry.gone.clone();
    let mut add = |path: &Path, file: &FileUse| kinds.entry(kind_of(path)).or_default().add(&file.sums());
    registry.nameless.iter().for_each(|(path, file)| add(path, file));
    registry.paths().iter().for_each(|(path, file)| add(path, file));
    kinds
}

/// Counts from zero again for all files that have a name.
pub fn clear_files() {
    REGISTRY.lock().paths().values().for_each(|file| file.of.iter().for_each(Counter::clear));
}

/// Counts from zero again for all files, those that are gone among them.
pub fn clear_kinds() {
    clear_files();
    let mut registry = REGISTRY.lock();
    registry.gone.values_mut().for_each(|gone| *gone = Sums { opens: gone.opens, ..Sums::default() });
    registry.nameless.iter().for_each(|(_, file)| file.of.iter().for_each(Counter::clear));
}

#[cfg(test)]
mod tests {
    use super::super::{OpenMode, real};
    use super::*;

    fn directory() -> PathBuf {
        let dir = std::env::temp_dir().join(format!("slipstream-uses-{:016x}", crate::random::u64()));
        real().create_dir_all(&dir).expect("a directory");
        dir
    }

    fn of(path: &Path) -> Option<UsedFile> {
        files().into_iter().find(|file| file.path == path)
    }

    #[test]
    fn what_is_done_with_a_file_is_counted_under_its_name_until_it_is_gone() {
        let (dir, disk) = (directory(), real());
        let (old, new) = (dir.join("old"), dir.join("new"));
        let file = disk.open(&old, OpenMode::CreateNew).expect("made");
        file.write_all_at(&[1; 100], 0).expect("written");
        file.write_all_at(&[2; 50], 100).expect("written");
        file.read_at(&mut [0; 1000], 0).expect("read");
        file.sync_data().expect("synced");
        let found = of(&old).expect("it is there");
        assert_eq!((found.sums.write.count, found.sums.write.bytes), (2, 150));
        assert_eq!((found.sums.read.count, found.sums.read.bytes), (1, 150));
        assert_eq!((found.sums.misc.count, found.sums.handles), (2, 1));
        let all = found.sums.all();
        assert_eq!(all.count, 5);
        assert!(0 < all.min_ns && all.min_ns <= all.max_ns && all.max_ns <= all.sum_ns, "{all:?}");
        disk.rename(&old, &new).expect("renamed");
        assert!(of(&old).is_none());
        assert_eq!(of(&new).expect("it is there").sums.write.bytes, 150);
        disk.remove(&new).expect("removed");
        assert!(of(&new).is_none());
        let before = kinds().get("").expect("this kind").write.bytes;
        file.write_all_at(&[3; 7], 0).expect("an open file can be written");
        drop(file);
        let after = kinds().get("").expect("this kind").write.bytes;
        assert!(after >= before + 7, "{before} and {after}: what is gone still counts");
        disk.remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn a_file_that_takes_anothers_name_leaves_nothing_of_the_other() {
        let (dir, disk) = (directory(), real());
        let path = dir.join("kept");
        for bytes in [&b"first"[..], b"second"] {
            disk.write_atomically(&path, bytes).expect("written");
            let found = of(&path).expect("it is there");
            assert_eq!((found.sums.write.bytes, found.sums.handles), (bytes.len() as u64, 0));
        }
        let moved = dir.with_extension("moved");
        disk.rename(&dir, &moved).expect("renamed");
        assert!(of(&path).is_none() && of(&moved.join("kept")).is_some());
        disk.remove_dir_all(&moved).expect("removed");
        assert!(of(&moved.join("kept")).is_none());
    }
}
