//! PARTITIONS of information_schema: one row for each partition or subpartition, and one for a
//! table without partitions.

use super::definition::{Definition, Dictionary, Rows};
use super::objects::status_of;
use crate::error::Result;
use crate::show::{partition_expression, partition_method, partition_values};
use engine::{Partition, Partitioning, Subpartition, Table};
use types::Value;

pub(super) const TABLES: &[Definition] = &[Definition { name: "PARTITIONS", fill }];

fn text(text: &str) -> Value {
    Value::text(text)
}

fn optional(value: Option<String>) -> Value {
    value.map_or(Value::Null, |value| Value::text(&value))
}

/// Returns the columns that describe a partition, from PARTITION_NAME to PARTITION_DESCRIPTION.
fn description(of: &Partitioning, at: usize, sub: Option<(usize, &Subpartition)>) -> Vec<Value> {
    let partition: &Partition = &of.partitions[at];
    let has_values = !partition.values.is_empty();
    let function = of.sub.as_ref().map(|(function, _)| function);
    vec![
        text(&partition.name),
        sub.map_or(Value::Null, |(_, sub)| text(&sub.name)),
        Value::UInt(at as u64 + 1),
        sub.map_or(Value::Null, |(place, _)| Value::UInt(place as u64 + 1)),
        // SECONDARY_LOAD: nothing is loaded into a secondary engine.
        text("0"),
        text(&partition_method(&of.by)),
        optional(function.map(partition_method)),
        optional(partition_expression(&of.by)),
        optional(function.and_then(partition_expression)),
        optional(has_values.then(|| partition_values(of, at))),
    ]
}

/// The number of columns that describe a partition.
const DESCRIBED: usize = 10;

/// Returns the comment of a partition, or that of a subpartition, which has its partition's where
/// it has none of its own.
fn comment(own: &[(String, String)], of_partition: &[(String, String)]) -> Value {
    let comment = own.iter().chain(of_partition).find(|(name, _)| name == "COMMENT");
    text(comment.map_or("", |(_, comment)| comment))
}

fn fill(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        rows.extend(rows_of(dictionary, &table))?;
    }
    Ok(())
}

fn rows_of(dictionary: &Dictionary<'_>, table: &Table) -> Vec<Vec<Value>> {
    // These are the values of TABLES from ENGINE on. They are about the whole table, whose rows are
    // in one tree.
    let status = status_of(dictionary.engine, table);
    let row = |described: Vec<Value>, shown: &[Value], comment: Value, nodegroup: &str| {
        let mut row = vec![text("def"), text(&table.def.schema), text(&table.def.name)];
        row.extend(described);
        row.extend_from_slice(shown);
        row.extend([comment, text(nodegroup), Value::Null]);
        row
    };
    // TABLE_ROWS to DATA_FREE, CREATE_TIME to CHECK_TIME, and CHECKSUM.
    let figures: Vec<Value> =
        status[3..9].iter().chain(&status[10..13]).chain(&status[14..15]).cloned().collect();
    let Some(of) = &table.def.partitioning else {
        return vec![row(vec![Value::Null; DESCRIBED], &figures, text(""), "")];
    };
    // The rows of a single partition are estimated.
    let mut shares = (dictionary.asked.partition_shares)(table).unwrap_or_default().into_iter();
    let mut part = || part_of(&figures, shares.next().unwrap_or(0.0));
    let mut made = Vec::new();
    for (at, partition) in of.partitions.iter().enumerate() {
        if partition.subpartitions.is_empty() {
            let comment = comment(&partition.options, &[]);
            made.push(row(description(of, at, None), &part(), comment, "default"));
        }
        for sub in partition.subpartitions.iter().enumerate() {
            let comment = comment(&sub.1.options, &partition.options);
            made.push(row(description(of, at, Some(sub)), &part(), comment, "default"));
        }
    }
    made
}

/// Returns the figures of a partition that has this share of the table's rows: TABLE_ROWS,
/// AVG_ROW_LENGTH, DATA_LENGTH, MAX_DATA_LENGTH, INDEX_LENGTH, DATA_FREE, and those that are the
/// table's.
fn part_of(figures: &[Value], share: f64) -> Vec<Value> {
    let part = |at: usize| match figures[at] {
        Value::UInt(of_table) => (of_table as f64 * share).round() as u64,
        _ => 0,
    };
    let (rows, data_bytes) = (part(0), part(2));
    let average = data_bytes.checked_div(rows).unwrap_or(0);
    let mut figures = figures.to_vec();
    for (figure, value) in figures.iter_mut().zip([rows, average, data_bytes, 0, part(4), 0]) {
        *figure = Value::UInt(value);
    }
    figures
}
