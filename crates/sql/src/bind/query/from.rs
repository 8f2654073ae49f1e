//! Binding of FROM: its tables and how they are joined. The optimizer decides in which order and
//! how they are read.

use super::super::logging::Unsafe;
use super::super::scope::NotOne;
use super::super::self_read::{ReadTable, ReadView};
use super::super::subqueries::add_subquery;
use super::super::table_use::Opening;
use super::super::zero_dates::find_zero_dates_of_mariadb;
use super::super::{Binder, ColumnAt, Frame, NODE_BYTES, Place, Scope, ScopeTable, TableUse, searched};
use super::bind_table;
use super::cte::{common_table, name_columns};
use super::indexed::IndexedExpressions;
use super::indexed_arrays::IndexedArrays;
use super::joined_tables::From;
use super::json_table::json_table;
use super::portion::seen_by_portion;
use super::system_time::{self, With};
use super::view::{check_shown_within_view, view_plan};
use crate::ast::{self, JoinKind, TableRef};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Node};
use crate::host::Privilege;
use crate::optimize::{self, Constants, Freedom};
use crate::plan::{
    Access, IndexUse, JoinTree, Joining, Leaf, Opened, SortKey, Source, TableStep, Unplanned, Wish,
    check_together, conjuncts,
};
use crate::variables::{Switch, Switches};
use types::{ColumnType, Value};

/// A bound table reference: the columns that may be named, and the tree of its tables.
type Bound = (Joined, JoinTree);

