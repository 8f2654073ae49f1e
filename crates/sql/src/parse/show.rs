//! Parsing of SHOW.

use super::Parser;
use crate::SqlError;
use crate::admin::AdminCommand;
use crate::ast::{Scope, Show, ShowFilter, Statement, TableName};
use crate::error::Result;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Statement> {
        self.expect("SHOW")?;
        let full = self.eat("FULL");
        self.eat("EXTENDED");
        let full = self.eat("FULL") || full;
        if let Some(command) = self.show_admin(full)? {
            return Ok(Statement::Admin(command));
        }
        let show = self.show_what(full)?;
        let filter = self.show_filter()?;
        Ok(Statement::Show { show, filter })
    }

    fn show_filter(&mut self) -> Result<ShowFilter> {
        if self.eat("LIKE") {
            return Ok(ShowFilter::Like(self.text_literal()?));
        }
        if self.eat("WHERE") {
            return Ok(ShowFilter::Where(self.expr()?));
        }
        Ok(ShowFilter::None)
    }

    /// Reads `FROM x` or `IN x`.
    fn schema_clause(&mut self) -> Result<Option<String>> {
        if self.eat("FROM") || self.eat("IN") { self.name().map(Some) } else { Ok(None) }
    }

    /// Reads `FROM t [FROM s]`.
    fn table_clause(&mut self) -> Result<TableName> {
        if !self.eat("FROM") {
            self.expect("IN")?;
        }
        let mut table = self.table_name()?;
        if let Some(schema) = self.schema_clause()? {
            table.schema = Some(schema);
        }
        Ok(table)
    }

    fn show_what(&mut self, full: bool) -> Result<Show> {
        let scope = match self.upper().as_str() {
            "GLOBAL" => Scope::Global,
            "SESSION" | "LOCAL" => Scope::Session,
            _ => Scope::Unwritten,
        };
        if scope != Scope::Unwritten {
            self.advance();
        }
        let word = self.upper();
        let at = self.at;
        self.advance();
        Ok(match word.as_str() {
            "DATABASES" | "SCHEMAS" => Show::Schemas,
            "TABLES" => Show::Tables { schema: self.schema_clause()?, full },
            "TABLE" if self.eat("STATUS") => Show::TableStatus { schema: self.schema_clause()? },
            "OPEN" if self.eat("TABLES") => {
                self.schema_clause()?;
                Show::OpenTables
            }
            "COLUMNS" | "FIELDS" => Show::Columns { table: self.table_clause()?, full },
            "INDEX" | "INDEXES" | "KEYS" => Show::Index { table: self.table_clause()? },
            "CREATE" => self.show_create()?,
            "VARIABLES" => Show::Variables(scope),
            "STATUS" => Show::Status(scope),
            "WARNINGS" | "ERRORS" => {
                let limit = self.show_limit()?;
                Show::Warnings { errors_only: word == "ERRORS", count: false, limit }
            }
            "COUNT" => {
                for symbol in ["(", "*", ")"] {
                    self.expect_symbol(symbol)?;
                }
                let errors = self.eat("ERRORS");
                if !errors {
                    self.expect("WARNINGS")?;
                }
                Show::CountOf { errors }
            }
            "ENGINES" => Show::Engines,
            "STORAGE" if self.eat("ENGINES") => Show::Engines,
            "COLLATION" => Show::Collation,
            "CHARSET" => Show::CharacterSet,
            "CHARACTER" if self.eat("SET") => Show::CharacterSet,
            "TRIGGERS" => Show::Triggers { schema: self.schema_clause()? },
            "EVENTS" => Show::Events { schema: self.schema_clause()? },
            "PROCEDURE" | "FUNCTION" if self.eat("CODE") => return Err(no_code()),
            "PROCEDURE" if self.eat("STATUS") => Show::ProcedureStatus,
            "FUNCTION" if self.eat("STATUS") => Show::FunctionStatus,
            "PROFILES" => Show::Profiles,
            "PROFILE" => return Err(SqlError::not_supported("SHOW PROFILE")),
            _ => {
                self.at = at;
                return Err(self.error());
            }
        })
    }

    fn show_limit(&mut self) -> Result<Option<(u64, u64)>> {
        if !self.eat("LIMIT") {
            return Ok(None);
        }
        let first = self.unsigned()?;
        if self.eat_symbol(",") {
            return Ok(Some((first, self.unsigned()?)));
        }
        if self.eat("OFFSET") {
            return Ok(Some((self.unsigned()?, first)));
        }
        Ok(Some((0, first)))
    }

    fn show_create(&mut self) -> Result<Show> {
        match self.upper().as_str() {
            "TABLE" => {
                self.advance();
                Ok(Show::CreateTable(self.table_name()?))
            }
            "SEQUENCE" => {
                self.advance();
                Ok(Show::CreateSequence(self.table_name()?))
            }
            "DATABASE" | "SCHEMA" => {
                self.advance();
                let if_not_exists = self.if_not_exists();
                Ok(Show::CreateSchema { schema: self.name()?, if_not_exists })
            }
            "VIEW" | "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT" => {
                let kind = self.kind()?;
                self.advance();
                Ok(Show::CreateObject { kind, name: self.table_name()? })
            }
            _ => Err(self.error()),
        }
    }

    /// Reads the kinds of SHOW that the server answers, not this crate.
    fn show_admin(&mut self, full: bool) -> Result<Option<AdminCommand>> {
        let word = self.upper();
        let next = |word: &str| self.token_is(self.ahead(1), word);
        let command = match word.as_str() {
            "PROCESSLIST" => {
                self.advance();
                AdminCommand::ShowProcesslist { full }
            }
            "PLUGINS" => {
                self.advance();
                AdminCommand::ShowPlugins
            }
            "PRIVILEGES" => {
                self.advance();
                AdminCommand::ShowPrivileges
            }
            "REPLICA" | "SLAVE" if next("STATUS") => {
                self.at += 2;
                let channel = self.channel()?;
                AdminCommand::ShowReplicaStatus { old_names: word == "SLAVE", channel }
            }
            "ALL" if next("SLAVES") || next("REPLICAS") => {
                self.at += 2;
                self.expect("STATUS")?;
                AdminCommand::ShowReplicaStatus { old_names: true, channel: None }
            }
            "REPLICAS" => {
                self.advance();
                AdminCommand::ShowReplicas { old_names: false }
            }
            "SLAVE" if next("HOSTS") => {
                self.at += 2;
                AdminCommand::ShowReplicas { old_names: true }
            }
            "BINARY" | "MASTER" if next("LOGS") => {
                self.at += 2;
                AdminCommand::ShowBinaryLogs
            }
            "MASTER" if next("STATUS") => {
                self.at += 2;
                AdminCommand::ShowBinaryLogStatus
            }
            "BINLOG" if next("STATUS") => {
                self.at += 2;
                AdminCommand::ShowBinaryLogStatus
            }
            "BINARY" if next("LOG") => {
                self.at += 2;
                self.expect("STATUS")?;
                AdminCommand::ShowBinaryLogStatus
            }
            "BINLOG" | "RELAYLOG" if next("EVENTS") => self.show_binlog_events(word == "RELAYLOG")?,
            "ENGINE" => {
                self.advance();
                let engine = self.string_or_name()?;
                let what = self.upper();
                if !matches!(what.as_str(), "STATUS" | "MUTEX" | "LOGS") {
                    return Err(self.error());
                }
                self.advance();
                AdminCommand::ShowEngine { engine, what }
            }
            "GRANTS" => self.show_grants()?,
            "CREATE" if next("USER") => {
                self.at += 2;
                AdminCommand::ShowCreateUser(self.account()?)
            }
            _ => return Ok(None),
        };
        Ok(Some(command))
    }

    fn show_binlog_events(&mut self, relay: bool) -> Result<AdminCommand> {
        self.at += 2;
        let file = if self.eat("IN") { Some(self.string()?) } else { None };
        let position = if self.eat("FROM") { Some(self.unsigned()?) } else { None };
        let limit = self.show_limit()?;
        let channel = self.channel()?;
        Ok(AdminCommand::ShowBinlogEvents {
            relay,
            channel,
            file,
            position,
            offset: limit.map_or(0, |(offset, _)| offset),
            limit: limit.map(|(_, count)| count),
        })
    }
}

/// Builds the error for SHOW PROCEDURE CODE and SHOW FUNCTION CODE, which only MySQL's debug builds
/// have.
fn no_code() -> SqlError {
    let text = "The 'SHOW PROCEDURE|FUNCTION CODE' feature is disabled; you need MySQL built with '--with-debug' to \
                have it working";
    SqlError::new(1289, text)
}
