//! Column definitions: defaults and attributes.

use super::column_type::column_type;
use super::expression::{Owner, canonical, implied_check};
use super::settings::DdlSettings;
use crate::ast::{ColumnSpec, Expr, Literal, UnaryOp, WrittenExpr};
use crate::error::{Result, SqlError};
use engine::{ColumnDef, ColumnDefault, Generated, TableDef};
use std::cmp::Ordering;
use types::collation::{self, Charset};
use types::convert::{self, DateModes, Problem};
use types::{ColumnType, TypeCode, Value, Zone};

fn invalid_default(column: &str) -> SqlError {
    SqlError::new(1067, format!("Invalid default value for '{column}'"))
}

/// Returns the literal of a DEFAULT as a value for a column of this type.
fn literal_value(column: &str, written: &Expr, ty: &ColumnType, settings: &DdlSettings) -> Result<Value> {
    Ok(match written {
        Expr::Literal(Literal::Bytes(bytes, charset)) => {
            match charset.as_deref().and_then(Charset::from_name) {
                // The bytes are characters of that character set.
                Some(set) if set != Charset::Binary => {
                    Value::Bytes(collation::to_utf8mb4(set.default_collation(), bytes).into_owned())
                }
                _ => bytes_value(bytes, ty).ok_or_else(|| invalid_default(column))?,
            }
        }
        Expr::Literal(Literal::HexText(bytes)) => {
            Value::Bytes(collation::to_utf8mb4(ty.collation, bytes).into_owned())
        }
        Expr::Literal(Literal::Bits(bytes)) => {
            bytes_value(bytes, ty).ok_or_else(|| invalid_default(column))?
        }
        // MariaDB takes DATE '...' and similar literals as defaults, MySQL does not.
        Expr::Literal(Literal::Date(text) | Literal::Time(text) | Literal::Timestamp(text))
            if settings.replicated =>
        {
            Value::Bytes(text.clone())
        }
        Expr::Literal(Literal::Null) => Value::Null,
        Expr::Literal(Literal::Bool(value)) => Value::Int(i64::from(*value)),
        Expr::Literal(Literal::Integer(n)) => i64::try_from(*n).map_or(Value::UInt(*n), Value::Int),
        Expr::Literal(Literal::Decimal(digits)) => {
            Value::Decimal(types::Decimal::parse_prefix(digits.as_bytes()).number)
        }
        Expr::Literal(Literal::Float(n, _)) => Value::Double(*n),
        Expr::Literal(Literal::Text(bytes, Some(charset))) => introduced(bytes, charset, ty, settings),
        Expr::Literal(Literal::Text(bytes, None)) => Value::Bytes(bytes.clone()),
        Expr::Unary(UnaryOp::Minus, inner) => match literal_value(column, inner, ty, settings)? {
            Value::Int(n) => Value::Int(-n),
            Value::UInt(n) => Value::Decimal(types::Decimal::from(n).negate()),
            Value::Decimal(n) => Value::Decimal(n.negate()),
            Value::Double(n) => Value::Double(-n),
            _ => return Err(invalid_default(column)),
        },
        _ => return Err(invalid_default(column)),
    })
}

/// Returns the value of a text with an introducer. Its bytes are those that the client has written,
/// read in the character set of the introducer, or in the column's if one of the two is binary.
fn introduced(text: &[u8], charset: &str, ty: &ColumnType, settings: &DdlSettings) -> Value {
    let written = collation::from_utf8mb4_lossy(settings.client_collation, text);
    let id = match Charset::from_name(charset) {
        Some(set) if set != Charset::Binary && ty.collation != collation::BINARY => set.default_collation(),
        _ => ty.collation,
    };
    Value::Bytes(collation::to_utf8mb4(id, &written).into_owned())
}

/// Returns the value of `0x...` or `b'...'`: a number for a numeric column, else a text whose bytes
/// are in the column's character set.
fn bytes_value(bytes: &[u8], ty: &ColumnType) -> Option<Value> {
    let is_number = ty.is_integer()
        || matches!(
            ty.code,
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Year | TypeCode::Bit
        );
    if !is_number {
        return Some(Value::Bytes(collation::to_utf8mb4(ty.collation, bytes).into_owned()));
    }
    let digits = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
    let number = digits.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    (digits.len() <= 8).then_some(Value::UInt(number))
}

