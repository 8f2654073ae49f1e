//! A client's end of a connection: packets out and in.

use super::error::ClientError;
use crate::capability::Capabilities;
use crate::packet::Channel;
use crate::response::{ERR_HEADER, ErrPacket};
use crate::stream::{Interrupter, Stream};
use std::time::Duration;

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    pub(super) channel: Channel<Stream>,
    pub(super) capabilities: Capabilities,
    pub(super) server_version: String,
    pub(super) connection_id: u32,
    /// The server's status after the last answer.
    pub(super) status: u16,
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

    pub(super) fn send_command_with(
        &mut self,
        command: u8,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), ClientError> {
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
