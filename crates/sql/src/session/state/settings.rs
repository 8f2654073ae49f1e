//! What SET, USE and the statements before have left in a session.

use super::ServerHandles;
use crate::ast::TableName;
use crate::error::{Result, SqlError};
use crate::expr::UserVariables;
use crate::variables::Variables;
use std::cell::Cell;

/// The settings of a session: its variables, and what else an expression's value depends on.
pub(crate) struct Settings {
    pub variables: Variables,
    pub user_variables: UserVariables,
    /// The current schema.
    pub schema: Option<String>,
    /// LAST_INSERT_ID().
    pub last_insert_id: Cell<u64>,
    /// The state of RAND().
    pub random: Cell<u64>,
}

impl Settings {
    /// The settings of a new session.
    ///
    /// # Errors
    /// Those of a global value that the host cannot tell.
    pub fn new(server: &ServerHandles) -> Result<Settings> {
        Ok(Settings {
            variables: Variables::of_host(&*server.host)?,
            user_variables: UserVariables::new(&server.memory),
            schema: None,
            last_insert_id: Cell::new(0),
            random: Cell::new(os::random::u64()),
        })
    }

    /// The settings of a session within a statement, which has these variables and began at this
    /// moment. The user variables are lent to it, until [`Settings::take_back`].
    pub fn lend(&self, mut variables: Variables, now_us: u64, server: &ServerHandles) -> Settings {
        variables.timestamp_us = Some(now_us);
        let lent = Settings {
            variables,
            user_variables: UserVariables::new(&server.memory),
            schema: self.schema.clone(),
            last_insert_id: self.last_insert_id.clone(),
            random: self.random.clone(),
        };
        lent.user_variables.swap(&self.user_variables);
        lent
    }

    /// Takes back what [`Settings::lend`] has lent.
    pub fn take_back(&self, lent: &Settings) {
        assert!(self.user_variables.borrow().is_empty(), "user variables that are lent are not set");
        lent.user_variables.swap(&self.user_variables);
        self.random.set(lent.random.get());
    }

    /// Sets back to what a new session has; the current schema and the state of RAND() stay. What
    /// the host cannot tell now has MySQL's default.
    pub fn reset(&mut self, server: &ServerHandles) {
        self.variables = Variables::of_host(&*server.host).unwrap_or_default();
        self.user_variables.clear();
        self.last_insert_id.set(0);
    }

    /// The moment of a statement that begins now.
    pub fn now_us(&self) -> u64 {
        self.variables.timestamp_us.unwrap_or_else(os::clock::now_us)
    }

    /// The schema of a name: its own, or the current one.
    ///
    /// # Errors
    /// 1046 where there is neither.
    pub fn schema_of(&self, name: &TableName) -> Result<String> {
        let schema = name.schema.as_ref().or(self.schema.as_ref());
        schema.cloned().ok_or_else(SqlError::no_schema_selected)
    }

    /// Takes over the collation that a client has named in its handshake, if it has named one.
    pub fn set_handshake_collation(&mut self, id: u16) {
        if let Some(known) = types::collation::by_id(id) {
            self.variables.client_collation = known.id;
            self.variables.connection_collation = known.id;
            self.variables.results_collation = Some(known.id);
        }
    }
}
