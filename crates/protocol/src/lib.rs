//! MySQL's client/server protocol: packets, the connection phase, authentication, result sets,
//! prepared statements.
//!
//! What flows in: bytes of a peer (through any `Read`), and values to send. What flows out: decoded
//! commands, parameters and results, and bytes for any `Write`. Both sides of the protocol are
//! here, so that each is tested against the other.
//!
//! Only [`client`] opens sockets, and [`stream`] names the two kinds of them. Everything else works
//! on buffers or on any given stream.
//!
//! Invariants:
//! - Bytes of a peer never cause a panic and never cause an allocation that is larger than what the
//!   peer has sent (rounded up): [`wire::Reader`] checks the bounds of every read, and lengths are
//!   believed only as the bytes arrive.
//! - A packet is at most the channel's `max_packet_bytes`. Sequence numbers are checked as in MySQL
//!   (error 1156).
//! - The texts of error messages are bytes in the connection's character set. In memory they are
//!   UTF-8.
//!
//! The protocol is described in MySQL's source documentation, page "Client/Server Protocol"
//! (protocol version 4.1).

pub mod auth;
pub mod capability;
pub mod client;
pub mod column;
pub mod command;
pub mod compression;
pub mod handshake;
pub mod packet;
pub mod response;
pub mod rsa_exchange;
pub mod scalar;
pub mod statement;
pub mod stream;
pub mod tls;
pub mod wire;
