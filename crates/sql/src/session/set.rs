//! SET.

use super::Session;
use crate::ast::{IsolationName, Scope, SetItem};
use crate::error::{Result, SqlError};
use crate::expr::{Level, number};
use crate::host::{Privilege, VariableScope};
use crate::memory::{Charge, heap_bytes};
use crate::variables::Variables;
use engine::Isolation;
use types::Value;
use types::collation::{self, Charset};

impl Session {
    pub(super) fn set(&mut self, items: &[SetItem]) -> Result<()> {
        for item in items {
            match item {
                SetItem::UserVariable(name, value) => {
                    let value = self.evaluate(value)?;
                    self.user_variables.set(name, &value)?;
                }
                SetItem::Variable { scope, name, value } => {
                    let value = value.as_ref().map(|value| self.evaluate(value)).transpose()?;
                    // The text is copied on its way to the setting.
                    let mut copies = Charge::new(&self.memory);
                    copies.add(3 * value.as_ref().map_or(0, heap_bytes))?;
                    self.set_variable(*scope, name, value)?;
                }
                SetItem::Names { charset, collation } => {
                    self.set_names(charset.as_deref(), collation.as_deref())?
                }
                SetItem::CharacterSet(charset) => {
                    let id = charset_collation(charset.as_deref())?;
                    self.variables.client_collation = id;
                    self.variables.results_collation = Some(id);
                    self.variables.connection_collation = self.variables.server_collation;
                }
                SetItem::Transaction { scope, isolation, read_only } => {
                    self.set_transaction(*scope, *isolation, *read_only)?;
                }
            }
        }
        self.invalidate_plans();
        Ok(())
    }

    fn set_names(&mut self, charset: Option<&str>, collation: Option<&str>) -> Result<()> {
        let mut id = charset_collation(charset)?;
        self.variables.client_collation = id;
        self.variables.results_collation = Some(id);
        if let Some(name) = collation {
            let found = crate::variables::known_collation(name)
                .ok_or_else(|| SqlError::new(1273, format!("Unknown collation: '{name}'")))?;
            let (wanted, is) = (collation::charset_of(id), collation::charset_of(found));
            if wanted != is {
                return Err(SqlError::new(
                    1253,
                    format!("COLLATION '{name}' is not valid for CHARACTER SET '{}'", wanted.name()),
                ));
            }
            id = found;
        }
        self.variables.connection_collation = id;
        Ok(())
    }

    fn set_transaction(
        &mut self,
        scope: Scope,
        isolation: Option<IsolationName>,
        read_only: Option<bool>,
    ) -> Result<()> {
        let isolation = isolation.map(|name| match name {
            IsolationName::ReadUncommitted => Isolation::ReadUncommitted,
            IsolationName::ReadCommitted => Isolation::ReadCommitted,
            IsolationName::RepeatableRead => Isolation::RepeatableRead,
            IsolationName::Serializable => Isolation::Serializable,
        });
        match scope {
            Scope::Unwritten => {
                if self.transaction.open.is_some() {
                    return Err(SqlError::new(
                        1568,
                        "Transaction characteristics can't be changed while a transaction is in progress",
                    ));
                }
                self.transaction.next_isolation = isolation.or(self.transaction.next_isolation);
                self.transaction.next_read_only = read_only.or(self.transaction.next_read_only);
            }
            Scope::Session => {
                self.variables.isolation = isolation.unwrap_or(self.variables.isolation);
                self.variables.transaction_read_only =
                    read_only.unwrap_or(self.variables.transaction_read_only);
            }
            _ => {
                if let Some(isolation) = isolation {
                    let name = Value::text(crate::variables::isolation_name(isolation));
                    self.host.set_variable(VariableScope::Global, "transaction_isolation", Some(&name))?;
                }
                if let Some(read_only) = read_only {
                    let value = Value::Int(i64::from(read_only));
                    self.host.set_variable(VariableScope::Global, "transaction_read_only", Some(&value))?;
                }
            }
        }
        Ok(())
    }

