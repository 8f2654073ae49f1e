//! The store of older row versions, in memory, for the snapshots that need them.

use crate::lock::{FingerprintMap, fingerprint};
use crate::version::view::View;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

const SHARDS: usize = 64;

/// The state of a row from `seq` on until the next version, or the page, took over.
struct Version {
    seq: u64,
    /// The clustered entry's value as it was on the page. `None` means that the row was deleted
    /// then.
    value: Option<Box<[u8]>>,
}

/// The versions of one row, oldest first.
struct Chain {
    table_id: u64,
    key: Box<[u8]>,
    versions: SmallVec<[Version; 1]>,
}

/// What a snapshot sees of a row whose page entry is too new for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The value that the clustered entry had at the time of the snapshot.
    Value(Box<[u8]>),
    /// The row did not exist at the time of the snapshot.
    Nothing,
}

/// The chains by the fingerprint of their row. Rows with the same fingerprint share the entry.
type Shard = Mutex<FingerprintMap<SmallVec<[Chain; 1]>>>;

/// All versions of an engine, sharded by row.
pub(crate) struct VersionStore {
    shards: Box<[Shard]>,
    bytes: AtomicU64,
    versions: AtomicU64,
    default_limit_bytes: u64,
    /// The limit that was set, in bytes. 0 means the default.
    limit_bytes: AtomicU64,
}

/// The bytes of memory that a version takes besides its key and value.
const OVERHEAD_BYTES: u64 = 64;

impl VersionStore {
    pub fn new(default_limit_bytes: u64) -> VersionStore {
        assert!(default_limit_bytes > 0, "versions may take some memory unless it is said otherwise");
        VersionStore {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            bytes: AtomicU64::new(0),
            versions: AtomicU64::new(0),
            default_limit_bytes,
            limit_bytes: AtomicU64::new(0),
        }
    }

    /// Returns how many bytes of memory versions may take before the oldest snapshots are evicted.
    pub fn limit_bytes(&self) -> u64 {
        match self.limit_bytes.load(Ordering::Relaxed) {
            0 => self.default_limit_bytes,
            limit => limit,
        }
    }

    /// Sets the limit of the memory for versions, in bytes. 0 means the default.
    pub fn set_limit_bytes(&self, bytes: u64) {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
    }

    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> 40) as usize % SHARDS]
    }

    /// Keeps the state that a row has had since `seq`. It is called under the leaf's exclusive
    /// latch, before the leaf changes. A caller that latches the leaf again for the same change
    /// (after a split) may call it again.
    pub fn push(&self, table_id: u64, key: &[u8], seq: u64, value: Option<&[u8]>) {
        let hash = fingerprint(table_id, key);
        let mut shard = self.shard(hash).lock();
        let chains = shard.entry(hash).or_default();
        let at = chains.iter().position(|chain| chain.table_id == table_id && *chain.key == *key);
        let chain = match at {
            Some(at) => &mut chains[at],
            None => {
                chains.push(Chain { table_id, key: key.into(), versions: SmallVec::new() });
                chains.last_mut().expect("just pushed")
            }
        };
        if chain.versions.last().is_some_and(|last| last.seq >= seq) {
            return;
        }
        chain.versions.push(Version { seq, value: value.map(Into::into) });
        self.bytes.fetch_add(size(key, value), Ordering::Relaxed);
        self.versions.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns what a snapshot sees of a row: the newest version in the store that it may see.
    pub fn find(&self, table_id: u64, key: &[u8], view: &View) -> Found {
        let hash = fingerprint(table_id, key);
        let shard = self.shard(hash).lock();
        let chain = shard
            .get(&hash)
            .and_then(|chains| chains.iter().find(|chain| chain.table_id == table_id && *chain.key == *key));
        let version =
            chain.and_then(|chain| chain.versions.iter().rev().find(|version| view.sees(version.seq)));
        match version.and_then(|version| version.value.as_ref()) {
            Some(value) => Found::Value(value.clone()),
            None => Found::Nothing,
        }
    }

    /// Removes the version that a row had from `seq` on.
    pub fn remove(&self, table_id: u64, key: &[u8], seq: u64) {
        let hash = fingerprint(table_id, key);
        let mut shard = self.shard(hash).lock();
        let Some(chains) = shard.get_mut(&hash) else { return };
        let Some(at) = chains.iter().position(|chain| chain.table_id == table_id && *chain.key == *key)
        else {
            return;
        };
        let versions = &mut chains[at].versions;
        let Some(version_at) = versions.iter().position(|version| version.seq == seq) else { return };
        let version = versions.remove(version_at);
        if versions.is_empty() {
            chains.swap_remove(at);
        }
        if chains.is_empty() {
            shard.remove(&hash);
        }
        self.uncount(key, &version);
    }

    /// Takes a removed version out of the figures.
    fn uncount(&self, key: &[u8], version: &Version) {
        let size = size(key, version.value.as_deref());
        let bytes = self.bytes.fetch_sub(size, Ordering::Relaxed);
        let versions = self.versions.fetch_sub(1, Ordering::Relaxed);
        assert!(bytes >= size && versions > 0, "a version is counted before it goes");
    }

    /// Removes all versions of a row. It is called when a row is inserted where the page has no
    /// entry, not even a mark. Whatever took the entry away (purge, or an unversioned delete) did
    /// so when no snapshot could need an older state, and a version left here must not be taken for
    /// the state of the row just before the insert.
    pub fn forget(&self, table_id: u64, key: &[u8]) {
        let hash = fingerprint(table_id, key);
        let mut shard = self.shard(hash).lock();
        let Some(chains) = shard.get_mut(&hash) else { return };
        let Some(at) = chains.iter().position(|chain| chain.table_id == table_id && *chain.key == *key)
        else {
            return;
        };
        let chain = chains.swap_remove(at);
        if chains.is_empty() {
            shard.remove(&hash);
        }
        chain.versions.iter().for_each(|version| self.uncount(key, version));
    }

    /// Returns how many bytes of memory the versions take.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of versions.
    pub fn len(&self) -> u64 {
        self.versions.load(Ordering::Relaxed)
    }
}

fn size(key: &[u8], value: Option<&[u8]>) -> u64 {
    OVERHEAD_BYTES + key.len() as u64 + value.map_or(0, |value| value.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_snapshot_finds_its_own_version() {
        let store = VersionStore::new(1);
        store.push(1, b"k", 10, Some(b"ten"));
        store.push(1, b"k", 20, None);
        store.push(1, b"k", 30, Some(b"thirty"));
        store.push(1, b"k", 30, Some(b"again"));
        assert_eq!(store.find(1, b"k", &View::up_to(9)), Found::Nothing);
        assert_eq!(store.find(1, b"k", &View::up_to(19)), Found::Value(b"ten"[..].into()));
        assert_eq!(store.find(1, b"k", &View::up_to(20)), Found::Nothing);
        assert_eq!(store.find(1, b"k", &View::up_to(31)), Found::Value(b"thirty"[..].into()));
        assert_eq!(store.find(2, b"k", &View::up_to(31)), Found::Nothing);
        assert_eq!(store.len(), 3);
        store.remove(1, b"k", 10);
        assert_eq!(store.find(1, b"k", &View::up_to(19)), Found::Nothing);
        store.remove(1, b"k", 20);
        store.remove(1, b"k", 30);
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }
}
