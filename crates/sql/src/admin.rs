//! Statements that this crate only parses. The server, with its accounts and its replication,
//! carries them out.
//!
//! Each statement is handed to [`crate::Host::admin`] as one [`AdminCommand`]. The old words
//! (MASTER, SLAVE) and the new ones parse to the same command. [`AdminCommand::ShowReplicaStatus`]
//! says which words were used, because the names of the result's columns differ.

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
    /// `IDENTIFIED ...`, where it was written.
    pub authentication: Option<Authentication>,
}

/// The objects that a privilege is granted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantObject {
    /// `*.*`.
    Global,
    /// `*`: the current schema.
    CurrentSchema,
    /// `schema.*`. The name is a pattern.
    Schema(String),
    /// `schema.table` or `table`.
    Table {
        /// The schema as written. `None` means the current schema.
        schema: Option<String>,
        /// The table's name.
        table: String,
    },
    /// `PROCEDURE name` or `FUNCTION name`.
    Routine {
        /// Whether FUNCTION was written.
        is_function: bool,
        /// The schema as written. `None` means the current schema.
        schema: Option<String>,
        /// The routine's name.
        name: String,
    },
}

/// The roles that SET ROLE makes active, or that a user's sessions begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleChoice {
    /// DEFAULT.
    Default,
    /// NONE.
    None,
    /// ALL, without the roles that are listed after EXCEPT.
    AllExcept(Vec<Account>),
    /// The listed roles.
    These(Vec<Account>),
}

/// The account after AS of a GRANT, whose restrictions are passed on instead of those of the
/// account that runs the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantAs {
    /// The account.
    pub account: Account,
    /// Which roles of the account count.
    pub roles: RoleChoice,
}

/// One privilege of GRANT and REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantPrivilege {
    /// The privilege in upper case, words separated by one space: `SELECT`, `REPLICATION SLAVE`,
    /// `ALL`.
    pub name: String,
    /// The columns, where they were written; empty otherwise.
    pub columns: Vec<String>,
}

/// The options of CHANGE REPLICATION SOURCE TO and CHANGE MASTER TO. An option that was not written
/// is `None` and keeps its value.
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
    /// The TLS 1.3 suites. An inner `None` is NULL, which allows every suite.
    pub tls_ciphersuites: Option<Option<String>>,
    pub ignore_server_ids: Option<Vec<u32>>,
    pub compression_algorithms: Option<String>,
    pub zstd_compression_level: Option<u64>,
    pub require_row_format: Option<bool>,
    /// `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS`: `OFF`, `LOCAL` or a UUID.
    pub assign_gtids: Option<String>,
    /// Options of MySQL that mean nothing in this server, as `(name, text)`. The host warns or
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
    /// All kinds, in the order in which the servers list them.
    pub const ALL: [FilterKind; 7] = [
        FilterKind::DoDb,
        FilterKind::IgnoreDb,
        FilterKind::DoTable,
        FilterKind::IgnoreTable,
        FilterKind::WildDoTable,
        FilterKind::WildIgnoreTable,
        FilterKind::RewriteDb,
    ];

    /// Returns the kind's name in statements and performance_schema.
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
    /// A schema, `schema.table` or a pattern. For REPLICATE_REWRITE_DB it is the schema that is
    /// rewritten.
    pub what: String,
    /// The schema that `what` is rewritten to; empty for the other kinds.
    pub to: String,
}

/// The threads that START REPLICA and STOP REPLICA are about. Where the statement names none, both
/// are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaThreads {
    /// `IO_THREAD`.
    pub receiver: bool,
    /// `SQL_THREAD`.
    pub applier: bool,
}

/// The `USER` and `PASSWORD` of START REPLICA, which are empty where the statement does not have
/// them. The options about authentication plugins are read and have no effect.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplicaLogin {
    /// `USER`.
    pub user: String,
    /// `PASSWORD`.
    pub password: String,
}

impl std::fmt::Debug for ReplicaLogin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ReplicaLogin").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The `UNTIL` clause of START REPLICA.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the statement's own")]
pub enum Until {
    SourcePosition { log_file: String, log_pos: u64 },
    RelayPosition { log_file: String, log_pos: u64 },
    SqlBeforeGtids(String),
    SqlAfterGtids(String),
    SqlAfterGaps,
}

/// The binary logs that `PURGE BINARY LOGS` deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurgeTo {
    /// `TO 'file'`: every file before this one.
    File(String),
    /// `BEFORE datetime`: every file older than this moment, in seconds of Unix time.
    BeforeUnixTime(i64),
}

