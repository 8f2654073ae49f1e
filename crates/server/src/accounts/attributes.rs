//! The properties that CREATE USER and ALTER USER set besides the password and the lock.

use sql::SqlError;
use sql::admin::{AccountOptions, PasswordExpiry, TlsRequirement, UserAttribute};
use types::json::{self, Member};

const US_PER_SECOND: u64 = 1_000_000;
const S_PER_DAY: u64 = 86_400;

/// The limits after `WITH` on what an account may use; 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each is the option MAX_<name> of MySQL's manual")]
pub struct Limits {
    pub queries_per_hour: u32,
    pub updates_per_hour: u32,
    pub connections_per_hour: u32,
    pub user_connections: u32,
}

/// The rule by which wrong passwords lock an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Locking {
    /// `FAILED_LOGIN_ATTEMPTS`: the number of wrong passwords in a row that locks the account.
    pub attempts: u16,
    /// `PASSWORD_LOCK_TIME`: the number of days for which it is locked; -1 means for ever.
    pub days: i32,
}

impl Locking {
    /// Reports whether the rule is in force, for which both values must be given.
    pub fn is_on(self) -> bool {
        self.attempts != 0 && self.days != 0
    }
}

/// A password that the account has or had, for the password history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPassword {
    /// The time when the password was set, in microseconds since 1970.
    pub at_us: u64,
    /// The value that the plugin stored for the password.
    pub stored: Vec<u8>,
}

/// The properties of an account that are kept in columns and JSON attributes of mysql.user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes {
    /// The requirement of `REQUIRE` on the connection.
    pub require: TlsRequirement,
    /// The limits of `WITH`.
    pub limits: Limits,
    /// The time when the password was last changed, in seconds since 1970.
    pub password_changed_s: Option<u64>,
    /// `PASSWORD EXPIRE`, in days: 0 means never, `None` means that `default_password_lifetime`
    /// decides.
    pub lifetime_days: Option<u16>,
    /// `PASSWORD HISTORY`, in passwords; `None` means that `password_history` decides.
    pub history: Option<u16>,
    /// `PASSWORD REUSE INTERVAL`, in days; `None` means that `password_reuse_interval` decides.
    pub reuse_days: Option<u16>,
    /// `PASSWORD REQUIRE CURRENT`; `None` means that `password_require_current` decides.
    pub require_current: Option<bool>,
    /// `FAILED_LOGIN_ATTEMPTS` and `PASSWORD_LOCK_TIME`.
    pub locking: Locking,
    /// The value that the plugin stored for the retained password; empty means that there is none.
    pub retained_password: Vec<u8>,
    /// The text of COMMENT and ATTRIBUTE, as a binary JSON object.
    pub metadata: Option<Vec<u8>>,
    /// The passwords that must not be used again, the latest first.
    pub past: Vec<PastPassword>,
}

impl Attributes {
    /// Reports whether the password is too old.
    pub fn has_outlived(&self, default_days: u64, now_us: u64) -> bool {
        let days = self.lifetime_days.map_or(default_days, u64::from);
        let changed = self.password_changed_s.filter(|_| days > 0);
        changed.is_some_and(|at_s| now_us / US_PER_SECOND >= at_s + days * S_PER_DAY)
    }

    /// Takes over the options of a statement. PASSWORD EXPIRE without a lifetime is not among the
    /// attributes; the account itself holds it.
    ///
    /// # Errors
    /// Returns 3982 when the user attribute is no JSON object.
    pub fn take(&mut self, options: &AccountOptions) -> Result<(), SqlError> {
        if let Some(require) = &options.require {
            self.require = require.clone();
        }
        let limits = &mut self.limits;
        for (limit, asked) in [
            (&mut limits.queries_per_hour, options.max_queries_per_hour),
            (&mut limits.updates_per_hour, options.max_updates_per_hour),
            (&mut limits.connections_per_hour, options.max_connections_per_hour),
            (&mut limits.user_connections, options.max_user_connections),
        ] {
            *limit = asked.unwrap_or(*limit);
        }
        if let Some(PasswordExpiry::Lifetime(days)) = options.expiry {
            self.lifetime_days = days;
        }
        self.history = options.password_history.unwrap_or(self.history);
        self.reuse_days = options.password_reuse_days.unwrap_or(self.reuse_days);
        self.require_current = options.password_require_current.unwrap_or(self.require_current);
        self.locking.attempts = options.failed_login_attempts.unwrap_or(self.locking.attempts);
        self.locking.days = options.password_lock_days.unwrap_or(self.locking.days);
        match &options.attribute {
            Some(attribute) => self.merge(attribute),
            None => Ok(()),
        }
    }

