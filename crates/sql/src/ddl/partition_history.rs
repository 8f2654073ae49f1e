//! Which rows of the past are in which partition of MariaDB's `PARTITION BY SYSTEM_TIME`.
//!
//! In: the partitioning, and for LIMIT the rows of the table. Out: for each partition the condition
//! of its rows. A partition of history has the rows that ceased to be current in one span of time,
//! so its end is a moment. INTERVAL says the ends. With LIMIT, a partition ends before the first
//! statement that found it full; the rows tell when that was, because all rows that a statement
//! makes past have the same end. What the rows no longer tell, because some of them were removed,
//! is kept in the definition ([`PartitionFunction::columns`]).

use super::partition::Maker;
use super::partition_rows::{PartitionPlace, condition, rows_of_key};
use crate::detached::{DetachedSettings, constant};
use crate::error::Result;
use crate::parse::parse_expression;
use crate::quoting::quoted;
use engine::{
    Direction, IndexRef, Isolation, KeyRange, LockMode, Partition, PartitionFunction, PartitionKind,
    Partitioning, TableDef,
};
use std::collections::BTreeMap;
use types::{DateTime, TypeCode, Value, Zone};

/// The number of microseconds in a second.
const SECOND_US: i64 = 1_000_000;
/// The end of rows that are current, without its fraction.
const NEVER_US: i64 = i32::MAX as i64 * SECOND_US;

/// How history goes on to the next partition.
enum Rotation {
    /// Not at all: the first partition has everything.
    None,
    /// When a partition has this many rows.
    Limit(u64),
    /// After this time, for instance `1 DAY`.
    Interval(String),
}

fn rotation(by: &PartitionFunction) -> Rotation {
    let text = by.expression.as_deref().unwrap_or_default();
    let text = text.strip_suffix(" AUTO").unwrap_or(text);
    if let Some(limit) = text.strip_prefix("LIMIT ").and_then(|limit| limit.parse().ok()) {
        return Rotation::Limit(limit);
    }
    match text.strip_prefix("INTERVAL ") {
        Some(rest) => {
            Rotation::Interval(rest.split_once(" STARTS ").map_or(rest, |(interval, _)| interval).to_owned())
        }
        None => Rotation::None,
    }
}

/// Reports whether the source adds partitions of history when it needs them (`AUTO`), which it does
/// not log.
fn is_auto(by: &PartitionFunction) -> bool {
    by.kind == PartitionKind::SystemTime && by.expression.as_ref().is_some_and(|text| text.ends_with("AUTO"))
}

/// Returns the partitioning with the partitions of history that the source must have added by
/// itself, because a statement names them.
pub(super) fn with_named(old: &Partitioning, names: &[String]) -> Partitioning {
    let mut made = old.clone();
    if !is_auto(&old.by) {
        return made;
    }
    let number = |name: &String| name.strip_prefix('p').and_then(|number| number.parse::<u64>().ok());
    let unknown = names.iter().filter(|name| old.partition(name).is_none());
    let highest = unknown.filter_map(number).max();
    let next = old.partitions.iter().filter_map(|partition| number(&partition.name)).max();
    let next = next.map_or(0, |number| number + 1);
    let most = crate::parse::partition::MOST_PARTITIONS;
    for number in next..highest.map_or(next, |highest| highest.saturating_add(1)).min(next + most) {
        let (subpartitions, options) = (Vec::new(), Vec::new());
        let values = vec![vec!["HISTORY".to_owned()]];
        let partition = Partition { name: format!("p{number}"), values, options, subpartitions };
        made.partitions.insert(made.partitions.len() - 1, partition);
    }
    made
}

/// A span of time whose rows are in one partition. It begins behind the end of the span before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The last moment, in microseconds of Unix time.
    last: i64,
    /// The position of the partition.
    partition: usize,
}

