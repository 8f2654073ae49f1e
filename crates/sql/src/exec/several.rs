//! UPDATE and DELETE of several tables: all joined rows are found first, then each found row is
//! changed once, table by table.
//!
//! The values of an UPDATE are computed when a row is found for the first time. As in MySQL, the
//! assignments to the first table of the loops see the assignments before them, and those to the
//! tables behind it see its new values. Assignments to other tables see the row as it was. The
//! conditions see all rows as they were.

use super::loops::{Flow, Order, nested_loops};
use super::row_update::{NewValue, RowUpdate, bind_new_value};
use super::select::materialize;
use super::update::{check_safe, note_info};
use super::{Changes, Run, refuse_changes};
use crate::ast::{self, TableName};
use crate::bind::{
    Binder, Changed as Read, Join, JoinedTables, Place, TableUse, ToChange, Wanted, bind_joined,
    check_columns_to_change, several_tables,
};
use crate::error::{Result, SqlError};
use crate::expr::Node;
use crate::host::Privilege;
use crate::memory::{Charge, row_bytes};
use crate::plan::Source;
use engine::{EngineError, LockMode, Table, TriggerEvent};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use types::Value;

/// An estimate of the bytes that a found row takes besides its key and values: in the list of rows
/// and in the set of keys.
const KEY_BYTES: usize = 64;

/// A table whose rows an UPDATE of several tables changes.
struct Changed {
    update: RowUpdate,
    /// The first of the table's slots.
    base: usize,
    key_slot: usize,
    /// Whether its assignments see those before them, and the assignments to other tables see its
    /// new values.
    in_place: bool,
}

/// A bound UPDATE of several tables.
pub(crate) struct UpdateSeveralPlan {
    pub join: Join,
    /// The changed tables in the order of FROM, except that one with `in_place` comes first,
    /// because the others see its new values.
    changed: Vec<Changed>,
}

/// A bound DELETE of rows of several tables.
pub(crate) struct DeleteSeveralPlan {
    pub join: Join,
    /// The tables, in the order of the statement, with the slots of their keys.
    targets: Vec<(Arc<Table>, usize)>,
    ignore: bool,
}

/// A table that SET changes, with its assignments.
struct Updated {
    of: ToChange,
    /// The assigned columns, each with the position of its assignment in SET.
    columns: Vec<(usize, usize)>,
}

/// Returns the table that a column of SET belongs to, and the column's position in the table.
fn assigned_column(
    binder: &Binder<'_>,
    joined: &JoinedTables,
    assignment: &ast::Assignment,
) -> Result<(ToChange, usize)> {
    let scope = &joined.scope;
    let column = scope.resolve(None, assignment.table.as_deref(), &assignment.column, "field list")?;
    let Node::Slot(slot) = column.node else { unreachable!("a column of a scope is a slot") };
    joined.column_to_change(binder, slot, &assignment.column)
}

/// Returns the tables that SET changes, in the order of FROM.
fn updated_tables(binder: &Binder<'_>, joined: &JoinedTables, update: &ast::Update) -> Result<Vec<Updated>> {
    let mut updated: Vec<Updated> = Vec::new();
    for (nth, assignment) in update.assignments.iter().enumerate() {
        let (of, at) = assigned_column(binder, joined, assignment)?;
        match updated.iter_mut().find(|known| known.of.leaf == of.leaf) {
            Some(known) => known.columns.push((at, nth)),
            None => updated.push(Updated { of, columns: vec![(at, nth)] }),
        }
    }
    updated.sort_by_key(|updated| updated.of.leaf);
    Ok(updated)
}

