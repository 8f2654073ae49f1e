//! Views in FROM: the view's query, bound as a derived table.

use super::super::Binder;
use super::bind_query;
use crate::ast::{Query, Statement};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::host::Host;
use crate::lexer::LexMode;
use crate::plan::QueryPlan;
use crate::sql_mode::SqlMode;
use crate::variables::Variables;
use engine::{Engine, ObjectDef};
use std::sync::Arc;

/// Views within views.
const MOST_VIEW_LEVELS: usize = 16;

fn cannot_run(def: &ObjectDef) -> SqlError {
    SqlError::not_supported(format!("the query of the view {}", crate::quoting::qualified(def)))
}

/// The query of a view, parsed.
fn query_of(def: &ObjectDef) -> Result<Box<Query>> {
    let mode = LexMode { of_source: true, ..SqlMode(def.sql_mode).lex() };
    match crate::parse::parse(def.body.as_bytes(), mode) {
        Ok(Some(parsed)) if parsed.parameters == 0 => match parsed.statement {
            Statement::Query(query) => Ok(Box::new(query)),
            _ => Err(cannot_run(def)),
        },
        _ => Err(cannot_run(def)),
    }
}

impl Binder<'_> {
    /// The plan of a view's query. It is bound with the privileges of the account that reads the
    /// view, which has to have SELECT on the view as well. MySQL takes the definer's privileges for
    /// what the query reads: some accounts that MySQL lets read are refused here, and none reads
    /// what it could not read without the view.
    ///
    /// # Errors
    /// 1356 where a table or column is no longer there, 1235 for a query that cannot be run here.
    pub(in crate::bind) fn view_plan(&mut self, def: &ObjectDef) -> Result<QueryPlan> {
        let query = query_of(def)?;
        let current = def.attribute(attribute::CURRENT).unwrap_or(&def.schema);
        let mut inner = Binder::new(self.engine, self.host, self.variables, Some(current), self.locked);
        inner.view_levels = self.view_levels + 1;
        if inner.view_levels > MOST_VIEW_LEVELS {
            return Err(SqlError::new(
                1462,
                format!("`{}`.`{}` contains view recursion", def.schema, def.name),
            ));
        }
        inner.subqueries = std::mem::take(&mut self.subqueries);
        inner.subquery_levels = self.subquery_levels;
        inner.keeps_order = self.keeps_order;
        let mut plan = bind_query(&mut inner, &query, None).map_err(|error| match error.code {
            1049 | 1054 | 1146 | 1305 => {
                let name = format!("{}.{}", def.schema, def.name);
                let text = format!(
                    "View '{name}' references invalid table(s) or column(s) or function(s) or definer/invoker of view \
                     lack rights to use them"
                );
                SqlError::new(1356, text)
            }
            _ => error,
        })?;
        self.subqueries = std::mem::take(&mut inner.subqueries);
        self.read_by_subqueries.append(&mut inner.read_by_subqueries);
        if let Some(names) = def.attribute(attribute::NAMES) {
            for (column, name) in plan.columns.iter_mut().zip(names.split('\n')) {
                name.clone_into(&mut column.name);
            }
        }
        self.tables.append(&mut inner.tables);
        self.locked_used.append(&mut inner.locked_used);
        self.logging.reasons.append(&mut inner.logging.reasons);
        self.logging.rand |= inner.logging.rand;
        self.logging.last_insert_id |= inner.logging.last_insert_id;
        self.uncacheable = true;
        Ok(plan)
    }
}

/// The columns of a view.
///
/// # Errors
/// 1356 and 1235, as for a query of the view.
pub(crate) fn view_columns(
    engine: &Arc<Engine>,
    host: &dyn Host,
    variables: &Variables,
    def: &ObjectDef,
) -> Result<Vec<crate::ColumnMeta>> {
    Binder::new(engine, host, variables, None, None).view_plan(def).map(|plan| plan.columns)
}
