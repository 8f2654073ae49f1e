//! Parsing of accounts, and of the statements that create, change and drop them.

use super::Parser;
use crate::admin::{Account, AccountOptions, AccountSpec, AdminCommand, Authentication, Secret};
use crate::ast::Statement;
use crate::error::Result;
use crate::lexer::{self, TokenKind};

impl Parser<'_> {
    /// Reads `'user'@'host'`, `user` or `CURRENT_USER`.
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
                // In `user@ 'host'` and `user@%` the token of the variable is only the `@`.
                None => self.string_or_name()?,
            };
        }
        Ok(Account { user, host: host.to_lowercase(), is_current_user: false })
    }

    /// Reads the rest of an unquoted host name with dashes, such as `db-1.example`.
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
        let authentication = if self.eat("IDENTIFIED") { Some(self.authentication(false)?) } else { None };
        Ok(AccountSpec { account, authentication })
    }

    fn account_spec_of_alter(&mut self) -> Result<AccountSpec> {
        let account = self.account()?;
        let authentication = if self.eat("IDENTIFIED") {
            Some(self.authentication(true)?)
        } else if self.is("DISCARD") {
            self.expect_all(&["DISCARD", "OLD", "PASSWORD"])?;
            Some(Authentication::new(None, Secret::DiscardOld))
        } else {
            if self.is_any(&["ADD", "MODIFY", "DROP"]) {
                self.factor()?;
            }
            None
        };
        Ok(AccountSpec { account, authentication })
    }

    pub(super) fn create_user(&mut self, or_replace: bool) -> Result<Statement> {
        self.expect("USER")?;
        let if_not_exists = self.if_not_exists();
        let accounts = self.list(Self::account_spec)?;
        let default_roles = match self.eat_all(&["DEFAULT", "ROLE"]) {
            true => self.list(Self::role)?,
            false => Vec::new(),
        };
        let options = AccountOptions { default_roles, ..self.account_options()? };
        Ok(Statement::Admin(AdminCommand::CreateUser { accounts, if_not_exists, or_replace, options }))
    }

    pub(super) fn alter_user(&mut self) -> Result<Statement> {
        self.expect("USER")?;
        let if_exists = self.if_exists();
        // USER() may not stand in a list, and only a password may follow it.
        let is_own = self.is("USER") && self.symbol_ahead(1, "(");
        let accounts = match is_own {
            true => vec![self.account_spec_of_alter()?],
            false => self.list(Self::account_spec_of_alter)?,
        };
        if is_own && !self.at_end() {
            return Err(self.error());
        }
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
