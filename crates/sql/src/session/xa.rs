//! The XA statements.

use super::state::Bound;
use super::{Session, results};
use crate::ast::Xa;
use crate::error::{Result, SqlError};
use crate::host::{Privilege, VirtualTable};
use crate::result_column::column_meta;
use crate::sink::ResultSink;
use crate::temporary::check_no_xa;
use binlog::Xid;
use engine::Table;
use std::sync::Arc;
use types::{ColumnType, Value};

/// Refuses a statement about rows that the session's XA transaction does not allow.
///
/// # Errors
/// Returns 1399 when the transaction is past its statements, the reason when it was rolled back,
/// and 3877 for temporary tables.
pub(super) fn check_allows(session: &Session, bound: &Bound) -> Result<()> {
    if !session.transaction.xa.is_begun() || (bound.is_query() && !bound.reads_tables()) {
        return Ok(());
    }
    check_tables(session, &bound.tables)
}

/// Checks that the session's XA transaction lets a statement use these tables.
///
/// # Errors
/// Returns the errors of [`check_allows`].
pub(super) fn check_tables(session: &Session, tables: &[Arc<Table>]) -> Result<()> {
    if !session.transaction.xa.is_begun() {
        return Ok(());
    }
    check_no_xa(tables.iter().any(|table| table.is_temporary()))?;
    session.transaction.xa.check_active()
}

/// Runs an XA statement and sends its answer.
///
/// # Errors
/// Returns 1397 to 1402, and the errors of the transaction.
pub(super) fn run(session: &mut Session, xa: &Xa, sink: &mut dyn ResultSink) -> Result<()> {
    let mut transacting = session.transacting();
    match xa {
        Xa::Start { xid, how } => transacting.start_xa(xid, *how)?,
        Xa::End { xid, suspend } => transacting.end_xa(xid, *suspend)?,
        Xa::Prepare(xid) => transacting.prepare_xa(xid)?,
        Xa::Commit { xid, one_phase } => transacting.commit_xa(xid, *one_phase)?,
        Xa::Rollback(xid) => transacting.rollback_xa(xid)?,
        Xa::Recover { convert_xid } => {
            let table = recover(session, *convert_xid)?;
            session.statement.diagnostics.borrow_mut().clear();
            return results::send_table(session, &table, sink);
        }
    }
    session.statement.diagnostics.borrow_mut().clear();
    results::ok(session, sink)
}

/// Returns the rows of XA RECOVER.
fn recover(session: &Session, convert_xid: bool) -> Result<VirtualTable> {
    let allowed = session.server.host.check_privilege(Privilege::XaRecoverAdmin, None, None);
    allowed.map_err(|_| {
        let text =
            "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency";
        SqlError::new(1401, text)
    })?;
    let number = |name| column_meta(name, ColumnType::bigint(false), true);
    let columns = vec![
        number("formatID"),
        number("gtrid_length"),
        number("bqual_length"),
        column_meta("data", ColumnType::varbinary(258), true),
    ];
    let data = |xid: &Xid| match convert_xid {
        false => xid.data().to_vec(),
        true => {
            let digits = xid.data().iter().map(|byte| format!("{byte:02X}"));
            format!("0x{}", digits.collect::<String>()).into_bytes()
        }
    };
    let row = |xid: &Xid| {
        vec![
            Value::Int(xid.format_id()),
            Value::Int(xid.gtrid().len() as i64),
            Value::Int(xid.bqual().len() as i64),
            Value::Bytes(data(xid)),
        ]
    };
    Ok(VirtualTable { columns, rows: session.server.engine.prepared_xids().iter().map(row).collect() })
}
