//! SELECT and UNION.

use super::logging::Unsafe;
use super::{AggregateSink, Binder, Place, Scope, ScopeTable};
use crate::ast::{self, IndexHint, JoinKind, LockClause, LockStrength, LockWait, SelectItem, TableRef};
use crate::error::{Result, SqlError};
use crate::expr::{Aggregate, AggregateKind, Coercibility, Expr, Node, common_type};
use crate::plan::{
    Access, Grouping, IndexEnds, LimitPlan, QueryBody, QueryPlan, RowLock, SelectPlan, SortKey, Source,
    TableStep, Wish, choose, conjuncts,
};
use crate::sink::ColumnMeta;
use engine::{Direction, IndexRef, LockMode, OnLocked};
use types::{ColumnType, Value};

/// A table of FROM before its access is chosen.
pub(super) struct Bound {
    pub source: Source,
    hints: Vec<IndexHint>,
    /// LEFT JOIN's conditions.
    outer: Option<Vec<Expr>>,
}

/// FROM: its tables in the order of the loops, with the position of each in the scope, and the inner joins' conditions.
#[derive(Default)]
pub(super) struct From {
    pub tables: Vec<(usize, Bound)>,
    conditions: Vec<Expr>,
}

/// Binds a query.
pub(crate) fn bind_query(binder: &mut Binder<'_>, query: &ast::Query) -> Result<QueryPlan> {
    match &query.body {
        ast::QueryBody::Select(select) => bind_select(binder, select, query),
        ast::QueryBody::Nested(inner) if query.order_by.is_empty() && query.limit.is_none() => {
            bind_query(binder, inner)
        }
        body => bind_union(binder, body, query),
    }
}

pub(super) fn limit(binder: &mut Binder<'_>, written: Option<&ast::Limit>) -> Result<Option<LimitPlan>> {
    let Some(written) = written else { return Ok(None) };
    binder.logging.reasons.insert(Unsafe::Limit);
    let scope = Scope::default();
    let mut place = Place::new(&scope, "limit clause");
    let count = binder.expr(&written.count, &mut place)?;
    let offset = written.offset.as_ref().map(|offset| binder.expr(offset, &mut place)).transpose()?;
    Ok(Some(LimitPlan { count, offset }))
}

fn flatten<'q>(body: &'q ast::QueryBody, distinct: bool, into: &mut Vec<(&'q ast::QueryBody, bool)>) {
    match body {
        ast::QueryBody::Union { left, right, all } => {
            flatten(left, distinct, into);
            into.push((right, !all));
        }
        other => into.push((other, distinct)),
    }
}

fn bind_union(binder: &mut Binder<'_>, body: &ast::QueryBody, query: &ast::Query) -> Result<QueryPlan> {
    let mut written = Vec::new();
    flatten(body, false, &mut written);
    let mut branches: Vec<(QueryPlan, bool)> = Vec::new();
    for (body, distinct) in written {
        let plan = match body {
            ast::QueryBody::Nested(inner) => bind_query(binder, inner)?,
            body => {
                let bare = ast::Query {
                    body: body.clone(),
                    order_by: Vec::new(),
                    limit: None,
                    locks: query.locks.clone(),
                };
                bind_query(binder, &bare)?
            }
        };
        if branches.first().is_some_and(|(first, _)| first.columns.len() != plan.columns.len()) {
            return Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"));
        }
        branches.push((plan, distinct));
    }
    let columns = union_columns(&branches)?;
    let scope = Scope { tables: vec![ScopeTable::computed("", "", "", &columns, 0)] };
    let mut order = Vec::new();
    for item in &query.order_by {
        let expr = match position(&item.expr, columns.len())? {
            Some(at) => scope.tables[0].column(at),
            None => binder.expr(&item.expr, &mut Place::new(&scope, "order clause"))?,
        };
        order.push(SortKey { expr, descending: item.descending });
    }
    let limit = limit(binder, query.limit.as_ref())?;
    Ok(QueryPlan { columns, body: QueryBody::Union { branches, order, limit } })
}

