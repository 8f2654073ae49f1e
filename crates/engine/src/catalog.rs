//! The schemas, tables, views, triggers, routines and events that exist now, in memory.
//!
//! The catalog has the content of the dictionary (a tree in the system tablespace), with trees
//! opened. Only DDL changes it, after its commit record is in the log and while it holds the
//! exclusive metadata locks of everything that it changes.
//!
//! Lock order: the catalog's lock is a leaf; nothing is taken under it.

use crate::definition::{Object, ObjectKind, SchemaDef};
use crate::table::Table;
use parking_lot::RwLock;
use redo::Lsn;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
struct Content {
    schemas: BTreeMap<String, (u64, Arc<SchemaDef>)>,
    /// The tables by schema, then table name.
    tables: BTreeMap<String, BTreeMap<String, Arc<Table>>>,
    /// The tables by id, each with the sequence number of the commit that gave it this definition.
    /// 0 means a commit before the engine was opened.
    by_id: BTreeMap<u64, (Arc<Table>, Lsn)>,
    /// The sequence number of the newest commit that changes definitions.
    changed_by: Lsn,
    /// For the name of a table, the names of the tables whose foreign keys refer to it. Any of
    /// these tables may be gone.
    children: HashMap<(String, String), BTreeSet<(String, String)>>,
    /// The objects by schema, then by kind and the form in which names of the kind are compared.
    objects: BTreeMap<String, BTreeMap<(ObjectKind, String), Arc<Object>>>,
}

impl Content {
    fn named(&self, (schema, name): &(String, String)) -> Option<&Arc<Table>> {
        self.tables.get(schema)?.get(name)
    }

    /// Enters a table's foreign keys, so that they count.
    fn link(&mut self, table: &Table) {
        let own = (table.def.schema.clone(), table.def.name.clone());
        for foreign_key in &table.def.foreign_keys {
            let parent = (foreign_key.parent_schema.clone(), foreign_key.parent_table.clone());
            if let Some(parent) = self.named(&parent) {
                parent.set_related(true);
            }
            self.children.entry(parent).or_default().insert(own.clone());
        }
        table.set_related(!table.def.foreign_keys.is_empty() || self.children.contains_key(&own));
        self.note_triggers(table);
    }

    fn put_table(&mut self, table: &Arc<Table>) {
        let entry = (table.clone(), self.changed_by);
        if let Some((previous, _)) = self.by_id.insert(table.id, entry) {
            previous.set_in_catalog(false);
            remove_name(&mut self.tables, &previous);
            self.unlink(&previous);
        }
        let tables = self.tables.entry(table.def.schema.clone()).or_default();
        if let Some(previous) = tables.insert(table.def.name.clone(), table.clone())
            && previous.id != table.id
        {
            self.forget_id(previous.id);
            self.unlink(&previous);
        }
        table.set_in_catalog(true);
        self.link(table);
    }

    fn forget_id(&mut self, id: u64) {
        if let Some((table, _)) = self.by_id.remove(&id) {
            table.set_in_catalog(false);
        }
    }

    fn remove_table(&mut self, table: &Table) {
        self.forget_id(table.id);
        remove_name(&mut self.tables, table);
        self.unlink(table);
    }

    fn objects_of(&self, schema: &str) -> impl Iterator<Item = &Arc<Object>> {
        self.objects.get(schema).into_iter().flat_map(|objects| objects.values())
    }

    /// Notes in a table which triggers it has.
    fn note_triggers(&self, table: &Table) {
        let places = self.objects_of(&table.def.schema).filter_map(|object| object.def.trigger.as_ref());
        let own = places.filter(|place| place.table == table.def.name);
        table.set_triggers(own.fold(0, |events, place| events | place.event.bit()));
    }

    /// Notes in the table of an object, if the object is a trigger, which triggers the table has
    /// now.
    fn note_trigger(&self, object: &Object) {
        let Some(place) = &object.def.trigger else { return };
        if let Some(table) = self.named(&(object.def.schema.clone(), place.table.clone())) {
            self.note_triggers(table);
        }
    }

