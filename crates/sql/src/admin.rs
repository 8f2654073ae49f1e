//! Statements that this crate only parses: the server, its users and its replication carry them
//! out.
//!
//! Each is handed to [`crate::Host::admin`] as one [`AdminCommand`]. The old words (MASTER, SLAVE)
//! and the new ones parse to the same command; [`AdminCommand::ShowReplicaStatus`] says which were
//! used, because the names of the result's columns differ.

mod accounts;
mod logged;

pub use accounts::{
    Account, AccountOptions, Authentication, PasswordExpiry, Secret, TlsRequirement, UserAttribute,
};
pub use logged::{AccountsChanged, AccountsLog};

/// One account of CREATE USER and ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSpec {
    /// The account.
    pub account: Account,
    /// `IDENTIFIED ...`, when written.
    pub authentication: Option<Authentication>,
}

/// What a privilege is granted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantObject {
    /// `*.*`.
    Global,
    /// `*`: the current schema.
    CurrentSchema,
    /// `schema.*`; the name is a pattern.
    Schema(String),
    /// `schema.table` or `table`.
    Table {
        /// As written; `None` is the current schema.
        schema: Option<String>,
        /// Its name.
        table: String,
    },
    /// `PROCEDURE name` or `FUNCTION name`.
    Routine {
        /// FUNCTION was written.
        is_function: bool,
        /// As written; `None` is the current schema.
        schema: Option<String>,
        /// Its name.
        name: String,
    },
}

/// Which roles SET ROLE makes active, and which a user's sessions begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleChoice {
    /// DEFAULT.
    Default,
    /// NONE.
    None,
    /// ALL, without those of EXCEPT.
    AllExcept(Vec<Account>),
    /// These.
    These(Vec<Account>),
}

/// The account whose restrictions a GRANT passes on, where it is not the one that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantAs {
    /// The account.
    pub account: Account,
    /// Which of its roles count.
    pub roles: RoleChoice,
}

/// One privilege of GRANT and REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantPrivilege {
    /// In upper case, words separated by one space: `SELECT`, `REPLICATION SLAVE`, `ALL`.
    pub name: String,
    /// Columns, when written.
    pub columns: Vec<String>,
}

/// Options of CHANGE REPLICATION SOURCE TO and CHANGE MASTER TO. What was not written is `None` and
/// keeps its value.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(
    missing_docs,
    reason = "each field is the option SOURCE_<name> of the statement, documented in MySQL's manual"
)]
pub struct SourceOptions {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub bind: Option<String>,
    pub log_file: Option<String>,
    pub log_pos: Option<u64>,
    pub relay_log_file: Option<String>,
    pub relay_log_pos: Option<u64>,
    pub auto_position: Option<bool>,
    /// MariaDB's `MASTER_USE_GTID = no | current_pos | slave_pos | replica_pos`, in lower case.
    pub use_gtid: Option<String>,
    pub connect_retry_s: Option<u32>,
    pub retry_count: Option<u64>,
    pub heartbeat_period_s: Option<f64>,
    pub delay_s: Option<u32>,
    pub get_public_key: Option<bool>,
    pub public_key_path: Option<String>,
    pub ssl: Option<bool>,
    pub ssl_ca: Option<String>,
    pub ssl_capath: Option<String>,
    pub ssl_cert: Option<String>,
    pub ssl_cipher: Option<String>,
    pub ssl_key: Option<String>,
    pub ssl_verify_server_cert: Option<bool>,
    pub tls_version: Option<String>,
    /// The inner `None` is NULL: every suite.
    pub tls_ciphersuites: Option<Option<String>>,
    pub ignore_server_ids: Option<Vec<u32>>,
    pub compression_algorithms: Option<String>,
    pub zstd_compression_level: Option<u64>,
    pub require_row_format: Option<bool>,
    /// `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS`: `OFF`, `LOCAL` or a UUID.
    pub assign_gtids: Option<String>,
    /// Options that are MySQL's but mean nothing here, as `(name, text)`: the host warns or
    /// refuses.
    pub other: Vec<(String, String)>,
}

