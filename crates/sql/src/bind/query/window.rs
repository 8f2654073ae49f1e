//! Windows and the functions over them.
//!
//! The value of a call gets a slot of its own behind those of the tables. A query with windows
//! consists of layers: a query that yields the rows, the operation that computes the windows over
//! them, and a query over the result with the select list, DISTINCT, ORDER BY and LIMIT.

use super::super::{Binder, Place, Scope};
use super::layers::layer_over;
use crate::ast::{self, FrameBound, FrameOffset, Over};
use crate::bind::function::bind_aggregate;
use crate::bind::texts::in_order;
use crate::bind::windows::{NOT_HERE, Resolved, UNNAMED, Windows, find, not_in_this_place, resolve};
use crate::error::{Result, SqlError};
use crate::expr::{self, Coercibility, Expr, Node};
use crate::plan::{
    Frame, FrameEdge, QueryBody, SelectPlan, SortKey, WindowFunction, WindowKind, WindowPlan, Windowed,
};
use types::{ColumnType, TypeCode, Value};

/// Binds a call with OVER. The result is the slot of its value.
pub(in crate::bind) fn bind_call(
    binder: &mut Binder<'_>,
    call: &ast::WindowCall,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let Some(windows) = place.windows else { return Err(not_in_this_place(call)) };
    if call.call.distinct {
        return Err(SqlError::not_supported("<window function>(DISTINCT ..)"));
    }
    let mut inside = Place { windows: None, aliases: &[], shown: &[], ..*place };
    let window = match &call.over {
        Over::Name(name) => {
            let (name, window) = find(windows.named, name)?;
            plan_of(binder, windows, &resolve(windows.named, name, window)?, &mut inside)?
        }
        Over::Window(window) => {
            plan_of(binder, windows, &resolve(windows.named, UNNAMED, window)?, &mut inside)?
        }
    };
    let function = bind_function(binder, call, windows.first_slot + windows.calls.get(), &mut inside)?;
    assert!(windows.calls.get() < windows.most_calls, "the parser has counted the calls");
    windows.calls.set(windows.calls.get() + 1);
    let value = Expr { node: Node::Slot(function.slot), ..function.result.clone() };
    windows.plans.borrow_mut()[window].functions.push(function);
    Ok(value)
}

/// Binds the named windows, which must be valid even if no function uses them.
pub(super) fn bind_named(
    binder: &mut Binder<'_>,
    windows: &Windows<'_>,
    place: &mut Place<'_>,
) -> Result<()> {
    for (name, window) in windows.named {
        plan_of(binder, windows, &resolve(windows.named, name, window)?, place)?;
    }
    Ok(())
}

/// Returns the position of the window's plan. An equal plan that exists already is used again.
fn plan_of(
    binder: &mut Binder<'_>,
    windows: &Windows<'_>,
    window: &Resolved<'_>,
    place: &mut Place<'_>,
) -> Result<usize> {
    let nested = |error: SqlError| match error.code {
        NOT_HERE => {
            let text = format!(
                "You cannot nest a window function in the specification of window '{}'.",
                window.name
            );
            SqlError::new(3595, text)
        }
        _ => error,
    };
    let mut keys = Vec::new();
    for written in window.partition_by {
        check_no_position(written, window.name)?;
        let mut place = Place { clause: "window partition by", ..*place };
        let expr = in_order(binder.expr(written, &mut place).map_err(nested)?);
        keys.push(SortKey { expr, descending: false });
    }
    let partition_keys = keys.len();
    for item in window.order_by {
        check_no_position(&item.expr, window.name)?;
        let mut place = Place { clause: "window order by", ..*place };
        let expr = in_order(binder.expr(&item.expr, &mut place).map_err(nested)?);
        keys.push(SortKey { expr, descending: item.descending });
    }
    let frame = bind_frame(binder, window, &keys[partition_keys..], place)?;
    let same_keys = |other: &WindowPlan| {
        let same = |(a, b): (&SortKey, &SortKey)| a.expr == b.expr && a.descending == b.descending;
        other.keys.len() == keys.len() && other.keys.iter().zip(&keys).all(same)
    };
    let mut plans = windows.plans.borrow_mut();
    let known = plans
        .iter()
        .position(|other| other.partition_keys == partition_keys && other.frame == frame && same_keys(other));
    Ok(known.unwrap_or_else(|| {
        plans.push(WindowPlan {
            name: window.name.to_owned(),
            keys,
            partition_keys,
            frame,
            functions: Vec::new(),
        });
        plans.len() - 1
    }))
}

