-- Views over definitions, status and the version.

== view version: sys_version, mysql_version
SELECT '2.1.3', VERSION()

== view ps_check_lost_instrumentation: variable_name, variable_value
SELECT s.VARIABLE_NAME, s.VARIABLE_VALUE FROM performance_schema.global_status s
WHERE s.VARIABLE_NAME LIKE 'perf%lost' AND s.VARIABLE_VALUE > 0

== view metrics: Variable_name, Variable_value, Type, Enabled
SELECT IFNULL(CAST(LOWER(s.VARIABLE_NAME) AS CHAR(193)), ''), CAST(s.VARIABLE_VALUE AS CHAR(65535)),
  IFNULL(CAST('Global Status' AS CHAR(210)), ''), IFNULL(CAST('YES' AS CHAR(7)), '')
FROM performance_schema.global_status s
UNION ALL
SELECT m.NAME, m.COUNT, CONCAT('InnoDB Metrics - ', m.SUBSYSTEM), IF(m.STATUS = 'enabled', 'YES', 'NO')
FROM information_schema.INNODB_METRICS m
WHERE m.NAME NOT IN ('lock_row_lock_time', 'lock_row_lock_time_avg', 'lock_row_lock_time_max',
  'lock_row_lock_waits', 'buffer_pool_reads', 'buffer_pool_read_requests', 'buffer_pool_write_requests',
  'buffer_pool_wait_free', 'buffer_pool_read_ahead', 'buffer_pool_read_ahead_evicted',
  'buffer_pool_pages_total', 'buffer_pool_pages_misc', 'buffer_pool_pages_data', 'buffer_pool_bytes_data',
  'buffer_pool_pages_dirty', 'buffer_pool_bytes_dirty', 'buffer_pool_pages_free', 'buffer_pages_created',
  'buffer_pages_written', 'buffer_pages_read', 'buffer_data_reads', 'buffer_data_written',
  'file_num_open_files', 'os_log_bytes_written', 'os_log_fsyncs', 'os_log_pending_fsyncs',
  'os_log_pending_writes', 'log_waits', 'log_write_requests', 'log_writes', 'innodb_dblwr_writes',
  'innodb_dblwr_pages_written', 'innodb_page_size')
UNION ALL
SELECT 'memory_current_allocated', SUM(m.CURRENT_NUMBER_OF_BYTES_USED), 'Performance Schema', 'YES'
FROM performance_schema.memory_summary_global_by_event_name m
UNION ALL
SELECT 'memory_total_allocated', SUM(m.SUM_NUMBER_OF_BYTES_ALLOC), 'Performance Schema', 'YES'
FROM performance_schema.memory_summary_global_by_event_name m
UNION ALL
SELECT 'NOW()', NOW(3), 'System Time', 'YES'
UNION ALL
SELECT 'UNIX_TIMESTAMP()', ROUND(UNIX_TIMESTAMP(NOW(3)), 3), 'System Time', 'YES'
ORDER BY 3, 1

== view schema_object_overview: db, object_type, count
SELECT r.ROUTINE_SCHEMA, CAST(r.ROUTINE_TYPE AS CHAR(19)), COUNT(*) FROM information_schema.ROUTINES r GROUP BY 1, 2
UNION
SELECT t.TABLE_SCHEMA, CAST(t.TABLE_TYPE AS CHAR(19)), COUNT(*) FROM information_schema.TABLES t GROUP BY 1, 2
UNION
SELECT s.TABLE_SCHEMA, CAST(CONCAT('INDEX (', s.INDEX_TYPE, ')') AS CHAR(19)), COUNT(*) FROM information_schema.STATISTICS s GROUP BY 1, 2
UNION
SELECT t.TRIGGER_SCHEMA, 'TRIGGER', COUNT(*) FROM information_schema.TRIGGERS t GROUP BY 1
UNION
SELECT e.EVENT_SCHEMA, 'EVENT', COUNT(*) FROM information_schema.EVENTS e GROUP BY 1
ORDER BY 1, 2

== view schema_auto_increment_columns: table_schema, table_name, column_name, data_type, column_type, is_signed, is_unsigned, max_value, auto_increment, auto_increment_ratio
SELECT a.TABLE_SCHEMA, a.TABLE_NAME, a.COLUMN_NAME, a.DATA_TYPE, a.COLUMN_TYPE, a.is_unsigned = 0,
  a.is_unsigned, a.greatest, a.AUTO_INCREMENT, a.AUTO_INCREMENT / a.greatest
FROM (
  SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, t.AUTO_INCREMENT,
    LOCATE('unsigned', c.COLUMN_TYPE) > 0 AS is_unsigned,
    CASE c.DATA_TYPE
      WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215
      WHEN 'int' THEN 4294967295 WHEN 'bigint' THEN 18446744073709551615
    END >> IF(LOCATE('unsigned', c.COLUMN_TYPE) > 0, 0, 1) AS greatest
  FROM information_schema.COLUMNS c
  JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
  WHERE c.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
    AND t.TABLE_TYPE = 'BASE TABLE' AND c.EXTRA = 'auto_increment'
) a
ORDER BY 10 DESC, a.greatest

== view x$schema_flattened_keys: table_schema, table_name, index_name, non_unique, subpart_exists, index_columns
SELECT s.TABLE_SCHEMA, s.TABLE_NAME, s.INDEX_NAME, MAX(s.NON_UNIQUE), MAX(s.SUB_PART IS NOT NULL),
  GROUP_CONCAT(s.COLUMN_NAME ORDER BY s.SEQ_IN_INDEX SEPARATOR ',')
FROM information_schema.STATISTICS s
WHERE s.INDEX_TYPE = 'BTREE'
  AND s.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
GROUP BY s.TABLE_SCHEMA, s.TABLE_NAME, s.INDEX_NAME

== view schema_redundant_indexes: table_schema, table_name, redundant_index_name, redundant_index_columns, redundant_index_non_unique, dominant_index_name, dominant_index_columns, dominant_index_non_unique, subpart_exists, sql_drop_index
SELECT few.table_schema, few.table_name, few.index_name, few.index_columns, few.non_unique,
  more.index_name, more.index_columns, more.non_unique, IF(few.subpart_exists OR more.subpart_exists, 1, 0),
  CONCAT('ALTER TABLE `', few.table_schema, '`.`', few.table_name, '` DROP INDEX `', few.index_name, '`')
FROM sys.`x$schema_flattened_keys` few
JOIN sys.`x$schema_flattened_keys` more
  ON more.table_schema = few.table_schema AND more.table_name = few.table_name
WHERE few.index_name <> more.index_name AND (
  (few.index_columns = more.index_columns AND (
    few.non_unique > more.non_unique
    OR (few.non_unique = more.non_unique
      AND IF(few.index_name = 'PRIMARY', '', few.index_name) > IF(more.index_name = 'PRIMARY', '', more.index_name))))
  OR (few.non_unique = 1 AND LOCATE(CONCAT(few.index_columns, ','), more.index_columns) = 1)
  OR (more.non_unique = 0 AND LOCATE(CONCAT(more.index_columns, ','), few.index_columns) = 1))
