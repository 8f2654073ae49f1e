//! The two repositories in which mysqld keeps a channel's metadata: the connection's
//! (`mysql.slave_master_info` or the file `master.info`) and the applier's
//! (`mysql.slave_relay_log_info` or `relay-log.info`). A repository is a TABLE or a FILE.
//!
//! Here both are views of the channel's configuration and of the newest commit record, which alone
//! says what has been applied. A table is computed when a session reads it. A [file](files) is
//! written beside the applier, for users and tools that look for one, and the server never reads it
//! back.

mod files;
mod repository;
#[cfg(test)]
mod tests;

use crate::error::ChannelError;

pub(crate) use files::InfoFiles;
pub use files::InfoSettings;
pub use repository::{InfoRow, Place, Repository};

/// Builds the error of a repository that stays where it is for the given reason.
pub(crate) fn not_moved(why: &dyn std::fmt::Display) -> ChannelError {
    ChannelError::new(
        1750,
        "HY000",
        format!("Failure while changing the type of replication repository: {why}."),
    )
}

/// Builds the error that refuses files while there are several channels.
pub(crate) fn files_are_for_one() -> ChannelError {
    ChannelError::new(
        3077,
        "HY000",
        "To have multiple channels, repository cannot be of type FILE; Please check the repository configuration and convert them to TABLE.",
    )
}
