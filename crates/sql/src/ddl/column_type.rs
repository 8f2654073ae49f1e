//! Turns a written type into the type of a column, a parameter or a result.

use super::settings::{DdlSettings, chosen_collation};
use crate::ast::TypeSpec;
use crate::error::{Result, SqlError};
use engine::ColumnDef;
use std::collections::HashSet;
use types::collation;
use types::convert::DateModes;
use types::decimal::{MAX_COLUMN_SCALE, MAX_SCALE};
use types::words::WordSizes;
use types::{ColumnType, GeometryKind, NumberForm, TextForm, TypeCode, Zone};

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

/// Returns the type of a column in a table whose default collation is `default`.
pub(super) fn column_type(
    column: &str,
    ty: &TypeSpec,
    default: u16,
    settings: &DdlSettings,
) -> Result<ColumnType> {
    let unsigned = ty.unsigned;
    let form = number_form(column, ty, settings)?;
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
        "decimal" => decimal_type(column, ty, settings)?,
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
        "year" if ty.length.is_some_and(|width| width != 4) && !settings.replicated => {
            return Err(SqlError::new(1818, "Invalid display width. Use YEAR instead."));
        }
        "year" => ColumnType::year(),
        // In MariaDB, JSON is another word for LONGTEXT with a CHECK (`implied_check`).
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

/// Returns the type of `POINT SRID 4326` and the like. Spatial reference systems are not looked up,
/// so any number is accepted.
fn geometry_type(ty: &TypeSpec, kind: GeometryKind) -> Result<ColumnType> {
    refuse_collation(ty)?;
    let srid =
        ty.srid.map(u32::try_from).transpose().map_err(|_| {
            SqlError::new(1690, format!("SRID value is out of range in '{}'", kind.sql_name()))
        })?;
    Ok(ColumnType::geometry(kind, srid))
}

/// The dimensions of a VECTOR without a number, and the most that a VECTOR may have.
const USUAL_DIMENSIONS: u64 = 2048;
const MOST_DIMENSIONS: u64 = 16_383;

fn vector_type(column: &str, ty: &TypeSpec, replicated: bool) -> Result<ColumnType> {
    refuse_collation(ty)?;
    let dimensions = ty.length.unwrap_or(USUAL_DIMENSIONS);
    // In CREATE TABLE ... SELECT, a source takes whatever dimensions its query gives.
    let is_of_a_query = replicated && u32::try_from(dimensions).is_ok();
    if dimensions > MOST_DIMENSIONS && !is_of_a_query {
        let (bytes, most) = (dimensions.saturating_mul(4), 4 * MOST_DIMENSIONS);
        let text = format!(
            "Data size ({bytes} Bytes, {dimensions} dimensions) exceeds VECTOR max ({most} Bytes, \
             {MOST_DIMENSIONS} dimensions) for column: '{column}'"
        );
        return Err(SqlError::new(6137, text));
    }
    // MySQL has no vectors without dimensions, and takes 0 for the largest number that its field
    // can hold.
    Ok(ColumnType::vector(if dimensions == 0 { u32::MAX } else { dimensions as u32 }))
}

/// Returns ZEROFILL and the digits of `FLOAT(M,D)` and `DOUBLE(M,D)`.
fn number_form(column: &str, ty: &TypeSpec, settings: &DdlSettings) -> Result<Option<NumberForm>> {
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
            let made = decimal_type(column, ty, settings)?;
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

fn decimal_type(column: &str, ty: &TypeSpec, settings: &DdlSettings) -> Result<ColumnType> {
    let (precision, scale) = (ty.length.unwrap_or(10), ty.scale.unwrap_or(0));
    let precision = if precision == 0 { 10 } else { precision };
    if precision > 65 {
        return Err(SqlError::new(
            1426,
            format!("Too-big precision {precision} specified for '{column}'. Maximum is 65."),
        ));
    }
    let most = if settings.of_mariadb { MAX_COLUMN_SCALE } else { MAX_SCALE };
    if scale > u64::from(most) {
        return Err(SqlError::new(
            1425,
            format!("Too big scale {scale} specified for column '{column}'. Maximum is {most}."),
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

/// Returns the type of `TEXT(n)` or `BLOB(n)`: the smallest one that holds n bytes.
fn sized(bytes: Option<u64>, id: u16) -> ColumnType {
    match bytes {
        None | Some(256..=65_535) => ColumnType::text(id),
        Some(0..=255) => ColumnType::tinytext(id),
        Some(65_536..=16_777_215) => ColumnType::mediumtext(id),
        Some(_) => ColumnType::longtext(id),
    }
}

/// The number of bits in a SET.
const MOST_SET_MEMBERS: usize = 64;
/// The numbers that two bytes can hold, without 0, which stands for no member.
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
    // Members are equal if their sort keys are.
    let mut keys = HashSet::with_capacity(ty.members.len());
    for member in &ty.members {
        let member = String::from_utf8(member.clone())
            .map_err(|_| SqlError::new(1300, "Invalid utf8mb4 character string"))?;
        // Trailing spaces are no part of a member.
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

/// Returns the type of a routine's parameter or result, or `None` for a type that this server
/// lacks.
pub(crate) fn kept_type(spec: &TypeSpec, schema_collation: u16) -> Option<ColumnType> {
    let settings = DdlSettings {
        collation: schema_collation,
        utf8mb4_collation: collation::UTF8MB4_0900_AI_CI,
        strict: false,
        no_engine_substitution: false,
        is_temporary: false,
        dates: DateModes::default(),
        zero_generates: true,
        zone: Zone::UTC,
        now_us: 0,
        foreign_key_checks: false,
        unique_parents: false,
        explicit_timestamps: true,
        inline_references: false,
        replicated: true,
        of_mariadb: false,
        client_collation: collation::UTF8MB4_GENERAL_CI,
        literal_collation: schema_collation,
        word_sizes: WordSizes::default(),
        types: None,
    };
    column_type("", spec, schema_collation, &settings).ok()
}

/// Returns the type of a character column in another character set (`CONVERT TO CHARACTER SET`). A
/// TEXT keeps room for as many characters as before.
///
/// # Errors
/// Returns 1074 for a VARCHAR that becomes too long, in strict mode.
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
