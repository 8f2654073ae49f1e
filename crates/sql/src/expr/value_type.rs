//! Properties that follow from a type alone: whether its values are numbers or text, and how long
//! they are.

use types::{ColumnType, NumberForm, TypeCode, collation};

/// Returns the form of values that are true or false.
pub(crate) fn truth_form() -> NumberForm {
    NumberForm::new(1, None, false)
}

/// The kinds of numbers in arithmetic. The largest kind among the operands is the kind of the
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NumericClass {
    Integer,
    Decimal,
    Double,
}

/// Returns the kind of number that a type's values are in arithmetic.
pub(crate) fn numeric_class(ty: &ColumnType) -> NumericClass {
    match ty.code {
        TypeCode::NewDecimal => NumericClass::Decimal,
        TypeCode::Tiny
        | TypeCode::Short
        | TypeCode::Int24
        | TypeCode::Long
        | TypeCode::LongLong
        | TypeCode::Year
        | TypeCode::Bit
        | TypeCode::Date
        | TypeCode::Enum
        | TypeCode::Set
        | TypeCode::Null => NumericClass::Integer,
        TypeCode::Datetime
        | TypeCode::Datetime2
        | TypeCode::Timestamp
        | TypeCode::Timestamp2
        | TypeCode::Time
        | TypeCode::Time2 => {
            if ty.fsp() == 0 {
                NumericClass::Integer
            } else {
                NumericClass::Decimal
            }
        }
        _ => NumericClass::Double,
    }
}

/// Returns a DECIMAL type with this many digits before and after the point, within MySQL's limits.
pub(crate) fn decimal_type(integer_digits: u32, scale: u32) -> ColumnType {
    let scale = scale.min(30);
    let precision = (integer_digits + scale).clamp(1, 65);
    ColumnType::decimal(precision as u8, scale.min(precision) as u8)
}

/// Reports whether values of the type are characters or bytes.
pub(crate) fn is_text(ty: &ColumnType) -> bool {
    ty.is_character() || ty.is_blob() || matches!(ty.code, TypeCode::Varchar | TypeCode::String)
}

/// Reports whether values of the type are times without a date.
pub(crate) fn is_time(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Time | TypeCode::Time2)
}

/// Returns the collation of a type's values as text. JSON documents have one too.
pub(crate) fn text_collation(ty: &ColumnType) -> u16 {
    if ty.code == TypeCode::Json { collation::UTF8MB4_BIN } else { ty.collation }
}

/// Returns the most characters that a value of the type may have as text.
pub(crate) fn text_length(ty: &ColumnType) -> u32 {
    if is_text(ty) {
        let per_char = u64::from(collation::max_bytes_per_char(ty.collation));
        return match ty.code {
            TypeCode::Enum | TypeCode::Set => ty.display_length() / 4,
            _ => (ty.max_bytes() / per_char).min(u64::from(u32::MAX)) as u32,
        };
    }
    ty.display_length()
}

/// Returns the length of a type's values as text of a collation: in bytes for `binary`, otherwise
/// in characters.
pub(crate) fn length_in(ty: &ColumnType, id: u16) -> u32 {
    let bytes_per_char = match id == collation::BINARY && is_text(ty) {
        true => u32::from(collation::max_bytes_per_char(text_collation(ty))),
        false => 1,
    };
    text_length(ty).saturating_mul(bytes_per_char)
}

/// Returns a text type for at most `chars` characters: VARCHAR, or LONGTEXT where VARCHAR is too
/// short.
pub(crate) fn text_type(chars: u32, collation_id: u16) -> ColumnType {
    if ColumnType::char_fits(chars, collation_id) {
        ColumnType::varchar(chars, collation_id)
    } else {
        ColumnType::longtext(collation_id)
    }
}

/// Reports whether values of the type are numbers.
pub(crate) fn is_number(ty: &ColumnType) -> bool {
    ty.is_integer()
        || matches!(
            ty.code,
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Year | TypeCode::Bit
        )
}

/// Returns the most digits that a value of the type may have before the decimal point.
pub(crate) fn integer_digits(ty: &ColumnType) -> u32 {
    match ty.code {
        TypeCode::NewDecimal => u32::from(ty.precision() - ty.scale()),
        TypeCode::Tiny => 3,
        TypeCode::Short => 5,
        TypeCode::Int24 => 8,
        TypeCode::Long => 10,
        TypeCode::Date => 8,
        TypeCode::Year => 4,
        TypeCode::Datetime | TypeCode::Datetime2 | TypeCode::Timestamp | TypeCode::Timestamp2 => 14,
        TypeCode::Time | TypeCode::Time2 => 7,
        TypeCode::LongLong if ty.unsigned => 20,
        _ => 19,
    }
}

/// Returns the number of digits after the decimal point.
pub(crate) fn scale_of(ty: &ColumnType) -> u32 {
    match ty.code {
        TypeCode::NewDecimal => u32::from(ty.scale()),
        _ => u32::from(ty.fsp()),
    }
}

/// Returns the length in bytes that MySQL announces for a value of the type as text. For a TEXT it
/// counts each byte as a character.
pub(crate) fn announced_bytes(ty: &ColumnType) -> u64 {
    let per_char = u64::from(collation::max_bytes_per_char(ty.collation));
    match ty.code {
        TypeCode::Blob => ty.max_bytes().saturating_mul(per_char).min(u64::from(u32::MAX)),
        _ if is_text(ty) => u64::from(text_length(ty)) * per_char,
        _ => u64::from(text_length(ty)),
    }
}

/// Returns a type for at most `bytes` bytes. As in MySQL, columns that are made of more than a few
/// bytes have a BLOB type.
pub(crate) fn bytes_type(bytes: u64) -> ColumnType {
    match bytes {
        0..=512 => ColumnType::varbinary(bytes as u32),
        513..=65_535 => ColumnType::blob(),
        _ => ColumnType::longblob(),
    }
}
