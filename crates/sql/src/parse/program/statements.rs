//! Parsing of the simple statements of a body, and the rules for the statements of the other
//! grammar that may stand in it.

use super::BodyParser;
use crate::ast::program::{InnerStatement, Op, SlotKind};
use crate::ast::{Expr, Scope, SetItem, Statement};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;
use crate::parse::Parser;
use engine::ObjectKind;

impl BodyParser<'_, '_> {
    pub(super) fn plain(&mut self) -> Result<()> {
        let word = self.parser.upper();
        match word.as_str() {
            "LEAVE" | "ITERATE" => self.leave_or_iterate(&word),
            "RETURN" => self.return_value(),
            "OPEN" | "CLOSE" => {
                self.parser.advance();
                let cursor = self.cursor_of_name()?;
                self.emit(if word == "OPEN" { Op::Open(cursor) } else { Op::Close(cursor) });
                Ok(())
            }
            "FETCH" => self.fetch(),
            "SET" if !self.is_other_set() => self.set(),
            "SIGNAL" | "RESIGNAL" | "GET" => {
                let inner = self.inner(Self::about_conditions)?;
                self.emit(Op::Run(Box::new(inner)));
                Ok(())
            }
            _ => self.of_the_other_grammar(&word),
        }
    }

    fn leave_or_iterate(&mut self, word: &str) -> Result<()> {
        self.parser.advance();
        let name = self.parser.name()?;
        let iterates = word == "ITERATE";
        let body = self.body();
        let labels = &body.labels[body.first_label..];
        let is_it = |label: &&super::body::Label| {
            label.name.eq_ignore_ascii_case(&name) && (!iterates || label.start.is_some())
        };
        let Some(label) = labels.iter().rev().find(is_it) else {
            return Err(SqlError::new(1308, format!("{word} with no matching label: {name}")));
        };
        let (start, cursors, labelled) = (label.start, label.cursors, label.name.clone());
        self.leave_cursors(cursors);
        let jump = self.emit(Op::Jump(start.unwrap_or(0)));
        if !iterates {
            let labels = &mut self.body().labels;
            let label = labels.iter_mut().rev().find(|label| label.name == labelled);
            label.expect("it was found before").leaves.push(jump);
        }
        Ok(())
    }

    fn return_value(&mut self) -> Result<()> {
        if self.body().kind != ObjectKind::Function {
            return Err(SqlError::new(1313, "RETURN is only allowed in a FUNCTION"));
        }
        self.parser.advance();
        let value = self.parser.expr()?;
        self.emit(Op::Return(value));
        Ok(())
    }

    fn cursor_of_name(&mut self) -> Result<usize> {
        let name = self.parser.name()?;
        let found = self.body().find(|scope| &scope.cursors, &name);
        found.ok_or_else(|| SqlError::new(1324, format!("Undefined CURSOR: {name}")))
    }

    /// Reads `FETCH [[NEXT] FROM] cursor INTO variable, ...`.
    fn fetch(&mut self) -> Result<()> {
        self.parser.advance();
        if !self.parser.eat_all(&["NEXT", "FROM"]) {
            self.parser.eat("FROM");
        }
        let cursor = self.cursor_of_name()?;
        self.parser.expect("INTO")?;
        let into = self.parser.list(|parser| {
            let name = parser.name()?;
            let slot = parser.body.as_deref().and_then(|body| body.variable(&name));
            slot.ok_or_else(|| SqlError::new(1327, format!("Undeclared variable: {name}")))
        })?;
        self.emit(Op::Fetch { cursor, into });
        Ok(())
    }

    /// Reports whether this is a SET PASSWORD, SET ROLE or the like, which sets no variables.
    fn is_other_set(&self) -> bool {
        let next = self.parser.ahead(1);
        let is = |word| self.parser.token_is(next, word);
        let is_assigned = self.parser.symbol_ahead(2, "=") || self.parser.symbol_ahead(2, ":=");
        let is_role = is("DEFAULT") && self.parser.token_is(self.parser.ahead(2), "ROLE");
        !is_assigned && (is_role || ["PASSWORD", "ROLE", "RESOURCE", "STATEMENT"].into_iter().any(is))
    }

