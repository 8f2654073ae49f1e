//! The transaction of a session, from BEGIN or its first statement to its end.

use super::{NextGtid, SessionXa};
use crate::ast::Statement;
use crate::error::{Result, SqlError};
use crate::measured::{NotedGtid, WholeTransaction};
use crate::variables::Variables;
use engine::{CommitOptions, Isolation, NotedCommit, Savepoint, SpentTransaction, Transaction};
use types::Value;

/// The transaction that a session is in, and the settings of the next one.
#[derive(Default)]
pub(crate) struct SessionTransaction {
    /// The open transaction, which was begun explicitly, or by a statement without autocommit. A
    /// running statement takes it out, so that this is `None` meanwhile.
    pub open: Option<Box<Transaction>>,
    /// The memory of the transaction before, for the next one.
    pub spent: Option<SpentTransaction>,
    /// Whether BEGIN was said, so that autocommit does not end the transaction.
    pub explicit: bool,
    pub read_only: bool,
    pub savepoints: Vec<(String, Savepoint)>,
    /// Whether temporary tables were created in the transaction, and below whether some were
    /// dropped. A rollback warns that it does not undo that.
    pub made_temporary: bool,
    pub dropped_temporary: bool,
    /// The isolation level that SET TRANSACTION without a scope has set for the next transaction
    /// only.
    pub next_isolation: Option<Isolation>,
    /// The access mode that was set for the next transaction only.
    pub next_read_only: Option<bool>,
    pub gtid: NextGtid,
    pub xa: SessionXa,
    /// The transaction that the running statement has begun and ended, where transactions are
    /// measured.
    pub whole: Option<WholeTransaction>,
    /// The GTID of that transaction, where it has one.
    pub whole_gtid: NotedGtid,
    /// Where statements that change definitions find what they have committed.
    pub noted: NotedCommit,
    /// Whether it was noted that the open transaction has begun.
    pub is_noted: bool,
}

impl SessionTransaction {
    /// Reports whether a transaction has begun and not ended.
    pub fn is_begun(&self) -> bool {
        self.explicit || self.open.is_some()
    }

    /// Asserts what holds between two statements of a client: what belongs to a transaction is
    /// there as long as the transaction is open.
    #[inline]
    pub fn assert_at_rest(&self) {
        let is_open = self.open.is_some();
        assert!(is_open || !self.explicit, "a transaction that was begun is open until it ends");
        assert!(is_open || self.savepoints.is_empty(), "savepoints are those of an open transaction");
        self.xa.assert_at_rest(is_open);
        self.gtid.assert_sound();
    }

    /// Ends a transaction as dropping it does, and keeps its memory for the next one.
    #[inline]
    pub fn spend(&mut self, transaction: Box<Transaction>) {
        self.spent = Some(transaction.spend());
    }

    /// Forgets the transaction that has ended. The settings of the next one stay.
    pub fn forget(&mut self) {
        self.open = None;
        self.explicit = false;
        self.read_only = false;
        self.savepoints.clear();
        self.is_noted = false;
        (self.made_temporary, self.dropped_temporary) = (false, false);
    }

    /// Notes that a statement about temporary tables has succeeded within the transaction.
    pub fn note_temporary(&mut self, statement: &Statement, succeeded: bool) {
        if succeeded && self.is_begun() {
            self.made_temporary |= matches!(statement, Statement::CreateTable(_));
            self.dropped_temporary |= matches!(statement, Statement::DropTable { .. });
        }
    }

    /// Returns the warnings of a rollback about temporary tables that it leaves as they are.
    pub fn stays_of_temporary(&self) -> Vec<(u16, &'static str)> {
        let made = "The creation of some temporary tables could not be rolled back.";
        let dropped = "Some temporary tables were dropped, but these operations could not be rolled back.";
        let told = [(self.made_temporary, (1751, made)), (self.dropped_temporary, (1752, dropped))];
        told.into_iter().filter_map(|(says, told)| says.then_some(told)).collect()
    }

    /// As [`SessionTransaction::note_temporary`], for CREATE TEMPORARY TABLE ... SELECT.
    pub fn note_temporary_made(&mut self) {
        self.made_temporary |= self.is_begun();
    }

    /// Reports whether a transaction was begun explicitly or has used a table.
    pub fn is_used(&self) -> bool {
        self.explicit || self.open.as_ref().is_some_and(|transaction| !transaction.is_untouched())
    }

