//! The SET statement.

use super::Session;
use super::program::evaluate_typed;
use crate::ast::{IsolationName, Scope, SetItem};
use crate::error::{Result, SqlError};
use crate::expr::{Level, number, text_of};
use crate::host::{Privilege, VariableScope};
use crate::memory::{Charge, heap_bytes};
use crate::parse::deprecated;
use crate::sql_mode::SqlMode;
use crate::variables::Variables;
use engine::Isolation;
use types::{ColumnType, Value};

/// The characteristics that SET TRANSACTION sets.
struct Characteristics {
    isolation: Option<Isolation>,
    read_only: Option<bool>,
}

/// Carries out a SET. As in MySQL, nothing is set before everything is checked: first that all
/// names exist, then all values, which are computed one after the other.
pub(super) fn run(session: &mut Session, items: &[SetItem]) -> Result<()> {
    for item in items {
        check_known(session, item)?;
    }
    let mut charge = Charge::new(&session.server.memory);
    let mut after = session.settings.variables.clone();
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let value = value_of(session, item, &mut charge)?;
        check_item(session, item, value.as_ref().map(|(value, _)| value), &mut after)?;
        values.push(value);
    }
    let result = items.iter().zip(values).try_for_each(|(item, value)| set_item(session, item, value));
    session.cache.invalidate();
    result
}

/// Returns 1193 (`ER_UNKNOWN_SYSTEM_VARIABLE`) for the name of a variable that does not exist.
pub(super) fn check_known(session: &Session, item: &SetItem) -> Result<()> {
    match item {
        SetItem::Variable { name, .. }
            if !Variables::owns(name) && !session.server.host.has_variable(name) =>
        {
            Err(SqlError::unknown_variable(name))
        }
        _ => Ok(()),
    }
}

/// Returns the value that an item sets, charged for, and its type. Returns `None` for an item
/// without a value, and for DEFAULT of a variable that the host keeps.
fn value_of(
    session: &mut Session,
    item: &SetItem,
    charge: &mut Charge,
) -> Result<Option<(Value, ColumnType)>> {
    let (written, copies) = match item {
        SetItem::UserVariable(_, written) => (written, 1),
        // The text is copied on its way to the setting.
        SetItem::Variable { value: Some(written), .. } => (written, 3),
        SetItem::Variable { scope, name, value: None } => {
            let default = default_of(session, *scope, name)?;
            return Ok(default.map(|value| (value.clone(), value.natural_type())));
        }
        SetItem::Names { .. } | SetItem::CharacterSet(_) | SetItem::Transaction { .. } => {
            return Ok(None);
        }
    };
    let (mut value, mut ty) = evaluate_typed(session, written)?;
    if let SetItem::Variable { scope, name, .. } = item
        && name == "optimizer_switch"
    {
        value = switched(session, *scope, &value)?;
        ty = value.natural_type();
    }
    if let SetItem::Variable { scope, name, .. } = item
        && name == "sql_mode"
        && !is_of_session(*scope)
        && let Some(modes) = whole_modes(session, &value)
    {
        value = modes;
        ty = value.natural_type();
    }
    charge.add(copies * heap_bytes(&value))?;
    Ok(Some((value, ty)))
}

/// Returns the global `sql_mode` that a number or a list stands for, with the modes that a mode
/// such as ANSI consists of. `None` means that the value is refused.
fn whole_modes(session: &Session, value: &Value) -> Option<Value> {
    let mut global = Variables::default();
    global.set(&session.server.engine, "sql_mode", value).ok()?;
    global.get("sql_mode", 0)
}

/// Returns the whole value of `optimizer_switch` that setting it to a list of changes gives.
pub(super) fn switched(session: &Session, scope: Scope, value: &Value) -> Result<Value> {
    const NAME: &str = "optimizer_switch";
    let mut global = Variables::default();
    if let Some(value) = session.server.host.variable(VariableScope::Global, NAME)? {
        global.set(&session.server.engine, NAME, &value)?;
    }
    match is_of_session(scope) {
        true => session.settings.variables.switched(value, &global),
        false => global.switched(value, &Variables::default()),
    }
}