fn check_no_position(written: &ast::Expr, window: &str) -> Result<()> {
    let ast::Expr::Literal(ast::Literal::Integer(_)) = written else { return Ok(()) };
    let text = format!(
        "Window '{window}': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use \
         expression."
    );
    Err(SqlError::new(3592, text))
}

/// Builds error 3586, which refuses the bound of a frame.
fn wrong_bound(window: &str) -> SqlError {
    let text = format!("Window '{window}': frame start or end is negative, NULL or of non-integral type");
    SqlError::new(3586, text)
}

fn bind_frame(
    binder: &mut Binder<'_>,
    window: &Resolved<'_>,
    order: &[SortKey],
    place: &mut Place<'_>,
) -> Result<Frame> {
    let Some(frame) = window.frame else {
        // Without ORDER BY all rows of a partition are peers, so that this frame is the whole
        // partition.
        return Ok(Frame { rows: false, start: FrameEdge::Unbounded, end: FrameEdge::CurrentRow });
    };
    use FrameBound::{CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding};
    match (&frame.start, &frame.end) {
        (UnboundedFollowing, _) => {
            let text = format!("Window '{}': frame start cannot be UNBOUNDED FOLLOWING.", window.name);
            return Err(SqlError::new(3584, text));
        }
        (_, UnboundedPreceding) => {
            let text = format!("Window '{}': frame end cannot be UNBOUNDED PRECEDING.", window.name);
            return Err(SqlError::new(3585, text));
        }
        (CurrentRow, Preceding(_)) | (Following(_), CurrentRow | Preceding(_)) => {
            return Err(wrong_bound(window.name));
        }
        _ => {}
    }
    let mut edge = |bound: &FrameBound| match bound {
        UnboundedPreceding | UnboundedFollowing => Ok(FrameEdge::Unbounded),
        CurrentRow => Ok(FrameEdge::CurrentRow),
        Preceding(offset) | Following(offset) => {
            let follows = matches!(bound, Following(_));
            match frame.rows {
                true => rows_edge(binder, window, offset, follows, place),
                false => range_edge(binder, window, order, (offset, follows), place),
            }
        }
    };
    Ok(Frame { rows: frame.rows, start: edge(&frame.start)?, end: edge(&frame.end)? })
}

fn rows_edge(
    binder: &mut Binder<'_>,
    window: &Resolved<'_>,
    offset: &FrameOffset,
    follows: bool,
    place: &mut Place<'_>,
) -> Result<FrameEdge> {
    if offset.unit.is_some() {
        let text = format!("Window '{}': INTERVAL can only be used with RANGE frames.", window.name);
        return Err(SqlError::new(3596, text));
    }
    let offset = binder.expr(&offset.amount, place)?;
    match offset.node {
        Node::Constant(Value::Int(0..) | Value::UInt(_)) | Node::Parameter(_) => {}
        _ => return Err(wrong_bound(window.name)),
    }
    Ok(FrameEdge::Rows { offset, follows })
}

fn is_temporal(ty: &ColumnType) -> bool {
    use TypeCode::{Date, Datetime, Datetime2, Time, Time2, Timestamp, Timestamp2};
    matches!(ty.code, Date | Datetime | Datetime2 | Time | Time2 | Timestamp | Timestamp2)
}

