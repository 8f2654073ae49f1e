//! One replication channel, as statements start, stop, change and show it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use binlog::gtid::MariadbGtidState;
use engine::Engine;
use os::disk::Disk;
use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex};
use sql::admin::{FilterKind, FilterRule, SourceOptions, Until};

use crate::applier::{self, ApplySettings, Reached};
use crate::channel::Channel;
use crate::config::{ChannelConfig, Login};
use crate::error::{ChannelError, ThreadError};
use crate::filter::{ConfiguredBy, Filters};
use crate::info::{self, InfoFiles, Place, Repository};
use crate::receiver::{self, Feed, Received};
use crate::relay::RelayLog;
use crate::settings::ReplicaSettings;
use crate::status::{ReplicaStatus, Running};
use crate::times::CommitTimes;
use crate::until::UntilCondition;

/// The threads of a channel that a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// True for the receiver (`IO_THREAD`).
    pub receiver: bool,
    /// True for the applier (`SQL_THREAD`).
    pub applier: bool,
}

impl Threads {
    /// Both threads.
    pub const BOTH: Threads = Threads { receiver: true, applier: true };
}

/// A replication channel.
pub struct Replica {
    pub(crate) channel: Arc<Channel>,
    /// Held by every statement that starts, stops or changes something, and taken before any of the
    /// channel's locks.
    handles: Mutex<Handles>,
}

#[derive(Default)]
struct Handles {
    receiver: Option<JoinHandle<()>>,
    applier: Option<JoinHandle<()>>,
    /// The thread that writes the repositories' files. It runs from the time when there first was
    /// one.
    info: Option<JoinHandle<()>>,
}

impl Replica {
    /// Opens the default channel without other channels around it.
    pub fn open(engine: Arc<Engine>, disk: Arc<dyn Disk>, settings: ReplicaSettings) -> io::Result<Replica> {
        Replica::open_channel(engine, disk, settings, "", Arc::default())
    }

    /// Reads the channel's configuration and starts its relay log anew. No thread runs yet.
    pub(crate) fn open_channel(
        engine: Arc<Engine>,
        disk: Arc<dyn Disk>,
        mut settings: ReplicaSettings,
        name: &str,
        apply: Arc<ApplySettings>,
    ) -> io::Result<Replica> {
        // A new channel may have the name of a removed one. The clock as its first epoch makes sure
        // that no position of the removed channel is taken for its own.
        let position_epoch = if name.is_empty() { 1 } else { os::clock::now_us() };
        let config = ChannelConfig::load(&*disk, &settings.datadir, name)?
            .unwrap_or_else(|| ChannelConfig { position_epoch, ..ChannelConfig::default() });
        settings.relay = settings.relay.of_channel(name);
        let relay = RelayLog::start_anew(disk.clone(), &settings.datadir, settings.relay.clone())?;
        let info = match name {
            "" => Some(Arc::new(InfoFiles::new(disk.clone(), &settings.datadir, &settings.info)?)),
            _ => None,
        };
        let channel = Channel {
            name: name.to_string(),
            engine,
            disk,
            settings,
            config: Mutex::new(config),
            relay,
            receiver: Mutex::default(),
            receiver_changed: Condvar::new(),
            applier: Mutex::default(),
            applier_changed: Condvar::new(),
            applier_stop: Arc::default(),
            reached: Reached::default(),
            times: CommitTimes::default(),
            applied_transactions: AtomicU64::new(0),
            apply,
            parallel_workers: AtomicU64::new(0),
            semi_sync: AtomicBool::new(false),
            filters: Mutex::default(),
            temporary: Arc::default(),
            info,
        };
        let replica = Replica { channel: Arc::new(channel), handles: Mutex::default() };
        replica.channel.update_info_files();
        replica.follow_with_files(&mut replica.handles.lock());
        Ok(replica)
    }

