//! Notes of the spaces that are flushed while a copy of the files is under way. Pages that the log
//! does not describe, those of sorted index builds, are flushed before the commit that names them,
//! so a copy reads the files of these spaces again.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::page::SpaceId;

/// The spaces that have been flushed. They are noted while somebody has a [`FlushNotes`].
#[derive(Debug, Default)]
pub(crate) struct Flushed(Arc<Mutex<Option<BTreeSet<SpaceId>>>>);

impl Flushed {
    /// Notes a space all of whose pages are in its file by now.
    pub fn note(&self, space: SpaceId) {
        if let Some(spaces) = self.0.lock().as_mut() {
            spaces.insert(space);
        }
    }

    /// Begins to note spaces. Returns `None` when somebody else has them noted.
    pub fn begin(&self) -> Option<FlushNotes> {
        let mut noted = self.0.lock();
        if noted.is_some() {
            return None;
        }
        *noted = Some(BTreeSet::new());
        Some(FlushNotes { noted: Arc::clone(&self.0) })
    }
}

/// A taking of notes, which ends when this is dropped. There is one at a time.
#[derive(Debug)]
pub struct FlushNotes {
    noted: Arc<Mutex<Option<BTreeSet<SpaceId>>>>,
}

impl FlushNotes {
    /// Returns the spaces that were flushed since the last call, in the order of their numbers.
    pub fn take(&self) -> BTreeSet<SpaceId> {
        self.noted.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for FlushNotes {
    fn drop(&mut self) {
        *self.noted.lock() = None;
    }
}