fn range_edge(
    binder: &mut Binder<'_>,
    window: &Resolved<'_>,
    order: &[SortKey],
    (written, follows): (&FrameOffset, bool),
    place: &mut Place<'_>,
) -> Result<FrameEdge> {
    let name = window.name;
    let [key] = order else { return Err(wrong_range_order(name)) };
    let temporal = is_temporal(&key.expr.ty);
    if !temporal && !expr::is_number(&key.expr.ty) {
        return Err(wrong_range_order(name));
    }
    if temporal && written.unit.is_none() {
        let text = format!(
            "Window '{name}' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed."
        );
        return Err(SqlError::new(3588, text));
    }
    if !temporal && written.unit.is_some() {
        let text = format!(
            "Window '{name}' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed."
        );
        return Err(SqlError::new(3589, text));
    }
    let offset = binder.expr(&written.amount, place)?;
    match &offset.node {
        Node::Constant(value) => {
            let number = expr::number(value);
            if value.is_null() || expr::double_of(&number) < 0.0 {
                return Err(wrong_bound(name));
            }
        }
        Node::Parameter(_) => {}
        _ => return Err(not_constant(name)),
    }
    // In descending order, preceding rows have greater keys.
    let subtract = follows == key.descending;
    let item = Box::new(window.order_by[0].expr.clone());
    let amount = Box::new(written.amount.clone());
    let limit = match written.unit {
        Some(unit) => ast::Expr::DateAdd { date: item, amount, unit, subtract },
        None => {
            let op = if subtract { ast::BinaryOp::Subtract } else { ast::BinaryOp::Add };
            ast::Expr::Binary(op, item, amount)
        }
    };
    Ok(FrameEdge::Range { limit: binder.expr(&limit, place)?, offset })
}

fn wrong_range_order(name: &str) -> SqlError {
    let text = format!(
        "Window '{name}' with RANGE N PRECEDING/FOLLOWING frame requires exactly one deterministic ORDER BY expression, \
         of numeric or temporal type"
    );
    SqlError::new(3587, text)
}

fn not_constant(name: &str) -> SqlError {
    SqlError::new(3590, format!("Window '{name}' has a non-constant frame bound."))
}

fn bind_function(
    binder: &mut Binder<'_>,
    call: &ast::WindowCall,
    slot: usize,
    place: &mut Place<'_>,
) -> Result<WindowFunction> {
    let value = |ty: ColumnType, nullable: bool| Expr {
        node: Node::Constant(Value::Null),
        ty,
        nullable,
        coercibility: Coercibility::Numeric,
    };
    let count = || value(expr::integer_type(expr::BIGINT_WIDTH, true), false);
    let share = || value(ColumnType::double(), false);
    let name = call.call.name.as_str();
    let kind = match name {
        "row_number" => WindowKind::RowNumber,
        "rank" => WindowKind::Rank,
        "dense_rank" => WindowKind::DenseRank,
        "percent_rank" => WindowKind::PercentRank,
        "cume_dist" => WindowKind::CumeDist,
        "ntile" => WindowKind::Ntile,
        "lag" => WindowKind::Lag,
        "lead" => WindowKind::Lead,
        "first_value" => WindowKind::FirstValue,
        "last_value" => WindowKind::LastValue,
        "nth_value" => WindowKind::NthValue,
        _ => {
            let aggregate = bind_aggregate(binder, &call.call, place)?;
            let mut result = aggregate.expr.clone();
            if result.ty.code == TypeCode::Year {
                result.ty = expr::column_type(&expr::made_year());
            }
            result.ty = expr::of_window(result.ty);
            let kind = WindowKind::Aggregate(Box::new(aggregate));
            return Ok(WindowFunction { kind, args: Vec::new(), result, slot });
        }
    };
    let mut args = Vec::with_capacity(call.call.args.len());
    for arg in &call.call.args {
        args.push(binder.expr(arg, place)?);
    }
    let is_wrong = match kind {
        WindowKind::Ntile => !is_count(&args[0], 1),
        WindowKind::NthValue => !is_count(&args[1], 1),
        WindowKind::Lag | WindowKind::Lead => args.get(1).is_some_and(|offset| !is_count(offset, 0)),
        _ => false,
    };
    if is_wrong {
        return Err(SqlError::new(1210, format!("Incorrect arguments to {name}")));
    }
    let result = match kind {
        WindowKind::PercentRank | WindowKind::CumeDist => share(),
        WindowKind::Lag | WindowKind::Lead => {
            let found = &args[0];
            match args.get(2) {
                Some(default) => {
                    let (ty, coercibility) = expr::common_type(&[found, default])?;
                    let nullable = found.nullable || default.nullable;
                    // A date or a time as a text has the digits of its own type.
                    for at in [0, 2] {
                        let arg = std::mem::replace(&mut args[at], Expr::constant(Value::Null));
                        args[at] = arg.for_result(&ty);
                    }
                    Expr { coercibility, ..value(ty, nullable) }
                }
                None => of_other_row(&mut args, value)?,
            }
        }
        WindowKind::FirstValue | WindowKind::LastValue | WindowKind::NthValue => {
            of_other_row(&mut args, value)?
        }
        WindowKind::Ntile if args[0].has_parameter() => Expr { nullable: true, ..count() },
        _ => count(),
    };
    let ty = match result.ty.is_integer() {
        true => expr::kept_integer(&result.ty),
        false if result.ty.code == TypeCode::Year => expr::column_type(&expr::made_year()),
        false => expr::of_window(result.ty.without_zerofill()),
    };
    Ok(WindowFunction { kind, args, result: Expr { ty, ..result }, slot })
}

