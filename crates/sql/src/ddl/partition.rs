//! PARTITION BY: turns the clause into the partitioning of a definition, with MySQL's checks. The
//! statements of a source are not checked, since the source has done that.

use super::expression::{Owner, canonical, columns_of, constant_function};
use super::settings::DdlSettings;
use crate::ast::{
    Expr, PartitionElement, PartitionFunctionSpec, PartitionSpec, PartitionValue, PartitionValues,
};
use crate::detached::{DetachedSettings, constant};
use crate::error::{Result, SqlError};
use crate::parse::partition::{MOST_PARTITIONS, too_many};
use crate::quoting::text_literal;
use engine::{
    ColumnDef, Engine, IndexColumn, Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning,
    Subpartition, TableDef,
};
use std::cmp::Ordering;
use std::sync::Arc;
use types::{TypeCode, Value, collation, convert};

/// The settings under which a partitioning is made.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub engine: &'a Arc<Engine>,
    pub settings: &'a DdlSettings,
}

/// Returns the name of a kind for error texts.
fn kind_name(kind: PartitionKind) -> &'static str {
    match kind {
        PartitionKind::Range => "RANGE",
        PartitionKind::List => "LIST",
        PartitionKind::Hash => "HASH",
        PartitionKind::Key => "KEY",
        PartitionKind::SystemTime => "SYSTEM_TIME",
    }
}

/// Builds error 1492 (`ER_PARTITIONS_MUST_BE_DEFINED_ERROR`), for RANGE and LIST without
/// partitions.
pub(super) fn must_be_defined(kind: PartitionKind) -> SqlError {
    SqlError::new(1492, format!("For {} partitions each partition must be defined", kind_name(kind)))
}

fn not_allowed_type(column: &str) -> SqlError {
    let text = format!("Field '{column}' is of a not allowed type for this type of partitioning");
    SqlError::new(1659, text)
}

/// Builds error 1480 (`ER_PARTITION_WRONG_VALUES_ERROR`), for VALUES that do not suit the kind of
/// partitioning.
fn wrong_values(values: &PartitionValues) -> SqlError {
    let (kind, words) = match values {
        PartitionValues::LessThan(_) => ("RANGE", "LESS THAN"),
        _ => ("LIST", "IN"),
    };
    SqlError::new(1480, format!("Only {kind} PARTITIONING can use VALUES {words} in partition definition"))
}

