//! A table at run time: its definition, its trees, its counters, and the way keys are made from its
//! rows.

use crate::bytes::KeyBuf;
use crate::definition::{ColumnDef, IndexColumn, IndexRef, TableDef};
use crate::dropped_partitions::{DroppedPartition, DroppedPartitions};
use crate::entry::{ClusteredValue, Externs};
use crate::error::{EngineError, Result};
use crate::group::logged_form::LoggedForm;
use crate::group::table_map::TableMaps;
use crate::index;
use crate::key_parts::{self, part_text};
use crate::lock::LockId;
use crate::lock::gap::TableLocks;
use crate::multi_valued::{self, EntryKeys, RowEntries};
use crate::row_forms::{FormHistory, RowForms};
use crate::statistics::TableStatistics;
use crate::usage::IndexUsage;
use crate::zones::ZoneMap;
use btree::Tree;
use buffer::{Pool, SpaceId};
use redo::Lsn;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use types::row::RowLayout;
use types::{ColumnMask, ColumnType, Value};

pub(crate) use crate::index::Index;
pub(crate) use crate::key_parts::{KeyPart, SecondaryKey};

/// The hidden row id of a sequence's only row.
pub(crate) const SEQUENCE_ROW_ID: u64 = 1;

/// The counters that outlive a change of the table's definition.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The next AUTO_INCREMENT value; 0 means not used.
    pub auto_increment: AtomicU64,
    /// The next hidden row id.
    pub row_id: AtomicU64,
    /// Whether indexes are being built while others use the table. The committer's list of builds
    /// says which.
    pub building: AtomicBool,
    /// Held for reading while purge works on the table's trees, for writing while DDL takes a tree
    /// away. It is the innermost of the engine's own locks: nothing but page latches is taken under
    /// it.
    pub gate: parking_lot::RwLock<()>,
    /// The gap locks, and the keys that are about to be inserted.
    pub locks: Arc<TableLocks>,
    /// How often each index was used: 0 stands for no index, 1 for the primary key, and the others
    /// for the indexes with an id that is less by 2.
    usage: parking_lot::Mutex<BTreeMap<u64, Arc<IndexUsage>>>,
}

impl Counters {
    /// Returns how often no index, the primary key and these indexes were used. What is known of
    /// other ones is forgotten, because they were dropped.
    fn usage_of(&self, indexes: &[Index]) -> Vec<Arc<IndexUsage>> {
        let of_indexes = indexes.iter().map(|index| u64::from(index.id) + 2);
        let keys: Vec<u64> = [0, 1].into_iter().chain(of_indexes).collect();
        let mut usage = self.usage.lock();
        usage.retain(|key, _| keys.contains(key));
        keys.into_iter().map(|key| usage.entry(key).or_default().clone()).collect()
    }
}

/// The facts that the dictionary keeps about a table besides its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub id: u64,
    pub space: SpaceId,
    pub clustered_root: u32,
    /// The log position at which the table was created. Older snapshots cannot read the table.
    pub created_lsn: u64,
    /// The root page and the creation position of each secondary index, in the definition's order.
    pub indexes: Vec<(u32, u64)>,
    /// The forms that stored rows may have.
    pub forms: FormHistory,
    /// The notes about rows that went with their partitions, the oldest one first.
    pub dropped: Vec<DroppedPartition>,
}

/// The state of a temporary table, which its session owns: [`crate::TemporaryTable`].
#[derive(Debug, Default)]
struct TemporaryLife {
    /// Whether the table was dropped.
    is_gone: AtomicBool,
    /// Whether rows of a commit did not get on the table's pages.
    is_damaged: AtomicBool,
}