    /// Starts the thread that writes the repositories' files, if there are any and it does not run
    /// yet.
    fn follow_with_files(&self, handles: &mut Handles) {
        let is_file = |repository: &Repository| self.repository(*repository) == Place::File;
        if let Some(files) = &self.channel.info
            && handles.info.is_none()
            && Repository::ALL.iter().any(is_file)
        {
            let (channel, files) = (self.channel.clone(), files.clone());
            handles.info = Some(os::thread::spawn("replica_info", move || write_info(&channel, &files)));
        }
    }

    /// Returns the place of a repository.
    pub fn repository(&self, repository: Repository) -> Place {
        self.channel.info.as_ref().map_or(Place::Table, |files| files.place(repository))
    }

    /// Sets `master_info_repository` or `relay_log_info_repository`.
    ///
    /// # Errors
    /// Returns 3081 when a thread of the channel runs, and an error when the file cannot be written
    /// or removed.
    pub(crate) fn set_repository(&self, repository: Repository, place: Place) -> Result<(), ChannelError> {
        let mut handles = self.handles.lock();
        if place == self.repository(repository) {
            return Ok(());
        }
        let receiver = self.channel.receiver.lock().running != Running::No;
        if receiver || self.channel.applier.lock().running {
            return Err(self.threads_run());
        }
        if let Some(files) = &self.channel.info {
            files
                .move_to(repository, place, || self.channel.shown())
                .map_err(|error| info::not_moved(&error))?;
        }
        self.follow_with_files(&mut handles);
        Ok(())
    }

    /// Returns the channel's name; the default channel's is empty.
    pub fn name(&self) -> &str {
        &self.channel.name
    }

