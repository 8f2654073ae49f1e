//! Replication filters: which of a source's changes count here, by MySQL's rules (manual, 19.2.5).
//!
//! Row events are judged table by table: the schema filters decide first, then the table filters. A
//! statement is judged by its default schema and then by the tables that it changes, and a
//! statement about a whole schema by that schema. A schema is rewritten before anything is decided.
//! A change that is filtered out leaves no event in this server's own log, and its transaction
//! counts as executed.
//!
//! The rules that are in force do not change while the applier runs. Only the counters of their
//! decisions do.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use binlog::Checksum;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{EVENT_SIZE_OFFSET, HEADER_LEN, Header, QueryEvent};
use sql::admin::{FilterKind, FilterRule};
use sql::touched::{Touched, wild_matches};

use crate::error::ChannelError;

/// The origin of a filter: what set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are performance_schema's own")]
pub enum ConfiguredBy {
    #[default]
    StartupOptions,
    ChangeReplicationFilter,
    ChangeReplicationFilterForChannel,
}

impl ConfiguredBy {
    /// Returns MySQL's word for the origin.
    pub fn word(self) -> &'static str {
        match self {
            ConfiguredBy::StartupOptions => "STARTUP_OPTIONS",
            ConfiguredBy::ChangeReplicationFilter => "CHANGE_REPLICATION_FILTER",
            ConfiguredBy::ChangeReplicationFilterForChannel => "CHANGE_REPLICATION_FILTER_FOR_CHANNEL",
        }
    }
}

/// The rules of one kind of filter.
#[derive(Debug, Default)]
struct List {
    rules: Vec<FilterRule>,
    by: ConfiguredBy,
    since_us: u64,
    /// The number of times that the list decided something. Relaxed, because it orders nothing.
    uses: AtomicU64,
}

impl Clone for List {
    fn clone(&self) -> List {
        let uses = self.uses.load(Ordering::Relaxed).into();
        List { rules: self.rules.clone(), by: self.by, since_us: self.since_us, uses }
    }
}

impl List {
    fn has(&self, matches: impl Fn(&FilterRule) -> bool) -> bool {
        let found = self.rules.iter().any(matches);
        if found {
            self.uses.fetch_add(1, Ordering::Relaxed);
        }
        found
    }
}

/// A filter as performance_schema shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFilter {
    /// The kind of the filter.
    pub kind: FilterKind,
    /// The filter's rules in one text.
    pub rules: String,
    /// The origin of the filter.
    pub by: ConfiguredBy,
    /// The time when the filter was set, in microseconds of unix time.
    pub since_us: u64,
    /// The number of times that the filter decided something.
    pub uses: u64,
}

/// All filters of a channel.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    lists: [List; FilterKind::ALL.len()],
}

impl Filters {
    fn list(&self, kind: FilterKind) -> &List {
        &self.lists[kind as usize]
    }

    /// Returns a copy in which these lists replace the lists of the same kinds.
    ///
    /// # Errors
    /// Returns 3067 when a pattern is not of the form `db_pattern.table_pattern`.
    pub fn changed(
        &self,
        changes: &[(FilterKind, Vec<FilterRule>)],
        by: ConfiguredBy,
    ) -> Result<Filters, ChannelError> {
        let mut new = self.clone();
        for (kind, rules) in changes {
            let is_pattern = matches!(kind, FilterKind::WildDoTable | FilterKind::WildIgnoreTable);
            if is_pattern && rules.iter().any(|rule| !rule.what.contains('.')) {
                return Err(ChannelError::new(
                    3067,
                    "HY000",
                    "Supplied filter list contains a value which is not in the required format 'db_pattern.table_pattern'",
                ));
            }
            let since_us = os::clock::now_us();
            new.lists[*kind as usize] = List { rules: rules.clone(), by, since_us, uses: 0.into() };
        }
        Ok(new)
    }

    /// Reports whether there is at least one rule.
    pub fn is_on(&self) -> bool {
        self.lists.iter().any(|list| !list.rules.is_empty())
    }

    /// Returns the rules of one kind in one text, as SHOW REPLICA STATUS has them.
    pub fn text(&self, kind: FilterKind) -> String {
        let mut out = String::new();
        for rule in &self.list(kind).rules {
            let comma = if out.is_empty() { "" } else { "," };
            // Writing into a string does not fail.
            let _ = match kind {
                FilterKind::RewriteDb => write!(out, "{comma}({},{})", rule.what, rule.to),
                _ => write!(out, "{comma}{}", rule.what),
            };
        }
        out
    }

    /// Returns the filters that have rules.
    pub fn shown(&self) -> Vec<ShownFilter> {
        let shown = |kind: FilterKind| {
            let list = self.list(kind);
            ShownFilter {
                kind,
                rules: self.text(kind),
                by: list.by,
                since_us: list.since_us,
                uses: list.uses.load(Ordering::Relaxed),
            }
        };
        let has_rules = |kind: &FilterKind| !self.list(*kind).rules.is_empty();
        FilterKind::ALL.into_iter().filter(has_rules).map(shown).collect()
    }

