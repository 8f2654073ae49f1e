//! Positions in the log.

/// A position in the log: the offset of a byte in the stream of all records ever written.
pub type Lsn = u64;

/// The position at which a new log begins. It is not 0, so that 0 can mean "no position".
pub const START_LSN: Lsn = 8192;
