//! The sidecar of a commit record: what replay needs and the events do not say.
//!
//! A sidecar is a list of sections `[tag u8][length varint][items]`:
//!
//! | tag | items |
//! |---|---|
//! | 1 ROW_IDS | table id and hidden row id of each row change of a table without a primary key, in event order |
//! | 2 INDEX_OPS | secondary entries put and removed, except those of rows that the transaction inserts |
//! | 3 OVERFLOW | off-page columns of changed rows, and the pages of those that the commit placed |
//! | 4 WHOLE_ROWS | table id and full image of each row whose clustered key an UPDATE changes and whose after image is partial, in event order |
//! | 5 DICTIONARY | dictionary entries put and deleted |
//! | 6 COUNTERS | next table, index and space id |
//! | 7 REPLACEMENTS | what the binary log has in place of parts of the event group |
//! | 8 XA | the XA transaction that is prepared, or finished ([`crate::xa::record`]) |
//!
//! Secondary entries of inserted rows are left out because the insert's full image has them. The
//! entries that a later update of an inserted row puts into unique indexes are here, because
//! [`crate::writeset`] needs them.

use crate::bytes::{Put, Reader};
use crate::dictionary::DictionaryOp;
use crate::error::{EngineError, Result};
use crate::group::Replacement;
use crate::kept_memory::empty;
use crate::xa::record::{XaNote, XaPart};
use std::collections::{HashMap, VecDeque};

const ROW_IDS: u8 = 1;
const INDEX_OPS: u8 = 2;
const OVERFLOW: u8 = 3;
const WHOLE_ROWS: u8 = 4;
const DICTIONARY: u8 = 5;
const COUNTERS: u8 = 6;
const REPLACEMENTS: u8 = 7;
const XA: u8 = 8;

/// A secondary entry that is put or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexOp<'a> {
    pub table_id: u64,
    pub index_id: u32,
    /// Whether the entry is put. False means that it is removed.
    pub put: bool,
    pub secondary_len: usize,
    pub key: &'a [u8],
}

/// A column whose value is on overflow pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub table_id: u64,
    pub key: Vec<u8>,
    pub column: u16,
    pub len: u32,
    pub first_page: u32,
    /// All pages of the value when this commit placed it there; empty when the commit left it where
    /// it was.
    pub pages: Vec<u32>,
    /// The packed value, when this commit moved it off page without changing it. A partial after
    /// image does not have the value then, and the page that had it in its row may be on disk
    /// already without it.
    pub value: Option<Vec<u8>>,
}

/// The ids that are given out next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NextIds {
    pub table: u64,
    pub index: u32,
    pub space: u32,
}

impl NextIds {
    /// Raises each id to the larger one of the two values.
    pub fn raise(&mut self, other: NextIds) {
        self.table = self.table.max(other.table);
        self.index = self.index.max(other.index);
        self.space = self.space.max(other.space);
    }
}

/// The bytes that the entries of a short statement take, for the first allocation.
const FEW_OPS_BYTES: usize = 128;

/// Collects a sidecar's sections while a transaction runs and commits.
#[derive(Debug, Default)]
pub(crate) struct SidecarWriter {
    row_ids: Vec<u8>,
    index_ops: Vec<u8>,
    overflow: Vec<u8>,
    whole_rows: Vec<u8>,
    dictionary: Vec<u8>,
    counters: Vec<u8>,
    replacements: Vec<u8>,
}

impl SidecarWriter {
    /// Forgets what belonged to a transaction that has ended.
    pub fn spend(&mut self) {
        let SidecarWriter { row_ids, index_ops, overflow, whole_rows, dictionary, counters, replacements } =
            self;
        for section in [row_ids, index_ops, overflow, whole_rows, dictionary, counters, replacements] {
            empty(section);
        }
    }

    /// Returns the lengths of the sections that grow with each statement, for
    /// [`SidecarWriter::truncate`].
    pub fn lengths(&self) -> (usize, usize) {
        (self.row_ids.len(), self.whole_rows.len())
    }

    /// Takes back what statements added since [`SidecarWriter::lengths`] returned these lengths.
    pub fn truncate(&mut self, (row_ids, whole_rows): (usize, usize)) {
        let (ids, rows) = self.lengths();
        assert!(row_ids <= ids && whole_rows <= rows, "a sidecar goes back to what it was not yet");
        self.row_ids.truncate(row_ids);
        self.whole_rows.truncate(whole_rows);
    }

