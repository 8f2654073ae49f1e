//! MariaDB's sequences: tables of one row, whose columns hold the state of the sequence.

use crate::ast::{ColumnSpec, CreateTable, SequenceSpec, TypeSpec};
use crate::error::{Result, SqlError};
use crate::quoting::{quoted, text_literal};
use engine::{Engine, Table, TableDef};
use std::sync::Arc;
use types::Value;
use types::row::RowLayout;

/// The option that makes a table a sequence.
const OPTION: &str = "SEQUENCE";

/// The columns: the name, whether it is unsigned, and the comment that CREATE SEQUENCE gives it.
const COLUMNS: [(&str, bool, &str); 8] = [
    ("next_not_cached_value", false, ""),
    ("minimum_value", false, ""),
    ("maximum_value", false, ""),
    ("start_value", false, "start value when sequences is created or value if RESTART is used"),
    ("increment", false, "increment value"),
    ("cache_size", true, ""),
    (
        "cycle_option",
        true,
        "0 if no cycles are allowed, 1 if the sequence should begin a new cycle when maximum_value is passed",
    ),
    ("cycle_count", false, "How many cycles have been done"),
];

/// The row of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SequenceRow {
    next: i64,
    minimum: i64,
    maximum: i64,
    start: i64,
    increment: i64,
    cache: i64,
    cycle: bool,
    cycle_count: i64,
}

impl SequenceRow {
    /// Returns the row of a new sequence.
    fn new(spec: &SequenceSpec) -> SequenceRow {
        const USUAL_CACHE: i64 = 1000;
        let increment = spec.increment.unwrap_or(1);
        let (least, greatest) = match increment < 0 {
            true => (i64::MIN + 1, -1),
            false => (SequenceSpec::LEAST, SequenceSpec::GREATEST),
        };
        let (minimum, maximum) = (spec.minimum.unwrap_or(least), spec.maximum.unwrap_or(greatest));
        let start = spec.start.unwrap_or(if increment < 0 { maximum } else { minimum });
        let cache = spec.cache.unwrap_or(USUAL_CACHE);
        let cycle = spec.cycle.unwrap_or(false);
        SequenceRow { next: start, minimum, maximum, start, increment, cache, cycle, cycle_count: 0 }
    }

    /// Returns the row after an ALTER SEQUENCE.
    fn altered(&self, spec: &SequenceSpec) -> SequenceRow {
        let start = spec.start.unwrap_or(self.start);
        SequenceRow {
            next: spec.restart.map_or(self.next, |value| value.unwrap_or(start)),
            minimum: spec.minimum.unwrap_or(self.minimum),
            maximum: spec.maximum.unwrap_or(self.maximum),
            start,
            increment: spec.increment.unwrap_or(self.increment),
            cache: spec.cache.unwrap_or(self.cache),
            cycle: spec.cycle.unwrap_or(self.cycle),
            cycle_count: self.cycle_count,
        }
    }

    /// Reports whether the values fit together, as MariaDB demands.
    fn is_valid(&self) -> bool {
        // An increment of 0 stands for auto_increment_increment, which is 1 by default.
        let upwards = self.increment >= 0;
        let step = self.increment.checked_abs().unwrap_or(i64::MAX).max(1);
        let in_range = self.start >= self.minimum && self.start <= self.maximum;
        let is_limited = self.minimum != i64::MIN && self.maximum != i64::MAX;
        let cache_fits = self.cache >= 0 && self.cache < (i64::MAX - step) / step;
        let next_fits = if upwards { self.next >= self.minimum } else { self.next <= self.maximum };
        self.maximum > self.minimum && in_range && is_limited && cache_fits && next_fits
    }

    fn of_values(values: &[Value]) -> Option<SequenceRow> {
        let number = |at: usize| match values.get(at)? {
            Value::Int(number) => Some(*number),
            Value::UInt(number) => i64::try_from(*number).ok(),
            _ => None,
        };
        Some(SequenceRow {
            next: number(0)?,
            minimum: number(1)?,
            maximum: number(2)?,
            start: number(3)?,
            increment: number(4)?,
            cache: number(5)?,
            cycle: number(6)? != 0,
            cycle_count: number(7)?,
        })
    }

    fn image(&self, def: &TableDef) -> Result<Vec<u8>> {
        let signed = [self.next, self.minimum, self.maximum, self.start, self.increment];
        let mut values: Vec<Value> = signed.map(Value::Int).to_vec();
        values.push(Value::UInt(self.cache.unsigned_abs()));
        values.push(Value::UInt(u64::from(self.cycle)));
        values.push(Value::Int(self.cycle_count));
        let types: Vec<_> = def.columns.iter().map(|column| column.ty.clone()).collect();
        let mut image = Vec::new();
        RowLayout::new(&types)
            .encode(&values, &mut image)
            .map_err(|_| bad_structure(def, "Wrong type of a column"))?;
        Ok(image)
    }
}

fn bad_structure(def: &TableDef, why: &str) -> SqlError {
    let name = def.qualified_name();
    SqlError::new(4086, format!("Sequence '{name}' table structure is invalid ({why})"))
}

fn out_of_range(schema: &str, name: &str) -> SqlError {
    SqlError::new(4085, format!("Sequence '{schema}.{name}' has out of range value for options"))
}

