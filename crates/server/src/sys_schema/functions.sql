-- Functions that format values, and functions that look at performance_schema.

== function format_bytes
(bytes TEXT) RETURNS text CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Shows a number of bytes with a unit.'
RETURN format_bytes(bytes)

== function format_time
(picoseconds TEXT) RETURNS text CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Shows a number of picoseconds with a unit, in the words of earlier releases.'
BEGIN
  DECLARE n DOUBLE DEFAULT picoseconds + 0;
  RETURN CASE
    WHEN picoseconds IS NULL THEN NULL
    WHEN n >= 604800e12 THEN CONCAT(ROUND(n / 604800e12, 2), ' w')
    WHEN n >= 86400e12 THEN CONCAT(ROUND(n / 86400e12, 2), ' d')
    WHEN n >= 3600e12 THEN CONCAT(ROUND(n / 3600e12, 2), ' h')
    WHEN n >= 60e12 THEN CONCAT(ROUND(n / 60e12, 2), ' m')
    WHEN n >= 1e12 THEN CONCAT(ROUND(n / 1e12, 2), ' s')
    WHEN n >= 1e9 THEN CONCAT(ROUND(n / 1e9, 2), ' ms')
    WHEN n >= 1e6 THEN CONCAT(ROUND(n / 1e6, 2), ' us')
    WHEN n >= 1e3 THEN CONCAT(ROUND(n / 1e3, 2), ' ns')
    ELSE CONCAT(picoseconds, ' ps')
  END;
END

== function sys_get_config
(in_variable_name VARCHAR(128), in_default_value VARCHAR(128)) RETURNS varchar(128) CHARSET utf8mb4
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Returns a setting of sys_config, or the given value if there is none.'
RETURN COALESCE((SELECT c.value FROM sys.sys_config c WHERE c.variable = in_variable_name), in_default_value)

== function format_statement
(statement LONGTEXT) RETURNS longtext CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Shortens a statement to the setting statement_truncate_len.'
BEGIN
  DECLARE half INT;
  SET @sys.statement_truncate_len =
    COALESCE(@sys.statement_truncate_len, sys.sys_get_config('statement_truncate_len', 64));
  IF CHAR_LENGTH(statement) <= @sys.statement_truncate_len THEN
    RETURN REPLACE(statement, '\n', ' ');
  END IF;
  SET half = @sys.statement_truncate_len / 2 - 2;
  RETURN REPLACE(CONCAT(LEFT(statement, half), ' ... ', RIGHT(statement, half)), '\n', ' ');
END

== function format_path
(in_path VARCHAR(512)) RETURNS varchar(512) CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Replaces the beginning of a path by the variable that has it.'
BEGIN
  DECLARE path VARCHAR(512) DEFAULT REPLACE(in_path, '\\', '/');
  DECLARE undo_directory VARCHAR(512) DEFAULT (
    SELECT v.variable_value FROM performance_schema.global_variables v
    WHERE v.variable_name = 'innodb_undo_directory');
  RETURN CASE
    WHEN in_path IS NULL THEN NULL
    WHEN path LIKE CONCAT(TRIM(TRAILING '/' FROM @@global.datadir), '/%') ESCAPE '|'
      THEN CONCAT('@@datadir', SUBSTR(path, CHAR_LENGTH(TRIM(TRAILING '/' FROM @@global.datadir)) + 1))
    WHEN path LIKE CONCAT(TRIM(TRAILING '/' FROM @@global.tmpdir), '/%') ESCAPE '|'
      THEN CONCAT('@@tmpdir', SUBSTR(path, CHAR_LENGTH(TRIM(TRAILING '/' FROM @@global.tmpdir)) + 1))
    WHEN undo_directory LIKE '/%' AND path LIKE CONCAT(TRIM(TRAILING '/' FROM undo_directory), '/%') ESCAPE '|'
      THEN CONCAT('@@innodb_undo_directory', SUBSTR(path, CHAR_LENGTH(TRIM(TRAILING '/' FROM undo_directory)) + 1))
    WHEN TRIM(TRAILING '/' FROM @@global.basedir) <> '' AND path LIKE CONCAT(TRIM(TRAILING '/' FROM @@global.basedir), '/%') ESCAPE '|'
      THEN CONCAT('@@basedir', SUBSTR(path, CHAR_LENGTH(TRIM(TRAILING '/' FROM @@global.basedir)) + 1))
    ELSE path
  END;
END

== function extract_schema_from_file_name
(path VARCHAR(512)) RETURNS varchar(64) CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Returns the name of the directory that a file is in.'
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64)

== function extract_table_from_file_name
(path VARCHAR(512)) RETURNS varchar(64) CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Returns the name of a file without its directory and its extension.'
RETURN LEFT(SUBSTRING_INDEX(REPLACE(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '@0024', '$'), '.', 1), 64)

== function list_add
(in_list TEXT, in_add_value TEXT) RETURNS text CHARSET utf8mb4
DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'Adds a value to a list with commas, such as sql_mode.'
BEGIN
  IF in_add_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL';
  END IF;
  RETURN CONCAT_WS(',', NULLIF(in_list, ''), in_add_value);
