//! Queries whose rows go to the client as they are stored.
//!
//! Such a query reads one stored table, and its results are columns of this table, in the order in
//! which the rows are read. In: its plan. Out: the image of each row, which the sink encodes without
//! values in between.

use super::Run;
use super::counting::count_select;
use super::reader::Reader;
use super::run::QueryOutcome;
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::plan::{QueryBody, QueryPlan, RowLock, SelectPlan, Source, TableStep};
use crate::sink::{ColumnMeta, StoredRow};
use types::{ColumnType, TypeCode};

/// Returns the column of the table that each result is, if the query is of this kind.
pub(crate) fn stored_columns(plan: &QueryPlan) -> Option<Vec<usize>> {
    let QueryBody::Select(select) = &plan.body else { return None };
    let [step] = &select.tables[..] else { return None };
    let Source::Stored { table, .. } = &step.source else { return None };
    if !is_plain(select) || !is_read_plainly(step) {
        return None;
    }
    assert_eq!(select.outputs.len(), plan.columns.len(), "each output has a column of the result");
    let column = |(output, meta): (&Expr, &ColumnMeta)| {
        let Node::Slot(slot) = output.node else { return None };
        let column = slot.checked_sub(step.base).filter(|column| *column < step.columns)?;
        let stored = table.layout.types().get(column)?;
        (*stored == meta.ty && is_sent_as_stored(stored)).then_some(column)
    };
    select.outputs.iter().zip(&plan.columns).map(column).collect()
}

/// Reports whether the values of a column go to the client as they are decoded. A TIMESTAMP does
/// not: it is sent in the session's time zone.
fn is_sent_as_stored(ty: &ColumnType) -> bool {
    let is_number = matches!(ty.code, TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double);
    let is_time = matches!(ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Time2);
    let is_text = matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Json);
    let is_chosen = matches!(ty.code, TypeCode::Enum | TypeCode::Set);
    ty.is_integer() || is_number || is_time || is_text || is_chosen
}

/// Reports whether a SELECT does nothing with the rows of its tables but send them.
fn is_plain(select: &SelectPlan) -> bool {
    select.preconditions.is_empty()
        && select.grouping.is_none()
        && select.index_ends.is_none()
        && select.having.is_none()
        && select.order.is_empty()
        && !select.distinct
        && select.limit.is_none()
        && !select.calc_found_rows
}

/// Reports whether the rows of the step are those of its table, and their access answers all of its
/// conditions.
fn is_read_plainly(step: &TableStep) -> bool {
    step.padding.is_none()
        && step.covering.is_none()
        && step.key_slot.is_none()
        && step.lock == RowLock::NONE
        && step.nests.is_empty()
        && step.hash.is_none()
        && (0..step.conditions.len()).all(|at| step.answered.has(at))
}

/// Runs a query whose results are these columns, as [`stored_columns`] has returned them. Returns
/// `None` if it has read nothing, and the query has to be run as any other: only the values of its
/// parameters tell whether the access answers the conditions.
pub(crate) fn run_stored(
    run: &mut Run<'_, '_>,
    plan: &QueryPlan,
    columns: &[usize],
    emit: &mut dyn FnMut(&StoredRow<'_>) -> Result<()>,
) -> Result<Option<QueryOutcome>> {
    let QueryBody::Select(select) = &plan.body else { return Ok(None) };
    let [step] = &select.tables[..] else { return Ok(None) };
    let Source::Stored { table, access } = &step.source else { return Ok(None) };
    if run.ctx.measures.is_some() {
        return Ok(None);
    }
    let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), &[])?;
    let answered = reader.answered(step);
    if !(0..step.conditions.len()).all(|at| answered.has(at)) {
        return Ok(None);
    }
    count_select(select, run.ctx.counters);
    let mut sent = 0;
    while let Some(image) = reader.next_image(run)? {
        sent += 1;
        emit(&StoredRow { layout: &table.layout, image, columns })?;
    }
    Ok(Some(QueryOutcome { found_rows: sent }))
}