/// A table. DDL replaces it by a new value, so a caller may hold it only while the transaction uses
/// the table.
pub struct Table {
    /// The number of the table, which is the `table_id` of its row events. A rebuilt or truncated
    /// table gets a new one.
    pub id: u64,
    /// The definition of the table.
    pub def: TableDef,
    /// The layout of the table's rows.
    pub layout: RowLayout,
    pub(crate) qualified_name: String,
    /// The name of the lock of the table's metadata.
    pub(crate) metadata_lock: LockId,
    pub(crate) placement: Placement,
    pub(crate) clustered: Tree,
    pub(crate) primary: Option<Vec<KeyPart>>,
    pub(crate) indexes: Vec<Index>,
    /// The forms of the stored rows. `None` means that all of them have the present columns.
    pub(crate) forms: Option<Box<RowForms>>,
    /// The notes about rows that went with their partitions. `None` means that there are none.
    pub(crate) dropped: Option<Box<DroppedPartitions>>,
    /// The zone map of a partitioned table. `None` is for tables that have none.
    pub(crate) zones: Option<Box<ZoneMap>>,
    /// The greatest sequence number of rows that may read in another way than they are stored.
    settled_at: Lsn,
    /// The mask of all columns.
    pub(crate) full_mask: ColumnMask,
    /// The columns of the primary key.
    pub(crate) primary_mask: ColumnMask,
    /// The columns that some secondary index has.
    pub(crate) indexed_mask: ColumnMask,
    /// The virtual columns; `None` when there are none.
    virtual_mask: Option<ColumnMask>,
    /// The position of the AUTO_INCREMENT column.
    pub(crate) auto_increment: Option<usize>,
    pub(crate) counters: Arc<Counters>,
    /// Whether the table has foreign keys or is referred to by others. The catalog sets it before
    /// anybody can use the table accordingly.
    related: AtomicBool,
    /// Whether the catalog has this very table. The catalog sets it, under its own lock.
    in_catalog: AtomicBool,
    /// The bits of the events for which the table has triggers. The catalog sets them like
    /// `related`.
    triggers: AtomicU8,
    /// The state of a temporary table; `None` for other tables.
    temporary: Option<TemporaryLife>,
    table_maps: TableMaps,
    /// The form of the table in the binary log. `None` means that it is the table's own.
    logged_form: Option<Arc<LoggedForm>>,
    /// How often no index, the primary key and each secondary index were used.
    usage: Vec<Arc<IndexUsage>>,
    /// The statistics that were sampled last.
    pub(crate) statistics: parking_lot::Mutex<Option<Arc<TableStatistics>>>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("id", &self.id).field("name", &self.qualified_name).finish()
    }
}

fn mask_of(columns: usize, positions: impl Iterator<Item = usize>) -> ColumnMask {
    let mut mask = ColumnMask::empty(columns);
    positions.for_each(|at| mask.insert(at));
    mask
}

fn virtual_columns(def: &TableDef) -> Option<ColumnMask> {
    let mut mask = ColumnMask::empty(def.columns.len());
    for (at, column) in def.columns.iter().enumerate() {
        if column.is_virtual() {
            mask.insert(at);
        }
    }
    (!mask.is_empty()).then_some(mask)
}

impl Table {
    /// Opens a table's trees and puts the table together.
    pub(crate) fn open(
        pool: &Arc<Pool>,
        placement: Placement,
        def: TableDef,
        counters: Arc<Counters>,
    ) -> Table {
        let open = |root: u32| Tree::open(pool, placement.space, root);
        let clustered = open(placement.clustered_root);
        let trees = placement.indexes.iter().map(|(root, _)| open(*root)).collect();
        Table::new(def, placement, clustered, trees, counters)
    }

    /// Reports whether a row's key in an index begins with `key`.
    pub(crate) fn has_key(&self, index: IndexRef, image: &[u8], key: &[u8]) -> Result<bool> {
        Ok(match index {
            IndexRef::Primary => {
                self.clustered_key(image, self.primary.is_none().then_some(0))?.starts_with(key)
            }
            IndexRef::Secondary(at) => {
                self.entry_keys(at, image, &[])?.as_slice().iter().any(|own| own.key.starts_with(key))
            }
        })
    }

