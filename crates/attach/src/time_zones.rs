//! The source's time zones, which statements in its log, events and defaults name.

use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::source::{Source, literal};

/// The tables of time zones, which are the same in MySQL and MariaDB, each with its columns.
const TABLES: [(&str, &str); 5] = [
    ("time_zone", "Time_zone_id, Use_leap_seconds"),
    ("time_zone_transition_type", "Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation"),
    ("time_zone_transition", "Time_zone_id, Transition_time, Transition_type_id"),
    ("time_zone_leap_second", "Transition_time, Correction"),
    ("time_zone_name", "Name, Time_zone_id"),
];

/// The number of rows in one statement.
const ROWS: usize = 1000;

/// The rows of each of the tables, which are empty where no zones were loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZones(Vec<Vec<Vec<String>>>);

impl TimeZones {
    /// Reads the zones that the source has now. There are none if the account may not read them.
    pub fn read(source: &mut Source) -> Result<TimeZones> {
        let mut tables = Vec::new();
        for (name, columns) in TABLES {
            match source.table(&format!("SELECT {columns} FROM mysql.{name} ORDER BY 1, 2")) {
                Ok(rows) => tables.push(rows),
                Err(AttachError::Source(_, error)) if error.server_code().is_some() => {
                    return Ok(TimeZones(Vec::new()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(TimeZones(tables))
    }

    /// Replaces the zones that are here.
    pub fn make(&self, local: &mut Local) -> Result<()> {
        for ((name, columns), rows) in TABLES.iter().zip(&self.0) {
            // A new server mostly has no zones, and TRUNCATE syncs files.
            if !local.one(&format!("SELECT 1 FROM mysql.{name} LIMIT 1"))?.is_empty() {
                local.query(&format!("TRUNCATE TABLE mysql.{name}"))?;
            }
            for rows in rows.chunks(ROWS) {
                let row = |row: &Vec<String>| {
                    let cells: Vec<String> = row.iter().map(|cell| literal(cell)).collect();
                    format!("({})", cells.join(", "))
                };
                let rows: Vec<String> = rows.iter().map(row).collect();
                local.query(&format!("INSERT INTO mysql.{name} ({columns}) VALUES {}", rows.join(", ")))?;
            }
        }
        Ok(())
    }
}
