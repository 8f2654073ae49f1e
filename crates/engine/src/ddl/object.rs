//! CREATE, ALTER and DROP of views, triggers, routines and events.

use super::context::DdlContext;
use super::statement::Ddl;
use crate::catalog::Catalog;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::{Object, ObjectChange, ObjectKind};
use crate::dictionary;
use crate::dictionary::DictionaryOp;
use crate::error::Result;
use crate::lock::LockType;
use std::sync::Arc;

/// The name of an object that a statement makes, changes or drops. For a trigger it is the name of
/// the trigger's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName<'a> {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The schema of the object.
    pub schema: &'a str,
    /// The name of the object; for a trigger, of its table.
    pub name: &'a str,
}

impl ObjectName<'_> {
    /// Returns the name under which the object is locked. A view is locked as a table, and a
    /// trigger with its table. Other objects get a name with a NUL, which no table has.
    fn lock_name(&self) -> String {
        match self.kind {
            ObjectKind::View | ObjectKind::Trigger => self.name.to_owned(),
            kind => format!("{}\0{}", kind.word(), kind.key(self.name)),
        }
    }
}

/// Returns the dictionary entries of some changes. `ids` has the id of each object.
pub(super) fn change_ops(changes: &[ObjectChange], ids: &[u64]) -> Result<Vec<DictionaryOp>> {
    let mut all = Vec::new();
    for (change, id) in changes.iter().zip(ids) {
        let old = change.old.as_ref().map(|old| &old.def);
        all.extend(dictionary::object_ops(*id, old, change.new.as_ref())?);
    }
    Ok(all)
}

/// Makes, changes and drops objects in one commit. Once nobody else can change the objects with
/// these names, it asks `plan` for the changes. When there are none, the statement is only logged.
///
/// # Errors
/// Returns the errors of `plan`, and those of locks that are not granted.
pub(crate) fn change_objects(
    ddl: &Ddl,
    names: &[ObjectName<'_>],
    plan: &mut dyn FnMut() -> Result<Vec<ObjectChange>>,
    context: &DdlContext<'_>,
) -> Result<CommitOutcome> {
    let mut locks = ddl.metadata_locks(context);
    let mut names = names.to_vec();
    names.sort_unstable_by_key(|name| (name.schema, name.lock_name()));
    names.dedup();
    for name in &names {
        if matches!(name.kind, ObjectKind::View | ObjectKind::Trigger) {
            locks.lock_table(name.schema, name.name)?;
        } else {
            locks.lock(name.schema, "", LockType::Shared)?;
            locks.lock(name.schema, &name.lock_name(), LockType::Exclusive)?;
        }
    }
    let changes = plan()?;
    let _one = ddl.one.lock();
    let made = changes.iter().filter(|change| change.old.is_none()).count() as u64;
    let mut next = if made > 0 { ddl.take_ids(made, 0, 0)?.table } else { 0 };
    let ids: Vec<u64> = changes
        .iter()
        .map(|change| match &change.old {
            Some(old) => old.id,
            None => {
                next += 1;
                next - 1
            }
        })
        .collect();
    let outcome = ddl.commit_ddl(context, &change_ops(&changes, &ids)?)?;
    apply_changes(&ddl.catalog, changes, &ids);
    ddl.finish_ddl(context, outcome)
}

/// Puts the changes into the catalog, once their commit record is in the log.
pub(super) fn apply_changes(catalog: &Catalog, changes: Vec<ObjectChange>, ids: &[u64]) {
    assert_eq!(changes.len(), ids.len(), "every object has a number");
    changes.iter().filter_map(|change| change.old.as_ref()).for_each(|old| {
        catalog.remove_object(old);
    });
    for (change, id) in changes.into_iter().zip(ids) {
        if let Some(def) = change.new {
            catalog.put_object(Arc::new(Object { id: *id, def }));
        }
    }
}
