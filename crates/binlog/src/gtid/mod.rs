//! Global transaction identifiers: MySQL's (`server_uuid:number`) and MariaDB's
//! (`domain-server-sequence`).
//!
//! MySQL names the transactions that a server has by a set of intervals per UUID ([`GtidSet`]);
//! MariaDB names a point in a stream by the last identifier of each domain ([`MariadbGtidState`]).
//! A server's transactions have numbers of their own for every tag (MySQL 8.3): what is counted is
//! a [`Tsid`], a UUID with a tag or without.

mod error;
mod mariadb;
mod set;
mod single;
mod tsid;
mod uuid;

pub use error::GtidError;
pub use mariadb::{MariadbGtid, MariadbGtidState};
pub use set::{GtidSet, Interval};
pub use single::{GNO_MAX, Gtid};
pub use tsid::{Tag, Tsid};
pub use uuid::Uuid;
