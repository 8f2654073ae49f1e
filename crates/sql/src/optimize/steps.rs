//! Building of a block's steps in the order that was found.

use super::block::{Block, Member};
use super::counted::Counted;
use super::dive::Constants;
use super::equalities::{equal_columns, take_classes};
use super::estimate::{self, Size};
use super::factors::implied;
use super::freedom::Freedom;
use super::method::{Method, hash_keys};
use super::order::Ordering;
use super::tables::{Mask, Tables};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::plan::{Access, Estimate, HashLookup, Leaf, Nest, NestKind, Source, TableStep, Wish, choose};
use engine::Table;

/// The planner, which turns blocks into steps.
pub(super) struct Planner<'t> {
    pub tables: &'t Tables,
    pub constants: Constants<'t>,
    pub counted: Counted,
    /// The sizes of all tables, by their positions.
    pub sizes: Vec<Size>,
    pub freedom: Freedom,
}

/// How many times fewer rows later tables have to leave for a semi-join or anti-join to wait.
const WORTH_WAITING: f64 = 4.0;

/// What is around a block.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The tables whose rows are available.
    pub known: Mask,
    /// The number of combinations of their rows.
    pub rounds: f64,
    /// The cost of reading them.
    pub cost: f64,
}

/// A step whose table is known by its position only.
pub(super) struct Draft {
    /// The table's position.
    at: usize,
    /// The access to a stored table. `None` for other sources.
    access: Option<Access>,
    nests: Vec<Nest>,
    hash: Option<HashLookup>,
    conditions: Vec<Expr>,
    estimate: Option<Estimate>,
}

impl Draft {
    fn of(at: usize) -> Draft {
        Draft { at, access: None, nests: Vec::new(), hash: None, conditions: Vec::new(), estimate: None }
    }
}

/// Turns drafts into steps that own their tables.
pub(super) fn with_tables(drafts: Vec<Draft>, tables: Tables) -> Vec<TableStep> {
    let mut leaves: Vec<Option<Leaf>> = tables.leaves.into_iter().map(Some).collect();
    let with_table = |draft: Draft| {
        let Draft { at, access: chosen, nests, hash, conditions, estimate } = draft;
        let mut leaf = leaves[at].take().expect("each table has one step");
        if let (Source::Stored { access, .. }, Some(chosen)) = (&mut leaf.source, chosen) {
            *access = chosen;
        }
        let step = TableStep::new(leaf.source, leaf.alias, leaf.base, leaf.columns);
        let step = TableStep { nests, hash, estimate, index_use: leaf.index_use, ..step };
        step.with_conditions(conditions)
    };
    let steps = drafts.into_iter().map(with_table).collect();
    assert!(leaves.iter().all(Option::is_none), "each table of the query has a step");
    steps
}

/// A planned block.
pub(super) struct Planned {
    pub steps: Vec<Draft>,
    /// The number of rows that the block yields in all rounds together.
    rows: f64,
    cost: f64,
}

/// A nest that is not placed yet.
struct Hanging {
    kind: NestKind,
    block: Block,
    own: Mask,
    /// The tables around the nest that its conditions and tables depend on.
    needs: Mask,
    /// The nest is placed as early as possible, because it removes rows or because conditions
    /// outside depend on it.
    is_eager: bool,
}

/// The part of a block that is placed so far.
struct Placed {
    steps: Vec<Draft>,
    tables: Mask,
    rows: f64,
    cost: f64,
}