    /// Takes a table's foreign keys out, so that they no longer count.
    fn unlink(&mut self, table: &Table) {
        let own = (table.def.schema.clone(), table.def.name.clone());
        for foreign_key in &table.def.foreign_keys {
            let parent = (foreign_key.parent_schema.clone(), foreign_key.parent_table.clone());
            let Some(children) = self.children.get_mut(&parent) else { continue };
            children.remove(&own);
            if children.is_empty() {
                self.children.remove(&parent);
                if let Some(parent) = self.named(&parent) {
                    parent.set_related(!parent.def.foreign_keys.is_empty());
                }
            }
        }
    }
}

/// The schemas and tables of an engine. Names compare exactly (`lower_case_table_names = 0`).
#[derive(Default)]
pub struct Catalog {
    content: RwLock<Content>,
    /// How often tables and objects have been put and removed. It is raised with `content` locked,
    /// and before anybody sees the change.
    changes: AtomicU64,
}

impl Catalog {
    /// Returns the names of all schemas, sorted.
    pub fn schemas(&self) -> Vec<String> {
        self.content.read().schemas.keys().cloned().collect()
    }

    /// Returns the schema with this name.
    pub fn schema(&self, name: &str) -> Option<Arc<SchemaDef>> {
        self.content.read().schemas.get(name).map(|(_, def)| def.clone())
    }

    pub(crate) fn schema_id(&self, name: &str) -> Option<u64> {
        self.content.read().schemas.get(name).map(|(id, _)| *id)
    }

