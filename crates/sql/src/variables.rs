//! The session values of the system variables on which statements depend.
//!
//! Variables that every statement needs are fields. Those that are only kept so that the client can
//! read them back are in `kept`. The host has the global values, with which a new session starts.

use crate::binlog_format::BinlogFormat;
mod insert_ids;
mod names;
mod switches;
mod wanted;

pub(crate) use self::insert_ids::InsertIds;
pub(crate) use self::names::{isolation_name, known_collation};
pub(crate) use self::switches::{Switch, Switches};

use self::names::{clients_collation, unknown_collation};
use self::wanted::Wanted;
use crate::error::{Result, SqlError};
use crate::host::{Host, VariableScope};
use crate::lexer::LexMode;
use crate::locale::{self, Locale};
use crate::sql_mode::SqlMode;
use binlog::event::UNKNOWN_SERVER_VERSION;
use engine::{Engine, Isolation, RowImage};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::collation::{self, Charset};
use types::{TypeCode, Value};

/// The type of a variable that is only kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
}

/// The session variables that are only kept: names, types and default values.
const KEPT: &[(&str, Kind, &str)] = &[
    ("xa_detach_on_prepare", Kind::Bool, "1"),
    ("restrict_fk_on_non_standard_key", Kind::Bool, "1"),
    ("sql_notes", Kind::Bool, "1"),
    ("sql_warnings", Kind::Bool, "0"),
    ("sql_auto_is_null", Kind::Bool, "0"),
    ("sql_big_selects", Kind::Bool, "1"),
    ("sql_buffer_result", Kind::Bool, "0"),
    ("sql_quote_show_create", Kind::Bool, "1"),
    ("big_tables", Kind::Bool, "0"),
    ("rand_seed1", Kind::Number, "0"),
    ("rand_seed2", Kind::Number, "0"),
    ("pseudo_thread_id", Kind::Number, "0"),
    ("pseudo_replica_mode", Kind::Bool, "0"),
    ("pseudo_slave_mode", Kind::Bool, "0"),
    ("gtid_next", Kind::Text, "AUTOMATIC"),
    ("innodb_ft_enable_stopword", Kind::Bool, "1"),
];

/// What follows a COMMIT or ROLLBACK that does not say it itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompletionType {
    NoChain,
    Chain,
    Release,
}

impl CompletionType {
    const ALL: [CompletionType; 3] =
        [CompletionType::NoChain, CompletionType::Chain, CompletionType::Release];

    fn name(self) -> &'static str {
        match self {
            CompletionType::NoChain => "NO_CHAIN",
            CompletionType::Chain => "CHAIN",
            CompletionType::Release => "RELEASE",
        }
    }

    /// Returns the type with this name or number.
    fn named(word: &str) -> Option<CompletionType> {
        let all = CompletionType::ALL.into_iter().enumerate();
        let mut fitting =
            all.filter(|(number, ty)| ty.name().eq_ignore_ascii_case(word) || number.to_string() == word);
        fitting.next().map(|(_, ty)| ty)
    }
}

