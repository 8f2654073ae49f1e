//! Definitions of schemas and tables as users see them: what `SHOW CREATE TABLE` prints and the
//! dictionary keeps.

mod check;
pub(crate) mod codec;
mod column;
mod expression;
mod foreign_key;
mod index;
mod name;
pub(crate) mod object;
mod partition;
mod related;
mod table;
mod temporal;

pub use column::{ColumnDef, ColumnDefault};
pub use expression::{CheckDef, EntryRule, Generated, KeptEntries, KeptIndex, KeptKind, KeptPart};
pub use foreign_key::{ForeignKeyDef, ReferentialAction};
pub use index::{IndexColumn, IndexDef, IndexRef};
pub use object::{Object, ObjectChange, ObjectDef, ObjectKind, TriggerEvent, TriggerPlace};
pub use partition::{Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, Subpartition};
pub use table::{RANK_OF_OTHERS, TableDef};
pub use temporal::{ColumnRoles, SystemVersioning, Temporal};

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDef {
    /// The name of the schema.
    pub name: String,
    /// The number of the default collation of new tables.
    pub collation: u16,
}
