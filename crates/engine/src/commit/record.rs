//! The commit record: what the log holds for one transaction. `docs/formats/commit-record.md` has
//! it byte by byte.
//!
//! A record is `[header][position][tag][event group][sidecar]`, or `[header][position][tag][spill
//! file][sidecar]` for a commit that was too large. The event group is the transaction's binary log
//! events (format v4, no GTID event, no checksum, `log_pos` 0, the engine's table ids). The sidecar
//! holds what replay needs and the events do not say.

use super::position::{
    ChangeMark, ChannelChange, CommitMark, PositionMark, PositionUpdate, parse_mariadb_state, read_tag,
};
use crate::bytes::{Put, Reader};
use crate::error::Result;
use crate::spill::SpillRef;
use binlog::gtid::{Gtid, MariadbGtid, Tag, Tsid, Uuid};

const VERSION: u8 = 1;
/// The version of a record that has the level of compression behind the tag.
const VERSION_COMPRESSED: u8 = 2;

/// The group is not for the binary log (`log_bin` off, `sql_log_bin` off, `log_replica_updates`
/// off).
pub(crate) const NOT_BINLOGGED: u8 = 1;
/// The group is one DDL statement.
pub(crate) const DDL: u8 = 2;
const HAS_GTID: u8 = 4;
const HAS_MARIADB_GTID: u8 = 8;
const HAS_POSITION: u8 = 16;
/// The group and the sidecar are in a spill file, which the record names.
const SPILLED: u8 = 32;
/// The GTID's tag stands behind the position.
const TAGGED: u8 = 64;
/// The binary log has other events in place of some of the group's. The sidecar has them.
const REPLACED: u8 = 128;

/// The kinds of a position's change of its channel.
const ADVANCE: u8 = 0;
const SET_MARIADB_STATE: u8 = 1;
const FORGET: u8 = 2;

/// The length of the fixed header in bytes.
pub(crate) const HEADER_LEN: usize = 90;
/// The byte offset of the position's length in the header.
const POSITION_LEN_OFFSET: usize = 78;
/// The byte offset of the sidecar's length in the header.
const SIDECAR_LEN_OFFSET: usize = HEADER_LEN - 4;
/// The byte offset of the GTID in the header. The GTID is put in last, because it is known last.
const GTID_OFFSET: usize = 6;

/// The facts about a transaction that its commit record holds besides its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitHeader {
    /// Whether the binary log carries the group.
    pub binlogged: bool,
    /// Whether the group is one DDL statement.
    pub ddl: bool,
    /// Whether the binary log has statements, or nothing, in place of some of the group's row
    /// events.
    pub replaced: bool,
    /// The zstd level with which the binary log compresses the group; `None` means no compression.
    pub compression: Option<u8>,
    /// The server id of the server where the transaction was first committed.
    pub server_id: u32,
    /// The transaction's GTID; `None` means an anonymous transaction.
    pub gtid: Option<Gtid>,
    /// The GTID that a MariaDB source gave the transaction.
    pub mariadb_gtid: Option<MariadbGtid>,
    /// The time of the commit on this server, in microseconds of Unix time.
    pub immediate_commit_us: u64,
    /// The time of the commit on the first server, in microseconds of Unix time.
    pub original_commit_us: u64,
    /// The largest `seq` of a commit that the transaction may depend on (`last_committed`, by
    /// COMMIT_ORDER).
    pub depends_lsn: u64,
    /// The version of the server where the transaction was first committed, in the form of a GTID
    /// event (for example 80036).
    pub original_server_version: u32,
    /// The version of the server that commits the transaction here.
    pub immediate_server_version: u32,
}

