//! The conditions that must hold at the source before anything is copied. All of them are checked
//! at once, and each finding says how it can be mended.

use std::fmt;

use crate::choice::Choice;
use crate::command_line::Plan;
use crate::definitions::OWN_SCHEMAS;
use crate::error::Result;
use crate::source::Source;

/// The largest number of tables that a finding names.
const NAMED: usize = 5;
/// The number of bytes per second from which the time of a copy is estimated.
const COPIED_BYTES_A_SECOND: u64 = 20 << 20;

/// A condition that a check found not to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// True when the source cannot be copied before this is mended.
    pub is_fatal: bool,
    /// The description of the condition.
    pub what: String,
    /// The way to mend it.
    pub mend: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_fatal { "error" } else { "note" };
        write!(f, "{kind}: {}. {}", self.what, self.mend)
    }
}

/// Makes all checks, those of tables for the chosen ones.
///
/// # Errors
/// Returns an error when the source cannot be asked.
pub fn check(plan: &Plan, choice: &dyn Choice) -> Result<Vec<Finding>> {
    let mut checks =
        Checks { source: Source::connect(&plan.source)?, choice, lacks_locks: false, found: Vec::new() };
    if !checks.server()? {
        return Ok(checks.found);
    }
    checks.settings()?;
    checks.privileges()?;
    checks.tables()?;
    checks.parents()?;
    checks.retention()?;
    Ok(checks.found)
}

/// Reports whether the new replica can have GTIDs: the source's, or for MariaDB's transactions its
/// own.
///
/// # Errors
/// Returns an error when the source cannot be asked.
pub fn has_gtids(plan: &Plan) -> Result<bool> {
    let source = Source::connect(&plan.source)?;
    Ok(source.is_mariadb() || source.has_gtids())
}

struct Checks<'a> {
    source: Source,
    choice: &'a dyn Choice,
    /// True when the account may not lock tables, and has to for tables without a primary key.
    lacks_locks: bool,
    found: Vec<Finding>,
}