    /// Reads SET. As in MySQL, an assignment to a variable of the program is a step of its own, and
    /// assignments to other variables are statements.
    fn set(&mut self) -> Result<()> {
        let (mut carried, mut others) = (Scope::Unwritten, None::<InnerStatement>);
        self.parser.expect("SET")?;
        loop {
            match self.assigned_slot()? {
                Some(slot) => {
                    self.end_of_others(&mut others);
                    let value = self.parser.expr()?;
                    self.emit(Op::Assign { slot, value });
                }
                None => {
                    let mut item = None;
                    let read = self.inner(|this| {
                        item = Some(this.parser.set_item_after(&mut carried)?);
                        Ok(Statement::Empty)
                    })?;
                    let item = item.expect("it was read");
                    self.check_setting(&item)?;
                    others = Some(with_item(others, read, item));
                }
            }
            if !self.parser.eat_symbol(",") {
                self.end_of_others(&mut others);
                return Ok(());
            }
        }
    }

    fn end_of_others(&mut self, others: &mut Option<InnerStatement>) {
        if let Some(set) = others.take() {
            self.emit(Op::Run(Box::new(set)));
        }
    }

    /// Reads the name of the variable, or of the column of NEW, that is assigned here, and returns
    /// its slot. `None` if something else is assigned.
    fn assigned_slot(&mut self) -> Result<Option<usize>> {
        let token = self.parser.token();
        if !matches!(token.kind, TokenKind::Word | TokenKind::QuotedName) {
            return Ok(None);
        }
        let is_column = self.parser.symbol_ahead(1, ".");
        if is_column && self.body().trigger.is_none() {
            return Ok(None);
        }
        let name = self.parser.word_text(token)?;
        if is_column && name.eq_ignore_ascii_case("OLD") {
            return Err(SqlError::new(1362, "Updating of OLD row is not allowed in trigger"));
        }
        let Some(Expr::Parameter(slot)) = self.parser.variable_of_body()? else { return Ok(None) };
        let is_column = matches!(self.body().program.slots[slot].kind, SlotKind::Column { .. });
        if is_column && self.body().trigger.is_some_and(|(_, before)| !before) {
            return Err(SqlError::new(1362, "Updating of NEW row is not allowed in after trigger"));
        }
        if !self.parser.eat_symbol(":=") {
            self.parser.expect_symbol("=")?;
        }
        Ok(Some(slot))
    }

