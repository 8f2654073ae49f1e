//! `binlog_do_db` and `binlog_ignore_db`: the schemas whose changes the binary log gets.

/// Which schemas the binary log is for. Names are compared as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinlogFilter {
    /// `binlog_do_db`: these only, if there are any.
    pub do_schemas: Vec<String>,
    /// `binlog_ignore_db`: all but these; not looked at when there are any of the others.
    pub ignore_schemas: Vec<String>,
}

impl BinlogFilter {
    /// Rows of this schema's tables are logged, and statements whose default schema it is.
    /// Statements without one (an empty name) are logged always.
    pub fn allows(&self, schema: &str) -> bool {
        if schema.is_empty() || self.do_schemas.is_empty() {
            return !self.ignore_schemas.iter().any(|name| name == schema);
        }
        self.do_schemas.iter().any(|name| name == schema)
    }
}
