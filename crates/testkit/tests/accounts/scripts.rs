//! The scripts. When a script starts, none of its accounts exists; no two scripts use the same
//! names.

/// All scripts, in the order in which they are played.
pub const SCRIPTS: &[&str] = &[
    ATTRIBUTES, MISTAKES, HISTORY, CURRENT, TWO, BLOCKED, EXPIRED, LIMITED, REQUIRED, LOCKED, ROLES,
    ROUTINES, MANDATORY, SIGHTS,
];

const ATTRIBUTES: &str = r#"
> CREATE USER a1 IDENTIFIED BY 'x' REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 1 MAX_UPDATES_PER_HOUR 2 MAX_CONNECTIONS_PER_HOUR 3 MAX_USER_CONNECTIONS 4 PASSWORD EXPIRE INTERVAL 3 DAY PASSWORD HISTORY 5 PASSWORD REUSE INTERVAL 6 DAY PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 4 ACCOUNT LOCK COMMENT 'hi"''\\ '
> SHOW CREATE USER a1
> SELECT ssl_type, ssl_cipher, x509_issuer, x509_subject, max_questions, max_updates, max_connections, max_user_connections, plugin, password_expired, password_last_changed IS NULL, password_lifetime, account_locked, Create_role_priv, Drop_role_priv, Password_reuse_history, Password_reuse_time, Password_require_current, User_attributes FROM mysql.user WHERE User = 'a1'
> SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER = 'a1'
> FLUSH PRIVILEGES
> SHOW CREATE USER a1
> ALTER USER a1 PASSWORD EXPIRE
> SHOW CREATE USER a1
> ALTER USER a1 REQUIRE NONE PASSWORD EXPIRE NEVER PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT ACCOUNT UNLOCK
> SHOW CREATE USER a1
> ALTER USER a1 PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD_LOCK_TIME UNBOUNDED
> SHOW CREATE USER a1
> ALTER USER a1 FAILED_LOGIN_ATTEMPTS 0 PASSWORD_LOCK_TIME 0 ATTRIBUTE '{"a": 1, "b": [1,2], "comment": null}'
> SHOW CREATE USER a1
> SELECT User_attributes FROM mysql.user WHERE User = 'a1'
> ALTER USER a1 ATTRIBUTE '{"a": null, "z": {"y":"x"}}'
> SELECT ATTRIBUTE FROM information_schema.USER_ATTRIBUTES WHERE USER = 'a1'
> CREATE USER a2 ATTRIBUTE '{}'
> SHOW CREATE USER a2
> ALTER USER a2 COMMENT ''
> SHOW CREATE USER a2
> ALTER USER a2 PASSWORD_LOCK_TIME 2
> SHOW CREATE USER a2
> ALTER USER a2 FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 0
> SELECT User_attributes FROM mysql.user WHERE User = 'a2'
> CREATE USER a3 IDENTIFIED WITH caching_sha2_password
> SHOW CREATE USER a3
> ALTER USER a3 IDENTIFIED WITH caching_sha2_password
> SHOW CREATE USER a3
> ALTER USER a3 IDENTIFIED BY ''
> SHOW CREATE USER a3
> ALTER USER a3 REQUIRE CIPHER 'a' AND ISSUER '/CN=b' SUBJECT '/CN=c'
> SHOW CREATE USER a3
> SELECT ssl_type, ssl_cipher, x509_issuer, x509_subject FROM mysql.user WHERE User = 'a3'
> ALTER USER a3 REQUIRE X509
> SELECT ssl_type, ssl_cipher, x509_issuer, x509_subject FROM mysql.user WHERE User = 'a3'
> ALTER USER a3 REQUIRE SUBJECT ''
> SHOW CREATE USER a3
> CREATE USER a4 PASSWORD EXPIRE INTERVAL 5 DAY PASSWORD EXPIRE NEVER PASSWORD EXPIRE
> SHOW CREATE USER a4
> CREATE USER a5 WITH MAX_USER_CONNECTIONS 4294967297 MAX_QUERIES_PER_HOUR 2 MAX_QUERIES_PER_HOUR 3
> SHOW CREATE USER a5
> RENAME USER a5 TO a6
> SHOW CREATE USER a6
> SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'user'
> SHOW VARIABLES WHERE Variable_name IN ('password_history', 'password_reuse_interval', 'password_require_current', 'default_password_lifetime', 'disconnect_on_expired_password', 'print_identified_with_as_hex', 'max_user_connections', 'caching_sha2_password_digest_rounds')
"#;