/// Returns the DEFAULT of a session variable, which is the global value.
fn default_of(session: &Session, scope: Scope, name: &str) -> Result<Option<Value>> {
    if !is_of_session(scope) || !Variables::owns(name) {
        return Ok(None);
    }
    let global = session.server.host.variable(VariableScope::Global, name)?;
    Ok(Some(global.or_else(|| Variables::default().get(name, 0)).unwrap_or(Value::Null)))
}

/// Checks that an item can be set. `after` has the session's variables as the items before this one
/// will leave them.
fn check_item(
    session: &mut Session,
    item: &SetItem,
    value: Option<&Value>,
    after: &mut Variables,
) -> Result<()> {
    match item {
        SetItem::UserVariable(..) => Ok(()),
        SetItem::Variable { scope, name, .. } => check_variable(session, *scope, name, value, after),
        SetItem::Names { charset, collation } => after.set_names(charset.as_deref(), collation.as_deref()),
        SetItem::CharacterSet(charset) => after.set_character_set(charset.as_deref()),
        SetItem::Transaction { scope, isolation, read_only } => match scope {
            Scope::Unwritten => check_no_transaction_to_change(session),
            Scope::Session => Ok(()),
            Scope::Persist | Scope::PersistOnly => {
                Err(SqlError::new(6437, "Cannot persist transaction isolation."))
            }
            _ => Characteristics::new(*isolation, *read_only).values().try_for_each(|(name, value)| {
                session.server.host.check_set(VariableScope::Global, name, Some(&value)).map(|_| ())
            }),
        },
    }
}

fn set_item(session: &mut Session, item: &SetItem, value: Option<(Value, ColumnType)>) -> Result<()> {
    match item {
        SetItem::UserVariable(name, _) => {
            let (value, ty) = value.expect("a user variable is set to a value");
            let value = value.in_zone(session.settings.variables.zone);
            session.settings.user_variables.set(name, &value, &ty)
        }
        SetItem::Variable { scope, name, .. } => {
            set_variable(session, *scope, name, value.map(|(value, _)| value))
        }
        SetItem::Names { charset, collation } => {
            session.settings.variables.set_names(charset.as_deref(), collation.as_deref())
        }
        SetItem::CharacterSet(charset) => session.settings.variables.set_character_set(charset.as_deref()),
        SetItem::Transaction { scope, isolation, read_only } => {
            set_transaction(session, *scope, &Characteristics::new(*isolation, *read_only))
        }
    }
}

/// Checks that no transaction is open, since its characteristics cannot be changed (1568,
/// `ER_CANT_CHANGE_TX_CHARACTERISTICS`).
fn check_no_transaction_to_change(session: &Session) -> Result<()> {
    if session.transaction.open.is_none() {
        return Ok(());
    }
    let text = "Transaction characteristics can't be changed while a transaction is in progress";
    Err(SqlError::new(1568, text))
}

fn set_transaction(session: &mut Session, scope: Scope, wanted: &Characteristics) -> Result<()> {
    let Characteristics { isolation, read_only } = *wanted;
    match scope {
        Scope::Unwritten => {
            session.transaction.next_isolation = isolation.or(session.transaction.next_isolation);
            session.transaction.next_read_only = read_only.or(session.transaction.next_read_only);
        }
        Scope::Session => {
            session.settings.variables.isolation = isolation.unwrap_or(session.settings.variables.isolation);
            session.settings.variables.transaction_read_only =
                read_only.unwrap_or(session.settings.variables.transaction_read_only);
        }
        _ => {
            for (name, value) in wanted.values() {
                session.server.host.set_variable(VariableScope::Global, name, Some(&value))?;
            }
        }
    }
    Ok(())
}

