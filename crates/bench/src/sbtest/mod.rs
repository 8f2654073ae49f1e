//! sysbench's tables and workloads, without the program sysbench: the same schema, the same
//! distribution of values, and the same prepared statements.
//!
//! Flows in: the address of any server. Flows out: filled tables, transactions, and checksums that
//! can be compared between any two servers. The rows of a table follow from the seed, the table's
//! number and its size.

mod checksum;
mod fill;
mod random;
pub mod slap;
mod table;
mod workload;

pub(crate) use checksum::checksum;
pub use checksum::{Checksum, checksums};
pub use fill::{Filled, fill};
pub use random::{C_LEN, PAD_LEN, RandType, digits, special};
pub(crate) use table::doing;
pub use table::{SCHEMA, SbtestError, Size, connect, create_table};
pub(crate) use workload::is_retried;
pub use workload::{Load, Loaded, Workload, run as run_workload};
