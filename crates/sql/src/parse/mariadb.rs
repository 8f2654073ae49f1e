//! The syntax that MariaDB has beyond MySQL's in statements about tables. Sequences, versions of
//! rows and periods are for clients too. The rest is read in statements of sources only, and is the
//! same syntax error for a client as in MySQL.

use super::Parser;
use crate::SqlError;
use crate::ast::{
    AlterDemands, AlterTable, Alteration, CreateTable, Delete, Expr, PartitionFunctionSpec, PeriodSpec,
    Portion, RowEdge, SequenceSpec, Statement, SystemTime, TableOptions, TableRef, WrittenExpr,
};
use crate::error::Result;
use crate::lexer::TokenKind;
use engine::PartitionKind;

/// The options of MariaDB's tables that MySQL does not know.
const TABLE_OPTIONS: [&str; 7] = [
    "PAGE_CHECKSUM",
    "TRANSACTIONAL",
    "SEQUENCE",
    "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL",
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
];

impl Parser<'_> {
    /// Skips `IF EXISTS` in a place where MySQL does not have it. Returns whether it was there.
    pub(super) fn mariadb_if_exists(&mut self) -> bool {
        self.mode.of_source && self.if_exists()
    }

    /// Skips `IF NOT EXISTS` in a place where MySQL does not have it. Returns whether it was there.
    pub(super) fn mariadb_if_not_exists(&mut self) -> bool {
        self.mode.of_source && self.if_not_exists()
    }

    /// Skips `NOWAIT` or `WAIT n`, which says how long the source's session waited for the table's
    /// lock. The applier waits as long as its own settings say.
    pub(super) fn mariadb_wait(&mut self) -> Result<()> {
        if self.mode.of_source && !self.eat("NOWAIT") && self.eat("WAIT") {
            self.unsigned()?;
        }
        Ok(())
    }

    /// Skips `RETURNING expressions`, which says what the source's client was to get.
    pub(super) fn returning(&mut self) -> Result<()> {
        if !self.is("RETURNING") {
            return Ok(());
        }
        if !self.mode.of_source {
            return Err(SqlError::not_supported("RETURNING"));
        }
        self.pass_to_end();
        Ok(())
    }

    /// Reads `variable = value, ... FOR statement` behind SET STATEMENT and returns the statement.
    /// The settings that change its effect are logged with it.
    pub(super) fn set_statement(&mut self) -> Result<Statement> {
        if !self.mode.of_source {
            return Err(SqlError::not_supported("SET STATEMENT"));
        }
        self.list(Self::set_item)?;
        self.expect("FOR")?;
        self.statement()
    }

    /// Skips the rest of the statement.
    pub(super) fn pass_to_end(&mut self) {
        while !self.at_end() {
            self.advance();
        }
    }

    /// Reports whether a word is an option of tables that only MariaDB has.
    pub(super) fn is_of_mariadb(word: &str) -> bool {
        TABLE_OPTIONS.contains(&word)
    }

    /// Reads `name [=] value`, where the name is an option of MariaDB's tables.
    pub(super) fn mariadb_table_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        let name = self.any_name()?.to_ascii_uppercase();
        self.eat_symbol("=");
        let value = match self.token().kind {
            TokenKind::Text => format!("'{}'", self.string()?.replace('\\', "\\\\").replace('\'', "''")),
            _ => self.option_value()?.to_ascii_uppercase(),
        };
        options.of_mariadb.retain(|(known, _)| *known != name);
        options.of_mariadb.push((name, value));
        Ok(true)
    }

    /// Reads `name = value`, which MariaDB hands to the storage engine whatever the name is.
    /// Returns false if something else follows.
    pub(super) fn engine_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        let is_name = matches!(self.token().kind, TokenKind::Word | TokenKind::QuotedName);
        if !self.mode.of_source || !is_name || !self.symbol_ahead(1, "=") {
            return Ok(false);
        }
        self.mariadb_table_option(options)
    }

    /// Reads `UNION [=] (table, ...)` of a MERGE table. The option is kept, and the table itself
    /// stays empty in this server's engine.
    pub(super) fn union_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        self.advance();
        self.eat_symbol("=");
        self.expect_symbol("(")?;
        let mut names = Vec::new();
        if !self.is_symbol(")") {
            for table in self.list(Self::table_name)? {
                let quoted = |name: &str| crate::quoting::quoted(name);
                let schema = table.schema.map_or(String::new(), |schema| format!("{}.", quoted(&schema)));
                names.push(format!("{schema}{}", quoted(&table.name)));
            }
        }
        self.expect_symbol(")")?;
        // MySQL takes the option and forgets it.
        if self.mode.of_source {
            options.of_mariadb.push(("UNION".to_owned(), format!("({})", names.join(","))));
        }
        Ok(true)
    }

    /// Returns the alteration that adds a key or foreign key, with the `IF NOT EXISTS` that stood
    /// behind its kind.
    pub(super) fn unless_there(&self, alteration: Alteration) -> Alteration {
        if self.if_not_exists_of_key { alteration.unless_there() } else { alteration }
    }

    /// Reads the rest of `CREATE [OR REPLACE] [TEMPORARY] SEQUENCE` from SEQUENCE on.
    pub(super) fn create_sequence(&mut self, temporary: bool, or_replace: bool) -> Result<Statement> {
        self.expect("SEQUENCE")?;
        let if_not_exists = self.if_not_exists();
        let table = self.table_name()?;
        let mut create = CreateTable::empty(table, temporary, or_replace);
        create.if_not_exists = if_not_exists;
        let mut spec = SequenceSpec::default();
        while self.sequence_option(&mut spec, false)? {}
        create.sequence = Some(spec);
        create.options = self.table_options()?;
        Ok(Statement::CreateTable(create))
    }

    /// Reads the rest of ALTER from SEQUENCE on.
    pub(super) fn alter_sequence(&mut self) -> Result<Statement> {
        self.expect("SEQUENCE")?;
        let if_exists = self.if_exists();
        let table = self.table_name()?;
        let mut spec = SequenceSpec::default();
        if !self.sequence_option(&mut spec, true)? {
            return Err(self.error());
        }
        while self.sequence_option(&mut spec, true)? {}
        let (alterations, demands) = (vec![Alteration::Sequence(spec)], AlterDemands::default());
        Ok(Statement::AlterTable(AlterTable { table, if_exists, alterations, demands }))
    }

    /// Reads the rest of `DROP [TEMPORARY] SEQUENCE` from SEQUENCE on.
    pub(super) fn drop_sequence(&mut self, temporary: bool) -> Result<Statement> {
        self.expect("SEQUENCE")?;
        let if_exists = self.if_exists();
        let tables = self.list(Self::table_name)?;
        Ok(Statement::DropTable { tables, if_exists, temporary, sequences: true })
    }

    /// Reads one option of a sequence. Returns false if none follows.
    fn sequence_option(&mut self, spec: &mut SequenceSpec, alters: bool) -> Result<bool> {
        let word = self.upper();
        match word.as_str() {
            "START" => {
                self.advance();
                let _ = self.eat("WITH") || self.eat_symbol("=");
                let value = self.sequence_number()?;
                once(&mut spec.start, value, "START")?;
            }
            "RESTART" if alters => {
                self.advance();
                let has_word = self.eat("WITH") || self.eat_symbol("=");
                let has_value = has_word || self.is_symbol("-") || self.token().kind == TokenKind::Integer;
                let value = if has_value { Some(self.sequence_number()?) } else { None };
                once(&mut spec.restart, value, "RESTART")?;
            }
            "INCREMENT" => {
                self.advance();
                let _ = self.eat("BY") || self.eat_symbol("=");
                let value = self.sequence_number()?;
                once(&mut spec.increment, value, "INCREMENT")?;
            }
            "MINVALUE" | "MAXVALUE" | "CACHE" => {
                self.advance();
                self.eat_symbol("=");
                let value = self.sequence_number()?;
                match word.as_str() {
                    "MINVALUE" => once(&mut spec.minimum, value, "MINVALUE")?,
                    "MAXVALUE" => once(&mut spec.maximum, value, "MAXVALUE")?,
                    _ => once(&mut spec.cache, value, "CACHE")?,
                }
            }
            "NOMINVALUE" | "NOMAXVALUE" | "NOCACHE" | "NOCYCLE" => {
                self.advance();
                without(spec, &word[2..])?;
            }
            "NO" => {
                self.advance();
                let word = self.upper();
                self.advance();
                if !without(spec, &word)? {
                    return Err(self.error());
                }
            }
            "CYCLE" => {
                self.advance();
                once(&mut spec.cycle, true, "CYCLE")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn is_value_of_sequence(&self) -> bool {
        self.are(&["NEXT", "VALUE", "FOR"]) || self.are(&["PREVIOUS", "VALUE", "FOR"])
    }

    /// Reads `NEXT VALUE FOR sequence` or `PREVIOUS VALUE FOR sequence`, which are NEXTVAL and
    /// LASTVAL.
    pub(super) fn value_of_sequence(&mut self) -> Result<Expr> {
        let function = if self.eat("NEXT") { "nextval" } else { "lastval" };
        self.eat("PREVIOUS");
        self.expect_all(&["VALUE", "FOR"])?;
        Ok(Expr::call(function, vec![self.column()?]))
    }

    /// Reads an integer with its sign.
    fn sequence_number(&mut self) -> Result<i64> {
        let minus = self.eat_symbol("-");
        if !minus {
            self.eat_symbol("+");
        }
        let error = self.error();
        let value = i64::try_from(self.unsigned()?).map_err(|_| error)?;
        Ok(if minus { -value } else { value })
    }

    /// Reads `PERIOD FOR name (start, end)`. `None` if something else follows.
    pub(super) fn period_spec(&mut self) -> Result<Option<PeriodSpec>> {
        if !self.are(&["PERIOD", "FOR"]) {
            return Ok(None);
        }
        self.at += 2;
        let name = self.period_name()?;
        self.expect_symbol("(")?;
        let start = self.name()?;
        self.expect_symbol(",")?;
        let end = self.name()?;
        self.expect_symbol(")")?;
        Ok(Some(PeriodSpec { name, start, end }))
    }

    /// Reads the name of a period. `None` is `SYSTEM_TIME`.
    pub(super) fn period_name(&mut self) -> Result<Option<String>> {
        let name = self.name()?;
        Ok(Some(name).filter(|name| !name.eq_ignore_ascii_case("SYSTEM_TIME")))
    }

    /// Reads `ROW START` or `ROW END`, which stands in place of a generated column's expression.
    pub(super) fn row_edge(&mut self) -> Option<RowEdge> {
        match () {
            _ if self.eat_all(&["ROW", "START"]) => Some(RowEdge::Start),
            _ if self.eat_all(&["ROW", "END"]) => Some(RowEdge::End),
            _ => None,
        }
    }

    /// Reads `WITH SYSTEM VERSIONING` or `WITHOUT SYSTEM VERSIONING`. `None` if something else
    /// follows.
    pub(super) fn versioning(&mut self) -> Option<bool> {
        match () {
            _ if self.eat_all(&["WITH", "SYSTEM", "VERSIONING"]) => Some(true),
            _ if self.eat_all(&["WITHOUT", "SYSTEM", "VERSIONING"]) => Some(false),
            _ => None,
        }
    }

    /// Reads `FOR SYSTEM_TIME ...` behind a table's name. `None` if something else follows.
    pub(super) fn system_time(&mut self) -> Result<Option<Box<SystemTime>>> {
        if !self.are(&["FOR", "SYSTEM_TIME"]) {
            return Ok(None);
        }
        self.at += 2;
        let time = match () {
            _ if self.eat("ALL") => SystemTime::All,
            _ if self.eat_all(&["AS", "OF"]) => SystemTime::AsOf(self.moment()?),
            _ if self.eat("BETWEEN") => {
                let first = self.moment()?;
                self.expect("AND")?;
                SystemTime::Between(first, self.moment()?)
            }
            _ if self.eat("FROM") => {
                let first = self.moment()?;
                self.expect("TO")?;
                SystemTime::FromTo(first, self.moment()?)
            }
            _ => return Err(self.error()),
        };
        Ok(Some(Box::new(time)))
    }

    /// Reads `FOR PORTION OF period FROM expression TO expression` behind the name of a table that
    /// is changed. `None` if something else follows.
    pub(super) fn portion(&mut self) -> Result<Option<Box<SystemTime>>> {
        if !self.are(&["FOR", "PORTION", "OF"]) || self.token_is(self.ahead(3), "SYSTEM_TIME") {
            return Ok(None);
        }
        self.at += 3;
        let period = self.name()?;
        self.expect("FROM")?;
        let from = self.bit_expr()?;
        self.expect("TO")?;
        let to = self.bit_expr()?;
        Ok(Some(Box::new(SystemTime::Portion(Portion { period, from, to }))))
    }

    /// Reads the table of an UPDATE of a portion of its period. `None` if the UPDATE is another
    /// one.
    pub(super) fn updated_portion(&mut self) -> Result<Option<TableRef>> {
        let begin = self.at;
        let is_short = [1, 3].iter().any(|at| {
            let token = self.ahead(*at);
            self.token_is(token, "FOR") || self.token_is(token, "PARTITION")
        });
        if !is_short || !self.is_name() {
            return Ok(None);
        }
        let name = self.table_name()?;
        let partitions = self.partition_selection()?;
        let Some(portion) = self.portion()? else {
            self.at = begin;
            return Ok(None);
        };
        self.count_table()?;
        let alias = if self.eat("AS") || self.is_name() { Some(self.name()?) } else { None };
        Ok(Some(TableRef::Table { name, alias, partitions, hints: Vec::new(), system_time: Some(portion) }))
    }

    /// Reads `[TIMESTAMP] expression`.
    fn moment(&mut self) -> Result<Expr> {
        if self.is("TRANSACTION") && !self.symbol_ahead(1, "(") {
            return Err(SqlError::not_supported("FOR SYSTEM_TIME by TRANSACTION"));
        }
        let is_word = self.ahead(1).kind != TokenKind::Text && !self.symbol_ahead(1, "(");
        if self.is("TIMESTAMP") && is_word {
            self.advance();
        }
        self.bit_expr()
    }

    /// Reads `SYSTEM_TIME [LIMIT n | INTERVAL n unit [STARTS moment]] [AUTO]`. The text is kept as
    /// MariaDB shows it.
    pub(super) fn partition_by_system_time(&mut self) -> Result<PartitionFunctionSpec> {
        self.expect("SYSTEM_TIME")?;
        let mut text = String::new();
        if self.eat("LIMIT") {
            text = format!("LIMIT {}", self.unsigned()?);
        } else if self.eat("INTERVAL") {
            let from = self.token().start as usize;
            self.literal()?;
            let written = &self.text[from..self.tokens[self.at - 1].end as usize];
            let amount = String::from_utf8_lossy(written).into_owned();
            let unit = self.upper();
            self.time_unit()?;
            text = match (unit.as_str(), amount.trim_matches('\'').parse::<u64>()) {
                ("WEEK", Ok(weeks)) => format!("INTERVAL {} DAY", 7 * weeks),
                (_, Ok(number)) => format!("INTERVAL {number} {unit}"),
                (_, Err(_)) => format!("INTERVAL {amount} {unit}"),
            };
            if self.eat("STARTS") {
                let _ = self.ahead(1).kind == TokenKind::Text && self.eat("TIMESTAMP");
                text.push_str(&format!(" STARTS TIMESTAMP'{}'", self.string()?));
            }
        }
        if self.eat("AUTO") {
            text.push_str(" AUTO");
        }
        let expression = Some(WrittenExpr { tree: None, text });
        let (kind, linear, algorithm_1) = (PartitionKind::SystemTime, false, false);
        Ok(PartitionFunctionSpec { kind, linear, algorithm_1, expression, columns: Vec::new() })
    }

    /// Reads `HISTORY FROM table [BEFORE SYSTEM_TIME moment]` behind DELETE. `None` if HISTORY is
    /// the name of a table.
    pub(super) fn delete_history(&mut self) -> Result<Option<Statement>> {
        if !self.are(&["HISTORY", "FROM"]) {
            return Ok(None);
        }
        let at = self.at;
        self.at += 2;
        let name = self.table_name()?;
        let partitions = self.partition_selection()?;
        let is_before = self.eat_all(&["BEFORE", "SYSTEM_TIME"]);
        let before = if is_before { Some(self.moment()?) } else { None };
        if !self.at_end() {
            self.at = at;
            return Ok(None);
        }
        let system_time = Some(Box::new(SystemTime::History(before)));
        let from = TableRef::Table { name, alias: None, partitions, hints: Vec::new(), system_time };
        let (targets, order_by) = (Vec::new(), Vec::new());
        let delete = Delete { with: None, targets, from, filter: None, order_by, limit: None, ignore: false };
        Ok(Some(Statement::Delete(delete)))
    }
}

impl Alteration {
    /// Adds `IF EXISTS` if it is written.
    pub(super) fn only_if(self, if_exists: bool) -> Alteration {
        match if_exists {
            true => Alteration::Conditional { if_exists, alteration: Box::new(self) },
            false => self,
        }
    }

    /// Adds `IF NOT EXISTS`.
    pub(super) fn unless_there(self) -> Alteration {
        Alteration::Conditional { if_exists: false, alteration: Box::new(self) }
    }
}

/// Notes `NO option`. Returns false if there is no such option. MariaDB takes the limits of an
/// ascending sequence for NO MINVALUE and NO MAXVALUE, even if the sequence descends.
fn without(spec: &mut SequenceSpec, option: &str) -> Result<bool> {
    match option {
        "MINVALUE" => once(&mut spec.minimum, SequenceSpec::LEAST, "MINVALUE")?,
        "MAXVALUE" => once(&mut spec.maximum, SequenceSpec::GREATEST, "MAXVALUE")?,
        "CACHE" => once(&mut spec.cache, 0, "CACHE")?,
        "CYCLE" => once(&mut spec.cycle, false, "CYCLE")?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn once<T>(place: &mut Option<T>, value: T, option: &str) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(SqlError::new(1225, format!("Option '{option}' used twice in statement"))),
    }
}