/// The session values of the variables.
#[derive(Debug, Clone)]
pub(crate) struct Variables {
    pub autocommit: bool,
    pub sql_mode: SqlMode,
    pub isolation: Isolation,
    pub transaction_read_only: bool,
    pub completion_type: CompletionType,
    /// `character_set_client`, as its default collation.
    pub client_collation: u16,
    /// `collation_connection`.
    pub connection_collation: u16,
    /// `character_set_results`, as its default collation. `None` is NULL: results are sent as they
    /// are stored.
    pub results_collation: Option<u16>,
    /// `collation_server`.
    pub server_collation: u16,
    pub time_zone: String,
    pub zone: types::Zone,
    /// `timestamp`, in microseconds of Unix time. `None` if it is not set.
    pub timestamp_us: Option<u64>,
    /// `slipstream_dialect`: the session's statements have MariaDB's meaning, like those of a
    /// MariaDB source.
    pub of_mariadb: bool,
    /// `insert_id`, and what the binary log needs to know of generated values.
    pub insert_ids: InsertIds,
    pub sql_log_bin: bool,
    /// `original_commit_timestamp`: when another server first committed the next transaction, in
    /// microseconds of Unix time. `None` means that this server is the first.
    pub original_commit_us: Option<u64>,
    /// `original_server_version` and `immediate_server_version`: the versions of the servers that
    /// have committed the next transaction first and last. `None` means that these are this server.
    pub original_server_version: Option<u32>,
    pub immediate_server_version: Option<u32>,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    pub sql_select_limit: u64,
    pub group_concat_max_len: usize,
    pub max_error_count: u64,
    /// `warning_count` and `error_count`: how many conditions and errors the statement before this
    /// one has raised.
    pub conditions_before: (u64, u64),
    pub div_precision_increment: u8,
    /// `default_week_format`: the mode of WEEK() without one.
    pub default_week_format: u8,
    /// `lc_time_names`.
    pub locale: &'static Locale,
    /// `join_buffer_size`.
    pub join_buffer_bytes: u64,
    /// `innodb_parallel_read_threads`.
    pub parallel_read_threads: u64,
    /// `sort_buffer_size`.
    pub sort_buffer_bytes: u64,
    /// `tmp_table_size`.
    pub tmp_table_bytes: u64,
    pub max_allowed_packet: usize,
    pub innodb_lock_wait_timeout_s: u64,
    pub lock_wait_timeout_s: u64,
    pub cte_max_recursion_depth: u64,
    /// 0 means no limit.
    pub max_execution_time_ms: u64,
    pub sql_safe_updates: bool,
    /// `binlog_rows_query_log_events`.
    pub logs_rows_query: bool,
    pub foreign_key_checks: bool,
    /// `slipstream_fire_triggers`.
    pub fire_triggers: bool,
    pub unique_checks: bool,
    /// `check_constraint_checks`, which only sessions of MariaDB can turn off.
    pub check_constraint_checks: bool,
    /// `explicit_defaults_for_timestamp`.
    pub explicit_timestamps: bool,
    pub row_image: RowImage,
    pub binlog_format: BinlogFormat,
    pub binlog_transaction_compression: bool,
    pub binlog_transaction_compression_level: u8,
    /// `optimizer_switch`.
    pub switches: Switches,
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
            completion_type: CompletionType::NoChain,
            client_collation: collation::UTF8MB4_0900_AI_CI,
            connection_collation: collation::UTF8MB4_0900_AI_CI,
            results_collation: Some(collation::UTF8MB4_0900_AI_CI),
            server_collation: collation::UTF8MB4_0900_AI_CI,
            time_zone: "SYSTEM".to_owned(),
            zone: crate::time_zone::system(),
            timestamp_us: None,
            of_mariadb: false,
            insert_ids: InsertIds::default(),
            sql_log_bin: true,
            original_commit_us: None,
            original_server_version: None,
            immediate_server_version: None,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            sql_select_limit: u64::MAX,
            group_concat_max_len: 1024,
            max_error_count: 1024,
            conditions_before: (0, 0),
            div_precision_increment: 4,
            default_week_format: 0,
            locale: locale::english(),
            join_buffer_bytes: 256 << 10,
            parallel_read_threads: 4,
            sort_buffer_bytes: 256 << 10,
            tmp_table_bytes: 16 << 20,
            max_allowed_packet: 64 << 20,
            innodb_lock_wait_timeout_s: 50,
            lock_wait_timeout_s: 31_536_000,
            cte_max_recursion_depth: 1000,
            max_execution_time_ms: 0,
            sql_safe_updates: false,
            logs_rows_query: false,
            foreign_key_checks: true,
            fire_triggers: true,
            unique_checks: true,
            check_constraint_checks: true,
            explicit_timestamps: true,
            row_image: RowImage::Full,
            binlog_format: BinlogFormat::Row,
            binlog_transaction_compression: false,
            binlog_transaction_compression_level: 3,
            switches: Switches::default(),
            kept: kept.collect(),
        }
    }
}

