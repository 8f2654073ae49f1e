//! The session values of system variables that statements depend on.
//!
//! Those that are asked for by every statement are fields; those that are only kept for the client
//! to read back are in `kept`. Their global values are the host's, and are what a new session
//! starts with.

use crate::binlog_format::BinlogFormat;
use crate::error::{Result, SqlError};
use crate::expr::text_of;
use crate::host::{Host, VariableScope};
use crate::sql_mode::SqlMode;
use engine::{Isolation, RowImage};
use std::collections::BTreeMap;
use types::collation::{self, Charset};
use types::{TypeCode, Value};

/// How a variable that is only kept is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
}

/// Variables of the session that nothing here depends on.
const KEPT: &[(&str, Kind, &str)] = &[
    ("xa_detach_on_prepare", Kind::Bool, "1"),
    ("sql_notes", Kind::Bool, "1"),
    ("sql_warnings", Kind::Bool, "0"),
    ("sql_auto_is_null", Kind::Bool, "0"),
    ("sql_big_selects", Kind::Bool, "1"),
    ("sql_buffer_result", Kind::Bool, "0"),
    ("sql_quote_show_create", Kind::Bool, "1"),
    ("big_tables", Kind::Bool, "0"),
    ("binlog_rows_query_log_events", Kind::Bool, "0"),
    ("rand_seed1", Kind::Number, "0"),
    ("rand_seed2", Kind::Number, "0"),
    ("pseudo_thread_id", Kind::Number, "0"),
    ("pseudo_replica_mode", Kind::Bool, "0"),
    ("pseudo_slave_mode", Kind::Bool, "0"),
    ("gtid_next", Kind::Text, "AUTOMATIC"),
];

/// Session values.
#[derive(Debug, Clone)]
pub(crate) struct Variables {
    pub autocommit: bool,
    pub sql_mode: SqlMode,
    pub isolation: Isolation,
    pub transaction_read_only: bool,
    /// `character_set_client`, as its default collation.
    pub client_collation: u16,
    /// `collation_connection`.
    pub connection_collation: u16,
    /// `character_set_results`; `None` is NULL: as stored.
    pub results_collation: Option<u16>,
    /// `collation_server`.
    pub server_collation: u16,
    pub time_zone: String,
    pub time_zone_offset_s: i32,
    /// `timestamp`, in microseconds, when set.
    pub timestamp_us: Option<u64>,
    /// `insert_id`: the next generated auto_increment value, once.
    pub insert_id: Option<u64>,
    pub sql_log_bin: bool,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    pub sql_select_limit: u64,
    pub group_concat_max_len: usize,
    pub div_precision_increment: u8,
    pub max_allowed_packet: usize,
    pub innodb_lock_wait_timeout_s: u64,
    pub lock_wait_timeout_s: u64,
    /// 0 is no limit.
    pub max_execution_time_ms: u64,
    pub sql_safe_updates: bool,
    pub foreign_key_checks: bool,
    pub unique_checks: bool,
    /// `explicit_defaults_for_timestamp`
    pub explicit_timestamps: bool,
    pub row_image: RowImage,
    pub binlog_format: BinlogFormat,
    pub binlog_transaction_compression: bool,
    pub binlog_transaction_compression_level: u8,
    kept: BTreeMap<&'static str, Value>,
}

impl Default for Variables {
    fn default() -> Variables {
        let kept = KEPT.iter().map(|(name, kind, start)| {
            let value = match kind {
                Kind::Bool | Kind::Number => Value::Int(start.parse().unwrap_or(0)),
                Kind::Text => Value::text(start),
            };
            (*name, value)
        });
        Variables {
            autocommit: true,
            sql_mode: SqlMode::default(),
            isolation: Isolation::RepeatableRead,
            transaction_read_only: false,
            client_collation: collation::UTF8MB4_0900_AI_CI,
            connection_collation: collation::UTF8MB4_0900_AI_CI,
            results_collation: Some(collation::UTF8MB4_0900_AI_CI),
            server_collation: collation::UTF8MB4_0900_AI_CI,
            time_zone: "SYSTEM".to_owned(),
            time_zone_offset_s: 0,
            timestamp_us: None,
            insert_id: None,
            sql_log_bin: true,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            sql_select_limit: u64::MAX,
            group_concat_max_len: 1024,
            div_precision_increment: 4,
            max_allowed_packet: 64 << 20,
            innodb_lock_wait_timeout_s: 50,
            lock_wait_timeout_s: 31_536_000,
            max_execution_time_ms: 0,
            sql_safe_updates: false,
            foreign_key_checks: true,
            unique_checks: true,
            explicit_timestamps: true,
            row_image: RowImage::Full,
            binlog_format: BinlogFormat::Row,
            binlog_transaction_compression: false,
            binlog_transaction_compression_level: 3,
            kept: kept.collect(),
        }
    }
}