    fn set_variable(&mut self, scope: Scope, name: &str, value: Option<Value>) -> Result<()> {
        let host_scope = match scope {
            Scope::Global => VariableScope::Global,
            Scope::Persist => VariableScope::Persist,
            Scope::PersistOnly => VariableScope::PersistOnly,
            Scope::Session | Scope::Unwritten => VariableScope::Session,
        };
        if host_scope == VariableScope::Session {
            if name == "gtid_next" && value.as_ref().is_some_and(super::state::is_tagged) {
                self.host.check_privilege(Privilege::TransactionGtidTag, None, None)?;
            }
            self.host.check_set_session(name)?;
        }
        if matches!(name, "gtid_mode" | "enforce_gtid_consistency") {
            self.check_gtid_setting(name)?;
        }
        if host_scope != VariableScope::Session || !Variables::owns(name) {
            self.host.set_variable(host_scope, name, value.as_ref())?;
            if matches!(name, "master_info_repository" | "relay_log_info_repository") {
                self.warn_deprecated(name);
            }
            return Ok(());
        }
        let value = match value {
            Some(value) => value,
            // DEFAULT is the global value.
            None => match self.host.variable(VariableScope::Global, name)? {
                Some(value) => value,
                None => Variables::default().get(name, 0).unwrap_or(Value::Null),
            },
        };
        match name {
            "last_insert_id" | "identity" => {
                let id = crate::expr::decimal_of(&number(&value)).to_u64().unwrap_or(0);
                self.last_insert_id.set(id);
            }
            "autocommit" => {
                let before = self.variables.autocommit;
                self.variables.set(name, &value)?;
                if self.variables.autocommit && !before {
                    self.xa.check_none().inspect_err(|_| self.variables.autocommit = before)?;
                    self.commit_transaction()?;
                }
            }
            "xa_detach_on_prepare" if self.transaction.is_begun() || self.xa.is_begun() => {
                let message =
                    format!("The system variable {name} cannot be set when there is an ongoing transaction.");
                return Err(SqlError::new(1766, message));
            }
            "transaction_isolation" | "tx_isolation"
                if scope == Scope::Unwritten && self.transaction.open.is_some() =>
            {
                return Err(SqlError::new(
                    1568,
                    "Transaction characteristics can't be changed while a transaction is in progress",
                ));
            }
            "gtid_next" => self.set_gtid_next(&value)?,
            "sql_log_bin" if self.transaction.open.is_some() => {
                return Err(SqlError::new(1694, "Cannot modify @@session.sql_log_bin inside a transaction"));
            }
            "binlog_transaction_compression" | "binlog_transaction_compression_level_zstd"
                if self.transaction.open.is_some() =>
            {
                let text =
                    format!("The system variable {name} cannot be set when there is an ongoing transaction.");
                return Err(SqlError::new(1766, text));
            }
            "binlog_format" if self.transaction.open.is_some() => {
                return Err(SqlError::new(
                    1679,
                    "Cannot modify @@session.binlog_format inside a transaction",
                ));
            }
            _ => {
                self.variables.set(name, &value)?;
                if matches!(name, "tx_isolation" | "tx_read_only" | "binlog_format") {
                    self.warn_deprecated(name);
                }
            }
        }
        Ok(())
    }

    fn warn_deprecated(&self, variable: &str) {
        let message = format!("'@@{variable}' is deprecated and will be removed in a future release.");
        self.statement.diagnostics.borrow_mut().push(Level::Warning, 1287, message);
    }
}

/// The default collation of a character set; DEFAULT is the server's.
fn charset_collation(name: Option<&str>) -> Result<u16> {
    let Some(name) = name else { return Ok(collation::UTF8MB4_0900_AI_CI) };
    match Charset::from_name(name) {
        Some(charset) if charset.is_for_clients() => Ok(charset.default_collation()),
        Some(charset) => Err(SqlError::not_for_clients(charset.name())),
        None => Err(SqlError::new(1115, format!("Unknown character set: '{name}'"))),
    }
}
