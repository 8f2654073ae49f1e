//! Rows that went with their partitions (`ALTER TABLE ... DROP PARTITION`, `TRUNCATE PARTITION`)
//! and are still on pages.
//!
//! The rows of all partitions stand in one tree (decision 0041), so such a statement does not touch
//! them. It takes one commit, which notes a position of the log and the condition by which the
//! partition had its rows. A row that is not newer than the position and meets the condition does
//! not exist from then on, for nobody. A thread deletes these rows afterwards
//! ([`crate::emptying`]), and then the note goes too.
//!
//! In: the image and the sequence number of a stored row. Out: whether the row went. Conditions are
//! SQL, so crate `sql` compiles and computes them ([`ConditionCompiler`]).
//!
//! Invariants:
//! - The positions of a table's notes ascend. Every commit that changed the table before a
//!   statement ends at its position or before, and every later one behind it, because the statement
//!   holds the table's exclusive metadata lock while it takes the position.
//! - Nobody reads such a table at a snapshot that is older than its newest note: the statement sets
//!   `created_lsn` ([`crate::table::Placement`]).
//! - A table with such notes is partitioned, and the columns that the conditions name keep their
//!   names and values. Statements that would change that write the rows anew.

use crate::bytes::{Put, Reader};
use crate::definition::TableDef;
use crate::error::Result;
use redo::Lsn;
use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};
use types::Value;

/// A note about the rows that one statement has removed with their partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DroppedPartition {
    /// The position of the log up to which rows are meant.
    pub until: Lsn,
    /// The condition that the rows meet, as the text of an expression over the table's columns.
    pub condition: String,
}

/// Notes that the rows which meet a condition have gone at a position of the log.
pub(crate) fn note(dropped: &mut Vec<DroppedPartition>, until: Lsn, condition: &str) {
    dropped.push(DroppedPartition { until, condition: condition.to_owned() });
    assert!(dropped.is_sorted_by_key(|note| note.until), "partitions go one after the other");
}

/// Appends the dictionary's form of a table's notes.
pub(crate) fn put(out: &mut Vec<u8>, dropped: &[DroppedPartition]) {
    out.put_varint(dropped.len() as u64);
    for DroppedPartition { until, condition } in dropped {
        out.put_u64(*until);
        out.put_str(condition);
    }
}

/// Reads what [`put`] wrote.
///
/// # Errors
/// Returns an error for bytes that nobody wrote.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Vec<DroppedPartition>> {
    let mut dropped: Vec<DroppedPartition> = Vec::new();
    for _ in 0..reader.count()? {
        let read = DroppedPartition { until: reader.u64()?, condition: reader.string()? };
        if dropped.last().is_some_and(|before| before.until > read.until) {
            return Err(reader.impossible("log position of a dropped partition"));
        }
        dropped.push(read);
    }
    Ok(dropped)
}

/// A condition over the rows of a table.
pub trait RowCondition: Send + Sync {
    /// Reports whether the condition is true of a row, which has a value for each column.
    ///
    /// # Errors
    /// Returns an error in words when the condition cannot be computed.
    fn holds(&self, values: &[Value]) -> std::result::Result<bool, String>;
}

/// The engine whose rows a condition is about, an [`crate::Engine`]. Its type is not named, because
/// the engine stands above this file.
pub type EngineOfRows = Weak<dyn Any + Send + Sync>;

/// Compiles the texts of conditions. Crate `sql` has the compiler.
pub trait ConditionCompiler: Send + Sync {
    /// Compiles the text of a condition over the columns of a table. The engine may not be kept
    /// alive by the condition, because it has the condition.
    ///
    /// # Errors
    /// Returns an error in words for a text that does not compile.
    fn compile(
        &self,
        engine: &EngineOfRows,
        def: &TableDef,
        text: &str,
    ) -> std::result::Result<Box<dyn RowCondition>, String>;
}

/// The compiler of an engine's conditions ([`crate::EngineConfig`]). The default is none, with
/// which no partition can be dropped.
#[derive(Clone, Default)]
pub struct Conditions(Option<Arc<dyn ConditionCompiler>>);

impl Conditions {
    /// Takes a compiler.
    pub fn new(compiler: Arc<dyn ConditionCompiler>) -> Conditions {
        Conditions(Some(compiler))
    }
}

impl std::fmt::Debug for Conditions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Conditions")
    }
}

/// The notes of an opened table, and their compiled conditions.
pub(crate) struct DroppedPartitions {
    /// The notes, the oldest one first. There is at least one.
    notes: Vec<DroppedPartition>,
    /// The conditions of the notes, from when they are asked for first.
    compiled: OnceLock<Vec<Box<dyn RowCondition>>>,
}

impl std::fmt::Debug for DroppedPartitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.notes.fmt(f)
    }
}

impl DroppedPartitions {
    /// Takes the notes of a table. `None` means that there are none.
    pub fn new(notes: &[DroppedPartition]) -> Option<Box<DroppedPartitions>> {
        let is_any = !notes.is_empty();
        is_any.then(|| Box::new(DroppedPartitions { notes: notes.to_vec(), compiled: OnceLock::new() }))
    }

    /// Returns the position up to which rows may have gone.
    pub fn until(&self) -> Lsn {
        self.notes.last().expect("there is at least one").until
    }

    /// Reports whether one of the notes is about a row with these values and this sequence number.
    ///
    /// # Errors
    /// Returns an error in words for a condition that does not compile or cannot be computed.
    pub fn are_about(
        &self,
        seq: Lsn,
        values: &[Value],
        compile: impl Fn(&str) -> std::result::Result<Box<dyn RowCondition>, String>,
    ) -> std::result::Result<bool, String> {
        let compiled = match self.compiled.get() {
            Some(compiled) => compiled,
            None => {
                let compiled = self.notes.iter().map(|note| compile(&note.condition));
                let compiled = compiled.collect::<std::result::Result<Vec<_>, _>>()?;
                self.compiled.get_or_init(|| compiled)
            }
        };
        for (note, condition) in self.notes.iter().zip(compiled) {
            if seq <= note.until && condition.holds(values)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Conditions {
    /// Compiles the text of a condition.
    ///
    /// # Errors
    /// Returns an error in words when it does not compile or there is no compiler.
    pub(crate) fn compile(
        &self,
        engine: &EngineOfRows,
        def: &TableDef,
        text: &str,
    ) -> std::result::Result<Box<dyn RowCondition>, String> {
        let compiler = self.0.as_ref().ok_or("there is no compiler of conditions")?;
        compiler.compile(engine, def, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_as_they_were_put() {
        let note = |until, text: &str| DroppedPartition { until, condition: text.to_owned() };
        let notes = vec![note(7, "(`a` < 5)"), note(9, "(1 = 1)")];
        let mut bytes = Vec::new();
        put(&mut bytes, &notes);
        assert_eq!(read(&mut Reader::new(&bytes, "notes")).unwrap(), notes);
        for len in 0..bytes.len() {
            assert!(read(&mut Reader::new(&bytes[..len], "notes")).is_err(), "{len} bytes");
        }
        let mut bytes = Vec::new();
        put(&mut bytes, &[note(9, "a"), note(7, "b")]);
        assert!(read(&mut Reader::new(&bytes, "notes")).is_err(), "positions that do not ascend");
    }
}
