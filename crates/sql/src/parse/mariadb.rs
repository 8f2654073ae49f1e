//! What MariaDB has beyond MySQL in statements about tables. Only the statements of sources have
//! it: from a client it is the syntax error that MySQL gives.

use super::Parser;
use crate::SqlError;
use crate::ast::{Alteration, Statement, TableOptions};
use crate::error::Result;
use crate::lexer::TokenKind;

/// Options of MariaDB's tables that MySQL does not know.
const TABLE_OPTIONS: [&str; 7] = [
    "PAGE_CHECKSUM",
    "TRANSACTIONAL",
    "SEQUENCE",
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
];

impl Parser<'_> {
    /// `IF EXISTS` where MySQL has none.
    pub(super) fn mariadb_if_exists(&mut self) -> bool {
        self.mode.of_source && self.if_exists()
    }

    /// `IF NOT EXISTS` where MySQL has none.
    pub(super) fn mariadb_if_not_exists(&mut self) -> bool {
        self.mode.of_source && self.if_not_exists()
    }

    /// `NOWAIT` and `WAIT n`: how long the source's session waited for the table's lock. The
    /// applier waits for as long as its own settings say.
    pub(super) fn mariadb_wait(&mut self) -> Result<()> {
        if self.mode.of_source && !self.eat("NOWAIT") && self.eat("WAIT") {
            self.unsigned()?;
        }
        Ok(())
    }

    /// `RETURNING expressions`, which says what the source's client was to get.
    pub(super) fn returning(&mut self) -> Result<()> {
        if !self.is("RETURNING") {
            return Ok(());
        }
        if !self.mode.of_source {
            return Err(SqlError::not_supported("RETURNING"));
        }
        self.pass_to_end();
        Ok(())
    }

    /// `variable = value, ... FOR statement`, behind SET STATEMENT. The settings that change what
    /// the statement does are logged with it.
    pub(super) fn set_statement(&mut self) -> Result<Statement> {
        if !self.mode.of_source {
            return Err(SqlError::not_supported("SET STATEMENT"));
        }
        self.list(Self::set_item)?;
        self.expect("FOR")?;
        self.statement()
    }

    /// Passes over all that is left of the statement.
    pub(super) fn pass_to_end(&mut self) {
        while !self.at_end() {
            self.advance();
        }
    }

    /// Whether a word is an option of tables that only MariaDB has.
    pub(super) fn is_of_mariadb(word: &str) -> bool {
        TABLE_OPTIONS.contains(&word)
    }

    /// `name [=] value`, the name being an option of MariaDB's tables.
    pub(super) fn mariadb_table_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        let name = self.any_name()?.to_ascii_uppercase();
        self.eat_symbol("=");
        let value = match self.token().kind {
            TokenKind::Text => format!("'{}'", self.string()?.replace('\\', "\\\\").replace('\'', "''")),
            _ => self.option_value()?.to_ascii_uppercase(),
        };
        options.of_mariadb.retain(|(known, _)| *known != name);
        options.of_mariadb.push((name, value));
        Ok(true)
    }

    /// `name = value`, which MariaDB hands to the storage engine whatever the name is; false where
    /// something else starts.
    pub(super) fn engine_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        let is_name = matches!(self.token().kind, TokenKind::Word | TokenKind::QuotedName);
        if !self.mode.of_source || !is_name || !self.symbol_ahead(1, "=") {
            return Ok(false);
        }
        self.mariadb_table_option(options)
    }

    /// `UNION [=] (table, ...)` of a MERGE table. It is kept empty over our engine.
    pub(super) fn union_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        self.advance();
        self.eat_symbol("=");
        self.expect_symbol("(")?;
        let mut names = Vec::new();
        if !self.is_symbol(")") {
            for table in self.list(Self::table_name)? {
                let quoted = |name: &str| crate::quoting::quoted(name);
                let schema = table.schema.map_or(String::new(), |schema| format!("{}.", quoted(&schema)));
                names.push(format!("{schema}{}", quoted(&table.name)));
            }
        }
        self.expect_symbol(")")?;
        options.of_mariadb.push(("UNION".to_owned(), format!("({})", names.join(","))));
        Ok(true)
    }

    /// A key or foreign key to be added, with the `IF NOT EXISTS` that stood behind its kind.
    pub(super) fn unless_there(&self, alteration: Alteration) -> Alteration {
        if self.if_not_exists_of_key { alteration.unless_there() } else { alteration }
    }
}

impl Alteration {
    /// With `IF EXISTS`, if it was written.
    pub(super) fn only_if(self, if_exists: bool) -> Alteration {
        match if_exists {
            true => Alteration::Conditional { if_exists, alteration: Box::new(self) },
            false => self,
        }
    }

    /// With `IF NOT EXISTS`.
    pub(super) fn unless_there(self) -> Alteration {
        Alteration::Conditional { if_exists: false, alteration: Box::new(self) }
    }
}
