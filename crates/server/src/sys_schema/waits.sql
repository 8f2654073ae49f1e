-- Views over waits, files and memory.

== pair waits_by_host_by_latency: host, event, total, total_latency time, avg_latency time, max_latency time
SELECT IF(w.HOST IS NULL, 'background', w.HOST), w.EVENT_NAME, w.COUNT_STAR, w.SUM_TIMER_WAIT, w.AVG_TIMER_WAIT, w.MAX_TIMER_WAIT
FROM performance_schema.events_waits_summary_by_host_by_event_name w
WHERE w.EVENT_NAME <> 'idle' AND w.SUM_TIMER_WAIT > 0
ORDER BY IF(w.HOST IS NULL, 'background', w.HOST), w.SUM_TIMER_WAIT DESC

== pair waits_by_user_by_latency: user, event, total, total_latency time, avg_latency time, max_latency time
SELECT IF(w.USER IS NULL, 'background', w.USER), w.EVENT_NAME, w.COUNT_STAR, w.SUM_TIMER_WAIT, w.AVG_TIMER_WAIT, w.MAX_TIMER_WAIT
FROM performance_schema.events_waits_summary_by_user_by_event_name w
WHERE w.EVENT_NAME <> 'idle' AND w.SUM_TIMER_WAIT > 0
ORDER BY IF(w.USER IS NULL, 'background', w.USER), w.SUM_TIMER_WAIT DESC

== pair waits_global_by_latency: events, total, total_latency time, avg_latency time, max_latency time
SELECT w.EVENT_NAME, w.COUNT_STAR, w.SUM_TIMER_WAIT, w.AVG_TIMER_WAIT, w.MAX_TIMER_WAIT
FROM performance_schema.events_waits_summary_global_by_event_name w
WHERE w.EVENT_NAME <> 'idle' AND w.SUM_TIMER_WAIT > 0
ORDER BY w.SUM_TIMER_WAIT DESC

== pair wait_classes_global_by_avg_latency: event_class, total, total_latency time, min_latency time, avg_latency time, max_latency time
SELECT SUBSTRING_INDEX(w.EVENT_NAME, '/', 3), SUM(w.COUNT_STAR), SUM(w.SUM_TIMER_WAIT), MIN(w.MIN_TIMER_WAIT),
  IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0), MAX(w.MAX_TIMER_WAIT)
FROM performance_schema.events_waits_summary_global_by_event_name w
WHERE w.EVENT_NAME <> 'idle' AND w.SUM_TIMER_WAIT > 0
GROUP BY SUBSTRING_INDEX(w.EVENT_NAME, '/', 3)
ORDER BY IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0) DESC

== pair wait_classes_global_by_latency: event_class, total, total_latency time, min_latency time, avg_latency time, max_latency time
SELECT SUBSTRING_INDEX(w.EVENT_NAME, '/', 3), SUM(w.COUNT_STAR), SUM(w.SUM_TIMER_WAIT), MIN(w.MIN_TIMER_WAIT),
  IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0), MAX(w.MAX_TIMER_WAIT)
FROM performance_schema.events_waits_summary_global_by_event_name w
WHERE w.EVENT_NAME <> 'idle' AND w.SUM_TIMER_WAIT > 0
GROUP BY SUBSTRING_INDEX(w.EVENT_NAME, '/', 3)
ORDER BY SUM(w.SUM_TIMER_WAIT) DESC

== pair io_global_by_file_by_bytes: file path, count_read, total_read bytes, avg_read bytes, count_write, total_written bytes, avg_write bytes, total bytes, write_pct
SELECT f.FILE_NAME, f.COUNT_READ, f.SUM_NUMBER_OF_BYTES_READ,
  IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0), f.COUNT_WRITE, f.SUM_NUMBER_OF_BYTES_WRITE,
  IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0),
  f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE,
  IFNULL(ROUND(100 - f.SUM_NUMBER_OF_BYTES_READ / NULLIF(
    f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE, 0) * 100, 2), 0.00)
FROM performance_schema.file_summary_by_instance f
ORDER BY f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE DESC

== pair io_global_by_file_by_latency: file path, total, total_latency time, count_read, read_latency time, count_write, write_latency time, count_misc, misc_latency time
SELECT f.FILE_NAME, f.COUNT_STAR, f.SUM_TIMER_WAIT, f.COUNT_READ, f.SUM_TIMER_READ, f.COUNT_WRITE,
  f.SUM_TIMER_WRITE, f.COUNT_MISC, f.SUM_TIMER_MISC
FROM performance_schema.file_summary_by_instance f
ORDER BY f.SUM_TIMER_WAIT DESC

== pair io_global_by_wait_by_bytes: event_name, total, total_latency time, min_latency time, avg_latency time, max_latency time, count_read, total_read bytes, avg_read bytes, count_write, total_written bytes, avg_written bytes, total_requested bytes
SELECT SUBSTRING_INDEX(f.EVENT_NAME, '/', -2), f.COUNT_STAR, f.SUM_TIMER_WAIT, f.MIN_TIMER_WAIT,
  f.AVG_TIMER_WAIT, f.MAX_TIMER_WAIT, f.COUNT_READ, f.SUM_NUMBER_OF_BYTES_READ,
  IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0), f.COUNT_WRITE, f.SUM_NUMBER_OF_BYTES_WRITE,
  IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0),
  f.SUM_NUMBER_OF_BYTES_WRITE + f.SUM_NUMBER_OF_BYTES_READ
