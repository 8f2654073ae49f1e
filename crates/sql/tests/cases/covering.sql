CREATE TABLE t (id INT NOT NULL, part SMALLINT UNSIGNED NOT NULL, n INT, big BIGINT UNSIGNED NOT NULL, price DECIMAL(12,3), at DATETIME(3), day DATE, span TIME(1), y YEAR, e ENUM('red','green','blue'), s SET('a','b','c'), raw VARBINARY(20), fix BINARY(4), word VARCHAR(20) COLLATE utf8mb4_0900_bin, name VARCHAR(20), f DOUBLE, bits BIT(5), note VARCHAR(10), PRIMARY KEY (id, part), KEY k_n (n, big), KEY k_price (price, at), KEY k_day (day, span, y), KEY k_e (e, s, bits), KEY k_raw (raw, fix), KEY k_word (word, n), KEY k_name (name, n), KEY k_f (f), KEY k_prefix (raw(2), n))
INSERT INTO t VALUES (1, 7, -5, 18446744073709551615, -12.345, '2024-02-29 23:59:59.123', '2024-02-29', '-12:30:00.5', 1999, 'red', 'a,c', 'a\0b', 'ab', 'x y ', 'Name', -0.0, b'10101', 'first'), (2, 65535, 2147483647, 0, 999999999.999, '1000-01-01 00:00:00', '1000-01-01', '838:59:59', 2155, 'blue', '', '', '\0\0\0\0', '', 'nÄme', 1.5, b'0', 'second')
INSERT INTO t VALUES (-3, 0, NULL, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 1, -2147483648, 7, 0.001, '9999-12-31 23:59:59.999', '9999-12-31', '00:00:00', 0, 'green', 'b', 'a\0', 'abcd', 'x', 'name ', 0.0, b'11111', 'fourth')
SELECT n, big, id, part FROM t FORCE INDEX (k_n) WHERE n > -2147483648 ORDER BY n
SELECT n, big, id, part FROM t FORCE INDEX (k_n) WHERE n IS NULL
SELECT part, id FROM t FORCE INDEX (k_n) ORDER BY n DESC, big DESC
SELECT n FROM t FORCE INDEX (k_n) WHERE n < 0 AND big > 7 ORDER BY n
SELECT price, at, id FROM t FORCE INDEX (k_price) ORDER BY price, at
SELECT price + 1, at + INTERVAL 1 SECOND FROM t FORCE INDEX (k_price) WHERE price >= 0 AND at < '2000-01-01' ORDER BY price
SELECT day, span, y FROM t FORCE INDEX (k_day) ORDER BY day, span, y
SELECT e, s, HEX(bits) FROM t FORCE INDEX (k_e) ORDER BY e, s
SELECT e + 0, s + 0 FROM t FORCE INDEX (k_e) WHERE e = 'blue'
SELECT HEX(raw), HEX(fix), id FROM t FORCE INDEX (k_raw) ORDER BY raw
SELECT HEX(raw), LENGTH(fix) FROM t FORCE INDEX (k_raw) WHERE raw = 'a\0b'
SELECT CONCAT('<', word, '>'), n FROM t FORCE INDEX (k_word) ORDER BY word, n
SELECT word FROM t FORCE INDEX (k_word) WHERE word = 'x y '
SELECT name, n FROM t FORCE INDEX (k_name) WHERE name = 'NAME' ORDER BY id
SELECT id, part FROM t FORCE INDEX (k_name) WHERE name >= 'n' ORDER BY id
SELECT f, id FROM t FORCE INDEX (k_f) WHERE f <= 0 ORDER BY id
SELECT HEX(raw), n FROM t FORCE INDEX (k_prefix) WHERE raw >= 'a' ORDER BY id
SELECT COUNT(*), MIN(big), MAX(big), SUM(n) FROM t FORCE INDEX (k_n) WHERE n > -100
SELECT n, COUNT(*) FROM t FORCE INDEX (k_n) GROUP BY n ORDER BY n
SELECT a.n, b.big FROM t a JOIN t b FORCE INDEX (k_n) ON b.n = a.n ORDER BY a.n
SELECT a.id, b.big FROM t a LEFT JOIN t b FORCE INDEX (k_n) ON b.n = a.n AND b.big > 6 ORDER BY a.id
SELECT id FROM t FORCE INDEX (k_n) WHERE n IN (-5, 2147483647, 12) ORDER BY id
BEGIN
UPDATE t SET big = 6, note = 'changed' WHERE id = 1
INSERT INTO t (id, part, n, big) VALUES (10, 0, -4, 44)
DELETE FROM t WHERE id = 4
UPDATE t SET note = 'only that' WHERE id = 2
SELECT n, big, id, part FROM t FORCE INDEX (k_n) ORDER BY n, big
ROLLBACK
SELECT n, big, id, part FROM t FORCE INDEX (k_n) ORDER BY n, big
CREATE TABLE keyless (a INT, b INT, KEY (a, b))
INSERT INTO keyless VALUES (1, 2), (1, 2), (NULL, 3), (0, NULL)
SELECT a, b FROM keyless FORCE INDEX (a) ORDER BY a, b
