//! The replication state that travels in commit records: executed GTIDs and the positions of
//! channels.

use crate::bytes::{Put, Reader};
use crate::error::{EngineError, Result};
use binlog::gtid::{Gtid, GtidSet, MariadbGtid, MariadbGtidState, Tag, Tsid, Uuid};
use std::sync::Arc;

/// How far a channel has applied its source's binary log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaPosition {
    /// The binary log file of the source.
    pub source_log_file: String,
    /// The byte offset in `source_log_file` just after the last applied transaction.
    pub source_log_pos: u64,
    /// The base name of the relay log file that the last applied transaction was read from.
    pub relay_log_file: String,
    /// The byte offset in `relay_log_file` just after that transaction.
    pub relay_log_pos: u64,
    /// For a MariaDB source, the last applied GTID of each domain, in MariaDB's text form.
    pub mariadb_gtid_state: String,
}

/// The position at which a transaction leaves its channel.
#[derive(Clone, Copy, Debug)]
pub struct PositionUpdate<'a> {
    /// The name of the channel; empty for the default one.
    pub channel: &'a str,
    /// The binary log file of the source.
    pub source_log_file: &'a str,
    /// The byte offset in `source_log_file` just after the transaction.
    pub source_log_pos: u64,
    /// The base name of the relay log file.
    pub relay_log_file: &'a str,
    /// The byte offset in `relay_log_file` just after the transaction.
    pub relay_log_pos: u64,
    /// A change of the channel in addition to the new position.
    pub change: ChannelChange<'a>,
}

/// A change of a channel outside the ordinary advance by its transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelChange<'a> {
    /// No change except the new position.
    #[default]
    Advance,
    /// The MariaDB GTID state is set to this, in MariaDB's text form (`CHANGE REPLICATION SOURCE
    /// TO`).
    SetMariadbState(&'a str),
    /// The channel is forgotten (`RESET REPLICA ALL`).
    Forget,
}

/// A [`ChannelChange`] as a commit in flight holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChangeMark {
    #[default]
    Advance,
    SetMariadbState(MariadbGtidState),
    Forget,
}

/// A [`PositionUpdate`] as a commit in flight holds it.
#[derive(Clone, Debug)]
pub(crate) struct PositionMark {
    pub channel: Arc<str>,
    pub source_log_file: Arc<str>,
    pub source_log_pos: u64,
    pub relay_log_file: Arc<str>,
    pub relay_log_pos: u64,
    pub change: ChangeMark,
}

/// The changes that a commit makes to the replication state once it is visible.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitMark {
    pub gtid: Option<Gtid>,
    pub mariadb_gtid: Option<MariadbGtid>,
    pub position: Option<PositionMark>,
}

/// The value of a mark's first byte in a checkpoint when a GTID with a tag follows. 0 means no
/// GTID, 1 a GTID without a tag.
const TAGGED: u8 = 2;

