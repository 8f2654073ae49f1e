//! The state that the receiver shares with the statements that command and show it.

use binlog::gtid::{GtidSet, MariadbGtidState};

use protocol::client::Interrupter;

use crate::config::Login;
use crate::error::ThreadError;
use crate::gtid::GroupHead;
use crate::status::Running;

/// The end of the last complete event group in the relay log, where reception resumes.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// The name of the source's binary log file. It is empty while nothing has been received since
    /// the relay log was started.
    pub file: String,
    /// The offset in the file.
    pub pos: u64,
    /// The GTIDs of all groups received since the relay log was started.
    pub gtids: GtidSet,
    /// The last received GTID of every domain, for a MariaDB source.
    pub mariadb: MariadbGtidState,
    /// True when at least one group has been received since the relay log was started.
    pub has_groups: bool,
}

/// The receiver's state, guarded by one mutex. The receiver updates it once per block, not once per
/// event.
#[derive(Default)]
pub struct ReceiverState {
    /// The state that Replica_IO_Running shows.
    pub running: Running,
    /// True when the thread has to stop.
    pub must_stop: bool,
    /// The account that the statement which started the thread has named.
    pub login: Option<Login>,
    /// The text that Replica_IO_State shows.
    pub io_state: String,
    /// The receiver's last error. `None` means that there was none since START REPLICA, or since
    /// the source last accepted the dump.
    pub error: Option<ThreadError>,
    /// The source's file up to which events have been read, also inside a group.
    pub read_file: String,
    /// The offset in `read_file`.
    pub read_pos: u64,
    /// The position at which the receiver resumes.
    pub received: Received,
    /// The source's server id, as the source told it in the last handshake.
    pub source_server_id: u32,
    /// The source's UUID, as the source told it in the last handshake.
    pub source_uuid: String,
    /// The source's clock minus this server's, in microseconds.
    pub clock_skew_us: i64,
    /// The last group that was received whole.
    pub last_queued: GroupHead,
    /// The time when `last_queued` was noted, in microseconds of this server's clock.
    pub last_queued_us: u64,
    /// The group that is being received. The default stands for none.
    pub queueing: GroupHead,
    /// True when the connection is semi-synchronous.
    pub semi_sync: bool,
    /// The number of heartbeats received.
    pub heartbeats: u64,
    /// The time of the last heartbeat, in microseconds of this server's clock.
    pub last_heartbeat_us: u64,
    /// The time of the last sign of life of the source, in microseconds of this server's clock.
    pub last_heard_us: u64,
    /// A second handle of the connection, with which another thread shuts it down.
    pub connection: Option<Interrupter>,
}