/// Reports whether a default of ENUM or SET names members. Their numbers, which INSERT accepts, are
/// not accepted here.
fn names_members(text: &[u8], ty: &ColumnType) -> bool {
    let members = ty.members.as_deref().unwrap_or_default();
    let is_member = |name: &[u8]| {
        members.iter().any(|member| {
            collation::compare_utf8mb4(ty.collation, member.as_bytes(), name.trim_ascii_end()).is_eq()
        })
    };
    match ty.code {
        TypeCode::Set => text.is_empty() || text.split(|&byte| byte == b',').all(is_member),
        _ => is_member(text),
    }
}

/// Returns the text of a TIMESTAMP's default, with the offset of the zone that it was written in,
/// so that it is the same moment in every session. An offset that is no whole number of minutes
/// becomes UTC.
fn moment_text(moment: Value, ty: &ColumnType, zone: Zone) -> Option<Vec<u8>> {
    let offset_s = match &moment {
        Value::Timestamp { seconds, .. } => {
            Some(zone.offset_s(*seconds)).filter(|offset_s| offset_s % 60 == 0)
        }
        _ => None,
    };
    let offset_s = offset_s.unwrap_or_default();
    let mut text = moment.in_zone(Zone::Offset(offset_s)).text_bytes(Some(ty))?;
    let (sign, minutes) = (if offset_s < 0 { '-' } else { '+' }, offset_s.abs() / 60);
    text.extend_from_slice(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).as_bytes());
    Some(text)
}

/// Returns the moment that a TIMESTAMP's default is moved to when clocks skip its local time.
/// Returns `None` in strict mode, or if it is not skipped.
fn skipped_moment(value: &Value, ty: &ColumnType, settings: &DdlSettings) -> Option<Value> {
    let lenient = settings.conversion(false);
    let is_skipped = |problem: &Problem| *problem == Problem::SkippedMoment;
    match convert::assign(value, ty, lenient) {
        Ok((stored, Some(warning))) if !settings.strict && is_skipped(&warning.problem) => Some(stored),
        _ => None,
    }
}

/// Returns the stored form of a DEFAULT.
pub(super) fn default_of(
    column: &str,
    written: &Expr,
    ty: &ColumnType,
    nullable: bool,
    settings: &DdlSettings,
) -> Result<ColumnDefault> {
    if let Expr::Function(call) = written {
        let is_now = call.name == "now";
        let digits = match call.args.first() {
            None => 0,
            Some(Expr::Literal(Literal::Integer(n))) => *n,
            Some(_) => return Err(invalid_default(column)),
        };
        if !is_now || !matches!(ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2) {
            return Err(invalid_default(column));
        }
        return match digits.cmp(&u64::from(ty.fsp())) {
            Ordering::Equal => Ok(ColumnDefault::CurrentTimestamp),
            // MariaDB accepts any number of digits. Without digits it uses the column's.
            Ordering::Less if settings.replicated && digits > 0 => {
                Ok(ColumnDefault::Expression(format!("now({digits})")))
            }
            _ if settings.replicated => Ok(ColumnDefault::CurrentTimestamp),
            _ => Err(invalid_default(column)),
        };
    }
    let mut value = literal_value(column, written, ty, settings)?;
    if value.is_null() {
        return if nullable { Ok(ColumnDefault::Null) } else { Err(invalid_default(column)) };
    }
    if ty.is_blob() && !settings.of_mariadb {
        return Err(SqlError::new(
            1101,
            format!("BLOB, TEXT, GEOMETRY or JSON column '{column}' can't have a default value"),
        ));
    }
    if matches!(ty.code, TypeCode::Enum | TypeCode::Set) {
        let text = crate::expr::text_of(&value).into_owned();
        if !names_members(&text, ty) {
            return Err(invalid_default(column));
        }
        // MariaDB looks for a number among the names of the members too, and then takes it for the
        // number of a member.
        if !settings.of_mariadb || matches!(value, Value::Bytes(_)) {
            value = Value::Bytes(text);
        }
    }
    let mut context = settings.conversion(true);
    if settings.replicated {
        // The source has checked the zeros, perhaps with other modes than the event gives.
        context.dates = DateModes { no_zero_date: false, no_zero_in_date: false, ..context.dates };
    }
    let stored = match convert::assign(&value, ty, context) {
        Ok((stored, _)) => stored,
        Err(_) => skipped_moment(&value, ty, settings).ok_or_else(|| invalid_default(column))?,
    };
    let shown = match &stored {
        Value::Timestamp { seconds: 0, .. } => stored.text_bytes(Some(ty)),
        Value::Timestamp { .. } => moment_text(stored, ty, settings.zone),
        Value::Bit { bits, .. } => return Ok(ColumnDefault::Literal(bits.to_string().into_bytes())),
        stored => stored.text_bytes(Some(ty)),
    };
    let mut shown = shown.unwrap_or_default();
    if ty.code == TypeCode::String && ty.collation == collation::BINARY && ty.form.is_none() {
        shown.resize(usize::from(ty.meta), 0);
    } else if ty.code == TypeCode::String {
        while shown.last() == Some(&b' ') {
            shown.pop();
        }
    }
    Ok(ColumnDefault::Literal(shown))
}

