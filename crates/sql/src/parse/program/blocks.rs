//! Parsing of blocks, declarations, branches and loops.

use super::body::{Body, Label};
use crate::ast::program::{
    ConditionValue, Cursor, Handler, InnerStatement, NamedVariable, Op, ProgramScope, SlotKind, Step,
};
use crate::ast::{BinaryOp, Expr, RoutineParameter, Statement, TypeSpec};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;
use crate::parse::Parser;

/// The reader of a body, whose state is in the parser meanwhile.
pub(crate) struct BodyParser<'p, 'a> {
    pub(in crate::parse) parser: &'p mut Parser<'a>,
}

/// The last kind of declaration in a block. Only this kind and the ones after it may follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    Variables,
    Cursors,
    Handlers,
}

impl BodyParser<'_, '_> {
    pub(super) fn body(&mut self) -> &mut Body {
        self.parser.body.as_deref_mut().expect("a body is being read")
    }

    /// Reads the whole body of a program with these parameters.
    pub(super) fn whole(&mut self, parameters: &[RoutineParameter]) -> Result<()> {
        for parameter in parameters {
            let ty = parameter.ty.clone();
            let ty = ty.ok_or_else(|| SqlError::not_supported("a parameter of a type of MariaDB's"))?;
            self.declare(&parameter.name, ty, 1330, "parameter")?;
        }
        self.statement()
    }

    fn declare(&mut self, name: &str, ty: TypeSpec, code: u16, what: &str) -> Result<usize> {
        let body = self.body();
        let scope = body.scope;
        let is_same = |(known, _): &(String, usize)| known.eq_ignore_ascii_case(name);
        if body.program.scopes[scope].variables.iter().any(is_same) {
            return Err(SqlError::new(code, format!("Duplicate {what}: {name}")));
        }
        let slot = body.add_slot(name, SlotKind::Variable(ty));
        body.program.scopes[scope].variables.push((name.to_owned(), slot));
        Ok(slot)
    }

    pub(super) fn here(&mut self) -> usize {
        self.body().program.steps.len()
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        let body = self.body();
        body.program.steps.push(Step { op, scope: body.scope });
        body.program.steps.len() - 1
    }

