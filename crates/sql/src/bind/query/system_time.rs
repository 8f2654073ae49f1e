//! The rows of a table with system versioning that a statement sees: the current ones, unless `FOR
//! SYSTEM_TIME` says otherwise.

use crate::ast::{BinaryOp, Expr, SystemTime};
use crate::error::{Result, SqlError};
use engine::TableDef;
use types::{TypeCode, Value};

/// A condition on the start or the end of a row's period.
pub(super) struct Bound<'s> {
    /// The position of the column.
    pub column: usize,
    pub op: BinaryOp,
    pub with: With<'s>,
}

/// What the start or end of a row's period is compared with.
pub(super) enum With<'s> {
    /// A moment that the statement gives.
    Moment(&'s Expr),
    /// The least end of the period of a current row.
    Limit(Value),
}

/// Returns the conditions of the rows that the statement sees. `None` if the table has no versions.
/// `changes` says that the statement changes rows.
///
/// # Errors
/// Returns 1235 for a moment if the table is versioned by transactions, and for any `FOR
/// SYSTEM_TIME` in a statement that changes rows.
pub(super) fn bounds<'s>(
    def: &TableDef,
    time: Option<&'s SystemTime>,
    changes: bool,
) -> Result<Option<Vec<Bound<'s>>>> {
    let Some((start, end)) = def.row_period() else { return Ok(None) };
    if changes && !matches!(time, None | Some(SystemTime::History(_))) {
        return Err(SqlError::not_supported("FOR SYSTEM_TIME of rows that are changed"));
    }
    assert!(!matches!(time, Some(SystemTime::Portion(_))), "a portion is no time of the system's");
    let has_moment = !matches!(time, None | Some(SystemTime::All | SystemTime::History(None)));
    if has_moment && def.is_versioned_by_transactions() {
        return Err(SqlError::not_supported("a moment in a table that is versioned by transactions"));
    }
    let limit = match def.columns[end].ty.code {
        TypeCode::LongLong => Value::UInt(u64::MAX),
        _ => Value::Timestamp { seconds: i64::from(i32::MAX), micros: 0 },
    };
    let ends = |op| Bound { column: end, op, with: With::Limit(limit.clone()) };
    let moment = |column, op, moment| Bound { column, op, with: With::Moment(moment) };
    Ok(Some(match time {
        None => vec![ends(BinaryOp::GreaterEqual)],
        Some(SystemTime::All) => Vec::new(),
        Some(SystemTime::AsOf(at)) => {
            vec![moment(start, BinaryOp::LessEqual, at), moment(end, BinaryOp::Greater, at)]
        }
        Some(SystemTime::Between(first, last)) => {
            vec![moment(start, BinaryOp::LessEqual, last), moment(end, BinaryOp::Greater, first)]
        }
        Some(SystemTime::FromTo(first, last)) => {
            vec![moment(start, BinaryOp::Less, last), moment(end, BinaryOp::Greater, first)]
        }
        Some(SystemTime::History(None)) => vec![ends(BinaryOp::Less)],
        Some(SystemTime::History(Some(before))) => {
            vec![ends(BinaryOp::Less), moment(end, BinaryOp::Less, before)]
        }
        // The assertion above excludes it.
        Some(SystemTime::Portion(_)) => Vec::new(),
    }))
}