/// The names of the first query, and types that hold the values of all.
fn union_columns(branches: &[(QueryPlan, bool)]) -> Result<Vec<ColumnMeta>> {
    let first = &branches[0].0.columns;
    if branches.len() == 1 {
        return Ok(first.clone());
    }
    let mut columns = Vec::with_capacity(first.len());
    for (at, named) in first.iter().enumerate() {
        let exprs: Vec<Expr> = branches
            .iter()
            .map(|(plan, _)| Expr {
                node: Node::Constant(Value::Null),
                ty: plan.columns[at].ty.clone(),
                nullable: plan.columns[at].flags & crate::sink::column_flag::NOT_NULL == 0,
                coercibility: Coercibility::Implicit,
            })
            .collect();
        let (ty, coercibility) = common_type(&exprs.iter().collect::<Vec<_>>())?;
        let nullable = exprs.iter().any(|expr| expr.nullable);
        let expr = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
        columns.push(Scope::default().describe(&expr, &named.name));
    }
    Ok(columns)
}

/// `ORDER BY 2`: the position from 0.
fn position(written: &ast::Expr, columns: usize) -> Result<Option<usize>> {
    match written {
        ast::Expr::Literal(ast::Literal::Integer(n)) => match usize::try_from(*n) {
            Ok(n) if (1..=columns).contains(&n) => Ok(Some(n - 1)),
            _ => Err(SqlError::unknown_column(n, "order clause")),
        },
        _ => Ok(None),
    }
}