    pub fn row_id(&mut self, table_id: u64, row_id: u64) {
        self.row_ids.put_varint(table_id);
        self.row_ids.put_varint(row_id);
    }

    pub fn index_op(&mut self, op: &IndexOp<'_>) {
        if self.index_ops.capacity() == 0 {
            self.index_ops = Vec::with_capacity(FEW_OPS_BYTES);
        }
        self.index_ops.put_varint(op.table_id);
        self.index_ops.put_varint(u64::from(op.index_id) << 1 | u64::from(op.put));
        self.index_ops.put_varint(op.secondary_len as u64);
        self.index_ops.put_bytes(op.key);
    }

    pub fn placement(&mut self, placement: &Placement) {
        self.overflow.put_varint(placement.table_id);
        self.overflow.put_bytes(&placement.key);
        self.overflow.put_u16(placement.column);
        self.overflow.put_u32(placement.len);
        self.overflow.put_u32(placement.first_page);
        self.overflow.put_varint(placement.pages.len() as u64);
        for page in &placement.pages {
            self.overflow.put_varint(u64::from(*page));
        }
        self.overflow.put_bool(placement.value.is_some());
        if let Some(value) = &placement.value {
            self.overflow.put_bytes(value);
        }
    }

    pub fn whole_row(&mut self, table_id: u64, image: &[u8]) {
        self.whole_rows.put_varint(table_id);
        self.whole_rows.put_bytes(image);
    }

    pub fn dictionary(&mut self, (key, value): &DictionaryOp) {
        self.dictionary.put_bytes(key);
        self.dictionary.put_bool(value.is_some());
        if let Some(value) = value {
            self.dictionary.put_bytes(value);
        }
    }

    pub fn counters(&mut self, next: NextIds) {
        self.counters.put_u64(next.table);
        self.counters.put_u32(next.index);
        self.counters.put_u32(next.space);
    }

    pub fn replacement(&mut self, replacement: &Replacement) {
        self.replacements.put_varint(replacement.at as u64);
        self.replacements.put_varint(replacement.len as u64);
        self.replacements.put_bytes(&replacement.events);
    }

    /// Appends the sections that are not empty.
    pub fn finish(&self, out: &mut Vec<u8>) {
        let sections = [
            (ROW_IDS, &self.row_ids),
            (INDEX_OPS, &self.index_ops),
            (OVERFLOW, &self.overflow),
            (WHOLE_ROWS, &self.whole_rows),
            (DICTIONARY, &self.dictionary),
            (COUNTERS, &self.counters),
            (REPLACEMENTS, &self.replacements),
        ];
        for (tag, section) in sections {
            if !section.is_empty() {
                out.put_u8(tag);
                out.put_bytes(section);
            }
        }
    }
}

/// A sidecar split into its sections. The items are read when they are needed.
pub(crate) struct Sidecar<'a> {
    row_ids: HashMap<u64, VecDeque<u64>>,
    whole_rows: HashMap<u64, VecDeque<&'a [u8]>>,
    index_ops: Reader<'a>,
    overflow: Reader<'a>,
    dictionary: Reader<'a>,
    counters: Reader<'a>,
    xa: Option<&'a [u8]>,
}