/// Returns the partition of `count` into which a statement puts rows that it makes past, if the
/// partitions have this many rows.
fn place(rows: &[u64], limit: u64) -> usize {
    let mut at = 0;
    for (next, has) in rows.iter().enumerate() {
        if *has == 0 {
            break;
        }
        at = next;
    }
    let is_full = rows.get(at).is_some_and(|has| *has >= limit);
    if is_full && at + 1 < rows.len() { at + 1 } else { at }
}

/// Assigns rows of the past, which are counted by their moment, to partitions. `kept` are the spans
/// that are known.
fn spans(past: &BTreeMap<i64, u64>, kept: &[Span], count: usize, limit: u64) -> Vec<Span> {
    let (mut rows, mut spans) = (vec![0; count], kept.to_vec());
    for (moment, has) in past {
        let known = kept.iter().find(|span| *moment <= span.last).map(|span| span.partition);
        let partition = known.unwrap_or_else(|| place(&rows, limit));
        if let Some(counted) = rows.get_mut(partition) {
            *counted += has;
        }
        match spans.last_mut() {
            _ if known.is_some() => {}
            Some(last) if last.partition == partition => last.last = *moment,
            _ => spans.push(Span { last: *moment, partition }),
        }
    }
    spans
}

impl Maker<'_> {
    fn number(&self, text: &str) -> Result<i64> {
        let settings = DetachedSettings {
            zone: self.settings.zone,
            now_us: self.settings.now_us,
            strict: false,
            replicated: true,
        };
        let tree = parse_expression(text.as_bytes(), crate::lexer::LexMode::default())?;
        Ok(match constant(self.engine, &tree, settings)? {
            Value::Int(number) => number,
            Value::UInt(number) => i64::try_from(number).unwrap_or(i64::MAX),
            _ => return Err(rows_of_key()),
        })
    }

    /// Fills in what a new partitioning by SYSTEM_TIME keeps besides its text: for INTERVAL the
    /// second at which the first partition begins; for LIMIT the spans of time. All rows that were
    /// past before there were partitions are in the first one.
    pub(super) fn begin_history(&self, def: &TableDef, by: &mut PartitionFunction) -> Result<()> {
        by.columns = match rotation(by) {
            Rotation::None => Vec::new(),
            Rotation::Limit(_) => {
                let last = self.past_rows(def)?.last_key_value().map(|(last, _)| format!("{last} 0"));
                last.into_iter().collect()
            }
            Rotation::Interval(_) => {
                let text = by.expression.as_deref().unwrap_or_default();
                let start = text.split_once(" STARTS ").map_or("", |(_, start)| start);
                let start = start.strip_suffix(" AUTO").unwrap_or(start);
                vec![self.number(&format!("CAST(FLOOR(UNIX_TIMESTAMP({start})) AS SIGNED)"))?.to_string()]
            }
        };
        Ok(())
    }

    /// Finds the spans of time of the partitions of history, with LIMIT by reading the whole table.
    /// Other partitionings have none.
    pub(super) fn history(&self, def: &TableDef, of: &Partitioning) -> Result<Vec<Span>> {
        if of.by.kind != PartitionKind::SystemTime {
            return Ok(Vec::new());
        }
        // With AUTO, the source may have further partitions, which have what comes later.
        let further = usize::from(is_auto(&of.by));
        let count = of.partitions.len().saturating_sub(1) + further;
        let mut found = Vec::new();
        match rotation(&of.by) {
            Rotation::None => found.push(Span { last: NEVER_US - 1, partition: 0 }),
            Rotation::Interval(interval) => {
                let start = of.by.columns.first().and_then(|start| start.parse::<i64>().ok());
                let mut start = start.ok_or_else(rows_of_key)?;
                for partition in 0..count.saturating_sub(1) {
                    let next = format!("FROM_UNIXTIME({start}) + INTERVAL {interval}");
                    start = self.number(&format!("CAST(FLOOR(UNIX_TIMESTAMP({next})) AS SIGNED)"))?;
                    found.push(Span { last: start.saturating_mul(SECOND_US) - 1, partition });
                }
                found.push(Span { last: NEVER_US - 1, partition: count.saturating_sub(1) });
            }
            Rotation::Limit(limit) => {
                let kept: Vec<Span> = of.by.columns.iter().filter_map(|text| read_span(text)).collect();
                let past = self.past_rows(def)?;
                found = spans(&past, &kept, count + further * past.len(), limit);
            }
        }
        Ok(found)
    }

    /// Counts the rows of the past by the moment at which they ceased to be current.
    fn past_rows(&self, def: &TableDef) -> Result<BTreeMap<i64, u64>> {
        let mut counts = BTreeMap::new();
        let table = self.engine.catalog().table(&def.schema, &def.name);
        let (Some(table), Some((_, end))) = (table, def.row_period()) else { return Ok(counts) };
        let mut transaction = self.engine.begin(Isolation::RepeatableRead);
        let all = KeyRange::all();
        let mut scan =
            transaction.scan(&table, IndexRef::Primary, all, Direction::Forward, LockMode::Snapshot)?;
        while let Some(row) = scan.next(&mut transaction)? {
            let values = table.layout.decode_all(&row.image).map_err(engine::EngineError::from)?;
            if let Some(Value::Timestamp { seconds, micros }) = values.get(end) {
                let at = seconds.saturating_mul(SECOND_US) + i64::from(*micros);
                if at < NEVER_US {
                    *counts.entry(at).or_insert(0) += 1;
                }
            }
        }
        transaction.rollback();
        Ok(counts)
    }

    /// Returns the condition for the rows of a partition, or of one of its subpartitions. `spans`
    /// are those of [`Maker::history`].
    ///
    /// # Errors
    /// Returns 1235 where the rows cannot be told.
    pub(super) fn condition(
        &self,
        def: &TableDef,
        of: &Partitioning,
        (at, sub): PartitionPlace,
        spans: &[Span],
    ) -> Result<String> {
        if of.by.kind != PartitionKind::SystemTime {
            return condition(def, of, (at, sub), self.settings.of_mariadb).ok_or_else(rows_of_key);
        }
        let (_, end) = def.row_period().ok_or_else(rows_of_key)?;
        if sub.is_some() || def.columns[end].ty.code != TypeCode::Timestamp2 {
            return Err(rows_of_key());
        }
        let term = format!("UNIX_TIMESTAMP({})", quoted(&def.columns[end].name));
        let until =
            |last: i64| format!("{term} <= {}.{:06}", last.div_euclid(SECOND_US), last.rem_euclid(SECOND_US));
        if at + 1 == of.partitions.len() {
            return Ok(format!("(NOT {})", until(NEVER_US - 1)));
        }
        let mut parts = Vec::new();
        for (number, span) in spans.iter().enumerate().filter(|(_, span)| span.partition == at) {
            parts.push(match number.checked_sub(1).map(|before| spans[before].last) {
                None => format!("({})", until(span.last)),
                Some(before) => format!("({} AND NOT {})", until(span.last), until(before)),
            });
        }
        Ok(if parts.is_empty() { "(1 = 0)".to_owned() } else { format!("({})", parts.join(" OR ")) })
    }

    /// Writes down in `made` what the rows tell of the partitions of `old` before some of the rows
    /// go, or before there are more partitions. `spans` are those of `old`. `emptied` are the
    /// positions of the partitions whose rows go; `drops` says that the partitions go, too.
    pub(super) fn keep_history(
        &self,
        old: &Partitioning,
        spans: &[Span],
        made: &mut Partitioning,
        emptied: &[usize],
        drops: bool,
    ) {
        match rotation(&old.by) {
            Rotation::None => {}
            Rotation::Limit(_) => {
                let left = spans.iter().filter(|span| !emptied.contains(&span.partition));
                let shown = |span: &Span| {
                    let before = emptied.iter().filter(|at| drops && **at < span.partition).count();
                    format!("{} {}", span.last, span.partition - before)
                };
                made.by.columns = left.map(shown).collect();
            }
            Rotation::Interval(interval) => {
                // MariaDB drops only the oldest partitions.
                let last = emptied.iter().max().and_then(|last| spans.get(*last));
                let Some(last) = last.filter(|last| drops && last.last < NEVER_US - 1) else { return };
                let start_s = (last.last + 1) / SECOND_US;
                let auto = if is_auto(&old.by) { " AUTO" } else { "" };
                let start = shown(start_s, self.settings.zone);
                made.by.expression = Some(format!("INTERVAL {interval} STARTS TIMESTAMP'{start}'{auto}"));
                made.by.columns = vec![start_s.to_string()];
            }
        }
    }
}

