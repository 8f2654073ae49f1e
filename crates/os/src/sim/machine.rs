//! The simulated machine: its names, its files' contents, and the failures that were ordered.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::content::Content;
use super::names::{Names, exists, not_found};
use crate::disk::OpenMode;
use crate::random::Rng;

/// The function that is called before changes of a disk, by the thread that makes them.
pub(super) type Visit = Box<dyn Fn(&Arc<Shared>) + Send + Sync>;

/// The machine under its one lock. Nothing else is locked while that is held.
pub(super) struct Shared {
    pub(super) machine: Mutex<Machine>,
    pub(super) visit: OnceLock<Visit>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl Shared {
    /// Calls the visitor, without holding the lock.
    pub(super) fn before_change(self: &Arc<Shared>) {
        if let Some(visit) = self.visit.get() {
            visit(self);
        }
    }
}

/// The state of the disk, and the failures that are to come.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) names: Names,
    /// The files' contents, by the number that names point to. A content whose name is gone stays,
    /// since handles may be open and the removal may be lost.
    pub(super) contents: Vec<Content>,
    pub(super) rng: Rng,
    pub(super) off: bool,
    pub(super) stopped: Option<String>,
    /// The number of changes (writes, syncs, name changes) until the power goes by itself.
    pub(super) changes_until_cut: Option<u64>,
    pub(super) changes: u64,
    pub(super) failing_syncs: Vec<String>,
    pub(super) failing_writes: Option<String>,
    pub(super) damaged_writes: Option<String>,
    pub(super) space_left_bytes: Option<u64>,
    pub(super) locks: BTreeSet<PathBuf>,
    pub(super) untorn_bytes: usize,
}

impl Machine {
    /// Makes a machine that is on, with these files.
    pub(super) fn of(names: Names, contents: Vec<Content>, rng: Rng) -> Machine {
        Machine {
            names,
            contents,
            rng,
            off: false,
            stopped: None,
            changes_until_cut: None,
            changes: 0,
            failing_syncs: Vec::new(),
            failing_writes: None,
            damaged_writes: None,
            space_left_bytes: None,
            locks: BTreeSet::new(),
            untorn_bytes: 0,
        }
    }

    /// Returns the machine that a power cut now leaves.
    pub(super) fn survivor(&mut self) -> Machine {
        let Machine { names, contents, rng, .. } = self;
        let names = names.survivors(rng);
        let named = names.files();
        let survivor = |(number, content): (usize, &Content)| match named.contains(&number) {
            true => content.survivor(rng),
            false => Content::default(),
        };
        let contents = contents.iter().enumerate().map(survivor).collect();
        Machine::of(names, contents, Rng::new(rng.u64()))
    }

    pub(super) fn check_power(&self) -> io::Result<()> {
        match self.off {
            false => Ok(()),
            true => Err(io::Error::other("the simulated machine is off")),
        }
    }

    /// Counts a change. The power may go right before it.
    pub(super) fn change(&mut self) -> io::Result<()> {
        self.check_power()?;
        if let Some(left) = &mut self.changes_until_cut {
            if *left == 0 {
                self.off = true;
                return self.check_power();
            }
            *left -= 1;
        }
        self.changes += 1;
        Ok(())
    }

    pub(super) fn take_space(&mut self, bytes: u64) -> io::Result<()> {
        let Some(left) = &mut self.space_left_bytes else { return Ok(()) };
        match left.checked_sub(bytes) {
            Some(rest) => {
                *left = rest;
                Ok(())
            }
            None => Err(io::Error::new(io::ErrorKind::StorageFull, "the simulated disk is full")),
        }
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<usize> {
        self.check_power()?;
        match (self.names.file(path), mode) {
            (Some(_), OpenMode::CreateNew | OpenMode::CreatePrivate) => Err(exists(path)),
            (Some(number), _) => Ok(number),
            (None, OpenMode::Read | OpenMode::ReadWrite) => Err(not_found(path)),
            (
                None,
                OpenMode::CreateNew | OpenMode::CreatePrivate | OpenMode::OpenOrCreate | OpenMode::Append,
            ) => {
                self.change()?;
                let number = self.contents.len();
                self.names.link(path, number)?;
                self.contents.push(Content::default());
                Ok(number)
            }
        }
    }
}
