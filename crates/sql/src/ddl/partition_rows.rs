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
/// `None` for SYSTEM_TIME, and for KEY without columns in a table without a key.
pub(super) fn condition(
    def: &TableDef,
    partitioning: &Partitioning,
    (at, sub): PartitionPlace,
    of_mariadb: bool,
) -> Option<String> {
    let of_partition = of_values(partitioning, at)
        .or_else(|| hashed(def, &partitioning.by, (at, partitioning.partitions.len()), of_mariadb))?;
    let (Some(sub), Some((function, _))) = (sub, &partitioning.sub) else { return Some(of_partition) };
    let count = partitioning.partitions[at].subpartitions.len();
    let of_sub = hashed(def, function, (sub, count), of_mariadb)?;
    Some(format!("({of_partition} AND {of_sub})"))
}

/// The conditions that tell the partitions of a table apart.
pub(crate) struct PartitionTexts {
    /// For each partition, the condition for its rows.
    pub partitions: Vec<String>,
    /// For each place of a subpartition, the condition that a row is in such a place.
    pub subpartitions: Vec<String>,
    /// For RANGE, the condition that a row is below the bound of each partition.
    pub below: Vec<String>,
    /// For RANGE and LIST, the first term that is compared.
    pub first_term: Option<String>,
}

/// Returns the conditions that tell the partitions of a table apart. `None` for SYSTEM_TIME, and
/// for KEY without columns in a table without a key.
pub(crate) fn partition_texts(def: &TableDef, of: &Partitioning) -> Option<PartitionTexts> {
    let count = of.partitions.len();
    let of_place = |at| of_values(of, at).or_else(|| hashed(def, &of.by, (at, count), false));
    let of_subs = match &of.sub {
        None => Vec::new(),
        Some((function, _)) => {
            let subs = of.partitions[0].subpartitions.len();
            (0..subs).map(|sub| hashed(def, function, (sub, subs), false)).collect::<Option<_>>()?
        }
    };
    let below = match of.by.kind {
        PartitionKind::Range => {
            of.partitions.iter().map(|partition| below(&of.by, &partition.values[0])).collect()
        }
        _ => Vec::new(),
    };
    let is_by_values = matches!(of.by.kind, PartitionKind::Range | PartitionKind::List);
    Some(PartitionTexts {
        partitions: (0..count).map(of_place).collect::<Option<_>>()?,
        subpartitions: of_subs,
        below,
        first_term: if is_by_values { terms(&of.by).into_iter().next() } else { None },
    })
}

/// Returns the condition for a partition that is defined by its values, or `None` for others.
fn of_values(partitioning: &Partitioning, at: usize) -> Option<String> {
    match partitioning.by.kind {
        PartitionKind::Range => Some(range(partitioning, at)),
        PartitionKind::List if partitioning.partitions[at].is_default() => Some(others(partitioning)),
        PartitionKind::List => Some(list(&partitioning.by, &partitioning.partitions[at].values)),
        PartitionKind::Hash | PartitionKind::Key | PartitionKind::SystemTime => None,
    }
}

/// Returns the condition that HASH or KEY puts a row into partition `at` of `count`.
fn hashed(
    def: &TableDef,
    function: &PartitionFunction,
    (at, count): (usize, usize),
    of_mariadb: bool,
) -> Option<String> {
    match function.kind {
        PartitionKind::Hash => hash(function, at, count),
        PartitionKind::Key => key(def, function, (at, count), of_mariadb),
        _ => None,
    }
}

/// Returns the condition that KEY puts a row into partition `at` of `count`. Without columns, KEY
/// is over the primary key, or over the first unique key without NULL. The columns count in the
/// order in which the table has them.
fn key(
    def: &TableDef,
    function: &PartitionFunction,
    (at, count): (usize, usize),
    of_mariadb: bool,
) -> Option<String> {
    let is_never_null =
        |index: &&engine::IndexDef| index.columns.iter().all(|part| !def.columns[part.column].nullable);
    let unique = || def.indexes.iter().filter(|index| index.unique).find(is_never_null);
    let mut columns: Vec<usize> = match function.columns.is_empty() {
        false => function.columns.iter().map(|column| def.column(column)).collect::<Option<_>>()?,
        true => {
            let parts = def.primary.as_ref().or_else(|| unique().map(|index| &index.columns))?;
            parts.iter().map(|part| part.column).collect()
        }
    };
    columns.sort_unstable();
    let columns: Vec<String> = columns.into_iter().map(|at| quoted(&def.columns[at].name)).collect();
    let (algorithm_1, linear) = (u8::from(function.algorithm_1), u8::from(function.linear));
    let of_mariadb = u8::from(of_mariadb);
    let name = quoted(crate::expr::PARTITION_BY_KEY);
    Some(format!("({name}({algorithm_1}, {linear}, {count}, {of_mariadb}, {}) = {at})", columns.join(", ")))
}

/// Returns the condition for rows that belong to some partition, or `None` if all rows do.
pub(crate) fn condition_of_any(partitioning: &Partitioning) -> Option<String> {
    let last = partitioning.partitions.len() - 1;
    match partitioning.by.kind {
        _ if !partitioning.leaves_rows_out() => None,
        PartitionKind::Range => Some(below(&partitioning.by, &partitioning.partitions[last].values[0])),
        _ => {
            let all: Vec<_> = (0..=last).filter_map(|at| of_values(partitioning, at)).collect();
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

/// Builds error 1235 for a partition whose rows cannot be told here.
pub(super) fn rows_of_key() -> SqlError {
    SqlError::not_supported("choosing rows by such partitions of KEY or SYSTEM_TIME")
}

/// Returns the condition for the rows of the partitions that a statement names with PARTITION
/// (...).
///
/// # Errors
/// Returns 1747 for a table that is not partitioned, 1735 for a name that no partition has, and
/// 1235 for partitions by SYSTEM_TIME.
pub(crate) fn chosen_condition(def: &TableDef, chosen: &[String]) -> Result<String> {
    let Some(partitioning) = &def.partitioning else {
        return Err(SqlError::new(1747, "PARTITION () clause on non partitioned table"));
    };
    let one = |name: &String| {
        let place = named(partitioning, name).ok_or_else(|| unknown_partition(name, &def.name))?;
        condition(def, partitioning, place, false).ok_or_else(rows_of_key)
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
        assert_eq!(of_values(&of, 0).unwrap(), "(`a` < 5 OR `a` IS NULL)");
        assert_eq!(of_values(&of, 1).unwrap(), "((1 = 1) AND NOT (`a` < 5 OR `a` IS NULL))");
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
        assert_eq!(hash(&of.by, 2, 3).unwrap(), text);
    }
}
