-- Views over what performance_schema has summed up by table and by index.

== pair schema_index_statistics: table_schema, table_name, index_name, rows_selected, select_latency time, rows_inserted, insert_latency time, rows_updated, update_latency time, rows_deleted, delete_latency time
SELECT i.OBJECT_SCHEMA, i.OBJECT_NAME, i.INDEX_NAME, i.COUNT_FETCH, i.SUM_TIMER_FETCH, i.COUNT_INSERT,
  i.SUM_TIMER_INSERT, i.COUNT_UPDATE, i.SUM_TIMER_UPDATE, i.COUNT_DELETE, i.SUM_TIMER_DELETE
FROM performance_schema.table_io_waits_summary_by_index_usage i
WHERE i.INDEX_NAME IS NOT NULL
ORDER BY i.SUM_TIMER_WAIT DESC

== view schema_unused_indexes: object_schema, object_name, index_name
SELECT i.OBJECT_SCHEMA, i.OBJECT_NAME, i.INDEX_NAME
FROM performance_schema.table_io_waits_summary_by_index_usage i
JOIN information_schema.STATISTICS s
  ON s.TABLE_SCHEMA = i.OBJECT_SCHEMA AND s.TABLE_NAME = i.OBJECT_NAME AND s.INDEX_NAME = i.INDEX_NAME
WHERE i.COUNT_STAR = 0 AND i.OBJECT_SCHEMA <> 'mysql' AND i.INDEX_NAME <> 'PRIMARY'
  AND s.NON_UNIQUE = 1 AND s.SEQ_IN_INDEX = 1
ORDER BY i.OBJECT_SCHEMA, i.OBJECT_NAME

== pair schema_tables_with_full_table_scans: object_schema, object_name, rows_full_scanned, latency time
SELECT i.OBJECT_SCHEMA, i.OBJECT_NAME, i.COUNT_READ, i.SUM_TIMER_WAIT
FROM performance_schema.table_io_waits_summary_by_index_usage i
WHERE i.INDEX_NAME IS NULL AND i.COUNT_READ > 0
ORDER BY i.COUNT_READ DESC

== view x$ps_schema_table_statistics_io: table_schema, table_name, count_read, sum_number_of_bytes_read, sum_timer_read, count_write, sum_number_of_bytes_write, sum_timer_write, count_misc, sum_timer_misc
SELECT sys.extract_schema_from_file_name(f.FILE_NAME), sys.extract_table_from_file_name(f.FILE_NAME),
  SUM(f.COUNT_READ), SUM(f.SUM_NUMBER_OF_BYTES_READ), SUM(f.SUM_TIMER_READ), SUM(f.COUNT_WRITE),
  SUM(f.SUM_NUMBER_OF_BYTES_WRITE), SUM(f.SUM_TIMER_WRITE), SUM(f.COUNT_MISC), SUM(f.SUM_TIMER_MISC)
FROM performance_schema.file_summary_by_instance f
GROUP BY 1, 2

== pair schema_table_statistics: table_schema, table_name, total_latency time, rows_fetched, fetch_latency time, rows_inserted, insert_latency time, rows_updated, update_latency time, rows_deleted, delete_latency time, io_read_requests, io_read bytes, io_read_latency time, io_write_requests, io_write bytes, io_write_latency time, io_misc_requests, io_misc_latency time
SELECT t.OBJECT_SCHEMA, t.OBJECT_NAME, t.SUM_TIMER_WAIT, t.COUNT_FETCH, t.SUM_TIMER_FETCH, t.COUNT_INSERT,
  t.SUM_TIMER_INSERT, t.COUNT_UPDATE, t.SUM_TIMER_UPDATE, t.COUNT_DELETE, t.SUM_TIMER_DELETE,
  f.count_read, f.sum_number_of_bytes_read, f.sum_timer_read, f.count_write, f.sum_number_of_bytes_write,
  f.sum_timer_write, f.count_misc, f.sum_timer_misc
FROM performance_schema.table_io_waits_summary_by_table t
LEFT JOIN sys.`x$ps_schema_table_statistics_io` f
  ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME
ORDER BY t.SUM_TIMER_WAIT DESC