    /// Reports whether a row is current: in a table with system versioning, whether its end is the
    /// greatest possible value. In other tables all rows are current.
    pub fn is_current(&self, image: &[u8]) -> Result<bool> {
        let Some((_, end)) = self.def.row_period() else { return Ok(true) };
        Ok(match self.layout.decode(image, end)? {
            Value::UInt(end) => end == u64::MAX,
            Value::Timestamp { seconds, .. } => seconds >= i64::from(i32::MAX),
            _ => true,
        })
    }

    /// Reports whether rows have a primary key of their own.
    pub fn has_primary_key(&self) -> bool {
        self.primary.is_some()
    }

    /// Returns the same table as a temporary one.
    pub(crate) fn into_temporary(self) -> Table {
        Table { temporary: Some(TemporaryLife::default()), ..self }
    }

    /// Reports whether the table is temporary: it belongs to one session, is in no catalog, its
    /// rows are in no log, and nobody locks them.
    #[inline]
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Reports whether the table is a temporary table that was dropped.
    pub fn is_gone(&self) -> bool {
        self.temporary.as_ref().is_some_and(|life| life.is_gone.load(Ordering::Acquire))
    }

    pub(crate) fn set_gone(&self) {
        if let Some(life) = &self.temporary {
            life.is_gone.store(true, Ordering::Release);
        }
    }

    pub(crate) fn set_damaged(&self) {
        if let Some(life) = &self.temporary {
            life.is_damaged.store(true, Ordering::Release);
        }
    }

    /// Refuses a temporary table that was dropped or that has lost rows.
    pub(crate) fn check_lives(&self) -> Result<()> {
        let Some(life) = &self.temporary else { return Ok(()) };
        if life.is_gone.load(Ordering::Acquire) {
            return Err(EngineError::TableChanged(self.def.name.clone()));
        }
        if life.is_damaged.load(Ordering::Acquire) {
            let name = &self.qualified_name;
            return Err(EngineError::Corrupt(format!("rows of the temporary table {name} are lost")));
        }
        Ok(())
    }

    /// Reports whether foreign keys have to be looked at when the table's rows change.
    #[inline]
    pub fn is_related(&self) -> bool {
        self.related.load(Ordering::Relaxed)
    }

    /// Reports whether a statement with these events (bits of [`crate::TriggerEvent`]) runs
    /// triggers.
    pub fn has_triggers(&self, events: u8) -> bool {
        self.triggers.load(Ordering::Relaxed) & events != 0
    }

    pub(crate) fn set_triggers(&self, events: u8) {
        self.triggers.store(events, Ordering::Relaxed);
    }

    /// Reports whether the catalog has this very table. Whoever holds a lock on the table's
    /// metadata sees it stay as it is.
    #[inline]
    pub(crate) fn is_in_catalog(&self) -> bool {
        self.in_catalog.load(Ordering::Acquire)
    }

    pub(crate) fn set_in_catalog(&self, is_in: bool) {
        self.in_catalog.store(is_in, Ordering::Release);
    }

    pub(crate) fn set_related(&self, related: bool) {
        self.related.store(related, Ordering::Relaxed);
    }

    /// Reports whether the table has a primary key or an index.
    pub fn has_keys(&self) -> bool {
        self.primary.is_some() || !self.indexes.is_empty()
    }

    /// Returns the virtual columns, whose values a source's row images may leave out. `None` means
    /// that there are none.
    #[inline]
    pub fn virtual_mask(&self) -> Option<&ColumnMask> {
        self.virtual_mask.as_ref()
    }

    /// Returns the table's TABLE_MAP event with minimal metadata. Its timestamp and its server id
    /// have yet to be filled in.
    pub fn table_map_event(&self) -> &[u8] {
        self.table_maps.minimal()
    }

    /// Returns the table's TABLE_MAP event with the metadata of `binlog_row_metadata = FULL`.
    pub(crate) fn full_table_map_event(&self) -> &[u8] {
        self.table_maps.full(self.id, &self.def)
    }

