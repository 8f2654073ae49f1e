//! Parsing of GRANT, REVOKE and the statements about roles.

use super::Parser;
use crate::SqlError;
use crate::admin::{
    Account, AccountSpec, AdminCommand, GrantAs, GrantObject, GrantPrivilege, Lenience, RoleChoice,
};
use crate::ast::Statement;
use crate::error::Result;
use crate::lexer::TokenKind;

/// An item between GRANT or REVOKE and ON, TO or FROM. It is a privilege or a role, and only the
/// word behind the list tells which.
enum Item {
    /// A single word or name, which may be either. With a host it is a role.
    Name { role: Account, at: usize, has_host: bool },
    /// The words of a static privilege, with its columns if any are written.
    Privilege { privilege: GrantPrivilege, at: usize },
}

/// The words with which the name of a static privilege begins. A role may have such a name in
/// quotes only.
const PRIVILEGE_WORDS: &[&str] = &[
    "ALL",
    "ALTER",
    "CREATE",
    "DELETE",
    "DROP",
    "EVENT",
    "EXECUTE",
    "FILE",
    "GRANT",
    "INDEX",
    "INSERT",
    "LOCK",
    "PROCESS",
    "REFERENCES",
    "RELOAD",
    "REPLICATION",
    "SELECT",
    "SHOW",
    "SHUTDOWN",
    "SUPER",
    "TRIGGER",
    "UPDATE",
    "USAGE",
];

/// The static privileges of more than one word.
const LONG_PRIVILEGES: &[&[&str]] = &[
    &["CREATE", "TEMPORARY", "TABLES"],
    &["ALL", "PRIVILEGES"],
    &["ALTER", "ROUTINE"],
    &["CREATE", "ROUTINE"],
    &["CREATE", "ROLE"],
    &["CREATE", "TABLESPACE"],
    &["CREATE", "USER"],
    &["CREATE", "VIEW"],
    &["DROP", "ROLE"],
    &["GRANT", "OPTION"],
    &["LOCK", "TABLES"],
    &["REPLICATION", "CLIENT"],
    &["REPLICATION", "SLAVE"],
    &["SHOW", "DATABASES"],
    &["SHOW", "VIEW"],
];

