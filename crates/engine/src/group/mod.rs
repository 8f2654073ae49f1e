//! The event group of a transaction, written as its statements run.
//!
//! A group is a list of binary log events in format v4: a Query event `BEGIN`, for each statement
//! the table map and its row events, and an Xid event. The group of a DDL statement is one Query
//! event. There is no GTID event and no checksum, `log_pos` is 0, and table ids are the engine's.
//! Crate `source` completes the events when it copies the group to a binary log file.
//!
//! Rows of one statement that have the same table, the same kind of change and the same columns
//! share an event up to `binlog_row_event_max_size`. A table map is written before the first row
//! event of a table in a statement. When a statement goes on with another table, its events so far
//! are closed as a statement of their own, so that a table map never stands between row events that
//! a replica treats as one statement.
//!
//! The binary log may have something else in place of a statement's rows: its text, with
//! `binlog_format = STATEMENT`, or nothing, for schemas that `binlog_ignore_db` names. The group
//! keeps the rows, which recovery replays, and the replacement is noted beside the group
//! ([`Replacement`]).
//!
//! A group that grows large goes to a spill file, up to the last event that is complete. Offsets in
//! the group count from its beginning, whether the bytes are in the file or in memory.

pub(crate) mod filter;
pub(crate) mod logged_form;
pub(crate) mod query;
pub(crate) mod replacement;
pub(crate) mod statement;
pub(crate) mod table_map;
pub(crate) mod walk;

use self::logged_form::LoggedForm;
pub(crate) use self::replacement::Replacement;
use crate::config::RowImage;
use crate::error::{EngineError, Result};
use crate::kept_memory::empty;
use crate::spill::{self, NewImage, Spill, SpillFiles};
use crate::table::Table;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{HEADER_LEN, RowsKind, rows_flag};
use binlog::{Checksum, Xid};
use std::borrow::Cow;
use std::sync::Arc;
use types::ColumnMask;

/// The byte offset of the flags in a rows event, after the header and the table id.
const ROWS_FLAGS_OFFSET: usize = HEADER_LEN + 6;

/// The row event to which further rows may be appended.
struct OpenRows {
    start: usize,
    kind: RowsKind,
    before: Option<ColumnMask>,
    after: Option<ColumnMask>,
}

/// The settings of the session and the server that a group needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupOptions {
    pub server_id: u32,
    pub image: RowImage,
    pub row_event_max_bytes: usize,
    /// Whether `binlog_row_metadata` is FULL.
    pub full_metadata: bool,
    pub limit_bytes: usize,
    /// The number of bytes in memory at which the group goes to the spill file.
    pub spill_bytes: usize,
    /// The flags of all row events.
    pub row_flags: u16,
}

/// Writes an event group.
pub(crate) struct GroupBuilder {
    spills: Arc<SpillFiles>,
    /// The files with the group up to `spilled`, and with images of rows.
    spill: Option<Spill>,
    spilled: usize,
    /// The rest of the group.
    bytes: Vec<u8>,
    options: GroupOptions,
    timestamp_s: u32,
    /// The length of the events before the first statement.
    head_len: usize,
    /// The table whose map is the last one written in this statement.
    mapped: Option<u64>,
    open: Option<OpenRows>,
    /// The form of the mapped table in the binary log, if that is another one.
    logged_form: Option<Arc<LoggedForm>>,
    /// The offset of the first event of the present statement; `None` if it has none yet.
    statement_start: Option<usize>,
    /// The offset of the first event of the present table, if the binary log does not get the
    /// table.
    ignored_start: Option<usize>,
    replacements: Vec<Replacement>,
    /// Whether the present statement has changed child rows of a foreign key.
    cascades: bool,
    /// Whether the group is finished and the binary log gets nothing of it.
    left_out: bool,
    /// The statement's text, to be written before its first table map
    /// (`binlog_rows_query_log_events`).
    rows_query: Option<String>,
    /// The XA transaction that the group belongs to.
    xid: Option<Xid>,
    /// Whether events of a source are in the group.
    received: bool,
}

