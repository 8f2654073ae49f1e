//! Parsing of FOREIGN KEY constraints, and of REFERENCES in the definition of a column.

use super::Parser;
use crate::ast::ForeignKeySpec;
use crate::error::Result;
use engine::ReferentialAction;

impl Parser<'_> {
    /// Reads `[CONSTRAINT [name]] FOREIGN KEY [index] (columns) REFERENCES ...`. `None` if
    /// something else follows.
    pub(super) fn foreign_key_spec(&mut self) -> Result<Option<ForeignKeySpec>> {
        let at = self.at;
        let mut name = None;
        let mut unless_there = false;
        if self.eat("CONSTRAINT") {
            unless_there = self.mariadb_if_not_exists();
            name = self.constraint_name()?;
        }
        if !self.eat("FOREIGN") {
            self.at = at;
            return Ok(None);
        }
        self.expect("KEY")?;
        self.if_not_exists_of_key = self.mariadb_if_not_exists() || unless_there;
        let index = if self.is_name() { Some(self.name()?) } else { None };
        let columns = self.parenthesized(Self::name)?;
        self.references(name, index, columns, false).map(Some)
    }

    /// Reads `REFERENCES table [(columns)] [MATCH kind] [ON DELETE action] [ON UPDATE action]`.
    pub(super) fn references(
        &mut self,
        name: Option<String>,
        index: Option<String>,
        columns: Vec<String>,
        at_column: bool,
    ) -> Result<ForeignKeySpec> {
        self.expect("REFERENCES")?;
        let parent = self.table_name()?;
        let parent_columns = if self.is_symbol("(") { self.parenthesized(Self::name)? } else { Vec::new() };
        if self.eat("MATCH") && !self.eat_any(&["FULL", "PARTIAL", "SIMPLE"]) {
            return Err(self.error());
        }
        let (mut on_delete, mut on_update) = (None, None);
        while (on_delete.is_none() || on_update.is_none()) && self.eat("ON") {
            let event = if self.is("DELETE") { &mut on_delete } else { &mut on_update };
            if event.is_some() || !self.eat_any(&["DELETE", "UPDATE"]) {
                return Err(self.error());
            }
            *event = Some(self.referential_action()?);
        }
        Ok(ForeignKeySpec {
            name,
            index,
            columns,
            parent,
            parent_columns,
            on_delete: on_delete.unwrap_or_default(),
            on_update: on_update.unwrap_or_default(),
            at_column,
            keys_before: None,
        })
    }

    fn referential_action(&mut self) -> Result<ReferentialAction> {
        Ok(match () {
            _ if self.eat("RESTRICT") => ReferentialAction::Restrict,
            _ if self.eat("CASCADE") => ReferentialAction::Cascade,
            _ if self.eat_all(&["SET", "NULL"]) => ReferentialAction::SetNull,
            _ if self.eat_all(&["SET", "DEFAULT"]) => ReferentialAction::SetDefault,
            _ if self.eat_all(&["NO", "ACTION"]) => ReferentialAction::NoAction,
            _ => return Err(self.error()),
        })
    }
}