impl Binder<'_> {
    /// Adds a table reference to the scope and to FROM.
    fn table_ref(
        &mut self,
        written: &TableRef,
        scope: &mut Scope,
        from: &mut From,
        outer: Option<&Frame<'_>>,
    ) -> Result<Bound> {
        let first = scope.tables.len();
        assert_eq!(first, from.tables.len(), "a table has one position in FROM and in the scope");
        match written {
            TableRef::Table { name, alias, partitions, hints, system_time } => {
                let source = self.named_table(name, alias.as_deref(), scope, outer)?;
                let mut chosen: Vec<Expr> =
                    self.chosen_partitions(&source, partitions, scope)?.into_iter().collect();
                chosen.extend(self.seen_by_system_time(&source, system_time.as_deref(), scope)?);
                check_together(hints)?;
                let written = if let Source::Stored { .. } = source { hints.clone() } else { Vec::new() };
                let sees_invisible = self.variables.switches.is_on(Switch::UseInvisibleIndexes);
                let pads_chars = self.variables.sql_mode.pad_char_to_full_length();
                let index_use = IndexUse { written, sees_invisible, pads_chars, ..IndexUse::default() };
                let holder = self.view.holder.clone();
                from.tables.push(Leaf {
                    index_use,
                    chosen,
                    holder,
                    ..leaf(source, scope, self.variables.switches)
                });
                Ok((Joined::table(first, scope), JoinTree::Table(first)))
            }
            TableRef::Derived { query, lateral, alias, columns } => {
                let first_subquery = self.subqueries.len();
                let before = if *lateral { from.nameable(scope) } else { Scope::default() };
                let frame = (*lateral || outer.is_some()).then(|| Frame::derived(&before, outer));
                let read_before = self.noted.reads.count();
                let mut plan = bind_table(self, query, frame.as_ref())?;
                self.noted.reads.note_derived(read_before);
                name_columns(&mut plan.columns, columns)?;
                let table = ScopeTable::of_plan("", alias, alias, &plan, scope.slots());
                self.add_to_scope(scope, table)?;
                let source = match frame {
                    // As a subquery it is computed once for all rows that give it the same
                    // arguments.
                    Some(frame) => {
                        Source::Subquery(add_subquery(&mut self.subqueries, plan, frame, first_subquery))
                    }
                    None => Source::Derived(Box::new(plan)),
                };
                from.tables.push(leaf(source, scope, self.variables.switches));
                Ok((Joined::table(first, scope), JoinTree::Table(first)))
            }
            TableRef::JsonTable(written) => {
                let (source, table) = json_table(self, written, scope, outer)?;
                self.add_to_scope(scope, table)?;
                from.tables.push(leaf(source, scope, self.variables.switches));
                Ok((Joined::table(first, scope), JoinTree::Table(first)))
            }
            TableRef::Join { kind, left, right, on, using, natural } => {
                self.join(*kind, left, right, on.as_ref(), using, *natural, scope, from, outer)
            }
        }
    }

    fn named_table(
        &mut self,
        name: &ast::TableName,
        alias: Option<&str>,
        scope: &mut Scope,
        outer: Option<&Frame<'_>>,
    ) -> Result<Source> {
        if let Some(common) = common_table(self, name, alias, scope, outer)? {
            return Ok(common);
        }
        let schema = self.schema_of(name)?;
        let shown = alias.unwrap_or(&name.name);
        if let Some(table) = self.temporary.table(&schema, &name.name) {
            // The table is the session's own, so no privileges are needed for it.
            self.around.changes_by_column = false;
            self.use_temporary(&table, shown)?;
            self.add_to_scope(scope, ScopeTable::stored(&table, shown, scope.slots()))?;
            return Ok(Source::Stored { table, access: Access::all() });
        }
        let to_change = matches!(self.around.table_use, TableUse::Lock | TableUse::Change(_));
        check_shown_within_view(self, &schema, &name.name)?;
        // Privileges are checked before anything is said about the table, even whether it exists.
        let readable = match self.around.table_use {
            TableUse::Read | TableUse::Share | TableUse::Lock | TableUse::JoinToDelete => {
                !self.view.holds_on_columns_alone(Privilege::Select, &schema, &name.name)?
            }
            TableUse::Change(privilege) => {
                self.around.changes_by_column =
                    self.view.holds_on_columns_alone(privilege, &schema, &name.name)?;
                self.view.rights.check_table(&[Privilege::Select], &schema, &name.name).is_ok()
            }
            TableUse::Join => self.view.may_join(&schema, &name.name, &[Privilege::Update])?,
            TableUse::Within => {
                let any = [Privilege::Insert, Privilege::Update, Privilege::Delete];
                self.view.may_join(&schema, &name.name, &any)?
            }
        };
        if self.engine.catalog().table(&schema, &name.name).is_none()
            && let Some(columns) = crate::schema_tables::columns_of(self.host, &schema, &name.name)
        {
            self.noted.uncacheable = true;
            if schema.eq_ignore_ascii_case("performance_schema") {
                self.noted.logging.reasons.insert(Unsafe::SystemTable);
            }
            let table = ScopeTable::computed(&schema, shown, &name.name, &columns, scope.slots());
            self.add_to_scope(scope, table)?;
            return Ok(Source::Virtual { schema: schema.to_lowercase(), name: name.name.to_lowercase() });
        }
        let view = self.engine.catalog().object(&schema, engine::ObjectKind::View, &name.name);
        if let Some(view) = view {
            self.locked.use_view(&schema, &name.name, self.view.levels)?;
            let first_subquery = self.subqueries.len();
            let read_before = self.noted.reads.count();
            let mut plan = view_plan(self, &view.def, Opening::of(&view.def, self.around.table_use))?;
            if view.def.attribute(attribute::ALGORITHM) == Some("TEMPTABLE") {
                plan.stay_a_table();
            }
            if view.def.attribute(attribute::ALGORITHM) == Some("MERGE") {
                plan.be_merged();
            }
            let read = ReadView { alias: shown.to_owned(), schema: schema.clone(), name: name.name.clone() };
            self.noted.reads.note_view(&read, &plan, read_before);
            let mut table = ScopeTable::of_plan(&schema, shown, &name.name, &plan, scope.slots());
            if !readable {
                // The privileges are on the view's own columns, not on those of the tables within
                // it.
                table.readable = false;
                table.columns.iter_mut().for_each(|column| column.org_name.clone_from(&column.name));
            }
            self.add_to_scope(scope, table)?;
            return Ok(match outer {
                Some(_) => {
                    let frame = Frame::derived(scope, None);
                    Source::Subquery(add_subquery(&mut self.subqueries, plan, frame, first_subquery))
                }
                None => Source::Derived(Box::new(plan)),
            });
        }
        match self.view.levels {
            0 => self.locked.use_name(&schema, &name.name, shown, to_change)?,
            _ => self.locked.use_within_view(&schema, &name.name, to_change)?,
        }
        let table = self.stored_table(name)?;
        if self.around.subquery_levels > 0 {
            let name = table.def.name.clone();
            self.noted.reads.note(ReadTable { schema, name, alias: shown.to_owned(), view: None });
        }
        let in_scope = ScopeTable { readable, ..ScopeTable::stored(&table, shown, scope.slots()) };
        self.add_to_scope(scope, in_scope)?;
        Ok(Source::Stored { table, access: Access::all() })
    }

    /// Returns the condition of the partitions that the statement chooses of the table that was
    /// added to the scope last.
    fn chosen_partitions(
        &mut self,
        source: &Source,
        chosen: &[String],
        scope: &Scope,
    ) -> Result<Option<Expr>> {
        let (Source::Stored { table, .. }, false) = (source, chosen.is_empty()) else {
            return match chosen.is_empty() {
                true => Ok(None),
                false => Err(SqlError::new(1747, "PARTITION () clause on non partitioned table")),
            };
        };
        let text = crate::ddl::chosen_condition(&table.def, chosen)?;
        let tree = crate::parse::parse_expression(text.as_bytes(), crate::lexer::LexMode::default())?;
        // Choosing a partition does not count as reading its columns, so it needs no SELECT on
        // them.
        let last = scope.tables.last().expect("the table has been added");
        let own = Scope::of(ScopeTable { readable: true, ..last.clone() });
        self.expr(&tree, &mut Place::new(&own, "partition function")).map(Some)
    }

    /// Returns the conditions of the rows that are visible of the table that was added to the scope
    /// last. A table with system versioning shows its current rows, unless the statement says
    /// otherwise.
    fn seen_by_system_time(
        &mut self,
        source: &Source,
        time: Option<&ast::SystemTime>,
        scope: &Scope,
    ) -> Result<Vec<Expr>> {
        if let Some(ast::SystemTime::Portion(portion)) = time {
            let mut seen = self.seen_by_system_time(source, None, scope)?;
            seen.extend(seen_by_portion(self, source, portion, scope)?);
            return Ok(seen);
        }
        let last = scope.tables.last().expect("the table has been added");
        let changes =
            matches!(self.around.table_use, TableUse::Change(_) | TableUse::Join | TableUse::Within);
        let bounds = match source {
            Source::Stored { table, .. } => system_time::bounds(&table.def, time, changes)?,
            _ => None,
        };
        let Some(bounds) = bounds else {
            return match time {
                None => Ok(Vec::new()),
                Some(_) => Err(crate::ddl::not_versioned(&last.org_table)),
            };
        };
        // Selecting the current rows does not count as reading columns, so it needs no SELECT on
        // them.
        let own = Scope::of(ScopeTable { readable: true, ..last.clone() });
        let bind = |bound: system_time::Bound<'_>| match bound.with {
            With::Limit(limit) => limited(own.tables[0].column(bound.column), bound.op, limit),
            With::Moment(moment) => {
                let name = own.tables[0].columns[bound.column].name.clone();
                let column = ast::Expr::Column { schema: None, table: None, name };
                let tree = ast::Expr::Binary(bound.op, Box::new(column), Box::new(moment.clone()));
                self.expr(&tree, &mut Place::new(&own, "FOR SYSTEM_TIME"))
            }
        };
        bounds.into_iter().map(bind).collect()
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
        outer: Option<&Frame<'_>>,
    ) -> Result<Bound> {
        let start = scope.tables.len();
        let (of_left, left) = self.table_ref(left, scope, from, outer)?;
        let middle = scope.tables.len();
        let hidden = from.hidden.clone();
        if kind == JoinKind::Right {
            from.hidden.push(start..middle);
        }
        let (of_right, right) = self.table_ref(right, scope, from, outer)?;
        from.hidden = hidden;
        let mut conditions = Vec::new();
        // The first side is the one all of whose rows stay. The merged columns take their values
        // from it.
        let sides = if kind == JoinKind::Right { [of_right, of_left] } else { [of_left, of_right] };
        let joined = match (natural, using) {
            (false, []) => Joined::beside(kind, sides),
            _ => {
                let common = sides[0].common(&sides[1], natural, using, scope)?;
                for (first, second) in &common {
                    // Whether two columns are equal reveals something of their values, so both have
                    // to be readable.
                    for (table, column) in [first, second] {
                        self.view.check_readable(&scope.tables[*table].column(*column), scope)?;
                    }
                    conditions.push(equality(scope, *first, *second)?);
                }
                Joined::merged(&common, sides)
            }
        };
        if let Some(on) = on {
            // ON sees the tables of its own join only.
            let visible = Scope {
                tables: scope.tables[start..].to_vec(),
                joined: joined
                    .merges
                    .then(|| joined.columns.iter().map(|(table, at)| (table - start, *at)).collect()),
            };
            let bound = self.expr(on, &mut Place::within(outer, &visible, "on clause"))?;
            conjuncts(bound, &mut conditions);
            if matches!(kind, JoinKind::Inner | JoinKind::Straight) {
                find_zero_dates_of_mariadb(self, &visible, outer, &mut conditions);
            }
        }
        let (joining, first, second) = match kind {
            JoinKind::Inner => (Joining::Inner, left, right),
            JoinKind::Straight => (Joining::Straight, left, right),
            JoinKind::Left => {
                nullable(&mut scope.tables[middle..]);
                (Joining::Outer, left, right)
            }
            JoinKind::Right => {
                nullable(&mut scope.tables[start..middle]);
                (Joining::Outer, right, left)
            }
        };
        let (left, right) = (Box::new(first), Box::new(second));
        Ok((joined, JoinTree::Join { joining, left, right, on: conditions }))
    }

    /// Binds FROM alone. UPDATE and DELETE of several tables use it too.
    pub(in crate::bind) fn from(
        &mut self,
        written: Option<&TableRef>,
        table_use: TableUse,
        outer: Option<&Frame<'_>>,
    ) -> Result<(Scope, From)> {
        let (mut scope, mut from) = (Scope::default(), From::default());
        if let Some(written) = written {
            let around = std::mem::replace(&mut self.around.table_use, table_use);
            let bound = self.table_ref(written, &mut scope, &mut from, outer);
            self.around.table_use = around;
            let (joined, tree) = bound?;
            assert_eq!(scope.tables.len(), from.tables.len(), "each table of FROM may be named");
            let mut planted = Vec::new();
            tree.tables(&mut planted);
            planted.sort_unstable();
            assert!(planted.iter().copied().eq(0..from.tables.len()), "each table of FROM is joined once");
            from.tree = Some(tree);
            scope.joined = joined.merges.then_some(joined.columns);
        }
        Ok((scope, from))
    }

    /// Returns the steps of the nested loops, and the conditions that depend on no table.
    pub(in crate::bind) fn steps(
        &mut self,
        from: From,
        mut filter: Vec<Expr>,
        freedom: Freedom,
        wish: impl Fn(usize) -> Wish,
    ) -> Result<(Vec<TableStep>, Vec<Expr>)> {
        let From { mut tables, tree, before, .. } = from;
        searched::resolve(&tables, filter.iter_mut())?;
        let Some(mut tree) = tree else { return Ok((Vec::new(), filter)) };
        searched::resolve_joins(&tables, &mut tree)?;
        let arrays = IndexedArrays::of(self, &tables);
        if !arrays.is_empty() {
            arrays.put_into_conditions(self, filter.iter_mut());
        }
        let indexed = IndexedExpressions::of(self, &tables);
        if !indexed.is_empty() {
            indexed.put_into_conditions(filter.iter_mut());
            indexed.put_into_joins(&mut tree);
        }
        // The conditions of the chosen index are copies, which are charged here.
        let mut nodes = 0;
        filter.iter().for_each(|condition| condition.visit(&mut |_| nodes += 1));
        self.may_make(nodes * NODE_BYTES)?;
        if let (JoinTree::Table(_), [leaf]) = (&tree, &mut tables[..]) {
            filter.append(&mut leaf.chosen);
            if let Some(access) = optimize::only_access(leaf, &filter, freedom, &wish)? {
                let leaf = tables.pop().expect("there is one table");
                return Ok(optimize::only_step(leaf, filter, access));
            }
        }
        let tables = optimize::Tables { leaves: tables };
        let constants = Constants::new(self.engine, self.host, self.variables);
        optimize::optimize(constants, tables, tree, before, filter, freedom, &wish)
    }
}

