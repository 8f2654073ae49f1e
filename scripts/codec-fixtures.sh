#!/usr/bin/env bash
# Writes the fixtures of the codec tests anew, from real servers, which scripts/peers.sh installs:
#   crates/binlog/tests/data/NAME.binlog     a binary log that the server wrote
#   crates/binlog/tests/data/NAME.tsv        the rows that table fixture.every_type has at the log's
#                                            end: HEX(CONCAT(column)) of each column
#   crates/types/tests/data/conversions.tsv  column type, kind and HEX of a literal, what an INSERT
#                                            of it stores in strict mode (HEX(CONCAT(column))) and
#                                            its error, and what it stores in lax mode
#   crates/types/tests/data/collations.tsv   collation, rank in its order, HEX(string), from MySQL's
#                                            DENSE_RANK()
# NAME is mysql-full, mysql-minimal, mysql-noblob, mariadb-full or mariadb-minimal, after the value
# of binlog_row_image.
# usage: scripts/codec-fixtures.sh [conversions]
# The script needs root, for the chroot. With the word `conversions` it writes only that fixture.
set -euo pipefail
cd "$(dirname "$0")/.."
chroot_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}/mysql-chroot
binlogs=crates/binlog/tests/data
collations=crates/types/tests/data
scratch=$(mktemp -d)
inside=/tmp/codec-fixtures.$$
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
      rm -rf "$scratch" "$chroot_dir$inside"' EXIT

client() { mariadb --no-defaults -uroot -S "$socket" --default-character-set=utf8mb4 --batch --raw "$@"; }

await_server() {
  for _ in $(seq 100); do
    client -e 'DO 1' 2>/dev/null && return
    sleep 0.2
  done
  echo "the server does not start" >&2
  exit 1
}

start_mysql() {
  mkdir -p "$chroot_dir$inside"
  chroot "$chroot_dir" mysqld --no-defaults --user=root --initialize-insecure --datadir="$inside/data" \
    --log-error="$inside/init.log"
  chroot "$chroot_dir" mysqld --no-defaults --user=root --datadir="$inside/data" --mysqlx=OFF --skip-networking \
    --secure-file-priv=NULL --socket="$inside/sock" --pid-file="$inside/pid" --log-error="$inside/error.log" \
    --server-id=7 --log-bin=binlog --gtid-mode=ON --enforce-gtid-consistency=ON --binlog-rows-query-log-events=ON \
    --binlog-row-metadata=FULL --sql-mode= &
  pids+=($!)
  socket=$chroot_dir$inside/sock
  log_dir=$chroot_dir$inside/data
  await_server
}

start_mariadb() {
  mariadb-install-db --no-defaults --user=root --datadir="$scratch/data" --auth-root-authentication-method=normal \
    >"$scratch/init.log" 2>&1
  mariadbd --no-defaults --user=root --datadir="$scratch/data" --skip-networking --socket="$scratch/sock" \
    --pid-file="$scratch/pid" --server-id=8 --log-bin=binlog --binlog-format=ROW --binlog-checksum=CRC32 \
    --binlog-row-metadata=FULL --sql-mode= 2>"$scratch/error.log" &
  pids+=($!)
  socket=$scratch/sock
  log_dir=$scratch/data
  await_server
}

columns="t1 tu y s su m mu i iu b bu f d dec1 dec2 dec3 c c2 bn v v2 vb la tt tx mt lb da ti ti3 ti6 dt dt2 dt6 ts ts4 en st bi"

create_table() {
  local json=$1
  client <<SQL
SET time_zone = '+00:00';
DROP DATABASE IF EXISTS fixture;
CREATE DATABASE fixture CHARACTER SET utf8mb4;
CREATE TABLE fixture.every_type (id INT NOT NULL AUTO_INCREMENT,
  t1 TINYINT, tu TINYINT UNSIGNED, y YEAR, s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mu MEDIUMINT UNSIGNED,
  i INT, iu INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED, f FLOAT, d DOUBLE, dec1 DECIMAL(10,2), dec2 DECIMAL(65,30),
  dec3 DECIMAL(9,9) UNSIGNED, c CHAR(10), c2 CHAR(255), bn BINARY(5), v VARCHAR(20), v2 VARCHAR(300), vb VARBINARY(20),
  la VARCHAR(20) CHARACTER SET latin1, tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lb LONGBLOB, da DATE, ti TIME, ti3 TIME(3),
  ti6 TIME(6), dt DATETIME, dt2 DATETIME(2), dt6 DATETIME(6), ts TIMESTAMP NULL, ts4 TIMESTAMP(4) NULL,
  en ENUM('one', 'two', 'it''s'), st SET('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'), bi BIT(9) $json,
  PRIMARY KEY (id)) CHARACTER SET utf8mb4;
SQL
}

