//! LOCK TABLES and UNLOCK TABLES, and what a session may do in between.

use super::Session;
use super::state::TableLocks;
use crate::ast::{Statement, TableName, TableToLock};
use crate::bind::{LockedName, LockedNames, view_plan};
use crate::error::{Result, SqlError};
use crate::host::Privilege;
use engine::{Object, ObjectDef, ObjectKind, TableLock};
use std::sync::Arc;

/// Runs LOCK TABLES: commits, releases the old locks and takes the new ones. After an error,
/// nothing is locked.
pub(super) fn lock_tables(session: &mut Session, tables: &[TableToLock]) -> Result<()> {
    session.transacting().commit()?;
    let_tables_go(session);
    let mut names = LockedNames::new(&session.server.memory);
    let mut views = Vec::new();
    for wanted in tables {
        session.server.check_interrupt()?;
        if session.temporary.has(&session.settings.schema_of(&wanted.table)?, &wanted.table.name) {
            // A temporary table needs no lock, since no other session has it.
            continue;
        }
        if let Some(view) = view_of(session, &wanted.table)? {
            check_lock(session, &wanted.table)?;
            if wanted.write {
                session.locks.check_writable(&session.server)?;
                session.settings.check_writable()?;
            }
            views.push((view, wanted.write));
            continue;
        }
        names.add(name_to_lock(session, wanted)?)?;
    }
    for (view, write) in views {
        // The tables of the views come last, because the statement may name some of them itself.
        add_view(session, &view.def, write, &mut names)?;
    }
    let mut wanted: Vec<(String, String, TableLock)> = Vec::new();
    for name in names.all() {
        let how = if name.write { TableLock::Write } else { TableLock::Read };
        match wanted.iter_mut().find(|(schema, table, _)| *schema == name.schema && *table == name.table) {
            // If a table is named twice, the stronger lock counts.
            Some((.., known)) if name.write => *known = how,
            Some(_) => {}
            None => wanted.push((name.schema.clone(), name.table.clone(), how)),
        }
    }
    let timeout_ms = session.settings.variables.lock_wait_timeout_s * 1000;
    let locked =
        session.server.engine.lock_tables(&wanted, timeout_ms, Some(session.server.interrupt.clone()))?;
    session.locks.tables = Some(TableLocks { tables: Arc::new(locked), names });
    session.cache.invalidate();
    Ok(())
}

fn view_of(session: &Session, name: &TableName) -> Result<Option<Arc<Object>>> {
    let schema = session.settings.schema_of(name)?;
    Ok(session.server.engine.catalog().object(&schema, ObjectKind::View, &name.name))
}

/// Adds the locks for the tables of a view, under their own names, and for the views within it.
///
/// # Errors
/// Returns 1356 when one of them does not exist.
fn add_view(session: &Session, def: &ObjectDef, write: bool, names: &mut LockedNames) -> Result<()> {
    let mut binder = session.binder();
    match view_plan(&mut binder, def, None) {
        // A view that cannot be run here reads nothing.
        Err(error) if error.code == 1235 => {}
        plan => drop(plan?),
    }
    for table in &binder.noted.tables {
        let (schema, table) = (table.def.schema.clone(), table.def.name.clone());
        names.add_of_view(LockedName { schema, shown: table.clone(), table, write })?;
    }
    let mut views = vec![(def.schema.clone(), def.name.clone())];
    while let Some((schema, name)) = views.pop() {
        let Some(view) = session.server.engine.catalog().object(&schema, ObjectKind::View, &name) else {
            continue;
        };
        if names.add_view(&schema, &name)? {
            // A view that cannot be run here names nothing.
            views.extend(crate::view_query::tables_of_view(&view.def).unwrap_or_default());
        }
    }
    Ok(())
}

fn check_lock(session: &Session, name: &TableName) -> Result<()> {
    let schema = session.settings.schema_of(name)?;
    session.server.host.check_privilege(Privilege::LockTables, Some(&schema), None)?;
    session.server.host.check_privilege(Privilege::Select, Some(&schema), Some(&name.name))
}

fn name_to_lock(session: &Session, wanted: &TableToLock) -> Result<LockedName> {
    let TableToLock { table: name, alias, write } = wanted;
    check_lock(session, name)?;
    let table = session.binder().stored_table(name)?;
    let (schema, of) = (&table.def.schema, &table.def.name);
    if *write {
        session.locks.check_writable(&session.server)?;
        session.settings.check_writable()?;
    }
    let shown = alias.as_ref().unwrap_or(&name.name).clone();
    Ok(LockedName { schema: schema.clone(), table: of.clone(), shown, write: *write })
}

/// Runs UNLOCK TABLES, which commits what was done under LOCK TABLES. A snapshot that was taken
/// under the global read lock outlives that lock.
pub(super) fn unlock_tables(session: &mut Session) -> Result<()> {
    session.locks.read_lock = None;
    if session.locks.has_tables() {
        session.transacting().commit()?;
        let_tables_go(session);
    }
    Ok(())
}

/// Releases the table locks. No transaction may be open.
pub(super) fn let_tables_go(session: &mut Session) {
    if session.locks.let_tables_go() {
        session.cache.invalidate();
    }
}

/// Checks that a DDL statement under LOCK TABLES changes only tables that are locked with WRITE.
pub(super) fn check_locked_for_ddl(session: &Session, statement: &Statement) -> Result<()> {
    let Some(names) = session.locks.names() else { return Ok(()) };
    let tables: Vec<&TableName> = match statement {
        Statement::CreateTable(create) => vec![&create.table],
        Statement::AlterTable(alter) => vec![&alter.table],
        Statement::DropTable { tables, .. } => tables.iter().collect(),
        Statement::RenameTable { pairs, .. } => pairs.iter().map(|(from, _)| from).collect(),
        Statement::Truncate(table) => vec![table],
        Statement::CreateObject(create) => match &create.details {
            crate::ast::ObjectDetails::Trigger(trigger) => vec![&trigger.table],
            _ => return Err(active_locks()),
        },
        Statement::AlterRoutine(_) | Statement::AlterEvent(_) => return Err(active_locks()),
        Statement::CreateIndex { table, .. } | Statement::DropIndex { table, .. } => vec![table],
        Statement::CreateSchema { .. } | Statement::DropSchema { .. } | Statement::AlterSchema { .. } => {
            return Err(active_locks());
        }
        _ => return Ok(()),
    };
    tables.into_iter().try_for_each(|name| names.allow_change(&session.settings.schema_of(name)?, &name.name))
}

/// Builds error 1192 (`ER_LOCK_OR_ACTIVE_TRANSACTION`), for a command that the session's locks do
/// not allow.
pub(super) fn active_locks() -> SqlError {
    let text =
        "Can't execute the given command because you have active locked tables or an active transaction";
    SqlError::new(1192, text)
}
