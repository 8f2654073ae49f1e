//! Sums and averages of decimals, of short ones and of those that take more than 38 digits,
//! compared with MySQL.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE sums",
    "USE sums",
    "CREATE TABLE t (g INT, price DECIMAL(15,2), part DECIMAL(5,4), n INT, u BIGINT UNSIGNED, long_one DECIMAL(65,0), \
     fine DECIMAL(30,30), wide DECIMAL(38,20))",
    "INSERT INTO t VALUES \
     (1, 99.95, 0.1, 3, 18446744073709551615, 99999999999999999999999999999999999999999999999999, \
      0.000000000000000000000000000001, 123456789012345678.12345678901234567890), \
     (1, -0.05, 0.0625, -4, 1, -1, 0.5, -0.00000000000000000001), \
     (1, NULL, 0.5, NULL, NULL, NULL, NULL, NULL), \
     (2, 9999999999999.99, 1.0001, 2147483647, 7, 170141183460469231731687303715884105727, 0.25, 1.5), \
     (2, 9999999999999.99, 9.9999, -2147483648, 8, 170141183460469231731687303715884105727, 0.125, -1.5), \
     (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "SELECT g, SUM(price), AVG(price), SUM(long_one), SUM(fine), SUM(wide), AVG(wide) FROM t GROUP BY g ORDER BY g",
    "SELECT g, SUM(price * (1 - part)), AVG(price * (1 - part) * (1 + part)), SUM(price + n), SUM(n - price) FROM t \
     GROUP BY g ORDER BY g",
    "SELECT g, SUM(price * u), SUM(u * part - n), SUM(long_one + price), SUM(long_one * part) FROM t GROUP BY g ORDER BY g",
    "SELECT g, SUM(fine * part), SUM(fine * fine), AVG(wide * fine) FROM t GROUP BY g ORDER BY g",
    "SELECT SUM(price), SUM(wide * price * part), SUM(long_one), SUM(price / part), SUM(price % n), SUM(-price) FROM t",
    "SELECT SUM(price * 1.5 + 2), SUM(1.10 * n), AVG(n + 0.5), SUM(price + '1'), SUM(price * 1e0) FROM t",
    "SELECT g, SUM(price) OVER (ORDER BY g, part ROWS 1 PRECEDING), AVG(long_one) OVER (ORDER BY g, part ROWS BETWEEN \
     1 PRECEDING AND 1 FOLLOWING), SUM(price * part) OVER (PARTITION BY g ORDER BY part) FROM t ORDER BY g, part",
    "SELECT SUM(DISTINCT price), AVG(DISTINCT long_one), SUM(DISTINCT price * 2) FROM t",
    "SELECT SUM(long_one * 10) FROM t WHERE g = 1",
];

#[test]
fn sums_of_decimals_are_mysqls() {
    let answers = same_as_mysql("decimal_sums", &Settings::default(), |server| {
        let mut client = server.connect();
        STATEMENTS.iter().map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers[4].contains("99.90"), "{}", answers[4]);
}
