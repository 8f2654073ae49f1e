//! The extent of the body of a trigger, routine or event.
//!
//! Of a body that a source sends, or that has statements which this server's grammar lacks, only
//! those parts are read that show where it ends: blocks, and the flow-control statements that
//! contain semicolons.

use crate::error::Result;
use crate::lexer::TokenKind;
use crate::parse::Parser;

impl Parser<'_> {
    /// Skips the statement that begins here, which may contain others. The text that a source sends
    /// is taken as one statement up to its end, whatever it contains.
    pub(super) fn body_extent(&mut self) -> Result<()> {
        if self.at_end() || self.is_symbol(";") {
            return Err(self.error());
        }
        let start = self.at;
        let read = self.program_statement();
        let is_whole = read.is_ok() && (self.at_end() || self.at + 2 == self.tokens.len());
        if self.mode.of_source && !is_whole {
            self.at = self.tokens.len() - 1;
            while self.at > start + 1 && self.symbol_at(self.at - 1, ";") {
                self.at -= 1;
            }
            return Ok(());
        }
        read
    }

    fn symbol_at(&self, at: usize, symbol: &str) -> bool {
        let token = self.tokens[at];
        token.kind == TokenKind::Symbol && self.raw(token) == symbol.as_bytes()
    }

    fn program_statement(&mut self) -> Result<()> {
        self.enter()?;
        let is_name = matches!(self.token().kind, TokenKind::Word | TokenKind::QuotedName);
        if is_name && self.symbol_ahead(1, ":") {
            self.at += 2;
        }
        let word = self.upper();
        match word.as_str() {
            "BEGIN" => {
                self.advance();
                self.eat_all(&["NOT", "ATOMIC"]);
                self.program_statements(&["END"])?;
                self.expect("END")?;
                self.end_label();
            }
            "IF" => {
                self.advance();
                self.condition("THEN")?;
                self.program_statements(&["ELSEIF", "ELSE", "END"])?;
                while self.eat("ELSEIF") {
                    self.condition("THEN")?;
                    self.program_statements(&["ELSEIF", "ELSE", "END"])?;
                }
                if self.eat("ELSE") {
                    self.program_statements(&["END"])?;
                }
                self.expect_all(&["END", "IF"])?;
            }
            "CASE" => {
                self.advance();
                if !self.is("WHEN") {
                    self.skip_to(&["WHEN"])?;
                }
                while self.eat("WHEN") {
                    self.condition("THEN")?;
                    self.program_statements(&["WHEN", "ELSE", "END"])?;
                }
                if self.eat("ELSE") {
                    self.program_statements(&["END"])?;
                }
                self.expect_all(&["END", "CASE"])?;
            }
            "LOOP" => self.looped("LOOP")?,
            "REPEAT" => {
                self.advance();
                self.program_statements(&["UNTIL"])?;
                self.expect("UNTIL")?;
                self.condition("END")?;
                self.expect("REPEAT")?;
                self.end_label();
            }
            "WHILE" | "FOR" => {
                self.skip_to(&["DO"])?;
                self.looped(&word)?;
            }
            "DECLARE"
                if self.token_is(self.ahead(2), "HANDLER")
                    && ["CONTINUE", "EXIT", "UNDO"].iter().any(|how| self.token_is(self.ahead(1), how)) =>
            {
                self.at += 3;
                self.expect("FOR")?;
                self.list(Self::handled_condition)?;
                self.program_statement()?;
            }
            _ => self.plain_statement()?,
        }
        self.leave();
        Ok(())
    }

    /// Skips the statements behind LOOP or DO, up to END and this word.
    fn looped(&mut self, word: &str) -> Result<()> {
        self.advance();
        self.program_statements(&["END"])?;
        self.expect_all(&["END", word])?;
        self.end_label();
        Ok(())
    }

    /// Skips statements, each with its semicolon, up to one of these words.
    fn program_statements(&mut self, ends: &[&str]) -> Result<()> {
        while !self.is_any(ends) {
            self.program_statement()?;
            self.expect_symbol(";")?;
        }
        Ok(())
    }

    fn end_label(&mut self) {
        let is_name = self.is_name();
        if is_name && (self.symbol_ahead(1, ";") || self.ahead(1).kind == TokenKind::End) {
            self.advance();
        }
    }

    /// Skips an expression and the word behind it.
    fn condition(&mut self, word: &str) -> Result<()> {
        self.skip_to(&[word])?;
        self.expect(word)
    }

    /// Skips everything up to one of the words outside of CASE expressions and parentheses.
    fn skip_to(&mut self, words: &[&str]) -> Result<()> {
        let (mut cases, mut parentheses) = (0_usize, 0_usize);
        loop {
            if self.at_end() || self.is_symbol(";") {
                return Err(self.error());
            }
            if cases == 0 && parentheses == 0 && self.is_any(words) {
                return Ok(());
            }
            match () {
                _ if self.is("CASE") && self.at > 0 && !self.is_behind_point() => cases += 1,
                _ if self.is("END") && cases > 0 => cases -= 1,
                _ if self.is_symbol("(") => parentheses += 1,
                _ if self.is_symbol(")") => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }

    fn is_behind_point(&self) -> bool {
        self.symbol_at(self.at - 1, ".")
    }

    /// Skips `SQLSTATE [VALUE] '...'`, `NOT FOUND`, a number or a name.
    fn handled_condition(&mut self) -> Result<()> {
        if self.eat("SQLSTATE") {
            self.eat("VALUE");
            self.text_literal()?;
        } else if !self.eat_all(&["NOT", "FOUND"]) {
            let kind = self.token().kind;
            if !matches!(kind, TokenKind::Word | TokenKind::QuotedName | TokenKind::Integer) {
                return Err(self.error());
            }
            self.advance();
        }
        Ok(())
    }

    /// Skips a statement that contains no others.
    fn plain_statement(&mut self) -> Result<()> {
        if self.at_end() || self.is_symbol(";") {
            return Err(self.error());
        }
        while !self.at_end() && !self.is_symbol(";") {
            self.advance();
        }
        Ok(())
    }
}
