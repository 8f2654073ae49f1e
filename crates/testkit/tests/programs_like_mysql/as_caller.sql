USE d

SELECT * FROM secret

CALL by_definer()

CALL by_invoker()

SELECT f_definer()

SELECT f_invoker()

INSERT INTO open_one VALUES (7)

CALL by_definer()

CALL orphan()

CALL nested()

SELECT CURRENT_USER()

DROP PROCEDURE by_definer