    fn merge(&mut self, attribute: &UserAttribute) -> Result<(), SqlError> {
        let patch = match attribute {
            UserAttribute::Comment(text) => {
                json::object(vec![("comment", Member::Text(text.as_bytes().to_vec()))])
            }
            UserAttribute::Object(text) => {
                json::parse_text(text.as_bytes()).ok().filter(|document| json::is_object(document))
            }
        };
        let invalid = || SqlError::new(3982, "The user attribute must be a valid JSON object");
        let patch = patch.ok_or_else(invalid)?;
        let before = match self.metadata.take() {
            Some(document) => document,
            None => json::object(Vec::new()).ok_or_else(invalid)?,
        };
        self.metadata = Some(json::merge_patch(&before, &patch).ok_or_else(invalid)?);
        Ok(())
    }

    /// Returns COMMENT and ATTRIBUTE as the text of a JSON object.
    pub fn metadata_text(&self) -> Option<String> {
        self.metadata.as_deref().map(text_of)
    }

    /// Returns the value of the column `User_attributes` as text. `None` means NULL.
    pub fn to_json(&self) -> Option<String> {
        let mut members = Vec::new();
        if !self.retained_password.is_empty() {
            members.push(("additional_password", Member::Text(self.retained_password.clone())));
        }
        if self.locking != Locking::default() {
            let locking = json::object(vec![
                ("failed_login_attempts", Member::Integer(self.locking.attempts.into())),
                ("password_lock_time_days", Member::Integer(self.locking.days.into())),
            ]);
            members.extend(locking.map(|locking| ("Password_locking", Member::Document(locking))));
        }
        members.extend(self.metadata.clone().map(|metadata| ("metadata", Member::Document(metadata))));
        if members.is_empty() {
            return None;
        }
        json::object(members).map(|document| text_of(&document))
    }

    /// Takes over the value of the column `User_attributes`.
    pub fn take_json(&mut self, text: &[u8]) {
        let Ok(document) = json::parse_text(text) else { return };
        if let Some(Member::Text(stored)) = json::member(&document, "additional_password") {
            self.retained_password = stored;
        }
        if let Some(Member::Document(locking)) = json::member(&document, "Password_locking") {
            let number = |name| match json::member(&locking, name) {
                Some(Member::Integer(number)) => number,
                _ => 0,
            };
            self.locking.attempts = number("failed_login_attempts").try_into().unwrap_or(0);
            self.locking.days = number("password_lock_time_days").try_into().unwrap_or(0);
        }
        if let Some(Member::Document(metadata)) = json::member(&document, "metadata") {
            self.metadata = Some(metadata);
        }
    }

    /// Reports whether the new password is among the past ones that the rules still hold. `needed`
    /// is the number of passwords and the number of days.
    pub fn is_reused(&mut self, needed: (u64, u64), now_us: u64, is_same: impl Fn(&[u8]) -> bool) -> bool {
        self.forget_past(needed, now_us);
        self.past.iter().any(|past| is_same(&past.stored))
    }

    /// Forgets the past passwords that neither the history nor the reuse interval needs.
    pub fn forget_past(&mut self, (history, reuse_days): (u64, u64), now_us: u64) {
        let since_us = now_us.saturating_sub(reuse_days * S_PER_DAY * US_PER_SECOND);
        let mut number = 0;
        self.past.retain(|past| {
            number += 1;
            number <= history || (reuse_days > 0 && past.at_us >= since_us)
        });
    }
}