/// Binds the assignments of SET to one table.
fn bind_row_update(
    binder: &mut Binder<'_>,
    joined: &JoinedTables,
    update: &ast::Update,
    Updated { of, columns }: &Updated,
) -> Result<RowUpdate> {
    let named = &joined.scope.tables[of.named];
    let mut names = columns.iter().map(|(_, nth)| update.assignments[*nth].column.as_str());
    if !of.table.is_temporary() {
        check_columns_to_change(binder.host, named, &mut names)?;
    }
    let written: Vec<usize> = columns.iter().map(|(at, _)| *at).collect();
    joined.check_rights(binder, of, &Wanted { privilege: Privilege::Update, columns: Some(&written) })?;
    let mut assignments = Vec::new();
    for (at, nth) in columns {
        let mut place = Place::new(&joined.scope, "field list");
        let value = bind_new_value(binder, &of.table, *at, &update.assignments[*nth].value, &mut place)?;
        let value = match value {
            Some(NewValue::Expr(expr)) => Some(NewValue::Expr(joined.resolve(binder, expr)?)),
            value => value,
        };
        assignments.extend(value.map(|value| (*at, value)));
    }
    let partitions = update.from.partitions_of(&named.alias);
    let check = joined.check(binder, of)?;
    Ok(RowUpdate::new(binder, of.table.clone(), assignments, partitions, update.ignore)?.with_check(check))
}

/// Checks that a table that is changed under two names keeps its keys, since its rows are
/// identified by them.
///
/// # Errors
/// Returns 1706 (`ER_MULTI_UPDATE_KEY_CONFLICT`) when its primary key or partition could change.
fn check_keys_stay(joined: &JoinedTables, updates: &[(ToChange, RowUpdate)]) -> Result<()> {
    let moves = |update: &RowUpdate| {
        let partitioned = update.table.def.partitioning.is_some();
        let primary = update.table.def.primary.iter().flatten();
        partitioned || primary.into_iter().any(|part| update.changes(part.column))
    };
    for (at, (of, first)) in updates.iter().enumerate() {
        for (other, second) in &updates[at + 1..] {
            if first.table.id == second.table.id && (moves(first) || moves(second)) {
                let names = [of, other].map(|of| &joined.scope.tables[of.named].alias);
                let text = format!(
                    "Primary key/partition key update is not allowed since the table is updated both as \
                     '{}' and '{}'.",
                    names[0], names[1]
                );
                return Err(SqlError::new(1706, text));
            }
        }
    }
    Ok(())
}

/// Checks that the statement changes no more than one table of each view.
///
/// # Errors
/// Returns 1393 (`ER_VIEW_MULTIUPDATE`) when it changes two.
fn check_one_of_view(joined: &JoinedTables, updates: &[(ToChange, RowUpdate)]) -> Result<()> {
    for (at, (of, _)) in updates.iter().enumerate() {
        if updates[at + 1..].iter().any(|(other, _)| other.named == of.named) {
            let named = &joined.scope.tables[of.named];
            return Err(several_tables(&named.schema, &named.org_table));
        }
    }
    Ok(())
}

/// Describes a changed table for the check that no subquery reads it.
fn changed<'c>(joined: &'c JoinedTables, of: &'c ToChange) -> Read<'c> {
    let named = &joined.scope.tables[of.named];
    let view = of.is_of_view.then_some((&*named.schema, &*named.org_table));
    Read { table: &of.table, shown: &named.alias, view }
}

