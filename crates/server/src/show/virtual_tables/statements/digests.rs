//! The tables about digests of statements.

use super::super::columns::{Kind, columns};
use super::reading::{read, sum_cells, sum_columns};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use sql::measured::{BUCKETS, DigestRow, Measured, bucket_low_ps};
use sql::{ComputedTable, Digest};
use types::Value;

fn moment(at_us: u64) -> Value {
    Value::Timestamp { seconds: (at_us / 1_000_000) as i64, micros: (at_us % 1_000_000) as u32 }
}

/// `events_statements_summary_by_digest`
pub fn by_digest(host: &ConnectionHost) -> ComputedTable<'_> {
    let (times, sums) = sum_columns();
    let mut all = vec![
        ("SCHEMA_NAME", Kind::TextOrNull(64)),
        ("DIGEST", Kind::TextOrNull(64)),
        ("DIGEST_TEXT", Kind::LongTextOrNull),
    ];
    all.extend(times.iter().chain(&sums).map(|(name, kind)| (name.as_str(), *kind)));
    all.extend([
        ("FIRST_SEEN", Kind::Moment),
        ("LAST_SEEN", Kind::Moment),
        ("QUANTILE_95", Kind::Number),
        ("QUANTILE_99", Kind::Number),
        ("QUANTILE_999", Kind::Number),
        ("QUERY_SAMPLE_TEXT", Kind::LongTextOrNull),
        ("QUERY_SAMPLE_SEEN", Kind::Moment),
        ("QUERY_SAMPLE_TIMER_WAIT", Kind::Number),
    ]);
    ComputedTable::new(columns(&all), |rows| {
        let digests = read(host, Measured::by_digest);
        rows.charge(digests.len() * size_of::<usize>())?;
        digests.iter().filter_map(|digest| digest.row()).try_for_each(|row| rows.put(of_digest(row)))
    })
}

/// Schema, hash and text of a digest.
fn names(row: &DigestRow) -> [Value; 3] {
    let text = row.text.clone();
    let hash = text.map(|text| Digest { text }.hash());
    [row.schema.as_deref(), hash.as_deref(), row.text.as_deref()].map(text_or_null)
}

fn of_digest(row: DigestRow) -> Vec<Value> {
    let mut cells = Vec::from(names(&row));
    cells.extend(sum_cells(&row.figures));
    cells.extend([moment(row.seen_us.0), moment(row.seen_us.1)]);
    cells.extend([0.95, 0.99, 0.999].map(|share| Value::UInt(row.histogram.quantile_ps(share))));
    let sample = String::from_utf8_lossy(&row.sample);
    cells.push(text_or_null(row.text.is_some().then_some(&*sample)));
    cells.push(moment(row.sample_seen_us));
    cells.push(Value::UInt(row.sample_wait_ns.saturating_mul(1000)));
    cells
}

const OF_HISTOGRAM: [(&str, Kind); 6] = [
    ("BUCKET_NUMBER", Kind::SmallNumber),
    ("BUCKET_TIMER_LOW", Kind::Number),
    ("BUCKET_TIMER_HIGH", Kind::Number),
    ("COUNT_BUCKET", Kind::Number),
    ("COUNT_BUCKET_AND_LOWER", Kind::Number),
    ("BUCKET_QUANTILE", Kind::Share),
];

/// Returns the cells of all buckets with these counts.
fn buckets(counts: &[u64]) -> impl Iterator<Item = [Value; 6]> + '_ {
    let all: u64 = counts.iter().sum();
    let mut below = 0;
    counts.iter().enumerate().map(move |(bucket, count)| {
        below += count;
        let share = if all == 0 { 0.0 } else { below as f64 / all as f64 };
        [
            Value::UInt(bucket as u64),
            Value::UInt(bucket_low_ps(bucket)),
            Value::UInt(bucket_low_ps(bucket + 1)),
            Value::UInt(*count),
            Value::UInt(below),
            Value::Double((share * 1e6).round() / 1e6),
        ]
    })
}

/// `events_statements_histogram_by_digest`
pub fn histogram_by_digest(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all = vec![("SCHEMA_NAME", Kind::TextOrNull(64)), ("DIGEST", Kind::TextOrNull(64))];
    all.extend(OF_HISTOGRAM);
    ComputedTable::new(columns(&all), |rows| {
        let digests = read(host, Measured::by_digest);
        rows.charge(digests.len() * size_of::<usize>())?;
        for row in digests.iter().filter_map(|digest| digest.row()) {
            let [schema, hash, _] = names(&row);
            let counts: Vec<u64> = (0..BUCKETS).map(|bucket| row.histogram.count(bucket)).collect();
            for cells in buckets(&counts) {
                rows.put([schema.clone(), hash.clone()].into_iter().chain(cells).collect())?;
            }
        }
        Ok(())
    })
}

/// `events_statements_histogram_global`
pub fn histogram_global(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(&OF_HISTOGRAM), |rows| {
        let counts = read(host, Measured::histogram);
        buckets(&counts).try_for_each(|cells| rows.put(cells.into()))
    })
}
