-- Views over the statements that performance_schema has summed up by their digests.

== pair statement_analysis: query statement, db, full_scan, exec_count, exec_secondary_count raw, err_count, warn_count, total_latency time, max_latency time, avg_latency time, lock_latency time, cpu_latency time, rows_sent, rows_sent_avg, rows_examined, rows_examined_avg, rows_affected, rows_affected_avg, tmp_tables, tmp_disk_tables, rows_sorted, sort_merge_passes, max_controlled_memory bytes, max_total_memory bytes, digest, first_seen, last_seen
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, IF(d.SUM_NO_INDEX_USED + d.SUM_NO_GOOD_INDEX_USED > 0, '*', ''),
  d.COUNT_STAR, d.COUNT_SECONDARY, d.SUM_ERRORS, d.SUM_WARNINGS, d.SUM_TIMER_WAIT, d.MAX_TIMER_WAIT,
  d.AVG_TIMER_WAIT, d.SUM_LOCK_TIME, d.SUM_CPU_TIME, d.SUM_ROWS_SENT, ROUND(IFNULL(d.SUM_ROWS_SENT / NULLIF(d.COUNT_STAR, 0), 0)),
  d.SUM_ROWS_EXAMINED, ROUND(IFNULL(d.SUM_ROWS_EXAMINED / NULLIF(d.COUNT_STAR, 0), 0)),
  d.SUM_ROWS_AFFECTED, ROUND(IFNULL(d.SUM_ROWS_AFFECTED / NULLIF(d.COUNT_STAR, 0), 0)),
  d.SUM_CREATED_TMP_TABLES, d.SUM_CREATED_TMP_DISK_TABLES, d.SUM_SORT_ROWS, d.SUM_SORT_MERGE_PASSES,
  d.MAX_CONTROLLED_MEMORY, d.MAX_TOTAL_MEMORY, d.DIGEST, d.FIRST_SEEN, d.LAST_SEEN
FROM performance_schema.events_statements_summary_by_digest d
ORDER BY d.SUM_TIMER_WAIT DESC

== pair statements_with_errors_or_warnings: query statement, db, exec_count, errors, error_pct, warnings, warning_pct, first_seen, last_seen, digest
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, d.COUNT_STAR, d.SUM_ERRORS,
  IFNULL(d.SUM_ERRORS / NULLIF(d.COUNT_STAR, 0), 0) * 100, d.SUM_WARNINGS,
  IFNULL(d.SUM_WARNINGS / NULLIF(d.COUNT_STAR, 0), 0) * 100, d.FIRST_SEEN, d.LAST_SEEN, d.DIGEST
FROM performance_schema.events_statements_summary_by_digest d
WHERE d.SUM_ERRORS + d.SUM_WARNINGS > 0
ORDER BY d.SUM_ERRORS DESC, d.SUM_WARNINGS DESC

== pair statements_with_full_table_scans: query statement, db, exec_count, total_latency time, no_index_used_count, no_good_index_used_count, no_index_used_pct, rows_sent, rows_examined, rows_sent_avg, rows_examined_avg, first_seen, last_seen, digest
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, d.COUNT_STAR, d.SUM_TIMER_WAIT, d.SUM_NO_INDEX_USED,
  d.SUM_NO_GOOD_INDEX_USED, ROUND(IFNULL(d.SUM_NO_INDEX_USED / NULLIF(d.COUNT_STAR, 0), 0) * 100),
  d.SUM_ROWS_SENT, d.SUM_ROWS_EXAMINED, ROUND(d.SUM_ROWS_SENT / d.COUNT_STAR),
  ROUND(d.SUM_ROWS_EXAMINED / d.COUNT_STAR), d.FIRST_SEEN, d.LAST_SEEN, d.DIGEST
FROM performance_schema.events_statements_summary_by_digest d
WHERE d.SUM_NO_INDEX_USED + d.SUM_NO_GOOD_INDEX_USED > 0 AND d.DIGEST_TEXT NOT LIKE 'SHOW%'
ORDER BY ROUND(IFNULL(d.SUM_NO_INDEX_USED / NULLIF(d.COUNT_STAR, 0), 0) * 100) DESC, d.SUM_TIMER_WAIT DESC