    /// Returns the options with which the session's transactions are committed.
    pub fn commit_options(&self, variables: &Variables) -> CommitOptions<'static> {
        CommitOptions {
            gtid: self.gtid.next,
            binlog: variables.sql_log_bin,
            compression: variables.transaction_compression(),
            original_commit_us: variables.original_commit_us,
            original_server_version: variables.original_server_version,
            ..CommitOptions::default()
        }
    }

    /// Adds a savepoint to the open transaction, in place of one with the same name.
    pub fn add_savepoint(&mut self, name: &str) {
        let transaction = self.open.as_mut().expect("a savepoint is one of an open transaction");
        self.savepoints.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.savepoints.push((name.to_owned(), transaction.savepoint()));
        debug_assert_eq!(
            self.find_savepoint(name),
            Ok(self.savepoints.len() - 1),
            "a name is that of the savepoint which was set last"
        );
    }

    /// Rolls back to a savepoint. The savepoint stays, those behind it are removed.
    ///
    /// # Errors
    /// Returns 1305 (`ER_SP_DOES_NOT_EXIST`) when there is no savepoint with this name.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at + 1);
        let savepoint = self.savepoints[at].1;
        assert!(self.open.is_some(), "a savepoint is one of an open transaction");
        if let Some(transaction) = &mut self.open {
            transaction.rollback_to_savepoint(savepoint);
        }
        Ok(())
    }

    /// Releases a savepoint and those behind it.
    ///
    /// # Errors
    /// Returns 1305 (`ER_SP_DOES_NOT_EXIST`) when there is no savepoint with this name.
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    /// Checks that `gtid_next` may be set to a value now.
    ///
    /// # Errors
    /// Returns 1766 within a transaction, 1790 for a client that owns a GTID, and 1231 for NULL.
    pub fn check_next_gtid(&self, value: &Value) -> Result<()> {
        self.check_none_begun("gtid_next")?;
        if let Some(owned) = self.gtid.owned() {
            let message = format!(
                "@@SESSION.GTID_NEXT cannot be changed by a client that owns a GTID. The client owns {owned}. Ownership is released on COMMIT \
                 or ROLLBACK."
            );
            return Err(SqlError::new(1790, message));
        }
        if value.is_null() {
            return Err(SqlError::wrong_value_for_variable("gtid_next", "NULL"));
        }
        Ok(())
    }

    /// Checks that a setting about GTIDs may be changed.
    ///
    /// # Errors
    /// Returns 1766 within a transaction, and 3138 for a client that owns a GTID.
    pub fn check_gtid_setting(&self, name: &str) -> Result<()> {
        self.check_none_begun(name)?;
        let Some(owned) = self.gtid.owned() else { return Ok(()) };
        let message = format!(
            "Variable {name} cannot be changed by a client that owns a GTID. The client owns {owned}. Ownership is released on COMMIT or \
             ROLLBACK."
        );
        Err(SqlError::new(3138, message))
    }

    fn check_none_begun(&self, variable: &str) -> Result<()> {
        if self.is_begun() {
            let message =
                format!("The system variable {variable} cannot be set when there is an ongoing transaction.");
            return Err(SqlError::new(1766, message));
        }
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.savepoints
            .iter()
            .position(|(other, _)| other.eq_ignore_ascii_case(name))
            .ok_or_else(|| SqlError::new(1305, format!("SAVEPOINT {name} does not exist")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gtid_next_is_not_set_within_a_transaction_or_to_null() {
        let mut own = SessionTransaction::default();
        let code = |checked: Result<()>| checked.map_err(|error| error.code);
        assert_eq!(code(own.check_next_gtid(&Value::Null)), Err(1231));
        assert_eq!(code(own.check_next_gtid(&Value::text("AUTOMATIC"))), Ok(()));
        own.explicit = true;
        assert!(own.is_begun() && own.is_used());
        assert_eq!(code(own.check_next_gtid(&Value::text("AUTOMATIC"))), Err(1766));
        assert_eq!(code(own.check_gtid_setting("gtid_mode")), Err(1766));
    }

    #[test]
    fn the_end_of_a_transaction_leaves_what_was_said_of_the_next_one() {
        let mut own = SessionTransaction {
            explicit: true,
            read_only: true,
            next_isolation: Some(Isolation::Serializable),
            ..SessionTransaction::default()
        };
        own.note_temporary_made();
        assert_eq!(own.stays_of_temporary().len(), 1);
        own.forget();
        assert!(!own.is_begun() && !own.read_only && own.stays_of_temporary().is_empty());
        assert_eq!(own.next_isolation, Some(Isolation::Serializable));
        assert_eq!(own.release_savepoint("s").map_err(|error| error.code), Err(1305));
    }
}
