//! MySQL's client/server protocol: packets, the connection phase, authentication, result sets,
//! prepared statements.
//!
//! What flows in: bytes of a peer (through any `Read`), values to send. What flows out: decoded
//! commands, parameters and results; bytes for any `Write`. Both sides of the protocol are here, so
//! that each is tested against the other.
//!
//! Only [`client`] opens sockets, [`stream`] names the two kinds; everything else works on buffers
//! or on any stream that it is given.
//!
//! Invariants:
//! - Bytes of a peer never cause a panic and never cause an allocation that is larger than what the
//!   peer has sent (rounded up): every read is bounds-checked by [`wire::Reader`], lengths are
//!   believed only as the bytes arrive.
//! - A packet is at most the channel's `max_packet_bytes`; sequence numbers are checked as MySQL
//!   does (error 1156).
//! - The text of error messages is bytes in the connection's character set, which is UTF-8 on our
//!   side.
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