pub(crate) fn bind_update_several(
    binder: &mut Binder<'_>,
    update: &ast::Update,
) -> Result<UpdateSeveralPlan> {
    for (is_there, clause) in [(!update.order_by.is_empty(), "ORDER BY"), (update.limit.is_some(), "LIMIT")] {
        if is_there {
            return Err(SqlError::new(1221, format!("Incorrect usage of UPDATE and {clause}")));
        }
    }
    let joined = bind_joined(binder, &update.from, update.filter.as_ref(), TableUse::Join)?;
    let mut updates = Vec::new();
    for updated in updated_tables(binder, &joined, update)? {
        let row_update = bind_row_update(binder, &joined, update, &updated)?;
        updates.push((updated.of, row_update));
    }
    check_keys_stay(&joined, &updates)?;
    check_one_of_view(&joined, &updates)?;
    for (of, _) in &updates {
        binder.noted.reads.check_none(&changed(&joined, of), "UPDATE")?;
    }
    let bases: Vec<usize> = updates.iter().map(|(of, _)| of.base).collect();
    let first_key_slot = joined.slots;
    let positions: Vec<usize> = updates.iter().map(|(of, _)| of.leaf).collect();
    let mut used = Vec::new();
    updates.iter().for_each(|(of, update)| update.slots(of.base, &mut used));
    let join = joined.plan(binder, &positions, used)?;
    check_all_safe(binder, &join)?;
    let changed = updates.into_iter().zip(bases).enumerate().map(|(nth, ((_, update), base))| Changed {
        in_place: changes_in_place(&join, &update, base),
        update,
        base,
        key_slot: first_key_slot + nth,
    });
    let mut changed: Vec<Changed> = changed.collect();
    changed.sort_by_key(|changed| !changed.in_place);
    assert!(changed.iter().skip(1).all(|changed| !changed.in_place), "the loops have one first table");
    Ok(UpdateSeveralPlan { join, changed })
}

/// Checks, for `sql_safe_updates`, that each changed table is read by a key.
fn check_all_safe(binder: &Binder<'_>, join: &Join) -> Result<()> {
    let changed = join.tables.iter().filter(|step| step.key_slot.is_some());
    changed.into_iter().try_for_each(|step| check_safe(binder, step, false))
}

/// Reports whether the table's assignments take effect in place: as in MySQL, for the first table
/// of the loops, unless its changes could make the loops find its rows again or the table occurs
/// under another name too.
fn changes_in_place(join: &Join, update: &RowUpdate, base: usize) -> bool {
    let is_same =
        |source: &Source| matches!(source, Source::Stored { table, .. } if table.id == update.table.id);
    let once = join.tables.iter().filter(|step| is_same(&step.source)).count() == 1;
    match join.tables.first() {
        Some(step) if step.base == base && once => match &step.source {
            Source::Stored { access, .. } => {
                let mut key = update.table.index_columns(access.index).iter();
                access.is_point || !key.any(|part| update.changes(part.column))
            }
            _ => false,
        },
        _ => false,
    }
}

pub(crate) fn bind_delete_several(
    binder: &mut Binder<'_>,
    delete: &ast::Delete,
) -> Result<DeleteSeveralPlan> {
    let joined = bind_joined(binder, &delete.from, delete.filter.as_ref(), TableUse::JoinToDelete)?;
    let mut targets: Vec<ToChange> = Vec::with_capacity(delete.targets.len());
    for target in &delete.targets {
        let position = named_target(&joined, target)?;
        if targets.iter().any(|of: &ToChange| of.named == position) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", target.name)));
        }
        if delete.from.has_system_time(&target.name) {
            return Err(SqlError::not_supported("DELETE of what a row was, with other tables"));
        }
        targets.push(joined.table_to_delete_from(binder, position)?);
    }
    let first_key_slot = joined.slots;
    for of in &targets {
        let named = &joined.scope.tables[of.named];
        if !of.table.is_temporary() {
            binder.host.check_table(&[Privilege::Delete], &named.schema, &named.org_table)?;
        }
        joined.check_rights(binder, of, &Wanted { privilege: Privilege::Delete, columns: None })?;
        binder.noted.reads.check_none(&changed(&joined, of), "DELETE")?;
        binder.noted.logging.note_change(&of.table, binder.noted.tables.len() > 1, false);
    }
    let positions: Vec<usize> = targets.iter().map(|of| of.leaf).collect();
    let join = joined.plan(binder, &positions, Vec::new())?;
    let targets = targets.into_iter().enumerate().map(|(nth, of)| (of.table, first_key_slot + nth)).collect();
    check_all_safe(binder, &join)?;
    Ok(DeleteSeveralPlan { join, targets, ignore: delete.ignore })
}

