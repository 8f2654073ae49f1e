//! The values of a statement's `?`: those that it is given, and those that a CALL returns.

use types::{ColumnType, Value};

/// The values of the parameters in the expressions of a statement that is not about rows. The
/// statement is a prepared one, or one of a program.
#[derive(Default)]
pub(crate) struct Arguments {
    pub values: Vec<Value>,
    /// The types of the program's variables. Empty means that the values come from a client.
    pub types: Vec<ColumnType>,
}

/// The value of a procedure's OUT parameter for which a prepared CALL has a `?`.
pub(crate) struct Returned {
    /// The position of the `?`, from 0 on.
    pub number: usize,
    /// The name of the parameter, and below its type.
    pub name: String,
    pub ty: ColumnType,
    pub value: Value,
}

/// The parameters of the running statement.
#[derive(Default)]
pub(crate) struct Parameters {
    pub arguments: Arguments,
    /// The values that a CALL returns, until EXECUTE has passed them to the client.
    pub returned: Vec<Returned>,
    /// Whether a prepared statement of the binary protocol is running, which sends `returned` as a
    /// result set.
    pub tells_returned: bool,
}