impl Checks<'_> {
    fn fatal(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.found.push(Finding { is_fatal: true, what: what.into(), mend: mend.into() });
    }

    fn note(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.found.push(Finding { is_fatal: false, what: what.into(), mend: mend.into() });
    }

    /// Checks the server's version. Returns whether the other checks can be made.
    fn server(&mut self) -> Result<bool> {
        let version = self.source.one("SELECT VERSION()")?;
        let mut numbers = version.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
        let version_number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let (least, kind) =
            if self.source.is_mariadb() { ((10, 5), "MariaDB 10.5") } else { ((8, 0), "MySQL 8.0") };
        if version_number < least {
            self.fatal(
                format!("the source's version is {version}, and attach copies {kind} and later"),
                "Load a dump that names its position, and use CHANGE REPLICATION SOURCE TO",
            );
        }
        Ok(version_number >= least)
    }

    /// Checks the variables that decide whether the log can be repeated over rows of later points
    /// of its history.
    fn settings(&mut self) -> Result<()> {
        const WANTED: [(&str, &str, &str); 3] = [
            ("log_bin", "1", "Start the source with --log-bin"),
            ("binlog_format", "ROW", "SET GLOBAL binlog_format = ROW, and let old sessions end"),
            ("binlog_row_image", "FULL", "SET GLOBAL binlog_row_image = FULL, and let old sessions end"),
        ];
        const OF_MYSQL: [(&str, &str, &str); 1] = [(
            "binlog_row_value_options",
            "",
            "SET GLOBAL binlog_row_value_options = '', and let old sessions end",
        )];
        let of_mysql = if self.source.is_mariadb() { &[][..] } else { &OF_MYSQL };
        for (name, wanted, mend) in WANTED.iter().chain(of_mysql).copied() {
            let value = self.source.one(&format!("SELECT @@GLOBAL.{name}"))?;
            if value != wanted {
                self.fatal(format!("{name} is '{value}' at the source and has to be '{wanted}'"), mend);
            }
        }
        if self.source.is_mariadb() || self.source.has_gtids() {
            return Ok(());
        }
        match self.source.one("SELECT @@GLOBAL.gtid_mode")?.as_str() {
            "OFF" => self.note(
                "the source has no GTIDs, and is followed by file and position",
                "Before rows of a table are read, writers of that table wait for a moment, and at the \
                 beginning all do",
            ),
            mode => self.fatal(
                format!("gtid_mode is '{mode}' at the source and has to be 'ON' or 'OFF'"),
                "Go on with gtid_mode step by step to ON",
            ),
        }
        Ok(())
    }

    fn privileges(&mut self) -> Result<()> {
        let lines = self.source.table("SHOW GRANTS")?;
        let global = |line: &&str| line.starts_with("GRANT ") && line.contains(" ON *.* ");
        let lines: Vec<&str> = lines.iter().map(|row| row[0].as_str()).filter(global).collect();
        let has = |privilege: &str| {
            lines.iter().any(|line| line.contains(privilege) || line.contains("ALL PRIVILEGES"))
        };
        // This is MariaDB's name of REPLICATION CLIENT.
        let client = if self.source.is_mariadb() { "BINLOG MONITOR" } else { "REPLICATION CLIENT" };
        let missing: Vec<&str> =
            ["REPLICATION SLAVE", client].into_iter().filter(|privilege| !has(privilege)).collect();
        let locks = has("LOCK TABLES");
        let flushes = has("RELOAD") || has("FLUSH_TABLES");
        let (selects, shows) = (has("SELECT"), has("SHOW VIEW") && has("TRIGGER") && has("EVENT"));
        if !missing.is_empty() {
            let missing = missing.join(", ");
            self.fatal(
                format!("the account lacks {missing}"),
                format!("GRANT {missing} ON *.* TO the account"),
            );
        }
        if !selects {
            self.fatal("the account lacks SELECT on *.*", "GRANT SELECT ON *.* TO the account");
        }
        let is_without_gtids = !self.source.is_mariadb() && !self.source.has_gtids();
        if is_without_gtids && !flushes {
            self.fatal(
                "the account lacks RELOAD, which a source without GTIDs needs",
                "GRANT RELOAD ON *.* TO the account",
            );
        }
        self.lacks_locks = !locks && !self.source.is_mariadb();
        if is_without_gtids && self.lacks_locks {
            self.fatal(
                "the account lacks LOCK TABLES, which a source without GTIDs needs",
                "GRANT LOCK TABLES ON *.* TO the account",
            );
        }
        if !shows {
            self.note(
                "views, triggers and events that the account may not read are not copied",
                "GRANT SHOW VIEW, TRIGGER, EVENT ON *.* TO the account",
            );
        }
        Ok(())
    }

    /// Checks for tables whose rows cannot be read while the source works.
    fn tables(&mut self) -> Result<()> {
        let without_key = format!(
            "SELECT t.TABLE_SCHEMA, t.TABLE_NAME FROM information_schema.TABLES t \
             LEFT JOIN information_schema.STATISTICS s ON s.TABLE_SCHEMA = t.TABLE_SCHEMA \
               AND s.TABLE_NAME = t.TABLE_NAME AND s.INDEX_NAME = 'PRIMARY' \
             WHERE t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
               AND (s.INDEX_NAME IS NULL OR t.TABLE_TYPE <> 'BASE TABLE') AND t.TABLE_SCHEMA NOT IN {OWN_SCHEMAS}  \
             ORDER BY 1, 2"
        );
        let without_key = self.chosen(&without_key)?;
        self.add(
            false,
            &without_key,
            "has no primary key or keeps its history, and is read in one snapshot",
            "Writers of it wait for a moment before that, and nothing is applied here until it is read",
        );
        if self.lacks_locks {
            self.add(
                true,
                &without_key,
                "has no primary key or keeps its history, and the account lacks LOCK TABLES",
                "GRANT LOCK TABLES ON *.* TO the account",
            );
        }
        let other_engine = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
             WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS} AND ENGINE <> 'InnoDB' ORDER BY 1, 2"
        );
        self.each(
            &other_engine,
            "is not of InnoDB, and shows rows before they are in the log",
            "ALTER TABLE ... ENGINE = InnoDB",
        )?;
        self.each(
            &format!(
                "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.COLUMNS \
                 WHERE GENERATION_EXPRESSION = 'ROW START' AND DATA_TYPE = 'bigint' \
                 AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS} ORDER BY 1, 2"
            ),
            "is versioned by transactions, whose numbers mean nothing here",
            "Use a dump for it, or version it by timestamps",
        )?;
        let logs_followers = !self.source.is_mariadb()
            && self.source.one("SELECT VERSION() REGEXP '^(8|9\\\\.[0-5])\\\\.'")? == "0";
        if !logs_followers {
            let followed = format!(
                "SELECT DISTINCT CONSTRAINT_SCHEMA, TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS \
                 WHERE CONSTRAINT_SCHEMA NOT IN {OWN_SCHEMAS} AND (UPDATE_RULE IN ('CASCADE', 'SET NULL') \
                 OR DELETE_RULE IN ('CASCADE', 'SET NULL')) ORDER BY 1, 2"
            );
            self.each(
                &followed,
                "follows another table by a foreign key, which the source's log does not have",
                "Use a dump for it, or a source of MySQL 9.6 or later, which logs these rows",
            )?;
        }
        Ok(())
    }

    /// Adds one fatal finding for all chosen tables in the result of the query `list`.
    fn each(&mut self, list: &str, what: &str, mend: &str) -> Result<()> {
        let names = self.chosen(list)?;
        self.add(true, &names, what, mend);
        Ok(())
    }

    /// Returns the names of the chosen tables in the result of a query, which has their schemas and
    /// names.
    fn chosen(&mut self, list: &str) -> Result<Vec<String>> {
        let found = self.source.table(list)?;
        let chosen = found.iter().filter(|row| self.choice.takes_table(&row[0], &row[1]));
        Ok(chosen.map(|row| format!("{}.{}", row[0], row[1])).collect())
    }

    /// Checks that no chosen table refers to one that is left out, for want of which its rows would
    /// be refused.
    fn parents(&mut self) -> Result<()> {
        let list = format!(
            "SELECT DISTINCT CONSTRAINT_SCHEMA, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME \
             FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA NOT IN {OWN_SCHEMAS} ORDER BY 1, 2"
        );
        let found = self.source.table(&list)?;
        let is_torn = |row: &&Vec<String>| {
            self.choice.takes_table(&row[0], &row[1]) && !self.choice.takes_table(&row[2], &row[3])
        };
        let torn = found.iter().filter(is_torn);
        let names: Vec<String> = torn.map(|row| format!("{}.{}", row[0], row[1])).collect();
        let what = "refers by a foreign key to a table that the filters leave out";
        self.add(true, &names, what, "Choose that table too, or leave this one out");
        Ok(())
    }

    /// Adds one finding for all tables of these names, if there are any.
    fn add(&mut self, is_fatal: bool, names: &[String], what: &str, mend: &str) {
        let Some(first) = names.first() else { return };
        let what = match names.len() {
            1 => format!("{first} {what}"),
            2..=NAMED => format!("each of {} {what}", names.join(", ")),
            count => format!("each of {count} tables ({}, ...) {what}", names[..NAMED].join(", ")),
        };
        self.found.push(Finding { is_fatal, what, mend: mend.into() });
    }

    /// Checks that the source keeps its log as long as the copy takes.
    fn retention(&mut self) -> Result<()> {
        let bytes = self.source.one(&format!(
            "SELECT IFNULL(SUM(DATA_LENGTH), 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {OWN_SCHEMAS}"
        ))?;
        // MariaDB has this variable since 10.6; earlier it has one in days.
        let kept = match self.source.one("SELECT @@GLOBAL.binlog_expire_logs_seconds") {
            Err(_) if self.source.is_mariadb() => {
                self.source.one("SELECT @@GLOBAL.expire_logs_days * 86400")?
            }
            kept => kept?,
        };
        let (bytes, kept) = (bytes.parse::<u64>().unwrap_or(0), kept.parse::<u64>().unwrap_or(0));
        let estimated = bytes / COPIED_BYTES_A_SECOND;
        if kept > 0 && kept < 2 * estimated {
            self.note(
                format!("the source keeps its log for {kept} s, and the copy may take {estimated} s"),
                "SET GLOBAL binlog_expire_logs_seconds to more than twice that",
            );
        }
        Ok(())
    }
}
