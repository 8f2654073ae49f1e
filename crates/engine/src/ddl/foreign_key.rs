//! Foreign keys in DDL: parents are locked while a foreign key that refers to them is made,
//! children follow a parent that gets another name, and existing rows are checked.
//!
//! Crate `sql` decides which definitions are allowed.

use super::build::{check_interrupt, for_each_row};
use super::context::DdlContext;
use super::locks::MetadataLocks;
use super::object::{apply_changes, change_ops};
use super::statement::Ddl;
use crate::catalog::Catalog;
use crate::definition::IndexRef;
use crate::definition::{ForeignKeyDef, Object, ObjectChange, TableDef, TriggerPlace};
use crate::dictionary;
use crate::dictionary::DictionaryOp;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::table::Table;
use crate::transaction::foreign_key::parent_key;
use crate::transaction::key_range::after_prefix;
use binlog::event::flags2;
use btree::Direction;
use buffer::Pool;
use std::ops::Bound;
use std::sync::Arc;

/// Returns the foreign keys that `new` has and `old` does not have, or not with the same columns.
/// `renamed` are the columns that get other names (from, to).
pub(super) fn added<'d>(
    old: Option<&TableDef>,
    new: &'d TableDef,
    renamed: &[(String, String)],
) -> Vec<&'d ForeignKeyDef> {
    let mut known = Vec::new();
    if let Some(old) = old.filter(|old| !old.foreign_keys.is_empty()) {
        let mut old = old.clone();
        old.rename(&new.schema, &new.name);
        old.rename_columns(renamed);
        known.extend(old.foreign_keys.iter().map(|key| key.reference(&old)));
    }
    new.foreign_keys.iter().filter(|key| !known.contains(&key.reference(new))).collect()
}

/// The definitions that follow a table whose definition changes.
#[derive(Default)]
pub(super) struct Followers {
    /// The table's children, each with the definition that it gets.
    children: Vec<(Arc<Table>, TableDef)>,
    /// The table's triggers, if it gets another name, and views that get other names in the same
    /// statement.
    objects: Vec<ObjectChange>,
}

impl MetadataLocks<'_> {
    /// Keeps everybody from changing rows of the parents of new foreign keys, so that the result of
    /// the check stays true.
    pub fn lock_parents(&mut self, table: &TableDef, added: &[&ForeignKeyDef]) -> Result<()> {
        let mut parents: Vec<(&str, &str)> = added
            .iter()
            .filter(|key| !key.is_about(&table.schema, &table.name))
            .map(|key| (&key.parent_schema[..], &key.parent_table[..]))
            .collect();
        parents.sort_unstable();
        parents.dedup();
        parents.into_iter().try_for_each(|(schema, name)| self.lock_table(schema, name))
    }

    /// Locks the children of a table that becomes `new`, if their definitions have to follow. The
    /// table's triggers follow too; they cannot change their schema, which is error 1435.
    pub fn lock_followers(
        &mut self,
        catalog: &Catalog,
        old: &TableDef,
        new: &TableDef,
        context: &DdlContext<'_>,
    ) -> Result<Followers> {
        let children = || {
            let mut children = catalog.children(&old.schema, &old.name);
            children.retain(|child| child.def.schema != old.schema || child.def.name != old.name);
            children.retain(|child| child.def.following(old, new, context.renamed_columns).is_some());
            children
        };
        for child in children() {
            self.lock_table(&child.def.schema, &child.def.name)?;
        }
        let follows = |child: Arc<Table>| {
            let def = child.def.following(old, new, context.renamed_columns)?;
            Some((child, def))
        };
        let children = children().into_iter().filter_map(follows).collect();
        Ok(Followers { children, objects: following_triggers(catalog, old, new)? })
    }
}

impl Followers {
    pub fn add(&mut self, others: Followers) {
        for (child, def) in others.children {
            self.add_one(child, def);
        }
        self.objects.extend(others.objects);
    }

    /// Adds views that get other names in the same statement.
    pub fn add_objects(&mut self, changes: Vec<ObjectChange>) {
        assert!(changes.iter().all(|change| change.old.is_some()), "what follows is there already");
        self.objects.extend(changes);
    }

