//! The recorder, which takes events and makes the history: it follows the groups, and finds for
//! every change the earlier ones that touched the same rows.

mod open;
mod rows;

use std::collections::HashMap;
use std::rc::Rc;

use binlog::boundary::{Boundaries, Edge};
use binlog::event::{
    Event, Header, MariadbGtidEvent, QueryEvent, RowsEvent, TableMap, event_type, mariadb_flag,
};
use binlog::{Checksum, DecodeError};
use types::row::RowLayout;

use crate::error::AnalyzeError;
use crate::history::{History, KeySource, Nature, Place, Table, Transaction};
use crate::keys::KnownKeys;
use open::{Bound, Open, Refused};
use rows::RowHistory;

/// A recorder that takes events in their order and makes their history.
pub struct Recorder {
    history: History,
    known: KnownKeys,
    boundaries: Boundaries,
    checksum: Checksum,
    file_begin: u32,
    /// The sequence numbers of the file's transactions, rising.
    sequence: Vec<i64>,
    /// The commit id of the last group of a MariaDB source, and that group's parent.
    commit_group: Option<(u64, u32)>,
    open: Option<Open>,
    bound: HashMap<u64, Rc<Bound>>,
    cache: HashMap<Vec<u8>, Rc<Bound>>,
    table_numbers: HashMap<String, u32>,
    schema_numbers: HashMap<String, u32>,
    rows: RowHistory,
    limit: usize,
}

impl Recorder {
    /// Builds a recorder that takes up to `limit` transactions. `writesets_limit` is the value of
    /// `binlog_transaction_dependency_history_size`, in keys.
    pub fn new(known: KnownKeys, writesets_limit: usize, limit: usize) -> Recorder {
        Recorder {
            history: History::default(),
            known,
            boundaries: Boundaries::default(),
            checksum: Checksum::None,
            file_begin: 0,
            sequence: Vec::new(),
            commit_group: None,
            open: None,
            bound: HashMap::new(),
            cache: HashMap::new(),
            table_numbers: HashMap::new(),
            schema_numbers: HashMap::new(),
            rows: RowHistory::new(writesets_limit),
            limit,
        }
    }

    /// Begins a file. A replica finishes all transactions of a file before it goes on with the next
    /// one.
    pub fn begin_file(&mut self, name: &str) {
        self.history.files.push(name.to_string());
        self.file_begin = self.history.transactions.len() as u32;
        self.sequence.clear();
        self.commit_group = None;
        self.bound.clear();
    }

    /// Reports whether the requested number of transactions has been taken.
    pub fn is_full(&self) -> bool {
        self.history.transactions.len() >= self.limit
    }

    /// Sets the checksum with which events end from here on, before the log's own format
    /// description sets it.
    pub fn set_checksum(&mut self, checksum: Checksum) {
        self.checksum = checksum;
    }

    /// Returns the checksum with which the next event ends.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Takes the next event, which begins at offset `pos` of the file.
    pub fn take(&mut self, event: &[u8], pos: u64) -> Result<(), AnalyzeError> {
        self.take_event(event, pos).map_err(|error| match error {
            Refused::Event(error) => AnalyzeError::Event {
                file: self.history.files.last().cloned().unwrap_or_default(),
                pos,
                error,
            },
            Refused::TooLarge => AnalyzeError::TooLarge,
        })
    }

    fn take_event(&mut self, event: &[u8], pos: u64) -> Result<(), Refused> {
        let header = Header::decode(event)?;
        if header.event_type == event_type::FORMAT_DESCRIPTION {
            if let Event::FormatDescription(description) = binlog::event::decode_body(&header, event)? {
                let format = description.format();
                self.checksum = format.checksum;
                self.history.server_version = format.server_version;
            }
            return Ok(());
        }
        let end = event.len().checked_sub(self.checksum.len_bytes());
        let Some(bare) = end.filter(|&end| end >= binlog::event::HEADER_LEN).map(|end| &event[..end]) else {
            return Err(DecodeError { offset: event.len(), what: "event too short for its checksum" }.into());
        };
        let edge = self.boundaries.feed(bare);
        if edge == Edge::Outside || self.is_full() {
            return Ok(());
        }
        if matches!(edge, Edge::Begin | Edge::Whole) || self.open.is_none() {
            self.begin(&header, pos);
        }
        if is_opaque(header.event_type) {
            self.set_nature(Nature::Opaque);
        } else {
            self.take_inside(&header, bare)?;
        }
        if let Some(open) = &mut self.open {
            open.transaction.bytes += event.len() as u64;
        }
        if matches!(edge, Edge::End | Edge::Whole) {
            self.end();
        }
        Ok(())
    }

