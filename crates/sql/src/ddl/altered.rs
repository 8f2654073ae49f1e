//! What an ALTER TABLE comes to.

use engine::TableDef;

/// What ALTER TABLE makes.
pub(crate) struct Altered {
    pub def: TableDef,
    /// For each new column the old one that it comes from.
    pub sources: Vec<Option<usize>>,
    /// Columns that get other names: from, to.
    pub renamed: Vec<(String, String)>,
    /// FORCE, or the engine was named again: the table is to be rebuilt.
    pub force: bool,
    /// Rows have to be read for their expressions, in MySQL's way a copy of the table.
    pub copies: bool,
    /// Rows of the old table of which this condition holds go with their partitions.
    pub goes: Option<String>,
    /// The AUTO_INCREMENT counter that was asked for.
    pub auto_increment: Option<u64>,
}

impl Altered {
    /// Rows have to be converted even if old and new ones look alike.
    pub fn must_rebuild(&self, old: &TableDef) -> bool {
        let in_place = self.sources.iter().enumerate().all(|(at, source)| *source == Some(at));
        self.force || self.copies || !in_place || self.sources.len() != old.columns.len()
    }
}
