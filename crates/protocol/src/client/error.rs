//! The errors of a client's operations.

use crate::packet::PacketError;
use crate::response::ErrPacket;
use crate::wire::Malformed;
use std::fmt;
use std::io;

/// The reason why a client's operation failed.
#[derive(Debug)]
pub enum ClientError {
    /// The connection could not be made, or it broke, or a read timed out.
    Io(io::Error),
    /// The server answered with an error. The connection can still be used.
    Server(ErrPacket),
    /// The server sent something that the protocol does not allow. The connection cannot be used
    /// any more.
    Protocol(String),
    /// Authentication cannot continue, for instance because the password would be sent in clear
    /// text.
    Authentication(String),
    /// The connection cannot be encrypted as required (MySQL's client error 2026).
    Tls(String),
}

impl ClientError {
    /// Returns the server's error number, if the server answered with an error.
    pub fn server_code(&self) -> Option<u16> {
        match self {
            ClientError::Server(e) => Some(e.code),
            _ => None,
        }
    }

    /// Reports whether a read or write timed out. The operation can then be tried again.
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