    /// Returns the form that the table's events have in the binary log, if it is not the one that
    /// they have in the redo log.
    #[inline]
    pub(crate) fn logged_form(&self) -> Option<&Arc<LoggedForm>> {
        self.logged_form.as_ref()
    }

    /// Puts a table together from its entry in the dictionary and its opened trees.
    pub(crate) fn new(
        def: TableDef,
        placement: Placement,
        clustered: Tree,
        index_trees: Vec<Tree>,
        counters: Arc<Counters>,
    ) -> Table {
        let types: Vec<ColumnType> = def.columns.iter().map(|column| column.ty.clone()).collect();
        let primary = def.primary.as_ref().map(|parts| key_parts::of_columns(&def.columns, parts));
        let indexes = index::open_all(&def, &placement.indexes, index_trees);
        let primary_mask = mask_of(types.len(), primary.iter().flatten().map(|part| part.column));
        let indexed = indexes.iter().flat_map(|index| index.columns.iter().copied());
        let indexed_mask = mask_of(types.len(), indexed);
        let forms = RowForms::new(&types, &placement.forms);
        let dropped = DroppedPartitions::new(&placement.dropped);
        let newest_form = placement.forms.older.last().map_or(0, |form| form.until);
        Table {
            id: placement.id,
            settled_at: newest_form.max(dropped.as_ref().map_or(0, |dropped| dropped.until())),
            forms,
            dropped,
            zones: ZoneMap::of(&def),
            layout: RowLayout::new(&types),
            qualified_name: def.qualified_name(),
            metadata_lock: LockId::metadata(&def.schema, &def.name),
            related: AtomicBool::new(!def.foreign_keys.is_empty()),
            in_catalog: AtomicBool::new(false),
            triggers: AtomicU8::new(0),
            temporary: None,
            table_maps: TableMaps::new(placement.id, &def),
            logged_form: LoggedForm::of(placement.id, &def),
            statistics: parking_lot::Mutex::default(),
            usage: counters.usage_of(&indexes),
            virtual_mask: virtual_columns(&def),
            auto_increment: def.auto_increment_column(),
            def,
            placement,
            clustered,
            primary,
            indexes,
            full_mask: ColumnMask::full(types.len()),
            primary_mask,
            indexed_mask,
            counters,
        }
    }

    /// Returns how often an index was used. `None` stands for no index.
    #[inline]
    pub fn usage(&self, index: Option<IndexRef>) -> &Arc<IndexUsage> {
        match index {
            None => &self.usage[0],
            Some(IndexRef::Primary) => &self.usage[1],
            Some(IndexRef::Secondary(at)) => &self.usage[2 + at],
        }
    }

    /// Returns `schema.table`.
    pub fn qualified_name(&self) -> &str {
        &self.qualified_name
    }

    /// Returns the mask of all columns except BLOBs, plus the BLOBs that are `needed`.
    pub(crate) fn without_blobs(&self, needed: impl Fn(usize) -> bool) -> ColumnMask {
        let mut mask = ColumnMask::empty(self.columns());
        for (at, column) in self.def.columns.iter().enumerate() {
            if !column.ty.is_blob() || needed(at) {
                mask.insert(at);
            }
        }
        mask
    }

    /// Returns the column for whose values scans can leave out parts of the table
    /// ([`Scan::leave_out`](crate::Scan::leave_out)): the partitioning column of a table that is
    /// partitioned by ranges or lists.
    pub fn zone_column(&self) -> Option<usize> {
        self.zones.as_ref().map(|zones| zones.column())
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.def.columns.len()
    }

    /// Returns the type of the column at this position.
    pub fn column_type(&self, column: usize) -> &ColumnType {
        &self.def.columns[column].ty
    }