const MISTAKES: &str = r#"
> CREATE USER m1 REQUIRE SUBJECT '/CN=a' SUBJECT '/CN=c'
> CREATE USER m1 REQUIRE X509 AND SSL
> CREATE USER m1 REQUIRE NONE REQUIRE SSL
> CREATE USER m1 WITH
> CREATE USER m1 WITH MAX_USER_CONNECTIONS -1
> CREATE USER m1 PASSWORD EXPIRE INTERVAL 0 DAY
> CREATE USER m1 PASSWORD EXPIRE INTERVAL 65536 DAY
> CREATE USER m1 FAILED_LOGIN_ATTEMPTS 32768
> CREATE USER m1 PASSWORD_LOCK_TIME 32768
> CREATE USER m1 COMMENT 'x' ATTRIBUTE '{}'
> CREATE USER m1 COMMENT 'a' ACCOUNT LOCK
> CREATE USER m1 ATTRIBUTE 'x'
> CREATE USER m1 ATTRIBUTE '[1]'
> CREATE USER m1 ATTRIBUTE ''
> CREATE USER m1 IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD
> CREATE USER m1 IDENTIFIED BY 'x' AND IDENTIFIED WITH caching_sha2_password BY 'y'
> CREATE USER m1 IDENTIFIED WITH foo BY 'x'
> CREATE USER m1 IDENTIFIED WITH caching_sha2_password AS '$A$005$abc'
> CREATE USER m1
> CREATE USER m1
> ALTER USER nobody IDENTIFIED BY 'x'
> DROP USER nobody, nobody2
> RENAME USER nobody TO nobody2
> SET PASSWORD FOR nobody = 'x'
> ALTER USER m1 IDENTIFIED BY 'x' AND IDENTIFIED BY 'y'
> ALTER USER m1 ADD 2 FACTOR IDENTIFIED WITH caching_sha2_password BY 'x'
> ALTER USER m1 ADD 2 FACTOR IDENTIFIED BY 'x'
> ALTER USER m1 ADD 4 FACTOR IDENTIFIED BY 'x'
> ALTER USER m1 DROP 2 FACTOR
> ALTER USER m1 MODIFY 2 FACTOR IDENTIFIED BY 'x'
> ALTER USER m1 RETAIN CURRENT PASSWORD
> ALTER USER USER() ACCOUNT LOCK
> ALTER USER USER() PASSWORD EXPIRE
> ALTER USER m1 IDENTIFIED BY 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
> SET PASSWORD FOR m1 = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
> ALTER USER m1 IDENTIFIED BY 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
in m1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
in m1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
> INSTALL COMPONENT 'nothing'
> UNINSTALL COMPONENT 'file://nothing'
> DROP USER m1
"#;

