//! The storage engine: the dictionary, transactions, commits, row versions, locks, recovery, and
//! the application of a source's transactions.
//!
//! **In.** Crate `sql` brings rows and keys (made with crate `types`), and crate `replica` brings a
//! source's events and positions. **Out.** Rows go to readers, commit records to the log (crate
//! `redo`), changed entries to the trees (crates `btree` and `buffer`), and committed event groups,
//! in commit order, to the binary log writer (crate `source`).
//!
//! [`Engine::begin`] starts a transaction. Its reads merge its private write set over the pages.
//! Its changes take row locks and go to the write set and the event group. [`Transaction::commit`]
//! puts one record into the log and applies the write set to leaf pages. Module `commit` has the
//! protocol and its invariants, `version` how readers see consistent states, `lock` the row, gap
//! and metadata locks, `recovery` and `replay` what happens after a crash, and `ddl` the statements
//! that change definitions.
//!
//! Invariants:
//! - Pages hold committed rows only. A transaction that does not commit leaves no trace except used
//!   row ids and AUTO_INCREMENT values.
//! - A commit is in the log before its rows are on pages, and the log is on disk before a page that
//!   depends on it (crate `buffer`).
//! - Between the moment a commit gets its place in the log and the moment its rows are on pages,
//!   only the machine can fail. Then the server stops.
//! - What a transaction reads of other transactions is a prefix of the commit order, or the newest
//!   commit under a lock.
//!
//! Module `xa` has XA transactions: a prepared one is a durable write set with its locks.
//!
//! `docs/formats/commit-record.md` has the commit record, the dictionary and the checkpoint state
//! byte by byte.

mod apply;
mod array_elements;
mod background;
mod bytes;
mod catalog;
mod check;
mod checkpoint;
mod commit;
mod concurrency;
mod config;
mod covering;
#[cfg(test)]
mod damaged;
mod data_locks;
mod ddl;
mod definition;
mod dictionary;
mod dropped_partitions;
mod dropped_rows;
mod emptier;
mod emptying;
mod engine;
mod entry;
mod entry_ranges;
mod error;
mod figures;
mod files;
mod gathered;
mod group;
mod gtid_owners;
mod image_reader;
mod index;
mod kept_memory;
mod key_hash;
mod key_parts;
mod lock;
mod metadata_locks;
mod missing_pages;
mod multi_valued;
mod ordered;
mod overflow;
mod partial;
mod physical_copy;
mod recovery;
mod replay;
mod requests;
mod row_forms;
mod rows;
mod sampling;
mod spill;
mod statistics;
mod status;
mod table;
mod temporary;
mod temporary_numbers;
mod transaction;
mod usage;
mod version;
mod writeset;
mod xa;
mod zones;

pub use array_elements::element_value;
pub use btree::Direction;
pub use catalog::Catalog;
pub use check::SpacePages;
pub use checkpoint::CheckpointParticipant;
pub use commit::hold::{CommitHold, DdlPass};
pub use commit::pipeline::{CommitOptions, CommitOutcome, CommitWaiter, GtidNext, NotedCommit};
pub use commit::position::{ChannelChange, PositionUpdate, ReplicaPosition};
pub use commit::record::CommitHeader;
pub use commit::sequencer::ReadOnly;
pub use commit::stream::{CommitStream, CommittedGroup, GroupBytes};
pub use concurrency::Place;
pub use config::{EngineConfig, RowImage};
pub use covering::{Entry, EntryReader};
pub use data_locks::{DataLock, DataLockWait, DataLocks, LockData};
pub use ddl::{AdmitRow, AlterStage, ChooseRow, ConvertRow, DdlContext, ObjectName, StageHook, TableName};
pub use definition::{
    CheckDef, ColumnDef, ColumnDefault, ColumnRoles, EntryRule, ForeignKeyDef, Generated, IndexColumn,
    IndexDef, IndexRef, KeptEntries, KeptIndex, KeptKind, KeptPart, Object, ObjectChange, ObjectDef,
    ObjectKind, Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, RANK_OF_OTHERS,
    ReferentialAction, SchemaDef, Subpartition, SystemVersioning, TableDef, Temporal, TriggerEvent,
    TriggerPlace,
};
pub use dropped_partitions::{ConditionCompiler, Conditions, EngineOfRows, RowCondition};
pub use emptying::Emptied;
pub use engine::Engine;
pub use entry_ranges::{are_few_entries, cell_ranges, word_range};
pub use error::{EngineError, Result};
pub use figures::{TableFigures, TableFile};
pub use group::filter::BinlogFilter;
pub use group::query::SessionContext;
pub use group::statement::LoggedStatement;
pub use gtid_owners::{GtidMode, GtidModeRefusal, GtidOwner};
pub use lock::{DeadlockMember, DeadlockReport, OnLocked};
pub use metadata_locks::{MetadataLock, MetadataOwner};
pub use missing_pages::{ComingRow, MissingPages};
pub use partial::PartialRow;
pub use physical_copy::{CopyEnd, CopyStage, CopyWatch};
pub use row_forms::{AddedColumn, InstantColumns, MAX_ROW_VERSIONS};
pub use sampling::LEAVES as SAMPLED_LEAVES;
pub use statistics::TableStatistics;
pub use table::Table;
pub use temporary::TemporaryTable;
pub use transaction::ahead::{Prepared, Turn};
pub use transaction::apply::FoundRow;
pub use transaction::key_range::KeyRange;
pub use transaction::locked_tables::{LockedTables, TableLock};
pub use transaction::logged::LoggedTransaction;
pub use transaction::memory::MemoryBudget;
pub use transaction::mode::{Isolation, LockMode, Row};
pub use transaction::scan::{Found, Scan};
pub use transaction::spent::SpentTransaction;
pub use transaction::table_hold::TableHold;
pub use transaction::{Savepoint, StatementContext, Transaction};
pub use usage::{IndexUsage, Use, Uses};
pub use writeset::{Writeset, WritesetReader};
pub use xa::XaFinish;
pub use xa::branches::XaBranch;
