//! Under LOCK TABLES a statement may use the tables that are locked, under the names that they were
//! locked by, and each name once.

use crate::error::{Result, SqlError};
use crate::memory::{Budget, Charge};
use std::collections::HashSet;
use std::sync::Arc;

/// A name of LOCK TABLES.
pub(crate) struct LockedName {
    pub schema: String,
    pub table: String,
    /// The alias, or the table's own name.
    pub shown: String,
    pub write: bool,
}

/// What a name takes beside its bytes: its places in the list and in the set.
const NAME_BYTES: usize = 2 * (size_of::<LockedName>() + size_of::<(String, String)>());

/// The names of a session's LOCK TABLES.
pub(crate) struct LockedNames {
    names: Vec<LockedName>,
    /// Schema and name of each view that was locked, and of those within them.
    views: HashSet<(String, String)>,
    /// Schema and shown name of each.
    shown: HashSet<(String, String)>,
    /// What they take.
    charge: Charge,
}

impl LockedNames {
    /// None, whose memory is charged here.
    pub fn new(memory: &Arc<Budget>) -> LockedNames {
        LockedNames {
            names: Vec::new(),
            views: HashSet::new(),
            shown: HashSet::new(),
            charge: Charge::new(memory),
        }
    }

    /// Adds one; names of tables in one schema are unique (1066).
    pub fn add(&mut self, name: LockedName) -> Result<()> {
        self.charge.add(NAME_BYTES + 2 * (name.schema.len() + name.shown.len()) + name.table.len())?;
        if !self.shown.insert((name.schema.clone(), name.shown.clone())) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", name.shown)));
        }
        self.names.push(name);
        Ok(())
    }

    /// Adds a table that a view is made of: it may be there already, and the stronger lock counts.
    pub fn add_of_view(&mut self, name: LockedName) -> Result<()> {
        match self.names.iter_mut().find(|known| known.is(&name.schema, &name.shown)) {
            Some(known) => {
                known.write |= name.write;
                Ok(())
            }
            None => self.add(name),
        }
    }

    /// Adds a view. False: it is there already.
    pub fn add_view(&mut self, schema: &str, name: &str) -> Result<bool> {
        self.charge.add(NAME_BYTES + schema.len() + name.len())?;
        Ok(self.views.insert((schema.to_owned(), name.to_owned())))
    }

    /// All of them.
    pub fn all(&self) -> &[LockedName] {
        &self.names
    }

    /// Refuses to change a table's definition unless it is locked WRITE, under whatever name.
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
    /// `None` without LOCK TABLES.
    pub names: Option<&'a LockedNames>,
    /// Positions in the names.
    used: Vec<usize>,
}

impl<'a> LockedUse<'a> {
    /// None is used.
    pub fn of(names: Option<&'a LockedNames>) -> LockedUse<'a> {
        LockedUse { names, used: Vec::new() }
    }

    /// Counts a use of a table under this name, for changing its rows or not.
    ///
    /// # Errors
    /// 1100 where the name is not locked, or has been used before; 1099 where it is locked READ and
    /// to be changed.
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

    /// Refuses a view that is not locked (1100). What it consists of, which is within so many
    /// views, is locked with it.
    pub fn use_view(&self, schema: &str, view: &str, view_levels: usize) -> Result<()> {
        let Some(LockedNames { views, .. }) = self.names else { return Ok(()) };
        match view_levels > 0 || views.contains(&(schema.to_owned(), view.to_owned())) {
            true => Ok(()),
            false => Err(not_locked(view)),
        }
    }

    /// As [`LockedUse::use_name`], for a table that a view consists of: it may be read under its
    /// own name too.
    pub fn use_within_view(&self, schema: &str, table: &str, to_change: bool) -> Result<()> {
        let Some(LockedNames { names, .. }) = self.names else { return Ok(()) };
        let mut of_table = names.iter().filter(|name| name.schema == schema && name.table == table);
        match of_table.clone().next() {
            None => Err(not_locked(table)),
            Some(_) if to_change && !of_table.any(|name| name.write) => Err(locked_read(table)),
            Some(_) => Ok(()),
        }
    }

    /// Refuses to change the rows of a table that is used under this name and locked READ (1099).
    pub fn check_to_change(&self, schema: &str, table: &str, shown: &str) -> Result<()> {
        let Some(LockedNames { names, .. }) = self.names else { return Ok(()) };
        let is_it = |name: &&LockedName| name.is(schema, shown) && name.table == table;
        match names.iter().find(is_it) {
            Some(name) if !name.write => Err(locked_read(shown)),
            _ => Ok(()),
        }
    }

    /// The uses of a part of the statement are its own.
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
