//! The stopwatches of nested loops, for EXPLAIN ANALYZE.
//!
//! The tables and nests that are joined with each other are a *chain*: those of the query, or those
//! within a nest. All joins of a chain begin when its first table is read.

use super::hash_join::HashTable;
use crate::error::Result;
use crate::plan::TableStep;
use crate::stopwatch::{Measures, Operator, Timing, Watch};
use os::clock::monotonic_ns;
use std::cell::RefCell;
use std::ops::Range;

/// The stopwatches of a step.
#[derive(Default)]
struct OfStep {
    read: Watch,
    kept: Watch,
    joined: Watch,
    built: Watch,
    hashed: Watch,
    /// Those of each nest that begins with the step: of what is inside, of the join with the nest,
    /// and of the rows that this join keeps.
    nests: Vec<[Watch; 3]>,
}

impl OfStep {
    fn watch(&mut self, operator: Operator) -> Option<&mut Watch> {
        match operator {
            Operator::Read(_) => Some(&mut self.read),
            Operator::Kept(_) => Some(&mut self.kept),
            Operator::Joined(_) => Some(&mut self.joined),
            Operator::Built(_) => Some(&mut self.built),
            Operator::Hashed(_) => Some(&mut self.hashed),
            Operator::Inside(_, nest) => Some(&mut self.nests[nest][0]),
            Operator::WithNest(_, nest) => Some(&mut self.nests[nest][1]),
            Operator::NestKept(_, nest) => Some(&mut self.nests[nest][2]),
            Operator::Whole | Operator::Grouped | Operator::Having | Operator::Ordered => None,
        }
    }
}

/// The stopwatches of one execution of nested loops.
pub(super) struct Watches {
    /// Those of each step. Loops that are not measured have none.
    steps: RefCell<Vec<OfStep>>,
}

/// Returns the operations of a step, whose position is `at`.
fn operators(at: usize, step: &TableStep) -> impl Iterator<Item = Operator> {
    let own = [
        Operator::Read(at),
        Operator::Kept(at),
        Operator::Joined(at),
        Operator::Built(at),
        Operator::Hashed(at),
    ];
    let of_nest =
        move |nest| [Operator::Inside(at, nest), Operator::WithNest(at, nest), Operator::NestKept(at, nest)];
    own.into_iter().chain((0..step.nests.len()).flat_map(of_nest))
}

impl Watches {
    /// Returns what loops that are not measured have.
    pub fn none() -> Watches {
        Watches { steps: RefCell::default() }
    }

    pub fn of(tables: &[TableStep]) -> Watches {
        let of_step = |step: &TableStep| {
            let nests = step.nests.iter().map(|_| Default::default()).collect();
            OfStep { nests, ..OfStep::default() }
        };
        Watches { steps: RefCell::new(tables.iter().map(of_step).collect()) }
    }

    fn with(&self, operator: Operator, change: impl FnOnce(&mut Watch)) {
        let mut steps = self.steps.borrow_mut();
        let of_step = operator.step().and_then(|at| steps.get_mut(at));
        if let Some(watch) = of_step.and_then(|of_step| of_step.watch(operator)) {
            change(watch);
        }
    }

    /// Begins a loop of an operation.
    pub fn begin(&self, operator: Operator) {
        let now_ns = monotonic_ns();
        self.with(operator, |watch| watch.begin(now_ns));
    }

    /// Ends a loop of an operation.
    pub fn end(&self, operator: Operator) {
        let now_ns = monotonic_ns();
        self.with(operator, |watch| watch.end(now_ns));
    }

    /// Returns the joins of the chain of these steps, of which the first is within `opened` nests.
    fn joins(tables: &[TableStep], steps: Range<usize>, opened: usize) -> Vec<Operator> {
        let (mut joins, mut at, mut opened) = (Vec::new(), steps.start, opened);
        while at < steps.end {
            match tables[at].nests.get(opened) {
                Some(nest) => {
                    joins.extend([Operator::WithNest(at, opened), Operator::NestKept(at, opened)]);
                    at += nest.tables;
                }
                None => {
                    joins.push(Operator::Joined(at));
                    at += 1;
                }
            }
            opened = 0;
        }
        joins
    }

    /// Begins the joins of a chain.
    pub fn begin_chain(&self, tables: &[TableStep], steps: Range<usize>, opened: usize) {
        Self::joins(tables, steps, opened).into_iter().for_each(|join| self.begin(join));
    }

    /// Ends the joins of a chain.
    pub fn end_chain(&self, tables: &[TableStep], steps: Range<usize>, opened: usize) {
        Self::joins(tables, steps, opened).into_iter().for_each(|join| self.end(join));
    }

    /// Measures `run`, which takes a row that an operation passes on. What a table's conditions let
    /// through is also what its join yields.
    pub fn passing<T>(&self, operator: Operator, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let joined = match operator {
            Operator::Kept(at) => Some(Operator::Joined(at)),
            _ => None,
        };
        let left_ns = monotonic_ns();
        for operator in std::iter::once(operator).chain(joined) {
            self.with(operator, |watch| watch.pass(left_ns));
        }
        let done = run();
        let now_ns = monotonic_ns();
        for operator in std::iter::once(operator).chain(joined) {
            self.with(operator, |watch| watch.back(left_ns, now_ns));
        }
        done
    }

    /// Measures how the hash table of a step is built.
    pub fn building(&self, at: usize, build: impl FnOnce() -> Result<HashTable>) -> Result<HashTable> {
        let begun_ns = monotonic_ns();
        let table = build()?;
        let all_ns = monotonic_ns().saturating_sub(begun_ns);
        let (read, kept) = table.sizes();
        for (operator, rows) in [(Operator::Built(at), read), (Operator::Hashed(at), kept)] {
            let timing = Timing { loops: 1, rows, first_ns: all_ns, all_ns };
            self.with(operator, |watch| *watch = Watch::ended(timing));
        }
        Ok(table)
    }

    /// Adds what was measured to the figures of the statement.
    pub fn add_to(&self, measures: &Measures, tables: &[TableStep]) {
        for (at, (of_step, step)) in self.steps.borrow_mut().iter_mut().zip(tables).enumerate() {
            for operator in operators(at, step) {
                if let Some(watch) = of_step.watch(operator) {
                    measures.add(tables, operator, watch.timing());
                }
            }
        }
    }
}
