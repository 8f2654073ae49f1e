//! Plans: how a query gets its rows.
//!
//! A plan holds bound expressions and no values. The ranges of an index are computed from the
//! expressions when the plan runs, so that one plan serves every execution of a prepared statement.
//! Conditions from which a range was made stay conditions, because a range may be wider than they
//! are. It is never narrower.

mod access;
mod derivation;
mod groups;
mod index_use;
mod json_table;
mod padding;
mod reading;
mod tree;
mod window;

pub(crate) use access::{
    Access, Answered, Fact, KeyCondition, Wish, accesses, choose, conjuncts, constant_fact, only_choice,
};
pub(crate) use derivation::{Derivation, Made, Origin};
pub(crate) use index_use::{IndexUse, check_together, index_named};
pub(crate) use json_table::{JsonColumn, JsonColumnKind, JsonResponse, JsonRows, JsonTable};
pub(crate) use padding::{Padding, is_padded, pad, pad_columns, unpad};
pub(crate) use reading::{Estimate, HashKey, HashLookup, KeyKind, Nest, NestKind, RowLock};
pub(crate) use tree::{JoinTree, Joining};
pub(crate) use window::{Frame, FrameEdge, SortKey, WindowFunction, WindowKind, WindowPlan};

use crate::ast::SetOperator;
use crate::expr::{Aggregate, Coercibility, Expr, Node, SubqueryCall};
use crate::sink::ColumnMeta;
use engine::{Direction, EntryReader, IndexRef, Table};
use std::sync::Arc;

/// Where the rows of a table in a query come from.
#[derive(Debug)]
pub(crate) enum Source {
    Stored {
        table: Arc<Table>,
        access: Access,
    },
    /// The rows are computed by this crate or by the host when the query runs.
    Virtual {
        schema: String,
        name: String,
    },
    Derived(Box<QueryPlan>),
    /// The table is a derived one and one of the statement's subqueries, because it depends on
    /// other tables or is part of a subquery that does.
    Subquery(SubqueryCall),
    JsonTable(Box<JsonTable>),
}

/// A table of FROM before its access is chosen.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The source of the rows. The access to a stored table is not chosen yet.
    pub source: Source,
    /// The first of the table's slots.
    pub base: usize,
    pub columns: usize,
    /// The name under which the statement knows the table.
    pub alias: String,
    pub index_use: IndexUse,
    /// Whether hints or switches want the table's rows in a hash table. `None` if they say nothing
    /// about it.
    pub hash_hint: Option<bool>,
    /// Whether a hint wants the tables of the derived table or view joined with those around it.
    pub merge_hint: Option<bool>,
    /// The conditions that select the rows of the chosen partitions, and the visible rows of a
    /// table with system versioning.
    pub chosen: Vec<Expr>,
    /// The account with whose rights the table's rows are changed: the definer of the view that
    /// contains the table. `None` means the session's account.
    pub holder: Option<Arc<Holder>>,
}

/// An account: user and host.
pub(crate) type Holder = (String, String);

impl Leaf {
    /// Copies the table. `None` if its source cannot be copied.
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
            index_use: self.index_use.clone(),
            hash_hint: self.hash_hint,
            merge_hint: self.merge_hint,
            chosen: self.chosen.clone(),
            holder: self.holder.clone(),
        })
    }
}

/// One table of the nested loops. The outermost comes first.
#[derive(Debug)]
pub(crate) struct TableStep {
    pub source: Source,
    /// The name under which the statement knows the table.
    pub alias: String,
    /// The first of the table's slots.
    pub base: usize,
    pub columns: usize,
    /// The positions of the columns that some expression needs. Only these are decoded.
    pub needed: Vec<usize>,
    /// Those of `needed` that the loops decode when the access is exact: the others stand only in
    /// conditions that are answered then.
    pub needed_if_exact: Vec<usize>,
    /// Those of `needed` that something beside the step's own conditions reads. `None` means that
    /// this is not known.
    pub needed_beside_conditions: Option<Vec<usize>>,
    /// Those of `needed` that something reads which is not done while the step's hash table is
    /// filled: the table keeps no others. `None` means that this is not known.
    pub kept_by_hash: Option<Vec<usize>>,
    /// The needed columns that get spaces when a row is read. `None` unless the mode
    /// PAD_CHAR_TO_FULL_LENGTH was set when the statement was bound.
    pub padding: Option<Box<Padding>>,
    /// How the needed columns are read from the entries of the index that is read, if the entries
    /// have all of them.
    pub covering: Option<EntryReader>,
    /// The slot that gets the row's key in the clustered tree.
    pub key_slot: Option<usize>,
    pub lock: RowLock,
    /// The nests that begin with this table, outermost first.
    pub nests: Vec<Nest>,
    /// The hash table in which the table's rows are found, if there is one.
    pub hash: Option<HashLookup>,
    /// The conditions that can be decided once this table has a row.
    pub conditions: Vec<Expr>,
    /// The conditions that every row meets which an exact access reads ([`Access::answers`]).
    pub answered: Answered,
    /// The optimizer's estimate. `None` if it had no choice.
    pub estimate: Option<Estimate>,
    /// Which indexes the statement may use.
    pub index_use: IndexUse,
}

