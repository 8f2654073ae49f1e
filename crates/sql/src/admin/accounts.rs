//! An account's name, and what CREATE USER and ALTER USER say of it.

/// An account name as written: `'user'@'host'`; host `%` where none was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// User name; empty is the anonymous user.
    pub user: String,
    /// Host pattern.
    pub host: String,
    /// `CURRENT_USER` or `USER()` was written instead of a name; `user` and `host` are then empty.
    pub is_current_user: bool,
}

/// How an account proves itself, as written in `IDENTIFIED ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authentication {
    /// `WITH plugin`, when written.
    pub plugin: Option<String>,
    /// What follows `BY` or `AS`.
    pub secret: Secret,
    /// `REPLACE 'current password'`.
    pub replace: Option<String>,
    /// `RETAIN CURRENT PASSWORD`: the present password goes on being one.
    pub retain: bool,
}

impl Authentication {
    /// With nothing behind the secret.
    pub fn new(plugin: Option<String>, secret: Secret) -> Authentication {
        Authentication { plugin, secret, replace: None, retain: false }
    }
}

/// The secret of an [`Authentication`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// No `BY` and no `AS`.
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

/// REQUIRE: what a connection must be to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TlsRequirement {
    /// `NONE`.
    #[default]
    None,
    /// `SSL`: encrypted.
    Ssl,
    /// `X509`: with a client's certificate.
    X509,
    /// `CIPHER`, `ISSUER` and `SUBJECT`; empty where not written.
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
    /// At once.
    Now,
    /// `DEFAULT`, `NEVER` (0) or `INTERVAL n DAY`, from the last change on.
    Lifetime(Option<u16>),
}

/// `COMMENT` or `ATTRIBUTE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAttribute {
    /// `COMMENT 'text'`, which is the member `comment`.
    Comment(String),
    /// `ATTRIBUTE 'object'`, as written.
    Object(String),
}

/// What stands behind the accounts of CREATE USER and ALTER USER. `None` was not written and stays;
/// an inner `None` is DEFAULT.
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
    /// `PASSWORD_LOCK_TIME`; -1 is UNBOUNDED.
    pub password_lock_days: Option<i32>,
    /// `COMMENT` or `ATTRIBUTE`.
    pub attribute: Option<UserAttribute>,
    /// `DEFAULT ROLE` of CREATE USER.
    pub default_roles: Vec<Account>,
}
