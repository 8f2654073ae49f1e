//! Sorted runs and the entries in them: what the sorter writes and the merge reads.

use super::file::TempFile;
use os::disk::Disk;
use std::path::PathBuf;
use std::sync::Arc;

/// The place for the files of a sort, and the memory that it may take.
#[derive(Clone)]
pub(crate) struct SortLimits {
    pub disk: Arc<dyn Disk>,
    pub tmpdir: PathBuf,
    /// The number of bytes of memory that a sorter, or a merge, may take.
    pub buffer_bytes: usize,
}

/// The bytes in front of an entry's key in a run: the lengths of key and value, 2 bytes each. The
/// key and the value follow.
pub(super) const ENTRY_HEADER_LEN: usize = 4;

pub(super) fn entry_at(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    let length = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (key_len, value_len) = (length(at), length(at + 2));
    bytes[at + ENTRY_HEADER_LEN..at + ENTRY_HEADER_LEN + key_len + value_len].split_at(key_len)
}

pub(super) fn put_entry(bytes: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    // Keys and values fit half a page of 64 KB.
    bytes.extend_from_slice(&(key.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&(value.len() as u16).to_le_bytes());
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(value);
}

/// Returns eight key bytes from `depth` on as a number that compares as the bytes do. Bytes beyond
/// the key's end are zeros.
pub(super) fn head(key: &[u8], depth: usize) -> u64 {
    let rest = key.get(depth..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(bytes)
        }
    }
}

/// A sorted run, in a file or in memory.
pub(super) struct Run {
    pub source: RunSource,
    /// The run is the bytes from `at` to `end` of the file.
    pub at: u64,
    pub end: u64,
}

pub(super) enum RunSource {
    File(Arc<TempFile>),
    Memory(Vec<u8>),
}

/// The entries that a sorter has collected, in sorted runs.
pub(in crate::ddl) struct Sorted {
    pub(super) limits: SortLimits,
    pub(super) runs: Vec<Run>,
}
