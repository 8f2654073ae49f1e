//! The parts of MariaDB's temporal tables: system versioning, and a period for an application. The
//! rows of the present and of the past are in the table's one tree. Crate `sql` decides which of
//! them a statement is about.

/// The roles that a column has beside those that its name and its type tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles(u8);

impl ColumnRoles {
    /// `GENERATED ALWAYS AS ROW START`
    pub const ROW_START: ColumnRoles = ColumnRoles(1);
    /// `GENERATED ALWAYS AS ROW END`
    pub const ROW_END: ColumnRoles = ColumnRoles(2);
    /// `WITHOUT SYSTEM VERSIONING`
    pub const UNVERSIONED: ColumnRoles = ColumnRoles(4);
    /// The first column of `PERIOD FOR` an application.
    pub const PERIOD_START: ColumnRoles = ColumnRoles(8);
    /// The second column of `PERIOD FOR` an application.
    pub const PERIOD_END: ColumnRoles = ColumnRoles(16);

    /// The hidden column of an expression in an index.
    pub const INDEXED_EXPRESSION: ColumnRoles = ColumnRoles(32);

    /// Returns the roles from their form in the dictionary. `None` means that a bit is no known
    /// role.
    pub(super) fn from_bits(bits: u8) -> Option<ColumnRoles> {
        const ALL: u8 = 63;
        (bits & !ALL == 0).then_some(ColumnRoles(bits))
    }

    /// Returns the roles in their form in the dictionary.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Reports whether the column has this role.
    pub fn has(self, role: ColumnRoles) -> bool {
        self.0 & role.0 != 0
    }

    /// Adds a role to those of the column.
    pub fn add(&mut self, role: ColumnRoles) {
        self.0 |= role.0;
    }

    /// Takes a role away.
    pub fn remove(&mut self, role: ColumnRoles) {
        self.0 &= !role.0;
    }

    /// Reports whether the column is ROW START or ROW END.
    pub fn is_of_row(self) -> bool {
        self.has(ColumnRoles::ROW_START) || self.has(ColumnRoles::ROW_END)
    }
}

/// The `WITH SYSTEM VERSIONING` clause of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemVersioning {
    /// Whether nobody wrote the columns for the row's start and end, so that they are hidden.
    pub implied: bool,
}

/// The clauses of MariaDB's temporal tables that a table has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Temporal {
    /// The `WITH SYSTEM VERSIONING` clause.
    pub versioning: Option<SystemVersioning>,
    /// The name of the `PERIOD FOR` an application.
    pub period: Option<String>,
    /// The names of the unique indexes, including `PRIMARY`, that end in `WITHOUT OVERLAPS`.
    pub without_overlaps: Vec<String>,
}
