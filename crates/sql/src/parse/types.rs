//! Parsing of the types of columns.

use super::Parser;
use crate::ast::TypeSpec;
use crate::error::Result;
use crate::lexical::LexMode;

impl Parser<'_> {
    pub(super) fn type_spec(&mut self) -> Result<TypeSpec> {
        let mode = self.mode_of_type()?;
        let word = self.upper();
        let mut ty = TypeSpec {
            name: type_name(&word, mode).ok_or_else(|| self.error())?.to_owned(),
            ..TypeSpec::default()
        };
        self.advance();
        match word.as_str() {
            "DOUBLE" => {
                self.eat("PRECISION");
            }
            "CHAR" | "CHARACTER" | "NCHAR" if self.eat_any(&["VARYING", "VARCHAR"]) => {
                ty.name = "varchar".to_owned()
            }
            "NATIONAL" => {
                let varying = self.is_any(&["VARCHAR", "VARCHARACTER"]);
                self.advance();
                ty.name = if varying || self.eat("VARYING") { "varchar" } else { "char" }.to_owned();
            }
            "LONG" => {
                if self.eat("VARBINARY") {
                    ty.name = "mediumblob".to_owned();
                } else {
                    let _ = self.eat_any(&["VARCHAR", "VARCHARACTER"]);
                }
            }
            "BOOL" | "BOOLEAN" => ty.length = Some(1),
            _ => {}
        }
        if matches!(word.as_str(), "NATIONAL" | "NCHAR" | "NVARCHAR") {
            ty.charset = Some("utf8mb3".to_owned());
        }
        self.type_arguments(&mut ty)?;
        if mode.oracle && word == "NUMBER" && ty.length.is_none() {
            ty.name = "double".to_owned();
        }
        let is_unsigned = self.type_attributes(&mut ty)?;
        if !matches!(word.as_str(), "BOOL" | "BOOLEAN") {
            self.warn_of_type(&ty, is_unsigned);
        }
        if matches!(word.as_str(), "NATIONAL" | "NCHAR" | "NVARCHAR") {
            self.hints.warnings.push((3720, NATIONAL.to_owned()));
        }
        Ok(ty)
    }

    /// Returns the mode that a type's name is read in. MariaDB writes a schema before names that
    /// the mode ORACLE gives another meaning.
    fn mode_of_type(&mut self) -> Result<LexMode> {
        let oracle = match self.upper().as_str() {
            "MARIADB_SCHEMA" if self.mode.of_source => false,
            "ORACLE_SCHEMA" if self.mode.of_source => true,
            _ => {
                let oracle = self.mode.oracle && self.mode.of_source && !self.mode.of_mysql;
                return Ok(LexMode { oracle, ..self.mode });
            }
        };
        self.advance();
        self.expect_symbol(".")?;
        Ok(LexMode { oracle, ..self.mode })
    }

    /// Warns of what is deprecated in a type, in MySQL's order. `is_unsigned` says whether UNSIGNED
    /// was written.
    fn warn_of_type(&mut self, ty: &TypeSpec, is_unsigned: bool) {
        let mut warn = |is_meant: bool, code: u16, text: &str| {
            if is_meant {
                self.hints.warnings.push((code, text.to_owned()));
            }
        };
        let is = |names: &[&str]| names.contains(&ty.name.as_str());
        let is_float = is(&["float", "double"]);
        warn(
            ty.zerofill,
            1681,
            "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to \
             zero-pad numbers, or store the formatted numbers in a CHAR column.",
        );
        warn(
            ty.length.is_some() && is(&["tinyint", "smallint", "mediumint", "int", "bigint"]),
            1681,
            "Integer display width is deprecated and will be removed in a future release.",
        );
        warn(
            is_float && ty.scale.is_some(),
            1681,
            "Specifying number of digits for floating point data types is deprecated and will be removed in a future \
             release.",
        );
        warn(
            is_unsigned && (is_float || is(&["decimal"])),
            1681,
            "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a \
             future release.",
        );
        warn(
            is(&["year"]) && ty.length == Some(4),
            1287,
            "'YEAR(4)' is deprecated and will be removed in a future release. Please use YEAR instead",
        );
        warn(
            ty.binary,
            1287,
            "'BINARY as attribute of a type' is deprecated and will be removed in a future release. Please use a \
             CHARACTER SET clause with _bin collation instead",
        );
    }

    pub(super) fn type_arguments(&mut self, ty: &mut TypeSpec) -> Result<()> {
        if matches!(ty.name.as_str(), "enum" | "set") {
            ty.members = self.parenthesized(Self::text_literal)?;
        } else if types::GeometryKind::from_sql_name(&ty.name).is_some() {
        } else if self.eat_symbol("(") {
            ty.length = Some(self.unsigned()?);
            if self.eat_symbol(",") {
                ty.scale = Some(self.unsigned()?);
            }
            self.expect_symbol(")")?;
        }
        Ok(())
    }

    /// Reads the words behind a type. Returns whether UNSIGNED is one of them, which ZEROFILL means
    /// too.
    pub(super) fn type_attributes(&mut self, ty: &mut TypeSpec) -> Result<bool> {
        let mut is_unsigned = false;
        loop {
            match () {
                _ if self.eat("UNSIGNED") => (ty.unsigned, is_unsigned) = (true, true),
                _ if self.eat("SIGNED") => {}
                _ if self.eat("ZEROFILL") => {
                    ty.zerofill = true;
                    ty.unsigned = true;
                }
                _ if self.eat("BINARY") => ty.binary = true,
                _ if self.eat("BYTE") => ty.charset = Some("binary".to_owned()),
                _ if self.eat("ASCII") => {
                    self.warn_of_charset_word("ASCII");
                    ty.charset = Some("latin1".to_owned());
                }
                _ if self.eat("UNICODE") => {
                    self.warn_of_charset_word("UNICODE");
                    ty.charset = Some("ucs2".to_owned());
                }
                _ if self.eat_charset_word() => {
                    self.eat_symbol("=");
                    ty.charset = Some(self.charset_name()?);
                }
                // This attribute of a geometry is MariaDB's, which does not show it again.
                _ if self.mode.of_source && self.eat("REF_SYSTEM_ID") => {
                    self.eat_symbol("=");
                    self.unsigned()?;
                }
                // This attribute is MariaDB's. Values are stored uncompressed here.
                _ if self.mode.of_source && self.eat("COMPRESSED") => {
                    if self.eat_symbol("=") {
                        self.string_or_name()?;
                    }
                }
                _ => return Ok(is_unsigned),
            }
        }
    }
}

