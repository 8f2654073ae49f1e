//! The definitions of all variables, by what they are about.

mod innodb;
mod replication;
mod server;
mod session;

use super::definition::Definition;

pub use replication::ALIASES;

/// All definitions.
pub const ALL: &[&[Definition]] =
    &[innodb::DEFINITIONS, replication::DEFINITIONS, server::DEFINITIONS, session::DEFINITIONS];
