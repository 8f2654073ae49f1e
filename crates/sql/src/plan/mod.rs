//! How a query gets its rows.
//!
//! A plan holds bound expressions and no values: the ranges of an index are computed from them when
//! it runs, so that one plan serves every execution of a prepared statement. Conditions that chose
//! a range stay conditions: a range may be wider than them, never narrower.

mod access;
mod derivation;
mod json_table;
mod reading;
mod tree;
mod window;

pub(crate) use access::{Access, KeyCondition, Wish, accesses, choose, conjuncts, only_choice};
pub(crate) use derivation::{Derivation, Made, Origin};
pub(crate) use json_table::{JsonColumn, JsonColumnKind, JsonResponse, JsonRows, JsonTable};
pub(crate) use reading::{Estimate, HashKey, HashLookup, KeyKind, Nest, NestKind, RowLock};
pub(crate) use tree::{JoinTree, Joining};
pub(crate) use window::{Frame, FrameEdge, SortKey, WindowFunction, WindowKind, WindowPlan};

use crate::ast::{IndexHint, SetOperator};
use crate::expr::{Aggregate, Coercibility, Expr, Node, SubqueryCall};
use crate::sink::ColumnMeta;
use engine::{Direction, EntryReader, IndexRef, Table};
use std::sync::Arc;

/// Where the rows of a table of a query come from.
#[derive(Debug)]
pub(crate) enum Source {
    Stored {
        table: Arc<Table>,
        access: Access,
    },
    /// Computed by this crate or the host when the query runs.
    Virtual {
        schema: String,
        name: String,
    },
    Derived(Box<QueryPlan>),
    /// A derived table that is one of the statement's subqueries: it depends on other tables, or is
    /// part of a subquery that does.
    Subquery(SubqueryCall),
    JsonTable(Box<JsonTable>),
}

/// A table of FROM before its access is chosen.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// A stored table's access is yet to be chosen.
    pub source: Source,
    /// First of its slots.
    pub base: usize,
    pub columns: usize,
    /// The name under which the statement knows it.
    pub alias: String,
    pub hints: Vec<IndexHint>,
    /// Whether hints want its rows in a hash table.
    pub hash_hint: Option<bool>,
    /// What holds of the rows of the partitions that were chosen, and of those that are seen of a
    /// table with system versioning.
    pub chosen: Vec<Expr>,
    /// The account with whose rights its rows are changed: the definer of the view that the table
    /// is of. `None`: the session's account.
    pub holder: Option<Arc<Holder>>,
}

/// An account: user and host.
pub(crate) type Holder = (String, String);

impl Leaf {
    /// The same table once more, where its rows are not those of a plan of its own.
    pub fn copied(&self) -> Option<Leaf> {
        let source = match &self.source {
            Source::Stored { table, access } => {
                Source::Stored { table: table.clone(), access: access.clone() }
            }
            Source::Virtual { schema, name } => {
                Source::Virtual { schema: schema.clone(), name: name.clone() }
            }
            Source::Subquery(call) => Source::Subquery(call.clone()),
            Source::Derived(_) | Source::JsonTable(_) => return None,
        };
        Some(Leaf {
            source,
            base: self.base,
            columns: self.columns,
            alias: self.alias.clone(),
            hints: self.hints.clone(),
            hash_hint: self.hash_hint,
            chosen: self.chosen.clone(),
            holder: self.holder.clone(),
        })
    }
}

/// One table of the nested loops, outermost first.
#[derive(Debug)]
pub(crate) struct TableStep {
    pub source: Source,
    /// The name under which the statement knows it.
    pub alias: String,
    /// First of its slots.
    pub base: usize,
    pub columns: usize,
    /// Columns that some expression needs: only these are decoded.
    pub needed: Vec<usize>,
    /// How they are read from the entries of the index that is read, if it has them all.
    pub covering: Option<EntryReader>,
    /// The slot that gets the row's key in the clustered index.
    pub key_slot: Option<usize>,
    pub lock: RowLock,
    /// The nests that begin with this table, outermost first.
    pub nests: Vec<Nest>,
    /// Its rows are found in a hash table.
    pub hash: Option<HashLookup>,
    /// Conditions that can be decided once this table has a row.
    pub conditions: Vec<Expr>,
    /// Where the optimizer has had a choice.
    pub estimate: Option<Estimate>,
}

/// GROUP BY, or aggregates over all rows.
#[derive(Debug)]
pub(crate) struct Grouping {
    pub keys: Vec<Expr>,
    pub aggregates: Vec<Aggregate>,
}