    fn begin(&mut self, header: &Header, pos: u64) {
        let before = self.history.transactions.len() as u32;
        let place = Place { file: self.history.files.len().saturating_sub(1) as u32, pos };
        let seconds = self.history.seconds.map_or(header.timestamp, |(first, _)| first);
        self.history.seconds = Some((seconds, header.timestamp));
        self.open = Some(Open {
            transaction: Transaction {
                place,
                bytes: 0,
                first_change: self.history.changes.len() as u32,
                changes: 0,
                nature: Nature::Rows,
                is_unordered: true,
                commit_parent: before,
                writeset_parent: self.rows.writesets_begin(),
                schemas: 0,
            },
            schemas: Some(Vec::new()),
            is_keyless: false,
            sequence_number: 0,
            per_table: Vec::new(),
        });
    }

    fn set_nature(&mut self, nature: Nature) {
        if let Some(open) = &mut self.open {
            open.transaction.nature = nature;
            if nature == Nature::Opaque {
                open.schemas = None;
            }
        }
    }

    fn take_inside(&mut self, header: &Header, bare: &[u8]) -> Result<(), Refused> {
        match binlog::event::decode_body(header, bare)? {
            Event::Gtid(gtid) | Event::AnonymousGtid(gtid) => {
                self.order_by_clock(gtid.last_committed, gtid.sequence_number);
            }
            Event::MariadbGtid(gtid) => self.order_by_commit_id(&gtid),
            Event::TableMap(map) => self.bind(bare, &map)?,
            Event::Rows(rows) => self.take_rows(&rows, bare.len())?,
            Event::Query(query) => self.take_query(&query),
            _ => {}
        }
        Ok(())
    }