impl Binder<'_> {
    /// Adds a table reference to the scope and to FROM.
    fn table_ref(&mut self, written: &TableRef, scope: &mut Scope, from: &mut From) -> Result<()> {
        match written {
            TableRef::Table { name, alias, hints } => {
                let bound = self.named_table(name, alias.as_deref(), hints, scope)?;
                from.tables.push((scope.tables.len() - 1, bound));
                Ok(())
            }
            TableRef::Derived { query, alias, columns } => {
                let mut plan = bind_query(self, query)?;
                if !columns.is_empty() {
                    if columns.len() != plan.columns.len() {
                        return Err(SqlError::new(
                            1353,
                            "In definition of view, derived table or common table expression, SELECT list and \
                             column names list have different column counts",
                        ));
                    }
                    for (column, name) in plan.columns.iter_mut().zip(columns) {
                        column.name.clone_from(name);
                    }
                }
                let table = ScopeTable::computed("", alias, alias, &plan.columns, scope.slots());
                self.add_to_scope(scope, table)?;
                let source = Source::Derived(Box::new(plan));
                from.tables.push((scope.tables.len() - 1, Bound { source, hints: Vec::new(), outer: None }));
                Ok(())
            }
            TableRef::Join { kind, left, right, on, using, natural } => {
                self.join(*kind, left, right, on.as_ref(), using, *natural, scope, from)
            }
        }
    }

    fn named_table(
        &mut self,
        name: &ast::TableName,
        alias: Option<&str>,
        hints: &[IndexHint],
        scope: &mut Scope,
    ) -> Result<Bound> {
        let schema = self.schema_of(name)?;
        let shown = alias.unwrap_or(&name.name);
        if self.engine.catalog().table(&schema, &name.name).is_none()
            && let Some(columns) = crate::schema_tables::columns_of(self.host, &schema, &name.name)
        {
            self.uncacheable = true;
            if schema.eq_ignore_ascii_case("performance_schema") {
                self.logging.reasons.insert(Unsafe::SystemTable);
            }
            // Everybody may read the schemas that are computed as a whole.
            if !crate::schema_tables::is_virtual_schema(&schema) {
                self.host.check_privilege(crate::host::Privilege::Select, Some(&schema), Some(&name.name))?;
            }
            let table = ScopeTable::computed(&schema, shown, &name.name, &columns, scope.slots());
            self.add_to_scope(scope, table)?;
            let source = Source::Virtual { schema: schema.to_lowercase(), name: name.name.to_lowercase() };
            return Ok(Bound { source, hints: Vec::new(), outer: None });
        }
        let table = self.stored_table(name)?;
        self.host.check_privilege(crate::host::Privilege::Select, Some(&schema), Some(&name.name))?;
        self.add_to_scope(scope, ScopeTable::stored(&table, shown, scope.slots()))?;
        Ok(Bound {
            source: Source::Stored { table, access: Access::all() },
            hints: hints.to_vec(),
            outer: None,
        })
    }

    fn add_to_scope(&mut self, scope: &mut Scope, table: ScopeTable) -> Result<()> {
        if scope.tables.iter().any(|other| other.alias == table.alias && other.schema == table.schema) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", table.alias)));
        }
        scope.tables.push(table);
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "a join has this many parts")]
    fn join(
        &mut self,
        kind: JoinKind,
        left: &TableRef,
        right: &TableRef,
        on: Option<&ast::Expr>,
        using: &[String],
        natural: bool,
        scope: &mut Scope,
        from: &mut From,
    ) -> Result<()> {
        let start = scope.tables.len();
        self.table_ref(left, scope, from)?;
        let middle = scope.tables.len();
        let steps_of_left = from.tables.len();
        let conditions_of_left = from.conditions.len();
        self.table_ref(right, scope, from)?;
        let mut conditions = Vec::new();
        let names = if natural { common_names(scope, start, middle) } else { using.to_vec() };
        for name in &names {
            conditions.push(merge_column(scope, start, middle, name)?);
        }
        if let Some(on) = on {
            // ON sees the tables of its own join only.
            let visible = Scope { tables: scope.tables[start..].to_vec() };
            let bound = self.expr(on, &mut Place::new(&visible, "on clause"))?;
            conjuncts(bound, &mut conditions);
        }
        match kind {
            JoinKind::Inner => from.conditions.append(&mut conditions),
            JoinKind::Left => {
                if from.tables.len() != steps_of_left + 1 {
                    return Err(SqlError::not_supported("LEFT JOIN of a join"));
                }
                let inner = &mut from.tables[steps_of_left].1;
                inner.outer = Some(conditions);
                nullable(&mut scope.tables[middle..]);
            }
            JoinKind::Right => {
                // The left side becomes the inner one; the columns keep their order.
                if steps_of_left + 1 != from.tables.len() || middle != start + 1 || start != 0 {
                    return Err(SqlError::not_supported("RIGHT JOIN of more than two tables"));
                }
                from.conditions.truncate(conditions_of_left);
                from.tables.swap(0, 1);
                from.tables[1].1.outer = Some(conditions);
                nullable(&mut scope.tables[start..middle]);
            }
        }
        Ok(())
    }

    /// FROM alone, for UPDATE and DELETE of several tables too.
    pub(super) fn from(&mut self, written: Option<&TableRef>) -> Result<(Scope, From)> {
        let (mut scope, mut from) = (Scope::default(), From::default());
        if let Some(written) = written {
            self.table_ref(written, &mut scope, &mut from)?;
        }
        Ok((scope, from))
    }

    /// The steps of the loops: each condition goes to the first one at which it can be decided.
    pub(super) fn steps(
        &mut self,
        scope: &Scope,
        from: From,
        filter: Vec<Expr>,
        wish: impl Fn(usize) -> Wish,
    ) -> Result<(Vec<TableStep>, Vec<Expr>)> {
        let From { tables, conditions } = from;
        let mut pending: Vec<Expr> = conditions.into_iter().chain(filter).collect();
        let mut known = vec![false; scope.slots()];
        let mut steps = Vec::with_capacity(tables.len());
        let mut preconditions = Vec::new();
        take_decidable(&mut pending, &known, &mut preconditions);
        for (at, (position, bound)) in tables.into_iter().enumerate() {
            let table = &scope.tables[position];
            let slots = table.base..table.base + table.columns.len();
            let mut source = bound.source;
            if let Source::Stored { table: stored, access } = &mut source {
                let wish = if at == 0 { wish(table.base) } else { Wish::default() };
                let usable = bound.outer.as_deref().unwrap_or(&pending);
                *access = choose(stored, table.base, usable, &|slot| known[slot], &bound.hints, &wish)?;
            }
            known[slots].fill(true);
            let mut decidable = Vec::new();
            take_decidable(&mut pending, &known, &mut decidable);
            steps.push(TableStep {
                source,
                base: table.base,
                columns: table.columns.len(),
                needed: Vec::new(),
                covering: None,
                lock: RowLock::NONE,
                outer: bound.outer,
                conditions: decidable,
            });
        }
        Ok((steps, preconditions))
    }
}

