//! The text that the binary log gets for a statement about accounts. It has MySQL's own words, with
//! the value stored for a password in place of the password. A statement that holds no secret, and
//! whose names need no context, is logged as it was written.

use super::change::Change;
use super::privileges::STATIC;
use super::secret::{Credentials, DEFAULT_PLUGIN};
use super::show::literal;
use super::{AccountName, roles};
use sql::SqlError;
use sql::admin::{
    Account as Named, AccountOptions, AccountSpec, AdminCommand as Command, Authentication, GrantAs,
    GrantObject, GrantPrivilege, PasswordExpiry, RoleChoice, Secret, TlsRequirement, UserAttribute,
};

/// Returns the text to log for a statement that has been carried out. `written` is the statement.
pub fn logged_text(change: &Change<'_>, command: &Command, written: &str) -> Result<String, SqlError> {
    Words { change }.of(command, written)
}

/// Writes names and passwords as they are after a change.
struct Words<'a> {
    change: &'a Change<'a>,
}

impl Words<'_> {
    fn of(&self, command: &Command, written: &str) -> Result<String, SqlError> {
        Ok(match command {
            Command::CreateUser { accounts, if_not_exists, options, .. } => {
                let lenient = if *if_not_exists { "IF NOT EXISTS " } else { "" };
                format!("CREATE USER {lenient}{}{}", self.specs(accounts, true)?, self.options(options))
            }
            Command::AlterUser { accounts, if_exists, options } => {
                let lenient = if *if_exists { "IF EXISTS " } else { "" };
                format!("ALTER USER {lenient}{}{}", self.specs(accounts, false)?, self.options(options))
            }
            Command::SetPassword { account, authentication } => {
                let own = || Named { user: String::new(), host: String::new(), is_current_user: true };
                let account = account.clone().unwrap_or_else(own);
                let spec = AccountSpec { account, authentication: Some(authentication.clone()) };
                format!("ALTER USER {}", self.specs(&[spec], false)?)
            }
            Command::Grant { privileges, on, to, with_grant_option, grantor, .. } => {
                let option = if *with_grant_option || names_option(privileges) { GRANT_OPTION } else { "" };
                let (list, object) = (privilege_list(privileges), self.object(on));
                let grantor = self.granted_as(on, grantor.as_ref());
                format!("GRANT {list} ON {object} TO {}{option}{grantor}", self.names(to))
            }
            Command::GrantProxy { on, to, with_grant_option } => {
                let option = if *with_grant_option { GRANT_OPTION } else { "" };
                format!("GRANT PROXY ON {} TO {}{option}", quoted(&self.change.name(on)), self.names(to))
            }
            _ => written.to_owned(),
        })
    }

    /// Returns the AS clause with which a grant is logged. With partial revokes, a grant passes on
    /// the grantor's restrictions, and a replica learns the grantor only from this clause.
    fn granted_as(&self, on: &GrantObject, written: Option<&GrantAs>) -> String {
        let (account, roles) = match written {
            Some(GrantAs { account, roles }) => {
                let roles = match roles {
                    RoleChoice::None => "NONE".to_owned(),
                    RoleChoice::Default => "DEFAULT".to_owned(),
                    RoleChoice::AllExcept(roles) if roles.is_empty() => "ALL".to_owned(),
                    RoleChoice::AllExcept(roles) => format!("ALL EXCEPT {}", self.names(roles)),
                    RoleChoice::These(roles) => self.names(roles),
                };
                (self.change.name(account), roles)
            }
            None if self.change.by.partial_revokes && *on == GrantObject::Global => {
                let roles: Vec<String> = self.change.by.active_roles.iter().map(quoted).collect();
                let roles = if roles.is_empty() { "NONE".into() } else { roles.join(",") };
                (self.change.by.account.name(), roles)
            }
            None => return String::new(),
        };
        format!(" AS {} WITH ROLE {roles}", quoted(&account))
    }

    fn names(&self, named: &[Named]) -> String {
        let names: Vec<String> = named.iter().map(|named| quoted(&self.change.name(named))).collect();
        names.join(",")
    }

    fn specs(&self, specs: &[AccountSpec], is_new: bool) -> Result<String, SqlError> {
        let one = |spec: &AccountSpec| -> Result<String, SqlError> {
            let name = self.change.name(&spec.account);
            Ok(quoted(&name) + &self.identified(&name, spec.authentication.as_ref(), is_new)?)
        };
        Ok(specs.iter().map(one).collect::<Result<Vec<_>, _>>()?.join(","))
    }

    fn identified(
        &self,
        name: &AccountName,
        written: Option<&Authentication>,
        is_new: bool,
    ) -> Result<String, SqlError> {
        let Some(written) = written else {
            return Ok(if is_new { format!(" IDENTIFIED WITH '{DEFAULT_PLUGIN}'") } else { String::new() });
        };
        if written.secret == Secret::DiscardOld {
            return Ok(" DISCARD OLD PASSWORD".into());
        }
        let (plugin, stored) = match self.change.table.get(name) {
            Some(account) if self.change.changed.contains(name) => {
                (account.plugin.clone(), account.authentication_string.clone())
            }
            // The account was passed over. As in MySQL, the log gets what the account would have
            // got.
            _ => {
                let made =
                    Credentials::of(&super::Account::default(), written, self.change.random_chars, false)?;
                (made.plugin, made.stored)
            }
        };
        let stored = match (written.secret == Secret::None, std::str::from_utf8(&stored)) {
            (true, _) => String::new(),
            (false, Ok(text)) => format!(" AS {}", literal(text)),
            (false, Err(_)) => {
                stored.iter().fold(" AS 0x".to_owned(), |all, byte| all + &format!("{byte:02X}"))
            }
        };
        let retain = if written.retain { " RETAIN CURRENT PASSWORD" } else { "" };
        Ok(format!(" IDENTIFIED WITH {}{stored}{retain}", literal(&plugin)))
    }

    /// Returns the options behind the accounts.
    fn options(&self, options: &AccountOptions) -> String {
        let mut text = String::new();
        let mut put = |words: &str| {
            text.push(' ');
            text.push_str(words);
        };
        if !options.default_roles.is_empty() {
            let names: Vec<String> =
                options.default_roles.iter().map(|role| roles::shown(&self.change.name(role))).collect();
            put(&format!("DEFAULT ROLE {}", names.join(",")));
        }
        if let Some(require) = &options.require {
            put(&format!("REQUIRE {}", requirement(require)));
        }
        let limits = [
            ("QUERIES_PER_HOUR", options.max_queries_per_hour),
            ("UPDATES_PER_HOUR", options.max_updates_per_hour),
            ("CONNECTIONS_PER_HOUR", options.max_connections_per_hour),
            ("USER_CONNECTIONS", options.max_user_connections),
        ];
        let given: Vec<String> =
            limits.iter().filter_map(|(name, n)| n.map(|n| format!("MAX_{name} {n}"))).collect();
        if !given.is_empty() {
            put(&format!("WITH {}", given.join(" ")));
        }
        match options.expiry {
            None => {}
            Some(PasswordExpiry::Now) => put("PASSWORD EXPIRE"),
            Some(PasswordExpiry::Lifetime(None)) => put("PASSWORD EXPIRE DEFAULT"),
            Some(PasswordExpiry::Lifetime(Some(0))) => put("PASSWORD EXPIRE NEVER"),
            Some(PasswordExpiry::Lifetime(Some(days))) => {
                put(&format!("PASSWORD EXPIRE INTERVAL {days} DAY"))
            }
        }
        if let Some(locked) = options.locked {
            put(if locked { "ACCOUNT LOCK" } else { "ACCOUNT UNLOCK" });
        }
        if let Some(history) = options.password_history {
            put(&format!("PASSWORD HISTORY {}", history.map_or("DEFAULT".into(), |n| n.to_string())));
        }
        if let Some(days) = options.password_reuse_days {
            let days = days.map_or("DEFAULT".into(), |days| format!("{days} DAY"));
            put(&format!("PASSWORD REUSE INTERVAL {days}"));
        }
        match options.password_require_current {
            None => {}
            Some(None) => put("PASSWORD REQUIRE CURRENT DEFAULT"),
            Some(Some(true)) => put("PASSWORD REQUIRE CURRENT"),
            Some(Some(false)) => put("PASSWORD REQUIRE CURRENT OPTIONAL"),
        }
        if let Some(attempts) = options.failed_login_attempts {
            put(&format!("FAILED_LOGIN_ATTEMPTS {attempts}"));
        }
        match options.password_lock_days {
            None => {}
            Some(days) if days < 0 => put("PASSWORD_LOCK_TIME UNBOUNDED"),
            Some(days) => put(&format!("PASSWORD_LOCK_TIME {days}")),
        }
        match &options.attribute {
            None => {}
            Some(UserAttribute::Comment(comment)) => put(&format!("COMMENT {}", literal(comment))),
            Some(UserAttribute::Object(object)) => put(&format!("ATTRIBUTE {}", literal(object))),
        }
        text
    }

    fn object(&self, on: &GrantObject) -> String {
        let current = |schema: &Option<String>| {
            named(schema.as_deref().or(self.change.schema.as_deref()).unwrap_or_default())
        };
        match on {
            GrantObject::Global => "*.*".into(),
            GrantObject::CurrentSchema => format!("{}.*", current(&None)),
            GrantObject::Schema(schema) => format!("{}.*", named(schema)),
            GrantObject::Table { schema, table } => format!("{}.{}", current(schema), named(table)),
            GrantObject::Routine { is_function, schema, name } => {
                let kind = if *is_function { "FUNCTION" } else { "PROCEDURE" };
                format!("{kind} {}.{}", current(schema), named(name))
            }
        }
    }
}

