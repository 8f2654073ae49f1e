//! The result of an ALTER TABLE.

use engine::TableDef;

/// The new definition that an ALTER TABLE makes, and how the old rows become new ones.
pub(crate) struct Altered {
    pub def: TableDef,
    /// For each new column, the position of the old column that its values come from.
    pub sources: Vec<Option<usize>>,
    /// The renamed columns, with their old and new names.
    pub renamed: Vec<(String, String)>,
    /// Whether the table has to be rebuilt because the statement says FORCE or names the engine
    /// again.
    pub force: bool,
    /// Whether rows have to be read for their expressions, which MySQL does by copying the table.
    pub copies: bool,
    /// The condition of the old rows that are removed with their partitions.
    pub goes: Option<String>,
    /// The AUTO_INCREMENT counter that the statement demands.
    pub auto_increment: Option<u64>,
}

impl Altered {
    /// Reports whether the rows have to be converted even if their old and new images look alike.
    pub fn must_rebuild(&self, old: &TableDef) -> bool {
        let in_place = self.sources.iter().enumerate().all(|(at, source)| *source == Some(at));
        self.force || self.copies || !in_place || self.sources.len() != old.columns.len()
    }
}