/// MySQL's warning of the words NATIONAL, NCHAR and NVARCHAR.
const NATIONAL: &str = "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in \
                        a future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.";

/// Returns the name under which a type is kept.
fn type_name(word: &str, mode: LexMode) -> Option<&'static str> {
    Some(match word {
        "DATE" if mode.oracle => "datetime",
        "BLOB" if mode.oracle => "longblob",
        "CLOB" if mode.oracle => "longtext",
        "NUMBER" if mode.oracle => "decimal",
        "RAW" if mode.oracle => "varbinary",
        "VARCHAR2" if mode.oracle => "varchar",
        "TINYINT" | "INT1" | "BOOL" | "BOOLEAN" => "tinyint",
        "SMALLINT" | "INT2" => "smallint",
        "MEDIUMINT" | "INT3" | "MIDDLEINT" => "mediumint",
        "INT" | "INTEGER" | "INT4" => "int",
        "BIGINT" | "INT8" => "bigint",
        "FLOAT" | "FLOAT4" => "float",
        "REAL" if mode.real_as_float => "float",
        "DOUBLE" | "REAL" | "FLOAT8" => "double",
        "DECIMAL" | "DEC" | "NUMERIC" | "FIXED" => "decimal",
        "BIT" => "bit",
        "CHAR" | "CHARACTER" | "NCHAR" | "NATIONAL" => "char",
        "VARCHAR" | "VARCHARACTER" | "NVARCHAR" => "varchar",
        "BINARY" => "binary",
        "VARBINARY" => "varbinary",
        "TINYTEXT" => "tinytext",
        "TEXT" => "text",
        "MEDIUMTEXT" | "LONG" => "mediumtext",
        "LONGTEXT" => "longtext",
        "TINYBLOB" => "tinyblob",
        "BLOB" => "blob",
        "MEDIUMBLOB" => "mediumblob",
        "LONGBLOB" => "longblob",
        "DATE" => "date",
        "TIME" => "time",
        "DATETIME" => "datetime",
        "TIMESTAMP" => "timestamp",
        "YEAR" => "year",
        "ENUM" => "enum",
        "SET" => "set",
        "JSON" => "json",
        "VECTOR" => "vector",
        "UUID" => "uuid",
        "INET6" => "inet6",
        "INET4" => "inet4",
        _ => return types::GeometryKind::from_sql_name(word).map(types::GeometryKind::sql_name),
    })
}
