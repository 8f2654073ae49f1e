//! The locks on definitions, as `performance_schema.metadata_locks` shows them.
//!
//! A lock is known by the fingerprint of a name. So the names of all tables and schemas that exist
//! are looked up when somebody asks; the lock on a table that a statement is about to create has no
//! name to be found by, and is not shown.

use crate::catalog::Catalog;
use crate::lock::{LockId, LockTable, LockType, OwnerKind};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Who holds a lock on a definition, or waits for it.
#[derive(Clone, Debug)]
pub enum MetadataOwner {
    /// The transaction with this number.
    Transaction(u64),
    /// A statement that changes definitions, or LOCK TABLES, of the session that has this flag for
    /// KILL. `None` means that the session has none.
    Session(Option<Arc<AtomicBool>>),
}

/// A lock on the definition of a table or a schema.
#[derive(Clone, Debug)]
pub struct MetadataLock {
    /// A number that no other lock of the report has, save by chance.
    pub id: u64,
    /// The schema.
    pub schema: String,
    /// The table; `None` for the lock of the schema itself.
    pub table: Option<String>,
    /// MySQL's name of the type.
    pub kind: &'static str,
    /// Whether the lock is waited for.
    pub is_waiting: bool,
    /// Who holds it or waits for it.
    pub owner: MetadataOwner,
}

/// The names behind the fingerprints of a lock.
enum Named {
    Schema(String),
    Table(String, String),
    /// The lock that keeps other changes of the definition out.
    Definition(String, String),
}

fn names(catalog: &Catalog) -> HashMap<LockId, Named> {
    let mut names = HashMap::new();
    for schema in catalog.schemas() {
        names.insert(LockId::metadata(&schema, ""), Named::Schema(schema));
    }
    for table in catalog.all_tables() {
        let (schema, name) = (&table.def.schema, &table.def.name);
        let named = || (schema.clone(), name.clone());
        let (of_table, of_definition) = (named(), named());
        names.insert(LockId::metadata(schema, name), Named::Table(of_table.0, of_table.1));
        let upgradable = LockId::upgradable_metadata(schema, name);
        names.insert(upgradable, Named::Definition(of_definition.0, of_definition.1));
    }
    names
}

/// Returns the locks on definitions that are held or waited for. Nothing is stopped for the report,
/// so the locks are not all of one moment.
pub(crate) fn read(locks: &LockTable, catalog: &Catalog) -> Vec<MetadataLock> {
    let names = names(catalog);
    let mut shown = Vec::new();
    for (lock, is_waiting) in locks.metadata_locks() {
        let Some(named) = names.get(&lock.id) else { continue };
        let introduced = locks.introduced(lock.owner);
        let kind = kind(named, lock.mode, introduced.as_ref().map(|(kind, _)| *kind));
        let (schema, table) = match named {
            Named::Schema(schema) => (schema.clone(), None),
            Named::Table(schema, table) | Named::Definition(schema, table) => {
                (schema.clone(), Some(table.clone()))
            }
        };
        let owner = match introduced {
            Some((_, interrupt)) => MetadataOwner::Session(interrupt),
            None => MetadataOwner::Transaction(lock.owner),
        };
        shown.push(MetadataLock {
            id: lock.id.number().wrapping_add(lock.owner),
            schema,
            table,
            kind,
            is_waiting,
            owner,
        });
    }
    shown
}

/// Returns MySQL's name of a lock's type.
fn kind(named: &Named, mode: LockType, owner: Option<OwnerKind>) -> &'static str {
    match (named, mode) {
        (Named::Definition(..), _) => "SHARED_UPGRADABLE",
        (Named::Schema(_), LockType::Exclusive) => "EXCLUSIVE",
        (Named::Schema(_), _) => "INTENTION_EXCLUSIVE",
        (Named::Table(..), LockType::Shared) => "SHARED_READ",
        (Named::Table(..), LockType::SharedWrite) => "SHARED_WRITE",
        (Named::Table(..), LockType::SharedReadOnly) => "SHARED_READ_ONLY",
        (Named::Table(..), LockType::Exclusive) if owner == Some(OwnerKind::LockTables) => {
            "SHARED_NO_READ_WRITE"
        }
        (Named::Table(..), LockType::Exclusive) => "EXCLUSIVE",
    }
}