impl GroupBuilder {
    pub fn new(spills: Arc<SpillFiles>, options: GroupOptions) -> GroupBuilder {
        GroupBuilder {
            spills,
            spill: None,
            spilled: 0,
            bytes: Vec::new(),
            options,
            timestamp_s: 0,
            head_len: 0,
            mapped: None,
            open: None,
            logged_form: None,
            statement_start: None,
            ignored_start: None,
            replacements: Vec::new(),
            cascades: false,
            left_out: false,
            rows_query: None,
            xid: None,
            received: false,
        }
    }

    /// Forgets what belonged to a transaction that has ended.
    pub fn spend(&mut self) {
        let GroupBuilder {
            spills: _,
            spill,
            spilled,
            bytes,
            options: _,
            timestamp_s,
            head_len,
            mapped,
            open,
            logged_form,
            statement_start,
            ignored_start,
            replacements,
            cascades,
            left_out,
            rows_query,
            xid,
            received,
        } = self;
        empty(bytes);
        (*spill, *open, *logged_form, *rows_query, *xid) = (None, None, None, None, None);
        (*spilled, *timestamp_s, *head_len) = (0, 0, 0);
        (*mapped, *statement_start, *ignored_start) = (None, None, None);
        *replacements = Vec::new();
        (*cascades, *left_out, *received) = (false, false, false);
    }

    /// Begins the group of another transaction after [`GroupBuilder::spend`].
    pub fn begin(&mut self, options: GroupOptions) {
        assert_eq!(self.len(), 0, "a group begins without events");
        self.options = options;
    }

    /// Returns the files that large transactions spill to.
    pub fn spill_files(&self) -> &Arc<SpillFiles> {
        &self.spills
    }

    /// Returns the number of bytes in memory at which something of the transaction is spilled.
    pub fn spill_bytes(&self) -> usize {
        self.options.spill_bytes
    }

    /// Notes that the group belongs to an XA transaction. It begins with `XA START`, and ends with
    /// `XA END` and an XA_PREPARE event.
    pub fn set_xid(&mut self, xid: Xid) {
        self.xid = Some(xid);
    }

    /// Sets `binlog_row_image` from here on.
    pub fn set_image(&mut self, image: RowImage) {
        self.options.image = image;
    }

    /// Sets the flags of the row events from here on.
    pub fn set_row_flags(&mut self, flags: u16) {
        self.options.row_flags = flags;
    }

    /// Notes that rows which follow from other rows of the statement come now. A replica finds them
    /// in the log and must not make them itself. A replica that knows `USE_SQL_FOREIGN_KEY` does
    /// not make them anyway; any other does not when the checks are off.
    pub fn note_cascade(&mut self) {
        self.cascades = true;
    }

    pub fn len(&self) -> usize {
        self.spilled + self.bytes.len()
    }

    /// Returns how many bytes of the group are in the spill file.
    pub fn spilled(&self) -> usize {
        self.spilled
    }

    /// Returns the group, of which nothing may have been spilled.
    pub fn bytes(&self) -> &[u8] {
        assert_eq!(self.spilled, 0, "the group is in memory");
        &self.bytes
    }