    fn add_one(&mut self, child: Arc<Table>, def: TableDef) {
        match self.children.iter_mut().find(|(table, _)| table.id == child.id) {
            None => self.children.push((child, def)),
            Some((table, known)) => {
                // Each foreign key that differs from the child's present definition follows another
                // parent.
                for (at, key) in def.foreign_keys.into_iter().enumerate() {
                    if key != table.def.foreign_keys[at] {
                        known.foreign_keys[at] = key;
                    }
                }
            }
        }
    }

    /// Moves the followed changes of children that are among `tables` into their new definitions.
    pub fn settle_among(&mut self, tables: &mut [(Arc<Table>, TableDef)]) {
        self.children.retain(|(child, def)| {
            let Some((_, new)) = tables.iter_mut().find(|(table, _)| table.id == child.id) else {
                return true;
            };
            for (at, key) in def.foreign_keys.iter().enumerate() {
                let was = &child.def.foreign_keys[at];
                if key != was {
                    let name = new.foreign_keys[at].name.clone();
                    new.foreign_keys[at] = ForeignKeyDef { name, ..key.clone() };
                }
            }
            false
        });
    }

    /// Returns the dictionary entries of all followers.
    pub fn ops(&self) -> Result<Vec<DictionaryOp>> {
        let mut all = change_ops(&self.objects, &self.ids())?;
        for (child, def) in &self.children {
            let place = &child.placement;
            all.extend(dictionary::table_ops(child.id, Some((place, &child.def)), Some((place, def)))?);
        }
        Ok(all)
    }

    fn ids(&self) -> Vec<u64> {
        self.objects.iter().filter_map(|change| change.old.as_ref()).map(|old| old.id).collect()
    }

    /// Puts the followers into the catalog, once their commit record is in the log.
    pub fn take_effect(self, catalog: &Catalog, pool: &Arc<Pool>) {
        let ids = self.ids();
        apply_changes(catalog, self.objects, &ids);
        for (child, def) in self.children {
            let place = child.placement.clone();
            let table = Table::open(pool, place, def, child.counters.clone());
            catalog.put_table(Arc::new(table));
        }
    }
}

/// Returns the changes of the triggers of a table that gets another name.
fn following_triggers(catalog: &Catalog, old: &TableDef, new: &TableDef) -> Result<Vec<ObjectChange>> {
    if old.schema == new.schema && old.name == new.name {
        return Ok(Vec::new());
    }
    let triggers = catalog.triggers(&old.schema, &old.name);
    if old.schema != new.schema && !triggers.is_empty() {
        return Err(EngineError::Statement { code: 1435, message: "Trigger in wrong schema".into() });
    }
    let follow = |trigger: Arc<Object>| {
        let mut def = trigger.def.clone();
        def.trigger =
            def.trigger.map(|place| TriggerPlace { table: new.name.clone(), renamed: true, ..place });
        ObjectChange { old: Some(trigger), new: Some(def) }
    };
    Ok(triggers.into_iter().map(follow).collect())
}

/// Refuses new foreign keys that rows of the table violate. The table and its parents are locked.
pub(super) fn check_rows_of(
    ddl: &Ddl,
    table: &Table,
    added: &[&ForeignKeyDef],
    context: &DdlContext<'_>,
) -> Result<()> {
    if context.session.flags2 & flags2::NO_FOREIGN_KEY_CHECKS != 0 {
        return Ok(());
    }
    for foreign_key in added {
        let is_own = foreign_key.is_about(&table.def.schema, &table.def.name);
        let other = match is_own {
            true => None,
            false => ddl.catalog.table(&foreign_key.parent_schema, &foreign_key.parent_table),
        };
        let parent = if is_own { Some(table) } else { other.as_deref() };
        for_each_row(&ddl.rows, table, |_, image| {
            check_interrupt(context.interrupt.as_deref())?;
            let Some(key) = parent_key(table, foreign_key, parent, image)? else { return Ok(()) };
            let found = match (parent, key.index) {
                (Some(parent), Some(index)) => has_row(parent, index, &key.bytes)?,
                _ => false,
            };
            if found { Ok(()) } else { Err(EngineError::NoParentRow(foreign_key.described(&table.def))) }
        })?;
    }
    Ok(())
}

/// Reports whether the index has a committed entry that begins with this key.
fn has_row(table: &Table, index: IndexRef, key: &[u8]) -> Result<bool> {
    let end = after_prefix(key);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut scan = table.tree(index).scan(Bound::Included(key), end, Direction::Forward);
    while let Some((_, value)) = scan.next()? {
        if entry::parse_header(value)?.0 & entry::DELETED == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