/// MIN and MAX that are at the ends of an index.
#[derive(Debug)]
pub(crate) struct IndexEnds {
    pub table: Arc<Table>,
    /// For each aggregate: the index, its first column, and from which end.
    pub ends: Vec<(IndexRef, usize, Direction)>,
}

/// A SELECT.
#[derive(Debug)]
pub(crate) struct SelectPlan {
    pub tables: Vec<TableStep>,
    /// Slots of the tables' columns.
    pub slots: usize,
    /// Conditions on no table: when one does not hold, there are no rows.
    pub preconditions: Vec<Expr>,
    pub grouping: Option<Grouping>,
    pub index_ends: Option<IndexEnds>,
    pub having: Option<Expr>,
    pub outputs: Vec<Expr>,
    pub order: Vec<SortKey>,
    /// The first table's access delivers the order, as long as its ranges could be computed.
    pub ordered_by_access: bool,
    pub distinct: bool,
    pub limit: Option<LimitPlan>,
    pub calc_found_rows: bool,
    /// Of a subquery that may be joined with the tables around it.
    pub unplanned: Option<Box<Unplanned>>,
    /// Of a subquery, a derived table or a view, for the query around it: gone once that is bound.
    pub derivation: Option<Arc<Derivation>>,
}

/// A plain SELECT before it has a plan: what a query around needs to join its tables.
#[derive(Debug)]
pub(crate) struct Unplanned {
    pub leaves: Vec<Leaf>,
    pub tree: JoinTree,
    pub conditions: Vec<Expr>,
    pub outputs: Vec<Expr>,
    /// Slots of its tables.
    pub slots: usize,
    /// Of a derived table or a view: the order that its rows are to come in.
    pub as_table: Option<Vec<SortKey>>,
    /// It is a view's whose rows are changed or locked: its tables are joined with those around
    /// whatever its columns are. `None`: it is not.
    pub opened: Option<Opened>,
}

/// What is to be known of a view whose rows are changed or locked.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What CHECK OPTION asks of a row that is put through it.
    pub checks: Vec<Expr>,
    /// Its tables are here only: without the query around there is no plan.
    pub is_taken: bool,
}

/// LIMIT.
#[derive(Debug)]
pub(crate) struct LimitPlan {
    pub count: Expr,
    pub offset: Option<Expr>,
}

impl LimitPlan {
    fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        f(&self.count);
        self.offset.iter().for_each(f);
    }
}

impl TableStep {
    /// A step that reads all rows of a source.
    pub fn new(source: Source, alias: String, base: usize, columns: usize) -> TableStep {
        TableStep {
            source,
            alias,
            base,
            columns,
            needed: Vec::new(),
            covering: None,
            key_slot: None,
            lock: RowLock::NONE,
            nests: Vec::new(),
            hash: None,
            conditions: Vec::new(),
            estimate: None,
        }
    }

    /// Its conditions, wherever they are decided.
    pub fn all_conditions(&self) -> impl Iterator<Item = &Expr> {
        let of_nests = self.nests.iter().flat_map(|nest| nest.guards.iter().chain(&nest.conditions));
        let of_hash = self.hash.iter().flat_map(|hash| &hash.conditions);
        self.conditions.iter().chain(of_nests).chain(of_hash)
    }

    fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        self.all_conditions().for_each(&mut *f);
        match &self.source {
            Source::Derived(plan) => plan.visit(f),
            Source::Subquery(call) => call.args.iter().for_each(f),
            Source::JsonTable(table) => f(&table.document),
            Source::Stored { .. } | Source::Virtual { .. } => {}
        }
    }
}

impl SelectPlan {
    /// Whether MySQL makes a derived table of this part of the query around it, in place of
    /// computing it as a whole.
    pub fn is_merged(&self) -> bool {
        let mut is_plain = true;
        self.outputs.iter().for_each(|output| {
            output.visit(&mut |expr| {
                is_plain &= !matches!(
                    expr.node,
                    Node::Subquery { .. }
                        | Node::Quantified(_)
                        | Node::RowSubquery(_)
                        | Node::AssignVariable(..)
                );
            });
        });
        let is_filter = self.grouping.is_none() && self.having.is_none() && self.limit.is_none();
        is_plain && is_filter && !self.distinct && !self.tables.is_empty()
    }

    /// Says that the order of the rows is nothing to anybody.
    pub fn forget_order(&mut self) {
        if self.limit.is_none() {
            self.order.clear();
            self.ordered_by_access = false;
        }
    }

    fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        self.tables.iter().for_each(|step| step.visit(f));
        self.preconditions.iter().chain(&self.having).chain(&self.outputs).for_each(&mut *f);
        if let Some(grouping) = &self.grouping {
            grouping.keys.iter().for_each(&mut *f);
            grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args).for_each(&mut *f);
        }
        self.order.iter().for_each(|key| f(&key.expr));
        self.limit.iter().for_each(|limit| limit.visit(f));
    }
}

/// A query of a UNION, or of its like.
#[derive(Debug)]
pub(crate) struct Branch {
    pub plan: QueryPlan,
    /// What puts it together with those before it; of the first one it says nothing.
    pub operator: SetOperator,
    /// Without ALL: the rows before it and its own lose their duplicates.
    pub distinct: bool,
}

/// A common table that names itself.
#[derive(Debug)]
pub(crate) struct Recursion {
    /// The first of its rows.
    pub seed: QueryPlan,
    /// Each finds further rows from those that it has not yet seen.
    pub blocks: Vec<QueryPlan>,
    /// The subquery that stands for the rows that a block has not yet seen.
    pub own_rows: usize,
    /// Rows that are there already are not added.
    pub distinct: bool,
    pub limit: Option<LimitPlan>,
}

/// What a query does.
#[derive(Debug)]
pub(crate) enum QueryBody {
    Select(Box<SelectPlan>),
    /// Two or more queries, put together from left to right; one, with an order of its own.
    Union {
        branches: Vec<Branch>,
        order: Vec<SortKey>,
        limit: Option<Box<LimitPlan>>,
    },
    /// `VALUES ROW(...), ...`
    Values {
        rows: Vec<Vec<Expr>>,
        limit: Option<Box<LimitPlan>>,
    },
    Recursive(Box<Recursion>),
    /// The rows of a query, each with the values of functions over windows in slots of its own.
    Windowed(Box<Windowed>),
    Rolled(Box<Rolled>),
}

/// The rows of a query, in groups by all of the keys, by all but the last one, and so on.
#[derive(Debug)]
pub(crate) struct Rolled {
    pub input: QueryPlan,
    pub keys: Vec<SortKey>,
    pub aggregates: Vec<Aggregate>,
}

/// The rows of a query, and the windows over them.
#[derive(Debug)]
pub(crate) struct Windowed {
    pub input: QueryPlan,
    pub windows: Vec<WindowPlan>,
}

/// A query with the description of its result.
#[derive(Debug)]
pub(crate) struct QueryPlan {
    pub columns: Vec<ColumnMeta>,
    pub body: QueryBody,
}

/// A subquery of a statement.
#[derive(Debug)]
pub(crate) struct SubPlan {
    pub plan: QueryPlan,
    /// Its value may be another one each time, for the same arguments.
    pub varies: bool,
    /// It reads user variables.
    pub reads_variables: bool,
    /// Its tables are joined with those around it: nobody runs it.
    pub is_joined: bool,
}

impl SubPlan {
    /// What stands for the rows of a common table that names itself; it is given them when it is
    /// read.
    pub fn own_rows() -> SubPlan {
        let body = QueryBody::Values { rows: Vec::new(), limit: None };
        let plan = QueryPlan { columns: Vec::new(), body };
        SubPlan { plan, varies: false, reads_variables: false, is_joined: false }
    }
}

/// All rows of some queries, with these columns.
pub(crate) fn union_of(mut branches: Vec<Branch>, columns: Vec<ColumnMeta>) -> QueryPlan {
    match branches.len() {
        1 => branches.swap_remove(0).plan,
        _ => QueryPlan { columns, body: QueryBody::Union { branches, order: Vec::new(), limit: None } },
    }
}

/// The coercibility of what several values are put together to.
fn strongest(all: impl Iterator<Item = Coercibility>) -> Coercibility {
    all.min().unwrap_or(Coercibility::Implicit)
}

