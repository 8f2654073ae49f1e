//! The old table of a CREATE OR REPLACE TABLE ... SELECT that failed at a MariaDB source. The
//! source logs a transaction with the DROP TABLE alone, and ROLLBACK at its end, and the table is
//! gone all the same.

use binlog::event::{Header, QueryEvent};

/// What MariaDB writes behind the statement.
const MARK: &[u8] = b"/* Generated to handle failed CREATE OR REPLACE */";

/// Such a DROP TABLE.
pub(super) struct GoneTable {
    pub header: Header,
    thread_id: u32,
    status_vars: Vec<u8>,
    schema: Vec<u8>,
    statement: Vec<u8>,
}

impl GoneTable {
    /// Returns the statement of a query event, if it is one.
    pub fn of(header: &Header, query: &QueryEvent<'_>) -> Option<GoneTable> {
        let is_one =
            query.statement.starts_with(b"DROP TABLE ") && query.statement.trim_ascii().ends_with(MARK);
        is_one.then(|| GoneTable {
            header: *header,
            thread_id: query.thread_id,
            status_vars: query.status_vars.to_vec(),
            schema: query.schema.to_vec(),
            statement: query.statement.to_vec(),
        })
    }

    /// Returns the statement as one that is a group of its own.
    pub fn query(&self) -> QueryEvent<'_> {
        QueryEvent {
            thread_id: self.thread_id,
            exec_time: 0,
            error_code: 0,
            status_vars: &self.status_vars,
            schema: &self.schema,
            statement: &self.statement,
        }
    }
}