change_rows() {
  local image=$1 json_columns=$2
  client fixture <<SQL
SET time_zone = '+00:00', binlog_row_image = $image;
SET @a = 1;
INSERT INTO every_type ($(tr ' ' ',' <<<"$columns")$json_columns) VALUES
 (-128, 255, 2024, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808,
  18446744073709551615, 1.5, -2.25e100, -12345678.91, 12345678901234567890123456789012345.123456789012345678901234567891,
  0.123456789, 'char', 'größer', 'bin', 'värchar', REPEAT('x', 280), x'00ff00', 'lätin €', 'tiny', 'text', 'medium',
  x'0001fe', '2024-02-29', '-838:59:59', '-00:00:00.500', '12:34:56.123456', '2024-01-02 03:04:05',
  '1999-12-31 23:59:59.99', '9999-12-31 23:59:59.999999', '2024-01-02 03:04:05', '2038-01-19 03:14:07.1234', 'it''s',
  'a,c,i', b'101010101'$json1),
 (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '', '', '', '', '', '', '', '', '', '0000-00-00', '00:00:00', 0,
  0, '0000-00-00', 0, 0, 0, 0, 'one', '', 0$json2),
 (1, 1, 1901, 1, 1, 1, 1, 1, 1, 1, 1, 3.4028234e38, 1e-300, -0.01, -1, 0.000000001, 'trailing  ', REPEAT('é', 255),
  x'0102030000', '😀', 'short', 'abc   ', 'a', 'b', REPEAT('text ', 200), 'd', x'00', '1000-01-01', '-00:00:01',
  '-01:02:03.004', '-00:00:00.000001', '1000-01-01 00:00:00', '2024-06-30 12:00:00.5', '2024-06-30 12:00:00.000001',
  '1970-01-01 00:00:01', '2001-09-09 01:46:40.5', 2, 511, 1$json3);
INSERT INTO every_type (t1) VALUES (5), (6);
UPDATE every_type SET t1 = t1 + 1, v = CONCAT('new ', id), dec1 = 7.5, da = '2025-01-01', tx = NULL WHERE id <= 3;
UPDATE every_type SET c = 'x', bi = NULL WHERE id = 4;
DELETE FROM every_type WHERE t1 = 6;
SQL
}

capture() {
  local name=$1 image=$2 json_columns=$3 json_type=$4 first selected=
  client -e 'FLUSH BINARY LOGS'
  first=$(client -N -e "$show_status" | cut -f1)
  create_table "$json_type"
  change_rows "$image" "$json_columns"
  for column in $columns ${json_columns#,}; do
    case $column in la) selected+=", HEX(CONVERT(la USING utf8mb4))" ;; *) selected+=", HEX(CONCAT($column))" ;; esac
  done
  client -N -e "SET time_zone = '+00:00'; SELECT id$selected FROM fixture.every_type ORDER BY id" >"$binlogs/$name.tsv"
  client -e 'FLUSH BINARY LOGS'
  install -m 644 "$log_dir/$first" "$binlogs/$name.binlog"
}

capture_collations() {
  client -e "DROP DATABASE IF EXISTS fixture; CREATE DATABASE fixture CHARACTER SET utf8mb4"
  python3 - "$(echo "$socket")" <<'PYTHON' | client fixture
import random

random.seed(9)
alphabet = list("aAbBzZ019 -_.,'ß\t") + ["ä", "Ä", "é", "e\u0301", "ø", "Æ", "ñ", "Œ", "ı", "Ж", "ж", "α", "中", "文", "あ", "ア", "각", "😀", "ﬁ", "Ⅷ", "½"]
strings = {"", "a", "a ", "A", "ä", "ss", "ß", "ae", "æ"}
while len(strings) < 220:
    strings.add("".join(random.choice(alphabet) for _ in range(random.randint(1, 5))))
print("CREATE TABLE strings (s VARBINARY(80) PRIMARY KEY);")
for s in sorted(strings):
    print(f"INSERT INTO strings VALUES (x'{s.encode().hex()}');")
PYTHON
  : >"$collations/collations.tsv"
  for collation in utf8mb4_0900_ai_ci utf8mb4_0900_as_ci utf8mb4_0900_as_cs utf8mb4_0900_bin utf8mb4_bin \
    utf8mb4_general_ci utf8mb4_unicode_ci utf8mb4_unicode_520_ci latin1_swedish_ci; do
    charset=${collation%%_*}
    client fixture -N -e "SELECT '$collation', DENSE_RANK() OVER (ORDER BY c COLLATE $collation) AS place, HEX(CONVERT(c USING utf8mb4))
      FROM (SELECT CONVERT(CONVERT(s USING utf8mb4) USING $charset) AS c, s FROM strings) AS converted
      WHERE CONVERT(c USING utf8mb4) = CONVERT(s USING utf8mb4) COLLATE utf8mb4_bin ORDER BY place, s" >>"$collations/collations.tsv"
  done
}

