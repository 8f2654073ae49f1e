//! The binary log event codec and GTID sets; pure, no I/O.

pub mod gtid;