/// A kind of replication filter, in the order in which the servers list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the filter REPLICATE_<name> of MySQL's manual")]
pub enum FilterKind {
    DoDb,
    IgnoreDb,
    DoTable,
    IgnoreTable,
    WildDoTable,
    WildIgnoreTable,
    RewriteDb,
}

impl FilterKind {
    /// All of them.
    pub const ALL: [FilterKind; 7] = [
        FilterKind::DoDb,
        FilterKind::IgnoreDb,
        FilterKind::DoTable,
        FilterKind::IgnoreTable,
        FilterKind::WildDoTable,
        FilterKind::WildIgnoreTable,
        FilterKind::RewriteDb,
    ];

    /// As statements and performance_schema name it.
    pub fn name(self) -> &'static str {
        match self {
            FilterKind::DoDb => "REPLICATE_DO_DB",
            FilterKind::IgnoreDb => "REPLICATE_IGNORE_DB",
            FilterKind::DoTable => "REPLICATE_DO_TABLE",
            FilterKind::IgnoreTable => "REPLICATE_IGNORE_TABLE",
            FilterKind::WildDoTable => "REPLICATE_WILD_DO_TABLE",
            FilterKind::WildIgnoreTable => "REPLICATE_WILD_IGNORE_TABLE",
            FilterKind::RewriteDb => "REPLICATE_REWRITE_DB",
        }
    }
}

/// One rule of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterRule {
    /// A schema, `schema.table`, a pattern, or the schema that is rewritten.
    pub what: String,
    /// What it is rewritten to; empty for the other kinds.
    pub to: String,
}

/// Which threads START REPLICA and STOP REPLICA are about. Neither written means both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaThreads {
    /// `IO_THREAD`.
    pub receiver: bool,
    /// `SQL_THREAD`.
    pub applier: bool,
}

/// `UNTIL` of START REPLICA.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the statement's own")]
pub enum Until {
    SourcePosition { log_file: String, log_pos: u64 },
    RelayPosition { log_file: String, log_pos: u64 },
    SqlBeforeGtids(String),
    SqlAfterGtids(String),
    SqlAfterGaps,
}

/// What `PURGE BINARY LOGS` and `SHOW BINLOG EVENTS` point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurgeTo {
    /// `TO 'file'`: everything before this file.
    File(String),
    /// `BEFORE datetime`: unix time in seconds.
    BeforeUnixTime(i64),
}

/// What FLUSH flushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `FLUSH LOGS`: all of them.
    Logs,
    /// `FLUSH BINARY LOGS`.
    BinaryLogs,
    /// `FLUSH RELAY LOGS`.
    RelayLogs,
    /// `FLUSH ERROR|GENERAL|SLOW|ENGINE LOGS`, with the word.
    OtherLogs(String),
    /// `FLUSH PRIVILEGES`.
    Privileges,
    /// `FLUSH STATUS`.
    Status,
    /// `FLUSH TABLES [t, ...]`: `(schema, table)`.
    Tables(Vec<(String, String)>),
    /// `FLUSH TABLES WITH READ LOCK`.
    TablesWithReadLock,
    /// `FLUSH HOSTS`, `USER_RESOURCES`, `OPTIMIZER_COSTS`, `QUERY CACHE`: the words, in upper case.
    Other(String),
}

/// What REVOKE takes as a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lenience {
    /// IF EXISTS: privileges and roles that are not held.
    pub if_exists: bool,
    /// IGNORE UNKNOWN USER: accounts that do not exist.
    pub ignore_unknown_user: bool,
}

