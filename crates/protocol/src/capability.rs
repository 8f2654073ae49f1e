//! The capability flags (`CLIENT_*`) and server status flags (`SERVER_*`), with MySQL's values.

/// The bits of the capability exchange in the connection phase.
pub type Capabilities = u32;

/// The old long-password bit. MariaDB servers clear it to announce their own extensions, so servers
/// like MySQL's set it.
pub const LONG_PASSWORD: Capabilities = 1;
/// `affected_rows` counts matched rows instead of changed ones.
pub const FOUND_ROWS: Capabilities = 1 << 1;
/// All column flags are sent.
pub const LONG_FLAG: Capabilities = 1 << 2;
/// The handshake response names a schema.
pub const CONNECT_WITH_DB: Capabilities = 1 << 3;
/// The stream may be compressed with zlib.
pub const COMPRESS: Capabilities = 1 << 5;
/// The stream may be compressed with zstd. The client says the level.
pub const ZSTD_COMPRESSION: Capabilities = 1 << 26;
/// The client can send a file for `LOAD DATA LOCAL INFILE`.
pub const LOCAL_FILES: Capabilities = 1 << 7;
/// Spaces are allowed before the parenthesis of a function call.
pub const IGNORE_SPACE: Capabilities = 1 << 8;
/// The 4.1 protocol, which is the only one that this crate speaks.
pub const PROTOCOL_41: Capabilities = 1 << 9;
/// `interactive_timeout` applies instead of `wait_timeout`.
pub const INTERACTIVE: Capabilities = 1 << 10;
/// The connection may change to TLS.
pub const SSL: Capabilities = 1 << 11;
/// The client understands the status flags of OK packets.
pub const TRANSACTIONS: Capabilities = 1 << 13;
/// The authentication of 4.1, with scrambles of 20 bytes.
pub const SECURE_CONNECTION: Capabilities = 1 << 15;
/// One COM_QUERY may have several statements.
pub const MULTI_STATEMENTS: Capabilities = 1 << 16;
/// One COM_QUERY may have several result sets.
pub const MULTI_RESULTS: Capabilities = 1 << 17;
/// One COM_STMT_EXECUTE may have several result sets.
pub const PS_MULTI_RESULTS: Capabilities = 1 << 18;
/// The packets name authentication plugins.
pub const PLUGIN_AUTH: Capabilities = 1 << 19;
/// The handshake response carries connection attributes.
pub const CONNECT_ATTRS: Capabilities = 1 << 20;
/// The authentication response has a length-encoded length.
pub const PLUGIN_AUTH_LENENC_CLIENT_DATA: Capabilities = 1 << 21;
/// The client can be let in with an expired password, only to change it.
pub const CAN_HANDLE_EXPIRED_PASSWORDS: Capabilities = 1 << 22;
/// OK packets may carry session state changes.
pub const SESSION_TRACK: Capabilities = 1 << 23;
/// Result sets end with an OK packet of header 0xFE, and no EOF follows the columns.
pub const DEPRECATE_EOF: Capabilities = 1 << 24;
/// The client can ask for result sets without column definitions. This is not supported here.
pub const OPTIONAL_RESULTSET_METADATA: Capabilities = 1 << 25;

/// A transaction is active.
pub const STATUS_IN_TRANS: u16 = 1;
/// Autocommit mode is on.
pub const STATUS_AUTOCOMMIT: u16 = 2;
/// Another result set follows.
pub const STATUS_MORE_RESULTS: u16 = 8;
/// A cursor is open. This flag is never set here, since cursors are not opened.
pub const STATUS_CURSOR_EXISTS: u16 = 64;
/// The statement dropped a schema.
pub const STATUS_DB_DROPPED: u16 = 256;
/// `NO_BACKSLASH_ESCAPES` is in effect.
pub const STATUS_NO_BACKSLASH_ESCAPES: u16 = 512;
/// A read-only transaction is active.
pub const STATUS_IN_TRANS_READONLY: u16 = 1 << 13;
/// The OK packet carries session state changes.
pub const STATUS_SESSION_STATE_CHANGED: u16 = 1 << 14;
