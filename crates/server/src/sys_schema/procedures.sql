-- Procedures that find out and show.

== procedure table_exists
(IN in_db VARCHAR(64), IN in_table VARCHAR(64), OUT out_exists ENUM('', 'BASE TABLE', 'VIEW', 'TEMPORARY'))
CONTAINS SQL SQL SECURITY INVOKER
COMMENT 'Tells what a name stands for: a table, a view, a temporary table, or nothing.'
BEGIN
  -- Only a temporary table is in the way of another temporary table.
  DECLARE is_free BOOLEAN DEFAULT TRUE;
  DECLARE name TEXT DEFAULT CONCAT(sys.quote_identifier(in_db), '.', sys.quote_identifier(in_table));
  SET out_exists = COALESCE((
    SELECT IF(t.TABLE_TYPE = 'BASE TABLE', 'BASE TABLE', 'VIEW') FROM information_schema.TABLES t
    WHERE t.TABLE_SCHEMA = in_db AND t.TABLE_NAME = in_table), '');
  IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA s WHERE s.SCHEMA_NAME = in_db) THEN
    SET @sys.table_exists = CONCAT('CREATE TEMPORARY TABLE ', name, ' (id INT)');
    PREPARE sys_table_exists FROM @sys.table_exists;
    BEGIN
      DECLARE CONTINUE HANDLER FOR 1050 SET is_free = FALSE, out_exists = 'TEMPORARY';
      DECLARE CONTINUE HANDLER FOR 1044, 1142 SET is_free = FALSE;
      EXECUTE sys_table_exists;
    END;
    IF is_free THEN
      SET @sys.table_exists = CONCAT('DROP TEMPORARY TABLE ', name);
      PREPARE sys_table_exists FROM @sys.table_exists;
      EXECUTE sys_table_exists;
    END IF;
    DEALLOCATE PREPARE sys_table_exists;
  END IF;
END

== procedure execute_prepared_stmt
(IN in_query LONGTEXT CHARACTER SET utf8mb4)
READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Runs a statement that is given as a text.'
BEGIN
  IF in_query IS NULL OR CHAR_LENGTH(in_query) < 4 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
  END IF;
  SET @sys.execute_prepared_stmt.sql = in_query;
  IF @sys.debug = 'ON' THEN
    SELECT @sys.execute_prepared_stmt.sql AS 'Debug';
  END IF;
  PREPARE sys_statement FROM @sys.execute_prepared_stmt.sql;
  EXECUTE sys_statement;
  DEALLOCATE PREPARE sys_statement;
  SET @sys.execute_prepared_stmt.sql = NULL;
END

== procedure create_synonym_db
(IN in_db_name VARCHAR(64), IN in_synonym VARCHAR(64))
MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Makes a schema with a view for each table and view of another one.'
BEGIN
  DECLARE is_over BOOLEAN DEFAULT FALSE;
  DECLARE one VARCHAR(64);
  DECLARE made INT DEFAULT 0;
  DECLARE text_of_error TEXT;
  DECLARE all_tables CURSOR FOR
    SELECT t.TABLE_NAME FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = in_db_name ORDER BY t.TABLE_NAME;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_over = TRUE;
  IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA s WHERE s.SCHEMA_NAME = in_db_name) THEN
    SET text_of_error = CONCAT('Unknown database ', in_db_name);
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = text_of_error;
  END IF;
  IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA s WHERE s.SCHEMA_NAME = in_synonym) THEN
    SET text_of_error = CONCAT('Can\'t create database ', in_synonym, '; database exists');
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = text_of_error;
  END IF;
  CALL sys.execute_prepared_stmt(CONCAT('CREATE DATABASE ', sys.quote_identifier(in_synonym)));
  OPEN all_tables;
  of_table: LOOP
    FETCH all_tables INTO one;
    IF is_over THEN
      LEAVE of_table;
    END IF;
    CALL sys.execute_prepared_stmt(CONCAT(
      'CREATE SQL SECURITY INVOKER VIEW ', sys.quote_identifier(in_synonym), '.', sys.quote_identifier(one),
      ' AS SELECT * FROM ', sys.quote_identifier(in_db_name), '.', sys.quote_identifier(one)));
    SET made = made + 1;
  END LOOP;
  CLOSE all_tables;
  SELECT CONCAT('Created ', made, ' view', IF(made = 1, '', 's'), ' in the ',
    sys.quote_identifier(in_synonym), ' database') AS summary;
END

== procedure ps_setup_show_enabled_consumers
() DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Lists the consumers that get something.'
SELECT c.NAME AS enabled_consumers FROM performance_schema.setup_consumers c
WHERE c.ENABLED = 'YES' ORDER BY c.NAME

== procedure ps_setup_show_disabled_consumers
() DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Lists the consumers that get nothing.'
SELECT c.NAME AS disabled_consumers FROM performance_schema.setup_consumers c
WHERE c.ENABLED = 'NO' ORDER BY c.NAME

== procedure ps_setup_show_enabled_instruments
() DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Lists the instruments that are on.'
SELECT i.NAME AS enabled_instruments, i.TIMED AS timed FROM performance_schema.setup_instruments i
WHERE i.ENABLED = 'YES' ORDER BY i.NAME

== procedure ps_setup_show_disabled_instruments
() DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
COMMENT 'Lists the instruments that are off.'
SELECT i.NAME AS disabled_instruments, i.TIMED AS timed FROM performance_schema.setup_instruments i
WHERE i.ENABLED = 'NO' ORDER BY i.NAME

== procedure ps_truncate_all_tables
(IN in_verbose BOOLEAN)
DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
COMMENT 'Empties all tables of events and sums in performance_schema.'
BEGIN
  DECLARE is_over BOOLEAN DEFAULT FALSE;
  DECLARE one VARCHAR(64);
  DECLARE emptied INT DEFAULT 0;
  DECLARE all_tables CURSOR FOR
    SELECT t.TABLE_NAME FROM information_schema.TABLES t
    WHERE t.TABLE_SCHEMA = 'performance_schema' AND (t.TABLE_NAME LIKE '%summary%' OR t.TABLE_NAME LIKE '%history%');
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET is_over = TRUE;
  OPEN all_tables;
  of_table: LOOP
    FETCH all_tables INTO one;
    IF is_over THEN
      LEAVE of_table;
    END IF;
    SET @sys.truncate = CONCAT('TRUNCATE TABLE performance_schema.', one);
    IF in_verbose THEN
      SELECT CONCAT('Running: ', @sys.truncate) AS status;
    END IF;
    PREPARE sys_truncate FROM @sys.truncate;
    EXECUTE sys_truncate;
    DEALLOCATE PREPARE sys_truncate;
    SET emptied = emptied + 1;
  END LOOP;
  CLOSE all_tables;
  SELECT CONCAT('Truncated ', emptied, ' tables') AS summary;
END
