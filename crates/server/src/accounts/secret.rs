//! The way from `IDENTIFIED ...` to an authentication plugin and the value that it stores.

use super::Account;
use protocol::auth::{caching_sha2, native, nonce_from_random, plugin};
use sql::SqlError;
use sql::admin::{Authentication, Secret};

/// The plugin of accounts that name none.
pub const DEFAULT_PLUGIN: &str = plugin::CACHING_SHA2;

/// The credentials with which an account authenticates from now on.
pub struct Credentials {
    /// The authentication plugin.
    pub plugin: String,
    /// The value that the plugin stores; empty means no password.
    pub stored: Vec<u8>,
    /// The password in clear text, if it is known.
    pub clear: Option<String>,
    /// The password in clear text, if it was generated here and is to be shown once.
    pub shown: Option<String>,
}

impl Credentials {
    /// Works out the credentials that a statement gives an account. A random password has
    /// `random_chars` characters. A value that a source has accepted is kept even if this server
    /// does not have the plugin, so that no client can log in with it.
    ///
    /// # Errors
    /// Returns 1524 for an unknown plugin, and 1827 for a hash that does not have the plugin's
    /// form.
    pub fn of(
        account: &Account,
        authentication: &Authentication,
        random_chars: usize,
        is_received: bool,
    ) -> Result<Credentials, SqlError> {
        let plugin = match authentication.plugin.as_deref() {
            // `BY PASSWORD` of MariaDB and of old versions of MySQL has no plugin but a native
            // hash.
            None if is_hash_of_native(&authentication.secret) => plugin::NATIVE,
            None if account.plugin.is_empty() => DEFAULT_PLUGIN,
            None => account.plugin.as_str(),
            Some(name) => match known_plugin(name) {
                Err(_) if is_received => name,
                known => known?,
            },
        };
        let (clear, shown) = match &authentication.secret {
            Secret::None | Secret::DiscardOld => (Some(String::new()), None),
            Secret::Password(password) => (Some(password.clone()), None),
            Secret::Random => {
                let password = random_password(random_chars);
                (Some(password.clone()), Some(password))
            }
            Secret::Hash(stored) => {
                if !is_received && !is_valid(plugin, stored) {
                    return Err(SqlError::new(1827, "The password hash doesn't have the expected format."));
                }
                let (plugin, stored) = (plugin.to_owned(), stored.clone());
                return Ok(Credentials { plugin, stored, clear: None, shown: None });
            }
        };
        let stored = clear.as_deref().map(|password| hash(plugin, password)).unwrap_or_default();
        Ok(Credentials { plugin: plugin.to_owned(), stored, clear, shown })
    }

    /// Reports whether the password is too long for the plugin.
    pub fn is_too_long(&self) -> bool {
        let bytes = self.clear.as_ref().map_or(0, String::len);
        self.plugin == plugin::CACHING_SHA2 && bytes > caching_sha2::MAX_PASSWORD_BYTES
    }

    /// Reports whether the plugin could have stored this value for the password.
    pub fn fits(&self, password: &str, stored: &[u8]) -> bool {
        fits(&self.plugin, password, stored)
    }
}

/// Reports whether this is the account's password.
pub fn is_password(account: &Account, password: &str) -> bool {
    fits(&account.plugin, password, &account.authentication_string)
}

fn fits(plugin: &str, password: &str, stored: &[u8]) -> bool {
    match plugin {
        plugin::NATIVE => native::authentication_string(password.as_bytes()).as_bytes() == stored,
        _ => caching_sha2::verify_password(password.as_bytes(), stored),
    }
}

fn known_plugin(name: &str) -> Result<&'static str, SqlError> {
    [plugin::NATIVE, plugin::CACHING_SHA2]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .ok_or_else(|| SqlError::new(1524, format!("Plugin '{name}' is not loaded")))
}

fn hash(plugin: &str, password: &str) -> Vec<u8> {
    if plugin == plugin::NATIVE {
        return native::authentication_string(password.as_bytes()).into_bytes();
    }
    let mut salt = [0; caching_sha2::SALT_BYTES];
    os::random::fill(&mut salt);
    caching_sha2::authentication_string(password.as_bytes(), &nonce_from_random(salt))
}

fn is_hash_of_native(secret: &Secret) -> bool {
    matches!(secret, Secret::Hash(stored) if !stored.is_empty() && is_valid(plugin::NATIVE, stored))
}

fn is_valid(plugin: &str, stored: &[u8]) -> bool {
    if plugin == plugin::NATIVE {
        return std::str::from_utf8(stored).is_ok_and(native::is_valid_authentication_string);
    }
    caching_sha2::is_valid_authentication_string(stored)
}

/// Returns a random password of letters, digits and signs with at least one of each, as mysqld
/// does.
pub fn random_password(chars: usize) -> String {
    const CLASSES: [&[u8]; 4] = [
        b"abcdefghijklmnopqrstuvwxyz",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        b"0123456789",
        b"!#$%&()*+,-./:;<=>?@_",
    ];
    loop {
        let mut text = String::new();
        while text.len() < chars {
            let class = CLASSES[(os::random::u64() % CLASSES.len() as u64) as usize];
            text.push(class[(os::random::u64() % class.len() as u64) as usize] as char);
        }
        let has = |class: &[u8]| text.bytes().any(|b| class.contains(&b));
        if chars < CLASSES.len() || CLASSES.into_iter().all(has) {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(account: &Account, plugin: Option<&str>, secret: Secret) -> Result<Credentials, SqlError> {
        Credentials::of(account, &Authentication::new(plugin.map(str::to_owned), secret), 20, false)
    }

    #[test]
    fn passwords_become_what_the_plugin_stores() {
        let mut a = Account::default();
        let new = of(&a, None, Secret::Password("x".into())).unwrap();
        assert_eq!(new.plugin, "caching_sha2_password");
        assert!(caching_sha2::verify_password(b"x", &new.stored) && new.fits("x", &new.stored));
        let new = of(&a, Some("MYSQL_native_password"), Secret::Password("y".into())).unwrap();
        assert_eq!(new.stored, native::authentication_string(b"y").into_bytes());
        // The account keeps its plugin when the statement names none.
        (a.plugin, a.authentication_string) = (new.plugin, new.stored);
        assert!(is_password(&a, "y") && !is_password(&a, "x"));
        let new = of(&a, None, Secret::Random).unwrap();
        let shown = new.shown.unwrap();
        assert_eq!(shown.len(), 20);
        assert_eq!(new.stored, native::authentication_string(shown.as_bytes()).into_bytes());
        // A hash tells by its form to which plugin it belongs.
        let hash = native::authentication_string(b"z").into_bytes();
        let new = of(&Account::default(), None, Secret::Hash(hash.clone())).unwrap();
        assert_eq!((new.plugin.as_str(), new.stored), (plugin::NATIVE, hash));
    }

    #[test]
    fn unknown_plugins_and_broken_hashes_are_refused() {
        let refused = |plugin, secret| of(&Account::default(), plugin, secret).err().map(|e| e.code);
        assert_eq!(refused(Some("sha7"), Secret::None), Some(1524));
        assert_eq!(refused(None, Secret::Hash(b"abc".to_vec())), Some(1827));
    }
}