impl Maker<'_> {
    /// Returns the partitioning of a table that has these columns and keys.
    ///
    /// # Errors
    /// Returns MySQL's error for what it refuses. A partitioning of a source is refused only if it
    /// cannot be understood.
    pub fn partitioning(&self, def: &TableDef, spec: &PartitionSpec) -> Result<Partitioning> {
        let mut by = self.function(def, &spec.by)?;
        if by.kind == PartitionKind::SystemTime {
            self.begin_history(def, &mut by)?;
        }
        let needs_values = matches!(by.kind, PartitionKind::Range | PartitionKind::List);
        if spec.partitions.is_empty() && needs_values {
            return Err(must_be_defined(by.kind));
        }
        let sub = match &spec.sub {
            Some((function, count)) => Some((self.function(def, function)?, *count)),
            None => None,
        };
        let sub_form = match (&sub, spec.partitions.first()) {
            (_, Some(first)) if !first.subpartitions.is_empty() => PartitionForm::List,
            (Some((_, Some(_))), _) => PartitionForm::Count,
            _ => PartitionForm::Unsaid,
        };
        let (form, partitions) = if spec.partitions.is_empty() {
            match by.kind {
                PartitionKind::SystemTime => (PartitionForm::Count, of_history(spec.count.unwrap_or(2))),
                _ if spec.count.is_some() => (PartitionForm::Count, unnamed(0, spec.count.unwrap_or(1))),
                _ => (PartitionForm::Unsaid, unnamed(0, 1)),
            }
        } else {
            (PartitionForm::List, self.partitions(def, &by, &spec.partitions)?)
        };
        let subs = sub.as_ref().map_or(0, |(_, count)| count.unwrap_or(1));
        let sub = sub.map(|(function, _)| (function, sub_form));
        let mut made = Partitioning { by, form, sub, partitions };
        name_subpartitions(&mut made, subs);
        self.check(def, &made)?;
        Ok(made)
    }

    fn function(&self, def: &TableDef, spec: &PartitionFunctionSpec) -> Result<PartitionFunction> {
        let checks = !self.settings.replicated;
        let mut columns = Vec::with_capacity(spec.columns.len());
        for name in &spec.columns {
            let Some(at) = def.column(name) else {
                let text = "Field in list of fields for partition function not found in table";
                return Err(SqlError::new(1488, text));
            };
            let column = &def.columns[at];
            if checks && spec.kind != PartitionKind::Key && !may_partition(column) {
                return Err(not_allowed_type(&column.name));
            }
            columns.push(column.name.clone());
        }
        let expression = match &spec.expression {
            None => None,
            Some(written) if spec.kind == PartitionKind::SystemTime => {
                Some(super::temporal::with_start(&written.text, self.settings.now_us, self.settings.zone))
            }
            Some(written) => {
                let text = canonical(def, written, Owner::Partition, self.settings)?;
                let named = columns_of(def, &text).unwrap_or_default();
                if checks && named.is_empty() {
                    return Err(constant_function());
                }
                if let (true, Some(Expr::Column { .. }), [at]) = (checks, &written.tree, named.as_slice())
                    && !def.columns[*at].ty.is_integer()
                {
                    return Err(not_allowed_type(&def.columns[*at].name));
                }
                Some(text)
            }
        };
        let (kind, linear, algorithm_1) = (spec.kind, spec.linear, spec.algorithm_1);
        Ok(PartitionFunction { kind, linear, algorithm_1, expression, columns })
    }

    /// Returns the partitions of a clause, with their values computed.
    pub fn partitions(
        &self,
        def: &TableDef,
        by: &PartitionFunction,
        written: &[PartitionElement],
    ) -> Result<Vec<Partition>> {
        let one = |element: &PartitionElement| {
            let values = match (&element.values, by.kind) {
                (PartitionValues::LessThan(bound), PartitionKind::Range) => {
                    vec![self.tuple(def, by, bound, element)?]
                }
                (PartitionValues::In(tuples), PartitionKind::List) => {
                    let tuples = tuples.iter().map(|tuple| self.tuple(def, by, tuple, element));
                    tuples.collect::<Result<Vec<_>>>()?
                }
                (PartitionValues::Word("DEFAULT"), PartitionKind::List)
                | (PartitionValues::Word("HISTORY" | "CURRENT"), PartitionKind::SystemTime) => {
                    let PartitionValues::Word(word) = element.values else { unreachable!("just matched") };
                    vec![vec![word.to_owned()]]
                }
                (PartitionValues::None, PartitionKind::Hash | PartitionKind::Key) => Vec::new(),
                (PartitionValues::None, kind) => {
                    let words = if kind == PartitionKind::Range { "LESS THAN" } else { "IN" };
                    let kind = kind_name(kind);
                    let text = format!(
                        "{kind} PARTITIONING requires definition of VALUES {words} for each partition"
                    );
                    return Err(SqlError::new(1479, text));
                }
                (values, _) => return Err(wrong_values(values)),
            };
            let subpartition = |(name, options): &(String, Vec<(String, String)>)| Subpartition {
                name: name.clone(),
                options: options.clone(),
            };
            Ok(Partition {
                name: element.name.clone(),
                values,
                options: element.options.clone(),
                subpartitions: element.subpartitions.iter().map(subpartition).collect(),
            })
        };
        written.iter().map(one).collect()
    }

    /// Returns the literals of one value, or of one value for each column.
    fn tuple(
        &self,
        def: &TableDef,
        by: &PartitionFunction,
        values: &[PartitionValue],
        element: &PartitionElement,
    ) -> Result<Vec<String>> {
        let expected = by.columns.len().max(1);
        if values.len() != expected {
            return Err(SqlError::new(1653, "Inconsistency in usage of column lists for partitioning"));
        }
        let one = |(at, value): (usize, &PartitionValue)| {
            let PartitionValue::Of(tree) = value else { return Ok("MAXVALUE".to_owned()) };
            let of_rows = DetachedSettings {
                zone: self.settings.zone,
                now_us: self.settings.now_us,
                strict: self.settings.strict,
                replicated: self.settings.replicated,
            };
            let value = constant(self.engine, tree, of_rows)?;
            if value.is_null() {
                return match by.kind {
                    PartitionKind::List => Ok("NULL".to_owned()),
                    _ => Err(SqlError::new(1566, "Not allowed to use NULL value in VALUES LESS THAN")),
                };
            }
            match by.columns.get(at).and_then(|name| def.column(name)) {
                Some(column) => column_literal(&value, &def.columns[column], self.settings),
                None => match value {
                    Value::Int(number) => Ok(number.to_string()),
                    Value::UInt(number) => Ok(number.to_string()),
                    _ => {
                        let name = &element.name;
                        let text = format!("VALUES value for partition '{name}' must have type INT");
                        Err(SqlError::new(1697, text))
                    }
                },
            }
        };
        values.iter().enumerate().map(one).collect()
    }

    /// Checks a complete partitioning.
    pub fn check(&self, def: &TableDef, made: &Partitioning) -> Result<()> {
        if self.settings.replicated || made.by.kind == PartitionKind::SystemTime {
            return Ok(());
        }
        let count: usize = made.partitions.iter().map(|p| p.subpartitions.len().max(1)).sum();
        if count as u64 > MOST_PARTITIONS {
            return Err(too_many());
        }
        let names = made.partitions.iter().flat_map(|partition| {
            std::iter::once(&partition.name).chain(partition.subpartitions.iter().map(|sub| &sub.name))
        });
        let mut known: Vec<&String> = Vec::with_capacity(count);
        for name in names {
            if known.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                return Err(SqlError::new(1517, format!("Duplicate partition name {name}")));
            }
            known.push(name);
        }
        if made.by.kind == PartitionKind::Range {
            check_rising(def, made)?;
        }
        if made.by.kind == PartitionKind::List {
            check_distinct(def, made)?;
        }
        if !def.foreign_keys.is_empty() {
            let text = "Foreign keys are not yet supported in conjunction with partitioning";
            return Err(SqlError::new(1506, text));
        }
        check_unique_keys(def, made)
    }
}

