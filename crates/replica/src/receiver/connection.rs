//! A connection to a source: which server it is, how it is interrupted, and how it ends.

use protocol::client::Interrupter;

use crate::channel::Channel;
use crate::error::{ThreadError, number};

/// How a connection to the source ended.
pub(super) enum Ended {
    /// STOP REPLICA or shutdown.
    Stopped,
    /// The connection is gone, or could not be made; another one may do. Number and text are those
    /// of MySQL's client.
    Lost(u32, String),
    /// No other connection would do better.
    Fatal(ThreadError),
}

impl Ended {
    pub fn lost(message: impl Into<String>) -> Ended {
        Ended::Lost(number::CANT_CONNECT, message.into())
    }
}

/// Which server the source is.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// It speaks MariaDB's dialect of the replication protocol.
    pub is_mariadb: bool,
    /// Its server id.
    pub server_id: u32,
    /// Its UUID; empty for MariaDB.
    pub uuid: String,
    /// Its events end with a CRC-32.
    pub has_checksums: bool,
    /// It wants events acknowledged.
    pub semi_sync: bool,
}

/// Keeps a handle by which STOP REPLICA can end a blocked read.
pub(super) fn keep_connection(channel: &Channel, handle: Interrupter) {
    let mut state = channel.receiver.lock();
    if state.must_stop {
        handle.interrupt();
    }
    state.connection = Some(handle);
}
