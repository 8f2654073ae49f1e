//! SET_VAR: variables that have other values while one statement runs.

use super::{Session, set};
use crate::ast::{Scope, SetItem, Statement};
use crate::error::{Result, SqlError};
use crate::host::VariableScope;
use crate::parse::{HintValue, Hints};
use crate::variables::Variables;
use types::Value;

/// The variables that MySQL lets SET_VAR set.
const HINTABLE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_table_encryption",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "enable_secondary_engine_statistics",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "insert_id",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_max_subgraph_pairs",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "secondary_engine_cost_threshold",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "set_operations_buffer_size",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "timestamp",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "use_secondary_engine",
    "windowing_use_high_precision",
    "xa_detach_on_prepare",
];

/// Runs a statement with the values that its hints give variables. `run` is given the hints with
/// the warnings about these values. SET of variables and CALL run without, because they leave
/// variables as they set them.
pub(super) fn with_hinted<T>(
    session: &mut Session,
    statement: &Statement,
    hints: &Hints,
    run: impl FnOnce(&mut Session, &Hints) -> Result<T>,
) -> Result<T> {
    let leaves_variables = match statement {
        Statement::Set(items) => !items.iter().all(|item| matches!(item, SetItem::UserVariable(..))),
        Statement::Call(_) => true,
        _ => false,
    };
    if hints.set_vars.is_empty() || leaves_variables {
        return run(session, hints);
    }
    let before = session.settings.variables.clone();
    let mut told = hints.clone();
    let mut of_host = Vec::new();
    for (name, value) in &hints.set_vars {
        if let Err(warning) = set_one(session, name, value, &mut of_host) {
            told.warnings.push((warning.code, warning.message));
        }
    }
    let outcome = run(session, &told);
    let mut back = before;
    if !hints.set_vars.iter().any(|(name, _)| name == "insert_id") {
        back.insert_ids = std::mem::take(&mut session.settings.variables.insert_ids);
    }
    session.settings.variables = back;
    for (name, value) in of_host {
        session.server.host.set_variable(VariableScope::Session, &name, value.as_ref())?;
    }
    outcome
}

/// Gives a variable a value. The old value of a variable that the host keeps is added to `of_host`.
///
/// # Errors
/// Returns what the statement warns of: 3128 for an unknown variable, 3637 for one that cannot be
/// set here, 1292 for a number that was moved into the variable's range, and 1231 and 1232 for
/// other values that it does not take.
fn set_one(
    session: &mut Session,
    name: &str,
    value: &HintValue,
    of_host: &mut Vec<(String, Option<Value>)>,
) -> Result<()> {
    let is_own = Variables::owns(name);
    if !is_own && !session.server.host.has_variable(name) {
        return Err(SqlError::new(3128, format!("Unresolved name '{name}' for SET_VAR hint")));
    }
    if !HINTABLE.contains(&name) {
        return Err(SqlError::new(3637, format!("Variable '{name}' cannot be set using SET_VAR hint.")));
    }
    let (value, shown) = match value {
        HintValue::Fraction => return Err(SqlError::wrong_type_for_variable(name)),
        HintValue::Integer(number) => (Value::UInt(*number), number.to_string()),
        HintValue::Text(text) => (Value::text(text), text.clone()),
    };
    let is_moved = match (is_own, name) {
        (true, "optimizer_switch") => {
            let value = set::switched(session, Scope::Session, &value)?;
            session.settings.variables.set(&session.server.engine, name, &value)?
        }
        (true, _) => session.settings.variables.set(&session.server.engine, name, &value)?,
        (false, _) => {
            let host = &session.server.host;
            let is_moved = host.check_set(VariableScope::Session, name, Some(&value))?;
            of_host.push((name.to_owned(), host.variable(VariableScope::Session, name)?));
            host.set_variable(VariableScope::Session, name, Some(&value))?;
            is_moved
        }
    };
    match is_moved {
        true => Err(SqlError::new(1292, format!("Truncated incorrect {name} value: '{shown}'"))),
        false => Ok(()),
    }
}