impl<'a> Sidecar<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Sidecar<'a>> {
        let empty = |what| Reader::new(&[], what);
        let mut sidecar = Sidecar {
            row_ids: HashMap::new(),
            whole_rows: HashMap::new(),
            index_ops: empty("index entry list of a commit record"),
            overflow: empty("overflow page list of a commit record"),
            dictionary: empty("dictionary entry list of a commit record"),
            counters: empty("counters of a commit record"),
            xa: None,
        };
        let mut reader = Reader::new(bytes, "sidecar of a commit record");
        while !reader.is_empty() {
            let tag = reader.u8()?;
            let section = reader.bytes()?;
            match tag {
                ROW_IDS => {
                    let mut ids = Reader::new(section, "row id list of a commit record");
                    while !ids.is_empty() {
                        let (table_id, row_id) = (ids.varint()?, ids.varint()?);
                        sidecar.row_ids.entry(table_id).or_default().push_back(row_id);
                    }
                }
                WHOLE_ROWS => {
                    let mut rows = Reader::new(section, "whole row list of a commit record");
                    while !rows.is_empty() {
                        let (table_id, image) = (rows.varint()?, rows.bytes()?);
                        sidecar.whole_rows.entry(table_id).or_default().push_back(image);
                    }
                }
                INDEX_OPS => sidecar.index_ops = Reader::new(section, "index entry list of a commit record"),
                OVERFLOW => sidecar.overflow = Reader::new(section, "overflow page list of a commit record"),
                DICTIONARY => {
                    sidecar.dictionary = Reader::new(section, "dictionary entry list of a commit record");
                }
                COUNTERS => sidecar.counters = Reader::new(section, "counters of a commit record"),
                // Only the binary log needs these.
                REPLACEMENTS => {}
                XA => sidecar.xa = Some(section),
                _ => return Err(reader.impossible("section")),
            }
        }
        Ok(sidecar)
    }

    /// Takes the row id of the next row change of a table without a primary key.
    pub fn next_row_id(&mut self, table_id: u64) -> Result<u64> {
        let next = self.row_ids.get_mut(&table_id).and_then(VecDeque::pop_front);
        next.ok_or_else(|| EngineError::Corrupt("a commit record lacks a row id".to_string()))
    }

    /// Takes the full image of the next row of the table that an update with a partial after image
    /// moves to another clustered key.
    pub fn next_whole_row(&mut self, table_id: u64) -> Result<&'a [u8]> {
        let next = self.whole_rows.get_mut(&table_id).and_then(VecDeque::pop_front);
        next.ok_or_else(|| EngineError::Corrupt("a commit record lacks the image of a moved row".to_string()))
    }

    /// Returns all secondary entries that the commit puts and removes.
    pub fn index_ops(&self) -> Result<Vec<IndexOp<'a>>> {
        let mut reader = self.index_ops.clone();
        let mut ops = Vec::new();
        while !reader.is_empty() {
            let table_id = reader.varint()?;
            let id_and_put = reader.varint()?;
            let index_id = u32::try_from(id_and_put >> 1).map_err(|_| reader.impossible("index id"))?;
            let secondary_len = reader.varint()? as usize;
            let key = reader.bytes()?;
            if secondary_len > key.len() {
                return Err(reader.impossible("key length"));
            }
            ops.push(IndexOp { table_id, index_id, put: id_and_put & 1 == 1, secondary_len, key });
        }
        Ok(ops)
    }

    /// Returns all columns that the commit has on overflow pages.
    pub fn placements(&self) -> Result<Vec<Placement>> {
        let mut reader = self.overflow.clone();
        let mut placements = Vec::new();
        while !reader.is_empty() {
            let table_id = reader.varint()?;
            let key = reader.bytes()?.to_vec();
            let (column, len, first_page) = (reader.u16()?, reader.u32()?, reader.u32()?);
            let mut pages = Vec::new();
            for _ in 0..reader.count()? {
                pages.push(u32::try_from(reader.varint()?).map_err(|_| reader.impossible("page number"))?);
            }
            let value = if reader.bool()? { Some(reader.bytes()?.to_vec()) } else { None };
            placements.push(Placement { table_id, key, column, len, first_page, pages, value });
        }
        Ok(placements)
    }

    /// Returns all dictionary entries that the commit puts and deletes, in order.
    pub fn dictionary(&self) -> Result<Vec<DictionaryOp>> {
        let mut reader = self.dictionary.clone();
        let mut ops = Vec::new();
        while !reader.is_empty() {
            let key = reader.bytes()?.to_vec();
            let value = if reader.bool()? { Some(reader.bytes()?.to_vec()) } else { None };
            ops.push((key, value));
        }
        Ok(ops)
    }

    /// Returns the note about an XA transaction, if the commit prepares or finishes one.
    pub fn xa(&self) -> Result<Option<XaNote<'a>>> {
        self.xa.map(XaNote::decode).transpose()
    }

    /// Returns the ids that are given out next, if the record has them.
    pub fn counters(&self) -> Result<Option<NextIds>> {
        let mut reader = self.counters.clone();
        if reader.is_empty() {
            return Ok(None);
        }
        Ok(Some(NextIds { table: reader.u64()?, index: reader.u32()?, space: reader.u32()? }))
    }
}