    /// Returns the word for a function or a trigger, which run within a statement. `None` for other
    /// bodies.
    fn within(&mut self) -> Option<&'static str> {
        match self.body().kind {
            ObjectKind::Function => Some("function"),
            ObjectKind::Trigger => Some("trigger"),
            _ => None,
        }
    }

    fn check_setting(&mut self, item: &SetItem) -> Result<()> {
        match item {
            SetItem::Variable { name, .. } if name == "autocommit" && self.within().is_some() => {
                let text = "Not allowed to set autocommit from a stored function or trigger";
                Err(SqlError::new(1445, text))
            }
            _ => Ok(()),
        }
    }

    fn of_the_other_grammar(&mut self, word: &str) -> Result<()> {
        self.check_definition(word)?;
        let inner = self.inner(|this| this.parser.statement())?;
        self.check_allowed(&inner, word)?;
        self.emit(Op::Run(Box::new(inner)));
        Ok(())
    }

    /// Refuses statements about stored programs within a stored program.
    fn check_definition(&mut self, word: &str) -> Result<()> {
        if !matches!(word, "CREATE" | "ALTER" | "DROP") {
            return Ok(());
        }
        // DEFINER and other clauses may stand before the kind of the object.
        let kind = (1..12).map(|ahead| self.parser.ahead(ahead)).find_map(|token| {
            ObjectKind::ALL.into_iter().find(|kind| self.parser.token_is(token, kind.word()))
        });
        let is_object = |parser: &Parser<'_>| {
            let next = parser.ahead(1);
            ["DEFINER", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "AGGREGATE"]
                .iter()
                .any(|first| parser.token_is(next, first))
        };
        let Some(kind) = kind.filter(|_| is_object(self.parser)) else { return Ok(()) };
        let text = match kind {
            ObjectKind::View => return Ok(()),
            ObjectKind::Event if word != "CREATE" => return Ok(()),
            ObjectKind::Event => {
                return Err(SqlError::new(
                    1576,
                    "Recursion of EVENT DDL statements is forbidden when body is present",
                ));
            }
            kind if word == "CREATE" => {
                let text = format!("Can't create a {} from within another stored routine", kind.word());
                return Err(SqlError::new(1303, text));
            }
            kind => format!("Can't drop or alter a {} from within another stored routine", kind.word()),
        };
        Err(SqlError::new(1357, text))
    }

    fn check_allowed(&mut self, inner: &InnerStatement, word: &str) -> Result<()> {
        use Statement as S;
        let statement = &inner.statement;
        let refused = match statement {
            S::Use(_) => Some("USE"),
            S::LockTables(_) => Some("LOCK"),
            S::UnlockTables => Some("UNLOCK"),
            S::Load(_) => Some("LOAD DATA"),
            S::Handler(_) => Some("HANDLER"),
            S::CreateObject(create) if create.alters => Some("ALTER VIEW"),
            _ => None,
        };
        if let Some(name) = refused {
            return Err(SqlError::new(1314, format!("{name} is not allowed in stored procedures")));
        }
        let Some(within) = self.within() else { return Ok(()) };
        let not_here =
            |what: &str| SqlError::new(1336, format!("{what} is not allowed in stored function or trigger"));
        match statement {
            S::Query(_) if !inner.into.is_empty() => Ok(()),
            S::Query(_) | S::Show { .. } | S::Explain(_) | S::Maintain { .. } => {
                Err(SqlError::new(1415, format!("Not allowed to return a result set from a {within}")))
            }
            S::Insert(_) | S::Update(_) | S::Delete(_) | S::Set(_) | S::Do(_) | S::Call(_) => Ok(()),
            S::Signal(_) | S::GetDiagnostics(_) | S::Savepoint(_) | S::RollbackTo(_) => Ok(()),
            S::ReleaseSavepoint(_) | S::Empty => Ok(()),
            S::CreateTable(create) if create.temporary && create.query.is_none() => Ok(()),
            S::DropTable { temporary: true, sequences: false, .. } => Ok(()),
            S::Prepare { .. } | S::Execute { .. } | S::Deallocate(_) => Err(not_here("Dynamic SQL")),
            S::Admin(_) if word == "FLUSH" => Err(not_here("FLUSH")),
            S::Admin(_) if word == "KILL" => Ok(()),
            _ => Err(SqlError::new(
                1422,
                "Explicit or implicit commit is not allowed in stored function or trigger.",
            )),
        }
    }
}

/// Adds an item to a SET, or begins a SET with it.
fn with_item(set: Option<InnerStatement>, read: InnerStatement, item: SetItem) -> InnerStatement {
    match set {
        None => {
            const LEAD: &str = "SET ";
            let mut variables = read.variables;
            for named in &mut variables {
                (named.start, named.end) = (named.start + LEAD.len(), named.end + LEAD.len());
            }
            let text = format!("{LEAD}{}", read.text);
            InnerStatement { statement: Statement::Set(vec![item]), text, variables, into: Vec::new() }
        }
        Some(mut set) => {
            let lead = set.text.len() + 2;
            set.text = format!("{}, {}", set.text, read.text);
            set.variables.extend(read.variables.into_iter().map(|named| {
                crate::ast::program::NamedVariable {
                    start: named.start + lead,
                    end: named.end + lead,
                    slot: named.slot,
                }
            }));
            if let Statement::Set(items) = &mut set.statement {
                items.push(item);
            }
            set
        }
    }
}