== pair innodb_lock_waits: wait_started, wait_age, wait_age_secs, locked_table, locked_table_schema, locked_table_name, locked_table_partition, locked_table_subpartition, locked_index, locked_type, waiting_trx_id, waiting_trx_started, waiting_trx_age, waiting_trx_rows_locked, waiting_trx_rows_modified, waiting_pid, waiting_query statement, waiting_lock_id, waiting_lock_mode, blocking_trx_id, blocking_pid, blocking_query statement, blocking_lock_id, blocking_lock_mode, blocking_trx_started, blocking_trx_age, blocking_trx_rows_locked, blocking_trx_rows_modified, sql_kill_blocking_query, sql_kill_blocking_connection
SELECT waiter.trx_wait_started, TIMEDIFF(NOW(), waiter.trx_wait_started),
  TIMESTAMPDIFF(SECOND, waiter.trx_wait_started, NOW()),
  CONCAT(sys.quote_identifier(wanted.OBJECT_SCHEMA), '.', sys.quote_identifier(wanted.OBJECT_NAME)),
  wanted.OBJECT_SCHEMA, wanted.OBJECT_NAME, wanted.PARTITION_NAME, wanted.SUBPARTITION_NAME, wanted.INDEX_NAME,
  wanted.LOCK_TYPE, waiter.trx_id, waiter.trx_started, TIMEDIFF(NOW(), waiter.trx_started),
  waiter.trx_rows_locked, waiter.trx_rows_modified, waiter.trx_mysql_thread_id, waiter.trx_query,
  wanted.ENGINE_LOCK_ID, wanted.LOCK_MODE, holder.trx_id, holder.trx_mysql_thread_id, holder.trx_query,
  held.ENGINE_LOCK_ID, held.LOCK_MODE, holder.trx_started, TIMEDIFF(NOW(), holder.trx_started),
  holder.trx_rows_locked, holder.trx_rows_modified, CONCAT('KILL QUERY ', holder.trx_mysql_thread_id),
  CONCAT('KILL ', holder.trx_mysql_thread_id)
FROM performance_schema.data_lock_waits w
JOIN performance_schema.data_locks wanted ON wanted.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
JOIN performance_schema.data_locks held ON held.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID
JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
JOIN information_schema.INNODB_TRX holder ON holder.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
ORDER BY waiter.trx_wait_started

== pair innodb_buffer_stats_by_table: object_schema, object_name, allocated bytes, data bytes, pages, pages_hashed, pages_old, rows_cached
SELECT IF(LOCATE('.', p.TABLE_NAME) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', 1), '`', '')),
  REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', -1), '`', ''),
  SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)), SUM(p.DATA_SIZE),
  COUNT(p.PAGE_NUMBER), COUNT(IF(p.IS_HASHED = 'YES', 1, NULL)), COUNT(IF(p.IS_OLD = 'YES', 1, NULL)),
  ROUND(IFNULL(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT IFNULL(p.INDEX_NAME, '')), 0), 0))
FROM information_schema.INNODB_BUFFER_PAGE p
WHERE p.TABLE_NAME IS NOT NULL
GROUP BY 1, 2
ORDER BY SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)) DESC

== pair innodb_buffer_stats_by_schema: object_schema, allocated bytes, data bytes, pages, pages_hashed, pages_old, rows_cached
SELECT IF(LOCATE('.', p.TABLE_NAME) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, '.', 1), '`', '')),
  SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)), SUM(p.DATA_SIZE),
  COUNT(p.PAGE_NUMBER), COUNT(IF(p.IS_HASHED = 'YES', 1, NULL)), COUNT(IF(p.IS_OLD = 'YES', 1, NULL)),
  ROUND(IFNULL(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT IFNULL(p.INDEX_NAME, '')), 0), 0))
FROM information_schema.INNODB_BUFFER_PAGE p
WHERE p.TABLE_NAME IS NOT NULL
GROUP BY 1
ORDER BY SUM(IF(p.COMPRESSED_SIZE = 0, 16384, p.COMPRESSED_SIZE)) DESC

== pair schema_table_statistics_with_buffer: table_schema, table_name, rows_fetched, fetch_latency time, rows_inserted, insert_latency time, rows_updated, update_latency time, rows_deleted, delete_latency time, io_read_requests, io_read bytes, io_read_latency time, io_write_requests, io_write bytes, io_write_latency time, io_misc_requests, io_misc_latency time, innodb_buffer_allocated bytes, innodb_buffer_data bytes, innodb_buffer_free bytes, innodb_buffer_pages, innodb_buffer_pages_hashed, innodb_buffer_pages_old, innodb_buffer_rows_cached
SELECT t.OBJECT_SCHEMA, t.OBJECT_NAME, t.COUNT_FETCH, t.SUM_TIMER_FETCH, t.COUNT_INSERT, t.SUM_TIMER_INSERT,
  t.COUNT_UPDATE, t.SUM_TIMER_UPDATE, t.COUNT_DELETE, t.SUM_TIMER_DELETE, f.count_read,
  f.sum_number_of_bytes_read, f.sum_timer_read, f.count_write, f.sum_number_of_bytes_write, f.sum_timer_write,
  f.count_misc, f.sum_timer_misc, b.allocated, b.data, b.allocated - b.data, b.pages, b.pages_hashed, b.pages_old,
  b.rows_cached
FROM performance_schema.table_io_waits_summary_by_table t
LEFT JOIN sys.`x$ps_schema_table_statistics_io` f
  ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME
LEFT JOIN sys.`x$innodb_buffer_stats_by_table` b
  ON b.object_schema = t.OBJECT_SCHEMA AND b.object_name = t.OBJECT_NAME
ORDER BY t.SUM_TIMER_WAIT DESC