/// Returns unnamed partitions by SYSTEM_TIME. There are `count` of them, but at least two, and the
/// last is for the current rows.
pub(super) fn of_history(count: u64) -> Vec<Partition> {
    let mut partitions = unnamed(0, count.max(2));
    for partition in &mut partitions {
        partition.values = vec![vec!["HISTORY".to_owned()]];
    }
    if let Some(last) = partitions.last_mut() {
        last.name = "pn".to_owned();
        last.values = vec![vec!["CURRENT".to_owned()]];
    }
    partitions
}

/// Returns unnamed partitions, which are called `p` and their number, from `first` on.
pub(super) fn unnamed(first: usize, count: u64) -> Vec<Partition> {
    let one = |at: usize| Partition {
        name: format!("p{at}"),
        values: Vec::new(),
        options: Vec::new(),
        subpartitions: Vec::new(),
    };
    (first..first + count as usize).map(one).collect()
}

/// Gives each partition without subpartitions `count` of them, with MySQL's names.
pub(super) fn name_subpartitions(made: &mut Partitioning, count: u64) {
    if made.sub.is_none() {
        return;
    }
    for partition in made.partitions.iter_mut().filter(|partition| partition.subpartitions.is_empty()) {
        let named = |at| Subpartition { name: format!("{}sp{at}", partition.name), options: Vec::new() };
        partition.subpartitions = (0..count).map(named).collect();
    }
}

/// Reports whether a column may be used in RANGE COLUMNS and LIST COLUMNS.
fn may_partition(column: &ColumnDef) -> bool {
    let code = column.ty.code;
    let is_text = matches!(code, TypeCode::Varchar | TypeCode::String) && !column.ty.is_blob();
    column.ty.is_integer()
        || is_text
        || matches!(code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Time2)
}

