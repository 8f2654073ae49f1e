//! Parsing of statements about XA transactions.

use super::Parser;
use crate::ast::{Statement, Xa, XaStart};
use crate::error::Result;
use crate::lexer::{self, TokenKind};
use binlog::Xid;

/// The format id of an XID that does not give one.
const DEFAULT_FORMAT_ID: i64 = 1;

impl Parser<'_> {
    pub(super) fn xa(&mut self) -> Result<Statement> {
        self.advance();
        let xa = match () {
            _ if self.eat_any(&["START", "BEGIN"]) => {
                let xid = self.xid()?;
                let how = match () {
                    _ if self.eat("JOIN") => XaStart::Join,
                    _ if self.eat("RESUME") => XaStart::Resume,
                    _ => XaStart::New,
                };
                Xa::Start { xid, how }
            }
            _ if self.eat("END") => {
                let xid = self.xid()?;
                let suspend = self.eat("SUSPEND");
                if suspend && self.eat("FOR") {
                    self.expect("MIGRATE")?;
                }
                Xa::End { xid, suspend }
            }
            _ if self.eat("PREPARE") => Xa::Prepare(self.xid()?),
            _ if self.eat("COMMIT") => {
                let xid = self.xid()?;
                let one_phase = self.eat("ONE");
                if one_phase {
                    self.expect("PHASE")?;
                }
                Xa::Commit { xid, one_phase }
            }
            _ if self.eat("ROLLBACK") => Xa::Rollback(self.xid()?),
            _ if self.eat("RECOVER") => {
                let convert_xid = self.eat("CONVERT");
                if convert_xid {
                    self.expect("XID")?;
                }
                Xa::Recover { convert_xid }
            }
            _ => return Err(self.error()),
        };
        Ok(Statement::Xa(xa))
    }

    /// Reads `gtrid [, bqual [, formatID]]`.
    fn xid(&mut self) -> Result<Xid> {
        let gtrid = self.xid_part()?;
        let (mut bqual, mut format_id) = (Vec::new(), DEFAULT_FORMAT_ID);
        if self.eat_symbol(",") {
            bqual = self.xid_part()?;
            if self.eat_symbol(",") {
                format_id = self.unsigned()? as i64;
            }
        }
        Xid::new(&gtrid, &bqual, format_id).ok_or_else(|| self.error())
    }

    fn xid_part(&mut self) -> Result<Vec<u8>> {
        let token = self.token();
        let bytes = match token.kind {
            TokenKind::Text => return self.text_literal(),
            TokenKind::Hex => lexer::number_bytes(self.raw(token), true),
            TokenKind::Bits => lexer::number_bytes(self.raw(token), false),
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(bytes)
    }
}
