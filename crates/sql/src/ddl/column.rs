//! Columns: types, defaults, attributes.

use super::expression::{Owner, canonical, implied_check};
use super::{DdlSettings, chosen_collation};
use crate::ast::{ColumnSpec, Expr, Literal, TypeSpec, UnaryOp, WrittenExpr};
use crate::error::{Result, SqlError};
use engine::{ColumnDef, ColumnDefault, Generated, TableDef};
use std::collections::HashSet;
use types::collation::{self, Charset};
use types::convert::{self, DateModes};
use types::{ColumnType, GeometryKind, NumberForm, TextForm, TypeCode, Value};

fn too_big(column: &str, most: u64) -> SqlError {
    SqlError::new(
        1074,
        format!("Column length too big for column '{column}' (max = {most}); use BLOB or TEXT instead"),
    )
}

fn fsp(column: &str, ty: &TypeSpec) -> Result<u8> {
    match ty.length {
        None => Ok(0),
        Some(digits @ 0..=6) => Ok(digits as u8),
        Some(digits) => Err(SqlError::new(
            1426,
            format!("Too-big precision {digits} specified for '{column}'. Maximum is 6."),
        )),
    }
}

/// The type of a column, in a table whose default collation is `default`.
pub(super) fn column_type(
    column: &str,
    ty: &TypeSpec,
    default: u16,
    settings: &DdlSettings,
) -> Result<ColumnType> {
    let unsigned = ty.unsigned;
    let form = number_form(column, ty)?;
    let made = match ty.name.as_str() {
        "tinyint" if ty.length == Some(1) && !unsigned => ColumnType::boolean(),
        "tinyint" => ColumnType::tinyint(unsigned),
        "smallint" => ColumnType::smallint(unsigned),
        "mediumint" => ColumnType::mediumint(unsigned),
        "int" => ColumnType::int(unsigned),
        "bigint" => ColumnType::bigint(unsigned),
        "float" => match (ty.length, ty.scale) {
            (_, Some(_)) => ColumnType { unsigned, ..ColumnType::float() },
            (Some(25..=53), None) => ColumnType { unsigned, ..ColumnType::double() },
            (Some(54..), None) => {
                return Err(SqlError::new(1063, format!("Incorrect column specifier for column '{column}'")));
            }
            _ => ColumnType { unsigned, ..ColumnType::float() },
        },
        "double" => ColumnType { unsigned, ..ColumnType::double() },
        "decimal" => decimal_type(column, ty)?,
        "bit" => match ty.length.unwrap_or(1) {
            0 => return Err(SqlError::new(3013, format!("Invalid size for column '{column}'."))),
            bits @ 1..=64 => ColumnType::bit(bits as u8),
            _ => {
                return Err(SqlError::new(
                    1439,
                    format!("Display width out of range for column '{column}' (max = 64)"),
                ));
            }
        },
        "date" => ColumnType::date(),
        "time" => ColumnType::time(fsp(column, ty)?),
        "datetime" => ColumnType::datetime(fsp(column, ty)?),
        "timestamp" => ColumnType::timestamp(fsp(column, ty)?),
        "year" => ColumnType::year(),
        // MariaDB's is another word for this one, with a CHECK (`implied_check`).
        "json" if settings.of_mariadb => {
            let id = chosen_collation(None, ty.collation.as_deref(), collation::UTF8MB4_BIN, settings)?;
            ColumnType::longtext(id)
        }
        "json" => ColumnType::json(),
        "uuid" => ColumnType::of_text(TextForm::Uuid),
        "inet4" => ColumnType::of_text(TextForm::Inet4),
        "inet6" => ColumnType::of_text(TextForm::Inet6),
        "vector" => vector_type(column, ty, settings.replicated)?,
        name => match GeometryKind::from_sql_name(name) {
            Some(kind) => geometry_type(ty, kind)?,
            None => text_type(column, ty, default, settings)?,
        },
    };
    if ty.srid.is_some() && made.code != TypeCode::Geometry {
        return Err(SqlError::new(1221, "Incorrect usage of SRID and non-geometry column"));
    }
    Ok(match form {
        Some(_) => ColumnType { form, ..made },
        None => made,
    })
}

fn refuse_collation(ty: &TypeSpec) -> Result<()> {
    let Some(name) = ty.collation.as_ref().filter(|name| *name != "binary") else { return Ok(()) };
    let text = format!("COLLATION '{name}' is not valid for CHARACTER SET 'binary'");
    Err(SqlError::new(1253, text))
}

