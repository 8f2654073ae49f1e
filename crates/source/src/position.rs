//! Places in the binary log.

/// A place in the binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FilePosition {
    /// Number of the file.
    pub file: u64,
    /// Offset in it.
    pub pos: u64,
}
