//! Positions in the binary log.

/// A position in the binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FilePosition {
    /// The number of the file.
    pub file: u64,
    /// The offset in the file.
    pub pos: u64,
}
