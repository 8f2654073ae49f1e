//! The column definitions of a result set, with their type codes and flags.

use crate::wire::{Malformed, Reader, put_lenenc_bytes};
use std::borrow::Cow;
use types::collation;

/// The type codes of columns and parameters (`MYSQL_TYPE_*`).
pub mod field_type {
    /// DECIMAL of servers before 5.0.
    pub const DECIMAL: u8 = 0;
    /// TINYINT.
    pub const TINY: u8 = 1;
    /// SMALLINT.
    pub const SHORT: u8 = 2;
    /// INT.
    pub const LONG: u8 = 3;
    /// FLOAT.
    pub const FLOAT: u8 = 4;
    /// DOUBLE.
    pub const DOUBLE: u8 = 5;
    /// NULL.
    pub const NULL: u8 = 6;
    /// TIMESTAMP.
    pub const TIMESTAMP: u8 = 7;
    /// BIGINT.
    pub const LONGLONG: u8 = 8;
    /// MEDIUMINT.
    pub const INT24: u8 = 9;
    /// DATE.
    pub const DATE: u8 = 10;
    /// TIME.
    pub const TIME: u8 = 11;
    /// DATETIME.
    pub const DATETIME: u8 = 12;
    /// YEAR.
    pub const YEAR: u8 = 13;
    /// VARCHAR, inside the server only.
    pub const VARCHAR: u8 = 15;
    /// BIT.
    pub const BIT: u8 = 16;
    /// BOOL, of parameters only.
    pub const BOOL: u8 = 244;
    /// JSON.
    pub const JSON: u8 = 245;
    /// DECIMAL.
    pub const NEWDECIMAL: u8 = 246;
    /// ENUM.
    pub const ENUM: u8 = 247;
    /// SET.
    pub const SET: u8 = 248;
    /// TINYBLOB and TINYTEXT.
    pub const TINY_BLOB: u8 = 249;
    /// MEDIUMBLOB and MEDIUMTEXT.
    pub const MEDIUM_BLOB: u8 = 250;
    /// LONGBLOB and LONGTEXT.
    pub const LONG_BLOB: u8 = 251;
    /// BLOB and TEXT.
    pub const BLOB: u8 = 252;
    /// VARCHAR and VARBINARY.
    pub const VAR_STRING: u8 = 253;
    /// CHAR and BINARY.
    pub const STRING: u8 = 254;
    /// Spatial types.
    pub const GEOMETRY: u8 = 255;
}

/// The flags of a column definition.
pub mod column_flag {
    /// NOT NULL.
    pub const NOT_NULL: u16 = 1;
    /// Part of the primary key.
    pub const PRI_KEY: u16 = 2;
    /// Part of a unique key.
    pub const UNIQUE_KEY: u16 = 4;
    /// Part of a key.
    pub const MULTIPLE_KEY: u16 = 8;
    /// BLOB or TEXT.
    pub const BLOB: u16 = 16;
    /// UNSIGNED.
    pub const UNSIGNED: u16 = 32;
    /// ZEROFILL.
    pub const ZEROFILL: u16 = 64;
    /// The binary character set.
    pub const BINARY: u16 = 128;
    /// ENUM.
    pub const ENUM: u16 = 256;
    /// AUTO_INCREMENT.
    pub const AUTO_INCREMENT: u16 = 512;
    /// TIMESTAMP.
    pub const TIMESTAMP: u16 = 1024;
    /// SET.
    pub const SET: u16 = 2048;
    /// The column has no default.
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    /// ON UPDATE NOW().
    pub const ON_UPDATE_NOW: u16 = 8192;
    /// A number.
    pub const NUM: u16 = 32768;
}

/// The collation id of the binary character set.
pub const COLLATION_BINARY: u16 = 63;

/// One column of a result set (`ColumnDefinition41`). A server borrows the names from its plan; a
/// client owns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<'a> {
    /// The schema of the table. It is empty for expressions.
    pub schema: Cow<'a, str>,
    /// The table's alias.
    pub table: Cow<'a, str>,
    /// The table's own name.
    pub org_table: Cow<'a, str>,
    /// The column's alias.
    pub name: Cow<'a, str>,
    /// The column's own name.
    pub org_name: Cow<'a, str>,
    /// The collation id of the cells as they are sent.
    pub collation: u16,
    /// The display length in bytes.
    pub length_bytes: u32,
    /// The type code, one of [`field_type`].
    pub field_type: u8,
    /// The flags, bits of [`column_flag`].
    pub flags: u16,
    /// The number of digits after the point, 31 for numbers without a fixed count.
    pub decimals: u8,
}

impl Column<'_> {
    /// Appends the packet, with the names in the character set of `collation_id`.
    pub fn encode(&self, collation_id: u16, out: &mut Vec<u8>) {
        put_lenenc_bytes(out, b"def");
        for text in [&self.schema, &self.table, &self.org_table, &self.name, &self.org_name] {
            put_lenenc_bytes(out, &collation::from_utf8mb4_lossy(collation_id, text.as_bytes()));
        }
        out.push(0x0c);
        out.extend_from_slice(&self.collation.to_le_bytes());
        out.extend_from_slice(&self.length_bytes.to_le_bytes());
        out.push(self.field_type);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0, 0]);
    }

    /// Reads the packet. The default value of COM_FIELD_LIST, which may follow, is not read.
    pub fn decode(payload: &[u8]) -> Result<Column<'static>, Malformed> {
        const WHAT: &str = "column definition";
        let mut r = Reader::new(payload);
        r.lenenc_bytes(WHAT)?;
        let mut text = || Ok(Cow::Owned(String::from_utf8_lossy(r.lenenc_bytes(WHAT)?).into_owned()));
        let (schema, table, org_table, name, org_name) = (text()?, text()?, text()?, text()?, text()?);
        r.lenenc_int(WHAT)?;
        Ok(Column {
            schema,
            table,
            org_table,
            name,
            org_name,
            collation: r.u16(WHAT)?,
            length_bytes: r.u32(WHAT)?,
            field_type: r.u8(WHAT)?,
            flags: r.u16(WHAT)?,
            decimals: r.u8(WHAT)?,
        })
    }

    /// Reports whether the column is UNSIGNED.
    pub fn is_unsigned(&self) -> bool {
        self.flags & column_flag::UNSIGNED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_survives_the_round_trip_and_every_cut() {
        let column = Column {
            schema: "test".into(),
            table: "t".into(),
            org_table: "t1".into(),
            name: "a".into(),
            org_name: "b".into(),
            collation: 255,
            length_bytes: 480,
            field_type: field_type::VAR_STRING,
            flags: column_flag::NOT_NULL,
            decimals: 0,
        };
        let mut out = Vec::new();
        column.encode(collation::UTF8MB4_0900_AI_CI, &mut out);
        assert_eq!(Column::decode(&out), Ok(column));
        for cut in 0..out.len() - 2 {
            assert!(Column::decode(&out[..cut]).is_err());
        }
    }
}
