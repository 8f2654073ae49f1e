//! Turns a plan into a tree of operations, each with the operations whose rows it takes.

use super::expression::Names;
use crate::ast::SetOperator;
use crate::expr::{Aggregate, AggregateKind, Expr};
use crate::plan::{
    Access, KeyCondition, NestKind, QueryBody, QueryPlan, SelectPlan, Source, SubPlan, TableStep,
};
use engine::{ColumnDef, IndexRef, Table};
use std::borrow::Cow;
use std::cell::RefCell;

/// The optimizer's estimate for an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub cost: f64,
    pub rows: f64,
}

/// An operation, named as in MySQL.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(super) text: String,
    /// The operation's `access_type` in the JSON format.
    pub(super) kind: &'static str,
    pub(super) expected: Option<Expected>,
    pub(super) inputs: Vec<Operation>,
}

fn operation(kind: &'static str, text: impl Into<String>, inputs: Vec<Operation>) -> Operation {
    Operation { text: text.into(), kind, expected: None, inputs }
}

impl Operation {
    /// Returns an operation that takes the rows of this one.
    fn below(self, kind: &'static str, text: impl Into<String>) -> Operation {
        operation(kind, text, vec![self])
    }

    fn filtered(self, names: &Names<'_>, conditions: &[&Expr]) -> Operation {
        match conditions {
            [] => self,
            _ => {
                let expected = self.expected;
                let text = format!("Filter: {}", names.all(conditions));
                Operation { expected, ..self.below("filter", text) }
            }
        }
    }

    fn expecting(self, expected: Option<Expected>) -> Operation {
        Operation { expected, ..self }
    }
}

/// Returns the plan of a statement: its own query first, then the subqueries that it runs.
pub(crate) fn of_query(plan: &QueryPlan, subqueries: &[SubPlan]) -> Vec<Operation> {
    let met = RefCell::new(Vec::new());
    let mut all = vec![query(plan, subqueries, &[], &met)];
    let mut at = 0;
    while let Some((number, arguments)) = { met.borrow().get(at).cloned() } {
        let dependent = if arguments.is_empty() { "run only once" } else { "dependent" };
        let shown = format!("Select #{} (subquery; {dependent})", number + 2);
        let of_subquery = query(&subqueries[number].plan, subqueries, &arguments, &met);
        all.push(of_subquery.below("subquery", shown));
        at += 1;
    }
    all
}

type Met = RefCell<Vec<(usize, Vec<String>)>>;

fn query(plan: &QueryPlan, subqueries: &[SubPlan], arguments: &[String], met: &Met) -> Operation {
    let input = |plan: &QueryPlan| query(plan, subqueries, arguments, met);
    match &plan.body {
        QueryBody::Select(select) => Shown { select, subqueries, arguments, met }.operation(),
        QueryBody::Union { branches, order, limit } => {
            let distinct = branches.iter().any(|branch| branch.distinct);
            let inputs = branches.iter().map(|branch| input(&branch.plan)).collect();
            let operator =
                branches.iter().map(|branch| branch.operator).rfind(|of| *of != SetOperator::Union);
            let text = match (operator, distinct) {
                (None, false) => "Append",
                (None, true) => "Union materialize with deduplication",
                (Some(SetOperator::Intersect), false) => "Intersect all materialize",
                (Some(SetOperator::Intersect), true) => "Intersect materialize with deduplication",
                (Some(_), false) => "Except all materialize",
                (Some(_), true) => "Except materialize with deduplication",
            };
            let mut all = operation("union", text, inputs);
            if !order.is_empty() {
                all = all.below("sort", "Sort");
            }
            if limit.is_some() {
                all = all.below("limit", "Limit");
            }
            all
        }
        QueryBody::Values { .. } => operation("values", "Rows fetched before execution", Vec::new()),
        QueryBody::Windowed(windowed) => {
            let sorted = input(&windowed.input).below("sort", "Sort");
            sorted.below("window", "Window aggregate with buffering")
        }
        QueryBody::Rolled(rolled) => {
            let sorted = input(&rolled.input).below("sort", "Sort");
            sorted.below("aggregate", "Group aggregate with rollup")
        }
        QueryBody::Recursive(recursion) => {
            let blocks = recursion
                .blocks
                .iter()
                .map(|block| input(block).below("recursive", "Repeat until convergence"));
            let inputs = std::iter::once(input(&recursion.seed)).chain(blocks).collect();
            operation("recursive", "Materialize recursive CTE", inputs)
        }
    }
}