/// `POINT SRID 4326` and so on. Spatial reference systems are not looked up: every number is one.
fn geometry_type(ty: &TypeSpec, kind: GeometryKind) -> Result<ColumnType> {
    refuse_collation(ty)?;
    let srid =
        ty.srid.map(u32::try_from).transpose().map_err(|_| {
            SqlError::new(1690, format!("SRID value is out of range in '{}'", kind.sql_name()))
        })?;
    Ok(ColumnType::geometry(kind, srid))
}

/// Dimensions of a VECTOR without a number, and of the longest one.
const USUAL_DIMENSIONS: u64 = 2048;
const MOST_DIMENSIONS: u64 = 16_383;

fn vector_type(column: &str, ty: &TypeSpec, replicated: bool) -> Result<ColumnType> {
    refuse_collation(ty)?;
    let dimensions = ty.length.unwrap_or(USUAL_DIMENSIONS);
    // A source has made the table of CREATE TABLE ... SELECT with whatever its query gives.
    let is_of_a_query = replicated && u32::try_from(dimensions).is_ok();
    if dimensions > MOST_DIMENSIONS && !is_of_a_query {
        let (bytes, most) = (dimensions.saturating_mul(4), 4 * MOST_DIMENSIONS);
        let text = format!(
            "Data size ({bytes} Bytes, {dimensions} dimensions) exceeds VECTOR max ({most} Bytes, \
             {MOST_DIMENSIONS} dimensions) for column: '{column}'"
        );
        return Err(SqlError::new(6137, text));
    }
    // MySQL has no vectors without dimensions, and takes 0 for the most that its field counts.
    Ok(ColumnType::vector(if dimensions == 0 { u32::MAX } else { dimensions as u32 }))
}

/// ZEROFILL and the digits of `FLOAT(M,D)` and `DOUBLE(M,D)`.
fn number_form(column: &str, ty: &TypeSpec) -> Result<Option<NumberForm>> {
    let is_float = matches!(ty.name.as_str(), "float" | "double");
    let usual_width = match ty.name.as_str() {
        "tinyint" => 3,
        "smallint" => 5,
        "mediumint" => 8,
        "int" => 10,
        "bigint" => 20,
        "float" if ty.length.is_none_or(|bits| bits <= 24) => 12,
        "float" | "double" => 22,
        "decimal" => {
            let made = decimal_type(column, ty)?;
            let width = made.precision() + u8::from(made.scale() > 0);
            return Ok(ty.zerofill.then_some(NumberForm::new(width, None, true)));
        }
        _ => return Ok(None),
    };
    let decimals = match ty.scale.filter(|_| is_float) {
        Some(scale @ 31..) => {
            let text = format!("Too big scale {scale} specified for column '{column}'. Maximum is 30.");
            return Err(SqlError::new(1425, text));
        }
        Some(scale) if ty.length.is_some_and(|width| width < scale) => {
            let text =
                format!("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{column}').");
            return Err(SqlError::new(1427, text));
        }
        scale => scale.map(|scale| scale as u8),
    };
    let written = ty.length.filter(|width| decimals.is_some() || (!is_float && *width > 0));
    let width = u8::try_from(written.unwrap_or(usual_width)).map_err(|_| {
        SqlError::new(1439, format!("Display width out of range for column '{column}' (max = 255)"))
    })?;
    let has_form = ty.zerofill || decimals.is_some();
    Ok(has_form.then_some(NumberForm::new(width, decimals, ty.zerofill)))
}

fn decimal_type(column: &str, ty: &TypeSpec) -> Result<ColumnType> {
    let (precision, scale) = (ty.length.unwrap_or(10), ty.scale.unwrap_or(0));
    let precision = if precision == 0 { 10 } else { precision };
    if precision > 65 {
        return Err(SqlError::new(
            1426,
            format!("Too-big precision {precision} specified for '{column}'. Maximum is 65."),
        ));
    }
    if scale > 30 {
        return Err(SqlError::new(
            1425,
            format!("Too big scale {scale} specified for column '{column}'. Maximum is 30."),
        ));
    }
    if scale > precision {
        return Err(SqlError::new(
            1427,
            format!("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{column}')."),
        ));
    }
    Ok(ColumnType { unsigned: ty.unsigned, ..ColumnType::decimal(precision as u8, scale as u8) })
}

