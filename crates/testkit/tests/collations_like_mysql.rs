//! Tests that compare character sets and collations with those of real servers: every code of the
//! small character sets, a sample of the codes of the others and of Unicode's code points, and the
//! order of random strings.
//!
//! `SEED` repeats a sample; `COLLATION_CODE_POINTS=all` takes every code point.

use std::cmp::Ordering;
use testkit::{Flavor, Server, Settings, available};
use types::collation::{self, Charset, Collation, KeyHash};

/// A small generator of random numbers that draws the same sample for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

struct Sample {
    seed: u64,
    /// One of this many code points is compared.
    of: u64,
}

impl Sample {
    fn from_environment() -> Sample {
        let all = std::env::var("COLLATION_CODE_POINTS").is_ok_and(|text| text == "all");
        let sample = Sample { seed: testkit::times("SEED", 14), of: if all { 1 } else { 61 } };
        println!("SEED={} one code point of {}", sample.seed, sample.of);
        sample
    }

    /// Returns the SQL condition for a column `i` of code points.
    fn condition(&self) -> String {
        let (of, rest) = (self.of, self.seed % self.of);
        format!("(i < 1024 OR i % {of} = {rest}) AND i NOT BETWEEN 55296 AND 57343")
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("digits")).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Starts a real server with the numbers of all code points in `t.n`.
fn start(flavor: Flavor) -> Server {
    let server = Server::start(flavor, &Settings::default());
    server.run("CREATE DATABASE t");
    server.run("CREATE TABLE t.n (i INT PRIMARY KEY)");
    let first: Vec<String> = (0..1024).map(|i| format!("({i})")).collect();
    server.run(&format!("INSERT INTO t.n VALUES {}", first.join(",")));
    server.run("INSERT INTO t.n SELECT a.i * 1024 + b.i FROM t.n a JOIN t.n b WHERE a.i > 0");
    server.run("INSERT INTO t.n SELECT i + 1048576 FROM t.n WHERE i < 65536");
    server
}

/// Returns the collations that both the server and Slipstream have, with the server's names.
fn shared(server: &Server, flavor: Flavor) -> Vec<(&'static Collation, String)> {
    let query = match flavor {
        Flavor::MariaDb => {
            "SELECT ID, FULL_COLLATION_NAME FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY \
             WHERE FULL_COLLATION_NAME NOT LIKE '%uca1400%'"
        }
        _ => "SELECT ID, COLLATION_NAME FROM information_schema.COLLATIONS",
    };
    let mut found = Vec::new();
    for row in server.rows(query) {
        let (id, name) = row.split_once('\t').expect("two columns");
        match collation::by_id(id.parse().expect("an id")) {
            Some(known) => found.push((known, name.to_owned())),
            None => println!("not there: {name}"),
        }
    }
    found
}

/// The SQL expression for the text of the code point `i`.
const POINT: &str = "CONVERT(CONVERT(UNHEX(LPAD(HEX(i), 8, '0')) USING utf32) USING utf8mb4)";

#[test]
fn characters_are_converted_as_in_mysql() {
    const NAME: &str = "collations_like_mysql::characters_are_converted_as_in_mysql";
    if !available(NAME, &[Flavor::MySql]) {
        return;
    }
    let (server, sample) = (start(Flavor::MySql), Sample::from_environment());
    let mut looked_at = 0;
    for charset in Charset::all() {
        if matches!(charset, Charset::Binary) {
            continue;
        }
        let (name, id) = (charset.name(), charset.default_collation());
        // These conversions are from Unicode.
        let rows = server.rows(&format!(
            "SELECT i, HEX(CONVERT({POINT} USING {name})) FROM t.n WHERE {}",
            sample.condition()
        ));
        looked_at += rows.len();
        for row in rows {
            let (point, stored) = row.split_once('\t').expect("two columns");
            let c = char::from_u32(point.parse().expect("a number")).expect("a character");
            // MySQL cuts code points to 16 bits in this character set.
            if charset == Charset::Tis620 && c > '\u{ffff}' {
                continue;
            }
            let own = collation::from_utf8mb4_lossy(id, c.encode_utf8(&mut [0; 4]).as_bytes()).into_owned();
            // ASCII is left out, and so is the backslash in sjis, which stays a backslash here.
            if charset != Charset::Ascii && (charset, c) != (Charset::Sjis, '\\') {
                assert_eq!(hex(&own), stored, "{name} of U+{:04X}", c as u32);
            }
        }
        // These conversions are to Unicode: of all codes of one, two and three bytes.
        let mut forms = vec![("i", 2, "i < 256")];
        if charset.max_bytes_per_char() > 1 && charset.is_for_clients() && !charset.is_unicode() {
            forms.push(("i", 4, "i BETWEEN 32768 AND 65535"));
        }
        if charset.max_bytes_per_char() == 3 && !charset.is_unicode() {
            forms.push(("i + 0x8F0000", 6, "i BETWEEN 32768 AND 65535"));
        }
        for (code, digits, condition) in forms {
            if !charset.is_for_clients() || charset.is_unicode() || charset == Charset::Ascii {
                continue;
            }
            let text = format!("CONVERT(UNHEX(LPAD(HEX({code}), {digits}, '0')) USING {name})");
            let rows = server.rows(&format!(
                "SELECT HEX({code}), HEX(CONVERT({text} USING utf8mb4)), CHAR_LENGTH({text}) FROM t.n \
                 WHERE {condition} AND {text} IS NOT NULL"
            ));
            looked_at += rows.len();
            for row in rows {
                let fields: Vec<&str> = row.split('\t').collect();
                let bytes = unhex(&format!("{:0>digits$}", fields[0]));
                let chars = collation::char_count(id, &bytes);
                assert_eq!(chars.to_string(), fields[2], "characters of {name} {}", fields[0]);
                if chars == 1 && collation::is_well_formed(id, &bytes) {
                    let own = collation::to_utf8mb4(id, &bytes);
                    assert_eq!(hex(&own), fields[1], "{name} {}", fields[0]);
                }
            }
        }
    }
    println!("{looked_at} conversions are alike");
}

/// Returns random strings of a character set in the form in which it stores them, with characters
/// that meet in languages.
fn strings(charset: Charset, draw: &mut Draw, count: usize) -> Vec<Vec<u8>> {
    const TOGETHER: &[&str] = &[
        "ch",
        "Ch",
        "CH",
        "cH",
        "ll",
        "lj",
        "nj",
        "dž",
        "dz",
        "dzs",
        "cs",
        "gy",
        "ly",
        "ny",
        "sz",
        "ty",
        "zs",
        "rr",
        "aa",
        "ij",
        "ngg",
        "ddz",
        "ccs",
        "l·",
        "и\u{306}",
        "е\u{308}",
        "แก",
        "เข",
        "ກ",
        "ไ",
        "カー",
        "か\u{3099}",
        "\u{301}",
        "\u{327}",
        "ß",
        "ẞ",
        "æ",
        "Þ",
        "đ",
        "क\u{93c}",
        "\u{dc3}\u{dca}",
        "\u{200d}",
        "\u{110b}\u{1161}",
        "ddzs",
        "Ddzs",
        "がー",
        "ーー",
        "すゝ",
        "かゞ",
        "ハヽ",
        "ﾊﾟｰ",
        "a\u{301}",
        "u\u{308}\u{30c}",
        "เก่",
        "ကျ",
        "ကို",
        "မြန်မာ",
        "င်္က",
        "က္က",
    ];
    const RANGES: &[(u32, u32)] = &[
        (0x20, 0x7f),
        (0x41, 0x7b),
        (0x61, 0x7b),
        (0xa0, 0x180),
        (0x180, 0x250),
        (0x300, 0x345),
        (0x370, 0x530),
        (0x590, 0x700),
        (0x900, 0xe80),
        (0xe01, 0xe5c),
        (0x1000, 0x10a0),
        (0x1000, 0x1050),
        (0x1e00, 0x2000),
        (0x2000, 0x2200),
        (0x3040, 0x3100),
        (0x3040, 0x3100),
        (0xff65, 0xffa0),
        (0x4e00, 0x9fa6),
        (0xac00, 0xd7a4),
        (0xff00, 0xffe0),
        (0x1_f300, 0x1_f600),
        (0x2_0000, 0x2_a6d0),
    ];
    let id = charset.default_collation();
    let mut made = Vec::new();
    while made.len() < count {
        let mut text = String::new();
        let narrow = draw.below(3) == 0;
        for _ in 0..draw.below(6) + 1 {
            match draw.below(8) {
                0 | 1 => text.push_str(TOGETHER[draw.below(TOGETHER.len())]),
                2 => text.push(' '),
                _ => {
                    let (low, high) = RANGES[draw.below(if narrow { 3 } else { RANGES.len() })];
                    text.extend(char::from_u32(low + draw.below((high - low) as usize) as u32));
                }
            }
        }
        let kept: String = text
            .chars()
            .filter(|c| collation::from_utf8mb4(id, c.encode_utf8(&mut [0; 4]).as_bytes()).is_some())
            .collect();
        if let Some(stored) = collation::from_utf8mb4(id, kept.as_bytes()) {
            made.push(stored.into_owned());
        }
    }
    made
}

/// Reports whether MySQL sorts by this collation in another order than it compares by: `ORDER BY`
/// counts strokes in big5, pads with spaces that have another weight than a space in latin7, and
/// counts spaces at the end in cp1250_czech_cs.
fn sorts_otherwise(name: &str) -> bool {
    ["latin7_estonian_cs", "cp1250_czech_cs"].contains(&name)
        || name.starts_with("big5_chinese")
        || name.starts_with("latin7_general")
}

/// Reports whether `weight_string` here has the bytes of the server's `WEIGHT_STRING()`. In some
/// East Asian collations it has a number in their place that orders as they do.
fn shows_weights(name: &str) -> bool {
    let by_number = ["big5", "cp932", "eucjpms", "gb18030_chinese", "sjis", "ujis"];
    !by_number.iter().any(|start| name.starts_with(start)) && !name.ends_with("_nopad_bin")
}

/// Checks that two strings, whose places the server gives, have the same order here, and so have
/// their keys.
fn stand_so(known: &Collation, before: &(u64, Vec<u8>), after: &(u64, Vec<u8>)) -> Result<(), String> {
    let wanted = before.0.cmp(&after.0);
    let found = collation::compare(known.id, &before.1, &after.1);
    let key = |bytes: &[u8]| {
        let mut key = Vec::new();
        collation::write_key(known.id, bytes, &mut key);
        key
    };
    let by_key = key(&before.1).cmp(&key(&after.1));
    // gb18030_chinese_ci also sorts in another order than it compares by, for two letters whose
    // upper case is ASCII.
    let odd = |bytes: &[u8]| {
        known.charset == Charset::Gb18030
            && [&[0x81, 0x30, 0x90, 0x33], &[0x81, 0x30, 0x97, 0x37]]
                .iter()
                .any(|odd| bytes.windows(4).any(|four| four == *odd))
    };
    if odd(&before.1) || odd(&after.1) {
        return if by_key == found && found.is_ne() == wanted.is_ne() { Ok(()) } else { Err(hex(&before.1)) };
    }
    let alike = found == wanted || (sorts_otherwise(known.name) && found.is_ne() && wanted.is_ne());
    if alike && by_key == found && wanted != Ordering::Greater {
        return Ok(());
    }
    let shown = |bytes: &[u8]| {
        format!("{} {:?}", hex(bytes), String::from_utf8_lossy(&collation::to_utf8mb4(known.id, bytes)))
    };
    Err(format!(
        "{}: {} and {} are {wanted:?}, here {found:?}, their keys {by_key:?}",
        known.name,
        shown(&before.1),
        shown(&after.1)
    ))
}

/// Compares the server's order of the rows of `t.o` with ours. Returns the number of compared pairs
/// and the differences.
fn compare_order(server: &Server, known: &Collation, name: &str) -> (usize, Vec<String>) {
    let rows = server.rows(&format!(
        "SELECT DENSE_RANK() OVER (ORDER BY s COLLATE {name}) AS place, HEX(s) FROM t.o ORDER BY place, HEX(s)"
    ));
    let placed: Vec<(u64, Vec<u8>)> = rows
        .iter()
        .map(|row| {
            let (place, digits) = row.split_once('\t').expect("two columns");
            (place.parse().expect("a place"), unhex(digits))
        })
        .collect();
    let differing: Vec<String> =
        placed.windows(2).filter_map(|pair| stand_so(known, &pair[0], &pair[1]).err()).collect();
    (placed.len().saturating_sub(1), differing)
}

fn orders_are_those_of(flavor: Flavor) {
    let (server, sample) = (start(flavor), Sample::from_environment());
    let mut draw = Draw(sample.seed);
    let only = std::env::var("COLLATION_NAME").unwrap_or_default();
    let (mut pairs, mut count, mut wrong) = (0, 0, Vec::new());
    let shared = shared(&server, flavor);
    for charset in Charset::all() {
        let of_charset =
            shared.iter().filter(|(known, name)| known.charset == charset && name.contains(&only));
        let of_charset: Vec<_> = of_charset.collect();
        if charset == Charset::Binary || of_charset.is_empty() {
            continue;
        }
        server.run("DROP TABLE IF EXISTS t.o");
        server.run(&format!("CREATE TABLE t.o (s VARCHAR(64) CHARACTER SET {})", charset.name()));
        let made: Vec<String> =
            strings(charset, &mut draw, 400).iter().map(|s| format!("(x'{}')", hex(s))).collect();
        server.run(&format!("INSERT INTO t.o VALUES {}", made.join(",")));
        if charset.max_bytes_per_char() == 1 {
            let limit = if charset == Charset::Ascii { 128 } else { 256 };
            server.run(&format!(
                "INSERT IGNORE INTO t.o SELECT CHAR(i) FROM t.n WHERE i BETWEEN 1 AND {limit} - 1"
            ));
        } else {
            // Characters that the set does not have are left out, because MySQL has no order for a
            // text of nothing but those.
            server.run(&format!(
                "INSERT IGNORE INTO t.o SELECT CONVERT({POINT} USING {0}) FROM t.n WHERE i > 0 AND {1} AND \
                 HEX(CONVERT({POINT} USING {0})) <> HEX(CONVERT('?' USING {0}))",
                charset.name(),
                sample.condition()
            ));
        }
        for (known, name) in of_charset {
            let (compared, differing) = compare_order(&server, known, name);
            pairs += compared;
            count += 1;
            if !differing.is_empty() {
                println!("{name}: {} of {compared} differ, for instance {}", differing.len(), differing[0]);
                wrong.extend(differing.into_iter().take(3));
            }
        }
    }
    println!("{pairs} pairs of strings in {count} collations of {flavor}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strings_order_as_in_mysql() {
    if available("collations_like_mysql::strings_order_as_in_mysql", &[Flavor::MySql]) {
        orders_are_those_of(Flavor::MySql);
    }
}

#[test]
fn strings_order_as_in_mariadb() {
    if available("collations_like_mysql::strings_order_as_in_mariadb", &[Flavor::MariaDb]) {
        orders_are_those_of(Flavor::MariaDb);
    }
}

/// Compares what `WEIGHT_STRING()` shows, and what `STRCMP()` says of strings that stand one after
/// the other in a random order.
fn weights_are_those_of(flavor: Flavor) {
    let (server, sample) = (start(flavor), Sample::from_environment());
    let mut draw = Draw(sample.seed);
    let only = std::env::var("COLLATION_NAME").unwrap_or_default();
    let (mut count, mut wrong) = (0, Vec::new());
    let shared = shared(&server, flavor);
    for charset in Charset::all() {
        let of_charset: Vec<_> = shared
            .iter()
            .filter(|(known, name)| known.charset == charset && name.contains(&only) && shows_weights(name))
            .collect();
        if charset == Charset::Binary || of_charset.is_empty() {
            continue;
        }
        server.run("DROP TABLE IF EXISTS t.o");
        let name = charset.name();
        server.run(&format!(
            "CREATE TABLE t.o (i INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(64) CHARACTER SET {name})"
        ));
        let made: Vec<String> =
            strings(charset, &mut draw, 1500).iter().map(|s| format!("(x'{}')", hex(s))).collect();
        server.run(&format!("INSERT INTO t.o (s) VALUES {}", made.join(",")));
        for (known, name) in of_charset {
            let rows = server.rows(&format!(
                "SELECT HEX(a.s), HEX(b.s), HEX(WEIGHT_STRING(a.s COLLATE {name})), STRCMP(a.s COLLATE {name}, b.s) \
                 FROM t.o a JOIN t.o b ON b.i = a.i + 1"
            ));
            count += rows.len();
            let differing = rows.iter().filter_map(|row| weighed_otherwise(known, row));
            wrong.extend(differing.take(3).map(|text| format!("{name}: {text}")));
        }
    }
    println!("{count} strings are weighed as by {flavor}");
    assert!(count > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says what differs from a server's row of two strings, the weights of the first one, and how they
/// compare.
fn weighed_otherwise(known: &Collation, row: &str) -> Option<String> {
    let fields: Vec<&str> = row.split('\t').collect();
    let (first, second) = (unhex(fields[0]), unhex(fields[1]));
    let text = collation::to_utf8mb4(known.id, &first);
    let weights = collation::weight_string(known.id, &text, None, usize::MAX).map(|weights| hex(&weights));
    let order = collation::compare(known.id, &first, &second) as i8;
    let same = weights.as_deref() == Some(fields[2]) && order.to_string() == fields[3];
    (!same).then(|| format!("{row}, here {weights:?} and {order}"))
}

#[test]
fn weights_are_as_in_mysql() {
    if available("collations_like_mysql::weights_are_as_in_mysql", &[Flavor::MySql]) {
        weights_are_those_of(Flavor::MySql);
    }
}

#[test]
fn weights_are_as_in_mariadb() {
    if available("collations_like_mysql::weights_are_as_in_mariadb", &[Flavor::MariaDb]) {
        weights_are_those_of(Flavor::MariaDb);
    }
}

#[test]
fn texts_are_in_the_partitions_where_mysql_puts_them() {
    const NAME: &str = "collations_like_mysql::texts_are_in_the_partitions_where_mysql_puts_them";
    if available(NAME, &[Flavor::MySql]) {
        let names = [
            "latin2_czech_cs",
            "cp1250_czech_cs",
            "utf8mb4_unicode_ci",
            "utf8mb4_hu_0900_as_cs",
            "utf8mb4_da_0900_as_cs",
            "utf8mb4_ja_0900_as_cs",
            "utf8mb4_ja_0900_as_cs_ks",
            "utf8mb4_zh_0900_as_cs",
        ];
        partitions_are_those_of(Flavor::MySql, &names);
    }
}

#[test]
fn texts_are_in_the_partitions_where_mariadb_puts_them() {
    const NAME: &str = "collations_like_mysql::texts_are_in_the_partitions_where_mariadb_puts_them";
    if available(NAME, &[Flavor::MariaDb]) {
        let names =
            ["latin2_czech_cs", "utf8mb4_thai_520_w2", "utf8mb3_myanmar_ci", "utf8mb4_unicode_nopad_ci"];
        partitions_are_those_of(Flavor::MariaDb, &names);
    }
}

fn partitions_are_those_of(flavor: Flavor, names: &[&str]) {
    const PARTITIONS: u32 = 5;
    let (server, sample) = (start(flavor), Sample::from_environment());
    let mut draw = Draw(sample.seed);
    for name in names {
        let known = collation::from_name(name).and_then(collation::by_id).expect("it is known");
        server.run("DROP TABLE IF EXISTS t.k");
        server.run(&format!(
            "CREATE TABLE t.k (s VARCHAR(64) CHARACTER SET {} COLLATE {name}) PARTITION BY KEY(s) PARTITIONS {PARTITIONS}",
            known.charset.name()
        ));
        let made = strings(known.charset, &mut draw, 300);
        let values: Vec<String> = made.iter().map(|text| format!("(x'{}')", hex(text))).collect();
        server.run(&format!("INSERT INTO t.k VALUES {}", values.join(",")));
        let mut count = 0;
        for partition in 0..PARTITIONS {
            for row in server.rows(&format!("SELECT HEX(s) FROM t.k PARTITION (p{partition})")) {
                let text = unhex(&row);
                let mut hash = KeyHash::default();
                assert!(hash.add_text(known.id, &collation::to_utf8mb4(known.id, &text)), "{name}");
                assert_eq!(hash.finish() % PARTITIONS, partition, "{name} {row}");
                count += 1;
            }
        }
        assert_eq!(count, made.len(), "{name}");
    }
}

#[test]
fn case_is_as_in_mysql() {
    if !available("collations_like_mysql::case_is_as_in_mysql", &[Flavor::MySql]) {
        return;
    }
    let (server, sample) = (start(Flavor::MySql), Sample::from_environment());
    let mut looked_at = 0;
    for (known, name) in shared(&server, Flavor::MySql) {
        // MySQL cuts code points above U+FFFF to 16 bits in this collation.
        if known.charset == Charset::Binary || name == "gb18030_unicode_520_ci" {
            continue;
        }
        let text = format!("CONVERT({POINT} USING {}) COLLATE {name}", known.charset.name());
        let rows = server.rows(&format!(
            "SELECT i, HEX(CONVERT(UPPER({text}) USING utf8mb4)), HEX(CONVERT(LOWER({text}) USING utf8mb4)) \
             FROM t.n WHERE {}{}",
            sample.condition(),
            if known.charset.is_unicode() { " AND i % 7 = 3" } else { " AND i < 65536" }
        ));
        looked_at += rows.len();
        for row in rows {
            let fields: Vec<&str> = row.split('\t').collect();
            let point = fields[0].parse().ok().and_then(char::from_u32).expect("a character");
            let text = point.encode_utf8(&mut [0; 4]).to_owned();
            // MySQL loses a character that takes more bytes in its other case, and control
            // characters of latin2_czech_cs.
            let is_lost = fields[1].is_empty()
                || fields[2].is_empty()
                || (name == "latin2_czech_cs" && matches!(point, '\u{7f}'..='\u{9f}'));
            if is_lost || collation::from_utf8mb4(known.id, text.as_bytes()).is_none() {
                continue;
            }
            let own = [collation::upper(known.id, &text), collation::lower(known.id, &text)];
            let own = own.map(|text| hex(text.as_bytes()));
            assert_eq!([&own[0], &own[1]], [fields[1], fields[2]], "{name} U+{:04X}", point as u32);
        }
    }
    println!("{looked_at} code points in upper and lower case");
}
