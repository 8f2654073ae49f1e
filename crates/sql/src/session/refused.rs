//! Statements that MySQL has and this server lacks. An account that lacks the privilege for one
//! gets MySQL's error for that, and does not learn what is missing here.

use super::Session;
use super::refused_queries::Checks;
use crate::ast::TableName;
use crate::error::{Result, SqlError};
use crate::host::Privilege;

/// The errors of statements that could not be parsed because they are missing here.
const NOT_HERE: &[u16] = &[1125, 1126, 1235, 3537];

/// The first eight words of a statement, in upper case and as they are written.
struct Words<'t> {
    upper: Vec<String>,
    written: Vec<&'t str>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Words<'t> {
        let written: Vec<&str> =
            text.split_ascii_whitespace().map(|word| word.trim_end_matches(';')).take(8).collect();
        Words { upper: written.iter().map(|word| word.to_ascii_uppercase()).collect(), written }
    }

    fn at(&self, at: usize) -> &str {
        self.upper.get(at).map_or("", String::as_str)
    }

    /// Returns the table or routine that the word at this position names.
    fn name(&self, at: usize) -> Option<TableName> {
        let written = self.written.get(at)?.trim_end_matches("()");
        let plain = |part: &str| part.trim_matches('`').to_owned();
        Some(match written.split_once('.') {
            Some((schema, name)) => TableName { schema: Some(plain(schema)), name: plain(name) },
            None => TableName { schema: None, name: plain(written) },
        })
    }
}

/// Reports whether the error says that what the statement asks for is not there. Of CLONE INSTANCE
/// that is the plugin.
fn is_not_here(error: &SqlError, words: &Words<'_>) -> bool {
    const NOT_LOADED: u16 = 1524;
    NOT_HERE.contains(&error.code)
        || error.code == NOT_LOADED && (words.at(0), words.at(1)) == ("CLONE", "INSTANCE")
}

/// Returns the error for a text that could not be parsed or bound: that of the missing privilege,
/// if the kind of the statement is known and the account lacks the privilege that MySQL demands,
/// else `error`.
pub(super) fn refusal(session: &Session, text: &[u8], error: SqlError) -> SqlError {
    let written = String::from_utf8_lossy(text);
    let words = Words::of(&written);
    if !is_not_here(&error, &words) {
        return error;
    }
    let checked = check_refused(session, &words).and_then(|()| Checks(session).check_mentioned(text));
    checked.err().unwrap_or(error)
}

/// As [`refusal`], for a text that is to be prepared. Statements that can never be prepared get
/// error 1295, whatever the privileges.
pub(super) fn refusal_of_prepared(session: &Session, text: &[u8], error: SqlError) -> SqlError {
    let written = String::from_utf8_lossy(text);
    let words = Words::of(&written);
    let is_never_prepared =
        matches!((words.at(0), words.at(1)), ("LOAD", "DATA" | "XML") | ("CLONE", "INSTANCE"));
    match is_never_prepared && is_not_here(&error, &words) {
        true => SqlError::not_preparable(),
        false => refusal(session, text, error),
    }
}

/// Checks the privileges that MySQL demands for a statement that begins with these words.
fn check_refused(session: &Session, words: &Words<'_>) -> Result<()> {
    let host = &*session.server.host;
    let one = |name: &'static str| host.check_administers(name, &[name]);
    match (words.at(0), words.at(1)) {
        ("INSTALL", what @ ("PLUGIN" | "COMPONENT")) => {
            host.check_table(&[Privilege::Insert], "mysql", &what.to_ascii_lowercase())
        }
        ("UNINSTALL", what @ ("PLUGIN" | "COMPONENT")) => {
            host.check_table(&[Privilege::Delete], "mysql", &what.to_ascii_lowercase())
        }
        ("CREATE" | "ALTER" | "DROP", "TABLESPACE" | "UNDO") => one("CREATE TABLESPACE"),
        ("CREATE" | "ALTER" | "DROP", "SERVER") => one("SUPER"),
        ("CREATE" | "ALTER" | "DROP", "RESOURCE") => one("RESOURCE_GROUP_ADMIN"),
        ("CREATE", "LIBRARY") => check_named(session, words.name(2), |schema, _| {
            host.check_privilege(Privilege::CreateRoutine, Some(schema), None)
        }),
        ("CLONE", "INSTANCE") => one("CLONE_ADMIN"),
        ("LOCK" | "UNLOCK", "INSTANCE") => one("BACKUP_ADMIN"),
        ("ALTER", "TABLE") => check_named(session, words.name(2), |schema, name| {
            host.check_table(&[Privilege::Alter], schema, name)
        }),
        ("SET", "RESOURCE") => host.check_administers(
            "RESOURCE_GROUP_ADMIN OR RESOURCE_GROUP_USER",
            &["RESOURCE_GROUP_ADMIN", "RESOURCE_GROUP_USER"],
        ),
        ("ALTER", "INSTANCE") if matches!(words.at(2), "ENABLE" | "DISABLE") => one("INNODB_REDO_LOG_ENABLE"),
        ("ALTER", "INSTANCE") if words.at(2) == "ROTATE" && words.at(3) == "BINLOG" => {
            host.check_administers("SUPER or BINLOG_ENCRYPTION_ADMIN", &["SUPER", "BINLOG_ENCRYPTION_ADMIN"])
        }
        ("ALTER", "INSTANCE") if words.at(2) == "ROTATE" => {
            host.check_administers("SUPER or ENCRYPTION_KEY_ADMIN", &["SUPER", "ENCRYPTION_KEY_ADMIN"])
        }
        ("ALTER", "INSTANCE") if words.at(2) == "RELOAD" => one("CONNECTION_ADMIN"),
        ("START" | "STOP", "GROUP_REPLICATION") => {
            host.check_administers("SUPER or GROUP_REPLICATION_ADMIN", &["SUPER", "GROUP_REPLICATION_ADMIN"])
        }
        ("TABLE", _) => check_readable(session, words.name(1)),
        ("FLUSH", "TABLES" | "TABLE") => host.check_privilege(Privilege::FlushTables, None, None),
        _ => Ok(()),
    }
}

/// Checks that the account may read all columns of a table.
fn check_readable(session: &Session, name: Option<TableName>) -> Result<()> {
    check_named(session, name, |schema, name| {
        if !session.server.host.has_column_privilege(Privilege::Select, schema, name) {
            return session.server.host.check_table(&[Privilege::Select], schema, name);
        }
        let Some(table) = session.server.engine.catalog().table(schema, name) else {
            return Ok(());
        };
        let named = &table.def.columns[..table.def.named_columns()];
        let mut columns = named.iter().map(|column| column.name.as_str());
        session.server.host.check_all_columns(Privilege::Select, schema, name, &mut columns)
    })
}

fn check_named(
    session: &Session,
    name: Option<TableName>,
    check: impl FnOnce(&str, &str) -> Result<()>,
) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    check(&session.settings.schema_of(&name)?, &name.name)
}