impl From {
    /// Returns copies of the tables and the conditions, for a query around this one that may join
    /// them with its own.
    ///
    /// `checks` are those of a view that is opened for a change. Tables of such a view that cannot
    /// be copied are taken out of `self` instead.
    pub(super) fn unplanned(
        &mut self,
        binder: &mut Binder<'_>,
        (filter, outputs): (&[Expr], &[Expr]),
        slots: usize,
        (as_table, semijoin): (Option<Vec<SortKey>>, Option<bool>),
        checks: Option<Vec<Expr>>,
    ) -> Result<Option<Box<Unplanned>>> {
        let Some(tree) = self.tree.clone() else { return Ok(None) };
        let copies: Option<Vec<Leaf>> = self.tables.iter().map(Leaf::copied).collect();
        let is_taken = copies.is_none();
        let leaves = match copies {
            Some(leaves) => leaves,
            None if checks.is_some() => {
                self.tree = None;
                std::mem::take(&mut self.tables)
            }
            None => return Ok(None),
        };
        let mut bytes = leaves.len() * size_of::<Leaf>();
        let keys = as_table.iter().flatten().map(|key| &key.expr);
        let exprs = || filter.iter().chain(outputs).chain(keys.clone());
        exprs().for_each(|expr| expr.visit(&mut |expr| bytes += NODE_BYTES + expr.constant_bytes()));
        binder.may_make(bytes)?;
        let (conditions, outputs) = (filter.to_vec(), outputs.to_vec());
        let opened = checks.map(|checks| Opened { checks, is_taken });
        Ok(Some(Box::new(Unplanned {
            leaves,
            tree,
            conditions,
            outputs,
            slots,
            as_table,
            opened,
            semijoin,
            is_merged: false,
        })))
    }
}