const HISTORY: &str = r#"
> CREATE USER h1 IDENTIFIED BY 'p1' PASSWORD HISTORY 2
> ALTER USER h1 IDENTIFIED BY 'p1'
> ALTER USER h1 IDENTIFIED BY 'p2'
> ALTER USER h1 IDENTIFIED BY 'p1'
> ALTER USER h1 IDENTIFIED BY 'p3'
> ALTER USER h1 IDENTIFIED BY 'p1'
> SELECT Host, User, COUNT(*) FROM mysql.password_history GROUP BY Host, User
in h1 p1
in h1 p3
> ALTER USER h1 PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL 1 DAY
> ALTER USER h1 IDENTIFIED BY 'q1'
> ALTER USER h1 IDENTIFIED BY 'q1'
> SET PASSWORD FOR h1 = 'q1'
> ALTER USER h1 IDENTIFIED BY ''
> ALTER USER h1 IDENTIFIED BY ''
> RENAME USER h1 TO h2
> FLUSH PRIVILEGES
> ALTER USER h2 IDENTIFIED BY 'q1'
> SELECT Host, User, COUNT(*) FROM mysql.password_history GROUP BY Host, User
> DROP USER h2
> SELECT COUNT(*) FROM mysql.password_history
> SET GLOBAL password_history = 1
> CREATE USER h3 IDENTIFIED BY 'p'
> ALTER USER h3 IDENTIFIED BY 'p'
> SET GLOBAL password_history = DEFAULT
> ALTER USER h3 IDENTIFIED BY 'p'
> DROP USER h3
"#;

const CURRENT: &str = r#"
> CREATE USER c1 IDENTIFIED BY 'a' PASSWORD REQUIRE CURRENT
> ALTER USER c1 IDENTIFIED BY 'a'
> ALTER USER c1 IDENTIFIED BY 'a' REPLACE 'a'
keep s c1 a
s> SET PASSWORD = 'b'
s> SET PASSWORD = 'b' REPLACE 'x'
s> ALTER USER c1 IDENTIFIED BY 'b'
s> ALTER USER USER() IDENTIFIED BY 'b'
s> ALTER USER c1 IDENTIFIED BY 'b' REPLACE 'a'
s> ALTER USER c1 IDENTIFIED BY 'b' PASSWORD EXPIRE
s> ALTER USER c1 ACCOUNT LOCK
s> ALTER USER USER() IDENTIFIED BY 'e' RETAIN CURRENT PASSWORD
s> ALTER USER USER() DISCARD OLD PASSWORD
s> SET PASSWORD FOR m0 = 'b'
s> SET PASSWORD = 'c' REPLACE 'b'
in c1 b
in c1 c
> CREATE USER c2 IDENTIFIED BY 'a'
keep t c2 a
> SET GLOBAL password_require_current = 1
t> SET PASSWORD = 'b'
> ALTER USER c2 PASSWORD REQUIRE CURRENT OPTIONAL
t> SET PASSWORD = 'b'
> SET GLOBAL password_require_current = DEFAULT
"#;

const TWO: &str = r#"
> CREATE USER t1 IDENTIFIED BY 'a'
> ALTER USER t1 IDENTIFIED BY 'b' RETAIN CURRENT PASSWORD
> SELECT User_attributes FROM mysql.user WHERE User = 't1'
> SELECT ATTRIBUTE FROM information_schema.USER_ATTRIBUTES WHERE USER = 't1'
in t1 a
in t1 b
in t1 a
in t1 c
> FLUSH PRIVILEGES
in t1 a
> ALTER USER t1 IDENTIFIED BY 'c'
in t1 a
in t1 b
in t1 c
> ALTER USER t1 IDENTIFIED BY '' RETAIN CURRENT PASSWORD
> ALTER USER t1 DISCARD OLD PASSWORD
in t1 a
in t1 c
> SELECT User_attributes FROM mysql.user WHERE User = 't1'
> CREATE USER t2
> ALTER USER t2 IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD
> SET PASSWORD FOR t2 = 'y' RETAIN CURRENT PASSWORD
> SET PASSWORD FOR t2 = 'y' REPLACE 'x'
"#;

