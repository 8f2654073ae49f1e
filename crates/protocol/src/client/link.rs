//! A client's end of a connection, which sends and receives packets.

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
    /// The server's status flags in its last answer.
    pub(super) status: u16,
}

impl Client {
    /// Returns the version in the server's greeting, such as `9.7.0` or
    /// `10.11.14-MariaDB-0+deb12u2`.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Reports whether the server is a MariaDB server.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// Reports whether the connection is encrypted with TLS.
    pub fn is_encrypted(&self) -> bool {
        self.channel.stream().encryption().is_some()
    }

    /// Returns the connection's id at the server, which KILL takes.
    pub fn connection_id(&self) -> u32 {
        self.connection_id
    }

    /// Returns the capabilities that both sides have agreed on.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Returns the status flags (`SERVER_STATUS_*`) of the last answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Sets how long a read waits before it fails with a timeout. `None` means for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.channel.stream().set_read_timeout(timeout)?)
    }

    /// Returns a handle by which another thread can end this connection, which wakes a waiting
    /// read.
    pub fn interrupter(&self) -> Result<Interrupter, ClientError> {
        Ok(self.channel.stream().interrupter()?)
    }

    /// Sends a command with a body. The answer is read by [`Client::read_packet`] or one of the
    /// functions built on it.
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

    /// Reads one packet. The bytes live until the next call. After a timeout this can be called
    /// again.
    pub fn read_packet(&mut self) -> Result<&[u8], ClientError> {
        Ok(self.channel.read_packet()?)
    }

    /// Reports whether bytes of a further packet have been received, so that reading it will hardly
    /// wait.
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

    /// Sends a packet that begins a new exchange without being a command (such as a semi-sync
    /// acknowledgement).
    pub fn write_first_packet(&mut self, payload: &[u8]) -> Result<(), ClientError> {
        self.channel.reset_sequence();
        self.channel.write_packet(|out| out.extend_from_slice(payload))?;
        Ok(self.channel.flush()?)
    }
}
