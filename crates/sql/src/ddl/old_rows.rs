//! Converts the rows of an altered table: each old row becomes a row of the new definition.

use super::altered::Altered;
use super::settings::DdlSettings;
use crate::detached::{DetachedCondition, DetachedRows};
use crate::error::{Result, SqlError};
use crate::expr::{Diagnostics, Level, converted, is_text};
use engine::{
    AddedColumn, ColumnDef, ColumnDefault, ColumnRoles, EngineError, InstantColumns, Table, TableDef,
};
use types::convert::{self, Problem};
use types::number::integer_prefix;
use types::row::RowLayout;
use types::{ColumnType, DateTime, Time, TypeCode, Value, collation};

/// What a client is told of values that were changed to fit. The first ones are kept, as many as
/// the diagnostics area keeps, and the others are counted.
#[derive(Debug, Default)]
pub(crate) struct Told {
    conditions: Vec<(Level, u16, String)>,
    count: u64,
}

impl Told {
    fn add(&mut self, level: Level, problem: &Problem, column: &ColumnDef, row: u64) {
        self.count += 1;
        if self.conditions.len() < Diagnostics::KEPT {
            self.conditions.push((level, problem.code(), problem.message(&column.name, row)));
        }
    }

    /// Puts the conditions into the diagnostics area.
    pub fn tell(self, diagnostics: &mut Diagnostics) {
        let more = self.count - self.conditions.len() as u64;
        for (level, code, message) in self.conditions {
            diagnostics.push(level, code, message);
        }
        diagnostics.count += more;
    }
}

/// Returns the error for the zero date that a new column without a default would have in old rows.
/// A source has checked that already.
fn refused_zero(column: &ColumnDef, settings: &DdlSettings) -> Option<SqlError> {
    let is_refused = settings.strict && settings.dates.no_zero_date && !settings.replicated;
    if !is_refused || column.nullable || column.roles.is_of_row() || column.default.is_some() {
        return None;
    }
    let problem = match column.ty.code {
        TypeCode::Date => convert::Problem::IncorrectTemporal("date", "0000-00-00".to_owned()),
        TypeCode::Datetime2 => {
            let zero = Value::DateTime(DateTime::default()).text_bytes(Some(&column.ty));
            let zero = String::from_utf8_lossy(&zero.unwrap_or_default()).into_owned();
            convert::Problem::IncorrectTemporal("datetime", zero)
        }
        _ => return None,
    };
    let mut error = SqlError::new(problem.code(), problem.message(&column.name, 1));
    error.state = *b"22007";
    Some(error)
}

/// Returns the error for the value that a new column would have in old rows.
fn refused_value(column: &ColumnDef, settings: &DdlSettings) -> Option<SqlError> {
    if has_no_zero(column) && !settings.of_mariadb {
        return Some(SqlError::new(1138, "Invalid use of NULL value"));
    }
    refused_zero(column, settings)
}

/// Returns the value of a new column in old rows.
fn value_for_old_rows(column: &ColumnDef, settings: &DdlSettings) -> Result<Value> {
    if let Some(value) = super::temporal::row_edge_value(column, settings.now_us) {
        return Ok(value);
    }
    let literal = match &column.default {
        Some(ColumnDefault::Literal(_)) => column.default_literal().unwrap_or(Value::Null),
        Some(ColumnDefault::CurrentTimestamp) => {
            // The time is truncated to the column's digits. As a text it would be rounded.
            let (seconds, micros) = (settings.now_us / 1_000_000, (settings.now_us % 1_000_000) as u32);
            let unit = 10u32.pow(6 - u32::from(column.ty.fsp()));
            let at = DateTime::from_unix(seconds as i64, micros / unit * unit, settings.zone);
            Value::DateTime(at)
        }
        // The expression is computed when the row is complete.
        Some(ColumnDefault::Expression(_)) => return Ok(Value::Null),
        _ if column.nullable => return Ok(Value::Null),
        None if has_no_zero(column) && settings.of_mariadb => return Ok(Value::Bytes(Vec::new())),
        _ => {
            let implicit = convert::implicit_default(&column.ty);
            return implicit
                .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)));
        }
    };
    let context = settings.conversion(false);
    // The default was checked when it was defined, so the current modes have no say.
    convert::assign(&literal, &column.ty, convert::Context { dates: Default::default(), ..context })
        .map(|(value, _)| value)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))
}

/// Reports whether old rows cannot have a value of a new column. A column of geometries may be
/// added to a table without rows only. (In MariaDB, old rows have a value without bytes.)
fn has_no_zero(column: &ColumnDef) -> bool {
    let is_given = column.nullable || column.default.is_some() || column.generated.is_some();
    column.ty.code == TypeCode::Geometry && !is_given
}

