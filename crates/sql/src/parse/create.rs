//! CREATE TABLE and its parts, CREATE INDEX, CREATE SCHEMA.

use super::Parser;
use crate::SqlError;
use crate::ast::{
    AlterAlgorithm, AlterDemands, AlterLock, ColumnSpec, CreateTable, Expr, KeyKind, KeyPart, KeySpec,
    SchemaOptions, Statement, TableOptions, TypeSpec,
};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        self.expect("CREATE")?;
        let or_replace = self.eat_all(&["OR", "REPLACE"]);
        let is_table = self.is("TABLE") || self.are(&["TEMPORARY", "TABLE"]);
        if or_replace && !(is_table && self.mode.of_source) {
            return Err(SqlError::not_supported(format!("CREATE OR REPLACE {}", self.upper())));
        }
        let temporary = self.is("TEMPORARY") && self.token_is(self.ahead(1), "TABLE");
        if temporary {
            self.advance();
        }
        match self.upper().as_str() {
            "TABLE" => self.create_table(temporary, or_replace),
            "DATABASE" | "SCHEMA" => self.create_schema(),
            "UNIQUE" | "INDEX" | "FULLTEXT" | "SPATIAL" => self.create_index(),
            "USER" => self.create_user(),
            word @ ("VIEW" | "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT" | "SERVER" | "TABLESPACE"
            | "ROLE" | "ALGORITHM" | "DEFINER" | "SQL" | "RESOURCE" | "LOGFILE" | "UNDO"
            | "AGGREGATE" | "LIBRARY" | "SEQUENCE") => Err(SqlError::not_supported(format!(
                "CREATE {}",
                if matches!(word, "ALGORITHM" | "DEFINER" | "SQL") {
                    "VIEW, TRIGGER, PROCEDURE, FUNCTION, EVENT"
                } else {
                    word
                }
            ))),
            _ => Err(self.error()),
        }
    }

    fn create_schema(&mut self) -> Result<Statement> {
        self.advance();
        let if_not_exists = self.if_not_exists();
        let schema = self.name()?;
        Ok(Statement::CreateSchema { schema, if_not_exists, options: self.schema_options()? })
    }

    pub(super) fn schema_options(&mut self) -> Result<SchemaOptions> {
        let mut options = SchemaOptions::default();
        while !self.at_end() {
            self.eat("DEFAULT");
            if self.eat_charset_word() {
                self.eat_symbol("=");
                options.charset = Some(self.string_or_name()?.to_ascii_lowercase());
            } else if self.eat("COLLATE") {
                self.eat_symbol("=");
                options.collation = Some(self.string_or_name()?.to_ascii_lowercase());
            } else if self.eat("ENCRYPTION") {
                self.eat_symbol("=");
                if !self.string()?.eq_ignore_ascii_case("N") {
                    return Err(SqlError::not_supported("ENCRYPTION"));
                }
            } else {
                return Err(self.error());
            }
        }
        Ok(options)
    }

    fn create_table(&mut self, temporary: bool, or_replace: bool) -> Result<Statement> {
        self.expect("TABLE")?;
        let if_not_exists = self.if_not_exists();
        let table = self.table_name()?;
        let mut create = CreateTable {
            table,
            if_not_exists,
            or_replace,
            temporary,
            columns: Vec::new(),
            keys: Vec::new(),
            options: TableOptions::default(),
            like: None,
            query: None,
        };
        if self.eat("LIKE") {
            create.like = Some(self.table_name()?);
            return Ok(Statement::CreateTable(create));
        }
        if self.is_symbol("(") && self.token_is(self.ahead(1), "LIKE") {
            self.at += 2;
            create.like = Some(self.table_name()?);
            self.expect_symbol(")")?;
            return Ok(Statement::CreateTable(create));
        }
        if self.is_symbol("(") && !self.token_is(self.ahead(1), "SELECT") {
            self.advance();
            self.list(|parser| parser.table_element(&mut create))?;
            self.expect_symbol(")")?;
        }
        create.options = self.table_options()?;
        if self.is("PARTITION") {
            return Err(SqlError::not_supported("PARTITION BY"));
        }
        if self.eat("IGNORE") || self.eat("REPLACE") {
            return Err(SqlError::not_supported("CREATE TABLE ... IGNORE | REPLACE SELECT"));
        }
        self.eat("AS");
        if self.is("SELECT") || self.is_symbol("(") {
            create.query = Some(Box::new(self.query()?));
        }
        Ok(Statement::CreateTable(create))
    }

    /// A column, key or constraint.
    fn table_element(&mut self, create: &mut CreateTable) -> Result<()> {
        if self.mode.of_source && self.eat_check()? {
            return Ok(());
        }
        if let Some(key) = self.key_spec()? {
            create.keys.push(key);
            return Ok(());
        }
        let spec = self.column_spec()?;
        create.columns.push(spec);
        Ok(())
    }

    /// A source's CHECK constraint: its rows have been checked.
    fn eat_check(&mut self) -> Result<bool> {
        let at = self.at;
        if self.eat("CONSTRAINT") && !self.is("CHECK") {
            self.name()?;
        }
        if !self.eat("CHECK") {
            self.at = at;
            return Ok(false);
        }
        self.parenthesized(Self::expr)?;
        let _ = self.eat_all(&["NOT", "ENFORCED"]) || self.eat("ENFORCED");
        Ok(true)
    }

    /// A key or constraint; `None` where a column starts.
    pub(super) fn key_spec(&mut self) -> Result<Option<KeySpec>> {
        let mut name = None;
        if self.eat("CONSTRAINT") && !self.is_any(&["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"]) {
            name = Some(self.name()?);
        }
        let kind = match self.upper().as_str() {
            "PRIMARY" => KeyKind::Primary,
            "UNIQUE" => KeyKind::Unique,
            "INDEX" | "KEY" => KeyKind::Index,
            "FULLTEXT" => return Err(SqlError::not_supported("FULLTEXT indexes")),
            "SPATIAL" => return Err(SqlError::not_supported("SPATIAL indexes")),
            "FOREIGN" => return Err(SqlError::not_supported("FOREIGN KEY constraints")),
            "CHECK" => return Err(SqlError::not_supported("CHECK constraints")),
            _ => return Ok(None),
        };
        self.advance();
        if kind == KeyKind::Primary {
            self.expect("KEY")?;
        } else if kind == KeyKind::Unique {
            let _ = self.eat_any(&["INDEX", "KEY"]);
        }
        if self.is_name() && !self.is("USING") {
            let written = self.name()?;
            if kind != KeyKind::Primary {
                name = Some(written);
            }
        }
        if kind == KeyKind::Primary {
            name = None;
        }
        self.key_rest(kind, name).map(Some)
    }

    /// `[USING BTREE] (parts) [options]`
    fn key_rest(&mut self, kind: KeyKind, name: Option<String>) -> Result<KeySpec> {
        let mut key = KeySpec { kind, name, parts: Vec::new(), comment: String::new(), invisible: false };
        self.key_using();
        key.parts = self.parenthesized(Self::key_part)?;
        loop {
            if self.key_using() {
            } else if self.eat("COMMENT") {
                self.eat_symbol("=");
                key.comment = self.string()?;
            } else if self.eat("KEY_BLOCK_SIZE") {
                self.eat_symbol("=");
                self.unsigned()?;
            } else if self.eat("INVISIBLE") {
                key.invisible = true;
            } else if !self.eat("VISIBLE") {
                return Ok(key);
            }
        }
    }

    /// `USING BTREE`: there is no other kind of index, and HASH becomes BTREE as in InnoDB.
    fn key_using(&mut self) -> bool {
        if self.is_any(&["USING", "TYPE"])
            && (self.token_is(self.ahead(1), "BTREE") || self.token_is(self.ahead(1), "HASH"))
        {
            self.at += 2;
            return true;
        }
        false
    }

    fn key_part(&mut self) -> Result<KeyPart> {
        if self.is_symbol("(") {
            return Err(SqlError::not_supported("functional key parts"));
        }
        let column = self.name()?;
        let mut prefix = None;
        if self.eat_symbol("(") {
            prefix = Some(self.unsigned32()?);
            self.expect_symbol(")")?;
        }
        let descending = self.eat("DESC");
        if !descending {
            self.eat("ASC");
        }
        Ok(KeyPart { column, prefix, descending })
    }

    pub(super) fn column_spec(&mut self) -> Result<ColumnSpec> {
        let name = self.column_name_unqualified()?;
        self.column_spec_of(name)
    }

    pub(super) fn column_spec_of(&mut self, name: String) -> Result<ColumnSpec> {
        let mut spec = ColumnSpec {
            name,
            ty: TypeSpec::default(),
            nullable: None,
            default: None,
            on_update_now: false,
            auto_increment: false,
            unique: false,
            primary: false,
            comment: String::new(),
            invisible: false,
        };
        if self.eat("SERIAL") {
            spec.ty = TypeSpec { name: "bigint".to_owned(), unsigned: true, ..TypeSpec::default() };
            spec.nullable = Some(false);
            spec.auto_increment = true;
            spec.unique = true;
        } else {
            spec.ty = self.type_spec()?;
        }
        while self.column_attribute(&mut spec)? {}
        Ok(spec)
    }

    fn column_attribute(&mut self, spec: &mut ColumnSpec) -> Result<bool> {
        match self.upper().as_str() {
            "NOT" => {
                self.advance();
                self.expect("NULL")?;
                spec.nullable = Some(false);
                return Ok(true);
            }
            "DEFAULT" => {
                self.advance();
                spec.default = Some(self.default_value()?);
                return Ok(true);
            }
            "ON" => {
                self.expect_all(&["ON", "UPDATE"])?;
                self.now_function()?;
                spec.on_update_now = true;
                return Ok(true);
            }
            "COMMENT" => {
                self.advance();
                spec.comment = self.string()?;
                return Ok(true);
            }
            "COLLATE" => {
                self.advance();
                spec.ty.collation = Some(self.string_or_name()?.to_ascii_lowercase());
                return Ok(true);
            }
            "COLUMN_FORMAT" | "STORAGE" => {
                self.advance();
                self.advance();
                return Ok(true);
            }
            "CHECK" | "CONSTRAINT" if self.mode.of_source => return self.eat_check(),
            "GENERATED" | "AS" => return Err(SqlError::not_supported("generated columns")),
            "REFERENCES" => return Err(SqlError::not_supported("FOREIGN KEY constraints")),
            "CHECK" | "CONSTRAINT" => return Err(SqlError::not_supported("CHECK constraints")),
            "SRID" => return Err(SqlError::not_supported("spatial types")),
            _ => {}
        }
        match () {
            _ if self.eat("NULL") => spec.nullable = Some(true),
            _ if self.eat("AUTO_INCREMENT") => spec.auto_increment = true,
            _ if self.eat("PRIMARY") => {
                self.expect("KEY")?;
                spec.primary = true;
            }
            _ if self.eat("KEY") => spec.primary = true,
            _ if self.eat("UNIQUE") => {
                self.eat("KEY");
                spec.unique = true;
            }
            _ if self.eat("INVISIBLE") => spec.invisible = true,
            _ if self.eat("VISIBLE") => {}
            _ if self.eat_all(&["SERIAL", "DEFAULT", "VALUE"]) => {
                spec.nullable = Some(false);
                spec.auto_increment = true;
                spec.unique = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A literal with its sign, NULL, or CURRENT_TIMESTAMP; an expression in parentheses is refused.
    pub(super) fn default_value(&mut self) -> Result<Expr> {
        if self.is_symbol("(") {
            // MariaDB writes its defaults in parentheses where they are functions.
            let start = self.at;
            self.advance();
            if self.is_any(&["CURRENT_TIMESTAMP", "NOW"]) {
                let expr = self.now_function()?;
                self.expect_symbol(")")?;
                return Ok(expr);
            }
            self.at = start;
            return Err(SqlError::not_supported("expressions as DEFAULT values"));
        }
        if self.is_any(&["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"]) {
            return self.now_function();
        }
        match self.token().kind {
            TokenKind::Word if !self.is_any(&["NULL", "TRUE", "FALSE", "DATE", "TIME", "TIMESTAMP"]) => {
                if self.raw(self.token())[0] == b'_' {
                    return self.bit_expr();
                }
                if self.symbol_ahead(1, "(") {
                    return Err(SqlError::not_supported("expressions as DEFAULT values"));
                }
                Err(self.error())
            }
            _ => self.signed_literal(),
        }
    }

    /// A literal with its sign; stops before `NOT NULL`.
    fn signed_literal(&mut self) -> Result<Expr> {
        if self.eat_symbol("-") {
            let literal = self.literal()?;
            return Ok(Expr::Unary(crate::ast::UnaryOp::Minus, Box::new(Expr::Literal(literal))));
        }
        self.eat_symbol("+");
        self.bit_expr()
    }

    /// `CURRENT_TIMESTAMP[(n)]` and its synonyms.
    fn now_function(&mut self) -> Result<Expr> {
        if !self.eat_any(&["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"]) {
            return Err(self.error());
        }
        let mut args = Vec::new();
        if self.eat_symbol("(") {
            if !self.is_symbol(")") {
                args.push(Expr::Literal(self.literal()?));
            }
            self.expect_symbol(")")?;
        }
        Ok(Expr::call("now", args))
    }

    pub(super) fn type_spec(&mut self) -> Result<TypeSpec> {
        let word = self.upper();
        let mut ty = TypeSpec {
            name: type_name(&word).ok_or_else(|| self.error())?.to_owned(),
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
        self.type_attributes(&mut ty)?;
        Ok(ty)
    }

    fn type_arguments(&mut self, ty: &mut TypeSpec) -> Result<()> {
        if matches!(ty.name.as_str(), "enum" | "set") {
            ty.members = self.parenthesized(Self::text_literal)?;
        } else if self.eat_symbol("(") {
            ty.length = Some(self.unsigned()?);
            if self.eat_symbol(",") {
                ty.scale = Some(self.unsigned()?);
            }
            self.expect_symbol(")")?;
        }
        Ok(())
    }

    fn type_attributes(&mut self, ty: &mut TypeSpec) -> Result<()> {
        loop {
            match () {
                _ if self.eat("UNSIGNED") => ty.unsigned = true,
                _ if self.eat("SIGNED") => {}
                _ if self.eat("ZEROFILL") => {
                    ty.zerofill = true;
                    ty.unsigned = true;
                }
                _ if self.eat("BINARY") => ty.binary = true,
                _ if self.eat("BYTE") => ty.charset = Some("binary".to_owned()),
                _ if self.eat("ASCII") => ty.charset = Some("latin1".to_owned()),
                _ if self.eat_charset_word() => {
                    self.eat_symbol("=");
                    ty.charset = Some(self.string_or_name()?.to_ascii_lowercase());
                }
                // MariaDB's; values are stored plain here.
                _ if self.mode.of_source && self.eat("COMPRESSED") => {
                    if self.eat_symbol("=") {
                        self.string_or_name()?;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn table_options(&mut self) -> Result<TableOptions> {
        let mut options = TableOptions::default();
        loop {
            self.eat_symbol(",");
            if !self.table_option(&mut options)? {
                return Ok(options);
            }
        }
    }

    /// One table option; false where none starts.
    pub(super) fn table_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        let word = self.upper();
        let known = match word.as_str() {
            "DEFAULT" => {
                self.advance();
                return if self.is_any(&["CHARACTER", "CHARSET", "COLLATE", "CHAR"]) {
                    self.table_option(options)
                } else {
                    Err(self.error())
                };
            }
            "CHARACTER" | "CHARSET" | "CHAR" => {
                if !self.eat_charset_word() {
                    return Err(self.error());
                }
                self.eat_symbol("=");
                options.charset = Some(self.string_or_name()?.to_ascii_lowercase());
                return Ok(true);
            }
            "DATA" | "INDEX" if self.token_is(self.ahead(1), "DIRECTORY") => {
                return Err(SqlError::not_supported(format!("{word} DIRECTORY")));
            }
            "ENGINE" | "COLLATE" | "COMMENT" | "AUTO_INCREMENT" | "ROW_FORMAT" => true,
            "AVG_ROW_LENGTH" | "CHECKSUM" | "PAGE_CHECKSUM" | "DELAY_KEY_WRITE" | "KEY_BLOCK_SIZE"
            | "MAX_ROWS" | "MIN_ROWS" | "PACK_KEYS" | "STATS_AUTO_RECALC" | "STATS_PERSISTENT"
            | "STATS_SAMPLE_PAGES" | "INSERT_METHOD" | "TRANSACTIONAL" | "TABLE_CHECKSUM" | "SEQUENCE" => {
                false
            }
            "COMPRESSION" | "ENCRYPTION" | "TABLESPACE" | "CONNECTION" | "UNION" | "PASSWORD"
            | "PAGE_COMPRESSED" => {
                self.advance();
                self.eat_symbol("=");
                let value = self.option_value()?;
                if matches!(value.to_ascii_uppercase().as_str(), "" | "N" | "NONE" | "0") {
                    return Ok(true);
                }
                return Err(SqlError::not_supported(format!("table option {word}")));
            }
            _ => return Ok(false),
        };
        self.advance();
        self.eat_symbol("=");
        let value = self.option_value()?;
        if !known {
            return Ok(true);
        }
        match word.as_str() {
            "ENGINE" => options.engine = Some(value),
            "COLLATE" => options.collation = Some(value.to_ascii_lowercase()),
            "COMMENT" => options.comment = Some(value),
            "AUTO_INCREMENT" => options.auto_increment = Some(value.parse().map_err(|_| self.error())?),
            _ => options.row_format = Some(value.to_ascii_uppercase()),
        }
        Ok(true)
    }

    fn option_value(&mut self) -> Result<String> {
        match self.token().kind {
            TokenKind::Integer => self.unsigned().map(|number| number.to_string()),
            _ => self.string_or_name(),
        }
    }

    fn create_index(&mut self) -> Result<Statement> {
        let kind = match self.upper().as_str() {
            "UNIQUE" => {
                self.advance();
                KeyKind::Unique
            }
            "FULLTEXT" => return Err(SqlError::not_supported("FULLTEXT indexes")),
            "SPATIAL" => return Err(SqlError::not_supported("SPATIAL indexes")),
            _ => KeyKind::Index,
        };
        self.expect("INDEX")?;
        let if_not_exists = self.if_not_exists();
        let name = self.name()?;
        self.key_using();
        self.expect("ON")?;
        let table = self.table_name()?;
        let key = self.key_rest(kind, Some(name))?;
        let mut demands = AlterDemands::default();
        self.algorithm_and_lock(&mut demands)?;
        Ok(Statement::CreateIndex { table, key, if_not_exists, demands })
    }

    /// `ALGORITHM [=] x`, `LOCK [=] x`, in any order; the last of each counts.
    pub(super) fn algorithm_and_lock(&mut self, demands: &mut AlterDemands) -> Result<()> {
        loop {
            if self.eat("ALGORITHM") {
                self.eat_symbol("=");
                let name = self.any_name()?;
                demands.algorithm = match name.to_ascii_uppercase().as_str() {
                    "DEFAULT" => AlterAlgorithm::Default,
                    "INSTANT" => AlterAlgorithm::Instant,
                    // NOCOPY is MariaDB's.
                    "INPLACE" | "NOCOPY" => AlterAlgorithm::Inplace,
                    "COPY" => AlterAlgorithm::Copy,
                    _ => return Err(SqlError::new(1800, format!("Unknown ALGORITHM '{name}'"))),
                };
            } else if self.eat("LOCK") {
                self.eat_symbol("=");
                let name = self.any_name()?;
                demands.lock = match name.to_ascii_uppercase().as_str() {
                    "DEFAULT" => AlterLock::Default,
                    "NONE" => AlterLock::None,
                    "SHARED" => AlterLock::Shared,
                    "EXCLUSIVE" => AlterLock::Exclusive,
                    _ => return Err(SqlError::new(1801, format!("Unknown LOCK type '{name}'"))),
                };
            } else {
                return Ok(());
            }
        }
    }
}

/// The name under which a type's word is kept.
fn type_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "TINYINT" | "INT1" | "BOOL" | "BOOLEAN" => "tinyint",
        "SMALLINT" | "INT2" => "smallint",
        "MEDIUMINT" | "INT3" | "MIDDLEINT" => "mediumint",
        "INT" | "INTEGER" | "INT4" => "int",
        "BIGINT" | "INT8" => "bigint",
        "FLOAT" | "FLOAT4" => "float",
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
        "GEOMETRY" | "POINT" | "LINESTRING" | "POLYGON" | "MULTIPOINT" | "MULTILINESTRING"
        | "MULTIPOLYGON" | "GEOMETRYCOLLECTION" | "GEOMCOLLECTION" => "geometry",
        "VECTOR" => "vector",
        "UUID" => "uuid",
        "INET6" => "inet6",
        "INET4" => "inet4",
        _ => return None,
    })
}