/// Returns the table of the scope that a name before FROM means. A table with an alias is named by
/// the alias.
fn named_target(joined: &JoinedTables, target: &TableName) -> Result<usize> {
    let is_it = |table: &crate::bind::ScopeTable| {
        table.alias == target.name && target.schema.as_ref().is_none_or(|schema| *schema == table.schema)
    };
    let found = joined.scope.tables.iter().position(is_it);
    found.ok_or_else(|| SqlError::new(1109, format!("Unknown table '{}' in MULTI DELETE", target.name)))
}

/// The new values of a found row.
struct NewRow {
    /// One value for each assignment.
    values: Vec<Value>,
    /// The joined row that the row was found in, if a view's check reads it. Else empty.
    joined: Vec<Value>,
}

/// The rows of one table that are to be changed: each once, in the order in which they were found.
struct FoundRows<T> {
    keys: HashSet<Rc<[u8]>>,
    rows: Vec<(Rc<[u8]>, T)>,
    charge: Charge,
}

impl<T> FoundRows<T> {
    fn new(run: &Run<'_, '_>) -> FoundRows<T> {
        FoundRows { keys: HashSet::new(), rows: Vec::new(), charge: run.charge() }
    }

    /// Returns the key in a slot. Returns `None` if its row has been found before, or if an outer
    /// join has no row here.
    fn new_key(&self, slot: &Value) -> Option<Rc<[u8]>> {
        match slot {
            Value::Bytes(key) if !self.keys.contains(&key[..]) => Some(Rc::from(&key[..])),
            _ => None,
        }
    }

    fn add(&mut self, key: Rc<[u8]>, what: T, what_bytes: usize) -> Result<()> {
        self.charge.add(KEY_BYTES + key.len() + what_bytes)?;
        let is_new = self.keys.insert(key.clone());
        assert!(is_new, "each row is changed once");
        self.rows.push((key, what));
        Ok(())
    }
}

impl Join {
    /// Calls `visit` with each joined row.
    fn for_each(
        &self,
        run: &mut Run<'_, '_>,
        visit: &mut dyn FnMut(&mut Run<'_, '_>, &[Value]) -> Result<()>,
    ) -> Result<()> {
        for condition in &self.preconditions {
            if !condition.holds(&[], run.ctx)? {
                return Ok(());
            }
        }
        let materialized = materialize(run, &self.tables)?;
        let mut row = Value::nulls(self.slots);
        let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
            visit(run, row)?;
            Ok(Flow::Continue)
        };
        // The first table's rows may be changed as they are found.
        nested_loops(run, (&self.tables, Order::OfTables), &materialized, &mut row, visit)?;
        Ok(())
    }
}

