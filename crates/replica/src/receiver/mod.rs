//! The receiver: one thread that connects to the source, requests its log, checks every event and
//! appends it to the relay log.
//!
//! It resumes where the last *complete* event group in the relay log ended. A group that a lost
//! connection cut is sent again from its start, and the applier drops the first part when it meets
//! the artificial rotate event that begins every connection. So nothing is applied twice and
//! nothing is left out, with every kind of position.

mod connection;
mod feed;
mod handshake;
mod security;
mod state;
mod stored;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use os::clock::Stopwatch;

use crate::channel::Channel;
use crate::config::ChannelConfig;
use crate::error::ThreadError;
use crate::status::Running;

use connection::{Ended, Reached, has_connected};
pub use feed::Feed;
pub use state::{Received, ReceiverState};

/// Runs the receiver; it is the body of its thread. It returns when it has to stop or cannot go on,
/// and leaves the reason in the channel's state.
pub fn run(channel: &Arc<Channel>) {
    log::info!("Replica receiver thread started");
    let ended = os::panic::contain(|| receive(channel));
    let ended = ended.unwrap_or_else(|panic| Err(ThreadError::panicked(&panic)));
    let mut state = channel.receiver.lock();
    state.running = Running::No;
    state.io_state.clear();
    state.connection = None;
    if let Err(error) = ended {
        log::error!("Replica I/O for channel '{}': {error}", channel.name);
        state.error = Some(error);
    }
    drop(state);
    log::info!("Replica receiver thread exiting");
    channel.receiver_changed.notify_all();
}

fn receive(channel: &Arc<Channel>) -> Result<(), ThreadError> {
    let mut failures: u64 = 0;
    let mut losses = Losses::default();
    loop {
        if channel.receiver_must_stop() {
            return Ok(());
        }
        let mut config = channel.config.lock().clone();
        if let Some(login) = channel.receiver.lock().login.clone() {
            (config.user, config.password) = (login.user, login.password);
        }
        set_state(channel, Running::Connecting, "Connecting to source");
        let mut reached = Reached::default();
        let (number, message) = match connect_and_stream(channel, &config, &mut reached) {
            Ended::Stopped => return Ok(()),
            Ended::Fatal(error) => return Err(error),
            Ended::Lost(number, message) => (number, message),
        };
        if channel.receiver_must_stop() {
            return Ok(());
        }
        let interval = Duration::from_secs(config.connect_retry_s.into());
        if let Some(streamed) = reached.stream {
            failures = 0;
            log::warn!("Replica I/O for channel '{}': {message}; reconnecting", channel.name);
            let was_of_use = reached.news || streamed.elapsed() >= interval;
            match losses.note(was_of_use, config.retry_count) {
                Next::AtOnce => {
                    set_state(channel, Running::Connecting, "Reconnecting after a failed source event read");
                    continue;
                }
                Next::Later => {}
                Next::Never => {
                    let name = &channel.name;
                    log::error!("Replica I/O for channel '{name}': giving up after {} tries", losses.count);
                    return Ok(());
                }
            }
            let waiting = "Waiting to reconnect after a failed source event read";
            set_state(channel, Running::Connecting, waiting);
            if channel.wait_unless_stopped(interval) {
                return Ok(());
            }
            continue;
        }
        failures += 1;
        let error = connect_error(&config, failures, number, &message);
        log::warn!("Replica I/O for channel '{}': {error}", channel.name);
        channel.receiver.lock().error = Some(error.clone());
        if gives_up(failures, config.retry_count) {
            return Err(error);
        }
        if channel.wait_unless_stopped(interval) {
            return Ok(());
        }
    }
}

/// The time of the next connection.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    AtOnce,
    /// The next connection is made after `SOURCE_CONNECT_RETRY` seconds.
    Later,
    Never,
}

/// Counts the connections lost one after the other that were of no use. As in MySQL, the first
/// attempt after a useful connection comes at once, and further ones each after
/// `SOURCE_CONNECT_RETRY` seconds, at most `SOURCE_RETRY_COUNT` of them. So a source that closes
/// every connection is not asked over and over without a pause. In MySQL any event makes a
/// connection useful. Here it takes an event with which not every connection begins, or a
/// connection that lasted for `SOURCE_CONNECT_RETRY` seconds.
#[derive(Default)]
struct Losses {
    count: u64,
}

impl Losses {
    fn note(&mut self, was_of_use: bool, retry_count: u64) -> Next {
        self.count = if was_of_use { 1 } else { self.count + 1 };
        match self.count {
            1 => Next::AtOnce,
            count if retry_count != 0 && count > retry_count => Next::Never,
            _ => Next::Later,
        }
    }
}

/// Reports whether `SOURCE_RETRY_COUNT` is reached, where 0 means no limit.
fn gives_up(failures: u64, retry_count: u64) -> bool {
    retry_count != 0 && failures >= retry_count
}

fn connect_error(config: &ChannelConfig, attempt: u64, number: u32, message: &str) -> ThreadError {
    ThreadError::now(
        number,
        format!(
            "Error connecting to source '{}@{}:{}'. This was attempt {}/{}, with a delay of {} seconds between attempts. Message: {}",
            config.user,
            config.host,
            config.port,
            attempt,
            config.retry_count,
            config.connect_retry_s,
            message
        ),
    )
}

/// Makes one connection and receives from it until it ends.
fn connect_and_stream(channel: &Arc<Channel>, config: &ChannelConfig, reached: &mut Reached) -> Ended {
    if config.follows_store() {
        return stored::follow(channel, config, reached);
    }
    let mut client = match handshake::connect(channel, config) {
        Ok(client) => client,
        Err(ended) => return ended,
    };
    let source = match handshake::introduce(channel, config, &mut client) {
        Ok(source) => source,
        Err(ended) => return ended,
    };
    if let Err(ended) = handshake::request_dump(channel, config, &source, &mut client) {
        return ended;
    }
    reached.stream = Some(Stopwatch::start());
    has_connected(channel);
    log::info!(
        "Replica receiver thread for channel '{}': connected to source '{}@{}:{}' with server_uuid={}, server_id={}.",
        channel.name,
        config.user,
        config.host,
        config.port,
        source.uuid,
        source.server_id
    );
    stream::follow(channel, &source, &mut client, &mut reached.news)
}

fn set_state(channel: &Channel, running: Running, text: &str) {
    let mut state = channel.receiver.lock();
    state.running = running;
    state.io_state = text.to_string();
}

#[cfg(test)]
mod tests {
    use super::{Losses, Next, gives_up};

    #[test]
    fn a_retry_count_of_zero_is_no_limit() {
        assert!(gives_up(1, 1) && !gives_up(1, 2) && gives_up(2, 2));
        assert!(!gives_up(1, 0) && !gives_up(u64::MAX, 0));
    }

    #[test]
    fn a_source_that_closes_at_once_is_not_asked_without_a_pause() {
        let mut losses = Losses::default();
        let mut next = |was_of_use| losses.note(was_of_use, 3);
        assert_eq!(
            [false; 5].map(&mut next),
            [Next::AtOnce, Next::Later, Next::Later, Next::Never, Next::Never]
        );
        assert_eq!(
            [true, true, false, false].map(next),
            [Next::AtOnce, Next::AtOnce, Next::Later, Next::Later]
        );
        let mut endless = Losses::default();
        assert!((0..100).all(|_| endless.note(false, 0) != Next::Never));
    }
}