impl CommitMark {
    /// Appends the mark, for the checkpoint's list of spilled commits. The position's change must
    /// be `Advance`: commits that change a channel in another way have no rows and do not spill.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let tag = self.gtid.map_or(Tag::NONE, |gtid| gtid.tsid.tag);
        out.put_u8(if tag.is_none() { u8::from(self.gtid.is_some()) } else { TAGGED });
        if let Some(gtid) = self.gtid {
            out.extend_from_slice(&gtid.tsid.uuid.0);
            out.put_u64(gtid.gno);
        }
        if !tag.is_none() {
            out.put_str(tag.as_str());
        }
        out.put_bool(self.mariadb_gtid.is_some());
        if let Some(gtid) = self.mariadb_gtid {
            out.put_u32(gtid.domain);
            out.put_u32(gtid.server_id);
            out.put_u64(gtid.seq);
        }
        out.put_bool(self.position.is_some());
        if let Some(position) = &self.position {
            assert_eq!(position.change, ChangeMark::Advance, "a spilled commit advances its channel");
            out.put_str(&position.channel);
            out.put_str(&position.source_log_file);
            out.put_u64(position.source_log_pos);
            out.put_str(&position.relay_log_file);
            out.put_u64(position.relay_log_pos);
        }
    }

    /// Reads what [`CommitMark::encode`] wrote. Without `whole` the bytes hold a GTID at most.
    pub fn decode(reader: &mut Reader<'_>, whole: bool) -> Result<CommitMark> {
        let mut mark = CommitMark::default();
        let kind = reader.u8()?;
        if kind != 0 {
            let uuid = Uuid(reader.take(16)?.try_into().expect("sixteen were taken"));
            let gno = reader.u64()?;
            let tag = if kind == TAGGED { read_tag(reader)? } else { Tag::NONE };
            mark.gtid = Gtid::in_range(Tsid { uuid, tag }, gno);
        }
        if whole && reader.bool()? {
            let (domain, server_id, seq) = (reader.u32()?, reader.u32()?, reader.u64()?);
            mark.mariadb_gtid = Some(MariadbGtid { domain, server_id, seq });
        }
        if whole && reader.bool()? {
            mark.position = Some(PositionMark {
                channel: reader.string()?.into(),
                source_log_file: reader.string()?.into(),
                source_log_pos: reader.u64()?,
                relay_log_file: reader.string()?.into(),
                relay_log_pos: reader.u64()?,
                change: ChangeMark::Advance,
            });
        }
        Ok(mark)
    }
}

struct Channel {
    name: Arc<str>,
    source_log_file: Arc<str>,
    source_log_pos: u64,
    relay_log_file: Arc<str>,
    relay_log_pos: u64,
    mariadb: MariadbGtidState,
}

/// The executed and purged GTIDs, and the position of every channel.
#[derive(Default)]
pub(crate) struct ReplicationState {
    pub executed: GtidSet,
    pub purged: GtidSet,
    channels: Vec<Channel>,
    /// The last MariaDB GTID of each domain, of commits that name no channel (`gtid_binlog_pos`).
    mariadb: MariadbGtidState,
}

/// Parses a MariaDB GTID state from its text.
pub(crate) fn parse_mariadb_state(text: &str) -> Result<MariadbGtidState> {
    text.parse().map_err(|_| EngineError::GtidUnusable(format!("Could not parse GTID list '{text}'")))
}

impl ReplicationState {
    /// Returns the index of the channel with this name, which is made if it is new.
    fn channel(&mut self, name: &str) -> usize {
        if let Some(at) = self.channels.iter().position(|channel| *channel.name == *name) {
            return at;
        }
        let empty: Arc<str> = "".into();
        self.channels.push(Channel {
            name: name.into(),
            source_log_file: empty.clone(),
            source_log_pos: 0,
            relay_log_file: empty,
            relay_log_pos: 0,
            mariadb: MariadbGtidState::default(),
        });
        self.channels.len() - 1
    }

    /// Copies an update into a form that a commit in flight can hold. Names that have not changed
    /// are shared, not copied.
    pub fn mark(&mut self, update: &PositionUpdate<'_>) -> PositionMark {
        let at = self.channel(update.channel);
        let channel = &mut self.channels[at];
        PositionMark {
            channel: channel.name.clone(),
            source_log_file: if *channel.source_log_file == *update.source_log_file {
                channel.source_log_file.clone()
            } else {
                update.source_log_file.into()
            },
            source_log_pos: update.source_log_pos,
            relay_log_file: if *channel.relay_log_file == *update.relay_log_file {
                channel.relay_log_file.clone()
            } else {
                update.relay_log_file.into()
            },
            relay_log_pos: update.relay_log_pos,
            change: match update.change {
                ChannelChange::Advance => ChangeMark::Advance,
                ChannelChange::Forget => ChangeMark::Forget,
                ChannelChange::SetMariadbState(state) => {
                    ChangeMark::SetMariadbState(state.parse().unwrap_or_default())
                }
            },
        }
    }

