//! Conditions that tell which partition a row belongs to, as expressions over its columns.
//!
//! A partition is defined by its condition. Selecting, dropping, truncating and exchanging
//! partitions, and the check that a row belongs to one, all compile the text of the condition like
//! any other expression of a definition. Where MySQL counts NULL as less than every value, the
//! condition says so and is not NULL.

use crate::error::{Result, SqlError};
use crate::quoting::quoted;
use engine::{PartitionFunction, PartitionKind, Partitioning, TableDef};

/// Returns the condition for the rows of a partition, or of one of its subpartitions. Returns
/// `None` for KEY, which hashes the stored form of the values, and for SYSTEM_TIME.
pub(super) fn condition(partitioning: &Partitioning, at: usize, sub: Option<usize>) -> Option<String> {
    let of_partition = match partitioning.by.kind {
        PartitionKind::Range => range(partitioning, at),
        PartitionKind::List if partitioning.partitions[at].is_default() => others(partitioning),
        PartitionKind::List => list(&partitioning.by, &partitioning.partitions[at].values),
        PartitionKind::Hash => hash(&partitioning.by, at, partitioning.partitions.len())?,
        PartitionKind::Key | PartitionKind::SystemTime => None?,
    };
    let (Some(sub), Some((function, _))) = (sub, &partitioning.sub) else { return Some(of_partition) };
    let of_sub = match function.kind {
        PartitionKind::Hash => hash(function, sub, partitioning.partitions[at].subpartitions.len())?,
        _ => None?,
    };
    Some(format!("({of_partition} AND {of_sub})"))
}

/// Returns the condition for rows that belong to some partition, or `None` if all rows do.
pub(crate) fn condition_of_any(partitioning: &Partitioning) -> Option<String> {
    let last = partitioning.partitions.len() - 1;
    match partitioning.by.kind {
        _ if !partitioning.leaves_rows_out() => None,
        PartitionKind::Range => Some(below(&partitioning.by, &partitioning.partitions[last].values[0])),
        _ => {
            let all: Vec<_> = (0..=last).filter_map(|at| condition(partitioning, at, None)).collect();
            Some(format!("({})", all.join(" OR ")))
        }
    }
}

/// The position of a partition and, if one of its subpartitions is meant, the position of that in
/// it.
pub(super) type PartitionPlace = (usize, Option<usize>);

/// Returns the partition or subpartition with this name.
pub(super) fn named(partitioning: &Partitioning, name: &str) -> Option<PartitionPlace> {
    if let Some(at) = partitioning.partition(name) {
        return Some((at, None));
    }
    partitioning.partitions.iter().enumerate().find_map(|(at, partition)| {
        let subs = &partition.subpartitions;
        let sub = subs.iter().position(|sub| sub.name.eq_ignore_ascii_case(name))?;
        Some((at, Some(sub)))
    })
}

/// Builds error 1735 (`ER_UNKNOWN_PARTITION`), for a name that no partition has.
pub(super) fn unknown_partition(name: &str, table: &str) -> SqlError {
    SqlError::new(1735, format!("Unknown partition '{name}' in table '{table}'"))
}

/// Builds error 1235 for a partition by KEY or SYSTEM_TIME, whose rows cannot be told here.
pub(super) fn rows_of_key() -> SqlError {
    SqlError::not_supported("choosing rows by partitions of KEY or SYSTEM_TIME")
}

/// Returns the condition for the rows of the partitions that a statement names with PARTITION
/// (...).
///
/// # Errors
/// Returns 1747 for a table that is not partitioned, 1735 for a name that no partition has, and
/// 1235 for partitions by KEY or SYSTEM_TIME.
pub(crate) fn chosen_condition(def: &TableDef, chosen: &[String]) -> Result<String> {
    let Some(partitioning) = &def.partitioning else {
        return Err(SqlError::new(1747, "PARTITION () clause on non partitioned table"));
    };
    let one = |name: &String| {
        let place = named(partitioning, name).ok_or_else(|| unknown_partition(name, &def.name))?;
        condition(partitioning, place.0, place.1).ok_or_else(rows_of_key)
    };
    let conditions = chosen.iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(format!("({})", conditions.join(" OR ")))
}

/// Returns the terms that the partitioning compares: one expression, or the columns.
fn terms(function: &PartitionFunction) -> Vec<String> {
    match &function.expression {
        Some(expression) => vec![expression.clone()],
        None => function.columns.iter().map(|column| quoted(column)).collect(),
    }
}

/// Returns the condition for the DEFAULT partition, which has all rows that no other partition has.
fn others(partitioning: &Partitioning) -> String {
    let named = partitioning.partitions.iter().filter(|partition| !partition.is_default());
    let conditions: Vec<_> = named.map(|partition| list(&partitioning.by, &partition.values)).collect();
    match conditions.is_empty() {
        true => "(1 = 1)".to_owned(),
        // For NULL a list's condition may be NULL, which counts as false.
        false => format!("(NOT COALESCE({}, 0))", conditions.join(" OR ")),
    }
}

