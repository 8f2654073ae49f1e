//! Binding of SELECT.

use super::clauses::{Behind, Items, META_BYTES, Stands, limit, position};
use super::dependence::{self, Written};
use super::grouping::{bind_group_by, check_no_aggregates, index_ends};
use super::hints::BlockHints;
use super::indexed::IndexedExpressions;
use super::indexed_arrays::IndexedArrays;
use super::merge::{Merged, merge};
use super::row_locks::{check_row_locks, set_locks};
use super::unnest::unnest;
use super::{rollup, window};
use crate::ast::{self, LockStrength, SelectItem};
use crate::bind::searched;
use crate::bind::texts::in_order;
use crate::bind::windows::Windows;
use crate::bind::zero_dates::{find_made_zero_dates, find_zero_dates, find_zero_dates_of_mariadb};
use crate::bind::{
    Aggregates, Binder, ColumnAt, Frame, NODE_BYTES, Place, Scope, ScopeTable, TableUse, WantedColumns,
};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, MayEqual, Node, column_type, comparison_collation, is_same_for_each_row, is_text};
use crate::host::Privilege;
use crate::memory::allocated;
use crate::optimize::Freedom;
use crate::plan::{
    Grouping, QueryBody, QueryPlan, RowLock, SelectPlan, SortKey, Source, TableStep, WindowPlan, Wish,
    conjuncts,
};
use crate::sink::{ColumnMeta, column_flag};
use crate::variables::Switch;
use std::ops::Range;
use types::TypeCode;

/// Adds those of the columns to the select list that are not INVISIBLE.
fn visible_of(
    binder: &mut Binder<'_>,
    scope: &Scope,
    columns: impl Iterator<Item = ColumnAt>,
    items: &mut Items,
) -> Result<()> {
    for (table, at) in columns {
        let table = &scope.tables[table];
        let column = &table.columns[at];
        if !column.invisible {
            binder.may_make(NODE_BYTES + 2 * size_of::<String>() + allocated(column.name.len()))?;
            items.outputs.push(table.column(at));
            items.names.push(column.name.clone());
        }
    }
    Ok(())
}

/// The largest number of bytes of an expression's text that serve as the name of its column.
const MOST_NAME_BYTES: usize = 256;

/// The bytes charged for a query besides its expressions. The list that holds its plan may have
/// room for twice as many.
const SELECT_BYTES: usize = size_of::<SelectPlan>() + 2 * size_of::<(QueryPlan, bool)>() + 64;

/// Returns the error for `*` if the account may not read some of the table's columns.
fn check_all_readable(binder: &Binder<'_>, table: &ScopeTable) -> Result<()> {
    if table.readable {
        return Ok(());
    }
    let visible = table.columns.iter().filter(|column| !column.invisible);
    let mut names = visible.map(|column| column.org_name.as_str());
    binder.view.rights.check_all_columns(Privilege::Select, &table.schema, &table.org_table, &mut names)
}