    /// Sets the target of a jump to the next step.
    fn aim(&mut self, step: usize) {
        let here = self.here();
        match &mut self.body().program.steps[step].op {
            Op::Jump(to) | Op::JumpUnless { to, .. } => *to = here,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    /// Sets the step at which a CONTINUE handler continues after an error of the condition to the
    /// next step.
    fn go_on_here(&mut self, step: usize) {
        let here = self.here();
        if let Op::JumpUnless { after, .. } = &mut self.body().program.steps[step].op {
            *after = here;
        }
    }

    /// Reads a statement of the program.
    pub(super) fn statement(&mut self) -> Result<()> {
        self.parser.enter()?;
        self.body().variables.clear();
        let is_name = self.parser.is_name();
        let label = match is_name && self.parser.symbol_ahead(1, ":") {
            true => {
                let name = self.parser.name()?;
                self.parser.expect_symbol(":")?;
                if !self.parser.is_any(&["BEGIN", "LOOP", "REPEAT", "WHILE"]) {
                    return Err(self.parser.error());
                }
                let first = self.body().first_label;
                if self.body().labels[first..].iter().any(|label| label.name.eq_ignore_ascii_case(&name)) {
                    return Err(SqlError::new(1309, format!("Redefining label {name}")));
                }
                Some(name)
            }
            false => None,
        };
        match self.parser.upper().as_str() {
            "BEGIN" => self.labelled(label, false, Self::block)?,
            "LOOP" => self.labelled(label, true, Self::endless)?,
            "REPEAT" => self.labelled(label, true, Self::repeat)?,
            "WHILE" => self.labelled(label, true, Self::while_loop)?,
            "IF" => self.branches()?,
            "CASE" => self.case()?,
            _ => self.plain()?,
        }
        self.parser.leave();
        Ok(())
    }

    /// Reads one or more statements, each with its semicolon, up to one of these words.
    fn statements(&mut self, ends: &[&str]) -> Result<()> {
        loop {
            self.statement()?;
            self.parser.expect_symbol(";")?;
            if self.parser.is_any(ends) {
                return Ok(());
            }
        }
    }

    fn condition(&mut self, word: &str) -> Result<Expr> {
        let condition = self.parser.expr()?;
        self.parser.expect(word)?;
        Ok(condition)
    }

    fn branches(&mut self) -> Result<()> {
        let (mut tests, mut ends) = (Vec::new(), Vec::new());
        self.parser.expect("IF")?;
        loop {
            let condition = self.condition("THEN")?;
            let test = self.emit(Op::JumpUnless { condition, to: 0, after: 0 });
            tests.push(test);
            self.statements(&["ELSEIF", "ELSE", "END"])?;
            ends.push(self.emit(Op::Jump(0)));
            self.aim(test);
            if self.parser.eat("ELSEIF") {
                continue;
            }
            if self.parser.eat("ELSE") {
                self.statements(&["END"])?;
            }
            break;
        }
        self.parser.expect_all(&["END", "IF"])?;
        self.end_of_branches(&tests, &ends);
        Ok(())
    }

    fn end_of_branches(&mut self, tests: &[usize], ends: &[usize]) {
        ends.iter().for_each(|end| self.aim(*end));
        tests.iter().for_each(|test| self.go_on_here(*test));
    }

    fn case(&mut self) -> Result<()> {
        self.parser.expect("CASE")?;
        let operand = match self.parser.is("WHEN") {
            true => None,
            false => {
                let value = self.parser.expr()?;
                let slot = self.body().add_slot("", SlotKind::Operand);
                self.emit(Op::Assign { slot, value });
                Some(slot)
            }
        };
        let (mut tests, mut ends) = (Vec::new(), Vec::new());
        if !self.parser.is("WHEN") {
            return Err(self.parser.error());
        }
        while self.parser.eat("WHEN") {
            let mut condition = self.condition("THEN")?;
            if let Some(slot) = operand {
                let operand = Box::new(Expr::Parameter(slot));
                condition = Expr::Binary(BinaryOp::Equal, operand, Box::new(condition));
            }
            let test = self.emit(Op::JumpUnless { condition, to: 0, after: 0 });
            tests.push(test);
            self.statements(&["WHEN", "ELSE", "END"])?;
            ends.push(self.emit(Op::Jump(0)));
            self.aim(test);
        }
        match self.parser.eat("ELSE") {
            true => self.statements(&["END"])?,
            false => {
                self.emit(Op::CaseNotFound);
            }
        }
        self.parser.expect_all(&["END", "CASE"])?;
        self.end_of_branches(&tests, &ends);
        Ok(())
    }

    /// Reads a block or a loop, which LEAVE may name.
    fn labelled(
        &mut self,
        label: Option<String>,
        is_loop: bool,
        read: fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let start = is_loop.then_some(self.here());
        let cursors = self.body().program.cursors.len();
        let name = label.clone().unwrap_or_default();
        self.body().labels.push(Label { name, start, cursors, leaves: Vec::new() });
        read(self)?;
        if self.parser.is_name() {
            let end = self.parser.name()?;
            if !label.is_some_and(|label| label.eq_ignore_ascii_case(&end)) {
                return Err(SqlError::new(1310, format!("End-label {end} without match")));
            }
        }
        let label = self.body().labels.pop().expect("it was pushed");
        label.leaves.iter().for_each(|leave| self.aim(*leave));
        Ok(())
    }

    fn endless(&mut self) -> Result<()> {
        self.parser.expect("LOOP")?;
        let start = self.here();
        self.statements(&["END"])?;
        self.parser.expect_all(&["END", "LOOP"])?;
        self.emit(Op::Jump(start));
        Ok(())
    }

    fn while_loop(&mut self) -> Result<()> {
        self.parser.expect("WHILE")?;
        let start = self.here();
        let condition = self.condition("DO")?;
        let test = self.emit(Op::JumpUnless { condition, to: 0, after: 0 });
        self.statements(&["END"])?;
        self.parser.expect_all(&["END", "WHILE"])?;
        self.emit(Op::Jump(start));
        self.aim(test);
        self.go_on_here(test);
        Ok(())
    }

    fn repeat(&mut self) -> Result<()> {
        self.parser.expect("REPEAT")?;
        let start = self.here();
        self.statements(&["UNTIL"])?;
        self.parser.expect("UNTIL")?;
        self.body().variables.clear();
        let condition = self.condition("END")?;
        self.parser.expect("REPEAT")?;
        let test = self.emit(Op::JumpUnless { condition, to: start, after: 0 });
        self.go_on_here(test);
        Ok(())
    }

    fn push_scope(&mut self, is_handler: bool) -> usize {
        let body = self.body();
        let parent = Some(body.scope);
        body.program.scopes.push(ProgramScope { parent, is_handler, ..ProgramScope::default() });
        std::mem::replace(&mut body.scope, body.program.scopes.len() - 1)
    }

    fn block(&mut self) -> Result<()> {
        self.parser.expect("BEGIN")?;
        let around = self.push_scope(false);
        let cursors = self.body().program.cursors.len();
        let mut declared = Declared::Variables;
        while self.parser.eat("DECLARE") {
            self.body().variables.clear();
            declared = self.declaration(declared)?;
            self.parser.expect_symbol(";")?;
        }
        while !self.parser.is("END") {
            self.statement()?;
            self.parser.expect_symbol(";")?;
        }
        self.parser.expect("END")?;
        let scope = std::mem::replace(&mut self.body().scope, around);
        let end = self.here();
        let body = self.body();
        for handler in body.program.scopes[scope].handlers.clone() {
            body.program.handlers[handler].end_of_block = end;
        }
        // A LEAVE of the block continues here too. It has closed the cursors already, and closing
        // them again has no effect.
        let label = body.labels.last_mut().expect("a block has its place among the labels");
        let leaves = std::mem::take(&mut label.leaves);
        leaves.iter().for_each(|leave| self.aim(*leave));
        self.leave_cursors(cursors);
        Ok(())
    }

    /// Closes the cursors from `from` on, if there are any.
    pub(super) fn leave_cursors(&mut self, from: usize) {
        let to = self.body().program.cursors.len();
        if from < to {
            self.emit(Op::LeaveCursors { from, to });
        }
    }

    /// Reads the rest of a declaration behind DECLARE.
    fn declaration(&mut self, declared: Declared) -> Result<Declared> {
        let is_handler = self.parser.token_is(self.parser.ahead(1), "HANDLER");
        if is_handler && self.parser.is_any(&["CONTINUE", "EXIT"]) {
            self.handler()?;
            return Ok(Declared::Handlers);
        }
        let names = self.parser.list(Parser::name)?;
        if let ([name], true) = (&names[..], self.parser.is("CURSOR")) {
            if declared > Declared::Cursors {
                return Err(SqlError::new(1338, "Cursor declaration after handler declaration"));
            }
            self.cursor(name)?;
            return Ok(Declared::Cursors);
        }
        if declared > Declared::Variables {
            let text = "Variable or condition declaration after cursor or handler declaration";
            return Err(SqlError::new(1337, text));
        }
        if let ([name], true) = (&names[..], self.parser.is("CONDITION")) {
            self.named_condition(name)?;
            return Ok(declared);
        }
        let mut ty = self.parser.type_spec()?;
        if self.parser.eat("COLLATE") {
            ty.collation = Some(self.parser.collation_name()?);
        }
        let value = match self.parser.eat("DEFAULT") {
            true => self.parser.expr()?,
            false => Expr::Literal(crate::ast::Literal::Null),
        };
        for name in names {
            let slot = self.declare(&name, ty.clone(), 1331, "variable")?;
            self.emit(Op::Assign { slot, value: value.clone() });
        }
        Ok(declared)
    }

    fn named_condition(&mut self, name: &str) -> Result<()> {
        self.parser.expect_all(&["CONDITION", "FOR"])?;
        let value = match self.parser.token().kind {
            TokenKind::Integer => self.error_code()?,
            _ => ConditionValue::State(self.sqlstate()?),
        };
        let body = self.body();
        let scope = &mut body.program.scopes[body.scope];
        if scope.conditions.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(SqlError::new(1332, format!("Duplicate condition: {name}")));
        }
        scope.conditions.push((name.to_owned(), value));
        Ok(())
    }

    fn cursor(&mut self, name: &str) -> Result<()> {
        self.parser.expect_all(&["CURSOR", "FOR"])?;
        if !self.parser.is_any(&["SELECT", "WITH", "VALUES", "TABLE"]) && !self.parser.is_symbol("(") {
            return Err(self.parser.error());
        }
        let query = self.inner(|this| this.parser.query().map(Statement::Query))?;
        if !query.into.is_empty() {
            return Err(SqlError::new(1323, "Cursor SELECT must not have INTO"));
        }
        let body = self.body();
        let scope = &mut body.program.scopes[body.scope];
        if scope.cursors.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(SqlError::new(1333, format!("Duplicate cursor: {name}")));
        }
        scope.cursors.push((name.to_owned(), body.program.cursors.len()));
        body.program.cursors.push(Cursor { name: name.to_owned(), query });
        Ok(())
    }