    /// Returns the name that a source's schema has on this server. `None` means the same name.
    pub fn rewritten(&self, schema: &[u8]) -> Option<&str> {
        let list = self.list(FilterKind::RewriteDb);
        let rule = list.rules.iter().find(|rule| rule.what.as_bytes() == schema)?;
        list.uses.fetch_add(1, Ordering::Relaxed);
        Some(&rule.to)
    }

    /// Reports whether row events of this table are applied.
    pub fn allows_table(&self, schema: &str, table: &str) -> bool {
        self.allows_schema(schema) && (!self.has_table_rules() || self.allows_any([(schema, table)]))
    }

    /// Reports whether a statement is applied, given its default schema (empty: none) and what it
    /// changes.
    pub fn allows_statement(&self, schema: &str, touched: &Touched) -> bool {
        if let Touched::Schema(named) = touched {
            let no_schema_rules = self.list(FilterKind::DoDb).rules.is_empty()
                && self.list(FilterKind::IgnoreDb).rules.is_empty();
            return if no_schema_rules {
                self.allows_schema_by_pattern(named)
            } else {
                self.allows_schema(named)
            };
        }
        if !self.allows_schema(schema) {
            return false;
        }
        match touched {
            Touched::Tables(tables) if self.has_table_rules() => {
                self.allows_any(tables.iter().map(|(schema, table)| (schema.as_str(), table.as_str())))
            }
            _ => true,
        }
    }

    /// Reports whether the schema filters let a schema pass, as `Rpl_filter::db_ok` does.
    fn allows_schema(&self, schema: &str) -> bool {
        let (wanted, ignored) = (self.list(FilterKind::DoDb), self.list(FilterKind::IgnoreDb));
        if wanted.rules.is_empty() && ignored.rules.is_empty() {
            return true;
        }
        // With rules about schemas, a change that is in no schema does not count.
        if schema.is_empty() {
            return false;
        }
        match wanted.rules.is_empty() {
            false => wanted.has(|rule| rule.what == schema),
            true => !ignored.has(|rule| rule.what == schema),
        }
    }

    /// Reports whether the table patterns let a whole schema pass, as
    /// `Rpl_filter::db_ok_with_wild_table` does.
    fn allows_schema_by_pattern(&self, schema: &str) -> bool {
        let name = format!("{schema}.");
        let matches = |rule: &FilterRule| wild_matches(&name, &rule.what);
        if self.list(FilterKind::WildDoTable).has(matches) {
            return true;
        }
        !self.list(FilterKind::WildIgnoreTable).has(matches)
            && self.list(FilterKind::WildDoTable).rules.is_empty()
    }

    fn has_table_rules(&self) -> bool {
        [FilterKind::DoTable, FilterKind::IgnoreTable, FilterKind::WildDoTable, FilterKind::WildIgnoreTable]
            .into_iter()
            .any(|kind| !self.list(kind).rules.is_empty())
    }

    /// Reports whether the table filters let one of the tables pass, as `Rpl_filter::tables_ok`
    /// does: the first table that a rule names decides.
    fn allows_any<'t>(&self, tables: impl IntoIterator<Item = (&'t str, &'t str)>) -> bool {
        let mut any = false;
        for (schema, table) in tables {
            any = true;
            let name = format!("{schema}.{table}");
            let equal = |rule: &FilterRule| rule.what == name;
            let matches = |rule: &FilterRule| wild_matches(&name, &rule.what);
            if self.list(FilterKind::DoTable).has(equal) {
                return true;
            }
            if self.list(FilterKind::IgnoreTable).has(equal) {
                return false;
            }
            if self.list(FilterKind::WildDoTable).has(matches) {
                return true;
            }
            if self.list(FilterKind::WildIgnoreTable).has(matches) {
                return false;
            }
        }
        any && self.list(FilterKind::DoTable).rules.is_empty()
            && self.list(FilterKind::WildDoTable).rules.is_empty()
    }
}

/// Returns a TABLE_MAP event (without checksum) whose table is moved to schema `new_schema`.
pub fn table_map_in(event: &[u8], old_schema: &[u8], new_schema: &str) -> Vec<u8> {
    // Behind the header are the table id (6 bytes) and the flags (2 bytes), then the schema's
    // length and the schema.
    const SCHEMA_OFFSET: usize = HEADER_LEN + 8;
    let mut out = event[..SCHEMA_OFFSET].to_vec();
    out.push(new_schema.len() as u8);
    out.extend_from_slice(new_schema.as_bytes());
    out.extend_from_slice(&event[SCHEMA_OFFSET + 1 + old_schema.len()..]);
    let size = (out.len() as u32).to_le_bytes();
    out[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&size);
    out
}

