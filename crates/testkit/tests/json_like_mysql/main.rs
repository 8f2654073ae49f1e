//! JSON beside MySQL's: values, types, errors and warnings of all functions. The real MySQL is
//! asked the same.

mod beside;
mod chosen;
mod functions;
mod random;
mod replicated;
mod schemas;

mod table;