/// Reads a span as the definition keeps it: its last moment and the position of its partition.
fn read_span(text: &str) -> Option<Span> {
    let (last, partition) = text.split_once(' ')?;
    Some(Span { last: last.parse().ok()?, partition: partition.parse().ok()? })
}

/// Returns a second of Unix time as a clock in the zone shows it.
fn shown(at_s: i64, zone: Zone) -> String {
    let text = Value::DateTime(DateTime::from_unix(at_s, 0, zone)).text_bytes(None).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitioning(text: &str, names: &[&str]) -> Partitioning {
        let of = |name: &&str| Partition {
            name: (*name).to_owned(),
            values: vec![vec![if *name == "pn" { "CURRENT" } else { "HISTORY" }.to_owned()]],
            options: Vec::new(),
            subpartitions: Vec::new(),
        };
        let by = PartitionFunction {
            kind: PartitionKind::SystemTime,
            linear: false,
            algorithm_1: false,
            expression: Some(text.to_owned()),
            columns: Vec::new(),
        };
        let partitions = names.iter().map(of).collect();
        Partitioning { by, form: engine::PartitionForm::List, sub: None, partitions }
    }

    fn names(of: &Partitioning) -> Vec<&str> {
        of.partitions.iter().map(|partition| partition.name.as_str()).collect()
    }

    #[test]
    fn partitions_that_the_source_added_by_itself_are_known_when_they_are_named() {
        let auto = partitioning("INTERVAL 1 HOUR STARTS TIMESTAMP'2020-01-01 00:00:00' AUTO", &["p0", "pn"]);
        assert_eq!(names(&with_named(&auto, &["p2".to_owned()])), ["p0", "p1", "p2", "pn"]);
        assert_eq!(names(&with_named(&auto, &["p0".to_owned(), "other".to_owned()])), ["p0", "pn"]);
        let fixed = partitioning("LIMIT 5", &["p0", "pn"]);
        assert_eq!(names(&with_named(&fixed, &["p2".to_owned()])), ["p0", "pn"]);
    }

    #[test]
    fn a_full_partition_is_followed_by_the_next_one() {
        assert_eq!(place(&[0, 0], 3), 0);
        assert_eq!(place(&[2, 0], 3), 0);
        assert_eq!(place(&[4, 0], 3), 1);
        assert_eq!(place(&[4, 9], 3), 1, "there is no further one");
        assert_eq!(place(&[0, 5, 0], 3), 0, "the first one was emptied");
        let past = BTreeMap::from([(10, 4), (20, 2), (30, 3), (40, 1)]);
        let found = spans(&past, &[Span { last: 5, partition: 0 }], 3, 3);
        let of = |last, partition| Span { last, partition };
        assert_eq!(found, [of(10, 0), of(30, 1), of(40, 2)]);
        // The first partition was emptied, so that it takes what comes next.
        let later = BTreeMap::from([(20, 2), (30, 3), (50, 1)]);
        assert_eq!(spans(&later, &[of(30, 1)], 3, 3), [of(30, 1), of(50, 0)]);
    }

    #[test]
    fn the_text_says_how_history_goes_on() {
        let of = |text: &str| rotation(&partitioning(text, &["p0", "pn"]).by);
        assert!(matches!(of(""), Rotation::None));
        assert!(matches!(of("LIMIT 7 AUTO"), Rotation::Limit(7)));
        let interval = of("INTERVAL '1:30' HOUR_MINUTE STARTS TIMESTAMP'2020-01-01 00:00:00'");
        assert!(matches!(interval, Rotation::Interval(text) if text == "'1:30' HOUR_MINUTE"));
    }
}
