//! The destination of a dump, and the ways in which it ends.

use std::io;

use binlog::semi_sync::Acknowledgement;

use crate::error::Refusal;

/// The receiver of a dump's events: a replica's connection.
pub trait DumpSink {
    /// Sends one event, which may be kept back until [`DumpSink::flush`].
    fn send(&mut self, event: &[u8]) -> io::Result<()>;
    /// Sends everything that was kept back.
    fn flush(&mut self) -> io::Result<()>;
    /// Sends one event with the header of semi-synchronous replication. An event that has to be
    /// acknowledged is not kept back.
    fn send_semi_sync(&mut self, event: &[u8], wants_ack: bool) -> io::Result<()>;
    /// Waits for the acknowledgement of the event that was sent last. `None` means that it has not
    /// come for a moment, and the caller should ask again.
    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>>;
    /// Reports whether the session has to end (KILL, shutdown).
    fn is_killed(&self) -> bool;
}

/// The way in which a session ended.
#[derive(Debug)]
pub enum DumpEnd {
    /// Everything has been sent, and the client did not want to wait for more. An EOF packet
    /// follows.
    Complete,
    /// The session was killed, or the server stops. The connection is closed, or error 1053 is
    /// sent.
    Killed,
    /// The dump is refused, and an error packet with this refusal follows.
    Refused(Refusal),
    /// The client is gone.
    Disconnected(io::Error),
}
