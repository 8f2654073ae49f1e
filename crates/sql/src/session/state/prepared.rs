//! A prepared statement, as its session keeps it.

use super::Bound;
use crate::ast::Statement;
use crate::error::Result;
use crate::host::Host;
use crate::memory::Charge;
use crate::parse::Hints;
use std::sync::Arc;
use types::ColumnType;

/// A statement's place under `max_prepared_stmt_count`, given back when dropped.
pub(crate) struct PreparedPlace(Arc<dyn Host>);

impl PreparedPlace {
    pub fn take(host: &Arc<dyn Host>) -> Result<PreparedPlace> {
        host.take_prepared_place()?;
        Ok(PreparedPlace(host.clone()))
    }
}

impl Drop for PreparedPlace {
    fn drop(&mut self) {
        self.0.give_prepared_place_back();
    }
}

/// A prepared statement.
pub(crate) struct PreparedStatement {
    pub _place: PreparedPlace,
    /// Its text and its trees.
    pub _charge: Charge,
    pub text: Arc<[u8]>,
    pub statement: Arc<Statement>,
    pub hints: Hints,
    pub parameters: usize,
    /// For statements about rows.
    pub bound: Option<Arc<Bound>>,
    /// The types that it is bound with, where its result's types depend on those of its parameters.
    pub parameter_types: Option<Vec<ColumnType>>,
}
