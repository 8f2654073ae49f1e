//! The channels of a server (multi-source replication). The default channel has an empty name and
//! is always there. Each channel has a source, a relay log, a receiver, an applier, filters and a
//! position of its own.
//!
//! The CHANGE REPLICATION SOURCE that first names a channel makes it, and RESET REPLICA ALL removes
//! it. A setting of the server holds for every channel, and for channels that are made later.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use binlog::gtid::MariadbGtidState;
use engine::Engine;
use os::disk::Disk;
use parking_lot::Mutex;
use sql::admin::{FilterKind, FilterRule, SourceOptions};

use crate::applier::ApplySettings;
use crate::config::{ChannelConfig, Login};
use crate::error::ChannelError;
use crate::filter::{ConfiguredBy, Filters};
use crate::info::{self, Place, Repository};
use crate::replica::{Replica, Threads};
use crate::settings::ReplicaSettings;
use crate::status::ReplicaStatus;

/// The longest name of a channel, in characters.
const LONGEST_NAME: usize = 64;
/// The largest number of channels, which is mysqld's.
const MOST_CHANNELS: usize = 256;

/// The channels of a server, by name.
pub struct Channels {
    engine: Arc<Engine>,
    disk: Arc<dyn Disk>,
    apply: Arc<ApplySettings>,
    /// The setting that channels made later start with.
    parallel_workers: AtomicU64,
    semi_sync: AtomicBool,
    /// Held by the statement that makes or removes a channel, and taken before `shared`.
    naming: Mutex<()>,
    shared: Mutex<Shared>,
}

/// The state that one mutex guards. The mutex is taken before any lock of a channel, and is never
/// held while a thread waits for a channel's threads.
struct Shared {
    /// The settings that channels made later start with.
    settings: ReplicaSettings,
    /// The filters that channels made later start with.
    filters: Filters,
    by_name: BTreeMap<String, Arc<Replica>>,
}

impl Channels {
    /// Opens the default channel and the channels that have a configuration. No thread runs yet.
    ///
    /// # Errors
    /// Returns an error when there are named channels and a repository is a file, and the errors of
    /// reading and writing the channels' files.
    pub fn open(engine: Arc<Engine>, disk: Arc<dyn Disk>, settings: ReplicaSettings) -> io::Result<Channels> {
        let mut names = ChannelConfig::names(&*disk, &settings.datadir)?;
        if !names.is_empty() && [settings.info.connection, settings.info.applier].contains(&Place::File) {
            return Err(io::Error::other(info::files_are_for_one().message));
        }
        names.push(String::new());
        let channels = Channels {
            engine,
            disk,
            apply: Arc::default(),
            parallel_workers: AtomicU64::new(0),
            semi_sync: AtomicBool::new(false),
            naming: Mutex::new(()),
            shared: Mutex::new(Shared { settings, filters: Filters::default(), by_name: BTreeMap::new() }),
        };
        for name in names {
            let channel = channels.open_channel(&name)?;
            channels.shared.lock().by_name.insert(name, Arc::new(channel));
        }
        Ok(channels)
    }

    fn open_channel(&self, name: &str) -> io::Result<Replica> {
        let (settings, filters) = {
            let shared = self.shared.lock();
            (shared.settings.clone(), shared.filters.clone())
        };
        let apply = self.apply.clone();
        let channel = Replica::open_channel(self.engine.clone(), self.disk.clone(), settings, name, apply)?;
        channel.set_parallel_workers(self.parallel_workers.load(Ordering::Relaxed));
        channel.set_semi_sync(self.semi_sync.load(Ordering::Relaxed));
        channel.inherit_filters(filters);
        Ok(channel)
    }

    /// Returns all channels by name, the default one first.
    pub fn all(&self) -> Vec<Arc<Replica>> {
        self.shared.lock().by_name.values().cloned().collect()
    }

    /// Returns the channel of this name, in any letter case.
    ///
    /// # Errors
    /// Returns 3074 (`ER_REPLICA_CHANNEL_DOES_NOT_EXIST`) when no channel has this name.
    pub fn channel(&self, name: &str) -> Result<Arc<Replica>, ChannelError> {
        self.shared.lock().by_name.get(&name.to_lowercase()).cloned().ok_or_else(|| {
            ChannelError::new(3074, "HY000", format!("Replica channel '{name}' does not exist."))
        })
    }

    /// Returns the default channel.
    pub fn default_channel(&self) -> Arc<Replica> {
        self.channel("").expect("the default channel is always there")
    }

