//! The dialogue with a source before it sends events. Order and words are those of the receivers of
//! mysqld and mariadbd, so that both kinds of source accept them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use binlog::gtid::GtidSet;
use engine::GtidMode;
use protocol::client::{Client, ClientError, ConnectOptions};

use super::connection::{Ended, Source, keep_connection};
use super::security;
use crate::channel::Channel;
use crate::config::{ChannelConfig, UseGtid};
use crate::error::{ThreadError, number};

const UNKNOWN_SYSTEM_VARIABLE: u16 = 1193;

const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_SLAVE: u8 = 0x15;
const COM_BINLOG_DUMP_GTID: u8 = 0x1E;

/// Opens the connection and authenticates.
pub(super) fn connect(channel: &Channel, config: &ChannelConfig) -> Result<Client, Ended> {
    let timeout = Duration::from_secs(channel.settings.net_timeout_s().into());
    if config.user.is_empty() {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            "Fatal error: Invalid (empty) username when attempting to connect to the source server. Connection attempt terminated.",
        ));
    }
    let (disk, datadir) = (&*channel.disk, &channel.settings.datadir);
    let tls = security::tls(disk, datadir, config)
        .map_err(|what| connect_failed(config, ClientError::Tls(what.to_string())))?;
    let options = ConnectOptions {
        tls,
        compression: config.compression(),
        server_public_key: security::public_key(disk, datadir, config),
        get_server_public_key: config.get_public_key,
        connect_timeout: timeout,
        read_timeout: Some(timeout),
        program_name: "slipstream-replica".to_string(),
        ..ConnectOptions::tcp(config.host.as_str(), config.port)
            .user(config.user.as_str(), config.password.as_str())
    };
    let client = Client::connect_interruptibly(&options, |handle| keep_connection(channel, handle))
        .map_err(|error| connect_failed(config, error))?;
    Ok(client)
}

/// Builds the end of a connection that could not be made. The number is that of MySQL's client, or
/// the source's own.
fn connect_failed(config: &ChannelConfig, error: ClientError) -> Ended {
    let message = error.to_string();
    match error {
        ClientError::Server(refusal) => Ended::Lost(refusal.code.into(), refusal.message),
        ClientError::Tls(_) => Ended::Lost(number::SSL_CONNECTION_ERROR, message),
        ClientError::Authentication(_) => Ended::Lost(number::AUTH_PLUGIN_ERROR, message),
        ClientError::Io(error) => {
            let cause = error.raw_os_error().map_or_else(|| error.to_string(), |errno| errno.to_string());
            Ended::lost(format!(
                "Can't connect to MySQL server on '{}:{}' ({cause})",
                config.host, config.port
            ))
        }
        ClientError::Protocol(_) => Ended::lost(message),
    }
}

/// Asks the source for its properties and tells it those of this replica.
pub(super) fn introduce(
    channel: &Channel,
    config: &ChannelConfig,
    client: &mut Client,
) -> Result<Source, Ended> {
    let version = client.server_version().to_string();
    let is_mariadb = version.contains("MariaDB") || version.starts_with("5.5.5-");
    measure_clock(channel, client)?;
    let server_id = ask(client, "SELECT @@GLOBAL.SERVER_ID")?.parse::<u32>().unwrap_or(0);
    if server_id == channel.settings.server_id {
        return Err(equal_server_ids());
    }
    set_heartbeat(config, client, is_mariadb)?;
    let has_checksums = set_checksum(client, is_mariadb)?;
    let uuid = if is_mariadb {
        introduce_to_mariadb(channel, config, client)?;
        String::new()
    } else {
        introduce_to_mysql(channel, config, client)?
    };
    let semi_sync = channel.semi_sync.load(Ordering::Relaxed) && agree_on_semi_sync(client)?;
    let mut state = channel.receiver.lock();
    state.semi_sync = semi_sync;
    state.source_server_id = server_id;
    state.source_uuid.clone_from(&uuid);
    drop(state);
    Ok(Source { is_mariadb, server_id, uuid, has_checksums, semi_sync })
}

/// Builds the end of a reception from a source that has this server's id.
pub(super) fn equal_server_ids() -> Ended {
    fatal(
        number::REPLICA_FATAL_ERROR,
        "Fatal error: The replica I/O thread stops because source and replica have equal MySQL server ids; these ids must be \
         different for replication to work (or the --replicate-same-server-id option must be used on replica but this does not \
         always make sense; please check the manual before using it).",
    )
}

