//! From `IDENTIFIED ...` to a plugin and what it stores.

use super::Account;
use protocol::auth::{caching_sha2, native, nonce_from_random, plugin};
use sql::SqlError;
use sql::admin::{Authentication, Secret};

/// The plugin of accounts that name none.
pub const DEFAULT_PLUGIN: &str = plugin::CACHING_SHA2;

/// Changes an account's plugin and password. `Some` is a random password, to be shown once.
pub fn identify(
    account: &mut Account,
    authentication: &Authentication,
    random_chars: usize,
) -> Result<Option<String>, SqlError> {
    let plugin = match authentication.plugin.as_deref() {
        None if account.plugin.is_empty() => DEFAULT_PLUGIN,
        None => account.plugin.as_str(),
        Some(name) => known_plugin(name)?,
    };
    let (stored, shown) = match &authentication.secret {
        Secret::None => (Vec::new(), None),
        Secret::Password(password) => (hash(plugin, password), None),
        Secret::Random => {
            let password = random_password(random_chars);
            (hash(plugin, &password), Some(password))
        }
        Secret::Hash(stored) => {
            if !is_valid(plugin, stored) {
                return Err(SqlError::new(1827, "The password hash doesn't have the expected format."));
            }
            (stored.clone(), None)
        }
    };
    account.plugin = plugin.to_owned();
    account.authentication_string = stored;
    account.password_expired = false;
    Ok(shown)
}

/// Gives an account a new password, with the plugin that it has.
pub fn set_password(account: &mut Account, password: &str) {
    account.authentication_string = hash(&account.plugin, password);
    account.password_expired = false;
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

fn is_valid(plugin: &str, stored: &[u8]) -> bool {
    if plugin == plugin::NATIVE {
        return std::str::from_utf8(stored).is_ok_and(native::is_valid_authentication_string);
    }
    caching_sha2::is_valid_authentication_string(stored)
}

/// A password of letters, digits and signs, with one of each at least, as mysqld's own.
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

    fn by(plugin: Option<&str>, secret: Secret) -> Authentication {
        Authentication { plugin: plugin.map(str::to_owned), secret }
    }

    #[test]
    fn passwords_become_what_the_plugin_stores() {
        let mut a = Account::default();
        identify(&mut a, &by(None, Secret::Password("x".into())), 20).unwrap();
        assert_eq!(a.plugin, "caching_sha2_password");
        assert!(caching_sha2::verify_password(b"x", &a.authentication_string));
        identify(&mut a, &by(Some("MYSQL_native_password"), Secret::Password("y".into())), 20).unwrap();
        assert_eq!(a.authentication_string, native::authentication_string(b"y").into_bytes());
        // The plugin is kept when none is named.
        set_password(&mut a, "z");
        assert_eq!(a.authentication_string, native::authentication_string(b"z").into_bytes());
        let shown = identify(&mut a, &by(None, Secret::Random), 20).unwrap().unwrap();
        assert_eq!(shown.len(), 20);
        assert_eq!(a.authentication_string, native::authentication_string(shown.as_bytes()).into_bytes());
    }

    #[test]
    fn unknown_plugins_and_broken_hashes_are_refused() {
        let mut a = Account::default();
        assert_eq!(identify(&mut a, &by(Some("sha7"), Secret::None), 20).unwrap_err().code, 1524);
        assert_eq!(identify(&mut a, &by(None, Secret::Hash(b"abc".to_vec())), 20).unwrap_err().code, 1827);
        assert_eq!(a, Account::default());
    }
}