fn take_decidable(pending: &mut Vec<Expr>, known: &[bool], into: &mut Vec<Expr>) {
    let mut rest = Vec::with_capacity(pending.len());
    for condition in pending.drain(..) {
        let mut slots = Vec::new();
        condition.slots(&mut slots);
        if slots.iter().all(|slot| known[*slot]) { into.push(condition) } else { rest.push(condition) }
    }
    *pending = rest;
}

fn nullable(tables: &mut [ScopeTable]) {
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        column.nullable = true;
    }
}

fn common_names(scope: &Scope, start: usize, middle: usize) -> Vec<String> {
    let of = |tables: &[ScopeTable]| -> Vec<String> {
        tables
            .iter()
            .flat_map(|table| table.columns.iter().map(|column| column.name.to_lowercase()))
            .collect()
    };
    let right = of(&scope.tables[middle..]);
    of(&scope.tables[start..middle]).into_iter().filter(|name| right.contains(name)).collect()
}

/// The equality of USING's column; the right side's is left out of `*`.
fn merge_column(scope: &mut Scope, start: usize, middle: usize, name: &str) -> Result<Expr> {
    let side =
        |tables: &[ScopeTable]| Scope { tables: tables.to_vec() }.resolve(None, None, name, "from clause");
    let operands = [side(&scope.tables[start..middle])?, side(&scope.tables[middle..])?];
    for column in scope.tables[middle..].iter_mut().flat_map(|table| &mut table.columns) {
        if column.name.eq_ignore_ascii_case(name) {
            column.merged = true;
        }
    }
    let collation = crate::expr::comparison_collation(&operands[0], &operands[1])?;
    Ok(Expr {
        node: Node::Compare { op: ast::BinaryOp::Equal, operands: Box::new(operands), collation },
        ty: ColumnType::int(false),
        nullable: true,
        coercibility: Coercibility::Numeric,
    })
}

/// The select list.
struct Items {
    outputs: Vec<Expr>,
    names: Vec<String>,
    /// Aliases that were written.
    aliases: Vec<(String, Expr)>,
}

fn all_of(table: &ScopeTable, items: &mut Items) {
    for (at, column) in table.columns.iter().enumerate() {
        if !column.merged && !column.invisible {
            items.outputs.push(table.column(at));
            items.names.push(column.name.clone());
        }
    }
}

fn bind_items(
    binder: &mut Binder<'_>,
    written: &[SelectItem],
    scope: &Scope,
    found: &mut Vec<Aggregate>,
    calls: &mut Vec<ast::FunctionCall>,
) -> Result<Items> {
    let mut items = Items { outputs: Vec::new(), names: Vec::new(), aliases: Vec::new() };
    for item in written {
        match item {
            SelectItem::All if scope.tables.is_empty() => return Err(SqlError::new(1096, "No tables used")),
            SelectItem::All => scope.tables.iter().for_each(|table| all_of(table, &mut items)),
            SelectItem::AllOf { schema, table } => {
                let named = scope.tables.iter().find(|scope_table| {
                    scope_table.alias == *table
                        && schema.as_ref().is_none_or(|schema| *schema == scope_table.schema)
                });
                let Some(named) = named else {
                    return Err(SqlError::new(1051, format!("Unknown table '{table}'")));
                };
                let unmerged = ScopeTable {
                    columns: named
                        .columns
                        .iter()
                        .cloned()
                        .map(|c| super::ScopeColumn { merged: false, ..c })
                        .collect(),
                    ..named.clone()
                };
                all_of(&unmerged, &mut items);
            }
            SelectItem::Expr { expr, alias, text } => {
                let mut place = Place::new(scope, "field list");
                place.aggregates = Some(AggregateSink {
                    found: &mut *found,
                    first_slot: scope.slots(),
                    written: &mut *calls,
                });
                let bound = binder.expr(expr, &mut place)?;
                let name = match (alias, expr) {
                    (Some(alias), _) => alias.clone(),
                    (None, ast::Expr::Column { name, .. }) => name.clone(),
                    (None, _) => text.chars().take(64).collect(),
                };
                if let Some(alias) = alias {
                    items.aliases.push((alias.clone(), bound.clone()));
                }
                items.outputs.push(bound);
                items.names.push(name);
            }
        }
    }
    Ok(items)
}