fn range(partitioning: &Partitioning, at: usize) -> String {
    let by = &partitioning.by;
    let upper = below(by, &partitioning.partitions[at].values[0]);
    match at.checked_sub(1) {
        None => upper,
        Some(before) => {
            let lower = below(by, &partitioning.partitions[before].values[0]);
            format!("({upper} AND NOT {lower})")
        }
    }
}

/// Returns the condition that a row is less than a bound: the first column that differs decides,
/// and NULL is less than every value.
fn below(by: &PartitionFunction, bound: &[String]) -> String {
    let terms = terms(by);
    let mut condition = String::new();
    for (term, value) in terms.iter().zip(bound).rev() {
        if value == "MAXVALUE" {
            condition = "(1 = 1)".to_owned();
            continue;
        }
        let is_less = format!("{term} < {value} OR {term} IS NULL");
        condition = match condition.is_empty() {
            true => format!("({is_less})"),
            false => format!("({is_less} OR ({term} = {value} AND {condition}))"),
        };
    }
    condition
}

fn list(by: &PartitionFunction, values: &[Vec<String>]) -> String {
    let terms = terms(by);
    let equals = |tuple: &Vec<String>| {
        let each = terms.iter().zip(tuple).map(|(term, value)| match value.as_str() {
            "NULL" => format!("{term} IS NULL"),
            value => format!("({term} IS NOT NULL AND {term} = {value})"),
        });
        format!("({})", each.collect::<Vec<_>>().join(" AND "))
    };
    format!("({})", values.iter().map(equals).collect::<Vec<_>>().join(" OR "))
}

/// Returns the condition that HASH puts a row into partition `at` of `count`. NULL counts as the
/// least BIGINT.
fn hash(function: &PartitionFunction, at: usize, count: usize) -> Option<String> {
    let expression = function.expression.as_ref()?;
    if !function.linear {
        let of_null = i64::MIN.unsigned_abs() % count as u64;
        let of_value = format!("ABS(MOD(CAST({expression} AS SIGNED), {count}))");
        return Some(format!("(IF({expression} IS NULL, {of_null}, {of_value}) = {at})"));
    }
    // The lowest bits of the least BIGINT are 0.
    let value = format!("COALESCE({expression}, 0)");
    // The lowest bits choose the partition. Where there is none with that number, one bit less
    // does.
    let mask = count.next_power_of_two() - 1;
    let (bits, fewer) = (format!("({value} & {mask})"), format!("({value} & {})", mask >> 1));
    Some(format!("(IF({bits} >= {count}, {fewer}, {bits}) = {at})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Partition, PartitionForm};

    fn partitioning(kind: PartitionKind, columns: &[&str], values: &[&[&[&str]]]) -> Partitioning {
        let text = |text: &&str| (*text).to_owned();
        let partition = |(at, values): (usize, &&[&[&str]])| Partition {
            name: format!("p{at}"),
            values: values.iter().map(|tuple| tuple.iter().map(text).collect()).collect(),
            options: Vec::new(),
            subpartitions: Vec::new(),
        };
        let columns = columns.iter().map(text).collect();
        Partitioning {
            by: PartitionFunction { kind, linear: false, algorithm_1: false, expression: None, columns },
            form: PartitionForm::List,
            sub: None,
            partitions: values.iter().enumerate().map(partition).collect(),
        }
    }

    #[test]
    fn null_is_below_every_bound() {
        let of = partitioning(PartitionKind::Range, &["a"], &[&[&["5"]], &[&["MAXVALUE"]]]);
        assert_eq!(condition(&of, 0, None).unwrap(), "(`a` < 5 OR `a` IS NULL)");
        assert_eq!(condition(&of, 1, None).unwrap(), "((1 = 1) AND NOT (`a` < 5 OR `a` IS NULL))");
        assert_eq!(condition_of_any(&of), None);
    }

    #[test]
    fn the_first_column_that_differs_decides() {
        let of = partitioning(PartitionKind::Range, &["a", "b"], &[&[&["5", "'x'"]]]);
        let bound = "(`a` < 5 OR `a` IS NULL OR (`a` = 5 AND (`b` < 'x' OR `b` IS NULL)))";
        assert_eq!(condition_of_any(&of).unwrap(), bound);
    }

    #[test]
    fn a_list_may_have_null() {
        let of = partitioning(PartitionKind::List, &["a"], &[&[&["NULL"], &["1"]]]);
        assert_eq!(condition_of_any(&of).unwrap(), "(((`a` IS NULL) OR ((`a` IS NOT NULL AND `a` = 1))))");
    }

    #[test]
    fn linear_hash_takes_one_bit_less_where_there_is_no_partition() {
        let mut of = partitioning(PartitionKind::Hash, &[], &[&[], &[], &[]]);
        of.by.linear = true;
        of.by.expression = Some("`a`".to_owned());
        let text = "(IF((COALESCE(`a`, 0) & 3) >= 3, (COALESCE(`a`, 0) & 1), (COALESCE(`a`, 0) & 3)) = 2)";
        assert_eq!(condition(&of, 2, None).unwrap(), text);
    }
}
