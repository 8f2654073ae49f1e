//! A bound statement about rows: its plan, and the conditions under which the plan is valid.

use crate::ast::SelectInto;
use crate::bind::{Constants, LoggingNeeds};
use crate::error::Result;
use crate::exec::{
    Changes, DeletePlan, DeleteSeveralPlan, InsertPlan, LoadPlan, Run, StoredColumns, UpdatePlan,
    UpdateSeveralPlan,
};
use crate::literal_rows::LiteralRows;
use crate::measured::{DigestEntry, EventName};
use crate::memory::Charge;
use crate::parse::Hints;
use crate::plan::{QueryPlan, SubPlan};
use crate::sink::{ColumnMeta, PlanNumber};
use engine::Table;
use std::sync::{Arc, OnceLock};

/// The plan of a statement about rows.
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
    /// Returns the tables whose rows the statement changes.
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

    /// Reports whether the statement changes rows, and only rows of temporary tables.
    pub fn changes_temporary_only(&self) -> bool {
        match self {
            Plan::Query(_) => false,
            Plan::Insert(plan) => plan.table.is_temporary(),
            Plan::Load(plan) => plan.table().is_temporary(),
            Plan::Update(plan) => plan.target.table().is_temporary(),
            Plan::Delete(plan) => plan.target.table().is_temporary(),
            Plan::UpdateSeveral(plan) => plan.tables().all(|table| table.is_temporary()),
            Plan::DeleteSeveral(plan) => plan.tables().all(|table| table.is_temporary()),
        }
    }

    /// Changes the rows. Returns `None` for a query, which changes none, and for LOAD DATA, which
    /// needs a file.
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

    /// Reports whether the statement goes on when a row cannot be changed.
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

/// A bound statement about rows.
pub(crate) struct Bound {
    pub number: PlanNumber,
    /// The kind of statement as which it is counted.
    pub kind: EventName,
    pub plan: Plan,
    /// Where the query's results stand in stored rows, if these can go to the client as they are.
    pub stored_columns: Option<StoredColumns>,
    pub subqueries: Vec<SubPlan>,
    /// The target of a query's rows, if they do not go to the client.
    pub into: Option<SelectInto>,
    /// Whether the statement calls stored functions.
    pub calls: bool,
    /// The stored tables that the statement uses.
    pub tables: Vec<Arc<Table>>,
    /// The statement's optimizer hints.
    pub hints: Hints,
    /// The warnings about the constants that the statement compares, and how texts among its
    /// parameters are read.
    pub constants: Constants,
    /// What logging the statement's text takes.
    pub logging: LoggingNeeds,
    /// Whether the plan can be run again as long as the session's settings and the tables are the
    /// same.
    pub cacheable: bool,
    /// The session's generation in which the statement was bound.
    pub generation: u64,
    /// The charge for the plan, if it takes much memory.
    pub _charge: Option<Charge>,
    /// The generation of the privileges that were checked.
    pub privileges: u64,
    /// How performance_schema knows the statement, where it measures statements.
    pub known: OnceLock<Known>,
}

/// How performance_schema knows a statement.
#[derive(Clone)]
pub(crate) struct Known {
    /// Its kind.
    pub name: EventName,
    /// Its digest in the schema that was the current one. `None` means that no digests are kept.
    pub digest: Option<Arc<DigestEntry>>,
}

impl Known {
    /// Reports whether there was no room for the digest, so that it has to be looked for again.
    pub fn is_rest(&self) -> bool {
        self.digest.as_ref().is_some_and(|digest| digest.is_rest())
    }
}

impl Bound {
    pub fn is_query(&self) -> bool {
        matches!(self.plan, Plan::Query(_))
    }

    /// Returns the rows of an INSERT of literals.
    pub fn literal_rows(&self) -> Option<&LiteralRows> {
        match &self.plan {
            Plan::Insert(plan) => plan.literal_rows(),
            _ => None,
        }
    }

    /// Returns the columns of the rows that go to the client.
    pub fn columns(&self) -> &[ColumnMeta] {
        match &self.plan {
            Plan::Query(plan) if self.into.is_none() => &plan.columns,
            _ => &[],
        }
    }
}
