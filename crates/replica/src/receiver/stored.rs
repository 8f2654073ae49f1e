//! Reception from a store in place of a connection to the source. The relay log gets the events as
//! if the source had sent them, so the applier, the positions and GTIDs are the same, and the
//! channel can go over to the source itself at any time.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use os::clock::Stopwatch;

use super::connection::{Ended, Reached, has_connected};
use super::feed::Feed;
use super::handshake::equal_server_ids;
use crate::channel::Channel;
use crate::config::ChannelConfig;
use crate::error::{ThreadError, number};
use crate::event::{self, kind};
use crate::stores::{StoredBegin, StoredError, StoredLog, StoredPiece, StoredRequest};

/// How often the store is asked for more. The log is shipped about as often.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// Opens the store and receives from it until the store cannot be read or the receiver has to stop.
pub(super) fn follow(channel: &Arc<Channel>, config: &ChannelConfig, reached: &mut Reached) -> Ended {
    let mut log = match open(channel, config) {
        Ok(log) => log,
        Err(ended) => return ended,
    };
    reached.stream = Some(Stopwatch::start());
    {
        let mut state = channel.receiver.lock();
        state.source_uuid = log.server_uuid().to_owned();
        state.semi_sync = false;
        state.clock_skew_us = 0;
    }
    has_connected(channel);
    log::info!(
        "Replica receiver thread for channel '{}': following the log of the server {} in {}",
        channel.name,
        log.server_uuid(),
        config.host
    );
    match receive(channel, &mut *log, reached) {
        Ok(()) => Ended::Stopped,
        Err(ended) => ended,
    }
}

fn open(channel: &Channel, config: &ChannelConfig) -> Result<Box<dyn StoredLog>, Ended> {
    let Some(stores) = &channel.settings.stores.0 else {
        return Err(unreadable("this server reads no stores".to_owned()));
    };
    let begin = match config.auto_position {
        true => StoredBegin::Gtids(channel.executed_and_received()),
        false => {
            let (file, pos) = channel.resume_position();
            if file.is_empty() {
                let what = "SOURCE_AUTO_POSITION=1, or a file and a position, must say where the log begins";
                return Err(unreadable(format!("{}: {what}", config.host)));
            }
            StoredBegin::Place(file, pos)
        }
    };
    let datadir = &channel.settings.datadir;
    let key_file = datadir.join(&config.ssl_key);
    let request = StoredRequest {
        url: &config.host,
        key_file: Some(&*key_file).filter(|_| !config.ssl_key.is_empty()),
        begin,
        scratch: datadir.join(Path::new(&format!("{}.segment", channel.settings.relay.basename))),
    };
    stores.open(request).map_err(ended_by)
}

fn ended_by(error: StoredError) -> Ended {
    match error {
        StoredError::Passing(text) => Ended::lost(text),
        StoredError::Final(text) => unreadable(text),
    }
}

fn unreadable(what: String) -> Ended {
    let text = format!("Got fatal error 1236 from source when reading data from binary log: '{what}'");
    Ended::Fatal(ThreadError::now(number::SOURCE_FATAL_ERROR_READING_BINLOG, text))
}

/// Receives until the receiver has to stop.
fn receive(channel: &Arc<Channel>, log: &mut dyn StoredLog, reached: &mut Reached) -> Result<(), Ended> {
    let mut feed = Feed::begin(channel).map_err(Ended::Fatal)?;
    loop {
        let mut failed = None;
        let read = log.read_new(&mut |piece| match take(channel, &mut feed, piece, reached) {
            Ok(()) => ControlFlow::Continue(()),
            Err(ended) => {
                failed = Some(ended);
                ControlFlow::Break(())
            }
        });
        feed.publish().map_err(Ended::Fatal)?;
        match (failed, read) {
            (Some(ended), _) => return Err(ended),
            (None, read) => read.map_err(ended_by)?,
        }
        channel.heard_from_source();
        if channel.wait_unless_stopped(LOOK_INTERVAL) {
            return Ok(());
        }
    }
}

fn take(
    channel: &Channel,
    feed: &mut Feed<'_>,
    piece: StoredPiece<'_>,
    reached: &mut Reached,
) -> Result<(), Ended> {
    if channel.receiver_must_stop() {
        return Err(Ended::Stopped);
    }
    match piece {
        StoredPiece::File(name, pos) => feed.file(name, pos).map_err(Ended::Fatal),
        StoredPiece::Event(event) => {
            if !event::is_whole(event) {
                return Err(unreadable("an event's length is wrong".to_owned()));
            }
            if event::kind_of(event) == kind::FORMAT_DESCRIPTION {
                introduce(channel, event::server_id(event))?;
            } else {
                reached.news = true;
            }
            feed.take(event)
        }
    }
}

/// Notes the source's server id, which each of its files begins with.
fn introduce(channel: &Channel, server_id: u32) -> Result<(), Ended> {
    if server_id == channel.settings.server_id {
        return Err(equal_server_ids());
    }
    channel.receiver.lock().source_server_id = server_id;
    Ok(())
}