/// What FLUSH flushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// `FLUSH LOGS`: all logs.
    Logs,
    /// `FLUSH BINARY LOGS`.
    BinaryLogs,
    /// `FLUSH RELAY LOGS`.
    RelayLogs,
    /// `FLUSH ERROR|GENERAL|SLOW|ENGINE LOGS`, with the word in front of LOGS.
    OtherLogs(String),
    /// `FLUSH PRIVILEGES`.
    Privileges,
    /// `FLUSH STATUS`.
    Status,
    /// `FLUSH TABLES [t, ...]`, with each table as `(schema, table)`.
    Tables(Vec<(String, String)>),
    /// `FLUSH TABLES WITH READ LOCK`.
    TablesWithReadLock,
    /// `FLUSH HOSTS`, `USER_RESOURCES`, `OPTIMIZER_COSTS` or `QUERY CACHE`, with the words in upper
    /// case.
    Other(String),
}

/// The errors that REVOKE turns into warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lenience {
    /// IF EXISTS was written: privileges and roles that an account does not hold give warnings.
    pub if_exists: bool,
    /// IGNORE UNKNOWN USER was written: accounts that do not exist give warnings.
    pub ignore_unknown_user: bool,
}

/// A statement that the server carries out.
#[derive(Debug, Clone, PartialEq)]
pub enum AdminCommand {
    /// CHANGE REPLICATION SOURCE TO, CHANGE MASTER TO.
    ChangeReplicationSource {
        /// The options that are changed.
        options: Box<SourceOptions>,
        /// `FOR CHANNEL`.
        channel: Option<String>,
    },
    /// CHANGE REPLICATION FILTER.
    ChangeReplicationFilter {
        /// The filters that are set; an empty list of rules takes one away.
        filters: Vec<(FilterKind, Vec<FilterRule>)>,
        /// `FOR CHANNEL`. `None` means the global filters and those of all channels.
        channel: Option<String>,
    },
    /// START REPLICA.
    StartReplica {
        /// The threads that are started.
        threads: ReplicaThreads,
        /// UNTIL.
        until: Option<Until>,
        /// USER and PASSWORD.
        login: Option<ReplicaLogin>,
        /// `FOR CHANNEL`. `None` means all channels.
        channel: Option<String>,
    },
    /// STOP REPLICA.
    StopReplica {
        /// The threads that are stopped.
        threads: ReplicaThreads,
        /// `FOR CHANNEL`. `None` means all channels.
        channel: Option<String>,
    },
    /// `RESET REPLICA [ALL]`.
    ResetReplica {
        /// Whether ALL was written, which removes the connection parameters too.
        all: bool,
        /// `FOR CHANNEL`. `None` means all channels.
        channel: Option<String>,
    },
    /// SHOW REPLICA STATUS.
    ShowReplicaStatus {
        /// Whether SLAVE was written. The result's columns then have the old names (`Master_Host`,
        /// ...).
        old_names: bool,
        /// `FOR CHANNEL`. `None` means all channels.
        channel: Option<String>,
    },
    /// SHOW REPLICAS, SHOW SLAVE HOSTS.
    ShowReplicas {
        /// Whether SLAVE HOSTS was written.
        old_names: bool,
    },
    /// SHOW BINARY LOGS, SHOW MASTER LOGS.
    ShowBinaryLogs,
    /// SHOW BINARY LOG STATUS, SHOW MASTER STATUS.
    ShowBinaryLogStatus,
    /// SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS.
    ShowBinlogEvents {
        /// Whether RELAYLOG was written.
        relay: bool,
        /// `FOR CHANNEL`.
        channel: Option<String>,
        /// `IN 'file'`. `None` means the first file.
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
    /// `RESET PERSIST [[IF EXISTS] name]`. The session carries it out.
    ResetPersist {
        /// The variable. `None` means all.
        name: Option<String>,
        /// Whether IF EXISTS was written.
        if_exists: bool,
    },
    /// PURGE BINARY LOGS.
    PurgeBinaryLogs(PurgeTo),
    /// FLUSH.
    Flush {
        /// What is flushed.
        targets: Vec<FlushTarget>,
        /// Whether `LOCAL` or `NO_WRITE_TO_BINLOG` was written.
        local: bool,
    },
    /// UNLOCK TABLES after a `FLUSH TABLES WITH READ LOCK` of this session.
    UnlockTables,
    /// KILL.
    Kill {
        /// Whether QUERY was written, which ends the connection's statement only.
        query_only: bool,
        /// The id of the connection.
        connection_id: u64,
    },
    /// CLONE LOCAL DATA DIRECTORY.
    CloneLocal {
        /// The directory as written.
        directory: String,
    },
    /// SHUTDOWN, RESTART.
    Shutdown {
        /// Whether RESTART was written.
        restart: bool,
    },
    /// `SHOW [FULL] PROCESSLIST`.
    ShowProcesslist {
        /// Whether FULL was written, which shows the whole text of statements.
        full: bool,
    },
    /// SHOW ENGINE name STATUS | MUTEX.
    ShowEngine {
        /// The engine's name as written.
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
        /// The accounts that are made.
        accounts: Vec<AccountSpec>,
        /// Whether IF NOT EXISTS was written.
        if_not_exists: bool,
        /// Whether OR REPLACE was written. Only a MariaDB source sends it.
        or_replace: bool,
        /// The options for all of the accounts.
        options: AccountOptions,
    },
    /// ALTER USER.
    AlterUser {
        /// The accounts that are altered.
        accounts: Vec<AccountSpec>,
        /// Whether IF EXISTS was written.
        if_exists: bool,
        /// The options for all of the accounts.
        options: AccountOptions,
    },
    /// DROP USER.
    DropUser {
        /// The accounts that are dropped.
        accounts: Vec<Account>,
        /// Whether IF EXISTS was written.
        if_exists: bool,
    },
    /// RENAME USER, with pairs of old and new names.
    RenameUser(Vec<(Account, Account)>),
    /// SET PASSWORD [FOR account] = 'text'.
    SetPassword {
        /// The account. `None` means the session's own.
        account: Option<Account>,
        /// The new password, the one that it replaces, and whether that one is retained.
        authentication: Authentication,
    },
    /// GRANT of privileges.
    Grant {
        /// The privileges that are granted.
        privileges: Vec<GrantPrivilege>,
        /// The objects that they are granted on.
        on: GrantObject,
        /// The accounts that get them.
        to: Vec<Account>,
        /// The accounts that have a password after their name. Only a source sends them.
        identified: Vec<AccountSpec>,
        /// Whether WITH GRANT OPTION was written.
        with_grant_option: bool,
        /// `AS`: the account whose restrictions the grant passes on.
        grantor: Option<GrantAs>,
    },
    /// REVOKE of privileges.
    Revoke {
        /// The privileges that are revoked. They are empty for REVOKE ALL PRIVILEGES, GRANT OPTION.
        privileges: Vec<GrantPrivilege>,
        /// The objects that they are revoked on. `None` means REVOKE ALL PRIVILEGES, GRANT OPTION
        /// FROM.
        on: Option<GrantObject>,
        /// The accounts that lose them.
        from: Vec<Account>,
        /// The errors that become warnings.
        lenience: Lenience,
    },
    /// GRANT of roles.
    GrantRoles {
        /// The roles that are granted.
        roles: Vec<Account>,
        /// The accounts that get them.
        to: Vec<Account>,
        /// Whether WITH ADMIN OPTION was written.
        with_admin_option: bool,
    },
    /// REVOKE of roles.
    RevokeRoles {
        /// The roles that are revoked.
        roles: Vec<Account>,
        /// The accounts that lose them.
        from: Vec<Account>,
        /// The errors that become warnings.
        lenience: Lenience,
    },
    /// GRANT PROXY ON.
    GrantProxy {
        /// The account that the others may act as.
        on: Account,
        /// The accounts that get the right.
        to: Vec<Account>,
        /// Whether WITH GRANT OPTION was written.
        with_grant_option: bool,
    },
    /// REVOKE PROXY ON.
    RevokeProxy {
        /// The account that the others may no longer act as.
        on: Account,
        /// The accounts that lose the right.
        from: Vec<Account>,
        /// The errors that become warnings.
        lenience: Lenience,
    },
    /// CREATE ROLE.
    CreateRole {
        /// The roles that are made.
        roles: Vec<Account>,
        /// Whether IF NOT EXISTS was written.
        if_not_exists: bool,
        /// Whether OR REPLACE was written. Only a MariaDB source sends it.
        or_replace: bool,
        /// The accounts after WITH ADMIN. Only a MariaDB source sends them.
        admins: Vec<Account>,
    },
    /// DROP ROLE.
    DropRole {
        /// The roles that are dropped.
        roles: Vec<Account>,
        /// Whether IF EXISTS was written.
        if_exists: bool,
    },
    /// SET ROLE.
    SetRole(RoleChoice),
    /// SET DEFAULT ROLE, ALTER USER ... DEFAULT ROLE.
    SetDefaultRole {
        /// The roles that become the default.
        choice: RoleChoice,
        /// The accounts whose default roles are set.
        of: Vec<Account>,
    },
    /// SHOW GRANTS [FOR account [USING roles]].
    ShowGrants {
        /// The account. `None` means the session's own, with its active roles.
        account: Option<Account>,
        /// The roles after USING, whose privileges are shown as well.
        using: Vec<Account>,
    },
    /// SHOW CREATE USER.
    ShowCreateUser(Account),
}

impl AdminCommand {
    /// Reports whether the command changes accounts or their privileges.
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
