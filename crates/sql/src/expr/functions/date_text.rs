//! `STR_TO_DATE()`, which reads a date and time from a text by a format with the specifiers of
//! `DATE_FORMAT()`.

use super::time::{DAYS, MONTHS};
use super::{Call, Function};
use crate::error::Result;
use crate::expr::{Coercibility, Expr, Node};
use types::temporal::parse::expand_year;
use types::{ColumnType, Date, DateTime, TypeCode, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("str_to_date", 2..=2, type_of, str_to_date)];

/// Returns the type that a constant format implies: DATE or TIME where it has no specifier of the
/// other, otherwise DATETIME.
fn type_of(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = match &args[1].node {
        Node::Constant(Value::Bytes(format)) => {
            let specifiers = || format.windows(2).filter(|pair| pair[0] == b'%').map(|pair| pair[1]);
            let of_date = specifiers().any(|code| b"aAbcdDeMmUuVvWwXxYyj".contains(&code));
            let of_time = specifiers().any(|code| b"fHIhiklprsSTp".contains(&code));
            let fsp = if specifiers().any(|code| code == b'f') { 6 } else { 0 };
            match (of_date, of_time) {
                (_, false) => ColumnType::date(),
                (false, true) => ColumnType::time(fsp),
                (true, true) => ColumnType::datetime(fsp),
            }
        }
        _ => ColumnType::datetime(6),
    };
    Ok((ty, Coercibility::Numeric))
}

fn str_to_date(call: &Call<'_>) -> Result<Value> {
    let (shown, format) = (call.bytes(0), call.bytes(1));
    let (ty, _) = type_of(call.args)?;
    let dates = call.ctx.dates();
    let mut reader = Reader { text: &shown, at: 0, fields: Fields::default() };
    let read = reader
        .follow(&format)
        .and_then(|()| reader.fields.resolve())
        .filter(|read| ty.code == TypeCode::Time2 || read.date.exists() && !dates.refuses(&read.date));
    let Some(read) = read else {
        let shown = String::from_utf8_lossy(&shown);
        call.ctx.warn(1411, format!("Incorrect datetime value: '{shown}' for function str_to_date"));
        return Ok(Value::Null);
    };
    if !reader.rest().iter().all(u8::is_ascii_whitespace) {
        let kind = match ty.code {
            TypeCode::Date => "date",
            TypeCode::Time2 => "time",
            _ => "datetime",
        };
        call.ctx.warn_truncated(kind, &call.values[0]);
    }
    Ok(match ty.code {
        TypeCode::Date => Value::Date(read.date),
        TypeCode::Time2 => Value::Time(read.time()),
        _ => Value::DateTime(read),
    })
}

/// A week number, and how the weeks are counted.
#[derive(Clone, Copy)]
struct WeekNumber {
    week: i64,
    /// Whether a week begins with Sunday, as for `%U` and `%V`.
    from_sunday: bool,
    /// Whether the week belongs to a year of its own, that of `%X` or `%x`, as for `%V` and `%v`.
    strict: bool,
}

/// The fields that have been read.
#[derive(Default)]
struct Fields {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    /// Whether the hour is one of twelve, as for `%h` and its relatives.
    of_twelve: bool,
    afternoon: bool,
    /// The weekday, from 1 for Monday to 7 for Sunday.
    weekday: Option<i64>,
    day_of_year: Option<u32>,
    week: Option<WeekNumber>,
    /// The year of `%X` (true) or `%x` (false).
    year_of_weeks: Option<(u32, bool)>,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    fields: Fields,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    /// Reads until the text or the format ends. `None` means that the text does not fit the format.
    fn follow(&mut self, format: &[u8]) -> Option<()> {
        let mut codes = format.iter();
        while let Some(&code) = codes.next() {
            self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if self.rest().is_empty() {
                break;
            }
            match code {
                b'%' if !codes.as_slice().is_empty() => self.specifier(*codes.next()?)?,
                code if code.is_ascii_whitespace() => {}
                code if self.rest()[0] == code => self.at += 1,
                _ => return None,
            }
        }
        Some(())
    }

