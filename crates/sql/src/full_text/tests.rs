//! Words, the grammar of searches, and what searches find.

use super::documents::{Looked, Visit};
use super::parse::parse;
use super::{Documents, search};
use crate::ast::SearchMode;
use crate::error::Result;
use crate::memory::Budget;
use std::collections::HashSet;
use types::collation;
use types::words::{Rules, WordSizes};

fn rules() -> Rules {
    Rules::new(collation::UTF8MB4_0900_AI_CI, false, WordSizes::default())
}

fn words(text: &str) -> Vec<&str> {
    rules().words(text).iter().map(|word| word.text).collect()
}

#[test]
fn texts_are_cut_where_innodb_cuts_them() {
    assert_eq!(words("It's a_b c-d, e.f (g)"), ["It", "s", "a_b", "c", "d", "e", "f", "g"]);
    assert_eq!(words("héllo wörld 漢字 ½ x²"), ["héllo", "wörld", "漢字", "½", "x²"]);
    assert_eq!(words("one\u{1f600}two \u{24dc} \u{a0}three"), ["one", "two", "three"]);
    assert!(words(" .,;:!? ").is_empty());
}

#[test]
fn stop_words_and_short_words_are_not_indexed() {
    let rules = rules();
    let indexed = |text: &str| {
        let word = rules.words(text)[0];
        rules.is_indexed(&word, &rules.key(word.text))
    };
    assert!(indexed("abc") && indexed("thé_") && indexed(&"x".repeat(84)));
    assert!(!indexed("ab") && !indexed("The") && !indexed("thé") && !indexed(&"x".repeat(85)));
}