/// Seconds east of UTC of `SYSTEM` (UTC here), `+hh:mm` and `UTC`; `None` for a named zone.
pub(crate) fn zone_offset_s(name: &str) -> Option<i32> {
    if name.eq_ignore_ascii_case("SYSTEM") || name.eq_ignore_ascii_case("UTC") {
        return Some(0);
    }
    let (sign, rest) = match name.as_bytes().first()? {
        b'+' => (1, &name[1..]),
        b'-' => (-1, &name[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = sign * (hours * 3600 + minutes * 60);
    ((0..60).contains(&minutes) && (-50_340..=50_400).contains(&total)).then_some(total)
}

/// MySQL's name of an isolation level.
pub(crate) fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ-UNCOMMITTED",
        Isolation::ReadCommitted => "READ-COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE-READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

fn row_image_name(image: RowImage) -> &'static str {
    match image {
        RowImage::Full => "FULL",
        RowImage::Minimal => "MINIMAL",
        RowImage::Noblob => "NOBLOB",
    }
}

fn string(value: &Value) -> String {
    String::from_utf8_lossy(&text_of(value)).into_owned()
}

/// ON, OFF, 1, 0, TRUE, FALSE.
fn boolean(name: &str, value: &Value) -> Result<bool> {
    match value {
        Value::Int(0) | Value::UInt(0) => Ok(false),
        Value::Int(1) | Value::UInt(1) => Ok(true),
        Value::Bytes(text) if text.eq_ignore_ascii_case(b"ON") || text.eq_ignore_ascii_case(b"TRUE") => {
            Ok(true)
        }
        Value::Bytes(text) if text.eq_ignore_ascii_case(b"OFF") || text.eq_ignore_ascii_case(b"FALSE") => {
            Ok(false)
        }
        Value::Bytes(text) if &text[..] == b"1" => Ok(true),
        Value::Bytes(text) if &text[..] == b"0" => Ok(false),
        Value::Null | Value::Bytes(_) | Value::Int(_) | Value::UInt(_) => {
            let shown = if value.is_null() { "NULL".to_owned() } else { string(value) };
            Err(SqlError::wrong_value_for_variable(name, shown))
        }
        _ => Err(SqlError::wrong_type_for_variable(name)),
    }
}

fn number(name: &str, value: &Value, low: u64, high: u64) -> Result<u64> {
    let wide = match value {
        Value::Int(n) => i128::from(*n),
        Value::UInt(n) => i128::from(*n),
        // Start values from the host may be text.
        Value::Bytes(text) => match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
            Some(n) => n,
            None => return Err(SqlError::wrong_type_for_variable(name)),
        },
        _ => return Err(SqlError::wrong_type_for_variable(name)),
    };
    Ok(wide.clamp(i128::from(low), i128::from(high)) as u64)
}

/// The collation that a character set's or a collation's name, or a collation's number, stands for.
fn collation_of(name: &str, value: &Value, is_charset: bool) -> Result<u16> {
    if let Value::Int(id) = value
        && let Some(found) = u16::try_from(*id).ok().and_then(collation::by_id)
    {
        return Ok(found.id);
    }
    let text = string(value).to_ascii_lowercase();
    let found = if is_charset {
        Charset::from_name(&text).map(Charset::default_collation)
    } else {
        known_collation(&text)
    };
    found.ok_or_else(|| match (is_charset, name) {
        (true, _) => SqlError::new(1115, format!("Unknown character set: '{text:.64}'")),
        (false, _) => SqlError::new(1273, format!("Unknown collation: '{text:.64}'")),
    })
}

/// The collation with a name of MySQL's, or the nearest one to a name of MariaDB's
/// (`utf8mb4_uca1400_ai_ci`).
pub(crate) fn known_collation(name: &str) -> Option<u16> {
    if let Some(id) = collation::from_name(name) {
        return Some(id);
    }
    let (charset, rest) = name.split_once('_')?;
    let rest = rest.strip_prefix("uca1400_").or_else(|| rest.strip_prefix("nopad_uca1400_"))?;
    let charset = Charset::from_name(charset)?;
    let sensitivity = match rest {
        _ if rest.ends_with("as_cs") => "as_cs",
        _ if rest.ends_with("as_ci") => "as_ci",
        _ => "ai_ci",
    };
    match charset {
        Charset::Utf8mb4 => collation::from_name(&format!("utf8mb4_0900_{sensitivity}")),
        other => Some(other.default_collation()),
    }
}

impl Variables {
    /// The values that a new session starts with: the host's global ones.
    pub fn of_host(host: &dyn Host) -> Result<Variables> {
        let mut variables = Variables::default();
        let names = Self::OWN.iter().copied().chain(KEPT.iter().map(|(name, ..)| *name));
        for name in names {
            if let Some(value) = host.variable(VariableScope::Global, name)? {
                variables.set(name, &value)?;
            }
        }
        Ok(variables)
    }

    /// Those that are fields and have a global value.
    const OWN: &'static [&'static str] = &[
        "autocommit",
        "sql_mode",
        "transaction_isolation",
        "transaction_read_only",
        "time_zone",
        "auto_increment_increment",
        "auto_increment_offset",
        "sql_select_limit",
        "group_concat_max_len",
        "div_precision_increment",
        "max_allowed_packet",
        "innodb_lock_wait_timeout",
        "lock_wait_timeout",
        "max_execution_time",
        "sql_safe_updates",
        "foreign_key_checks",
        "unique_checks",
        "explicit_defaults_for_timestamp",
        "binlog_row_image",
        "binlog_format",
        "binlog_transaction_compression",
        "binlog_transaction_compression_level_zstd",
        "collation_server",
    ];

    /// Whether the session value lives here.
    pub fn owns(name: &str) -> bool {
        const MORE: &[&str] = &[
            "tx_isolation",
            "tx_read_only",
            "character_set_client",
            "character_set_connection",
            "character_set_results",
            "collation_connection",
            "character_set_server",
            "timestamp",
            "insert_id",
            "last_insert_id",
            "identity",
            "sql_log_bin",
        ];
        Self::OWN.contains(&name) || MORE.contains(&name) || KEPT.iter().any(|(kept, ..)| *kept == name)
    }

    /// The session value; `None` when it does not live here.
    pub fn get(&self, name: &str, last_insert_id: u64) -> Option<Value> {
        let charset = |id: u16| Value::text(collation::charset_of(id).name());
        let unsigned = Value::UInt;
        let bool = |value: bool| Value::Int(i64::from(value));
        Some(match name {
            "autocommit" => bool(self.autocommit),
            "sql_mode" => Value::text(&self.sql_mode.to_string()),
            "transaction_isolation" | "tx_isolation" => Value::text(isolation_name(self.isolation)),
            "transaction_read_only" | "tx_read_only" => bool(self.transaction_read_only),
            "character_set_client" => charset(self.client_collation),
            "character_set_connection" => charset(self.connection_collation),
            "character_set_results" => self.results_collation.map_or(Value::Null, charset),
            "character_set_server" => charset(self.server_collation),
            "collation_connection" => Value::text(collation::name(self.connection_collation)),
            "collation_server" => Value::text(collation::name(self.server_collation)),
            "time_zone" => Value::text(&self.time_zone),
            "timestamp" => {
                let us = self.timestamp_us.unwrap_or_else(os::clock::now_us);
                Value::Double(us as f64 / 1e6)
            }
            "insert_id" => unsigned(self.insert_id.unwrap_or(0)),
            "last_insert_id" | "identity" => unsigned(last_insert_id),
            "sql_log_bin" => bool(self.sql_log_bin),
            "auto_increment_increment" => unsigned(self.auto_increment_increment),
            "auto_increment_offset" => unsigned(self.auto_increment_offset),
            "sql_select_limit" => unsigned(self.sql_select_limit),
            "group_concat_max_len" => unsigned(self.group_concat_max_len as u64),
            "div_precision_increment" => unsigned(u64::from(self.div_precision_increment)),
            "max_allowed_packet" => unsigned(self.max_allowed_packet as u64),
            "innodb_lock_wait_timeout" => unsigned(self.innodb_lock_wait_timeout_s),
            "lock_wait_timeout" => unsigned(self.lock_wait_timeout_s),
            "max_execution_time" => unsigned(self.max_execution_time_ms),
            "sql_safe_updates" => bool(self.sql_safe_updates),
            "foreign_key_checks" => bool(self.foreign_key_checks),
            "unique_checks" => bool(self.unique_checks),
            "explicit_defaults_for_timestamp" => bool(self.explicit_timestamps),
            "binlog_row_image" => Value::text(row_image_name(self.row_image)),
            "binlog_format" => Value::text(self.binlog_format.name()),
            "binlog_transaction_compression" => bool(self.binlog_transaction_compression),
            "binlog_transaction_compression_level_zstd" => {
                unsigned(u64::from(self.binlog_transaction_compression_level))
            }
            _ => return self.kept.get(name).cloned(),
        })
    }

    /// `gtid_owned`, which nobody can set.
    pub fn show_owned_gtid(&mut self, owned: &str) {
        self.kept.insert("gtid_owned", Value::text(owned));
    }

    /// The level of zstd that transactions are compressed with in the binary log.
    pub fn transaction_compression(&self) -> Option<u8> {
        self.binlog_transaction_compression.then_some(self.binlog_transaction_compression_level)
    }

    /// Whether a kept switch is on.
    pub fn kept_on(&self, name: &str) -> bool {
        matches!(self.kept.get(name), Some(Value::Int(1)))
    }

    /// Sets a session value that lives here (`last_insert_id` is the session's own business).
    pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        match name {
            "autocommit" => self.autocommit = boolean(name, value)?,
            "sql_mode" => {
                self.sql_mode = match value {
                    Value::Int(bits) => SqlMode(*bits as u64),
                    Value::Null => return Err(SqlError::wrong_value_for_variable(name, "NULL")),
                    text => SqlMode::parse(&string(text))?,
                }
            }
            "transaction_isolation" | "tx_isolation" => self.isolation = isolation(name, value)?,
            "transaction_read_only" | "tx_read_only" => self.transaction_read_only = boolean(name, value)?,
            "character_set_client" => {
                let id = collation_of(name, value, true)?;
                let charset = collation::charset_of(id);
                if !charset.is_for_clients() {
                    return Err(SqlError::not_for_clients(charset.name()));
                }
                self.client_collation = id;
            }
            "character_set_connection" => self.connection_collation = collation_of(name, value, true)?,
            "character_set_results" => {
                self.results_collation =
                    if value.is_null() { None } else { Some(collation_of(name, value, true)?) }
            }
            "character_set_server" => self.server_collation = collation_of(name, value, true)?,
            "collation_connection" => self.connection_collation = collation_of(name, value, false)?,
            "collation_server" => self.server_collation = collation_of(name, value, false)?,
            "time_zone" => {
                let zone = string(value);
                self.time_zone_offset_s = zone_offset_s(&zone).ok_or_else(|| {
                    SqlError::new(1298, format!("Unknown or incorrect time zone: '{zone:.64}'"))
                })?;
                self.time_zone = zone;
            }
            "timestamp" => {
                let seconds = crate::expr::decimal_of(&crate::expr::number(value)).to_f64();
                if !(0.0..=32_536_771_199.0).contains(&seconds) {
                    return Err(SqlError::wrong_value_for_variable(name, string(value)));
                }
                self.timestamp_us = (seconds > 0.0).then_some((seconds * 1e6) as u64);
            }
            "insert_id" => self.insert_id = Some(number(name, value, 0, u64::MAX)?).filter(|id| *id > 0),
            "sql_log_bin" => self.sql_log_bin = boolean(name, value)?,
            "auto_increment_increment" => self.auto_increment_increment = number(name, value, 1, 65_535)?,
            "auto_increment_offset" => self.auto_increment_offset = number(name, value, 1, 65_535)?,
            "sql_select_limit" => self.sql_select_limit = number(name, value, 0, u64::MAX)?,
            "group_concat_max_len" => self.group_concat_max_len = number(name, value, 4, 1 << 30)? as usize,
            "div_precision_increment" => self.div_precision_increment = number(name, value, 0, 30)? as u8,
            "max_allowed_packet" => self.max_allowed_packet = number(name, value, 1024, 1 << 30)? as usize,
            "innodb_lock_wait_timeout" => self.innodb_lock_wait_timeout_s = number(name, value, 1, 1 << 30)?,
            "lock_wait_timeout" => self.lock_wait_timeout_s = number(name, value, 1, 31_536_000)?,
            "max_execution_time" => {
                self.max_execution_time_ms = number(name, value, 0, u64::MAX)?;
            }
            "sql_safe_updates" => self.sql_safe_updates = boolean(name, value)?,
            "foreign_key_checks" => self.foreign_key_checks = boolean(name, value)?,
            "unique_checks" => self.unique_checks = boolean(name, value)?,
            "explicit_defaults_for_timestamp" => self.explicit_timestamps = boolean(name, value)?,
            "binlog_row_image" => {
                self.row_image = match string(value).to_ascii_uppercase().as_str() {
                    "FULL" => RowImage::Full,
                    "MINIMAL" => RowImage::Minimal,
                    "NOBLOB" => RowImage::Noblob,
                    other => return Err(SqlError::wrong_value_for_variable(name, other)),
                }
            }
            "binlog_transaction_compression" => {
                self.binlog_transaction_compression = boolean(name, value)?;
            }
            "binlog_transaction_compression_level_zstd" => {
                self.binlog_transaction_compression_level = number(name, value, 1, 22)? as u8;
            }
            "binlog_format" => {
                let written = string(value);
                self.binlog_format = BinlogFormat::named(&written.to_ascii_uppercase())
                    .ok_or_else(|| SqlError::wrong_value_for_variable(name, written))?;
            }
            _ => return self.set_kept(name, value),
        }
        Ok(())
    }

    fn set_kept(&mut self, name: &str, value: &Value) -> Result<()> {
        let Some((name, kind, _)) = KEPT.iter().find(|(kept, ..)| *kept == name) else {
            return Err(SqlError::unknown_variable(name));
        };
        let value = match kind {
            Kind::Bool => Value::Int(i64::from(boolean(name, value)?)),
            Kind::Number => Value::UInt(number(name, value, 0, u64::MAX)?),
            Kind::Text => Value::Bytes(text_of(value).into_owned()),
        };
        self.kept.insert(name, value);
        Ok(())
    }

    /// SHOW VARIABLES prints these switches as ON and OFF.
    pub fn shown(&self, name: &str, last_insert_id: u64) -> Option<String> {
        const SWITCHES: &[&str] = &[
            "autocommit",
            "transaction_read_only",
            "tx_read_only",
            "sql_log_bin",
            "sql_safe_updates",
            "foreign_key_checks",
            "unique_checks",
            "explicit_defaults_for_timestamp",
        ];
        let value = self.get(name, last_insert_id)?;
        let is_switch = SWITCHES.contains(&name)
            || KEPT.iter().any(|(kept, kind, _)| *kept == name && *kind == Kind::Bool);
        Some(match value {
            Value::Int(on) if is_switch => if on == 0 { "OFF" } else { "ON" }.to_owned(),
            Value::Double(n) => format!("{n:.6}"),
            value => string(&value),
        })
    }
}

fn isolation(name: &str, value: &Value) -> Result<Isolation> {
    if let Value::Int(level @ 0..=3) = value {
        return Ok([
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ][*level as usize]);
    }
    let text = string(value).to_ascii_uppercase().replace(' ', "-");
    Ok(match text.as_str() {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "REPEATABLE-READ" => Isolation::RepeatableRead,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => return Err(SqlError::wrong_value_for_variable(name, string(value))),
    })
}

/// Whether a type's values are text to the client, in the results' character set.
pub(crate) fn is_character(code: TypeCode) -> bool {
    matches!(code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set)
}