const BLOCKED: &str = r#"
> CREATE USER b1 IDENTIFIED BY 'r' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 3
in b1 w
in b1 r
in b1 w
in b1 w
in b1 r
in b1 -
> ALTER USER b1 ACCOUNT UNLOCK
in b1 r
in b1 -
in b1 -
> FLUSH PRIVILEGES
in b1 r
> ALTER USER b1 PASSWORD_LOCK_TIME UNBOUNDED
in b1 w
in b1 w
in b1 r
> ALTER USER b1 IDENTIFIED BY 'r'
in b1 r
> ALTER USER b1 ACCOUNT LOCK
in b1 r
> ALTER USER b1 FAILED_LOGIN_ATTEMPTS 3
in b1 r
> ALTER USER b1 ACCOUNT UNLOCK
in b1 r
> CREATE USER b2 IDENTIFIED BY 'r'
keep s b2 r
s change b1 w
keep s b2 r
s change b1 w
keep s b2 r
s change b1 w
in b1 r
> CREATE USER b3 IDENTIFIED BY 'r' FAILED_LOGIN_ATTEMPTS 1
in b3 w
in b3 r
"#;

const EXPIRED: &str = r#"
> CREATE USER e1 IDENTIFIED BY 'r' PASSWORD EXPIRE
in e1 r
in e1 w
keep s e1 r expired
s> SELECT 1
s> SET @a = 1
s> ROLLBACK
s> SHOW WARNINGS
s> NO STATEMENT
s> EXECUTE x
s> ALTER USER nobody IDENTIFIED BY 'x'
s> SET PASSWORD FOR nobody = 'x'
s ping
s> SET PASSWORD = 'n'
s> DO 1
in e1 n
> ALTER USER e1 PASSWORD EXPIRE
s> DO 1
in e1 n
keep s e1 n expired
s> ALTER USER e1 IDENTIFIED BY 'o'
s> DO 1
> CREATE USER e2 IDENTIFIED BY 'r' PASSWORD EXPIRE INTERVAL 1 DAY
in e2 r
> UPDATE mysql.user SET password_last_changed = NOW() - INTERVAL 2 DAY WHERE User = 'e2'
> FLUSH PRIVILEGES
in e2 r
> ALTER USER e2 PASSWORD EXPIRE NEVER
in e2 r
> ALTER USER e2 PASSWORD EXPIRE DEFAULT
> SET GLOBAL default_password_lifetime = 1
in e2 r
> SET GLOBAL default_password_lifetime = DEFAULT
in e2 r
> ALTER USER e2 PASSWORD EXPIRE ACCOUNT LOCK
in e2 r
keep t e2 r expired
> CREATE USER e3 IDENTIFIED BY 'r'
> ALTER USER e2 ACCOUNT UNLOCK
keep t e3 r
t change e2 r
keep t e3 r expired
t change e2 r
t> DO 1
t change e3 r
> CREATE USER e4 IDENTIFIED BY 'r'
> GRANT CREATE USER ON *.* TO e4
keep u e4 r
u> ALTER USER e4 PASSWORD EXPIRE
u> DO 1
u> ALTER USER USER() IDENTIFIED BY 's'
u> DO 1
"#;

const LIMITED: &str = r#"
> CREATE DATABASE limited
> CREATE TABLE limited.t (a INT)
> CREATE USER l1 IDENTIFIED BY 'r' WITH MAX_QUERIES_PER_HOUR 3 MAX_USER_CONNECTIONS 1
keep s l1 r
in l1 r
s> DO 1
s> DO 1
s ping
s> DO 1
s> DO 1
s drop
> FLUSH USER_RESOURCES
keep s l1 r
s> DO 1
> CREATE USER l2 IDENTIFIED BY 'r' WITH MAX_UPDATES_PER_HOUR 1
> GRANT ALL ON limited.* TO l2
keep t l2 r
t> INSERT INTO limited.t VALUES (1)
t> INSERT INTO limited.t VALUES (1)
t> DO 1
t> CREATE TABLE limited.x (a INT)
t> COMMIT
t> SET @a = 1
t> DELETE FROM limited.t
t> SELECT * FROM limited.t
t> START TRANSACTION
> CREATE USER l3 IDENTIFIED BY 'r' WITH MAX_CONNECTIONS_PER_HOUR 2
in l3 w
in l3 r
in l3 r
in l3 r
in l3 w
s change l3 r
> FLUSH PRIVILEGES
in l3 r
> CREATE USER l4 IDENTIFIED BY 'r'
> SET GLOBAL max_user_connections = 1
keep u l4 r
in l4 r
> SET GLOBAL max_user_connections = DEFAULT
in l4 r
> DROP DATABASE limited
"#;