fn check_variable(
    session: &mut Session,
    scope: Scope,
    name: &str,
    value: Option<&Value>,
    after: &mut Variables,
) -> Result<()> {
    if is_of_session(scope) {
        if name == "gtid_next" && value.is_some_and(super::state::is_tagged) {
            session.server.host.check_privilege(Privilege::TransactionGtidTag, None, None)?;
        }
        session.server.host.check_set_session(name)?;
    }
    if matches!(name, "gtid_mode" | "enforce_gtid_consistency") {
        session.transaction.check_gtid_setting(name)?;
    }
    let is_moved = if !is_of_session(scope) || !Variables::owns(name) {
        let is_moved = session.server.host.check_set(host_scope(scope), name, value)?;
        if let (true, Some(value)) = (Variables::owns(name), value) {
            // New sessions begin with this value, so it has to be valid for a session.
            Variables::default().set(&session.server.engine, name, value)?;
        }
        is_moved
    } else {
        check_may_change(session, scope, name)?;
        match (name, value) {
            ("last_insert_id" | "identity", _) => false,
            ("gtid_next", Some(value)) => session.transaction.check_next_gtid(value).map(|()| false)?,
            (_, Some(value)) => after.set(&session.server.engine, name, value)?,
            (_, None) => false,
        }
    };
    if let (true, Some(value)) = (is_moved, value) {
        tell_moved(session, name, value)?;
    }
    if let Some(Value::Bytes(value)) = value {
        warn_of_character_set(session, name, &String::from_utf8_lossy(value));
    }
    match (is_of_session(scope), value) {
        (true, _) => warn_of(session, name, after.sql_mode),
        (false, Some(Value::Bytes(modes))) => {
            warn_of(session, name, SqlMode::parse(&String::from_utf8_lossy(modes)).unwrap_or_default());
        }
        (false, _) => warn_of(session, name, SqlMode::default()),
    }
    Ok(())
}

/// Reports that a number was moved into its range: as a warning, and with STRICT_ALL_TABLES as an
/// error.
fn tell_moved(session: &Session, name: &str, value: &Value) -> Result<()> {
    let shown = String::from_utf8_lossy(&text_of(value)).into_owned();
    if session.settings.variables.sql_mode.strict_all_tables() {
        return Err(SqlError::wrong_value_for_variable(name, shown));
    }
    warn(session, 1292, format!("Truncated incorrect {name} value: '{shown}'"));
    Ok(())
}

/// Pushes the warnings about a variable that names a character set or a collation.
fn warn_of_character_set(session: &Session, name: &str, value: &str) {
    let told = match name {
        _ if name.starts_with("character_set_") => deprecated::of_charset(value),
        _ if name.starts_with("collation_") => deprecated::of_collation(value),
        _ => return,
    };
    if let Some((code, text)) = told {
        warn(session, code, text);
    }
    if matches!(name, "character_set_database" | "collation_database") {
        let text = format!("Updating '{name}' is deprecated. It will be made read-only in a future release.");
        warn(session, 1681, text);
    }
}

/// Pushes the warnings that MySQL gives whenever these variables are set, even if the statement
/// fails. `modes` is the new value of `sql_mode`.
fn warn_of(session: &Session, name: &str, modes: SqlMode) {
    match name {
        "tx_isolation"
        | "tx_read_only"
        | "binlog_format"
        | "master_info_repository"
        | "relay_log_info_repository" => {
            warn(session, 1287, format!("'@@{name}' is deprecated and will be removed in a future release."));
        }
        "restrict_fk_on_non_standard_key" => {
            let text = format!(
                "'{name}' is deprecated and will be removed in a future release. Foreign key referring to \
                 non-unique or partial keys is unsafe and may break replication."
            );
            warn(session, 4166, text);
        }
        "sql_mode" => modes.warnings().for_each(|(code, text)| warn(session, code, text)),
        _ => {}
    }
}

fn warn(session: &Session, code: u16, message: impl Into<String>) {
    session.statement.diagnostics.borrow_mut().push(Level::Warning, code, message);
}

