-- The personnel of a company, after the shape of the sample database employees; a radius server's, a wiki's and a help desk's
-- tables, after those of FreeRADIUS, MediaWiki and osTicket.
SET NAMES utf8mb4;;
CREATE TABLE employees (
  emp_no INT NOT NULL,
  birth_date DATE NOT NULL,
  first_name VARCHAR(14) NOT NULL,
  last_name VARCHAR(16) NOT NULL,
  gender ENUM ('M','F') NOT NULL,
  hire_date DATE NOT NULL,
  PRIMARY KEY (emp_no)
);;
CREATE TABLE departments (dept_no CHAR(4) NOT NULL, dept_name VARCHAR(40) NOT NULL, PRIMARY KEY (dept_no), UNIQUE KEY (dept_name));;
CREATE TABLE dept_emp (
  emp_no INT NOT NULL,
  dept_no CHAR(4) NOT NULL,
  from_date DATE NOT NULL,
  to_date DATE NOT NULL,
  FOREIGN KEY (emp_no) REFERENCES employees (emp_no) ON DELETE CASCADE,
  FOREIGN KEY (dept_no) REFERENCES departments (dept_no) ON DELETE CASCADE,
  PRIMARY KEY (emp_no, dept_no)
);;
CREATE TABLE salaries (
  emp_no INT NOT NULL,
  salary INT NOT NULL,
  from_date DATE NOT NULL,
  to_date DATE NOT NULL,
  KEY (emp_no),
  PRIMARY KEY (emp_no, from_date)
) PARTITION BY RANGE COLUMNS (from_date) (
  PARTITION p01 VALUES LESS THAN ('1985-12-31'),
  PARTITION p02 VALUES LESS THAN ('1995-12-31'),
  PARTITION p03 VALUES LESS THAN (MAXVALUE)
);;
CREATE OR REPLACE VIEW dept_emp_latest_date AS SELECT emp_no, MAX(from_date) AS from_date, MAX(to_date) AS to_date FROM dept_emp GROUP BY emp_no;;
INSERT INTO departments VALUES ('d001', 'Marketing'), ('d002', 'Finance');;
INSERT INTO employees VALUES (10001, '1953-09-02', 'Georgi', 'Facello', 'M', '1986-06-26'), (10002, '1964-06-02', 'Bezalel', 'Simmel', 'F', '1985-11-21');;
INSERT INTO dept_emp VALUES (10001, 'd001', '1986-06-26', '9999-01-01'), (10002, 'd002', '1996-08-03', '9999-01-01');;
INSERT INTO salaries VALUES (10001, 60117, '1985-06-26', '1987-06-26'), (10001, 62102, '1990-06-26', '1991-06-26'), (10002, 65828, '1996-08-03', '1997-08-03');;
ALTER TABLE salaries REORGANIZE PARTITION p03 INTO (PARTITION p03 VALUES LESS THAN ('2000-12-31'), PARTITION p04 VALUES LESS THAN (MAXVALUE));;
ALTER TABLE salaries TRUNCATE PARTITION p02;;
DELETE FROM employees WHERE emp_no = 10002;;
CREATE TABLE IF NOT EXISTS radacct (
  radacctid BIGINT(21) NOT NULL AUTO_INCREMENT,
  acctsessionid VARCHAR(64) NOT NULL DEFAULT '',
  acctuniqueid VARCHAR(32) NOT NULL DEFAULT '',
  username VARCHAR(64) NOT NULL DEFAULT '',
  nasipaddress VARCHAR(15) NOT NULL DEFAULT '',
  acctstarttime DATETIME NULL DEFAULT NULL,
  acctstoptime DATETIME NULL DEFAULT NULL,
  acctinterval INT(12) DEFAULT NULL,
  acctsessiontime INT(12) UNSIGNED DEFAULT NULL,
  framedipv6address VARCHAR(45) NOT NULL DEFAULT '',
  PRIMARY KEY (radacctid),
  UNIQUE KEY acctuniqueid (acctuniqueid),
  KEY username (username),
  KEY bulk_close (acctstoptime, nasipaddress, acctstarttime)
) ENGINE = INNODB;;
CREATE TABLE IF NOT EXISTS radpostauth (
  id INT(11) NOT NULL AUTO_INCREMENT,
  username VARCHAR(64) NOT NULL DEFAULT '',
  authdate TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  class VARCHAR(64) DEFAULT NULL,
  PRIMARY KEY (id), KEY username (username), KEY class (class)
) ENGINE = INNODB;;
INSERT INTO radacct (acctsessionid, acctuniqueid, username, acctstarttime) VALUES ('s', 'u', 'bob', FROM_UNIXTIME(1700000000));;
UPDATE radacct SET acctstoptime = FROM_UNIXTIME(1700000100), acctsessiontime = 100 WHERE acctuniqueid = 'u';;
INSERT INTO radpostauth (username) VALUES ('bob');;
CREATE PROCEDURE fr_new_data_usage_period () SQL SECURITY INVOKER
BEGIN
    DECLARE v_start DATETIME;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    SELECT IFNULL(DATE_ADD(MAX(acctstoptime), INTERVAL 1 SECOND), FROM_UNIXTIME(0)) INTO v_start FROM radacct;
    START TRANSACTION;
    UPDATE radacct SET acctinterval = 1 WHERE acctstoptime > v_start;
    COMMIT;