    fn take_rows(&mut self, event: &RowsEvent<'_>, event_bytes: usize) -> Result<(), Refused> {
        let Some(bound) = self.bound.get(&event.table_id) else {
            // The last event of a statement that changed nothing has a table id that stands for no
            // table.
            if event.rows.is_empty() {
                return Ok(());
            }
            return Err(DecodeError { offset: 19, what: "row event without its table map" }.into());
        };
        if event.columns != bound.layout.columns() {
            return Err(
                DecodeError { offset: 19, what: "row event of another table than its table map" }.into()
            );
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        open.share(bound.table).bytes += event_bytes as u64;
        self.rows.take(bound, event, open, &mut self.history)
    }

    /// Sets the parent by LOGICAL_CLOCK: the transactions that were committed when this one was
    /// prepared.
    fn order_by_clock(&mut self, last_committed: i64, sequence_number: i64) {
        let Some(open) = &mut self.open else { return };
        if sequence_number > 0 {
            let committed = self.sequence.partition_point(|&earlier| earlier <= last_committed);
            open.transaction.commit_parent = self.file_begin + committed as u32;
            open.transaction.is_unordered = false;
            open.sequence_number = sequence_number;
        }
    }

    /// Sets the parent for a MariaDB source: the transactions before the groups that were committed
    /// together.
    fn order_by_commit_id(&mut self, gtid: &MariadbGtidEvent) {
        let Some(open) = &mut self.open else { return };
        open.transaction.is_unordered = false;
        let is_grouped = gtid.commit_id != 0 && gtid.flags & mariadb_flag::DDL == 0;
        match self.commit_group {
            Some((id, parent)) if is_grouped && id == gtid.commit_id => {
                open.transaction.commit_parent = parent;
            }
            _ => {
                self.commit_group = is_grouped.then_some((gtid.commit_id, open.transaction.commit_parent));
            }
        }
    }

    fn bind(&mut self, bare: &[u8], map: &TableMap<'_>) -> Result<(), Refused> {
        let body = bare.get(binlog::event::HEADER_LEN + 6..).unwrap_or_default();
        let bound = match self.cache.get(body) {
            Some(bound) => bound.clone(),
            None => {
                let bound = Rc::new(self.bind_anew(map)?);
                self.cache.insert(body.to_vec(), bound.clone());
                bound
            }
        };
        let schema = String::from_utf8_lossy(map.schema);
        self.note_schema(&schema);
        if let Some(open) = &mut self.open {
            open.is_keyless |= bound.keys.source == KeySource::None;
        }
        self.bound.insert(map.table_id, bound);
        Ok(())
    }

    fn bind_anew(&mut self, map: &TableMap<'_>) -> Result<Bound, Refused> {
        let name = format!("{}.{}", String::from_utf8_lossy(map.schema), String::from_utf8_lossy(map.table));
        let layout = RowLayout::new(&map.columns()?);
        let keys = self.known.of(map);
        let names = map
            .optional()?
            .column_names
            .map(|names| names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect());
        let tables = &mut self.history.tables;
        let table = *self.table_numbers.entry(name.clone()).or_insert_with(|| {
            tables.push(Table {
                name,
                keys: keys.source,
                inserts: 0,
                updates: 0,
                deletes: 0,
                bytes: 0,
                transactions: 0,
            });
            tables.len() as u32 - 1
        });
        Ok(Bound { table, layout, keys, names })
    }

    fn note_schema(&mut self, schema: &str) {
        let Some(Open { schemas: Some(schemas), .. }) = &mut self.open else { return };
        let number = match self.schema_numbers.get(schema) {
            Some(&number) => number,
            None => {
                let number = self.history.schemas.len() as u32;
                self.history.schemas.push(schema.to_string());
                self.schema_numbers.insert(schema.to_string(), number);
                number
            }
        };
        if !schemas.contains(&number) {
            schemas.push(number);
        }
    }

    fn take_query(&mut self, query: &QueryEvent<'_>) {
        let first_word = query.statement.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        let is_frame = [&b"BEGIN"[..], b"COMMIT", b"ROLLBACK", b"SAVEPOINT", b"XA"]
            .iter()
            .any(|word| first_word.eq_ignore_ascii_case(word));
        if is_frame {
            return;
        }
        self.set_nature(Nature::Statement);
        match query.status().ok().and_then(|status| status.updated_schemas) {
            Some(Some(schemas)) => {
                for schema in schemas {
                    self.note_schema(&String::from_utf8_lossy(schema));
                }
            }
            Some(None) => {
                if let Some(open) = &mut self.open {
                    open.schemas = None;
                }
            }
            None => self.note_schema(&String::from_utf8_lossy(query.schema)),
        }
    }

    fn end(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut transaction = open.transaction;
        let number = self.history.transactions.len() as u32 + 1;
        // As MySQL computes writesets, a transaction whose writeset is incomplete keeps the commit
        // order, and none after it passes it. The history begins anew when it is full.
        let has_writeset = transaction.nature == Nature::Rows && !open.is_keyless;
        if !has_writeset {
            transaction.writeset_parent = transaction.commit_parent;
        }
        let parents = [transaction.commit_parent, transaction.writeset_parent];
        assert!(parents.iter().all(|parent| *parent < number), "a transaction waits for earlier ones");
        assert!(!self.is_full(), "no more transactions are taken than were asked for");
        self.rows.end(number, has_writeset);
        transaction.schemas = self.history.schema_set(open.schemas.map(|mut schemas| {
            schemas.sort_unstable();
            schemas
        }));
        if open.sequence_number > 0 && self.sequence.last().is_none_or(|&last| last < open.sequence_number) {
            self.sequence.push(open.sequence_number);
        }
        self.history.transactions.push(transaction);
        for share in &open.per_table {
            let table = &mut self.history.tables[share.table as usize];
            table.inserts += share.inserts;
            table.updates += share.updates;
            table.deletes += share.deletes;
            table.bytes += share.bytes;
            table.transactions += 1;
        }
    }

    /// Ends the reading and returns the history.
    pub fn finish(mut self) -> History {
        self.history.is_open_at_end = self.open.is_some();
        self.history.is_cut = self.is_full();
        if let Some(open) = &self.open {
            let first = open.transaction.first_change as usize;
            self.history.changes.truncate(first);
            let edges = first.checked_sub(1).map_or(0, |last| self.history.changes[last].edges_end as usize);
            self.history.edges.truncate(edges);
            assert_eq!(self.history.changes.len(), first, "what is cut has left no change");
        }
        self.history.hot_rows = self.rows.hot_rows(&self.history.tables);
        self.history
    }
}

/// Reports whether the contents of events of this type are not read.
fn is_opaque(kind: u8) -> bool {
    matches!(
        kind,
        event_type::TRANSACTION_PAYLOAD
            | event_type::PARTIAL_UPDATE_ROWS
            | event_type::MARIADB_QUERY_COMPRESSED..=event_type::MARIADB_DELETE_ROWS_COMPRESSED
    )
}
