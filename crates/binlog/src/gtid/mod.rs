//! Global transaction identifiers: MySQL's (`server_uuid:number`) and MariaDB's
//! (`domain-server-sequence`).
//!
//! MySQL describes the transactions that a server has by a set of intervals for each UUID
//! ([`GtidSet`]). MariaDB describes a point in a stream by the last identifier of each domain
//! ([`MariadbGtidState`]). A server's transactions are numbered separately for each tag (MySQL
//! 8.3). So the numbers count the transactions of a [`Tsid`], which is a UUID with or without a
//! tag.

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