/// Returns the columns that an ALTER TABLE adds and drops, if all old rows have the same value of
/// each new column. Nothing is returned if some new column is of another kind, or if the table is
/// temporary.
///
/// # Errors
/// Returns the problem of a new column's value.
pub(crate) fn instant_columns(
    old: &Table,
    altered: &Altered,
    settings: &DdlSettings,
) -> Result<InstantColumns> {
    let new = || altered.def.columns.iter().enumerate().filter(|(at, _)| altered.sources[*at].is_none());
    let has_one_value = |column: &ColumnDef| {
        !column.auto_increment
            && column.generated.is_none()
            && column.roles == ColumnRoles::default()
            && (settings.of_mariadb || !has_no_zero(column))
            && !matches!(column.default, Some(ColumnDefault::Expression(_)))
            && refused_zero(column, settings).is_none()
    };
    if old.is_temporary() || !new().all(|(_, column)| has_one_value(column)) {
        return Ok(InstantColumns::default());
    }
    let added = |(position, column): (usize, &ColumnDef)| {
        let value = match value_for_old_rows(column, settings)? {
            Value::Null => None,
            value => {
                let mut packed = Vec::new();
                let done = types::packed::encode(&column.ty, &value, &mut packed);
                done.map_err(|problem| SqlError::new(1105, format!("{}: {problem}", column.name)))?;
                Some(packed)
            }
        };
        Ok(AddedColumn { position, value })
    };
    let is_dropped = |at: &usize| !altered.sources.contains(&Some(*at));
    Ok(InstantColumns {
        added: new().map(added).collect::<Result<_>>()?,
        dropped: (0..old.def.columns.len()).filter(is_dropped).collect(),
    })
}

/// Returns a function that converts rows of `old` to the new definition, or removes them (`None`).
/// If a value does not fit, MySQL's error is left in `failure`, or its warning in `told`.
pub(crate) fn converter<'c>(
    old: &'c TableDef,
    altered: &'c Altered,
    settings: &'c DdlSettings,
    expressions: Option<&'c DetachedRows>,
    goes: Option<&'c DetachedCondition>,
    failure: &'c mut Option<SqlError>,
    told: &'c mut Told,
) -> Result<impl FnMut(&[u8]) -> engine::Result<Option<Vec<u8>>> + 'c> {
    let layout = |def: &TableDef| {
        let types: Vec<ColumnType> = def.columns.iter().map(|column| column.ty.clone()).collect();
        RowLayout::new(&types)
    };
    let (from, to) = (layout(old), layout(&altered.def));
    let refused = altered
        .def
        .columns
        .iter()
        .zip(&altered.sources)
        .find_map(|(column, source)| source.is_none().then(|| refused_value(column, settings)).flatten());
    let mut added = Vec::new();
    for (column, source) in altered.def.columns.iter().zip(&altered.sources) {
        let is_computed = source.is_none() && refused.is_none();
        added.push(if is_computed { value_for_old_rows(column, settings)? } else { Value::Null });
    }
    let is_new = |at: &usize| altered.sources[*at].is_none();
    let new_columns: Vec<usize> = (0..altered.sources.len()).filter(is_new).collect();
    let mut number = 0;
    // The greatest number so far in the AUTO_INCREMENT column.
    let mut last_id = 0u64;
    Ok(move |image: &[u8]| {
        number += 1;
        if let Some(error) = &refused {
            *failure = Some(error.clone());
            return Err(EngineError::BadDefinition(error.message.clone()));
        }
        if let Some(goes) = goes {
            match goes.holds(&from.decode_all(image)?) {
                Ok(false) => {}
                Ok(true) => return Ok(None),
                Err(error) => {
                    let message = error.message.clone();
                    *failure = Some(error);
                    return Err(EngineError::BadDefinition(message));
                }
            }
        }
        let mut values = added.clone();
        for (at, source) in altered.sources.iter().enumerate() {
            let column = &altered.def.columns[at];
            if let Some(source) = source {
                let value = from.decode(image, *source)?;
                if column.auto_increment && !old.columns[*source].auto_increment {
                    if generates_number(&value, column, settings) {
                        last_id = last_id.saturating_add(1);
                        values[at] = number_of(column, last_id);
                        continue;
                    }
                    last_id = last_id.max(whole_number(&value));
                }
                if column.generated.is_some() && old.columns[*source].ty != column.ty {
                    // The column is computed anew.
                    continue;
                }
                values[at] = convert_value(value, &old.columns[*source], column, number, settings, told)
                    .map_err(|error| {
                        let message = error.message.clone();
                        *failure = Some(error);
                        EngineError::BadDefinition(message)
                    })?;
            } else if column.auto_increment && !keeps_null(column, settings) {
                last_id += 1;
                values[at] = number_of(column, last_id);
            }
        }
        if let Some(expressions) = expressions {
            let completed = expressions.complete(&mut values, &new_columns, number);
            completed.map_err(|error| {
                let message = error.message.clone();
                *failure = Some(error);
                EngineError::BadDefinition(message)
            })?;
        }
        let mut out = Vec::with_capacity(image.len());
        to.encode(&values, &mut out)?;
        Ok(Some(out))
    })
}