    /// Returns the channel that a statement is about: the one that it names, or the only one.
    ///
    /// # Errors
    /// Returns 3079 (`ER_REPLICA_MULTIPLE_CHANNELS_CMD`) when the statement names none and there
    /// are several, and the error of [`Channels::channel`].
    pub fn one(&self, name: Option<&str>) -> Result<Arc<Replica>, ChannelError> {
        match name {
            Some(name) => self.channel(name),
            None if self.shared.lock().by_name.len() > 1 => Err(ChannelError::new(
                3079,
                "HY000",
                "Multiple channels exist on the replica. Please provide channel name as an argument.",
            )),
            None => Ok(self.default_channel()),
        }
    }

    /// Returns the channels that a statement is about: the one that it names, or all.
    pub fn named_or_all(&self, name: Option<&str>) -> Result<Vec<Arc<Replica>>, ChannelError> {
        match name {
            Some(name) => self.channel(name).map(|channel| vec![channel]),
            None => Ok(self.all()),
        }
    }

    /// Returns the rows of SHOW REPLICA STATUS, one for every channel that has a source.
    pub fn statuses(&self) -> Vec<ReplicaStatus> {
        self.all().iter().filter_map(|channel| channel.status()).collect()
    }

    /// Carries out CHANGE REPLICATION SOURCE TO, and makes the channel if its name is new.
    pub fn change_source(
        &self,
        options: &SourceOptions,
        asked_for: Option<&str>,
    ) -> Result<(), ChannelError> {
        let _naming = self.naming.lock();
        let name = asked_for.map(str::to_lowercase);
        let Some(name) = name.filter(|name| self.channel(name).is_err()) else {
            return self.one(asked_for)?.change_source(options);
        };
        if name.chars().count() > LONGEST_NAME {
            let text = "Couldn't create channel: Channel name is either invalid or too long.";
            return Err(ChannelError::new(3076, "HY000", text));
        }
        if self.shared.lock().by_name.len() >= MOST_CHANNELS {
            return Err(ChannelError::new(
                3080,
                "HY000",
                "Maximum number of replication channels allowed exceeded.",
            ));
        }
        if Repository::ALL.iter().any(|repository| self.repository(*repository) == Place::File) {
            return Err(info::files_are_for_one());
        }
        let failed = |error: io::Error| {
            let text = format!("Replica failed to initialize connection metadata structure: {error}");
            ChannelError::new(1871, "HY000", text)
        };
        let channel = self.open_channel(&name).map_err(failed)?;
        channel.change_source(options)?;
        self.shared.lock().by_name.insert(name, Arc::new(channel));
        Ok(())
    }

    /// Carries out START REPLICA for every channel that has a source.
    pub fn start_all(&self, threads: Threads, login: Option<&Login>) -> Result<(), ChannelError> {
        let configured: Vec<_> = self.all().into_iter().filter(|channel| channel.is_configured()).collect();
        if configured.is_empty() {
            return self.default_channel().start_as(threads, None, login);
        }
        configured.iter().try_for_each(|channel| channel.start_as(threads, None, login))
    }

    /// Carries out STOP REPLICA for every channel.
    pub fn stop_all(&self, threads: Threads) {
        self.all().iter().for_each(|channel| channel.stop(threads));
    }

    /// Carries out `RESET REPLICA [ALL]` for the named channel, or for all channels. ALL removes
    /// named channels.
    pub fn reset(&self, all: bool, name: Option<&str>) -> Result<(), ChannelError> {
        let _naming = self.naming.lock();
        for channel in self.named_or_all(name)? {
            channel.reset(all)?;
            if all && !channel.name().is_empty() {
                self.shared.lock().by_name.remove(channel.name());
                channel.remove().map_err(|error| {
                    let text = format!("Couldn't remove the files of channel '{}': {error}", channel.name());
                    ChannelError::new(3078, "HY000", text)
                })?;
            }
        }
        Ok(())
    }

    /// Carries out CHANGE REPLICATION FILTER. Without a name it changes all channels, and channels
    /// made later.
    pub fn change_filters(
        &self,
        changes: &[(FilterKind, Vec<FilterRule>)],
        name: Option<&str>,
    ) -> Result<(), ChannelError> {
        if let Some(name) = name {
            return self
                .channel(name)?
                .change_filters(changes, ConfiguredBy::ChangeReplicationFilterForChannel);
        }
        self.all().iter().try_for_each(|channel| channel.refuse_while_applying())?;
        self.set_filters(changes, ConfiguredBy::ChangeReplicationFilter)
    }