END

== function list_drop
(in_list TEXT, in_drop_value TEXT) RETURNS text CHARSET utf8mb4
DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'Takes a value out of a list with commas, such as sql_mode.'
BEGIN
  IF in_drop_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL';
  END IF;
  IF in_list IS NULL OR in_list = '' THEN
    RETURN in_list;
  END IF;
  RETURN TRIM(BOTH ',' FROM REPLACE(REPLACE(
    CONCAT(',', in_list), CONCAT(',', in_drop_value), ''), CONCAT(', ', in_drop_value), ''));
END

== function quote_identifier
(in_identifier TEXT) RETURNS text CHARSET utf8mb4 DETERMINISTIC NO SQL SQL SECURITY INVOKER
COMMENT 'Puts a name into quotes.'
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')

== function version_major
() RETURNS tinyint unsigned NO SQL SQL SECURITY INVOKER
COMMENT 'Returns the first number of the server''s version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 1)

== function version_minor
() RETURNS tinyint unsigned NO SQL SQL SECURITY INVOKER
COMMENT 'Returns the second number of the server''s version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 2), '.', -1)

== function version_patch
() RETURNS tinyint unsigned NO SQL SQL SECURITY INVOKER
COMMENT 'Returns the third number of the server''s version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1)

== function ps_is_account_enabled
(in_host VARCHAR(255), in_user VARCHAR(32)) RETURNS enum('YES','NO') CHARSET utf8mb4
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Tells whether the sessions of an account are measured.'
RETURN IF(EXISTS(
  SELECT 1 FROM performance_schema.setup_actors a
  WHERE (a.HOST = '%' OR in_host LIKE a.HOST) AND (a.USER = '%' OR a.USER = in_user)
    AND a.ENABLED = 'YES'), 'YES', 'NO')

== function ps_is_consumer_enabled
(in_consumer VARCHAR(64)) RETURNS enum('YES','NO') CHARSET utf8mb4
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Tells whether a consumer gets anything, given the consumers above it.'
BEGIN
  DECLARE above VARCHAR(200);
  DECLARE found INT;
  SET found = (SELECT COUNT(*) FROM performance_schema.setup_consumers c WHERE c.NAME = in_consumer);
  IF found = 0 THEN
    SET above = CONCAT('Invalid argument error: ', in_consumer, ' in function sys.ps_is_consumer_enabled.');
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3047, MESSAGE_TEXT = above;
  END IF;
  SET above = CONCAT_WS(',', in_consumer, 'global_instrumentation',
    IF(in_consumer LIKE 'events%', 'thread_instrumentation', NULL),
    IF(in_consumer LIKE '%\_history%', CONCAT(SUBSTRING_INDEX(in_consumer, '_history', 1), '_current'), NULL));
  RETURN (SELECT IF(MIN(c.ENABLED = 'YES'), 'YES', 'NO') FROM performance_schema.setup_consumers c
    WHERE FIND_IN_SET(c.NAME, above));
END

== function ps_is_instrument_default_enabled
(in_instrument VARCHAR(128)) RETURNS enum('YES','NO') CHARSET utf8mb4
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Tells whether an instrument is on without any setting.'
RETURN IF(in_instrument LIKE 'wait/synch/%' OR in_instrument IN (
    'wait/io/socket/sql/server_tcpip_socket', 'wait/io/socket/sql/server_unix_socket',
    'wait/io/socket/sql/client_connection')
  OR in_instrument LIKE 'stage/%' AND in_instrument NOT IN (
    SELECT i.NAME FROM performance_schema.setup_instruments i WHERE FIND_IN_SET('progress', i.PROPERTIES)),
  'NO', 'YES')

== function ps_is_instrument_default_timed
(in_instrument VARCHAR(128)) RETURNS enum('YES','NO') CHARSET utf8mb4
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Tells whether an instrument is timed without any setting.'
RETURN sys.ps_is_instrument_default_enabled(in_instrument)

== function ps_is_thread_instrumented
(in_connection_id BIGINT UNSIGNED) RETURNS enum('YES','NO','UNKNOWN') CHARSET utf8mb4
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Tells whether a connection is measured.'
RETURN IF(in_connection_id IS NULL, NULL, COALESCE(
  (SELECT t.INSTRUMENTED FROM performance_schema.threads t WHERE t.PROCESSLIST_ID = in_connection_id),
  'UNKNOWN'))

== function ps_thread_id
(in_connection_id BIGINT UNSIGNED) RETURNS bigint unsigned
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Returns the number of a connection''s thread; of the own one for NULL.'
RETURN PS_THREAD_ID(COALESCE(in_connection_id, CONNECTION_ID()))

== function ps_thread_account
(in_thread_id BIGINT UNSIGNED) RETURNS text CHARSET utf8mb4
NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Returns user and host of a connection''s thread.'
RETURN (SELECT IF(t.TYPE = 'FOREGROUND', CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST), 'BACKGROUND')
  FROM performance_schema.threads t WHERE t.THREAD_ID = in_thread_id)