const REQUIRED: &str = r#"
> CREATE USER r1 IDENTIFIED BY 'r' REQUIRE SSL
> CREATE USER r2 IDENTIFIED BY 'r' REQUIRE X509
> CREATE USER r3 IDENTIFIED BY 'r' REQUIRE CIPHER 'X'
> CREATE USER r4 IDENTIFIED BY 'r' REQUIRE SUBJECT '/CN=x'
in r1 r
in r1 w tls
in r1 r tls
in r2 r
in r2 r tls
in r3 r tls
in r4 r tls
keep s r1 r tls
s change r1 r
s change r2 r
"#;

const LOCKED: &str = r#"
> CREATE USER k1 IDENTIFIED BY 'r' ACCOUNT LOCK
in k1 r
in k1 w
> CREATE USER k2 IDENTIFIED BY 'r'
keep s k2 r
s change k1 r
keep s k2 r
> ALTER USER k2 ACCOUNT LOCK
s> DO 1
in k2 r
> SHOW STATUS LIKE 'Locked_connects'
> ALTER USER k1 REQUIRE X509
in k1 r
> ALTER USER k1 REQUIRE NONE PASSWORD EXPIRE
in k1 r
"#;

const ROLES: &str = r#"
> CREATE DATABASE ro
> CREATE TABLE ro.t (id INT PRIMARY KEY, v INT)
> CREATE PROCEDURE ro.p() SELECT 1
> CREATE FUNCTION ro.f() RETURNS INT DETERMINISTIC RETURN 1
> CREATE ROLE ro1, ro2, ro3, ro4
> CREATE USER ro5 IDENTIFIED BY 'x', ro6 IDENTIFIED BY 'x'
> GRANT SELECT, INSERT (id) ON ro.t TO ro1 WITH GRANT OPTION
> GRANT UPDATE (v), SELECT (id) ON ro.t TO ro2
> GRANT EXECUTE ON PROCEDURE ro.p TO ro2 WITH GRANT OPTION
> GRANT ALTER ROUTINE ON FUNCTION ro.f TO ro1
> GRANT ro3 TO ro2
> GRANT ro1, ro2 TO ro5 WITH ADMIN OPTION
> SET DEFAULT ROLE ro1 TO ro5
> GRANT ROLE_ADMIN ON *.* TO ro6
keep a ro5 x
a> SELECT CURRENT_ROLE()
a> SELECT * FROM information_schema.ENABLED_ROLES
a> SELECT GRANTEE, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE, GRANTOR IS NULL FROM information_schema.ROLE_TABLE_GRANTS
a> SELECT ROLES_GRAPHML()
a> SET ROLE ALL
a> SELECT * FROM information_schema.ENABLED_ROLES ORDER BY ROLE_NAME
a> SELECT * FROM information_schema.APPLICABLE_ROLES ORDER BY GRANTEE, ROLE_NAME
a> SELECT * FROM information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS ORDER BY ROLE_NAME
a> SELECT GRANTEE, GRANTEE_HOST, TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.ROLE_TABLE_GRANTS ORDER BY GRANTEE
a> SELECT GRANTEE, TABLE_NAME, COLUMN_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.ROLE_COLUMN_GRANTS ORDER BY GRANTEE, COLUMN_NAME
a> SELECT GRANTEE, SPECIFIC_CATALOG, SPECIFIC_SCHEMA, SPECIFIC_NAME, ROUTINE_SCHEMA, ROUTINE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.ROLE_ROUTINE_GRANTS ORDER BY GRANTEE
a> SET ROLE NONE
a> SELECT COUNT(*) FROM information_schema.ROLE_TABLE_GRANTS
keep b ro6 x
b> SELECT (LENGTH(ROLES_GRAPHML()) - LENGTH(REPLACE(ROLES_GRAPHML(), '<edge id', ''))) / 8
b> SELECT ROLES_GRAPHML() LIKE '%<data key="key1">`ro5`@`%`</data>%', ROLES_GRAPHML() LIKE '%<data key="key0">1</data>%'
> CREATE USER ro7 IDENTIFIED BY 'x', ro8 IDENTIFIED BY 'x'
> GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO ro7, ro8
> GRANT ROLE_ADMIN ON *.* TO ro8
> GRANT SYSTEM_USER ON *.* TO ro3
keep c ro7 x
c> SET GLOBAL mandatory_roles = 'ro4'
keep d ro8 x
d> SET GLOBAL mandatory_roles = 'ro3'
d> SET GLOBAL mandatory_roles = 'nobody_there, ro3'
d> SET GLOBAL mandatory_roles = 'ro4'
> GRANT SYSTEM_USER ON *.* TO ro4
> GRANT ALL ON *.* TO ro4
> SET GLOBAL mandatory_roles = ''
> GRANT SYSTEM_USER ON *.* TO ro4
"#;