    /// Applies the changes of a commit. It is idempotent, and is called in commit order at run time
    /// and in recovery.
    pub fn advance(&mut self, mark: CommitMark) {
        if let Some(gtid) = mark.gtid {
            self.executed.add(gtid);
        }
        let Some(position) = mark.position else {
            if let Some(gtid) = mark.mariadb_gtid {
                self.mariadb.update(gtid);
            }
            return;
        };
        if position.change == ChangeMark::Forget {
            self.channels.retain(|channel| channel.name != position.channel);
            return;
        }
        // The mark has the channel's own name, unless the channel was forgotten meanwhile.
        let its = |channel: &Channel| Arc::ptr_eq(&channel.name, &position.channel);
        let known = self.channels.iter().position(its);
        let at = known.unwrap_or_else(|| self.channel(&position.channel));
        let channel = &mut self.channels[at];
        if let ChangeMark::SetMariadbState(state) = position.change {
            channel.mariadb = state;
        }
        channel.source_log_file = position.source_log_file;
        channel.source_log_pos = position.source_log_pos;
        channel.relay_log_file = position.relay_log_file;
        channel.relay_log_pos = position.relay_log_pos;
        if let Some(gtid) = mark.mariadb_gtid {
            channel.mariadb.update(gtid);
        }
    }

    pub fn position(&self, channel: &str) -> Option<ReplicaPosition> {
        let channel = self.channels.iter().find(|held| *held.name == *channel)?;
        Some(ReplicaPosition {
            source_log_file: channel.source_log_file.to_string(),
            source_log_pos: channel.source_log_pos,
            relay_log_file: channel.relay_log_file.to_string(),
            relay_log_pos: channel.relay_log_pos,
            mariadb_gtid_state: channel.mariadb.to_string(),
        })
    }

    /// Sets a channel's position while the checkpoint state is read.
    fn set_position(&mut self, name: &str, position: &ReplicaPosition) -> Result<()> {
        let mariadb = parse_mariadb_state(&position.mariadb_gtid_state)?;
        let at = self.channel(name);
        let channel = &mut self.channels[at];
        channel.source_log_file = position.source_log_file.as_str().into();
        channel.relay_log_file = position.relay_log_file.as_str().into();
        channel.source_log_pos = position.source_log_pos;
        channel.relay_log_pos = position.relay_log_pos;
        channel.mariadb = mariadb;
        Ok(())
    }

    /// Appends the whole state, for the checkpoint.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_str(&self.executed.to_string());
        out.put_str(&self.purged.to_string());
        out.put_str(&self.mariadb.to_string());
        out.put_varint(self.channels.len() as u64);
        for channel in &self.channels {
            out.put_str(&channel.name);
            out.put_str(&channel.source_log_file);
            out.put_u64(channel.source_log_pos);
            out.put_str(&channel.relay_log_file);
            out.put_u64(channel.relay_log_pos);
            out.put_str(&channel.mariadb.to_string());
        }
    }

    /// Reads what [`ReplicationState::encode`] wrote.
    pub fn decode(reader: &mut Reader<'_>) -> Result<ReplicationState> {
        let bad = |reader: &Reader<'_>| reader.impossible("GTID set");
        let mut state = ReplicationState {
            executed: reader.string()?.parse().map_err(|_| bad(reader))?,
            purged: reader.string()?.parse().map_err(|_| bad(reader))?,
            mariadb: reader.string()?.parse().map_err(|_| bad(reader))?,
            channels: Vec::new(),
        };
        for _ in 0..reader.count()? {
            let name = reader.string()?;
            let position = ReplicaPosition {
                source_log_file: reader.string()?,
                source_log_pos: reader.u64()?,
                relay_log_file: reader.string()?,
                relay_log_pos: reader.u64()?,
                mariadb_gtid_state: reader.string()?,
            };
            state.set_position(&name, &position)?;
        }
        Ok(state)
    }
}

/// Reads the tag of a GTID.
pub(crate) fn read_tag(reader: &mut Reader<'_>) -> Result<Tag> {
    Tag::new(reader.string()?.as_bytes()).ok_or_else(|| reader.impossible("tag of a GTID"))
}