/// Appends the header, the position and the tag of the GTID. [`set_gtid`] puts the GTID itself in
/// later, because the record's length must be known before the GTID is.
pub(crate) fn put_header(
    out: &mut Vec<u8>,
    header: &CommitHeader,
    tag: Tag,
    position: Option<&PositionUpdate<'_>>,
    (group_len, sidecar_len): (usize, usize),
    spill: Option<&SpillRef>,
) {
    let start = out.len();
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let flags = flag(!header.binlogged, NOT_BINLOGGED)
        | flag(header.ddl, DDL)
        | flag(header.replaced, REPLACED)
        | flag(header.mariadb_gtid.is_some(), HAS_MARIADB_GTID)
        | flag(position.is_some(), HAS_POSITION)
        | flag(spill.is_some(), SPILLED)
        | flag(!tag.is_none(), TAGGED);
    let mariadb = header.mariadb_gtid.unwrap_or(MariadbGtid { domain: 0, server_id: 0, seq: 0 });
    // The fields are put together where their places are known, and appended at once.
    let mut fixed = [0; HEADER_LEN];
    let mut put = |at: usize, bytes: &[u8]| fixed[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[if header.compression.is_some() { VERSION_COMPRESSED } else { VERSION }, flags]);
    put(2, &header.server_id.to_le_bytes());
    put(30, &header.immediate_commit_us.to_le_bytes());
    put(38, &header.original_commit_us.to_le_bytes());
    put(46, &header.depends_lsn.to_le_bytes());
    put(54, &header.original_server_version.to_le_bytes());
    put(58, &header.immediate_server_version.to_le_bytes());
    put(62, &mariadb.domain.to_le_bytes());
    put(66, &mariadb.server_id.to_le_bytes());
    put(70, &mariadb.seq.to_le_bytes());
    put(82, &(group_len as u32).to_le_bytes());
    put(SIDECAR_LEN_OFFSET, &(sidecar_len as u32).to_le_bytes());
    out.extend_from_slice(&fixed);
    if let Some(position) = position {
        out.put_str(position.channel);
        out.put_str(position.source_log_file);
        out.put_u64(position.source_log_pos);
        out.put_str(position.relay_log_file);
        out.put_u64(position.relay_log_pos);
        match position.change {
            ChannelChange::Advance => out.put_u8(ADVANCE),
            ChannelChange::SetMariadbState(state) => {
                out.put_u8(SET_MARIADB_STATE);
                out.put_str(state);
            }
            ChannelChange::Forget => out.put_u8(FORGET),
        }
    }
    let position_len = (out.len() - start - HEADER_LEN) as u32;
    let position_len_at = start + POSITION_LEN_OFFSET;
    out[position_len_at..position_len_at + 4].copy_from_slice(&position_len.to_le_bytes());
    if !tag.is_none() {
        out.put_str(tag.as_str());
    }
    if let Some(level) = header.compression {
        out.put_u8(level);
    }
    if let Some(spill) = spill {
        out.put_u64(spill.number);
        out.put_u32(spill.crc);
    }
}

/// Puts the GTID into a header.
pub(crate) fn set_gtid(header: &mut [u8], gtid: Gtid) {
    header[1] |= HAS_GTID;
    header[GTID_OFFSET..GTID_OFFSET + 16].copy_from_slice(&gtid.tsid.uuid.0);
    header[GTID_OFFSET + 16..GTID_OFFSET + 24].copy_from_slice(&gtid.gno.to_le_bytes());
}

/// Reports whether the record names a spill file. This needs no parse of the record, and a damaged
/// record may get a wrong answer.
pub(crate) fn is_spilled(payload: &[u8]) -> bool {
    payload.get(1).is_some_and(|flags| flags & SPILLED != 0)
}

/// Reports whether the commit changes the replication state. This needs no parse of the record, and
/// a damaged record may get a wrong answer.
pub(crate) fn has_mark(payload: &[u8]) -> bool {
    payload.get(1).is_none_or(|flags| flags & (HAS_GTID | HAS_MARIADB_GTID | HAS_POSITION) != 0)
}

/// Reports whether the commit only changes rows that its event group has as a whole. This needs no
/// parse of the record, and a damaged record may get a wrong answer.
pub(crate) fn is_plain(payload: &[u8]) -> bool {
    payload.get(SIDECAR_LEN_OFFSET..HEADER_LEN).is_some_and(|len| len == [0; 4]) && !is_spilled(payload)
}

/// Reports whether the binary log carries the record's group. This needs no parse of the record,
/// and a damaged record may get a wrong answer.
pub(crate) fn is_binlogged(payload: &[u8]) -> bool {
    payload.get(1).is_none_or(|flags| flags & NOT_BINLOGGED == 0)
}

/// The parts of a commit record.
#[derive(Debug)]
pub(crate) struct CommitRecord<'a> {
    pub header: CommitHeader,
    /// The bytes of the replica position, which [`CommitRecord::position`] parses.
    position: Option<&'a [u8]>,
    /// The event group. It is empty in the record of a spilled commit.
    pub group: &'a [u8],
    /// The sidecar. In the record of a spilled commit it has the section about an XA transaction
    /// and nothing else.
    pub sidecar: &'a [u8],
    /// The file of a spilled commit, which has the group and the rest of the sidecar.
    pub spill: Option<SpillRef>,
}

