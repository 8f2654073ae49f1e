//! Sources whose log is in a store: an object store or a directory to which `slipstream backup
//! --follow` ships it. `SOURCE_HOST` is then the store's URL. What a store is, the server says.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use binlog::gtid::GtidSet;

/// What distinguishes a store's URL from a host's name.
const AFTER_SCHEME: &str = "://";

/// Reports whether `SOURCE_HOST` names a store.
pub(crate) fn names_store(host: &str) -> bool {
    host.contains(AFTER_SCHEME)
}

/// What a replica has of a stored log already.
#[derive(Debug, Clone)]
pub enum StoredBegin {
    /// The replica has these transactions, and wants all others.
    Gtids(GtidSet),
    /// The replica has everything before this offset in this file.
    Place(String, u64),
}

/// A request for the log in a store.
#[derive(Debug)]
pub struct StoredRequest<'a> {
    /// The store's URL.
    pub url: &'a str,
    /// The file with the key of an encrypted store.
    pub key_file: Option<&'a Path>,
    /// What the replica has already.
    pub begin: StoredBegin,
    /// The path of a file that the log's reader may replace at any time.
    pub scratch: PathBuf,
}

/// A piece of a stored log.
#[derive(Debug)]
pub enum StoredPiece<'a> {
    /// The events go on in this file, at this offset.
    File(&'a str, u64),
    /// The next event, whole.
    Event(&'a [u8]),
}

/// The reason why a stored log cannot be read.
#[derive(Debug)]
pub enum StoredError {
    /// Another attempt may succeed.
    Passing(String),
    /// Every further attempt would fail too.
    Final(String),
}

/// A log in a store, which is read from its beginning on.
pub trait StoredLog {
    /// Returns the UUID of the server whose log it is.
    fn server_uuid(&self) -> &str;

    /// Gives away what has come since the last call, until `visit` breaks.
    ///
    /// # Errors
    /// Returns the reason why the log does not go on.
    fn read_new(
        &mut self,
        visit: &mut dyn FnMut(StoredPiece<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoredError>;
}

/// The stores that this server can read.
pub trait Stores: Send + Sync {
    /// Checks the form of a store's URL.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    fn check(&self, url: &str) -> Result<(), String>;

    /// Opens the log in a store.
    ///
    /// # Errors
    /// Returns the reason why it cannot be read.
    fn open(&self, request: StoredRequest<'_>) -> Result<Box<dyn StoredLog>, StoredError>;
}

/// The stores, as a setting. `None` means that there are none.
#[derive(Clone, Default)]
pub struct StoresSetting(pub Option<Arc<dyn Stores>>);

impl fmt::Debug for StoresSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("StoresSetting").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::names_store;

    #[test]
    fn hosts_are_no_stores() {
        assert!(names_store("s3://bucket/prefix") && names_store("file:///backups/db1"));
        assert!(!names_store("db1.example") && !names_store("::1") && !names_store("10.0.0.1"));
    }
}