/// Builds MariaDB's error for a table that is no sequence. `code` is the number.
pub(crate) fn not_a_sequence(code: u16, schema: &str, name: &str) -> SqlError {
    SqlError::new(code, format!("'{schema}.{name}' is not a SEQUENCE"))
}

/// Returns the columns of a sequence.
fn columns() -> Vec<ColumnSpec> {
    let column = |(name, unsigned, comment): (&str, bool, &str)| {
        let is_flag = name == "cycle_option";
        let ty = TypeSpec {
            name: if is_flag { "tinyint" } else { "bigint" }.to_owned(),
            length: Some(if is_flag { 1 } else { 21 }),
            unsigned,
            ..TypeSpec::default()
        };
        let mut spec = ColumnSpec::new(name.to_owned(), ty);
        spec.nullable = Some(false);
        spec.comment = comment.to_owned();
        spec
    };
    COLUMNS.into_iter().map(column).collect()
}

/// Checks the definition of a table that has the option of a sequence.
pub(super) fn check_structure(def: &TableDef) -> Result<()> {
    if !def.options.iter().any(|(name, value)| name == OPTION && value == "1") {
        return Ok(());
    }
    if def.columns.len() != COLUMNS.len() {
        return Err(bad_structure(def, "Wrong number of columns"));
    }
    if def.primary.is_some() || !def.indexes.is_empty() || !def.kept_indexes.is_empty() {
        return Err(bad_structure(def, "Sequence tables cannot have any keys"));
    }
    for (column, (name, unsigned, _)) in def.columns.iter().zip(COLUMNS) {
        let is_right = column.ty.is_integer() && column.ty.unsigned == unsigned && !column.nullable;
        if !column.name.eq_ignore_ascii_case(name) || !is_right {
            return Err(bad_structure(def, name));
        }
    }
    Ok(())
}

/// Returns the statement as a CREATE TABLE with the columns and the option of a sequence.
pub(super) fn as_table(create: &CreateTable) -> CreateTable {
    let mut create = CreateTable { columns: columns(), ..create.clone() };
    create.options.of_mariadb.push((OPTION.to_owned(), "1".to_owned()));
    create
}

/// Returns the row of a new sequence with this definition.
pub(super) fn first_row(def: &TableDef, spec: &SequenceSpec) -> Result<Vec<u8>> {
    check_structure(def)?;
    let row = SequenceRow::new(spec);
    match row.is_valid() {
        true => row.image(def),
        false => Err(out_of_range(&def.schema, &def.name)),
    }
}

/// Returns the row of a sequence after ALTER SEQUENCE. `checked` says that a source has checked the
/// values.
pub(super) fn altered_row(
    engine: &Arc<Engine>,
    table: &Table,
    spec: &SequenceSpec,
    checked: bool,
) -> Result<Vec<u8>> {
    let row = row_of(engine, table)?.altered(spec);
    match checked || row.is_valid() {
        true => row.image(&table.def),
        false => Err(out_of_range(&table.def.schema, &table.def.name)),
    }
}

/// Reports whether an option is the one of sequences.
pub(super) fn is_option(name: &str) -> bool {
    name == OPTION
}

/// Reads the row of a sequence.
fn row_of(engine: &Arc<Engine>, table: &Table) -> Result<SequenceRow> {
    let image = engine.sequence_row(table)?;
    let values = image.map(|image| table.layout.decode_all(&image).map_err(engine::EngineError::from));
    values
        .transpose()?
        .and_then(|values| SequenceRow::of_values(&values))
        .ok_or_else(|| bad_structure(&table.def, "Table has no row"))
}

/// Returns the statement that SHOW CREATE SEQUENCE shows.
pub(crate) fn statement(engine: &Arc<Engine>, table: &Table, engine_name: &str) -> Result<String> {
    let row = row_of(engine, table)?;
    let cache = if row.cache == 0 { "nocache".to_owned() } else { format!("cache {}", row.cache) };
    let cycle = if row.cycle { "cycle" } else { "nocycle" };
    let mut text = format!(
        "CREATE SEQUENCE {} start with {} minvalue {} maxvalue {} increment by {} {cache} {cycle} ENGINE={engine_name}",
        quoted(&table.def.name),
        row.start,
        row.minimum,
        row.maximum,
        row.increment,
    );
    if !table.def.comment.is_empty() {
        text.push_str(&format!(" COMMENT={}", text_literal(&table.def.comment)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_begins_at_the_end_that_it_counts_from() {
        let up = SequenceRow::new(&SequenceSpec::default());
        assert_eq!((up.next, up.minimum, up.maximum, up.cache), (1, 1, i64::MAX - 1, 1000));
        let down = SequenceRow::new(&SequenceSpec { increment: Some(-2), ..SequenceSpec::default() });
        assert_eq!((down.next, down.minimum, down.maximum), (-1, i64::MIN + 1, -1));
        assert!(up.is_valid() && down.is_valid());
        let far = SequenceSpec { restart: Some(Some(7)), cycle: Some(true), ..SequenceSpec::default() };
        assert_eq!(up.altered(&far), SequenceRow { next: 7, cycle: true, ..up.clone() });
        let below = SequenceSpec { start: Some(0), ..SequenceSpec::default() };
        assert!(!SequenceRow::new(&below).is_valid());
        assert!(!up.altered(&SequenceSpec { maximum: Some(i64::MAX), ..SequenceSpec::default() }).is_valid());
    }
}
