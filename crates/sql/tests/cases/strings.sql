SELECT CONCAT('a', 1, 2.5), CONCAT('a', NULL), CONCAT_WS('-', 'a', NULL, 'b'), LENGTH('héllo'), CHAR_LENGTH('héllo'), BIT_LENGTH('a')
SELECT UPPER('abcé'), LOWER('ABCÉ'), LEFT('héllo', 2), RIGHT('héllo', 3), SUBSTRING('hello', 2), SUBSTRING('hello', 2, 3), SUBSTRING('hello', -3, 2), SUBSTRING('hello' FROM 2 FOR 2), SUBSTR('hello', 0), MID('hello', 9)
SELECT TRIM('  a  '), LTRIM('  a'), RTRIM('a  '), TRIM(LEADING 'x' FROM 'xxaxx'), TRIM(TRAILING 'x' FROM 'xxaxx'), TRIM(BOTH 'x' FROM 'xxaxx'), TRIM('y' FROM 'yay')
SELECT LPAD('a', 3, 'xy'), RPAD('a', 4, 'xy'), LPAD('abc', 2, 'x'), REPEAT('ab', 3), SPACE(2), REPLACE('aXbXc', 'X', '--'), REVERSE('abc'), INSERT('abcdef', 2, 3, 'XY')
SELECT LOCATE('b', 'abcb'), LOCATE('b', 'abcb', 3), INSTR('abc', 'c'), POSITION('c' IN 'abc'), LOCATE('z', 'abc'), FIELD('b', 'a', 'b'), FIND_IN_SET('b', 'a,b,c'), ELT(2, 'x', 'y'), STRCMP('a', 'b'), STRCMP('a', 'A')
SELECT ASCII('a'), ORD('é'), CHAR(65, 66), HEX(CHAR(256)), SUBSTRING_INDEX('a.b.c', '.', 2), SUBSTRING_INDEX('a.b.c', '.', -1), QUOTE("it's"), FORMAT(1234567.891, 2), FORMAT(0.5, 0)
SELECT 'a\tb', 'it''s', "say ""hi""", 'back\\slash', 'x\%y'
SELECT CHARSET('a'), COLLATION('a'), CHARSET(1), COERCIBILITY('a'), COLLATION(_latin1'a')
SELECT GROUP_CONCAT(a ORDER BY a DESC SEPARATOR '|') FROM (SELECT 1 a UNION SELECT 2 UNION SELECT 3) t
SELECT LENGTH(REPEAT('x', 1000)), UUID() = UUID(), LENGTH(UUID()), IS_UUID('not')
SELECT CONCAT()
SELECT SUBSTRING('a')