impl TableStep {
    /// Reports whether the step can be copied: it reads a stored table, and no nest begins with it.
    pub fn is_copyable(&self) -> bool {
        matches!(self.source, Source::Stored { .. }) && self.nests.is_empty() && self.padding.is_none()
    }

    /// Copies the step. `None` if it cannot be copied.
    pub fn copied(&self) -> Option<TableStep> {
        let Source::Stored { table, access } = &self.source else { return None };
        self.is_copyable().then(|| TableStep {
            source: Source::Stored { table: table.clone(), access: access.clone() },
            alias: self.alias.clone(),
            base: self.base,
            columns: self.columns,
            needed: self.needed.clone(),
            needed_if_exact: self.needed_if_exact.clone(),
            needed_beside_conditions: self.needed_beside_conditions.clone(),
            kept_by_hash: self.kept_by_hash.clone(),
            padding: None,
            covering: self.covering.clone(),
            key_slot: self.key_slot,
            lock: self.lock,
            nests: Vec::new(),
            hash: self.hash.clone(),
            conditions: self.conditions.clone(),
            answered: self.answered,
            estimate: self.estimate,
            index_use: self.index_use.clone(),
        })
    }

    /// Returns the slots of the table that something behind it may read.
    pub fn kept_slots(&self) -> impl Iterator<Item = usize> {
        self.kept().iter().map(|column| self.base + column).chain(self.key_slot)
    }

    /// Returns the columns of the table that its rows have in the loops behind it.
    pub fn kept(&self) -> &[usize] {
        match (&self.hash, &self.kept_by_hash) {
            (Some(_), Some(kept)) => kept,
            _ => &self.needed,
        }
    }
}

/// GROUP BY, or aggregates over all rows.
#[derive(Debug)]
pub(crate) struct Grouping {
    pub keys: Vec<Expr>,
    pub aggregates: Vec<Aggregate>,
    /// Whether the rows of each group come one after the other ([`Grouping::follows`]).
    pub is_in_order: bool,
}

/// MIN and MAX that are read from the ends of indexes.
#[derive(Debug)]
pub(crate) struct IndexEnds {
    pub table: Arc<Table>,
    /// For each aggregate: the index, the position of its first column in the table, and the
    /// direction in which the wanted entry comes first.
    pub ends: Vec<(IndexRef, usize, Direction)>,
}

/// The plan of a SELECT.
#[derive(Debug)]
pub(crate) struct SelectPlan {
    pub tables: Vec<TableStep>,
    /// The number of slots for the tables' columns.
    pub slots: usize,
    /// The conditions that depend on no table. If one of them is not true, there are no rows.
    pub preconditions: Vec<Expr>,
    pub grouping: Option<Grouping>,
    pub index_ends: Option<IndexEnds>,
    pub having: Option<Expr>,
    pub outputs: Vec<Expr>,
    pub order: Vec<SortKey>,
    /// The first table's access delivers the order, provided that its ranges can be computed when
    /// the plan runs.
    pub ordered_by_access: bool,
    pub distinct: bool,
    pub limit: Option<LimitPlan>,
    pub calc_found_rows: bool,
    /// The query before it was planned, if it may be joined with the tables around it.
    pub unplanned: Option<Box<Unplanned>>,
    /// How the rows of a subquery, a derived table or a view are produced. The query around it
    /// needs this, and it is removed when that query is bound.
    pub derivation: Option<Arc<Derivation>>,
}

/// A plain SELECT before it has a plan: what a query around it needs to join its tables.
#[derive(Debug)]
pub(crate) struct Unplanned {
    pub leaves: Vec<Leaf>,
    pub tree: JoinTree,
    pub conditions: Vec<Expr>,
    pub outputs: Vec<Expr>,
    /// The number of slots of its tables.
    pub slots: usize,
    /// The order in which its rows are to come, if it is a derived table or a view.
    pub as_table: Option<Vec<SortKey>>,
    /// Whether hints want a subquery to become a join. `None` if they do not say it.
    pub semijoin: Option<bool>,
    /// It is a view with ALGORITHM=MERGE, which is merged whatever hints and switches say.
    pub is_merged: bool,
    /// Set if it is a view whose rows are changed or locked. The view's tables are then joined with
    /// those around it whatever its columns are.
    pub opened: Option<Opened>,
}