/// Builds error 1649 (`ER_UNKNOWN_LOCALE`).
fn unknown_locale(name: &str) -> SqlError {
    SqlError::new(1649, format!("Unknown locale: '{name}'"))
}

/// The value of `original_commit_timestamp` that stands for none.
const NO_COMMIT_US: u64 = 1 << 55;

/// The values of `slipstream_dialect`.
const MYSQL: &str = "MYSQL";
const MARIADB: &str = "MARIADB";

fn row_image_name(image: RowImage) -> &'static str {
    match image {
        RowImage::Full => "FULL",
        RowImage::Minimal => "MINIMAL",
        RowImage::Noblob => "NOBLOB",
    }
}

/// The numbers of the collations that say what the text of a literal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiteralCollations {
    /// The one of `character_set_client`, in which literals are written.
    pub client: u16,
    /// `collation_connection`, which literals without an introducer have.
    pub connection: u16,
}

impl LiteralCollations {
    /// Reports whether the character set of `collation_connection` may lack characters that a
    /// client has written. Literals have question marks for these.
    pub fn loses_characters(self) -> bool {
        let [of_client, of_connection] = [self.client, self.connection].map(collation::charset_of);
        of_client != of_connection && !matches!(of_connection, Charset::Utf8mb4 | Charset::Binary)
    }
}

impl Variables {
    /// Returns the collations of the literals that the session writes.
    pub fn literal_collations(&self) -> LiteralCollations {
        LiteralCollations { client: self.client_collation, connection: self.connection_collation }
    }

    /// Returns the values with which a new session starts, which are the host's global ones.
    pub fn of_host(engine: &Arc<Engine>, host: &dyn Host) -> Result<Variables> {
        let mut variables = Variables::default();
        let names = Self::OWN.iter().copied().chain(KEPT.iter().map(|(name, ..)| *name));
        for name in names {
            if let Some(value) = host.variable(VariableScope::Global, name)? {
                variables.set(engine, name, &value)?;
            }
        }
        Ok(variables)
    }

