//! Tests of LOAD XML, compared with a real MySQL: files and statements that were written by hand,
//! and files of random pieces.

use super::{client, same_as_mysql, say};
use bench::instance::Settings;
use os::random::{Rng, test_seed_or};
use testkit::times;

/// Files with rows in each form that there is.
const FILES: &[&[u8]] = &[
    b"<?xml version=\"1.0\"?>\n<list>\n  <row a=\"1\" b=\"one\" c=\"1.5\"/>\n  <row a=\"2\"><b>two</b><c>2.5</c></row>\n\
      <row><field name=\"a\">3</field><field name='b'>three &lt;&amp;&gt; &quot;x&quot; &apos; &foo;</field></row>\n\
      <!-- <row a=\"99\"/> a comment -->\n  <row><field name=\"a\">4</field><field name=\"b\" xsi:nil=\"true\" /></row>\n\
      <row a=5 b='five' c = \"5.5\" />\n  <row\n a=\"6\"\n b=\"six\"><c>6</c></row>\n\
      <group b=\"shared\"><row a=\"7\"/><row a=\"8\"/></group>\n  <row a=\"9\"><a>10</a><b></b></row>\n</list>\n",
    b"<row><a>13</a><b>x<!-- in -->y</b></row><row><a> 14 </a><b> sp  ace </b><B>upper</B></row>",
    b"<row a=\"1\" b=\"x\n\ty  z\"/><row a=\"2\" b=\"\xc3\xa9\"/><row a=\"3\" b=\"\xff\"/><row a=\"x\" b=\"bad\"/>\
      <row b=\"noid\"/><row/><row></row><row a=\"1\" b=\"dup\"/>",
    b"<r><row><a>1</a><b>trunc",
    b"<row><a>1</a><b>&#65;&lt; &amp",
    b"<person a=\"1\"><b>p</b></person><row a='2'></row><person><a>3</a></person>",
    b"",
];

fn load(test: &str, table: &str, statements: &[&str]) {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = client(server);
        let mut lines = Vec::new();
        for mode in ["DEFAULT", "''"] {
            lines.push(say(&mut client, &format!("SET sql_mode = {mode}"), b""));
            for (number, file) in FILES.iter().enumerate() {
                for statement in statements {
                    client.query("DROP TABLE IF EXISTS t").expect("the table can be dropped");
                    client.query(table).expect("the table can be made");
                    lines.push(format!("file {number}"));
                    lines.push(say(&mut client, statement, file));
                    lines.push(say(&mut client, "SELECT * FROM t", b""));
                }
            }
        }
        lines
    });
}

#[test]
fn elements_become_rows_as_in_mysql() {
    load(
        "load_xml_rows",
        "CREATE TABLE t (a INT, b VARCHAR(40), c DECIMAL(5,2))",
        &[
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t",
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t ROWS IDENTIFIED BY '<person>'",
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t CHARACTER SET latin1 ROWS IDENTIFIED BY '<row>' IGNORE 1 ROWS",
            "LOAD XML CONCURRENT LOCAL INFILE 'x' INTO TABLE t IGNORE 2 LINES (c, b)",
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t (a, @b) SET b = CONCAT(@b, '!'), c = a + 1",
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t (A, @B, b)",
        ],
    );
}

#[test]
fn keys_and_missing_values_of_xml_files_are_treated_as_by_mysql() {
    load(
        "load_xml_keys",
        "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(9) NOT NULL, c INT NOT NULL DEFAULT 7, \
         d TIMESTAMP NULL DEFAULT '2020-01-01')",
        &[
            "LOAD XML LOCAL INFILE 'x' INTO TABLE t",
            "LOAD XML LOCAL INFILE 'x' REPLACE INTO TABLE t",
            "LOAD XML LOCAL INFILE 'x' IGNORE INTO TABLE t (a, b) SET c = 4",
        ],
    );
}

/// Returns a file of random pieces, of which some make rows. `<!` is not among them: what MySQL
/// makes of a comment depends on what stands before it.
fn file(rng: &mut Rng) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "<row>",
        "</row>",
        "<row ",
        "<row",
        "/>",
        ">",
        "<a>",
        "</a>",
        "<b>",
        "</b>",
        "<b/>",
        "<b />",
        "<other>",
        "</other>",
        "<field name=\"a\">",
        "<field name='b'>",
        "<field name=b>",
        "</field>",
        " a=\"1\"",
        " b='x y'",
        " a=2",
        " b = \"z\"",
        "3",
        "text",
        " ",
        "\n",
        "&lt;",
        "&amp;",
        "&x;",
        "&",
        "/",
        "=",
        "\"",
        "'",
        "<?xml?>",
        "\u{e9}",
        "<row a=\"4\" b=\"q\"/>",
        "<row><a>5</a><b>r</b></row>",
    ];
    let mut text = String::new();
    for _ in 0..rng.between(1, 30) {
        text.push_str(rng.pick::<&str>(PIECES));
    }
    text.into_bytes()
}

#[test]
fn files_of_random_pieces_are_read_as_by_mysql() {
    let seed = test_seed_or("load_data::xml::files_of_random_pieces_are_read_as_by_mysql", 1);
    same_as_mysql("load_xml_random", &Settings::default(), |server| {
        let mut rng = Rng::new(seed);
        let mut client = client(server);
        client.query("CREATE TABLE t (a TEXT, b TEXT)").expect("the table can be made");
        let mut lines = Vec::new();
        for _ in 0..times("SLIPSTREAM_XML_FILES", 400) {
            let file = file(&mut rng);
            lines.push(file.escape_ascii().to_string());
            lines.push(say(&mut client, "LOAD XML LOCAL INFILE 'x' INTO TABLE t", &file));
            lines.push(say(&mut client, "SELECT * FROM t", b""));
            client.query("DELETE FROM t").expect("the table can be emptied");
        }
        lines
    });
}
