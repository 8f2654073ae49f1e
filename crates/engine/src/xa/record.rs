//! The records of XA transactions in the log and the checkpoint: section XA of a commit record's
//! sidecar.

use crate::bytes::{Put, Reader};
use crate::config::EngineConfig;
use crate::error::Result;
use crate::spill::{SpillFiles, SpillRef};
use binlog::Xid;
use os::sync::Mutex;
use redo::Lsn;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

const PREPARED: u8 = 0;
const FINISHED: u8 = 1;

/// The flag of a transaction whose group the binary log has.
const BINLOGGED: u8 = 1;
/// The flag of a transaction for which the binary log has statements in place of some of the
/// group's rows.
const REPLACED: u8 = 2;
/// The flag of a transaction whose group and sidecar are in a spill file.
const IN_FILE: u8 = 4;

/// A prepared transaction as it is in the log, with everything that is needed to make it again.
#[derive(Debug)]
pub(crate) struct PreparedRecord {
    pub xid: Xid,
    pub binlogged: bool,
    pub replaced: bool,
    /// The event group. `None` means that it is in the file.
    group: Option<Vec<u8>>,
    /// The row ids, whole rows and replacements of the group, in the form of a commit record's
    /// sidecar.
    sidecar: Vec<u8>,
    /// A durable file with group and sidecar. A large transaction has one from the beginning;
    /// others get one when a checkpoint passes them.
    file: Mutex<Option<SpillRef>>,
    /// The sequence number of the record that prepares the transaction. `u64::MAX` means that it is
    /// not in the log yet.
    prepared: AtomicU64,
    /// The sequence number of the record that commits the transaction or rolls it back. `u64::MAX`
    /// means that there is none yet.
    finished: AtomicU64,
}

/// The content of a prepared transaction: its group and its sidecar, or the file that has them.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    Here { group: Cow<'a, [u8]>, sidecar: Cow<'a, [u8]> },
    File(SpillRef),
}

/// An event group and its sidecar.
type GroupAndSidecar<'r> = (Cow<'r, [u8]>, Cow<'r, [u8]>);

impl PreparedRecord {
    pub fn new(xid: Xid, (binlogged, replaced): (bool, bool), content: Content<'_>) -> PreparedRecord {
        let (group, sidecar, file) = match content {
            Content::Here { group, sidecar } => (Some(group.into_owned()), sidecar.into_owned(), None),
            Content::File(file) => (None, Vec::new(), Some(file)),
        };
        PreparedRecord {
            xid,
            binlogged,
            replaced,
            group,
            sidecar,
            file: Mutex::new(file),
            prepared: AtomicU64::new(Lsn::MAX),
            finished: AtomicU64::new(Lsn::MAX),
        }
    }

    /// Returns the record of a transaction that recovery found, which the commit record with this
    /// sequence number prepares.
    pub fn found(note: PreparedNote<'_>, seq: Lsn) -> PreparedRecord {
        let record = PreparedRecord::new(note.xid, (note.binlogged, note.replaced), note.content);
        record.prepared.store(seq, Ordering::Release);
        record
    }

    /// Returns the group and the sidecar, if they are in memory.
    pub fn in_memory(&self) -> Option<(&[u8], &[u8])> {
        self.group.as_deref().map(|group| (group, self.sidecar.as_slice()))
    }

