//! Positions in the log.

/// A position in the log: the offset of a byte in the stream of all records ever written.
pub type Lsn = u64;

/// Where a new log begins. Not 0, so that 0 can mean "no position".
pub const START_LSN: Lsn = 8192;