const MANDATORY: &str = r#"
> CREATE DATABASE ma
> CREATE TABLE ma.t (a INT PRIMARY KEY, b INT)
> CREATE ROLE mar1, mar2
> GRANT SELECT ON ma.* TO mar1
> CREATE USER ma1 IDENTIFIED BY 'x', ma2 IDENTIFIED BY 'x'
> GRANT mar2 TO ma2
> SET GLOBAL mandatory_roles = 'mar1, nobody_there'
keep a ma1 x
a> SELECT CURRENT_ROLE()
a> SHOW GRANTS
a> SHOW GRANTS FOR CURRENT_USER
a> SHOW GRANTS FOR ma1
a> SELECT COUNT(*) FROM ma.t
a> SHOW CREATE DATABASE ma
a> SET ROLE NONE
a> SHOW GRANTS
a> SELECT COUNT(*) FROM ma.t
a> SET ROLE DEFAULT
a> SELECT CURRENT_ROLE()
a> SET ROLE ALL
a> SELECT CURRENT_ROLE()
keep b ma2 x
b> SELECT CURRENT_ROLE()
b> SHOW GRANTS
> SET DEFAULT ROLE mar2 TO ma2
keep c ma2 x
c> SELECT CURRENT_ROLE()
c> SET ROLE DEFAULT
c> SELECT CURRENT_ROLE()
c> SET ROLE ALL EXCEPT mar1
c> SELECT CURRENT_ROLE()
> SHOW GRANTS FOR ma2
> SHOW GRANTS FOR ma2 USING mar1
> REVOKE mar1 FROM ma1
> SET GLOBAL mandatory_roles = ''
c> SHOW GRANTS
keep d ma1 x
d> SELECT CURRENT_ROLE()
"#;

const SIGHTS: &str = r#"
> CREATE DATABASE si
> CREATE TABLE si.t (a INT PRIMARY KEY, b INT)
> CREATE USER si1 IDENTIFIED BY 'x'
> GRANT CREATE TEMPORARY TABLES ON si.* TO si1
> SHOW CREATE DATABASE information_schema
keep a si1 x
a> SHOW CREATE DATABASE information_schema
a> SHOW CREATE DATABASE performance_schema
a> SHOW CREATE DATABASE sys
a> USE information_schema
a> CREATE TEMPORARY TABLE si.tt (a INT PRIMARY KEY, b INT, KEY (b))
a> CHECK TABLE si.tt
a> CHECK TABLE si.t
a> CHECKSUM TABLE si.tt
a> ANALYZE TABLE si.tt
a> ANALYZE TABLE si.t
a> SET SESSION TRANSACTION READ ONLY
a> ANALYZE TABLE si.tt
a> OPTIMIZE TABLE si.tt
a> CHECK TABLE si.tt
> SET SESSION TRANSACTION READ ONLY
> ANALYZE TABLE si.t
> SET SESSION TRANSACTION READ WRITE
> START TRANSACTION READ ONLY
> ANALYZE TABLE si.t
> COMMIT
"#;