/// Asks for semi-synchronous replication. Returns true when the source knows it, whether or not it
/// waits for acknowledgements at the moment.
fn agree_on_semi_sync(client: &mut Client) -> Result<bool, Ended> {
    for name in ["rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"] {
        match client.query(&format!("SELECT @@global.{name}")) {
            Ok(_) => {
                tell(client, "SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1")?;
                return Ok(true);
            }
            Err(ClientError::Server(error)) if error.code == UNKNOWN_SYSTEM_VARIABLE => {}
            Err(error) => return Err(refused(error, name)),
        }
    }
    log::warn!("The source does not support semi-sync, fallback to asynchronous replication");
    Ok(false)
}

/// Notes the difference between the source's clock and this server's, so that it does not falsify
/// lag figures. Half of the round trip is taken for the time of the answer.
fn measure_clock(channel: &Channel, client: &mut Client) -> Result<(), Ended> {
    let before_us = os::clock::now_us();
    let answer = ask(client, "SELECT UNIX_TIMESTAMP(NOW(6))")?;
    let after_us = os::clock::now_us();
    if let Ok(seconds) = answer.parse::<f64>() {
        let source_us = (seconds * 1e6) as i64;
        let ours_us = (before_us / 2 + after_us / 2) as i64;
        channel.receiver.lock().clock_skew_us = source_us - ours_us;
    }
    Ok(())
}

fn set_heartbeat(config: &ChannelConfig, client: &mut Client, is_mariadb: bool) -> Result<(), Ended> {
    let period_ns = (config.heartbeat_period_s * 1e9) as u64;
    let statement = if is_mariadb {
        format!("SET @master_heartbeat_period= {period_ns}")
    } else {
        format!("SET @master_heartbeat_period = {period_ns}, @source_heartbeat_period = {period_ns}")
    };
    tell(client, &statement)
}

/// Agrees on checksums. Returns true when events will end with a CRC-32.
fn set_checksum(client: &mut Client, is_mariadb: bool) -> Result<bool, Ended> {
    let statement = if is_mariadb {
        "SET @master_binlog_checksum= @@global.binlog_checksum"
    } else {
        "SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum"
    };
    tell(client, statement)?;
    Ok(ask(client, "SELECT @master_binlog_checksum")?.eq_ignore_ascii_case("CRC32"))
}

fn introduce_to_mysql(
    channel: &Channel,
    config: &ChannelConfig,
    client: &mut Client,
) -> Result<String, Ended> {
    if config.use_gtid == UseGtid::SlavePos {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            "Fatal error: The replica I/O thread stops because MASTER_USE_GTID=slave_pos is for a MariaDB source, but the source is a \
             MySQL server; use SOURCE_AUTO_POSITION=1.",
        ));
    }
    let gtid_mode = ask(client, "SELECT @@GLOBAL.GTID_MODE")?;
    if config.auto_position && gtid_mode != "ON" {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            format!(
                "The replication receiver thread cannot start in AUTO_POSITION mode: the source has GTID_MODE = {gtid_mode} instead of ON."
            ),
        ));
    }
    let (own_mode, opposites) = match channel.engine.gtid_mode() {
        GtidMode::On => ("ON", ["OFF", "OFF_PERMISSIVE"].as_slice()),
        GtidMode::Off => ("OFF", ["ON", "ON_PERMISSIVE"].as_slice()),
        GtidMode::OnPermissive | GtidMode::OffPermissive => ("", [].as_slice()),
    };
    if opposites.contains(&gtid_mode.as_str()) {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            format!(
                "The replication receiver thread cannot start because the source has GTID_MODE = {gtid_mode} and this server has GTID_MODE \
                 = {own_mode}."
            ),
        ));
    }
    let uuid = ask(client, "SELECT @@GLOBAL.SERVER_UUID")?;
    if uuid.eq_ignore_ascii_case(&channel.settings.server_uuid) {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            "Fatal error: The replica I/O thread stops because source and replica have equal MySQL server UUIDs; these UUIDs must be \
             different for replication to work.",
        ));
    }
    let ours = &channel.settings.server_uuid;
    tell(client, &format!("SET @slave_uuid = '{ours}', @replica_uuid = '{ours}'"))?;
    if config.auto_position {
        warn_of_errant_transactions(channel, client)?;
    }
    Ok(uuid)
}

/// Writes to the error log which transactions this server has and its source has not. Such
/// transactions are left on a source that died before a replica had received them and came back as
/// a replica. The source refuses a replica only for transactions of the source's own UUID.
fn warn_of_errant_transactions(channel: &Channel, client: &mut Client) -> Result<(), Ended> {
    // This server's set is read first, because what comes to it meanwhile the source may have too.
    let mut alone = channel.executed_and_received();
    let theirs = match client.query("SELECT @@GLOBAL.GTID_EXECUTED") {
        Ok(shown) => shown.cell(0, 0).unwrap_or_default(),
        // A source that does not tell its set is not compared with; it refuses the dump if it must.
        Err(ClientError::Server(_)) => return Ok(()),
        Err(broken) => return Err(Ended::lost(broken.to_string())),
    };
    let Ok(theirs) = theirs.parse::<GtidSet>() else { return Ok(()) };
    alone.subtract(&theirs);
    if !alone.is_empty() {
        log::warn!(
            "Replica I/O for channel '{}': this server has transactions that its source does not have: '{alone}'. The rows of the two may \
             differ; make this server anew from the source, or commit empty transactions under these GTIDs at the source.",
            channel.name
        );
    }
    Ok(())
}

