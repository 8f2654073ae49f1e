//! Tests of BINLOG statements: what `mysqlbinlog` prints of a server's binary log brings another
//! server to the same state, single statements answer as in MySQL, and damaged ones do no harm.

mod answers;
mod damaged;
mod piped;
mod sent;
