//! A connection to a source: which server it leads to, how it is interrupted, and how it ends.

use os::clock::Stopwatch;
use protocol::client::Interrupter;

use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::status::Running;

/// The way in which a connection to the source ended.
pub(super) enum Ended {
    /// STOP REPLICA or a shutdown ended it.
    Stopped,
    /// The connection broke or could not be made, and another attempt may succeed. Number and text
    /// are those of MySQL's client.
    Lost(u32, String),
    /// It failed for a reason that every further connection would meet too.
    Fatal(ThreadError),
}

impl Ended {
    pub fn lost(message: impl Into<String>) -> Ended {
        Ended::Lost(number::CANT_CONNECT, message.into())
    }
}

/// The properties of the source that the receiver needs.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// True when the source speaks MariaDB's dialect of the replication protocol.
    pub is_mariadb: bool,
    /// The source's server id.
    pub server_id: u32,
    /// The source's UUID; empty for MariaDB.
    pub uuid: String,
    /// True when the source's events end with a CRC-32.
    pub has_checksums: bool,
    /// True when the source wants events acknowledged (semi-synchronous replication).
    pub semi_sync: bool,
}

/// Keeps a handle with which STOP REPLICA can end a blocked read.
pub(super) fn keep_connection(channel: &Channel, handle: Interrupter) {
    let mut state = channel.receiver.lock();
    if state.must_stop {
        handle.interrupt();
    }
    state.connection = Some(handle);
}

/// The point that a connection has reached.
#[derive(Default)]
pub(super) struct Reached {
    /// The time since the source was asked for its log. `None` means that it was not asked.
    pub stream: Option<Stopwatch>,
    /// True when the source has sent an event other than those with which every file and every
    /// connection begins.
    pub news: bool,
}

/// Notes that the source sends its log from now on.
pub(super) fn has_connected(channel: &Channel) {
    let mut state = channel.receiver.lock();
    state.running = Running::Yes;
    state.io_state = "Waiting for source to send event".to_string();
    state.error = None;
    state.last_heard_us = os::clock::now_us();
    drop(state);
    channel.receiver_changed.notify_all();
}
