//! The prepared statements of a session.

use super::{Bound, Known};
use crate::ast::Statement;
use crate::error::Result;
use crate::host::Host;
use crate::measured::{EventName, MeasuredPrepared};
use crate::memory::Charge;
use crate::parse::Hints;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use types::ColumnType;

/// A place that a statement takes under `max_prepared_stmt_count`. It is given back when this is
/// dropped.
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
    /// The charge for the text and the trees.
    pub _charge: Charge,
    pub text: Arc<[u8]>,
    /// The kind of statement as which its executions are counted.
    pub kind: EventName,
    pub statement: Arc<Statement>,
    pub hints: Hints,
    pub parameters: usize,
    /// The bound statement, if it is about rows.
    pub bound: Option<Arc<Bound>>,
    /// The parameter types that it is bound with. `None` means that the types of its result do not
    /// depend on them.
    pub parameter_types: Option<Vec<ColumnType>>,
    /// How performance_schema knows its executions.
    pub known: Option<Known>,
    /// Its row in performance_schema.
    pub measured: Option<MeasuredPrepared>,
}

/// The prepared statements of a session: those of the binary protocol by their ids, and those of
/// PREPARE by their names in lower case, since names are case-insensitive.
///
/// A running statement is taken out, and put back when it has ended. It is boxed, so that only a
/// pointer moves.
pub(crate) struct PreparedStatements {
    /// The statements by their ids. `None` means that the statement is running.
    by_id: BTreeMap<u32, Option<Box<PreparedStatement>>>,
    by_name: HashMap<String, Box<PreparedStatement>>,
    next_id: u32,
}

impl Default for PreparedStatements {
    fn default() -> PreparedStatements {
        PreparedStatements { by_id: BTreeMap::new(), by_name: HashMap::new(), next_id: 1 }
    }
}

impl PreparedStatements {
    /// Keeps a statement of the binary protocol. Returns its id.
    pub fn add(&mut self, prepared: Box<PreparedStatement>) -> u32 {
        // After four thousand million statements the ids begin anew, and early ones may still be
        // in use.
        while self.by_id.contains_key(&self.next_id) {
            self.next_id = self.next_id.wrapping_add(1).max(1);
        }
        let id = self.next_id;
        if let Some(measured) = &prepared.measured {
            measured.call(id.into(), None);
        }
        self.next_id = self.next_id.wrapping_add(1).max(1);
        let before = self.by_id.insert(id, Some(prepared));
        assert!(before.is_none() && id != 0, "a statement has an id of its own");
        id
    }

    pub fn take(&mut self, id: u32) -> Option<Box<PreparedStatement>> {
        self.by_id.get_mut(&id).and_then(Option::take)
    }

    /// Puts a statement back that was taken, unless it was closed meanwhile.
    pub fn put_back(&mut self, id: u32, prepared: Box<PreparedStatement>) {
        if let Some(place) = self.by_id.get_mut(&id) {
            assert!(place.is_none(), "a statement is put back where it was taken from");
            *place = Some(prepared);
        }
    }

    /// Removes a statement of the binary protocol and returns it, unless it is unknown or running.
    pub fn close(&mut self, id: u32) -> Option<Box<PreparedStatement>> {
        self.by_id.remove(&id).flatten()
    }

    /// Keeps a statement under a name in lower case, and replaces the one that had the name.
    pub fn put_named(&mut self, name: String, prepared: Box<PreparedStatement>) {
        debug_assert_eq!(name, name.to_lowercase(), "names are kept in small letters");
        self.by_name.insert(name, prepared);
    }

    /// Takes the statement with a name, which has to be in lower case.
    pub fn take_named(&mut self, name: &str) -> Option<Box<PreparedStatement>> {
        self.by_name.remove(name)
    }

    /// Removes all statements. Their ids are not used again.
    pub fn clear(&mut self) {
        self.by_id.clear();
        self.by_name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use crate::replica_host::ReplicaHost;

    fn prepared(text: &str) -> Box<PreparedStatement> {
        let host: Arc<dyn Host> = Arc::new(ReplicaHost::default());
        Box::new(PreparedStatement {
            _place: PreparedPlace::take(&host).expect("this host has room for any number"),
            _charge: Charge::new(&Budget::new(Arc::default())),
            text: text.as_bytes().into(),
            kind: EventName::of("sql/empty_query"),
            statement: Arc::new(Statement::Empty),
            hints: Hints::default(),
            parameters: 0,
            bound: None,
            parameter_types: None,
            known: None,
            measured: None,
        })
    }

    #[test]
    fn a_statement_that_runs_is_taken_once_and_comes_back_unless_it_was_closed() {
        let mut kept = PreparedStatements::default();
        let (first, second) = (kept.add(prepared("1")), kept.add(prepared("2")));
        assert_eq!((first, second), (1, 2));
        let running = kept.take(first).expect("it is kept");
        assert!(kept.take(first).is_none(), "it is running");
        kept.put_back(first, running);
        let running = kept.take(first).expect("it has come back");
        kept.close(first);
        kept.put_back(first, running);
        assert!(kept.take(first).is_none(), "it was closed while it ran");
        kept.clear();
        assert!(kept.take(second).is_none());
        assert_eq!(kept.add(prepared("3")), 3, "ids are not used again");
    }

    #[test]
    fn ids_that_begin_anew_pass_over_those_in_use() {
        let mut kept = PreparedStatements::default();
        let first = kept.add(prepared("1"));
        kept.next_id = u32::MAX;
        assert_eq!((kept.add(prepared("2")), kept.add(prepared("3"))), (u32::MAX, first + 1));
        assert_eq!(kept.take(first).map(|found| found.text), Some(b"1".as_slice().into()));
    }

    #[test]
    #[should_panic(expected = "a statement is put back where it was taken from")]
    fn a_statement_is_not_put_where_another_is() {
        let mut kept = PreparedStatements::default();
        let id = kept.add(prepared("1"));
        kept.put_back(id, prepared("2"));
    }

    #[test]
    fn a_name_has_the_statement_that_got_it_last() {
        let mut kept = PreparedStatements::default();
        kept.put_named("s".to_owned(), prepared("1"));
        kept.put_named("s".to_owned(), prepared("2"));
        assert_eq!(kept.take_named("s").map(|found| found.text), Some(b"2".as_slice().into()));
        assert!(kept.take_named("s").is_none());
    }
}
