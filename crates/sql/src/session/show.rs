//! SHOW: its rows, filtered by LIKE or WHERE.

use super::Session;
use crate::ast::{Show, ShowFilter};
use crate::bind::{Place, Scope, ScopeTable};
use crate::error::Result;
use crate::expr::text_of;
use crate::host::VirtualTable;
use crate::show::{ShowParts, matches_pattern};
use types::Value;

/// Returns the result of a SHOW statement, after its filter.
///
/// # Errors
/// Returns the errors of missing privileges, and those of a filter that cannot be bound.
pub(super) fn rows(session: &mut Session, show: &Show, filter: &ShowFilter) -> Result<VirtualTable> {
    let mut table = {
        let diagnostics = session.statement.diagnostics.borrow();
        let parts = ShowParts {
            engine: &session.server.engine,
            host: &*session.server.host,
            variables: &session.settings.variables,
            diagnostics: &diagnostics,
            schema: session.settings.schema.as_deref(),
            temporary: &session.temporary,
            last_insert_id: session.settings.last_insert_id.get(),
        };
        parts.rows(show)?
    };
    match filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => {
            // As in MySQL, SHOW TRIGGERS LIKE compares the names of the tables.
            let column = match show {
                Show::Triggers { .. } => 2,
                Show::Events { .. } | Show::ProcedureStatus | Show::FunctionStatus => 1,
                _ => 0,
            };
            let asked = match show {
                Show::Variables(_) => by_old_name(session, pattern, &table),
                _ => None,
            };
            table.rows.extend(asked);
            table.rows.retain(|row| matches_pattern(&text_of(&row[column]), pattern));
            // As in MySQL, the pattern is part of the column's name.
            if matches!(show, Show::Schemas | Show::Tables { .. }) {
                let name = &mut table.columns[0].name;
                *name = format!("{name} ({})", String::from_utf8_lossy(pattern));
            }
        }
        ShowFilter::Where(condition) => {
            let scope = Scope::of(ScopeTable::computed("", "", "", &table.columns, 0));
            let bound = session.binder().expr(condition, &mut Place::new(&scope, "where clause"))?;
            let ctx = session.context(&[], false);
            let mut kept = Vec::new();
            for row in std::mem::take(&mut table.rows) {
                if bound.holds(&row, &ctx)? {
                    kept.push(row);
                }
            }
            table.rows = kept;
        }
    }
    Ok(table)
}

/// Returns the row of a variable that is asked for by an old name, which the list lacks.
fn by_old_name(session: &Session, pattern: &[u8], list: &VirtualTable) -> Option<Vec<Value>> {
    let name = String::from_utf8_lossy(pattern).to_ascii_lowercase();
    let listed = session.server.host.listed_name(&name)?;
    let row = list.rows.iter().find(|row| *text_of(&row[0]) == *listed.as_bytes())?;
    Some(vec![Value::text(&name), row[1].clone()])
}
