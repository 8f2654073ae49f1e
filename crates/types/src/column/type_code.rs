//! The types of columns by their numbers.

/// The type byte of a column, with MySQL's numbers (`enum_field_types`, client protocol and
/// TABLE_MAP event).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // The names are those of MySQL.
pub enum TypeCode {
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    /// The TIMESTAMP before 5.6.4: 4 bytes little endian, no fraction.
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    /// The TIME before 5.6.4: 3 bytes little endian, decimal HHMMSS.
    Time = 11,
    /// The DATETIME before 5.6.4: 8 bytes little endian, decimal YYYYMMDDHHMMSS.
    Datetime = 12,
    Year = 13,
    Varchar = 15,
    Bit = 16,
    Timestamp2 = 17,
    Datetime2 = 18,
    Time2 = 19,
    /// MariaDB's COMPRESSED blob.
    BlobCompressed = 140,
    /// MariaDB's COMPRESSED varchar.
    VarcharCompressed = 141,
    Vector = 242,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    Blob = 252,
    String = 254,
    Geometry = 255,
}

impl TypeCode {
    /// Returns the type with this number. All sizes of BLOB are [`TypeCode::Blob`], and
    /// `VAR_STRING` is [`TypeCode::Varchar`].
    pub fn from_u8(code: u8) -> Option<TypeCode> {
        Some(match code {
            1 => TypeCode::Tiny,
            2 => TypeCode::Short,
            3 => TypeCode::Long,
            4 => TypeCode::Float,
            5 => TypeCode::Double,
            6 => TypeCode::Null,
            7 => TypeCode::Timestamp,
            8 => TypeCode::LongLong,
            9 => TypeCode::Int24,
            10 | 14 => TypeCode::Date,
            11 => TypeCode::Time,
            12 => TypeCode::Datetime,
            13 => TypeCode::Year,
            15 | 253 => TypeCode::Varchar,
            16 => TypeCode::Bit,
            17 => TypeCode::Timestamp2,
            18 => TypeCode::Datetime2,
            19 => TypeCode::Time2,
            140 => TypeCode::BlobCompressed,
            141 => TypeCode::VarcharCompressed,
            242 => TypeCode::Vector,
            245 => TypeCode::Json,
            246 => TypeCode::NewDecimal,
            247 => TypeCode::Enum,
            248 => TypeCode::Set,
            249..=252 => TypeCode::Blob,
            254 => TypeCode::String,
            255 => TypeCode::Geometry,
            _ => return None,
        })
    }
}
