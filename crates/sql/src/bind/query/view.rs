//! Views in FROM: the view's query, bound as a derived table.

use super::super::Binder;
use super::bind_table;
use crate::attribute;
use crate::bind::table_use::Opening;
use crate::error::{Result, SqlError};
use crate::host::{AllRights, Host, Privilege, Sight};
use crate::plan::QueryPlan;
use crate::variables::{LiteralCollations, Variables};
use crate::view_query::query_of_view;
use engine::{Engine, ObjectDef};
use std::sync::Arc;

/// The number of views that may be nested.
pub(in crate::bind) const MOST_VIEW_LEVELS: usize = 16;

fn cannot_explain() -> SqlError {
    SqlError::new(1345, "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table")
}

/// Plans a view's query. It is read with the rights of the account that defined the view, or
/// for SQL SECURITY INVOKER with the rights of whoever reads the view.
///
/// # Errors
/// Returns 1356 when a table or column no longer exists or may not be read, 1449 and 1045 when
/// the definer does not exist, 1345 when EXPLAIN would show what the account may not see, 1462
/// when views are nested too deeply, and 1235 for a query that this server cannot run.
pub(crate) fn view_plan(
    binder: &mut Binder<'_>,
    def: &ObjectDef,
    opening: Option<Opening>,
) -> Result<QueryPlan> {
    check_view_is_shown(binder, def)?;
    let query = query_of_view(def)?;
    let current = def.attribute(attribute::CURRENT).unwrap_or(&def.schema);
    let (user, host) = &def.definer;
    let is_definers = def.attribute(attribute::SECURITY) != Some("INVOKER");
    let rights = if is_definers { binder.view.rights.of_definer((user, host))? } else { None };
    let mut inner =
        Binder::new(binder.engine, binder.host, binder.variables, Some(current), binder.locked.names);
    inner.view.rights = rights.as_deref().unwrap_or(binder.view.rights);
    inner.view.definer =
        if is_definers { Some(format!("{user}@{host}")) } else { binder.view.definer.clone() };
    inner.view.holder = match is_definers {
        true => Some(Arc::new((user.clone(), host.clone()))),
        false => binder.view.holder.clone(),
    };
    inner.meaning.literals =
        LiteralCollations { client: def.character_set_client, connection: def.collation_connection };
    inner.next.opening = opening;
    inner.explains = binder.explains;
    inner.view.levels = binder.view.levels + 1;
    if inner.view.levels > MOST_VIEW_LEVELS {
        return Err(SqlError::new(1462, format!("`{}`.`{}` contains view recursion", def.schema, def.name)));
    }
    inner.subqueries = std::mem::take(&mut binder.subqueries);
    inner.around.subquery_levels = binder.around.subquery_levels;
    inner.around.keeps_order = binder.around.keeps_order;
    let mut plan = bind_table(&mut inner, &query, None).map_err(|error| match error.code {
        // When views are nested, the error names the outermost one.
        1049 | 1054 | 1142 | 1143 | 1146 | 1305 | 1356 | 1370 => {
            SqlError::invalid_view(&def.schema, &def.name)
        }
        _ => error,
    })?;
    binder.subqueries = std::mem::take(&mut inner.subqueries);
    binder.noted.reads.append(inner.noted.reads);
    binder.noted.calls_functions |= inner.noted.calls_functions;
    if let Some(names) = def.attribute(attribute::NAMES) {
        for (column, name) in plan.columns.iter_mut().zip(names.split('\n')) {
            name.clone_into(&mut column.name);
        }
    }
    binder.noted.tables.append(&mut inner.noted.tables);
    binder.locked.append(inner.locked);
    binder.noted.logging.reasons.append(&mut inner.noted.logging.reasons);
    binder.noted.logging.rand |= inner.noted.logging.rand;
    binder.noted.logging.last_insert_id |= inner.noted.logging.last_insert_id;
    binder.noted.uncacheable = true;
    Ok(plan)
}

/// Returns error 1345 when EXPLAIN shows the view and the session's account may not see its
/// definition.
fn check_view_is_shown(binder: &Binder<'_>, def: &ObjectDef) -> Result<()> {
    match binder.explains {
        true => {
            let sight = Sight::CreateView(&def.schema, &def.name);
            binder.host.check_sight(sight).map_err(|_| cannot_explain())
        }
        false => Ok(()),
    }
}

/// Returns error 1345 when EXPLAIN shows a table of a view's query and the session's account
/// may not read it.
pub(super) fn check_shown_within_view(binder: &Binder<'_>, schema: &str, table: &str) -> Result<()> {
    match binder.explains && binder.view.levels > 0 {
        true => binder.host.check_table(&[Privilege::Select], schema, table).map_err(|_| cannot_explain()),
        false => Ok(()),
    }
}

/// Returns the columns of a view. Every account that sees the view sees its columns.
///
/// # Errors
/// Returns 1356 and 1235 as a query of the view does.
pub(crate) fn view_columns(
    engine: &Arc<Engine>,
    host: &dyn Host,
    variables: &Variables,
    def: &ObjectDef,
) -> Result<Vec<crate::ColumnMeta>> {
    let mut binder = Binder::new(engine, host, variables, None, None);
    binder.view.rights = &AllRights;
    view_plan(&mut binder, def, None).map(|plan| plan.columns)
}
