//! FROM: the tables in the order of the loops, and where each condition is decided.

use super::super::logging::Unsafe;
use super::super::{Binder, Place, Scope, ScopeTable, TableUse};
use super::bind_query;
use crate::ast::{self, IndexHint, JoinKind, TableRef};
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Node};
use crate::host::Privilege;
use crate::plan::{Access, RowLock, Source, TableStep, Wish, choose, conjuncts};
use types::ColumnType;

/// A table of FROM before its access is chosen.
pub(in crate::bind) struct Bound {
    pub source: Source,
    hints: Vec<IndexHint>,
    /// LEFT JOIN's conditions.
    outer: Option<Vec<Expr>>,
}

/// FROM: its tables in the order of the loops, with the position of each in the scope, and the inner joins' conditions.
#[derive(Default)]
pub(in crate::bind) struct From {
    pub tables: Vec<(usize, Bound)>,
    conditions: Vec<Expr>,
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
        // Before anything is said of the table, even whether it is there.
        let readable = match self.table_use {
            TableUse::Read | TableUse::Lock => {
                self.host.check_table(&[Privilege::Select], &schema, &name.name)?;
                true
            }
            TableUse::Change(privilege) => {
                self.host.check_table(&[privilege], &schema, &name.name)?;
                self.host.check_table(&[Privilege::Select], &schema, &name.name).is_ok()
            }
        };
        if self.engine.catalog().table(&schema, &name.name).is_none()
            && let Some(columns) = crate::schema_tables::columns_of(self.host, &schema, &name.name)
        {
            self.uncacheable = true;
            if schema.eq_ignore_ascii_case("performance_schema") {
                self.logging.reasons.insert(Unsafe::SystemTable);
            }
            let table = ScopeTable::computed(&schema, shown, &name.name, &columns, scope.slots());
            self.add_to_scope(scope, table)?;
            let source = Source::Virtual { schema: schema.to_lowercase(), name: name.name.to_lowercase() };
            return Ok(Bound { source, hints: Vec::new(), outer: None });
        }
        self.use_locked(&schema, &name.name, shown, self.table_use != TableUse::Read)?;
        let table = self.stored_table(name)?;
        let in_scope = ScopeTable { readable, ..ScopeTable::stored(&table, shown, scope.slots()) };
        self.add_to_scope(scope, in_scope)?;
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
    pub(in crate::bind) fn from(
        &mut self,
        written: Option<&TableRef>,
        table_use: TableUse,
    ) -> Result<(Scope, From)> {
        let (mut scope, mut from) = (Scope::default(), From::default());
        if let Some(written) = written {
            let around = std::mem::replace(&mut self.table_use, table_use);
            let bound = self.table_ref(written, &mut scope, &mut from);
            self.table_use = around;
            bound?;
        }
        Ok((scope, from))
    }

    /// The steps of the loops: each condition goes to the first one at which it can be decided.
    pub(in crate::bind) fn steps(
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