    /// Returns the group and the sidecar, from memory or from the file.
    pub fn load(&self, config: &EngineConfig) -> Result<GroupAndSidecar<'_>> {
        match (self.in_memory(), self.file()) {
            (None, Some(file)) => file.load(config).map(|(group, sidecar)| (group.into(), sidecar.into())),
            (here, _) => {
                let (group, sidecar) = here.unwrap_or_default();
                Ok((group.into(), sidecar.into()))
            }
        }
    }

    pub fn file(&self) -> Option<SpillRef> {
        *self.file.lock()
    }

    pub fn set_file(&self, file: SpillRef) {
        *self.file.lock() = Some(file);
    }

    /// Returns the sequence number of the record that prepares the transaction.
    pub fn prepared_at(&self) -> Lsn {
        self.prepared.load(Ordering::Acquire)
    }

    /// Returns the sequence number of the record that ends the transaction. `u64::MAX` means that
    /// it has not ended.
    pub fn finished_at(&self) -> Lsn {
        self.finished.load(Ordering::Acquire)
    }

    pub fn set_finished(&self, seq: Lsn) {
        self.finished.store(seq, Ordering::Release);
    }

    fn encode(&self, content: &Content<'_>, out: &mut Vec<u8>) {
        put_xid(out, &self.xid);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let in_file = matches!(content, Content::File(_));
        out.put_u8(flag(self.binlogged, BINLOGGED) | flag(self.replaced, REPLACED) | flag(in_file, IN_FILE));
        match content {
            Content::Here { group, sidecar } => {
                out.put_bytes(group);
                out.put_bytes(sidecar);
            }
            Content::File(file) => file.encode(out),
        }
    }

    /// Appends the transaction to the checkpoint's state. Its content is in `file`.
    pub fn encode_for_checkpoint(&self, file: SpillRef, out: &mut Vec<u8>) {
        out.put_u64(self.prepared_at());
        self.encode(&Content::File(file), out);
    }

    /// Reads what [`PreparedRecord::encode_for_checkpoint`] wrote.
    pub fn decode_from_checkpoint(reader: &mut Reader<'_>) -> Result<PreparedRecord> {
        let seq = reader.u64()?;
        PreparedNote::decode(reader).map(|note| PreparedRecord::found(note, seq))
    }
}

/// The part of a commit that is about an XA transaction.
#[derive(Clone, Copy)]
pub(crate) enum XaPart<'a> {
    /// The commit prepares the transaction and changes no page.
    Prepares(&'a PreparedRecord),
    /// The commit commits the transaction or rolls it back. The binary log gets these events.
    Finishes(&'a PreparedRecord, &'a [u8]),
}

impl XaPart<'_> {
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            XaPart::Prepares(record) => {
                out.put_u8(PREPARED);
                let content = match (record.in_memory(), record.file()) {
                    (None, Some(file)) => Content::File(file),
                    (here, _) => {
                        let (group, sidecar) = here.unwrap_or_default();
                        Content::Here { group: group.into(), sidecar: sidecar.into() }
                    }
                };
                record.encode(&content, out);
            }
            XaPart::Finishes(record, events) => {
                out.put_u8(FINISHED);
                put_xid(out, &record.xid);
                out.put_bytes(events);
            }
        }
    }

    /// Notes that the commit has its place in the log. It must be called before the checkpoint may
    /// pass that place.
    pub fn note_logged(&self, seq: Lsn) {
        match self {
            XaPart::Prepares(record) => record.prepared.store(seq, Ordering::Release),
            XaPart::Finishes(record, _) => record.set_finished(seq),
        }
    }
}

/// The log's note of a prepared transaction.
pub(crate) struct PreparedNote<'a> {
    pub xid: Xid,
    binlogged: bool,
    pub replaced: bool,
    pub content: Content<'a>,
}

impl<'a> PreparedNote<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<PreparedNote<'a>> {
        let xid = read_xid(reader)?;
        let flags = reader.u8()?;
        let content = match flags & IN_FILE {
            0 => Content::Here { group: reader.bytes()?.into(), sidecar: reader.bytes()?.into() },
            _ => Content::File(SpillRef::decode(reader)?),
        };
        let (binlogged, replaced) = (flags & BINLOGGED != 0, flags & REPLACED != 0);
        Ok(PreparedNote { xid, binlogged, replaced, content })
    }
}

impl PreparedRecord {
    /// Returns the transaction's file, which is made if there is none.
    pub fn in_a_file(&self, files: &SpillFiles) -> Result<SpillRef> {
        if let Some(file) = self.file() {
            return Ok(file);
        }
        let (group, sidecar) = self.in_memory().unwrap_or_default();
        let mut file = files.create()?;
        file.append(group)?;
        let named = file.finish(group.len() as u64, sidecar)?;
        self.set_file(named);
        file.keep();
        Ok(named)
    }
}

