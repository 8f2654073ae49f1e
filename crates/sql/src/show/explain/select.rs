//! The operations of a SELECT, and of the joins that UPDATE and DELETE read.

use super::access::{accessed, unquoted};
use super::expression::Names;
use super::operation::{Expected, Operation, Printed, constant_rows, operation, with_rows};
use crate::expr::{Aggregate, AggregateKind, Expr};
use crate::plan::{Grouping, NestKind, QueryPlan, SelectPlan, Source, TableStep};
use crate::stopwatch::{Operator, Timing};

/// A query block that is printed.
pub(super) struct Shown<'p> {
    pub steps: &'p [TableStep],
    pub slots: usize,
    pub grouping: Option<&'p Grouping>,
    pub printed: &'p Printed<'p>,
    /// The texts of the arguments of the subquery that the block is.
    pub arguments: &'p [String],
}

impl Shown<'_> {
    pub(super) fn slot(&self, slot: usize) -> String {
        if slot >= self.slots {
            let aggregate = self.grouping.and_then(|grouping| grouping.aggregates.get(slot - self.slots));
            return aggregate.map_or_else(|| "?".to_owned(), |aggregate| self.aggregate(aggregate));
        }
        let own = |step: &&TableStep| (step.base..step.base + step.columns).contains(&slot);
        let Some(step) = self.steps.iter().find(own) else { return "?".to_owned() };
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
                self.printed.subqueries[call.number].plan.columns.get(at).map(|column| &column.name)
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
        if aggregate.kind == AggregateKind::CountRows {
            return "count(0)".to_owned();
        }
        let name = aggregate.kind.name();
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let list = self.with_names(|names| names.list(aggregate.args.iter(), ","));
        format!("{name}({distinct}{list})")
    }

    pub(super) fn with_names<T>(&self, take: impl FnOnce(&Names<'_>) -> T) -> T {
        let slot = |slot: usize| self.slot(slot);
        take(&Names { slot: &slot, arguments: self.arguments, subqueries: self.printed.met })
    }

    fn filtered<'e>(
        &self,
        input: Operation,
        conditions: impl IntoIterator<Item = &'e Expr>,
        actual: Option<Timing>,
    ) -> Operation {
        let conditions: Vec<&Expr> = conditions.into_iter().collect();
        self.with_names(|names| input.filtered(names, &conditions, actual))
    }

    fn query(&self, plan: &QueryPlan, arguments: &[String]) -> Operation {
        (self.printed.query)(self.printed, plan, arguments)
    }

    /// Returns what was measured of an operation of the block's joins.
    fn timing(&self, operator: Operator) -> Option<Timing> {
        self.printed.timing(self.steps, operator)
    }

    /// Returns the operation for the whole query block. `whole` is what was measured of it.
    pub(super) fn select(&self, select: &SelectPlan, whole: Option<Timing>) -> Operation {
        let mut all = self.whole_join(&select.preconditions, whole);
        let mut so_far = whole;
        if let Some(grouping) = &select.grouping {
            so_far = self.printed.timing(select, Operator::Grouped);
            let collected = so_far.map(|timing| Timing { all_ns: timing.first_ns, ..timing });
            let aggregates: Vec<String> =
                grouping.aggregates.iter().map(|aggregate| self.aggregate(aggregate)).collect();
            let aggregates = aggregates.join(", ");
            all = match (&select.index_ends, grouping.keys.is_empty()) {
                (Some(_), _) => constant_rows(),
                (None, true) => all.below("aggregate", format!("Aggregate: {aggregates}")),
                (None, false) if grouping.is_in_order => {
                    let text = if aggregates.is_empty() {
                        "Group (no aggregates)".to_owned()
                    } else {
                        format!("Group aggregate: {aggregates}")
                    };
                    all.below("aggregate", text)
                }
                (None, false) => all
                    .below("aggregate", "Aggregate using temporary table")
                    .measured(collected)
                    .below("table", "Table scan on <temporary>"),
            };
            all = all.measured(so_far);
        }
        if let Some(having) = &select.having {
            let actual = with_rows(so_far, self.printed.timing(select, Operator::Having));
            all = self.filtered(all, [having], actual);
        }
        let ordered = with_rows(whole, self.printed.timing(select, Operator::Ordered));
        if select.distinct {
            all = all.below("temporary_table", "Temporary table with deduplication").measured(ordered);
        }
        if !select.order.is_empty() && !select.ordered_by_access {
            let keys = select.order.iter().map(|key| {
                let key_text = self.with_names(|names| names.list(std::iter::once(&key.expr), ""));
                format!("{key_text}{}", if key.descending { " DESC" } else { "" })
            });
            let text = format!("Sort: {}", keys.collect::<Vec<_>>().join(", "));
            all = all.below("sort", text).measured(ordered);
        }
        if let Some(limit) = &select.limit {
            let count = self.with_names(|names| names.list(std::iter::once(&limit.count), ""));
            let offset = self.with_names(|names| names.list(limit.offset.iter(), ""));
            let text = match offset.is_empty() {
                true => format!("Limit: {count} row(s)"),
                false => format!("Limit/Offset: {count}/{offset} row(s)"),
            };
            let expected = all.expected;
            all = all.below("limit", text).expecting(expected).measured(whole);
        }
        self.with_names(|names| names.meet(select.outputs.iter()));
        all
    }

    /// Returns the operation for all tables of the block, with the conditions that depend on none
    /// of them. `whole` is what was measured of the block.
    pub(super) fn whole_join(&self, preconditions: &[Expr], whole: Option<Timing>) -> Operation {
        let joined = match self.steps.first() {
            Some(_) => self.chain(self.steps),
            None => constant_rows().measured(whole),
        };
        let actual = match (joined.actual, whole) {
            // The conditions do not hold, so no table was read.
            (Some(Timing { loops: 0, .. }), Some(whole)) => Some(Timing { rows: 0, ..whole }),
            (actual, _) => actual,
        };
        self.filtered(joined, preconditions, actual)
    }

    /// Returns the operation for steps that are joined with each other.
    fn chain(&self, steps: &[TableStep]) -> Operation {
        let mut all = self.read(&steps[0]);
        let mut at = 1;
        while let Some(step) = steps.get(at) {
            let taken = step.nests.first().map_or(1, |nest| nest.tables);
            all = self.join(all, &steps[at..at + taken]);
            at += taken;
        }
        all
    }

    /// Returns the position of a step among all steps of the block.
    fn position(&self, step: &TableStep) -> usize {
        let position = self.steps.iter().position(|other| std::ptr::eq(other, step));
        position.expect("a block is printed with its own steps")
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
        let at = self.position(step);
        let operator = if nest.is_some() { Operator::WithNest(at, 0) } else { Operator::Joined(at) };
        let joined = operation("join", text, vec![left, right]).expecting(expected);
        let joined = joined.measured(self.timing(operator));
        match nest {
            Some(nest) => self.filtered(joined, &nest.conditions, self.timing(Operator::NestKept(at, 0))),
            None => joined,
        }
    }

    /// Returns the right side of a join: a table, or the contents of its nest.
    fn inner(&self, steps: &[TableStep], opened: usize) -> Operation {
        let step = &steps[0];
        let Some(nest) = step.nests.get(opened) else { return self.chain(steps) };
        let inside = self.inner(&steps[..nest.tables], opened + 1);
        let actual = self.timing(Operator::Inside(self.position(step), opened));
        self.filtered(inside, &nest.guards, actual)
    }

    fn keys(&self, step: &TableStep) -> String {
        let keys = step.hash.iter().flat_map(|hash| &hash.keys);
        let shown = keys.map(|key| format!("{} = {}", self.slot(key.own), self.slot(key.other)));
        shown.collect::<Vec<_>>().join("), (")
    }

    /// Returns the operation that reads one table, with the conditions that are checked there.
    fn read(&self, step: &TableStep) -> Operation {
        let at = self.position(step);
        if let Source::Derived(plan) = &step.source
            && step.alias.is_empty()
        {
            // These are the rows of a stage of the block itself, such as that of window functions.
            let stage = self.query(plan, self.arguments);
            return self.filtered(stage, &step.conditions, self.timing(Operator::Kept(at)));
        }
        let source = match step.hash {
            None => self.source(step).measured(self.timing(Operator::Read(at))),
            Some(_) => self.source(step).measured(self.timing(Operator::Built(at))),
        };
        let kept = self.timing(Operator::Kept(at));
        let Some(hash) = &step.hash else { return self.filtered(source, &step.conditions, kept) };
        let built = self.filtered(source, &hash.conditions, self.timing(Operator::Hashed(at)));
        let hashed = built.below("hash", "Hash");
        let is_in_nest = step.nests.iter().any(|nest| nest.tables > 1);
        let hashed = match is_in_nest {
            true => {
                let text = format!("Hash lookup on {} ({})", step.alias, self.keys(step));
                hashed.below("hash", text).measured(self.timing(Operator::Read(at)))
            }
            false => hashed,
        };
        self.filtered(hashed, &step.conditions, kept)
    }

    /// Returns the operation that reads one table.
    fn source(&self, step: &TableStep) -> Operation {
        let read = step.estimate.map(|estimate| Expected { cost: estimate.cost, rows: estimate.read });
        let scanned = |inside: Operation| {
            let made = inside.actual.map(|timing| Timing { first_ns: timing.all_ns, ..timing });
            let inside = inside.below("materialize", "Materialize").measured(made);
            operation("table", format!("Table scan on {}", step.alias), vec![inside])
        };
        let source = match &step.source {
            Source::Stored { table, access } => {
                let text = |expr: &Expr| self.with_names(|names| names.all(&[expr]));
                accessed(step, table, access, &text)
            }
            Source::Virtual { .. } => {
                return operation("table", format!("Table scan on {}", step.alias), Vec::new());
            }
            Source::JsonTable(_) => {
                operation("table", format!("Materialize table function on {}", step.alias), Vec::new())
            }
            Source::Derived(plan) => scanned(self.query(plan, self.arguments)),
            Source::Subquery(call) if self.printed.own_rows.borrow().contains(&call.number) => {
                operation("table", format!("Scan new records on {}", step.alias), Vec::new())
            }
            Source::Subquery(call) => {
                let arguments = call.args.iter().map(|arg| self.with_names(|names| names.all(&[arg])));
                let arguments: Vec<String> = arguments.collect();
                scanned(self.query(&self.printed.subqueries[call.number].plan, &arguments))
            }
        };
        source.expecting(read)
    }
}
