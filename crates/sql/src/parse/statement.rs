//! Recognition of the statement by its first words, and the statements about transactions and the
//! session.

use super::Parser;
use super::explain::explain;
use super::hint_blocks::Blocks;
use super::program::BodyParser;
use crate::SqlError;
use crate::admin::AdminCommand;
use crate::ast::{Completion, Maintenance, PrepareText, Show, ShowFilter, Statement, TableToLock};
use crate::error::Result;
use crate::lexer::TokenKind;

/// The plugins of mysqld that are part of this server, also under their names of before MySQL
/// 8.0.26.
const BUILT_IN_PLUGINS: [&str; 4] =
    ["rpl_semi_sync_source", "rpl_semi_sync_replica", "rpl_semi_sync_master", "rpl_semi_sync_slave"];

/// The words of statements whose first query is the statement's own block, and of those that take
/// the block themselves.
const SHARE_THEIR_BLOCK: &[&str] = &[
    "SELECT", "VALUES", "TABLE", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE", "EXPLAIN",
    "DESCRIBE", "DESC",
];

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Result<Statement> {
        self.blocks = Blocks::default();
        if self.is_symbol("(") {
            return Ok(Statement::Query(self.query()?));
        }
        let word = self.upper();
        if !SHARE_THEIR_BLOCK.contains(&word.as_str()) {
            // The statement itself is the first block.
            self.blocks.begin();
        }
        match word.as_str() {
            "SELECT" | "VALUES" | "TABLE" => Ok(Statement::Query(self.query()?)),
            "WITH" => self.statement_with(),
            "INSERT" | "REPLACE" => self.insert(),
            "UPDATE" => self.update(),
            "DELETE" => self.delete(),
            "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" => self.transaction(&word),
            "SET" => self.set(),
            "SHOW" => self.show(),
            "CREATE" => self.create(),
            "ALTER" => self.alter(),
            "DROP" => self.drop(),
            "RENAME" => self.rename(),
            "TRUNCATE" => self.truncate(),
            "USE" => {
                self.advance();
                Ok(Statement::Use(self.name()?))
            }
            "DESCRIBE" | "DESC" | "EXPLAIN" => explain(self),
            "PREPARE" | "EXECUTE" | "DEALLOCATE" => self.prepared(&word),
            "DO" => {
                self.advance();
                Ok(Statement::Do(self.list(Self::expr)?))
            }
            "LOCK" | "UNLOCK" => self.lock_tables(),
            "ANALYZE" => self.maintain(Maintenance::Analyze),
            "CHECK" => self.maintain(Maintenance::Check),
            "OPTIMIZE" => self.maintain(Maintenance::Optimize),
            "REPAIR" => self.maintain(Maintenance::Repair),
            "CHECKSUM" => self.maintain(Maintenance::Checksum { quick: false }),
            "CHANGE" => self.change(),
            "STOP" => self.start_or_stop_replica(),
            "RESET" => self.reset(),
            "PURGE" => self.purge(),
            "FLUSH" => self.flush(),
            "KILL" => self.kill(),
            "SHUTDOWN" | "RESTART" => {
                self.advance();
                Ok(Statement::Admin(AdminCommand::Shutdown { restart: word == "RESTART" }))
            }
            "GRANT" => self.grant(),
            "REVOKE" => self.revoke(),
            "INSTALL" => Err(self.install()),
            "XA" => self.xa(),
            "UNINSTALL" => Err(self.uninstall()),
            "CALL" => self.call(),
            "SIGNAL" | "RESIGNAL" | "GET" => BodyParser { parser: self }.about_conditions(),
            "LOAD" => self.load(),
            "HANDLER" => self.handler(),
            "CLONE" => self.clone_data(),
            "BINLOG" => {
                self.advance();
                Ok(Statement::Binlog(self.string()?))
            }
            "HELP" => {
                self.advance();
                // Unlike elsewhere, two texts behind each other are not one.
                let pattern = match self.token().kind {
                    TokenKind::Text => {
                        let token = self.advance();
                        crate::lexer::unquote(self.raw(token), self.mode, true)
                    }
                    _ => self.string_or_name()?.into_bytes(),
                };
                Ok(Statement::Show { show: Show::Help(pattern), filter: ShowFilter::None })
            }
            "IMPORT" | "CACHE" => Err(SqlError::not_supported(format!("{word} statement"))),
            _ => Err(self.error()),
        }
    }

    /// Returns the error for INSTALL. For a plugin that is part of this server it is MySQL's error
    /// for a plugin that is installed already.
    fn install(&mut self) -> SqlError {
        self.advance();
        if self.eat("COMPONENT") {
            return self.string().map_or_else(|error| error, |urn| no_component(&urn));
        }
        let is_plugin = self.eat("PLUGIN");
        let name = self.upper();
        if is_plugin && BUILT_IN_PLUGINS.iter().any(|plugin| plugin.eq_ignore_ascii_case(&name)) {
            return SqlError::new(1125, format!("Function '{}' already exists", name.to_lowercase()));
        }
        SqlError::not_supported("INSTALL statement")
    }

    fn uninstall(&mut self) -> SqlError {
        self.advance();
        if !self.eat("COMPONENT") {
            return SqlError::not_supported("UNINSTALL statement");
        }
        let unknown = |urn: String| {
            let text = format!("Component specified by URN '{urn}' to unload has not been loaded before.");
            SqlError::new(3537, text)
        };
        self.string().map_or_else(|error| error, unknown)
    }

    fn transaction(&mut self, word: &str) -> Result<Statement> {
        if word == "START" && !self.token_is(self.ahead(1), "TRANSACTION") {
            return self.start_or_stop_replica();
        }
        self.advance();
        match word {
            "BEGIN" => {
                self.eat("WORK");
                Ok(Statement::Begin { snapshot: false, read_only: None })
            }
            "START" => {
                self.expect("TRANSACTION")?;
                self.start_transaction()
            }
            "SAVEPOINT" => Ok(Statement::Savepoint(self.name()?)),
            "RELEASE" => {
                self.expect("SAVEPOINT")?;
                Ok(Statement::ReleaseSavepoint(self.name()?))
            }
            "COMMIT" => Ok(Statement::Commit(self.completion()?)),
            _ => {
                self.eat("WORK");
                if self.eat("TO") {
                    self.eat("SAVEPOINT");
                    return Ok(Statement::RollbackTo(self.name()?));
                }
                Ok(Statement::Rollback(self.completion()?))
            }
        }
    }

    fn start_transaction(&mut self) -> Result<Statement> {
        let (mut snapshot, mut read_only) = (false, None);
        while !self.at_end() {
            match () {
                _ if self.eat_all(&["WITH", "CONSISTENT", "SNAPSHOT"]) => snapshot = true,
                _ if self.eat_all(&["READ", "ONLY"]) => read_only = Some(true),
                _ if self.eat_all(&["READ", "WRITE"]) => read_only = Some(false),
                _ => return Err(self.error()),
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        Ok(Statement::Begin { snapshot, read_only })
    }

    /// Reads `[WORK] [AND [NO] CHAIN] [[NO] RELEASE]`.
    fn completion(&mut self) -> Result<Completion> {
        self.eat("WORK");
        let (mut chain, mut release) = (None, None);
        if self.eat("AND") {
            chain = Some(!self.eat("NO"));
            self.expect("CHAIN")?;
        }
        if self.are(&["NO", "RELEASE"]) {
            self.at += 2;
            release = Some(false);
        } else if self.eat("RELEASE") {
            release = Some(true);
        }
        Ok(Completion { chain, release })
    }

    fn prepared(&mut self, word: &str) -> Result<Statement> {
        self.advance();
        match word {
            "PREPARE" => {
                let name = self.name()?;
                self.expect("FROM")?;
                let text = match self.token().kind {
                    TokenKind::UserVariable => PrepareText::UserVariable(self.user_variable()?),
                    _ => PrepareText::Literal(self.text_literal()?),
                };
                Ok(Statement::Prepare { name, text })
            }
            "EXECUTE" => {
                if self.is("IMMEDIATE") {
                    return Err(SqlError::not_supported("EXECUTE IMMEDIATE"));
                }
                let name = self.name()?;
                let using = if self.eat("USING") { self.list(Self::user_variable)? } else { Vec::new() };
                Ok(Statement::Execute { name, using })
            }
            _ => {
                self.expect("PREPARE")?;
                Ok(Statement::Deallocate(self.name()?))
            }
        }
    }

    fn lock_tables(&mut self) -> Result<Statement> {
        let lock = self.is("LOCK");
        self.advance();
        if self.is("INSTANCE") {
            return Err(SqlError::not_supported("LOCK INSTANCE FOR BACKUP"));
        }
        if !self.eat_any(&["TABLES", "TABLE"]) {
            return Err(self.error());
        }
        if !lock {
            return Ok(Statement::UnlockTables);
        }
        let tables = self.list(|parser| {
            let table = parser.table_name()?;
            let has_alias = parser.eat("AS") || (parser.is_name() && !parser.is("LOW_PRIORITY"));
            let alias = has_alias.then(|| parser.name()).transpose()?;
            parser.eat("LOW_PRIORITY");
            let write = parser.eat("WRITE");
            if !write {
                parser.expect("READ")?;
                parser.eat("LOCAL");
            }
            Ok(TableToLock { table, alias, write })
        })?;
        Ok(Statement::LockTables(tables))
    }
}

/// Returns MySQL's error for an INSTALL COMPONENT whose component does not exist. This server has
/// no components.
fn no_component(urn: &str) -> SqlError {
    match urn.strip_prefix("file://") {
        None => SqlError::new(3527, format!("Cannot find schema in specified URN: '{urn}'.")),
        Some(name) => {
            let text = format!(
                "Can't open shared library '{name}.so' (errno: 0 {name}.so: cannot open shared object file: No such file or \
                 directory)"
            );
            SqlError::new(1126, text)
        }
    }
}
