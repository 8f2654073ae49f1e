//! A statement about rows that is bound: its plan, and what it was bound under.

use crate::bind::LoggingNeeds;
use crate::exec::{DeletePlan, InsertPlan, UpdatePlan};
use crate::parse::Hints;
use crate::plan::QueryPlan;

/// What a statement does to rows.
pub(crate) enum Plan {
    Query(QueryPlan),
    Insert(InsertPlan),
    Update(UpdatePlan),
    Delete(DeletePlan),
}

/// A bound statement.
pub(crate) struct Bound {
    pub plan: Plan,
    pub subqueries: Vec<QueryPlan>,
    /// Its optimizer hints.
    pub hints: Hints,
    /// What has to be known to log its text.
    pub logging: LoggingNeeds,
    /// May be run again while the session's settings and the tables are the same.
    pub cacheable: bool,
    /// The session's generation that it was bound in.
    pub generation: u64,
    /// The generation of the privileges that it was checked against.
    pub privileges: u64,
}

impl Bound {
    pub fn is_query(&self) -> bool {
        matches!(self.plan, Plan::Query(_))
    }
}