fn bind_items(
    binder: &mut Binder<'_>,
    written: &[SelectItem],
    scope: &Scope,
    (aggregates, windows): (&Aggregates, &Windows<'_>),
    outer: Option<&Frame<'_>>,
) -> Result<Items> {
    let mut items = Items { outputs: Vec::new(), names: Vec::new(), aliases: Vec::new() };
    for item in written {
        match item {
            SelectItem::All if scope.tables.is_empty() => return Err(SqlError::new(1096, "No tables used")),
            SelectItem::All => {
                for table in &scope.tables {
                    check_all_readable(binder, table)?;
                }
                visible_of(binder, scope, scope.all_columns().into_iter(), &mut items)?;
            }
            SelectItem::AllOf { schema, table } => {
                let named = scope.tables.iter().position(|scope_table| {
                    scope_table.alias == *table
                        && schema.as_ref().is_none_or(|schema| *schema == scope_table.schema)
                });
                let Some(named) = named else {
                    return Err(SqlError::new(1051, format!("Unknown table '{table}'")));
                };
                check_all_readable(binder, &scope.tables[named])?;
                let columns = 0..scope.tables[named].columns.len();
                visible_of(binder, scope, columns.map(|column| (named, column)), &mut items)?;
            }
            SelectItem::Expr { expr, alias, text } => {
                let mut place = Place::within(outer, scope, "field list");
                place.aggregates = Some(aggregates);
                place.windows = Some(windows);
                place.shown = &items.aliases;
                let bound = binder.expr(expr, &mut place)?;
                let name = match (alias, expr) {
                    (Some(alias), _) => alias.clone(),
                    (None, ast::Expr::Column { name, .. }) => {
                        scope.name_of_view_column(&bound).unwrap_or(name).to_owned()
                    }
                    (None, _) => own_name(expr, text),
                };
                binder.may_make(2 * size_of::<String>() + allocated(name.len()))?;
                if let Some(alias) = alias {
                    items.aliases.push((alias.clone(), binder.copied(&bound)?));
                }
                items.outputs.push(bound);
                items.names.push(name);
            }
        }
    }
    Ok(items)
}

/// Returns the name of a column without an alias. `NAME_CONST(name, value)` gives its own.
// Its frame must not become a part of `bind_select`, which is in the recursion through subqueries.
#[inline(never)]
fn own_name(expr: &ast::Expr, text: &str) -> String {
    given_name(expr).unwrap_or_else(|| text[..text.floor_char_boundary(MOST_NAME_BYTES)].to_owned())
}

fn given_name(expr: &ast::Expr) -> Option<String> {
    let ast::Expr::Function(call) = expr else { return None };
    match call.args.first() {
        Some(ast::Expr::Literal(name)) if call.name == "name_const" => match name {
            ast::Literal::Text(name, _) => Some(String::from_utf8_lossy(name).into_owned()),
            ast::Literal::Integer(name) => Some(name.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Adds the columns that ON DUPLICATE KEY UPDATE names to the outputs. As in MySQL, the query's
/// tables must not be grouped. With DISTINCT, only columns that the query selects are added, so
/// that the same rows stay distinct.
// The frame of `bind_select`, which is in the recursion through subqueries, has to stay small.
#[inline(never)]
fn give_wanted(
    binder: &mut Binder<'_>,
    wanted: &mut WantedColumns,
    scope: &Scope,
    items: &mut Items,
    distinct: bool,
) -> Result<()> {
    let selected = &items.outputs;
    for (output, name) in wanted.look_up(scope, |expr| !distinct || selected.contains(expr)) {
        binder.view.check_readable(&output, scope)?;
        binder.may_make(NODE_BYTES + 2 * size_of::<String>() + allocated(name.len()))?;
        items.outputs.push(output);
        items.names.push(name);
    }
    Ok(())
}

pub(super) fn bind_select(
    binder: &mut Binder<'_>,
    select: &ast::Select,
    behind: Behind<'_>,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    let Behind { order_by, limit: written_limit, locks, stands } = behind;
    let is_table = stands == Stands::AsTable;
    let needle = outer.and_then(|frame| frame.needle.take());
    binder.may_make(SELECT_BYTES)?;
    let opening = binder.next.opening.take();
    let wanted = match stands == Stands::Alone && outer.is_none() {
        true => binder.next.wanted.take(),
        false => None,
    };
    let to_change = locks.iter().any(|clause| clause.strength == LockStrength::Update);
    let table_use = match (opening, to_change) {
        (Some(opening), _) => opening.table_use,
        (None, true) => TableUse::Lock,
        (None, false) if locks.is_empty() => TableUse::Read,
        (None, false) => TableUse::Share,
    };
    let hints = BlockHints::of(binder, select);
    let (scope, mut from) = binder.from(select.from.as_ref(), table_use, outer)?;
    check_row_locks(binder.host, &from, &scope, locks)?;
    let mut filter = Vec::new();
    if let Some(written) = &select.filter {
        let mut place = Place::within(outer, &scope, "where clause");
        conjuncts(binder.expr(written, &mut place)?, &mut filter);
        find_zero_dates(binder, &scope, outer, &mut filter);
    }
    let semijoin = hints.semijoin();
    let is_fixed = from.take_hints(binder, &hints) || select.straight;
    let freedom = match (binder.around.keeps_order || !locks.is_empty(), is_fixed) {
        (true, _) => Freedom::None,
        (false, true) => Freedom::Methods,
        (false, false) => Freedom::All,
    };
    let kept = match dependence::must_keep(binder, &from, &filter, is_table || outer.is_some()) {
        true => Some(Written::of(binder, &mut from, &filter)?),
        false => None,
    };
    let mut slots = scope.slots();
    let merges = (freedom == Freedom::All || table_use != TableUse::Read)
        && select.most_window_calls == 0
        && !select.rollup;
    let own_conditions = match opening {
        Some(opening) => opening.own_conditions(binder, &from, &filter)?,
        None => Vec::new(),
    };
    let mut merged = match merges {
        true => merge(binder, &mut from, &mut filter, &mut slots, &scope, freedom != Freedom::All)?,
        false => Merged::default(),
    };
    find_made_zero_dates(binder, &scope, &from, &mut filter);
    let checks = match opening {
        Some(opening) => Some(opening.checks(binder, own_conditions, &merged, (&from, &filter))?),
        None => None,
    };
    if freedom != Freedom::None && opening.is_none() {
        unnest(binder, &mut filter, &mut from, &mut slots)?;
    }
    // The values of functions over windows have their slots behind those of the tables.
    let mut windows = Windows::new(select, slots)?;
    slots += select.most_window_calls;
    let aggregates = Aggregates::new(slots);
    let mut items = bind_items(binder, &select.items, &scope, (&aggregates, &windows), outer)?;
    let mut in_windows = Place::within(outer, &scope, "window order by");
    in_windows.aggregates = Some(&aggregates);
    window::bind_named(binder, &windows, &mut in_windows)?;
    let keys = bind_group_by(binder, select, &scope, &items, outer)?;
    check_no_windows(keys.iter(), &windows, &items)?;
    check_no_aggregates(&keys, &aggregates, &items)?;
    let mut having = match &select.having {
        None => None,
        Some(written) => {
            let mut place = Place::within(outer, &scope, "having clause");
            place.aliases = &items.aliases;
            place.aggregates = Some(&aggregates);
            let named = named_slots(items.outputs.iter().chain(&keys));
            place.only = Some(&named);
            let mut bound = binder.expr(written, &mut place)?;
            find_zero_dates_of_mariadb(binder, &scope, outer, std::slice::from_mut(&mut bound));
            Some(bound.numeric())
        }
    };
    check_no_windows(having.iter(), &windows, &items)?;
    let is_grouped = !keys.is_empty() || !aggregates.found.borrow().is_empty();
    let mut order = bind_order(binder, order_by, &scope, &items, (&aggregates, &windows), outer)?;
    if let Some(mut wanted) = wanted {
        if !is_grouped && having.is_none() {
            give_wanted(binder, &mut wanted, &scope, &mut items, select.distinct)?;
        }
        binder.next.wanted = Some(wanted);
    }
    if !is_grouped && !binder.meaning.of_mariadb {
        dependence::check_order_of_plain(order.iter().map(|key| &key.expr), slots)?;
    }
    let found = aggregates.found.into_inner();
    let bound = dependence::Bound {
        scope: &scope,
        items: &items,
        keys: is_grouped.then_some(&keys[..]),
        having: having.as_ref(),
        order: &order,
        windows: &windows,
        aggregates: slots..slots + found.len(),
        distinct: select.distinct,
        rollup: select.rollup,
        has_limit: written_limit.is_some(),
        is_part: stands == Stands::InUnion,
    };
    let derivation = bound.check(binder, kept, (&mut from, &filter), outer, is_table)?;
    let mut grouping = is_grouped.then_some(Grouping { keys, aggregates: found, is_in_order: false });
    let aggregates = grouping.as_ref().map_or(0, |grouping| grouping.aggregates.len());
    let keys = grouping.as_ref().map_or(&[][..], |grouping| &grouping.keys);
    let key_slots = select.rollup.then(|| {
        let first = slots + aggregates;
        rollup::KeySlots { first, count: first + keys.len() }
    });
    let mut grouped = rollup::Grouped {
        outputs: &mut items.outputs,
        having: having.as_mut(),
        order: &mut order,
        windows: windows.plans_mut(),
    };
    rollup::resolve(keys, key_slots, &mut grouped)?;
    let windows = windows.into_plans();
    let limit = limit(binder, written_limit)?;
    binder.may_make(items.outputs.len() * META_BYTES)?;
    let columns = items
        .outputs
        .iter()
        .zip(&items.names)
        .map(|(expr, name)| merged.describe(&scope, expr, name))
        .collect();
    if grouping.is_none() && having.is_none() && !select.distinct && order.is_empty() {
        order.append(&mut merged.order);
    }
    // As in MySQL, such keys are not computed, so that they cause no warnings and no errors.
    order.retain(|key| !is_same_for_each_row(&key.expr));
    let sorted = order.iter_mut().map(|key| &mut key.expr);
    merged.expand_all(binder, items.outputs.iter_mut().chain(&mut having).chain(sorted))?;
    if let Some(grouping) = &mut grouping {
        merged.expand_all(binder, grouping.keys.iter_mut())?;
        merged.expand_aggregates(binder, &mut grouping.aggregates)?;
    }
    let keys = order.iter_mut().map(|key| &mut key.expr);
    searched::resolve(&from.tables, items.outputs.iter_mut().chain(&mut having).chain(keys))?;
    if let Some(grouping) = &mut grouping {
        let args = grouping.aggregates.iter_mut().flat_map(|aggregate| &mut aggregate.args);
        searched::resolve(&from.tables, grouping.keys.iter_mut().chain(args))?;
    }
    if let (true, None, true, [_]) =
        (order.is_empty(), &grouping, outer.is_none() && !is_table, &from.tables[..])
        && windows.is_empty()
        && let Some(search) = searched::order_of(&filter)
    {
        order.push(SortKey { expr: binder.copied(search)?, descending: true });
        let keys = order.iter_mut().map(|key| &mut key.expr);
        searched::resolve(&from.tables, keys)?;
    }
    let is_plain = grouping.is_none() && select.having.is_none() && windows.is_empty() && limit.is_none();
    let may_join = (outer.is_some() || is_table) && is_plain && freedom == Freedom::All;
    let opened = checks.filter(|_| opening.is_some_and(|opening| opening.suits(select, &items.outputs)));
    let unplanned = match may_join && !select.calc_found_rows || is_plain && opened.is_some() {
        true if from.before.is_empty() => {
            let as_table = is_table.then(|| order.clone());
            from.unplanned(binder, (&filter, &items.outputs), slots, (as_table, semijoin), opened)?
        }
        _ => None,
    };
    if let (Some(needle), Some(frame), [output]) = (needle, outer, &items.outputs[..])
        && frame.is_correlated()
        && is_plain
    {
        filter.push(looked_for(frame, binder.copied(output)?, needle)?);
    }
    let arrays = IndexedArrays::of(binder, &from.tables);
    if !arrays.is_empty() {
        arrays.put_into_conditions(binder, filter.iter_mut());
    }
    let indexed = IndexedExpressions::of(binder, &from.tables);
    if !indexed.is_empty() {
        indexed.put_into_conditions(filter.iter_mut());
        if grouping.is_none() && !select.distinct {
            indexed.put_into_order(&mut order);
        }
    }
    let needed = match &from.tables[..] {
        [only] if matches!(only.source, Source::Stored { .. }) => {
            let mut slots = Vec::new();
            filter.iter().for_each(|condition| condition.slots(&mut slots));
            visit_plan(&items.outputs, &order, having.as_ref(), grouping.as_ref(), &mut |expr| {
                expr.slots(&mut slots);
            });
            windows.iter().for_each(|window| window.visit(&mut |expr| expr.slots(&mut slots)));
            let own = only.base..only.base + only.columns;
            Some(slots.into_iter().filter(|slot| own.contains(slot)).map(|slot| slot - own.start).collect())
        }
        _ => None,
    };
    let ranges: Vec<_> = from.tables.iter().map(|leaf| leaf.base..leaf.base + leaf.columns).collect();
    let has_limit = limit.is_some() && binder.variables.switches.is_on(Switch::PreferOrderingIndex);
    let wish = |base: usize| match ranges.iter().find(|range| range.start == base) {
        Some(range) if grouping.is_none() && windows.is_empty() && !select.distinct => {
            Wish { needed: needed.clone(), ..wish_of(&order, range, has_limit) }
        }
        _ => Wish { needed: needed.clone(), ..Wish::default() },
    };
    let no_filter = filter.is_empty() && from.tables.len() == 1;
    let (mut tables, preconditions) = binder.steps(from, filter, freedom, wish)?;
    let ordered_by_access = matches!(
        tables.first(),
        Some(TableStep { source: Source::Stored { access, .. }, .. }) if access.ordered && !order.is_empty()
    );
    if let Some(opening) = opening {
        tables.iter_mut().for_each(|step| step.lock = opening.row_lock());
    }
    set_locks(&mut tables, &scope, &merged, locks)?;
    // The ends of indexes say nothing about other columns, which ANY_VALUE() may ask for.
    let read = items.outputs.iter().chain(&having).chain(order.iter().map(|key| &key.expr));
    let reads_rows = read_slots(read).iter().any(|slot| *slot < slots);
    let index_ends = grouping
        .as_ref()
        .filter(|grouping| no_filter && grouping.keys.is_empty() && locks.is_empty() && !reads_rows)
        .and_then(|grouping| index_ends(&tables, grouping));
    let is_kept = !windows.is_empty() || select.rollup && (select.distinct || !order.is_empty());
    let mut columns = as_kept(columns, &items.outputs, is_kept, |output| match &grouping {
        _ if is_kept => true,
        Some(grouping) => {
            let is_kept_year =
                output.ty.code == TypeCode::Year && output.ty.form.is_some_and(|form| form.is_kept());
            let is_kept = is_kept_year || output.ty.is_made_char();
            grouping.keys.contains(output) || is_kept && !grouping.keys.is_empty()
        }
        None => select.distinct && !read_slots(std::iter::once(output)).is_empty(),
    });
    if let Some(grouping) = &mut grouping {
        grouping.is_in_order = grouping.follows(&tables);
    }
    let mut plan = SelectPlan {
        slots,
        tables: Vec::new(),
        preconditions,
        grouping,
        index_ends,
        having,
        outputs: items.outputs,
        order,
        ordered_by_access,
        distinct: select.distinct,
        limit,
        calc_found_rows: select.calc_found_rows,
        unplanned,
        derivation: None,
    };
    mark_needed(&mut tables, &plan, &windows);
    assert_eq!(plan.outputs.len(), columns.len(), "each column of the result is computed");
    debug_assert!(
        select.rollup || !windows.is_empty() || reads_own_slots(&plan),
        "each expression is computed from slots of the query's rows"
    );
    plan.tables = tables;
    if select.rollup || !windows.is_empty() {
        let mut all = window::in_slots(&plan, &windows, &scope);
        if select.rollup {
            plan = rollup::in_layers(plan, &mut all);
            rollup::show_made_years(&plan, &all, &mut columns);
        }
        if !windows.is_empty() {
            plan = window::in_layers(plan, windows, &all);
        }
    }
    plan.derivation = derivation;
    Ok(QueryPlan { columns, body: QueryBody::Select(Box::new(plan)) })
}

/// Reports whether the outputs, HAVING and the order are computed from the slots of the query's
/// rows: those of the tables, and behind them those of the aggregates.
fn reads_own_slots(plan: &SelectPlan) -> bool {
    let aggregates = plan.grouping.as_ref().map_or(0, |grouping| grouping.aggregates.len());
    let width = plan.slots + aggregates;
    let keys = plan.order.iter().map(|key| &key.expr);
    read_slots(plan.outputs.iter().chain(&plan.having).chain(keys)).iter().all(|slot| *slot < width)
}

/// Returns the slots of those of the expressions that are columns.
fn named_slots<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Vec<usize> {
    let slot = |expr: &Expr| match expr.node {
        Node::Slot(slot) => Some(slot),
        _ => None,
    };
    exprs.filter_map(slot).collect()
}

/// The characters of the longest computed integers that MySQL keeps as INT before they are sent.
const MOST_CHARS_OF_KEPT_INT: u32 = 9;

/// Returns the descriptions of columns, of which some are kept in a table before they are sent:
/// documents are then described as those of a table, and computed years are integers. `is_whole`
/// says that the rows as a whole are kept, so that texts have no decimals.
fn as_kept(
    mut columns: Vec<ColumnMeta>,
    outputs: &[Expr],
    is_whole: bool,
    is_kept: impl Fn(&Expr) -> bool,
) -> Vec<ColumnMeta> {
    for (column, output) in columns.iter_mut().zip(outputs).filter(|(_, output)| is_kept(output)) {
        if column.ty.is_made_char() {
            column.ty = column_type(&column.ty);
            column.decimals = 0;
        }
        match column.ty.code {
            _ if column.ty.is_character() && is_whole => column.decimals = 0,
            TypeCode::Json => {
                column.flags |= column_flag::BLOB;
                column.decimals = 0;
            }
            TypeCode::Year if column.ty.form.is_some() => column.ty = column_type(&column.ty),
            // A small integer that an operation makes is kept as an INT. A constant is not kept.
            TypeCode::LongLong if column.org_name.is_empty() => {
                let is_constant = matches!(output.node, Node::Constant(_));
                if !is_constant && column.ty.display_length() <= MOST_CHARS_OF_KEPT_INT {
                    column.ty = column_type(&column.ty);
                }
            }
            _ => {}
        }
    }
    columns
}

/// Returns error 3594 when an alias of a window's value is used where that value is not computed
/// yet.
fn check_no_windows<'e>(
    mut exprs: impl Iterator<Item = &'e Expr>,
    windows: &Windows<'_>,
    items: &Items,
) -> Result<()> {
    if !exprs.any(|expr| windows.are_in(expr)) {
        return Ok(());
    }
    let alias = items.aliases.iter().find(|(_, expr)| windows.are_in(expr));
    let alias = alias.map_or("", |(alias, _)| alias);
    let text = format!(
        "You cannot use the alias '{alias}' of an expression containing a window function in this context.'"
    );
    Err(SqlError::new(3594, text))
}

/// Returns the condition of those rows of a subquery that decide whether `needle` is among them:
/// the rows that equal it, and those for which the comparison yields NULL.
fn looked_for(frame: &Frame<'_>, output: Expr, needle: Expr) -> Result<Expr> {
    let is_known = !output.nullable && !needle.nullable;
    let operands = [output, frame.argument(needle)];
    let collation = match operands.iter().all(|operand| is_text(&operand.ty)) {
        true => comparison_collation("=", operands.iter().rev())?,
        false => types::collation::UTF8MB4_0900_AI_CI,
    };
    let node = match is_known {
        true => Node::Compare { op: ast::BinaryOp::Equal, operands: Box::new(operands), collation },
        false => Node::MayEqual(Box::new(MayEqual { operands, collation })),
    };
    let (ty, coercibility) = (types::ColumnType::int(false), crate::expr::Coercibility::Numeric);
    Ok(Expr { node, ty, nullable: false, coercibility })
}

fn bind_order(
    binder: &mut Binder<'_>,
    order_by: &[ast::OrderItem],
    scope: &Scope,
    items: &Items,
    (aggregates, windows): (&Aggregates, &Windows<'_>),
    outer: Option<&Frame<'_>>,
) -> Result<Vec<SortKey>> {
    let mut order = Vec::new();
    for item in order_by {
        const CLAUSE: &str = "order clause";
        let listed = match (&item.expr, position(&item.expr, items.outputs.len())?) {
            (_, Some(at)) => Some(&items.outputs[at]),
            (ast::Expr::Column { table: None, name, .. }, None) => items.named(name, CLAUSE)?,
            _ => None,
        };
        let expr = match listed {
            Some(listed) => binder.copied(listed)?,
            None => {
                let mut place = Place::within(outer, scope, CLAUSE);
                place.aliases = &items.aliases;
                place.columns_first = true;
                place.aggregates = Some(aggregates);
                place.windows = Some(windows);
                binder.expr(&item.expr, &mut place)?
            }
        };
        order.push(SortKey { expr: in_order(expr), descending: item.descending });
    }
    Ok(order)
}

/// Returns the order as columns of the table with these slots. It is empty if any key is something
/// else.
pub(in crate::bind) fn wish_of(order: &[SortKey], slots: &Range<usize>, has_limit: bool) -> Wish {
    let mut wish = Wish { order: Vec::new(), has_limit, needed: None };
    for key in order {
        match key.expr.node {
            Node::Slot(slot) if slots.contains(&slot) => {
                wish.order.push((slot - slots.start, key.descending));
            }
            _ => return Wish::default(),
        }
    }
    wish
}

/// Notes which columns of each table the expressions need, and whether the index that is read has
/// all of them.
fn mark_needed(tables: &mut [TableStep], plan: &SelectPlan, windows: &[WindowPlan]) {
    let mut slots = Vec::new();
    let mut take = |expr: &Expr| expr.slots(&mut slots);
    let SelectPlan { outputs, order, having, grouping, .. } = plan;
    visit_plan(outputs, order, having.as_ref(), grouping.as_ref(), &mut take);
    windows.iter().for_each(|window| window.visit(&mut take));
    mark_used(tables, slots);
}

/// Calls `f` for each expression that is computed from the rows that meet the conditions.
fn visit_plan(
    outputs: &[Expr],
    order: &[SortKey],
    having: Option<&Expr>,
    grouping: Option<&Grouping>,
    f: &mut dyn FnMut(&Expr),
) {
    outputs.iter().chain(having).for_each(&mut *f);
    order.iter().for_each(|key| f(&key.expr));
    if let Some(grouping) = grouping {
        grouping.keys.iter().for_each(&mut *f);
        grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args).for_each(f);
    }
}

/// Notes which columns of each table are needed: those with these slots, and those that the
/// conditions and ranges use.
pub(in crate::bind) fn mark_used(tables: &mut [TableStep], mut slots: Vec<usize>) {
    let mut of_answered = Vec::new();
    // The slots that the conditions of each step read.
    let mut of_conditions: Vec<Vec<usize>> = Vec::with_capacity(tables.len());
    let mut take = |expr: &Expr| expr.slots(&mut slots);
    // The slots that are read only while hash tables are filled, each by its own one.
    let mut of_filling = Vec::new();
    for step in tables.iter() {
        for nest in &step.nests {
            nest.guards.iter().chain(&nest.conditions).for_each(&mut take);
        }
        if let Some(hash) = &step.hash {
            hash.conditions.iter().for_each(|condition| condition.slots(&mut of_filling));
            of_filling.extend(hash.keys.iter().map(|key| key.own));
        }
        of_conditions.push(read_slots(step.conditions.iter()));
        for (at, condition) in step.conditions.iter().enumerate() {
            if step.answered.has(at) {
                condition.slots(&mut of_answered);
            }
        }
        match &step.source {
            Source::Subquery(call) => call.args.iter().for_each(&mut take),
            Source::JsonTable(table) => take(&table.document),
            _ => {}
        }
        if let Source::Stored { access, .. } = &step.source {
            for condition in &access.alternatives {
                condition.equals.iter().for_each(|(expr, _)| take(expr));
                condition.list.iter().flatten().for_each(&mut take);
                condition.low.iter().chain(&condition.high).for_each(|(expr, _)| take(expr));
                condition.search.iter().chain(&condition.near).for_each(&mut take);
            }
        }
    }
    slots.extend(tables.iter().flat_map(|step| &step.hash).flat_map(|hash| &hash.keys).map(|key| key.other));
    let kept = all_but(tables.len(), &slots, &of_conditions);
    slots.append(&mut of_filling);
    let beside: Vec<Vec<usize>> = (0..tables.len()).map(|at| all_but(at, &slots, &of_conditions)).collect();
    for step in tables.iter() {
        let unanswered = step.conditions.iter().enumerate().filter(|(at, _)| !step.answered.has(*at));
        unanswered.for_each(|(_, condition)| condition.slots(&mut slots));
    }
    slots.sort_unstable();
    slots.dedup();
    let unanswered = slots.clone();
    if !of_answered.is_empty() {
        slots.append(&mut of_answered);
        slots.sort_unstable();
        slots.dedup();
    }
    for (step, beside) in tables.iter_mut().zip(beside) {
        let own = step.base..step.base + step.columns;
        let columns = |slots: &[usize]| -> Vec<usize> {
            slots.iter().filter(|slot| own.contains(slot)).map(|slot| slot - step.base).collect()
        };
        (step.needed, step.needed_if_exact) = (columns(&slots), columns(&unanswered));
        step.needed_beside_conditions = Some(columns(&beside));
        step.kept_by_hash = step.hash.as_ref().map(|_| columns(&kept));
        step.note_padding();
        if let Source::Stored { table, access } = &step.source
            && step.lock == RowLock::NONE
        {
            step.covering = table.entry_reader(access.index, &step.needed);
        }
    }
}

/// Returns the slots that are read by something beside the conditions of the step `at`: those in
/// `slots`, and those of the other steps' conditions.
fn all_but(at: usize, slots: &[usize], of_conditions: &[Vec<usize>]) -> Vec<usize> {
    let others = of_conditions.iter().enumerate().filter(|(other, _)| *other != at);
    let mut all: Vec<usize> = slots.iter().chain(others.flat_map(|(_, slots)| slots)).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the slots that expressions read.
fn read_slots<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Vec<usize> {
    let mut slots = Vec::new();
    exprs.for_each(|expr| expr.slots(&mut slots));
    slots
}
