-- Views that sum up statements, files, stages and memory by host and by user.

== pair host_summary_by_statement_type: host, statement, total, total_latency time, max_latency time, lock_latency time, cpu_latency time, rows_sent, rows_examined, rows_affected, full_scans
SELECT IF(s.HOST IS NULL, 'background', s.HOST), SUBSTRING_INDEX(s.EVENT_NAME, '/', -1), s.COUNT_STAR, s.SUM_TIMER_WAIT, s.MAX_TIMER_WAIT,
  s.SUM_LOCK_TIME, s.SUM_CPU_TIME, s.SUM_ROWS_SENT, s.SUM_ROWS_EXAMINED, s.SUM_ROWS_AFFECTED,
  s.SUM_NO_INDEX_USED + s.SUM_NO_GOOD_INDEX_USED
FROM performance_schema.events_statements_summary_by_host_by_event_name s
WHERE s.SUM_TIMER_WAIT <> 0
ORDER BY IF(s.HOST IS NULL, 'background', s.HOST), s.SUM_TIMER_WAIT DESC

== pair host_summary_by_statement_latency: host, total, total_latency time, max_latency time, lock_latency time, cpu_latency time, rows_sent, rows_examined, rows_affected, full_scans
SELECT IF(s.HOST IS NULL, 'background', s.HOST), SUM(s.COUNT_STAR), SUM(s.SUM_TIMER_WAIT), MAX(s.MAX_TIMER_WAIT), SUM(s.SUM_LOCK_TIME),
  SUM(s.SUM_CPU_TIME), SUM(s.SUM_ROWS_SENT), SUM(s.SUM_ROWS_EXAMINED), SUM(s.SUM_ROWS_AFFECTED),
  SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED)
FROM performance_schema.events_statements_summary_by_host_by_event_name s
GROUP BY IF(s.HOST IS NULL, 'background', s.HOST)
ORDER BY SUM(s.SUM_TIMER_WAIT) DESC

== pair host_summary_by_file_io_type: host, event_name, total, total_latency time, max_latency time
SELECT IF(s.HOST IS NULL, 'background', s.HOST), s.EVENT_NAME, s.COUNT_STAR, s.SUM_TIMER_WAIT, s.MAX_TIMER_WAIT
FROM performance_schema.events_waits_summary_by_host_by_event_name s
WHERE s.EVENT_NAME LIKE 'wait/io/file%' AND s.COUNT_STAR > 0
ORDER BY IF(s.HOST IS NULL, 'background', s.HOST), s.SUM_TIMER_WAIT DESC

== pair host_summary_by_file_io: host, ios, io_latency time
SELECT IF(s.HOST IS NULL, 'background', s.HOST), SUM(s.COUNT_STAR), SUM(s.SUM_TIMER_WAIT)
FROM performance_schema.events_waits_summary_by_host_by_event_name s
WHERE s.EVENT_NAME LIKE 'wait/io/file/%'
GROUP BY IF(s.HOST IS NULL, 'background', s.HOST)
ORDER BY SUM(s.SUM_TIMER_WAIT) DESC

== pair host_summary_by_stages: host, event_name, total, total_latency time, avg_latency time
SELECT IF(s.HOST IS NULL, 'background', s.HOST), s.EVENT_NAME, s.COUNT_STAR, s.SUM_TIMER_WAIT, s.AVG_TIMER_WAIT
FROM performance_schema.events_stages_summary_by_host_by_event_name s
WHERE s.SUM_TIMER_WAIT <> 0
ORDER BY IF(s.HOST IS NULL, 'background', s.HOST), s.SUM_TIMER_WAIT DESC

== pair memory_by_host_by_current_bytes: host, current_count_used, current_allocated bytes, current_avg_alloc bytes, current_max_alloc bytes, total_allocated bytes
SELECT IF(s.HOST IS NULL, 'background', s.HOST), SUM(s.CURRENT_COUNT_USED), SUM(s.CURRENT_NUMBER_OF_BYTES_USED),
  IFNULL(SUM(s.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(s.CURRENT_COUNT_USED), 0), 0),
  MAX(s.CURRENT_NUMBER_OF_BYTES_USED), SUM(s.SUM_NUMBER_OF_BYTES_ALLOC)
FROM performance_schema.memory_summary_by_host_by_event_name s
GROUP BY IF(s.HOST IS NULL, 'background', s.HOST)
ORDER BY SUM(s.CURRENT_NUMBER_OF_BYTES_USED) DESC

== pair host_summary: host, statements, statement_latency time, statement_avg_latency time, table_scans, file_ios, file_io_latency time, current_connections, total_connections, unique_users, current_memory bytes, total_memory_allocated bytes
SELECT IF(a.HOST IS NULL, 'background', a.HOST), SUM(st.total), SUM(st.total_latency),
  SUM(st.total_latency) / SUM(st.total), SUM(st.full_scans), SUM(io.ios),
  SUM(io.io_latency), SUM(a.CURRENT_CONNECTIONS), SUM(a.TOTAL_CONNECTIONS), COUNT(DISTINCT a.USER),
  SUM(m.current_allocated), SUM(m.total_allocated)
FROM performance_schema.accounts a
LEFT JOIN sys.`x$host_summary_by_statement_latency` st ON st.host = IF(a.HOST IS NULL, 'background', a.HOST)
LEFT JOIN sys.`x$host_summary_by_file_io` io ON io.host = IF(a.HOST IS NULL, 'background', a.HOST)
LEFT JOIN sys.`x$memory_by_host_by_current_bytes` m ON m.host = IF(a.HOST IS NULL, 'background', a.HOST)
GROUP BY IF(a.HOST IS NULL, 'background', a.HOST)

