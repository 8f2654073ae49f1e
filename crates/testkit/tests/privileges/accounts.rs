//! The rows of the matrix: accounts, each with the privileges that one GRANT gives.

/// Static privileges, and whether each can also be granted on a schema and on a table.
const STATIC: &[(&str, bool, bool)] = &[
    ("SELECT", true, true),
    ("INSERT", true, true),
    ("UPDATE", true, true),
    ("DELETE", true, true),
    ("CREATE", true, true),
    ("DROP", true, true),
    ("RELOAD", false, false),
    ("SHUTDOWN", false, false),
    ("PROCESS", false, false),
    ("FILE", false, false),
    ("GRANT OPTION", true, true),
    ("REFERENCES", true, true),
    ("INDEX", true, true),
    ("ALTER", true, true),
    ("SHOW DATABASES", false, false),
    ("SUPER", false, false),
    ("CREATE TEMPORARY TABLES", true, false),
    ("LOCK TABLES", true, false),
    ("EXECUTE", true, false),
    ("REPLICATION SLAVE", false, false),
    ("REPLICATION CLIENT", false, false),
    ("CREATE VIEW", true, true),
    ("SHOW VIEW", true, true),
    ("CREATE ROUTINE", true, false),
    ("ALTER ROUTINE", true, false),
    ("CREATE USER", false, false),
    ("EVENT", true, false),
    ("TRIGGER", true, true),
    ("CREATE TABLESPACE", false, false),
    ("CREATE ROLE", false, false),
    ("DROP ROLE", false, false),
];

