//! The variables of the server itself: network, files, accounts, logs.
//!
//! Names, scopes, ranges and defaults are MySQL 9.7's, as its manual gives them. Where a default
//! differs, it tells what this server does.

use crate::server::query_logs::Log;
use crate::variables::definition::Kind::{Bool, Collation, Enum, Text, UInt};
use crate::variables::definition::{Definition, Guard};
use crate::variables::definition::{global, own, session};
use crate::variables::server::{
    check_mandatory_roles, check_no_restrictions, follow_read_only, follow_super_read_only,
};
use sql::SqlError;

/// The collations that `default_collation_for_utf8mb4` may name.
const UTF8MB4_DEFAULTS: &[&str] = &["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"];

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("activate_all_roles_on_login", Bool, "OFF")
        .does("All granted roles are active when a session begins, not only the default ones."),
    global("auto_generate_certs", Bool, "ON")
        .read_only()
        .does("Certificates are made in the data directory when there are none."),
    global("back_log", UInt(0, 65_535), "151")
        .read_only()
        .kept("The system's own limit holds for connections that wait to be taken.")
        .differs(
            "MySQL shows max_connections plus some, up to 65535, of what it asks the \
             system for.",
        ),
    global("basedir", Text, "/").read_only().kept("The server is one file."),
    global("bind_address", Text, "127.0.0.1")
        .read_only()
        .does("The server listens at this address.")
        .differs(
            "MySQL's default is *. Here nobody but this machine is let in unless it is \
             said.",
        ),
    global("caching_sha2_password_digest_rounds", UInt(5_000, 4_095_000), "10000")
        .kept("Passwords are hashed with 10000 rounds."),
    session("character_set_client", Text, "utf8mb4").does("Statements arrive in this character set."),
    session("character_set_connection", Text, "utf8mb4").does("Literals have this character set."),
    session("character_set_database", Text, "utf8mb4")
        .guarded(Guard::Session)
        .kept("It tells a constant; what counts is the schema's own character set."),
    session("character_set_filesystem", Text, "binary")
        .guarded(Guard::Session)
        .kept("No statement names a file of the server."),
    session("character_set_results", Text, "utf8mb4")
        .does("Results are sent in this character set; NULL sends them as they are stored."),
    session("character_set_server", Text, "utf8mb4").does("New schemas have this character set."),
    global("character_set_system", Text, "utf8mb3")
        .read_only()
        .not_an_option()
        .does("It tells the character set of names."),
    global("character_sets_dir", Text, "").read_only().kept("Character sets are in the server."),
    session("collation_connection", Text, "utf8mb4_0900_ai_ci").does("Literals have this collation."),
    session("collation_database", Text, "utf8mb4_0900_ai_ci")
        .kept("It tells a constant; what counts is the schema's own collation."),
    session("collation_server", Text, "utf8mb4_0900_ai_ci").does("New schemas have this collation."),
    session("connection_memory_chunk_size", UInt(0, 536_870_912), "8192")
        .does(
            "What a connection keeps is counted in steps of that many bytes, and of 8 KB \
             at least.",
        )
        .differs("0 is allowed; MySQL 9.7 begins at 1."),
    session("connection_memory_limit", UInt(2_097_152, u64::MAX), "18446744073709551615")
        .does("A connection's statements may keep that many bytes; more is error 4082."),
    global("connect_timeout", UInt(2, 31_536_000), "10")
        .does("A connection that has not logged in after that many seconds is closed."),
    global("core_file", Bool, "OFF").read_only().kept("The server makes no core files of its own."),
    global("datadir", Text, "./data").read_only().does("The server's files are in this directory."),
    session("default_collation_for_utf8mb4", Collation(UTF8MB4_DEFAULTS), "utf8mb4_0900_ai_ci")
        .kept("It tells the default, which cannot be another one."),
    global("default_password_lifetime", UInt(0, 65_535), "0")
        .does("A password expires after that many days; 0 is never."),
    global("disconnect_on_expired_password", Bool, "ON")
        .read_only()
        .does("Clients that cannot change an expired password are refused."),
    global("general_log", Bool, "OFF")
        .does("Clients' commands and statements are written to the general log.")
        .entered(|server, s| server.query_logs.turn(&server.log_opening(), Log::General, s.is_on())),
    global("general_log_file", Text, "")
        .does("The general log is written to this file. A relative name is one in the data directory.")
        .entered(|server, s| server.query_logs.set_path(&server.log_opening(), Log::General, s.text())),
    session("generated_random_password_length", UInt(5, 255), "20")
        .does("A password made by IDENTIFIED BY RANDOM PASSWORD has that many characters."),
    global("global_connection_memory_limit", UInt(16_777_216, u64::MAX), "18446744073709551615")
        .does("The tracked connections together may keep that many bytes; more is error 4081.")
        .entered(|server, s| {
            server.memory.set_limit(s.uint());
            Ok(())
        }),
    session("global_connection_memory_tracking", Bool, "OFF")
        .does("What the session's statements keep counts for global_connection_memory_limit."),
    global("host_cache_size", UInt(0, 65_536), "279")
        .does(
            "performance_schema.host_cache keeps so many hosts; none is kept with 0. At start it is 128 and \
             max_connections up to 500, and a twentieth of what is above that.",
        )
        .differs("DEFAULT is 279 whatever max_connections was at start.")
        .entered(|server, s| {
            server.hosts.resize(s.uint() as usize);
            Ok(())
        }),
    global("hostname", Text, "").read_only().not_an_option().does("It tells the name of the machine."),
    global("http_address", Text, "")
        .read_only()
        .does(
            "The server answers /health, /ready, /metrics and, at /, a page for people by HTTP at this \
             address, HOST:PORT; empty is nowhere.",
        )
        .differs("It is this server's own."),
    global("http_password_file", Text, "")
        .read_only()
        .does(
            "The first line of this file, which is read at the start, is the password for /metrics. \
             A relative name is one in the data directory.",
        )
        .differs("It is this server's own."),
    global("http_user", Text, "")
        .read_only()
        .does(
            "/metrics asks for this user and the password in http_password_file; without both it \
             answers clients on this machine alone.",
        )
        .differs("It is this server's own."),
    global("init_connect", Text, "").does("Clients without CONNECTION_ADMIN begin with these statements."),
    session("interactive_timeout", UInt(1, 31_536_000), "28800")
        .does("An interactive client that is idle for that many seconds is disconnected."),
    session("lc_messages", Text, "en_US").kept("Messages are in English."),
    global("lc_messages_dir", Text, "").read_only().kept("Messages are in English."),
    session("lc_time_names", Text, "en_US")
        .does("DATE_FORMAT(), DAYNAME() and MONTHNAME() name days and months in the language of this locale.")
        .on_set(|_, s| match sql::locale::canonical_name(s.text()) {
            Some(_) => Ok(()),
            None => Err(SqlError::new(1649, format!("Unknown locale: '{}'", s.text()))),
        }),
    global("license", Text, "Apache-2.0")
        .read_only()
        .not_an_option()
        .does("It tells the licence of this server.")
        .differs("MySQL's is GPL."),
    global("local_infile", Bool, "OFF").does("LOAD DATA LOCAL may ask clients for files."),
    global("log_error", Text, "stderr")
        .read_only()
        .does("The error log goes to this file, or to standard error."),
    global("log_error_services", Text, "log_filter_internal; log_sink_internal")
        .kept("There is one filter and one sink."),
    global("log_error_suppression_list", Text, "").kept("No message is suppressed."),
    global("log_error_verbosity", UInt(1, 3), "2")
        .does("The error log has errors (1), warnings too (2), or notes too (3).")
        .on_set(|_, s| {
            crate::process::error_log::set_verbosity(s.uint() as u8);
            Ok(())
        }),
    global("log_output", Text, "FILE")
        .does(
            "The general log and the slow query log are written to their files (FILE), to mysql.general_log and \
             mysql.slow_log (TABLE), to both, or not at all (NONE).",
        )
        .entered(|server, s| server.query_logs.set_outputs(&server.log_opening(), s.text())),
    global("log_timestamps", Enum(&["UTC", "SYSTEM"]), "UTC").kept("Times in the logs are in UTC."),
    global("lower_case_file_system", Bool, "OFF")
        .read_only()
        .not_an_option()
        .does("It tells that names of files keep their case."),
    global("lower_case_table_names", UInt(0, 2), "0")
        .read_only()
        .does(
            "Names of tables keep their case; the server does not start with another value \
             than 0.",
        )
        .differs("1 and 2 are not there."),
    global("mandatory_roles", Text, "")
        .guarded(Guard::GlobalWithout(
            "ROLE_ADMIN",
            "SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN",
        ))
        .does("Everybody has these roles; none with SYSTEM_USER may be one (3880).")
        .checked(check_mandatory_roles, |server| server.accounts.touch()),
    session("max_allowed_packet", UInt(1_024, 1_073_741_824), "67108864")
        .guarded(Guard::GlobalOnly)
        .block(1024)
        .does("A packet, and the result of a function, may have that many bytes."),
    global("max_connect_errors", UInt(1, u64::MAX), "100").does(
        "A host with so many broken handshakes since its last good login is blocked (error 1129).",
    ),
    global("max_connections", UInt(1, 100_000), "151")
        .does("That many clients may be connected, and one more with CONNECTION_ADMIN."),
    global("max_prepared_stmt_count", UInt(0, 4_194_304), "16382")
        .does("All sessions together may have that many prepared statements."),
    session("max_user_connections", UInt(0, 4_294_967_295), "0").guarded(Guard::GlobalOnly).does(
        "An account may have that many connections, unless it has a limit of its own; \
             0 is no limit.",
    ),
    session("net_buffer_length", UInt(1_024, 1_048_576), "16384")
        .guarded(Guard::GlobalOnly)
        .block(1024)
        .kept("Buffers grow as they are needed."),
    session("net_read_timeout", UInt(1, 31_536_000), "30").does(
        "A client that is asked something within a command, as by COM_CHANGE_USER, and keeps still \
         for that many seconds is disconnected. How long a command is waited for is wait_timeout's.",
    ),
    session("net_retry_count", UInt(1, u64::MAX), "10")
        .kept("A read that a signal ends is always begun again."),
    session("net_write_timeout", UInt(1, 31_536_000), "60").does(
        "A client that reads nothing of what it is sent for that many seconds is \
             disconnected.",
    ),
    global("offline_mode", Bool, "OFF")
        .guarded(Guard::GlobalWith(
            "CONNECTION_ADMIN",
            "SYSTEM_VARIABLES_ADMIN plus CONNECTION_ADMIN or SUPER",
        ))
        .does("ON makes /ready of http_address answer that no clients are to be sent here.")
        .differs("Clients are neither refused nor sent away."),
    global("open_files_limit", UInt(0, 4_294_967_295), "0")
        .read_only()
        .kept("The process's own limit holds.")
        .differs("MySQL shows the limit of the process."),
    global("partial_revokes", Bool, "OFF")
        .does("Privileges can be revoked for single schemas.")
        .on_set(check_no_restrictions),
    global("password_history", UInt(0, 4_294_967_295), "0")
        .does("That many older passwords of an account may not be used again."),
    global("password_require_current", Bool, "OFF")
        .does("An account that changes its own password has to give the current one."),
    global("password_reuse_interval", UInt(0, 4_294_967_295), "0")
        .does("A password may not be used again before that many days are over."),
    global("persisted_globals_load", Bool, "ON")
        .read_only()
        .does("The values that SET PERSIST has kept are put into force at the start."),
    global("pid_file", Text, "").read_only().does("The number of the process is written to this file."),
    global("plugin_dir", Text, "").read_only().kept("There are no plugins."),
    global("port", UInt(0, 65_535), "3306").read_only().does("The server listens at this TCP port."),
    session("print_identified_with_as_hex", Bool, "OFF")
        .does("SHOW CREATE USER writes hashes in hexadecimal."),
    global("protocol_version", UInt(0, 4_294_967_295), "10")
        .read_only()
        .not_an_option()
        .does("It tells the version of the client protocol."),
    own("pseudo_replica_mode", Bool, "OFF")
        .guarded(Guard::Applier)
        .not_an_option()
        .kept("It is read back; the text that mysqlbinlog writes sets it."),
    own("pseudo_slave_mode", Bool, "OFF")
        .guarded(Guard::Applier)
        .not_an_option()
        .kept("It is read back; the text that mysqlbinlog writes sets it."),
    own("pseudo_thread_id", UInt(0, 4_294_967_295), "0")
        .guarded(Guard::Session)
        .not_an_option()
        .kept("It is read back; the text that mysqlbinlog writes sets it."),
    global("read_only", Bool, "OFF")
        .does("Accounts without CONNECTION_ADMIN may not change anything.")
        .after(follow_read_only),
    global("regexp_stack_limit", UInt(0, 2_147_483_647), "8000000")
        .does("A match of a regular expression that goes back too often ends with error 3698.")
        .differs("The library keeps no stack that could be measured: two bytes are one step back."),
    global("regexp_time_limit", UInt(0, 2_147_483_647), "32")
        .does("A match of a regular expression that takes longer ends with error 3699.")
        .differs(
            "The steps of the library are counted, a hundred thousand for each of ICU's units; 0 and \
             numbers over 256 mean 256.",
        ),
    global("require_secure_transport", Bool, "OFF").does("Clients have to use TLS or the Unix socket."),
    global("secure_file_priv", Text, "NULL")
        .read_only()
        .does("Statements read and write files of the server below it only; NULL: nowhere.")
        .differs("MySQL's default depends on how it was built."),
    session("session_track_gtids", Enum(&["OFF", "OWN_GTID", "ALL_GTIDS"]), "OFF")
        .kept("GTIDs are not told with answers."),
    session("session_track_schema", Bool, "ON").does("A changed schema is told with the answer."),
    session("session_track_state_change", Bool, "OFF").kept("State changes are not told with answers."),
    session(
        "session_track_system_variables",
        Text,
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
    )
    .kept("Variables are not told with answers."),
    session("session_track_transaction_info", Enum(&["OFF", "STATE", "CHARACTERISTICS"]), "OFF")
        .kept("Transactions are not told with answers."),
    global("skip_external_locking", Bool, "ON")
        .read_only()
        .not_an_option()
        .kept("Files are locked by the data directory's lock alone."),
    global("skip_name_resolve", Bool, "OFF").read_only().does(
        "Clients are known by their addresses alone: host names are not looked up, not even that of 127.0.0.1.",
    ),
    global("skip_networking", Bool, "OFF").read_only().does("The server listens at the Unix socket only."),
    global("skip_show_database", Bool, "OFF")
        .read_only()
        .kept("SHOW DATABASES shows what the account may see."),
    global("slow_launch_time", UInt(0, 31_536_000), "2").does(
        "A connection's thread that runs more than that many seconds after the connection came is counted in Slow_launch_threads.",
    ),
    global("slow_query_log", Bool, "OFF")
        .does("Statements that take long_query_time seconds are written to the slow query log.")
        .entered(|server, s| server.query_logs.turn(&server.log_opening(), Log::Slow, s.is_on())),
    global("slow_query_log_file", Text, "")
        .does("The slow query log is written to this file. A relative name is one in the data directory.")
        .entered(|server, s| server.query_logs.set_path(&server.log_opening(), Log::Slow, s.text())),
    global("socket", Text, "/tmp/mysql.sock").read_only().does("The server listens at this Unix socket."),
    global("ssl_ca", Text, "")
        .read_only()
        .does("Certificates of clients are checked against those in this file.")
        .differs(
            "It cannot be changed while the server runs, because certificates are read at \
             start.",
        ),
    global("ssl_cert", Text, "").read_only().does("This file has the server's certificate.").differs(
        "It cannot be changed while the server runs, because certificates are read at \
             start.",
    ),
    global("ssl_cipher", Text, "")
        .read_only()
        .kept("The ciphers are those of the library, all of which are good.")
        .differs("It cannot be set, because it would have no effect."),
    global("ssl_key", Text, "")
        .read_only()
        .does("This file has the key of the server's certificate.")
        .differs(
            "It cannot be changed while the server runs, because certificates are read at \
             start.",
        ),
    global("super_read_only", Bool, "OFF")
        .does("Nobody may change anything, but the applier; ON sets read_only too.")
        .after(follow_super_read_only),
    global("system_time_zone", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the time zone that SYSTEM means: that of TZ, else of the machine."),
    global("thread_cache_size", UInt(0, 16_384), "0")
        .kept("A connection's thread ends with it.")
        .differs("MySQL's default follows from max_connections."),
    global(
        "thread_handling",
        Enum(&["one-thread-per-connection", "no-threads", "loaded-dynamically"]),
        "one-thread-per-connection",
    )
    .read_only()
    .not_an_option()
    .does("It tells that each connection has a thread."),
    global("thread_stack", UInt(131_072, 18_446_744_073_709_550_592), "1048576")
        .read_only()
        .kept("The stack of a connection's thread has a fixed size."),
    global("tls_ciphersuites", Text, "")
        .read_only()
        .kept("The ciphers are those of the library, all of which are good.")
        .differs("It cannot be set, because it would have no effect."),
    global("tls_version", Text, "TLSv1.2,TLSv1.3")
        .read_only()
        .does("Empty leaves TLS out; otherwise TLS 1.2 and 1.3 are there.")
        .differs(
            "One of the two versions alone cannot be chosen, and nothing can be changed \
             while the server runs.",
        ),
    global("tmpdir", Text, "/tmp").read_only().does("Sorts of index builds, and what queries have no memory for, go to files in this directory."),
    global("version", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells which release of MySQL the server stands in for."),
    global("version_announced", Text, "")
        .read_only()
        .does(
            "The server tells clients and replicas this version, such as 8.4.6, as its own; \
             empty is its real one. Releases of MySQL 8 and 9 can be told.",
        )
        .differs("It is this server's own."),
    global("version_comment", Text, "").read_only().not_an_option().does("It tells the name of this server."),
    global("version_compile_machine", Text, "")
        .read_only()
        .not_an_option()
        .does("It tells the processor's architecture."),
    global("version_compile_os", Text, "").read_only().not_an_option().does("It tells the operating system."),
    global("version_compile_zlib", Text, "").read_only().not_an_option().kept("It is empty."),
    session("wait_timeout", UInt(1, 31_536_000), "28800")
        .does("A client that is idle for that many seconds is disconnected."),
];
