//! Parsing of `IDENTIFIED ...` and the options of CREATE USER and ALTER USER.

use super::Parser;
use crate::SqlError;
use crate::admin::{AccountOptions, Authentication, PasswordExpiry, Secret, TlsRequirement, UserAttribute};
use crate::error::Result;
use crate::lexer::{self, TokenKind};

/// The greatest value of FAILED_LOGIN_ATTEMPTS (attempts) and PASSWORD_LOCK_TIME (days).
const MAX_LOCKING: u64 = 32_767;

impl Parser<'_> {
    /// Reads what follows `IDENTIFIED`. REPLACE and RETAIN are read for ALTER USER only, since
    /// CREATE USER has no password to replace or retain.
    pub(super) fn authentication(&mut self, is_alter: bool) -> Result<Authentication> {
        let mut plugin = None;
        if self.eat("WITH") || self.eat("VIA") {
            plugin = Some(self.string_or_name()?.to_ascii_lowercase());
        }
        let secret = self.secret(plugin.is_some())?;
        let mut authentication = Authentication::new(plugin, secret);
        if is_alter {
            self.replace_and_retain(&mut authentication)?;
        } else if self.eat("AND") {
            self.expect("IDENTIFIED")?;
            let second = self.authentication(false)?;
            return Err(no_further_factor(second.plugin, 2, "CREATE USER"));
        }
        Ok(authentication)
    }

    fn secret(&mut self, has_plugin: bool) -> Result<Secret> {
        if self.eat("BY") {
            if self.eat_all(&["RANDOM", "PASSWORD"]) {
                return Ok(Secret::Random);
            }
            if self.mode.of_source && self.eat("PASSWORD") {
                return Ok(Secret::Hash(self.text_literal()?));
            }
            return Ok(Secret::Password(self.string()?));
        }
        if !has_plugin {
            return Err(self.error());
        }
        if !self.eat("AS") && !self.eat("USING") {
            return Ok(Secret::None);
        }
        Ok(Secret::Hash(match self.token().kind {
            TokenKind::Hex => {
                let token = self.advance();
                lexer::number_bytes(self.raw(token), true)
            }
            _ => self.text_literal()?,
        }))
    }

    /// Reads `[REPLACE 'current'] [RETAIN CURRENT PASSWORD]`.
    pub(super) fn replace_and_retain(&mut self, authentication: &mut Authentication) -> Result<()> {
        if self.eat("REPLACE") {
            authentication.replace = Some(self.string()?);
        }
        if self.is("RETAIN") {
            self.expect_all(&["RETAIN", "CURRENT", "PASSWORD"])?;
            authentication.retain = true;
        }
        Ok(())
    }

    /// Reads `ADD | MODIFY | DROP n FACTOR ...` behind an account in ALTER USER. It always returns
    /// an error, because this server has one factor only.
    pub(super) fn factor(&mut self) -> Result<()> {
        let words = self.upper();
        self.advance();
        let factor = self.unsigned()?;
        self.expect("FACTOR")?;
        if !(2..=3).contains(&factor) {
            return Err(SqlError::new(1525, format!("Incorrect nth factor value: '{factor}'")));
        }
        if words == "ADD" {
            self.expect("IDENTIFIED")?;
            let added = self.authentication(false)?;
            return Err(no_further_factor(added.plugin, factor, "ALTER USER"));
        }
        let text = format!(
            "{factor} factor authentication method doesn't exist. Please do ALTER USER... ADD {factor} factor... \
             before doing this operation."
        );
        Err(SqlError::new(4057, text))
    }

    /// Reads the options of an account: REQUIRE, then WITH, then the options of passwords and of
    /// locking in any order, then the attribute.
    pub(super) fn account_options(&mut self) -> Result<AccountOptions> {
        let mut options = AccountOptions::default();
        if self.eat("REQUIRE") {
            options.require = Some(self.tls_requirement()?);
        }
        if self.eat("WITH") {
            self.account_limits(&mut options)?;
        }
        loop {
            if self.eat("ACCOUNT") {
                options.locked = Some(self.eat("LOCK") || !self.eat_or_error("UNLOCK")?);
            } else if self.eat("PASSWORD") {
                self.password_option(&mut options)?;
            } else if self.eat("FAILED_LOGIN_ATTEMPTS") {
                let attempts = self.bounded("FAILED_LOGIN_ATTEMPTS", 0..=MAX_LOCKING)?;
                options.failed_login_attempts = Some(attempts as u16);
            } else if self.eat("PASSWORD_LOCK_TIME") {
                options.password_lock_days = Some(match self.eat("UNBOUNDED") {
                    true => -1,
                    false => self.bounded("PASSWORD_LOCK_TIME", 0..=MAX_LOCKING)? as i32,
                });
            } else {
                break;
            }
        }
        if self.eat("COMMENT") {
            options.attribute = Some(UserAttribute::Comment(self.string()?));
        } else if self.eat("ATTRIBUTE") {
            options.attribute = Some(UserAttribute::Object(self.string()?));
        }
        if !self.at_end() {
            return Err(self.error());
        }
        Ok(options)
    }

    fn eat_or_error(&mut self, word: &str) -> Result<bool> {
        if self.eat(word) { Ok(true) } else { Err(self.error()) }
    }

    fn tls_requirement(&mut self) -> Result<TlsRequirement> {
        for (word, requirement) in
            [("NONE", TlsRequirement::None), ("SSL", TlsRequirement::Ssl), ("X509", TlsRequirement::X509)]
        {
            if self.eat(word) {
                return Ok(requirement);
            }
        }
        let names = ["CIPHER", "ISSUER", "SUBJECT"];
        let mut given: [Option<String>; 3] = Default::default();
        loop {
            let Some(which) = names.iter().position(|name| self.eat(name)) else { return Err(self.error()) };
            let text = self.string()?;
            if given[which].replace(text).is_some() {
                let text = format!("Option '{}' used twice in statement", names[which]);
                return Err(SqlError::new(1225, text));
            }
            if !self.eat("AND") && !self.is_any(&names) {
                let [cipher, issuer, subject] = given.map(Option::unwrap_or_default);
                return Ok(TlsRequirement::Specified { cipher, issuer, subject });
            }
        }
    }

    fn account_limits(&mut self, options: &mut AccountOptions) -> Result<()> {
        let mut is_first = true;
        loop {
            let place = match self.upper().as_str() {
                "MAX_QUERIES_PER_HOUR" => &mut options.max_queries_per_hour,
                "MAX_UPDATES_PER_HOUR" => &mut options.max_updates_per_hour,
                "MAX_CONNECTIONS_PER_HOUR" => &mut options.max_connections_per_hour,
                "MAX_USER_CONNECTIONS" => &mut options.max_user_connections,
                _ if is_first => return Err(self.error()),
                _ => return Ok(()),
            };
            is_first = false;
            self.advance();
            // A number that is too large wraps around, as in MySQL.
            *place = Some(self.unsigned()? as u32);
        }
    }

    /// Reads what follows PASSWORD.
    fn password_option(&mut self, options: &mut AccountOptions) -> Result<()> {
        let days_or_default = |parser: &mut Self| -> Result<Option<u16>> {
            if parser.eat("DEFAULT") {
                return Ok(None);
            }
            Ok(Some(u16::try_from(parser.unsigned()?).unwrap_or(u16::MAX)))
        };
        if self.eat("EXPIRE") {
            options.expiry = Some(if self.eat("DEFAULT") {
                PasswordExpiry::Lifetime(None)
            } else if self.eat("NEVER") {
                PasswordExpiry::Lifetime(Some(0))
            } else if self.eat("INTERVAL") {
                let days = self.bounded("DAY", 1..=u64::from(u16::MAX))? as u16;
                self.expect("DAY")?;
                PasswordExpiry::Lifetime(Some(days))
            } else {
                PasswordExpiry::Now
            });
        } else if self.eat("HISTORY") {
            options.password_history = Some(days_or_default(self)?);
        } else if self.eat("REUSE") {
            self.expect("INTERVAL")?;
            let days = days_or_default(self)?;
            if days.is_some() {
                self.expect("DAY")?;
            }
            options.password_reuse_days = Some(days);
        } else {
            self.expect_all(&["REQUIRE", "CURRENT"])?;
            options.password_require_current =
                Some(if self.eat("DEFAULT") { None } else { Some(!self.eat("OPTIONAL")) });
        }
        Ok(())
    }

    fn bounded(&mut self, what: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64> {
        let value = self.unsigned()?;
        if range.contains(&value) {
            return Ok(value);
        }
        Err(SqlError::new(1525, format!("Incorrect {what} value: '{value}'")))
    }
}

/// Builds error 4052, because none of this server's plugins can be a further factor.
fn no_further_factor(plugin: Option<String>, factor: u64, statement: &str) -> SqlError {
    let Some(plugin) = plugin else { return SqlError::new(1524, "Plugin '' is not loaded") };
    let text = format!("Invalid plugin \"{plugin}\" specified as {factor} factor during \"{statement}\".");
    SqlError::new(4052, text)
}
