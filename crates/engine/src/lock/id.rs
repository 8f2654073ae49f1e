//! The names of locks: 64-bit fingerprints, and the hash that makes them.

use crate::bytes::KeyBuf;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The fingerprint of what is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LockId(pub(super) u64);

/// The index number of a table's clustered index in lock names. Secondary indexes use their own
/// ids, which start at 1.
pub(crate) const CLUSTERED: u32 = 0;

impl std::fmt::Display for LockId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl LockId {
    /// Returns the name of the row or index entry with this key.
    pub fn row(table_id: u64, index_id: u32, key: &[u8]) -> LockId {
        LockId(fingerprint(table_id ^ (u64::from(index_id) << 48), key) & !METADATA)
    }

    /// Reports whether this is the name of a row or an index entry.
    pub(super) fn is_row(self) -> bool {
        self.0 & METADATA == 0
    }

    /// Returns the name of the definition of a table. DDL holds the lock with this name throughout,
    /// also while it lets transactions use the table in between.
    pub fn upgradable_metadata(schema: &str, table: &str) -> LockId {
        let seed = fingerprint(UPGRADABLE_SEED, schema.as_bytes());
        LockId(fingerprint(seed, table.as_bytes()) | METADATA)
    }

    /// Returns the name as a number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the name of the metadata of a table, or of a schema when `table` is empty.
    pub fn metadata(schema: &str, table: &str) -> LockId {
        let seed = fingerprint(METADATA_SEED, schema.as_bytes());
        LockId(fingerprint(seed, table.as_bytes()) | METADATA)
    }
}

/// A key of an index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowName {
    pub table_id: u64,
    pub index_id: u32,
    pub key: KeyBuf,
}

impl RowName {
    /// Returns the name of the row's lock.
    pub fn lock_id(&self) -> LockId {
        LockId::row(self.table_id, self.index_id, &self.key)
    }
}

/// The bit that tells metadata from rows. Neither the choice of a shard nor the maps look at this
/// bit.
const METADATA: u64 = 1 << 50;
const UPGRADABLE_SEED: u64 = 0x7570_6772_6164_6162;
const METADATA_SEED: u64 = 0x6d65_7461_6461_7461;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const INCREMENT: u64 = 0xd1b5_4a32_d192_ed03;

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Returns a 64-bit hash of some bytes, computed by folded multiplication, eight bytes in each
/// step.
pub(crate) fn fingerprint(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed ^ MULTIPLIER, (bytes.len() as u64) ^ INCREMENT);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks_exact gives eight"));
        state = mix(state ^ word, MULTIPLIER);
    }
    let mut last = [0u8; 8];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    mix(state ^ u64::from_le_bytes(last), INCREMENT)
}

/// The hasher of maps from fingerprints. Fingerprints are well mixed already, so each is its own
/// hash.
#[derive(Default)]
pub(crate) struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = fingerprint(self.0, bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

pub(crate) type FingerprintMap<V> = HashMap<u64, V, BuildHasherDefault<FingerprintHasher>>;
