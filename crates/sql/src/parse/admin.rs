//! Parsing of statements about replication and the binary log, and of FLUSH, PURGE, KILL and
//! SHUTDOWN.

use super::Parser;
use crate::SqlError;
use crate::admin::{
    AdminCommand, FilterKind, FilterRule, FlushTarget, PurgeTo, ReplicaLogin, ReplicaThreads, SourceOptions,
    Until,
};
use crate::ast::{Expr, Literal, Maintenance, Statement};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// Reads CHANGE REPLICATION SOURCE TO, CHANGE MASTER TO or CHANGE REPLICATION FILTER.
    pub(super) fn change(&mut self) -> Result<Statement> {
        self.expect("CHANGE")?;
        if self.eat_all(&["REPLICATION", "FILTER"]) {
            return self.change_filter();
        }
        if !self.eat_all(&["REPLICATION", "SOURCE"]) {
            self.expect("MASTER")?;
        }
        let mut channel = match self.token().kind {
            TokenKind::Text => Some(self.string()?),
            _ => None,
        };
        self.expect("TO")?;
        let mut options = SourceOptions::default();
        self.list(|parser| parser.source_option(&mut options))?;
        channel = self.channel()?.or(channel);
        Ok(Statement::Admin(AdminCommand::ChangeReplicationSource { options: Box::new(options), channel }))
    }

    fn change_filter(&mut self) -> Result<Statement> {
        let mut filters: Vec<(FilterKind, Vec<FilterRule>)> = Vec::new();
        self.list(|parser| {
            let word = parser.upper();
            let kind = FilterKind::ALL.into_iter().find(|kind| kind.name() == word);
            let kind = kind.ok_or_else(|| parser.error())?;
            parser.advance();
            parser.expect_symbol("=")?;
            parser.expect_symbol("(")?;
            let none = parser.is_symbol(")");
            let rules = if none { Vec::new() } else { parser.list(|parser| parser.filter_rule(kind))? };
            parser.expect_symbol(")")?;
            // Of several lists of one kind the last one counts.
            filters.retain(|(earlier, _)| *earlier != kind);
            filters.push((kind, rules));
            Ok(())
        })?;
        let channel = self.channel()?;
        Ok(Statement::Admin(AdminCommand::ChangeReplicationFilter { filters, channel }))
    }

    fn filter_rule(&mut self, kind: FilterKind) -> Result<FilterRule> {
        let mut to = String::new();
        let what = match kind {
            FilterKind::DoDb | FilterKind::IgnoreDb => self.name()?,
            FilterKind::DoTable | FilterKind::IgnoreTable => {
                let schema = self.name()?;
                self.expect_symbol(".")?;
                format!("{schema}.{}", self.any_name()?)
            }
            FilterKind::WildDoTable | FilterKind::WildIgnoreTable => self.string()?,
            FilterKind::RewriteDb => {
                self.expect_symbol("(")?;
                let from = self.name()?;
                self.expect_symbol(",")?;
                to = self.name()?;
                self.expect_symbol(")")?;
                from
            }
        };
        Ok(FilterRule { what, to })
    }

    fn source_option(&mut self, options: &mut SourceOptions) -> Result<()> {
        let word = self.upper();
        let name =
            word.strip_prefix("SOURCE_").or_else(|| word.strip_prefix("MASTER_")).unwrap_or(&word).to_owned();
        if name.is_empty() {
            return Err(self.error());
        }
        let at = self.at;
        self.advance();
        self.expect_symbol("=")?;
        match name.as_str() {
            "HOST" => options.host = Some(self.string()?),
            "PORT" => {
                let error = self.error();
                options.port = Some(u16::try_from(self.unsigned()?).map_err(|_| error)?);
            }
            "USER" => options.user = Some(self.string()?),
            "PASSWORD" => options.password = Some(self.string()?),
            "BIND" => options.bind = Some(self.string()?),
            "LOG_FILE" => options.log_file = Some(self.string()?),
            "LOG_POS" => options.log_pos = Some(self.unsigned()?),
            "RELAY_LOG_FILE" => options.relay_log_file = Some(self.string()?),
            "RELAY_LOG_POS" => options.relay_log_pos = Some(self.unsigned()?),
            "AUTO_POSITION" => options.auto_position = Some(self.unsigned()? != 0),
            "USE_GTID" => options.use_gtid = Some(self.any_name()?.to_ascii_lowercase()),
            "CONNECT_RETRY" => options.connect_retry_s = Some(self.unsigned32()?),
            "RETRY_COUNT" => options.retry_count = Some(self.unsigned()?),
            "HEARTBEAT_PERIOD" => options.heartbeat_period_s = Some(self.seconds()?),
            "DELAY" => options.delay_s = Some(self.unsigned32()?),
            "SSL" => options.ssl = Some(self.unsigned()? != 0),
            "SSL_CA" => options.ssl_ca = Some(self.string()?),
            "SSL_CAPATH" => options.ssl_capath = Some(self.string()?),
            "SSL_CERT" => options.ssl_cert = Some(self.string()?),
            "SSL_CIPHER" => options.ssl_cipher = Some(self.string()?),
            "SSL_KEY" => options.ssl_key = Some(self.string()?),
            "SSL_VERIFY_SERVER_CERT" => options.ssl_verify_server_cert = Some(self.unsigned()? != 0),
            "TLS_VERSION" => options.tls_version = Some(self.string()?),
            "TLS_CIPHERSUITES" => {
                let is_null = self.eat("NULL");
                options.tls_ciphersuites = Some(if is_null { None } else { Some(self.string()?) });
            }
            "PUBLIC_KEY_PATH" => options.public_key_path = Some(self.string()?),
            "COMPRESSION_ALGORITHMS" => options.compression_algorithms = Some(self.string()?),
            "ZSTD_COMPRESSION_LEVEL" => options.zstd_compression_level = Some(self.unsigned()?),
            "IGNORE_SERVER_IDS" => {
                self.expect_symbol("(")?;
                let ids = if self.is_symbol(")") { Vec::new() } else { self.list(Self::unsigned32)? };
                self.expect_symbol(")")?;
                options.ignore_server_ids = Some(ids);
            }
            "REQUIRE_ROW_FORMAT" => options.require_row_format = Some(self.unsigned()? != 0),
            "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS" => options.assign_gtids = Some(self.string_or_name()?),
            "GET_SOURCE_PUBLIC_KEY" | "GET_MASTER_PUBLIC_KEY" => {
                options.get_public_key = Some(self.unsigned()? != 0);
            }
            "PRIVILEGE_CHECKS_USER" => {
                if !self.eat("NULL") {
                    let account = self.account()?;
                    options.other.push((name, format!("{}@{}", account.user, account.host)));
                }
            }
            "SSL_CRL"
            | "SSL_CRLPATH"
            | "CONNECTION_AUTO_FAILOVER"
            | "GTID_ONLY"
            | "REQUIRE_TABLE_PRIMARY_KEY_CHECK"
            | "NETWORK_NAMESPACE"
            | "DO_DOMAIN_IDS"
            | "IGNORE_DOMAIN_IDS"
            | "DEMOTE_TO_SLAVE" => {
                let text = match self.token().kind {
                    TokenKind::Integer => self.unsigned()?.to_string(),
                    _ => self.string_or_name()?,
                };
                options.other.push((name, text));
            }
            _ => {
                self.at = at;
                return Err(self.error());
            }
        }
        Ok(())
    }

    /// Reads a number of seconds, which may have a fraction.
    fn seconds(&mut self) -> Result<f64> {
        let token = self.token();
        if !matches!(token.kind, TokenKind::Integer | TokenKind::Decimal) {
            return Err(self.error());
        }
        let digits = String::from_utf8_lossy(self.raw(token)).into_owned();
        self.advance();
        digits.parse().map_err(|_| self.error())
    }

    /// Reads `FOR CHANNEL 'name'`. `None` if something else follows.
    pub(super) fn channel(&mut self) -> Result<Option<String>> {
        if !self.eat_all(&["FOR", "CHANNEL"]) {
            return Ok(None);
        }
        self.string_or_name().map(Some)
    }

    /// Reads START REPLICA, START SLAVE, STOP REPLICA or STOP SLAVE.
    pub(super) fn start_or_stop_replica(&mut self) -> Result<Statement> {
        let start = self.is("START");
        self.advance();
        if self.is("GROUP_REPLICATION") {
            return Err(SqlError::not_supported("group replication"));
        }
        let all = self.eat("ALL");
        if !(self.eat("REPLICA")
            || self.eat("SLAVE")
            || (all && (self.eat("SLAVES") || self.eat("REPLICAS"))))
        {
            return Err(self.error());
        }
        let mut threads = ReplicaThreads { receiver: false, applier: false };
        while self.is_any(&["IO_THREAD", "SQL_THREAD", "RELAY_THREAD"]) {
            if self.eat("SQL_THREAD") {
                threads.applier = true;
            } else {
                self.advance();
                threads.receiver = true;
            }
            if !self.eat_symbol(",") {
                break;
            }
        }
        if threads == (ReplicaThreads { receiver: false, applier: false }) {
            threads = ReplicaThreads { receiver: true, applier: true };
        }
        let until = if start && self.eat("UNTIL") { Some(self.until()?) } else { None };
        let login = if start { self.replica_login()? } else { None };
        let channel = self.channel()?;
        Ok(Statement::Admin(if start {
            AdminCommand::StartReplica { threads, until, login, channel }
        } else {
            AdminCommand::StopReplica { threads, channel }
        }))
    }

    /// Reads the options of START REPLICA about the connection, which have this order.
    fn replica_login(&mut self) -> Result<Option<ReplicaLogin>> {
        let mut values = [const { None }; 4];
        for (value, word) in values.iter_mut().zip(["USER", "PASSWORD", "DEFAULT_AUTH", "PLUGIN_DIR"]) {
            if self.eat(word) {
                self.expect_symbol("=")?;
                *value = Some(self.string()?);
            }
        }
        if values.iter().all(Option::is_none) {
            return Ok(None);
        }
        let [user, password, ..] = values.map(Option::unwrap_or_default);
        Ok(Some(ReplicaLogin { user, password }))
    }

    fn until(&mut self) -> Result<Until> {
        let word = self.upper();
        self.advance();
        match word.as_str() {
            "SQL_AFTER_MTS_GAPS" => return Ok(Until::SqlAfterGaps),
            "SQL_BEFORE_GTIDS" | "SQL_AFTER_GTIDS" => {
                self.expect_symbol("=")?;
                let set = self.string()?;
                let before = word == "SQL_BEFORE_GTIDS";
                return Ok(if before { Until::SqlBeforeGtids(set) } else { Until::SqlAfterGtids(set) });
            }
            "SOURCE_LOG_FILE" | "MASTER_LOG_FILE" | "RELAY_LOG_FILE" => {}
            _ => {
                self.at -= 1;
                return Err(self.error());
            }
        }
        self.expect_symbol("=")?;
        let log_file = self.string()?;
        self.expect_symbol(",")?;
        if !self.eat_any(&["SOURCE_LOG_POS", "MASTER_LOG_POS", "RELAY_LOG_POS"]) {
            return Err(self.error());
        }
        self.expect_symbol("=")?;
        let log_pos = self.unsigned()?;
        Ok(if word == "RELAY_LOG_FILE" {
            Until::RelayPosition { log_file, log_pos }
        } else {
            Until::SourcePosition { log_file, log_pos }
        })
    }

    /// Reads what follows RESET PERSIST: `[[IF EXISTS] name]`.
    fn reset_persist(&mut self) -> Result<Statement> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let name = if if_exists || !self.at_end() { Some(self.name()?.to_lowercase()) } else { None };
        Ok(Statement::Admin(AdminCommand::ResetPersist { name, if_exists }))
    }

    /// Reads RESET REPLICA, RESET PERSIST, RESET BINARY LOGS AND GTIDS or RESET MASTER.
    pub(super) fn reset(&mut self) -> Result<Statement> {
        self.expect("RESET")?;
        if self.eat("REPLICA") || self.eat("SLAVE") {
            let all = self.eat("ALL");
            return Ok(Statement::Admin(AdminCommand::ResetReplica { all, channel: self.channel()? }));
        }
        if !self.eat("MASTER") {
            if self.eat("PERSIST") {
                return self.reset_persist();
            }
            if self.mode.of_source && self.are(&["QUERY", "CACHE"]) {
                self.at += 2;
                let targets = vec![FlushTarget::Other("QUERY CACHE".to_owned())];
                return Ok(Statement::Admin(AdminCommand::Flush { targets, local: true }));
            }
            self.expect_all(&["BINARY", "LOGS", "AND", "GTIDS"])?;
        }
        let to = if self.eat("TO") { Some(self.unsigned()?) } else { None };
        Ok(Statement::Admin(AdminCommand::ResetBinaryLogsAndGtids { to }))
    }

    pub(super) fn purge(&mut self) -> Result<Statement> {
        self.expect("PURGE")?;
        if !self.eat_any(&["BINARY", "MASTER"]) {
            return Err(self.error());
        }
        self.expect("LOGS")?;
        if self.eat("TO") {
            return Ok(Statement::Admin(AdminCommand::PurgeBinaryLogs(PurgeTo::File(self.string()?))));
        }
        self.expect("BEFORE")?;
        let at = self.expr()?;
        Ok(Statement::PurgeBefore(at))
    }

    pub(super) fn flush(&mut self) -> Result<Statement> {
        self.expect("FLUSH")?;
        let local = self.eat_any(&["LOCAL", "NO_WRITE_TO_BINLOG"]);
        let targets = if self.is_any(&["TABLES", "TABLE"]) {
            vec![self.flush_tables()?]
        } else {
            self.list(Self::flush_target)?
        };
        Ok(Statement::Admin(AdminCommand::Flush { targets, local }))
    }

    fn flush_tables(&mut self) -> Result<FlushTarget> {
        self.advance();
        if self.eat_all(&["WITH", "READ", "LOCK"]) {
            return Ok(FlushTarget::TablesWithReadLock);
        }
        let mut tables = Vec::new();
        if self.is_name() {
            tables = self.list(Self::table_name)?;
        }
        if self.is("WITH") || self.is("FOR") {
            return Err(SqlError::not_supported(
                "FLUSH TABLES ... WITH READ LOCK | FOR EXPORT of named tables",
            ));
        }
        Ok(FlushTarget::Tables(tables.into_iter().map(|t| (t.schema.unwrap_or_default(), t.name)).collect()))
    }

    fn flush_target(&mut self) -> Result<FlushTarget> {
        let word = self.upper();
        let error = self.error();
        self.advance();
        Ok(match word.as_str() {
            "LOGS" => FlushTarget::Logs,
            "PRIVILEGES" => FlushTarget::Privileges,
            "STATUS" => FlushTarget::Status,
            "USER_RESOURCES" | "OPTIMIZER_COSTS" => FlushTarget::Other(word),
            // MariaDB has these two targets. MySQL has them no longer.
            "HOSTS" if self.mode.of_source => FlushTarget::Other(word),
            "QUERY" if self.mode.of_source => {
                self.expect("CACHE")?;
                FlushTarget::Other("QUERY CACHE".to_owned())
            }
            "BINARY" | "RELAY" | "ERROR" | "GENERAL" | "SLOW" | "ENGINE" => {
                self.expect("LOGS")?;
                match word.as_str() {
                    "BINARY" => FlushTarget::BinaryLogs,
                    "RELAY" => {
                        self.channel()?;
                        FlushTarget::RelayLogs
                    }
                    _ => FlushTarget::OtherLogs(word),
                }
            }
            _ => return Err(error),
        })
    }

    /// Reads CLONE LOCAL DATA DIRECTORY. CLONE INSTANCE is refused as by a MySQL server without the
    /// plugin.
    pub(super) fn clone_data(&mut self) -> Result<Statement> {
        self.expect("CLONE")?;
        if self.eat("INSTANCE") {
            self.clone_source()?;
            return Err(SqlError::new(1524, "Plugin 'clone' is not loaded"));
        }
        self.expect_all(&["LOCAL", "DATA", "DIRECTORY"])?;
        let _optional = self.eat_symbol("=") || self.eat_symbol(":=");
        Ok(Statement::Admin(AdminCommand::CloneLocal { directory: self.string()? }))
    }

    /// Reads what follows CLONE INSTANCE.
    fn clone_source(&mut self) -> Result<()> {
        self.expect("FROM")?;
        self.account()?;
        self.expect_symbol(":")?;
        let port = self.expr()?;
        if !matches!(port, Expr::Literal(Literal::Integer(_))) {
            return Err(self.error());
        }
        self.expect_all(&["IDENTIFIED", "BY"])?;
        self.string()?;
        if self.eat("DATA") {
            self.expect("DIRECTORY")?;
            let _optional = self.eat_symbol("=") || self.eat_symbol(":=");
            self.string()?;
        }
        if self.eat("REQUIRE") {
            let _negated = self.eat("NO");
            self.expect("SSL")?;
        }
        if self.at_end() { Ok(()) } else { Err(self.error()) }
    }

    pub(super) fn kill(&mut self) -> Result<Statement> {
        self.expect("KILL")?;
        let query_only = self.eat("QUERY");
        if !query_only {
            self.eat("CONNECTION");
        }
        let negative = self.eat_symbol("-");
        match self.expr()? {
            Expr::Literal(Literal::Integer(connection_id)) if !negative => {
                Ok(Statement::Admin(AdminCommand::Kill { query_only, connection_id }))
            }
            _ => Err(SqlError::not_supported("KILL of an expression")),
        }
    }

    /// Reads ANALYZE, CHECK, OPTIMIZE, REPAIR or CHECKSUM TABLE.
    pub(super) fn maintain(&mut self, what: Maintenance) -> Result<Statement> {
        self.advance();
        let _ = self.eat_any(&["LOCAL", "NO_WRITE_TO_BINLOG"]);
        if !self.eat_any(&["TABLE", "TABLES"]) {
            return Err(self.error());
        }
        let tables = self.list(Self::table_name)?;
        if self.mode.of_source {
            // The options may be MariaDB's own. They are skipped, because the statement changes no
            // row.
            self.pass_to_end();
        }
        if self.is_any(&["UPDATE", "DROP"]) && what == Maintenance::Analyze {
            return Err(SqlError::not_supported("ANALYZE TABLE ... HISTOGRAM"));
        }
        let options: &[&str] = match what {
            Maintenance::Check => &["QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED"],
            Maintenance::Repair => &["QUICK", "EXTENDED", "USE_FRM"],
            Maintenance::Checksum { .. } if self.eat("QUICK") => {
                return Ok(Statement::Maintain { what: Maintenance::Checksum { quick: true }, tables });
            }
            Maintenance::Checksum { .. } => &["EXTENDED"],
            Maintenance::Analyze | Maintenance::Optimize => &[],
        };
        loop {
            if what == Maintenance::Check && self.eat_all(&["FOR", "UPGRADE"]) {
                continue;
            }
            if !self.eat_any(options) {
                return Ok(Statement::Maintain { what, tables });
            }
        }
    }
}