/// Merges two JSON objects into one that has the members of both. Returns the only object when
/// there is just one, and `None` when there is neither or when one of two is no valid JSON.
pub fn merged(one: Option<String>, other: Option<String>) -> Option<String> {
    let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
    let parse = |text: &str| json::parse_text(text.as_bytes()).ok();
    let both = json::merge_patch(&parse(one)?, &parse(other)?)?;
    Some(text_of(&both))
}

fn text_of(document: &[u8]) -> String {
    let mut out = Vec::new();
    json::write_text(document, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> AccountOptions {
        AccountOptions { attribute: Some(UserAttribute::Object(text.into())), ..AccountOptions::default() }
    }

    #[test]
    fn the_column_holds_what_was_said() {
        let mut a = Attributes::default();
        assert_eq!(a.to_json(), None);
        let attribute = Some(UserAttribute::Comment("it's \"it\"".into()));
        let options = AccountOptions {
            failed_login_attempts: Some(3),
            password_lock_days: Some(-1),
            attribute,
            ..AccountOptions::default()
        };
        a.take(&options).unwrap();
        a.retained_password = b"$A$\x01".to_vec();
        let text = a.to_json().unwrap();
        assert_eq!(
            text,
            "{\"metadata\": {\"comment\": \"it's \\\"it\\\"\"}, \"Password_locking\": {\"failed_login_attempts\": 3, \
             \"password_lock_time_days\": -1}, \"additional_password\": \"$A$\\u0001\"}"
        );
        let mut read = Attributes::default();
        read.take_json(text.as_bytes());
        assert_eq!(read, a);
    }

    #[test]
    fn objects_of_two_kinds_share_the_column() {
        let (one, other) = (Some("{\"a\": 1}".to_owned()), Some("{\"b\": [2]}".to_owned()));
        assert_eq!(merged(one.clone(), None), one);
        assert_eq!(merged(None, other.clone()), other);
        assert_eq!(merged(one, other).as_deref(), Some("{\"a\": 1, \"b\": [2]}"));
    }

    #[test]
    fn attributes_are_merged_and_must_be_objects() {
        let mut a = Attributes::default();
        a.take(&object("{\"a\": 1}")).unwrap();
        a.take(&object("{\"a\": null}")).unwrap();
        assert_eq!(a.metadata_text().as_deref(), Some("{}"));
        for text in ["", "x", "1", "[1]"] {
            assert_eq!(a.take(&object(text)).unwrap_err().code, 3982);
        }
    }

    #[test]
    fn passwords_get_old() {
        let day_us = S_PER_DAY * US_PER_SECOND;
        let mut a = Attributes { password_changed_s: Some(0), ..Attributes::default() };
        assert!(
            !a.has_outlived(0, 9 * day_us)
                && a.has_outlived(9, 9 * day_us)
                && !a.has_outlived(10, 9 * day_us)
        );
        a.lifetime_days = Some(0);
        assert!(!a.has_outlived(9, 9 * day_us));
        a.lifetime_days = Some(8);
        assert!(a.has_outlived(0, 9 * day_us));
    }

    #[test]
    fn past_passwords_count_by_number_or_by_days() {
        let day_us = S_PER_DAY * US_PER_SECOND;
        let past = |days: u64| PastPassword { at_us: days * day_us, stored: vec![days as u8] };
        let mut a = Attributes { past: vec![past(9), past(8), past(2)], ..Attributes::default() };
        assert!(a.is_reused((1, 2), 10 * day_us, |stored| stored == [8]));
        assert_eq!(a.past.len(), 2);
        assert!(!a.is_reused((1, 0), 10 * day_us, |stored| stored == [8]));
        assert!(a.is_reused((1, 0), 10 * day_us, |stored| stored == [9]));
        assert!(!a.is_reused((0, 0), 10 * day_us, |_| true));
    }
}
