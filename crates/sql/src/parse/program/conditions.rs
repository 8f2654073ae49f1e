//! Parsing of conditions: those of handlers, SIGNAL, RESIGNAL and GET DIAGNOSTICS.

use super::BodyParser;
use crate::ast::program::ConditionValue;
use crate::ast::{ConditionItem, DiagnosticsWanted, Expr, GetDiagnostics, Signal, Statement, Target};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;

/// The items that SIGNAL can set.
const SIGNALLED: [(&str, ConditionItem); 12] = [
    ("CLASS_ORIGIN", ConditionItem::ClassOrigin),
    ("SUBCLASS_ORIGIN", ConditionItem::SubclassOrigin),
    ("MESSAGE_TEXT", ConditionItem::MessageText),
    ("MYSQL_ERRNO", ConditionItem::MysqlErrno),
    ("CONSTRAINT_CATALOG", ConditionItem::ConstraintCatalog),
    ("CONSTRAINT_SCHEMA", ConditionItem::ConstraintSchema),
    ("CONSTRAINT_NAME", ConditionItem::ConstraintName),
    ("CATALOG_NAME", ConditionItem::CatalogName),
    ("SCHEMA_NAME", ConditionItem::SchemaName),
    ("TABLE_NAME", ConditionItem::TableName),
    ("COLUMN_NAME", ConditionItem::ColumnName),
    ("CURSOR_NAME", ConditionItem::CursorName),
];

impl BodyParser<'_, '_> {
    /// Reads the name of a variable of the program, or a user variable.
    pub(in crate::parse) fn target(&mut self) -> Result<Target> {
        if self.parser.token().kind == TokenKind::UserVariable {
            return Ok(Target::UserVariable(self.parser.user_variable()?));
        }
        let token = self.parser.token();
        let name = self.parser.name()?;
        let body = self.parser.body.as_deref_mut();
        let slot = body.and_then(|body| {
            let slot = body.variable(&name)?;
            let (start, end) = (token.start as usize, token.end as usize);
            body.variables.push(crate::ast::program::NamedVariable { start, end, slot });
            Some(slot)
        });
        slot.map(Target::Slot).ok_or_else(|| SqlError::new(1327, format!("Undeclared variable: {name}")))
    }

    pub(super) fn error_code(&mut self) -> Result<ConditionValue> {
        let code = self.parser.unsigned()?;
        match u16::try_from(code) {
            Ok(code) if code > 0 => Ok(ConditionValue::Code(code)),
            _ => Err(SqlError::new(1525, format!("Incorrect CONDITION value: '{code}'"))),
        }
    }

    /// Reads `SQLSTATE [VALUE] '...'`.
    pub(super) fn sqlstate(&mut self) -> Result<[u8; 5]> {
        self.parser.expect("SQLSTATE")?;
        self.parser.eat("VALUE");
        let text = self.parser.text_literal()?;
        let is_right = text.len() == 5
            && text.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            && !text.starts_with(b"00");
        match <[u8; 5]>::try_from(&text[..]) {
            Ok(state) if is_right => Ok(state),
            _ => Err(SqlError::new(1407, format!("Bad SQLSTATE: '{}'", String::from_utf8_lossy(&text)))),
        }
    }

    fn condition_of_name(&mut self) -> Result<ConditionValue> {
        let name = self.parser.name()?;
        let body = self.parser.body.as_deref();
        let found = body.and_then(|body| body.find(|scope| &scope.conditions, &name));
        found.ok_or_else(|| SqlError::new(1319, format!("Undefined CONDITION: {name}")))
    }

    pub(super) fn handled_condition(&mut self) -> Result<ConditionValue> {
        match () {
            _ if self.parser.is("SQLSTATE") => self.sqlstate().map(ConditionValue::State),
            _ if self.parser.eat("SQLWARNING") => Ok(ConditionValue::Warning),
            _ if self.parser.eat("SQLEXCEPTION") => Ok(ConditionValue::Exception),
            _ if self.parser.eat_all(&["NOT", "FOUND"]) => Ok(ConditionValue::NotFound),
            _ if self.parser.token().kind == TokenKind::Integer => self.error_code(),
            _ => self.condition_of_name(),
        }
    }

    /// Reads SIGNAL, RESIGNAL or GET DIAGNOSTICS, within a body or as a statement of its own.
    pub(in crate::parse) fn about_conditions(&mut self) -> Result<Statement> {
        if self.parser.eat("GET") {
            return self.diagnostics().map(|get| Statement::GetDiagnostics(Box::new(get)));
        }
        let again = self.parser.is("RESIGNAL");
        self.parser.advance();
        let state = match () {
            _ if self.parser.is("SQLSTATE") => Some(self.sqlstate()?),
            _ if again && (self.parser.is("SET") || !self.parser.is_name()) => None,
            _ => match self.condition_of_name()? {
                ConditionValue::State(state) => Some(state),
                _ => {
                    let text = "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE";
                    return Err(SqlError::new(1646, text));
                }
            },
        };
        let items = match self.parser.eat("SET") {
            true => self.parser.list(|parser| BodyParser { parser }.signalled())?,
            false => Vec::new(),
        };
        for (at, (item, _)) in items.iter().enumerate() {
            if items[..at].iter().any(|(other, _)| other == item) {
                let name = SIGNALLED.iter().find(|(_, known)| known == item).map_or("", |(name, _)| name);
                return Err(SqlError::new(1641, format!("Duplicate condition information item '{name}'")));
            }
        }
        Ok(Statement::Signal(Box::new(Signal { again, state, items })))
    }

    fn signalled(&mut self) -> Result<(ConditionItem, Expr)> {
        let word = self.parser.upper();
        let item = SIGNALLED.iter().find(|(name, _)| *name == word);
        let (_, item) = item.ok_or_else(|| self.parser.error())?;
        self.parser.advance();
        self.parser.expect_symbol("=")?;
        Ok((*item, self.parser.primary()?))
    }

    fn diagnostics(&mut self) -> Result<GetDiagnostics> {
        let stacked = self.parser.eat("STACKED");
        if !stacked {
            self.parser.eat("CURRENT");
        }
        self.parser.expect("DIAGNOSTICS")?;
        let what = match self.parser.eat("CONDITION") {
            false => {
                let items = self.parser.list(|parser| {
                    let target = BodyParser { parser }.target()?;
                    parser.expect_symbol("=")?;
                    let is_row_count = parser.eat("ROW_COUNT");
                    if !is_row_count {
                        parser.expect("NUMBER")?;
                    }
                    Ok((target, is_row_count))
                })?;
                DiagnosticsWanted::Statement(items)
            }
            true => {
                let number = self.parser.primary()?;
                let items = self.parser.list(|parser| BodyParser { parser }.wanted_item())?;
                DiagnosticsWanted::Condition { number, items }
            }
        };
        Ok(GetDiagnostics { stacked, what })
    }

    fn wanted_item(&mut self) -> Result<(Target, ConditionItem)> {
        let target = self.target()?;
        self.parser.expect_symbol("=")?;
        let word = self.parser.upper();
        let known = SIGNALLED.iter().find(|(name, _)| *name == word).map(|(_, item)| *item);
        let item = match known {
            Some(item) => item,
            None if word == "RETURNED_SQLSTATE" => ConditionItem::ReturnedSqlstate,
            None => return Err(self.parser.error()),
        };
        self.parser.advance();
        Ok((target, item))
    }
}
