//! The file of the audit log, and its rotation.

use crate::server::log_file::{LogOpening, cannot_open};
use os::disk::{Disk, File, OpenMode};
use sql::SqlError;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// When the file is rotated, and how many earlier files are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotation {
    /// A file of so many bytes is rotated; 0 is never.
    pub on_size_bytes: u64,
    /// The number of earlier files that are kept; with 0 the file is not rotated.
    pub kept: u64,
}

/// The file. `None` inside means that it is closed.
#[derive(Default)]
pub struct AuditFile {
    path: PathBuf,
    open: Option<(Arc<dyn Disk>, Arc<dyn File>)>,
    bytes: u64,
}

impl AuditFile {
    /// Opens the file, or opens it anew after somebody has renamed it.
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened, which stays closed then.
    pub fn open(
        &mut self,
        disk: &Arc<dyn Disk>,
        opening: &LogOpening<'_>,
        name: &str,
    ) -> Result<(), SqlError> {
        self.open = None;
        self.path = opening.datadir.join(name);
        self.reopen(disk).map_err(|error| cannot_open(&self.path, &error))
    }

    fn reopen(&mut self, disk: &Arc<dyn Disk>) -> io::Result<()> {
        let file = disk.open(&self.path, OpenMode::Append)?;
        self.bytes = file.len_bytes()?;
        self.open = Some((disk.clone(), file));
        Ok(())
    }

    /// Closes the file.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Reports whether the file is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the size of the file in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends lines, and rotates the file between two of them when it has reached its size.
    ///
    /// # Errors
    /// Returns the disk's error. Lines that were not written are lost.
    pub fn append(&mut self, mut lines: &[u8], rotation: Rotation) -> io::Result<()> {
        assert!(lines.is_empty() || lines.ends_with(b"\n"), "the file ends with a whole line");
        while !lines.is_empty() {
            let Some((disk, file)) = self.open.clone() else { return Ok(()) };
            if rotation.kept > 0 && rotation.on_size_bytes > 0 && self.bytes >= rotation.on_size_bytes {
                self.open = None;
                self.rotate(&*disk, rotation.kept)?;
                self.reopen(&disk)?;
                continue;
            }
            let end = match rotation.on_size_bytes {
                0 => lines.len(),
                most => end_of_piece(lines, most.saturating_sub(self.bytes)),
            };
            assert!(end > 0 && lines[..end].ends_with(b"\n"), "the file is rotated between two lines");
            file.write_all_at(&lines[..end], file.len_bytes()?)?;
            self.bytes += end as u64;
            lines = &lines[end..];
        }
        Ok(())
    }

    /// Renames the file to NAME.1, the one that had this name to NAME.2, and so on. The oldest one
    /// is replaced.
    fn rotate(&self, disk: &dyn Disk, kept: u64) -> io::Result<()> {
        assert!(kept > 0 && self.open.is_none(), "a file that is renamed is kept, and closed meanwhile");
        let numbered = |number: u64| PathBuf::from(format!("{}.{number}", self.path.display()));
        for number in (1..kept).rev() {
            if disk.exists(&numbered(number))? {
                disk.rename(&numbered(number), &numbered(number + 1))?;
            }
        }
        disk.rename(&self.path, &numbered(1))
    }
}

/// Returns the end of the line with which `left` bytes are reached.
fn end_of_piece(lines: &[u8], left: u64) -> usize {
    let from = usize::try_from(left.saturating_sub(1)).unwrap_or(usize::MAX);
    let rest = lines.get(from..).unwrap_or_default();
    rest.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_the_line_that_reaches_the_size() {
        let end = |left| end_of_piece(b"aaa\nbbb\nccc\n", left);
        assert_eq!(
            [end(0), end(1), end(4), end(5), end(8), end(9), end(12), end(99)],
            [4, 4, 4, 8, 8, 12, 12, 12]
        );
    }
}