# Inserts every literal into a column of every type, in both modes. There is a procedure for each
# mode, because a procedure runs in the mode in which it was made.
capture_conversions() {
  client -e "DROP DATABASE IF EXISTS fixture; CREATE DATABASE fixture CHARACTER SET utf8mb4"
  local mode
  for mode in strict lax; do
    client fixture <<SQL
SET time_zone = '+00:00', sql_mode = '$([ $mode = lax ] || echo STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE)';
DELIMITER //
CREATE PROCEDURE $mode(statement TEXT)
BEGIN
  -- Error 1265 has the SQLSTATE of a warning, so SQLEXCEPTION does not catch it.
  DECLARE EXIT HANDLER FOR SQLEXCEPTION$([ $mode = lax ] || echo , 1265)
  BEGIN
    GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO;
    UPDATE outcome SET ${mode}_code = @code, ${mode}_value = (SELECT HEX(CONCAT(v)) FROM target);
  END;
  SET @statement = statement;
  DELETE FROM target;
  PREPARE prepared FROM @statement;
  EXECUTE prepared;
  UPDATE outcome, target SET ${mode}_code = 0, ${mode}_value = HEX(CONCAT(v));
END//
SQL
  done
  python3 - <<'PYTHON' | client -N --init-command="SET time_zone = '+00:00'" fixture >"$collations/conversions.tsv"
types = ["tinyint", "tinyint unsigned", "smallint", "mediumint unsigned", "int", "bigint", "bigint unsigned", "float",
         "double", "decimal(5,2)", "decimal(10,0) unsigned", "decimal(30,10)", "year", "bit(9)", "char(4)", "varchar(4)",
         "varbinary(4)", "binary(4)", "tinytext", "date", "time", "time(3)", "datetime", "datetime(2)", "timestamp",
         "timestamp(6)", "enum('a','B c','3')", "set('a','b','3')", "json"]
texts = ["", " ", "0", "1", "-1", "12.5", "-0.5", "127", "128", "256", "1e2", "1e400", "99999999999999999999", "abc", "12abc",
         "12 ", " 12", "a", "b c", "3", "2", "a,b", "a,x", "abcd", "abcde", "abcd  ", "äöüß", "äöüßé", "2024-01-02",
         "2024-1-2 3:4:5", "2024-02-30", "0000-00-00", "2024-00-10", "20240102", "240102", "20240102030405",
         "2024-01-02 03:04:05.678901", "2024-01-02T03:04:05Z", "2024-01-02 25:00:00", "9999-12-31 23:59:59.999999",
         "1969-12-31 23:59:59", "2038-01-19 03:14:08", "10:11:12", "-10:11:12.5678", "101112", "839:00:00", "1 02:03:04",
         "10:60:00", "12:34", "69", "70", "2155", "2156", "1900", "true", "null", "{\"a\": 1.50}", "[1,", "0.005", "-0.005",
         "999.995", "999.994", "1.005", ".5", "5.", "+7", "--1", "1-1-1", "2024-01-02x", "2024-12-31 23:59:59.9999995"]
numbers = ["0", "1", "-1", "127", "128", "-129", "255", "256", "70", "2024", "2156", "65535", "65536", "99999999999",
           "-9223372036854775808", "9223372036854775807", "20240102", "20240230", "101112", "106000", "20240102030405",
           "8385959", "8385960"]
decimals = ["0.5", "1.5", "2.5", "-2.5", "999.994", "999.995", "-999.996", "12345678901234567890.5", "101112.75"]
doubles = ["0.5e0", "1.5e0", "2.5e0", "-2.5e0", "1e10", "1e40", "1.005e0", "20240102e0"]
print("SET sql_mode = ''; CREATE TABLE outcome (strict_value LONGTEXT, strict_code INT, lax_value LONGTEXT, lax_code INT);")
print("INSERT INTO outcome VALUES ();")
for column in types:
    print("DROP TABLE IF EXISTS target;")
    print(f"CREATE TABLE target (v {column}) CHARACTER SET utf8mb4;")
    literals = [("text", text, "x'" + text.encode().hex() + "'") for text in texts]
    for kind, values in (("int", numbers), ("decimal", decimals), ("double", doubles)):
        literals += [(kind, value, value) for value in values]
    for kind, value, literal in literals:
        if kind == "text":
            literal = f"CONVERT({literal} USING utf8mb4)"
        if column == "json" and kind != "text":
            continue
        print("UPDATE outcome SET strict_value = NULL, strict_code = NULL, lax_value = NULL, lax_code = NULL;")
        for mode in ("strict", "lax"):
            statement = f"INSERT INTO target VALUES ({literal})".replace("'", "''")
            print(f"CALL {mode}('{statement}');")
        shown = column.replace("'", "''")
        print(f"SELECT '{shown}', '{kind}', '{value.encode().hex().upper()}', strict_value, strict_code, lax_value FROM outcome;")
PYTHON
}

mkdir -p "$binlogs" "$collations"
start_mysql
if [ "${1:-}" = conversions ]; then
  capture_conversions
  exit
fi
json1=", '{\"k\": [1, -5, 70000, 12345678901, 2.5, true, null, \"text\"], \"\": {}}'"
json2=", '{}'"
json3=", '[1, 2.5, \"x\", null]'"
show_status='SHOW BINARY LOG STATUS'
for image in full minimal noblob; do
  capture "mysql-$image" "$image" ",j" ", j JSON"
done
capture_collations
capture_conversions
start_mariadb
json1='' json2='' json3=''
show_status='SHOW MASTER STATUS'
for image in full minimal; do
  capture "mariadb-$image" "$image" "" ""
done
ls -l "$binlogs" "$collations"