/// The decoded section XA of a sidecar.
pub(crate) enum XaNote<'a> {
    Prepared(PreparedNote<'a>),
    Finished { xid: Xid, events: &'a [u8] },
}

impl<'a> XaNote<'a> {
    pub fn decode(section: &'a [u8]) -> Result<XaNote<'a>> {
        let mut reader = Reader::new(section, "XA section of a commit record");
        let note = match reader.u8()? {
            PREPARED => XaNote::Prepared(PreparedNote::decode(&mut reader)?),
            FINISHED => XaNote::Finished { xid: read_xid(&mut reader)?, events: reader.bytes()? },
            _ => return Err(reader.impossible("kind")),
        };
        if reader.is_empty() { Ok(note) } else { Err(reader.impossible("length")) }
    }

    /// Reports whether the binary log's events have statements among them.
    pub fn has_statements(&self) -> bool {
        match self {
            XaNote::Prepared(note) => note.replaced,
            XaNote::Finished { .. } => true,
        }
    }
}

fn put_xid(out: &mut Vec<u8>, xid: &Xid) {
    out.put_u64(xid.format_id() as u64);
    out.put_bytes(xid.gtrid());
    out.put_bytes(xid.bqual());
}

fn read_xid(reader: &mut Reader<'_>) -> Result<Xid> {
    let format_id = reader.u64()? as i64;
    let (gtrid, bqual) = (reader.bytes()?, reader.bytes()?);
    Xid::new(gtrid, bqual, format_id).ok_or_else(|| reader.impossible("XID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xid() -> Xid {
        Xid::new(b"g", b"b", 7).expect("short enough")
    }

    #[test]
    fn sections_come_back_and_cut_ones_are_errors() {
        let content = Content::Here { group: b"group"[..].into(), sidecar: b"side"[..].into() };
        let here = PreparedRecord::new(xid(), (true, false), content);
        let file = SpillRef { number: 5, crc: 6, group_len: 7, sidecar_len: 8 };
        let spilled = PreparedRecord::new(xid(), (false, true), Content::File(file));
        for part in [XaPart::Prepares(&here), XaPart::Prepares(&spilled), XaPart::Finishes(&here, b"events")]
        {
            let mut bytes = Vec::new();
            part.encode(&mut bytes);
            match (XaNote::decode(&bytes).unwrap(), part) {
                (XaNote::Finished { xid: back, events }, XaPart::Finishes(..)) => {
                    assert_eq!((back, events), (xid(), &b"events"[..]));
                }
                (XaNote::Prepared(note), XaPart::Prepares(record)) => {
                    let back = PreparedRecord::found(note, 9);
                    assert_eq!((back.xid, back.prepared_at(), back.finished_at()), (xid(), 9, Lsn::MAX));
                    assert_eq!(back.in_memory(), record.in_memory());
                    assert_eq!((back.file(), back.binlogged), (record.file(), record.binlogged));
                    assert_eq!(back.replaced, record.replaced);
                }
                _ => panic!("another kind came back"),
            }
            for len in 0..bytes.len() {
                assert!(XaNote::decode(&bytes[..len]).is_err(), "cut at {len}");
            }
        }
    }

    #[test]
    fn the_checkpoint_names_the_file() {
        let content = Content::Here { group: b"group"[..].into(), sidecar: b""[..].into() };
        let record = PreparedRecord::new(xid(), (true, false), content);
        XaPart::Prepares(&record).note_logged(11);
        let file = SpillRef { number: 5, crc: 6, group_len: 5, sidecar_len: 0 };
        let mut bytes = Vec::new();
        record.encode_for_checkpoint(file, &mut bytes);
        let mut reader = Reader::new(&bytes, "test");
        let back = PreparedRecord::decode_from_checkpoint(&mut reader).unwrap();
        assert!(reader.is_empty());
        assert_eq!((back.prepared_at(), back.file(), back.in_memory()), (11, Some(file), None));
    }
}
