//! FOREIGN KEY constraints: rows of one table, the child, refer to rows of another, the parent.

use super::name::same_name;

/// What is done with child rows when their parent row is deleted or its key changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferentialAction {
    /// The change is refused. An action that is not written means the same.
    #[default]
    NoAction,
    /// The change is refused.
    Restrict,
    /// The child rows are deleted, or get the new key.
    Cascade,
    /// The columns of the foreign key become NULL in the child rows.
    SetNull,
    /// The change is refused; the action can be written, but not carried out.
    SetDefault,
}

impl ReferentialAction {
    /// Returns the words that say the action.
    pub fn name(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        }
    }

    /// Reports whether the action changes child rows.
    pub fn changes_rows(self) -> bool {
        matches!(self, ReferentialAction::Cascade | ReferentialAction::SetNull)
    }
}

/// A FOREIGN KEY constraint of the table that has it, the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// The name of the constraint, which is unique in the child's schema.
    pub name: String,
    /// The positions of the child's columns.
    pub columns: Vec<usize>,
    /// The schema of the parent.
    pub parent_schema: String,
    /// The name of the parent, which need not exist if `foreign_key_checks` was off.
    pub parent_table: String,
    /// The names of the parent's columns, one for each of `columns`.
    pub parent_columns: Vec<String>,
    /// The `ON DELETE` action.
    pub on_delete: ReferentialAction,
    /// The `ON UPDATE` action.
    pub on_update: ReferentialAction,
}

impl ForeignKeyDef {
    /// Reports whether the parent is the table of this name.
    pub fn is_about(&self, schema: &str, table: &str) -> bool {
        self.parent_table == table && self.parent_schema == schema
    }

    /// Gives the parent's columns their new names (from, to).
    pub fn rename_parent_columns(&mut self, renamed: &[(String, String)]) {
        for column in &mut self.parent_columns {
            if let Some((_, to)) = renamed.iter().find(|(from, _)| same_name(from, column)) {
                column.clone_from(to);
            }
        }
    }
}
