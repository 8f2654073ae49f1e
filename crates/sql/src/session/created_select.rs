//! CREATE TABLE ... SELECT: the table that it makes, and the INSERT that fills it.

use super::ddl_run::ddl_run;
use super::{Session, bound};
use crate::ast::{CreateTable, Insert, InsertSource, Query, Statement};
use crate::ddl::{DdlReport, columns_of_query};
use crate::error::Result;
use crate::exec::{Changes, Run, Subqueries};
use crate::quoting::quoted;
use engine::{ColumnDef, StatementContext, TableDef, Transaction};

/// Runs CREATE TABLE ... SELECT. The binary log gets the table's definition, and then the rows as a
/// transaction. If the INSERT fails, the table is dropped again.
pub(super) fn create_table(session: &mut Session, create: &CreateTable, query: &Query) -> Result<DdlReport> {
    let columns = columns_of(session, query)?;
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let def = ddl_run(session, "").definition_of_selected(create, columns.clone())?;
    let text = defining(session, create, &def);
    let created = {
        let mut run = ddl_run(session, &text);
        let created = run.create_table(create, columns);
        for (code, message) in std::mem::take(&mut run.notes) {
            session.statement.diagnostics.borrow_mut().push(crate::expr::Level::Note, code, message);
        }
        created?
    };
    session.cache.invalidate();
    if !created {
        return Ok(DdlReport::default());
    }
    let mut transaction = session.transacting().take();
    match fill(session, &mut transaction, &filling(create, query, names)) {
        Ok(changes) => {
            transaction.commit(&session.transaction.commit_options(&session.settings.variables))?;
            if let Some(id) = changes.generated_id {
                session.settings.last_insert_id.set(id);
            }
            Ok(DdlReport::filled(changes.affected_rows, changes.info))
        }
        Err(error) => {
            transaction.rollback();
            let text = format!("DROP TABLE {}.{}", quoted(&def.schema), quoted(&def.name));
            let (tables, if_exists) = (vec![create.table.clone()], false);
            let drop = Statement::DropTable { tables, if_exists, temporary: false, sequences: false };
            ddl_run(session, &text).run(&drop)?;
            Err(error)
        }
    }
}

/// Inserts the rows of the query.
fn fill(session: &Session, transaction: &mut Transaction, insert: &Statement) -> Result<Changes> {
    let bound = bound::bind_stored(session, insert)?;
    let mut ctx = session.context(&[], true);
    ctx.tables = &bound.tables;
    if bound.plan.has_ignore() {
        ctx.be_lenient();
    }
    let variables = &session.settings.variables;
    transaction.set_checks(variables.foreign_key_checks, variables.unique_checks);
    transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
    let change = |mut run: Run<'_, '_>| {
        run.set_changes_rows();
        bound.plan.change(&mut run).expect("an INSERT changes rows")
    };
    let done = Subqueries::with(&bound.subqueries, transaction, &ctx, true, bound.calls, change);
    ctx.check_refused()?;
    let changes = done?;
    ctx.check_interrupt()?;
    transaction.end_statement();
    Ok(changes)
}

/// Returns the columns that the table takes from the query.
pub(super) fn columns_of(session: &Session, query: &Query) -> Result<Vec<ColumnDef>> {
    let plan = crate::bind::bind_query(&mut session.binder(), query, None)?;
    columns_of_query(&plan, session.server.engine.catalog(), &session.settings.variables)
}

/// Returns the INSERT that fills the table. `columns` are the names of the query's columns.
pub(super) fn filling(create: &CreateTable, query: &Query, columns: Vec<String>) -> Statement {
    Statement::Insert(Insert {
        table: create.table.clone(),
        partitions: Vec::new(),
        columns: Some(columns),
        source: InsertSource::Query(Box::new(query.clone())),
        replace: create.replaces,
        ignore: create.ignores,
        row_alias: None,
        on_duplicate: Vec::new(),
    })
}

/// Returns the text of the CREATE TABLE that makes a table with this definition.
pub(super) fn defining(session: &Session, create: &CreateTable, def: &TableDef) -> String {
    let shown = crate::show::create_table(def, None, session.settings.variables.zone);
    let (schema, name) = (quoted(&def.schema), quoted(&def.name));
    let or_replace = if create.or_replace { " OR REPLACE" } else { "" };
    let (old, new) = (format!("CREATE TABLE {name}"), format!("CREATE{or_replace} TABLE {schema}.{name}"));
    assert!(shown.starts_with(&old), "the definition of a table begins with its name");
    shown.replacen(&old, &new, 1)
}