impl<'a> CommitRecord<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<CommitRecord<'a>> {
        let mut reader = Reader::new(payload, "commit record");
        let fixed: [u8; HEADER_LEN] = reader.array()?;
        let u32_at = |at: usize| u32::from_le_bytes(array_at(&fixed, at));
        let u64_at = |at: usize| u64::from_le_bytes(array_at(&fixed, at));
        let [version, flags] = array_at(&fixed, 0);
        if version != VERSION && version != VERSION_COMPRESSED {
            return Err(reader.impossible("version"));
        }
        let server_id = u32_at(2);
        let (uuid, gno) = (Uuid(array_at(&fixed, GTID_OFFSET)), u64_at(GTID_OFFSET + 16));
        let (immediate_commit_us, original_commit_us, depends_lsn) = (u64_at(30), u64_at(38), u64_at(46));
        let (original_server_version, immediate_server_version) = (u32_at(54), u32_at(58));
        let mariadb = MariadbGtid { domain: u32_at(62), server_id: u32_at(66), seq: u64_at(70) };
        let position_len = u32_at(POSITION_LEN_OFFSET) as usize;
        let (group_len, sidecar_len) = (u32_at(82) as usize, u32_at(SIDECAR_LEN_OFFSET) as usize);
        let position = reader.take(position_len)?;
        let tag = if flags & TAGGED != 0 { read_tag(&mut reader)? } else { Tag::NONE };
        let compression = if version == VERSION_COMPRESSED { Some(reader.u8()?) } else { None };
        let tsid = Tsid { uuid, tag };
        let header = CommitHeader {
            binlogged: flags & NOT_BINLOGGED == 0,
            ddl: flags & DDL != 0,
            replaced: flags & REPLACED != 0,
            compression,
            server_id,
            // Builds that did not check numbers gave numbers out of range when none was left. A
            // transaction with such a number has no GTID.
            gtid: if flags & HAS_GTID != 0 { Gtid::in_range(tsid, gno) } else { None },
            mariadb_gtid: (flags & HAS_MARIADB_GTID != 0).then_some(mariadb),
            immediate_commit_us,
            original_commit_us,
            depends_lsn,
            original_server_version,
            immediate_server_version,
        };
        let position = (flags & HAS_POSITION != 0).then_some(position);
        let record = if flags & SPILLED != 0 {
            let spill = SpillRef {
                number: reader.u64()?,
                crc: reader.u32()?,
                group_len: group_len as u32,
                sidecar_len: sidecar_len as u32,
            };
            CommitRecord { header, position, group: &[], sidecar: reader.rest(), spill: Some(spill) }
        } else {
            let (group, sidecar) = (reader.take(group_len)?, reader.take(sidecar_len)?);
            CommitRecord { header, position, group, sidecar, spill: None }
        };
        if reader.is_empty() { Ok(record) } else { Err(reader.impossible("length")) }
    }

    /// Returns the replica position that came with the commit. [`CommitRecord::parse`] leaves it
    /// unparsed because only recovery asks for it.
    pub fn position(&self) -> Result<Option<PositionMark>> {
        self.position.map(read_position).transpose()
    }

    /// Returns the changes that the commit makes to the replication state.
    pub fn mark(&self) -> Result<CommitMark> {
        let (gtid, mariadb_gtid) = (self.header.gtid, self.header.mariadb_gtid);
        Ok(CommitMark { gtid, mariadb_gtid, position: self.position()? })
    }
}

/// Returns the field of the header at a byte offset.
#[inline]
fn array_at<const N: usize>(header: &[u8; HEADER_LEN], at: usize) -> [u8; N] {
    *header[at..].first_chunk().expect("the fields of the header are within it")
}

fn read_position(bytes: &[u8]) -> Result<PositionMark> {
    let mut reader = Reader::new(bytes, "replica position of a commit record");
    Ok(PositionMark {
        channel: reader.string()?.into(),
        source_log_file: reader.string()?.into(),
        source_log_pos: reader.u64()?,
        relay_log_file: reader.string()?.into(),
        relay_log_pos: reader.u64()?,
        change: match reader.u8()? {
            ADVANCE => ChangeMark::Advance,
            SET_MARIADB_STATE => ChangeMark::SetMariadbState(parse_mariadb_state(&reader.string()?)?),
            FORGET => ChangeMark::Forget,
            _ => return Err(reader.impossible("change of a channel")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::gtid::GNO_MAX;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let tag = Tag::new(b"tag").expect("is a tag");
        let gtid = Gtid::new(Tsid { uuid: Uuid([7; 16]), tag }, 42);
        let header = CommitHeader {
            binlogged: true,
            ddl: false,
            replaced: true,
            compression: Some(22),
            server_id: 3,
            gtid: Some(gtid),
            mariadb_gtid: Some(MariadbGtid { domain: 1, server_id: 2, seq: 3 }),
            immediate_commit_us: 11,
            original_commit_us: 12,
            depends_lsn: 13,
            original_server_version: 80036,
            immediate_server_version: 90700,
        };
        let update = PositionUpdate {
            channel: "",
            source_log_file: "binlog.000001",
            source_log_pos: 157,
            relay_log_file: "relay.000002",
            relay_log_pos: 4,
            change: ChannelChange::SetMariadbState("0-1-5"),
        };
        let mut bytes = Vec::new();
        put_header(&mut bytes, &header, tag, Some(&update), (5, 4), None);
        set_gtid(&mut bytes, gtid);
        bytes.extend_from_slice(b"groupside");
        let record = CommitRecord::parse(&bytes).unwrap();
        assert_eq!(record.header, header);
        assert_eq!((record.group, record.sidecar), (&b"group"[..], &b"side"[..]));
        let position = record.position().unwrap().unwrap();
        assert_eq!((&*position.source_log_file, position.source_log_pos), ("binlog.000001", 157));
        for len in 0..bytes.len() {
            assert!(CommitRecord::parse(&bytes[..len]).is_err());
        }
        // Builds that did not check their numbers wrote such records, and recovery must get past
        // them.
        for gno in [0, GNO_MAX + 1, u64::MAX] {
            set_gtid(&mut bytes, Gtid { gno, ..gtid });
            assert_eq!(CommitRecord::parse(&bytes).unwrap().header.gtid, None, "{gno}");
        }
    }
}
