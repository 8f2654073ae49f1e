//! The settings of a session, which SET, USE and other statements change.

use super::ServerHandles;
use crate::ast::TableName;
use crate::error::{Result, SqlError};
use crate::expr::UserVariables;
use crate::memory::Budget;
use crate::variables::Variables;
use binlog::event::flags2;
use engine::SessionContext;
use std::cell::Cell;
use std::sync::Arc;
use types::collation;

/// The settings of a session: its variables, and everything else that the value of an expression
/// depends on.
pub(crate) struct Settings {
    pub variables: Variables,
    pub user_variables: UserVariables,
    /// The current schema.
    pub schema: Option<String>,
    /// The value of LAST_INSERT_ID().
    pub last_insert_id: Cell<u64>,
    /// The state of RAND().
    pub random: Cell<u64>,
}

impl Settings {
    /// Creates the settings of a new session.
    ///
    /// # Errors
    /// Returns the error of a global value that the host cannot tell.
    pub fn new(server: &ServerHandles) -> Result<Settings> {
        Ok(Settings {
            variables: Variables::of_host(&server.engine, &*server.host)?,
            user_variables: UserVariables::new(&server.memory),
            schema: None,
            last_insert_id: Cell::new(0),
            random: Cell::new(os::random::u64()),
        })
    }

    /// Returns the settings for a session within a statement that began at `now_us`. The user
    /// variables are lent to it, until [`Settings::take_back`].
    pub fn lend(&self, mut variables: Variables, now_us: u64, memory: &Arc<Budget>) -> Settings {
        variables.timestamp_us = Some(now_us);
        variables.insert_ids = self.variables.insert_ids.clone();
        let lent = Settings {
            variables,
            user_variables: UserVariables::new(memory),
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
        self.variables.insert_ids.take_over(&lent.variables.insert_ids);
    }

    /// Resets the settings to those of a new session, except for the current schema and the state
    /// of RAND(). If the host cannot tell the global values, the variables get MySQL's defaults.
    pub fn reset(&mut self, server: &ServerHandles) {
        self.variables = Variables::of_host(&server.engine, &*server.host).unwrap_or_default();
        self.user_variables.clear();
        self.last_insert_id.set(0);
    }

    /// Returns the time of a statement that begins now, in microseconds since 1970: the value that
    /// was set with `timestamp`, or the clock's.
    pub fn now_us(&self) -> u64 {
        self.variables.timestamp_us.unwrap_or_else(os::clock::now_us)
    }

    /// Refuses a statement that commits first and then changes more than rows, if all transactions
    /// of the session are READ ONLY.
    ///
    /// # Errors
    /// Returns 1792 (`ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION`) if they are.
    pub fn check_writable(&self) -> Result<()> {
        if self.variables.transaction_read_only {
            return Err(SqlError::new(1792, "Cannot execute statement in a READ ONLY transaction."));
        }
        Ok(())
    }

    /// Returns the schema of a name: its own, or the current one.
    ///
    /// # Errors
    /// Returns 1046 (`ER_NO_DB_ERROR`) when there is neither.
    pub fn schema_of(&self, name: &TableName) -> Result<String> {
        let schema = name.schema.as_ref().or(self.schema.as_ref());
        schema.cloned().ok_or_else(SqlError::no_schema_selected)
    }

    /// Sets the collation that a client has named in its handshake, if it is known.
    pub fn set_handshake_collation(&mut self, id: u16) {
        if let Some(known) = collation::by_id(id) {
            self.variables.client_collation = known.id;
            self.variables.connection_collation = known.id;
            self.variables.results_collation = Some(known.id);
        }
    }

    /// Returns the settings that the binary log gets for a statement that ran at this moment.
    pub fn session_context(&self, thread_id: u32, now_us: u64) -> SessionContext {
        let mut flags = 0;
        if !self.variables.foreign_key_checks {
            flags |= flags2::NO_FOREIGN_KEY_CHECKS;
        }
        if !self.variables.unique_checks {
            flags |= flags2::RELAXED_UNIQUE_CHECKS;
        }
        if !self.variables.check_constraint_checks {
            flags |= flags2::NO_CHECK_CONSTRAINT_CHECKS;
        }
        SessionContext {
            thread_id,
            flags2: flags,
            sql_mode: self.variables.sql_mode.0,
            character_set_client: self.logged_character_set(),
            collation_connection: self.variables.connection_collation,
            collation_server: self.variables.server_collation,
            auto_increment: (
                self.variables.auto_increment_increment as u16,
                self.variables.auto_increment_offset as u16,
            ),
            explicit_timestamps: self.variables.explicit_timestamps,
            lc_time_names: self.variables.locale.number,
            time_zone: self.variables.time_zone.clone(),
            timestamp_us: now_us,
            exec_time_s: 0,
        }
    }

    /// Returns the client collation to log. Texts are logged as they are parsed, in utf8mb4.
    fn logged_character_set(&self) -> u16 {
        match self.variables.client_collation {
            id if collation::charset_of(id) == collation::Charset::Utf8mb4 => id,
            _ => collation::UTF8MB4_0900_AI_CI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{ColumnType, Value};

    fn settings(memory: &Arc<Budget>) -> Settings {
        Settings {
            variables: Variables::default(),
            user_variables: UserVariables::new(memory),
            schema: None,
            last_insert_id: Cell::new(7),
            random: Cell::new(1),
        }
    }

    #[test]
    fn user_variables_are_lent_and_come_back_as_they_were_left() {
        let memory = Budget::new(Arc::default());
        let own = settings(&memory);
        own.user_variables.set("a", &Value::Int(1), &ColumnType::bigint(false)).expect("there is room");
        let lent = own.lend(own.variables.clone(), 5, &memory);
        assert_eq!(own.user_variables.value("a"), Value::Null, "they are lent");
        assert_eq!((lent.now_us(), lent.last_insert_id.get()), (5, 7));
        lent.user_variables.set("a", &Value::Int(2), &ColumnType::bigint(false)).expect("there is room");
        lent.random.set(9);
        lent.last_insert_id.set(8);
        lent.variables.insert_ids.note_generated(3);
        own.take_back(&lent);
        assert_eq!(own.user_variables.value("a"), Value::Int(2));
        assert_eq!(own.variables.insert_ids.first_generated(), Some(3));
        assert_eq!((own.random.get(), own.last_insert_id.get()), (9, 7), "the id is the program's own");
    }

    #[test]
    #[should_panic(expected = "user variables that are lent are not set")]
    fn user_variables_are_not_set_while_they_are_lent() {
        let memory = Budget::new(Arc::default());
        let own = settings(&memory);
        let lent = own.lend(own.variables.clone(), 5, &memory);
        own.user_variables.set("a", &Value::Int(1), &ColumnType::bigint(false)).expect("there is room");
        own.take_back(&lent);
    }

    #[test]
    fn a_name_is_of_its_own_schema_or_of_the_current_one() {
        let mut own = settings(&Budget::new(Arc::default()));
        let bare = TableName { schema: None, name: "t".to_owned() };
        assert_eq!(own.schema_of(&bare).map_err(|error| error.code), Err(1046));
        own.schema = Some("current".to_owned());
        assert_eq!(own.schema_of(&bare), Ok("current".to_owned()));
        assert_eq!(
            own.schema_of(&TableName { schema: Some("other".to_owned()), ..bare }),
            Ok("other".to_owned())
        );
    }
}