/// Returns the table that was added to the scope last as a leaf of FROM.
fn leaf(source: Source, scope: &Scope, switches: Switches) -> Leaf {
    let hash_hint = (!switches.is_on(Switch::BlockNestedLoop)).then_some(false);
    let table = scope.tables.last().expect("the table has been added");
    Leaf {
        source,
        base: table.base,
        columns: table.columns.len(),
        alias: table.alias.clone(),
        index_use: IndexUse::default(),
        hash_hint,
        merge_hint: None,
        chosen: Vec::new(),
        holder: None,
    }
}

fn nullable(tables: &mut [ScopeTable]) {
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        column.nullable = true;
    }
}

/// The columns of a table reference that may be named without a table, in the order of `*`.
struct Joined {
    columns: Vec<ColumnAt>,
    /// Some of the joins merge columns, so `columns` are not simply all columns of the tables in
    /// order.
    merges: bool,
}

impl Joined {
    /// Returns the columns of the table at this position of the scope.
    fn table(table: usize, scope: &Scope) -> Joined {
        let columns = (0..scope.tables[table].columns.len()).map(|column| (table, column)).collect();
        Joined { columns, merges: false }
    }

    /// Returns the columns of a join that merges none. The first of `sides` is the right one for
    /// RIGHT JOIN.
    fn beside(kind: JoinKind, sides: [Joined; 2]) -> Joined {
        let [first, second] = sides;
        let (mut left, mut right) = if kind == JoinKind::Right { (second, first) } else { (first, second) };
        left.columns.append(&mut right.columns);
        Joined { columns: left.columns, merges: left.merges || right.merges }
    }