/// Reports whether old rows have NULL in a column that becomes AUTO_INCREMENT. MySQL does not
/// number them where the column may be NULL; in MariaDB it never may.
fn keeps_null(column: &ColumnDef, settings: &DdlSettings) -> bool {
    column.nullable && !settings.of_mariadb
}

/// Reports whether an old value makes way for a generated number when its column becomes
/// AUTO_INCREMENT.
fn generates_number(value: &Value, column: &ColumnDef, settings: &DdlSettings) -> bool {
    match value {
        Value::Null => !keeps_null(column, settings),
        Value::Int(0) | Value::UInt(0) => settings.zero_generates,
        Value::Double(number) => *number == 0.0 && settings.zero_generates,
        _ => false,
    }
}

/// Returns the number that an old value of a column stands for in an AUTO_INCREMENT column, or 0 if
/// it is none or a negative one.
fn whole_number(value: &Value) -> u64 {
    match value {
        Value::Int(number) => u64::try_from(*number).unwrap_or(0),
        Value::UInt(number) => *number,
        Value::Double(number) => *number as u64,
        _ => 0,
    }
}

fn number_of(column: &ColumnDef, number: u64) -> Value {
    if column.ty.unsigned { Value::UInt(number) } else { Value::Int(number as i64) }
}

/// Returns the value that replaces NULL in a column that becomes NOT NULL. A source has checked
/// already whether this is allowed.
///
/// # Errors
/// Returns 1138 (`ER_INVALID_USE_OF_NULL`) in strict mode.
fn value_for_null(to: &ColumnDef, settings: &DdlSettings) -> Result<Value> {
    if settings.strict && !settings.replicated {
        return Err(SqlError::new(1138, "Invalid use of NULL value"));
    }
    let value = match to.ty.code {
        TypeCode::Timestamp2 => {
            let (seconds, micros) = (settings.now_us / 1_000_000, (settings.now_us % 1_000_000) as u32);
            let unit = 10u32.pow(6 - u32::from(to.ty.fsp()));
            Ok(Value::Timestamp { seconds: seconds as i64, micros: micros / unit * unit })
        }
        TypeCode::Enum => return no_member(to),
        _ => convert::implicit_default(&to.ty),
    };
    value.map_err(|problem| SqlError::new(problem.code(), problem.message(&to.name, 1)))
}

/// Returns the index 0 of an ENUM, which stands for no member.
fn no_member(column: &ColumnDef) -> Result<Value> {
    convert::to_column(&Value::Int(0), &column.ty, false)
        .map(|(value, _)| value)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))
}

/// Returns a text where one of the two columns has bytes and the other one characters: the bytes
/// stay what they are in the table of a MySQL server, which keeps a text in its column's character
/// set. `None` means that the value stays, as it does in all other cases.
///
/// # Errors
/// Returns the problem that bytes are no characters of the new column, in strict mode.
fn recoded(
    bytes: &[u8],
    from: &ColumnDef,
    to: &ColumnDef,
    strict: bool,
) -> std::result::Result<Option<Value>, Problem> {
    let is_plain = |ty: &ColumnType| is_text(ty) && ty.text_form().is_none();
    let of_bytes = |ty: &ColumnType| ty.collation == collation::BINARY;
    if !is_plain(&from.ty) || !is_plain(&to.ty) || of_bytes(&from.ty) == of_bytes(&to.ty) {
        return Ok(None);
    }
    let mut bytes = bytes;
    if of_bytes(&from.ty) {
        let good = collation::well_formed_len(to.ty.collation, bytes);
        if good < bytes.len() && strict {
            return Err(Problem::incorrect_string(&bytes[good..]));
        }
        bytes = &bytes[..good];
    }
    Ok(Some(Value::Bytes(converted(bytes, &from.ty, &to.ty).unwrap_or_else(|| bytes.to_vec()))))
}

