//! Everything that a source has besides rows: schemas, tables, views, routines, triggers, events,
//! accounts and time zones.

use crate::accounts::Accounts;
use crate::choice::Choice;
use crate::definitions::{Listing, OWN_SCHEMAS, Table};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::sequences::{self, Sequence};
use crate::source::{Source, literal, quoted};
use crate::time_zones::TimeZones;

/// An object that a statement makes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Object {
    kind: &'static str,
    schema: String,
    name: String,
    text: String,
    /// The statements that set how the text is meant.
    settings: Vec<String>,
    /// True for an event that is enabled at the source.
    is_enabled_event: bool,
}

/// All objects of a source, as statements.
#[derive(Debug, Clone)]
pub struct Objects {
    schemas: Vec<(String, String)>,
    sequences: Vec<Sequence>,
    tables: Listing,
    others: Vec<Object>,
    accounts: Accounts,
    time_zones: TimeZones,
}

/// A kind of object that is no table, and the way to find and show its objects.
struct Kind {
    name: &'static str,
    list: &'static str,
    /// The column of SHOW CREATE that holds the statement.
    text: &'static str,
}

/// The kinds of objects. Routines come before the views that may call them.
const KINDS: [Kind; 5] = [
    Kind {
        name: "FUNCTION",
        list: "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, '' FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION' \
               AND ROUTINE_SCHEMA",
        text: "Create Function",
    },
    Kind {
        name: "PROCEDURE",
        list: "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, '' FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE' \
               AND ROUTINE_SCHEMA",
        text: "Create Procedure",
    },
    Kind {
        name: "VIEW",
        list: "SELECT TABLE_SCHEMA, TABLE_NAME, '' FROM information_schema.VIEWS WHERE TABLE_SCHEMA",
        text: "Create View",
    },
    Kind {
        name: "TRIGGER",
        list: "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA",
        text: "SQL Original Statement",
    },
    Kind {
        name: "EVENT",
        list: "SELECT EVENT_SCHEMA, EVENT_NAME, STATUS FROM information_schema.EVENTS WHERE EVENT_SCHEMA",
        text: "Create Event",
    },
];

impl Kind {
    /// Reports whether the object in a row of the list is chosen.
    fn is_chosen(&self, row: &[String], choice: &dyn Choice) -> bool {
        match self.name {
            "VIEW" => choice.takes_table(&row[0], &row[1]),
            "TRIGGER" => choice.takes_table(&row[0], &row[2]),
            _ => choice.takes_programs(&row[0]),
        }
    }
}

impl Objects {
    /// Reads all chosen objects that the source has now.
    pub fn read(source: &mut Source, choice: &dyn Choice) -> Result<Objects> {
        let tables = Listing::read(source, choice)?;
        Objects::beside(source, choice, tables)
    }

    /// Reads all chosen objects that the source has now beside its tables, which were read before.
    pub fn beside(source: &mut Source, choice: &dyn Choice, tables: Listing) -> Result<Objects> {
        let mut schemas = Vec::new();
        let list = format!(
            "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN {OWN_SCHEMAS} ORDER BY 1"
        );
        for row in source.table(&list)? {
            let has_tables = tables.tables.iter().any(|(table, _)| table.schema == row[0]);
            if !has_tables && !choice.takes_schema(&row[0]) && !choice.takes_programs(&row[0]) {
                continue;
            }
            let made = source.query(&format!("SHOW CREATE DATABASE {}", quoted(&row[0])))?;
            schemas.push((row[0].clone(), made.cell(0, 1).unwrap_or_default()));
        }
        let mut others = Vec::new();
        for kind in &KINDS {
            let order = "ORDER BY 1, 2";
            // Triggers of one table and one event are made in the order in which they run.
            let order = if kind.name == "TRIGGER" {
                "ORDER BY 1, EVENT_OBJECT_TABLE, ACTION_ORDER, 2"
            } else {
                order
            };
            for row in source.table(&format!("{} NOT IN {OWN_SCHEMAS} {order}", kind.list))? {
                if kind.is_chosen(&row, choice) {
                    others.extend(Object::read(source, kind, &row)?);
                }
            }
        }
        let accounts = if choice.takes_accounts() { Accounts::read(source)? } else { Accounts::default() };
        let time_zones = TimeZones::read(source)?;
        let sequences = sequences::read(source, choice)?;
        Ok(Objects { schemas, sequences, tables, others, accounts, time_zones })
    }

    /// Reports whether two readings found the same, apart from counters, and neither found a table
    /// that was gone a moment later.
    pub fn is_same(&self, other: &Objects) -> bool {
        self.schemas == other.schemas
            && sequences::are_same(&self.sequences, &other.sequences)
            && self.others == other.others
            && self.accounts == other.accounts
            && self.time_zones == other.time_zones
            && self.tables.is_same(&other.tables)
    }

