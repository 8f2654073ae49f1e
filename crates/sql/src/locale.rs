//! MySQL's locales: the names of months and days (`lc_time_names`), and how FORMAT() writes
//! numbers.
//!
//! In: a name or a number, as `SET lc_time_names` takes it. Out: the [`Locale`], of which there is
//! one for each. `names.txt` has what a real server says of each.

use std::sync::LazyLock;

/// A locale.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Locale {
    /// The number that the binary log has for the locale.
    pub number: u16,
    pub name: &'static str,
    /// The sign between groups of digits. `None` means that digits are not grouped.
    pub separator: Option<char>,
    pub decimal_sign: &'static str,
    /// Whether the groups have two digits, except for the last one, which has three.
    pub has_pairs: bool,
    /// From January on.
    pub months: Vec<&'static str>,
    pub short_months: Vec<&'static str>,
    /// From Monday on.
    pub days: Vec<&'static str>,
    pub short_days: Vec<&'static str>,
}

static ALL: LazyLock<Vec<Locale>> = LazyLock::new(|| {
    let mut all: Vec<Locale> = Vec::new();
    for line in include_str!("locale/names.txt").lines().filter(|line| !line.starts_with('#')) {
        let next = read(line, all.last());
        all.push(next);
    }
    assert!(all.iter().enumerate().all(|(at, locale)| at == usize::from(locale.number)), "they are numbered");
    all
});

/// Reads a line of the table, in which `=` stands for what the locale before has.
fn read(line: &'static str, before: Option<&Locale>) -> Locale {
    let mut parts = line.split('|');
    let mut next = || parts.next().expect("a line of the table has all parts");
    let (number, name) = (next().parse().expect("a number"), next());
    let separator = next().strip_prefix("U+").and_then(|code| u32::from_str_radix(code, 16).ok());
    let (decimal_sign, has_pairs) = (next(), next() == "2");
    let mut list = |of_before: fn(&Locale) -> &Vec<&'static str>| match (next(), before) {
        ("=", Some(before)) => of_before(before).clone(),
        (words, _) => words.split(',').collect(),
    };
    Locale {
        number,
        name,
        separator: separator.and_then(char::from_u32),
        decimal_sign,
        has_pairs,
        months: list(|before| &before.months),
        short_months: list(|before| &before.short_months),
        days: list(|before| &before.days),
        short_days: list(|before| &before.short_days),
    }
}

/// Returns the locale `en_US`.
pub(crate) fn english() -> &'static Locale {
    &ALL[0]
}

/// Returns the locale with a name, in which case does not count.
pub(crate) fn named(name: &str) -> Option<&'static Locale> {
    ALL.iter().find(|locale| locale.name.eq_ignore_ascii_case(name))
}

/// Returns the locale with a number.
pub(crate) fn numbered(number: u64) -> Option<&'static Locale> {
    ALL.get(usize::try_from(number).ok()?)
}

/// Returns the proper form of the name of a locale, or `None` where no locale has the name.
pub fn canonical_name(name: &str) -> Option<&'static str> {
    named(name).map(|locale| locale.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_locale_has_all_names() {
        assert!(ALL.len() > 100);
        for locale in ALL.iter() {
            let Locale { months, short_months, days, short_days, .. } = locale;
            let lengths = [months, short_months, days, short_days].map(Vec::len);
            assert_eq!(lengths, [12, 12, 7, 7], "{}", locale.name);
        }
        assert_eq!((english().months[0], english().short_days[6]), ("January", "Sun"));
        let german = named("DE_de").expect("it is there");
        assert_eq!((german.number, german.months[2], german.separator), (4, "März", Some('.')));
        assert_eq!(numbered(4), Some(german));
        assert!(named("xx_XX").is_none() && numbered(ALL.len() as u64).is_none());
    }
}