fn text_type(column: &str, ty: &TypeSpec, default: u16, settings: &DdlSettings) -> Result<ColumnType> {
    let mut id = chosen_collation(ty.charset.as_deref(), ty.collation.as_deref(), default, settings)?;
    if ty.binary && ty.collation.is_none() {
        id = collation::charset_of(id).bin_collation();
    }
    let chars = |least: u64| ty.length.unwrap_or(least);
    let bytes_type = matches!(ty.name.as_str(), "binary" | "varbinary");
    if bytes_type {
        id = collation::BINARY;
    }
    Ok(match ty.name.as_str() {
        "char" | "binary" => {
            let length = chars(1);
            if length > 255 {
                return Err(too_big(column, 255));
            }
            ColumnType::char(length as u32, id)
        }
        "varchar" | "varbinary" => {
            let Some(length) = ty.length else { return Err(SqlError::syntax("", 1)) };
            let most = 65_535 / u64::from(collation::max_bytes_per_char(id));
            if length > most {
                return Err(too_big(column, most));
            }
            ColumnType::varchar(length as u32, id)
        }
        "tinytext" => ColumnType::tinytext(id),
        "mediumtext" => ColumnType::mediumtext(id),
        "longtext" => ColumnType::longtext(id),
        "text" => {
            sized(ty.length.map(|n| n.saturating_mul(u64::from(collation::max_bytes_per_char(id)))), id)
        }
        "tinyblob" => ColumnType::tinyblob(),
        "mediumblob" => ColumnType::mediumblob(),
        "longblob" => ColumnType::longblob(),
        "blob" => sized(ty.length, collation::BINARY),
        "enum" | "set" => member_type(column, ty, id)?,
        other => return Err(SqlError::not_supported(format!("column type {}", other.to_uppercase()))),
    })
}

/// `TEXT(n)` and `BLOB(n)` are the smallest type that holds n bytes.
fn sized(bytes: Option<u64>, id: u16) -> ColumnType {
    match bytes {
        None | Some(256..=65_535) => ColumnType::text(id),
        Some(0..=255) => ColumnType::tinytext(id),
        Some(65_536..=16_777_215) => ColumnType::mediumtext(id),
        Some(_) => ColumnType::longtext(id),
    }
}

/// Bits of a SET.
const MOST_SET_MEMBERS: usize = 64;
/// What two bytes count, less the empty value.
const MOST_ENUM_MEMBERS: usize = 65_535;

fn member_type(column: &str, ty: &TypeSpec, id: u16) -> Result<ColumnType> {
    let is_set = ty.name == "set";
    if is_set && ty.members.len() > MOST_SET_MEMBERS {
        return Err(SqlError::new(1097, format!("Too many strings for column {column} and SET")));
    }
    if ty.members.len() > MOST_ENUM_MEMBERS {
        return Err(SqlError::new(3504, format!("Too many enumeration values for column {column}.")));
    }
    let mut members: Vec<String> = Vec::with_capacity(ty.members.len());
    // Members are equal when their keys are.
    let mut keys = HashSet::with_capacity(ty.members.len());
    for member in &ty.members {
        let member = String::from_utf8(member.clone())
            .map_err(|_| SqlError::new(1300, "Invalid utf8mb4 character string"))?;
        // Trailing spaces are cut from members.
        let member = member.trim_end_matches(' ').to_owned();
        if is_set && member.contains(',') {
            return Err(SqlError::new(1367, format!("Illegal set '{member}' value found during parsing")));
        }
        let mut key = Vec::new();
        match collation::from_utf8mb4(id, member.as_bytes()) {
            Some(stored) => collation::write_key(id, &stored, &mut key),
            None => key.extend_from_slice(member.as_bytes()),
        }
        if !keys.insert(key) {
            let kind = if is_set { "SET" } else { "ENUM" };
            return Err(SqlError::new(
                1291,
                format!("Column '{column}' has duplicated value '{member}' in {kind}"),
            ));
        }
        members.push(member);
    }
    Ok(if is_set { ColumnType::set(members, id) } else { ColumnType::enumeration(members, id) })
}

fn invalid_default(column: &str) -> SqlError {
    SqlError::new(1067, format!("Invalid default value for '{column}'"))
}