    fn handler(&mut self) -> Result<()> {
        let exits = self.parser.is("EXIT");
        self.parser.advance();
        self.parser.expect_all(&["HANDLER", "FOR"])?;
        let conditions = self.parser.list(|parser| BodyParser { parser }.handled_condition())?;
        let scope = self.body().scope;
        let program = &mut self.body().program;
        for condition in &conditions {
            let known = program.scopes[scope].handlers.iter().map(|handler| &program.handlers[*handler]);
            let is_again = conditions.iter().filter(|other| *other == condition).count() > 1;
            if is_again || known.into_iter().any(|other| other.conditions.contains(condition)) {
                return Err(SqlError::new(1413, "Duplicate handler declared in the same block"));
            }
        }
        let number = program.handlers.len();
        let over = self.emit(Op::Jump(0));
        let start = self.here();
        let program = &mut self.body().program;
        program.handlers.push(Handler { exits, conditions, scope, start, end_of_block: 0 });
        program.scopes[scope].handlers.push(number);
        let around = self.push_scope(true);
        let labels = self.body().labels.len();
        let first_label = std::mem::replace(&mut self.body().first_label, labels);
        self.statement()?;
        self.body().first_label = first_label;
        self.emit(Op::EndHandler(number));
        self.body().scope = around;
        self.aim(over);
        Ok(())
    }

    /// Reads a statement of the other grammar, with its text and the variables of the program that
    /// it names.
    pub(super) fn inner(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Statement>,
    ) -> Result<InnerStatement> {
        let first = self.parser.token().start as usize;
        let body = self.body();
        body.variables.clear();
        body.into.clear();
        let statement = read(self)?;
        let last = self.parser.tokens[self.parser.at - 1].end as usize;
        let text = String::from_utf8_lossy(&self.parser.text[first..last]).into_owned();
        let body = self.body();
        let mut variables: Vec<NamedVariable> = std::mem::take(&mut body.variables);
        // A name that the grammar has read twice counts once.
        variables.sort_by_key(|named| named.start);
        variables.dedup_by_key(|named| named.start);
        for named in &mut variables {
            (named.start, named.end) = (named.start - first, named.end - first);
        }
        Ok(InnerStatement { statement, text, variables, into: std::mem::take(&mut self.body().into) })
    }
}
