//! The definitions of all variables, grouped by subject.

mod absent;
mod audit;
mod full_text;
mod innodb;
mod performance_schema;
mod replication;
mod server;
mod session;

use super::definition::Definition;

pub use replication::ALIASES;

/// The definitions of all system variables.
pub const ALL: &[&[Definition]] = &[
    absent::DEFINITIONS,
    audit::DEFINITIONS,
    full_text::DEFINITIONS,
    innodb::DEFINITIONS,
    performance_schema::DEFINITIONS,
    replication::DEFINITIONS,
    server::DEFINITIONS,
    session::DEFINITIONS,
];
