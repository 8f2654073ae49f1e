//! Queries whose rows go to the client as they are stored.
//!
//! Such a query reads one stored table, and its results are columns of this table, in the order in
//! which the rows are read or sorted by columns. In: its plan. Out: the image of each row, which
//! the sink encodes without values in between. Rows that are sorted are kept as images of the
//! result's columns alone.

use super::Run;
use super::bounds::Ranges;
use super::counting::count_select;
use super::reader::{Reader, read_point};
use super::run::QueryOutcome;
use super::select::deduplicates_sorted;
use super::sort::Sorter;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, sort_compare};
use crate::plan::{QueryBody, QueryPlan, RowLock, SelectPlan, Source, TableStep};
use crate::sink::{ColumnMeta, StoredRow};
use engine::Table;
use std::cmp::Ordering;
use types::row::RowLayout;
use types::{ColumnType, TypeCode, Value, collation};

/// Where the results of such a query stand in the rows of its table.
pub(crate) struct StoredColumns {
    /// The column of the table that each result is.
    columns: Vec<usize>,
    /// What is known for sorting the rows, if the query has an order.
    sorting: Option<Box<Sorting>>,
}

/// How the rows of a query are sorted.
struct Sorting {
    /// The columns of the table by which the rows are sorted, in ascending order.
    keys: Vec<usize>,
    /// The only column by which the rows are sorted, if its texts need not be decoded.
    text: Option<usize>,
    /// Whether that column is also all that is sent.
    is_text_all: bool,
    /// The columns of the result, as if they were a table.
    layout: RowLayout,
    /// The numbers of these columns.
    all: Vec<usize>,
}

impl StoredColumns {
    /// Returns what is known of a query, if it is of this kind.
    pub fn of(plan: &QueryPlan) -> Option<StoredColumns> {
        let QueryBody::Select(select) = &plan.body else { return None };
        let [step] = &select.tables[..] else { return None };
        let Source::Stored { table, .. } = &step.source else { return None };
        if !is_plain(select) || !is_read_plainly(step) {
            return None;
        }
        assert_eq!(select.outputs.len(), plan.columns.len(), "each output has a column of the result");
        let column = |(output, meta): (&Expr, &ColumnMeta)| {
            let column = column_of(step, output)?;
            let stored = table.layout.types().get(column)?;
            (*stored == meta.ty && is_sent_as_stored(stored)).then_some(column)
        };
        let columns: Vec<usize> =
            select.outputs.iter().zip(&plan.columns).map(column).collect::<Option<_>>()?;
        let sorting = match select.order.is_empty() {
            true => None,
            false => {
                let keys = select.order.iter().map(|key| column_of(step, &key.expr));
                let mut keys: Vec<usize> = keys.collect::<Option<_>>()?;
                keys.sort_unstable();
                keys.dedup();
                let text = match (&select.order[..], &keys[..]) {
                    ([_], [column]) if table.layout.is_plain_text(*column) => Some(*column),
                    _ => None,
                };
                let is_text_all = text.is_some_and(|column| columns == [column]);
                let types: Vec<ColumnType> = plan.columns.iter().map(|column| column.ty.clone()).collect();
                let all = (0..types.len()).collect();
                Some(Box::new(Sorting { keys, text, is_text_all, layout: RowLayout::new(&types), all }))
            }
        };
        Some(StoredColumns { columns, sorting })
    }
}

/// Returns the column of the step's table that an expression is.
fn column_of(step: &TableStep, expr: &Expr) -> Option<usize> {
    let Node::Slot(slot) = expr.node else { return None };
    slot.checked_sub(step.base).filter(|column| *column < step.columns)
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

/// Reports whether a SELECT does nothing with the rows of its table but sort and send them.
/// DISTINCT is allowed where equal rows come one after the other.
fn is_plain(select: &SelectPlan) -> bool {
    select.preconditions.is_empty()
        && select.grouping.is_none()
        && select.index_ends.is_none()
        && select.having.is_none()
        && select.limit.is_none()
        && !select.calc_found_rows
        && (!select.distinct || deduplicates_sorted(select))
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

/// Takes a row of the result.
type EmitStored<'e> = dyn FnMut(&StoredRow<'_>) -> Result<()> + 'e;

/// Runs a query of this kind. Returns `None` if it has read nothing, and the query has to be run as
/// any other: only the values of its parameters tell whether the access answers the conditions.
pub(crate) fn run_stored(
    run: &mut Run<'_, '_>,
    plan: &QueryPlan,
    stored: &StoredColumns,
    emit: &mut EmitStored<'_>,
) -> Result<Option<QueryOutcome>> {
    let QueryBody::Select(select) = &plan.body else { return Ok(None) };
    let [step] = &select.tables[..] else { return Ok(None) };
    let Source::Stored { table, access } = &step.source else { return Ok(None) };
    if run.ctx.measures.is_some() {
        return Ok(None);
    }
    let mut key = Vec::with_capacity(16);
    if access.is_point && Ranges::point(table, access, &[], run.ctx, &mut key)? == Some(true) {
        count_select(select, run.ctx.counters);
        let lock = run.lock_for(step.lock);
        let found = read_point(run, (table, access.index), key, lock)?;
        if let Some(row) = &found {
            emit(&StoredRow { layout: &table.layout, image: &row.image, columns: &stored.columns })?;
        }
        return Ok(Some(QueryOutcome { found_rows: u64::from(found.is_some()) }));
    }
    let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), &[])?;
    let answered = reader.answered(step);
    if !(0..step.conditions.len()).all(|at| answered.has(at)) {
        return Ok(None);
    }
    count_select(select, run.ctx.counters);
    let sorting = stored.sorting.as_deref().filter(|_| !select.ordered_by_access || reader.degraded);
    let sent = match sorting {
        Some(sorting) => {
            let sorter = sort(run, (select, step), (table, &mut reader), (stored, sorting))?;
            send_sorted(run, sorter, (plan, select.distinct), sorting, emit)?
        }
        None => {
            assert!(!select.distinct, "the rows of DISTINCT are sorted");
            let mut sent = 0;
            while let Some(image) = reader.next_image(run)? {
                sent += 1;
                emit(&StoredRow { layout: &table.layout, image, columns: &stored.columns })?;
            }
            sent
        }
    };
    Ok(Some(QueryOutcome { found_rows: sent }))
}

