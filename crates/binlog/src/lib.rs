//! The codec for binary log events, and GTID sets. There is no I/O here.
//!
//! What flows in and out: bytes of events, from a relay log, a binary log file or the network,
//! become [`event::Event`]s that borrow from those bytes. Values become event bytes through
//! [`encode`]. [`gtid`] has the sets of transactions that control replication. [`group`] turns the
//! events of one transaction into the form in which the log keeps them and back into binary log
//! events.
//!
//! Invariants:
//! - Decoding never panics, whatever the bytes: every read is checked and fails with the offset
//!   ([`DecodeError`]).
//! - Decoding copies nothing but small numbers.
//! - What [`encode`] writes is accepted by MySQL's and MariaDB's replicas and by `mysqlbinlog`, and
//!   is byte for byte what MySQL writes for the same event.
//!
//! Event layouts are MySQL's (`libbinlogevents`, internals manual "Binary Log Event") and MariaDB's
//! (knowledge base, "Replication Protocol").

pub mod boundary;
pub mod checksum;
pub mod compressed;
pub mod cursor;
pub mod encode;
pub mod event;
pub mod group;
pub mod gtid;
pub mod reader;
pub mod semi_sync;
pub mod xid;

pub use checksum::Checksum;
pub use cursor::DecodeError;
pub use event::{Event, Format, Header, decode};
pub use xid::Xid;

/// The first four bytes of a binary log file.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];