const GRANT_OPTION: &str = " WITH GRANT OPTION";

fn names_option(privileges: &[GrantPrivilege]) -> bool {
    privileges.iter().any(|privilege| privilege.name == "GRANT OPTION")
}

/// Writes the list with static privileges in MySQL's order, then the others in the order written.
fn privilege_list(privileges: &[GrantPrivilege]) -> String {
    let place = |privilege: &GrantPrivilege| {
        STATIC.iter().position(|known| known.name == privilege.name).unwrap_or(STATIC.len())
    };
    let mut sorted: Vec<&GrantPrivilege> = privileges.iter().collect();
    sorted.sort_by_key(|privilege| place(privilege));
    let one = |privilege: &&GrantPrivilege| match privilege.name.as_str() {
        "ALL" => "ALL PRIVILEGES".to_owned(),
        name if privilege.columns.is_empty() => name.to_owned(),
        name => {
            let columns: Vec<String> = privilege.columns.iter().map(|column| named(column)).collect();
            format!("{name} ({})", columns.join(", "))
        }
    };
    sorted.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn requirement(require: &TlsRequirement) -> String {
    match require {
        TlsRequirement::None => "NONE".into(),
        TlsRequirement::Ssl => "SSL".into(),
        TlsRequirement::X509 => "X509".into(),
        TlsRequirement::Specified { cipher, issuer, subject } => {
            let parts = [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)];
            let given = parts.iter().filter(|(_, text)| !text.is_empty());
            given.map(|(name, text)| format!("{name} {}", literal(text))).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Returns the account in the form `'user'@'host'`.
fn quoted((user, host): &AccountName) -> String {
    format!("{}@{}", literal(user), literal(host))
}

/// Returns the name as a quoted identifier.
fn named(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
