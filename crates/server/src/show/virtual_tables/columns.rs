//! Columns of computed tables with exactly the types that MySQL gives them.

use crate::show::result_table;
use sql::{ColumnMeta, column_flag};
use types::ColumnType;

const UTF8MB4_0900_AI_CI: u16 = 255;
const UTF8MB4_BIN: u16 = 46;
const ASCII_GENERAL_CI: u16 = 11;

/// The type of a column. Those whose names end with `OrNull` allow NULL.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `bigint unsigned`
    Number,
    NumberOrNull,
    /// `int unsigned`
    SmallNumber,
    /// `bigint`
    Count,
    /// `int`
    IntOrNull,
    /// `double(7,6)`
    Share,
    /// `varchar` of so many characters.
    Text(u32),
    TextOrNull(u32),
    LongText,
    LongTextOrNull,
    /// `char(32)`, whose case counts.
    UserOrNull,
    /// `char(255)` in ASCII.
    HostOrNull,
    /// `timestamp(6)`
    Moment,
    OneOf(&'static [&'static str]),
    OneOfOrNull(&'static [&'static str]),
}

/// Returns the columns with these names.
pub fn columns(all: &[(&str, Kind)]) -> Vec<ColumnMeta> {
    all.iter().map(|(name, kind)| column(name, *kind)).collect()
}

fn column(name: &str, kind: Kind) -> ColumnMeta {
    let members = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let (ty, nullable) = match kind {
        Kind::Number => (ColumnType::bigint(true), false),
        Kind::NumberOrNull => (ColumnType::bigint(true), true),
        Kind::SmallNumber => (ColumnType::int(true), false),
        Kind::Count => (ColumnType::bigint(false), false),
        Kind::IntOrNull => (ColumnType::int(false), true),
        Kind::Share => (ColumnType::double(), false),
        Kind::Text(chars) => (ColumnType::varchar(chars, UTF8MB4_0900_AI_CI), false),
        Kind::TextOrNull(chars) => (ColumnType::varchar(chars, UTF8MB4_0900_AI_CI), true),
        Kind::LongText => (ColumnType::longtext(UTF8MB4_0900_AI_CI), false),
        Kind::LongTextOrNull => (ColumnType::longtext(UTF8MB4_0900_AI_CI), true),
        Kind::UserOrNull => (ColumnType::char(32, UTF8MB4_BIN), true),
        Kind::HostOrNull => (ColumnType::char(255, ASCII_GENERAL_CI), true),
        Kind::Moment => (ColumnType::timestamp(6), false),
        Kind::OneOf(words) => (ColumnType::enumeration(members(words), UTF8MB4_0900_AI_CI), false),
        Kind::OneOfOrNull(words) => (ColumnType::enumeration(members(words), UTF8MB4_0900_AI_CI), true),
    };
    let mut flags = if nullable { 0 } else { column_flag::NOT_NULL };
    if ty.unsigned {
        flags |= column_flag::UNSIGNED;
    }
    if matches!(kind, Kind::Number | Kind::NumberOrNull | Kind::SmallNumber | Kind::Count | Kind::IntOrNull) {
        flags |= column_flag::BINARY;
    }
    let decimals = if matches!(kind, Kind::Share) { 6 } else { 0 };
    ColumnMeta { decimals, ..result_table::column(name, ty, flags) }
}
