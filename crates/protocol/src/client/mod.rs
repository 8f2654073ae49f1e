//! A blocking client: what replicas, the benchmark kit and the tests talk to servers with.
//!
//! One connection, one thread. Buffers are reused, so a statement whose rows are not kept costs no
//! allocation: the load generator runs on [`Client::execute_discard`]. Anything that a server sends
//! is checked like any other peer's bytes.

mod connect;
mod query;

pub use connect::{Address, ConnectOptions};
pub use query::{ResultSet, Statement, Summary};

use crate::capability::Capabilities;
use crate::packet::{Channel, PacketError};
use crate::response::{ERR_HEADER, ErrPacket};
pub use crate::stream::{Interrupter, Stream};
use crate::wire::Malformed;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a client's operation failed.
#[derive(Debug)]
pub enum ClientError {
    /// The connection could not be made, or broke, or a read timed out.
    Io(io::Error),
    /// The server answered with an error; the connection goes on.
    Server(ErrPacket),
    /// The server sent something that the protocol does not allow; the connection is of no more
    /// use.
    Protocol(String),
    /// Authentication cannot go on, for instance because the password would travel in clear text.
    Authentication(String),
    /// The connection cannot be encrypted as it must be (MySQL's client error 2026).
    Tls(String),
}

impl ClientError {
    /// The server's error number, when it was the server that refused.
    pub fn server_code(&self) -> Option<u16> {
        match self {
            ClientError::Server(e) => Some(e.code),
            _ => None,
        }
    }

    /// True when a read or write hit the timeout; the operation can be tried again.
    pub fn is_timeout(&self) -> bool {
        match self {
            ClientError::Io(e) => matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
            _ => false,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Io(e) => write!(f, "{e}"),
            ClientError::Server(e) => write!(f, "{e}"),
            ClientError::Protocol(e) | ClientError::Authentication(e) => write!(f, "{e}"),
            ClientError::Tls(e) => write!(f, "SSL connection error: {e}"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(e: io::Error) -> Self {
        ClientError::Io(e)
    }
}

impl From<ErrPacket> for ClientError {
    fn from(e: ErrPacket) -> Self {
        ClientError::Server(e)
    }
}

impl From<Malformed> for ClientError {
    fn from(e: Malformed) -> Self {
        ClientError::Protocol(e.to_string())
    }
}

impl From<PacketError> for ClientError {
    fn from(e: PacketError) -> Self {
        match e {
            PacketError::Io(e) => ClientError::Io(e),
            PacketError::Closed => ClientError::Io(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server closed the connection",
            )),
            other => ClientError::Protocol(other.to_string()),
        }
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    channel: Channel<Stream>,
    capabilities: Capabilities,
    server_version: String,
    connection_id: u32,
    /// The server's status after the last answer.
    status: u16,
}

impl Client {
    /// The version that the server greeted with, for instance `9.7.0` or
    /// `10.11.14-MariaDB-0+deb12u2`.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// True when the server is a MariaDB one.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// The connection's id at the server, which KILL takes.
    pub fn connection_id(&self) -> u32 {
        self.connection_id
    }

    /// The capabilities that both sides have agreed on.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// `SERVER_STATUS_*` of the last answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// How long a read waits before it fails with a timeout; `None` waits for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.channel.stream().set_read_timeout(timeout)?)
    }

    /// A handle by which another thread can end this connection, waking a read that waits.
    pub fn interrupter(&self) -> Result<Interrupter, ClientError> {
        Ok(self.channel.stream().interrupter()?)
    }

    /// Sends a command with a body; the answer is read by [`Client::read_packet`] or one of the
    /// readers on top of it.
    pub fn send_command(&mut self, command: u8, body: &[u8]) -> Result<(), ClientError> {
        self.send_command_with(command, |out| out.extend_from_slice(body))
    }

    fn send_command_with(&mut self, command: u8, body: impl FnOnce(&mut Vec<u8>)) -> Result<(), ClientError> {
        self.channel.reset_sequence();
        self.channel.stream_mut().reset_sequence();
        self.channel.write_packet(|out| {
            out.push(command);
            body(out);
        })?;
        Ok(self.channel.flush()?)
    }

    /// Reads one packet; the bytes live until the next call. After a timeout it can be called
    /// again.
    pub fn read_packet(&mut self) -> Result<&[u8], ClientError> {
        Ok(self.channel.read_packet()?)
    }

    /// True when bytes of a further packet have come already: reading it will hardly wait.
    pub fn has_buffered_input(&self) -> bool {
        self.channel.has_buffered_input()
    }

    /// Reads one packet and turns an error packet into an error.
    pub fn read_packet_checked(&mut self) -> Result<&[u8], ClientError> {
        let packet = self.channel.read_packet()?;
        if packet.first() == Some(&ERR_HEADER) {
            return Err(ErrPacket::decode(packet)?.into());
        }
        Ok(packet)
    }

    /// Sends a packet that begins a new exchange without being a command (a semi-sync
    /// acknowledgement).
    pub fn write_first_packet(&mut self, payload: &[u8]) -> Result<(), ClientError> {
        self.channel.reset_sequence();
        self.channel.write_packet(|out| out.extend_from_slice(payload))?;
        Ok(self.channel.flush()?)
    }
}
