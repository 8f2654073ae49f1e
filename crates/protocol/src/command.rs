//! The command bytes (`COM_*`), which are the first byte of a packet in the command phase.

/// Closes the connection.
pub const QUIT: u8 = 0x01;
/// Changes the current schema.
pub const INIT_DB: u8 = 0x02;
/// Runs statements, with the text protocol.
pub const QUERY: u8 = 0x03;
/// Lists the columns of a table (deprecated, still sent by command-line clients).
pub const FIELD_LIST: u8 = 0x04;
/// Ends the server (deprecated; removed in MySQL 8.0, still sent by MariaDB's and older clients).
pub const SHUTDOWN: u8 = 0x08;
/// Asks for a short status line for people.
pub const STATISTICS: u8 = 0x09;
/// Kills a connection (deprecated; removed in MySQL 8.4, kept for old tools).
pub const PROCESS_KILL: u8 = 0x0c;
/// Dumps debug information to the error log.
pub const DEBUG: u8 = 0x0d;
/// Answers OK when the server is alive.
pub const PING: u8 = 0x0e;
/// Authenticates again on the same connection.
pub const CHANGE_USER: u8 = 0x11;
/// Streams binary log events from a file and position.
pub const BINLOG_DUMP: u8 = 0x12;
/// Introduces a replica.
pub const REGISTER_SLAVE: u8 = 0x15;
/// Prepares a statement.
pub const STMT_PREPARE: u8 = 0x16;
/// Executes a prepared statement, with the binary protocol.
pub const STMT_EXECUTE: u8 = 0x17;
/// Sends a part of a long parameter. There is no answer.
pub const STMT_SEND_LONG_DATA: u8 = 0x18;
/// Deallocates a prepared statement. There is no answer.
pub const STMT_CLOSE: u8 = 0x19;
/// Resets a prepared statement: its long data and its cursor.
pub const STMT_RESET: u8 = 0x1a;
/// Turns multi-statements on or off.
pub const SET_OPTION: u8 = 0x1b;
/// Fetches rows of a cursor.
pub const STMT_FETCH: u8 = 0x1c;
/// Streams binary log events, by a GTID set.
pub const BINLOG_DUMP_GTID: u8 = 0x1e;
/// Copies the server's data to another server.
pub const CLONE: u8 = 0x20;
/// Resets the session without authenticating again.
pub const RESET_CONNECTION: u8 = 0x1f;
