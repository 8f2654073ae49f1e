//! Accounts and privileges.

use super::Parser;
use crate::SqlError;
use crate::admin::{Account, AccountOptions, AccountSpec, AdminCommand, Authentication, Secret};
use crate::ast::Statement;
use crate::error::Result;
use crate::lexer::{self, TokenKind};

impl Parser<'_> {
    /// `'user'@'host'`, `user`, `CURRENT_USER`.
    pub(super) fn account(&mut self) -> Result<Account> {
        if self.eat("CURRENT_USER") || (self.is("USER") && self.symbol_ahead(1, "(") && self.eat("USER")) {
            if self.eat_symbol("(") {
                self.expect_symbol(")")?;
            }
            return Ok(Account { user: String::new(), host: String::new(), is_current_user: true });
        }
        let user = self.string_or_name()?;
        let mut host = "%".to_owned();
        let token = self.token();
        if token.kind == TokenKind::UserVariable {
            let raw = &self.raw(token)[1..];
            self.advance();
            host = match raw.first() {
                Some(b'\'' | b'"') => {
                    String::from_utf8_lossy(&lexer::unquote(raw, self.mode, true)).into_owned()
                }
                Some(b'`') => String::from_utf8_lossy(&lexer::unquote(raw, self.mode, false)).into_owned(),
                Some(_) => self.rest_of_host(String::from_utf8_lossy(raw).into_owned())?,
                // `user@ 'host'` and `user@%` are no tokens of a variable.
                None => self.string_or_name()?,
            };
        }
        Ok(Account { user, host: host.to_lowercase(), is_current_user: false })
    }

    /// An unquoted host name with dashes: `db-1.example`.
    fn rest_of_host(&mut self, mut host: String) -> Result<String> {
        while self.is_symbol("-") && self.ahead(1).start == self.token().end {
            self.advance();
            host.push('-');
            host.push_str(&self.any_name()?);
        }
        Ok(host)
    }

    pub(super) fn account_spec(&mut self) -> Result<AccountSpec> {
        let account = self.account()?;
        let authentication = if self.eat("IDENTIFIED") { Some(self.authentication()?) } else { None };
        Ok(AccountSpec { account, authentication })
    }

    fn authentication(&mut self) -> Result<Authentication> {
        let mut plugin = None;
        if self.eat("WITH") || self.eat("VIA") {
            plugin = Some(self.string_or_name()?.to_ascii_lowercase());
        }
        let secret = if self.eat("BY") {
            if self.eat_all(&["RANDOM", "PASSWORD"]) {
                Secret::Random
            } else if self.eat("PASSWORD") {
                Secret::Hash(self.text_literal()?)
            } else {
                Secret::Password(self.string()?)
            }
        } else if plugin.is_some() && (self.eat("AS") || self.eat("USING")) {
            match self.token().kind {
                TokenKind::Hex => {
                    let token = self.advance();
                    Secret::Hash(lexer::number_bytes(self.raw(token), true))
                }
                _ => Secret::Hash(self.text_literal()?),
            }
        } else if plugin.is_some() {
            Secret::None
        } else {
            return Err(self.error());
        };
        if self.eat("REPLACE") {
            self.string()?;
        }
        let _ = self.eat_all(&["RETAIN", "CURRENT", "PASSWORD"]);
        if self.is_any(&["AND", "OR"]) {
            return Err(SqlError::not_supported("several authentication methods of an account"));
        }
        Ok(Authentication { plugin, secret })
    }

    fn account_options(&mut self) -> Result<AccountOptions> {
        let mut options = AccountOptions::default();
        while !self.at_end() {
            if self.eat("REQUIRE") {
                loop {
                    let word = self.upper();
                    self.advance();
                    if self.token().kind == TokenKind::Text {
                        self.string()?;
                    }
                    if word != "NONE" {
                        options.require.push(word);
                    }
                    self.eat("AND");
                    if !self.is_any(&["SSL", "X509", "CIPHER", "ISSUER", "SUBJECT"]) {
                        break;
                    }
                }
            } else if self.eat("ACCOUNT") {
                options.locked = Some(match self.upper().as_str() {
                    "LOCK" => true,
                    "UNLOCK" => false,
                    _ => return Err(self.error()),
                });
                self.advance();
            } else if self.is_any(&["WITH", "PASSWORD", "FAILED_LOGIN_ATTEMPTS", "PASSWORD_LOCK_TIME"]) {
                return Err(SqlError::not_supported(format!("account option {}", self.upper())));
            } else if self.is_any(&["COMMENT", "ATTRIBUTE"]) {
                self.advance();
                self.string()?;
            } else {
                return Err(self.error());
            }
        }
        Ok(options)
    }

    pub(super) fn create_user(&mut self) -> Result<Statement> {
        self.expect("USER")?;
        let if_not_exists = self.if_not_exists();
        let accounts = self.list(Self::account_spec)?;
        let default_roles = match self.eat_all(&["DEFAULT", "ROLE"]) {
            true => self.list(Self::role)?,
            false => Vec::new(),
        };
        let options = AccountOptions { default_roles, ..self.account_options()? };
        Ok(Statement::Admin(AdminCommand::CreateUser { accounts, if_not_exists, options }))
    }

    pub(super) fn alter_user(&mut self) -> Result<Statement> {
        self.expect("USER")?;
        let if_exists = self.if_exists();
        let accounts = self.list(Self::account_spec)?;
        if let [AccountSpec { account, authentication: None }] = &accounts[..]
            && self.eat_all(&["DEFAULT", "ROLE"])
        {
            let choice = self.default_role_choice()?;
            return Ok(Statement::Admin(AdminCommand::SetDefaultRole { choice, of: vec![account.clone()] }));
        }
        let options = self.account_options()?;
        Ok(Statement::Admin(AdminCommand::AlterUser { accounts, if_exists, options }))
    }

    pub(super) fn drop_user(&mut self) -> Result<Statement> {
        self.expect("USER")?;
        let if_exists = self.if_exists();
        let accounts = self.list(Self::account)?;
        Ok(Statement::Admin(AdminCommand::DropUser { accounts, if_exists }))
    }

    pub(super) fn rename_user(&mut self) -> Result<Statement> {
        self.expect("USER")?;
        let pairs = self.list(|parser| {
            let from = parser.account()?;
            parser.expect("TO")?;
            Ok((from, parser.account()?))
        })?;
        Ok(Statement::Admin(AdminCommand::RenameUser(pairs)))
    }
}