FROM performance_schema.file_summary_by_event_name f
WHERE f.EVENT_NAME LIKE 'wait/io/file/%' AND f.COUNT_STAR > 0
ORDER BY f.SUM_NUMBER_OF_BYTES_WRITE + f.SUM_NUMBER_OF_BYTES_READ DESC

== pair io_global_by_wait_by_latency: event_name, total, total_latency time, avg_latency time, max_latency time, read_latency time, write_latency time, misc_latency time, count_read, total_read bytes, avg_read bytes, count_write, total_written bytes, avg_written bytes
SELECT SUBSTRING_INDEX(f.EVENT_NAME, '/', -2), f.COUNT_STAR, f.SUM_TIMER_WAIT, f.AVG_TIMER_WAIT,
  f.MAX_TIMER_WAIT, f.SUM_TIMER_READ, f.SUM_TIMER_WRITE, f.SUM_TIMER_MISC, f.COUNT_READ,
  f.SUM_NUMBER_OF_BYTES_READ, IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0), f.COUNT_WRITE,
  f.SUM_NUMBER_OF_BYTES_WRITE, IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0)
FROM performance_schema.file_summary_by_event_name f
WHERE f.EVENT_NAME LIKE 'wait/io/file/%' AND f.COUNT_STAR > 0
ORDER BY f.SUM_TIMER_WAIT DESC

== pair memory_global_by_current_bytes: event_name, current_count, current_alloc bytes, current_avg_alloc bytes, high_count, high_alloc bytes, high_avg_alloc bytes
SELECT m.EVENT_NAME, m.CURRENT_COUNT_USED, m.CURRENT_NUMBER_OF_BYTES_USED,
  IFNULL(m.CURRENT_NUMBER_OF_BYTES_USED / NULLIF(m.CURRENT_COUNT_USED, 0), 0), m.HIGH_COUNT_USED,
  m.HIGH_NUMBER_OF_BYTES_USED, IFNULL(m.HIGH_NUMBER_OF_BYTES_USED / NULLIF(m.HIGH_COUNT_USED, 0), 0)
FROM performance_schema.memory_summary_global_by_event_name m
WHERE m.CURRENT_NUMBER_OF_BYTES_USED > 0
ORDER BY m.CURRENT_NUMBER_OF_BYTES_USED DESC

== pair memory_global_total: total_allocated bytes
SELECT SUM(m.CURRENT_NUMBER_OF_BYTES_USED) FROM performance_schema.memory_summary_global_by_event_name m

== pair memory_by_thread_by_current_bytes: thread_id, user, current_count_used, current_allocated bytes, current_avg_alloc bytes, current_max_alloc bytes, total_allocated bytes
SELECT t.THREAD_ID, IF(t.NAME LIKE 'thread/sql/one\_connection',
    CONCAT(t.PROCESSLIST_USER, '@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4)), REPLACE(t.NAME, 'thread/', '')),
  SUM(m.CURRENT_COUNT_USED), SUM(m.CURRENT_NUMBER_OF_BYTES_USED),
  IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0),
  MAX(m.CURRENT_NUMBER_OF_BYTES_USED), SUM(m.SUM_NUMBER_OF_BYTES_ALLOC)
FROM performance_schema.memory_summary_by_thread_by_event_name m
JOIN performance_schema.threads t ON t.THREAD_ID = m.THREAD_ID
GROUP BY t.THREAD_ID, 2
ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC

== pair io_by_thread_by_latency: user, total, total_latency time, min_latency time, avg_latency time, max_latency time, thread_id, processlist_id
SELECT IF(t.PROCESSLIST_ID IS NULL, SUBSTRING_INDEX(t.NAME, '/', -1),
    CONCAT(t.PROCESSLIST_USER, '@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4))),
  SUM(w.COUNT_STAR), SUM(w.SUM_TIMER_WAIT), MIN(w.MIN_TIMER_WAIT), AVG(w.AVG_TIMER_WAIT),
  MAX(w.MAX_TIMER_WAIT), t.THREAD_ID, t.PROCESSLIST_ID
FROM performance_schema.events_waits_summary_by_thread_by_event_name w
JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID
WHERE w.EVENT_NAME LIKE 'wait/io/file/%' AND w.SUM_TIMER_WAIT > 0
GROUP BY t.THREAD_ID, t.PROCESSLIST_ID, 1
ORDER BY SUM(w.SUM_TIMER_WAIT) DESC

== pair latest_file_io: thread, file path, latency time, operation, requested bytes
SELECT IF(t.PROCESSLIST_ID IS NULL, CONCAT(SUBSTRING_INDEX(t.NAME, '/', -1), ':', w.THREAD_ID),
    CONCAT(t.PROCESSLIST_USER, '@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4), ':', t.PROCESSLIST_ID)),
  w.OBJECT_NAME, w.TIMER_WAIT, w.OPERATION, w.NUMBER_OF_BYTES
FROM performance_schema.events_waits_history_long w
JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID
WHERE w.EVENT_NAME LIKE 'wait/io/file/%' AND w.OBJECT_NAME IS NOT NULL
ORDER BY w.TIMER_START