/// Returns the definition of a column.
pub(super) fn column(spec: &ColumnSpec, default_collation: u16, settings: &DdlSettings) -> Result<ColumnDef> {
    let name = &spec.name;
    if name.ends_with(' ') || name.is_empty() {
        return Err(SqlError::new(1166, format!("Incorrect column name '{name}'")));
    }
    let ty = column_type(name, &spec.ty, default_collation, settings)?;
    let is_not_null = ty.code == TypeCode::Timestamp2 && !settings.explicit_timestamps;
    let nullable = spec.row_edge.is_none()
        && spec.nullable.unwrap_or(!spec.primary && !spec.auto_increment && !is_not_null)
        && !spec.primary
        && (!spec.auto_increment || spec.null_behind_auto_increment);
    // NULL, TRUE and FALSE are no defaults of an AUTO_INCREMENT column, and no errors either.
    let is_nothing = matches!(spec.default, Some(Expr::Literal(Literal::Null | Literal::Bool(_))));
    let default_of_spec = spec.default.as_ref().filter(|_| !is_nothing || !spec.auto_increment);
    let default = match default_of_spec {
        // The expression is added when all columns exist.
        None if spec.default_expression.is_some() || spec.generated.is_some() => None,
        Some(written) => Some(default_of(name, written, &ty, nullable, settings)?),
        None if nullable => Some(ColumnDefault::Null),
        None => None,
    };
    let is_point_in_time = matches!(ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2);
    let same_digits = |digits| digits == u64::from(ty.fsp()) || settings.replicated;
    if spec.on_update_fsp.is_some_and(|digits| !is_point_in_time || !same_digits(digits)) {
        return Err(SqlError::new(1294, format!("Invalid ON UPDATE clause for '{name}' column")));
    }
    if spec.auto_increment {
        let is_number = ty.is_integer() || matches!(ty.code, TypeCode::Float | TypeCode::Double);
        if !is_number {
            return Err(SqlError::new(1063, format!("Incorrect column specifier for column '{name}'")));
        }
        if !ty.is_integer() {
            return Err(SqlError::not_supported("AUTO_INCREMENT on a floating-point column"));
        }
        let has_expression = spec.default_expression.is_some() && !settings.replicated;
        if default_of_spec.is_some() || has_expression {
            return Err(invalid_default(name));
        }
    }
    if spec.comment.chars().count() > 1024 {
        return Err(SqlError::new(1629, format!("Comment for field '{name}' is too long (max = 1024)")));
    }
    Ok(ColumnDef {
        name: name.clone(),
        ty,
        names_collation: !settings.of_mariadb && (spec.ty.charset.is_some() || spec.ty.collation.is_some()),
        nullable,
        default,
        auto_increment: spec.auto_increment,
        on_update_now: spec.on_update_fsp.is_some(),
        comment: spec.comment.clone(),
        invisible: spec.invisible,
        // The canonical text is set when all columns exist.
        generated: spec.generated.as_ref().map(|generated| Generated {
            expression: generated.expression.text.clone(),
            stored: generated.stored,
        }),
        roles: super::temporal::roles_of(spec),
        elements: None,
    })
}