impl UpdateSeveralPlan {
    /// Returns the tables that the statement changes.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.changed.iter().map(|changed| &changed.update.table)
    }

    fn has_in_place(&self) -> bool {
        self.changed.first().is_some_and(|changed| changed.in_place)
    }

    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.changed.iter().any(|changed| changed.update.has_ignore())
    }

    /// Returns the slot of each changed table's key, and whether its rows are changed as they are
    /// found.
    pub fn changed_keys(&self) -> impl Iterator<Item = (usize, bool)> {
        self.changed.iter().map(|changed| (changed.key_slot, changed.in_place))
    }

    /// Reads the rows that would be changed, for EXPLAIN ANALYZE.
    pub fn read(&self, run: &mut Run<'_, '_>) -> Result<()> {
        self.join.for_each(run, &mut |_, _| Ok(()))
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        for table in self.tables() {
            refuse_changes(run, table, TriggerEvent::Update.bit())?;
        }
        let mut found: Vec<FoundRows<NewRow>> = self.changed.iter().map(|_| FoundRows::new(run)).collect();
        let mut changes = Changes::default();
        // The row that the assignments see, if it differs from the row that the conditions see.
        let mut assigned = vec![Value::Null; if self.has_in_place() { self.join.slots } else { 0 }];
        self.join.for_each(run, &mut |run, row| {
            if self.has_in_place() {
                assigned.clone_from_slice(row);
            }
            for (changed, found) in self.changed.iter().zip(&mut found) {
                let Some(key) = found.new_key(&row[changed.key_slot]) else {
                    if changed.in_place
                        && let Some((_, NewRow { values, .. })) = found.rows.last()
                    {
                        // The outermost loop is still at the row that was found last, so its new
                        // values apply.
                        changed.update.put(values, changed.base, &mut assigned);
                    }
                    continue;
                };
                changes.found_rows += 1;
                let number = changes.found_rows;
                let values = match (changed.in_place, self.has_in_place()) {
                    (true, _) => {
                        changed.update.assign(run, number, changed.base, &mut assigned)?;
                        changed.update.assigned_values(changed.base, &assigned)
                    }
                    (false, true) => changed.update.new_values(run, number, &assigned)?,
                    (false, false) => changed.update.new_values(run, number, row)?,
                };
                let joined = if changed.update.has_check() { row.to_vec() } else { Vec::new() };
                let bytes = row_bytes(&values) + row_bytes(&joined);
                found.add(key, NewRow { values, joined }, bytes)?;
            }
            Ok(())
        })?;
        for (changed, found) in self.changed.iter().zip(found) {
            let table = &changed.update.table;
            for (number, (key, NewRow { values, mut joined })) in (1..).zip(found.rows) {
                run.on_row()?;
                // The row is locked, but a change of the same row under another name may have come
                // before.
                let Some(row) = run.with(|txn| txn.get(table, &key, LockMode::Update))? else { continue };
                let mut columns = table.layout.decode_all(&row.image)?;
                changed.update.put(&values, 0, &mut columns);
                let is_changed = changed.update.store(run, &row, &mut columns, number, &mut joined, None)?;
                changes.affected_rows += u64::from(is_changed);
            }
        }
        note_info(run, &mut changes);
        Ok(changes)
    }
}

impl DeleteSeveralPlan {
    /// Returns the tables that the statement changes.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.targets.iter().map(|(table, _)| table)
    }

    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.ignore
    }

    /// Returns the slot of each changed table's key. All rows are found before one is deleted.
    pub fn changed_keys(&self) -> impl Iterator<Item = (usize, bool)> {
        self.targets.iter().map(|(_, key_slot)| (*key_slot, false))
    }

    /// Reads the rows that would be deleted, for EXPLAIN ANALYZE.
    pub fn read(&self, run: &mut Run<'_, '_>) -> Result<()> {
        self.join.for_each(run, &mut |_, _| Ok(()))
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        for table in self.tables() {
            refuse_changes(run, table, TriggerEvent::Delete.bit())?;
        }
        let mut found: Vec<FoundRows<()>> = self.targets.iter().map(|_| FoundRows::new(run)).collect();
        self.join.for_each(run, &mut |_, row| {
            for ((_, key_slot), found) in self.targets.iter().zip(&mut found) {
                if let Some(key) = found.new_key(&row[*key_slot]) {
                    found.add(key, (), 0)?;
                }
            }
            Ok(())
        })?;
        let mut changes = Changes::default();
        for ((table, _), found) in self.targets.iter().zip(found) {
            for (key, ()) in found.rows {
                run.on_row()?;
                // A foreign key's ON DELETE CASCADE may have deleted the row together with one of
                // another table.
                let Some(row) = run.with(|txn| txn.get(table, &key, LockMode::Update))? else { continue };
                let old = run.before_delete(table, &row)?;
                match run.delete_row(table, &row) {
                    Ok(()) => {
                        changes.affected_rows += 1;
                        run.after_delete(table, old)?;
                    }
                    Err(EngineError::RowNotFound { .. }) if table.is_related() => {}
                    Err(error) if self.ignore && error.is_ignorable() => {
                        let error = SqlError::from(error);
                        run.ctx.warn(error.code, error.message);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        changes.found_rows = changes.affected_rows;
        Ok(changes)
    }
}