/// Dynamic privileges that both servers have.
const DYNAMIC: &[&str] = &[
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "INNODB_REDO_LOG_ENABLE",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "ROLE_ADMIN",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

/// Combinations of privileges that a statement needs together.
const TOGETHER: &[&str] = &[
    "GRANT SELECT, INSERT ON d.*",
    "GRANT INSERT, UPDATE ON d.*",
    "GRANT INSERT, DELETE ON d.*",
    "GRANT INSERT, CREATE ON d.*",
    "GRANT SELECT, UPDATE ON d.*",
    "GRANT SELECT, DELETE ON d.*",
    "GRANT SELECT, LOCK TABLES ON d.*",
    "GRANT SELECT, CREATE ON d.*",
    "GRANT SELECT, INSERT, CREATE ON d.*",
    "GRANT SELECT, UPDATE, LOCK TABLES ON d.*",
    "GRANT ALTER, DROP ON d.*",
    "GRANT ALTER, INSERT, CREATE ON d.*",
    "GRANT ALTER, DROP, INSERT, CREATE ON d.*",
    "GRANT CREATE, REFERENCES ON d.*",
    "GRANT ALTER, REFERENCES ON d.*",
    "GRANT SELECT, SHOW VIEW ON d.*",
    "GRANT SELECT, CREATE VIEW ON d.*",
    "GRANT SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN ON *.*",
    "GRANT SYSTEM_VARIABLES_ADMIN, REPLICATION_SLAVE_ADMIN ON *.*",
    "GRANT SYSTEM_VARIABLES_ADMIN, ROLE_ADMIN ON *.*",
    "GRANT CREATE USER, SYSTEM_USER ON *.*",
    "GRANT CONNECTION_ADMIN, SYSTEM_USER ON *.*",
    "GRANT SELECT, CREATE USER ON *.*",
    "GRANT RELOAD, LOCK TABLES ON *.*",
    "GRANT SELECT, RELOAD, LOCK TABLES ON *.*",
    "GRANT SELECT, FLUSH_TABLES, LOCK TABLES ON *.*",
    "GRANT INSERT, UPDATE, DELETE ON e.p",
    "GRANT INSERT, UPDATE ON d.c",
    "GRANT TRANSACTION_GTID_TAG, REPLICATION_APPLIER ON *.*",
    "GRANT TRANSACTION_GTID_TAG, SUPER ON *.*",
];

/// Privileges on columns and on routines.
const BELOW_TABLES: &[&str] = &[
    "GRANT SELECT (id) ON d.t",
    "GRANT SELECT (v) ON d.t",
    "GRANT SELECT (id, v) ON d.t",
    "GRANT INSERT (id) ON d.t",
    "GRANT INSERT (id, v) ON d.t",
    "GRANT UPDATE (v) ON d.t",
    "GRANT UPDATE (id) ON d.t",
    "GRANT REFERENCES (id) ON d.t",
    "GRANT REFERENCES (v) ON d.t",
    "GRANT SELECT (v), UPDATE (v) ON d.t",
    "GRANT SELECT (id), INSERT (id, v), UPDATE (v) ON d.t",
    "GRANT SELECT (id), DELETE ON d.t",
    "GRANT INSERT, SELECT (id) ON d.t",
    "GRANT EXECUTE ON PROCEDURE d.p",
    "GRANT ALTER ROUTINE ON PROCEDURE d.p",
    "GRANT GRANT OPTION ON PROCEDURE d.p",
    "GRANT EXECUTE, GRANT OPTION ON PROCEDURE d.p",
    "GRANT ALL ON PROCEDURE d.p",
    "GRANT EXECUTE ON FUNCTION d.f",
    "GRANT ALTER ROUTINE ON FUNCTION d.f",
    "GRANT GRANT OPTION ON FUNCTION d.f",
    "GRANT ALTER ROUTINE ON PROCEDURE d.sp",
];

/// A row of the matrix: the name that reports show, and the GRANTs and REVOKEs, each without the
/// account's name.
pub struct Row {
    pub name: String,
    pub grants: Vec<String>,
    /// Set if the privileges are granted to a role, and the role to the account, for which it is
    /// active from the login.
    pub by_role: bool,
}

/// Returns all rows of the matrix.
pub fn rows() -> Vec<Row> {
    let mut rows = vec![Row { name: "nothing".into(), grants: Vec::new(), by_role: false }];
    let mut row = |name: String, grants: Vec<String>| rows.push(Row { name, grants, by_role: false });
    for (privilege, on_schema, on_table) in STATIC {
        let objects = [Some("*.*"), on_schema.then_some("d.*"), on_table.then_some("d.t")];
        for object in objects.into_iter().flatten() {
            row(format!("{privilege} ON {object}"), vec![format!("GRANT {privilege} ON {object}")]);
        }
    }
    for privilege in DYNAMIC {
        row(format!("{privilege} ON *.*"), vec![format!("GRANT {privilege} ON *.*")]);
    }
    for object in ["*.*", "d.*", "d.t", "e.*"] {
        row(format!("ALL ON {object}"), vec![format!("GRANT ALL ON {object}")]);
    }
    let all_static = STATIC.iter().map(|(privilege, ..)| *privilege);
    for privilege in all_static.chain(DYNAMIC.iter().copied()) {
        let mut grants = vec!["GRANT ALL ON *.*".to_owned(), format!("REVOKE {privilege} ON *.*")];
        if privilege != "GRANT OPTION" {
            // The GRANT comes after the REVOKE, because MySQL gives a dynamic privilege back
            // without its GRANT OPTION when it was revoked with it.
            grants.push("GRANT GRANT OPTION ON *.*".to_owned());
        }
        row(format!("all but {privilege}"), grants);
    }
    for together in TOGETHER {
        row((*together).to_owned(), vec![(*together).to_owned()]);
    }
    for below in BELOW_TABLES {
        row((*below).to_owned(), vec![(*below).to_owned()]);
    }
    let lowest = |on_schema, on_table| match (on_schema, on_table) {
        (_, true) => "d.t",
        (true, false) => "d.*",
        (false, false) => "*.*",
    };
    let all_static =
        STATIC.iter().map(|(privilege, on_schema, on_table)| (*privilege, lowest(*on_schema, *on_table)));
    for (privilege, object) in all_static.chain(DYNAMIC.iter().map(|privilege| (*privilege, "*.*"))) {
        let grants = vec![format!("GRANT {privilege} ON {object}")];
        rows.push(Row { name: format!("a role with {privilege} ON {object}"), grants, by_role: true });
    }
    for below in BELOW_TABLES {
        let grants = vec![(*below).to_owned()];
        rows.push(Row { name: format!("a role by {below}"), grants, by_role: true });
    }
    rows
}
