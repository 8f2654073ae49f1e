//! Parsing of SET in its many forms.

use super::Parser;
use crate::SqlError;
use crate::admin::{AdminCommand, Authentication, Secret};
use crate::ast::{Expr, IsolationName, Literal, Scope, SetItem, Statement};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Result<Statement> {
        self.expect("SET")?;
        if self.is("PASSWORD") {
            return self.set_password();
        }
        if self.is("ROLE") || self.are(&["DEFAULT", "ROLE"]) {
            return self.set_role();
        }
        if self.are(&["RESOURCE", "GROUP"]) {
            return Err(SqlError::not_supported("resource groups"));
        }
        if self.eat("STATEMENT") {
            return self.set_statement();
        }
        let mut carried = Scope::Unwritten;
        Ok(Statement::Set(self.list(|parser| parser.set_item_after(&mut carried))?))
    }

    /// Reads an item of a list. A GLOBAL or the like also applies to the names behind it that have
    /// no such word. A name with `@@` has its own scope only, and does not change that of others.
    pub(super) fn set_item_after(&mut self, carried: &mut Scope) -> Result<SetItem> {
        let is_plain = self.token().kind != TokenKind::SystemVariable;
        let mut item = self.set_item()?;
        if let SetItem::Variable { scope, name, .. } = &mut item
            && is_plain
        {
            match *scope {
                // Without `@@` this sets the session's value, not that of the next transaction
                // alone.
                Scope::Unwritten if *carried == Scope::Unwritten && is_characteristic(name) => {
                    *scope = Scope::Session;
                }
                Scope::Unwritten => *scope = *carried,
                written => *carried = written,
            }
        }
        Ok(item)
    }

    fn set_password(&mut self) -> Result<Statement> {
        self.expect("PASSWORD")?;
        let account = if self.eat("FOR") { Some(self.account()?) } else { None };
        let secret = if self.eat("TO") {
            self.expect("RANDOM")?;
            Secret::Random
        } else {
            if !self.eat_symbol("=") {
                return Err(self.error());
            }
            let function = self.eat("PASSWORD") && self.eat_symbol("(");
            let password = self.string()?;
            if function {
                self.expect_symbol(")")?;
            }
            Secret::Password(password)
        };
        let mut authentication = Authentication::new(None, secret);
        self.replace_and_retain(&mut authentication)?;
        Ok(Statement::Admin(AdminCommand::SetPassword { account, authentication }))
    }

    pub(super) fn set_item(&mut self) -> Result<SetItem> {
        match self.token().kind {
            TokenKind::UserVariable => {
                let name = self.user_variable()?;
                self.assign()?;
                return Ok(SetItem::UserVariable(name, self.expr()?));
            }
            TokenKind::SystemVariable => {
                let (scope, name) = self.system_variable()?;
                self.assign()?;
                return Ok(SetItem::Variable { scope, name, value: self.variable_value()? });
            }
            _ => {}
        }
        if self.is("NAMES") && !self.symbol_ahead(1, "=") {
            return self.set_names();
        }
        if self.eat_charset_word() {
            let charset =
                if self.eat("DEFAULT") { None } else { Some(self.string_or_name()?.to_ascii_lowercase()) };
            return Ok(SetItem::CharacterSet(charset));
        }
        let scope = match self.upper().as_str() {
            "GLOBAL" => Scope::Global,
            "SESSION" | "LOCAL" => Scope::Session,
            "PERSIST" => Scope::Persist,
            "PERSIST_ONLY" => Scope::PersistOnly,
            _ => Scope::Unwritten,
        };
        if scope != Scope::Unwritten {
            self.advance();
        }
        if self.is("TRANSACTION") && !self.symbol_ahead(1, "=") {
            return self.set_transaction(scope);
        }
        let mut name = self.name()?.to_ascii_lowercase();
        if self.eat_symbol(".") {
            name = self.of_key_cache(&name)?;
        }
        self.assign()?;
        Ok(SetItem::Variable { scope, name, value: self.variable_value()? })
    }

    fn assign(&mut self) -> Result<()> {
        if self.eat_symbol(":=") { Ok(()) } else { self.expect_symbol("=") }
    }

    /// Reads the value of a variable. `None` is DEFAULT. Words such as ON, ALL, BINARY and ROW are
    /// texts.
    fn variable_value(&mut self) -> Result<Option<Expr>> {
        if self.eat("DEFAULT") {
            return Ok(None);
        }
        let next = self.ahead(1);
        let ends = |symbol: &[u8]| matches!(symbol, b"," | b";");
        let alone = next.kind == TokenKind::End || (next.kind == TokenKind::Symbol && ends(self.raw(next)));
        if alone && let Some(variable) = self.variable_of_body()? {
            return Ok(Some(variable));
        }
        let token = self.token();
        if alone && token.kind == TokenKind::Word && !self.is_any(&["NULL", "TRUE", "FALSE"]) {
            let text = self.raw(token).to_vec();
            self.advance();
            return Ok(Some(Expr::Literal(Literal::Text(text, None))));
        }
        self.expr().map(Some)
    }

    fn set_names(&mut self) -> Result<SetItem> {
        self.expect("NAMES")?;
        if self.eat("DEFAULT") {
            return Ok(SetItem::Names { charset: None, collation: None });
        }
        let charset = Some(if self.eat("BINARY") { "binary".to_owned() } else { self.charset_name()? });
        let collation = if self.eat("COLLATE") { Some(self.collation_name()?) } else { None };
        Ok(SetItem::Names { charset: charset.map(|c| c.to_ascii_lowercase()), collation })
    }

    fn set_transaction(&mut self, scope: Scope) -> Result<SetItem> {
        self.expect("TRANSACTION")?;
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if self.eat_all(&["ISOLATION", "LEVEL"]) {
                isolation = Some(self.isolation_level()?);
            } else if self.eat_all(&["READ", "ONLY"]) {
                read_only = Some(true);
            } else if self.eat_all(&["READ", "WRITE"]) {
                read_only = Some(false);
            } else {
                return Err(self.error());
            }
            if !self.eat_symbol(",") {
                return Ok(SetItem::Transaction { scope, isolation, read_only });
            }
        }
    }

    fn isolation_level(&mut self) -> Result<IsolationName> {
        Ok(match () {
            _ if self.eat_all(&["READ", "UNCOMMITTED"]) => IsolationName::ReadUncommitted,
            _ if self.eat_all(&["READ", "COMMITTED"]) => IsolationName::ReadCommitted,
            _ if self.eat_all(&["REPEATABLE", "READ"]) => IsolationName::RepeatableRead,
            _ if self.eat("SERIALIZABLE") => IsolationName::Serializable,
            _ => return Err(self.error()),
        })
    }
}

/// Reports whether a variable is a characteristic of transactions, which can be set for the next
/// transaction alone.
fn is_characteristic(name: &str) -> bool {
    matches!(name, "transaction_isolation" | "transaction_read_only" | "tx_isolation" | "tx_read_only")
}
