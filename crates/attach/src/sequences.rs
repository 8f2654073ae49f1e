//! MariaDB's sequences. Each is one row, and an event in the log sets the whole row. So a row that
//! is read behind the position where replication begins is right as soon as the log has been
//! applied up to there.

use crate::choice::Choice;
use crate::definitions::OWN_SCHEMAS;
use crate::error::Result;
use crate::local::Local;
use crate::source::{Source, quoted};

/// A sequence of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    schema: String,
    name: String,
    /// The statement that makes it.
    made: String,
    /// The first value that no session has been given.
    next: String,
}

/// Reads the chosen sequences.
pub fn read(source: &mut Source, choice: &dyn Choice) -> Result<Vec<Sequence>> {
    let list = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
         WHERE TABLE_TYPE = 'SEQUENCE' AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS} ORDER BY 1, 2"
    );
    let mut sequences = Vec::new();
    for row in source.table(&list)? {
        let [schema, name] = [row[0].clone(), row[1].clone()];
        if !choice.takes_table(&schema, &name) {
            continue;
        }
        let place = format!("{}.{}", quoted(&schema), quoted(&name));
        let made = source.query(&format!("SHOW CREATE SEQUENCE {place}"))?;
        let next = source.one(&format!("SELECT next_not_cached_value FROM {place}"))?;
        sequences.push(Sequence { schema, name, made: made.cell(0, 1).unwrap_or_default(), next });
    }
    Ok(sequences)
}

/// Reports whether two readings found the same sequences, whatever their values are.
pub fn are_same(one: &[Sequence], other: &[Sequence]) -> bool {
    let key = |sequence: &Sequence| (sequence.schema.clone(), sequence.name.clone(), sequence.made.clone());
    one.iter().map(key).eq(other.iter().map(key))
}

impl Sequence {
    /// Makes the sequence here, where it goes on as at the source.
    pub fn make(&self, local: &mut Local) -> Result<()> {
        local.query(&format!("USE {}", quoted(&self.schema)))?;
        local.query(&self.made)?;
        local.query(&format!("ALTER SEQUENCE {} RESTART {}", quoted(&self.name), self.next)).map(|_| ())
    }
}
