-- Views over the threads and what they do.

== pair processlist: thd_id, conn_id, user, db, command, state, time, current_statement statement, execution_engine, statement_latency time, progress, lock_latency time, cpu_latency time, rows_examined, rows_sent, rows_affected, tmp_tables, tmp_disk_tables, full_scan, last_statement statement, last_statement_latency time, current_memory bytes, last_wait, last_wait_latency wait, source, trx_latency time, trx_state, trx_autocommit, pid, program_name
SELECT t.THREAD_ID, t.PROCESSLIST_ID,
  IF(t.NAME IN ('thread/sql/one_connection', 'thread/thread_pool/tp_one_connection'),
    CONCAT(t.PROCESSLIST_USER, '@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4)), REPLACE(t.NAME, 'thread/', '')),
  t.PROCESSLIST_DB, t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE, t.PROCESSLIST_TIME, t.PROCESSLIST_INFO,
  t.EXECUTION_ENGINE, IF(s.END_EVENT_ID IS NULL, s.TIMER_WAIT, NULL),
  IF(s.END_EVENT_ID IS NULL, ROUND(100 * (g.WORK_COMPLETED / g.WORK_ESTIMATED), 2), NULL),
  s.LOCK_TIME, s.CPU_TIME, s.ROWS_EXAMINED, s.ROWS_SENT, s.ROWS_AFFECTED, s.CREATED_TMP_TABLES,
  s.CREATED_TMP_DISK_TABLES, IF(s.NO_INDEX_USED > 0 OR s.NO_GOOD_INDEX_USED > 0, 'YES', 'NO'),
  IF(s.END_EVENT_ID IS NOT NULL, s.SQL_TEXT, NULL), IF(s.END_EVENT_ID IS NOT NULL, s.TIMER_WAIT, NULL),
  m.current_allocated, w.EVENT_NAME,
  IF(w.END_EVENT_ID IS NULL AND w.EVENT_NAME IS NOT NULL, 'Still Waiting', w.TIMER_WAIT), w.SOURCE,
  x.TIMER_WAIT, x.STATE, x.AUTOCOMMIT, p.ATTR_VALUE, n.ATTR_VALUE
FROM performance_schema.threads t
LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID
LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID
LEFT JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID
LEFT JOIN sys.`x$memory_by_thread_by_current_bytes` m ON m.thread_id = t.THREAD_ID
LEFT JOIN performance_schema.session_connect_attrs p
  ON p.PROCESSLIST_ID = t.PROCESSLIST_ID AND p.ATTR_NAME = '_pid'
LEFT JOIN performance_schema.session_connect_attrs n
  ON n.PROCESSLIST_ID = t.PROCESSLIST_ID AND n.ATTR_NAME = 'program_name'
ORDER BY t.PROCESSLIST_TIME DESC

== view session: thd_id, conn_id, user, db, command, state, time, current_statement, execution_engine, statement_latency, progress, lock_latency, cpu_latency, rows_examined, rows_sent, rows_affected, tmp_tables, tmp_disk_tables, full_scan, last_statement, last_statement_latency, current_memory, last_wait, last_wait_latency, source, trx_latency, trx_state, trx_autocommit, pid, program_name
SELECT * FROM sys.processlist p WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon'

== view x$session: thd_id, conn_id, user, db, command, state, time, current_statement, execution_engine, statement_latency, progress, lock_latency, cpu_latency, rows_examined, rows_sent, rows_affected, tmp_tables, tmp_disk_tables, full_scan, last_statement, last_statement_latency, current_memory, last_wait, last_wait_latency, source, trx_latency, trx_state, trx_autocommit, pid, program_name
SELECT * FROM sys.`x$processlist` p WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon'

== view session_ssl_status: thread_id, ssl_version, ssl_cipher, ssl_sessions_reused
SELECT v.THREAD_ID, v.VARIABLE_VALUE, c.VARIABLE_VALUE, r.VARIABLE_VALUE
FROM performance_schema.status_by_thread v
LEFT JOIN performance_schema.status_by_thread c
  ON c.THREAD_ID = v.THREAD_ID AND c.VARIABLE_NAME = 'Ssl_cipher'
LEFT JOIN performance_schema.status_by_thread r
  ON r.THREAD_ID = v.THREAD_ID AND r.VARIABLE_NAME = 'Ssl_sessions_reused'
WHERE v.VARIABLE_NAME = 'Ssl_version'

== pair schema_table_lock_waits: object_schema, object_name, waiting_thread_id, waiting_pid, waiting_account, waiting_lock_type, waiting_lock_duration, waiting_query statement, waiting_query_secs, waiting_query_rows_affected, waiting_query_rows_examined, blocking_thread_id, blocking_pid, blocking_account, blocking_lock_type, blocking_lock_duration, sql_kill_blocking_query, sql_kill_blocking_connection
SELECT held.OBJECT_SCHEMA, held.OBJECT_NAME, waiter.THREAD_ID, waiter.PROCESSLIST_ID,
  sys.ps_thread_account(wanted.OWNER_THREAD_ID), wanted.LOCK_TYPE, wanted.LOCK_DURATION,
  waiter.PROCESSLIST_INFO, waiter.PROCESSLIST_TIME, s.ROWS_AFFECTED, s.ROWS_EXAMINED, holder.THREAD_ID,
  holder.PROCESSLIST_ID, sys.ps_thread_account(held.OWNER_THREAD_ID), held.LOCK_TYPE, held.LOCK_DURATION,
  CONCAT('KILL QUERY ', holder.PROCESSLIST_ID), CONCAT('KILL ', holder.PROCESSLIST_ID)
FROM performance_schema.metadata_locks held
JOIN performance_schema.metadata_locks wanted
  ON wanted.OBJECT_TYPE = held.OBJECT_TYPE AND wanted.OBJECT_SCHEMA = held.OBJECT_SCHEMA
  AND wanted.OBJECT_NAME = held.OBJECT_NAME
JOIN performance_schema.threads holder ON holder.THREAD_ID = held.OWNER_THREAD_ID
JOIN performance_schema.threads waiter ON waiter.THREAD_ID = wanted.OWNER_THREAD_ID
LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = wanted.OWNER_THREAD_ID
WHERE held.OBJECT_TYPE = 'TABLE' AND held.LOCK_STATUS = 'GRANTED' AND wanted.LOCK_STATUS = 'PENDING'