impl QueryPlan {
    /// Calls `f` for each expression of the query and of its derived tables.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        match &self.body {
            QueryBody::Select(select) => select.visit(f),
            QueryBody::Union { branches, order, limit } => {
                branches.iter().for_each(|branch| branch.plan.visit(f));
                order.iter().for_each(|key| f(&key.expr));
                limit.iter().for_each(|limit| limit.visit(f));
            }
            QueryBody::Values { rows, limit } => {
                rows.iter().flatten().for_each(&mut *f);
                limit.iter().for_each(|limit| limit.visit(f));
            }
            QueryBody::Recursive(recursion) => {
                recursion.seed.visit(f);
                recursion.blocks.iter().for_each(|block| block.visit(f));
                recursion.limit.iter().for_each(|limit| limit.visit(f));
            }
            QueryBody::Rolled(rolled) => {
                rolled.input.visit(f);
                rolled.keys.iter().for_each(|key| f(&key.expr));
                rolled.aggregates.iter().flat_map(|aggregate| &aggregate.args).for_each(f);
            }
            QueryBody::Windowed(windowed) => {
                windowed.input.visit(f);
                windowed.windows.iter().for_each(|window| window.visit(f));
            }
        }
    }

    /// Whether it has any table in FROM, beside those of its subqueries.
    pub fn reads_tables(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => !select.tables.is_empty(),
            QueryBody::Values { .. } => false,
            QueryBody::Union { branches, .. } => branches.iter().any(|branch| branch.plan.reads_tables()),
            QueryBody::Recursive(_) | QueryBody::Rolled(_) | QueryBody::Windowed(_) => true,
        }
    }

    /// How strongly the collation of a column holds against that of another query's.
    pub fn coercibility(&self, at: usize) -> Coercibility {
        match &self.body {
            QueryBody::Select(select) => select.outputs[at].coercibility,
            QueryBody::Values { rows, .. } => strongest(rows.iter().map(|row| row[at].coercibility)),
            QueryBody::Union { branches, .. } => {
                strongest(branches.iter().map(|branch| branch.plan.coercibility(at)))
            }
            QueryBody::Recursive(_) | QueryBody::Windowed(_) | QueryBody::Rolled(_) => Coercibility::Implicit,
        }
    }

    /// Says that the query around does not join its tables with its own.
    pub fn stay_a_table(&mut self) {
        if let QueryBody::Select(select) = &mut self.body {
            select.unplanned = None;
            if let Some(derivation) = select.derivation.as_mut().and_then(Arc::get_mut) {
                derivation.merges = false;
            }
        }
    }

    /// Says that nobody asks any longer how its rows are made.
    pub fn forget_derivation(&mut self) {
        if let QueryBody::Select(select) = &mut self.body {
            select.derivation = None;
        }
    }

    /// Says that no more than so many rows are wanted, in whatever order, and whether equal ones
    /// may be among them.
    pub fn want_rows(&mut self, most: i64, may_repeat: bool) {
        let QueryBody::Select(select) = &mut self.body else { return };
        if select.limit.is_some() {
            return;
        }
        select.forget_order();
        select.distinct &= !may_repeat;
        select.limit = Some(LimitPlan { count: Expr::constant(types::Value::Int(most)), offset: None });
    }

    /// Says which types the outputs are for: `x'1F'` is a number for a number.
    pub fn beside<'t>(&mut self, types: impl Iterator<Item = &'t types::ColumnType>) {
        let QueryBody::Select(select) = &mut self.body else { return };
        for ((output, column), ty) in select.outputs.iter_mut().zip(&mut self.columns).zip(types) {
            if matches!(output.node, Node::HexLiteral(_)) || ty.code == types::TypeCode::Vector {
                *output = output.clone().for_column(ty);
                column.ty.clone_from(&output.ty);
            }
        }
    }

    /// Whether the result's types depend on those of parameters.
    pub fn tells_of_parameters(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => {
                let derived = select.tables.iter().any(|step| match &step.source {
                    Source::Derived(plan) => plan.tells_of_parameters(),
                    _ => false,
                });
                derived || select.outputs.iter().any(Expr::has_parameter)
            }
            QueryBody::Union { branches, .. } => {
                branches.iter().any(|branch| branch.plan.tells_of_parameters())
            }
            QueryBody::Values { rows, .. } => rows.iter().flatten().any(Expr::has_parameter),
            QueryBody::Recursive(recursion) => recursion.seed.tells_of_parameters(),
            QueryBody::Rolled(rolled) => {
                let args = rolled.aggregates.iter().flat_map(|aggregate| &aggregate.args);
                let keys = rolled.keys.iter().map(|key| &key.expr);
                rolled.input.tells_of_parameters() || args.chain(keys).any(Expr::has_parameter)
            }
            QueryBody::Windowed(windowed) => {
                let mut found = windowed.input.tells_of_parameters();
                let functions = windowed.windows.iter().flat_map(|window| &window.functions);
                functions.for_each(|function| function.visit(&mut |expr| found |= expr.has_parameter()));
                found
            }
        }
    }
}
