//! `binlog_do_db` and `binlog_ignore_db`: the schemas whose changes the binary log gets.

/// The filter of schemas. Names are compared as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinlogFilter {
    /// The schemas of `binlog_do_db`. If there are any, only these are logged.
    pub do_schemas: Vec<String>,
    /// The schemas of `binlog_ignore_db`, which are not logged. They are not looked at when there
    /// are `do_schemas`.
    pub ignore_schemas: Vec<String>,
}

impl BinlogFilter {
    /// Reports whether rows of this schema's tables are logged, and statements whose default schema
    /// it is. Statements without a default schema (an empty name) are always logged.
    pub fn allows(&self, schema: &str) -> bool {
        if schema.is_empty() || self.do_schemas.is_empty() {
            return !self.ignore_schemas.iter().any(|name| name == schema);
        }
        self.do_schemas.iter().any(|name| name == schema)
    }
}
