//! The query of a view, read from the text that is kept of it.

use crate::ast::{Query, Statement, TableName};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::lexical::LexMode;
use crate::sql_mode::SqlMode;
use engine::ObjectDef;

fn cannot_run(def: &ObjectDef) -> SqlError {
    SqlError::not_supported(format!("the query of the view {}", crate::quoting::qualified(def)))
}

/// Parses the query of a view.
///
/// # Errors
/// Returns 1235 for a query that this server cannot run.
pub(crate) fn query_of_view(def: &ObjectDef) -> Result<Box<Query>> {
    // What this server has printed is in the language of no sql_mode.
    let mode = match def.attribute(attribute::QUALIFIED) {
        Some(_) => LexMode::default(),
        None => SqlMode(def.sql_mode).lex(),
    };
    let mode = LexMode { of_source: true, ..mode };
    match crate::parse::parse(def.body.as_bytes(), mode) {
        Ok(Some(parsed)) if parsed.parameters == 0 => match parsed.statement {
            Statement::Query(query) => Ok(Box::new(query)),
            _ => Err(cannot_run(def)),
        },
        _ => Err(cannot_run(def)),
    }
}

/// Returns schema and name of all tables and views that a view names.
///
/// # Errors
/// Returns 1235 for a query that this server cannot run.
pub(crate) fn tables_of_view(def: &ObjectDef) -> Result<Vec<(String, String)>> {
    let query = query_of_view(def)?;
    let current = def.attribute(attribute::CURRENT).unwrap_or(&def.schema);
    let schema = |name: &TableName| name.schema.clone().unwrap_or_else(|| current.to_owned());
    Ok(query.all_tables().into_iter().map(|name| (schema(name), name.name.clone())).collect())
}
