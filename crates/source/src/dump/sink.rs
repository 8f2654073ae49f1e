//! Where a dump goes, and how it ends.

use std::io;

use binlog::semi_sync::Acknowledgement;

use crate::error::Refusal;

/// The receiver of a dump's events: a replica's connection.
pub trait DumpSink {
    /// Sends one event; it may be kept back until [`DumpSink::flush`].
    fn send(&mut self, event: &[u8]) -> io::Result<()>;
    /// Everything sent so far goes out now.
    fn flush(&mut self) -> io::Result<()>;
    /// Sends one event with the header of semi-synchronous replication. One that is to be
    /// acknowledged goes out at once.
    fn send_semi_sync(&mut self, event: &[u8], wants_ack: bool) -> io::Result<()>;
    /// Waits for the acknowledgement of the event that was sent last; `None`: not within a moment,
    /// ask again.
    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>>;
    /// The session is to end (KILL, shutdown).
    fn is_killed(&self) -> bool;
}

/// How a session ended that was not just cut off.
#[derive(Debug)]
pub enum DumpEnd {
    /// Everything has been sent, and the client did not want to wait for more: an EOF packet
    /// follows.
    Complete,
    /// Killed, or the server stops: the connection is closed (or error 1053 sent).
    Killed,
    /// An error packet with this follows.
    Refused(Refusal),
    /// The client is gone.
    Disconnected(io::Error),
}