== pair statements_with_sorting: query statement, db, exec_count, total_latency time, sort_merge_passes, avg_sort_merges, sorts_using_scans, sort_using_range, rows_sorted, avg_rows_sorted, first_seen, last_seen, digest
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, d.COUNT_STAR, d.SUM_TIMER_WAIT, d.SUM_SORT_MERGE_PASSES,
  ROUND(IFNULL(d.SUM_SORT_MERGE_PASSES / NULLIF(d.COUNT_STAR, 0), 0)), d.SUM_SORT_SCAN, d.SUM_SORT_RANGE,
  d.SUM_SORT_ROWS, ROUND(IFNULL(d.SUM_SORT_ROWS / NULLIF(d.COUNT_STAR, 0), 0)),
  d.FIRST_SEEN, d.LAST_SEEN, d.DIGEST
FROM performance_schema.events_statements_summary_by_digest d
WHERE d.SUM_SORT_ROWS > 0
ORDER BY d.SUM_TIMER_WAIT DESC

== pair statements_with_temp_tables: query statement, db, exec_count, total_latency time, memory_tmp_tables, disk_tmp_tables, avg_tmp_tables_per_query, tmp_tables_to_disk_pct, first_seen, last_seen, digest
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, d.COUNT_STAR, d.SUM_TIMER_WAIT, d.SUM_CREATED_TMP_TABLES,
  d.SUM_CREATED_TMP_DISK_TABLES, ROUND(IFNULL(d.SUM_CREATED_TMP_TABLES / NULLIF(d.COUNT_STAR, 0), 0)),
  ROUND(IFNULL(d.SUM_CREATED_TMP_DISK_TABLES / NULLIF(d.SUM_CREATED_TMP_TABLES, 0), 0) * 100),
  d.FIRST_SEEN, d.LAST_SEEN, d.DIGEST
FROM performance_schema.events_statements_summary_by_digest d
WHERE d.SUM_CREATED_TMP_TABLES > 0
ORDER BY d.SUM_CREATED_TMP_DISK_TABLES DESC, d.SUM_CREATED_TMP_TABLES DESC

== view x$ps_digest_avg_latency_distribution: cnt, avg_us
SELECT COUNT(*), ROUND(d.AVG_TIMER_WAIT / 1000000)
FROM performance_schema.events_statements_summary_by_digest d
GROUP BY ROUND(d.AVG_TIMER_WAIT / 1000000)

== view x$ps_digest_95th_percentile_by_avg_us: avg_us, percentile
SELECT up_to.avg_us, IFNULL(SUM(below.cnt) / NULLIF((
    SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest), 0), 0)
FROM sys.`x$ps_digest_avg_latency_distribution` below
JOIN sys.`x$ps_digest_avg_latency_distribution` up_to ON below.avg_us <= up_to.avg_us
GROUP BY up_to.avg_us
HAVING IFNULL(SUM(below.cnt) / NULLIF((
    SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest), 0), 0) > 0.95
ORDER BY 2 LIMIT 1

== pair statements_with_runtimes_in_95th_percentile: query statement, db, full_scan, exec_count, err_count, warn_count, total_latency time, max_latency time, avg_latency time, rows_sent, rows_sent_avg, rows_examined, rows_examined_avg, first_seen, last_seen, digest
SELECT d.DIGEST_TEXT, d.SCHEMA_NAME, IF(d.SUM_NO_INDEX_USED + d.SUM_NO_GOOD_INDEX_USED > 0, '*', ''),
  d.COUNT_STAR, d.SUM_ERRORS, d.SUM_WARNINGS, d.SUM_TIMER_WAIT, d.MAX_TIMER_WAIT, d.AVG_TIMER_WAIT,
  d.SUM_ROWS_SENT, ROUND(IFNULL(d.SUM_ROWS_SENT / NULLIF(d.COUNT_STAR, 0), 0)),
  d.SUM_ROWS_EXAMINED, ROUND(IFNULL(d.SUM_ROWS_EXAMINED / NULLIF(d.COUNT_STAR, 0), 0)),
  d.FIRST_SEEN, d.LAST_SEEN, d.DIGEST
FROM performance_schema.events_statements_summary_by_digest d
JOIN sys.`x$ps_digest_95th_percentile_by_avg_us` slow ON ROUND(d.AVG_TIMER_WAIT / 1000000) >= slow.avg_us
ORDER BY d.AVG_TIMER_WAIT DESC
