//! The sizes of compressed and plain transactions in the binary log
//! (`performance_schema.binary_log_transaction_compression_stats`).

use binlog::gtid::Gtid;
use engine::{CommitHeader, CommittedGroup};

/// A transaction in the binary log that was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The transaction's GTID. `None` means that it is anonymous.
    pub gtid: Option<Gtid>,
    /// The number of bytes that its events have in the log.
    pub compressed_bytes: u64,
    /// The number of bytes of its events before compression.
    pub uncompressed_bytes: u64,
    /// The time of its commit, in microseconds of unix time.
    pub at_us: u64,
}

/// The figures of all transactions of one kind since the server's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompressionCounts {
    /// The number of transactions.
    pub transactions: u64,
    /// The number of bytes that their events have in the log.
    pub compressed_bytes: u64,
    /// The number of bytes of their events before compression.
    pub uncompressed_bytes: u64,
    /// The first and the last transaction; `None` before the first one.
    pub first_and_last: Option<(Counted, Counted)>,
}

impl CompressionCounts {
    /// Returns by how many percent the events have become smaller.
    pub fn percentage(&self) -> u64 {
        match self.uncompressed_bytes {
            0 => 0,
            whole => 100 - (self.compressed_bytes.saturating_mul(100) / whole).min(100),
        }
    }

    fn count(&mut self, transaction: Counted) {
        self.transactions += 1;
        self.compressed_bytes += transaction.compressed_bytes;
        self.uncompressed_bytes += transaction.uncompressed_bytes;
        let first = self.first_and_last.map_or(transaction, |(first, _)| first);
        self.first_and_last = Some((first, transaction));
    }
}

/// The figures of transactions that are compressed with zstd, and of plain ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompressionStats {
    /// The figures of compressed transactions.
    pub zstd: CompressionCounts,
    /// The figures of plain transactions.
    pub none: CompressionCounts,
}

impl CompressionStats {
    /// Counts a group whose events have `written` bytes in the file.
    pub(crate) fn count(&mut self, committed: &CommittedGroup<'_>, written: u64) {
        let CommitHeader { gtid, compression, immediate_commit_us, .. } = committed.header;
        let counts = if compression.is_some() { &mut self.zstd } else { &mut self.none };
        counts.count(Counted {
            gtid,
            compressed_bytes: written,
            uncompressed_bytes: committed.group.len_bytes(),
            at_us: immediate_commit_us,
        });
    }
}
