//! Parsing of CREATE TABLE and CREATE SCHEMA.

use super::Parser;
use crate::SqlError;
use crate::ast::{CheckSpec, CreateTable, ForeignKeySpec, KeyKind, Statement};
use crate::error::Result;

/// The greatest number of columns, which is MySQL's `MAX_FIELDS`. Further columns are refused while
/// the text is read, because a text could name enough of them to take all memory.
const MOST_COLUMNS: usize = 4096;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        self.expect("CREATE")?;
        let or_replace = self.eat_all(&["OR", "REPLACE"]);
        if self.is_object_head() {
            return self.create_object(or_replace);
        }
        let is_known = self.is_any(&["TABLE", "DATABASE", "SCHEMA", "INDEX", "USER", "ROLE", "SEQUENCE"])
            || self.are(&["TEMPORARY", "TABLE"])
            || self.are(&["TEMPORARY", "SEQUENCE"])
            || self.are(&["UNIQUE", "INDEX"])
            || self.are(&["FULLTEXT", "INDEX"])
            || self.are(&["SPATIAL", "INDEX"]);
        if or_replace && !(is_known && self.mode.of_source) {
            return Err(SqlError::not_supported(format!("CREATE OR REPLACE {}", self.upper())));
        }
        let is_temporary = |word| self.token_is(self.ahead(1), word);
        let temporary = self.is("TEMPORARY") && (is_temporary("TABLE") || is_temporary("SEQUENCE"));
        if temporary {
            self.advance();
        }
        match self.upper().as_str() {
            "TABLE" => self.create_table(temporary, or_replace),
            "SEQUENCE" => self.create_sequence(temporary, or_replace),
            "DATABASE" | "SCHEMA" => self.create_schema(or_replace),
            "UNIQUE" | "INDEX" | "FULLTEXT" | "SPATIAL" | "VECTOR" => self.create_index(or_replace),
            "USER" => self.create_user(or_replace),
            "ROLE" => self.create_role(or_replace),
            word @ ("SERVER" | "TABLESPACE" | "RESOURCE" | "LOGFILE" | "UNDO" | "LIBRARY") => {
                Err(SqlError::not_supported(format!("CREATE {word}")))
            }
            _ => Err(self.error()),
        }
    }

    fn create_schema(&mut self, or_replace: bool) -> Result<Statement> {
        self.advance();
        let if_not_exists = self.if_not_exists();
        let schema = self.name()?;
        Ok(Statement::CreateSchema {
            schema,
            if_not_exists,
            or_replace,
            options: self.schema_options(false)?,
        })
    }

    fn create_table(&mut self, temporary: bool, or_replace: bool) -> Result<Statement> {
        self.expect("TABLE")?;
        let if_not_exists = self.if_not_exists();
        let table = self.table_name()?;
        let mut create = CreateTable::empty(table, temporary, or_replace);
        create.if_not_exists = if_not_exists;
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
        if self.is_symbol("(") && !self.query_follows(1) && !self.symbol_ahead(1, "(") {
            self.advance();
            self.list(|parser| parser.table_element(&mut create))?;
            self.expect_symbol(")")?;
        }
        create.options = self.table_options()?;
        create.partitioning = self.partition_by()?;
        create.ignores = self.eat("IGNORE");
        create.replaces = !create.ignores && self.eat("REPLACE");
        let is_written = self.eat("AS") || create.ignores || create.replaces;
        if is_written || self.query_follows(0) || self.is_symbol("(") {
            create.query = Some(Box::new(self.query()?));
        }
        Ok(Statement::CreateTable(create))
    }

    /// Reads a column, key, constraint or period.
    fn table_element(&mut self, create: &mut CreateTable) -> Result<()> {
        if let Some(check) = self.check_spec(None)? {
            create.checks.push(check);
            return Ok(());
        }
        if let Some(period) = self.period_spec()? {
            create.periods.push(period);
        } else if let Some(foreign_key) = self.foreign_key_spec()? {
            put_foreign_key(create, foreign_key);
        } else if let Some(key) = self.key_spec()? {
            create.keys.push(key);
        } else {
            if create.columns.len() >= MOST_COLUMNS {
                return Err(SqlError::new(1117, "Too many columns"));
            }
            let mut spec = self.column_spec()?;
            if let Some(foreign_key) = spec.references.take() {
                put_foreign_key(create, foreign_key);
            }
            create.checks.append(&mut spec.checks);
            create.columns.push(spec);
        }
        Ok(())
    }

    /// Reads `[CONSTRAINT [name]] CHECK (expression) [[NOT] ENFORCED]`. `None` if something else
    /// follows.
    pub(super) fn check_spec(&mut self, column: Option<&str>) -> Result<Option<CheckSpec>> {
        let at = self.at;
        let mut name = None;
        if self.eat("CONSTRAINT") {
            self.if_not_exists_of_key = self.mariadb_if_not_exists();
            name = self.constraint_name()?;
        }
        if !self.eat("CHECK") {
            if column.is_some() {
                return Err(self.error());
            }
            self.at = at;
            return Ok(None);
        }
        let expression = self.written_expr()?;
        let enforced = !self.eat_all(&["NOT", "ENFORCED"]);
        if enforced {
            self.eat("ENFORCED");
        }
        Ok(Some(CheckSpec { name, expression, enforced, column: column.map(str::to_owned) }))
    }
}

/// Adds a foreign key, with its place among the keys.
fn put_foreign_key(create: &mut CreateTable, foreign_key: ForeignKeySpec) {
    let keys_before = create.keys.iter().filter(|key| key.kind == KeyKind::Index).count();
    create.foreign_keys.push(ForeignKeySpec { keys_before: Some(keys_before), ..foreign_key });
}
