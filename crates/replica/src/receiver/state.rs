//! What the receiver shares with the statements that command and show it.

use binlog::gtid::{GtidSet, MariadbGtidState};

use protocol::client::Interrupter;

use crate::error::ThreadError;
use crate::gtid::GroupHead;
use crate::status::Running;

/// The end of the last complete event group in the relay log: where reception resumes.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// The source's file; empty while nothing has been received since the relay log was started.
    pub file: String,
    /// Offset in it.
    pub pos: u64,
    /// GTIDs of all groups received since the relay log was started.
    pub gtids: GtidSet,
    /// MariaDB: the last GTID of every domain received.
    pub mariadb: MariadbGtidState,
    /// At least one group has been received since the relay log was started.
    pub has_groups: bool,
}

/// Guarded by one mutex; the receiver updates it once a block, not once an event.
#[derive(Default)]
pub struct ReceiverState {
    /// For Replica_IO_Running.
    pub running: Running,
    /// The thread exists (it may be on its way out).
    pub must_stop: bool,
    /// Replica_IO_State.
    pub io_state: String,
    /// The last error.
    pub error: Option<ThreadError>,
    /// Last position read, also inside a group.
    pub read_file: String,
    /// Offset in that file.
    pub read_pos: u64,
    /// The position at which the receiver resumes.
    pub received: Received,
    /// The source's server id.
    pub source_server_id: u32,
    /// The source's UUID.
    pub source_uuid: String,
    /// The source's clock minus ours, in microseconds.
    pub clock_skew_us: i64,
    /// The last group received whole, and when that was shown, in microseconds of our clock.
    pub last_queued: GroupHead,
    /// See `last_queued`.
    pub last_queued_us: u64,
    /// The group that is being received; the default is none.
    pub queueing: GroupHead,
    /// The connection is semi-synchronous.
    pub semi_sync: bool,
    /// Heartbeats received.
    pub heartbeats: u64,
    /// When the last one came, in microseconds of our clock.
    pub last_heartbeat_us: u64,
    /// When the source was last heard of, in microseconds of our clock.
    pub last_heard_us: u64,
    /// A second handle of the connection, to shut it down from outside.
    pub connection: Option<Interrupter>,
}
