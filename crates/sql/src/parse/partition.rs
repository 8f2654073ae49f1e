//! Parsing of `PARTITION BY`, of ALTER TABLE's operations on partitions, and of `PARTITION (p,
//! ...)` behind a table.

use super::Parser;
use crate::SqlError;
use crate::ast::{
    Maintenance, PartitionAlteration, PartitionElement, PartitionFunctionSpec, PartitionNames, PartitionSpec,
    PartitionValue, PartitionValues,
};
use crate::error::Result;
use engine::PartitionKind;

/// MySQL's limit for the number of partitions of a table, including subpartitions.
pub(crate) const MOST_PARTITIONS: u64 = 8192;

impl Parser<'_> {
    /// Reads `PARTITION BY ...`. `None` if something else follows.
    pub(super) fn partition_by(&mut self) -> Result<Option<Box<PartitionSpec>>> {
        if !self.are(&["PARTITION", "BY"]) {
            return Ok(None);
        }
        self.at += 2;
        let by = self.partition_function(true)?;
        let count = self.partition_count("PARTITIONS")?;
        let sub = match self.eat_all(&["SUBPARTITION", "BY"]) {
            true => Some((self.partition_function(false)?, self.partition_count("SUBPARTITIONS")?)),
            false => None,
        };
        let partitions = match self.is_symbol("(") {
            true => self.parenthesized(Self::partition_element)?,
            false => Vec::new(),
        };
        if let Some(count) = count
            && !partitions.is_empty()
            && count != partitions.len() as u64
        {
            return Err(self.error());
        }
        Ok(Some(Box::new(PartitionSpec { by, count, sub, partitions })))
    }

    fn partition_function(&mut self, is_first: bool) -> Result<PartitionFunctionSpec> {
        let linear = self.eat("LINEAR");
        let kind = match self.upper().as_str() {
            "RANGE" if is_first && !linear => PartitionKind::Range,
            "LIST" if is_first && !linear => PartitionKind::List,
            "HASH" => PartitionKind::Hash,
            "KEY" => PartitionKind::Key,
            "SYSTEM_TIME" if is_first && !linear => return self.partition_by_system_time(),
            _ => return Err(self.error()),
        };
        self.advance();
        let mut function =
            PartitionFunctionSpec { kind, linear, algorithm_1: false, expression: None, columns: Vec::new() };
        let is_key = kind == PartitionKind::Key;
        if is_key && self.eat("ALGORITHM") {
            self.eat_symbol("=");
            function.algorithm_1 = match self.unsigned()? {
                1 => true,
                2 => false,
                _ => return Err(self.error()),
            };
        }
        if is_key || (kind != PartitionKind::Hash && self.eat("COLUMNS")) {
            self.expect_symbol("(")?;
            if !(is_key && self.is_symbol(")")) {
                function.columns = self.list(Self::name)?;
            }
            self.expect_symbol(")")?;
        } else {
            function.expression = Some(self.written_expr()?);
        }
        Ok(function)
    }

    fn partition_count(&mut self, word: &str) -> Result<Option<u64>> {
        if !self.eat(word) {
            return Ok(None);
        }
        let what = word.to_ascii_lowercase();
        match self.unsigned()? {
            0 => Err(SqlError::new(1504, format!("Number of {what} = 0 is not an allowed value"))),
            count if count > MOST_PARTITIONS => Err(too_many()),
            count => Ok(Some(count)),
        }
    }

    fn partition_element(&mut self) -> Result<PartitionElement> {
        self.expect("PARTITION")?;
        let name = self.name()?;
        let values = self.partition_values()?;
        let options = self.partition_options()?;
        let subpartitions = match self.is_symbol("(") {
            true => self.parenthesized(|parser| {
                parser.expect("SUBPARTITION")?;
                Ok((parser.name()?, parser.partition_options()?))
            })?,
            false => Vec::new(),
        };
        Ok(PartitionElement { name, values, options, subpartitions })
    }

    fn partition_values(&mut self) -> Result<PartitionValues> {
        for word in ["HISTORY", "CURRENT", "DEFAULT"] {
            if self.eat(word) {
                return Ok(PartitionValues::Word(word));
            }
        }
        if !self.eat("VALUES") {
            return Ok(PartitionValues::None);
        }
        if self.eat("IN") {
            let is_default = self.is_symbol("(") && self.token_is(self.ahead(1), "DEFAULT");
            if is_default && self.symbol_ahead(2, ")") {
                self.at += 3;
                return Ok(PartitionValues::Word("DEFAULT"));
            }
            let values = self.parenthesized(|parser| match parser.is_symbol("(") {
                true => parser.parenthesized(Self::partition_value),
                false => Ok(vec![parser.partition_value()?]),
            })?;
            return Ok(PartitionValues::In(values));
        }
        self.expect_all(&["LESS", "THAN"])?;
        match self.eat("MAXVALUE") {
            true => Ok(PartitionValues::LessThan(vec![PartitionValue::Max])),
            false => Ok(PartitionValues::LessThan(self.parenthesized(Self::partition_value)?)),
        }
    }

    fn partition_value(&mut self) -> Result<PartitionValue> {
        match self.eat("MAXVALUE") {
            true => Ok(PartitionValue::Max),
            false => Ok(PartitionValue::Of(self.expr()?)),
        }
    }

    /// Reads the options of a partition.
    fn partition_options(&mut self) -> Result<Vec<(String, String)>> {
        let mut options = Vec::new();
        loop {
            let storage = self.eat("STORAGE");
            let name = match self.upper().as_str() {
                name @ ("ENGINE" | "COMMENT" | "MAX_ROWS" | "MIN_ROWS" | "TABLESPACE" | "NODEGROUP")
                    if name == "ENGINE" || !storage =>
                {
                    name.to_owned()
                }
                name @ ("DATA" | "INDEX") if self.token_is(self.ahead(1), "DIRECTORY") => {
                    let name = format!("{name} DIRECTORY");
                    self.advance();
                    name
                }
                _ if storage => return Err(self.error()),
                _ => return Ok(options),
            };
            self.advance();
            self.eat_symbol("=");
            let value = self.option_value()?;
            // There is only one engine.
            match name.as_str() {
                "ENGINE" => {}
                "COMMENT" => {
                    let value = self.kept_as_comment(value);
                    options.push((name, value));
                }
                "DATA DIRECTORY" if !value.ends_with('/') => options.push((name, format!("{value}/"))),
                _ => options.push((name, value)),
            }
        }
    }

    /// Reads `PARTITION (p, ...)` behind a table's name. Empty if something else follows.
    pub(super) fn partition_selection(&mut self) -> Result<Vec<String>> {
        match self.eat("PARTITION") {
            true => self.parenthesized(Self::name),
            false => Ok(Vec::new()),
        }
    }

    fn partition_names(&mut self) -> Result<PartitionNames> {
        match self.eat("ALL") {
            true => Ok(PartitionNames::All),
            false => Ok(PartitionNames::Of(self.list(Self::name)?)),
        }
    }

    /// Reads `PARTITION BY` or `REMOVE PARTITIONING` at the end of ALTER TABLE. `None` if something
    /// else follows.
    pub(super) fn repartitioning(&mut self) -> Result<Option<PartitionAlteration>> {
        let made = match self.eat_all(&["REMOVE", "PARTITIONING"]) {
            true => Some(PartitionAlteration::Remove),
            false => self.partition_by()?.map(PartitionAlteration::By),
        };
        if made.is_some() && !self.at_end() {
            return Err(self.error());
        }
        Ok(made)
    }

    /// Reads `ANALYZE PARTITION` and the like, which this server applies to the whole table. `None`
    /// if something else follows.
    pub(super) fn partition_maintenance(&mut self) -> Result<Option<Maintenance>> {
        let what = match self.upper().as_str() {
            "ANALYZE" => Maintenance::Analyze,
            "CHECK" => Maintenance::Check,
            "OPTIMIZE" => Maintenance::Optimize,
            "REPAIR" => Maintenance::Repair,
            _ => return Ok(None),
        };
        if !self.token_is(self.ahead(1), "PARTITION") {
            return Ok(None);
        }
        self.at += 2;
        let _ = self.eat_any(&["NO_WRITE_TO_BINLOG", "LOCAL"]);
        self.partition_names()?;
        while self.eat_any(&["QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM"])
            || self.eat_all(&["FOR", "UPGRADE"])
        {}
        if self.at_end() { Ok(Some(what)) } else { Err(self.error()) }
    }

    /// Reads an operation of ALTER TABLE that concerns partitions only. `None` if something else
    /// follows.
    pub(super) fn partition_alteration(&mut self) -> Result<Option<PartitionAlteration>> {
        if let Some(conversion) = self.partition_conversion()? {
            return Ok(Some(conversion));
        }
        let word = self.upper();
        let known = ["ADD", "DROP", "TRUNCATE", "COALESCE", "REORGANIZE", "EXCHANGE", "REBUILD"];
        if !known.contains(&word.as_str()) || !self.token_is(self.ahead(1), "PARTITION") {
            return Ok(None);
        }
        self.at += 2;
        // MariaDB allows IF EXISTS or IF NOT EXISTS here.
        let is_conditional = self.mode.of_source && (self.if_exists() || self.if_not_exists());
        let _ = self.eat_any(&["NO_WRITE_TO_BINLOG", "LOCAL"]);
        let alteration = match word.as_str() {
            "ADD" if self.eat("PARTITIONS") => PartitionAlteration::AddCount(self.unsigned()?),
            "ADD" => PartitionAlteration::Add(self.parenthesized(Self::partition_element)?),
            "DROP" => PartitionAlteration::Drop(self.list(Self::name)?),
            "TRUNCATE" => PartitionAlteration::Truncate(self.partition_names()?),
            "COALESCE" => PartitionAlteration::Coalesce(self.unsigned()?),
            "REORGANIZE" if !self.is_name() => PartitionAlteration::Reorganize(Vec::new(), Vec::new()),
            "REORGANIZE" => {
                let names = self.list(Self::name)?;
                self.expect("INTO")?;
                PartitionAlteration::Reorganize(names, self.parenthesized(Self::partition_element)?)
            }
            "EXCHANGE" => self.exchange()?,
            _ => PartitionAlteration::Rebuild(self.partition_names()?),
        };
        Ok(Some(match is_conditional {
            true => PartitionAlteration::Conditional(Box::new(alteration)),
            false => alteration,
        }))
    }

    /// Reads MariaDB's `CONVERT PARTITION ... TO TABLE` or `CONVERT TABLE ... TO PARTITION`. `None`
    /// if something else follows.
    fn partition_conversion(&mut self) -> Result<Option<PartitionAlteration>> {
        if !self.mode.of_source {
            return Ok(None);
        }
        if self.eat_all(&["CONVERT", "PARTITION"]) {
            let partition = self.name()?;
            self.expect_all(&["TO", "TABLE"])?;
            return Ok(Some(PartitionAlteration::ToTable { partition, table: self.table_name()? }));
        }
        if self.eat_all(&["CONVERT", "TABLE"]) {
            let table = self.table_name()?;
            self.expect("TO")?;
            let element = Box::new(self.partition_element()?);
            let _ = self.eat_any(&["WITH", "WITHOUT"]) && self.eat("VALIDATION");
            return Ok(Some(PartitionAlteration::FromTable { table, element }));
        }
        Ok(None)
    }

    fn exchange(&mut self) -> Result<PartitionAlteration> {
        let partition = self.name()?;
        self.expect_all(&["WITH", "TABLE"])?;
        let table = self.table_name()?;
        let validates = !self.eat_all(&["WITHOUT", "VALIDATION"]);
        let _ = validates && self.eat_all(&["WITH", "VALIDATION"]);
        Ok(PartitionAlteration::Exchange { partition, table, validates })
    }
}

/// Builds error 1499 (`ER_TOO_MANY_PARTITIONS_ERROR`).
pub(crate) fn too_many() -> SqlError {
    SqlError::new(1499, "Too many partitions (including subpartitions) were defined")
}