const ROUTINES: &str = r#"
> CREATE DATABASE rt
> CREATE TABLE rt.t (id INT PRIMARY KEY, v INT)
> CREATE USER rt1 IDENTIFIED BY 'x', rt2 IDENTIFIED BY 'x'
> GRANT CREATE ROUTINE ON rt.* TO rt1
> GRANT ALL ON rt.* TO rt2
keep a rt1 x
a> CREATE PROCEDURE rt.Made() SELECT 1
a> SHOW GRANTS
a> CREATE PROCEDURE IF NOT EXISTS rt.made() SELECT 1
> CREATE PROCEDURE rt.others() SELECT 1
a> CREATE PROCEDURE IF NOT EXISTS rt.others() SELECT 1
a> SHOW GRANTS
a> ALTER PROCEDURE rt.made COMMENT 'x'
a> DROP PROCEDURE rt.MADE
a> SHOW GRANTS
> SET GLOBAL automatic_sp_privileges = 0
a> CREATE PROCEDURE rt.made() SELECT 1
a> SHOW GRANTS
> GRANT EXECUTE, GRANT OPTION ON PROCEDURE rt.MADE TO rt1
> SHOW GRANTS FOR rt1
> DROP PROCEDURE rt.made
> SHOW GRANTS FOR rt1
> SET GLOBAL automatic_sp_privileges = 1
> GRANT ALL ON PROCEDURE rt.others TO rt1
> REVOKE EXECUTE ON FUNCTION rt.others FROM rt1
> REVOKE EXECUTE ON PROCEDURE rt.others FROM rt1
> REVOKE EXECUTE ON PROCEDURE rt.others FROM rt1
> REVOKE ALL ON PROCEDURE rt.others FROM rt1
> SHOW GRANTS FOR rt1
> GRANT SELECT ON PROCEDURE rt.others TO rt1
> GRANT EXECUTE ON PROCEDURE rt.nope TO rt1
> GRANT EXECUTE ON PROCEDURE rt.others TO rt1
> FLUSH PRIVILEGES
> SHOW GRANTS FOR rt1
> DROP DATABASE rt
> SHOW GRANTS FOR rt1
> CREATE DATABASE rt
> CREATE TABLE rt.t (id INT PRIMARY KEY, v INT)
> CREATE FUNCTION rt.unsafe() RETURNS INT RETURN 1
> CREATE FUNCTION rt.f() RETURNS INT READS SQL DATA RETURN 1
> ALTER FUNCTION rt.f COMMENT 'x'
> ALTER FUNCTION rt.f CONTAINS SQL
keep b rt2 x
b> CREATE FUNCTION rt.g() RETURNS INT NO SQL RETURN 1
b> CREATE TRIGGER rt.g BEFORE INSERT ON rt.t FOR EACH ROW SET @a = 1
> SET GLOBAL log_bin_trust_function_creators = 1
b> CREATE FUNCTION rt.g() RETURNS INT RETURN 1
b> CREATE TRIGGER rt.g BEFORE INSERT ON rt.t FOR EACH ROW SET @a = 1
b> DROP TRIGGER rt.g
> SET GLOBAL log_bin_trust_function_creators = 0
> CREATE ALGORITHM = MERGE DEFINER = rt2 SQL SECURITY INVOKER VIEW rt.v AS SELECT id FROM rt.t
> ALTER VIEW rt.v AS SELECT v FROM rt.t
> SHOW CREATE VIEW rt.v
> ALTER ALGORITHM = TEMPTABLE SQL SECURITY DEFINER VIEW rt.v AS SELECT v FROM rt.t
> SHOW CREATE VIEW rt.v
> CREATE OR REPLACE DEFINER = rt1 VIEW rt.v AS SELECT v FROM rt.t
> SHOW CREATE VIEW rt.v
b> ALTER VIEW rt.v AS SELECT id FROM rt.t
> CREATE VIEW rt.w AS SELECT 1 FROM rt.nope
"#;
