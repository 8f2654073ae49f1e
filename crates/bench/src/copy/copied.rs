//! A replica that has been made, before it has caught up with its source.

use os::clock::Stopwatch;

use crate::measure::Node;

/// A replica that holds all rows of its source as they were at some time, and that follows it.
pub(super) struct Copied {
    pub node: Node,
    /// The clock that was started when the copy began.
    pub clock: Stopwatch,
    /// The seconds until all rows were there.
    pub seconds: f64,
    /// The peak of the resident memory of processes of the replica that have ended, in bytes.
    pub peak_rss_bytes: u64,
}

impl Copied {
    /// Returns a replica that has got its last row now.
    pub fn now(node: Node, clock: Stopwatch, peak_rss_bytes: u64) -> Copied {
        let seconds = clock.elapsed().as_secs_f64();
        Copied { node, clock, seconds, peak_rss_bytes }
    }
}
