-- A shop that rents films, after the shape of MySQL's sample database Sakila: geometry, SET, YEAR, ENUM, FULLTEXT, views,
-- triggers, routines.
SET NAMES utf8mb4;;
SET unique_checks = 0, foreign_key_checks = 0;;
CREATE TABLE actor (
  actor_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  first_name VARCHAR(45) NOT NULL,
  last_name VARCHAR(45) NOT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (actor_id),
  KEY idx_actor_last_name (last_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE address (
  address_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  address VARCHAR(50) NOT NULL,
  address2 VARCHAR(50) DEFAULT NULL,
  district VARCHAR(20) NOT NULL,
  city_id SMALLINT UNSIGNED NOT NULL,
  postal_code VARCHAR(10) DEFAULT NULL,
  phone VARCHAR(20) NOT NULL,
  location GEOMETRY /*!80003 SRID 0 */ NOT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (address_id),
  KEY idx_fk_city_id (city_id),
  SPATIAL KEY `idx_location` (location),
  CONSTRAINT `fk_address_city` FOREIGN KEY (city_id) REFERENCES city (city_id) ON DELETE RESTRICT ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE city (
  city_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  city VARCHAR(50) NOT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE store (
  store_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT,
  manager_staff_id TINYINT UNSIGNED NOT NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (store_id),
  UNIQUE KEY idx_unique_manager (manager_staff_id),
  KEY idx_fk_address_id (address_id),
  CONSTRAINT fk_store_staff FOREIGN KEY (manager_staff_id) REFERENCES staff (staff_id) ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT fk_store_address FOREIGN KEY (address_id) REFERENCES address (address_id) ON DELETE RESTRICT ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE staff (
  staff_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT,
  first_name VARCHAR(45) NOT NULL,
  picture BLOB DEFAULT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  active BOOLEAN NOT NULL DEFAULT TRUE,
  password VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (staff_id),
  KEY idx_fk_store_id (store_id),
  CONSTRAINT fk_staff_store FOREIGN KEY (store_id) REFERENCES store (store_id) ON DELETE RESTRICT ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE film (
  film_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  title VARCHAR(128) NOT NULL,
  description TEXT DEFAULT NULL,
  release_year YEAR DEFAULT NULL,
  rental_duration TINYINT UNSIGNED NOT NULL DEFAULT 3,
  rental_rate DECIMAL(4,2) NOT NULL DEFAULT 4.99,
  rating ENUM('G','PG','PG-13','R','NC-17') DEFAULT 'G',
  special_features SET('Trailers','Commentaries','Deleted Scenes','Behind the Scenes') DEFAULT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (film_id),
  KEY idx_title (title)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE film_actor (
  actor_id SMALLINT UNSIGNED NOT NULL,
  film_id SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (actor_id, film_id),
  KEY idx_fk_film_id (`film_id`),
  CONSTRAINT fk_film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT fk_film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON DELETE RESTRICT ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;;
CREATE TABLE film_text (
  film_id SMALLINT UNSIGNED NOT NULL,
  title VARCHAR(255) NOT NULL,
  description TEXT,
  PRIMARY KEY (film_id),
  FULLTEXT KEY idx_title_description (title, description)
) DEFAULT CHARSET=utf8mb4;;
CREATE TRIGGER `ins_film` AFTER INSERT ON `film` FOR EACH ROW BEGIN
    INSERT INTO film_text (film_id, title, description) VALUES (new.film_id, new.title, new.description);
  END;;
CREATE TRIGGER `upd_film` AFTER UPDATE ON `film` FOR EACH ROW BEGIN
    IF (old.title != new.title) OR (old.description != new.description) OR (old.film_id != new.film_id) THEN
        UPDATE film_text SET title = new.title, description = new.description, film_id = new.film_id WHERE film_id = old.film_id;
    END IF;
  END;;
CREATE TRIGGER `del_film` AFTER DELETE ON `film` FOR EACH ROW DELETE FROM film_text WHERE film_id = old.film_id;;
CREATE VIEW actor_info AS
  SELECT a.actor_id, a.first_name, a.last_name, COUNT(fa.film_id) AS films
  FROM actor a LEFT JOIN film_actor fa ON a.actor_id = fa.actor_id
  GROUP BY a.actor_id, a.first_name, a.last_name;;
CREATE DEFINER=CURRENT_USER SQL SECURITY INVOKER VIEW film_list AS
  SELECT film.film_id AS FID, film.title AS title, film.rental_rate AS price FROM film WHERE film.rental_duration > 2;;
CREATE PROCEDURE rewards_report (IN min_films TINYINT UNSIGNED, OUT count_rewardees INT)
  READS SQL DATA COMMENT 'Provides a customizable report on actors'
proc: BEGIN
    DECLARE last_month_start DATE;
    IF min_films = 0 THEN
        SELECT 'Minimum number of films must be > 0';
        LEAVE proc;
    END IF;
    SET last_month_start = DATE_SUB(CURRENT_DATE(), INTERVAL 1 MONTH);
    CREATE TEMPORARY TABLE tmpActor (actor_id SMALLINT UNSIGNED NOT NULL PRIMARY KEY);
    INSERT INTO tmpActor (actor_id) SELECT actor_id FROM film_actor GROUP BY actor_id HAVING COUNT(film_id) > min_films;
    SELECT COUNT(*) FROM tmpActor INTO count_rewardees;
    SELECT a.* FROM tmpActor AS t INNER JOIN actor AS a ON t.actor_id = a.actor_id;
    DROP TABLE tmpActor;
  END;;
CREATE FUNCTION films_of (p_actor_id INT) RETURNS DECIMAL(5,2) READS SQL DATA
BEGIN
  DECLARE v_films INTEGER;
  SELECT IFNULL(COUNT(*), 0) INTO v_films FROM film_actor WHERE actor_id = p_actor_id;
  RETURN v_films;
END;;
INSERT INTO city (city_id, city, last_update) VALUES (1, 'A Corua (La Corua)', '2006-02-15 04:45:25'), (2, 'Århus', '2006-02-15 04:45:25');;
INSERT INTO actor VALUES (1, 'PENELOPE', 'GUINESS', '2006-02-15 04:34:33'), (2, 'NICK', 'WAHLBERG', '2006-02-15 04:34:33');;
INSERT INTO address (address, district, city_id, phone, location) VALUES ('47 MySakila Drive', 'Alberta', 1, '', ST_GeomFromText('POINT(-112.8185647 49.6999986)'));;
INSERT INTO store VALUES (1, 1, 1);;
INSERT INTO staff VALUES (1, 'Mike', 0x89504E470D0A1A0A00FF, 1, 1, '8cb2237d0679ca88db6464eac60da96345513964');;
INSERT INTO film (title, description, release_year, rating, special_features) VALUES
  ('ACADEMY DINOSAUR', 'A Epic Drama of a Feminist', 2006, 'PG', 'Deleted Scenes,Behind the Scenes'), ('ACE GOLDFINGER', NULL, 2006, 'G', 'Trailers');;
INSERT INTO film_actor VALUES (1, 1), (2, 1), (1, 2);;
UPDATE film SET title = 'ACADEMY', description = 'shorter' WHERE film_id = 1;;
DELETE FROM film_actor WHERE film_id = 2;;
DELETE FROM film WHERE film_id = 2;;
SET foreign_key_checks = 1;;
ALTER TABLE film ADD COLUMN original_language_id TINYINT UNSIGNED DEFAULT NULL AFTER release_year, ADD KEY idx_fk_original (original_language_id);;
ALTER TABLE city ADD country VARCHAR(50) NOT NULL DEFAULT 'Spain', ADD UNIQUE KEY (city, country);;
UPDATE city SET country = 'Danmark' WHERE city_id = 2;;
CALL rewards_report(1, @found);;
