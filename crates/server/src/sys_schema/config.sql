-- The settings of the schema's own objects. MySQL's two triggers on the table are left out: they
-- note who has changed a row only if @sys.ignore_sys_config_triggers is false.


== statement
CREATE TABLE IF NOT EXISTS sys.sys_config (
  variable VARCHAR(128) NOT NULL,
  value VARCHAR(128) DEFAULT NULL,
  set_time TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  set_by VARCHAR(128) DEFAULT NULL,
  PRIMARY KEY (variable)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci

== statement
INSERT IGNORE INTO sys.sys_config (variable, value) VALUES
  ('diagnostics.allow_i_s_tables', 'OFF'),
  ('diagnostics.include_raw', 'OFF'),
  ('ps_thread_trx_info.max_length', '65535'),
  ('statement_performance_analyzer.limit', '100'),
  ('statement_performance_analyzer.view', NULL),
  ('statement_truncate_len', '64')