impl Parser<'_> {
    /// Reads the name of a role, which has the form of an account.
    pub(super) fn role(&mut self) -> Result<Account> {
        if self.token().kind == TokenKind::Word && self.is_any(&["NONE", "DEFAULT", "ALL"]) {
            return Err(self.error());
        }
        self.account()
    }

    pub(super) fn grant(&mut self) -> Result<Statement> {
        self.expect("GRANT")?;
        if self.is("PROXY") && self.token_is(self.ahead(1), "ON") {
            self.at += 2;
            let on = self.account()?;
            self.expect("TO")?;
            let to = self.list(Self::account)?;
            let with_grant_option = self.with_option("GRANT")?;
            return Ok(Statement::Admin(AdminCommand::GrantProxy { on, to, with_grant_option }));
        }
        let items = self.granted()?;
        if self.eat("TO") {
            let roles = self.roles_of(items)?;
            let to = self.list(Self::account)?;
            let with_admin_option = self.with_option("ADMIN")?;
            return Ok(Statement::Admin(AdminCommand::GrantRoles { roles, to, with_admin_option }));
        }
        let privileges = self.privileges_of(items)?;
        let on = self.grant_object()?;
        self.expect("TO")?;
        let grantees = self.list(Self::grantee)?;
        let to = grantees.iter().map(|spec| spec.account.clone()).collect();
        let identified = grantees.into_iter().filter(|spec| spec.authentication.is_some()).collect();
        let with_grant_option = self.with_option("GRANT")?;
        let grantor = if self.eat("AS") { Some(self.grant_as()?) } else { None };
        Ok(Statement::Admin(AdminCommand::Grant {
            privileges,
            on,
            to,
            identified,
            with_grant_option,
            grantor,
        }))
    }

    /// Reads `account [WITH ROLE roles]` behind AS. Without WITH ROLE no role is active.
    fn grant_as(&mut self) -> Result<GrantAs> {
        let account = self.account()?;
        let roles = match self.eat("WITH") {
            true => {
                self.expect("ROLE")?;
                self.role_choice()?
            }
            false => RoleChoice::None,
        };
        Ok(GrantAs { account, roles })
    }

    /// Reads an account behind TO. MariaDB, and MySQL before 8.0, log `IDENTIFIED` behind it, which
    /// creates the account or sets its password.
    fn grantee(&mut self) -> Result<AccountSpec> {
        match self.mode.of_source {
            true => self.account_spec(),
            false => Ok(AccountSpec { account: self.account()?, authentication: None }),
        }
    }

    fn with_option(&mut self, word: &str) -> Result<bool> {
        if !self.eat("WITH") {
            return Ok(false);
        }
        self.expect_all(&[word, "OPTION"])?;
        Ok(true)
    }

    pub(super) fn revoke(&mut self) -> Result<Statement> {
        self.expect("REVOKE")?;
        let if_exists = self.if_exists();
        let command = if self.is("PROXY") && self.token_is(self.ahead(1), "ON") {
            self.at += 2;
            let on = self.account()?;
            let (from, lenience) = self.revoked_from(if_exists)?;
            AdminCommand::RevokeProxy { on, from, lenience }
        } else if self.all_and_grant_option() {
            let (from, lenience) = self.revoked_from(if_exists)?;
            AdminCommand::Revoke { privileges: Vec::new(), on: None, from, lenience }
        } else {
            let items = self.granted()?;
            if self.is("FROM") {
                let roles = self.roles_of(items)?;
                let (from, lenience) = self.revoked_from(if_exists)?;
                AdminCommand::RevokeRoles { roles, from, lenience }
            } else {
                let privileges = self.privileges_of(items)?;
                let on = Some(self.grant_object()?);
                let (from, lenience) = self.revoked_from(if_exists)?;
                AdminCommand::Revoke { privileges, on, from, lenience }
            }
        };
        Ok(Statement::Admin(command))
    }

    /// Skips `ALL [PRIVILEGES], GRANT OPTION` if it follows here. Returns whether it did.
    fn all_and_grant_option(&mut self) -> bool {
        let start = self.at;
        if self.eat("ALL") {
            self.eat("PRIVILEGES");
            if self.eat_symbol(",") && self.eat_all(&["GRANT", "OPTION"]) {
                return true;
            }
        }
        self.at = start;
        false
    }

    fn revoked_from(&mut self, if_exists: bool) -> Result<(Vec<Account>, Lenience)> {
        self.expect("FROM")?;
        let from = self.list(Self::account)?;
        let ignore_unknown_user = self.eat_all(&["IGNORE", "UNKNOWN", "USER"]);
        Ok((from, Lenience { if_exists, ignore_unknown_user }))
    }

    /// Reads the list behind GRANT or REVOKE. ALL must be its only item.
    fn granted(&mut self) -> Result<Vec<Item>> {
        if self.is("ALL") {
            return Ok(vec![self.granted_item()?]);
        }
        self.list(|parser| if parser.is("ALL") { Err(parser.error()) } else { parser.granted_item() })
    }

    fn granted_item(&mut self) -> Result<Item> {
        let at = self.at;
        let is_word = self.token().kind == TokenKind::Word;
        if is_word && self.is_any(PRIVILEGE_WORDS) {
            let long = LONG_PRIVILEGES.iter().find(|words| self.are(words));
            let name = match long {
                Some(words) => words.join(" "),
                None => self.upper(),
            };
            self.at += long.map_or(1, |words| words.len());
            let takes_columns = ["SELECT", "INSERT", "UPDATE", "REFERENCES"].contains(&name.as_str());
            let name = if name == "ALL PRIVILEGES" { "ALL".to_owned() } else { name };
            if long.is_none() && ["GRANT", "LOCK", "REPLICATION", "SHOW"].contains(&name.as_str()) {
                return Err(self.error());
            }
            let columns = match takes_columns && self.is_symbol("(") {
                true => self.parenthesized(Self::name)?,
                false => Vec::new(),
            };
            return Ok(Item::Privilege { privilege: GrantPrivilege { name, columns }, at });
        }
        let role = self.role()?;
        let has_host = self.at > at + 1 || role.is_current_user;
        Ok(Item::Name { role, at, has_host })
    }

    fn roles_of(&self, items: Vec<Item>) -> Result<Vec<Account>> {
        let one = |item| match item {
            Item::Name { role, .. } => Ok(role),
            Item::Privilege { at, .. } => Err(self.illegal("Illegal authorization identifier", at)),
        };
        items.into_iter().map(one).collect()
    }

    fn privileges_of(&self, items: Vec<Item>) -> Result<Vec<GrantPrivilege>> {
        let one = |item| match item {
            Item::Privilege { privilege, .. } => Ok(privilege),
            Item::Name { at, has_host: true, .. } => Err(self.illegal("Illegal privilege identifier", at)),
            Item::Name { role, .. } => {
                Ok(GrantPrivilege { name: role.user.to_ascii_uppercase(), columns: Vec::new() })
            }
        };
        items.into_iter().map(one).collect()
    }

    fn illegal(&self, what: &str, at: usize) -> SqlError {
        let from = self.tokens[at].start as usize;
        let shown = String::from_utf8_lossy(&self.text[from..]);
        let line = 1 + self.text[..from].iter().filter(|byte| **byte == b'\n').count();
        let shown: String = shown.chars().take(80).collect();
        SqlError::new(1064, format!("{what} near '{shown}' at line {line}"))
    }

    /// Reads `ON *.*`, `ON s.*`, `ON s.t`, `ON t`, `ON *` or `ON PROCEDURE s.p`.
    fn grant_object(&mut self) -> Result<GrantObject> {
        self.expect("ON")?;
        let routine = match self.is_any(&["PROCEDURE", "FUNCTION"]) && !self.symbol_ahead(1, ".") {
            true => Some(self.upper() == "FUNCTION"),
            false => None,
        };
        if routine.is_some() || self.is("TABLE") && !self.symbol_ahead(1, ".") {
            self.advance();
        }
        if routine.is_none() && self.eat_symbol("*") {
            if self.eat_symbol(".") {
                self.expect_symbol("*")?;
                return Ok(GrantObject::Global);
            }
            return Ok(GrantObject::CurrentSchema);
        }
        let first = self.name()?;
        let (schema, name) = match self.eat_symbol(".") {
            true if routine.is_none() && self.eat_symbol("*") => return Ok(GrantObject::Schema(first)),
            true => (Some(first), self.any_name()?),
            false => (None, first),
        };
        Ok(match routine {
            Some(is_function) => GrantObject::Routine { is_function, schema, name },
            None => GrantObject::Table { schema, table: name },
        })
    }

    pub(super) fn create_role(&mut self, or_replace: bool) -> Result<Statement> {
        self.expect("ROLE")?;
        let if_not_exists = self.if_not_exists();
        let roles = self.list(Self::role)?;
        // This is MariaDB's clause. Roles have no administrators here other than the accounts to
        // which they are granted with ADMIN OPTION.
        let admins = match self.mode.of_source && self.eat_all(&["WITH", "ADMIN"]) {
            true => vec![self.account()?],
            false => Vec::new(),
        };
        Ok(Statement::Admin(AdminCommand::CreateRole { roles, if_not_exists, or_replace, admins }))
    }

    pub(super) fn drop_role(&mut self) -> Result<Statement> {
        self.expect("ROLE")?;
        let if_exists = self.if_exists();
        let roles = self.list(Self::role)?;
        Ok(Statement::Admin(AdminCommand::DropRole { roles, if_exists }))
    }

    /// Reads SET ROLE or SET DEFAULT ROLE from behind SET on.
    pub(super) fn set_role(&mut self) -> Result<Statement> {
        if self.eat("DEFAULT") {
            self.expect("ROLE")?;
            let choice = self.default_role_choice()?;
            if !(self.mode.of_source && self.eat("FOR")) {
                self.expect("TO")?;
            }
            let of = self.list(Self::account)?;
            return Ok(Statement::Admin(AdminCommand::SetDefaultRole { choice, of }));
        }
        self.expect("ROLE")?;
        Ok(Statement::Admin(AdminCommand::SetRole(self.role_choice()?)))
    }

    /// Reads `DEFAULT`, `NONE`, `ALL [EXCEPT roles]` or a list of roles.
    fn role_choice(&mut self) -> Result<RoleChoice> {
        if self.eat("DEFAULT") {
            return Ok(RoleChoice::Default);
        }
        if self.is("ALL") && self.token_is(self.ahead(1), "EXCEPT") {
            self.at += 2;
            return Ok(RoleChoice::AllExcept(self.list(Self::role)?));
        }
        self.default_role_choice()
    }

    /// Reads `NONE`, `ALL` or a list of roles.
    pub(super) fn default_role_choice(&mut self) -> Result<RoleChoice> {
        if self.eat("NONE") {
            return Ok(RoleChoice::None);
        }
        if self.eat("ALL") {
            return Ok(RoleChoice::AllExcept(Vec::new()));
        }
        Ok(RoleChoice::These(self.list(Self::role)?))
    }

    /// Reads SHOW GRANTS from GRANTS on.
    pub(super) fn show_grants(&mut self) -> Result<AdminCommand> {
        self.expect("GRANTS")?;
        if !self.eat("FOR") {
            return Ok(AdminCommand::ShowGrants { account: None, using: Vec::new() });
        }
        let account = Some(self.account()?);
        let using = if self.eat("USING") { self.list(Self::role)? } else { Vec::new() };
        Ok(AdminCommand::ShowGrants { account, using })
    }
}
