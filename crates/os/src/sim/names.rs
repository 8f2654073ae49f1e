//! The simulated disk's names: directories, and the file that each name stands for, now and after a
//! power cut.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::random::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Dir,
    File(usize),
}

/// A change of names. It is pending in the directory that it was made in until that is synced.
#[derive(Debug, Clone)]
enum NameChange {
    Make(PathBuf, Entry),
    /// Removes the name and everything below it.
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl NameChange {
    /// Returns the directory whose sync makes the change durable. For a rename that is the
    /// directory of the new name.
    fn dir(&self) -> PathBuf {
        let (NameChange::Make(path, _) | NameChange::Remove(path) | NameChange::Rename(_, path)) = self;
        path.parent().map(Path::to_owned).unwrap_or_default()
    }

    fn apply(&self, tree: &mut BTreeMap<PathBuf, Entry>) {
        match self {
            NameChange::Make(path, entry) => {
                // A name in a directory that was itself lost is lost with the directory.
                if parent_is_there(tree, path) {
                    tree.insert(path.clone(), *entry);
                }
            }
            NameChange::Remove(path) => tree.retain(|name, _| !name.starts_with(path)),
            NameChange::Rename(from, to) => {
                if !tree.contains_key(from) || !parent_is_there(tree, to) {
                    return;
                }
                tree.retain(|name, _| !name.starts_with(to));
                let moved: Vec<PathBuf> =
                    tree.keys().filter(|name| name.starts_with(from)).cloned().collect();
                for name in moved {
                    let entry = tree.remove(&name).expect("just listed");
                    let rest = name.strip_prefix(from).expect("filtered by this prefix");
                    let new = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
                    tree.insert(new, entry);
                }
            }
        }
    }
}

fn is_root(path: &Path) -> bool {
    path.as_os_str().is_empty() || path == Path::new("/")
}

fn parent_is_there(tree: &BTreeMap<PathBuf, Entry>, path: &Path) -> bool {
    let parent = path.parent().unwrap_or(Path::new(""));
    is_root(parent) || tree.get(parent) == Some(&Entry::Dir)
}

pub(super) fn exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{}: the name exists", path.display()))
}

pub(super) fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{}: no such file or directory", path.display()))
}

/// Drops `.` components, so that one file has one name.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}

#[derive(Debug, Default)]
pub(super) struct Names {
    current: BTreeMap<PathBuf, Entry>,
    durable: BTreeMap<PathBuf, Entry>,
    /// The changes that are not durable yet, in their order.
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    change: NameChange,
    /// Whether the change's directory was synced while that directory's own name is not durable.
    /// The change then survives if the directory does.
    is_synced: bool,
}

impl Names {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.current);
        self.pending.push(Pending { change, is_synced: false });
    }

    pub(super) fn file(&self, path: &Path) -> Option<usize> {
        match self.current.get(&normal(path)) {
            Some(Entry::File(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the numbers of all files that have a name.
    pub(super) fn files(&self) -> HashSet<usize> {
        let file = |entry: &Entry| match entry {
            Entry::File(number) => Some(*number),
            Entry::Dir => None,
        };
        self.current.values().filter_map(file).collect()
    }

    pub(super) fn is_dir(&self, path: &Path) -> bool {
        let path = normal(path);
        is_root(&path) || self.current.get(&path) == Some(&Entry::Dir)
    }

    pub(super) fn link(&mut self, path: &Path, number: usize) -> io::Result<()> {
        let path = normal(path);
        if !parent_is_there(&self.current, &path) {
            return Err(not_found(&path));
        }
        self.change(NameChange::Make(path, Entry::File(number)));
        Ok(())
    }

    pub(super) fn unlink(&mut self, path: &Path) -> io::Result<()> {
        if self.file(path).is_none() {
            return Err(not_found(path));
        }
        self.change(NameChange::Remove(normal(path)));
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (normal(from), normal(to));
        if !self.current.contains_key(&from) {
            return Err(not_found(&from));
        }
        if !parent_is_there(&self.current, &to) {
            return Err(not_found(&to));
        }
        self.change(NameChange::Rename(from, to));
        Ok(())
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.is_dir(dir) {
            return Err(not_found(dir));
        }
        let wanted = normal(dir);
        let inside = |name: &&PathBuf| name.parent().unwrap_or(Path::new("")) == wanted && !is_root(name);
        // The paths begin as the caller wrote the directory, as on the real disk.
        let named = |name: &PathBuf| dir.join(name.file_name().expect("a listed name is no root"));
        Ok(self.current.keys().filter(inside).map(named).collect())
    }

    pub(super) fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let dir = normal(dir);
        let mut missing: Vec<PathBuf> = Vec::new();
        for ancestor in dir.ancestors().filter(|ancestor| !is_root(ancestor)) {
            match self.current.get(ancestor) {
                Some(Entry::Dir) => break,
                Some(Entry::File(_)) => return Err(exists(ancestor)),
                None => missing.push(ancestor.to_owned()),
            }
        }
        for path in missing.into_iter().rev() {
            self.change(NameChange::Make(path, Entry::Dir));
        }
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let dir = normal(dir);
        if self.current.get(&dir) != Some(&Entry::Dir) {
            return Err(not_found(&dir));
        }
        self.change(NameChange::Remove(dir));
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        if !self.is_dir(dir) {
            return Err(not_found(dir));
        }
        let dir = normal(dir);
        for pending in self.pending.iter_mut().filter(|pending| pending.change.dir() == dir) {
            pending.is_synced = true;
        }
        let durable = &mut self.durable;
        self.pending.retain(|pending| {
            let dir = pending.change.dir();
            let arrives = pending.is_synced && (is_root(&dir) || durable.get(&dir) == Some(&Entry::Dir));
            if arrives {
                pending.change.apply(durable);
            }
            !arrives
        });
        Ok(())
    }

    /// Returns the names after a power cut now: of each directory's unsynced changes, those up to a
    /// random point survive.
    pub(super) fn survivors(&self, rng: &mut Rng) -> Names {
        let mut per_dir: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for pending in self.pending.iter().filter(|pending| !pending.is_synced) {
            *per_dir.entry(pending.change.dir()).or_default() += 1;
        }
        for count in per_dir.values_mut() {
            *count = rng.below(*count + 1);
        }
        let mut left = self.durable.clone();
        for pending in &self.pending {
            let count = per_dir.get_mut(&pending.change.dir());
            let arrives = pending.is_synced || count.is_some_and(take_one);
            if arrives {
                pending.change.apply(&mut left);
            }
        }
        Names { current: left.clone(), durable: left, pending: Vec::new() }
    }
}

fn take_one(count: &mut u64) -> bool {
    let any = *count > 0;
    *count = count.saturating_sub(1);
    any
}