    /// Takes the group, of which nothing may have been spilled.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        assert_eq!(self.spilled, 0, "the group is in memory");
        std::mem::take(&mut self.bytes)
    }

    /// Returns a copy of a row's image, from memory or from its file.
    pub fn image(&self, image: &NewImage) -> Result<Vec<u8>> {
        spill::image_of(image, self.spill.as_ref()).map(Cow::into_owned)
    }

    fn files(&mut self) -> Result<&mut Spill> {
        if self.spill.is_none() {
            self.spill = Some(Spill { group: self.spills.create()?, images: None });
        }
        Ok(self.spill.as_mut().expect("just made"))
    }

    /// Moves the group to its spill file. No event of it may be open.
    fn spill(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let written = self.files().and_then(|spill| spill.group.append(&bytes));
        self.bytes = bytes;
        written?;
        self.spilled += self.bytes.len();
        self.bytes.clear();
        Ok(())
    }

    /// Puts images of rows that the group does not have into a file of their own. Returns the
    /// offset at which they begin there.
    pub fn keep_images(&mut self, images: &[u8]) -> Result<u64> {
        let spills = self.spills.clone();
        let spill = self.files()?;
        if spill.images.is_none() {
            spill.images = Some(spills.create()?);
        }
        let file = spill.images.as_mut().expect("just made");
        let at = file.len();
        file.append(images)?;
        Ok(at)
    }

    /// Returns the files with the whole finished group, if some of it is in a file or `must` says
    /// so.
    pub fn take_spilled(&mut self, must: bool) -> Result<Option<Spill>> {
        if self.spilled > 0 || must {
            self.spill()?;
        }
        Ok(self.spill.take().filter(|_| self.spilled > 0))
    }

    /// Appends whole events of a source to the group. `forms` are those of the tables whose rows
    /// they have.
    pub fn receive<'t>(
        &mut self,
        events: &[u8],
        forms: impl Iterator<Item = &'t Arc<LoggedForm>> + Clone,
    ) -> Result<()> {
        self.end_statement();
        self.received = true;
        let at = self.len();
        self.replacements.extend(logged_form::replacements(events, at, forms)?);
        self.bytes.extend_from_slice(events);
        if self.bytes.len() >= self.options.spill_bytes { self.spill() } else { Ok(()) }
    }

    /// Sets the server id that the events of the next statements get.
    pub fn set_server_id(&mut self, server_id: u32) {
        self.options.server_id = server_id;
    }

    /// Begins a statement, whose start time goes into its events.
    pub fn begin_statement(&mut self, timestamp_s: u32, rows_query: Option<String>) {
        assert!(self.open.is_none(), "a statement begins while the rows of another are open");
        self.timestamp_s = timestamp_s;
        self.rows_query = rows_query;
    }

    /// Ends a statement, which marks its last row event.
    pub fn end_statement(&mut self) {
        self.close_table();
        self.rows_query = None;
        self.statement_start = None;
        self.cascades = false;
    }

    /// Ends a statement for which the binary log is to have these events instead of the rows.
    pub fn end_statement_as(&mut self, events: Vec<u8>) {
        self.close_table();
        if let Some(at) = self.statement_start {
            self.replacements.retain(|replacement| replacement.at < at);
            self.replacements.push(Replacement { at, len: self.len() - at, events });
        }
        self.end_statement();
    }

    /// Returns the replacements of parts of the group in the binary log, in order.
    pub fn replacements(&self) -> &[Replacement] {
        &self.replacements
    }

    /// Reports whether the binary log has nothing of the finished group.
    pub fn is_left_out(&self) -> bool {
        self.left_out
    }

    /// Reports whether the group has the rows of its transaction and nothing else: no statement of
    /// a source, and no step of an XA transaction.
    pub fn has_only_rows(&self) -> bool {
        !self.received && self.xid.is_none()
    }

    fn has_nothing_logged(&self) -> bool {
        let replaced: usize = self.replacements.iter().map(|replacement| replacement.len).sum();
        !self.replacements.is_empty()
            && self.replacements.iter().all(|replacement| replacement.events.is_empty())
            && replaced == self.len() - self.head_len
    }

    /// Returns the length of the group within a statement, which goes on. The rows so far are
    /// complete.
    pub fn len_within(&mut self) -> usize {
        self.close_table();
        self.len()
    }

    /// Marks the last row event of a table, after which another table may follow.
    fn close_table(&mut self) {
        self.close_rows(rows_flag::STMT_END);
        self.mapped = None;
        if let Some(at) = self.ignored_start.take() {
            assert!(at <= self.len(), "what is left out of the binary log is a part of the group");
            self.replacements.retain(|replacement| replacement.at < at);
            self.replacements.push(Replacement { at, len: self.len() - at, events: Vec::new() });
        }
    }

    /// Takes the group back to an earlier length, at a statement's boundary or at a point within
    /// the statement that is running.
    pub fn truncate(&mut self, len: usize) {
        assert!(len <= self.len(), "a group of {} bytes goes back to {len}", self.len());
        self.open = None;
        self.mapped = None;
        self.statement_start = self.statement_start.filter(|start| *start < len);
        self.cascades = false;
        self.ignored_start = None;
        self.replacements.retain(|replacement| replacement.at < len);
        if len < self.spilled {
            self.spilled = len;
            if let Some(spill) = &mut self.spill {
                spill.group.truncate(len as u64);
            }
        }
        self.bytes.truncate(len - self.spilled);
    }

    fn base(&self) -> EventBase {
        EventBase { timestamp: self.timestamp_s, server_id: self.options.server_id }
    }

    fn close_rows(&mut self, flags: u16) {
        let Some(open) = self.open.take() else { return };
        let cascades = if self.cascades { rows_flag::NO_FOREIGN_KEY_CHECKS } else { 0 };
        let flags = flags | self.options.row_flags | cascades;
        let at = open.start + ROWS_FLAGS_OFFSET;
        self.bytes[at..at + 2].copy_from_slice(&flags.to_le_bytes());
        finish_event(&mut self.bytes, open.start, None, Checksum::None);
        let (at, event) = (self.spilled + open.start, &self.bytes[open.start..]);
        if let Some(form) = &self.logged_form {
            self.replacements.push(form.rows(at, event).expect("an event that was just written decodes"));
        }
    }

    /// Makes sure that a row event of this table, kind and columns is open.
    fn open_rows(
        &mut self,
        table: &Table,
        kind: RowsKind,
        before: Option<&ColumnMask>,
        after: Option<&ColumnMask>,
    ) -> Result<()> {
        if let Some(open) = &self.open
            && self.mapped == Some(table.id)
            && open.kind == kind
            && open.before.as_ref() == before
            && open.after.as_ref() == after
            && self.bytes.len() - open.start < self.options.row_event_max_bytes
        {
            return Ok(());
        }
        if self.mapped == Some(table.id) {
            self.close_rows(0);
        } else {
            self.close_table();
            self.map_table(table);
        }
        if self.bytes.len() >= self.options.spill_bytes {
            self.spill()?;
        }
        let (masks_before, masks_after) =
            (before.unwrap_or(&table.full_mask), after.unwrap_or(&table.full_mask));
        // The flags are set when the event is closed.
        let start = encode::rows(self.base(), kind, table.id, 0, masks_before, masks_after, &mut self.bytes);
        self.open = Some(OpenRows { start, kind, before: before.cloned(), after: after.cloned() });
        Ok(())
    }

    fn map_table(&mut self, table: &Table) {
        if self.len() == 0 {
            let base = self.base();
            // Most groups are those of one short statement.
            if self.bytes.capacity() == 0 {
                self.bytes = Vec::with_capacity(1024);
            }
            match &self.xid {
                None => query::put_begin(&mut self.bytes, base),
                Some(xid) => query::put_xa(&mut self.bytes, base, "XA START", xid),
            }
            self.head_len = self.bytes.len();
        }
        self.statement_start.get_or_insert(self.spilled + self.bytes.len());
        if !self.spills.config().binlog_filter.allows(&table.def.schema) {
            self.ignored_start = Some(self.len());
        }
        if let Some(text) = self.rows_query.take() {
            let start = encode::rows_query(self.base(), text.as_bytes(), &mut self.bytes);
            finish_event(&mut self.bytes, start, None, Checksum::None);
        }
        let start = self.bytes.len();
        let map =
            if self.options.full_metadata { table.full_table_map_event() } else { table.table_map_event() };
        self.bytes.extend_from_slice(map);
        let base = self.base();
        query::set_base(&mut self.bytes[start..], base);
        self.mapped = Some(table.id);
        self.logged_form = table.logged_form().cloned();
        if let Some(form) = &self.logged_form {
            let (at, map) = (self.spilled + start, &self.bytes[start..]);
            self.replacements.push(form.table_map(at, map, self.options.full_metadata));
        }
    }

    fn check_room(&self, more: usize) -> Result<()> {
        if self.len() + more > self.options.limit_bytes {
            return Err(EngineError::TransactionTooLarge { limit_bytes: self.options.limit_bytes });
        }
        Ok(())
    }

    /// Adds an inserted row. Returns the offset of its image.
    pub fn write_row(&mut self, table: &Table, image: &[u8]) -> Result<u64> {
        self.check_room(image.len())?;
        self.open_rows(table, RowsKind::Write, None, Some(&table.full_mask))?;
        let at = self.len() as u64;
        self.bytes.extend_from_slice(image);
        Ok(at)
    }

    /// Adds an updated row. Returns the offset of its after image if the image has all columns.
    pub fn update_row(
        &mut self,
        table: &Table,
        before: &[u8],
        after: &[u8],
        changed: &ColumnMask,
    ) -> Result<Option<u64>> {
        self.check_room(before.len() + after.len())?;
        let before_mask = self.before_mask(table);
        let after_mask = match self.options.image {
            RowImage::Full => None,
            RowImage::Minimal => Some(changed.clone()),
            RowImage::Noblob => Some(table.without_blobs(|column| changed.contains(column))),
        };
        self.open_rows(
            table,
            RowsKind::Update,
            Some(before_mask.as_ref().unwrap_or(&table.full_mask)),
            Some(after_mask.as_ref().unwrap_or(&table.full_mask)),
        )?;
        self.put_image(table, before, before_mask.as_ref())?;
        let at = self.len() as u64;
        self.put_image(table, after, after_mask.as_ref())?;
        Ok(after_mask.is_none_or(|mask| mask.is_full()).then_some(at))
    }

    /// Adds a deleted row.
    pub fn delete_row(&mut self, table: &Table, image: &[u8]) -> Result<()> {
        self.check_room(image.len())?;
        let mask = self.before_mask(table);
        self.open_rows(table, RowsKind::Delete, Some(mask.as_ref().unwrap_or(&table.full_mask)), None)?;
        self.put_image(table, image, mask.as_ref())
    }

    /// Returns the columns of a before image, which find the row. `None` means all columns.
    fn before_mask(&self, table: &Table) -> Option<ColumnMask> {
        table.primary.as_ref()?;
        match self.options.image {
            RowImage::Full => None,
            RowImage::Minimal => Some(table.primary_mask.clone()),
            RowImage::Noblob => Some(table.without_blobs(|column| table.primary_mask.contains(column))),
        }
    }

    fn put_image(&mut self, table: &Table, image: &[u8], mask: Option<&ColumnMask>) -> Result<()> {
        match mask {
            None => self.bytes.extend_from_slice(image),
            Some(mask) => table.layout.extract(image, mask, &mut self.bytes)?,
        }
        Ok(())
    }

    /// Ends the group of a transaction that is committed, with an Xid event.
    pub fn finish(&mut self, xid: u64) {
        if self.xid.is_some() {
            return self.finish_xa(true);
        }
        self.end_statement();
        self.left_out = self.has_nothing_logged();
        let start = encode::xid(self.base(), xid, &mut self.bytes);
        finish_event(&mut self.bytes, start, None, Checksum::None);
    }

    /// Replaces the finished group in the binary log by these events, which are a group of their
    /// own.
    pub fn replace_all(&mut self, events: Vec<u8>) {
        self.left_out = false;
        self.replacements = vec![Replacement { at: 0, len: self.len(), events }];
    }

    /// Ends the group of an XA transaction, which is prepared or, in `one_phase`, committed.
    pub fn finish_xa(&mut self, one_phase: bool) {
        self.end_statement();
        self.left_out = self.has_nothing_logged();
        let (base, xid) = (self.base(), self.xid.expect("the transaction has an XID"));
        query::put_xa(&mut self.bytes, base, "XA END", &xid);
        let start = encode::xa_prepare(base, &xid, one_phase, &mut self.bytes);
        finish_event(&mut self.bytes, start, None, Checksum::None);
    }
}
