//! What a session keeps of the stored programs that it has run: their bodies, and the plans of
//! their statements.

use super::Bound;
use crate::expr::Expr;
use crate::plan::SubPlan;
use crate::program::Routine;
use engine::{Object, Table};
use std::collections::HashMap;
use std::sync::Arc;

/// Plans that are kept of all programs together.
const MOST_PLANS: usize = 4096;

/// Expressions that are bound.
pub(crate) struct BoundValues {
    pub exprs: Vec<Expr>,
    pub subqueries: Vec<SubPlan>,
    /// It calls stored functions.
    pub calls: bool,
    pub tables: Vec<Arc<Table>>,
    /// What is told of the constants that it compares.
    pub complaints: Vec<(u16, String)>,
    pub cacheable: bool,
    pub generation: u64,
    pub privileges: u64,
}

/// A plan for a step of a program.
#[derive(Clone)]
pub(crate) enum Planned {
    Statement(Arc<Bound>),
    Values(Arc<BoundValues>),
}

/// The step of a program, by the program's number, that a plan is for, and its number among the
/// step's plans.
pub(crate) type PlanKey = (u64, usize, usize);

/// A program as it was read, and the table that it was read for.
struct Known {
    routine: Arc<Routine>,
    table: Option<Arc<Table>>,
}

/// The programs that a session has run.
#[derive(Default)]
pub(crate) struct ProgramCache {
    routines: HashMap<u64, Known>,
    plans: HashMap<PlanKey, Planned>,
}

impl ProgramCache {
    /// The program, unless it or its table has changed since it was read.
    pub fn routine(&self, object: &Arc<Object>, table: Option<&Arc<Table>>) -> Option<Arc<Routine>> {
        let known = self.routines.get(&object.id)?;
        let same_table = match (&known.table, table) {
            (Some(known), Some(table)) => Arc::ptr_eq(known, table),
            (known, table) => known.is_none() && table.is_none(),
        };
        (same_table && Arc::ptr_eq(&known.routine.object, object)).then(|| known.routine.clone())
    }

    pub fn keep(&mut self, routine: &Arc<Routine>, table: Option<&Arc<Table>>) {
        let id = routine.object.id;
        self.plans.retain(|(program, _, _), _| *program != id);
        self.routines.insert(id, Known { routine: routine.clone(), table: table.cloned() });
    }

    pub fn plan(&self, key: &PlanKey) -> Option<Planned> {
        self.plans.get(key).cloned()
    }

    pub fn keep_plan(&mut self, key: PlanKey, plan: Planned) {
        if self.plans.len() >= MOST_PLANS {
            self.plans.clear();
        }
        self.plans.insert(key, plan);
    }

    pub fn forget_plan(&mut self, key: &PlanKey) {
        self.plans.remove(key);
    }
}

/// What a session within a statement knows of that.
#[derive(Default)]
pub(crate) struct Within {
    /// The tables that the statements around use, by their numbers.
    pub tables: Vec<u64>,
}
