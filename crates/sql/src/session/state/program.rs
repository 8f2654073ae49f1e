//! The stored programs of a session: those that are running, and the parsed bodies and plans of
//! those that it has run.

use super::Bound;
use crate::expr::Expr;
use crate::plan::SubPlan;
use crate::program::Routine;
use crate::variables::Variables;
use engine::{Object, Table};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The most plans that are kept, for all programs together.
const MOST_PLANS: usize = 4096;

/// Bound expressions.
pub(crate) struct BoundValues {
    pub exprs: Vec<Expr>,
    pub subqueries: Vec<SubPlan>,
    /// Whether the expressions call stored functions.
    pub calls: bool,
    pub tables: Vec<Arc<Table>>,
    /// The warnings about the constants that the expressions compare.
    pub complaints: Vec<(u16, String)>,
    pub cacheable: bool,
    pub generation: u64,
    pub privileges: u64,
}

/// The plan of a step of a program.
#[derive(Clone)]
pub(crate) enum Planned {
    Statement(Arc<Bound>),
    Values(Arc<BoundValues>),
}

/// The key of a plan: the number of the program, the step, and the number of the plan among those
/// of the step.
pub(crate) type PlanKey = (u64, usize, usize);

/// A parsed program, with the table of a trigger that it was parsed for.
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
    /// Returns the program, unless it or its table has changed since it was parsed.
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
        assert!(self.plans.len() <= MOST_PLANS, "the number of plans is bounded");
    }

    pub fn forget_plan(&mut self, key: &PlanKey) {
        self.plans.remove(key);
    }
}

/// The stored programs of a session: those that it knows, those that are running, and the
/// statements that it runs a function or a trigger within.
///
/// A function or a trigger runs in a session of its own. That session is lent the programs that the
/// calling session knows, and gives them back at its end.
#[derive(Default)]
pub(crate) struct SessionPrograms {
    pub known: RefCell<ProgramCache>,
    /// The numbers of the running programs, the outermost first.
    running: Vec<u64>,
    /// The numbers of the tables that the calling statements use. `None` means that the session
    /// runs a client's statements.
    around: Option<Vec<u64>>,
    /// The variables as a function or a trigger has changed them. They become the session's when
    /// the calling statement has ended.
    pub variables_after: RefCell<Option<Variables>>,
}

impl SessionPrograms {
    /// Lends the programs to a session for a function or a trigger, within a statement that uses
    /// these tables.
    pub fn lend(&self, tables: impl Iterator<Item = u64>) -> SessionPrograms {
        SessionPrograms {
            known: RefCell::new(self.known.take()),
            running: self.running.clone(),
            around: Some(tables.chain(self.tables_around().iter().copied()).collect()),
            variables_after: RefCell::default(),
        }
    }

    /// Takes the lent programs back.
    pub fn take_back(&self, lent: &SessionPrograms) {
        assert_eq!(self.running, lent.running, "a program ends after those that it has called");
        self.known.swap(&lent.known);
    }

    /// Reports whether the session runs a function or a trigger, within a statement.
    pub fn is_within(&self) -> bool {
        self.around.is_some()
    }

    /// Returns the numbers of the tables that the calling statements use.
    pub fn tables_around(&self) -> &[u64] {
        self.around.as_deref().unwrap_or_default()
    }

    /// Returns how many times a program is running now. More than once means that it has called
    /// itself.
    pub fn depth_of(&self, id: u64) -> usize {
        self.running.iter().filter(|other| **other == id).count()
    }

    /// Asserts that no program runs, as between two statements of a client.
    #[inline]
    pub fn assert_at_rest(&self) {
        assert!(self.running.is_empty(), "a program ends with the statement that has called it");
    }

    /// Notes that a program begins.
    pub fn enter(&mut self, id: u64) {
        self.running.push(id);
    }

    /// Notes that the program which began last ends.
    pub fn leave(&mut self, id: u64) {
        assert_eq!(self.running.pop(), Some(id), "a program ends after those that it has called");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Planned {
        Planned::Values(Arc::new(BoundValues {
            exprs: Vec::new(),
            subqueries: Vec::new(),
            calls: false,
            tables: Vec::new(),
            complaints: Vec::new(),
            cacheable: true,
            generation: 0,
            privileges: 0,
        }))
    }

    #[test]
    fn what_is_known_is_lent_to_a_function_and_comes_back() {
        let mut own = SessionPrograms::default();
        own.enter(1);
        own.known.borrow_mut().keep_plan((1, 0, 0), plan());
        let mut lent = own.lend([10, 11].into_iter());
        assert!(!own.is_within() && lent.is_within());
        assert!(own.known.borrow().plan(&(1, 0, 0)).is_none(), "it is lent");
        assert_eq!(lent.depth_of(1), 1, "what runs around runs still");
        let further = lent.lend([12].into_iter());
        assert_eq!(further.tables_around(), [12, 10, 11]);
        lent.take_back(&further);
        lent.enter(2);
        lent.known.borrow_mut().keep_plan((2, 0, 0), plan());
        lent.leave(2);
        own.take_back(&lent);
        let known = own.known.borrow();
        assert!(known.plan(&(1, 0, 0)).is_some() && known.plan(&(2, 0, 0)).is_some());
    }

    #[test]
    fn a_program_that_calls_itself_is_counted() {
        let mut own = SessionPrograms::default();
        [1, 2, 1].into_iter().for_each(|id| own.enter(id));
        assert_eq!((own.depth_of(1), own.depth_of(2), own.depth_of(3)), (2, 1, 0));
        own.leave(1);
        assert_eq!(own.depth_of(1), 1);
    }

    #[test]
    #[should_panic(expected = "a program ends after those that it has called")]
    fn a_program_does_not_end_before_what_it_has_called() {
        let mut own = SessionPrograms::default();
        own.enter(1);
        own.enter(2);
        own.leave(1);
    }
}