/// The literal of a DEFAULT as a value for a column of this type.
fn literal_value(column: &str, written: &Expr, ty: &ColumnType, settings: &DdlSettings) -> Result<Value> {
    Ok(match written {
        Expr::Literal(Literal::Bytes(bytes, charset)) => {
            match charset.as_deref().and_then(Charset::from_name) {
                // Its bytes are characters of that set.
                Some(set) if set != Charset::Binary => {
                    Value::Bytes(collation::to_utf8mb4(set.default_collation(), bytes).into_owned())
                }
                _ => bytes_value(bytes, ty).ok_or_else(|| invalid_default(column))?,
            }
        }
        // MySQL takes no DATE '...' and its kin for a default, MariaDB does.
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
        Expr::Literal(Literal::Float(n)) => Value::Double(*n),
        Expr::Literal(Literal::Text(bytes, _)) => Value::Bytes(bytes.clone()),
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

/// `0x...` and `b'...'`: a number in a column of numbers, and else the bytes of a text in the
/// column's character set.
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

/// Whether a default of ENUM or SET names members. Their numbers, which INSERT takes too, are none
/// here.
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

/// A TIMESTAMP's default, with the zone that it was written in: it is the same moment in every
/// session.
fn moment_text(moment: Value, ty: &ColumnType, zone_offset_s: i32) -> Option<Vec<u8>> {
    let mut text = moment.in_zone(zone_offset_s).text_bytes(Some(ty))?;
    let (sign, minutes) = (if zone_offset_s < 0 { '-' } else { '+' }, zone_offset_s.abs() / 60);
    text.extend_from_slice(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).as_bytes());
    Some(text)
}

/// The stored form of a DEFAULT.
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
        // MariaDB takes any digits for the column's.
        let fits = matches!(ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2)
            && (digits == u64::from(ty.fsp()) || settings.replicated);
        return if is_now && fits {
            Ok(ColumnDefault::CurrentTimestamp)
        } else {
            Err(invalid_default(column))
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
        value = Value::Bytes(text);
    }
    let mut context = settings.conversion(true);
    if settings.replicated {
        // The source has judged its zeros, and may have other modes than those that the event says.
        context.dates = DateModes { no_zero_date: false, no_zero_in_date: false, ..context.dates };
    }
    let (stored, _) = convert::assign(&value, ty, context).map_err(|_| invalid_default(column))?;
    let shown = match &stored {
        Value::Timestamp { seconds: 0, .. } => stored.text_bytes(Some(ty)),
        Value::Timestamp { .. } => moment_text(stored, ty, settings.zone_offset_s),
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

/// A column's definition.
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
        && !spec.auto_increment;
    let default = match &spec.default {
        // Its expression comes when all columns are there.
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
        if spec.default.is_some() {
            return Err(invalid_default(name));
        }
    }
    if spec.comment.chars().count() > 1024 {
        return Err(SqlError::new(1629, format!("Comment for field '{name}' is too long (max = 1024)")));
    }
    Ok(ColumnDef {
        name: name.clone(),
        ty,
        nullable,
        default,
        auto_increment: spec.auto_increment,
        on_update_now: spec.on_update_fsp.is_some(),
        comment: spec.comment.clone(),
        invisible: spec.invisible,
        // Its canonical text comes when all columns are there.
        generated: spec.generated.as_ref().map(|generated| Generated {
            expression: generated.expression.text.clone(),
            stored: generated.stored,
        }),
        roles: super::temporal::roles_of(spec),
    })
}

/// Gives a column of the definition, in which all columns are, its expressions.
///
/// # Errors
/// 1221 for what a generated column cannot have, and what is wrong with the expressions.
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

/// `DEFAULT (expression)`. MariaDB has literals and the time of the statement in parentheses, too.
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

/// Without `explicit_defaults_for_timestamp`: gives the TIMESTAMP columns that a statement has
/// `written` the defaults that it left out. The table's first one is NOW() by itself, and the
/// others have the zero.
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

/// A character column under another character set (`CONVERT TO CHARACTER SET`). A TEXT has room for
/// as many characters as before.
///
/// # Errors
/// 1074 for a VARCHAR that is too long in it, where the mode is strict.
pub(super) fn recollated(column: &ColumnDef, id: u16, settings: &DdlSettings) -> Result<ColumnType> {
    let ty = &column.ty;
    if !ty.is_character() || ty.collation == collation::BINARY {
        return Ok(ty.clone());
    }
    let [before, after] = [ty.collation, id].map(|id| u64::from(collation::max_bytes_per_char(id)));
    Ok(match ty.code {
        TypeCode::String => ColumnType::char(ty.chars(), id),
        TypeCode::Varchar if ColumnType::char_fits(ty.chars(), id) => ColumnType::varchar(ty.chars(), id),
        TypeCode::Varchar if settings.strict && !settings.replicated => {
            return Err(too_big(&column.name, u64::from(u16::MAX) / after));
        }
        TypeCode::Varchar => ColumnType::mediumtext(id),
        TypeCode::Blob if after > before => sized(Some(ty.max_bytes() / before * after), id),
        _ => ColumnType { collation: id, ..ty.clone() },
    })
}