/// Returns a value of a column as MySQL prints it in VALUES.
fn column_literal(value: &Value, column: &ColumnDef, settings: &DdlSettings) -> Result<String> {
    let wrong = || SqlError::new(1654, "Partition column values of incorrect type");
    let is_text = matches!(value, Value::Bytes(_));
    if column.ty.is_integer() == is_text && !settings.replicated {
        return Err(wrong());
    }
    let is_string = matches!(column.ty.code, TypeCode::Varchar | TypeCode::String);
    let assigned = |is_strict| convert::assign(value, &column.ty, settings.conversion(is_strict));
    let converted = match assigned(true) {
        // MariaDB cuts a bound that is longer than any value of the column.
        Err(_) if is_string && settings.replicated => assigned(false),
        converted => converted,
    };
    let converted = converted.map_err(|_| wrong())?.0;
    let bytes = converted.text_bytes(Some(&column.ty)).unwrap_or_default();
    if column.ty.is_integer() {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    if is_string && column.ty.collation == collation::BINARY {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        return Ok(if hex.is_empty() { "''".to_owned() } else { format!("_binary 0x{hex}") });
    }
    let text = match column.ty.is_character() {
        true => collation::to_utf8mb4(column.ty.collation, &bytes).into_owned(),
        false => bytes.to_vec(),
    };
    Ok(text_literal(&String::from_utf8_lossy(&text)))
}

/// Returns the order of two literals of a term, where `MAXVALUE` is the greatest. Texts of a
/// character column are compared by its collation, all other texts by their bytes.
fn order(def: &TableDef, by: &PartitionFunction, at: usize, a: &str, b: &str) -> Ordering {
    match (a == "MAXVALUE", b == "MAXVALUE") {
        (false, false) => {}
        (a, b) => return a.cmp(&b),
    }
    if let (Ok(a), Ok(b)) = (a.parse::<i128>(), b.parse::<i128>()) {
        return a.cmp(&b);
    }
    let column = by.columns.get(at).and_then(|name| def.column(name));
    let collation = column.map(|at| &def.columns[at].ty).filter(|ty| ty.is_character());
    let unquoted =
        |text: &str| text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).map(str::to_owned);
    match (collation, unquoted(a), unquoted(b)) {
        (Some(ty), Some(a), Some(b)) => collation::compare_utf8mb4(ty.collation, a.as_bytes(), b.as_bytes()),
        _ => a.cmp(b),
    }
}

fn check_rising(def: &TableDef, made: &Partitioning) -> Result<()> {
    let is_open = |values: &[String]| values.iter().all(|value| value == "MAXVALUE");
    for pair in made.partitions.windows(2) {
        let (before, after) = (&pair[0].values[0], &pair[1].values[0]);
        if is_open(before) && made.by.expression.is_some() {
            return Err(SqlError::new(1481, "MAXVALUE can only be used in last partition definition"));
        }
        let mut terms = before.iter().zip(after).enumerate();
        let differs =
            terms.find_map(|(at, (a, b))| Some(order(def, &made.by, at, a, b)).filter(|o| o.is_ne()));
        if differs != Some(Ordering::Less) {
            let text = "VALUES LESS THAN value must be strictly increasing for each partition";
            return Err(SqlError::new(1493, text));
        }
    }
    Ok(())
}

fn check_distinct(def: &TableDef, made: &Partitioning) -> Result<()> {
    let mut all: Vec<&Vec<String>> = made.partitions.iter().flat_map(|partition| &partition.values).collect();
    let compare = |a: &Vec<String>, b: &Vec<String>| {
        let mut terms = a.iter().zip(b).enumerate();
        let differs =
            terms.find_map(|(at, (a, b))| Some(order(def, &made.by, at, a, b)).filter(|o| o.is_ne()));
        differs.unwrap_or(Ordering::Equal)
    };
    all.sort_by(|a, b| compare(a, b));
    match all.windows(2).any(|pair| compare(pair[0], pair[1]).is_eq()) {
        true => Err(SqlError::new(1495, "Multiple definition of same constant in list partitioning")),
        false => Ok(()),
    }
}

/// Returns the columns that the partitioning functions use.
pub(super) fn columns_used(def: &TableDef, made: &Partitioning) -> Vec<usize> {
    let functions = std::iter::once(&made.by).chain(made.sub.as_ref().map(|(function, _)| function));
    let mut used = Vec::new();
    for function in functions {
        match &function.expression {
            Some(text) => used.extend(columns_of(def, text).unwrap_or_default()),
            None => used.extend(function.columns.iter().filter_map(|name| def.column(name))),
        }
    }
    used
}

/// Checks that each unique key has all columns of the partitioning functions.
///
/// # Errors
/// Returns 1503 (`ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF`) when one lacks a column.
fn check_unique_keys(def: &TableDef, made: &Partitioning) -> Result<()> {
    let used = columns_used(def, made);
    let has_all = |parts: &[IndexColumn]| {
        let has = |column: &usize| parts.iter().any(|part| part.column == *column && part.prefix.is_none());
        used.iter().all(has)
    };
    let lacks = |what: &str| {
        let text = format!(
            "A {what} must include all columns in the table's partitioning function (prefixed columns are not \
             considered)."
        );
        Err(SqlError::new(1503, text))
    };
    if def.primary.as_deref().is_some_and(|parts| !has_all(parts)) {
        return lacks("PRIMARY KEY");
    }
    match def.indexes.iter().any(|index| index.unique && !has_all(&index.columns)) {
        true => lacks("UNIQUE INDEX"),
        false => Ok(()),
    }
}