    /// Returns the columns of a join that merges the pairs `common`. The merged columns come first,
    /// in the order of the first side.
    fn merged(common: &[(ColumnAt, ColumnAt)], sides: [Joined; 2]) -> Joined {
        let [first, second] = sides;
        let is_common = |at: &ColumnAt| common.iter().any(|(one, other)| one == at || other == at);
        let (mut columns, mut rest): (Vec<ColumnAt>, Vec<ColumnAt>) =
            first.columns.into_iter().partition(is_common);
        columns.append(&mut rest);
        columns.extend(second.columns.into_iter().filter(|at| !is_common(at)));
        Joined { columns, merges: true }
    }

    /// Returns the pairs of columns that a join of the two sides merges: those with the names of
    /// USING, or with NATURAL all that have a name in common.
    fn common(
        &self,
        other: &Joined,
        natural: bool,
        using: &[String],
        scope: &Scope,
    ) -> Result<Vec<(ColumnAt, ColumnAt)>> {
        const CLAUSE: &str = "from clause";
        let column = |side: &Joined, name: &str| scope.only(side.columns.iter().copied(), name);
        let mut pairs = Vec::new();
        if natural {
            for first in &self.columns {
                let name = &scope.tables[first.0].columns[first.1].name;
                match column(other, name) {
                    Err(NotOne::None) => {}
                    Err(NotOne::Several) => return Err(NotOne::Several.error(name, CLAUSE)),
                    Ok(second) => {
                        column(self, name).map_err(|error| error.error(name, CLAUSE))?;
                        pairs.push((*first, second));
                    }
                }
            }
            return Ok(pairs);
        }
        for name in using {
            let of = |side: &Joined| column(side, name).map_err(|error| error.error(name, CLAUSE));
            let pair = (of(self)?, of(other)?);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }
}

/// Returns the comparison of a column with a constant of the column's type.
fn limited(column: Expr, op: ast::BinaryOp, limit: Value) -> Result<Expr> {
    let (ty, coercibility) = (column.ty.clone(), Coercibility::Numeric);
    let limit = Expr { node: Node::Constant(limit), ty, nullable: false, coercibility };
    let collation = crate::expr::comparison_collation(op.symbol(), [&column, &limit].into_iter())?;
    Ok(Expr {
        node: Node::Compare { op, operands: Box::new([column, limit]), collation },
        ty: ColumnType::int(false),
        nullable: false,
        coercibility,
    })
}

/// Returns the condition that two merged columns are equal.
fn equality(scope: &Scope, first: ColumnAt, second: ColumnAt) -> Result<Expr> {
    let operands = [first, second].map(|(table, column)| scope.tables[table].column(column));
    let collation = crate::expr::comparison_collation("=", operands.iter())?;
    Ok(Expr {
        node: Node::Compare { op: ast::BinaryOp::Equal, operands: Box::new(operands), collation },
        ty: ColumnType::int(false),
        nullable: true,
        coercibility: Coercibility::Numeric,
    })
}
