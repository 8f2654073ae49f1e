//! The privileges that a session asks for, by name and as sets, and the tables that need none.

use crate::accounts::Privileges;
use sql::Privilege;

/// Reports whether a schema has only computed tables.
pub fn is_computed(schema: &str) -> bool {
    ["information_schema", "performance_schema"].iter().any(|name| schema.eq_ignore_ascii_case(name))
}

/// The tables of performance_schema that every account may read. As in MySQL, the others need
/// SELECT.
const READ_BY_ALL: &[&str] = &[
    "global_status",
    "global_variable_attributes",
    "global_variables",
    "persisted_variables",
    "processlist",
    "session_account_connect_attrs",
    "session_status",
    "session_variables",
    "variables_info",
    "variables_metadata",
];

/// Reports whether every account may read a table: all tables of information_schema, and some of
/// performance_schema.
pub fn is_read_by_all(schema: &str, table: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
        || schema.eq_ignore_ascii_case("performance_schema")
            && READ_BY_ALL.iter().any(|name| name.eq_ignore_ascii_case(table))
}

/// Returns the name of the privilege, together with those that stand for it.
pub fn names(privilege: Privilege) -> &'static str {
    match privilege {
        Privilege::Select => "SELECT",
        Privilege::Insert => "INSERT",
        Privilege::Update => "UPDATE",
        Privilege::Delete => "DELETE",
        Privilege::Create => "CREATE",
        Privilege::Drop => "DROP",
        Privilege::References => "REFERENCES",
        Privilege::Index => "INDEX",
        Privilege::Alter => "ALTER",
        Privilege::CreateTemporaryTables => "CREATE TEMPORARY TABLES",
        Privilege::LockTables => "LOCK TABLES",
        Privilege::Execute => "EXECUTE",
        Privilege::AlterRoutine => "ALTER ROUTINE",
        Privilege::CreateRoutine => "CREATE ROUTINE",
        Privilege::CreateView => "CREATE VIEW",
        Privilege::Event => "EVENT",
        Privilege::Trigger => "TRIGGER",
        Privilege::Process => "PROCESS",
        Privilege::Reload => "RELOAD",
        Privilege::ShowDatabases => "SHOW DATABASES",
        Privilege::Super => "SUPER",
        Privilege::ConnectionAdmin => "SUPER or CONNECTION_ADMIN",
        Privilege::XaRecoverAdmin => "XA_RECOVER_ADMIN",
        Privilege::FlushTables => "RELOAD or FLUSH_TABLES",
        Privilege::TransactionGtidTag => "TRANSACTION_GTID_TAG",
    }
}

/// Returns the set of this one privilege.
pub fn bits(privilege: Privilege) -> Privileges {
    Privileges::of_names(&[names(privilege)])
}