/// A SELECT that is printed.
struct Shown<'p> {
    select: &'p SelectPlan,
    subqueries: &'p [SubPlan],
    arguments: &'p [String],
    met: &'p Met,
}

/// Returns an expression in a definition without the quotes around its columns.
fn unquoted(expression: &str) -> String {
    expression.replace('`', "")
}

/// Returns the name of a key's column, or the expression that the key is over.
fn shown_name(column: &ColumnDef) -> Cow<'_, str> {
    match &column.generated {
        Some(made) if column.is_indexed_expression() => unquoted(&made.expression).into(),
        _ => column.name.as_str().into(),
    }
}

impl Shown<'_> {
    fn slot(&self, slot: usize) -> String {
        let SelectPlan { tables, slots, grouping, .. } = self.select;
        if slot >= *slots {
            let aggregate = grouping.as_ref().and_then(|grouping| grouping.aggregates.get(slot - slots));
            return aggregate.map_or_else(|| "?".to_owned(), |aggregate| self.aggregate(aggregate));
        }
        let own = |step: &&TableStep| (step.base..step.base + step.columns).contains(&slot);
        let Some(step) = tables.iter().find(own) else { return "?".to_owned() };
        let at = slot - step.base;
        if let Source::Stored { table, .. } = &step.source
            && let Some(column) = table.def.columns.get(at).filter(|column| column.is_indexed_expression())
            && let Some(made) = &column.generated
        {
            return unquoted(&made.expression);
        }
        let column = match &step.source {
            Source::Stored { table, .. } => table.def.columns.get(at).map(|column| &column.name),
            Source::Derived(plan) => plan.columns.get(at).map(|column| &column.name),
            Source::Subquery(call) => {
                self.subqueries[call.number].plan.columns.get(at).map(|column| &column.name)
            }
            Source::JsonTable(table) => table.rows.column_at(at),
            Source::Virtual { .. } => None,
        };
        match column {
            Some(column) => format!("{}.{column}", step.alias),
            None => format!("{}.#{}", step.alias, at + 1),
        }
    }

    fn aggregate(&self, aggregate: &Aggregate) -> String {
        let name = match &aggregate.kind {
            AggregateKind::CountRows => return "count(0)".to_owned(),
            AggregateKind::Count => "count",
            AggregateKind::Sum => "sum",
            AggregateKind::Avg => "avg",
            AggregateKind::Min => "min",
            AggregateKind::Max => "max",
            AggregateKind::BitAnd => "bit_and",
            AggregateKind::BitOr => "bit_or",
            AggregateKind::BitXor => "bit_xor",
            AggregateKind::Variance { root: true, .. } => "std",
            AggregateKind::Variance { .. } => "variance",
            AggregateKind::GroupConcat { .. } => "group_concat",
            _ => "any_value",
        };
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let list = self.with_names(|names| names.list(aggregate.args.iter(), ","));
        format!("{name}({distinct}{list})")
    }

    fn with_names<T>(&self, take: impl FnOnce(&Names<'_>) -> T) -> T {
        let slot = |slot: usize| self.slot(slot);
        take(&Names { slot: &slot, arguments: self.arguments, subqueries: self.met })
    }

    fn filtered(&self, input: Operation, conditions: &[&Expr]) -> Operation {
        self.with_names(|names| input.filtered(names, conditions))
    }

    fn operation(&self) -> Operation {
        let select = self.select;
        let mut all =
            self.filtered(self.joined(&select.tables, 0), &select.preconditions.iter().collect::<Vec<_>>());
        if let Some(grouping) = &select.grouping {
            let aggregates: Vec<String> =
                grouping.aggregates.iter().map(|aggregate| self.aggregate(aggregate)).collect();
            let aggregates = aggregates.join(", ");
            all = match (&select.index_ends, grouping.keys.is_empty()) {
                (Some(_), _) => {
                    operation("rows_fetched_before_execution", "Rows fetched before execution", Vec::new())
                }
                (None, true) => all.below("aggregate", format!("Aggregate: {aggregates}")),
                (None, false) => all
                    .below("aggregate", "Aggregate using temporary table")
                    .below("table", "Table scan on <temporary>"),
            };
        }
        all = self.filtered(all, &select.having.iter().collect::<Vec<_>>());
        if select.distinct {
            all = all.below("temporary_table", "Temporary table with deduplication");
        }
        if !select.order.is_empty() && !select.ordered_by_access {
            let keys = select.order.iter().map(|key| {
                let key_text = self.with_names(|names| names.list(std::iter::once(&key.expr), ""));
                format!("{key_text}{}", if key.descending { " DESC" } else { "" })
            });
            all = all.below("sort", format!("Sort: {}", keys.collect::<Vec<_>>().join(", ")));
        }
        if let Some(limit) = &select.limit {
            let count = self.with_names(|names| names.list(std::iter::once(&limit.count), ""));
            let offset = self.with_names(|names| names.list(limit.offset.iter(), ""));
            let text = match offset.is_empty() {
                true => format!("Limit: {count} row(s)"),
                false => format!("Limit/Offset: {count}/{offset} row(s)"),
            };
            let expected = all.expected;
            all = all.below("limit", text).expecting(expected);
        }
        all
    }

    /// Returns the operation for the steps, of which the first is within `opened` nests already.
    fn joined(&self, steps: &[TableStep], opened: usize) -> Operation {
        let Some(first) = steps.first() else {
            return operation("rows_fetched_before_execution", "Rows fetched before execution", Vec::new());
        };
        assert!(first.nests.len() == opened, "rows before a nest are of another table");
        let mut all = self.read(first);
        let mut at = 1;
        while let Some(step) = steps.get(at) {
            let nest = step.nests.first();
            let taken = nest.map_or(1, |nest| nest.tables);
            all = self.join(all, &steps[at..at + taken]);
            at += taken;
        }
        all
    }

    /// Returns the join of the rows so far with one table, or with the tables of a nest.
    fn join(&self, left: Operation, steps: &[TableStep]) -> Operation {
        let step = &steps[0];
        let last = steps.last().and_then(|step| step.estimate);
        let expected = last.map(|estimate| Expected { cost: estimate.cost, rows: estimate.rows });
        let nest = step.nests.first();
        let right = self.inner(steps, 0);
        let hash = step.hash.as_ref().filter(|_| steps.len() == 1);
        let text = match (nest.map(|nest| nest.kind), hash.is_some()) {
            (None, false) => "Nested loop inner join",
            (None, true) => "Inner hash join",
            (Some(NestKind::Outer), false) => "Nested loop left join",
            (Some(NestKind::Outer), true) => "Left hash join",
            (Some(NestKind::Semi), false) => "Nested loop semijoin",
            (Some(NestKind::Semi), true) => "Hash semijoin",
            (Some(NestKind::Anti), false) => "Nested loop antijoin",
            (Some(NestKind::Anti), true) => "Hash antijoin",
        };
        let text = match hash {
            Some(_) => format!("{text} ({})", self.keys(step)),
            None => text.to_owned(),
        };
        let joined = operation("join", text, vec![left, right]).expecting(expected);
        match nest {
            Some(nest) => self.filtered(joined, &nest.conditions.iter().collect::<Vec<_>>()),
            None => joined,
        }
    }

    /// Returns the right side of a join: a table, or the contents of its nest.
    fn inner(&self, steps: &[TableStep], opened: usize) -> Operation {
        let step = &steps[0];
        let Some(nest) = step.nests.get(opened) else {
            let mut all = self.read(step);
            let mut at = 1;
            while let Some(next) = steps.get(at) {
                let taken = next.nests.first().map_or(1, |nest| nest.tables);
                all = self.join(all, &steps[at..at + taken]);
                at += taken;
            }
            return all;
        };
        let inside = self.inner(&steps[..nest.tables], opened + 1);
        self.filtered(inside, &nest.guards.iter().collect::<Vec<_>>())
    }

    fn keys(&self, step: &TableStep) -> String {
        let keys = step.hash.iter().flat_map(|hash| &hash.keys);
        let shown = keys.map(|key| format!("({} = {})", self.slot(key.own), self.slot(key.other)));
        shown.collect::<Vec<_>>().join(", ").trim_start_matches('(').trim_end_matches(')').to_owned()
    }

    /// Returns the operation that reads one table, with the conditions that are checked there.
    fn read(&self, step: &TableStep) -> Operation {
        let estimate = step.estimate;
        let read = estimate.map(|estimate| Expected { cost: estimate.cost, rows: estimate.read });
        let source = match &step.source {
            Source::Stored { table, access } => self.accessed(step, table, access).expecting(read),
            Source::Virtual { .. } => operation("table", format!("Table scan on {}", step.alias), Vec::new()),
            Source::JsonTable(_) => {
                let text = format!("Materialize table function on {}", step.alias);
                operation("table", text, Vec::new()).expecting(read)
            }
            Source::Derived(plan) => {
                let inside = query(plan, self.subqueries, self.arguments, self.met);
                let inside = inside.below("materialize", "Materialize");
                operation("table", format!("Table scan on {}", step.alias), vec![inside]).expecting(read)
            }
            Source::Subquery(call) => {
                let arguments = call.args.iter().map(|arg| self.with_names(|names| names.all(&[arg])));
                let arguments: Vec<String> = arguments.collect();
                let plan = &self.subqueries[call.number].plan;
                let inside = query(plan, self.subqueries, &arguments, self.met);
                let inside = inside.below("materialize", "Materialize");
                operation("table", format!("Table scan on {}", step.alias), vec![inside]).expecting(read)
            }
        };
        let Some(hash) = &step.hash else {
            return self.filtered(source, &step.conditions.iter().collect::<Vec<_>>());
        };
        let built = self.filtered(source, &hash.conditions.iter().collect::<Vec<_>>());
        let hashed = built.below("hash", "Hash");
        let conditions: Vec<&Expr> = step.conditions.iter().collect();
        let is_in_nest = step.nests.iter().any(|nest| nest.tables > 1);
        let hashed = match is_in_nest {
            true => hashed.below("hash", format!("Hash lookup on {} ({})", step.alias, self.keys(step))),
            false => hashed,
        };
        self.filtered(hashed, &conditions)
    }

    fn accessed(&self, step: &TableStep, table: &Table, access: &Access) -> Operation {
        let (alias, columns) = (&step.alias, table.index_columns(access.index));
        let index = match access.index {
            IndexRef::Primary => "PRIMARY",
            IndexRef::Secondary(at) => &table.def.indexes[at].name,
        };
        let is_unique = match access.index {
            IndexRef::Primary => true,
            IndexRef::Secondary(at) => table.def.indexes[at].unique,
        };
        let covering = step.covering.is_some();
        let word = |plain: &str| match covering {
            true => format!("Covering {}{}", plain[..1].to_lowercase(), &plain[1..]),
            false => plain.to_owned(),
        };
        let reverse = if access.direction == engine::Direction::Backward { " (reverse)" } else { "" };
        let is_lookup = |one: &KeyCondition| one.list.is_none() && one.low.is_none() && one.high.is_none();
        let (kind, text) = match &access.alternatives[..] {
            [] if access.index == IndexRef::Primary && !access.ordered => {
                ("table", format!("Table scan on {alias}"))
            }
            [] => ("index", format!("{} on {alias} using {index}{reverse}", word("Index scan"))),
            [one] if is_lookup(one) => {
                let is_single = is_unique && one.fixes(columns.len());
                let lookup = match is_single {
                    true => "Single-row index lookup".to_owned(),
                    false => word("Index lookup"),
                };
                let of = self.bounds(table, access, one);
                ("index", format!("{lookup} on {alias} using {index} ({of}){reverse}"))
            }
            several => {
                let ranges = several.iter().map(|one| format!("({})", self.bounds(table, access, one)));
                let ranges = ranges.collect::<Vec<_>>().join(" OR ");
                (
                    "index",
                    format!("{} on {alias} using {index} over {ranges}{reverse}", word("Index range scan")),
                )
            }
        };
        operation(kind, text, Vec::new())
    }

    /// Returns the text of what an index's first columns are compared with.
    fn bounds(&self, table: &Table, access: &Access, condition: &KeyCondition) -> String {
        let mut columns =
            table.index_columns(access.index).iter().map(|part| shown_name(&table.def.columns[part.column]));
        let text = |expr: &Expr| self.with_names(|names| names.all(&[expr]));
        let mut parts = Vec::new();
        for (expr, _) in &condition.equals {
            let Some(column) = columns.next() else { break };
            parts.push(format!("{column} = {}", text(expr)));
        }
        if let Some(column) = columns.next() {
            if let Some(list) = &condition.list {
                let list = list.iter().map(text).collect::<Vec<_>>().join(",");
                parts.push(format!("{column} in ({list})"));
            }
            let sign = |inclusive: bool| if inclusive { "<=" } else { "<" };
            let low = condition
                .low
                .as_ref()
                .map(|(expr, inclusive)| format!("{} {} ", text(expr), sign(*inclusive)));
            let high = condition
                .high
                .as_ref()
                .map(|(expr, inclusive)| format!(" {} {}", sign(*inclusive), text(expr)));
            if low.is_some() || high.is_some() {
                parts.push(format!("{}{column}{}", low.unwrap_or_default(), high.unwrap_or_default()));
            }
        }
        parts.join(", ")
    }
}