/// Returns the bits that a text stands for when its column becomes a BIT column: those of the whole
/// number at its start. (INSERT takes the text's bytes for bits instead.)
///
/// # Errors
/// Returns 1292 (`ER_TRUNCATED_WRONG_VALUE`) in strict mode for a text that is no such number.
fn bits_of_text(text: &[u8], settings: &DdlSettings) -> Result<Value> {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let sign = usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let digits = text[start + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = start + sign + digits;
    let read = integer_prefix(&text[start..end]);
    let number = read.value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let is_whole = digits > 0 && i128::from(number) == read.value && text[end..].trim_ascii().is_empty();
    if !is_whole && settings.strict && !settings.replicated {
        let shown = String::from_utf8_lossy(text);
        return Err(SqlError::new(1292, format!("Truncated incorrect INTEGER value: '{shown}'")));
    }
    Ok(Value::UInt(number as u64))
}

fn is_of_dates(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2)
}

/// Returns the point in time that a TIME stands for in a column of dates: it counts from the
/// midnight with which the statement's day begins.
fn of_today(time: &Time, settings: &DdlSettings) -> Option<DateTime> {
    let today = DateTime::from_unix((settings.now_us / 1_000_000) as i64, 0, settings.zone).date;
    DateTime::from_micros(DateTime::midnight(today).to_micros() + time.to_micros())
}

fn convert_value(
    value: Value,
    from: &ColumnDef,
    to: &ColumnDef,
    row: u64,
    settings: &DdlSettings,
    told: &mut Told,
) -> Result<Value> {
    if value.is_null() {
        if to.nullable {
            return Ok(Value::Null);
        }
        let value = value_for_null(to, settings)?;
        told.add(Level::Warning, &Problem::Truncated, to, row);
        return Ok(value);
    }
    if from.ty == to.ty {
        return Ok(value);
    }
    if matches!(value, Value::Enum { index: 0, .. }) && to.ty.code == TypeCode::Enum {
        // As in MySQL, a value that is no member stays one, also in strict mode.
        return no_member(to);
    }
    if let (Value::Bytes(text), TypeCode::Bit) = (&value, to.ty.code) {
        let bits = bits_of_text(text, settings)?;
        return assigned(&bits, to, row, settings, told);
    }
    let recoded = match &value {
        Value::Bytes(bytes) => recoded(bytes, from, to, settings.strict),
        Value::Enum { .. } | Value::Set { .. } if to.ty.collation == collation::BINARY => {
            let text = value.text_bytes(Some(&from.ty)).unwrap_or_default();
            recoded(&text, from, to, settings.strict)
        }
        _ => Ok(None),
    };
    let value = recoded
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&to.name, row)))?
        .unwrap_or(value);
    let value = match value {
        stamp @ Value::Timestamp { .. } if to.ty.code != TypeCode::Timestamp2 => stamp.in_zone(settings.zone),
        Value::Time(time) if is_of_dates(&to.ty) => {
            of_today(&time, settings).map_or(Value::Time(time), Value::DateTime)
        }
        value if matches!(to.ty.code, TypeCode::Enum | TypeCode::Set) => for_members(value, from, settings),
        value => value,
    };
    assigned(&value, to, row, settings, told)
}

/// Returns the value that is looked up among the members of an ENUM or a SET. A number's text is
/// looked up in MySQL, and the nearest integer in MariaDB. (INSERT takes the integer below.)
fn for_members(value: Value, from: &ColumnDef, settings: &DdlSettings) -> Value {
    match value {
        Value::Decimal(number) if settings.of_mariadb => {
            number.to_i64().map_or(Value::Decimal(number), Value::Int)
        }
        Value::Double(number) if settings.of_mariadb => Value::Double(number.round_ties_even()),
        Value::Float(number) if settings.of_mariadb => Value::Float(number.round_ties_even()),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_)
            if !settings.of_mariadb =>
        {
            value.text_bytes(Some(&from.ty)).map_or(value, Value::Bytes)
        }
        value => value,
    }
}

/// Stores a value in a column. If it does not fit, the client is told.
///
/// # Errors
/// Returns the problem in strict mode.
fn assigned(
    value: &Value,
    to: &ColumnDef,
    row: u64,
    settings: &DdlSettings,
    told: &mut Told,
) -> Result<Value> {
    match convert::assign(value, &to.ty, settings.conversion(settings.strict)) {
        Ok((value, warning)) => {
            if let Some(warning) = warning {
                let level = if warning.note { Level::Note } else { Level::Warning };
                told.add(level, &warning.problem, to, row);
            }
            Ok(value)
        }
        Err(problem) => Err(SqlError::new(problem.code(), problem.message(&to.name, row))),
    }
}