    /// Removes the files of a channel that has been reset.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.channel.relay.remove_all()?;
        ChannelConfig::remove(&*self.channel.disk, &self.channel.settings.datadir, &self.channel.name)
    }

    /// Sets `replica_parallel_workers`, the number of threads that apply transactions. A running
    /// applier changes over between two transactions.
    pub fn set_parallel_workers(&self, workers: u64) {
        self.channel.parallel_workers.store(workers, Ordering::Relaxed);
        self.channel.relay.nudge();
    }

    /// Sets `rpl_semi_sync_replica_enabled`: whether the next connection acknowledges what it has
    /// received.
    pub fn set_semi_sync(&self, enabled: bool) {
        self.channel.semi_sync.store(enabled, Ordering::Relaxed);
    }

    /// Reports whether the present connection acknowledges what it has received
    /// (`Rpl_semi_sync_replica_status`).
    pub fn is_semi_sync(&self) -> bool {
        let state = self.channel.receiver.lock();
        state.semi_sync && state.running == Running::Yes
    }

    /// Sets `sql_replica_skip_counter`, in events.
    ///
    /// # Errors
    /// Returns 3017 when the applier runs.
    pub fn set_skip_counter(&self, events: u64) -> Result<(), ChannelError> {
        let _handles = self.handles.lock();
        if self.channel.applier.lock().running {
            return Err(self.applier_runs());
        }
        self.channel.apply.set_skip_counter(events);
        Ok(())
    }

    /// Returns the system variables that say how transactions are applied.
    pub fn apply_settings(&self) -> &ApplySettings {
        &self.channel.apply
    }

    /// Reports whether a source has been configured.
    pub fn is_configured(&self) -> bool {
        self.channel.config.lock().is_configured()
    }

    /// Carries out START REPLICA. A thread that runs already is left alone, and so is its UNTIL
    /// condition.
    ///
    /// # Errors
    /// Returns 1277 when there is an UNTIL condition but the applier is not to start, 1200 when the
    /// channel has no source or the server has no id, and the error of [`UntilCondition::parse`].
    pub fn start(&self, threads: Threads, until: Option<&Until>) -> Result<(), ChannelError> {
        self.start_as(threads, until, None)
    }

    /// Does what [`Replica::start`] does. A receiver that starts connects with the login, if there
    /// is one, until it is stopped.
    ///
    /// # Errors
    /// Returns the errors of [`Replica::start`], and 1763 when there is a login and the receiver is
    /// not to start.
    pub fn start_as(
        &self,
        threads: Threads,
        until: Option<&Until>,
        login: Option<&Login>,
    ) -> Result<(), ChannelError> {
        if login.is_some() && !threads.receiver {
            return Err(ChannelError::new(
                1763,
                "HY000",
                "Setting authentication options is not possible when only the Replica SQL Thread is being started.",
            ));
        }
        if until.is_some() && !threads.applier {
            return Err(ChannelError::new(
                1277,
                "HY000",
                "Incorrect parameter or combination of parameters for START REPLICA UNTIL",
            ));
        }
        let until = until.map(UntilCondition::parse).transpose()?;
        if !self.is_configured() {
            return Err(ChannelError::new(
                1200,
                "HY000",
                "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO",
            ));
        }
        if self.channel.settings.server_id == 0 {
            return Err(ChannelError::new(
                1200,
                "HY000",
                "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO",
            ));
        }
        let mut handles = self.handles.lock();
        if threads.applier {
            self.start_applier(&mut handles, until);
        }
        if threads.receiver {
            self.start_receiver(&mut handles, login);
        }
        Ok(())
    }

    /// Begins to put events of files into the relay log in place of a receiver, which must not run.
    ///
    /// # Errors
    /// Returns errors of the relay log.
    pub fn feed(&self) -> Result<Feed<'_>, ThreadError> {
        Feed::begin(&self.channel)
    }

    fn start_receiver(&self, handles: &mut Handles, login: Option<&Login>) {
        if self.channel.receiver.lock().running != Running::No {
            return;
        }
        join(handles.receiver.take());
        {
            let mut state = self.channel.receiver.lock();
            state.must_stop = false;
            state.login = login.cloned();
            state.error = None;
            state.running = Running::Connecting;
            state.io_state = "Connecting to source".to_string();
        }
        let channel = self.channel.clone();
        handles.receiver =
            Some(os::thread::spawn(&self.channel.thread_name("replica_io"), move || receiver::run(&channel)));
    }

    fn start_applier(&self, handles: &mut Handles, until: Option<UntilCondition>) {
        if self.channel.applier.lock().running {
            return;
        }
        join(handles.applier.take());
        {
            let mut state = self.channel.applier.lock();
            state.running = true;
            state.error = None;
            state.until = until;
            self.channel.applier_stop.store(false, Ordering::Release);
        }
        let channel = self.channel.clone();
        handles.applier =
            Some(os::thread::spawn(&self.channel.thread_name("replica_sql"), move || applier::run(&channel)));
    }

    /// Carries out STOP REPLICA and returns when the threads have ended.
    pub fn stop(&self, threads: Threads) {
        let mut handles = self.handles.lock();
        if threads.receiver {
            {
                let mut state = self.channel.receiver.lock();
                state.must_stop = true;
                if let Some(connection) = &state.connection {
                    connection.interrupt();
                }
            }
            self.channel.receiver_changed.notify_all();
        }
        if threads.applier {
            let _state = self.channel.applier.lock();
            self.channel.applier_stop.store(true, Ordering::Release);
            self.channel.applier_changed.notify_all();
        }
        self.channel.relay.nudge();
        if threads.receiver {
            join(handles.receiver.take());
        }
        if threads.applier {
            join(handles.applier.take());
        }
        self.channel.update_info_files();
    }

    /// Carries out CHANGE REPLICATION SOURCE TO.
    pub fn change_source(&self, options: &SourceOptions) -> Result<(), ChannelError> {
        let _handles = self.handles.lock();
        if *options == (SourceOptions { delay_s: options.delay_s, ..SourceOptions::default() }) {
            return self.change_delay(options);
        }
        self.refuse_while_running()?;
        let applied = self.channel.applied_position();
        let timeout_s = self.channel.settings.net_timeout_s();
        let mut new = self.channel.config.lock().changed(options, (&applied.0, applied.1), timeout_s)?;
        self.check_store(&new)?;
        new.gtid_slave_pos = self.channel.mariadb_applied().to_string();
        self.adopt(new)?;
        log::info!("'CHANGE REPLICATION SOURCE TO FOR CHANNEL '{}' executed'.", self.name());
        Ok(())
    }

    /// Refuses a store that this server cannot read.
    fn check_store(&self, config: &ChannelConfig) -> Result<(), ChannelError> {
        if !config.follows_store() {
            return Ok(());
        }
        let wrong =
            |what| ChannelError::new(1210, "HY000", format!("Incorrect arguments to SOURCE_HOST: {what}"));
        match &self.channel.settings.stores.0 {
            Some(stores) => stores.check(&config.host).map_err(wrong),
            None => Err(wrong("this server reads no stores".to_owned())),
        }
    }

    /// Changes SOURCE_DELAY alone. Only the applier follows it, so the receiver goes on and the
    /// relay log stays.
    fn change_delay(&self, options: &SourceOptions) -> Result<(), ChannelError> {
        if self.channel.applier.lock().running {
            return Err(self.applier_runs());
        }
        let mut config = self.channel.config.lock();
        let new = config.delayed(options)?;
        new.store(&*self.channel.disk, &self.channel.settings.datadir, self.name()).map_err(|error| {
            let text = format!("Replica failed to initialize connection metadata structure: {error}");
            ChannelError::new(1871, "HY000", text)
        })?;
        *config = new;
        drop(config);
        self.channel.update_info_files();
        Ok(())
    }

    /// Carries out CHANGE REPLICATION FILTER for this channel.
    ///
    /// # Errors
    /// Returns 3017 when the applier runs, and the error of [`Filters::changed`].
    pub fn change_filters(
        &self,
        changes: &[(FilterKind, Vec<FilterRule>)],
        by: ConfiguredBy,
    ) -> Result<(), ChannelError> {
        let _handles = self.handles.lock();
        self.refuse_while_applying()?;
        let mut filters = self.channel.filters.lock();
        *filters = Arc::new(filters.changed(changes, by)?);
        Ok(())
    }

    /// Takes over the filters that were set for all channels before this one was made.
    pub(crate) fn inherit_filters(&self, filters: Filters) {
        *self.channel.filters.lock() = Arc::new(filters);
    }

    /// Returns the channel's filters.
    pub fn filters(&self) -> Arc<Filters> {
        self.channel.filters.lock().clone()
    }

    /// Sets MariaDB's `gtid_slave_pos`: the GTIDs that a MariaDB source need not send.
    ///
    /// # Errors
    /// Returns 1231 when the text is no list of MariaDB's GTIDs, and an error when a thread of the
    /// channel runs or the configuration cannot be stored.
    pub fn set_gtid_slave_pos(&self, position: &str) -> Result<(), ChannelError> {
        let _handles = self.handles.lock();
        self.refuse_while_running()?;
        let parsed: binlog::gtid::MariadbGtidState = position.parse().map_err(|_| {
            ChannelError::new(
                1231,
                "42000",
                format!("Variable 'gtid_slave_pos' can't be set to the value of '{position}'"),
            )
        })?;
        let applied = self.channel.applied_position();
        let mut new = self.channel.config.lock().clone();
        new.gtid_slave_pos = parsed.to_string();
        (new.log_file, new.log_pos) = applied;
        new.position_epoch += 1;
        self.adopt(new)
    }

    /// Returns MariaDB's GTID state up to which transactions have been applied.
    pub(crate) fn mariadb_position(&self) -> MariadbGtidState {
        self.channel.mariadb_applied()
    }

    /// Carries out RESET REPLICA, or RESET REPLICA ALL when `all` is true.
    pub fn reset(&self, all: bool) -> Result<(), ChannelError> {
        let _handles = self.handles.lock();
        self.refuse_while_running()?;
        let slave_pos = self.channel.mariadb_applied().to_string();
        let mut new = if all { ChannelConfig::default() } else { self.channel.config.lock().clone() };
        new.position_epoch = self.channel.config.lock().position_epoch + 1;
        new.gtid_slave_pos = slave_pos;
        (new.log_file, new.log_pos) = (String::new(), 4);
        self.adopt(new)
    }

    /// Makes a configuration the present one. It is stored first, so that a crash leaves the whole
    /// old one or the whole new one, and then everything that was received for the old one is
    /// dropped.
    fn adopt(&self, new: ChannelConfig) -> Result<(), ChannelError> {
        let refused = |what: &str, error: &dyn std::fmt::Display| {
            ChannelError::new(1871, "HY000", format!("Replica failed to initialize {what}: {error}"))
        };
        let channel = &self.channel;
        new.store(&*channel.disk, &channel.settings.datadir, &channel.name)
            .map_err(|e| refused("connection metadata structure", &e))?;
        let mut config = channel.config.lock();
        let old_key = channel.position_key(&config);
        *config = new;
        drop(config);
        channel.engine.set_replica_position(&old_key, None).map_err(|e| refused("position", &e))?;
        channel.relay.drop_all().map_err(|e| refused("relay log structure", &e))?;
        let mut receiver = channel.receiver.lock();
        receiver.received = Received::default();
        receiver.read_file.clear();
        receiver.read_pos = 0;
        receiver.error = None;
        drop(receiver);
        *channel.applier.lock() = applier::ApplierState::default();
        channel.times.forget();
        channel.update_info_files();
        Ok(())
    }

    pub(crate) fn refuse_while_applying(&self) -> Result<(), ChannelError> {
        if self.channel.applier.lock().running { Err(self.applier_runs()) } else { Ok(()) }
    }

    fn applier_runs(&self) -> ChannelError {
        ChannelError::new(
            3017,
            "HY000",
            format!(
                "This operation cannot be performed with a running replica sql thread; run STOP REPLICA SQL_THREAD FOR CHANNEL '{}' first.",
                self.name()
            ),
        )
    }

    /// Reports whether all, and whether any, of these threads run.
    pub fn runs(&self, threads: Threads) -> (bool, bool) {
        let receiver = self.channel.receiver.lock().running != Running::No;
        let applier = self.channel.applier.lock().running;
        let of_these = [(threads.receiver, receiver), (threads.applier, applier)];
        let mut running = of_these.iter().filter(|(is_meant, _)| *is_meant).map(|(_, runs)| *runs);
        (running.clone().all(|runs| runs), running.any(|runs| runs))
    }

    fn refuse_while_running(&self) -> Result<(), ChannelError> {
        let receiver = self.channel.receiver.lock().running != Running::No;
        let applier = self.channel.applier.lock().running;
        match (receiver, applier) {
            (false, false) => Ok(()),
            (true, false) => Err(ChannelError::new(
                3021,
                "HY000",
                format!(
                    "This operation cannot be performed with a running replica io thread; run STOP REPLICA IO_THREAD FOR CHANNEL '{}' first.",
                    self.name()
                ),
            )),
            (false, true) => Err(self.applier_runs()),
            (true, true) => Err(self.threads_run()),
        }
    }

    fn threads_run(&self) -> ChannelError {
        ChannelError::new(
            3081,
            "HY000",
            format!(
                "This operation cannot be performed with running replication threads; run STOP REPLICA FOR CHANNEL '{}' first",
                self.name()
            ),
        )
    }

    /// Returns what SHOW REPLICA STATUS shows. `None` means that this is the default channel and
    /// that it has no source.
    pub fn status(&self) -> Option<ReplicaStatus> {
        self.channel.shown()
    }

    /// Returns the relay log, for SHOW RELAYLOG EVENTS.
    pub fn relay_log(&self) -> &Arc<RelayLog> {
        &self.channel.relay
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.stop(Threads::BOTH);
        if let Some(files) = &self.channel.info {
            files.end();
        }
        join(self.handles.lock().info.take());
    }
}

/// Writes the repositories' files until the thread has to end. It is the body of that thread.
fn write_info(channel: &Channel, files: &InfoFiles) {
    while files.wait() {
        files.update(&channel.name, || channel.shown());
    }
}

fn join(handle: Option<JoinHandle<()>>) {
    if let Some(handle) = handle
        && handle.join().is_err()
    {
        log::error!("a replication thread ended by a panic");
    }
}
