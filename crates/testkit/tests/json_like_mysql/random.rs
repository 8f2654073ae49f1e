//! Tests of all functions with random documents and paths.
//!
//! Arguments that are no documents are texts and never calls that fail: MySQL computes an argument
//! only when the function looks at it, so that the error of a call among the arguments may not
//! appear there.

use crate::beside::Both;
use os::random::{Rng, test_seed_or};

/// The number of statements in a run.
const STATEMENTS: usize = 500;

/// A maker of the texts of expressions.
struct Maker<'r> {
    rng: &'r mut Rng,
}

impl Maker<'_> {
    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.rng.below(of.len() as u64) as usize]
    }

    fn name(&mut self) -> &'static str {
        self.one_of(&["a", "b", "cc", "a b", "", "é", "A"])
    }

    /// Returns the text of a document, or now and then a text that is no document.
    fn text(&mut self, depth: usize) -> String {
        if self.rng.below(40) == 0 {
            return self.one_of(&["[", "{\"a\"}", "[1,]", "nul", "\"a"]).to_owned();
        }
        self.good_text(depth)
    }

    /// Returns the text of a document.
    fn good_text(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 8 } else { 14 }) {
            0 => "null".to_owned(),
            1 => self.one_of(&["true", "false"]).to_owned(),
            2 | 3 => self.rng.below(4).to_string(),
            4 => {
                self.one_of(&["1.0", "-2.50", "1e3", "18446744073709551615", "-1", "0.1", "1E-7"]).to_owned()
            }
            5..=7 => format!("\"{}\"", self.one_of(&["a", "abc", "", "x y", "é", "1", "a\\\\\"b"])),
            8..=10 => {
                let count = self.rng.below(4);
                let elements: Vec<String> = (0..count).map(|_| self.good_text(depth - 1)).collect();
                format!("[{}]", elements.join(", "))
            }
            _ => {
                let count = self.rng.below(4);
                let member = |_| format!("\"{}\": {}", self.name(), self.good_text(depth - 1));
                let members: Vec<String> = (0..count).map(member).collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    /// Returns a document as an argument of a function.
    fn document(&mut self) -> String {
        match self.rng.below(20) {
            0 => "NULL".to_owned(),
            1 => self.scalar(),
            2 => format!("JSON_ARRAY({}, {})", self.scalar(), self.scalar()),
            3 => format!("JSON_OBJECT('{}', {})", self.name(), self.scalar()),
            4 => format!("CAST('{}' AS JSON)", self.good_text(2)),
            _ => format!("'{}'", self.text(3)),
        }
    }

    /// Returns an SQL value.
    fn scalar(&mut self) -> String {
        self.one_of(&[
            "NULL",
            "1",
            "0",
            "-5",
            "1.50",
            "2e0",
            "'a'",
            "'abc'",
            "''",
            "TRUE",
            "1 = 2",
            "x'4142'",
            "DATE'2020-01-02'",
            "TIME'10:11:12.5'",
            "TIMESTAMP'2020-01-02 03:04:05'",
            "18446744073709551615",
            "JSON_ARRAY(1)",
            "CAST('{}' AS JSON)",
        ])
        .to_owned()
    }

    fn path(&mut self, single: bool) -> String {
        let mut path = self.one_of(&["$", "$", "$", "$", "$", " $ ", "", "$."]).to_owned();
        if path != "$" && self.rng.below(3) > 0 {
            path = "$".to_owned();
        }
        for _ in 0..self.rng.below(4) {
            let leg = match self.rng.below(if single { 9 } else { 14 }) {
                0..=2 => format!(".{}", self.one_of(&["a", "b", "cc", "\"a b\"", "\"\"", "é", "A"])),
                3..=5 => format!("[{}]", self.rng.below(3)),
                6 => format!("[last-{}]", self.rng.below(3)),
                7 => "[last]".to_owned(),
                8 => self.one_of(&["[99]", ".none", "[last-99]", ".1", "[x]", "**"]).to_owned(),
                9 => ".*".to_owned(),
                10 => "[*]".to_owned(),
                11 => self.one_of(&["**.a", "**[0]", "**.b", "**[last]"]).to_owned(),
                12 => format!("[{} to {}]", self.rng.below(3), self.rng.below(4)),
                _ => format!("[last-{} to last]", self.rng.below(3)),
            };
            path.push_str(&leg);
        }
        if self.rng.below(40) == 0 { "NULL".to_owned() } else { format!("'{path}'") }
    }

    fn call(&mut self) -> String {
        match self.rng.below(26) {
            0..=3 => format!("JSON_EXTRACT({}, {})", self.document(), self.path(false)),
            4 => format!("JSON_EXTRACT({}, {}, {})", self.document(), self.path(false), self.path(false)),
            5..=8 => {
                let name = self.one_of(&[
                    "JSON_SET",
                    "JSON_INSERT",
                    "JSON_REPLACE",
                    "JSON_ARRAY_APPEND",
                    "JSON_ARRAY_INSERT",
                ]);
                format!("{name}({}, {}, {})", self.document(), self.path(true), self.scalar())
            }
            9 => format!("JSON_REMOVE({}, {})", self.document(), self.path(true)),
            10 => format!("JSON_CONTAINS({}, {})", self.document(), self.document()),
            11 => format!("JSON_CONTAINS({}, {}, {})", self.document(), self.document(), self.path(true)),
            12 => {
                let which = self.one_of(&["'one'", "'all'", "'ALL'", "NULL", "'x'"]);
                let (document, a, b) = (self.document(), self.path(false), self.path(false));
                format!("JSON_CONTAINS_PATH({document}, {which}, {a}, {b})")
            }
            13 => format!("JSON_OVERLAPS({}, {})", self.document(), self.document()),
            14 => format!("{} MEMBER OF ({})", self.scalar(), self.document()),
            15 => {
                let which = self.one_of(&["one", "all"]);
                let pattern = self.one_of(&["a%", "%", "_", "abc", "%b%", "1"]);
                format!("JSON_SEARCH({}, '{which}', '{pattern}')", self.document())
            }
            16 => {
                let pattern = self.one_of(&["a%", "%"]);
                format!("JSON_SEARCH({}, 'all', '{pattern}', NULL, {})", self.document(), self.path(false))
            }
            17 => format!("JSON_KEYS({})", self.document()),
            18 => format!("JSON_LENGTH({}, {})", self.document(), self.path(false)),
            19 => {
                let name =
                    self.one_of(&["JSON_DEPTH", "JSON_TYPE", "JSON_PRETTY", "JSON_LENGTH", "JSON_VALID"]);
                format!("{name}({})", self.document())
            }
            20 | 21 => {
                let name = self.one_of(&["JSON_MERGE_PATCH", "JSON_MERGE_PRESERVE"]);
                format!("{name}({}, {}, {})", self.document(), self.document(), self.document())
            }
            22 => format!("JSON_UNQUOTE(JSON_EXTRACT({}, {}))", self.document(), self.path(false)),
            23 => {
                let op = self.one_of(&["=", "<", ">=", "<=>"]);
                format!("CAST('{}' AS JSON) {op} {}", self.good_text(2), self.scalar())
            }
            24 => format!("CAST('{}' AS JSON) < CAST('{}' AS JSON)", self.good_text(2), self.good_text(2)),
            _ => {
                let ty = self.one_of(&["SIGNED", "CHAR(20)", "DOUBLE", "JSON", "DATE"]);
                let rest = self.one_of(&["", " DEFAULT 5 ON EMPTY", " ERROR ON ERROR", " ERROR ON EMPTY"]);
                let path = self.path(true);
                let path = if path == "NULL" { "'$'".to_owned() } else { path };
                let rest = if ty == "DATE" || ty == "JSON" { "" } else { rest };
                format!("JSON_VALUE({}, {path} RETURNING {ty}{rest})", self.document())
            }
        }
    }
}

#[test]
fn random_calls_answer_as_mysqls() {
    let Some(mut both) = Both::start("random_calls_answer_as_mysqls", &[]) else { return };
    // Other seeds find the differences that decision 0050 accepts.
    let mut rng = Rng::new(test_seed_or("random_calls_answer_as_mysqls", 2));
    for _ in 0..STATEMENTS {
        let call = Maker { rng: &mut rng }.call();
        both.ask(&format!("SELECT {call} AS v"));
    }
    assert_eq!(both.finish(), STATEMENTS);
}
