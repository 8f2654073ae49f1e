//! Parsing of ALTER TABLE, DROP, RENAME TABLE and TRUNCATE.

use super::Parser;
use crate::SqlError;
use crate::ast::{AlterDemands, AlterTable, Alteration, ColumnPlace, ColumnSpec, Statement, TableOptions};
use crate::error::Result;

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Result<Statement> {
        self.expect("ALTER")?;
        let _ = self.eat_any(&["ONLINE", "IGNORE"]);
        if self.is_object_head() {
            return self.alter_object();
        }
        match self.upper().as_str() {
            "TABLE" => self.alter_table(),
            "SEQUENCE" => self.alter_sequence(),
            "DATABASE" | "SCHEMA" => {
                self.advance();
                let has_name = self.is_name() && !self.is_any(&["CHARSET", "ENCRYPTION"]);
                let schema = if has_name { Some(self.name()?) } else { None };
                Ok(Statement::AlterSchema { schema, options: self.schema_options(true)? })
            }
            "USER" => self.alter_user(),
            word @ ("SERVER" | "TABLESPACE" | "INSTANCE" | "LOGFILE" | "RESOURCE") => {
                Err(SqlError::not_supported(format!("ALTER {word}")))
            }
            _ => Err(self.error()),
        }
    }

    fn alter_table(&mut self) -> Result<Statement> {
        self.expect("TABLE")?;
        let if_exists = self.mariadb_if_exists();
        let table = self.table_name()?;
        self.mariadb_wait()?;
        if let Some(what) = self.partition_maintenance()? {
            return Ok(Statement::Maintain { what, tables: vec![table] });
        }
        let mut demands = AlterDemands::default();
        let alterations = if self.at_end() { Vec::new() } else { self.alterations(&mut demands)? };
        Ok(Statement::AlterTable(AlterTable { table, if_exists, alterations, demands }))
    }

    fn alterations(&mut self, demands: &mut AlterDemands) -> Result<Vec<Alteration>> {
        let mut alterations = Vec::new();
        if let Some(partitioning) = self.repartitioning()? {
            alterations.push(Alteration::Partition(partitioning));
            return Ok(alterations);
        }
        loop {
            if self.is_any(&["ALGORITHM", "LOCK"]) {
                self.algorithm_and_lock(demands)?;
            } else {
                self.alteration(&mut alterations)?;
            }
            // Table options may follow one another without commas. The partitioning comes last,
            // without a comma too.
            if !self.eat_symbol(",") {
                if let Some(partitioning) = self.repartitioning()? {
                    alterations.push(Alteration::Partition(partitioning));
                }
                if self.at_end() {
                    return Ok(alterations);
                }
            }
        }
    }

    fn alteration(&mut self, into: &mut Vec<Alteration>) -> Result<()> {
        if into.is_empty()
            && let Some(alteration) = self.partition_alteration()?
        {
            into.push(Alteration::Partition(alteration));
            return if self.at_end() { Ok(()) } else { Err(self.error()) };
        }
        let word = self.upper();
        let alteration = match word.as_str() {
            "ADD" => return self.add(into),
            "MODIFY" | "CHANGE" => return self.modify(word == "CHANGE", into),
            "DROP" => self.drop_part()?,
            "ALTER" => self.alter_part()?,
            "RENAME" => self.rename_part()?,
            "CONVERT" => {
                self.expect_all(&["CONVERT", "TO"])?;
                if !self.eat_charset_word() {
                    return Err(self.error());
                }
                let charset = self.charset_name()?;
                let collation = if self.eat("COLLATE") { Some(self.collation_name()?) } else { None };
                Alteration::ConvertTo { charset, collation }
            }
            "FORCE" => {
                self.advance();
                Alteration::Force
            }
            "ORDER" => {
                self.order_by()?;
                Alteration::Nothing
            }
            "DISABLE" | "ENABLE" => {
                self.advance();
                self.expect("KEYS")?;
                Alteration::Nothing
            }
            "WITH" | "WITHOUT" => {
                self.advance();
                self.expect("VALIDATION")?;
                Alteration::Nothing
            }
            // The rows of a source's table are in no file here that could be discarded or imported.
            "DISCARD" | "IMPORT" if self.mode.of_source => {
                self.advance();
                self.expect("TABLESPACE")?;
                Alteration::Nothing
            }
            "DISCARD" | "IMPORT" => {
                return Err(SqlError::not_supported(format!("ALTER TABLE ... {word}")));
            }
            _ => {
                let mut options = TableOptions::default();
                if !self.table_option(&mut options)? {
                    return Err(self.error());
                }
                Alteration::Options(options)
            }
        };
        into.push(alteration);
        Ok(())
    }

    /// Reads a key or constraint behind ADD. `None` if something else follows.
    fn added_key(&mut self) -> Result<Option<Alteration>> {
        self.if_not_exists_of_key = false;
        let added = if let Some(foreign_key) = self.foreign_key_spec()? {
            Alteration::AddForeignKey(foreign_key)
        } else if let Some(check) = self.check_spec(None)? {
            Alteration::AddCheck(check)
        } else if !self.is("COLUMN")
            && let Some(key) = self.key_spec()?
        {
            Alteration::AddKey(key)
        } else {
            return Ok(None);
        };
        Ok(Some(self.unless_there(added)))
    }

    fn add(&mut self, into: &mut Vec<Alteration>) -> Result<()> {
        self.expect("ADD")?;
        if let Some(key) = self.added_key()? {
            into.push(key);
            return Ok(());
        }
        if let Some(period) = self.period_spec()? {
            into.push(Alteration::AddPeriod(period));
            return Ok(());
        }
        if self.eat_all(&["SYSTEM", "VERSIONING"]) {
            into.push(Alteration::AddVersioning);
            return Ok(());
        }
        self.eat("COLUMN");
        let if_absent = self.mariadb_if_not_exists();
        if self.eat_symbol("(") {
            // The parentheses contain what those of CREATE TABLE do.
            self.list(|parser| {
                match parser.added_key()? {
                    Some(key) => into.push(key),
                    None => add_column(into, parser.column_spec()?, ColumnPlace::Last, if_absent),
                }
                Ok(())
            })?;
            return self.expect_symbol(")");
        }
        let spec = self.column_spec()?;
        let place = self.column_place()?.unwrap_or(ColumnPlace::Last);
        add_column(into, spec, place, if_absent);
        Ok(())
    }

    fn column_place(&mut self) -> Result<Option<ColumnPlace>> {
        if self.eat("FIRST") {
            return Ok(Some(ColumnPlace::First));
        }
        if self.eat("AFTER") {
            return Ok(Some(ColumnPlace::After(self.name()?)));
        }
        Ok(None)
    }

    fn modify(&mut self, renames: bool, into: &mut Vec<Alteration>) -> Result<()> {
        self.advance();
        self.eat("COLUMN");
        let if_exists = self.mariadb_if_exists();
        let name = self.name()?;
        let mut spec = if renames { self.column_spec()? } else { self.column_spec_of(name.clone())? };
        let checks = std::mem::take(&mut spec.checks);
        let alteration = Alteration::ModifyColumn { name, spec, place: self.column_place()? };
        into.push(alteration.only_if(if_exists));
        into.extend(checks.into_iter().map(Alteration::AddCheck));
        Ok(())
    }

    fn drop_part(&mut self) -> Result<Alteration> {
        self.expect("DROP")?;
        match self.upper().as_str() {
            "PRIMARY" => {
                self.advance();
                self.expect("KEY")?;
                Ok(Alteration::DropPrimaryKey)
            }
            "INDEX" | "KEY" => {
                self.advance();
                let if_exists = self.mariadb_if_exists();
                if self.is("PRIMARY") {
                    self.advance();
                    return Ok(Alteration::DropPrimaryKey);
                }
                let name = self.name()?;
                if name.eq_ignore_ascii_case("PRIMARY") {
                    return Ok(Alteration::DropPrimaryKey.only_if(if_exists));
                }
                Ok(Alteration::DropKey { name, if_exists })
            }
            "FOREIGN" => {
                self.expect_all(&["FOREIGN", "KEY"])?;
                let if_exists = self.mariadb_if_exists();
                Ok(Alteration::DropForeignKey { name: self.name()?, if_exists })
            }
            "CONSTRAINT" => {
                self.advance();
                let if_exists = self.mariadb_if_exists();
                Ok(Alteration::DropConstraint { name: self.name()?, if_exists })
            }
            "SYSTEM" if self.eat_all(&["SYSTEM", "VERSIONING"]) => Ok(Alteration::DropVersioning),
            "PERIOD" if ["FOR", "IF"].iter().any(|word| self.token_is(self.ahead(1), word)) => {
                self.advance();
                let if_exists = self.if_exists();
                self.expect("FOR")?;
                Ok(Alteration::DropPeriod { name: self.period_name()?, if_exists })
            }
            "CHECK" => {
                self.advance();
                Ok(Alteration::DropCheck { name: self.name()?, if_exists: false })
            }
            _ => {
                self.eat("COLUMN");
                let if_exists = self.mariadb_if_exists();
                let name = self.name()?;
                let _ = self.eat_any(&["RESTRICT", "CASCADE"]);
                Ok(Alteration::DropColumn { name, if_exists })
            }
        }
    }

    fn alter_part(&mut self) -> Result<Alteration> {
        self.expect("ALTER")?;
        if self.eat("INDEX") || self.mode.of_source && self.eat("KEY") {
            let if_exists = self.mariadb_if_exists();
            let name = self.name()?;
            let shows = self.eat("VISIBLE") || self.mode.of_source && self.eat_all(&["NOT", "IGNORED"]);
            let hides = !shows && (self.eat("INVISIBLE") || self.mode.of_source && self.eat("IGNORED"));
            if !shows && !hides {
                return Err(self.error());
            }
            return Ok(Alteration::SetIndexVisible { name, visible: shows }.only_if(if_exists));
        }
        if self.eat_any(&["CHECK", "CONSTRAINT"]) {
            let name = self.name()?;
            let enforced = !self.eat("NOT");
            self.expect("ENFORCED")?;
            return Ok(Alteration::EnforceCheck { name, enforced });
        }
        self.eat("COLUMN");
        let if_exists = self.mariadb_if_exists();
        let name = self.name()?;
        if self.eat("DROP") {
            self.expect("DEFAULT")?;
            return Ok(Alteration::SetDefault { name, default: None }.only_if(if_exists));
        }
        self.expect("SET")?;
        if self.is_any(&["VISIBLE", "INVISIBLE"]) {
            let visible = self.eat("VISIBLE") || !self.eat("INVISIBLE");
            return Ok(Alteration::SetVisible { name, visible });
        }
        self.expect("DEFAULT")?;
        if let Some(default) = self.default_expression()? {
            return Ok(Alteration::SetDefaultExpression { name, default }.only_if(if_exists));
        }
        let default = Some(self.default_value()?);
        Ok(Alteration::SetDefault { name, default }.only_if(if_exists))
    }

    fn rename_part(&mut self) -> Result<Alteration> {
        self.expect("RENAME")?;
        if self.eat("COLUMN") {
            let if_exists = self.mariadb_if_exists();
            let from = self.name()?;
            self.expect("TO")?;
            return Ok(Alteration::RenameColumn { from, to: self.name()? }.only_if(if_exists));
        }
        if self.eat_any(&["INDEX", "KEY"]) {
            let if_exists = self.mariadb_if_exists();
            let from = self.name()?;
            self.expect("TO")?;
            return Ok(Alteration::RenameKey { from, to: self.name()? }.only_if(if_exists));
        }
        if !self.eat_any(&["TO", "AS"]) {
            self.eat_symbol("=");
        }
        Ok(Alteration::RenameTo(self.table_name()?))
    }

    pub(super) fn drop(&mut self) -> Result<Statement> {
        self.expect("DROP")?;
        let temporary = self.eat("TEMPORARY");
        let word = self.upper();
        match word.as_str() {
            "TABLE" | "TABLES" => {
                self.advance();
                let if_exists = self.if_exists();
                let tables = self.list(Self::table_name)?;
                self.mariadb_wait()?;
                let _ = self.eat_any(&["RESTRICT", "CASCADE"]);
                Ok(Statement::DropTable { tables, if_exists, temporary, sequences: false })
            }
            "DATABASE" | "SCHEMA" => {
                self.advance();
                let if_exists = self.if_exists();
                Ok(Statement::DropSchema { schema: self.name()?, if_exists })
            }
            "SEQUENCE" => self.drop_sequence(temporary),
            "INDEX" => {
                self.advance();
                let if_exists = self.mariadb_if_exists();
                let name = if self.is("PRIMARY") { self.any_name()? } else { self.name()? };
                self.expect("ON")?;
                let table = self.table_name()?;
                self.mariadb_wait()?;
                let mut demands = AlterDemands::default();
                self.algorithm_and_lock(&mut demands)?;
                Ok(Statement::DropIndex { table, name, if_exists, demands })
            }
            "USER" => self.drop_user(),
            "ROLE" => self.drop_role(),
            "VIEW" | "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT" => self.drop_objects(),
            "PREPARE" => {
                self.advance();
                Ok(Statement::Deallocate(self.name()?))
            }
            "SERVER" | "TABLESPACE" | "UNDO" | "LOGFILE" | "SPATIAL" | "RESOURCE" => {
                Err(SqlError::not_supported(format!("DROP {word}")))
            }
            _ => Err(self.error()),
        }
    }

    pub(super) fn rename(&mut self) -> Result<Statement> {
        self.expect("RENAME")?;
        if self.is("USER") {
            return self.rename_user();
        }
        if !self.eat_any(&["TABLE", "TABLES"]) {
            return Err(self.error());
        }
        let if_exists = self.mariadb_if_exists();
        let pairs = self.list(|parser| {
            let from = parser.table_name()?;
            parser.mariadb_wait()?;
            parser.expect("TO")?;
            Ok((from, parser.table_name()?))
        })?;
        Ok(Statement::RenameTable { pairs, if_exists })
    }

    pub(super) fn truncate(&mut self) -> Result<Statement> {
        self.expect("TRUNCATE")?;
        self.eat("TABLE");
        let table = self.table_name()?;
        self.mariadb_wait()?;
        Ok(Statement::Truncate(table))
    }
}

/// Adds a column, and the foreign key and checks in its definition as alterations of their own.
fn add_column(into: &mut Vec<Alteration>, mut spec: ColumnSpec, place: ColumnPlace, if_absent: bool) {
    let references = spec.references.take();
    let checks = std::mem::take(&mut spec.checks);
    let add = Alteration::AddColumn(spec, place);
    into.push(if if_absent { add.unless_there() } else { add });
    into.extend(checks.into_iter().map(Alteration::AddCheck));
    into.extend(references.map(Alteration::AddForeignKey));
}