/// The null bitmap of the image of one column that is not NULL.
const NOT_NULL: &[u8] = &[0];

/// Gives the rows of the table to a sorter.
fn sort<'p>(
    run: &mut Run<'_, '_>,
    (select, step): (&'p SelectPlan, &TableStep),
    (table, reader): (&Table, &mut Reader<'_>),
    (stored, sorting): (&StoredColumns, &Sorting),
) -> Result<Sorter<'p>> {
    let ctx = run.ctx;
    let mut sorter = Sorter::new(&select.order, None, ctx);
    let mut row = Value::nulls(select.slots);
    while let Some(image) = reader.next_image(run)? {
        let packed = match sorting.text {
            Some(column) => table.layout.find_packed(image, column)?,
            None => None,
        };
        if let Some((prefix, packed)) = packed
            && sorting.is_text_all
            && sorter.keep_text(&packed[prefix..], [NOT_NULL, packed], ctx)?
        {
            continue;
        }
        let text = packed.map(|(prefix, packed)| &packed[prefix..]);
        let offered = match text.and_then(|text| sorter.offer_text(text)) {
            Some(offered) => offered,
            None => {
                let slots = &mut row[step.base..step.base + step.columns];
                table.layout.decode_columns(image, &sorting.keys, slots)?;
                sorter.offer(&row, ctx)?
            }
        };
        if offered {
            sorter.write_by(|payload| Ok(table.layout.project(image, &stored.columns, payload)?))?;
            sorter.keep(ctx)?;
        }
    }
    Ok(sorter)
}

/// Sends the rows of a sorter, in order. Returns how many have gone.
fn send_sorted(
    run: &Run<'_, '_>,
    sorter: Sorter<'_>,
    (plan, distinct): (&QueryPlan, bool),
    sorting: &Sorting,
    emit: &mut EmitStored<'_>,
) -> Result<u64> {
    let mut sorted = sorter.finish(run.ctx)?;
    let (mut sent, mut before, mut key_before) = (0, Vec::new(), Vec::new());
    while let Some((key, image)) = sorted.next_keyed(run.ctx)? {
        run.on_row()?;
        let row = StoredRow { layout: &sorting.layout, image, columns: &sorting.all };
        if distinct {
            let last = StoredRow { image: &before, ..row };
            // Texts with different keys are different.
            let differs = sent == 0 || sorting.is_text_all && *key_before != *key;
            if !differs && is_equal(&last, &row, &plan.columns, run.ctx)? {
                continue;
            }
            before.clear();
            before.extend_from_slice(image);
            key_before.clear();
            key_before.extend_from_slice(key);
        }
        sent += 1;
        emit(&row)?;
    }
    Ok(sent)
}

/// Reports whether DISTINCT takes two rows as equal.
fn is_equal(a: &StoredRow<'_>, b: &StoredRow<'_>, columns: &[ColumnMeta], ctx: &Context<'_>) -> Result<bool> {
    if a.image == b.image {
        return Ok(true);
    }
    for (at, meta) in columns.iter().enumerate() {
        let ordering = match (a.layout.find(a.image, at)?, b.layout.find(b.image, at)?) {
            (Some(a), Some(b)) if a == b => Ordering::Equal,
            (Some(text), Some(other)) if a.layout.is_plain_text(at) => {
                collation::compare_utf8mb4(meta.ty.collation, text, other)
            }
            _ => {
                let (a, b) = (a.layout.decode(a.image, at)?, b.layout.decode(b.image, at)?);
                sort_compare(&a, &b, meta.ty.collation, ctx)?
            }
        };
        if ordering != Ordering::Equal {
            return Ok(false);
        }
    }
    Ok(true)
}
