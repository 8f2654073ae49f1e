//! Parsing of CREATE, ALTER and DROP of views, triggers, routines and events.
//!
//! The head of such a statement becomes a tree. The query or statement of the object is kept as
//! text.

use super::Parser;
use super::program::Owner;
use crate::admin::Account;
use crate::ast::{
    AlterEvent, AlterRoutine, Call, CreateObject, EventClauses, EventSchedule, EventStatus, ObjectDetails,
    RoutineDetails, RoutineParameter, Statement, TableName, TriggerDetails, TypeSpec, ViewDetails,
};
use crate::error::{Result, SqlError};
use crate::lexer::LexMode;
use engine::{ObjectKind, TriggerEvent};

/// The clauses between CREATE and the word for the kind of object.
#[derive(Default)]
struct Lead {
    definer: Option<Account>,
    algorithm: Option<String>,
    invoker: Option<bool>,
    aggregate: bool,
}

impl Parser<'_> {
    /// Reports whether a view, trigger, routine or event follows behind CREATE or ALTER.
    pub(super) fn is_object_head(&self) -> bool {
        self.is_any(&[
            "VIEW",
            "TRIGGER",
            "PROCEDURE",
            "FUNCTION",
            "EVENT",
            "DEFINER",
            "ALGORITHM",
            "SQL",
            "AGGREGATE",
        ])
    }

    /// Reads the rest of `CREATE [OR REPLACE]` of a view, trigger, routine or event.
    pub(super) fn create_object(&mut self, or_replace: bool) -> Result<Statement> {
        let lead = self.lead()?;
        let kind = self.kind()?;
        if or_replace && kind != ObjectKind::View && !self.mode.of_source {
            return Err(self.error());
        }
        self.create_kind(kind, lead, or_replace, false)
    }

    /// Reads the rest of ALTER of a view, trigger, routine or event.
    pub(super) fn alter_object(&mut self) -> Result<Statement> {
        let lead = self.lead()?;
        match self.kind()? {
            ObjectKind::View => self.create_kind(ObjectKind::View, lead, false, true),
            ObjectKind::Event => self.alter_event(lead.definer),
            kind @ (ObjectKind::Procedure | ObjectKind::Function) if lead.definer.is_none() => {
                self.advance();
                let name = self.table_name()?;
                let changes = self.characteristics()?;
                Ok(Statement::AlterRoutine(Box::new(AlterRoutine { kind, name, changes })))
            }
            _ => Err(self.error()),
        }
    }

    /// Reads the rest of DROP of views, or of a trigger, routine or event.
    pub(super) fn drop_objects(&mut self) -> Result<Statement> {
        let kind = self.kind()?;
        self.advance();
        let if_exists = self.if_exists();
        let names = match kind {
            ObjectKind::View => self.list(Self::table_name)?,
            _ => vec![self.table_name()?],
        };
        if kind == ObjectKind::View {
            let _ = self.eat_any(&["RESTRICT", "CASCADE"]);
        }
        Ok(Statement::DropObjects { kind, names, if_exists })
    }

    /// Returns the kind of object whose word is here, without skipping it.
    pub(super) fn kind(&self) -> Result<ObjectKind> {
        let word = self.upper();
        ObjectKind::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| self.error())
    }

    fn lead(&mut self) -> Result<Lead> {
        let mut lead = Lead::default();
        loop {
            if self.eat("ALGORITHM") {
                self.expect_symbol("=")?;
                let word = self.upper();
                if !matches!(word.as_str(), "UNDEFINED" | "MERGE" | "TEMPTABLE") {
                    return Err(self.error());
                }
                self.advance();
                lead.algorithm = Some(word);
            } else if self.eat("DEFINER") {
                self.expect_symbol("=")?;
                lead.definer = Some(self.definer()?);
            } else if self.eat_all(&["SQL", "SECURITY"]) {
                lead.invoker = Some(self.invoker()?);
            } else if self.mode.of_source && self.eat("AGGREGATE") {
                lead.aggregate = true;
            } else {
                return Ok(lead);
            }
        }
    }

    /// Reads an account. In MariaDB it may be a role.
    fn definer(&mut self) -> Result<Account> {
        if self.eat("CURRENT_ROLE") {
            if self.eat_symbol("(") {
                self.expect_symbol(")")?;
            }
            return Ok(Account { user: String::new(), host: String::new(), is_current_user: true });
        }
        self.account()
    }

    fn invoker(&mut self) -> Result<bool> {
        let invoker = self.eat("INVOKER");
        if !invoker {
            self.expect("DEFINER")?;
        }
        Ok(invoker)
    }

    /// Returns the text from one token up to another, which is not included.
    fn span(&self, from: usize, to: usize) -> String {
        if to <= from {
            return String::new();
        }
        let bytes = &self.text[self.tokens[from].start as usize..self.tokens[to - 1].end as usize];
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn create_kind(
        &mut self,
        kind: ObjectKind,
        lead: Lead,
        or_replace: bool,
        alters: bool,
    ) -> Result<Statement> {
        let is_view = kind == ObjectKind::View;
        if !is_view && (lead.algorithm.is_some() || lead.invoker.is_some()) {
            return Err(self.error());
        }
        let start = self.at;
        self.advance();
        let if_not_exists = !alters && self.if_not_exists();
        let name = self.table_name()?;
        let mut details = match kind {
            ObjectKind::View => ObjectDetails::View(Box::new(ViewDetails {
                algorithm: lead.algorithm,
                invoker: lead.invoker,
                ..self.view_head()?
            })),
            ObjectKind::Trigger => ObjectDetails::Trigger(self.trigger_head(start)?),
            ObjectKind::Procedure | ObjectKind::Function => {
                let mut routine = self.routine_head(kind == ObjectKind::Function)?;
                routine.aggregate = lead.aggregate;
                ObjectDetails::Routine(Box::new(routine))
            }
            ObjectKind::Event => {
                let event = self.event_clauses(false)?;
                self.expect("DO")?;
                ObjectDetails::Event(Box::new(event))
            }
        };
        let body_at = self.at;
        let body_end = match &mut details {
            ObjectDetails::View(view) => self.view_query(view)?,
            _ => {
                let (trigger, parameters) = match &details {
                    ObjectDetails::Trigger(trigger) => (Some((trigger.event, trigger.before)), ""),
                    ObjectDetails::Routine(routine) => (None, routine.parameters.as_str()),
                    _ => (None, ""),
                };
                self.program_body(&Owner { kind, trigger }, parameters)?;
                self.at
            }
        };
        Ok(Statement::CreateObject(Box::new(CreateObject {
            kind,
            name,
            or_replace,
            if_not_exists,
            alters,
            definer: lead.definer,
            text: self.span(start, self.at),
            body: self.span(body_at, body_end),
            details,
        })))
    }

    /// Reads `[(columns)] AS`.
    fn view_head(&mut self) -> Result<ViewDetails> {
        let columns = if self.is_symbol("(") { self.parenthesized(Self::any_name)? } else { Vec::new() };
        self.expect("AS")?;
        Ok(ViewDetails { columns, ..ViewDetails::default() })
    }

    /// Reads the query of a view and its CHECK OPTION. A query that this grammar does not know is
    /// skipped, and only its text is kept. Returns the position of the token behind the query.
    fn view_query(&mut self, view: &mut ViewDetails) -> Result<usize> {
        if !self.is_any(&["SELECT", "WITH", "VALUES", "TABLE"]) && !self.is_symbol("(") {
            return Err(self.error());
        }
        let start = self.at;
        let end = self.tokens.len() - 1;
        let ends_with = |parser: &Self, words: &[&str]| {
            end >= start + words.len()
                && words
                    .iter()
                    .enumerate()
                    .all(|(at, word)| parser.token_is(parser.tokens[end - words.len() + at], word))
        };
        let (check, check_tokens) = match () {
            _ if ends_with(self, &["WITH", "CASCADED", "CHECK", "OPTION"]) => (Some("CASCADED"), 4),
            _ if ends_with(self, &["WITH", "LOCAL", "CHECK", "OPTION"]) => (Some("LOCAL"), 4),
            _ if ends_with(self, &["WITH", "CHECK", "OPTION"]) => (Some("CASCADED"), 3),
            _ => (None, 0),
        };
        view.check = check;
        let query_end = end - check_tokens;
        let (parameters, hints) = (self.parameters, self.hints.clone());
        let (depth, highest, queries, tables) = (self.depth, self.highest, self.queries, self.tables);
        view.query = match self.query() {
            Ok(query) if query.into.is_some() => {
                return Err(SqlError::new(1350, "View's SELECT contains a 'INTO' clause"));
            }
            Ok(query) if self.at == query_end => Some(Box::new(query)),
            // What a source has accepted is kept as text.
            _ if self.mode.of_source => None,
            Err(error) => return Err(error),
            Ok(_) => return Err(self.error()),
        };
        if self.parameters > parameters {
            return Err(SqlError::new(1351, "View's SELECT contains a variable or parameter"));
        }
        let of_query = std::mem::replace(&mut self.hints, hints);
        (self.depth, self.highest) = (depth, highest);
        if of_query.warnings.len() > self.hints.warnings.len() {
            // The query's hints count when the view is read. What is deprecated is told now.
            self.hints.warnings.clone_from(&of_query.warnings);
        }
        (self.queries, self.tables) = (queries, tables);
        self.at = end;
        Ok(query_end)
    }

    /// Reads `{BEFORE | AFTER} {INSERT | UPDATE | DELETE} ON table FOR EACH ROW [FOLLOWS | PRECEDES
    /// x]`.
    fn trigger_head(&mut self, start: usize) -> Result<TriggerDetails> {
        let before = self.eat("BEFORE");
        if !before {
            self.expect("AFTER")?;
        }
        let word = self.upper();
        let event = TriggerEvent::ALL.into_iter().find(|event| event.word() == word);
        let event = event.ok_or_else(|| self.error())?;
        self.advance();
        self.expect("ON")?;
        let lead = self.span(start, self.at);
        let table = self.table_name()?;
        self.expect_all(&["FOR", "EACH", "ROW"])?;
        let head = self.span(start, self.at);
        let follows = self.is("FOLLOWS");
        let beside = match self.eat_any(&["FOLLOWS", "PRECEDES"]) {
            true => Some((follows, self.name()?)),
            false => None,
        };
        Ok(TriggerDetails { table, before, event, beside, head, lead })
    }

    fn routine_head(&mut self, is_function: bool) -> Result<RoutineDetails> {
        self.expect_symbol("(")?;
        let start = self.at;
        let mut depth = 0;
        while depth > 0 || !self.is_symbol(")") {
            if self.at_end() || self.is_symbol(";") {
                return Err(self.error());
            }
            depth += i32::from(self.is_symbol("(")) - i32::from(self.is_symbol(")"));
            self.advance();
        }
        let parameters = self.text_between_parentheses(start);
        self.expect_symbol(")")?;
        let returns = if is_function { Some(self.returns()?) } else { None };
        Ok(RoutineDetails { parameters, returns, ..self.characteristics()? })
    }

    /// Returns the text between a parenthesis and the one here, with its white space. The token
    /// `start` is the first one behind the opening parenthesis.
    fn text_between_parentheses(&self, start: usize) -> String {
        let from = self.tokens[start - 1].end as usize;
        String::from_utf8_lossy(&self.text[from..self.token().start as usize]).into_owned()
    }

    fn returns(&mut self) -> Result<(String, Option<TypeSpec>)> {
        // MariaDB's Oracle mode has RETURN.
        if !(self.mode.of_source && self.eat("RETURN")) {
            self.expect("RETURNS")?;
        }
        let start = self.at;
        let spec = self.type_of_source()?;
        Ok((self.span(start, self.at), spec))
    }

    /// Reads a type. In a source's statement a type that this server does not have is skipped, and
    /// the result is `None`.
    fn type_of_source(&mut self) -> Result<Option<TypeSpec>> {
        let start = self.at;
        match self.type_spec() {
            Ok(mut spec) => {
                if self.eat("COLLATE") {
                    spec.collation = Some(self.collation_name()?);
                }
                Ok(Some(spec))
            }
            Err(error) if !self.mode.of_source => Err(error),
            Err(_) => {
                self.at = start;
                self.any_name()?;
                if self.is_symbol("(") {
                    self.parenthesized(|parser| {
                        parser.advance();
                        Ok(())
                    })?;
                }
                Ok(None)
            }
        }
    }

    fn characteristics(&mut self) -> Result<RoutineDetails> {
        let mut found = RoutineDetails::default();
        loop {
            match () {
                _ if self.eat("COMMENT") => found.comment = Some(self.comment()?),
                _ if self.eat_all(&["LANGUAGE", "SQL"]) => {}
                _ if self.eat("DETERMINISTIC") => found.deterministic = Some(true),
                _ if self.eat_all(&["NOT", "DETERMINISTIC"]) => found.deterministic = Some(false),
                _ if self.eat_all(&["CONTAINS", "SQL"]) => found.access = Some("CONTAINS SQL"),
                _ if self.eat_all(&["NO", "SQL"]) => found.access = Some("NO SQL"),
                _ if self.eat_all(&["READS", "SQL", "DATA"]) => found.access = Some("READS SQL DATA"),
                _ if self.eat_all(&["MODIFIES", "SQL", "DATA"]) => found.access = Some("MODIFIES SQL DATA"),
                _ if self.eat_all(&["SQL", "SECURITY"]) => found.invoker = Some(self.invoker()?),
                _ => return Ok(found),
            }
        }
    }

    fn event_clauses(&mut self, alters: bool) -> Result<EventClauses> {
        let mut clauses = EventClauses::default();
        if !alters {
            self.expect_all(&["ON", "SCHEDULE"])?;
            clauses.schedule = Some(self.event_schedule()?);
        } else if self.eat_all(&["ON", "SCHEDULE"]) {
            clauses.schedule = Some(self.event_schedule()?);
        }
        if self.eat_all(&["ON", "COMPLETION"]) {
            clauses.preserve = Some(!self.eat("NOT"));
            self.expect("PRESERVE")?;
        }
        if alters && self.eat_all(&["RENAME", "TO"]) {
            clauses.rename = Some(self.table_name()?);
        }
        if self.eat("ENABLE") {
            clauses.status = Some(EventStatus::Enabled);
        } else if self.eat("DISABLE") {
            clauses.status = Some(EventStatus::Disabled);
            if self.eat("ON") {
                if !self.eat_any(&["REPLICA", "SLAVE"]) {
                    return Err(self.error());
                }
                clauses.status = Some(EventStatus::DisabledOnReplica);
            }
        }
        if self.eat("COMMENT") {
            clauses.comment = Some(self.comment()?);
        }
        Ok(clauses)
    }

    fn event_schedule(&mut self) -> Result<EventSchedule> {
        if self.eat("AT") {
            return Ok(EventSchedule::At(self.expr()?));
        }
        self.expect("EVERY")?;
        let amount = self.expr()?;
        let unit = self.time_unit()?;
        let starts = if self.eat("STARTS") { Some(self.expr()?) } else { None };
        let ends = if self.eat("ENDS") { Some(self.expr()?) } else { None };
        Ok(EventSchedule::Every { amount, unit, starts, ends })
    }

    fn alter_event(&mut self, definer: Option<Account>) -> Result<Statement> {
        let start = self.at;
        self.advance();
        let name: TableName = self.table_name()?;
        let clauses = self.event_clauses(true)?;
        let body = if self.eat("DO") {
            let start = self.at;
            let owner = Owner { kind: ObjectKind::Event, trigger: None };
            self.program_body(&owner, "")?;
            Some(self.span(start, self.at))
        } else {
            None
        };
        if body.is_none() && definer.is_none() && clauses == EventClauses::default() {
            return Err(self.error());
        }
        let text = self.span(start, self.at);
        Ok(Statement::AlterEvent(Box::new(AlterEvent { name, definer, clauses, text, body })))
    }

    pub(super) fn call(&mut self) -> Result<Statement> {
        self.expect("CALL")?;
        let name = self.table_name()?;
        let mut arguments = Vec::new();
        if self.eat_symbol("(") {
            if !self.is_symbol(")") {
                arguments = self.list(Self::expr)?;
            }
            self.expect_symbol(")")?;
        }
        Ok(Statement::Call(Box::new(Call { name, arguments })))
    }

    fn parameter(&mut self, of_procedure: bool) -> Result<RoutineParameter> {
        let mode = match () {
            _ if self.eat("OUT") => "OUT",
            _ if self.eat("INOUT") => "INOUT",
            _ if of_procedure || self.is("IN") => {
                self.eat("IN");
                "IN"
            }
            _ => "IN",
        };
        let name = self.name()?;
        Ok(RoutineParameter { mode, name, ty: self.type_of_source()? })
    }
}

/// Parses the parameters of a routine, which are kept as text. The list is empty if the text is
/// wrong.
pub(crate) fn parameters_of(text: &str, of_procedure: bool, mode: LexMode) -> Vec<RoutineParameter> {
    let kind = if of_procedure { ObjectKind::Procedure } else { ObjectKind::Function };
    read_parameters(text, kind, mode).unwrap_or_default()
}

/// Does what [`parameters_of`] does, and returns the error of a wrong text.
pub(super) fn read_parameters(text: &str, kind: ObjectKind, mode: LexMode) -> Result<Vec<RoutineParameter>> {
    let read = |parser: &mut Parser<'_>| match parser.at_end() {
        true => Ok(Vec::new()),
        false => parser.list(|parser| parser.parameter(kind == ObjectKind::Procedure)),
    };
    super::parse_part(text.as_bytes(), mode, read)
}

/// Parses a type that is kept as text.
pub(crate) fn type_of(text: &str, mode: LexMode) -> Option<TypeSpec> {
    super::parse_part(text.as_bytes(), mode, |parser| parser.type_of_source()).ok().flatten()
}
