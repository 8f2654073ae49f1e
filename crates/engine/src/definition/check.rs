//! The requirements of the engine itself for a definition. Crate `sql` checks the rest (names,
//! types, defaults).

use super::{IndexColumn, TableDef};
use crate::error::{EngineError, Result};

/// MySQL's limits.
const MAX_COLUMNS: usize = 4096;
const MAX_INDEXES: usize = 64;
const MAX_KEY_PARTS: usize = 16;

impl TableDef {
    /// Refuses a definition that the engine could not store rows for.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |what: String| Err(EngineError::BadDefinition(what));
        if self.columns.is_empty() {
            return bad("A table must have at least 1 column".into());
        }
        if self.columns.len() > MAX_COLUMNS {
            return bad("Too many columns".into());
        }
        if self.indexes.len() > MAX_INDEXES {
            return bad(format!("Too many keys specified; max {MAX_INDEXES} keys allowed"));
        }
        if let Some(primary) = &self.primary {
            self.check_parts(primary)?;
            if let Some(part) = primary.iter().find(|part| self.columns[part.column].nullable) {
                return bad(format!(
                    "All parts of a PRIMARY KEY must be NOT NULL ({})",
                    self.columns[part.column].name
                ));
            }
        }
        for index in &self.indexes {
            self.check_parts(&index.columns)?;
        }
        if let Some(column) = self.auto_increment_column() {
            // The column may be anywhere in a key, not only first, because other engines of a
            // source allow that.
            let has = |parts: &[IndexColumn]| parts.iter().any(|part| part.column == column);
            let is_key = self.primary.as_deref().is_some_and(has)
                || self.indexes.iter().any(|index| has(&index.columns));
            if !is_key || self.columns.iter().filter(|column| column.auto_increment).count() > 1 {
                return bad(
                    "Incorrect table definition; there can be only one auto column and it must be defined as a key"
                        .into(),
                );
            }
        }
        Ok(())
    }

    fn check_parts(&self, parts: &[IndexColumn]) -> Result<()> {
        if parts.is_empty() || parts.len() > MAX_KEY_PARTS {
            return Err(EngineError::BadDefinition(format!(
                "Too many key parts specified; max {MAX_KEY_PARTS} parts allowed"
            )));
        }
        for part in parts {
            let Some(column) = self.columns.get(part.column) else {
                return Err(EngineError::BadDefinition(format!(
                    "Key column {} doesn't exist in table",
                    part.column
                )));
            };
            if column.ty.is_blob() && part.prefix.is_none() && column.elements.is_none() {
                return Err(EngineError::BadDefinition(format!(
                    "BLOB/TEXT column '{}' used in key specification without a key length",
                    column.name
                )));
            }
        }
        Ok(())
    }
}