impl Planner<'_> {
    /// Returns the steps of a block. `wish` is given if the block's rows may come in a wanted
    /// order.
    pub fn block(
        &self,
        mut block: Block,
        around: Around,
        wish: Option<&dyn Fn(usize) -> Wish>,
    ) -> Result<Planned> {
        let written = std::mem::take(&mut block.members);
        let is_table = |member: &Member| if let Member::Table(at) = member { Some(*at) } else { None };
        let members: Vec<usize> = written.iter().filter_map(is_table).collect();
        let own = members.iter().fold(Mask::NONE, |mask, at| mask.with(*at));
        let classes = match self.freedom {
            Freedom::None => Vec::new(),
            _ => take_classes(&mut block.conditions, |column| match column.node {
                Node::Slot(slot) => self.tables.of_slot(slot).is_some_and(|at| own.has(at)),
                _ => false,
            }),
        };
        if self.freedom != Freedom::None {
            // What follows about the tables around a nest is not decided within it.
            let is_within = |condition: &Expr| !self.tables.mask_of(condition).is_within(around.known);
            let implied = implied(self.tables, &block.conditions);
            block.conditions.extend(implied.into_iter().filter(is_within));
        }
        let masked = |condition: Expr| {
            let mask = self.tables.mask_of(&condition);
            (condition, mask)
        };
        let conditions: Vec<(Expr, Mask)> = block.conditions.into_iter().map(masked).collect();
        let ordering = Ordering {
            tables: self.tables,
            constants: &self.constants,
            counted: &self.counted,
            sizes: &self.sizes,
            members: &members,
            conditions: &conditions,
            classes: &classes,
            straight: &block.straight,
            known: around.known,
            rounds: around.rounds,
            may_hash: self.freedom != Freedom::None,
            wish,
        };
        let mut placed =
            Placed { steps: Vec::new(), tables: Mask::NONE, rows: around.rounds, cost: around.cost };
        // A table that is computed from rows of a nest has to come after it, so the order stays as
        // it is written.
        let all = around.known | own;
        let needs_nest = members.iter().any(|at| !self.tables.needed_by(*at).is_within(all));
        if self.freedom != Freedom::All || needs_nest {
            for member in written {
                match member {
                    Member::Table(at) => self.place(&ordering, at, &mut placed)?,
                    Member::Nest(kind, nest) => {
                        let nest = self.hanging(kind, nest, &conditions);
                        let planned = self.plan_nest(&ordering, &nest, &placed)?;
                        Self::place_nest(&ordering, (nest.own, planned), &mut placed);
                    }
                }
            }
            ordering.check_decided(placed.tables);
            return Ok(placed.planned());
        }
        let mut hanging: Vec<Hanging> = Vec::new();
        for member in written {
            if let Member::Nest(kind, nest) = member {
                hanging.push(self.hanging(kind, nest, &conditions));
            }
        }
        let order = ordering.cheapest()?;
        let fewest = self.fewest_behind(&ordering, &order, around.rounds, !hanging.is_empty())?;
        for (at, fewest) in order.into_iter().zip(fewest) {
            self.place(&ordering, at, &mut placed)?;
            // A nest is asked for each row, so one that no condition depends on waits for tables
            // that leave far fewer rows.
            let waits = fewest * WORTH_WAITING < placed.rows;
            let is_wanted = |nest: &Hanging| nest.is_eager && (nest.kind == NestKind::Outer || !waits);
            self.place_nests(&ordering, &mut hanging, &mut placed, is_wanted)?;
        }
        self.place_nests(&ordering, &mut hanging, &mut placed, |_| true)?;
        assert!(hanging.is_empty(), "each nest has the tables that its conditions look at");
        ordering.check_decided(placed.tables);
        Ok(placed.planned())
    }

    /// For each table of an order, returns the smallest number of rows that there are at a time
    /// behind it. Nests are left out of account.
    fn fewest_behind(
        &self,
        ordering: &Ordering<'_>,
        order: &[usize],
        rounds: f64,
        is_asked: bool,
    ) -> Result<Vec<f64>> {
        let mut fewest = vec![f64::INFINITY; order.len()];
        if !is_asked {
            return Ok(fewest);
        }
        let (mut rows, mut placed) = (rounds, Mask::NONE);
        for (step, at) in order.iter().enumerate() {
            rows = ordering.next(placed, *at, rows)?.rows;
            placed = placed.with(*at);
            fewest[..step].iter_mut().for_each(|fewest| *fewest = fewest.min(rows));
        }
        Ok(fewest)
    }

    fn hanging(&self, kind: NestKind, block: Block, conditions: &[(Expr, Mask)]) -> Hanging {
        let own = block.tables();
        let needs = self.needs_of(&block).without(own);
        let is_looked_at = conditions.iter().any(|(_, mask)| !(*mask & own).is_empty());
        Hanging { kind, own, needs, is_eager: kind != NestKind::Outer || is_looked_at, block }
    }

    /// Returns the tables that the conditions of a block depend on, and those from which its tables
    /// are computed.
    fn needs_of(&self, block: &Block) -> Mask {
        let of_conditions =
            block.conditions.iter().fold(Mask::NONE, |mask, condition| mask | self.tables.mask_of(condition));
        block.members.iter().fold(of_conditions, |mask, member| match member {
            Member::Table(at) => mask | self.tables.needed_by(*at),
            Member::Nest(_, nest) => mask | self.needs_of(nest),
        })
    }

    /// Places those of the nests that can be placed. The semi-joins and anti-joins come first, from
    /// the one on that removes the most rows for its cost. Outer joins follow in the order in which
    /// they are written.
    fn place_nests(
        &self,
        ordering: &Ordering<'_>,
        hanging: &mut Vec<Hanging>,
        placed: &mut Placed,
        is_wanted: impl Fn(&Hanging) -> bool,
    ) -> Result<()> {
        loop {
            let known = ordering.known | placed.tables;
            let is_ready = |at: &usize| hanging[*at].needs.is_within(known) && is_wanted(&hanging[*at]);
            let (outer, removing): (Vec<usize>, Vec<usize>) =
                (0..hanging.len()).filter(is_ready).partition(|at| hanging[*at].kind == NestKind::Outer);
            let mut first: Option<(f64, usize, PlannedNest)> = None;
            for at in removing {
                let planned = self.plan_nest(ordering, &hanging[at], placed)?;
                let removed = placed.rows - planned.kept_of(placed.rows);
                let price = (planned.inside.cost - placed.cost) / removed.max(f64::MIN_POSITIVE);
                if first.as_ref().is_none_or(|(least, ..)| price < *least) {
                    first = Some((price, at, planned));
                }
            }
            let (at, planned) = match (first, outer.first()) {
                (Some((_, at, planned)), _) => (at, planned),
                (None, Some(at)) => (*at, self.plan_nest(ordering, &hanging[*at], placed)?),
                (None, None) => return Ok(()),
            };
            let own = hanging.remove(at).own;
            Self::place_nest(ordering, (own, planned), placed);
        }
    }

    fn place(&self, ordering: &Ordering<'_>, at: usize, placed: &mut Placed) -> Result<()> {
        assert!(!placed.tables.has(at), "a table has one step");
        let leaf = &self.tables.leaves[at];
        let mut step = Draft { conditions: ordering.decided(placed.tables, at), ..Draft::of(at) };
        let known = ordering.known | placed.tables;
        if self.freedom == Freedom::None {
            if let Source::Stored { table, .. } = &leaf.source {
                let is_known = |slot: usize| self.tables.of_slot(slot).is_some_and(|at| known.has(at));
                let wish = ordering.wish_of(placed.tables, at);
                let conditions = &step.conditions;
                step.access = Some(choose(table, leaf.base, conditions, &is_known, &leaf.index_use, &wish)?);
            }
        } else {
            let next = ordering.next(placed.tables, at, placed.rows)?;
            let Method { access, hashes, read, cost } = next.method;
            if hashes {
                self.hash(&mut step, at, known);
            } else if let (Source::Stored { table, .. }, Some(access)) = (&leaf.source, &access) {
                step.conditions.retain(|condition| !is_looked_up(table, leaf.base, access, condition));
            }
            step.access = access;
            placed.cost += cost;
            let rounds = if hashes { 1.0 } else { placed.rows };
            let taken_percent = (next.rows / (rounds * read.max(f64::MIN_POSITIVE)) * 100.0).min(100.0);
            assert!((0.0..=100.0).contains(&taken_percent), "some of the rows are taken: {taken_percent} %");
            placed.rows = next.rows;
            step.estimate = Some(Estimate { read, taken_percent, rows: placed.rows, cost: placed.cost });
        }
        placed.tables = placed.tables.with(at);
        placed.steps.push(step);
        Ok(())
    }

    /// Has a table's rows found in a hash table. Conditions that its keys decide are not tested
    /// again, and those on the table alone are tested once, when the hash table is filled.
    fn hash(&self, step: &mut Draft, at: usize, known: Mask) {
        let keys = hash_keys(self.tables, at, known, &step.conditions);
        assert!(!keys.is_empty(), "a hash table has a key");
        let is_key =
            |condition: &Expr| !hash_keys(self.tables, at, known, std::slice::from_ref(condition)).is_empty();
        let rest = std::mem::take(&mut step.conditions).into_iter().filter(|condition| !is_key(condition));
        let (own, others) = rest.partition(|condition| {
            self.tables.mask_of(condition).is_within(Mask::of(at)) && !condition.varies()
        });
        step.conditions = others;
        step.hash = Some(HashLookup { keys, conditions: own });
    }

    /// Plans a nest that comes next.
    fn plan_nest(&self, ordering: &Ordering<'_>, nest: &Hanging, placed: &Placed) -> Result<PlannedNest> {
        let (kind, own, mut block) = (nest.kind, nest.own, nest.block.clone());
        let is_on_own = |condition: &Expr| !(self.tables.mask_of(condition) & own).is_empty();
        let (inside, guards) = std::mem::take(&mut block.conditions).into_iter().partition(is_on_own);
        block.conditions = inside;
        let around = Around { known: ordering.known | placed.tables, rounds: placed.rows, cost: placed.cost };
        assert!((placed.tables & own).is_empty(), "a table has one step");
        let inside = self.block(block, around, None)?;
        assert!(inside.cost >= placed.cost, "a nest adds to the cost");
        assert!(!inside.steps.is_empty(), "a nest has tables");
        Ok(PlannedNest { kind, inside, guards })
    }

    /// Places a planned nest, whose tables are `own`.
    fn place_nest(ordering: &Ordering<'_>, (own, planned): (Mask, PlannedNest), placed: &mut Placed) {
        placed.tables = placed.tables | own;
        let known = ordering.known | placed.tables;
        let is_decided = |mask: Mask| !(mask & own).is_empty() && mask.is_within(known);
        let conditions: Vec<Expr> = ordering
            .conditions
            .iter()
            .filter(|(_, mask)| is_decided(*mask))
            .map(|(condition, _)| condition.clone())
            .collect();
        let shares: f64 = conditions.iter().map(estimate::share).product();
        placed.rows = shares * planned.kept_of(placed.rows);
        assert!(placed.rows >= 0.0, "a number of rows");
        let PlannedNest { kind, inside: Planned { mut steps, cost, .. }, guards } = planned;
        placed.cost = cost;
        let opened = Nest { kind, tables: steps.len(), guards, conditions };
        steps[0].nests.insert(0, opened);
        placed.steps.append(&mut steps);
    }
}

