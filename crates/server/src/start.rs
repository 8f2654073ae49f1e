//! The way from options to a server: the data directory, the engine, the binary log, the replica.

use crate::admin::account_changes;
use crate::datadir::auto_cnf::server_uuid;
use crate::datadir::{self, Datadir, DatadirError};
use crate::options::{DEFAULT_FILE, Options};
use crate::process::version::{INNODB_VERSION, VERSION, VERSION_COMMENT, release_number};
use crate::server::file_kinds::FileNames;
use crate::server::{Parts, Server};
use crate::stores::BackupPlaces;
use crate::variables::{Globals, Origin, SessionVariables, Setting, apply_persisted, open_persisted};
use binlog::gtid::Uuid;
use engine::{Conditions, Engine, EngineConfig, EngineError, RowImage};
use os::disk::Disk;
use replica::info::InfoSettings;
use replica::relay::RelayLogConfig;
use replica::stores::StoresSetting;
use replica::{Channels, ReplicaSettings, SkippedErrors};
use source::{Binlog, BinlogConfig};
use sql::admin::{FilterKind, FilterRule};
use sql::replicated::ReceivedOfAccounts;
use sql::{PartitionConditions, SqlError};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why the server cannot start. Every variant says what failed and where.
#[derive(Debug)]
pub enum StartError {
    /// The data directory cannot be used.
    Datadir(DatadirError),
    /// The engine does not open.
    Engine(EngineError),
    /// The binary log does not open.
    Binlog(source::error::BinlogError),
    /// A file or a socket cannot be used.
    Io(io::Error),
    /// The server's own tables cannot be made or read.
    Tables(SqlError),
    /// Options are invalid or contradict each other.
    Options(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Datadir(e) => write!(f, "{e}"),
            StartError::Engine(e) => write!(f, "{e}"),
            StartError::Binlog(e @ source::error::BinlogError::Damaged { .. }) => write!(
                f,
                "{e}. Put the file back from a copy. If there is none, move all files of the binary log and its index out of the data \
                 directory: the server then begins a new one, and replicas that do not have all of the old one are to be set up anew"
            ),
            StartError::Binlog(e) => write!(f, "{e}"),
            StartError::Io(e) => write!(f, "{e}"),
            StartError::Tables(e) => write!(f, "cannot make or read the tables of accounts: {}", e.message),
            StartError::Options(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<DatadirError> for StartError {
    fn from(e: DatadirError) -> Self {
        StartError::Datadir(e)
    }
}

impl From<EngineError> for StartError {
    fn from(e: EngineError) -> Self {
        StartError::Engine(e)
    }
}

impl From<source::error::BinlogError> for StartError {
    fn from(e: source::error::BinlogError) -> Self {
        StartError::Binlog(e)
    }
}

impl From<io::Error> for StartError {
    fn from(e: io::Error) -> Self {
        StartError::Io(e)
    }
}

impl From<SqlError> for StartError {
    fn from(e: SqlError) -> Self {
        StartError::Tables(e)
    }
}

/// A server that has no listeners yet, and its data directory.
pub struct Started {
    /// The server.
    pub server: Arc<Server>,
    /// The data directory, which is held until the end of the process.
    pub datadir: Datadir,
}

/// Returns the global values of the system variables as the options give them.
pub fn globals_of(options: &Options) -> Globals {
    let globals = crate::variables::default_globals();
    let files = options.files.iter().map(Option::as_deref).chain(std::iter::repeat(None));
    for ((id, setting), file) in options.settings.iter().zip(files) {
        globals.set(*id, setting.clone());
        globals.note_origin(*id, origin_of(file, options));
    }
    globals
}

/// Returns the origin of an option that came from this file, or from the command line.
fn origin_of(file: Option<&Path>, options: &Options) -> Origin {
    let Some(file) = file else { return Origin::command_line() };
    let source = match () {
        () if Some(file) == options.extra_file.as_deref() => "EXTRA",
        () if file == Path::new(DEFAULT_FILE) => "GLOBAL",
        () => "EXPLICIT",
    };
    Origin::file(source, file.display().to_string())
}

/// Returns the absolute path of the data directory.
pub fn datadir_path(globals: &Globals) -> io::Result<PathBuf> {
    std::path::absolute(globals.named("datadir").text())
}

/// Opens everything below the connections.
///
/// # Errors
/// Returns an error when the data directory, the engine, the binary log, the channels or the tables
/// of accounts cannot be opened, or when options are invalid.
pub fn start(disk: &Arc<dyn Disk>, options: &Options) -> Result<Started, StartError> {
    let globals = globals_of(options);
    let path = datadir_path(&globals)?;
    let only_initialise = options.initialize || options.initialize_insecure;
    let mut datadir = datadir::take(&**disk, &path, only_initialise)?;
    let uuid = server_uuid(&**disk, &datadir.path)?;
    let persisted = open_persisted(disk, &datadir.path)?;
    if globals.named("persisted_globals_load").is_on() && !options.no_defaults {
        let applied = apply_persisted(&persisted, &globals).map_err(|error| StartError::Options(error.0))?;
        applied.iter().for_each(|warning| log::warn!("{warning}"));
    }
    complete(&globals, options, &datadir.path, uuid);
    check(&globals)?;
    let log_home = log_home(&globals, &datadir.path);
    datadir.take_log_home(&**disk, &log_home)?;
    let engine = Engine::open(EngineConfig {
        log_home: Some(log_home),
        binlog_filter: options.binlog_filter.clone(),
        ..engine_config(disk, &globals, &datadir.path, uuid, only_initialise)
    })?;
    engine
        .set_gtid_mode(crate::variables::gtids::mode_named(globals.named("gtid_mode").text()))
        .expect("nobody owns a GTID yet");
    engine.set_read_only(|| crate::variables::refused_commits(&globals));
    let (instances, cleaners) = engine.pool().actors();
    globals.set_named("innodb_buffer_pool_instances", Setting::UInt(instances as u64));
    globals.set_named("innodb_page_cleaners", Setting::UInt(cleaners as u64));
    if !os::disk::has_native_aio() {
        globals.set_named("innodb_use_native_aio", Setting::Bool(false));
    }
    if only_initialise {
        // As in mysqld, accounts are made before there is a binary log.
        globals.set_named("log_bin", Setting::Bool(false));
    }
    os::disk::uses::name_kinds({
        let names = file_names(&globals, options, &datadir.path);
        move |path| names.kind_of(path)
    });
    let binlog = match globals.named("log_bin").is_on() {
        true => Some(open_binlog(disk, &engine, &globals, options, &datadir.path)?),
        false => None,
    };
    let settings = replica_settings(&globals, options, &datadir.path);
    let replica = Channels::open(engine.clone(), disk.clone(), settings)?;
    replica.set_parallel_workers(globals.named("replica_parallel_workers").uint());
    if let ("ROW", "DATABASE") =
        (globals.named("slipstream_parallel_policy").text(), globals.named("replica_parallel_type").text())
    {
        globals.set_named("slipstream_parallel_policy", globals.named("replica_parallel_type"));
    }
    let skipped: SkippedErrors = globals
        .named("replica_skip_errors")
        .text()
        .parse()
        .map_err(|word| StartError::Options(format!("Unknown error in replica_skip_errors: {word}")))?;
    globals.set_named("replica_skip_errors", Setting::Text(skipped.to_string()));
    replica.apply_settings().set_skipped_errors(skipped);
    let zone = globals.named("time_zone");
    if sql::time_zone::find(&engine, zone.text()).is_none() {
        let message = format!("Fatal error: Illegal or unknown default time zone '{}'", zone.text());
        return Err(StartError::Options(message));
    }
    let filters = startup_filters(&options.replication_filters);
    replica.set_startup_filters(&filters).map_err(|error| StartError::Options(error.message))?;
    let server = Server::new(Parts {
        engine,
        disk: disk.clone(),
        datadir: datadir.path.clone(),
        globals,
        persisted,
        skip_grant_tables: options.skip_grant_tables,
        binlog,
        replica,
    });
    crate::variables::enter_all(&server)
        .map_err(|(name, error)| StartError::Options(format!("option '{name}': {}", error.message)))?;
    crate::initialise::initialise(&server, options.initialize_insecure)?;
    crate::accounts::storage::load(&server)?;
    let weak = Arc::downgrade(&server);
    let variables = SessionVariables::new(&server);
    server
        .replica
        .apply_settings()
        .set_variables(Arc::new(move |scope, name| variables.value(&*weak.upgrade()?, scope, name)));
    let weak = Arc::downgrade(&server);
    server.replica.apply_settings().set_accounts(Box::new(move |received| {
        let stopped = || sql::SqlError::new(1053, "Server shutdown in progress");
        let server = weak.upgrade().ok_or_else(stopped)?;
        match received {
            ReceivedOfAccounts::Statement(command, log) => {
                account_changes::change_received_accounts(&server, command, log)
            }
            // As in MySQL, the privileges go to the account that the routine runs as, if that
            // account exists here too.
            ReceivedOfAccounts::Routine(change) => {
                let name = change.made_by.map(|(user, host)| (user.to_owned(), host.to_lowercase()));
                let maker = name.as_ref().map(|name| server.accounts.table().get(name));
                match maker {
                    Some(None) => Ok(()),
                    maker => {
                        account_changes::routine_changed(&server, maker.flatten().as_deref(), change, "")
                    }
                }
            }
        }
    }));
    server.memory.set_hard_limit(connections_memory_bytes(&server.globals));
    if os::memory::left_bytes() < u64::MAX {
        server.memory.ask_what_is_left(os::memory::left_bytes);
    }
    Ok(Started { server, datadir })
}

/// Returns how many bytes the connections' statements may keep together, whatever MySQL's variables
/// say: half of what the process may still allocate once its own threads run. The other half is for
/// memory that is not counted: the connections' threads, transactions, caches, and gaps between
/// pieces that are in use.
fn connections_memory_bytes(globals: &Globals) -> u64 {
    const LEAST_BYTES: u64 = 64 << 20;
    let (limits, used) = (os::memory::limits(), os::memory::in_use());
    // The buffer pool will take its part of the machine's memory, as far as it has not done so.
    let pool = globals.named("innodb_buffer_pool_size").uint();
    let left = [
        limits.address_space_bytes.saturating_sub(used.address_space_bytes),
        limits.data_bytes.saturating_sub(used.data_bytes),
        limits.physical_bytes.saturating_sub(pool),
    ];
    (left.into_iter().min().unwrap_or(u64::MAX) / 2).max(LEAST_BYTES)
}

/// Groups the rules by kind.
/// Sorts the rules of `--replicate-...` by their kinds.
pub fn startup_filters(rules: &[(FilterKind, FilterRule)]) -> Vec<(FilterKind, Vec<FilterRule>)> {
    let of = |kind: FilterKind| -> Vec<FilterRule> {
        rules.iter().filter(|(of, _)| *of == kind).map(|(_, rule)| rule.clone()).collect()
    };
    FilterKind::ALL.into_iter().map(|kind| (kind, of(kind))).filter(|(_, rules)| !rules.is_empty()).collect()
}

fn check(globals: &Globals) -> Result<(), StartError> {
    let mode = globals.named("gtid_mode");
    if mode.text() == "ON" && globals.named("enforce_gtid_consistency").text() != "ON" {
        let text = "GTID_MODE = ON requires ENFORCE_GTID_CONSISTENCY = ON.";
        return Err(StartError::Options(text.into()));
    }
    if globals.named("lower_case_table_names").uint() != 0 {
        let text = "lower_case_table_names other than 0 is not supported: names of tables keep their case";
        return Err(StartError::Options(text.into()));
    }
    Ok(())
}

/// Fills in values that follow from other values or from the machine.
fn complete(globals: &Globals, options: &Options, datadir: &Path, uuid: Uuid) {
    let host = os::names::own_name().filter(|name| !name.is_empty());
    let host = host.unwrap_or_else(|| "localhost".to_owned());
    let in_datadir = |name: &str| datadir.join(name).display().to_string();
    let text = |name: &str, value: String| globals.set_named(name, Setting::Text(value));
    let default = |name: &str, value: String| {
        if globals.named(name).text().is_empty() {
            text(name, value);
        }
    };
    text("datadir", format!("{}/", datadir.display()));
    text("server_uuid", uuid.to_string());
    let announced = globals.named("version_announced");
    text("version", if announced.text().is_empty() { VERSION } else { announced.text() }.to_owned());
    text("version_comment", VERSION_COMMENT.into());
    text("version_compile_machine", std::env::consts::ARCH.into());
    text("version_compile_os", "Linux".into());
    text("innodb_version", INNODB_VERSION.into());
    text("system_time_zone", sql::time_zone::system_abbreviation());
    default("relay_log", format!("{host}-relay-bin"));
    default("pid_file", in_datadir(&format!("{host}.pid")));
    default("general_log_file", in_datadir(&format!("{host}.log")));
    default("slow_query_log_file", in_datadir(&format!("{host}-slow.log")));
    let relay = in_datadir(globals.named("relay_log").text());
    text("relay_log_index", options.relay_log_index.clone().unwrap_or_else(|| format!("{relay}.index")));
    text("relay_log_basename", relay);
    text("hostname", host);
    for name in ["socket", "pid_file"] {
        // Relative paths are relative to the data directory.
        let path = datadir.join(globals.named(name).text());
        text(name, path.display().to_string());
    }
    if !options.settings.iter().any(|(id, _)| id.definition().name == "host_cache_size") {
        let connections = globals.named("max_connections").uint();
        let size = 128 + connections.min(500) + connections.saturating_sub(500) / 20;
        globals.set_named("host_cache_size", Setting::UInt(size.min(2000)));
    }
    // Auto-increment values are always taken one by one, without a lock on the table.
    globals.set_named("innodb_autoinc_lock_mode", Setting::UInt(2));
    if globals.named("report_port").uint() == 0 {
        globals.set_named("report_port", globals.named("port"));
    }
    if globals.named("super_read_only").is_on() {
        globals.set_named("read_only", Setting::Bool(true));
    }
}

/// Returns the directory of the redo log, `innodb_log_group_home_dir`. A relative path begins in
/// the data directory.
fn log_home(globals: &Globals, datadir: &Path) -> PathBuf {
    match globals.named("innodb_log_group_home_dir").text() {
        "" | "." | "./" => datadir.to_owned(),
        path => datadir.join(path),
    }
}

fn engine_config(
    disk: &Arc<dyn Disk>,
    globals: &Globals,
    datadir: &Path,
    uuid: Uuid,
    only_initialise: bool,
) -> EngineConfig {
    let number = |name: &str| globals.named(name).uint();
    EngineConfig {
        page_size: number("innodb_page_size") as u32,
        pool_bytes: number("innodb_buffer_pool_size"),
        version_memory_limit_bytes: number("slipstream_version_memory_limit"),
        redo_capacity_bytes: number("innodb_redo_log_capacity"),
        log_buffer_bytes: number("innodb_log_buffer_size"),
        log_writer_threads: globals.named("innodb_log_writer_threads").is_on(),
        flush_log_at_trx_commit: number("innodb_flush_log_at_trx_commit") as u8,
        server_id: number("server_id") as u32,
        server_uuid: uuid,
        server_version: release_number(globals.named("version").text()).expect("checked with the options"),
        log_bin: globals.named("log_bin").is_on() && !only_initialise,
        gtid_mode: matches!(globals.named("gtid_mode").text(), "ON" | "ON_PERMISSIVE"),
        binlog_row_image: match globals.named("binlog_row_image").text() {
            "MINIMAL" => RowImage::Minimal,
            "NOBLOB" => RowImage::Noblob,
            _ => RowImage::Full,
        },
        binlog_row_event_max_bytes: clamp(number("binlog_row_event_max_size")),
        max_binlog_cache_bytes: clamp(number("max_binlog_cache_size")),
        innodb_lock_wait_timeout_ms: number("innodb_lock_wait_timeout") * 1000,
        lock_wait_timeout_ms: number("lock_wait_timeout") * 1000,
        pool: crate::variables::pool_options(globals),
        tmpdir: PathBuf::from(globals.named("tmpdir").text()),
        sort_buffer_bytes: clamp(number("innodb_sort_buffer_size")),
        conditions: Conditions::new(Arc::new(PartitionConditions)),
        ..EngineConfig::new(disk.clone(), datadir)
    }
}

/// Cuts a size at 4 GB. Larger sizes mean "no limit" for what is held in memory.
fn clamp(bytes: u64) -> usize {
    bytes.min(u32::MAX.into()) as usize
}

/// Returns the names of the files that options can change.
fn file_names(globals: &Globals, options: &Options, datadir: &Path) -> FileNames {
    let of = |name: &str| datadir.join(globals.named(name).text());
    let binlog = options.log_bin_basename.as_deref().unwrap_or("binlog");
    let index = options.log_bin_index.clone().unwrap_or_else(|| format!("{binlog}.index"));
    FileNames {
        binlog: datadir.join(binlog),
        binlog_index: datadir.join(index),
        relay_log: of("relay_log"),
        general_log: of("general_log_file"),
        slow_log: of("slow_query_log_file"),
        pid: of("pid_file"),
    }
}

fn open_binlog(
    disk: &Arc<dyn Disk>,
    engine: &Arc<Engine>,
    globals: &Globals,
    options: &Options,
    datadir: &Path,
) -> Result<Arc<Binlog>, StartError> {
    let config = BinlogConfig {
        datadir: datadir.to_owned(),
        basename: options.log_bin_basename.clone().unwrap_or_else(|| "binlog".into()),
        index: options.log_bin_index.clone(),
        max_file_bytes: globals.named("max_binlog_size").uint(),
        expire_after_s: match globals.named("binlog_expire_logs_auto_purge").is_on() {
            true => globals.named("binlog_expire_logs_seconds").uint(),
            false => 0,
        },
        dependency_history_size: globals.named("binlog_transaction_dependency_history_size").uint(),
        checksum: crate::variables::checksum_named(globals.named("binlog_checksum").text()),
        server_id: globals.named("server_id").uint() as u32,
        server_uuid: globals.named("server_uuid").text().to_owned(),
        server_version: globals.named("version").text().to_owned(),
    };
    let binlog = Binlog::open(disk.clone(), engine.clone(), config)?;
    binlog.set_ignores_errors(globals.named("binlog_error_action").text() == "IGNORE_ERROR");
    crate::variables::enter_semi_sync(globals, binlog.semi_sync());
    Ok(binlog)
}

fn replica_settings(globals: &Globals, options: &Options, datadir: &Path) -> ReplicaSettings {
    let number = |name: &str| globals.named(name).uint();
    let max_relay = number("max_relay_log_size");
    ReplicaSettings {
        datadir: datadir.to_owned(),
        server_id: number("server_id") as u32,
        server_uuid: globals.named("server_uuid").text().to_owned(),
        relay: RelayLogConfig {
            basename: globals.named("relay_log").text().to_owned(),
            index: options.relay_log_index.clone(),
            max_file_bytes: if max_relay == 0 { number("max_binlog_size") } else { max_relay },
            space_limit_bytes: number("relay_log_space_limit"),
            purge: globals.named("relay_log_purge").is_on(),
        },
        net_timeout_s: Arc::new((number("replica_net_timeout") as u32).into()),
        report_host: globals.named("report_host").text().to_owned(),
        report_port: number("report_port") as u16,
        log_replica_updates: globals.named("log_replica_updates").is_on(),
        sql_verify_checksum: globals.named("replica_sql_verify_checksum").is_on(),
        info: info_settings(globals, options),
        stores: StoresSetting(Some(Arc::new(BackupPlaces))),
    }
}

fn info_settings(globals: &Globals, options: &Options) -> InfoSettings {
    let place = |name: &str| globals.named(name).text().parse().expect("one of the variable's words");
    let default = InfoSettings::default();
    InfoSettings {
        connection: place("master_info_repository"),
        connection_file: options.master_info_file.clone().unwrap_or(default.connection_file),
        applier: place("relay_log_info_repository"),
        applier_file: globals.named("relay_log_info_file").text().to_owned(),
    }
}
