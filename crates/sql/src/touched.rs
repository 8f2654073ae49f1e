//! What a source's statement changes, for replication filters. It is derived from the statement's
//! text alone, without a look at any table.

use crate::ast::{Alteration, ObjectDetails, Statement, TableName, TableRef};
use crate::parse::parse;
use crate::sql_mode::SqlMode;
use engine::ObjectKind;
use types::collation;

/// What a statement changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// A schema as a whole: CREATE, ALTER or DROP DATABASE.
    Schema(String),
    /// Tables, each as `(schema, table)`.
    Tables(Vec<(String, String)>),
    /// Neither a schema nor tables, or nothing that is known.
    Nothing,
}

/// The tables that statements about accounts are taken to change. MySQL applies the filters to all
/// of them, whatever the statement is.
const GRANT_TABLES: &[&str] = &[
    "user",
    "db",
    "tables_priv",
    "columns_priv",
    "procs_priv",
    "proxies_priv",
    "role_edges",
    "default_roles",
    "global_grants",
    "password_history",
];

/// Returns what a statement changes. The statement is in `character_set_client`, and its tables
/// without a schema are in `schema`.
pub fn touched(schema: &str, statement: &[u8], character_set_client: u16, sql_mode: u64) -> Touched {
    let text = collation::to_utf8mb4(character_set_client, statement);
    let lex = crate::lexer::LexMode { of_source: true, ..SqlMode(sql_mode).lex() };
    let Ok(Some(parsed)) = parse(&text, lex) else { return Touched::Nothing };
    let mut tables: Vec<&TableName> = Vec::new();
    match &parsed.statement {
        Statement::CreateSchema { schema, .. } | Statement::DropSchema { schema, .. } => {
            return Touched::Schema(schema.clone());
        }
        Statement::AlterSchema { schema: named, .. } => {
            return Touched::Schema(named.clone().unwrap_or_else(|| schema.to_owned()));
        }
        Statement::CreateTable(create) => tables.push(&create.table),
        Statement::AlterTable(alter) => {
            tables.push(&alter.table);
            if let [Alteration::Partition(alteration)] = alter.alterations.as_slice() {
                tables.extend(alteration.other_table());
            }
        }
        Statement::DropTable { tables: dropped, .. } => tables.extend(dropped),
        Statement::RenameTable { pairs, .. } => tables.extend(pairs.iter().flat_map(|(from, to)| [from, to])),
        Statement::Truncate(table)
        | Statement::CreateIndex { table, .. }
        | Statement::DropIndex { table, .. } => tables.push(table),
        Statement::CreateObject(create) => match &create.details {
            ObjectDetails::Trigger(trigger) => tables.push(&trigger.table),
            ObjectDetails::View(_) => tables.push(&create.name),
            // Only the schema filters have a say about routines and events.
            _ => return Touched::Nothing,
        },
        Statement::DropObjects { kind: ObjectKind::View, names, .. } => tables.extend(names),
        Statement::Maintain { tables: maintained, .. } => tables.extend(maintained),
        Statement::Insert(insert) => tables.push(&insert.table),
        Statement::Load(load) => tables.push(&load.table),
        Statement::Update(update) => tables_of(&update.from, &mut tables),
        Statement::Delete(delete) if delete.targets.is_empty() => tables_of(&delete.from, &mut tables),
        Statement::Delete(delete) => tables.extend(&delete.targets),
        Statement::Admin(command) if command.is_about_accounts() => {
            let own = |table: &&str| ("mysql".to_owned(), (*table).to_owned());
            return Touched::Tables(GRANT_TABLES.iter().map(own).collect());
        }
        _ => return Touched::Nothing,
    }
    let qualified =
        |table: &TableName| (table.schema.clone().unwrap_or_else(|| schema.to_owned()), table.name.clone());
    Touched::Tables(tables.into_iter().map(qualified).collect())
}

fn tables_of<'a>(from: &'a TableRef, tables: &mut Vec<&'a TableName>) {
    match from {
        TableRef::Table { name, .. } => tables.push(name),
        TableRef::Derived { .. } | TableRef::JsonTable(_) => {}
        TableRef::Join { left, right, .. } => {
            tables_of(left, tables);
            tables_of(right, tables);
        }
    }
}

/// Reports whether a name matches a pattern of `REPLICATE_WILD_DO_TABLE`. `%`, `_` and `\` have
/// their meanings of LIKE, and case matters.
pub fn wild_matches(name: &str, pattern: &str) -> bool {
    types::like::like(name.as_bytes(), pattern.as_bytes(), Some(b'\\'), collation::UTF8MB4_BIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statement: &str) -> Touched {
        touched("now", statement.as_bytes(), 255, 0)
    }

    fn tables(names: &[(&str, &str)]) -> Touched {
        Touched::Tables(names.iter().map(|(s, t)| (s.to_string(), t.to_string())).collect())
    }

    #[test]
    fn statements_name_what_they_change() {
        assert_eq!(of("CREATE DATABASE `a b`"), Touched::Schema("a b".into()));
        assert_eq!(of("CREATE TABLE t (a INT)"), tables(&[("now", "t")]));
        assert_eq!(of("DROP TABLE IF EXISTS a.t, u"), tables(&[("a", "t"), ("now", "u")]));
        assert_eq!(of("RENAME TABLE a.t TO b.t"), tables(&[("a", "t"), ("b", "t")]));
        assert_eq!(of("ALTER TABLE x.y ADD COLUMN c INT"), tables(&[("x", "y")]));
        assert_eq!(of("UPDATE t SET a = 1"), tables(&[("now", "t")]));
        let Touched::Tables(of_grant) = of("GRANT SELECT ON t TO a") else { panic!("it changes tables") };
        assert!(of_grant.contains(&("mysql".into(), "user".into())));
        assert!(of_grant.iter().all(|(schema, _)| schema == "mysql"));
        assert_eq!(of("FLUSH LOGS"), Touched::Nothing);
        assert_eq!(of("CREATE PROCEDURE a.p() SELECT 1"), Touched::Nothing);
        assert_eq!(of("DROP PROCEDURE a.p"), Touched::Nothing);
        assert_eq!(of("no statement"), Touched::Nothing);
    }

    #[test]
    fn patterns() {
        assert!(wild_matches("db1.orders", "db%.ord%"));
        assert!(wild_matches("a_b.t", "a\\_b.%") && !wild_matches("axb.t", "a\\_b.%"));
        assert!(wild_matches("axb.t", "a_b.%"));
        assert!(!wild_matches("DB1.t", "db1.%"));
    }
}
