//! What MariaDB's temporal tables have beyond others: system versioning, and a period for an
//! application. The rows of the present and of the past are in the table's one tree; which of them
//! a statement is about is for crate `sql` to say.

/// What a column is to the periods of its table.
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

    /// The roles as the dictionary has them; `None`: there are none such.
    pub(super) fn from_bits(bits: u8) -> Option<ColumnRoles> {
        const ALL: u8 = 31;
        (bits & !ALL == 0).then_some(ColumnRoles(bits))
    }

    /// As the dictionary has them.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Whether the column has this role.
    pub fn has(self, role: ColumnRoles) -> bool {
        self.0 & role.0 != 0
    }

    /// Gives the column a role beside those that it has.
    pub fn add(&mut self, role: ColumnRoles) {
        self.0 |= role.0;
    }

    /// Takes a role away.
    pub fn remove(&mut self, role: ColumnRoles) {
        self.0 &= !role.0;
    }

    /// Whether it is ROW START or ROW END.
    pub fn is_of_row(self) -> bool {
        self.has(ColumnRoles::ROW_START) || self.has(ColumnRoles::ROW_END)
    }
}

/// `WITH SYSTEM VERSIONING`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemVersioning {
    /// Nobody wrote the columns for the row's start and end: they are hidden.
    pub implied: bool,
}

/// What a table has of MariaDB's temporal tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Temporal {
    /// `WITH SYSTEM VERSIONING`
    pub versioning: Option<SystemVersioning>,
    /// The name of `PERIOD FOR` an application.
    pub period: Option<String>,
    /// Names of the unique indexes, `PRIMARY` among them, that end in `WITHOUT OVERLAPS`.
    pub without_overlaps: Vec<String>,
}
