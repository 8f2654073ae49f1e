//! What a log holds, in figures.

use crate::history::{History, KeySource, Nature, Table};

/// So many of each list are shown.
pub const SHOWN: usize = 10;
/// Transactions of more row changes than this are called large.
pub const LARGE_CHANGES: u32 = 1000;

/// How large something is, over all transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Spread {
    /// Half are at most this large.
    pub median: u64,
    /// 95 of 100.
    pub p95: u64,
    /// 99 of 100.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// All together.
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

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Row changes of a transaction.
    pub changes: Spread,
    /// Bytes of a transaction.
    pub bytes: Spread,
    /// Transactions that are, or hold, statements.
    pub statements: usize,
    /// Transactions that are not looked into.
    pub opaque: usize,
    /// Transactions with which no commit order is recorded.
    pub unordered: usize,
    /// Numbers of the transactions with more than [`LARGE_CHANGES`] changes, the largest first.
    pub large: Vec<usize>,
    /// Numbers of the tables, those with the most changes first.
    pub tables: Vec<usize>,
}

/// Counts.
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

/// How a table's rows are told apart, in words.
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