/// A statement for the server.
#[derive(Debug, Clone, PartialEq)]
pub enum AdminCommand {
    /// CHANGE REPLICATION SOURCE TO, CHANGE MASTER TO.
    ChangeReplicationSource {
        /// What to change.
        options: Box<SourceOptions>,
        /// `FOR CHANNEL`.
        channel: Option<String>,
    },
    /// CHANGE REPLICATION FILTER.
    ChangeReplicationFilter {
        /// The filters that are set; an empty list of rules takes one away.
        filters: Vec<(FilterKind, Vec<FilterRule>)>,
        /// `FOR CHANNEL`; `None` is the global filters and those of all channels.
        channel: Option<String>,
    },
    /// START REPLICA. `user` and `password` of its connection options are not kept.
    StartReplica {
        /// Which threads.
        threads: ReplicaThreads,
        /// UNTIL.
        until: Option<Until>,
        /// `FOR CHANNEL`; `None` is all channels.
        channel: Option<String>,
    },
    /// STOP REPLICA.
    StopReplica {
        /// Which threads.
        threads: ReplicaThreads,
        /// `FOR CHANNEL`; `None` is all channels.
        channel: Option<String>,
    },
    /// RESET REPLICA [ALL].
    ResetReplica {
        /// ALL was written: connection parameters go too.
        all: bool,
        /// `FOR CHANNEL`; `None` is all channels.
        channel: Option<String>,
    },
    /// SHOW REPLICA STATUS.
    ShowReplicaStatus {
        /// SLAVE was written: columns carry the old names (`Master_Host`, ...).
        old_names: bool,
        /// `FOR CHANNEL`; `None` is all channels.
        channel: Option<String>,
    },
    /// SHOW REPLICAS, SHOW SLAVE HOSTS.
    ShowReplicas {
        /// SLAVE HOSTS was written.
        old_names: bool,
    },
    /// SHOW BINARY LOGS, SHOW MASTER LOGS.
    ShowBinaryLogs,
    /// SHOW BINARY LOG STATUS, SHOW MASTER STATUS.
    ShowBinaryLogStatus,
    /// SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS.
    ShowBinlogEvents {
        /// RELAYLOG was written.
        relay: bool,
        /// `FOR CHANNEL`.
        channel: Option<String>,
        /// `IN 'file'`; the first file where not written.
        file: Option<String>,
        /// `FROM pos`.
        position: Option<u64>,
        /// `LIMIT offset`.
        offset: u64,
        /// `LIMIT count`.
        limit: Option<u64>,
    },
    /// RESET BINARY LOGS AND GTIDS [TO n], RESET MASTER.
    ResetBinaryLogsAndGtids {
        /// `TO n`.
        to: Option<u64>,
    },
    /// PURGE BINARY LOGS.
    PurgeBinaryLogs(PurgeTo),
    /// FLUSH.
    Flush {
        /// What.
        targets: Vec<FlushTarget>,
        /// `LOCAL` or `NO_WRITE_TO_BINLOG`.
        local: bool,
    },
    /// UNLOCK TABLES after a `FLUSH TABLES WITH READ LOCK` of this session.
    UnlockTables,
    /// KILL.
    Kill {
        /// KILL QUERY: end its statement only.
        query_only: bool,
        /// The connection.
        connection_id: u64,
    },
    /// SHUTDOWN, RESTART.
    Shutdown {
        /// RESTART was written.
        restart: bool,
    },
    /// SHOW [FULL] PROCESSLIST.
    ShowProcesslist {
        /// FULL: the whole text of statements.
        full: bool,
    },
    /// SHOW ENGINE name STATUS | MUTEX.
    ShowEngine {
        /// Engine's name as written.
        engine: String,
        /// `STATUS` or `MUTEX`.
        what: String,
    },
    /// SHOW PLUGINS.
    ShowPlugins,
    /// SHOW PRIVILEGES.
    ShowPrivileges,
    /// CREATE USER.
    CreateUser {
        /// Accounts.
        accounts: Vec<AccountSpec>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// OR REPLACE, of a MariaDB source only.
        or_replace: bool,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// ALTER USER.
    AlterUser {
        /// Accounts.
        accounts: Vec<AccountSpec>,
        /// IF EXISTS.
        if_exists: bool,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// DROP USER.
    DropUser {
        /// Accounts.
        accounts: Vec<Account>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME USER: pairs of old and new.
    RenameUser(Vec<(Account, Account)>),
    /// SET PASSWORD [FOR account] = 'text'.
    SetPassword {
        /// The account; `None` is the session's own.
        account: Option<Account>,
        /// The new one, what it replaces, and whether that is retained.
        authentication: Authentication,
    },
    /// GRANT of privileges.
    Grant {
        /// What.
        privileges: Vec<GrantPrivilege>,
        /// On what.
        on: GrantObject,
        /// The accounts that get them.
        to: Vec<Account>,
        /// Those with a password behind them, of a source only.
        identified: Vec<AccountSpec>,
        /// WITH GRANT OPTION.
        with_grant_option: bool,
        /// AS: in whose name.
        grantor: Option<GrantAs>,
    },
    /// REVOKE of privileges.
    Revoke {
        /// What; empty where nothing was written but ALL PRIVILEGES, GRANT OPTION.
        privileges: Vec<GrantPrivilege>,
        /// On what; `None` is REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
        on: Option<GrantObject>,
        /// The accounts that lose them.
        from: Vec<Account>,
        /// What may be missing.
        lenience: Lenience,
    },
    /// GRANT of roles.
    GrantRoles {
        /// Which.
        roles: Vec<Account>,
        /// The accounts that get them.
        to: Vec<Account>,
        /// WITH ADMIN OPTION.
        with_admin_option: bool,
    },
    /// REVOKE of roles.
    RevokeRoles {
        /// Which.
        roles: Vec<Account>,
        /// The accounts that lose them.
        from: Vec<Account>,
        /// What may be missing.
        lenience: Lenience,
    },
    /// GRANT PROXY ON.
    GrantProxy {
        /// The account that the others may stand for.
        on: Account,
        /// The accounts that get the right.
        to: Vec<Account>,
        /// WITH GRANT OPTION.
        with_grant_option: bool,
    },
    /// REVOKE PROXY ON.
    RevokeProxy {
        /// The account that the others may no longer stand for.
        on: Account,
        /// The accounts that lose the right.
        from: Vec<Account>,
        /// What may be missing.
        lenience: Lenience,
    },
    /// CREATE ROLE.
    CreateRole {
        /// Which.
        roles: Vec<Account>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// OR REPLACE, of a MariaDB source only.
        or_replace: bool,
        /// WITH ADMIN, of a MariaDB source only.
        admins: Vec<Account>,
    },
    /// DROP ROLE.
    DropRole {
        /// Which.
        roles: Vec<Account>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// SET ROLE.
    SetRole(RoleChoice),
    /// SET DEFAULT ROLE, ALTER USER ... DEFAULT ROLE.
    SetDefaultRole {
        /// Which.
        choice: RoleChoice,
        /// The account.
        of: Vec<Account>,
    },
    /// SHOW GRANTS [FOR account [USING roles]].
    ShowGrants {
        /// The account; `None` is the session's own, with its active roles.
        account: Option<Account>,
        /// The roles whose privileges are shown as well.
        using: Vec<Account>,
    },
    /// SHOW CREATE USER.
    ShowCreateUser(Account),
}

impl AdminCommand {
    /// Whether it changes accounts or their privileges.
    pub fn is_about_accounts(&self) -> bool {
        matches!(
            self,
            AdminCommand::CreateUser { .. }
                | AdminCommand::AlterUser { .. }
                | AdminCommand::DropUser { .. }
                | AdminCommand::RenameUser(_)
                | AdminCommand::SetPassword { .. }
                | AdminCommand::Grant { .. }
                | AdminCommand::Revoke { .. }
                | AdminCommand::GrantRoles { .. }
                | AdminCommand::RevokeRoles { .. }
                | AdminCommand::GrantProxy { .. }
                | AdminCommand::RevokeProxy { .. }
                | AdminCommand::CreateRole { .. }
                | AdminCommand::DropRole { .. }
                | AdminCommand::SetDefaultRole { .. }
        )
    }
}
