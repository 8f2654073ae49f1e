//! The contents of a log, in figures.

use crate::history::{History, KeySource, Nature, Table};

/// The number of entries of each list that are shown.
pub const SHOWN: usize = 10;
/// The number of row changes above which a transaction is called large.
pub const LARGE_CHANGES: u32 = 1000;

/// The spread of a size over all transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Spread {
    /// The size that half of the transactions do not exceed.
    pub median: u64,
    /// The size that 95 of 100 transactions do not exceed.
    pub p95: u64,
    /// The size that 99 of 100 transactions do not exceed.
    pub p99: u64,
    /// The largest size.
    pub max: u64,
    /// The sum of all sizes.
    pub sum: u64,
}

impl Spread {
    fn of(mut values: Vec<u64>) -> Spread {
        values.sort_unstable();
        let at = |hundredths: usize| {
            let rank = (values.len() * hundredths).div_ceil(100);
            values.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Spread { median: at(50), p95: at(95), p99: at(99), max: at(100), sum: values.iter().sum() }
    }
}

/// The contents of a log, in figures.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The row changes of a transaction.
    pub changes: Spread,
    /// The bytes of a transaction.
    pub bytes: Spread,
    /// The number of transactions that are, or hold, statements.
    pub statements: usize,
    /// The number of transactions whose contents are not read.
    pub opaque: usize,
    /// The number of transactions for which no commit order is recorded.
    pub unordered: usize,
    /// The indexes of the transactions with more than [`LARGE_CHANGES`] changes, the largest first.
    pub large: Vec<usize>,
    /// The indexes of the tables, those with the most changes first.
    pub tables: Vec<usize>,
}

/// Computes the figures of a history.
pub fn of(history: &History) -> Facts {
    let transactions = &history.transactions;
    let count = |nature: Nature| transactions.iter().filter(|t| t.nature == nature).count();
    let mut large: Vec<usize> =
        (0..transactions.len()).filter(|&at| transactions[at].changes > LARGE_CHANGES).collect();
    large.sort_by_key(|&at| (std::cmp::Reverse(transactions[at].changes), at));
    let mut tables: Vec<usize> = (0..history.tables.len()).collect();
    tables.sort_by(|&a, &b| {
        let (a, b) = (&history.tables[a], &history.tables[b]);
        b.changes().cmp(&a.changes()).then_with(|| a.name.cmp(&b.name))
    });
    Facts {
        changes: Spread::of(transactions.iter().map(|t| u64::from(t.changes)).collect()),
        bytes: Spread::of(transactions.iter().map(|t| t.bytes).collect()),
        statements: count(Nature::Statement),
        opaque: count(Nature::Opaque),
        unordered: transactions.iter().filter(|t| t.is_unordered).count(),
        large,
        tables,
    }
}

/// Returns in words how a table's rows are told apart.
pub fn key_words(table: &Table) -> &'static str {
    match table.keys {
        KeySource::Metadata => "primary key, of the table map",
        KeySource::Server => "unique keys, of the server",
        KeySource::BeforeImages => "columns of the before-images",
        KeySource::Unknown => "not known: all columns",
        KeySource::None => "NO KEY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let spread = Spread::of((1..=100).rev().collect());
        assert_eq!(spread, Spread { median: 50, p95: 95, p99: 99, max: 100, sum: 5050 });
        assert_eq!(Spread::of(vec![7]), Spread { median: 7, p95: 7, p99: 7, max: 7, sum: 7 });
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
