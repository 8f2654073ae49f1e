//! The values of a statement's `?`: those that it is given, and those that a CALL gives back.

use types::{ColumnType, Value};

/// The values that stand for the parameters of the expressions of a statement that is not about
/// rows: of a prepared one, or of one within a program.
#[derive(Default)]
pub(crate) struct Arguments {
    pub values: Vec<Value>,
    /// Of a program's variables; none: the values are of a client.
    pub types: Vec<ColumnType>,
}

/// The value of a procedure's OUT parameter for which a prepared CALL has a `?`.
pub(crate) struct Returned {
    /// The number of the `?`.
    pub number: usize,
    /// The parameter's name and type.
    pub name: String,
    pub ty: ColumnType,
    pub value: Value,
}

/// The parameters of the statement that runs.
#[derive(Default)]
pub(crate) struct Parameters {
    pub arguments: Arguments,
    /// What a CALL has come to, until its EXECUTE has told the client of it.
    pub returned: Vec<Returned>,
    /// A prepared statement of the binary protocol runs, which has a result set for `returned`.
    pub tells_returned: bool,
}
