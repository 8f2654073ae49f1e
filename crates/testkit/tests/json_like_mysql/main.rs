//! Tests of JSON, compared with MySQL: values, types, errors and warnings of all functions. A real
//! MySQL gets the same statements and must answer the same.

mod beside;
mod chosen;
mod functions;
mod moments;
mod random;
mod replicated;
mod schemas;

mod table;
