//! What follows from a type alone: whether its values are numbers or text, and how long they are.

use types::{ColumnType, NumberForm, TypeCode, collation};

/// The form of what is true or false by itself.
pub(crate) fn truth_form() -> NumberForm {
    NumberForm::new(1, None, false)
}

/// The kinds of numbers in arithmetic; the later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NumericClass {
    Integer,
    Decimal,
    Double,
}

/// What a type counts as in arithmetic.
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

/// DECIMAL of so many digits, within MySQL's limits.
pub(crate) fn decimal_type(integer_digits: u32, scale: u32) -> ColumnType {
    let scale = scale.min(30);
    let precision = (integer_digits + scale).clamp(1, 65);
    ColumnType::decimal(precision as u8, scale.min(precision) as u8)
}

/// Whether values of the type are characters or bytes.
pub(crate) fn is_text(ty: &ColumnType) -> bool {
    ty.is_character() || ty.is_blob() || matches!(ty.code, TypeCode::Varchar | TypeCode::String)
}

/// Whether values of the type are times without a date.
pub(crate) fn is_time(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Time | TypeCode::Time2)
}

/// The collation of a type's values as text, which documents have too.
pub(crate) fn text_collation(ty: &ColumnType) -> u16 {
    if ty.code == TypeCode::Json { collation::UTF8MB4_BIN } else { ty.collation }
}

/// Characters a value of the type may have as text.
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

/// The length of a type's values as text of a collation: bytes for `binary`, else characters.
pub(crate) fn length_in(ty: &ColumnType, id: u16) -> u32 {
    let bytes_per_char = match id == collation::BINARY && is_text(ty) {
        true => u32::from(collation::max_bytes_per_char(text_collation(ty))),
        false => 1,
    };
    text_length(ty).saturating_mul(bytes_per_char)
}

/// A text type for so many characters: VARCHAR, or LONGTEXT when it is longer than that can be.
pub(crate) fn text_type(chars: u32, collation_id: u16) -> ColumnType {
    if ColumnType::char_fits(chars, collation_id) {
        ColumnType::varchar(chars, collation_id)
    } else {
        ColumnType::longtext(collation_id)
    }
}

/// Whether values of the type are numbers.
pub(crate) fn is_number(ty: &ColumnType) -> bool {
    ty.is_integer()
        || matches!(
            ty.code,
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Year | TypeCode::Bit
        )
}

/// Digits before the point that a value of the type may have.
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

/// Digits behind the point.
pub(crate) fn scale_of(ty: &ColumnType) -> u32 {
    match ty.code {
        TypeCode::NewDecimal => u32::from(ty.scale()),
        _ => u32::from(ty.fsp()),
    }
}

/// Bytes that MySQL takes a value of the type as text for at most: of a TEXT, each of its bytes for
/// a character.
pub(crate) fn announced_bytes(ty: &ColumnType) -> u64 {
    let per_char = u64::from(collation::max_bytes_per_char(ty.collation));
    match ty.code {
        TypeCode::Blob => ty.max_bytes().saturating_mul(per_char).min(u64::from(u32::MAX)),
        _ if is_text(ty) => u64::from(text_length(ty)) * per_char,
        _ => u64::from(text_length(ty)),
    }
}

/// Bytes, so many of them at most. Columns that are made of more than a few have MySQL's type for
/// long ones.
pub(crate) fn bytes_type(bytes: u64) -> ColumnType {
    match bytes {
        0..=512 => ColumnType::varbinary(bytes as u32),
        513..=65_535 => ColumnType::blob(),
        _ => ColumnType::longblob(),
    }
}