    /// Sets the filters that the server is started with.
    pub fn set_startup_filters(&self, lists: &[(FilterKind, Vec<FilterRule>)]) -> Result<(), ChannelError> {
        self.set_filters(lists, ConfiguredBy::StartupOptions)
    }

    fn set_filters(
        &self,
        changes: &[(FilterKind, Vec<FilterRule>)],
        by: ConfiguredBy,
    ) -> Result<(), ChannelError> {
        {
            let mut shared = self.shared.lock();
            shared.filters = shared.filters.changed(changes, by)?;
        }
        self.all().iter().try_for_each(|channel| channel.change_filters(changes, by))
    }

    /// Returns the filters that a new channel gets.
    pub fn global_filters(&self) -> Filters {
        self.shared.lock().filters.clone()
    }

    /// Sets `replica_parallel_workers`, the number of threads of each channel that apply
    /// transactions.
    pub fn set_parallel_workers(&self, workers: u64) {
        self.parallel_workers.store(workers, Ordering::Relaxed);
        self.all().iter().for_each(|channel| channel.set_parallel_workers(workers));
    }

    /// Sets `rpl_semi_sync_replica_enabled`: whether later connections acknowledge what they have
    /// received.
    pub fn set_semi_sync(&self, enabled: bool) {
        self.semi_sync.store(enabled, Ordering::Relaxed);
        self.all().iter().for_each(|channel| channel.set_semi_sync(enabled));
    }

    /// Reports whether a connection acknowledges what it has received
    /// (`Rpl_semi_sync_replica_status`).
    pub fn is_semi_sync(&self) -> bool {
        self.all().iter().any(|channel| channel.is_semi_sync())
    }

    /// Sets `relay_log_purge`.
    pub fn set_relay_log_purge(&self, purge: bool) {
        self.shared.lock().settings.relay.purge = purge;
        self.all().iter().for_each(|channel| channel.relay_log().set_purge(purge));
    }

    /// Sets the size in bytes at which a relay log file ends: `max_relay_log_size`, or
    /// `max_binlog_size` where that is 0.
    pub fn set_max_relay_log_bytes(&self, bytes: u64) {
        self.shared.lock().settings.relay.max_file_bytes = bytes;
        self.all().iter().for_each(|channel| channel.relay_log().set_max_file_bytes(bytes));
    }

    /// Returns the place of a repository, which is the same for all channels.
    pub fn repository(&self, repository: Repository) -> Place {
        self.default_channel().repository(repository)
    }

    /// Sets `master_info_repository` or `relay_log_info_repository`, which is possible only while
    /// no thread runs and there is no named channel.
    pub fn set_repository(&self, repository: Repository, place: Place) -> Result<(), ChannelError> {
        let _naming = self.naming.lock();
        if place != self.repository(repository) && self.shared.lock().by_name.len() > 1 {
            return Err(info::not_moved(
                &"Repository conversion is possible when only default channel exists",
            ));
        }
        self.default_channel().set_repository(repository, place)
    }

    /// Sets `sql_replica_skip_counter`, in events, which is possible only while no applier runs.
    pub fn set_skip_counter(&self, events: u64) -> Result<(), ChannelError> {
        self.all().iter().try_for_each(|channel| channel.set_skip_counter(events))
    }

    /// Sets `replica_net_timeout`, which the next connection of each channel has.
    pub fn set_net_timeout(&self, seconds: u32) {
        self.shared.lock().settings.net_timeout_s.store(seconds, Ordering::Relaxed);
    }

    /// Returns the system variables that say how transactions are applied.
    pub fn apply_settings(&self) -> &ApplySettings {
        &self.apply
    }

    /// Returns MariaDB's `gtid_slave_pos`, which joins the positions of all channels.
    pub fn gtid_slave_pos(&self) -> String {
        let mut all = MariadbGtidState::default();
        for channel in self.all() {
            channel.mariadb_position().iter().for_each(|gtid| all.update(gtid));
        }
        all.to_string()
    }

    /// Sets MariaDB's `gtid_slave_pos`: the GTIDs that no MariaDB source need send, on whichever
    /// channel.
    pub fn set_gtid_slave_pos(&self, position: &str) -> Result<(), ChannelError> {
        self.all().iter().try_for_each(|channel| channel.set_gtid_slave_pos(position))
    }
}