/// Returns the result of a function that finds the first argument in another row. A member of an
/// ENUM or a SET becomes a text.
fn of_other_row(args: &mut [Expr], value: impl Fn(ColumnType, bool) -> Expr) -> Result<Expr> {
    let coercibility = args[0].coercibility;
    if matches!(args[0].ty.code, TypeCode::Enum | TypeCode::Set) {
        let (ty, _) = expr::common_type(&[&args[0]])?;
        let found = std::mem::replace(&mut args[0], Expr::constant(Value::Null));
        args[0] = found.for_result(&ty);
        return Ok(Expr { coercibility, ..value(ty, true) });
    }
    Ok(Expr { coercibility, ..value(args[0].ty.clone(), true) })
}

/// Reports whether an argument is an integer of at least `least`, or may become one when the
/// statement runs.
fn is_count(arg: &Expr, least: i64) -> bool {
    match &arg.node {
        Node::Constant(Value::Int(n)) => *n >= least,
        Node::Constant(Value::UInt(_)) | Node::Parameter(_) | Node::UserVariable(_) => true,
        _ => false,
    }
}

/// Puts a query with windows in layers. `all` describes its slots.
pub(super) fn in_layers(plan: SelectPlan, windows: Vec<WindowPlan>, all: &[Expr]) -> SelectPlan {
    let mut used = Vec::new();
    windows.iter().for_each(|window| window.visit(&mut |expr| expr.slots(&mut used)));
    let values: Vec<usize> =
        windows.iter().flat_map(|window| &window.functions).map(|function| function.slot).collect();
    let width = all.len();
    layer_over(plan, all, width, used, &values, |input| {
        QueryBody::Windowed(Box::new(Windowed { input, windows }))
    })
}

/// Returns a description of the slots of a query: the columns of its tables, the values of
/// functions over windows, and the aggregates.
pub(super) fn in_slots(plan: &SelectPlan, windows: &[WindowPlan], scope: &Scope) -> Vec<Expr> {
    let null = || Expr::constant(Value::Null);
    let columns = scope.tables.iter().flat_map(|table| (0..table.columns.len()).map(|at| table.column(at)));
    let mut all: Vec<Expr> = columns.collect();
    all.resize_with(plan.slots, null);
    for function in windows.iter().flat_map(|window| &window.functions) {
        all[function.slot] = function.result.clone();
    }
    let aggregates = plan.grouping.iter().flat_map(|grouping| &grouping.aggregates);
    all.extend(aggregates.map(|aggregate| aggregate.expr.clone()));
    all
}