END;;
CREATE TABLE page (
  page_id INT UNSIGNED AUTO_INCREMENT NOT NULL,
  page_namespace INT NOT NULL,
  page_title VARBINARY(255) NOT NULL,
  page_is_redirect TINYINT UNSIGNED DEFAULT 0 NOT NULL,
  page_random DOUBLE PRECISION UNSIGNED NOT NULL,
  page_touched BINARY(14) NOT NULL,
  page_links_updated VARBINARY(14) DEFAULT NULL,
  page_latest INT UNSIGNED NOT NULL,
  UNIQUE INDEX page_name_title (page_namespace, page_title),
  INDEX page_random (page_random),
  PRIMARY KEY(page_id)
) ENGINE=InnoDB, DEFAULT CHARSET=binary;;
CREATE TABLE searchindex (
  si_page INT UNSIGNED NOT NULL,
  si_title VARCHAR(255) DEFAULT '' NOT NULL,
  si_text MEDIUMTEXT NOT NULL,
  UNIQUE INDEX si_page (si_page),
  FULLTEXT INDEX si_title (si_title),
  FULLTEXT INDEX si_text (si_text)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb3;;
CREATE TABLE objectcache (
  keyname VARBINARY(255) DEFAULT '' NOT NULL,
  value MEDIUMBLOB DEFAULT NULL,
  exptime BINARY(14) NOT NULL,
  modtoken VARCHAR(17) DEFAULT '00000000000000000' NOT NULL,
  flags INT UNSIGNED DEFAULT NULL,
  INDEX exptime (exptime),
  PRIMARY KEY(keyname)
) ENGINE=InnoDB, DEFAULT CHARSET=binary;;
INSERT INTO page (page_namespace, page_title, page_random, page_touched, page_latest) VALUES (0, 'Main_Page', 0.5, '20260101000000', 1), (1, 'Ü', 0.25, '20260101000000', 2);;
INSERT INTO searchindex VALUES (1, 'main page', 'words of the page'), (2, '', '');;
INSERT INTO objectcache VALUES ('wiki:messages', COMPRESS(REPEAT('x', 5000)), '20260101000000', '1', NULL);;
ALTER TABLE page CHANGE page_links_updated page_links_updated BINARY(14) DEFAULT NULL, ADD page_lang VARBINARY(35) DEFAULT NULL;;
DROP INDEX page_random ON page;;
CREATE INDEX page_redirect_namespace_len ON page (page_is_redirect, page_namespace, page_latest);;
CREATE TABLE `ost_ticket` (
  `ticket_id` int(11) unsigned NOT NULL auto_increment,
  `number` varchar(20),
  `user_id` int(11) unsigned NOT NULL default '0',
  `flags` int(10) unsigned NOT NULL default '0',
  `source` enum('Web','Email','Phone','API','Other') NOT NULL default 'Other',
  `ip_address` varchar(64) NOT NULL default '',
  `isoverdue` tinyint(1) unsigned NOT NULL default '0',
  `created` datetime NOT NULL,
  `updated` datetime NOT NULL,
  PRIMARY KEY (`ticket_id`),
  KEY `user_id` (`user_id`),
  KEY `created` (`created`)
) DEFAULT CHARSET=utf8;;
CREATE TABLE `ost_config` (
  `id` int(11) unsigned NOT NULL auto_increment,
  `namespace` varchar(64) NOT NULL,
  `key` varchar(64) NOT NULL,
  `value` text NOT NULL,
  `updated` timestamp NOT NULL default CURRENT_TIMESTAMP on update CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`),
  UNIQUE KEY (`namespace`, `key`)
) DEFAULT CHARSET=utf8;;
CREATE TABLE `ost__search` (
  `object_type` varchar(8) not null,
  `object_id` int(11) unsigned not null,
  `title` text,
  `content` text,
  primary key (`object_type`, `object_id`),
  fulltext key `search` (`title`, `content`)
) ENGINE=MyISAM CHARSET=utf8;;
SET sql_mode = '';;
INSERT INTO `ost_ticket` (`number`, `created`) VALUES ('100', NOW()), ('101', '2026-01-01');;
INSERT INTO `ost_config` (`namespace`, `key`, `value`) VALUES ('core', 'schema_signature', 'abc'), ('core', 'isonline', '1');;
REPLACE INTO `ost__search` SELECT 'T', ticket_id, number, NULL FROM `ost_ticket`;;
ALTER TABLE `ost_ticket` ADD `status_id` int(11) unsigned NOT NULL default '0' AFTER `user_id`, ADD INDEX `status_id` (`status_id`), CHANGE `source` `source` enum('Web','Email','Phone','API','Other','Chat') NOT NULL DEFAULT 'Other';;
UPDATE `ost_ticket` SET `status_id` = 1, `source` = 'Chat' WHERE `number` = '100';;
ALTER TABLE `ost_ticket` CONVERT TO CHARACTER SET utf8mb4;;
SET sql_mode = DEFAULT;;
