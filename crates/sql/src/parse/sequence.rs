//! MariaDB's CREATE SEQUENCE, ALTER SEQUENCE and DROP SEQUENCE.

use super::Parser;
use crate::SqlError;
use crate::ast::{AlterDemands, AlterTable, Alteration, CreateTable, Expr, SequenceSpec, Statement};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// Behind CREATE [OR REPLACE] [TEMPORARY], at SEQUENCE.
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

    /// Behind ALTER, at SEQUENCE.
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

    /// Behind DROP [TEMPORARY], at SEQUENCE.
    pub(super) fn drop_sequence(&mut self, temporary: bool) -> Result<Statement> {
        self.expect("SEQUENCE")?;
        let if_exists = self.if_exists();
        let tables = self.list(Self::table_name)?;
        Ok(Statement::DropTable { tables, if_exists, temporary, sequences: true })
    }

    /// One option of a sequence; false where none starts.
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

    /// `NEXT VALUE FOR sequence` and `PREVIOUS VALUE FOR sequence`, which are NEXTVAL and LASTVAL.
    pub(super) fn value_of_sequence(&mut self) -> Result<Expr> {
        let function = if self.eat("NEXT") { "nextval" } else { "lastval" };
        self.eat("PREVIOUS");
        self.expect_all(&["VALUE", "FOR"])?;
        Ok(Expr::call(function, vec![self.column()?]))
    }

    /// A whole number with its sign.
    fn sequence_number(&mut self) -> Result<i64> {
        let minus = self.eat_symbol("-");
        if !minus {
            self.eat_symbol("+");
        }
        let error = self.error();
        let value = i64::try_from(self.unsigned()?).map_err(|_| error)?;
        Ok(if minus { -value } else { value })
    }
}

/// `NO option`; false where there is no such option. MariaDB takes its own limits of a sequence
/// that counts upwards, whichever way this one counts.
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