fn bind_select(binder: &mut Binder<'_>, select: &ast::Select, query: &ast::Query) -> Result<QueryPlan> {
    let (scope, from) = binder.from(select.from.as_ref())?;
    let mut filter = Vec::new();
    if let Some(written) = &select.filter {
        conjuncts(binder.expr(written, &mut Place::new(&scope, "where clause"))?, &mut filter);
    }
    let (mut found, mut calls) = (Vec::new(), Vec::new());
    let items = bind_items(binder, &select.items, &scope, &mut found, &mut calls)?;
    let keys = bind_group_by(binder, select, &scope, &items)?;
    let having = match &select.having {
        None => None,
        Some(written) => {
            let mut place = Place::new(&scope, "having clause");
            place.aliases = &items.aliases;
            place.aggregates =
                Some(AggregateSink { found: &mut found, first_slot: scope.slots(), written: &mut calls });
            Some(binder.expr(written, &mut place)?)
        }
    };
    let order = bind_order(binder, query, &scope, &items, &mut found, &mut calls)?;
    let grouping = (!keys.is_empty() || !found.is_empty()).then_some(Grouping { keys, aggregates: found });
    if let Some(grouping) = &grouping {
        check_full_group_by(binder, grouping, &items, &scope)?;
    }
    let limit = limit(binder, query.limit.as_ref())?;
    let wish = |base: usize| match grouping.is_none() && !select.distinct {
        true => wish_of(&order, base, &scope, limit.is_some()),
        false => Wish::default(),
    };
    let no_filter = filter.is_empty() && from.tables.len() == 1;
    let (mut tables, preconditions) = binder.steps(&scope, from, filter, wish)?;
    let ordered_by_access = matches!(
        tables.first(),
        Some(TableStep { source: Source::Stored { access, .. }, .. }) if access.ordered && !order.is_empty()
    );
    set_locks(&mut tables, &scope, &query.locks)?;
    let index_ends = grouping
        .as_ref()
        .filter(|grouping| no_filter && grouping.keys.is_empty() && query.locks.is_empty())
        .and_then(|grouping| index_ends(&tables, grouping));
    let columns =
        items.outputs.iter().zip(&items.names).map(|(expr, name)| scope.describe(expr, name)).collect();
    let mut plan = SelectPlan {
        slots: scope.slots(),
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
    };
    mark_needed(&mut tables, &plan);
    plan.tables = tables;
    Ok(QueryPlan { columns, body: QueryBody::Select(Box::new(plan)) })
}

