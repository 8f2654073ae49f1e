//! The reduction of a statement that shows a fault: parts of it are left out, or give way to a part
//! of themselves, as long as the fault still shows.

/// Returns the shortest statement that was found, for which `shows` is still true. `shows` is asked
/// at most `tries` times.
pub fn reduced(statement: &str, tries: usize, mut shows: impl FnMut(&str) -> bool) -> String {
    let mut words = words(statement);
    let mut left = tries;
    loop {
        let before = words.len();
        words = hoisted(words, &mut left, &mut shows);
        words = shortened(words, &mut left, &mut shows);
        if words.len() == before || left == 0 {
            return words.concat();
        }
    }
}

/// Returns the words, quoted texts and signs of a statement, each with the spaces before it.
fn words(statement: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut rest = statement.chars().peekable();
    while let Some(sign) = rest.next() {
        word.push(sign);
        if sign == ' ' {
            continue;
        }
        if sign == '\'' {
            word.extend(std::iter::from_fn(|| rest.next_if(|next| *next != '\'')));
            word.extend(rest.next());
        } else if is_of_a_word(sign) {
            word.extend(std::iter::from_fn(|| rest.next_if(|next| is_of_a_word(*next))));
            if rest.peek() == Some(&'\'') {
                word.extend(rest.next());
                word.extend(std::iter::from_fn(|| rest.next_if(|next| *next != '\'')));
                word.extend(rest.next());
            }
        } else if "<>=|&".contains(sign) {
            word.extend(std::iter::from_fn(|| rest.next_if(|next| "<>=|&".contains(*next))));
        }
        words.push(std::mem::take(&mut word));
    }
    words
}

fn is_of_a_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '.'
}

/// Returns the place of the bracket that closes the one at `open`.
fn closing(words: &[String], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.trim_start() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Puts an argument in the place of its call, and NULL or 1 in the place of a whole call.
fn hoisted(mut words: Vec<String>, left: &mut usize, shows: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    let mut open = 0;
    'next: while open < words.len() {
        let close = match words[open].trim_start() == "(" {
            true => closing(&words, open),
            false => None,
        };
        let Some(close) = close else {
            open += 1;
            continue;
        };
        let is_call = !words[open].starts_with(' ')
            && open > 0
            && words[open - 1].trim_start().chars().all(is_of_a_word);
        let begin = if is_call { open - 1 } else { open };
        let mut offers: Vec<Vec<String>> = vec![vec![" 1".to_owned()], vec![" NULL".to_owned()]];
        let (mut from, mut depth) = (open + 1, 0);
        for at in open + 1..=close {
            match words[at].trim_start() {
                "(" => depth += 1,
                ")" if at < close => depth -= 1,
                _ => {}
            }
            let ends = at == close || (depth == 0 && matches!(words[at].trim(), "," | "AND" | "OR" | "AS"));
            if ends && depth == 0 && from < at {
                offers.push(words[from..at].to_vec());
                from = at + 1;
            }
        }
        for offer in offers.iter().filter(|offer| offer.len() < close + 1 - begin) {
            if *left == 0 {
                return words;
            }
            *left -= 1;
            let mut candidate = words[..begin].to_vec();
            let mut first = offer.clone();
            if !first[0].starts_with(' ') {
                first[0].insert(0, ' ');
            }
            candidate.extend(first);
            candidate.extend_from_slice(&words[close + 1..]);
            if shows(&candidate.concat()) {
                words = candidate;
                open = begin;
                continue 'next;
            }
        }
        open += 1;
    }
    words
}

/// Leaves out stretches of words.
fn shortened(mut words: Vec<String>, left: &mut usize, shows: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    let mut part = words.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < words.len() && *left > 0 {
            *left -= 1;
            let mut fewer = words.clone();
            fewer.drain(at..(at + part).min(words.len()));
            match !fewer.is_empty() && shows(&fewer.concat()) {
                true => words = fewer,
                false => at += 1,
            }
        }
        part = if part > 8 { part / 2 } else { part - 1 };
    }
    words
}
