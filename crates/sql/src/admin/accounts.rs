//! Account names, and the clauses of CREATE USER and ALTER USER.

/// An account name as written: `'user'@'host'`. Without a host, the host is `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user name. An empty one is the anonymous user.
    pub user: String,
    /// The pattern of hosts.
    pub host: String,
    /// Whether `CURRENT_USER` or `USER()` was written instead of a name. `user` and `host` are
    /// empty then.
    pub is_current_user: bool,
}

/// The way in which an account authenticates itself, as written in `IDENTIFIED ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authentication {
    /// The plugin of `WITH plugin`, if it was written.
    pub plugin: Option<String>,
    /// The secret behind `BY` or `AS`.
    pub secret: Secret,
    /// The password of `REPLACE 'current password'`.
    pub replace: Option<String>,
    /// Whether `RETAIN CURRENT PASSWORD` was written, so that the present password stays valid as
    /// well.
    pub retain: bool,
}

impl Authentication {
    /// Creates an authentication without the clauses behind the secret.
    pub fn new(plugin: Option<String>, secret: Secret) -> Authentication {
        Authentication { plugin, secret, replace: None, retain: false }
    }
}

/// The secret of an [`Authentication`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// Neither `BY` nor `AS` was written.
    None,
    /// `BY 'clear text'`.
    Password(String),
    /// `AS 'hash'` or `BY PASSWORD 'hash'`.
    Hash(Vec<u8>),
    /// `BY RANDOM PASSWORD`.
    Random,
    /// `DISCARD OLD PASSWORD`, in place of `IDENTIFIED`.
    DiscardOld,
}

/// The REQUIRE clause: what a connection has to be in order to be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TlsRequirement {
    /// `NONE`.
    #[default]
    None,
    /// `SSL`: encrypted.
    Ssl,
    /// `X509`: with a client's certificate.
    X509,
    /// `CIPHER`, `ISSUER` and `SUBJECT`. A text is empty if its clause was not written.
    Specified {
        /// The cipher suite.
        cipher: String,
        /// The authority that has to have signed the client's certificate.
        issuer: String,
        /// The subject that the certificate has to have.
        subject: String,
    },
}

/// `PASSWORD EXPIRE ...`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordExpiry {
    /// `PASSWORD EXPIRE` alone: the password expires at once.
    Now,
    /// `INTERVAL n DAY` after the last change, `NEVER` (0), or `DEFAULT` (`None`).
    Lifetime(Option<u16>),
}

/// The `COMMENT` or `ATTRIBUTE` clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAttribute {
    /// `COMMENT 'text'`, which sets the member `comment` of the attribute.
    Comment(String),
    /// `ATTRIBUTE 'object'`, as written.
    Object(String),
}

/// The options behind the accounts of CREATE USER and ALTER USER. `None` means that the option was
/// not written, so that it stays; an inner `None` means DEFAULT.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each is the option of MySQL's manual that has its name")]
pub struct AccountOptions {
    /// `ACCOUNT LOCK` / `ACCOUNT UNLOCK`.
    pub locked: Option<bool>,
    /// `REQUIRE ...`.
    pub require: Option<TlsRequirement>,
    pub max_queries_per_hour: Option<u32>,
    pub max_updates_per_hour: Option<u32>,
    pub max_connections_per_hour: Option<u32>,
    pub max_user_connections: Option<u32>,
    /// `PASSWORD EXPIRE ...`.
    pub expiry: Option<PasswordExpiry>,
    pub password_history: Option<Option<u16>>,
    pub password_reuse_days: Option<Option<u16>>,
    pub password_require_current: Option<Option<bool>>,
    pub failed_login_attempts: Option<u16>,
    /// `PASSWORD_LOCK_TIME` in days. -1 means UNBOUNDED.
    pub password_lock_days: Option<i32>,
    /// `COMMENT` or `ATTRIBUTE`.
    pub attribute: Option<UserAttribute>,
    /// `DEFAULT ROLE` of CREATE USER.
    pub default_roles: Vec<Account>,
}
