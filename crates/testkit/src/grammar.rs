//! A grammar in the form of text, and its expansion: the rules say which statements there are, and
//! a [`World`] says which names they may use.
//!
//! A rule is a name at the beginning of a line, a colon, and its alternatives, each on a line of
//! its own after `|`. In an alternative, `$name` stands for another rule or for what the world says
//! of the name. What is in `[...]` is present every second time, and `{...|...}` is one of several
//! parts. A backslash makes one of these signs an ordinary character. `(my 3)` before an
//! alternative makes it MySQL's alone (`ma`: MariaDB's alone) and three times as likely. `(rows)`
//! is for sources whose log has rows and no statements about them, and `(later)` leaves the
//! alternative out until Slipstream has what it needs. If `SLIPSTREAM_WALK_LATER` is set,
//! alternatives with `(rows)` and `(later)` are for all sources.

use std::collections::BTreeMap;

use crate::Flavor;
use os::random::Rng;

/// What the rules of a grammar do not say: the names of what exists.
pub trait World {
    /// Returns the text for `$name`, or `None` if the world does not define this name.
    fn resolve(&mut self, name: &str, grammar: &Grammar, rng: &mut Rng) -> Option<String>;
}

enum Piece {
    Text(String),
    Named(String),
    Maybe(Vec<Piece>),
    OneOf(Vec<Vec<Piece>>),
}

/// Rules by their names.
pub struct Grammar {
    rules: BTreeMap<String, Vec<Vec<Piece>>>,
}

/// The depth of expansion below which each rule takes its first alternative, which must end.
const DEPTH: u32 = 30;

impl Grammar {
    /// Reads the rules of these texts that apply to a source of this flavor, which logs rows or
    /// statements.
    pub fn new(texts: &[&str], flavor: Flavor, logs_rows: bool) -> Grammar {
        let with_later = std::env::var_os("SLIPSTREAM_WALK_LATER").is_some();
        let holds = |word: &str| match word {
            "my" => Some(flavor == Flavor::MySql),
            "ma" => Some(flavor == Flavor::MariaDb),
            "rows" => Some(logs_rows || with_later),
            "later" => Some(with_later),
            _ => None,
        };
        let mut rules: BTreeMap<String, Vec<Vec<Piece>>> = BTreeMap::new();
        let mut rule = String::new();
        for line in texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()) {
            let Some(alternative) = line.trim_start().strip_prefix('|') else {
                rule = line.trim().strip_suffix(':').unwrap_or_else(|| panic!("no rule: {line}")).to_string();
                assert!(!rules.contains_key(&rule), "there are two rules {rule}");
                rules.insert(rule.clone(), Vec::new());
                continue;
            };
            let (weight, text) = flags(alternative.strip_prefix(' ').unwrap_or(alternative), &holds);
            for _ in 0..weight {
                let mut rest = text.chars().peekable();
                let pieces = parse(&mut rest, false);
                assert!(rest.next().is_none(), "{rule}: a bracket too many: {text}");
                rules.get_mut(&rule).expect("the rule began").push(pieces);
            }
        }
        rules.retain(|_, alternatives| !alternatives.is_empty());
        Grammar { rules }
    }

    /// Reports whether there is a rule of this name.
    pub fn has(&self, rule: &str) -> bool {
        self.rules.contains_key(rule)
    }

    /// Returns a random text of this rule.
    pub fn expand(&self, rule: &str, world: &mut dyn World, rng: &mut Rng) -> String {
        let mut text = String::new();
        self.rule(rule, world, rng, 0, &mut text);
        text
    }

    fn rule(&self, name: &str, world: &mut dyn World, rng: &mut Rng, depth: u32, text: &mut String) {
        if let Some(resolved) = world.resolve(name, self, rng) {
            text.push_str(&resolved);
            return;
        }
        let alternatives = self.rules.get(name).unwrap_or_else(|| panic!("there is no rule {name}"));
        let pieces = if depth > DEPTH { &alternatives[0] } else { rng.pick::<Vec<Piece>>(alternatives) };
        self.pieces(pieces, world, rng, depth + 1, text);
    }

    fn pieces(&self, pieces: &[Piece], world: &mut dyn World, rng: &mut Rng, depth: u32, text: &mut String) {
        for piece in pieces {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Named(name) => self.rule(name, world, rng, depth, text),
                Piece::Maybe(inner) if rng.one_in(2) => self.pieces(inner, world, rng, depth, text),
                Piece::Maybe(_) => {}
                Piece::OneOf(choices) => {
                    self.pieces(rng.pick::<Vec<Piece>>(choices), world, rng, depth, text)
                }
            }
        }
    }
}

/// Returns the weight of an alternative, and its text without the flags. 0 means that the
/// alternative does not apply.
fn flags<'t>(text: &'t str, holds: &dyn Fn(&str) -> Option<bool>) -> (usize, &'t str) {
    let Some((words, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return (1, text);
    };
    let mut weight = 1;
    for word in words.split(' ') {
        match (holds(word), word.parse::<usize>()) {
            (Some(true), _) => {}
            (Some(false), _) => weight = 0,
            (None, Ok(number)) => weight *= number,
            (None, Err(_)) => return (1, text),
        }
    }
    (weight, rest.strip_prefix(' ').unwrap_or(rest))
}

fn parse(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, is_choice: bool) -> Vec<Piece> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    while let Some(&sign) = rest.peek() {
        if matches!(sign, ']' | '}') || (sign == '|' && is_choice) {
            break;
        }
        rest.next();
        match sign {
            '\\' if rest.peek().is_some_and(|next| "[]{}$|".contains(*next)) => text.extend(rest.next()),
            '$' => {
                let mut name = String::new();
                while let Some(letter) = rest.next_if(|next| next.is_ascii_lowercase() || *next == '_') {
                    name.push(letter);
                }
                match name.is_empty() {
                    // A `$` without a name belongs to a path in a JSON document.
                    true => text.push('$'),
                    false => {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                        pieces.push(Piece::Named(name));
                    }
                }
            }
            '[' => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Maybe(parse(rest, false)));
                assert_eq!(rest.next(), Some(']'), "a bracket is not closed");
            }
            '{' => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                let mut choices = vec![parse(rest, true)];
                while rest.next_if_eq(&'|').is_some() {
                    choices.push(parse(rest, true));
                }
                assert_eq!(rest.next(), Some('}'), "a brace is not closed");
                pieces.push(Piece::OneOf(choices));
            }
            _ => text.push(sign),
        }
    }
    pieces.push(Piece::Text(text));
    pieces
}