== pair user_summary_by_statement_type: user, statement, total, total_latency time, max_latency time, lock_latency time, cpu_latency time, rows_sent, rows_examined, rows_affected, full_scans
SELECT IF(s.USER IS NULL, 'background', s.USER), SUBSTRING_INDEX(s.EVENT_NAME, '/', -1), s.COUNT_STAR, s.SUM_TIMER_WAIT, s.MAX_TIMER_WAIT,
  s.SUM_LOCK_TIME, s.SUM_CPU_TIME, s.SUM_ROWS_SENT, s.SUM_ROWS_EXAMINED, s.SUM_ROWS_AFFECTED,
  s.SUM_NO_INDEX_USED + s.SUM_NO_GOOD_INDEX_USED
FROM performance_schema.events_statements_summary_by_user_by_event_name s
WHERE s.SUM_TIMER_WAIT <> 0
ORDER BY IF(s.USER IS NULL, 'background', s.USER), s.SUM_TIMER_WAIT DESC

== pair user_summary_by_statement_latency: user, total, total_latency time, max_latency time, lock_latency time, cpu_latency time, rows_sent, rows_examined, rows_affected, full_scans
SELECT IF(s.USER IS NULL, 'background', s.USER), SUM(s.COUNT_STAR), SUM(s.SUM_TIMER_WAIT), SUM(s.MAX_TIMER_WAIT), SUM(s.SUM_LOCK_TIME),
  SUM(s.SUM_CPU_TIME), SUM(s.SUM_ROWS_SENT), SUM(s.SUM_ROWS_EXAMINED), SUM(s.SUM_ROWS_AFFECTED),
  SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED)
FROM performance_schema.events_statements_summary_by_user_by_event_name s
GROUP BY IF(s.USER IS NULL, 'background', s.USER)
ORDER BY SUM(s.SUM_TIMER_WAIT) DESC

== pair user_summary_by_file_io_type: user, event_name, total, latency time, max_latency time
SELECT IF(s.USER IS NULL, 'background', s.USER), s.EVENT_NAME, s.COUNT_STAR, s.SUM_TIMER_WAIT, s.MAX_TIMER_WAIT
FROM performance_schema.events_waits_summary_by_user_by_event_name s
WHERE s.EVENT_NAME LIKE 'wait/io/file%' AND s.COUNT_STAR > 0
ORDER BY IF(s.USER IS NULL, 'background', s.USER), s.SUM_TIMER_WAIT DESC

== pair user_summary_by_file_io: user, ios, io_latency time
SELECT IF(s.USER IS NULL, 'background', s.USER), SUM(s.COUNT_STAR), SUM(s.SUM_TIMER_WAIT)
FROM performance_schema.events_waits_summary_by_user_by_event_name s
WHERE s.EVENT_NAME LIKE 'wait/io/file/%'
GROUP BY IF(s.USER IS NULL, 'background', s.USER)
ORDER BY SUM(s.SUM_TIMER_WAIT) DESC

== pair user_summary_by_stages: user, event_name, total, total_latency time, avg_latency time
SELECT IF(s.USER IS NULL, 'background', s.USER), s.EVENT_NAME, s.COUNT_STAR, s.SUM_TIMER_WAIT, s.AVG_TIMER_WAIT
FROM performance_schema.events_stages_summary_by_user_by_event_name s
WHERE s.SUM_TIMER_WAIT <> 0
ORDER BY IF(s.USER IS NULL, 'background', s.USER), s.SUM_TIMER_WAIT DESC

== pair memory_by_user_by_current_bytes: user, current_count_used, current_allocated bytes, current_avg_alloc bytes, current_max_alloc bytes, total_allocated bytes
SELECT IF(s.USER IS NULL, 'background', s.USER), SUM(s.CURRENT_COUNT_USED), SUM(s.CURRENT_NUMBER_OF_BYTES_USED),
  IFNULL(SUM(s.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(s.CURRENT_COUNT_USED), 0), 0),
  MAX(s.CURRENT_NUMBER_OF_BYTES_USED), SUM(s.SUM_NUMBER_OF_BYTES_ALLOC)
FROM performance_schema.memory_summary_by_user_by_event_name s
GROUP BY IF(s.USER IS NULL, 'background', s.USER)
ORDER BY SUM(s.CURRENT_NUMBER_OF_BYTES_USED) DESC

== pair user_summary: user, statements, statement_latency time, statement_avg_latency time, table_scans, file_ios, file_io_latency time, current_connections, total_connections, unique_hosts, current_memory bytes, total_memory_allocated bytes
SELECT IF(a.USER IS NULL, 'background', a.USER), SUM(st.total), SUM(st.total_latency),
  IFNULL(SUM(st.total_latency) / NULLIF(SUM(st.total), 0), 0), SUM(st.full_scans), SUM(io.ios),
  SUM(io.io_latency), SUM(a.CURRENT_CONNECTIONS), SUM(a.TOTAL_CONNECTIONS), COUNT(DISTINCT a.HOST),
  SUM(m.current_allocated), SUM(m.total_allocated)
FROM performance_schema.accounts a
LEFT JOIN sys.`x$user_summary_by_statement_latency` st ON st.user = IF(a.USER IS NULL, 'background', a.USER)
LEFT JOIN sys.`x$user_summary_by_file_io` io ON io.user = IF(a.USER IS NULL, 'background', a.USER)
LEFT JOIN sys.`x$memory_by_user_by_current_bytes` m ON m.user = IF(a.USER IS NULL, 'background', a.USER)
GROUP BY IF(a.USER IS NULL, 'background', a.USER)
