//! The rules by which an account sees schemas, tables, columns and routines, which are MySQL's.

use super::wanted::{bits, is_computed};
use crate::accounts::{Account, Privileges, RoutineName};
use engine::ObjectKind;
use sql::{Privilege, Sight};
use std::sync::LazyLock;

/// The privileges that count for using a schema, which are MySQL's DB_OP_ACLS.
static IN_SCHEMA: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&[
        "CREATE TEMPORARY TABLES",
        "LOCK TABLES",
        "EXECUTE",
        "CREATE ROUTINE",
        "ALTER ROUTINE",
        "EVENT",
    ])
});

/// The privileges that count for seeing a table, which are MySQL's TABLE_OP_ACLS.
static ON_TABLE: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&[
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "CREATE",
        "DROP",
        "REFERENCES",
        "INDEX",
        "ALTER",
        "CREATE VIEW",
        "SHOW VIEW",
        "TRIGGER",
    ])
});

/// The privileges that count for seeing a routine.
static ON_ROUTINE: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE"]));

/// The privileges that are needed to see the definition of a view.
static SHOWS_VIEW: LazyLock<Privileges> = LazyLock::new(|| Privileges::of_names(&["SELECT", "SHOW VIEW"]));

/// The privileges that count for seeing a column.
pub static ON_COLUMN: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["SELECT", "INSERT", "UPDATE", "REFERENCES"]));

/// Reports whether an account may read the definitions of other accounts' routines.
fn shows_routines(account: &Account) -> bool {
    account.global.contains(bits(Privilege::Select)) || account.dynamic.contains_key("SHOW_ROUTINE")
}

/// Reports whether an account sees an object. Any privilege on a table itself counts.
pub fn sees(account: &Account, sight: Sight<'_>) -> bool {
    let in_schema = || IN_SCHEMA.with(*ON_TABLE);
    // Every account sees that there is a performance_schema, but may not use it.
    let is_everybodys = |schema: &str| schema.eq_ignore_ascii_case("information_schema");
    match sight {
        Sight::Schema(schema) => {
            account.global.intersects(in_schema().with(bits(Privilege::ShowDatabases)))
                || !account.on_schema(schema).without(account.global).is_empty()
                || account.on_tables_of(schema).next().is_some()
                || account.has_routines_in(schema)
                || is_computed(schema)
        }
        Sight::SchemaToUse(schema) | Sight::CreateSchema(schema) => {
            // As in MySQL, the CREATE statement of information_schema is not shown to every
            // account.
            (is_everybodys(schema) && matches!(sight, Sight::SchemaToUse(_)))
                || account.on_schema(schema).intersects(in_schema())
                || account
                    .on_tables_of(schema)
                    .any(|held| !held.without(Privileges::grant_option()).is_empty())
                || account.has_routines_in(schema)
        }
        Sight::TablesOf(schema) => {
            is_everybodys(schema)
                || account.on_schema(schema).intersects(in_schema())
                || account.on_tables_of(schema).next().is_some()
                || account.has_routines_in(schema)
        }
        Sight::Table(schema, table) => {
            account.on_schema(schema).intersects(*ON_TABLE)
                || !account.on_table_itself(schema, table).is_empty()
                || !account.on_columns_of(schema, table).is_empty()
        }
        Sight::Column(schema, table, column) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
            held.with(account.on_column_itself(schema, table, column)).intersects(*ON_COLUMN)
        }
        Sight::Description(schema, table) => {
            is_everybodys(schema)
                || account.allows_schema(bits(Privilege::Select), schema)
                || !account.on_table_itself(schema, table).is_empty()
                || !account.on_columns_of(schema, table).is_empty()
        }
        Sight::CreateView(schema, view) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, view));
            held.contains(*SHOWS_VIEW)
        }
        Sight::CreateTableOfView(schema, view) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, view));
            held.contains(Privileges::named("SHOW VIEW").unwrap_or_default())
        }
        Sight::Routine(kind, schema, name) => {
            let routine = RoutineName::new(kind == ObjectKind::Function, schema, name);
            let held = account.on_schema(schema).with(account.on_routine_itself(&routine));
            held.intersects(*ON_ROUTINE) || shows_routines(account)
        }
        Sight::RoutineText(_) => shows_routines(account),
        Sight::CreateTable(schema, table) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
            is_everybodys(schema) || held.intersects(*ON_TABLE)
        }
    }
}
