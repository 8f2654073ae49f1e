//! The tables of performance_schema about the binary log.

use super::cells::{Cells, number, table, text, time};
use crate::client::connection_host::ConnectionHost;
use source::compression::{CompressionCounts, Counted};
use sql::ComputedTable;

/// Returns `binary_log_transaction_compression_stats`, with the rows of the binary log but not of
/// the relay log.
pub fn compression_stats(host: &ConnectionHost) -> ComputedTable<'_> {
    let nothing = Counted { gtid: None, compressed_bytes: 0, uncompressed_bytes: 0, at_us: 0 };
    table(row("", &CompressionCounts::default(), nothing, nothing), || {
        let stats =
            host.server().binlog.as_ref().map(|binlog| binlog.compression_stats()).unwrap_or_default();
        [("ZSTD", stats.zstd), ("NONE", stats.none)].into_iter().filter_map(|(kind, counts)| {
            let (first, last) = counts.first_and_last?;
            Some(row(kind, &counts, first, last))
        })
    })
}

fn row(kind: &str, counts: &CompressionCounts, first: Counted, last: Counted) -> Cells {
    let mut cells = vec![
        text("LOG_TYPE", "BINARY"),
        text("COMPRESSION_TYPE", kind),
        number("TRANSACTION_COUNTER", counts.transactions),
        number("COMPRESSED_BYTES_COUNTER", counts.compressed_bytes),
        number("UNCOMPRESSED_BYTES_COUNTER", counts.uncompressed_bytes),
        number("COMPRESSION_PERCENTAGE", counts.percentage()),
    ];
    for (which, transaction) in [("FIRST", first), ("LAST", last)] {
        let id = transaction.gtid.map_or("ANONYMOUS".to_string(), |gtid| gtid.to_string());
        let name = |what: &str| format!("{which}_TRANSACTION_{what}");
        cells.push(text(&name("ID"), &id));
        cells.push(number(&name("COMPRESSED_BYTES"), transaction.compressed_bytes));
        cells.push(number(&name("UNCOMPRESSED_BYTES"), transaction.uncompressed_bytes));
        cells.push(time(&name("TIMESTAMP"), transaction.at_us));
    }
    cells
}