/// Gives the tables the locks that the query's clauses say.
fn set_locks(tables: &mut [TableStep], scope: &Scope, clauses: &[LockClause]) -> Result<()> {
    for clause in clauses {
        let lock = RowLock {
            mode: match clause.strength {
                LockStrength::Share => LockMode::Share,
                LockStrength::Update => LockMode::Update,
            },
            on_locked: match clause.wait {
                LockWait::Wait => OnLocked::Wait,
                LockWait::NoWait => OnLocked::Fail,
                LockWait::SkipLocked => OnLocked::Skip,
            },
        };
        let named = |name: &ast::TableName| {
            let is_it = |table: &&ScopeTable| {
                table.alias.eq_ignore_ascii_case(&name.name)
                    && name.schema.as_ref().is_none_or(|schema| *schema == table.schema)
            };
            scope.tables.iter().find(is_it).map(|table| table.base)
        };
        let mut bases = Vec::with_capacity(clause.tables.len());
        for name in &clause.tables {
            let unresolved =
                || SqlError::new(3568, format!("Unresolved table name '{}' in locking clause.", name.name));
            bases.push(named(name).ok_or_else(unresolved)?);
        }
        for step in tables.iter_mut().filter(|step| bases.is_empty() || bases.contains(&step.base)) {
            if step.lock != RowLock::NONE {
                let alias = scope.tables.iter().find(|table| table.base == step.base);
                let alias = alias.map_or("", |table| &table.alias);
                return Err(SqlError::new(
                    3569,
                    format!("Table {alias} appears in multiple locking clauses."),
                ));
            }
            step.lock = lock;
        }
    }
    Ok(())
}

fn bind_group_by(
    binder: &mut Binder<'_>,
    select: &ast::Select,
    scope: &Scope,
    items: &Items,
) -> Result<Vec<Expr>> {
    let mut keys = Vec::new();
    for written in &select.group_by {
        let key = match position(written, items.outputs.len())
            .map_err(|_| SqlError::unknown_column("0", "group statement"))?
        {
            Some(at) => items.outputs[at].clone(),
            None => {
                // A column of the tables before an alias.
                let bound = binder.expr(written, &mut Place::new(scope, "group statement"));
                match (bound, written) {
                    (Err(error), ast::Expr::Column { table: None, name, .. }) if error.code == 1054 => {
                        let alias = items.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
                        alias.map(|(_, expr)| expr.clone()).ok_or(error)?
                    }
                    (bound, _) => bound?,
                }
            }
        };
        keys.push(key);
    }
    Ok(keys)
}

fn bind_order(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    scope: &Scope,
    items: &Items,
    found: &mut Vec<Aggregate>,
    calls: &mut Vec<ast::FunctionCall>,
) -> Result<Vec<SortKey>> {
    let mut order = Vec::new();
    for item in &query.order_by {
        let expr = match position(&item.expr, items.outputs.len())? {
            Some(at) => items.outputs[at].clone(),
            None => {
                let mut place = Place::new(scope, "order clause");
                place.aliases = &items.aliases;
                place.aggregates = Some(AggregateSink {
                    found: &mut *found,
                    first_slot: scope.slots(),
                    written: &mut *calls,
                });
                binder.expr(&item.expr, &mut place)?
            }
        };
        order.push(SortKey { expr, descending: item.descending });
    }
    Ok(order)
}

/// ONLY_FULL_GROUP_BY: a column in the select list is a key, or depends on keys that are a table's whole primary key.
fn check_full_group_by(binder: &Binder<'_>, grouping: &Grouping, items: &Items, scope: &Scope) -> Result<()> {
    if !binder.variables.sql_mode.only_full_group_by() {
        return Ok(());
    }
    let key_slots: Vec<usize> = grouping
        .keys
        .iter()
        .filter_map(|key| match key.node {
            Node::Slot(slot) => Some(slot),
            _ => None,
        })
        .collect();
    let determined = |slot: usize| {
        scope.of_slot(slot).is_some_and(|(table, _)| {
            let primary = |flags: u16| flags & crate::sink::column_flag::PRI_KEY != 0;
            let mut parts =
                table.columns.iter().enumerate().filter(|(_, column)| primary(column.flags)).peekable();
            parts.peek().is_some() && parts.all(|(at, _)| key_slots.contains(&(table.base + at)))
        })
    };
    let is_key =
        |expr: &Expr| grouping.keys.iter().any(|key| format!("{:?}", key.node) == format!("{:?}", expr.node));
    for (at, expr) in items.outputs.iter().enumerate() {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        slots.retain(|slot| *slot < scope.slots() && !key_slots.contains(slot) && !determined(*slot));
        let Some(slot) = slots.first() else { continue };
        if is_key(expr) || matches!(&expr.node, Node::Call { function, .. } if function.name == "any_value") {
            continue;
        }
        let (table, column) = match scope.of_slot(*slot) {
            Some(found) => found,
            None => continue,
        };
        let name = format!("{}.{}.{}", table.schema, table.org_table, table.columns[column].org_name);
        let number = at + 1;
        return Err(if grouping.keys.is_empty() {
            SqlError::new(
                1140,
                format!(
                    "In aggregated query without GROUP BY, expression #{number} of SELECT list contains nonaggregated \
                     column '{name}'; this is incompatible with sql_mode=only_full_group_by"
                ),
            )
        } else {
            SqlError::new(
                1055,
                format!(
                    "Expression #{number} of SELECT list is not in GROUP BY clause and contains nonaggregated column \
                     '{name}' which is not functionally dependent on columns in GROUP BY clause; this is \
                     incompatible with sql_mode=only_full_group_by"
                ),
            )
        });
    }
    Ok(())
}

