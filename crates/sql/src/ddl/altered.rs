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
    /// Whether the rows in `goes` are gone at once and are deleted afterwards, so that no other row
    /// is written anew for them.
    pub goes_at_once: bool,
    /// The AUTO_INCREMENT counter that the statement demands.
    pub auto_increment: Option<u64>,
}

impl Altered {
    /// Reports whether the rows have to be converted even if their old and new images look alike,
    /// but for columns that are added or dropped.
    pub fn must_rebuild(&self) -> bool {
        let removes_rows = self.goes.is_some() && !self.goes_at_once;
        self.force || self.copies || removes_rows || !self.keeps_order()
    }

    /// Reports whether the old columns that stay are in their old order.
    fn keeps_order(&self) -> bool {
        self.sources.iter().flatten().is_sorted()
    }
}