    fn specifier(&mut self, code: u8) -> Option<()> {
        match code {
            b'Y' | b'y' => {
                let (year, digits) = self.number(if code == b'Y' { 4 } else { 2 })?;
                self.fields.year = if digits <= 2 { u32::from(expand_year(year as u16)) } else { year };
            }
            b'm' | b'c' => self.fields.month = self.number(2)?.0,
            b'M' => self.fields.month = self.word(&MONTHS, usize::MAX)? as u32,
            b'b' => self.fields.month = self.word(&MONTHS, 3)? as u32,
            b'd' | b'e' => self.fields.day = self.number(2)?.0,
            b'D' => {
                self.fields.day = self.number(2)?.0;
                self.at += self.rest().len().min(2);
            }
            b'h' | b'I' | b'l' => {
                self.fields.of_twelve = true;
                self.fields.hour = self.number(2)?.0;
            }
            b'k' | b'H' => self.fields.hour = self.number(2)?.0,
            b'i' => self.fields.minute = self.number(2)?.0,
            b's' | b'S' => self.fields.second = self.number(2)?.0,
            b'f' => {
                let (micros, digits) = self.number(6)?;
                self.fields.micros = micros * 10u32.pow(6 - digits as u32);
            }
            b'p' => self.half_of_the_day()?,
            b'W' => self.fields.weekday = Some(self.word(&DAYS, usize::MAX)? as i64),
            b'a' => self.fields.weekday = Some(self.word(&DAYS, 3)? as i64),
            b'w' => {
                let weekday = i64::from(self.number(1)?.0);
                self.fields.weekday = Some(if weekday == 0 { 7 } else { weekday }).filter(|_| weekday < 7);
                self.fields.weekday?;
            }
            b'j' => self.fields.day_of_year = Some(self.number(3)?.0),
            b'U' | b'u' | b'V' | b'v' => {
                let (from_sunday, strict) = (code.is_ascii_uppercase(), code.eq_ignore_ascii_case(&b'v'));
                let week = i64::from(self.number(2)?.0);
                if week > 53 || strict && week == 0 {
                    return None;
                }
                self.fields.week = Some(WeekNumber { week, from_sunday, strict });
            }
            b'X' | b'x' => self.fields.year_of_weeks = Some((self.number(4)?.0, code == b'X')),
            b'r' => self.follow(b"%I:%i:%S %p")?,
            b'T' => self.follow(b"%H:%i:%S")?,
            b'.' => self.skip(|byte| byte.is_ascii_punctuation()),
            b'@' => self.skip(|byte| byte.is_ascii_alphabetic()),
            b'#' => self.skip(|byte| byte.is_ascii_digit()),
            _ => return None,
        }
        Some(())
    }

    fn skip(&mut self, is_skipped: impl Fn(&u8) -> bool) {
        self.at += self.rest().iter().take_while(|byte| is_skipped(byte)).count();
    }

    /// Reads a number of at most `most_digits` digits, and returns it with the number of its
    /// digits.
    fn number(&mut self, most_digits: usize) -> Option<(u32, usize)> {
        let digits = self.rest().iter().take(most_digits).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.rest()[..digits]).ok()?.parse().ok()?;
        self.at += digits;
        Some((number, digits))
    }

    /// Reads a word and returns its position, from 1, among these names, of which the first
    /// `most_chars` characters count.
    fn word(&mut self, names: &[&str], most_chars: usize) -> Option<usize> {
        let len = self.rest().iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = &self.rest()[..len];
        let is_it = |name: &&str| name.as_bytes()[..name.len().min(most_chars)].eq_ignore_ascii_case(word);
        let at = names.iter().position(is_it)?;
        self.at += len;
        Some(at + 1)
    }

    fn half_of_the_day(&mut self) -> Option<()> {
        let half = self.rest().get(..2).filter(|_| self.fields.of_twelve)?;
        let afternoon = half.eq_ignore_ascii_case(b"PM");
        if !afternoon && !half.eq_ignore_ascii_case(b"AM") {
            return None;
        }
        self.fields.afternoon = afternoon;
        self.at += 2;
        Some(())
    }
}

impl Fields {
    /// Returns the date and time. The caller checks whether the month has that day.
    fn resolve(&self) -> Option<DateTime> {
        let hour = match self.of_twelve {
            true if !(1..=12).contains(&self.hour) => return None,
            true => self.hour % 12 + if self.afternoon { 12 } else { 0 },
            false => self.hour,
        };
        if self.month > 12 || self.day > 31 || hour > 23 || self.minute > 59 || self.second > 59 {
            return None;
        }
        let (hour, minute, second) = (hour as u8, self.minute as u8, self.second as u8);
        Some(DateTime { date: self.date()?, hour, minute, second, micros: self.micros })
    }

    fn date(&self) -> Option<Date> {
        let mut date = Date { year: self.year as u16, month: self.month as u8, day: self.day as u8 };
        let of_days = |days: i64| Some(Date::from_day_number(days)).filter(|date| !date.is_zero());
        if let Some(day) = self.day_of_year.filter(|day| *day > 0) {
            date = of_days(first_of(self.year) + i64::from(day) - 1)?;
        }
        let Some((WeekNumber { week, from_sunday, strict }, weekday)) = self.week.zip(self.weekday) else {
            return Some(date);
        };
        let year = match (strict, self.year_of_weeks) {
            (true, Some((year, of_sunday))) if of_sunday == from_sunday => year,
            (false, None) => self.year,
            _ => return None,
        };
        let first = first_of(year);
        let days = if from_sunday {
            let begins_on = (first + 6).rem_euclid(7);
            let skipped = if begins_on == 0 { 0 } else { 7 };
            first + skipped - begins_on + (week - 1) * 7 + weekday % 7
        } else {
            let begins_on = (first + 5).rem_euclid(7);
            let skipped = if begins_on <= 3 { 0 } else { 7 };
            first + skipped - begins_on + (week - 1) * 7 + weekday - 1
        };
        of_days(days)
    }
}

/// Returns the day number of the first day of a year.
fn first_of(year: u32) -> i64 {
    Date { year: year as u16, month: 1, day: 1 }.day_number()
}