/// The order as columns of the table at `base`; empty when it is anything else.
pub(super) fn wish_of(order: &[SortKey], base: usize, scope: &Scope, has_limit: bool) -> Wish {
    let Some(table) = scope.tables.iter().find(|table| table.base == base) else { return Wish::default() };
    let mut wish = Wish { order: Vec::new(), has_limit };
    for key in order {
        match key.expr.node {
            Node::Slot(slot) if (base..base + table.columns.len()).contains(&slot) => {
                wish.order.push((slot - base, key.descending));
            }
            _ => return Wish::default(),
        }
    }
    wish
}

/// MIN and MAX without conditions, of columns that indexes start with.
fn index_ends(tables: &[TableStep], grouping: &Grouping) -> Option<IndexEnds> {
    let [TableStep { source: Source::Stored { table, .. }, base, .. }] = tables else { return None };
    let mut ends = Vec::new();
    for aggregate in &grouping.aggregates {
        let direction = match aggregate.kind {
            AggregateKind::Min => Direction::Forward,
            AggregateKind::Max => Direction::Backward,
            _ => return None,
        };
        let Node::Slot(slot) = aggregate.args[0].node else { return None };
        let column = slot.checked_sub(*base)?;
        let starts = |index: IndexRef| {
            table
                .index_columns(index)
                .first()
                .is_some_and(|part| part.column == column && part.prefix.is_none())
        };
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        let index = std::iter::once(IndexRef::Primary).chain(secondary).find(|index| starts(*index))?;
        ends.push((index, column, direction));
    }
    Some(IndexEnds { table: table.clone(), ends })
}

/// Notes which columns of each table any expression needs, and whether the index that is read has them.
fn mark_needed(tables: &mut [TableStep], plan: &SelectPlan) {
    let mut slots = Vec::new();
    let mut take = |expr: &Expr| expr.slots(&mut slots);
    plan.outputs.iter().for_each(&mut take);
    plan.order.iter().for_each(|key| take(&key.expr));
    plan.having.iter().for_each(&mut take);
    if let Some(grouping) = &plan.grouping {
        grouping.keys.iter().for_each(&mut take);
        grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args).for_each(&mut take);
    }
    for step in tables.iter() {
        step.conditions.iter().chain(step.outer.iter().flatten()).for_each(&mut take);
        if let Source::Stored { access, .. } = &step.source {
            for condition in &access.alternatives {
                condition.equals.iter().for_each(|(expr, _)| take(expr));
                condition.list.iter().flatten().for_each(&mut take);
                condition.low.iter().chain(&condition.high).for_each(|(expr, _)| take(expr));
            }
        }
    }
    slots.sort_unstable();
    slots.dedup();
    for step in tables {
        let own = step.base..step.base + step.columns;
        step.needed = slots.iter().filter(|slot| own.contains(slot)).map(|slot| slot - step.base).collect();
        if let Source::Stored { table, access } = &step.source
            && step.lock == RowLock::NONE
        {
            step.covering = table.entry_reader(access.index, &step.needed);
        }
    }
}