/// Adds the expressions of a column to the definition, which has all columns by now.
///
/// # Errors
/// Returns 1221 for what a generated column cannot have, and the errors of the expressions.
pub(super) fn add_expressions(def: &mut TableDef, spec: &ColumnSpec, settings: &DdlSettings) -> Result<()> {
    let Some(at) = def.column(&spec.name) else { return Ok(()) };
    if settings.of_mariadb && spec.ty.name == "json" {
        implied_check(def, &spec.name);
    }
    if let Some(written) = &spec.default_expression {
        def.columns[at].default = Some(expression_default(def, at, written, settings)?);
    }
    let Some(generated) = &spec.generated else { return Ok(()) };
    let refused = [
        (spec.default.is_some() || spec.default_expression.is_some(), "DEFAULT and generated column"),
        (spec.auto_increment, "AUTO_INCREMENT and generated column"),
        (spec.on_update_fsp.is_some(), "ON UPDATE and generated column"),
    ];
    if let Some((_, what)) = refused.iter().find(|(is_wrong, _)| *is_wrong && !settings.replicated) {
        return Err(SqlError::new(1221, format!("Incorrect usage of {what}")));
    }
    if spec.primary && !generated.stored && !settings.replicated {
        let text =
            "'Defining a virtual generated column as primary key' is not supported for generated columns.";
        return Err(SqlError::new(3106, text));
    }
    let expression = canonical(def, &generated.expression, Owner::Generated(&spec.name), settings)?;
    let column = &mut def.columns[at];
    column.default = if column.nullable { Some(ColumnDefault::Null) } else { None };
    column.generated = Some(Generated { expression, stored: generated.stored });
    Ok(())
}

/// Returns the default for `DEFAULT (expression)`. In MariaDB, a literal or the time of the
/// statement in parentheses is an ordinary default.
pub(super) fn expression_default(
    def: &TableDef,
    at: usize,
    written: &WrittenExpr,
    settings: &DdlSettings,
) -> Result<ColumnDefault> {
    let column = &def.columns[at];
    if settings.of_mariadb
        && let Some(tree @ (Expr::Literal(_) | Expr::Unary(UnaryOp::Minus, _) | Expr::Function(_))) =
            &written.tree
        && let Ok(default) = default_of(&column.name, tree, &column.ty, column.nullable, settings)
    {
        return Ok(default);
    }
    canonical(def, written, Owner::Default(&column.name), settings).map(ColumnDefault::Expression)
}

/// Gives the TIMESTAMP columns in `written` the defaults that they lack, when
/// `explicit_defaults_for_timestamp` is off: NOW() for the first TIMESTAMP column of the table, and
/// zero for the others.
pub(super) fn implied_timestamps(def: &mut TableDef, written: &[&str], settings: &DdlSettings) -> Result<()> {
    if settings.explicit_timestamps {
        return Ok(());
    }
    let mut is_first = true;
    let stamps = def.columns.iter_mut().filter(|column| column.ty.code == TypeCode::Timestamp2);
    for column in stamps.filter(|column| !column.roles.is_of_row()) {
        let is_written = written.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
        let has_default = column.nullable || column.default.is_some();
        if is_written && !has_default {
            if is_first && !column.on_update_now {
                column.default = Some(ColumnDefault::CurrentTimestamp);
                column.on_update_now = true;
            } else if settings.dates.no_zero_date && !settings.replicated {
                return Err(invalid_default(&column.name));
            } else {
                let zero = Value::DateTime(Default::default()).text_bytes(Some(&column.ty));
                column.default = Some(ColumnDefault::Literal(zero.unwrap_or_default()));
            }
        }
        is_first = false;
    }
    Ok(())
}