/// A nest that can be placed next.
struct PlannedNest {
    kind: NestKind,
    inside: Planned,
    /// The conditions that are on none of its tables.
    guards: Vec<Expr>,
}

impl PlannedNest {
    /// Returns how many of the rows in front of the nest go on behind it.
    fn kept_of(&self, rows: f64) -> f64 {
        match self.kind {
            NestKind::Outer => self.inside.rows.max(rows),
            NestKind::Semi => self.inside.rows.min(rows),
            NestKind::Anti => (rows - self.inside.rows).max(rows / 10.0),
        }
    }
}

/// Reports whether a lookup in an index finds only rows that meet the condition. It does for an
/// equality of integers, whose keys are equal exactly when the integers are.
fn is_looked_up(table: &Table, base: usize, access: &Access, condition: &Expr) -> bool {
    let ([lookup], Some((left, right, _))) = (&access.alternatives[..], equal_columns(condition)) else {
        return false;
    };
    let columns = table.index_columns(access.index).iter().map(|part| base + part.column);
    lookup.equals.iter().zip(columns).any(|((value, null_safe), own)| {
        let is = |column: &Expr, other: &Expr| {
            matches!(column.node, Node::Slot(slot) if slot == own) && other.node == value.node
        };
        let is_it = is(left, right) || is(right, left);
        is_it && !null_safe && left.ty.is_integer() && right.ty.is_integer()
    })
}

impl Placed {
    fn planned(self) -> Planned {
        Planned { steps: self.steps, rows: self.rows, cost: self.cost }
    }
}
