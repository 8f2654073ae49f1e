//! Tests with random patterns and subjects.

use super::ask_both;
use os::random::{Rng, test_seed_or};

/// The number of statements in a run.
const STATEMENTS: usize = 2000;

struct Maker<'r> {
    rng: &'r mut Rng,
    groups: usize,
}

impl Maker<'_> {
    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.rng.below(of.len() as u64) as usize]
    }

    fn pattern(&mut self, depth: usize) -> String {
        let branches = if self.rng.below(4) == 0 { 2 } else { 1 };
        let branches: Vec<String> = (0..branches)
            .map(|_| {
                let terms = self.rng.below(3) + 1;
                (0..terms).map(|_| self.repeated(depth)).collect::<String>()
            })
            .collect();
        branches.join("|")
    }

    fn repeated(&mut self, depth: usize) -> String {
        let term = self.term(depth);
        if self.rng.below(3) > 0 {
            return term;
        }
        let count = self.one_of(&["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{1,}", "{0}"]);
        let greed = self.one_of(&["", "", "", "?", "+"]);
        format!("{term}{count}{greed}")
    }

    fn set(&mut self, depth: usize) -> String {
        let negated = self.one_of(&["", "", "^"]);
        let count = self.rng.below(3) + 1;
        let items: String = (0..count)
            .map(|_| match self.rng.below(if depth > 0 { 12 } else { 9 }) {
                9 => self.set(depth - 1),
                10 => format!("&&{}", self.set(depth - 1)),
                11 => format!("{}-{}", self.set(depth - 1), self.set(depth - 1)),
                _ => {
                    let items = ["a", "b", "A", "a-c", "-", "[:alpha:]", "[:^digit:]", "é", "ß", "0", "&"];
                    let more = ["\\\\d", "\\\\W", "\\\\s", "\\\\n", "]", "--[b]", "\\\\]", "^", "[:upper:]"];
                    if self.rng.below(2) == 0 { self.one_of(&items) } else { self.one_of(&more) }.to_owned()
                }
            })
            .collect();
        format!("[{negated}{items}]")
    }

    fn term(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 8 } else { 14 }) {
            0..=3 => self.one_of(&["a", "b", "ab", "A", "é", "s", "ss", "ß", " ", "0", "fi"]).to_owned(),
            4 => self.one_of(&[".", "^", "$", "\\n", "\\\\A", "\\\\Z", "\\\\z", "\\\\R"]).to_owned(),
            5 => {
                let classes =
                    ["\\\\d", "\\\\w", "\\\\W", "\\\\s", "\\\\S", "\\\\b", "\\\\B", "\\\\h", "\\\\v"];
                self.one_of(&classes).to_owned()
            }
            6 => self.set(1),
            7 => match self.groups {
                0 => self.one_of(&["\\\\p{L}", "\\\\P{Lu}", "\\\\x61", "\\\\Qa\\\\E", "\\\\1"]).to_owned(),
                groups => format!("\\\\{}", self.rng.below(groups as u64) + 1),
            },
            8 | 9 => {
                self.groups += 1;
                format!("({})", self.pattern(depth - 1))
            }
            10 => format!("(?:{})", self.pattern(depth - 1)),
            11 => {
                let kind = self.one_of(&["(?>", "(?=", "(?!", "(?<=", "(?<!"]);
                format!("{kind}{})", self.pattern(depth - 1))
            }
            12 => {
                let flags = self.one_of(&["(?i:", "(?-i:", "(?s:", "(?m:", "(?i)(?:", "(?x: "]);
                format!("{flags}{})", self.pattern(depth - 1))
            }
            _ => self.one_of(&["(", ")", "*", "[", "{", "\\\\", "(?", "(?i)", "a{2", "(?#x)"]).to_owned(),
        }
    }

    fn subject(&mut self) -> String {
        let count = self.rng.below(7);
        let parts = [
            "a", "b", "A", "B", "ab", "é", "É", "s", "S", "ß", " ", "\\n", "\\r\\n", "\\r", "0", "fi", "ﬁ",
            "😀",
        ];
        (0..count).map(|_| self.one_of(&parts)).collect()
    }

    fn call(&mut self) -> String {
        self.groups = 0;
        let (pattern, subject) = (self.pattern(2), self.subject());
        let collation = self.one_of(&["", "", " COLLATE utf8mb4_bin"]);
        let (texts, flags) = (format!("'{subject}'{collation}, '{pattern}'"), self.flags());
        match self.rng.below(4) {
            0 => format!("regexp_like({texts}, {flags})"),
            1 => {
                let (at, number, option) = (self.rng.below(3), self.rng.below(3), self.rng.below(2));
                format!("regexp_instr({texts}, {}, {number}, {option}, {flags})", at + 1)
            }
            2 => {
                let with = self.one_of(&["x", "", "<$0>", "[$1]", "\\\\$1", "$2$1"]);
                let (at, number) = (self.rng.below(2), self.rng.below(3));
                format!("hex(regexp_replace({texts}, '{with}', {}, {number}, {flags}))", at + 1)
            }
            _ => {
                let (at, number) = (self.rng.below(2), self.rng.below(3));
                format!("hex(regexp_substr({texts}, {}, {number}, {flags}))", at + 1)
            }
        }
    }

    fn flags(&mut self) -> String {
        format!("'{}'", self.one_of(&["", "c", "i", "m", "n", "u", "mn", "cm", "cn", "imu", "ci"]))
    }
}

#[test]
fn random_patterns_match_as_mysqls() {
    let mut rng = Rng::new(test_seed_or("random_patterns_match_as_mysqls", 15));
    let statements = (0..STATEMENTS).map(|_| {
        let call = Maker { rng: &mut rng, groups: 0 }.call();
        format!("SELECT {call} AS v")
    });
    let asked = ask_both("random_patterns_match_as_mysqls", statements.collect::<Vec<_>>().into_iter());
    assert!(asked == 0 || asked == STATEMENTS);
}
