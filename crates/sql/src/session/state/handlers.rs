//! The tables that a session has opened by HANDLER, and where it is in each of them.

use crate::memory::Charge;
use engine::{IndexRef, Table};
use std::sync::Arc;

/// Where the reading of an index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandlerPosition {
    /// Before the first entry.
    Start,
    /// At the entry with this key.
    At(Vec<u8>),
    /// Before the entries whose keys are not below this one.
    Before(Vec<u8>),
    /// Behind the last entry.
    End,
}

/// A table that is open.
pub(crate) struct OpenHandler {
    pub alias: String,
    pub table: Arc<Table>,
    /// What was read last: an index, or the table in its own order (`None`); and how far. Nothing
    /// has been: the outer `None`.
    pub reading: Option<(Option<IndexRef>, HandlerPosition)>,
    pub _charge: Charge,
}

/// The tables that are open, by their aliases.
#[derive(Default)]
pub(crate) struct SessionHandlers {
    open: Vec<OpenHandler>,
}

impl SessionHandlers {
    /// The place of the open table with this alias.
    pub fn find(&self, alias: &str) -> Option<usize> {
        self.open.iter().position(|handler| handler.alias.eq_ignore_ascii_case(alias))
    }

    pub fn get(&self, at: usize) -> &OpenHandler {
        &self.open[at]
    }

    /// Notes how far the reading of an open table is.
    pub fn set_reading(&mut self, at: usize, index: Option<IndexRef>, position: HandlerPosition) {
        self.open[at].reading = Some((index, position));
    }

    pub fn add(&mut self, handler: OpenHandler) {
        self.open.push(handler);
    }

    pub fn remove(&mut self, at: usize) {
        self.open.remove(at);
    }

    /// Closes what is open of a table.
    pub fn close_all_of(&mut self, table: &Table) {
        self.open.retain(|handler| handler.table.id != table.id);
    }

    /// FLUSH TABLES: each reading begins anew, of these tables (schema and name) or of all (none).
    pub fn begin_anew(&mut self, tables: &[(String, String)]) {
        for handler in &mut self.open {
            let def = &handler.table.def;
            let is_it = |(schema, name): &(String, String)| {
                def.schema.eq_ignore_ascii_case(schema) && def.name.eq_ignore_ascii_case(name)
            };
            if tables.is_empty() || tables.iter().any(is_it) {
                handler.reading = None;
            }
        }
    }
}
