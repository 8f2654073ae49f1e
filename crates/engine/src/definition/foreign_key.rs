//! FOREIGN KEY constraints: rows of one table, the child, that are about rows of another, the
//! parent.

use super::name::same_name;

/// What becomes of child rows when their parent row is deleted or its key changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferentialAction {
    /// The change is refused. Not said is the same.
    #[default]
    NoAction,
    /// The change is refused.
    Restrict,
    /// They are deleted, or get the new key.
    Cascade,
    /// Their columns become NULL.
    SetNull,
    /// Can be said, and refuses the change.
    SetDefault,
}

impl ReferentialAction {
    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        }
    }

    /// It changes child rows.
    pub fn changes_rows(self) -> bool {
        matches!(self, ReferentialAction::Cascade | ReferentialAction::SetNull)
    }
}

/// A FOREIGN KEY constraint of the table that has it, the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// Name of the constraint, which the child's schema has once.
    pub name: String,
    /// Positions of the child's columns.
    pub columns: Vec<usize>,
    /// Schema of the parent.
    pub parent_schema: String,
    /// Name of the parent, which need not exist where `foreign_key_checks` was off.
    pub parent_table: String,
    /// Names of the parent's columns, one for each of `columns`.
    pub parent_columns: Vec<String>,
    /// `ON DELETE`
    pub on_delete: ReferentialAction,
    /// `ON UPDATE`
    pub on_update: ReferentialAction,
}

impl ForeignKeyDef {
    /// Whether its parent is the table of this name.
    pub fn is_about(&self, schema: &str, table: &str) -> bool {
        self.parent_table == table && self.parent_schema == schema
    }

    /// Follows columns of the parent that get other names (from, to).
    pub fn rename_parent_columns(&mut self, renamed: &[(String, String)]) {
        for column in &mut self.parent_columns {
            if let Some((_, to)) = renamed.iter().find(|(from, _)| same_name(from, column)) {
                column.clone_from(to);
            }
        }
    }
}