    /// Returns the table with this name. The table may be dropped or replaced at any time unless a
    /// transaction uses it; see [`crate::Transaction::open_table`].
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.content.read().tables.get(schema)?.get(name).cloned()
    }

    /// Returns the table with this id.
    pub fn table_by_id(&self, id: u64) -> Option<Arc<Table>> {
        self.content.read().by_id.get(&id).map(|(table, _)| table.clone())
    }

    /// Returns the table with this id, if a commit with the sequence number `seq` saw this very
    /// definition.
    pub(crate) fn table_as_of(&self, id: u64, seq: Lsn) -> Option<Arc<Table>> {
        let content = self.content.read();
        content.by_id.get(&id).filter(|(_, defined_by)| *defined_by < seq).map(|(table, _)| table.clone())
    }

    /// Returns a count that stays the same as long as the tables do.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Notes that everything put from here on comes from the commit `seq`.
    pub(crate) fn begin_change(&self, seq: Lsn) {
        self.content.write().changed_by = seq;
    }

    /// Returns the tables of a schema, sorted by name.
    pub fn tables(&self, schema: &str) -> Vec<Arc<Table>> {
        let content = self.content.read();
        content.tables.get(schema).map(|tables| tables.values().cloned().collect()).unwrap_or_default()
    }

    /// Returns all tables, sorted by schema and name.
    pub fn all_tables(&self) -> Vec<Arc<Table>> {
        self.content.read().tables.values().flat_map(|tables| tables.values().cloned()).collect()
    }

    /// Returns the number of tables.
    pub fn table_count(&self) -> usize {
        self.content.read().tables.values().map(|tables| tables.len()).sum()
    }

    /// Returns the tables with foreign keys that refer to this table, sorted by schema and name.
    /// The table itself may be among them.
    pub fn children(&self, schema: &str, name: &str) -> Vec<Arc<Table>> {
        let content = self.content.read();
        let names = content.children.get(&(schema.to_owned(), name.to_owned()));
        names.into_iter().flatten().filter_map(|child| content.named(child).cloned()).collect()
    }

    /// Returns the view, trigger, routine or event with this name.
    pub fn object(&self, schema: &str, kind: ObjectKind, name: &str) -> Option<Arc<Object>> {
        self.content.read().objects.get(schema)?.get(&(kind, kind.key(name))).cloned()
    }

    /// Returns the objects of a schema, sorted by kind and name.
    pub fn objects(&self, schema: &str) -> Vec<Arc<Object>> {
        self.content.read().objects_of(schema).cloned().collect()
    }

    /// Returns the objects of one kind, sorted by schema and name.
    pub fn all_objects(&self, kind: ObjectKind) -> Vec<Arc<Object>> {
        let content = self.content.read();
        let all = content.objects.values().flat_map(|objects| objects.values());
        all.filter(|object| object.def.kind == kind).cloned().collect()
    }

    /// Returns the triggers of a table, sorted by event, BEFORE triggers first, and then in the
    /// order in which they run.
    pub fn triggers(&self, schema: &str, table: &str) -> Vec<Arc<Object>> {
        let content = self.content.read();
        let place = |object: &&Arc<Object>| object.def.trigger.as_ref().is_some_and(|own| own.table == table);
        let mut found: Vec<Arc<Object>> = content.objects_of(schema).filter(place).cloned().collect();
        found.sort_by_key(|object| {
            object.def.trigger.as_ref().map(|place| (place.event, !place.before, place.order))
        });
        found
    }

    /// Adds an object, or replaces the one with the same name.
    pub(crate) fn put_object(&self, object: Arc<Object>) {
        let mut content = self.content.write();
        self.changes.fetch_add(1, Ordering::Release);
        let key = (object.def.kind, object.def.kind.key(&object.def.name));
        content.objects.entry(object.def.schema.clone()).or_default().insert(key, object.clone());
        content.note_trigger(&object);
    }

    pub(crate) fn remove_object(&self, object: &Object) {
        let mut content = self.content.write();
        self.changes.fetch_add(1, Ordering::Release);
        let key = (object.def.kind, object.def.kind.key(&object.def.name));
        if let Some(objects) = content.objects.get_mut(&object.def.schema) {
            objects.remove(&key);
            if objects.is_empty() {
                content.objects.remove(&object.def.schema);
            }
        }
        content.note_trigger(object);
    }

    pub(crate) fn put_schema(&self, id: u64, def: SchemaDef) {
        self.content.write().schemas.insert(def.name.clone(), (id, Arc::new(def)));
    }

    pub(crate) fn remove_schema(&self, name: &str) {
        self.content.write().schemas.remove(name);
    }

    /// Adds a table, or replaces the one with the same id or the same name.
    pub(crate) fn put_table(&self, table: Arc<Table>) {
        self.replace_tables(&[], &[table]);
    }

    pub(crate) fn remove_table(&self, table: &Table) {
        self.replace_tables(&[table], &[]);
    }

    /// Takes tables out and puts others in, at once. A lookup of a name without any lock therefore
    /// finds a table before and after, and never the moment in between. (A replica's applier and
    /// every statement look a name up before they lock it.)
    pub(crate) fn replace_tables(&self, gone: &[&Table], put: &[Arc<Table>]) {
        let mut content = self.content.write();
        self.changes.fetch_add(1, Ordering::Release);
        gone.iter().for_each(|table| content.remove_table(table));
        put.iter().for_each(|table| content.put_table(table));
        let is_named = |table: &Arc<Table>| {
            let name = (table.def.schema.clone(), table.def.name.clone());
            content.named(&name).is_some_and(|named| Arc::ptr_eq(named, table))
        };
        assert!(put.iter().all(is_named), "tables that are put at once have names of their own");
    }
}

/// Removes a table's name, unless another table has it by now.
fn remove_name(tables: &mut BTreeMap<String, BTreeMap<String, Arc<Table>>>, table: &Table) {
    let Some(schema) = tables.get_mut(&table.def.schema) else { return };
    if schema.get(&table.def.name).is_some_and(|held| held.id == table.id) {
        schema.remove(&table.def.name);
    }
    if schema.is_empty() {
        tables.remove(&table.def.schema);
    }
}
