//! The tables that a session has opened with HANDLER, and the position in each of them.

use crate::memory::Charge;
use engine::{IndexRef, Table};
use std::sync::Arc;

/// A position in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandlerPosition {
    /// Before the first entry.
    Start,
    /// At the entry with this key.
    At(Vec<u8>),
    /// In front of the first entry whose key is not less than this one.
    Before(Vec<u8>),
    /// Behind the last entry.
    End,
}

/// An open table.
pub(crate) struct OpenHandler {
    pub alias: String,
    pub table: Arc<Table>,
    /// The index that was read last (`None` stands for the table in its own order) and the position
    /// in it. The outer `None` means that nothing has been read yet.
    pub reading: Option<(Option<IndexRef>, HandlerPosition)>,
    pub _charge: Charge,
}

/// The open tables of a session.
#[derive(Default)]
pub(crate) struct SessionHandlers {
    open: Vec<OpenHandler>,
}

impl SessionHandlers {
    /// Returns the index of the open table with this alias.
    pub fn find(&self, alias: &str) -> Option<usize> {
        self.open.iter().position(|handler| handler.alias.eq_ignore_ascii_case(alias))
    }

    pub fn get(&self, at: usize) -> &OpenHandler {
        &self.open[at]
    }

    /// Sets the position in an open table.
    pub fn set_reading(&mut self, at: usize, index: Option<IndexRef>, position: HandlerPosition) {
        self.open[at].reading = Some((index, position));
    }

    pub fn add(&mut self, handler: OpenHandler) {
        assert!(self.find(&handler.alias).is_none(), "a table is opened once under an alias");
        self.open.push(handler);
    }

    pub fn remove(&mut self, at: usize) {
        self.open.remove(at);
    }

    /// Closes all handlers of a table.
    pub fn close_all_of(&mut self, table: &Table) {
        self.open.retain(|handler| handler.table.id != table.id);
    }

    /// Makes the reading of these tables (schema and name) begin anew, for FLUSH TABLES. An empty
    /// list stands for all tables.
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
