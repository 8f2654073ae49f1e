//! A statement about rows that is bound: its plan, and what it was bound under.

use crate::ast::SelectInto;
use crate::bind::{Constants, LoggingNeeds};
use crate::error::Result;
use crate::exec::{
    Changes, DeletePlan, DeleteSeveralPlan, InsertPlan, LoadPlan, Run, UpdatePlan, UpdateSeveralPlan,
};
use crate::memory::Charge;
use crate::parse::Hints;
use crate::plan::{QueryPlan, SubPlan};
use crate::sink::ColumnMeta;
use engine::Table;
use std::sync::Arc;

/// What a statement does to rows.
pub(crate) enum Plan {
    Query(QueryPlan),
    Insert(InsertPlan),
    Load(LoadPlan),
    Update(UpdatePlan),
    UpdateSeveral(UpdateSeveralPlan),
    Delete(DeletePlan),
    DeleteSeveral(DeleteSeveralPlan),
}

impl Plan {
    /// The tables whose rows it changes.
    pub fn changed_tables(&self) -> Vec<&Arc<Table>> {
        match self {
            Plan::Query(_) => Vec::new(),
            Plan::Insert(plan) => vec![&plan.table],
            Plan::Load(plan) => vec![plan.table()],
            Plan::Update(plan) => vec![plan.target.table()],
            Plan::UpdateSeveral(plan) => plan.tables().collect(),
            Plan::Delete(plan) => vec![plan.target.table()],
            Plan::DeleteSeveral(plan) => plan.tables().collect(),
        }
    }

    /// Whether it changes rows, and those of temporary tables only.
    pub fn changes_temporary_only(&self) -> bool {
        let changed = self.changed_tables();
        !changed.is_empty() && changed.iter().all(|table| table.is_temporary())
    }

    /// Changes the rows; `None` of a query, which changes none, and of LOAD DATA, which needs a
    /// file.
    pub fn change(&self, run: &mut Run<'_, '_>) -> Option<Result<Changes>> {
        match self {
            Plan::Query(_) | Plan::Load(_) => None,
            Plan::Insert(plan) => Some(plan.run(run)),
            Plan::Update(plan) => Some(plan.run(run)),
            Plan::UpdateSeveral(plan) => Some(plan.run(run)),
            Plan::Delete(plan) => Some(plan.run(run)),
            Plan::DeleteSeveral(plan) => Some(plan.run(run)),
        }
    }

    /// Whether it is to go on where a row cannot be changed.
    pub fn has_ignore(&self) -> bool {
        match self {
            Plan::Query(_) => false,
            Plan::Insert(plan) => plan.has_ignore(),
            Plan::Load(plan) => plan.has_ignore(),
            Plan::Update(plan) => plan.has_ignore(),
            Plan::UpdateSeveral(plan) => plan.has_ignore(),
            Plan::Delete(plan) => plan.has_ignore(),
            Plan::DeleteSeveral(plan) => plan.has_ignore(),
        }
    }

    pub fn is_update(&self) -> bool {
        matches!(self, Plan::Update(_) | Plan::UpdateSeveral(_))
    }

    pub fn is_load(&self) -> bool {
        matches!(self, Plan::Load(_))
    }

    pub fn is_delete(&self) -> bool {
        matches!(self, Plan::Delete(_) | Plan::DeleteSeveral(_))
    }
}

/// A bound statement.
pub(crate) struct Bound {
    pub plan: Plan,
    pub subqueries: Vec<SubPlan>,
    /// Where the rows of a query go that the client does not get.
    pub into: Option<SelectInto>,
    /// It calls stored functions.
    pub calls: bool,
    /// The stored tables that it uses.
    pub tables: Vec<Arc<Table>>,
    /// Its optimizer hints.
    pub hints: Hints,
    /// What is told of the constants that it compares, and how its parameters are read.
    pub constants: Constants,
    /// What has to be known to log its text.
    pub logging: LoggingNeeds,
    /// May be run again while the session's settings and the tables are the same.
    pub cacheable: bool,
    /// The session's generation that it was bound in.
    pub generation: u64,
    /// What the plan takes, if that is much; given back with it.
    pub _charge: Option<Charge>,
    /// The generation of the privileges that it was checked against.
    pub privileges: u64,
}

impl Bound {
    pub fn is_query(&self) -> bool {
        matches!(self.plan, Plan::Query(_))
    }

    /// The columns of the rows that the client gets.
    pub fn columns(&self) -> &[ColumnMeta] {
        match &self.plan {
            Plan::Query(plan) if self.into.is_none() => &plan.columns,
            _ => &[],
        }
    }
}