/// What has to be known of a view whose rows are changed or locked.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The conditions of CHECK OPTION for a row that is written through the view.
    pub checks: Vec<Expr>,
    /// The view's tables were moved here, so that it has no plan without the query around it.
    pub is_taken: bool,
}

/// LIMIT: the number of rows, and the number of rows that are skipped before them.
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
    /// Creates a step that reads all rows of a source.
    pub fn new(source: Source, alias: String, base: usize, columns: usize) -> TableStep {
        TableStep {
            source,
            alias,
            base,
            columns,
            needed: Vec::new(),
            needed_if_exact: Vec::new(),
            needed_beside_conditions: None,
            kept_by_hash: None,
            padding: None,
            covering: None,
            key_slot: None,
            lock: RowLock::NONE,
            nests: Vec::new(),
            hash: None,
            conditions: Vec::new(),
            answered: Answered::NONE,
            estimate: None,
            index_use: IndexUse::default(),
        }
    }

    /// Gives the step its conditions.
    pub fn with_conditions(self, conditions: Vec<Expr>) -> TableStep {
        let answered = match &self.source {
            Source::Stored { table, access } => {
                Answered::of(&conditions, |condition| access.answers(table, self.base, condition))
            }
            _ => Answered::NONE,
        };
        TableStep { conditions, answered, ..self }
    }

    /// Notes which of the needed columns are read with their spaces.
    pub fn note_padding(&mut self) {
        if let (Source::Stored { table, .. }, true) = (&self.source, self.index_use.pads_chars) {
            self.padding = Padding::of(table, &self.needed);
        }
    }

    /// Returns all conditions of the step, wherever they are decided.
    pub fn all_conditions(&self) -> impl Iterator<Item = &Expr> {
        self.conditions.iter().chain(self.conditions_beside_rows())
    }

    /// Returns the conditions of the step that are not decided for each of its rows: those of its
    /// nests and of its hash table.
    pub fn conditions_beside_rows(&self) -> impl Iterator<Item = &Expr> {
        let of_nests = self.nests.iter().flat_map(|nest| nest.guards.iter().chain(&nest.conditions));
        of_nests.chain(self.hash.iter().flat_map(|hash| &hash.conditions))
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
    /// Reports whether MySQL would merge this query as a derived table into the query around it,
    /// and not compute it as a whole.
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

    /// Drops the order of the rows, because it makes no difference. With a LIMIT the order stays.
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

/// A branch of a UNION, INTERSECT or EXCEPT.
#[derive(Debug)]
pub(crate) struct Branch {
    pub plan: QueryPlan,
    /// The operator that combines the branch with those before it. It has no meaning for the first
    /// branch.
    pub operator: SetOperator,
    /// There is no ALL: duplicates among the rows of this branch and those before it are removed.
    pub distinct: bool,
}

/// A common table that names itself.
#[derive(Debug)]
pub(crate) struct Recursion {
    /// The query that yields the table's first rows.
    pub seed: QueryPlan,
    /// The query blocks. Each finds further rows from the rows that it has not seen yet.
    pub blocks: Vec<QueryPlan>,
    /// The number of the subquery that stands for the rows that a block has not seen yet.
    pub own_rows: usize,
    /// Rows that the table has already are not added.
    pub distinct: bool,
    pub limit: Option<LimitPlan>,
}

/// The body of a query's plan.
#[derive(Debug)]
pub(crate) enum QueryBody {
    Select(Box<SelectPlan>),
    /// Two or more queries, combined from left to right, or one query with an order of its own.
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
    /// The rows of a query, each with the values of functions over windows in slots of their own.
    Windowed(Box<Windowed>),
    Rolled(Box<Rolled>),
}

/// The rows of a query, grouped by all of the keys, by all but the last one, and so on.
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

/// The plan of a query, with the description of its result.
#[derive(Debug)]
pub(crate) struct QueryPlan {
    pub columns: Vec<ColumnMeta>,
    pub body: QueryBody,
}

/// A subquery of a statement.
#[derive(Debug)]
pub(crate) struct SubPlan {
    pub plan: QueryPlan,
    /// The subquery's value may differ each time it is computed, even for the same arguments.
    pub varies: bool,
    /// The subquery reads user variables.
    pub reads_variables: bool,
    /// The subquery's tables are joined with those around it, so it is never run.
    pub is_joined: bool,
}

impl SubPlan {
    /// Creates the subquery that stands for the rows of a common table that names itself. It gets
    /// the rows when it is read.
    pub fn own_rows() -> SubPlan {
        let body = QueryBody::Values { rows: Vec::new(), limit: None };
        let plan = QueryPlan { columns: Vec::new(), body };
        SubPlan { plan, varies: false, reads_variables: false, is_joined: false }
    }
}

/// Returns a query that yields all rows of some queries, with these columns.
pub(crate) fn union_of(mut branches: Vec<Branch>, columns: Vec<ColumnMeta>) -> QueryPlan {
    match branches.len() {
        1 => branches.swap_remove(0).plan,
        _ => QueryPlan { columns, body: QueryBody::Union { branches, order: Vec::new(), limit: None } },
    }
}

/// Returns the coercibility of a value that combines several values.
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

    /// Reports whether the query has a table in FROM, apart from those of its subqueries.
    pub fn reads_tables(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => !select.tables.is_empty(),
            QueryBody::Values { .. } => false,
            QueryBody::Union { branches, .. } => branches.iter().any(|branch| branch.plan.reads_tables()),
            QueryBody::Recursive(_) | QueryBody::Rolled(_) | QueryBody::Windowed(_) => true,
        }
    }

    /// Returns how strongly the collation of a column holds. As in MySQL, that of a literal holds
    /// as little where a subquery or a derived table yields it.
    pub fn coercibility(&self, at: usize) -> Coercibility {
        match &self.body {
            QueryBody::Select(select) => select.outputs[at].coercibility,
            QueryBody::Values { rows, .. } => strongest(rows.iter().map(|row| row[at].coercibility)),
            QueryBody::Union { branches, .. } => {
                strongest(branches.iter().map(|branch| branch.plan.coercibility(at)))
            }
            QueryBody::Recursive(_) | QueryBody::Windowed(_) | QueryBody::Rolled(_) => {
                Coercibility::of_type(&self.columns[at].ty)
            }
        }
    }

    /// Notes that the query around must not join the tables of this one with its own.
    pub fn stay_a_table(&mut self) {
        if let QueryBody::Select(select) = &mut self.body {
            select.unplanned = None;
            if let Some(derivation) = select.derivation.as_mut().and_then(Arc::get_mut) {
                derivation.merges = false;
            }
        }
    }

    /// Has the query's tables joined with those around it whatever hints and switches say, as those
    /// of a view with ALGORITHM=MERGE.
    pub fn be_merged(&mut self) {
        if let QueryBody::Select(select) = &mut self.body
            && let Some(unplanned) = &mut select.unplanned
        {
            unplanned.is_merged = true;
        }
    }

    /// Removes the description of how the rows are produced, which is no longer needed.
    pub fn forget_derivation(&mut self) {
        if let QueryBody::Select(select) = &mut self.body {
            select.derivation = None;
        }
    }

    /// Notes that at most `most` rows are wanted, in any order. `may_repeat` says that equal rows
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

    /// Says which types of columns the outputs are for. `x'1F'`, for example, is a number in a
    /// numeric column.
    pub fn beside<'t>(&mut self, types: impl Iterator<Item = &'t types::ColumnType>) {
        let QueryBody::Select(select) = &mut self.body else { return };
        for ((output, column), ty) in select.outputs.iter_mut().zip(&mut self.columns).zip(types) {
            let is_time_of_year = ty.code == types::TypeCode::Year
                && output.ty.code == types::TypeCode::Time2
                && !select.distinct;
            let is_vector = ty.code == types::TypeCode::Vector;
            let is_moment_of_bits =
                ty.code == types::TypeCode::Bit && output.ty.is_temporal() && !select.distinct;
            let is_choice = output.ty.code == types::TypeCode::NewDecimal
                && matches!(output.node, Node::If(_) | Node::Case { .. })
                && crate::expr::is_text(ty)
                && !select.distinct;
            let is_converted = is_vector || is_time_of_year || is_moment_of_bits || is_choice;
            if matches!(output.node, Node::HexLiteral(..)) || is_converted {
                *output = output.clone().for_column(ty, None);
                column.ty.clone_from(&output.ty);
            } else if output.is_json() && !select.distinct {
                *output = output.clone().document_for_column(ty, Some(&column.name));
                column.ty.clone_from(&output.ty);
            }
        }
    }

    /// Reports whether the types of the result depend on those of parameters.
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