fn introduce_to_mariadb(channel: &Channel, config: &ChannelConfig, client: &mut Client) -> Result<(), Ended> {
    if config.auto_position {
        return Err(fatal(
            number::REPLICA_FATAL_ERROR,
            "Fatal error: The replica I/O thread stops because SOURCE_AUTO_POSITION=1 is for a MySQL source, but the source is a MariaDB \
             server; use MASTER_USE_GTID=slave_pos.",
        ));
    }
    tell(client, "SET @mariadb_slave_capability=4")?;
    if config.use_gtid == UseGtid::SlavePos {
        let position = channel.mariadb_resume_position();
        tell(client, &format!("SET @slave_connect_state='{position}'"))?;
        tell(client, "SET @slave_gtid_strict_mode=0")?;
        tell(client, "SET @slave_gtid_ignore_duplicates=0")?;
    }
    Ok(())
}

/// Registers this replica and requests the log from the end of the last complete group on.
pub(super) fn request_dump(
    channel: &Channel,
    config: &ChannelConfig,
    source: &Source,
    client: &mut Client,
) -> Result<(), Ended> {
    let server_id = channel.settings.server_id;
    let mut registration = server_id.to_le_bytes().to_vec();
    registration.push(channel.settings.report_host.len().min(60) as u8);
    registration.extend_from_slice(
        &channel.settings.report_host.as_bytes()[..channel.settings.report_host.len().min(60)],
    );
    registration.extend_from_slice(&[0, 0]);
    registration.extend_from_slice(&channel.settings.report_port.to_le_bytes());
    registration.extend_from_slice(&[0; 8]);
    client
        .command(COM_REGISTER_SLAVE, &registration)
        .map_err(|error| refused(error, "Error on COM_REGISTER_REPLICA"))?;

    if config.auto_position {
        let executed = channel.executed_and_received();
        let mut encoded = Vec::new();
        executed.encode(&mut encoded);
        let mut request = vec![0, 0];
        request.extend_from_slice(&server_id.to_le_bytes());
        request.extend_from_slice(&0u32.to_le_bytes());
        request.extend_from_slice(&4u64.to_le_bytes());
        request.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
        request.extend_from_slice(&encoded);
        return client
            .send_command(COM_BINLOG_DUMP_GTID, &request)
            .map_err(|error| Ended::lost(error.to_string()));
    }
    let (file, pos) = if source.is_mariadb && config.use_gtid != UseGtid::No {
        (String::new(), 4)
    } else {
        channel.resume_position()
    };
    if pos > u64::from(u32::MAX) {
        return Err(fatal(
            number::SOURCE_FATAL_ERROR_READING_BINLOG,
            format!(
                "Got fatal error 1236 from source when reading data from binary log: 'position {pos} of file {file} is beyond 4 GB'"
            ),
        ));
    }
    let mut request = (pos as u32).to_le_bytes().to_vec();
    request.extend_from_slice(&[0, 0]);
    request.extend_from_slice(&server_id.to_le_bytes());
    request.extend_from_slice(file.as_bytes());
    client.send_command(COM_BINLOG_DUMP, &request).map_err(|error| Ended::lost(error.to_string()))
}

fn ask(client: &mut Client, query: &str) -> Result<String, Ended> {
    let result = client.query(query).map_err(|error| refused(error, query))?;
    let cell = result.rows.first().and_then(|row| row.first()).and_then(Option::as_ref);
    Ok(cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default())
}

fn tell(client: &mut Client, statement: &str) -> Result<(), Ended> {
    client.query(statement).map(|_| ()).map_err(|error| refused(error, statement))
}

/// Builds the end of a connection whose source answered a question with an error, which every
/// further connection would get too, or that broke.
fn refused(error: ClientError, what: &str) -> Ended {
    match error {
        ClientError::Server(error) if !matches!(error.code, 1053 | 1040 | 1158..=1161) => fatal(
            number::SOURCE_COM_FAILURE,
            format!("Source command {what} failed: {} (Errno: {})", error.message, error.code),
        ),
        other => Ended::lost(other.to_string()),
    }
}

fn fatal(number: u32, message: impl Into<String>) -> Ended {
    Ended::Fatal(ThreadError::now(number, message))
}