fn parsed(text: &str) -> String {
    match parse(text, true, &rules(), &|| Ok(())) {
        Ok(tree) => format!("{} words, {} phrases", tree.words.keys().len(), tree.phrases.len()),
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

#[test]
fn what_innodb_does_not_understand_is_its_error() {
    assert_eq!(parsed("+"), "1064 syntax error, unexpected $end");
    assert_eq!(parsed("++a"), "1064 syntax error, unexpected '+'");
    assert_eq!(parsed("a)"), "1064 syntax error, unexpected ')', expecting $end");
    assert_eq!(parsed("(a"), "1064 syntax error, unexpected $end");
    assert_eq!(parsed("a @4"), "1064 syntax error, unexpected '@', expecting $end");
    assert_eq!(parsed("\"a b\" @"), "1064 syntax error, unexpected $end, expecting FTS_NUMB");
    let stars = "1064 syntax error, unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'";
    assert_eq!(parsed("a**"), stars);
    assert_eq!(parsed("\"open"), "1 words, 0 phrases");
}

#[test]
fn long_and_deep_searches_are_stood() {
    assert_eq!(parsed(&"(".repeat(1 << 20)), "1064 memory exhausted");
    assert_eq!(parsed(&"*".repeat(1 << 20)), "1064 memory exhausted");
    assert_eq!(parsed(&")".repeat(1 << 20)), "1064 syntax error, unexpected ')', expecting $end");
    assert_eq!(found(&"()".repeat(1 << 19), SearchMode::Boolean, &["word"]), Ok(vec![0.0]));
    let deep = format!("{}word{}", "(".repeat(4_000), ")".repeat(4_000));
    assert_eq!(found(&deep, SearchMode::Boolean, &["word", "none"]), Err(209));
    assert_eq!(
        found(&"+word ".repeat(1 << 12), SearchMode::Boolean, &["word", "none"]).map(|all| all.len()),
        Ok(2)
    );
}

struct Texts<'t>(&'t [&'t str]);

impl Documents for Texts<'_> {
    fn each(&mut self, _: Option<&Looked>, visit: &mut Visit<'_>) -> Result<()> {
        (0..).zip(self.0).try_for_each(|(number, text)| visit(number, &[Some(text)]).map(|_| ()))
    }

    fn again(&mut self, numbers: &HashSet<u64>, visit: &mut Visit<'_>) -> Result<()> {
        self.each(None, &mut |number, texts| Ok(numbers.contains(&number) && visit(number, texts)?))
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }
}

/// The relevance of each document, or the error's number.
fn found(text: &str, mode: SearchMode, documents: &[&str]) -> std::result::Result<Vec<f64>, u16> {
    let budget = Budget::new(Default::default());
    let found = search(text, mode, &rules(), &mut Texts(documents), &budget, &|| Ok(()));
    let (found, _) = found.map_err(|error| error.code)?;
    Ok(documents.iter().map(|text| found.relevance([Some(*text)].into_iter())).collect())
}

#[test]
fn relevances_are_innodbs() {
    let documents = ["Mysql Tutorial DBMS database database", "How To Use MySQL", "tutorial", "none"];
    let natural = found("tutorial database", SearchMode::NaturalLanguage, &documents);
    let idf = |documents: f64| (4.0 / documents).log10();
    let both = (2.0 * idf(1.0) * idf(1.0)) as f32;
    let one = (idf(2.0) * idf(2.0)) as f32;
    assert_eq!(natural, Ok(vec![f64::from(one + both), 0.0, f64::from(one), 0.0]));
    let boolean = found("+mysql -tutorial", SearchMode::Boolean, &documents);
    assert_eq!(boolean, Ok(vec![0.0, f64::from(one), 0.0, 0.0]));
}

#[test]
fn parentheses_are_sets_of_their_own() {
    let documents = ["apple", "apple band word", "band word", "none", "apple none"];
    let found = found("+apple (word +band)", SearchMode::Boolean, &documents).expect("it is understood");
    let is_found: Vec<bool> = found.iter().map(|relevance| *relevance > 0.0).collect();
    assert_eq!(is_found, [true, true, false, false, true]);
}

#[test]
fn phrases_of_stop_words_find_nothing() {
    for text in ["\"the to\" @4", "\"the to\"", "+\"the\"", "\"\" @2"] {
        assert_eq!(found(text, SearchMode::Boolean, &["the to word", "none"]), Ok(vec![0.0, 0.0]), "{text}");
    }
}

#[test]
fn an_empty_set_that_has_to_be_there_leaves_nothing() {
    let documents = ["apple", "band", "none"];
    let found = found("apple +(~band)", SearchMode::Boolean, &documents);
    assert_eq!(found, Ok(vec![0.0; 3]));
}

#[test]
fn expansion_keeps_what_it_began_with() {
    let documents = ["apple", "apple band", "band", "none"];
    let found = found("apple", SearchMode::Expanded, &documents).expect("it is understood");
    let is_found: Vec<bool> = found.iter().map(|relevance| *relevance > 0.0).collect();
    assert_eq!(is_found, [true, true, true, false]);
}

/// The documents that a search in boolean mode finds.
fn numbers(text: &str, documents: &[&str]) -> Vec<usize> {
    let found = found(text, SearchMode::Boolean, documents).expect("it is understood");
    (0..documents.len()).filter(|at| found[*at] != 0.0).collect()
}

#[test]
fn a_term_of_several_words_comes_before_what_restricts() {
    let documents = ["apple", "apple band", "cherry", "apple band cherry", "none"];
    assert_eq!(numbers("+apple.band cherry", &documents), [1, 2, 3]);
    assert_eq!(numbers("cherry +apple.band", &documents), [1, 3]);
    assert_eq!(numbers("-apple.band cherry", &documents), [2, 3]);
    assert_eq!(numbers("cherry -apple.band", &documents), [2]);
    assert_eq!(numbers("+apple.band* cherry", &documents), [1, 2, 3]);
}

#[test]
fn an_empty_level_restricts_nothing_and_an_empty_phrase_in_one_does() {
    let documents = ["apple", "none"];
    assert_eq!(numbers("apple +() +(()) +\"\" +.", &documents), [0]);
    for text in ["apple +(\"\")", "apple +(.)", "apple +(+())", "apple +\" \""] {
        assert!(numbers(text, &documents).is_empty(), "{text}");
    }
}

#[test]
fn a_word_is_not_looked_for_where_nothing_can_be_left() {
    let documents = ["apple", "band", "none", "none"];
    let rank = |text| found(text, SearchMode::Boolean, &documents).map(|ranks| ranks[0]);
    assert_eq!(rank("apple (+unseen +apple)"), rank("apple"));
    assert_eq!(rank("apple (-apple)"), rank("apple"));
    assert_eq!(rank("apple (+unseen +\"apple\")"), rank("apple apple"));
    assert_ne!(rank("apple apple"), rank("apple"));
}

#[test]
fn a_level_that_lost_all_its_documents_is_felt_by_later_phrases() {
    let documents = ["elder date", "elder base", "none", "none"];
    assert!(numbers("(+base +date) (+\"date\")", &documents).is_empty());
    assert_eq!(numbers("(+base +date) (+date)", &documents), [0]);
    assert_eq!(numbers("(+base +date) (+\"elder\")", &documents), [0, 1]);
    assert_eq!(numbers("(+base +date) (+elder) (+\"date\")", &documents), [0, 1]);
}