    /// The variables that are fields and have a global value.
    const OWN: &'static [&'static str] = &[
        "autocommit",
        "sql_mode",
        "transaction_isolation",
        "transaction_read_only",
        "completion_type",
        "time_zone",
        "auto_increment_increment",
        "auto_increment_offset",
        "sql_select_limit",
        "group_concat_max_len",
        "max_error_count",
        "div_precision_increment",
        "default_week_format",
        "lc_time_names",
        "join_buffer_size",
        "innodb_parallel_read_threads",
        "sort_buffer_size",
        "tmp_table_size",
        "max_allowed_packet",
        "innodb_lock_wait_timeout",
        "lock_wait_timeout",
        "cte_max_recursion_depth",
        "max_execution_time",
        "optimizer_switch",
        "sql_safe_updates",
        "binlog_rows_query_log_events",
        "foreign_key_checks",
        "slipstream_dialect",
        "slipstream_fire_triggers",
        "unique_checks",
        "explicit_defaults_for_timestamp",
        "binlog_row_image",
        "binlog_format",
        "binlog_transaction_compression",
        "binlog_transaction_compression_level_zstd",
        "collation_server",
    ];

    /// Returns the mode in which the session's statements are split into tokens.
    pub fn lex_mode(&self) -> LexMode {
        LexMode { of_source: self.of_mariadb, ..self.sql_mode.lex() }
    }

    /// Reports whether the session value of a variable is kept in this type.
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
            "original_commit_timestamp",
            "original_server_version",
            "immediate_server_version",
            "last_insert_id",
            "identity",
            "sql_log_bin",
            "warning_count",
            "error_count",
        ];
        Self::OWN.contains(&name) || MORE.contains(&name) || KEPT.iter().any(|(kept, ..)| *kept == name)
    }

    /// Returns the session value of a variable. `None` if it is not kept in this type.
    pub fn get(&self, name: &str, last_insert_id: u64) -> Option<Value> {
        let charset = |id: u16| Value::text(collation::charset_of(id).name());
        let unsigned = Value::UInt;
        let bool = |value: bool| Value::Int(i64::from(value));
        Some(match name {
            "autocommit" => bool(self.autocommit),
            "sql_mode" if self.of_mariadb => Value::text(&self.sql_mode.names_of_mariadb()),
            "sql_mode" => Value::text(&self.sql_mode.to_string()),
            "transaction_isolation" | "tx_isolation" => Value::text(isolation_name(self.isolation)),
            "transaction_read_only" | "tx_read_only" => bool(self.transaction_read_only),
            "completion_type" => Value::text(self.completion_type.name()),
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
            "insert_id" => unsigned(self.insert_ids.given().unwrap_or(0)),
            "last_insert_id" | "identity" => unsigned(last_insert_id),
            "sql_log_bin" => bool(self.sql_log_bin),
            "original_commit_timestamp" => unsigned(self.original_commit_us.unwrap_or(NO_COMMIT_US)),
            "original_server_version" => {
                unsigned(self.original_server_version.unwrap_or(UNKNOWN_SERVER_VERSION).into())
            }
            "immediate_server_version" => {
                unsigned(self.immediate_server_version.unwrap_or(UNKNOWN_SERVER_VERSION).into())
            }
            "auto_increment_increment" => unsigned(self.auto_increment_increment),
            "auto_increment_offset" => unsigned(self.auto_increment_offset),
            "sql_select_limit" => unsigned(self.sql_select_limit),
            "group_concat_max_len" => unsigned(self.group_concat_max_len as u64),
            "max_error_count" => unsigned(self.max_error_count),
            "warning_count" => unsigned(self.conditions_before.0),
            "error_count" => unsigned(self.conditions_before.1),
            "div_precision_increment" => unsigned(u64::from(self.div_precision_increment)),
            "default_week_format" => unsigned(u64::from(self.default_week_format)),
            "lc_time_names" => Value::text(self.locale.name),
            "join_buffer_size" => unsigned(self.join_buffer_bytes),
            "innodb_parallel_read_threads" => unsigned(self.parallel_read_threads),
            "sort_buffer_size" => unsigned(self.sort_buffer_bytes),
            "tmp_table_size" => unsigned(self.tmp_table_bytes),
            "max_allowed_packet" => unsigned(self.max_allowed_packet as u64),
            "innodb_lock_wait_timeout" => unsigned(self.innodb_lock_wait_timeout_s),
            "lock_wait_timeout" => unsigned(self.lock_wait_timeout_s),
            "cte_max_recursion_depth" => unsigned(self.cte_max_recursion_depth),
            "max_execution_time" => unsigned(self.max_execution_time_ms),
            "optimizer_switch" => Value::text(&self.switches.to_string()),
            "sql_safe_updates" => bool(self.sql_safe_updates),
            "binlog_rows_query_log_events" => bool(self.logs_rows_query),
            "foreign_key_checks" => bool(self.foreign_key_checks),
            "slipstream_dialect" => Value::text(if self.of_mariadb { MARIADB } else { MYSQL }),
            "slipstream_fire_triggers" => bool(self.fire_triggers),
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

    /// Sets `gtid_owned`, which no client can set.
    pub fn show_owned_gtid(&mut self, owned: &str) {
        self.kept.insert("gtid_owned", Value::text(owned));
    }

    /// Returns the level of zstd with which transactions are compressed in the binary log. `None`
    /// means that they are not compressed.
    pub fn transaction_compression(&self) -> Option<u8> {
        self.binlog_transaction_compression.then_some(self.binlog_transaction_compression_level)
    }

    /// Forgets what was said of the next transaction's first commit, which has come to an end. As
    /// in MySQL, it holds for one transaction.
    pub fn forget_original(&mut self) {
        self.original_commit_us = None;
        self.original_server_version = None;
        self.immediate_server_version = None;
    }

    /// Reports whether a kept switch is on.
    pub fn kept_on(&self, name: &str) -> bool {
        matches!(self.kept.get(name), Some(Value::Int(1)))
    }

    /// Sets a session value that is kept in this type. The session itself sets `last_insert_id`.
    /// Returns true if a number was moved into the variable's range.
    ///
    /// # Errors
    /// Returns 1231 and 1232 for values that the variable does not take, and other errors of single
    /// variables, such as 1298 for an unknown time zone.
    pub fn set(&mut self, engine: &Arc<Engine>, name: &str, value: &Value) -> Result<bool> {
        let wanted = Wanted::new(name, value);
        self.set_wanted(engine, &wanted)?;
        Ok(wanted.is_moved())
    }

    /// Returns a copy in which a variable has another value.
    ///
    /// # Errors
    /// Returns the errors of [`Variables::set`].
    pub fn with(&self, engine: &Arc<Engine>, name: &str, value: &Value) -> Result<Variables> {
        let mut copy = self.clone();
        copy.set(engine, name, value)?;
        Ok(copy)
    }

    /// Returns the value of `optimizer_switch` after it is set. `defaults` is what `default` means
    /// in the value.
    ///
    /// # Errors
    /// Returns 1231 and 1232 for what the variable does not take.
    pub fn switched(&self, value: &Value, defaults: &Variables) -> Result<Value> {
        let switches = Wanted::new("optimizer_switch", value).switches(self.switches, defaults.switches)?;
        Ok(Value::text(&switches.to_string()))
    }

    fn set_wanted(&mut self, engine: &Arc<Engine>, wanted: &Wanted<'_>) -> Result<()> {
        match wanted.name {
            "autocommit" => self.autocommit = wanted.boolean()?,
            "sql_mode" => {
                self.sql_mode = match wanted.value {
                    Value::Int(bits) => SqlMode::of_bits(*bits as u64)?,
                    Value::UInt(bits) => SqlMode::of_bits(*bits)?,
                    Value::Bytes(_) if self.of_mariadb => SqlMode::parse_of_mariadb(&wanted.text())?,
                    Value::Bytes(_) => SqlMode::parse(&wanted.text())?,
                    Value::Null => return Err(wanted.is_wrong()),
                    _ => return Err(SqlError::wrong_type_for_variable(wanted.name)),
                }
            }
            "transaction_isolation" | "tx_isolation" => self.isolation = wanted.isolation()?,
            "transaction_read_only" | "tx_read_only" => self.transaction_read_only = wanted.boolean()?,
            "completion_type" => {
                self.completion_type = match wanted.value {
                    Value::Int(_) | Value::UInt(_) | Value::Bytes(_) | Value::Null => {
                        CompletionType::named(&wanted.text()).ok_or_else(|| wanted.is_wrong())?
                    }
                    _ => return Err(SqlError::wrong_type_for_variable(wanted.name)),
                }
            }
            "character_set_client" => {
                let id = wanted.charset()?;
                let charset = collation::charset_of(id);
                if !charset.is_for_clients() {
                    return Err(SqlError::not_for_clients(charset.name()));
                }
                self.client_collation = id;
            }
            "character_set_connection" => self.connection_collation = wanted.charset()?,
            "character_set_results" => {
                self.results_collation = if wanted.value.is_null() { None } else { Some(wanted.charset()?) }
            }
            "character_set_server" => self.server_collation = wanted.charset()?,
            "collation_connection" => self.connection_collation = wanted.collation()?,
            "collation_server" => self.server_collation = wanted.collation()?,
            "time_zone" => {
                let mut zone = wanted.zone_name()?;
                self.zone = crate::time_zone::find(engine, &zone).ok_or_else(|| {
                    SqlError::new(1298, format!("Unknown or incorrect time zone: '{zone:.64}'"))
                })?;
                if zone.eq_ignore_ascii_case("SYSTEM") {
                    zone.make_ascii_uppercase();
                }
                self.time_zone = zone;
            }
            "timestamp" => self.timestamp_us = wanted.timestamp_us()?,
            "insert_id" => self.insert_ids.give(Some(wanted.number(0, u64::MAX)?)),
            "sql_log_bin" => self.sql_log_bin = wanted.boolean()?,
            "original_commit_timestamp" => {
                let us = wanted.number(0, NO_COMMIT_US)?;
                self.original_commit_us = (us < NO_COMMIT_US).then_some(us);
            }
            "original_server_version" => self.original_server_version = wanted.server_version()?,
            "immediate_server_version" => self.immediate_server_version = wanted.server_version()?,
            "auto_increment_increment" => self.auto_increment_increment = wanted.number(1, 65_535)?,
            "auto_increment_offset" => self.auto_increment_offset = wanted.number(1, 65_535)?,
            "sql_select_limit" => self.sql_select_limit = wanted.number(0, u64::MAX)?,
            "group_concat_max_len" => self.group_concat_max_len = wanted.number(4, 1 << 30)? as usize,
            "max_error_count" => self.max_error_count = wanted.number(0, 65_535)?,
            "div_precision_increment" => self.div_precision_increment = wanted.number(0, 30)? as u8,
            "default_week_format" => self.default_week_format = wanted.number(0, 7)? as u8,
            "lc_time_names" => {
                let known = match wanted.value {
                    Value::Int(number) => u64::try_from(*number).ok().and_then(locale::numbered),
                    Value::UInt(number) => locale::numbered(*number),
                    Value::Bytes(_) | Value::Null => locale::named(&wanted.text()),
                    _ => return Err(SqlError::wrong_type_for_variable(wanted.name)),
                };
                self.locale = known.ok_or_else(|| unknown_locale(&wanted.text()))?;
            }
            "join_buffer_size" => self.join_buffer_bytes = wanted.number(128, u64::MAX - 127)?,
            "innodb_parallel_read_threads" => self.parallel_read_threads = wanted.number(1, 256)?,
            "sort_buffer_size" => self.sort_buffer_bytes = wanted.number(32_768, u64::MAX)?,
            "tmp_table_size" => self.tmp_table_bytes = wanted.number(1024, u64::MAX)?,
            "max_allowed_packet" => self.max_allowed_packet = wanted.number(1024, 1 << 30)? as usize,
            "innodb_lock_wait_timeout" => self.innodb_lock_wait_timeout_s = wanted.number(1, 1 << 30)?,
            "lock_wait_timeout" => self.lock_wait_timeout_s = wanted.number(1, 31_536_000)?,
            "cte_max_recursion_depth" => {
                self.cte_max_recursion_depth = wanted.number(0, u64::from(u32::MAX))?;
            }
            "max_execution_time" => {
                self.max_execution_time_ms = wanted.number(0, u64::MAX)?;
            }
            "optimizer_switch" => self.switches = wanted.switches(self.switches, Switches::default())?,
            "sql_safe_updates" => self.sql_safe_updates = wanted.boolean()?,
            "binlog_rows_query_log_events" => self.logs_rows_query = wanted.boolean()?,
            "foreign_key_checks" => self.foreign_key_checks = wanted.boolean()?,
            "slipstream_dialect" => {
                self.of_mariadb = match wanted.text().to_ascii_uppercase().as_str() {
                    MYSQL => false,
                    MARIADB => true,
                    _ => return Err(wanted.is_wrong()),
                }
            }
            "slipstream_fire_triggers" => self.fire_triggers = wanted.boolean()?,
            "unique_checks" => self.unique_checks = wanted.boolean()?,
            "explicit_defaults_for_timestamp" => self.explicit_timestamps = wanted.boolean()?,
            "binlog_row_image" => {
                self.row_image = match wanted.text().to_ascii_uppercase().as_str() {
                    "FULL" => RowImage::Full,
                    "MINIMAL" => RowImage::Minimal,
                    "NOBLOB" => RowImage::Noblob,
                    _ => return Err(wanted.is_wrong()),
                }
            }
            "binlog_transaction_compression" => {
                self.binlog_transaction_compression = wanted.boolean()?;
            }
            "binlog_transaction_compression_level_zstd" => {
                self.binlog_transaction_compression_level = wanted.number(1, 22)? as u8;
            }
            "binlog_format" => {
                self.binlog_format = BinlogFormat::named(&wanted.text().to_ascii_uppercase())
                    .ok_or_else(|| wanted.is_wrong())?;
            }
            "warning_count" | "error_count" => {
                let text = format!("Variable '{}' is a read only variable", wanted.name);
                return Err(SqlError::new(1238, text));
            }
            _ => return self.set_kept(wanted),
        }
        Ok(())
    }

    fn set_kept(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let Some((name, kind, _)) = KEPT.iter().find(|(kept, ..)| *kept == wanted.name) else {
            return Err(SqlError::unknown_variable(wanted.name));
        };
        let value = match kind {
            Kind::Bool => Value::Int(i64::from(wanted.boolean()?)),
            Kind::Number => Value::UInt(wanted.number(0, u64::MAX)?),
            Kind::Text => Value::Bytes(wanted.bytes()),
        };
        self.kept.insert(name, value);
        Ok(())
    }

    /// Carries out SET NAMES. A `charset` of `None` is DEFAULT.
    ///
    /// # Errors
    /// Returns 1115 or 1273 for an unknown name, 1231 for a character set that clients cannot use,
    /// and 1253 for a collation of another character set.
    pub fn set_names(&mut self, charset: Option<&str>, collation: Option<&str>) -> Result<()> {
        let client = clients_collation(charset)?;
        let mut connection = client;
        if let Some(name) = collation {
            connection = known_collation(name).ok_or_else(|| unknown_collation(name))?;
            let (wanted, is) = (collation::charset_of(client), collation::charset_of(connection));
            if wanted != is {
                let text = format!("COLLATION '{name}' is not valid for CHARACTER SET '{}'", wanted.name());
                return Err(SqlError::new(1253, text));
            }
        }
        (self.client_collation, self.results_collation) = (client, Some(client));
        self.connection_collation = connection;
        Ok(())
    }

    /// Carries out SET CHARACTER SET. `None` is DEFAULT.
    ///
    /// # Errors
    /// Returns 1115 for an unknown name, and 1231 for a character set that clients cannot use.
    pub fn set_character_set(&mut self, charset: Option<&str>) -> Result<()> {
        let id = clients_collation(charset)?;
        (self.client_collation, self.results_collation) = (id, Some(id));
        self.connection_collation = self.server_collation;
        Ok(())
    }

    /// Returns a value as SHOW VARIABLES prints it. Switches are ON or OFF. `None` if the variable
    /// is not kept in this type.
    pub fn shown(&self, name: &str, last_insert_id: u64) -> Option<String> {
        const SWITCHES: &[&str] = &[
            "autocommit",
            "transaction_read_only",
            "tx_read_only",
            "sql_log_bin",
            "sql_safe_updates",
            "binlog_rows_query_log_events",
            "foreign_key_checks",
            "slipstream_fire_triggers",
            "unique_checks",
            "explicit_defaults_for_timestamp",
        ];
        let value = self.get(name, last_insert_id)?;
        let is_switch = SWITCHES.contains(&name)
            || KEPT.iter().any(|(kept, kind, _)| *kept == name && *kind == Kind::Bool);
        Some(match value {
            Value::Int(on) if is_switch => if on == 0 { "OFF" } else { "ON" }.to_owned(),
            Value::Double(n) => format!("{n:.6}"),
            value => Wanted::new(name, &value).text(),
        })
    }
}

/// Reports whether a type's values are text for the client, in the character set of the results.
pub(crate) fn is_character(code: TypeCode) -> bool {
    matches!(code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set)
}