    /// Returns the tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.tables.iter().map(|(table, _)| table)
    }

    /// Makes all objects here. Returns the statements about accounts and privileges that were
    /// refused, with the reasons, and where only a part `is_partial` of the source was chosen also
    /// those about views and the like, which may need what was not chosen.
    pub fn make(&self, local: &mut Local, is_partial: bool) -> Result<Vec<String>> {
        // Definitions name time zones.
        self.time_zones.make(local)?;
        for (name, made) in &self.schemas {
            local.query(&format!("DROP DATABASE IF EXISTS {}", quoted(name)))?;
            local.query(made)?;
        }
        // Defaults of columns name sequences.
        for sequence in &self.sequences {
            sequence.make(local)?;
        }
        for (table, made) in &self.tables.tables {
            local.query(&format!("USE {}", quoted(&table.schema)))?;
            local.query(made)?;
        }
        let mut refused = self.accounts.make(local)?;
        // The definers of views need their privileges first. Privileges on views and routines are
        // granted when these exist.
        let _not_yet = self.accounts.grant(local)?;
        refused.extend(self.make_others(local, is_partial)?);
        refused.extend(self.accounts.grant(local)?);
        Ok(refused)
    }

    /// Makes the objects that are no tables. Views may read each other, so the refused ones are
    /// tried again until no further one can be made.
    fn make_others(&self, local: &mut Local, is_partial: bool) -> Result<Vec<String>> {
        let mut left: Vec<&Object> = self.others.iter().collect();
        let mut notes = Vec::new();
        while !left.is_empty() {
            let mut refused = Vec::new();
            for object in &left {
                if let Err(error) = object.make(local) {
                    refused.push((*object, error));
                }
            }
            if refused.len() == left.len() && !is_partial {
                return Err(refused.swap_remove(0).1);
            }
            if refused.len() == left.len() {
                let name = |object: &Object| format!("{} {}.{}", object.kind, object.schema, object.name);
                notes.extend(
                    refused.iter().map(|(object, why)| format!("{} is left out: {why}", name(object))),
                );
                break;
            }
            left = refused.into_iter().map(|(object, _)| object).collect();
        }
        local.query("SET NAMES utf8mb4, sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'")?;
        Ok(notes)
    }
}

/// Reports whether this server has a collation of utf8mb4 by this name. It does not have MariaDB's
/// newest ones.
fn is_known_of_utf8mb4(name: &str) -> bool {
    name.starts_with("utf8mb4") && !name.contains("uca1400") && !name.ends_with("_nopad_ci")
}

impl Object {
    /// Reads an object. `None` means that it was dropped, or that the account may not read it.
    fn read(source: &mut Source, kind: &Kind, row: &[String]) -> Result<Option<Object>> {
        let (schema, name) = (&row[0], &row[1]);
        let shown =
            match source.query(&format!("SHOW CREATE {} {}.{}", kind.name, quoted(schema), quoted(name))) {
                Ok(shown) => shown,
                Err(AttachError::Source(_, error)) if error.server_code().is_some() => return Ok(None),
                Err(error) => return Err(error),
            };
        let Some(text) = shown.text(0, kind.text).filter(|text| !text.is_empty()) else { return Ok(None) };
        let mut settings = Vec::new();
        if let Some(mode) = shown.text(0, "sql_mode") {
            settings.push(format!("SET sql_mode = {}", literal(&mode)));
        }
        if let Some(zone) = shown.text(0, "time_zone") {
            settings.push(format!("SET time_zone = {}", literal(&zone)));
        }
        if let Some(collation) =
            shown.text(0, "collation_connection").filter(|name| is_known_of_utf8mb4(name))
        {
            settings.push(format!("SET NAMES utf8mb4 COLLATE {collation}"));
        }
        let (schema, name) = (schema.clone(), name.clone());
        Ok(Some(Object {
            kind: kind.name,
            schema,
            name,
            text,
            settings,
            is_enabled_event: kind.name == "EVENT" && row[2] == "ENABLED",
        }))
    }

    fn make(&self, local: &mut Local) -> Result<()> {
        local.query(&format!("USE {}", quoted(&self.schema)))?;
        for setting in &self.settings {
            local.query(setting)?;
        }
        local.query(&self.text)?;
        if self.is_enabled_event {
            // Events run at the source, and their changes come from there.
            local.query(&format!("ALTER EVENT {} DISABLE ON REPLICA", quoted(&self.name)))?;
        }
        Ok(())
    }
}
