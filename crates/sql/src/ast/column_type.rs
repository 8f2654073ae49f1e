//! Types as they are written.

/// A column's type as it is written: the name in lower case (`int`; `double precision` is
/// `double`), arguments, attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypeSpec {
    pub name: String,
    pub length: Option<u64>,
    pub scale: Option<u64>,
    pub members: Vec<Vec<u8>>,
    pub unsigned: bool,
    pub zerofill: bool,
    pub binary: bool,
    pub charset: Option<String>,
    pub collation: Option<String>,
    /// `SRID n`
    pub srid: Option<u64>,
}

/// The type of CAST and CONVERT.
#[derive(Debug, Clone, PartialEq)]
pub enum CastType {
    Signed,
    Unsigned,
    Char { length: Option<u64>, charset: Option<String> },
    Binary { length: Option<u64> },
    Decimal { precision: u64, scale: u64 },
    Double,
    Float,
    Date,
    Time { fsp: u8 },
    DateTime { fsp: u8 },
    Year,
    Json,
}