/// Returns a QUERY event (without checksum) whose default schema is `new_schema`.
pub fn query_in(header: &Header, query: &QueryEvent<'_>, new_schema: &str) -> Vec<u8> {
    let query = QueryEvent { schema: new_schema.as_bytes(), ..query.clone() };
    let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
    let mut out = Vec::new();
    let start = encode::query(base, &query, header.flags, &mut out);
    finish_event(&mut out, start, None, Checksum::None);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(lists: &[(FilterKind, &[&str])]) -> Filters {
        let rule = |what: &&str| FilterRule { what: what.to_string(), to: String::new() };
        let changes: Vec<_> =
            lists.iter().map(|(kind, rules)| (*kind, rules.iter().map(rule).collect())).collect();
        Filters::default().changed(&changes, ConfiguredBy::StartupOptions).expect("are allowed")
    }

    fn table(schema: &str, name: &str) -> Touched {
        Touched::Tables(vec![(schema.to_string(), name.to_string())])
    }

    #[test]
    fn schemas_decide_first() {
        let only_a = filters(&[(FilterKind::DoDb, &["a"])]);
        assert!(only_a.allows_table("a", "t") && !only_a.allows_table("b", "t"));
        // Statements are judged by their default schema, whatever table they name.
        assert!(only_a.allows_statement("a", &table("b", "t")));
        assert!(!only_a.allows_statement("b", &table("a", "t")));
        assert!(!only_a.allows_statement("", &Touched::Nothing));
        let not_a = filters(&[(FilterKind::IgnoreDb, &["a"])]);
        assert!(!not_a.allows_table("a", "t") && not_a.allows_table("b", "t"));
    }

    #[test]
    fn tables_by_name_then_by_pattern() {
        let some = filters(&[
            (FilterKind::DoTable, &["a.t"]),
            (FilterKind::IgnoreTable, &["a.u"]),
            (FilterKind::WildDoTable, &["a.x%"]),
            (FilterKind::WildIgnoreTable, &["a.y%"]),
        ]);
        assert!(some.allows_table("a", "t") && some.allows_table("a", "x1"));
        assert!(!some.allows_table("a", "u") && !some.allows_table("a", "y1"));
        assert!(!some.allows_table("a", "other"), "there is a list of what counts");
        let but = filters(&[(FilterKind::WildIgnoreTable, &["a.y%"])]);
        assert!(but.allows_table("a", "other") && !but.allows_table("a", "y"));
        // The first table that a rule names decides for the whole statement.
        let two = Touched::Tables(vec![("a".into(), "y".into()), ("a".into(), "z".into())]);
        assert!(!but.allows_statement("a", &two));
        assert_eq!(but.shown()[0].uses, 2);
    }

    #[test]
    fn whole_schemas_by_pattern_where_no_rule_is_about_schemas() {
        let whole = Touched::Schema("shop1".into());
        let wild = filters(&[(FilterKind::WildDoTable, &["shop%.%"])]);
        assert!(wild.allows_statement("", &whole));
        assert!(!wild.allows_statement("", &Touched::Schema("other".into())));
        // A pattern for some tables of a schema does not speak about the whole schema.
        assert!(!filters(&[(FilterKind::WildDoTable, &["shop%.t%"])]).allows_statement("", &whole));
        assert!(!filters(&[(FilterKind::DoDb, &["a"])]).allows_statement("a", &whole));
    }

    #[test]
    fn texts_are_those_of_show_replica_status() {
        let rules = vec![
            FilterRule { what: "a".into(), to: "b".into() },
            FilterRule { what: "c".into(), to: "d".into() },
        ];
        let new = Filters::default()
            .changed(&[(FilterKind::RewriteDb, rules)], ConfiguredBy::ChangeReplicationFilter)
            .expect("is allowed");
        assert_eq!(new.text(FilterKind::RewriteDb), "(a,b),(c,d)");
        assert_eq!(new.rewritten(b"c"), Some("d"));
        assert_eq!(new.rewritten(b"x"), None);
        let none = new.changed(&[(FilterKind::RewriteDb, Vec::new())], ConfiguredBy::StartupOptions);
        assert!(!none.expect("is allowed").is_on());
        let rule = FilterRule { what: "nodot".into(), to: String::new() };
        let refused = Filters::default()
            .changed(&[(FilterKind::WildDoTable, vec![rule])], ConfiguredBy::StartupOptions);
        assert!(refused.is_err());
    }

    #[test]
    fn a_query_in_another_schema() {
        let event = crate::event::tests::query("CREATE TABLE t (a INT)");
        let header = Header::decode(&event).unwrap();
        let Ok(binlog::Event::Query(query)) = binlog::event::decode_body(&header, &event) else { panic!() };
        let moved = query_in(&header, &query, "elsewhere");
        let Ok(binlog::Event::Query(query)) =
            binlog::event::decode_body(&Header::decode(&moved).unwrap(), &moved)
        else {
            panic!()
        };
        assert_eq!((query.schema, query.statement), (&b"elsewhere"[..], &b"CREATE TABLE t (a INT)"[..]));
    }
}
