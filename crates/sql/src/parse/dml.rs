//! Parsing of INSERT, REPLACE, UPDATE and DELETE.

use super::Parser;
use crate::ast::{Assignment, Delete, Expr, Insert, InsertSource, Statement, TableName, TableRef, Update};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Statement> {
        let replace = self.is("REPLACE");
        self.advance();
        self.read_statement_hints();
        let _ = self.eat_any(&["LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED"]);
        let ignore = self.eat("IGNORE");
        self.eat("INTO");
        let table = self.table_name()?;
        let partitions = self.partition_selection()?;
        let mut insert = Insert {
            table,
            partitions,
            columns: None,
            source: InsertSource::Values(Vec::new()),
            replace,
            ignore,
            row_alias: None,
            on_duplicate: Vec::new(),
        };
        self.insert_source(&mut insert)?;
        if !replace && self.eat_all(&["ON", "DUPLICATE", "KEY", "UPDATE"]) {
            let assignments = self.list(Self::assignment)?;
            insert.on_duplicate = assignments.into_iter().map(|a| (a.column, a.value)).collect();
        }
        self.returning()?;
        Ok(Statement::Insert(insert))
    }

    /// Reads the hints of a statement that is no query. They are for its first block.
    fn read_statement_hints(&mut self) {
        let (_, hints) = self.read_hints(1);
        if !hints.is_empty() {
            self.hints.of_statement.extend(hints);
        }
    }

    fn insert_source(&mut self, insert: &mut Insert) -> Result<()> {
        if self.eat("SET") {
            self.blocks.begin();
            let assignments = self.list(Self::assignment)?;
            let (columns, values) = assignments.into_iter().map(|a| (a.column, a.value)).unzip();
            insert.columns = Some(columns);
            insert.source = InsertSource::Values(vec![values]);
            return self.row_alias(insert);
        }
        if self.is_symbol("(") && !self.query_follows(1) && !self.symbol_ahead(1, "(") {
            self.advance();
            // An empty list names all columns, as none does.
            if !self.is_symbol(")") {
                insert.columns = Some(self.list(Self::column_name_unqualified)?);
            }
            self.expect_symbol(")")?;
        }
        if self.eat_any(&["VALUES", "VALUE"]) {
            self.blocks.begin();
            if self.token().kind == TokenKind::Rows
                && let Some(rows) = self.rows.take()
            {
                self.advance();
                insert.source = InsertSource::Literals(rows);
                return self.row_alias(insert);
            }
            let rows = self.list(Self::insert_row)?;
            insert.source = InsertSource::Values(rows);
            return self.row_alias(insert);
        }
        insert.source = InsertSource::Query(Box::new(self.query()?));
        Ok(())
    }

    fn insert_row(&mut self) -> Result<Vec<Expr>> {
        self.eat("ROW");
        self.expect_symbol("(")?;
        if self.eat_symbol(")") {
            return Ok(Vec::new());
        }
        let values = self.list(Self::insert_value)?;
        self.expect_symbol(")")?;
        Ok(values)
    }

    /// Reads the value of a row. Nearly every value is a single literal, which is read without the
    /// recursion through the operators.
    fn insert_value(&mut self) -> Result<Expr> {
        use TokenKind::{Decimal, Float, Integer, Text};
        let is_literal = matches!(self.token().kind, Text | Integer | Decimal | Float);
        if is_literal && (self.symbol_ahead(1, ",") || self.symbol_ahead(1, ")")) {
            return Ok(Expr::Literal(self.literal()?));
        }
        self.expr()
    }

    fn row_alias(&mut self, insert: &mut Insert) -> Result<()> {
        if !insert.replace && self.eat("AS") {
            let alias = self.name()?;
            let columns = if self.is_symbol("(") { self.parenthesized(Self::name)? } else { Vec::new() };
            insert.row_alias = Some((alias, columns));
        }
        Ok(())
    }

    pub(super) fn assignment(&mut self) -> Result<Assignment> {
        let mut table = None;
        let mut column = self.name()?;
        while self.eat_symbol(".") {
            table = Some(std::mem::replace(&mut column, self.any_name()?));
        }
        if !self.eat_symbol("=") {
            self.expect_symbol(":=")?;
        }
        Ok(Assignment { table, column, value: self.expr()? })
    }

    pub(super) fn update(&mut self) -> Result<Statement> {
        self.expect("UPDATE")?;
        self.blocks.begin();
        self.read_statement_hints();
        self.eat("LOW_PRIORITY");
        let ignore = self.eat("IGNORE");
        let from = match self.updated_portion()? {
            Some(from) => from,
            None => self.table_references()?,
        };
        self.expect("SET")?;
        let assignments = self.list(Self::assignment)?;
        let filter = if self.eat("WHERE") { Some(self.expr()?) } else { None };
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        Ok(Statement::Update(Update { with: None, from, assignments, filter, order_by, limit, ignore }))
    }

    pub(super) fn delete(&mut self) -> Result<Statement> {
        self.expect("DELETE")?;
        self.blocks.begin();
        self.read_statement_hints();
        while self.eat_any(&["LOW_PRIORITY", "QUICK"]) {}
        let ignore = self.eat("IGNORE");
        if let Some(statement) = self.delete_history()? {
            return Ok(statement);
        }
        let mut targets = Vec::new();
        let from;
        if self.eat("FROM") {
            let names = self.list(Self::delete_target)?;
            if self.eat("USING") {
                targets = names;
                from = self.table_references()?;
            } else {
                from = self.single_table(names)?;
            }
        } else {
            targets = self.list(Self::delete_target)?;
            self.expect("FROM")?;
            from = self.table_references()?;
        }
        let filter = if self.eat("WHERE") { Some(self.expr()?) } else { None };
        // The form with targets has neither ORDER BY nor LIMIT.
        let (order_by, limit) = match targets.is_empty() {
            true => (self.order_by()?, self.limit()?),
            false => (Vec::new(), None),
        };
        self.returning()?;
        Ok(Statement::Delete(Delete { with: None, targets, from, filter, order_by, limit, ignore }))
    }

    /// Reads `t`, `s.t` or `t.*`.
    fn delete_target(&mut self) -> Result<TableName> {
        let name = self.name()?;
        let mut table = TableName { schema: None, name };
        while self.eat_symbol(".") {
            if self.eat_symbol("*") {
                break;
            }
            let name = self.any_name()?;
            table = TableName { schema: Some(table.name), name };
        }
        Ok(table)
    }

    fn single_table(&mut self, mut names: Vec<TableName>) -> Result<TableRef> {
        let (Some(name), true) = (names.pop(), names.is_empty()) else { return Err(self.error()) };
        // MySQL allows the partitions before and behind the alias.
        let mut partitions = self.partition_selection()?;
        let system_time = match self.portion()? {
            None => self.system_time()?,
            portion => portion,
        };
        let is_alias = self.is_name() && !(self.mode.of_source && self.is("RETURNING"));
        let alias = if self.eat("AS") || is_alias { Some(self.name()?) } else { None };
        if partitions.is_empty() {
            partitions = self.partition_selection()?;
        }
        Ok(TableRef::Table { name, alias, partitions, hints: Vec::new(), system_time })
    }
}
