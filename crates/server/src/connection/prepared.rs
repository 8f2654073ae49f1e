//! A connection's prepared statements, as the protocol sees them: parameter types that are
//! remembered, and parameters that arrive in parts.

use crate::connection::cells::parameter_value;
use crate::connection::sent_columns::SentColumns;
use protocol::column::field_type;
use protocol::statement::decode_parameters;
use protocol::wire::{Malformed, Reader};
use sql::SqlError;
use sql::memory::{Budget, Charge, out_of_memory};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// One prepared statement.
#[derive(Debug)]
pub struct PreparedStatement {
    /// The statement's text, for SHOW PROCESSLIST.
    pub text: Arc<str>,
    /// The number of parameters.
    pub parameters: usize,
    /// The definitions of the columns of the last result. `None` while the statement runs.
    pub sent_columns: Option<SentColumns>,
    /// The type code and the unsigned flag of each parameter, from the last execution that sent
    /// them.
    types: Vec<(u8, bool)>,
    /// The parameters that came by COM_STMT_SEND_LONG_DATA, by index.
    long_data: BTreeMap<usize, Vec<u8>>,
    /// The charge for the memory of `long_data`.
    charge: Charge,
    /// The error of long data. That command has no answer, so every execution fails with the error
    /// until the statement is reset.
    long_data_error: Option<SqlError>,
}

/// Builds error 1243, which says that there is no such statement, in the form that all commands of
/// the protocol have.
pub fn unknown_statement(id: u32) -> SqlError {
    SqlError::new(1243, format!("Unknown prepared statement handler ({id}) given to mysql_stmt_precheck"))
}

impl PreparedStatement {
    /// Builds a statement with this many parameters.
    pub fn new(text: &str, parameters: usize, memory: &Arc<Budget>) -> Self {
        let (types, long_data) = (Vec::new(), BTreeMap::new());
        let charge = Charge::new(memory);
        PreparedStatement {
            text: text.into(),
            parameters,
            sent_columns: Some(SentColumns::new(memory)),
            types,
            long_data,
            charge,
            long_data_error: None,
        }
    }

    /// Takes a part of a parameter. The whole parameter may have at most `limit_bytes`.
    pub fn send_long_data(&mut self, index: usize, part: &[u8], limit_bytes: usize) {
        if self.long_data_error.is_some() {
            return;
        }
        if index >= self.parameters {
            self.long_data_error = Some(SqlError::new(1210, "Incorrect arguments to mysql_stmt_precheck"));
            return;
        }
        let data = self.long_data.entry(index).or_default();
        if data.len() + part.len() > limit_bytes {
            let text = "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                        'max_allowed_packet' bytes";
            self.long_data_error = Some(SqlError::new(1105, text));
            return;
        }
        let needed = data.len() + part.len();
        if needed > data.capacity() {
            // The capacity is doubled, so that many small parts are not copied each time.
            let grown = needed.max(2 * data.capacity()).min(limit_bytes);
            let charged = self.charge.add(grown - data.capacity());
            let has_room = charged
                .and_then(|()| data.try_reserve_exact(grown - data.len()).map_err(|_| out_of_memory()));
            if let Err(e) = has_room {
                self.reset();
                self.long_data_error = Some(e);
                return;
            }
        }
        assert!(data.capacity() >= needed, "what the part needs has been charged");
        data.extend_from_slice(part);
    }

    /// Drops the parts of parameters and their error (COM_STMT_RESET).
    pub fn reset(&mut self) {
        self.long_data.clear();
        self.charge.clear();
        self.long_data_error = None;
    }

    /// Notes that an execution has ended, which has used up long data.
    pub fn executed(&mut self) {
        assert!(
            self.long_data.keys().all(|index| *index < self.parameters),
            "data of a parameter that is there"
        );
        if self.long_data.is_empty() {
            self.charge.clear();
        }
    }

    /// Returns the parameters of an execution: those that `r` holds, and those that arrived before.
    pub fn parameters(&mut self, r: &mut Reader<'_>) -> Result<Result<Vec<Value>, SqlError>, Malformed> {
        if let Some(error) = &self.long_data_error {
            return Ok(Err(error.clone()));
        }
        let mut values: Vec<Value> = Value::nulls(self.parameters);
        let is_long = |i| !self.long_data.is_empty() && self.long_data.contains_key(&i);
        decode_parameters(r, self.parameters, &mut self.types, is_long, |i, v| {
            values[i] = parameter_value(v)
        })?;
        assert!(
            self.types.is_empty() || self.types.len() == self.parameters,
            "each parameter has a type, once a client has sent them"
        );
        for (value, (code, _)) in values.iter_mut().zip(&self.types) {
            if let (field_type::DECIMAL | field_type::NEWDECIMAL, Value::Bytes(text)) = (*code, &*value) {
                *value = Value::Decimal(types::Decimal::parse_prefix(text).number);
            }
        }
        if !self.long_data.is_empty() {
            for (i, data) in std::mem::take(&mut self.long_data) {
                values[i] = Value::Bytes(data);
            }
        }
        Ok(Ok(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::scalar::Scalar;
    use protocol::statement::{decode_execute_head, put_execute};

    #[test]
    fn parts_stand_in_for_their_parameter_once() {
        let mut statement = PreparedStatement::new("", 2, &Budget::new(Arc::default()));
        statement.send_long_data(1, b"ab", 100);
        statement.send_long_data(1, b"cd", 100);
        let mut body = Vec::new();
        put_execute(1, &[Scalar::Int(5), Scalar::Null], &mut body);
        let execute = |s: &mut PreparedStatement| {
            let mut r = Reader::new(&body);
            decode_execute_head(&mut r).unwrap();
            s.parameters(&mut r).unwrap()
        };
        assert_eq!(execute(&mut statement).unwrap(), [Value::Int(5), Value::Bytes(b"abcd".to_vec())]);
        assert_eq!(execute(&mut statement).unwrap(), [Value::Int(5), Value::Null]);
        statement.send_long_data(0, b"too long", 3);
        assert_eq!(execute(&mut statement).unwrap_err().code, 1105);
        // The error stays, whatever comes, until the statement is reset.
        statement.send_long_data(0, b"x", 3);
        assert_eq!(execute(&mut statement).unwrap_err().code, 1105);
        statement.reset();
        statement.send_long_data(2, b"x", 3);
        assert_eq!(execute(&mut statement).unwrap_err().code, 1210);
        statement.send_long_data(2, b"x", 3);
        statement.reset();
        execute(&mut statement).unwrap();
    }
}