/// Appends the section about an XA transaction.
pub(crate) fn put_xa(out: &mut Vec<u8>, xa: &XaPart<'_>) {
    let mut section = Vec::new();
    xa.encode(&mut section);
    out.put_u8(XA);
    out.put_bytes(&section);
}

/// Returns the note about an XA transaction without parsing the other sections.
pub(crate) fn xa_note(sidecar: &[u8]) -> Result<Option<XaNote<'_>>> {
    section_of(sidecar, XA)?.map(XaNote::decode).transpose()
}

fn section_of(sidecar: &[u8], wanted: u8) -> Result<Option<&[u8]>> {
    let mut reader = Reader::new(sidecar, "sidecar of a commit record");
    while !reader.is_empty() {
        let (tag, section) = (reader.u8()?, reader.bytes()?);
        if tag == wanted {
            return Ok(Some(section));
        }
    }
    Ok(None)
}

/// Returns the event group as the binary log has it, with replacements for some of its parts.
pub(crate) fn logged_group(group: &[u8], sidecar: &[u8]) -> Result<Vec<u8>> {
    match section_of(sidecar, REPLACEMENTS)? {
        Some(section) => replace(group, Reader::new(section, "replacements of a commit record")),
        None => Err(Reader::new(sidecar, "sidecar of a commit record").impossible("lack of replacements")),
    }
}

fn replace(group: &[u8], mut replacements: Reader<'_>) -> Result<Vec<u8>> {
    let (mut logged, mut taken) = (Vec::with_capacity(group.len()), 0);
    while !replacements.is_empty() {
        let (at, len) = (replacements.varint()? as usize, replacements.varint()? as usize);
        let events = replacements.bytes()?;
        let kept = group.get(taken..at).ok_or_else(|| replacements.impossible("place"))?;
        logged.extend_from_slice(kept);
        logged.extend_from_slice(events);
        taken = at.saturating_add(len);
    }
    let rest = group.get(taken..).ok_or_else(|| replacements.impossible("length"))?;
    logged.extend_from_slice(rest);
    Ok(logged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_group_are_replaced() {
        let mut writer = SidecarWriter::default();
        writer.row_id(5, 1);
        for (at, len, events) in [(1, 2, b"XYZ".to_vec()), (3, 0, b"-".to_vec()), (4, 2, Vec::new())] {
            writer.replacement(&Replacement { at, len, events });
        }
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        assert_eq!(logged_group(b"abcdefg", &bytes).unwrap(), b"aXYZ-dg");
        assert!(logged_group(b"abcde", &bytes).is_err());
        assert!(Sidecar::parse(&bytes).is_ok());
        assert!(logged_group(b"abcdefg", &bytes[..3]).is_err());
    }

    #[test]
    fn sections_come_back_as_they_were_put() {
        let mut writer = SidecarWriter::default();
        let op = IndexOp { table_id: 5, index_id: 2, put: true, secondary_len: 3, key: b"abcdef" };
        let key = b"k".to_vec();
        let placement = Placement {
            table_id: 5,
            key,
            column: 1,
            len: 9,
            first_page: 3,
            pages: vec![3],
            value: Some(b"value".to_vec()),
        };
        writer.row_id(5, 1 << 40);
        writer.index_op(&op);
        writer.placement(&placement);
        writer.whole_row(5, b"image");
        writer.dictionary(&(b"key".to_vec(), None));
        writer.counters(NextIds { table: 1, index: 2, space: 3 });
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let mut sidecar = Sidecar::parse(&bytes).unwrap();
        assert_eq!(sidecar.next_row_id(5).unwrap(), 1 << 40);
        assert!(sidecar.next_row_id(5).is_err());
        assert_eq!(sidecar.index_ops().unwrap(), vec![op]);
        assert_eq!(sidecar.placements().unwrap(), vec![placement]);
        assert_eq!(sidecar.next_whole_row(5).unwrap(), b"image");
        assert!(sidecar.next_whole_row(5).is_err());
        assert_eq!(sidecar.dictionary().unwrap(), vec![(b"key".to_vec(), None)]);
        assert_eq!(sidecar.counters().unwrap(), Some(NextIds { table: 1, index: 2, space: 3 }));
        assert!(Sidecar::parse(&[9, 0]).is_err());
    }
}
