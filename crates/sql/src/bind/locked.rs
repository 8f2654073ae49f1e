//! The names of LOCK TABLES. Under LOCK TABLES a statement may use the locked tables only, under
//! the names by which they were locked, and each name once.

use crate::error::{Result, SqlError};
use crate::memory::{Budget, Charge};
use std::collections::HashSet;
use std::sync::Arc;

/// A name that LOCK TABLES has locked.
pub(crate) struct LockedName {
    pub schema: String,
    pub table: String,
    /// The alias, or the table's own name.
    pub shown: String,
    pub write: bool,
}

/// The bytes that a name needs in the list and in the set, without its text.
const NAME_BYTES: usize = 2 * (size_of::<LockedName>() + size_of::<(String, String)>());

/// The names of a session's LOCK TABLES.
pub(crate) struct LockedNames {
    names: Vec<LockedName>,
    /// Schema and name of each view that was locked, and of the views within them.
    views: HashSet<(String, String)>,
    /// Schema and shown name of each locked name.
    shown: HashSet<(String, String)>,
    /// The memory of the three collections.
    charge: Charge,
}

impl LockedNames {
    /// Creates an empty list, whose memory is charged to `memory`.
    pub fn new(memory: &Arc<Budget>) -> LockedNames {
        LockedNames {
            names: Vec::new(),
            views: HashSet::new(),
            shown: HashSet::new(),
            charge: Charge::new(memory),
        }
    }

    /// Adds a name. Returns 1066 (`ER_NONUNIQ_TABLE`) when the schema has a locked table with the
    /// same shown name.
    pub fn add(&mut self, name: LockedName) -> Result<()> {
        self.charge.add(NAME_BYTES + 2 * (name.schema.len() + name.shown.len()) + name.table.len())?;
        if !self.shown.insert((name.schema.clone(), name.shown.clone())) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", name.shown)));
        }
        self.names.push(name);
        Ok(())
    }

    /// Adds a table within a view. If the name is there already, the stronger of the two locks
    /// counts.
    pub fn add_of_view(&mut self, name: LockedName) -> Result<()> {
        match self.names.iter_mut().find(|known| known.is(&name.schema, &name.shown)) {
            Some(known) => {
                known.write |= name.write;
                Ok(())
            }
            None => self.add(name),
        }
    }

    /// Adds a view. Returns false when the view is there already.
    pub fn add_view(&mut self, schema: &str, name: &str) -> Result<bool> {
        self.charge.add(NAME_BYTES + schema.len() + name.len())?;
        Ok(self.views.insert((schema.to_owned(), name.to_owned())))
    }

    /// Returns all names.
    pub fn all(&self) -> &[LockedName] {
        &self.names
    }

    /// Refuses to change a table's definition unless the table is locked WRITE under some name.
    pub fn allow_change(&self, schema: &str, table: &str) -> Result<()> {
        let mut of_table =
            self.names.iter().filter(|name| name.schema == schema && name.table == table).peekable();
        if of_table.peek().is_none() {
            return Err(not_locked(table));
        }
        if of_table.any(|name| name.write) { Ok(()) } else { Err(locked_read(table)) }
    }
}

impl LockedName {
    fn is(&self, schema: &str, shown: &str) -> bool {
        self.schema == schema && self.shown == shown
    }
}

/// The names that a statement may use under LOCK TABLES, and those that it has used.
pub(crate) struct LockedUse<'a> {
    /// The locked names. `None` without LOCK TABLES.
    pub names: Option<&'a LockedNames>,
    /// The positions in the list of names of those that the statement has used.
    used: Vec<usize>,
}

impl<'a> LockedUse<'a> {
    /// Starts with no name used.
    pub fn of(names: Option<&'a LockedNames>) -> LockedUse<'a> {
        LockedUse { names, used: Vec::new() }
    }

    /// Counts a use of a table under the name `shown`. `to_change` says whether the use changes
    /// rows.
    ///
    /// # Errors
    /// Returns 1100 (`ER_TABLE_NOT_LOCKED`) when the name is not locked or has been used before,
    /// and 1099 (`ER_TABLE_NOT_LOCKED_FOR_WRITE`) when it is locked READ and rows are to be
    /// changed.
    pub fn use_name(&mut self, schema: &str, table: &str, shown: &str, to_change: bool) -> Result<()> {
        let Some(LockedNames { names, .. }) = self.names else { return Ok(()) };
        let is_it = |name: &LockedName| name.is(schema, shown) && name.table == table;
        let found = names.iter().position(is_it).filter(|at| !self.used.contains(at));
        let at = found.ok_or_else(|| not_locked(shown))?;
        self.used.push(at);
        if to_change && !names[at].write {
            return Err(locked_read(shown));
        }
        Ok(())
    }

    /// Refuses a view that is not locked (1100). A view within another view (`view_levels` above 0)
    /// is locked together with the outer one.
    pub fn use_view(&self, schema: &str, view: &str, view_levels: usize) -> Result<()> {
        let Some(LockedNames { views, .. }) = self.names else { return Ok(()) };
        match view_levels > 0 || views.contains(&(schema.to_owned(), view.to_owned())) {
            true => Ok(()),
            false => Err(not_locked(view)),
        }
    }

    /// Does what [`LockedUse::use_name`] does for a table within a view. The statement may use such
    /// a table under its own name as well.
    pub fn use_within_view(&self, schema: &str, table: &str, to_change: bool) -> Result<()> {
        let Some(LockedNames { names, .. }) = self.names else { return Ok(()) };
        let mut of_table = names.iter().filter(|name| name.schema == schema && name.table == table);
        match of_table.clone().next() {
            None => Err(not_locked(table)),
            Some(_) if to_change && !of_table.any(|name| name.write) => Err(locked_read(table)),
            Some(_) => Ok(()),
        }
    }

    /// Refuses to change the rows of a table that is used under the name `shown` and is locked READ
    /// (1099).
    pub fn check_to_change(&self, schema: &str, table: &str, shown: &str) -> Result<()> {
        let Some(LockedNames { names, .. }) = self.names else { return Ok(()) };
        let is_it = |name: &&LockedName| name.is(schema, shown) && name.table == table;
        match names.iter().find(is_it) {
            Some(name) if !name.write => Err(locked_read(shown)),
            _ => Ok(()),
        }
    }

    /// Adds the uses of a part of the statement.
    pub(super) fn append(&mut self, part: LockedUse<'_>) {
        self.used.extend(part.used);
    }
}

fn not_locked(name: &str) -> SqlError {
    SqlError::new(1100, format!("Table '{name}' was not locked with LOCK TABLES"))
}

fn locked_read(name: &str) -> SqlError {
    SqlError::new(1099, format!("Table '{name}' was locked with a READ lock and can't be updated"))
}