    /// Returns at most `parts - 1` keys of an index, in order, that divide it into parts of about
    /// the same size.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn split_points(&self, index: IndexRef, parts: usize) -> Result<Vec<Vec<u8>>> {
        Ok(self.tree(index).split_points(parts)?)
    }

    /// Cuts a key that lies between entries of an index behind its first `columns` columns, so that
    /// it does not lie between entries which are equal in these. `None` means that the key does not
    /// tell where the columns end.
    pub fn cut_behind(&self, index: IndexRef, columns: usize, mut key: Vec<u8>) -> Option<Vec<u8>> {
        let mut end = 0;
        for part in self.parts(index).get(..columns)? {
            if !types::key::is_readable(&part.ty, part.prefix) {
                return None;
            }
            match types::key::read_part(&part.ty, part.nullable, &key[end..], None) {
                Ok(bytes) => end += bytes,
                // All entries that are equal in the columns lie on the same side of a key that ends
                // within them.
                Err(types::packed::PackedError::Short) => return Some(key),
                Err(_) => return None,
            }
        }
        key.truncate(end);
        Some(key)
    }

    pub(crate) fn tree(&self, index: IndexRef) -> &Tree {
        match index {
            IndexRef::Primary => &self.clustered,
            IndexRef::Secondary(at) => &self.indexes[at].tree,
        }
    }

    /// Returns the name of an index.
    pub fn index_name(&self, index: IndexRef) -> &str {
        match index {
            IndexRef::Primary => "PRIMARY",
            IndexRef::Secondary(at) => &self.indexes[at].name,
        }
    }

    /// Returns the column that the entries of an index are made of, the first one if they are
    /// several. `None` means the hidden row id.
    pub fn first_column(&self, index: IndexRef) -> Option<&ColumnDef> {
        let column = match index {
            IndexRef::Primary => self.primary.as_ref()?.first()?.column,
            IndexRef::Secondary(at) => *self.indexes[at].columns.first()?,
        };
        Some(&self.def.columns[column])
    }

    /// Reports whether an index is unique.
    pub fn is_unique(&self, index: IndexRef) -> bool {
        match index {
            IndexRef::Primary => true,
            IndexRef::Secondary(at) => self.indexes[at].unique,
        }
    }

    /// Returns the number of the root page of an index, in the table's file.
    pub fn root_page(&self, index: IndexRef) -> u32 {
        match index {
            IndexRef::Primary => self.placement.clustered_root,
            IndexRef::Secondary(at) => self.placement.indexes[at].0,
        }
    }

    /// Returns the columns of an index, in order, without the clustered key that follows in a
    /// secondary index. The list is empty for the hidden row id, and for the entries of a kept
    /// index, which are not columns.
    pub fn index_columns(&self, index: IndexRef) -> &[IndexColumn] {
        match index {
            IndexRef::Primary => self.def.primary.as_deref().unwrap_or_default(),
            IndexRef::Secondary(at) => self.def.indexes.get(at).map_or(&[], |index| &index.columns),
        }
    }

    pub(crate) fn parts(&self, index: IndexRef) -> &[KeyPart] {
        match index {
            IndexRef::Primary => self.primary.as_deref().unwrap_or_default(),
            IndexRef::Secondary(at) => &self.indexes[at].parts,
        }
    }

    /// Encodes the leading columns of an index's key from values that are already of the columns'
    /// types. Values for all columns of the primary key make the key of a row.
    pub fn encode_key(&self, index: IndexRef, values: &[Value]) -> Result<Vec<u8>> {
        let parts = self.parts(index);
        assert!(values.len() <= parts.len(), "more values than key parts");
        let mut key = Vec::new();
        for (part, value) in parts.iter().zip(values) {
            types::key::encode_value(&part.ty, value, part.nullable, part.prefix, &mut key)?;
        }
        Ok(key)
    }

    /// Reports whether a stored row has the columns of the table and cannot have gone with its
    /// partition.
    #[inline]
    pub(crate) fn reads_as_stored(&self, value: &ClusteredValue<'_>) -> bool {
        self.reads_as_stored_at(value.seq)
    }

    /// Does what [`Table::reads_as_stored`] does, for a row with this sequence number.
    #[inline]
    pub(crate) fn reads_as_stored_at(&self, seq: Lsn) -> bool {
        seq > self.settled_at
    }

    /// Returns the image of a stored row with the columns of the table. Off-page columns are empty
    /// in it.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    #[inline]
    pub(crate) fn image_of<'a>(&self, value: &ClusteredValue<'a>) -> Result<Cow<'a, [u8]>> {
        match &self.forms {
            Some(forms) if forms.are_older_at(value.seq) => {
                let image = forms.carry(forms.number_at(value.seq), forms.newest(), value.stored);
                image.map(Cow::Owned).map_err(|error| self.named(error))
            }
            _ => Ok(Cow::Borrowed(value.stored)),
        }
    }

    /// Returns the places of a stored row's off-page columns, by the table's columns. Those of
    /// dropped columns have [`crate::entry::NO_COLUMN`].
    ///
    /// # Errors
    /// Returns an error for a column that the row does not have.
    pub(crate) fn externs_of(&self, value: &ClusteredValue<'_>) -> Result<Externs> {
        match &self.forms {
            Some(forms) if value.has_externs() && forms.are_older_at(value.seq) => {
                let carried =
                    forms.carry_externs(forms.number_at(value.seq), forms.newest(), value.externs());
                carried.map_err(|error| self.named(error))
            }
            _ => Ok(value.externs()),
        }
    }

    /// Returns how often columns were added or dropped since all rows of the table were written
    /// anew (`TOTAL_ROW_VERSIONS` of `information_schema.INNODB_TABLES`).
    pub fn row_versions(&self) -> usize {
        self.placement.forms.older.len()
    }

    /// Returns the packed value that a column has in the rows which lack it. `None` means that no
    /// row lacks the column. The value NULL is `Some(None)`.
    pub fn value_where_lacking(&self, column: usize) -> Option<Option<&[u8]>> {
        let mut added = self.placement.forms.added.iter();
        added.find(|added| added.position == column).map(|added| added.value.as_deref())
    }

    /// Returns the clustered key of a full row image. `row_id` is needed for a table without a
    /// primary key.
    pub(crate) fn clustered_key(&self, image: &[u8], row_id: Option<u64>) -> Result<KeyBuf> {
        let mut key = KeyBuf::new();
        match (&self.primary, row_id) {
            (Some(parts), _) => {
                self.push_parts(parts, image, &mut key)?;
            }
            (None, Some(row_id)) => key.extend_from_slice(&row_id.to_be_bytes()),
            (None, None) => panic!("a row of a table without a primary key has a row id"),
        }
        Ok(key)
    }

    /// Returns the clustered key of a partial image that has all columns of the primary key.
    pub(crate) fn key_from_partial(&self, mask: &ColumnMask, image: &[u8]) -> Result<KeyBuf> {
        let parts = self.primary.as_deref().expect("only tables with a primary key are asked");
        if let [part] = parts {
            // Most keys have one column, which most images have at their front.
            let raw = self.layout.get_raw_partial(mask, image, part.column)?.flatten();
            let mut encoded = KEY_SCRATCH.take();
            encoded.clear();
            types::key::encode_raw(&part.ty, raw, part.nullable, part.prefix, &mut encoded)?;
            let key = KeyBuf::from_slice(&encoded);
            KEY_SCRATCH.set(encoded);
            return Ok(key);
        }
        let mut raws: SmallVec<[Option<&[u8]>; 8]> = SmallVec::from_elem(None, parts.len());
        self.layout.walk_partial(mask, image, |column, raw| {
            for (part, slot) in parts.iter().zip(&mut raws) {
                if part.column == column {
                    *slot = raw;
                }
            }
        })?;
        let mut encoded = KEY_SCRATCH.take();
        encoded.clear();
        for (part, raw) in parts.iter().zip(&raws) {
            types::key::encode_raw(&part.ty, *raw, part.nullable, part.prefix, &mut encoded)?;
        }
        let key = KeyBuf::from_slice(&encoded);
        KEY_SCRATCH.set(encoded);
        Ok(key)
    }

    /// Appends the key made of `parts`. Returns true when one of them is NULL.
    pub(crate) fn encode_parts(&self, parts: &[KeyPart], image: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        key_parts::encode(&self.layout, parts, image, key)
    }

    /// Does what [`Table::encode_parts`] does, for a short key buffer.
    fn push_parts(&self, parts: &[KeyPart], image: &[u8], key: &mut KeyBuf) -> Result<bool> {
        let mut encoded = KEY_SCRATCH.take();
        encoded.clear();
        let has_null = self.encode_parts(parts, image, &mut encoded)?;
        key.extend_from_slice(&encoded);
        KEY_SCRATCH.set(encoded);
        Ok(has_null)
    }

    /// Returns the key of a row's entry in a secondary index that is not a multi-valued one; see
    /// [`Table::entry_keys`].
    pub(crate) fn secondary_key(&self, at: usize, image: &[u8], clustered: &[u8]) -> Result<SecondaryKey> {
        let has_one = matches!(self.indexes[at].entries, RowEntries::One);
        debug_assert!(has_one, "a row has one entry in an index of columns");
        let mut key = KeyBuf::new();
        let has_null = self.push_parts(&self.indexes[at].parts, image, &mut key)?;
        let secondary_len = key.len();
        key.extend_from_slice(clustered);
        Ok(SecondaryKey { key, secondary_len, has_null })
    }

    /// Returns the keys of a row's entries in a secondary index.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    #[inline]
    pub(crate) fn entry_keys(&self, at: usize, image: &[u8], clustered: &[u8]) -> Result<EntryKeys> {
        let keys = match &self.indexes[at].entries {
            RowEntries::One => return Ok(EntryKeys::One(self.secondary_key(at, image, clustered)?)),
            RowEntries::OfArray(part) => {
                let parts = &self.indexes[at].parts;
                multi_valued::keys(&self.layout, (parts, *part), image, clustered)
            }
            RowEntries::OfWords(words) => words.keys(&self.layout, image, clustered),
            RowEntries::OfCells(column, surface) => {
                multi_valued::cell_keys(&self.layout, (*column, *surface), image, clustered)
            }
        };
        Ok(EntryKeys::Several(keys.map_err(|error| self.named(error))?))
    }

    /// Returns the key of the row's entry in a secondary index that has these bytes. `None` means
    /// that the row has no such entry.
    ///
    /// # Errors
    /// Returns the errors of [`Table::entry_keys`].
    pub(crate) fn entry_key(
        &self,
        at: usize,
        image: &[u8],
        clustered: &[u8],
        key: &[u8],
    ) -> Result<Option<SecondaryKey>> {
        let mut found = None;
        self.entry_keys(at, image, clustered)?.for_each(|own| {
            if own.key[..] == *key {
                found = Some(own);
            }
        });
        Ok(found)
    }

    /// Returns the index's own columns in each of the entries that a row has in a secondary index.
    ///
    /// # Errors
    /// Returns the errors of [`Table::encode_key`], and an error for an image that does not decode.
    pub fn row_keys(&self, at: usize, image: &[u8]) -> Result<Vec<Vec<u8>>> {
        let keys = self.entry_keys(at, image, &[])?;
        Ok(keys.as_slice().iter().map(|key| key.key.to_vec()).collect())
    }

    /// Reports whether a row may have several entries in an index, or none: in a multi-valued one,
    /// and in the entries of a kept index.
    pub fn is_multi_valued(&self, index: IndexRef) -> bool {
        match index {
            IndexRef::Primary => false,
            IndexRef::Secondary(at) => !matches!(self.indexes[at].entries, RowEntries::One),
        }
    }

    /// Returns the position of the array among the parts of a multi-valued index. `None` means that
    /// the index is another one.
    pub fn array_part(&self, index: IndexRef) -> Option<usize> {
        match index {
            IndexRef::Primary => None,
            IndexRef::Secondary(at) => match self.indexes[at].entries {
                RowEntries::OfArray(part) => Some(part),
                _ => None,
            },
        }
    }

    /// Names the table in the error for a damaged row.
    fn named(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Corrupt(what) => EngineError::Corrupt(format!("{}: {what}", self.qualified_name)),
            error => error,
        }
    }

    /// Refuses a key that a tree cannot hold.
    pub(crate) fn check_key_len(&self, bytes: usize) -> Result<()> {
        let limit = self.clustered.max_key_len();
        if bytes > limit { Err(EngineError::KeyTooLong { bytes, limit }) } else { Ok(()) }
    }

    /// Returns the texts of an index's columns in a row, joined and cut as MySQL's duplicate key
    /// message joins and cuts them.
    pub(crate) fn key_text(&self, index: IndexRef, image: &[u8]) -> String {
        /// The longest joined text, in bytes.
        const LONGEST_BYTES: usize = 64;
        let text = |part: &KeyPart| match self.layout.decode(image, part.column) {
            Ok(value) => part_text(&value, part),
            Err(_) => "?".to_string(),
        };
        let is_shown = |part: &&KeyPart| !self.def.is_implied(&self.def.columns[part.column]);
        let parts = self.parts(index).iter().filter(is_shown);
        let mut joined = parts.map(text).collect::<Vec<_>>().join("-");
        joined.truncate(joined.floor_char_boundary(LONGEST_BYTES));
        joined
    }

    /// Takes `count` consecutive AUTO_INCREMENT values and returns the first.
    pub fn next_auto_increment(&self, count: u64) -> Result<u64> {
        let column = self.def.auto_increment_column().ok_or_else(|| {
            EngineError::BadDefinition(format!("Table '{}' has no AUTO_INCREMENT column", self.def.name))
        })?;
        let (_, largest) = self.def.columns[column].ty.integer_range();
        let take = |next: u64| {
            let last = next.max(1).checked_add(count - 1)?;
            (last <= largest).then(|| last.saturating_add(1))
        };
        let next = &self.counters.auto_increment;
        let first = next
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, take)
            .map_err(|_| EngineError::AutoIncrementExhausted)?;
        Ok(first.max(1))
    }

    /// Returns the AUTO_INCREMENT value in a row. `None` means that the table has no such column,
    /// or that the value is not positive.
    pub(crate) fn stored_auto_increment(&self, image: &[u8]) -> Result<Option<u64>> {
        let Some(column) = self.auto_increment else { return Ok(None) };
        let ty = &self.def.columns[column].ty;
        let (Some(raw), true) = (self.layout.get_raw(image, column)?, ty.is_integer()) else {
            return Ok(None);
        };
        let mut bytes = [0; 8];
        bytes[..raw.len()].copy_from_slice(raw);
        let is_negative = !ty.unsigned && raw.last().is_some_and(|highest| highest & 0x80 != 0);
        Ok(Some(u64::from_le_bytes(bytes)).filter(|value| *value > 0 && !is_negative))
    }

    /// Moves the AUTO_INCREMENT counter past a value that was stored explicitly.
    pub fn note_auto_increment(&self, stored: u64) {
        let next = stored.saturating_add(1);
        // Values that the counter itself gave out are below the counter.
        if self.counters.auto_increment.load(Ordering::Acquire) < next {
            self.counters.auto_increment.fetch_max(next, Ordering::AcqRel);
        }
    }

    /// Returns the AUTO_INCREMENT counter: the value that the next row gets.
    pub fn auto_increment(&self) -> u64 {
        self.counters.auto_increment.load(Ordering::Acquire).max(1)
    }
}

thread_local! {
    static KEY_SCRATCH: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}
