//! Parsing of the options of tables and schemas.

use super::{Parser, deprecated};
use crate::SqlError;
use crate::ast::{SchemaOptions, TableOptions};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn table_options(&mut self) -> Result<TableOptions> {
        let mut options = TableOptions::default();
        loop {
            self.eat_symbol(",");
            if !self.table_option(&mut options)? {
                return Ok(options);
            }
        }
    }

    /// Reads one option of a table. Returns false if none follows.
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
                self.charset_option(&mut options.charset)?;
                return Ok(true);
            }
            // START TRANSACTION says that row events follow in the same event group.
            "START" if self.eat_all(&["START", "TRANSACTION"]) => {
                options.begins_transaction = true;
                return Ok(true);
            }
            "DATA" | "INDEX" if self.mode.of_source && self.token_is(self.ahead(1), "DIRECTORY") => {
                self.advance();
                return self.storage_option(&format!("{word} DIRECTORY"), options);
            }
            word if self.mode.of_source && TableOptions::OF_SOURCES.iter().any(|known| known.0 == word) => {
                return self.storage_option(word, options);
            }
            "DATA" | "INDEX" if self.token_is(self.ahead(1), "DIRECTORY") => {
                return Err(SqlError::not_supported(format!("{word} DIRECTORY")));
            }
            "WITH" if self.are(&["WITH", "SYSTEM", "VERSIONING"]) => {
                options.versioned = self.versioning().is_some();
                return Ok(true);
            }
            "ENGINE" | "COLLATE" | "COMMENT" | "AUTO_INCREMENT" => true,
            name if TableOptions::KEPT.contains(&name) => true,
            "INSERT_METHOD" | "TABLE_CHECKSUM" => false,
            "UNION" => return self.union_option(options),
            "CONNECTION" => return self.storage_option(&word, options),
            word if Self::is_of_mariadb(word) && self.mode.of_source => {
                return self.mariadb_table_option(options);
            }
            "COMPRESSION" | "ENCRYPTION" | "TABLESPACE" | "PASSWORD" => {
                self.advance();
                self.eat_symbol("=");
                let value = self.option_value()?;
                let is_off = matches!(value.to_ascii_uppercase().as_str(), "" | "N" | "NONE" | "0");
                // MySQL forgets a PASSWORD, too.
                if is_off || word == "PASSWORD" {
                    return Ok(true);
                }
                return Err(SqlError::not_supported(format!("table option {word}")));
            }
            _ => return self.engine_option(options),
        };
        self.advance();
        self.eat_symbol("=");
        let value = self.option_value()?;
        if !known {
            return Ok(true);
        }
        match word.as_str() {
            "ENGINE" => options.engine = Some(value),
            "COLLATE" => {
                self.hints.warnings.extend(deprecated::of_collation(&value));
                options.collation = Some(value.to_ascii_lowercase());
            }
            "COMMENT" => options.comment = Some(self.kept_as_comment(value)),
            "AUTO_INCREMENT" => options.auto_increment = Some(value.parse().map_err(|_| self.error())?),
            _ => options.kept.push((word, value.to_ascii_uppercase())),
        }
        Ok(true)
    }

    /// Reads CONNECTION, or another one of [`TableOptions::OF_SOURCES`].
    fn storage_option(&mut self, name: &str, options: &mut TableOptions) -> Result<bool> {
        self.advance();
        self.eat_symbol("=");
        let value = match name {
            "TABLESPACE" => crate::quoting::quoted(&self.string_or_name()?),
            "SECONDARY_ENGINE" if self.eat("NULL") => String::new(),
            "SECONDARY_ENGINE" => self.string_or_name()?,
            "AUTOEXTEND_SIZE" => self.size()?.to_string(),
            _ => match self.string()? {
                off if off.is_empty() || (name == "ENCRYPTION" && off.eq_ignore_ascii_case("N")) => {
                    String::new()
                }
                value => crate::quoting::text_literal(&value),
            },
        };
        options.of_sources.retain(|(known, _)| known != name);
        options.of_sources.push((name.to_owned(), value));
        Ok(true)
    }

    /// Reads a number of bytes, which may have K, M or G behind it.
    fn size(&mut self) -> Result<u64> {
        if self.token().kind == TokenKind::Integer {
            return self.unsigned();
        }
        let written = self.any_name()?.to_ascii_uppercase();
        let digits = written.trim_end_matches(['K', 'M', 'G']);
        let shift = match &written[digits.len()..] {
            "K" => 10,
            "M" => 20,
            "G" => 30,
            _ => 0,
        };
        digits.parse::<u64>().ok().and_then(|size| size.checked_mul(1 << shift)).ok_or_else(|| self.error())
    }

    pub(super) fn option_value(&mut self) -> Result<String> {
        match self.token().kind {
            TokenKind::Integer => self.unsigned().map(|number| number.to_string()),
            _ => self.string_or_name(),
        }
    }

    /// Reads the name of a default character set.
    ///
    /// # Errors
    /// Returns 1302 (`ER_CONFLICTING_DECLARATIONS`) if a client has named another one before.
    fn charset_option(&mut self, charset: &mut Option<String>) -> Result<()> {
        let name = self.charset_name()?;
        let full = |name: &str| if name == "utf8" { "utf8mb3".to_owned() } else { name.to_owned() };
        if let Some(before) = charset.as_deref().map(full)
            && before != full(&name)
            && !self.mode.of_source
        {
            let text = format!(
                "Conflicting declarations: 'CHARACTER SET {before}' and 'CHARACTER SET {}'",
                full(&name)
            );
            return Err(SqlError::new(1302, text));
        }
        *charset = Some(name);
        Ok(())
    }

    /// Reads the options of a schema. `alters` says that the statement is ALTER DATABASE, which
    /// alone has READ ONLY.
    pub(super) fn schema_options(&mut self, alters: bool) -> Result<SchemaOptions> {
        let mut options = SchemaOptions::default();
        while !self.at_end() {
            self.eat("DEFAULT");
            if self.eat_charset_word() {
                self.eat_symbol("=");
                self.charset_option(&mut options.charset)?;
            } else if self.eat("COLLATE") {
                self.eat_symbol("=");
                options.collation = Some(self.collation_name()?);
            } else if self.mode.of_source && self.eat("COMMENT") {
                // The comment is MariaDB's. MySQL's schemas have none.
                self.eat_symbol("=");
                self.string()?;
            } else if alters && self.eat_all(&["READ", "ONLY"]) {
                self.eat_symbol("=");
                self.schema_read_only()?;
            } else if self.eat("ENCRYPTION") {
                self.eat_symbol("=");
                if !self.string()?.eq_ignore_ascii_case("N") && !self.mode.of_source {
                    return Err(SqlError::not_supported("ENCRYPTION"));
                }
            } else {
                return Err(self.error());
            }
        }
        Ok(options)
    }

    /// Reads the value of READ ONLY: a client's schemas cannot be read-only here.
    fn schema_read_only(&mut self) -> Result<()> {
        if self.eat("DEFAULT") {
            return Ok(());
        }
        if self.token().kind != TokenKind::Integer {
            return Err(self.error());
        }
        let at = self.at;
        match self.unsigned()? {
            0 => Ok(()),
            // READ ONLY concerns the source's own clients.
            1 if self.mode.of_source => Ok(()),
            1 => Err(SqlError::not_supported("READ ONLY = 1")),
            _ => {
                self.at = at;
                Err(self.error())
            }
        }
    }
}