/// Refuses to change a session variable that the open transaction depends on.
fn check_may_change(session: &Session, scope: Scope, name: &str) -> Result<()> {
    let ongoing = || {
        let text = format!("The system variable {name} cannot be set when there is an ongoing transaction.");
        Err(SqlError::new(1766, text))
    };
    let is_open = session.transaction.open.is_some();
    match name {
        "xa_detach_on_prepare" if session.transaction.is_begun() || session.transaction.xa.is_begun() => {
            ongoing()
        }
        "binlog_transaction_compression" | "binlog_transaction_compression_level_zstd" if is_open => {
            ongoing()
        }
        "transaction_isolation" | "tx_isolation" | "transaction_read_only" | "tx_read_only"
            if scope == Scope::Unwritten =>
        {
            check_no_transaction_to_change(session)
        }
        "sql_log_bin" if is_open => {
            Err(SqlError::new(1694, "Cannot modify @@session.sql_log_bin inside a transaction"))
        }
        "binlog_format" if is_open => {
            Err(SqlError::new(1679, "Cannot modify @@session.binlog_format inside a transaction"))
        }
        _ => Ok(()),
    }
}

/// Sets a variable that [`check_variable`] has let through.
fn set_variable(session: &mut Session, scope: Scope, name: &str, value: Option<Value>) -> Result<()> {
    if !is_of_session(scope) || !Variables::owns(name) {
        session.server.host.set_variable(host_scope(scope), name, value.as_ref())?;
        if matches!(host_scope(scope), VariableScope::Global | VariableScope::Persist) {
            let warnings = session.server.host.warnings_of_global(name);
            warnings.into_iter().for_each(|(code, text)| warn(session, code, text));
        }
        return Ok(());
    }
    let value = value.unwrap_or(Value::Null);
    match name {
        "last_insert_id" | "identity" => {
            let id = crate::expr::decimal_of(&number(&value)).to_u64().unwrap_or(0);
            session.settings.last_insert_id.set(id);
        }
        "autocommit" => {
            let before = session.settings.variables.autocommit;
            session.settings.variables.set(&session.server.engine, name, &value)?;
            if session.settings.variables.autocommit && !before {
                session
                    .transaction
                    .xa
                    .check_none()
                    .inspect_err(|_| session.settings.variables.autocommit = before)?;
                session.transacting().commit()?;
            }
        }
        "gtid_next" => session.transacting().set_gtid_next(&value)?,
        // `SET @@transaction_isolation` is for the next transaction only.
        "transaction_isolation" | "tx_isolation" if scope == Scope::Unwritten => {
            let next = session.settings.variables.with(&session.server.engine, name, &value)?;
            session.transaction.next_isolation = Some(next.isolation);
        }
        "transaction_read_only" | "tx_read_only" if scope == Scope::Unwritten => {
            let next = session.settings.variables.with(&session.server.engine, name, &value)?;
            session.transaction.next_read_only = Some(next.transaction_read_only);
        }
        _ => {
            session.settings.variables.set(&session.server.engine, name, &value)?;
        }
    }
    Ok(())
}

impl Characteristics {
    fn new(isolation: Option<IsolationName>, read_only: Option<bool>) -> Characteristics {
        let isolation = isolation.map(|name| match name {
            IsolationName::ReadUncommitted => Isolation::ReadUncommitted,
            IsolationName::ReadCommitted => Isolation::ReadCommitted,
            IsolationName::RepeatableRead => Isolation::RepeatableRead,
            IsolationName::Serializable => Isolation::Serializable,
        });
        Characteristics { isolation, read_only }
    }

    /// Returns the characteristics as variables with their values.
    fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let level = self.isolation.map(|level| Value::text(crate::variables::isolation_name(level)));
        let read_only = self.read_only.map(|on| Value::Int(i64::from(on)));
        let named = [("transaction_isolation", level), ("transaction_read_only", read_only)];
        named.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

fn is_of_session(scope: Scope) -> bool {
    matches!(scope, Scope::Session | Scope::Unwritten)
}

fn host_scope(scope: Scope) -> VariableScope {
    match scope {
        Scope::Global => VariableScope::Global,
        Scope::Persist => VariableScope::Persist,
        Scope::PersistOnly => VariableScope::PersistOnly,
        Scope::Session | Scope::Unwritten => VariableScope::Session,
    }
}
